"""The direction u: a value of x's shape, or one component of x, for each variable that moves."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from gradcli.errors import InputError, Place, Span, did_you_mean
from gradcli.language.inputs.cotangents import COMPONENT, component, in_brackets
from gradcli.language.inputs.values import Array, Value, read_value
from gradcli.language.program.wengert import Shape, show

SHORT = 4
"""Elements up to which an example of a direction is written out."""


def read_directions(
    given: Mapping[str, Value], variables: Mapping[str, Shape], movable: tuple[str, ...], command: str
) -> dict[str, Array]:
    """The direction of each variable that moves, in the order of `movable`; without any, 1 for a single element.

    `ones` is ones of x's shape, `e0` is ones over `x[0]`, and `e0_1` the single element `x[0, 1]`.

    Args:
        given: By name; under the empty name, that of the only variable.
        variables: The shape of each variable.
        movable: Those that may move: the variables that are differentiated by.
        command: What needs the directions, for errors.

    Raises:
        InputError: A name or a shape does not fit, or there is no direction and it is needed.

    >>> read_directions({"": "e1"}, {"x": (2,)}, ("x",), "jvp")
    {'x': array([0., 1.])}
    >>> read_directions({}, {"x": ()}, ("x",), "jvp")
    {'x': array(1.)}
    """
    named: dict[str, Value] = {}
    for name, value in given.items():
        whose = name or _only(movable, value)
        _require_movable(whose, variables, movable)
        if whose in named:
            raise InputError(f"--u gives '{whose}' two directions", hint="give it once")
        named[whose] = value
    if not named and movable:
        sizes = {name: math.prod(variables[name]) for name in movable}
        if sum(sizes.values()) != 1:
            raise _missing(variables, movable, command)
        named = {name: np.ones(variables[name]) for name in movable if sizes[name]}
    return {name: _read(named[name], name, variables[name]) for name in movable if name in named}


def _read(value: Value, name: str, shape: Shape) -> Array:
    source = f"--u {name}"
    if isinstance(value, str):
        if value.strip() == "ones":
            return np.ones(shape)
        if match := COMPONENT.fullmatch(value):
            index = tuple(int(n) for n in match[1].split("_"))
            return component(value, index, shape, source, name, f"write --u {name}=1")
    u = read_value(value, source)
    if u.shape != shape:
        place = Place(value, Span(0, len(value)), source) if isinstance(value, str) else None
        hint = f"u is a direction in {name}, so it must have {name}'s shape"
        if u.size == math.prod(shape) == 1:
            hint = f"write {in_brackets(str(value), u.shape, shape)}: u must have {name}'s shape"
        raise InputError(f"u has shape {show(u.shape)}, and {name} has shape {show(shape)}", place=place, hint=hint)
    return u


def _only(movable: tuple[str, ...], value: Value) -> str:
    if len(movable) == 1:
        return movable[0]
    text = value.strip() if isinstance(value, str) else "VALUE"
    shown = "u" if not isinstance(value, str) else f"--u {text}" if text else "--u ''"
    if not movable:
        raise InputError(f"{shown} names no variable, and there is none to move", hint="leave out --u")
    example = f"--u {movable[0]}={text or 'VALUE'}"
    raise InputError(
        f"{shown} names no variable, and there are {', '.join(movable)}",
        hint=f"write {example}; a variable without a --u is held constant",
    )


def _require_movable(name: str, variables: Mapping[str, Shape], movable: tuple[str, ...]) -> None:
    if name not in variables:
        hint = did_you_mean(name, variables) or f"the variables are: {', '.join(variables) or 'none'}"
        raise InputError(f"--u moves '{name}', and the expression has no such variable", hint=hint)
    if name not in movable:
        raise InputError(
            f"--u moves '{name}', which is not among the variables of --wrt: {', '.join(movable)}",
            hint=f"add {name} to --wrt, or leave out its --u: it is held constant",
        )


def _missing(variables: Mapping[str, Shape], movable: tuple[str, ...], command: str) -> InputError:
    first, *others = movable
    shape = variables[first]
    if others:
        whose = f"the variables {', '.join(movable)} have {sum(math.prod(variables[n]) for n in movable):,} elements"
        needs, hint = "a direction u", f"--u {first}=ones moves all of {first}"
    else:
        whose, needs = f"{first} has shape {show(shape)}", f"a direction u of {first}'s shape"
        short = ",".join(["1"] * shape[0]) if len(shape) == 1 and 0 < shape[0] <= SHORT else "ones"
        hint = f"--u {short} moves all elements alike, e0 moves {first}[0] alone"
    hint += "; a variable without a --u is held constant" * bool(others)
    return InputError(
        f"{whose}, and only a single element has an implicit direction: {command} needs {needs}", hint=hint
    )

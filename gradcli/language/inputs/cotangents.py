"""The gradient vector v: a value of y's shape, one component of y, or an expression in y and the variables."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gradcli.errors import InputError, Place, Span, did_you_mean
from gradcli.language.inputs.values import Array, Value, read_value
from gradcli.language.lower.joined import meant
from gradcli.language.parsing import parse_cotangent
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Program, Shape, show

COMPONENT = re.compile(r"\s*e(\d{1,9}(?:_\d{1,9})*)\s*")
"""`e0` and `e0_1`, with the index."""


@dataclass(frozen=True)
class Outputs:
    """What v may name: y by the name of the output, and the variables, each with its shape."""

    name: str
    shape: Shape
    variables: Mapping[str, Shape]


def read_cotangent(value: Value, y: Outputs, source: str = "--v") -> Array | Program:
    """The gradient vector v for this y: an array, or a Program if it names y or a variable.

    `ones` is ones of y's shape, `e0` is ones over `y[0]`, at all its points; `e0_1` is the single element `y[0, 1]` of
    a y of two dimensions; `2*y` and `x` are expressions.

    Raises:
        InputError: v has not y's shape, or the component or the name does not exist.

    >>> read_cotangent("e1", Outputs("y", (2,), {"x": (2,)}))
    array([0., 1.])
    """
    if isinstance(value, str):
        if value.strip() == "ones":
            return np.ones(y.shape)
        if match := COMPONENT.fullmatch(value):
            return component(value, tuple(int(n) for n in match[1].split("_")), y.shape, source, y.name)
        program = parse_cotangent(value, source, {y.name: y.shape, **y.variables})
        if program.variables:
            require_shape(program, y)
            return program
    v = read_value(value, source)
    if v.shape != y.shape:
        typed = Place(value, Span(0, len(value)), source) if isinstance(value, str) else None
        raise _misshapen(v.shape, y, typed, str(value))
    return v


def require_shape(program: Program, y: Outputs) -> None:
    """Refuse an expression for v that names something unknown, or has not y's shape.

    Raises:
        InputError: So it is.
    """
    known = {y.name: y.shape, **y.variables}
    for name in program.names:
        if name not in known:
            start = program.text.find(name)
            hint = meant(name, known) or did_you_mean(name, known) or f"v may name {', '.join(known)}"
            place = Place(program.text, Span(start, start + len(name)), program.source)
            raise InputError(f"v names '{name}', which is neither {y.name} nor a variable", place=place, hint=hint)
    shape = infer(program, {symbol: known[str(symbol)] for symbol in program.variables})[program.output]
    if shape != y.shape:
        whole = Place(program.text, Span(0, len(program.text)), program.source)
        of_snippet = program.place(program.lines[-1]) if program.lines else None
        raise _misshapen(shape, y, of_snippet if program.source == "EXPR" else whole, "v")


def _misshapen(given: Shape, y: Outputs, place: Place | None, text: str) -> InputError:
    message = f"v has shape {show(given)}, and {y.name} has shape {show(y.shape)}"
    return InputError(message, place=place, hint=_shape_hint(text, given, y))


def _shape_hint(value: str, given: Shape, y: Outputs) -> str:
    if math.prod(given) == math.prod(y.shape) == 1:
        return f"write {in_brackets(value, given, y.shape)}: as in torch, v must have {y.name}'s shape"
    number = "" if y.shape else ", here a plain number"
    return f"v weights the elements of {y.name}, so it must have {y.name}'s shape{number}"


def in_brackets(value: str, given: Shape, wanted: Shape) -> str:
    """How to write a value of one element so that it has the shape that is wanted."""
    missing = len(wanted) - len(given)
    return (
        value.strip().join(("[" * missing, "]" * missing))
        if missing > 0
        else f"it with {len(wanted)} pairs of brackets"
    )


def component(
    text: str, index: tuple[int, ...], shape: Shape, source: str, name: str, hint: str = "leave out --v"
) -> Array:
    """Ones over the elements at an index, zeros elsewhere.

    Args:
        text: As typed.
        index: Of the first dimensions.
        shape: Of the array.
        source: What the text was given to.
        name: Whose shape that is.
        hint: What to do where it is a plain number.

    Raises:
        InputError: There is no such element.
    """
    if not shape:
        place = Place(text, Span(0, len(text)), source)
        raise InputError(f"{name} is one number and has no components", place=place, hint=hint)
    if len(index) > len(shape) or any(n >= size for n, size in zip(index, shape, strict=False)):
        place = Place(text, Span(0, len(text)), source)
        raise InputError(
            f"{name} has shape {show(shape)} and no component {list(index)}", place=place, hint="indices count from 0"
        )
    v = np.zeros(shape)
    v[index] = 1.0
    return v

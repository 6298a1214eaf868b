"""A command on a function of Python, called with its arguments: `grad(f, x, w)`, or without them, `grad(f)`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import cast

from gradcli.errors import UsageError, did_you_mean
from gradcli.function import Function
from gradcli.locking import one_at_a_time
from gradcli.parts.running.calling import Called, name_of, signature
from gradcli.parts.running.gradcheck_arguments import require_function
from gradcli.parts.running.python_functions import PythonFunction
from gradcli.questions.call_arguments import ArgumentError, in_words
from gradcli.recording.aten_calls import Argument
from gradcli.registry import DERIVATIVES

_OF = "derivative_of"
"""Attribute of the derivative of a function: the call that made it."""


def answer(function: Called, command: str, values: Sequence[object], options: Mapping[str, Argument]) -> Argument:
    """Answer a command on a function of Python at arguments by place and by name.

    What is given behind the arguments that the function needs is for the command, as v of a vjp is.  Without any, a
    derivative is a function of them.

    Raises:
        GradcliError: It is no function; an argument is missing, or more are given than it takes.
    """
    require_function(function, command)
    if (derived := getattr(function, _OF, "")) and command in DERIVATIVES:
        message = f"{derived} is a function that answers, and its own derivative is another question"
        raise UsageError(message, hint="second derivatives are hessian(f) and hvp(f)")
    method = inspect.signature(getattr(Function, command)).parameters
    if "at" not in [*method][1:2]:  # what stands behind the function is no argument of it
        with one_at_a_time():
            asked = PythonFunction(function, name_of(function))
        return getattr(asked, command)(*values, **options)
    left, given = dict(options), _values_by_name(options.get("at"))
    left.pop("at", None)
    further = [one for one in method.values() if one.kind is one.POSITIONAL_OR_KEYWORD][2:]
    if values and (values[0] is None or isinstance(values[0], Mapping)):
        if given:
            raise ArgumentError("the arguments are given twice, by place and by at=", hint="give them once")
        given, values, rest = _values_by_name(values[0]), values[:0], values[1:]
    else:
        needed = _needed(function, 1 if further else max(1, len(values)))
        values = _dealt_out(values, needed)
        count = max(1, len(needed)) if further else len(values)
        values, rest = values[:count], values[count:]
    taken = signature(function, name_of(function), max(1, len(values), len(given))).kinds
    given |= {name: left.pop(name) for name in [*left] if name in taken and name not in method}
    is_bare = not values and not given and not rest
    if "" in given:
        values = (given.pop(""), *values)
    if is_bare and command in DERIVATIVES and _needed(function, 1):
        _require_options(left, [*method], command)
        return _derivative(function, command, left)
    if both := next((name for name, _ in zip(taken, values, strict=False) if name in given), ""):
        raise ArgumentError(f"'{both}' of {name_of(function)} is given twice", hint="give it once")
    with one_at_a_time():
        asked = PythonFunction(function, name_of(function), values, **given)
    return getattr(asked, command)(*((None, *rest) if rest else ()), **left)


def _dealt_out(values: Sequence[object], names: Sequence[str]) -> Sequence[object]:
    """Give each parameter its own of a tuple of arrays, as `torch.func` takes them: `(x, w)`, then `(u1, u2)`."""

    def is_for_each(one: object) -> bool:
        is_tuple = isinstance(one, tuple) and len(one) == len(names) > 1
        return is_tuple and all(hasattr(part, "shape") for part in cast("tuple[object, ...]", one))

    if not (values and is_for_each(values[0])):
        return values
    first, *rest = cast("Sequence[tuple[object, ...]]", values)
    return (*first, *(dict(zip(names, one, strict=True)) if is_for_each(one) else one for one in rest))


def _values_by_name(at: object) -> dict[str, Argument]:
    """Return values by parameter; one without a name is that of the first parameter.

    Raises:
        ArgumentError: A name is no text.
    """
    given: dict[Argument, Argument] = dict(at) if isinstance(at, Mapping) else {} if at is None else {"": at}
    if wrong := next((name for name in given if not isinstance(name, str)), None):
        raise ArgumentError(f"{in_words(wrong)} is no name of a parameter", hint="names are texts")
    return given


def _needed(function: Called, count: int) -> list[str]:
    """List the parameters without a default."""
    taken = signature(function, name_of(function), count)
    return [name for name in taken.kinds if name not in taken.optional]


def _require_options(given: Mapping[str, object], known: Sequence[str], command: str) -> None:
    """Refuse names that are no options.

    Raises:
        ArgumentError: There is such a name.
    """
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known) or f"the options are {', '.join(known[1:-1])}"
            raise ArgumentError(f"{command} has no option '{name}'", hint=hint)


def _derivative(function: Called, command: str, options: Mapping[str, Argument]) -> Callable[..., Argument]:
    """Return the derivative as a function of the same arguments, which answers as the command does."""

    def derivative(*values: object, **named: Argument) -> Argument:
        return answer(function, command, values or (None,), {**options, **named})

    derivative.__name__ = derivative.__qualname__ = f"{command}({name_of(function)})"
    derivative.__doc__ = f"Answer `{command}` of {name_of(function)} at its arguments."
    with suppress(TypeError, ValueError):
        derivative.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    setattr(derivative, _OF, f"gradcli.{derivative.__name__}")
    return derivative

"""Lines through a point of any size: x = start + t*direction in place of x, so that t alone moves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import sympy

from gradcli.arrays import Array
from gradcli.errors import InputError, Span
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Atom, Call, Line, Program
from gradcli.option_words import option
from gradcli.questions.bound_function import BoundFunction
from gradcli.questions.recorded_protocol import Recording

PARAMETERS = ("t", "s", "r", "step")
"""Names for the way along a direction, of which the first is taken that is no variable of the function."""

USUAL = "-1..1"
"""Range of the parameter of a line where none is given."""


def parameter_of(bound_function: BoundFunction) -> str:
    """Choose the name of the parameter of a line."""
    taken = {*bound_function.program.names, *bound_function.program.assigned}
    return next(name for name in (*PARAMETERS, _free("way", taken)) if name not in taken)


def range_of(given: Mapping[str, str], parameter: str) -> str:
    """Return the range of the parameter of a line.

    Raises:
        InputError: There are several, or one of another name.
    """
    others = [name for name in given if name not in ("", parameter)]
    if others or len(given) > 1:
        message = (
            f"along a direction {parameter} alone moves, and {option('in')} names {', '.join(others) or 'two ranges'}"
        )
        raise InputError(message, hint=f"write {option('in', f'{parameter}={USUAL}')}, and leave out other ranges")
    return str(next(iter(given.values()), USUAL))


def on_line(bound_function: BoundFunction, direction: Mapping[str, Array], parameter: str, at: float) -> BoundFunction:
    """Ask of a function along a line through its point.

    Args:
        bound_function: The function at a point.
        direction: The direction of each variable that moves.
        parameter: The name of its parameter.
        at: Its value.
    """
    if bound_function.recording is not None:
        return _recorded_on_line(bound_function, bound_function.recording, direction, parameter, at)
    program, taken = bound_function.program, {*bound_function.program.names, parameter}
    way, lines, arrays = sympy.Symbol(parameter, real=True), list[Line](), dict(bound_function.arrays)
    renamed: dict[Atom, Atom] = {}
    held = [way]
    for symbol in program.variables:
        if str(symbol) not in direction:
            held.append(symbol)
            continue
        names = [_free(f"{symbol}_{word}", taken) for word in ("start", "direction")]
        start, along = (sympy.Symbol(name, real=True) for name in names)
        step, moved = (sympy.Dummy(f"{symbol}_{word}", real=True) for word in ("step", "moved"))
        lines += [
            Line(step, Call("mul", (along, way)), Span(0, 0)),
            Line(moved, Call("add", (start, step)), Span(0, 0)),
        ]
        arrays |= dict(zip(names, (arrays.pop(str(symbol)), direction[str(symbol)]), strict=True))
        renamed[symbol] = moved
        held += [start, along]
    lines += [replace(line, call=line.call.renamed(renamed)) for line in program.lines]
    output = renamed.get(program.output, program.output)
    new = replace(program, variables=tuple(held), lines=tuple(lines), output=output, called=program.expression)
    arrays[parameter] = np.asarray(at, np.dtype(bound_function.dtype))
    return bound_function.another(_named_as(new, program), arrays, (parameter,))


def _recorded_on_line(
    bound_function: BoundFunction,
    recording: Recording[BoundFunction],
    direction: Mapping[str, Array],
    parameter: str,
    at: float,
) -> BoundFunction:
    """Ask of code along a line: of what is recorded of it as a function of its parameter."""
    old = bound_function.program
    moved = recording.on_line(bound_function.arrays, direction, parameter, at)
    program = _named_as(replace(moved.program, called=old.expression, warnings=old.warnings), old)
    shapes = infer(program, {symbol: moved.arrays[str(symbol)].shape for symbol in program.variables})
    return replace(
        bound_function, program=program, shapes=shapes, arrays=dict(moved.arrays), wrt=(parameter,), recording=moved
    )


def _named_as(new: Program, old: Program) -> Program:
    """Keep the name of y, which is chosen among names that are free."""
    return new if new.output_name == old.output_name else replace(new, assigned=(old.output_name,))


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name

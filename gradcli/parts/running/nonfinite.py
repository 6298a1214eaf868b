"""First places of infinity and NaN in a recorded pass: a call that makes them of other numbers, forward or back.

Of a custom function torch differentiates no line of its `forward`, which does harm by its value alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import numpy.typing as npt

from gradcli.autodiff.run import Trace, trace as traced
from gradcli.errors import GradcliError
from gradcli.language.program.wengert import Atom, Line, number
from gradcli.parts.running.recorded import Recorded
from gradcli.recording.places import CallPlace
from gradcli.results import VJP, Array

_IsLost = Callable[[Array], npt.NDArray[np.bool_]]

_NOT_FINITE: Mapping[str, _IsLost] = {"infinity": np.isinf, "NaN": np.isnan}
"""Test for each, by name; where one leads to the other, infinity is the first."""


def beginnings(made: Recorded, answer: VJP, since: Callable[[str, str], str]) -> tuple[str, ...]:
    """Say where infinity and NaN begin: the first call that makes them of other numbers, forward, else back.

    Args:
        made: The recording of the pass.
        answer: Torch's numbers.
        since: Says since when a leaf of a name holds infinity, or NaN.
    """
    trace = traced(made.program, made.arrays, tuple(answer.wrt), made.call.dtype, answer.v)
    program, places = trace.program, made.recorder.places_of(made.program)
    held = {kind: [x for x in program.variables if has(trace.values[x]).any()] for kind, has in _NOT_FINITE.items()}
    found = [f"{x.name} holds NaN{since(x.name, 'NaN')}" for x in held["NaN"]]
    given = set[Atom]()  # operands of the calls that are named
    own = {symbol for symbol, origin in made.recorder.origins.items() if origin.custom is not None}
    differentiated = [line for line in program.lines if line.symbol not in own]
    forward = program.lines if not np.isfinite(answer.value).all() else differentiated
    ways = ("", forward, _forward), ("the backward pass of ", differentiated[::-1], _back)
    for way, lines, begins in ways:
        for kind, has in () if way and found else _NOT_FINITE.items():
            first = next((line for line in lines if begins(trace, line, has)), None)
            if first is not None:
                where, numbers = places.get(first.span, CallPlace()), _ranges(trace, first, is_back=bool(way))
                found.append(f"{kind} begins in {way}{program.excerpt(first)}{where}{numbers}")
                given |= {*first.call.operands}
    infinite = [x for x in held["infinity"] if x in given or not found]  # of a mask, infinity is no finding
    return (*(f"{x.name} holds infinity{since(x.name, 'infinity')}" for x in infinite), *found)


def _forward(trace: Trace, line: Line, has: _IsLost) -> bool:
    return bool(has(trace.values[line.symbol]).any()) and not any(has(one).any() for one in _operands(trace, line))


def _operands(trace: Trace, line: Line) -> Iterator[Array]:
    return (trace.values[one] if one in trace.values else np.array(number(one)) for one in line.call.operands)


def _back(trace: Trace, line: Line, has: _IsLost) -> bool:
    given = trace.adjoints.get(line.symbol)
    if given is None or has(given).any():
        return False

    def is_made(array: Array) -> bool:
        made = has(array)
        for one in _operands(trace, line):
            made = made & ~(has(one) if one.shape == array.shape else has(one).any())
        return bool(made.any())

    try:
        return any(map(is_made, trace.contributions(line).values()))
    except GradcliError:
        return False


def _ranges(trace: Trace, line: Line, *, is_back: bool) -> str:
    """Say between which numbers the operands of a line are, and the gradient that it is given in a backward pass."""
    program = trace.program
    lines = {one.symbol: one for one in program.lines}
    given = {atom: program.excerpt(lines[atom]) if atom in lines else str(atom) for atom in line.call.operands}
    named = {name: trace.values[atom] for atom, name in given.items() if atom in trace.values}
    if is_back:
        named["the gradient"] = trace.adjoints[line.symbol]
    said = []
    for name, array in named.items():
        known = array[~np.isnan(array)]
        if known.size:
            low, high = f"{known.min():.4g}", f"{known.max():.4g}"
            said.append(f"{name} is {low}" if low == high else f"{name} is from {low} to {high}")
    return ": " * bool(said) + ", ".join(said)

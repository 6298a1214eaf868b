"""Where NaN or infinity begins in a pass: the first call that makes one of numbers that are not, forward, else back.

The numbers are those of the recorded Program, run once more with nothing thrown away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from gradcli.autodiff.run import Trace
from gradcli.errors import GradcliError, Span
from gradcli.language.program.wengert import Atom, Line, Program, number
from gradcli.recording.places import CallPlace
from gradcli.results import Array

KINDS: Mapping[str, Callable[[Array], Any]] = {"infinity": np.isinf, "NaN": np.isnan}
"""By what each is known; where one leads to the other, infinity is the first."""


def beginnings(trace: Trace, origins: Mapping[Span, CallPlace], paths: Mapping[int, str]) -> Iterator[str]:
    """Say where infinity and NaN begin, each once.

    Args:
        trace: The pass run with nothing thrown away.
        origins: Where lines come from, by their place in the text.
        paths: What modules are called, by identity.
    """

    def place(line: Line) -> str:
        origin = origins.get(line.span, CallPlace())
        parts = [origin.where, paths.get(id(origin.module), "")]
        return f" ({', '.join(filter(None, parts))})" if any(parts) else ""

    program = trace.program
    held = [one.name for one in program.variables if np.isnan(trace.values[one]).any()]
    yield from (f"{name} holds NaN" for name in held)
    is_forward = bool(held)
    for kind, has in KINDS.items():
        for line in program.lines:
            operands = _operands(trace, line)
            if has(trace.values[line.symbol]).any() and not any(has(one).any() for one in operands.values()):
                yield f"{kind} begins in {program.excerpt(line)}{place(line)}{_ranges(program, operands)}"
                is_forward = True
                break
    for kind, has in () if is_forward else KINDS.items():
        for line in reversed(program.lines):
            given = trace.adjoints.get(line.symbol)
            if given is None or has(given).any():
                continue
            try:
                back = trace.contributions(line)
            except GradcliError:
                continue
            if any(has(one).any() for one in back.values()):
                told = _ranges(program, {**_operands(trace, line), line.symbol: given}, line.symbol)
                yield f"{kind} begins in the backward pass of {program.excerpt(line)}{place(line)}{told}"
                break


def _operands(trace: Trace, line: Line) -> dict[Atom, Array]:
    """The values of the operands, numbers too."""
    return {one: trace.values[one] if one in trace.values else np.array(number(one)) for one in line.call.operands}


def _ranges(program: Program, values: Mapping[Atom, Array], gradient: Atom | None = None) -> str:
    """Say between which numbers values are; that of the line itself is the gradient that it is given."""
    lines = {line.symbol: line for line in program.lines}
    told = []
    for atom, array in values.items():
        name = program.excerpt(lines[atom]) if atom in lines else str(atom)
        name = "the gradient" if atom == gradient else name
        known = array[~np.isnan(array)]
        if atom.is_Symbol and known.size:
            low, high = f"{known.min():.4g}", f"{known.max():.4g}"
            told.append(f"{name} is {low}" if low == high else f"{name} is from {low} to {high}")
    return f": {', '.join(told)}" if told else ""

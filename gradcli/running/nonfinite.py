"""Where NaN or infinity begins in a pass: the first call that makes one of numbers that are not, forward, else back.

The numbers are those of the recorded Program, run once more with nothing thrown away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from gradcli.autodiff.run import Trace
from gradcli.errors import GradcliError, Span
from gradcli.language.program.wengert import Line, number
from gradcli.recording.places import CallPlace
from gradcli.results import Array

KINDS: Mapping[str, Callable[[Array], Any]] = {"infinity": np.isinf, "NaN": np.isnan}
"""By what each is known; where one leads to the other, infinity is the first."""


def beginnings(trace: Trace, origins: Mapping[Span, CallPlace]) -> Iterator[str]:
    """Say where infinity and NaN begin, each once.

    Args:
        trace: The pass run with nothing thrown away.
        origins: Where lines come from, by their place in the text.
    """
    program = trace.program
    found = [f"{one.name} holds NaN" for one in program.variables if np.isnan(trace.values[one]).any()]
    for where, begins, lines in (("", _forward, program.lines), ("the backward pass of ", _back, program.lines[::-1])):
        for kind, has in KINDS.items():
            line = next((line for line in lines if begins(trace, line, has)), None)
            if line is not None:
                found.append(f"{kind} begins in {where}{program.excerpt(line)}{origins.get(line.span, CallPlace())}")
        if found:
            break
    yield from found


def _forward(trace: Trace, line: Line, has: Callable[[Array], Any]) -> bool:
    given = (trace.values[one] if one in trace.values else np.array(number(one)) for one in line.call.operands)
    return bool(has(trace.values[line.symbol]).any()) and not any(has(one).any() for one in given)


def _back(trace: Trace, line: Line, has: Callable[[Array], Any]) -> bool:
    given = trace.adjoints.get(line.symbol)
    if given is None or has(given).any():
        return False
    try:
        return any(has(one).any() for one in trace.contributions(line).values())
    except GradcliError:
        return False

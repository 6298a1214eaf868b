"""The value of a function: the method `eval`."""

from __future__ import annotations

import math

from gradcli.crosscheck.point import Numbers
from gradcli.errors import GradcliError
from gradcli.questions.answering import answer_bound
from gradcli.questions.bound_function import BoundFunction, Device, Dtype
from gradcli.questions.judging import compare_numbers
from gradcli.questions.parsed_text import Inputs, ParsedText
from gradcli.reference.deadline import time_limit
from gradcli.results import Evaluation

MOST_BY_NUMPY = 2**12
"""Elements of a tensor up to which NumPy computes a value; functions it lacks take a millisecond for ten elements."""


def eval(  # noqa: A001
    self: ParsedText,
    at: Inputs | None = None,
    *,
    dtype: Dtype | None = None,
    device: Device | None = None,
    check: bool = True,
) -> Evaluation:
    """Compute the value y.

    NumPy computes it where tensors are small and balls say that the value is right, and torch all else: in
    float32, on another device, what is large, and what is wrong, so that it can be seen what torch makes of it.

    >>> from gradcli import Function
    >>> Function("sum(x*y)").eval({"x": "1,2", "y": [3, 4]}).value
    array(11.)
    """
    bound = self._asked(at, (), dtype, device, check).bind()
    found = _by_numpy(bound)
    if found is not None:
        return found
    return answer_bound(Evaluation, bound, {})


def _by_numpy(bound: BoundFunction) -> Evaluation | None:
    """Compute the value with NumPy, which spares torch's import; None where torch has to compute it.

    Torch has to where a value is wrong or in doubt, in float32, on another device, where it runs code other than these
    lines, and where there is so much to compute that its import is worth the time.
    """
    program = bound.program
    is_these_lines = bound.recording is None and program.guards is None
    most = max(map(math.prod, bound.shapes.values()), default=1)
    is_usual = bound.dtype == "float64" and bound.device == "cpu"
    if not is_these_lines or not is_usual or most > MOST_BY_NUMPY:
        return None
    from gradcli.language.program.numeric import run

    try:
        value = run(program, {s: bound.arrays[str(s)].astype("float64", copy=False) for s in program.variables})
    except GradcliError:  # let torch raise its own error
        return None
    with time_limit():
        found = compare_numbers(bound, Numbers(bound.dtype, value)).check
    if found.verdict != "agree":
        return None
    return Evaluation(command="eval", value=value, check=found if bound.check else None, **bound.common)

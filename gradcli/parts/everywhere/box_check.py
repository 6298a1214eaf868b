"""The check of every point of a box: statements that are proved, and torch's numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping

from gradcli.errors import InputError
from gradcli.option_words import option
from gradcli.parts.everywhere.moving_box import MovingBox, moving_box
from gradcli.parts.everywhere.proving import proofs_of
from gradcli.progress import BUDGET, SECONDS, set_step
from gradcli.questions.question import Inquiry
from gradcli.reference.deadline import time_limit
from gradcli.results import BoxChecking, BoxProof, BoxRegion


def checked_in_box(
    inquiry: Inquiry, ranges: Mapping[str, str], statements: str | None, rtol: float | None, allowed: tuple[str, ...]
) -> BoxChecking:
    """Check every point of a box: statements if there are some, else torch's numbers.

    Raises:
        GradcliError: A range, a statement or a tolerance makes no sense, or an operation has no rule on boxes.
    """
    if rtol is not None and not (math.isfinite(rtol) and rtol > 0):
        raise InputError(f"{option('rtol', str(rtol))} is no tolerance in a box", hint="it is a number above 0")
    box = moving_box(inquiry, ranges)
    texts = [text.strip() for text in (statements or "").replace("\n", ";").split(";") if text.strip()]
    if statements is not None and not texts:
        statement = option("prove", '"dy/dx >= 0"')
        raise InputError("the statement is empty", hint=f"write {statement}")
    with time_limit():
        set_step("proving")
        proofs = proofs_of(texts, box, _seconds()) if texts else []
    return _answer(box, proofs, [], None, allowed)


def _seconds() -> float:
    """Return the seconds of the whole answer."""
    budget = BUDGET.get()
    return SECONDS if budget is None or budget.seconds is None else budget.seconds


def _answer(
    box: MovingBox, proofs: list[BoxProof], regions: list[BoxRegion], rtol: float | None, allowed: tuple[str, ...]
) -> BoxChecking:
    question = box.question
    return BoxChecking(
        command="check",
        expression=question.program.expression,
        dtype=question.dtype,
        inputs=box.held,
        ranges=box.ranges,
        wrt=tuple(box.ranges),
        output=question.program.output_name,
        boxes=sum(one.boxes for one in proofs),
        proofs=tuple(proofs),
        regions=tuple(regions),
        rtol=rtol,
        allowed=allowed,
        warnings=question.program.warnings,
    )

"""The one way to judge an answer: torch's numbers, what is to blame for those that are wrong, and the formulas.

What differs between answers is which numbers torch gave (`gradcli.check.point.Numbers`) and of what the formulas are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

import numpy as np

from gradcli.errors import GradcliError
from gradcli.language.lower.calls import SHADOWABLE
from gradcli.language.parsing import parse
from gradcli.language.program.shapes import infer
from gradcli.questions.question import JACOBIAN_ENTRIES, Question
from gradcli.results import Array, Check, Formula, Verdict

if TYPE_CHECKING:
    from gradcli.check.compare import Tolerance
    from gradcli.check.formulas import Derived, Formulas
    from gradcli.check.judge import Judgement
    from gradcli.check.point import Numbers, Torch
    from gradcli.diagnose.diagnosis import Diagnosis


_T = TypeVar("_T")


class Checked(TypedDict):
    """The part of an answer that the formulas and the check fill."""

    symbolic: dict[str, Formula]
    symbolic_omitted: dict[str, str]
    check: Check | None


def product(question: Question, v: Array, *, check: bool) -> tuple[dict[str, Array], dict[str, Any]]:
    """The vector-Jacobian product, and the rest of an answer that gives one."""
    from gradcli.autodiff.jacobians import vjp

    found = vjp(question.forward, v, question.wrt)
    jacobian, omitted = question.small_jacobian
    shared = {"value": question.value, "jacobian": jacobian, "jacobian_omitted": omitted}
    return found, {**shared, **question.common, **checked(question, jacobian, v, found, check=check)}


def checked(
    question: Question,
    jacobian: Mapping[str, Array] | None,
    v: Array | None,
    vjp: Mapping[str, Array] | None,
    *,
    check: bool,
) -> Checked:
    """The formulas that the reference confirms, and the verdict unless it is not asked for."""
    judgement = judged(question, first_derivatives(question, jacobian, v, vjp)) if check else None
    return as_fields(*concluded(question, judgement, question.derived))


def as_fields(formulas: Formulas, check: Check | None) -> Checked:
    """Formulas and check as the fields of an answer."""
    shown, omitted = by_variable(formulas.shown), by_variable(formulas.omitted)
    return {"symbolic": shown, "symbolic_omitted": omitted, "check": check}


def concluded(question: Question, judgement: Judgement | None, derived: Derived) -> tuple[Formulas, Check | None]:
    """The formulas that the reference confirms, and the check with a finding for each that it contradicts."""
    from gradcli.check.formulas import Witness, concluded

    check, evidence = (judgement.check, judgement.evidence) if judgement else (None, None)
    return concluded(check, [Witness(question.point, evidence)], question.program, derived)


def by_variable(blocks: Mapping[tuple[str, str], _T]) -> dict[str, _T]:
    """What is known of blocks that have one variable, by that."""
    return {name: found for (_, name), found in blocks.items()}


def first_derivatives(
    question: Question,
    jacobian: Mapping[str, Array] | None = None,
    v: Array | None = None,
    vjp: Mapping[str, Array] | None = None,
    *,
    passes: Sequence[Array] = (),
    judges_value: bool = True,
) -> Torch:
    """Torch's numbers: y with J and vᵀJ, if they were computed."""
    from gradcli.check.point import Torch

    return Torch(question.dtype, question.value, jacobian, v, vjp, tuple(passes), judges_value)


def judged(question: Question, numbers: Numbers) -> Judgement:
    """What the reference says of torch's numbers, and what to do about first derivatives that are wrong."""
    from gradcli.check.point import Torch
    from gradcli.reference.deadline import time_limit

    with time_limit():
        found = compared(question, numbers)
        return advised(question, found, numbers.v) if isinstance(numbers, Torch) else found


def compared(question: Question, numbers: Numbers, tolerance: Tolerance | None = None) -> Judgement:
    """What the reference says of torch's numbers."""
    from gradcli.check.judge import judge
    from gradcli.check.point import Torch

    if isinstance(numbers, Torch):
        return judge(question.point, numbers, question.wrt, tolerance)
    from gradcli.check.second_derivatives import judge_derived

    return judge_derived(question.point, numbers, question.wrt, tolerance)


def advised(question: Question, judgement: Judgement, v: Array | None, tolerance: Tolerance | None = None) -> Judgement:
    """The judgement with what is to blame for numbers that cannot be trusted, and what to write instead."""
    if judgement.check.verdict in ("agree", "unchecked"):
        return judgement
    from gradcli.reference.deadline import OverTimeError, time_limit

    try:
        with time_limit():
            return _advised(question, judgement, v, tolerance)
    except OverTimeError:
        return judgement


def _advised(question: Question, judgement: Judgement, v: Array | None, tolerance: Tolerance | None) -> Judgement:
    from gradcli.diagnose.advice import rewritten

    found, diagnoses = diagnosed(question, judgement, v)
    if found.check.verdict not in ("inaccurate", "removable", "nan-trap"):
        return found

    def verdict_of(text: str) -> Verdict | None:
        return _verdict_of(question, text, v, tolerance)

    rewrite = rewritten(question.program, question.arrays, found, diagnoses, verdict_of)
    return replace(found, check=replace(found.check, rewrite=rewrite))


def diagnosed(question: Question, judgement: Judgement, v: Array | None) -> tuple[Judgement, tuple[Diagnosis, ...]]:
    """The judgement with the operations at fault in its findings, and the diagnoses, worst first."""
    from gradcli.diagnose.advice import diagnosed
    from gradcli.diagnose.error_trace import DiagnosisContext

    context = DiagnosisContext.of(question.program, question.shapes, question.arrays, question.wrt, question.dtype)
    return diagnosed(judgement, context, v)


def _verdict_of(question: Question, text: str, v: Array | None, tolerance: Tolerance | None) -> Verdict | None:
    """The verdict of another text of the same function at the same point; None if it cannot be run."""
    from gradcli.autodiff.jacobians import vjp

    arrays = question.arrays
    try:
        shapes = {name: array.shape for name, array in arrays.items()}
        program = parse(text, given=frozenset(arrays) & SHADOWABLE, shapes=shapes)
        inferred = infer(program, {symbol: shapes[str(symbol)] for symbol in program.variables})
        own = {name: arrays[name] for name in program.names}
        other = Question(program, inferred, own, question.wrt, question.dtype, question.named)
        jacobian, _ = other.jacobian(JACOBIAN_ENTRIES)
        if jacobian is None and v is None:  # of a large Jacobian that is the answer itself
            v = np.ones(other.shape)
        product = None if v is None else vjp(other.forward, v, question.wrt)
        return compared(other, first_derivatives(other, jacobian, v, product), tolerance).check.verdict
    except GradcliError:
        return None

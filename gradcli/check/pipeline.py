"""The one way to judge: torch's numbers and the formulas against the reference, and one check of both.

numbers   entries with their truths and verdicts      `judge`, by the Program that each kind is the derivative of
formulas  confirmed by what was enclosed, or refuted  `concluded`
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gradcli.check.compare import TOLERANCE, Tolerance
from gradcli.check.evidence import Block, Evidence
from gradcli.check.formulas import Derived, Formulas, confirmed, contradicted
from gradcli.check.judge import Judgement
from gradcli.check.judge import judge as judge_jacobian
from gradcli.check.point import HessianVectorProduct, JacobianVectorProduct, Numbers, Point, SecondDerivatives, Torch
from gradcli.check.second_derivatives import judge_hessian, judge_hvp, judge_jvp
from gradcli.check.summary import MAX_FINDINGS
from gradcli.language.program.wengert import Program
from gradcli.reference.deadline import time_limit
from gradcli.results import Check, Entry, Of


def judge(point: Point, torch: Numbers, wrt: tuple[str, ...], tolerance: Tolerance | None = None) -> Judgement:
    """Compare torch's numbers with the reference, all of them or a sample.

    Args:
        point: The Program and its inputs.
        torch: The numbers.
        wrt: The variables, in order; without any, y alone is judged.
        tolerance: How far a number may be from the truth; by default that of the dtype.
    """
    tolerance = tolerance or TOLERANCE[torch.dtype]
    with time_limit():  # one for all that is judged on the way
        match torch:
            case Torch():
                return judge_jacobian(point, torch, wrt, tolerance)
            case JacobianVectorProduct():
                return judge_jvp(point, torch, tolerance)
            case HessianVectorProduct():
                return judge_hvp(point, torch, wrt, tolerance)
            case SecondDerivatives():
                return judge_hessian(point, torch, wrt, tolerance)


@dataclass(frozen=True)
class Witness:
    """A point with what the reference found there, if it was asked; of many points, the number."""

    point: Point
    evidence: Evidence | None
    number: int | None = None


def concluded(
    check: Check | None, witnesses: Sequence[Witness], program: Program, derived: Derived
) -> tuple[Formulas, Check | None]:
    """The formulas that the reference confirms, and the check with a finding for each that it contradicts.

    Args:
        check: Of the numbers, if there is one.
        witnesses: The points that were judged; formulas are confirmed at the first, or else at the last.
        program: As typed, for its names.
        derived: The formulas.
    """
    formulas = Formulas()
    for witness in [*witnesses[:1], *(witnesses[-1:] if len(witnesses) > 1 else [])]:
        formulas = confirmed(witness.point, program, derived, witness.evidence)
        if not any(formula.note for formula in formulas.shown.values()):
            break
    for witness in witnesses:
        if witness.number is not None:
            for block, reason in contradicted(witness.point, derived, witness.evidence).items():
                formulas.refute(block, f"at point {witness.number:,}, {reason}")
    return formulas, check and with_refuted(check, formulas.refuted, derived)


def with_refuted(check: Check, refuted: Mapping[Block, str], derived: Derived) -> Check:
    """The check with a finding for each formula that the reference contradicts, once."""
    for block, reason in refuted.items():
        row, column = block
        derivative = derived.blocks[block]
        assert not isinstance(derivative, str), "a formula is refuted"  # noqa: S101
        of: Of = "" if derivative.of == "jacobian" else derivative.of
        note = f"the formula is wrong: {reason}"
        finding = Entry(column or None, None, None, "disagree", None, note=note, of=of, by=row or None)
        if not any(replace(one, note=note) == finding for one in check.findings):
            findings = (finding, *check.findings)[:MAX_FINDINGS]
            count = check.findings_count + 1
            check = replace(check, verdict="disagree", findings=findings, findings_count=count)
    return check

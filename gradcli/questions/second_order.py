"""What jvp, hessian and hvp ask of the readings: torch's numbers, the formulas that hold, and the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from gradcli.language.inputs import Array, Value, read_directions
from gradcli.questions.judging import by_variable, concluded, judged
from gradcli.questions.question import Question, require_one_element, require_room, rounded
from gradcli.results import HVP, JVP, Hessian

_T = TypeVar("_T")

Directions = Mapping[str, Value] | Value | None
"""Directions by variable, or that of the only one."""


def jvp(question: Question, u: Directions, *, check: bool) -> JVP:
    """The Jacobian-vector product along u.

    Raises:
        InputError: A direction is missing or does not fit.
    """
    directions = _directions(question, u, "jvp")
    from gradcli.autodiff import hessians
    from gradcli.autodiff.jacobians import value
    from gradcli.check.formulas import of_jvp
    from gradcli.check.point import JacobianVectorProduct

    forward = question.ran(twice=True)
    y, along = value(forward), hessians.jvp(forward, directions)
    judgement = judged(question, JacobianVectorProduct(question.dtype, y, along, directions)) if check else None
    found, verdict = concluded(question, judgement, of_jvp(question.point, question.program, directions))
    return JVP(
        command="jvp",
        u=directions,
        jvp=along,
        value=y,
        symbolic=found.shown.get(("", "")),
        symbolic_omitted=found.omitted.get(("", ""), ""),
        check=verdict,
        **question.common,
    )


def hessian(question: Question, *, check: bool) -> Hessian:
    """All second derivatives of a y of one element.

    Raises:
        InputError: y has several elements.
        TooLargeError: The blocks would take more than `JACOBIAN_BYTES`.
    """
    _require_gradient(question, "a Hessian")
    entries = sum(question.arrays[name].size for name in question.wrt) ** 2
    require_room(
        "the Hessian has", entries, question.dtype, "use hvp with --u for single columns, or --wrt for fewer variables"
    )
    from gradcli.autodiff import hessians
    from gradcli.autodiff.jacobians import value
    from gradcli.check.formulas import of_hessian
    from gradcli.check.point import SecondDerivatives

    forward = question.ran(twice=True)
    gradient, blocks = hessians.hessian(forward, question.wrt)
    judgement = judged(question, SecondDerivatives(question.dtype, gradient, blocks)) if check else None
    found, verdict = concluded(question, judgement, of_hessian(question.point, question.wrt))
    return Hessian(
        command="hessian",
        value=value(forward),
        grad=gradient,
        hessian=blocks,
        symbolic=_nested(found.shown),
        symbolic_omitted=_nested(found.omitted),
        check=verdict,
        **question.common,
    )


def hvp(question: Question, u: Directions, *, check: bool) -> HVP:
    """The Hessian of a y of one element times u.

    Raises:
        InputError: y has several elements; a direction is missing or does not fit.
    """
    _require_gradient(question, "a Hessian-vector product")
    directions = _directions(question, u, "hvp")
    from gradcli.autodiff import hessians
    from gradcli.autodiff.jacobians import value
    from gradcli.check.formulas import of_hvp
    from gradcli.check.point import HessianVectorProduct

    forward = question.ran(twice=True)
    gradient, slope, product = hessians.hvp(forward, directions, question.wrt)
    numbers = HessianVectorProduct(question.dtype, float(slope), product, directions)
    judgement = judged(question, numbers) if check else None
    derived = of_hvp(question.point, question.program, directions, question.wrt)
    found, verdict = concluded(question, judgement, derived)
    return HVP(
        command="hvp",
        u=directions,
        value=value(forward),
        grad=gradient,
        hvp=product,
        symbolic=by_variable(found.shown),
        symbolic_omitted=by_variable(found.omitted),
        check=verdict,
        **question.common,
    )


def _directions(question: Question, u: Directions, command: str) -> dict[str, Array]:
    given: Mapping[str, Value] = {} if u is None else u if isinstance(u, Mapping) else {"": u}
    shapes = {name: array.shape for name, array in question.arrays.items()}
    found = read_directions(given, shapes, question.wrt, command)
    return {name: rounded(array, question.dtype) for name, array in found.items()}


def _require_gradient(question: Question, what: str) -> None:
    """Refuse the second derivatives of a y that has no gradient."""
    y = question.program.output_name
    example = f", or one element: {y} = ...; {y}[{', '.join('0' * len(question.shape))}]" * (0 not in question.shape)
    require_one_element(question, what, f"use sum(...){example}")


def _nested(found: Mapping[tuple[str, str], _T]) -> dict[str, dict[str, _T]]:
    """What is known of blocks, by the variable of the row and then of the column."""
    blocks: dict[str, dict[str, _T]] = {}
    for (row, column), one in found.items():
        blocks.setdefault(row, {})[column] = one
    return blocks

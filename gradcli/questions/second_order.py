"""What jvp, hessian and hvp ask of the readings: torch's numbers, the formulas that hold, and the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gradcli.language.directions import read_directions
from gradcli.language.values import Array, Value
from gradcli.questions.question import Question, require_one_element, require_room, rounded
from gradcli.results import HVP, JVP, Formula, Hessian

if TYPE_CHECKING:
    from gradcli.check.second_order_formulas import Found

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
    from gradcli.check import second_order_formulas as formulas
    from gradcli.check.second_order import judge_jvp

    forward = question.ran(twice=True)
    y, along = value(forward), hessians.jvp(forward, directions)
    judged = judge_jvp(question.point, question.dtype, y, along, directions) if check else None
    found = formulas.of_jvp(question.point, question.program, directions, judged)
    return JVP(
        command="jvp",
        u=directions,
        jvp=along,
        value=y,
        symbolic=found.shown.get(("", "")),
        symbolic_omitted=found.omitted.get(("", ""), ""),
        check=found.check(judged),
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
    from gradcli.check import second_order_formulas as formulas
    from gradcli.check.second_order import judge_hessian

    forward = question.ran(twice=True)
    gradient, blocks = hessians.hessian(forward, question.wrt)
    judged = judge_hessian(question.point, question.dtype, gradient, blocks, question.wrt) if check else None
    found = formulas.of_hessian(question.point, question.program, question.wrt, judged)
    return Hessian(
        command="hessian",
        value=value(forward),
        grad=gradient,
        hessian=blocks,
        symbolic=_nested(found),
        symbolic_omitted=_nested_reasons(found),
        check=found.check(judged),
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
    from gradcli.check import second_order_formulas as formulas
    from gradcli.check.second_order import judge_hvp

    forward = question.ran(twice=True)
    gradient, slope, product = hessians.hvp(forward, directions, question.wrt)
    judged = (
        judge_hvp(question.point, question.dtype, float(slope), product, directions, question.wrt) if check else None
    )
    found = formulas.of_hvp(question.point, question.program, directions, question.wrt, judged)
    return HVP(
        command="hvp",
        u=directions,
        value=value(forward),
        grad=gradient,
        hvp=product,
        symbolic={name: formula for (_, name), formula in found.shown.items()},
        symbolic_omitted={name: reason for (_, name), reason in found.omitted.items()},
        check=found.check(judged),
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


def _nested(found: Found) -> dict[str, dict[str, Formula]]:
    blocks: dict[str, dict[str, Formula]] = {}
    for (row, column), formula in found.shown.items():
        blocks.setdefault(row, {})[column] = formula
    return blocks


def _nested_reasons(found: Found) -> dict[str, dict[str, str]]:
    blocks: dict[str, dict[str, str]] = {}
    for (row, column), reason in found.omitted.items():
        blocks.setdefault(row, {})[column] = reason
    return blocks

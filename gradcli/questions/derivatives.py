"""The answers of eval, jacobian, jvp, hessian and hvp: torch's numbers, confirmed formulas, the verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from gradcli.crosscheck.formulas import of_hessian, of_hvp, of_jvp
from gradcli.crosscheck.point import HessianVectorProduct, JacobianVectorProduct, SecondDerivatives, Torch
from gradcli.errors import GradcliError
from gradcli.language.inputs import Array, Value, read_directions
from gradcli.questions.judging import checked, compared, first_derivatives, judged
from gradcli.questions.question import Inquiry, Question, require_one_element, rounded
from gradcli.reference.deadline import time_limit
from gradcli.results import HVP, JVP, Evaluation, Hessian, Jacobian

MOST_BY_NUMPY = 2**12
"""Elements of a tensor up to which NumPy computes a value; functions it lacks take a millisecond for ten elements."""

Directions = Mapping[str, Value] | Value | None
"""Directions by variable, or the direction of the only variable."""


def evaluation(inquiry: Inquiry) -> Evaluation:
    """Compute the value y.

    Raises:
        GradcliError: A value is missing, surplus or malformed, or shapes do not fit.
    """
    question = inquiry.question()
    found = _by_numpy(question, check=inquiry.check)
    if found is not None:
        return found
    verdict = judged(question, first_derivatives(question)).check if inquiry.check else None
    return Evaluation(command="eval", value=question.value, check=verdict, **question.common)


def _by_numpy(question: Question, *, check: bool) -> Evaluation | None:
    """Compute the value with NumPy, which spares torch's import; None where torch has to compute it.

    Torch has to where a value is wrong or in doubt, in float32, where it runs code other than these lines, and where
    there is so much to compute that its import is worth the time.
    """
    program = question.program
    is_these_lines = question.live is None and program.guards is None
    most = max(map(math.prod, question.shapes.values()), default=1)
    if not is_these_lines or question.dtype != "float64" or most > MOST_BY_NUMPY:
        return None
    from gradcli.language.program.numeric import run

    try:
        value = run(program, {s: question.arrays[str(s)].astype("float64", copy=False) for s in program.variables})
    except GradcliError:  # let torch raise its own error
        return None
    with time_limit():
        found = compared(question, Torch(question.dtype, value, None)).check
    if found.verdict != "agree":
        return None
    return Evaluation(command="eval", value=value, check=found if check else None, **question.common)


def jacobian(inquiry: Inquiry) -> Jacobian:
    """Compute the full Jacobian.

    Raises:
        GradcliError: As for `evaluation`.
        TooLargeError: The blocks would take more than `JACOBIAN_BYTES`.
    """
    question = inquiry.question()
    question.require_room("use vjp with --v e0, --v e1, ... for single rows, or --wrt for fewer variables")
    shared = checked(question, first_derivatives(question, question.jacobian), check=inquiry.check)
    return Jacobian(command="jacobian", value=question.value, jacobian=question.jacobian, **question.common, **shared)


def jvp(inquiry: Inquiry, u: Directions) -> JVP:
    """Compute the Jacobian-vector product along u.

    Raises:
        InputError: A direction is missing or does not fit.
    """
    question = inquiry.question()
    directions = _directions(question, u, "jvp")
    from gradcli.autodiff import jacobians

    forward = question.ran(twice=True)
    y, along = jacobians.value(forward), jacobians.jvp(forward, directions)
    numbers = JacobianVectorProduct(question.dtype, y, along, directions)
    derived = of_jvp(question.point, question.program, directions)
    shared = {**question.common, **checked(question, numbers, derived, check=inquiry.check)}
    formulas = shared.pop("symbolic").get(""), shared.pop("symbolic_omitted").get("", "")
    return JVP(
        command="jvp", u=directions, jvp=along, value=y, symbolic=formulas[0], symbolic_omitted=formulas[1], **shared
    )


def hessian(inquiry: Inquiry) -> Hessian:
    """Compute all second derivatives of a y of one element.

    Raises:
        InputError: y has several elements.
        TooLargeError: The blocks would take more than `JACOBIAN_BYTES`.
    """
    question = inquiry.question()
    require_one_element(question, "hessian")
    entries = sum(question.arrays[name].size for name in question.wrt) ** 2
    hint = "use hvp with --u for single columns, or --wrt for fewer variables"
    question.require_room(hint, "the Hessian has", entries)
    from gradcli.autodiff import jacobians

    forward = question.ran(twice=True)
    gradient, blocks = jacobians.hessian(forward, question.wrt)
    numbers, derived = SecondDerivatives(question.dtype, gradient, blocks), of_hessian(question.point, question.wrt)
    shared = {**question.common, **checked(question, numbers, derived, _nested, check=inquiry.check)}
    return Hessian(command="hessian", value=jacobians.value(forward), grad=gradient, hessian=blocks, **shared)


def hvp(inquiry: Inquiry, u: Directions) -> HVP:
    """Compute the Hessian of a y of one element times u.

    Raises:
        InputError: y has several elements; a direction is missing or does not fit.
    """
    question = inquiry.question()
    require_one_element(question, "hvp")
    directions = _directions(question, u, "hvp")
    from gradcli.autodiff import jacobians

    forward = question.ran(twice=True)
    gradient, slope, product = jacobians.hvp(forward, directions, question.wrt)
    numbers = HessianVectorProduct(question.dtype, float(slope), product, directions)
    derived = of_hvp(question.point, question.program, directions, question.wrt)
    shared = {**question.common, **checked(question, numbers, derived, check=inquiry.check)}
    return HVP(command="hvp", u=directions, value=jacobians.value(forward), grad=gradient, hvp=product, **shared)


def _directions(question: Question, u: Directions, command: str) -> dict[str, Array]:
    """Read the directions that are given, for a derivative by the variables of the question."""
    given: Mapping[str, Value] = {} if u is None else u if isinstance(u, Mapping) else {"": u}
    shapes = {name: array.shape for name, array in question.arrays.items()}
    found = read_directions(given, shapes, question.wrt, command)
    return {name: rounded(array, question.dtype) for name, array in found.items()}


def _nested(found: Mapping[tuple[str, str], Any]) -> dict[str, dict[str, Any]]:
    """Nest values by block in dicts, by the variable of the row and then of the column."""
    blocks: dict[str, dict[str, Any]] = {}
    for (row, column), one in found.items():
        blocks.setdefault(row, {})[column] = one
    return blocks

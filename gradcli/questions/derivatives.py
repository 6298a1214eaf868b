"""What eval, jacobian, jvp, hessian and hvp ask: torch's numbers, the formulas that hold, the verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from gradcli.crosscheck.point import HessianVectorProduct, JacobianVectorProduct, Numbers, SecondDerivatives, Torch
from gradcli.errors import GradcliError
from gradcli.language.inputs import Array, Value, read_directions
from gradcli.questions.judging import by_variable, checked, compared, concluded, first_derivatives, judged
from gradcli.questions.question import Inquiry, Question, require_one_element, require_room, rounded
from gradcli.reference.deadline import time_limit
from gradcli.results import HVP, JVP, Evaluation, Hessian, Jacobian

if TYPE_CHECKING:
    from gradcli.crosscheck.formulas import Derived

_T = TypeVar("_T")

MOST_BY_NUMPY = 2**12
"""Elements of a tensor up to which NumPy computes a value; functions that it has not take it a millisecond for ten."""

Directions = Mapping[str, Value] | Value | None
"""Directions by variable, or that of the only one."""


def evaluation(inquiry: Inquiry) -> Evaluation:
    """The value y.

    Raises:
        GradcliError: A value is missing, surplus or malformed, or shapes do not fit.
    """
    if inquiry.points_of:
        from gradcli.questions import points

        return points.evaluation(inquiry)
    question = inquiry.question()
    found = _by_numpy(question, check=inquiry.check)
    if found is not None:
        return found
    verdict = judged(question, first_derivatives(question)).check if inquiry.check else None
    return Evaluation(command="eval", value=question.value, check=verdict, **question.common)


def _by_numpy(question: Question, *, check: bool) -> Evaluation | None:
    """The value as NumPy computes it, which spares torch's import; None where what torch computes is of interest.

    So it is where a value is wrong or in doubt, in float32, where torch runs something else than these lines, and
    where there is so much to compute that torch's import is worth it.
    """
    program = question.program
    is_these_lines = question.live is None and program.guards is None
    most = max(map(math.prod, question.shapes.values()), default=1)
    if not is_these_lines or question.dtype != "float64" or most > MOST_BY_NUMPY:
        return None
    from gradcli.language.program.numeric import run

    try:
        value = run(program, {s: question.arrays[str(s)].astype("float64", copy=False) for s in program.variables})
    except GradcliError:  # torch says itself what it refuses
        return None
    with time_limit():
        found = compared(question, Torch(question.dtype, value, None)).check
    if found.verdict != "agree":
        return None
    return Evaluation(command="eval", value=value, check=found if check else None, **question.common)


def jacobian(inquiry: Inquiry) -> Jacobian:
    """The full Jacobian.

    Raises:
        GradcliError: As for `evaluation`.
        TooLargeError: The blocks would take more than `JACOBIAN_BYTES`.
    """
    if inquiry.points_of:
        from gradcli.questions import points

        return points.jacobian(inquiry)
    question = inquiry.question()
    question.require_room("use vjp with --v e0, --v e1, ... for single rows, or --wrt for fewer variables")
    blocks, _ = question.jacobian(question.jacobian_entries)
    return Jacobian(
        command="jacobian",
        value=question.value,
        jacobian=blocks,
        **question.common,
        **checked(question, blocks, None, None, check=inquiry.check),
    )


def jvp(inquiry: Inquiry, u: Directions) -> JVP:
    """The Jacobian-vector product along u.

    Raises:
        InputError: A direction is missing or does not fit.
    """
    question = inquiry.question()
    directions = _directions(question, u, "jvp")
    from gradcli.autodiff import jacobians
    from gradcli.crosscheck.formulas import of_jvp

    forward = question.ran(twice=True)
    y, along = jacobians.value(forward), jacobians.jvp(forward, directions)
    numbers = JacobianVectorProduct(question.dtype, y, along, directions)
    shared = _confirmed(inquiry, question, numbers, of_jvp(question.point, question.program, directions))
    shared["symbolic"] = shared["symbolic"].get("")
    shared["symbolic_omitted"] = shared["symbolic_omitted"].get("", "")
    return JVP(command="jvp", u=directions, jvp=along, value=y, **shared)


def hessian(inquiry: Inquiry) -> Hessian:
    """All second derivatives of a y of one element.

    Raises:
        InputError: y has several elements.
        TooLargeError: The blocks would take more than `JACOBIAN_BYTES`.
    """
    question = inquiry.question()
    require_one_element(question, "hessian")
    entries = sum(question.arrays[name].size for name in question.wrt) ** 2
    require_room(
        "the Hessian has", entries, question.dtype, "use hvp with --u for single columns, or --wrt for fewer variables"
    )
    from gradcli.autodiff import jacobians
    from gradcli.crosscheck.formulas import of_hessian

    forward = question.ran(twice=True)
    gradient, blocks = jacobians.hessian(forward, question.wrt)
    numbers = SecondDerivatives(question.dtype, gradient, blocks)
    shared = _confirmed(inquiry, question, numbers, of_hessian(question.point, question.wrt), _nested)
    return Hessian(command="hessian", value=jacobians.value(forward), grad=gradient, hessian=blocks, **shared)


def hvp(inquiry: Inquiry, u: Directions) -> HVP:
    """The Hessian of a y of one element times u.

    Raises:
        InputError: y has several elements; a direction is missing or does not fit.
    """
    question = inquiry.question()
    require_one_element(question, "hvp")
    directions = _directions(question, u, "hvp")
    from gradcli.autodiff import jacobians
    from gradcli.crosscheck.formulas import of_hvp

    forward = question.ran(twice=True)
    gradient, slope, product = jacobians.hvp(forward, directions, question.wrt)
    numbers = HessianVectorProduct(question.dtype, float(slope), product, directions)
    derived = of_hvp(question.point, question.program, directions, question.wrt)
    shared, value = _confirmed(inquiry, question, numbers, derived), jacobians.value(forward)
    return HVP(command="hvp", u=directions, value=value, grad=gradient, hvp=product, **shared)


def _confirmed(
    inquiry: Inquiry, question: Question, numbers: Numbers, derived: Derived, by: Callable[..., Any] = by_variable
) -> dict[str, Any]:
    """Fill the fields of an answer: confirmed formulas, the verdict if it is asked for, and the common ones."""
    found, check = concluded(question, judged(question, numbers) if inquiry.check else None, derived)
    return {**question.common, "symbolic": by(found.shown), "symbolic_omitted": by(found.omitted), "check": check}


def _directions(question: Question, u: Directions, command: str) -> dict[str, Array]:
    """Those that are given, or those of a snippet."""
    given: Mapping[str, Value] = {} if u is None else u if isinstance(u, Mapping) else {"": u}
    shapes = {name: array.shape for name, array in question.arrays.items()}
    found = read_directions(given, shapes, question.wrt, command)
    return {name: rounded(array, question.dtype) for name, array in found.items()}


def _nested(found: Mapping[tuple[str, str], _T]) -> dict[str, dict[str, _T]]:
    """What is known of blocks, by the variable of the row and then of the column."""
    blocks: dict[str, dict[str, _T]] = {}
    for (row, column), one in found.items():
        blocks.setdefault(row, {})[column] = one
    return blocks

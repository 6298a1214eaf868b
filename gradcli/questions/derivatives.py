"""What `eval` and `jacobian` answer: the value of a function, and all of its first derivatives."""

from __future__ import annotations

from gradcli.questions.judging import checked, first_derivatives, judged
from gradcli.questions.preparing import Inquiry
from gradcli.results import Evaluation, Jacobian


def evaluation(inquiry: Inquiry) -> Evaluation:
    """The value y.

    Raises:
        GradcliError: A value is missing, surplus or malformed, or shapes do not fit.
    """
    if inquiry.points_of:
        from gradcli.questions import points

        return points.evaluation(points.points_of(inquiry), check=inquiry.check)
    question = inquiry.question("eval")
    verdict = judged(question, first_derivatives(question)).check if inquiry.check else None
    return Evaluation(command="eval", value=question.value, check=verdict, **question.common)


def jacobian(inquiry: Inquiry) -> Jacobian:
    """The full Jacobian.

    Raises:
        GradcliError: As for `evaluation`.
        TooLargeError: The blocks would take more than `JACOBIAN_BYTES`.
    """
    if inquiry.points_of:
        from gradcli.questions import points

        return points.jacobian(points.points_of(inquiry), check=inquiry.check)
    question = inquiry.question("jacobian")
    question.require_room("use vjp with --v e0, --v e1, ... for single rows, or --wrt for fewer variables")
    blocks, _ = question.jacobian(question.jacobian_entries)
    return Jacobian(
        command="jacobian",
        value=question.value,
        jacobian=blocks,
        **question.common,
        **checked(question, blocks, None, None, check=inquiry.check),
    )

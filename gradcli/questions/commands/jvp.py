"""The Jacobian-vector product, the slope along u: the method `jvp`."""

from __future__ import annotations

from typing import Unpack

from gradcli.crosscheck.formulas import derive_formulas
from gradcli.crosscheck.point import JacobianVectorProduct
from gradcli.questions.judging import checked
from gradcli.questions.parsed_text import Directions, Inputs, JudgedOptions, ParsedText
from gradcli.results import JVP


def jvp(self: ParsedText, at: Inputs | None = None, u: Directions = None, **options: Unpack[JudgedOptions]) -> JVP:
    """Compute the Jacobian-vector product Ju, the derivative of y along a direction u in x.

    Raises:
        GradcliError: A direction is missing, or has not its variable's shape.

    >>> from gradcli import Function
    >>> answer = Function("[x*y, x+y]").jvp({"x": 3, "y": 5}, {"x": 1, "y": 10})
    >>> answer.jvp, answer.symbolic.text, answer.check.verdict
    (array([35., 11.]), '[u_x*y + u_y*x, u_x + u_y]', 'agree')
    """
    question = self._asked(at, **options).question(twice=True)
    directions = question.directions(u, "jvp")
    from gradcli.autodiff import jacobians

    product = jacobians.jvp(question.forward, directions)
    numbers = JacobianVectorProduct(question.dtype, question.value, product, directions)
    derived = derive_formulas(question.point, question.program, (), "jvp", directions)
    return JVP(command="jvp", u=directions, **checked(question, numbers, "jvp", {("", ""): product}, derived))

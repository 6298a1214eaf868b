"""The Hessian times a direction u, without the Hessian: the method `hvp`."""

from __future__ import annotations

from typing import Unpack

from gradcli.crosscheck.formulas import derive_formulas
from gradcli.crosscheck.point import HessianVectorProduct
from gradcli.questions.judging import beside, checked
from gradcli.questions.parsed_text import Directions, Inputs, JudgedOptions, ParsedText
from gradcli.results import HVP, by_name


def hvp(self: ParsedText, at: Inputs | None = None, u: Directions = None, **options: Unpack[JudgedOptions]) -> HVP:
    """Compute the Hessian-vector product Hu of a y of one element, without the Hessian.

    Raises:
        GradcliError: As for `jvp`; y has several elements.

    >>> from gradcli import Function
    >>> answer = Function("sum(x**3)").hvp({"x": [1, 2]}, "e1")
    >>> answer.hvp["x"], answer.symbolic["x"].text
    (array([ 0., 12.]), '6*u[j]*x[j]')
    """
    question = self._asked(at, **options).question(twice=True)
    question.require_one_element("hvp")
    directions = question.directions(u, "hvp")
    from gradcli.autodiff import jacobians

    gradient, slope, product = jacobians.hvp(question.forward, directions, question.wrt)
    numbers = HessianVectorProduct(question.dtype, float(slope), product, directions, question.value.item())
    derived = derive_formulas(question.point, question.program, question.wrt, "hvp", directions)
    shared = checked(question, numbers, "hvp", by_name(product), derived)
    shared["quantities"] = (*beside(question, "gradient", gradient), *shared["quantities"])
    return HVP(command="hvp", u=directions, **shared)

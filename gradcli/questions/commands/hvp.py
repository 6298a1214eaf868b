"""The Hessian times a direction u, without the Hessian: the method `hvp`."""

from __future__ import annotations

from typing import Unpack

from gradcli.questions.answering import answer
from gradcli.questions.parsed_text import Directions, Inputs, JudgedOptions, ParsedText
from gradcli.results import HVP


def hvp(self: ParsedText, at: Inputs | None = None, u: Directions = None, **options: Unpack[JudgedOptions]) -> HVP:
    """Compute the Hessian-vector product Hu of a y of one element, without the Hessian.

    Raises:
        GradcliError: As for `jvp`; y has several elements.

    >>> from gradcli import Function
    >>> answer = Function("sum(x**3)").hvp({"x": [1, 2]}, "e1")
    >>> answer.hvp["x"], answer.symbolic["x"].text
    (array([ 0., 12.]), '6*u[j]*x[j]')
    """
    return answer(HVP, self._asked(at, **options), u)

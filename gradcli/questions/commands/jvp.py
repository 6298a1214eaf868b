"""The Jacobian-vector product, the slope along u: the method `jvp`."""

from __future__ import annotations

from typing import Unpack

from gradcli.questions.answering import answer
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
    return answer(JVP, self._asked(at, **options), u)

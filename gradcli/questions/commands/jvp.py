"""The Jacobian-vector product, the slope along u: the method `jvp`."""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack

from gradcli.questions.answering import answer
from gradcli.questions.operators import FORWARD_MODE
from gradcli.questions.parsed_text import Directions, Inputs, JudgedOptions, ParsedText
from gradcli.results import JVP


def jvp(
    self: ParsedText,
    at: Inputs | None = None,
    u: Directions = None,
    *,
    forward: bool = False,
    **options: Unpack[JudgedOptions],
) -> JVP:
    """Compute the Jacobian-vector product Ju, the derivative of y along a direction u in x.

    With `forward` its number is that of forward mode, as `torch.func.jvp` has it; else it is the derivative of vᵀJ
    along v, which is linear in v.

    Raises:
        GradcliError: A direction is missing, or has not its variable's shape; an operation has no forward mode.

    >>> from gradcli import Function
    >>> answer = Function("[x*y, x+y]").jvp({"x": 3, "y": 5}, {"x": 1, "y": 10})
    >>> answer.jvp, answer.symbolic.text, answer.check.verdict
    (array([35., 11.]), '[u_x*y + u_y*x, u_x + u_y]', 'agree')
    """
    found = answer(JVP, self._asked(at, **options), u, FORWARD_MODE if forward else None)
    return replace(found, remarks=("Ju is by forward mode",)) if forward else found

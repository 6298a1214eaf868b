"""Operators of vector analysis on a function: `laplacian(x^2*y)`, `div([a, b])`, `∇·F`."""

from __future__ import annotations

import re
from typing import NamedTuple

from gradcli.language.text.signs import is_balanced, parted_at

_NABLA = r"(?:∇|\\?nabla\b)\s*"
_OPERATOR = re.compile(
    rf"\s*(?:(?P<trace>[lL]aplacian|{_NABLA}(?:²|(?:\^|\*\*)\s*\{{?2\}}?))"
    rf"|(?P<rows>[dD]iv(?=\s*[(\[]\s*[\[{{(])|[dD]ivergence|[cC]url|rot|{_NABLA}(?:[·.×⋅∙*]|\\cdot|\\times)))"
    r"\s*(?:[(\[](?P<function>.+?)(?:,\s*[\[{](?P<by>[^\[\]{}()]*)[\]}])?[)\]]|(?<=[\s²})])(?P<bare>[^\W\d]\S*.*))\s*",
    re.DOTALL,
)
"""An operator of vector analysis on a function, `laplacian(x^2*y)`."""


class VectorOperator(NamedTuple):
    """An operator of vector analysis on a function.

    Attributes:
        is_trace: Whether it is of the Hessian, and not of the Jacobian.
        function: The function, a list where it has several components.
        by: The variables, separated by commas; empty where none are named.
    """

    is_trace: bool
    function: str
    by: str


def vector_operator(text: str) -> VectorOperator | None:
    """Match an operator of vector analysis on one function; `div(a, b)` is a quotient.

    >>> vector_operator("∇·(x**2, y**2)")
    VectorOperator(is_trace=False, function='[x**2, y**2]', by='')
    >>> vector_operator("∇²(x^2)").is_trace, vector_operator("div([a, b], c)")
    (True, None)
    """
    found = _OPERATOR.fullmatch(text)
    if found is None or (found["rows"] == "div" and found["by"] is not None):
        return None
    function = (found["function"] or found["bare"]).strip()
    inside = function[1:-1] if function[:1] + function[-1:] in ("{}", "()", "[]") else function
    parts = [one.strip() for one in parted_at(inside, ",")]
    is_list = len(parts) > 1 and all(parts) and all(map(is_balanced, parts))
    if is_list and found["rows"] not in (None, "div"):
        function = f"[{', '.join(parts)}]"
    is_one = is_balanced(function) and not (found["bare"] and function.isidentifier())
    return VectorOperator(bool(found["trace"]), function, (found["by"] or "").replace(" ", "")) if is_one else None

"""Limits, `lim x->0 sin(x)/x`: the value there, which `eval` finds where the function only has a hole."""

from __future__ import annotations

import re

from gradcli.language.text.signs import NAME, unwrapped

_ARROW = r"\s*(?:->|→|\\to|\\rightarrow|(?:goes|tends)\s+to|approaches)\s*"
_LIMIT = re.compile(
    rf"\s*\\?lim(?:it)?s?\s*(?:_\s*)?[{{(]?\s*(?P<by>{NAME}){_ARROW}(?P<to>[-+.\w∞\\]+)\s*[}})]?\s+(?:of\s+)?"
    r"(?P<function>\S.*)"
    r"|\s*(?:sp\.|sympy\.)?[lL]imit\s*[(\[](?P<first>.+),\s*(?P<of>[^\W\d]\w*)\s*(?:,|->)\s*(?P<at>[-+.\w∞\\]+)\s*[)\]]\s*"
    r"|\s*(?:(?:what\s+is|find|compute|calculate)\s+)?(?:the\s+)?[lL]im(?:it)?(?:\s+of\s+|\s+|(?=\())(?P<whole>\S.*?)"
    rf"(?:,\s*(?:as\s+|when\s+|for\s+)?|\s+(?:as|when|for)\s+)(?P<goes>{NAME}){_ARROW}(?P<there>[-+.\w∞\\]+)\s*"
)

_INFINITE = re.compile(r"[-+]?(?:inf(?:inity|ty)?|oo|∞|\\infty)", re.IGNORECASE)
"""Infinity, as a variable's limit is written."""


def limit(text: str) -> list[str] | None:
    """Return the words that ask for a limit; None where a text is none.

    >>> limit("lim x->0 sin(x)/x"), limit("lim x->inf (1 + 1/x)^x")
    (['eval', 'sin(x)/x', '--at', 'x=0'], ['eval', 'x = 1/t^2; (1 + 1/x)^x', '--at', 't=0'])
    """
    if (found := _LIMIT.fullmatch(text)) is None:
        return None
    by, to = found["by"] or found["of"] or found["goes"], found["to"] or found["at"] or found["there"]
    function = unwrapped(found["function"] or found["first"] or found["whole"]).strip()
    if _INFINITE.fullmatch(to):  # where 1/t^2 goes from both sides of 0
        t = next(name for name in ("t", "s", "u", "t_0") if re.search(rf"(?<![^\W\d_]){name}", function) is None)
        function, by, to = f"{by} = {'-' * to.startswith('-')}1/{t}^2; {function}", t, "0"
    return ["eval", function, "--at", f"{by}={to}"]

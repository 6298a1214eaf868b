"""Points that are written in an expression: `x^2 at 3`, `x^2; x=3`, `/. x -> 1`, `.subs(x, 1)`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from gradcli.language.text.signs import is_balanced

_POINT = re.compile(
    r"\s*(?P<function>\S.*?)\s*(?:/\.\s*(?P<rules>\{[^{}]*\}|[^{},]+->[^{},]+)"
    r"|\.(?:subs|replace)\((?P<subs>[^()]*)\)(?:\.(?:evalf|n|doit)\(\))?"
    r"|(?:\\(?:big|Big|bigg|Bigg)?(?:r\s*)?)?(?:\||\\rvert|\\vert)\s*_\s*\{(?P<bar>[^{}]*=[^{}]*)\})\s*",
    re.DOTALL,
)
"""A point after a function: `/. x -> 1` of Mathematica, `.subs(x, 1)` of SymPy, `|_{x=1}` on paper."""

_RULE = re.compile(r"[({]*\s*([^\W\d]\w*)\s*(?:->|=|:|,)\s*([^,;=:<>]+?)\s*[)}]*\s*(?:[,;]|$)")

_AT = re.compile(
    r"\s*(?P<function>[^\s].*?)\s+(?:at|when|where)\s+(?P<at>[-+\[(\d.]|[^\W\d]\w*(?:\.\w+)*\s*=[^=])(?P<rest>.*)",
    re.DOTALL,
)
"""An expression with its point after it, `x^2 at 3`."""

_AT_VALUES = re.compile(
    r"\s*(?P<function>[^\s=;][^=;]*?)(?:\s+(?:for|where|with|given)\s+|\s*[,;|@]\s*)"
    r"(?P<at>[^\W\d])(?P<rest>\w*\s*=\s*(?:\[[^=;]*\]|[-+\d.eEpiπ*/^]+)\s*(?:[,;]\s*[^\W\d]\w*\s*=\s*(?:\[[^=;]*\]|[-+\d.eEpiπ*/^]+)\s*)*)"
)
"""The same with a value for each variable after a sign or a word, `x^2; x=3`, `x*y for x=1, y=2`."""


class ExpressionAtPoint(NamedTuple):
    """A function, and the point that is written after it.

    Attributes:
        function: The text of the function.
        values: A value for each variable, `x=1`.
    """

    function: str
    values: list[str]


def placed(text: str) -> ExpressionAtPoint | None:
    """Part a function from the point that is written after it.

    >>> placed("D[x^2, x] /. x -> 1")
    ExpressionAtPoint(function='D[x^2, x]', values=['x=1'])
    >>> placed("diff(x*y, x).subs({x: 1, y: 2})").values
    ['x=1', 'y=2']
    """
    if (found := _POINT.fullmatch(text)) is None or "\n" in text:
        return None
    point = found["rules"] or found["subs"] or found["bar"]
    rules = _RULE.findall(point)
    is_whole = bool(rules) and not _RULE.sub("", point).strip(" )}")
    return ExpressionAtPoint(found["function"], [f"{name}={value}" for name, value in rules]) if is_whole else None


def at_options(values: Sequence[str]) -> list[str]:
    """Return the words that give variables their values, `--at` before each."""
    return [word for one in values for word in ("--at", one)]


def at_point(text: str) -> re.Match[str] | None:
    """Match an expression with its point after it.

    >>> bool(at_point("x^2; x=3")), bool(at_point("f(x, y=2)")), bool(at_point("y = x; x=3"))
    (True, False, False)
    """
    found = _AT_VALUES.fullmatch(text) if "=" in text else None
    return found if found is not None and is_balanced(found["function"]) else _AT.fullmatch(text)

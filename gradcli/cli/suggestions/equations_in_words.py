"""Equations of two variables, `x^2 + y^2 = 25`: the commands whose answer the derivative along them is made of."""

from __future__ import annotations

import re

from gradcli.language.ops import find
from gradcli.language.text.signs import NAME, compared, is_balanced

_IMPLICIT = re.compile(
    r"\s*(?:\w+\.)?(?:idiff|implicit_?diff(?:erentiate)?|ImplicitD)\s*[(\[](?P<function>.+),"
    rf"\s*(?P<y>{NAME})\s*,\s*(?P<x>{NAME})\s*[)\]]\s*"
)
"""The derivative of y by x along an equation, `idiff(x^2 + y^2 - 25, y, x)`."""

_RATE_ALONG = re.compile(
    rf"\s*[d∂](?P<y>{NAME})\s*/\s*[d∂](?P<x>{NAME})\s*(?:\b(?:of|for|if|on|along|where|when|given)\b|[:,;]|(?<=\s))\s*"
    rf"(?=.*(?<![\w.])(?P=y)(?!\w))(?=.*(?<![\w.])(?P=x)(?!\w))(?P<function>[^=]*[^=\s].*=.*)"
)
"""The same by its quotient, `dy/dx of x^2 + y^2 = 25`; of an equation that names y, and no `y = x^2`."""

_EQUATION = r"[^=,;:]*[^=,;:\s]\s*=\s*[^=,;:]+?"
_WITH_RATE = tuple(
    re.compile(rf"\s*{form}\s*")
    for form in (
        rf"[d∂](?P<y>{NAME})\s*/\s*[d∂](?P<x>{NAME})\s*=[^=]+?\s*(?:\b(?:of|for|if|on|along|where|when|given)\b|[,:;])"
        rf"\s*(?P<function>{_EQUATION})",
        rf"(?P<function>{_EQUATION})\s*(?:[,:;]|\b(?:so|then|has|gives|with|implies)\b)"
        rf"\s*[d∂](?P<y>{NAME})\s*/\s*[d∂](?P<x>{NAME})\s*=[^=;]+",
    )
)
"""An equation with what the derivative along it is said to be, `x^2 + y^2 = 25, dy/dx = -x/y`."""

_RATE_AFTER = re.compile(
    rf"\s*(?P<y>{NAME})\s*(?:\(\s*{NAME}\s*\)\s*)?=\s*(?P<function>[^=;]+?)\s*[;,.]\s*(?:then\s+)?(?:find|compute|what\s+is)\s+"
    rf"[d∂](?P=y)\s*/\s*[d∂](?P<by>{NAME})(?:\s+(?:at|when|for|if|where)\s+(?:(?P=by)\s*=\s*)?(?P<at>[^=;]+?))?\s*\??\s*"
)
"""A function, and the question for its derivative, `y = x^2, find dy/dx when x = 2`."""

_OF = re.compile(r"(?:.*\s)?of\s+(?=.*=)")
"""What stands before an equation whose derivative is asked for, `slope of x^2 + y^2 = 25`."""

_OTHER = re.compile(r"[;\n{}<>'\u2032]|\b(?:for|if|while|at|where)\b")
"""What stands in no equation."""


def of_equation(text: str) -> list[list[str]]:
    """Return the command lines for the partial derivatives of F, where a text is an equation F = 0 of two variables.

    A definition, `f(x, y) = a*x`, is no such equation, nor a function of one variable with its derivative, `x^2 = 2*x`;
    where the right side may be a derivative of the left one, there is a command line for that too.

    >>> of_equation("x^2 + y^2 = 25"), of_equation("f(x, y) = a*x"), of_equation("x^2 = 2*x")
    ([['grad', 'x^2 + y^2 - 25']], [], [])
    >>> of_equation("idiff(x*y - 1, y, x)"), of_equation("x*y = y")
    ([['grad', 'x*y - 1', '--wrt', 'x,y']], [['grad', 'x*y - y'], ['check', 'x*y', '--claim', 'y']])
    """
    asked_for = _IMPLICIT.fullmatch(text) or _along(text)
    text = asked_for["function"] if asked_for is not None else text
    sides = compared(text, "=").sides
    if not all(sides) or not all(map(is_balanced, sides)) or _OTHER.search(text):
        return []
    right = sides[-1] if re.fullmatch(r"[\w.*/^]+", sides[-1]) else f"({sides[-1]})"
    zero = f"{sides[0]} - {right}" if len(sides) == 2 and right != "0" else sides[0]
    if asked_for is not None:
        is_one = len(sides) <= 2 and sides[0] not in (asked_for["x"], asked_for["y"])
        return [["grad", zero, "--wrt", f"{asked_for['x']},{asked_for['y']}"]] if is_one else []
    names = [{*re.findall(rf"{NAME}(?!\w|\s*\()", side)} - {"pi", "E", "e"} for side in sides]
    called = re.fullmatch(rf"({NAME})\s*\(\s*{NAME}(?:\s*,\s*{NAME})*\s*\)", sides[0])
    is_known = called is not None and find(called[1]) is not None  # sin(x*y) = x
    is_defined = called is not None and not is_known
    is_expression = is_known or (re.search(r"[-+*/^]|\s", sides[0].strip("+-")) is not None and not is_rate(sides[0]))
    if len(sides) == 2 and not names[1] and re.fullmatch(r"([a-z])(?!\1)[a-z]", sides[0]):  # xy = 1
        return [["grad", zero]]
    if len(sides) != 2 or len(names[0] | names[1]) < 2 or is_defined or not is_expression:
        return []
    is_claim = bool(names[1]) and names[1] <= names[0]
    return [["grad", zero], *([["check", sides[0], "--claim", sides[1]]] if is_claim else [])]


def rate_after(text: str) -> list[str] | None:
    """Return the command line for a function with the question for its derivative; None of any other text.

    >>> rate_after("y = x^2, find dy/dx when x = 2"), rate_after("y = x^2")
    (['grad', 'x^2', '--wrt', 'x', '--at', 'x=2'], None)
    """
    found = _RATE_AFTER.fullmatch(text) if "/" in text and "=" in text else None
    if found is None:
        return None
    point = ["--at", f"{found['by']}={found['at']}"] if found["at"] else []
    return ["grad", found["function"], "--wrt", found["by"], *point]


def is_along(text: str) -> bool:
    """Tell whether a text is a derivative of y by x with an equation that names both.

    >>> is_along("dy/dx of x^2 + y^2 = 25"), is_along("dy/dx of x^2 = 2*x")
    (True, False)
    """
    return _along(text) is not None


def _along(text: str) -> re.Match[str] | None:
    """Match a derivative of y by x along an equation, alone or with what it is said to be."""
    found = (pattern.fullmatch(text) for pattern in (*_WITH_RATE, _RATE_ALONG))
    return next(filter(None, found), None)


def asked_along(text: str) -> list[list[str]]:
    """Return the command lines for a derivative along an equation, at a point or without one.

    >>> asked_along("slope of x^2 + y^2 = 25 at 3,4"), asked_along("x^2 + y^2 = 25, dy/dx = -x/y")
    ([['grad', 'x^2 + y^2 - 25', '--at', '3,4']], [['grad', 'x^2 + y^2 - 25', '--wrt', 'x,y']])
    """
    whole, _, point = text.partition(" at ")
    equation = whole if is_along(whole) else whole[found.end() :] if (found := _OF.match(whole)) else ""
    return [[*words, *(("--at", point) * bool(point))] for words in of_equation(equation)]


def is_equation(text: str) -> bool:
    """Tell whether a text is an equation F = 0 of two variables, whose partial derivatives are asked for."""
    return bool(of_equation(text))


def is_rate(text: str) -> bool:
    """Tell whether a text begins with a derivative as the left side of an equation has it, `dy/dx` or `\\dot{x}`."""
    return re.match(r"\s*(?:[d∂]\w*\s*/\s*[d∂]|\\d?dot)", text) is not None

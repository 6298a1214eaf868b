"""Third derivatives and higher ones, which are not computed: the question of the second one of a derivative's formula.

hessian "x**4" --at 2 --order 3        hessian "4*x**3" --at 2
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

from gradcli.cli.default_command import HIGHEST
from gradcli.errors import HigherDerivativeError, UsageError
from gradcli.language.text.signs import NAME, unwrapped

_SAID = {name: n for n, names in enumerate(("third 3rd", "fourth 4th", "fifth 5th"), 3) for name in names.split()}
_RAISED = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"

_NAME = rf"{NAME}?"
"""A name, as short as it may be."""

_POWER = r"(?:\s*(?:\^|\*\*)\s*)?\{?\s*(?P<order>[3-5\u00b3\u2074\u2075])\s*\}?"
_AGAIN = r"(?:\s*(?:\^|\*\*)\s*)?\{?\s*(?P=order)\s*\}?"
_POINT = r"(?:,?\s+(?:at|for|where)\s+(?P<at>\S.*?))?"
_ARGUMENT = rf"\s*\(\s*(?P<by>{_NAME})\s*\)\s*=\s*(?P<function>[^=;]+?)"
_PRIMES = "(?P<primes>['\u2032]{3,5}|[\u2034\u2057])"
_CALLED = r"\s*(?:\((?P<at>[^()]*)\))?"

_FORMS = tuple(
    rf"\s*{form}\s*"
    for form in (
        rf"[d\u2202]{_POWER}\s*(?:[a-zA-Z](?:\(\w+\))?)?\s*/\s*[d\u2202]\s*(?P<by>{_NAME}){_AGAIN}"
        rf"(?:\s+(?:of\s+)?|(?=\())(?P<function>[^\s*/^+=<>,;!%&)\]-].*?){_POINT}",
        rf"(?:\\|\f)?[dt]?frac\s*\{{\s*(?:\\partial|d)\s*{_POWER}\s*\w?\s*\}}\s*\{{\s*(?:\\partial|d)\s*(?P<by>{_NAME}){_AGAIN}\s*\}}"
        r"\s*(?P<function>\S.*?)",
        r"(?:\w+\.)?(?:[dD]iff|D|[dD]erivative)\s*[(\[](?P<function>.+?),\s*[{(]?\s*"
        rf"(?P<by>{_NAME})\s*,\s*(?P<order>[3-5])\s*[}})]?\s*[)\]]",
        rf"(?:\w+\.)?(?:[dD]iff|D|[dD]erivative)\s*[(\[](?P<function>.+?)(?P<each>(?:,\s*(?P<by>{_NAME})\s*)(?:,\s*(?P=by)\s*){{2,4}})[)\]]",
        rf"(?P<function>.+?)\.diff\(\s*(?P<by>{_NAME})\s*,\s*(?P<order>[3-5])\s*\)",
        rf"(?:(?:find|compute|what\s+is)\s+)?(?:the\s+)?(?P<order>{'|'.join(_SAID)})\s+derivative\s+of\s+(?P<function>\S.*?)"
        rf"(?:\s+(?:wrt|with\s+respect\s+to)\s+(?P<by>{_NAME}))?{_POINT}",
        rf"(?P<f>[^\W\d]){_ARGUMENT}\s*[;,]\s*(?P=f)\s*{_PRIMES}{_CALLED}",
        rf"(?P<f>[^\W\d])\s*{_PRIMES}{_CALLED}\s*(?:where|if|for|with|when|,|;|:)\s+(?P=f){_ARGUMENT}",
        rf"\((?P<function>.+)\)\s*{_PRIMES}{_CALLED}",
    )
)
"""Derivatives of the third order and higher: `d^3/dx^3 F`, `diff(F, x, 3)`, `third derivative of F`, `f'''(2)`."""


_ONCE = (
    rf"\s*(?:[dD]iff|D)\((?P<function>.+),\s*(?P<by>{_NAME})\s*\)\s*"
    rf"|\s*[d\u2202]\s*/\s*[d\u2202](?P<over>{_NAME})(?:\s+|(?=\())(?P<under>[^\s*/^+=,;].*)"
)
"""A first derivative, of which others may be taken: `diff(F, x)`, `d/dx F`."""

_MOST = 5
"""Most derivatives in a row that are read."""


class HigherDerivative(NamedTuple):
    """Derivative of an order above the second.

    Attributes:
        function: What is differentiated.
        order: How often.
        by: The variable; empty where it is not said.
        at: The point, if the text has it.
    """

    function: str
    order: int
    by: str = ""
    at: str = ""


def higher_derivative(text: str) -> HigherDerivative | None:
    """Read a text that asks for a derivative above the second; None for any other.

    >>> higher_derivative("d^3/dx^3 tan(x)"), higher_derivative("diff(x**4, x, 3)").order
    (HigherDerivative(function='tan(x)', order=3, by='x', at=''), 3)
    >>> higher_derivative("f(x) = x^4; f'''(2)")
    HigherDerivative(function='x^4', order=3, by='x', at='2')
    >>> higher_derivative("d3*x"), higher_derivative("diff(x**4, x, 2)")
    (None, None)
    """
    text = text.replace("\\partial", "\u2202").replace("\u2202 ", "\u2202")
    if (found_inside := nested(text)) is not None and found_inside.order > 2:
        return found_inside
    for form in _FORMS:
        if (found := re.fullmatch(form, text, re.DOTALL)) is None:
            continue
        parts = {"by": "", "at": "", **found.groupdict()}
        function, by, at = (parts[name] or "" for name in ("function", "by", "at"))
        if function.count("(") != function.count(")"):
            continue
        at = "" if at.strip() == by else at.strip()
        return HigherDerivative(function.strip(), _order(parts), by, at)
    return None


def nested(text: str) -> HigherDerivative | None:
    """Read derivatives of derivatives by one variable; None of a first derivative.

    >>> nested("diff(diff(x**4, x), x)"), nested("d/dx (d/dx (d/dx x^4))").order, nested("diff(x**2, x)")
    (HigherDerivative(function='x**4', order=2, by='x', at=''), 3, None)
    """
    by = list[str]()
    while len(by) < _MOST and (found := re.fullmatch(_ONCE, text, re.DOTALL)) is not None:
        text = unwrapped(found["function"] or found["under"])
        by.append(found["by"] or found["over"])
    return HigherDerivative(text, len(by), by[0]) if len(by) > 1 and len({*by}) == 1 else None


_OPERATOR = re.compile(rf"(?<!\w)[d\u2202]\s*/\s*[d\u2202]{NAME}(?:\s+|(?=\())(?=[^\s*/^+=,;)-])")


def is_of_several(text: str) -> bool:
    """Tell whether a text is made of derivatives, `d/dx x^2 * d/dx x^3`, and none of a function, nor one of another.

    >>> is_of_several("d/dx x^2 * d/dx x^3"), is_of_several("d/dx d/dy x*y"), is_of_several("d/dx x^2")
    (True, False, False)
    """
    inside, count = text, 0
    while count < _MOST and (found := _OPERATOR.match(inside.lstrip())) is not None:
        inside, count = unwrapped(inside.lstrip()[found.end() :]), count + 1
    return count > 0 and _OPERATOR.search(inside) is not None


def _order(parts: dict[str, str | None]) -> int:
    """Read how often is differentiated: a number, a word, a raised digit, primes, or a name for each time."""
    if order := parts.get("order"):
        return _SAID.get(order) or (_RAISED.index(order) if order in _RAISED else int(order))
    if primes := parts.get("primes"):
        return {"\u2034": 3, "\u2057": 4}.get(primes, len(primes))
    return (parts.get("each") or "").count(",")


def require_none_in_words(text: str) -> None:
    """Refuse a text that asks for a derivative above the second, or for several.

    Raises:
        UsageError: It does.
    """
    if is_of_several(text):
        several = f"several derivatives stand in a text, and a command has one: {text.strip()}"
        raise UsageError(several, hint="ask for one at a time, and combine the answers")
    if higher_derivative(text) is not None:
        raise _too_high(text.strip())


def require_low_order(words: Sequence[str]) -> None:
    """Refuse `--order 3` and more.

    Raises:
        UsageError: It is among the words of a command line.
    """
    for word, after in itertools.pairwise((*words, "")):
        name, equals, value = word.partition("=")
        order = value if equals else after
        if name == "--order" and order.isdecimal() and int(order) > 2:
            raise _too_high(f"--order {order}")


def _too_high(shown: str) -> HigherDerivativeError:
    hint = "gradcli grad prints the formula of the derivative, and gradcli hessian of that formula is the third"
    return HigherDerivativeError(f"{HIGHEST}: {shown}", hint=hint)

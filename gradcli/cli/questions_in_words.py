"""Questions in the words of a textbook or of another tool: `d/dx x^2`, `diff(x^2, x)`, `x^2 at 3`.

They read as products of names, so they are refused; the command line that asks the same is what `asked` gives.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from gradcli.cli.default_command import DERIVATIVE
from gradcli.errors import UsageError

_PHRASE = re.compile(
    r"\s*(?:(?:what\s+is\s+)?(?:the\s+)?(?:(?P<noun>gradient|derivative|jacobian|hessian)\s+)?of|differentiate|(?:\\?nabla|∇)(?:_\{?(?P<of>[^\W\d]\w*)\}?)?"
    r"|(?P<d>[d∂])\s*(?P<twice>\^\s*2|\*\*\s*2|²)?\s*/\s*(?P=d)(?P<by>[^\W\d]\w*?)(?(twice)\s*(?:\^\s*2|\*\*\s*2|²)))"
    r"(?(d)(?:\s+|(?=\())|(?:\s+|(?=\()))(?P<function>[^\s*/^+=<>@.,;:!%&)\]-].*?)"
    r"(?:\s+(?:at|for|where)\s+(?P<at>.+))?\s*",
    re.DOTALL,
)
_APPLIED = re.compile(
    r"\s*(?:(?:sp|sympy|jax|torch\.func)\s*\.\s*)?"
    r"(?:(?P<noun>jacobian|hessian)|[d∂D]|[dD]iff|grad|gradient|[dD]erivative|differentiate)\s*[(\[](?P<function>.+?)"
    r"(?:\)\s*/\s*[d∂](?P<over>[^\W\d]\w*)|(?:,\s*(?:[\[{]{1,2}(?P<all>(?!\s*\w+\s*,\s*\d)[^\[\]{}]*)[\]}]{1,2}|\{?(?P<by>[^\W\d]\w*)(?P<twice>\s*,\s*(?:(?P=by)|2))?\}?))?\s*[)\]])\s*",
    re.DOTALL,
)
_LATEX = re.compile(
    r"\s*(?:\\|\f)?d?frac\{\\partial(?:\s*\w)?\}\{\\partial\s*(?P<by>[^\W\d]\w*)\}\s*(?P<function>.+)", re.DOTALL
)
_METHOD = re.compile(
    r"\s*(?:Matrix\((?P<list>\[.+\])\)|(?P<function>.+?))\.(?P<noun>jacobian|hessian|gradient|diff)"
    r"\(\s*\[?\s*(?P<by>[^\W\d]\w*(?:\s*,\s*[^\W\d]\w*)*)\s*\]?\s*\)\s*",
    re.DOTALL,
)
"""A derivative as a method, `Matrix([x*y, x + y]).jacobian([x, y])`."""

_FIELD = re.compile(
    r"\s*(?:(?P<trace>[lL]aplacian|∇\s*(?:²|\^\s*2))|(?P<rows>[dD]iv(?:ergence)?(?=\s*[(\[]\s*[\[{])|[cC]url|∇\s*[·.×⋅]))"
    r"\s*[(\[](?P<function>.+?)(?:,\s*[\[{](?P<by>[^\[\]{}()]*)[\]}])?[)\]]\s*",
    re.DOTALL,
)
"""An operator of vector analysis on a function, `laplacian(x^2*y)`."""

_QUOTIENT = re.compile(r"\s*d(?P<y>[^\W\d]\w*)\s*/\s*d(?P<by>[^\W\d]\w*)\s*[,:;]\s*(?:(?P=y)\s*=)?(?P<function>.+)")
_AT = re.compile(
    r"\s*(?P<function>[^\s].*?)\s+(?:at|when)\s+(?P<at>[-+\[\d.]|[^\W\d]\w*(?:\.\w+)*\s*=[^=])(?P<rest>.*)", re.DOTALL
)
"""An expression with its point after it, `x^2 at 3`."""

_FIELDS = (
    "a divergence and a curl are sums of entries of the Jacobian",
    "a Laplacian is the sum of the diagonal of the Hessian",
)
_EQUALS = re.compile("(?<![<>!=])={1,2}(?!=)")
"""Between the sides of an equation."""


def asked(text: str, command: str = DERIVATIVE) -> Iterator[list[str]]:
    """Generate the words of command lines that ask what a text asks.

    Args:
        text: The words in the place of an expression.
        command: The command before them, which may be part of the question: `gradient of x^2`.

    >>> [*asked("d/dx x^2")], [*asked("x^2 at 3")], [*asked("x^2")]
    ([['grad', 'x^2', '--wrt', 'x']], [['x^2', '--at', '3']], [])
    """
    for pattern in (_PHRASE, _APPLIED, _LATEX, _QUOTIENT):
        found = pattern.fullmatch(text)
        if found is None or (pattern is _APPLIED and not _is_one(found)):
            continue
        parts = dict.fromkeys(("noun", "by", "over", "all", "twice", "at", "of"), "") | found.groupdict("")
        by, at = parts["by"] or parts["of"] or parts["over"] or parts["all"].replace(" ", ""), parts["at"]
        named = "hessian" if parts["twice"] else parts["noun"] or command
        named = named if named in ("jacobian", "hessian", "vjp") else "grad"
        point = ["--at", at if not by or "=" in at else f"{by}={at}"] if at else ["--wrt", by] if by else []
        function, *right = map(str.strip, _EQUALS.split(_unwrapped(parts["function"]), maxsplit=1))
        is_claim = bool(right) and all(right) and not function.isidentifier()
        yield (
            ["check", function, "--claim", right[0], *point]
            if is_claim
            else [named, right[0] if right and right[0] else function, *point]
        )
        return
    if text.rstrip()[-1:] in (")", "]"):
        yield from _of_operators(text)
    if (found := _AT.fullmatch(text)) is not None:
        at = f"{found['at']}{found['rest']}".replace(" ", "")
        yield [*([] if command == DERIVATIVE else [command]), found["function"], "--at", at]


def _field(text: str) -> re.Match[str] | None:
    """Match an operator of vector analysis on one function; `div([a, b], c)` is a quotient."""
    found = _FIELD.fullmatch(text)
    is_quotient = found is not None and found["rows"] == "div" and found["by"] is not None
    return found if found is not None and not is_quotient and _is_whole(found["function"]) else None


def is_field(text: str) -> bool:
    """Tell whether a text asks for sums of derivatives, of which the answer gives the terms: `laplacian(x^2)`."""
    return _field(text) is not None


def _of_operators(text: str) -> Iterator[list[str]]:
    """Generate what a method of SymPy's asks, and an operator of vector analysis.

    >>> [*_of_operators("(x*y).diff(x)")], [*_of_operators("laplacian(x^2)")]
    ([['grad', 'x*y', '--wrt', 'x']], [['hessian', 'x^2']])
    """
    if (found := _METHOD.fullmatch(text)) is not None:
        named = "grad" if found["noun"] in ("diff", "gradient") else found["noun"]
        yield [named, found["list"] or _unwrapped(found["function"]), "--wrt", found["by"].replace(" ", "")]
    elif (found := _field(text)) is not None:
        named, function = "hessian" if found["trace"] else "jacobian", found["function"].strip()
        function = f"[{function[1:-1]}]" if function.startswith("{") else function
        yield [named, function, *(["--wrt", found["by"].replace(" ", "")] if found["by"] else [])]


def require_none(text: str, command: str = "grad") -> None:
    """Refuse a question in words.

    Raises:
        UsageError: The words are a question, or an expression with its point.
    """
    if any(asked(text, command)):
        raise UsageError(f"{_what(text)}: {text.strip()}")


def _what(text: str) -> str:
    """Say what a question in words is."""
    if (field := _field(text)) is not None:
        return f"{_FIELDS[bool(field['trace'])]}, which gradcli does not add up"
    is_point = _AT.fullmatch(text) is not None and not (_PHRASE.fullmatch(text) or _APPLIED.fullmatch(text))
    return "the point stands in the expression" if is_point else "the expression is a question in words"


def _is_one(found: re.Match[str]) -> bool:
    """Tell whether what is differentiated is one expression: its brackets balance, and no comma outside parts it."""
    text = found["function"]
    is_bare = not (found["by"] or found["over"] or found["all"])
    is_named = text.strip().isidentifier() or (is_bare and found[0].strip()[:1] in "d∂D")
    return not is_named and _is_whole(text)


def _is_whole(text: str) -> bool:
    """Tell whether the brackets of a text balance, and no comma outside of them parts it.

    >>> _is_whole("f(a, b)"), _is_whole("a, b"), _is_whole("a)*(b")
    (True, False, False)
    """
    depths = list(itertools.accumulate((sign in "([{") - (sign in ")]}") for sign in text))
    is_parted = (",", 0) in zip(text, depths, strict=True)
    return not is_parted and min(depths) == 0 == depths[-1]


def _unwrapped(text: str) -> str:
    """Take the parentheses away that stand around all of a text.

    >>> _unwrapped("(x^2)"), _unwrapped("(x)*(y)")
    ('x^2', '(x)*(y)')
    """
    inner = text.strip()[1:-1]
    depths = itertools.accumulate((sign in "([{") - (sign in ")]}") for sign in inner)
    is_around = text.strip()[:1] == "(" and text.strip()[-1:] == ")"
    return inner if is_around and min(depths, default=-1) >= 0 else text

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
    r"\s*(?:(?:what\s+is\s+)?(?:the\s+)?(?:(?P<noun>gradient|derivative|jacobian|hessian)\s+)?of|differentiate|nabla|∇"
    r"|(?P<d>[d∂])\s*(?P<twice>\^\s*2|\*\*\s*2|²)?\s*/\s*(?P=d)(?P<by>[^\W\d]\w*?)(?(twice)\s*(?:\^\s*2|\*\*\s*2|²)))"
    r"(?(d)(?:\s+|(?=\())|(?:\s+|(?=\()))(?P<function>[^\s*/^+=<>@.,;:!%&)\]-].*?)"
    r"(?:\s+(?:at|for|where)\s+(?P<at>.+))?\s*",
    re.DOTALL,
)
_APPLIED = re.compile(
    r"\s*(?:(?:sp|sympy|jax|torch\.func)\s*\.\s*)?"
    r"(?:(?P<noun>jacobian|hessian)|[d∂D]|[dD]iff|grad|gradient|[dD]erivative|differentiate)\s*[(\[](?P<function>.+?)"
    r"(?:\)\s*/\s*[d∂](?P<over>[^\W\d]\w*)|(?:,\s*(?:\[(?P<all>[^\[\]]*)\]|(?P<by>[^\W\d]\w*)(?P<twice>\s*,\s*(?:(?P=by)|2))?))?\s*[)\]])\s*",
    re.DOTALL,
)
_LATEX = re.compile(
    r"\s*(?:\\|\f)?d?frac\{\\partial(?:\s*\w)?\}\{\\partial\s*(?P<by>[^\W\d]\w*)\}\s*(?P<function>.+)", re.DOTALL
)
_QUOTIENT = re.compile(r"\s*d(?P<y>[^\W\d]\w*)\s*/\s*d(?P<by>[^\W\d]\w*)\s*[,:;]\s*(?:(?P=y)\s*=)?(?P<function>.+)")
_AT = re.compile(
    r"\s*(?P<function>[^\s].*?)\s+(?:at|when)\s+(?P<at>[-+\[\d.]|[^\W\d]\w*(?:\.\w+)*\s*=[^=])(?P<rest>.*)", re.DOTALL
)
"""An expression with its point after it, `x^2 at 3`."""

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
        parts = dict.fromkeys(("noun", "by", "over", "all", "twice", "at"), "") | found.groupdict("")
        by, at = parts["by"] or parts["over"] or parts["all"].replace(" ", ""), parts["at"]
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
    if (found := _AT.fullmatch(text)) is not None:
        at = f"{found['at']}{found['rest']}".replace(" ", "")
        yield [*([] if command == DERIVATIVE else [command]), found["function"], "--at", at]


def require_none(text: str, command: str = "grad") -> None:
    """Refuse a question in words.

    Raises:
        UsageError: The words are a question, or an expression with its point.
    """
    if any(asked(text, command)):
        is_point = _AT.fullmatch(text) is not None and not (_PHRASE.fullmatch(text) or _APPLIED.fullmatch(text))
        what = "the point stands in the expression" if is_point else "the expression is a question in words"
        raise UsageError(f"{what}: {text.strip()}")


def _is_one(found: re.Match[str]) -> bool:
    """Tell whether what is differentiated is one expression: its brackets balance, and no comma outside parts it."""
    text = found["function"]
    depths = list(itertools.accumulate((sign in "([{") - (sign in ")]}") for sign in text))
    is_parted = (",", 0) in zip(text, depths, strict=True)
    is_bare = not (found["by"] or found["over"] or found["all"])
    is_named = text.strip().isidentifier() or (is_bare and found[0].strip()[:1] in "d∂D")
    return not (is_named or is_parted) and min(depths) == 0 == depths[-1]


def _unwrapped(text: str) -> str:
    """Take the parentheses away that stand around all of a text.

    >>> _unwrapped("(x^2)"), _unwrapped("(x)*(y)")
    ('x^2', '(x)*(y)')
    """
    inner = text.strip()[1:-1]
    depths = itertools.accumulate((sign in "([{") - (sign in ")]}") for sign in inner)
    is_around = text.strip()[:1] == "(" and text.strip()[-1:] == ")"
    return inner if is_around and min(depths, default=-1) >= 0 else text

"""The first word of a command line: a command, another name of one, or an expression, which is differentiated."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Container, Mapping, Sequence

from gradcli.errors import UsageError

DERIVATIVE = "derivative"
"""Command for an expression that stands alone."""

OTHER_NAMES: Mapping[str, str] = {
    name: command
    for command, names in {
        DERIVATIVE: "d diff differentiate",
        "grad": "gradient",
        "jacobian": "jac",
        "hessian": "hess",
        "vjp": "backward pullback",
        "jvp": "pushforward",
        "eval": "evaluate value",
        "check": "prove verify gradcheck",
        "improve": "rewrite stabilize",
        "explain": "steps",
        "plot": "draw",
        "code": "script",
        "guide": "man",
    }.items()
    for name in names.split()
}
"""Names that other tools, and textbooks, have for a command, with the command."""

_ELSEWHERE: Mapping[str, str] = {
    "integrate": "gradcli differentiates and does not integrate",
    "solve": "gradcli differentiates and does not solve equations; gradcli eval gives the value of a function",
    "simplify": "gradcli improve rewrites a function where it loses digits; gradcli check proves formulas, by --claim",
}
"""Commands that gradcli lacks, with a hint at the nearest one."""

_WEIGHTS = ("--v", "--loss", "--accumulate", "--gradient", "--vector", "--grad-output", "--cotangent")
"""Options, here and in other tools, that only the gradient of a function of several outputs has."""

_HELP = ("-h", "--help", "help")
_PHRASE = re.compile(
    r"\s*(?:(?:the\s+)?(?:(?P<noun>gradient|derivative|jacobian|hessian)\s+)?of|differentiate"
    r"|(?P<d>[d∂])\s*(?P<twice>\^\s*2|\*\*\s*2|²)?\s*/\s*(?P=d)(?P<by>[^\W\d]\w*?)(?(twice)\s*(?:\^\s*2|\*\*\s*2|²)))"
    r"(?(d)(?:\s+|(?=\())|\s+)(?P<function>[^\s*/^+=<>@.,;:!%&)\]-].*?)(?:\s+(?:at|for|where)\s+(?P<at>.+))?\s*",
    re.DOTALL,
)
_APPLIED = re.compile(
    r"\s*(?:(?P<noun>jacobian|hessian)|[d∂D]|[dD]iff|grad|gradient|[dD]erivative|differentiate)\s*[(\[](?P<function>.+?)"
    r"(?:\)\s*/\s*[d∂]|,\s*)(?P<by>[^\W\d]\w*)(?P<twice>\s*,\s*(?:(?P=by)|2))?\s*[)\]]?(?P<at>)\s*",
    re.DOTALL,
)
"""`diff(x^2, x)`, `D[x^2, x]` and `d(x^2)/dx`."""


def with_command(arguments: Sequence[str], commands: Container[str]) -> list[str]:
    """Put the command that the first word of a command line means in its place.

    >>> with_command(["diff", "x**2"], ["vjp"]), with_command(["x**2", "--v", "1"], ["vjp"])
    (['derivative', 'x**2'], ['vjp', 'x**2', '--v', '1'])
    >>> with_command(["help", "vjp"], ["vjp"]), with_command(["-x**2"], ["vjp"])
    (['vjp', '--help'], ['derivative', '-x**2'])

    Raises:
        UsageError: The first word asks for a command that is not here.
    """
    if not arguments:
        return []
    first, *rest = arguments
    if first in commands:
        return [first, "--help"] if rest == ["help"] else [first, *rest]
    if first in ("version", "-V"):
        return ["--version", *rest]
    if first == "help":
        return [*(OTHER_NAMES.get(word, word) for word in rest[:1]), "--help"]
    if first == "--run":
        return ["run", *rest]
    if first in OTHER_NAMES:
        return [OTHER_NAMES[first], *rest]
    if first in _ELSEWHERE:
        raise UsageError(f"no such command '{first}'", hint=_ELSEWHERE[first])
    if (shell := expanded(arguments)) is not None and not first.startswith("-"):
        raise UsageError(f"no such command '{first}'", hint=shell)
    if first in (*_HELP, "--version") or first.isidentifier() or not first.strip():
        return [first, *rest]
    if first.startswith("--") and (command := next((word for word in rest if word in commands), "")):
        rest.remove(command)
        return [command, first, *rest]
    is_weighted = any(word.partition("=")[0] in _WEIGHTS for word in arguments)
    return ["vjp" if is_weighted else DERIVATIVE, first, *rest]


def expanded(words: Sequence[str]) -> str | None:
    """Hint at quotes if the words begin with several names of files, as when the shell expands `*`; else None."""
    files = list(itertools.takewhile(os.path.exists, words))
    if len(files) < 2:
        return None
    return "the shell wrote the names of files for * here: put the expression in quotes, such as 'x**2'"


_EQUALS = re.compile("(?<![<>!=])={1,2}(?!=)")
"""Between the sides of an equation."""

_AT = re.compile(
    r"\s*(?P<function>[^\s].*?)\s+(?:at|when)\s+(?P<at>[-+\[\d.]|[^\W\d]\w*(?:\.\w+)*\s*=[^=])(?P<rest>.*)", re.DOTALL
)
"""An expression with its point after it, `x^2 at 3`."""


def _is_one(text: str) -> bool:
    """Tell whether a text is one expression, not a name: its brackets balance, and no comma outside parts it."""
    depths = list(itertools.accumulate((sign in "([{") - (sign in ")]}") for sign in text))
    is_parted = (",", 0) in zip(text, depths, strict=True)
    return not (text.strip().isidentifier() or is_parted) and min(depths) == 0 == depths[-1]


def require_no_phrase(words: str, command: str = "grad") -> None:
    """Refuse a question in words, with the command line that asks it.

    Args:
        words: The words in the place of an expression.
        command: The command before them, which may be part of the question: `gradient of x^2`.

    Raises:
        UsageError: The words are a question, or an expression with its point.
    """
    found = _PHRASE.fullmatch(words) or _APPLIED.fullmatch(words)
    if found is not None and (found.re is _PHRASE or _is_one(found["function"])):
        by, at = found["by"], found["at"]
        named = "hessian" if found["twice"] else found["noun"] or command
        command = named if named in ("jacobian", "hessian") else "grad"
        point = f" --at {at if not by or '=' in at else f'{by}={at}'}" if at else f" --wrt {by}" if by else ""
        function, *right = map(str.strip, _EQUALS.split(found["function"], maxsplit=1))
        asked = f'check "{function}" --claim "{right[0]}"' if right and all(right) else f'{command} "{function}"'
        hint = f"write gradcli {asked}{point}"
        raise UsageError(f"the expression is a question in words: {words.strip()}", hint=hint)
    if (found := _AT.fullmatch(words)) is not None:
        at = f"{found['at']}{found['rest']}".replace(" ", "")
        named = "" if command == DERIVATIVE else f"{command} "
        hint = f'write gradcli {named}"{found["function"]}" --at {at}'
        raise UsageError(f"the point stands in the expression: {words.strip()}", hint=hint)

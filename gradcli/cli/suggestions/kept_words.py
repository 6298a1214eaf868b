"""What of a typed equation a hint has to keep: the numbers and the variables of both of its sides.

A hint that leaves out a side, as `grad 1` would for `xy = 1`, asks something else than was typed.
"""

from __future__ import annotations

import re

from gradcli.cli.default_command import IMPLICIT
from gradcli.cli.suggestions.equations_in_words import asked_along, of_equation
from gradcli.cli.suggestions.typed_line import TypedLine, Words
from gradcli.errors import GradcliError
from gradcli.language.text.signs import NAME, compared

_PARTING = re.compile(r"[;,\n]|\b(?:where|for|if|with|when|given|at|then|find|of)\b")
_DEFINED = re.compile(
    rf"\s*(?:{NAME}(?:['\u2032\u2033]*\s*\([^()]*\)|['\u2032\u2033]*)"
    rf"|[d∂]{NAME}\s*/\s*[d∂]{NAME}|\\d?dot.*)\s*"
)
"""Left side of a definition, `f(x)` or `dy/dx`, of which a hint has the right one alone."""

_SECOND = re.compile(r"\s*[d∂]\s*(?:\^|\*\*)?\s*(?:2|\u00b2)")
"""Beginning of a second derivative, of which a hint has the Hessian alone."""

_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")
_LETTER = re.compile(r"(?<![^\W\d_\\])[^\W\d_](?![^\W\d_])(?!\s*\()")
_PAIR = re.compile(r"(?<!\w)[a-z]{2}(?!\w)")
_NO_VARIABLES = frozenset("deEDTi∂π")
_SHORT_WORDS = frozenset("pi ln lg of at in is on to by if or as so we it".split())


def drops_from_equation(line: TypedLine, words: Words) -> bool:
    """Tell whether other words leave out a number or a variable of an equation that was typed.

    Args:
        line: The command line as typed.
        words: What a hint would spell.

    >>> from gradcli.cli.suggestions.typed_line import typed_line
    >>> line = typed_line(("x^2 + y^2 = 25",))
    >>> drops_from_equation(line, ("grad", "x^2 + y^2 - 25")), drops_from_equation(line, ("grad", "25"))
    (False, True)
    """
    parts = [line.words[n] for n in line.others]
    equations = [one for one in parts if len(compared(one).sides) > 1 and all(compared(one).sides)]
    return any(_drops(one, words) for one in (equations if len(equations) > 1 else [" ".join(parts)]))


def _drops(typed: str, words: Words) -> bool:
    """Tell whether words leave out a number or a variable of one equation."""
    sides = compared(typed).sides
    if len(sides) < 2:
        return False
    if _SECOND.match(typed):  # a claim is of the first derivative
        return "hessian" not in words[:1]
    written = " ".join(words)
    kept = {*_LETTER.findall(written), *re.findall(r"\d+(?:\.\d+)?", written)}
    for side in sides:
        for part in _PARTING.split(side):
            if _DEFINED.fullmatch(part) is not None and _PAIR.fullmatch(part.strip()) is None:
                continue
            pairs = {one for one in _PAIR.findall(part) if one not in _SHORT_WORDS and one[0] != "d"}
            letters = {*_LETTER.findall(part)} - _NO_VARIABLES
            if {*_NUMBER.findall(part), *letters} - kept or any(one not in written and {*one} - kept for one in pairs):
                return True
    return False


def on_equation(line: TypedLine, error: GradcliError) -> str:
    """Return the fact on the derivative along an equation, where one is asked for and the error does not say it."""
    if not line.others or IMPLICIT in error.text.message:
        return ""
    text = " ".join(line.words[n] for n in line.others)
    is_checked = line.command == "check" and len(of_equation(text.replace("==", "="))) == 1
    return f"{IMPLICIT}; " if is_checked or asked_along(text) else ""

"""Text to tokens with their places; how tightly the signs between operands bind.

A regular expression rather than Python's `tokenize`, which reads `2x` differently from one Python version to the
next, refuses null bytes with an exception of its own and knows strings, comments and indentation that this
language does not have.  Knows nothing of grammar; never evaluates anything.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from gradcli.errors import LanguageError, Place, Span, TooLargeError
from gradcli.language.text import hints
from gradcli.option_words import source as named

_BY_LEVEL = ((1, "or"), (2, "and"), (4, "< <= > >= == !="), (5, "|"), (6, "&"), (7, "+ -"))
_PRODUCTS = "* / // % @ .* ./ × ⊗ \\"

LEVELS: Mapping[str, int] = {sign: level for level, signs in (*_BY_LEVEL, (8, _PRODUCTS)) for sign in signs.split()}
"""Binding strength of the operators that are read from the left."""

COMPARISON, PRODUCT = 4, 8
"""Binding strength of comparisons and of products."""

POWERS = ("**", "^", ".^")
"""Operators that are read from the right and bind most tightly."""

JUXTAPOSED = ""
"""Sign of a product that is written by putting its factors side by side."""

CLOSING = (")", "]", "}", "'", ".'", "⟩")
"""Signs that end an operand."""

OTHERWISE = "otherwise"
"""Word before the closing brace of cases, as formulas are printed: braces stand for nothing else."""

MAX_TEXT = 400_000
"""Largest number of characters of a text; a 10,000-term sum takes about a quarter of it."""

MAX_DIGITS = 400
"""Largest number of characters of one number; the largest float has 309 digits."""

TokenKind = Literal["number", "name", "keyword", "string", "operator", "brace", "end"]

_PATTERN = re.compile(
    r"""(?P<space>(?:[ \t\r\f]|\\[ \t\r]*\n)+)
      | (?P<number>(?:\d[\d_]*(?:\.(?!\.)[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d+)?)
      | (?P<name>[^\W\d]\w*)
      | (?P<comment>\#[^\n]*|\"{3}.*?\"{3}|'{3}.*?'{3})
      | (?P<string>'(?:[^'\\\n]|\\.){0,200}'|"(?:[^"\\\n]|\\.){0,200}")
      | (?P<brace>[{}])
      | (?P<operator>\*\*=?|//=?|==|!=|<=|>=|\+=|-=|\*=|/=|@=|%=|->|\.\.\.?|\.[*/^']
        |[-+*/@^()\[\],;:=.<>&|~%\n‖⟨⟩×⊗\\])""",
    re.VERBOSE | re.DOTALL,
)


_IN_BASE = re.compile(r"0(?:[xX][\da-fA-F]{1,16}|[bB][01]{1,64}|[oO][0-7]{1,21})\b")
_ESCAPED = re.compile(r"(?<=\S)\\[ \t]")
"""Pattern of a blank that a shell escapes."""

DUNDERS = frozenset("__init__ __name__ __version__ __call__ __file__".split())
"""Names of Python's own that a program has; no variable is called so."""

_DEPTHS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
"""Change of the number of open brackets, by the bracket."""

_MARKS = "'{}"
"""Characters that are operators in some places, and in others something else."""

STRING_PREFIX = re.compile("[bfruBFRU]{1,2}")
"""Letters that may stand before a quote."""


@dataclass(frozen=True, slots=True)
class Token:
    """Word of the text: its kind, its characters and their range."""

    kind: TokenKind
    text: str
    span: Span


def tokenize(text: str, source: str = "EXPR", *, has_braces: bool = False) -> list[Token]:
    """Split `text` into tokens; newlines inside brackets are spaces, outside they are operators like `;`.

    With `has_braces`, they are brackets too, as in Python, unless they hold the cases of a formula.

    Comments and texts in three quotes are spaces; the grammar decides on keywords.

    Raises:
        TooLargeError: the text is longer than `MAX_TEXT` characters.
        LanguageError: a character, number or word that is not in the language.

    >>> [token.text for token in tokenize("2x**2")]
    ['2', 'x', '**', '2', '']
    """
    if len(text) > MAX_TEXT:
        raise TooLargeError(f"{named(source)} has {len(text):,} characters; at most {MAX_TEXT:,} are read")
    tokens: list[Token] = []
    position = depth = 0
    has_cases = OTHERWISE in text
    groups: list[bool] = []
    while position < len(text):
        is_mark = text[position] in _MARKS
        if is_mark and (operator := _as_operator(tokens, text, position, groups, has_braces=has_braces)):
            tokens.append(Token("operator", operator, Span(position, position + 1)))
            depth += _DEPTHS.get(operator, 0)
            position += 1
            continue
        match = _PATTERN.match(text, position)
        is_brace = match is not None and match.lastgroup == "brace" and not (has_cases or has_braces)
        if match is None or is_brace or _ESCAPED.match(text, position):
            raise _unexpected(text, position, source)
        position = match.end()
        kind, word = match.lastgroup, match.group()
        depth += _DEPTHS.get(word, 0)
        if kind in ("space", "comment") or (word == "\n" and depth > 0):
            continue
        span = Span(match.start(), position)
        if kind == "number":
            _require_readable(word, Place(text, span, source))
            tokens.append(Token("number", word, span))
        elif kind == "name":
            if not word.isidentifier():
                bad = next(n for n in range(1, len(word) + 1) if not word[:n].isidentifier())
                raise _unexpected(text, span.start + bad - 1, source)
            if word.startswith("__") and word not in DUNDERS:
                place = Place(text, span, source)
                hint = "this is Python code, not a formula: save it in FILE.py, and gradcli run FILE.py"
                raise LanguageError(f"the name '{word}' is not allowed", place=place, hint=hint)
            if word in ("j", "J"):
                _require_real(tokens, span, text, source)
            is_keyword = keyword.iskeyword(word) and (has_braces or not _is_lambda(word, text, position))
            tokens.append(Token("keyword" if is_keyword else "name", word, span))
        elif kind == "string":
            tokens.append(Token("string", word[1:-1], span))
        else:
            tokens.append(Token("brace" if kind == "brace" and has_cases else "operator", word, span))
    tokens.append(Token("end", "", Span(len(text), len(text) + 1)))
    return tokens


def _as_operator(tokens: list[Token], text: str, position: int, groups: list[bool], *, has_braces: bool) -> str:
    """Return the operator that a quote or a brace is; empty for other characters, words in quotes and other braces.

    Args:
        tokens: The words before it.
        text: The text.
        position: Of the character.
        groups: The open braces: whether each stands for a parenthesis, as in `A^{-1}` and `‖x‖_{2}`.
        has_braces: As of `tokenize`.
    """
    match text[position]:
        case "'":
            return "'" if _is_transpose(tokens, text, position, has_braces=has_braces) else ""
        case "{":
            *_, before, last = ("", "", *(token.text for token in tokens[-2:]))
            groups.append(last == "^" or (before, last) == ("‖", "_"))
            return "(" if groups[-1] else ""
        case "}" if groups:
            return ")" if groups.pop() else ""
    return ""


def _is_lambda(word: str, text: str, position: int) -> bool:
    """Tell whether a word is the name of a number, and no function of Python's, which has a colon after its names."""
    return word == "lambda" and _PARAMETERS.match(text, position) is None


_PARAMETERS = re.compile(r"[^\n:;\[\]{}]{0,200}:")
"""Pattern of what stands between `lambda` and the body of the function."""


def is_position(before: Token, token: Token) -> bool:
    """Tell whether a word is the `.0` of `net.0.weight`, directly after a name or another position."""
    follows = before.kind in ("name", "number") and before.span.stop == token.span.start
    return follows and token.kind == "number" and token.text[0] == "." and token.text[1:].isdecimal()


def _is_transpose(tokens: list[Token], text: str, position: int, *, has_braces: bool) -> bool:
    """Tell whether a quote transposes the operand directly before it; elsewhere it begins a word in quotes."""
    before = tokens[-1] if tokens else None
    if before is None or before.span.stop != position:
        return False
    if before.kind == "name" and has_braces and STRING_PREFIX.fullmatch(before.text):
        return text.find("'", position + 1, (text.find("\n", position) + 1 or len(text) + 1) - 1) < 0
    is_digit = before.kind == "number" and text[position + 1 : position + 2].isdigit()
    return (before.kind in ("name", "number") and not is_digit) or before.text in CLOSING


def _unexpected(text: str, position: int, source: str) -> LanguageError:
    character = text[position]
    shown = repr(character) if character.isprintable() else f"U+{ord(character):04X}"
    place = Place(text, Span(position, position + 1), source)
    hint = hints.of_character(text, position)
    shown += hints.of_unexpected(text, position)
    return LanguageError(f"unexpected character {shown}", place=place, hint=hint)


def _require_readable(word: str, place: Place) -> None:
    if len(word) > MAX_DIGITS:
        raise TooLargeError(f"a number of {len(word):,} characters; at most {MAX_DIGITS} are read", place=place)
    if (found := _IN_BASE.match(place.text, place.span.start)) is not None:
        place = Place(place.text, Span(*found.span()), place.source)
        raise LanguageError(f"'{found[0]}' is no decimal number", place=place, hint=f"write {int(found[0], 0)}")
    if "__" in word or word.endswith("_") or any(pair in word for pair in ("_.", "._", "_e", "_E")):
        raise LanguageError(f"misplaced underscore in the number '{word}'", place=place)
    if float(word) == float("inf"):
        raise LanguageError(f"the number '{word}' is beyond the range of float64", place=place, hint="write inf")


def _require_real(tokens: list[Token], name: Span, text: str, source: str) -> None:
    """Refuse `2j`, which is a complex number to Python and would be 2*j here."""
    number = tokens[-1] if tokens else None
    if number is not None and number.kind == "number" and number.span.stop == name.start:
        place = Place(text, number.span.to(name), source)
        raise LanguageError("complex numbers are not read", place=place, hint=hints.COMPLEX)

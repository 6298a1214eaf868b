"""Hints of errors about words and characters: notations from elsewhere, and their spelling in this language.

Mathematics on paper, LaTeX, Julia, C, JavaScript, and signs that an editor or a web page puts into text.  Knows
characters and words only, not their place in the grammar.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Mapping

from gradcli.option_words import option

_NAME_BEFORE = re.compile(r"[^\W\d]\w{,40}$")

VALUES = frozenset(["--at", "--v", "--u", "--in", "--expect"])
"""Options whose text is a value, which names nothing: there, numbers side by side are meant for a vector."""

ALONE = "write the derivative alone, such as 2*x"
_QUOTES = "leave these quotes out: the shell's own, ' or \", are enough"
_STRING = "a string is a short word in quotes, such as einsum('ij,j->i', A, x)"
_BRACES = "write (a + b) to group, or [a, b] for a list"
ITSELF = "gradcli differentiates: give the function itself, such as x**2"
_BODY = "write the body alone; its names are the variables"

_CHARACTERS: Mapping[str, str] = {
    sign: hint
    for signs, hint in (
        ("−–—‐‑", "write the ASCII minus -"),
        ("“”„‟‘’‚«»`", _QUOTES),
        ("{}", _BRACES),
        ("∂∇∆′", ITSELF),
        ("\"'", _STRING),
        ("→↦", _BODY),
        ("∫", "gradcli differentiates and does not integrate"),
        ("≈", "write the number alone"),
        ("∛", "write sign(x)*abs(x)**(1/3)"),
        ("∑", "write sum(…)"),
        ("∏", "write prod(…)"),
        ("\\", "leave it out; A \\ b, with blanks on both sides, is the solution of A x = b"),
        ("$", "the shell puts a value for $NAME only between double quotes"),
        ("?", "write a if c else b"),
        ("!", "write a != b, or ~c for not; there is no factorial, and lgamma(n + 1) is its logarithm"),
    )
    for sign in signs
}

FOREIGN_NAMES: Mapping[str, str] = {
    name: hint
    for names, hint in (
        ("tg tang", "write tan"),
        ("ctg cotg cotan", "write cot"),
        ("arctg arctang", "write atan"),
        ("sen seno", "write sin"),
        ("lg", "write log10, or log2"),
        ("sh ch th", "write sinh, cosh, tanh"),
        (f"sigma {chr(0x3C3)}", "write sigmoid(...) for the logistic function, and * for a product"),
        ("gamma Gamma", "write exp(lgamma(x)), where x > 0"),
        ("factorial", "lgamma(n + 1) is the logarithm of n!"),
        ("diff derivative Derivative differentiate gradient grad", ITSELF),
        ("integrate Integral integral quad limit", "there are derivatives only"),
        ("argmax argmin", "a position has no derivative and is not read; amax(x) is the value"),
        ("gammainc igamma", "write 1 - gammaincc(a, x)"),
        (
            "bessel_j0 bessel_j1 bessel_y0 bessel_y1 j0 j1 y0 y1 airy_ai modified_bessel_i0 modified_bessel_i1 "
            "modified_bessel_k0 modified_bessel_k1 spherical_bessel_j0",
            "torch has no derivative of it",
        ),
        ("mse MSE", "write mse_loss(y, t)"),
        ("Heaviside step", "write where(x > 0, 1, 0)"),
        ("logspace", "write 10**linspace(a, b, n)"),
    )
    for name in names.split()
}
"""Hints on functions of other notations, by their names."""

_KEYWORDS: Mapping[str, str] = {
    **dict.fromkeys(("lambda", "def"), _BODY),
    "return": "write the expression alone; the last one is the output",
    "is": "write == to compare",
    "if": "write a if condition else b",
    "for": "write [... for i in range(n)]",
}

_PAIRS: Mapping[tuple[str, str], str] = {
    **{(sign, "="): f"write {sign} to compare" for sign in ("==", "!=")},
    ("&", "&"): "write & for both",
    ("|", "|"): "write | for either",
    ("=", ">"): "write >= to compare",
    ("<", ">"): "write !=",
    (":", "="): "write = to give a name",
}
"""Operators of two characters elsewhere, with their spelling here."""


def of_variable(source: str, *examples: str) -> str | None:
    """Hint at the form for `x: 1`, `x=1, y=2` and `{"x": 1}` in the value of one variable; None in other texts."""
    if not source.startswith("--at"):
        return None
    return f"give each variable a value of its own: {option('at', *(examples or ('x=1', 'y=2')))}"


def of_equals(source: str) -> str:
    """Hint at a replacement for an equals sign."""
    if source.startswith("--claim"):
        return ALONE
    return of_variable(source) or "an assignment is NAME = expression; statements are separated by ';'"


def of_character(text: str, position: int, source: str = "EXPR") -> str | None:
    """Hint at a replacement for a character that is not in the language.

    >>> of_character("x⁻¹⁴", 1), of_character("1’000", 1)
    ('write **-14', 'write the digits of a number without marks')
    >>> of_character("x₁₂", 1), of_character("½", 0), of_character("（x", 0), of_character("💥", 0)
    ('write x12 for a name of its own, x[12] for an element', 'write (1/2)', 'write (', None)
    """
    character, before = text[position], text[position - 1 : position]
    if character in "'’" and before.isdigit() and text[position + 1 : position + 2].isdigit():
        return "write the digits of a number without marks"
    if character == "{" and source.startswith("--at"):
        return of_variable(source)
    if character == "$" and text.rstrip().endswith("$", position + 1):
        return f"write {text.strip(' $')}, without the dollars"
    if character == "\\" and text[position + 1 :].lstrip(" \r").startswith("\n"):
        return "put parentheses around the whole expression"
    if character in _CHARACTERS:
        return _CHARACTERS[character]
    plain = unicodedata.normalize("NFKC", character)
    if _is(character, "<super>"):
        return f"write **{_plain(text[position:], '<super>')}"
    if _is(character, "<sub>"):
        index, name = _plain(text[position:], "<sub>"), _NAME_BEFORE.search(text[:position])
        shown = name[0] if name else ""
        return f"write {shown}{index} for a name of its own, {shown}[{index}] for an element"
    if unicodedata.decomposition(character).startswith("<fraction>"):
        return f"write ({plain.replace('⁄', '/')})"
    if plain == " ":
        return "write a plain space"
    return f"write {plain}" if len(plain) == 1 and plain.isascii() and plain.isprintable() else None


def _is(character: str, kind: str) -> bool:
    return unicodedata.decomposition(character).startswith(kind)


def _plain(text: str, kind: str) -> str:
    """Take the characters of a kind that the text begins with, as they are on the line."""
    found = "".join(itertools.takewhile(lambda character: _is(character, kind), text))
    return unicodedata.normalize("NFKC", found).replace("−", "-")


def of_keyword(word: str, after: str) -> str:
    """Hint at a replacement for a word of Python, before `after`.

    >>> of_keyword("in", "*"), of_keyword("lambda", "x")
    ("no variable can be called 'in'; write in_", 'write the body alone; its names are the variables')
    """
    if word != "None" and (not after or after in ";)]\n" or re.fullmatch(r"[-+*/^@<>=,]+", after)):
        return f"no variable can be called '{word}'; write {word}_"
    return _KEYWORDS.get(word, "only 'a if c else b', 'for ... in range(n)', and, or, not are read")


def of_operator(before: str, word: str, after: str, *, is_inside: bool) -> str | None:
    """Hint at a replacement for an operator between these words; `is_inside` tells whether it is in brackets."""
    if word == "|" and not (before.isalnum() or before in (")", "]", "|")):
        return "write abs(...), or norm(...)"
    if (before, word) in _PAIRS or (word, after) in _PAIRS:
        return _PAIRS.get((before, word)) or _PAIRS[word, after]
    match word:
        case "\\" if not before or not (before.isalnum() or before in (")", "]")):
            return "this is no word of LaTeX that is read: write the function or the sign of the language"
        case "|":
            return "write abs(...), or norm(...)"
        case "->":
            return _BODY
        case ":" if not is_inside and before.isidentifier():
            return _BODY
        case ";" if is_inside:
            return "write a comma between the parts"
        case "," if not is_inside and before not in ("", ",", ";"):
            return f"write {before}.{after} for a decimal number" if before.isdigit() and after.isdigit() else _LIST
        case ")" | "]" if not is_inside:
            return f"it closes nothing: leave it out, or add its {'(' if word == ')' else '['}"
        case "@":
            return "a file is read where @FILE is the whole text; elsewhere @ is the matrix product"
    return None


_LIST = "write a list in brackets, [a, b], and decimals with a point"


def of_neighbour(before: str, word: str, *, is_value: bool) -> str:
    """Hint at a replacement for two operands side by side.

    >>> of_neighbour("1", "2", is_value=True), of_neighbour("1.2", ".3", is_value=True)
    ('write 1,2 for a vector', 'a number has one point')
    >>> of_neighbour("x", "y", is_value=False), of_neighbour("1", "000", is_value=False)
    ('write x*y for a product', 'write 1000 for one number')
    >>> of_neighbour(")", "y", is_value=False)
    'write ...)*y for a product'
    """
    are_numbers = before[-1:].isdigit() and word[:1] in ".0123456789"
    if are_numbers and word.startswith("."):
        return "a number has one point"
    if are_numbers and len(word) == 3 and word.isdigit() and len(before) < 4:
        return f"write {before}{word} for one number" + f", {before},{word} for a vector" * is_value
    left = f"...{before}" if before in (")", "]") else before
    if is_value:
        return "write 1,2 for a vector"
    return f"write {left}*{word} for a product"

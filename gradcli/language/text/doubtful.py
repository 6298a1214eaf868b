"""Remarks on what is read in one way and often meant in another: `x^1/2`, `1/2x`, `q*E`, `[x + 1]^2`.

Knows words and their neighbours only.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Container, Iterator, Sequence

from gradcli.language.text.tokens import LEVELS, POWERS, PRODUCT, Token
from gradcli.option_words import Words, option

EULER = "E"
"""The name of Euler's number, which is that of an energy or a field too."""

_JOINED = frozenset("= ; if for and or not & | ~ < > <= >= !=".split()) | {"\n"}
"""Words outside of brackets, next to which a comparison is no text of its own."""


def doubtful(tokens: Sequence[Token], text: str, variables: Container[str]) -> Iterator[str]:
    """Generate the remarks on the words of a text, each once.

    Args:
        tokens: The words.
        text: The text.
        variables: The names that are variables or values of the text.

    >>> from gradcli.language.text.tokens import tokenize
    >>> [*doubtful(tokenize("x^1/2"), "x^1/2", ())], [*doubtful(tokenize("E^x"), "E^x", ())]
    (['x^1/2 is (x^1)/2; the root is x^(1/2)'], [])
    """
    yield from _compared(tokens, text) if "==" in text else ()
    openings: list[tuple[int, bool]] = []
    for n, token in enumerate(tokens):
        before = tokens[n - 1] if n else None
        words = [one.text for one in tokens[n + 1 : n + 4]]
        if token.text in POWERS and before is not None and words[:2] == ["1", "/"] and words[2:] and words[2].isdigit():
            whole = text[before.span.start : tokens[n + 3].span.stop]
            base = before.text
            yield f"{whole} is ({base}{token.text}1)/{words[2]}; the root is {base}{token.text}(1/{words[2]})"
        elif before and (token.text == "/" or (token.text in POWERS and _BASE.fullmatch(before.text))):
            yield from _divided(tokens, n, text) if token.text == "/" else _raised(tokens, n, variables)
        elif token.text == EULER and token.kind == "name" and EULER not in variables and _is_quantity(tokens, n):
            yield on_euler()
        elif token.text == "[" and before is not None and before.kind == "name" and _is_position(words):
            whole = f"{before.text}[[{words[1]}]]"
            yield f"{whole} is at position {words[1]}, counted from 0; Mathematica counts from 1"
            openings.append((n, False))
        elif token.text in ("[", "("):
            is_list = token.text == "[" and not (before is not None and before.text in (")", "]", "'"))
            is_list &= before is None or before.kind not in ("name", "number")
            openings.append((n, is_list))
        elif token.text in ("]", ")") and openings:
            start, is_list = openings.pop()
            inside = [one.text for one in tokens[start + 1 : n]]
            is_one = is_list and inside and not {",", ";", "for", "[", "..", "\n"} & {*inside}
            has_names = any(one.kind == "name" for one in tokens[start + 1 : n])
            if is_one and has_names and words and words[0] in POWERS:
                shown = text[tokens[start].span.start : token.span.stop]
                yield f"{shown} is a list of one number; parentheses group, ({shown[1:-1]})"


def on_euler() -> Words:
    """Remark on E that is Euler's number, and may be meant as a quantity."""
    return Words(f"E is Euler's number here, 2.718...; {option('at', 'E=VALUE')} makes it a variable")


def _divided(tokens: Sequence[Token], n: int, text: str) -> Iterator[str]:
    """Generate the remark on a number that divides and has a factor directly after it.

    >>> from gradcli.language.text.tokens import tokenize
    >>> [*_divided(tokenize("1/2x"), 1, "1/2x")], [*_divided(tokenize("1/2 x"), 1, "1/2 x")]
    (['1/2x is (1/2)*x; 1/(2x) divides by both'], [])
    """
    number, factor = tokens[n + 1 : n + 3] if len(tokens) > n + 2 else (tokens[-1],) * 2
    is_next = number.span.stop == factor.span.start and (factor.kind == "name" or factor.text == "(")
    if number.kind == "number" and is_next:
        above = _numerator(tokens, n, text)
        below, after = number.text, "(...)" if factor.text == "(" else factor.text
        yield f"{above}/{below}{after} is ({above}/{below})*{after}; {above}/({below}{after}) divides by both"


def _numerator(tokens: Sequence[Token], n: int, text: str) -> str:
    """Return what a sign of division divides: all factors before it; dots in the place of many.

    >>> from gradcli.language.text.tokens import tokenize
    >>> [_numerator(tokenize(text), n, text) for text, n in (("V + p^2/2m", 5), ("2(x + 1)/3y", 6), ("a^-3/3b", 4))]
    ['p^2', '2(x + 1)', 'a^-3']
    """
    start, depth = n, 0
    while start > 0:
        sign = tokens[start - 1].text
        depth += (sign in (")", "]")) - (sign in ("(", "["))
        is_of_exponent = sign in ("-", "+") and start > 1 and tokens[start - 2].text in POWERS
        is_end = sign not in _FACTORS and tokens[start - 1].kind in ("operator", "end")
        if depth < 0 or (depth == 0 and is_end and not is_of_exponent):
            break
        start -= 1
    shown = text[tokens[start].span.start : tokens[n - 1].span.stop]
    return shown if 0 < len(shown) <= _LONGEST_SHOWN else "..."


_FACTORS = frozenset([*". ' ( ) [ ] ‖".split(), *POWERS, *(sign for sign, level in LEVELS.items() if level == PRODUCT)])
"""Signs within a product."""

_LONGEST_SHOWN = 30
"""Characters of a numerator up to which it is shown whole."""

_BASE = re.compile(r"E|\d+(?:\.\d*)?")
"""Base of an exponential: Euler's number, or another one."""


def _raised(tokens: Sequence[Token], n: int, variables: Container[str]) -> Iterator[str]:
    """Generate the remark on a constant with a number as its power, which has a factor directly after it.

    >>> from gradcli.language.text.tokens import tokenize
    >>> [*_raised(tokenize("E^-2x"), 1, ())], [*_raised(tokenize("E^2 x"), 1, ())], [*_raised(tokenize("2^3"), 1, ())]
    (['E^-2x is (E^-2)*x; E^(-2x) has all of it in the power'], [], [])
    """
    start = n + 1 + (tokens[n + 1].text == "-")
    number, factor = tokens[start : start + 2] if len(tokens) > start + 1 else (tokens[-1],) * 2
    is_next = number.span.stop == factor.span.start and (factor.kind == "name" or factor.text == "(")
    if number.kind == "number" and is_next and tokens[n - 1].text not in variables:
        base, power = tokens[n - 1].text + tokens[n].text, "-" * (start - n - 1) + number.text
        after = "(...)" if factor.text == "(" else factor.text
        yield f"{base}{power}{after} is ({base}{power})*{after}; {base}({power}{after}) has all of it in the power"


def _is_position(words: Sequence[str]) -> bool:
    """Tell whether these words after an opening bracket are one position in a bracket of its own, `x[[1]]`."""
    return words[:1] == ["["] and words[2:] == ["]"] and words[1].isdecimal()


def _compared(tokens: Sequence[Token], text: str) -> Iterator[str]:
    """Generate the remark on a text that is one comparison, as an equation is on paper.

    >>> from gradcli.language.text.tokens import tokenize
    >>> [*_compared(tokenize("x == 2"), "x == 2")]
    ['x == 2 is a comparison, which is 1 or 0 and has the derivative 0; the difference of its sides is x - 2']
    """
    depths = itertools.accumulate((token.text in ("(", "[")) - (token.text in (")", "]")) for token in tokens)
    outside = [token for token, depth in zip(tokens, depths, strict=True) if depth == 0]
    sign = next((token for token in outside if token.text == "=="), None)
    if sign is None or _JOINED & {token.text for token in outside}:
        return
    left, right = text[: sign.span.start].strip(), text[sign.span.stop :].strip()
    difference = f"{left} - {right if right.isalnum() else f'({right})'}"
    said = "is a comparison, which is 1 or 0 and has the derivative 0; the difference of its sides is"
    yield f"{left} == {right} {said} {difference}"


def _is_quantity(tokens: Sequence[Token], n: int) -> bool:
    """Tell whether E is used as a quantity: not as the base of an exponential, and not after the name of a module."""
    after, then = tokens[n + 1 : n + 3] if len(tokens) > n + 2 else (tokens[-1], tokens[-1])
    is_base = after.text in POWERS and then.kind != "number"
    return not (is_base or after.text == "(" or (n and tokens[n - 1].text == ".") or after.text == "=")

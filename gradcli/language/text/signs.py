"""Signs of mathematics, and words of LaTeX, to the signs of a program, with the place of each in the text as typed."""

from __future__ import annotations

import itertools
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from gradcli.errors import Span

NAME = r"[^\W\d]\w*"
"""Pattern of a name, for others that it is a part of."""

_PLAIN = "·⋅∗∙• *, ⊙∘ .*, ÷⁄ /, − -, ≤ <=, ≥ >=, ≠ !=, ∧ &, ∨ |, ¬ ~, ∞ inf, ⌊ floor(, ⌈ ceil(, ⌋⌉ ), 〈 ⟨, 〉 ⟩, ∥ ‖"
_LOWERED = {subscript: str(digit) for digit, subscript in enumerate("₀₁₂₃₄₅₆₇₈₉")}
_SIGNS = {s: instead for signs, instead in map(str.split, _PLAIN.split(", ")) for s in signs} | _LOWERED
_RAISED = {**{sign: str(digit) for digit, sign in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}, "⁺": "+", "⁻": "-"}
_LARGE = {"∑": "Σ", "∏": "Π"}

_ACCENTS = {
    chr(mark): word
    for mark, word in zip(
        (0x302, 0x303, 0x304, 0x305, 0x307, 0x308, 0x20D7), "hat tilde bar bar dot ddot vec".split(), strict=True
    )
}
"""Marks above a letter that have no letter of their own with it, `x̂`, by the words of LaTeX for them."""

_SIGN = re.compile(
    rf"""(?P<power>[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)
      | (?P<inverse>⁻[ᵀ⊤]) | (?P<turned>\^?[ᵀ⊤†]|\^{{[ᵀ⊤†]}})
      | √\s*(?:(?P<root>(?=\())|(?P<operand>(?:\d[\d.]*|[^\W\d][\w.]*)(?:\[[^\[\]]*\])?))
      | (?P<large>(?:[∑∏]|(?<=\w)[ΣΠ])(?=\s*\[))
      | (?:(?<!\w)|(?<![\w.])(?P<factor>\d[\d.]*))(?P<pi>π)(?![\d_])
      | (?P<degrees>(?<![\w.])\d[\d.]*\s*°(?![^\W\d]))
      | (?P<bars>\|\|) | (?P<fraction>(?<!\d)[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞])
      | (?P<lowered>(?<=[‖∥])[₀₁₂₃₄₅₆₇₈₉∞]|(?<=\|\|)[₀₁₂₃₄₅₆₇₈₉])
      | (?<=\w)(?P<accent>[{"".join(_ACCENTS)}])(?!\s*=(?!=))
      | (?P<sign>[{"".join(_SIGNS)}])""",
    re.VERBOSE,
)

_NORM_IN_BARS = re.compile(
    r"""(?:^|[-+*/^(\[{=,;@<≤\n]\s*)\|\|[^|\n]+\|\|
      | (?<=[\w)\]}'ᵀ²³])[ ]?\|\|(?=\S)[^|\n<>=]+\|\|""",
    re.VERBOSE,
)
"""Pattern of ||x||, with no other bar inside: after a sign, or directly before what is in it."""


_WIDE = {
    **{code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
    **dict.fromkeys((0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), " "),
}
"""Characters of full width, and blanks of any, by those of ASCII."""

_ALIKE = {
    **{code: sign for code, sign in _WIDE.items() if not sign.isalnum()},  # a letter of full width is a name of its own
    **dict.fromkeys((0x2010, 0x2011, 0x2012, 0x2212, 0xFE63), "-"),
    **dict.fromkeys((0xB7, 0x22C5, 0x2217, 0x2219), "*"),
    **dict.fromkeys((0xF7, 0x2044, 0x2215), "/"),
    **dict.fromkeys((0x2B9, 0x2BC, 0x2032), "'"),
}
"""Characters that are a sign of ASCII wherever they stand in a formula: each is one character there too."""

_DASH = re.compile(r"(?:(?<=[(\[=,;+*/^<>])|(?<=[=,;+*/<>] )|^)[–—](?=[\w(.])")
"""A dash before an operand and after none, which is a minus: between two numbers it may be a range, `0–1`."""


def in_width_of_ascii(word: str) -> str:
    """Write a word of a command line in letters, signs and blanks of the width of ASCII.

    >>> in_width_of_ascii("x\uff1d\uff0d1")
    'x=-1'
    """
    return word.translate(_WIDE)


def in_ascii_signs(text: str) -> str:
    """Write the signs that are one of ASCII in another shape, `−`, `·`, `′`, blanks, as that one, in the same places.

    >>> in_ascii_signs("e^(−x²)\u00a0·\uff08x\uff0b1\uff09"), in_ascii_signs("f’(x)"), in_ascii_signs("‘x’")
    ('e^(-x²) *(x+1)', "f'(x)", '‘x’')
    """
    alike = _DASH.sub("-", text.translate(_ALIKE))
    return alike if "‘" in alike else alike.replace("’", "'")


def latex_word(text: str) -> str:
    """Return the first word of LaTeX in a text; empty where it has none."""
    if "\\" not in text:
        return ""
    from gradcli.language.text.latex_words import first_word  # which few texts need

    return first_word(text)


class PlainText:
    """Text in signs of a program, which knows the places of its characters in the text as typed.

    Raises:
        LanguageError: It is in LaTeX, and not read.

    >>> PlainText("2·x²").text, PlainText("2·x²").typed(Span(3, 5))
    ('2*x^2', Span(start=3, stop=4))
    """

    def __init__(self, text: str, source: str = "EXPR") -> None:
        self._before = None
        if latex_word(text):
            from gradcli.language.text.latex_words import parts

            self._before = _Pieces(text, parts(text, source))
            text = self._before.text
        self._pieces = _Pieces(text, [] if text.isascii() and "||" not in text else [*_parts(text, 0)])
        self.text = self._pieces.text

    def typed(self, span: Span) -> Span:
        """Return the range of the text as typed from which a range comes."""
        found = self._pieces.typed(span)
        return found if self._before is None else self._before.typed(found)


class _Pieces:
    """Text in pieces, each with the range of another text that it comes from; without any, it is that text."""

    def __init__(self, text: str, parts: Sequence[tuple[str, Span]]) -> None:
        self.text = "".join(part for part, _ in parts) if parts else text
        self._typed, self._starts = [span for _, span in parts], list[int]()
        count = 0
        for part, _ in parts:
            self._starts.append(count)
            count += len(part)
        self._lengths = [len(part) for part, _ in parts]

    def typed(self, span: Span) -> Span:
        """Return the range of the text as typed from which a range comes."""
        if not self._starts:
            return span
        return Span(self._place(span.start, 0), max(self._place(span.stop - 1, 1), self._place(span.start, 0)))

    def _place(self, position: int, after: int) -> int:
        """Return the place of a character, or the place after it."""
        n = bisect_right(self._starts, position) - 1
        typed, offset = self._typed[n], position - self._starts[n]
        if typed.stop - typed.start == self._lengths[n] or offset >= self._lengths[n]:
            return typed.start + offset + after
        return typed.stop if after else typed.start


def plain(text: str) -> str:
    """Replace signs of mathematics by those of a program; ASCII, and any other sign, stays as it is.

    >>> plain("2·x² − √(y)/√x[i]"), plain("x⁻¹ ≤ π"), plain("x₁ + ⌊x⌋"), plain("||x||₂^2"), plain("A⁻ᵀ ⊙ Bᵀ")
    ('2*x^2 - sqrt(y)/sqrt(x[i])', 'x^-1 <= pi', 'x1 + floor(x)', '‖x‖_2^2', "A^{-T} .* B'")
    >>> plain("x\u0302 + θ\u0307²")
    'x_hat + θ_dot^2'
    """
    return PlainText(text).text


def in_ascii(text: str) -> str:
    """Replace signs of mathematics by characters of ASCII, where there are some, for a screen that has no others.

    >>> in_ascii("‖x²‖ + ⟨x, √y⟩ ⊙ Aᵀ")
    "||x^2|| + <x, sqrt(y)> .* A'"
    """
    return plain(text).translate({ord("‖"): "||", ord("⟨"): "<", ord("⟩"): ">"})


def _parts(text: str, offset: int) -> Iterator[tuple[str, Span]]:
    """Generate the pieces of a plain text, each with the range that it comes from."""
    bars = {
        start for found in _NORM_IN_BARS.finditer(text) for start in (text.find("||", found.start()), found.end() - 2)
    }
    position = 0
    for found in _SIGN.finditer(text):
        start, stop = found.span()
        if found["bars"] and start not in bars:
            continue
        if position < start:
            yield text[position:start], Span(offset + position, offset + start)
        position = stop
        span, kind = Span(offset + start, offset + stop), found.lastgroup
        match kind:
            case "power":
                yield f"^{''.join(_RAISED[sign] for sign in found[0])}", span
            case "inverse":
                yield "^{-T}", span
            case "turned":
                yield "'", span
            case "root":
                yield f"{_after(text, start)}sqrt", span
            case "operand":
                yield f"{_after(text, start)}sqrt(", Span(offset + start, offset + found.start("operand"))
                yield from _parts(found["operand"], offset + found.start("operand"))
                yield ")", Span(offset + stop - 1, offset + stop)
            case "large":
                yield f"{_after(text, start)}{_LARGE.get(found[0], found[0])}", span
            case "pi":
                if found["factor"]:
                    yield found["factor"], Span(offset + start, offset + found.start("pi"))
                is_factor = found.string[found.end() : found.end() + 1].isalpha()  # as in 2πx
                yield "pi " if is_factor else "pi", Span(offset + found.start("pi"), offset + stop)
            case "degrees":  # and no 25°C
                yield f"({found[0][:-1].rstrip()}*pi/180)", span
            case "bars":
                yield "‖", span
            case "fraction":
                yield f"({unicodedata.normalize('NFKC', found[0]).replace('⁄', '/')})", span
            case "lowered":
                yield f"_{_LOWERED.get(found[0], 'inf')}", span
            case "accent":
                yield f"_{_ACCENTS[found[0]]}{' ' * text[stop : stop + 1].isalpha()}", span
            case _:
                yield _SIGNS[found[0]], span
    if position < len(text):
        yield text[position:], Span(offset + position, offset + len(text))


def _after(text: str, start: int) -> str:
    """Return the blank that parts a sign from a name directly before it: `x√y` is a product."""
    return " " if re.match(r"\w", text[max(start - 1, 0) : start]) else ""


def parted(text: str) -> list[str]:
    """Part arguments at the commas outside of brackets.

    >>> parted("a, f(b, c)")
    ['a', 'f(b, c)']
    """
    return [part.strip() for part in parted_at(text, ",")]


def is_balanced(text: str) -> bool:
    """Tell whether the brackets of a text balance, and no comma outside of them parts it.

    >>> is_balanced("f(a, b)"), is_balanced("a, b"), is_balanced("a)*(b")
    (True, False, False)
    """
    depths = list(itertools.accumulate((sign in "([{") - (sign in ")]}") for sign in text))
    is_parted = (",", 0) in zip(text, depths, strict=True)
    return not is_parted and min(depths) == 0 == depths[-1]


def unwrapped(text: str) -> str:
    """Take the parentheses away that stand around all of a text.

    >>> unwrapped("(x^2)"), unwrapped("(x)*(y)")
    ('x^2', '(x)*(y)')
    """
    inner = (text := text.strip())[1:-1]
    depths = itertools.accumulate((sign in "([{") - (sign in ")]}") for sign in inner)
    is_around = text[:1] == "(" and text[-1:] == ")"
    return inner if is_around and min(depths, default=-1) >= 0 else text


def parted_at(text: str, signs: str) -> list[str]:
    """Part a text at signs outside of all its brackets."""
    parts, depth = [""], 0
    for sign in text:
        is_outside = depth == 0
        depth += (sign in "([{") - (sign in ")]}" and not (is_outside and sign in signs))
        if is_outside and sign in signs:
            parts.append("")
        else:
            parts[-1] += sign
    return parts


EQUALS = ("=", "==")
"""Signs between the sides of an equation."""

COMPARED = (*EQUALS, "<", "<=", ">", ">=", "≤", "≥", "!=", "≠")
"""Signs between the sides of any comparison."""

_OF_COMPARISON = re.compile(r"[(\[{]|[)\]}]|[-+*/@%:<>!]=|=+|[<>≤≥≠]")
"""A bracket, or a sign of a comparison or of an assignment: `+=` and `:=` make no equation."""


class Comparisons(NamedTuple):
    """A text, parted at signs.

    Attributes:
        sides: What stands between the signs, without the blanks around it; all of the text where it has none of them.
        signs: The signs, one fewer.
    """

    sides: list[str]
    signs: list[str]


def compared(text: str, signs: Collection[str] = EQUALS, most: int | None = None) -> Comparisons:
    """Part a text at signs, at most at so many; one in brackets, `dim=0`, is of a side.

    >>> compared("x^2 + y^2 = 25").sides, compared("sum(y, dim=0) == 1")
    (['x^2 + y^2', '25'], Comparisons(sides=['sum(y, dim=0)', '1'], signs=['==']))
    >>> compared("x <= 1").sides, compared("0 <= y < 1", COMPARED), compared("y += 2").sides
    (['x <= 1'], Comparisons(sides=['0', 'y', '1'], signs=['<=', '<']), ['y += 2'])
    """
    found, start, depth = Comparisons([], []), 0, 0
    for sign in _OF_COMPARISON.finditer(text):
        depth += (sign[0] in "([{") - (sign[0] in ")]}")
        if depth == 0 and sign[0] in signs and len(found.signs) != most:
            found.sides.append(text[start : sign.start()].strip())
            found.signs.append(sign[0])
            start = sign.end()
    found.sides.append(text[start:].strip())
    return found

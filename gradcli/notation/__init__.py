r"""Notation of mathematics, as trees: in plain characters, in Unicode and in LaTeX.

typesetting  names, numbers and text in LaTeX

Each node knows its three spellings, and none is ever read back from another.  A form has the signs of a node in the
three next to one another, with `%s` for each part.  Trees are written when they are read: an answer that is printed as
bare numbers costs no typesetting.  Knows neither formulas nor answers.
"""

from __future__ import annotations

import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from gradcli.notation import typesetting

Spelling = Literal["text", "pretty", "latex"]
"""Spelling in plain characters, in Unicode as people write it, or in LaTeX with amsmath."""


class Notation(ABC):
    """Mathematical notation of something, in three spellings."""

    __slots__ = ()

    @abstractmethod
    def spelled(self, how: Spelling) -> str:
        """Write the notation in one of the spellings."""

    @property
    def text(self) -> str:
        """Spelling in plain characters."""
        return self.spelled("text")

    @property
    def pretty(self) -> str:
        """Spelling in Unicode, as people write it."""
        return self.spelled("pretty")

    @property
    def latex(self) -> str:
        """Spelling in LaTeX, with amsmath."""
        return self.spelled("latex")


@dataclass(frozen=True, slots=True)
class Signs:
    r"""The signs of a node, `%s` standing for its parts.

    >>> partial = Signs("d%s/d%s", "∂%s/∂%s", r"\frac{\partial %s}{\partial %s}")
    >>> partial(Named("y"), Element("x", (0,))).pretty
    '∂y/∂x[0]'
    """

    text: str
    pretty: str
    latex: str

    def __call__(self, *parts: Notation) -> WrittenParts:
        """Make the node with these parts."""
        return WrittenParts(self, parts)


@dataclass(frozen=True, slots=True)
class WrittenParts(Notation):
    """Parts between signs."""

    form: Signs
    parts: tuple[Notation, ...] = ()

    def spelled(self, how: Spelling) -> str:
        """Write the signs with the parts between them."""
        signs: str = getattr(self.form, how)
        return signs % tuple(part.spelled(how) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Named(Notation):
    """Name of something: a variable, a line, a constant tensor."""

    word: str

    def spelled(self, how: Spelling) -> str:
        """Write the name; in LaTeX one letter, a Greek letter, or italics."""
        return typesetting.name(self.word) if how == "latex" else self.word


@dataclass(frozen=True, slots=True)
class Typed(Named):
    """Words shown as they are typed: keys, keywords, equations of `einsum`."""

    def spelled(self, how: Spelling) -> str:
        """Write the words; in LaTeX in typewriter type."""
        return typesetting.typed(self.word) if how == "latex" else self.word


@dataclass(frozen=True, slots=True)
class Bar(Notation):
    """Adjoint of something that has a name: a bar over a letter, over the letter of `t1`, or over a whole word.

    >>> Bar("x").pretty, Bar("t1").text, Bar("t1").latex
    ('x̄', 'adj(t1)', '\\\\overline{\\\\mathit{t1}}')
    """

    name: str

    def spelled(self, how: Spelling) -> str:
        """Write the adjoint as a function of the name, with combining marks, or with a bar as long as the name."""
        letter, rest = self.name[:1], self.name[1:]
        if how == "text":
            return f"adj({self.name})"
        if how == "latex":
            return (r"\overline" if rest else r"\bar") + f"{{{typesetting.name(self.name)}}}"
        if not rest or rest.isdigit():
            return unicodedata.normalize("NFC", letter + "\N{COMBINING MACRON}") + rest
        return "".join(c + "\N{COMBINING OVERLINE}" for c in self.name)


@dataclass(frozen=True, slots=True)
class Digits(Notation):
    """A constant from its digits, or by its name.

    >>> Digits("1e-08").latex, Digits("1/3").latex, Digits("pi").pretty
    ('10^{-8}', '1/3', 'π')
    """

    digits: str

    def spelled(self, how: Spelling) -> str:
        """Write the digits; in LaTeX powers of ten instead of exponents."""
        is_name = self.digits.isidentifier() and self.digits not in ("inf", "nan")
        if how == "latex":
            return typesetting.name(self.digits) if is_name else typesetting.number(self.digits)
        return "π" if how == "pretty" and self.digits == "pi" else self.digits


@dataclass(frozen=True, slots=True)
class Element(Notation):
    """An element of a tensor by its index, or a tensor without one.

    >>> Element("x", (0, 1)).pretty, Element("x", ("i",)).latex, Element("x").text
    ('x[0,1]', 'x_{i}', 'x')
    """

    name: str
    index: tuple[int | str, ...] = ()

    def spelled(self, how: Spelling) -> str:
        """Write the index as the language has it, or as a subscript."""
        name, at = typesetting.name(self.name) if how == "latex" else self.name, ",".join(map(str, self.index))
        return name + ((f"_{{{at}}}" if how == "latex" else f"[{at}]") if at else "")


# -- forms that many share

PARTIAL = Signs("d%s/d%s", "∂%s/∂%s", r"\frac{\partial %s}{\partial %s}")
SECOND = Signs("d2%s/d%sd%s", "∂²%s/∂%s∂%s", r"\frac{\partial^{2} %s}{\partial %s \, \partial %s}")
SECOND_BY_ONE = Signs("d2%s/d%s2", "∂²%s/∂%s²", r"\frac{\partial^{2} %s}{\partial %s^{2}}")
JU = Signs("Ju", "Ju", "J u")
HU = Signs("Hu %s", "Hu %s", "(H u)_{%s}")
TIMES = Signs("%s*%s", "%s·%s", r"%s \cdot %s")
POINTWISE = Signs("%s*%s", "%s ⊙ %s", r"%s \odot %s")
PLUS = Signs("%s + %s", "%s + %s", "%s + %s")
BRACKETED = Signs("(%s)", "(%s)", "(%s)")

_COMMA = Signs("%s, %s", "%s, %s", "%s, %s")


def second(y: Notation, row: Notation, column: Notation) -> Notation:
    """Write a second derivative, by two things or twice by one."""
    return SECOND_BY_ONE(y, row) if row == column else SECOND(y, row, column)


def directional(index: Sequence[int | str]) -> Notation:
    """Write an element of Ju, or the whole Ju."""
    at = ",".join(map(str, index))
    return Signs(f"(Ju)[{at}]", f"(Ju)[{at}]", f"(J u)_{{{at}}}")() if at else JU()


def joined(parts: Sequence[Notation], form: Signs = _COMMA) -> Notation:
    """Join parts, with commas or with the signs of a form between."""
    first, *rest = parts
    for part in rest:
        first = form(first, part)
    return first

r"""How mathematics is written, as trees, in plain characters, in Unicode and in LaTeX.

typesetting  names, numbers and text in LaTeX

Each node knows its three spellings, and none is ever read back from another.  A form has the signs of a node in the
three beside one another, with `%s` for each part.  Trees are written when they are read: an answer that is printed as
bare numbers costs no typesetting.  Knows neither formulas nor answers.
"""

from __future__ import annotations

import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from gradcli.notation import typesetting


class Notation(ABC):
    """Something in mathematical notation, in three spellings."""

    __slots__ = ()

    @property
    @abstractmethod
    def text(self) -> str:
        """In plain characters."""

    @property
    def pretty(self) -> str:
        """As people write it, in Unicode; the same where they do not write it otherwise."""
        return self.text

    @property
    @abstractmethod
    def latex(self) -> str:
        """In LaTeX, with amsmath."""


@dataclass(frozen=True, slots=True)
class Form:
    r"""The signs of a node, `%s` standing for its parts.

    >>> partial = Form("d%s/d%s", "∂%s/∂%s", r"\frac{\partial %s}{\partial %s}")
    >>> partial(Name("y"), Element("x", (0,))).pretty
    '∂y/∂x[0]'
    """

    text: str
    pretty: str
    latex: str

    def __call__(self, *parts: Notation) -> Written:
        """The node with these parts."""
        return Written(self, parts)


@dataclass(frozen=True, slots=True)
class Written(Notation):
    """Parts between signs."""

    form: Form
    parts: tuple[Notation, ...] = ()

    @property
    def text(self) -> str:
        """In plain characters."""
        return self.form.text % tuple(part.text for part in self.parts)

    @property
    def pretty(self) -> str:
        """As people write it, in Unicode."""
        return self.form.pretty % tuple(part.pretty for part in self.parts)

    @property
    def latex(self) -> str:
        """In LaTeX, with amsmath."""
        return self.form.latex % tuple(part.latex for part in self.parts)


@dataclass(frozen=True, slots=True)
class Name(Notation):
    """What something is called: a variable, a line, a constant tensor."""

    text: str

    @property
    def latex(self) -> str:
        """One letter, a Greek letter, or italics."""
        return typesetting.name(self.text)


@dataclass(frozen=True, slots=True)
class Typed(Name):
    """What is shown as it is typed: keys, keywords, equations of `einsum`."""

    @property
    def latex(self) -> str:
        """In typewriter type."""
        return typesetting.typed(self.text)


@dataclass(frozen=True, slots=True)
class Bar(Notation):
    """The adjoint of something that has a name: a bar over a letter, over the letter of `t1`, or over a whole word.

    >>> Bar("x").pretty, Bar("t1").text, Bar("t1").latex
    ('x̄', 'adj(t1)', '\\\\overline{\\\\mathit{t1}}')
    """

    name: str

    @property
    def text(self) -> str:
        """As a function of the name."""
        return f"adj({self.name})"

    @property
    def pretty(self) -> str:
        """With combining marks."""
        letter, rest = self.name[:1], self.name[1:]
        is_short = not rest or rest.isdigit()
        return (
            unicodedata.normalize("NFC", letter + "\N{COMBINING MACRON}") + rest
            if is_short
            else "".join(c + "\N{COMBINING OVERLINE}" for c in self.name)
        )

    @property
    def latex(self) -> str:
        """With a bar as long as the name."""
        bar = r"\bar" if len(self.name) == 1 else r"\overline"
        return f"{bar}{{{typesetting.name(self.name)}}}"


@dataclass(frozen=True, slots=True)
class Number(Notation):
    """A constant from its digits, or by its name.

    >>> Number("1e-08").latex, Number("1/3").latex, Number("pi").pretty
    ('10^{-8}', '1/3', 'π')
    """

    text: str

    @property
    def pretty(self) -> str:
        """The same, but for π."""
        return "π" if self.text == "pi" else self.text

    @property
    def latex(self) -> str:
        """Powers of ten instead of exponents."""
        is_name = self.text.isidentifier() and self.text not in ("inf", "nan")
        return typesetting.name(self.text) if is_name else typesetting.number(self.text)


@dataclass(frozen=True, slots=True)
class Element(Notation):
    """An element of a tensor by its index, or a tensor without one.

    >>> Element("x", (0, 1)).pretty, Element("x", ("i",)).latex, Element("x").text
    ('x[0,1]', 'x_{i}', 'x')
    """

    name: str
    index: tuple[int | str, ...] = ()

    @property
    def text(self) -> str:
        """As the language has it."""
        return self.name + (f"[{','.join(map(str, self.index))}]" if self.index else "")

    @property
    def latex(self) -> str:
        """With a subscript."""
        return typesetting.name(self.name) + (f"_{{{','.join(map(str, self.index))}}}" if self.index else "")


# -- forms that many share

PARTIAL = Form("d%s/d%s", "∂%s/∂%s", r"\frac{\partial %s}{\partial %s}")
SECOND = Form("d2%s/d%sd%s", "∂²%s/∂%s∂%s", r"\frac{\partial^{2} %s}{\partial %s \, \partial %s}")
SECOND_BY_ONE = Form("d2%s/d%s2", "∂²%s/∂%s²", r"\frac{\partial^{2} %s}{\partial %s^{2}}")
JU = Form("Ju", "Ju", "J u")
HU = Form("Hu %s", "Hu %s", "(H u)_{%s}")
LIST = Form("[%s]", "[%s]", "{[}%s{]}")
TRANSPOSED = Form("%s.T", "%sᵀ", "%s^{T}")
TIMES = Form("%s*%s", "%s·%s", r"%s \cdot %s")
POINTWISE = Form("%s*%s", "%s ⊙ %s", r"%s \odot %s")
MATMUL = Form("%s @ %s", "%s · %s", r"%s \, %s")
PLUS = Form("%s + %s", "%s + %s", "%s + %s")
MINUS = Form("%s - %s", "%s - %s", "%s - %s")
NEGATIVE = Form("-%s", "-%s", "-%s")
OVER = Form("%s/%s", "%s/%s", "%s/%s")
BRACKETED = Form("(%s)", "(%s)", "(%s)")

_COMMA = Form("%s, %s", "%s, %s", "%s, %s")


def second(y: Notation, row: Notation, column: Notation) -> Notation:
    """A second derivative, by two things or twice by one."""
    return SECOND_BY_ONE(y, row) if row == column else SECOND(y, row, column)


def directional(index: Sequence[int | str]) -> Notation:
    """An element of Ju, or the whole of it."""
    at = ",".join(map(str, index))
    return Form(f"(Ju)[{at}]", f"(Ju)[{at}]", f"(J u)_{{{at}}}")() if at else JU()


def joined(parts: Sequence[Notation], form: Form = _COMMA) -> Notation:
    """Parts one after another, with commas or with the signs of a form between."""
    first, *rest = parts
    for part in rest:
        first = form(first, part)
    return first


def call(head: str, *arguments: Notation) -> Notation:
    r"""A function of arguments.

    >>> call("sum", Name("x"), Typed("dim=0")).latex
    '\\operatorname{sum}(x, \\texttt{dim=0})'
    """
    shown = typesetting.text(head)
    return Form(f"{head}(%s)", f"{head}(%s)", rf"\operatorname{{{shown}}}(%s)")(joined(arguments))

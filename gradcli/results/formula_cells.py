"""Formulas of answers: printed when a property with their text is read, and shorter with names for what they repeat."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any, Literal

from gradcli.notation import Element, Notation
from gradcli.results.record import Record, if_empty, json_property


class Cell(Record):
    """One formula, which is printed only when a property with its text is read.

    Attributes:
        above: The element of y.
        below: The element of x.
        label: The left-hand side: ∂`above`/∂`below`, or an element of Ju, of the Hessian or of Hu.
        expression: The formula.
    """

    above: Element
    below: Element
    label: Notation
    expression: Notation

    @property
    def row(self) -> str:
        """The name of the element of y."""
        return self.above.text

    @property
    def column(self) -> str:
        """The name of the element of x."""
        return self.below.text

    @property
    def text(self) -> str:
        """The formula in SymPy's notation."""
        return self.expression.text

    @property
    def pretty(self) -> str:
        """The formula in Unicode mathematics."""
        return self.expression.pretty

    @property
    def latex(self) -> str:
        """The formula in LaTeX, with amsmath."""
        return self.expression.latex


Definition = tuple[Notation, Notation]
"""A name in a formula, and the expression that it stands for."""


Abbreviation = tuple[tuple[Notation, ...], tuple[Definition, ...]]
"""Cells of a formula with names for expressions that its answer repeats; and the definitions of the names."""


class Formula(Record):
    """The closed form of one Jacobian block; several cells where it is written out entry by entry.

    Attributes:
        cells: Row by row.
        sizes: The sizes of the axes along which it is written out.
        note: The place where it was confirmed, if not at the entries of this answer.
        structure: The structure of the whole block, for all values and sizes.
        function: Both sides of the equation of the element of y that is differentiated, if that is short.
        holds_here: Whether it holds at all entries of this answer; if not, a note of the check names those where not.
        abbreviation: A function that finds the abbreviated form, called when that is read.
    """

    cells: tuple[Cell, ...]
    sizes: tuple[int, ...] = ()
    note: str = ""
    structure: Literal["", "diagonal", "zero"] = ""
    function: tuple[Notation, Notation] | None = None
    holds_here: bool = True
    abbreviation: Callable[[], Abbreviation] | None = field(default=None, compare=False, repr=False)

    def __repr__(self) -> str:
        return f"Formula({self.text!r})"

    @property
    def definitions(self) -> tuple[Definition, ...]:
        """The definitions of the names in `brief`, in the order in which they are explained."""
        return self.abbreviation()[1] if self.abbreviation is not None else ()

    @property
    def brief(self) -> tuple[Cell, ...]:
        """The cells with a name for each expression that is repeated in the formulas of the answer."""
        if self.abbreviation is None or not self.definitions:
            return self.cells
        shown = zip(self.cells, self.abbreviation()[0], strict=True)
        return tuple(replace(cell, expression=expression) for cell, expression in shown)

    @property
    def brief_text(self) -> str:
        """The formula with names, in SymPy's notation; a nested list where it is written out."""
        return self._nested([cell.text for cell in self.brief])

    @property
    def text(self) -> str:
        """The formula in SymPy's notation; a nested list where it is written out."""
        return self._nested([cell.text for cell in self.cells])

    @property
    def pretty(self) -> str:
        """The formula in Unicode mathematics; a nested list where it is written out."""
        return self._nested([cell.pretty for cell in self.cells])

    def _nested(self, texts: list[str]) -> str:
        """Nest formulas in row-major order as a list."""
        for size in reversed(self.sizes):
            texts = [f"[{', '.join(texts[n : n + size])}]" for n in range(0, len(texts), size)]
        return texts[0]


NestedFormulas = Formula | Mapping[str, Formula] | Mapping[str, Mapping[str, Formula]] | None
"""The formulas of an answer: the one of Ju, by variable, or by the two variables of a Hessian."""

ShortTexts = str | Mapping[str, str | Mapping[str, str]]
"""Texts of formulas, nested as they are."""


FormulaText = str | Mapping[str, "FormulaText"] | None
"""Text of a formula, or texts by variable."""


def _shortened(formulas: NestedFormulas) -> Any:
    """Shorten formulas by names for their repeated parts; empty where there is nothing to name."""
    match formulas:
        case Formula():
            return formulas.brief_text if formulas.definitions else ""
        case Mapping():
            return {key: short for key, one in formulas.items() if (short := _shortened(one))}
    return ""


def _texts(formulas: NestedFormulas) -> FormulaText:
    """Return the texts of formulas, nested as they are but for levels of a single one."""
    if not isinstance(formulas, Mapping):
        return formulas.text if formulas is not None else None
    found = {name: text for name, one in formulas.items() if (text := _texts(one)) is not None}
    return next(iter(found.values()), None) if len(formulas) < 2 else found


def _names(formulas: NestedFormulas) -> dict[str, Notation]:
    """Collect the meanings of the names in formulas."""
    match formulas:
        case Formula(definitions=definitions):
            return {name.text: meaning for name, meaning in definitions}
        case Mapping():
            return {name: meaning for one in formulas.values() for name, meaning in _names(one).items()}
    return {}


class FormulaTexts(Record):
    """Shorter texts of the formulas of an answer, as JSON has them next to the whole ones."""

    @property
    def _repeating(self) -> NestedFormulas:
        """The formulas whose repeated parts are named."""
        found: NestedFormulas = getattr(self, "symbolic", None)
        return found

    @property
    def formula(self) -> FormulaText:
        """The text of the formula, or texts by variable where there are several; None where there is none.

        >>> from gradcli import Function
        >>> Function("x**2").grad(3).formula, Function("x*y").grad().formula
        ('2*x', {'x': 'y', 'y': 'x'})
        """
        return _texts(getattr(self, "symbolic", None))

    @property
    @json_property(omit=if_empty, before="symbolic_omitted")
    def brief(self) -> ShortTexts:
        """The formulas with names for the parts that they repeat, nested as in `symbolic`; empty without such parts."""
        found: ShortTexts = _shortened(self._repeating)
        return found

    @property
    @json_property(omit=if_empty, before="symbolic_omitted")
    def where(self) -> Mapping[str, Notation]:
        """The meanings of the names in `brief`."""
        return _names(self._repeating)

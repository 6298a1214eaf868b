"""Formulas as text: SymPy's notation for machines, readable Unicode mathematics and LaTeX for people.

pretty     SymPy's notation, and readable Unicode
latex      LaTeX
arranging  factors, terms and branches in order, as people write them
abbreviating  names for repeated parts of formulas, the softmax and the logistic function first

A derivative is printed entry by entry, its indices with letters that no variable has: they are Dummies until a formula
is printed, which is when somebody reads it.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import sympy
from sympy import Expr
from sympy.printing.printer import Printer

from gradcli.errors import displayable
from gradcli.language.program.sympy_functions import Aggregate, quotient
from gradcli.language.program.wengert import Program
from gradcli.notation import HU, PARTIAL, Element, Named, Notation, Spelling, directional, second
from gradcli.results import Abbreviation, Cell, Formula
from gradcli.symbolic.derivative import Derivative, DerivativeKind, Structure, weight_name
from gradcli.symbolic.printing.abbreviating import abbreviated
from gradcli.symbolic.printing.arranging import in_heads_of_sympy
from gradcli.symbolic.printing.latex import LatexPrinter
from gradcli.symbolic.printing.pretty import PlainPrinter, PrettyPrinter

MOST_CORNERS = 4
"""Most indices of a condition for which its corners are tried, to find out whether it always holds."""

MOST_PARTS = 150
"""Most parts of an element of y that is shown next to its derivative."""

_LETTERS = "ijklmnpqrstuvw"

Names = Mapping[sympy.Symbol, sympy.Symbol]


_PRINTERS: Mapping[Spelling, Printer] = {"text": PlainPrinter(), "pretty": PrettyPrinter(), "latex": LatexPrinter()}


@dataclass(frozen=True)
class Printed(Notation):
    """Expression of SymPy's, printed when it is read, and once; in brackets where a product would take it apart.

    >>> x = sympy.Symbol("x")
    >>> Printed(1 - x**2, is_factor=True).text, Printed(1 - x**2, is_factor=True).pretty, Printed(2*x).pretty
    ('(1 - x**2)', '(1 - x²)', '2·x')
    """

    expression: Expr
    is_factor: bool = False

    def spelled(self, how: Spelling) -> str:
        """Write the expression in SymPy's notation, in Unicode mathematics, or in LaTeX."""
        return _spelled(self, how)


@functools.lru_cache(maxsize=4096)
def _spelled(printed: Printed, how: Spelling) -> str:
    shown = displayable(_PRINTERS[how].doprint(in_heads_of_sympy(printed.expression)))
    is_loose = printed.is_factor and (printed.expression.is_Add or shown.startswith("-"))
    return f"({shown})" if is_loose else shown


def formula(derivative: Derivative, program: Program, note: str = "", structure: Structure = "") -> Formula:
    """Make the formula of one Jacobian block, or of another derivative; it is printed when it is read.

    Args:
        derivative: The closed form.
        program: What the names of the output and of the variables are taken from; no index gets one of them.
        note: Where it was confirmed.
        structure: What it shows of the whole block.
    """
    directions = {"jvp": "u", "hvp": "u", "vjp": weight_name(program)}
    names = _Names(program.names, program.assigned, program.output_name)
    found = _formula(derivative, names, directions.get(derivative.of, ""))
    return replace(found, note=note, structure=structure) if note or structure else found


@dataclass(frozen=True)
class _Names:
    """Names of a Program, as it has them."""

    names: tuple[str, ...]
    assigned: tuple[str, ...]
    output_name: str


@functools.lru_cache(maxsize=64)  # the points of a stream, and of a test, have the same formulas
def _formula(derivative: Derivative, program: _Names, direction: str) -> Formula:
    written = {symbol for symbol, _ in derivative.written}
    letters = _letters(derivative, program, direction)
    names = _name([s for s in derivative.rows if s not in written], letters)
    if not names:
        next(letters)  # i stands for y's index even where y has none
    names |= _name([s for s in derivative.columns if s not in written], letters)
    if derivative.of == "jvp":
        next(letters)  # as j stands for x's
    bound = tuple(itertools.islice(letters, len(_LETTERS)))
    first = derivative.first or program.output_name
    cells = []
    for chosen, expression in derivative.cases:
        shown = {**names, **chosen}
        row, column = (
            Element(name, tuple(str(shown[s]) for s in index))
            for name, index in ((first, derivative.rows), (derivative.variable, derivative.columns))
        )
        label = _label(derivative.of, Named(program.output_name), row, column)
        cells.append(Cell(row, column, label, Printed(_named(derivative, expression, names, bound))))
    sizes = tuple(size for _, size in derivative.written)
    return Formula(tuple(cells), sizes, function=_function(derivative, program))


_Key = TypeVar("_Key")


def with_names(formulas: Mapping[_Key, Formula], program: Program) -> dict[_Key, Formula]:
    """Abbreviate the formulas of an answer: name their repeated parts, once they are read.

    Args:
        formulas: All that are shown together: a name means the same in each.
        program: What its variables are called, nothing else is.
    """
    taken = frozenset((*program.names, *program.assigned, program.output_name))
    every = formulas.values()
    cells = tuple(tuple(one.expression for one in f.cells if isinstance(one.expression, Printed)) for f in every)
    names = (partial(_with_names, cells, taken, n) for n in range(len(cells)))
    return {key: replace(one, abbreviation=name) for (key, one), name in zip(formulas.items(), names, strict=True)}


@functools.lru_cache(maxsize=64)  # the points of a stream have the same formulas
def _with_names(cells: tuple[tuple[Printed, ...], ...], taken: frozenset[str], place: int) -> Abbreviation:
    """Return one of several formulas that are abbreviated together, with the definitions of its names."""
    shown, definitions = abbreviated(tuple(cell.expression for cell in itertools.chain(*cells)), taken)
    first = sum(map(len, cells[:place]))
    mine = shown[first : first + len(cells[place])]
    used = [*mine]
    for one in used:  # which grows
        used += [d.meaning for d in definitions if d.meaning not in used and one.has(d.letter)]
    kept = tuple((Printed(one.name), Printed(one.meaning)) for one in definitions if one.meaning in used)
    return tuple(map(Printed, mine)), kept


def _function(derivative: Derivative, program: _Names) -> tuple[Notation, Notation] | None:
    """Return both sides of the equation of y[i], if it is short."""
    element = derivative.element
    if element is None or len(list(itertools.islice(sympy.preorder_traversal(element), MOST_PARTS + 1))) > MOST_PARTS:
        return None
    letters = _letters(derivative, program)
    names = _name(list(derivative.rows), letters)
    bound = tuple(itertools.islice(letters, len(_LETTERS)))
    left = Element(program.output_name, tuple(str(names[s]) for s in derivative.rows))
    return left, Printed(_named(derivative, element, names, bound))


def _letters(derivative: Derivative, program: _Names, direction: str = "") -> Iterator[str]:
    """Choose letters for indices that have no other meaning."""
    sizes = (str(name) for size in derivative.called.values() for name in size.free_symbols)
    taken = {*program.names, *program.assigned, direction, *sizes}
    names = itertools.chain(_LETTERS, (f"i{n}" for n in itertools.count(1)))
    return (letter for letter in names if letter not in taken)


def _name(symbols: list[sympy.Symbol], letters: Iterator[str]) -> dict[sympy.Symbol, sympy.Symbol]:
    pairs = zip(symbols, letters, strict=False)
    return {symbol: sympy.Symbol(letter, integer=True, nonnegative=True) for symbol, letter in pairs}


def _label(of: DerivativeKind, output: Notation, row: Element, column: Element) -> Notation:
    """Label the derivative of a formula: ∂y[i]/∂x[j], x.grad[j], (Ju)[i], ∂²y/∂x[i]∂z[j], Hu x[j]."""
    match of:
        case "vjp":
            return Element(f"{column.name}.grad", column.index)
        case "jvp":
            return directional(row.index)
        case "hvp":
            return HU(column)
        case "hessian":
            return second(output, row, column)
    return PARTIAL(row, column)


def _named(derivative: Derivative, expression: Expr, names: Names, bound: tuple[str, ...]) -> Expr:
    """Write sizes as numbers, or by their names, and name all indices."""
    sizes = {symbol: sympy.Integer(size) for symbol, size in derivative.sizes.items()}
    parts = (p for p in sympy.postorder_traversal(expression) if isinstance(p, sympy.Sum | Aggregate))
    limits = [k for part in parts for k, *_ in part.limits]
    renamed = {**names, **_name(list(dict.fromkeys(limits)), iter(bound))}
    return without_sure_conditions(expression, derivative).xreplace({**sizes, **derivative.called}).xreplace(renamed)


def without_sure_conditions(expression: Expr, derivative: Derivative) -> Expr:
    """Leave out conditions that hold for all values of their indices, or for none.

    They are affine in the indices, so the corners of the box tell.
    """
    sizes = {symbol: sympy.Integer(size) for symbol, size in derivative.sizes.items()}
    sure: dict[Expr, Expr] = {}
    for condition in expression.atoms(sympy.Ge, sympy.Le):
        indices = sorted(condition.free_symbols - sizes.keys(), key=str)
        if len(indices) > MOST_CORNERS or any(i not in derivative.ranges for i in indices) or condition.has(quotient):
            continue
        ends = [(sympy.S.Zero, derivative.ranges[i].xreplace(sizes) - 1) for i in indices]
        here = condition.xreplace(sizes)
        corners = {here.xreplace(dict(zip(indices, at, strict=True))) for at in itertools.product(*ends)}
        if corners in ({sympy.true}, {sympy.false}):
            sure[condition] = corners.pop()
    return expression.xreplace(sure)

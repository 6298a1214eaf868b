"""Formulas of a derivative as text, entry by entry, its indices with the letters i, j, k, ... that no variable has.

Indices are Dummies until here.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

import sympy
from sympy import Expr

from gradcli.language.program.indexed_functions import Aggregate, quotient
from gradcli.language.program.wengert import Program
from gradcli.results import Cell, Formula, Notation
from gradcli.symbolic.derivative import Derivative, Of
from gradcli.symbolic.diagonal import Structure
from gradcli.symbolic.names_of_formulas import label
from gradcli.symbolic.printing.ascii import PlainPrinter
from gradcli.symbolic.printing.latex import LatexPrinter
from gradcli.symbolic.printing.pretty import PrettyPrinter

MOST_CORNERS = 4
"""Indices of a condition up to which it is looked at whether it always holds."""

MOST_PARTS = 150
"""Parts of an element of y up to which it is shown beside its derivative."""

_LETTERS = "ijklmnpqrstuvw"

Names = Mapping[sympy.Symbol, sympy.Symbol]


_PLAIN, _PRETTY, _LATEX = PlainPrinter(), PrettyPrinter(), LatexPrinter()


def as_factor(expression: Expr) -> Notation:
    """An expression as it stands in a product: a sum, a fraction or a negative one in parentheses.

    >>> x = sympy.Symbol("x")
    >>> as_factor(1 - x**2), as_factor(2*x).pretty
    (Notation(text='(1 - x**2)', pretty='(1 - x²)'), '2·x')
    """
    texts = []
    for printer in (_PLAIN, _PRETTY):
        text = printer.doprint(expression)
        texts.append(f"({text})" if expression.is_Add or text.startswith("-") else text)
    return Notation(*texts)


def formula(derivative: Derivative, program: Program, note: str = "", structure: Structure = "") -> Formula:
    """The formula of one Jacobian block, or of another derivative, as text.

    Args:
        derivative: The closed form.
        program: What the names of the output and of the variables are taken from; no index gets one of them.
        note: Where it was confirmed.
        structure: What it shows of the whole block.
    """
    written = {symbol for symbol, _ in derivative.written}
    letters = _letters(program, "u" if derivative.of in ("jvp", "hvp") else "")
    names = _name([s for s in derivative.rows if s not in written], letters)
    if not names:
        next(letters)  # i stands for y's index even where y has none
    names |= _name([s for s in derivative.columns if s not in written], letters)
    if derivative.of == "jvp":
        next(letters)  # as j stands for x's
    bound = tuple(itertools.islice(letters, len(_LETTERS)))
    labels = program, names, bound
    cells = tuple(_cell(derivative, chosen, expression, *labels) for chosen, expression in derivative.cases)
    text = _nested([cell.text for cell in cells], [size for _, size in derivative.written])
    return Formula(text, cells, note, structure, _function(derivative, program))


def _function(derivative: Derivative, program: Program) -> str:
    """The equation of y[i] in LaTeX, if it is short."""
    if derivative.element is None:
        return ""
    parts = sympy.preorder_traversal(derivative.element)
    if len(list(itertools.islice(parts, MOST_PARTS + 1))) > MOST_PARTS:
        return ""
    letters = _letters(program)
    names = _name(list(derivative.rows), letters)
    shown = _named(derivative, derivative.element, names, tuple(itertools.islice(letters, len(_LETTERS))))
    y = _element(program.output_name, [names[s] for s in derivative.rows])
    return f"{_LATEX.doprint(y)} = {_LATEX.doprint(shown)}"


def _letters(program: Program, direction: str = "") -> Iterator[str]:
    taken = {*program.names, *program.assigned, direction}
    names = itertools.chain(_LETTERS, (f"i{n}" for n in itertools.count(1)))
    return (letter for letter in names if letter not in taken)


def _name(symbols: list[sympy.Symbol], letters: Iterator[str]) -> dict[sympy.Symbol, sympy.Symbol]:
    return {symbol: _index(letter) for symbol, letter in zip(symbols, letters, strict=False)}


def _index(letter: str) -> sympy.Symbol:
    return sympy.Symbol(letter, integer=True, nonnegative=True)


def _cell(
    derivative: Derivative,
    chosen: Mapping[sympy.Symbol, Expr],
    expression: Expr,
    program: Program,
    names: Names,
    bound: tuple[str, ...],
) -> Cell:
    shown = _named(derivative, expression, names, bound)

    def element(name: str, symbols: tuple[sympy.Symbol, ...]) -> Expr:
        return _element(name, [chosen.get(s, names.get(s)) for s in symbols])

    row = element(derivative.first or program.output_name, derivative.rows)
    column = element(derivative.variable, derivative.columns)
    shown_row, shown_column = _PRETTY.doprint(row), _PRETTY.doprint(column)
    return Cell(
        shown_row,
        shown_column,
        _PLAIN.doprint(shown),
        _PRETTY.doprint(shown),
        label(derivative.of, program.output_name, shown_row, shown_column),
        _LATEX.doprint(shown),
        _label(derivative.of, program.output_name, row, column),
    )


def _label(of: Of, output: str, row: Expr, column: Expr) -> str:
    """What a formula is of, in LaTeX."""
    y, above, below = (str(_LATEX.doprint(part)) for part in (sympy.Symbol(output), row, column))
    match of:
        case "jvp":
            return "(J u)" + above.removeprefix(y)
        case "hvp":
            return f"(H u)_{{{below}}}"
        case "hessian" if row == column:
            return rf"\frac{{\partial^{{2}} {y}}}{{\partial {above}^{{2}}}}"
        case "hessian":
            return rf"\frac{{\partial^{{2}} {y}}}{{\partial {above} \, \partial {below}}}"
    return rf"\frac{{\partial {above}}}{{\partial {below}}}"


def _element(name: str, at: Sequence[Expr]) -> Expr:
    return sympy.Indexed(sympy.IndexedBase(name), *at) if at else sympy.Symbol(name)


def _named(derivative: Derivative, expression: Expr, names: Names, bound: tuple[str, ...]) -> Expr:
    """With sizes as numbers, and names for all indices."""
    sizes = {symbol: sympy.Integer(size) for symbol, size in derivative.sizes.items()}
    parts = [p for p in sympy.postorder_traversal(expression) if isinstance(p, sympy.Sum | Aggregate)]
    limits = [k for part in parts for k in (part.bound if isinstance(part, Aggregate) else part.variables)]
    renamed = {**names, **_name(list(dict.fromkeys(limits)), iter(bound))}
    return without_sure_conditions(expression.xreplace(sizes), derivative).xreplace(renamed)


def without_sure_conditions(expression: Expr, derivative: Derivative) -> Expr:
    """Conditions that hold for all values of their indices, or for none, are not worth reading.

    They are affine in the indices, so the corners of the box tell.
    """
    sizes = {symbol: sympy.Integer(size) for symbol, size in derivative.sizes.items()}
    sure: dict[Expr, Expr] = {}
    for condition in expression.atoms(sympy.Ge, sympy.Le):
        indices = sorted(condition.free_symbols, key=str)
        if len(indices) > MOST_CORNERS or any(i not in derivative.ranges for i in indices) or condition.has(quotient):
            continue
        ends = [(sympy.S.Zero, derivative.ranges[i].xreplace(sizes) - 1) for i in indices]
        corners = {condition.xreplace(dict(zip(indices, at, strict=True))) for at in itertools.product(*ends)}
        if corners in ({sympy.true}, {sympy.false}):
            sure[condition] = corners.pop()
    return expression.xreplace(sure)


def _nested(texts: list[str], sizes: list[int]) -> str:
    """Formulas in row-major order as a nested list with these sizes."""
    for size in reversed(sizes):
        texts = [f"[{', '.join(texts[n : n + size])}]" for n in range(0, len(texts), size)]
    return texts[0]

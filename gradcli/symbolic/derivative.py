"""The closed form of ∂y/∂x, in index notation or, for scalars and short lists, entry by entry.

`entry(y, i)` is differentiated by x[j] with SymPy, its deltas collapsed (`linear`).  Where the result depends on which
part of a list an index names, the index is written out: `[x*y, x+y]` gives [[y, x], [1, 1]].
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal

import sympy
from sympy import Expr, Integer, KroneckerDelta

from gradcli.language.program.wengert import Atom, Program, Shape
from gradcli.symbolic.element import Entries, has_long_number
from gradcli.symbolic.index_maps import NoFormulaError
from gradcli.symbolic.linear import Ranges, assemble, linear, tidied

MAX_WRITTEN_OUT = 36
"""Entries that are written out one by one before index notation is the shorter form."""


Of = Literal["jacobian", "jvp", "hessian", "hvp"]
"""What a formula is of: ∂y/∂x, Ju, ∂²y/∂x∂z or Hu."""

Axis = tuple[sympy.Symbol, int]
"""An index and the size that it runs over."""


@dataclass(frozen=True)
class Derivative:
    """∂y[rows]/∂x[columns] as formulas; or Ju[rows], ∂²y/∂x[rows]∂z[columns], Hu[columns].

    Attributes:
        variable: The name of x, by which the columns go; empty for Ju, which has none.
        rows: The index of y, or of the first variable of a Hessian: a symbol for each dimension.
        columns: The index of x: a symbol for each dimension.
        cases: A formula for each choice of the indices that are written out: the substitution and the expression.
        written: The index symbols that are written out, rows first, with their sizes.
        ranges: The size of each index symbol.
        sizes: The large sizes that are symbols, with their values.
        of: What it is.
        first: The first variable of a Hessian block.
        element: y[rows], where that was differentiated once.
    """

    variable: str
    rows: tuple[sympy.Symbol, ...]
    columns: tuple[sympy.Symbol, ...]
    cases: tuple[tuple[Mapping[sympy.Symbol, Integer], Expr], ...]
    written: tuple[tuple[sympy.Symbol, int], ...]
    ranges: Ranges
    sizes: Mapping[sympy.Symbol, int]
    of: Of = "jacobian"
    first: str = ""
    element: Expr | None = None

    def at(self, row: Sequence[int], column: Sequence[int]) -> tuple[Expr, dict[sympy.Symbol, int]]:
        """The formula of one entry, with the integers that its indices stand for."""
        values = dict(zip((*self.rows, *self.columns), (*row, *column), strict=True))
        for chosen, expression in self.cases:
            if all(values[symbol] == int(n) for symbol, n in chosen.items()):
                return expression, values
        raise IndexError(f"no entry {tuple(row)}, {tuple(column)}")


def differentiate(program: Program, shapes: Mapping[Atom, Shape], variable: sympy.Symbol) -> Derivative:
    """The closed form of the derivative of the Program's output with respect to one variable.

    Args:
        program: In primitives.
        shapes: Of every symbol; sizes above `entry.LARGE` enter as symbols only.
        variable: One of the Program's variables.

    Raises:
        NoFormulaError: there is none, or it would be too long.
    """
    entries = Entries(program, shapes)
    y, x = shapes.get(program.output, ()), shapes[variable]
    rows = tuple(entries.index("i", size) for size in y)
    columns = tuple(entries.index("j", size) for size in x)
    element = element_of(program, entries, rows)
    target = target_of(variable, columns)
    cases, written = in_parts(
        element, list(zip(rows, y, strict=True)), lambda part: tidy(assemble(linear(part.diff(target), entries.ranges)))
    )
    found = Derivative(str(variable), rows, columns, cases, written, entries.ranges, {}, element=element)
    return finished(found, x, entries)


def target_of(variable: sympy.Symbol, index: Sequence[sympy.Symbol]) -> Expr:
    """The element of a variable that is differentiated by."""
    return sympy.IndexedBase(str(variable), real=True)[tuple(index)] if index else variable


def element_of(program: Program, entries: Entries, index: Sequence[Expr]) -> Expr:
    """The element of y at this index.

    Raises:
        NoFormulaError: There is none, or it would be too long.
    """
    with refusals():
        element = entries.entry(program.output, tuple(index))
    if element.has(sympy.nan, sympy.zoo):
        raise NoFormulaError("it has no value: it divides by 0, or takes a mean of nothing")
    return element


Cases = tuple[tuple[Mapping[sympy.Symbol, Integer], Expr], ...]


def in_parts(
    element: Expr, axes: Sequence[Axis], differentiated: Callable[[Expr], Expr]
) -> tuple[Cases, tuple[Axis, ...]]:
    """The derivative of an element; part by part where its index chooses among the parts of a list.

    Raises:
        NoFormulaError: There are too many parts, or SymPy gives up.
    """
    written = tuple((symbol, size) for symbol, size in axes if _names_parts(element, symbol))
    _require_few(written)
    with refusals():
        return tuple((chosen, differentiated(element.xreplace(chosen))) for chosen in _choices(written)), written


def finished(found: Derivative, columns: Shape, entries: Entries, rows: Shape = ()) -> Derivative:
    """The formula with its sizes, and written out over the columns, and these rows, where it singles out elements.

    Raises:
        NoFormulaError: It has a number that nobody would read.
    """
    if any(has_long_number(expression) for _, expression in found.cases):
        raise NoFormulaError("it has a constant that is too long to write")
    if any(expression.has(sympy.nan, sympy.zoo) for _, expression in found.cases):  # 0**x*log(0)
        raise NoFormulaError("a constant in it has no value")
    axes = [*zip(found.rows, rows, strict=False), *zip(found.columns, columns, strict=True)]
    constant = [(s, n) for s, n in axes if any(_names_entries(e, s) for _, e in found.cases)]
    cases, written = found.cases, found.written
    # Written out, the delta(0, j) of x[0] become 0 and 1; of many columns the index notation is the shorter form.
    if constant and _count([*written, *constant]) <= MAX_WRITTEN_OUT:
        cases = tuple(({**c, **d}, e.xreplace(d)) for c, e in cases for d in _choices(constant))
        written = (*written, *constant)
    sizes = {symbol: size for size, symbol in entries.sizes.symbols.items()}
    return replace(found, cases=cases, written=written, sizes=sizes)


def tidy(derivative: Expr) -> Expr:
    """A finished derivative as it is shown."""
    derivative = tidied(derivative)
    has_power = any(not power.exp.is_number for power in derivative.atoms(sympy.Pow))
    # x**n*n/x is n*x**(n - 1); without a symbolic exponent there is nothing to join, and `powsimp` is slow.
    return sympy.powsimp(derivative) if has_power else derivative


@contextmanager
def refusals() -> Iterator[None]:
    """What SymPy cannot do as the reason why there is no formula."""
    try:
        yield
    except RecursionError:
        raise NoFormulaError("the expression is nested too deeply for SymPy") from None
    except OverflowError:
        raise NoFormulaError("a constant in it is too large for SymPy") from None
    except (TypeError, ValueError) as error:
        # "Invalid comparison of non-real zoo", "erfinv(x) is defined only for -1 <= x <= 1": a constant out of a domain
        raise NoFormulaError(f"a constant in it is not real: {error}") from None


def _names_parts(expression: Expr, index: sympy.Symbol) -> bool:
    """Whether the expression chooses among the parts of a list by this index."""
    return any(index in condition.free_symbols for condition in expression.atoms(sympy.Eq))


def _names_entries(expression: Expr, index: sympy.Symbol) -> bool:
    """Whether the expression singles out constant elements by this index: x[0] has the derivative delta(0, j)."""
    return any(
        index in delta.args and any(a.is_Integer for a in delta.args) for delta in expression.atoms(KroneckerDelta)
    )


def _choices(written: Sequence[tuple[sympy.Symbol, int]]) -> Iterator[dict[sympy.Symbol, Integer]]:
    symbols = [symbol for symbol, _ in written]
    for point in itertools.product(*(range(size) for _, size in written)):
        yield {symbol: Integer(n) for symbol, n in zip(symbols, point, strict=True)}


def _count(written: Sequence[tuple[sympy.Symbol, int]]) -> int:
    total = 1
    for _, size in written:
        total *= size
    return total


def _require_few(written: Sequence[tuple[sympy.Symbol, int]]) -> None:
    if _count(written) > MAX_WRITTEN_OUT:
        raise NoFormulaError(f"a list of {_count(written):,} different parts is longer than {MAX_WRITTEN_OUT} formulas")

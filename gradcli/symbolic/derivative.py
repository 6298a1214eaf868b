"""The closed form of ∂y/∂x, Ju, the Hessian and Hu, in index notation or, for scalars and short lists, entry by entry.

`entry(y, i)` is differentiated by x[j] with SymPy, its deltas collapsed (`linear`).  Where the result depends on which
part of a list an index names, the index is written out: `[x*y, x+y]` gives [[y, x], [1, 1]].

Ju is the Gateaux derivative: every x[i] of an element becomes x[i] + e*u[i], which is differentiated by e at 0, so that
no deltas arise.  The Hessian is the closed form of ∂y/∂x[i] differentiated once more, by z[j]; Hu is the Gateaux
derivative differentiated by x[j].
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Literal

import sympy
from sympy import Expr, Integer, KroneckerDelta
from sympy.core.relational import Relational

from gradcli.language.ops.structure import MEASURED
from gradcli.language.program import sympy_functions
from gradcli.language.program.shapes import infer
from gradcli.language.program.sympy_functions import Total
from gradcli.language.program.wengert import Atom, Line, Program, Shape
from gradcli.progress import may_end, set_step
from gradcli.symbolic.element import FORMULA_NODES, Entries, has_long_number, with_tidy_decimals
from gradcli.symbolic.linear import Ranges, assemble, condensed, linear, tidied
from gradcli.symbolic.origins import NoFormulaError

MAX_SLOPE = 5_000
"""Terms and factors of a derivative that the rules write: nobody reads one as long, and SymPy takes seconds for it."""

MOST_KEPT_LINES = 100
"""Most lines of a Program whose formula is kept for the next question."""

MAX_WRITTEN_OUT = 36
"""Entries that are written out one by one before index notation is the shorter form."""

MAX_CASES_WRITTEN_OUT, MANY_CASES = 12, 3
"""Entries up to which those of an index that numbers decide in so many cases are written out."""

DerivativeKind = Literal["jacobian", "vjp", "jvp", "hessian", "hvp"]
"""Kind of a formula: ∂y/∂x, vᵀJ, Ju, ∂²y/∂x∂z or Hu."""

Axis = tuple[sympy.Symbol, int]
"""An index and the size that it runs over."""

Cases = tuple[tuple[Mapping[sympy.Symbol, Integer], Expr], ...]
"""A formula for each choice of the indices that are written out: the substitution and the expression."""


@dataclass(frozen=True, eq=False)
class Derivative:
    """∂y[rows]/∂x[columns] as formulas; or Ju[rows], ∂²y/∂x[rows]∂z[columns], Hu[columns].

    Two are the same only if they are one, which is kept for the next question.

    Attributes:
        variable: The name of x, by which the columns go; empty for Ju, which has none.
        rows: The index of y, or of the first variable of a Hessian: a symbol for each dimension.
        columns: The index of x: a symbol for each dimension.
        cases: The formulas.
        written: The index symbols that are written out, rows first, with their sizes.
        ranges: The size of each index symbol, and of what each tensor of positions names.
        sizes: The large sizes that are symbols, with their values.
        of: What it is.
        first: The first variable of a Hessian block.
        element: y[rows], where that was differentiated once.
        called: What the large sizes are called that have names, such as n - 1.
    """

    variable: str
    rows: tuple[sympy.Symbol, ...]
    columns: tuple[sympy.Symbol, ...]
    cases: Cases
    written: tuple[Axis, ...]
    ranges: Ranges
    sizes: Mapping[sympy.Symbol, int]
    of: DerivativeKind = "jacobian"
    first: str = ""
    element: Expr | None = None
    called: Mapping[sympy.Symbol, Expr] = field(default_factory=dict)

    def entry_formula(self, row: Sequence[int], column: Sequence[int]) -> tuple[Expr, dict[sympy.Symbol, int]]:
        """Return the expression of entry (row, column), and the integer of each index in it."""
        values = dict(zip((*self.rows, *self.columns), (*row, *column), strict=True))
        return self.cases[self.case_of(row, column)][1], values

    def case_of(self, row: Sequence[int], column: Sequence[int]) -> int:
        """Return the number of the case that entry (row, column) is in."""
        if not self.written:
            return 0
        values = dict(zip((*self.rows, *self.columns), (*row, *column), strict=True))
        return next(k for k, (case, _) in enumerate(self.cases) if all(values[s] == n for s, n in case.items()))


class OutputElement:
    """One element of a Program's output, written once for the derivatives by all variables.

    Args:
        program: In primitives.
        shapes: Of every symbol; sizes above `entry.LARGE` enter as symbols only.
    """

    def __init__(self, program: Program, shapes: Mapping[Atom, Shape]) -> None:
        self.program, self.shapes = program, shapes

    @cached_property
    def output_entries(self) -> tuple[Entries, tuple[sympy.Symbol, ...], Expr]:
        """Return the elements of the lines, the index of y, and y at this index."""
        entries = Entries(self.program, self.shapes)
        rows = entries.indices("i", self.shapes.get(self.program.output, ()))
        return entries, rows, element_of(entries, rows)

    def differentiated(self, variable: sympy.Symbol) -> Derivative:
        """Differentiate by one variable; see `differentiate`.

        The next question about the same lines and shapes, such as that of another point, has the same formula.
        """
        set_step("deriving the formula")
        lines = self.program.lines
        is_kept = len(lines) <= MOST_KEPT_LINES and all(line.call.op.name != MEASURED for line in lines)
        if not is_kept:
            return self.derived(variable)
        if self.program.is_shared:
            sizes = tuple(self.shapes[one] for one in self.program.variables)
            return _differentiated_once(self.program, sizes, variable)
        return _differentiated(_Structure(self), variable)

    def derived(self, variable: sympy.Symbol) -> Derivative:
        """Differentiate by one variable, whatever is known."""
        written, rows, element = self.output_entries
        entries, x = written.copy(), self.shapes[variable]
        columns = entries.indices("j", x)
        target = target_of(variable, columns)
        if length_of_slope(element, target) > MAX_SLOPE:
            raise NoFormulaError(f"it would have more than {MAX_SLOPE:,} terms and factors")
        shape = self.shapes.get(self.program.output, ())
        cases, parts = in_parts(element, rows, shape, lambda part: collapsed(part.diff(target), entries.ranges))
        found = Derivative(str(variable), rows, columns, cases, parts, entries.ranges, {}, element=element)
        return finished(found, x, entries)


class _Structure:
    """The lines of an element of y and their shapes: equal where these are the same but for the symbols of lines.

    Args:
        element: The element, which knows its derivatives.
    """

    def __init__(self, element: OutputElement) -> None:
        self.element, program, shapes = element, element.program, element.shapes
        numbers = {line.symbol: n for n, line in enumerate(program.lines)}

        def place(atom: Atom) -> tuple[int, Atom | None, Shape]:
            return numbers.get(atom, -1), None if atom in numbers else atom, shapes.get(atom, ())

        def of_line(line: Line) -> tuple[Hashable, ...]:
            call = line.call  # by its text too: 1 and 1.0 are equal constants, and formulas with them are not
            return call.op.name, tuple(map(place, call.operands)), call.statics, repr(call.statics), place(line.symbol)

        self._key = tuple(map(of_line, program.lines)), tuple(map(place, program.variables)), place(program.output)
        self._hash = hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Structure) and self._key == other._key

    def __hash__(self) -> int:
        return self._hash


@lru_cache(maxsize=64)
def _differentiated_once(program: Program, sizes: tuple[Shape, ...], variable: sympy.Symbol) -> Derivative:
    """Differentiate a Program; one with other symbols for the same lines is known too."""
    shapes = infer(program, dict(zip(program.variables, sizes, strict=True)), bounded=False)
    return _differentiated(_Structure(OutputElement(program, shapes)), variable)


@lru_cache(maxsize=64)
def _differentiated(structure: _Structure, variable: sympy.Symbol) -> Derivative:
    return structure.element.derived(variable)


def differentiate(program: Program, shapes: Mapping[Atom, Shape], variable: sympy.Symbol) -> Derivative:
    """Derive the closed form of the derivative of the Program's output by one variable.

    Args:
        program: In primitives.
        shapes: As of `OutputElement`.
        variable: One of the Program's variables.

    Raises:
        NoFormulaError: there is none, or it would be too long.
    """
    return OutputElement(program, shapes).derived(variable)


def target_of(variable: sympy.Symbol, index: Sequence[sympy.Symbol]) -> Expr:
    """Return the element of a variable to differentiate by."""
    return sympy.IndexedBase(str(variable), real=True)[tuple(index)] if index else variable


def length_of_slope(element: Expr, target: Expr) -> int:
    """Estimate how many terms and factors a derivative has as the product rule writes it.

    Args:
        element: What is differentiated.
        target: An element of a variable; the element may have others of that.

    >>> x = sympy.Symbol("x")
    >>> length_of_slope(x**2*sympy.exp(x), x), length_of_slope(x + 1, x)
    (12, 0)
    """
    x = target.base if isinstance(target, sympy.Indexed) else target
    products = (part for part in sympy.preorder_traversal(element) if isinstance(part, sympy.Mul) and part.has(x))
    return sum(len(list(sympy.preorder_traversal(one))) * sum(f.has(x) for f in one.args) for one in products)


def element_of(entries: Entries, index: Sequence[Expr]) -> Expr:
    """Return the element of y at this index.

    Raises:
        NoFormulaError: There is none, or it would be too long.
    """
    with refusals():
        element = entries.entry(entries.program.output, tuple(index))
    if element.has(sympy.nan, sympy.zoo):
        raise NoFormulaError(
            "in index notation it is not known to have a value: it takes nan, divides by 0, or is a mean of nothing"
        )
    return element


def in_parts(
    element: Expr, rows: Sequence[sympy.Symbol], shape: Shape, differentiated: Callable[[Expr], Expr]
) -> tuple[Cases, tuple[Axis, ...]]:
    """Differentiate an element; part by part where its index chooses among the parts of a list.

    Raises:
        NoFormulaError: There are too many parts, or SymPy gives up.
    """
    chosen_by = {symbol for condition in element.atoms(sympy.Eq) for symbol in condition.free_symbols}
    written = tuple((symbol, size) for symbol, size in zip(rows, shape, strict=True) if symbol in chosen_by)
    if (count := _count(written)) > MAX_WRITTEN_OUT:
        raise NoFormulaError(f"a list of {count:,} different parts is longer than {MAX_WRITTEN_OUT} formulas")
    with refusals():
        return tuple((chosen, differentiated(element.xreplace(chosen))) for chosen in _choices(written)), written


def finished(found: Derivative, columns: Shape, entries: Entries, rows: Shape = ()) -> Derivative:
    """Complete a formula with its sizes, and write it out over the columns and rows whose elements it singles out.

    Raises:
        NoFormulaError: It has a number that nobody would read.
    """
    if any(has_long_number(expression) for _, expression in found.cases):
        raise NoFormulaError("it has a constant that is too long to write")
    every = sympy.Tuple(*(expression for _, expression in found.cases))
    if every.has(sympy.nan, sympy.zoo):  # 0**x*log(0)
        raise NoFormulaError("a constant in it has no value")
    if every.has(sympy_functions.unknown):
        raise NoFormulaError("a function in it has no derivative by one of its operands here")
    axes = [*zip(found.rows, rows, strict=False), *zip(found.columns, columns, strict=True)]
    deltas = [delta.args for _, e in found.cases for delta in e.atoms(KroneckerDelta)]  # x[0] has delta(0, j)
    constant = [(s, n) for s, n in axes if any(s in args and any(a.is_Integer for a in args) for args in deltas)]
    cases, written = found.cases, found.written
    if not written and len(choices := every.atoms(sympy.Piecewise)) >= MANY_CASES:
        constant = _choosing(choices, [(s, entries.ranges.get(s)) for s in (*found.rows, *found.columns)]) or constant
    # Written out, the delta(0, j) of x[0] become 0 and 1; of many columns the index notation is the shorter form.
    if constant and _count([*written, *constant]) <= MAX_WRITTEN_OUT:
        cases = tuple(({**c, **d}, e.xreplace(d)) for c, e in cases for d in _choices(constant))
        written = (*written, *constant)
    return replace(found, cases=cases, written=written, sizes={s: size for size, s in entries.sizes.symbols.items()})


def _choosing(choices: Iterable[Expr], axes: Sequence[tuple[sympy.Symbol, Expr | None]]) -> list[Axis]:
    """Return the indices of all entries, if they are few and numbers decide in them, as in a cross product."""
    known = [(symbol, int(size)) for symbol, size in axes if isinstance(size, int | Integer)]
    is_short = len(known) == len(axes) and 1 < _count(known) <= MAX_CASES_WRITTEN_OUT
    pairs = ((c, s, n) for one in choices for c in one.atoms(Relational) for s, n in known if c.free_symbols == {s})
    many = sum(len({c.subs(s, k) for k in range(n)}) > 1 for c, s, n in pairs) if is_short else 0
    return known if many >= MANY_CASES else []


def collapsed(derivative: Expr, ranges: Ranges) -> Expr:
    """Collapse the deltas of a finished derivative, as it is shown."""
    derivative = condensed(tidied(assemble(linear(derivative, ranges))))
    if derivative.has(sympy.Float):
        derivative = with_tidy_decimals(derivative)
    has_power = any(not power.exp.is_number for power in derivative.atoms(sympy.Pow))
    # x**n*n/x is n*x**(n - 1); without a symbolic exponent there is nothing to join, and `powsimp` is slow.
    return sympy.powsimp(derivative) if has_power else derivative


@contextmanager
def refusals() -> Iterator[None]:
    """Turn the errors that SymPy raises into a NoFormulaError with the reason."""
    try:
        yield
    except RecursionError:
        raise NoFormulaError("the expression is nested too deeply for SymPy") from None
    except OverflowError:
        raise NoFormulaError("a constant in it is too large for SymPy") from None
    except (TypeError, ValueError) as error:
        # "Invalid comparison of non-real zoo", "erfinv(x) is defined only for -1 <= x <= 1": a constant out of a domain
        reason = "" if "zoo" in str(error) else f": {error}"
        raise NoFormulaError(f"a constant in it is not real{reason}") from None


def _choices(written: Sequence[Axis]) -> Iterator[dict[sympy.Symbol, Integer]]:
    symbols = [symbol for symbol, _ in written]
    for point in itertools.product(*(range(size) for _, size in written)):
        may_end()
        yield {symbol: Integer(n) for symbol, n in zip(symbols, point, strict=True)}


def _count(written: Iterable[Axis]) -> int:
    return math.prod(size for _, size in written)


Shapes = Mapping[Atom, Shape]


def direction_names(program: Program, moved: Sequence[str]) -> dict[str, str]:
    """Name the direction of each variable that moves: u, or u_x and u_z, with a _ after a name that is already used.

    >>> from gradcli.language.parsing import parse
    >>> direction_names(parse("u*x"), ["x"]), direction_names(parse("x*z"), ["x", "z"])
    ({'x': 'u_x'}, {'x': 'u_x', 'z': 'u_z'})
    """
    taken = {*program.names, *program.assigned}
    if len(moved) == 1 and "u" not in taken:
        return {moved[0]: "u"}
    names: dict[str, str] = {}
    for name in moved:
        names[name] = _free(f"u_{name}", taken | {*names.values()})
    return names


def _free(name: str, taken: Set[str]) -> str:
    return name if name not in taken else _free(f"{name}_", taken)


def weight_name(program: Program) -> str:
    """Name the gradient vector in formulas: v, with a _ after it if the name is already used.

    >>> from gradcli.language.parsing import parse
    >>> weight_name(parse("v*x"))
    'v_'
    """
    return _free("v", {*program.names, *program.assigned})


def jvp(program: Program, shapes: Shapes, directions: Mapping[str, str]) -> Derivative:
    """Derive the closed form of Ju.

    Args:
        program: In primitives.
        shapes: Of every symbol.
        directions: What the direction of each variable that moves is called.

    Raises:
        NoFormulaError: There is none, or it would be too long.
    """
    entries, rows, element = OutputElement(program, shapes).output_entries
    shape = shapes.get(program.output, ())
    cases, parts = in_parts(
        element, rows, shape, lambda part: collapsed(_along(part, directions, shapes), entries.ranges)
    )
    return finished(Derivative("", rows, (), cases, parts, entries.ranges, {}, "jvp"), (), entries)


def hessian(program: Program, shapes: Shapes, x: sympy.Symbol, z: sympy.Symbol) -> Derivative:
    """Derive the closed form of the Hessian block ∂²y/∂x∂z of a y of one element.

    Args:
        program: In primitives.
        shapes: Of every symbol.
        x: One of the Program's variables, by whose index the rows go.
        z: Another or the same, of the columns.

    Raises:
        NoFormulaError: There is none, or it would be too long.
    """
    entries = Entries(program, shapes)
    rows = entries.indices("i", shapes[x])
    found = _twice(entries, z, lambda y: assemble(linear(y.diff(target_of(x, rows)), entries.ranges)))
    return finished(replace(found, rows=rows, of="hessian", first=str(x)), shapes[z], entries, shapes[x])


def transposed(block: Derivative) -> Derivative:
    """Return the block ∂²y/∂z∂x from ∂²y/∂x∂z, as second derivatives do not depend on the order."""
    # What were columns are rows now, and rows come first: the cases are put in that order too.
    written = tuple(sorted(block.written, key=lambda axis: axis[0] in block.rows))
    cases = tuple(sorted(block.cases, key=lambda case: [int(case[0][symbol]) for symbol, _ in written]))
    turned = replace(block, variable=block.first, first=block.variable, rows=block.columns, columns=block.rows)
    return replace(turned, cases=cases, written=written)


def hvp(program: Program, shapes: Shapes, directions: Mapping[str, str], variable: sympy.Symbol) -> Derivative:
    """Derive the closed form of Hu by one variable, for a y of one element.

    Args:
        program: In primitives.
        shapes: Of every symbol.
        directions: What the direction of each variable that moves is called.
        variable: One of the Program's variables.

    Raises:
        NoFormulaError: There is none, or it would be too long.
    """
    entries = Entries(program, shapes)
    return finished(_twice(entries, variable, lambda y: _along(y, directions, shapes)), shapes[variable], entries)


def _along(element: Expr, directions: Mapping[str, str], shapes: Shapes) -> Expr:
    """Take the Gateaux derivative of an element: its variables move by e times their directions, at e = 0."""
    e = sympy.Dummy("e", real=True)
    named = {sympy.Symbol(x, real=True): sympy.Symbol(u, real=True) for x, u in directions.items()}
    moved = {x: x + e * named[x] for x in named if not shapes[x]}
    elements = (x for x in element.atoms(sympy.Indexed) if x.base.label in named)
    moved |= {x: x + e * target_of(named[x.base.label], x.indices) for x in elements}
    slope = _in_own_heads(element).xreplace(moved).diff(e).xreplace({e: sympy.S.Zero})
    return slope.replace(Total, _with_its_number_before) if slope.has(Total) else slope


def _with_its_number_before(body: Expr, *limits: Expr) -> Expr:
    """Write a sum of 2*u[k]*x[k] as twice the sum of u[k]*x[k]."""
    number, rest = body.as_coeff_Mul()
    return number * Total(rest, *limits)


def _twice(entries: Entries, variable: sympy.Symbol, slope_of: Callable[[Expr], Expr]) -> Derivative:
    """Differentiate a derivative of the only element of y, whose sums have their own bound indices, by a variable.

    Raises:
        NoFormulaError: One of them is longer than `FORMULA_NODES`; or it is of sinc, whose cases have no slope at 0.
    """
    columns = entries.indices("j", entries.shapes[variable])
    element = element_of(entries, [sympy.S.Zero for _ in entries.shapes.get(entries.program.output, ())])
    with refusals():
        slope = slope_of(_in_own_heads(element))
        if slope.has(sympy_functions.sinc):
            raise NoFormulaError("the second derivative of sinc has no closed form that holds at 0")
        _require_short(slope)
        found = collapsed(_in_own_heads(slope).diff(target_of(variable, columns)), entries.ranges)
        _require_short(found)
    return Derivative(str(variable), (), columns, (({}, found),), (), entries.ranges, {}, "hvp")


def _require_short(expression: Expr) -> None:
    """Refuse an expression beyond `FORMULA_NODES`: a second derivative of n factors has n*n terms of n factors."""
    if any(True for _ in itertools.islice(sympy.preorder_traversal(expression), FORMULA_NODES, None)):
        raise NoFormulaError(f"it would have more than {FORMULA_NODES:,} terms and factors")


def _in_own_heads(expression: Expr) -> Expr:
    """Write Abs as our own: SymPy makes Abs of sqrt(x**2), and differentiates its sign to a DiracDelta."""
    for foreign, own in ((sympy.Abs, sympy_functions.abs), (sympy.sign, sympy_functions.sign)):
        if expression.has(foreign):
            expression = expression.replace(foreign, own)
    return expression


Structure = Literal["", "diagonal", "zero"]


@lru_cache(maxsize=256)
def structure_of(derivative: Derivative, y: Shape, x: Shape) -> Structure:
    """Read the structure of a block of a Jacobian or a Hessian off its formula; empty if none is known.

    Args:
        derivative: The formula.
        y: The shape of the rows.
        x: The shape of the columns; of two scalars there is nothing to say.

    >>> import sympy
    >>> from gradcli.language.parsing import parse
    >>> from gradcli.language.program.expansion import in_primitives
    >>> from gradcli.language.program.shapes import infer
    >>> from gradcli.symbolic.derivative import differentiate
    >>> x = sympy.Symbol("x", real=True)
    >>> program = in_primitives(parse("x**2"))
    >>> structure_of(differentiate(program, infer(program, {x: (5,)}), x), (5,), (5,))
    'diagonal'
    """
    if not y and not x:
        return ""
    if all(expression == 0 for _, expression in derivative.cases):
        return "zero"
    if not x or x != y or derivative.written:
        return ""
    pairs = {KroneckerDelta(i, j) for i, j in zip(derivative.rows, derivative.columns, strict=True)}
    ((_, expression),) = derivative.cases
    return "diagonal" if all(pairs <= deltas for deltas in linear(expression, derivative.ranges)) else ""

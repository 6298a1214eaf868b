"""Formulas as Python: index notation as `x[i]`, sums as `sum(... for k in range(n))`, cases as `a if c else b`.

What does not depend on the indices of the entry, such as the sum of a softmax or the inverse of a matrix, gets a name
and is computed once.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import chain, count

import sympy
from sympy import Expr

from gradcli.codegen.script import Names
from gradcli.codegen.self_writing import Expression, Written, constant
from gradcli.language import ops
from gradcli.language.program import meaning
from gradcli.language.program.library_calls import of_numbers
from gradcli.language.text.tokens import COMPARISON
from gradcli.symbolic.derivative import Derivative
from gradcli.symbolic.printing import without_sure_conditions
from gradcli.symbolic.printing.arranging import is_negative, product, terms

CHOICE, _NOT = 0, 3
"""How tightly `a if c else b` and `not` bind."""

NUMPY, MATH, SPECIAL = Expression("np"), Expression("math"), Expression("special")
"""What writes the calls of NumPy, of Python's `math` and of `scipy.special` down."""


@dataclass
class Formulas:
    """From formulas to Python.

    Attributes:
        names: Where names come from.
        variables: What the script calls each variable, and each constant tensor of the formulas.
        before: Statements that compute what all entries share, in order.
    """

    names: Names
    variables: Mapping[str, str]
    before: list[tuple[str, Written]] = field(default_factory=list)
    _shared: dict[Expr, Expression] = field(default_factory=dict)

    def block(self, derivative: Derivative) -> str:
        """The Jacobian block of a variable as nested lists and comprehensions: its rows, then its columns."""
        letters = self._letters()
        if all(row in dict(derivative.written) for row in derivative.rows):
            next(letters)  # i stands for y's index even where y has none
        indices = (*derivative.rows, *derivative.columns)
        written = dict(derivative.written)
        named = {s: sympy.Symbol(next(letters), integer=True) for s in indices if s not in written}
        printer = _Printer(self, derivative, named, letters)
        return self._nested(derivative, indices, {}, printer)

    def _letters(self) -> Iterator[str]:
        """Index letters that no other name of the script is."""
        return filter(self.names.is_free, chain("ijklmnpqrstuvw", (f"i{n}" for n in count(1))))

    def _nested(
        self,
        derivative: Derivative,
        indices: Sequence[sympy.Symbol],
        chosen: Mapping[sympy.Symbol, sympy.Integer],
        printer: _Printer,
    ) -> str:
        if not indices:
            for case, expression in derivative.cases:
                if all(case[symbol] == chosen[symbol] for symbol in case):
                    return printer.entry(expression).text
            raise IndexError(f"no case {chosen}")
        first, *rest = indices
        sizes = dict(derivative.written)
        if first in sizes:
            parts = [
                self._nested(derivative, rest, {**chosen, first: sympy.Integer(n)}, printer)
                for n in range(sizes[first])
            ]
            return f"[{', '.join(parts)}]"
        body = self._nested(derivative, rest, chosen, printer)
        return f"[{body} for {printer.index(first)} in range({printer.size(derivative.ranges[first])})]"

    def shared(self, key: Expr, name: str, value: Written) -> Expression:
        """The name of a value that is computed once, before the entries."""
        if key not in self._shared:
            self._shared[key] = Expression(self.names.take(name))
            self.before.append((self._shared[key].text, value))
        return self._shared[key]


class _Printer:
    """Writes the entries of one derivative as Python over indices."""

    def __init__(
        self,
        formulas: Formulas,
        derivative: Derivative,
        named: Mapping[sympy.Symbol, sympy.Symbol],
        letters: Iterator[str],
    ) -> None:
        self.formulas, self.derivative = formulas, derivative
        self.sizes = {symbol: sympy.Integer(size) for symbol, size in derivative.sizes.items()}
        self.named: dict[Expr, Expr] = dict(named)
        self.letters = letters

    def index(self, symbol: sympy.Symbol) -> str:
        """The letter of an index, a fresh one at its first use."""
        if symbol not in self.named:
            self.named[symbol] = sympy.Symbol(next(self.letters), integer=True)
        return str(self.named[symbol])

    def size(self, size: Expr) -> str:
        """The number that a symbolic size is at these shapes."""
        return str(size.xreplace(self.sizes))

    def entry(self, expression: Expr) -> Written:
        """The Python of one entry of the Jacobian, without conditions that hold for certain."""
        return self.written(without_sure_conditions(expression.xreplace(self.sizes), self.derivative))

    def written(self, e: Expr) -> Written:
        """The Python of a SymPy expression, with NumPy and SciPy for its functions."""
        match e:
            case sympy.Rational() | sympy.Float() | sympy.NumberSymbol() | sympy.core.numbers.Infinity():
                return constant(e, "np")
            case sympy.core.numbers.NegativeInfinity() | sympy.core.numbers.NaN():
                return constant(e, "np")
            case sympy.Add():
                return self._sum(e)
            case sympy.Mul():
                return self._product(e)
            case sympy.Pow():
                return self._power(e)
            case sympy.exp():
                return NUMPY.exp(self.written(e.args[0]))
            case sympy.Indexed():
                array = Expression(self.formulas.variables[str(e.base.label)])
                return array[tuple(map(self.written, e.indices))]
            case sympy.KroneckerDelta():
                return Expression(f"({self._relation('==', *e.args)})")
            case sympy.Sum():
                return self._once(e, "total", Expression("sum")(self._term(e.function, e.limits)))
            case meaning.Aggregate():
                return self._aggregate(e)
            case meaning.Chosen():
                return Expression("float")(self._relation("==", e.value, e.extreme))
            case meaning.quotient():
                return self._relation("//", *e.args)
            case meaning.where() | sympy.Piecewise():
                return self._choice(e)
            case meaning.Comparison():
                return Expression("float")(self._relation(e.sign, *e.args))
            case sympy.Symbol():
                is_index = e in self.derivative.ranges or isinstance(e, sympy.Dummy)
                return Expression(self.index(e) if is_index else self.formulas.variables[str(e)])
            case sympy.Function():
                return self._function(e)
        raise NotImplementedError(f"no Python for {type(e).__name__}")

    def _relation(self, sign: str, left: Expr, right: Expr) -> Expression:
        return self.written(left).joined(sign, self.written(right))

    # -- arithmetic

    def _sum(self, e: Expr) -> Written:
        first, *rest = terms(e.as_ordered_terms())
        total = self.written(first)
        for term in rest:
            total = total - self.written(-term) if is_negative(term) else total + self.written(term)
        return total

    def _product(self, e: Expr) -> Written:
        """In the order of the formula above it."""
        parts = product(e)
        above, behind = (parts.above, parts.deltas) if parts.below else ((*parts.above, *parts.deltas), ())
        first, *rest = map(self.written, above or (sympy.S.One,))
        value = reduce(operator.mul, rest, -first if parts.is_negative else first)
        if parts.below:
            value = value / reduce(operator.mul, map(self.written, parts.below))
        return reduce(operator.mul, map(self.written, behind), value)

    def _power(self, e: Expr) -> Written:
        base, exponent = e.args
        if base == sympy.E:
            return NUMPY.exp(self.written(exponent))
        if exponent.is_number and exponent.is_negative:
            return self._product(e)
        if exponent == sympy.Rational(1, 2):
            return NUMPY.sqrt(self.written(base))
        return self.written(base) ** self.written(exponent)

    # -- functions

    def _function(self, e: Expr) -> Written:
        name, first = type(e).__name__, e.args[0]
        arguments = [self.written(a) for a in e.args]
        match name:
            case "detach":
                return arguments[0]
            case "polygamma" if first == 0:
                name, arguments = "digamma", arguments[1:]
            case "besseli" if first in (0, 1):
                name, arguments = f"i{first}", arguments[1:]
            case "besseli":
                return SPECIAL.iv(*arguments)
        row = ops.find(name)
        function = getattr(NUMPY, name) if row is None else of_numbers(row.name, NUMPY, SPECIAL, MATH)
        return function(*arguments)  # type: ignore[no-any-return]

    # -- cases

    def _choice(self, e: Expr) -> Written:
        """`a if c else b`; what no case holds for is 0 and does not occur."""
        if isinstance(e, meaning.where):
            condition, a, b = e.args
            return _if(self.condition(condition), self.written(a), self.written(b))
        *cases, (last, _) = e.args
        result = self.written(last)
        for value, condition in reversed(cases):
            result = _if(self.condition(condition), self.written(value), result)
        return result

    def condition(self, e: Expr) -> Expression:
        """The Python of a condition; a number is true where it is not 0."""
        match e:
            case meaning.Comparison():
                return self._relation(e.sign, *e.args)
            case meaning.where(args=(a, b, sympy.S.Zero)):
                return self.condition(a).joined("and", self.condition(b))
            case meaning.where(args=(a, sympy.S.One, b)):
                return self.condition(a).joined("or", self.condition(b))
            case meaning.where(args=(a, sympy.S.Zero, sympy.S.One)):
                return Expression(f"not {self.condition(a).at(COMPARISON)}", _NOT)
            case sympy.And() | sympy.Or():
                conditions = [self.condition(a) for a in sorted(e.args, key=sympy.default_sort_key)]
                sign = "and" if isinstance(e, sympy.And) else "or"
                return reduce(lambda left, right: left.joined(sign, right), conditions)
            case sympy.core.relational.Relational():
                return self._relation(e.rel_op, e.lhs, e.rhs)
            case sympy.Integer():
                return Expression(str(e != 0))
            case sympy.logic.boolalg.BooleanTrue() | sympy.logic.boolalg.BooleanFalse():
                return Expression(str(bool(e)))
        return self._relation("!=", e, sympy.S.Zero)

    # -- over indices

    def _term(self, body: Expr, limits: Sequence[tuple[Expr, Expr, Expr]]) -> Expression:
        loops = [f"for {self.index(k)} in range({self._range(first, last)})" for k, first, last in reversed(limits)]
        return Expression(" ".join([self.written(body).text, *loops]))

    def _range(self, first: Expr, last: Expr) -> str:
        end = self.written(last + 1).text
        return end if first == 0 else f"{self.written(first)}, {end}"

    def _once(self, e: Expr, name: str, value: Written) -> Written:
        """What has no index of the entry is computed before it."""
        is_free = any(s in self.derivative.ranges or isinstance(s, sympy.Dummy) for s in e.free_symbols)
        return value if is_free else self.formulas.shared(e, name, value)

    def _aggregate(self, e: meaning.Aggregate) -> Written:
        match e:
            case meaning.Multiplied():
                return self._once(e, "product", MATH.prod(self._term(e.body, e.limits)))
            case meaning.Largest():
                return self._once(e, "largest", Expression("max")(self._term(e.body, e.limits)))
            case meaning.Smallest():
                return self._once(e, "smallest", Expression("min")(self._term(e.body, e.limits)))
        (p, _, last), (q, _, end) = e.limits
        if isinstance(e.body, sympy.Indexed) and e.body.indices == (p, q):
            # The matrix of a variable as it is: copying it element by element would hide what is inverted.
            matrix = Expression(self.formulas.variables[str(e.body.base.label)])
        else:
            rows = f"[{self.written(e.body)} for {self.index(q)} in range({self._range(sympy.S.Zero, end)})]"
            matrix = NUMPY.array(
                Expression(f"[{rows} for {self.index(p)} in range({self._range(sympy.S.Zero, last)})]")
            )
        if isinstance(e, meaning.MatrixDeterminant):
            return self._once(e, "determinant", NUMPY.linalg.det(matrix))
        # Shared by the matrix and not by the element: one inverse serves all entries.
        whole = meaning.InverseElement(e.body, e.limits, ())
        inverse = self._once(whole, "inverse", NUMPY.linalg.inv(matrix))
        return inverse[tuple(map(self.written, e.free))]


def _if(condition: Written, a: Written, b: Written) -> Expression:
    return Expression(f"{a.at(CHOICE + 1)} if {condition} else {b}", CHOICE)

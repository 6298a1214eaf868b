"""Formulas as Python: index notation as `x[i]`, sums as `sum(... for k in range(n))`, cases as `a if c else b`.

What does not depend on the indices of the entry, such as the sum of a softmax or the inverse of a matrix, gets a name
and is computed once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import sympy
from sympy import Expr

from gradcli.codegen.expressions import Piece, called, constant, joined, negated
from gradcli.codegen.identifiers import Names
from gradcli.codegen.numpy_spelling import MATH, SPECIAL
from gradcli.language.operators import BINARY, COMPARISON
from gradcli.language.program.indexed_functions import (
    Aggregate,
    Chosen,
    InverseElement,
    Largest,
    MatrixDeterminant,
    Multiplied,
    Smallest,
    quotient,
)
from gradcli.language.program.meaning import Comparison, where
from gradcli.symbolic.derivative import Derivative
from gradcli.symbolic.printing import without_sure_conditions

CHOICE = 0
"""How tightly `a if c else b` binds."""

_FUNCTIONS: Mapping[str, str] = {
    "asin": "np.arcsin",
    "acos": "np.arccos",
    "atan": "np.arctan",
    "atan2": "np.arctan2",
    "asinh": "np.arcsinh",
    "acosh": "np.arccosh",
    "atanh": "np.arctanh",
    "Abs": "np.abs",
    "abs": "np.abs",
    "sign": "np.sign",
    "ceil": "np.ceil",
    "round": "np.round",
    "maximum": "np.maximum",
    "minimum": "np.minimum",
    "erf": "math.erf",
    "erfc": "math.erfc",
    "lgamma": "special.gammaln",
    "erfinv": "special.erfinv",
}
"""Functions of formulas that NumPy calls something else, or has not."""

_TIMES = BINARY["*"][0]


@dataclass
class Formulas:
    """From formulas to Python.

    Attributes:
        names: Where names come from.
        variables: What the script calls each variable, and each constant tensor of the formulas.
        imports: What the formulas need; filled on the way.
        before: Statements that compute what all entries share, in order.
    """

    names: Names
    variables: Mapping[str, str]
    imports: set[str] = field(default_factory=set)
    before: list[tuple[str, str]] = field(default_factory=list)
    _shared: dict[Expr, Piece] = field(default_factory=dict)

    def block(self, derivative: Derivative) -> str:
        """The Jacobian block of a variable as nested lists and comprehensions: its rows, then its columns."""
        letters = iter(self._letters())
        if all(row in dict(derivative.written) for row in derivative.rows):
            next(letters)  # i stands for y's index even where y has none
        indices = (*derivative.rows, *derivative.columns)
        written = dict(derivative.written)
        named = {s: sympy.Symbol(next(letters), integer=True) for s in indices if s not in written}
        printer = _Printer(self, derivative, named, letters)
        return self._nested(derivative, indices, {}, printer)

    def _letters(self) -> Iterator[str]:
        """Index letters that no other name of the script is."""
        for letter in "ijklmnpqrstuvw":
            if self.names.is_free(letter):
                yield letter
        number = 1
        while True:
            if self.names.is_free(f"i{number}"):
                yield f"i{number}"
            number += 1

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

    def shared(self, key: Expr, name: str, text: str) -> Piece:
        """A name for what is computed once."""
        if key not in self._shared:
            piece = Piece(self.names.take(name))
            self.before.append((piece.text, text))
            self._shared[key] = piece
        return self._shared[key]


class _Printer:
    """Entries of one derivative."""

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
        """The letter of an index."""
        if symbol not in self.named:
            self.named[symbol] = sympy.Symbol(next(self.letters), integer=True)
        return str(self.named[symbol])

    def size(self, size: Expr) -> str:
        """A size as a number."""
        return str(size.xreplace(self.sizes))

    def entry(self, expression: Expr) -> Piece:
        """One entry of the Jacobian."""
        return self.piece(without_sure_conditions(expression.xreplace(self.sizes), self.derivative))

    def piece(self, e: Expr) -> Piece:
        """An expression."""
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
                return called("np.exp", self.piece(e.args[0]).text)
            case sympy.Indexed():
                index = ", ".join(self.piece(i).text for i in e.indices)
                return Piece(f"{self.formulas.variables[str(e.base.label)]}[{index}]")
            case sympy.KroneckerDelta():
                return Piece(f"({self._relation('==', *e.args)})")
            case sympy.Sum():
                return self._once(e, "total", f"sum({self._term(e.function, e.limits)})")
            case Aggregate():
                return self._aggregate(e)
            case Chosen():
                return called("float", joined("==", self.piece(e.value), self.piece(e.extreme)).text)
            case quotient():
                return joined("//", *map(self.piece, e.args))
            case where() | sympy.Piecewise():
                return self._choice(e)
            case Comparison():
                return called("float", self._relation(e.sign, *e.args))
            case sympy.Symbol():
                return Piece(self._symbol(e))
            case sympy.Function():
                return self._function(e)
        raise NotImplementedError(f"no Python for {type(e).__name__}")

    def _symbol(self, symbol: sympy.Symbol) -> str:
        is_index = symbol in self.derivative.ranges or isinstance(symbol, sympy.Dummy)
        return self.index(symbol) if is_index else self.formulas.variables[str(symbol)]

    def _relation(self, sign: str, *sides: Expr) -> str:
        return joined(sign, *map(self.piece, sides)).text

    # -- arithmetic

    def _sum(self, e: Expr) -> Piece:
        terms = sorted(e.as_ordered_terms(), key=lambda term: term.could_extract_minus_sign())
        total = self.piece(terms[0])
        for term in terms[1:]:
            is_less = term.could_extract_minus_sign()
            total = joined("-" if is_less else "+", total, self.piece(-term if is_less else term))
        return total

    def _product(self, e: Expr) -> Piece:
        """Deltas come last; what has a negative power goes below the line."""
        coefficient, rest = e.as_coeff_Mul()
        is_negative = coefficient.is_Rational and coefficient < 0
        coefficient = -coefficient if is_negative else coefficient
        factors = rest.as_ordered_factors() if rest.is_Mul else [rest]
        above = [Piece(str(coefficient.p))] if coefficient.is_Rational and coefficient.p != 1 else []
        above += [] if coefficient.is_Rational else [self.piece(coefficient)]
        below = [Piece(str(coefficient.q))] if coefficient.is_Rational and coefficient.q != 1 else []
        deltas = [factor for factor in factors if isinstance(factor, sympy.KroneckerDelta)]
        for factor in (*(f for f in factors if f not in deltas), *deltas):
            exponent = factor.as_base_exp()[1] if isinstance(factor, sympy.Pow) else sympy.S.One
            is_below = exponent.is_Rational and exponent < 0
            (below if is_below else above).append(self.piece(1 / factor if is_below else factor))
        text = above[0] if above else Piece("1")
        text = negated(text) if is_negative else text
        for piece in above[1:]:
            text = joined("*", text, piece)
        if not below:
            return text
        divisor = below[0]
        for piece in below[1:]:
            divisor = joined("*", divisor, piece)
        return joined("/", text, divisor)

    def _power(self, e: Expr) -> Piece:
        base, exponent = e.args
        if base == sympy.E:
            return called("np.exp", self.piece(exponent).text)
        if exponent.is_Rational and exponent < 0:
            return joined("/", Piece("1"), self.piece(base**-exponent))
        if exponent == sympy.Rational(1, 2):
            return called("np.sqrt", self.piece(base).text)
        return joined("**", self.piece(base), self.piece(exponent))

    # -- functions

    def _function(self, e: Expr) -> Piece:
        name = type(e).__name__
        arguments = [self.piece(a) for a in e.args]
        match name:
            case "detach":
                return arguments[0]
            case "polygamma" if e.args[0] == 0:
                return self._called("special.digamma", arguments[1:])
            case "polygamma":
                return self._called("special.polygamma", arguments)
            case "besseli" if e.args[0] in (0, 1):
                return self._called(f"special.i{e.args[0]}", arguments[1:])
            case "besseli":
                return self._called("special.iv", arguments)
        return self._called(_FUNCTIONS.get(name, f"np.{name}"), arguments)

    def _called(self, function: str, arguments: Sequence[Piece]) -> Piece:
        module = function.partition(".")[0]
        self.formulas.imports |= {"math": {MATH}, "special": {SPECIAL}}.get(module, set())
        return called(function, *(a.text for a in arguments))

    # -- cases

    def _choice(self, e: Expr) -> Piece:
        """`a if c else b`; what no case holds for is 0 and does not occur."""
        if isinstance(e, where):
            condition, a, b = e.args
            return _if(self.condition(condition).text, self.piece(a), self.piece(b))
        *cases, (last, _) = e.args
        result = self.piece(last)
        for value, condition in reversed(cases):
            result = _if(self.condition(condition).text, self.piece(value), result)
        return result

    def condition(self, e: Expr) -> Piece:
        """What is true or false."""
        match e:
            case Comparison():
                return Piece(self._relation(e.sign, *e.args), COMPARISON)
            case where(args=(a, b, sympy.S.Zero)):
                return joined("and", self.condition(a), self.condition(b))
            case where(args=(a, sympy.S.One, b)):
                return joined("or", self.condition(a), self.condition(b))
            case where(args=(a, sympy.S.Zero, sympy.S.One)):
                return Piece(f"not {self.condition(a).at(COMPARISON)}", 3)
            case sympy.And() | sympy.Or():
                pieces = [self.condition(a) for a in sorted(e.args, key=sympy.default_sort_key)]
                result = pieces[0]
                for piece in pieces[1:]:
                    result = joined("and" if isinstance(e, sympy.And) else "or", result, piece)
                return result
            case sympy.core.relational.Relational():
                return Piece(self._relation(e.rel_op, e.lhs, e.rhs), COMPARISON)
            case sympy.Integer():
                return Piece(str(e != 0))
            case sympy.logic.boolalg.BooleanTrue() | sympy.logic.boolalg.BooleanFalse():
                return Piece(str(bool(e)))
        return Piece(joined("!=", self.piece(e), Piece("0")).text, COMPARISON)

    # -- over indices

    def _term(self, body: Expr, limits: Sequence[tuple[Expr, Expr, Expr]]) -> str:
        loops = [f"for {self.index(k)} in range({self._range(first, last)})" for k, first, last in reversed(limits)]
        return " ".join([self.piece(body).text, *loops])

    def _range(self, first: Expr, last: Expr) -> str:
        end = self.piece(last + 1).text
        return end if first == 0 else f"{self.piece(first).text}, {end}"

    def _once(self, e: Expr, name: str, text: str) -> Piece:
        """What has no index of the entry is computed before it."""
        is_free = any(s in self.derivative.ranges or isinstance(s, sympy.Dummy) for s in e.free_symbols)
        return Piece(text) if is_free else self.formulas.shared(e, name, text)

    def _aggregate(self, e: Aggregate) -> Piece:
        match e:
            case Multiplied():
                self.formulas.imports.add(MATH)
                return self._once(e, "product", f"math.prod({self._term(e.body, e.limits)})")
            case Largest():
                return self._once(e, "largest", f"max({self._term(e.body, e.limits)})")
            case Smallest():
                return self._once(e, "smallest", f"min({self._term(e.body, e.limits)})")
        (p, _, last), (q, _, end) = e.limits
        if isinstance(e.body, sympy.Indexed) and e.body.indices == (p, q):
            matrix = self.formulas.variables[str(e.body.base.label)]
        else:
            rows = f"[{self.piece(e.body).text} for {self.index(q)} in range({self._range(sympy.S.Zero, end)})]"
            matrix = f"np.array([{rows} for {self.index(p)} in range({self._range(sympy.S.Zero, last)})])"
        if isinstance(e, MatrixDeterminant):
            return self._once(e, "determinant", f"np.linalg.det({matrix})")
        whole = InverseElement(e.body, e.limits, ())
        inverse = self._once(whole, "inverse", f"np.linalg.inv({matrix})")
        return Piece(f"{inverse.text}[{', '.join(self.piece(i).text for i in e.free)}]")


def _if(condition: str, a: Piece, b: Piece) -> Piece:
    return Piece(f"{a.at(CHOICE + 1)} if {condition} else {b.text}", CHOICE)

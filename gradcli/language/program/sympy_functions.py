"""Meanings of the primitives as SymPy expressions: of real scalars, and of whole tensors in index notation.

The symbolic reading composes these, the reference differentiates them one at a time; torch never sees them.  SymPy's
own heads serve where they are right for real numbers; where they are not (`sign` differentiates to a DiracDelta, the
derivative of `floor` cannot be printed, `loggamma` is complex below 0), a function of our own has a rule here.
Conditions are functions too, 1 or 0: SymPy's relations fold conditions inside conditions into forms without a rule.
A function of a whole tensor holds the element it runs over as an expression with bound indices, as a sum does:

    ∂ prod(f)     =  Sum of ∂f[k] * prod(f but for f[k])
    ∂ cumprod(f)  =  Sum of ∂f[k] * prod(f before k) * prod(f after k)
    ∂ amax(f)     =  Sum of ∂f[k] where f[k] is the largest
    ∂ det(F)      =  det(F) * Sum of inv(F)[q, p] * ∂F[p, q]                (Jacobi's formula)
    ∂ inv(F)[i,j] = -Sum of inv(F)[i, p] * ∂F[p, q] * inv(F)[q, j]

SymPy's own `Product` over an `Indexed` is wrong without a warning (its issue 13994), and `Max` has no bound index.
Source: K. B. Petersen, M. S. Pedersen, "The Matrix Cookbook", 2012.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import sympy
from sympy import Expr

from gradcli.language import ops
from gradcli.language.ops import Op
from gradcli.language.parsing import parse
from gradcli.language.program.expansion import definition, in_primitives
from gradcli.language.program.library_calls import OPERATORS
from gradcli.language.program.wengert import Call, Program

Limit = tuple[sympy.Symbol, Expr, Expr]


class quotient(sympy.Function):  # type: ignore[misc]  # noqa: N801
    """Whole part of an index divided by a size: the row of element p of a matrix of n columns is quotient(p, n)."""

    is_integer = is_nonnegative = True

    @classmethod
    def eval(cls, place: Expr, size: Expr) -> Expr | None:  # noqa: D102 (SymPy's name for it)
        return place // size if place.is_Integer and size.is_Integer else None


class Total(sympy.Sum):  # type: ignore[misc]
    """Sum that stays as it was built.

    `sympy.Sum` folds a Piecewise out of the sums inside its body, also where the condition is on a bound index of such
    an inner sum, which leaves that index free and the value wrong (SymPy 1.14).

    >>> k = sympy.Dummy("k", integer=True)
    >>> Total(k**2, (k, 0, 3)).doit()
    14
    """

    def __new__(cls, function: Expr, *limits: Any) -> Expr:
        """Build without folding; a sum of a sum has the limits of both, a sum of 0 is 0."""
        if isinstance(function, int):  # as SymPy's factor_terms passes it
            function = sympy.Integer(function)
        if function == 0:
            return sympy.S.Zero
        tuples = tuple(sympy.Tuple(*limit) for limit in limits)
        if isinstance(function, Total):
            function, tuples = function.function, (*function.limits, *tuples)
        self: Total = Expr.__new__(cls, function, *tuples)
        self.is_commutative = True
        return self


class Aggregate(Expr):  # type: ignore[misc]
    """Expression over bound indices; `args` are the body, the (index, first, last) of each, and free indices."""

    is_real = True
    is_commutative = True

    def __new__(cls, body: Expr, limits: Iterable[Any], free: Iterable[Expr] = ()) -> Aggregate:
        """Build it over these limits; `free` are the indices of the meant element, if the result has several."""
        tuples = sympy.Tuple(*(sympy.Tuple(*limit) for limit in limits))
        self: Aggregate = Expr.__new__(cls, body, tuples, sympy.Tuple(*free))
        return self

    @property
    def body(self) -> Expr:
        """Element that it runs over."""
        return self.args[0]

    @property
    def limits(self) -> tuple[Limit, ...]:
        """Bound indices with their first and last values."""
        return self.args[1].args  # type: ignore[no-any-return]

    @property
    def free(self) -> tuple[Expr, ...]:
        """Indices of the element that is meant."""
        return self.args[2].args  # type: ignore[no-any-return]

    @property
    def bound(self) -> list[sympy.Symbol]:
        """Bound indices."""
        return [k for k, _, _ in self.limits]

    @property
    def free_symbols(self) -> set[sympy.Basic]:
        """All symbols except the bound indices."""
        return self.ranged_symbols.union(*(a.free_symbols for a in self.free))

    @property
    def ranged_symbols(self) -> set[sympy.Basic]:
        """Symbols that the values it runs over depend on, regardless of the element of the result."""
        inside: set[sympy.Basic] = self.body.free_symbols - set(self.bound)
        return inside.union(*(a.free_symbols for _, *ends in self.limits for a in ends))

    def _fresh(self) -> tuple[Expr, tuple[Limit, ...], list[sympy.Symbol]]:
        """Return the body and the limits with new bound indices, for a sum next to this aggregate."""
        new = {k: sympy.Dummy(k.name, integer=True, nonnegative=True) for k in self.bound}
        return self.body.xreplace(new), tuple((new[k], a, b) for k, a, b in self.limits), list(new.values())


class Multiplied(Aggregate):
    """Product of the body over its limits; a product of a product has the limits of both."""

    def __new__(cls, body: Expr, limits: Iterable[object], free: Iterable[Expr] = ()) -> Aggregate:
        """Build it."""
        if type(body) is Multiplied and cls is Multiplied:
            body, limits = body.body, (*body.limits, *limits)
        return super().__new__(cls, body, limits, free)

    def _eval_derivative(self, s: Expr) -> Expr:
        body, limits, index = self._fresh()
        slope = body.diff(s)
        ratio = slope / body
        if sympy.fraction(ratio)[1].is_zero is False:  # no 0 makes it 0/0
            return self * Total(ratio, *limits)
        other, ends, bound = self._fresh()
        *firsts, is_kept = map(ne, bound, index)
        for one in reversed(firsts):
            is_kept = where(one, sympy.S.One, is_kept)
        return Total(slope * Multiplied(where(is_kept, other, sympy.S.One), ends), *limits)


class RunningProduct(Multiplied):
    """Product up to an index: its derivative is by the product over the others, which no 0 makes 0/0."""

    def _eval_derivative(self, s: Expr) -> Expr:
        body, ((_, first, last),), (m,) = self._fresh()
        slope = body.diff(s)
        if slope == 0:
            return sympy.S.Zero
        before, behind = (self._between(*ends) for ends in ((first, m - 1), (m + 1, last)))
        return Total(slope * before * behind, (m, first, last))

    def _between(self, first: Expr, last: Expr) -> RunningProduct:
        body, _, (k,) = self._fresh()
        return RunningProduct(body, [(k, first, last)])


class _Extreme(Aggregate):
    """Largest or smallest value of the body over its limits."""

    def _eval_derivative(self, s: Expr) -> Expr:
        body, limits, bound = self._fresh()
        slope = body.diff(s)
        return sympy.S.Zero if slope == 0 else Total(slope * Chosen(self, *bound), *limits)


class Largest(_Extreme):
    """Largest value of the body over its limits."""


class Smallest(_Extreme):
    """Smallest value of the body over its limits."""


class Chosen(Expr):  # type: ignore[misc]
    """Indicator of the index at which an extreme is taken: 1 there, else 0; at a tie there is a kink."""

    is_real = True
    is_commutative = True

    def __new__(cls, extreme: _Extreme, *index: Expr) -> Chosen:
        """Build it for this index of the extreme's body."""
        self: Chosen = Expr.__new__(cls, extreme, *index)
        return self

    @property
    def extreme(self) -> _Extreme:
        """Largest or smallest value."""
        return self.args[0]  # type: ignore[no-any-return]

    @property
    def index(self) -> tuple[Expr, ...]:
        """Index at which the extreme may be taken."""
        return self.args[1:]  # type: ignore[no-any-return]

    @property
    def value(self) -> Expr:
        """Body at this index."""
        return self.extreme.body.xreplace(dict(zip(self.extreme.bound, self.index, strict=True)))

    def _eval_derivative(self, s: Expr) -> Expr:
        return sympy.S.Zero


class _OfMatrix(Aggregate):
    """Function of the matrix whose element is the body, row and column being the bound indices."""

    def _inverse(self, row: Expr, column: Expr) -> InverseElement:
        return InverseElement(self.body, self.limits, (row, column))


class MatrixDeterminant(_OfMatrix):
    """Determinant of the matrix."""

    def _eval_derivative(self, s: Expr) -> Expr:
        body, limits, (p, q) = self._fresh()
        slope = body.diff(s)
        return sympy.S.Zero if slope == 0 else self * Total(self._inverse(q, p) * slope, *limits)


class InverseElement(_OfMatrix):
    """Element of the inverse at the free indices."""

    def _eval_derivative(self, s: Expr) -> Expr:
        body, limits, (p, q) = self._fresh()
        slope, (i, j) = body.diff(s), self.free
        if slope == 0:
            return sympy.S.Zero
        return -Total(self._inverse(i, p) * slope * self._inverse(q, j), *limits)


class _Real(sympy.Function):  # type: ignore[misc]
    """Real function that stays as written: SymPy would evaluate it at floats by a namesake in mpmath."""

    is_real = True

    @classmethod
    def _should_evalf(cls, arg: Expr) -> int:
        return -1


class StepFunction(_Real):
    """Function that is constant between its jumps."""

    nargs = 1

    def fdiff(self, argindex: int = 1) -> Expr:
        """Return the derivative, which is 0 wherever there is one."""
        return sympy.S.Zero


def _heads(base: type, facts: Mapping[str, Mapping[str, object]]) -> tuple[Any, ...]:
    """Make functions by the names as they are typed, which differ in these facts."""
    return tuple(type(name, (base,), {**given}) for name, given in facts.items())


_STEPS: Mapping[str, Any] = {name: {} for name in ("sign", "floor", "ceil", "trunc", "round", "detach")}
sign, floor, ceil, trunc, round, detach = _heads(StepFunction, _STEPS)  # noqa: A001


class abs(_Real):  # noqa: A001, N801
    """Absolute value |x|, whose derivative is sign(x) and stays so."""

    nargs = 1

    def fdiff(self, argindex: int = 1) -> Expr:
        """Return sign(x); at 0 it jumps."""
        return sign(self.args[0])


class lgamma(_Real):  # noqa: N801
    """Function log|gamma(x)|, real on both sides of 0 (DLMF 5.2)."""

    nargs = 1

    def fdiff(self, argindex: int = 1) -> Expr:
        """Return the digamma function (DLMF 5.2.2)."""
        return polygamma(sympy.S.Zero, self.args[0])


class polygamma(_Real):  # noqa: N801
    """Derivatives of lgamma from the first on; SymPy's own adds up 10**20 fractions at 10**20."""

    nargs = 2

    def fdiff(self, argindex: int = 2) -> Expr:
        """Return the next derivative; there is none by the order."""
        order, x = self.args
        return polygamma(order + 1, x)


class sinc(_Real):  # noqa: N801
    """Function sin(pi*x)/(pi*x), and 1 at 0, as in torch; SymPy's own lacks the pi."""

    nargs = 1

    def fdiff(self, argindex: int = 1) -> Expr:
        """Return (cos(pi*x) - sinc(x))/x, and 0 at 0 by symmetry."""
        x = self.args[0]
        return sympy.Piecewise((0, sympy.Eq(x, 0)), ((sympy.cos(sympy.pi * x) - sinc(x)) / x, True))


class Comparison(StepFunction):
    """Comparison: 1 where a relation of two operands holds, else 0."""

    nargs = 2
    sign: str

    @classmethod
    def eval(cls, a: Expr, b: Expr) -> Expr | None:
        """Return 1 or 0 if both are numbers; (1 or 0 by a condition) == 1 is the condition."""
        if cls.sign == "==" and isinstance(a, where) and b == 1 and a.args[1:] == (1, 0):
            return a.args[0]
        is_known = a.is_Rational and b.is_Rational
        return sympy.Integer(bool(getattr(operator, cls.__name__)(a, b))) if is_known else None


_SIGNS = (">", ">=", "<", "<=", "==", "!=")
gt, ge, lt, le, eq, ne = _heads(Comparison, {ops.SIGNS[sign]: {"sign": sign} for sign in _SIGNS})


class where(_Real):  # noqa: N801
    """Choice: the second operand where the first is 1, the third where it is 0."""

    nargs = 3

    @classmethod
    def eval(cls, condition: Expr, a: Expr, b: Expr) -> Expr | None:
        """Simplify where the condition is known, or both operands are the same."""
        if condition in (sympy.S.One, sympy.S.Zero):
            return a if condition == 1 else b
        return a if a == b else None

    def _eval_derivative(self, s: Expr) -> Expr:
        """Return the derivative of the branch; a condition has none except where it changes."""
        condition, a, b = self.args
        return where(condition, a.diff(s), b.diff(s))


class _Choice(_Real):
    """Choice of two operands; SymPy's Max and Min flatten, sort and drop theirs, and differentiate to Heaviside."""

    nargs = 2
    is_first: type[Comparison]

    def fdiff(self, argindex: int = 1) -> Expr:
        """Return 1 for the chosen operand, 0 for the other; at a tie there is a kink."""
        first = sympy.S.One if argindex == 1 else sympy.S.Zero
        return where(type(self).is_first(*self.args), first, 1 - first)


maximum, minimum = _heads(_Choice, {"maximum": {"is_first": ge}, "minimum": {"is_first": le}})


class unknown(_Real):  # noqa: N801
    """Derivative that no reading has."""

    def fdiff(self, argindex: int = 1) -> Expr:
        """Return itself, as the next derivative is unknown too."""
        return self


def _described(op: Op) -> type[_Real]:
    """Make the function of a row that gives its derivatives itself."""

    def fdiff(self: Expr, argindex: int = 1) -> Expr:
        slope = op.slopes.get(op.operands[argindex - 1])
        return compose(slope, dict(zip(op.operands, self.args, strict=True))) if slope else unknown(*self.args)

    return type(op.name, (_Real,), {"nargs": len(op.operands), "fdiff": fdiff})


DESCRIBED: Mapping[str, type[_Real]] = {op.name: _described(op) for op in ops.TABLE.values() if op.slopes}
"""Functions of rows that give their derivatives themselves, by the names of the rows."""

SHARED = "exp log sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc erfinv sqrt atan2".split()
"""Primitives that SymPy has by the same name, and right for real numbers."""

MEANINGS: Mapping[str, Callable[..., Expr]] = {
    **{op.name: OPERATORS[op.name] for op in ops.GROUPS["arithmetic"]},
    "digamma": lambda x: polygamma(sympy.S.Zero, x),
    "polygamma": lambda x, n: polygamma(sympy.Integer(n), x),
    "i0": lambda x: sympy.besseli(0, x),
    "i1": lambda x: sympy.besseli(1, x),
    "zeros_like": lambda x: sympy.S.Zero,
    "ones_like": lambda x: sympy.S.One,
    **{name: getattr(sympy, name) for name in SHARED},
    **{own.__name__: own for own in (abs, sign, floor, ceil, trunc, round, lgamma, sinc, detach)},
    **{own.__name__: own for own in (maximum, minimum, where, gt, ge, lt, le, eq, ne)},
    **DESCRIBED,
}
"""Elementwise primitives of the op table, all of them; static arguments follow operands."""


def meaning(call: Call, operands: tuple[Expr, ...]) -> Expr:
    """Return the scalar expression of an elementwise operation on these scalars.

    >>> from gradcli.language.parsing import parse
    >>> x = sympy.Symbol("x", real=True)
    >>> meaning(parse("x**2").lines[0].call, (x, sympy.Integer(2)))
    x**2
    """
    if call.op.is_primitive:
        return MEANINGS[call.op.name](*operands, *call.statics)
    defined = definition(call.op.name, call.statics, len(operands))
    return _composed(defined, dict(zip(map(str, defined.variables), operands, strict=True)))


def compose(text: str, operands: Mapping[str, Expr]) -> Expr:
    """Return a text of the language as one scalar expression, its names standing for these operands.

    >>> x = sympy.Symbol("x", real=True)
    >>> compose("1/(1 + exp(-x))", {"x": x})
    1/(1 + exp(-x))
    """
    return _composed(in_primitives(parse(text, given=frozenset(operands))), operands)


def _composed(program: Program, operands: Mapping[str, Expr]) -> Expr:
    values: dict[Expr, Expr] = {symbol: operands[str(symbol)] for symbol in program.variables}
    for line in program.lines:
        values[line.symbol] = meaning(line.call, tuple(values.get(a, a) for a in line.call.operands))
    return values.get(program.output, program.output)

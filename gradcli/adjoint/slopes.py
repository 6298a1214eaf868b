"""Partial derivatives of elementwise operations: SymPy's derivatives of their meanings, and the same as Programs.

A constant exponent is put in before differentiating, so that x**2 has the slope 2*x, which exists at 0; the slopes of
a power are written by hand, as SymPy's x**y*y/x does not.  The second derivatives of Bessel's functions are by those
of the orders 0 and 1 (DLMF 10.29.1).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import sympy
from sympy import Expr

from gradcli.errors import Span
from gradcli.language import ops
from gradcli.language.program.sympy_functions import compose, meaning
from gradcli.language.program.wengert import Atom, Builder, Call, Program


class NoAdjointError(Exception):
    """Error of an operation whose derivative is no Program."""


@dataclass(frozen=True)
class Partials:
    """Value and partial derivatives of an elementwise operation; None by a parameter that a constant was put in for.

    Attributes:
        parameters: The symbols of the operands.
        expression: The value.
        slopes: The partial derivatives.
        kinks: Expressions that vanish where a derivative jumps.
        edges: For each operand, those that vanish where the domain that it crosses ends.
    """

    parameters: tuple[sympy.Symbol | None, ...]
    expression: Expr
    slopes: tuple[Expr | None, ...]
    kinks: tuple[Expr, ...]
    edges: tuple[tuple[Expr, ...], ...]


def partials_of(call: Call) -> Partials:
    """Return the partial derivatives of an elementwise operation on its operands, a constant exponent put in."""
    return partials(call.op.name, exponent_of(call), call.statics)


def is_power(call: Call) -> bool:
    """Tell whether an operation is a power, whose slope at 0 depends on both operands."""
    return call.op.name == "pow"


def exponent_of(call: Call) -> Expr | None:
    """Return the constant exponent of a power; a decimal as the exact fraction that it is."""
    base, exponent = call.operands if is_power(call) else (None, None)
    if not isinstance(base, sympy.Symbol) or isinstance(exponent, sympy.Symbol):
        return None
    return sympy.Rational(*float(exponent).as_integer_ratio()) if isinstance(exponent, sympy.Float) else exponent


@lru_cache(maxsize=64)
def _parameter(name: str) -> sympy.Symbol:
    """Return the one symbol of an operand in every rule: SymPy works out the facts of a symbol once."""
    return sympy.Dummy(name, real=True)


@lru_cache(maxsize=1024)
def partials(name: str, exponent: Expr | None, statics: tuple[Hashable, ...]) -> Partials:
    """Return the partial derivatives of an operation by its name and constants; see `partials_of`."""
    op = ops.TABLE[name]
    every = [_parameter(parameter) for parameter in op.operands]
    operands = tuple(every if exponent is None else [every[0], exponent])
    expression = meaning(Call(name, operands, statics), operands)
    parameters = tuple(p if p in operands else None for p in every)
    named = {n: exponent if p is None else p for n, p in zip(op.operands, parameters, strict=True)}
    is_whole = exponent is not None and exponent.is_integer
    edges = [] if is_whole else [compose(edge, named) for edge in op.edges]
    return Partials(
        parameters=parameters,
        expression=expression,
        slopes=tuple(None if p is None else _partial(name, expression, p, named) for p in parameters),
        kinks=tuple(compose(kink, named) for kink in op.kinks),
        edges=tuple(tuple(e for e in edges if p is not None and e.diff(p) != 0) for p in parameters),
    )


def _partial(name: str, expression: Expr, parameter: sympy.Symbol, named: dict[str, Expr]) -> Expr:
    if name != "pow":
        return sympy.diff(expression, parameter)
    a, b = named["a"], named["b"]
    if parameter == a:  # unevaluated for a whole exponent: SymPy would take a millisecond to find out its sign
        return sympy.Mul(b, a ** (b - 1), evaluate=not b.is_Integer or b in (0, 1, 2))
    is_zero = sympy.And(sympy.Eq(a, 0), sympy.Gt(b, 0))
    return sympy.Piecewise((0, is_zero), (a**b * sympy.log(a), True))


# -- expressions as Programs


@lru_cache(maxsize=2048)
def as_program(expression: Expr, parameters: tuple[sympy.Symbol | None, ...]) -> Program:
    """Write a scalar expression as a Program of primitives in these parameters, those that it lacks too.

    Raises:
        NoAdjointError: It has a function that is no operation of the language.

    >>> x = sympy.Symbol("x", real=True)
    >>> [str(line.call) for line in as_program(sympy.cos(2*x), (x,)).lines]
    ['mul(2, x)', 'cos(_t0)']
    """
    builder = Builder("", "a derivative")
    output = _Lines(builder).atom(expression)
    kept = tuple(sympy.Dummy("unused", real=True) if p is None else p for p in parameters)
    return Program("", kept, tuple(builder.lines), output, builder.source)


_RELATIONS = {
    sympy.StrictGreaterThan: "gt",
    sympy.GreaterThan: "ge",
    sympy.StrictLessThan: "lt",
    sympy.LessThan: "le",
    sympy.Equality: "eq",
    sympy.Unequality: "ne",
}


class _Lines:
    """Lines of an expression, each distinct part once."""

    def __init__(self, builder: Builder) -> None:
        self.builder, self.known = builder, dict[Expr, Atom]()

    def atom(self, expression: Expr) -> Atom:
        """Append the lines of an expression."""
        if isinstance(expression, sympy.Symbol) or expression.is_Rational or expression.is_Float:
            return expression
        if expression in (sympy.pi, sympy.E, sympy.oo, -sympy.oo, sympy.nan):
            return expression
        if expression not in self.known:
            self.known[expression] = self._written(expression)
        return self.known[expression]

    def _emit(self, op: str, *operands: Atom, statics: tuple[object, ...] = ()) -> Atom:
        return self.builder.emit(op, operands, Span(0, 0), statics)

    def _written(self, expression: Expr) -> Atom:
        match expression:
            case sympy.Add():
                return self._sum(expression)
            case sympy.Mul():
                return self._product(expression)
            case sympy.Pow():
                return self._power(*map(self.atom, expression.args))
            case sympy.exp():
                return self._emit("exp", self.atom(expression.args[0]))
            case sympy.Piecewise():
                found: Atom = sympy.nan
                for value, condition in reversed(expression.args):
                    is_else = condition == sympy.true
                    found = self.atom(value) if is_else else self._where(self._condition(condition), value, found)
                return found
            case sympy.besseli():
                return self._bessel(*expression.args)
        name = expression.func.__name__
        if name == "polygamma":
            order, x = expression.args
            if not order.is_Integer:
                raise NoAdjointError(f"no operation for {expression.func}")
            op = ("digamma", ()) if order == 0 else ("polygamma", (int(order),))
            return self._emit(op[0], self.atom(x), statics=op[1])
        row = ops.TABLE.get(name)
        if row is None or not row.is_primitive or row.kind is not ops.Kind.ELEMENTWISE:
            raise NoAdjointError(f"no operation for {expression.func}")
        return self._emit(name, *map(self.atom, expression.args))

    def _where(self, condition: Atom, value: Expr, other: Atom) -> Atom:
        if condition in (sympy.S.One, sympy.S.Zero):
            return self.atom(value) if condition == 1 else other
        return self._emit("where", condition, self.atom(value), other)

    def _condition(self, condition: Expr) -> Atom:
        if isinstance(condition, sympy.And | sympy.Or):
            first, *rest = (self._condition(one) for one in condition.args)
            for one in rest:
                is_and = isinstance(condition, sympy.And)
                first = self._holds(first, *((one, sympy.S.Zero) if is_and else (sympy.S.One, one)))
            return first
        if isinstance(condition, sympy.Not):
            return self._holds(self._condition(condition.args[0]), sympy.S.Zero, sympy.S.One)
        if condition in (sympy.true, sympy.false):
            return sympy.Integer(condition == sympy.true)
        return self._emit(_RELATIONS[type(condition)], *map(self.atom, condition.args))

    def _holds(self, condition: Atom, a: Atom, b: Atom) -> Atom:
        """Choose between conditions."""
        return self._emit("gt", self._emit("where", condition, a, b), sympy.S.Half)

    def _sum(self, expression: sympy.Add) -> Atom:
        positive, negative = list[Expr](), list[Expr]()
        for term in expression.args:
            is_negative = term.could_extract_minus_sign()
            (negative if is_negative else positive).append(-term if is_negative else term)
        if not positive:
            return self._emit("neg", self.atom(sympy.Add(*negative)))
        found = self.atom(positive[0])
        for term in positive[1:]:
            found = self._emit("add", found, self.atom(term))
        for term in negative:
            found = self._emit("sub", found, self.atom(term))
        return found

    def _product(self, expression: sympy.Mul) -> Atom:
        if expression.args[0] == -1:
            return self._emit("neg", self.atom(sympy.Mul(*expression.args[1:], evaluate=len(expression.args) > 3)))
        above, below = [], []
        for factor in expression.args:
            if factor.is_Pow and factor.exp.is_Rational and factor.exp < 0:
                below.append(factor.base ** (-factor.exp))
            elif factor.is_Rational and not factor.is_Integer:
                above += [sympy.Integer(factor.p)] if factor.p != 1 else []
                below.append(sympy.Integer(factor.q))
            else:
                above.append(factor)
        top = self._folded(above)
        return self._emit("div", top, self._folded(below)) if below else top

    def _folded(self, factors: Sequence[Expr]) -> Atom:
        if not factors:
            return sympy.S.One
        found = self.atom(factors[0])
        for factor in factors[1:]:
            found = self._emit("mul", found, self.atom(factor))
        return found

    def _power(self, base: Atom, exponent: Atom) -> Atom:
        if base == sympy.E:
            return self._emit("exp", exponent)
        if exponent == sympy.Rational(1, 2):
            return self._emit("sqrt", base)
        if exponent.is_Rational and exponent < 0:
            return self._emit("div", sympy.S.One, base if exponent == -1 else self._power(base, -exponent))
        return base if exponent == 1 else self._emit("pow", base, exponent)

    def _bessel(self, order: Expr, x: Expr) -> Atom:
        """Write I of a whole order by those of the orders 0 and 1: I[n+1] = I[n-1] - 2*n*I[n]/x; 0 at 0."""
        if not order.is_Integer:
            raise NoAdjointError(f"no operation for the order {order}")
        n, at = abs(int(order)), self.atom(x)
        if n < 2:
            return self._emit(f"i{n}", at)
        before, last = (self._bessel(sympy.Integer(k), x) for k in (n - 2, n - 1))
        ratio = self._emit("div", self._emit("mul", sympy.Integer(2 * (n - 1)), last), at)
        is_zero = self._emit("eq", at, sympy.S.Zero)
        return self._emit("where", is_zero, sympy.S.Zero, self._emit("sub", before, ratio))

"""SymPy expressions of scalars as lines of a Program: the derivatives of elementwise operations, to be run once more.

The inverse of `gradcli.language.program.meaning`.  What has no operation of
its own is written with those that there are.
Source: for the Bessel function of order 2, DLMF 10.29.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

import sympy
from sympy import Expr

from gradcli.errors import Span
from gradcli.language.program import meaning
from gradcli.language.program.wengert import Atom, Builder

_NAMES: Mapping[type, str] = {head: name for name, head in meaning.MEANINGS.items() if isinstance(head, type)}
"""The operation of each function."""

_RELATIONS: Mapping[type, str] = {
    sympy.Eq: "eq",
    sympy.Ne: "ne",
    sympy.Gt: "gt",
    sympy.Ge: "ge",
    sympy.Lt: "lt",
    sympy.Le: "le",
}


class NoTangentError(Exception):
    """A derivative cannot be written as a Program; the message says why."""


class Writer:
    """Appends lines to a builder."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder

    def write(self, expression: Expr, symbols: Mapping[Expr, Atom], span: Span) -> Atom:
        """What holds the value of an expression.

        Args:
            expression: Of scalars.
            symbols: What its symbols stand for.
            span: The range of the text of the new lines.

        Raises:
            NoTangentError: it has a function that no operation computes.

        >>> x = sympy.Symbol("x", real=True)
        >>> builder = Builder("")
        >>> _ = Writer(builder).write(1 / sympy.sqrt(1 - x**2), {x: x}, Span(0, 0))
        >>> [line.call.op.name for line in builder.lines]
        ['pow', 'neg', 'add', 'sqrt', 'div']
        """
        return _Expression(self.builder, symbols, span).atom(expression)


class _Expression:
    """One expression on its way into lines."""

    def __init__(self, builder: Builder, symbols: Mapping[Expr, Atom], span: Span) -> None:
        self.builder, self.symbols, self.span = builder, symbols, span

    def atom(self, expression: Expr) -> Atom:
        match expression:
            case sympy.Symbol():
                return self.symbols[expression]
            case sympy.Float():
                return sympy.Rational(*float(expression).as_integer_ratio())
            case sympy.Number() | sympy.NumberSymbol():
                return expression
            case sympy.Add():
                return self._folded("add", [self.atom(a) for a in expression.as_ordered_terms()])
            case sympy.Mul():
                return self._product(expression)
            case sympy.Pow():
                return self._power(expression)
            case sympy.Piecewise():
                return self._cases(expression)
            case meaning.polygamma():
                return self._polygamma(*expression.args)
            case sympy.besseli():
                return self._bessel(*expression.args)
        name = _NAMES.get(expression.func)
        if name is None:
            raise NoTangentError(f"no operation for {expression.func}")
        return self._emit(name, *(self.atom(a) for a in expression.args))

    def _emit(self, name: str, *operands: Atom, statics: tuple[int, ...] = ()) -> Atom:
        return self.builder.emit(name, operands, self.span, statics)

    def _folded(self, name: str, atoms: list[Atom]) -> Atom:
        return reduce(lambda a, b: self._emit(name, a, b), atoms)

    def _product(self, expression: Expr) -> Atom:
        """Divided once, so that 2/3 of a number is rounded once; a sign in front."""
        above, below, is_negative = [], [], False
        for factor in expression.args:
            match factor:
                case sympy.Pow() if factor.exp.is_Rational and factor.exp < 0:
                    below.append(factor.base ** (-factor.exp))
                case sympy.Rational():
                    is_negative ^= bool(factor < 0)
                    above += [sympy.Integer(abs(factor.p))] * (abs(factor.p) != 1)
                    below += [sympy.Integer(factor.q)] * (factor.q != 1)
                case _:
                    above.append(factor)
        result = self._folded("mul", [self.atom(a) for a in above or [sympy.S.One]])
        if below:
            result = self._emit("div", result, self._folded("mul", [self.atom(b) for b in below]))
        return self._emit("neg", result) if is_negative else result

    def _power(self, expression: Expr) -> Atom:
        base, exponent = expression.args
        if exponent.is_Rational and exponent < 0:
            return self._emit("div", sympy.S.One, self.atom(base**-exponent))
        if exponent == sympy.S.Half:
            return self._emit("sqrt", self.atom(base))
        return self._emit("pow", self.atom(base), self.atom(exponent))

    def _cases(self, expression: Expr) -> Atom:
        """A choice by conditions, those on constants decided."""
        cases: list[tuple[Expr, Atom | bool]] = []
        for value, condition in expression.args:
            holds = self._condition(condition)
            if holds is not False:
                cases.append((value, holds))
            if holds is True:
                break
        result = self.atom(cases[-1][0])
        for value, holds in reversed(cases[:-1]):
            result = self._emit("where", holds, self.atom(value), result)
        return result

    def _condition(self, condition: Expr) -> Atom | bool:
        if condition in (sympy.true, sympy.false):
            return bool(condition)
        if isinstance(condition, sympy.And):
            parts = [self._condition(c) for c in sorted(condition.args, key=str)]
            if False in parts:
                return False
            open_parts = [part for part in parts if part is not True]
            return reduce(lambda a, b: self._emit("where", a, b, sympy.S.Zero), open_parts) if open_parts else True
        name = _RELATIONS.get(condition.func)
        if name is None:
            raise NoTangentError(f"no operation for the condition {condition}")
        left, right = (self.atom(side) for side in condition.args)
        if left.is_Rational and right.is_Rational:
            return bool(meaning.MEANINGS[name](left, right) == 1)
        return self._emit(name, left, right)

    def _polygamma(self, order: Expr, x: Expr) -> Atom:
        if order == 0:
            return self._emit("digamma", self.atom(x))
        return self._emit("polygamma", self.atom(x), statics=(int(order),))

    def _bessel(self, order: Expr, x: Expr) -> Atom:
        """I0, I1, and I2(x) = I0(x) - 2*I1(x)/x, which is 0 at 0."""
        at = self.atom(x)
        if order in (0, 1):
            return self._emit(f"i{order}", at)
        if order != 2:
            raise NoTangentError(f"no operation for the Bessel function of order {order}")
        slope = self._emit("div", self._emit("mul", sympy.Integer(2), self._emit("i1", at)), at)
        away = self._emit("sub", self._emit("i0", at), slope)
        return self._emit("where", self._emit("eq", at, sympy.S.Zero), sympy.S.Zero, away)

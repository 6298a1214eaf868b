"""Conditions and branches, the same in every notation: functions that are 1 or 0 as the relations they stand for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import sympy
from sympy import Expr

from gradcli.language.program.meaning import Chosen, Comparison, where

Branches = list[tuple[Expr, str]]
"""Values with their conditions as text; that of the last is empty."""


class Conditions:
    """What a printer needs to write conditions: how it writes a relation, both, either, not."""

    _print: Callable[[Any], str]
    """That of SymPy's printer, beside which this class stands."""

    def _relation(self, sign: str, left: str, right: str) -> str:
        raise NotImplementedError

    def _both(self, *conditions: str) -> str:
        raise NotImplementedError

    def _either(self, *conditions: str) -> str:
        raise NotImplementedError

    def _denied(self, condition: str) -> str:
        raise NotImplementedError

    def _branches(self, expr: Expr) -> Branches:
        """Of `where`, of SymPy's Piecewise, and of the index at which an extreme is taken."""
        branches = []
        if isinstance(expr, Chosen):
            is_it = self._relation("==", self._print(expr.value), self._print(expr.extreme))
            return [(sympy.S.One, is_it), (sympy.S.Zero, "")]
        if isinstance(expr, sympy.Piecewise):
            return [(value, "" if holds == sympy.true else self._print(holds)) for value, holds in expr.args]
        while isinstance(expr, where):
            condition, value, expr = expr.args
            branches.append((value, self._condition(condition)))
        return [*branches, (expr, "")]

    def _condition(self, expr: Expr) -> str:
        """A function that is 1 or 0 as the condition it stands for."""
        match expr:
            case Comparison():
                return self._relation(expr.sign, *map(self._print, expr.args))
            case where(args=(a, b, sympy.S.Zero)):
                return self._both(self._condition(a), self._condition(b))
            case where(args=(a, sympy.S.One, b)):
                return self._either(self._condition(a), self._condition(b))
            case where(args=(a, sympy.S.Zero, sympy.S.One)):
                return self._denied(self._condition(a))
            case sympy.Integer():
                return str(expr != 0)
        return self._relation("!=", self._print(expr), "0")


class Sentences(Conditions):
    """Conditions as people read them, in the signs, words and brackets of a notation; of SymPy's own as well."""

    _SIGNS: ClassVar[Mapping[str, str]]
    """Of relations, where they are not those of the language."""

    _AND: ClassVar[str]
    _OR: ClassVar[str]
    _NOT: ClassVar[str]

    def _bracketed(self, inside: str) -> str:
        return f"({inside})"

    def _print_where(self, expr: Expr) -> str:
        raise NotImplementedError

    def _relation(self, sign: str, left: str, right: str) -> str:
        return f"{left} {self._SIGNS.get(sign, sign)} {right}"

    def _both(self, *conditions: str) -> str:
        return self._AND.join(conditions)

    def _either(self, *conditions: str) -> str:
        return self._bracketed(self._OR.join(conditions))

    def _denied(self, condition: str) -> str:
        return self._NOT + self._bracketed(condition)

    def _print_Piecewise(self, expr: Expr) -> str:
        return self._print_where(expr)

    def _print_Relational(self, expr: Expr) -> str:
        return self._relation(expr.rel_op, self._print(expr.lhs), self._print(expr.rhs))

    def _print_And(self, expr: Expr) -> str:
        return self._both(*(self._print(a) for a in sorted(expr.args, key=sympy.default_sort_key)))

    def _print_Or(self, expr: Expr) -> str:
        return self._either(*(self._print(a) for a in sorted(expr.args, key=sympy.default_sort_key)))

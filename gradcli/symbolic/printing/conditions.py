"""Conditions and branches, the same in every notation: functions that are 1 or 0 as the relations they stand for."""

from __future__ import annotations

from typing import Any

import sympy
from sympy import Expr

from gradcli.language.aggregates import Chosen
from gradcli.language.meaning import Comparison, where

Branches = list[tuple[Expr, str]]
"""Values with their conditions as text; that of the last is empty."""


class Conditions:
    """What a printer needs to write conditions: how it writes a relation, both, either, not."""

    def _print(self, expr: Any) -> str:
        raise NotImplementedError

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

"""Readable Unicode mathematics: `2*x[i]**2*KroneckerDelta(i, j)` as `2·x[i]²·δ[i,j]`."""

from __future__ import annotations

import sympy
from sympy import Expr
from sympy.printing.precedence import PRECEDENCE

from gradcli.language.aggregates import Aggregate, Chosen
from gradcli.symbolic.printing.plain import PlainPrinter

_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class PrettyPrinter(PlainPrinter):
    """`2*x[i]**2*KroneckerDelta(i, j)` as `2·x[i]²·δ[i,j]`."""

    printmethod = "_gradcli_pretty"  # none has it: the methods here come before those that classes bring along

    def doprint(self, expr: Expr) -> str:
        """An expression in one line."""
        return str(super().doprint(expr)).replace("**", "^").replace("*", "·")

    def _print_Function(self, expr: Expr) -> str:
        return f"{expr.func.__name__}({self.stringify(expr.args, ', ')})"

    _print_lgamma = _print_sinc = _print_Function

    def _print_polygamma(self, expr: Expr) -> str:
        n, x = expr.args
        return f"digamma({self._print(x)})" if n == 0 else str(self._print_Function(expr))

    def _print_besseli(self, expr: Expr) -> str:
        n, x = expr.args
        return f"i{n}({self._print(x)})" if n in (0, 1) else str(self._print_Function(expr))

    def _print_where(self, expr: Expr) -> str:
        shown = [
            f"{self._print(value)} {f'if {condition}' if condition else 'otherwise'}"
            for value, condition in self._branches(expr)
        ]
        return "{" + "; ".join(shown) + "}"

    def _print_Piecewise(self, expr: Expr) -> str:
        return self._print_where(expr)

    def _both(self, *conditions: str) -> str:
        return " and ".join(conditions)

    def _either(self, *conditions: str) -> str:
        return f"({' or '.join(conditions)})"

    def _denied(self, condition: str) -> str:
        return f"not ({condition})"

    def _relation(self, sign: str, left: str, right: str) -> str:
        return f"{left} { {'>=': '≥', '<=': '≤', '==': '=', '!=': '≠'}.get(sign, sign) } {right}"

    def _print_Chosen(self, expr: Chosen) -> str:
        return f"[{self._print(expr.value)} = {self._print(expr.extreme)}]"

    def _print_Multiplied(self, expr: Aggregate) -> str:
        return f"Π{self._over(expr)}"

    def _print_Largest(self, expr: Aggregate) -> str:
        return f"amax{self._over(expr)}"

    def _print_Smallest(self, expr: Aggregate) -> str:
        return f"amin{self._over(expr)}"

    def _over(self, expr: Aggregate) -> str:
        ranges = ", ".join(f"{self._print(k)}={self._print(a)}..{self._print(b)}" for k, a, b in expr.limits)
        return f"[{ranges}]({self._print(expr.body)})"

    def _print_KroneckerDelta(self, expr: Expr) -> str:
        return f"δ[{','.join(self._print(a) for a in expr.args)}]"

    def _print_Indexed(self, expr: Expr) -> str:
        return f"{expr.base.label}[{','.join(self._print(a) for a in expr.indices)}]"

    def _print_Pow(self, expr: Expr, rational: bool = False) -> str:
        base, exponent = expr.args
        if exponent.is_Integer and exponent > 1:
            return str(self.parenthesize(base, PRECEDENCE["Pow"], strict=False)) + str(exponent).translate(
                _SUPERSCRIPTS
            )
        return str(super()._print_Pow(expr, rational))

    def _print_Sum(self, expr: Expr) -> str:
        ranges = ", ".join(f"{self._print(k)}={self._print(a)}..{self._print(b)}" for k, a, b in expr.limits)
        return f"Σ[{ranges}]({self._print(expr.function)})"

    def _print_Pi(self, expr: Expr) -> str:
        return "π"

    def _print_Relational(self, expr: Expr) -> str:
        return self._relation(expr.rel_op, self._print(expr.lhs), self._print(expr.rhs))

    def _print_And(self, expr: Expr) -> str:
        return " and ".join(self._print(a) for a in sorted(expr.args, key=sympy.default_sort_key))

    def _print_Or(self, expr: Expr) -> str:
        return " or ".join(self._print(a) for a in sorted(expr.args, key=sympy.default_sort_key))

"""SymPy's notation, which SymPy reads back, with shortest floats and deltas after the factors they select from."""

from __future__ import annotations

import sympy
from sympy import Expr, KroneckerDelta
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

from gradcli.language.program.meaning import Aggregate, Chosen, where
from gradcli.symbolic.printing.conditions import Conditions

_NAMES = {"abs": "Abs", "ceil": "ceiling", "maximum": "Max", "minimum": "Min"}
"""What SymPy calls functions of our own."""


class PlainPrinter(StrPrinter, Conditions):  # type: ignore[misc]
    """`2*x[i]**2*KroneckerDelta(i, j)`."""

    def _print_Float(self, expr: Expr) -> str:
        return repr(float(expr))

    def _print_Function(self, expr: Expr) -> str:
        name = expr.func.__name__
        return f"{_NAMES.get(name, name)}({self.stringify(expr.args, ', ')})"

    def _print_lgamma(self, expr: Expr) -> str:
        return f"log(Abs(gamma({self._print(expr.args[0])})))"

    def _print_sinc(self, expr: Expr) -> str:
        return f"sinc({self._print(sympy.pi * expr.args[0])})"

    def _print_Pow(self, expr: Expr, rational: bool = False) -> str:
        base, exponent = expr.args
        if isinstance(base, where | Aggregate | Chosen) and exponent != -1:
            return f"{self._print(base)}**{self.parenthesize(exponent, PRECEDENCE['Pow'], strict=False)}"
        return str(super()._print_Pow(expr, rational))

    def _print_where(self, expr: Expr) -> str:
        shown = [f"({self._print(value)}, {condition or 'True'})" for value, condition in self._branches(expr)]
        return f"Piecewise({', '.join(shown)})"

    def _print_Chosen(self, expr: Chosen) -> str:
        return self._print_where(expr)

    def _relation(self, sign: str, left: str, right: str) -> str:
        head = {"==": "Eq", "!=": "Ne"}.get(sign)
        return f"{head}({left}, {right})" if head else f"{left} {sign} {right}"

    def _both(self, *conditions: str) -> str:
        return " & ".join(f"({condition})" for condition in conditions)

    def _either(self, *conditions: str) -> str:
        return " | ".join(f"({condition})" for condition in conditions)

    def _denied(self, condition: str) -> str:
        return f"~({condition})"

    def _print_quotient(self, expr: Expr) -> str:
        p, n = expr.args
        above, below = (self.parenthesize(a, PRECEDENCE["Pow"], strict=False) for a in (p, n))
        return f"floor({above}/{below})"

    def _print_Multiplied(self, expr: Aggregate) -> str:
        return f"Product({self._over(expr)})"

    def _print_Largest(self, expr: Aggregate) -> str:
        return f"amax({self._over(expr)})"

    def _print_Smallest(self, expr: Aggregate) -> str:
        return f"amin({self._over(expr)})"

    def _over(self, expr: Aggregate) -> str:
        """The body and its limits."""
        limits = (f"({', '.join(map(self._print, limit))})" for limit in expr.limits)
        return ", ".join((self._print(expr.body), *limits))

    def _print_MatrixDeterminant(self, expr: Aggregate) -> str:
        return f"det({self._matrix(expr)})"

    def _print_InverseElement(self, expr: Aggregate) -> str:
        return f"inv({self._matrix(expr)})[{', '.join(map(self._print, expr.free))}]"

    def _matrix(self, expr: Aggregate) -> str:
        """The name of the matrix, if its elements are just a variable's; else its element with the limits."""
        body = expr.body
        if is_of_variable(expr):
            before = body.indices[:-2]
            at = f"[{', '.join(map(self._print, before))}]" if before else ""
            return f"{body.base.label}{at}" + ".T" * is_transposed(expr)
        return self._over(expr)

    def _print_Mul(self, expr: Expr) -> str:
        deltas = [factor for factor in expr.args if isinstance(factor, KroneckerDelta)]
        if not deltas:
            return str(super()._print_Mul(expr))
        rest = sympy.Mul(*(factor for factor in expr.args if factor not in deltas))
        shown = "*".join(self._print(delta) for delta in deltas)
        if rest in (1, -1):
            return shown if rest == 1 else f"-{shown}"
        return f"{self.parenthesize(rest, PRECEDENCE['Mul'], strict=True)}*{shown}"


def is_of_variable(expr: Aggregate) -> bool:
    """Whether the elements of the matrix are just those of a variable, perhaps transposed."""
    return isinstance(expr.body, sympy.Indexed) and set(expr.body.indices[-2:]) == set(expr.bound)


def is_transposed(expr: Aggregate) -> bool:
    """Whether the variable's rows are the matrix's columns."""
    return list(expr.body.indices[-2:]) != expr.bound

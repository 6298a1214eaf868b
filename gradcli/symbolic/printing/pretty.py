"""SymPy's notation, which SymPy reads back, and readable Unicode mathematics in one line.

`2*x[i]**2*KroneckerDelta(i, j)`, with shortest floats and deltas after the factors they select from, and
`2·x[i]²·δ[i,j]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import sympy
from sympy import Expr, KroneckerDelta
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

from gradcli.language.program.sympy_functions import Aggregate
from gradcli.symbolic.printing.arranging import Sentences, always, is_negative, is_open, joined, product, terms

_NAMES = {"abs": "Abs", "ceil": "ceiling", "maximum": "Max", "minimum": "Min"}
"""SymPy's names of our own functions."""


class PlainPrinter(StrPrinter):  # type: ignore[misc]
    """`2*x[i]**2*KroneckerDelta(i, j)`."""

    def _print_Float(self, expr: Expr) -> str:
        return repr(float(expr))

    def _print_Function(self, expr: Expr) -> str:
        name = expr.func.__name__
        return f"{_NAMES.get(name, name)}({self.stringify(expr.args, ', ')})"

    def _print_lgamma(self, expr: Expr) -> str:
        return f"log(Abs(gamma({self._print(expr.args[0])})))"

    def _print_sinc(self, expr: Expr) -> str:
        x = expr.args[0]  # SymPy's own sinc(x) is sin(x)/x, and everybody else's is not
        above, below = sympy.sin(sympy.pi * x), sympy.pi * x
        return f"Piecewise(({self._print(above)}/({self._print(below)}), Ne({self._print(x)}, 0)), (1, True))"

    def _print_Pow(self, expr: Expr, rational: bool = False) -> str:
        base, exponent = expr.args
        if isinstance(base, Aggregate) and exponent != -1:
            return f"{self._print(base)}**{self.parenthesize(exponent, PRECEDENCE['Pow'], strict=False)}"
        return str(super()._print_Pow(expr, rational))

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
        """Write the body and its limits."""
        limits = (f"({', '.join(map(self._print, limit))})" for limit in expr.limits)
        return ", ".join((self._print(expr.body), *limits))

    def _print_MatrixDeterminant(self, expr: Aggregate) -> str:
        return f"det({self._matrix(expr)})"

    def _print_InverseElement(self, expr: Aggregate) -> str:
        return f"inv({self._matrix(expr)})[{', '.join(map(self._print, expr.free))}]"

    def _matrix(self, expr: Aggregate) -> str:
        """Return the name of a matrix whose elements are just a variable's; else its element with the limits."""
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
    """Tell whether the elements of a matrix are just those of a variable, perhaps transposed."""
    return isinstance(expr.body, sympy.Indexed) and set(expr.body.indices[-2:]) == set(expr.bound)


def is_transposed(expr: Aggregate) -> bool:
    """Tell whether the rows of a variable are the columns of the matrix."""
    return list(expr.body.indices[-2:]) != expr.bound


_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class PrettyPrinter(Sentences, PlainPrinter):
    """`x[i]/√(Σ[k=0..2] x[k]²)`."""

    printmethod = "_gradcli_pretty"  # none has it: the methods here come before those that classes bring along

    _SIGNS: ClassVar = {">=": "≥", "<=": "≤", "==": "=", "!=": "≠"}
    _OVER: ClassVar = {"Sum": "Σ", "Multiplied": "Π", "Largest": "max", "Smallest": "min"}
    _HEADS: ClassVar = {"maximum": "max", "minimum": "min", "Max": "max", "Min": "min"}
    _AROUND: ClassVar = {"ceil": "⌈%s⌉", "ceiling": "⌈%s⌉", "floor": "⌊%s⌋"}
    _CASES = "{%s}", "; ", " if ", " otherwise"
    _AND, _OR, _NOT, _UNEQUAL = " and ", " or ", "not ", "≠"
    _print_Pi, _print_Exp1 = always("π"), always("e")
    _print_Infinity, _print_NegativeInfinity = always("∞"), always("-∞")
    _print_ComplexInfinity = _print_NaN = always("undefined")

    def _bracketed(self, inside: str) -> str:
        return f"({inside})"

    def _is_loose(self, expr: Expr) -> bool:
        """Tell whether an expression needs brackets in any product and in any power."""
        return isinstance(expr, sympy.Add | sympy.Mul) or is_negative(expr)

    # -- sums, products, powers

    def _print_Add(self, expr: Expr, order: str | None = None) -> str:
        return joined(map(self._term, terms(self._as_ordered_terms(expr))))

    def _term(self, term: Expr) -> str:
        shown = str(self._print(term))
        return self._bracketed(shown) if isinstance(term, sympy.Add) else shown

    def _print_Mul(self, expr: Expr) -> str:
        """Write a fraction, then the deltas."""
        parts = product(expr)
        above, below, is_end = parts.above, parts.below, not parts.deltas
        shown = self._product(above, is_end=is_end and not below)
        if below:
            is_one = len(below) == 1
            divisor = self._factor(below[0], is_last=is_end) if is_one else f"({self._product(below, is_end=True)})"
            shown = f"{shown or '1'}/{divisor}"
        return "-" * parts.is_negative + "·".join(filter(None, [shown, *map(self._print, parts.deltas)]))

    def _product(self, factors: Sequence[Expr], *, is_end: bool) -> str:
        return "·".join(self._factor(f, is_last=is_end and f is factors[-1]) for f in factors)

    def _factor(self, expr: Expr, *, is_last: bool) -> str:
        """Write a factor, in brackets where the product would take it apart, or it would take in the next one."""
        shown = str(self._print(expr))
        return self._bracketed(shown) if self._is_loose(expr) or (is_open(expr) and not is_last) else shown

    def _print_Pow(self, expr: Expr, rational: bool = False) -> str:
        base, exponent = expr.args
        if exponent.is_number and exponent.is_negative:
            return self._print_Mul(expr)
        return self._root(base) if exponent == sympy.S.Half else self._raised(base, exponent)

    def _tight(self, expr: Expr) -> str:
        """Write the base or the exponent of a power, in brackets unless it is a single symbol or number."""
        shown = str(self._print(expr))
        is_fraction = expr.is_Rational and not expr.is_Integer
        is_one = not (self._is_loose(expr) or isinstance(expr, sympy.Pow) or is_open(expr) or is_fraction)
        return shown if is_one else self._bracketed(shown)

    # -- functions

    def _print_Function(self, expr: Expr, exp: str | None = None) -> str:
        name, inside = type(expr).__name__, ", ".join(map(self._print, expr.args))
        return self._AROUND[name] % inside if name in self._AROUND else f"{self._HEADS.get(name, name)}({inside})"

    _print_floor = _print_ceiling = _print_LatticeOp = _print_lgamma = _print_sinc = _print_Function
    _print_erfinv = _print_log = _print_Max = _print_Min = _print_Function

    def _root(self, base: Expr) -> str:
        is_short = isinstance(base, sympy.Symbol | sympy.Indexed | sympy.NumberSymbol) or (
            base.is_Integer and base >= 0
        )
        return f"√{self._print(base)}" if is_short else f"√({self._print(base)})"

    def _raised(self, base: Expr, exponent: Expr) -> str:
        above = str(exponent).translate(_SUPERSCRIPTS) if exponent.is_Integer else f"^{self._tight(exponent)}"
        return self._tight(base) + above

    # -- names, indices, functions

    def _at(self, indices: tuple[Expr, ...]) -> str:
        return f"[{','.join(map(self._bare, indices))}]"

    def _bare(self, index: Expr) -> str:
        shown = str(self._print(index))
        return shown if index.has(sympy.Piecewise) else shown.replace(" ", "")

    def _print_KroneckerDelta(self, expr: Expr) -> str:
        return f"δ{self._at(expr.args)}"

    def _print_Indexed(self, expr: Expr) -> str:
        return f"{expr.base.label}{self._at(expr.indices)}"

    def _print_polygamma(self, expr: Expr) -> str:
        n, x = expr.args
        return f"digamma({self._print(x)})" if n == 0 else self._print_Function(expr)

    def _print_besseli(self, expr: Expr) -> str:
        n, x = expr.args
        return f"i{n}({self._print(x)})" if n in (0, 1) else self._print_Function(expr)

    def _print_abs(self, expr: Expr, exp: str | None = None) -> str:
        inside = self._print(expr.args[0])
        return f"abs({inside})" if "|" in inside else f"|{inside}|"

    _print_Abs = _print_abs

    def _print_quotient(self, expr: Expr) -> str:
        p, n = expr.args
        return f"⌊{self._factor(p, is_last=False)}/{self._tight(n)}⌋"

    # -- over bound indices

    def _ranging(self, sign: str, body: Expr, limits: tuple[tuple[Expr, ...], ...], kept: tuple[str, ...] = ()) -> str:
        ends = (map(self._bare, limit) for limit in limits)
        ranges = ", ".join([*(f"{k}={first}..{last}" for k, first, last in ends), *kept])
        return f"{sign}[{ranges}] {self._body(body)}"

    def _over(self, expr: Aggregate) -> str:
        """Write the element of a matrix that has no name."""
        return self._ranging("", expr.body, expr.limits)

    def _print_InverseElement(self, expr: Aggregate) -> str:
        return f"inv({self._matrix(expr)}){self._at(expr.free)}"

r"""LaTeX that compiles with amsmath alone: `2*x[i]**2*KroneckerDelta(i, j)` as `2 x_{i}^{2} \, \delta_{ij}`."""

from __future__ import annotations

from typing import ClassVar

import sympy
from sympy import Expr
from sympy.printing.latex import LatexPrinter as SymPyPrinter

from gradcli.language.program.meaning import Aggregate
from gradcli.notation import typesetting
from gradcli.symbolic.linear import parted
from gradcli.symbolic.printing.arranging import (
    Sentences,
    always,
    is_choice,
    is_negative,
    is_open,
    joined,
    product,
    terms,
)
from gradcli.symbolic.printing.pretty import is_of_variable, is_transposed

_HEADS = {
    **{name: rf"\{name}" for name in "exp log sin cos tan sinh cosh tanh".split()},
    **{"asin": r"\arcsin", "acos": r"\arccos", "atan": r"\arctan"},
    **{"maximum": r"\max", "minimum": r"\min", "Max": r"\max", "Min": r"\min"},
    **{name: rf"\operatorname{{{word}}}" for name, word in [("asinh", "arsinh"), ("acosh", "arcosh")]},
    **{name: rf"\operatorname{{{name}}}" for name in "erf erfc sign sinc trunc round detach atan2".split()},
    **{"atanh": r"\operatorname{artanh}", "gamma": r"\Gamma"},
}
"""How functions are written; a power of one stands behind its head."""

_TALL = (r"\frac", r"\sum", r"\prod", r"\begin", r"\max_", r"\min_", r"\sqrt", r"\left")
"""What brackets grow with."""

LONG_EXPONENT = 40
"""Characters of LaTeX from which on an exponential is written with its name."""


class LatexPrinter(Sentences, SymPyPrinter):  # type: ignore[misc]
    r"""`\frac{x_{i}}{\sqrt{\sum_{k=0}^{2} x_{k}^{2}}}`."""

    printmethod = "_gradcli_latex"  # none has it: the methods here come before those that classes bring along

    # -- sums, products, powers

    def _print_Add(self, expr: Expr, order: str | None = None) -> str:
        return joined(map(self._term, terms(self._as_ordered_terms(expr))))

    def _term(self, term: Expr) -> str:
        shown = str(self._print(term))
        return _round(shown) if isinstance(term, sympy.Add) or is_choice(term) else shown

    def _print_Mul(self, expr: Expr) -> str:
        parts = product(expr)
        behind = [f for f in parts.above if is_open(f) or is_choice(f)]
        above = _times([self._factor(f) for f in parts.above if f not in behind])
        if parts.below:
            only = len(parts.below) == 1
            below = self._print(parts.below[0]) if only else _times([self._factor(f) for f in parts.below])
            above = rf"\frac{{{self._numerator(parts.above, above, behind)}}}{{{below}}}"
        shown = [above] if above else []
        shown += [self._print(delta) for delta in parts.deltas]
        shown += [self._print(f) if f is behind[-1] else _round(self._print(f)) for f in behind]
        return f"-{_times(shown)}" if parts.is_negative else _times(shown)

    def _numerator(self, factors: tuple[Expr, ...], shown: str, behind: list[Expr]) -> str:
        """One bracket alone needs none in a fraction."""
        alone = [f for f in factors if f not in behind]
        return self._print(alone[0]) if len(alone) == 1 else shown or "1"

    def _factor(self, expr: Expr) -> str:
        """In brackets where it would fall apart, or take hold of what comes behind it."""
        shown = str(self._print(expr))
        is_loose = isinstance(expr, sympy.Add | sympy.Mul) or is_negative(expr) or is_open(expr) or is_choice(expr)
        return _round(shown) if is_loose else shown

    def _print_Pow(self, expr: Expr) -> str:
        base, exponent = expr.args
        if exponent.is_number and exponent.is_negative:
            return self._print_Mul(expr)
        if exponent == sympy.S.Half:
            return rf"\sqrt{{{self._print(base)}}}"
        above = f"{exponent.p}/{exponent.q}" if exponent.is_Rational and exponent.q != 1 else self._print(exponent)
        name = base.func.__name__
        if exponent.is_Integer and name in _HEADS and name != "exp":
            return f"{_HEADS[name]}^{{{above}}}{self._arguments(base)}"
        return f"{self._tight(base)}^{{{above}}}"

    def _tight(self, expr: Expr) -> str:
        """The base of a power: in brackets unless it is one thing without an exponent."""
        shown = str(self._print(expr))
        is_one = isinstance(expr, sympy.Symbol | sympy.Indexed | sympy.NumberSymbol | sympy.KroneckerDelta)
        is_one |= expr.is_Number and shown.replace(".", "").isdigit()
        return shown if is_one or type(expr).__name__ in ("abs", "Abs", "floor", "ceil") else _round(shown)

    # -- names, indices, numbers

    def _print_Symbol(self, expr: Expr, style: str = "") -> str:
        return typesetting.name(str(expr))

    def _print_Indexed(self, expr: Expr) -> str:
        return f"{typesetting.name(str(expr.base.label))}_{{{self._at(expr.indices)}}}"

    def _at(self, indices: tuple[Expr, ...]) -> str:
        return ",".join(str(self._print(a)).replace(" + ", "+").replace(" - ", "-") for a in indices)

    def _print_KroneckerDelta(self, expr: Expr, exp: str | None = None) -> str:
        inside = self._at(expr.args)
        is_short = all(isinstance(a, sympy.Symbol) and len(str(a)) == 1 for a in expr.args)
        return rf"\delta_{{{inside.replace(',', '') if is_short else inside}}}"

    def _print_Float(self, expr: Expr) -> str:
        return typesetting.number(repr(float(expr)))

    def _print_Rational(self, expr: Expr) -> str:
        p, q = int(expr.p), int(expr.q)
        return "-" * (p < 0) + (f"{abs(p)}" if q == 1 else rf"\frac{{{abs(p)}}}{{{q}}}")

    _print_Pi, _print_Exp1, _print_NaN = always(r"\pi"), always("e"), always(r"\mathrm{nan}")
    _print_Infinity, _print_NegativeInfinity = always(r"\infty"), always(r"-\infty")

    # -- functions

    def _arguments(self, expr: Expr) -> str:
        return _round(", ".join(map(self._print, expr.args)))

    def _print_Function(self, expr: Expr, exp: str | None = None) -> str:
        name = expr.func.__name__
        return _HEADS.get(name, rf"\operatorname{{{typesetting.text(name)}}}") + self._arguments(expr)

    def _print_exp(self, expr: Expr, exp: str | None = None) -> str:
        inside = self._print(expr.args[0])
        is_short = len(inside) <= LONG_EXPONENT and not any(part in inside for part in _TALL if part != r"\frac")
        return f"e^{{{inside}}}" if is_short else self._print_Function(expr)

    _print_log = _print_Max = _print_Min = _print_Function

    def _print_lgamma(self, expr: Expr) -> str:
        return rf"\log\left|\Gamma{self._arguments(expr)}\right|"

    def _print_erfinv(self, expr: Expr) -> str:
        return rf"\operatorname{{erf}}^{{-1}}{self._arguments(expr)}"

    def _print_polygamma(self, expr: Expr, exp: str | None = None) -> str:
        order, x = expr.args
        above = "" if order == 0 else f"^{{({self._print(order)})}}"
        return rf"\psi{above}{_round(self._print(x))}"

    def _print_besseli(self, expr: Expr, exp: str | None = None) -> str:
        order, x = expr.args
        return f"I_{{{self._print(order)}}}{_round(self._print(x))}"

    def _print_abs(self, expr: Expr, exp: str | None = None) -> str:
        return rf"\left|{self._print(expr.args[0])}\right|"

    _print_Abs = _print_abs

    def _print_floor(self, expr: Expr, exp: str | None = None) -> str:
        return rf"\left\lfloor {self._print(expr.args[0])} \right\rfloor"

    def _print_ceil(self, expr: Expr, exp: str | None = None) -> str:
        return rf"\left\lceil {self._print(expr.args[0])} \right\rceil"

    def _print_quotient(self, expr: Expr) -> str:
        p, n = expr.args
        return rf"\left\lfloor \frac{{{self._print(p)}}}{{{self._print(n)}}} \right\rfloor"

    # -- conditions

    _SIGNS: ClassVar = {">=": r"\ge", "<=": r"\le", "==": "=", "!=": r"\neq"}
    _AND, _OR, _NOT = r" \text{ and } ", r" \text{ or } ", r"\text{not } "

    def _print_where(self, expr: Expr) -> str:
        rows = [
            f"{self._print(value)} & " + (rf"\text{{if }} {condition}" if condition else r"\text{otherwise}")
            for value, condition in self._branches(expr)
        ]
        return r"\begin{cases} " + r" \\ ".join(rows) + r" \end{cases}"

    def _bracketed(self, inside: str) -> str:
        return _round(inside)

    # -- over bound indices

    def _print_Sum(self, expr: Expr) -> str:
        return self._ranging(r"\sum", expr.function, expr.limits)

    def _print_Multiplied(self, expr: Aggregate) -> str:
        body, conditions = parted(expr)
        kept = (self._OR.join(rf"{self._print(a)} \neq {self._print(b)}" for a, b in (one.args for one in either))
                for either in conditions)  # fmt: skip
        return self._ranging(r"\prod", body, expr.limits, tuple(kept))

    def _print_Largest(self, expr: Aggregate) -> str:
        return self._extreme(r"\max", expr)

    def _print_Smallest(self, expr: Aggregate) -> str:
        return self._extreme(r"\min", expr)

    def _ranging(self, sign: str, body: Expr, limits: tuple[tuple[Expr, ...], ...], kept: tuple[str, ...] = ()) -> str:
        below = [f"{self._print(k)}={self._print(first)}" for k, first, _ in reversed(limits)]
        below[-1] = r",\ ".join([below[-1], *kept])
        above = [self._print(last) for _, _, last in reversed(limits)]
        signs = "".join(f"{sign}_{{{a}}}^{{{b}}} " for a, b in zip(below, above, strict=True))
        return signs + self._body(body)

    def _extreme(self, sign: str, expr: Aggregate) -> str:
        ranges = (rf"{self._print(a)} \le {self._print(k)} \le {self._print(b)}" for k, a, b in expr.limits)
        return f"{sign}_{{{', '.join(ranges)}}} {self._body(expr.body)}"

    def _body(self, body: Expr) -> str:
        shown = str(self._print(body))
        return _round(shown) if isinstance(body, sympy.Add) or is_negative(body) else shown

    def _print_MatrixDeterminant(self, expr: Aggregate) -> str:
        return rf"\det{_round(self._matrix(expr))}"

    def _print_InverseElement(self, expr: Aggregate) -> str:
        inverse = f"{self._matrix(expr)}^{{-1}}"
        if is_of_variable(expr) and (is_transposed(expr) or expr.body.indices[:-2]):
            inverse = f"{_round(self._matrix(expr))}^{{-1}}"
        return f"{_round(inverse)}_{{{self._at(expr.free)}}}"

    def _matrix(self, expr: Aggregate) -> str:
        """The name of the matrix, if its elements are just a variable's; else its element with the limits."""
        if is_of_variable(expr):
            before = expr.body.indices[:-2]
            at = f"_{{{self._at(before)}}}" if before else ""
            return typesetting.name(str(expr.body.base.label)) + at + "^{T}" * is_transposed(expr)
        (k, first, last), (n, _, _) = expr.limits
        ends = f"_{{{self._print(k)},{self._print(n)}={self._print(first)}}}^{{{self._print(last)}}}"
        return rf"{{\left[{self._print(expr.body)}\right]{ends}}}"


def _round(inside: str) -> str:
    """In round brackets, which grow with what is tall."""
    return rf"\left({inside}\right)" if any(part in inside for part in _TALL) else f"({inside})"


def _times(factors: list[str]) -> str:
    """Side by side with a thin space; a dot before what begins with a digit."""
    shown = ""
    for factor in factors:
        if not shown:
            shown = factor
        elif factor[0].isdigit():
            shown += rf" \cdot {factor}"
        else:
            shown += f" {factor}" if shown.isdigit() else rf" \, {factor}"
    return shown

r"""LaTeX that compiles with amsmath alone, by SymPy's own printer: `2 x_{i}^{2} \delta_{i j}`."""

from __future__ import annotations

from typing import ClassVar

from sympy import Expr
from sympy.printing.latex import LatexPrinter as SymPyPrinter

from gradcli.language.program.sympy_functions import Aggregate
from gradcli.notation import typesetting
from gradcli.symbolic.printing.arranging import Sentences, always, is_choice, is_open, terms
from gradcli.symbolic.printing.pretty import is_of_variable, is_transposed


class LatexPrinter(Sentences, SymPyPrinter):  # type: ignore[misc]
    r"""`\frac{x_{i}}{\sqrt{\sum_{k=0}^{2} x_{k}^{2}}}`."""

    printmethod = "_gradcli_latex"  # none has it: the methods here come before those that classes bring along

    _SIGNS: ClassVar = {">=": r"\ge", "<=": r"\le", "==": "=", "!=": r"\neq"}
    _OVER: ClassVar = {"Sum": r"\sum", "Multiplied": r"\prod", "Largest": r"\max", "Smallest": r"\min"}
    _CASES = r"\begin{cases} %s \end{cases}", r" \\ ", r" & \text{if } ", r" & \text{otherwise}"
    _AND, _OR, _NOT, _UNEQUAL = r" \text{ and } ", r" \text{ or } ", r"\text{not } ", r" \neq "
    _print_abs, _print_ceil = SymPyPrinter._print_Abs, SymPyPrinter._print_ceiling
    _print_Pi, _print_Exp1, _print_NaN = always(r"\pi"), always("e"), always(r"\mathrm{nan}")
    _print_ComplexInfinity = always(r"\text{undefined}")
    _print_Infinity, _print_NegativeInfinity = always(r"\infty"), always(r"-\infty")

    def __init__(self) -> None:
        super().__init__({"fold_frac_powers": True, "inv_trig_style": "full"})

    def _bracketed(self, inside: str) -> str:
        return rf"\left({inside}\right)"

    def _power(self, shown: str, exp: str | None) -> str:
        return shown if exp is None else f"{self._bracketed(shown)}^{{{exp}}}"

    def _as_ordered_terms(self, expr: Expr, order: str | None = None) -> list[Expr]:
        return terms(super()._as_ordered_terms(expr, order))

    def parenthesize(self, item: Expr, level: int, **options: object) -> str:
        """Put in brackets also choices, and whatever would take in a factor that follows."""
        is_loose = is_open(item) or is_choice(item)
        return self._bracketed(self._print(item)) if is_loose else str(super().parenthesize(item, level, **options))

    def _needs_mul_brackets(self, expr: Expr, first: bool = False, last: bool = False) -> bool:
        is_loose = is_choice(expr) or (is_open(expr) and not last)
        return is_loose or bool(super()._needs_mul_brackets(expr, first, last))

    # -- names, indices, numbers

    def _print_Symbol(self, expr: Expr, style: str = "") -> str:
        return typesetting.name(str(expr))

    def _print_Indexed(self, expr: Expr) -> str:
        return f"{typesetting.name(str(expr.base.label))}_{{{self._at(expr.indices)}}}"

    def _at(self, indices: tuple[Expr, ...]) -> str:
        return ",".join(str(self._print(a)).replace(" + ", "+").replace(" - ", "-") for a in indices)

    def _print_Float(self, expr: Expr) -> str:
        return typesetting.number(repr(float(expr)))

    # -- functions

    def _print_Piecewise(self, expr: Expr, exp: str | None = None) -> str:
        return self._power(super()._print_Piecewise(expr), exp)

    def _print_maximum(self, expr: Expr, exp: str | None = None) -> str:
        inside = self._bracketed(", ".join(map(self._print, expr.args)))
        return self._power(rf"\{type(expr).__name__[:3]}{inside}", exp)

    _print_minimum = _print_maximum

    def _print_lgamma(self, expr: Expr, exp: str | None = None) -> str:
        return self._power(rf"\log\left|\Gamma{self._bracketed(self._print(expr.args[0]))}\right|", exp)

    def _print_polygamma(self, expr: Expr, exp: str | None = None) -> str:
        order, x = map(self._print, expr.args)
        return self._power(rf"\psi{f'^{{({order})}}' * (order != '0')}{self._bracketed(x)}", exp)

    def _print_quotient(self, expr: Expr, exp: str | None = None) -> str:
        p, n = map(self._print, expr.args)
        return self._power(rf"\left\lfloor \frac{{{p}}}{{{n}}} \right\rfloor", exp)

    # -- over bound indices

    def _ranging(self, sign: str, body: Expr, limits: tuple[tuple[Expr, ...], ...], kept: tuple[str, ...] = ()) -> str:
        if sign in (r"\max", r"\min"):
            ranges = (rf"{self._print(a)} \le {self._print(k)} \le {self._print(b)}" for k, a, b in limits)
            return f"{sign}_{{{', '.join(ranges)}}} {self._body(body)}"
        below = [f"{self._print(k)}={self._print(first)}" for k, first, _ in reversed(limits)]
        below[-1] = r",\ ".join([below[-1], *kept])
        above = [self._print(last) for _, _, last in reversed(limits)]
        signs = "".join(f"{sign}_{{{a}}}^{{{b}}} " for a, b in zip(below, above, strict=True))
        return signs + self._body(body)

    def _print_MatrixDeterminant(self, expr: Aggregate) -> str:
        return rf"\det{self._bracketed(self._matrix(expr))}"

    def _print_InverseElement(self, expr: Aggregate) -> str:
        inverse = f"{self._matrix(expr)}^{{-1}}"
        if is_of_variable(expr) and (is_transposed(expr) or expr.body.indices[:-2]):
            inverse = f"{self._bracketed(self._matrix(expr))}^{{-1}}"
        return f"{self._bracketed(inverse)}_{{{self._at(expr.free)}}}"

    def _matrix(self, expr: Aggregate) -> str:
        """Return the name of a matrix whose elements are just a variable's; else its element with the limits."""
        if is_of_variable(expr):
            before = expr.body.indices[:-2]
            at = f"_{{{self._at(before)}}}" if before else ""
            return typesetting.name(str(expr.body.base.label)) + at + "^{T}" * is_transposed(expr)
        (k, first, last), (n, _, _) = expr.limits
        ends = f"_{{{self._print(k)},{self._print(n)}={self._print(first)}}}^{{{self._print(last)}}}"
        return rf"{{\left[{self._print(expr.body)}\right]{ends}}}"

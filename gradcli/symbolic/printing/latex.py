r"""LaTeX that compiles with amsmath alone: `2*x[i]**2*KroneckerDelta(i, j)` as `2 x_{i}^{2} \, \delta_{ij}`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

import sympy
from sympy import Expr
from sympy.printing.latex import LatexPrinter as SymPyPrinter

from gradcli.language.program.meaning import Aggregate
from gradcli.notation import typesetting
from gradcli.symbolic.printing.arranging import Product, Sentences, always, is_choice, is_open
from gradcli.symbolic.printing.pretty import is_of_variable, is_transposed

_TALL = (r"\frac", r"\sum", r"\prod", r"\begin", r"\max_", r"\min_", r"\sqrt", r"\left")
"""What brackets grow with."""

LONG_EXPONENT = 40
"""Characters of LaTeX from which on an exponential is written with its name."""


class LatexPrinter(Sentences, SymPyPrinter):  # type: ignore[misc]
    r"""`\frac{x_{i}}{\sqrt{\sum_{k=0}^{2} x_{k}^{2}}}`."""

    printmethod = "_gradcli_latex"  # none has it: the methods here come before those that classes bring along

    _SIGNS: ClassVar = {">=": r"\ge", "<=": r"\le", "==": "=", "!=": r"\neq"}
    _OVER: ClassVar = {"Sum": r"\sum", "Multiplied": r"\prod", "Largest": r"\max", "Smallest": r"\min"}
    _HEADS: ClassVar = {
        **{name: rf"\{name}" for name in "exp log sin cos tan sinh cosh tanh".split()},
        **{name: rf"\{name.lower()[:3]}" for name in ("maximum", "minimum", "Max", "Min")},
        **{name: rf"\arc{name[1:]}" for name in ("asin", "acos", "atan")},
        **{f"a{name}": rf"\operatorname{{ar{name}}}" for name in ("sinh", "cosh", "tanh")},
        **{name: rf"\operatorname{{{name}}}" for name in "erf erfc sign sinc trunc round detach atan2".split()},
        **{"gamma": r"\Gamma", "erfinv": r"\operatorname{erf}^{-1}"},
    }
    _AROUND: ClassVar = {
        **dict.fromkeys(("abs", "Abs"), r"\left|%s\right|"),
        **dict.fromkeys(("ceil", "ceiling"), r"\left\lceil %s \right\rceil"),
        **{"floor": r"\left\lfloor %s \right\rfloor", "lgamma": r"\log\left|\Gamma(%s)\right|"},
    }
    _CASES = r"\begin{cases} %s \end{cases}", r" \\ ", r" & \text{if } ", r" & \text{otherwise}"
    _AND, _OR, _NOT, _UNEQUAL = r" \text{ and } ", r" \text{ or } ", r"\text{not } ", r" \neq "
    _print_Pi, _print_Exp1, _print_NaN = always(r"\pi"), always("e"), always(r"\mathrm{nan}")
    _print_Infinity, _print_NegativeInfinity = always(r"\infty"), always(r"-\infty")

    def _bracketed(self, inside: str) -> str:
        """In round brackets, which grow with what is tall."""
        return rf"\left({inside}\right)" if any(part in inside for part in _TALL) else f"({inside})"

    # -- sums, products and powers

    def _is_loose(self, expr: Expr) -> bool:
        return is_choice(expr) or super()._is_loose(expr)

    def _term(self, term: Expr) -> str:
        return self._bracketed(self._print(term)) if is_choice(term) else super()._term(term)

    def _times(self, factors: Sequence[str]) -> str:
        """Side by side with a thin space; a dot before what begins with a digit."""
        shown = ""
        for factor in factors:
            between = r" \cdot " if factor[0].isdigit() else " " if shown.isdigit() else r" \, "
            shown += f"{between}{factor}" if shown else factor
        return shown

    def _arranged(self, parts: Product) -> Iterable[str]:
        """A fraction, the deltas, then sums and choices, of which the last needs no brackets."""
        behind = [f for f in parts.above if is_open(f) or is_choice(f)]
        above = [f for f in parts.above if f not in behind]
        shown = self._product(above, is_end=True)
        if parts.below:
            only = (
                self._print(fs[0]) if len(fs) == 1 else self._product(fs, is_end=True) for fs in (above, parts.below)
            )
            shown = rf"\frac{{{next(only) or '1'}}}{{{next(only)}}}"
        texts = [self._print(f) if f is behind[-1] else self._bracketed(self._print(f)) for f in behind]
        return [shown, *map(self._print, parts.deltas), *texts]

    def _root(self, base: Expr) -> str:
        return rf"\sqrt{{{self._print(base)}}}"

    def _raised(self, base: Expr, exponent: Expr) -> str:
        above = f"{exponent.p}/{exponent.q}" if exponent.is_Rational and exponent.q != 1 else self._print(exponent)
        name = type(base).__name__
        if exponent.is_Integer and name in self._HEADS and name not in ("exp", "erfinv"):
            return f"{self._HEADS[name]}^{{{above}}}{self._bracketed(', '.join(map(self._print, base.args)))}"
        is_loose = name in ("exp", "erfinv", "lgamma") or (base.is_Float and "^" in self._print(base))
        return f"{self._bracketed(self._print(base)) if is_loose else self._tight(base)}^{{{above}}}"

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

    # -- functions

    def _head(self, name: str) -> str:
        return self._HEADS.get(name) or rf"\operatorname{{{typesetting.text(name)}}}"

    def _print_exp(self, expr: Expr, exp: str | None = None) -> str:
        inside = self._print(expr.args[0])
        is_short = len(inside) <= LONG_EXPONENT and not any(part in inside for part in _TALL if part != r"\frac")
        return f"e^{{{inside}}}" if is_short else self._print_Function(expr)

    def _print_polygamma(self, expr: Expr, exp: str | None = None) -> str:
        order, x = expr.args
        above = "" if order == 0 else f"^{{({self._print(order)})}}"
        return rf"\psi{above}{self._bracketed(self._print(x))}"

    def _print_besseli(self, expr: Expr, exp: str | None = None) -> str:
        order, x = expr.args
        return f"I_{{{self._print(order)}}}{self._bracketed(self._print(x))}"

    def _print_quotient(self, expr: Expr) -> str:
        p, n = expr.args
        return rf"\left\lfloor \frac{{{self._print(p)}}}{{{self._print(n)}}} \right\rfloor"

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
        """The name of the matrix, if its elements are just a variable's; else its element with the limits."""
        if is_of_variable(expr):
            before = expr.body.indices[:-2]
            at = f"_{{{self._at(before)}}}" if before else ""
            return typesetting.name(str(expr.body.base.label)) + at + "^{T}" * is_transposed(expr)
        (k, first, last), (n, _, _) = expr.limits
        ends = f"_{{{self._print(k)},{self._print(n)}={self._print(first)}}}^{{{self._print(last)}}}"
        return rf"{{\left[{self._print(expr.body)}\right]{ends}}}"

"""Formulas as text: SymPy's notation for machines, readable Unicode mathematics for people.

Indices are Dummies until here; they get the letters i, j, k, ... that no variable has.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

import sympy
from sympy import Expr, KroneckerDelta
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

from gradcli.language.program import Program
from gradcli.results import Cell, Formula
from gradcli.symbolic.derivative import Derivative

_LETTERS = "ijklmnpqrstuvw"
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

_SYMPY_NAMES = {"abs": "Abs", "ceil": "ceiling", "maximum": "Max", "minimum": "Min"}
"""What SymPy calls functions of our own."""

Names = Mapping[sympy.Symbol, sympy.Symbol]


class _PlainPrinter(StrPrinter):  # type: ignore[misc]
    """SymPy's notation, which SymPy reads back, with shortest floats and deltas after the factors they select from."""

    def _print_Float(self, expr: Expr) -> str:
        return repr(float(expr))

    def _print_Function(self, expr: Expr) -> str:
        name = expr.func.__name__
        return f"{_SYMPY_NAMES.get(name, name)}({self.stringify(expr.args, ', ')})"

    def _print_lgamma(self, expr: Expr) -> str:
        return f"log(Abs(gamma({self._print(expr.args[0])})))"

    def _print_sinc(self, expr: Expr) -> str:
        return f"sinc({self._print(sympy.pi * expr.args[0])})"

    def _print_Mul(self, expr: Expr) -> str:
        deltas = [factor for factor in expr.args if isinstance(factor, KroneckerDelta)]
        if not deltas:
            return str(super()._print_Mul(expr))
        rest = sympy.Mul(*(factor for factor in expr.args if factor not in deltas))
        shown = "*".join(self._print(delta) for delta in deltas)
        if rest in (1, -1):
            return shown if rest == 1 else f"-{shown}"
        return f"{self.parenthesize(rest, PRECEDENCE['Mul'], strict=True)}*{shown}"


class _PrettyPrinter(_PlainPrinter):
    """`2*x[i]**2*KroneckerDelta(i, j)` as `2·x[i]²·δ[i,j]`."""

    printmethod = "_gradcli_pretty"  # none has it: the methods here come before those that classes bring along

    def doprint(self, expr: Expr) -> str:
        return str(super().doprint(expr)).replace("**", "^").replace("*", "·")

    def _print_Function(self, expr: Expr) -> str:
        return f"{expr.func.__name__}({self.stringify(expr.args, ', ')})"

    _print_lgamma = _print_sinc = _print_Function

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
        sign = {">=": "≥", "<=": "≤", "==": "=", "!=": "≠"}.get(expr.rel_op, expr.rel_op)
        return f"{self._print(expr.lhs)} {sign} {self._print(expr.rhs)}"

    def _print_And(self, expr: Expr) -> str:
        return " and ".join(self._print(a) for a in sorted(expr.args, key=sympy.default_sort_key))

    def _print_Piecewise(self, expr: Expr) -> str:
        shown = [
            f"{self._print(value)} {'otherwise' if condition == sympy.true else f'if {self._print(condition)}'}"
            for value, condition in expr.args
        ]
        return "{" + "; ".join(shown) + "}"


_PLAIN, _PRETTY = _PlainPrinter(), _PrettyPrinter()


def formula(derivative: Derivative, program: Program, note: str = "") -> Formula:
    """The formula of one Jacobian block as text.

    Args:
        derivative: The closed form.
        program: What the names of the output and of the variables are taken from; no index gets one of them.
        note: Where it was confirmed.
    """
    written = {symbol for symbol, _ in derivative.written}
    taken = {*program.names, *program.assigned}
    letters = (letter for letter in _letters() if letter not in taken)
    names = _name([s for s in derivative.rows if s not in written], letters)
    if not names:
        next(letters)  # i stands for y's index even where y has none
    names |= _name([s for s in derivative.columns if s not in written], letters)
    bound = tuple(itertools.islice(letters, len(_LETTERS)))
    labels = program.output_name, names, bound
    cells = tuple(_cell(derivative, chosen, expression, *labels) for chosen, expression in derivative.cases)
    text = _nested([cell.text for cell in cells], [size for _, size in derivative.written])
    return Formula(text, cells, note)


def _letters() -> Iterator[str]:
    yield from _LETTERS
    yield from (f"i{n}" for n in itertools.count(1))


def _name(symbols: list[sympy.Symbol], letters: Iterator[str]) -> dict[sympy.Symbol, sympy.Symbol]:
    return {symbol: _index(letter) for symbol, letter in zip(symbols, letters, strict=False)}


def _index(letter: str) -> sympy.Symbol:
    return sympy.Symbol(letter, integer=True, nonnegative=True)


def _cell(
    derivative: Derivative,
    chosen: Mapping[sympy.Symbol, Expr],
    expression: Expr,
    output: str,
    names: Names,
    bound: tuple[str, ...],
) -> Cell:
    sizes = {symbol: sympy.Integer(size) for symbol, size in derivative.sizes.items()}
    limits = [
        k for total in sympy.postorder_traversal(expression) if isinstance(total, sympy.Sum) for k in total.variables
    ]
    renamed = {**names, **_name(list(dict.fromkeys(limits)), iter(bound))}
    shown = _without_sure_conditions(expression.xreplace(sizes), derivative).xreplace(renamed)

    def label(name: str, symbols: tuple[sympy.Symbol, ...]) -> str:
        inside = ",".join(str(chosen.get(s, names.get(s))) for s in symbols)
        return f"{name}[{inside}]" if inside else name

    row, column = label(output, derivative.rows), label(derivative.variable, derivative.columns)
    return Cell(row, column, _PLAIN.doprint(shown), _PRETTY.doprint(shown))


def _without_sure_conditions(expression: Expr, derivative: Derivative) -> Expr:
    """Conditions on an index that hold over its whole range at these sizes are not worth reading."""
    sizes = {symbol: sympy.Integer(size) for symbol, size in derivative.sizes.items()}
    sure = {}
    for condition in expression.atoms(sympy.Ge, sympy.Le):
        (index, *others) = condition.free_symbols or (None,)
        if not others and index in derivative.ranges:
            last = derivative.ranges[index].xreplace(sizes) - 1
            if all(condition.xreplace({index: end}) == sympy.true for end in (sympy.S.Zero, last)):
                sure[condition] = sympy.true
    return expression.xreplace(sure)


def _nested(texts: list[str], sizes: list[int]) -> str:
    """Formulas in row-major order as a nested list with these sizes."""
    for size in reversed(sizes):
        texts = [f"[{', '.join(texts[n : n + size])}]" for n in range(0, len(texts), size)]
    return texts[0]

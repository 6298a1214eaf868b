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

from gradcli.language.aggregates import Aggregate, Chosen, quotient
from gradcli.language.meaning import Comparison, where
from gradcli.language.program import Program
from gradcli.results import Cell, Formula, Notation
from gradcli.symbolic.derivative import Derivative
from gradcli.symbolic.labels import label
from gradcli.symbolic.structure import Structure

MOST_CORNERS = 4
"""Indices of a condition up to which it is looked at whether it always holds."""

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

    def _print_Pow(self, expr: Expr, rational: bool = False) -> str:
        base, exponent = expr.args
        if isinstance(base, where | Aggregate | Chosen) and exponent != -1:
            return f"{self._print(base)}**{self.parenthesize(exponent, PRECEDENCE['Pow'], strict=False)}"
        return str(super()._print_Pow(expr, rational))

    def _print_where(self, expr: Expr) -> str:
        shown = [f"({self._print(value)}, {condition})" for value, condition in self._branches(expr)]
        return f"Piecewise({', '.join(shown)})"

    def _branches(self, expr: Expr) -> list[tuple[Expr, str]]:
        """Values with their conditions as text; the last is True."""
        branches = []
        while isinstance(expr, where):
            condition, value, expr = expr.args
            branches.append((value, self._condition(condition)))
        return [*branches, (expr, "True")]

    def _condition(self, expr: Expr) -> str:
        """A function that is 1 or 0 as the condition it stands for."""
        match expr:
            case Comparison():
                return self._relation(expr.sign, *map(self._print, expr.args))
            case where(args=(a, b, sympy.S.Zero)):
                return f"({self._condition(a)}) & ({self._condition(b)})"
            case where(args=(a, sympy.S.One, b)):
                return f"({self._condition(a)}) | ({self._condition(b)})"
            case where(args=(a, sympy.S.Zero, sympy.S.One)):
                return f"~({self._condition(a)})"
            case sympy.Integer():
                return str(expr != 0)
        return self._relation("!=", self._print(expr), "0")

    def _relation(self, sign: str, left: str, right: str) -> str:
        head = {"==": "Eq", "!=": "Ne"}.get(sign)
        return f"{head}({left}, {right})" if head else f"{left} {sign} {right}"

    def _print_quotient(self, expr: Expr) -> str:
        p, n = expr.args
        above, below = (self.parenthesize(a, PRECEDENCE["Pow"], strict=False) for a in (p, n))
        return f"floor({above}/{below})"

    def _print_Chosen(self, expr: Chosen) -> str:
        is_it = self._relation("==", self._print(expr.value), self._print(expr.extreme))
        return f"Piecewise((1, {is_it}), (0, True))"

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
        if isinstance(body, sympy.Indexed) and set(body.indices[-2:]) == set(expr.bound):
            before = body.indices[:-2]
            at = f"[{', '.join(map(self._print, before))}]" if before else ""
            return f"{body.base.label}{at}" + ".T" * (list(body.indices[-2:]) != expr.bound)
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


class _PrettyPrinter(_PlainPrinter):
    """`2*x[i]**2*KroneckerDelta(i, j)` as `2·x[i]²·δ[i,j]`."""

    printmethod = "_gradcli_pretty"  # none has it: the methods here come before those that classes bring along

    def doprint(self, expr: Expr) -> str:
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
            f"{self._print(value)} {'otherwise' if condition == 'True' else f'if {condition}'}"
            for value, condition in self._branches(expr)
        ]
        return "{" + "; ".join(shown) + "}"

    def _condition(self, expr: Expr) -> str:
        match expr:
            case where(args=(a, b, sympy.S.Zero)):
                return f"{self._condition(a)} and {self._condition(b)}"
            case where(args=(a, sympy.S.One, b)):
                return f"({self._condition(a)} or {self._condition(b)})"
            case where(args=(a, sympy.S.Zero, sympy.S.One)):
                return f"not ({self._condition(a)})"
        return super()._condition(expr)

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

    def _print_Piecewise(self, expr: Expr) -> str:
        shown = [
            f"{self._print(value)} {'otherwise' if condition == sympy.true else f'if {self._print(condition)}'}"
            for value, condition in expr.args
        ]
        return "{" + "; ".join(shown) + "}"


_PLAIN, _PRETTY = _PlainPrinter(), _PrettyPrinter()


def as_factor(expression: Expr) -> Notation:
    """An expression as it stands in a product: a sum, a fraction or a negative one in parentheses.

    >>> x = sympy.Symbol("x")
    >>> as_factor(1 - x**2), as_factor(2*x).pretty
    (Notation(text='(1 - x**2)', pretty='(1 - x²)'), '2·x')
    """
    texts = []
    for printer in (_PLAIN, _PRETTY):
        text = printer.doprint(expression)
        texts.append(f"({text})" if expression.is_Add or text.startswith("-") else text)
    return Notation(*texts)


def formula(derivative: Derivative, program: Program, note: str = "", structure: Structure = "") -> Formula:
    """The formula of one Jacobian block, or of another derivative, as text.

    Args:
        derivative: The closed form.
        program: What the names of the output and of the variables are taken from; no index gets one of them.
        note: Where it was confirmed.
        structure: What it shows of the whole block.
    """
    written = {symbol for symbol, _ in derivative.written}
    taken = {*program.names, *program.assigned, *("u" if derivative.of in ("jvp", "hvp") else "")}
    letters = (letter for letter in _letters() if letter not in taken)
    names = _name([s for s in derivative.rows if s not in written], letters)
    if not names:
        next(letters)  # i stands for y's index even where y has none
    names |= _name([s for s in derivative.columns if s not in written], letters)
    if derivative.of == "jvp":
        next(letters)  # as j stands for x's
    bound = tuple(itertools.islice(letters, len(_LETTERS)))
    labels = program, names, bound
    cells = tuple(_cell(derivative, chosen, expression, *labels) for chosen, expression in derivative.cases)
    text = _nested([cell.text for cell in cells], [size for _, size in derivative.written])
    return Formula(text, cells, note, structure)


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
    program: Program,
    names: Names,
    bound: tuple[str, ...],
) -> Cell:
    sizes = {symbol: sympy.Integer(size) for symbol, size in derivative.sizes.items()}
    parts = [p for p in sympy.postorder_traversal(expression) if isinstance(p, sympy.Sum | Aggregate)]
    limits = [k for part in parts for k in (part.bound if isinstance(part, Aggregate) else part.variables)]
    renamed = {**names, **_name(list(dict.fromkeys(limits)), iter(bound))}
    shown = without_sure_conditions(expression.xreplace(sizes), derivative).xreplace(renamed)

    def element(name: str, symbols: tuple[sympy.Symbol, ...]) -> str:
        inside = ",".join(str(chosen.get(s, names.get(s))) for s in symbols)
        return f"{name}[{inside}]" if inside else name

    row = element(derivative.first or program.output_name, derivative.rows)
    column = element(derivative.variable, derivative.columns)
    of = label(derivative.of, program.output_name, row, column)
    return Cell(row, column, _PLAIN.doprint(shown), _PRETTY.doprint(shown), label=of)


def without_sure_conditions(expression: Expr, derivative: Derivative) -> Expr:
    """Conditions that hold for all values of their indices, or for none, are not worth reading.

    They are affine in the indices, so the corners of the box tell.
    """
    sizes = {symbol: sympy.Integer(size) for symbol, size in derivative.sizes.items()}
    sure: dict[Expr, Expr] = {}
    for condition in expression.atoms(sympy.Ge, sympy.Le):
        indices = sorted(condition.free_symbols, key=str)
        if len(indices) > MOST_CORNERS or any(i not in derivative.ranges for i in indices) or condition.has(quotient):
            continue
        ends = [(sympy.S.Zero, derivative.ranges[i].xreplace(sizes) - 1) for i in indices]
        corners = {condition.xreplace(dict(zip(indices, at, strict=True))) for at in itertools.product(*ends)}
        if corners in ({sympy.true}, {sympy.false}):
            sure[condition] = corners.pop()
    return expression.xreplace(sure)


def _nested(texts: list[str], sizes: list[int]) -> str:
    """Formulas in row-major order as a nested list with these sizes."""
    for size in reversed(sizes):
        texts = [f"[{', '.join(texts[n : n + size])}]" for n in range(0, len(texts), size)]
    return texts[0]

"""Formulas as Python: index notation as `x[i]`, sums as `sum(... for k in range(n))`, cases as `a if c else b`.

SymPy's printer of Python writes arithmetic and conditions.  What does not depend on the indices of the entry, such as
the sum of a softmax or the inverse of a matrix, gets a name and is computed once.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from itertools import chain, count

import sympy
from sympy import Expr
from sympy.printing.pycode import AbstractPythonCodePrinter

from gradcli.codegen.script import NUMPY, Identifiers
from gradcli.codegen.self_writing import PyExpr, constant, unparsed
from gradcli.language import ops
from gradcli.language.program import meaning
from gradcli.language.program.library_calls import of_numbers
from gradcli.symbolic.derivative import Derivative
from gradcli.symbolic.printing import without_sure_conditions

MATH, SPECIAL = PyExpr("math"), PyExpr("special")
"""What writes the calls of Python's `math` and of `scipy.special` down."""

_OVER = {"Sum": ("total", "sum"), "Multiplied": ("product", "math.prod")}
_OVER |= {"Largest": ("largest", "max"), "Smallest": ("smallest", "min")}
"""What is called what is computed over bound indices, and the function of Python that computes it."""


class FormulaLowering(AbstractPythonCodePrinter):  # type: ignore[misc]
    """From the formulas of one Jacobian block to Python.

    Args:
        names: Where names come from.
        variables: What the script calls each variable, and each constant tensor of the formulas.
        derivative: The formulas.

    Attributes:
        before: What all entries share and is computed once, by its name, in order.
    """

    def __init__(self, names: Identifiers, variables: Mapping[str, str], derivative: Derivative) -> None:
        super().__init__()
        self.names, self.variables, self.derivative = names, variables, derivative
        self.sizes = {symbol: sympy.Integer(size) for symbol, size in derivative.sizes.items()}
        self.written_out = dict(derivative.written)
        self.before: dict[str, str] = {}
        self._shared: dict[Expr, str] = {}
        self._indices: dict[Expr, str] = {}
        self._letters = filter(names.is_free, chain("ijklmnpqrstuvw", (f"i{n}" for n in count(1))))

    def block(self) -> str:
        """The Jacobian block as nested lists and comprehensions: its rows, then its columns."""
        if self.written_out.keys() >= set(self.derivative.rows):
            next(self._letters)  # i stands for y's index even where y has none
        indices = (*self.derivative.rows, *self.derivative.columns)
        for symbol in indices:
            if symbol not in self.written_out:
                self._index(symbol)
        return unparsed(ast.parse(self._nested(indices, {})))

    def _nested(self, indices: Sequence[sympy.Symbol], chosen: Mapping[sympy.Symbol, Expr]) -> str:
        if not indices:
            cases = self.derivative.cases
            found = next(expression for case, expression in cases if case.items() <= chosen.items())
            return self._print(without_sure_conditions(found.xreplace(self.sizes), self.derivative))
        first, *rest = indices
        if first in self.written_out:
            places = map(sympy.Integer, range(self.written_out[first]))
            return f"[{', '.join(self._nested(rest, {**chosen, first: n}) for n in places)}]"
        size = self.derivative.ranges[first].xreplace(self.sizes)
        return f"[{self._nested(rest, chosen)} for {self._index(first)} in range({size})]"

    def _index(self, symbol: sympy.Symbol) -> str:
        """The letter of an index, a fresh one at its first use."""
        if symbol not in self._indices:
            self._indices[symbol] = next(self._letters)
        return self._indices[symbol]

    def _is_index(self, symbol: Expr) -> bool:
        return symbol in self.derivative.ranges or isinstance(symbol, sympy.Dummy)

    # -- what SymPy's printer asks for, by the names of classes

    def _print(self, e: Expr, **_: object) -> str:
        match e:
            case sympy.Float() | sympy.NumberSymbol() | sympy.core.numbers.Infinity():
                return str(constant(e, "np"))
            case sympy.Symbol():
                return self._index(e) if self._is_index(e) else self.variables[str(e)]
            case meaning.Comparison():
                return f"float({self._print(e.args[0])} {e.sign} {self._print(e.args[1])})"
        return str(super()._print(e))

    def _print_Indexed(self, e: sympy.Indexed) -> str:
        return f"{self.variables[str(e.base.label)]}[{self.stringify(e.indices, ', ')}]"

    def _print_Pow(self, e: sympy.Pow) -> str:
        return str(self._hprint_Pow(e, sqrt="np.sqrt"))

    def _print_KroneckerDelta(self, e: sympy.KroneckerDelta) -> str:
        return "({} == {})".format(*map(self._print, e.args))

    def _print_quotient(self, e: meaning.quotient) -> str:
        return "(({}) // ({}))".format(*map(self._print, e.args))

    def _print_Chosen(self, e: meaning.Chosen) -> str:
        return f"float({self._print(e.value)} == {self._print(e.extreme)})"

    def _print_where(self, e: meaning.where) -> str:
        condition, a, b = map(self._print, e.args)
        return f"({a} if {condition.removeprefix('float')} else {b})"

    def _print_Piecewise(self, e: sympy.Piecewise) -> str:
        """What no case holds for does not occur, so the last is any other."""
        *cases, (last, _) = e.args
        parts = [f"{self._print(value)} if {self._print(condition)} else " for value, condition in cases]
        return f"({''.join(parts)}{self._print(last)})"

    def _print_Function(self, e: Expr) -> str:
        name = type(e).__name__
        if name == "detach":
            return f"({self._print(e.args[0])})"
        row = ops.find(name)
        function = getattr(SPECIAL, {"besseli": "iv"}.get(name, name))
        if row is not None:
            function = of_numbers(row.name, NUMPY, SPECIAL, MATH)
        return f"({function(*(PyExpr(f'({self._print(a)})') for a in e.args))})"

    # -- over indices

    def _print_Sum(self, e: sympy.Sum) -> str:
        name, function = _OVER[next(kind.__name__ for kind in type(e).__mro__ if kind.__name__ in _OVER)]
        loops = "".join(f" for {self._index(k)} in range({self._range(*ends)})" for k, *ends in reversed(e.limits))
        return self._once(e, name, f"{function}({self._print(e.args[0])}{loops})")

    _print_Multiplied = _print_Largest = _print_Smallest = _print_Sum

    def _print_MatrixDeterminant(self, e: meaning.MatrixDeterminant) -> str:
        return self._once(e, "determinant", f"np.linalg.det({self._matrix(e)})")

    def _print_InverseElement(self, e: meaning.InverseElement) -> str:
        """Shared by the matrix and not by the element: one inverse serves all entries."""
        whole = meaning.InverseElement(e.body, e.limits, ())
        inverse = self._once(whole, "inverse", f"np.linalg.inv({self._matrix(e)})")
        return f"{inverse}[{self.stringify(e.free, ', ')}]"

    def _matrix(self, e: meaning.Aggregate) -> str:
        (p, *rows), (q, *columns) = e.limits
        if isinstance(e.body, sympy.Indexed) and e.body.indices == (p, q):
            # The matrix of a variable as it is: copying it element by element would hide what is inverted.
            return self.variables[str(e.body.base.label)]
        row = f"[{self._print(e.body)} for {self._index(q)} in range({self._range(*columns)})]"
        return f"np.array([{row} for {self._index(p)} in range({self._range(*rows)})])"

    def _range(self, first: Expr, last: Expr) -> str:
        end = self._print(last + 1)
        return end if first == 0 else f"{self._print(first)}, {end}"

    def _once(self, e: Expr, name: str, value: str) -> str:
        """What has no index of the entry is computed before it, and has a name."""
        if any(map(self._is_index, e.free_symbols)):
            return value
        if e not in self._shared:
            self._shared[e] = self.names.take(name)
            self.before[self._shared[e]] = unparsed(ast.parse(value))
        return self._shared[e]

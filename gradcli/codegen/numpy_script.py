"""A question as a NumPy script: y, the Jacobian and vᵀJ by their formulas in index notation, without torch.

`x[i]` is an index, a sum `sum(... for k in range(n))`, cases are `a if c else b`; SymPy's printer of Python writes
arithmetic and conditions.  The formulas are those of the symbolic reading, which the reference has confirmed; nothing
is differentiated here.  Entries at which a formula gives other numbers than torch, as at a tie, get torch's.  What does
not depend on the indices of the entry, such as the sum of a softmax or the inverse of a matrix, gets a name and is
computed once.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, count
from typing import Any

import sympy
from sympy import Expr
from sympy.printing.pycode import AbstractPythonCodePrinter

from gradcli.codegen.script import NUMPY, Identifiers, Task, assembled, tensor, used_imports
from gradcli.codegen.self_writing import WIDTH, PyExpr, constant, laid_out, unparsed
from gradcli.errors import printable
from gradcli.language import ops
from gradcli.language.ops import Kind
from gradcli.language.program import meaning
from gradcli.language.program.expansion import in_primitives
from gradcli.language.program.library_calls import NUMPY as IN_NUMPY, function_at
from gradcli.language.program.numeric import array_of
from gradcli.results import Array, Formula, Index
from gradcli.symbolic.derivative import Derivative
from gradcli.symbolic.element import constant_symbol
from gradcli.symbolic.printing import without_sure_conditions

MOST_CELLS = 6
"""Formulas of one variable that are repeated in comments."""

_OVER = {"Sum": ("total", "sum(%s)"), "Multiplied": ("product", "np.prod([%s])")}
_OVER |= {"Largest": ("largest", "max(%s)"), "Smallest": ("smallest", "min(%s)")}
"""The name of a value over bound indices, and the call of Python that computes it."""

_SPECIAL = {"lgamma": "gammaln", "besseli": "iv"}
"""The names in `scipy.special` of functions that are called otherwise there."""


Numbers = Mapping[tuple[Index, Index], float]
"""Numbers of some entries of a Jacobian block, by the indices of row and column."""


def numpy_script(
    task: Task,
    v: Array,
    derivatives: Mapping[str, Derivative],
    shown: Mapping[str, Formula],
    numbers: Mapping[str, Numbers],
) -> str:
    """The script that prints vᵀJ for each variable of `wrt`.

    Args:
        task: The function at its point.
        v: The numbers of the gradient vector.
        derivatives: The formula by variable, for each in `wrt`.
        shown: The same as text, for the comments.
        numbers: Torch's numbers of the entries at which a formula gives others, by variable.

    Raises:
        TooLargeError: Values that follow no rule are too many to be written out.
    """
    names = Identifiers(["np", "special", "print", "sum", "range", "float", "max", "min", "abs"])
    variables = {name: names.take(name) for name in task.arrays}

    def define(name: str, array: Array, what: str) -> str:
        return laid_out(f"{name} = {tensor(NUMPY, array, what, task.dtype)}")

    definitions = [define(variables[name], array, repr(name)) for name, array in task.arrays.items()]
    symbols = {str(s) for d in derivatives.values() for _, e in d.cases for s in (e + d.element).free_symbols}
    for line in in_primitives(task.program).lines:
        label = str(constant_symbol(line.call)) if line.call.op.kind is Kind.SOURCE else ""
        if label in symbols and label not in variables:
            variables[label] = names.take("c")
            definitions.append(define(variables[label], array_of(line.call).astype(task.dtype), label))
    y, gradient = names.take(task.program.output_name), names.take("v", "gradient", "cotangent")
    of_y = Indexed(names, variables, next(iter(derivatives.values()))).statements(y, v.shape, of_value=True)
    blocks, prints = [[*of_y, define(gradient, v, "'v'")]], []
    for name, derivative in derivatives.items():
        cells, word = shown[name].cells, variables[name]
        comments = [_comment(f"# d{cell.row}/d{cell.column} = {cell.text}") for cell in cells[:MOST_CELLS]]
        comments += ["# ..."] * (len(cells) > MOST_CELLS) + [f"# {shown[name].note}"] * bool(shown[name].note)
        block, product = names.take(f"J_{word}"), names.take(f"vjp_{word}")
        lines = Indexed(names, variables, derivative).statements(block, v.shape + task.arrays[name].shape)
        lines += _with_numbers(block, numbers.get(name, {}))
        blocks.append([*comments, *lines, f"{product} = np.tensordot({gradient}, {block}, axes={v.ndim})"])
        prints.append(f"print({product})")
    return used_imports(assembled(definitions, *blocks, prints))


def _with_numbers(block: str, numbers: Numbers) -> list[str]:
    """Assign torch's numbers to the entries of a block at which the formula gives others."""
    if not numbers:
        return []
    places, values = zip(*sorted(((*row, *column), number) for (row, column), number in numbers.items()), strict=True)
    index = ", ".join(str(list(axis)) for axis in zip(*places, strict=True))
    assigned = list(values) if index else values[0]
    return [
        _comment("# torch's numbers, where the formula gives others"),
        laid_out(f"{block}[{index or ()}] = {assigned}"),
    ]


def _comment(text: str) -> str:
    line = printable(text)
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 3]}..."


def _form(form: str) -> Callable[[Any, Expr], str]:
    return lambda printer, e: form.format(*map(printer._print, e.args))


class Indexed(AbstractPythonCodePrinter):  # type: ignore[misc]
    """A formula of one Jacobian block, or of y, as Python.

    Args:
        names: The source of names.
        variables: The name of each variable in the script, and of each constant tensor of the formulas.
        derivative: The formulas.
    """

    def __init__(self, names: Identifiers, variables: Mapping[str, str], derivative: Derivative) -> None:
        super().__init__()
        self.names, self.variables, self.derivative = names, variables, derivative
        self.sizes = {symbol: sympy.Integer(size) for symbol, size in derivative.sizes.items()}
        self.before: list[str] = []
        self._shared: dict[Expr, str] = {}
        self._indices: dict[Expr, str] = {}
        self._letters = filter(names.is_free, chain("ijklmnpqrstuvw", (f"i{n}" for n in count(1))))

    def statements(self, name: str, shape: tuple[int, ...], *, of_value: bool = False) -> list[str]:
        """The statements that compute an array of this shape by nested comprehensions."""
        found = self.derivative
        written, indices = dict(found.written), found.rows if of_value else (*found.rows, *found.columns)
        if not of_value and written.keys() >= set(found.rows):
            next(self._letters)  # i stands for y's index even where y has none

        def nested(indices: Sequence[sympy.Symbol], chosen: Mapping[sympy.Symbol, Expr]) -> str:
            if not indices:
                case = next(e for case, e in found.cases if of_value or case.items() <= chosen.items())
                formula = found.element.xreplace(chosen) if of_value and found.element else case
                return self._print(without_sure_conditions(formula.xreplace(self.sizes), found))
            first, *rest = indices
            if first in written:
                places = map(sympy.Integer, range(written[first]))
                return f"[{', '.join(nested(rest, {**chosen, first: n}) for n in places)}]"
            inside = self._index(first), nested(rest, chosen)
            return f"[{inside[1]} for {inside[0]} in range({found.ranges[first].xreplace(self.sizes)})]"

        text = f"np.zeros({shape})" if 0 in shape else f"np.array({nested(indices, {})}, dtype=float)"
        return [*self.before, laid_out(f"{name} = {unparsed(ast.parse(text))}")]

    def _index(self, symbol: sympy.Symbol) -> str:
        """The letter of an index, a fresh one at its first use."""
        if symbol not in self._indices:
            self._indices[symbol] = next(self._letters)
        return self._indices[symbol]

    def _is_index(self, symbol: Expr) -> bool:
        return symbol in self.derivative.ranges or isinstance(symbol, sympy.Dummy)

    def _once(self, e: Expr, name: str, value: str) -> str:
        """A value without an index of the entry is computed before it, and has a name."""
        if any(map(self._is_index, e.free_symbols)):
            return value
        if e not in self._shared:
            self._shared[e] = self.names.take(name)
            self.before.append(laid_out(f"{self._shared[e]} = {unparsed(ast.parse(value))}"))
        return self._shared[e]

    # -- SymPy's printer asks by the names of classes

    def _print(self, e: Expr, **_: object) -> str:
        match e:
            case sympy.Float() | sympy.NumberSymbol() | sympy.core.numbers.Infinity():
                return str(constant(e, "np"))
            case sympy.Symbol():
                return self._index(e) if self._is_index(e) else self.variables[str(e)]
            case meaning.Comparison():
                return f"float({self._print(e.args[0])} {e.sign} {self._print(e.args[1])})"
        return str(super()._print(e))

    _print_KroneckerDelta, _print_quotient, _print_detach = _form("({} == {})"), _form("(({}) // ({}))"), _form("({})")

    def _print_Indexed(self, e: sympy.Indexed) -> str:
        return f"{self.variables[str(e.base.label)]}[{self.stringify(e.indices, ', ')}]"

    def _print_Pow(self, e: sympy.Pow) -> str:
        return str(self._hprint_Pow(e, sqrt="np.sqrt"))

    def _print_Chosen(self, e: meaning.Chosen) -> str:
        return f"float({self._print(e.value)} == {self._print(e.extreme)})"

    def _print_where(self, e: meaning.where) -> str:
        condition, a, b = map(self._print, e.args)
        return f"({a} if {condition.removeprefix('float')} else {b})"

    def _print_Piecewise(self, e: sympy.Piecewise) -> str:
        """The last case needs no condition: none but these occurs."""
        *cases, (last, _) = e.args
        parts = [f"{self._print(value)} if {self._print(condition)} else " for value, condition in cases]
        return f"({''.join(parts)}{self._print(last)})"

    def _print_Function(self, e: Expr) -> str:
        name, row = type(e).__name__, ops.find(type(e).__name__)
        name = row.name if row is not None else name
        found = (
            function_at(NUMPY, IN_NUMPY[name]) if name in IN_NUMPY else PyExpr(f"special.{_SPECIAL.get(name, name)}")
        )
        return f"({found(*(PyExpr(f'({self._print(a)})') for a in e.args))})"

    def _print_Sum(self, e: sympy.Sum) -> str:
        name, call = _OVER[next(kind.__name__ for kind in type(e).__mro__ if kind.__name__ in _OVER)]
        loops = "".join(f" for {self._index(k)} in range({self._range(*ends)})" for k, *ends in reversed(e.limits))
        return self._once(e, name, call % (self._print(e.args[0]) + loops))

    _print_Multiplied = _print_Largest = _print_Smallest = _print_Sum

    def _print_MatrixDeterminant(self, e: meaning.MatrixDeterminant) -> str:
        return self._once(e, "determinant", f"np.linalg.det({self._matrix(e)})")

    def _print_InverseElement(self, e: meaning.InverseElement) -> str:
        whole = meaning.InverseElement(e.body, e.limits, ())  # one inverse serves all entries
        inverse = self._once(whole, "inverse", f"np.linalg.inv({self._matrix(e)})")
        return f"{inverse}[{self.stringify(e.free, ', ')}]"

    def _matrix(self, e: meaning.Aggregate) -> str:
        (p, *rows), (q, *columns) = e.limits
        if isinstance(e.body, sympy.Indexed) and e.body.indices == (p, q):
            return self.variables[str(e.body.base.label)]
        row = f"[{self._print(e.body)} for {self._index(q)} in range({self._range(*columns)})]"
        return f"np.array([{row} for {self._index(p)} in range({self._range(*rows)})])"

    def _range(self, first: Expr, last: Expr) -> str:
        end = self._print(last + 1)
        return end if first == 0 else f"{self._print(first)}, {end}"

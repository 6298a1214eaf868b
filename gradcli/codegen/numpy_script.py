"""A question as a NumPy script: y, the Jacobian filled from its formula, and vᵀJ.

The formulas are those of the symbolic reading, which the reference has confirmed; nothing is differentiated here.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from sympy import Expr

from gradcli.codegen.expressions import Piece
from gradcli.codegen.index_notation import Formulas
from gradcli.codegen.layout import WIDTH, laid_out
from gradcli.codegen.numpy_spelling import MATH, SPECIAL, NumpySpelling, is_in_numpy
from gradcli.codegen.script import Script, assembled
from gradcli.codegen.task import Task
from gradcli.errors import printable
from gradcli.language.ops import Kind
from gradcli.language.program.constant_tensors import array_of
from gradcli.language.program.indexing import Shape
from gradcli.language.program.wengert import Atom
from gradcli.results import Array, Formula
from gradcli.symbolic.derivative import Derivative
from gradcli.symbolic.element import constant_symbol

_RESERVED = ("np", "math", "special", "print", "sum", "range", "float", "max", "min")
"""Names that a script uses itself."""

MOST_CELLS = 6
"""Formulas of one variable that are repeated in comments."""


def numpy_script(task: Task, derivatives: Mapping[str, Derivative], shown: Mapping[str, Formula]) -> str:
    """The script that prints vᵀJ for each variable of `wrt`.

    Args:
        task: What it is to compute.
        derivatives: The formula by variable, for each in `wrt`.
        shown: The same as text, for the comments.

    Raises:
        TooLargeError: Values that follow no rule are too many to be written out.
        NotImplementedError: A function of a formula that no Python library has.
    """
    return _NumpyScript(task, _RESERVED, is_in_numpy).text(derivatives, shown)


def in_ascii(script: str, shown: Mapping[str, Formula]) -> str:
    """The script with the formulas of its comments in SymPy's notation, for where there are no other characters."""
    for cell in (cell for formula in shown.values() for cell in formula.cells[:MOST_CELLS]):
        pretty, plain = _comment(cell.row, cell.column, cell.pretty), _comment(cell.row, cell.column, cell.text, "d")
        script = script.replace(f"\n{pretty}\n", f"\n{plain}\n")
    return script


class _NumpyScript(Script):
    """One script."""

    def spelling(self, pieces: Mapping[Atom, Piece], shapes: Mapping[Atom, Shape]) -> NumpySpelling:
        """That of NumPy."""
        return NumpySpelling(self.task.dtype, pieces, shapes)

    def text(self, derivatives: Mapping[str, Derivative], shown: Mapping[str, Formula]) -> str:
        """The whole."""
        wrt = self.task.wrt
        definitions = [self._definition(self.variables[name], array, name) for name, array in self.arrays.items()]
        constants = self._constants(definitions, derivatives)
        statements, pieces = self.function()
        weights = self._weights(pieces) if wrt else []
        blocks, prints = [], []
        for name in wrt:
            lines, result = self._product(name, derivatives[name], shown[name], constants)
            blocks.append(lines)
            prints.append(f"print({result})")
        imports = ["import numpy as np"]
        imports = [MATH, "", *imports] if MATH in self.imports else imports
        imports += [SPECIAL] if SPECIAL in self.imports else []
        return assembled(imports, definitions, [*statements, *weights], *blocks, prints or [f"print({self.output})"])

    def _definition(self, name: str, array: Array, variable: str) -> str:
        text = self.spelling({}, {}).array(array, f"'{variable}'")
        return laid_out(f"{name} = {text}")

    def _constants(self, definitions: list[str], derivatives: Mapping[str, Derivative]) -> dict[str, str]:
        """Names for the constant tensors that formulas speak of, which are defined then."""
        symbols = {str(s) for d in derivatives.values() for _, e in d.cases for s in e.free_symbols}
        found: dict[str, str] = {}
        for line in self.task.program.primitive.lines:
            label = str(constant_symbol(line.call)) if line.call.op.kind is Kind.SOURCE else ""
            if label in symbols and label not in found:
                found[label] = self.names.take("c")
                array = array_of(line.call).astype(self.task.dtype)
                definitions.append(self._definition(found[label], array, line.call.op.name))
        return found

    # -- the gradient vector

    def _weights(self, pieces: Mapping[Atom, Piece]) -> list[str]:
        """The statements that define v; none for the implicit 1 of a number y."""
        v = self.task.v
        if v is None:
            return [f"{self.gradient} = np.ones({self.shape})"] if self.shape else []
        if not isinstance(v, np.ndarray):
            lines, piece, _ = self.expression(v, pieces)
            return [*lines, laid_out(f"{self.gradient} = {piece.text}")]
        return self.like_output(v, "np") or [self._definition(self.gradient, v, "v")]

    # -- the derivative

    def _product(
        self, name: str, derivative: Derivative, shown: Formula, constants: Mapping[str, str]
    ) -> tuple[list[str], str]:
        """The Jacobian block of a variable and vᵀJ; what the result is called."""
        formulas = Formulas(self.names, {**self.variables, **constants})
        text = formulas.block(derivative)
        self.imports |= formulas.imports
        block = self.names.take(f"J_{self.variables[name]}")
        shape = self.task.arrays[name].shape
        if self.shape or shape:
            is_whole = not any(_has_variable(e) for _, e in derivative.cases)
            text = f"np.array({text}{', dtype=float' * is_whole})"
            if 0 in (*self.shape, *shape):
                text = f"np.zeros({(*self.shape, *shape)})"
        comments = [_comment(cell.row, cell.column, cell.pretty) for cell in shown.cells[:MOST_CELLS]]
        comments += ["# ..."] * (len(shown.cells) > MOST_CELLS)
        comments += [f"# {shown.note}"] * bool(shown.note)
        lines = [laid_out(f"{before} = {value}") for before, value in formulas.before]
        lines = [*comments, *lines, laid_out(f"{block} = {text}")]
        if self.task.v is None and not self.shape:
            return lines, block
        result = self.names.take(f"vjp_{self.variables[name]}")
        product = f"np.tensordot({self.gradient}, {block}, axes={len(self.shape)})"
        return [*lines, f"{result} = {product if self.shape else f'{self.gradient} * {block}'}"], result


def _has_variable(expression: Expr) -> bool:
    """Whether an entry depends on a number that is not whole."""
    return any(not symbol.is_integer for symbol in expression.free_symbols)


def _comment(row: str, column: str, text: str, d: str = "∂") -> str:
    line = printable(f"# {d}{row}/{d}{column} = {text}")
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 3]}..."

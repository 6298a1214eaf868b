"""A question as a PyTorch script, as a NumPy script, and as a LaTeX document.

PyTorch: tensors, statements, `y.backward(gradient=v)`, `print(x.grad)`.  The operations are asked for by the code that
`gradcli.autodiff.run` runs, in the same order, so that the numbers are the same bit for bit; what torch does not have
is written as its meaning.

NumPy: y, the Jacobian filled from its formula, and vᵀJ.  The formulas are those of the symbolic reading, which the
reference has confirmed; nothing is differentiated here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import sympy

from gradcli.codegen.index_notation import MATH, SPECIAL, FormulaLowering
from gradcli.codegen.script import NUMPY, PythonStatements, ScriptBuilder, Task, assembled, reached
from gradcli.codegen.self_writing import WIDTH, PyExpr, laid_out
from gradcli.errors import printable
from gradcli.language.ops import Kind
from gradcli.language.program.expansion import in_primitives
from gradcli.language.program.library_calls import NumpyCalls, TorchCalls, is_in_numpy, is_in_torch, undifferentiated
from gradcli.language.program.numeric import array_of
from gradcli.language.program.program_text import written
from gradcli.language.program.wengert import Call, needed
from gradcli.report import Screen, rendered
from gradcli.results import VJP, Cell, Formula
from gradcli.symbolic.derivative import Derivative
from gradcli.symbolic.element import constant_symbol

_TORCH = PyExpr("torch", module="torch")
"""What writes the calls of PyTorch down."""

_TORCH_IMPORTS = {"np": "import numpy as np", "torch": "import torch", "F": "import torch.nn.functional as F"}


def torch_script(task: Task) -> str:
    """The script that prints what `x.grad` holds for each variable of `wrt`.

    Raises:
        TooLargeError: Values that follow no rule are too many to be written out.

    >>> import numpy as np
    >>> from gradcli.language.parsing import parse
    >>> x = np.array([1.0, 2.0])
    >>> print(torch_script(Task(parse("x**2"), {"x": x}, ("x",), "float64", x, {})))
    import torch
    <BLANKLINE>
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    <BLANKLINE>
    y = x**2
    v = torch.tensor([1.0, 2.0], dtype=torch.float64)
    y.backward(gradient=v)
    <BLANKLINE>
    print(x.grad)
    <BLANKLINE>
    """
    moving = reached(task.program, task.wrt)

    def keep(call: Call) -> bool:
        return call.op.is_primitive or (is_in_torch(call) and not any(moving.get(a) for a in undifferentiated(call)))

    return _TorchScript(task, TorchCalls(_TORCH, getattr(_TORCH, task.dtype)), keep).text()


class _TorchScript(ScriptBuilder):
    """One task as a torch script: leaves, function, backward pass, and the `.grad` of each variable."""

    module = "torch"
    reserved = ("torch", "F", "np", "print")

    def text(self) -> str:
        """The whole script: leaves, function, `backward()` if y depends on a variable, and prints."""
        wrt = self.task.wrt
        statements = self.function()
        mask = self.reached.get(self.program.output, 0)
        self.go_back(statements, self.output)
        prints = [self._print(name, is_reached=bool(mask >> n & 1)) for n, name in enumerate(wrt)]
        prints = prints or [f"print({self.output})"]
        return assembled(self.definitions(), statements.written, prints, imports=_TORCH_IMPORTS)

    @property
    def options(self) -> dict[str, Any]:
        """The dtype of every tensor."""
        return {"dtype": getattr(_TORCH, self.task.dtype)}

    def listed(self, numbers: Any, options: Mapping[str, Any]) -> PyExpr:
        """A tensor of numbers that are written out."""
        return _TORCH.tensor(numbers, **options)

    def spaced(self, *numbers: float) -> PyExpr:
        """Evenly spaced numbers by NumPy, as torch rounds differently."""
        tensor = _TORCH.from_numpy(NUMPY.linspace(*numbers))
        return tensor.float() if self.task.dtype == "float32" else tensor

    def go_back(self, statements: PythonStatements, output: str) -> None:
        """The statements of the backward pass, if y depends on a variable."""
        if self.reached.get(self.program.output, 0):
            self.write_v(statements)
            v = "" if self.task.v is None else f"gradient={self.gradient}"
            statements.written.append(f"{output}.backward({v})")

    def _print(self, name: str, *, is_reached: bool) -> str:
        variable = self.variables[name]
        if is_reached:
            return f"print({variable}.grad)"
        return f"print(torch.zeros_like({variable}))  # {self.output} does not depend on it: torch leaves .grad empty"


def gradcli_text(task: Task) -> str:
    """The text of a function with the values of its variables and its gradient vector, which the language reads.

    Raises:
        TooLargeError: As for `torch_script`.

    >>> import numpy as np
    >>> from gradcli.language.parsing import parse
    >>> values = {"w": np.array(3.0), "x": np.array(2.0)}
    >>> print(gradcli_text(Task(parse("w*x**2"), values, ("x",), "float64", None, {})))
    w = torch.tensor(3.0, dtype=torch.float64)
    x = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    <BLANKLINE>
    y = w*x**2
    y.backward()
    <BLANKLINE>
    """
    return _Text(task, TorchCalls(_TORCH, getattr(_TORCH, task.dtype)), is_in_torch).text()


class _Text(_TorchScript):
    """One task as its own text, in the place of the calls of torch that it stands for."""

    def text(self) -> str:
        """Values, statements as they are written, and the backward pass."""
        program, called = self.task.program, {given: sympy.Symbol(n, real=True) for n, given in self.variables.items()}
        named = {**called, **{line.name: line.symbol for line in program.lines if line.name}}
        name = program.output_name
        lines = tuple(needed(program.lines, program.output))
        text = written(replace(program, lines=lines), named, lambda *_, **__: self.names.temporary(), name).text
        ending = self.function()
        del ending.written[:]
        self.go_back(ending, name)
        return assembled(self.definitions(), [*text.split("\n"), *ending.written], imports={})


_NUMPY_IMPORTS = {
    "math": "import math\n",
    "np": "import numpy as np",
    "special": "from scipy import special  # for functions that NumPy does not have",
}

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
    calls = NumpyCalls(NUMPY, MATH, SPECIAL, getattr(NUMPY, task.dtype))
    return _NumpyScript(task, calls, is_in_numpy).text(derivatives, shown)


class _NumpyScript(ScriptBuilder):
    """One task as a NumPy script: its values, its function, and the formula of each Jacobian."""

    module = "np"
    reserved = ("np", "math", "special", "print", "sum", "range", "float", "max", "min")

    def text(self, derivatives: Mapping[str, Derivative], shown: Mapping[str, Formula]) -> str:
        """The whole script: definitions, function, a block of loops for each variable, and prints."""
        wrt = self.task.wrt
        definitions = self.definitions()
        constants = self._constants(definitions, derivatives)
        statements = self.function()
        if wrt and self.task.v is None and self.shape:
            statements.written.append(f"{self.gradient} = np.ones({self.shape})")
        elif wrt:
            self.write_v(statements)
        blocks, prints = [], []
        for name in wrt:
            lines, result = self._product(name, derivatives[name], shown[name], constants)
            blocks.append(lines)
            prints.append(f"print({result})")
        prints = prints or [f"print({self.output})"]
        return assembled(definitions, statements.written, *blocks, prints, imports=_NUMPY_IMPORTS)

    def _constants(self, definitions: list[str], derivatives: Mapping[str, Derivative]) -> dict[str, str]:
        """The names of the constant tensors that occur in formulas; their definitions are appended."""
        symbols = {str(s) for d in derivatives.values() for _, e in d.cases for s in e.free_symbols}
        found: dict[str, str] = {}
        for line in in_primitives(self.task.program).lines:
            label = str(constant_symbol(line.call)) if line.call.op.kind is Kind.SOURCE else ""
            if label in symbols and label not in found:
                found[label] = self.names.take("c")
                array = array_of(line.call).astype(self.task.dtype)
                definitions.append(self.define(found[label], array, line.call.op.name))
        return found

    def _product(
        self, name: str, derivative: Derivative, shown: Formula, constants: Mapping[str, str]
    ) -> tuple[list[str], str]:
        """The Jacobian block of a variable and vᵀJ; what the result is called."""
        formulas = FormulaLowering(self.names, {**self.variables, **constants}, derivative)
        text = formulas.block()
        block = self.names.take(f"J_{self.variables[name]}")
        shape = self.task.arrays[name].shape
        if self.shape or shape:
            is_whole = all(symbol.is_integer for _, e in derivative.cases for symbol in e.free_symbols)
            # Without a variable all entries may be integers, and NumPy would make an integer array of them.
            text = f"np.array({text}{', dtype=float' * is_whole})"
            # Nested loops over nothing lose the sizes behind the empty one.
            if 0 in (*self.shape, *shape):
                text = f"np.zeros({(*self.shape, *shape)})"
        comments = [_comment(cell) for cell in shown.cells[:MOST_CELLS]]
        comments += ["# ..."] * (len(shown.cells) > MOST_CELLS)
        comments += [f"# {shown.note}"] * bool(shown.note)
        lines = [laid_out(f"{before} = {value}") for before, value in formulas.before.items()]
        lines = [*comments, *lines, laid_out(f"{block} = {text}")]
        if self.task.v is None and not self.shape:
            return lines, block
        result = self.names.take(f"vjp_{self.variables[name]}")
        product = f"np.tensordot({self.gradient}, {block}, axes={len(self.shape)})"
        return [*lines, f"{result} = {product if self.shape else f'{self.gradient} * {block}'}"], result


def _comment(cell: Cell) -> str:
    line = printable(f"# d{cell.row}/d{cell.column} = {cell.text}")
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 3]}..."


def latex_document(answer: VJP) -> str:
    r"""The answer of `vjp` as a whole document, which needs amsmath and nothing else.

    >>> from gradcli import Function
    >>> latex_document(Function("x**2").vjp({"x": 3}, check=False)).splitlines()[:3]
    ['\\documentclass{article}', '\\usepackage{amsmath}', '\\begin{document}']
    """
    fragment = rendered(answer, "latex", Screen()).partition("\n")[2]  # without the remark on what it needs
    head = ["\\documentclass{article}", "\\usepackage{amsmath}", "\\begin{document}"]
    return "\n".join([*head, fragment.rstrip(), "\\end{document}"]) + "\n"

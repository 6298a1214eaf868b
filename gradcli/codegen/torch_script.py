"""A question as a PyTorch script: tensors, statements, `y.backward(gradient=v)`, `print(x.grad)`.

Each operation is called as `gradcli.autodiff.run` calls it, in the same order, so that the numbers are the same bit for
bit; what torch does not have is written as its meaning.  Imports no torch.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gradcli.codegen.expressions import ATOM, Piece
from gradcli.codegen.layout import laid_out
from gradcli.codegen.script import Script, assembled
from gradcli.codegen.task import Task
from gradcli.codegen.torch_spelling import FUNCTIONAL, NUMPY, TorchSpelling
from gradcli.language.program.indexing import Shape
from gradcli.language.program.torch_calls import is_in_torch
from gradcli.language.program.wengert import Atom
from gradcli.results import Array

_RESERVED = ("torch", "F", "np", "print")
"""Names that a script uses itself."""


def torch_script(task: Task) -> str:
    """The script that prints what `x.grad` holds for each variable of `wrt`.

    Raises:
        TooLargeError: Values that follow no rule are too many to be written out.

    >>> from gradcli.language.grammar import parse
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
    return _TorchScript(task, _RESERVED, is_in_torch).text()


class _TorchScript(Script):
    """One script."""

    def spelling(self, pieces: Mapping[Atom, Piece], shapes: Mapping[Atom, Shape]) -> TorchSpelling:
        """That of PyTorch."""
        return TorchSpelling(self.task.dtype, pieces, shapes)

    def text(self) -> str:
        """The whole."""
        wrt = self.task.wrt
        definitions = [self._definition(self.variables[name], array, name) for name, array in self.arrays.items()]
        statements, pieces = self.function()
        mask = self.reached.get(self.program.output, 0)
        reached = {name for n, name in enumerate(wrt) if mask >> n & 1}
        backward = self._backward(pieces) if reached else []
        prints = [self._print(name, is_reached=name in reached) for name in wrt] or [f"print({self.output})"]
        imports = [NUMPY] * (NUMPY in self.imports) + ["import torch"] + [FUNCTIONAL] * (FUNCTIONAL in self.imports)
        return assembled(imports, definitions, [*statements, *backward], prints)

    def _definition(self, name: str, array: Array, variable: str) -> str:
        spelling = self.spelling({}, {})
        text = spelling.tensor(array, f"'{variable}'", requires_grad=variable in self.task.wrt)
        self.imports |= spelling.imports
        return laid_out(f"{name} = {text}")

    def _print(self, name: str, *, is_reached: bool) -> str:
        variable = self.variables[name]
        if is_reached:
            return f"print({variable}.grad)"
        return f"print(torch.zeros_like({variable}))  # {self.output} does not depend on it: torch leaves .grad empty"

    def _backward(self, pieces: Mapping[Atom, Piece]) -> list[str]:
        """The backward pass, and v before it."""
        v = self.task.v
        if v is None:
            return [f"{self.output}.backward()"]
        if isinstance(v, np.ndarray):
            lines = self.like_output(v, "torch") or [self._definition(self.gradient, v, "v")]
        else:
            lines, piece, is_active = self.expression(v, pieces)
            text = f"{piece.at(ATOM)}.detach()" if is_active else piece.text
            lines.append(laid_out(f"{self.gradient} = {text}"))
        return [*lines, f"{self.output}.backward(gradient={self.gradient})"]

"""A question as a PyTorch script: tensors, statements, `y.backward(gradient=v)`, `print(x.grad)`.

Each operation is called as `gradcli.autodiff.run` calls it, in the same order, so that the numbers are the same bit for
bit; what torch does not have is written as its meaning.  Imports no torch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import sympy

from gradcli.language.expansion import expansion
from gradcli.language.indexing import Shape
from gradcli.language.program import Atom, Line, Program
from gradcli.language.shapes import infer
from gradcli.language.torch_calls import is_in_torch
from gradcli.results import Array
from gradcli.source.expressions import ATOM, Piece, Statements, needed, uses_of
from gradcli.source.layout import laid_out
from gradcli.source.names import Names
from gradcli.source.task import Task
from gradcli.source.torch_spelling import FUNCTIONAL, NUMPY, TorchSpelling
from gradcli.source.values import SHORT

_RESERVED = ("torch", "F", "np", "print")
"""Names that a script uses itself."""

_CUTS = frozenset(["detach", "zeros_like", "ones_like", "count"])
"""Operations without a derivative behind them; comparisons are others."""


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
    return _Script(task).text()


class _Script:
    """One script."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.names = Names(_RESERVED)
        self.arrays = {**task.arrays, **_named_by(task)}
        self.variables = {name: self.names.take(name) for name in self.arrays}
        self.whole = expansion(task.program, keep=is_in_torch)
        self.program = self.whole.program
        inputs = {symbol: task.arrays[str(symbol)].shape for symbol in self.program.variables}
        self.shapes = infer(self.program, inputs, bounded=False)
        self.lines = needed(self.program.lines, self.program.output)
        self.titles = self._titles()
        self.output = self.titles[self.program.output]
        self.gradient = self.names.take("v", "gradient", "cotangent")
        self.imports: set[str] = set()
        self.reached: dict[Atom, int] = {}

    def text(self) -> str:
        """The whole."""
        task = self.task
        definitions = [self._definition(self.variables[name], array, name) for name, array in self.arrays.items()]
        statements, pieces = self._function()
        mask = self.reached.get(self.program.output, 0)
        reached = {name for n, name in enumerate(task.wrt) if mask >> n & 1}
        backward = self._backward(pieces) if reached else []
        prints = [self._print(name, is_reached=name in reached) for name in task.wrt] or [f"print({self.output})"]
        imports = [NUMPY] * (NUMPY in self.imports) + ["import torch"] + [FUNCTIONAL] * (FUNCTIONAL in self.imports)
        blocks = [imports, definitions, [*statements, *backward], prints]
        return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"

    def _titles(self) -> dict[Atom, str]:
        """The names of the values that have one of the user's, and of y."""
        renamed = self.whole.renamed
        typed = {renamed[line.symbol]: line.name for line in self.task.program.lines if line.name}
        titles = {line.symbol: self.names.take(typed[line.symbol]) for line in self.lines if line.symbol in typed}
        if self.program.output not in titles:
            titles[self.program.output] = self.names.take(self.task.program.output_name)
        return titles

    def _definition(self, name: str, array: Array, variable: str) -> str:
        spelling = TorchSpelling(self.task.dtype, {}, {})
        text = spelling.tensor(array, f"'{variable}'", requires_grad=variable in self.task.wrt)
        self.imports |= spelling.imports
        return laid_out(f"{name} = {text}")

    def _function(self) -> tuple[list[str], Mapping[Atom, Piece]]:
        """The statements of the function, and what stands for each of its values."""
        program, wrt = self.program, self.task.wrt
        known = {symbol: Piece(self.variables[str(symbol)]) for symbol in program.variables}
        for symbol in program.variables:
            self.reached[symbol] = 1 << wrt.index(str(symbol)) if str(symbol) in wrt else 0
        statements = Statements(self.names, uses_of(self.lines), self.titles, pieces=known)
        spelling = TorchSpelling(self.task.dtype, statements.pieces, self.shapes)
        self._write(self.lines, statements, spelling)
        is_line = any(line.symbol == program.output for line in self.lines)
        if not is_line:
            piece = spelling.operand(program.output)
            statements.assign(self.output, spelling.as_tensor(program.output, piece).text)
        elif program.output in spelling.counts:
            statements.assign(self.output, spelling.as_tensor(program.output, Piece(self.output)).text)
        statements.pieces.setdefault(program.output, Piece(self.output))
        return statements.written, statements.pieces

    def _write(self, lines: Sequence[Line], statements: Statements, spelling: TorchSpelling) -> None:
        for line in lines:
            statements.add(line, spelling.speller(line), spelling.operand)
            is_cut = line.call.op.is_condition or line.call.op.name in _CUTS
            mask = 0
            for operand in line.call.operands:
                mask |= self.reached.get(operand, 0)
            self.reached[line.symbol] = 0 if is_cut else mask
        self.imports |= spelling.imports

    def _print(self, name: str, *, is_reached: bool) -> str:
        variable = self.variables[name]
        if is_reached:
            return f"print({variable}.grad)"
        return f"print(torch.zeros_like({variable}))  # {self.output} does not depend on it: torch leaves .grad empty"

    # -- the gradient vector

    def _backward(self, pieces: Mapping[Atom, Piece]) -> list[str]:
        """The backward pass, and v before it."""
        v = self.task.v
        if v is None:
            return [f"{self.output}.backward()"]
        lines = self._expression(v, pieces) if not isinstance(v, np.ndarray) else self._array(v)
        return [*lines, f"{self.output}.backward(gradient={self.gradient})"]

    def _array(self, v: Array) -> list[str]:
        """The numbers of v; ones of y's shape and single components of a long y as such."""
        if v.size > SHORT:
            if np.array_equal(v, np.ones_like(v)):
                return [f"{self.gradient} = torch.ones_like({self.output})"]
            component = _component(v)
            if component:
                at = ", ".join(map(str, component))
                return [f"{self.gradient} = torch.zeros_like({self.output})", f"{self.gradient}[{at}] = 1.0"]
        return [self._definition(self.gradient, v, "v")]

    def _expression(self, v: Program, pieces: Mapping[Atom, Piece]) -> list[str]:
        """V as an expression in y, the variables, and the values that only it names, cut off from the graph."""
        renamed = self.whole.renamed
        lines = [line for line in v.lines if renamed.get(line.symbol) not in self.titles]
        known = {line.symbol: renamed[line.symbol] for line in v.lines if line not in lines}
        whole = expansion(replace(v, lines=tuple(lines)), keep=is_in_torch)
        lines = needed(whole.program.lines, whole.program.output)
        used = {whole.program.output, *(a for line in lines for a in line.call.operands)}
        shapes: dict[Atom, Shape] = {}
        values: dict[Atom, Piece] = {}
        for symbol in (*v.variables, *known):
            if symbol in known:
                self.reached[symbol] = self.reached.get(known[symbol], 0)
                shapes[symbol], values[symbol] = self.shapes[known[symbol]], pieces[known[symbol]]
            elif symbol in used:
                shapes[symbol], values[symbol] = self._named(symbol)
        statements = Statements(self.names, uses_of(lines), {}, pieces=values)
        inputs = {symbol: shape for symbol, shape in shapes.items() if isinstance(symbol, sympy.Symbol)}
        shapes = infer(whole.program, inputs, bounded=False)
        spelling = TorchSpelling(self.task.dtype, statements.pieces, shapes)
        self._write(lines, statements, spelling)
        output = whole.program.output
        text = spelling.as_tensor(output, spelling.operand(output))
        is_cut = not self.reached.get(output)
        statements.assign(self.gradient, text.text if is_cut else f"{text.at(ATOM)}.detach()")
        return statements.written

    def _named(self, symbol: Atom) -> tuple[Shape, Piece]:
        """What a name in v stands for: y, a variable, or a value that only v names."""
        name, output = str(symbol), self.program.output
        if name in self.arrays:
            self.reached[symbol] = 1 if name in self.task.wrt else 0
            return self.arrays[name].shape, Piece(self.variables[name])
        self.reached[symbol] = self.reached.get(output, 0)
        return self.shapes.get(output, ()), Piece(self.output)


def _named_by(task: Task) -> dict[str, Array]:
    """The values that only v names, as far as it does."""
    names = [] if task.v is None or isinstance(task.v, np.ndarray) else task.v.names
    known = {*task.arrays, task.program.output_name}
    return {name: task.named[name] for name in names if name not in known}


def _component(v: Array) -> tuple[int, ...]:
    """The index of the part of v that is 1, all else being 0; empty if it is not so."""
    if np.signbit(v).any() or not v.any():
        return ()
    first = tuple(int(n) for n in np.argwhere(v)[0])
    for depth in range(1, v.ndim + 1):
        ones = np.zeros_like(v)
        ones[first[:depth]] = 1
        if np.array_equal(ones, v):
            return first[:depth]
    return ()

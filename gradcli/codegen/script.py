"""What scripts of all languages share: names, the statements of the function, v as an expression."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
import sympy

from gradcli.codegen.expressions import Expression, Written
from gradcli.codegen.identifiers import Names
from gradcli.codegen.layout import laid_out
from gradcli.codegen.literals import SHORT, held
from gradcli.codegen.statements import Calls, Statements
from gradcli.codegen.task import Task
from gradcli.language.ops import Kind
from gradcli.language.program.constant_tensors import array_of
from gradcli.language.program.cutting import needed
from gradcli.language.program.expansion import expansion
from gradcli.language.program.indexing import Shape
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Atom, Call, Program
from gradcli.results import Array


class Script(ABC):
    """One script while it is written.

    Args:
        task: What it is to compute.
        calls: How the library is asked for an operation.
        keep: The operations that it has; others are written as their meaning.
    """

    module: ClassVar[str]
    """What the script calls the library."""

    reserved: ClassVar[tuple[str, ...]]
    """Names that it uses itself."""

    def __init__(self, task: Task, calls: Calls, keep: Callable[[Call], bool]) -> None:
        self.task, self.calls, self.keep = task, calls, keep
        self.names = Names(self.reserved)
        self.arrays = {**task.arrays, **_named_by(task)}
        self.variables = {name: self.names.take(name) for name in self.arrays}
        self.whole = expansion(task.program, keep=keep)
        self.program = self.whole.program
        inputs = {symbol: task.arrays[str(symbol)].shape for symbol in self.program.variables}
        self.shapes: dict[Atom, Shape] = {**infer(self.program, inputs, bounded=False)}
        self.titles = self._titles()
        self.output = self.titles[self.program.output]
        self.gradient = self.names.take("v", "gradient", "cotangent")
        masks = {symbol: self._mask(str(symbol)) for symbol in self.program.variables}
        self.reached = reached(self.program, masks)

    @abstractmethod
    def array(self, array: Array, name: str) -> Expression:
        """The expression of an array of these numbers.

        Raises:
            TooLargeError: They are many and follow no rule.
        """

    @property
    def shape(self) -> Shape:
        """The shape of y."""
        return self.shapes.get(self.program.output, ())

    def define(self, name: str, array: Array, variable: str) -> str:
        """The statement that gives a variable its value."""
        value = self.array(array, f"'{variable}'")
        return laid_out(f"{name} = {value}")

    def _mask(self, name: str) -> int:
        """The bit of a variable that is differentiated by; 0 for others."""
        return 1 << self.task.wrt.index(name) if name in self.task.wrt else 0

    def _titles(self) -> dict[Atom, str]:
        """The names of the values that have one of the user's, and of y."""
        renamed = self.whole.renamed
        typed = {renamed[line.symbol]: line.name for line in self.task.program.lines if line.name}
        lines = needed(self.program.lines, self.program.output)
        titles = {line.symbol: self.names.take(typed[line.symbol]) for line in lines if line.symbol in typed}
        if self.program.output not in titles:
            titles[self.program.output] = self.names.take(self.task.program.output_name)
        return titles

    def _statements(self, named: Mapping[Atom, str], shapes: Mapping[Atom, Shape]) -> Statements:
        def source(call: Call) -> Expression:
            return self.array(held(array_of(call), self.task.dtype), f"{call.op.name}(...)")

        return Statements(self.module, self.calls, source, self.names, shapes, named)

    def _value(self, name: str, shape: Shape) -> Expression:
        return Expression(name, module=self.module, shape=shape)

    def function(self) -> Statements:
        """The statements of the function, and what stands for each of its values."""
        output = self.program.output
        statements = self._statements(self.titles, self.shapes)
        for symbol in self.program.variables:
            statements.values[symbol] = self._value(self.variables[str(symbol)], self.shapes[symbol])
        lines = needed(self.program.lines, output)
        statements.write(lines)
        if not lines or lines[-1].symbol != output or lines[-1].call.op.kind is Kind.COUNT:
            statements.assign(self.output, statements.tensor(output))
        statements.values.setdefault(output, self._value(self.output, self.shape))
        return statements

    def expression(self, v: Program, values: Mapping[Atom, Written]) -> tuple[list[str], Written, bool]:
        """V in terms of y, the variables and the values that only it names.

        Args:
            v: The expression.
            values: What stands for the values of the function.

        Returns:
            Statements before it, the expression, and whether a variable of `wrt` is behind it.
        """
        renamed = self.whole.renamed
        known = {line.symbol: renamed[line.symbol] for line in v.lines if renamed.get(line.symbol) in self.titles}
        whole = expansion(replace(v, lines=tuple(x for x in v.lines if x.symbol not in known)), keep=self.keep).program
        shapes = {symbol: self.shapes.get(line, ()) for symbol, line in known.items()}
        masks = {symbol: self.reached.get(line, 0) for symbol, line in known.items()}
        given: dict[Atom, Written] = {symbol: values[line] for symbol, line in known.items()}
        for symbol in v.variables:
            name, output = str(symbol), self.program.output
            if name in self.arrays:
                shapes[symbol], masks[symbol] = self.arrays[name].shape, self._mask(name)
                given[symbol] = self._value(self.variables[name], shapes[symbol])
            else:
                shapes[symbol], masks[symbol] = self.shape, self.reached.get(output, 0)
                given[symbol] = self._value(self.output, self.shape)
        inputs = {symbol: shape for symbol, shape in shapes.items() if isinstance(symbol, sympy.Symbol)}
        statements = self._statements({}, infer(whole, inputs, bounded=False))
        statements.values |= given
        statements.write(needed(whole.lines, whole.output))
        is_active = bool(reached(whole, masks).get(whole.output))
        return statements.written, statements.tensor(whole.output), is_active

    def like_output(self, v: Array) -> list[str]:
        """The statements for ones of y's shape, or a single component, of a long y; none for other numbers."""
        if v.size <= SHORT:
            return []
        if at := component(v):
            index = ", ".join(map(str, at))
            return [f"{self.gradient} = {self.module}.zeros_like({self.output})", f"{self.gradient}[{index}] = 1.0"]
        is_ones = np.array_equal(v, np.ones_like(v))
        return [f"{self.gradient} = {self.module}.ones_like({self.output})"] if is_ones else []


def _named_by(task: Task) -> dict[str, Array]:
    """The values that only v names, as far as it does."""
    names = [] if task.v is None or isinstance(task.v, np.ndarray) else task.v.names
    known = {*task.arrays, task.program.output_name}
    return {name: task.named[name] for name in names if name not in known}


def reached(program: Program, masks: Mapping[Atom, int]) -> dict[Atom, int]:
    """The variables that each value has a derivative by in torch.

    Args:
        program: The function.
        masks: The bits of the variables.
    """
    whole = expansion(program)
    found = dict(masks)
    for line in whole.program.lines:
        op = line.call.op
        is_cut = op.is_condition or op.is_detached or op.kind is Kind.COUNT
        found[line.symbol] = 0
        for operand in () if is_cut else line.call.operands:
            found[line.symbol] |= found.get(operand, 0)
    return {**masks, **{symbol: found.get(after, 0) for symbol, after in whole.renamed.items()}}


def assembled(*blocks: Sequence[str], imports: Mapping[str, str]) -> str:
    """Blocks of lines with an empty line between them, below the imports of the modules that they name.

    Args:
        blocks: The lines.
        imports: The statement that imports each module, by what a script calls it.
    """
    code = "\n".join(line for block in blocks for line in block if not line.startswith("#"))
    needed = [text for module, text in imports.items() if re.search(rf"\b{module}\.", code)]
    return "\n\n".join("\n".join(block) for block in (needed, *blocks) if block) + "\n"


def component(v: Array) -> tuple[int, ...]:
    """The index of the part of v that is 1, all else being 0; empty if it is not so.

    >>> component(np.array([[0.0, 0.0], [1.0, 1.0]]))
    (1,)
    """
    if np.signbit(v).any() or not v.any():
        return ()
    first = tuple(int(n) for n in np.argwhere(v)[0])
    for depth in range(1, v.ndim + 1):
        ones = np.zeros_like(v)
        ones[first[:depth]] = 1
        if np.array_equal(ones, v):
            return first[:depth]
    return ()

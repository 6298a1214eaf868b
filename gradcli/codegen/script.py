"""What scripts of all languages share: names, the statements of the function, v as an expression."""

from __future__ import annotations

import operator
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import ClassVar

import numpy as np

from gradcli.codegen.identifiers import Names
from gradcli.codegen.layout import laid_out
from gradcli.codegen.literals import SHORT, held
from gradcli.codegen.script_lines import Calls, Statements
from gradcli.codegen.self_writing import Expression, Written
from gradcli.codegen.task import Task
from gradcli.language.ops import Kind
from gradcli.language.program.expansion import expansion
from gradcli.language.program.numeric import array_of
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Atom, Call, Program, Shape, needed
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
        self.task, self.calls = task, calls
        self.names = Names(self.reserved)
        self.arrays = {**task.arrays, **_named_by(task)}
        self.variables = {name: self.names.take(name) for name in self.arrays}
        both, v = _with_v(task, self.arrays)
        self.whole = expansion(both, keep=keep)
        self.program = self.whole.program
        self.v = self.whole.renamed.get(v, v)
        inputs = {symbol: self.arrays[str(symbol)].shape for symbol in self.program.variables}
        self.shapes = infer(self.program, inputs, bounded=False)
        self.lines = needed(self.program.lines, self.program.output)
        self.titles = self._titles()
        self.output = self.titles[self.program.output]
        self.gradient = self.names.take("v", "gradient", "cotangent")
        self.reached = reached(self.program, task.wrt)

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

    def _titles(self) -> dict[Atom, str]:
        """The names of the values that have one of the user's, and of y."""
        renamed = self.whole.renamed
        typed = {renamed[line.symbol]: line.name for line in self.task.program.lines if line.name}
        titles = {line.symbol: self.names.take(typed[line.symbol]) for line in self.lines if line.symbol in typed}
        if self.program.output not in titles:
            titles[self.program.output] = self.names.take(self.task.program.output_name)
        return titles

    def function(self) -> Statements:
        """The statements of the function, and what stands for each of its values."""

        def source(call: Call) -> Expression:
            return self.array(held(array_of(call), self.task.dtype), f"{call.op.name}(...)")

        def value(name: str, shape: Shape) -> Expression:
            return Expression(name, module=self.module, shape=shape)

        output, lines = self.program.output, self.lines
        statements = Statements(self.module, self.calls, source, self.names, self.shapes, self.titles)
        for symbol in self.program.variables:
            statements.values[symbol] = value(self.variables[str(symbol)], self.shapes[symbol])
        statements.write(lines)
        if not lines or lines[-1].call.op.kind is Kind.COUNT:
            statements.assign(self.output, statements.tensor(output))
        statements.values[output] = value(self.output, self.shape)
        return statements

    def write_v(self, statements: Statements) -> None:
        """The statements that define v, where it is given."""
        v = self.task.v
        if isinstance(v, np.ndarray):
            short = self._like_output(v)
            statements.written += short
            if not short:
                statements.assign(self.gradient, self.array(v, "'v'"))
        elif v is not None:
            statements.write([line for line in needed(self.program.lines, self.v) if line not in self.lines])
            statements.assign(self.gradient, self.as_constant(statements.tensor(self.v)))

    def as_constant(self, v: Written) -> Written:
        """The value of v without the graph that it may have."""
        return v

    def _like_output(self, v: Array) -> list[str]:
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


def _with_v(task: Task, arrays: Mapping[str, Array]) -> tuple[Program, Atom]:
    """The function, behind it the lines of v where that is an expression, and the value of v; y if it is none."""
    program, v = task.program, task.v
    if v is None or isinstance(v, np.ndarray):
        return program, program.output
    y = {symbol: program.output for symbol in v.variables if str(symbol) not in arrays}
    lines = list(program.lines)
    for line in v.lines:
        if line not in program.lines:
            operands = tuple(y.get(a, a) for a in line.call.operands)
            lines.append(replace(line, call=Call(line.call.op.name, operands, line.call.statics)))
    variables = dict.fromkeys([*program.variables, *(symbol for symbol in v.variables if symbol not in y)])
    return replace(program, variables=tuple(variables), lines=tuple(lines)), y.get(v.output, v.output)


def reached(program: Program, wrt: Sequence[str]) -> dict[Atom, int]:
    """The variables that each value has a derivative by in torch, as the bits of their places in `wrt`."""
    whole = expansion(program)
    found = {symbol: 1 << wrt.index(str(symbol)) for symbol in program.variables if str(symbol) in wrt}
    for line in whole.program.lines:
        op = line.call.op
        is_cut = op.is_condition or op.is_detached or op.kind is Kind.COUNT
        masks = [found.get(operand, 0) for operand in line.call.operands]
        found[line.symbol] = 0 if is_cut else reduce(operator.or_, masks, 0)
    return found | {symbol: found.get(after, 0) for symbol, after in whole.renamed.items()}


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

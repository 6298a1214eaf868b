"""What scripts of all languages share: names, the statements of the function, v as an expression."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
import sympy

from gradcli.codegen.expressions import Piece, Statements, uses_of
from gradcli.codegen.identifiers import Names
from gradcli.codegen.literals import SHORT
from gradcli.codegen.task import Task
from gradcli.language.program.cutting import needed
from gradcli.language.program.expansion import expansion
from gradcli.language.program.indexing import Shape
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Atom, Call, Line, Program
from gradcli.results import Array

_CUTS = frozenset(["detach", "zeros_like", "ones_like", "count"])
"""Operations without a derivative behind them; comparisons are others."""


class Spelling(Protocol):
    """How a language is asked for each operation."""

    imports: set[str]
    counts: set[Atom]

    def operand(self, atom: Atom) -> Piece:
        """A value as it stands in an expression."""

    def complete(self, atom: Atom, piece: Piece) -> Piece:
        """The same as a tensor or an array, where it is a bare number."""

    def speller(self, line: Line) -> Callable[[Sequence[Piece]], Piece]:
        """From the operands of a line to its expression."""


class Script(ABC):
    """One script while it is written.

    Args:
        task: What it is to compute.
        reserved: Names that scripts of the language use themselves.
        keep: The operations that the language has; others are written as their meaning.
    """

    def __init__(self, task: Task, reserved: Sequence[str], keep: Callable[[Call], bool]) -> None:
        self.task, self.keep = task, keep
        self.names = Names(reserved)
        self.imports: set[str] = set()
        self.arrays = {**task.arrays, **_named_by(task)}
        self.variables = {name: self.names.take(name) for name in self.arrays}
        self.whole = expansion(task.program, keep=keep)
        self.program = self.whole.program
        inputs = {symbol: task.arrays[str(symbol)].shape for symbol in self.program.variables}
        self.shapes = infer(self.program, inputs, bounded=False)
        self.lines = needed(self.program.lines, self.program.output)
        self.titles = self._titles()
        self.output = self.titles[self.program.output]
        self.gradient = self.names.take("v", "gradient", "cotangent")
        self.reached: dict[Atom, int] = {}

    @abstractmethod
    def spelling(self, pieces: Mapping[Atom, Piece], shapes: Mapping[Atom, Shape]) -> Spelling:
        """The spelling of the language for these values."""

    @property
    def shape(self) -> Shape:
        """Of y."""
        return self.shapes.get(self.program.output, ())

    def _titles(self) -> dict[Atom, str]:
        """The names of the values that have one of the user's, and of y."""
        renamed = self.whole.renamed
        typed = {renamed[line.symbol]: line.name for line in self.task.program.lines if line.name}
        titles = {line.symbol: self.names.take(typed[line.symbol]) for line in self.lines if line.symbol in typed}
        if self.program.output not in titles:
            titles[self.program.output] = self.names.take(self.task.program.output_name)
        return titles

    def function(self) -> tuple[list[str], Mapping[Atom, Piece]]:
        """The statements of the function, and what stands for each of its values."""
        program, wrt = self.program, self.task.wrt
        known = {symbol: Piece(self.variables[str(symbol)]) for symbol in program.variables}
        for symbol in program.variables:
            self.reached[symbol] = 1 << wrt.index(str(symbol)) if str(symbol) in wrt else 0
        statements = Statements(self.names, uses_of(self.lines), self.titles, pieces=known)
        spelling = self.spelling(statements.pieces, self.shapes)
        self._write(self.lines, statements, spelling)
        output = program.output
        if not any(line.symbol == output for line in self.lines):
            statements.assign(self.output, spelling.complete(output, spelling.operand(output)).text)
        elif output in spelling.counts:
            statements.assign(self.output, spelling.complete(output, Piece(self.output)).text)
        statements.pieces.setdefault(output, Piece(self.output))
        return statements.written, statements.pieces

    def _write(self, lines: Sequence[Line], statements: Statements, spelling: Spelling) -> None:
        for line in lines:
            statements.add(line, spelling.speller(line), spelling.operand)
            call = line.call
            is_count = call.op.name == "norm" and call.statics[0] == 0  # of what is not 0: torch has no slope of it
            is_cut = call.op.is_condition or call.op.name in _CUTS or is_count
            mask = 0
            for operand in line.call.operands:
                mask |= self.reached.get(operand, 0)
            self.reached[line.symbol] = 0 if is_cut else mask
        self.imports |= spelling.imports

    def expression(self, v: Program, pieces: Mapping[Atom, Piece]) -> tuple[list[str], Piece, bool]:
        """V in terms of y, the variables and the values that only it names.

        Args:
            v: The expression.
            pieces: What stands for the values of the function.

        Returns:
            Statements before it, the expression, and whether a variable of `wrt` is behind it.
        """
        renamed = self.whole.renamed
        lines = [line for line in v.lines if renamed.get(line.symbol) not in self.titles]
        known = {line.symbol: renamed[line.symbol] for line in v.lines if line not in lines}
        whole = expansion(replace(v, lines=tuple(lines)), keep=self.keep)
        lines = needed(whole.program.lines, whole.program.output)
        shapes: dict[Atom, Shape] = {}
        values: dict[Atom, Piece] = {}
        for symbol in v.variables:
            shapes[symbol], values[symbol] = self._named(symbol)
        for symbol, line in known.items():
            self.reached[symbol] = self.reached.get(line, 0)
            shapes[symbol], values[symbol] = self.shapes.get(line, ()), pieces[line]
        statements = Statements(self.names, uses_of(lines), {}, pieces=values)
        inputs = {symbol: shape for symbol, shape in shapes.items() if isinstance(symbol, sympy.Symbol)}
        spelling = self.spelling(statements.pieces, infer(whole.program, inputs, bounded=False))
        self._write(lines, statements, spelling)
        output = whole.program.output
        piece = spelling.complete(output, spelling.operand(output))
        return statements.written, piece, bool(self.reached.get(output))

    def like_output(self, v: Array, module: str) -> list[str]:
        """The statements for ones of y's shape, or a single component, of a long y; none for other numbers."""
        if v.size <= SHORT:
            return []
        if at := component(v):
            index = ", ".join(map(str, at))
            return [f"{self.gradient} = {module}.zeros_like({self.output})", f"{self.gradient}[{index}] = 1.0"]
        is_ones = np.array_equal(v, np.ones_like(v))
        return [f"{self.gradient} = {module}.ones_like({self.output})"] if is_ones else []

    def _named(self, symbol: Atom) -> tuple[Shape, Piece]:
        """What a name in v stands for: y, a variable, or a value that only v names."""
        name, output = str(symbol), self.program.output
        if name in self.arrays:
            self.reached[symbol] = 1 if name in self.task.wrt else 0
            return self.arrays[name].shape, Piece(self.variables[name])
        self.reached[symbol] = self.reached.get(output, 0)
        return self.shape, Piece(self.output)


def _named_by(task: Task) -> dict[str, Array]:
    """The values that only v names, as far as it does."""
    names = [] if task.v is None or isinstance(task.v, np.ndarray) else task.v.names
    known = {*task.arrays, task.program.output_name}
    return {name: task.named[name] for name in names if name not in known}


def assembled(*blocks: Sequence[str]) -> str:
    """Blocks of lines with an empty line between them."""
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


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

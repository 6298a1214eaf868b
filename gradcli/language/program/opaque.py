"""Calls that cannot be read and can be called again: what a Program and its readers need of one.

Such a call is one line of the Program.  Torch calls it; to the enclosures it is a linear function, right at the point:

    f(x) = y + S*(x - x0)      y: what the call gave     S: its slopes, measured, each within an error

Only first derivatives are known so, and no formula.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt
import sympy

from gradcli.errors import InputError, Span
from gradcli.language.ops.structure import MEASURED, OPAQUE
from gradcli.language.program.library_calls import LibraryValue
from gradcli.language.program.wengert import Atom, Builder, Line, Program, Shape
from gradcli.option_words import method

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MeasuredSlopes:
    """Slopes of what a call gives, flat, by one of its operands, flat.

    Attributes:
        slopes: One row for each number that it gives, one column for each of the operand.
        errors: The error of each, by its own estimate; infinite where it is not known.
        unknown: The reason why no slope was measured; empty if all were.
        noted: What makes the errors large, with a way out; empty if nothing does.
    """

    slopes: Floats
    errors: Floats
    unknown: str = ""
    noted: str = ""


class OpaqueOutput(Protocol):
    """One tensor that a call gives which cannot be read."""

    @property
    def called(self) -> str:
        """Name of the function that is called."""

    @property
    def name(self) -> str:
        """A name of the function for texts."""

    @property
    def large(self) -> str:
        """The reason why its slopes are not measured one by one; empty if they are."""

    @property
    def value(self) -> Floats:
        """What it gave at the point."""

    def run(self, operands: Sequence[LibraryValue]) -> LibraryValue:
        """Call it with other operands, of the library that runs it."""

    def slopes(self) -> Sequence[MeasuredSlopes | None]:
        """Measure its slopes by each operand; None by one that does not move.  The first time it is called for that."""


class MeasuredNumbers:
    """Numbers of a constant tensor, some known to within an error.

    Args:
        numbers: The numbers.
        errors: Their errors.
        slopes: Where they are slopes, what else is known of them.
        called: The function that they were measured of.
    """

    def __init__(
        self, numbers: Floats, errors: Floats | None = None, slopes: MeasuredSlopes | None = None, called: str = ""
    ) -> None:
        self.numbers, self.errors = numbers, np.zeros_like(numbers) if errors is None else errors
        self.slopes, self.called = slopes, called

    def __repr__(self) -> str:
        return f"the slopes of {self.called}" if self.slopes is not None else f"the numbers of {self.called}"


@dataclass(frozen=True, eq=False)
class LocalMeaning:
    """Linear function that a call is, at the point where it was called.

    Attributes:
        output: What the call gives.
        shapes: The shapes of its operands.
    """

    output: OpaqueOutput
    shapes: tuple[Shape, ...]

    def __call__(self) -> Program:
        """Make its Program, in variables that stand for the operands."""
        return self._program

    @cached_property
    def _program(self) -> Program:
        called, value = self.output.called, self.output.value
        builder, span = Builder(called, called), Span(0, len(called))
        variables = tuple(sympy.Symbol(f"x{n}", real=True) for n in range(len(self.shapes)))

        def constant(numbers: MeasuredNumbers) -> Atom:
            return builder.emit(MEASURED, (), span, (tuple(numbers.numbers.shape), numbers))

        total = constant(MeasuredNumbers(value, called=called))
        for x, shape, found in zip(variables, self.shapes, self.output.slopes(), strict=True):
            if found is None:
                continue
            moved = builder.emit("sub", (x, builder.emit("detach", (x,), span)), span)
            flat = builder.emit("reshape", (moved,), span, ((math.prod(shape),),))
            if found.unknown:  # one slope stands for all
                zero = constant(MeasuredNumbers(np.zeros(()), None, found, called))
                change = builder.emit("mul", (zero, builder.emit("sum", (flat,), span, (None, False))), span)
            else:
                slopes = constant(MeasuredNumbers(found.slopes, found.errors, found, called))
                rows = builder.emit("sum", (builder.emit("mul", (slopes, flat), span),), span, ((1,), False))
                change = builder.emit("reshape", (rows,), span, (tuple(value.shape),))
            total = builder.emit("add", (total, change), span)
        return Program(called, variables, tuple(builder.lines), total, called)


def measured_slopes(program: Program) -> Iterator[tuple[Line, MeasuredNumbers]]:
    """Yield the lines that multiply by measured slopes, with these."""
    found: dict[Atom, MeasuredNumbers] = {}
    for line in program.lines:
        if line.call.op.name == MEASURED and line.call.statics[1].slopes is not None:
            found[line.symbol] = line.call.statics[1]
        for operand in line.call.operands if found else ():
            if operand in found:
                yield line, found[operand]


def opaque_outputs(program: Program) -> Iterator[tuple[Line, OpaqueOutput]]:
    """Yield the lines of calls that cannot be read, with what they give."""
    for line in program.lines:
        if line.call.op.name == OPAQUE:
            yield line, line.call.statics[0]


def require_readable(program: Program, needs: str) -> None:
    """Refuse a Program with a call that cannot be read, where each call has to be.

    Args:
        program: The Program.
        needs: What needs that, in words.

    Raises:
        InputError: It has one.
    """
    for _, output in opaque_outputs(program):
        message = f"{output.called} cannot be read, and {needs}"
        raise InputError(message, hint=f"{method('check')} measures its slopes")

"""A question on a box: the numbers that move, their ranges, and the function as a Program of numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
import sympy

from gradcli.arrays import Array
from gradcli.errors import InputError, LanguageError, ShapeError
from gradcli.language.inputs import read_range
from gradcli.language.lower.juxtaposed_names import require_named
from gradcli.language.program.shape_readings import GivenShape
from gradcli.language.program.wengert import show
from gradcli.notation import Element, Named, Notation
from gradcli.option_words import option
from gradcli.parts.everywhere.array_jets import ArrayEvaluator
from gradcli.parts.everywhere.bounded_quantities import BoxQuantity, Derivative
from gradcli.parts.everywhere.jets import Evaluator
from gradcli.parts.everywhere.line_boxes import USUAL, on_line, parameter_of, range_of
from gradcli.parts.everywhere.scalars import ScalarProgram, in_numbers
from gradcli.questions.bound_function import BoundFunction, FunctionWithValues, rounded
from gradcli.questions.likely_shapes import example_range, given_shapes
from gradcli.questions.naming import Directions, require_valued
from gradcli.reference.bounds import NoRuleError
from gradcli.results import OnBox

MOST_MOVING = 8
"""Most numbers that move."""

MOST_NUMBERS = 500
"""Most numbers in all lines of a function along a line that are lines of their own."""

OnBox_T = TypeVar("OnBox_T", bound=OnBox)

OF_RECORDING = "the code was recorded, and run at 9 points of the box, where it did the same"
"""Remark on a function of Python."""


@dataclass(frozen=True)
class MovingBox:
    """A function of one element, and a box of some of its variables.

    Attributes:
        bound_function: The function at the lower ends of the ranges.
        ranges: The ranges as typed, by variable.
        low: The lower ends of all numbers that move.
        high: The upper ends.
        is_recorded: Whether the function is what was recorded of code.
        line: The point and the direction of a line, by variable, where the way along it is what moves.
    """

    bound_function: BoundFunction
    ranges: Mapping[str, str]
    low: Array
    high: Array
    is_recorded: bool = False
    line: tuple[Mapping[str, Array], Mapping[str, Array]] | None = None

    @cached_property
    def program(self) -> ScalarProgram:
        """The function as a Program of numbers.

        Raises:
            LanguageError: An operation has no rule on boxes.
        """
        if self.is_of_arrays:
            symbols = {name: np.array(sympy.Dummy(name, real=True), object) for name in self.ranges}
            return ScalarProgram((), np.array([], object), symbols, {})
        try:
            return in_numbers(self.bound_function.program, self.bound_function.arrays, tuple(self.ranges))
        except NoRuleError as error:
            raise _no_rule(error, is_of_line=self.line is not None) from None

    @cached_property
    def is_of_arrays(self) -> bool:
        """Tell whether the function is evaluated on arrays: along a line through many numbers."""
        return self.line is not None and sum(map(math.prod, self.bound_function.shapes.values())) > MOST_NUMBERS

    @cached_property
    def function(self) -> Evaluator:
        """The evaluator of y.

        Raises:
            LanguageError: An operation has no rule on boxes.
        """
        try:
            if self.is_of_arrays:
                return ArrayEvaluator(self.bound_function.program, self.bound_function.arrays, self.program)
            return Evaluator(self.program)
        except NoRuleError as error:
            raise _no_rule(error, is_of_line=self.line is not None) from None

    def quantity(self, derivative: Derivative = (), element: int = 0) -> BoxQuantity:
        """Return an element of y, or one of its derivatives."""
        return BoxQuantity(self.function, derivative, element=element)

    @cached_property
    def names(self) -> Sequence[Notation]:
        """The names of the numbers that move: x, or x[0]."""
        found: list[Notation] = []
        for name, atoms in self.program.variables.items():
            places = np.ndindex(*atoms.shape)
            found += [Element(name, at) if atoms.shape else Named(name) for at in places]
        return found

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks on what is bounded: of code, at how many points it was run."""
        return (OF_RECORDING,) if self.is_recorded else ()

    def by_name(self, numbers: Array) -> dict[str, float]:
        """Map the names to numbers."""
        return {one.text: float(number) for one, number in zip(self.names, numbers, strict=True)}

    def arrays(self, numbers: Array) -> dict[str, Array]:
        """Return the values of the variables at a point."""
        found, first = {}, 0
        for name, atoms in self.program.variables.items():
            found[name] = np.asarray(numbers[first : first + atoms.size]).reshape(atoms.shape)
            first += atoms.size
        return found

    def part(self, low: Array, high: Array) -> MovingBox:
        """Return a smaller box, at whose middle the question is asked."""
        return replace(self, low=low, high=high, bound_function=self.question_at(low / 2 + high / 2))

    def question_at(self, numbers: Array) -> BoundFunction:
        """Ask at a point of the box."""
        dtype = self.bound_function.dtype
        return self.bound_function.with_values({name: rounded(a, dtype) for name, a in self.arrays(numbers).items()})

    def numbers_of_question(self) -> Array:
        """Return the numbers that move, as they are where the question is asked."""
        arrays = self.bound_function.arrays
        return np.concatenate([np.ravel(arrays[name]).astype(float) for name in self.program.variables])

    @property
    def held(self) -> dict[str, Array]:
        """The values of the variables that stay, and the point of a line."""
        if self.line is not None:
            return dict(self.line[0])
        return {name: array for name, array in self.bound_function.arrays.items() if name not in self.ranges}

    def answered(self, make: Callable[..., OnBox_T], **found: object) -> OnBox_T:
        """Make an answer of what was found, and of what every answer on this box has."""
        bound_function = self.bound_function
        return make(
            expression=bound_function.program.expression,
            dtype=bound_function.dtype,
            inputs=self.held,
            ranges=self.ranges,
            wrt=tuple(self.ranges),
            output=bound_function.program.output_name,
            u=None if self.line is None else self.line[1],
            warnings=bound_function.program.warnings,
            **found,
        )


@dataclass(frozen=True)
class AskedBox:
    """A question, and the ranges of some of its variables.

    Attributes:
        bound_function: The function at the lower ends of the ranges.
        ranges: The ranges as typed, by variable.
        ends: Their lower and upper ends, each of the shape of its variable.
    """

    bound_function: BoundFunction
    ranges: Mapping[str, str]
    ends: Mapping[str, tuple[Array, Array]]

    @property
    def count(self) -> int:
        """The number of numbers that move."""
        return sum(low.size for low, _ in self.ends.values())

    def moving(self) -> MovingBox:
        """Return the box of all numbers that move."""
        low, high = (np.concatenate([np.ravel(pair[k]).astype(float) for pair in self.ends.values()]) for k in (0, 1))
        return MovingBox(self.bound_function, self.ranges, low, high, self.bound_function.recording is not None)


def asked_box(
    unbound: FunctionWithValues, ranges: Mapping[str, str], shapes: Mapping[str, GivenShape] | None = None
) -> AskedBox:
    """Read the ranges of a question.

    Args:
        unbound: The function, with the values of the variables that stay.
        ranges: The range of each other variable; of a tensor, that of each of its elements.
        shapes: The shapes of tensors that have a range and no value.

    Raises:
        GradcliError: There is no range, a value is missing, or a range or a shape makes no sense.
    """
    if not ranges:
        require_valued(unbound.snippet, unbound.at)
        program, known = unbound.snippet.program, {**unbound.snippet.values, **unbound.at}
        names = [name for name in program.names if name not in known]
        require_named(program, names, known)
        example = example_range(unbound, "-1", "1")
        hint = f"add {option('in', example)}" if example else None
        raise InputError("a box needs the range of a variable", hint=hint)
    unbound.require_fixed()
    unbound, named = unbound.within(ranges)
    read = {name: read_range(text, f"--in {name}") for name, text in named.items()}
    bound_function = _asked(replace(unbound, at={**unbound.at, **_of_shapes(unbound, read, shapes or {})}))
    ends = {name: bound_function.bounds(name, read[name]) for name in bound_function.program.names if name in read}
    if not sum(low.size for low, _ in ends.values()) or not math.prod(bound_function.shape):
        raise InputError("no variable of the function moves", hint="give the range of one that it has")
    return AskedBox(replace(bound_function, wrt=tuple(ends)), {name: named[name] for name in ends}, ends)


def _of_shapes(
    unbound: FunctionWithValues, read: Mapping[str, tuple[Array, Array]], shapes: Mapping[str, GivenShape]
) -> dict[str, Array]:
    """Give tensors of a shape the lower ends of their ranges.

    Raises:
        GradcliError: A shape is malformed, has a name for a size, or is of a variable without a range.
    """
    found = {}
    known = given_shapes(unbound.snippet, shapes)
    for name in (name or unbound.snippet.program.names[0] for name in shapes):
        shape = tuple(size for size in known[name] if isinstance(size, int))
        if name not in read or len(shape) < len(known[name]):
            what = "a size that is no number" if name in read else "a variable without a range"
            hint = f"write {option('in', f'{name}=-1..1')} and {option('shape', f'{name}=1000')}"
            raise InputError(f"{option('shape', of=name)} has {what}", hint=hint)
        low = read[name][0]
        if low.shape and low.shape != shape:
            raise ShapeError(
                f"{option('in', of=name)} has shape {show(low.shape)}, and {option('shape')} {show(shape)}"
            )
        found[name] = np.broadcast_to(low, shape)
    return found


def box_along(unbound: FunctionWithValues, ranges: Mapping[str, str], along: Directions) -> MovingBox:
    """Read the line through the point of a question, and the range of its parameter.

    Raises:
        InputError: There is another range, or y has several elements.
        GradcliError: A value is missing, or a direction or the range makes no sense.
    """
    unbound.require_fixed()
    bound_function = _asked(unbound)
    bound_function.require_one_element("grad")
    direction = bound_function.directions(along, "plot")
    name = parameter_of(bound_function)
    text = range_of(ranges, name)
    low, high = (np.asarray(end, float).reshape(-1) for end in read_range(text, f"--in {name}"))
    if len(low) != 1:
        hint = f"write {option('in', f'{name}={USUAL}')}"
        raise InputError(f"the way {name} along a direction is one number", hint=hint)
    line = dict(bound_function.arrays), direction
    moved = on_line(bound_function, direction, name, float(low[0]))
    return MovingBox(moved, {name: text}, low, high, bound_function.recording is not None, line)


def _asked(unbound: FunctionWithValues) -> BoundFunction:
    """Ask at the values that are given, of a function whose formula does not depend on values, unless it is code."""
    bound_function = unbound.bind()
    if bound_function.recording is None and bound_function.is_of_point:
        message = "values decide what this computes, so that its formula is that of one point alone"
        raise LanguageError(message, hint=f"write the choice by where, or check points: {option('random', '100')}")
    return bound_function


def moving_box(unbound: FunctionWithValues, ranges: Mapping[str, str], along: Directions = None) -> MovingBox:
    """Read the ranges of a question, or the direction in which its values move.

    Raises:
        InputError: There is no range, y has several elements, or too many numbers move.
        GradcliError: A value is missing, or a range makes no sense.
    """
    if along is not None:
        return box_along(unbound, ranges, along)
    asked = asked_box(unbound, ranges)
    require_few(asked)
    return asked.moving()


def require_few(asked: AskedBox) -> None:
    """Refuse a y of several elements, and too many numbers.

    Raises:
        InputError: y has several elements, or too many numbers move.
    """
    asked.bound_function.require_one_element("grad")
    if asked.count > MOST_MOVING:
        message = f"{asked.count:,} numbers move, and a box has at most {MOST_MOVING}"
        hint = f"give the others values: {option('at', 'NAME=VALUE')}; or move along a line: {option('along', 'ones')}"
        raise InputError(message, hint=hint)


def _no_rule(error: NoRuleError, *, is_of_line: bool) -> LanguageError:
    reason = str(error) or "an operation has no bounds on a box"
    if is_of_line:
        hint = f"check its derivative at the point: leave out {option('along')}, {option('in')} and {option('prove')}"
    else:
        hint = f"check its derivative at points: {option('random', '100')}, without {option('prove')}"
    return LanguageError(f"nothing is known of this function in a box: {reason}", hint=hint)

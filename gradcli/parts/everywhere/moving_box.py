"""A question on a box: the numbers that move, their ranges, and the function as a Program of numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from gradcli.arrays import Array
from gradcli.errors import InputError, LanguageError
from gradcli.language.inputs import read_range
from gradcli.notation import Element, Named, Notation
from gradcli.option_words import option
from gradcli.parts.everywhere.bounded_quantities import BoxQuantity, Derivative
from gradcli.parts.everywhere.jets import Evaluator
from gradcli.parts.everywhere.scalars import ScalarProgram, in_numbers
from gradcli.questions.question import Inquiry, Question, rounded
from gradcli.reference.bounds import NoRuleError
from gradcli.results import OnBox

MOST_MOVING = 8
"""Most numbers that move."""

OnBox_T = TypeVar("OnBox_T", bound=OnBox)

OF_RECORDING = "this is of the formula that was recorded of the code at one point"
"""Remark on a function of Python."""


@dataclass(frozen=True)
class MovingBox:
    """A function of one element, and a box of some of its variables.

    Attributes:
        question: The function at the lower ends of the ranges.
        ranges: The ranges as typed, by variable.
        low: The lower ends of all numbers that move.
        high: The upper ends.
    """

    question: Question
    ranges: Mapping[str, str]
    low: Array
    high: Array

    @cached_property
    def program(self) -> ScalarProgram:
        """The function as a Program of numbers.

        Raises:
            LanguageError: An operation has no rule on boxes.
        """
        try:
            return in_numbers(self.question.program, self.question.arrays, tuple(self.ranges))
        except NoRuleError as error:
            raise _no_rule(error) from None

    @cached_property
    def function(self) -> Evaluator:
        """The evaluator of y.

        Raises:
            LanguageError: An operation has no rule on boxes.
        """
        try:
            return Evaluator(self.program)
        except NoRuleError as error:
            raise _no_rule(error) from None

    def quantity(self, derivative: Derivative = ()) -> BoxQuantity:
        """Return y, or one of its derivatives."""
        return BoxQuantity(self.function, derivative)

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
        """Remarks on what is bounded: of code, the formula that was recorded at one point."""
        return () if self.question.recording is None else (OF_RECORDING,)

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
        return replace(self, low=low, high=high, question=self.question_at(low / 2 + high / 2))

    def question_at(self, numbers: Array) -> Question:
        """Ask at a point of the box."""
        dtype = self.question.dtype
        return self.question.with_values({name: rounded(a, dtype) for name, a in self.arrays(numbers).items()})

    @property
    def held(self) -> dict[str, Array]:
        """The values of the variables that stay."""
        return {name: array for name, array in self.question.arrays.items() if name not in self.ranges}

    def answered(self, make: Callable[..., OnBox_T], **found: object) -> OnBox_T:
        """Make an answer of what was found, and of what every answer on this box has."""
        question = self.question
        return make(
            expression=question.program.expression,
            dtype=question.dtype,
            inputs=self.held,
            ranges=self.ranges,
            wrt=tuple(self.ranges),
            output=question.program.output_name,
            warnings=question.program.warnings,
            **found,
        )


def moving_box(inquiry: Inquiry, ranges: Mapping[str, str]) -> MovingBox:
    """Read the ranges of a question.

    Raises:
        InputError: There is no range, y has several elements, or too many numbers move.
        GradcliError: A value is missing, or a range makes no sense.
    """
    if not ranges:
        names = inquiry.snippet.program.names
        example = option("in", f"{names[0]}=-1..1") if names else ""
        raise InputError("a box needs the range of a variable", hint=f"add {example}" if example else None)
    inquiry.require_fixed()
    inquiry, named = inquiry.within(ranges)
    read = {name: read_range(text, f"--in {name}") for name, text in named.items()}
    question = inquiry.question()
    if question.is_of_point:
        message = "values decide what this code computes, so that its formula is that of one point alone"
        raise LanguageError(message, hint=f"write the choice by where, or check points: {option('random', '100')}")
    question.require_one_element("grad")
    ends = {name: question.bounds(name, read[name]) for name in question.program.names if name in read}
    if (count := sum(low.size for low, _ in ends.values())) > MOST_MOVING:
        message = f"{count} numbers move, and a box has at most {MOST_MOVING}"
        raise InputError(message, hint=f"give the others values: {option('at', 'NAME=VALUE')}")
    if not ends or math.prod(question.shape) != 1:
        raise InputError("no variable of the function moves", hint="give the range of one that it has")
    low, high = (np.concatenate([np.ravel(pair[k]).astype(float) for pair in ends.values()]) for k in (0, 1))
    return MovingBox(replace(question, wrt=tuple(ends)), {name: named[name] for name in ends}, low, high)


def _no_rule(error: NoRuleError) -> LanguageError:
    reason = str(error) or "an operation has no bounds on a box"
    return LanguageError(
        f"nothing is known of this function in a box: {reason}", hint=f"check points of it: {option('random', '100')}"
    )

"""What the parts of an enclosure pass see of each other: of the plan, of the values so far, of their exact forms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt
import sympy

from gradcli.language.program.wengert import Atom, Line, Program, Shape
from gradcli.reference.dependencies import Dependencies, Flat
from gradcli.reference.rules import Outcome, Rounding

Chunks = Sequence[tuple[int, Sequence[int], Sequence[int]]]
"""Positions in a list of elements of a line, and the elements of an operand there, operand by operand."""

ValueForm = tuple[tuple[int, Fraction], ...]
"""Numbers of values with their coefficients; the number 0 stands for the value 1."""


class ProgramWithInputs(Protocol):
    """A Program of primitives at given inputs: see `enclosure_plan.Reference`."""

    @property
    def program(self) -> Program:
        """The Program."""

    @property
    def shapes(self) -> Mapping[Atom, Shape]:
        """The shapes of its symbols."""

    @property
    def inputs(self) -> Mapping[Atom, npt.NDArray[np.float64]]:
        """The values of its variables, flat."""

    @property
    def renamed(self) -> Mapping[Atom, Atom]:
        """The symbols of values whose lines have been rewritten."""

    @property
    def dependencies(self) -> Dependencies:
        """Dependencies between elements."""


class ValueForms(Protocol):
    """Exact forms, by which values are known to be equal: see `exact_forms.Numbering`."""

    def form(self, operand: Atom, element: int) -> ValueForm:
        """Give the form of an element."""

    def constant(self, operand: Atom, element: int) -> Fraction | None:
        """Give the rational number that an element is, if its form tells."""

    def total(self, terms: Iterable[tuple[ValueForm, Fraction]]) -> ValueForm:
        """Add forms with factors."""

    def product(self, first: ValueForm, second: ValueForm) -> ValueForm:
        """Multiply two forms."""

    def quotient(self, first: ValueForm, second: ValueForm) -> ValueForm:
        """Divide two forms."""

    def root(self, form: ValueForm) -> ValueForm:
        """Give the square root of a form."""


class PassPlan(Protocol):
    """Plan of one pass: see `enclosure_plan.Plan`."""

    numbering: ValueForms | None

    @property
    def chunks(self) -> dict[tuple[Atom, int], tuple[Flat, Chunks]]:
        """The places of operands that passes have found for its elements, by line and the array of the elements."""

    @property
    def reference(self) -> ProgramWithInputs:
        """The Program and its inputs."""

    @property
    def directions(self) -> Sequence[tuple[sympy.Symbol, int]]:
        """The elements of inputs that move."""

    @property
    def reached(self) -> Mapping[Atom, tuple[Flat, Flat]]:
        """The directions and the elements of each line that they reach."""

    @property
    def edges(self) -> Mapping[Atom, Sequence[tuple[int, Flat, Flat]]]:
        """The edges of each line: the operand, and elements of the line and of the operand."""

    @property
    def needed(self) -> Mapping[Atom, Flat]:
        """The elements whose values are taken."""

    @property
    def judges_value(self) -> bool:
        """True if y itself is judged."""


class PassValues(Protocol):
    """Values of a pass so far: see `enclosure_pass.EnclosurePass`."""

    rounding: Rounding | None

    @property
    def plan(self) -> PassPlan:
        """The plan of the pass."""

    @property
    def reference(self) -> ProgramWithInputs:
        """The Program and its inputs."""

    @property
    def values(self) -> Mapping[Atom, Mapping[int, Outcome]]:
        """The values by line and element."""

    @property
    def numbering(self) -> ValueForms:
        """The exact forms of the values."""

    def values_at(self, line: Line, k: int, elements: Flat) -> list[Outcome]:
        """List the values of elements of an operand."""

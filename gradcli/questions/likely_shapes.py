"""Likely shapes of variables of which nothing is known, and random values of them.

A question without values is one about a formula, or about a claim: which variables are vectors and which are matrices
is found by what the text allows, and by its letters.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gradcli import trial
from gradcli.arrays import Array
from gradcli.errors import GradcliError, InputError, NamelessValueError
from gradcli.language.inputs import read_shape, read_value
from gradcli.language.lower.juxtaposed_names import NOT_EULER, require_named
from gradcli.language.program.named_shapes import NamedReading, named_readings, renamed_size, size_needed
from gradcli.language.program.shape_readings import GivenShape, NamedShape, ShapeConstraint
from gradcli.language.program.wengert import Program, Shape
from gradcli.language.snippet_result import Snippet
from gradcli.option_words import option
from gradcli.questions.bound_function import BoundFunction, FunctionWithValues
from gradcli.questions.naming import no_such_variable, open_names

BOXES = ((0.0, 1.0), (-1.0, 1.0), (1.0, 16.0), (-16.0, -1.0), (16.0, 1024.0))
"""Ranges to draw random values from, one after the other, until the function has a value."""

NO_POINT = "no values were given; random ones were taken"

NUDGE = 2.0**-40
"""Relative change of the variables by which values are seen to be noise, as the determinant of a singular matrix is."""


def at_random_values(unbound: FunctionWithValues, seed: int, reading: NamedReading | None = None) -> FunctionWithValues:
    """Give a question without values random ones, of likely shapes, at which the function has a value.

    Args:
        unbound: The question.
        seed: Of the values.
        reading: The shapes; by default the likeliest.

    Raises:
        GradcliError: No shapes fit, or the function has a value at no point that was tried.
    """
    typed = unbound.snippet.program
    require_named(typed, typed.names, ())
    found = reading or next(likely_shapes(unbound, {}))
    remark = f"{NO_POINT}: {found.words}" if found.words else NO_POINT
    remarks = remark, *[NOT_EULER] * ("e" in typed.names)
    told = replace(unbound.snippet, program=replace(typed, warnings=(*typed.warnings, *remarks)))
    generator = np.random.default_rng(seed)
    for (low, high), is_descending in itertools.product(BOXES, (False, True)):
        small = found.named.small(is_descending=is_descending)
        values = {str(s): _sixteenths(generator.uniform(low, high, small[s])) for s in found.program.variables}
        drawn = replace(unbound, snippet=told, at=values)
        with suppress(InputError):
            if trial.is_on() or _is_well_behaved(drawn.bind()):
                return drawn
    raise InputError(
        "no point was found where the function has a value", hint=f"give one: {option('at', 'NAME=VALUE')}"
    )


def _sixteenths(values: Array) -> Array:
    """Round to sixteenths, which are exact in binary and short to read; none is 0, where much has no derivative."""
    found = np.round(values * 16) / 16
    return np.where(found == 0, np.copysign(1 / 16, values), found)


def _is_well_behaved(bound: BoundFunction) -> bool:
    """Tell whether the function has a value that hardly changes where its variables hardly do."""
    moved = bound.with_values({name: array * (1 + NUDGE) for name, array in bound.arrays.items()})
    here, there = bound.value, moved.value
    is_finite = bool(np.all(np.isfinite(here)) and np.all(np.isfinite(there)))
    return is_finite and bool(np.all(np.abs(there - here) <= math.sqrt(NUDGE) * (1 + np.abs(here))))


def likely_shapes(
    unbound: FunctionWithValues,
    given: Mapping[str, GivenShape],
    constraints: Sequence[ShapeConstraint] = (),
    cost_of: Callable[[Shape], float | None] = lambda shape: 0.0,
    square: Collection[str] = (),
) -> Iterator[NamedReading]:
    """Generate the shapes with which a text makes sense, the likeliest first; those given, and of values, stay.

    Args:
        unbound: The function.
        given: Shapes by variable; the empty name stands for the only variable.
        constraints: Of other texts, whose shapes have to fit too.
        cost_of: The cost of a shape of y; None where the question does not allow it.
        square: Variables that are square matrices.

    Raises:
        GradcliError: A shape is malformed, or of no variable, or no shapes fit.
    """
    unbound.require_fixed()
    hidden, snippet = unbound.read_with(given)
    shapes = given_shapes(snippet, given)
    program = replace(snippet.program, warnings=tuple(filter(None, [snippet.reading_remark])))

    def again(sizes: Mapping[str, Shape]) -> Program:
        return unbound.read(hidden, shapes=sizes).program

    return named_readings(program, shapes, again, constraints, cost_of, square)


class WithShapes(NamedTuple):
    """A function of which the shapes of some variables are known, and no values.

    Attributes:
        function: With NaN for their values.
        unknown: Their names.
    """

    function: FunctionWithValues
    unknown: frozenset[str]


def with_shapes(unbound: FunctionWithValues, given: Mapping[str, GivenShape] | None) -> WithShapes:
    """Give variables NaN for their values where a shape alone is given, or makes sense.

    Args:
        unbound: The function.
        given: Shapes by variable; the empty name stands for the only variable. Without any, values are needed.

    Raises:
        GradcliError: A shape is malformed, or of no variable or one with a value, or a size is not a number.

    >>> from gradcli.questions.text_reading import read
    >>> with_shapes(FunctionWithValues("a*x", read("a*x")), {"x": (2,)}).function.at["x"]
    array([nan, nan])
    """
    if given is None:
        return WithShapes(unbound, frozenset())
    values = {name: read_value(value, f"--at {name}") for name, value in unbound.at.items()}
    names = open_names(unbound.snippet)
    asked = {name or (names[0] if len(names) == 1 else ""): shape for name, shape in given.items()}
    _require_apart(asked, values)
    shapes: dict[str, GivenShape] = {name: array.shape for name, array in values.items()}
    named = next(likely_shapes(unbound, shapes | asked)).named
    known = {*values, *(unbound.snippet.values.keys() - asked.keys())}
    unknown = {name: shape for name, shape in named.given.items() if name not in known}
    arrays = {name: np.full(shape, np.nan) for name, shape in _sizes(unknown).items()}
    return WithShapes(replace(unbound, at={**values, **arrays}), frozenset(arrays))


def example_range(unbound: FunctionWithValues, low: str, high: str) -> str:
    """Write a range of the first variable without a value, as a shell reads it; "" where all have one.

    >>> from gradcli.questions.text_reading import read
    >>> example_range(FunctionWithValues("det(X)", read("det(X)")), "0", "1")
    '"X=[[0,0],[0,0]]..[[1,1],[1,1]]"'
    """
    found = next(example_ranges(unbound, low, high), "")
    return f'"{found}"' if "[" in found else found


def example_ranges(unbound: FunctionWithValues, low: str, high: str) -> Iterator[str]:
    """Write a range of each variable without a value, with bounds of its likeliest shape."""
    known = {*unbound.snippet.values, *unbound.at}
    shapes: Mapping[str, NamedShape] = {}
    with suppress(GradcliError):
        shapes = next(likely_shapes(unbound, {one: np.shape(unbound.at[one]) for one in unbound.at})).named.given
    for name in unbound.snippet.program.names:
        if name not in known:
            sizes = [one if isinstance(one, int) else 2 for one in shapes.get(name, ())]
            ends = [low, high]
            for size in sizes[::-1] if math.prod(sizes) <= _MOST_WRITTEN else ():
                ends = [f"[{','.join([end] * size)}]" for end in ends]
            yield f"{name}={'..'.join(ends)}"


_MOST_WRITTEN = 16
"""Most elements whose bounds are written out."""


def _require_apart(shapes: Container[str], values: Iterable[str]) -> None:
    """Refuse a variable with both a shape and a value.

    Raises:
        InputError: There is one.
    """
    if both := next((name for name in values if name in shapes), ""):
        raise InputError(f"{both} has a value, and a shape besides", hint="leave out one of them")


def _sizes(shapes: Mapping[str, NamedShape]) -> dict[str, Shape]:
    """Return shapes that are known in numbers.

    Raises:
        InputError: A size is a name.
    """
    sizes = {name: tuple(size for size in shape if isinstance(size, int)) for name, shape in shapes.items()}
    if of_names := [name for name, shape in shapes.items() if len(shape) > len(sizes[name])]:
        raise size_needed(of_names)
    return sizes


def drawn_values(given: Mapping[str, GivenShape], known: Iterable[str]) -> dict[str, Array]:
    """Draw values of some shapes, by variable, as code runs with numbers alone.

    Args:
        given: The shapes.
        known: The variables that have a value.

    Raises:
        GradcliError: A shape is malformed, of a variable with a value, or has a size that is not a number.

    >>> drawn_values({"x": "3"}, ["y"])["x"].shape
    (3,)
    """
    _require_apart(given, known)
    shapes = {name: read_shape(shape, f"--shape {name}") for name, shape in given.items()}
    drawn = enumerate(_sizes(shapes).items())
    return {name: np.random.default_rng(n).uniform(0.5, 1.5, shape) for n, (name, shape) in drawn}


def given_shapes(snippet: Snippet, given: Mapping[str, GivenShape]) -> dict[str, NamedShape]:
    """Collect the known shapes: those given, and those of values in the text.

    Raises:
        GradcliError: A shape is malformed, or of no variable.
    """
    names = snippet.program.names
    shapes: dict[str, NamedShape] = {name: array.shape for name, array in snippet.values.items() if name in names}
    for name, shape in given.items():
        whose = name or (names[0] if len(names) == 1 else "")
        if whose not in names and (name or not names):
            raise no_such_variable("--shape", name or str(shape), names)
        if whose not in names:
            known = f"the expression has the variables {', '.join(names)}"
            message = f"{option('shape', str(shape))} names no variable, and {known}"
            raise NamelessValueError(message, hint=f"write {option('shape', f'{names[0]}={shape}')}")
        shapes[whose] = read_shape(shape, f"--shape {whose}")
    for whose, found in shapes.items():
        if clash := next((size for size in found if isinstance(size, str) and size in names), ""):
            hint = f"give the size another name: {renamed_size(snippet.program, shapes, clash)}"
            raise InputError(f"{option('shape', of=whose)} calls a size '{clash}', which is a variable", hint=hint)
    return shapes

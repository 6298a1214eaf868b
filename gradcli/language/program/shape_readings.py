"""Readings of the shapes of variables: which of them are numbers, vectors and matrices, and which sizes are the same.

`x.T@A@x` is one number where x is a vector and A a square matrix, and a matrix where both are matrices.  All shapes
with which a text makes sense are generated, the likeliest first: few dimensions, sizes that differ, lower-case letters
for vectors, capitals for matrices, Greek letters for numbers, terms of a sum that are alike.  These are preferences;
what the text allows decides.

The dimensions of each variable are tried in the order of their cost.  For each, sizes that have to be the same are
found line by line: where the operands of a line do not fit, the fewest sizes are set equal with which they do.
"""

from __future__ import annotations

import heapq
import itertools
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from gradcli.errors import GradcliError, Remark, ShapeError
from gradcli.language.ops import Kind
from gradcli.language.program.shape_costs import (
    CAPITAL_NUMBER,
    DOUBTFUL_NUMBER,
    EQUAL,
    SQUARE,
    cheapest,
    cost_of_line,
    costs_of_ranks,
    divisor_of,
    is_out_of_square,
)
from gradcli.language.program.shapes import shape_of
from gradcli.language.program.wengert import Atom, Call, Program, Shape

Size = int | str
NamedShape = tuple[Size, ...]
GivenShape = str | int | Sequence[Size]
"""Shape of a variable as it is given: sizes, `3` or `m,n`, or a list of sizes; `()` for a plain number."""

Sizes = Mapping[str, NamedShape]
"""Shape of each variable, in names that stand for sizes."""

MOST_TRIED = 300
"""Dimensions of the variables that are tried, at most, one set after the other."""

MOST_EQUAL = 3
"""Pairs of sizes that are set equal for one line, at most; all sizes are tried as one beyond."""

MOST_SIZES = 8
"""Sizes of one line between which pairs are chosen."""

SAME = 199
"""Number for all sizes while a text is read for dimensions alone: none that stands for a size, nor means something."""


@dataclass(frozen=True)
class Demand:
    """Shape that a text has to have by a constraint, and what it costs to have it."""

    shape: Shape
    cost: float = 0.0


class ShapeConstraint(Protocol):
    """Constraint on shapes by another text, such as the claim of a derivative, which has to fit the function."""

    def read(self, function: Program, shapes: Mapping[str, Shape]) -> Program | None:
        """Read it for these shapes of the variables; None if its shapes say nothing.

        Raises:
            GradcliError: It makes no sense with them.
        """

    def demands(self, own: Program, shapes: Mapping[str, Shape], y: Shape) -> Iterable[Demand]:
        """List the shapes that it may have, for these of the variables and of y."""


@dataclass(frozen=True)
class ShapeReading:
    """Shapes of the variables with which a text makes sense.

    Attributes:
        program: The text, as read with them.
        shapes: In numbers and names of sizes.
        cost: How unlikely it is that they are meant.
        needs_numbers: Whether a constant of the text is a size, so that sizes are needed as numbers.
    """

    program: Program
    shapes: Sizes
    cost: float
    needs_numbers: bool = False


Read = Callable[[Mapping[str, Shape]], Program]


def shape_readings(
    program: Program,
    given: Sizes,
    wanted: Mapping[str, tuple[int, int]],
    exact: Mapping[str, int],
    read: Read | None = None,
    constraints: Sequence[ShapeConstraint] = (),
    cost_of: Callable[[Shape], float | None] = lambda shape: 0.0,
    square: Collection[str] = (),
) -> Iterator[ShapeReading]:
    """Generate the shapes of variables with which a text makes sense, the likeliest first.

    Args:
        program: The function, read without shapes.
        given: Shapes of some variables.
        wanted: For each of the others the fewest dimensions that it must have, and those that operations pass on.
        exact: Elements of those that are vectors of a known length.
        read: Reads the text for shapes, where they decide how it is read.
        constraints: Of other texts, whose shapes have to fit too.
        cost_of: The cost of a shape of y; None where the question does not allow it.
        square: Variables that are square matrices.

    Raises:
        ShapeError: No shapes fit; for the likeliest dimensions, what does not.
    """
    search = _Search(program, given, exact, read, constraints, cost_of, square)
    unknown = [name for name in program.names if name not in given and name not in exact]
    matrices = {*program.names} - _divisors(program) if program.is_of_matrices else set[str]()
    options = [
        [(0.0, 2)]
        if name in square
        else costs_of_ranks(name, *wanted.get(name, (0, 0)), is_mathematics=name in matrices)
        for name in unknown
    ]
    found: list[tuple[float, int, ShapeReading]] = []
    refused: GradcliError | None = None
    order = itertools.count()
    for cost, ranks in itertools.islice(cheapest(options), MOST_TRIED):
        while found and found[0][0] <= cost:
            yield heapq.heappop(found)[2]
        try:
            for reading in search.of_ranks(dict(zip(unknown, ranks, strict=True))):
                total = cost + reading.cost
                heapq.heappush(found, (total, next(order), replace(reading, cost=total)))
        except GradcliError as error:
            refused = refused or error
    is_any = bool(found)
    while found:
        yield heapq.heappop(found)[2]
    if refused is not None and not is_any:
        raise refused


def _divisors(program: Program) -> set[str]:
    """List the variables that divide, alone or within terms and powers, as no matrix does."""
    found = set[Atom]()
    for line in reversed(program.lines):
        if (divisor := divisor_of(line.call)) is not None:
            found.add(divisor)
        if line.symbol in found and line.call.op.kind is Kind.ELEMENTWISE:
            found |= {*line.call.operands}
    return {str(atom) for atom in found & {*program.variables}}


# -- sizes that have to be the same


@dataclass(frozen=True)
class _Numbered:
    """Shapes in sizes, and the number that stands for each name.

    Attributes:
        shapes: Of the variables.
        numbers: For each name of a size.
        free: The names that may be set equal to other sizes: those that nobody gave.
        equal: How many were set equal.
    """

    shapes: Sizes
    numbers: Mapping[str, int]
    free: frozenset[str]
    equal: int = 0

    @property
    def in_numbers(self) -> dict[str, Shape]:
        """The shapes in numbers."""
        return {name: tuple(self.number(size) for size in shape) for name, shape in self.shapes.items()}

    def number(self, size: Size) -> int:
        """Return the number that a size stands for."""
        return self.numbers[size] if isinstance(size, str) else size

    def in_names(self, text: str) -> str:
        """Write the names of sizes that were given in place of the numbers that stand for them."""
        names = {str(number): name for name, number in self.numbers.items() if name not in self.free}
        return re.sub(r"\d+", lambda found: names.get(found[0], found[0]), text)

    def named(self, number: int) -> Size:
        """Return the size that a number stands for."""
        return next((name for name, own in self.numbers.items() if own == number), number)

    def with_equal(self, one: int, other: int) -> _Numbered | None:
        """Set two sizes equal; None where both are given."""
        first, second = self.named(one), self.named(other)
        if first not in self.free:
            first, second = second, first
        if first not in self.free:
            return None
        shapes = {
            name: tuple(second if size == first else size for size in shape) for name, shape in self.shapes.items()
        }
        return replace(self, shapes=shapes, free=self.free - {str(first)}, equal=self.equal + 1)

    def with_all_equal(self, pairs: Iterable[tuple[int, int]]) -> _Numbered | None:
        """Set the sizes of several pairs equal; None where that cannot be."""
        found: _Numbered | None = self
        for pair in pairs:
            if found is None:
                return None
            one, other = (found.substituted(self, number) for number in pair)
            found = found if one == other else found.with_equal(one, other)
        return found

    def substituted(self, before: _Numbered, number: int) -> int:
        """Return what a number of the shapes before stands for in these."""
        size = before.named(number)
        for name, shape in before.shapes.items():
            if size in shape:
                return self.number(self.shapes[name][shape.index(size)])
        return number


@dataclass(frozen=True)
class _Misfit:
    """A line whose operands do not fit, or a shape that is not the demanded one.

    Attributes:
        operands: The shapes.
        fits: Whether others do.
        error: What is wrong with these.
        constants: Sizes that the operation itself has, as `x.view(3, 2)`.
        is_of_shapes: Whether the operation was read for other shapes, of which its meaning is.
    """

    operands: tuple[Shape, ...]
    fits: Callable[[Sequence[Shape]], bool]
    error: GradcliError
    constants: tuple[int, ...] = ()
    is_of_shapes: bool = False


@dataclass
class _Search:
    """Search for sizes, for one set of dimensions after the other."""

    program: Program
    given: Sizes
    exact: Mapping[str, int]
    read: Read | None
    constraints: Sequence[ShapeConstraint]
    cost_of: Callable[[Shape], float | None]
    square: Collection[str] = ()
    known: dict[tuple[tuple[str, Shape], ...], Program] = field(default_factory=dict)

    def of_ranks(self, ranks: Mapping[str, int]) -> Iterator[ShapeReading]:
        """Generate readings in which the variables have these dimensions.

        Raises:
            GradcliError: None makes sense; what does not.
        """
        start = self._numbered(ranks)
        program, others = self._texts(start)
        is_of_sizes = program is not self.program  # its constants may be sizes
        refused: GradcliError | None = None
        waiting, is_found, seen = [start], False, set[str]()
        while waiting:
            here = waiting.pop(0)
            if (key := str(here.shapes)) in seen:
                continue
            seen.add(key)
            found = self._checked(here, program, others)
            if isinstance(found, _Misfit):
                refused = refused or found.error
                has_size = self._has_size(found)
                mended = [] if has_size and is_of_sizes else _mended(here, found)
                waiting += mended
                if is_of_sizes and not mended and here.free and (has_size or found.is_of_shapes):
                    is_found = True
                    yield ShapeReading(program, here.shapes, 0.0, needs_numbers=True)
            elif found is not None:
                is_found = True
                yield found
                same = here.with_all_equal(itertools.pairwise(sorted({here.number(name) for name in here.free})))
                square = None if same is None else self._checked(same, program, others)
                if isinstance(square, ShapeReading) and square.shapes != found.shapes:
                    yield replace(square, cost=found.cost + SQUARE)
        if refused is not None and not is_found:
            message, hint = refused.text
            refused.text = Remark(start.in_names(message), hint and start.in_names(hint))
            raise refused

    def _has_size(self, misfit: _Misfit) -> bool:
        """Tell whether shapes do not fit because a constant of a text is a size that nobody gave."""
        given = {size for shape in self.given.values() for size in shape}
        sizes = {*misfit.constants, *(size for shape in misfit.operands for size in shape)}
        return SAME in sizes - given

    def _numbered(self, ranks: Mapping[str, int]) -> _Numbered:
        """Give each dimension a size of its own."""
        counted = itertools.count()
        shapes: dict[str, NamedShape] = {}
        for name in self.program.names:
            if name in self.given:
                shapes[name] = self.given[name]
            elif name in self.exact:
                shapes[name] = (self.exact[name],)
            else:
                shapes[name] = tuple(f"?{next(counted)}" for _ in range(ranks[name]))
                shapes[name] = shapes[name][:1] * 2 if name in self.square else shapes[name]
        names = list(dict.fromkeys(size for shape in shapes.values() for size in shape if isinstance(size, str)))
        taken = {size for shape in shapes.values() for size in shape if isinstance(size, int)}
        primes = (number for number in _NUMBERS if number not in taken)
        numbers = dict(zip(names, itertools.chain(primes, itertools.count(2003, 2)), strict=False))
        return _Numbered(shapes, numbers, frozenset(name for name in names if name.startswith("?")))

    def _texts(self, start: _Numbered) -> tuple[Program, list[tuple[ShapeConstraint, Program]]]:
        """Read the function, and the other texts, for dimensions alone: all sizes that nobody gave are the same.

        Raises:
            GradcliError: They make no sense with them.
        """
        given = [size for shape in self.given.values() for size in shape if isinstance(size, int)]
        refused: GradcliError | None = None
        for same in dict.fromkeys([SAME, *given]):
            shapes = {
                name: tuple(size if isinstance(size, int) else same for size in shape)
                for name, shape in start.shapes.items()
            }
            try:
                program = self._read(shapes)
                others = [(one, one.read(program, shapes)) for one in self.constraints]
                return program, [(one, own) for one, own in others if own is not None]
            except GradcliError as error:
                refused = refused or error
        assert refused is not None, "there is one number at least"  # noqa: S101
        raise refused

    def _read(self, shapes: Mapping[str, Shape]) -> Program:
        if self.read is None or not self.program.needs_shapes:
            return self.program
        key = tuple(shapes.items())
        if key not in self.known:
            self.known[key] = self.read(shapes)
        return self.known[key]

    def _checked(
        self, here: _Numbered, program: Program, others: Sequence[tuple[ShapeConstraint, Program]]
    ) -> ShapeReading | _Misfit | None:
        """Infer all shapes: a reading, the first that does not fit, or None for a shape that is not allowed."""
        shapes = here.in_numbers
        free = {here.number(name) for name in here.free}
        run = _Run(program, shapes, free.__contains__)
        if run.misfit is not None:
            return run.misfit
        more = self.cost_of(run.shape)
        if more is None:
            return None
        cost = more + run.cost + EQUAL * here.equal + DOUBTFUL_NUMBER * program.doubtful_numbers
        if program.is_of_matrices > self.program.is_of_matrices:  # which shapes alone tell, as for A^-1
            cost += CAPITAL_NUMBER * sum(name[:1].isupper() and not shape for name, shape in shapes.items())
        for constraint, own in others:
            other = _Run(own, {**shapes, **_vector(run.shape, own, shapes)}, free.__contains__)
            demands = [one for one in constraint.demands(own, shapes, run.shape) if len(one.shape) == len(other.shape)]
            fitting = [one.cost for one in demands if one.shape == other.shape]
            if other.misfit is None and fitting:
                cost += min(fitting)
                continue
            misfit = other.misfit or _demanded(other.shape, demands)
            if misfit is None or not self._has_size(misfit):  # else it is read again with the sizes that are found
                return misfit
        return ShapeReading(program, here.shapes, cost)


def _vector(y: Shape, program: Program, shapes: Mapping[str, Shape]) -> dict[str, Shape]:
    """Give the names that are no variables the shape of y: a claim may name the gradient vector."""
    return {name: y for name in program.names if name not in shapes}


@dataclass
class _Run:
    """Shapes of the lines of a Program, up to the first that does not fit.

    Attributes:
        program: The Program.
        inputs: The shapes of its variables, by name.
        is_free: Whether a size may still be set equal to another.
    """

    program: Program
    inputs: Mapping[str, Shape]
    is_free: Callable[[int], bool]
    shapes: dict[Atom, Shape] = field(default_factory=dict)
    cost: float = 0.0
    misfit: _Misfit | None = None

    def __post_init__(self) -> None:
        """Go through the lines."""
        self.shapes = {symbol: self.inputs[str(symbol)] for symbol in self.program.variables}
        variables = {*self.program.variables}
        for line in self.program.lines:
            operands = [self.shapes.get(atom, ()) for atom in line.call.operands]
            try:
                self.shapes[line.symbol] = shape_of(line.call, operands)
                if is_out_of_square(line.call, operands) and any(map(self.is_free, operands[0])):
                    raise ShapeError("a trace is of a square matrix")
            except GradcliError as error:
                error.place = error.place or self.program.place(line)
                fits, constants = partial(_fits, line.call), _constants(line.call)
                self.misfit = _Misfit(tuple(operands), fits, error, constants, line.call.op.of_shapes)
                return
            self.cost += cost_of_line(line.call, operands, variables)

    @property
    def shape(self) -> Shape:
        """The shape of the value."""
        return self.shapes.get(self.program.output, ())


def _fits(call: Call, operands: Sequence[Shape]) -> bool:
    with suppress(GradcliError):
        shape_of(call, list(operands))
        return not is_out_of_square(call, operands)
    return False


def _constants(call: Call) -> tuple[int, ...]:
    """List the sizes that an operation is given, and how many elements they make."""
    sizes = call.constants.get("shape")
    return (*sizes, math.prod(sizes)) if isinstance(sizes, tuple) and -1 not in sizes else ()


def _demanded(own: Shape, demands: Sequence[Demand]) -> _Misfit | None:
    """Demand one of several shapes of a text; None where none has its dimensions."""
    wanted = [one.shape for one in demands]
    if not wanted:
        return None
    error = ShapeError(f"a shape of {own} is not one of {wanted}")

    def fits(operands: Sequence[Shape]) -> bool:
        return operands[0] in operands[1:]

    return _Misfit((own, *wanted), fits, error)


def _mended(here: _Numbered, misfit: _Misfit) -> list[_Numbered]:
    """Set the fewest sizes equal with which operands fit; all of them, where the fewest are many."""
    sizes = list(dict.fromkeys([*(size for shape in misfit.operands for size in shape), *misfit.constants]))
    free = {here.number(name) for name in here.free}
    pairs = [pair for pair in itertools.combinations(sizes, 2) if free.intersection(pair)]
    found: list[_Numbered] = []
    for count in range(1, MOST_EQUAL + 1 if len(sizes) <= MOST_SIZES else 2):
        for chosen in itertools.combinations(pairs, count):
            after = here.with_all_equal(chosen)
            if after is not None and after.equal == here.equal + count:
                new = partial(after.substituted, here)
                if misfit.fits([tuple(map(new, shape)) for shape in misfit.operands]):
                    found.append(after)
        if found:
            return found
    same = here.with_all_equal(itertools.pairwise(sorted(free)))
    return [same] if same is not None and same.equal > here.equal else []


_NUMBERS = (
    211, 307, 401, 503, 607, 701, 809, 907, 1009, 1103, 1201, 1301, 1409, 1511, 1601, 1709, 1801, 1901,
)  # fmt: skip
"""Primes that stand for sizes."""

"""Blocks of rows to blocks of derivatives, in order, with a bounded number of them in flight."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gradcli.crosscheck.many_points import MOST_POINTS, Sample, critical_points, merged
from gradcli.errors import InputError
from gradcli.language.inputs import Value, read_value
from gradcli.questions.columns import Plan
from gradcli.questions.points import Points, judged
from gradcli.questions.question import rounded
from gradcli.results import Array, Block, Cells, Check, Fault, Mapped, OnError, RowSource, StreamSummary

if TYPE_CHECKING:
    from gradcli.autodiff.batched import Batch
MOST_ELEMENTS = 2**17
"""Elements of a line at all rows of a block, one MiB in float64: what an operation works on stays in the caches."""


@dataclass(frozen=True)
class _Done:
    """A block that is computed: what is written of it, what is wrong in it, and the rest of its rows for the check."""

    block: Block
    mapped: Mapped
    faults: tuple[Fault, ...]
    good: npt.NDArray[Any]
    variables: Mapping[str, Array]
    values: tuple[Array, ...]


@dataclass
class Tally:
    """What has gone by: rows of the source and of the output, those at fault with the first in words, and a sample."""

    read: int = 0
    written: int = 0
    faulty: int = 0
    first: str = ""
    sample: Sample | None = None

    def add(self, other: Tally) -> None:
        """Count the rows that follow these."""
        self.read, self.written = self.read + other.read, self.written + other.written
        self.faulty, self.first = self.faulty + other.faulty, self.first or other.first
        if self.sample and other.sample:
            self.sample.join(other.sample)


class Stream:
    """One pass of rows through a function.

    Args:
        plan: The function and its columns.
        on_error: What becomes of rows that are at fault.
        check: Whether to judge some rows.
        check_rows: How many.

    Attributes:
        tally: The rows that have been computed.
        threads: How many blocks are computed at a time, at most; by default as many as there are cores.
    """

    def __init__(
        self, plan: Plan, on_error: OnError = "fail", *, check: bool = False, check_rows: int | None = None
    ) -> None:
        self.plan = plan
        self.tally = Tally()
        self.threads: int | None = None
        self._on_error = on_error
        if check:
            self.tally.sample = Sample(check_rows or MOST_POINTS)

    @property
    def rows(self) -> int:
        """The rows of a block."""
        return max(1, MOST_ELEMENTS // self.plan.elements)

    def over(self, blocks: Iterable[Block]) -> Generator[Mapped]:
        """What the blocks are mapped to, in order.

        Raises:
            InputError: A row is at fault, and rows must not be.
        """
        waiting: deque[Future[_Done]] = deque()

        def taken(most: int) -> Iterator[Mapped]:
            while len(waiting) > most:
                yield self._taken(waiting.popleft().result())

        with ExitStack() as stack:
            pool: Executor | None = None
            for block in blocks:
                if self._on_error == "fail" and block.faults:
                    yield from taken(0)  # a row before this block may be at fault too, and is the first
                    _refuse(block.faults)
                for first in range(0, len(block.numbers), self.rows):
                    is_first = pool is None
                    if pool is None:
                        pool, most = self._begin(stack)
                    waiting.append(pool.submit(self._compute, block.rows(first, first + self.rows)))
                    # The first alone: in its first pass torch makes what all its threads share.  Of the others, one
                    # block more than workers in flight, and the oldest first: order is kept, and memory bounded.
                    yield from taken(0 if is_first else most)
                # An empty block says that the source waits: what is computed goes out before more comes in.
                if not len(block.numbers):
                    yield from taken(0)
            yield from taken(0)

    def passage(self) -> StreamSummary:
        """What there is to say of the rows that have gone by."""
        tally = self.tally
        check = self._checked() if tally.sample else None
        output = self.plan.question.program.output_name
        called = {row.number: row.called for row in tally.sample.rows()} if tally.sample else {}
        return StreamSummary(
            tally.read, tally.written, tally.faulty, self._on_error, tally.first, output, check, called
        )

    def _begin(self, stack: ExitStack) -> tuple[Executor, int]:
        """Start the workers; how many blocks may be in flight."""
        from gradcli.autodiff.batched import MOST_WORKERS, cores, workers
        from gradcli.autodiff.run import prepared

        question = self.plan.question
        batch = question.batch(question.arrays, tuple(self.plan.bound), 0)
        self._batch: Batch = replace(batch, program=prepared(question.program))
        count = min(MOST_WORKERS, self.threads or cores())
        if question.live is not None:  # code of the user knows of no threads
            count = 1
        return stack.enter_context(workers(count)), count + 1

    def empty(self, count: int) -> list[Array]:
        """Allocate arrays for y and its derivatives at some rows."""
        plan = self.plan
        return [np.empty((count, *one.shape), plan.question.dtype) for one in plan.quantities]

    def _compute(self, block: Block) -> _Done:
        """One block, in a thread of its own."""
        from gradcli.autodiff.batched import block as computed

        count, faults = len(block.numbers), list(block.faults)
        good = np.arange(count)
        good = np.delete(good, [fault.index for fault in faults]) if faults else good
        columns = {name: array[good] for name, array in block.columns.items()} if faults else block.columns
        variables = self.plan.variables(columns)
        batch = replace(self._batch, inputs={**self._batch.inputs, **variables}, points=len(good))
        refused = computed(batch, values := self.empty(len(good)))
        for place, error in refused.items():
            row = int(good[place])
            message = f"{block.called(row)} of {block.name or self.plan.source.name}: {error.in_shell.message}"
            faults.append(Fault(row, message, error.in_shell.hint))
        if refused:
            rest = np.delete(np.arange(len(good)), list(refused))
            good = good[rest]
            values = [array[rest] for array in values]
            variables = {name: array[rest] for name, array in variables.items()}
        mapped = self._mapped(block, good, count, tuple(values))
        faults.sort(key=lambda fault: fault.index)
        return _Done(block, mapped, tuple(faults), good, variables, tuple(values))

    def _mapped(self, block: Block, good: npt.NDArray[Any], count: int, values: tuple[Array, ...]) -> Mapped:
        """What is written: the rows without fault, and the others too if they are to have NaN."""
        if len(good) == count:
            return Mapped(count, block.kept, values)
        if self._on_error == "nan":
            full = []
            for array in values:
                full.append(np.full((count, *array.shape[1:]), np.nan, array.dtype))
                full[-1][good] = array
            faulty = frozenset(range(count)).difference(good.tolist())
            return Mapped(count, block.kept, tuple(full), faulty)
        kept = {name: _picked(cells, good) for name, cells in block.kept.items()}
        return Mapped(len(good), kept, values)

    def _taken(self, done: _Done) -> Mapped:
        if self._on_error == "fail":
            _refuse(done.faults)
        first = next((fault.message for fault in done.faults), "")
        self.tally.add(Tally(len(done.block.numbers), done.mapped.count, len(done.faults), first))
        if (sample := self.tally.sample) is not None:
            # As torch was given them: the check is about those numbers, not about the digits in the file.
            exact = {name: rounded(array, self.plan.question.dtype) for name, array in done.variables.items()}
            critical: Sequence[int] = ()
            if sample.wants_critical:
                point, held = self.plan.question.point, {**self.plan.question.arrays, **exact}
                critical = critical_points(point, held, tuple(exact), len(done.good))
            name = done.block.name
            of = f" of {name}" if name and name != self.plan.source.name else ""
            sample.see(
                done.block.numbers[done.good], exact, done.values, critical,
                lambda row: done.block.called(int(done.good[row])) + of,
            )  # fmt: skip
        return done.mapped

    def _checked(self) -> Check:
        """The verdict on the rows that are held."""
        held = self.tally.sample.rows() if self.tally.sample else []
        if not held:
            return Check("unchecked", 0, 0, None, notes=("there are no rows to check",))
        from gradcli.autodiff.batched import AtPoints

        question = self.plan.question
        arrays = {name: np.stack([row.inputs[name] for row in held]) for name in self.plan.bound}
        value, *blocks = (np.stack(array) for array in zip(*(row.values for row in held), strict=True))
        points = Points(question, {**question.arrays, **arrays}, tuple(self.plan.bound), len(held))
        found = AtPoints(value, jacobian=dict(zip(question.wrt, blocks, strict=True)) if blocks else None)
        _, judgements = judged(points, found, None, range(len(held)))
        checks = {held[place].number: judgement.check for place, judgement in judgements.items()}
        return merged(checks, self.tally.read - self.tally.faulty)


def mapped(
    planned: Callable[[RowSource], Plan], columns: Mapping[str, Value], *, is_flat: bool = False
) -> dict[str, Array]:
    """The value and the derivatives at many points that are there at once, as `Function.map` has them.

    Args:
        planned: Binds the variables to columns.
        columns: Arrays of shape (N, *x.shape).
        is_flat: Whether each element has a column of its own.

    Raises:
        GradcliError: As for `plan`; columns of different lengths.
    """
    if not isinstance(columns, Mapping):
        what = (
            f"many points are arrays by name, or a table of pyarrow, pandas or Polars, and no {type(columns).__name__}"
        )
        raise InputError(what, hint='write {"x": array}')
    arrays = {name: _column(name, value) for name, value in columns.items()}
    count = len(next(iter(arrays.values()))) if arrays else 0
    for name, array in arrays.items():
        if len(array) != count:
            raise InputError(f"the column '{name}' has {len(array):,} rows, and the first has {count:,}")
    source = RowSource("the columns", {name: array.shape[1:] for name, array in arrays.items()})
    stream = Stream(planned(source))
    found, quantities, first = stream.empty(count), stream.plan.quantities, 0
    for part in stream.over([Block(np.arange(count), {name: arrays[name] for name in stream.plan.columns}, {})]):
        for array, values in zip(found, part.values, strict=True):
            array[first : first + part.count] = values
        first += part.count
    if not is_flat:
        return {one.name: array for one, array in zip(quantities, found, strict=True)}
    flat = (array.reshape(count, len(one.columns)).T for one, array in zip(quantities, found, strict=True))
    return dict(zip((name for one in quantities for name in one.columns), itertools.chain(*flat), strict=True))


def _column(name: str, value: Value) -> Array:
    is_float64 = type(value) is np.ndarray and value.dtype == np.float64  # and no masked one
    array = np.asarray(value) if is_float64 else read_value(value, f"column {name}")
    if array.ndim == 0:
        raise InputError(f"the column '{name}' is a single number", hint="a column has a number for each row")
    return array


def _refuse(faults: Sequence[Fault]) -> None:
    if faults:
        raise InputError(faults[0].message, hint=faults[0].hint)


def _picked(cells: Cells, rows: npt.NDArray[Any]) -> Cells:
    if isinstance(cells, list):
        return [cells[row] for row in rows]
    found: Cells = cells[rows] if isinstance(cells, np.ndarray) else cells.take(rows)  # type: ignore[attr-defined]
    return found

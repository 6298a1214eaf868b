"""Blocks of rows to blocks of derivatives, in order, with a bounded number of them in flight."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gradcli.errors import InputError
from gradcli.language.inputs import Value, read_value
from gradcli.questions.mapping import Plan, plan
from gradcli.questions.preparing import Inquiry
from gradcli.questions.question import rounded
from gradcli.results import Array, Block, Cells, Check, Fault, Mapped, OnError, RowSource, StreamSummary

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

    from gradcli.autodiff.blocks import Engine
    from gradcli.check.many_points import Sample

MOST_ROWS = 2**16
"""Rows of a block: a column of them is half a MiB, so that the intermediates of one operation stay in the cache."""

MOST_ELEMENTS = 2**22
"""Elements of all lines at all rows of a block, 32 MiB in float64."""


@dataclass(frozen=True)
class _Done:
    """A block that is computed: what is written of it, what is wrong in it, and the rest of its rows for the check."""

    mapped: Mapped
    faults: tuple[Fault, ...]
    numbers: npt.NDArray[Any]
    variables: Mapping[str, Array]
    values: tuple[Array, ...]


class Stream:
    """One pass of rows through a function.

    Attributes:
        read: Rows of the source that have been computed.
        written: Rows of the output.
    """

    def __init__(self, plan: Plan, on_error: OnError = "fail", *, check: bool = False) -> None:
        self.plan = plan
        self.read = self.written = 0
        self._on_error, self._checks = on_error, check
        self._faulty, self._first = 0, ""
        self._sample: Sample | None = None

    @property
    def rows(self) -> int:
        """The rows of a block."""
        return max(1, min(MOST_ROWS, MOST_ELEMENTS // self.plan.elements))

    def over(self, blocks: Iterable[Block]) -> Generator[Mapped]:
        """What the blocks are mapped to, in order.

        Raises:
            InputError: A row is at fault, and rows must not be.
        """
        waiting: deque[Future[_Done]] = deque()
        with ExitStack() as stack:
            pool: Executor | None = None
            most = 0
            for block in blocks:
                if self._on_error == "fail" and block.faults:
                    while waiting:  # a row before this block may be at fault too, and is the first
                        yield self._taken(waiting.popleft().result())
                    _refuse(block.faults)
                for part in _parts(block, self.rows):
                    if pool is None:
                        pool, most = self._begin(stack)
                    waiting.append(pool.submit(self._compute, part))
                    # One block more than workers in flight, and the oldest first: order is kept, and memory bounded.
                    if len(waiting) > most:
                        yield self._taken(waiting.popleft().result())
                # An empty block says that the source waits: what is computed goes out before more comes in.
                while waiting and not len(block.numbers):
                    yield self._taken(waiting.popleft().result())
            while waiting:
                yield self._taken(waiting.popleft().result())

    def passage(self) -> StreamSummary:
        """What there is to say of the rows that have gone by."""
        check = self._checked() if self._checks else None
        output = self.plan.question.program.output_name
        return StreamSummary(self.read, self.written, self._faulty, self._on_error, self._first, output, check)

    def _begin(self, stack: ExitStack) -> tuple[Executor, int]:
        """Start the workers; how many blocks may be in flight."""
        from gradcli.autodiff.blocks import Engine
        from gradcli.autodiff.workers import MOST_WORKERS, cores, workers

        question = self.plan.question
        fixed = {name: array for name, array in question.arrays.items() if name not in self.plan.bound}
        shapes = self.plan.row_shapes
        self._engine: Engine = Engine(
            question.program, fixed, shapes, question.wrt, question.dtype, question.shape, self.plan.elements
        )
        if self._checks and self._sample is None:
            from gradcli.check.many_points import Sample

            self._sample = Sample()
        count = min(MOST_WORKERS, cores())
        return stack.enter_context(workers(count)), count + 1

    def _compute(self, block: Block) -> _Done:
        """One block, in a thread of its own."""
        numbers = block.numbers
        count = len(numbers)
        bad = [fault.index for fault in block.faults]
        good = np.delete(np.arange(count), bad)
        columns = {name: array[good] for name, array in block.columns.items()} if bad else block.columns
        variables = self.plan.variables(columns)
        values, refused = self._engine.at(variables, len(good))
        faults = list(block.faults)
        for place, error in refused.items():
            row = int(good[place])
            message = f"row {numbers[row]} of {self.plan.source.name}: {error.message}"
            faults.append(Fault(row, message, error.hint))
        if refused:
            rest = np.delete(np.arange(len(good)), list(refused))
            good = good[rest]
            values = [array[rest] for array in values]
            variables = {name: array[rest] for name, array in variables.items()}
        mapped = self._mapped(block, good, count, tuple(values))
        faults.sort(key=lambda fault: fault.index)
        return _Done(mapped, tuple(faults), numbers[good], variables, tuple(values))

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
        self.read += len(done.numbers) + len(done.faults)
        self.written += done.mapped.count
        self._faulty += len(done.faults)
        self._first = self._first or next((fault.message for fault in done.faults), "")
        if self._sample is not None:
            # As torch was given them: the check is about those numbers, not about the digits in the file.
            exact = {name: rounded(array, self.plan.question.dtype) for name, array in done.variables.items()}
            critical = self._critical(exact, len(done.numbers)) if self._sample.wants_critical else []
            self._sample.see(done.numbers, exact, done.values, critical)
        return done.mapped

    def _critical(self, variables: Mapping[str, Array], count: int) -> Sequence[int]:
        """The rows at or next to a kink."""
        from gradcli.check.many_points import critical_points

        question = self.plan.question
        return critical_points(question.point, {**question.arrays, **variables}, tuple(variables), count)

    def _checked(self) -> Check:
        """The verdict on the rows that are held."""
        held = self._sample.rows() if self._sample else []
        if not held:
            return Check("unchecked", 0, 0, None, notes=("there are no rows to check",))
        from gradcli.autodiff.batched import AtPoints
        from gradcli.check.many_points import merged
        from gradcli.questions.points import Points, judged

        question = self.plan.question
        arrays = {name: np.stack([row.inputs[name] for row in held]) for name in self.plan.bound}
        value, *blocks = (np.stack(array) for array in zip(*(row.values for row in held), strict=True))
        points = Points(question, {**question.arrays, **arrays}, tuple(self.plan.bound), len(held))
        found = AtPoints(value, jacobian=dict(zip(question.wrt, blocks, strict=True)) if blocks else None)
        _, judgements = judged(points, found, None)
        checks = {held[place].number: judgement.check for place, judgement in judgements.items()}
        return merged(checks, self.read - self._faulty)


def mapped(inquiry: Inquiry, columns: Mapping[str, Value]) -> dict[str, Array]:
    """The value and the derivatives at many points that are there at once, as `Function.map` has them.

    Raises:
        GradcliError: As for `plan`; columns of different lengths.
    """
    arrays = {name: _column(name, value) for name, value in columns.items()}
    count = len(next(iter(arrays.values()))) if arrays else 0
    for name, array in arrays.items():
        if len(array) != count:
            raise InputError(f"the column '{name}' has {len(array):,} rows, and the first has {count:,}")
    source = RowSource("the columns", {name: array.shape[1:] for name, array in arrays.items()})
    stream = Stream(plan(inquiry, source))
    rows = Block(np.arange(count), {name: arrays[name] for name in stream.plan.columns}, {})
    found = {q.name: np.empty((count, *q.shape), stream.plan.question.dtype) for q in stream.plan.quantities}
    first = 0
    for part in stream.over([rows]):
        for array, values in zip(found.values(), part.values, strict=True):
            array[first : first + part.count] = values
        first += part.count
    return found


def _column(name: str, value: Value) -> Array:
    is_float64 = isinstance(value, np.ndarray) and value.dtype == np.float64
    array = np.asarray(value) if is_float64 else read_value(value, f"column {name}")
    if array.ndim == 0:
        raise InputError(f"the column '{name}' is a single number", hint="a column has a number for each row")
    return array


def _refuse(faults: Sequence[Fault]) -> None:
    if faults:
        raise InputError(faults[0].message, hint=faults[0].hint)


def _parts(block: Block, most: int) -> Iterator[Block]:
    """The block in parts of at most this many rows."""
    count = len(block.numbers)
    if 0 < count <= most:
        yield block
        return
    faults = iter(block.faults)
    fault = next(faults, None)
    for first in range(0, count, most):
        rows = slice(first, min(first + most, count))
        own = []
        while fault is not None and fault.index < rows.stop:
            own.append(Fault(fault.index - first, fault.message, fault.hint))
            fault = next(faults, None)
        columns = {name: array[rows] for name, array in block.columns.items()}
        kept = {name: cells[rows] for name, cells in block.kept.items()}
        yield Block(block.numbers[rows], columns, kept, tuple(own))


def _picked(cells: Cells, rows: npt.NDArray[Any]) -> Cells:
    """The cells of a column at these rows."""
    if isinstance(cells, np.ndarray):
        found: npt.NDArray[Any] = cells[rows]
        return found
    chosen = np.zeros(len(cells), bool)
    chosen[rows] = True
    return list(itertools.compress(cells, chosen))

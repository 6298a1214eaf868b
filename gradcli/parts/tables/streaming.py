"""The answer of `map`: columns bound to variables, blocks of rows mapped to derivatives in order, few at once."""

from __future__ import annotations

import itertools
import math
import re
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gradcli.arrays import AnyArray
from gradcli.crosscheck.point import Numbers
from gradcli.errors import InputError, MissingValueError, TooLargeError, did_you_mean
from gradcli.language.inputs import Value, read_value
from gradcli.language.lower.juxtaposed_names import require_named
from gradcli.language.program.passes import for_torch
from gradcli.language.program.wengert import Shape
from gradcli.locking import one_at_a_time
from gradcli.option_words import in_shell, option
from gradcli.parts.tables.column_names import in_other_letters
from gradcli.parts.tables.many_points import MOST_POINTS, Sample, critical_points, merged, worst_point
from gradcli.parts.tables.tally import Tally
from gradcli.questions.bound_function import BoundFunction, Device, Dtype, FunctionWithValues, rounded
from gradcli.questions.judging import compare_numbers, explained, with_advice
from gradcli.questions.parsed_text import Inputs, ParsedText
from gradcli.results import Array, Block, Cells, Check, ColumnGroup, Fault, Mapped, OnError, RowSource, StreamSummary

if TYPE_CHECKING:
    from gradcli.autodiff.batched import Batch

MOST_ROW_ENTRIES = 2**20
"""Elements of y and its derivatives at one point: 8 MiB in float64."""

_ELEMENT = re.compile(r"\[\s*(\d{1,9}(?:\s*,\s*\d{1,9})*)\s*\]")
_SUFFIX = re.compile(r"_?\d{1,9}(?:_\d{1,9})*")
_UNIT = re.compile(r"\s*(?:\[\s*[^\d\s\[\]][^\[\]]*\]|\(\s*[^\d\s()][^()]*\))\s*$")
"""A unit beside the name of a column: `T [K]`, `pressure (hPa)`."""

_LISTED = 8


@dataclass(frozen=True)
class ColumnPlan:
    """Plan of a stream: a function, the columns of its variables, and the columns of the output.

    Attributes:
        bound: The function at a point of zeros.
        source: The source of the rows.
        columns_by_name: The columns of each variable, in row-major order; one column is the variable itself.
        quantities: The output and its derivatives.
    """

    bound: BoundFunction
    source: RowSource
    columns_by_name: Mapping[str, tuple[str, ...]]
    quantities: tuple[ColumnGroup, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that variables are bound to, each once."""
        return tuple(dict.fromkeys(itertools.chain.from_iterable(self.columns_by_name.values())))

    @property
    def elements(self) -> int:
        """The number of elements at one point of the largest line, or of y or one of its derivatives."""
        lines = (math.prod(self.bound.shapes[line.symbol]) for line in self.bound.program.lines)
        return max(1, *lines, *(len(quantity.columns) for quantity in self.quantities))

    def variables(self, columns: Mapping[str, Array]) -> dict[str, Array]:
        """Assemble the variables of some rows from their columns, each of shape (N, *x.shape)."""
        found: dict[str, Array] = {}
        for name, parts in self.columns_by_name.items():
            if parts == (name,):
                found[name] = columns[parts[0]]
            else:
                table = np.stack([columns[part] for part in parts], axis=1)
                found[name] = table.reshape(len(table), *self.bound.arrays[name].shape)
        return found

    def require_free(self, kept: Sequence[str]) -> None:
        """Refuse to keep columns whose names are those of output columns.

        Raises:
            InputError: A column has such a name, or two columns have one name.
        """
        output = {column for quantity in self.quantities for column in (quantity.name, *quantity.columns)}
        for name in kept:
            if name in output:
                hint = f'give the output another name, "out = {self.bound.program.expression.strip()[:60]}"'
                message = f"{option('keep')} keeps the column '{name}', and a column of the output has that name"
                raise InputError(message, hint=hint)
            if name in self.source.twice:
                message = f"{self.source.name} has two columns '{name}', and {option('keep')} keeps one"
                raise InputError(message, hint="rename one")


def planned(
    function: ParsedText,
    source: RowSource,
    at: Inputs | None,
    wrt: Sequence[str] | None = None,
    dtype: Dtype | None = None,
    device: Device | None = None,
) -> ColumnPlan:
    """Plan a stream of a function: bind its variables to columns, as `plan` does."""

    def shapes(names: Sequence[str]) -> dict[str, Shape]:
        found = {name: columns_of(name, function.parameters, source) for name in names}
        return {name: one[1] for name, one in found.items() if one is not None}

    return plan(function._asked_at_rows(at, wrt, dtype, device, shapes), source)


def plan(unbound: FunctionWithValues, source: RowSource) -> ColumnPlan:
    """Bind the variables of a function to columns.

    Args:
        unbound: The function at one point, with values of the variables without a column; by default it is
            differentiated by the others.
        source: The columns.

    Raises:
        GradcliError: A variable has no value or two, or shapes do not fit.

    >>> from gradcli.questions.text_reading import read
    >>> text, source = "[a*x[0], x[1]]", RowSource("'t.csv'", {"x[0]": (), "x[1]": (), "day": ()})
    >>> found = plan(FunctionWithValues(text, read(text), {"a": 2}), source)
    >>> found.columns_by_name, [quantity.columns for quantity in found.quantities]
    ({'x': ('x[0]', 'x[1]')}, [('y0', 'y1'), ('dy0_dx0', 'dy0_dx1', 'dy1_dx0', 'dy1_dx1')])
    """
    at, snippet = unbound.at, unbound.snippet
    unbound.require_fixed()
    # As a variable, E of a column "E [eV]" is no number of Euler.
    columns = (*source.columns, *(_UNIT.sub("", column) for column in source.columns))
    names = unbound.read_with((*at, *columns))[1].program.names
    columns_by_name: dict[str, tuple[str, ...]] = {}
    shapes: dict[str, Shape] = {}
    for name in names:
        found = columns_of(name, names, source) or in_other_letters(name, names, at, source)
        if found is None and name not in at and name not in snippet.values:
            require_named(snippet.program, [name], [*at, *source.columns])
            raise MissingValueError(
                f"no value for the variable '{name}': {source.name} has no such column, and {option('at')} does not "
                "give it",
                hint=f"{_choice(source, [name])}; or give {option('at', f'{name}=VALUE')}, the same for all rows",
            )
        if found is not None and name in at:
            raise InputError(
                f"'{name}' is a column of {source.name}, and {option('at')} gives it a value",
                hint=f"leave out {option('at', of=name)}, or rename the column",
            )
        if found is not None:
            columns_by_name[name], shapes[name] = found
    if not columns_by_name:
        raise InputError(f"no variable of the expression is a column of {source.name}", hint=_choice(source, names))
    # Only the shapes count here; the values come row by row.
    zeros = {name: np.zeros(shape) for name, shape in shapes.items()}
    wrt = list(columns_by_name) if unbound.wrt is None else unbound.wrt
    bound = replace(unbound, wrt=wrt).of_one(zeros, "the expression is of one row")
    return ColumnPlan(bound, source, columns_by_name, _quantities(bound))


# -- columns to variables


def columns_of(name: str, names: Sequence[str], source: RowSource) -> tuple[tuple[str, ...], Shape] | None:
    """Find the columns of a variable, and its shape; None if there are none.

    `pressure (hPa)` is of `pressure`, and of `pressure_hPa`.
    """
    if name in source.columns:
        if name in source.twice:
            raise InputError(f"{source.name} has two columns '{name}'", hint="rename one of them")
        return (name,), source.columns[name]
    for spelling in (_ELEMENT, _SUFFIX):
        places = _elements(name, names, source, spelling)
        if places:
            return _arranged(name, places, source)
    alike = [
        column
        for column in source.columns
        if re.sub(r"\W+", "_", column).strip("_") == name or _UNIT.sub("", column) == name
    ]
    return ((alike[0],), source.columns[alike[0]]) if len(alike) == 1 and alike[0] not in source.twice else None


def _elements(
    name: str, names: Sequence[str], source: RowSource, spelling: re.Pattern[str]
) -> dict[tuple[int, ...], str]:
    """Find the columns of a variable's elements, by index: `x[0]`, or `x0`, `x_0` unless a variable has that name."""
    found: dict[tuple[int, ...], str] = {}
    for column, shape in source.columns.items():
        if not column.startswith(name) or shape or column in names:
            continue
        rest = column[len(name) :]
        if spelling.fullmatch(rest):
            index = tuple(map(int, re.findall(r"\d+", rest)))
            if index in found or column in source.twice:
                raise InputError(f"{source.name} has two columns for {name}{list(index)}", hint="rename one of them")
            found[index] = column
    return found


def _arranged(name: str, places: Mapping[tuple[int, ...], str], source: RowSource) -> tuple[tuple[str, ...], Shape]:
    ranks = {len(index) for index in places}
    shape = tuple(max(index[axis] for index in places) + 1 for axis in range(min(ranks)))
    if len(ranks) > 1 or math.prod(shape) != len(places):
        wanted: Iterable[tuple[int, ...]] = () if len(ranks) > 1 or math.prod(shape) > 10**6 else np.ndindex(*shape)
        lost = next((index for index in wanted if index not in places), None)
        missing = f", and none for {name}[{','.join(map(str, lost))}]" if lost else " of different dimensions"
        raise InputError(
            f"{source.name} has {len(places)} columns for elements of '{name}'{missing}",
            hint=f"the elements are counted from 0: {name}[0], {name}[1], ...",
        )
    return tuple(places[index] for index in np.ndindex(*shape)), shape


def _choice(source: RowSource, wanted: Sequence[str]) -> str:
    """List the columns for a hint, a similar name first."""
    columns = list(source.columns)
    close = next(filter(None, (did_you_mean(name, columns[:1_000]) for name in wanted if len(name) < 100)), "")
    listed = ", ".join(f"'{name[:40]}'" for name in columns[:_LISTED]) + ", ..." * (len(columns) > _LISTED)
    return f"{close} the columns are {listed or 'none'}".strip()


# -- output columns


def _quantities(bound: BoundFunction) -> tuple[ColumnGroup, ...]:
    """Name the output and its derivatives; indices have brackets where two names would otherwise be the same."""
    entries = math.prod(bound.shape) + bound.jacobian_entries
    if entries > MOST_ROW_ENTRIES:
        raise TooLargeError(
            f"y and its derivatives have {entries:,} elements a row; at most {MOST_ROW_ENTRIES:,} are computed",
            hint=f"use {option('wrt')} for fewer variables, or an expression with a smaller y",
        )
    y = bound.program.output_name
    for form, sign in (("{}", "_"), ("[{}]", ",")):

        def indices(shape: Shape, form: str = form, sign: str = sign) -> list[str]:
            return [form.format(sign.join(map(str, index))) if shape else "" for index in np.ndindex(*shape)]

        rows = indices(bound.shape)
        found = [ColumnGroup(y, bound.shape, tuple(y + row for row in rows))]
        for name in bound.wrt:
            shape = bound.arrays[name].shape
            cells = tuple(f"d{y}{row}_d{name}{column}" for row in rows for column in indices(shape))
            found.append(ColumnGroup(f"d{y}_d{name}", (*bound.shape, *shape), cells))
        flat = [column for quantity in found for column in quantity.columns]
        if len(set(flat)) == len(flat):
            return tuple(found)
    raise InputError("two columns of the output would have one name", hint='name the output: "out = ..."')


MOST_BLOCK_ELEMENTS = 2**17
"""Elements of a line at all rows of a block, one MiB in float64, so that operands stay in the caches."""


@dataclass(frozen=True)
class _Done:
    """A computed block: the rows to write, its faults, and its rows without fault for the check."""

    block: Block
    mapped: Mapped
    faults: tuple[Fault, ...]
    good: AnyArray
    variables: Mapping[str, Array]
    values: tuple[Array, ...]


class Stream:
    """One pass of rows through a function, for one thread: what streams compute is not held back by other threads.

    Args:
        plan: The function and its columns.
        on_error: The treatment of rows at fault.
        check: Whether to judge some rows.
        check_rows: The number of rows to judge.

    Attributes:
        tally: The rows that have been computed.
    """

    def __init__(
        self, plan: ColumnPlan, on_error: OnError = "fail", *, check: bool = False, check_rows: int | None = None
    ) -> None:
        self.plan = plan
        self.tally = Tally()
        self._on_error = on_error
        if check:
            self.tally.sample = Sample(check_rows or MOST_POINTS)

    @property
    def rows(self) -> int:
        """The rows of a block."""
        return max(1, MOST_BLOCK_ELEMENTS // self.plan.elements)

    def over(self, blocks: Iterable[Block]) -> Generator[Mapped]:
        """Map the blocks in order.

        Raises:
            InputError: A row is at fault, and `on_error` is `fail`.
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
                    # The first block runs alone, as torch's first pass sets up state that its threads share.  Then one
                    # more block than workers is in flight, oldest first: this keeps the order and bounds the memory.
                    yield from taken(0 if is_first else most)
                # An empty block says that the source waits: yield the computed blocks before reading more.
                if not len(block.numbers):
                    yield from taken(0)
            yield from taken(0)

    def passage(self) -> StreamSummary:
        """Summarize the rows computed so far."""
        tally = self.tally
        with one_at_a_time():
            check = self._checked() if tally.sample else None
        output, remarks = (program := self.plan.bound.program).output_name, program.warnings
        called = {row.number: row.called for row in tally.sample.rows()} if tally.sample else {}
        counts = tally.read, tally.written, tally.faulty, self._on_error, tally.first
        none = {"valueless": tally.valueless, "first_valueless": tally.first_valueless}
        return StreamSummary(*counts, output, check, called, remarks, **none)  # type: ignore[arg-type]

    def _begin(self, stack: ExitStack) -> tuple[Executor, int]:
        """Start the workers, and return the number of blocks that may be in flight."""
        from gradcli.autodiff.batched import MOST_WORKERS, cores, workers

        bound = self.plan.bound
        batch = bound.batch(tuple(self.plan.columns_by_name))
        self._batch: Batch = replace(batch, program=for_torch(bound.program))
        count = min(MOST_WORKERS, cores())
        if bound.recording is not None or bound.device != "cpu":  # code of the user knows of no threads
            count = 1
        return stack.enter_context(workers(count)), count + 1

    def empty(self, count: int) -> list[Array]:
        """Allocate arrays for y and its derivatives at some rows."""
        plan = self.plan
        return [np.empty((count, *one.shape), plan.bound.dtype) for one in plan.quantities]

    def _compute(self, block: Block) -> _Done:
        """Compute one block, in a thread of its own."""
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
            message = f"{block.called(row)} of {block.name or self.plan.source.name}: {error.text.message}"
            faults.append(Fault(row, message, error.text.hint))
        if refused:
            rest = np.delete(np.arange(len(good)), list(refused))
            good = good[rest]
            values = [array[rest] for array in values]
            variables = {name: array[rest] for name, array in variables.items()}
        mapped = self._mapped(block, good, count, tuple(values))
        faults.sort(key=lambda fault: fault.index)
        return _Done(block, mapped, tuple(faults), good, variables, tuple(values))

    def _mapped(self, block: Block, good: AnyArray, count: int, values: tuple[Array, ...]) -> Mapped:
        """Return the rows to write: those without fault, and the others too, as NaN, if `on_error` is `nan`."""
        if len(good) == count:
            return Mapped(count, block.kept, values)
        if self._on_error == "nan":
            full = []
            for array in values:
                full.append(np.full((count, *array.shape[1:]), np.nan, array.dtype))
                full[-1][good] = array
            return Mapped(count, block.kept, tuple(full))
        kept = {name: _picked(cells, good) for name, cells in block.kept.items()}
        return Mapped(len(good), kept, values)

    def _taken(self, done: _Done) -> Mapped:
        if self._on_error == "fail":
            _refuse(done.faults)
        # Whoever says what to do about rows at fault hears of those whose numbers are NaN too.
        inputs = done.variables.values() if self._on_error == "fail" else ()
        self.tally.add_valueless(done.block, done.good, done.values, inputs, self.plan.source.name)
        first = next((in_shell(fault.message) for fault in done.faults), "")
        self.tally.add(Tally(len(done.block.numbers), done.mapped.count, len(done.faults), first))
        if (sample := self.tally.sample) is not None:
            # Rounded as for torch: the check judges these numbers, not the digits in the file.
            exact = {name: rounded(array, self.plan.bound.dtype) for name, array in done.variables.items()}
            critical: Sequence[int] = ()
            if sample.wants_critical:
                point, held = self.plan.bound.point, {**self.plan.bound.arrays, **exact}
                critical = critical_points(point, held, tuple(exact), len(done.good))
            name = done.block.name
            of = f" of {name}" if name and name != self.plan.source.name else ""
            sample.see(
                done.block.numbers[done.good], exact, done.values, critical,
                lambda row: done.block.called(int(done.good[row])) + of,
            )  # fmt: skip
        return done.mapped

    def _checked(self) -> Check:
        """Judge the rows of the sample."""
        held = self.tally.sample.rows() if self.tally.sample else []
        if not held:
            return Check("unchecked", 0, 0, None, notes=("there are no rows to check",))
        bound = self.plan.bound
        looks = {row.number: bound.with_values(row.inputs) for row in held}
        found = {}
        for row in held:
            value, *blocks = row.values
            numbers = Numbers.of_first_order(bound.dtype, value, dict(zip(bound.wrt, blocks, strict=True)) or None)
            found[row.number] = compare_numbers(looks[row.number], numbers)
        worst = worst_point({number: one.check for number, one in found.items()})
        for number, one in found.items():
            if number == worst:
                found[number] = with_advice(looks[number], one, None)
            elif one.check.verdict == "disagree":
                found[number] = explained(looks[number], one, None)
        return merged({number: one.check for number, one in found.items()}, self.tally.read - self.tally.faulty)


def mapped(
    planned: Callable[[RowSource], ColumnPlan], columns: Mapping[str, Value], *, is_flat: bool = False
) -> dict[str, Array]:
    """Compute the value and the derivatives at many points given as arrays, for `Function.map`.

    Args:
        planned: Binds the variables to columns.
        columns: Arrays of shape (N, *x.shape).
        is_flat: Whether each element has a column of its own.

    Raises:
        GradcliError: As for `plan`; columns of different lengths.
    """
    if not isinstance(columns, Mapping):
        what = "many points are arrays by name, or a table of pyarrow, pandas or Polars"
        raise InputError(f"{what}, and no {type(columns).__name__}", hint='write {"x": array}')
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


def _picked(cells: Cells, rows: AnyArray) -> Cells:
    if isinstance(cells, list):
        return [cells[row] for row in rows]
    found: Cells = cells.take(rows)  # type: ignore[union-attr]
    return found

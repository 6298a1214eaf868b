"""Columns of a table to the variables of a function, and what comes out to columns."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gradcli.errors import InputError, TooLargeError, did_you_mean
from gradcli.language.lower.joined import require_named
from gradcli.language.program.wengert import Shape
from gradcli.questions.question import Inquiry, Question
from gradcli.results import Array, Quantity, RowSource

MOST_ENTRIES = 2**20
"""Elements of y and its derivatives at one point: 8 MiB in float64."""

_ELEMENT = re.compile(r"\[\s*(\d{1,9}(?:\s*,\s*\d{1,9})*)\s*\]")
_SUFFIX = re.compile(r"\d{1,9}(?:_\d{1,9})*")
_LISTED = 8


@dataclass(frozen=True)
class Plan:
    """A function, the columns that are its variables, and the columns that come out.

    Attributes:
        question: The function at a point of zeros.
        source: Where the rows come from.
        bound: The columns of each variable, in row-major order; one column is the variable itself.
        quantities: What comes out.
    """

    question: Question
    source: RowSource
    bound: Mapping[str, tuple[str, ...]]
    quantities: tuple[Quantity, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that variables are bound to, each once."""
        return tuple(dict.fromkeys(itertools.chain.from_iterable(self.bound.values())))

    @property
    def elements(self) -> int:
        """The elements of the largest line at one point, or of y or one of its derivatives."""
        lines = (math.prod(self.question.shapes[line.symbol]) for line in self.question.program.lines)
        return max(1, *lines, *(len(quantity.columns) for quantity in self.quantities))

    def variables(self, columns: Mapping[str, Array]) -> dict[str, Array]:
        """The variables of some rows, each of shape (N, *x.shape)."""
        found: dict[str, Array] = {}
        for name, parts in self.bound.items():
            if parts == (name,):
                found[name] = columns[parts[0]]
            else:
                table = np.stack([columns[part] for part in parts], axis=1)
                found[name] = table.reshape(len(table), *self.question.arrays[name].shape)
        return found

    def require_free(self, kept: Sequence[str]) -> None:
        """Refuse to keep columns that are called as those of the output are.

        Raises:
            InputError: They are, or there are two of one name.
        """
        output = {column for quantity in self.quantities for column in (quantity.name, *quantity.columns)}
        for name in kept:
            if name in output:
                hint = f'give the output another name, "out = {self.question.program.expression.strip()[:60]}"'
                raise InputError(
                    f"--keep keeps the column '{name}', and a column of the output has that name", hint=hint
                )
            if name in self.source.twice:
                raise InputError(
                    f"{self.source.name} has two columns '{name}', and --keep keeps one", hint="rename one"
                )


def plan(inquiry: Inquiry, source: RowSource) -> Plan:
    """Bind the variables of a function to columns.

    Args:
        inquiry: The function at one point, with values of the variables that are no column; by default it is
            differentiated by those that are.
        source: The columns.

    Raises:
        GradcliError: A variable has no value or two, or shapes do not fit.

    >>> from gradcli.language.snippets import read
    >>> text, source = "[a*x[0], x[1]]", RowSource("'t.csv'", {"x[0]": (), "x[1]": (), "day": ()})
    >>> found = plan(Inquiry(text, read(text), {"a": 2}), source)
    >>> found.bound, [quantity.columns for quantity in found.quantities]
    ({'x': ('x[0]', 'x[1]')}, [('y0', 'y1'), ('dy0_dx0', 'dy0_dx1', 'dy1_dx0', 'dy1_dx1')])
    """
    at, snippet = inquiry.at, inquiry.snippet
    inquiry.require_fixed()
    names = inquiry.read_with((*at, *source.columns))[1].program.names
    bound: dict[str, tuple[str, ...]] = {}
    shapes: dict[str, Shape] = {}
    for name in names:
        found = columns_of(name, names, source)
        if found is None and name not in at and name not in snippet.values:
            require_named(snippet.program, [name], [*at, *source.columns])
            raise InputError(
                f"no value for the variable '{name}': {source.name} has no such column, and --at does not give it",
                hint=f"{_choice(source, [name])}; or give --at {name}=VALUE, the same for all rows",
            )
        if found is not None and name in at:
            raise InputError(
                f"'{name}' is a column of {source.name}, and --at gives it a value",
                hint=f"leave out --at {name}, or rename the column",
            )
        if found is not None:
            bound[name], shapes[name] = found
    if not bound:
        raise InputError(f"no variable of the expression is a column of {source.name}", hint=_choice(source, names))
    # Only the shapes count here; the values come row by row.
    zeros = {name: np.zeros(shape) for name, shape in shapes.items()}
    wrt = list(bound) if inquiry.wrt is None else inquiry.wrt
    question = replace(inquiry, wrt=wrt).of_one(zeros, "the expression is of one row")
    return Plan(question, source, bound, _quantities(question))


# -- columns to variables


def columns_of(name: str, names: Sequence[str], source: RowSource) -> tuple[tuple[str, ...], Shape] | None:
    """The columns that are a variable, and its shape; None if there are none."""
    if name in source.columns:
        if name in source.twice:
            raise InputError(f"{source.name} has two columns '{name}'", hint="rename one of them")
        return (name,), source.columns[name]
    for spelling in (_ELEMENT, _SUFFIX):
        places = _elements(name, names, source, spelling)
        if places:
            return _arranged(name, places, source)
    return None


def _elements(
    name: str, names: Sequence[str], source: RowSource, spelling: re.Pattern[str]
) -> dict[tuple[int, ...], str]:
    """The columns that are elements of a variable, by their index: `x[0]`, or `x0` where no variable is called so."""
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
    """What columns there are, a close one first."""
    columns = list(source.columns)
    close = next(filter(None, (did_you_mean(name, columns[:1_000]) for name in wanted if len(name) < 100)), "")
    listed = ", ".join(f"'{name[:40]}'" for name in columns[:_LISTED]) + ", ..." * (len(columns) > _LISTED)
    return f"{close} the columns are {listed or 'none'}".strip()


# -- what comes out


def _quantities(question: Question) -> tuple[Quantity, ...]:
    """The output and its derivatives; elements have brackets where two names would else be the same."""
    entries = math.prod(question.shape) + question.jacobian_entries
    if entries > MOST_ENTRIES:
        raise TooLargeError(
            f"y and its derivatives have {entries:,} elements a row; at most {MOST_ENTRIES:,} are computed",
            hint="use --wrt for fewer variables, or an expression with a smaller y",
        )
    y = question.program.output_name
    for form, sign in (("{}", "_"), ("[{}]", ",")):

        def indices(shape: Shape, form: str = form, sign: str = sign) -> list[str]:
            return [form.format(sign.join(map(str, index))) if shape else "" for index in np.ndindex(*shape)]

        rows = indices(question.shape)
        found = [Quantity(y, question.shape, tuple(y + row for row in rows))]
        for name in question.wrt:
            shape = question.arrays[name].shape
            cells = tuple(f"d{y}{row}_d{name}{column}" for row in rows for column in indices(shape))
            found.append(Quantity(f"d{y}_d{name}", (*question.shape, *shape), cells))
        flat = [column for quantity in found for column in quantity.columns]
        if len(set(flat)) == len(flat):
            return tuple(found)
    raise InputError("two columns of the output would have one name", hint='name the output: "out = ..."')

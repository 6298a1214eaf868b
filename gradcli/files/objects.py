"""JSON Lines to blocks of columns: an object a line, whose values are numbers or nested lists of numbers."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np

from gradcli.errors import GradcliError, InputError
from gradcli.files.decoding import Array, array_of, shown
from gradcli.files.delimited import TextRows
from gradcli.results import Block, Cells, Fault, RowSource
from gradcli.results.verdicts import row_called

_LOOKED_AT = 100
"""Lines in which the shape of a column is looked for, where the first of them have null there."""

_TOO_LONG = "has a whole number of thousands of digits"
"""What is said where Python refuses a number, as reading it takes more than linear time."""

_HINT = 'a row is an object, such as {"x": 1, "y": [2, 3]}'


class Objects(TextRows):
    """The rows of a text of JSON Lines; the first object says which columns there are, and their shapes.

    Attributes:
        source: Its columns.
    """

    def __init__(self, stream: BinaryIO, name: str) -> None:
        super().__init__(stream, name)
        self.source = RowSource(name, self._columns())

    def _pass(self, text: str) -> None:
        self.passed += sum(map(bool, map(str.strip, text.split("\n"))))

    def _columns(self) -> dict[str, tuple[int, ...]]:
        """The keys of the first object, and the shapes of the first values under them; of what is no array ()."""
        for number, text in self._chunks:
            lines = [(place, line) for place, line in enumerate(text.split("\n"), number) if line.strip()]
            if not lines:
                continue
            objects = (found for _, line in lines if (found := _object(line)) is not None)
            rows = list(itertools.islice(objects, _LOOKED_AT))
            if not rows:
                place, line = lines[0]
                raise InputError(f"line {place} of {self._name} is not an object of JSON: {shown(line)}", hint=_HINT)
            self._chunks = itertools.chain([(number, text)], self._chunks)
            given = {key: [row[key] for row in rows if row.get(key) is not None] for key in rows[0]}
            return {key: self._shape(values[0]) if values else () for key, values in given.items()}
        raise InputError(f"{self._name} is empty", hint=_HINT)

    def _shape(self, value: Any) -> tuple[int, ...]:
        try:
            return array_of(value, self._name).shape
        except GradcliError:
            return ()

    def _blocks(self, text: str, wanted: Sequence[str], *, keep: bool) -> Iterator[Block]:
        lines = [(number, line) for number, line in enumerate(text.split("\n"), self._first) if line.strip()]
        if lines:
            yield self._block(lines, wanted, keep=keep)

    def _block(self, lines: Sequence[tuple[int, str]], wanted: Sequence[str], *, keep: bool) -> Block:
        """The rows of some lines, with what is wrong in them."""
        rows: list[dict[str, Any]] = []
        faults: list[Fault] = []
        columns = {name: np.full((len(lines), *self.source.columns[name]), np.nan) for name in wanted}
        for index, (number, line) in enumerate(lines):
            where = f"{row_called(self.passed + index + 1, number)} of {self._name}"
            rows.append({})
            try:
                rows[index] = self._row(line, where, keep=keep)
                cells = [self._cell(rows[index], name, where) for name in wanted]
            except GradcliError as error:
                faults.append(Fault(index, *error.in_shell))
                continue
            for name, cell in zip(wanted, cells, strict=True):
                columns[name][index] = cell
        kept: dict[str, Cells] = {name: [row.get(name) for row in rows] for name in self.source.columns} if keep else {}
        places = np.array([number for number, _ in lines], int)
        return Block(self._numbered(len(rows)), columns, kept, tuple(faults), places)

    def _row(self, line: str, where: str, *, keep: bool) -> dict[str, Any]:
        try:
            row = _ROWS.decode(line)
        except InputError as error:
            raise InputError(f"{where} {error.in_shell.message}", hint=error.in_shell.hint) from None
        except (ValueError, RecursionError) as error:
            reason = "is nested too deep" if isinstance(error, RecursionError) else _TOO_LONG
            if isinstance(error, json.JSONDecodeError):
                reason = f"is not JSON: {error.msg.lower()}, at character {error.colno}"
            raise InputError(f"{where} {reason}", hint=_HINT) from None
        if not isinstance(row, dict):
            raise InputError(f"{where} is not an object: {shown(line.strip())}", hint=_HINT)
        fresh = next((key for key in row if key not in self.source.columns), None)
        if keep and fresh is not None:
            raise InputError(
                f"{where} has a key {shown(fresh)}, which the first row has not, and --keep keeps the first row's",
                hint="give every row the same keys, null where there is nothing",
            )
        return row

    def _cell(self, row: dict[str, Any], name: str, where: str) -> Array | float:
        value, shape = row.get(name), self.source.columns[name]
        if type(value) is float and not shape and math.isfinite(value):
            return value
        if name not in row:
            raise InputError(
                f"{where} has no key {shown(name)}", hint=f"its keys are {', '.join(map(shown, list(row)[:8]))}"
            )
        array = array_of(value, f"{where}, key {shown(name)},")
        if array.shape != shape:
            sizes = f"shape {array.shape}, and in the first row {shape}"
            raise InputError(f"{where}, key {shown(name)}, has {sizes}", hint="a variable has one shape in all rows")
        return array


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, whose keys must be different, or one of them would be passed over silently."""
    found = dict(pairs)
    if len(found) != len(pairs):
        key = next(key for place, (key, _) in enumerate(pairs) if key in dict(pairs[:place]))
        raise InputError(f"has the key {shown(key)} twice", hint="give it once")
    return found


_ROWS = json.JSONDecoder(parse_constant=str, object_pairs_hook=_without_twins)


def _object(line: str) -> dict[str, Any] | None:
    """An object whose numbers are all floats, or the strings for those that JSON has not; None if there is none."""
    try:
        value = json.loads(line, parse_int=float, parse_constant=str)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None

"""JSON Lines to blocks of columns: an object a line, whose values are numbers or nested lists of numbers."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np

from gradcli.errors import GradcliError, InputError
from gradcli.files.decoding import Array, array_of, shown
from gradcli.files.delimited import TextRows
from gradcli.results import Block, Fault, RowSource
from gradcli.results.verdicts import row_called

_LOOKED_AT = 100
"""Lines in which the shape of a column is looked for, where the first of them have null there."""

_HINT = 'a row is an object, such as {"x": 1, "y": [2, 3]}'


class ObjectRows(TextRows):
    """The rows of a text of JSON Lines; the first object says which columns there are.

    Args:
        stream: The text.
        name: What messages call it.
        variables: The columns of these have the shape of their first value that is not null.
    """

    def __init__(self, stream: BinaryIO, name: str, variables: Sequence[str] = ()) -> None:
        super().__init__(stream, name)
        first, text = next(((number, text) for number, text in self._chunks if text.strip()), (0, ""))
        self._chunks = itertools.chain([(first, text)], self._chunks)
        lines = list(itertools.islice(filter(str.strip, text.split("\n")), _LOOKED_AT))
        rows: list[dict[str, Any]] = []
        for line in lines:
            with contextlib.suppress(InputError):
                rows.append(_object(line, ""))
        if not rows:
            said = f"begins with no object of JSON: {shown(lines[0])}" if lines else "is empty"
            raise InputError(f"{name} {said}", hint=_HINT)
        shapes: dict[str, tuple[int, ...]] = dict.fromkeys(rows[0], ())
        for key in shapes.keys() & set(variables):
            value = next((row[key] for row in rows if row.get(key) is not None), None)
            with contextlib.suppress(GradcliError):
                shapes[key] = array_of(value, name).shape
        self.source = RowSource(name, shapes)

    def _blocks(self, text: str, wanted: Sequence[str], *, keep: bool) -> Iterator[Block]:
        lines = [(number, line) for number, line in enumerate(text.split("\n"), self._first) if line.strip()]
        kept: dict[str, list[Any]] = {name: [None] * len(lines) for name in self.source.columns} if keep else {}
        columns = {name: np.full((len(lines), *self.source.columns[name]), np.nan) for name in wanted}
        faults: list[Fault] = []
        for index, (number, line) in enumerate(lines):
            where = f"{row_called(self.passed + index + 1, number)} of {self._name}"
            try:
                row = _object(line, where)
                for name, column in kept.items():
                    column[index] = row.get(name)
                if keep and (fresh := next((key for key in row if key not in kept), None)) is not None:
                    said = f"{where} has a key {shown(fresh)}, which the first row has not, and --keep keeps its keys"
                    raise InputError(said, hint="give every row the same keys, null where there is nothing")
                cells = [self._cell(row, name, where) for name in wanted]
            except GradcliError as error:
                faults.append(Fault(index, *error.in_shell))
                continue
            for name, cell in zip(wanted, cells, strict=True):
                columns[name][index] = cell
        numbers = np.arange(self.passed + 1, self.passed + len(lines) + 1)
        self.passed += len(lines)
        yield Block(numbers, columns, kept, tuple(faults), np.array([number for number, _ in lines], int))

    def _cell(self, row: dict[str, Any], name: str, where: str) -> Array | float:
        value, shape = row.get(name), self.source.columns[name]
        if type(value) is float and not shape and math.isfinite(value):
            return value
        if name not in row:
            keys = ", ".join(map(shown, list(row)[:8]))
            raise InputError(f"{where} has no key {shown(name)}", hint=f"its keys are {keys}")
        array = array_of(value, f"{where}, key {shown(name)},")
        if array.shape != shape:
            sizes = f"shape {array.shape}, and in the first row {shape}"
            raise InputError(f"{where}, key {shown(name)}, has {sizes}", hint="a variable has one shape in all rows")
        return array


def _object(line: str, where: str) -> dict[str, Any]:
    """Read a line.

    Raises:
        InputError: It is not an object, or has a key twice, of which either may be meant.
    """
    try:
        row = _ROWS.decode(line)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deep" if isinstance(error, RecursionError) else str(error).partition(":")[0].lower()
        place = f", at character {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        raise InputError(f"{where} is not JSON: {reason}{place}", hint=_HINT) from None
    if not isinstance(row, dict):
        raise InputError(f"{where} is not an object: {shown(line.strip())}", hint=_HINT)
    return row


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object has a key twice")
    return found


_ROWS = json.JSONDecoder(parse_constant=str, object_pairs_hook=_without_twins)

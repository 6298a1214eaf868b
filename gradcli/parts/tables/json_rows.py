"""JSON Lines to blocks of columns, an object a line; and a whole text of JSON as such lines."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np

from gradcli.arrays import Array
from gradcli.errors import GradcliError, InputError
from gradcli.files.decoding import array_of, named_twice, quoted
from gradcli.option_words import option
from gradcli.parts.tables.column_hints import UnnamedColumnsError
from gradcli.parts.tables.column_names import only_variable
from gradcli.parts.tables.text_rows import TextRows
from gradcli.results import Block, Fault, RowSource
from gradcli.results.stream_rows import row_called

_LOOKED_AT = 100
"""Lines in which the shape of a column is looked for, where the first of them have null there."""

_HINT = 'a row is an object, such as {"x": 1, "y": [2, 3]}'


class ObjectRows(TextRows):
    """The rows of a text of JSON Lines; the first object says which columns there are.

    Args:
        stream: The text.
        name: What messages call it.
        variables: The columns of these have the shape of their first value that is not null.
        begun: The bytes that were read of it.
    """

    def __init__(self, stream: BinaryIO, name: str, variables: Sequence[str] = (), *, begun: bytes = b"") -> None:
        super().__init__(stream, name, begun)
        first, text = next(((number, text) for number, text in self._chunks if text.strip()), (0, ""))
        self._chunks = itertools.chain([(first, text)], self._chunks)
        lines = list(itertools.islice(filter(str.strip, text.split("\n")), _LOOKED_AT))
        rows: list[dict[str, Any]] = []
        for line in lines:
            with contextlib.suppress(InputError):
                rows.append(_object(line, ""))
        if not rows:
            said = f"begins with no object of JSON: {quoted(lines[0])}" if lines else "is empty"
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
                    keeps = f"{option('keep')} keeps its keys"
                    said = f"{where} has a key {quoted(fresh)}, which the first row has not, and {keeps}"
                    raise InputError(said, hint="give every row the same keys, null where there is nothing")
                cells = [self._cell(row, name, where) for name in wanted]
            except GradcliError as error:
                faults.append(Fault(index, *error.text))
                continue
            for name, cell in zip(wanted, cells, strict=True):
                columns[name][index] = cell
        numbers = np.arange(self.passed + 1, self.passed + len(lines) + 1)
        self.passed += len(lines)
        yield Block(numbers, columns, kept, tuple(faults), np.array([number for number, _ in lines], int))

    def _cell(self, row: dict[str, object], name: str, where: str) -> Array | float:
        value, shape = row.get(name), self.source.columns[name]
        if type(value) is float and not shape and math.isfinite(value):
            return value
        if name not in row:
            keys = ", ".join(map(quoted, list(row)[:8]))
            raise InputError(f"{where} has no key {quoted(name)}", hint=f"its keys are {keys}")
        array = array_of(value, f"{where}, key {quoted(name)},")
        if array.shape != shape:
            sizes = f"shape {array.shape}, and in the first row {shape}"
            raise InputError(f"{where}, key {quoted(name)}, has {sizes}", hint="a variable has one shape in all rows")
        return array


def as_json_lines(text: str, name: str, variables: Sequence[str], columns: Sequence[str] = ()) -> bytes:
    r"""Write a text of JSON, an array of rows or an object over several lines, as JSON Lines.

    A row is an object, a list of the columns, or the value of the only variable.

    Args:
        text: The text, which may also be a list of columns a line.
        name: What messages call it.
        variables: What has values in the rows.
        columns: The names of the columns of rows that are lists.

    Raises:
        InputError: It is not JSON, its rows are of several kinds, or its columns have no names.

    >>> as_json_lines("[[1, 2], [3, 4]]", "it", ["x"]), as_json_lines("[[1, 2]]", "it", ["x", "y"], ["x", "y"])
    (b'{"x": [1, 2]}\n{"x": [3, 4]}', b'{"x": 1, "y": 2}')
    """
    try:
        found = _OBJECTS.decode(text)
    except (ValueError, RecursionError) as error:
        try:
            found = [_OBJECTS.decode(line) for line in text.splitlines() if line.strip()]
        except (ValueError, RecursionError):
            raise _no_json(name, error) from None
    rows = found if isinstance(found, list) else [found]
    names = columns or ([only] if (only := only_variable(variables)) else [])
    if rows and not isinstance(rows[0], dict) and not names:
        raise UnnamedColumnsError(
            f"{name} has no names of columns: its first row is {quoted(json.dumps(rows[0]))}",
            count=len(rows[0]) if isinstance(rows[0], list) else 1,
            hint=f"name the columns by {option('columns', ','.join(variables))}, or each number in its row; {_HINT}",
        )
    return "\n".join(json.dumps(_named(row, names, n, name, bool(columns))) for n, row in enumerate(rows, 1)).encode()


def _named(row: object, names: Sequence[str], number: int, name: str, is_given: bool) -> object:
    """Return a row of an array as an object, whose columns are named in it or else in order.

    Raises:
        InputError: It is named twice, or has another number of columns.
    """
    if isinstance(row, dict):
        if is_given:
            raise named_twice(name)
        return row
    cells = row if is_given and isinstance(row, list) else [row]
    if len(cells) != len(names):
        said = f"has {len(cells)} columns, and {len(names)} are named" if names else "is no object, as the first row is"
        raise InputError(f"{row_called(number)} of {name} {said}", hint=_HINT)
    return dict(zip(names, cells, strict=True))


def _no_json(where: str, error: ValueError | RecursionError) -> InputError:
    """Make the error of a text that is not JSON, with the place where it ceases to be."""
    reason = "it is nested too deep" if isinstance(error, RecursionError) else str(error).partition(":")[0].lower()
    place = ""
    if isinstance(error, json.JSONDecodeError):
        place = f", in line {error.lineno}" * (error.lineno > 1) + f", at character {error.colno}"
    return InputError(f"{where} is not JSON: {reason}{place}", hint=_HINT)


def _object(line: str, where: str) -> dict[str, Any]:
    """Read a line.

    Raises:
        InputError: It is not an object, or has a key twice, of which either may be meant.
    """
    try:
        row = _OBJECTS.decode(line)
    except (ValueError, RecursionError) as error:
        raise _no_json(where, error) from None
    if not isinstance(row, dict):
        raise InputError(f"{where} is not an object: {quoted(line.strip())}", hint=_HINT)
    return row


def _without_twins(pairs: list[tuple[str, object]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object has a key twice")
    return found


_OBJECTS = json.JSONDecoder(parse_constant=str, object_pairs_hook=_without_twins)

"""Tables of text to float64 arrays: cells by the csv module, numbers by `float`.

A row of names may come first.  What could be read in two ways is refused rather than guessed: a table that lost a row
or a digit in silence would give a wrong gradient with a good verdict.
"""

from __future__ import annotations

import csv
import itertools
import math
import re
from array import array
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from gradcli.arrays import Array
from gradcli.errors import InputError
from gradcli.files.decoding import choice, quoted
from gradcli.results.stream_rows import row_called

_MISSING = {"", "na", "n/a", "null", "none"}
"""Cells that stand for a missing number, and are no names of columns."""

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", " ": "blanks"}

MISSING_HINT = "write nan where a number is missing"
"""Hint at what to write in the place of nothing."""

_NUMBERS = "a number is such as 1, -2.5e3, nan or inf"

_BLANK = "empty, and rows follow"

BLANKS = "".join(filter(str.isspace, map(chr, range(2**14))))
"""All characters that `str.strip` takes for blanks."""

_QUOTED = re.compile(r'"[^"]*"')
_COMMENT = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
_DECIMAL_COMMA = re.compile(r"\s*[-+]?\d*,\d+\s*")


def read_table(text: str, name: str, suffix: str, part: str | None) -> Array:
    """Read the numbers of a table, or of one column, by its name or its number from 0.

    Shapes: a column (n,); a headerless row (m,); a headerless number (); else (n, m).  A column that is chosen is (n,).

    Args:
        text: With newlines alone as line endings.  `TEXT_BYTES` have room for fewer cells than a tensor for elements.
        name: What a message calls the table.
        suffix: `.csv` has commas, or semicolons where there is no comma; `.tsv` has tabs; others have comments and any
            one of commas, semicolons, tabs and blanks.
        part: The column.

    Raises:
        InputError: A cell is not a number, rows differ in length, or there is no such column.

    >>> read_table("a,b\\n1,2\\n3,4\\n", "'t.csv'", ".csv", "b")
    array([2., 4.])
    """
    has_comments = suffix not in (".csv", ".tsv")
    separator = _separator(text, suffix, has_comments)
    lines = list(enumerate(text.split("\n"), 1))
    if has_comments:
        lines = [(line, content) for line, content in lines if not content.lstrip().startswith("#")]
    else:
        lines = lines[first_row(text.split("\n")) or 0 :]
    filled = [place for place, (_, content) in enumerate(lines) if content.strip(BLANKS + separator)]
    lines = lines[filled[0] : filled[-1] + 1] if filled else []
    texts = [content.strip() if separator == " " else content for _, content in lines]
    rows = ((lines[place][0], cells, reason) for place, cells, reason in records(texts, separator))
    first = next(rows, None)
    if first is None:
        raise InputError(f"{name} holds no numbers", hint="a table has a row of numbers a line")
    line, cells, _ = first
    header = [cell.strip() for cell in cells] if any(map(is_name, cells)) else None
    chosen = range(len(cells)) if part is None else [_column(part, header, line, cells, name)]
    columns = [(quoted(header[n]) if header and header[n] else f"{n}, counted from 0", n) for n in chosen]
    found = array("d")
    for count, (line, row, reason) in enumerate(rows if header else itertools.chain([first], rows), 1):
        values = None if reason else numbers_of(row, chosen, len(cells))
        if values is None:
            what, hint = fault_of(row, reason, columns, len(cells), separator)
            if hint == _NUMBERS and len(columns) > 1:
                hint = _column_of_numbers(header, row) or hint
            raise InputError(f"{row_called(count, line)} of {name}{what}", hint=hint)
        found.extend(values)
    numbers = np.array(found)
    if not numbers.size:
        raise InputError(f"{name} has a row of names and no row of numbers", hint="a table has a row of numbers a line")
    if part is None and not header and numbers.size == len(cells):
        return numbers if len(cells) > 1 else numbers.reshape(())
    return numbers if len(chosen) == 1 else numbers.reshape(-1, len(chosen))


def _column_of_numbers(header: Sequence[str] | None, row: Sequence[str]) -> str:
    """Write the hint at the first column that has a number in a row; empty where none has one."""
    place = next((n for n, cell in enumerate(row) if is_number(cell)), None)
    if place is None:
        return ""
    name = header[place] if header else ""
    is_clear = name and name == name.strip() and not is_number(name) and list(header or ()).count(name) == 1
    return "choose a column of numbers, such as " + (f"@FILE:{name}" if is_clear else f"@FILE:{place}, counted from 0")


def first_row(lines: Sequence[str]) -> int | None:
    """Return the place of the first line that is filled; past lines that begin with #, if a row of names follows.

    >>> first_row(["", "# of 2024", "x,y", "1,2"]), first_row(["# x,y", "1,2"]), first_row([""])
    (2, 0, None)
    """
    filled = (place for place, line in enumerate(lines) if line.strip())
    first = next(filled, None)
    if first is None or not lines[first].lstrip().startswith("#"):
        return first
    bare = next((place for place in filled if not lines[place].lstrip().startswith("#")), None)
    return first if bare is None or not any(map(is_name, re.split("[,;\t]", lines[bare]))) else bare


def records(lines: Sequence[str], separator: str) -> Iterator[tuple[int, list[str], str]]:
    """Yield the cells of each record and its first line, from 0; or the reason why it is none, as if blank."""
    place = 0
    while place < len(lines):
        begin = place
        feed = (lines[n] + "\n" for n in range(begin, len(lines)))
        reader = csv.reader(feed, delimiter=separator, skipinitialspace=True, strict=True)
        try:
            for cells in reader:
                yield place, cells, "" if any(map(str.strip, cells)) else _BLANK
                place = begin + reader.line_num
        except csv.Error as error:
            yield place, [], str(error)
            place += 1  # whatever a broken quote swallowed is read again, as rows


def numbers_of(cells: Sequence[str], columns: Sequence[int], width: int) -> list[float] | None:
    """Read some cells of a row as numbers; None if one is at fault."""
    try:
        return [number(cells[column]) for column in columns] if len(cells) == width else None
    except ValueError:
        return None


def fault_of(
    cells: Sequence[str], reason: str, columns: Sequence[tuple[str, int]], width: int, separator: str
) -> tuple[str, str]:
    """Return the fault of a row, worded to follow the row's name, and a hint.

    Args:
        cells: Of the row.
        reason: Why it has none.
        columns: What messages call those that must be numbers, with their places.
        width: How many cells there must be.
        separator: What stands between them.
    """
    if reason == _BLANK:
        return f" is {reason}", f"{MISSING_HINT}, or remove the row"
    if reason:
        return f" is not a row of cells: {reason}", "a cell that begins with a quote must end with one"
    if len(cells) != width:
        are = "is" if width == 1 else "are"
        what = f" has {len(cells)} cell{'s' * (len(cells) != 1)}, and there {are} {width} column{'s' * (width != 1)}"
        return what, f"the cells are separated by {SEPARATORS[separator]}, and every row must have as many"
    name, place = next(column for column in columns if not is_number(cells[column[1]]))
    what, hint = fault(cells[place].strip(), separator)
    return f", column {name}: {what}", hint


def fault(cell: str, separator: str) -> tuple[str, str]:
    """Return the fault of a cell that is not a number, and a hint.

    >>> fault("1,5", ";")
    ("'1,5' is not a number", 'write decimals with a point')
    >>> fault("1,234,000", ";")
    ("'1,234,000' is not a number", 'write 1234000')
    >>> fault("1,000", ",")
    ("'1,000' is not a number", 'write 1000, or decimals with a point')
    """
    what = f"{quoted(cell)} is not a number" if cell else "the cell is empty"
    if cell.lower() in _MISSING:
        return what, MISSING_HINT
    if re.fullmatch(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?", cell):
        is_whole = cell.count(",") > 1 or "." in cell
        return what, f"write {cell.replace(',', '')}" + ", or decimals with a point" * (not is_whole)
    if _DECIMAL_COMMA.fullmatch(cell):
        return what, "write decimals with a point"
    if re.search(r"[;\t ]", cell) and separator in (",", "\t"):
        return what, f"the cells are separated by {SEPARATORS[separator]}"
    if is_number(cell, float) and cell.isascii() and "_" not in cell:
        return f"{quoted(cell)} is beyond the range of float64", "write inf if infinity is meant"
    return what, _NUMBERS


def _separator(text: str, suffix: str, has_comments: bool) -> str:
    """Find the separator of the cells.

    The whole text decides, not its first row: if any of it holds a separator that others lack, the rows differ in
    length, which is an error, while a row taken for a single cell could pass as a name.
    """
    if suffix == ".tsv":
        return "\t"
    bare = _COMMENT.sub("", text) if has_comments else text
    bare = _QUOTED.sub("", bare) if '"' in bare else bare
    if suffix == ".csv":
        # Sound: without any comma, a comma table is one column, and a cell with a semicolon is not a number.
        return ";" if ";" in bare and "," not in bare else ","
    return next((mark for mark in ";,\t" if mark in bare), " ")


def _column(part: str, header: list[str] | None, line: int, cells: Sequence[str], name: str) -> int:
    """Return the index of a column by its name, or by its number from 0."""
    count = len(cells)
    named = [index for index, known in enumerate(header or []) if known == part.strip() != ""]
    if len(named) > 1:
        hint = f"choose one by its number from 0, @FILE:{named[0]} or @FILE:{named[1]}"
        raise InputError(f"{name} has {len(named)} columns {quoted(part)}", hint=hint)
    if named:
        return named[0]
    index = int(part) if part.isascii() and part.isdecimal() and len(part) < 10 else count
    if index >= count:
        hint = choice("columns", part.strip(), header) if header else f"the columns are 0 to {count - 1}, without names"
        if header and count == 1 and (found := re.search(r"[;\t]", header[0])):
            advice = "name the file .tsv" if found[0] == "\t" else "write decimals with a point"
            hint = f"the cells seem to be separated by {SEPARATORS[found[0]]}: {advice}"
        raise InputError(f"{name} has no column {quoted(part)}", hint=hint if count > 1 or header else "leave it out")
    if header and is_number(header[index]):
        # Names beside a number: a header such as "day,2024", or a first row such as "monday,1.5"?
        where = f"{quoted(header[index])} is in column {index}, counted from 0"
        message = f"line {line} of {name} may be names or numbers: {where}"
        raise InputError(
            message, hint=f"write @FILE:{header[index]} if it is a name; else put a row of names before it"
        )
    return index


def is_name(cell: str) -> bool:
    """Tell whether a cell can only be a name: it has a letter, and is neither a number nor the want of one."""
    return any(map(str.isalpha, cell)) and cell.strip().lower() not in _MISSING and not is_number(cell, float)


def number(cell: str) -> float:
    """Read a cell as a number, as `float` does, but for digits that are not ASCII, `1_000`, and `1e400`."""
    word = cell.strip()  # blanks of all kinds: float takes others than str.strip, and NumPy's reader takes all
    found = float(word)
    if "_" in word or not word.isascii() or (math.isinf(found) and any(map(str.isdecimal, word))):
        raise ValueError(cell)
    return found


def is_number(cell: str, read: Callable[[str], float] = number) -> bool:
    """Tell whether a cell is a number, as `number` or `float` reads it."""
    try:
        read(cell)
    except ValueError:
        return False
    return True

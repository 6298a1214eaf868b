"""Tables of Python: pyarrow's, pandas' and Polars' to arrays by Arrow's C interface, and the same kind back.

Source: https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradcli.errors import InputError
from gradcli.files.columnar import numbers_of, pyarrow, require_numbers, shape_of
from gradcli.files.decoding import shown
from gradcli.results import Array, RowSource


def is_frame(value: object) -> bool:
    """Tell whether a value is a table of named columns that speaks Arrow's C interface."""
    return hasattr(value, "__arrow_c_stream__") and (hasattr(value, "columns") or hasattr(value, "column_names"))


def source_of(frame: Any) -> RowSource:
    """Name the columns of a table, each as one of numbers, as their cells are not looked at."""
    names = [str(name) for name in getattr(frame, "column_names", None) or list(frame.columns)]
    twice = frozenset(name for name in names if names.count(name) > 1)
    return RowSource("the table", dict.fromkeys(names, ()), twice)


def arrays_of(frame: Any, chosen: list[str]) -> dict[str, Array]:
    """Convert some columns to arrays of shape (N, *cell), with NaN where a cell is null.

    Raises:
        InputError: There is none, or one holds no numbers, or lists of several lengths.
    """
    if not chosen:
        names = ", ".join(list(source_of(frame).columns)[:8])
        raise InputError("the table has no column that is a variable", hint=f"its columns are {names}")
    pa = pyarrow()
    found: dict[str, Array] = {}
    try:
        table = pa.table(frame.select(chosen) if hasattr(frame, "select") else frame[chosen])
        for name in chosen:
            cells = table.column(name).combine_chunks()
            shape = shape_of(cells.type, cells)
            require_numbers(cells.type, shape, f"the column {shown(name)}")
            found[name], bad = numbers_of(cells, shape)
            if shape and bad:
                message = f"row {bad[0]} of the column {shown(name)} is no vector of shape {shape}"
                raise InputError(message, hint="a variable has one shape in all rows")
    except (pa.ArrowException, NotImplementedError, TypeError, ValueError) as error:
        said = str(error).partition("\n")[0]
        raise InputError(f"the table is not one of Arrow: {said}", hint="cast or rename its columns") from None
    return found


def alike(frame: Any, columns: Mapping[str, Array]) -> Any:
    """A table of the same kind, with the same index where it has one."""
    if hasattr(frame, "from_pydict"):  # pyarrow's
        return type(frame).from_pydict(columns)
    index = {"index": frame.index} if hasattr(frame, "index") else {}
    return type(frame)(columns, **index)

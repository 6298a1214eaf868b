"""Tables of Python: pyarrow's, pandas' and Polars' to arrays by Arrow's C interface, and the same kind back.

Source: https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradcli.errors import InputError
from gradcli.files.columnar import numbers_of, pyarrow, shape_of
from gradcli.files.decoding import shown
from gradcli.results import Array


def is_frame(value: object) -> bool:
    """Whether a value is a table of named columns that speaks Arrow's C interface."""
    return hasattr(value, "__arrow_c_stream__") and (hasattr(value, "columns") or hasattr(value, "column_names"))


def arrays_of(frame: Any, variables: Sequence[str]) -> dict[str, Array]:
    """The columns that variables, or elements of them, may be, of shape (N, *cell), with NaN where a cell is null.

    Raises:
        InputError: One holds no numbers, or lists of several lengths.
    """
    names = [str(name) for name in getattr(frame, "column_names", None) or list(frame.columns)]
    chosen = [name for name in names if name.startswith(tuple(variables))]
    if not chosen:
        raise InputError("the table has no column that is a variable", hint=f"its columns are {', '.join(names[:8])}")
    pa = pyarrow()
    try:
        table = pa.table(frame.select(chosen) if hasattr(frame, "select") else frame[chosen])
        found: dict[str, Array] = {}
        for name in chosen:
            cells = table.column(name).combine_chunks()
            shape = shape_of(cells.type, cells)
            found[name], bad = numbers_of(cells, shape)
            if shape and bad:
                message = f"row {bad[0]} of the column {shown(name)} is no vector of shape {shape}"
                raise InputError(message, hint="a variable has one shape in all rows")
    except (pa.ArrowException, NotImplementedError) as error:
        said = str(error).partition("\n")[0]
        raise InputError(f"the table has a column that is no numbers: {said}", hint="cast or rename it") from None
    return found


def alike(frame: Any, columns: Mapping[str, Array]) -> Any:
    """A table of the same kind, with the same index where it has one."""
    if hasattr(frame, "from_pydict"):  # pyarrow's
        return type(frame).from_pydict(columns)
    index = {"index": frame.index} if hasattr(frame, "index") else {}
    return type(frame)(columns, **index)

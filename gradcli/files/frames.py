"""Tables of Python: pyarrow's, pandas' and Polars' to arrays by Arrow's C interface, and the same kind back.

Source: https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from gradcli.errors import InputError
from gradcli.files.columnar import numbers_of, pyarrow, require_numbers, shape_of
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
    called = "|".join(map(re.escape, variables))
    chosen = [name for name in names if re.fullmatch(rf"(?:{called})(?:\[[\d,\s]+\]|\d+(?:_\d+)*)?", name)]
    if not chosen or len(set(chosen)) < len(chosen):
        what = "two columns of one name" if chosen else "no column that is a variable"
        raise InputError(f"the table has {what}", hint=f"its columns are {', '.join(names[:8])}")
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

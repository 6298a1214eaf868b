"""What the part adds to `Function`: a stream of blocks of rows, and derivatives at all rows of a table."""

from __future__ import annotations

from functools import partial
from typing import Any, Unpack

from gradcli import results
from gradcli.errors import InputError
from gradcli.parts.tables.columnar import alike, arrays_of, is_frame, source_of
from gradcli.parts.tables.streaming import ColumnPlan, Stream, columns_of, mapped, planned
from gradcli.questions.parsed_text import DeviceOptions, Inputs, ParsedText


def stream(
    self: ParsedText,
    source: results.RowSource,
    at: Inputs | None = None,
    *,
    on_error: results.OnError = "fail",
    check: bool = False,
    check_rows: int | None = None,
    **options: Unpack[DeviceOptions],
) -> Stream:
    """Return a stream that maps blocks of rows: columns are variables, and `at` has the values of the others.

    `wrt` names the columns among them by default, `on_error` says what becomes of rows that are at fault, and
    `check` whether to judge some rows, of which `check_rows` says how many.

    >>> import numpy as np
    >>> from gradcli import Function
    >>> from gradcli.results import Block, RowSource
    >>> stream = Function("a*x**2").stream(RowSource("the sensor", {"x": ()}), {"a": 2}, on_error="skip")
    >>> blocks = (Block(np.arange(i, i + 2), {"x": np.array([i, i + 1.0])}, {}) for i in (0, 2))
    >>> [part.values[1].tolist() for part in stream.over(blocks)], stream.passage().read
    ([[0.0, 4.0], [8.0, 12.0]], 4)
    """
    if not isinstance(source, results.RowSource):
        kind = type(source).__name__
        raise InputError(f"a source is a RowSource, and not a value of type {kind}", hint="map takes arrays by name")
    return Stream(planned(self, source, at, **options), on_error, check=check, check_rows=check_rows)


def map_columns(self: ParsedText, columns: Any, at: Inputs | None = None, **options: Unpack[DeviceOptions]) -> Any:
    """Compute the value and the derivatives at many points, block by block on all cores.

    `columns` are arrays of shape (N, *x.shape); there come out `y` of shape (N, *y.shape), and `dy_dx` of shape
    (N, *y.shape, *x.shape).  Or they are a table of pyarrow, pandas or Polars, with the columns that a file of
    `gradcli map` has; there comes out one of the same kind, with a column for each element.

    Raises:
        GradcliError: As for `stream`; columns of different lengths.

    >>> from gradcli import Function
    >>> Function("a*x**2").map({"x": [1, 2, 3]}, {"a": 2})
    {'y': array([ 2.,  8., 18.]), 'dy_dx': array([ 4.,  8., 12.])}
    """

    def plan(source: results.RowSource) -> ColumnPlan:
        return planned(self, source, at, **options)

    if not is_frame(columns):
        return mapped(plan, columns)
    known = (columns_of(name, self.parameters, source_of(columns)) for name in self.parameters)
    arrays = arrays_of(columns, [column for found in known if found for column in found[0]])
    return alike(columns, mapped(plan, arrays, is_flat=True))


def map_partitions(self: ParsedText, frame: Any, at: Inputs | None = None, **options: Unpack[DeviceOptions]) -> Any:
    """Map a DataFrame of Dask as `map` does, each partition on its worker, when it is computed."""
    if not hasattr(frame, "_meta_nonempty"):
        message = f"partitions are those of a DataFrame of Dask, and not of a value of type {type(frame).__name__}"
        raise InputError(message, hint="map takes arrays by name, and tables of pyarrow, pandas and Polars")
    meta = map_columns(self, frame._meta_nonempty, at, **options)
    return frame.map_partitions(partial(map_columns, self), at, **options, meta=meta)

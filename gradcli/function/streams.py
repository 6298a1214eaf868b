"""A function at many points that come as a stream, or as whole columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gradcli.errors import InputError
from gradcli.function.text import Text
from gradcli.language.values import Value, read_value
from gradcli.questions.preparing import Inputs
from gradcli.questions.question import Dtype
from gradcli.results import Array, Block, OnError, RowSource

if TYPE_CHECKING:
    from gradcli.questions.streaming import Stream


class Streams(Text):
    """One function, many points."""

    def stream(
        self,
        source: RowSource,
        at: Inputs | None = None,
        *,
        wrt: Sequence[str] | None = None,
        dtype: Dtype | None = None,
        on_error: OnError = "fail",
        check: bool = False,
    ) -> Stream:
        """What maps blocks of rows, of which columns are variables.

        Args:
            source: The columns, and how messages call them.
            at: Values of variables that are no column.
            wrt: The variables to differentiate by; by default those that are columns.
            dtype: Of the computation; by default that of a snippet's tensors, or float64.
            on_error: What becomes of rows that are at fault.
            check: Whether to judge a sample of the rows.

        Raises:
            GradcliError: A variable has no value or two, or shapes do not fit.

        >>> import numpy as np
        >>> from gradcli import Block, Function, RowSource
        >>> stream = Function("a*x**2").stream(RowSource("the sensor", {"x": ()}), {"a": 2}, on_error="skip")
        >>> blocks = (Block(np.arange(i, i + 2), {"x": np.array([i, i + 1.0])}, {}) for i in (0, 2))
        >>> [part.values[1].tolist() for part in stream.over(blocks)], stream.passage().read
        ([[0.0, 4.0], [8.0, 12.0]], 4)
        """
        from gradcli.questions.mapping import plan
        from gradcli.questions.streaming import Stream

        return Stream(plan(self.expression, self._snippet, source, at or {}, wrt, dtype), on_error, check=check)

    def map(
        self,
        columns: Mapping[str, Value],
        at: Inputs | None = None,
        *,
        wrt: Sequence[str] | None = None,
        dtype: Dtype | None = None,
    ) -> dict[str, Array]:
        """The value and the derivatives at many points, computed block by block on all cores.

        Args:
            columns: Arrays of shape (N, *x.shape).
            at: Values of variables that are the same at all points.
            wrt: The variables to differentiate by; by default those that are columns.
            dtype: Of the computation; by default that of a snippet's tensors, or float64.

        Returns:
            `y` of shape (N, *y.shape), and `dy_dx` of shape (N, *y.shape, *x.shape).

        Raises:
            GradcliError: As for `stream`; columns of different lengths.

        >>> from gradcli import Function
        >>> Function("a*x**2").map({"x": [1, 2, 3]}, {"a": 2})
        {'y': array([ 2.,  8., 18.]), 'dy_dx': array([ 4.,  8., 12.])}
        """
        arrays = {name: _column(name, value) for name, value in columns.items()}
        count = len(next(iter(arrays.values()))) if arrays else 0
        for name, array in arrays.items():
            if len(array) != count:
                raise InputError(f"the column '{name}' has {len(array):,} rows, and the first has {count:,}")
        stream = self.stream(
            RowSource("the columns", {k: a.shape[1:] for k, a in arrays.items()}), at, wrt=wrt, dtype=dtype
        )
        needed = {name: arrays[name] for name in stream.plan.columns}

        def blocks() -> Iterator[Block]:
            for first in range(0, count, stream.rows):
                last = min(first + stream.rows, count)
                yield Block(np.arange(first, last), {name: array[first:last] for name, array in needed.items()}, {})

        found = {q.name: np.empty((count, *q.shape), stream.plan.question.dtype) for q in stream.plan.quantities}
        first = 0
        for mapped in stream.over(blocks()):
            for array, values in zip(found.values(), mapped.values, strict=True):
                array[first : first + mapped.count] = values
            first += mapped.count
        return found


def _column(name: str, value: Value) -> Array:
    array = (
        value if isinstance(value, np.ndarray) and value.dtype == np.float64 else read_value(value, f"column {name}")
    )
    if array.ndim == 0:
        raise InputError(f"the column '{name}' is a single number", hint="a column has a number for each row")
    return array

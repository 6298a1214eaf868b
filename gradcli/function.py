"""A function of tensors from text: the Python API, a method a command.

Holds no mathematics: `gradcli.questions` asks the readings.  Each command of `gradcli.registry` on a function gives a
method, which is imported when it is first used; its keywords are held to the options of the command by a test.  Methods
of parts are known to type checkers by `gradcli.parts.typed_function`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Unpack

from gradcli import results
from gradcli.questions.parsed_text import CommonOptions, Inputs, ParsedText, public
from gradcli.registry import all_commands

if TYPE_CHECKING:
    from gradcli.parts.tables.streaming import ColumnPlan, Stream
    from gradcli.questions.closed_form import GivenShape
    from gradcli.questions.commands import (
        eval,  # noqa: A004
        grad,
        hessian,
        hvp,
        jacobian,
        jvp,
        vjp,
    )


class Function(ParsedText):
    """A function of tensors, parsed from text and never evaluated as Python.

    Args:
        expression: The text, such as `"x**2"` or `"y = A@x; sum(y**2)"`.

    Values are numbers, nested lists, arrays, torch tensors, pandas Series or texts of the language; answers hold
    arrays of the dtype asked for, float64 by default, in the shapes that `gradcli.results` states.

    Attributes:
        expression: The text as given.
        variables: The free names in order of appearance.

    What the options mean, which methods share:

    - `at` has a value per variable, and per name that a loss alone has; or it is that of the only variable;
    - `v` is a gradient vector of y's shape, or 1 if y has one element; `"ones"`, `"e0"` (ones over y[0]), `"e0_1"` (the
      element y[0,1] alone) and expressions in y and the variables, `"2*y"`, are known; `vs` are several;
    - `u` is a direction per variable, of its shape, or that of the only variable, or 1 if there is one element in all;
      `"ones"`, `"e0"` and `"e0_1"` are known, and a variable without a direction is held constant;
    - `loss` is an expression in y of one element, `"sum(y**2)"`, in place of v, which is then its derivative by y;
    - `wrt` names the variables to differentiate by, all by default;
    - `dtype` is that of the computation, by default that of a snippet's tensors, or float64;
    - `check` says whether to compare with the reference.

    A derivative at no point, of variables without values in the text, is its formula: what `closed_form` answers.

    Any thread may ask, also of one function: the process answers one question at a time, so that more threads are not
    faster, and more processes are.  The blocks of one `stream` are computed in the order in which they come, by the
    cores of this process, and not held back by other threads: two streams at once belong into two processes.

    Raises:
        GradcliError: The text is not in the language; a value is missing, surplus or malformed; shapes do not fit.

    >>> f = Function("x**2")
    >>> f.variables
    ('x',)
    >>> f.vjp([1, 2], v=[1, 1]).vjp["x"]
    array([2., 4.])
    """

    def __reduce__(self) -> Any:
        return (Function, (self.expression,)) if type(self) is Function else super().__reduce__()

    if TYPE_CHECKING:  # the methods of the core
        eval = eval.eval
        grad = grad.grad
        hessian = hessian.hessian
        hvp = hvp.hvp
        jacobian = jacobian.jacobian
        jvp = jvp.jvp
        vjps = vjp.vjps
        vjp = vjp.vjp

    def closed_form(
        self, of: str = "", *, shape: Mapping[str, GivenShape] | None = None, wrt: Sequence[str] | None = None
    ) -> results.ClosedForm:
        """Derive the formula of a derivative, for values that are not known and sizes that need not be.

        `of` is the method that gives the numbers, such as `"grad"`; by default that, or `"jacobian"` if y has several
        elements.  A `shape` is of numbers and names, `(3, "n")`; a variable without one has what makes sense.

        Raises:
            GradcliError: A shape is malformed, or no shapes fit.

        >>> Function("A@x").closed_form("jacobian", wrt=["x"]).blocks["", "x"].text
        'A[i, j]'
        """
        from gradcli.questions.closed_form import closed_form

        return closed_form(self._asked(None, wrt, None), of, shape or {})

    def stream(
        self,
        source: results.RowSource,
        at: Inputs | None = None,
        *,
        on_error: results.OnError = "fail",
        check: bool = False,
        check_rows: int | None = None,
        **options: Unpack[CommonOptions],
    ) -> Stream:
        """Return a stream that maps blocks of rows: columns are variables, and `at` has the values of the others.

        `wrt` names the columns among them by default, `on_error` says what becomes of rows that are at fault, and
        `check` whether to judge some rows, of which `check_rows` says how many.

        >>> import numpy as np
        >>> from gradcli.results import Block, RowSource
        >>> stream = Function("a*x**2").stream(RowSource("the sensor", {"x": ()}), {"a": 2}, on_error="skip")
        >>> blocks = (Block(np.arange(i, i + 2), {"x": np.array([i, i + 1.0])}, {}) for i in (0, 2))
        >>> [part.values[1].tolist() for part in stream.over(blocks)], stream.passage().read
        ([[0.0, 4.0], [8.0, 12.0]], 4)
        """
        from gradcli.parts.tables.streaming import Stream, planned

        return Stream(planned(self, source, at, **options), on_error, check=check, check_rows=check_rows)

    def map(self, columns: Any, at: Inputs | None = None, **options: Unpack[CommonOptions]) -> Any:
        """Compute the value and the derivatives at many points, block by block on all cores.

        `columns` are arrays of shape (N, *x.shape); there come out `y` of shape (N, *y.shape), and `dy_dx` of shape
        (N, *y.shape, *x.shape).  Or they are a table of pyarrow, pandas or Polars, with the columns that a file of
        `gradcli map` has; there comes out one of the same kind, with a column for each element.

        Raises:
            GradcliError: As for `stream`; columns of different lengths.

        >>> Function("a*x**2").map({"x": [1, 2, 3]}, {"a": 2})
        {'y': array([ 2.,  8., 18.]), 'dy_dx': array([ 4.,  8., 12.])}
        """
        from gradcli.parts.tables.columnar import alike, arrays_of, is_frame, source_of
        from gradcli.parts.tables.streaming import columns_of, mapped, planned

        def plan(source: results.RowSource) -> ColumnPlan:
            return planned(self, source, at, **options)

        if not is_frame(columns):
            return mapped(plan, columns)
        known = (columns_of(name, self.parameters, source_of(columns)) for name in self.parameters)
        arrays = arrays_of(columns, [column for found in known if found for column in found[0]])
        return alike(columns, mapped(plan, arrays, is_flat=True))

    def map_partitions(self, frame: Any, at: Inputs | None = None, **options: Unpack[CommonOptions]) -> Any:
        """Map a DataFrame of Dask as `map` does, each partition on its worker, when it is computed."""
        meta = self.map(frame._meta_nonempty, at, **options)
        return frame.map_partitions(self.map, at, **options, meta=meta)


class _Method:
    """A method that is imported when it is first used.

    Args:
        name: The name of the method.
        place: Its function, `module:function`.
    """

    def __init__(self, name: str, place: str) -> None:
        self._name, self._place = name, place

    def __get__(self, function: Function | None, owner: type[Function]) -> Any:
        method = resolve_name(self._place)
        method.__module__, method.__qualname__ = __name__, f"Function.{self._name}"
        setattr(Function, self._name, method := public(method))
        return method.__get__(function, owner)


_METHODS = {name: command.method for name, command in all_commands().items() if command.method}
for _name, _place in {**_METHODS, "vjps": "gradcli.questions.commands.vjp:vjps"}.items():
    setattr(Function, _name, _Method(_name, _place))

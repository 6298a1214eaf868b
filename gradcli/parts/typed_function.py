"""`Function`, and the functions of the package, as type checkers and editors see them, with the arguments of parts.

At run time both find their commands by the registry, and read arguments by `gradcli.questions.call_arguments`; a test
compares the names here with those there.  Only `gradcli`, and parts that have functions of their own, read this, behind
`TYPE_CHECKING`.
"""

# ruff: noqa: A001
# fmt: off
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeVar, overload

import numpy as np

from gradcli import function, results
from gradcli.autodiff._torch import torch
from gradcli.language.inputs import Value
from gradcli.language.program.shape_readings import GivenShape
from gradcli.parts.claims import claim_readings
from gradcli.parts.tables import streaming
from gradcli.questions.bound_function import Dtype
from gradcli.questions.naming import Directions, Inputs
from gradcli.questions.parsed_text import ParsedText

__all__ = [
    "code", "eval", "explain", "grad", "graph", "hessian", "hvp", "improve", "jacobian", "jvp", "map", "plot", "range",
    "vjp",
]

Names = str | Sequence[str] | None
"""Names of variables, in a text with commas or in a list."""

DtypeLike = Dtype | torch.dtype | np.dtype[np.floating] | type[np.floating] | type[float] | None
DeviceLike = str | torch.device | None

Called = Callable[..., Any]
"""Function of Python."""

Table = Any
"""Arrays by name, or a table of pyarrow, pandas, Polars or Dask; what comes out is of the same kind."""

Ends = tuple[Value, Value]
"""The two ends of a range."""

Ranges = Mapping[str, str | Ends] | str | Ends | None
"""A range of each variable, or of the only one."""

Claims = Mapping[str, str | float | claim_readings.StatedFunction] | str | float | claim_readings.StatedFunction | None
Shapes = Mapping[str, GivenShape] | GivenShape | None
Out = results.ArrayKind | None


class TypedFunction(function.Function):
    """A function of tensors from text, with all of its methods."""

    def __call__(
        self, at: Inputs | None = None, *more: Inputs, dtype: DtypeLike = None, device: DeviceLike = None,
        check: bool = True, out: Out = None, **values: Value,
    ) -> results.Evaluation:
        """Evaluate at values, as `eval` does."""
        return self.eval(at, *more, dtype=dtype, device=device, check=check, out=out, **values)

    def eval(
        self, at: Inputs | None = None, *more: Inputs, dtype: DtypeLike = None, device: DeviceLike = None,
        check: bool = True, out: Out = None, **values: Value,
    ) -> results.Evaluation:
        """Compute the value y."""
        raise NotImplementedError

    def vjp(
        self, at: Inputs | None = None, v: Value | None = None, *more: Value, loss: str | None = None,
        wrt: Names = None, dtype: DtypeLike = None, device: DeviceLike = None, check: bool = True, out: Out = None,
        **values: Value,
    ) -> results.VJP:
        """Compute the vector-Jacobian product vᵀJ, left in `x.grad` by `y.backward(gradient=v)`."""
        raise NotImplementedError

    def vjps(
        self, at: Inputs | None = None, vs: Sequence[Value] = (), *, accumulate: bool = False, loss: str | None = None,
        wrt: Names = None, dtype: DtypeLike = None, device: DeviceLike = None, check: bool = True, out: Out = None,
        **values: Value,
    ) -> results.Products:
        """Compute several vector-Jacobian products of one Jacobian."""
        raise NotImplementedError

    def grad(
        self, at: Inputs | None = None, *more: Inputs, wrt: Names = None, dtype: DtypeLike = None,
        device: DeviceLike = None, check: bool = True, out: Out = None, **values: Value,
    ) -> results.Gradient:
        """Compute the gradient of a y of one element."""
        raise NotImplementedError

    @overload
    def jacobian(
        self, at: Inputs | None = None, *more: Inputs, sparse: Literal[True], pattern: bool = False,
        shape: Shapes = None, wrt: Names = None, dtype: DtypeLike = None, device: DeviceLike = None,
        check: bool = True, out: Out = None,
        **values: Value,
    ) -> results.SparseJacobian: ...
    @overload
    def jacobian(
        self, at: Inputs | None = None, *more: Inputs, pattern: Literal[True], sparse: bool = False,
        shape: Shapes = None, wrt: Names = None, dtype: DtypeLike = None, device: DeviceLike = None,
        check: bool = True, out: Out = None,
        **values: Value,
    ) -> results.SparseJacobian: ...
    @overload
    def jacobian(
        self, at: Inputs | None = None, *more: Inputs, sparse: bool = False, pattern: bool = False,
        shape: Shapes = None, wrt: Names = None, dtype: DtypeLike = None, device: DeviceLike = None,
        check: bool = True, out: Out = None,
        **values: Value,
    ) -> results.Jacobian: ...
    def jacobian(
        self, at: Inputs | None = None, *more: Inputs, sparse: bool = False, pattern: bool = False,
        shape: Shapes = None, wrt: Names = None, dtype: DtypeLike = None, device: DeviceLike = None,
        check: bool = True, out: Out = None,
        **values: Value,
    ) -> results.Jacobian:
        """Compute the full Jacobian, a block of shape y.shape + x.shape per variable."""
        raise NotImplementedError

    def jvp(
        self, at: Inputs | None = None, u: Directions = None, *more: Value | Directions, forward: bool = False,
        wrt: Names = None, dtype: DtypeLike = None, device: DeviceLike = None, check: bool = True, out: Out = None,
        **values: Value,
    ) -> results.JVP:
        """Compute the Jacobian-vector product Ju, the derivative of y along a direction u in x."""
        raise NotImplementedError

    @overload
    def hessian(
        self, at: Inputs | None = None, *more: Inputs, sparse: Literal[True], pattern: bool = False,
        shape: Shapes = None, wrt: Names = None, dtype: DtypeLike = None, device: DeviceLike = None,
        check: bool = True, out: Out = None,
        **values: Value,
    ) -> results.SparseHessian: ...
    @overload
    def hessian(
        self, at: Inputs | None = None, *more: Inputs, pattern: Literal[True], sparse: bool = False,
        shape: Shapes = None, wrt: Names = None, dtype: DtypeLike = None, device: DeviceLike = None,
        check: bool = True, out: Out = None,
        **values: Value,
    ) -> results.SparseHessian: ...
    @overload
    def hessian(
        self, at: Inputs | None = None, *more: Inputs, sparse: bool = False, pattern: bool = False,
        shape: Shapes = None, wrt: Names = None, dtype: DtypeLike = None, device: DeviceLike = None,
        check: bool = True, out: Out = None,
        **values: Value,
    ) -> results.Hessian: ...
    def hessian(
        self, at: Inputs | None = None, *more: Inputs, sparse: bool = False, pattern: bool = False,
        shape: Shapes = None, wrt: Names = None, dtype: DtypeLike = None, device: DeviceLike = None,
        check: bool = True, out: Out = None,
        **values: Value,
    ) -> results.Hessian:
        """Compute the Hessian of a y of one element: a block of shape a.shape + b.shape per pair of variables."""
        raise NotImplementedError

    def hvp(
        self, at: Inputs | None = None, u: Directions = None, *more: Value | Directions, wrt: Names = None,
        dtype: DtypeLike = None, device: DeviceLike = None, check: bool = True, out: Out = None, **values: Value,
    ) -> results.HVP:
        """Compute the Hessian-vector product Hu of a y of one element, without the Hessian."""
        raise NotImplementedError

    def check(
        self, at: Inputs | None = None, v: Value | None = None, *more: Value, rtol: float | None = None,
        atol: float | None = None, claim: Claims = None, expect: Mapping[str, Value] | Value | None = None,
        assume: Mapping[str, str] | str | None = None, shape: Shapes = None, random: int | None = None,
        box: Ranges = None, along: Directions = None, prove: str | None = None, seed: int = 0,
        allow: results.Allowed | Sequence[results.Allowed] = (),
        strict: bool = False, require_all: bool = False, differences: bool = False, forward: bool = False,
        order: Literal[1, 2] = 1, batched: bool = False, numbers_of: ParsedText | None = None, wrt: Names = None,
        dtype: DtypeLike = None, device: DeviceLike = None, out: Out = None, **values: Value,
    ) -> results.Checking:
        """Compare autograd, the formula and the enclosure entry by entry, and give a verdict."""
        raise NotImplementedError

    def explain(
        self, at: Inputs | None = None, v: Value | None = None, *more: Value, loss: str | None = None,
        wrt: Names = None, dtype: DtypeLike = None, device: DeviceLike = None, check: bool = True, out: Out = None,
        **values: Value,
    ) -> results.Explanation:
        """Differentiate step by step by the chain rule."""
        raise NotImplementedError

    def graph(
        self, at: Inputs | None = None, v: Value | None = None, *more: Value, show: Names = (), wrt: Names = None,
        dtype: DtypeLike = None, device: DeviceLike = None, out: Out = None, **values: Value,
    ) -> results.BackwardGraph:
        """Return the backward graph as torch builds it, and every tensor with its attributes."""
        raise NotImplementedError

    def improve(
        self, at: Inputs | None = None, *more: Inputs, box: Ranges = None, wrt: Names = None, dtype: DtypeLike = None,
        **values: Value,
    ) -> results.Improvement:
        """Find the form that loses the fewest digits."""
        raise NotImplementedError

    def plot(
        self, at: Inputs | None = None, *more: Inputs, box: Ranges = None, along: Directions = None,
        order: Literal[1, 2] = 1, wrt: Names = None, dtype: DtypeLike = None, device: DeviceLike = None,
        **ranges: Value | Ends,
    ) -> results.Plot | results.PlotMap:
        """Compute y and its derivatives along a line, with the places where they break."""
        raise NotImplementedError

    def range(
        self, at: Inputs | None = None, *more: Inputs, box: Ranges = None, along: Directions = None,
        shape: Shapes = None, zeros: bool = False, tol: float | None = None, **values: Value,
    ) -> results.BoxRange:
        """Bound y, its derivatives and its Lipschitz constants over a box."""
        raise NotImplementedError

    def code(
        self, at: Inputs | None = None, v: Value | None = None, *more: Value, to: results.Language = "torch",
        wrt: Names = None, dtype: DtypeLike = None, **values: Value,
    ) -> results.Source:
        """Write the same computation as a runnable script."""
        raise NotImplementedError

    def closed_form(self, of: str = "", *, shape: Shapes = None, wrt: Names = None) -> results.ClosedForm:
        """Derive the formula of a derivative, for values that are not known and sizes that need not be."""
        raise NotImplementedError

    def stream(
        self, source: results.RowSource, at: Inputs | None = None, *, on_error: results.OnError = "fail",
        check: bool = False, check_rows: int | None = None, wrt: Names = None, dtype: DtypeLike = None,
        device: DeviceLike = None, **values: Value,
    ) -> streaming.Stream:
        """Return a stream that maps blocks of rows."""
        raise NotImplementedError

    def map(
        self, columns: Table, at: Inputs | None = None, *, wrt: Names = None, dtype: DtypeLike = None,
        device: DeviceLike = None, **values: Value,
    ) -> Table:
        """Compute the value and the derivatives at many points, block by block on all cores."""
        raise NotImplementedError

    def map_partitions(
        self, frame: Table, at: Inputs | None = None, *, wrt: Names = None, dtype: DtypeLike = None,
        device: DeviceLike = None, **values: Value,
    ) -> Table:
        """Map a DataFrame of Dask as `map` does, each partition on its worker, when it is computed."""
        raise NotImplementedError


# -- functions of the package

Text = str | TypedFunction
Asked = Text | Called
"""Subject of a question: a text, a function of one, or a function of Python."""

Found_co = TypeVar("Found_co", covariant=True)


class _Derivative(Protocol[Found_co]):
    """Derivative of a function: at no values its formula, and of a function of Python a function."""

    @overload
    def __call__(
        self, function: Text, /, *, wrt: Names = None, shape: Shapes = None,
    ) -> results.ClosedForm: ...
    @overload
    def __call__(
        self, function: Called, /, *, wrt: Names = None, dtype: DtypeLike = None, device: DeviceLike = None,
        check: bool = True, out: Out = None,
    ) -> Callable[..., Found_co]: ...
    @overload
    def __call__(
        self, function: Asked, /, at: Inputs | None = None, *more: Inputs, wrt: Names = None, dtype: DtypeLike = None,
        device: DeviceLike = None, check: bool = True, out: Out = None, **values: Value,
    ) -> Found_co: ...


Sparse_co = TypeVar("Sparse_co", covariant=True)


class _Matrix(Protocol[Found_co, Sparse_co]):
    """Derivative that is a matrix, which may be sparse."""

    @overload
    def __call__(
        self, function: Text, /, *, wrt: Names = None, shape: Shapes = None,
    ) -> results.ClosedForm: ...
    @overload
    def __call__(
        self, function: Called, /, *, wrt: Names = None, dtype: DtypeLike = None, device: DeviceLike = None,
        check: bool = True, out: Out = None, sparse: bool = False, pattern: bool = False,
    ) -> Callable[..., Found_co]: ...
    @overload
    def __call__(
        self, function: Asked, /, at: Inputs | None = None, *more: Inputs, sparse: Literal[True], pattern: bool = False,
        shape: Shapes = None, wrt: Names = None, dtype: DtypeLike = None, device: DeviceLike = None,
        check: bool = True, out: Out = None,
        **values: Value,
    ) -> Sparse_co: ...
    @overload
    def __call__(
        self, function: Asked, /, at: Inputs | None = None, *more: Inputs, sparse: bool = False, pattern: bool = False,
        shape: Shapes = None, wrt: Names = None, dtype: DtypeLike = None, device: DeviceLike = None,
        check: bool = True, out: Out = None,
        **values: Value,
    ) -> Found_co: ...


class _AlongV(Protocol):
    """Derivative along a gradient vector."""

    @overload
    def __call__(  # type: ignore[overload-overlap]  # with values
        self, function: Text, /, *, wrt: Names = None, shape: Shapes = None,
    ) -> results.ClosedForm: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]  # with arguments
        self, function: Called, /, *, wrt: Names = None, dtype: DtypeLike = None, device: DeviceLike = None,
        check: bool = True, out: Out = None,
    ) -> Callable[..., results.VJP]: ...
    @overload
    def __call__(
        self, function: Asked, /, at: Inputs | None = None, v: Value | None = None, *more: Value,
        loss: str | None = None, wrt: Names = None, dtype: DtypeLike = None, device: DeviceLike = None,
        check: bool = True, out: Out = None, **values: Value,
    ) -> results.VJP: ...


class _AlongU(Protocol[Found_co]):
    """Derivative along a direction."""

    @overload
    def __call__(
        self, function: Text, /, *, wrt: Names = None, shape: Shapes = None,
    ) -> results.ClosedForm: ...
    @overload
    def __call__(
        self, function: Called, /, *, wrt: Names = None, dtype: DtypeLike = None, device: DeviceLike = None,
        check: bool = True, out: Out = None,
    ) -> Callable[..., Found_co]: ...
    @overload
    def __call__(
        self, function: Asked, /, at: Inputs | None = None, u: Directions = None, *more: Value | Directions,
        wrt: Names = None, dtype: DtypeLike = None, device: DeviceLike = None, check: bool = True, out: Out = None,
        forward: bool = False, **values: Value,
    ) -> Found_co: ...


grad: _Derivative[results.Gradient]
jacobian: _Matrix[results.Jacobian, results.SparseJacobian]
hessian: _Matrix[results.Hessian, results.SparseHessian]
vjp: _AlongV
jvp: _AlongU[results.JVP]
hvp: _AlongU[results.HVP]


def eval(
    function: Asked, /, at: Inputs | None = None, *more: Inputs, dtype: DtypeLike = None, device: DeviceLike = None,
    check: bool = True, out: Out = None, **values: Value,
) -> results.Evaluation:
    """Compute the value y."""
    raise NotImplementedError


def explain(
    function: Asked, /, at: Inputs | None = None, v: Value | None = None, *more: Value, loss: str | None = None,
    wrt: Names = None, dtype: DtypeLike = None, device: DeviceLike = None, check: bool = True, out: Out = None,
    **values: Value,
) -> results.Explanation:
    """Differentiate step by step by the chain rule."""
    raise NotImplementedError


def graph(
    function: Asked, /, at: Inputs | None = None, v: Value | None = None, *more: Value, show: Names = (),
    wrt: Names = None, dtype: DtypeLike = None, device: DeviceLike = None, out: Out = None, **values: Value,
) -> results.BackwardGraph:
    """Return the backward graph as torch builds it, and every tensor with its attributes."""
    raise NotImplementedError


def improve(
    function: Asked, /, at: Inputs | None = None, *more: Inputs, box: Ranges = None, wrt: Names = None,
    dtype: DtypeLike = None, **values: Value,
) -> results.Improvement:
    """Find the form that loses the fewest digits."""
    raise NotImplementedError


def plot(
    function: Asked, /, at: Inputs | None = None, *more: Inputs, box: Ranges = None, along: Directions = None,
    order: Literal[1, 2] = 1, wrt: Names = None, dtype: DtypeLike = None, device: DeviceLike = None,
    **ranges: Value | Ends,
) -> results.Plot | results.PlotMap:
    """Compute y and its derivatives along a line, with the places where they break."""
    raise NotImplementedError


def range(
    function: Asked, /, at: Inputs | None = None, *more: Inputs, box: Ranges = None, along: Directions = None,
    shape: Shapes = None, zeros: bool = False, tol: float | None = None, **values: Value,
) -> results.BoxRange:
    """Bound y, its derivatives and its Lipschitz constants over a box."""
    raise NotImplementedError


def code(
    function: Asked, /, at: Inputs | None = None, v: Value | None = None, *more: Value, to: results.Language = "torch",
    wrt: Names = None, dtype: DtypeLike = None, **values: Value,
) -> results.Source:
    """Write the same computation as a runnable script."""
    raise NotImplementedError


def map(
    function: Asked, /, columns: Table, at: Inputs | None = None, *, wrt: Names = None, dtype: DtypeLike = None,
    device: DeviceLike = None, **values: Value,
) -> Table:
    """Compute the value and the derivatives at many points, block by block on all cores."""
    raise NotImplementedError

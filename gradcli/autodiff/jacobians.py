"""Derivatives of a Program that has run: vᵀJ and J, Ju, the Hessian, Hu; and finite differences to compare with.

One answer takes the cheap paths: `torch.autograd.grad`, once for vᵀJ and once a row for J.  Where x is much smaller
than y the columns are cheaper.  They are the transpose of vᵀJ as a function of v, which is linear, because forward mode
takes a quarter of a second to import; so is Ju.  The Hessian is the Jacobian of the gradient, a row at a time; Hu is
the gradient of the slope u·∇f and costs as much as a few gradients, however large x is.

Sources: J. Townsend, "A new trick for calculating Jacobian vector products", 2017; B. A. Pearlmutter, "Fast exact
multiplication by the Hessian", Neural Computation 6, 1994.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Forward, Tensor, array_of, backward_error, derivative_of, prepared, run, tensor_of
from gradcli.errors import InputError
from gradcli.language.program.wengert import Program

Array = npt.NDArray[Any]

Column = tuple[str, int]
"""A variable and the flat position of one of its elements."""

Place = tuple[str, int, int]
"""A variable, the flat position of one of its elements, and one in y (-1: of v·y)."""

PRODUCT = -1
"""The row that stands for v·y."""

EPSILON = 2.0**-52
"""The distance from 1 to the next float64."""

SCALES = (100.0, 10.0, 1.0, 0.1, 0.01)
"""The steps that are tried, in units of eps**(1/3) times the scale of x."""

SMALL = 0.01
"""An x nearer to 0 than this may be the scale on which f changes; else it is at least 1."""

ROWS_ALWAYS = 64
"""Rows that are computed one by one without asking whether columns would be fewer."""


def value(forward: Forward) -> Array:
    """The output y as an array."""
    return array_of(forward.output)


def vjp(forward: Forward, v: Array, wrt: tuple[str, ...]) -> dict[str, Array]:
    """vᵀJ for each variable: what `y.backward(gradient=v)` leaves in `x.grad`.

    Args:
        forward: The evaluated Program.
        v: The gradient vector, of y's shape.
        wrt: The variables; the result has their shapes.
    """
    y = forward.output
    leaves = [forward.leaves[name] for name in wrt]
    found = gradients(y, leaves, tensor_of(v, y.dtype))
    return {name: derivative_of(g) for name, g in zip(wrt, found, strict=True)}


def jacobian(forward: Forward, wrt: tuple[str, ...]) -> dict[str, Array]:
    """The Jacobian blocks ∂y/∂x, each of shape `y.shape + x.shape`."""
    y, leaves = forward.output, {name: forward.leaves[name] for name in wrt}
    blocks = {name: np.empty((*y.shape, *leaf.shape), _dtype(leaf)) for name, leaf in leaves.items()}
    fill(list(blocks.values()), y, list(leaves.values()))
    return blocks


def fill(blocks: Sequence[Array], y: Tensor, leaves: Sequence[Tensor], points: int = 1) -> None:
    """Write the Jacobian of each point by each leaf, row by row, or where they are many fewer, column by column.

    Args:
        blocks: Where to, for each leaf: points, elements of y and elements of x in this order, whatever the axes are.
        y: With the points on its first axis, if there are several.
        leaves: Those too; y at one point depends on what they are there alone.
        points: How many there are.

    Raises:
        InputError: Torch has no derivative for an operation.
    """
    if not any(block.size for block in blocks):
        return
    rows, columns = (sum(tensor.numel() for tensor in tensors) // points for tensors in ((y,), leaves))
    if rows > ROWS_ALWAYS and columns < rows and y.requires_grad:
        for block, leaf in zip(blocks, leaves, strict=True):
            if block.size:
                _by_columns(block, y, leaf, points)
    else:
        by_rows(blocks, y, leaves, points)


def by_rows(blocks: Sequence[Array], y: Tensor, leaves: Sequence[Tensor], points: int = 1) -> None:
    """The same by one backward pass for each element of y, at all points at once: that of its sum over the points."""
    rows = y.numel() // points
    flat = [block.reshape(points, rows, -1) if block.size else block for block in blocks]
    v = torch.zeros((points, rows), dtype=y.dtype)
    for row in range(rows):
        v[:, row] = 1
        for block, gradient in zip(flat, gradients(y, leaves, v.view(y.shape)), strict=True):
            if block.size:
                block[:, row] = derivative_of(gradient).reshape(points, -1)
        v[:, row] = 0


def _by_columns(block: Array, y: Tensor, leaf: Tensor, points: int) -> None:
    """The same by the rows of the transpose, which is vᵀJ as a function of v: one for each element of x."""
    v = torch.zeros_like(y, requires_grad=True)
    (transposed,) = gradients(y, [leaf], v, differentiable=True)
    by_rows([block.reshape(points, y.numel() // points, -1).swapaxes(1, 2)], transposed, [v], points)


def _dtype(tensor: Tensor) -> np.dtype[Any]:
    found: np.dtype[Any] = tensor.detach().numpy().dtype
    return found


def gradients(
    y: Tensor, leaves: Sequence[Tensor], v: Tensor, *, differentiable: bool = False, keeps_graph: bool = True
) -> list[Tensor]:
    """`torch.autograd.grad` with zeros for variables that y does not depend on.

    Args:
        y: What is differentiated.
        leaves: The result has their shapes.
        v: The gradient vector, of y's shape.
        differentiable: Whether the result gets a graph of its own, to be differentiated again.
        keeps_graph: Whether there may be another pass through the graph of y.

    Raises:
        InputError: Torch has no derivative for an operation.
    """
    if not y.requires_grad or not leaves:
        return [torch.zeros_like(leaf) for leaf in leaves]
    try:
        found = torch.autograd.grad(
            y, leaves, v, retain_graph=keeps_graph, create_graph=differentiable, allow_unused=True
        )
    except RuntimeError as error:
        raise backward_error(error) from None
    return [torch.zeros_like(leaf) if g is None else g for g, leaf in zip(found, leaves, strict=True)]


def jvp(forward: Forward, u: Mapping[str, Array]) -> Array:
    """Ju, the derivative of y along the direction u: of y's shape.

    Args:
        forward: The evaluated Program.
        u: The direction of each variable that moves, of its shape; it must have been recorded by `run`.

    Raises:
        InputError: Torch cannot differentiate an operation twice.
    """
    y = forward.output
    leaves = [forward.leaves[name] for name in u]
    weights = torch.zeros_like(y, requires_grad=True)
    transposed = gradients(y, leaves, weights, differentiable=True)
    slope = _slope(transposed, u, y.dtype)
    (along,) = gradients(slope, [weights], torch.ones_like(slope))
    return derivative_of(along)


def hessian(forward: Forward, wrt: tuple[str, ...]) -> tuple[dict[str, Array], dict[str, dict[str, Array]]]:
    """The gradient of a y of one element, and the Hessian blocks ∂²y/∂a∂b of shape `a.shape + b.shape`.

    Args:
        forward: The evaluated Program.
        wrt: The variables; the blocks are by two of them, in this order.

    Raises:
        InputError: Torch cannot differentiate an operation twice.
    """
    leaves = {name: forward.leaves[name] for name in wrt}
    first = dict(zip(wrt, _gradient(forward, list(leaves.values())), strict=True))
    blocks: dict[str, dict[str, Array]] = {}
    for name, slope in first.items():
        blocks[name] = {b: np.zeros((*slope.shape, *leaf.shape), _dtype(leaf)) for b, leaf in leaves.items()}
        if slope.requires_grad:
            by_rows(list(blocks[name].values()), slope, list(leaves.values()))
    return {name: derivative_of(slope) for name, slope in first.items()}, blocks


def hvp(
    forward: Forward, u: Mapping[str, Array], wrt: tuple[str, ...]
) -> tuple[dict[str, Array], Array, dict[str, Array]]:
    """The gradient of a y of one element, its slope u·∇f along the direction u, and Hu: the slope's gradient.

    Args:
        forward: The evaluated Program.
        u: The direction of each variable that moves, of its shape; the names are among `wrt`.
        wrt: The variables; gradient and Hu have their shapes, the slope has none.

    Raises:
        InputError: Torch cannot differentiate an operation twice.
    """
    leaves = [forward.leaves[name] for name in wrt]
    first = dict(zip(wrt, _gradient(forward, leaves), strict=True))
    slope = _slope([first[name] for name in u], u, forward.output.dtype)
    second = gradients(slope, leaves, torch.ones_like(slope))
    product = {name: derivative_of(tensor) for name, tensor in zip(wrt, second, strict=True)}
    return {name: derivative_of(tensor) for name, tensor in first.items()}, derivative_of(slope), product


def _gradient(forward: Forward, leaves: list[Tensor]) -> list[Tensor]:
    y = forward.output
    return gradients(y, leaves, torch.ones_like(y), differentiable=True)


def _slope(first: Sequence[Tensor], u: Mapping[str, Array], kind: Any) -> Tensor:
    total = torch.zeros((), dtype=kind)
    for gradient, direction in zip(first, u.values(), strict=True):
        total = total + (gradient * tensor_of(direction, kind)).sum()
    return total


# -- finite differences, to compare with: central ones in float64, the step chosen by its error
#
# D(h) = (f(x+h) - f(x-h))/2h is off by about c·h², as the slope changes along the way, and by about eps·|f|/h, as f is
# rounded.  The two balance near h = eps**(1/3) times the scale on which f changes, which nobody knows: so a few steps
# are tried, and the one with the least estimate is kept.  The estimate knows nothing of digits lost inside of f.
# Source: W. H. Press et al., Numerical Recipes, 3rd edition, section 5.7.


def differences(
    program: Program, inputs: Mapping[str, Array], wanted: Mapping[Column, Sequence[int]], v: Array | None = None
) -> Iterator[tuple[Place, tuple[float, float]]]:
    """Difference quotients for some columns, each at some flat rows of y, in float64 whatever the inputs' dtype.

    Args:
        program: The function.
        inputs: An array per variable.
        wanted: The rows for each column; `PRODUCT` asks for the derivative of v·y.
        v: The gradient vector, of y's shape.

    Yields:
        Places with quotients and their errors, column by column; none where f has no finite values around x.

    >>> from gradcli.language.parsing import parse
    >>> found = dict(differences(parse("x**3"), {"x": np.array(2.0)}, {("x", 0): [0]}))
    >>> quotient, error = found["x", 0, 0]
    >>> abs(quotient - 12) <= error < 1e-8
    True
    """
    exact = {name: np.asarray(array, dtype=np.float64) for name, array in inputs.items()}
    ready = prepared(program)
    for (name, position), rows in wanted.items():

        def evaluate(at: float, name: str = name, position: int = position, rows: Sequence[int] = rows) -> Array:
            moved = exact[name].copy()
            moved.ravel()[position : position + 1] = at
            return _outputs(ready, {**exact, name: moved}, rows, v)

        quotients, errors = _column(evaluate, float(exact[name].ravel()[position]), len(rows))
        for row, quotient, error in zip(rows, quotients.tolist(), errors.tolist(), strict=True):
            if math.isfinite(error):
                yield (name, position, row), (quotient, error)


def _outputs(program: Program, inputs: Mapping[str, Array], rows: Sequence[int], v: Array | None) -> Array:
    """The wanted elements of y, and v·y where it is asked for; NaN where torch refuses the inputs."""
    try:
        y = value(run(program, inputs, (), "float64")).ravel()
    except InputError:
        return np.full(len(rows), np.nan)
    with np.errstate(all="ignore"):
        total = np.nan if v is None else _weighted_sum(v.ravel().astype(np.float64), y)
        return np.array([total if row == PRODUCT else y[row] for row in rows])


def _weighted_sum(v: Array, y: Array) -> float:
    """The sum of v*y, where a weight of 0 leaves out what is not finite."""
    return float(np.sum(v[v != 0] * y[v != 0]))


def _column(evaluate: Callable[[float], Array], x: float, rows: int) -> tuple[Array, Array]:
    """For each row the quotient with the least error among the steps; an infinite error where there is none."""
    found = [(np.zeros(rows), np.full(rows, np.inf))]
    for h in _steps(x) if math.isfinite(x) else ():
        wide, _ = _quotient(evaluate, x, h, rows)
        # Two steps: their difference estimates the truncation, and the rounding is eps*|f|/h.
        narrow, largest = _quotient(evaluate, x, h / 2, rows)
        with np.errstate(all="ignore"):
            estimate = np.abs(wide - narrow) + EPSILON * largest / (h / 2)
        found.append((narrow, np.where(np.isnan(estimate), np.inf, estimate)))
    quotients, errors = map(np.array, zip(*found, strict=True))
    best = errors.argmin(axis=0), np.arange(rows)
    return quotients[best], errors[best]


def _steps(x: float) -> Iterable[float]:
    scales = [max(1.0, abs(x)), *([abs(x)] if 0 < abs(x) < SMALL else [])]
    return (EPSILON ** (1 / 3) * scale * factor for scale in scales for factor in SCALES)


def _quotient(evaluate: Callable[[float], Array], x: float, h: float, rows: int) -> tuple[Array, Array]:
    """The central difference quotient and the largest magnitude of f; the step is what x moves by, as rounded."""
    above, below = x + h, x - h
    if not (below < above and math.isfinite(above - below)):
        nothing = np.full(rows, np.nan)
        return nothing, nothing
    high, low = evaluate(above), evaluate(below)
    with np.errstate(all="ignore"):
        return (high - low) / (above - below), np.maximum(np.abs(high), np.abs(low))

"""Products that have all entries of a pattern in them: which there are, and torch's numbers for them.

A product is vᵀJ, with v 1 in the rows of a group and 0 elsewhere, or Ju with u 1 in its columns.  Dense rows and
columns have products of their own, and leave the others with few entries: an arrow takes three.  A Hessian is
symmetric: its products are those of rows, and that of a dense row has its dense column too.

A star colouring reads a symmetric entry from either of its two places.  Rows that have no column in common take as
many products or fewer wherever a pattern repeats, and more in a graph without a period (asdex 0.5 in brackets): path 3
(3), grid of two dimensions 5 (5), of three 7 (11), nine points 9 (11), band of eleven 11 (11), ring 4 (3), random graph
of a thousand nodes with as many edges 10 (7), with twice as many 14 (10).  No kept package has one without JAX.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from gradcli.arrays import Array
from gradcli.language.program.wengert import Shape
from gradcli.parts.sparse.colouring import Colouring, ManyColoursError, coloured
from gradcli.parts.sparse.pattern import Indices, SparsityPattern
from gradcli.reference.dependencies import Flat

if TYPE_CHECKING:
    from gradcli.autodiff.run import Forward, Tensor

DENSE = 48
"""Entries of a row, and of a column, from which on it has a product of its own, if no more than `MOST_DENSE` have."""

MOST_DENSE = 64

Axis = Literal["rows", "columns"]


@dataclass(frozen=True)
class GroupedProduct:
    """A product with J, and the entries that are read from it.

    Attributes:
        axis: Whether it sums rows, vᵀJ, or columns, Ju.
        members: The rows or columns that it sums.
        entries: The entries of the pattern that it has; each alone, as no other one of its members meets it.
        places: The element of the product that each of these entries is.
    """

    axis: Axis
    members: Indices
    entries: Indices
    places: Indices

    def seed(self, size: int, dtype: str = "float64") -> Array:
        """Return v or u, flat."""
        found = np.zeros(size, dtype)
        found[self.members] = 1
        return found


@dataclass(frozen=True)
class ProductPlan:
    """The products that have all entries of a pattern.

    Attributes:
        pattern: The pattern.
        products: All products; each entry is read from one.
    """

    pattern: SparsityPattern
    products: Sequence[GroupedProduct]

    @property
    def usual(self) -> int:
        """The number of products without a pattern: one for each row, or for each column where these are fewer."""
        return min(self.pattern.shape)


def plan(
    pattern: SparsityPattern,
    rows: Shape,
    columns: Sequence[Shape],
    *,
    is_symmetric: bool = False,
    axes: Sequence[Axis] = ("rows", "columns"),
) -> ProductPlan:
    """Choose the products for a pattern.

    Args:
        pattern: The pattern.
        rows: The shape of y, or of the gradient.
        columns: The shapes of the variables.
        is_symmetric: Whether it is a Hessian, of which there are products of rows alone.
        axes: What there are products of: Ju needs a second pass back.

    Raises:
        ManyColoursError: There are too many, as the pattern is dense.

    >>> arrow = np.array([(0, j) for j in range(99)] + [e for i in range(1, 99) for e in ((i, 0), (i, i))], np.int32)
    >>> found = plan(SparsityPattern(arrow[:, 0], arrow[:, 1], (99, 99)), (99,), [(99,)])
    >>> [(one.axis, len(one.members)) for one in found.products]
    [('rows', 1), ('columns', 1), ('rows', 98)]
    """
    dense = {axis: _dense(pattern, axis) for axis in ("rows", "columns")}
    found = list[GroupedProduct]()
    is_left = np.ones(pattern.count, dtype=bool)
    if is_symmetric:
        for k in dense["rows"].tolist():
            found += _of_dense(pattern, "rows", k, is_left, is_symmetric=True)
    else:
        for axis in axes:
            for k in dense[axis].tolist():
                found += _of_dense(pattern, axis, k, is_left)
    left = np.flatnonzero(is_left).astype(np.int32)
    if len(left):
        axis, colouring = _grouped(pattern, left, rows, columns, axes[:1] if is_symmetric else axes)
        found += _of_colours(pattern, axis, colouring, left)
    return ProductPlan(pattern, found)


def _dense(pattern: SparsityPattern, axis: Axis) -> Indices:
    """List the rows or columns that are dense, unless there are many of them."""
    counts = pattern.counts[0 if axis == "rows" else 1]
    size = len(counts)
    usual = int(np.median(counts)) if size else 0
    found = np.flatnonzero(counts > max(DENSE, 4 * usual)).astype(np.int32)
    return found if len(found) <= MOST_DENSE else found[:0]


def _of_dense(
    pattern: SparsityPattern, axis: Axis, k: int, is_left: npt.NDArray[np.bool_], *, is_symmetric: bool = False
) -> Iterator[GroupedProduct]:
    """Yield the product of a dense row or column, with the entries that no other product has."""
    one, other = (pattern.rows, pattern.columns) if axis == "rows" else (pattern.columns, pattern.rows)
    own = np.flatnonzero(is_left & (one == k)).astype(np.int32)
    places = other[own]
    is_left[own] = False
    if is_symmetric:
        mirrored = np.flatnonzero(is_left & (other == k)).astype(np.int32)
        is_left[mirrored] = False
        own, places = np.concatenate([own, mirrored]), np.concatenate([places, one[mirrored]])
    if len(own):
        yield GroupedProduct(axis, np.array([k], np.int32), own, places)


def _grouped(
    pattern: SparsityPattern,
    left: Indices,
    rows: Shape,
    columns: Sequence[Shape],
    axes: Sequence[Axis],
) -> tuple[Axis, Colouring]:
    """Colour the rows or the columns of the entries that are left: those that take fewer colours at least."""
    is_whole = len(left) == pattern.count
    a, b = (pattern.rows, pattern.columns) if is_whole else (pattern.rows[left], pattern.columns[left])
    m, n = pattern.shape
    row_counts, column_counts = pattern.counts if is_whole else (np.bincount(a), np.bincount(b))
    by_rows, by_columns = int(column_counts.max()), int(row_counts.max())  # no colouring has fewer
    ways = sorted(axes, key=lambda axis: by_rows if axis == "rows" else by_columns)
    found: tuple[Axis, Colouring] | None = None
    for axis in ways:
        least = by_rows if axis == "rows" else by_columns
        if found is not None and least >= found[1].count:
            break
        try:
            own = coloured(a, b, rows, n) if axis == "rows" else _columns_coloured(b, a, columns, m)
        except ManyColoursError:
            continue
        if found is None or own.count < found[1].count:
            found = axis, own
        if own.count <= 2 * least:
            break
    if found is None:
        raise ManyColoursError
    return found


def _columns_coloured(columns: Indices, rows: Indices, shapes: Sequence[Shape], height: int) -> Colouring:
    """Colour the columns of several variables: all of them as one tensor, or those of each with colours of its own."""
    if len(shapes) == 1:
        return coloured(columns, rows, shapes[0], height)
    least = int(np.bincount(rows).max())
    is_alike = len(set(shapes)) == 1
    if is_alike:
        found = coloured(columns, rows, (len(shapes), *shapes[0]), height)
        if found.count <= least:
            return found
    sizes = [math.prod(shape) for shape in shapes]
    starts = np.cumsum([0, *sizes])
    colours, count = np.full(int(starts[-1]), -1, np.int32), 0
    for shape, first, last in zip(shapes, starts[:-1], starts[1:], strict=True):
        held = (columns >= first) & (columns < last)
        own = coloured(columns[held] - first, rows[held], shape, height)
        colours[first:last] = np.where(own.colours >= 0, own.colours + count, -1)
        count += own.count
    apart = Colouring(colours, count)
    if is_alike:
        return apart if count < found.count else found
    if count > least:
        found = coloured(columns, rows, (int(starts[-1]),), height)
        return apart if count <= found.count else found
    return apart


def _of_colours(pattern: SparsityPattern, axis: Axis, colouring: Colouring, left: Indices) -> Iterator[GroupedProduct]:
    """Yield a product for each colour."""
    one, other = (pattern.rows, pattern.columns) if axis == "rows" else (pattern.columns, pattern.rows)
    colour_of = colouring.colours[one[left]]
    kind = np.int16 if colouring.count < 2**15 else np.int32  # short numbers are sorted in one pass
    by_colour = np.argsort(colour_of.astype(kind), kind="stable")
    ends = np.cumsum(np.bincount(colour_of, minlength=colouring.count))
    members_by = np.argsort(colouring.colours.astype(kind), kind="stable").astype(np.int32)
    unused = int(np.count_nonzero(colouring.colours < 0))
    member_ends = unused + np.cumsum(np.bincount(colouring.colours[colouring.colours >= 0], minlength=colouring.count))
    first, first_member = 0, unused
    for last, last_member in zip(ends.tolist(), member_ends.tolist(), strict=True):
        entries = left[by_colour[first:last]]
        yield GroupedProduct(axis, members_by[first_member:last_member], entries, other[entries])
        first, first_member = last, last_member


# -- torch's numbers


Multiply = Callable[[Axis, Array], Array]
"""Computes vᵀJ of flat v ("rows"), or Ju of flat u ("columns"), flat over all variables."""


def values_of(
    plan: ProductPlan, multiply: Multiply, dtype: str, done: Callable[[int], None] = lambda count: None
) -> Array:
    """Read all entries from the products.

    Args:
        plan: The products.
        multiply: Computes one.
        dtype: Of the numbers.
        done: Called after each product with the number of those that are done.
    """
    m, n = plan.pattern.shape
    found = np.zeros(plan.pattern.count, dtype)
    for number, one in enumerate(plan.products, 1):
        found[one.entries] = multiply(one.axis, one.seed(m if one.axis == "rows" else n, dtype))[one.places]
        done(number)
    return found


@dataclass(frozen=True)
class ProductGuard:
    """What a product along random weights says of all entries together.

    Attributes:
        column: The column where the product differs most from that of the entries; -1 where there is none.
        excess: How much it differs there, as a multiple of what rounding may leave.
        weights: The random v.
        off: The columns where the product differs by more than that.
        products: Torch's vᵀJ in these columns, and that of the entries.
    """

    column: int
    excess: float
    weights: Array
    off: Flat
    products: tuple[Array, Array]

    @property
    def holds(self) -> bool:
        """Tell whether the entries have the product."""
        return self.excess <= 1


AT_ONCE = 2**18
"""Terms of the product that are summed at once, where there are fewer columns."""

ROUNDINGS = 2.0**12
"""Roundings that each term of the product may have lost, in torch's and in ours: chains of some thousand operations."""


def guard(pattern: SparsityPattern, values: Array, multiply: Multiply, dtype: str) -> ProductGuard:
    """Compare vᵀJ for random v with that of the entries: a dependency that the pattern misses shows there.

    The tolerance of a column follows from the sum of the sizes of its terms, so that cancellation does not matter; a
    column with an entry that is not finite is left out.
    """
    m, n = pattern.shape
    v = np.random.default_rng(1).uniform(0.5, 1.5, m).astype(dtype)
    product = multiply("rows", v).astype(np.float64)
    weights = v.astype(np.float64, copy=False)
    own, sizes = np.zeros(n), np.zeros(n)
    with np.errstate(all="ignore"):
        for first in range(0, pattern.count, step := max(AT_ONCE, n)):
            part = slice(first, first + step)
            columns, terms = pattern.columns[part].astype(np.intp), weights.take(pattern.rows[part])
            terms *= values[part]
            own += np.bincount(columns, terms, n)
            sizes += np.bincount(columns, np.abs(terms, out=terms), n)
        room = ROUNDINGS * float(np.finfo(dtype).eps) * (sizes + _usual(sizes))
        excess = np.where(np.isfinite(own) & np.isfinite(product), abs(product - own) / np.maximum(room, 1e-300), 0.0)
    off = np.flatnonzero(excess > 1)
    compared = weights, off, (product[off], own[off])
    worst = int(excess.argmax()) if excess.any() else -1
    return ProductGuard(worst, float(excess[worst]) if worst >= 0 else 0.0, *compared)


def _usual(sizes: Array) -> float:
    """Return the size of the terms of a usual column, next to which what cancels in others is rounding."""
    known = sizes[np.isfinite(sizes) & (sizes > 0)]
    return float(np.median(known)) if len(known) else 1e-300


class TorchProducts:
    """A Program that torch has run, and products with its Jacobian, or with its Hessian.

    Args:
        forward: The leaves and the output; its gradients can be differentiated again.
        wrt: The variables, in the order of the columns.
        is_second: Whether products are those with the Hessian.
    """

    def __init__(self, forward: Forward, wrt: Sequence[str], *, is_second: bool = False) -> None:
        from gradcli.autodiff._torch import torch
        from gradcli.autodiff.jacobians import gradients

        self._torch, self._gradients = torch, gradients
        self._y = forward.output
        self._leaves = [forward.leaves[name] for name in wrt]
        self._weights: Tensor | None = None
        self._transposed: list[Tensor] = []
        self.gradient: Mapping[str, Array] = {}
        if is_second:
            first = gradients(self._y, self._leaves, torch.ones_like(self._y), differentiable=True)
            self.gradient = {name: one.detach().cpu().numpy() for name, one in zip(wrt, first, strict=True)}
            self._y = torch.cat([one.reshape(-1) for one in first])

    def multiply(self, axis: Axis, seed: Array) -> Array:
        """Compute a product; see `Multiply`."""
        return self._rows(seed) if axis == "rows" else self._columns(seed)

    def _rows(self, v: Array) -> Array:
        weights = self._torch.as_tensor(v, dtype=self._y.dtype, device=self._y.device).view(self._y.shape)
        return self._flat(self._gradients(self._y, self._leaves, weights))

    def _columns(self, u: Array) -> Array:
        """Compute Ju as the derivative of vᵀJ by v, which is linear in v."""
        if self._weights is None:
            self._weights = self._torch.zeros_like(self._y, requires_grad=True)
            self._transposed = self._gradients(self._y, self._leaves, self._weights, differentiable=True)
        weights = self._weights
        starts = np.cumsum([0, *(leaf.numel() for leaf in self._leaves)])
        parts = zip(self._transposed, self._leaves, starts[:-1], starts[1:], strict=True)
        along = [
            (one, self._torch.as_tensor(u[a:b], dtype=leaf.dtype, device=leaf.device).view(leaf.shape))
            for one, leaf, a, b in parts
            if one.requires_grad
        ]
        if not along:
            return np.zeros(self._y.numel(), u.dtype)
        ours, others = [one for one, _ in along], [other for _, other in along]
        found = self._torch.autograd.grad(ours, [weights], others, retain_graph=True, allow_unused=True)
        return np.zeros(self._y.numel(), u.dtype) if found[0] is None else self._flat(found)

    @staticmethod
    def _flat(parts: Sequence[Tensor]) -> Array:
        from gradcli.autodiff.run import derivative_of

        return np.concatenate([derivative_of(one).reshape(-1) for one in parts])

"""One Program at many points: the leading axis of some variables counts points, as in `torch.vmap`.

The points do not depend on each other, so the gradient of a sum over the points is the gradient at every point: one
backward pass for a row of the Jacobian, however many points there are.  A variable that is the same at all points gets
a leaf with one copy a point, so that its derivative is that of each point and no sum over them.  An operation that vmap
cannot do is run point after point, which gives the same numbers.

A stream of points goes block by block through all cores.  A block is small enough for its intermediates to stay in the
cache, which makes many blocks faster than one array.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from threading import Barrier

import numpy as np

from gradcli.autodiff._torch import torch
from gradcli.autodiff.devices import CPU
from gradcli.autodiff.jacobians import fill, gradients
from gradcli.autodiff.run import Forward, Tensor, apply, apply_meaning, array_of, evaluate, output_of, tensor_of
from gradcli.errors import InputError
from gradcli.language.ops import Kind
from gradcli.language.program.expansion import moving_lines
from gradcli.language.program.library_calls import TorchCalls, plain, undifferentiated
from gradcli.language.program.passes import for_torch
from gradcli.language.program.wengert import Atom, Call, Program, Shape
from gradcli.locking import inherited
from gradcli.results import Array

_FEW = 32
"""Most points that are run one by one where all at once fail, to find which of them torch refuses."""

_KEPT = 31 * 2**20
"""Bytes of a buffer: nearly the largest from which glibc adapts its threshold (`M_MMAP_THRESHOLD` in `man mallopt`)."""

MOST_WORKERS = 8
"""Most threads: one thread alone reads and writes the rows, and each block in flight takes memory."""


@dataclass(frozen=True)
class Batch:
    """A Program and its variables, of which some are given at many points.

    Attributes:
        program: For one point.
        inputs: An array per variable; a variable in `mapped` has the points on its first axis.
        mapped: The variables that differ between points.
        wrt: The variables to differentiate by.
        dtype: `float64` or `float32`, of every tensor.
        points: The number of points.
        shape: The shape of y at one point.
        device: Of every tensor.
        live: The function to run in place of the Program at each point: from values and variables to a Forward.
    """

    program: Program
    inputs: Mapping[str, Array]
    mapped: tuple[str, ...]
    wrt: tuple[str, ...]
    dtype: str
    points: int
    shape: Shape
    device: str = CPU
    live: Callable[[Mapping[str, Array], Sequence[str]], Forward] | None = None

    def part(self, first: int, last: int) -> Batch:
        """Return the batch of the points from `first` up to `last`, without `last`."""
        inputs = {name: array[first:last] if name in self.mapped else array for name, array in self.inputs.items()}
        return replace(self, inputs=inputs, points=last - first)

    def inputs_at(self, point: int) -> dict[str, Array]:
        """Return the values of the variables at one point."""
        return {name: array[point] if name in self.mapped else array for name, array in self.inputs.items()}


def block(batch: Batch, into: Sequence[Array]) -> dict[int, InputError]:
    """Compute y and the Jacobian by each variable at all points.

    Args:
        batch: The points.
        into: The arrays to write to: of shape (N, *y.shape), and (N, *y.shape, *x.shape) for each variable.

    Returns:
        The error of each point that torch refuses; the numbers of such a point are NaN.

    >>> from gradcli.language.parsing import parse
    >>> inputs = {"a": np.array(3.0), "x": np.array([1.0, 2.0])}
    >>> block(Batch(parse("a*x**2"), inputs, ("x",), ("x",), "float64", 2, ()), found := [np.empty(2), np.empty(2)])
    {}
    >>> [array.tolist() for array in found]
    [[3.0, 12.0], [6.0, 12.0]]
    """
    refused: dict[int, InputError] = {}
    waiting = [(0, batch.points)] * (batch.points > 0) if batch.live is None else _singly(0, batch.points)
    while waiting:
        first, last = waiting.pop()
        rows, is_alone = slice(first, last), last - first == 1
        try:
            forward = alone(batch, first, batch.wrt) if is_alone else mapped(batch.part(first, last), batch.wrt)
            into[0][rows] = array_of(forward.output)
            leaves = [forward.leaves[name] for name in batch.wrt]
            fill([array[rows] for array in into[1:]], forward.output, leaves, last - first)
        except InputError as error:
            if is_alone:
                refused[first] = error
                for array in into:
                    array[first] = np.nan
            # Few points are run one by one: some operations have no rule under vmap, and a loop over many is too long.
            else:  # bisection: a few refused rows of a large block cost a logarithm of runs, not one each
                middle = (first + last) // 2
                waiting += _singly(first, last) if last - first <= _FEW else [(middle, last), (first, middle)]
    return refused


def _singly(first: int, last: int) -> list[tuple[int, int]]:
    """List points one by one, the first at the end, as on a stack."""
    return [(row, row + 1) for row in reversed(range(first, last))]


def mapped(batch: Batch, wrt: tuple[str, ...]) -> Forward:
    """Run all points in one forward pass, or a single point where no variable of the Program differs between points."""
    program = for_torch(batch.program)
    leaves = {name: _leaf(batch, name, wrt) for name in program.names}
    moving = moving_lines(program, [symbol for symbol in program.variables if str(symbol) in wrt])
    apply_one = partial(_at_each, moving=moving)
    dims = tuple(0 if name in batch.mapped or name in wrt else None for name in leaves)

    def one(*tensors: Tensor) -> Tensor:
        given = dict(zip(leaves, tensors, strict=True))
        values = evaluate(program, given, batch.dtype, by=apply_one, device=batch.device)
        return output_of(program, values, batch.dtype, batch.device)

    if all(dim is None for dim in dims):
        return Forward(leaves, one(*leaves.values()).expand(batch.points, *batch.shape))
    return Forward(leaves, torch.vmap(one, in_dims=dims)(*leaves.values()))


def _at_each(call: Call, values: Mapping[Atom, object], calls: TorchCalls, moving: Collection[Atom]) -> object:
    """Run one operation, with the derivative that it has at one point; vmap hides which tensors need one."""
    if not call.op.is_primitive and not {*undifferentiated(call)}.isdisjoint(moving):
        return apply_meaning(call, [values[a] if a in values else plain(a) for a in call.operands], calls)
    is_over_all = call.op.kind is Kind.DEFINED and call.op.is_extreme and call.statics == (None, False)
    if is_over_all and isinstance(x := values.get(call.operands[0]), torch.Tensor):
        return _shared(call, x)
    return apply(call, values, calls)


def _shared(call: Call, x: Tensor) -> Tensor:
    """Take the largest or smallest of all elements, and share its derivative among the elements that tie.

    So do max and min at one point; vmap takes them along a dimension, where one element gets all of it.  For all other
    elements the derivative is 0, even if the gradient is NaN or infinite; the product with 0 in amax would spread that.
    """
    y = getattr(x.detach(), call.op.name)()
    ties = (x == y) | x.isnan()  # y is NaN if one is
    shares = (torch.where(ties, x, 0) / ties.sum()).sum()
    # The sum of the shares may be off in the last digit, and of -0 is 0: y with the derivative of the shares.
    return torch.where(y.isinf(), shares, y - (shares.detach() - shares))


def _leaf(batch: Batch, name: str, wrt: tuple[str, ...]) -> Tensor:
    """Make the tensor of a variable, with the point axis if it differs between points or is one to differentiate by."""
    tensor = tensor_of(batch.inputs[name], getattr(torch, batch.dtype), batch.device)
    if name in wrt and name not in batch.mapped:
        tensor = tensor.expand(batch.points, *tensor.shape)
    return tensor.requires_grad_(name in wrt)


def alone(batch: Batch, point: int, wrt: tuple[str, ...]) -> Forward:
    """Run one point as a batch of one: y has a first axis of size 1, and so has each leaf of a Program."""
    if batch.live is not None:
        forward = batch.live(batch.inputs_at(point), wrt)
        return Forward(forward.leaves, forward.output[None])
    leaves = {
        name: tensor_of(array[None], getattr(torch, batch.dtype), batch.device).requires_grad_(name in wrt)
        for name, array in batch.inputs_at(point).items()
    }
    program = for_torch(batch.program)
    values = evaluate(program, {name: leaf[0] for name, leaf in leaves.items()}, batch.dtype, device=batch.device)
    return Forward(leaves, output_of(program, values, batch.dtype, batch.device)[None])


def cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def workers(count: int) -> Iterator[Executor]:
    """Open an executor whose threads compute without further threads; tasks not begun are dropped at the end."""
    before = torch.get_num_threads()
    # A large buffer that is freed has the C library of Linux keep the memory of those that follow, which else goes
    # back to the system after each operation and comes again page by page: a third of the time of a block.
    torch.empty(_KEPT, dtype=torch.uint8)
    inherit = inherited()  # for functions of Python that ask gradcli

    def begin() -> None:
        torch.set_num_threads(1)
        inherit()

    pool = ThreadPoolExecutor(count, initializer=begin)
    # All threads are there before one computes: torch must not be told a number of threads while another runs it.
    together = Barrier(count)
    wait([pool.submit(together.wait) for _ in range(count)])
    # Every run of a Program holds warnings back, and threads that do so at once would leave them held back.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield pool
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
            torch.set_num_threads(before)


def along(batch: Batch, directions: Sequence[Mapping[str, Array]], order: int = 1) -> Array:
    """Compute y and its derivatives along each direction at all points, of shape (1 + derivatives, N, elements of y).

    Args:
        batch: The points.
        directions: By variable; each has variables of its own, and together they have those of `batch.wrt`.
        order: The highest derivative: 1, or 2 along the sum of the directions, by differentiating torch's gradients.

    Raises:
        InputError: Torch refuses the points, or cannot differentiate an operation twice.

    >>> from gradcli.language.parsing import parse
    >>> batch = Batch(parse("x**3"), {"x": np.array([1.0, 2.0])}, ("x",), ("x",), "float64", 2, ())
    >>> along(batch, [{"x": np.array(1.0)}], 2)[:, :, 0].tolist()
    [[1.0, 8.0], [3.0, 12.0], [6.0, 12.0]]
    """
    count, u = math.prod(batch.shape), {name: part for direction in directions for name, part in direction.items()}
    if order == 1:
        shapes = [batch.shape, *((*batch.shape, *part.shape) for part in u.values())]
        y, *blocks = [np.empty((batch.points, *shape)) for shape in shapes]
        block(batch, [y, *blocks])
        terms = {name: J.reshape(*y.shape, u[name].size) @ u[name].ravel() for name, J in zip(u, blocks, strict=True)}
        slopes = [sum((terms[name] for name in direction), np.zeros(())) for direction in directions]
        return np.stack([y, *slopes]).reshape(1 + len(slopes), batch.points, count)
    forward = mapped(batch, batch.wrt)
    leaves = [forward.leaves[name] for name in u]
    columns = [[one] for one in forward.output.reshape(batch.points, count).unbind(1)]
    for column in columns:
        for n in range(order):
            total = gradients(column[-1], leaves, torch.ones_like(column[-1]), differentiable=n + 1 < order)
            parts = [one * tensor_of(part, one.dtype, one.device) for one, part in zip(total, u.values(), strict=True)]
            column.append(torch.stack([part.reshape(batch.points, -1).sum(1) for part in parts]).sum(0))
    return np.stack([array_of(torch.stack(rows, 1)) for rows in zip(*columns, strict=True)])


# -- finite differences, to compare with: central ones in float64, the step chosen by its error
#
# D(h) = (f(x+h) - f(x-h))/2h is off by about c·h², as the slope changes along the way, and by about eps·|f|/h, as f is
# rounded.  The two balance near h = eps**(1/3) times the scale on which f changes, which nobody knows: so a few steps
# are tried, and the one with the least estimate is kept.  The estimate knows nothing of digits lost inside of f.
# Source: W. H. Press et al., Numerical Recipes, 3rd edition, section 5.7.


PRODUCT = -1
"""The row that stands for v·y."""

EPSILON = 2.0**-52
"""The distance from 1 to the next float64."""

SCALES = (100.0, 10.0, 1.0, 0.1, 0.01)
"""Steps that are tried, in units of eps**(1/3) times the scale of x."""

SMALL = 0.01
"""An x nearer to 0 than this may be the scale on which f changes; else it is at least 1."""


def difference(
    program: Program, inputs: Mapping[str, Array], cell: tuple[str, int, int], v: Array | None = None, shape: Shape = ()
) -> tuple[float, float] | None:
    """Compute the difference quotient of an entry, and its error, in float64 whatever the inputs' dtype.

    Args:
        program: The function.
        inputs: An array per variable.
        cell: A variable, the flat position of one of its elements, and one in y, or `PRODUCT` for v·y.
        v: The gradient vector, of y's shape.
        shape: The shape of y.

    Returns:
        The quotient and its error; None where f has no finite values around x.

    >>> from gradcli.language.parsing import parse
    >>> quotient, error = difference(parse("x**3"), {"x": np.array(2.0)}, ("x", 0, 0))
    >>> abs(quotient - 12) <= error < 1e-8
    True
    """
    name, position, row = cell
    exact = {name: np.asarray(array, dtype=np.float64) for name, array in inputs.items()}
    x = float(exact[name].ravel()[position])
    scales = [max(1.0, abs(x)), *([abs(x)] if 0 < abs(x) < SMALL else [])]
    best = math.nan, math.inf
    for h in (EPSILON ** (1 / 3) * scale * factor for scale in scales for factor in SCALES):
        with np.errstate(all="ignore"):
            at = x + np.array([h, -h, h / 2, -h / 2])
            moved = np.repeat(exact[name][None], 4, axis=0)
            moved.reshape(4, -1)[:, position] = at
            y = np.empty((4, *shape))
            block(Batch(program, {**exact, name: moved}, (name,), (), "float64", 4, shape), [y])
            f = y.reshape(4, -1)[:, row]
            if row == PRODUCT and v is not None:  # a weight of 0 leaves out an element that is not finite
                f = (v.ravel() * y.reshape(4, -1))[:, v.ravel() != 0].sum(axis=1)
            # Two steps, as x moves when rounded: their difference estimates the truncation, eps*|f|/h the rounding.
            wide, narrow = ((f[n] - f[n + 1]) / (at[n] - at[n + 1]) for n in (0, 2))
            error = abs(wide - narrow) + EPSILON * np.abs(f[2:]).max() / (h / 2)
        best = (float(narrow), float(error)) if error < best[1] else best
    return best if math.isfinite(best[1]) else None

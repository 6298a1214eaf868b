"""Operations that put elements elsewhere, and constant tensors.

Where each element of a list, a view, an index or a shift comes from is in `gradcli.language.program.movement`; the
numbers of constant tensors are NumPy's in float64, the same for every reading: `gradcli.language.program.numeric`.

Numbers that a text draws, as `torch.randn(3)` does, have no name in the language: they are drawn where it is read.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from gradcli.language.ops.row import Constants, Kind, Shapes, known, row

_movement = partial(known, kind=Kind.MOVEMENT)
_source = partial(row, kind=Kind.SOURCE)

_SEEDED = "NumPy's generator with this seed; torch.randn(3) and np.random.rand(3) draw what the library draws"

LISTS = (
    known(
        "stack(tensors, dim=0)",
        "the expressions of a list along a new dimension, the first by default",
        kind=Kind.LIST,
        caveat="[a, b] is stack([a, b]); in a list, scalars stretch to their siblings' shape",
        notation=("[a, b]",),
        example="stack([x, 2*x]) at x=1,2",
    ),
    known(
        "cat|concat|concatenate(tensors, dim=0)",
        "the tensors of a list one after the other along a dimension, the first by default",
        kind=Kind.LIST,
        example="cat([x, x**2]) at x=1,2",
    ),
)


def _appended(constants: Constants) -> str:
    axis = constants["axis"]
    return "cat([flatten(a), flatten(b)])" if axis is None else f"cat([a, b], {axis})"


def _over_all(name: str, step: int) -> Callable[[Constants, Shapes], str]:
    """NumPy's movements, which are over all dimensions where none are given."""

    def written(constants: Constants, shapes: Shapes) -> str:
        dims = constants["dims"]
        return f"{name}(x, {tuple(range(len(shapes[0])))[::step] if dims is None else dims})"

    return written


OF_NUMPY = (
    row(
        "appended|.append(a, b, axis=None)",
        "b after a, both flattened, or along a dimension: NumPy's append",
        "cat([a, b])",
        written=_appended,
        kind=Kind.DEFINED,
        example="appended(a, b) at a=1,2 b=3",
    ),
    row(
        "permute_axes(x, dims=None)",
        "the dimensions in reverse order, or in another one: NumPy's transpose",
        "permute(x, dims)",
        written=_over_all("permute", -1),
        kind=Kind.DEFINED,
        example="permute_axes(x) at x=[[1,2,3],[4,5,6]]",
    ),
    row(
        "flip_axes(x, dims=None)",
        "the order of elements reversed along all dimensions, or along dims: NumPy's flip",
        "flip(x, dims)",
        written=_over_all("flip", 1),
        kind=Kind.DEFINED,
        example="flip_axes(x) at x=[[1,2],[3,4]]",
    ),
)

POSITIONS = (
    known(
        "one_hot(index!, num_classes=)",
        "for each whole number a row with 1 at its place, 0 elsewhere",
        "where(unsqueeze(index, -1) == arange(num_classes), 1, 0)",
        torch="nn.functional.one_hot",
        kind=Kind.DEFINED,
        example="one_hot([2, 0], 3)*x at x=5",
    ),
)

MOVEMENTS = (
    known(
        "windows|.unfold(x, dim=, size=, step=1, dilation=1)",
        "the windows of size elements along dim, from step to step, as a new last dimension",
        torch="",
        kind=Kind.MOVEMENT,
        caveat="x.unfold(dim, size, step) of torch, not F.unfold; dilation is from one element of a window to the next",
        example="windows(x, 0, 2) at x=1,2,3",
    ),
    _movement(
        "index(x, key=)",
        "elements chosen by constant indices, slices, lists and masks, x[key]",
        torch="",
        example="x[1:] at x=1,2,3",
    ),
    _movement(
        "transpose|swapaxes|.t(x, dim0=None, dim1=None)",
        "two dimensions swapped; x.T, x.t() and transpose(x) swap the two of a matrix",
        torch="",
        notation=("x.T", "x.mT"),
        example="A.T at A=[[1,2,3],[4,5,6]]",
    ),
    _movement(
        "permute(x, dims=)", "the dimensions in another order", example="permute(x, 1, 0) at x=[[1,2,3],[4,5,6]]"
    ),
    _movement(
        "reshape|view(x, shape=)",
        "the same elements in row-major order in another shape; one size may be -1",
        example="x.view(2, 2) at x=1,2,3,4",
    ),
    _movement(
        "flatten|ravel(x, start_dim=0, end_dim=-1)",
        "the dimensions from start_dim to end_dim joined into one",
        example="flatten(x) at x=[[1,2],[3,4]]",
    ),
    _movement(
        "squeeze(x, dim=None)",
        "without the dimensions of size 1, or without dim if it has size 1",
        example="squeeze(x) at x=[[1,2]]",
    ),
    _movement(
        "unsqueeze|expand_dims(x, dim=)",
        "with a new dimension of size 1 before dim",
        example="unsqueeze(x, 1) at x=1,2",
    ),
    _movement(
        "expand|broadcast_to(x, shape=)",
        "sizes of 1 stretched to a shape; -1 keeps a size",
        torch="Tensor.expand",
        example="expand(x, 2, 3) at x=1,2,3",
    ),
    _movement("flip(x, dims=)", "the order of elements reversed along dimensions", example="flip(x, 0) at x=1,2,3"),
    _movement(
        "roll(x, shifts=, dims=None)",
        "elements shifted along dims, those pushed out coming back in; without dims, of the flattened tensor",
        example="roll(x, 1, 0) at x=1,2,3",
    ),
    _movement(
        "pad(x, pad=, mode=constant, value=0)",
        "with value before and after: pad=(left, right) of the last dimension, then of the one before it",
        torch="nn.functional.pad",
        caveat="torch's order of the pairs, not NumPy's; other modes than 'constant' are pad_with_elements",
        example="pad(x, (1, 2)) at x=1,2",
    ),
    _movement(
        "diag(x, diagonal=0)",
        "a vector as the diagonal of a matrix; of a matrix, its diagonal",
        example="diag(x) at x=1,2",
    ),
    _movement(
        "diagonal(x, offset=0, dim1=0, dim2=1)",
        "the diagonal of two dimensions as a new last one",
        example="diagonal(x) at x=[[1,2],[3,4]]",
    ),
    _movement(
        "tril(x, diagonal=0)",
        "zeros above the diagonal of the last two dimensions",
        example="tril(x) at x=[[1,2],[3,4]]",
    ),
    _movement(
        "triu(x, diagonal=0)",
        "zeros below the diagonal of the last two dimensions",
        example="triu(x) at x=[[1,2],[3,4]]",
    ),
)

COUNTS = (
    row(
        "count|numel|.size|.nelement(x, dim=None)",
        "the number of elements, or the size of a dimension: x.numel(), x.size(0), x.shape[0], len(x)",
        kind=Kind.COUNT,
        notation=("x.shape[dim]", "len(x)"),
        example="x.sum()/x.numel() at x=1,2,3",
    ),
)

SOURCES = (
    _source(
        "linspace(start=, end=, steps=)",
        "evenly spaced numbers, both ends included",
        example="linspace(0, 1, 5)*x at x=2",
    ),
    _source("arange(start=, end=None, step=1)", "start, start + step, ... below end", example="arange(4)*x at x=2"),
    _source("zeros|.empty|.new_zeros|.new_empty(shape=)", "zeros of a shape", example="x + zeros(2, 2) at x=1"),
    _source("ones|.new_ones(shape=)", "ones of a shape", example="x*ones(2, 2) at x=3"),
    _source(
        "full|.new_full(shape=, fill_value=)",
        "one number in every element of a shape",
        example="x*full((2,), 0.5) at x=3",
    ),
    _source("eye(n=, m=None)", "the identity matrix", example="x*eye(2) at x=3"),
    _source("randn(shape=, seed=0)", "normal random numbers", caveat=_SEEDED, example="x*randn(2, seed=0) at x=3"),
    _source("rand(shape=, seed=0)", "random numbers from 0 to 1", caveat=_SEEDED, example="x*rand(2, seed=0) at x=3"),
)

DRAWN = (_source("drawn(shape=, numbers=)", "numbers that code draws at random"),)

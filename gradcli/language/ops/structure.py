"""Operations that put elements elsewhere, and constant tensors.

The source of each element of a list, a view, an index or a shift is in `gradcli.language.program.movement`; the
numbers of constant tensors are NumPy's in float64, the same for every reading: `gradcli.language.program.numeric`.

Numbers that a text draws, as `torch.randn(3)` does, have no name in the language: they are drawn where it is read.
"""

from __future__ import annotations

from collections.abc import Callable

from gradcli.language.ops.row import Constants, Shapes, read

_SEEDED = "NumPy's generator with this seed; torch.randn(3) and np.random.rand(3) draw what the library draws"


def _appended(constants: Constants) -> str:
    axis = constants["axis"]
    return "cat([flatten(a), flatten(b)])" if axis is None else f"cat([a, b], {axis})"


def _over_all(name: str, step: int) -> Callable[[Constants, Shapes], str]:
    """Make the writer of a movement of NumPy, which is over all dimensions where none are given."""

    def write(constants: Constants, shapes: Shapes) -> str:
        dims = constants["dims"]
        return f"{name}(x, {tuple(range(len(shapes[0])))[::step] if dims is None else dims})"

    return write


DRAWN = "numbers that code draws"
"""Group of the rows without a name to type."""

_permuted, _flipped = _over_all("permute", -1), _over_all("flip", 1)

ROWS = read(
    f"""
== lists  kind: list  torch: *  at x=1,2
stack(tensors, dim=0)  the expressions of a list along a new dimension, the first by default  notation: [a, b]
    caveat: [a, b] is stack([a, b]); in a list, scalars stretch to their siblings' shape  e.g. stack([x, 2*x])
cat|concat|concatenate(tensors, dim=0)
    the tensors of a list one after the other along a dimension, the first by default
== of NumPy  kind: defined  at x=[[1,2,3],[4,5,6]] a=1,2 b=3
appended|.append(a, b, axis=None)  b after a, both flattened, or along a dimension: NumPy's append  = cat([a, b])
    written: _appended
permute_axes(x, dims=None)  the dimensions in reverse order, or in another one: NumPy's transpose  = permute(x, dims)
    written: _permuted
flip_axes(x, dims=None)  the order of elements reversed along all dimensions, or along dims: NumPy's flip
    = flip(x, dims)  written: _flipped
== at positions  kind: defined  torch: nn.functional.*
one_hot(index!, num_classes=)  for each whole number a row with 1 at its place, 0 elsewhere
    = where(unsqueeze(index, -1) == arange(num_classes), 1, 0)
    e.g. one_hot([2, 0], 3)*x at x=5
== views and shifts  kind: movement  torch: *  at x=1,2,3,4 A=[[1,2],[3,4]]
windows|.unfold(x, dim=, size=, step=1, dilation=1)
    the windows of size elements along dim, from step to step, as a new last dimension  torch: none
    caveat: x.unfold(dim, size, step) of torch, not F.unfold; dilation is from one element of a window to the next
    e.g. windows(x, 0, 2)
index(x, key=)  elements chosen by constant indices, slices, lists and masks, x[key]  torch: none  e.g. x[1:]
transpose|swapaxes|.t(x, dim0=None, dim1=None)
    two dimensions swapped; x.T, x.t() and transpose(x) swap the two of a matrix  torch: none  notation: x.T; x.mT
    e.g. A.T
permute(x, dims=)  the dimensions in another order  e.g. permute(A, 1, 0)
reshape|view(x, shape=)  the same elements in row-major order in another shape; one size may be -1  e.g. x.view(2, 2)
flatten|ravel(x, start_dim=0, end_dim=-1)  the dimensions from start_dim to end_dim joined into one  e.g. flatten(A)
squeeze(x, dim=None)  without the dimensions of size 1, or without dim if it has size 1  at x=[[1,2]]
unsqueeze|expand_dims(x, dim=)  with a new dimension of size 1 before dim  e.g. unsqueeze(x, 1)
expand|broadcast_to(x, shape=)  sizes of 1 stretched to a shape; -1 keeps a size  torch: Tensor.*  e.g. expand(x, 2, 4)
flip(x, dims=)  the order of elements reversed along dimensions  e.g. flip(x, 0)
roll(x, shifts=, dims=None)
    elements shifted along dims, those pushed out coming back in; without dims, of the flattened tensor
    e.g. roll(x, 1, 0)
pad(x, pad=, mode=constant, value=0)
    with value before and after: pad=(left, right) of the last dimension, then of the one before it
    torch: nn.functional.*
    caveat: torch's order of the pairs, not NumPy's; other modes than 'constant' are pad_with_elements
    e.g. pad(x, (1, 2))
diag(x, diagonal=0)  a vector as the diagonal of a matrix; of a matrix, its diagonal
diagonal(x, offset=0, dim1=0, dim2=1)  the diagonal of two dimensions as a new last one  e.g. diagonal(A)
tril(x, diagonal=0)  zeros above the diagonal of the last two dimensions  e.g. tril(A)
triu(x, diagonal=0)  zeros below the diagonal of the last two dimensions  e.g. triu(A)
== sizes  kind: count
count|numel|.size|.nelement(x, dim=None)
    the number of elements, or the size of a dimension: x.numel(), x.size(0), x.shape[0], len(x)
    notation: x.shape[dim]; len(x)
    e.g. x.sum()/x.numel() at x=1,2,3
== constant tensors  kind: source  at x=3
linspace(start=, end=, steps=)  evenly spaced numbers, both ends included  e.g. linspace(0, 1, 5)*x
arange(start=, end=None, step=1)  start, start + step, ... below end  e.g. arange(4)*x
zeros|.empty|.new_zeros|.new_empty(shape=)  zeros of a shape  e.g. x + zeros(2, 2)
ones|.new_ones(shape=)  ones of a shape  e.g. x*ones(2, 2)
full|.new_full(shape=, fill_value=)  one number in every element of a shape  e.g. x*full((2,), 0.5)
eye(n=, m=None)  the identity matrix  e.g. x*eye(2)
randn(shape=, seed=0)  normal random numbers  caveat: {_SEEDED}  e.g. x*randn(2, seed=0)
rand(shape=, seed=0)  random numbers from 0 to 1  caveat: {_SEEDED}  e.g. x*rand(2, seed=0)
== {DRAWN}  kind: source
drawn(shape=, numbers=)  numbers that code draws at random
""",
    globals(),
)

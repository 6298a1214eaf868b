"""Operations that put elements elsewhere, and constant tensors.

Where each element of a list, a view, an index or a shift comes from is in `gradcli.language.program.movement`; the
numbers of constant tensors are NumPy's in float64, the same for every reading: `gradcli.language.program.numeric`.

Numbers that a text draws, as `torch.randn(3)` does, have no name in the language: they are drawn where it is read.
"""

from __future__ import annotations

from gradcli.language.ops.row import Kind, Op, known, row


def _movement(signature: str, doc: str, **facts: object) -> Op:
    return known(signature, doc, "", **{"kind": Kind.MOVEMENT, "keeps_order": False, **facts})


def _source(signature: str, doc: str, **facts: object) -> Op:
    return row(signature, doc, "", **{"kind": Kind.SOURCE, "is_exact": True, **facts})


def _written(signature: str, doc: str, meaning: str, **facts: object) -> Op:
    return known(signature, doc, meaning, **{"kind": Kind.WRITTEN, **facts})


_SEEDED = "NumPy's generator with this seed; torch.randn(3) and np.random.rand(3) draw what the library draws"

LISTS = (
    known(
        "stack(tensors, dim=0)",
        "the expressions of a list along a new dimension, the first by default",
        kind=Kind.LIST,
        adds_dimension=True,
        variadic=True,
        caveat="[a, b] is stack([a, b]); in a list, scalars stretch to their siblings' shape",
        notation=("[a, b]",),
        example="stack([x, 2*x]) at x=1,2",
    ),
    known(
        "cat|concat|concatenate(tensors, dim=0)",
        "the tensors of a list one after the other along a dimension, the first by default",
        kind=Kind.LIST,
        adds_dimension=False,
        variadic=True,
        example="cat([x, x**2]) at x=1,2",
    ),
)

_PARTS = ("...",)

PARTS = (
    _written(
        "chunk|unsafe_chunk(x, chunks=, dim=0)",
        "so many pieces of one size along a dimension, the last one smaller if it must be",
        "x cut along dim",
        parts=_PARTS,
        example="chunk(x, 2)[1] at x=1,2,3,4,5",
    ),
    _written(
        "split|split_with_sizes|unsafe_split(x, split_size=, dim=0)",
        "pieces of one size along a dimension, or of the sizes that are listed",
        "x cut along dim",
        parts=_PARTS,
        caveat="np.split(x, n) makes n equal pieces, as in NumPy",
        example="split(x, (1, 3))[1] at x=1,2,3,4",
    ),
    _written(
        "tensor_split|array_split(x, sections=, dim=0)",
        "so many pieces of about one size, or those between the places that are listed",
        "x cut along dim",
        parts=_PARTS,
        example="tensor_split(x, 2)[0] at x=1,2,3,4,5",
    ),
    _written(
        "hsplit(x, sections=)",
        "pieces along the second dimension; of a vector, along its own",
        "x cut along dimension 1",
        parts=_PARTS,
        example="hsplit(x, 2)[1] at x=1,2,3,4",
    ),
    _written(
        "vsplit(x, sections=)",
        "pieces along the first dimension of a matrix",
        "x cut along dimension 0",
        parts=_PARTS,
        example="vsplit(x, 2)[1] at x=[[1,2],[3,4]]",
    ),
    _written(
        "dsplit(x, sections=)",
        "pieces along the third dimension",
        "x cut along dimension 2",
        parts=_PARTS,
        example="dsplit(x, 2)[1] at x=[[[1,2],[3,4]]]",
    ),
    _written(
        "unbind|unstack(x, dim=0)",
        "the slices along a dimension, which they lack",
        "x[0], x[1], and so on along dim",
        parts=_PARTS,
        torch="unbind",
        example="unbind(x)[1] at x=[[1,2],[3,4]]",
    ),
)

JOINED = (
    _written(
        "hstack(tensors)",
        "tensors beside each other: along the second dimension, vectors along their own",
        "cat(tensors, 1)",
        variadic=True,
        example="hstack([x, x**2]) at x=1,2",
    ),
    _written(
        "vstack|row_stack(tensors)",
        "tensors below each other, vectors as rows",
        "cat(tensors, 0)",
        variadic=True,
        example="vstack([x, x**2]) at x=1,2",
    ),
    _written(
        "dstack(tensors)",
        "tensors behind each other, along the third dimension",
        "cat(tensors, 2)",
        variadic=True,
        example="dstack([x, x**2]) at x=1,2",
    ),
    _written(
        "column_stack(tensors)",
        "vectors as the columns of a matrix; matrices beside each other",
        "cat(tensors, 1)",
        variadic=True,
        example="column_stack([x, x**2]) at x=1,2",
    ),
    _written(
        "block_diag(operands)",
        "matrices along the diagonal of one, zeros elsewhere",
        "each matrix with zeros beside it, below each other",
        variadic=True,
        example="block_diag([x, x**2]) at x=[[1,2],[3,4]]",
    ),
    _written(
        "meshgrid(operands, indexing=ij)",
        "for vectors a tensor each, in which it is repeated along the dimensions of the others",
        "each vector along a dimension of its own, expanded to the common shape",
        elsewhere={"numpy": {"indexing": "xy"}},
        variadic=True,
        parts=_PARTS,
        caveat="indexing='ij' by default as in torch, 'xy' behind np.",
        example="meshgrid([x, y])[0] at x=1,2 y=3,4,5",
    ),
    _written(
        "broadcast_tensors(operands)",
        "tensors expanded to their common shape",
        "expand(each, the common shape)",
        variadic=True,
        parts=_PARTS,
        example="broadcast_tensors([x, y])[0] at x=1,2 y=[[3],[4]]",
    ),
    _written(
        "cartesian_prod(operands)",
        "all combinations of the elements of vectors, as rows",
        "each vector repeated for the elements of the others, stacked as columns",
        variadic=True,
        example="cartesian_prod([x, y]) at x=1,2 y=3,4,5",
    ),
    _written(
        "combinations(x, r=2, with_replacement=False)",
        "all choices of r elements of a vector, as rows",
        "take(x, the choices of r positions)",
        example="combinations(x) at x=1,2,3",
    ),
    _written(
        "appended(a, b, dim=None)",
        "b behind a, both flattened, or along a dimension: NumPy's append",
        "cat([a, b])",
        torch="",
        qualified=("append",),
        example="appended(a, b) at a=1,2 b=3",
    ),
    _written(
        "repeat(x, sizes=)",
        "each dimension repeated so many times, one whole after the other",
        "x expanded along new dimensions and reshaped",
        torch="Tensor.repeat",
        caveat="np.repeat is repeat_interleave, as in NumPy",
        example="repeat(x, 2, 2) at x=1,2,3",
    ),
    _written(
        "tile(x, dims=)",
        "each dimension repeated so many times; fewer numbers are those of the last dimensions",
        "x expanded along new dimensions and reshaped",
        example="tile(x, 2) at x=1,2,3",
    ),
    _written(
        "repeat_interleave(x, repeats=, dim=None)",
        "each element repeated so many times; without dim, of the flattened tensor",
        "x expanded along a new dimension behind dim, and joined with it",
        example="repeat_interleave(x, 2) at x=1,2,3",
    ),
    _written(
        "atleast_1d(operands)",
        "a number as a vector; others stay",
        "reshape(x, 1)",
        example="cat([atleast_1d(x), y]) at x=2 y=3,4",
        variadic=True,
    ),
    _written(
        "atleast_2d(operands)",
        "a vector as a row; matrices stay",
        "x[None]",
        example="atleast_2d(x) at x=1,2",
        variadic=True,
    ),
    _written(
        "atleast_3d(operands)",
        "a matrix with a new last dimension, a vector between two new ones",
        "x[..., None]",
        example="atleast_3d(x) at x=1,2",
        variadic=True,
    ),
)

MOVEMENTS = (
    known(
        "windows(x, dim=, size=, step=1, dilation=1)",
        "the windows of size elements along dim, from step to step, as a new last dimension",
        torch="",
        qualified=("unfold",),
        kind=Kind.MOVEMENT,
        keeps_order=False,
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
        "transpose|swapaxes(x, dim0=None, dim1=None)",
        "two dimensions swapped; x.T, x.t() and transpose(x) swap the two of a matrix",
        qualified=("t",),
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
        keeps_order=True,
        example="x.view(2, 2) at x=1,2,3,4",
    ),
    _movement(
        "flatten|ravel(x, start_dim=0, end_dim=-1)",
        "the dimensions from start_dim to end_dim joined into one",
        keeps_order=True,
        example="flatten(x) at x=[[1,2],[3,4]]",
    ),
    _movement(
        "squeeze(x, dim=None)",
        "without the dimensions of size 1, or without dim if it has size 1",
        keeps_order=True,
        example="squeeze(x) at x=[[1,2]]",
    ),
    _movement(
        "unsqueeze|expand_dims(x, dim=)",
        "with a new dimension of size 1 before dim",
        keeps_order=True,
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
        "count|numel(x, dim=None)",
        "the number of elements, or the size of a dimension: x.numel(), x.size(0), x.shape[0], len(x)",
        qualified=("size", "nelement"),
        kind=Kind.COUNT,
        notation=("x.shape[dim]", "len(x)"),
        example="x.sum()/x.numel() at x=1,2,3",
    ),
)

SOURCES = (
    _source(
        "linspace(start=, end=, steps=)",
        "evenly spaced numbers, both ends included",
        is_exact=False,
        elsewhere={"numpy": {"steps": 50}},
        example="linspace(0, 1, 5)*x at x=2",
    ),
    _written(
        "logspace(start=, end=, steps=, base=10)",
        "powers of base, the exponents evenly spaced, both ends included",
        "base**linspace(start, end, steps)",
        torch="",
        elsewhere={"numpy": {"steps": 50}},
        example="logspace(0, 2, 3)*x at x=2",
    ),
    _source("arange(start=, end=None, step=1)", "start, start + step, ... below end", example="arange(4)*x at x=2"),
    _source(
        "zeros(shape=)",
        "zeros of a shape",
        example="x + zeros(2, 2) at x=1",
        qualified=("empty", "new_zeros", "new_empty"),
    ),
    _source("ones(shape=)", "ones of a shape", example="x*ones(2, 2) at x=3", qualified=("new_ones",)),
    _source(
        "full(shape=, fill_value=)",
        "one number in every element of a shape",
        qualified=("new_full",),
        example="x*full((2,), 0.5) at x=3",
    ),
    _source("eye(n=, m=None)", "the identity matrix", example="x*eye(2) at x=3"),
    _source(
        "randn(shape=, seed=0)",
        "normal random numbers",
        is_exact=False,
        caveat=_SEEDED,
        example="x*randn(2, seed=0) at x=3",
    ),
    _source(
        "rand(shape=, seed=0)",
        "random numbers from 0 to 1",
        is_exact=False,
        caveat=_SEEDED,
        example="x*rand(2, seed=0) at x=3",
    ),
)

DRAWN = (_source("drawn(shape=, numbers=)", "numbers that code draws at random", is_exact=False),)

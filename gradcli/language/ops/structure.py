"""Operations that put elements elsewhere, and constant tensors.

The source of each element of a list, a view, an index or a shift is in `gradcli.language.program.movement`; the
numbers of constant tensors are NumPy's in float64, the same for every reading: `gradcli.language.program.numeric`.

Numbers that a text draws, as `torch.randn(3)` does, have no name in the language: they are drawn where it is read.
"""

from __future__ import annotations

from collections.abc import Callable

from gradcli.language.ops.row import BY_TORCH, Kind, Op
from gradcli.language.ops.signature import Constant, Constants, Operand, Shapes

OPAQUE, MEASURED = "opaque", "measured"
"""Names of rows: of a call that cannot be read, and of numbers known to within an error."""

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


_permuted, _flipped = _over_all("permute", -1), _over_all("flip", 1)

LISTS: tuple[Op, ...] = (
    Op(
        "stack",
        ("tensors", Constant("dim", 0)),
        "the expressions of a list along a new dimension, the first by default",
        kind=Kind.LIST,
        torch="stack",
        caveat="[a, b] is stack([a, b]); in a list, scalars stretch to their siblings' shape",
        notation=("[a, b]",),
        example="stack([x, 2*x])",
        at={"x": "1,2"},
    ),
    Op(
        "cat",
        ("tensors", Constant("dim", 0)),
        "the tensors of a list one after the other along a dimension, the first by default",
        aliases=("concat", "concatenate"),
        kind=Kind.LIST,
        torch="cat",
        at={"x": "1,2"},
    ),
)

OF_NUMPY: tuple[Op, ...] = (
    Op(
        "appended",
        ("a", "b", Constant("axis", None)),
        "b after a, both flattened, or along a dimension: NumPy's append",
        after_dot=("append",),
        kind=Kind.DEFINED,
        meaning="cat([a, b])",
        written=_appended,
        at={"a": "1,2", "b": "3"},
    ),
    Op(
        "permute_axes",
        ("x", Constant("dims", None)),
        "the dimensions in reverse order, or in another one: NumPy's transpose",
        kind=Kind.DEFINED,
        meaning="permute(x, dims)",
        written=_permuted,
        at={"x": "[[1,2,3],[4,5,6]]"},
    ),
    Op(
        "flip_axes",
        ("x", Constant("dims", None)),
        "the order of elements reversed along all dimensions, or along dims: NumPy's flip",
        kind=Kind.DEFINED,
        meaning="flip(x, dims)",
        written=_flipped,
        at={"x": "[[1,2,3],[4,5,6]]"},
    ),
)

AT_POSITIONS: tuple[Op, ...] = (
    Op(
        "elements_at",
        ("x", Operand("index", whole_number=True), Constant("dim", 0), Constant("count", 1)),
        "the elements, or slices, of a dimension at positions that are values, x[index]",
        kind=Kind.GATHER,
        caveat="of count dimensions from dim on, index is the stack of the positions in each",
        notation=("x[index]",),
        example="elements_at(x, [2, 0, 2])",
        at={"x": "1,2,3"},
    ),
    Op(
        "sums_at",
        ("x", Operand("index", whole_number=True), Constant("dim"), Constant("sizes")),
        "the elements, or slices, added up at positions of a dimension of a size; elsewhere is 0",
        kind=Kind.SCATTER,
        adds_terms=True,
        caveat="of several sizes, index is the stack of the positions in each dimension",
        example="sums_at(x, [3, 0, 3], 0, 4)",
        at={"x": "1,2,3"},
    ),
    Op(
        "one_hot",
        (Operand("index", whole_number=True), Constant("num_classes")),
        "for each whole number a row with 1 at its place, 0 elsewhere",
        kind=Kind.DEFINED,
        meaning="where(unsqueeze(index, -1) == arange(num_classes), 1, 0)",
        torch="nn.functional.one_hot",
        example="one_hot([2, 0], 3)*x",
        at={"x": "5"},
    ),
)

VIEWS_AND_SHIFTS: tuple[Op, ...] = (
    Op(
        "windows",
        ("x", Constant("dim"), Constant("size"), Constant("step", 1), Constant("dilation", 1)),
        "the windows of size elements along dim, from step to step, as a new last dimension",
        after_dot=("unfold",),
        kind=Kind.MOVEMENT,
        caveat=(
            "x.unfold(dim, size, step) of torch, not F.unfold; dilation is from one element of a window to the next"
        ),
        example="windows(x, 0, 2)",
        at={"x": "1,2,3,4"},
    ),
    Op(
        "index",
        ("x", Constant("key")),
        "elements chosen by constant indices, slices, lists and masks, x[key]",
        kind=Kind.MOVEMENT,
        example="x[1:]",
        at={"x": "1,2,3,4"},
    ),
    Op(
        "transpose",
        ("x", Constant("dim0", None), Constant("dim1", None)),
        "two dimensions swapped; x.T, x.t() and transpose(x) swap the two of a matrix",
        aliases=("swapaxes",),
        after_dot=("t",),
        kind=Kind.MOVEMENT,
        notation=("x.T", "x.mT"),
        example="A.T",
        at={"A": "[[1,2],[3,4]]"},
    ),
    Op(
        "permute",
        ("x", Constant("dims")),
        "the dimensions in another order",
        kind=Kind.MOVEMENT,
        torch="permute",
        example="permute(A, 1, 0)",
        at={"A": "[[1,2],[3,4]]"},
    ),
    Op(
        "reshape",
        ("x", Constant("shape")),
        "the same elements in row-major order in another shape; one size may be -1",
        aliases=("view",),
        kind=Kind.MOVEMENT,
        torch="reshape",
        example="x.view(2, 2)",
        at={"x": "1,2,3,4"},
    ),
    Op(
        "flatten",
        ("x", Constant("start_dim", 0), Constant("end_dim", -1)),
        "the dimensions from start_dim to end_dim joined into one",
        aliases=("ravel",),
        kind=Kind.MOVEMENT,
        torch="flatten",
        example="flatten(A)",
        at={"A": "[[1,2],[3,4]]"},
    ),
    Op(
        "squeeze",
        ("x", Constant("dim", None)),
        "without the dimensions of size 1, or without dim if it has size 1",
        kind=Kind.MOVEMENT,
        torch="squeeze",
        at={"x": "[[1,2]]"},
    ),
    Op(
        "unsqueeze",
        ("x", Constant("dim")),
        "with a new dimension of size 1 before dim",
        aliases=("expand_dims",),
        kind=Kind.MOVEMENT,
        torch="unsqueeze",
        example="unsqueeze(x, 1)",
        at={"x": "1,2,3,4"},
    ),
    Op(
        "expand",
        ("x", Constant("shape")),
        "sizes of 1 stretched to a shape; -1 keeps a size",
        aliases=("broadcast_to",),
        kind=Kind.MOVEMENT,
        torch="Tensor.expand",
        example="expand(x, 2, 4)",
        at={"x": "1,2,3,4"},
    ),
    Op(
        "flip",
        ("x", Constant("dims")),
        "the order of elements reversed along dimensions",
        kind=Kind.MOVEMENT,
        torch="flip",
        example="flip(x, 0)",
        at={"x": "1,2,3,4"},
    ),
    Op(
        "roll",
        ("x", Constant("shifts"), Constant("dims", None)),
        ("elements shifted along dims, those pushed out coming back in; without dims, of the flattened tensor"),
        kind=Kind.MOVEMENT,
        torch="roll",
        example="roll(x, 1, 0)",
        at={"x": "1,2,3,4"},
    ),
    Op(
        "pad",
        ("x", Constant("pad"), Constant("mode", "constant"), Constant("value", 0)),
        "with value before and after: pad=(left, right) of the last dimension, then of the one before it",
        kind=Kind.MOVEMENT,
        torch="nn.functional.pad",
        caveat="torch's order of the pairs, not NumPy's; other modes than 'constant' are pad_with_elements",
        example="pad(x, (1, 2))",
        at={"x": "1,2,3,4"},
    ),
    Op(
        "diag",
        ("x", Constant("diagonal", 0)),
        "a vector as the diagonal of a matrix; of a matrix, its diagonal",
        kind=Kind.MOVEMENT,
        torch="diag",
        at={"x": "1,2,3,4"},
    ),
    Op(
        "diagonal",
        ("x", Constant("offset", 0), Constant("dim1", 0), Constant("dim2", 1)),
        "the diagonal of two dimensions as a new last one",
        kind=Kind.MOVEMENT,
        torch="diagonal",
        example="diagonal(A)",
        at={"A": "[[1,2],[3,4]]"},
    ),
    Op(
        "tril",
        ("x", Constant("diagonal", 0)),
        "zeros above the diagonal of the last two dimensions",
        kind=Kind.MOVEMENT,
        torch="tril",
        example="tril(A)",
        at={"A": "[[1,2],[3,4]]"},
    ),
    Op(
        "triu",
        ("x", Constant("diagonal", 0)),
        "zeros below the diagonal of the last two dimensions",
        kind=Kind.MOVEMENT,
        torch="triu",
        example="triu(A)",
        at={"A": "[[1,2],[3,4]]"},
    ),
)

SIZES: tuple[Op, ...] = (
    Op(
        "count",
        ("x", Constant("dim", None)),
        "the number of elements, or the size of a dimension: x.numel(), x.size(0), x.shape[0], len(x)",
        aliases=("numel",),
        after_dot=("size", "nelement"),
        kind=Kind.COUNT,
        notation=("x.shape[dim]", "len(x)"),
        example="x.sum()/x.numel()",
        at={"x": "1,2,3"},
    ),
)

CONSTANT_TENSORS: tuple[Op, ...] = (
    Op(
        "linspace",
        (Constant("start"), Constant("end"), Constant("steps")),
        "evenly spaced numbers, both ends included",
        kind=Kind.SOURCE,
        example="linspace(0, 1, 5)*x",
        at={"x": "3"},
    ),
    Op(
        "arange",
        (Constant("start"), Constant("end", None), Constant("step", 1)),
        "start, start + step, ... below end",
        kind=Kind.SOURCE,
        example="arange(4)*x",
        at={"x": "3"},
    ),
    Op(
        "zeros",
        (Constant("shape"),),
        "zeros of a shape",
        after_dot=("empty", "new_zeros", "new_empty"),
        kind=Kind.SOURCE,
        example="x + zeros(2, 2)",
        at={"x": "3"},
    ),
    Op(
        "ones",
        (Constant("shape"),),
        "ones of a shape",
        after_dot=("new_ones",),
        kind=Kind.SOURCE,
        example="x*ones(2, 2)",
        at={"x": "3"},
    ),
    Op(
        "full",
        (Constant("shape"), Constant("fill_value")),
        "one number in every element of a shape",
        after_dot=("new_full",),
        kind=Kind.SOURCE,
        example="x*full((2,), 0.5)",
        at={"x": "3"},
    ),
    Op(
        "eye",
        (Constant("n"), Constant("m", None)),
        "the identity matrix",
        kind=Kind.SOURCE,
        example="x*eye(2)",
        at={"x": "3"},
    ),
    Op(
        "randn",
        (Constant("shape"), Constant("seed", 0)),
        "normal random numbers",
        kind=Kind.SOURCE,
        caveat=_SEEDED,
        example="x*randn(2, seed=0)",
        at={"x": "3"},
    ),
    Op(
        "rand",
        (Constant("shape"), Constant("seed", 0)),
        "random numbers from 0 to 1",
        kind=Kind.SOURCE,
        caveat=_SEEDED,
        example="x*rand(2, seed=0)",
        at={"x": "3"},
    ),
)

UNNAMED: tuple[Op, ...] = (
    Op("drawn", (Constant("shape"), Constant("numbers")), "numbers that code draws at random", kind=Kind.SOURCE),
    Op(MEASURED, (Constant("shape"), Constant("numbers")), "numbers known to within an error", kind=Kind.SOURCE),
    Op(
        OPAQUE,
        ("operands", Constant("call")),
        "what a call gives that cannot be read, but called again",
        kind=Kind.DEFINED,
        meaning=BY_TORCH,
        torch=OPAQUE,
    ),
)
"""Rows without a name to type: lines of recordings have them, and of texts that draw random numbers."""

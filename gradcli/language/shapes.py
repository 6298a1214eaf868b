"""Shapes of every line of a Program from the shapes of its variables, by torch's rules.

Elementwise operations broadcast; the rest have one rule each, by name.  Knows sizes only, no values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import sympy

from gradcli.errors import GradcliError, ShapeError, TooLargeError
from gradcli.language.ops import Kind
from gradcli.language.program import Atom, Line, Program

Shape = tuple[int, ...]

NEW = "None"
"""The index `None`: a new dimension of size 1."""

MAX_ELEMENTS = 2**26
"""Elements of one tensor: 512 MiB in float64."""

MAX_DIMENSIONS = 16
"""Dimensions of one tensor, so that a Jacobian has at most 32, the limit of NumPy before version 2."""

MAX_TOTAL_ELEMENTS = 2**28
"""Elements of all lines together: 2 GiB in float64, of which autograd keeps a copy or two."""

MAX_PRODUCTS = 2**34
"""Multiplications of one matrix product: a few seconds."""


@dataclass(frozen=True, slots=True)
class Slice:
    """`start:stop:step` with a positive step; None as in Python."""

    start: int | None
    stop: int | None
    step: int = 1

    def range(self, size: int) -> range:
        """The positions it takes of a dimension of this size."""
        return range(*slice(self.start, self.stop, self.step).indices(size))

    def __str__(self) -> str:
        bounds = f"{'' if self.start is None else self.start}:{'' if self.stop is None else self.stop}"
        return bounds if self.step == 1 else f"{bounds}:{self.step}"


class Axis(NamedTuple):
    """Where an indexed dimension comes from: `source` of the operand, at start + step*i; source -1 is new."""

    source: int
    start: int
    step: int
    size: int


def as_key(key: Hashable) -> tuple[Any, ...]:
    """A parsed index as the tuple that NumPy and torch take."""
    words: dict[Hashable, Any] = {"...": Ellipsis, NEW: None}
    items = key if isinstance(key, tuple) else (key,)
    return tuple(slice(k.start, k.stop, k.step) if isinstance(k, Slice) else words.get(k, k) for k in items)


def infer(program: Program, inputs: Mapping[sympy.Symbol, Shape], *, bounded: bool = True) -> dict[Atom, Shape]:
    """The shape of every symbol of the Program, variables included; `bounded` unless nothing is held in full.

    Raises:
        ShapeError: shapes that do not fit, with both shapes and the sub-expression.
        TooLargeError: more than `MAX_ELEMENTS` in a line or `MAX_TOTAL_ELEMENTS` in all.

    >>> from gradcli.language.grammar import parse
    >>> program = parse("x[:, 0]")
    >>> infer(program, {program.variables[0]: (3, 2)})[program.output]
    (3,)
    """
    shapes: dict[Atom, Shape] = dict(inputs)
    total = 0
    for line in program.lines:
        operands = [shapes.get(a, ()) for a in line.call.operands]
        try:
            shape = shape_of(line, operands)
            if bounded:
                require_work(line, operands)
        except GradcliError as error:
            error.place = program.place(line)
            raise
        total += math.prod(shape)
        if bounded and (math.prod(shape) > MAX_ELEMENTS or total > MAX_TOTAL_ELEMENTS):
            raise TooLargeError(
                f"a tensor of shape {show(shape)} makes {total:,} elements in all; "
                f"at most {MAX_TOTAL_ELEMENTS:,} are held",
                place=program.place(line),
                hint="use smaller inputs",
            )
        shapes[line.symbol] = shape
    shapes.setdefault(program.output, ())
    return shapes


def require_work(line: Line, operands: list[Shape]) -> None:
    """Refuse a matrix product that would take minutes.

    Raises:
        TooLargeError: more than `MAX_PRODUCTS` products of numbers; the place is left to the caller.
    """
    if line.call.op.name == "matmul":
        products = math.prod(shape_of(line, operands)) * operands[0][-1]
        if products > MAX_PRODUCTS:
            message = f"this matrix product takes {products:,} multiplications; at most {MAX_PRODUCTS:,} are made"
            raise TooLargeError(message, hint="use smaller inputs")


def show(shape: Shape) -> str:
    """A shape as Python writes it: `()`, `(2,)`, `(2, 3)`."""
    return str(tuple(shape))


def broadcast(operands: list[Shape], statics: tuple[Hashable, ...] = ()) -> Shape:
    """The common shape of operands aligned at their last dimensions, where sizes of 1 stretch."""
    result: list[int] = []
    for position in range(1, max(map(len, operands)) + 1):
        sizes = {shape[-position] for shape in operands if len(shape) >= position} - {1}
        if len(sizes) > 1:
            shown = " and ".join(show(shape) for shape in operands)
            raise ShapeError(
                f"the shapes {shown} do not broadcast",
                hint="sizes must be equal or 1, counted from the last dimension",
            )
        result.append(sizes.pop() if sizes else 1)
    return tuple(reversed(result))


def reduced_axes(shape: Shape, dim: Hashable) -> tuple[int, ...]:
    """The dimensions that a reduction over `dim` removes, counted from the front."""
    if dim is None:
        return tuple(range(len(shape)))
    axes = tuple(_axis(shape, d) for d in (dim if isinstance(dim, tuple) else (dim,)))
    if len(set(axes)) < len(axes):
        raise ShapeError(f"dim={dim} names a dimension of the shape {show(shape)} twice")
    return axes


def _reduce(operands: list[Shape], statics: tuple[Hashable, ...]) -> Shape:
    (shape,), (dim, keepdim) = operands, statics
    axes = reduced_axes(shape, dim)
    return tuple(1 if a in axes else size for a, size in enumerate(shape) if keepdim or a not in axes)


def _axis(shape: Shape, axis: Hashable) -> int:
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise ShapeError(f"a dimension is a whole number, not {axis}", hint="write dim=0")
    if -len(shape) <= axis < len(shape):
        return axis % len(shape)
    raise ShapeError(
        f"dim={axis} does not exist in the shape {show(shape)}",
        hint=f"it has {len(shape)} dimension{'s' * (len(shape) != 1)}, counted from 0",
    )


def _matmul(operands: list[Shape], statics: tuple[Hashable, ...]) -> Shape:
    a, b = operands
    if not a or not b:
        raise ShapeError(
            f"@ needs at least one dimension on each side, and the shapes are {show(a)} and {show(b)}",
            hint="write * for a scalar",
        )
    if a[-1] != b[-2 if len(b) > 1 else -1]:
        which = "second to last" if len(b) > 1 else "only"
        raise ShapeError(
            f"@ does not fit the shapes {show(a)} and {show(b)}",
            hint=f"the last size of the left, {a[-1]}, must equal the {which} size of the right",
        )
    return (*broadcast([a[:-2], b[:-2]]), *a[-2:-1], *(b[-1:] if len(b) > 1 else ()))


def _stack(operands: list[Shape], statics: tuple[Hashable, ...]) -> Shape:
    full = {shape for shape in operands if shape}
    if len(full) > 1:
        shown = ", ".join(show(shape) for shape in operands)
        raise ShapeError(
            f"a list needs equal shapes, and these are {shown}", hint="only scalars stretch to their siblings' shape"
        )
    return (len(operands), *(full.pop() if full else ()))


def indexed_axes(shape: Shape, key: Hashable) -> tuple[list[Axis], dict[int, int]]:
    """How `x[key]` maps back: one `Axis` per dimension of the result, and the positions of the dropped dimensions."""
    items = list(key) if isinstance(key, tuple) else [key]
    taken = sum(item not in ("...", NEW) for item in items)
    if items.count("...") > 1:
        raise ShapeError("only one ... may stand in an index", hint="it stands for all the dimensions left")
    if taken > len(shape):
        plural = "index" if taken == 1 else "indices"
        hint = f"it takes at most {len(shape)}" if shape else "it is one number"
        raise ShapeError(f"{taken} {plural} for the shape {show(shape)}", hint=hint)
    rest: list[Hashable] = [Slice(None, None)] * (len(shape) - taken)
    at = items.index("...") if "..." in items else len(items)
    items[at : at + 1] = rest
    axes: list[Axis] = []
    dropped: dict[int, int] = {}
    source = 0
    for item in items:
        if item == NEW:
            axes.append(Axis(-1, 0, 0, 1))
            continue
        size = shape[source]
        if isinstance(item, Slice):
            chosen = item.range(size)
            axes.append(Axis(source, chosen.start, chosen.step, len(chosen)))
        elif isinstance(item, int):
            if not -size <= item < size:
                raise ShapeError(
                    f"the index {item} is outside dimension {source} of the shape {show(shape)}",
                    hint=f"it has {size} elements, counted from 0",
                )
            dropped[source] = item % size
        source += 1
    return axes, dropped


def _index(operands: list[Shape], statics: tuple[Hashable, ...]) -> Shape:
    axes, _ = indexed_axes(operands[0], statics[0])
    return tuple(axis.size for axis in axes)


def permutation(shape: Shape, dims: tuple[Hashable, ...]) -> tuple[int, ...]:
    """The order of the dimensions after `transpose(x, dim0, dim1)`, or after `x.T` if the two are None."""
    order = list(range(len(shape)))
    first, second = dims
    if first is not None or second is not None:
        a, b = _axis(shape, first), _axis(shape, second)
        order[a], order[b] = order[b], order[a]
    elif len(shape) == 2:
        order.reverse()
    else:
        hint = "write transpose(x, 0, 1)" if len(shape) > 2 else "a column is x[:, None]"
        raise ShapeError(f".T needs two dimensions, and the shape is {show(shape)}", hint=hint)
    return tuple(order)


def _transpose(operands: list[Shape], statics: tuple[Hashable, ...]) -> Shape:
    return tuple(operands[0][d] for d in permutation(operands[0], statics))


def _reshape(operands: list[Shape], statics: tuple[Hashable, ...]) -> Shape:
    (old,), new = operands, statics[0]
    wanted = new if isinstance(new, tuple) else (new,)
    sizes = [size for size in wanted if isinstance(size, int)]
    known = math.prod(size for size in sizes if size != -1)
    missing = sizes.count(-1)
    if missing == 1 and known > 0 and math.prod(old) % known == 0:
        sizes = [math.prod(old) // known if size == -1 else size for size in sizes]
    if missing > 1 or min(sizes, default=0) < 0 or math.prod(sizes) != math.prod(old):
        raise ShapeError(
            f"the shape {show(old)} cannot be viewed as {show(tuple(sizes))}",
            hint=f"it has {math.prod(old):,} elements",
        )
    return tuple(sizes)


_RULES: Mapping[str, Callable[[list[Shape], tuple[Hashable, ...]], Shape]] = {
    "sum": _reduce,
    "mean": _reduce,
    "matmul": _matmul,
    "stack": _stack,
    "index": _index,
    "transpose": _transpose,
    "reshape": _reshape,
}


def shape_of(line: Line, operands: list[Shape]) -> Shape:
    """The shape of one line from the shapes of its operands.

    Raises:
        ShapeError: shapes that do not fit; the place is left to the caller.
    """
    op = line.call.op
    shape = (broadcast if op.kind is Kind.ELEMENTWISE else _RULES[op.name])(operands, line.call.statics)
    if len(shape) > MAX_DIMENSIONS:
        raise TooLargeError(f"a tensor of {len(shape)} dimensions; at most {MAX_DIMENSIONS} are held")
    return shape

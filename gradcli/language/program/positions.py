"""Elements at positions that are values: a gather and its transpose, and indices with positions in them, as text.

`elements_at(x, i)` has an element, or a slice, for each number of i; `sums_at(x, i)` adds those of x up at the numbers
of i.  Each is the adjoint of the other.  Both see the dimensions before, at and behind the positions as one each.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gradcli.arrays import AnyArray
from gradcli.errors import ShapeError
from gradcli.language.ops import Kind
from gradcli.language.program.movement import NEW, Slice, axis_of, indexed_axes
from gradcli.language.program.wengert import Call, Program, Shape, broadcast, show

Places = npt.NDArray[np.intp]

MOST_LISTED = 16
"""Most constant positions that an index has one by one, each with a formula of its own."""


@dataclass(frozen=True)
class IndexedBlock:
    """Dimensions of a gather or of its transpose.

    Attributes:
        before: Sizes of the dimensions before the positions.
        sizes: Sizes of the dimensions that are indexed, of the operand of a gather and of the result of its transpose.
        batch: Shape of the positions, which stand in their place in the other one.
        after: Sizes of the dimensions behind them.
    """

    before: Shape
    sizes: Shape
    batch: Shape
    after: Shape

    @property
    def whole(self) -> Shape:
        """Shape with the dimensions that are indexed."""
        return *self.before, *self.sizes, *self.after

    @property
    def taken(self) -> Shape:
        """Shape with the positions in their place."""
        return *self.before, *self.batch, *self.after

    @property
    def flat(self) -> tuple[int, int, int, int]:
        """Number of elements before the positions, at them, of the positions, and behind them."""
        return math.prod(self.before), math.prod(self.sizes), math.prod(self.batch), math.prod(self.after)


def block_of(call: Call, x: Shape, index: Shape) -> IndexedBlock:
    """Find the dimensions of a gather or its transpose.

    Args:
        call: The operation.
        x: The shape of its operand.
        index: The shape of the positions; of several dimensions, their positions are stacked.

    Raises:
        ShapeError: They do not fit.
    """
    name = call.op.name
    if call.op.kind is Kind.GATHER:
        dim, count = axis_of(x, call.statics[0]), call.statics[1]
        if not isinstance(count, int) or not 1 <= count <= len(x) - dim:
            raise ShapeError(f"{name} of the shape {show(x)} takes positions in {count} dimensions from {dim} on")
        sizes = x[dim : dim + count]
    else:
        sizes = call.statics[1] if isinstance(call.statics[1], tuple) else (call.statics[1],)
        if not sizes or not all(isinstance(n, int) and n >= 0 for n in sizes):
            raise ShapeError(f"{name} takes sizes from 0 on, and not {show(sizes)}")
    if len(sizes) > 1 and index[:1] != (len(sizes),):
        raise ShapeError(f"{name} needs positions in {len(sizes)} dimensions, and they have the shape {show(index)}")
    batch = index if len(sizes) == 1 else index[1:]
    if call.op.kind is Kind.SCATTER:
        dim = axis_of(x, call.statics[0], extra=int(not batch))
    last = dim + (len(sizes) if call.op.kind is Kind.GATHER else len(batch))
    found = IndexedBlock(x[:dim], sizes, batch, x[last:])
    if call.op.kind is Kind.SCATTER and found.taken != x:
        raise ShapeError(f"{name} needs elements for positions of the shape {show(batch)}, and the shape is {show(x)}")
    return found


def shape_at(call: Call, x: Shape, index: Shape) -> Shape:
    """Return the shape of a gather, or of its transpose.

    Raises:
        ShapeError: The positions do not fit.

    >>> import sympy
    >>> operands = sympy.symbols("x i")
    >>> shape_at(Call("elements_at", operands, (1, 1)), (2, 3), (5, 4))
    (2, 5, 4)
    >>> shape_at(Call("sums_at", operands, (0, (7,))), (4,), (4,))
    (7,)
    """
    found = block_of(call, x, index)
    if call.op.kind is Kind.GATHER:
        require_elements(found)
    return found.taken if call.op.kind is Kind.GATHER else found.whole


def require_elements(block: IndexedBlock) -> None:
    """Refuse positions of elements where there are none.

    Raises:
        ShapeError: There are none.
    """
    if math.prod(block.batch) and not math.prod(block.sizes):
        raise ShapeError(f"there is no element to take in dimensions of sizes {show(block.sizes)}")


def flat_places(index: AnyArray, sizes: Shape) -> Places:
    """Return the flat position of each element, in row-major order, from whole numbers within the sizes.

    >>> flat_places(np.array([[1, 0], [2, 2]]), (2, 3)).tolist()
    [5, 2]
    """
    parts = np.asarray(index).reshape(len(sizes), -1).astype(np.intp)
    places: Places = parts[0]
    for own, size in zip(parts[1:], sizes[1:], strict=True):
        places = places * size + own
    return places


def are_within(index: AnyArray, sizes: Shape) -> bool:
    """Tell whether all numbers are positions within the sizes."""
    parts = np.asarray(index).reshape(len(sizes), -1)
    return all(bool(((own >= 0) & (own < size)).all()) for own, size in zip(parts, sizes, strict=True))


def position_names(program: Program) -> frozenset[str]:
    """List the variables that are only positions, which stay what they are at other points.

    >>> from gradcli.language.parsing import parse
    >>> sorted(position_names(parse("elements_at(x, i)*y")))
    ['i']
    """
    calls = [line.call for line in program.lines if line.call.op.buffers]
    pairs = [pair for call in calls for pair in zip(call.op.operands, call.operands, strict=False)]
    kept = {str(a) for name, a in pairs if any(name in call.op.buffers for call in calls)}
    return frozenset(program.names) - {*program.differentiable} - kept


# -- indices with positions


@dataclass(frozen=True)
class Positions:
    """Tensor of whole numbers in an index.

    Attributes:
        name: Its name in the text; empty where it has none, as the places of a mask.
        shape: Of the tensor.
        numbers: The numbers of a constant tensor.
        is_negative: Whether some are below 0, which count from the end.
    """

    name: str
    shape: Shape
    numbers: AnyArray | None = None
    is_negative: bool = False


def is_listed(numbers: AnyArray) -> bool:
    """Tell whether constant positions are few, or evenly spaced, so that an index has them as constants."""
    flat = np.asarray(numbers).ravel()
    return flat.size <= MOST_LISTED or _step(flat) is not None


def _step(places: AnyArray) -> int | None:
    """Return the step of evenly spaced positions; None of others."""
    steps = np.diff(places)
    step = int(steps[0]) if steps.size else 1
    return step if step and (steps == step).all() else None


def listed(places: Sequence[int]) -> str:
    """Write positions as an item of an index: a slice where they are evenly spaced.

    >>> listed([1, 3, 5]), listed([2, 1, 0]), listed([0, 0, 2])
    ('1:6:2', '2::-1', '[0, 0, 2]')
    """
    if not places:
        return ":0"
    if (step := _step(np.asarray(places))) is None:
        return str([*places])
    stop = places[-1] + (1 if step > 0 else -1)
    return f"{places[0]}:{stop if stop >= 0 else ''}" + (f":{step}" if step != 1 else "")


def checked(numbers: AnyArray, size: int) -> Places:
    """Return positions in a dimension of this size, counted from the front.

    Raises:
        ShapeError: One is no whole number, or outside of the dimension.
    """
    found = np.asarray(numbers, dtype=np.float64)
    if not (is_whole := found == np.round(found)).all():
        raise ShapeError(f"an index is a whole number, not {found[~is_whole][0]:g}")
    if not (is_inside := (found >= -size) & (found < size)).all():
        outside = found[~is_inside][0]
        raise ShapeError(f"the index {outside:.0f} is outside a dimension of size {size}", hint="it counts from 0")
    return found.astype(np.intp) % max(size, 1)


def indexed(x: str, shape: Shape, items: Sequence[object]) -> str:
    """Write the text of an index with tensors of positions among its items, by torch's rules.

    Args:
        x: The operand.
        shape: Of the operand.
        items: Whole numbers, slices, `...`, None as the language has it, and `Positions`.

    Raises:
        ShapeError: The index does not fit.

    >>> indexed("x", (4,), [Positions("i", (2,), np.array([3, 1]))])
    'x[3:0:-2]'
    >>> indexed("x", (4, 3), [Slice(None, None), Positions("i", (2,))])
    'elements_at(x, i, 1, 1)'
    """
    whole = Slice(None, None)
    basic = [whole if isinstance(item, Positions) else item for item in items]
    sizes = tuple(axis.size for axis in indexed_axes(shape, tuple(basic))[0])
    if any(item not in (whole, "...") for item in basic):
        x = f"{x}[{', '.join(map(str, basic))}]"
    more = len(shape) - sum(item not in ("...", NEW) for item in items)
    full = [one for item in items for one in ([whole] * more if item == "..." else [item])]
    kept = [item for item in full if not isinstance(item, int)]
    found = {axis: item for axis, item in enumerate(kept) if isinstance(item, Positions)}
    numbers = {axis: checked(one.numbers, sizes[axis]) for axis, one in found.items() if one.numbers is not None}
    are_short = all(is_listed(one) or not found[axis].name for axis, one in numbers.items())
    if len(numbers) < len(found) or not are_short:
        return _at_values(x, sizes, found, numbers)
    (first, places), *others = numbers.items()
    if others:
        key = tuple(numbers.get(axis, slice(None)) for axis in range(len(sizes)))
        places = np.arange(math.prod(sizes)).reshape(sizes)[key]
        x, first, after = f"reshape({x}, -1)", 0, places.shape
    else:
        after = (*sizes[:first], *places.shape, *sizes[first + 1 :])
    text = f"{x}[{':, ' * first}{listed(places.ravel().tolist())}]"
    return text if places.ndim == 1 and not others else f"reshape({text}, {show(after)})"


def _at_values(x: str, sizes: Shape, found: Mapping[int, Positions], numbers: Mapping[int, Places]) -> str:
    """Write the elements at positions along some dimensions, which broadcast, where not all are constants."""
    axes = [*found]
    position, order = _stacked(found, numbers, sizes), _brought_together(axes, len(sizes))
    if order is None:
        return f"elements_at({x}, {position}, {axes[0]}, {len(axes)})"
    return f"elements_at(permute({x}, {show(order)}), {position}, 0, {len(axes)})"


def taken_shape(shape: Shape, found: Mapping[int, Positions]) -> Shape:
    """Return the shape of the elements of a tensor of a shape at positions in some dimensions.

    >>> taken_shape((4, 3), {1: Positions("i", (5,))})
    (4, 5)
    """
    axes, batch = [*found], broadcast([one.shape for one in found.values()])
    order = _brought_together(axes, len(shape)) or [*range(len(shape))]
    first = order.index(axes[0])
    return *(shape[d] for d in order[:first]), *batch, *(shape[d] for d in order[first + len(axes) :])


def added(x: str, values: str, shape: Shape, found: Mapping[int, Positions]) -> str:
    """Write a tensor to which values are added at positions, each as often as its position occurs.

    Args:
        x: The tensor.
        values: The values, of the `taken_shape`.
        shape: Of the tensor.
        found: The positions by dimension; the others are whole.

    Raises:
        ShapeError: A position does not fit.

    >>> added("x", "v", (4, 3), {1: Positions("i", (2,))})
    'x + sums_at(v, i, 1, (3,))'
    """
    axes = [*found]
    numbers = {axis: checked(one.numbers, shape[axis]) for axis, one in found.items() if one.numbers is not None}
    position, order = _stacked(found, numbers, shape), _brought_together(axes, len(shape))
    sizes = tuple(shape[axis] for axis in axes)
    text = f"sums_at({values}, {position}, {axes[0] if order is None else 0}, {show(sizes)})"
    if order is not None:
        text = f"permute({text}, {show([order.index(d) for d in range(len(shape))])})"
    return f"{x} + {text}"


def _brought_together(axes: Sequence[int], rank: int) -> list[int] | None:
    """Return the order of dimensions with these first; None where they are next to each other anyway."""
    is_together = [*axes] == [*range(axes[0], axes[-1] + 1)]
    return None if is_together else [*axes, *(n for n in range(rank) if n not in axes)]


def _stacked(found: Mapping[int, Positions], numbers: Mapping[int, Places], sizes: Shape) -> str:
    """Write the positions in some dimensions as one tensor, those of several dimensions stacked."""
    whole = broadcast([one.shape for one in found.values()])
    parts = []
    for axis, one in found.items():
        text = _named(one, numbers.get(axis), sizes[axis])
        parts.append(text if one.shape == whole or len(found) == 1 else f"expand({text}, {show(whole)})")
    return parts[0] if len(parts) == 1 else f"stack([{', '.join(parts)}])"


def _named(one: Positions, places: Places | None, size: int) -> str:
    """Write a tensor of positions: by its name, or as 0, 1, 2, ... where it counts along a dimension."""
    if places is None:
        return f"where({one.name} < 0, {one.name} + {size}, {one.name})" if one.is_negative else one.name
    if places.size > 1 and places.size <= size and (places.ravel() == np.arange(places.size)).all():
        text = f"arange({places.size})"
        return text if places.ndim == 1 else f"reshape({text}, {show(places.shape)})"
    return one.name if one.name and not one.is_negative else str(places.tolist())

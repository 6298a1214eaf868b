"""Calls of torch and NumPy for the operations of the table, as code over the library that is passed in.

Given the library, it computes; given a recorder of calls, it writes a script, which makes the very calls of the
answer.  An operand is a tensor or an array, a number of Python (a constant, or a size of a tensor), or
a nested list of constants.  Knows no derivative, and imports no torch.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import sympy

from gradcli.language.ops import REQUIRED, ROWS, Kind, Meaning, Op, gives_positions
from gradcli.language.ops.row import SHAPES
from gradcli.language.ops.structure import OPAQUE
from gradcli.language.program.movement import (
    as_key,
    axes_of,
    fill_of,
    forward_key,
    moved,
    permutation,
    windows_of,
)
from gradcli.language.program.positions import block_of
from gradcli.language.program.shapes import axis_of_scan, count_of
from gradcli.language.program.wengert import Atom, Call, Shape, number

_EXACT_INTEGERS = 2**53
"""Bound beyond which integers are passed as floats: torch takes no more than 64 bits."""

_ALL = (None, False)
"""Arguments `dim` and `keepdim` of a reduction over all elements."""

SIGNED = {"eigenvectors": "eigenvectors", "left_singular_vectors": "U", "right_singular_vectors": "Vh"}
"""Vectors whose signs a library leaves open, by its names of them; here the sum of exp(-n)*v[n] is positive."""

Library = Any
"""Torch, NumPy, or what records or writes calls of it: only the names of functions that are asked for are known."""

LibraryValue = Any
"""What functions of a library take and give: a tensor, an array, an expression that is written, a number, a list."""

OPERATORS: Mapping[str, Callable[..., LibraryValue]] = {
    **{name: getattr(operator, name) for name in "neg add sub mul pow matmul gt ge lt le eq ne".split()},
    "div": operator.truediv,
    "logical_and": operator.and_,
    "logical_or": operator.or_,
    "logical_not": operator.invert,
}
"""Signs of Python that torch has for operations, and NumPy too except for logic."""

_NUMPY_NAMES = frozenset(
    """
    exp log sqrt exp2 expm1 log1p log2 log10 square reciprocal sin cos tan arcsin arccos arctan arctan2 sinc deg2rad
    rad2deg sinh cosh tanh arcsinh arccosh arctanh i0 hypot logaddexp cbrt abs sign floor ceil trunc round maximum
    minimum fmod remainder clip where logical_and logical_or logical_not isnan isinf isfinite zeros_like ones_like sum
    prod cumsum cumprod
    """.split()
)
NUMPY: Mapping[str, str] = {
    **{op.name: name for op in ROWS.values() for name in (*op.aliases, op.name) if name in _NUMPY_NAMES},
    **{"amax": "max", "amin": "min", "cummax": "maximum.accumulate", "cummin": "minimum.accumulate"},
    **{"det": "linalg.det", "inv": "linalg.inv", "eigvalsh": "linalg.eigvalsh"},
}
"""Paths below NumPy of the functions for values; other operations run by their meaning or another rule."""

_ONE_DIMENSION = ("prod", "max", "min")
"""Reductions of torch that take one dimension at a time, or none for all."""

_LARGEST = 3.4e38
"""Bound beyond which numbers are infinite in float32; torch refuses them next to a float32 tensor."""


def is_in_torch(call: Call) -> bool:
    """Tell whether torch has this operation; else its meaning is run."""
    op = call.op
    plain = zip(op.operands, call.operands, strict=False)
    has_numbers = all(not isinstance(a, sympy.Symbol) for parameter, a in plain if parameter in op.numbers)
    return op.is_primitive or (bool(op.torch) and has_numbers)


BACKWARD_ONCE = frozenset("hardsigmoid logcumsumexp cdist pdist scaled_dot_product_attention".split())
"""Operations whose backward pass torch cannot differentiate."""


def is_in_torch_twice(call: Call) -> bool:
    """Tell whether torch has this operation, and differentiates its gradient again."""
    return is_in_torch(call) and call.op.name not in BACKWARD_ONCE


def undifferentiated(call: Call) -> tuple[Atom, ...]:
    """List the operands by which torch's function has no derivative; its meaning has one, and is run for it."""
    of = zip(call.op.operands, call.operands, strict=False)
    return tuple(operand for parameter, operand in of if parameter in call.op.undifferentiated)


def plain(constant: Atom) -> int | float:
    """Convert a constant to a Python number, an integer where it is exactly one, as the user would pass to torch."""
    if isinstance(constant, sympy.Integer) and abs(int(constant)) <= _EXACT_INTEGERS:
        return int(constant)
    return number(constant)


def is_tensor(operand: LibraryValue) -> bool:
    """Tell whether an operand is neither a number of Python nor a list of numbers."""
    return not isinstance(operand, (int, float, list))


def operand_shape(operand: LibraryValue) -> Shape:
    """Return the shape of a tensor, a number or a nested list.

    >>> operand_shape([[1, 2, 3], [4, 5, 6]])
    (2, 3)
    """
    if isinstance(operand, list):
        return (len(operand), *(operand_shape(operand[0]) if operand else ()))
    return tuple(operand.shape) if is_tensor(operand) else ()


def function_at(library: Library, path: str) -> LibraryValue:
    """Return the function at a dotted path below a library."""
    return reduce(getattr, path.split("."), library)


def _count(call: Call, operand: LibraryValue) -> LibraryValue:
    """Count elements, as a number of Python; torch is asked for the number of all, or along one dimension."""
    shape, dim = operand_shape(operand), call.statics[0]
    axes = axes_of(shape, dim)
    if not is_tensor(operand) or (dim is not None and len(axes) != 1):
        return count_of(shape, dim)
    return operand.numel() if dim is None else operand.size(axes[0])


@dataclass(frozen=True)
class TorchCalls:
    """Calls of torch in one dtype.

    Attributes:
        torch: The library, or a recorder of its calls.
        dtype: Of every tensor, as the library has it.
        device: Of every tensor, likewise; None for that of the library.
    """

    torch: Library
    dtype: LibraryValue
    device: LibraryValue = None

    @property
    def _kind(self) -> dict[str, LibraryValue]:
        """The arguments of a constructor of tensors."""
        return {"dtype": self.dtype} | ({} if self.device is None else {"device": self.device})

    def tensor(self, operand: LibraryValue) -> LibraryValue:
        """Return an operand as a tensor."""
        return operand if is_tensor(operand) else self.torch.tensor(operand, **self._kind)

    def apply(self, call: Call, operands: Sequence[LibraryValue]) -> LibraryValue:
        """Apply one operation, except constant tensors and derivatives; its value may be a number or a list."""
        op = call.op
        if op.name == OPAQUE:
            return call.statics[0].run([self.tensor(a) for a in operands])
        if op.name in OPERATORS:  # no tensor, or a list next to one: the signs of Python alone would not do
            is_plain = not any(map(is_tensor, operands)) or any(isinstance(a, list) for a in operands)
            return OPERATORS[op.name](*(map(self.tensor, operands) if is_plain else operands))
        if op.kind is Kind.COUNT:
            return _count(call, operands[0])
        if op.kind is Kind.LIST:
            return self._list(call, operands)
        if op.kind is Kind.MOVEMENT:
            return self._moved(call, self.tensor(operands[0]), operand_shape(operands[0]))
        if op.is_at_positions:
            return self._at_positions(call, *map(self.tensor, operands), *map(operand_shape, operands))
        if op.name in _ONE_DIMENSION:
            return _one_by_one(call, self.tensor(operands[0]), operand_shape(operands[0]))
        tensors = [self.tensor(a) for a in operands]
        match op.name:
            case "where":
                return self.torch.where(tensors[0], *_next_to_tensor(operands[1:], tensors[1:]))
            case "clamp" if any(not isinstance(a, int | float) for a in operands[1:]):
                # of one shape, as torch's backward does not sum over the sizes that it stretched
                return self.torch.clamp(*self.torch.broadcast_tensors(*tensors))
            case "clamp":
                return self.torch.clamp(tensors[0], *operands[1:])
            case name if name in SIGNED:
                return signed_vectors(self.torch, name, tensors[0], lambda vectors: vectors.detach(), **self._kind)
            case "with_eigenvalues":
                return with_eigenvalues(self.torch, *tensors)
        return self._called(call, operands, tensors)

    def _list(self, call: Call, operands: Sequence[LibraryValue]) -> LibraryValue:
        (dim,), shapes = call.statics, {operand_shape(a) for a in operands}
        if call.op.adds_dimension and len(shapes) == 1 and dim == 0 and not any(map(is_tensor, operands)):
            return list(operands)
        tensors = [self.tensor(a) for a in operands]
        if call.op.adds_dimension and len(shapes) > 1:
            tensors = self.torch.broadcast_tensors(*tensors)
        return function_at(self.torch, call.op.torch)(tensors, **({"dim": dim} if dim else {}))

    def _moved(self, call: Call, x: LibraryValue, shape: Shape) -> LibraryValue:
        match call.op.name:
            case "index":
                key, turned = forward_key(shape, call.statics[0])
                return x[as_key(key)].flip(*_spread(turned)) if turned else x[as_key(key)]
            case "transpose" if call.statics != (None, None):
                return x.transpose(*call.statics)
            case "transpose" | "permute":
                order = permutation(shape, call)
                return x.T if order == (1, 0) else x.permute(*_spread(order))
            case "flip":
                return x.flip(*_spread(axes_of(shape, call.statics[0])))
            case "windows":
                axis, size, step, dilation = windows_of(shape, call)
                found = x.unfold(axis, (size - 1) * dilation + 1, step)
                return found if dilation == 1 else found[..., ::dilation]
            case "expand" | "reshape" as name:
                return getattr(x, name)(*_spread(call.statics[0]))
        return self._called(call, [x], [x])

    def _at_positions(
        self, call: Call, x: LibraryValue, index: LibraryValue, shape: Shape, of_index: Shape
    ) -> LibraryValue:
        """Take elements at positions by an index, or add them up by index_add, of several dimensions as one."""
        block, whole = block_of(call, shape, of_index), index.long()
        parts = [whole] if len(block.sizes) == 1 else [whole[n] for n in range(len(block.sizes))]
        if call.op.kind is Kind.GATHER:
            return x[(*[slice(None)] * len(block.before), *parts)]
        places = _joined(parts, block.sizes)
        _, size, count, _ = block.flat
        lines = x if len(block.batch) == 1 else x.reshape(*block.before, count, *block.after)
        places = places if len(block.batch) == 1 else places.reshape(-1)
        found = lines.new_zeros((*block.before, size, *block.after)).index_add(len(block.before), places, lines)
        return found if len(block.sizes) == 1 else found.reshape(*block.whole)

    def _called(self, call: Call, operands: Sequence[LibraryValue], tensors: Sequence[LibraryValue]) -> LibraryValue:
        """Call the function or method of the row: by position up to the first argument left out, then by name.

        Arguments equal to their defaults are left out.  Operands are tensors, except those that torch takes as numbers.
        """
        op, first, named, is_by_name = call.op, list[LibraryValue](), dict[str, LibraryValue](), False
        constants = _constants(call, operands[0])
        as_given: dict[str, LibraryValue] = dict(zip(op.operands, operands, strict=False))
        given: dict[str, LibraryValue] = dict(zip(op.operands, tensors, strict=False)) | constants
        given |= {name: a for name, a in as_given.items() if name in op.numbers}
        for name in op.positions([len(operand_shape(a)) for a in operands]) if op.whole else ():
            given[name] = given[name].long()
        plain: dict[str, LibraryValue] = {
            name: float(a) for name, a in as_given.items() if isinstance(a, int | float)
        } | constants
        if constants.get("training"):  # torch would write the running averages anew
            given, plain = given | dict.fromkeys(op.buffers), plain | dict.fromkeys(op.buffers, "")
        for name in op.signature:
            default = op.statics.get(name, op.defaults.get(name, REQUIRED))
            if name in ("tensors", "operands"):
                first += [[*tensors]] if name == "tensors" else tensors
            elif name not in given or plain.get(name) == default:
                is_by_name = True
            elif is_by_name or name in op.numbers or (name in op.statics and default is not REQUIRED):
                is_by_name, named["ord" if (op.name, name) == ("norm", "p") else name] = True, given[name]
            else:
                first.append(given[name])
        if _is_method(op):
            found = getattr(first.pop(0), op.torch.removeprefix("Tensor.") or op.name)(*first, **named)
        else:
            found = function_at(self.torch, op.torch)(*first, **named)
        if op.name == "one_hot":  # torch gives it in whole numbers
            return found.to(self.dtype)
        return found.values if _has_positions(call) else found


def is_in_numpy(call: Call) -> bool:
    """Tell whether NumPy has an operation, or it is a primitive; else its meaning is run."""
    return call.op.is_primitive or call.op.name in NUMPY or call.op.name in (*SIGNED, "with_eigenvalues")


@dataclass(frozen=True)
class NumpyCalls:
    """Calls of NumPy.

    Attributes:
        numpy: The library, or a recorder of its calls.
        lacking: The functions that NumPy lacks, by the names of their operations.
    """

    numpy: Library
    lacking: Mapping[str, LibraryValue]

    def apply(self, call: Call, operands: Sequence[LibraryValue]) -> LibraryValue:
        """Apply one operation, except constant tensors; its operands are arrays, or expressions with their shapes."""
        op, name, dim = call.op, call.op.name, (*call.statics, None)[0]
        x, *others = operands
        shape = operand_shape(x)
        match op.kind:
            case Kind.COUNT:
                return count_of(shape, dim)
            case Kind.LIST:
                return self._list(call, operands)
            case Kind.MOVEMENT:
                return moved(call, x, fill_of(call), self.numpy)
            case Kind.GATHER | Kind.SCATTER:
                return self._at_positions(call, x, others[0], shape, operand_shape(others[0]))
            case Kind.SCAN:
                axis = axis_of_scan(call, shape)
                return x if axis is None else function_at(self.numpy, NUMPY[name])(x, axis=axis)
            case Kind.REDUCTION:
                axes = axes_of(shape, dim)
                over = {} if len(axes) == len(shape) else {"axis": axes[0] if len(axes) == 1 else axes}
                kept = {"keepdims": True} if call.statics[1] else {}
                return function_at(self.numpy, NUMPY[name])(x, **over, **kept)
        if name in SIGNED:
            return signed_vectors(self.numpy, name, x, lambda vectors: vectors)
        if name == "with_eigenvalues":
            return with_eigenvalues(self.numpy, *operands)
        if name in OPERATORS and not op.conditions:  # a condition may be 1 or 0, which the signs of logic do not take
            return OPERATORS[name](x, *others)
        if op.is_held:
            return x
        function = self.lacking.get(name) or function_at(self.numpy, NUMPY[name])
        return function(*call.typed, x, *others)

    def _at_positions(
        self, call: Call, x: LibraryValue, index: LibraryValue, shape: Shape, of_index: Shape
    ) -> LibraryValue:
        """Take elements at positions by an index, or add them up by a count of their places, weighted by them."""
        block, whole = block_of(call, shape, of_index), index.astype(int)
        parts = [whole] if len(block.sizes) == 1 else [whole[n] for n in range(len(block.sizes))]
        if call.op.kind is Kind.GATHER:
            return x[(*[slice(None)] * len(block.before), *parts)]
        places = _joined(parts, block.sizes)
        before, size, _, after = block.flat
        if before != 1:  # one place for each element before and behind them, in row-major order
            places = self.numpy.arange(before)[:, None] * size + places.reshape(-1)
        if after != 1:
            places = places[..., None] * after + self.numpy.arange(after)
        found = self.numpy.bincount(
            places if (before, after, len(block.batch)) == (1, 1, 1) else places.reshape(-1),
            weights=x if len(shape) == 1 else x.reshape(-1),
            minlength=before * size * after,
        )
        return found if len(block.whole) == 1 else self.numpy.reshape(found, block.whole)

    def _list(self, call: Call, operands: Sequence[LibraryValue]) -> LibraryValue:
        (dim,) = call.statics
        along = {"axis": dim} if dim else {}
        if not call.op.adds_dimension:
            return self.numpy.concatenate([*operands], **along)
        is_stretched = len({operand_shape(a) for a in operands}) > 1
        return self.numpy.stack(self.numpy.broadcast_arrays(*operands) if is_stretched else [*operands], **along)


def _joined(parts: Sequence[LibraryValue], sizes: Shape) -> LibraryValue:
    """Join the positions in several dimensions to one in row-major order."""
    return reduce(lambda found, own: found * own[1] + own[0], zip(parts[1:], sizes[1:], strict=True), parts[0])


def signed_vectors(
    library: Library,
    name: str,
    matrix: LibraryValue,
    constant: Callable[[LibraryValue], LibraryValue],
    **options: LibraryValue,
) -> LibraryValue:
    """Compute eigenvectors or singular vectors as columns, with signs that the right ones get as constants."""
    weights = library.exp(-library.arange(matrix.shape[-1], **options))
    if name == "eigenvectors":
        found = right = library.linalg.eigh(matrix).eigenvectors
    else:
        parts = library.linalg.svd(matrix, full_matrices=False)
        right = parts.Vh.swapaxes(-1, -2)
        found = parts.U if SIGNED[name] == "U" else right
    return found * library.sign(weights @ constant(right))[..., None, :]


def with_eigenvalues(library: Library, matrix: LibraryValue, numbers: LibraryValue) -> LibraryValue:
    """Compute the matrix that has the eigenvectors of a symmetric matrix and these eigenvalues."""
    vectors = library.linalg.eigh(matrix).eigenvectors
    return (vectors * numbers[..., None, :]) @ vectors.swapaxes(-1, -2)


def _constants(call: Call, operand: LibraryValue) -> dict[str, LibraryValue]:
    """Return the constants by name, with a dimension that torch requires among them.

    Torch lets `dim` be left out for all dimensions of some reductions.
    """
    given = call.constants
    given.pop(SHAPES, None)
    if call.op.kind in (Kind.MOVEMENT, Kind.INLINED) or call.op.statics.get("dim", REQUIRED) is not None:
        return given
    shape = operand_shape(operand)
    if "keepdim" not in given:
        return given | {"dim": axis_of_scan(call, shape) or 0}
    if (given["dim"], given["keepdim"]) == _ALL and call.op.name != "logsumexp":
        return given
    axes = axes_of(shape, given["dim"])
    if not axes and isinstance(given["dim"], int):  # of a plain number
        return given
    return given | {"dim": axes[0] if len(axes) == 1 else axes}


def _next_to_tensor(operands: Sequence[LibraryValue], tensors: Sequence[LibraryValue]) -> list[LibraryValue]:
    """Return values to choose from: numbers stay numbers next to a tensor."""
    if not any(map(is_tensor, operands)):
        return list(tensors)
    stay = [isinstance(a, int | float) and abs(float(a)) <= _LARGEST for a in operands]
    return [a if is_plain else tensor for a, tensor, is_plain in zip(operands, tensors, stay, strict=True)]


def _one_by_one(call: Call, x: LibraryValue, shape: Shape) -> LibraryValue:
    """Reduce over all elements or one dimension, as torch has it; over several, one after the other."""
    dim, keepdim = call.statics
    if call.statics == _ALL:
        return getattr(x, call.op.torch)()
    for axis in sorted(axes_of(shape, dim), reverse=True):
        found = getattr(x, call.op.torch)(dim=axis, **({"keepdim": True} if keepdim else {}))
        x = found.values if gives_positions(call.op) else found
    return x


def _has_positions(call: Call) -> bool:
    """Tell whether torch gives positions next to the values of a call: of a reduction, only along a dimension."""
    if not gives_positions(call.op):
        return call.op.name == "sorted"
    return "keepdim" not in call.op.statics or call.constants["dim"] is not None


def _is_method(op: Op) -> bool:
    """Tell whether an operation is written x.sum() and not torch.sum(x)."""
    is_reduction = "keepdim" in op.statics and op.defined_by is not Meaning.TORCH_INLINE
    is_plain = "." not in op.torch and (is_reduction or op.kind in (Kind.MOVEMENT, Kind.SCAN))
    return is_plain or op.torch.startswith("Tensor.")


def _spread(sizes: LibraryValue) -> tuple[LibraryValue, ...]:
    """Spread sizes or dimensions into arguments: none of them is one empty tuple."""
    return (sizes or ((),)) if isinstance(sizes, tuple) else (sizes,)

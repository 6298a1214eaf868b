"""How NumPy is asked for the operations of the table, as code over whatever is handed in as `np`: see `torch_calls`.

An operand is an array, a number of Python (a constant, or a size of an array), or a nested list of constants.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from gradcli.language.ops import Kind
from gradcli.language.program.movement import axes_of, fill_of, moved
from gradcli.language.program.shapes import axis_of_scan, count_of
from gradcli.language.program.torch_calls import is_tensor, operand_shape
from gradcli.language.program.wengert import Call


def is_in_numpy(call: Call) -> bool:
    """Whether NumPy is asked for the operation itself; else its meaning is run."""
    return call.op.is_primitive or bool(call.op.numpy)


@dataclass(frozen=True)
class NumpyCalls:
    """The calls of one dtype.

    Attributes:
        np: The library, or what writes its calls down.
        math: Python's module of functions of one number.
        special: What `scipy.special` has and NumPy has not.
        dtype: The type of a number of NumPy.
    """

    np: Any
    math: Any
    special: Any
    dtype: Any

    def tensor(self, operand: Any) -> Any:
        """An operand as an array; one number is a scalar of NumPy, which divides by 0 without an error."""
        if isinstance(operand, list):
            return self.np.array(operand, dtype=self.dtype)
        return operand if is_tensor(operand) else self.dtype(operand)

    def apply(self, call: Call, operands: Sequence[Any]) -> Any:
        """One operation, but for constant tensors: its value, which may be a number or a list."""
        op = call.op
        if op.kind is Kind.COUNT:
            return self._count(call, operands[0])
        if op.kind is Kind.LIST:
            return self._list(call, operands)
        given = operands[0]
        bare = [a for a in operands if not is_tensor(a)]
        if bare and (len(bare) == len(operands) or any(isinstance(a, list) for a in bare)):
            first, *others = operands
            operands = [self.tensor(first), *(self.tensor(a) if isinstance(a, list) else a for a in others)]
        match op.kind:
            case Kind.MOVEMENT:
                return moved(call, operands[0], operand_shape(given), fill_of(call), self.np)
            case Kind.SCAN:
                axis = axis_of_scan(call, operand_shape(given))
                return operands[0] if axis is None else self._function(op.numpy)(operands[0], axis=axis)
            case Kind.REDUCTION:
                return self._function(op.numpy)(operands[0], **_over(call, operand_shape(given)))
        return self._called(call, operands)

    def _called(self, call: Call, values: Sequence[Any]) -> Any:
        op = call.op
        if op.operator and not op.conditions:  # what is true is 1 here, which the signs of logic do not take
            return getattr(operator, op.operator)(*values)
        if op.numpy:
            return self._function(op.numpy)(*values)
        if op.scipy:
            return getattr(self.special, op.scipy)(*call.statics, *values)
        if op.math:
            return self.np.vectorize(getattr(self.math, op.math), otypes=[float])(*values)
        return values[0]  # `detach`: NumPy knows no derivatives

    def _list(self, call: Call, operands: Sequence[Any]) -> Any:
        (dim,), shapes = call.statics, {operand_shape(a) for a in operands}
        axis = {"axis": dim} if dim else {}
        if not call.op.adds_dimension:
            return self.np.concatenate([self.tensor(a) for a in operands], **axis)
        if len(shapes) > 1:
            return self.np.stack(self.np.broadcast_arrays(*operands), **axis)
        return list(operands) if not dim and not any(map(is_tensor, operands)) else self.np.stack([*operands], **axis)

    def _function(self, path: str) -> Any:
        """The function at a dotted path below NumPy."""
        return reduce(getattr, path.split("."), self.np)

    def _count(self, call: Call, operand: Any) -> Any:
        """The number of elements, as a number of Python."""
        shape, dim = operand_shape(operand), call.statics[0]
        axes = axes_of(shape, dim)
        if not is_tensor(operand) or (dim is not None and len(axes) != 1):
            return count_of(shape, dim)
        return operand.size if dim is None else self.np.size(operand, axes[0])


def _over(call: Call, shape: tuple[int, ...]) -> dict[str, Any]:
    """The dimensions of a reduction, which are left out where they are all."""
    dim, keepdim = call.statics
    axes = axes_of(shape, dim)
    axis = {} if axes == tuple(range(len(shape))) else {"axis": axes[0] if len(axes) == 1 else axes}
    return {**axis, **({"keepdims": True} if keepdim else {})}

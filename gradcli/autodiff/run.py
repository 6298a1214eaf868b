"""A Program in torch operations: the function that the user wrote, in the order they wrote it.

Torch's call for each operation stands in `library_calls`; no derivative is written here: autograd has its own.

A `Trace` throws nothing away.  The adjoint of a line is ∂(v·y)/∂line.  It is the sum of the contributions of the
operations that use the line; torch keeps none of them, so the contribution of one operation is asked for alone, on
copies of its operands.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from gradcli.arrays import Array
from gradcli.autodiff._torch import torch
from gradcli.autodiff.backward_errors import backward_error
from gradcli.autodiff.devices import CPU
from gradcli.errors import InputError
from gradcli.language.ops import Kind
from gradcli.language.program import numeric
from gradcli.language.program.expansion import Expansion, definition, expand, expansion, with_shapes
from gradcli.language.program.library_calls import (
    LibraryValue,
    TorchCalls,
    is_in_torch,
    operand_shape,
    plain,
    undifferentiated,
)
from gradcli.language.program.passes import for_torch, for_torch_twice
from gradcli.language.program.wengert import Atom, Call, Line, Program, Shape

Tensor = torch.Tensor
"""A `torch.Tensor`."""

Device = str | torch.device
"""Device, or its name."""

Operation = Callable[[Call, Mapping[Atom, LibraryValue], TorchCalls], LibraryValue]
"""Function that runs a call on the values of its operands."""


class SparseRows(Protocol):
    """What of a `scipy.sparse.csr_array` makes a tensor; this module does not need SciPy."""

    @property
    def indptr(self) -> npt.NDArray[np.int32]:
        """Where each row begins."""

    @property
    def indices(self) -> npt.NDArray[np.int32]:
        """The column of each entry."""

    @property
    def data(self) -> Array:
        """The number of each entry."""

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns."""


@dataclass(frozen=True, slots=True)
class Forward:
    """A Program that has run: the leaves of the variables and the output with its graph."""

    leaves: dict[str, Tensor]
    output: Tensor


def run(
    program: Program,
    inputs: Mapping[str, Array],
    wrt: tuple[str, ...],
    dtype: str,
    *,
    twice: bool = False,
    device: str = CPU,
) -> Forward:
    """Evaluate the Program in torch, recording the graph for the variables in `wrt`.

    Args:
        program: The Program to run.
        inputs: An array per variable.
        wrt: The variables that require a gradient.
        dtype: `float64` or `float32`, of every tensor.
        twice: Whether the gradients will be differentiated again.
        device: Of every tensor.

    Raises:
        InputError: A matrix has no inverse, or torch refuses something else: a negative beta, probabilities above 1.
    """
    ran = for_torch_twice(program) if twice else for_torch(program)
    leaves = leaves_of(ran, inputs, (*wrt, *differentiated_by(ran)), dtype, device)
    return Forward(leaves, output_of(ran, evaluate(ran, leaves, dtype, device=device), dtype, device))


def composed(forward: Forward, program: Program, inputs: Mapping[str, Array], y: str) -> Forward:
    """Evaluate a Program in the output of one that has run, on top of its graph.

    Args:
        forward: The Program that has run.
        program: The Program to run.
        inputs: An array per variable but y.
        y: The name of the output.
    """
    ran, dtype = for_torch(program), dtype_name(forward.output.dtype)
    tensors = {name: tensor_of(array, forward.output.dtype, forward.output.device) for name, array in inputs.items()}
    values = evaluate(ran, {**tensors, y: forward.output}, dtype, device=forward.output.device)
    return Forward(forward.leaves, output_of(ran, values, dtype, forward.output.device))


def leaves_of(
    program: Program, inputs: Mapping[str, Array], wrt: tuple[str, ...], dtype: str, device: Device = CPU
) -> dict[str, Tensor]:
    """Make a tensor for each variable, with a gradient required of the variables in `wrt`."""
    kind = getattr(torch, dtype)
    return {name: tensor_of(inputs[name], kind, device).requires_grad_(name in wrt) for name in program.names}


def differentiated_by(program: Program) -> list[str]:
    """List the variables by which the Program takes derivatives; all if one is by a value computed from them."""
    by = [str(line.call.operands[1]) for line in program.lines if line.call.op.name in ("gradient", "jacobian")]
    return by if set(by) <= set(program.names) else list(program.names)


def evaluate(
    program: Program,
    leaves: Mapping[str, Tensor],
    dtype: str,
    *,
    by: Operation | None = None,
    device: Device | None = None,
) -> dict[Atom, Tensor]:
    """Compute the value of every variable and line of a Program in torch's operations.

    Args:
        program: The Program to run, in operations that torch has.
        leaves: A tensor per variable.
        dtype: `float64` or `float32`.
        by: The function that runs an operation, in place of `apply`.
        device: Of the constants; by default that of torch.

    Raises:
        InputError: A matrix has no inverse, or torch refuses something else.
    """
    calls = calls_in(dtype, device)
    values: dict[Atom, LibraryValue] = {symbol: leaves[symbol.name] for symbol in program.variables}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of losses between shapes that broadcast
        for line in program.lines:
            if line.call.op.name in numeric.PLACES:
                tensors = [calls.tensor(values[a] if a in values else plain(a)) for a in line.call.operands]
                _require_positions(program, line, tensors)
            try:
                values[line.symbol] = (by or apply)(line.call, values, calls)
            except torch.linalg.LinAlgError:  # type: ignore[attr-defined]
                raise numeric.refused_matrix(line.call, program.place(line)) from None
            except (RuntimeError, ValueError, TypeError, IndexError, OverflowError) as error:
                if "allocate memory" in str(error):
                    raise
                reason = " ".join(str(error).split())
                raise InputError(f"torch refuses {line.call.op.name}: {reason}", place=program.place(line)) from None
    return {symbol: calls.tensor(value) for symbol, value in values.items()}


def _require_positions(program: Program, line: Line, tensors: Sequence[Tensor]) -> None:
    """Refuse positions of elements that do not exist."""
    if not line.call.op.positions([one.dim() for one in tensors]):
        return
    try:
        from_end = numeric.counts_from_end(program, line)
        numeric.require_positions(line.call, [np.asarray(one.detach().cpu()) for one in tensors], from_end)
    except RuntimeError:  # under vmap, which hides the numbers: point after point they are there
        raise InputError("positions are looked at one point after the other", place=program.place(line)) from None
    except InputError as error:
        error.place = program.place(line)
        raise


def output_of(program: Program, values: Mapping[Atom, Tensor], dtype: str, device: Device | None = None) -> Tensor:
    """Return the value of y as a tensor, also where y is a number."""
    output = values.get(program.output)
    if output is None:
        output = torch.tensor(plain(program.output), dtype=getattr(torch, dtype), device=device)
    return output


def tensor_of(array: Array, kind: LibraryValue, device: Device = CPU) -> Tensor:
    """Make a tensor with numbers of its own; `torch.tensor` reads an array element by element, 500 times as slow.

    The numbers are rounded before they go to the device, which may have no float64.
    """
    found = torch.from_numpy(np.array(array, dtype=np.float64)).to(kind)
    return found if device == CPU else found.to(device)


def tensor_type(dtype: str) -> object:
    """Give the dtype of torch with this name."""
    return getattr(torch, dtype)


def dtype_name(dtype: torch.dtype) -> str:
    """Give the name that torch, NumPy and `--dtype` share.

    >>> dtype_name(torch.float32)
    'float32'
    """
    return str(dtype).removeprefix("torch.")


def on_device(array: Array | SparseRows, device: str) -> Tensor:
    """Copy an array to a tensor on a device; a `scipy.sparse.csr_array` to one of torch's sparse rows."""
    if isinstance(array, np.ndarray | np.generic):
        return torch.tensor(array, device=device)
    starts, columns, numbers = (torch.as_tensor(one) for one in (array.indptr, array.indices, array.data))
    with warnings.catch_warnings(action="ignore"):  # of a format that torch calls a beta
        return torch.sparse_csr_tensor(starts, columns, numbers, array.shape, device=device, check_invariants=False)


def array_of(tensor: Tensor) -> Array:
    """Copy the numbers of a tensor of any device, without its graph; a sparse tensor is copied with its zeros.

    The copy is torch's own, as only torch knows of a tensor of zeros that has no memory.  The slope of an element of
    amax may be a part of such a tensor, and NumPy would read it at an address that does not exist.
    """
    own = tensor.detach()
    if own.layout is not torch.strided or own.device.type != "cpu":
        own = own.to_dense().cpu()
    found: Array = own.clone().numpy()
    return found


def derivative_of(tensor: Tensor) -> Array:
    """Copy the numbers of a derivative, as `array_of` does, without the sign of any 0.

    A backward pass multiplies zeros, of the structure and of v, by negative numbers, and leaves -0, which
    says nothing of the function.  The -0 of a value is kept: it is the number that `-x` has at 0, and 1/-0 is -inf.
    """
    found = array_of(tensor)
    found += 0.0
    return found


def unshared(
    program: Program, inputs: Mapping[str, Array], wrt: tuple[str, ...], dtype: str, device: str = CPU
) -> tuple[Expansion, Forward, dict[Atom, Tensor]]:
    """Run as `run` does, without joining equal lines: give the expansion, the Forward, and a tensor for each value."""
    ran = expansion(program, keep=is_in_torch, shares=False)
    leaves = leaves_of(ran.program, inputs, wrt, dtype, device)
    values = evaluate(ran.program, leaves, dtype, device=device)
    return ran, Forward(leaves, output_of(ran.program, values, dtype, device)), values


def calls_in(dtype: str, device: Device | None = None) -> TorchCalls:
    """Return torch's calls for operations in a dtype, on a device."""
    return TorchCalls(torch, getattr(torch, dtype), device)


def apply(call: Call, values: Mapping[Atom, object], calls: TorchCalls) -> LibraryValue:
    """Run one operation on the values of its operands: give a tensor, or a size or list as `library_calls` has it."""
    operands = [values[a] if a in values else plain(a) for a in call.operands]
    if call.op.whole:
        _require_whole(call, operands)
    moving = (values[a] for a in undifferentiated(call) if a in values and not call.op.is_primitive)
    if any(isinstance(a, torch.Tensor) and a.requires_grad for a in moving):
        return apply_meaning(call, operands, calls)
    if call.op.kind is Kind.SOURCE:
        return tensor_of(numeric.array_of(call), calls.dtype, calls.device or CPU)
    return calls.apply(call, operands)


def apply_meaning(call: Call, operands: Sequence[LibraryValue], calls: TorchCalls) -> LibraryValue:
    """Run what an operation means, which has a derivative where torch's function has none."""
    statics = with_shapes(call, [operand_shape(a) for a in operands])
    meaning = expand(definition(call.op.name, statics, len(operands)), keep=is_in_torch)
    tensors = dict(zip(meaning.names, map(calls.tensor, operands), strict=True))
    dtype = dtype_name(calls.dtype)
    return output_of(meaning, evaluate(meaning, tensors, dtype, device=calls.device), dtype, calls.device)


def _require_whole(call: Call, operands: list[object]) -> None:
    """Refuse fractions where positions are needed: torch would take their whole part."""
    whole = call.op.positions([len(operand_shape(a)) for a in operands])
    for name, given in zip(call.op.operands, operands, strict=False):
        tensor = torch.as_tensor(given)
        if name in whole and not bool((tensor == tensor.round()).all()):
            raise ValueError(f"{name} holds class indices or other positions, which are whole numbers")


# -- traces: runs that keep all values


@dataclass(frozen=True)
class Trace:
    """All that torch computed on the way to y and back.

    Attributes:
        program: The lines that torch ran.
        dtype: `float64` or `float32`.
        values: The value of every variable and line; conditions are booleans.
        adjoints: ∂(v·y)/∂line, of the shape of the line, for each variable and line that v·y depends on.
        device: Of every tensor.
    """

    program: Program
    dtype: str
    values: Mapping[Atom, Array]
    adjoints: Mapping[Atom, Array]
    device: str = CPU

    def contributions(self, line: Line) -> dict[Atom, Array]:
        """Compute the contribution of one line to each operand's adjoint: the vector-Jacobian product of its operation.

        Returns:
            An array of the operand's shape for every operand that the line has a derivative by.

        Raises:
            InputError: Torch refuses the backward pass.
        """
        adjoint = self.adjoints.get(line.symbol)
        if adjoint is None:
            return {}
        copies = {a: torch.tensor(self.values[a], device=self.device) for a in line.call.operands if a in self.values}
        leaves = {a: copy.requires_grad_() for a, copy in copies.items() if copy.is_floating_point()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of losses between shapes that broadcast
            try:
                return _back(apply(line.call, copies, calls_in(self.dtype, self.device)), leaves, adjoint)
            except RuntimeError as error:
                raise backward_error(error) from None


def trace(
    program: Program, inputs: Mapping[str, Array], wrt: tuple[str, ...], dtype: str, v: Array, device: str = CPU
) -> Trace:
    """Run a Program in torch, forward and back, and keep all values and adjoints.

    Args:
        program: The Program to run.
        inputs: An array per variable.
        wrt: The variables to differentiate by.
        dtype: `float64` or `float32`, of every tensor.
        v: The gradient vector, of y's shape.
        device: Of every tensor.

    Raises:
        InputError: Torch refuses an operation or the backward pass.

    >>> from gradcli.language.parsing import parse
    >>> found = trace(parse("sin(x)**2"), {"x": np.array(0.0)}, ("x",), "float64", np.array(1.0))
    >>> [found.values[line.symbol].item() for line in found.program.lines]
    [0.0, 0.0]
    """
    ran = for_torch(program)
    leaves = leaves_of(ran, inputs, wrt, dtype, device)
    values = evaluate(ran, leaves, dtype, by=unaliased, device=device)
    y = output_of(ran, values, dtype, device)
    known = {atom: tensor for atom, tensor in values.items() if tensor.requires_grad}
    return Trace(ran, dtype, {atom: array_of(tensor) for atom, tensor in values.items()}, _back(y, known, v), device)


def unaliased(call: Call, values: Mapping[Atom, object], calls: TorchCalls) -> LibraryValue:
    """Run one operation, and give a new tensor also where torch gives back its operand: each line has an adjoint."""
    found = apply(call, values, calls)
    is_old = isinstance(found, torch.Tensor) and any(found is values.get(a) for a in call.operands)
    return found.view_as(found) if is_old else found


def _back(y: LibraryValue, tensors: Mapping[Atom, LibraryValue], v: Array) -> dict[Atom, Array]:
    """Compute the vector-Jacobian product by some tensors; by none that y does not depend on."""
    if not tensors or not y.requires_grad:
        return {}
    try:
        found = torch.autograd.grad(
            y, list(tensors.values()), tensor_of(v, y.dtype, y.device), retain_graph=True, allow_unused=True
        )
    except RuntimeError as error:
        raise backward_error(error) from None
    return {atom: derivative_of(g) for atom, g in zip(tensors, found, strict=True) if g is not None}


# -- random numbers of a text, drawn by torch itself


class TorchGenerator:
    """Generator of random numbers, separate from torch's, which is left as it was.

    >>> generator = TorchGenerator()
    >>> generator.seed(3)
    >>> found = generator.draw("randn", (2,), is_double=False)
    >>> bool((found == torch.randn(2, generator=torch.Generator().manual_seed(3)).double().numpy()).all())
    True
    """

    def __init__(self) -> None:
        self._generator = torch.Generator()
        self.seed(0)

    def seed(self, number: int) -> None:
        """Begin anew, as after `torch.manual_seed(number)`."""
        self._generator.manual_seed(number)

    def draw(self, name: str, shape: Shape, *, is_double: bool) -> npt.NDArray[np.float64]:
        """Draw numbers of `torch.rand` or `torch.randn`, in float64.

        Args:
            name: The name of the function.
            shape: The shape of the tensor.
            is_double: Whether the tensor has float64, in which torch draws other numbers.
        """
        dtype = torch.float64 if is_double else torch.float32
        found = getattr(torch, name)(shape, generator=self._generator, dtype=dtype)
        return np.asarray(found.numpy(), dtype=np.float64)

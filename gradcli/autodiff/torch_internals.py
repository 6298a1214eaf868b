"""Private names of torch, each behind a function that says which one it is, and why it is needed.

torch promises none of them.  `tests/autodiff/test_torch_internals.py` has a test for each, whose failure names what
became different; no other module uses a private name of torch.  Names of ATen's operations, `_to_copy`, are not meant:
an operation that a recording does not know is decomposed, or refused.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from importlib import import_module
from types import CodeType, FunctionType
from typing import Any

from gradcli.autodiff._torch import torch

TorchFunction = Any
"""Function of torch: an overload of ATen, or a function that calls some, as only torch itself describes them."""

Tensor = torch.Tensor
"""A `torch.Tensor`."""

# -- what sees the calls of torch


class DispatchMode(torch.utils._python_dispatch.TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Base of modes below autograd (`torch.utils._python_dispatch.TorchDispatchMode`), which see each call of ATen.

    A mode overrides `dispatch`.
    """

    def __torch_dispatch__(
        self,
        function: TorchFunction,
        types: object,
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        """Run a call as the mode does."""
        return self.dispatch(function, args, kwargs or {})

    def dispatch(self, function: TorchFunction, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
        """Run a call of ATen."""
        return function(*args, **kwargs)

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else the first call imports torch._dynamo, which takes a second


DISPATCH_FILE: str = torch.utils._python_dispatch.__file__
"""File whose frames stand between the code of a user and a `DispatchMode`."""

APPLY: CodeType = torch.autograd.Function.apply.__func__.__code__  # type: ignore[attr-defined]
"""Code that runs while a custom function is applied (`Function.apply.__func__`, which torch writes in Python)."""


@contextlib.contextmanager
def applying(apply: Callable[..., object]) -> Iterator[None]:
    """Replace in a block what applies custom functions (`_SingleLevelFunction.apply`, of which torch writes none).

    Args:
        apply: Called with the class, its arguments as a tuple, and what applies it.
    """
    owner: TorchFunction = torch.autograd.function._SingleLevelFunction
    before = vars(owner).get("apply")

    def replaced(cls: TorchFunction, *args: object) -> object:
        return apply(cls, args, super(owner, cls).apply)

    owner.apply = classmethod(replaced)
    try:
        yield
    finally:
        if before is None:
            del owner.apply
        else:
            owner.apply = before


BACKWARD_FRAME = "_engine_run_backward"
"""Name of the function of torch whose frame stands between a caller and the backward functions that it runs."""


def without_dispatch() -> AbstractContextManager[object]:
    """Compute in a block what no `DispatchMode` sees (`torch._C._DisableTorchDispatch`)."""
    guard: AbstractContextManager[object] = torch._C._DisableTorchDispatch()
    return guard


def without_functions() -> AbstractContextManager[object]:
    """Compute in a block what no `__torch_function__` sees (`torch._C.DisableTorchFunction`)."""
    guard: AbstractContextManager[object] = torch._C.DisableTorchFunction()
    return guard


def without_modes() -> AbstractContextManager[object]:
    """Leave all modes in a block, to enter others (`torch.utils._python_dispatch._disable_current_modes`)."""
    modes: AbstractContextManager[object] = torch.utils._python_dispatch._disable_current_modes()
    return modes


def without_transforms() -> AbstractContextManager[object]:
    """Leave `torch.vmap` and others in a block (`torch._functorch.pyfunctorch.temporarily_clear_interpreter_stack`)."""
    guard: AbstractContextManager[object] = torch._functorch.pyfunctorch.temporarily_clear_interpreter_stack()
    return guard


def with_autograd() -> AbstractContextManager[object]:
    """Let autograd follow calls within a `DispatchMode`, which is below it (`torch._C._SetExcludeDispatchKeyGuard`)."""
    key = torch._C.DispatchKey.AutogradFunctionality
    guard: AbstractContextManager[object] = torch._C._SetExcludeDispatchKeyGuard(key, False)
    return guard


def is_dynamo_loaded() -> bool:
    """Tell whether torch._dynamo was imported, without which nothing is compiled."""
    return "torch._dynamo" in sys.modules


# -- tensors


def base_of(tensor: Tensor) -> Tensor:
    """Return the tensor that one is a view of, or itself (`Tensor._base`)."""
    return tensor if tensor._base is None else tensor._base


def version_of(tensor: Tensor) -> int:
    """Count the changes in place of a tensor (`Tensor._version`), which an inference tensor does not count."""
    return int(tensor._version)


def keeping_version(tensor: Tensor) -> AbstractContextManager[object]:
    """Change a tensor in a block without a new version (`torch.autograd._unsafe_preserve_version_counter`).

    A graph that has kept the tensor is then still good, if its numbers are.
    """
    guard: AbstractContextManager[object] = torch.autograd._unsafe_preserve_version_counter(tensor)  # type: ignore[attr-defined]
    return guard


def storage_number(tensor: Tensor) -> int:
    """Name the memory of a tensor by a number, equal for its views (`UntypedStorage._cdata`)."""
    return int(tensor.untyped_storage()._cdata)


def batch_of(tensor: Tensor) -> Tensor | None:
    """Return the tensors that one stands for within `torch.vmap`, along a first dimension; None of any other tensor.

    A `BatchedTensor` is known by `torch._C._functorch.is_batchedtensor`, and has no memory of its own.
    """
    if not torch._C._functorch.is_batchedtensor(tensor):
        return None
    whole: Tensor = torch._C._functorch.get_unwrapped(tensor)
    return whole.movedim(torch._C._functorch.maybe_get_bdim(tensor), 0)


def is_zero_tensor(tensor: Tensor) -> bool:
    """Tell whether a tensor is a zero without memory (`Tensor._is_zerotensor`), as autograd makes them."""
    return bool(tensor._is_zerotensor())


def is_transformed(tensor: Tensor) -> bool:
    """Tell whether a transform of torch.func wraps a tensor (`torch._C._functorch.is_functorch_wrapped_tensor`)."""
    return bool(torch._C._functorch.is_functorch_wrapped_tensor(tensor))


def map_nested(kind: type | tuple[type, ...], by: Callable[[Any], object], value: object) -> Any:
    """Map what is of a type in a nested value (`torch.utils._pytree.tree_map_only`), as torch looks into it."""
    return torch.utils._pytree.tree_map_only(kind, by, value)


# -- autograd


def current_node() -> Any:
    """Return the node that autograd goes back through, or None (`torch._C._current_autograd_node`)."""
    return torch._C._current_autograd_node()


def number_of(node: Any) -> int:
    """Return the number of a node of the graph (`Node._sequence_nr`): later ones of a thread have larger numbers."""
    return int(node._sequence_nr())


def next_number() -> int:
    """Return the number that the next node gets (`torch._C._autograd._get_sequence_nr`)."""
    return int(torch._C._autograd._get_sequence_nr())


def custom_function_of(node: object) -> type | None:
    """Return the `autograd.Function` that made a node (`_forward_cls`), or None."""
    found: type | None = getattr(node, "_forward_cls", None)
    return found


def checkpoints() -> Any:
    """Return the module of checkpoints, whose `CheckpointFunction` is replaced; torch 2.6 does not import it itself."""
    return import_module("torch.utils.checkpoint")


def is_within_dual_level() -> bool:
    """Tell whether forward-mode derivatives are being computed (`torch.autograd.forward_ad._current_level`)."""
    return torch.autograd.forward_ad._current_level >= 0


def has_context_in_forward(function: type[torch.autograd.Function]) -> bool:
    """Tell whether the `forward` of a custom function takes ctx, as it has no `setup_context` of its own.

    That of its base is `torch.autograd.function._SingleLevelFunction.setup_context`.
    """
    return function.setup_context is torch.autograd.function._SingleLevelFunction.setup_context


# -- operations


def full_name_of(function: TorchFunction) -> str:
    """Return the name of an operation without its overload, `aten::add` (`OpOverload._schema`)."""
    return str(function._schema.name)


def operation_of(function: TorchFunction) -> TorchFunction | None:
    """Return the operation that a function is, of `torch.ops` or of `torch.library.custom_op`; None of any other.

    It has the `_schema` of `OpOverload`; a custom one is a `CustomOpDef` with an `_opoverload`.
    """
    if isinstance(function, torch._ops.OpOverloadPacket):
        return getattr(function, function.overloads()[0])  # type: ignore[no-untyped-call]
    if isinstance(function, torch._library.custom_ops.CustomOpDef):
        return function._opoverload
    return function if isinstance(function, torch._ops.OpOverload) else None


def arguments_of(function: TorchFunction) -> Sequence[Any]:
    """List an operation's arguments, each with name, type, default and alias (`OpOverload._schema`)."""
    found: Sequence[Any] = function._schema.arguments
    return found


def has_result(function: TorchFunction) -> bool:
    """Tell whether an operation gives anything back (`OpOverload._schema`)."""
    return bool(function._schema.returns)


def has_autograd(function: TorchFunction) -> bool:
    """Tell whether an operation has a backward where autograd looks for one, or consists of others that have.

    The keys of kernels are `Autograd`, `AutogradCPU` and `CompositeImplicitAutograd`
    (`torch._C._dispatch_has_kernel_for_dispatch_key`).
    """
    keys = "Autograd", "AutogradCPU", "CompositeImplicitAutograd"
    return any(torch._C._dispatch_has_kernel_for_dispatch_key(function.name(), key) for key in keys)


def decompositions() -> Mapping[TorchFunction, Callable[..., Any]]:
    """Map operations to functions that compute them by others (`torch._decomp.decomposition_table`)."""
    table: Mapping[TorchFunction, Callable[..., Any]] = torch._decomp.decomposition_table
    return table


def references() -> Mapping[str, Any]:
    """Map names to what torch's reference implementations define (`torch._refs`)."""
    return vars(torch._refs)


def broadcast_in_dim(*given: object) -> Any:
    """Compute the primitive of that name (`torch._prims._broadcast_in_dim_aten`), whose module is loaded for it."""
    return torch._prims._broadcast_in_dim_aten(*given)  # type: ignore[no-untyped-call]


def without_laziness(function: object, operands: Sequence[object]) -> Any:
    """Give for the conjugate that is a view (`aten._conj`) the one that computes it, and any other operation itself.

    Only of tensors: the latter takes no number of Python.
    """
    is_lazy = function is torch.ops.aten._conj.default and isinstance(operands[0], torch.Tensor)
    return torch.ops.aten._conj_physical.default if is_lazy else function


def free_of_compiler() -> None:
    """Let torch's decompositions run as they are (`__dynamo_disable`).

    The first of them would import the compiler to be kept from it, for 1.4 s.  That holds for the whole process, which
    may still compile what is its own.
    """
    for function in (*decompositions().values(), *references().values()):
        _free_of_compiler(function)


def _free_of_compiler(function: TorchFunction) -> None:
    is_of_torch = isinstance(function, FunctionType) and function.__module__.startswith("torch.")
    if is_of_torch and not hasattr(function, "__dynamo_disable"):
        function.__dynamo_disable = function
        for cell in function.__closure__ or ():
            with suppress(ValueError):  # an empty cell
                _free_of_compiler(cell.cell_contents)


def numpy_on_tensors() -> TorchFunction:
    """Return the functions of NumPy on tensors (`torch._numpy`), by which torch compiles code of NumPy."""
    return import_module("torch._numpy")

"""What a recording holds: the values of a run, and where in the user's code they come from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor, array_of
from gradcli.errors import InputError
from gradcli.results import Array

_pytree = torch.utils._pytree


@dataclass
class Leaf:
    """A tensor that no step made.

    Attributes:
        name: Of the argument, of the parameter, or what it is called where it is used.
        tensor: Itself, which a later run may find again.
        value: Its numbers when it was first used.
        is_argument: Whether the function was given it.
        is_made: Whether the function made it, from no tensors: `torch.randn(3)`.
    """

    name: str
    tensor: Tensor
    value: Tensor
    is_argument: bool
    is_made: bool = False


@dataclass(frozen=True, slots=True)
class DecidedValue:
    """A value of a tensor that Python decided by: `if x.sum() > 0:`.

    Attributes:
        condition: What is 1 where it holds and 0 where it does not.
        value: Its numbers.
        at: The line of the user's, for messages.
        shown: What is decided, where the user has not written the condition.
        changes: What is otherwise where it is decided otherwise.
    """

    condition: Any
    value: Tensor
    at: str
    shown: str
    changes: str


@dataclass
class Application:
    """One application of an `autograd.Function`, in whose forward steps were recorded.

    Attributes:
        function: The class.
        arguments: What it was applied to, with copies of its tensors.
    """

    function: type
    arguments: tuple[Any, ...]


class WrongDtypeError(InputError):
    """A function computes in another dtype than that of its arguments.

    Attributes:
        dtype: The one that it computes in.
    """

    def __init__(self, dtype: str) -> None:
        is_judged = dtype in ("float64", "float32")
        hint = f"add --dtype {dtype}" if is_judged else "float64 and float32 are judged"
        super().__init__(f"the function computes in {dtype}", hint=hint)
        self.dtype = dtype


def numbers_of(tensor: Tensor) -> Array:
    """The numbers of a tensor; those of whole numbers and truth values as floats."""
    found = array_of(tensor)
    return found if found.dtype.kind == "f" else found.astype(np.float64)


def within(value: Any, kind: type) -> list[Any]:
    """List what is of a type in nested lists, tuples and dictionaries, in order."""
    return [one for one in _pytree.tree_leaves(value) if isinstance(one, kind)]


def replaced(value: Any, kind: type, by: Callable[[Any], Any]) -> Any:
    """The same nested value with other things in place of those of a type."""
    return by(value) if isinstance(value, kind) else _pytree.tree_map_only(kind, by, value)


def tensors_in(value: Any) -> list[Tensor]:
    """List the tensors in nested lists, tuples and dictionaries."""
    return within(value, torch.Tensor)


def copied(tensor: Tensor) -> Tensor:
    """The numbers of a tensor now, without its graph."""
    with torch.no_grad():
        return torch.Tensor.clone(torch.Tensor.detach(tensor))


def is_wrapped(tensor: Tensor) -> bool:
    """Tell whether a transform of torch.func wraps a tensor, or it has no memory of its own."""
    return tensor.layout is not torch.strided or torch._C._functorch.is_functorch_wrapped_tensor(tensor)


def is_plain(value: Any) -> bool:
    """Tell whether a value is a tensor as users make them."""
    return type(value) in (torch.Tensor, torch.nn.Parameter) and not is_wrapped(value)


def is_followed(output: Any) -> bool:
    """Tell whether the lines hold a tensor: floating-point numbers, and what is true or false."""
    return (
        isinstance(output, torch.Tensor)
        and not output.is_meta
        and (output.is_floating_point() or output.is_complex() or output.dtype is torch.bool)
    )

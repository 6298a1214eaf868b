"""Calls of ATen: the schema of an operation, the tensors among its arguments, and the records of a run."""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor, array_of
from gradcli.autodiff.torch_internals import arguments_of
from gradcli.errors import InputError
from gradcli.option_words import option
from gradcli.results import Array

Argument = Any
"""Argument or result of a call of torch: a tensor, a number, a word, a dtype, or lists and dictionaries of these."""

LOW = (torch.bfloat16, torch.float16)
"""Dtypes with fewer digits than are judged."""


@dataclass
class Leaf:
    """Tensor that no recorded call made.

    Attributes:
        tensor: The tensor itself, which a later run may find again.
        value: Its numbers when it was first used.
        is_argument: Whether it is an argument of the function.
        is_made: Whether the function made it, from no tensors: `torch.randn(3)`.
    """

    tensor: Tensor
    value: Tensor
    is_argument: bool
    is_made: bool = False


@dataclass(frozen=True, slots=True)
class DecidedValue:
    """Value of a tensor that decides: by which Python branches, `if x.sum() > 0:`, or which elements are taken.

    Attributes:
        condition: The atom of the condition, which is 1 where it holds and 0 where it does not.
        at: The line of the user's code, for messages.
        shown: The decision in words, where the user has not written the condition.
        branch: Whether Python found the condition true, if it branched on it.
        is_late: Whether it was recorded later than it decided, and may be no decision of this value.
    """

    condition: object
    at: str
    shown: str = ""
    branch: bool | None = None
    is_late: bool = False


@dataclass
class Application:
    """Application of an `autograd.Function`, in whose forward calls were recorded.

    Attributes:
        function: The class.
        arguments: Its arguments, with copies of the tensors.
    """

    function: type
    arguments: tuple[object, ...]


class WrongDtypeError(InputError):
    """Error of a function that computes in another dtype than that of its arguments.

    Attributes:
        dtype: The dtype that it computes in.
    """

    def __init__(self, dtype: str) -> None:
        is_judged = dtype in ("float64", "float32")
        hint = (
            f"give its arguments in {dtype}, as {option('dtype', dtype)} does"
            if is_judged
            else "float64 and float32 are judged"
        )
        super().__init__(f"the function computes in {dtype}", hint=hint)
        self.dtype = dtype


def numbers_of(tensor: Tensor) -> Array:
    """Give the numbers of a tensor; whole numbers, truth values and those of few digits as floats."""
    found = array_of(tensor.float() if tensor.dtype in LOW else tensor)
    return found if found.dtype.kind == "f" else found.astype(np.float64)


def within(value: object, kind: type | tuple[type, ...]) -> list[Argument]:
    """List the values of a type in nested lists, tuples and dictionaries, in order."""
    found: list[object] = []
    _gather(value, kind, found)
    return found


def _gather(value: object, kind: type | tuple[type, ...], found: list[object]) -> None:
    """Append the values of a type, by a plain walk: this is done several times for each call of torch."""
    if isinstance(value, kind):
        found.append(value)
    elif isinstance(value, list | tuple):
        for one in value:
            _gather(one, kind, found)
    elif isinstance(value, dict):
        for one in value.values():
            _gather(one, kind, found)


def replaced(value: Argument, kind: type | tuple[type, ...], by: Callable[[Any], Any]) -> Argument:
    """Replace the values of a type in a nested value."""
    if isinstance(value, kind):
        return by(value)
    if type(value) in (list, tuple):
        return type(value)(replaced(one, kind, by) for one in value)
    if type(value) is dict:
        return {key: replaced(one, kind, by) for key, one in value.items()}
    if value is None or isinstance(value, str | int | float):
        return value
    return torch_internals.map_nested(kind, by, value)


def tensors_in(value: object) -> list[Tensor]:
    """List the tensors in nested lists, tuples and dictionaries."""
    return within(value, torch.Tensor)


def floating_dtypes(value: object) -> set[object]:
    """Collect the dtypes of the tensors of floating-point numbers in a nested value."""
    return {one.dtype for one in tensors_in(value) if one.is_floating_point()}


def copied(tensor: Tensor) -> Tensor:
    """Copy the present numbers of a tensor, without its graph."""
    with torch_internals.without_dispatch(), torch_internals.without_functions(), torch.no_grad():
        return torch.Tensor.clone(torch.Tensor.detach(tensor))


def is_wrapped(tensor: Tensor) -> bool:
    """Tell whether a transform of torch.func wraps a tensor, or it has no memory of its own."""
    return tensor.layout is not torch.strided or torch_internals.is_transformed(tensor)


def is_plain(value: object) -> bool:
    """Tell whether a value is a tensor as users make them."""
    usual = (torch.Tensor, torch.nn.Parameter)
    return isinstance(value, torch.Tensor) and type(value) in usual and not is_wrapped(value)


def can_be_recorded(output: Argument) -> bool:
    """Tell whether lines can hold a value: a tensor of floating-point or complex numbers, or of truth values."""
    is_real = isinstance(output, torch.Tensor) and not output.is_meta
    return is_real and (output.is_floating_point() or output.is_complex() or output.dtype is torch.bool)


# -- schemas

OF_TORCH = ("aten", "prims")
"""Namespaces of torch's own operations, which rows and rules are of."""

Overload = Any
"""Operation of ATen for arguments of certain types: `torch.ops.aten.add.Tensor`."""


def name_of(function: Overload) -> str:
    """Give the name of an operation without its overload, and of one that is not torch's with its namespace.

    >>> name_of(torch.ops.aten.add_.Tensor), name_of(torch.ops.quantized.add.default)
    ('add_', 'quantized::add')
    """
    space, _, name = torch_internals.full_name_of(function).partition("::")
    return name if space in OF_TORCH else f"{space}::{name}"


@functools.lru_cache(maxsize=4096)
def parameters(function: Overload) -> tuple[str, ...]:
    """List the names of the arguments of an operation."""
    return tuple(one.name for one in arguments_of(function))


def bound(function: Overload, args: Sequence[object], kwargs: Mapping[str, object]) -> dict[str, Argument]:
    """Bind the arguments of a call by name, with defaults, except the `out` arguments."""
    given = {**dict(zip(parameters(function), args, strict=False)), **kwargs}
    known = (one for one in arguments_of(function) if one.name in given or one.has_default_value())
    return {one.name: given.get(one.name, one.default_value) for one in known if not one.is_out}


def unbound(function: Overload, given: Mapping[str, object]) -> tuple[list[Argument], dict[str, Argument]]:
    """Split arguments by name into positional ones and keyword ones."""
    known = [one for one in arguments_of(function) if one.name in given]
    by_name = {one.name: given[one.name] for one in known if one.kwarg_only}
    return [given[one.name] for one in known if not one.kwarg_only], by_name


@functools.lru_cache(maxsize=4096)
def writes(function: Overload) -> tuple[str, ...]:
    """List the arguments that an operation writes to, as its schema says."""
    found = [one for one in arguments_of(function) if one.alias_info is not None and one.alias_info.is_write]
    return tuple(one.name for one in found)


def changed_by(function: Overload, args: Sequence[object], kwargs: Mapping[str, object]) -> list[Tensor]:
    """List the tensors that a call writes to."""
    names = writes(function)
    if not names:
        return []
    given = {**dict(zip(parameters(function), args, strict=False)), **kwargs}
    return tensors_in([given.get(name) for name in names])


@functools.lru_cache(maxsize=4096)
def functional(function: Overload) -> Overload | None:
    """Find the operation that returns the result which another one writes to an argument.

    >>> functional(torch.ops.aten.add_.Tensor), functional(torch.ops.aten.mul.out)
    (<OpOverload(op='aten.add', overload='Tensor')>, <OpOverload(op='aten.mul', overload='Tensor')>)
    """
    if not writes(function):
        return function
    if "::" in name_of(function):
        return None
    wanted = [(one.name, str(one.type)) for one in arguments_of(function) if not one.is_out]
    for name in dict.fromkeys((name_of(function).rstrip("_"), name_of(function))):
        packet = getattr(torch.ops.aten, name, None)
        for overload in () if packet is None else packet.overloads():
            other = getattr(packet, overload)
            if not writes(other) and [(one.name, str(one.type)) for one in arguments_of(other)] == wanted:
                return other
    return None

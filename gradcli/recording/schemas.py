"""What is known of an operation of ATen: its arguments, what it writes to, and what gives the same without."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.recording.values import tensors_in

Overload = Any
"""An operation of ATen for arguments of certain types: `torch.ops.aten.add.Tensor`."""


NOISY = frozenset("native_dropout rrelu_with_noise rrelu_with_noise_ _fused_dropout".split())
"""Operations whose result is followed, and random."""


def name_of(function: Overload) -> str:
    """Give the name without that of the overload.

    >>> name_of(torch.ops.aten.add_.Tensor)
    'add_'
    """
    return str(function._schema.name.partition("::")[2])


@functools.lru_cache(maxsize=4096)
def parameters(function: Overload) -> tuple[str, ...]:
    """List the names of the arguments."""
    return tuple(one.name for one in function._schema.arguments)


def bound(function: Overload, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Bind the arguments of a call by name, with defaults, but for those that the result is written to."""
    given = {**dict(zip(parameters(function), args, strict=False)), **kwargs}
    known = (one for one in function._schema.arguments if not one.is_out)
    return {
        one.name: given.get(one.name, one.default_value)
        for one in known
        if one.name in given or one.has_default_value()
    }


def unbound(function: Overload, given: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Tell arguments by name apart into those in order and those by keyword."""
    known = [one for one in function._schema.arguments if one.name in given]
    by_name = {one.name: given[one.name] for one in known if one.kwarg_only}
    return [given[one.name] for one in known if not one.kwarg_only], by_name


@functools.lru_cache(maxsize=4096)
def _writes(function: Overload) -> tuple[str, ...]:
    found = [one for one in function._schema.arguments if one.alias_info is not None and one.alias_info.is_write]
    return tuple(one.name for one in found)


def changed_by(function: Overload, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Tensor]:
    """List the tensors that a call writes to."""
    names = _writes(function)
    if not names:
        return []
    given = {**dict(zip(parameters(function), args, strict=False)), **kwargs}
    return [one for name in names for one in tensors_in(given.get(name))]


@functools.lru_cache(maxsize=4096)
def functional(function: Overload) -> Overload | None:
    """Find the operation that gives what another one writes.

    >>> functional(torch.ops.aten.add_.Tensor), functional(torch.ops.aten.mul.out)
    (<OpOverload(op='aten.add', overload='Tensor')>, <OpOverload(op='aten.mul', overload='Tensor')>)
    """
    if not _writes(function):
        return function
    wanted = [(one.name, str(one.type)) for one in function._schema.arguments if not one.is_out]
    for name in dict.fromkeys((name_of(function).rstrip("_"), name_of(function))):
        packet = getattr(torch.ops.aten, name, None)
        for overload in () if packet is None else packet.overloads():
            other = getattr(packet, overload)
            if not _writes(other) and [(one.name, str(one.type)) for one in other._schema.arguments] == wanted:
                return other
    return None

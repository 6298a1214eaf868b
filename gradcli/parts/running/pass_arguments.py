"""The arguments of a backward pass: its output and its gradient vectors, several under `torch.vmap`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor, array_of
from gradcli.errors import InputError
from gradcli.recording.aten_calls import Argument
from gradcli.recording.places import CallPlace
from gradcli.results import Array

_VECTORS = frozenset("gradient grad_outputs grad_tensors".split())
"""Names of the gradient vector among the arguments of passes."""


def output_and_vectors(given: Mapping[str, Argument]) -> tuple[Tensor, Sequence[Array]]:
    """Return the output of a pass, and its gradient vectors: none, one, or several at once.

    Raises:
        InputError: It has several outputs.
    """
    y = _only(next(iter(given.values())))
    v = _only(next((one for name, one in given.items() if name in _VECTORS), None))
    if not isinstance(y, torch.Tensor):
        raise InputError("a pass of several outputs at once is not answered")
    is_batched = given.get("is_grads_batched") or (v is not None and torch_internals.batch_of(v) is not None)
    return y, () if v is None else [*array_of(unbatched(v))] if is_batched else [array_of(v)]


def require_plain(given: Mapping[str, Argument], place: CallPlace) -> None:
    """Require that no transform of torch.func makes the pass, whose tensors have no numbers of their own.

    Raises:
        InputError: One does.
    """
    y = _only(next(iter(given.values()), None))
    if isinstance(y, torch.Tensor) and torch_internals.is_transformed(y) and torch_internals.batch_of(y) is None:
        file = place.where.split(",")[0] or "FILE.py"
        raise InputError(f"it is made by a transform of torch.func; check its function: gradcli check {file}::NAME")


def unbatched(tensor: Tensor) -> Tensor:
    """Return all that a tensor stands for within `torch.vmap`, or itself."""
    several = torch_internals.batch_of(tensor)
    return tensor if several is None else several


def _only(value: Argument) -> Argument:
    """Unwrap a list or tuple of one value; give anything else as it is."""
    return value[0] if isinstance(value, tuple | list) and len(value) == 1 else value

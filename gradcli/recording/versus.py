"""Two implementations of one function held to the same truth: is the error of one at most k times that of the other?

The question of those who write kernels in low precision, where neither has all digits.  The truth is the enclosure of
the baseline, recorded in float64 at the very numbers that both are given.

Source: the tests of FlashAttention, T. Dao et al., which allow twice the error of PyTorch in the same precision.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcli.autodiff._torch import torch
from gradcli.errors import InputError
from gradcli.recording.plain_functions import record
from gradcli.results import Array, Entry

_SEED = 0
"""Of the gradient vector."""


@dataclass(frozen=True, slots=True)
class ErrorRatio:
    """The largest errors of two implementations over the entries of y or of a gradient whose truth is known.

    Attributes:
        name: `y`, or `x.grad`.
        error: Of the function.
        baseline: Of the other.
        allowed: `k` times that, and one rounding of the largest entry.
        entries: How many were compared.
    """

    name: str
    error: float
    baseline: float
    allowed: float
    entries: int

    @property
    def passed(self) -> bool:
        """Whether the error is as small as is allowed, of some entry at least."""
        return self.entries > 0 and self.error <= self.allowed

    def __str__(self) -> str:
        word = "passed" if self.passed else "did not pass" if self.entries else "unchecked"
        found = f"error {self.error:.2g}, of the baseline {self.baseline:.2g}, at most {self.allowed:.2g}"
        return f"{self.name}: {word}, {found} ({self.entries} entries)"


def compare(
    function: Callable[..., Any],
    baseline: Callable[..., Any],
    tensors: Sequence[Any],
    named: Mapping[str, Any],
    k: float,
) -> tuple[ErrorRatio, ...]:
    """The errors of y and of each gradient, for one random gradient vector.

    Raises:
        InputError: They give no tensors of one shape, or the baseline cannot be recorded.
    """
    exact = copy.deepcopy(baseline).double() if isinstance(baseline, torch.nn.Module) else baseline
    wide = {name: _double(one) for name, one in named.items()}
    asked = record(exact, *map(_double, tensors), **wide)
    given = dict(zip(asked.parameters, tensors, strict=False)) | dict(named)
    floats = [name for name, one in given.items() if isinstance(one, torch.Tensor) and one.is_floating_point()]
    wrt = [name for name in floats if given[name].requires_grad] or floats
    if not wrt:
        raise InputError("there is no tensor of floating-point numbers to differentiate by")
    theirs, v = _ran(baseline, given, tensors, wrt)
    mine, own = _ran(function, given, tensors, wrt)
    if own.shape != v.shape:
        raise InputError(f"the function gives a tensor of shape {tuple(own.shape)}, the baseline {tuple(v.shape)}")
    known = asked.check(v=v.double().numpy(), wrt=wrt, dtype="float64")
    found = []
    for name in (None, *wrt):
        entries = [one for one in known.opinions if one.variable == name and one.reference is not None]
        unit = float(torch.finfo((own if name is None else given[name]).dtype).eps)
        found.append(_ratio(f"{name}.grad" if name else known.output, mine[name], theirs[name], entries, k, unit))
    return tuple(found)


def _ratio(name: str, mine: Array, theirs: Array, entries: Sequence[Entry], k: float, unit: float) -> ErrorRatio:
    """The errors at the entries; infinite where a number is not finite."""
    places = [(one.row if one.variable is None else one.column) or () for one in entries]
    truth = np.array([one.reference for one in entries])
    errors = [np.abs(np.array([array[place] for place in places]) - truth) for array in (mine, theirs)]
    error, other = (float(np.where(np.isfinite(one), one, math.inf).max(initial=0.0)) for one in errors)
    return ErrorRatio(name, error, other, k * other + unit * float(np.abs(truth).max(initial=0.0)), len(entries))


def _double(one: Any) -> Any:
    return one.detach().cpu().double() if isinstance(one, torch.Tensor) and one.is_floating_point() else one


def _ran(
    function: Callable[..., Any], given: Mapping[str, Any], tensors: Sequence[Any], wrt: Sequence[str]
) -> tuple[dict[str | None, Array], torch.Tensor]:
    """The numbers of y and of the gradients in float64, and the gradient vector that they are for."""
    values = dict(given)
    for name in wrt:
        values[name] = values[name].detach().clone().requires_grad_()
    y = function(*list(values.values())[: len(tensors)], **dict(list(values.items())[len(tensors) :]))
    if not isinstance(y, torch.Tensor):
        raise InputError(f"a function that is compared gives one tensor, and this gives a {type(y).__name__}")
    v = torch.randn(y.shape, generator=torch.Generator().manual_seed(_SEED)).to(y.dtype)
    grads = torch.autograd.grad(y, [values[name] for name in wrt], v.to(y.device), materialize_grads=True)
    pairs = zip((None, *wrt), (y, *grads), strict=True)
    return {name: one.detach().cpu().double().numpy() for name, one in pairs}, v

"""Two implementations of one function held to the same truth: is the error of one at most k times that of the other?

The question of authors of kernels in low precision, where neither has all digits.  The truth is the enclosure of
the baseline, recorded in float64 at the very numbers that both are given.

Source: the tests of FlashAttention, T. Dao et al., which allow twice the error of PyTorch in the same precision.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradcli.autodiff._torch import torch
from gradcli.errors import InputError, WrongGradientsError
from gradcli.results import Array, Checking
from gradcli.running.calling import name_of

Called = Callable[..., Any]

SEED = 0
"""Seed of the random gradient vector."""


def compare(
    record: Called, function: Called, baseline: Called, tensors: Sequence[Any], named: Mapping[str, Any], k: float
) -> Checking:
    """Hold y and each gradient, for one random gradient vector, to `k` times the error of the baseline.

    Args:
        record: Makes a `Function` of the baseline and of tensors, to be checked.
        function: The implementation to compare.
        baseline: The implementation to compare it with.
        tensors: The arguments of both, in order.
        named: The arguments of both by name.
        k: How many times the error of the baseline passes.

    Returns:
        The check of the baseline in float64, with a remark for y and for each gradient.

    Raises:
        WrongGradientsError: An error is larger than that and one rounding, or no truth is known.
        InputError: They give no tensors of one shape, or the baseline cannot be recorded.
    """
    exact = copy.deepcopy(baseline).double().cpu() if isinstance(baseline, torch.nn.Module) else baseline
    asked = record(exact, *map(_double, tensors), **{name: _double(one) for name, one in named.items()})
    given = dict(zip(asked.parameters, tensors, strict=False)) | dict(named)
    floats = [name for name, one in given.items() if isinstance(one, torch.Tensor) and one.is_floating_point()]
    wrt = [name for name in floats if given[name].requires_grad] or floats
    if not wrt:
        raise InputError("there is no tensor of floating-point numbers to differentiate by")
    v, *theirs = _ran(baseline, given, len(tensors), wrt)
    own, *mine = _ran(function, given, len(tensors), wrt)
    if own.shape != v.shape:
        raise InputError(f"the function gives a tensor of shape {tuple(own.shape)}, the baseline {tuple(v.shape)}")
    known: Checking = asked.check(v=v.double().numpy(), wrt=wrt, dtype="float64")
    remarks, is_good = [], True
    for name, kind, *arrays in zip((None, *wrt), (own, *(given[name] for name in wrt)), mine, theirs, strict=True):
        entries = [one for one in known.opinions if one.variable == name and one.reference is not None]
        truth = np.array([one.reference for one in entries], dtype=np.float64)
        places = [(one.row if name is None else one.column) or () for one in entries]
        error, other = (_largest(np.array([array[place] for place in places]) - truth) for array in arrays)
        allowed = k * other + torch.finfo(kind.dtype).eps * _largest(truth)
        passes = bool(entries) and error <= allowed
        is_good &= passes
        said = f"error {error:.2g}, of the baseline {other:.2g}, at most {allowed:.2g} ({len(entries)} entries)"
        called = f"{name}.grad" if name else known.output
        remarks.append(f"{called}: {'passed' if passes else 'did not pass'}, {said}")
    if not is_good:
        less = f"{name_of(function)} is less accurate than {name_of(baseline)}"
        raise WrongGradientsError("\n".join([less, *remarks]))
    return replace(known, remarks=(*known.remarks, *remarks), passed=True)


def _largest(errors: Array) -> float:
    """Give the largest magnitude; infinity if an error is not finite."""
    return float(np.where(np.isfinite(errors), np.abs(errors), math.inf).max(initial=0.0))


def _double(one: Any) -> Any:
    return one.detach().cpu().double() if isinstance(one, torch.Tensor) and one.is_floating_point() else one


def _ran(function: Callable[..., Any], given: Mapping[str, Any], positional: int, wrt: Sequence[str]) -> list[Any]:
    """Run a function; give the gradient vector, then y and the gradients in float64."""
    values = {name: one.detach().clone().requires_grad_() if name in wrt else one for name, one in given.items()}
    items = list(values.items())
    y = function(*(one for _, one in items[:positional]), **dict(items[positional:]))
    if not isinstance(y, torch.Tensor):
        raise InputError(f"a function that is compared gives one tensor, and this gives a {type(y).__name__}")
    v = torch.randn(y.shape, generator=torch.Generator().manual_seed(SEED)).to(y.dtype)
    grads = torch.autograd.grad(y, [values[name] for name in wrt], v.to(y.device), materialize_grads=True)
    return [v, *(one.detach().cpu().double().numpy() for one in (y, *grads))]

"""Reentrant checkpoints, which torch differentiates by `backward` alone, as the other kind, with the same numbers."""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.recording.aten_calls import Argument


class _WithoutReentrance:
    """Stand-in for torch's function of a reentrant checkpoint."""

    @staticmethod
    def apply(function: Callable[..., object], preserve: bool, *args: object) -> Argument:
        """Run a checkpoint of the other kind; if no argument requires a gradient none is recorded, as in torch."""
        if any(isinstance(one, torch.Tensor) and one.requires_grad for one in args):
            checkpoint = torch_internals.checkpoints().checkpoint
            return checkpoint(function, *args, use_reentrant=False, preserve_rng_state=preserve)
        with torch.no_grad():
            return function(*args)


@contextlib.contextmanager
def without_reentrance() -> Iterator[None]:
    """Run reentrant checkpoints of a block as the other kind, as torch refuses `torch.autograd.grad` of them."""
    module = torch_internals.checkpoints()
    before = module.CheckpointFunction
    module.CheckpointFunction = _WithoutReentrance
    try:
        yield
    finally:
        module.CheckpointFunction = before

"""Rules that a custom operation has to keep besides its derivative, which `torch.library.opcheck` asks for.

does its schema say what it changes, and what its results share memory with    test_schema
does register_fake give the shapes and dtypes that the call gives              test_faketensor
is its backward registered so that autograd finds it                           test_autograd_registration
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Iterator, Mapping

from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.recording.aten_calls import Argument, replaced, unbound
from gradcli.recording.opaque_calls import CustomCall, OpaqueCalls

QUESTIONS: Mapping[str, str] = {
    "test_schema": "what its schema says is not what it does",
    "test_faketensor": "what its register_fake gives is not what it gives",
    "test_autograd_registration": "its backward is not registered as autograd needs it",
}
"""Tests of torch's, with what it means that one fails."""

LACKING = "no fake impl registered"
"""Words of torch's on an operation without a register_fake, which only compilers need."""

MOST_WORDS = 200
"""Most characters of what torch says of a fault."""


def broken_rules(calls: OpaqueCalls | None) -> Iterator[str]:
    """Say which rules the custom operations of a recording break, each operation asked once."""
    for one in calls.custom if calls else ():
        given = replaced(dict(one.given), torch.Tensor, _leaf)
        for question, error in _asked(one, given).items():
            said = " ".join(str(getattr(error, "reason", error)).split())
            said = said if len(said) <= MOST_WORDS else f"{said[:MOST_WORDS]}..."
            yield f"{one.name}: {QUESTIONS[question]} ({said})"


def _leaf(tensor: Argument) -> Argument:
    found = tensor.detach().clone()
    return found.requires_grad_() if found.is_floating_point() else found


def _asked(call: CustomCall, given: Mapping[str, Argument]) -> dict[str, Exception]:
    """Ask torch, and give what it raises by question."""
    args, kwargs = unbound(call.function, given)
    with (
        warnings.catch_warnings(action="ignore"),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        torch_internals.without_modes(),
    ):
        try:
            found: Mapping[str, object] = torch.library.opcheck(
                call.function, tuple(args), kwargs, test_utils=tuple(QUESTIONS), raise_exception=False
            )
        except (RuntimeError, ValueError, TypeError, ImportError):  # torch cannot ask: of an operation without a kernel
            return {}
    return {question: one for question, one in found.items() if isinstance(one, Exception) and LACKING not in str(one)}

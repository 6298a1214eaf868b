"""Rules that a custom operation has to keep besides its derivative, which `torch.library.opcheck` asks for.

does its schema say what it changes, and what its results share memory with    test_schema
does register_fake give the shapes and dtypes that the call gives              test_faketensor
is its backward registered so that autograd finds it                           test_autograd_registration
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Iterator, Mapping, Sequence

from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.recording.aten_calls import Argument, Overload, is_wrapped, replaced, tensors_in, unbound
from gradcli.recording.memory import memory
from gradcli.recording.opaque_calls import OpaqueCalls
from gradcli.recording.repeated_calls import OF_CODE

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
        args, kwargs = unbound(one.function, replaced(dict(one.given), torch.Tensor, _leaf))
        with (
            warnings.catch_warnings(action="ignore"),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
            torch_internals.without_modes(),
        ):
            found = _asked(one.function, args, kwargs, [*_open_questions(one.function, args, kwargs)])
        for question, error in found.items():
            said = " ".join(str(getattr(error, "reason", error)).split())
            said = said if len(said) <= MOST_WORDS else f"{said[:MOST_WORDS]}..."
            yield f"{one.name}: {QUESTIONS[question]} ({said})"


def _leaf(tensor: Argument) -> Argument:
    found = tensor.detach().clone()
    return found.requires_grad_() if found.is_floating_point() else found


def _open_questions(function: Overload, args: Sequence[Argument], kwargs: Mapping[str, Argument]) -> Iterator[str]:
    """Yield the questions whose answer is not seen in two calls: to ask torch imports its compiler, for seconds."""
    try:
        with torch.no_grad():
            found = tensors_in(function(*args, **kwargs))
    except OF_CODE:
        yield from QUESTIONS
        return
    memories = [memory(one) for one in [*found, *tensors_in([args, kwargs])] if not is_wrapped(one)]
    if len({*memories}) < len(found) + len(tensors_in([args, kwargs])):
        yield "test_schema"
    if not _are_shapes_right(function, args, kwargs, found):
        yield "test_faketensor"
    if not torch_internals.has_autograd(function):
        yield "test_autograd_registration"


def _are_shapes_right(
    function: Overload, args: Sequence[Argument], kwargs: Mapping[str, Argument], found: Sequence[Tensor]
) -> bool:
    """Tell whether an operation gives tensors of the same shapes and dtypes for such without numbers."""
    by_place, by_name = replaced((list(args), dict(kwargs)), torch.Tensor, lambda one: one.detach().to("meta"))
    try:
        with torch.no_grad():
            shaped = tensors_in(function(*by_place, **by_name))
    except OF_CODE as error:  # some are only to be called by a compiler
        return LACKING in str(error)
    return [_shape(one) for one in shaped] == [_shape(one) for one in found]


def _shape(tensor: Tensor) -> tuple[object, ...]:
    return tensor.shape, tensor.dtype, tensor.layout, tensor.stride(), tensor.storage_offset()


def _asked(
    function: Overload, args: Sequence[Argument], kwargs: Mapping[str, Argument], questions: Sequence[str]
) -> dict[str, Exception]:
    """Ask torch, and give what it raises by question."""
    if not questions:
        return {}
    try:
        found: Mapping[str, object] = torch.library.opcheck(
            function, tuple(args), {**kwargs}, test_utils=tuple(questions), raise_exception=False
        )
    except OF_CODE:  # torch cannot ask: of an operation without a kernel
        return {}
    return {question: one for question, one in found.items() if isinstance(one, Exception) and LACKING not in str(one)}

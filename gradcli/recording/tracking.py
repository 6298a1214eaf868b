"""Tensors that autograd follows otherwise than the recorded calls do, and calls of constants, which need no meaning."""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.errors import InputError
from gradcli.language.program.wengert import Atom
from gradcli.recording.aten_calls import Overload, tensors_in, unbound
from gradcli.recording.call_recorder import CallRecorder
from gradcli.recording.places import CallPlace


def is_tracked_by_autograd(tensor: Tensor) -> bool:
    """Tell whether autograd follows a tensor: a view that `no_grad` made of a tensor says so, and it does not.

    >>> w = torch.ones(2, requires_grad=True)
    >>> with torch.no_grad():
    ...     view = w[:1]
    >>> view.requires_grad, is_tracked_by_autograd(view), is_tracked_by_autograd(w)
    (True, False, True)
    """
    base = torch_internals.base_of(tensor)
    is_view = tensor.is_leaf and base is not tensor and base.requires_grad
    return bool(tensor.requires_grad) and not is_view


def followed_again(recorder: CallRecorder, tensor: Tensor, atom: Atom, place: CallPlace) -> Atom:
    """Give the value of a tensor that autograd follows, where its lines follow nothing that autograd follows.

    A custom function may give back what was computed before without autograd: its backward stands for that too.
    A change by an alias, as `y.detach().mul_(2)`, leaves y the gradient that it had before.

    Raises:
        InputError: It is neither.
    """
    if isinstance(tensor.grad_fn, torch.autograd.function.BackwardCFunction):
        found = recorder.lines.copied(atom, lambda call: call.op.is_detached, recorder._propagate)
    elif (before := recorder._values.overwritten(tensor)) is not None:
        change = recorder._hold_constant(recorder.lines.row("sub", atom, before), place)
        found = recorder._propagate(recorder.lines.row("add", before, change), before)
    else:
        found = atom
    if found not in recorder._followed:
        message = f"autograd follows a tensor{place} that was changed, or made, by what it does not follow"
        raise InputError(message, hint="change a .clone() of it, or outside of no_grad")
    recorder._values.write(tensor, found)
    return found


def require_seen(recorder: CallRecorder, tensor: Tensor, place: CallPlace) -> None:
    """Refuse a tensor that autograd follows and that unrecorded code made during the recording.

    Raises:
        InputError: It is one.
    """
    if tensor.grad_fn is not None and torch_internals.number_of(tensor.grad_fn) >= recorder._first_node:
        why = "code which cannot be seen, or is a part of what a call gives that is not recorded"
        hint = "compute it by functions of torch"
        raise InputError(f"a tensor is used{place} that was made by {why}", hint=hint)


def of_constants(recorder: CallRecorder, function: Overload, given: Mapping[str, object], place: CallPlace) -> Any:
    """Compute a call of constants alone, neither arguments nor followed by autograd: its results are constants.

    Returns:
        Its results; `NotImplemented` for another call.
    """
    inputs = [recorder.operand(one, place) for one in tensors_in(given)]
    if not (recorder.of_arguments | recorder._followed).isdisjoint(inputs):
        return NotImplemented
    args, kwargs = unbound(function, given)
    with recorder.paused():
        found = function(*args, **kwargs)
    recorder._note_constants(found)
    return found

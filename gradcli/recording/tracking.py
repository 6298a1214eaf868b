"""Tensors that autograd follows otherwise than the recorded calls do, and calls of constants, which need no meaning."""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.errors import InputError
from gradcli.language.program.wengert import Atom
from gradcli.recording.aten_calls import Overload, is_wrapped, tensors_in, unbound
from gradcli.recording.call_recorder import CallRecorder
from gradcli.recording.foreign_memory import UnseenCodeError
from gradcli.recording.memory import SHAPED, memory
from gradcli.recording.places import CallPlace

WRITTEN = "code that is not torch's writes to memory"
"""Beginning of what is said of a tensor that holds other numbers than a call has given it."""


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


def change_unseen(recorder: CallRecorder, tensor: Tensor, result: Atom | None, place: CallPlace) -> Atom | None:
    """Give the value of a tensor that is changed where autograd does not see it: its gradient is that of before."""
    before = recorder._value(tensor, place)
    if result is None or before not in recorder._followed:
        return result
    change = recorder._hold_constant(recorder.lines.row("sub", result, before), place)
    return recorder._propagate(recorder.lines.row("add", before, change), before)


def require_seen(recorder: CallRecorder, tensor: Tensor, place: CallPlace) -> None:
    """Refuse a tensor that autograd follows and that unrecorded code made during the recording.

    Raises:
        UnseenCodeError: It is one.
    """
    if tensor.grad_fn is not None and torch_internals.number_of(tensor.grad_fn) >= recorder._first_node:
        why = "code which cannot be seen, or is a part of what a call gives that is not recorded"
        hint = "compute it by functions of torch"
        raise UnseenCodeError(f"a tensor is used{place} that was made by {why}", hint=hint)


def note_use(recorder: CallRecorder, name: str, tensors: Sequence[Tensor], changed: Sequence[Tensor] = ()) -> None:
    """Note what a call uses, before it runs: numbers that unseen code has written are no constants.

    Args:
        recorder: The recorder.
        name: The name of the operation.
        tensors: The tensors that it is given.
        changed: Those that it writes to.

    Raises:
        UnseenCodeError: The code runs in the forward of a custom function, or autograd follows what it writes.
    """
    for one in () if name in SHAPED else tensors:
        if not recorder.buffers.is_foreign(one):
            continue
        recorder.buffers.forget(one)
        place = recorder.places.find()
        said = f"{WRITTEN} that is used{place}"
        if place.custom is not None or one.grad_fn is not None:
            function = None if place.custom is None else recorder.places.applications[place.custom].function
            where = " in a forward of an autograd.Function" * (function is not None)
            raise UnseenCodeError(f"{said}{where}: its derivative is not known", function=function)
        if recorder.dtype is not None and said not in recorder.decisions.lost:  # a script reads its data so
            recorder.decisions.lost.append(said)
    recorder.buffers.write(changed)


def require_seen_results(
    recorder: CallRecorder, function: type, given: Sequence[Tensor], results: Sequence[Tensor]
) -> None:
    """Refuse results of a custom function that unseen code has written.

    Args:
        recorder: The recorder.
        function: The function.
        given: The tensors that it was given.
        results: Those that it gave.

    Raises:
        UnseenCodeError: There is one.
    """
    for one in results:
        is_own = one.requires_grad and one.is_floating_point() and not is_wrapped(one)
        if is_own and (recorder.buffers.is_foreign(one, is_result=True) or _is_changed_copy(recorder, one, given)):
            message = f"{WRITTEN} that {function.__name__} gives back{recorder.places.find()}"
            raise UnseenCodeError(f"{message}: its derivative is not known", function=function)


def _is_changed_copy(recorder: CallRecorder, tensor: Tensor, given: Sequence[Tensor]) -> bool:
    """Tell whether a tensor is recorded as a copy of another one, and holds other numbers."""
    atom = recorder._values.find(tensor)
    copies = [] if atom is None else [one for one in given if one.shape == tensor.shape and not is_wrapped(one)]
    for one in copies:
        if memory(one) != memory(tensor) and recorder._values.find(one) == atom:
            with torch_internals.without_dispatch(), torch_internals.without_functions():
                return not torch.allclose(tensor.detach(), one.detach(), rtol=0, atol=0, equal_nan=True)
    return False


def leaves_of_graph(tensors: Sequence[Tensor]) -> Iterator[Tensor]:
    """Find the leaves that autograd goes back to from some tensors."""
    waiting = [one.grad_fn for one in tensors if one.grad_fn is not None]
    yield from (one for one in tensors if one.requires_grad and one.grad_fn is None)
    known = set(waiting)
    while waiting:
        node = waiting.pop()
        if type(node).__name__ == "AccumulateGrad":
            yield from (one for one in (getattr(node, "variable", None),) if one is not None)
        for other, _ in node.next_functions:
            if other is not None and other not in known:
                known.add(other)
                waiting.append(other)


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

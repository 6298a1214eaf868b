"""Forward mode of a function; why it has none, with the custom function and its line."""

from __future__ import annotations

import inspect
import re
import traceback
from collections.abc import Callable, Sequence

from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.autodiff.forward_mode import dual_numbers, tangent_of
from gradcli.autodiff.run import Tensor
from gradcli.errors import InputError
from gradcli.recording.user_files import line_of_file
from gradcli.results import Array

_HAS_NO_JVP = "must implement the jvp function"
_HAS_NO_FORWARD_MODE = re.compile(r"Trying to use forward AD with (\S+) that does not support it.*?(?= raised while|$)")
_IS_NESTED = "Nested forward mode AD"


def tangent_by(run: Callable[[list[str]], Tensor], ways: Sequence[list[str]]) -> Array:
    """Return the derivative of the result of a run with dual numbers, of the first run that succeeds.

    Args:
        run: Runs a function, of whose arguments those with these names require a gradient.
        ways: The names of each run.

    Raises:
        InputError: None succeeds; it is that of the first.
    """
    errors = list[InputError]()
    for names in ways:
        try:
            with dual_numbers():
                return tangent_of(run(names))
        except InputError as error:
            errors.append(error)
    raise without_forward_mode(errors[0])


def without_forward_mode(error: InputError) -> InputError:
    """Return the error of a function that was run with dual numbers, in words on its forward mode."""
    message = error.text.message
    if _HAS_NO_JVP in message and (function := applied_in(error.__cause__)) is not None:
        what = f"{place_of(function, 'forward')} has no jvp, and forward mode goes through no backward"
        return InputError(what, hint="write its jvp, or leave out the check of forward mode")
    if _IS_NESTED in message:
        return InputError("it computes forward mode itself, which torch does not nest")
    return InputError(_HAS_NO_FORWARD_MODE.sub(r"torch has no forward mode of \1,", message), hint=error.text.hint)


def applied_in(error: BaseException | None) -> type | None:
    """Find the custom function that was being applied where an error was raised, the innermost one."""
    frames = [] if error is None else [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    found = [frame.f_locals["cls"] for frame in frames if frame.f_code is torch_internals.APPLY]
    return found[-1] if found else None


def has_own(function: type, method: str) -> bool:
    """Tell whether a custom function has a static method of its own: `jvp`, `vmap`."""
    return getattr(function, method) is not getattr(torch.autograd.Function, method)


def is_once_differentiable(function: type) -> bool:
    """Tell whether the `backward` of a custom function is marked as `once_differentiable`."""
    backward = function.backward  # type: ignore[attr-defined]
    return hasattr(backward, "__wrapped__") and backward.__code__.co_filename == torch.autograd.function.__file__


def is_tried(function: type, method: str) -> bool:
    """Tell whether a static method of a custom function can be tried: it has a `backward` in any case, or a `vjp`."""
    is_generated = method == "vmap" and bool(function.generate_vmap_rule)  # type: ignore[attr-defined]
    return method == "backward" or is_generated or has_own(function, method)


def place_of(function: type, method: str) -> str:
    """Name a method of a custom function, with its line where that is known: `Square.jvp (model.py, line 7)`."""
    code = getattr(inspect.unwrap(getattr(function, method)), "__code__", None)
    line = f" ({line_of_file(code.co_filename, code.co_firstlineno)})" if code else ""
    return f"{function.__name__}.{method}{line}"

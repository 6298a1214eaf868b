"""Errors of a backward pass: torch's own refusals, and whatever the user's code raises or gives back in it.

Code of the user runs in a backward pass where an `autograd.Function`, a hook or a library has it.  Its error is told by
its class, message and line; where torch refuses what a `backward` gave back, the line is that of the `backward`.
"""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import CodeType
from typing import Any, NoReturn

from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.errors import GradcliError, InputError, UserCodeError

MOST_NODES = 100_000
"""Most nodes of a graph that are searched for the function whose result torch refuses."""

_NOT_OF_USERS = (os.path.dirname(torch.__file__), str(Path(__file__).parents[1]))
"""Folders whose code is not the user's: torch, and this package."""

_NO_RULE_OF_VMAP = re.compile(r"You tried to vmap over (\w+), but it does not have vmap support")
_NO_SETUP = "it must override the setup_context staticmethod"

_REFUSED_RESULT = re.compile(r"[Ff]unction (\w+)Backward returned|expected Variable or None")
"""Message by which torch refuses the result of a `backward`, with the name of its class where torch knows it."""


_CHANGED = re.compile(
    r"modified by an inplace operation: \[[\w.]+ \[(?P<shape>[\d, ]*)\]\](?:, which is output \d+ of (?P<by>\w+))?"
)
"""Message by which torch says that a tensor was changed which it needs."""


def raise_of_backward(error: BaseException, y: Any) -> NoReturn:
    """Raise the error of the input that something raised in a backward pass from y is.

    Raises:
        UserCodeError: The user's code raised it.
        InputError: Torch refuses the pass.
        BaseException: It is an error of the input already, an interrupt, or a bug.
    """
    if isinstance(error, GradcliError | KeyboardInterrupt):
        raise error
    if (own := _error_of_user(error, y)) is not None:
        raise own from error
    if not isinstance(error, RuntimeError):
        raise error
    raise backward_error(error) from None


def backward_error(error: RuntimeError) -> Exception:
    """Turn torch's error in a backward pass into an error of the input, unless it is out of memory."""
    if "allocate memory" in str(error):
        return error
    said = " ".join(str(error).split())
    if (changed := _CHANGED.search(said)) is None:
        return InputError(f"torch's backward pass fails: {said}")
    made = f", a result of {changed['by']}," * bool(changed["by"])
    what = f"a tensor of shape [{changed['shape']}]{made} was changed in place, and its value before is needed"
    hint = "give the result another name, such as y = y + 1 in place of y += 1, or change a .clone() of it"
    return InputError(f"torch's backward pass fails: {what}", hint=hint)


def _error_of_user(error: BaseException, y: Any) -> UserCodeError | None:
    """Make the error that names the user's code which a backward pass failed in; None if it failed in no such code."""
    frames = [(frame.f_code, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    engines = [n for n, (code, _) in enumerate(frames) if code.co_name == torch_internals.BACKWARD_FRAME]
    inside = frames[engines[-1] :] if engines else []
    called = [(code, line) for code, line in inside if not code.co_filename.startswith(_NOT_OF_USERS)]
    said = _of_vmap(" ".join(str(error).split()), frames)
    if called:
        code, line = [one for one in called if one[0].co_filename == called[0][0].co_filename][-1]
        name = f"{code.co_qualname.rpartition('<locals>.')[2]} ({_line(code.co_filename, line)})"
        if isinstance(error, SystemExit):
            return UserCodeError(f"Python is left (sys.exit) in the backward pass by {name}")
        message = f"{type(error).__name__}{': ' * bool(said)}{said}"
        return UserCodeError(f"{message}, raised in the backward pass by {name}")
    refused = _REFUSED_RESULT.search(said)
    functions = [] if refused is None else _functions(y, refused[1])
    own = getattr(functions[0].backward, "__code__", None) if len(functions) == 1 else None
    if own is None:
        return None
    where = f"{functions[0].__name__}.backward ({_line(own.co_filename, own.co_firstlineno)})"
    return UserCodeError(f"torch refuses what {where} gives back: {said}")


def _of_vmap(said: str, frames: Sequence[tuple[CodeType, int]]) -> str:
    """Shorten torch's words on a custom function that has no rule for several v at once."""
    if found := _NO_RULE_OF_VMAP.search(said):
        return f"{found[1]} has no vmap rule (vmap, or generate_vmap_rule=True)"
    if _NO_SETUP in said and torch_internals.APPLY in [code for code, _ in frames]:
        return "a custom function that it applies has no setup_context, which vmap needs"
    return said


def _functions(y: Any, name: str | None) -> list[Any]:
    """List the `autograd.Function`s of the graph of y, those of one name if it is known."""
    found, waiting, seen = dict[Any, None](), [y.grad_fn], set[Any]()
    while waiting and len(seen) < MOST_NODES:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        function = torch_internals.custom_function_of(node)
        if function is not None and name in (None, function.__name__):
            found[function] = None
        waiting += [following for following, _ in node.next_functions]
    return list(found)


def _line(file: str, line: int | None) -> str:
    return f"{Path(file).name}, line {line}"

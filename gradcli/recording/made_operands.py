"""Names of tensors that a line of the user's makes for a call and does not name: `cross_entropy(x, torch.tensor([1]))`.

Such a tensor is called by the parameter that it is given for, `target`, or by what makes it, as in `x*torch.arange(3)`.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import linecache
import re
from collections.abc import Iterator
from types import FrameType, ModuleType

from gradcli.autodiff._torch import torch

_MAKERS = frozenset(
    "tensor as_tensor asarray from_numpy array zeros ones full empty arange linspace logspace eye one_hot zeros_like"
    " ones_like full_like empty_like rand randn randint rand_like randn_like Tensor FloatTensor DoubleTensor LongTensor"
    " new_tensor new_zeros new_ones new_full".split()
)
"""Last names of the functions that make a tensor of no other one's numbers."""

_GIVEN = frozenset(
    "tensor as_tensor asarray from_numpy array new_tensor Tensor FloatTensor DoubleTensor LongTensor".split()
)
"""Those that say nothing of the numbers, so that they are no name for a tensor."""


def expression_at(frame: FrameType | None) -> ast.expr | None:
    """Read the expression that a line of code evaluates at this moment; None if it is not known.

    >>> expression_at(None)
    """
    if frame is None:
        return None
    positions = next(itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), (None,) * 4)
    first, last, start, stop = positions
    if first is None or last is None or start is None or stop is None:
        return None
    lines = [linecache.getline(frame.f_code.co_filename, n).encode() for n in range(first, last + 1)]
    lines[-1] = lines[-1][:stop]
    lines[0] = lines[0][start:]
    try:
        return ast.parse(b"(" + b"".join(lines) + b")", mode="eval").body
    except (SyntaxError, ValueError):
        return None


def made_operand(frame: FrameType | None) -> str:
    """Name the one tensor that the expression of a line makes for itself; empty if there is no name, or several.

    >>> made_operand(None)
    ''
    """
    expression = expression_at(frame)
    made = [] if frame is None or expression is None else [*_made(expression, frame)]
    return made[0] if len(made) == 1 and made[0] not in _GIVEN else ""


_ASSIGNED = re.compile(r"\s*([^\W\d]\w*)\s*(?::[^=]*)?=(?!=)")


def assigned_name(frame: FrameType | None) -> str:
    """Name what a line of code assigns the result of its expression to; empty if that is no single name.

    >>> assigned_name(None)
    ''
    """
    line = "" if frame is None else linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    found = _ASSIGNED.match(line)
    return found[1] if found else ""


def _made(expression: ast.expr, frame: FrameType) -> Iterator[str]:
    """Yield a name for each operand of an expression that is a call which makes a tensor."""
    match expression:
        case ast.BinOp(left=left, right=right):
            yield from (_maker(one) for one in (left, right) if _maker(one))
        case ast.Call(func=function, args=arguments, keywords=keywords):
            if isinstance(function, ast.Attribute) and (maker := _maker(function.value)):
                yield maker
            names = _parameters(function, frame)
            for name, one in itertools.zip_longest(names, arguments, fillvalue=""):
                if not isinstance(one, str) and (maker := _maker(one)):
                    yield name or maker
            yield from (one.arg for one in keywords if one.arg and _maker(one.value))


def _maker(expression: ast.expr) -> str:
    """Return the last name of the function that makes a tensor; empty of any other expression."""
    if not isinstance(expression, ast.Call):
        return ""
    called = expression.func
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    return name if name in _MAKERS else ""


def _parameters(function: ast.expr, frame: FrameType) -> list[str]:
    """List the parameters of a function by the words that a line calls it by; none if they are not known."""
    found: object = None
    for n, word in enumerate(ast.unparse(function).split(".")):
        if n and not isinstance(found, ModuleType | torch.nn.Module):  # of anything else an attribute may be code
            return []
        scopes = ({**frame.f_globals, **frame.f_locals},) if not n else (vars(found), vars(found).get("_modules", {}))
        found = next((scope[word] for scope in scopes if word in scope), None)
    called = found.forward if isinstance(found, torch.nn.Module) else found
    if not (inspect.isfunction(called) or inspect.ismethod(called)):
        return []
    return list(inspect.signature(called).parameters)

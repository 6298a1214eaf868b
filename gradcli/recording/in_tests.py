"""Functions of Python asked from Python: recorded with their tensors, and checked in a test suite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from gradcli.errors import UsageError

if TYPE_CHECKING:
    from gradcli.recording.python_functions import PythonFunction
    from gradcli.results import Allowed, Checking


def record(function: Callable[..., Any], /, *tensors: Any, **named: Any) -> PythonFunction:
    """A function of Python as a `Function`, recorded where it is called with these tensors.

    Args:
        function: Any callable of tensors: a function, a module, the `apply` of an `autograd.Function`.
        tensors: Its arguments in order: tensors, arrays, numbers.
        named: Those given by name.

    Returns:
        A `Function` whose variables are the parameters; its numbers are those of the function itself, run again, its
        formula and its enclosure those of the recording.

    Raises:
        GradcliError: The parameters have no names, or there are fewer than tensors.

    >>> import torch
    >>> def f(x, w):
    ...     return (w * torch.tanh(x)).sum()
    >>> answer = record(f, torch.tensor([0.0, 1.0]), torch.tensor([2.0, 3.0])).grad(wrt=["x"])
    >>> answer.symbolic["x"].text, answer.check.verdict
    ('(1 - tanh(x[j])**2)*w[j]', 'agree')
    """
    from gradcli.recording.calling import name_of
    from gradcli.recording.python_functions import PythonFunction

    called = name_of(function)
    count = max(1, len(tensors))
    found = PythonFunction(function, called, count=count)
    names = found.parameters
    if len(tensors) > len(names):
        raise UsageError(f"{called} takes {len(names)} arguments, and {len(tensors)} are given")
    return PythonFunction(function, called, {**dict(zip(names, tensors, strict=False)), **named}, count)


def check(
    function: Callable[..., Any],
    /,
    *tensors: Any,
    rtol: float | None = None,
    atol: float | None = None,
    allow: Sequence[Allowed] = (),
    **named: Any,
) -> Checking:
    """Assert that a function's gradients are right: each entry of its Jacobian is held to an enclosure of the truth.

    It is stricter than `torch.autograd.gradcheck`, which compares with finite differences.  Custom functions are asked
    alone at other points too.

    Args:
        function: As for `record`.
        tensors: Its arguments; those that require a gradient are differentiated by, or all if none does.
        rtol: Relative tolerance, a usual one of the dtype by default.
        atol: Absolute tolerance beyond that.
        allow: Verdicts that pass beside `agree`.
        named: Arguments by name.

    Returns:
        The answer, with what every reading says of each entry.

    Raises:
        AssertionError: An entry does not agree, or could not be checked; its text has the table.
        GradcliError: As for `record`.

    >>> import torch
    >>> check(torch.sin, torch.tensor([0.0, 1.0])).check.verdict  # doctest: +SKIP
    'agree'
    """
    from gradcli.autodiff._torch import torch

    asked = record(function, *tensors, **named)
    given = dict(zip(asked.parameters, tensors, strict=False)) | named
    wrt = [name for name, one in given.items() if isinstance(one, torch.Tensor) and one.requires_grad]
    answer: Checking = asked.check(wrt=wrt or None, rtol=rtol, atol=atol, allow=allow)
    if not answer.passed:
        raise AssertionError(f"the gradients of {asked.expression} are not right\n{answer}")
    return answer

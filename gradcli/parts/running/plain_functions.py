"""Questions as plain functions: recording, a check in a test suite, and each derivative as `Function` has it.

>>> vjp("x**2", [1, 2], [1, 1]).vjp["x"]
array([2., 4.])
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from gradcli import progress
from gradcli.autodiff.torch_internals import TorchFunction
from gradcli.errors import UsageError, WrongGradientsError, brief
from gradcli.function import Function
from gradcli.locking import one_at_a_time
from gradcli.recording.aten_calls import Argument

if TYPE_CHECKING:
    from gradcli.parts.running.python_functions import PythonFunction
    from gradcli.results import Allowed, Checking

__all__ = ["check", "grad", "hessian", "hvp", "jacobian", "jvp", "record", "vjp"]

P = ParamSpec("P")
R = TypeVar("R")


@brief
def record(function: Callable[..., object], /, *tensors: object, **named: object) -> PythonFunction:
    """Make a `Function` of a function of Python, recorded where it is called with these tensors.

    Args:
        function: TorchFunction callable of tensors: a function, a module, the `apply` of an `autograd.Function`.
        tensors: Its arguments in order: tensors, arrays, numbers.
        named: Its arguments by name.

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
    from gradcli.parts.running.calling import name_of
    from gradcli.parts.running.python_functions import PythonFunction

    with one_at_a_time():
        return PythonFunction(function, name_of(function), tensors, **named)


@dataclass(frozen=True)
class _FunctionWithArguments:
    """Function with arguments whose names are those of options too."""

    function: Callable[..., object]
    arguments: Mapping[str, object]


def _parameters_first(method: Callable[P, R]) -> Callable[P, R]:
    """Give to the function what is given by the name of one of its parameters, though it is an option of ours too."""
    options = inspect.signature(method).parameters

    @wraps(method)
    def asked(*args: P.args, **named: P.kwargs) -> R:
        both = {*options} & {*named}
        function: Argument = args[0] if args else None
        if both and callable(function):
            from gradcli.parts.running.calling import name_of, signature

            both &= {*signature(function, name_of(function), len(args) - 1).kinds}
            own = {name: named.pop(name) for name in both}
            args = (_FunctionWithArguments(function, own), *args[1:])  # type: ignore[assignment]
        return method(*args, **named)

    return asked


@brief
@_parameters_first
def check(
    function: Callable[..., object],
    /,
    *tensors: object,
    rtol: float | None = None,
    atol: float | None = None,
    allow: Sequence[Allowed] = (),
    strict: bool = False,
    budget: float | None = None,
    versus: Callable[..., object] | None = None,
    k: float = 2.0,
    forward: bool = False,
    **named: object,
) -> Checking:
    """Assert that a function's gradients are right: each entry of its Jacobian is held to an enclosure of the truth.

    It is stricter than `torch.autograd.gradcheck`, which compares with finite differences.  Custom
    autograd functions are also checked by themselves, at other points.

    Args:
        function: As for `record`.
        tensors: Its arguments; those that require a gradient are differentiated by, or all if none does.
        rtol: Relative tolerance, a usual one of the dtype by default.
        atol: Absolute tolerance beyond that.
        allow: Verdicts that pass besides `agree`.
        strict: Whether lost digits fail also in an entry that is small next to the largest one of its gradient.
        budget: Seconds that the check may take, 5 of processor time by default; a deep net may need a minute.
        versus: Another implementation: the errors of y and of the gradients are at most `k` times its own, and one
            rounding.  Tensors in bfloat16 and float16 need it; the truth is the enclosure of this one.
        k: How many times the errors of `versus` pass.
        forward: Whether to check the numbers of forward mode too, those of `torch.func.jvp`; a custom autograd function
            with a `jvp` is always checked so.
        named: Arguments by name; that of a parameter which is called like one of these options is an argument.

    Returns:
        The answer, with the number of every reading for each entry; with `versus` that of the other in float64, with
        the errors of y and of each gradient as remarks.

    Raises:
        AssertionError: An entry does not agree, or could not be checked; its text has the table.
        GradcliError: As for `record`; a tensor is of low precision, and there is no `versus`.
    """
    from gradcli.autodiff._torch import torch
    from gradcli.autodiff.run import dtype_name

    if isinstance(function, _FunctionWithArguments):
        function, named = function.function, {**named, **function.arguments}
    if budget is not None and not 0 < budget < math.inf:
        raise UsageError(f"budget={budget} is no number of seconds", hint="budget=60 gives the check a minute")
    if versus is not None:
        from gradcli.parts.running.python_functions import compare

        with one_at_a_time():
            return compare(function, versus, tensors, named, k)
    for one in (*tensors, *named.values()):
        if isinstance(one, torch.Tensor) and one.dtype in (torch.bfloat16, torch.float16):
            kind = dtype_name(one.dtype)
            hint = "compare with another implementation, versus=g, or check it in float64: x.double()"
            raise UsageError(f"a tensor is {kind}, which has fewer digits than a check asks for", hint=hint)
    asked = record(function, *tensors, **named)
    given = dict(zip(asked.parameters, tensors, strict=False)) | named
    wrt = [name for name, one in given.items() if isinstance(one, torch.Tensor) and one.requires_grad]
    with progress.budget(budget) if budget is not None else nullcontext():
        answer: Checking = asked.check(
            wrt=wrt or None, rtol=rtol, atol=atol, allow=allow, strict=strict, forward=forward
        )
    if not answer.passed:
        found = "could not be checked" if answer.failing == ("unchecked",) else "are not right"
        is_short = answer.check is not None and answer.check.verdict == "unchecked" and budget is None
        meant = [verdict for verdict in answer.failing if verdict != "disagree"]
        ways = f"allow={meant} lets pass what is meant, " * bool(meant) + "atol= and rtol= known errors"
        ways += ", and budget=60 gives it a minute" * (answer.failing == ("unchecked",) and is_short)
        raise WrongGradientsError(f"the gradients of {asked.expression} {found} ({ways})\n{answer}")
    return answer


Asked = Function | Callable[..., Any] | str
"""Subject of a derivative; a function of Python is recorded at the values of the question."""


def _plain(method: Callable[Concatenate[Function, P], R]) -> Callable[Concatenate[Asked, P], R]:
    @brief
    @wraps(method)
    def asked(function: TorchFunction, /, *args: object, **options: object) -> Argument:
        if callable(function):
            at, *args = args or (options.pop("at", {}),)  # type: ignore[assignment]
            function = record(function, **at) if isinstance(at, Mapping) else record(function, at)
            args = (None, *args)
        elif not isinstance(function, Function):
            function = Function(function)
        return getattr(function, method.__name__)(*args, **options)

    signature = inspect.signature(method)
    _, *others = signature.parameters.values()
    function = inspect.Parameter("function", inspect.Parameter.POSITIONAL_ONLY)
    asked.__signature__ = signature.replace(parameters=[function, *others])  # type: ignore[attr-defined]
    return asked


vjp = _plain(Function.vjp)
grad = _plain(Function.grad)
jacobian = _plain(Function.jacobian)
jvp = _plain(Function.jvp)
hessian = _plain(Function.hessian)
hvp = _plain(Function.hvp)

"""Questions as plain functions: recording, a check in a test suite, and each derivative as `Function` has it.

>>> vjp("x**2", [1, 2], [1, 1]).vjp["x"]
array([2., 4.])
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeVar

from gradcli.autodiff.torch_internals import TorchFunction
from gradcli.errors import UsageError, brief
from gradcli.function import Function
from gradcli.locking import one_at_a_time
from gradcli.recording.aten_calls import Argument

if TYPE_CHECKING:
    from gradcli.language.inputs import Value
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
    v: Value | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    allow: Sequence[Allowed] = (),
    strict: bool = False,
    budget: float | None = None,
    gradient: object = None,
    assume: Mapping[str, str] | None = None,
    backward_of: Callable[..., object] | None = None,
    versus: Callable[..., object] | None = None,
    k: float = 2.0,
    forward: bool = False,
    order: Literal[1, 2] = 1,
    batched: bool = False,
    **named: object,
) -> Checking:
    """Assert that a function's gradients are right: each entry of its Jacobian is compared with an enclosure.

    It is stricter than `torch.autograd.gradcheck`, which compares with finite differences, and takes its arguments: the
    tensors may come as one tuple, and `raise_exception=False` gives an answer that is false.  Custom
    autograd functions are also checked by themselves, at other points, and of a module the parameters too.

    Args:
        function: As for `record`.
        tensors: Its arguments; those that require a gradient are differentiated by, or all if none does.  A complex
            one is checked by its real and imaginary parts.
        v: A gradient vector: the entries of vᵀJ are checked in place of those of J.
        rtol: Relative tolerance, a usual one of the dtype by default.
        atol: Absolute tolerance beyond that.
        allow: Verdicts that pass besides `agree`.
        strict: Whether lost digits fail also in an entry that is small next to the largest one of its gradient.
        budget: Seconds that the check may take, 5 of processor time by default; a deep net may need a minute.
        gradient: What is claimed to be the derivative: the gradient of a y of one element, else the Jacobian.  It is a
            function of the same arguments, which gives a tuple or a dictionary with several variables, a list or a
            tensor with one; or a formula, or numbers; or a dictionary of those.
        assume: What arguments are, by name: `symmetric`, `spd` (symmetric and positive definite), `orthogonal`,
            `diagonal`, `triangular` (lower), `simplex` or `positive`.  The function is called at such values alone,
            and derivatives by them are compared along the directions of that.
        backward_of: Another function of the same arguments, whose derivative the backward pass is meant to be: of a
            straight-through estimator the identity, of a spike its surrogate.
        versus: Another implementation: the errors of y and of the gradients are at most `k` times its own, and one
            rounding.  Tensors in bfloat16 and float16 need it; the truth is the enclosure of this one.
        k: How many times the errors of `versus` pass.
        forward: Whether to check the numbers of forward mode too, those of `torch.func.jvp`; a custom autograd function
            with a `jvp` is always checked so.
        order: 2 to check the derivatives of vᵀJ too, by the arguments and by v, through `create_graph=True`.
        batched: Whether to check the backward pass for several v at once too, as `is_grads_batched` has it, and the
            `vmap` rules of custom functions.
        named: Arguments by name, and options of gradcheck; that of a parameter which is called like an option is an
            argument.

    Returns:
        The answer, with the number of every reading for each entry; with `versus` that of the other in float64, with
        the errors of y and of each gradient as remarks.

    Raises:
        AssertionError: An entry does not agree, or could not be checked; its text has the table.
        GradcliError: As for `record`; a tensor is of low precision, and there is no `versus`; or it is sparse.

    >>> import torch
    >>> x = torch.tensor([0.5, 2.0], dtype=torch.float64)
    >>> check(torch.sin, x, gradient=lambda x: torch.diag(torch.cos(x))).claims[0].status
    'proved'
    >>> bool(check(torch.sin, (x,), eps=1e-6, gradient=torch.cos, raise_exception=False))
    True
    """
    from gradcli.parts.running.checking import PythonCheck
    from gradcli.parts.running.gradcheck_arguments import as_arguments, require_function, understood

    if isinstance(function, _FunctionWithArguments):
        function, named = function.function, {**named, **function.arguments}
    require_function(function)
    inputs = as_arguments(function, tensors)
    asked = PythonCheck.from_arguments(function, inputs, understood(named, function, len(inputs)))
    if budget is not None and not 0 < budget < math.inf:
        raise UsageError(f"budget={budget} is no number of seconds", hint="budget=60 gives the check a minute")
    if versus is not None:
        others = {"gradient": gradient, "backward_of": backward_of, "v": v, "assume": assume}
        if given := [name for name, one in others.items() if one is not None]:
            raise UsageError(f"versus= and {given[0]}= exclude each other", hint="ask two questions")
        return asked.versus(versus, k)
    answer = asked.answer(
        budget, gradient, backward_of,
        v=v, rtol=rtol, atol=atol, allow=allow, strict=strict, forward=forward, order=order,
        batched=batched, assume=assume,
    )  # fmt: skip
    if asked.raises:
        asked.require_passed(answer, budget)
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

"""Recording, and a check in a test suite, as functions."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

from gradcli.errors import UsageError, brief
from gradcli.locking import one_at_a_time
from gradcli.questions.call_arguments import ArgumentError, in_words
from gradcli.recording.aten_calls import Argument

if TYPE_CHECKING:
    from gradcli.language.inputs import Value
    from gradcli.parts.running.python_functions import PythonFunction
    from gradcli.parts.typed_function import TypedFunction as Function
    from gradcli.results import Allowed, Checking

if not TYPE_CHECKING:
    from gradcli.function import Function

__all__ = ["check", "record"]

P = ParamSpec("P")
R = TypeVar("R")


@brief
def record(function: Callable[..., object], /, *tensors: object, **named: object) -> PythonFunction:
    """Make a `Function` of a function of Python, recorded where it is called with these tensors.

    Args:
        function: A callable of tensors: a function, a module, the `apply` of an `autograd.Function`.
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


_NUMBERS = {"budget": "budget=60 gives the check a minute", "k": "k=2 lets pass twice the error of the other"}
"""Hints at options that are numbers."""


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
        if not args and "func" in named:  # as gradcheck names its arguments
            args = (named.pop("func"), *([named.pop("inputs")] if "inputs" in named else []))  # type: ignore[assignment]
        if not args:
            message = f"{method.__name__} takes a function first: a text, or a function of Python"
            raise ArgumentError(message, hint='gradcli.check("x**2", ...)')
        both = {*options} & {*named}
        function: Argument = args[0]
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
    function: str | Function | Callable[..., object],
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

    A text, `check("x**2", 3, claim="2*x")`, is asked about as by the method of `Function`, and raises the same error.

    Args:
        function: As for `record`, or a text.
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
        named: Arguments by name, options of gradcheck, and further options of the method of `Function`, such as `wrt`,
            `random` and `box`; that of a parameter which is called like an option is an argument.

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
    from gradcli.parts.running.checking import PythonCheck, checked_text
    from gradcli.parts.running.gradcheck_arguments import as_arguments, of_method, require_function, understood

    if isinstance(function, _FunctionWithArguments):
        function, named = function.function, {**named, **function.arguments}
    for name, number in (("budget", budget), ("k", k)):
        if number is not None and not (isinstance(number, int | float) and 0 < number < math.inf):
            raise UsageError(f"{name}={in_words(number)} is no number that is positive", hint=_NUMBERS[name])
    modes: dict[str, Any] = {"v": v, "rtol": rtol, "atol": atol, "allow": allow, "strict": strict, "assume": assume}
    modes |= {"forward": forward, "order": order, "batched": batched}
    if isinstance(function, str | Function):
        others = {"backward_of": backward_of, "versus": versus}
        return checked_text(function, tensors, budget, gradient, others, {**modes, **named})
    require_function(function)
    inputs = as_arguments(function, tensors)
    wanted, further = of_method(understood(named, function, len(inputs)), function, len(inputs))
    asked = PythonCheck.from_arguments(function, inputs, wanted)
    if versus is not None:
        stated = {"gradient": gradient, "backward_of": backward_of, "v": v, "assume": assume}
        if given := [name for name, one in stated.items() if one is not None]:
            raise UsageError(f"versus= and {given[0]}= exclude each other", hint="ask two questions")
        return asked.versus(versus, k)
    answer = asked.answer(budget, gradient, backward_of, **modes, **further)
    if asked.raises:
        asked.require_passed(answer, budget)
    return answer

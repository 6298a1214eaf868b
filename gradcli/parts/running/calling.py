"""A function's parameters with values, as tensors and plain numbers of Python; and its result as one tensor."""

from __future__ import annotations

import contextlib
import inspect
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import BuiltinFunctionType
from typing import Any

import numpy as np

from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.errors import GradcliError, InputError, UsageError, did_you_mean
from gradcli.language.ops import find
from gradcli.option_words import option
from gradcli.questions.parsed_text import ArgumentStructure
from gradcli.recording.aten_calls import Argument
from gradcli.results import Array

PLAIN = (bool, int, str)
"""Types of a parameter that takes no tensor."""


_UNNAMED = ("x", "y", "z", "w")
"""Parameters of a function that has no names for them."""

Called = Callable[..., Any]
"""Function of the user's."""


@dataclass(frozen=True)
class Signature:
    """Parameters that a function takes.

    Attributes:
        kinds: By parameter, in order, the type of a plain number of Python that it takes; None of a tensor.
        optional: The parameters with a default.
        keyword_only: The parameters that have to be named in a call.
    """

    kinds: Mapping[str, type | None]
    optional: frozenset[str] = frozenset()
    keyword_only: frozenset[str] = frozenset()

    @property
    def tensors(self) -> list[str]:
        """List the parameters that take tensors."""
        return [name for name, kind in self.kinds.items() if kind is None]

    def fixed(self, given: Mapping[str, Argument]) -> Signature:
        """Give the same signature with the types of the plain numbers and words of Python that are given.

        Where nothing else is given or missing, floating-point numbers are given as tensors; or whole ones, without any.

        >>> signature(lambda x, n: x**n, "f").fixed({"x": 0.5, "n": 2}).tensors
        ['x']
        """
        plain = {name: type(one) for name, one in given.items() if type(one) in (*PLAIN, float) and name in self.kinds}
        if {*self.kinds} - self.optional <= plain.keys() == given.keys():
            numbers = float if float in plain.values() else int
            plain = {name: kind for name, kind in plain.items() if kind is not numbers}
        return replace(self, kinds={**self.kinds, **plain})

    def call(self, function: Called, values: Mapping[str, Argument]) -> Argument:
        """Call a function of these parameters: with values by place as far as none is left out, then by name."""
        in_order = values.keys() - self.keyword_only
        first = [*itertools.takewhile(in_order.__contains__, self.kinds)]
        return function(*(values[name] for name in first), **{n: one for n, one in values.items() if n not in first})


def signature(function: Called, called: str, count: int = 0) -> Signature:
    """Find the parameters of a function.

    Args:
        function: A callable; for a module and for an `autograd.Function`, its `forward` has the parameters.
        called: Its name in messages.
        count: How many it is given: with `*x`, those beyond the named ones are x_0, x_1, ...

    Raises:
        InputError: They cannot be known, as of `def f(*x)` where nothing is given.

    >>> list(signature(lambda a, *x, scale=1.0: a, "f", 3).kinds), list(signature(lambda a, *x: a, "f").kinds)
    (['a', 'x_0', 'x_1', 'scale'], ['a'])
    """
    parameters = [one for one in _parameters(function, called, max(1, count)) if one.kind is not one.VAR_KEYWORD]
    starred = next((n for n, one in enumerate(parameters) if one.kind is one.VAR_POSITIONAL), None)
    if starred is not None:
        name = parameters[starred].name
        if not max(starred, count):
            message = f"{called} takes any number of arguments (*{name}), so they have no names"
            raise InputError(message, hint="write a function with named parameters that calls it")
        kind = inspect.Parameter.POSITIONAL_ONLY
        more = [inspect.Parameter(f"{name}_{n}", kind) for n in range(count - starred)]
        parameters[starred : starred + 1] = more
    return Signature(
        {one.name: _plain_type(one) for one in parameters},
        optional=frozenset(one.name for one in parameters if one.default is not one.empty),
        keyword_only=frozenset(one.name for one in parameters if one.kind is one.KEYWORD_ONLY),
    )


def _plain_type(parameter: inspect.Parameter) -> type | None:
    """Find the type of a plain number that a parameter takes, by its annotation, also in quotes, or by its default."""
    annotated = next((kind for kind in PLAIN if parameter.annotation in (kind, kind.__name__)), None)
    return annotated or next((kind for kind in PLAIN if isinstance(parameter.default, kind)), None)


def name_of(function: Called) -> str:
    """Name a function in messages: by its name where it is defined, its name in torch, or its type."""
    custom = custom_of(function)
    if custom is not None:
        return f"{custom.__name__}.apply"
    if (operation := torch_internals.operation_of(function)) is not None:
        return torch_internals.full_name_of(operation)
    of_torch = torch.overrides.resolve_name(function) if callable(function) else None
    name = of_torch or getattr(function, "__qualname__", type(function).__name__)
    return str(name).rpartition("<locals>.")[2]


def _parameters(function: Called, called: str, count: int) -> list[inspect.Parameter]:
    if (operation := torch_internals.operation_of(function)) is not None:
        return [
            inspect.Parameter(
                one.name,
                inspect.Parameter.KEYWORD_ONLY if one.kwarg_only else inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=one.default_value if one.has_default_value() else inspect.Parameter.empty,
            )
            for one in torch_internals.arguments_of(operation)
        ]
    custom = custom_of(function)
    runs: Argument = custom or function
    skipped = int(custom is not None and torch_internals.has_context_in_forward(custom))
    try:
        forward = runs.forward if custom is not None or isinstance(function, torch.nn.Module) else function
        return list(inspect.signature(forward).parameters.values())[skipped:]
    except (TypeError, ValueError):
        if not isinstance(function, BuiltinFunctionType):
            raise InputError(
                f"the parameters of {called} cannot be known", hint="write a function that calls it"
            ) from None
        row = find(re.split(r"[.:]", called)[-1])
        names = row.operands if row is not None and len(row.operands) >= count else _UNNAMED[:count]
        return [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names[:count]]


def module_of(function: Called) -> torch.nn.Module | None:
    """Return the module that a function is, or is a method of; None if there is none."""
    owner = function if isinstance(function, torch.nn.Module) else getattr(function, "__self__", None)
    return owner if isinstance(owner, torch.nn.Module) else None


def with_parameters(
    function: Called, names: Sequence[str], called: str, module: torch.nn.Module | None = None
) -> Called:
    """Name the parameters of a function, which is called with all of them in order.

    Args:
        function: The function.
        names: The names.
        called: Its name in messages.
        module: A module whose tensors it uses, if there is one: they have their names in it.

    >>> made = with_parameters(lambda *args: args[0] - args[1], ["x", "y"], "difference")
    >>> name_of(made), list(inspect.signature(made).parameters), made(3, 2)
    ('difference', ['x', 'y'], 1)
    """

    def renamed(*args: Argument) -> Argument:
        return function(*args)

    if module is not None:
        renamed.__self__ = module  # type: ignore[attr-defined]
    renamed.__name__ = renamed.__qualname__ = called
    kind = inspect.Parameter.POSITIONAL_ONLY
    renamed.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])  # type: ignore[attr-defined]
    return renamed


class PartnerFunction:
    """Function that is called with the arguments of another one: by their names if it needs no others, else by place.

    Args:
        function: The function.
        called: Its name in messages.
        names: The names of the arguments, in order.

    Attributes:
        arguments: The names of those that it takes, in its order.

    Raises:
        UsageError: It needs more of them than there are.

    >>> PartnerFunction(lambda a, n=2: a**n, "power", ["x", "n"])({"x": 3, "n": 4})
    81
    """

    def __init__(self, function: Called, called: str, names: Sequence[str]) -> None:
        self._function, self._called, self._taken = function, called, signature(function, called, len(names))
        needed = [name for name in self._taken.kinds if name not in self._taken.optional]
        if len(needed) > len(names):
            raise UsageError(f"{called} takes {len(needed)} arguments, and the function has {len(names)}")
        own = [*self._taken.kinds]
        pairs = zip(own, own if {*needed} <= {*names} else names, strict=False)
        self._names = {parameter: name for parameter, name in pairs if name in names}
        self.arguments = [*self._names.values()]

    def __call__(self, values: Mapping[str, Argument]) -> Argument:
        """Call it with the values of the arguments by name."""
        return self._taken.call(self._function, {own: values[name] for own, name in self._names.items()})

    def with_names(
        self,
        names: Sequence[str],
        module: torch.nn.Module | None = None,
        part: Callable[[Argument], Argument] = lambda found: found,
    ) -> Called:
        """Return the function of arguments with these names, in order.

        Args:
            names: The names.
            module: The module whose tensors it uses, if it is none itself.
            part: Takes what is wanted out of what the function gives.
        """

        def of_names(*args: Argument) -> Argument:
            return part(self(dict(zip(names, args, strict=True))))

        return with_parameters(of_names, names, self._called, module_of(self._function) or module)


def custom_of(function: Called) -> Argument:
    """Find the `autograd.Function` whose `apply` this is; None of any other function."""
    owner = getattr(function, "__self__", None)
    return owner if isinstance(owner, type) and issubclass(owner, torch.autograd.Function) else None


@contextlib.contextmanager
def advising_on_words(name: str, value: object) -> Iterator[None]:
    """Say, where a value cannot be read and is a word, what makes a parameter take one."""
    try:
        yield
    except GradcliError as error:
        if isinstance(value, str) and value.strip().isidentifier():
            error.advise(f"a parameter that takes a word is annotated in its def: {name}: str")
        raise


def argument(kind: type, array: Array | str, name: str) -> Argument:
    """Read a plain argument: a whole number, true or false, or a word.

    Raises:
        InputError: It is none.
    """
    if kind in (str, float):
        return kind(array)
    number = np.asarray(array)
    if number.ndim or number != np.round(number):
        raise InputError(
            f"{option('at', of=name)} is not the {'whole number' if kind is int else 'True or False'} that it takes"
        )
    return kind(number.item())


def give_values(names: Sequence[str]) -> str:
    """Write a hint that names the values to give."""
    return "give " + option("at", *(f"{name}=VALUE" for name in names[:4]))


def require_names(taken: Signature, given: Sequence[str], called: str) -> None:
    """Refuse parameters without a value.

    Raises:
        InputError: There are such.
    """
    missing = [name for name in taken.kinds if name not in given and name not in taken.optional]
    if missing:
        require_constants([name for name in given if name not in taken.kinds], (), taken, called)
        names = ", ".join(f"'{name}'" for name in missing)
        raise InputError(
            f"no value for the parameter{'s' * (len(missing) > 1)} {names} of {called}", hint=give_values(missing)
        )


def require_constants(given: Sequence[str], constants: Sequence[str], taken: Signature, called: str) -> None:
    """Refuse values for names of neither a parameter nor a tensor that the function finds elsewhere.

    Raises:
        InputError: There are such.
    """
    for name in given:
        if name not in constants:
            known = (*taken.kinds, *constants)
            hint = did_you_mean(name, known) or f"it takes {', '.join(known) or 'nothing'}"
            raise InputError(f"'{name}' is given a value, and {called} has no such parameter", hint=hint)


class ArrayResultError(InputError):
    """Error of a function that gives back an array or a number of NumPy."""


def one_tensor(found: Argument, called: str) -> Tensor:
    """Join the results of a function to one tensor: stack them if of one shape, else flatten and concatenate them.

    A last dimension of 2 has the real and the imaginary parts of complex results.

    Raises:
        ArrayResultError: It gives back an array or a number of NumPy.
        InputError: It gives back something else.
    """
    if isinstance(found, torch.Tensor):
        y = _real(found)
        if not y.dtype.is_floating_point:
            raise InputError(f"{called} gives a tensor of {y.dtype}, which has no derivative")
        return y
    if isinstance(found, tuple | list) and found and all(isinstance(one, torch.Tensor) for one in found):
        parts = [one for one in map(_real, found) if one.dtype.is_floating_point]
        if len({one.shape for one in parts}) == 1:
            return torch.stack(parts) if len(parts) > 1 else parts[0]
        if parts:
            return torch.cat([one.reshape(-1) for one in parts])
    kind = type(found).__name__
    hint = "return a tensor" if found is not None else "return a tensor; gradcli run judges the passes of a script"
    if isinstance(found, float | int):
        hint = "return the tensor that it is computed from: functions of math, float(x) and x.item() leave torch"
    error = ArrayResultError if isinstance(found, np.ndarray | np.generic) else InputError
    raise error(f"{called} gives back {'None' if found is None else f'a value of type {kind}'}", hint=hint)


def _real(tensor: Tensor) -> Tensor:
    """View complex numbers as their real and imaginary parts; give any other tensor as it is."""
    real: Tensor = torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor
    return real


class WeightedFunction:
    """Function that gives the sum of the elements of what another one gives, with weights.

    Args:
        function: The function.
        called: Its name in messages.
        weights: The weights, of the shape of its result.
    """

    def __init__(self, function: Called, called: str, weights: Array) -> None:
        self._function, self._called, self._weights = function, called, weights
        self.__self__ = getattr(function, "__self__", None) or function  # whose tensors are named

    def __call__(self, *args: object, **named: object) -> Tensor:
        """Call the function."""
        y = one_tensor(self._function(*args, **named), self._called)
        return (y * torch.tensor(self._weights.tolist(), dtype=y.dtype, device=y.device)).sum()


def nearest_values(values: Mapping[str, object], structures: Mapping[str, ArgumentStructure]) -> dict[str, object]:
    """Replace the arguments of which a structure is assumed by the nearest ones that have it."""
    return {name: structures[name].nearest_of(one) if name in structures else one for name, one in values.items()}

"""Commands as functions of the package: `gradcli.grad("x**2", 3)`, with the function first.

The function is a text, a `Function`, or what a part makes one of, such as a function of Python.  Each command that is a
method of `Function` is such a function; parts add others, or replace one by their own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, wraps
from pkgutil import resolve_name

from gradcli.errors import InputError, brief
from gradcli.function import Function
from gradcli.parts import all_parts
from gradcli.questions.call_arguments import ArgumentError, in_words
from gradcli.registry import functions_of_parts, package_functions


@lru_cache(maxsize=64)
def function_named(name: str) -> Callable[..., object]:
    """Return a function of the package.

    Raises:
        KeyError: There is none of this name.
    """
    if name not in package_functions():
        raise KeyError(name)
    if name not in functions_of_parts():
        return question(name)
    found: Callable[..., object] = resolve_name(functions_of_parts()[name])
    return found


def question(name: str) -> Callable[..., object]:
    """Make a function of a method, whose first argument is the function that is asked about."""
    method = getattr(Function, name)

    @brief
    @wraps(method)
    def asked(*args: object, **options: object) -> object:
        if not args:
            message = f"{name} takes a function first: a text, or a function of Python"
            raise ArgumentError(message, hint=f'gradcli.{name}("x**2", ...)')
        return ask(name, args[0], args[1:], options)

    signature = inspect.signature(method)
    function = inspect.Parameter("function", inspect.Parameter.POSITIONAL_ONLY)
    _, *others = signature.parameters.values()
    asked.__signature__ = signature.replace(parameters=[function, *others])  # type: ignore[attr-defined]
    asked.__module__, asked.__name__, asked.__qualname__ = "gradcli", name, name
    return asked


def ask(name: str, function: object, values: Sequence[object], options: Mapping[str, object]) -> object:
    """Answer a command on a text, on a function, or on what a part makes one of.

    Raises:
        InputError: It is none of these.
    """
    if isinstance(function, str):
        function = Function(function)
    if isinstance(function, Function):
        method: Callable[..., object] = getattr(function, name)
        return method(*values, **options)
    for part in all_parts():
        found = part.answer_of(function, name, values, options)
        if found is not None:
            return found
    hint = f'gradcli.{name}("x**2", ...)'
    if type(function).__module__.startswith("sympy."):
        hint = f"gradcli.{name}(str(...), ...) reads the text of an expression of SymPy"
    elif hasattr(function, "grad_fn"):
        hint = f"give what computes the tensor: gradcli.{name}(lambda x: x**2, x), or a text"
    message = f"a function is a text, such as 'x**2', or a function of Python, and not {in_words(function)}"
    raise InputError(message, hint=hint)


def answer(command: str, text: str, *values: object, **options: object) -> object:
    """Answer a command on a text at values, as an answer without numbers asks for them."""
    return function_named(command)(text, *values, **options)

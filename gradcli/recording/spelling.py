"""A call of torch as text of the language, which reads torch's own spellings."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Mapping, Sequence
from functools import lru_cache, reduce
from typing import Any

from gradcli.autodiff._torch import torch
from gradcli.language.ops import find
from gradcli.recording.values import Ref

SIGNS: Mapping[str, str] = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "true_divide": "/",
    "floor_divide": "//",
    "remainder": "%",
    "pow": "**",
    "matmul": "@",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "eq": "==",
    "ne": "!=",
    "and": "&",
    "or": "|",
}
"""Methods and functions of two that are signs."""

_ALIKE: Mapping[str, str] = {
    "subtract": "sub",
    "multiply": "mul",
    "divide": "div",
    "truediv": "div",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "bitwise_and": "and",
    "bitwise_or": "or",
    "logical_and": "and",
    "logical_or": "or",
    "less": "lt",
    "less_equal": "le",
    "greater": "gt",
    "greater_equal": "ge",
    "not_equal": "ne",
}
"""Other names of them."""

_HELD = frozenset(
    "dtype device requires_grad pin_memory memory_format copy layout out inplace non_blocking _stacklevel".split()
)
"""Keywords that say how a tensor is held."""

Named = Callable[[Ref, bool], str]
"""The text of a value: beside signs and before dots, or alone between commas."""


def path_of(function: Callable[..., Any]) -> str:
    """A function of torch as it is typed: `torch.Tensor.sum`, `torch.nn.functional.relu`; empty if it has no name."""
    function = getattr(function, "recorded", function)
    if getattr(function, "__module__", "") == "torch.autograd":
        return f"torch.autograd.{function.__name__}"
    return str(torch.overrides.resolve_name(function) or getattr(function, "__name__", ""))


def last(path: str) -> str:
    """The name alone, that of a property too, without the underscores of a sign and that of a call in place."""
    name = path.removesuffix(".__get__").rpartition(".")[2]
    if name.startswith("__") and name.endswith("__"):
        return name.strip("_")
    return name.rstrip("_") if not name.startswith("_") else name


def spelled(path: str, arguments: Sequence[Any], keywords: Mapping[str, Any], named: Named) -> str:
    """A call as text.

    Args:
        path: Of the function.
        arguments: Tensors, numbers, lists of them.
        keywords: Those given by name.
        named: The text of each tensor.
    """
    name = last(path)
    if path == "torch.autograd.grad":
        given = {**dict(zip(("outputs", "inputs", "grad_outputs"), arguments, strict=False)), **keywords}
        asked = [_only(given.get(key)) for key in ("outputs", "inputs", "grad_outputs")]
        words = ", ".join(text(one, named) for one in asked if one is not None)
        return f"torch.autograd.grad({words}, create_graph=True)"
    if path.endswith("__get__"):
        return f"{named(arguments[0], False)}.{name}"
    is_reflected = name.startswith("r") and find(name) is None and name[1:] in {*SIGNS, *_ALIKE}
    sign = SIGNS.get(_ALIKE.get(name[is_reflected:], name[is_reflected:]), "")
    scale = keywords.get("alpha", 1)
    usual = _defaults(path)
    given = {
        key: value
        for key, value in keywords.items()
        if key not in _HELD
        and value is not None
        and not (key in usual and type(value) is type(usual[key]) and value == usual[key])
    }
    if sign and len(arguments) == 2 and given.keys() <= {"alpha"}:
        a, b = reversed(arguments) if is_reflected else arguments
        right = _operand(b, named) if scale == 1 else f"{_operand(scale, named)}*{_operand(b, named)}"
        gap = "" if sign in ("*", "/", "**") else " "
        return f"{_operand(a, named)}{gap}{sign}{gap}{right}"
    if name == "getitem":
        return f"{named(arguments[0], False)}[{_key(arguments[1], named)}]"
    if name in ("neg", "negative"):
        return f"-{named(arguments[0], False)}"
    if name in ("invert", "logical_not", "bitwise_not"):
        return f"~{named(arguments[0], False)}"
    is_method = ".Tensor." in path or "TensorBase." in path
    if is_method:
        receiver, *arguments = arguments
    parts = [text(argument, named) for argument in arguments if not isinstance(argument, torch.dtype | torch.device)]
    parts += [f"{key}={text(value, named)}" for key, value in given.items() if not isinstance(value, torch.dtype)]
    if is_method:
        return f"{_operand(receiver, named)}.{name}({', '.join(parts)})"
    if path.startswith("torch.functional."):
        path = f"torch.{name}"
    is_plain = find(name) is not None and not path.startswith(("torch.linalg.", "torch.special."))
    shown = name if is_plain else path[: -len(path.rpartition(".")[2])] + name
    return f"{shown}({', '.join(parts)})"


def is_composed(path: str, operations: Container[str]) -> bool:
    """Whether the language wrote a function of torch as several others, whose roundings are not its own.

    Args:
        path: Of the function.
        operations: The names of those in the Program.
    """
    name = last(path)
    is_sign = name in {*SIGNS, *_ALIKE, "getitem", "neg", "negative", "invert", "grad"} or path.endswith("__get__")
    row = find(name, after_dot=True)
    is_reflected = name.startswith("r") and name[1:] in SIGNS
    return not is_sign and not is_reflected and (row is None or row.name not in operations)


@lru_cache(maxsize=256)
def _defaults(path: str) -> Mapping[str, Any]:
    """The values of parameters that may be left out, of a function that is written in Python."""
    try:
        function = reduce(getattr, path.split(".")[1:], torch)
        parameters = inspect.signature(function).parameters.values()  # type: ignore[arg-type]
    except (AttributeError, TypeError, ValueError):
        return {}
    return {one.name: one.default for one in parameters if one.default is not one.empty}


def _only(value: Any) -> Any:
    """The only one of several."""
    return value[0] if isinstance(value, tuple | list) and len(value) == 1 else value


def _operand(value: Any, named: Named) -> str:
    """An argument beside a sign, or before a dot."""
    if isinstance(value, Ref):
        return named(value, False)
    found = text(value, named)
    return f"({found})" if found.startswith("-") else found


def text(value: Any, named: Named) -> str:
    """An argument as text."""
    if isinstance(value, Ref):
        return named(value, True)
    match value:
        case bool() | None:
            return repr(value)
        case float():
            return repr(float(value))
        case int():
            return repr(int(value))
        case str():
            return repr(value)
        case torch.Size() | tuple():
            inside = ", ".join(text(one, named) for one in value)
            return f"({inside}{',' * (len(value) == 1)})"
        case list():
            return f"[{', '.join(text(one, named) for one in value)}]"
    if hasattr(value, "item"):  # a number of NumPy
        return text(value.item(), named)
    raise TypeError(f"an argument of type {type(value).__name__}")


def _key(key: Any, named: Named) -> str:
    if isinstance(key, tuple):
        return ", ".join(_key(one, named) for one in key)
    if isinstance(key, slice):
        start, stop = ("" if end is None else text(end, named) for end in (key.start, key.stop))
        return f"{start}:{stop}" + (f":{text(key.step, named)}" if key.step not in (None, 1) else "")
    return "..." if key is Ellipsis else text(key, named)

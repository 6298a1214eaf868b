"""`math` and NumPy in a function of one's own, read as torch's where they are given a tensor that autograd follows.

    math.cos(x)    np.sum(x**2)    W @ x    np.array([x[0]**2, x[1]])

Python's own would hold such a tensor constant, or refuse it.  NumPy asks its arguments first (NEP 13 and 18), so that a
tensor answers for itself, by `torch._numpy`.  What asks nobody, `math` and `np.array`, has a stand-in among the globals
of the function while it runs.  Numbers, arrays and detached tensors are Python's own, and so is what torch has not.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from types import BuiltinFunctionType, ModuleType
from typing import Any

import numpy as np

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.recording.calling import custom_of
from gradcli.recording.loading import is_of_user
from gradcli.recording.values import replaced, tensors_in

_MATH = """
acos acosh asin asinh atan atan2 atanh copysign cos cosh degrees erf erfc exp exp2 expm1 fabs fmod hypot isfinite isinf
isnan lgamma log log10 log1p log2 pow radians sin sinh sqrt tan tanh
""".split()
"""Functions of `math` that torch has, whose result is no whole number of Python's."""

_OPERATORS = """
add subtract multiply divide power floor_divide remainder less less_equal greater greater_equal equal not_equal
""".split()
"""Functions that an operator calls, of which a tensor and a number of NumPy are torch's in any case."""

Met = dict[str, None]
"""Functions that were given tensors, as they are typed: `np.sum`."""


@contextlib.contextmanager
def read_as_torch(function: Callable[..., Any]) -> Iterator[Met]:
    """Read `math` and NumPy as torch's within a block.

    Args:
        function: The one that runs, in whose globals they are looked for.

    Yields:
        The functions that were given tensors.
    """
    met: Met = {}
    scope, stand_ins = _globals_of(function), _stand_ins(met)
    own = {name: value for name, value in scope.items() if _is_replaced(value) and value in stand_ins}
    protocols = {} if hasattr(torch.Tensor, "__array_ufunc__") else _protocols(met)
    try:
        scope.update({name: stand_ins[value] for name, value in own.items()})
        for name, method in protocols.items():
            setattr(torch.Tensor, name, method)
        yield met
    finally:
        for name in protocols:
            delattr(torch.Tensor, name)
        scope.update({name: value for name, value in own.items() if scope.get(name) is stand_ins[value]})


def remarks(met: Met) -> tuple[str, ...]:
    """Say what was read as torch's.

    >>> remarks({"math.cos": None, "np.sum": None})
    ("math.cos and np.sum of a tensor are read as torch's; Python's own have no derivative",)
    """
    *others, last = met or [""]
    names, are = (f"{', '.join(others)} and {last}", "are") if others else (last, "is")
    return (f"{names} of a tensor {are} read as torch's; Python's own have no derivative",) if met else ()


def _globals_of(function: Any) -> dict[str, Any]:
    """The globals of a function of the user's, of a method, a module's `forward`, or that of an `autograd.Function`."""
    while isinstance(function, functools.partial):
        function = function.func
    custom = custom_of(function)
    if custom is not None:
        function = custom.forward
    elif not inspect.isroutine(function):
        function = getattr(function, "forward", type(function).__call__)
    code = getattr(inspect.unwrap(function), "__code__", None)
    is_own = code is not None and is_of_user(code.co_filename)
    return inspect.unwrap(function).__globals__ if is_own else {}


# -- what asks nobody


def _is_replaced(value: Any) -> bool:
    return isinstance(value, ModuleType | BuiltinFunctionType)


def _stand_ins(met: Met) -> Mapping[Any, Any]:
    """A stand-in for each function that asks nobody, and for the modules that they are in."""
    of_math = {name: _of_numbers(getattr(math, name), met) for name in _MATH}
    of_numpy = {name: _of_lists(getattr(np, name), met) for name in ("array", "asarray")}
    found: dict[Any, Any] = {}
    for module, others in ((math, of_math), (np, of_numpy)):
        found |= {getattr(module, name): other for name, other in others.items()}
        found[module] = ModuleType(module.__name__)
        vars(found[module]).update(vars(module) | others)
    return found


def _of_numbers(real: Callable[..., Any], met: Met) -> Callable[..., Any]:
    """A function of `math` that takes tensors of one element too."""
    name = real.__name__

    @functools.wraps(real)
    def asked(*args: Any) -> Any:
        tensors = [*tensors_in(args)]
        if not _are_followed(args) or any(one.numel() != 1 for one in tensors):
            return real(*args)
        with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
            real(*map(float, args))  # which raises what Python raises
        met[f"math.{name}"] = None
        of_torch = {"log": _log, "hypot": _hypot}.get(name) or getattr(torch, name, None) or getattr(_numpy(), name)
        return _tensors(of_torch(*(torch.as_tensor(one, dtype=tensors[0].dtype) for one in args)))

    return asked


def _log(x: Tensor, *base: Tensor) -> Tensor:
    return x.log() / base[0].log() if base else x.log()


def _hypot(first: Tensor, *others: Tensor) -> Tensor:
    return functools.reduce(torch.hypot, others, first) if others else first.abs()


def _of_lists(real: Callable[..., Any], met: Met) -> Callable[..., Any]:
    """`np.array`, which takes lists of tensors too."""

    @functools.wraps(real)
    def asked(values: Any, *args: Any, **kwargs: Any) -> Any:
        if not _are_followed(values) or args or kwargs:
            return real(values, *args, **kwargs)
        met[f"np.{real.__name__}"] = None
        return _stacked(values, next(tensors_in(values)).dtype)

    return asked


def _stacked(values: Any, dtype: torch.dtype) -> Tensor:
    if isinstance(values, list | tuple):
        return torch.stack([_stacked(one, dtype) for one in values])
    return values.clone() if isinstance(values, torch.Tensor) else torch.as_tensor(values, dtype=dtype)


# -- what asks its arguments


def _protocols(met: Met) -> Mapping[str, Callable[..., Any]]:
    """The methods by which a tensor answers NumPy."""

    def of_function(_: Tensor, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        module = function.__module__.removeprefix("numpy").strip(".")
        space = getattr(_numpy(), module, None) if module else _numpy()
        of_torch = getattr(space, function.__name__, None)
        if of_torch is None or not _are_followed((args, kwargs)):
            return function._implementation(*args, **kwargs)
        met[".".join(filter(None, ("np", module, function.__name__)))] = None
        return _tensors(of_torch(*_for_torch(args), **{name: _for_torch(one) for name, one in kwargs.items()}))

    def of_ufunc(tensor: Tensor, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        of_torch = getattr(_numpy(), ufunc.__name__, None) or getattr(torch.special, ufunc.__name__, None)
        if of_torch is None or method != "__call__" or kwargs or not _are_followed(args):
            plain = replaced(args, torch.Tensor, np.asarray)
            return tensor.__array_wrap__(np.asarray(getattr(ufunc, method)(*plain, **kwargs)))
        if not (ufunc.__name__ in _OPERATORS and any(isinstance(one, np.generic) for one in args)):  # as Python has it
            met[f"np.{ufunc.__name__}"] = None
        return _tensors(of_torch(*_for_torch(args)))

    return {"__array_function__": of_function, "__array_ufunc__": of_ufunc}


def _numpy() -> ModuleType:
    """NumPy's functions of tensors, which are loaded when they are needed."""
    return importlib.import_module("torch._numpy")


def _are_followed(args: Any) -> bool:
    return any(one.requires_grad for one in tensors_in(args))


def _for_torch(args: Any) -> Any:
    """Arguments with copies of arrays as tensors, and numbers of NumPy as Python's."""
    plain = replaced(args, np.generic, lambda number: number.item())
    return replaced(plain, np.ndarray, lambda array: torch.tensor(array.copy()))


def _tensors(found: Any) -> Any:
    """A result with tensors in place of arrays of `torch._numpy`."""
    return replaced(found, _numpy().ndarray, lambda array: array.tensor)

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
import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from types import BuiltinFunctionType, ModuleType
from typing import Any

import numpy as np

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.recording.user_files import is_of_user
from gradcli.recording.values import replaced, tensors_in
from gradcli.running.calling import forward_of

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
def read_as_torch(function: Callable[..., Any], *, is_of_arrays: bool = False) -> Iterator[Met]:
    """Read `math` and NumPy as torch's within a block.

    Args:
        function: The one that runs, in whose globals they are looked for.
        is_of_arrays: Whether it is given arrays of `torch._numpy`.

    Yields:
        The functions that were given tensors.
    """
    met: Met = {}
    scope, stand_ins = _globals_of(function), _stand_ins(met)
    kinds = (torch.Tensor, _numpy().ndarray) if is_of_arrays else (torch.Tensor,)
    own = {n: one for n, one in scope.items() if isinstance(one, ModuleType | BuiltinFunctionType) and one in stand_ins}
    protocols = {} if hasattr(torch.Tensor, "__array_ufunc__") else _protocols(met)
    try:
        scope.update({name: stand_ins[value] for name, value in own.items()})
        for kind, name in itertools.product(kinds, protocols):
            setattr(kind, name, protocols[name])
        yield met
    finally:
        for kind, name in itertools.product(kinds, protocols):
            delattr(kind, name)
        scope.update({name: value for name, value in own.items() if scope.get(name) is stand_ins[value]})


def is_of_numpy(function: Callable[..., Any]) -> bool:
    """Tell whether the globals of a function of the user's have to do with NumPy, and not with torch."""
    names = [getattr(one, "__module__", None) or getattr(one, "__name__", "") for one in _globals_of(function).values()]
    roots = {str(name).partition(".")[0] for name in names}
    return "numpy" in roots and "torch" not in roots


def as_array(value: Any) -> Any:
    """Give a tensor as an array, whose methods are NumPy's."""
    return _numpy().ndarray(value) if isinstance(value, torch.Tensor) else value


def as_tensors(found: Any) -> Any:
    """Give a result with tensors in place of arrays."""
    return replaced(found, _numpy().ndarray, lambda array: array.tensor)


def remarks(met: Met) -> tuple[str, ...]:
    """Say what was read as torch's.

    >>> remarks({"math.cos": None, "np.sum": None})
    ("read as torch's where a tensor is given: math.cos, np.sum; Python's own have no derivative",)
    """
    return (
        (f"read as torch's where a tensor is given: {', '.join(met)}; Python's own have no derivative",) if met else ()
    )


def _globals_of(function: Any) -> dict[str, Any]:
    """The globals of a function of the user's, of a method, a module's `forward`, or that of an `autograd.Function`."""
    while isinstance(function, functools.partial):
        function = function.func
    function = forward_of(function)
    if not inspect.isroutine(function):
        function = type(function).__call__
    code = getattr(inspect.unwrap(function), "__code__", None)
    is_own = code is not None and is_of_user(code.co_filename)
    return inspect.unwrap(function).__globals__ if is_own else {}


# -- what asks nobody


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
    def asked(*given: Any) -> Any:
        args = as_tensors(given)
        tensors = tensors_in(args)
        if not _are_followed(args) or any(one.numel() != 1 for one in tensors):
            return real(*args)
        with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
            real(*map(float, args))  # which raises what Python raises
        met[f"math.{name}"] = None
        of_torch = _OF_ANY_NUMBER.get(name) or getattr(torch, name, None) or getattr(_numpy(), name)
        return as_tensors(of_torch(*(torch.as_tensor(one, dtype=tensors[0].dtype) for one in args)))

    return asked


_OF_ANY_NUMBER: Mapping[str, Callable[..., Tensor]] = {
    "log": lambda x, *base: x.log() / base[0].log() if base else x.log(),
    "hypot": lambda first, *others: functools.reduce(torch.hypot, others, first) if others else first.abs(),
}
"""Functions of any number of arguments."""


def _of_lists(real: Callable[..., Any], met: Met) -> Callable[..., Any]:
    """`np.array`, which takes lists of tensors too."""

    @functools.wraps(real)
    def asked(values: Any, *args: Any, **kwargs: Any) -> Any:
        values = as_tensors(values)
        if not _are_followed(values) or args or kwargs:
            return real(values, *args, **kwargs)
        met[f"np.{real.__name__}"] = None
        return _stacked(values, tensors_in(values)[0].dtype)

    return asked


def _stacked(values: Any, dtype: torch.dtype) -> Tensor:
    if isinstance(values, list | tuple):
        return torch.stack([_stacked(one, dtype) for one in values])
    return values.clone() if isinstance(values, torch.Tensor) else torch.as_tensor(values, dtype=dtype)


# -- what asks its arguments


def _protocols(met: Met) -> Mapping[str, Callable[..., Any]]:
    """The methods by which a tensor answers NumPy."""

    def of_function(one: Any, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        module = function.__module__.removeprefix("numpy").strip(".")
        space = getattr(_numpy(), module, None) if module else _numpy()
        of_torch = getattr(space, function.__name__, None)
        if of_torch is None or not _are_followed((args, kwargs)):
            return function._implementation(*args, **kwargs)
        met[".".join(filter(None, ("np", module, function.__name__)))] = None
        found = of_torch(*_for_torch(args), **{name: _for_torch(value) for name, value in kwargs.items()})
        return as_tensors(found) if isinstance(one, torch.Tensor) else found

    def of_ufunc(one: Any, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        of_torch = getattr(_numpy(), ufunc.__name__, None) or getattr(torch.special, ufunc.__name__, None)
        if of_torch is None or method != "__call__" or kwargs or not _are_followed(args):
            plain = replaced(as_tensors(args), torch.Tensor, np.asarray)
            found = getattr(ufunc, method)(*plain, **kwargs)
            return found if isinstance(found, tuple) else torch.from_numpy(np.asarray(found))
        if not (ufunc.__name__ in _OPERATORS and any(isinstance(one, np.generic) for one in args)):  # as Python has it
            met[f"np.{ufunc.__name__}"] = None
        found = of_torch(*_for_torch(args))
        return as_tensors(found) if isinstance(one, torch.Tensor) else found

    return {"__array_function__": of_function, "__array_ufunc__": of_ufunc}


def _numpy() -> ModuleType:
    """NumPy's functions of tensors, which are loaded when they are needed."""
    return importlib.import_module("torch._numpy")


def _are_followed(args: Any) -> bool:
    return any(one.requires_grad for one in tensors_in(as_tensors(args)))


def _for_torch(args: Any) -> Any:
    """Arguments with copies of arrays as tensors, and numbers of NumPy as Python's."""
    plain = replaced(args, np.generic, lambda number: number.item())
    return replaced(plain, np.ndarray, lambda array: torch.tensor(array.copy()))

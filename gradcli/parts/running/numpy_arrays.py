"""Tensors that functions of NumPy take: `np.sum(np.sin(x))` is computed, and differentiated, by torch.

NumPy lets a class answer its functions, by `__array_ufunc__` and `__array_function__`; torch has them all on tensors.
What the code of the user makes without such an argument, `np.zeros(3)` or `np.asarray(x)`, is made of tensors too while
it runs: an array of NumPy's own holds numbers alone, and what is assigned to it would leave torch.

Source: NEP 13 and NEP 18 of NumPy.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType

import numpy as np

from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.autodiff.torch_internals import TorchFunction
from gradcli.recording.aten_calls import Argument
from gradcli.recording.user_files import is_of_user

REDUCED = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}
"""Functions of whole arrays, by the function of two numbers that they repeat: `np.add.reduce` is `np.sum`."""

ACCUMULATED = {"add": "cumsum", "multiply": "cumprod"}
"""Those that keep each result on the way."""

OF_LISTS = ("array", "asarray", "asanyarray", "ascontiguousarray")
"""Functions that make an array of what they are given."""

MAKERS = (*OF_LISTS, "zeros", "ones", "empty", "full", "eye", "identity", "linspace", "arange")
"""Functions that make an array of numbers."""


class NumpyArray(np.lib.mixins.NDArrayOperatorsMixin):
    """Array of NumPy whose numbers are a tensor.

    Args:
        array: An array of `torch._numpy`.

    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> tensor_of_numpy(np.sum(numpy_of_tensor(x) ** 2)).requires_grad
    True
    """

    def __init__(self, array: Argument) -> None:
        self._array = array

    def __array_ufunc__(self, function: np.ufunc, method: str, *args: Argument, **named: Argument) -> Argument:
        owner, name = torch_internals.numpy_on_tensors(), str(function.__name__)
        if method == "at" and name == "add" and isinstance(args[0], NumpyArray):
            return args[0]._add_at(*args[1:])
        if method == "outer" and len(args) == 2 and not named:
            first, second = (_with_numpy(_array_of(one)) for one in args)
            return function(first.reshape((*first.shape, *(1,) * second.ndim)), second)
        repeated: Mapping[str, str] = {"reduce": REDUCED, "accumulate": ACCUMULATED}.get(method, {})
        names = name if method == "__call__" else repeated.get(name, "")
        into = named.pop("out", None)
        if not names or not hasattr(owner, names) or (into and not isinstance(into[0], NumpyArray)):
            return NotImplemented
        found = _called(getattr(owner, names), args, named if method == "__call__" else {"axis": 0, **named})
        if into is None:
            return found
        into[0][...] = found
        return into[0]

    def __array_function__(
        self, function: TorchFunction, types: object, args: Sequence[Argument], named: Mapping[str, Argument]
    ) -> Argument:
        owner = torch_internals.numpy_on_tensors()
        for part in function.__module__.split(".")[1:]:  # "numpy.linalg"
            owner = getattr(owner, part, None)
        return _called(getattr(owner, function.__name__, None), args, named)

    def __getattr__(self, name: str) -> Argument:
        if name.startswith("__"):  # `__array__` would take the numbers out
            raise AttributeError(name)
        found = getattr(self._array, name)
        return (lambda *args, **named: _called(found, args, named)) if callable(found) else _with_numpy(found)

    def __getitem__(self, index: Argument) -> Argument:
        return _with_numpy(self._array[_without_numpy(index)])

    def __setitem__(self, index: Argument, value: Argument) -> None:
        self._array[_without_numpy(index)] = _without_numpy(value)

    def _add_at(self, index: Argument, values: Argument) -> None:
        """Add to elements, as often as each is named."""
        places = torch.arange(self._array.tensor.numel()).reshape(tuple(self._array.shape))
        chosen = places[_without_numpy(index)]
        added = _array_of(values).tensor.to(self._array.tensor.dtype).expand(chosen.shape)
        flat = self._array.tensor.reshape(-1).index_add(0, chosen.reshape(-1), added.reshape(-1))
        self[...] = NumpyArray(torch_internals.numpy_on_tensors().ndarray(flat.reshape(places.shape)))

    def __len__(self) -> int:
        return len(self._array)

    def __iter__(self) -> Iterator[Argument]:
        return map(_with_numpy, self._array)

    def __float__(self) -> float:
        return float(self._array.tensor)

    def __bool__(self) -> bool:
        return bool(self._array.tensor)


def numpy_of_tensor(tensor: Tensor) -> NumpyArray:
    """Give a tensor to code of NumPy."""
    return NumpyArray(torch_internals.numpy_on_tensors().ndarray(tensor))


def tensor_of_numpy(found: Argument) -> Argument:
    """Return the tensors of what code of NumPy gives back: an array, or a tuple, list or array of them."""
    if isinstance(found, NumpyArray):
        return found._array.tensor
    if isinstance(found, np.ndarray) and found.dtype == object:  # np.array([x[0], x[1]])
        return torch.stack([tensor_of_numpy(one) for one in found.flat]).reshape(found.shape)
    if isinstance(found, dict):
        return {name: tensor_of_numpy(one) for name, one in found.items()}
    return type(found)(map(tensor_of_numpy, found)) if type(found) in (tuple, list) else found


def is_of_numpy(error: BaseException | None) -> bool:
    """Tell whether a function fails with tensors as one of NumPy does, by the words or the place of the error."""
    if not isinstance(error, TypeError | RuntimeError | AttributeError | ValueError):
        return False
    if isinstance(error, AttributeError) and isinstance(error.obj, torch.Tensor):  # x.copy()
        return hasattr(np.ndarray, error.name or "")
    frames = traceback.extract_tb(error.__traceback__)
    return "numpy" in str(error).lower() or any("numpy" in frame.filename.split("torch")[0] for frame in frames)


def remarks_on_numpy(function: TorchFunction) -> Iterator[str]:
    """Warn that methods are those of torch's tensors, if the file of a function imports NumPy and no torch."""
    modules = (one for one in getattr(function, "__globals__", {}).values() if isinstance(one, ModuleType))
    names = {module.__name__.partition(".")[0] for module in modules}
    if "numpy" in names and "torch" not in names:
        yield "the file imports NumPy and no torch, but is run with tensors of torch: x.std() divides by n - 1"


def _called(function: TorchFunction | None, args: Sequence[Argument], named: Mapping[str, Argument]) -> Argument:
    if function is None:
        return NotImplemented
    found = function(*map(_without_numpy, args), **{name: _without_numpy(one) for name, one in named.items()})
    return _with_numpy(found)


def _without_numpy(value: Argument, *, is_inner: bool = False) -> Argument:
    """Replace arrays of NumPy, and ours, by those of torch, and its types by their names.

    Args:
        value: An argument of a function.
        is_inner: Whether it is an element of a list, which is an array too then: `np.concatenate(([x[0]], x))`.
    """
    if isinstance(value, NumpyArray | np.ndarray) or (is_inner and _has_tensors(value)):
        return _array_of(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return np.dtype(value).name
    if type(value) in (tuple, list):
        return type(value)(_without_numpy(one, is_inner=True) for one in value)
    return value


def _array_of(value: Argument) -> Argument:
    """Make an array of torch of an array of NumPy, of ours, or of numbers, lists and arrays inside of one another."""
    if isinstance(value, NumpyArray):
        return value._array
    ndarray = torch_internals.numpy_on_tensors().ndarray
    if isinstance(value, np.ndarray) and value.dtype != object:
        return ndarray(torch.from_numpy(value if min(value.strides, default=0) >= 0 else value.copy()))
    if not _has_tensors(value):
        return ndarray(torch.as_tensor(value, dtype=torch.float64 if isinstance(value, float) else None))
    return ndarray(torch.stack(_of_one_type([_array_of(one).tensor for one in value])))


def _of_one_type(tensors: Sequence[Tensor]) -> list[Tensor]:
    kind = functools.reduce(torch.promote_types, (one.dtype for one in tensors))
    return [one.to(kind) for one in tensors]


def _has_tensors(value: Argument) -> bool:
    """Tell whether a list, or an array of objects, has elements that are tensors."""
    if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.dtype == object):
        return any(isinstance(one, NumpyArray) or _has_tensors(one) for one in value)
    return False


def _with_numpy(found: Argument) -> Argument:
    """Replace arrays of torch by those that functions of NumPy take."""
    if isinstance(found, torch_internals.numpy_on_tensors().ndarray):
        return NumpyArray(found)
    return type(found)(map(_with_numpy, found)) if type(found) in (tuple, list) else found


# -- arrays that code makes


@contextlib.contextmanager
def made_of_tensors() -> Iterator[None]:
    """Make of tensors in a block what the user's code makes by functions of NumPy, if it holds numbers with a slope."""
    before = {name: getattr(np, name) for name in MAKERS}
    try:
        for name, function in before.items():
            setattr(np, name, _making(name, function))
        yield
    finally:
        for name, function in before.items():
            setattr(np, name, function)


def _making(name: str, function: Callable[..., Argument]) -> Callable[..., Argument]:
    @functools.wraps(function)
    def with_tensors(*args: Argument, **named: Argument) -> Argument:
        if is_of_user(sys._getframe(1).f_code.co_filename):
            with contextlib.suppress(TypeError, ValueError, RuntimeError, AttributeError, NotImplementedError):
                found = _made(name, args, named)
                if found._array.tensor.is_floating_point():
                    return found
        return function(*args, **named)

    return with_tensors


def _made(name: str, args: Sequence[Argument], named: Mapping[str, Argument]) -> Argument:
    owner = torch_internals.numpy_on_tensors()
    if name in OF_LISTS and args and _has_tensors(args[0]):
        args = _with_numpy(_array_of(args[0])), *args[1:]
    return _called(getattr(owner, "asarray" if name == "asanyarray" else name), args, named)

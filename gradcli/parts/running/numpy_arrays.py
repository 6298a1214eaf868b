"""Tensors that functions of NumPy take: `np.sum(np.sin(x))` is computed, and differentiated, by torch.

NumPy lets a class answer its functions, by `__array_ufunc__` and `__array_function__`; torch has them all on tensors.

Source: NEP 13 and NEP 18 of NumPy.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType

import numpy as np

from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.autodiff.torch_internals import TorchFunction
from gradcli.recording.aten_calls import Argument


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
        if method != "__call__":  # `np.add.reduce`
            return NotImplemented
        return _called(getattr(torch_internals.numpy_on_tensors(), function.__name__, None), args, named)

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
    frames = traceback.extract_tb(error.__traceback__)
    return "numpy" in str(error) or any("numpy" in frame.filename.split("torch")[0] for frame in frames)


def remarks_on_numpy(function: TorchFunction) -> Iterator[str]:
    """Warn that methods are those of torch's tensors, if the file of a function imports NumPy and no torch."""
    modules = (one for one in getattr(function, "__globals__", {}).values() if isinstance(one, ModuleType))
    names = {module.__name__.partition(".")[0] for module in modules}
    if "numpy" in names and "torch" not in names:
        yield "the file imports NumPy and no torch, but is run with tensors of torch: x.std() divides by n - 1"


def _called(function: TorchFunction | None, args: Sequence[Argument], named: Mapping[str, Argument]) -> Argument:
    if function is None:
        return NotImplemented
    found = function(*_without_numpy(tuple(args)), **{name: _without_numpy(one) for name, one in named.items()})
    return _with_numpy(found)


def _without_numpy(value: Argument) -> Argument:
    """Replace arrays of NumPy, and ours, by those of torch."""
    if isinstance(value, NumpyArray):
        return value._array
    if isinstance(value, np.ndarray):
        tensor = tensor_of_numpy(value) if value.dtype == object else torch.from_numpy(value)
        return torch_internals.numpy_on_tensors().ndarray(tensor)
    return type(value)(map(_without_numpy, value)) if type(value) in (tuple, list) else value


def _with_numpy(found: Argument) -> Argument:
    """Replace arrays of torch by those that functions of NumPy take."""
    if isinstance(found, torch_internals.numpy_on_tensors().ndarray):
        return NumpyArray(found)
    return type(found)(map(_with_numpy, found)) if type(found) in (tuple, list) else found

"""Numbers of an answer as Python reads them: `answer["x"]`, `float(answer)`, `numpy.asarray(answer)`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
from numpy.lib.mixins import NDArrayOperatorsMixin

from gradcli.arrays import AnyArray
from gradcli.errors import InputError, did_you_mean
from gradcli.showing import Display

if TYPE_CHECKING:
    from gradcli.arrays import Array

Found = Any
"""Numbers in brackets: an array of NumPy, a tensor, or a mapping of those by name."""

ArrayKind = Literal["numpy", "torch"]
"""Kind of the arrays that `answer["x"]` gives."""


class NoSuchNumbersError(InputError, KeyError):
    """A name in brackets that the answer has no numbers of."""


class NamedNumbers(NDArrayOperatorsMixin):
    """Numbers by name, as a mapping has them; a single one is a number of Python and an array of NumPy too.

    So it can be calculated with, `x - f/answer`, as an array.

    A Hessian has a mapping of blocks by name, and a block by two names.
    """

    __slots__ = ()

    if TYPE_CHECKING:
        dtype: str
        device: str
        output: str
        out: ArrayKind

    def named_numbers(self) -> Mapping[str, Array | Mapping[str, Array]]:
        """Return the numbers that were asked for, by the names of their variables."""
        raise NotImplementedError

    def keys(self) -> tuple[str, ...]:
        """Return the names, so that `dict(answer)` has the arrays."""
        return tuple(self.named_numbers())

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __contains__(self, name: object) -> bool:
        return name in self.keys()

    def __getitem__(self, name: str | tuple[str, str]) -> Found:
        """Return the numbers by a variable: an array of NumPy, or a tensor if `out` is torch.

        Raises:
            NoSuchNumbersError: The answer has no such numbers.

        >>> from gradcli import Function
        >>> Function("x**2*y").grad({"x": 3, "y": 5})["x"]
        array(30.)
        """
        found: Found = self.named_numbers()
        for part in name if isinstance(name, tuple) and name else (name,):
            if not isinstance(part, str) or not isinstance(found, Mapping) or part not in found:
                raise self._no_numbers_of(part)
            found = found[part]
        if isinstance(found, Mapping):
            return {column: self._as_asked(array) for column, array in found.items()}
        return self._as_asked(found)

    def _no_numbers_of(self, name: object) -> NoSuchNumbersError:
        """Return the error for a name without numbers."""
        hint = did_you_mean(name, self.keys()) if isinstance(name, str) else None
        if hint is None and name == self.output:
            hint = "the value of the function is answer.value"
        names = ", ".join(map(repr, self.keys())) or "none"
        return NoSuchNumbersError(f"the answer has no numbers of {name!r}", hint=hint or f"the names are {names}")

    def _as_asked(self, array: Array) -> object:
        """Make a tensor of an array if tensors are asked for."""
        if self.out != "torch":
            return array
        return Display.tensor(array, self.device)

    def _only(self) -> Array:
        """Return the array of an answer that has one.

        Raises:
            InputError: It has several.
        """
        found: Found = self.named_numbers()
        while isinstance(found, Mapping) and len(found) == 1:
            (found,) = found.values()
        if isinstance(found, Mapping):
            names = ", ".join(found)
            hint = f'answer["{next(iter(found))}"] is one of them' if found else "it is differentiated by no variable"
            raise InputError(f"the answer has arrays of {names or 'nothing'}, and one is asked for", hint=hint)
        array: Array = found
        return array

    def __float__(self) -> float:
        """Return the number of an answer that has one.

        Raises:
            InputError: It has several.

        >>> from gradcli import Function
        >>> float(Function("x**2").grad(3))
        6.0
        """
        array = self._only()
        if math.prod(array.shape) != 1:
            shape = f"shape {array.shape}" if array.ndim else "no number"
            raise InputError(f"the answer is an array of {shape}, and no single number", hint="numpy.asarray(answer)")
        return float(array.reshape(()))

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> AnyArray:
        """Return the array of an answer that has one, for NumPy and what reads its arrays.

        Raises:
            InputError: It has several.
        """
        return np.array(self._only(), dtype=dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object, **options: Any) -> Any:
        """Calculate with the array of an answer that has one.

        Raises:
            InputError: It has several.

        >>> from gradcli import Function
        >>> answer = Function("x**2").grad(3)
        >>> float(1.5 - 12/answer), float(-answer), bool(answer < 7)
        (-0.5, -6.0, True)
        """
        numbers = (np.asarray(one) if isinstance(one, NamedNumbers) else one for one in inputs)
        return getattr(ufunc, method)(*numbers, **options)

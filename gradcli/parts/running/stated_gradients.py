"""A function of Python that somebody states to be the derivative of another: SciPy's `jac=`, a gradient by hand.

It takes the arguments of the function, all of them by its place, or some by their names.  It is recorded as a formula
where it can be read, and else called at each point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import array_of
from gradcli.errors import InputError
from gradcli.language.program.wengert import Program
from gradcli.parts.running.calling import PLAIN, Called, PartnerFunction
from gradcli.parts.running.numpy_arrays import tensor_of_numpy
from gradcli.parts.running.recorded import Recorded
from gradcli.parts.running.targets import guarded
from gradcli.recording.aten_calls import Argument
from gradcli.results import Array


class StatedGradient:
    """Function that is claimed to be a derivative by one variable (a `ClaimedFunction`).

    Args:
        function: The function.
        text: Its name.
        record: Records a function of these arguments at values.
        given: The arguments of the function whose derivative it is to be, by name and in order.
        variable: The variable.
        wrt: The variables that it gives derivatives by, in order.

    Attributes:
        text: Its name.
        arguments: The variables that it takes.

    Raises:
        UsageError: It is no function, or takes other arguments.
    """

    def __init__(
        self,
        function: Called,
        text: str,
        record: Callable[[Called, Sequence[Argument]], Recorded],
        given: Mapping[str, Argument],
        variable: str,
        wrt: Sequence[str],
    ) -> None:
        self.text, self._record = text, record
        self._given, self._variable, self._wrt = given, variable, wrt
        self._function = PartnerFunction(function, text, list(given))
        self.arguments = self._function.arguments
        self._recorded: tuple[Mapping[str, Array], Recorded | None] | None = None

    def program(self, inputs: Mapping[str, Array]) -> Program | None:
        """Return the Program of its recording, if that holds at other points, and all that it is made of is known."""
        made = self._recording(inputs)
        if made is None or made.is_of_point:
            return None
        is_known = all(name in inputs and np.array_equal(made.arrays[name], inputs[name]) for name in made.constants)
        return made.program if is_known else None

    def numbers(self, inputs: Mapping[str, Array]) -> Array:
        """Call it with tensors, or, if it is of NumPy and cannot be recorded, with arrays.

        Raises:
            InputError: It fails, or gives no numbers.
        """
        made = self._recording(inputs)
        if made is not None:
            return made.value
        values = {**self._given, **inputs}
        with guarded(f"{self.text} is called"):
            found = self._part(self._function(values))
        try:
            return np.asarray(array_of(found) if isinstance(found, torch.Tensor) else found, dtype=np.float64)
        except (TypeError, ValueError):
            kind = type(found).__name__
            raise InputError(f"{self.text} gives back a value of type {kind}", hint="return a tensor") from None

    def _recording(self, inputs: Mapping[str, Array]) -> Recorded | None:
        """Record it at a point; None if it cannot be."""
        if self._recorded is None or self._recorded[0] is not inputs:
            values = {**self._given, **inputs}
            try:
                of_part = self._function.with_names(self.arguments, part=self._part)
                made = self._record(of_part, [values[name] for name in self.arguments])
            except InputError:
                made = None
            self._recorded = inputs, made
        return self._recorded[1]

    def _part(self, found: Argument) -> Argument:
        """Take the derivative by the one variable out of those by all: a list is an array where there is no other."""
        if isinstance(found, Mapping):
            if self._variable not in found:
                raise InputError(f"{self.text} gives no derivative by '{self._variable}'", hint="name each variable")
            return found[self._variable]
        is_of_one = len(self._wrt) == 1
        if not isinstance(found, tuple | list) or (isinstance(found, list) and is_of_one):
            return _stacked(found)
        tensors = [name for name, one in self._given.items() if type(one) not in (*PLAIN, float)]
        by = next((names for names in (self._wrt, tensors, [*self._given]) if len(names) == len(found)), None)
        if by is not None:
            return _stacked(found[by.index(self._variable)])
        if is_of_one:
            return _stacked([*found])
        names = ", ".join(self._wrt)
        raise InputError(f"{self.text} gives {len(found)} derivatives, and those by {names} are asked for")


def _stacked(found: Argument) -> Argument:
    """Stack a list with a tensor in it, whose elements are tensors, numbers or such lists; anything else as it is."""
    found = tensor_of_numpy(found) if isinstance(found, list) else found
    kinds = (one.dtype for one in _elements(found) if isinstance(one, torch.Tensor))
    kind = next(kinds, None) if isinstance(found, list) else None

    def tensor(one: Argument) -> Argument:
        if isinstance(one, list):
            return torch.stack([*map(tensor, one)])
        return one if isinstance(one, torch.Tensor) else torch.tensor(one, dtype=kind)

    return found if kind is None else tensor(found)


def _elements(found: Argument) -> Iterator[Argument]:
    """Yield the elements of a list, and of the lists in it."""
    for one in found if isinstance(found, list) else ():
        yield from _elements(one) if isinstance(one, list) else (one,)

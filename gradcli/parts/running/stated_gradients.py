"""A function of Python that somebody states to be the derivative of another: SciPy's `jac=`, a gradient by hand.

It takes the arguments of the function, all of them by its place, or some by their names.  It is recorded as a formula
where it can be read, and else called at each point.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor, array_of
from gradcli.errors import InputError, UsageError
from gradcli.language.program.wengert import Program
from gradcli.parts.running.calling import Called, signature
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
        self.text, self._function, self._record = text, function, record
        self._given, self._variable, self._wrt = given, variable, wrt
        self.arguments = _arguments(function, self.text, list(given))
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
            found = self._part(self._function(*(values[name] for name in self.arguments)))
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
                made = self._record(self._with_names(), [values[name] for name in self.arguments])
            except InputError:
                made = None
            self._recorded = inputs, made
        return self._recorded[1]

    def _with_names(self) -> Called:
        """Make the function of the same arguments, called as those of the other function, that gives the one part."""

        def stated(*args: Tensor) -> Argument:
            return self._part(self._function(*args))

        kind = inspect.Parameter.POSITIONAL_ONLY
        stated.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in self.arguments])  # type: ignore[attr-defined]
        return stated

    def _part(self, found: Argument) -> Argument:
        """Take the derivative by the one variable out of those by all."""
        if isinstance(found, Mapping):
            if self._variable not in found:
                raise InputError(f"{self.text} gives no derivative by '{self._variable}'", hint="name each variable")
            return found[self._variable]
        if not isinstance(found, tuple | list) or (len(self._wrt) == 1 and len(found) not in (1, len(self._given))):
            return found
        by = next((names for names in (list(self._wrt), list(self._given)) if len(names) == len(found)), None)
        if by is None:
            names = ", ".join(self._wrt)
            raise InputError(f"{self.text} gives {len(found)} derivatives, and those by {names} are asked for")
        return found[by.index(self._variable)]


def _arguments(function: Called, called: str, names: list[str]) -> list[str]:
    """Find the arguments that a stated gradient takes, in its order: by its names if all are known, else by place.

    Raises:
        UsageError: It takes more than there are.
    """
    taken = signature(function, called, len(names))
    needed = [name for name in taken.kinds if name not in taken.optional]
    if {*needed} <= {*names}:
        return [name for name in taken.kinds if name in names]
    if len(needed) > len(names):
        raise UsageError(f"{called} takes {len(needed)} arguments, and the function has {len(names)}")
    return names[: len(taken.kinds)]

"""What others see of a recorded function: its numbers, its recording, and ways to run it again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol

from gradcli.autodiff.run import Forward
from gradcli.crosscheck.boundaries import Boundary
from gradcli.language.program.wengert import Atom, Guard, Program
from gradcli.parts.running.repeated_runs import Surroundings
from gradcli.questions.bound_function import Dtype
from gradcli.questions.parsed_text import ArgumentStructure
from gradcli.recording.aten_calls import Application
from gradcli.recording.recorder import Recorder
from gradcli.results import Array, Mode


class RepeatableCall(Protocol):
    """A function with the values that it is called with: see `recorded.FunctionCall`."""

    @property
    def function(self) -> Callable[..., Any]:
        """The function."""

    @property
    def called(self) -> str:
        """Its name in messages."""

    @property
    def dtype(self) -> Dtype:
        """Dtype of the floating-point arguments."""

    @property
    def given(self) -> Mapping[str, Array]:
        """Values by parameter, or by the name of a tensor that is found elsewhere."""

    @property
    def device(self) -> str:
        """Device of the arguments."""

    @property
    def whole(self) -> frozenset[str]:
        """The parameters that are given as whole numbers."""

    @property
    def structures(self) -> Mapping[str, ArgumentStructure]:
        """The structures of arguments, of which the function is given the nearest values."""

    @property
    def surroundings(self) -> Surroundings:
        """What is set up around each run."""

    def of_another(
        self, function: Callable[..., object], given: Mapping[str, Array], **other: object
    ) -> RepeatableCall:
        """Return the call of another function, with these values; `other` are fields of the call."""

    def recorded(self) -> RecordedFunction:
        """Run the function once, and record it."""


class RecordedFunction(Protocol):
    """A function at a point, with its recording: see `recorded.Recorded`."""

    @property
    def call(self) -> RepeatableCall:
        """The function and its arguments."""

    @property
    def program(self) -> Program:
        """The recording."""

    @property
    def arrays(self) -> Mapping[str, Array]:
        """The values of its variables."""

    @property
    def constants(self) -> tuple[str, ...]:
        """Tensors that it finds elsewhere."""

    @property
    def recorder(self) -> Recorder:
        """The recorder."""

    @property
    def value(self) -> Array:
        """The value that the function gave."""

    @property
    def ran(self) -> Forward | None:
        """The tensors of a script, which cannot be called again."""

    @property
    def has_unseen(self) -> bool:
        """True if something that the function does is not in the recording."""

    @property
    def fault(self) -> str:
        """A device on which it has another value than on the CPU, in words; empty if there is none."""

    @property
    def held_values(self) -> Mapping[Atom, str]:
        """The values that are held constant, in words."""

    @property
    def implicit_draw(self) -> str:
        """A draw with an implicit gradient, in words."""

    @property
    def is_of_point(self) -> bool:
        """True if values decided the lines."""

    @property
    def doubt(self) -> str:
        """Why torch is not to be blamed."""

    @property
    def applications(self) -> Sequence[Application]:
        """The custom functions that were applied."""

    @property
    def customs(self) -> tuple[str, ...]:
        """Their names."""

    def of_call(self, call: Any) -> RecordedFunction:
        """Take the recording for that of another call."""

    def forward(self, arrays: Mapping[str, Array], wrt: Sequence[str], *, recorder: Recorder | None = None) -> Forward:
        """Run the function once more."""

    def replayed_at(self, arrays: Mapping[str, Array], wrt: Sequence[str]) -> Forward:
        """Run the recording at other values."""

    def condition_at(self, condition: Guard, arrays: Mapping[str, Array]) -> Array:
        """Compute a condition at other values."""

    def boundaries(self, wrt: Sequence[str]) -> Iterator[Boundary]:
        """Yield the conditions that change next to the point."""

    def tangent(self, arrays: Mapping[str, Array], u: Mapping[str, Array]) -> Array:
        """Compute Ju by forward mode."""

    def blamed(self, wrt: Sequence[str], mode: Mode | Literal[""] = "") -> str:
        """Name the code of the user's that makes a gradient wrong."""

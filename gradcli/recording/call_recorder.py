"""What the parts of a recorder ask of it: those that note decisions, draws and meanings, and what autograd follows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from types import FrameType, TracebackType
from typing import Protocol

from gradcli.autodiff.run import Tensor
from gradcli.language.program.wengert import Atom
from gradcli.recording.aten_calls import DecidedValue
from gradcli.recording.aten_lowering import AtenLowering
from gradcli.recording.foreign_memory import Buffers
from gradcli.recording.memory import Memory
from gradcli.recording.places import CallPlace, Places


class NotedDecisions(Protocol):
    """The decisions of a recording: see `decisions.RecordedDecisions`."""

    guards: list[DecidedValue]
    lost: list[str]
    drawn: dict[str, None]
    implicit: dict[Atom, str]


class CallRecorder(Protocol):
    """A recorder, as its parts know it: see `recorder.Recorder`."""

    called: str
    dtype: object
    is_one_call: bool
    lines: AtenLowering
    places: Places
    of_arguments: set[Atom]
    records_meaning: bool
    buffers: Buffers
    _values: Memory
    _followed: set[Atom]
    _first_node: int

    @property
    def is_paused(self) -> bool:
        """Tell whether calls are not seen."""

    @property
    def opaque(self) -> object | None:
        """What records calls that cannot be read; None to refuse them."""

    @property
    def decisions(self) -> NotedDecisions:
        """The decisions by values."""

    def __enter__(self) -> object:
        """Begin to record."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End."""

    def give(self, arguments: Mapping[str, Tensor]) -> None:
        """Name the arguments."""

    def on_error(self, error: Exception) -> None:
        """Note that the recording cannot go on."""

    def numbers_left(self, remark: str, tensors: Sequence[Tensor]) -> None:
        """Note that numbers leave torch."""

    def operand(self, tensor: Tensor, place: CallPlace) -> Atom:
        """Give the value of a tensor."""

    def number(self, tensor: Tensor) -> Atom:
        """Give the value of a result."""

    def is_known(self, tensor: Tensor) -> bool:
        """Tell whether a tensor follows from arguments."""

    def follows(self, tensor: Tensor) -> bool:
        """Tell whether autograd follows it."""

    def may_follow(self, tensor: Tensor) -> bool:
        """Tell whether it may follow from arguments."""

    def is_argument(self, tensor: Tensor) -> bool:
        """Tell whether it is an argument."""

    def is_of_argument(self, tensor: Tensor) -> bool:
        """Tell whether it is in the memory of an argument."""

    def paused(self) -> AbstractContextManager[object]:
        """Run a block that is not recorded."""

    def recording_nested(self) -> AbstractContextManager[object]:
        """Record the calls of a block."""

    def _note_constants(self, *found: object) -> None: ...

    def _hold_constant(self, atom: Atom, place: CallPlace) -> Atom: ...

    def _propagate(self, found: Atom, *atoms: Atom, is_held: bool = False) -> Atom: ...

    def _value(self, tensor: Tensor, place: CallPlace) -> Atom: ...

    def _is_untracked(self, place: CallPlace) -> bool: ...

    def _note_result(self, output: Tensor, result: Atom | None, by: Sequence[Atom], place: CallPlace) -> None: ...

    def _learn_names(self, frame: FrameType | None) -> None: ...


MakeRecorder = Callable[..., CallRecorder]
"""Makes a recorder; see `recorder.Recorder`."""

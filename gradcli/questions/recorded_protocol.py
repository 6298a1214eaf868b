"""What a question needs of the function that its Program was recorded from: to run it again, and what is known of it.

The part that records functions of Python supplies it; a question of a text has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

from gradcli.arrays import Array
from gradcli.crosscheck.boundaries import Boundary
from gradcli.crosscheck.formulas import Derived, Formulas
from gradcli.crosscheck.judge import Judgement
from gradcli.crosscheck.point import Numbers
from gradcli.language.program.torch_passes import TorchPasses
from gradcli.language.program.wengert import Atom, Program
from gradcli.reference.balls import Ball
from gradcli.results import Entry, Mode, Position, Verdict

if TYPE_CHECKING:
    from gradcli.autodiff.run import Forward, Tensor

Asked_contra = TypeVar("Asked_contra", contravariant=True)
"""Question that a recording helps to judge: a `BoundFunction`."""


@dataclass(frozen=True)
class Released:
    """What becomes of a function if nothing is held constant.

    Attributes:
        judgement: The judgement of torch's numbers, with the kinks that the function has then.
        cut: The entry whose derivative lacks most, with its truth if nothing is held constant; None if none lacks any.
        note: The value that is held constant, and both derivatives; empty if none lacks any.
        is_decided: Whether it is proved for all entries whether they lack something.
        truths: The truths of the derivatives that lack something, by their position.
    """

    judgement: Judgement
    cut: Entry | None = None
    note: str = ""
    is_decided: bool = False
    truths: Mapping[Position, Ball | None] = field(default_factory=dict)

    def with_truths(self, judgement: Judgement) -> Judgement:
        """Call the entries of a judgement that lack something `cut`, with their truths."""

        def cut(entry: Entry) -> Entry:
            if entry.position not in self.truths or entry.verdict != "agree":
                return entry
            truth, note = self.truths[entry.position], self.note.partition(": ")[0]
            return entry.judged(verdict="cut", truth=truth, note=note, proven=True, relative_error=None)

        return judgement.changed(cut)


class CalledFunction(Protocol):
    """Function of Python with its arguments."""

    @property
    def called(self) -> str:
        """Name of the function."""

    @property
    def device(self) -> str:
        """Device that it is run on."""


class Recording(Protocol[Asked_contra]):
    """Function of Python that was run and recorded, at the point where it was."""

    @property
    def call(self) -> CalledFunction:
        """The function with its arguments."""

    @property
    def program(self) -> Program:
        """The Program that computes the same."""

    @property
    def arrays(self) -> Mapping[str, Array]:
        """The value of every variable."""

    @property
    def constants(self) -> tuple[str, ...]:
        """Names of the tensors that it finds elsewhere."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks on the recording."""

    @property
    def formulas(self) -> dict[tuple[str, ...], tuple[Formulas, Derived]]:
        """Formulas, confirmed and before that, by the variables to differentiate by; they are added to."""

    @property
    def held_values(self) -> Mapping[Atom, str]:
        """Names of the values that are held constant and have a place in the code."""

    @property
    def customs(self) -> tuple[str, ...]:
        """Names of the custom functions that it applies."""

    @property
    def doubt(self) -> str:
        """Reason not to call a number wrong that the text contradicts; empty where there is none."""

    @property
    def is_of_point(self) -> bool:
        """True if the function may have another Program at another point."""

    @property
    def has_jvp(self) -> bool:
        """True if a custom function that it applies has a forward mode of its own."""

    def forward(self, arrays: Mapping[str, Array], wrt: Sequence[str]) -> Forward:
        """Run the function again, with a graph for the variables to differentiate by."""

    def passes(self, wrt: Sequence[str]) -> TorchPasses:
        """Record torch's passes of the function itself, with what it decides by; to y alone for no variable.

        Raises:
            InputError: It does what is not known at other points, or a call cannot be recorded.
        """

    def tangent(self, arrays: Mapping[str, Array], u: Mapping[str, Array]) -> Array:
        """Compute Ju by forward mode."""

    def tensors(self, arrays: Mapping[str, Array], wrt: Sequence[str]) -> tuple[Forward, Mapping[str, Tensor]]:
        """Run the function again; give also the tensors that the text has names for."""

    def with_values(self, arrays: Mapping[str, Array]) -> Recording[Asked_contra]:
        """Record the same function at another point."""

    def on_line(
        self, start: Mapping[str, Array], direction: Mapping[str, Array], name: str, at: float
    ) -> Recording[Asked_contra]:
        """Record the function along a line, with the parameter `name`, at a value of it."""

    def weighted(self, v: Array) -> Recording[Asked_contra]:
        """Record the sum of its outputs with these weights."""

    def boundaries(self, wrt: Sequence[str]) -> Iterator[Boundary]:
        """Find the conditions that are decided otherwise next to the point."""

    def judged(self, found: Released, numbers: Numbers, bound: Asked_contra) -> Judgement:
        """Join to a judgement of torch's numbers what else is known of the function."""

    def blamed(self, wrt: Sequence[str], mode: Mode | Literal[""] = "") -> str:
        """Say which custom function or hook makes a gradient wrong here; empty if none does."""

    def nonfinite_in_backward(self, wrt: Sequence[str], v: Array | None) -> str:
        """Say where the user's code makes NaN or infinity while torch goes back; empty if nowhere."""

    def is_blame_measured(self, mode: Mode | Literal[""] = "") -> bool:
        """Tell whether what makes a gradient wrong was measured, and the recording does not follow it."""

    def trials_told(self, verdict: Verdict, mode: Mode | Literal[""] = "") -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Say which custom functions have wrong gradients, and all that was tried."""

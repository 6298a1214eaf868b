"""Functions that may be another one at each point: code of the user, of which a Program was recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from gradcli.language.program.wengert import Program

if TYPE_CHECKING:
    from gradcli.autodiff.run import Forward
    from gradcli.crosscheck.boundaries import Boundary
    from gradcli.crosscheck.formulas import Formulas
    from gradcli.results import Array, Check, Verdict


class Live(Protocol):
    """A function that is run itself, of which a Program was recorded at one point."""

    @property
    def program(self) -> Program:
        """What was recorded."""

    @property
    def called(self) -> str:
        """What the function is called."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """What to know of the recording."""

    def forward(self, arrays: Mapping[str, Array], wrt: Sequence[str], *, twice: bool = False) -> Forward:
        """The function run, with a graph for the variables to differentiate by."""

    def tensors(self, arrays: Mapping[str, Array], wrt: Sequence[str]) -> tuple[Forward, Mapping[str, Any]]:
        """As `forward`, and the tensor of each name that the Program has."""

    def at(self, arrays: Mapping[str, Array]) -> Live:
        """The same recorded at another point."""

    def commented(self, check: Check, wrt: Sequence[str]) -> Check:
        """A check of it with what is known of the function beside its numbers."""

    @property
    def formulas(self) -> dict[tuple[str, ...], Formulas]:
        """The formulas that the reference confirmed of this Program, by the variables that they are by."""

    @property
    def is_of_point(self) -> bool:
        """Whether values decided what was recorded, so that it is of another function elsewhere."""

    def boundaries(self, wrt: Sequence[str]) -> Iterator[Boundary]:
        """What decides otherwise beside the point."""

    @property
    def doubt(self) -> str:
        """Why what contradicts its numbers is not said to be right; empty where it is."""

    @property
    def customs(self) -> tuple[str, ...]:
        """The custom functions that it applies, whose derivatives are their own."""

    def elsewhere(self, verdict: Verdict) -> tuple[str, ...]:
        """What is wrong of the custom functions, but for what the verdict of this point tells."""

    @property
    def tried(self) -> tuple[str, ...]:
        """What was looked at of each custom function beside this point."""

"""Decisions by values in torch's own passes, as conditions: the recording holds where each has the value that it had.

A comparison that chooses whole numbers, the order of values that gives positions, a number that Python reads, and what
a call decides inside by values of its operands: there the condition is the operand itself, which may not change at all.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.language.program.wengert import Atom, Program
from gradcli.recording.aten_calls import DecidedValue, tensors_in
from gradcli.recording.decisions import ORDERED, SMALLEST, RecordedDecisions
from gradcli.recording.places import CallPlace

UNSEEN = frozenset(
    "mode nanmedian nextafter segment_reduce lu_unpack linalg_lu linalg_lu_factor_ex linalg_lu_solve _linalg_solve_ex "
    "_linalg_det linalg_lstsq linalg_pinv embedding_bag".split()
)
"""Calls whose decomposition asks for values where nothing records it: NaNs, equal values, pivots, a rank."""


NOWHERE = CallPlace()
"""No place in the code of a user."""


class PassDecisions(RecordedDecisions):
    """Record of the decisions in torch's passes, each with a condition."""

    def hold(self, tensors: Iterable[Tensor], place: CallPlace = NOWHERE, shown: str = "") -> None:
        """Require that these values do not change, as a call decides something by them."""
        for one in tensors:
            if one.is_floating_point() and self.recorder.is_known(one):
                self.guards.append(DecidedValue(self.recorder.operand(one, CallPlace()), str(place), shown))

    def of_whole_numbers(self, name: str, given: Mapping[str, object], found: object, place: CallPlace) -> None:
        """Add the condition under which a call gives the same whole numbers."""
        if name in ORDERED and (asked := _in_order(self, name, given)) is not None:
            self._decided(asked, place, f"what {name}() gives")
            return
        before = len(self.guards)
        if name not in ORDERED:
            super().of_whole_numbers(name, given, found, place)
        if len(self.guards) == before:
            self.hold(tensors_in(given), place, f"what {name}() gives")

    def note_numbers_leaving(self, called: str, tensors: Sequence[Tensor], place: CallPlace) -> None:
        """Require that the numbers which Python reads do not change, as any code may depend on them."""
        self.hold(tensors, place, f"the number that {called}() reads")

    def in_words(self, program: Program) -> dict[Atom, str]:
        """Say what each condition decides, and where, in the names of a Program."""
        known = self.conditions(program).conditions if self.guards else ()
        return {one.condition: said.shown for one, said in zip(dict.fromkeys(self.guards), known, strict=True)}


def _in_order(decisions: PassDecisions, name: str, given: Mapping[str, object]) -> Tensor | None:
    """Compare values in the order that they have, each with the next: none may pass another."""
    x, dim = given["self"], given.get("dim")
    if not isinstance(x, torch.Tensor) or not x.is_floating_point() or not x.ndim:
        return None
    if dim is None and name not in ("sort", "argsort", "msort", "topk", "kthvalue", "mode"):
        x = x.flatten()
    axis = 0 if name == "msort" else dim if isinstance(dim, int) else -1
    is_falling = name not in SMALLEST and (name in ("max", "argmax") or bool(given.get("largest", False)))
    with decisions.recorder.paused():
        order = x.argsort(dim=axis, descending=is_falling)
    with decisions.recorder.recording_nested():
        count, ordered = x.shape[axis] - 1, x.gather(axis, order)
        first = ordered.narrow(axis, 0, 1 if name in ("max", "argmax", "min", "argmin") else count)
        return (torch.gt if is_falling else torch.lt)(first, ordered.narrow(axis, 1, count))

"""Groups of the boxes of a region, within which the witnesses of torch's numbers have the same verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from gradcli.arrays import Array
from gradcli.parts.everywhere.box_sets import BoxSet, middle_of
from gradcli.results import SEVERITY, Verdict

Witness = tuple[Array, Verdict, str]
"""A point that was judged, its verdict, and what was found there."""

MOST_WITNESSES = 120
"""Most boxes of a region in which a witness is judged, where verdicts differ."""

FIRST = 9
"""Boxes of a group in which a witness is judged first; of its halves, the ends and the middle."""

WRONG: tuple[Verdict, ...] = ("inaccurate", "nan-trap", "cut", "disagree")
"""Verdicts that a region is called by where its witnesses have them."""

NAMED_BY_WITNESS: tuple[Verdict, ...] = ("nan-trap", "cut", "disagree")
"""Verdicts of one witness that name its region, also where bounds cannot exclude a pole or a kink in it.

`inaccurate` is not among them: digits are lost next to many a pole, and the region is called by the pole.
"""


def worst_of(seen: Iterable[Witness]) -> Witness | None:
    """Return the worst witness, the first of several; None if there is none."""
    return max(seen, key=lambda one: SEVERITY.index(one[1]), default=None)


def differ(seen: Iterable[Witness], wrong: Sequence[Verdict] = WRONG) -> bool:
    """Tell whether witnesses differ so that none of them stands for all.

    Digits are lost at some points and not at the next ones; nan and wrong derivatives fill a region.

    >>> differ([(np.zeros(1), "agree", ""), (np.ones(1), "inaccurate", "")])
    False
    >>> differ([(np.zeros(1), "agree", ""), (np.ones(1), "nan-trap", "")])
    True
    """
    labels = {verdict if verdict in wrong else "" for _, verdict, _ in seen}
    return len(labels) > 1 and labels != {"", "inaccurate"}


MOST_OF_SEVERAL = 80
"""Most boxes in several numbers in which a witness is judged, to find the part in which digits are lost."""

MOST_HALVINGS = 16
"""Most boxes in which a witness is judged, to find an end of what is wrong."""


def between_wrong(
    boxes: BoxSet, judge: Callable[[Array], Witness | None], seen: Iterable[Witness]
) -> npt.NDArray[np.bool_]:
    """Tell which boxes of one number lie between two whose witnesses are wrong, near to where they are so no more.

    Args:
        boxes: The boxes, of which a witness at least is wrong.
        judge: Judges the point of a box, of shape (1, 1); None if it cannot.
        seen: The witnesses so far.
    """
    order = np.argsort(boxes.low[0], kind="stable")
    starts = boxes.low[0][order]
    wrong = [max(0, int(np.searchsorted(starts, at[0], "right")) - 1) for at, verdict, _ in seen if verdict in WRONG]

    def is_wrong(place: int) -> bool:
        one = boxes.take(order[[place]])
        witness = judge(middle_of(one.low, one.high))
        return witness is not None and witness[1] in WRONG

    def end(outer: int, known: int) -> int:
        if outer == known or is_wrong(outer):
            return outer
        for _ in range(MOST_HALVINGS):
            if abs(outer - known) <= 1:
                break
            middle = (outer + known) // 2
            outer, known = (outer, middle) if is_wrong(middle) else (middle, known)
        return known

    first, last = end(0, min(wrong)), end(len(order) - 1, max(wrong))
    found = np.zeros(len(order), bool)
    found[order[first : last + 1]] = True
    return found


@dataclass
class WitnessGroups:
    """A search for the groups, which halves those whose witnesses differ.

    Attributes:
        boxes: The boxes of the region.
        judge: Judges the point of a box, of shape (numbers, 1); None if it cannot.
        wrong: The verdicts that a group is called by.
        is_sharp: Whether groups in which digits are lost at some points alone are halved too.
        most: The most boxes in which a witness is judged.
        seen: The witnesses so far, by the number of their box.
    """

    boxes: BoxSet
    judge: Callable[[Array], Witness | None]
    wrong: Sequence[Verdict] = WRONG
    is_sharp: bool = False
    most: int = MOST_WITNESSES
    seen: dict[int, list[Witness]] = field(default_factory=dict)

    def add(self, witnesses: Iterable[Witness]) -> None:
        """Add witnesses, each to the first box that holds it."""
        for one in witnesses:
            at = one[0][:, None]
            inside = np.flatnonzero(((self.boxes.low <= at) & (at <= self.boxes.high)).all(axis=0))
            if len(inside):
                self.seen.setdefault(int(inside[0]), []).append(one)

    def found(self) -> Sequence[tuple[npt.NDArray[np.intp], Witness | None]]:
        """Return the groups: the numbers of their boxes, and the worst witness; one group by verdict.

        Where no more witnesses are judged, only the boxes of witnesses are called by them, and the rest by none.
        """
        groups: dict[str, tuple[list[npt.NDArray[np.intp]], list[Witness]]] = {}
        waiting = [(np.arange(len(self.boxes)), FIRST)]
        while waiting:
            group, count = waiting.pop(0)
            self._look(group[np.unique(np.linspace(0, len(group) - 1, count).astype(int))])
            seen = [one for place in group.tolist() for one in self.seen.get(place, ())]
            if len(group) > 1 and self._are_apart(seen) and len(self.seen) < self.most:
                waiting += [(half, 3) for half in self._halves(group)]
                continue
            if len(group) > 1 and differ(seen, self.wrong):
                is_seen = np.isin(group, list(self.seen))
                waiting += [(group[[n]], 1) for n in np.flatnonzero(is_seen)]
                groups.setdefault("", ([], []))[0].append(group[~is_seen])
                continue
            worst = worst_of(seen)
            own = groups.setdefault(worst[1] if worst is not None and worst[1] in self.wrong else "", ([], []))
            own[0].append(group)
            own[1].extend(seen)
        return [(np.concatenate(places), worst_of(seen)) for places, seen in groups.values()]

    def _are_apart(self, seen: Sequence[Witness]) -> bool:
        """Tell whether a group is halved by its witnesses."""
        is_mixed = len({one[1] in self.wrong for one in seen}) > 1
        return differ(seen, self.wrong) or (self.is_sharp and is_mixed)

    def _look(self, places: npt.NDArray[np.intp]) -> None:
        for place in places.tolist():
            if place not in self.seen:
                one = self.boxes.take(np.array([place]))
                witness = self.judge(middle_of(one.low, one.high))
                self.seen[place] = [] if witness is None else [witness]

    def _halves(self, group: npt.NDArray[np.intp]) -> Sequence[npt.NDArray[np.intp]]:
        """Cut a group in two, across the side on which it is widest beside its whole region."""
        boxes, hull = self.boxes.take(group), self.boxes.hull()
        parts = boxes.hull()
        side = int(np.argmax((parts.high / 2 - parts.low / 2) / np.maximum(hull.high / 2 - hull.low / 2, 1e-300)))
        return np.array_split(group[np.argsort(boxes.low[side], kind="stable")], 2)

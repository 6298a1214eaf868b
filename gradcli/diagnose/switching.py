"""Two forms of a function joined where neither serves everywhere: `where(x < 0, sqrt(x**2 + 1) - x, 1/(...))`.

Which two, of which variable and where between the measured points one is better than the other is found by what each
form loses at each point; where between two points, by bisection over magnitudes.  Both branches are computed, so that
a branch that would be NaN where it is not taken is given the number of the switch there in place of the variable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gradcli.diagnose.candidates import again, inlined, is_alike
from gradcli.diagnose.exploring import Form
from gradcli.diagnose.measuring import ENOUGH, Loss, Measure
from gradcli.diagnose.occurrences import Reading, Statement
from gradcli.diagnose.splicing import decimal, filled, joined
from gradcli.language.text.tokens import tokenize
from gradcli.results import Array

STEPS = 12
"""Points at which the switch is looked for, between two that were measured."""

NARROW = 1.1
"""How far apart the ends of an interval may be, as a ratio, for any number in it to be the switch."""

PLATEAU = 1.0
"""Bits of all points together that do not matter for where the switch is."""

SHARE = 0.5
"""How much of what one form alone loses two forms may lose, to be worth a switch."""

Floats = npt.NDArray[np.float64]

MeasureAt = Callable[[Mapping[str, Array]], Measure]
"""What forms lose at one more point."""


@dataclass(frozen=True)
class Side:
    """A form, and the points where it serves."""

    form: Form
    places: tuple[int, ...]


@dataclass(frozen=True)
class Switch:
    """A form made of two.

    Attributes:
        text: Of both.
        reading: The same with its places.
        loss: Of both.
        condition: Where the first serves, such as `abs(x) < 1e-4`.
        sides: What it is made of.
    """

    text: str
    reading: Reading
    loss: Loss
    condition: str
    sides: tuple[Side, Side]


@dataclass(frozen=True)
class _Split:
    """Where the points of a variable are split, and which form is taken on either side."""

    name: str
    is_absolute: bool
    first: Form
    second: Form
    order: npt.NDArray[np.intp]
    count: int
    beyond: float

    def key(self, points: Sequence[Mapping[str, Array]], place: int) -> float:
        """What is compared with the switch."""
        value = float(points[self.order[place]][self.name])
        return abs(value) if self.is_absolute else value


def switched(original: Reading, forms: Sequence[Form], measure: Measure, measure_at: MeasureAt) -> Switch | None:
    """The best two forms joined; None where that is no better than one of them alone.

    Args:
        original: As typed.
        forms: All of them, measured.
        measure: What forms lose at the points of a range.
        measure_at: What forms lose at another point.
    """
    points = measure.points
    alone = min(form.loss.beyond(ENOUGH) for form in forms)
    splits = [split for name in points[0] if points[0][name].ndim == 0 for split in _splits(name, points, forms)]
    if not splits:
        return None
    split = min(splits, key=lambda one: one.beyond)
    if split.beyond > SHARE * alone:
        return None
    number = _number(split, points, measure_at)
    condition = f"{f'abs({split.name})' if split.is_absolute else split.name} < {number}"
    best: Switch | None = None
    for text in _texts(split, condition, number):
        reading = again(original, text)
        loss = None if reading is None or not is_alike(original, reading) else measure.of(reading.program)
        if reading is None or loss is None or loss.beyond(ENOUGH) > SHARE * alone:
            continue
        if best is None or loss.beyond(ENOUGH) < best.loss.beyond(ENOUGH) - PLATEAU:
            first, second = (tuple(places.tolist()) for places in np.split(split.order, [split.count]))
            sides = Side(split.first, first), Side(split.second, second)
            best = Switch(text, reading, loss, condition, sides)
    return best


# -- which two, and where


def _splits(name: str, points: Sequence[Mapping[str, Array]], forms: Sequence[Form]) -> Iterator[_Split]:
    """The best split by a number, and by its size."""
    values = np.array([float(point[name]) for point in points])
    if values.min() == values.max():
        return
    for is_absolute in (False, True) if values.min() < 0 < values.max() else (False,):
        keys = np.abs(values) if is_absolute else values
        order = np.argsort(keys, kind="stable")
        found = _split(forms, order, keys[order])
        if found is not None:
            first, second, count, beyond = found
            yield _Split(name, is_absolute, forms[first], forms[second], order, count, beyond)


def _split(forms: Sequence[Form], order: npt.NDArray[np.intp], keys: Floats) -> tuple[int, int, int, float] | None:
    """The forms before and behind the best place between two points, and how many points are before it."""
    beyond = np.maximum(np.array([form.loss.bits for form in forms]) - ENOUGH, 0.0)[:, order]
    lengths = np.array([len(form.text) for form in forms])[:, None] * 1e-6  # of equals, the shorter
    before = np.cumsum(beyond, axis=1)[:, :-1] + lengths
    behind = np.cumsum(beyond[:, ::-1], axis=1)[:, ::-1][:, 1:] + lengths
    totals = before.min(axis=0) + behind.min(axis=0)
    totals[keys[1:] == keys[:-1]] = np.inf
    if not np.isfinite(totals).any():
        return None
    best = int(totals.argmin())
    first, second = int(before[:, best].argmin()), int(behind[:, best].argmin())
    # Of the places that are as good, the sign, or the one in the middle: there both forms serve.
    alike = np.flatnonzero(before[first] + behind[second] <= totals[best] + PLATEAU)
    alike = alike[keys[alike + 1] > keys[alike]]
    signs = alike[(keys[alike] < 0) & (keys[alike + 1] >= 0)]
    place = int(signs[0] if len(signs) else alike[len(alike) // 2])
    return first, second, place + 1, float(before[first, place] + behind[second, place])


def _number(split: _Split, points: Sequence[Mapping[str, Array]], measure_at: MeasureAt) -> str:
    """The number of the switch, with as few digits as the interval leaves it."""
    low, high = split.key(points, split.count - 1), split.key(points, split.count)
    if low <= 0 <= high and not split.is_absolute:
        return "0"
    others = points[split.order[split.count - 1]]
    for _ in range(STEPS):
        if abs(high) <= NARROW * abs(low) and abs(low) <= NARROW * abs(high):
            break
        middle = _between(low, high)
        at = measure_at({**others, split.name: np.asarray(middle, others[split.name].dtype)})
        first, second = (at.of(form.reading.program) for form in (split.first, split.second))
        if first is None or second is None or first.beyond(ENOUGH) == second.beyond(ENOUGH):
            break  # both serve, or nothing is known there
        low, high = (middle, high) if first.beyond(ENOUGH) < second.beyond(ENOUGH) else (low, middle)
    middle = _between(low, high)
    for digits in range(1, 17):
        number = float(f"{middle:.{digits}g}")
        if low < number <= high:
            return decimal(number)
    return decimal(high)


def _between(low: float, high: float) -> float:
    """The middle by magnitude of two numbers of one sign; 0 is as small as its neighbour squared."""
    low, high = low or high * 2.0**-52, high or low * 2.0**-52
    return float(np.copysign(np.sqrt(abs(low)) * np.sqrt(abs(high)), high))


# -- as one text


def _texts(split: _Split, condition: str, number: str) -> Iterator[str]:
    """The two joined: as they are, then with one or both kept from numbers for which they are not taken."""
    first, second = (_Parts.of(form.reading) for form in (split.first, split.second))
    if first is None or second is None:
        return
    safe = "1" if number == "0" else number
    for keeps_first, keeps_second in ((False, False), (False, True), (True, False), (True, True)):
        fresh = _fresh([first, second])
        one, other, before = first, second, []
        if keeps_first:
            name = next(fresh)
            before.append(f"{name} = where({condition}, {split.name}, {_beside(safe, number, below=True)})")
            one = first.renamed({split.name: name})
        if keeps_second:
            name = next(fresh)
            before.append(f"{name} = where({condition}, {_beside(safe, number, below=False)}, {split.name})")
            other = second.renamed({split.name: name})
        clashing = {name for name in one.names if name in other.names and one.names[name] != other.names[name]}
        other = other.renamed({name: next(fresh) for name in sorted(clashing)})
        definitions = dict.fromkeys([*before, *one.definitions, *other.definitions])
        yield "; ".join([*definitions, f"where({condition}, {one.body}, {other.body})"])


def _beside(safe: str, number: str, *, below: bool) -> str:
    """A number for which a branch is taken: the switch itself, or 1 on the right side of 0."""
    return f"-{safe}" if number == "0" and below else safe


def _fresh(parts: Sequence[_Parts]) -> Iterator[str]:
    taken = {word for part in parts for text in (*part.definitions, part.body) for word in _words(text)}
    return (name for name in ("z", "w", *(f"z{n}" for n in range(1, 100))) if name not in taken)


def _words(text: str) -> set[str]:
    return {token.text for token in tokenize(text) if token.kind == "name"}


@dataclass(frozen=True)
class _Parts:
    """A text as its definitions and what they are for."""

    names: Mapping[str, str]
    body: str

    @classmethod
    def of(cls, reading: Reading) -> _Parts | None:
        """Those of a text; None where they cannot be moved."""
        names: dict[str, str] = {}
        *definitions, last = ((statement.name, _value(reading, statement)) for statement in reading.statements)
        for name, value in definitions:
            if not name or not value or name in names or name in reading.program.names:
                text = inlined(reading)
                return cls({}, text) if text else None
            names[name] = value
        return cls(names, last[1]) if last[1] else None

    @property
    def definitions(self) -> list[str]:
        """Name by name."""
        return [f"{name} = {value}" for name, value in self.names.items()]

    def renamed(self, names: Mapping[str, str]) -> _Parts:
        """With other names for some."""
        values = {names.get(name, name): filled(value, names) for name, value in self.names.items()}
        return _Parts(values, filled(self.body, names))


def _value(reading: Reading, statement: Statement) -> str:
    """The text of a statement without its name; empty where it is no expression."""
    first, stop = reading.ends(statement.span)
    tokens = reading.tokens[first:stop]
    if not statement.name:
        return joined(reading.text, tokens)
    is_plain = len(tokens) > 2 and tokens[0].text == statement.name and tokens[1].text == "="
    return joined(reading.text, tokens[2:]) if is_plain else ""

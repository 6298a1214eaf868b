"""Answers on boxes as documents: bounds that are rounded outward, places, proofs and regions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from gradcli import results
from gradcli.arrays import Array
from gradcli.notation import Named
from gradcli.option_words import Words, option
from gradcli.parts import is_listed
from gradcli.parts.everywhere.held_kinds import not_everywhere
from gradcli.parts.everywhere.other_forms import NO_TIME
from gradcli.parts.everywhere.region_maps import chart, require_map
from gradcli.parts.everywhere.region_words import BY_WITNESS, REGIONS, named
from gradcli.parts.everywhere.stopping import OVER_TIME, TOO_MANY
from gradcli.report import document as doc, wording
from gradcli.report.compose.formula_tables import code, note
from gradcli.report.document import line, lines
from gradcli.report.numbers import digits as in_digits, elements, outward

KINDS = {
    "minimum": "least {y}",
    "maximum": "greatest {y}",
    "zero": "{y} = 0",
    "critical": "gradient 0",
    "least nearby": "gradient 0, least nearby",
    "greatest nearby": "gradient 0, greatest nearby",
}
"""Kinds of places in words; `{y}` is the name of the output."""

EXISTENCE = {"one": "exactly one", "some": "there", "unknown": "perhaps"}
"""What is known of a place, in words."""

MOST_ROWS = 12
"""Most places that are listed."""

GAP = 1e-4
"""Gap between a bound and what was found, relative to it, from which on it is shown."""


def compose_range(answer: results.BoxRange, digits: int | None, *, is_full: bool) -> Iterator[doc.Node]:
    """Compose the bounds of a range."""
    yield from _head(answer)
    rows = [_bounds(one, digits) for one in answer.bounds]
    yield doc.Table(lines("", "at least", "at most"), tuple(rows), is_numeric=True)
    if answer.lipschitz:
        yield note(_lipschitz(answer, digits))
    if answer.shape:
        y, x = answer.output, answer.wrt[0]
        yield note(
            f"the bounds are those of each of the {math.prod(answer.shape):,} elements of {y}, by its own of {x}"
        )
    yield from _places(answer.places, answer, digits)
    if words := not_everywhere(answer.output, answer.held):
        yield note(f"{words}; gradcli check --in shows where" if is_listed("claims") else words)
    if "overflow" in answer.held:
        yield note(f"{answer.output} is beyond the range of float64 in part of the box")
    if "kink" in answer.held:
        yield note("there may be kinks: derivatives are bounded on both sides of them")
    yield from map(note, answer.notes)
    yield from _more_time(answer.notes)


def _more_time(notes: Sequence[str]) -> Iterator[doc.Node]:
    """Name the option that gives a search more time, where one had too little."""
    if any(OVER_TIME in one or TOO_MANY in one for one in notes) and not any(NO_TIME in one for one in notes):
        yield note(Words(f"more time may settle what is left: {option('budget', 'SECONDS')}"))


SIGNS: Mapping[str, tuple[str, doc.Role]] = {
    "proved": ("✓ proved", "good"),
    "refuted": ("✗ refuted", "bad"),
    "undecided": ("not proved", "open"),
}
"""Outcomes of statements in words."""


def compose_checking(answer: results.BoxChecking, digits: int | None, *, is_full: bool) -> Iterator[doc.Node]:
    """Compose the check of every point of a box."""
    yield from _head(answer)
    for proof in answer.proofs:
        words, role = SIGNS[proof.status]
        yield doc.Note(line(doc.Styled(words, role), ": ", code(proof.statement), _outcome(proof)))
    if is_listed("claims"):
        from gradcli.parts.claims import compose_claims

        yield from compose_claims(answer, digits, is_full=is_full)
    if answer.is_picture:
        _ = require_map(answer)
        yield doc.Chart(answer, partial(chart, answer))
    if answer.regions:
        yield from _regions(answer, digits)
    yield from map(note, answer.notes)
    yield from _more_time([*answer.notes, *(proof.note for proof in answer.proofs)])
    yield doc.Note(line(doc.Styled(_conclusion(answer), "good" if answer.passed else "bad")))


def _conclusion(answer: results.BoxChecking) -> str:
    """Write the last line, as the exit code has it."""
    if answer.passed:
        return "passed" + (f" ({', '.join(answer.allowed)} allowed)" if answer.allowed else "")
    counts = Counter(one.status for one in answer.proofs if one.status != "proved")
    words = [f"{count} statement{'s' * (count > 1)} {status}" for status, count in counts.items()]
    if is_listed("claims"):
        from gradcli.parts.claims import failures_of_claims

        words += failures_of_claims(answer)
    passing = ("proved", "near-zero", *answer.allowed)
    words += [named(one).removeprefix("✗ ") for one in answer.regions if one.verdict not in passing]
    return f"did not pass: {', '.join(words)}"


def _regions(answer: results.BoxChecking, digits: int | None) -> Iterator[doc.Node]:
    """Tabulate the regions, the largest first, and say what the tolerance is."""
    rows = []
    for one in answer.regions:
        words, role = named(one), REGIONS[one.verdict][1]
        where = [f"{name} = {_interval(one.low[name], one.high[name], digits)}" for name in one.low]
        witness = ""
        if one.at is not None:
            at = ", ".join(f"{name} = {in_digits(number)}" for name, number in one.at.items())
            witness = f"{at}: {one.found}" + (f" ({one.note})" if one.note else "")
        rows.append(lines(doc.Styled(words, role), share(one), "\n".join(where), witness))
    yield doc.Table(lines("verdict", "share", f"within ({count(answer.boxes)})", "witness"), tuple(rows))
    if any(one.verdict == "proved" for one in answer.regions):
        most = outward(answer.rtol or 0.0, 3, is_upper=True)
        part = "" if all(one.verdict == "proved" for one in answer.regions) else " of the proved region"
        yield note(f"proved: torch is off by at most {most}, relative to the truth, at every point{part}")
    for verdict in dict.fromkeys(one.verdict for one in answer.regions if one.verdict in BY_WITNESS and one.at):
        words = REGIONS[verdict][0].removeprefix("✗ ")
        yield note(f"{words}: so it is at the witness; of the rest of its region nothing is proved")
    if any(one.verdict == "underflow" for one in answer.regions):
        smallest = np.finfo(answer.dtype).smallest_normal
        yield note(f"underflow: a number is below {smallest:.3g}, where digits are lost, and torch's is so too, or 0")


def share(region: results.BoxRegion) -> str:
    """Write a share in percent, never more than it is."""
    percent = 100 * region.share
    return (
        "100%" if percent == 100 else f"{math.floor(percent * 1e4) / 1e4:g}%" if percent >= 1e-3 else f"{percent:.2g}%"
    )


def _outcome(proof: results.BoxProof) -> str:
    """Say how a statement was decided, or what is left."""
    note_ = f"; {proof.note}" if proof.note else ""
    if proof.status == "refuted" and proof.at is not None:
        where = ", ".join(f"{name} = {in_digits(number)}" for name, number in proof.at.items())
        return f" at {where}{note_}"
    if proof.status == "undecided":
        left = "all" if proof.left >= 1 else outward(proof.left, 2, is_upper=True) if proof.left else "a point"
        return f": {left} of the box is left{note_}"
    return f" ({count(proof.boxes)}{note_})"


def count(boxes: int) -> str:
    """Write a number of boxes."""
    return f"{boxes:,} box{'es' * (boxes != 1)}"


def _head(answer: results.OnBox) -> Iterator[doc.Node]:
    yield doc.Note(line(code(wording.statement(answer))))
    given = [line(doc.Symbol(Named(name)), f" = {text}") for name, text in answer.ranges.items()]
    for name, array in answer.inputs.items():
        given.append(line(doc.Symbol(Named(name)), " = ", *_values(array), *_way(answer, name)))
    yield doc.Abreast(tuple(given))


def _values(array: Array) -> doc.Line:
    return line(doc.ArrayNumbers(array) if array.size > 1 else elements(array))


def _way(answer: results.OnBox, name: str) -> doc.Line:
    """Write the way of a variable along a line."""
    if answer.u is None or name not in answer.u:
        return ()
    return line(" + ", doc.Symbol(Named(*answer.ranges)), "·", *_values(answer.u[name]))


def _bounds(one: results.BoxBounds, digits: int | None) -> tuple[doc.Line, ...]:
    low, high = (outward(end, digits, is_upper=up) for end, up in ((one.low, False), (one.high, True)))
    return lines(
        doc.Symbol(one.label),
        low + _gap(one.low, one.low_found, digits, is_upper=True),
        high + _gap(one.high, one.high_found, digits, is_upper=False),
    )


def _gap(bound: float, found: float, digits: int | None, *, is_upper: bool) -> str:
    """Show the value that was found where the bound is not near to it."""
    if math.isinf(found) or abs(bound - found) <= GAP * max(1.0, abs(found)):
        return ""
    return f" (found {outward(found, digits, is_upper=is_upper)})"


def _lipschitz(answer: results.BoxRange, digits: int | None) -> str:
    """Write how much y changes at most: by the change of a number, or in each norm."""
    found = {norm: outward(constant, digits, is_upper=True) for norm, constant in answer.lipschitz.items()}
    y, x = f"change of {answer.output}", f"change of {answer.wrt[0]}"
    if answer.shape:
        return f"‖{y}‖ ≤ {found['2']} · ‖{x}‖, in each norm"
    if len(found) == 1:
        return f"|{y}| ≤ {found['2']} · |{x}|"
    signs = {"1": "‖·‖₁", "2": "‖·‖₂", "inf": "‖·‖∞"}
    is_number = sum(isinstance(one.label, Named) for one in answer.bounds) == 1
    if not is_number:  # a norm of both
        constants = ", ".join(f"{constant} in {signs[norm]}" for norm, constant in found.items())
        return f"‖{y}‖ ≤ L · ‖change‖, with L = {constants}"
    return f"|{y}| ≤ " + ", ".join(f"{constant} {signs[norm]}" for norm, constant in found.items())


def _places(places: Sequence[results.BoxPlace], answer: results.BoxRange, digits: int | None) -> Iterator[doc.Node]:
    rows = []
    for place in places[:MOST_ROWS]:
        where = [f"{name} = {_interval(place.low[name], place.high[name], digits)}" for name in place.low]
        rows.append(lines(KINDS[place.kind].format(y=answer.output), "\n".join(where), EXISTENCE[place.existence]))
    if rows:
        yield doc.Table(lines("", "where", "known"), tuple(rows))
    if (more := len(places) - MOST_ROWS) > 0:
        yield note(Words(f"and {more:,} more box{'es' * (more > 1)}; {option('json')} lists them all"))


def _interval(low: float, high: float, digits: int | None) -> str:
    """Write a side of a box: one number where its digits are the same."""
    if low == high:
        return in_digits(low) if digits is None else outward(low, digits, is_upper=False)
    first, last = outward(low, digits, is_upper=False), outward(high, digits, is_upper=True)
    return first if first == last else f"{first}..{last}"

"""The best form of a function as a document: the bits lost, the form, and whether it is proved to be the same."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gradcli.notation import Named
from gradcli.report import document as doc, wording
from gradcli.report.appearance import Appearance
from gradcli.report.compose.formula_tables import code, note
from gradcli.report.document import line, lines
from gradcli.report.numbers import elements, printable
from gradcli.results import Improvement, Strip

MOST_KEPT = 23 / 53
"""Largest share of its bits that a number may lose and still agree with the truth."""

UNKNOWN = "–"
"""Sign for an unknown number."""


def plain(answer: Improvement, shown: Appearance) -> Iterator[str]:
    """Write the form alone."""
    yield f"{printable(answer).form}\n"


def compose_improvement(answer: Improvement, digits: int | None, *, is_full: bool) -> Iterator[doc.Node]:
    """Compose the page from top to bottom; unfolded, it gives reasons."""
    yield doc.Note(line(code(wording.statement(answer))))
    if given := tuple(_given(answer)):
        yield doc.Abreast(given)
    if answer.strips:
        yield note(f"of {answer.bits} bits, value and derivatives lose at most")
    for strip in answer.strips:
        yield _table(strip, answer)
    yield from map(note, answer.notes)
    if answer.outcome == "better":
        yield doc.Note(line("better: ", code(answer.form)))
        for condition in answer.switches:
            yield doc.Note(line("one form serves where ", code(condition), ", another elsewhere"))
        yield from (note(f"why: {reason}") for reason in answer.reasons if is_full)
    if answer.still_lost:
        yield doc.Note(line(doc.Styled(f"still loses {answer.still_lost}", "lost")))
    if answer.proved_bits is not None:
        which = "it loses" if answer.outcome == "better" else "value and derivative lose"
        yield note(f"proved: {which} at most {answer.proved_bits} of {answer.bits} bits at every point of the range")
    yield _conclusion(answer)


def _given(answer: Improvement) -> Iterator[doc.Line]:
    for name, array in answer.inputs.items():
        yield line(doc.Symbol(Named(name)), " = ", doc.ArrayNumbers(array) if array.size > 1 else elements(array))
    for name, bounds in answer.ranges.items():
        yield line(doc.Symbol(Named(name)), f" = {bounds}")
    if words := wording.in_dtype(answer):
        yield line(words.strip())


def _table(strip: Strip, answer: Improvement) -> doc.Table:
    """Tabulate the lost bits, a column a magnitude."""
    places = _headers(strip.places)
    rows: dict[str, Sequence[doc.Line]] = {"as typed": [_cell(bits, answer) for bits in strip.before]}
    if strip.after:
        rows["better"] = [_cell(bits, answer) for bits in strip.after]
    flat = (lines(what, *cells) for what, cells in rows.items())
    return doc.Table(lines(strip.variable, *places), tuple(flat), is_numeric=True)


def _headers(places: Sequence[str | float]) -> list[str]:
    """Write magnitudes with as many digits as tell them apart.

    >>> _headers([1.0, 1e6]), _headers([0.9999999, 1.0])
    (['1', '1e6'], ['0.9999999', '1'])
    """
    found = list[str]()
    for digits in range(3, 18):
        found = [place if isinstance(place, str) else _short(place, digits) for place in places]
        if len({*found}) == len({*places}):
            break
    return found


def _short(place: float, digits: int = 3) -> str:
    """Write a magnitude as it is typed.

    >>> _short(-1e300), _short(2.2250738585072014e-308), _short(0.001), _short(1e6)
    ('-1e300', '2.23e-308', '0.001', '1e6')
    """
    return re.sub(r"e\+?(-?)0*", r"e\1", f"{place:.{digits}g}")


def _cell(bits: int | None, answer: Improvement) -> doc.Line:
    if bits is None:
        return line(doc.Styled(UNKNOWN, "aside"))
    role: doc.Role = "lost" if bits > MOST_KEPT * answer.bits else "plain"
    return line(doc.Styled(str(bits), role))


def _conclusion(answer: Improvement) -> doc.Note:
    before, bits = answer.before, answer.bits
    match answer.outcome:
        case "fine":
            lost = "" if before is None else f": at most {before.worst} of {bits} bits are lost"
            return doc.Note(line(doc.Styled("✓ nothing to mend", "good"), lost))
        case "none":
            return doc.Note(line(doc.Styled("✗ no better form found", "lost")))
    if answer.same == "proved":
        return doc.Note(line(doc.Styled("✓ the same function (proved)", "good"), f" {answer.domain}"))
    return doc.Note(line(doc.Styled("not proved", "open"), f" to be the same function: {answer.domain}"))

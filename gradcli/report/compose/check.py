"""The answer of `check`: the opinions side by side, why some differ, claims, random points, the verdict."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from gradcli.notation import Form, Name
from gradcli.report import document as doc
from gradcli.report.compose.parts import (
    closed_form,
    code,
    coverage,
    heading,
    label,
    note,
    number,
    safe_form,
    sides,
    symbol,
    title,
)
from gradcli.report.document import TONES, line, lines
from gradcli.report.labels import RATIO, entry
from gradcli.report.numbers import digits
from gradcli.report.wording import claimed, conclusion, counterexample, judged, readings, sampled
from gradcli.results import Checking, Claim, Entry, Sampling

SHOWN = 20
"""Opinions that are shown; JSON and plain have all."""

MOST_NAMED = 3
"""Entries that are named beside a reason that they share."""

STATUS_TONES: Mapping[str, doc.Role] = {
    "proved": "good",
    "agrees": "good",
    "no counterexample": "open",
    "refuted": "bad",
}

_PRODUCT = Form("vTJ %s", "vᵀJ %s", "v^{T} J_{%s}")


def document(answer: Checking) -> Iterator[doc.Node]:
    """Opinions, claims, random points, formulas and the verdict, from top to bottom."""
    yield from heading(answer)
    if answer.sampling is not None:
        yield note("the worst of the random points")
    if answer.opinions:
        yield from _opinions(answer)
    for claim in answer.claims:
        yield from _claim(claim, answer.output)
    if answer.sampling is not None:
        yield from _sampling(answer.sampling)
    if answer.wrt:
        yield from closed_form(answer)
    if answer.check is not None:
        yield from coverage(answer.check, readings(answer))
        yield from safe_form(answer.check.rewrite)
    yield doc.Note(line(doc.Span(conclusion(answer), "good" if answer.passed else "bad")))


# -- opinions


def _opinions(answer: Checking) -> Iterator[doc.Node]:
    shown = answer.opinions[:SHOWN]
    more = answer.opinions_count - len(shown)
    yield title("the opinions, worst first" + (f": {len(shown)}, and {more:,} more" if more else ""))
    rows = [_cells(opinion, answer) for opinion in shown]
    headers = [header for header in rows[0] if any(row[header] for row in rows)]
    cells = tuple(tuple(row[header] for header in headers) for row in rows)
    yield doc.Table(lines(*headers), cells, heads=(0, len(headers) - 1))
    yield from _reasons(answer.opinions, answer.output)


def _cells(opinion: Entry, answer: Checking) -> dict[str, doc.Line]:
    """A cell for each reading, empty where it says nothing; the verdict comes last."""
    error, ulps = opinion.relative_error, opinion.ulps
    return {
        "entry": label(opinion, answer.output),
        "torch": line(number(digits(np.dtype(answer.dtype).type(opinion.torch)))),
        "formula": () if opinion.formula is None else line(number(digits(opinion.formula))),
        "enclosure": _enclosure(opinion),
        "finite difference": _difference(opinion),
        "relative error": () if error is None else line(number(f"{error:.2g}")),
        "ulps": () if ulps is None else line(number(f"{ulps:.2g}")),
        "verdict": line(doc.Span(judged(opinion.verdict, proven=opinion.proven), TONES[opinion.verdict])),
    }


def _enclosure(opinion: Entry) -> doc.Line:
    """The digits that are proven: those of a float, or the middle and the radius where they are fewer."""
    if opinion.one_sided is not None:
        return sides(opinion.one_sided)
    if opinion.reference is None:
        return line("none")
    radius = opinion.radius or 0.0
    is_wide = radius > np.spacing(abs(opinion.reference))
    middle = number(digits(opinion.reference))
    return line(middle, " ± ", number(f"{radius:.2g}")) if is_wide else line(middle)


def _difference(opinion: Entry) -> doc.Line:
    """The quotient to the digit where its error begins, and the error."""
    if opinion.difference is None:
        return ()
    quotient, error = opinion.difference, opinion.difference_error or 0.0
    return line(number(_to_digits_of(quotient, error)), " ± ", number(f"{error:.1g}"))


def _to_digits_of(quotient: float, error: float) -> str:
    """The digits of a number down to the first of its error.

    >>> _to_digits_of(3.14159, 2e-3)
    '3.142'
    """
    return digits(round(quotient, -math.floor(math.log10(error))) if 0 < error < math.inf else quotient)


def _reasons(opinions: Sequence[Entry], y: str) -> Iterator[doc.Note]:
    """Why entries do not agree: each reason once, behind its entries."""
    found: dict[str, list[Entry]] = {}
    for opinion in opinions:
        if opinion.verdict != "agree" and opinion.note:
            found.setdefault(opinion.note, []).append(opinion)
    for reason, alike in found.items():
        named: list[str | doc.Symbol] = []
        for one in alike[:MOST_NAMED]:
            named += [", ", doc.Symbol(entry(one, y))]
        more = f" and {len(alike) - MOST_NAMED:,} more" if len(alike) > MOST_NAMED else ""
        yield doc.Note(line(*named[1:], f"{more}: {reason}"))


# -- claims and random points


def _claim(claim: Claim, y: str) -> Iterator[doc.Node]:
    is_product = claim.of == "vector-Jacobian product"
    what = _PRODUCT(Name(claim.variable)) if is_product else RATIO(Name(y), Name(claim.variable))
    yield title("the claim ", doc.Symbol(what), " = ", code(claim.text), f", as a {claim.of}")
    yield doc.Note(line(doc.Span(claimed(claim), STATUS_TONES[claim.status])))
    if claim.at:
        numbers = {**claim.at, **({} if claim.v is None else {"v": claim.v})}
        point = [part for name, array in numbers.items() for part in (", ", symbol(name), " = ", doc.Numbers(array))]
        yield doc.Note(line("a counterexample is ", *point[1:]))
    yield from (note(words) for words in (counterexample(claim), claim.mistake, claim.note) if words)


def _sampling(sampling: Sampling) -> Iterator[doc.Node]:
    yield title(sampled(sampling))
    rows = (lines(doc.Span(verdict, TONES[verdict]), f"{count:,}") for verdict, count in sampling.verdicts.items())
    yield doc.Table(lines("verdict", "points"), tuple(rows), is_numeric=True)

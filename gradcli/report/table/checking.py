"""The answer of `check` as tables: the opinions side by side, why some differ, claims, random points, the verdict.

On a terminal that is too narrow for the table, each entry is a paragraph; no digit is cut off.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from rich.table import Table
from rich.text import Text

from gradcli.report.drawing import STYLES, WIDEST, Screen, add_row, elements, new_table, text, title
from gradcli.report.labels import entry, index, status
from gradcli.report.numbers import digits
from gradcli.report.table.parts import closed_form, coverage, heading, judged, safe_form, sides
from gradcli.results import Checking, Claim, Opinion, Sampling

SHOWN = 20
"""Opinions that are shown; JSON and plain have all."""

MOST_NAMED = 3
"""Entries that are named beside a reason that they share."""

STATUS_STYLES: Mapping[str, str] = {"proved": "bold green", "no counterexample": "bold yellow", "refuted": "bold red"}

Parts = Iterator[Table | Text]


def parts(answer: Checking, screen: Screen) -> Parts:
    """Opinions, claims, random points, formulas and the verdict, from top to bottom."""
    y = answer.output
    yield from heading(answer, y, screen)
    if answer.sampling is not None:
        yield text("the worst of the random points", screen)
    if answer.opinions:
        yield from _opinions(answer, y, screen)
    for claim in answer.claims:
        yield from _claim(claim, y, screen)
    if answer.sampling is not None:
        yield from _sampling(answer.sampling, screen)
    if answer.wrt:
        yield from closed_form(answer, screen)
    if answer.check is not None:
        yield from coverage(answer.check, screen)
        yield from safe_form(answer.check.rewrite, screen)
    yield _conclusion(answer, screen)


# -- opinions


def _opinions(answer: Checking, y: str, screen: Screen) -> Parts:
    shown = answer.opinions[:SHOWN]
    more = answer.opinions_count - len(shown)
    yield title("the opinions, worst first" + (f": {len(shown)}, and {more:,} more" if more else ""), screen)
    rows = [_row(opinion, answer, y) for opinion in shown]
    headers = [name for name in rows[0] if any(row[name] for row in rows)]
    widths = [max(len(name), *(len(row[name]) for row in rows)) for name in headers]
    if sum(widths) + 3 * len(widths) + 1 > (screen.width or WIDEST):
        yield _paragraphs(rows, screen)
    else:
        table = new_table(headers, screen)
        for row, opinion in zip(rows, shown, strict=True):
            cells: list[str | Text] = [row[name] for name in headers[:-1]]
            add_row(table, screen, *cells, Text(row["verdict"], style=STYLES[opinion.verdict]))
        yield table
    for reason, entries in _reasons(answer.opinions, y).items():
        named = ", ".join(entries[:MOST_NAMED]) + f" and {len(entries) - MOST_NAMED:,} more" * (
            len(entries) > MOST_NAMED
        )
        yield text(f"{named}: {reason}", screen)


def _row(opinion: Opinion, answer: Checking, y: str) -> dict[str, str]:
    """A cell for each reading, empty where it says nothing; the verdict comes last."""
    return {
        "entry": entry(opinion, y),
        "torch": digits(np.dtype(answer.dtype).type(opinion.torch)),
        "formula": "" if opinion.formula is None else digits(opinion.formula),
        "enclosure": _enclosure(opinion),
        "finite difference": _difference(opinion),
        "relative error": "" if opinion.relative_error is None else f"{opinion.relative_error:.2g}",
        "ulps": "" if opinion.ulps is None else f"{opinion.ulps:.2g}",
        "verdict": judged(opinion.verdict, proven=opinion.proven),
    }


def _enclosure(opinion: Opinion) -> str:
    """The digits that are proven: those of a float, or the middle and the radius where they are fewer."""
    if opinion.one_sided is not None:
        return sides(opinion.one_sided)
    if opinion.reference is None:
        return "none"
    radius = opinion.radius or 0.0
    is_wide = radius > np.spacing(abs(opinion.reference))
    return digits(opinion.reference) + (f" ± {radius:.2g}" if is_wide else "")


def _difference(opinion: Opinion) -> str:
    """The quotient to the digit where its error begins, and the error.

    >>> made = Opinion("x", (), (), 0, None, None, None, 3.14159, 2e-3, None, None, "agree", True)
    >>> _difference(made)
    '3.142 ± 0.002'
    """
    if opinion.difference is None:
        return ""
    quotient, error = opinion.difference, opinion.difference_error or 0.0
    if 0 < error < math.inf:
        quotient = round(quotient, -math.floor(math.log10(error)))
    return f"{digits(quotient)} ± {error:.1g}"


def _paragraphs(rows: Sequence[Mapping[str, str]], screen: Screen) -> Text:
    lines = []
    for row in rows:
        lines.append(f"{row['entry']}: {row['verdict']}")
        lines += [f"  {name} {cell}" for name, cell in row.items() if cell and name not in ("entry", "verdict")]
    return text("\n".join(lines), screen)


def _reasons(opinions: Sequence[Opinion], y: str) -> dict[str, list[str]]:
    """Why entries do not agree: each reason once, with its entries."""
    found: dict[str, list[str]] = {}
    for opinion in opinions:
        if opinion.verdict != "agree" and opinion.note:
            found.setdefault(opinion.note, []).append(entry(opinion, y))
    return found


# -- claims and random points


def _claim(claim: Claim, y: str, screen: Screen) -> Parts:
    what = f"∂{y}/∂{claim.variable}" if claim.of != "vector-Jacobian product" else f"vᵀJ {claim.variable}"
    yield title(f"the claim {what} = {claim.text}, as a {claim.of}", screen)
    yield text(_status(claim), screen, STATUS_STYLES[claim.status])
    if claim.at:
        numbers = {**claim.at, **({} if claim.v is None else {"v": claim.v})}
        point = ", ".join(f"{name} = {' '.join(elements(array).split())}" for name, array in numbers.items())
        yield text(f"a counterexample is {point}", screen)
    if claim.claimed is not None and claim.truth is not None:
        place = f"entry {index(claim.entry)} is" if claim.entry else "it is"
        yield text(f"{place} {digits(claim.truth)}, and the claim says {digits(claim.claimed)}", screen)
    for words in (claim.mistake, claim.note):
        if words:
            yield text(words, screen)


def _status(claim: Claim) -> str:
    """In words, with the number of points where that matters."""
    match claim:
        case Claim(status="no counterexample", points=1):
            return "agrees at this point"
        case Claim(status="no counterexample"):
            return f"no counterexample in {claim.points:,} points" if claim.points else status(claim)
    return claim.status


def _sampling(sampling: Sampling, screen: Screen) -> Parts:
    boxes = ", ".join(f"{name} in {box}" for name, box in sampling.boxes.items())
    yield title(f"{sampling.points:,} random points of {boxes}, seed {sampling.seed}", screen)
    table = new_table(["verdict", "points"], screen, numeric=True)
    for verdict, count in sampling.verdicts.items():
        add_row(table, screen, Text(verdict, style=STYLES[verdict]), f"{count:,}")
    yield table


def _conclusion(answer: Checking, screen: Screen) -> Text:
    """The last line, as the exit code has it."""
    if answer.passed:
        allowed = [verdict for verdict in answer.allowed if verdict != "agree"]
        return text("passed" + (f" ({', '.join(allowed)} allowed)" if allowed else ""), screen, "bold green")
    verdicts = [opinion.verdict for opinion in answer.opinions]
    verdicts += [] if answer.check is None else [answer.check.verdict]
    verdicts += [] if answer.sampling is None else list(answer.sampling.verdicts)
    reasons = [v for v in STYLES if v in verdicts and v not in ("agree", *answer.allowed)]
    claims = Counter(map(status, answer.claims))
    failed = ((claims[word], word) for word in ("refuted", "not compared") if claims[word])
    words = [*reversed(reasons), *(f"{count} claim{'s' * (count > 1)} {word}" for count, word in failed)]
    return text(f"did not pass: {', '.join(words)}", screen, "bold red")

"""Plots as documents: the function, its curves, and a row for each place that is marked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np

from gradcli import results
from gradcli.option_words import Words, option
from gradcli.parts.plot.characters import chart
from gradcli.report import document as doc, wording
from gradcli.report.appearance import Appearance
from gradcli.report.compose.formula_tables import code, note
from gradcli.report.document import line, lines
from gradcli.report.numbers import Writer, digits as in_digits, outward, printable
from gradcli.report.render.csv import Row, table_text

MOST_ROWS = 12
"""Most places that are listed below a plot."""

MARKS = {
    "kink": "kink: the slope jumps",
    "jump": "jump",
    "pole": "pole",
    "removable": "hole: y has a limit and no value",
    "edge": "end of the domain",
    "vertical": "the slope grows without bound",
    "undefined": "y has no limit that is seen",
    "nan-trap": "nan-trap: y has a slope, and torch none",
    "curvature": "the second derivative jumps",
}
"""Kinds of marks in words."""

SPANS = {
    "undefined": "undefined: y has no value",
    "overflow": "overflow: y is beyond torch's numbers",
    "nan-trap": "nan-trap: y has a value, and torch no derivative",
    "inaccurate": "inaccurate: digits are lost",
    "crowded": "crowded: places without a derivative that cannot be told apart",
}
"""Kinds of ranges in words."""


def compose_plot(answer: results.Plotted, digits: int | None, *, is_full: bool) -> Iterator[doc.Node]:
    """Compose a plot."""
    yield doc.Note(line(code(wording.statement(answer))))
    yield doc.Chart(answer, partial(chart, answer))
    if not isinstance(answer, results.Plot):
        return
    number = Writer(digits, is_full=False).number
    names = [f"{curve.label.pretty}: " for curve in answer.curves if curve.order == 0]
    names = names if len(names) > 1 else [""]
    for span in answer.spans[:MOST_ROWS]:
        yield note(f"{names[span.element]}{SPANS[span.kind]} in {number(span.low)}..{number(span.high)}")
    if answer.rtol is not None:
        share, off = math.floor(1e3 * answer.proved_share) / 10, outward(answer.rtol, 2, is_upper=True)
        yield note(f"proved on {share:g}% of the range: torch is off by at most {off}, relative to the truth")
    rows = []
    for mark in answer.marks[:MOST_ROWS]:
        sides = (" | ".join(dict.fromkeys(map(number, pair))) for pair in (mark.value, mark.slope))
        bend = " from {} to {}".format(*map(number, mark.curvature)) if mark.curvature else ""
        rows.append(lines(number(mark.place), names[mark.element] + MARKS[mark.kind] + bend, *sides))
    if rows:
        header = lines(answer.variable, "", f"{answer.output} left | right", "slope left | right")
        yield doc.Table(header, tuple(rows), labels=2)
    if (more := len(answer.marks) - MOST_ROWS) > 0:
        yield note(Words(f"and {more:,} more place{'s' * (more > 1)}; {option('json')} lists them all"))


def csv_rows(answer: results.Plotted, shown: Appearance) -> Iterator[str]:
    """Write a row a point."""
    match printable(answer):
        case results.Plot() as plot:
            yield from table_text(*_curves(plot), shown)
        case results.PlotMap(axes=axes, values=values, gradient=gradient, output=y):
            columns = [one.ravel() for one in (*np.meshgrid(*axes.values()), values, *gradient.values())]
            header = [*axes, y, *(f"d{y}_d{name}" for name in axes)]
            yield from table_text(header, ([*map(in_digits, row)] for row in zip(*columns, strict=True)), shown)


def _curves(plot: results.Plot) -> tuple[Row, Iterable[Row]]:
    """List a row for each point, with the marks and the ranges there in the last column."""
    found: list[tuple[float, float, str]] = [(mark.place, mark.place, mark.kind) for mark in plot.marks]
    found += [(span.low, span.high, span.kind) for span in plot.spans]
    columns = [plot.points, *(curve.values for curve in plot.curves)]
    rows = (
        [*map(in_digits, row), " ".join(dict.fromkeys(kind for low, high, kind in found if low <= row[0] <= high))]
        for row in zip(*columns, strict=True)
    )
    return [plot.variable, *(curve.column for curve in plot.curves), "mark"], rows

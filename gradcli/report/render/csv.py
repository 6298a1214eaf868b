"""Answers as tidy tables of comma-separated values: a header, then a row for each entry, with all digits.

An index is its numbers with blanks between, `0 1`, and empty for a scalar.  Numbers are the shortest that round-trip;
those that are not finite are `nan`, `inf` and `-inf`.  Quoting is that of RFC 4180; lines end as those of the shell do,
or `cut -d, -f3` would keep a carriage return.

Source: RFC 4180, "Common Format and MIME Type for CSV Files", https://www.rfc-editor.org/rfc/rfc4180
"""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

import numpy as np

from gradcli import results
from gradcli.report.appearance import Appearance
from gradcli.report.document import in_ascii
from gradcli.report.numbers import MANY, digits, printable
from gradcli.report.render.plain import cells, rows_of
from gradcli.report.wording import counterexample, plain_entry, status

Row = Sequence[str]

OPINION = ["entry", "torch", "formula", "reference", "radius", "difference", "difference_error", "relative_error"]
OPINION += ["ulps", "verdict", "left", "right", "note"]
"""Columns of a check; `left` and `right` are the one-sided derivatives at a kink."""


def pieces(answer: results.Answer | results.ClosedForm, shown: Appearance) -> Iterator[str]:
    """Write vᵀJ, Hu or the gradient, J or the Hessian, Ju or y: a row an entry.

    Of several products, `v` counts them from 1; of passes that accumulate, `grad` is the content of `.grad` after each.
    Of a check, a row an opinion, then a row a claim.
    """
    header, rows = _table(printable(answer))
    everything = itertools.chain([header], rows)
    while block := list(itertools.islice(everything, MANY)):
        out = io.StringIO()
        csv.writer(out, delimiter="\t" if shown.form == "tsv" else ",", lineterminator="\n").writerows(block)
        yield out.getvalue()


def _table(answer: results.Answer | results.ClosedForm) -> tuple[Row, Iterable[Row]]:
    match answer:
        case results.Plot():
            return _curves(answer)
        case results.PlotMap(axes=axes, gradient=gradient, output=y):
            columns = [*np.meshgrid(*axes.values()), answer.values, *gradient.values()]
            header = [*axes, y, *(f"d{y}_d{name}" for name in axes)]
            return header, ([*map(digits, row)] for row in zip(*(one.ravel() for one in columns), strict=True))
        case results.ClosedForm():
            return ["derivative", "formula"], ([cell.label.text, cell.text] for cell in cells(answer))
        case results.Checking():
            return OPINION, _checking(answer)
        case results.Products():
            accumulates = answer.answers[0].accumulated is not None
            return ["v", "variable", "index", "value", *["grad"] * accumulates], _products(answer.answers)
        case results.VJP(accumulated=held) if held is not None:
            return ["variable", "index", "value", "grad"], (row for _, *row in _products([answer]))
    return _header(answer), _numbers(answer)


def _curves(plot: results.Plot) -> tuple[Row, Iterable[Row]]:
    """List a row for each point, with the marks and the ranges there in the last column."""
    found: list[tuple[float, float, str]] = [(mark.place, mark.place, mark.kind) for mark in plot.marks]
    found += [(span.low, span.high, span.kind) for span in plot.spans]
    columns = [plot.points, *(curve.values for curve in plot.curves)]
    rows = (
        [*map(digits, row), " ".join(dict.fromkeys(kind for low, high, kind in found if low <= row[0] <= high))]
        for row in zip(*columns, strict=True)
    )
    return [plot.variable, *(curve.column for curve in plot.curves), "mark"], rows


# -- entries


def _index(position: Sequence[int]) -> str:
    """Write an index in one cell.

    >>> _index((0, 1)), _index(())
    ('0 1', '')
    """
    return " ".join(map(str, position))


def _entries(head: list[str], *arrays: results.Array) -> Iterator[list[str]]:
    """List a row for each element, in row-major order: `head`, its index, and the numbers of all arrays there."""
    for position in np.ndindex(arrays[0].shape):
        yield [*head, _index(position), *(digits(array[position]) for array in arrays)]


# -- answers


def _products(answers: Sequence[results.VJP]) -> Iterator[list[str]]:
    for number, one in enumerate(answers, 1):
        for name in one.wrt:
            held = [] if one.accumulated is None else [one.accumulated[name]]
            yield from _entries([str(number), name], one.vjp[name], *held)


def _header(answer: results.Answer) -> Row:
    match answer:
        case results.Hessian():
            return ["row_variable", "row", "column_variable", "column", "value"]
        case results.Jacobian():
            return ["row", "variable", "column", "value"]
    return [*["variable"] * (not isinstance(answer, results.JVP | results.Evaluation)), "index", "value"]


def _numbers(answer: results.Answer) -> Iterator[list[str]]:
    """List the entries of vectors, and of matrices a row after the other."""
    for _, parts in groupby(answer.asked, key=lambda one: one.variable if len(one.axes) == 1 else one.by):
        members = list(parts)
        is_matrix = len(members[0].axes) > 1
        for row in np.ndindex(rows_of(answer, members[0]) if is_matrix else ()):
            head = [*filter(None, [members[0].by]), *([_index(row)] if is_matrix else [])]
            for one in members:
                yield from _entries([*head, *filter(None, [one.variable])], np.asarray(one.numbers[row]))


def _checking(answer: results.Checking) -> Iterator[list[str]]:
    """List the opinions, then the claims; of a refuted claim, the truth and a note with both values."""
    kind = np.dtype(answer.dtype).type
    for one in answer.opinions:
        numbers = [kind(one.torch), one.formula, one.reference, one.radius, one.difference, one.difference_error]
        numbers += [one.relative_error, one.ulps]
        sides = map(_number, one.one_sided or (None, None))
        yield [plain_entry(one, answer.output), *map(_number, numbers), one.verdict, *sides, one.note]
    for claim in answer.claims:
        found = dict.fromkeys(OPINION, "")
        found["entry"] = f"claim {claim.variable} = {' '.join(claim.text.split())}"
        found["reference"] = _number(claim.truth)
        found["verdict"] = status(claim).replace(" ", "-")
        found["note"] = in_ascii("; ".join(filter(None, (counterexample(claim), claim.mistake, claim.note))))
        yield list(found.values())


def _number(number: float | None) -> str:
    return "" if number is None else digits(number)

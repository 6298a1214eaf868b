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
from gradcli.report.numbers import MANY, digits, printable
from gradcli.report.render.plain import rows_of

Row = Sequence[str]


def pieces(answer: results.Answer, shown: Appearance) -> Iterator[str]:
    """Write vᵀJ, Hu or the gradient, J or the Hessian, Ju or y: a row an entry.

    Of several products, `v` counts them from 1; of passes that accumulate, `grad` is the content of `.grad` after each.
    """
    return table_text(*_table(printable(answer)), shown)


def table_text(header: Row, rows: Iterable[Row], shown: Appearance) -> Iterator[str]:
    """Write a table as comma-separated values, or separated by tabs, some rows at a time."""
    everything = itertools.chain([header], rows)
    while block := list(itertools.islice(everything, MANY)):
        out = io.StringIO()
        csv.writer(out, delimiter="\t" if shown.form == "tsv" else ",", lineterminator="\n").writerows(block)
        yield out.getvalue()


def _table(answer: results.Answer) -> tuple[Row, Iterable[Row]]:
    match answer:
        case results.Products():
            accumulates = answer.answers[0].accumulated is not None
            return ["v", "variable", "index", "value", *["grad"] * accumulates], _products(answer.answers)
        case results.VJP(accumulated=held) if held is not None:
            return ["variable", "index", "value", "grad"], (row for _, *row in _products([answer]))
    return _header(answer), _numbers(answer)


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

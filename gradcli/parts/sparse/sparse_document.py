"""A sparse matrix as a document: its shape, pattern, formula and verdict, its first and last entries, a picture."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from rich.text import Text

from gradcli import results
from gradcli.notation import Element, Named, second
from gradcli.report import document as doc, wording
from gradcli.report.compose.answers import Composer
from gradcli.report.compose.formula_tables import (
    code,
    cross_check,
    formula_blocks,
    formula_notes,
    formulas,
    long_formulas,
    note,
)
from gradcli.report.document import Screen, line, lines
from gradcli.results import SparseBlock, SparseHessian, SparseJacobian

MOST_SHOWN = 6
"""Most entries of a block that are listed: the first and the last."""

MOST_UNFOLDED = 100
"""The same with all tables."""

LINES, COLUMNS = 16, 32
"""Most lines, and most columns, of a picture, each of two characters."""

SparseAnswer = SparseJacobian | SparseHessian


def compose_sparse(answer: SparseAnswer, digits: int | None, *, is_full: bool) -> Iterator[doc.Node]:
    """Compose a sparse Jacobian or Hessian."""
    return _SparseComposer(digits, is_full).nodes(answer)


class _SparseComposer(Composer):
    """Composer of sparse matrices."""

    def nodes(self, answer: results.Answer) -> Iterator[doc.Node]:
        """Compose an answer from top to bottom."""
        assert isinstance(answer, SparseAnswer), "it composes nothing else"  # noqa: S101
        yield doc.Note(line(code(wording.statement(answer))))
        yield from [self._shapes(answer)] if answer.shapes else self._given(answer)
        is_pattern = any(one.value is None for one in answer.blocks)
        if not is_pattern:
            yield from long_formulas([*formula_blocks(answer)], formulas(answer) if self.is_full else None)
        yield facts(answer)
        if answer.is_picture or not self.is_full:
            yield doc.Chart(answer, partial(spy, answer))
        if not answer.is_picture:
            yield self._entries(answer)
        if is_pattern:
            return
        yield cross_check(answer.check, formula_blocks(answer), is_full=self.is_full)
        yield from formula_notes(answer)
        if answer.check is not None:
            yield from self.findings(answer.check, answer.output)
        yield from map(note, answer.remarks)

    def _shapes(self, answer: SparseAnswer) -> doc.Node:
        """Compose the shapes of a pattern that was asked for by them, and the values that it needed besides."""
        known = {name: array for name, array in answer.inputs.items() if not np.isnan(array).all()}
        values = {name: f" = {self.listed(array)}" for name, array in known.items()}
        return doc.Abreast(tuple(line(f"{n} {shape}{values.get(n, '')}") for n, shape in answer.shapes.items()))

    def _entries(self, answer: SparseAnswer) -> doc.Table:
        """Tabulate the first and the last entries of each block."""
        rows: list[tuple[doc.Line, ...] | None] = []
        most = MOST_UNFOLDED if self.is_full else MOST_SHOWN
        for block in answer.blocks:
            rows += (None if n is None else self._entry(answer, block, n) for n in _ends(len(block.row), most))
        header = ["", "value"] if any(one.value is not None for one in answer.blocks) else [""]
        return doc.Table(lines(*header), tuple(rows), is_numeric=True)

    def _entry(self, answer: SparseAnswer, block: SparseBlock, n: int) -> tuple[doc.Line, ...]:
        y, x = block.axes
        shape = answer.inputs[y].shape if isinstance(answer, SparseHessian) else answer.value.shape
        row = Element(y, tuple(int(k) for k in np.unravel_index(int(block.row[n]), shape)))
        column = Element(x, tuple(int(k) for k in np.unravel_index(int(block.column[n]), answer.inputs[x].shape)))
        name = (
            second(Named(answer.output), row, column)
            if isinstance(answer, SparseHessian)
            else wording.RATIO(row, column)
        )
        cells = [line(doc.Symbol(name))]
        if block.value is not None:
            cells.append(line(doc.Styled(self.number(block.value[n]), "strong")))
        return tuple(cells)


def _ends(count: int, most: int) -> Sequence[int | None]:
    """List all numbers up to a count, or those at the ends with None between."""
    half = most // 2
    return range(count) if count <= most else [*range(half), None, *range(count - half, count)]


def facts(answer: SparseAnswer) -> doc.Table:
    """Tabulate the size of the matrix, and what its pattern saves."""
    found = answer.sparsity
    height, width = found.shape
    part = 100 * found.entries / max(1, height * width)
    headers = ["shape", "entries not 0 by structure", "bandwidth"]
    below, above = found.bandwidth
    row = [
        line(f"{height:,} × {width:,}"),
        line(f"{found.entries:,} of {height * width:,}, {part:.3g} %"),
        line(f"{below:,} below, {above:,} above"),
    ]
    if found.products:
        headers.append("products")
        row.append(line(f"{found.products:,} instead of {found.usual:,}"))
    return doc.Table(lines(*headers), (tuple(row),))


# -- the picture

_SHADES, _ASCII_SHADES = " ░▒▓█", " .:*#"


def spy(answer: SparseAnswer, screen: Screen) -> Iterator[Text]:
    """Draw where the entries are: a sign for a part of the matrix, the darker the more of its entries there are."""
    shades = _ASCII_SHADES if screen.ascii else _SHADES
    counts, area = density(answer, LINES, min(COLUMNS, max(4, ((screen.width or 80) - 4) // 2)))
    full = counts / np.maximum(area, 1)
    known = full[full > 0]
    least, most = (float(known.min()), float(known.max())) if len(known) else (1.0, 1.0)
    for row in full.tolist():
        text = Text("  ")
        for one in row:
            # On a scale of logarithms, as a band fills little of a large part.
            step = 4 if one == most else 1 + int(3 * math.log(one / least) / math.log(most / least)) if one else 0
            _ = text.append(shades[step] * 2)
        text.rstrip()
        yield text
    if max(answer.sparsity.shape) > max(counts.shape):
        words = f"each sign is a part of {area.max():,.0f} entries at most, the darker the more of them are not 0"
        yield Text(screen.in_characters(words), screen.style("aside"))


def density(answer: SparseAnswer, lines_: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Count the entries in each part of the matrix, and all of the part: two arrays of two dimensions."""
    height, width = answer.sparsity.shape
    rows, cells = min(lines_, height), min(columns, width)
    counts = np.zeros(rows * cells)
    tops, lefts = starts(answer)
    for block in answer.blocks:
        i = (block.row.astype(np.int64) + tops[block.axes[0]]) * rows // height
        j = (block.column.astype(np.int64) + lefts[block.axes[1]]) * cells // width
        counts += np.bincount(i * cells + j, minlength=rows * cells)
    high = np.bincount(np.arange(height) * rows // height, minlength=rows)
    wide = np.bincount(np.arange(width) * cells // width, minlength=cells)
    return counts.reshape(rows, cells), high[:, None] * wide[None, :].astype(float)


def starts(answer: SparseAnswer) -> tuple[dict[str, int], dict[str, int]]:
    """Return the first row and the first column of each name whose elements these are, in the whole matrix."""
    found = []
    for side in (0, 1):
        sizes = {one.axes[side]: one.shape[side] for one in answer.blocks}
        found.append(dict(zip(sizes, np.cumsum([0, *sizes.values()]).tolist(), strict=False)))
    return found[0], found[1]

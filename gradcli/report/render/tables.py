"""Nodes as tables, for formats that have such: matrices with labels, formulas behind what they are of, facts."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gradcli.report import document as doc
from gradcli.report.document import lines
from gradcli.report.labels import index
from gradcli.report.numbers import digits, ends


def table(node: doc.Table | doc.Blocks | doc.Formulas | doc.FormulaMatrix | doc.Facts | doc.Glossary) -> doc.Table:
    """The node as rows below headers."""
    match node:
        case doc.Blocks():
            return _blocks(node)
        case doc.Formulas():
            return doc.Table(lines("", ""), tuple(lines(doc.Symbol(row.left), row.right) for row in node.rows))
        case doc.FormulaMatrix():
            rows = zip(node.rows, node.cells, strict=True)
            cells = tuple(lines(label, *(cell.right for cell in row)) for label, row in rows)
            return doc.Table(lines("", *node.columns), cells, is_numeric=True)
        case doc.Facts():
            return doc.Table(lines(*node.headers), tuple(lines(label, words) for label, words in node.rows))
        case doc.Glossary():
            return _glossary(node)
        case doc.Table():
            return node


def _blocks(node: doc.Blocks) -> doc.Table:
    """One matrix of all blocks, long axes by their ends."""
    rows = [(a, i, label) for a, axis in enumerate(node.rows) for i, label in labels(axis).items()]
    columns = [(b, j, label) for b, axis in enumerate(node.columns) for j, label in labels(axis).items()]
    cells = (
        [label, *(digits(node.blocks[a][b][1][i, j]) if i >= 0 <= j else "…" for b, j, _ in columns)]
        for a, i, label in rows
    )
    headers = lines("", *(label for _, _, label in columns))
    return doc.Table(headers, tuple(lines(*row) for row in cells), is_numeric=True)


def labels(axis: doc.Axis) -> dict[int, str]:
    """Flat positions with their names, `x[0]`, `x[1]`, …; only the ends of a long axis, -1 standing for the rest."""
    name, shape = axis.name, axis.shape
    return {
        n: "…" if n < 0 else name + index(tuple(int(i) for i in np.unravel_index(n, shape))) if shape else name
        for n in ends(math.prod(shape))
    }


def _glossary(node: doc.Glossary) -> doc.Table:
    """A row for the name of each group above its functions."""
    rows: list[tuple[doc.Line, ...]] = []
    for group, entries in node.groups:
        rows.append(lines(doc.Span(group, "strong"), (), ()))
        rows += (lines(doc.Span(one.usage, "code"), ", ".join(one.aliases), one.words) for one in entries)
    return doc.Table(lines(*node.headers), tuple(rows))


def products_table(products: Sequence[doc.Product]) -> doc.Table:
    """Vector-Jacobian products that are not drawn."""
    rows = (lines(one.variable, str(one.product.shape), doc.Numbers(one.product)) for one in products)
    return doc.Table(lines("", "shape", "vᵀJ"), tuple(rows))

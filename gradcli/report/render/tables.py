"""Nodes as tables, for formats that have such: matrices with labels, formulas behind what they are of, facts."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gradcli.report.document import (
    Axis,
    Blocks,
    Facts,
    FormulaMatrix,
    Formulas,
    Glossary,
    Line,
    Numbers,
    Product,
    Span,
    Symbol,
    Table,
    lines,
)
from gradcli.report.labels import index
from gradcli.report.numbers import digits, ends


def table(node: Table | Blocks | Formulas | FormulaMatrix | Facts | Glossary) -> Table:
    """The node as rows below headers."""
    match node:
        case Blocks():
            return _blocks(node)
        case Formulas():
            return Table(lines("", ""), tuple(lines(Symbol(row.left), row.right) for row in node.rows))
        case FormulaMatrix():
            rows = zip(node.rows, node.cells, strict=True)
            cells = tuple(lines(label, *(cell.right for cell in row)) for label, row in rows)
            return Table(lines("", *node.columns), cells, is_numeric=True)
        case Facts():
            return Table(lines(*node.headers), tuple(lines(label, words) for label, words in node.rows))
        case Glossary():
            return _glossary(node)
        case Table():
            return node


def _blocks(node: Blocks) -> Table:
    """One matrix of all blocks, long axes by their ends."""
    rows = [(a, i, label) for a, axis in enumerate(node.rows) for i, label in labels(axis).items()]
    columns = [(b, j, label) for b, axis in enumerate(node.columns) for j, label in labels(axis).items()]
    cells = (
        [label, *(digits(node.blocks[a][b][1][i, j]) if i >= 0 <= j else "…" for b, j, _ in columns)]
        for a, i, label in rows
    )
    headers = lines("", *(label for _, _, label in columns))
    return Table(headers, tuple(lines(*row) for row in cells), is_numeric=True)


def labels(axis: Axis) -> dict[int, str]:
    """Flat positions with their names, `x[0]`, `x[1]`, …; only the ends of a long axis, -1 standing for the rest."""
    name, shape = axis.name, axis.shape
    return {
        n: "…" if n < 0 else name + index(tuple(int(i) for i in np.unravel_index(n, shape))) if shape else name
        for n in ends(math.prod(shape))
    }


def _glossary(node: Glossary) -> Table:
    """A row for the name of each group above its functions."""
    rows: list[tuple[Line, ...]] = []
    for group, entries in node.groups:
        rows.append(lines(Span(group, "strong"), (), ()))
        rows += (lines(Span(one.usage, "code"), ", ".join(one.aliases), one.words) for one in entries)
    return Table(lines(*node.headers), tuple(rows))


def products_table(products: Sequence[Product]) -> Table:
    """Vector-Jacobian products that are not drawn."""
    rows = (lines(one.variable, str(one.product.shape), Numbers(one.product)) for one in products)
    return Table(lines("", "shape", "vᵀJ"), tuple(rows))

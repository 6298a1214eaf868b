"""A derivative in closed form as a document, as bare text, and as rows of CSV."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement

from gradcli.notation import HU, JU, PARTIAL, Named, Signs, second
from gradcli.option_words import Words, option
from gradcli.report import document as doc
from gradcli.report.appearance import Appearance
from gradcli.report.compose.formula_tables import (
    GRADIENT,
    MOST_ALONE,
    MOST_FINDINGS,
    MOST_FORMULAS,
    Block,
    all_formulas,
    code,
    cross_check,
    definitions,
    equations,
    formula_or_reason,
    formula_table,
    long_formulas,
    note,
    standing,
)
from gradcli.report.document import TONES, line
from gradcli.report.numbers import printable
from gradcli.report.render.csv import table_text
from gradcli.report.wording import NO_VARIABLE, statement
from gradcli.results import Cell, ClosedForm

WEIGHTED = Signs("grad_%s (v@%s)", "∇%s (vᵀ%s)", r"\nabla_{%s} (v^\top %s)")
"""Gradient of the product of the gradient vector with y."""


def plain(answer: ClosedForm, shown: Appearance) -> Iterator[str]:
    """Write each formula on a line."""
    yield from (f"{cell.text}\n" for cell in cells(printable(answer)))


def csv_rows(answer: ClosedForm, shown: Appearance) -> Iterator[str]:
    """Write each formula as a row."""
    rows = ([cell.label.text, cell.text] for cell in cells(printable(answer)))
    return table_text(["derivative", "formula"], rows, shown)


def cells(answer: ClosedForm) -> Iterator[Cell]:
    """List the formulas of the command's own quantity; of a Hessian, a block and its mirror image once."""
    blocks = answer.products.values() or [
        formula
        for (row, column), formula in answer.blocks.items()
        if row == "" or answer.wrt.index(row) <= answer.wrt.index(column)
    ]
    return (cell for formula in blocks for cell in formula.cells)


def compose_closed_form(answer: ClosedForm, digits: int | None, *, is_full: bool) -> Iterator[doc.Node]:
    """Compose formulas without numbers, and how to get the numbers."""
    yield doc.Note(line(code(statement(answer))))
    sizes = [f"{name} ({', '.join(shape)}{',' * (len(shape) == 1)})" for name, shape in answer.shapes.items() if shape]
    if sizes:
        yield doc.Abreast(tuple(map(line, sizes)))
    blocks = tuple(_blocks(answer))
    found = list(equations(blocks))
    if len(found) == 1 and not sizes:
        yield doc.Note(line(doc.Symbol(found[0].left), " = ", found[0].right, "   ", standing(answer.check.verdict)))
    elif found:
        yield from long_formulas(blocks, formula_table(blocks) if is_full else None, MOST_ALONE)
        extent = f"{answer.check.checked:,} at {answer.check.chosen}"
        yield cross_check(answer.check, blocks, is_full=is_full, extent=extent)
    yield from definitions(all_formulas(blocks))
    for finding in answer.check.findings[:MOST_FINDINGS]:
        yield doc.Note(line(doc.Styled(finding.note, TONES[finding.verdict])))
    yield from map(note, answer.remarks)
    names = [name for name in answer.shapes if name != answer.output]
    values = option("at", *(f"{name}=VALUE" for name in names[:MOST_FORMULAS])) + " ..." * (len(names) > MOST_FORMULAS)
    yield note(Words(f"for numbers, add {values}") if names else NO_VARIABLE)


def _blocks(answer: ClosedForm) -> Iterator[Block]:
    """List formulas and the reasons why others are missing; a block of a Hessian once."""
    y, command = Named(answer.output), answer.command
    yield from answer.products.values()
    single = [("", name) for name in (answer.wrt if command != "jvp" else ("",))]
    for row, column in combinations_with_replacement(answer.wrt, 2) if command == "hessian" else single:
        known = {"jvp": JU(), "hvp": HU(Named(column)), "hessian": second(y, Named(row), Named(column))}
        label = known.get(command) or PARTIAL(y, Named(column))
        if (row, column) in answer.blocks or column not in answer.matrices:
            yield formula_or_reason(label, answer.blocks.get((row, column)), answer.omitted.get((row, column)))
        if column in answer.matrices and (row in ("", column)):
            shown = {"jacobian": PARTIAL(y, Named(column)), "hessian": label}
            of = shown.get(command) or (WEIGHTED(Named(column), y) if answer.products else GRADIENT(Named(column), y))
            yield doc.EquationCell(of, doc.FormulaText(answer.matrices[column]))

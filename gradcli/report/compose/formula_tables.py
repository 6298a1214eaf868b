"""Formulas of an answer, the meanings of their names, and the verdict on them and on the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement

from gradcli import results
from gradcli.notation import HU, JU, PARTIAL, Named, Notation, Signs, second
from gradcli.option_words import Words, option
from gradcli.report import document as doc
from gradcli.report.document import TONES, line, lines
from gradcli.report.numbers import mark
from gradcli.report.wording import chosen, judged, undecided

MOST_FORMULAS, MOST_ALONE = 6, 12
"""Most formulas next to a verdict, with numbers and where nothing else was asked."""

LONG = 160
"""Most characters of formulas next to a verdict; longer ones stand above the numbers."""

LONGEST = 1_000
"""Most characters of a formula on a compact screen."""

MOST_FINDINGS = 3
"""Most disagreements put in sentences; the numbers of a matrix are marked besides."""

GRADIENT = Signs("grad_%s %s", "∇%s %s", r"\nabla_{%s} %s")
"""Gradient of a function by a variable."""

LOSS = Signs("loss", "loss", r"\mathit{loss}")()

Block = results.Formula | doc.EquationCell
"""A formula, or an equation whose right side is the reason why there is none."""

Blocks = Iterable[Block]
"""The formulas of an answer."""

_EQUATION = Signs("%s = %s", "%s = %s", "%s = %s")


def note(words: str) -> doc.Note:
    """Make a paragraph of our own words."""
    return doc.Note(line(words))


def code(words: str) -> doc.Styled:
    """Mark words as typed."""
    return doc.Styled(words, "code")


def known_columns(rows: Sequence[Mapping[str, doc.Line]]) -> doc.Table:
    """Tabulate the columns in which any row has words."""
    headers = [header for header in rows[0] if any(row[header] for row in rows)] if rows else []
    cells = tuple(tuple(row[header] for header in headers) for row in rows)
    return doc.Table(lines(*headers), cells)


# -- next to the verdict


def long_formulas(blocks: Blocks, whole: doc.Table | None, most: int = MOST_FORMULAS) -> Iterator[doc.Table]:
    """Tabulate formulas above the numbers: all in a table, or long ones alone; others are seen with the verdict.

    Args:
        blocks: The formulas.
        whole: The table of all of them; None in short.
        most: The most that are shown in short.
    """
    found = list(equations(blocks))
    if whole is not None and found:
        yield whole
    elif _is_long(found):
        header, cells = _formulas(found, most)
        yield doc.Table(lines(header), tuple(lines(cell) for cell in cells), is_folded=True)


def cross_check(check: results.Check | None, blocks: Blocks, *, is_full: bool, extent: str = "") -> doc.Table:
    """Tabulate the formulas unless they are above, the verdict, and its number of entries.

    Args:
        check: The check; None if not asked for.
        blocks: The formulas.
        is_full: Whether the formulas are above, long or not.
        extent: What the verdict covers; "" for the entries of the check.
    """
    found = [] if is_full else list(equations(blocks))
    headers, row = ["cross-check", "entries"], [line("not checked" if check is None else standing_of(check))]
    if check is None or extent:
        row.append(line(extent))
    else:
        covered = undecided(check) or f"{check.checked:,} of {check.entries:,}{', sampled' * check.sampled}"
        how = chosen(check) if is_full else ""
        row.append(line(f"{covered.removesuffix(', sampled')} ({how})" if how else covered))
        if is_full:
            error = check.max_relative_error
            row.append(line("none" if error is None else f"{error:.2g}"))
            headers.append("largest relative error")
    if not found or _is_long(found):
        return doc.Table(lines(*headers), (tuple(row),))
    header, cells = _formulas(found, MOST_ALONE if extent else MOST_FORMULAS)
    rows = (lines(cell, *(row if n == 0 else [()] * len(row))) for n, cell in enumerate(cells))
    return doc.Table(lines(header, *headers), tuple(rows), is_folded=True)


def _is_long(found: Sequence[doc.EquationCell]) -> bool:
    return sum(map(_length, found[:MOST_FORMULAS])) > LONG


def _length(one: doc.EquationCell) -> int:
    match one.right:
        case doc.FormulaText(notation=notation):
            return len(notation.pretty)
        case doc.Styled(words=words):
            return len(words)
    return 0


def _formulas(found: Sequence[doc.EquationCell], most: int) -> tuple[doc.Line, list[doc.Line]]:
    """List the first formulas, below a header; one alone has its name as the header."""
    if len(found) == 1:
        return line(doc.Symbol(found[0].left)), [line(_in_short(found[0]))]
    ordered = found if len(found) <= most else sorted(found, key=_is_zero)
    cells = [line(doc.Symbol(one.left), " = ", _in_short(one)) for one in ordered[:most]]
    cells += [line(Words(f"and {len(found) - most} more, which {option('full')} shows"))] * (len(found) > most)
    return line("formula"), cells


def _is_zero(one: doc.EquationCell) -> bool:
    """Tell whether a formula is 0, which of many formulas is shown last."""
    return isinstance(one.right, doc.FormulaText) and one.right.notation.text == "0"


def _in_short(one: doc.EquationCell) -> str | doc.Inline:
    length = _length(one)
    in_full = Words(f"a formula of {length:,} characters, which {option('full')} shows")
    return one.right if length <= LONGEST else in_full


def standing(
    verdict: results.Verdict, *, proven: bool = False, is_slight: bool = False, digits: int | None = None
) -> doc.Styled:
    """Write a verdict with its sign, in its colour."""
    said = judged(verdict, proven=proven, digits=digits)
    return doc.Styled(f"{mark(verdict, is_slight=is_slight)} {said}", TONES[verdict])


def of_asked(check: results.Check, answer: results.Answer) -> results.Check:
    """Return a check with the verdict on what was asked for alone.

    What it found of the value, and next to second derivatives of the first ones, is said below them; that a value is
    held constant, or that the code takes another branch beside the point, is of its derivative.
    """
    if isinstance(answer, results.Evaluation):
        return check
    beside = _BESIDE_SECOND if isinstance(answer, results.Hessian | results.HVP) else ("value",)
    own = tuple(one for one in check.findings if one.kind not in beside or one.verdict in ("cut", "kink"))
    is_of_findings = check.findings_count == len(check.findings) > len(own)
    if not is_of_findings or check.verdict not in {one.verdict for one in check.findings}:
        return check
    verdicts = [one.verdict for one in own]
    return replace(check, verdict=max(verdicts, key=results.SEVERITY.index, default="agree"), findings=own)


_BESIDE_SECOND = ("value", "jacobian", "vjp", "gradient")
"""Kinds of numbers that stand next to second derivatives."""


def standing_of(check: results.Check) -> doc.Styled:
    """Write the verdict of a check with its sign."""
    return standing(check.verdict, proven=check.proven, is_slight=check.is_slight, digits=check.digits)


# -- all formulas


def formulas(answer: results.Judged) -> doc.Table:
    """Tabulate the function and each formula, or the reason why there is none; or the formulas as a matrix."""
    blocks = [*formula_blocks(answer)]
    found = list(all_formulas(blocks))
    if (
        isinstance(answer, results.Differentiation)
        and len(found) == len(answer.wrt)
        and (matrix := _formula_matrix(found))
    ):
        return matrix
    rows: list[doc.EquationCell] = []
    if (loss := loss_of(answer)) is not None and loss.formula is not None:
        rows += map(_equation, loss.formula.cells)
    elif loss is not None:
        rows.append(doc.EquationCell(PARTIAL(LOSS, Named(answer.output)), doc.Styled(f"none: {loss.formula_omitted}")))
    return formula_table(blocks, rows)


def formula_table(blocks: Blocks, before: Sequence[doc.EquationCell] = ()) -> doc.Table:
    """Tabulate the function, some equations, and each formula, or the reason why there is none."""
    functions = [one.function for one in all_formulas(blocks) if one.function is not None]
    rows = [doc.EquationCell(left, doc.FormulaText(right)) for left, right in functions[:1]]
    rows += (*before, *equations(blocks))
    return doc.Table(lines("", "formula"), tuple(lines(doc.Symbol(row.left), row) for row in rows))


def _formula_matrix(found: Sequence[results.Formula]) -> doc.Table | None:
    """Arrange formulas as a matrix, if they are written out as the entries of one."""
    cells = {(cell.row, cell.column): cell for formula in found for cell in formula.brief}
    rows, columns = (list(dict.fromkeys(key[n] for key in cells)) for n in (0, 1))
    if len(rows) < 2 or len(cells) != len(rows) * len(columns):
        return None
    body = (lines(f"∂{row}", *(_equation(cells[row, column]) for column in columns)) for row in rows)
    return doc.Table(lines("J", *(f"∂/∂{column}" for column in columns)), tuple(body), is_numeric=True)


def loss_of(answer: results.Answer) -> results.Loss | None:
    """Get the loss that v comes from; None if v was given otherwise."""
    one = answer.answers[0] if isinstance(answer, results.Products) else answer
    found = getattr(one, "loss", None) if hasattr(type(one), "loss") else None
    return found if isinstance(found, results.Loss) else None


def formula_notes(answer: results.Answer) -> Iterator[doc.Note]:
    """Explain the names in formulas, and where the formulas were confirmed, each once."""
    shown = list(all_formulas(formula_blocks(answer)))
    yield from definitions(shown)
    yield from map(note, sorted({formula.note for formula in shown if formula.note}))


def definitions(found: Iterable[results.Formula]) -> Iterator[doc.Note]:
    """Define the names in formulas, each once: "where s[i] = ...", "and m = ..."."""
    known = {left.text: (left, right) for formula in found for left, right in formula.definitions}
    for n, (left, right) in enumerate(known.values()):
        yield doc.Note(line("and " if n else "where ", doc.FormulaText(_EQUATION(left, right))))


def all_formulas(blocks: Blocks) -> Iterator[results.Formula]:
    """List the formulas that there are."""
    return (found for found in blocks if isinstance(found, results.Formula))


def equations(blocks: Blocks) -> Iterator[doc.EquationCell]:
    """Pair the label of each formula with the formula, or with the reason why there is none."""
    for found in blocks:
        yield from [found] if isinstance(found, doc.EquationCell) else map(_equation, found.brief)


def _equation(cell: results.Cell) -> doc.EquationCell:
    return doc.EquationCell(cell.label, doc.FormulaText(cell.expression))


def formula_or_reason(label: Notation, found: results.Formula | None, why: str | None) -> Block:
    """Get a formula, or an equation with the reason why there is none."""
    return found or doc.EquationCell(label, doc.Styled(f"none: {why or ''}"))


def formula_blocks(answer: results.Answer) -> Iterator[Block]:
    """List formulas and the reasons why others are missing; a block of a Hessian once."""
    y = Named(answer.output)
    match answer:
        case results.JVP(symbolic=formula, symbolic_omitted=omitted):
            yield formula_or_reason(JU(), formula, omitted)
        case results.Hessian(symbolic=found, symbolic_omitted=why):
            for a, b in combinations_with_replacement(answer.wrt, 2):
                label = second(y, Named(a), Named(b))
                yield formula_or_reason(label, found.get(a, {}).get(b), why.get(a, {}).get(b))
        case results.HVP() | results.Differentiation():
            for name in answer.wrt:
                label = HU(Named(name)) if isinstance(answer, results.HVP) else PARTIAL(y, Named(name))
                yield formula_or_reason(label, answer.symbolic.get(name), answer.symbolic_omitted.get(name))

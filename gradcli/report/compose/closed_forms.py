"""Formulas of an answer, the meanings of their names, and the verdict on them and on the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations_with_replacement

from gradcli import results
from gradcli.notation import HU, JU, PARTIAL, Named, Notation, Signs, second
from gradcli.option_words import Words, option
from gradcli.report import document as doc
from gradcli.report.document import TONES, line, lines
from gradcli.report.numbers import mark
from gradcli.report.wording import NO_VARIABLE, chosen, judged, statement, undecided

MOST_FORMULAS = 6
"""Most formulas next to a verdict."""

LONG = 160
"""Most characters of formulas next to a verdict; longer ones stand above the numbers."""

LONGEST = 1_000
"""Most characters of a formula on a compact screen."""

MOST_FINDINGS = 3
"""Most disagreements put in sentences; the numbers of a matrix are marked besides."""

GRADIENT = Signs("grad_%s %s", "∇%s %s", r"\nabla_{%s} %s")
"""Gradient of a function by a variable."""

LOSS = Signs("loss", "loss", r"\mathit{loss}")()
_EQUATION = Signs("%s = %s", "%s = %s", "%s = %s")


def note(words: str) -> doc.Note:
    """Make a paragraph of our own words."""
    return doc.Note(line(words))


def code(words: str) -> doc.Styled:
    """Mark words as typed."""
    return doc.Styled(words, "code")


def closed_form(answer: results.ClosedForm, *, is_full: bool) -> Iterator[doc.Node]:
    """Compose formulas without numbers, and how to get the numbers."""
    yield doc.Note(line(code(statement(answer))))
    sizes = [f"{name} ({', '.join(shape)}{',' * (len(shape) == 1)})" for name, shape in answer.shapes.items() if shape]
    if sizes:
        yield doc.Abreast(tuple(map(line, sizes)))
    found = list(equations(answer))
    if len(found) == 1 and not sizes:
        yield doc.Note(line(doc.Symbol(found[0].left), " = ", found[0].right, "   ", standing(answer.check.verdict)))
    elif found:
        yield from long_formulas(answer, is_full=is_full)
        yield cross_check(answer, is_full=is_full)
    yield from definitions(all_formulas(answer))
    for finding in answer.check.findings[:MOST_FINDINGS]:
        yield doc.Note(line(doc.Styled(finding.note, TONES[finding.verdict])))
    yield from map(note, answer.remarks)
    names = [name for name in answer.shapes if name != answer.output]
    values = option("at", *(f"{name}=VALUE" for name in names[:MOST_FORMULAS])) + " ..." * (len(names) > MOST_FORMULAS)
    yield note(Words(f"for numbers, add {values}") if names else NO_VARIABLE)


# -- next to the verdict


def long_formulas(answer: results.Judged | results.ClosedForm, *, is_full: bool) -> Iterator[doc.Table]:
    """Tabulate all formulas; in short, only long ones, above the numbers, which are then seen with the verdict."""
    found = list(equations(answer))
    if is_full and found:
        yield formulas(answer)
    elif _is_long(found):
        header, cells = _formulas(found)
        yield doc.Table(lines(header), tuple(lines(cell) for cell in cells), is_folded=True)


def cross_check(answer: results.Judged | results.ClosedForm, *, is_full: bool) -> doc.Table:
    """Tabulate the formulas unless they are above, the verdict, and its number of entries."""
    check = answer.check
    found = [] if is_full else list(equations(answer))
    headers, extent = ["cross-check", "entries"], ""
    verdict = line("not checked" if check is None else standing_of(check))
    if check is not None:
        extent = undecided(check) or f"{check.checked:,} of {check.entries:,}{', sampled' * check.sampled}"
    if isinstance(answer, results.ClosedForm):
        extent = f"{answer.check.checked:,} at {answer.check.chosen}"
    row: list[doc.Line] = [verdict, line(extent)]
    if is_full and check is not None and not isinstance(answer, results.ClosedForm):
        error = check.max_relative_error
        if how := chosen(check):
            row[1] = line(f"{extent.removesuffix(', sampled')} ({how})")
        row.append(line("none" if error is None else f"{error:.2g}"))
        headers.append("largest relative error")
    if not found or _is_long(found):
        return doc.Table(lines(*headers), (tuple(row),))
    header, cells = _formulas(found)
    rows = (lines(cell, *(row if n == 0 else [(), ()])) for n, cell in enumerate(cells))
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


def _formulas(found: Sequence[doc.EquationCell]) -> tuple[doc.Line, list[doc.Line]]:
    """List the first formulas, below a header; one alone has its name as the header."""
    if len(found) == 1:
        return line(doc.Symbol(found[0].left)), [line(_in_short(found[0]))]
    cells = [line(doc.Symbol(one.left), " = ", _in_short(one)) for one in found[:MOST_FORMULAS]]
    if len(found) > MOST_FORMULAS:
        cells.append(line(f"and {len(found) - MOST_FORMULAS} more"))
    return line("formula"), cells


def _in_short(one: doc.EquationCell) -> str | doc.Inline:
    length = _length(one)
    in_full = Words(f"a formula of {length:,} characters, which {option('full')} shows")
    return one.right if length <= LONGEST else in_full


def standing(verdict: results.Verdict, *, proven: bool = False, is_minor: bool = False) -> doc.Styled:
    """Write a verdict with its sign, in its colour."""
    return doc.Styled(f"{mark(verdict, is_minor=is_minor)} {judged(verdict, proven=proven)}", TONES[verdict])


def standing_of(check: results.Check) -> doc.Styled:
    """Write the verdict of a check with its sign."""
    return standing(check.verdict, proven=check.proven, is_minor=check.verdict == "inaccurate" and check.is_minor)


# -- all formulas


def formulas(answer: results.Judged | results.ClosedForm) -> doc.Table:
    """Tabulate the function and each formula, or the reason why there is none; or the formulas as a matrix."""
    found = list(all_formulas(answer))
    if (
        isinstance(answer, results.Differentiation)
        and len(found) == len(answer.wrt)
        and (matrix := _formula_matrix(found))
    ):
        return matrix
    functions = [one.function for one in found if one.function is not None]
    rows = [doc.EquationCell(left, doc.FormulaText(right)) for left, right in functions[:1]]
    if (loss := loss_of(answer)) is not None and loss.formula is not None:
        rows += map(_equation, loss.formula.cells)
    elif loss is not None:
        rows.append(doc.EquationCell(PARTIAL(LOSS, Named(answer.output)), doc.Styled(f"none: {loss.formula_omitted}")))
    rows += equations(answer)
    return doc.Table(lines("", "formula"), tuple(lines(doc.Symbol(row.left), row) for row in rows))


def _formula_matrix(found: Sequence[results.Formula]) -> doc.Table | None:
    """Arrange formulas as a matrix, if they are written out as the entries of one."""
    cells = {(cell.row, cell.column): cell for formula in found for cell in formula.brief}
    rows, columns = (list(dict.fromkeys(key[n] for key in cells)) for n in (0, 1))
    if len(rows) < 2 or len(cells) != len(rows) * len(columns):
        return None
    body = (lines(f"∂{row}", *(_equation(cells[row, column]) for column in columns)) for row in rows)
    return doc.Table(lines("J", *(f"∂/∂{column}" for column in columns)), tuple(body), is_numeric=True)


def loss_of(answer: results.Answer | results.ClosedForm) -> results.Loss | None:
    """Get the loss that v comes from; None if v was given otherwise."""
    first = answer.answers[0] if isinstance(answer, results.Products) else answer
    return first.loss if isinstance(first, results.VJP | results.Explanation) else None


def formula_notes(answer: results.Answer) -> Iterator[doc.Note]:
    """Explain the names in formulas, and where the formulas were confirmed, each once."""
    shown = list(all_formulas(answer))
    yield from definitions(shown)
    yield from map(note, sorted({formula.note for formula in shown if formula.note}))


def definitions(found: Iterable[results.Formula]) -> Iterator[doc.Note]:
    """Define the names in formulas, each once: "where s[i] = ...", "and m = ..."."""
    known = {left.text: (left, right) for formula in found for left, right in formula.definitions}
    for n, (left, right) in enumerate(known.values()):
        yield doc.Note(line("and " if n else "where ", doc.FormulaText(_EQUATION(left, right))))


def all_formulas(answer: results.Answer | results.ClosedForm) -> Iterator[results.Formula]:
    """List all formulas of an answer."""
    return (found for found in _blocks(answer) if isinstance(found, results.Formula))


def equations(answer: results.Answer | results.ClosedForm) -> Iterator[doc.EquationCell]:
    """Pair the label of each formula with the formula, or with the reason why there is none."""
    for found in _blocks(answer):
        yield from [found] if isinstance(found, doc.EquationCell) else map(_equation, found.brief)


def _equation(cell: results.Cell) -> doc.EquationCell:
    return doc.EquationCell(cell.label, doc.FormulaText(cell.expression))


def _or_none(label: Notation, found: results.Formula | None, why: str | None) -> results.Formula | doc.EquationCell:
    """Get a formula, or an equation with the reason why there is none."""
    return found or doc.EquationCell(label, doc.Styled(f"none: {why or ''}"))


def _blocks(answer: results.Answer | results.ClosedForm) -> Iterator[results.Formula | doc.EquationCell]:
    """List formulas and the reasons why others are missing; a block of a Hessian once."""
    y = Named(answer.output)
    pairs = combinations_with_replacement(answer.wrt, 2)
    match answer:
        case results.ClosedForm(command=command, blocks=blocks, omitted=omissions):
            yield from answer.products.values()
            single = [("", name) for name in (answer.wrt if command != "jvp" else ("",))]
            for row, column in pairs if command == "hessian" else single:
                known = {"jvp": JU(), "hvp": HU(Named(column)), "hessian": second(y, Named(row), Named(column))}
                label = known.get(command) or PARTIAL(y, Named(column))
                yield _or_none(label, blocks.get((row, column)), omissions.get((row, column)))
                if column in answer.matrices:
                    yield doc.EquationCell(GRADIENT(Named(column), y), doc.FormulaText(answer.matrices[column]))
        case results.JVP(symbolic=formula, symbolic_omitted=omitted):
            yield _or_none(JU(), formula, omitted)
        case results.Hessian(symbolic=found, symbolic_omitted=why):
            for a, b in pairs:
                yield _or_none(second(y, Named(a), Named(b)), found.get(a, {}).get(b), why.get(a, {}).get(b))
        case results.HVP() | results.Differentiation():
            for name in answer.wrt:
                label = HU(Named(name)) if isinstance(answer, results.HVP) else PARTIAL(y, Named(name))
                yield _or_none(label, answer.symbolic.get(name), answer.symbolic_omitted.get(name))

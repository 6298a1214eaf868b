"""Parts that many documents have: the heading, quantities, formulas, the verdict, what may stand beside a product."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations_with_replacement

from gradcli.notation import HU, JU, PARTIAL, Form, Name, Notation, second
from gradcli.report import document as doc
from gradcli.report.document import TONES, line, lines
from gradcli.report.numbers import digits
from gradcli.report.wording import NO_ADJOINT, covered, entry, judged, readings, standing, statement
from gradcli.results import (
    HVP,
    JVP,
    VJP,
    Answer,
    Array,
    Cell,
    Check,
    Checking,
    ClosedForm,
    Differentiation,
    Entry,
    Formula,
    Hessian,
    Judged,
    Rewrite,
    Verdict,
)

PRODUCT = Form("vT d%s/d%s", "vᵀ ∂%s/∂%s", r"v^{T} \frac{\partial %s}{\partial %s}")
"""A vector-Jacobian product by one variable."""

GRADIENT = Form("grad_%s %s", "∇%s %s", r"\nabla_{%s} %s")
"""The gradient by a variable of a function."""

LOSS = Form("loss", "loss", r"\mathit{loss}")()
_V_IS = Form("v = %s", "v = %s", "v = %s")
_EQUATION = Form("%s = %s", "%s = %s", "%s = %s")
_BY_VARIABLE = Form("%s_%s", "%s_%s", "%s_{%s}")

Row = tuple[doc.Line, ...]


def title(*words: str | doc.Span | doc.Symbol) -> doc.Title:
    """A line above a part."""
    return doc.Title(line(*words))


def note(words: str) -> doc.Note:
    """A paragraph of our own words."""
    return doc.Note(line(words))


def code(words: str) -> doc.Span:
    """Words as they were typed."""
    return doc.Span(words, "code")


def symbol(name: str) -> doc.Symbol:
    """What something is called."""
    return doc.Symbol(Name(name))


def lying(array: Array) -> Array:
    """A vector as a row."""
    return array.reshape(1, -1) if array.ndim == 1 and array.size else array


# -- quantities


def quantity(label: str, name: Notation, array: Array) -> Row:
    """A row of a table of arrays: what it is, its shape, the array."""
    return lines(label, str(array.shape), doc.Equation(name, doc.Numbers(array)))


def quantities(header: str, rows: Iterable[Row], *, first: str = "", lead: str = "") -> doc.Table:
    """Arrays with their shapes."""
    return doc.Table(lines(first, "shape", header), tuple(rows), lead)


def named(arrays: Mapping[str, Array]) -> Iterator[Row]:
    """A row for each array by its own name."""
    return (quantity(name, Name(name), array) for name, array in arrays.items())


def gradient(grad: Mapping[str, Array], wrt: Sequence[str], y: str) -> Iterator[doc.Node]:
    """The gradient by variable."""
    yield title("the gradient")
    yield quantities("gradient", (quantity(name, GRADIENT(Name(name), Name(y)), grad[name]) for name in wrt))


def heading(answer: Answer) -> Iterator[doc.Node]:
    """The function, its inputs and its value."""
    yield title(code(statement(answer)))
    rows = [*named(answer.inputs), *named({answer.output: answer.value})]
    if isinstance(answer, VJP | Checking) and answer.v is not None:
        rows.append(quantity("v", Name("v"), answer.v))
    if isinstance(answer, JVP | HVP):
        is_one = len(answer.inputs) == 1 and "u" not in answer.inputs
        for name, array in answer.u.items():
            direction = Name("u") if is_one else _BY_VARIABLE(Name("u"), Name(name))
            rows.append(quantity("u" if is_one else f"u for {name}", direction, array))
    yield quantities(answer.dtype, rows, lead=f"in {answer.dtype}")


# -- formulas


def closed_form(answer: Differentiation) -> Iterator[doc.Node]:
    """The formulas, a matrix where they are written out, or why there are none."""
    yield title("the derivative in closed form")
    yield formulas(answer)
    yield from formula_notes(answer.symbolic.values())


def formulas(answer: Differentiation, *, may_be_matrix: bool = True) -> doc.Formulas | doc.FormulaMatrix:
    """A row for each formula, or for the reason why there is none."""
    shown = [answer.symbolic[name] for name in answer.wrt if name in answer.symbolic]
    function = next((formula.function for formula in answer.symbolic.values() if formula.function), None)
    is_whole = may_be_matrix and len(shown) == len(answer.wrt)
    matrix = formula_matrix("J", shown, function) if is_whole else None
    y = Name(answer.output)
    return matrix or doc.Formulas(
        tuple(
            row
            for name in answer.wrt
            for row in formula_rows(answer.symbolic.get(name), answer.symbolic_omitted, name, PARTIAL(y, Name(name)))
        ),
        function,
    )


def formula_rows(
    found: Formula | None, omitted: Mapping[str, str], key: str, label: Notation
) -> Iterator[doc.Equation]:
    """A formula cell by cell, or the reason why there is none."""
    if found is None:
        yield doc.Equation(label, doc.Span(f"none: {omitted[key]}"))
    else:
        yield from map(_equation, found.brief)


def _equation(cell: Cell) -> doc.Equation:
    return doc.Equation(cell.label, doc.Expression(cell.expression))


def formula_matrix(
    name: str, shown: Sequence[Formula], function: tuple[Notation, Notation] | None = None, row_label: str = "∂%s"
) -> doc.FormulaMatrix | None:
    """Formulas as a matrix, if they are written out as the entries of one."""
    cells = {(cell.row, cell.column): cell for formula in shown for cell in formula.brief}
    rows, columns = (list(dict.fromkeys(key[n] for key in cells)) for n in (0, 1))
    if len(rows) < 2 or len(cells) != len(rows) * len(columns):
        return None
    return doc.FormulaMatrix(
        name,
        tuple(row_label % row for row in rows),
        tuple(f"∂/∂{column}" for column in columns),
        tuple(tuple(_equation(cells[row, column]) for column in columns) for row in rows),
        function,
    )


def formula_notes(found: Iterable[Formula]) -> Iterator[doc.Note]:
    """What names in formulas stand for, and where these were confirmed, each once."""
    shown = list(found)
    yield from definitions(shown)
    yield from map(note, sorted({formula.note for formula in shown if formula.note}))


def definitions(found: Iterable[Formula]) -> Iterator[doc.Note]:
    """What names in formulas stand for, each once: where s[i] = ..., and m = ..."""
    known = {left.text: (left, right) for formula in found for left, right in formula.definitions}
    for n, (left, right) in enumerate(known.values()):
        yield doc.Note(line("and " if n else "where ", doc.Expression(_EQUATION(left, right))))


def all_formulas(answer: Answer | ClosedForm) -> Iterator[Formula]:
    """The formulas of an answer, whatever they are of."""
    match answer:
        case JVP(symbolic=formula):
            yield from [] if formula is None else [formula]
        case Hessian():
            yield from (formula for blocks in answer.symbolic.values() for formula in blocks.values())
        case HVP() | Differentiation():
            yield from answer.symbolic.values()
        case ClosedForm(products=products, blocks=blocks):
            yield from itertools.chain(products.values(), blocks.values())


def equations(answer: Judged | ClosedForm) -> Iterator[tuple[doc.Symbol, doc.Expression | doc.Span]]:
    """What each formula is of, and the formula or why there is none."""
    y = Name(answer.output)
    match answer:
        case ClosedForm(command=command, blocks=blocks, omitted=omissions):
            for name, formula in answer.products.items():
                yield from _cells(Name(f"{name}.grad"), formula, "")
            pairs = [pair for pair in combinations_with_replacement(answer.wrt, 2) if command == "hessian"]
            for row, column in pairs or [("", name) for name in (answer.wrt if command != "jvp" else ("",))]:
                label = {"jvp": JU(), "hvp": HU(Name(column)), "hessian": second(y, Name(row), Name(column))}
                named = label.get(command) or PARTIAL(y, Name(column))
                yield from _cells(named, blocks.get((row, column)), omissions.get((row, column), ""))
                if column in answer.matrices:
                    yield doc.Symbol(GRADIENT(Name(column), y)), doc.Expression(answer.matrices[column])
        case JVP(symbolic=formula, symbolic_omitted=omitted):
            yield from _cells(JU(), formula, omitted)
        case HVP():
            for name in answer.wrt:
                yield from _cells(HU(Name(name)), answer.symbolic.get(name), answer.symbolic_omitted.get(name, ""))
        case Hessian():
            for a, b in combinations_with_replacement(answer.wrt, 2):
                omitted = answer.symbolic_omitted.get(a, {}).get(b, "")
                yield from _cells(second(y, Name(a), Name(b)), answer.symbolic.get(a, {}).get(b), omitted)
        case Differentiation():
            for name in answer.wrt:
                omitted = answer.symbolic_omitted.get(name, "")
                yield from _cells(PARTIAL(y, Name(name)), answer.symbolic.get(name), omitted)


def _cells(
    label: Notation, formula: Formula | None, omitted: str
) -> Iterator[tuple[doc.Symbol, doc.Expression | doc.Span]]:
    if formula is None:
        yield doc.Symbol(label), doc.Span(f"none: {omitted}")
        return
    for cell in formula.brief:
        yield doc.Symbol(cell.label), doc.Expression(cell.expression)


# -- the verdict


def verdict(answer: Judged) -> Iterator[doc.Node]:
    """The verdict, what it covers, and what does not agree, if that was asked."""
    if answer.check is not None:
        yield from coverage(answer.check, readings(answer))
        yield from findings(answer.check, answer.output)


def coverage(check: Check, compared: str) -> Iterator[doc.Node]:
    """The verdict and what it covers."""
    yield title(f"the cross-check of {compared}")
    entries, error = covered(check)
    headers = lines("verdict", "entries checked", "largest relative error")
    shown = error if check.max_relative_error is None else number(error)
    yield doc.Table(headers, (lines(doc.Span(standing(check), TONES[check.verdict]), entries, shown),))
    yield from map(note, check.notes)


def findings(check: Check, y: str) -> Iterator[doc.Node]:
    """What does not agree, and how to write the function better."""
    if check.findings:
        more = check.findings_count - len(check.findings)
        yield title("what does not agree" + (f": the worst {len(check.findings)}, and {more:,} more" if more else ""))
        rows = tuple(
            lines(
                label(finding, y),
                doc.Span(judged(finding.verdict, proven=finding.proven), TONES[finding.verdict]),
                () if finding.torch is None else number(digits(finding.torch)),
                _truth(finding),
                finding.note,
            )
            for finding in check.findings
        )
        yield doc.Table(lines("entry", "verdict", "torch", "truth", "why"), rows, heads=(0, 1))
    yield from safe_form(check.rewrite)


def safe_form(rewrite: Rewrite | None) -> Iterator[doc.Node]:
    """How to write the function better, if that is known."""
    if rewrite is not None:
        yield title("a safe way to write it")
        yield doc.Note(line(code(rewrite.expression)))
        yield note(f"{rewrite.reason}; its verdict here is {rewrite.verdict}")


def judgement(before: str, words: str, verdict: Verdict, behind: str) -> doc.Line:
    """A verdict in a sentence."""
    return line(doc.Span(before, "strong"), doc.Span(words, TONES[verdict]), doc.Span(behind, "strong"))


def label(of: Entry, y: str) -> doc.Line:
    """What an entry is called, and at which of many points."""
    point = getattr(of, "point", None)
    return line(doc.Symbol(entry(of, y)), "" if point is None else f" at point {point}")


def number(shown: str) -> doc.Span:
    """The digits of a number."""
    return doc.Span(shown, "number")


def sides(one_sided: tuple[float, float]) -> doc.Line:
    """The derivatives from the left and from the right."""
    left, right = (number(digits(side)) for side in one_sided)
    return line("[", left, ", ", right, "]")


def _truth(finding: Entry) -> doc.Line:
    if finding.one_sided is not None:
        return sides(finding.one_sided)
    return line("none" if finding.reference is None else number(digits(finding.reference)))


# -- beside a product: the loss that v comes from, and what intermediates keep


def loss(answer: VJP) -> Iterator[doc.Node]:
    """The loss, its value, and that v is its derivative by y."""
    found = answer.loss
    if found is None:
        return
    yield title(code(f"loss = {found.expression}"), f", and v is its derivative by {answer.output}")
    partial = PARTIAL(LOSS, Name(answer.output))
    rows: list[Row] = [*named({name: array for name, array in found.inputs.items() if name not in answer.inputs})]
    rows.append(quantity("loss", LOSS, found.value))
    rows.append(quantity(f"v = {partial.pretty}", _V_IS(partial), found.v))
    if found.formula is None:
        rows.append(lines(doc.Symbol(partial), (), doc.Equation(partial, doc.Span(f"none: {found.formula_omitted}"))))
    else:
        for cell in found.formula.cells:
            rows.append(lines(doc.Symbol(cell.label), (), doc.Equation(cell.label, doc.Expression(cell.expression))))
    yield quantities(answer.dtype, rows)


def intermediates(answers: Sequence[Differentiation]) -> Iterator[doc.Node]:
    """Values and adjoints by name, an adjoint for each answer."""
    first = answers[0].intermediates
    if not first:
        return
    counts = len(answers) > 1
    yield title("intermediates, whose adjoints retain_grad() adds to .grad")
    rows = []
    for name, kept in first.items():
        for n, answer in enumerate(answers):
            grad = answer.intermediates[name].grad
            seen = [(), (), ()] if n else [name, str(kept.value.shape), doc.Numbers(kept.value)]
            rows.append(lines(*seen, *([str(n + 1)] * counts), "None" if grad is None else doc.Numbers(grad)))
    yield doc.Table(lines("", "shape", "value", *(["v"] * counts), "adjoint"), tuple(rows))
    if any(kept.grad is None for kept in first.values()):
        yield note(NO_ADJOINT)

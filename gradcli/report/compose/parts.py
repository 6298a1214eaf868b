"""Parts that many documents have: the heading, quantities, formulas, the verdict, what may stand beside a product."""

from __future__ import annotations

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


_CLOSED_FORM = {
    JVP: "the derivative along u in closed form",
    HVP: "the Hessian-vector product in closed form",
    Hessian: "the second derivatives in closed form",
}


def closed_form(answer: Judged) -> Iterator[doc.Node]:
    """The formulas, a matrix where they are written out, or why there are none."""
    yield title(_CLOSED_FORM.get(type(answer), "the derivative in closed form"))
    shown = formulas(answer)
    yield shown
    yield from formula_notes(all_formulas(answer))
    if isinstance(answer, Hessian) and isinstance(shown, doc.Formulas) and len(answer.wrt) > 1:
        yield note("the other blocks are the transposes of these")


def formulas(answer: Judged, *, may_be_matrix: bool = True) -> doc.Formulas | doc.FormulaMatrix:
    """A row for each formula, or for the reason why there is none."""
    found: list[Formula | None] = []
    matrix_name, row_label = "J", "∂%s"
    if isinstance(answer, Hessian):
        found = [answer.symbolic.get(a, {}).get(b) for a in answer.wrt for b in answer.wrt]
        matrix_name, row_label = "H", "∂/∂%s"
    elif isinstance(answer, Differentiation):
        found = [answer.symbolic.get(name) for name in answer.wrt]
    shown = [formula for formula in found if formula is not None]
    function = next((formula.function for formula in shown if formula.function), None)
    is_whole = may_be_matrix and len(shown) == len(found)
    matrix = _formula_matrix(matrix_name, row_label, shown, function) if is_whole else None
    return matrix or doc.Formulas(tuple(equations(answer)), function)


def _formula_matrix(
    name: str, row_label: str, shown: Sequence[Formula], function: tuple[Notation, Notation] | None
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
    return (formula for _, formula, _ in _blocks(answer) if isinstance(formula, Formula))


def equations(answer: Answer | ClosedForm) -> Iterator[doc.Equation]:
    """What each formula is of, and the formula or why there is none."""
    for label, found, omitted in _blocks(answer):
        match found:
            case Formula():
                yield from map(_equation, found.brief)
            case Notation():
                yield doc.Equation(label, doc.Expression(found))
            case None:
                yield doc.Equation(label, doc.Span(f"none: {omitted}"))


def _equation(cell: Cell) -> doc.Equation:
    return doc.Equation(cell.label, doc.Expression(cell.expression))


def _blocks(answer: Answer | ClosedForm) -> Iterator[tuple[Notation, Formula | Notation | None, str]]:
    """What each formula of an answer is of, the formula, and why there is none; a block of a Hessian once."""
    y = Name(answer.output)
    pairs = combinations_with_replacement(answer.wrt, 2)
    match answer:
        case ClosedForm(command=command, blocks=blocks, omitted=omissions):
            yield from ((Name(f"{name}.grad"), formula, "") for name, formula in answer.products.items())
            single = [("", name) for name in (answer.wrt if command != "jvp" else ("",))]
            for row, column in pairs if command == "hessian" else single:
                known = {"jvp": JU(), "hvp": HU(Name(column)), "hessian": second(y, Name(row), Name(column))}
                label = known.get(command) or PARTIAL(y, Name(column))
                yield label, blocks.get((row, column)), omissions.get((row, column), "")
                if column in answer.matrices:
                    yield GRADIENT(Name(column), y), answer.matrices[column], ""
        case JVP(symbolic=formula, symbolic_omitted=omitted):
            yield JU(), formula, omitted
        case Hessian(symbolic=found, symbolic_omitted=why):
            for a, b in pairs:
                yield second(y, Name(a), Name(b)), found.get(a, {}).get(b), why.get(a, {}).get(b, "")
        case HVP() | Differentiation():
            for name in answer.wrt:
                label = HU(Name(name)) if isinstance(answer, HVP) else PARTIAL(y, Name(name))
                yield label, answer.symbolic.get(name), answer.symbolic_omitted.get(name, "")


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

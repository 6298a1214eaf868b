"""Parts that many documents have: the heading, quantities, formulas, the verdict and what does not agree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gradcli.notation import Form, Name, Notation
from gradcli.notation.trees import PARTIAL
from gradcli.report.document import (
    TONES,
    Equation,
    Expression,
    FormulaMatrix,
    Formulas,
    Line,
    Node,
    Note,
    Numbers,
    Span,
    Symbol,
    Table,
    Title,
    line,
    lines,
)
from gradcli.report.labels import entry
from gradcli.report.numbers import digits
from gradcli.report.wording import covered, judged, readings, standing, statement
from gradcli.results import (
    HVP,
    JVP,
    VJP,
    Answer,
    Array,
    Check,
    Checking,
    Differentiation,
    Finding,
    Formula,
    Judged,
    Opinion,
    Rewrite,
)

PRODUCT = Form("vT d%s/d%s", "vᵀ ∂%s/∂%s", r"v^{T} \frac{\partial %s}{\partial %s}")
"""A vector-Jacobian product by one variable."""

GRADIENT = Form("grad_%s %s", "∇%s %s", r"\nabla_{%s} %s")
"""The gradient by a variable of a function."""

_BY_VARIABLE = Form("%s_%s", "%s_%s", "%s_{%s}")

Row = tuple[Line, ...]


def title(*words: str | Span | Symbol) -> Title:
    """A line above a part."""
    return Title(line(*words))


def note(words: str) -> Note:
    """A paragraph of our own words."""
    return Note(line(words))


def code(words: str) -> Span:
    """Words as they were typed."""
    return Span(words, "code")


def symbol(name: str) -> Symbol:
    """What something is called."""
    return Symbol(Name(name))


def lying(array: Array) -> Array:
    """A vector as a row."""
    return array.reshape(1, -1) if array.ndim == 1 and array.size else array


# -- quantities


def quantity(label: str, name: Notation, array: Array, *more: Equation) -> Row:
    """A row of a table of arrays: what it is, its shape, the array."""
    return lines(label, str(array.shape), Equation(name, Numbers(array)), *more)


def quantities(header: str, rows: Iterable[Row], *, first: str = "", lead: str = "") -> Table:
    """Arrays with their shapes."""
    return Table(lines(first, "shape", header), tuple(rows), lead)


def named(arrays: Mapping[str, Array]) -> Iterator[Row]:
    """A row for each array by its own name."""
    return (quantity(name, Name(name), array) for name, array in arrays.items())


def gradient(grad: Mapping[str, Array], wrt: Sequence[str], y: str) -> Iterator[Node]:
    """The gradient by variable."""
    yield title("the gradient")
    yield quantities("gradient", (quantity(name, GRADIENT(Name(name), Name(y)), grad[name]) for name in wrt))


def heading(answer: Answer) -> Iterator[Node]:
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


def closed_form(answer: Differentiation) -> Iterator[Node]:
    """The formulas, a matrix where they are written out, or why there are none."""
    yield title("the derivative in closed form")
    yield formulas(answer)
    yield from formula_notes(answer.symbolic.values())


def formulas(answer: Differentiation, *, may_be_matrix: bool = True) -> Formulas | FormulaMatrix:
    """A row for each formula, or for the reason why there is none."""
    shown = [answer.symbolic[name] for name in answer.wrt if name in answer.symbolic]
    function = next((formula.function for formula in answer.symbolic.values() if formula.function), None)
    is_whole = may_be_matrix and len(shown) == len(answer.wrt)
    matrix = formula_matrix("J", shown, function) if is_whole else None
    y = Name(answer.output)
    return matrix or Formulas(
        tuple(
            row
            for name in answer.wrt
            for row in formula_rows(answer.symbolic.get(name), answer.symbolic_omitted, name, PARTIAL(y, Name(name)))
        ),
        function,
    )


def formula_rows(found: Formula | None, omitted: Mapping[str, str], key: str, label: Notation) -> Iterator[Equation]:
    """A formula cell by cell, or the reason why there is none."""
    if found is None:
        yield Equation(label, Span(f"none: {omitted[key]}"))
    else:
        yield from (Equation(cell.label, Expression(cell.expression)) for cell in found.cells)


def formula_matrix(
    name: str, shown: Sequence[Formula], function: tuple[Notation, Notation] | None = None, row_label: str = "∂%s"
) -> FormulaMatrix | None:
    """Formulas as a matrix, if they are written out as the entries of one."""
    cells = {(cell.row, cell.column): cell for formula in shown for cell in formula.cells}
    rows, columns = (list(dict.fromkeys(key[n] for key in cells)) for n in (0, 1))
    if len(rows) < 2 or len(cells) != len(rows) * len(columns):
        return None
    return FormulaMatrix(
        name,
        tuple(row_label % row for row in rows),
        tuple(f"∂/∂{column}" for column in columns),
        tuple(
            tuple(Equation((cell := cells[row, column]).label, Expression(cell.expression)) for column in columns)
            for row in rows
        ),
        function,
    )


def formula_notes(found: Iterable[Formula]) -> Iterator[Note]:
    """Where formulas were confirmed, each remark once."""
    return map(note, sorted({formula.note for formula in found if formula.note}))


# -- the verdict


def verdict(answer: Judged) -> Iterator[Node]:
    """The verdict, what it covers, and what does not agree, if that was asked."""
    if answer.check is not None:
        yield from coverage(answer.check, readings(answer))
        yield from findings(answer.check, answer.output)


def coverage(check: Check, compared: str) -> Iterator[Node]:
    """The verdict and what it covers."""
    yield title(f"the cross-check of {compared}")
    entries, error = covered(check)
    headers = lines("verdict", "entries checked", "largest relative error")
    shown = error if check.max_relative_error is None else number(error)
    yield Table(headers, (lines(Span(standing(check), TONES[check.verdict]), entries, shown),))
    yield from map(note, check.notes)


def findings(check: Check, y: str) -> Iterator[Node]:
    """What does not agree, and how to write the function better."""
    if check.findings:
        more = check.findings_count - len(check.findings)
        yield title("what does not agree" + (f": the worst {len(check.findings)}, and {more:,} more" if more else ""))
        rows = tuple(
            lines(
                label(finding, y),
                Span(judged(finding.verdict, proven=finding.proven), TONES[finding.verdict]),
                () if finding.torch is None else number(digits(finding.torch)),
                _truth(finding),
                finding.note,
            )
            for finding in check.findings
        )
        yield Table(lines("entry", "verdict", "torch", "truth", "why"), rows, heads=(0, 1))
    yield from safe_form(check.rewrite)


def safe_form(rewrite: Rewrite | None) -> Iterator[Node]:
    """How to write the function better, if that is known."""
    if rewrite is not None:
        yield title("a safe way to write it")
        yield Note(line(code(rewrite.expression)))
        yield note(f"{rewrite.reason}; its verdict here is {rewrite.verdict}")


def label(of: Finding | Opinion, y: str) -> Line:
    """What an entry is called, and at which of many points."""
    point = getattr(of, "point", None)
    return line(Symbol(entry(of, y)), "" if point is None else f" at point {point}")


def number(shown: str) -> Span:
    """The digits of a number."""
    return Span(shown, "number")


def sides(one_sided: tuple[float, float]) -> Line:
    """The derivatives from the left and from the right."""
    left, right = (number(digits(side)) for side in one_sided)
    return line("[", left, ", ", right, "]")


def _truth(finding: Finding) -> Line:
    """The number, or at a kink those of both sides."""
    if finding.one_sided is not None:
        return sides(finding.one_sided)
    return line("none" if finding.reference is None else number(digits(finding.reference)))

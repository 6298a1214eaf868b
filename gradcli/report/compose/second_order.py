"""Answers of jvp, hessian and hvp."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement

from gradcli.notation import HU, JU, Name, second
from gradcli.report import document as doc
from gradcli.report.compose.parts import (
    formula_matrix,
    formula_notes,
    formula_rows,
    gradient,
    heading,
    note,
    quantities,
    quantity,
    title,
    verdict,
)
from gradcli.report.numbers import LONG
from gradcli.report.wording import NO_VARIABLE
from gradcli.results import HVP, JVP, Hessian


def document(answer: JVP | Hessian | HVP) -> Iterator[doc.Node]:
    """The function, the quantity asked for, formulas and the verdict."""
    yield from heading(answer)
    if not answer.wrt:
        yield note(NO_VARIABLE)
        return
    match answer:
        case JVP():
            yield from _jvp(answer)
        case Hessian():
            yield from gradient(answer.grad, answer.wrt, answer.output)
            yield from _hessian(answer)
        case HVP():
            yield from gradient(answer.grad, answer.wrt, answer.output)
            yield from _hvp(answer)
    yield from verdict(answer)


def _jvp(answer: JVP) -> Iterator[doc.Node]:
    yield title("Ju, the Jacobian-vector product")
    yield quantities("Ju", [quantity(answer.output, JU(), answer.jvp)])
    yield title("the derivative along u in closed form")
    yield doc.Formulas(tuple(formula_rows(answer.symbolic, {"": answer.symbolic_omitted}, "", JU())))
    yield from formula_notes([answer.symbolic] if answer.symbolic else [])


def _hvp(answer: HVP) -> Iterator[doc.Node]:
    yield title("Hu, the Hessian-vector product")
    yield quantities("Hu", (quantity(name, HU(Name(name)), answer.hvp[name]) for name in answer.wrt))
    yield title("the Hessian-vector product in closed form")
    shown, omitted = answer.symbolic, answer.symbolic_omitted
    rows = (row for name in answer.wrt for row in formula_rows(shown.get(name), omitted, name, HU(Name(name))))
    yield doc.Formulas(tuple(rows))
    yield from formula_notes(shown.values())


def _hessian(answer: Hessian) -> Iterator[doc.Node]:
    """All blocks as one matrix, and their formulas."""
    y, sizes = Name(answer.output), {name: answer.grad[name].size for name in answer.wrt}
    total = sum(sizes.values())
    shown = f": {total:,} × {total:,} entries" if total * total > LONG else ""
    yield title(f"the Hessian of {answer.output} by {', '.join(answer.wrt)}{shown}")
    if total:
        axes = tuple(doc.Axis(name, answer.grad[name].shape) for name in answer.wrt)
        yield doc.Blocks(
            axes,
            axes,
            tuple(
                tuple(
                    (second(y, Name(a), Name(b)), answer.hessian[a][b].reshape(sizes[a], sizes[b])) for b in answer.wrt
                )
                for a in answer.wrt
            ),
        )
    else:
        yield note("empty, as there are no elements to differentiate by")
    yield title("the second derivatives in closed form")
    yield from _formulas(answer)


def _formulas(answer: Hessian) -> Iterator[doc.Node]:
    """The formulas as a matrix where they fit one, else a block a row; those below the diagonal are transposes."""
    found = [answer.symbolic.get(a, {}).get(b) for a in answer.wrt for b in answer.wrt]
    shown = [block for block in found if block is not None]
    matrix = formula_matrix("H", shown, row_label="∂/∂%s") if len(shown) == len(found) else None
    if matrix is not None:
        yield matrix
        yield from formula_notes(shown)
        return
    y, pairs = Name(answer.output), list(combinations_with_replacement(answer.wrt, 2))
    blocks = [(a, b, answer.symbolic.get(a, {}).get(b)) for a, b in pairs]
    omitted = answer.symbolic_omitted
    rows = (
        row for a, b, block in blocks for row in formula_rows(block, omitted.get(a, {}), b, second(y, Name(a), Name(b)))
    )
    yield doc.Formulas(tuple(rows))
    yield from formula_notes(block for _, _, block in blocks if block is not None)
    if len(answer.wrt) > 1:
        yield note("the other blocks are the transposes of these")

"""Answers at many points: a row a point, the Jacobian of each as a small matrix in its cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gradcli.report.compose.derivatives import ending
from gradcli.report.compose.parts import code, named, note, quantities, title
from gradcli.report.document import Node, Numbers, Table, lines
from gradcli.report.numbers import ends
from gradcli.report.wording import NO_VARIABLE, at_points, statement
from gradcli.results import VJP, Answer, Array, Differentiation, Gradient, Jacobian


def document(answer: Answer) -> Iterator[Node]:
    """What is the same at each point, the points, formulas and the verdict."""
    yield title(code(statement(answer)), f"  at {at_points(answer)}")
    same = {name: array for name, array in answer.inputs.items() if name not in answer.points_of}
    if same:
        yield quantities(
            answer.dtype, named(same), first="the same at each", lead=f"the same at each, in {answer.dtype}"
        )
    if isinstance(answer, Differentiation) and not answer.wrt:
        yield note(NO_VARIABLE)
        return
    yield _points(answer, answer.points or 0)
    yield from map(note, answer.remarks)
    yield from ending(answer)


def _points(answer: Answer, count: int) -> Table:
    """A row for each point, or for those at the ends."""
    columns = _columns(answer, count)
    rows = (
        lines(str(point), *(Numbers(array[point]) for array in columns.values())) if point >= 0 else None
        for point in ends(count)
    )
    return Table(lines("point", *columns), tuple(rows), heads=(0,), has_rules=True)


def _columns(answer: Answer, count: int) -> Mapping[str, Array]:
    """What there is to show of each point, by its header."""
    y = answer.output
    found = {name: answer.inputs[name] for name in answer.points_of} | {y: answer.value}
    match answer:
        case VJP():
            found |= {"v": answer.v} | {f"vᵀJ {name}": answer.vjp[name] for name in answer.wrt}
        case Gradient():
            found |= {f"gradient {name}": answer.grad[name] for name in answer.wrt}
        case Jacobian(jacobian=blocks) if blocks is not None:
            rows = answer.value.size // count
            for name in answer.wrt:
                block = blocks[name]
                is_matrix = answer.value.ndim > 1 and block.ndim > answer.value.ndim
                found[f"∂{y}/∂{name}"] = (
                    block.reshape(count, rows, block.size // max(1, count * rows)) if is_matrix else block
                )
    return found

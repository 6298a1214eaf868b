"""Answers that differentiate, and of eval: by one v or by several, at one point or at many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import starmap

from gradcli.notation import HU, JU, PARTIAL, Form, Name, joined, second
from gradcli.report import document as doc
from gradcli.report.compose.parts import (
    GRADIENT,
    LOSS,
    PRODUCT,
    Row,
    closed_form,
    code,
    heading,
    intermediates,
    loss,
    lying,
    named,
    note,
    quantities,
    quantity,
    title,
    verdict,
)
from gradcli.report.document import lines
from gradcli.report.numbers import LONG, ends
from gradcli.report.wording import NO_ELEMENTS, NO_VARIABLE, RATIO, accumulating, at_points, diagonal, statement
from gradcli.results import (
    HVP,
    JVP,
    VJP,
    Answer,
    Array,
    Differentiation,
    Evaluation,
    Gradient,
    Hessian,
    Jacobian,
    Judged,
    Products,
)

_BY_SEVERAL = Form("d%s/d%s", "∂%s/∂%s", r"\partial %s / \partial (%s)")


def one_point(answer: Answer) -> Iterator[doc.Node]:
    """The function, the quantity asked for, the Jacobian or the Hessian, formulas and the verdict."""
    yield from heading(answer)
    if not answer.wrt and not isinstance(answer, Evaluation):
        yield note(NO_VARIABLE)
        return
    yield from _quantity(answer)
    yield from map(note, answer.remarks)
    if isinstance(answer, Differentiation):
        yield from intermediates(answer.answers if isinstance(answer, Products) else [answer])
    if isinstance(answer, Differentiation) and not isinstance(answer, Gradient):
        yield from _jacobian(answer)
    if isinstance(answer, Hessian):
        yield from _hessian(answer)
    yield from _ending(answer)


def _quantity(answer: Answer) -> Iterator[doc.Node]:
    match answer:
        case VJP():
            yield from loss(answer)
            yield title("vᵀJ, the vector-Jacobian product")
            yield _products(answer)
        case Products():
            yield from _several(answer)
        case JVP():
            yield title("Ju, the Jacobian-vector product")
            yield quantities("Ju", [quantity(answer.output, JU(), answer.jvp)])
        case Gradient() | Hessian() | HVP():
            yield title("the gradient")
            rows = ((name, GRADIENT(Name(name), Name(answer.output)), answer.grad[name]) for name in answer.wrt)
            yield quantities("gradient", starmap(quantity, rows))
    if isinstance(answer, HVP):
        yield title("Hu, the Hessian-vector product")
        yield quantities("Hu", (quantity(name, HU(Name(name)), answer.hvp[name]) for name in answer.wrt))


def _ending(answer: Answer) -> Iterator[doc.Node]:
    """Formulas and the verdict."""
    if isinstance(answer, Judged) and not isinstance(answer, Evaluation):
        yield from closed_form(answer)
    if isinstance(answer, Differentiation) and (words := diagonal(answer)):
        yield note(words)
    if isinstance(answer, Judged):
        yield from verdict(answer)


def _products(answer: VJP) -> doc.Table:
    """vᵀJ by variable, beside the gradient of the loss of the whole in one go."""
    headers = ["", "shape", "vᵀJ", *(["gradient of the loss in one go"] if answer.loss else [])]
    return doc.Table(lines(*headers), tuple(_product(answer, name) for name in answer.wrt))


def _product(answer: VJP, name: str) -> Row:
    product, block = answer.vjp[name], (answer.jacobian or {}).get(name)
    is_written_out = block is not None and block.ndim == 2 and product.ndim == 1
    factors = (doc.Numbers(lying(answer.v)), doc.Numbers(block)) if block is not None and is_written_out else ()
    cells = [doc.Equation(PRODUCT(Name(answer.output), Name(name)), doc.Numbers(lying(product)), factors)]
    if answer.loss is not None:
        cells.append(doc.Equation(GRADIENT(Name(name), LOSS), doc.Numbers(answer.loss.gradient[name])))
    return lines(name, str(product.shape), *cells)


def _jacobian(answer: Differentiation) -> Iterator[doc.Node]:
    """The blocks as one matrix, or why they are left out."""
    y = answer.output
    if answer.jacobian is None or answer.value.size == 0:
        yield title("the Jacobian")
        yield note(f"left out: {answer.jacobian_omitted}" if answer.jacobian is None else NO_ELEMENTS)
        return
    shapes = [answer.jacobian[name].shape for name in answer.wrt]
    entries = sum(answer.jacobian[name].size for name in answer.wrt)
    size = f": {entries:,} entries, shape {', '.join(map(str, shapes))}" if entries > LONG else ""
    by = joined([Name(name) for name in answer.wrt])
    yield title("the Jacobian ", doc.Symbol((RATIO if len(answer.wrt) == 1 else _BY_SEVERAL)(Name(y), by)), size)
    rows = answer.value.size
    yield doc.Blocks(
        (doc.Axis(y, answer.value.shape),),
        tuple(doc.Axis(name, shape[answer.value.ndim :]) for name, shape in zip(answer.wrt, shapes, strict=True)),
        (tuple((PARTIAL(Name(y), Name(name)), answer.jacobian[name].reshape(rows, -1)) for name in answer.wrt),),
    )


# -- at many points


def many_points(answer: Answer) -> Iterator[doc.Node]:
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
    yield from _ending(answer)


def _points(answer: Answer, count: int) -> doc.Table:
    """A row for each point, or for those at the ends."""
    columns = points_columns(answer, count)
    rows = (
        lines(str(point), *(doc.Numbers(array[point]) for array in columns.values())) if point >= 0 else None
        for point in ends(count)
    )
    return doc.Table(lines("point", *columns), tuple(rows), heads=(0,), has_rules=True)


def points_columns(answer: Answer, count: int) -> Mapping[str, Array]:
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


# -- by several v


def _several(answer: Products) -> Iterator[doc.Node]:
    """The products, and what the passes add up to."""
    first = answer.answers[0]
    yield from loss(first)
    accumulates = first.accumulated is not None
    what = ", and .grad after each pass" if accumulates else " for each v"
    yield title(f"vᵀJ, the vector-Jacobian product{what}")
    yield _each_product(answer, accumulates=accumulates)
    if first.accumulated:
        yield note(accumulating(answer))


def _each_product(answer: Products, *, accumulates: bool) -> doc.Table:
    """A row a v; a column a variable, and one for what its `.grad` holds."""
    headers = [f"vᵀJ: {name}" for name in answer.wrt] if len(answer.wrt) > 1 else ["vᵀJ"]
    after = [f"{name}.grad after" for name in answer.wrt] if accumulates else []
    rows = []
    for number, one in enumerate(answer.answers):
        held = [one.accumulated[name] for name in answer.wrt] if one.accumulated is not None else []
        cells = [one.v, *(one.vjp[name] for name in answer.wrt), *held]
        rows.append(lines(str(number + 1), *map(doc.Numbers, cells)))
    return doc.Table(lines("", "v", *headers, *after), tuple(rows))


# -- twice


def _hessian(answer: Hessian) -> Iterator[doc.Node]:
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

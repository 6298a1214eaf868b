"""The command's own quantity alone, for shell arithmetic: numbers separated by spaces, one row a line."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from gradcli.report.data.quantities import by_variable
from gradcli.report.labels import plain_entry, status
from gradcli.report.numbers import digits, spaced
from gradcli.results import (
    JVP,
    VJP,
    Answer,
    Array,
    BackwardGraph,
    Checking,
    Explanation,
    Functions,
    Hessian,
    Jacobian,
    Listing,
    Products,
)


def pieces(answer: Answer | Functions) -> Iterator[str]:
    """VᵀJ, Hu or the gradient, variable after variable in the order of `wrt`; J or the Hessian as one matrix; Ju; y.

    Of several products, those of each v one after the other; of passes that accumulate, what `.grad` holds after each.
    Of a check, a line an opinion: verdict, entry, torch's number, the truth or `none`; then a line a claim: `proved`,
    `agrees`, `no-counterexample`, `not-compared` or `refuted`, the variable, the claim.  Of functions, a name a line;
    of a brief list, a line a group.  At many points, a row a point, with all variables in it; of Jacobians, one below
    the other.  Of an explanation, a line a step, `y = x**2 = 1 4`, then v, then a line an adjoint.
    Of a graph, a line an edge: `0 MulBackward0 -> 1 AccumulateGrad x`.
    """
    match answer:
        case Functions():
            yield from (f"{line}\n" for line in _functions(answer))
        case Checking():
            yield from (f"{line}\n" for line in _checking(answer))
        case Products(points=None):
            yield from itertools.chain.from_iterable(map(pieces, answer.answers))
        case Explanation():
            yield from (f"{line}\n" for line in _explanation(answer))
        case BackwardGraph():
            yield from (f"{line}\n" for line in _edges(answer))
        case _:
            for row in _numbers(answer):
                yield from spaced(row)
                yield "\n"


def _numbers(answer: Answer) -> Iterable[Array]:
    """The rows of the command's own quantity."""
    held = by_variable(answer)
    arrays = [answer.value] if held is None else [held[name] for name in answer.wrt]
    match answer:
        case Jacobian():
            return _abreast([_matrix(block, answer.value.size) for block in arrays])
        case Answer(points=int(points)):
            return _abreast([array.reshape(points, -1) for array in arrays])
        case Hessian():
            return _hessian(answer)
        case JVP():
            arrays = [answer.jvp]
        case VJP(accumulated=accumulated) if accumulated is not None:
            arrays = [accumulated[name] for name in answer.wrt]
    return (row for array in arrays for row in _rows(array))


def _abreast(blocks: Sequence[Array]) -> Iterator[Array]:
    """Matrices side by side, a row at a time: together they may fill the memory."""
    return map(np.concatenate, zip(*blocks, strict=True))


def _hessian(answer: Hessian) -> Iterator[Array]:
    for a in answer.wrt:
        yield from _abreast([_matrix(answer.hessian[a][b], answer.grad[a].size) for b in answer.wrt])


def _checking(answer: Checking) -> Iterator[str]:
    kind = np.dtype(answer.dtype).type
    for opinion in answer.opinions:
        truth = "none" if opinion.reference is None else digits(opinion.reference)
        yield f"{opinion.verdict} {plain_entry(opinion, answer.output)} {digits(kind(opinion.torch))} {truth}"
    for claim in answer.claims:
        yield f"{status(claim).replace(' ', '-')} {claim.variable} {' '.join(claim.text.split())}"


def _explanation(answer: Explanation) -> Iterator[str]:
    for step in answer.steps:
        yield f"{step.name} = {step.operation.text.replace('…', '...')} = {_flat(step.value)}"
    yield f"v = {_flat(answer.v)}"
    for adjoint in answer.adjoints:
        yield f"{adjoint.notation.text} = {_flat(adjoint.value)}"


def _flat(array: Array) -> str:
    """All elements in row-major order."""
    return " ".join(str(n) if array.dtype == np.bool_ else digits(n) for n in array.reshape(-1))


def _edges(graph: BackwardGraph) -> Iterator[str]:
    words = [f"{node.id} {node.name} {node.variable}".rstrip() for node in graph.nodes]
    yield from (f"{words[edge.source]} -> {words[edge.target]}" for edge in graph.edges)


def _functions(answer: Functions) -> Iterator[str]:
    for part in answer.parts:
        if isinstance(part, Listing) and part.is_brief:
            yield from (f"{group}: {' '.join(names)}" for group, names in part.groups)
        else:
            yield from (entry.name for entry in (part.entries if isinstance(part, Listing) else (part.entry,)))


def _rows(array: Array) -> list[Array]:
    columns = array.shape[-1] if array.ndim else 1
    return list(_matrix(array, array.size // columns)) if columns else []


def _matrix(array: Array, rows: int) -> Array:
    return array.reshape(rows, array.size // rows if rows else 0)

"""The command's own quantity alone, and arrays by name.

Bare numbers are for shell arithmetic: separated by spaces, one row a line.  The arrays are those of an .npz file, in
the shapes of the answer; of several products, the first axis counts them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gradcli.errors import InputError
from gradcli.report.numbers import digits, spaced
from gradcli.report.wording import plain_entry, status
from gradcli.results import (
    HVP,
    JVP,
    VJP,
    Answer,
    Array,
    BackwardGraph,
    Cell,
    Checking,
    ClosedForm,
    Differentiation,
    Explanation,
    Functions,
    Gradient,
    Hessian,
    Improvement,
    Jacobian,
    Listing,
    Products,
)

_QUANTITIES = ("v", "u", "vjp", "accumulated", "grad", "jvp", "hvp", "hessian")
"""What an answer may have beside its value, by the name of the attribute."""


def pieces(answer: Answer | ClosedForm | Functions | Improvement) -> Iterator[str]:
    """vᵀJ, Hu or the gradient, variable after variable in the order of `wrt`; J or the Hessian as one matrix; Ju; y.

    Of several products, those of each v one after the other; of passes that accumulate, what `.grad` holds after each.
    Of a check, a line an opinion: verdict, entry, torch's number, the truth or `none`; then a line a claim: `proved`,
    `agrees`, `no-counterexample`, `not-compared` or `refuted`, the variable, the claim.  Of functions, a name a line;
    of a brief list, a line a group.  At many points, a row a point, with all variables in it; of Jacobians, one below
    the other.  Of an explanation, a line a step, `y = x**2 = 1 4`, then v, then a line an adjoint.
    Of an improvement, the form alone.  Of a graph, a line an edge: `0 MulBackward0 -> 1 AccumulateGrad x`.
    """
    match answer:
        case Functions():
            yield from (f"{line}\n" for line in _functions(answer))
        case Improvement():
            yield f"{answer.form}\n"
        case ClosedForm():
            yield from (f"{cell.text}\n" for cell in cells(answer))
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


def cells(answer: ClosedForm) -> Iterator[Cell]:
    """The formulas of the command's own quantity; of a Hessian, a block and its mirror image once."""
    blocks = answer.products.values() or [
        formula
        for (row, column), formula in answer.blocks.items()
        if row == "" or answer.wrt.index(row) <= answer.wrt.index(column)
    ]
    return (cell for formula in blocks for cell in formula.cells)


def _numbers(answer: Answer) -> Iterable[Array]:
    """The rows of the command's own quantity."""
    _, held = quantity(answer)
    arrays = [held[name] for name in answer.wrt] if isinstance(held, Mapping) else [held]
    match answer:
        case Jacobian():
            return _abreast([_matrix(block, answer.value.size) for block in arrays])
        case Answer(points=int(points)):
            return _abreast([array.reshape(points, -1) for array in arrays])
        case Hessian():
            return _hessian(answer)
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


def quantity(answer: Answer) -> tuple[str, Mapping[str, Array] | Array]:
    """What the command is asked for, in words: by variable (of a Hessian, the diagonal blocks), or the one array.

    Shapes: those of the variables, J y.shape + x.shape; at many points with the points before.
    """
    match answer:
        case Products():
            return "vᵀJ", {name: np.stack([one.vjp[name] for one in answer.answers]) for name in answer.wrt}
        case VJP() | Explanation():
            return "vᵀJ", answer.vjp
        case Gradient():
            return "the gradient", answer.grad
        case HVP():
            return "Hu", answer.hvp
        case Jacobian():
            return "the Jacobian", answer.jacobian or {}
        case Hessian():
            return "the Hessian", {name: blocks[name] for name, blocks in answer.hessian.items()}
        case JVP():
            return "Ju", answer.jvp
    return "the value", answer.value


# -- arrays


def named(answer: Answer) -> dict[str, Array]:
    """Inputs by their names, then `value`, `v`, `vjp_x`, `jacobian_x`, `hessian_x_z` and what else there is.

    An input that is called as one of these is `input_NAME`.
    """
    found = {"value": answer.value}
    for quantity in _QUANTITIES:
        found |= _by(
            quantity, _stacked(answer, quantity) if isinstance(answer, Products) else getattr(answer, quantity, None)
        )
    match answer:
        case Explanation():
            found |= _by("value", {step.name: step.value for step in answer.steps})
            found |= _by("adjoint", {adjoint.name: adjoint.value for adjoint in answer.adjoints})
        case BackwardGraph():
            found |= _by("data", {tensor.name: tensor.data for tensor in answer.tensors})
            found |= _by("grad", {tensor.name: tensor.grad for tensor in answer.tensors})
    if isinstance(answer, Differentiation):
        kept = answer.intermediates.items()
        found |= _by("value", {name: one.value for name, one in kept})
        found |= _by("adjoint", {name: one.grad for name, one in kept})
        found |= _by("jacobian", answer.jacobian)
    inputs = {f"input_{name}" if name in found else name: array for name, array in answer.inputs.items()}
    return inputs | found


def _by(name: str, held: Any) -> dict[str, Array]:
    """An array by its name, or several by their names behind it; nothing where there is none."""
    if held is None:
        return {}
    if isinstance(held, Mapping):
        return {key: array for inner, one in held.items() for key, array in _by(f"{name}_{inner}", one).items()}
    return {name: held}


def _stacked(answer: Products, quantity: str) -> Any:
    """A quantity of all products, the first axis counting them."""
    held: list[Any] = [getattr(one, quantity, None) for one in answer.answers]
    if held[0] is None:
        return None
    if isinstance(held[0], Mapping):
        return {name: np.stack([one[name] for one in held]) for name in answer.wrt}
    return np.stack(held)


def primary_array(answer: Answer) -> Array:
    """The command's own quantity.

    Raises:
        InputError: It has one array for each of several variables, or none.
    """
    if isinstance(answer, Checking | BackwardGraph):
        raise InputError(f"what {answer.command} answers is not one array", hint="write an .npz")
    what, held = quantity(answer)
    if not isinstance(held, Mapping):
        return held
    if len(held) != 1:
        raise InputError(
            f"{what} has {len(held)} variables, and an .npy file holds one array",
            hint="write an .npz, which holds them all, or choose one with --wrt",
        )
    (array,) = held.values()
    return array

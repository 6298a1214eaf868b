"""The command's own quantity alone, and arrays by name.

Bare numbers are for shell arithmetic: separated by spaces, one row a line.  The arrays are those of an .npz file, in
the shapes of the answer; of several products, the first axis counts them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gradcli import results
from gradcli.errors import InputError
from gradcli.report.components import components
from gradcli.report.numbers import digits, spaced
from gradcli.report.wording import plain_entry, status

_QUANTITIES = ("v", "u", "vjp", "accumulated", "grad", "jvp", "hvp", "hessian")
"""What an answer may have beside its value, by the name of the attribute."""


def pieces(answer: results.Answer | results.ClosedForm | results.Functions | results.Improvement) -> Iterator[str]:
    """vᵀJ, Hu or the gradient, variable after variable in the order of `wrt`; J or the Hessian as one matrix; Ju; y.

    Of several products, those of each v one after the other; of passes that accumulate, what `.grad` holds after each.
    Of a check, a line an opinion: verdict, entry, torch's number, the truth or `none`; then a line a claim: `proved`,
    `agrees`, `no-counterexample`, `not-compared` or `refuted`, the variable, the claim.  Of functions, a name a line;
    of a brief list, a line a group.  Of an explanation, a line a step, `y = x**2 = 1 4`, then v, then a line an
    adjoint.  Of an improvement, the form alone.  Of a graph, a line an edge: `0 MulBackward0 -> 1 AccumulateGrad x`.
    """
    match answer:
        case results.Functions():
            yield from (f"{line}\n" for line in _functions(answer))
        case results.Improvement():
            yield f"{answer.form}\n"
        case results.ClosedForm():
            yield from (f"{cell.text}\n" for cell in cells(answer))
        case results.Checking():
            yield from (f"{line}\n" for line in _checking(answer))
        case results.Products():
            yield from itertools.chain.from_iterable(map(pieces, answer.answers))
        case results.Explanation():
            yield from (f"{line}\n" for line in _explanation(answer))
        case results.BackwardGraph():
            yield from (f"{line}\n" for line in _edges(answer))
        case _:
            for row in _numbers(answer):
                yield from spaced(row)
                yield "\n"


def cells(answer: results.ClosedForm) -> Iterator[results.Cell]:
    """The formulas of the command's own quantity; of a Hessian, a block and its mirror image once."""
    blocks = answer.products.values() or [
        formula
        for (row, column), formula in answer.blocks.items()
        if row == "" or answer.wrt.index(row) <= answer.wrt.index(column)
    ]
    return (cell for formula in blocks for cell in formula.cells)


def _numbers(answer: results.Answer) -> Iterable[results.Array]:
    """The rows of the command's own quantity; those of matrices side by side."""
    parts = components(answer)
    match answer:
        case results.Jacobian() | results.Hessian():
            groups = [list(group) for _, group in itertools.groupby(parts, key=lambda one: one.by)]
            return itertools.chain.from_iterable(
                _abreast([_matrix(one.array, math.prod(one.rows or ())) for one in group]) for group in groups
            )
        case results.VJP(accumulated=held) if held is not None:
            return (row for name in answer.wrt for row in _rows(held[name]))
    return (row for one in parts for row in _rows(one.array))


def _abreast(blocks: Sequence[results.Array]) -> Iterator[results.Array]:
    """Matrices side by side, a row at a time: together they may fill the memory."""
    return map(np.concatenate, zip(*blocks, strict=True))


def _checking(answer: results.Checking) -> Iterator[str]:
    kind = np.dtype(answer.dtype).type
    for opinion in answer.opinions:
        truth = "none" if opinion.reference is None else digits(opinion.reference)
        yield f"{opinion.verdict} {plain_entry(opinion, answer.output)} {digits(kind(opinion.torch))} {truth}"
    for claim in answer.claims:
        yield f"{status(claim).replace(' ', '-')} {claim.variable} {' '.join(claim.text.split())}"


def _explanation(answer: results.Explanation) -> Iterator[str]:
    for step in answer.steps:
        yield f"{step.name} = {step.operation.text.replace('…', '...')} = {_flat(step.value)}"
    yield f"v = {_flat(answer.v)}"
    for adjoint in answer.adjoints:
        yield f"{adjoint.notation.text} = {_flat(adjoint.value)}"


def _flat(array: results.Array) -> str:
    """All elements in row-major order."""
    return " ".join(str(n) if array.dtype == np.bool_ else digits(n) for n in array.reshape(-1))


def _edges(graph: results.BackwardGraph) -> Iterator[str]:
    words = [f"{node.id} {node.name} {node.variable}".rstrip() for node in graph.nodes]
    yield from (f"{words[edge.source]} -> {words[edge.target]}" for edge in graph.edges)


def _functions(answer: results.Functions) -> Iterator[str]:
    for part in answer.parts:
        if part.is_brief:
            yield from (f"{group}: {' '.join(names)}" for group, names in part.groups)
        else:
            yield from (entry.name for entry in part.entries)


def _rows(array: results.Array) -> list[results.Array]:
    columns = array.shape[-1] if array.ndim else 1
    return list(_matrix(array, array.size // columns)) if columns else []


def _matrix(array: results.Array, rows: int) -> results.Array:
    return array.reshape(rows, array.size // rows if rows else 0)


# -- arrays


def named(answer: results.Answer) -> dict[str, results.Array]:
    """Inputs by their names, then `value`, `v`, `vjp_x`, `jacobian_x`, `hessian_x_z` and what else there is.

    An input that is called as one of these is `input_NAME`.
    """
    found = {"value": answer.value}
    for quantity in _QUANTITIES:
        found |= _by(
            quantity,
            _stacked(answer, quantity) if isinstance(answer, results.Products) else getattr(answer, quantity, None),
        )
    match answer:
        case results.Explanation():
            found |= _by("value", {step.name: step.value for step in answer.steps})
            found |= _by("adjoint", {adjoint.name: adjoint.value for adjoint in answer.adjoints})
        case results.BackwardGraph():
            found |= _by("data", {tensor.name: tensor.data for tensor in answer.tensors})
            found |= _by("grad", {tensor.name: tensor.grad for tensor in answer.tensors})
    if isinstance(answer, results.Differentiation):
        found |= _by("jacobian", answer.jacobian)
    inputs = {f"input_{name}" if name in found else name: array for name, array in answer.inputs.items()}
    return inputs | found


def _by(name: str, held: Any) -> dict[str, results.Array]:
    """An array by its name, or several by their names behind it; nothing where there is none."""
    if held is None:
        return {}
    if isinstance(held, Mapping):
        return {key: array for inner, one in held.items() for key, array in _by(f"{name}_{inner}", one).items()}
    return {name: held}


def _stacked(answer: results.Products, quantity: str) -> Any:
    """A quantity of all products, the first axis counting them."""
    held: list[Any] = [getattr(one, quantity, None) for one in answer.answers]
    if held[0] is None:
        return None
    if isinstance(held[0], Mapping):
        return {name: np.stack([one[name] for one in held]) for name in answer.wrt}
    return np.stack(held)


def primary_array(answer: results.Answer) -> results.Array:
    """The command's own quantity.

    Raises:
        InputError: It has one array for each of several variables, or none.
    """
    if isinstance(answer, results.Checking | results.BackwardGraph):
        raise InputError(f"what {answer.command} answers is not one array", hint="write an .npz")
    parts = components(answer)
    if len(parts) != 1:
        raise InputError(
            f"what {answer.command} answers has {len(answer.wrt)} variables, and an .npy file holds one array",
            hint="write an .npz, which holds them all, or choose one with --wrt",
        )
    return parts[0].array

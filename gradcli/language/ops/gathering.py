"""Elements at the positions that tensors of whole numbers name, and what is put at such positions.

A position that is a variable has no derivative; its value is a whole number from 0 on.
"""

from __future__ import annotations

from gradcli.language.ops.row import Kind, Op, known


def _at(signature: str, doc: str, meaning: str, **facts: object) -> Op:
    return known(signature, doc, meaning, **{"kind": Kind.WRITTEN, **facts})


GATHERED = (
    known(
        "one_hot(index, num_classes=)",
        "for each whole number a row with 1 at its place, 0 elsewhere",
        "where(unsqueeze(index, -1) == arange(num_classes), 1, 0)",
        torch="nn.functional.one_hot",
        kind=Kind.DEFINED,
        whole=("index",),
        places=lambda _, constants: int(constants["num_classes"]),
        example="one_hot([2, 0], 3)*x at x=5",
    ),
    _at(
        "index_select(x, dim=, index)",
        "the slices of a dimension at some positions",
        "x[index] along dim",
        example="index_select(x, 0, [2, 0]) at x=1,2,3",
    ),
    _at(
        "take(x, index)",
        "the elements of the flattened tensor at some positions, in the shape of these",
        "flatten(x)[index]",
        example="take(x, [[0, 2], [2, 1]]) at x=1,2,3",
    ),
    _at(
        "gather(x, dim=, index)",
        "along a dimension the elements at positions, all other indices being those of the position itself",
        "x[i, index[i, j]] for dim=1",
        example="gather(x, 1, [[2], [0]]) at x=[[1,2,3],[4,5,6]]",
    ),
    _at(
        "take_along_dim|take_along_axis(x, index, dim=None)",
        "along a dimension the elements at positions, as gather; without dim, of the flattened tensor",
        "gather(x, dim, index)",
        torch="take_along_dim",
        example="take_along_dim(x, [[2], [0]], 1) at x=[[1,2,3],[4,5,6]]",
    ),
    _at(
        "masked_select(x, mask)",
        "the elements where a constant mask holds, as a vector",
        "x[mask]",
        caveat="the mask is constant: where(x > 0, x, 0) is for one that depends on values",
        conditions=(),
        example="masked_select(x, [True, False, True]) at x=1,2,3",
    ),
)

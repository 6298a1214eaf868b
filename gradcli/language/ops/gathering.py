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
        example="masked_select(x, [True, False, True]) at x=1,2,3",
    ),
)

PUT = (
    _at(
        "index_add(x, dim=, index, source, alpha)",
        "the slices of source added to those of x at some positions of a dimension",
        "x[index] + alpha*source along dim",
        defaults={"alpha": 1},
        example="index_add(x, 0, [2, 0], y) at x=1,2,3 y=4,5",
    ),
    _at(
        "index_copy(x, dim=, index, source)",
        "x with the slices of source at some constant positions of a dimension",
        "source where index names the position, else x",
        example="index_copy(x, 0, [2, 0], y) at x=1,2,3 y=4,5",
    ),
    _at(
        "index_fill(x, dim=, index, value)",
        "x with a number at some positions of a dimension",
        "value where index names the position, else x",
        example="index_fill(x, 0, [2, 0], a) at x=1,2,3 a=5",
    ),
    _at(
        "index_put(x, index, values, accumulate=False)",
        "x with values at constant positions, one row of them for each dimension; or added there",
        "x with x[index] = values",
        example="index_put(x, [[2, 0]], y) at x=1,2,3 y=4,5",
    ),
    _at(
        "scatter_add(x, dim=, index, src)",
        "along a dimension the elements of src added to x at positions, all other indices being their own",
        "x[index[i, j], j] + src[i, j] for dim=0",
        example="scatter_add(x, 0, [2, 0, 2], y) at x=1,2,3 y=4,5,6",
    ),
    _at(
        "scatter(x, dim=, index, src, reduce=None)",
        "x with the elements of src at constant positions of a dimension",
        "src[i, j] at [index[i, j], j] for dim=0, else x",
        example="scatter(x, 0, [2, 0], y) at x=1,2,3 y=4,5",
    ),
    _at(
        "scatter_reduce(x, dim=, index, src, reduce=, include_self=True)",
        "along a dimension the elements of src at each position taken together with those of x: "
        "'sum', 'prod', 'mean', 'amax' or 'amin'",
        "x[index[i, j], j] + src[i, j] for dim=0 and 'sum'",
        caveat="without include_self, what is put takes the place of x",
        example="scatter_reduce(x, 0, [2, 0, 2], y, 'prod') at x=1,2,3 y=4,5,6",
    ),
    _at(
        "index_reduce(x, dim=, index, source, reduce=, include_self=True)",
        "the slices of source at each position of a dimension taken together with those of x: "
        "'prod', 'mean', 'amax' or 'amin'",
        "x[index]*source along dim, for 'prod'",
        caveat="without include_self, what is put takes the place of x",
        example="index_reduce(x, 0, [2, 0], y, 'prod') at x=1,2,3 y=4,5",
    ),
    _at(
        "put(x, index, source)",
        "x with the elements of source at constant positions of the flattened tensor",
        "source where index names the position, else x",
        torch="Tensor.put",
        example="put(x, [2, 0], y) at x=1,2,3 y=4,5",
    ),
    _at(
        "masked_scatter(x, mask, source)",
        "x with the elements of source, in their order, where a constant mask holds",
        "source where mask holds, else x",
        example="masked_scatter(x, [True, False, True], y) at x=1,2,3 y=4,5",
    ),
    _at(
        "slice_scatter(x, src, dim=0, start=None, end=None, step=1)",
        "x with src in the place of a slice",
        "src where x[start:end:step] is, else x",
        example="slice_scatter(x, y, 0, 1) at x=1,2,3 y=4,5",
    ),
    _at(
        "select_scatter(x, src, dim=, index=)",
        "x with src in the place of one slice of a dimension",
        "src where x[index] along dim is, else x",
        example="select_scatter(x, y, 0, 1) at x=[[1,2],[3,4]] y=5,6",
    ),
    _at(
        "diagonal_scatter(x, src, offset=0, dim1=0, dim2=1)",
        "x with src in the place of a diagonal",
        "src where diagonal(x) is, else x",
        example="diagonal_scatter(x, y) at x=[[1,2],[3,4]] y=5,6",
    ),
    _at(
        "as_strided_scatter(x, src, shape=, strides=, storage_offset=0)",
        "x with src in the place of what as_strided takes",
        "src where as_strided(x) is, else x",
        example="as_strided_scatter(x, y, (2,), (2,)) at x=1,2,3 y=4,5",
    ),
)

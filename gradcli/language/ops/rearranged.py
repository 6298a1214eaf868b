"""Dimensions and elements put elsewhere, as they are written by index, permute and reshape for each shape."""

from __future__ import annotations

from gradcli.language.ops.row import Kind, Op, known


def _written(signature: str, doc: str, meaning: str, **facts: object) -> Op:
    return known(signature, doc, meaning, **{"kind": Kind.WRITTEN, **facts})


REARRANGED = (
    _written(
        "movedim|moveaxis(x, source=, destination=)",
        "dimensions moved to other places, the rest in their order",
        "permute(x, the order)",
        example="movedim(x, 0, 1) at x=[[1,2,3],[4,5,6]]",
    ),
    _written(
        "narrow|narrow_copy(x, dim=, start=, length=)",
        "so many elements of a dimension from one on",
        "x[start:start + length] along dim",
        example="narrow(x, 0, 1, 2) at x=1,2,3,4",
    ),
    _written(
        "select(x, dim=, index=)",
        "one slice of a dimension, which it lacks",
        "x[index] along dim",
        example="select(x, 0, 1) at x=[[1,2],[3,4]]",
    ),
    _written(
        "slice(x, dim=0, start=None, end=None, step=1)",
        "a slice of a dimension",
        "x[start:end:step] along dim",
        torch="",
        example="slice(x, 0, 1) at x=1,2,3,4",
    ),
    _written(
        "expand_as(x, other)",
        "stretched to the shape of another tensor",
        "expand(x, the shape of other)",
        torch="Tensor.expand_as",
        example="expand_as(x, y)*y at x=1,2 y=[[1,2],[3,4]]",
    ),
    _written(
        "reshape_as|view_as(x, other)",
        "the same elements in the shape of another tensor",
        "reshape(x, the shape of other)",
        torch="Tensor.reshape_as",
        example="reshape_as(x, y)*y at x=1,2,3,4 y=[[1,2],[3,4]]",
    ),
    _written(
        "sum_to_size(x, shape=)",
        "summed over the dimensions that expand would stretch",
        "sum(x, those dimensions)",
        torch="Tensor.sum_to_size",
        example="sum_to_size(x, 1, 2) at x=[[1,2],[3,4]]",
    ),
    _written(
        "permute_axes(x, dims=None)",
        "the dimensions in reverse order, or in another one: NumPy's transpose",
        "permute(x, dims)",
        torch="",
        example="permute_axes(x) at x=[[1,2,3],[4,5,6]]",
    ),
    _written(
        "flip_axes(x, dims=None)",
        "the order of elements reversed along all dimensions, or along dims: NumPy's flip",
        "flip(x, dims)",
        torch="",
        example="flip_axes(x) at x=[[1,2],[3,4]]",
    ),
    _written(
        "pad_with_elements(x, pad=, mode=reflect)",
        "x with its own elements before and after it: mirrored, the last ones again, or those of the other end",
        "x at these positions",
        torch="",
        caveat="F.pad with mode='reflect', 'replicate' or 'circular', and the modules of these",
        example="pad_with_elements(x, (1, 2)) at x=1,2,3",
    ),
    _written("fliplr(x)", "the columns in reverse", "flip(x, 1)", example="fliplr(x) at x=[[1,2],[3,4]]"),
    _written("flipud(x)", "the rows in reverse", "flip(x, 0)", example="flipud(x) at x=[[1,2],[3,4]]"),
    _written(
        "rot90(x, k=, dims=)",
        "turned by 90 degrees k times, from the first of two dimensions to the second",
        "transpose and flip",
        statics={"k": 1, "dims": (0, 1)},
        example="rot90(x) at x=[[1,2],[3,4]]",
    ),
    _written(
        "diag_embed(x, offset=0, dim1=-2, dim2=-1)",
        "the last dimension along the diagonal of two, zeros elsewhere",
        "where(the diagonal, x, 0)",
        example="diag_embed(x) at x=1,2",
    ),
    _written(
        "diagflat(x, offset=0)",
        "all elements along the diagonal of a matrix",
        "diag(flatten(x))",
        example="diagflat(x) at x=1,2",
    ),
    _written(
        "unflatten(x, dim=, sizes=)",
        "a dimension as several of these sizes; one may be -1",
        "reshape(x, the sizes)",
        example="unflatten(x, 0, (2, 2)) at x=1,2,3,4",
    ),
    _written(
        "as_strided(x, shape=, strides=, storage_offset=0)",
        "elements of the flattened tensor at evenly spaced places, which may overlap",
        "flatten(x)[storage_offset + strides*i]",
        example="as_strided(x, (2, 2), (1, 1)) at x=1,2,3",
    ),
)

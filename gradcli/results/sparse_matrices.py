"""Jacobians and Hessians by their entries that are not 0 by structure, as `scipy.sparse` has them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from gradcli.arrays import Array
from gradcli.notation import Notation
from gradcli.results.answers import Hessian, Jacobian, by_variable
from gradcli.results.record import Record, if_empty, if_none, json_field, json_property

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    SparseArray: TypeAlias = csr_array
else:
    SparseArray = object


class SparseBlock(Record):
    """Block of a sparse matrix: its entries row by row, at flat positions of y, or of a variable.

    Attributes:
        label: Its name.
        axes: What its rows and its columns are elements of.
        shape: The number of its rows and of its columns.
        row: The row of each entry.
        column: The column of each entry.
        value: The number of each entry; None of a pattern alone.
    """

    label: Notation = json_field(None)
    axes: tuple[str, str] = json_field(None)
    shape: tuple[int, int]
    row: npt.NDArray[np.int32]
    column: npt.NDArray[np.int32]
    value: Array | None = json_field(omit=if_none)

    @cached_property
    def matrix(self) -> SparseArray:
        """The entries as a `scipy.sparse.csr_array`, zeros among them kept; of a pattern truth values."""
        from scipy import sparse

        values = np.ones(len(self.row), dtype=bool) if self.value is None else self.value
        ends = np.cumsum(np.bincount(self.row, minlength=self.shape[0]), dtype=self.row.dtype)
        starts = np.concatenate((np.zeros(1, self.row.dtype), ends))
        return sparse.csr_array((values, self.column, starts), shape=self.shape)


class Compression(Record):
    """Facts about a sparse matrix as a whole, whose blocks stand next to each other and below each other.

    Attributes:
        shape: Its rows and columns.
        entries: Its entries that are not 0 by structure; all others are 0 for all values.
        bandwidth: The largest distances of one below and above the diagonal.
        products: The products of a matrix and a vector that torch's numbers were read from.
        usual: The products without a pattern: one a row, or a column.
    """

    shape: tuple[int, int]
    entries: int
    bandwidth: tuple[int, int]
    products: int = json_field(omit=if_empty, default=0)
    usual: int = json_field("instead_of", omit=if_empty, default=0)


def _by_column(answer: SparseJacobian) -> dict[str, SparseBlock]:
    return {one.axes[1]: one for one in answer.blocks}


def _by_both(answer: SparseHessian) -> dict[str, dict[str, SparseBlock]]:
    return by_variable({one.axes: one for one in answer.blocks})


def _is_of_shapes(answer: SparseJacobian | SparseHessian, value: object) -> bool:
    return bool(answer.shapes)


class SparseJacobian(Jacobian, kw_only=True):
    """The Jacobian per variable, each a `scipy.sparse.csr_array` of shape (y.size, x.size), zeros in its pattern kept.

    Attributes:
        inputs: The value of every variable; NaN where a pattern was asked for by its shape.
        value: The output y; NaN in the same case.
        shapes: The shapes of y and of the variables, for a pattern that was asked for by some of them.
        blocks: Its entries, a block a variable.
        sparsity: Facts about all blocks.
    """

    inputs: Mapping[str, Array] = json_field(omit=_is_of_shapes)
    value: Array = json_field(omit=_is_of_shapes)
    shapes: Mapping[str, tuple[int, ...]] = json_field(omit=if_empty, before="sparsity", default_factory=dict)
    blocks: tuple[SparseBlock, ...] = json_field(None)
    sparsity: Compression = json_field(before="jacobian")

    @property
    @json_property(made=_by_column, before="jacobian_omitted")
    def jacobian(self) -> Mapping[str, SparseArray]:
        """∂y/∂x per variable, a `csr_array`; in JSON the rows, columns and values of its entries."""
        return {one.axes[1]: one.matrix for one in self.blocks}

    def named_numbers(self) -> Mapping[str, SparseArray]:
        """Return the blocks by variable."""
        return self.jacobian

    def _only(self) -> Array:
        return _dense(super()._only())


class SparseHessian(Hessian, kw_only=True):
    """The Hessian by two variables, each block a `scipy.sparse.csr_array`, zeros in its pattern kept.

    Attributes:
        inputs: The value of every variable; NaN where a pattern was asked for by its shape.
        value: The output y; NaN in the same case.
        shapes: The shapes of y and of the variables, for a pattern that was asked for by some of them.
        blocks: Its entries, a block a pair of variables.
        sparsity: Facts about all blocks.
    """

    inputs: Mapping[str, Array] = json_field(omit=_is_of_shapes)
    value: Array = json_field(omit=_is_of_shapes)
    shapes: Mapping[str, tuple[int, ...]] = json_field(omit=if_empty, before="sparsity", default_factory=dict)
    blocks: tuple[SparseBlock, ...] = json_field(None)
    sparsity: Compression = json_field(before="hessian")

    @property
    @json_property(made=_by_both)
    def hessian(self) -> Mapping[str, Mapping[str, SparseArray]]:
        """∂²y/∂a∂b by a and by b, a `csr_array`; in JSON the rows, columns and values of its entries."""
        return by_variable({one.axes: one.matrix for one in self.blocks})

    def named_numbers(self) -> Mapping[str, SparseArray]:
        """Return the blocks by both variables."""
        return self.hessian

    def _only(self) -> Array:
        return _dense(super()._only())


def _dense(found: SparseArray | Array) -> Array:
    """Return the array of an answer that has one, for `numpy.asarray(answer)`."""
    array: Array = found.toarray()  # type: ignore[union-attr]
    return array

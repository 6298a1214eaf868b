"""Quantities: the arrays of an answer, each with its name, its axes and its formula."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from types import MappingProxyType

from gradcli.arrays import Array
from gradcli.notation import HU, JU, PARTIAL, Named, Notation, Signs, second
from gradcli.results.formula_cells import Formula
from gradcli.results.record import Record
from gradcli.results.verdicts import Entry, NumberKind

IN_GRAD = Signs("vTJ = %s.grad", "vᵀJ = %s.grad", "(v^{T} J)_{%s}")
"""Name of vᵀJ, as torch leaves it in `.grad`."""

BlockNames = tuple[str, str]
"""Variables of row and column of a derivative; "" where there is none: a row of the Jacobian belongs to y."""


class Quantity(Record):
    """An array of an answer, with its formula.

    Attributes:
        kind: What its elements are.
        label: Its name.
        axes: The names whose elements it has: y and x of a block of J, two variables of one of a Hessian, else one.
        array: Its numbers; None where they were left out.
        formula: Its closed form; of vᵀJ and of the gradient, J has it.
        formula_omitted: Why it has none.
    """

    kind: NumberKind
    label: Notation
    axes: tuple[str, ...]
    array: Array | None
    formula: Formula | None = None
    formula_omitted: str = ""

    @property
    def block(self) -> BlockNames:
        """The variables of row and column, by which formulas are found; "" where there is none."""
        return _block(self.kind, self.axes)

    @property
    def variable(self) -> str | None:
        """The variable of differentiation, that of the columns; None of y and of Ju."""
        return self.block[1] or None

    @property
    def by(self) -> str | None:
        """The variable of the rows of a Hessian's block."""
        return self.block[0] or None

    @property
    def numbers(self) -> Array:
        """The array of a quantity that has one."""
        assert self.array is not None, "its numbers were left out"  # noqa: S101
        return self.array

    def has(self, entry: Entry) -> bool:
        """Tell whether an entry is a number of it; a gradient of first order is judged as J or vᵀJ."""
        kinds = ("gradient", "jacobian", "vjp") if self.kind == "gradient" else (self.kind,)
        return entry.kind in kinds and (entry.variable, entry.by) == (self.variable, self.by)


def quantities_of(
    kind: NumberKind,
    y: str,
    wrt: Sequence[str],
    arrays: Mapping[BlockNames, Array],
    formulas: Mapping[BlockNames, Formula] = MappingProxyType({}),
    omitted: Mapping[BlockNames, str] = MappingProxyType({}),
) -> tuple[Quantity, ...]:
    """Make the quantities of a kind, in the order of the variables.

    Args:
        kind: Of a derivative, or of y.
        y: The name of the output.
        wrt: The variables of differentiation.
        arrays: The numbers by block; blocks without were left out.
        formulas: The formulas by block.
        omitted: Why other blocks have none.

    >>> import numpy as np
    >>> (found,) = quantities_of("jacobian", "y", ["x"], {("", "x"): np.eye(2)})
    >>> found.label.pretty, found.axes, found.block
    ('∂y/∂x', ('y', 'x'), ('', 'x'))
    """
    return tuple(
        Quantity(
            kind,
            _label(kind, y, axes),
            axes,
            arrays.get(block := _block(kind, axes)),
            formulas.get(block),
            omitted.get(block, ""),
        )
        for axes in _axes(kind, y, wrt)
    )


def by_name(arrays: Mapping[str, Array]) -> dict[BlockNames, Array]:
    """Map the blocks of a derivative by one variable to its arrays."""
    return {("", name): array for name, array in arrays.items()}


def _axes(kind: NumberKind, y: str, wrt: Sequence[str]) -> list[tuple[str, ...]]:
    match kind:
        case "value" | "jvp":
            return [(y,)]
        case "jacobian":
            return [(y, name) for name in wrt]
        case "hessian":
            return list(product(wrt, repeat=2))
    return [(name,) for name in wrt]


def _block(kind: NumberKind, axes: tuple[str, ...]) -> BlockNames:
    return axes[0] if kind == "hessian" else "", "" if kind in ("value", "jvp") else axes[-1]


def _label(kind: NumberKind, y: str, axes: tuple[str, ...]) -> Notation:
    """Name a quantity in mathematics."""
    last = Named(axes[-1])
    match kind:
        case "jacobian" | "gradient":
            return PARTIAL(Named(y), last)
        case "vjp":
            return IN_GRAD(last)
        case "jvp":
            return JU()
        case "hvp":
            return HU(last)
        case "hessian":
            return second(Named(y), Named(axes[0]), last)
    return last

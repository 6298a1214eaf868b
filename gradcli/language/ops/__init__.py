"""The op table: one row an operation, in one file a kind.

row          what a row holds, how it is written, and what follows from it
elementwise  arithmetic and functions, pieces, and branches by conditions
arithmetic   of several operands, and functions that others make up
networks     activations of neural networks, and layers of sequences
normalization  mean 0 and variance 1, and dropout after training
special      special functions made of others
asked        functions that torch is asked for: layers, windows, rare losses
asked_pieces  those that torch is asked for as a text is read: pieces, matrices, order, positions
losses       losses of training
reductions   over a dimension; of matrices
linear_algebra  products of matrices, linear equations, factors and norms
statistics   order, moments, and differences of samples
structure    elements put elsewhere; constant tensors; derivatives that a snippet takes itself

Reading it imports neither torch nor SymPy.  Adding an operation is one row and one test.  Most rows have a meaning in
the language itself; one without (a primitive) needs a rule in each reading, which the tests of the table demand.
"""

from __future__ import annotations

from collections.abc import Mapping

from gradcli.language.ops import (
    arithmetic,
    asked,
    asked_pieces,
    elementwise,
    linear_algebra,
    losses,
    networks,
    normalization,
    reductions,
    special,
    statistics,
    structure,
)
from gradcli.language.ops.row import REQUIRED, Default, Kind, Monoid, Op

__all__ = [
    "GROUPS",
    "REQUIRED",
    "ROWS",
    "SIGNS",
    "TABLE",
    "Default",
    "Kind",
    "Monoid",
    "Op",
    "find",
    "is_member",
    "names",
]

GROUPS: Mapping[str, tuple[Op, ...]] = {
    "arithmetic": elementwise.ARITHMETIC,
    "exponentials and logarithms": elementwise.EXPONENTIAL,
    "trigonometric": elementwise.TRIGONOMETRIC,
    "hyperbolic": elementwise.HYPERBOLIC,
    "special": (*elementwise.SPECIAL, *special.SPECIAL),
    "activations": networks.ACTIVATIONS,
    "combined arithmetic": arithmetic.COMBINED,
    "pieces and steps": elementwise.PIECES,
    "branches": elementwise.BRANCHES,
    "reductions": reductions.REDUCTIONS,
    "scans": reductions.SCANS,
    "normalized exponentials": reductions.NORMALIZED,
    "products": reductions.CONTRACTIONS,
    "products added": linear_algebra.ADDED,
    "vectors and tensors": linear_algebra.VECTORS,
    "square matrices": reductions.MATRICES,
    "equations, factors and norms": linear_algebra.FACTORS,
    "lists": structure.LISTS,
    "of NumPy": structure.OF_NUMPY,
    "pieces of tensors": asked_pieces.PIECES,
    "joined and repeated": asked_pieces.JOINED,
    "at positions": (*structure.POSITIONS, *asked_pieces.PLACED),
    "order": statistics.ORDER,
    "statistics": statistics.MOMENTS,
    "order and samples": asked_pieces.ORDER,
    "matrices": asked_pieces.MATRICES,
    "views and shifts": structure.MOVEMENTS,
    "dimensions moved and turned": asked_pieces.MOVED,
    "sizes": structure.COUNTS,
    "windows": asked.WINDOWED,
    "normalization": normalization.NORMALIZATION,
    "layers": asked.LAYERS,
    "sequences": (*networks.SEQUENCES, *asked_pieces.CELLS),
    "losses": (*losses.LOSSES, *asked.LOSSES),
    "constant tensors": structure.SOURCES,
}
"""The rows by what people look for."""

TABLE: dict[str, Op] = {op.name: op for rows in GROUPS.values() for op in rows}

ROWS: Mapping[str, Op] = TABLE | {op.name: op for op in structure.DRAWN}
"""Those too that nobody can type."""

_BY_NAME: dict[str, Op] = {alias: op for op in TABLE.values() for alias in (op.name, *op.aliases) if alias != "index"}
"""An index is written x[key]; `index` is a name like any other."""
_AFTER_DOT: dict[str, Op] = _BY_NAME | {name: op for op in TABLE.values() for name in op.qualified}


SIGNS: Mapping[str, str] = {
    "<": "lt",
    "<=": "le",
    ">": "gt",
    ">=": "ge",
    "==": "eq",
    "!=": "ne",
    "|": "logical_or",
    "&": "logical_and",
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "div",
    "//": "floor_divide",
    "%": "remainder",
    "@": "matmul",
    "**": "pow",
    "^": "pow",
}
"""The functions that signs are."""


def find(name: str, *, after_dot: bool = False) -> Op | None:
    """The row with this name or alias.

    >>> find("ln").name
    'log'
    """
    return (_AFTER_DOT if after_dot else _BY_NAME).get(name)


_MEMBERS = frozenset(
    "T mT H mH I real imag conj shape size ndim dtype device layout data values grad grad_fn requires_grad is_leaf "
    "itemsize nbytes strides flat base backward retain_grad zero_".split()
)
"""What tensors and arrays have behind a dot that is no operation."""


def is_member(name: str) -> bool:
    """Whether tensors have something of this name behind a dot.

    >>> is_member("shape"), is_member("sum"), is_member("weight")
    (True, True, False)
    """
    return name in _MEMBERS or name in _AFTER_DOT


def names() -> list[str]:
    """Every name and alias that can be called."""
    return sorted(_BY_NAME)

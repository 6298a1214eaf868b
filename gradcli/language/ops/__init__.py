"""The op table: one row an operation, a call of `Op` each, in one file a kind.

row          the fields of a row, and the facts that follow from them
signature    the parameters of an operation: operands with their marks, and constants with their defaults
arithmetic   arithmetic, exponentials and logarithms, and functions in terms of these
special_functions  trigonometric, hyperbolic and special functions
branches     pieces and steps, comparisons and logic, and branches by conditions
activations  activations of neural networks
normalization  layers of sequences, normalization, and dropout after training
losses       losses of training
reductions   over a dimension: reductions, scans, order and statistics
products     products of matrices, vectors and tensors
linear_algebra  functions of square matrices, linear equations, factors and norms
structure    elements put elsewhere; constant tensors
torch_pieces, torch_positions, torch_matrices, torch_networks  functions that torch is asked for
torch_functions  functions of torch that are no rows, and those that NumPy has otherwise

Reading it imports neither torch nor SymPy.  Adding an operation is one row and one test.  Most rows have a meaning in
the language itself; one without (a primitive) needs a rule in each reading, which the tests of the table demand.
"""

from __future__ import annotations

from collections.abc import Mapping

from gradcli.language.ops import (
    activations,
    arithmetic,
    branches,
    linear_algebra,
    losses,
    normalization,
    products,
    reductions,
    special_functions,
    structure,
    torch_matrices,
    torch_networks,
    torch_pieces,
    torch_positions,
)
from gradcli.language.ops.row import Kind, Meaning, Monoid, Op
from gradcli.language.ops.signature import REQUIRED, Constant, Default, Operand

__all__ = [
    "GROUPS",
    "REQUIRED",
    "ROWS",
    "SIGNS",
    "TABLE",
    "Constant",
    "Default",
    "Kind",
    "Meaning",
    "Monoid",
    "Op",
    "Operand",
    "find",
    "gives_positions",
    "is_member",
    "names",
]

GROUPS: Mapping[str, tuple[Op, ...]] = {
    "arithmetic": arithmetic.ARITHMETIC,
    "exponentials and logarithms": arithmetic.EXPONENTIALS_AND_LOGARITHMS,
    "trigonometric": special_functions.TRIGONOMETRIC,
    "hyperbolic": special_functions.HYPERBOLIC,
    "special": special_functions.SPECIAL,
    "pieces and steps": branches.PIECES_AND_STEPS,
    "branches": branches.BRANCHES,
    "combined arithmetic": arithmetic.COMBINED_ARITHMETIC,
    "activations": activations.ACTIVATIONS,
    "sequences": (*normalization.SEQUENCES, *torch_networks.SEQUENCES),
    "normalization": normalization.NORMALIZATION,
    "losses": (*losses.LOSSES, *torch_networks.LOSSES),
    "reductions": reductions.REDUCTIONS,
    "scans": reductions.SCANS,
    "normalized exponentials": reductions.NORMALIZED_EXPONENTIALS,
    "products": products.PRODUCTS,
    "square matrices": linear_algebra.SQUARE_MATRICES,
    "order": reductions.ORDER,
    "statistics": reductions.STATISTICS,
    "products added": products.PRODUCTS_ADDED,
    "vectors and tensors": products.VECTORS_AND_TENSORS,
    "equations, factors and norms": linear_algebra.EQUATIONS_FACTORS_AND_NORMS,
    "lists": structure.LISTS,
    "of NumPy": structure.OF_NUMPY,
    "at positions": (*structure.AT_POSITIONS, *torch_positions.AT_POSITIONS),
    "views and shifts": structure.VIEWS_AND_SHIFTS,
    "sizes": structure.SIZES,
    "constant tensors": structure.CONSTANT_TENSORS,
    "pieces of tensors": torch_pieces.PIECES_OF_TENSORS,
    "joined and repeated": torch_pieces.JOINED_AND_REPEATED,
    "order and samples": torch_positions.ORDER_AND_SAMPLES,
    "matrices": torch_matrices.MATRICES,
    "dimensions moved and turned": torch_pieces.DIMENSIONS_MOVED_AND_TURNED,
    "windows": torch_networks.WINDOWS,
    "layers": torch_networks.LAYERS,
}
"""Rows of the table by group, as listed for users."""

TABLE: dict[str, Op] = {op.name: op for rows in GROUPS.values() for op in rows}

ROWS: Mapping[str, Op] = TABLE | {op.name: op for op in structure.UNNAMED}
"""Rows of the table, and the rows without a name to type."""

_BY_NAME: dict[str, Op] = {alias: op for op in TABLE.values() for alias in (op.name, *op.aliases) if alias != "index"}
"""Rows by name and alias; `index` is left out, as an index is written x[key] and `index` is a name like any other."""
_AFTER_DOT: dict[str, Op] = _BY_NAME | {name: op for op in TABLE.values() for name in op.after_dot}


_SIGNS = "< lt, <= le, > gt, >= ge, == eq, != ne, | logical_or, & logical_and, + add, - sub, * mul, / div"
_SIGNS += ", // floor_divide, % remainder, @ matmul, ** pow, ^ pow"

SIGNS: Mapping[str, str] = dict(pair.split() for pair in _SIGNS.split(", "))
"""Names of the functions by their signs."""


def find(name: str, *, after_dot: bool = False) -> Op | None:
    """Find the row with this name or alias.

    >>> find("ln").name
    'log'
    """
    return (_AFTER_DOT if after_dot else _BY_NAME).get(name)


_MEMBERS = frozenset(
    "T mT H mH I real imag conj shape size ndim dtype device layout data values grad grad_fn requires_grad is_leaf "
    "itemsize nbytes strides flat base backward retain_grad zero_".split()
)
"""Members of tensors and arrays after a dot that are no operations."""


def is_member(name: str) -> bool:
    """Tell whether tensors have a member of this name after a dot.

    >>> is_member("shape"), is_member("sum"), is_member("weight")
    (True, True, False)
    """
    return name in _MEMBERS or name in _AFTER_DOT


def gives_positions(op: Op) -> bool:
    """Tell whether torch gives the positions of elements next to their values, which are what it computes."""
    return op.parts == ("values", "indices") and op.defined_by is not Meaning.TORCH_INLINE


def names() -> list[str]:
    """List every name and alias that can be called."""
    return sorted(_BY_NAME)

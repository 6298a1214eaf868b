"""The op table: one row an operation, in one file a kind, each a text as `row.read` takes it.

row          the fields of a row, its text form, and the facts that follow from them
elementwise  arithmetic and functions, pieces, and branches by conditions
networks     activations of neural networks, layers of sequences, normalization, and losses of training
torch_functions  functions that torch is asked for: pieces, matrices, order, positions, windows, layers, rare losses
reductions   over a dimension; of matrices; order and moments
linear_algebra  products of matrices, linear equations, factors and norms
structure    elements put elsewhere; constant tensors

Reading it imports neither torch nor SymPy.  Adding an operation is one row and one test.  Most rows have a meaning in
the language itself; one without (a primitive) needs a rule in each reading, which the tests of the table demand.
"""

from __future__ import annotations

from collections.abc import Mapping

from gradcli.language.ops import elementwise, linear_algebra, networks, reductions, structure, torch_functions
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
    "gives_positions",
    "is_member",
    "names",
]

_FILES = (elementwise, networks, reductions, linear_algebra, structure, torch_functions)
_TABLES = [table for file in _FILES for table in file.ROWS.items()]

GROUPS: Mapping[str, tuple[Op, ...]] = {
    group: tuple(op for other, rows in _TABLES if other == group for op in rows)
    for group, _ in _TABLES
    if group != structure.DRAWN
}
"""Rows of the table by group, as listed for users."""

TABLE: dict[str, Op] = {op.name: op for rows in GROUPS.values() for op in rows}

ROWS: Mapping[str, Op] = TABLE | {op.name: op for op in structure.ROWS[structure.DRAWN]}
"""Rows of the table, and the rows without a name to type."""

_BY_NAME: dict[str, Op] = {alias: op for op in TABLE.values() for alias in (op.name, *op.aliases) if alias != "index"}
"""Rows by name and alias; `index` is left out, as an index is written x[key] and `index` is a name like any other."""
_AFTER_DOT: dict[str, Op] = _BY_NAME | {name: op for op in TABLE.values() for name in op.qualified}


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
    return op.parts == ("values", "indices") and op.kind is not Kind.INLINED


def names() -> list[str]:
    """List every name and alias that can be called."""
    return sorted(_BY_NAME)

"""The op table: one row an operation, in one file a kind.

Reading it imports neither torch nor SymPy.  Adding an operation is one row and one test; a row without a meaning
(a primitive) also needs a rule in `symbolic`, `reference` and, if it moves elements, in `shapes`.
"""

from __future__ import annotations

from gradcli.language.ops import elementwise, tensors
from gradcli.language.ops.row import REQUIRED, Default, Kind, Op

__all__ = ["REQUIRED", "TABLE", "Default", "Kind", "Op", "find"]

TABLE: dict[str, Op] = {op.name: op for op in elementwise.ROWS + tensors.ROWS}

_BY_NAME: dict[str, Op] = {alias: op for op in TABLE.values() for alias in (op.name, *op.aliases)}


def find(name: str) -> Op | None:
    """The row with this name or alias.

    >>> find("ln").name
    'log'
    """
    return _BY_NAME.get(name)


def names() -> list[str]:
    """Every name and alias that can be called."""
    return sorted(name for name in _BY_NAME if name != "index")

"""The signs between two operands: how tightly they bind, and the functions that they are."""

from __future__ import annotations

from collections.abc import Mapping

from gradcli.language.text.precedence import BY_ELEMENTS, LEVELS, POWERS

_NAMES: Mapping[str, str] = {
    "or": "logical_or",
    "and": "logical_and",
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
}

BINARY: Mapping[str, tuple[int, str]] = {sign: (LEVELS[sign], name) for sign, name in _NAMES.items()}
"""What is read from the left, with how tightly it binds."""

FUNCTIONS: Mapping[str, str] = {**_NAMES, **{marked: _NAMES[sign] for marked, sign in BY_ELEMENTS.items()}}
"""The functions that they are, MATLAB's signs among them."""

SIGNS: Mapping[str, str] = {
    **{sign: name for sign, name in _NAMES.items() if not sign.isalpha()},
    **dict.fromkeys(POWERS[:2], "pow"),
}
"""The functions that signs are."""

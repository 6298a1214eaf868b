"""The signs between two operands: how tightly they bind, and the functions that they are."""

from __future__ import annotations

from collections.abc import Mapping

BINARY: Mapping[str, tuple[int, str]] = {
    "or": (1, "logical_or"),
    "and": (2, "logical_and"),
    "<": (4, "lt"),
    "<=": (4, "le"),
    ">": (4, "gt"),
    ">=": (4, "ge"),
    "==": (4, "eq"),
    "!=": (4, "ne"),
    "|": (5, "logical_or"),
    "&": (6, "logical_and"),
    "+": (7, "add"),
    "-": (7, "sub"),
    "*": (8, "mul"),
    "/": (8, "div"),
    "//": (8, "floor_divide"),
    "%": (8, "remainder"),
    "@": (8, "matmul"),
}
"""What is read from the left, with how tightly it binds."""

BY_ELEMENTS: Mapping[str, tuple[int, str]] = {".*": BINARY["*"], "./": BINARY["/"]}
"""MATLAB's signs for them."""

COMPARISON, PRODUCT = 4, 8
"""How tightly comparisons and products bind."""

POWERS = ("**", "^", ".^")
"""What is read from the right and binds most tightly."""

TRANSPOSES = ("'", ".'")
"""What stands behind a matrix that is transposed."""

MARKS = frozenset([*BY_ELEMENTS, ".^", *TRANSPOSES])
"""What MATLAB has and Python has not."""

SIGNS: Mapping[str, str] = {
    **{sign: name for sign, (_, name) in BINARY.items() if not sign.isalpha()},
    **dict.fromkeys(POWERS[:2], "pow"),
}
"""The functions that signs are."""

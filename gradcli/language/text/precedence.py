"""The signs between operands: how tightly they bind, and which side is read first."""

from __future__ import annotations

from collections.abc import Mapping

LEVELS: Mapping[str, int] = {
    "or": 1,
    "and": 2,
    "<": 4,
    "<=": 4,
    ">": 4,
    ">=": 4,
    "==": 4,
    "!=": 4,
    "|": 5,
    "&": 6,
    "+": 7,
    "-": 7,
    "*": 8,
    "/": 8,
    "//": 8,
    "%": 8,
    "@": 8,
    ".*": 8,
    "./": 8,
}
"""What is read from the left."""

COMPARISON, PRODUCT = 4, 8
"""How tightly comparisons and products bind."""

POWERS = ("**", "^", ".^")
"""What is read from the right and binds most tightly."""

BY_ELEMENTS: Mapping[str, str] = {".*": "*", "./": "/"}
"""MATLAB's signs for products and quotients, element by element."""

TRANSPOSES = ("'", ".'")
"""What stands behind a matrix that is transposed."""

MARKS = frozenset([*BY_ELEMENTS, ".^", *TRANSPOSES])
"""What MATLAB has and Python has not."""

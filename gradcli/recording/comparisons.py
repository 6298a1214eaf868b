"""Comparisons in the user's code with a number that leaves torch at this moment, as in `if float(x[0]) > 0`."""

from __future__ import annotations

import ast
import functools
import itertools
import linecache
import math
from types import FrameType
from typing import NamedTuple

from gradcli.recording.made_operands import expression_at

_OPERATIONS = {ast.Gt: "gt", ast.GtE: "ge", ast.Lt: "lt", ast.LtE: "le", ast.Eq: "eq", ast.NotEq: "ne"}
"""Operations of comparisons, by the kind of their node."""

_REVERSED = {"gt": "lt", "ge": "le", "lt": "gt", "le": "ge", "eq": "eq", "ne": "ne"}
"""The same with the operands in the other order."""


class ComparedNumber(NamedTuple):
    """Comparison of a number with another one.

    Attributes:
        operation: Its name.
        other: The other number.
        text: The comparison as it is written.
        element: The position of the number in what the call gives; None if it gives the number.
        is_whole: Whether the number was cut off to a whole one.
    """

    operation: str
    other: float
    text: str
    element: int | None
    is_whole: bool


_FOLDS = frozenset("any all equal allclose is_nonzero".split())
"""Names of the functions whose truth value is a condition as it is written."""


def condition_at(frame: FrameType | None) -> str:
    """Write the condition that a line of code decides at this moment as it is written there; empty if that says little.

    >>> condition_at(None)
    ''
    """
    match node := expression_at(frame):
        case ast.Compare(ops=[_]):
            return ast.unparse(node)
        case ast.Call(func=ast.Attribute(attr=name)) if name in _FOLDS:
            return ast.unparse(node)
        case ast.Call(func=ast.Name("bool"), args=[ast.Compare(ops=[_]) as inner]):
            return ast.unparse(inner)
    return ""


def comparison_at(frame: FrameType | None) -> ComparedNumber | None:
    """Find the comparison of what a line of code calls at this moment with a number; None if there is none.

    >>> comparison_at(None)
    """
    if frame is None:
        return None
    found = next(itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), (None,) * 4)
    first, last, start, end = found
    source = "".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals))
    called = None if first is None else _compared_calls(source).get((first, last, start, end))
    if called is None:
        return None
    call, element, comparison = called
    operation = _OPERATIONS.get(type(comparison.ops[0]))
    left, right = comparison.left, comparison.comparators[0]
    is_left = call in ast.walk(left)
    other = _number(right if is_left else left, frame)
    if operation is None or other is None or len(comparison.ops) > 1:
        return None
    is_whole = isinstance(call.func, ast.Name) and call.func.id == "int"
    operation = operation if is_left else _REVERSED[operation]
    return ComparedNumber(operation, other, ast.unparse(comparison), element, is_whole)


@functools.lru_cache(maxsize=8)
def _compared_calls(
    source: str,
) -> dict[tuple[int | None, ...], tuple[ast.Call, int | None, ast.Compare]]:
    """Find the calls that are compared in a file, by their positions; also those of which an element is."""
    found: dict[tuple[int | None, ...], tuple[ast.Call, int | None, ast.Compare]] = {}
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return found
    for comparison in (node for node in ast.walk(tree) if isinstance(node, ast.Compare)):
        for side in (comparison.left, *comparison.comparators):
            call, element = side, None
            if isinstance(side, ast.Subscript) and isinstance(side.slice, ast.Constant):
                call, element = side.value, side.slice.value
            if isinstance(call, ast.Call) and isinstance(element, int | None):
                place = call.lineno, call.end_lineno, call.col_offset, call.end_col_offset
                found[place] = call, element, comparison
    return found


def _number(node: ast.expr, frame: FrameType) -> float | None:
    """Give the number that a constant or a name stands for, with its sign."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        found = _number(node.operand, frame)
        return None if found is None else -found
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(node, ast.Name):
        value = frame.f_locals.get(node.id, frame.f_globals.get(node.id))
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None

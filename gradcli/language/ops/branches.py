"""Branches: comparisons and logic, which are 1 or 0 in arithmetic, and what is chosen by them.

A row without a meaning is a primitive.
"""

from __future__ import annotations

from gradcli.language.ops.facts import Branches
from gradcli.language.ops.row import Op, defined, one


def _comparison(name: str, sign: str, doc: str, numpy: str, *sense: int) -> Op:
    return Op(
        name,
        ("a", "b"),
        f"whether {doc}; a {sign} b",
        aliases=(numpy,),
        operator=name,
        torch=name,
        numpy=numpy,
        is_condition=True,
        sense=sense,
        is_exact=True,
        kinks=("a - b",),
        is_step=True,
        example=f"where(x {sign} 2, x, x**2) at x=1,3",
    )


def _connective(name: str, alias: str, operator: str, doc: str, meaning: str, example: str) -> Op:
    return Op(
        name,
        ("a", "b"),
        doc,
        meaning,
        aliases=(alias,),
        operator=operator,
        torch=name,
        numpy=name,
        conditions=("a", "b"),
        is_condition=True,
        variadic=True,
        example=f"where({example}, x**2, 0) at x=-1,1,3",
    )


ROWS = (
    Op(
        "where",
        ("condition", "input", "other"),
        "input where the condition holds, else other; also a if c else b, and Piecewise((a, c), (b, True))",
        torch="where",
        numpy="where",
        conditions=("condition",),
        branches=Branches("condition", "input", "other"),
        is_exact=True,
        notation=("input if condition else other", "Piecewise((input, condition), (other, True))"),
        caveat="torch multiplies the derivative of the branch not taken by 0, so that a NaN there stays NaN",
        example="where(x > 0, x**2, -x) at x=-1,2",
    ),
    _comparison("gt", ">", "a is greater than b", "greater", 1),
    _comparison("ge", ">=", "a is b or greater", "greater_equal", 0, 1),
    _comparison("lt", "<", "a is less than b", "less", -1),
    _comparison("le", "<=", "a is b or less", "less_equal", -1, 0),
    _comparison("eq", "==", "a equals b", "equal", 0),
    _comparison("ne", "!=", "a does not equal b", "not_equal", -1, 1),
    _connective(
        "logical_and", "And", "and_", "whether both conditions hold; a & b", "where(a, b, 0)", "(x > 0) & (x < 2)"
    ),
    _connective(
        "logical_or", "Or", "or_", "whether one of two conditions holds; a | b", "where(a, 1, b)", "(x < 0) | (x > 2)"
    ),
    Op(
        "logical_not",
        ("a",),
        "whether a condition does not hold; ~a",
        "where(a, 0, 1)",
        aliases=("Not",),
        operator="invert",
        torch="logical_not",
        numpy="logical_not",
        conditions=("a",),
        is_condition=True,
        notation=("~a",),
        example="where(~(x > 0), x**2, 0) at x=-1,1,3",
    ),
    Op(
        "masked_fill",
        ("x", "mask", "value"),
        "value where the mask holds, else x",
        "where(mask, value, x)",
        torch="masked_fill",
        numbers=("value",),
        conditions=("mask",),
        branches=Branches("mask", "value", "x"),
        example="masked_fill(x, x < 0, 0) at x=-1,2",
    ),
    defined(
        "lerp",
        "input, end, weight",
        "input + weight*(end - input)",
        "from input to end in proportion to weight",
        torch="lerp",
        example="lerp(a, b, w) at a=1 b=3 w=0.25",
    ),
    one("zeros_like", "zeros of the same shape", numpy="zeros_like", is_detached=True, is_exact=True),
    one("ones_like", "ones of the same shape", numpy="ones_like", is_detached=True, is_exact=True),
    one(
        "detach",
        "x as a constant: its derivative is 0",
        torch="Tensor.detach",
        is_detached=True,
        is_exact=True,
        example="x*detach(x) at x=3",
    ),
)

"""Elementwise operations of pieces: signs, whole parts, extremes of two, remainders, and branches by conditions.

Comparisons and logic are 1 or 0 in arithmetic.  A row without a meaning is a primitive.
"""

from __future__ import annotations

from gradcli.language.ops.row import Branches, Monoid, Op, known, row

_WHOLE = ("sin(pi*x)",)
"""Vanishes at whole numbers."""


def _comparison(names: str, sign: str, doc: str, *sense: int) -> Op:
    name, numpy = names.split("|")
    return known(
        f"{names}(a, b)",
        f"whether {doc}; a {sign} b",
        operator=name,
        numpy=numpy,
        is_condition=True,
        sense=sense,
        is_exact=True,
        kinks=("a - b",),
        is_step=True,
        example=f"where(x {sign} 2, x, x**2) at x=1,3",
    )


def _connective(names: str, operator: str, doc: str, meaning: str, example: str) -> Op:
    return known(
        f"{names}(a, b)",
        doc,
        meaning,
        operator=operator,
        numpy=names.partition("|")[0],
        conditions=("a", "b"),
        is_condition=True,
        variadic=True,
        example=f"where({example}, x**2, 0) at x=-1,1,3",
    )


PIECES = (
    known(
        "abs|Abs|absolute|fabs(x)", "the absolute value", numpy="abs", is_exact=True, kinks=("x",), rises_at_kink=True
    ),
    known("sign|sgn(x)", "the sign: -1, 0 or 1", numpy="sign", is_exact=True, kinks=("x",), is_step=True),
    known(
        "floor(x)",
        "the greatest integer not above x",
        numpy="floor",
        is_exact=True,
        kinks=("x - floor(x)",),
        is_step=True,
        critical=_WHOLE,
    ),
    known(
        "ceil|ceiling(x)",
        "the least integer not below x",
        numpy="ceil",
        is_exact=True,
        kinks=("x - floor(x)",),
        is_step=True,
        critical=_WHOLE,
    ),
    known(
        "trunc|fix(x)",
        "x without its fraction",
        numpy="trunc",
        is_exact=True,
        kinks=("abs(x) - floor(abs(x)) + 1 - minimum(abs(x), 1)",),  # whole numbers but 0
        is_step=True,
        critical=("where(abs(x) < 1/2, 1, sin(pi*x))",),
    ),
    known(
        "round(x)",
        "the nearest integer, halves to even",
        numpy="round",
        is_exact=True,
        kinks=("x + 1/2 - floor(x + 1/2)",),
        is_step=True,
        critical=("cos(pi*x)",),
        example="round(x) at x=1.7",
    ),
    known(
        "maximum|Max(a, b)",
        "the larger",
        numpy="maximum",
        monoid=Monoid.LARGEST,
        is_exact=True,
        variadic=True,
        kinks=("a - b",),
    ),
    known(
        "minimum|Min(a, b)",
        "the smaller",
        numpy="minimum",
        monoid=Monoid.SMALLEST,
        is_exact=True,
        variadic=True,
        kinks=("a - b",),
    ),
    known("frac(x)", "the fraction, with the sign of x", "x - trunc(x)", elsewhere={"sympy": "x - floor(x)"}),
    row(
        "floor_divide(a, b)",
        "the whole part of a/b, rounded down; a // b",
        "floor(a/b)",
        domain="b != 0",
        guarded="b",
        caveat="torch has no derivative for it; floor(a/b) is run, whose derivative is 0",
        example="floor_divide(a, b) at a=7.5 b=2",
    ),
    known(
        "fmod(a, b)",
        "the remainder with the sign of a",
        "a - b*trunc(a/b)",
        numpy="fmod",
        domain="b != 0",
        guarded="b",
        example="fmod(a, b) at a=-7.5 b=2",
    ),
    known(
        "remainder|Mod(a, b)",
        "a modulo b, with the sign of b; a % b",
        "a - b*floor(a/b)",
        numpy="remainder",
        domain="b != 0",
        guarded="b",
        elsewhere={"math": "a - b*round(a/b)"},
        example="remainder(a, b) at a=7.5 b=2",
    ),
    known(
        "clamp|clip(x, min, max)",
        "x between two bounds; one of them may be left out, as in x.clamp(min=0)",
        "minimum(maximum(x, min), max)",
        numpy="clip",
        example="clamp(x, 0, 1) at x=-2,0.5,3",
    ),
    known("clamp_min(x, min)", "x, or min where it is smaller", "maximum(x, min)", example="clamp_min(x, 0) at x=-2,3"),
    known("clamp_max(x, max)", "x, or max where it is larger", "minimum(x, max)", example="clamp_max(x, 0) at x=-2,3"),
)

BRANCHES = (
    known(
        "where(condition, input, other)",
        "input where the condition holds, else other; also a if c else b, and Piecewise((a, c), (b, True))",
        numpy="where",
        conditions=("condition",),
        branches=Branches("condition", "input", "other"),
        is_exact=True,
        caveat="torch multiplies the derivative of the branch not taken by 0, so that a NaN there stays NaN",
        notation=("input if condition else other", "Piecewise((input, condition), (other, True))"),
        example="where(x > 0, x**2, -x) at x=-1,2",
    ),
    _comparison("gt|greater", ">", "a is greater than b", 1),
    _comparison("ge|greater_equal", ">=", "a is b or greater", 0, 1),
    _comparison("lt|less", "<", "a is less than b", -1),
    _comparison("le|less_equal", "<=", "a is b or less", -1, 0),
    _comparison("eq|equal", "==", "a equals b", 0),
    _comparison("ne|not_equal", "!=", "a does not equal b", -1, 1),
    _connective(
        "logical_and|And", "and_", "whether both conditions hold; a & b", "where(a, b, 0)", "(x > 0) & (x < 2)"
    ),
    _connective(
        "logical_or|Or", "or_", "whether one of two conditions holds; a | b", "where(a, 1, b)", "(x < 0) | (x > 2)"
    ),
    known(
        "logical_not|Not(a)",
        "whether a condition does not hold; ~a",
        "where(a, 0, 1)",
        operator="invert",
        numpy="logical_not",
        conditions=("a",),
        is_condition=True,
        notation=("~a",),
        example="where(~(x > 0), x**2, 0) at x=-1,1,3",
    ),
    known(
        "masked_fill(x, mask, value)",
        "value where the mask holds, else x",
        "where(mask, value, x)",
        numbers=("value",),
        conditions=("mask",),
        branches=Branches("mask", "value", "x"),
        example="masked_fill(x, x < 0, 0) at x=-1,2",
    ),
    known(
        "lerp(input, end, weight)",
        "from input to end in proportion to weight",
        "input + weight*(end - input)",
        example="lerp(a, b, w) at a=1 b=3 w=0.25",
    ),
    known("zeros_like(x)", "zeros of the same shape", numpy="zeros_like", is_detached=True, is_exact=True),
    known("ones_like(x)", "ones of the same shape", numpy="ones_like", is_detached=True, is_exact=True),
    known(
        "detach(x)",
        "x as a constant: its derivative is 0",
        torch="Tensor.detach",
        is_detached=True,
        is_exact=True,
        example="x*detach(x) at x=3",
    ),
)

"""Arithmetic of several operands, and functions of numbers that others make up."""

from __future__ import annotations

from gradcli.language.ops.row import Constants, known, row

LARGEST = 1.7976931348623157e308
"""Of float64, which torch puts in the place of an infinity."""


def _rounded(constants: Constants) -> str:
    """Rounded to whole multiples of a power of 10, which is exact where it is one of whole numbers."""
    places = constants["decimals"]
    if places < 0:
        return f"round(x/{10**-places})*{10**-places}"
    return f"round(x*{10**places})/{10**places}" if places else "round(x)"


COMBINED = (
    known(
        "fmax(a, b)",
        "the larger one, or the other where one is nan",
        "maximum(a, b)",
        total="where(a != a, b, where(b != b, a, maximum(a, b)))",
    ),
    known(
        "fmin(a, b)",
        "the smaller one, or the other where one is nan",
        "minimum(a, b)",
        total="where(a != a, b, where(b != b, a, minimum(a, b)))",
    ),
    row("scaled_add(a, b, alpha:1)", "a + alpha*b: add with alpha", "a + alpha*b"),
    row("scaled_sub(a, b, alpha:1)", "a - alpha*b: sub with alpha", "a - alpha*b"),
    row(
        "rounded_div(a, b, rounding_mode=None)",
        "a / b rounded down or towards 0, as rounding_mode says: div with it",
        "floor(a/b)",
        written=lambda constants: f"{constants['rounding_mode'] or ''}(a/b)",
        example="rounded_div(a, b, 'floor') at a=7.5 b=2",
    ),
    row(
        "round_to|around(x, decimals=0)",
        "rounded to so many decimals: round with them",
        "round(x*10**decimals)/10**decimals",
        written=_rounded,
        example="round_to(x, 2) at x=1.237",
    ),
    row(
        "heaviside(input, values)",
        "0 where input is negative, 1 where it is positive, and values where it is 0",
        "where(input < 0, 0, where(input > 0, 1, values))",
        example="heaviside(x, 1/2)*x at x=-1,2",
    ),
    row(
        "cbrt(x)",
        "the cube root, negative where x is",
        "sign(x)*abs(x)**(1/3)",
        domain="x != 0",
        example="cbrt(x) at x=-8,27",
    ),
    known("rsub(a, b, alpha#:1)", "b - alpha*a", "b - alpha*a"),
    known(
        "addcmul(input, tensor1, tensor2, value#:1)",
        "a product added, value times",
        "input + value*tensor1*tensor2",
        example="addcmul(x, a, b) at x=1 a=2 b=3",
    ),
    known(
        "addcdiv(input, tensor1, tensor2, value#:1)",
        "a quotient added, value times",
        "input + value*tensor1/tensor2",
        domain="tensor2 != 0",
        example="addcdiv(x, a, b) at x=1 a=2 b=3",
    ),
    known(
        "copysign(a, b)",
        "|a| with the sign of b",
        "where(b < 0, -abs(a), abs(a))",
        total="where(atan2(b, -1) < 0, -abs(a), abs(a))",  # the angle of -0 is -pi
        example="copysign(a, b) at a=2 b=-1",
    ),
    known("ldexp(a, b)", "a*2**b", "a*2**b"),
    known("float_power(a, b)", "a**b in float64", "a**b"),
    known(
        "logaddexp2(a, b)",
        "log2(2**a + 2**b) without overflow",
        "log(2**a + 2**b)/log(2)",
        in_floats="maximum(a, b) + log1p(2**(-abs(a - b)))/log(2)",
    ),
    known(
        "positive|real|conj|conj_physical|resolve_conj|resolve_neg(x)",
        "x itself, as the real part and the conjugate of a real number are",
        "1*x",
    ),
    known(
        "angle(x)",
        "the angle of a real number: pi where it is negative, else 0",
        "where(x < 0, pi, 0)",
        example="angle(x)*x at x=-2",
    ),
    row(
        "fill(x, value)", "value in every element of x's shape", "value*ones_like(x)", example="fill(x, a) at x=1,2 a=3"
    ),
    known(
        f"nan_to_num(x, nan#:0, posinf#:{LARGEST}, neginf#:{-LARGEST})",
        "x with numbers in the place of nan and of infinities",
        "where(x != x, nan, where(x == inf, posinf, where(x == -inf, neginf, x)))",
        example="nan_to_num(x) at x=1,2",
    ),
)

"""Elementwise operations: arithmetic, what SymPy and torch share, what follows from it, pieces, and branches.

A row without a meaning is a primitive.  Comparisons and logic are 1 or 0 in arithmetic.  Sources: the torch and SymPy
references of each function; the identities of the meanings are those of the NIST Digital Library of Mathematical
Functions, chapters 4, 5, 7 and 10.
"""

from __future__ import annotations

from gradcli.language.ops.row import Monoid, Op, known, row

_POLES = ("sin(pi*minimum(x, 1/2))",)
"""Vanishes at 0 and at negative whole numbers."""


ARITHMETIC = (
    known("neg|negative(x)", "-x", coefficients=(-1,), notation=("-x",)),
    known("add(a, b)", "a + b", monoid=Monoid.SUM, coefficients=(1, 1), adds_terms=True),
    known("sub|subtract(a, b)", "a - b", coefficients=(1, -1), adds_terms=True),
    known("mul|multiply(a, b)", "a * b", monoid=Monoid.PRODUCT),
    known("div|divide|true_divide(a, b)", "a / b", domain="b != 0", rule_name="quotient rule"),
    known(
        "pow|Pow|power(a, b)",
        "a ** b",
        domain="a > 0, or b >= 0 at a = 0, or an integer b at a < 0",
        edges=("where(b == round(b), 1, a)",),
        rule_name="power rule",
    ),
)

EXPONENTIAL = (
    known("exp(x)", "the exponential"),
    known("log|ln(x)", "the natural logarithm", domain="x > 0", notation=("log(x, base)",)),
    known("sqrt(x)", "the square root", domain="x >= 0", edges=("x",), rule_name="power rule"),
    known("exp2(x)", "2 to the power x", "2**x"),
    known("expm1(x)", "exp(x) - 1 without cancellation", "exp(x) - 1"),
    known("log1p(x)", "log(1 + x) without cancellation", "log(1 + x)", domain="x > -1"),
    known("log2(x)", "the logarithm to base 2", "log(x)/log(2)", domain="x > 0"),
    known("log10(x)", "the logarithm to base 10", "log(x)/log(10)", domain="x > 0"),
    known("square(x)", "x squared", "x**2", rule_name="power rule"),
    known("rsqrt(x)", "one over the square root", "1/sqrt(x)", domain="x > 0"),
    known("reciprocal(x)", "one over x", "1/x", domain="x != 0", rule_name="power rule"),
)

TRIGONOMETRIC = (
    known("sin(x)", "the sine"),
    known("cos(x)", "the cosine"),
    known("tan(x)", "the tangent", domain="cos(x) != 0"),
    known("asin|arcsin(x)", "the inverse sine", domain="-1 <= x <= 1", edges=("1 - x**2",)),
    known("acos|arccos(x)", "the inverse cosine", domain="-1 <= x <= 1", edges=("1 - x**2",)),
    known("atan|arctan(x)", "the inverse tangent"),
    known(
        "atan2|arctan2(y, x)",
        "the angle of (x, y)",
        domain="(x, y) != 0",
        kinks=("abs(y) + maximum(x, 0)",),  # the branch cut, where the angle jumps from pi to -pi
    ),
    known("sinc(x)", "sin(pi*x)/(pi*x), and 1 at 0"),
    row("sec(x)", "the secant", "1/cos(x)", domain="cos(x) != 0"),
    row("csc(x)", "the cosecant", "1/sin(x)", domain="sin(x) != 0"),
    row("cot(x)", "the cotangent", "1/tan(x)", domain="sin(x) != 0"),
    known("deg2rad|radians(x)", "degrees to radians", "x*pi/180"),
    known("rad2deg|degrees(x)", "radians to degrees", "x*180/pi"),
)

HYPERBOLIC = (
    known("sinh(x)", "the hyperbolic sine"),
    known("cosh(x)", "the hyperbolic cosine"),
    known("tanh(x)", "the hyperbolic tangent"),
    known("asinh|arcsinh(x)", "the inverse hyperbolic sine"),
    known(
        "acosh|arccosh(x)",
        "the inverse hyperbolic cosine",
        domain="x >= 1",
        edges=("x - 1",),
        example="acosh(x) at x=2",
    ),
    known("atanh|arctanh(x)", "the inverse hyperbolic tangent", domain="-1 < x < 1"),
)

SPECIAL = (
    known("erf(x)", "the error function"),
    known("erfc(x)", "1 - erf(x) without cancellation"),
    known("erfinv(x)", "the inverse error function", domain="-1 < x < 1", edges=("1 - abs(x)",)),
    known(
        "lgamma|loggamma|gammaln(x)",
        "the logarithm of |gamma(x)|",
        kernel=(1, 0.0),
        domain="x is not 0, -1, -2, ...",
        edges=_POLES,
    ),
    known(
        "digamma|psi(x)", "the derivative of lgamma", kernel=(1, 0.0), domain="x is not 0, -1, -2, ...", edges=_POLES
    ),
    known(
        "polygamma(n=, x)",
        "the n-th derivative of digamma; n is a whole number",
        kernel=(1, 0.0),
        domain="x is not 0, -1, -2, ...",
        edges=_POLES,
        example="polygamma(1, x) at x=2.5",
    ),
    known("i0(x)", "the modified Bessel function of order 0", torch="special.i0"),
    known("i1(x)", "the modified Bessel function of order 1", torch="special.i1", arb="bessel_i(x, 1)"),
    known(
        "zeta(x~%, q)",
        "the Hurwitz zeta function: the sum of (q + n)**-x over n = 0, 1, 2, ...",
        torch="special.zeta",
        arb="zeta(x, q)",
        slopes={"q": "-x*zeta(x + 1, q)"},
        kernel=(4, 0.0),
        domain="x > 1, q > 0",
        edges=("x - 1", "q"),
        example="zeta(2.5, q) at q=1.5",
    ),
    known(
        "gammaincc|igammac(a~%, x)",
        "the regularized upper incomplete gamma function",
        torch="special.gammaincc",
        arb="gamma_upper(x, a, 1)",
        slopes={"x": "-exp((a - 1)*log(x) - x - lgamma(a))"},
        kernel=(8, 2.0**-28),
        domain="a > 0, x >= 0",
        edges=("a", "x"),
        example="gammaincc(2.5, x) at x=1.5",
    ),
    known("ndtr(x)", "the normal distribution function", "(1 + erf(x/sqrt(2)))/2", torch="special.ndtr"),
    known(
        "hypot(a, b)",
        "the length of (a, b)",
        "sqrt(a**2 + b**2)",
        caveat="a kink where both are 0; torch's derivative is nan there",
    ),
    known("logaddexp(a, b)", "log(exp(a) + exp(b)) without overflow", "log(exp(a) + exp(b))"),
    known(
        "xlogy(a, b)",
        "a*log(b); torch gives 0 at a = 0",
        "a*log(b)",
        total="where((a == 0) & (b <= 0), 0, a*log(b))",
        torch="special.xlogy",
        domain="b > 0",
    ),
    known("logit(x)", "the inverse of sigmoid", "log(x/(1 - x))", domain="0 < x < 1"),
)


def _comparison(names: str, sign: str, doc: str, *sense: int) -> Op:
    example = f"where(x {sign} 2, x, x**2) at x=1,3"
    return known(f"{names}(a, b)", f"whether {doc}; a {sign} b", sense=sense, kinks=("a - b",), example=example)


def _connective(names: str, doc: str, meaning: str, example: str) -> Op:
    return known(f"{names}(a&, b&*)", doc, meaning, example=f"where({example}, x**2, 0) at x=-1,1,3")


def _state(name: str, doc: str, meaning: str) -> Op:
    return known(f"{name}(x)", f"whether x {doc}", meaning, example=f"where({name}(x), x + 1, x**2) at x=3")


PIECES = (
    known("abs|Abs|absolute|fabs(x)", "the absolute value", kinks=("x",)),
    known("sign|sgn(x)", "the sign: -1, 0 or 1", kinks=("x",)),
    known("floor(x)", "the greatest integer not above x", kinks=("x - floor(x)",)),
    known("ceil|ceiling(x)", "the least integer not below x", kinks=("x - floor(x)",)),
    known(
        "trunc|fix(x)",
        "x without its fraction",
        kinks=("abs(x) - floor(abs(x)) + 1 - minimum(abs(x), 1)",),  # whole numbers but 0
    ),
    known(
        "round(x)",
        "the nearest integer, halves to even",
        kinks=("x + 1/2 - floor(x + 1/2)",),
        example="round(x) at x=1.7",
    ),
    known("maximum|Max(a, b*)", "the larger", monoid=Monoid.LARGEST, kinks=("a - b",)),
    known("minimum|Min(a, b*)", "the smaller", monoid=Monoid.SMALLEST, kinks=("a - b",)),
    known("frac(x)", "the fraction, with the sign of x", "x - trunc(x)"),
    row(
        "floor_divide(a, b)",
        "the whole part of a/b, rounded down; a // b",
        "floor(a/b)",
        domain="b != 0",
        caveat="torch has no derivative for it; floor(a/b) is run, whose derivative is 0",
        example="floor_divide(a, b) at a=7.5 b=2",
    ),
    known(
        "fmod(a, b)",
        "the remainder with the sign of a",
        "a - b*trunc(a/b)",
        domain="b != 0",
        example="fmod(a, b) at a=-7.5 b=2",
    ),
    known(
        "remainder|Mod|mod(a, b)",
        "a modulo b, with the sign of b; a % b",
        "a - b*floor(a/b)",
        domain="b != 0",
        example="remainder(a, b) at a=7.5 b=2",
    ),
    known(
        "clamp|clip(x, min, max)",
        "x between two bounds; one of them may be left out, as in x.clamp(min=0)",
        "minimum(maximum(x, min), max)",
        example="clamp(x, 0, 1) at x=-2,0.5,3",
    ),
    known("clamp_min(x, min)", "x, or min where it is smaller", "maximum(x, min)", example="clamp_min(x, 0) at x=-2,3"),
    known("clamp_max(x, max)", "x, or max where it is larger", "minimum(x, max)", example="clamp_max(x, 0) at x=-2,3"),
)

BRANCHES = (
    known(
        "where(condition&, input, other)",
        "input where the condition holds, else other; also a if c else b, and Piecewise((a, c), (b, True))",
        caveat="torch multiplies the derivative of the branch not taken by 0, so that a NaN there stays NaN",
        notation=("input if condition else other", "Piecewise((input, condition), (other, True))"),
        example="where(x > 0, x**2, -x) at x=-1,2",
    ),
    _comparison("gt|greater", ">", "a is greater than b", 1),
    _comparison("ge|greater_equal", ">=", "a is b or greater", 0, 1),
    _comparison("lt|less", "<", "a is less than b", -1),
    _comparison("le|less_equal", "<=", "a is b or less", -1, 0),
    _comparison("eq|equal|Eq", "==", "a equals b", 0),
    _comparison("ne|not_equal|Ne", "!=", "a does not equal b", -1, 1),
    _connective("logical_and|And", "whether both conditions hold; a & b", "where(a, b, 0)", "(x > 0) & (x < 2)"),
    _connective("logical_or|Or", "whether one of two conditions holds; a | b", "where(a, 1, b)", "(x < 0) | (x > 2)"),
    known(
        "logical_not|Not(a&)",
        "whether a condition does not hold; ~a",
        "where(a, 0, 1)",
        notation=("~a",),
        example="where(~(x > 0), x**2, 0) at x=-1,1,3",
    ),
    _state("isnan", "is no number", "x != x"),
    _state("isinf", "is infinite", "abs(x) == inf"),
    _state("isfinite", "is neither infinite nor nan", "abs(x) < inf"),
    known(
        "masked_fill(x, mask&, value#)",
        "value where the mask holds, else x",
        "where(mask, value, x)",
        example="masked_fill(x, x < 0, 0) at x=-1,2",
    ),
    known(
        "lerp(input, end, weight)",
        "from input to end in proportion to weight",
        "input + weight*(end - input)",
        example="lerp(a, b, w) at a=1 b=3 w=0.25",
    ),
    known("zeros_like(x)", "zeros of the same shape"),
    known("ones_like(x)", "ones of the same shape"),
    known("detach(x)", "x as a constant: its derivative is 0", torch="Tensor.detach", example="x*detach(x) at x=3"),
)

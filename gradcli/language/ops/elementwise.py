"""Elementwise operations: arithmetic, what SymPy and torch share, and what follows from it.

A row without a meaning is a primitive.  Sources: the torch and SymPy references of each function; the identities of
the meanings are those of the NIST Digital Library of Mathematical Functions, chapters 4, 5, 7 and 10.
"""

from __future__ import annotations

from gradcli.language.ops.row import REQUIRED, Op, defined, one

_WHOLE = ("sin(pi*x)",)
"""Vanishes at whole numbers."""

_POLES = ("where(x > 1/2, 1, sin(pi*x))",)
"""Vanishes at 0 and at negative whole numbers."""

ARITHMETIC = (
    Op("neg", ("x",), "-x", aliases=("negative",), operator="neg", torch="neg", numpy="negative"),
    Op("add", ("a", "b"), "a + b", operator="add", torch="add", numpy="add"),
    Op("sub", ("a", "b"), "a - b", aliases=("subtract",), operator="sub", torch="sub", numpy="subtract"),
    Op("mul", ("a", "b"), "a * b", aliases=("multiply",), operator="mul", torch="mul", numpy="multiply"),
    Op(
        "div",
        ("a", "b"),
        "a / b",
        aliases=("divide",),
        operator="truediv",
        torch="div",
        numpy="divide",
        domain="b != 0",
        critical=("b",),
        slopes=("1/b", "-(a/b/b)"),
    ),
    Op(
        "pow",
        ("a", "b"),
        "a ** b",
        aliases=("Pow", "power"),
        operator="pow",
        torch="pow",
        numpy="power",
        domain="a > 0, or b >= 0 at a = 0, or an integer b at a < 0",
        critical=("a",),  # but for a constant whole exponent from 0 on
        edges=("where(b == round(b), 1, a)",),
    ),
)

EXPONENTIAL = (
    one("exp", "the exponential", numpy="exp", slopes=("result",)),
    one("log", "the natural logarithm", "ln", numpy="log", domain="x > 0", critical=("x",)),
    one("sqrt", "the square root", numpy="sqrt", domain="x >= 0", edges=("x",), slopes=("1/(2*result)",)),
    defined("exp2", "x", "2**x", "2 to the power x", torch="exp2", numpy="exp2"),
    defined(
        "expm1",
        "x",
        "exp(x) - 1",
        "exp(x) - 1 without cancellation",
        torch="expm1",
        numpy="expm1",
        slopes=("result + 1",),
    ),
    defined(
        "log1p", "x", "log(1 + x)", "log(1 + x) without cancellation", torch="log1p", numpy="log1p", domain="x > -1"
    ),
    defined("log2", "x", "log(x)/log(2)", "the logarithm to base 2", torch="log2", numpy="log2", domain="x > 0"),
    defined("log10", "x", "log(x)/log(10)", "the logarithm to base 10", torch="log10", numpy="log10", domain="x > 0"),
    defined("square", "x", "x**2", "x squared", torch="square", numpy="square"),
    defined("rsqrt", "x", "1/sqrt(x)", "one over the square root", torch="rsqrt", domain="x > 0"),
    defined("reciprocal", "x", "1/x", "one over x", torch="reciprocal", numpy="reciprocal", domain="x != 0"),
)

TRIGONOMETRIC = (
    one("sin", "the sine", numpy="sin"),
    one("cos", "the cosine", numpy="cos"),
    one("tan", "the tangent", numpy="tan", domain="cos(x) != 0", critical=("cos(x)",), slopes=("1 + result**2",)),
    one("asin", "the inverse sine", "arcsin", numpy="arcsin", domain="-1 <= x <= 1", edges=("1 - x**2",)),
    one("acos", "the inverse cosine", "arccos", numpy="arccos", domain="-1 <= x <= 1", edges=("1 - x**2",)),
    one("atan", "the inverse tangent", "arctan", numpy="arctan"),
    Op(
        "atan2",
        ("y", "x"),
        "the angle of (x, y)",
        aliases=("arctan2",),
        torch="atan2",
        numpy="arctan2",
        domain="(x, y) != 0",
        kinks=("abs(y) + maximum(x, 0)",),  # the branch cut, where the angle jumps from pi to -pi
        is_step=True,
        critical=("abs(y) + maximum(x, 0)",),  # there is no angle at 0, whatever the operands are
        slopes=("x*(1/(y*y + x*x))", "-y*(1/(y*y + x*x))"),
    ),
    one(
        "sinc",
        "sin(pi*x)/(pi*x), and 1 at 0",
        numpy="sinc",
        elsewhere={"sympy": "sinc(x/pi)"},
        slopes=("where(x == 0, 0, (x*pi*cos(x*pi) - sin(x*pi))/(x*x*pi))",),
    ),
    defined("sec", "x", "1/cos(x)", "the secant", domain="cos(x) != 0"),
    defined("csc", "x", "1/sin(x)", "the cosecant", domain="sin(x) != 0"),
    defined("cot", "x", "1/tan(x)", "the cotangent", domain="sin(x) != 0"),
    defined("deg2rad", "x", "x*pi/180", "degrees to radians", "radians", torch="deg2rad", numpy="deg2rad"),
    defined("rad2deg", "x", "x*180/pi", "radians to degrees", "degrees", torch="rad2deg", numpy="rad2deg"),
)

HYPERBOLIC = (
    one("sinh", "the hyperbolic sine", numpy="sinh"),
    one("cosh", "the hyperbolic cosine", numpy="cosh"),
    one("tanh", "the hyperbolic tangent", numpy="tanh", slopes=("1 - result**2",)),
    one("asinh", "the inverse hyperbolic sine", "arcsinh", numpy="arcsinh"),
    one(
        "acosh",
        "the inverse hyperbolic cosine",
        "arccosh",
        numpy="arccosh",
        domain="x >= 1",
        edges=("x - 1",),
        slopes=("1/sqrt(x*x - 1)",),
        example="acosh(x) at x=2",
    ),
    one(
        "atanh",
        "the inverse hyperbolic tangent",
        "arctanh",
        numpy="arctanh",
        domain="-1 < x < 1",
        critical=("1 - abs(x)",),
    ),
)

SPECIAL = (
    one("erf", "the error function", math="erf"),
    one("erfc", "1 - erf(x) without cancellation", math="erfc"),
    one("erfinv", "the inverse error function", scipy="erfinv", domain="-1 < x < 1", critical=("1 - abs(x)",)),
    one(
        "lgamma",
        "the logarithm of |gamma(x)|",
        "loggamma",
        "gammaln",
        math="lgamma",
        scipy="gammaln",
        domain="x is not 0, -1, -2, ...",
        critical=_POLES,
    ),
    one(
        "digamma",
        "the derivative of lgamma",
        "psi",
        scipy="digamma",
        domain="x is not 0, -1, -2, ...",
        critical=_POLES,
        slopes=("polygamma(1, x)",),
        error=2.0**-30,
        fault="torch's polygamma(1, x) ends its series after six terms",
    ),
    Op(
        "polygamma",
        ("n", "x"),
        "the n-th derivative of digamma; n is a whole number",
        torch="polygamma",
        scipy="polygamma",
        statics={"n": REQUIRED},
        domain="x is not 0, -1, -2, ...",
        critical=_POLES,
        example="polygamma(1, x) at x=2.5",
    ),
    one("i0", "the modified Bessel function of order 0", torch="special.i0", numpy="i0"),
    one("i1", "the modified Bessel function of order 1", torch="special.i1", scipy="i1"),
    defined("ndtr", "x", "(1 + erf(x/sqrt(2)))/2", "the normal distribution function", torch="special.ndtr"),
    defined(
        "hypot",
        "a, b",
        "sqrt(a**2 + b**2)",
        "the length of (a, b)",
        torch="hypot",
        numpy="hypot",
        slopes=("a/result", "b/result"),
        caveat="a kink where both are 0; torch's derivative is nan there",
    ),
    defined(
        "logaddexp",
        "a, b",
        "log(exp(a) + exp(b))",
        "log(exp(a) + exp(b)) without overflow",
        torch="logaddexp",
        numpy="logaddexp",
        slopes=("1/(1 + exp(b - a))", "1/(1 + exp(a - b))"),
    ),
    defined(
        "xlogy",
        "a, b",
        "a*log(b)",
        "a*log(b); torch gives 0 at a = 0",
        in_floats="where((a == 0) & (b == b), 0, a*log(b))",
        torch="special.xlogy",
        domain="b > 0",
    ),
    defined(
        "logit",
        "x",
        "log(x/(1 - x))",
        "the inverse of sigmoid",
        torch="logit",
        domain="0 < x < 1",
        slopes=("1/(x*(1 - x))",),
    ),
)

PIECEWISE = (
    one("abs", "the absolute value", "Abs", "absolute", "fabs", numpy="abs", kinks=("x",)),
    one("sign", "the sign: -1, 0 or 1", "sgn", numpy="sign", is_step=True, kinks=("x",)),
    one(
        "floor",
        "the greatest integer not above x",
        numpy="floor",
        is_step=True,
        kinks=("x - floor(x)",),
        critical=_WHOLE,
    ),
    one(
        "ceil",
        "the least integer not below x",
        "ceiling",
        numpy="ceil",
        is_step=True,
        kinks=("x - floor(x)",),
        critical=_WHOLE,
    ),
    one(
        "trunc",
        "x without its fraction",
        "fix",
        numpy="trunc",
        is_step=True,
        kinks=("abs(x) - floor(abs(x)) + 1 - minimum(abs(x), 1)",),  # whole numbers but 0
        critical=("where(abs(x) < 1/2, 1, sin(pi*x))",),
    ),
    one(
        "round",
        "the nearest integer, halves to even",
        numpy="round",
        is_step=True,
        kinks=("x + 1/2 - floor(x + 1/2)",),
        critical=("cos(pi*x)",),
        example="round(x) at x=1.7",
    ),
    Op(
        "maximum",
        ("a", "b"),
        "the larger",
        aliases=("Max",),
        torch="maximum",
        numpy="maximum",
        variadic=True,
        kinks=("a - b",),
    ),
    Op(
        "minimum",
        ("a", "b"),
        "the smaller",
        aliases=("Min",),
        torch="minimum",
        numpy="minimum",
        variadic=True,
        kinks=("a - b",),
    ),
    defined(
        "frac",
        "x",
        "x - trunc(x)",
        "the fraction, with the sign of x",
        torch="frac",
        elsewhere={"sympy": "x - floor(x)"},
    ),
    defined(
        "floor_divide",
        "a, b",
        "floor(a/b)",
        "the whole part of a/b, rounded down; a // b",
        domain="b != 0",
        caveat="torch has no derivative for it; floor(a/b) is run, whose derivative is 0",
        example="floor_divide(a, b) at a=7.5 b=2",
    ),
    defined(
        "fmod",
        "a, b",
        "a - b*trunc(a/b)",
        "the remainder with the sign of a",
        torch="fmod",
        numpy="fmod",
        domain="b != 0",
        example="fmod(a, b) at a=-7.5 b=2",
    ),
    defined(
        "remainder",
        "a, b",
        "a - b*floor(a/b)",
        "a modulo b, with the sign of b; a % b",
        "Mod",
        torch="remainder",
        numpy="remainder",
        domain="b != 0",
        elsewhere={"math": "a - b*round(a/b)"},
        example="remainder(a, b) at a=7.5 b=2",
    ),
    defined(
        "clamp",
        "x, min, max",
        "minimum(maximum(x, min), max)",
        "x between two bounds; one of them may be left out, as in x.clamp(min=0)",
        "clip",
        torch="clamp",
        numpy="clip",
        example="clamp(x, 0, 1) at x=-2,0.5,3",
    ),
    defined(
        "clamp_min",
        "x, min",
        "maximum(x, min)",
        "x, or min where it is smaller",
        torch="clamp_min",
        example="clamp_min(x, 0) at x=-2,3",
    ),
    defined(
        "clamp_max",
        "x, max",
        "minimum(x, max)",
        "x, or max where it is larger",
        torch="clamp_max",
        example="clamp_max(x, 0) at x=-2,3",
    ),
)

"""Elementwise operations: arithmetic, what SymPy and torch share, and what follows from it.

A row without a meaning is a primitive.  Sources: the torch and SymPy references of each function; the identities of
the meanings are those of the NIST Digital Library of Mathematical Functions, chapters 4, 5, 7 and 10.
"""

from __future__ import annotations

from gradcli.language.ops.row import Monoid, Op, known, row

_POLES = ("where(x > 1/2, 1, sin(pi*x))",)
"""Vanishes at 0 and at negative whole numbers."""


def _arithmetic(signature: str, doc: str, **facts: object) -> Op:
    """What Python, torch and NumPy have by the same name, unless another is given."""
    name = signature.partition("(")[0].partition("|")[0]
    return known(signature, doc, "", **{"operator": name, "numpy": name, **facts})


ARITHMETIC = (
    _arithmetic("neg|negative(x)", "-x", numpy="negative", coefficients=(-1,), is_exact=True, notation=("-x",)),
    _arithmetic("add(a, b)", "a + b", monoid=Monoid.SUM, coefficients=(1, 1), adds_terms=True),
    _arithmetic("sub|subtract(a, b)", "a - b", numpy="subtract", coefficients=(1, -1), adds_terms=True),
    _arithmetic("mul|multiply(a, b)", "a * b", numpy="multiply", monoid=Monoid.PRODUCT),
    _arithmetic(
        "div|divide(a, b)",
        "a / b",
        operator="truediv",
        numpy="divide",
        domain="b != 0",
        guarded="b",
        critical=("b",),
        slopes=("1/b", "-(a/b/b)"),
    ),
    _arithmetic(
        "pow|Pow|power(a, b)",
        "a ** b",
        numpy="power",
        domain="a > 0, or b >= 0 at a = 0, or an integer b at a < 0",
        edges=("where(b == round(b), 1, a)",),
        critical=("a",),  # but for a constant whole exponent from 0 on
    ),
)

EXPONENTIAL = (
    known("exp(x)", "the exponential", numpy="exp", overflows=True, harmless=("0", "1"), slopes=("result",)),
    known(
        "log|ln(x)",
        "the natural logarithm",
        numpy="log",
        domain="x > 0",
        outlives_domain=True,
        critical=("x",),
        notation=("log(x, base)",),
    ),
    known("sqrt(x)", "the square root", numpy="sqrt", domain="x >= 0", edges=("x",), slopes=("1/(2*result)",)),
    known("exp2(x)", "2 to the power x", "2**x", numpy="exp2", overflows=True, harmless=("0", "1")),
    known(
        "expm1(x)",
        "exp(x) - 1 without cancellation",
        "exp(x) - 1",
        numpy="expm1",
        overflows=True,
        harmless=("0", "1"),
        slopes=("result + 1",),
        slopes_along=("result + 1",),
        from_result=True,
    ),
    known("log1p(x)", "log(1 + x) without cancellation", "log(1 + x)", numpy="log1p", domain="x > -1"),
    known("log2(x)", "the logarithm to base 2", "log(x)/log(2)", numpy="log2", domain="x > 0"),
    known("log10(x)", "the logarithm to base 10", "log(x)/log(10)", numpy="log10", domain="x > 0"),
    known("square(x)", "x squared", "x**2", numpy="square", overflows=True),
    known("rsqrt(x)", "one over the square root", "1/sqrt(x)", domain="x > 0"),
    known("reciprocal(x)", "one over x", "1/x", numpy="reciprocal", domain="x != 0"),
)

TRIGONOMETRIC = (
    known("sin(x)", "the sine", numpy="sin"),
    known("cos(x)", "the cosine", numpy="cos"),
    known("tan(x)", "the tangent", numpy="tan", domain="cos(x) != 0", critical=("cos(x)",), slopes=("1 + result**2",)),
    known(
        "asin|arcsin(x)",
        "the inverse sine",
        numpy="arcsin",
        domain="-1 <= x <= 1",
        edges=("1 - x**2",),
        harmless=("0",),
    ),
    known(
        "acos|arccos(x)",
        "the inverse cosine",
        numpy="arccos",
        domain="-1 <= x <= 1",
        edges=("1 - x**2",),
        harmless=("0",),
    ),
    known("atan|arctan(x)", "the inverse tangent", numpy="arctan"),
    known(
        "atan2|arctan2(y, x)",
        "the angle of (x, y)",
        numpy="arctan2",
        domain="(x, y) != 0",
        kinks=("abs(y) + maximum(x, 0)",),  # the branch cut, where the angle jumps from pi to -pi
        is_step=True,
        guarded="x",
        critical=("abs(y) + maximum(x, 0)",),  # there is no angle at 0, whatever the operands are
        slopes=("x*(1/(y*y + x*x))", "-y*(1/(y*y + x*x))"),
    ),
    known(
        "sinc(x)",
        "sin(pi*x)/(pi*x), and 1 at 0",
        numpy="sinc",
        elsewhere={"sympy": "sinc(x/pi)"},
        slopes=("where(x == 0, 0, (x*pi*cos(x*pi) - sin(x*pi))/(x*x*pi))",),
        rounds_argument=True,
    ),
    row("sec(x)", "the secant", "1/cos(x)", domain="cos(x) != 0"),
    row("csc(x)", "the cosecant", "1/sin(x)", domain="sin(x) != 0"),
    row("cot(x)", "the cotangent", "1/tan(x)", domain="sin(x) != 0"),
    known("deg2rad|radians(x)", "degrees to radians", "x*pi/180", numpy="deg2rad"),
    known("rad2deg|degrees(x)", "radians to degrees", "x*180/pi", numpy="rad2deg"),
)

HYPERBOLIC = (
    known("sinh(x)", "the hyperbolic sine", numpy="sinh", overflows=True, harmless=("0", "1")),
    known("cosh(x)", "the hyperbolic cosine", numpy="cosh", overflows=True, harmless=("0", "1")),
    known("tanh(x)", "the hyperbolic tangent", numpy="tanh", slopes=("1 - result**2",), from_result=True),
    known("asinh|arcsinh(x)", "the inverse hyperbolic sine", numpy="arcsinh"),
    known(
        "acosh|arccosh(x)",
        "the inverse hyperbolic cosine",
        numpy="arccosh",
        domain="x >= 1",
        edges=("x - 1",),
        harmless=("2",),
        slopes=("1/sqrt(x*x - 1)",),
        example="acosh(x) at x=2",
    ),
    known(
        "atanh|arctanh(x)",
        "the inverse hyperbolic tangent",
        numpy="arctanh",
        domain="-1 < x < 1",
        outlives_domain=True,
        harmless=("0",),
        critical=("1 - abs(x)",),
    ),
)

SPECIAL = (
    known("erf(x)", "the error function", math="erf"),
    known("erfc(x)", "1 - erf(x) without cancellation", math="erfc"),
    known(
        "erfinv(x)",
        "the inverse error function",
        scipy="erfinv",
        domain="-1 < x < 1",
        harmless=("0",),
        critical=("1 - abs(x)",),
    ),
    known(
        "lgamma|loggamma|gammaln(x)",
        "the logarithm of |gamma(x)|",
        math="lgamma",
        scipy="gammaln",
        domain="x is not 0, -1, -2, ...",
        harmless=("1",),
        critical=_POLES,
        rounds_argument=True,
    ),
    known(
        "digamma|psi(x)",
        "the derivative of lgamma",
        scipy="digamma",
        domain="x is not 0, -1, -2, ...",
        harmless=("1",),
        critical=_POLES,
        slopes=("polygamma(1, x)",),
        rounds_argument=True,
        error=2.0**-30,
        fault="torch's polygamma(1, x) ends its series after six terms",
    ),
    known(
        "polygamma(n=, x)",
        "the n-th derivative of digamma; n is a whole number",
        scipy="polygamma",
        domain="x is not 0, -1, -2, ...",
        harmless=("1",),
        critical=_POLES,
        rounds_argument=True,
        example="polygamma(1, x) at x=2.5",
    ),
    known("i0(x)", "the modified Bessel function of order 0", torch="special.i0", numpy="i0", overflows=True),
    known("i1(x)", "the modified Bessel function of order 1", torch="special.i1", scipy="i1", overflows=True),
    known("ndtr(x)", "the normal distribution function", "(1 + erf(x/sqrt(2)))/2", torch="special.ndtr"),
    known(
        "hypot(a, b)",
        "the length of (a, b)",
        "sqrt(a**2 + b**2)",
        numpy="hypot",
        overflows=True,
        harmless=("1",),
        slopes=("a/result", "b/result"),
        caveat="a kink where both are 0; torch's derivative is nan there",
    ),
    known(
        "logaddexp(a, b)",
        "log(exp(a) + exp(b)) without overflow",
        "log(exp(a) + exp(b))",
        numpy="logaddexp",
        slopes=("1/(1 + exp(b - a))", "1/(1 + exp(a - b))"),
    ),
    known(
        "xlogy(a, b)",
        "a*log(b); torch gives 0 at a = 0",
        "a*log(b)",
        in_floats="where((a == 0) & (b == b), 0, a*log(b))",
        torch="special.xlogy",
        domain="b > 0",
        guarded="b",
    ),
    known(
        "logit(x)",
        "the inverse of sigmoid",
        "log(x/(1 - x))",
        domain="0 < x < 1",
        harmless=("0.5",),
        slopes=("1/(x*(1 - x))",),
    ),
)

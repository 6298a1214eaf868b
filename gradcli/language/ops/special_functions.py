"""Functions of trigonometry and geometry, and special functions, shared by SymPy and torch.

A definition is short and exact; next to it stands the same for floats, where it would overflow or cancel: the scaled
functions have asymptotic series far out.  Sources: the torch and SymPy references of each function; the identities of
the meanings are those of the NIST Digital Library of Mathematical Functions, chapters 4, 5, 7 and 10; 7.12 for erfcx,
10.40 for the scaled Bessel functions, 35.3 for the multivariate gamma function.
"""

from __future__ import annotations

from gradcli.errors import InputError
from gradcli.language.ops.row import Op
from gradcli.language.ops.signature import Constant, Constants, Operand

_POLES = "sin(pi*minimum(x, 1/2))"
"""Expression that vanishes at 0 and at negative whole numbers."""


def _series(terms: tuple[int, ...], by: str) -> str:
    """Write 1 + terms[0]/by*(1 + terms[1]/(2*by)*(1 + ...)), an asymptotic series, from the last term on."""
    text = "1"
    for n in range(len(terms), 0, -1):
        text = f"(1 + ({terms[n - 1]})/({n}*{by})*{text})"
    return text


_FAR_ERFCX = f"{_series(tuple(-n * (2 * n - 1) for n in range(1, 9)), '(2*x**2)')}/(sqrt(pi)*x)"
_FAR_I0E = f"{_series(tuple((2 * n - 1) ** 2 for n in range(1, 9)), '(8*abs(x))')}/sqrt(2*pi*abs(x))"
_FAR_I1E = f"{_series(tuple((2 * n - 1) ** 2 - 4 for n in range(1, 9)), '(8*abs(x))')}*sign(x)/sqrt(2*pi*abs(x))"
_FAR = 500
"""Argument from which on the scaled Bessel functions are their series, to the last digit."""


def _gammas(constants: Constants) -> str:
    p = constants["p"]
    if not isinstance(p, int) or p < 1:
        raise InputError("mvlgamma takes a whole number p from 1 on")
    terms = " + ".join(f"lgamma(x - {n}/2)" if n else "lgamma(x)" for n in range(p))
    return f"{p * (p - 1)}*log(pi)/4 + {terms}"


_Z = "((x - loc)/scale)"
"""The argument of the standard normal distribution."""

TRIGONOMETRIC: tuple[Op, ...] = (
    Op("sin", ("x",), "the sine", torch="sin"),
    Op("cos", ("x",), "the cosine", torch="cos"),
    Op("tan", ("x",), "the tangent", torch="tan", domain="cos(x) != 0"),
    Op(
        "asin",
        ("x",),
        "the inverse sine",
        aliases=("arcsin",),
        torch="asin",
        domain="-1 <= x <= 1",
        edges=("1 - x**2",),
    ),
    Op(
        "acos",
        ("x",),
        "the inverse cosine",
        aliases=("arccos",),
        torch="acos",
        domain="-1 <= x <= 1",
        edges=("1 - x**2",),
    ),
    Op("atan", ("x",), "the inverse tangent", aliases=("arctan",), torch="atan"),
    # kinks: the branch cut, where the angle jumps from pi to -pi
    Op(
        "atan2",
        ("y", "x"),
        "the angle of (x, y)",
        aliases=("arctan2",),
        torch="atan2",
        adjoints={
            "y": "where((x == 0) & (y == 0), 0, grad*x/(x**2 + y**2))",
            "x": "where((x == 0) & (y == 0), 0, -grad*y/(x**2 + y**2))",
        },
        domain="(x, y) != 0",
        kinks=("abs(y) + maximum(x, 0)",),
    ),
    Op("sinc", ("x",), "sin(pi*x)/(pi*x), and 1 at 0", torch="sinc"),
    Op("sec", ("x",), "the secant", meaning="1/cos(x)", domain="cos(x) != 0"),
    Op("csc", ("x",), "the cosecant", aliases=("cosec",), meaning="1/sin(x)", domain="sin(x) != 0"),
    Op("cot", ("x",), "the cotangent", meaning="1/tan(x)", domain="sin(x) != 0"),
    Op("deg2rad", ("x",), "degrees to radians", aliases=("radians",), meaning="x*pi/180", torch="deg2rad"),
    Op("rad2deg", ("x",), "radians to degrees", aliases=("degrees",), meaning="x*180/pi", torch="rad2deg"),
)

HYPERBOLIC: tuple[Op, ...] = (
    Op("sinh", ("x",), "the hyperbolic sine", torch="sinh"),
    Op("cosh", ("x",), "the hyperbolic cosine", torch="cosh"),
    Op("tanh", ("x",), "the hyperbolic tangent", torch="tanh"),
    Op("sech", ("x",), "the hyperbolic secant", meaning="1/cosh(x)"),
    Op("csch", ("x",), "the hyperbolic cosecant", aliases=("cosech",), meaning="1/sinh(x)", domain="x != 0"),
    Op("coth", ("x",), "the hyperbolic cotangent", meaning="1/tanh(x)", domain="x != 0"),
    Op("asinh", ("x",), "the inverse hyperbolic sine", aliases=("arcsinh", "arsinh"), torch="asinh"),
    Op(
        "acosh",
        ("x",),
        "the inverse hyperbolic cosine",
        aliases=("arccosh", "arcosh"),
        torch="acosh",
        adjoints={"x": "grad/sqrt(x**2 - 1)"},
        domain="x >= 1",
        edges=("x - 1",),
        example="acosh(x)",
        at={"x": "2"},
    ),
    Op(
        "atanh",
        ("x",),
        "the inverse hyperbolic tangent",
        aliases=("arctanh", "artanh"),
        torch="atanh",
        domain="-1 < x < 1",
    ),
)

SPECIAL: tuple[Op, ...] = (
    Op("erf", ("x",), "the error function", torch="erf"),
    Op("erfc", ("x",), "1 - erf(x) without cancellation", torch="erfc"),
    Op("erfinv", ("x",), "the inverse error function", torch="erfinv", domain="-1 < x < 1", edges=("1 - abs(x)",)),
    Op(
        "lgamma",
        ("x",),
        "the logarithm of |gamma(x)|",
        aliases=("loggamma", "gammaln"),
        torch="lgamma",
        kernel=(1, 0.0),
        domain="x is not 0, -1, -2, ...",
        edges=(_POLES,),
    ),
    Op(
        "digamma",
        ("x",),
        "the derivative of lgamma",
        aliases=("psi",),
        torch="digamma",
        kernel=(1, 0.0),
        domain="x is not 0, -1, -2, ...",
        edges=(_POLES,),
    ),
    Op(
        "polygamma",
        (Constant("n"), "x"),
        "the n-th derivative of digamma; n is a whole number",
        torch="polygamma",
        kernel=(1, 0.0),
        domain="x is not 0, -1, -2, ...",
        edges=(_POLES,),
        example="polygamma(1, x)",
        at={"x": "2.5"},
    ),
    Op("i0", ("x",), "the modified Bessel function of order 0", torch="special.i0"),
    Op("i1", ("x",), "the modified Bessel function of order 1", torch="special.i1", arb=lambda x: x.bessel_i(1)),
    Op(
        "zeta",
        (Operand("x", no_derivative=True, buffer=True), Operand("q", default=1)),
        "the Hurwitz zeta function: the sum of (q + n)**-x over n = 0, 1, 2, ...",
        torch="special.zeta",
        arb=lambda x, q: x.zeta(q) if x > 1 and q > 0 else None,
        slopes={"q": "-x*zeta(x + 1, q)"},
        kernel=(4, 0.0),
        domain="x > 1, q > 0",
        edges=("x - 1", "q"),
        example="zeta(2.5, q)",
        at={"q": "1.5"},
    ),
    Op(
        "gammaincc",
        (Operand("a", no_derivative=True, buffer=True), "x"),
        "the regularized upper incomplete gamma function",
        aliases=("igammac",),
        torch="special.gammaincc",
        arb=lambda a, x: x.gamma_upper(a, 1) if a > 0 and x >= 0 else None,
        slopes={"x": "-exp((a - 1)*log(x) - x - lgamma(a))"},
        kernel=(8, 2.0**-28),
        domain="a > 0, x >= 0",
        edges=("a", "x"),
        example="gammaincc(2.5, x)",
        at={"x": "1.5"},
    ),
    Op(
        "spherical_bessel_j0",
        (Operand("x", no_derivative=True),),
        "sin(x)/x, and 1 at 0",
        meaning="sinc(x/pi)",
        torch="special.spherical_bessel_j0",
    ),
    Op("ndtr", ("x",), "the normal distribution function", meaning="(1 + erf(x/sqrt(2)))/2", torch="special.ndtr"),
    Op(
        "hypot",
        ("a", "b"),
        "the length of (a, b)",
        meaning="sqrt(a**2 + b**2)",
        torch="hypot",
        adjoints={"a": "grad*a/result", "b": "grad*b/result"},
        caveat="a kink where both are 0; torch's derivative is nan there",
    ),
    Op(
        "logaddexp",
        ("a", "b"),
        "log(exp(a) + exp(b)) without overflow",
        meaning="log(exp(a) + exp(b))",
        torch="logaddexp",
        adjoints={"a": "grad*sigmoid(a - b)", "b": "grad*sigmoid(b - a)"},
        domain="a term that is not -inf",
    ),
    Op(
        "xlogy",
        ("a", "b"),
        "a*log(b); torch gives 0 at a = 0",
        meaning="a*log(b)",
        torch_convention="where((a == 0) & (b <= 0), 0, a*log(b))",
        torch="special.xlogy",
        adjoints={"a": "where((a == 0) & (b <= 0), 0, grad*log(b))", "b": "grad*a/b"},
        domain="b > 0",
    ),
    Op(
        "logit",
        ("x",),
        "the inverse of sigmoid",
        meaning="log(x/(1 - x))",
        torch="logit",
        adjoints={"x": "where((x < 0) | (x > 1), nan, grad/(x*(1 - x)))"},
        domain="0 < x < 1",
    ),
    Op(
        "norm_pdf",
        ("x", Operand("loc", default=0), Operand("scale", default=1)),
        "the density of the normal distribution with this mean and deviation",
        meaning=f"exp(-{_Z}**2/2)/(scale*sqrt(2*pi))",
        domain="scale > 0",
        notation=("scipy.stats.norm.pdf(x, loc, scale)",),
        at={"x": "0.5"},
    ),
    Op(
        "norm_logpdf",
        ("x", Operand("loc", default=0), Operand("scale", default=1)),
        "the logarithm of the density of the normal distribution with this mean and deviation",
        meaning=f"-{_Z}**2/2 - log(scale) - log(2*pi)/2",
        domain="scale > 0",
        notation=("scipy.stats.norm.logpdf(x, loc, scale)",),
        at={"x": "0.5"},
    ),
    Op(
        "norm_cdf",
        ("x", Operand("loc", default=0), Operand("scale", default=1)),
        "the distribution function of the normal distribution with this mean and deviation",
        meaning=f"erfc(-{_Z}/sqrt(2))/2",
        domain="scale > 0",
        notation=("scipy.stats.norm.cdf(x, loc, scale)",),
        at={"x": "0.5"},
    ),
    Op(
        "norm_logcdf",
        ("x", Operand("loc", default=0), Operand("scale", default=1)),
        "the logarithm of norm_cdf",
        meaning=f"log_ndtr({_Z})",
        domain="scale > 0",
        notation=("scipy.stats.norm.logcdf(x, loc, scale)",),
        at={"x": "0.5"},
    ),
    Op(
        "norm_sf",
        ("x", Operand("loc", default=0), Operand("scale", default=1)),
        "the survival function of the normal distribution, 1 - norm_cdf",
        meaning=f"erfc({_Z}/sqrt(2))/2",
        domain="scale > 0",
        notation=("scipy.stats.norm.sf(x, loc, scale)",),
        at={"x": "0.5"},
    ),
    Op(
        "norm_ppf",
        ("x", Operand("loc", default=0), Operand("scale", default=1)),
        "the quantile function of the normal distribution, the inverse of norm_cdf",
        meaning="loc + scale*ndtri(x)",
        domain="0 < x < 1",
        notation=("scipy.stats.norm.ppf(x, loc, scale)",),
        at={"x": "0.5"},
    ),
    Op(
        "erfcx",
        ("x",),
        "exp(x**2)*erfc(x) without overflow",
        meaning="exp(x**2)*erfc(x)",
        in_floats=f"where(x > 20, {_FAR_ERFCX}, exp(minimum(x, 20)**2)*erfc(minimum(x, 20)))",
        torch="special.erfcx",
        adjoints={"x": "grad*(2*x*result - 2/sqrt(pi))"},
    ),
    Op(
        "entr",
        ("x",),
        "the entropy of a probability, -x*log(x), and 0 at 0",
        meaning="-x*log(x)",
        torch_convention="where(x > 0, -x*log(x), where(x == 0, 0, where(x < 0, -inf, x)))",
        torch="special.entr",
        adjoints={"x": "-grad*(log(x) + 1)"},
        domain="x > 0",
        caveat="at 0 the value is 0, and there is no finite derivative",
    ),
    Op(
        "log_ndtr",
        ("x",),
        "the logarithm of the normal distribution function, without underflow",
        meaning="log(erfc(-x/sqrt(2))/2)",
        in_floats="where(x < -1, log(erfcx(-x/sqrt(2))/2) - x**2/2, log1p(-erfc(x/sqrt(2))/2))",
        torch="special.log_ndtr",
        adjoints={"x": "grad*sqrt(2/pi)/erfcx(-x/sqrt(2))"},
    ),
    Op(
        "ndtri",
        ("x",),
        "the inverse of the normal distribution function",
        meaning="sqrt(2)*erfinv(2*x - 1)",
        torch="special.ndtri",
        domain="0 < x < 1",
    ),
    Op(
        "xlog1py",
        ("a", "b"),
        "a*log(1 + b); torch gives 0 at a = 0",
        meaning="a*log(1 + b)",
        torch_convention="where((a == 0) & (b <= -1), 0, a*log1p(b))",
        torch="special.xlog1py",
        adjoints={"a": "where((a == 0) & (b <= -1), 0, grad*log1p(b))", "b": "grad*a/(1 + b)"},
        domain="b > -1",
    ),
    Op(
        "i0e",
        ("x",),
        "i0(x)*exp(-abs(x)) without overflow",
        meaning="exp(-abs(x))*i0(x)",
        in_floats=f"where(abs(x) > {_FAR}, {_FAR_I0E}, exp(-abs(x))*i0(clamp(x, -{_FAR}, {_FAR})))",
        torch="special.i0e",
        adjoints={"x": "grad*(i1e(x) - sign(x)*result)"},
    ),
    Op(
        "i1e",
        ("x",),
        "i1(x)*exp(-abs(x)) without overflow",
        meaning="exp(-abs(x))*i1(x)",
        in_floats=f"where(abs(x) > {_FAR}, {_FAR_I1E}, exp(-abs(x))*i1(clamp(x, -{_FAR}, {_FAR})))",
        torch="special.i1e",
        adjoints={"x": "grad*where(x == 0, 1/2, i0e(x) - result*(sign(x) + 1/x))"},
    ),
    Op(
        "mvlgamma",
        ("x", Constant("p")),
        "the logarithm of the multivariate gamma function of dimension p",
        aliases=("multigammaln",),
        meaning="p*(p - 1)*log(pi)/4 + sum of lgamma(x - n/2) for n < p",
        written=_gammas,
        torch="mvlgamma",
        domain="x > (p - 1)/2",
        example="mvlgamma(x, 2)",
        at={"x": "2.5"},
    ),
)

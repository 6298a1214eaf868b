"""Special functions that are made of others.

A definition is short and exact; beside it stands the same for floats, where it would overflow or cancel: the scaled
functions have asymptotic series far out.  Sources: the NIST Digital Library of Mathematical Functions, 7.12 for erfcx,
10.40 for the scaled Bessel functions, 35.3 for the multivariate gamma function.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from gradcli.errors import InputError
from gradcli.language.ops.row import Constants, Op, known, row

_special = partial(row, torch="special.*")


def _series(terms: tuple[int, ...], by: str) -> str:
    """1 + terms[0]/by*(1 + terms[1]/(2*by)*(1 + ...)): an asymptotic series, from the last term on."""
    text = "1"
    for n in range(len(terms), 0, -1):
        text = f"(1 + ({terms[n - 1]})/({n}*{by})*{text})"
    return text


_FAR_ERFCX = f"{_series(tuple(-n * (2 * n - 1) for n in range(1, 9)), '(2*x**2)')}/(sqrt(pi)*x)"
_FAR_I0E = f"{_series(tuple((2 * n - 1) ** 2 for n in range(1, 9)), '(8*abs(x))')}/sqrt(2*pi*abs(x))"
_FAR_I1E = f"{_series(tuple((2 * n - 1) ** 2 - 4 for n in range(1, 9)), '(8*abs(x))')}*sign(x)/sqrt(2*pi*abs(x))"
_FAR = 500
"""From where on the scaled Bessel functions are their series, to the last digit."""


def _gammas(constants: Constants) -> str:
    p = constants["p"]
    if not isinstance(p, int) or p < 1:
        raise InputError("mvlgamma takes a whole number p from 1 on")
    terms = " + ".join(f"lgamma(x - {n}/2)" if n else "lgamma(x)" for n in range(p))
    return f"{p * (p - 1)}*log(pi)/4 + {terms}"


_Z = "((x - loc)/scale)"


def _normal(name: str, doc: str, meaning: str, **facts: Any) -> Op:
    """A function of the normal distribution, as `scipy.stats.norm` has it."""
    return row(
        f"norm_{name}(x, loc:0, scale:1)",
        f"the {doc} of the normal distribution with this mean and deviation, scipy.stats.norm.{name}",
        meaning,
        notation=(f"scipy.stats.norm.{name}(x, loc, scale)",),
        **{"domain": "scale > 0", "example": f"norm_{name}(x, 1, 2) at x=0.5", **facts},
    )


SPECIAL = (
    _normal("pdf", "density", f"exp(-{_Z}**2/2)/(scale*sqrt(2*pi))"),
    _normal("logpdf", "logarithm of the density", f"-{_Z}**2/2 - log(scale) - log(2*pi)/2"),
    _normal("cdf", "distribution function", f"erfc(-{_Z}/sqrt(2))/2"),
    _normal("logcdf", "logarithm of the distribution function", f"log_ndtr({_Z})"),
    _normal("sf", "survival function, 1 - cdf,", f"erfc({_Z}/sqrt(2))/2"),
    _normal("ppf", "quantile function", "loc + scale*ndtri(x)", domain="0 < x < 1"),
    _special(
        "erfcx(x)",
        "exp(x**2)*erfc(x) without overflow",
        "exp(x**2)*erfc(x)",
        in_floats=f"where(x > 20, {_FAR_ERFCX}, exp(minimum(x, 20)**2)*erfc(minimum(x, 20)))",
    ),
    _special(
        "entr(x)",
        "the entropy of a probability, -x*log(x), and 0 at 0",
        "-x*log(x)",
        total="where(x > 0, -x*log(x), where(x == 0, 0, where(x < 0, -inf, x)))",
        domain="x > 0",
        caveat="at 0 the value is 0, and there is no finite derivative",
    ),
    _special(
        "log_ndtr(x)",
        "the logarithm of the normal distribution function, without underflow",
        "log(erfc(-x/sqrt(2))/2)",
        in_floats="where(x < -1, log(erfcx(-x/sqrt(2))/2) - x**2/2, log1p(-erfc(x/sqrt(2))/2))",
    ),
    _special(
        "ndtri(x)", "the inverse of the normal distribution function", "sqrt(2)*erfinv(2*x - 1)", domain="0 < x < 1"
    ),
    _special(
        "xlog1py(a, b)",
        "a*log(1 + b); torch gives 0 at a = 0",
        "a*log(1 + b)",
        total="where((a == 0) & (b <= -1), 0, a*log1p(b))",
        domain="b > -1",
    ),
    _special(
        "i0e(x)",
        "i0(x)*exp(-abs(x)) without overflow",
        "exp(-abs(x))*i0(x)",
        in_floats=f"where(abs(x) > {_FAR}, {_FAR_I0E}, exp(-abs(x))*i0(clamp(x, -{_FAR}, {_FAR})))",
    ),
    _special(
        "i1e(x)",
        "i1(x)*exp(-abs(x)) without overflow",
        "exp(-abs(x))*i1(x)",
        in_floats=f"where(abs(x) > {_FAR}, {_FAR_I1E}, exp(-abs(x))*i1(clamp(x, -{_FAR}, {_FAR})))",
    ),
    known(
        "mvlgamma|multigammaln(x, p=)",
        "the logarithm of the multivariate gamma function of dimension p",
        "p*(p - 1)*log(pi)/4 + sum of lgamma(x - n/2) for n < p",
        written=_gammas,
        domain="x > (p - 1)/2",
        example="mvlgamma(x, 2) at x=2.5",
    ),
)

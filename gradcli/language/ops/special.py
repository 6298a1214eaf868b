"""Special functions that are made of others.

A definition is short and exact; beside it stands the same for floats, where it would overflow or cancel: the scaled
functions have asymptotic series far out.  Sources: the NIST Digital Library of Mathematical Functions, 7.12 for erfcx,
10.40 for the scaled Bessel functions, 35.3 for the multivariate gamma function.
"""

from __future__ import annotations

from gradcli.errors import InputError
from gradcli.language.ops.row import Constants, read


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

ROWS = read(
    f"""
== special  domain: scale > 0  at x=0.5 loc=1 scale=2
norm_pdf(x, loc:0, scale:1)  the density of the normal distribution with this mean and deviation
    = exp(-{_Z}**2/2)/(scale*sqrt(2*pi))  notation: scipy.stats.norm.pdf(x, loc, scale)
norm_logpdf(x, loc:0, scale:1)  the logarithm of the density of the normal distribution with this mean and deviation
    = -{_Z}**2/2 - log(scale) - log(2*pi)/2  notation: scipy.stats.norm.logpdf(x, loc, scale)
norm_cdf(x, loc:0, scale:1)  the distribution function of the normal distribution with this mean and deviation
    = erfc(-{_Z}/sqrt(2))/2  notation: scipy.stats.norm.cdf(x, loc, scale)
norm_logcdf(x, loc:0, scale:1)  the logarithm of norm_cdf  = log_ndtr({_Z})
    notation: scipy.stats.norm.logcdf(x, loc, scale)
norm_sf(x, loc:0, scale:1)  the survival function of the normal distribution, 1 - norm_cdf  = erfc({_Z}/sqrt(2))/2
    notation: scipy.stats.norm.sf(x, loc, scale)
norm_ppf(x, loc:0, scale:1)  the quantile function of the normal distribution, the inverse of norm_cdf
    = loc + scale*ndtri(x)  domain: 0 < x < 1  notation: scipy.stats.norm.ppf(x, loc, scale)
== special  torch: special.*
erfcx(x)  exp(x**2)*erfc(x) without overflow  = exp(x**2)*erfc(x)
    in_floats: where(x > 20, {_FAR_ERFCX}, exp(minimum(x, 20)**2)*erfc(minimum(x, 20)))
entr(x)  the entropy of a probability, -x*log(x), and 0 at 0  = -x*log(x)
    total: where(x > 0, -x*log(x), where(x == 0, 0, where(x < 0, -inf, x)))  domain: x > 0
    caveat: at 0 the value is 0, and there is no finite derivative
log_ndtr(x)  the logarithm of the normal distribution function, without underflow  = log(erfc(-x/sqrt(2))/2)
    in_floats: where(x < -1, log(erfcx(-x/sqrt(2))/2) - x**2/2, log1p(-erfc(x/sqrt(2))/2))
ndtri(x)  the inverse of the normal distribution function  = sqrt(2)*erfinv(2*x - 1)  domain: 0 < x < 1
xlog1py(a, b)  a*log(1 + b); torch gives 0 at a = 0  = a*log(1 + b)  total: where((a == 0) & (b <= -1), 0, a*log1p(b))
    domain: b > -1
i0e(x)  i0(x)*exp(-abs(x)) without overflow  = exp(-abs(x))*i0(x)
    in_floats: where(abs(x) > {_FAR}, {_FAR_I0E}, exp(-abs(x))*i0(clamp(x, -{_FAR}, {_FAR})))
i1e(x)  i1(x)*exp(-abs(x)) without overflow  = exp(-abs(x))*i1(x)
    in_floats: where(abs(x) > {_FAR}, {_FAR_I1E}, exp(-abs(x))*i1(clamp(x, -{_FAR}, {_FAR})))
mvlgamma|multigammaln(x, p=)  the logarithm of the multivariate gamma function of dimension p
    = p*(p - 1)*log(pi)/4 + sum of lgamma(x - n/2) for n < p  written: _gammas  torch: *  domain: x > (p - 1)/2
    e.g. mvlgamma(x, 2) at x=2.5
""",
    globals(),
)

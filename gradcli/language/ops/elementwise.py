"""Elementwise operations: arithmetic, functions shared by SymPy and torch, functions in terms of these, and branches.

A row without a meaning is a primitive.  Comparisons and logic are 1 or 0 in arithmetic.  A definition is short and
exact; next to it stands the same for floats, where it would overflow or cancel: the scaled functions have asymptotic
series far out.  Sources: the torch and SymPy references of each function; the identities of the meanings are those of
the NIST Digital Library of Mathematical Functions, chapters 4, 5, 7 and 10; 7.12 for erfcx, 10.40 for the scaled Bessel
functions, 35.3 for the multivariate gamma function.
"""

from __future__ import annotations

from gradcli.errors import InputError
from gradcli.language.ops.row import Constants, read

_POLES = "sin(pi*minimum(x, 1/2))"
"""Expression that vanishes at 0 and at negative whole numbers."""

# kinks: of atan2 the branch cut, where the angle jumps from pi to -pi; of trunc whole numbers but 0


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


LARGEST = 1.7976931348623157e308
"""Largest number of float64, which torch puts in the place of an infinity."""


def _rounded(constants: Constants) -> str:
    """Write a number rounded to whole multiples of a power of 10, which is exact where it is one of whole numbers."""
    places = constants["decimals"]
    if places < 0:
        return f"round(x/{10**-places})*{10**-places}"
    return f"round(x*{10**places})/{10**places}" if places else "round(x)"


def _rounded_div(constants: Constants) -> str:
    return f"{constants['rounding_mode'] or ''}(a/b)"


# the angle of -0 is -pi, by which copysign tells its sign

ROWS = read(
    f"""
== arithmetic  torch: *
neg|negative(x)  -x  coefficients: -1  notation: -x
add(a, b)  a + b  monoid: sum  coefficients: 1, 1  adds_terms: True
sub|subtract(a, b)  a - b  coefficients: 1, -1  adds_terms: True
mul|multiply(a, b)  a * b  monoid: product
div|divide|true_divide(a, b)  a / b  domain: b != 0  rule_name: quotient rule
pow|Pow|power(a, b)  a ** b  domain: a > 0, or b >= 0 at a = 0, or an integer b at a < 0
    edges: where(b == round(b), 1, a)  rule_name: power rule
    adjoints: a: where(b == 0, 0, grad*b*a**(b - 1)); b: where((a == 0) & (b >= 0), 0, grad*a**b*log(a))
== exponentials and logarithms  torch: *
exp(x)  the exponential
log|ln(x)  the natural logarithm  domain: x > 0  notation: log(x, base)
sqrt(x)  the square root  domain: x >= 0  edges: x  rule_name: power rule
exp2(x)  2 to the power x  = 2**x
expm1(x)  exp(x) - 1 without cancellation  = exp(x) - 1
log1p(x)  log(1 + x) without cancellation  = log(1 + x)  domain: x > -1
log2(x)  the logarithm to base 2  = log(x)/log(2)  domain: x > 0
log10(x)  the logarithm to base 10  = log(x)/log(10)  domain: x > 0
square(x)  x squared  = x**2  rule_name: power rule
rsqrt(x)  one over the square root  = 1/sqrt(x)  domain: x > 0
reciprocal(x)  one over x  = 1/x  domain: x != 0  rule_name: power rule
== trigonometric  torch: *
sin(x)  the sine
cos(x)  the cosine
tan(x)  the tangent  domain: cos(x) != 0
asin|arcsin(x)  the inverse sine  domain: -1 <= x <= 1  edges: 1 - x**2
acos|arccos(x)  the inverse cosine  domain: -1 <= x <= 1  edges: 1 - x**2
atan|arctan(x)  the inverse tangent
atan2|arctan2(y, x)  the angle of (x, y)  domain: (x, y) != 0  kinks: abs(y) + maximum(x, 0)
    adjoints: y: where((x == 0) & (y == 0), 0, grad*x/(x**2 + y**2)); x: where((x == 0) & (y == 0), 0,
        -grad*y/(x**2 + y**2))
sinc(x)  sin(pi*x)/(pi*x), and 1 at 0
sec(x)  the secant  = 1/cos(x)  torch: none  domain: cos(x) != 0
csc(x)  the cosecant  = 1/sin(x)  torch: none  domain: sin(x) != 0
cot(x)  the cotangent  = 1/tan(x)  torch: none  domain: sin(x) != 0
deg2rad|radians(x)  degrees to radians  = x*pi/180
rad2deg|degrees(x)  radians to degrees  = x*180/pi
== hyperbolic  torch: *
sinh(x)  the hyperbolic sine
cosh(x)  the hyperbolic cosine
tanh(x)  the hyperbolic tangent
asinh|arcsinh(x)  the inverse hyperbolic sine
acosh|arccosh(x)  the inverse hyperbolic cosine  domain: x >= 1  edges: x - 1  e.g. acosh(x) at x=2
    adjoints: x: grad/sqrt(x**2 - 1)
atanh|arctanh(x)  the inverse hyperbolic tangent  domain: -1 < x < 1
== special  torch: *
erf(x)  the error function
erfc(x)  1 - erf(x) without cancellation
erfinv(x)  the inverse error function  domain: -1 < x < 1  edges: 1 - abs(x)
lgamma|loggamma|gammaln(x)  the logarithm of |gamma(x)|  kernel: 1, 0.0  domain: x is not 0, -1, -2, ...
    edges: {_POLES}
digamma|psi(x)  the derivative of lgamma  kernel: 1, 0.0  domain: x is not 0, -1, -2, ...
    edges: {_POLES}
polygamma(n=, x)  the n-th derivative of digamma; n is a whole number  kernel: 1, 0.0  domain: x is not 0, -1, -2, ...
    edges: {_POLES}
    e.g. polygamma(1, x) at x=2.5
i0(x)  the modified Bessel function of order 0  torch: special.*
i1(x)  the modified Bessel function of order 1  torch: special.*  arb: bessel_i(x, 1)
zeta(x~%, q)  the Hurwitz zeta function: the sum of (q + n)**-x over n = 0, 1, 2, ...  torch: special.*  arb: zeta(x, q)
    slopes: q: -x*zeta(x + 1, q)  kernel: 4, 0.0  domain: x > 1, q > 0  edges: x - 1; q
    e.g. zeta(2.5, q) at q=1.5
gammaincc|igammac(a~%, x)  the regularized upper incomplete gamma function  torch: special.*  arb: gamma_upper(x, a, 1)
    slopes: x: -exp((a - 1)*log(x) - x - lgamma(a))  kernel: 8, {2.0**-28}  domain: a > 0, x >= 0  edges: a; x
    e.g. gammaincc(2.5, x) at x=1.5
spherical_bessel_j0(x~)  sin(x)/x, and 1 at 0  = sinc(x/pi)  torch: special.*
ndtr(x)  the normal distribution function  = (1 + erf(x/sqrt(2)))/2  torch: special.*
hypot(a, b)  the length of (a, b)  = sqrt(a**2 + b**2)  caveat: a kink where both are 0; torch's derivative is nan there
    adjoints: a: grad*a/result; b: grad*b/result
logaddexp(a, b)  log(exp(a) + exp(b)) without overflow  = log(exp(a) + exp(b))
    domain: a term that is not -inf
    adjoints: a: grad*sigmoid(a - b); b: grad*sigmoid(b - a)
xlogy(a, b)  a*log(b); torch gives 0 at a = 0  = a*log(b)  total: where((a == 0) & (b <= 0), 0, a*log(b))
    torch: special.*  domain: b > 0
    adjoints: a: where((a == 0) & (b <= 0), 0, grad*log(b)); b: grad*a/b
logit(x)  the inverse of sigmoid  = log(x/(1 - x))  domain: 0 < x < 1
    adjoints: x: where((x < 0) | (x > 1), nan, grad/(x*(1 - x)))
== pieces and steps  torch: *  at x=1.7 a=7.5 b=2
abs|Abs|absolute|fabs(x)  the absolute value  kinks: x
sign|sgn(x)  the sign: -1, 0 or 1  kinks: x
floor(x)  the greatest integer not above x  kinks: x - floor(x)
ceil|ceiling(x)  the least integer not below x  kinks: x - floor(x)
trunc|fix(x)  x without its fraction  kinks: abs(x) - floor(abs(x)) + 1 - minimum(abs(x), 1)
round(x)  the nearest integer, halves to even  kinks: x + 1/2 - floor(x + 1/2)
maximum|Max(a, b*)  the larger  monoid: largest  kinks: a - b
minimum|Min(a, b*)  the smaller  monoid: smallest  kinks: a - b
frac(x)  the fraction, with the sign of x  = x - trunc(x)
floor_divide(a, b)  the whole part of a/b, rounded down; a // b  = floor(a/b)  torch: none  domain: b != 0
    caveat: torch has no derivative for it; floor(a/b) is run, whose derivative is 0
fmod(a, b)  the remainder with the sign of a  = a - b*trunc(a/b)  domain: b != 0  e.g. fmod(a, b) at a=-7.5 b=2
remainder|Mod|mod(a, b)  a modulo b, with the sign of b; a % b  = a - b*floor(a/b)  domain: b != 0
clamp|clip(x, min, max)  x between two bounds; one of them may be left out, as in x.clamp(min=0)
    = minimum(maximum(x, min), max)
    e.g. clamp(x, 0, 1) at x=-2,0.5,3
    adjoints: x: where((x < min) | (x > max), 0, grad); min: where((x < min) & (min < max), grad, 0); max:
        where((x > max) | (min > max), grad, 0)
clamp_min(x, min)  x, or min where it is smaller  = maximum(x, min)  e.g. clamp_min(x, 0) at x=-2,3
    adjoints: x: where(x < min, 0, grad); min: where(x < min, grad, 0)
clamp_max(x, max)  x, or max where it is larger  = minimum(x, max)  e.g. clamp_max(x, 0) at x=-2,3
    adjoints: x: where(x > max, 0, grad); max: where(x > max, grad, 0)
== branches  torch: *  at x=1,3
where(condition&, input, other)
    input where the condition holds, else other; also a if c else b, and Piecewise((a, c), (b, True))
    notation: input if condition else other; Piecewise((input, condition), (other, True))
    caveat: torch multiplies the derivative of the branch not taken by 0, so that a NaN there stays NaN
    e.g. where(x > 0, x**2, -x) at x=-1,2
gt|greater(a, b)  whether a is greater than b; a > b  sense: 1  kinks: a - b  e.g. where(x > 2, x, x**2)
ge|greater_equal(a, b)  whether a is b or greater; a >= b  sense: 0, 1  kinks: a - b  e.g. where(x >= 2, x, x**2)
lt|less(a, b)  whether a is less than b; a < b  sense: -1  kinks: a - b  e.g. where(x < 2, x, x**2)
le|less_equal(a, b)  whether a is b or less; a <= b  sense: -1, 0  kinks: a - b  e.g. where(x <= 2, x, x**2)
eq|equal|Eq(a, b)  whether a equals b; a == b  sense: 0  kinks: a - b  e.g. where(x == 2, x, x**2)
ne|not_equal|Ne(a, b)  whether a does not equal b; a != b  sense: -1, 1  kinks: a - b  e.g. where(x != 2, x, x**2)
logical_and|And(a&, b&*)  whether both conditions hold; a & b  = where(a, b, 0)
    e.g. where((x > 0) & (x < 2), x**2, 0) at x=-1,1,3
logical_or|Or(a&, b&*)  whether one of two conditions holds; a | b  = where(a, 1, b)
    e.g. where((x < 0) | (x > 2), x**2, 0) at x=-1,1,3
logical_not|Not(a&)  whether a condition does not hold; ~a  = where(a, 0, 1)  notation: ~a
    e.g. where(~(x > 0), x**2, 0) at x=-1,1,3
isnan(x)  whether x is no number  = x != x  e.g. where(isnan(x), x + 1, x**2)
isinf(x)  whether x is infinite  = abs(x) == inf  e.g. where(isinf(x), x + 1, x**2)
isfinite(x)  whether x is neither infinite nor nan  = abs(x) < inf  e.g. where(isfinite(x), x + 1, x**2)
masked_fill(x, mask&, value#)  value where the mask holds, else x  = where(mask, value, x)
    e.g. masked_fill(x, x < 0, 0)
lerp(input, end, weight)  from input to end in proportion to weight  = input + weight*(end - input)
    e.g. lerp(a, b, w) at a=1 b=3 w=0.25
zeros_like(x)  zeros of the same shape
ones_like(x)  ones of the same shape
detach(x)  x as a constant: its derivative is 0  torch: Tensor.*  e.g. x*detach(x)
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
    adjoints: x: grad*(2*x*result - 2/sqrt(pi))
entr(x)  the entropy of a probability, -x*log(x), and 0 at 0  = -x*log(x)
    total: where(x > 0, -x*log(x), where(x == 0, 0, where(x < 0, -inf, x)))  domain: x > 0
    caveat: at 0 the value is 0, and there is no finite derivative
    adjoints: x: -grad*(log(x) + 1)
log_ndtr(x)  the logarithm of the normal distribution function, without underflow  = log(erfc(-x/sqrt(2))/2)
    in_floats: where(x < -1, log(erfcx(-x/sqrt(2))/2) - x**2/2, log1p(-erfc(x/sqrt(2))/2))
    adjoints: x: grad*sqrt(2/pi)/erfcx(-x/sqrt(2))
ndtri(x)  the inverse of the normal distribution function  = sqrt(2)*erfinv(2*x - 1)  domain: 0 < x < 1
xlog1py(a, b)  a*log(1 + b); torch gives 0 at a = 0  = a*log(1 + b)  total: where((a == 0) & (b <= -1), 0, a*log1p(b))
    domain: b > -1
    adjoints: a: where((a == 0) & (b <= -1), 0, grad*log1p(b)); b: grad*a/(1 + b)
i0e(x)  i0(x)*exp(-abs(x)) without overflow  = exp(-abs(x))*i0(x)
    in_floats: where(abs(x) > {_FAR}, {_FAR_I0E}, exp(-abs(x))*i0(clamp(x, -{_FAR}, {_FAR})))
    adjoints: x: grad*(i1e(x) - sign(x)*result)
i1e(x)  i1(x)*exp(-abs(x)) without overflow  = exp(-abs(x))*i1(x)
    in_floats: where(abs(x) > {_FAR}, {_FAR_I1E}, exp(-abs(x))*i1(clamp(x, -{_FAR}, {_FAR})))
    adjoints: x: grad*where(x == 0, 1/2, i0e(x) - result*(sign(x) + 1/x))
mvlgamma|multigammaln(x, p=)  the logarithm of the multivariate gamma function of dimension p
    = p*(p - 1)*log(pi)/4 + sum of lgamma(x - n/2) for n < p  written: _gammas  torch: *  domain: x > (p - 1)/2
    e.g. mvlgamma(x, 2) at x=2.5
== combined arithmetic  torch: *  at x=-1,2 a=2 b=3
fmax(a, b)  the larger one, or the other where one is nan  = maximum(a, b)
    total: where(a != a, b, where(b != b, a, maximum(a, b)))
    adjoints: a: where((a >= b) | isnan(b), grad, 0); b: where((a >= b) | isnan(b), 0, grad)
fmin(a, b)  the smaller one, or the other where one is nan  = minimum(a, b)
    total: where(a != a, b, where(b != b, a, minimum(a, b)))
    adjoints: a: where((a <= b) | isnan(b), grad, 0); b: where((a <= b) | isnan(b), 0, grad)
scaled_add(a, b, alpha:1)  a + alpha*b: add with alpha  = a + alpha*b  torch: none
scaled_sub(a, b, alpha:1)  a - alpha*b: sub with alpha  = a - alpha*b  torch: none
rounded_div(a, b, rounding_mode=None)  a / b rounded down or towards 0, as rounding_mode says: div with it  = floor(a/b)
    written: _rounded_div  torch: none
    e.g. rounded_div(a, b, 'floor') at a=7.5 b=2
round_to|around(x, decimals=0)  rounded to so many decimals: round with them  = round(x*10**decimals)/10**decimals
    written: _rounded  torch: none  e.g. round_to(x, 2) at x=1.237
heaviside(input, values)  0 where input is negative, 1 where it is positive, and values where it is 0
    = where(input < 0, 0, where(input > 0, 1, values))  torch: none
    total: where(input > 0, 1, where(input == 0, values, 0))  e.g. heaviside(x, 1/2)*x
cbrt(x)  the cube root, negative where x is  = sign(x)*abs(x)**(1/3)  torch: none  domain: x != 0
    e.g. cbrt(x) at x=-8,27
rsub(a, b, alpha#:1)  b - alpha*a  = b - alpha*a
addcmul(input, tensor1, tensor2, value#:1)  a product added, value times  = input + value*tensor1*tensor2
    e.g. addcmul(x, a, b)
addcdiv(input, tensor1, tensor2, value#:1)  a quotient added, value times  = input + value*tensor1/tensor2
    domain: tensor2 != 0  e.g. addcdiv(x, a, b)
copysign(a, b)  |a| with the sign of b  = where(b < 0, -abs(a), abs(a))  total: where(atan2(b, -1) < 0, -abs(a), abs(a))
    e.g. copysign(a, b) at a=2 b=-1
ldexp(a, b)  a*2**b  = a*2**b
float_power(a, b)  a**b in float64  = a**b
logaddexp2(a, b)  log2(2**a + 2**b) without overflow  = log(2**a + 2**b)/log(2)
    domain: a term that is not -inf
    in_floats: maximum(a, b) + log1p(2**(-abs(a - b)))/log(2)
    adjoints: a: grad*sigmoid(log(2)*(a - b)); b: grad*sigmoid(log(2)*(b - a))
positive|real|conj|conj_physical|resolve_conj|resolve_neg(x)
    x itself, as the real part and the conjugate of a real number are  = 1*x
angle(x)  the angle of a real number: pi where it is negative, else 0  = where(x < 0, pi, 0)
    total: where(x < 0, pi, where(x != x, x, 0))  e.g. angle(x)*x
fill(x, value)  value in every element of x's shape  = value*ones_like(x)  torch: none  e.g. fill(x, a)
nan_to_num(x, nan#:0, posinf#:{LARGEST}, neginf#:-{LARGEST})  x with numbers in the place of nan and of infinities
    = where(x != x, nan, where(x == inf, posinf, where(x == -inf, neginf, x)))  e.g. nan_to_num(x)
""",
    globals(),
)

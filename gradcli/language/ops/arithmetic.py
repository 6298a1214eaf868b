"""Arithmetic of several operands, and functions of numbers that others make up."""

from __future__ import annotations

from gradcli.language.ops.row import Constants, read

LARGEST = 1.7976931348623157e308
"""Of float64, which torch puts in the place of an infinity."""


def _rounded(constants: Constants) -> str:
    """Rounded to whole multiples of a power of 10, which is exact where it is one of whole numbers."""
    places = constants["decimals"]
    if places < 0:
        return f"round(x/{10**-places})*{10**-places}"
    return f"round(x*{10**places})/{10**places}" if places else "round(x)"


def _rounded_div(constants: Constants) -> str:
    return f"{constants['rounding_mode'] or ''}(a/b)"


# the angle of -0 is -pi, by which copysign tells its sign
ROWS = read(
    f"""
== combined arithmetic  torch: *  at x=-1,2 a=2 b=3
fmax(a, b)  the larger one, or the other where one is nan  = maximum(a, b)
    total: where(a != a, b, where(b != b, a, maximum(a, b)))
fmin(a, b)  the smaller one, or the other where one is nan  = minimum(a, b)
    total: where(a != a, b, where(b != b, a, minimum(a, b)))
scaled_add(a, b, alpha:1)  a + alpha*b: add with alpha  = a + alpha*b  torch: none
scaled_sub(a, b, alpha:1)  a - alpha*b: sub with alpha  = a - alpha*b  torch: none
rounded_div(a, b, rounding_mode=None)  a / b rounded down or towards 0, as rounding_mode says: div with it  = floor(a/b)
    written: _rounded_div  torch: none
    e.g. rounded_div(a, b, 'floor') at a=7.5 b=2
round_to|around(x, decimals=0)  rounded to so many decimals: round with them  = round(x*10**decimals)/10**decimals
    written: _rounded  torch: none  e.g. round_to(x, 2) at x=1.237
heaviside(input, values)  0 where input is negative, 1 where it is positive, and values where it is 0
    = where(input < 0, 0, where(input > 0, 1, values))  torch: none  e.g. heaviside(x, 1/2)*x
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
    in_floats: maximum(a, b) + log1p(2**(-abs(a - b)))/log(2)
positive|real|conj|conj_physical|resolve_conj|resolve_neg(x)
    x itself, as the real part and the conjugate of a real number are  = 1*x
angle(x)  the angle of a real number: pi where it is negative, else 0  = where(x < 0, pi, 0)  e.g. angle(x)*x
fill(x, value)  value in every element of x's shape  = value*ones_like(x)  torch: none  e.g. fill(x, a)
nan_to_num(x, nan#:0, posinf#:{LARGEST}, neginf#:-{LARGEST})  x with numbers in the place of nan and of infinities
    = where(x != x, nan, where(x == inf, posinf, where(x == -inf, neginf, x)))  e.g. nan_to_num(x)
""",
    globals(),
)

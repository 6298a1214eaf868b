"""Identities that a search for a better form tries beside the known cures: one row each, in the notation of `patterns`.

None of them is better everywhere, so that each is measured where it is tried.  Both sides are the same function
wherever the form has a value and a derivative, or where the reason says.  What a form is written as may begin with
definitions, `m = ...; ...`: they go to the start of the text.

Sources: R. W. Hamming, "Numerical Methods for Scientists and Engineers", 2nd edition, 1973, chapter 3; the NIST Digital
Library of Mathematical Functions, chapter 4.
"""

from __future__ import annotations

import math
from fractions import Fraction

from gradcli.diagnose.occurrences import Reading, exact
from gradcli.diagnose.patterns import Match, Replacement, Rule
from gradcli.language.program.wengert import Atom

HIGHEST_ROOT = 5
"""Of the roots whose difference is written as a quotient."""


def _rule(reason: str, *forms: tuple[str, Replacement]) -> Rule:
    return Rule(reason, forms)


def _arc(match: Match, reading: Reading, atom: Atom) -> str | None:
    """atan(a + n) - atan(a) by n over 1 + a*(a + n), which is above 0 where n is below 2, as the square of a length."""
    n = exact(match.names["n"])
    if n is None or not 0 < abs(n) < 2:
        return None
    half = f"a {'+' if n > 0 else '-'} {abs(n) / 2}"
    return f"r = hypot({half}, sqrt({1 - n * n / 4})); atan({n}/r/r)"


def _fraction(value: Fraction) -> str:
    """A constant for use as an operand."""
    return str(value) if value >= 0 and value.denominator == 1 else f"({value})"


def _roots(above: str) -> Replacement:
    """The difference of two k-th roots p and q by that of what is under them."""

    def replacement(match: Match, reading: Reading, atom: Atom) -> str | None:
        power = exact(match.names["n"])
        if power is None or power.numerator != 1 or not 2 < power.denominator <= HIGHEST_ROOT:
            return None
        k = power.denominator
        powers = [f"{_power('p', k - 1 - j)}*{_power('q', j)}".strip("*") for j in range(k)]
        return f"{above}/({' + '.join(powers)})"

    return replacement


def _power(name: str, n: int) -> str:
    return "" if n == 0 else name if n == 1 else f"{name}**{n}"


def _conjugate(text: str, factor: bool) -> Replacement:
    """The other form of a root of a quadratic, `{}` being the ratio of the constants in it."""

    def replacement(match: Match, reading: Reading, atom: Atom) -> str | None:
        if not factor:
            return text.replace("{}*", "")
        k, h = exact(match.names["k"]), exact(match.names["h"])
        if k is None or not h:
            return None
        return text.replace("{}*", "" if k == h else f"{_fraction(k / h)}*")

    return replacement


def _hypotenuse(match: Match, reading: Reading, atom: Atom) -> str | None:
    """The root of a square and a number above 0, of which the root is written where it is rational."""
    n = exact(match.names["n"])
    if n is None or n <= 0:
        return None
    above, below = math.isqrt(n.numerator), math.isqrt(n.denominator)
    is_square = above * above == n.numerator and below * below == n.denominator
    return f"hypot(u, {Fraction(above, below) if is_square else 'sqrt(n)'})"


def _scaled(sign: str, factor: str = "") -> Replacement:
    """The root of b**2 -+ k*a*c with everything over a number m that no derivative is taken of: it cancels."""
    scale = "m = detach(maximum(abs(b), sqrt(abs(a))*sqrt(abs(c))))"
    text = f"{scale}; m*sqrt((b/m)**2 {sign} {factor}(a/m)*(c/m))"

    def replacement(match: Match, reading: Reading, atom: Atom) -> str | None:
        constants = [exact(atom) is not None for name, atom in match.names.items() if name in ("a", "c")]
        has_factor = not factor or exact(match.names["k"]) is not None
        return text if has_factor and not any(constants) else None

    return replacement


ROOTS = (
    _rule(
        "-b and the root nearly cancel where they have different signs, and c/a over the other root does not",
        ("p = sqrt(b**2 - k*a*c); (p - b)/(h*a)", _conjugate("-{}*c/(b + p)", factor=True)),
        ("p = sqrt(b**2 - k*a*c); (-b - p)/(h*a)", _conjugate("{}*c/(p - b)", factor=True)),
        ("p = sqrt(b**2 - k*(a*c)); (p - b)/(h*a)", _conjugate("-{}*c/(b + p)", factor=True)),
        ("p = sqrt(b**2 - k*(a*c)); (-b - p)/(h*a)", _conjugate("{}*c/(p - b)", factor=True)),
        ("p = sqrt(b**2 - a*c); (p - b)/a", _conjugate("-{}*c/(b + p)", factor=False)),
        ("p = sqrt(b**2 - a*c); (-b - p)/a", _conjugate("{}*c/(p - b)", factor=False)),
    ),
    _rule(
        "the root and what it is of nearly cancel; the same where {n} is not 0",
        ("p = sqrt(u**2 + n); p - u", "n/(p + u)"),
        ("p = sqrt(u**2 + n); u - p", "-n/(p + u)"),
        ("p = sqrt(u**2 + n); p + u", "n/(p - u)"),
        ("p = sqrt(u**2 - n); p - u", "-n/(p + u)"),
        ("p = sqrt(u**2 - n); u - p", "n/(p + u)"),
        ("p = sqrt(u**2 - n); p + u", "-n/(p - u)"),
    ),
    _rule(
        "the square and the product under the root overflow or underflow",
        ("sqrt(b**2 - k*a*c)", _scaled("-", "k*")),
        ("sqrt(b**2 - k*(a*c))", _scaled("-", "k*")),
        ("sqrt(b**2 - a*c)", _scaled("-")),
        ("sqrt(b**2 + a*c)", _scaled("+")),
    ),
    _rule(
        "the difference of two nearly equal roots cancels",
        ("p = (a + b)**n; q = a**n; p - q", _roots("b")),
        ("p = a**n; q = b**n; p - q", _roots("(a - b)")),
    ),
    _rule(
        "the power is near 1, and the difference cancels; the same where {u} > -1",
        ("(1 + u)**n - 1", "expm1(n*log1p(u))"),
        ("1 - (1 + u)**n", "-expm1(n*log1p(u))"),
        ("((1 + u)**n - 1)/u", "n*(expm1(n*log1p(u))/(n*log1p(u)))*(log1p(u)/u)"),
    ),
    _rule(
        "the difference of two nearly equal powers cancels; the same where {a} > 0",
        ("q = a**n; (a + b)**n - q", "q*expm1(n*log1p(b/a))"),
        ("q = a**n; (a + 1)**n - q", "q*expm1(n*(log1p(a) - log(a)))"),
    ),
)
"""Roots of quadratics, and differences of roots and powers."""

DIFFERENCES = (
    _rule(
        "the difference of two nearly equal angles cancels",
        ("atan(a + n) - atan(a)", _arc),
        ("p = a + b; atan(p) - atan(a)", "atan2(b, 1 + a*p)"),
        ("atan(a) - atan(b)", "atan2(a - b, 1 + a*b)"),
    ),
    _rule(
        "the difference of two nearly equal inverses cancels",
        ("p = a + b; 1/p - 1/a", "-b/p/a"),
        ("p = a - b; 1/p - 1/a", "b/p/a"),
        ("p = a + b; 1/a - 1/p", "b/p/a"),
        ("1/p - 1/q", "(q - p)/p/q"),
    ),
    _rule(
        "the difference of two nearly equal numbers cancels",
        ("p = a + b; tan(p) - tan(a)", "sin(b)/cos(p)/cos(a)"),
        ("tan(a) - tan(b)", "sin(a - b)/cos(a)/cos(b)"),
        ("sin(a) - sin(b)", "2*cos((a + b)/2)*sin((a - b)/2)"),
        ("cos(a) - cos(b)", "-2*sin((a + b)/2)*sin((a - b)/2)"),
    ),
    _rule(
        "the products of logarithms nearly cancel",
        ("p = a + b; q = log(p); p*q - a*log(a)", "a*log1p(b/a) + b*q"),
        ("p = a + 1; q = log(p); p*q - a*log(a)", "a*log1p(1/a) + q"),
    ),
    _rule(
        "the exponentials cancel near {u} = 0",
        ("exp(u) - 2 + exp(-u)", "4*sinh(u/2)**2"),
        ("exp(u) + exp(-u) - 2", "4*sinh(u/2)**2"),
        ("cosh(u) - 1", "2*sinh(u/2)**2"),
        ("1 - cosh(u)", "-2*sinh(u/2)**2"),
    ),
)
"""Differences of nearly equal numbers."""

RATIOS = (
    _rule(
        "1 - cos({u}) cancels, and is 0/0 beside sin({u}) near {u} = 0",
        ("(1 - cos(u))/sin(u)", "tan(u/2)"),
        ("sin(u)/(1 + cos(u))", "tan(u/2)"),
    ),
    _rule("the logarithm is of a ratio near 1, and cancels near {u} = 0", ("log((1 - u)/(1 + u))", "-2*atanh(u)")),
    _rule(
        "the quotient of logarithms is near -1, and its derivative cancels near {u} = 0",
        ("log(1 - u)/log(1 + u)", "log1p(-u**2)/log1p(u) - 1"),
        ("log1p(-u)/log1p(u)", "log1p(-u**2)/log1p(u) - 1"),
    ),
    _rule(
        "the quotient of exponentials is 0/0 at {u} = 0",
        ("(exp(2*u) - 1)/(exp(u) - 1)", "exp(u) + 1"),
        ("expm1(2*u)/expm1(u)", "exp(u) + 1"),
    ),
    _rule(
        "the quotient of exponentials overflows, and cancels near {u} = 0",
        ("exp(u)/(exp(u) - 1)", "-1/expm1(-u)"),
        ("exp(u)/expm1(u)", "-1/expm1(-u)"),
    ),
    _rule(
        "the quotient of exponentials is 0/0 at {u} = 0, and its derivative cancels near it",
        (
            "u*(exp((a + b)*u) - 1)/((exp(a*u) - 1)*(exp(b*u) - 1))",
            "a*u/2/tanh(a*u/2)/a + b*u/2/tanh(b*u/2)/b",
        ),
    ),
)
"""Quotients of what vanishes together."""

_OVER_LARGEST = "m = detach(maximum(abs(c), abs(d))); "

SCALED = (
    _rule(
        "the squares overflow or underflow",
        ("sqrt(u**2 + n)", _hypotenuse),
        ("(a*c + b*d)/(c**2 + d**2)", _OVER_LARGEST + "(a*(c/m) + b*(d/m))/m/((c/m)**2 + (d/m)**2)"),
        ("(b*c - a*d)/(c**2 + d**2)", _OVER_LARGEST + "(b*(c/m) - a*(d/m))/m/((c/m)**2 + (d/m)**2)"),
    ),
    _rule(
        "torch takes the slope from the square of {u}, which overflows; the same where {u} is not 0",
        ("log(u + sqrt(u**2 + 1))", "sign(u)*(log(abs(u)) + log1p(sqrt(1 + 1/u/u)))"),
        ("asinh(u)", "sign(u)*(log(abs(u)) + log1p(sqrt(1 + 1/u/u)))"),
        ("log(u + sqrt(u**2 - 1))", "log(u) + log1p(sqrt(1 - 1/u)*sqrt(1 + 1/u))"),
        ("acosh(u)", "log(u) + log1p(sqrt(1 - 1/u)*sqrt(1 + 1/u))"),
    ),
    _rule(
        "the square of {a} below the slope of the quotient underflows; the same where {a} > 0",
        ("log(b/a + c/a)", "log(b + c) - log(a)"),
    ),
    _rule("the square overflows; the same where {u} is not 0", ("u/(u**2 + 1)", "1/(u + 1/u)")),
    _rule("the product below overflows or underflows", ("a/(b*c)", "a/b/c"), ("a/b**2", "a/b/b")),
    _rule(
        "torch takes the slope of a quotient by {a} from its square, which underflows; the same where {a} > 0",
        ("log1p(1/a)", "log1p(exp(-log(a)))"),
        ("log1p(b/a)", "log1p(b*exp(-log(a)))"),
    ),
    _rule("the squares overflow or underflow", ("sqrt(a**2 - b**2)", "sqrt(abs(a) - b)*sqrt(abs(a) + b)")),
)
"""The same in another order."""

IDENTITIES = (*ROOTS, *DIFFERENCES, *RATIOS, *SCALED)

"""Hints of errors about words and characters that this language has not: what they are, and what is here.

Knows characters and words only, not their place in the grammar.  Their spelling in this language, where there is one,
is a row of `gradcli.language.spellings`, which is read before it is shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from gradcli.option_words import option

VALUES = frozenset(["--at", "--v", "--u", "--in", "--expect"])
"""Options whose text is a value, which names nothing."""

ALONE = "the right-hand side alone is the claim, such as 2*x"
UNITLESS = "a value is a number, without a unit"
NO_UNITS = "gradcli has no units: give all numbers in one system, such as the SI"
COMPLEX = "numbers are real: hypot(a, b) is the modulus of a + b*i, atan2(b, a) its argument"
_STRING = "a string is a short word in quotes, such as einsum('ij,j->i', A, x)"
OVER_SAMPLES = (
    "a sum over elements is Σ[k=0..2] x[k], or sum(x) of a vector without its index; with the samples as rows of a "
    "matrix x, x @ w has all products w·x_i"
)
ITSELF = "gradcli differentiates: give the function itself, such as x**2"
_BODY = "the names of its body are the variables"
NO_INTEGRAL = (
    "gradcli differentiates and does not integrate; by its upper end, an integral has its integrand there as derivative"
)
NO_MATRIX = "a matrix of derivatives is what a command answers, and no part of a text"
NO_EXPECTATION = "an expectation is not read; mean(f(z)) at a vector of samples z is an estimate of it"
_LATEX = "LaTeX is read in part: fractions, roots, powers and names; A \\ b, with blanks, is the solution of A x = b"

_CHARACTERS: Mapping[str, str] = {
    sign: hint
    for signs, hint in (
        ("{}", "parentheses group, and a list stands in brackets, [a, b]"),
        ("∂∇∆′", ITSELF),
        ("\"'", _STRING),
        ("→↦", _BODY),
        ("∫", NO_INTEGRAL),
        ("\\", _LATEX),
        ("$", "the shell puts a value for $NAME only between double quotes"),
        (chr(0xB0), "an angle of 30 degrees is 30*pi/180, and a temperature is a number, without a unit"),
        ("?", "a choice is a if c else b"),
        ("!", "there is no factorial, and lgamma(n + 1) is its logarithm; ~c is not"),
    )
    for sign in signs
}

FACTS: Mapping[str, str] = {
    name: hint
    for names, hint in (
        ("diff derivative Derivative differentiate gradient grad", ITSELF),
        ("integrate Integral integral quad", NO_INTEGRAL),
        ("jacobian hessian", NO_MATRIX),
        ("limit series solve dsolve", "there are derivatives only"),
        ("dx dy dt", "a derivative is asked of the whole text, as in d/dx (x**2)"),
        ("re im Re Im conj conjugate arg", COMPLEX),
        (
            "airyai airybi airyaiprime airybiprime AiryAi AiryBi airyAi airyBi Ai Bi airy_bi "
            "expint expi exp1 E1 Ei ei Li li Si Ci Chi Shi sici shichi fresnel fresnels fresnelc hyper "
            "hyp0f1 hyp1f1 hyp2f1 ellipk ellipe ellipj ellipkinc ellipeinc ellipke legendre legendreP "
            "assoc_legendre hermite hermiteH "
            "laguerre laguerreL jacobi gegenbauer chebyt chebyu lambertw LambertW airy besselj bessely besselk besselh "
            "jv yv kv jn yn kn struve wofz dawsn dawson spence polylog dilog owens_t voigt_profile theta rgamma "
            "gammainccinv betainc betaincinv erfi",
            "gradcli has no such function; gradcli functions lists those that there are",
        ),
        (
            "gumbel_softmax ctc_loss lp_pool1d lp_pool2d lp_pool3d fractional_max_pool2d fractional_max_pool3d "
            "multi_head_attention_forward adaptive_log_softmax_with_loss affine_grid",
            "gradcli has no such function; code that calls it is run: gradcli check FILE.py::NAME --at VALUE",
        ),
        ("apply", "an autograd.Function is code, and is checked by its name: gradcli check FILE.py::NAME --at VALUE"),
        ("argmax argmin", "a position has no derivative and is not read; amax(x) is the value"),
        (
            "bessel_j0 bessel_j1 bessel_y0 bessel_y1 j0 j1 y0 y1 airy_ai modified_bessel_i0 modified_bessel_i1 "
            "modified_bessel_k0 modified_bessel_k1 spherical_bessel_j0",
            "torch has no derivative of it",
        ),
    )
    for name in names.split()
}
"""Facts on functions of other notations, by their names."""


def of_unknown(name: str) -> str | None:
    """Say what there is in place of a function that is not known, which may be a special function of an order.

    >>> of_unknown("J_0"), of_unknown("f")
    ('torch has no derivative of it', None)
    """
    letter = re.fullmatch(r"([A-Z])_?(?:\d|[nlm])", name)
    special = _SPECIAL.get(letter[1]) if letter is not None else None
    special = OVER_SAMPLES if re.fullmatch(r"(?:sum|prod|[ΣΠ])_[a-z]", name) else special
    return FACTS.get(name) or special


_SPECIAL = {
    **dict.fromkeys("JYK", "torch has no derivative of it"),
    **dict.fromkeys("PHLTU", "a polynomial is written out, as in 3/2*x**2 - 1/2"),
}
"""What is there in place of Bessel functions and orthogonal polynomials, by their letters."""

WHERE: Mapping[str, str] = {
    name: f", which is {said}"
    for names, said in (
        (f"gamma Gamma {chr(0x393)}", "exp(lgamma(x)) where x > 0; elsewhere that is its absolute value"),
        ("factorial", "exp(lgamma(x + 1)) where x > -1; elsewhere that is its absolute value"),
        ("beta Beta", "made of lgamma where its arguments are > 0; elsewhere that is its absolute value"),
        ("nchoosek binom comb binomial", "made of lgamma where n >= k >= 0; elsewhere that is its absolute value"),
    )
    for name in names.split()
}
"""Where the spelling of a function that is not known holds, as the end of a message."""


def where(name: str) -> str:
    """Say as the end of a message where the spelling of a function that is not known holds, or that it is a polynomial.

    >>> where("P_2"), where("foo")
    (': a polynomial is written out', '')
    """
    is_polynomial = name in _POLYNOMIALS or re.fullmatch(r"[PHLTU]_?(?:\d|[nlm])", name) is not None
    return WHERE.get(name, ": a polynomial is written out" * is_polynomial)


_POLYNOMIALS = frozenset("legendre legendreP hermite hermiteH laguerre laguerreL chebyt chebyu".split())
"""Orthogonal polynomials, by the names of their families."""


def of_equals(source: str) -> str:
    """Say what an equals sign is for."""
    if source.startswith("--claim"):
        return ALONE
    if source.startswith("--at"):
        return f"each variable has a value of its own: {option('at', 'x=1', 'y=2')}"
    return "an assignment is NAME = expression; statements are separated by ';'"


def of_character(text: str, position: int) -> str | None:
    """Say what is here in place of a character that is not in the language.

    >>> of_character("x ? 1", 2), of_character("💥", 0)
    ('a choice is a if c else b', None)
    """
    if text[position] == "\\" and text[position + 1 :].lstrip(" \r").startswith("\n"):
        return "put parentheses around the whole expression"
    if text[position] == "{" and re.search(r"(?<!\w)E_?\s*$", text[:position]):
        return NO_EXPECTATION
    return _CHARACTERS.get(text[position])


def of_unexpected(text: str, position: int) -> str:
    """Say in a message what a character that is not in the language is, after an operand; empty of most.

    >>> of_unexpected("x! + 1", 1), of_unexpected("!x", 0)
    (': x! is exp(lgamma(x + 1)) where x > -1, and elsewhere that is its absolute value', '')
    """
    is_factorial = text[position] == "!" and re.search(r"[\w)\]]\s*$", text[:position]) is not None
    return f": x! is {WHERE['factorial'].removeprefix(', which is ').replace(';', ', and')}" if is_factorial else ""


def of_keyword(word: str, after: str) -> str:
    """Say what a word of Python is for, before `after`.

    >>> of_keyword("in", "*"), of_keyword("lambda", "x")
    ("no variable can be called 'in': it is a word of Python", 'the names of its body are the variables')
    """
    if word == "lambda" and re.fullmatch(r"\w+", after):
        return _BODY
    if word != "None" and (not after or after in ";)]\n" or re.fullmatch(r"[-+*/^@<>=,]+", after)):
        return f"no variable can be called '{word}': it is a word of Python"
    return "only 'a if c else b', 'for ... in range(n)', and, or, not are read"


def of_operator(before: str, word: str, after: str, *, is_inside: bool) -> str | None:
    """Say what an operator between these words is for; `is_inside` tells whether it is in brackets."""
    match word:
        case "\\" if not before or not (before.isalnum() or before in (")", "]")):
            return _LATEX
        case "->":
            return _BODY
        case "*" | "**" | "^" if not before:
            return "an operand stands before it; between double quotes the shell puts a value for $NAME"
        case ":" if not is_inside and before.isidentifier():
            return _BODY
        case "," if not is_inside and before not in ("", ",", ";"):
            return "a list stands in brackets, [a, b], and decimals have a point"
        case ")" | "]" if not is_inside:
            return "it closes nothing"
        case "@":
            return "a file is read where @FILE is the whole text; elsewhere @ is the matrix product"
    return None


def of_neighbour(before: str, word: str, *, is_value: bool) -> str | None:
    """Say what is meant by operands side by side.

    >>> of_neighbour("1.2", ".3", is_value=True), of_neighbour("1", "2", is_value=True)
    ('a number has one point', 'numbers of a vector have commas between them, 1,2')
    """
    if before[-1:].isdigit() and word.startswith("."):
        return "a number has one point"
    if before.isidentifier() and word.isidentifier() and not is_value:
        return "a product of names has a sign, a*b; words that are no code are left out"
    return "numbers of a vector have commas between them, 1,2" if is_value else "a product of numbers has a sign, 2*3"

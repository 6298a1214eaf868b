r"""Names, numbers and text of the user's in LaTeX that compiles whatever they hold, with amsmath alone.

Nothing arrives raw: a character that is special to TeX is escaped, and one outside ASCII becomes a command or
its code point.  Knows no formulas.
"""

from __future__ import annotations

import re

GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi "
    "omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega varepsilon vartheta varphi varrho varsigma"
).split()
"""Greek names that are commands."""

_LETTERS = dict(zip("αβγδϵζηθικλμνξπρστυϕχψωΓΔΘΛΞΠΣΥΦΨΩεϑφϱς", GREEK, strict=True))
_LETTERS |= {"ℓ": "ell", "∂": "partial", "∇": "nabla", "∞": "infty"}

_SPACES = re.compile(" {2,}")

CONTROL_SPACE = "\\ "

_SPECIAL = {character: rf"\{character}" for character in "#$%&_{}"}
_SPECIAL |= {"`": "{}`", "[": "{[}", "]": "{]}"}  # `[` would begin the argument of a `\\` before it; ?` is a ligature
_SPECIAL |= {
    character: rf"\text{word}{{}}"
    for character, word in zip(r"\^~<>|", "backslash asciicircum asciitilde less greater bar".split(), strict=True)
}
"""Commands that every encoding of LaTeX has."""

_MATHEMATICS = {
    character: rf"\(\{word}\)"
    for character, word in zip(
        "⋅·±√Σ≥≤≠×→✓✗∧≈", "cdot cdot pm surd Sigma ge le neq times to surd times wedge approx".split(), strict=True
    )
} | {"ᵀ": r"\({}^{T}\)", "…": r"\dots{}", "’": "'"}


def name(word: str) -> str:
    r"""Write a name of the user's in mathematics: one letter, a Greek letter, or italics.

    >>> name("x"), name("alpha"), name("my_weight"), name("λ"), name("é")
    ('x', '\\alpha', '\\mathit{my\\_weight}', '\\lambda', '\\mathrm{U{+}00E9}')

    >>> name("fc1.weight")
    '\\mathit{fc1.weight}'

    A name that is no identifier (a constant tensor's) is set as it is typed.

    >>> name("randn(3, 1)")
    '\\texttt{randn(3, 1)}'
    """
    if word in GREEK:
        return rf"\{word}"
    if not all(part.isidentifier() or part.isdecimal() for part in word.split(".")):
        return typed(word)
    letters = [_letter(character) for character in word]
    if len(letters) == 1:
        return letters[0]
    return rf"\mathit{{{''.join(f'{x}{{}}' if x[0] == chr(92) and x[-1].isalpha() else x for x in letters)}}}"


def _letter(character: str) -> str:
    if character == "_":
        return r"\_"
    if character.isascii():
        return character
    if character in _LETTERS:
        return rf"\{_LETTERS[character]}"
    return rf"\mathrm{{U{{+}}{ord(character):04X}}}"


def text(words: str) -> str:
    r"""Write words in a paragraph.

    >>> text("50% of x_1 & ∂y")
    '50\\% of x\\_1 \\& \\(\\partial\\)y'
    >>> text("x[0]")
    'x{[}0{]}'
    """
    shown = "".join(map(_character, words)).replace("--", "-{}-").replace("--", "-{}-")
    return "{*}" + shown[1:] if shown.startswith("*") else shown  # after a `\\\\` it would be an argument


def _character(character: str) -> str:
    if character in _SPECIAL:
        return _SPECIAL[character]
    if character.isascii():
        return character if character.isprintable() else " "
    if character in _MATHEMATICS:
        return _MATHEMATICS[character]
    if character in _LETTERS:
        return rf"\(\{_LETTERS[character]}\)"
    return rf"U+{ord(character):04X}"


def typed(words: str) -> str:
    r"""Write a line of the language as it was typed, in typewriter type; its spaces stay.

    >>> typed("x**2 + y_1")
    '\\texttt{x**2 + y\\_1}'
    """
    return rf"\texttt{{{_SPACES.sub(lambda found: ' ' + CONTROL_SPACE * (len(found[0]) - 1), text(words))}}}"


def number(digits: str) -> str:
    r"""Write a float from its shortest digits, in mathematics.

    >>> number("1.25e-05"), number("1e+16"), number("-1e-08"), number("-inf"), number("nan"), number("0.5")
    ('1.25 \\cdot 10^{-5}', '10^{16}', '-10^{-8}', '-\\infty', '\\mathrm{nan}', '0.5')
    """
    if digits == "nan":
        return r"\mathrm{nan}"
    if digits.endswith("inf"):
        return r"-\infty" if digits[0] == "-" else r"\infty"
    mantissa, _, exponent = digits.partition("e")
    if not exponent:
        return digits
    mantissa = mantissa.removesuffix(".0")
    factor = {"1": "", "-1": "-"}.get(mantissa, rf"{mantissa} \cdot ")
    return rf"{factor}10^{{{int(exponent)}}}"

"""Lines with signs of Unicode: each is answered as its twin in ASCII is, apart from the signs that are repeated."""

import re
import shlex
from collections.abc import Mapping

import pytest

from gradcli.cli.suggestions import unicode_words
from gradcli.language.text.signs import in_ascii_signs
from tests.conftest import Command

LINES = """
check "e^(-x^2)" --claim "-2xe^(-x^2)"
check "exp(-x^2)" --claim "-2x*e^(-x^2)"
check "xe^(-x)" --claim "e^(-x)-xe^(-x)"
grad "xe^(-x)" --at 1
grad "2xe^(-2x)" --at 1
grad "e^-x" --at x=1
grad "e^x" --at x=1
grad "x*y - 2" --at x=1 --at y=2
grad "x*y*z" --at x=1 --at y=2 --at z=3
vjp "x**2" --at -1,2 --v 1,-1
vjp "x**2" --at [-1,2] --v [1,-1]
grad "sin x" --at 1
grad "sinx" --at x=1
grad "x^-2" --at 2
grad "x^2*y^3" --at x=1 --at y=-1
check "x^3" --claim "3x^2"
check "1/x" --claim "-1/x^2"
check "1/x" --claim "-x^-2"
check "f(x) = x^2" --claim "f'(x) = 2x"
grad "x' A x" --at x=1,2 --at "A=[[1,2],[3,4]]" --wrt x
grad "x'x" --at x=1,-2
grad "f(x) = x^2; f(x)*x" --at -2
range "x^2 - x" --in x=-1..1
check "x^2" --prove "x^2 >= -1" --in x=-1..1
check "x^2-x" --prove "y >= -0.25" --in x=-1..1
eval "log(x) - 1" --at x=2
grad "1/2x" --at 1
grad "x^1/2" --at 2
grad "E*x - q" --at x=1 --at q=-1
grad "2(x-1)(x+1)" --at 3
grad "a*b - ab" --at a=1 --at b=2
grad "abs(x-1)" --at x=-1
grad "|x-1|" --at x=-1
grad "sum(x*x) - 1" --at x=1,-2
grad "x if x > -1 else -x" --at x=-2
grad "k*T - 2" --at k=1 --at T=-3
grad "10^-3*x" --at x=1
grad "x-1" --at "x = -1"
grad "x-1" --at "x=-1e-3"
grad "y = x^2 - 1" --at 2
grad "x-y" --at "x=1, y=-2"
grad "x-y" --at x=1 y=-2
jacobian "[x-y, x*y]" --at x=1 --at y=-2
grad "-x^2" --at 3
grad "- x^2" --at 3
grad "foo-bar" --at foo=1
grad "x-z" --at x=1
grad "sum(w*x) - b" --at w=1,2 --at x=-1,1 --at b=0
grad "x/y - 1" --at x=1 --at y=-2
grad "(x - 1" --at 1
grad "x -" --at 1
grad "-y_i*x" --at x=2
grad "e^(-E_a/(k*T))" --at E_a=1 --at k=1 --at T=2
grad "e^(-t/tau)" --at t=1 --at tau=2
grad "2 - x" --at=-1
check "x*e^(-x)" --claim "(1-x)e^(-x)"
check "x*e^(-x)" --claim "(1-x)*e^-x" --in x=-1..1
grad "x*(y - 1)" --at x=1 --at y=2
grad "e^(-2*x)" --at 1
check "2*e^(-x)" --claim "-2*e^(-x)"
grad "e^(x-1)" --at 1
grad "x*e^(-y)" --at x=1 --at y=2
grad "[x - 1, 2][0]" --at 1
grad "e^(2*x)" --at x=1
check "e^(2*x)" --claim "2*e^(2*x)"
""".strip().splitlines()

SPELLINGS: Mapping[str, Mapping[str, str]] = {
    "minus": {"-": "\u2212"},
    "dot": {"*": "\u00b7"},
    "full width": {sign: chr(ord(sign) + 0xFEE0) for sign in "-+*/^(),=<>|[]'"},
    "thin space": {" ": "\u2009"},
    "prime": {"'": "\u2032"},
    "superscripts": {"^-2": "\u207b\u00b2", "^2": "\u00b2", "^3": "\u00b3"},
}

_DOTS = re.compile(r"multiplies element by element")
"""A remark that a dot, which may be meant as a dot product, has on purpose."""


def _twin(words: list[str], signs: Mapping[str, str]) -> list[str]:
    """Write the expression and the values of a line in other signs; its command and its options stay."""
    kept = {words[0], *(word for word in words if word.startswith("--"))}
    for sign, other in signs.items():
        one = r"(?<!\*)\*(?!\*)" if sign == "*" else re.escape(sign)
        words = [word if word in kept else re.sub(one, other, word) for word in words]
    return words


def _screen(text: str, signs: Mapping[str, str]) -> list[str]:
    """List the lines of a screen in ASCII, without the marks below them, and what the twin was read as."""
    for sign, other in signs.items():
        text = text.replace(other, sign).replace(ascii(other)[1:-1], sign)
    lines = [" ".join(line.replace('"', "").split()) for line in text.splitlines()]
    return [line for line in lines if not line.startswith(("^", "warning: read as")) and not _DOTS.search(line)]


@pytest.mark.part("claims", "everywhere")
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_line_in_other_signs_is_answered_as_its_twin_in_ascii(gradcli: Command, spelling: str) -> None:
    """Signs are those of ASCII before anything is decided: whether e is Euler's number, what `=` parts."""
    signs, seen = SPELLINGS[spelling], 0
    for line in LINES:
        words = shlex.split(line)
        other = _twin(words, signs)
        if other == words:
            continue
        seen += 1
        plain, twin = gradcli(*words), gradcli(*other)
        assert twin.code == plain.code, other
        assert _screen(twin.out + twin.err, signs) == _screen(plain.out + plain.err, signs), other
    assert seen >= (3 if spelling == "prime" else 10)


def test_signs_keep_their_places_and_files_their_names() -> None:
    """Each sign is one character of ASCII; what may be a range or a quotation stays."""
    rows = {
        "e^(\u2212x)": "e^(-x)",
        "(\u2013x": "(-x",
        "0\u20131": "0\u20131",
        "f\u2019(x)": "f'(x)",
        "\u2018x\u2019": "\u2018x\u2019",
        "2\u00b7x\u00f7y": "2*x/y",
    }
    assert {text: in_ascii_signs(text) for text in rows} == rows
    assert unicode_words.narrowed("@x\uff1d1.csv") == "@x\uff1d1.csv"
    assert unicode_words.narrowed("x\uff1d1") == "x=1"

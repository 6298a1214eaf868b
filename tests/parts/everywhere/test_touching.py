"""Statements whose sides are equal at a point: proved next to it, unless they are false there."""

import random
from fractions import Fraction

import numpy as np
import pytest
import sympy

from gradcli import Function
from gradcli.parts.everywhere import touching
from gradcli.results import BoxChecking, BoxProof


def _proof(text: str, statement: str, **ranges: str) -> BoxProof:
    answer = Function(text).check(box=ranges, prove=statement)
    assert isinstance(answer, BoxChecking)
    (found,) = answer.proofs
    return found


PROVED = [
    ("x*exp(-x)", "y <= x", "0..1"),
    ("tanh(x)", "y <= x", "0..3"),
    ("log(x)", "y <= x - 1", "0.5..2"),
    ("exp(x - 1)", "y >= x", "0..3"),
    ("x*exp(-x)", "y <= exp(-1)", "-2..2"),
    ("x**3 - 3*x + 2", "y >= 0", "0..3"),
    ("sqrt(1 + x**2)", "y >= 1", "-1..2"),
    ("softplus(x)", "y >= log(2) + x/2", "-3..4"),
    ("cos(x)", "y >= 1 - x**2/2", "-3..3"),
    ("cos(x)", "y <= 1 - x**2/2 + x**4/24", "-3..3"),
    ("sin(x)", "y >= x - x**3/6", "0..1"),
    ("x - sin(x)", "x*y >= 0", "-1..1"),
    ("sigmoid(x)", "dy/dx <= 1/4", "-4..5"),
    ("erf(x)", "dy/dx <= 2/sqrt(pi)", "-3..4"),
    ("x/(1 + x**2)", "y <= 0.5 and dy/dx <= 1", "-1..4"),
    ("cosh(x)**2 - sinh(x)**2", "y = 1", "-2..3"),
    ("softplus(x) - relu(x)", "y <= log(2)", "-20..20"),
    ("abs(2 - x) + abs(x)", "y >= 2", "-0.5..4"),
    ("x*expm1(x)", "y >= 0", "-1..2"),
    ("sqrt(x)", "y >= x", "0..1"),
    ("asin(x)", "y >= x", "0..1"),
]
"""Functions with what is true of them by nothing at a point: at an end, inside, of higher order, at a kink."""


@pytest.mark.parametrize(("text", "statement", "ends"), PROVED)
def test_what_is_equal_at_a_point_is_proved(text: str, statement: str, ends: str) -> None:
    """By exact numbers at the point, and bounds next to it; long before the search has halved all that it may."""
    found = _proof(text, statement, x=ends)
    assert found.status == "proved", found
    assert found.boxes < 5000


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("x**4 + y**4 - 4*x*y + 2", "f >= 0"),
        ("cos(x)*cos(y)", "f <= 1"),
        ("exp(x)*(1 + y**2)", "f >= 1"),
        ("exp(x + y)", "f >= 1 + x + y"),
    ],
)
def test_what_is_equal_at_a_point_of_two_numbers_is_proved(text: str, statement: str) -> None:
    """Inside, at an end of one of them, and on a line, of a convex number."""
    assert _proof(text, statement, x="0..1.5", y="-1.5..1.25").status == "proved"


BY_A_HAIR = ("x**4 - 4*x**3 + 6*x**2 - 4*x + 1", "y >= 1e-20*(x - 1)**2", "0.5..1.75")
"""(x - 1)**4 written out, and what is false next to 1 by less than any bound in floats tells."""

FALSE = [
    BY_A_HAIR,
    ("tanh(x)", "y >= x", "0..1"),
    ("sin(x)", "y <= x", "-1..1"),
    ("cos(x)", "y >= 1 - x**2/2 + x**4/20", "-1..1"),
    ("x**3", "y >= 0", "-1e-3..1"),
    ("abs(x - 1) - x + 1", "y >= 1e-9*(x - 1)", "0.5..3"),
    ("x**4 - 2*x**2 + 1", "y >= 1e-20", "-2..3"),
    ("x*abs(x)", "y + x**2 >= 1e-40", "-1..2"),
    ("round(x)", "y >= 0", "-0.7..2"),
]
"""Functions with what is false of them next to a point at which the sides are equal, or nearly so."""


@pytest.mark.parametrize(("text", "statement", "ends"), FALSE)
def test_what_is_false_next_to_such_a_point_is_not_proved(text: str, statement: str, ends: str) -> None:
    """By however little."""
    assert _proof(text, statement, x=ends).status != "proved"


def _product(draw: random.Random) -> tuple[str, bool]:
    """Draw a product of powers of x - c, and of a positive factor, and tell whether it is nowhere negative in -2..3."""
    roots = {Fraction(draw.randint(-8, 12), draw.choice([2, 4, 5])) for _ in range(2)}
    powers = [(root, draw.randint(1, 4)) for root in roots]
    factor = draw.choice(["exp(x)", "cosh(x)", "(1 + x**2)", "(2 + sin(x))"])
    terms = [str(sympy.expand((sympy.Symbol("x") - sympy.Rational(c)) ** n)) for c, n in powers]
    text = "*".join([*(f"({one})" for one in terms), factor])
    x = np.linspace(-2, 3, 20_001)
    values = np.prod([(x - float(c)) ** n for c, n in powers], axis=0)
    return text, bool((values > -1e-9).all())


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.thorough) for n in range(1, 20))])
def test_no_product_is_proved_that_changes_its_sign(seed: int) -> None:
    """Random ones, written out so that no rule of even powers helps; most that are true are proved."""
    draw, proved = random.Random(seed), list[bool]()
    for _ in range(8):
        text, is_true = _product(draw)
        found = _proof(text, "y >= 0", x="-2..3")
        assert found.status != "proved" or is_true, text
        proved += [found.status == "proved"] if is_true else []
    assert not proved or any(proved)


def test_an_unsound_sign_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: any derivative serves, whatever its sign."""
    assert _proof(*BY_A_HAIR[:2], x=BY_A_HAIR[2]).status == "undecided"
    monkeypatch.setattr(touching.WrittenNumber, "_has_sign", lambda *_: True)
    assert _proof(*BY_A_HAIR[:2], x=BY_A_HAIR[2]).status == "proved"

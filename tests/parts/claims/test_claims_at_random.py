"""Random claims for piecewise functions: true ones are never refuted, false ones never proved."""

import random
from collections import Counter
from fractions import Fraction

import pytest

from gradcli.results import Claim
from tests.examples import examples, in_turn, seeds
from tests.parsing import parse
from tests.parts.claims.asking import claim_of

SCALES = (1, 4, 16)
"""Of terms, so that their kinks, whose slopes differ by one or two of these, never cancel."""

MANY = examples(16)
"""Functions of each test."""

KEPT: tuple[int, ...] = ()
"""Seeds of functions whose claims were judged wrong once."""


class _Function:
    """A sum of piecewise linear terms and a smooth one, and its derivative by x, at kinks by one side or the other."""

    def __init__(self, seed: int, variables: str) -> None:
        self.dice = random.Random(seed)
        self.variables = variables
        terms = [self._term(scale) for scale in SCALES[: self.dice.randint(1, 3)]]
        self.text = " + ".join(["x**2", *(f for f, _ in terms)])
        self.slopes = [slope for _, slope in terms]

    @property
    def slope(self) -> str:
        """The true one."""
        return " + ".join(["2*x", *self.slopes])

    def _term(self, scale: int) -> tuple[str, str]:
        sign = self.dice.choice((1, -1))
        rest = "".join(f" + {self.dice.randint(-3, 3)}*{name}" for name in self.variables if name != "x")
        u = f"({sign}*x{rest} + {Fraction(self.dice.randint(-40, 40), self.dice.choice((1, 2, 3, 4, 8)))})"
        gt, lt = self.dice.choice((">", ">=")), self.dice.choice(("<", "<="))
        f, slope = {
            "relu": (f"relu({u})", f"where({u} {gt} 0, 1, 0)"),
            "abs": (f"abs({u})", f"where({u} {gt} 0, 1, -1)"),
            "sign": (f"abs({u})", f"sign({u})"),
            "clamp": (f"clamp({u}, -1, 1)", f"where(({u} {gt} -1) & ({u} {lt} 1), 1, 0)"),
            "band": (f"clamp({u}, -1, 1)", f"where(abs({u}) {lt} 1, 1, 0)"),
            "maximum": (f"maximum({u}, -2*{u})", f"where({u} {gt} 0, 1, -2)"),
            "leaky": (f"where({u} > 0, {u}, {u}/2)", f"where({u} {gt} 0, 1, 1/2)"),
            "huber": (f"where(abs({u}) <= 1, {u}**2/2, abs({u}) - 1/2)", f"clamp({u}, -1, 1)"),
        }[self.dice.choice(("relu", "abs", "sign", "clamp", "band", "maximum", "leaky", "huber"))]
        return f"{scale}*{f}", f"{scale * sign}*{slope}"

    def claim(self, text: str) -> Claim:
        """The fate of a claim at a random point."""
        return claim_of(self.text, text, {name: self.dice.randint(-32, 32) / 16 for name in parse(self.text).names})

    def beyond(self) -> str:
        """Wrong far away only."""
        place = self.dice.choice((17, 60, 333, 2000, 10000))
        factor, side = self.dice.choice((1, 3, 7)), self.dice.choice((1, -1))
        return f"{self.slope} + relu({side * factor}*x - {place})"

    def between(self) -> str:
        """Wrong on a short interval only."""
        place, width = Fraction(self.dice.randint(-999, 999), 8), Fraction(1, self.dice.choice((2, 16, 128)))
        return f"where((x > {place}) & (x < {place + width}), {self.slope} + 1, {self.slope})"

    def at_one(self) -> str:
        """Wrong at one place only, at which the function is smooth: no kink is at an odd multiple of 1/128."""
        return f"where(x == {2 * self.dice.randint(-500, 500) + 1}/128, {self.slope} + 1/3, {self.slope})"

    def by_one_branch(self) -> str:
        """Wrong by the sign or the place of one branch."""
        changes = {
            " 0, 1, ": " 0, -1, ",
            " 1, 1, 0)": " 1, -1, 0)",
            "), 1, 0)": "), -1, 0)",
            "sign(": "abs(",
            "*clamp": "*-clamp",
            "-1, 1)": "-1, 2)",
        }
        old = self.dice.choice([old for old in changes if old in self.slope])
        return self.slope.replace(old, changes[old], 1)


@pytest.mark.parametrize("variables", ["xy", pytest.param("x", marks=pytest.mark.thorough)])
def test_what_is_true_is_never_refuted(variables: str) -> None:
    """And nearly all of it is proved."""
    found = Counter[str]()
    for seed in seeds(0, MANY, KEPT):
        f = _Function(seed, variables)
        claim = f.claim(f.slope)
        assert claim.status != "refuted", (seed, f.text, f.slope, claim)
        found[claim.status] += 1
    assert found["proved"] >= 0.9 * found.total(), found


@pytest.mark.parametrize(
    ("mutation", "variables"), in_turn(["beyond", "between", "at_one", "by_one_branch"], "xy", "x")
)
@pytest.mark.one_in(2)
def test_what_is_false_is_never_proved(mutation: str, variables: str) -> None:
    """And nearly all of it is refuted, by a point at which it is wrong."""
    found = Counter[str]()
    for seed in seeds(0, MANY, KEPT):
        f = _Function(seed, variables)
        text = getattr(f, mutation)()
        claim = f.claim(text)
        assert claim.status != "proved", (seed, f.text, text)
        found[claim.status] += 1
    assert found["refuted"] >= 0.9 * found.total(), found

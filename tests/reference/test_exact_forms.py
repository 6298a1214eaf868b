"""Values that are the same by their structure: an exact 0 that no number of bits shows."""

import random
from fractions import Fraction
from typing import Any

import pytest
from flint import arb

from gradcli import Function
from gradcli.reference.balls import precision
from gradcli.reference.enclosure_pass import EnclosurePass
from gradcli.reference.exact_forms import Numbering, constant_of
from gradcli.reference.rules import Undefined
from tests.crosscheck.adversary import nested, pick
from tests.crosscheck.asking import checked
from tests.examples import seeds
from tests.reference.test_enclosure_plan import reference_of

LEAVES = "x; y; mean(x); 0.5"
ONE = "exp({0}); sin({0}); 2*{0}; -({0}); ({0})**2; ({0})/3; tanh({0})"
SURDS = "sqrt(1 + abs({0})); ({0})**3; (1 + ({0})**2)**-1.5; 2/sqrt(2 + ({0})**2); ({0})/sqrt(8); abs({0})*sqrt(2)"
TWO = "({0} + {1}); ({0} - {1}); ({0})*({1}); maximum({0}, {1}); ({0})/(1 + ({1})**2); where({0}>{1},{0},{1})"


KEPT: tuple[int, ...] = ()
"""Seeds of programs of which equal forms were not equal once."""

KEPT_DISTANCES: tuple[int, ...] = ()
"""Seeds of functions whose distance was no kink once."""


@pytest.mark.parametrize("seed", seeds(0, 2, KEPT))
def test_equal_forms_are_equal_numbers(seed: int) -> None:
    """Over random programs on few different values, so that many elements are the same; constants are their values."""
    r, same = random.Random(seed), 0
    for _ in range(60):
        first, second = (
            nested(r, LEAVES, f"{ONE}; {SURDS}; relu({{0}}); ({{0}}).cumsum(0)", TWO, r.randint(1, 3)) for _ in "12"
        )
        at = {name: r.choices([0.5, 1.0, -1.0], k=3) for name in "xy"}
        reference, _ = reference_of(f"[{first} + 0*x, {second} + 0*y]", at)
        with precision(64):
            run = EnclosurePass(reference.plan([], None))
            run.evaluate()
        numbering = run.numbering
        assert isinstance(numbering, Numbering)
        output = numbering.reference.program.output
        values = numbering.run.values[output]
        balls: dict[Any, Any] = {}
        for e, value in values.items():
            assert not isinstance(value, Undefined)
            form = numbering.form(output, e)
            exact = constant_of(form)
            assert exact is None or value.overlaps(arb(exact.numerator) / exact.denominator), (first, second)
            assert form not in balls or value.overlaps(balls[form]), (first, second, at)
            same += form in balls
            balls[form] = value
    assert same > 20


@pytest.mark.parametrize("seed", seeds(0, 1, KEPT_DISTANCES))
def test_the_distance_of_equal_images_is_a_kink(seed: int) -> None:
    """norm(f(x) - f(y)) at x = y, for random smooth f: slopes of -|f'| and |f'|, or smooth where f' is 0."""
    r = random.Random(seed)
    for _ in range(20):
        f = "{0}"
        for _ in range(r.randint(1, 3)):
            f = f.replace("{0}", pick(r, ONE))
        x = r.choice([0.5, 1.0, 0.3])
        check = checked(f"norm({f.format('x')} - {f.format('y')})", {"x": x, "y": x})
        slope = float(Function(f.format("x")).grad({"x": x}).grad["x"])
        found = next(g for g in check.findings if g.variable == "x")
        assert (found.verdict, found.proven) == ("kink", True), f
        assert found.one_sided == pytest.approx((-abs(slope), abs(slope)), rel=1e-9)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("norm(x)*norm(x)", 5),
        ("norm(x)**2/3", Fraction(5, 3)),
        ("norm(2*x)/norm(x)", 2),
        ("sqrt(8) - 2*sqrt(2)", 0),
        ("sqrt(2)*sqrt(3) - sqrt(6)", 0),
        ("(1 + sqrt(2))*(1 - sqrt(2))", -1),
        ("1/sqrt(2) - sqrt(2)/2", 0),
        ("rsqrt(dot(x, x))*dot(x, x)**0.5", 1),
        ("dot(x, x)**-1.5*norm(x)**3", 1),
        ("exp(x[0])/(2*exp(x[0]))", Fraction(1, 2)),
        ("norm(exp(x))*norm(exp(x))/dot(exp(x), exp(x))", 1),
        ("sqrt(2) + sqrt(3)", None),
        ("sqrt(2)*sqrt(3)", None),
        ("norm(exp(x))*norm(x)", None),
        ("sqrt(4 + 2**-50) - 2", None),
    ],
)
def test_arithmetic_with_square_roots_is_exact(text: str, number: Fraction | None) -> None:
    """By hand, at x = 1, 2; what is no rational number is not called one."""
    reference, _ = reference_of(f"{text} + 0*x[0]", {"x": [1.0, 2.0]})
    with precision(64):
        run = EnclosurePass(reference.plan([], None))
        run.evaluate()
    assert run.numbering.constant(reference.program.output, 0) == number

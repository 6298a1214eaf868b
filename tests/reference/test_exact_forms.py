"""Values that are the same by their structure: an exact 0 that no number of bits shows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from flint import arb

from gradcli import Function
from gradcli.language.program.expansion import in_primitives
from gradcli.reference.balls import precision
from gradcli.reference.enclosure_pass import Run
from gradcli.reference.enclosure_plan import Reference
from gradcli.reference.exact_forms import Numbering, constant_of
from gradcli.reference.rules import Undefined
from gradcli.results import Check
from tests.checks import check_of
from tests.parsing import parse

E = math.e


def _check(text: str, at: dict[str, Any]) -> Check:
    return check_of(Function(text).vjp(at, "ones"))


S = 1 / (1 + math.exp(-1))

HIDDEN: list[tuple[str, dict[str, Any], tuple[float, float]]] = [
    ("std(exp(x))", {"x": [1, 1]}, (-E / math.sqrt(2), E / math.sqrt(2))),
    ("norm(sigmoid(x)-sigmoid(y))", {"x": 1, "y": 1}, (-S * (1 - S), S * (1 - S))),
    ("abs(exp(x)-exp(y))", {"x": 1, "y": 1}, (-E, E)),
    ("relu(exp(x)*y - y*exp(x*z))", {"x": 1, "y": 2, "z": 1}, (0, 0)),
    ("maximum(exp(x), exp(y))", {"x": 1, "y": 1}, (0, E)),
    ("amax(exp(x))", {"x": [1, 1, 0]}, (0, E)),
    ("where(exp(x) >= exp(y), exp(x), exp(y))", {"x": 1, "y": 1}, (0, E)),
    ("sum(abs(exp(x) - mean(exp(x))))", {"x": [1, 1]}, (-E, E)),
    ("norm(cumsum(log(x), 0) - cumsum(log(y), 0))", {"x": [2, 3], "y": [2, 3]}, (-(2**-0.5), 2**-0.5)),
]


@pytest.mark.parametrize(("text", "at", "sides"), HIDDEN, ids=[f"{t} at {x}" for t, x, _ in HIDDEN])
def test_equal_terms_cancel_exactly(text: str, at: dict[str, Any], sides: tuple[float, float]) -> None:
    """The kink behind them is proved, with both slopes by the first element."""
    check = _check(text, at)
    if sides == (0, 0):
        assert check.verdict in ("kink", "agree")
        return
    finding = next(f for f in check.findings if f.variable == "x" and f.column in ((), (0,)))
    assert (finding.verdict, finding.proven) == ("kink", True)
    assert finding.one_sided == pytest.approx(sides, rel=1e-14)


def test_a_condition_on_equal_terms_is_decided() -> None:
    """What is not greater than itself is not at 4,096 bits either."""
    for text, value in [("exp(x) > exp(y)", 0), ("exp(x) >= exp(y)", 1), ("exp(x) - exp(y) == 0", 1)]:
        check = _check(f"where({text}, 5*y, 3*y)", {"x": 1, "y": 1.0})
        found = next(f for f in check.findings if f.variable == "x")
        assert found.verdict == "kink"
        assert f"over {5 if value else 3} " in found.note


def _numbered(text: str, at: dict[str, list[float]]) -> Numbering:
    program = in_primitives(parse(text))
    shapes = {s: (len(at[str(s)]),) for s in program.variables}
    from gradcli.language.program.shapes import infer

    reference = Reference(program, infer(program, shapes), {n: np.array(v, dtype=float) for n, v in at.items()})
    with precision(64):
        run = Run(reference.plan([], None))
        run.evaluate()
        return run.numbering


ONE = ["exp({0})", "sin({0})", "2*{0}", "-({0})", "({0})**2", "({0})/3", "tanh({0})", "relu({0})", "({0}).cumsum(0)"]
TWO = [
    "({0} + {1})",
    "({0} - {1})",
    "({0})*({1})",
    "maximum({0}, {1})",
    "({0})/(1 + ({1})**2)",
    "where({0}>{1},{0},{1})",
]


def _text(generator: np.random.Generator, depth: int) -> str:
    if depth == 0:
        return str(generator.choice(["x", "y", "mean(x)", "0.5"]))
    template = str(generator.choice(ONE + TWO))
    return template.format(*(_text(generator, depth - 1) for _ in range(2 if "{1}" in template else 1)))


@pytest.mark.parametrize("seed", range(4))
def test_equal_forms_are_equal_numbers(seed: int) -> None:
    """Over random programs on few different values, so that many elements are the same; constants are their values."""
    generator = np.random.default_rng(seed)
    same = 0
    for _ in range(60):
        first, second = (_text(generator, int(generator.integers(1, 4))) for _ in range(2))
        at = {name: generator.choice([0.5, 1.0, -1.0], 3).tolist() for name in "xy"}
        numbering = _numbered(f"[{first} + 0*x, {second} + 0*y]", at)
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


@pytest.mark.parametrize("seed", range(2))
def test_the_distance_of_equal_images_is_a_kink(seed: int) -> None:
    """norm(f(x) - f(y)) at x = y, for random smooth f: slopes of -|f'| and |f'|, or smooth where f' is 0."""
    generator = np.random.default_rng(seed)
    smooth = [one for one in ONE if "relu" not in one and "cumsum" not in one]
    for _ in range(20):
        f = "{0}"
        for _ in range(int(generator.integers(1, 4))):
            f = f.replace("{0}", str(generator.choice(smooth)))
        x = float(generator.choice([0.5, 1.0, 0.3]))
        check = _check(f"norm({f.format('x')} - {f.format('y')})", {"x": x, "y": x})
        slope = float(Function(f.format("x")).grad({"x": x}).grad["x"])
        found = next(g for g in check.findings if g.variable == "x")
        assert (found.verdict, found.proven) == ("kink", True), f
        assert found.one_sided == pytest.approx((-abs(slope), abs(slope)), rel=1e-9)

"""Second derivatives where kinks, poles and the ends of domains meet, against exact one-sided derivatives."""

import itertools
import random

import numpy as np
import pytest

from gradcli import Function
from tests.checks import check_of
from tests.crosscheck.adversary import is_right, nested, second, unless_bent
from tests.examples import examples, quarter, seeds

PROGRAMS = examples(120)

KEPT: tuple[int, ...] = ()
"""Seeds of programs with a wrong verdict once."""

LEAVES = "x; y; x*y; (x - y); x; y"


@pytest.mark.parametrize(
    ("text", "at", "verdicts"),
    [
        ("where(x*y >= 0, x*y, 0)", {"x": 0.0, "y": 0.0}, {"xy": "undefined", "yx": "undefined"}),
        ("x*relu(y)", {"x": 0.0, "y": 0.0}, {"xy": "kink", "yx": "undefined"}),
        ("x*abs(y)", {"x": 1.0, "y": 0.0}, {"xy": "kink", "yx": "kink", "yy": "kink"}),
        ("x**3*abs(y)", {"x": 0.0, "y": 0.0}, {"yx": "undefined"}),
        ("x*(relu(y) - relu(-y))", {"x": 0.0, "y": 0.0}, {"xy": "disagree", "yx": "disagree"}),
        ("x*y*floor(y)", {"x": 0.0, "y": 1.0}, {"xy": "kink", "yx": "undefined"}),
        ("x if x == (x - y) else 2*(x - y) - x", {"x": 1.0, "y": 0.0}, {}),
        ("sqrt(x) + x*y", {"x": 0.0, "y": 1.0}, dict.fromkeys(("xx", "xy", "yx"), "undefined")),
        (
            "clamp(x*(x - y) + (x if x*(x - y) > 0 else x - y), 0, 1)",
            {"x": 0.0, "y": 1.0},
            {"xx": "kink", "xy": "undefined", "yx": "kink"},
        ),
        ("x**2.5", {"x": 0.0}, {"xx": "undefined"}),
        ("clamp(sqrt(x) - 5, 0, 1)", {"x": 0.0}, {"xx": "undefined"}),
        ("floor(x)*x", {"x": 1.0}, {"xx": "kink"}),
        ("where(x == 0, 1, sin(x)/x)", {"x": 0.0}, {"xx": "nan-trap"}),
        ("relu(x)**3*exp(x)", {"x": 0.0}, {}),
        ("where(x > 0, exp(x), 1 + x + x**2/2)", {"x": 0.0}, {}),
        ("maximum(sin(x), x)", {"x": 0.0}, {}),
        ("exp(x + y)*relu(x)**3 + sin(z)/y", {"x": 0.0, "y": 0.3, "z": 2.0}, {}),
    ],
)
@pytest.mark.one_in(8)
def test_where_branches_meet_the_gradient_on_both_sides_decides(
    text: str, at: dict[str, float], verdicts: dict[str, str]
) -> None:
    """By hand: kinks and jumps of the gradient, and directions along which it does not exist; others agree."""
    check = check_of(Function(text).hessian(at))
    found = {f"{f.by}{f.variable}": f.verdict for f in check.findings if f.of == "hessian"}
    jumps = [f.one_sided for f in check.findings if "a discontinuity of the gradient" in f.note]
    assert jumps == [None] * len(jumps), "the side of a jump has no derivative"
    assert found == verdicts
    assert check.checked == check.entries


def test_a_part_of_a_large_function_is_followed_alone() -> None:
    """Of 40,000 terms bounds prove all but those of two elements at a kink."""
    x = np.linspace(1.0, 2.0, 40_000)
    x[[0, 7]] = 0.0
    check = check_of(Function("sum(abs(x)*x)").hvp({"x": x}, {"x": "ones"}))
    assert {f.column: f.one_sided for f in check.findings if f.of == "hvp"} == {(0,): (-2, 2), (7,): (-2, 2)}
    assert check.checked == check.entries


# -- random programs

UNARY = "relu({0}); abs({0}); leaky_relu({0}, 0.5); clamp({0}, 0, 1); ({0})**2; sqrt(({0})**4); (-{0}); ({0})*(x - y)"
BINARY = """
maximum({0}, {1}); minimum({0}, {1}); ({0} + {1}); ({0} - {1}); ({0})*({1}); ({0} if {0}*{1} > 0 else {1})
({0}*{1} if {0}*{1} >= 0 else 0); (({0})**2 if {0} <= {1} else {1}); ({0} if {0} == {1} else 2*{1} - {0})
"""


@pytest.mark.parametrize("seed", [*KEPT, *quarter(seeds(0, 4), 0)])
def test_hessians_of_random_pieces_that_cross_are_the_exact_ones(seed: int) -> None:
    """No number agrees where there is no derivative, none is called wrong that is right; products with u alike."""
    r = random.Random(seed)
    entries, unchecked = 0, 0
    for _ in range(PROGRAMS // 4):
        text = nested(r, LEAVES, UNARY, BINARY, r.randrange(1, 5))
        at = {name: float(r.choice([0, 0, 0, 1])) for name in ("x", "y")}
        u = {name: float(r.choice([0, 1, 1, -2])) for name in at}
        function = Function(f"{text} + 0*x*y")
        hessian, hvp = function.hessian(at), function.hvp(at, u)
        found = {(f.of, f.by, f.variable): f for f in (*check_of(hessian).findings, *check_of(hvp).findings)}
        for by, variable in itertools.product(at, at):
            sides, finding = second(text, at, by, {variable: 1.0}), found.get(("hessian", by, variable))
            sides = unless_bent(finding, sides, text, at)
            case = (text, at, by, variable, sides, finding)
            assert is_right(finding, float(hessian.hessian[by][variable]), sides), case
            entries, unchecked = entries + 1, unchecked + (finding is not None and finding.verdict == "unchecked")
        for variable in at:
            sides, finding = second(text, at, variable, u), found.get(("hvp", None, variable))
            sides = unless_bent(finding, sides, text, at)
            assert is_right(finding, float(hvp.hvp[variable]), sides), (text, at, u, variable, sides, finding)
    assert unchecked <= entries / 10

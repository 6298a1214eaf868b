"""The best form over a range: which points, which forms, where one takes over, and that it is the same function."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli import Function
from gradcli.claims import are_same
from gradcli.diagnose import improving
from gradcli.diagnose.advice import is_same_at
from gradcli.diagnose.improving import improved
from gradcli.diagnose.magnitudes import spread
from gradcli.diagnose.measuring import ENOUGH, LostBits, Measure
from gradcli.results import Improvement
from tests.parsing import parse


@pytest.mark.parametrize(
    ("low", "high"), [(1e-300, 1e300), (-1.0, 2.0), (0.0, 1.0), (-5.0, -1.0), (1.0, 1 + 1e-10), (0.0, 1.7e308)]
)
def test_points_of_a_range_are_in_it_by_magnitude(low: float, high: float) -> None:
    """Both ends, what is shown in order, points around each, and as many near 1e-300 as near 1."""
    found = spread(low, high)
    assert found.shown == tuple(sorted(set(found.shown)))
    assert (found.shown[0], found.shown[-1]) == (low, high)
    assert found.values.min() == low
    assert found.values.max() == high
    assert np.isfinite(found.values).all()
    for n, place in enumerate(found.shown):
        own = found.values[found.groups == n]
        assert place in own
        assert len(own) > 1 or place == 0
    assert (0.0 in found.shown) == (low <= 0 <= high)


def test_one_number_is_a_range() -> None:
    """Of one point."""
    assert spread(3.0, 3.0).values.tolist() == [3.0]
    assert spread(0.0, 0.0).values.tolist() == [0.0]


PAIRS = [
    ("1 - cos(x)", "2*sin(x/2)**2", True),
    ("sqrt(x**2 + 1) - x", "1/(sqrt(x**2 + 1) + x)", True),
    ("sqrt(x**2 + 1) - x", "where(x < 0, hypot(x, 1) - x, 1/(hypot(x, 1) + x))", True),
    ("sqrt(x**2 + 1) - x", "where(x < 0, hypot(x, 1) - x, 1/(hypot(x, 1) - x))", False),
    ("abs(x)", "sqrt(x**2)", True),
    ("x", "sqrt(x**2)", False),
    ("x", "where(x == 1, 2, x)", False),
    ("x", "where(x == 1, 1, x)", True),
    ("x**2", "where(x > 1, x*x, x**2)", True),
    ("exp(x)/sum(exp(x))", "softmax(x)", True),
    ("exp(x)/sum(exp(x))", "softmax(-x)", False),
    ("0.1*x + 0.2*x", "0.3*x", True),
]


@pytest.mark.parametrize(("one", "other", "expected"), PAIRS, ids=[f"{a} is {b}" for a, b, _ in PAIRS])
def test_sameness_is_proved_of_what_is_the_same(one: str, other: str, expected: bool) -> None:
    """In every region between branches, and on their boundaries."""
    shapes = {"x": (3,) if "sum" in one else ()}
    assert are_same(parse(one, shapes=shapes), parse(other, shapes=shapes), shapes) is expected


def test_a_loss_counts_the_points_of_the_question_more() -> None:
    """And over a range, all alike."""
    assert LostBits((9.0, 1.0, 5.0), asked=1).beyond(4.0) == 11.0
    assert LostBits((9.0, 1.0, 5.0)).beyond(4.0) == 6.0
    assert LostBits((9.0, 1.0, 5.0)).worst == 9.0


def _over(text: str, **ranges: str) -> Improvement:
    return Function(text).improve(box=ranges)


@pytest.mark.parametrize(
    ("text", "bounds", "form", "switches"),
    [
        ("1 - cos(x)", "1e-300..1", "2*sin(x/2)**2", ()),
        ("sqrt(x**2 + 9) - x", "1..1e300", "9/(hypot(x, 3) + x)", ()),
        (
            "sqrt(x**2 + 1) - x",
            "-1e300..1e300",
            "z = where(x < 0, 1, x); where(x < 0, hypot(x, 1) - x, 1/(hypot(z, 1) + z))",
            ("x < 0",),
        ),
        ("log(1 + exp(x))", "-1e3..1e3", "logaddexp(0, x)", ()),
    ],
)
def test_forms_over_a_range_are_found(text: str, bounds: str, form: str, switches: tuple[str, ...]) -> None:
    """One that serves everywhere, or two with the switch between them; proved where they can be."""
    answer = _over(text, x=bounds)
    assert (answer.outcome, answer.form, answer.switches, answer.same) == ("better", form, switches, "proved")
    assert answer.before is not None
    assert answer.after is not None
    assert answer.before.worst > 40
    assert answer.after.worst <= ENOUGH


def test_the_switch_is_found_by_measuring() -> None:
    """x/(x**2 + 1) overflows for large x, and 1/(x + 1/x) for small x: somewhere between, both serve."""
    answer = _over("x/(x**2 + 1)", x="-1e300..1e300")
    (condition,) = answer.switches
    words = condition.split()
    assert words[:2] == ["abs(x)", "<"]
    assert 1e-100 < float(words[2]) < 1e100
    assert answer.after is not None
    assert answer.after.worst <= ENOUGH
    assert answer.same == "proved"


def test_what_is_not_the_same_is_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    """However little it loses."""
    program = parse("1 - cos(x)")
    points = [{"x": np.asarray(x)} for x in (1e-9, 1e-5, 1e-3)]
    measure = Measure(program, points, ("x",), "float64", asked=0, enough=ENOUGH)
    assert improved(program, measure, lambda point: measure) is not None
    monkeypatch.setattr(improving, "is_same_at", lambda *_: False)
    assert improved(program, measure, lambda point: measure) is None


def test_forms_are_compared_where_they_serve() -> None:
    """A form that holds on one side of 0 is the function there, and not on the other."""
    program = parse("sqrt(x**2)")
    assert is_same_at(program, "x", [{"x": np.asarray(2.0)}])
    assert not is_same_at(program, "x", [{"x": np.asarray(-2.0)}])

"""Bounds, extremes, Lipschitz constants and zeros over a box."""

import json
import math
import random
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpmath import mp

from gradcli import Function
from gradcli.errors import GradcliError
from gradcli.language.parsing import parse
from gradcli.parts.everywhere import box_regions, halving
from gradcli.parts.everywhere.bounded_quantities import BoxQuantity
from gradcli.parts.everywhere.box_kinds import BoxKind
from gradcli.parts.everywhere.intervals import Interval
from gradcli.parts.everywhere.jets import Evaluator
from gradcli.parts.everywhere.least_values import LeastValueSearch
from gradcli.parts.everywhere.scalars import in_numbers
from gradcli.parts.everywhere.stopping import INTERRUPTED, interruptible, must_stop
from gradcli.progress import budget
from gradcli.report.numbers import outward
from gradcli.results import BoxChecking, BoxPlace, BoxRange
from tests.parts.everywhere.published_minima import PUBLISHED, Published
from tests.parts.everywhere.truths_on_boxes import OutsideError, composed


def _range(text: str, **ranges: str) -> BoxRange:
    answer = Function(text).range(box=ranges)
    assert isinstance(answer, BoxRange)
    return answer


FAR = [
    ("x*sigmoid(1.702*x)", "-1e300..1e300", "∂y/∂x", -0.09984, 1.09984),
    ("x*sigmoid(1.702*x)", "0..1e300", "∂y/∂x", 0.5, 1.09984),
    ("x*sigmoid(1.702*x)", "-1..1e300", "∂y/∂x", -0.06778, 1.09984),
    ("x*exp(-x**2)", "-1e150..1e150", "y", -0.428882, 0.428882),
    ("x/(1 + x**2)", "-1e300..1e300", "y", -0.5, 0.5),
    ("x*tanh(x)", "-1e300..1e300", "∂y/∂x", -1.19968, 1.19968),
    ("x*exp(-x)", "0..1e300", "y", 0, math.exp(-1)),
    ("exp(-x**2/2)", "-1e300..1e300", "∂y/∂x", -0.606531, 0.606531),
    ("log1p(exp(-abs(x)))", "-1e300..1e300", "y", 0, math.log(2)),
    ("sin(x)/(1 + x**2)", "-1e100..1e100", "y", -0.437414, 0.437414),
]
"""Functions over nearly the whole line, with bounds of them or of their slope."""


@pytest.mark.parametrize(("text", "ends", "label", "low", "high"), FAR)
def test_bounds_over_nearly_the_whole_line_are_near(text: str, ends: str, label: str, low: float, high: float) -> None:
    """Halved by magnitudes, also from 0 on: what counts is near 0."""
    found = _range(text, x=ends).bounds[0 if label == "y" else 1]
    assert found.low == pytest.approx(low, abs=2e-5)
    assert found.high == pytest.approx(high, abs=2e-5)


def test_the_part_that_makes_a_bound_useless_is_named() -> None:
    """Where the search was stopped, as the density underflows far below 0."""
    answer = _range("x*(1 + erf(x/sqrt(2)))/2", x="-1e300..1e300")
    assert any(one.startswith("the lower bound of y is that of x = -1e+300..-") for one in answer.notes)


SLOW = ("Rosenbrock", "Beale", "Goldstein-Price", "Ackley", "Griewank")
"""Functions that take more than a tenth of a second."""

CASES = [pytest.param(one, id=one.name, marks=[pytest.mark.thorough] * (one.name in SLOW)) for one in PUBLISHED]


@pytest.mark.parametrize("case", CASES)
def test_the_published_minima_are_enclosed(case: Published) -> None:
    """To 1e-6, with all minimizers in the boxes that are left, in at most 20,000 boxes."""
    names = ("x", "y")
    program = in_numbers(parse(case.text), {name: np.array(0.5) for name in names}, names)
    low, high = np.full(2, float(case.low)), np.full(2, float(case.high))
    found = LeastValueSearch(BoxQuantity(Evaluator(program)), low, high).run()
    assert found.stopped == ""
    assert found.bound <= case.least + 1e-9 * max(1, abs(case.least))
    assert found.found >= case.least - 1e-9 * max(1, abs(case.least))
    assert found.found - found.bound <= 1.1e-6 * max(1, abs(case.least))
    assert found.evaluated <= 20_000
    for place in case.places:
        at = np.array([dict(zip(names, place, strict=True))[s] for s in program.variables], float)[:, None]
        near = 1e-6 * (1 + abs(at))
        assert ((found.left.low <= at + near) & (at - near <= found.left.high)).all(axis=0).any()


BOUNDS = [
    ("x**2", {"x": "-1..2"}, (0, 4), (-2, 4), 4),
    ("abs(x)", {"x": "-1..3"}, (0, 3), (-1, 1), 1),
    ("relu(x)", {"x": "-1..3"}, (0, 3), (0, 1), 1),
    ("sin(x)", {"x": "0..10"}, (-1, 1), (-1, 1), 1),
    ("gelu(x)", {"x": "-100..100"}, (-0.16997120747990, 100), (-0.128904145185, 1.128904145185), 1.128904145185),
    ("silu(x)", {"x": "-100..100"}, (-0.27846454276107, 100), (-0.0998393194946, 1.0998393194946), 1.0998393194946),
    ("tanh(x)", {"x": "-5..5"}, (-math.tanh(5), math.tanh(5)), (1 - math.tanh(5) ** 2, 1), 1),
    ("elu(x)", {"x": "-3..1"}, (math.expm1(-3), 1), (math.exp(-3), 1), 1),
    ("exp(-x**2)", {"x": "-3..3"}, (math.exp(-9), 1), (-math.sqrt(2 / math.e), math.sqrt(2 / math.e)), 0.857763885),
    ("x*exp(-x)", {"x": "0..9"}, (0, 1 / math.e), (-math.exp(-2), 1), 1),
]  # fmt: skip
"""Functions of one number: range, bounds of y and of its derivative, and the Lipschitz constant, by hand."""


@pytest.mark.parametrize(("text", "ranges", "value", "slope", "lipschitz"), BOUNDS)
def test_bounds_are_those_of_the_function(
    text: str, ranges: dict[str, str], value: tuple[float, float], slope: tuple[float, float], lipschitz: float
) -> None:
    """Outward, and as near as asked."""
    answer = _range(text, **ranges)
    for found, (low, high) in zip(answer.bounds, (value, slope), strict=True):
        assert found.low <= low + 1e-12
        assert found.high >= high - 1e-12
        assert low - found.low <= 2.1e-6 * max(1, abs(low))
        assert found.high - high <= 2.1e-6 * max(1, abs(high))
        assert found.low <= found.low_found
        assert found.high_found <= found.high
    assert lipschitz - 1e-9 <= answer.lipschitz["2"] <= lipschitz * (1 + 2.1e-6)


def test_norms_of_the_gradient_bound_the_change() -> None:
    """3x + 4y has the gradient (3, 4): the dual norms are 4, 5 and 7."""
    found = _range("3*x + 4*y", x="-1..1", y="-1..1").lipschitz
    assert {norm: round(constant, 9) for norm, constant in found.items()} == {"1": 4, "2": 5, "inf": 7}


def test_a_function_that_jumps_has_no_lipschitz_constant() -> None:
    """And what may be met is said; a choice that joins is none."""
    jumps, joins = _range("where(x > 0, 1, 0)", x="-1..1"), _range("where(x > 0, x, 0.1*x)", x="-1..1")
    assert (jumps.lipschitz, jumps.held) == ({}, ("jump",))
    assert (joins.lipschitz, joins.held) == ({"2": 1.0}, ("kink",))


@pytest.mark.parametrize(("text", "held"), [("1/x", ("pole",)), ("log(x)", ("edge",)), ("1/(x**2+1)", ())])
def test_what_a_box_holds_is_said(text: str, held: tuple[str, ...]) -> None:
    """A pole and an end of the domain leave a bound open on one side alone."""
    answer = _range(text, x="0..1")
    assert answer.held == held
    assert np.isfinite(answer.bounds[0].low) == (text != "log(x)")
    assert np.isfinite(answer.bounds[0].high) == (text != "1/x")


def _at(place: BoxPlace, name: str = "x") -> float:
    return (place.low[name] + place.high[name]) / 2


def test_extremes_are_where_they_are() -> None:
    """One inside by Krawczyk's operator, one at the end of the range."""
    least, most = _range("gelu(x)", x="-9..5").places
    assert (least.kind, least.existence, round(_at(least), 9)) == ("minimum", "one", -0.751791525)
    assert (most.kind, most.existence, most.low, most.high) == ("maximum", "some", {"x": 5.0}, {"x": 5.0})


ZEROS = [
    ("sin(x)", "1..10", [math.pi, 2 * math.pi, 3 * math.pi]),
    ("x**3 - x", "-2..2", [-1, 0, 1]),
    ("x**2 - 2", "0..2", [math.sqrt(2)]),
    ("exp(x)", "-1..1", []),
    ("abs(x) - 0.5", "-1..1", [-0.5, 0.5]),
    ("x*sin(1/x)", "0.03..1", [1 / (n * math.pi) for n in range(10, 0, -1)]),
]


@pytest.mark.parametrize(("text", "ends", "expected"), ZEROS)
@pytest.mark.one_in(2)
def test_zeros_are_found_and_no_other(text: str, ends: str, expected: list[float]) -> None:
    """Each in a box of its own that has exactly one."""
    answer = Function(text).range(box={"x": ends}, zeros=True)
    zeros = [place for place in answer.places if place.kind == "zero"]
    assert [place.existence for place in zeros] == ["one"] * len(expected)
    np.testing.assert_allclose([_at(place) for place in zeros], expected, atol=1e-12)
    assert all(
        place.low["x"] - 1e-15 <= at <= place.high["x"] + 1e-15 for place, at in zip(zeros, expected, strict=True)
    )


def test_a_double_zero_is_not_excluded_and_not_claimed() -> None:
    """It touches 0, which no box proves."""
    (zero,) = [one for one in Function("x**2").range(box={"x": "-1..1.5"}, zeros=True).places if one.kind == "zero"]
    assert zero.existence == "unknown"
    assert zero.low["x"] <= 0 <= zero.high["x"]


def test_zeros_of_a_gradient_tell_how_y_bends() -> None:
    """Himmelblau's function has four minima, four saddles and a maximum."""
    himmelblau = next(case for case in PUBLISHED if case.name == "Himmelblau").text
    places = Function(himmelblau).range(box={"x": "-5..5", "y": "-5..5"}, zeros=True).places
    kinds = [one.kind for one in places if one.kind not in ("minimum", "maximum")]
    assert {kind: kinds.count(kind) for kind in kinds} == {"least nearby": 4, "critical": 4, "greatest nearby": 1}
    assert all(one.existence == "one" for one in places if one.kind == "critical")


def test_values_that_stay_are_numbers_of_the_function() -> None:
    """Arrays among them; a vector may move element by element."""
    answer = Function("sum(w*x)").range({"w": [1, -2], "x": [0, 0]}, box={"x": "0..1"})
    assert (answer.bounds[0].low, answer.bounds[0].high) == (-2.0, 1.0)
    assert [one.label.text for one in answer.bounds] == ["y", "dy/dx[0]", "dy/dx[1]"]


@pytest.mark.parametrize("text", ["norm([x, y])", "sqrt(x**2 + y**2)", "sqrt(x*x + y*y)"])
def test_a_norm_has_slopes_at_the_origin(text: str) -> None:
    """As a whole, not as a root of squares; typed as one, too."""
    names = ("x", "y")
    evaluator = Evaluator(in_numbers(parse(text), {name: np.array(0.5) for name in names}, names))
    (jet,) = evaluator.run(Interval(np.full((2, 1), -1.0), np.full((2, 1), 1.0)))
    assert (jet.kinds == int(BoxKind.KINK)).all()
    assert [(jet.slope(i).low.item(), jet.slope(i).high.item()) for i in (0, 1)] == [(-1.0, 1.0)] * 2


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("x**2", {}, "needs the range"),
        ("x**2", {"box": {"z": "0..1"}}, "z"),
        ("x*y", {"box": {"x": "0..1"}}, "y"),
        ("x**2", {"box": {"x": "0..1"}, "tol": 0.0}, "tolerance"),
        ("sum(inv([[x, 2], [2, x]]))", {"box": {"x": "0..1"}}, "inv"),
    ],
)
def test_what_has_no_range_is_refused(text: str, options: dict[str, object], words: str) -> None:
    """In words."""
    with pytest.raises(GradcliError, match=words):
        Function(text).range(**options)  # type: ignore[arg-type]


def _escaped(seed: int, functions: int) -> Iterator[str]:
    """Yield the values of random functions that are not within the bounds of JSON, or of a table at some digits."""
    draw = random.Random(seed)
    while functions:
        case, y = composed(draw, draw.randint(1, 3)), draw.uniform(-2, 2)
        low = draw.uniform(-3, 2)
        high = low + 10 ** draw.uniform(-4, 0.5)
        try:
            with budget(2.0):
                answer = Function(case.text).range({"y": y}, box={"x": f"{low!r}..{high!r}"})
        except GradcliError:
            continue
        functions -= 1
        listed, digits = json.loads(format(answer, "json"))["bounds"][0], draw.choice([2, 3, 6, 12, None])
        ends = [(float(listed[side]), side == "high") for side in ("low", "high")]
        ends += [(float(outward(end, digits, is_upper=up)), up) for end, up in ends if np.isfinite(end)]
        for part in [0, 1, *(draw.random() for _ in range(40))]:
            x = mp.mpf(low) + (mp.mpf(high) - mp.mpf(low)) * mp.mpf(part)
            with suppress(ValueError, ZeroDivisionError, OutsideError):  # where the function has none
                value = case.truth(x, mp.mpf(y))
                is_number = isinstance(value, mp.mpf) and mp.isfinite(value)
                yield from (
                    f"{case.text} at {x}: {value} and {end}"
                    for end, up in ends
                    if is_number and (value > end if up else value < end)
                )


@pytest.mark.parametrize(
    ("text", "ends", "places"),
    [
        ("x**4", "-1..2", [0.0]),
        ("(x**2 - 1)**4", "-3..2", [-1.0, 1.0]),
        ("cos(x)**8", "-1..2", [np.pi / 2]),
        ("(x - 0.3)**6*exp(x)", "-1..2", [0.3]),
    ],
)
def test_places_of_flat_minima_are_narrow(text: str, ends: str, places: list[float]) -> None:
    """Though each value of a far wider box is within the tolerance."""
    found = [one for one in _range(text, x=ends).places if one.kind == "minimum"]
    assert len(found) == len(places)
    for one, place in zip(found, places, strict=True):
        assert one.low["x"] <= place <= one.high["x"]
        assert one.high["x"] - one.low["x"] < 0.01


def test_the_place_of_a_flat_stretch_ends_near_where_it_does() -> None:
    """The values of relu next to 0 are within no tolerance, as all of them are known."""
    (found,) = (one for one in _range("relu(x)", x="-1..2").places if one.kind == "minimum")
    assert found.low["x"] == -1
    assert 0 <= found.high["x"] < 1e-3


@pytest.mark.parametrize("functions", [5, pytest.param(100, marks=pytest.mark.thorough)])
def test_bounds_are_rounded_outward_wherever_they_are_shown(functions: int) -> None:
    """Also of all digits that a float has."""
    with mp.workdps(60):
        assert next(_escaped(functions, functions), "") == ""


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("sin(x)*x", {}, "halving was stopped by an interrupt"),
        ("sin(x)*x", {"prove": "y <= 1.8197058 and y >= -1e-9"}, "stopped by an interrupt"),
        ("sin(x)*x", {"prove": "convex"}, "stopped by an interrupt"),
        ("sin(x)*x", None, "search was stopped by an interrupt"),
    ],
)
def test_an_interrupt_is_said(text: str, options: dict[str, str] | None, words: str) -> None:
    """By each command, and no time limit."""

    def interrupted(*args: object) -> str:
        signal.raise_signal(signal.SIGINT)
        return must_stop()

    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    asked, box = Function(text), {"x": "-3..3"}
    try:
        with pytest.MonkeyPatch.context() as patch:
            for module in (box_regions, halving):
                patch.setattr(module, "must_stop", interrupted)
            answer = asked.range(box=box) if options is None else asked.check(box=box, **options)  # type: ignore[arg-type]
    finally:
        signal.signal(signal.SIGINT, before)
    shown = " ".join(format(answer).split())
    assert words in shown
    assert "time limit" not in shown


def test_an_interrupt_ends_the_searches_and_another_one_the_process() -> None:
    """In a process that interrupts would end; what is proved so far is answered."""
    ended = list[int]()
    before = signal.signal(signal.SIGINT, lambda number, frame: ended.append(number))
    try:
        with interruptible():
            assert must_stop() == ""
            signal.raise_signal(signal.SIGINT)
            assert (must_stop(), ended) == (INTERRUPTED, [])
            found = LeastValueSearch(BoxQuantity(_sine()), np.array([0.0]), np.array([9.0])).run()
            assert (found.stopped, found.bound) == (INTERRUPTED, -np.inf)
            signal.raise_signal(signal.SIGINT)
            assert ended == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


def _sine() -> Evaluator:
    return Evaluator(in_numbers(parse("sin(x)"), {"x": np.array(0.5)}, ("x",)))


@pytest.mark.part("running", "claims")
def test_a_function_of_python_has_a_range(tmp_path: Path) -> None:
    """By its formula; one that decides by values in the box has another formula elsewhere, and is refused."""
    file = tmp_path / "own.py"
    text = "def f(x):\n    return x.tanh() * x\n\ndef g(x):\n    return x**2 if x > 0 else -x\n"
    _ = file.write_text(text, encoding="utf-8")
    import gradcli
    from gradcli.cli.commands import function_named

    found: Any = function_named(f"{file}::f")
    assert found.ask("range", {"box": {"x": "-2..2"}}).bounds[0].low == 0
    other: Any = function_named(f"{file}::g")
    assert other.ask("range", {"box": {"x": "1..2"}}).bounds[0].high == pytest.approx(4)
    with pytest.raises(gradcli.GradcliError, match=r"x > 0 \(own.py, line 5\) may change in the box, near x = 0"):
        other.ask("range", {"box": {"x": "-1..2"}})


@pytest.mark.parametrize("text", ["nan*x", "x + nan", "inf*x", "x - inf"])
def test_what_is_no_number_is_nowhere_found(text: str) -> None:
    """Nothing is said to be there, at 0 either, where torch has nan or infinity."""
    found = _range(text, x="0..1").bounds[0]
    assert (found.low_found, found.high_found) == (np.inf, -np.inf)


@pytest.mark.parametrize(
    ("text", "ends", "zeros"),
    [
        ("relu(x)", "-1..1", (-1.0, -0.5, 0.0)),
        ("sin(3000*x)", "0..9.42477796076938", tuple(n * math.pi / 3000 for n in (1, 7000, 8999))),
        ("atan2(softshrink(x), tanhshrink(x))", "-1..0.5", (0.25, 0.5)),
    ],
)
@pytest.mark.one_in(2)
def test_there_is_no_zero_outside_of_the_boxes(text: str, ends: str, zeros: tuple[float, ...]) -> None:
    """Where y is 0 on a stretch, and where there are thousands."""
    with budget(2):
        places = [one for one in Function(text).range(box={"x": ends}, zeros=True).places if one.kind == "zero"]
    assert all(any(one.low["x"] <= zero <= one.high["x"] for one in places) for zero in zeros)


@pytest.mark.parametrize("seconds", [0.001, 0.05, 0.3])
def test_a_range_whose_time_is_over_has_an_answer(seconds: float) -> None:
    """With bounds that hold, whatever was found."""
    with budget(seconds):
        answer = Function("x - floor(x)").range(box={"x": "-1..2000"}, zeros=True)
    assert answer.bounds[0].low <= 0 <= answer.bounds[0].high


@pytest.mark.filterwarnings("error")
def test_ends_may_be_as_large_as_floats_are() -> None:
    """Their distance is beyond the range."""
    answer = Function("x**2").check(box={"x": "-1e308..1e308"})
    assert isinstance(answer, BoxChecking)
    overflow, *rest = answer.regions
    assert (overflow.verdict, overflow.share) == ("overflow", 1.0)
    assert [(one.verdict, one.share < 1e-150) for one in rest] == [("near-zero", True)]


@pytest.mark.thorough  # as the searches for what is not there take all of their time
def test_a_form_that_has_the_missing_bounds_is_named() -> None:
    """By hand: y is log(1/cosh(x)**2), least at the ends; typed, it has no bound at an end, however long one waits."""
    answer = Function("log(1 - tanh(x)**2)").range(box={"x": "-30..30"})
    assert "better: log(1/cosh(x)**2), which has these bounds" in answer.notes
    assert "more time may settle" not in format(answer)
    y, slope = Function("log(1/cosh(x)**2)").range(box={"x": "-30..30"}).bounds
    assert y.low == pytest.approx(2 * np.log(2) - 60)
    assert slope.high == pytest.approx(2, rel=1e-3)


@pytest.mark.parametrize("text", ["1/x", "log(x)"])
def test_where_there_is_no_bound_no_form_is_better(text: str) -> None:
    assert not any("better" in one for one in Function(text).range(box={"x": "0..1"}).notes)

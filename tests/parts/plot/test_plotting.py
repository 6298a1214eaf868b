"""Curves of a function and its derivative: each singular place is marked, none is invented, none is crossed."""

import itertools
import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradcli import Function
from gradcli.errors import InputError
from gradcli.results import Plot, PlotMap
from tests.conftest import Command
from tests.examples import examples, first_of_each, part, seeds

PLACES: dict[str, list[tuple[str, float, tuple[float, float] | None]]] = {
    "abs(x)": [("kink", 0, (-1, 1))],
    "relu(x) - relu(x - 1)": [("kink", 0, (0, 1)), ("kink", 1, (1, 0))],
    "x*sign(x)": [("kink", 0, (-1, 1))],
    "abs(x**2 - 2)": [("kink", -math.sqrt(2), None), ("kink", math.sqrt(2), None)],
    "maximum(x, x**3)": [("kink", -1, (1, 3)), ("kink", 0, None), ("kink", 1, None)],
    "tan(x)": [("pole", -math.pi / 2, None), ("pole", math.pi / 2, None)],
    "1/x": [("pole", 0, None)],
    "log(x)": [("pole", 0, None)],
    "1/(x**2 - 2)": [("pole", -math.sqrt(2), None), ("pole", math.sqrt(2), None)],
    "floor(x/2)": [("jump", -2, (0, 0)), ("jump", 0, (0, 0)), ("jump", 2, (0, 0))],
    "where(x > 1, x**2, x - 1)": [("jump", 1, (1, 2))],
    "sin(x)/x": [("removable", 0, (0, 0))],
    "(1 - cos(x))/x**2": [("removable", 0, (0, 0))],
    "sqrt(x)": [("edge", 0, None)],
    "sign(x)*sqrt(abs(x))": [("vertical", 0, None)],
    "sqrt(x**4)": [("nan-trap", 0, (0, 0))],
    "abs(x)**2": [],
    "0*abs(x)": [],
    "where(x > 1, x**2, 2*x - 1)": [],
    "softplus(x)": [],
    "sin(1/x)": [("undefined", 0, None)],
    "1/tan(x) - cos(x)/sin(x)": [("removable", n * math.pi / 2, None) for n in (-1, 0, 1)],
    "abs(x - 1/3)": [("kink", 1 / 3, (-1, 1))],
    "abs(1.3*(x + 1.22)) in -1.2573114355111321..-0.8264620003658325": [("kink", -1.22, (-1.3, 1.3))],
    "1/(x - 4.8) in -5..5": [("pole", 4.8, None)],
    "1/(exp(0.43*x) - 3.3) in -1.9615034490124117..8.494480075816504": [("pole", math.log(3.3) / 0.43, None)],
    "1/(exp(0.6568545478468586*x) - 0.9609966516680201) in -0.060597776306643904..-0.060488273585075386": [
        ("pole", math.log(0.9609966516680201) / 0.6568545478468586, None)
    ],
    "(exp(1.2218275793552957*x) - 10.329924856032166)/(x - 1.911108447882425) in 1.88..1.96": [
        ("removable", 1.911108447882425, None)
    ],
    "1/(x - 1/3) in 0.33333333328..0.33333333339": [("pole", 1 / 3, None)],
    "abs(x - 1/3) in 0.33333333328..0.33333333339": [("kink", 1 / 3, (-1, 1))],
    "1/(1 - cos(x)) in -7..7": [("pole", n * 2 * math.pi, None) for n in (-1, 0, 1)],
    "relu(relu(x)) + abs(x - 1)": [("kink", 0, (-1, 0)), ("kink", 1, (0, 2))],
    "acos(cos(x)) in -40..40": [("kink", n * math.pi, None) for n in range(-12, 13)],
    "clip(sin(x), -1, 1) in -10..10": [],
    "1/(cosh(x) - 1) in -1..2": [("pole", 0, None)],
    "floor(hardtanh(x))": [("jump", 0, (0, 0)), ("jump", 1, (0, 0))],
    "abs(tanh(1e6*x)) in -10..10": [("kink", 0, (-1e6, 1e6))],
    "softsign(x) in -1e6..1e6": [],
    "sqrt(exp(-x**2)) in -10..10": [],
    "relu(x) - relu(x - 1e-9)": [("kink", 0, (0, 1)), ("kink", 1e-9, (1, 0))],
    "abs(sin(x)) in -7..7": [("kink", n * math.pi, (-1, 1)) for n in range(-2, 3)],
    "tan(x) in -78..78": [("pole", (n + 0.5) * math.pi, None) for n in range(-25, 25)],
    "sin(3*x - 1)/(3*x - 1)": [("removable", 1 / 3, (0, 0))],
    "where(x == 0, 1, x)": [("removable", 0, (1, 1))],
    "cbrt(x)": [("vertical", 0, None)],
    "det([[x, 1], [1, x]])": [],
}
"""Functions with their places in -3..3, or another range, and the slopes on both sides where they are known."""


def plotted(text: str, **options: Any) -> Plot:
    """Plot a function, over -3..3 or over the range that is written behind it."""
    function, _, ends = text.partition(" in ")
    options.setdefault("box", {} if "x" in options else {"x": ends or "-3..3"})
    found = Function(function).plot(**options)
    assert isinstance(found, Plot)
    return found


@pytest.mark.parametrize(
    "text", first_of_each(PLACES, lambda *text: (" in " in text[0], *sorted(kind for kind, *_ in PLACES[text[0]])[:3]))
)
@pytest.mark.one_in(8)
def test_the_places_of_a_function_are_marked(text: str) -> None:
    """By hand: kinks, jumps, poles, holes, ends of the domain; and nothing where the function is smooth after all."""
    found = plotted(text)
    assert [mark.kind for mark in found.marks] == [kind for kind, _, _ in PLACES[text]]
    for mark, (_, place, slopes) in zip(found.marks, PLACES[text], strict=True):
        assert mark.place == pytest.approx(place, abs=1e-7)
        if slopes is not None:
            assert mark.slope == pytest.approx(slopes, abs=1e-6)


SMOOTH = "sin(x) x**2 exp(x/2) x**3/5 cos(3*x) tanh(x) x*exp(-x**2) 0.3*x sigmoid(x)".split()
PARTS: dict[str, tuple[str, Callable[[float, int], float]]] = {
    "abs(x - ({a}))": ("kink", lambda a, n: a),
    "relu(2*x - ({a}))": ("kink", lambda a, n: a / 2),
    "maximum(x - ({a}), 3*x + 1)": ("kink", lambda a, n: -(1 + a) / 2),
    "sqrt((x - ({a}))**2)": ("kink", lambda a, n: a),
    "abs(sin(2*x + ({a})))": ("kink", lambda a, n: (n * math.pi - a) / 2),
    "abs(x**2 - abs({a}) - 0.1)": ("kink", lambda a, n: math.copysign(math.sqrt(abs(a) + 0.1), n + 0.5)),
    "sign(x - ({a}))": ("jump", lambda a, n: a),
    "floor(x/2 + ({a}))": ("jump", lambda a, n: 2 * (n - a)),
    "where(x > ({a}), x**2 + 5, sin(x))": ("jump", lambda a, n: a),
    "round(x - ({a}))": ("jump", lambda a, n: n + 0.5 + a),
    "1/(x - ({a}))": ("pole", lambda a, n: a),
    "exp(x)/(x - ({a}))**2": ("pole", lambda a, n: a),
    "tan(x + ({a}))": ("pole", lambda a, n: math.pi / 2 + n * math.pi - a),
    "log(abs(x - ({a})))": ("pole", lambda a, n: a),
}
"""Singular parts, with the kind and the nth of their places."""


def _drawn(seed: int) -> tuple[str, list[tuple[float, str]], tuple[float, float]]:
    """Draw a sum of a smooth function and up to three singular ones, whose places are apart, and a range."""
    draw = random.Random(seed)
    low, high = (-3.0, 3.0) if seed % 2 else (draw.uniform(-4, -2), draw.uniform(2, 4))
    while True:
        text, places = draw.choice(SMOOTH), set[tuple[float, str]]()
        for piece in draw.sample(sorted(PARTS), draw.randint(1, 3)):
            kind, nth = PARTS[piece]
            a = round(draw.uniform(-2.8, 2.8), draw.choice([1, 2, 3, 17]))
            text += f" + {draw.choice(['', '2*', '0.5*'])}{piece.format(a=a)}"
            places |= {(round(place, 9), kind) for n in range(-9, 10) if low <= (place := nth(a, n)) <= high}
        found = sorted(places)
        ends = [low, *(place for place, _ in found), high]
        if min(b - a for a, b in itertools.pairwise(ends)) > 1e-3:
            return text, found, (low, high)


KEPT: tuple[int, ...] = ()
"""Seeds of functions that were marked wrong once."""

FIRST = [pytest.param(n, marks=pytest.mark.thorough if n else ()) for n in range(0, 200, 5)]
"""Seeds of the first of five functions each; most are for `pytest -m thorough`."""


@pytest.mark.parametrize("first", FIRST)
def test_random_functions_are_marked_where_they_are_singular_and_not_crossed(first: int) -> None:
    """Two hundred sums with known kinks, jumps and poles: each is marked as what it is, and no other place is."""
    for seed in seeds(first, min(5, examples(20)), KEPT if first == 0 else ()):
        text, places, ends = _drawn(seed)
        found = plotted(text, x=ends)
        assert [mark.kind for mark in found.marks] == [kind for _, kind in places], (seed, text)
        assert [mark.place for mark in found.marks] == pytest.approx([place for place, _ in places], abs=1e-6), seed
        y = found.curves[0].values
        joined = [
            mark.place
            for mark in found.marks
            if mark.kind in ("pole", "jump")
            for left in [int(np.searchsorted(found.points, mark.place)) - 1]
            if np.isfinite(y[left : left + 2]).all() and found.points[left + 1] > mark.place
        ]
        assert joined == [], (seed, text)
        assert all(math.isnan(y[np.searchsorted(found.points, m.place)]) for m in found.marks if m.kind != "kink")


def test_curves_are_torchs_numbers_dense_where_they_bend() -> None:
    """y, the derivative and the second one; a straight line between two points is not seen to differ."""
    found = plotted("sin(20*x)*x", x=(0, 3), order=2)
    x = found.points
    assert np.all(np.diff(x) > 0)
    exact = [
        np.sin(20 * x) * x,
        20 * x * np.cos(20 * x) + np.sin(20 * x),
        40 * np.cos(20 * x) - 400 * x * np.sin(20 * x),
    ]
    for curve, truth in zip(found.curves, exact, strict=True):
        np.testing.assert_allclose(curve.values, truth, atol=1e-9)
    middle = (x[1:] + x[:-1]) / 2
    between = np.interp(middle, x, exact[0])
    assert abs(between - np.sin(20 * middle) * middle).max() < 6 / 200
    many = plotted("sin(1000*x)", x=(0, 1)).curves[0].values[1:]  # its first points lie on no more than three periods
    assert np.count_nonzero(np.diff(np.sign(many))) == 318


SPANS: dict[str, list[tuple[str, float, float]]] = {
    "log(x) in -3..3": [("undefined", -3, 0)],
    "where(x > 0, sqrt(x), x) in -3..3": [("nan-trap", -3, 0)],
    "sqrt(x**2 - 1) in -3..3": [("undefined", -1, 1)],
    "(1 - cos(x))/x**2 in -1e-7..1e-7": [("inaccurate", -1e-7, 1e-7)],
    "floor(1000*x) in -3..3": [("crowded", -3, 3)],
    "abs(sin(1/x)) in -3..3": [("crowded", 0, 0)],
    "exp(x) in 690..709": [],
    "log(x)*abs(x**3 + 2*x**2 - 1) in -3..3": [("undefined", -3, 0)],
    "sqrt(0.01 - x**2) in -5..5": [("undefined", -5, -0.1), ("undefined", 0.1, 5)],
    "1/floor(x) in -2..3": [("undefined", 0, 1)],
    "exp(1/x) in -1..1": [("undefined", 0, 0.0014)],
    "x/sqrt(x**2) in -1..1": [],
    "x**2 in -3..3": [],
}


@pytest.mark.parametrize("text", part(SPANS, 0, of=3))
@pytest.mark.one_in(2)
def test_ranges_are_shaded(text: str) -> None:
    """Those without a value, without torch's derivative, with lost digits, and with too many places to mark."""
    found = plotted(text)
    assert [span.kind for span in found.spans] == [kind for kind, _, _ in SPANS[text]]
    for span, (_, low, high) in zip(found.spans, SPANS[text], strict=True):
        width = found.points[-1] - found.points[0]
        assert (span.low, span.high) == pytest.approx((low, high), abs=width / 20)


CURVATURES: dict[str, list[tuple[float, tuple[float, float]]]] = {
    "relu(x)**2": [(0, (0, 2))],
    "x*abs(x)": [(0, (-2, 2))],
    "where(abs(x) < 1, x**2/2, abs(x) - 0.5)": [(-1, (0, 1)), (1, (1, 0))],
    "where(x > sqrt(2), x**2, 2*sqrt(2)*x - 2)": [(math.sqrt(2), (0, 2))],
    "exp(30*x)*relu(x)**2": [(0, (0, 2))],
    "elu(x)": [(0, (1, 0))],
    "abs(x)**3": [],
    "abs(x)**2": [],
    "softplus(x)": [],
}
"""Functions with the places where the second derivative jumps, and its limits there."""


@pytest.mark.parametrize("text", CURVATURES)
@pytest.mark.one_in(4)
def test_jumps_of_the_second_derivative_are_marked_where_it_is_drawn(text: str) -> None:
    """And no other places are."""
    found = plotted(text, order=2)
    assert [mark.kind for mark in found.marks] == ["curvature"] * len(CURVATURES[text])
    for mark, (place, limits) in zip(found.marks, CURVATURES[text], strict=True):
        assert mark.place == pytest.approx(place)
        assert mark.curvature == pytest.approx(limits, abs=1e-6)
    for mark in found.marks:
        assert np.isnan(found.curves[2].values[np.searchsorted(found.points, mark.place)])


def test_jumps_of_the_second_derivative_are_not_marked_where_it_is_not_drawn() -> None:
    """It does not belong to the picture."""
    assert plotted("relu(x)**2").marks == ()


@pytest.mark.parametrize(("ends", "part"), [("0..inf", "0..10"), ("-inf..inf", "-10..10"), ("50..inf", "50..500")])
def test_a_range_without_an_end_names_one_that_is_drawn(ends: str, part: str) -> None:
    """As wide as it must be."""
    with pytest.raises(InputError, match="finite") as caught:
        plotted("sin(x)", x=ends)
    assert (caught.value.hint or "").startswith(f"write {part} for a part of it")
    assert plotted("sin(x)", x=part).points.size


def test_json_has_the_formula_and_the_windows(gradcli: Command) -> None:
    """Of each curve what is shown of it."""
    found = json.loads(gradcli("plot", "1/x", "--in", "x=-1..1", "--json").out)
    assert found["formula"] == "1/x"
    assert [len(curve["window"]) for curve in found["curves"]] == [2, 2]


WINDOWS = {
    "1/x + abs(x - 1) in -2..3": ((-2.4, 4.9), (-21.5, 1.8)),
    "relu(x)*50 + 1/x**2 in -1..1": ((-3.9, 123.7), (-260, 310)),
    "exp(-x**2) in -30..30": ((0, 1), (-0.858, 0.858)),
    "where(x > 4.8, 100, x) in -5..5": ((-5, 100), (0, 1)),
    "sin(1000*x) in 0..1": ((-1, 1), (-1000, 1000)),
    "x/sqrt(x**2) in -1..1": ((-1, 1), (-0.9, 0.9)),
    "1e308*x in -5..5": ((-0.9, 0.9), (0, 1)),
}
"""Functions with the numbers that are shown of y and of the derivative, within a tenth."""


@pytest.mark.parametrize("text", WINDOWS)
@pytest.mark.one_in(2)
def test_all_numbers_are_shown_but_those_on_the_way_to_infinity(text: str) -> None:
    """Not the peak is cut, but a pole; and no panel shows what is only rounding."""
    found = plotted(text)
    for curve, (low, high) in zip(found.curves, WINDOWS[text], strict=True):
        assert curve.window == pytest.approx((low, high), abs=(high - low) / 10)


def test_lost_digits_have_their_size() -> None:
    """At 1e-9, torch says that (1 - cos(x))/x**2 is 0, and it is 1/2."""
    found = plotted("(1 - cos(x))/x**2", x=(-1e-7, 1e-7))
    error, truth = found.curves[0].error, found.curves[0].truth
    assert error is not None
    assert truth is not None
    assert np.nanmax(abs(truth - 0.5)) < 1e-9
    assert error[np.searchsorted(found.points, 5e-9)] == pytest.approx(0.5)


RANGES = {"x**2": (-1, 1), "exp(x)": (-5, 5), "1/(x - 7)": (5, 8.5), "log(x)": (-1, 2), "sqrt(x - 200)": (180, 220)}


@pytest.mark.parametrize("text", RANGES)
def test_the_usual_range_shows_the_function(text: str) -> None:
    """Its zeros, kinks and poles next to 0, or else -5..5."""
    found = plotted(text, box=None)
    low, high = RANGES[text]
    assert found.points[0] <= low + abs(low) / 8
    assert found.points[-1] >= high - abs(high) / 8
    assert found.points[-1] - found.points[0] <= 3 * (high - low)


def test_a_value_of_the_variable_is_where_the_tangent_touches() -> None:
    """The other variables stay."""
    found = plotted("a*x**2", at={"a": 2, "x": 1})
    (tangent,) = found.tangents
    assert (tangent.place, tangent.value, tangent.slope) == (1, 2, 4)


def test_tensors_move_along_a_direction() -> None:
    """From their values, at t = 0; the derivative is Ju."""
    found = plotted("sum(relu(x))", at=[1, -2], along=[1, 4], box=None)
    assert (found.variable, found.points[0], found.points[-1]) == ("t", -1, 1)
    assert [(mark.kind, mark.place, *mark.slope) for mark in found.marks] == [("kink", -1, 0, 1), ("kink", 0.5, 1, 5)]


def test_a_function_of_python_is_run_at_each_point(tmp_path: Path) -> None:
    """And its branches are found, though each recording knows one."""
    file = tmp_path / "branches.py"
    file.write_text("import torch\n\ndef f(x):\n    return torch.sin(x) if x > 0.3 else x**2\n")
    from gradcli.parts.running.python_functions import named
    from gradcli.parts.running.targets import target

    asked = target(f"{file}::f")
    assert asked is not None
    found = named(asked).plot(x=(0, 1))
    assert isinstance(found, Plot)
    (mark,) = found.marks
    assert mark.kind == "jump"
    assert mark.place == pytest.approx(0.3)
    assert mark.value == pytest.approx((0.09, math.sin(0.3)))


def test_a_map_has_the_gradient_and_the_kink_curves() -> None:
    """Of two variables, the first to the right."""
    found = Function("abs(x*y) + relu(x - 1)").plot(x=(-2, 2), y=(-1, 1))
    assert isinstance(found, PlotMap)
    x, y = found.axes["x"], found.axes["y"]
    np.testing.assert_allclose(found.values, abs(x * y[:, None]) + np.maximum(x - 1, 0))
    inner = np.ix_(abs(y) > 0.1, (abs(x) > 0.1) & (abs(x - 1) > 0.1))
    slope = np.sign(x) * abs(y)[:, None] + (x > 1)
    np.testing.assert_allclose(found.gradient["x"][inner], slope[inner])
    distance = np.minimum(abs(found.singular), abs(found.singular - [1, np.inf])).min(axis=1)
    assert distance.max() < 0.03
    for near in (abs(found.singular[:, 0]), abs(found.singular[:, 1]), abs(found.singular[:, 0] - 1)):
        assert (near < 0.03).sum() > 100
    smooth = Function("x*y").plot(x=(np.float64(0), np.float64(1)), y=(0, 1))
    assert isinstance(smooth, PlotMap)
    assert smooth.singular.shape == (0, 2)
    poles = Function("1/(x*y)").plot(x=(-1, 1), y=(-1, 1))
    assert isinstance(poles, PlotMap)
    assert len(poles.singular) == 321

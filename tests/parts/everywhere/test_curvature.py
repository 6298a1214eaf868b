"""Convexity by the rules of composition: nothing that bends otherwise is called convex or concave."""

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import reduce
from operator import and_

import numpy as np
import pytest

from gradcli import Function
from gradcli.arrays import Array
from gradcli.parts.everywhere import curvature_rules, moving_box as boxes, one_number
from gradcli.parts.everywhere.curvature_rules import Curved, Curving, curving
from gradcli.parts.everywhere.intervals import point
from gradcli.parts.everywhere.moving_box import MovingBox, moving_box
from tests.examples import seeds

VECTOR = "[-5,-5,-5]..[5,5,5]"


def _box(text: str, **ranges: str) -> MovingBox:
    return moving_box(Function(text)._asked(None), ranges)


CONVEX = [
    "logsumexp(x)",
    "log(sum(exp(x)))",
    "logsumexp(x) - x[0]",
    "logsumexp(2*x - 1) + norm(x - [1, 2, 3])",
    "cross_entropy(x, [1., 0, 0])",
    "-log(softmax(x)[0])",
    "-log_softmax(x)[1]",
    "log(1 + exp(2*x[0] - x[1]))",
    "log(3*exp(x[0]) + exp(x[1])*exp(x[2]**2)/2)",
    "log(2**x[0] + 3**(-x[1]))",
    "-log(sigmoid(x[0] - x[1]))",
    "sum(softplus(x))",
    "norm(x)",
    "norm(x, 1) + max(x)",
    "sqrt(sum(x**2))",
    "sqrt(x @ x)",
    "max([x[0], 1 - x[0], x[1]])",
    "exp(x[0])*exp(x[1]**2)/exp(x[2])",
    "(exp(x[0]) + exp(x[1]))**2",
    "1/((x[0] + 6)*(x[1] + 7))",
    "x[0]**2/(x[1] + 6)",
    "sum(x**2)/(x[0] + 6)",
    "(x @ x)/sqrt(x[0] + 6)",
    "norm(x)**2/(x[1] + x[2] + 11)",
    "(2*x[0] - x[1])**2/(x[1] + 6)",
    "abs(x[0])**3/(x[1] + 6)**2",
    "x[0]**4/(x[1] + 6)**3",
    "x[0]**4/((x[1] + 6)*(x[2] + 7))",
    "(x[0]**4 + 1)/(3*(x[1] + 6)**3)",
    "max([x[0]**2, x[1]**2])/(x[2] + 6)",
    "x[0]*x[0]/log(x[1] + 7)",
    "sum((x + 6)*log(x + 6))",
    "sum(leaky_relu(x)) + norm(x)",
    "sum(elu(3*x - 1))",
    "sum(huber_loss(x, 0, reduction='none', delta=2))",
    "leaky_relu(norm(x) - 1)",
    "sum(where(x > 1, x**2, 2*x - 1))",
]
"""Functions of three numbers that are convex, and have a Hessian that is singular, or bounds that are too wide."""


@pytest.mark.parametrize("text", CONVEX)
def test_what_is_composed_is_convex(text: str) -> None:
    """Of three numbers, without halving; and its opposite is concave."""
    assert Curving.CONVEX in curving(_box(text, x=VECTOR))
    assert Curving.CONCAVE in curving(_box(f"-({text})", x=VECTOR))


NOT_CONVEX = [
    "x[0]**2/(x[1] + 6)**1.01",
    "abs(x[0])**1.9/(x[1] + 6)",
    "x[0]**2/((x[1] + 6)*(x[2] + 7))",
    "(x[0]**2 + x[1] + 6)/(x[2] + 6)",
    "x[0]**3/(x[1] + 6)**2",
    "x[0]**2/((x[1] - 1)**2 + 1)",
    "exp(x[0])/(exp(x[1]) + exp(-x[1]))",
    "(exp(x[0]) - 1)**2/(x[1] + 6)",
]
"""Powers over powers that are not convex: too low a power, a numerator or a denominator that curves otherwise."""


@pytest.mark.parametrize("text", NOT_CONVEX)
def test_no_other_quotient_of_powers_is_called_convex(text: str) -> None:
    """Nor its opposite concave."""
    assert Curving.CONVEX not in curving(_box(text, x=VECTOR))
    assert Curving.CONCAVE not in curving(_box(f"-({text})", x=VECTOR))


@pytest.mark.parametrize(
    "text",
    [
        "logsumexp(x)",
        "norm(x)",
        "cross_entropy(x, one_hot(2, 600)*1.0)",
        "sum(softplus(3*x - 1)) + max(x)",
        "logsumexp(cumsum(x, 0)) - mean(x)",
        "norm(relu(x))",
        "log(ones(600) @ exp(x))",
        "prod(exp(x**2/600))",
        "-min(concat([x, -x]))",
        "sum(leaky_relu(x - 1/4))",
        "mean((x + 3)*log(x + 3))",
        "sum(elu(x) + where(abs(x) < 0.5, x**2, abs(x) - 0.25))",
    ],
)
def test_what_is_composed_of_arrays_is_convex_along_a_line(text: str) -> None:
    """Through a point of 600 numbers."""
    box = moving_box(Function(text)._asked({"x": np.linspace(-1, 1, 600)}), {"t": "-1..1"}, along="ones")
    assert box.is_of_arrays
    assert Curving.CONVEX in curving(box)


# -- functions drawn at random

_SUMS = ["{} + {}", "{} - {}", "{}*{}", "{}/{}", "maximum({}, {})", "minimum({}, {})", "logaddexp({}, {})"]
_ALONE = ["exp({})", "log({})", "sqrt({})", "{}**2", "abs({})", "sigmoid({})", "softplus({})", "2.0**({})", "-({})"]
_ALONE += ["leaky_relu({})", "elu({})", "hardtanh({})", "entr({})"]
_NUMBERS = ["2.0", "0.5", "-1.0", "0.0"]


def _drawn(draw: random.Random, depth: int) -> str:
    if not depth or draw.random() < 0.1:
        return draw.choice(["x", "z", "x + z", "x - 2*z", "x + 3", *_NUMBERS])
    if draw.random() < 0.5:
        return draw.choice(_ALONE).format(f"({_drawn(draw, depth - 1)})")
    return draw.choice(_SUMS).format(*(f"({_drawn(draw, depth - 1)})" for _ in range(2)))


_ARRAYS = ["sum({})", "max({})", "min({})", "logsumexp({})", "norm({})", "prod({})", "w @ ({})", "max(cumsum({}, 0))"]


def _drawn_of_arrays(draw: random.Random) -> str:
    """Draw a number made of the elements of an array."""
    inner = f"({_drawn(draw, 2).replace('z', 'w')}) + 0*x"
    return draw.choice(_ALONE).format(f"({draw.choice(_ARRAYS).format(inner)})")


POINTS = 400
"""Pairs of points that Jensen's inequality is tried at."""

_NAMES = {
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "abs": np.abs,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "logaddexp": np.logaddexp,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "softplus": lambda x: np.logaddexp(0, x),
    "leaky_relu": lambda x: np.where(x > 0, x, 0.01 * x),
    "elu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "hardtanh": lambda x: np.clip(x, -1, 1),
    "entr": lambda x: -x * np.log(x),
    "sum": lambda x: np.sum(x, axis=0),
    "max": lambda x: np.max(x, axis=0),
    "min": lambda x: np.min(x, axis=0),
    "prod": lambda x: np.prod(x, axis=0),
    "norm": lambda x: np.sqrt(np.sum(x**2, axis=0)),
    "logsumexp": lambda x: np.logaddexp.reduce(x, axis=0),
    "cumsum": np.cumsum,
}


def _refutes(text: str, found: Curving, low: Array, high: Array, names: Mapping[str, Array]) -> bool:
    """Tell whether the middle of two points, and theirs by Jensen's inequality, refute what was found."""
    draw = np.random.default_rng(len(text))
    with np.errstate(all="ignore"):
        pairs = [draw.uniform(low[:, None], high[:, None], (len(low), POINTS)) for _ in range(2)]
        pairs[1][:, ::2] = (pairs[0] + 1e-2 * (pairs[1] - pairs[0]))[:, ::2]  # some that are near
        first, second, middle = (_values(text, _at(names, one)) for one in (*pairs, pairs[0] / 2 + pairs[1] / 2))
        noise = 1e-9 * (1 + abs(first) + abs(second) + abs(middle))
        rise = middle - (first + second) / 2
        is_above, is_below = (rise > noise).any(), (rise < -noise).any()
    return bool((Curving.CONVEX in found and is_above) or (Curving.CONCAVE in found and is_below))


def _values(text: str, at: Mapping[str, Array]) -> Array:
    return np.broadcast_to(np.ravel(eval(text.replace("w @", "w.T @"), {**_NAMES, **at})), POINTS)


def _at(names: Mapping[str, Array], points: Array) -> dict[str, Array]:
    """Return the values of the variables at points: of two numbers, or along a line."""
    if "w" in names:
        return {"x": names["x"][:, None] + points[0], "w": names["w"][:, None]}
    return dict(zip(names, points, strict=True))


ARRAYS = {"x": np.linspace(-1, 2, 5), "w": np.array([0.5, 1, 2, 0, 3])}


def _judged(seed: int, *, is_of_arrays: bool) -> tuple[str, Curving, bool]:
    """Draw a function and a box, and tell how it curves there and whether points refute that."""
    draw = random.Random(seed)
    text = _drawn_of_arrays(draw) if is_of_arrays else f"{_drawn(draw, 3)} + 0*x"
    variables = Function(text).variables
    if is_of_arrays:
        at = {name: ARRAYS[name] for name in variables}
        box = moving_box(Function(text)._asked(at), {"t": "-1..1"}, along={"x": np.ones(5)})
    else:
        low = draw.choice([-2.0, 0.5, 1.0])
        box = _box(text, **{name: f"{low}..{low + draw.choice([0.5, 3.0])}" for name in variables})
    found, names = curving(box), ARRAYS if is_of_arrays else dict.fromkeys(variables, box.low)
    return text, found, found != Curving.NONE and _refutes(text, found, box.low, box.high, names)


def _refuted(first: int, many: int, *, is_of_arrays: bool, counts: Counter[Curving] | None = None) -> Iterator[str]:
    for seed in seeds(first, many):
        text, found, is_refuted = _judged(seed, is_of_arrays=is_of_arrays)
        if counts is not None:
            counts[found] += 1
        if is_refuted:
            yield f"{text} is not {found} (seed {seed})"


@pytest.fixture
def in_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Evaluate functions of few numbers as those of many are."""
    monkeypatch.setattr(boxes, "MOST_NUMBERS", 0)


def test_nothing_is_called_convex_that_points_refute() -> None:
    """Random functions of two numbers; a fifth of them is told."""
    counts: Counter[Curving] = Counter()
    assert next(_refuted(0, 100, is_of_arrays=False, counts=counts), None) is None
    assert counts[Curving.CONVEX] + counts[Curving.CONCAVE] > 15


@pytest.mark.usefixtures("in_arrays")
def test_nothing_of_arrays_is_called_convex_that_points_refute() -> None:
    """Random sums, products, extremes and norms of elements along a line; a quarter of them is told."""
    counts: Counter[Curving] = Counter()
    assert next(_refuted(0, 60, is_of_arrays=True, counts=counts), None) is None
    assert counts[Curving.CONVEX] + counts[Curving.CONCAVE] > 12


@pytest.mark.thorough
@pytest.mark.usefixtures("in_arrays")
@pytest.mark.parametrize("is_of_arrays", [True, False])
def test_nothing_is_called_convex_that_points_refute_in_many_draws(is_of_arrays: bool) -> None:
    """Thousands of them."""
    assert next(_refuted(1000, 4000, is_of_arrays=is_of_arrays), None) is None


PLANTED = {
    "_opposite": (lambda one: one, "exp(x)/(exp(z) + exp(-z))"),
    "_of_sum": (lambda logs: reduce(and_, logs), "-log(sigmoid(x) + sigmoid(z))"),
    "_times": (lambda one, _: one, "(exp(x) + exp(z))**(-1)"),
    "_passes": (lambda *_: True, "exp(-(x**2)) + 0*z"),
    "_with_other": (lambda found, _: Curved(found.own | (found.log & Curving.CONVEX), found.own), "x*z"),
}
"""Rules that are wrong, each with a function that is not convex, which they call so."""


@pytest.mark.parametrize("name", PLANTED)
def test_a_rule_that_is_wrong_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Points refute what it says, and the right rule says nothing of the kind."""
    planted, text = PLANTED[name]
    box = _box(text, x="-2..3", z="-2..3")
    assert Curving.CONVEX not in curving(box)
    monkeypatch.setattr(curvature_rules, name, planted)
    assert Curving.CONVEX in curving(box)
    assert _refutes(text, Curving.CONVEX, box.low, box.high, dict.fromkeys("xz", box.low))


def test_a_kink_that_bends_down_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a function of one number whose slope falls: where its choice is called apart everywhere, it is no kink."""
    text = "where(x > 0, x, 2*x)"
    box = _box(text, x="-2..3")
    assert curving(box) == Curving.CONCAVE
    monkeypatch.setattr(one_number, "_apart", lambda a, b: replace(a, value=point(b.value.high + 1)))
    assert Curving.CONVEX in curving(box)
    names = {"x": box.low[0], "where": np.where}
    values = {x: eval(text, {**names, "x": x}) for x in (-1.0, 0.0, 1.0)}
    assert values[0.0] > (values[-1.0] + values[1.0]) / 2


@pytest.mark.parametrize(
    ("text", "ends", "expected"),
    [
        ("leaky_relu(x)", "-3..3", Curving.CONVEX),
        ("elu(x)", "-3..3", Curving.CONVEX),
        ("selu(x)", "-3..3", Curving.NONE),
        ("selu(x)", "0..3", Curving.AFFINE),
        ("hardtanh(x)", "-3..0.5", Curving.CONVEX),
        ("hardtanh(x)", "-0.5..3", Curving.CONCAVE),
        ("hardtanh(x)", "-3..3", Curving.NONE),
        ("hardswish(x)", "-2.9..2.9", Curving.CONVEX),
        ("hardswish(x)", "-2..4", Curving.NONE),
        ("smooth_l1_loss(x, 0)", "-4..4", Curving.CONVEX),
        ("relu(x)**2", "-1..1", Curving.CONVEX),
        ("abs(x)*x", "-1..1", Curving.NONE),
        ("abs(x)*x**2", "-1..1", Curving.CONVEX),
        ("where(x > 1, x**2, 2*x)", "0..3", Curving.NONE),
        ("where(x > 1, x**2, x)", "0..3", Curving.CONVEX),
        ("where(x > 1, x, x**2)", "0..3", Curving.NONE),
        ("floor(x)", "-1..1", Curving.NONE),
        ("x*log(x)", "0..1", Curving.NONE),
    ],
)
def test_kinks_of_a_function_of_one_number(text: str, ends: str, expected: Curving) -> None:
    """Convex where the slope rises at each kink too; nothing is told where a value may be missing."""
    assert curving(_box(text, x=ends)) == expected

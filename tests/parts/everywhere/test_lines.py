"""Lines through points of any size: x = start + t*direction, with t in a range."""

import random
from fractions import Fraction

import numpy as np
import pytest

from gradcli import Function
from gradcli.errors import GradcliError
from gradcli.language.parsing import parse
from gradcli.parts.everywhere import ranges
from gradcli.parts.everywhere.array_jets import ArrayEvaluator
from gradcli.parts.everywhere.intervals import Interval
from gradcli.parts.everywhere.jets import Evaluator, Jet
from gradcli.parts.everywhere.line_boxes import on_line
from gradcli.parts.everywhere.moving_box import moving_box
from gradcli.parts.everywhere.rounded_passes import RoundedPasses
from gradcli.parts.everywhere.scalars import in_numbers
from gradcli.results import BoxRange

OF_ARRAYS = [
    "sum(x**3 - x)",
    "mean((x - w)**2)",
    "max(sin(x)) - min(x)",
    "prod(x[:3])",
    "sum(tanh(A@x))",
    "x@A.T@A@x",
    "sum((A@A.T)[0]*sum(x))",
    "logsumexp(x)",
    "sum(softmax(x)*w)",
    "norm(x)",
    "sum(cumsum(x)*w)",
    "var(x)",
    "sum(stack([x, w*x], 1)**2, 0)[0]",
    "cat([x, exp(w)]).mean()",
    "sum(pad(x, (1, 2), value=2.)[::2]*2)",
    "sum(where(x > 0, x, 0.1*x))",
    "sum(relu(x).view(2, 3).T@linspace(0, 1, 2))",
    "sum(gelu(x)/(1 + x**2))",
    "sum(abs(x.flip(0) - w))",
    "sum(outer(x, w).T@x)",
]
"""Functions of vectors with all kinds of operations."""


def _values() -> dict[str, np.ndarray]:
    draw = np.random.default_rng(3)
    return {"x": draw.normal(size=6), "w": draw.normal(size=6), "A": draw.normal(size=(4, 6))}


def _jets(text: str, ends: tuple[np.ndarray, np.ndarray]) -> tuple[Jet, Jet]:
    """Bound a function along a line by arrays, and number by number."""
    values = _values()
    bound_function = Function(text)._asked({name: values[name] for name in parse(text).names}).bind()
    moved = on_line(bound_function, {"x": values["w"][::-1].copy()}, "t", 0.0)
    boxes, numbers = Interval(ends[0][None], ends[1][None]), in_numbers(moved.program, moved.arrays, ("t",))
    of_arrays = ArrayEvaluator(moved.program, moved.arrays, numbers)
    return of_arrays.run(boxes)[0], Evaluator(numbers).run(boxes)[0]


@pytest.mark.parametrize("text", OF_ARRAYS)
def test_arrays_have_the_bounds_of_their_numbers(text: str) -> None:
    """At points the same to rounding; on boxes both hold what the points have."""
    draw = random.Random(text)
    low = np.array([draw.uniform(-2, 2) for _ in range(40)])
    high = low + np.array([draw.choice([0.0, 1e-3, 0.3]) for _ in range(40)])
    at = np.array([draw.uniform(a, b) for a, b in zip(low, high, strict=True)])
    (wide, numbers), (there, own) = _jets(text, (low, high)), _jets(text, (at, at))
    for a, b in ((wide, numbers), (there, own)):
        assert (np.broadcast_to(a.kinds, 40) == np.broadcast_to(b.kinds, 40)).all() or a is wide
    smooth = np.broadcast_to(own.is_smooth & there.is_smooth, 40)
    parts = [[jet.value, jet.slope(0), jet.second_slope(0, 0)] for jet in (there, own, wide)]
    for one, other, box in ([part.spread((40,)) for part in three] for three in zip(*parts, strict=True)):
        near = 1e-9 * (1 + other.largest)
        assert (abs(one.middle - other.middle) <= near)[smooth].all()
        assert (box.low <= other.middle + near)[smooth].all()
        assert (other.middle - near <= box.high)[smooth].all()


def _range(text: str, at: dict[str, object], **options: object) -> BoxRange:
    answer = Function(text).range(at, **options)  # type: ignore[arg-type]
    assert isinstance(answer, BoxRange)
    return answer


def test_a_line_has_a_range() -> None:
    """The same through few numbers and many: what t does, and where."""
    few = _range("sum((x - 1)**2)", {"x": [0.0, 0.0]}, along="ones", box={"t": "-1..3"})
    many = _range("sum((x - 1)**2)", {"x": np.zeros(1_000)}, along="ones", box={"": "-1..3"})
    assert [one.label.text for one in few.bounds] == ["y", "dy/dt"]
    for answer, size in ((few, 2), (many, 1_000)):
        y, slope = answer.bounds
        np.testing.assert_allclose([y.low, y.high, slope.low, slope.high], np.array([0, 4, -4, 4]) * size, atol=1e-3)
        assert answer.places[0].low["t"] <= 1 <= answer.places[0].high["t"]
        assert answer.u is not None
        assert list(answer.u) == ["x"]


def test_the_way_has_a_name_of_its_own() -> None:
    """The range without one is -1..1."""
    answer = _range("sum(t*x)", {"t": [1.0, 2.0], "x": [1.0, 1.0]}, along={"x": [1, 0]})
    assert (answer.wrt, answer.ranges) == (("s",), {"s": "-1..1"})
    assert (answer.bounds[0].low, answer.bounds[0].high) == (2.0, 4.0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"along": "ones", "box": {"x": "0..1"}}, "t alone moves"),
        ({"along": "ones", "box": {"t": "[0,0]..[1,1]"}}, "one number"),
        ({"along": [1, 2, 3]}, "shape"),
    ],
)
def test_what_is_no_line_is_refused(options: dict[str, object], words: str) -> None:
    """In words."""
    with pytest.raises(GradcliError, match=words):
        _ = _range("sum(x)", {"x": [1.0, 2.0]}, **options)


@pytest.mark.part("claims")
def test_torch_is_judged_along_a_line() -> None:
    """All of it, with a kink where an element crosses 0; a statement is of y and of t."""
    found = Function("sum(x**2)").check({"x": [1.0, 2.0, 3.0]}, along="ones", box={"t": "0..1"})
    assert found.passed
    bent = Function("sum(relu(x))").check({"x": [1.0, -2.0, 3.0]}, along="ones", box={"t": "0..3"})
    kink = next(one for one in bent.regions if one.verdict == "kink")  # type: ignore[attr-defined]
    assert kink.low["t"] <= 2 <= kink.high["t"]
    proved = Function("sum(x**2)").check({"x": np.ones(900)}, along="ones", prove="dy/dt >= 0", box={"t": "0..1"})
    assert proved.passed


@pytest.mark.part("claims")
@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.thorough) for n in range(1, 20))])
def test_sums_of_torch_are_within_their_bounds(seed: int) -> None:
    """In whatever order torch adds up: points of a proved line are as near to the exact sum as is said."""
    draw = np.random.default_rng(seed)
    x, u = (draw.normal(size=200).astype(np.float32) for _ in range(2))
    box = moving_box(Function("sum(x*x*x)")._asked({"x": x}, dtype="float32"), {"t": "-1..1"}, {"x": u})
    at = draw.uniform(-1, 1, size=20).astype(np.float32).astype(float)
    y, slope = RoundedPasses(box).run(Interval(at[None], at[None]))
    for n, t in enumerate(at):
        bound_function = box.question_at(np.array([t]))
        values = [float(bound_function.value), float(bound_function.jacobian["t"])]
        points = [Fraction(float(a)) + Fraction(float(t)) * Fraction(float(b)) for a, b in zip(x, u, strict=True)]
        exact = [sum(p**3 for p in points), sum(3 * p * p * Fraction(float(b)) for p, b in zip(points, u, strict=True))]
        for number, truth, bound in zip(values, exact, (y, slope), strict=True):
            assert abs(Fraction(number) - truth) <= Fraction(float(bound.error[n]))


def test_an_order_of_additions_rounds_no_more_than_is_said() -> None:
    """Of floats that are exact before: all of the error is that of the sum."""
    draw, ranges = np.random.default_rng(5), {"x": "-9..9"}
    box = moving_box(Function("sum(x)")._asked({"x": np.zeros(7)}, dtype="float32"), ranges)
    passes, errors = RoundedPasses(box), list[Fraction]()
    for _ in range(20):
        x = draw.normal(size=7).astype(np.float32).astype(float)
        (y, *_) = passes.run(Interval(x[:, None], x[:, None]))
        errors.append(abs(Fraction(float(box.question_at(x).value)) - sum(map(Fraction, x.tolist()))))
        assert errors[-1] <= Fraction(float(y.error[0])) <= Fraction(7 * 2.0**-24 * float(abs(x).sum()))
    assert max(errors) > 0


def test_a_million_numbers_have_bounds_once_they_are_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though the share of each search is shorter than one evaluation; with more time, the bounds are nearer."""
    monkeypatch.setattr(ranges, "SECONDS", 0.2)  # of this thread, however busy the machine is
    answer = Function("mean(x**2)").range({"x": np.linspace(-1, 1, 300_000)}, box={"t": "0..1"}, along="ones")
    low, high = answer.bounds[0].low, answer.bounds[0].high
    assert -10 < low <= 1 / 3
    assert 4 / 3 <= high < 10

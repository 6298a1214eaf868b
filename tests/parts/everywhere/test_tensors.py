"""Tensors whose elements each have a range: bounds of sums and products, and one element for all."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpmath import mp

from gradcli import Function
from gradcli.errors import GradcliError
from gradcli.language.parsing import parse
from gradcli.parts.everywhere.box_kinds import BROKEN
from gradcli.parts.everywhere.tensor_bounds import TensorEvaluator, gradients_of, hull
from gradcli.reference.bounds import NoRuleError
from gradcli.results import BoxRange
from tests.parts.everywhere.truths_on_boxes import DIGITS, OutsideError, composed, contains, derivative

SIZE = 5
"""Elements of the tensors of random functions."""


def _range(text: str, at: dict[str, object] | None = None, **options: object) -> BoxRange:
    answer = Function(text).range(at, **options)  # type: ignore[arg-type]
    assert isinstance(answer, BoxRange)
    return answer


def _ends(answer: BoxRange) -> dict[str, tuple[float, float]]:
    return {one.label.text: (one.low, one.high) for one in answer.bounds}


def test_each_element_by_itself_has_the_constant_of_one() -> None:
    """Whatever the shape is: in all norms that of a number, as sharp."""
    one, all_ = _range("gelu(x)", box={"x": "-9..9"}), _range("gelu(x)", box={"x": "-9..9"}, shape={"x": (1000, 1000)})
    assert all_.bounds == one.bounds
    assert all_.lipschitz == dict.fromkeys(("1", "2", "inf"), one.lipschitz["2"])
    assert (all_.shape, one.shape) == ((1000, 1000), ())


FORWARD = [
    ("sum(relu(x))", (1000,), (0.0, 2000.0), (0.0, 1.0)),
    ("sum(gelu(x))", (100, 10), (-169.9712, 1954.4998), (-0.128905, 1.128905)),
    ("mean(x**2 - x)", (50,), (-0.25, 6.0), (-0.1, 0.06)),
    ("max(x)", (9,), (-2.0, 2.0), (0.0, 1.0)),
    ("prod(x)", (9,), (-512.0, 512.0), (-256.0, 256.0)),
    ("sum(x.view(4, 3).T@ones(4))", (12,), (-24.0, 24.0), (1.0, 1.0)),
    ("sum(x*x[::-1])", (9,), (-36.0, 36.0), (-4.0, 4.0)),
]
"""Functions of a tensor whose elements are in -2..2: its shape, bounds of y, bounds of the slopes."""


@pytest.mark.parametrize(("text", "shape", "y", "slope"), FORWARD)
def test_sums_and_products_have_bounds(
    text: str, shape: tuple[int, ...], y: tuple[float, float], slope: tuple[float, float]
) -> None:
    """Of any size; what each element adds is as sharp as its pieces are."""
    low = -3.0 if "relu" in text or "gelu" in text else -2.0
    found = _ends(_range(text, box={"x": f"{low}..2"}, shape={"x": shape}))
    for (least, most), (own_least, own_most) in ((y, found["y"]), (slope, found["dy/dx"])):
        size = max(abs(least), abs(most))
        assert own_least <= least + 1e-6 * size
        assert most - 1e-6 * size <= own_most
        assert own_most - own_least <= (most - least) * 1.01 + 1e-3 * size


def test_y_may_have_several_elements() -> None:
    """Each is bounded, and its derivatives; the constants are those of the matrix."""
    found = _range("A@x", {"A": [[1.0, 2.0], [3.0, -4.0]], "x": [0.0, 0.0]}, box={"x": "-1..1"})
    assert _ends(found) == {
        "y[0]": (-3, 3), "y[1]": (-7, 7), "dy[0]/dx[0]": (1, 1), "dy[0]/dx[1]": (2, 2), "dy[1]/dx[0]": (3, 3),
        "dy[1]/dx[1]": (-4, -4),
    }  # fmt: skip
    assert (found.lipschitz["1"], found.lipschitz["inf"]) == (6, 7)
    assert 30**0.5 <= found.lipschitz["2"] < 5.4773
    many = _range("A@x", {"A": np.ones((20, 30)), "x": np.zeros(30)}, box={"x": "0..1"})
    assert _ends(many) == {"y": pytest.approx((0, 30))}


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("sum(x)", {"box": {"x": "0..1"}, "shape": {"x": "n"}}, "no number"),
        ("sum(x*z)", {"box": {"x": "0..1"}, "shape": {"z": 3}}, "without a range"),
        ("sum(x)", {"box": {"x": "[0,0]..[1,1]"}, "shape": {"x": 3}}, "has shape"),
        ("sum(x)", {"box": {"x": "0..1"}, "shape": {"x": 30}, "zeros": True}, "zeros"),
        ("sum(x)", {"along": "ones", "shape": {"x": 3}}, "without a value"),
        ("det(x)", {"box": {"x": "0..1"}, "shape": {"x": (9, 9)}}, "no answer"),
    ],
)
def test_what_has_no_bounds_is_refused(text: str, options: dict[str, object], words: str) -> None:
    """In words."""
    with pytest.raises(GradcliError, match=words):
        _ = _range(text, {}, **options)


@pytest.mark.part("running")
def test_a_function_of_python_has_bounds_of_any_size(tmp_path: Path) -> None:
    """By its formula, each element by itself, forward, and along a line."""
    file = tmp_path / "own.py"
    _ = file.write_text("def f(x):\n    return x.tanh() * 2\n\ndef g(x):\n    return (x * x).sum()\n", encoding="utf-8")
    from gradcli.cli.commands import function_named

    f: Any = function_named(f"{file}::f")
    g: Any = function_named(f"{file}::g")
    assert f.ask("range", {"at": {"x": "zeros(9,9)"}, "box": {"x": "-1..1"}}).lipschitz["1"] == pytest.approx(2)
    assert _ends(g.ask("range", {"at": {"x": "zeros(20)"}, "box": {"x": "-1..1"}}))["y"] == pytest.approx((0, 20))
    assert _ends(g.ask("range", {"at": {"x": "zeros(20)"}, "along": {"x": "ones"}}))["dy/dt"] == pytest.approx(
        (-40, 40)
    )


def _refuted(draw: random.Random) -> Iterator[str]:
    """Yield what points refute of the bounds of the sum of a random function over the elements of a tensor."""
    case, y = composed(draw, draw.randint(1, 3)), draw.uniform(0.2, 2)
    sides = np.array([sorted((draw.uniform(-3, 3), draw.uniform(-3, 3))) for _ in range(SIZE)])
    sides = np.array([[-2.0, 2.0]] * SIZE) if draw.random() < 0.3 else sides
    low, high = ({"x": ends.copy()} for ends in sides.T)
    program, inputs = parse(f"sum({case.text})"), {"x": low["x"], "y": np.array(y)}
    if "x" not in program.names:  # but in maximum, say
        return
    try:
        pieces = draw.choice([1, 2, 5])
        jet = TensorEvaluator(program, inputs, low, high, pieces).bounds()
        slopes = gradients_of(program, inputs, low, high, pieces)["x"]
    except NoRuleError:
        return
    least, most = hull(jet.value)
    for _ in range(6):
        ends = zip(low["x"].tolist(), high["x"].tolist(), strict=True)
        at = [mp.mpf(draw.choice([a, b, draw.uniform(a, b)])) for a, b in ends]
        try:
            value = sum(case.truth(one, mp.mpf(y)) for one in at)
        except (OutsideError, ZeroDivisionError, ValueError, OverflowError, TypeError):
            if int(np.bitwise_or.reduce(jet.kinds.ravel())) & BROKEN == 0:
                yield f"{case.text}: no value at {at}"
            continue
        if not contains(least, most, value):
            yield f"{case.text} at {at}: {value} is not in {least}..{most}"
        for n, one in enumerate(at):
            if not low["x"][n] < one < high["x"][n]:  # a kink at an end has two slopes
                continue
            slope, own = derivative(case.truth, [one, mp.mpf(y)], (1, 0)), slopes.row(n)
            if slope is not None and not contains(float(own.low[0]), float(own.high[0]), slope, 1e-12):
                yield f"{case.text} at {one}: the slope {slope} is not in {own}"


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.thorough) for n in range(1, 20))])
def test_no_point_refutes_the_bounds_of_a_tensor(seed: int) -> None:
    """Sums of random functions, against 40 digits."""
    draw = random.Random(f"tensors {seed}")
    with mp.workdps(DIGITS):
        assert [one for _ in range(8) for one in _refuted(draw)] == []

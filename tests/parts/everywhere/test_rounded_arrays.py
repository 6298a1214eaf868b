"""Torch's passes of arrays on boxes: no bound is below that of the same passes number by number."""

import numpy as np
import pytest

from gradcli import Function
from gradcli.errors import GradcliError
from gradcli.parts.everywhere import moving_box as boxes
from gradcli.parts.everywhere.intervals import Interval
from gradcli.parts.everywhere.moving_box import MovingBox, moving_box
from gradcli.parts.everywhere.rounded_arrays import RoundedArrays
from gradcli.parts.everywhere.rounded_passes import RoundedPasses
from gradcli.questions.bound_function import Dtype
from gradcli.results import BoxChecking

VALUES = {"x": np.linspace(-0.4, 1, 5), "w": np.linspace(1, 2, 5), "A": np.arange(25.0).reshape(5, 5) / 7}

FUNCTIONS = [
    "sum(x**2)",
    "logsumexp(x)",
    "mean(gelu(x))",
    "sum(relu(x)*w)",
    "norm(x)",
    "log(sum(softmax(x)**2))",
    "max(x)",
    "x @ A @ x",
    "cross_entropy(x, one_hot(2, 5)*1.0)",
    "sum(cumsum(x, 0))",
    "sum(where(x > 0.5, x, 0))",
    "var(x)",
    "sum(softplus(30*x))",
    "sum(concat([x, 2*x]).reshape(5, 2)**3)",
    "median(x)",
    "mean(lgamma(x + 2))",
    "[tanh(sum(x))]",
    "huber_loss(x, w)",
]


def _box(text: str, dtype: Dtype) -> MovingBox:
    function = Function(text)
    asked = function._asked({name: VALUES[name] for name in function.variables}, dtype=dtype)
    return moving_box(asked, {"t": "0..1"}, along={"x": np.ones(5)})


@pytest.mark.parametrize("text", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.one_in(3)
def test_bounds_of_arrays_are_those_of_their_numbers(text: str, dtype: Dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not below them, which torch's numbers are held against, and not twice as large."""
    low = np.linspace(0, 1, 40)[None]
    cells = Interval(low, low + np.geomspace(1e-9, 0.2, 40))
    passes = RoundedPasses(_box(text, dtype))
    monkeypatch.setattr(boxes, "MOST_NUMBERS", 0)
    arrays = RoundedArrays(_box(text, dtype))
    assert (arrays.are_recorded(cells) == passes.are_recorded(cells)).all()
    for one, other in zip(arrays.run(cells), passes.run(cells), strict=True):
        assert (one.is_bad == other.is_bad).all()
        assert ((one.error >= other.error * (1 - 1e-9)) & (one.error <= 2 * other.error)).all()
        assert np.allclose(one.exact.low, other.exact.low, rtol=1e-6)
        assert np.allclose(one.exact.high, other.exact.high, rtol=1e-6)


@pytest.mark.parametrize("text", ["sum(x**2)", "logsumexp(x)", "mean(x*tanh(x))"])
def test_torch_is_proved_along_a_line_through_many_numbers(text: str) -> None:
    """Of which there are more than lines of numbers."""
    box = {"t": "0..0.5"}
    answer = Function(text).check({"x": np.linspace(1, 2, 30_000)}, box=box, along="ones")
    assert isinstance(answer, BoxChecking)
    assert [one.verdict for one in answer.regions] == ["proved"]


@pytest.mark.parametrize("text", ["prod(x)", "sum(pad(x, (1, 1), value=0.1))", "det(diag(x))"])
def test_what_is_not_known_of_arrays_is_refused(text: str) -> None:
    """As of numbers."""
    with pytest.raises(GradcliError, match="not known in a box"):
        Function(text).check({"x": np.linspace(1, 2, 600)}, box={"t": "0..0.5"}, along="ones")

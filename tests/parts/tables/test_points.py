"""Many points at once give the numbers of one point after the other, for every operation not made of others."""

from collections.abc import Mapping, Sequence
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from gradcli import Function
from gradcli.autodiff import batched
from gradcli.errors import InputError
from gradcli.language import ops
from gradcli.language.ops import Meaning
from tests.examples import examples, part
from tests.programs import Random, programs

STRETCH = np.array([1.0, 0.93, 0.81])
"""By which a point is multiplied to have three of each."""


def require_same(text: str, at: Mapping[str, Any], names: Sequence[str], dtype: Any = "float64") -> dict[str, Any]:
    """The numbers of a call for each point, to a few units in the last place, as sums may be taken in another order.

    A variable that is the same at all points has a derivative at each.
    """
    function, arrays = Function(text), {name: np.asarray(value, dtype) for name, value in at.items()}
    columns = {name: arrays[name] for name in names}
    others = {name: array for name, array in arrays.items() if name not in names}
    first = function.jacobian({**others, **{name: array[0] for name, array in columns.items()}}, check=False)
    many: dict[str, Any] = function.map(columns, others, wrt=first.wrt, dtype=dtype)
    for n in range(len(columns[names[0]])):
        one = {**others, **{name: array[n] for name, array in columns.items()}}
        alone = function.jacobian(one, dtype=dtype, check=False)
        blocks = alone.jacobian or {}
        for found, expected in zip(many.values(), (alone.value, *(blocks[name] for name in alone.wrt)), strict=True):
            assert found[n].shape == expected.shape
            assert found.dtype == expected.dtype
            size = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
            atol = 4 * float(np.finfo(expected.dtype).eps) * size
            np.testing.assert_allclose(found[n], expected, rtol=1e-15, atol=atol)
    return many


@pytest.mark.parametrize(
    "op",
    part((op for op in ops.TABLE.values() if op.defined_by is not Meaning.TORCH_INLINE), 1, of=16),
    ids=lambda op: op.name,
)
@pytest.mark.one_in(4)
def test_all_points_at_once_are_as_one_after_the_other(op: ops.Op) -> None:
    """Every variable mapped, then only the first, whose others are then leaves with a copy a point."""
    text, at = op.worked_example
    one = Function(text).jacobian(at, check=False)
    for names in dict.fromkeys((one.wrt, one.wrt[:1])):
        inputs = {
            name: np.multiply.outer(STRETCH, array) if name in names else array for name, array in one.inputs.items()
        }
        require_same(text, inputs, names)


CALLS: list[tuple[str, dict[str, Any], list[str]]] = [
    (
        "tanh(W@x + b)",
        {"W": [[1, -2, 0.5], [0.3, 0, 1]], "x": np.sin(np.arange(12.0)).reshape(4, 3), "b": [0.1, -0.2]},
        ["x"],
    ),
    ("t*exp(-t*x)", {"t": [0.5, 1, 2], "x": [[1, 2], [0, 1], [3, -1]]}, ["x", "t"]),
    ("softmax(x)", {"x": [[1, 2, 3], [0, 0, 0]]}, ["x"]),
    ("spherical_bessel_j0(x**2)", {"x": [0.5, 1, 2]}, ["x"]),  # torch's own has no derivative
    ("x*det(A)", {"x": [[1, 2], [3, 4]], "A": [[2, 1], [1, 3]]}, ["x"]),
    ("A@A.T", {"A": np.arange(18.0).reshape(3, 3, 2) / 7}, ["A"]),
    ("[x, x**2, 3]", {"x": [1, 2, 3, 4]}, ["x"]),
]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("text", "at", "names"), CALLS, ids=[call[0] for call in CALLS])
@pytest.mark.one_in(2)
def test_points_of_any_shape(text: str, at: dict[str, Any], names: list[str], dtype: Any) -> None:
    """Of several variables, some the same at all points, in both dtypes."""
    require_same(text, at, names, dtype)


@pytest.mark.parametrize("text", ["max(x)", "min(x)*sum(x)", "max(x, 0)[0]", "amax(x)", "min(x**2)"])
def test_elements_that_tie_share_as_at_one_point(text: str) -> None:
    """Vmap alone would give all of the slope to one of them."""
    require_same(text, {"x": [[2, 2, 1], [0, 0, 0], [1, 2, 2], [1, 1, 3]]}, ["x"])


@pytest.mark.parametrize(
    "text", ["max(x)", "max(x)**0.5", "log(min(x))", "1/min(x)", "max(x, keepdim=True)", "min(x)*x"]
)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.one_in(2)
def test_extremes_without_a_finite_derivative_are_as_at_one_point(text: str, dtype: str) -> None:
    """Amax would spread NaN and infinity over the elements that are not the largest."""
    nan, inf = np.nan, np.inf
    x = [[1, nan, 2], [nan, 0, nan], [-1, -2, -3], [0, 0, 1], [inf, inf, 1], [-inf, -inf, 0], [-0.0, -0.0, -0.0]]
    found = require_same(text, {"x": x}, ["x"], dtype)
    alone = Function(text).eval(x[-1], dtype=dtype)  # type: ignore[arg-type]
    assert np.signbit(found["y"][-1]).tolist() == np.signbit(alone.value).tolist()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("text", ["cat([x*linspace(0,1,80), ones(3)*w])", "x*linspace(0,1,80) + 0*floor(w)"])
def test_many_rows_and_few_columns_are_taken_by_columns(text: str, dtype: str) -> None:
    """The same numbers by both ways, and zeros where y does not depend on a variable."""
    require_same(text, {"x": [0.5, 2.0, -1.0], "w": 2.0}, ["x"], dtype)


def _cannot(*arguments: Any, **options: Any) -> Any:
    raise InputError("this cannot be done for all points at once")


def test_what_cannot_be_done_at_once_is_done_point_by_point(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same numbers, in a loop that has an end; a point that torch refuses is named."""
    monkeypatch.setattr(batched, "mapped", _cannot)
    require_same("[dot(x, w), prod(x)]", {"x": [[1, 2], [3, 4], [0, 5]], "w": [2, 3]}, ["x"])
    monkeypatch.undo()
    A = np.stack([np.eye(2), 2 * np.eye(2), np.ones((2, 2)), np.eye(2)])
    with pytest.raises(InputError, match=r"row 2 of the columns: .* no inverse"):
        Function("inv(A)").map({"A": A})


def test_points_do_not_spoil_each_other() -> None:
    """A NaN at one point stays there, through a product with a common matrix too."""
    x = np.array([[1.0, 2.0], [np.nan, 1.0], [np.inf, 1.0], [3.0, -1.0]])
    found = require_same("sum((A@x)**2)", {"x": x, "A": [[1, 2], [3, 4]]}, ["x"])
    assert np.isfinite(found["dy_dx"][[0, 3]]).all()
    assert np.isfinite(found["dy_dA"][[0, 3]]).all()
    assert found["dy_dx"][0].tolist() == [76, 108]  # 2Aᵀ(Ax) with Ax = 5, 11


@settings(max_examples=examples(40), deadline=None)
@given(programs(most=5), st.data())
def test_random_programs_at_many_points(program: Random, data: st.DataObject) -> None:
    """Some variables mapped, the rest the same at all points."""
    used = Function(program.text).variables
    names = data.draw(st.lists(st.sampled_from(sorted(used)), min_size=1, unique=True))
    inputs = {name: program.leaves[name].detach().numpy() for name in used}
    inputs |= {name: np.multiply.outer([1.0, 0.7, -1.3], inputs[name]) for name in names}
    require_same(program.text, inputs, names)

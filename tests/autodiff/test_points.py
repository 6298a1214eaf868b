"""Many points at once give the numbers of one point after the other, for every operation not made of others."""

from __future__ import annotations

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
from gradcli.language.ops import Kind
from gradcli.results import VJP
from tests.checks import check_of
from tests.examples import examples, quarter
from tests.programs import Random, programs

STRETCH = np.array([1.0, 0.93, 0.81])
"""By which a point is multiplied to have three of each."""


def require_same(
    text: str, at: Mapping[str, Any], names: Sequence[str], dtype: Any = "float64", v: Any = "ones"
) -> VJP:
    """The numbers of a call for each point, to a few units in the last place, as sums may be taken in another order.

    A variable that is the same at all points has a derivative at each.
    """
    function, arrays = Function(text), {name: np.asarray(value, dtype) for name, value in at.items()}
    many = function.vjp(arrays, v, dtype=dtype, check=False, points_of=names)
    for n in range(many.points or 0):
        one = {name: array[n] if name in names else array for name, array in arrays.items()}
        alone = function.vjp(one, v if isinstance(v, str) else v[n], dtype=dtype, check=False)
        for found, expected in (
            (many.value, alone.value),
            (many.v, alone.v),
            *((many.vjp[name], alone.vjp[name]) for name in alone.wrt),
            *((block, (alone.jacobian or {})[name]) for name, block in (many.jacobian or {}).items()),
        ):
            assert found[n].shape == expected.shape
            assert found.dtype == expected.dtype
            size = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
            atol = 4 * float(np.finfo(expected.dtype).eps) * size
            np.testing.assert_allclose(found[n], expected, rtol=1e-15, atol=atol)
    return many


@pytest.mark.parametrize(
    "op", quarter((op for op in ops.TABLE.values() if op.kind is not Kind.INLINED), 1), ids=lambda op: op.name
)
def test_all_points_at_once_are_as_one_after_the_other(op: ops.Op) -> None:
    """Every variable mapped, then only the first, whose others are then leaves with a copy a point."""
    text, at = op.worked_example
    one = Function(text).jacobian(at, check=False)
    for names in dict.fromkeys((one.wrt, one.wrt[:1])):
        inputs = {
            name: np.multiply.outer(STRETCH, array) if name in names else array for name, array in one.inputs.items()
        }
        require_same(text, inputs, names)


CALLS: list[tuple[str, dict[str, Any], list[str], Any]] = [
    (
        "tanh(W@x + b)",
        {"W": [[1, -2, 0.5], [0.3, 0, 1]], "x": np.sin(np.arange(12.0)).reshape(4, 3), "b": [0.1, -0.2]},
        ["x"],
        "2*y",
    ),
    ("t*exp(-t*x)", {"t": [0.5, 1, 2], "x": [[1, 2], [0, 1], [3, -1]]}, ["x", "t"], "1,10"),
    ("softmax(x)", {"x": [[1, 2, 3], [0, 0, 0]]}, ["x"], "e1"),
    ("x*det(A)", {"x": [[1, 2], [3, 4]], "A": [[2, 1], [1, 3]]}, ["x"], "x"),
    ("A@A.T", {"A": np.arange(18.0).reshape(3, 3, 2) / 7}, ["A"], "e1"),
    ("[x, x**2, 3]", {"x": [1, 2, 3, 4]}, ["x"], "1,0,2"),
]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("text", "at", "names", "v"), CALLS, ids=[call[0] for call in CALLS])
def test_every_command_answers_many_points_alike(
    text: str, at: dict[str, Any], names: list[str], v: str, dtype: Any
) -> None:
    """With v of any kind, and the formula of one point."""
    function, many = Function(text), require_same(text, at, names, dtype, v)
    full = function.jacobian(at, dtype=dtype, points_of=names)
    assert check_of(full).verdict == "agree"
    for name, block in (many.jacobian or {}).items():
        np.testing.assert_array_equal((full.jacobian or {})[name], block)
    values = function.eval(at, dtype=dtype, points_of=names, check=False).value
    np.testing.assert_allclose(values, many.value, rtol=1e-14 if dtype == "float64" else 1e-6)
    one = function.jacobian({k: np.asarray(a)[0] if k in names else a for k, a in at.items()}, dtype=dtype)
    assert [f.text for f in full.symbolic.values()] == [f.text for f in one.symbolic.values()]


@pytest.mark.parametrize("text", ["max(x)", "min(x)*sum(x)", "max(x, 0)[0]", "amax(x)", "min(x**2)"])
def test_elements_that_tie_share_as_at_one_point(text: str) -> None:
    """Vmap alone would give all of the slope to one of them."""
    require_same(text, {"x": [[2, 2, 1], [0, 0, 0], [1, 2, 2], [1, 1, 3]]}, ["x"])


@pytest.mark.parametrize(
    "text", ["max(x)", "max(x)**0.5", "log(min(x))", "1/min(x)", "max(x, keepdim=True)", "min(x)*x"]
)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_extremes_without_a_finite_derivative_are_as_at_one_point(text: str, dtype: str) -> None:
    """Amax would spread NaN and infinity over the elements that are not the largest."""
    nan, inf = np.nan, np.inf
    x = [[1, nan, 2], [nan, 0, nan], [-1, -2, -3], [0, 0, 1], [inf, inf, 1], [-inf, -inf, 0], [-0.0, -0.0, -0.0]]
    found = require_same(text, {"x": x}, ["x"], dtype)
    alone = Function(text).eval(x[-1], dtype=dtype)  # type: ignore[arg-type]
    assert np.signbit(found.value[-1]).tolist() == np.signbit(alone.value).tolist()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("text", ["cat([x*linspace(0,1,80), ones(3)*w])", "x*linspace(0,1,80) + 0*floor(w)"])
def test_many_rows_and_few_columns_are_taken_by_columns(text: str, dtype: str) -> None:
    """The same numbers by both ways, and zeros where y does not depend on a variable."""
    require_same(text, {"x": [0.5, 2.0, -1.0], "w": 2.0}, ["x"], dtype)


@pytest.mark.parametrize("most", [4, 60, 100])
def test_points_in_several_parts_are_the_same_points(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However few fit into a part, v going with them."""
    monkeypatch.setattr(batched, "MOST_ELEMENTS", most)
    x, v = np.linspace(-1, 1, 22).reshape(11, 2), np.linspace(0, 1, 22).reshape(11, 2)
    require_same("exp(x)*sum(x*w)", {"x": x, "w": [2, 3]}, ["x"], v=v)


def _cannot(*arguments: Any, **options: Any) -> Any:
    raise InputError("this cannot be done for all points at once")


def test_what_cannot_be_done_at_once_is_done_point_by_point(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same numbers, in a loop that has an end; a point that torch refuses is named."""
    monkeypatch.setattr(batched, "mapped", _cannot)
    require_same("[dot(x, w), prod(x)]", {"x": [[1, 2], [3, 4], [0, 5]], "w": [2, 3]}, ["x"])
    monkeypatch.setattr(batched, "MOST_ALONE", 2)
    with pytest.raises(InputError, match="at once"):
        Function("x**2").eval([[1], [2], [3]], points_of=["x"])
    monkeypatch.undo()
    A = np.stack([np.eye(2), 2 * np.eye(2), np.ones((2, 2)), np.eye(2)])
    with pytest.raises(InputError, match="no inverse") as caught:
        Function("inv(A)").jacobian(A, points_of=["A"])
    assert caught.value.hint == "its determinant is 0; that is at point 2"


def test_points_do_not_spoil_each_other() -> None:
    """A NaN at one point stays there, through a product with a common matrix too."""
    x = np.array([[1.0, 2.0], [np.nan, 1.0], [np.inf, 1.0], [3.0, -1.0]])
    found = require_same("sum((A@x)**2)", {"x": x, "A": [[1, 2], [3, 4]]}, ["x"]).vjp
    assert np.isfinite(found["x"][[0, 3]]).all()
    assert np.isfinite(found["A"][[0, 3]]).all()
    assert found["x"][0].tolist() == [76, 108]  # 2Aᵀ(Ax) with Ax = 5, 11


@settings(max_examples=examples(40), deadline=None)
@given(programs(most=5), st.data())
def test_random_programs_at_many_points(program: Random, data: st.DataObject) -> None:
    """Some variables mapped, the rest the same at all points."""
    used = Function(program.text).variables
    names = data.draw(st.lists(st.sampled_from(sorted(used)), min_size=1, unique=True))
    inputs = {name: program.leaves[name].detach().numpy() for name in used}
    inputs |= {name: np.multiply.outer([1.0, 0.7, -1.3], inputs[name]) for name in names}
    require_same(program.text, inputs, names)

"""Many points at once give the numbers of one point after the other, for every operation of the table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from gradcli.autodiff import batched, jacobians
from gradcli.autodiff.batched import AtPoints, Batch, at_points
from gradcli.autodiff.run import run
from gradcli.errors import InputError
from gradcli.language import ops
from gradcli.language.parsing import parse
from gradcli.language.program.shapes import infer
from tests.examples import examples
from tests.language.ops import test_algebra, test_branches, test_elementwise, test_reductions, test_structure
from tests.language.ops.numpy_truth import POINT, names_of
from tests.programs import Random, programs

STRETCH = np.array([1.0, 0.93, 0.81])
"""By which the truths' points are multiplied to have three of each."""


def _elementwise() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, (_, values) in test_elementwise.ONE.items():
        yield f"{name}(x)", {"x": np.resize(values, (3, 2))}
    for name, (_, pairs) in test_elementwise.TWO.items():
        first, second = ops.TABLE[name].operands
        yield f"{name}({first}, {second})", dict(zip((first, second), np.resize(pairs, (3, 2)).T, strict=True))
    for texts in test_elementwise.MORE.values():
        for text, (_, values) in texts.items():
            yield text, {"x": np.resize(values, (3, 2))}


def _others() -> Iterator[tuple[str, dict[str, Any]]]:
    tables = (test_branches.CASES, test_reductions.CASES, test_structure.CASES)
    for table in (*tables, test_algebra.PRODUCTS, test_algebra.LOSSES):
        for case in (case for cases in table.values() for case in cases):
            if names_of(case):
                yield case[0], {name: np.multiply.outer(STRETCH, POINT[name]) for name in names_of(case)}


CASES = dict([*_elementwise(), *_others()])


def batch_of(
    text: str, inputs: Mapping[str, Any], mapped: tuple[str, ...], wrt: tuple[str, ...], dtype: str = "float64"
) -> Batch:
    """The Program of a text with the sizes that its values have."""
    arrays = {name: np.asarray(value, dtype) for name, value in inputs.items()}
    one = {name: array.shape[1:] if name in mapped else array.shape for name, array in arrays.items()}
    program = parse(text, shapes=one)
    shapes = infer(program, {symbol: one[str(symbol)] for symbol in program.variables})
    count = len(arrays[mapped[0]])
    return Batch(program, arrays, mapped, wrt, dtype, count, shapes[program.output], 1)


def looped(batch: Batch, v: Any = None) -> AtPoints:
    """The same, one call for each point, with the code of one point."""
    found = [run(batch.program, batch.inputs_at(n), batch.wrt, batch.dtype) for n in range(batch.points)]
    blocks = [jacobians.jacobian(forward, batch.wrt) for forward in found]
    weights = np.broadcast_to(1.0 if v is None else v, (batch.points, *batch.shape))
    products = [jacobians.vjp(f, w, batch.wrt) for f, w in zip(found, weights, strict=True)]
    return AtPoints(
        np.stack([jacobians.value(forward) for forward in found]),
        {name: np.stack([product[name] for product in products]) for name in batch.wrt},
        {name: np.stack([block[name] for block in blocks]) for name in batch.wrt},
    )


def assert_same(found: AtPoints, expected: AtPoints) -> None:
    """To a few units in the last place of the largest number, as sums may be taken in another order."""
    for one, other in (
        (found.value, expected.value),
        *((array, (expected.vjp or {})[name]) for name, array in (found.vjp or {}).items()),
        *((array, (expected.jacobian or {})[name]) for name, array in (found.jacobian or {}).items()),
    ):
        assert one.shape == other.shape
        assert one.dtype == other.dtype
        scale = np.abs(other[np.isfinite(other)]).max(initial=0.0)
        np.testing.assert_allclose(one, other, rtol=1e-15, atol=4 * float(np.finfo(other.dtype).eps) * scale)


@pytest.mark.parametrize("text", CASES)
def test_all_points_at_once_are_as_one_after_the_other(text: str) -> None:
    """Every variable mapped, then only the first, whose others are then leaves with a copy a point."""
    names = tuple(CASES[text])
    for mapped in {names, names[:1]}:
        inputs = {name: array if name in mapped else array[0] for name, array in CASES[text].items()}
        batch = batch_of(text, inputs, mapped, names)
        assert_same(at_points(batch, v=np.ones(batch.shape), jacobian=True), looped(batch))


@pytest.mark.parametrize("text", ["max(x)", "min(x)*sum(x)", "max(x, 0)[0]", "amax(x)", "min(x**2)"])
def test_elements_that_tie_share_as_at_one_point(text: str) -> None:
    """Vmap alone would give all of the slope to one of them."""
    batch = batch_of(text, {"x": [[2, 2, 1], [0, 0, 0], [1, 2, 2], [1, 1, 3]]}, ("x",), ("x",))
    assert_same(at_points(batch, jacobian=True), looped(batch))


@pytest.mark.parametrize(
    "text", ["max(x)", "max(x)**0.5", "log(min(x))", "1/min(x)", "max(x, keepdim=True)", "min(x)*x"]
)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_extremes_without_a_finite_derivative_are_as_at_one_point(text: str, dtype: str) -> None:
    """Amax would spread NaN and infinity over the elements that are not the largest."""
    nan, inf = np.nan, np.inf
    x = [[1, nan, 2], [nan, 0, nan], [-1, -2, -3], [0, 0, 1], [inf, inf, 1], [-inf, -inf, 0], [-0.0, -0.0, -0.0]]
    batch = batch_of(text, {"x": x}, ("x",), ("x",), dtype)
    found, expected = at_points(batch, jacobian=True), looped(batch)
    assert_same(found, expected)
    assert np.signbit(found.value[-1]).tolist() == np.signbit(expected.value[-1]).tolist()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_many_rows_and_few_columns_are_taken_by_columns(dtype: str) -> None:
    """The same numbers by both ways, and zeros where y does not depend on a variable."""
    x = np.array([0.5, 2.0, -1.0])
    rows = "cat([x*linspace(0,1,80), ones(3)*w])"
    batch = batch_of(rows, {"x": x, "w": 2.0}, ("x",), ("x", "w"), dtype)
    assert_same(at_points(batch, v=np.ones(batch.shape), jacobian=True), looped(batch))
    batch = batch_of("x*linspace(0,1,80) + 0*floor(w)", {"x": x, "w": 2.0}, ("x",), ("x", "w"), dtype)
    assert_same(at_points(batch, jacobian=True), replace(looped(batch), vjp=None))


@pytest.mark.parametrize("most", [1, 7, 20])
def test_points_in_several_parts_are_the_same_points(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However few fit into a part, v going with them."""
    x = np.linspace(-1, 1, 22).reshape(11, 2)
    batch = replace(batch_of("exp(x)*sum(x*w)", {"x": x, "w": [2, 3]}, ("x",), ("x", "w")), elements=2)
    v = np.linspace(0, 1, 22).reshape(11, 2)
    monkeypatch.setattr(batched, "MOST_ELEMENTS", most)
    assert_same(at_points(batch, v=v, jacobian=True), looped(batch, v))


def _cannot(*arguments: Any, **options: Any) -> Any:
    raise InputError("this cannot be done for all points at once")


def test_what_cannot_be_done_at_once_is_done_point_by_point(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same numbers, in a loop that has an end."""
    batch = batch_of("[dot(x, w), prod(x)]", {"x": [[1, 2], [3, 4], [0, 5]], "w": [2, 3]}, ("x",), ("x", "w"))
    v = np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 0.0]])
    expected = at_points(batch, v=v, jacobian=True)
    monkeypatch.setattr(batched, "mapped", _cannot)
    assert_same(at_points(batch, v=v, jacobian=True), expected)
    monkeypatch.setattr(batched, "MOST_ALONE", 2)
    with pytest.raises(InputError, match="at once"):
        at_points(batch)


def test_a_point_that_torch_refuses_is_named() -> None:
    """Of four matrices, the third has no inverse."""
    A = np.stack([np.eye(2), 2 * np.eye(2), np.ones((2, 2)), np.eye(2)])
    with pytest.raises(InputError, match="no inverse") as caught:
        at_points(batch_of("inv(A)", {"A": A}, ("A",), ("A",)), jacobian=True)
    assert caught.value.hint == "its determinant is 0; that is at point 2"


def test_points_do_not_spoil_each_other() -> None:
    """A NaN at one point stays there, through a product with a common matrix too."""
    x = np.array([[1.0, 2.0], [np.nan, 1.0], [np.inf, 1.0], [3.0, -1.0]])
    found = at_points(batch_of("sum((A@x)**2)", {"x": x, "A": [[1, 2], [3, 4]]}, ("x",), ("x", "A")), v=np.array(1.0))
    assert found.vjp is not None
    assert np.isfinite(found.vjp["x"][[0, 3]]).all()
    assert np.isfinite(found.vjp["A"][[0, 3]]).all()
    assert found.vjp["x"][0].tolist() == [76, 108]  # 2Aᵀ(Ax) with Ax = 5, 11


@settings(max_examples=examples(40), deadline=None)
@given(programs(most=5), st.data())
def test_random_programs_at_many_points(program: Random, data: st.DataObject) -> None:
    """Some variables mapped, the rest the same at all points."""
    leaves = {name: leaf.detach().numpy() for name, leaf in program.leaves.items()}
    mapped = tuple(data.draw(st.lists(st.sampled_from(sorted(leaves)), min_size=1, unique=True)))
    inputs = {
        name: np.multiply.outer([1.0, 0.7, -1.3], array) if name in mapped else array for name, array in leaves.items()
    }
    names = parse(program.text, shapes={name: array.shape for name, array in leaves.items()}).names
    mapped = tuple(name for name in mapped if name in names)
    if mapped:
        batch = batch_of(program.text, {name: inputs[name] for name in names}, mapped, names)
        with np.errstate(all="ignore"):
            assert_same(at_points(batch, v=np.ones(batch.shape), jacobian=True), looped(batch))

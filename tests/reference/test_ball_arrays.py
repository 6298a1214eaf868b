"""Values and sweeps on arrays of balls: they hold the truth, at any precision, and what is not known stays so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy
from flint import arb

from gradcli.crosscheck.bounded_gradient import GradientBounds
from gradcli.language.parsing import parse
from gradcli.language.program.passes import for_arrays
from gradcli.language.program.shapes import shapes_in
from gradcli.reference.array_values import Values
from gradcli.reference.ball_arrays import BallArray, RoundedArray, evaluated
from gradcli.reference.balls import precision
from gradcli.reference.bounds import Bounds, add, compared, inverse, product
from gradcli.reference.contractions import contracted

_X = sympy.Symbol("x", real=True)


def _normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def _balls(numbers: Any) -> BallArray:
    middle = np.asarray(numbers, dtype=np.float64)
    return BallArray(middle, np.zeros(middle.shape))


TEXTS = {
    "elementwise": "tanh(x)*exp(-x**2)/(1 + abs(x)) + erf(x)",
    "branches": "where(x > 0, x**2, -x) + maximum(x, 0.1) + minimum(x, 0.3)",
    "sums": "x.sum(1, keepdim=True)*x - cumsum(x, 0)",
    "products": "prod(x, 1) + amax(x, 1) + amin(x, 1)",
    "matrices": "x@x.T@x",
    "lists": "cat([x, 2*x], 1) + stack([x, x*x], 1)[:, 0, :1]",
    "movement": "pad(x.T, (1, 0))[1:] + flip(x, 0).T[1:, :1]",
    "an inverse": "inv(x@x.T + eye(3)) + det(x@x.T)",
    "running products": "cumprod(x, 1)*x",
}


@pytest.mark.parametrize("name", TEXTS)
def test_more_bits_stay_within_fewer_and_within_the_bounds_of_floats(name: str) -> None:
    """Of y, and of the gradient of its weighted sum."""
    x = {"x": _normal(3, 4)}
    program = for_arrays(parse(TEXTS[name], shapes={"x": (3, 4)}))
    shapes = shapes_in(program, {_X: (3, 4)})
    found: list[list[BallArray | Bounds]] = []
    for kind, bits in ((np.float64, 53), (BallArray, 64), (BallArray, 200)):
        with precision(bits):
            values = Values(program, shapes, x, program.variables, kind)
            v = _normal(1, *shapes[program.output], seed=1)
            found.append([values.value, GradientBounds(program, shapes, [_X]).weighted(values, v)[_X]])
    for floats, few, many in zip(*found, strict=True):
        assert isinstance(few, BallArray)
        assert isinstance(many, BallArray)
        assert few.is_known.all()
        assert many.is_known.all()
        assert floats.is_known.all()
        near = zip(floats.middle.ravel().tolist(), floats.radius.ravel().tolist(), strict=True)
        for (middle, radius), a, b in zip(near, few.balls.ravel(), many.balls.ravel(), strict=True):
            assert a.contains(b) or a.overlaps(b)
            assert b.rad() < arb(2) ** -180
            assert arb(middle, radius * (1 + 1e-9)).overlaps(b)


def test_a_third_is_a_third_to_all_its_bits() -> None:
    """Three times it is a ball around 1."""
    with precision(300):
        third = evaluated(_X / 3, {_X: _balls([1.0, 3.0])})
        assert isinstance(third, BallArray)
        first, second = third.balls.tolist()
        assert (3 * first).contains(1)
        assert first.rad() < arb(2) ** -290
        assert second == 1


def test_infinities_of_a_mask_stay_and_are_equal() -> None:
    """Beside an inexact number as beside an exact one; what is not finite otherwise is not known."""
    with precision(64):
        sevenths = evaluated(_X / 7, {_X: _balls([1.0, 2.0])})
        found = add(sevenths, _balls([-np.inf, 0.0]))
        assert found.is_known.all()
        assert found.is_infinite.tolist() == [True, False]
        assert compared(found, _balls([-np.inf, -np.inf]), (0,), at_ties=False).middle.tolist() == [1.0, 0.0]
        gone = evaluated(sympy.exp(_X), {_X: found})
        assert isinstance(gone, BallArray)
        assert gone.balls[0] == 0
        assert not evaluated(1 / _X, {_X: _balls([0.0])}).is_known.any()


def test_zeros_that_are_left_out_of_a_product_change_nothing() -> None:
    """Whole rows and columns of them, on either side, and matrices of nothing else."""
    a, b = _normal(2, 3, 5), _normal(2, 5, 4, seed=1)
    a[:, :, 1:3], b[:, 4] = 0, 0
    with precision(100):
        found = product(_balls(a), _balls(b)).in_floats()
        nothing = product(_balls(0 * a), _balls(b))
    assert np.all(abs(found.middle - a @ b) <= 1e-14)
    assert nothing.is_zero.all()


def test_a_singular_matrix_has_no_inverse() -> None:
    """And the others of a batch have theirs."""
    found = inverse(_balls([[[1.0, 2.0], [2.0, 4.0]], [[2.0, 0.0], [0.0, 4.0]]]))
    assert found.is_known.all(axis=(1, 2)).tolist() == [False, True]
    assert found.in_floats().middle[1].tolist() == [[0.5, 0.0], [0.0, 0.25]]


def test_rounded_numbers_are_about_those_of_the_format() -> None:
    """At 24 bits, numbers that float32 has, and that are off as much as those of float32 are."""
    x = _normal(50).astype(np.float32)
    with precision(24):
        values = {_X: RoundedArray(x.astype(np.float64), np.zeros(50))}
        found = evaluated(_X**2 + _X / 3, values)
    numbers, exact = found.in_floats().middle, x.astype(np.float64) ** 2 + x.astype(np.float64) / 3
    assert np.all(numbers == numbers.astype(np.float32))
    assert np.all(abs(numbers - exact) <= 4 * 2.0**-23 * (x.astype(np.float64) ** 2 + abs(x) / 3))
    assert np.any(numbers != exact)


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("sum(a[:, None, :]*b, 2)", [(80, 90), (70, 90)]),
        ("sum(a[:, None, :]*b[None], (0, 2), keepdim=True)", [(80, 90), (70, 90)]),
        ("sum(a[:, :, :, None]*b[:, :, None], 1)", [(4, 30, 20), (4, 30, 25)]),
        ("sum(a[:, :, None]*b[:, None])", [(30, 20), (30, 25)]),
        ("sum(a[:, None, None]*b[None], (0, 2))", [(20, 30), (15, 12, 30)]),
    ],
)
def test_sums_of_products_are_products_of_matrices(text: str, shapes: list[tuple[int, ...]]) -> None:
    """With the same values and derivatives, whatever stretches along what."""
    program = parse(text)
    given = dict(zip(program.variables, shapes, strict=True))
    known = shapes_in(program, given)
    other = contracted(program, known)
    assert "matmul" in [line.call.op.name for line in other.lines]
    inputs = {str(s): _normal(*shape, seed=n) for n, (s, shape) in enumerate(given.items())}
    found = []
    for one in (program, other):
        own = shapes_in(one, given)
        values = Values(one, own, inputs, program.variables)
        back = GradientBounds(one, own, program.variables).weighted(values, np.ones((1, *known[program.output])))
        found.append([values.value, *(back[symbol] for symbol in program.variables)])
    for a, b in zip(*found, strict=True):
        assert a.middle.shape == b.middle.shape
        assert np.all(abs(a.middle - b.middle) <= a.radius + b.radius)
        assert np.all(b.radius <= 1e-9)

"""Whole arrays with bounds: the truth is inside, whatever the numbers are, and a planted error is outside."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy
from flint import arb, arb_mat
from hypothesis import given, settings

from gradcli.language.parsing import parse
from gradcli.language.program.expansion import in_primitives
from gradcli.language.program.shapes import infer
from gradcli.reference import bounds as of_arrays
from gradcli.reference.array_functions import compile_bounds
from gradcli.reference.array_values import NoSweepError, Values
from gradcli.reference.balls import Ball, precision
from gradcli.reference.bounds import LOSS, Bounds, exact, unit
from gradcli.reference.compiling import compile_ball
from gradcli.reference.duals import Reference
from gradcli.reference.rules import Undefined
from gradcli.reference.sweep import Sweep
from tests.programs import Random, programs

KINDS = (np.float64, np.longdouble)
BITS = 256


def _as_ball(number: Any) -> Ball:
    """A number of either kind, exactly."""
    near = float(number)
    return arb(near) + arb(float(number - near)) if np.isfinite(near) else arb(near)


def _holds(bounds: Bounds, place: Any, truth: Ball) -> bool:
    middle, radius = bounds.middle[place], bounds.radius[place]
    return bool(not np.isfinite(radius) or abs(truth - _as_ball(middle)).lower() <= _as_ball(radius).upper())


FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Ball], Ball], tuple[float, float]]] = {
    "exp": (np.exp, arb.exp, (-700, 700)),
    "log": (np.log, arb.log, (1e-300, 1e300)),
    "sin": (np.sin, arb.sin, (-1e6, 1e6)),
    "cos": (np.cos, arb.cos, (-1e6, 1e6)),
    "arcsin": (np.arcsin, arb.asin, (-1, 1)),
    "arccos": (np.arccos, arb.acos, (-1, 1)),
    "arctan": (np.arctan, arb.atan, (-1e3, 1e3)),
    "sinh": (np.sinh, arb.sinh, (-700, 700)),
    "cosh": (np.cosh, arb.cosh, (-700, 700)),
    "tanh": (np.tanh, arb.tanh, (-20, 20)),
    "arcsinh": (np.arcsinh, arb.asinh, (-1e5, 1e5)),
    "arccosh": (np.arccosh, arb.acosh, (1, 1e5)),
    "arctanh": (np.arctanh, arb.atanh, (-1, 1)),
    "sqrt": (np.sqrt, arb.sqrt, (0, 1e300)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_functions_lose_less_than_is_assumed(name: str, kind: type[np.floating[Any]]) -> None:
    """The one thing that is not proved: at points over the whole range, small ones and large ones alike."""
    function, truth, (low, high) = FUNCTIONS[name]
    generator = np.random.default_rng(0)
    points = np.concatenate(
        [
            generator.uniform(low, high, 1000),
            np.clip(np.exp(generator.uniform(-40, 40, 1000)) * generator.choice([-1, 1], 1000), low, high),
        ]
    )
    if name in ("sin", "cos"):  # next to their zeros, where the argument is what is hard to reduce
        points = np.concatenate([points, np.pi / 2 * np.arange(1, 600_000, 997)])
    points = points[(points > low) & (points < high)]
    found = function(points.astype(kind))
    with precision(BITS):
        for point, number in zip(points.tolist(), found, strict=True):
            exact_value = truth(arb(point))
            assert abs(exact_value - _as_ball(number)) <= abs(exact_value) * LOSS / 2 * unit(found)


def test_quotients_at_the_ends_of_the_range_hold_the_truth() -> None:
    """Where products of small numbers are 0 in floats, and what they are divided by is small too."""
    generator = np.random.default_rng(0)
    a, b = (2.0 ** generator.uniform(-1070, -900, 2_000) for _ in range(2))
    wide = 2.0 ** generator.uniform(-1074, -1000, 2_000)
    with np.errstate(all="ignore"):
        found = of_arrays.divide(exact(a), Bounds(b, np.minimum(wide, b / 4)))
    with precision(BITS):
        for n in range(len(a)):
            for side in (-1, 1):
                truth = arb(a[n]) / (arb(b[n]) + side * arb(float(np.minimum(wide, b / 4)[n])))
                assert _holds(found, n, truth), (a[n], b[n], wide[n])


def test_matrix_products_and_inverses_hold_the_truth() -> None:
    """With inputs that are bounds themselves, cancellation and zeros."""
    generator = np.random.default_rng(0)
    for kind in KINDS:
        a: Any = generator.normal(size=(7, 7)).astype(kind)
        a[2] = 0
        wide = Bounds(a, np.full_like(a, 1e-12))
        b = exact(generator.normal(size=(7, 5)), kind)
        found = of_arrays.product(wide, b)
        inside = a + generator.uniform(-1, 1, a.shape) * 1e-12
        with precision(BITS):
            truth = arb_mat([[_as_ball(x) for x in row] for row in inside]) * arb_mat(
                [[_as_ball(x) for x in row] for row in b.middle]
            )
            assert all(_holds(found, (i, j), truth[i, j]) for i in range(7) for j in range(5))
            c = exact(generator.normal(size=(6, 6)) + 3 * np.eye(6), kind)
            inverse, right = of_arrays.inverse(c), arb_mat([[_as_ball(x) for x in row] for row in c.middle]).inv()
            assert all(_holds(inverse, (i, j), right[i, j]) for i in range(6) for j in range(6))
            assert inverse.radius.max() < 1e-9


def test_a_singular_matrix_has_no_known_inverse() -> None:
    """Nor one that only rounding makes regular."""
    assert not of_arrays.inverse(exact(np.ones((3, 3)))).is_known.any()


@pytest.mark.parametrize(
    "text",
    ["x**3", "x**2", "x**(-3)", "sqrt(x)", "x*y", "x/y", "exp(x*y)", "log(x)", "tanh(x) - x", "sin(x)*cos(y)", "y**x",
     "1 - x*x", "atan(x/y)", "Abs(x - y)", "Piecewise((x, x > y), (y, True))", "x**(1/3)", "tan(x)", "atan2(y, x)"],
)  # fmt: skip
def test_expressions_hold_all_that_their_operands_may_be(text: str) -> None:
    """Whatever the truth is within the bounds of the operands: tried at their ends and inside."""
    x, y = (sympy.Symbol(name, real=True) for name in "xy")
    expression = sympy.sympify(text, {"x": x, "y": y})
    generator = np.random.default_rng(0)
    middles = np.concatenate([generator.normal(size=(2, 200)), generator.uniform(0.01, 3, size=(2, 200))], axis=1)
    radii = np.exp(generator.uniform(-40, 0, size=middles.shape)) * (generator.random(middles.shape) < 0.8)
    with np.errstate(all="ignore"):
        found = compile_bounds(expression)({x: Bounds(middles[0], radii[0]), y: Bounds(middles[1], radii[1])})
    function = compile_ball(expression)
    with precision(BITS):
        for n in range(middles.shape[1]):
            for side in (-1.0, 0.0, 1.0, 0.3):
                ends = [arb(middles[k, n]) + arb(radii[k, n]) * (side if k == 0 else -side) for k in (0, 1)]
                truth = function({x: ends[0], y: ends[1]})
                if truth.is_finite():
                    assert _holds(found, n, truth), (text, middles[:, n], radii[:, n])


def _is_open(truth: Ball | Undefined) -> bool:
    """Whether balls of these bits do not know a truth; what has none is not known by bounds either."""
    assert not isinstance(truth, Undefined) or not truth.decided, truth
    return isinstance(truth, Undefined)


def _adjoints_hold(text: str, at: dict[str, Any], v: Any = None) -> tuple[int, int]:
    """How many entries of J are known, back and forward in each kind of numbers, and of how many."""
    program = in_primitives(parse(text))
    arrays = {name: np.asarray(at[name], dtype=np.float64) for name in program.names}
    shapes = infer(program, {symbol: arrays[str(symbol)].shape for symbol in program.variables})
    y = shapes.get(program.output, ())
    count = math.prod(y)
    directions = [(s, j) for s in program.variables for j in range(arrays[str(s)].size)]
    found = Reference(program, shapes, arrays).plan(directions).run(BITS)
    known: int = 0
    for kind in KINDS:
        values = Values(program, shapes, arrays, program.variables, kind)
        sweep = Sweep(values)
        value = Bounds(*(np.broadcast_to(part, y).ravel() for part in (values.value.middle, values.value.radius)))
        flows = sweep.adjoints(np.eye(count).reshape(count, *y))
        with precision(BITS):
            for row, truth in found.values.items():
                if value.is_known[row]:
                    assert _is_open(truth) or _holds(value, row, truth)
            for d, (symbol, j) in enumerate(directions):
                way = np.zeros((1, *arrays[str(symbol)].shape))
                way.reshape(-1)[j] = 1
                back = flows[symbol].bounds.mapped(lambda x: x.reshape(count, -1))
                forward = sweep.tangents({symbol: way}).bounds.mapped(lambda x: x.reshape(1, count).T)
                for block, place in ((back, j), (forward, 0)):
                    for row in np.flatnonzero(block.is_known[:, place] & value.is_known).tolist():
                        truth = found.columns.get((d, row), arb(0))
                        assert _is_open(truth) or _holds(block, (row, place), truth), (text, at, str(symbol), j, row)
                        known += 1
    return known, 4 * count * len(directions)


@settings(max_examples=300, deadline=None)
@given(programs())
def test_random_programs_hold_the_truth(program: Random) -> None:
    """Values and all of the Jacobian, at kinks and outside of domains too."""
    try:
        _adjoints_hold(program.text, {name: leaf.detach().numpy() for name, leaf in program.leaves.items()})
    except NoSweepError:
        return


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("cat([x, 2*x])[1:4]", {"x": [1.0, 2, 3]}),
        ("flip(roll(x, 1), 0)*x", {"x": [1.0, 2, 3]}),
        ("pad(x, (1, 2))*pad(x, (1, 2))", {"x": [1.0, 2]}),
        ("A@x", {"A": [[1.0, 2], [3, 4]], "x": [5.0, 6]}),
        ("x@A@x", {"A": [[1.0, 2], [3, 4]], "x": [5.0, 6]}),
        ("A@B", {"A": [[1.0, 2], [3, 4]], "B": [[5.0, 6, 7], [7, 8, 9]]}),
        ("inv(A)", {"A": [[1.0, 2], [3, 5]]}),
        ("softmax(x)", {"x": [1.0, 2, 3]}),
        ("amax(x)*amin(x)", {"x": [1.0, 5, 3]}),
        ("prod(x)", {"x": [1.0, 0, 3]}),
        ("cumsum(x)**2", {"x": [1.0, 5, 3]}),
        ("std(x)", {"x": [1.0, 5, 3]}),
        ("stack([x, 2*x]).sum(0)*x[0]", {"x": [1.0, 5, 3]}),
        ("(x - x.mean(1, keepdim=True))/x.std(1, keepdim=True)", {"x": [[1.0, 5, 3], [2, 2, 7]]}),
        ("where(x > 1, x**2, sin(x))", {"x": [0.5, 5, 3]}),
        ("x**y + atan2(x, y)", {"x": [0.5, 5.0], "y": [-1.5, 2.0]}),
        ("where(x > 1, x**2, x**2)", {"x": [1.0, 2.0]}),
        ("x/3 - y/7", {"x": [0.1], "y": [1e300]}),
        ("clamp(x, 0, 1)*relu(x)", {"x": [0.5, 5, -3]}),
        ("sigmoid(x)*tanh(x) + gelu(x)", {"x": [0.5, 5, -3]}),
        ("x[0]*x[1] + x.expand(2, 3).sum()", {"x": [0.5, 5, -3]}),
        ("einsum('ij,jk->ki', A, B)", {"A": [[1.0, 2], [3, 4]], "B": [[5.0, 6], [7, 8]]}),
    ],
)
def test_every_kind_of_operation_is_swept(text: str, at: dict[str, Any]) -> None:
    """All entries are known, and hold the truth."""
    known, entries = _adjoints_hold(text, at)
    assert known == entries


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("relu(x)", {"x": [0.0]}),
        ("abs(x)", {"x": [0.0]}),
        ("amax(x)", {"x": [2.0, 2.0]}),
        ("maximum(x, y)", {"x": [2.0], "y": [2.0]}),
        ("where(x > 1, x, 2*x)", {"x": [1.0]}),
        ("sqrt(x)", {"x": [0.0]}),
        ("log(x)", {"x": [-1.0]}),
        ("floor(x)", {"x": [2.0]}),
        ("0*log(x)", {"x": [-1.0]}),
        ("norm(x)", {"x": [0.0, 0.0]}),
    ],
)
def test_where_there_is_no_derivative_nothing_is_known(text: str, at: dict[str, Any]) -> None:
    """At kinks, ties, edges of domains and outside of them."""
    program = in_primitives(parse(text))
    arrays = {name: np.asarray(at[name], dtype=np.float64) for name in program.names}
    shapes = infer(program, {symbol: arrays[str(symbol)].shape for symbol in program.variables})
    for kind in KINDS:
        values = Values(program, shapes, arrays, program.variables, kind)
        sweep = Sweep(values)
        y = shapes[program.output]
        flows = sweep.adjoints(np.eye(int(np.prod(y))).reshape(-1, *y))
        value_is_known = bool(np.all(values.value.is_known))
        assert not value_is_known or not any(flow.bounds.is_known.all() for flow in flows.values())

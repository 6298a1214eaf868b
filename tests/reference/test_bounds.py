"""Whole arrays with bounds: the truth is inside, whatever the numbers are, and a planted error is outside."""

import math
import pkgutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import sympy
from flint import arb
from hypothesis import given, reject, settings

from gradcli.crosscheck.bounded_gradient import GradientBounds
from gradcli.language.program import sympy_functions
from gradcli.language.program.expansion import in_primitives
from gradcli.language.program.passes import for_arrays
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Shape
from gradcli.reference import bounds as of_arrays
from gradcli.reference.array_functions import compile_bounds, with_eigenvalues
from gradcli.reference.array_values import Values
from gradcli.reference.balls import Ball, precision
from gradcli.reference.bounds import LOSS, Bounds, NoRuleError, exact, unit
from gradcli.reference.compiling import compile_ball
from gradcli.reference.enclosure_plan import Reference
from gradcli.reference.rules import Undefined
from tests.examples import examples, in_turn, part
from tests.parsing import parse
from tests.programs import Random, programs

KINDS = (np.float64, np.longdouble)
BITS = 256


def _as_ball(number: Any) -> Ball:
    """A number of either kind, exactly."""
    near = float(number)
    return arb(near) + arb(float(number - near)) if np.isfinite(near) else arb(near)


def _holds(bounds: Bounds, place: Any, truth: Ball | Undefined) -> bool:
    assert not isinstance(truth, Undefined)
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


@pytest.mark.parametrize(("name", "kind"), in_turn(FUNCTIONS, *KINDS))
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
    """Products of small numbers are 0 in floats, and their divisors are small too."""
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


SPECIAL = [
    *("lgamma(x)", "polygamma(0, x)", "polygamma(1, x)", "polygamma(4, x)", "polygamma(9, x)"),
    *("sinc(x)", "erfc(x)", "erfinv(x)", "besseli(0, x)", "besseli(1, x)"),
    *("cosh(x)", "sin(x)", "cos(x)", "tan(x)", "exp(x)", "tanh(x)", "atan(x)", "log(x)", "asinh(x)", "sqrt(x)"),
]


@pytest.mark.parametrize(("text", "kind"), in_turn(SPECIAL, *KINDS))
@pytest.mark.one_in(2)
def test_special_functions_hold_all_that_their_operand_may_be(text: str, kind: type[np.floating[Any]]) -> None:
    """Near their zeros and poles and far from them, exact or not; what is exact is known to most of its digits."""
    x = sympy.Symbol("x", real=True)
    names = {
        "lgamma": sympy_functions.lgamma,
        "polygamma": sympy_functions.polygamma,
        "sinc": sympy_functions.sinc,
        "x": x,
    }
    expression = sympy.sympify(text, names)
    generator = np.random.default_rng(0)
    points = [generator.normal(size=60) * 5, generator.uniform(0.01, 30, 60), np.exp(generator.uniform(-30, 30, 60))]
    middles = np.concatenate([*points, generator.uniform(-1, 1, 60), [0.0, 1, 2, -1, 12]]).astype(kind)
    radii = (np.exp(generator.uniform(-45, 0, middles.size)) * (generator.random(middles.size) < 0.5)).astype(kind)
    with np.errstate(all="ignore"):
        found = compile_bounds(expression)({x: Bounds(middles, radii)})
    function, sharp, compared = compile_ball(expression), 0, 0
    with precision(BITS):
        for n in range(middles.size):
            for side in (-1.0, 0.0, 1.0, 0.3):
                truth = function({x: _as_ball(middles[n]) + _as_ball(radii[n]) * side})
                if truth.is_finite():
                    compared += 1
                    assert _holds(found, n, truth), (text, middles[n], radii[n])
            sharp += bool(radii[n] == 0 and found.radius[n] < 1e-9 * abs(found.middle[n]))
    assert sharp > 0.4 * np.count_nonzero(radii == 0)
    assert compared > middles.size


SCANNED = (
    *("cumprod(A, 0)", "cumprod(x)*y", "cummax(A, 1)*cummin(A, 0)", "sqrt(cummax(x*y))", "det(A)*x[0]", "inv(A)@x"),
    *("eigvalsh(A + A.T)*x", "norm(A, 'nuc')*y", "prod(A, 0)*x"),
    *("cholesky(A@A.T + eye(3))@x", "cholesky(A + 2*eye(3))*y"),
)


@pytest.mark.parametrize("text", part(SCANNED, 0, of=2))
@pytest.mark.one_in(2)
def test_random_scans_and_matrices_hold_the_truth(text: str) -> None:
    """With ties, zeros, signs and singular matrices among them."""
    generator, known = np.random.default_rng(0), 0
    for _ in range(examples(14)):
        is_whole = generator.random() < 0.5
        draw = partial(generator.integers, -2, 3) if is_whole else generator.normal
        every = {"A": draw(size=(3, 3)), "x": draw(size=3), "y": draw(size=3)}
        known += adjoints_hold(text, {name: every[name] for name in parse(text).names})[0]
    assert known > 0


def _is_open(truth: Ball | Undefined) -> bool:
    """Tell whether balls of these bits do not know a truth; bounds do not know one that is none either."""
    assert not isinstance(truth, Undefined) or not truth.decided, truth
    return isinstance(truth, Undefined)


def adjoints_hold(text: str, at: dict[str, Any], v: Any = None) -> tuple[int, int]:
    """Count the entries of J that are known, back, simplified too, and forward in each kind of numbers, and all."""
    typed = parse(text, shapes={name: np.shape(array) for name, array in at.items()})
    program, kept = in_primitives(typed), for_arrays(typed)
    arrays = {name: np.asarray(at[name], dtype=np.float64) for name in program.names}
    shapes, of_kept = (
        infer(one, {symbol: arrays[str(symbol)].shape for symbol in one.variables}) for one in (program, kept)
    )
    y = shapes.get(program.output, ())
    count = math.prod(y)
    directions = [(s, j) for s in program.variables for j in range(arrays[str(s)].size)]
    found = Reference(program, shapes, arrays).plan(directions).run(BITS)
    known: int = 0
    for kind in KINDS:
        values = Values(kept, of_kept, arrays, program.variables, kind)
        value = values.value.mapped(np.ravel)
        with precision(BITS):
            for row, truth in found.values.items():
                if value.is_known[row]:
                    assert _is_open(truth) or _holds(value, row, truth)
            gradient = GradientBounds(kept, of_kept, program.variables)
            swept = gradient.weighted(values, np.eye(count).reshape(count, *y))
            simpler = replace(gradient, simplifies=True).weighted(values, np.eye(count).reshape(count, *y))
            for symbol, j in directions:
                way = np.zeros((1, *arrays[str(symbol)].shape))
                way.reshape(-1)[j] = 1
                back, simple = (one[symbol].mapped(lambda x: x.reshape(count, -1)) for one in (swept, simpler))
                assert not (back.is_known & ~simple.is_known).any(), text
                forward = gradient.along(values, symbol, way).mapped(lambda x: x.reshape(1, count).T)
                for block, place in ((back, j), (simple, j), (forward, 0)):
                    for row in np.flatnonzero(block.is_known[:, place] & value.is_known).tolist():
                        truth = found.columns.get((symbol, j), {}).get(row, arb(0))
                        assert _is_open(truth) or _holds(block, (row, place), truth), (text, at, str(symbol), j, row)
                        known += 1
    return known, 6 * count * len(directions)


@settings(max_examples=examples(150), deadline=None)
@given(programs())
def test_random_programs_hold_the_truth(program: Random) -> None:
    """Values and all of the Jacobian, at kinks and outside of domains too."""
    try:
        adjoints_hold(program.text, {name: leaf.detach().numpy() for name, leaf in program.leaves.items()})
    except NoRuleError:
        reject()


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("cat([x, 2*x])[1:4]", {"x": [1.0, 2, 3]}),
        ("A@x", {"A": [[1.0, 2], [3, 4]], "x": [5.0, 6]}),
        ("amax(windows(pad(x, (1, 2), value=-inf), 0, 3, 2), 1)", {"x": [1.0, 5, 3, 2, 4]}),
        ("amin(pad(x, (2, 1), value=inf))*x", {"x": [1.0, 5, 3]}),
        ("inv(A)", {"A": [[1.0, 2], [3, 5]]}),
        ("cumprod(x)", {"x": [1.0, 0, 3, 0, 2]}),
        ("cummax(x)*cummin(x)", {"x": [1.0, 5, 3, 7, -2]}),
        ("logcumsumexp(x)", {"x": [1.0, 5, 3]}),
        ("det(A)", {"A": [[1.0, 2, 3], [3, 5, 1], [2, 2, 9]]}),
        ("eigvalsh(A + A.T)", {"A": [[1.0, 2, 3], [3, 5, 1], [2, 2, 9]]}),
        ("norm(A, 2) + norm(A, 'nuc')", {"A": [[1.0, 2, 3], [3, 5, 1], [2, 2, 9]]}),
        ("cholesky_solve(A, cholesky(A))*cholesky_solve(B, A)", {"A": [[4.0, 1], [1, 5]], "B": [[4.0, 1], [2, 1]]}),
        ("cholesky(A) + cholesky(A, upper=True)", {"A": [[4.0, 1, 2], [1, 5, 1], [2, 1, 9]]}),
        ("logdet(A)*slogdet(A).logabsdet", {"A": [[2.0, 1], [3, 5]]}),
        ("lgamma(x)*digamma(x)", {"x": [0.5, 5.25, 30, 1e-3, -2.5, 1e9]}),
        ("(x - x.mean(1, keepdim=True))/x.std(1, keepdim=True)", {"x": [[1.0, 5, 3], [2, 2, 7]]}),
        ("where(x > 1, x**2, x**2)", {"x": [1.0, 2.0]}),
        ("sigmoid(x)*tanh(x) + gelu(x)", {"x": [0.5, 5, -3]}),
        ("einsum('ij,jk->ki', A, B)", {"A": [[1.0, 2], [3, 4]], "B": [[5.0, 6], [7, 8]]}),
    ],
)
@pytest.mark.one_in(4)
def test_every_kind_of_operation_is_swept(text: str, at: dict[str, Any]) -> None:
    """All entries are known, and hold the truth."""
    known, entries = adjoints_hold(text, at)
    assert known == entries


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("a", "w"), [((3, 3), (3,)), ((2, 3, 3), (3,)), ((3, 3), (2, 3)), ((1, 4, 4), (4, 4)), ((2, 1, 3, 3), (5, 3))]
)
def test_matrices_with_other_eigenvalues_are_enclosed(a: Shape, w: Shape, kind: type[Any]) -> None:
    """By the sum of projections on balls; the eigenvalue 0 needs no projection, which equal ones do not have."""
    generator = np.random.default_rng(0)
    matrix, numbers = generator.normal(size=a), generator.normal(size=w)
    matrix = matrix + np.swapaxes(matrix, -1, -2)
    at = {"A": matrix, "w": numbers}
    program = in_primitives(parse("with_eigenvalues(A, w)", shapes={n: x.shape for n, x in at.items()}))
    shapes = infer(program, {symbol: at[str(symbol)].shape for symbol in program.variables})
    truth = Reference(program, shapes, at).plan([], judges_value=True).run(BITS).values
    found = with_eigenvalues(exact(matrix[None], kind), exact(numbers[None], kind)).mapped(np.ravel)
    assert found.is_known.all()
    with precision(BITS):
        assert len(truth) == found.middle.size
        assert all(_holds(found, n, one) for n, one in truth.items())
    equal = exact(np.diag([1.0, 1, 2])[None], kind)
    with np.errstate(all="ignore"):
        lost, kept = (with_eigenvalues(equal, exact(np.array([one]), kind)) for one in ([1.0, 0, 1], [0.0, 0, 3]))
    assert not lost.is_known.all()
    assert kept.is_known.all()
    np.testing.assert_allclose(kept.middle[0], np.diag([0, 0, 3]), atol=1e-15)


SQUARE = {"A": [[4.0, 1, 2], [1, 5, 1], [2, 1, 9]]}
VECTOR = {"x": [1.0, 5, 3]}


@pytest.mark.parametrize(
    ("rule", "text", "at"),
    [
        ("array_values.spread", "x[:, None]*x", VECTOR),
        ("array_values._gathered", "flip(x, 0)*x", VECTOR),
        ("array_values._padded", "x[1:]**2", VECTOR),
        ("array_values._taken", "elements_at(x, [0, 2, 0])*x", VECTOR),
        ("array_values._added_up", "sums_at(x, [1, 0, 1], 0, 3)*x", VECTOR),
        ("array_values.product", "A@A", SQUARE),
        ("array_values.larger", "cummax(x)", VECTOR),
        ("array_values.multiply", "prod(x)", VECTOR),
        ("array_values.chosen", "where(x > 1, x**2, x)", VECTOR),
        ("array_values.extreme", "amax(x)", VECTOR),
        ("array_values.inverse", "inv(A)", SQUARE),
        ("array_values.determinant", "det(A)", SQUARE),
        ("array_values.cholesky", "cholesky(A)", SQUARE),
        ("array_values.eigenvalues", "eigvalsh(A)", SQUARE),
    ],
)
def test_an_error_in_one_rule_is_caught(
    rule: str, text: str, at: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that changes every number by a millionth: the truth is outside."""
    owner, _, name = f"gradcli.reference.{rule}".rpartition(".")
    right = getattr(pkgutil.resolve_name(owner), name)
    monkeypatch.setattr(f"{owner}.{name}", lambda *given, **options: _off(right(*given, **options)))
    with pytest.raises(AssertionError):
        adjoints_hold(text, at)


def _off(found: Any) -> Any:
    if isinstance(found, tuple):
        return _off(found[0]), *found[1:]
    if not isinstance(found, Bounds):  # the radii move as the middles do
        return found * (1 + 1e-6)
    return Bounds(found.middle * (1 + 1e-6), found.radius)

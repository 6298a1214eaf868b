"""Formulas of directional and second derivatives against torch's numbers, at sizes that are numbers and symbols."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
import pytest
import sympy
from flint import arb

from gradcli.autodiff import hessians as torch_second
from gradcli.autodiff.run import run
from gradcli.language.parsing import parse
from gradcli.language.program.expansion import in_primitives
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Program
from gradcli.reference.compiling import compile_ball, environment
from gradcli.symbolic import derivative as formulas
from gradcli.symbolic.derivative import Derivative
from tests.symbolic.test_derivative import COLLAPSES, LARGE_M, LARGE_N, M, N, _point

MOST = 40
"""Entries at which a formula is evaluated."""

Inputs = Mapping[str, np.ndarray]


def _shapes(program: Program, at: Inputs) -> formulas.Shapes:
    return infer(program, {symbol: at[str(symbol)].shape for symbol in program.variables})


def _directions(at: Inputs) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(11)
    return {name: generator.uniform(-1, 1, array.shape) for name, array in at.items()}


def _require_equal(derivative: Derivative, known: Inputs, expected: np.ndarray) -> None:
    """The formula at evenly spaced entries, evaluated one by one, is torch's number there."""
    env = environment(
        {
            sympy.Symbol(k, real=True): (lambda *i, a=a: arb(float(a[i]))) if a.ndim else arb(float(a))
            for k, a in known.items()
        }
    )
    env |= derivative.sizes
    indices = list(itertools.product(*map(range, expected.shape)))
    for index in indices[:: max(1, len(indices) // MOST)]:
        row, column = index[: len(derivative.rows)], index[len(derivative.rows) :]
        expression, values = derivative.at(row, column)
        found = float(compile_ball(expression)({**env, **values}).mid())
        np.testing.assert_allclose(found, expected[index], rtol=1e-7, atol=1e-9, err_msg=str(index))


SIZES = pytest.mark.parametrize(("n", "m"), [(N, M), (LARGE_N, LARGE_M)], ids=["numbers", "symbols"])
CASES = pytest.mark.parametrize(("text", "shapes"), COLLAPSES, ids=[text for text, _ in COLLAPSES])


@SIZES
@CASES
def test_ju_is_what_torch_gives(text: str, shapes: dict[str, str], n: int, m: int) -> None:
    """With all variables moving."""
    at = _point(shapes, n, m)
    u = _directions(at)
    expected = torch_second.jvp(run(parse(text), at, tuple(at), "float64"), u)
    program = in_primitives(parse(text))
    names = formulas.direction_names(program, list(at))
    derivative = formulas.jvp(program, _shapes(program, at), names)
    _require_equal(derivative, {**at, **{names[name]: array for name, array in u.items()}}, expected)


@SIZES
@CASES
def test_a_hessian_and_hu_are_what_torch_gives(text: str, shapes: dict[str, str], n: int, m: int) -> None:
    """Of the sum of squares, so that products of everything with everything arise; the last variable moves."""
    at = _point(shapes, n, m)
    squares = f"sum(({text})**2)"
    program = in_primitives(parse(squares))
    known = _shapes(program, at)
    if n == N:
        _, blocks = torch_second.hessian(run(parse(squares), at, tuple(at), "float64"), tuple(at))
        for x, z in itertools.combinations_with_replacement(program.variables, 2):
            block = formulas.hessian(program, known, x, z)
            _require_equal(block, at, blocks[str(x)][str(z)])
            _require_equal(formulas.transposed(block), at, blocks[str(z)][str(x)])
    name = list(at)[-1]
    u = {name: _directions(at)[name]}
    _, _, products = torch_second.hvp(run(parse(squares), at, tuple(at), "float64"), u, tuple(at))
    names = formulas.direction_names(program, [name])
    for symbol in program.variables:
        derivative = formulas.hvp(program, known, names, symbol)
        _require_equal(derivative, {**at, names[name]: u[name]}, products[str(symbol)])

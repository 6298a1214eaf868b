"""Formulas of directional and second derivatives against torch's numbers, at sizes that are numbers and symbols."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np

from gradcli.autodiff import jacobians as torch_second
from gradcli.autodiff.run import run
from gradcli.language.program.expansion import in_primitives
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Program
from gradcli.symbolic import derivative as formulas
from gradcli.symbolic.derivative import Derivative
from tests.parsing import parse
from tests.symbolic.collapses import COLLAPSES, LARGE_M, LARGE_N, SIZES, M, N, point, require_equal

MOST = 40
"""Entries at which a formula is evaluated."""

Inputs = Mapping[str, np.ndarray]


def _shapes(program: Program, at: Inputs) -> formulas.Shapes:
    return infer(program, {symbol: at[str(symbol)].shape for symbol in program.variables})


def _directions(at: Inputs) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(11)
    return {name: generator.uniform(-1, 1, array.shape) for name, array in at.items()}


def _require_equal(derivative: Derivative, known: Inputs, expected: np.ndarray) -> None:
    require_equal(derivative, known, expected, MOST, 1e-7, 1e-9)


@SIZES
@COLLAPSES
def test_ju_is_what_torch_gives(text: str, shapes: dict[str, str], n: int, m: int) -> None:
    """With all variables moving."""
    at = point(shapes, n, m)
    u = _directions(at)
    expected = torch_second.jvp(run(parse(text), at, tuple(at), "float64"), u)
    program = in_primitives(parse(text))
    names = formulas.direction_names(program, list(at))
    derivative = formulas.jvp(program, _shapes(program, at), names)
    _require_equal(derivative, {**at, **{names[name]: array for name, array in u.items()}}, expected)


@COLLAPSES
def test_a_hessian_is_what_torch_gives(text: str, shapes: dict[str, str]) -> None:
    """Of the sum of squares, so that products of everything with everything arise."""
    at = point(shapes, N, M)
    squares = f"sum(({text})**2)"
    program = in_primitives(parse(squares))
    known = _shapes(program, at)
    _, blocks = torch_second.hessian(run(parse(squares), at, tuple(at), "float64"), tuple(at))
    for x, z in itertools.combinations_with_replacement(program.variables, 2):
        block = formulas.hessian(program, known, x, z)
        _require_equal(block, at, blocks[str(x)][str(z)])
        _require_equal(formulas.transposed(block), at, blocks[str(z)][str(x)])


@COLLAPSES
def test_hu_is_what_torch_gives(text: str, shapes: dict[str, str]) -> None:
    """Of the same at sizes that are symbols; the last variable moves."""
    at = point(shapes, LARGE_N, LARGE_M)
    squares = f"sum(({text})**2)"
    program = in_primitives(parse(squares))
    name = list(at)[-1]
    u = {name: _directions(at)[name]}
    _, _, products = torch_second.hvp(run(parse(squares), at, tuple(at), "float64"), u, tuple(at))
    names = formulas.direction_names(program, [name])
    for symbol in program.variables:
        derivative = formulas.hvp(program, _shapes(program, at), names, symbol)
        _require_equal(derivative, {**at, names[name]: u[name]}, products[str(symbol)])

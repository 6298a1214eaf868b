"""Random expressions, written twice: for gradcli and for SymPy; and random programs, which plain torch runs too."""

import hypothesis.strategies as st
import numpy as np
import pytest
import sympy
import torch
from hypothesis import HealthCheck, given, settings

from gradcli import Function
from tests.checks import check_of
from tests.examples import examples
from tests.programs import Random, programs, require_fair

X, Y = sympy.symbols("x y", real=True)
Pair = tuple[str, sympy.Expr]

_LEAVES: list[Pair] = [
    ("x", X),
    ("y", Y),
    ("2", sympy.Integer(2)),
    ("1/3", sympy.Rational(1, 3)),
    ("0.5", sympy.Rational(1, 2)),
]
_ONE = {
    "sin": sympy.sin,
    "cos": sympy.cos,
    "tanh": sympy.tanh,
    "atan": sympy.atan,
    "exp": sympy.exp,
    "erf": sympy.erf,
    "asinh": sympy.asinh,
    "sigmoid": lambda a: 1 / (1 + sympy.exp(-a)),
}


def _apply(name: str, inner: Pair) -> Pair:
    text, expression = inner
    return f"{name}({text})", _ONE[name](expression)


def _join(sign: str, a: Pair, b: Pair) -> Pair:
    joined = {"+": a[1] + b[1], "-": a[1] - b[1], "*": a[1] * b[1], "/": a[1] / (1 + b[1] ** 2)}[sign]
    return (f"({a[0]} {sign} {b[0]})" if sign != "/" else f"({a[0]} / (1 + ({b[0]})**2))"), joined


expressions = st.recursive(
    st.sampled_from(_LEAVES),
    lambda inner: st.one_of(
        st.builds(_apply, st.sampled_from(sorted(_ONE)), inner), st.builds(_join, st.sampled_from("+-*/"), inner, inner)
    ),
    max_leaves=7,
)
points = st.floats(-1.5, 1.5).map(lambda number: round(number, 3))


@settings(max_examples=examples(150), deadline=None)
@given(pair=expressions, x=points, y=points)
def test_every_reading_meets_sympy(pair: Pair, x: float, y: float) -> None:
    """Value and gradient by torch, the verdict of the reference, and a formula wherever there is a derivative."""
    text, expression = pair
    at = {name: value for name, value in (("x", x), ("y", y)) if name in Function(text).variables}
    exact = {X: sympy.Rational(*x.as_integer_ratio()), Y: sympy.Rational(*y.as_integer_ratio())}
    answer = Function(text).grad(at)
    assert float(answer.value) == pytest.approx(float(expression.subs(exact).evalf(30)), rel=1e-11, abs=1e-13)
    for name in at:
        truth = expression.diff(sympy.Symbol(name, real=True)).subs(exact).evalf(30)
        assert float(answer.grad[name]) == pytest.approx(float(truth), rel=1e-10, abs=1e-12)
        assert name in answer.symbolic
    assert check_of(answer).verdict in ("agree", "inaccurate")


@settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(program=programs())
def test_the_readings_of_a_random_program_agree(program: Random) -> None:
    """The numbers of plain torch, no formula refuted, and no derivative denied but at a kink."""
    used = Function(program.text).variables
    leaves = {name: program.leaves[name] for name in used}
    answer = Function(program.text).vjp({name: leaf.detach().numpy() for name, leaf in leaves.items()}, "ones")
    y = program.nodes[-1].value
    np.testing.assert_array_equal(answer.value, y.detach().numpy(), strict=True)
    if y.requires_grad:
        gradients = torch.autograd.grad(y, list(leaves.values()), torch.ones_like(y), allow_unused=True)
        for name, expected in zip(used, gradients, strict=True):
            found = answer.vjp[name]  # a repeated sub-expression is one line, so that tangents add up in another order
            size = 1e-12 * np.abs(found).max(initial=1.0)
            np.testing.assert_allclose(found, 0 if expected is None else expected.numpy(), rtol=0, atol=size)
    assert not any("disagrees" in reason for reason in answer.symbolic_omitted.values()), answer.symbolic_omitted
    require_fair(check_of(answer), program)

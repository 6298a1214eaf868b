"""Random smooth expressions, written twice: as text for gradcli, as objects for SymPy."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
import sympy
from hypothesis import given, settings

from gradcli import Function

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


@settings(max_examples=150, deadline=None)
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
    assert answer.check is not None
    assert answer.check.verdict in ("agree", "inaccurate") if at else answer.check.verdict == "unchecked"

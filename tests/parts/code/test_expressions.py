"""Expressions that write themselves: the text, evaluated on numbers, is what the same code computes on numbers."""

import operator
from collections.abc import Callable
from typing import Any

import pytest
import sympy
from hypothesis import given, reject, strategies as st

from gradcli.parts.code.self_writing import PyExpr, PyNumber, constant, node_of

VALUES = {"x": 0.7, "y": -1.3, "n": 3}
SIGNS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.lt, operator.ge, operator.eq]

leaves = st.sampled_from([*VALUES, -2, 2, 0.5])
trees = st.recursive(
    leaves,
    lambda inner: st.tuples(st.sampled_from(SIGNS), inner, inner) | st.tuples(st.just(operator.neg), inner),
    max_leaves=12,
)


def built(tree: Any, leaf: Callable[[Any], Any]) -> Any:
    """The operations of a tree on what its leaves are."""
    if not isinstance(tree, tuple):
        return leaf(tree)
    return tree[0](*(built(part, leaf) for part in tree[1:]))


@given(tree=trees)
def test_parentheses_stand_where_they_are_needed(tree: Any) -> None:
    """The text of any tree of signs has the value of the tree."""

    def written(leaf: Any) -> Any:
        return PyExpr(leaf) if isinstance(leaf, str) else PyNumber(leaf, node_of(leaf))

    try:
        expected = built(tree, lambda leaf: VALUES.get(leaf, leaf) if isinstance(leaf, str) else leaf)
    except ZeroDivisionError:
        reject()
    assert eval(str(built(tree, written)), dict(VALUES)) == expected


CALLS = [
    (PyExpr("x") ** 2, "x**2"),
    (PyExpr("x") ** PyExpr("y") ** 2, "x**y**2"),
    ((PyExpr("x") ** 2) ** 2, "(x**2)**2"),
    (-(PyExpr("x") ** 2), "-x**2"),
    (2 / PyExpr("x"), "2 / x"),
    (constant(sympy.Integer(0)) < PyExpr("x"), "0 < x"),
    (PyExpr("x") < constant(sympy.Integer(0)), "x < 0"),
    (~(PyExpr("x") > 0), "~(x > 0)"),
    ((PyExpr("a") & PyExpr("b")) | PyExpr("c"), "a & b | c"),
    ((PyExpr("x") + 1).sum(dim=(0, 1), keepdim=True), "(x + 1).sum(dim=(0, 1), keepdim=True)"),
    (PyExpr("x")[0, ..., None, 1::2, :-1], "x[0, ..., None, 1::2, :-1]"),
    (PyExpr("torch").nn.functional.gelu(PyExpr("x")), "F.gelu(x)"),
    (PyExpr("f")(*PyExpr("g")([1, 2.5], (3,), "it's", float)), 'f(*g([1, 2.5], (3,), "it\'s", float))'),
    (PyExpr("x") * constant(sympy.Rational(1, 3)), "x * (1 / 3)"),
    (PyExpr("x") + float("-inf"), "x + -torch.inf"),
]


@pytest.mark.parametrize(("value", "text"), CALLS, ids=str)
def test_calls_write_themselves(value: PyExpr, text: str) -> None:
    """Signs, calls, indices and constants with no more parentheses than they need."""
    assert str(value) == text


def test_a_number_is_its_value_too() -> None:
    """So that code which asks for the numbers among its operands finds it."""
    size = PyNumber(3, "x.numel()")
    assert isinstance(size, float)
    assert float(size) == 3
    assert str(size * PyExpr("x")) == "x.numel() * x"

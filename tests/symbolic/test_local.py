"""Operations as short mathematics, their local derivatives, and rules for adjoints."""

from __future__ import annotations

import pytest

from gradcli.language.program.wengert import Atom, Program
from gradcli.notation import Bar
from gradcli.symbolic.operations import Rule, rule, slope, written
from tests.parsing import parse


def _names(program: Program) -> dict[Atom, str]:
    names: dict[Atom, str] = {symbol: str(symbol) for symbol in program.variables}
    return names | {line.symbol: f"t{n}" for n, line in enumerate(program.lines, 1)}


@pytest.mark.parametrize(
    ("text", "plain", "pretty"),
    [
        ("x**-12", "x**(-12)", "x⁻¹²"),
        ("x**0.5", "x**0.5", "x^0.5"),
        ("x**(1/3)", "x**(1/3)", "x^(1/3)"),
        ("x**z", "x**z", "x^z"),
        ("(-2)**x", "(-2)**x", "(-2)^x"),
        ("x - (-1)", "x - (-1)", "x - (-1)"),
        ("x/(1/3)", "x/(1/3)", "x/(1/3)"),
        ("x.T", "x.T", "xᵀ"),
        ("x[0, 1:, None, ...]", "x[0, 1:, None, ...]", "x[0, 1:, None, ...]"),
        ("sum(x, dim=1, keepdim=True)", "sum(x, dim=1, keepdim=True)", "sum(x, dim=1, keepdim=True)"),
        ("stack([x, z], dim=1)", "stack([x, z], dim=1)", "stack([x, z], dim=1)"),
        ("x.view(2, -1)", "reshape(x, (2, -1))", "reshape(x, (2, -1))"),
        ("einsum('i,i->', x, z)", "einsum('i,i->', x, z)", "einsum('i,i->', x, z)"),
        ("x*pi", "x*pi", "x·π"),
        ("where(x >= z, 1, 0)", "where(t1, 1, 0)", "where(t1, 1, 0)"),
        ("polygamma(1, x)", "polygamma(x, 1)", "polygamma(x, 1)"),
    ],
)
def test_an_operation_is_written_in_the_names_of_its_operands(text: str, plain: str, pretty: str) -> None:
    """In plain characters, and for people."""
    program = parse(text)
    names = _names(program)
    found = written(program.lines[-1].call, lambda atom: names[atom])
    assert (found.text, found.pretty) == (plain, pretty)


@pytest.mark.parametrize(
    ("text", "operand", "expected"),
    [
        ("x**2", "x", "2·x"),
        ("x/z", "z", "(-x/z²)"),
        ("tanh(x)", "x", "(1 - tanh(x)²)"),
        ("x - z", "z", "(-1)"),
        ("2**x", "x", "log(2)·2^x"),
        ("where(x > z, x, z)", "x", "(1 where t1, else 0)"),
        ("where(x > z, x, z)", "z", "(0 where t1, else 1)"),
        ("masked_fill(x, x < 0, 0)", "x", "(0 where t1, else 1)"),
    ],
)
def test_the_slope_of_an_operation(text: str, operand: str, expected: str) -> None:
    """On scalars, as a factor of a product."""
    program = parse(text)
    atom = next(symbol for symbol in program.variables if str(symbol) == operand)
    found = slope(program.lines[-1].call, _names(program), atom)
    assert found is not None
    assert found.factor.pretty == expected


def _rule(text: str, operand: str, *shapes: tuple[int, ...]) -> Rule:
    program = parse(text)
    line = program.lines[-1]
    names = _names(program) | {line.symbol: "y"}
    atom = next(a for a in line.call.operands if names.get(a) == operand)
    return rule(line.call, atom, names, list(shapes), "y", Bar("y"))


@pytest.mark.parametrize(
    ("text", "operand", "shapes", "plain"),
    [
        ("A @ x", "A", ((2, 3), (3,)), "outer(adj(y), x)"),
        ("A @ x", "x", ((2, 3), (3,)), "A.T @ adj(y)"),
        ("a @ b", "a", ((2,), (2,)), "adj(y)*b"),
        ("softmax(A, dim=1)", "A", ((2, 3),), "y*(adj(y) - sum(adj(y)*y, dim=1, keepdim=True))"),
        ("inv(A)", "A", ((2, 2),), "-y.T @ adj(y) @ y.T"),
        ("det(A)", "A", ((2, 2),), "adj(y)*y*inv(A).T"),
        ("solve(A, b)", "b", ((2, 2), (2,)), "inv(A).T @ adj(y)"),
        ("[a, b]", "b", ((), ()), "adj(y)[1]"),
        ("[a, b]", "a", ((), (3,)), "sum(adj(y)[0])"),
        ("cat([a, b], dim=1)", "b", ((2, 2), (2, 3)), "adj(y)[:, 2:5]"),
    ],
)
def test_the_rule_of_an_operation(text: str, operand: str, shapes: tuple[tuple[int, ...], ...], plain: str) -> None:
    """As an equation."""
    found = _rule(text, operand, *shapes)
    assert found.equation is not None
    assert found.equation.text == plain


def test_what_moves_elements_is_said_in_words() -> None:
    """An index, a sum, a running sum, a view."""
    assert "taken from" in _rule("x[0]", "x", (3,)).words
    assert _rule("sum(x)", "x", (3,)).words == "sum hands its adjoint to every element, as v = ones would"
    assert _rule("sum(A, dim=1)", "A", (2, 3)).words == "sum hands its adjoint to every element along dimension 1"
    assert "from its own place on" in _rule("cumsum(x)", "x", (3,)).words
    assert "the product of the others" in _rule("cumprod(x)", "x", (3,)).words
    assert _rule("x.view(-1)", "x", (2, 2)).words == "the elements of the adjoint go back to their places in x"

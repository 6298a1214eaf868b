"""Operations as short mathematics, their local derivatives, and rules for adjoints."""

from __future__ import annotations

import pytest

from gradcli.language import ops
from gradcli.language.parsing import parse
from gradcli.language.program.wengert import Atom, Program
from gradcli.notation import Bar
from gradcli.symbolic.operations import Rule, rule, slope, written


def _names(program: Program) -> dict[Atom, str]:
    names: dict[Atom, str] = {symbol: str(symbol) for symbol in program.variables}
    return names | {line.symbol: f"t{n}" for n, line in enumerate(program.lines, 1)}


@pytest.mark.parametrize(
    ("text", "plain", "pretty"),
    [
        ("2*x", "2*x", "2·x"),
        ("x**2", "x**2", "x²"),
        ("x**-12", "x**(-12)", "x⁻¹²"),
        ("x**0.5", "x**0.5", "x^0.5"),
        ("x**(1/3)", "x**(1/3)", "x^(1/3)"),
        ("x**z", "x**z", "x^z"),
        ("(-2)**x", "(-2)**x", "(-2)^x"),
        ("-x", "-x", "-x"),
        ("x - (-1)", "x - (-1)", "x - (-1)"),
        ("x/z", "x/z", "x/z"),
        ("x/(1/3)", "x/(1/3)", "x/(1/3)"),
        ("x @ z", "x @ z", "x @ z"),
        ("x.T", "x.T", "xᵀ"),
        ("sqrt(x)", "sqrt(x)", "√x"),
        ("abs(x)", "abs(x)", "|x|"),
        ("x[0, 1:, None, ...]", "x[0, 1:, None, ...]", "x[0, 1:, None, ...]"),
        ("sum(x)", "sum(x)", "sum(x)"),
        ("sum(x, dim=1, keepdim=True)", "sum(x, dim=1, keepdim=True)", "sum(x, dim=1, keepdim=True)"),
        ("[x, z]", "[x, z]", "[x, z]"),
        ("stack([x, z], dim=1)", "stack([x, z], dim=1)", "stack([x, z], dim=1)"),
        ("cat([x, z])", "cat([x, z])", "cat([x, z])"),
        ("x.view(2, -1)", "reshape(x, (2, -1))", "reshape(x, (2, -1))"),
        ("einsum('i,i->', x, z)", "einsum('i,i->', x, z)", "einsum('i,i->', x, z)"),
        ("x*pi", "x*pi", "x·π"),
        ("x*inf", "x*inf", "x·inf"),
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


def test_conditions_are_written_with_their_signs() -> None:
    """As people write them."""
    program = parse("where((x >= 1) & ~(x == 2), x, 0)")
    names = _names(program)
    shown = [written(line.call, lambda atom: names[atom]).pretty for line in program.lines]
    assert shown[:4] == ["x ≥ 1", "x = 2", "not t2", "t1 and t3"]


def test_long_lists_are_shortened() -> None:
    """A list of a hundred parts has its first and its last."""
    program = parse(f"[{', '.join(f'x + {n}' for n in range(1, 101))}]")
    names = _names(program)
    assert written(program.lines[-1].call, lambda a: names[a]).text == "[t1, t2, t3, t4, t5, …, t99, t100]"


@pytest.mark.parametrize("op", ops.TABLE.values(), ids=lambda op: op.name)
def test_every_operation_can_be_written(op: ops.Op) -> None:
    """Every line of its worked example, on one line."""
    program = parse(op.worked_example[0])
    names = _names(program)
    for line in program.lines:
        shown = written(line.call, lambda atom: names.get(atom, str(atom)))
        assert shown.text.isascii()
        assert "\n" not in shown.pretty


@pytest.mark.parametrize(
    ("name", "text", "pretty"),
    [("x", "adj(x)", "x\u0304"), ("t12", "adj(t12)", "t\u030412"), ("ab", "adj(ab)", "a\u0305b\u0305")],
)
def test_adjoints_have_a_bar(name: str, text: str, pretty: str) -> None:
    """Over a letter, over the letter of a numbered line, over a whole word."""
    found = Bar(name)
    assert (found.text, found.pretty) == (text, pretty)


@pytest.mark.parametrize(
    ("text", "operand", "expected"),
    [
        ("x**2", "x", "2·x"),
        ("3*x", "x", "3"),
        ("x*x", "x", "2·x"),
        ("x*z", "x", "z"),
        ("x/z", "z", "(-x/z²)"),
        ("log(x)", "x", "1/x"),
        ("exp(x)", "x", "exp(x)"),
        ("tanh(x)", "x", "(1 - tanh(x)²)"),
        ("x - z", "z", "(-1)"),
        ("2**x", "x", "log(2)·2^x"),
        ("relu(x)", "x", "{1 if x ≥ 0; 0 otherwise}"),
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
        ("x @ A", "x", ((2,), (2, 3)), "A @ adj(y)"),
        ("x @ A", "A", ((2,), (2, 3)), "outer(x, adj(y))"),
        ("A @ B", "A", ((2, 3), (3, 4)), "adj(y) @ B.T"),
        ("A @ B", "B", ((2, 3), (3, 4)), "A.T @ adj(y)"),
        ("a @ b", "a", ((2,), (2,)), "adj(y)*b"),
        ("A.T", "A", ((2, 3),), "adj(y).T"),
        ("softmax(A, dim=1)", "A", ((2, 3),), "y*(adj(y) - sum(adj(y)*y, dim=1, keepdim=True))"),
        ("log_softmax(x)", "x", ((3,),), "adj(y) - exp(y)*sum(adj(y))"),
        ("inv(A)", "A", ((2, 2),), "-y.T @ adj(y) @ y.T"),
        ("det(A)", "A", ((2, 2),), "adj(y)*y*inv(A).T"),
        ("solve(A, b)", "b", ((2, 2), (2,)), "inv(A).T @ adj(y)"),
        ("mean(x)", "x", ((4,),), "adj(y)/4"),
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

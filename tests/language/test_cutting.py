"""The rest of a Program behind a value."""

from __future__ import annotations

from gradcli.language.program.wengert import cut
from tests.parsing import parse


def _ops(text: str, name: str) -> tuple[tuple[str, ...], list[str]]:
    program = parse(text)
    rest = cut(program, program.named[name], name)
    assert len(rest.lines) <= len(program.lines)
    return rest.names, [line.call.op.name for line in rest.lines]


def test_what_comes_before_the_value_is_gone() -> None:
    """And so are the variables that it alone used."""
    assert _ops("y = sin(x); z = y**3", "y") == (("y",), ["pow"])


def test_what_goes_around_the_value_stays() -> None:
    """In z = y*exp(x), x enters beside y = x**2 too; it is held constant there."""
    assert _ops("y = x**2; z = y*exp(x)", "y") == (("x", "y"), ["exp", "mul"])


def test_the_output_is_the_function_of_itself_that_returns_it() -> None:
    """The identity, with v as its adjoint."""
    assert _ops("y = x**2", "y") == (("y",), [])


def test_a_value_that_is_not_used_is_a_variable_all_the_same() -> None:
    """Its adjoint is 0."""
    assert _ops("a = x**2; y = 3*x", "a") == (("x", "a"), ["mul"])


def test_a_variable_cuts_nothing() -> None:
    """The whole is the function of it."""
    program = parse("a = x; y = a**2")
    assert cut(program, program.named["a"], "a") is program


def test_a_line_that_uses_the_value_twice_uses_the_variable_twice() -> None:
    """With the range of the text that it came from."""
    program = parse("y = x**2; z = y*y")
    (line,) = cut(program, program.named["y"], "y").lines
    assert [str(operand) for operand in line.call.operands] == ["y", "y"]
    assert program.text[line.span.start : line.span.stop] == "y*y"

"""Definitions of functions in mathematics and Python, and what follows them."""

import pytest

from gradcli import Function
from gradcli.parts.paste.texts import read

READ = [
    ("f(x) = x^2", {"x": 3}, 9, "f"),
    ("f(x, y) = a*x*y", {"x": 3, "y": 2, "a": 5}, 30, "f"),
    ("lambda x: x**2", {"x": 3}, 9, "y"),
    ("f = lambda x, y: x*y; f(2, t)", {"t": 3}, 6, "y"),
    ("def f(x):\n    y = x**2\n    return y + 1\ny = f(3*x)", {"x": 1}, 10, "y"),
    ("def f(x): return x**2; f(2)*t", {"t": 3}, 12, "y"),
    ("def f(x, n=2): return x**n", {"x": 3}, 9, "f"),
    ("g(x) = x + 1; f(x) = g(x)^2", {"x": 3}, 16, "f"),
]


@pytest.mark.parametrize(("text", "at", "expected", "name"), READ)
def test_definitions_are_read(text: str, at: dict[str, float], expected: float, name: str) -> None:
    """A text that ends with one is that function."""
    function = Function(text)
    answer = function.eval(at)
    assert (set(function.variables), answer.output, float(answer.value)) == (set(at), name, expected)


def test_what_is_shown_is_the_function() -> None:
    """Not the words around it."""
    assert [read(text).program.expression for text, *_ in READ[:1]] == ["x^2"]
    assert read("def f(x): return x**2").program.expression == "x**2"

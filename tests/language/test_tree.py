"""What a text is before its words mean anything: a tree with places, whole up to the first error."""

from __future__ import annotations

import pytest

from gradcli.errors import GradcliError, Span
from gradcli.language.snippets import read
from gradcli.language.text import nodes
from gradcli.language.text.grammar import parse as tree_of
from gradcli.language.text.python_statements import parse_python
from gradcli.language.text.source import Source
from tests.parsing import parse


def _value(text: str) -> nodes.Node:
    return tree_of(Source(text, "EXPR"))[0].value


def test_a_chain_is_one_node_however_long() -> None:
    """So that no tree is deeper than its brackets; each step has its sign and how tightly it binds."""
    chain = _value("a - b*c" + "+ d" * 10_000)
    assert isinstance(chain, nodes.Chain)
    assert len(chain.steps) == 10_001
    assert [(step.sign.text, step.level) for step in chain.steps[:2]] == [("-", 7), ("+", 7)]
    assert isinstance(chain.steps[0].operand, nodes.Chain)


def test_nodes_have_the_range_of_what_they_are() -> None:
    """With their brackets, their arguments and what stands behind them."""
    text = "nonsense(2x, dim=(0, 1))[1:].T"
    node = _value(text)
    assert isinstance(node, nodes.Postfix)
    assert node.span == Span(0, len(text))
    assert isinstance(node.operand, nodes.Name)
    assert node.operand.arguments is not None
    first, second = node.operand.arguments.items
    assert [first.name, second.name and second.name.text] == [None, "dim"]
    assert text[first.value.span.start : first.value.span.stop] == "2x"
    assert text[second.value.span.start : second.value.span.stop] == "(0, 1)"
    assert [text[t.span.start : t.span.stop] for t in node.trailers] == ["[1:]", ".T"]


ORDER = [
    ("sine(x) + )", "unknown function 'sine'"),  # left of what cannot be read
    ("x + ) + sine(x)", "unexpected ')'"),
    ("[sine(x), y", "unknown function 'sine'"),
    ("[x, y", "'[' is never closed"),
    ("y = sum(x, dim=0.5); z = (", "an integer constant must stand here"),
    ("sin(x, y) )", "too many arguments"),
    ("[1 +* i for j in range(x)]", "an integer constant must stand here"),  # a loop begins with its values
]


@pytest.mark.parametrize(("text", "message"), ORDER, ids=[text for text, _ in ORDER])
def test_the_first_error_is_the_one_that_is_said(text: str, message: str) -> None:
    """Whether a word is unknown or cannot stand there, from the left."""
    with pytest.raises(GradcliError) as caught:
        parse(text)
    assert message in caught.value.message


def test_what_is_not_read_may_be_anything() -> None:
    """A broken argument ends at its comma, and a line that says nothing of the function at its end."""
    quiet = 'print(f"a {x}" % 3, x y)\ntorch.set_printoptions(0 0)'
    text = f"x = torch.ones(2, requires_grad=True)\n{quiet}\ny = x.to(a b, c)"
    assert read(text).program.names == ("x",)
    (call,) = tree_of(Source("f(a b, c, *, d)", "EXPR"))
    assert isinstance(call.value, nodes.Name)
    assert call.value.arguments is not None
    assert [argument.fault is None for argument in call.value.arguments.items] == [False, True, True, True]
    assert isinstance(call.value.arguments.items[2].value, nodes.Broken)


def test_a_body_is_wrong_where_it_is_called() -> None:
    """And not where it is defined, as in Python."""
    text = "import torch\ndef f(x):\n    yield x\nx = torch.ones(2)\ny = x**2"
    assert read(text).program.names == ("x",)
    with pytest.raises(GradcliError, match="a 'yield' statement is code"):
        read(f"{text}\nz = f(y)")


def test_python_has_statements_of_its_own() -> None:
    """Imports, definitions, several names."""
    lines = parse_python(Source("from a import b as c\ndef f(x, n=2): return x\ng, h = f(x), 3", "EXPR"))
    assert isinstance(lines[0], nodes.Import)
    assert lines[0].names == (("c", "a.b"),)
    assert isinstance(lines[1], nodes.Function)
    assert [one.name for one in lines[1].parameters] == ["x", "n"]
    assert isinstance(lines[2], nodes.Statement)
    assert [target.text for target in lines[2].targets] == ["g", "h"]
    assert isinstance(lines[2].value, nodes.Items)
    assert len(lines[2].value.items) == 2

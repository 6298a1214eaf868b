"""What a text is before its words mean anything: a tree with places, whole up to the first error."""

from __future__ import annotations

import pytest

from gradcli.errors import GradcliError
from gradcli.language.snippets import read
from gradcli.language.text import nodes
from gradcli.language.text.grammar import parse as tree_of
from gradcli.language.text.source import Source
from tests.parsing import parse


def _value(text: str) -> nodes.Node:
    return tree_of(Source(text, "EXPR"))[0].value


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


def test_a_body_is_wrong_where_it_is_called() -> None:
    """And not where it is defined, as in Python."""
    text = "import torch\ndef f(x):\n    yield x\nx = torch.ones(2)\ny = x**2"
    assert read(text).program.names == ("x",)
    with pytest.raises(GradcliError, match="a 'yield' statement is code"):
        read(f"{text}\nz = f(y)")

"""What is said of a text that cannot be read, and what of it need not be."""

from __future__ import annotations

import pytest

from gradcli.errors import GradcliError
from gradcli.language.snippets import read
from tests.parsing import parse

ORDER = [
    ("sine(x); x + )", "unknown function 'sine'"),  # left of what cannot be read
    ("x + ) + sine(x)", "unexpected ')'"),
    ("sin x + )", "'sin' is a function"),
    ("[x, y", "'[' is never closed"),
    ("y = sum(x, dim=0.5); z = (", "an integer constant must stand here"),
]


@pytest.mark.parametrize(("text", "message"), ORDER, ids=[text for text, _ in ORDER])
def test_the_first_error_is_the_one_that_is_said(text: str, message: str) -> None:
    """Whether a word is unknown or cannot stand there, from the left."""
    with pytest.raises(GradcliError) as caught:
        parse(text)
    assert message in caught.value.message


def test_what_is_not_read_may_be_anything() -> None:
    """A line that says nothing of the function ends with it."""
    quiet = 'print(f"a {x}" % 3, x y)\ntorch.set_printoptions(0 0)'
    text = f"x = torch.ones(2, requires_grad=True)\n{quiet}\ny = x.to(a, c)"
    assert read(text).program.names == ("x",)


def test_a_body_is_wrong_where_it_is_called() -> None:
    """And not where it is defined, as in Python."""
    text = "import torch\ndef f(x):\n    yield x\nx = torch.ones(2)\ny = x**2"
    assert read(text).program.names == ("x",)
    with pytest.raises(GradcliError, match="a 'yield' statement is code"):
        read(f"{text}\nz = f(y)")

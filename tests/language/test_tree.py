"""Errors of texts that cannot be read, and lines that need not be."""

import pytest

from gradcli import Function
from gradcli.errors import GradcliError
from gradcli.questions.text_reading import read
from tests import of_parts

X = "x = torch.tensor([1., 2.], requires_grad=True); "

REFUSED = [
    # the first error is the one that is said, whether a word is unknown or cannot stand there
    ("sine(x); x + )", "unknown function 'sine'"),
    ("x + ) + sine(x)", "unexpected ')'"),
    ("sin x + )", "unexpected ')'"),
    ("[x, y", "'[' is never closed"),
    ("y = sum(x, dim=0.5); z = (", "an integer constant must stand here"),
    # a tensor's members, a constant's, a module's
    ("x + x.sume", "'.sume' is not part of the language"),
    ("x = 2*w; x.a", "'.a' is not part of the language"),
    ("np.a", "'np.a' is not part of the language"),
    ("x.weight(2)", "unknown function 'weight'"),
    ("x.5", "unexpected '.5'"),
    ("Torch.sin(x)", "module 'Torch'"),
    # nothing that is typed is passed over
    ("(x if h.", "a method name must follow the dot"),
    ("[x for i in range(3), 5]", "behind a loop"),
    ("[x for i in range(3) if x > 0]", "must be constant"),
    ("x.sum(i for i in range(3))", "unexpected 'for'"),
    ("max(x, y, keepdim=True)", "keepdim"),
    ("x.clone(3, y*)", "unexpected"),
    ("x and y", "'and' needs conditions"),
    ("index(x)", "unknown function"),
    ("where(x > 0", "never closed"),
    ("sum = 2*x; sum(x)", "unexpected"),
    # what ends too early
    ("x = torch.ones(2).requires_grad_", "'.requires_grad_' is not part of the language"),
    # what torch does not differentiate is no misspelt name
    ("torch.special.bessel_j0(x)", "torch has no derivative of it"),
    ("j1(x)", "torch has no derivative of it"),
    ("scipy.special.y0(x)", "torch has no derivative of it"),
    # what Python reads otherwise, or torch
    ("x = torch.tensor(1.).half().requires_grad_()", "16 bits"),
    ("x = torch.tensor(1., dtype=torch.float16, requires_grad=True)", "16 bits"),
    ("x = torch.tensor(1., dtype=torch.bfloat16, requires_grad=True)", "16 bits"),
    # a line goes on in brackets alone, and what is computed is used
    ("x**2\n   + 3*y", "begins with an operator", "+"),
    ("y = x**2\n* 3", "begins with an operator", "*"),
    ("a = x\n    a + 1", "is indented", "a + 1"),
    ("a = x;\n  a + 1", "is indented", "a + 1"),
    ("x^2; y^2", "thrown away", "x^2"),
    ("a = x; a*2; a + 1", "thrown away", "a*2"),
    # tensors that are written out, and passes
    (f"{X}a = x[:0].unbind()\ny = x.unbind()[2]", "unbind gives 2 tensors"),
    ("sum(x*i for i in range(1000000000) if i < 5)", "loops make more than 10,000 terms"),
    ("x = torch.tensor([1j], requires_grad=True)", "complex"),
    ("x = torch.randn(-1)\nx.sum()", "sizes are whole numbers from 0 on"),
    *((text, *said) for text, said in of_parts.rows("REFUSED").items()),
]
"""Texts, the words of their errors, and the text at their places."""


@pytest.mark.parametrize("case", REFUSED, ids=[text for text, *_ in REFUSED])
def test_the_first_error_is_said_at_its_place(case: tuple[str, ...]) -> None:
    """With its cause."""
    text, words, *at = case
    with pytest.raises(GradcliError) as caught:
        Function(text).vjp()
    assert words in str(caught.value)
    assert caught.value.place is not None
    if at:
        assert text[caught.value.place.span.start :].startswith(at[0])
        assert caught.value.hint is not None


@pytest.mark.part("paste")
def test_what_is_not_read_may_be_anything() -> None:
    """A line that says nothing of the function ends with it."""
    quiet = 'print(f"a {x}" % 3, x y)\ntorch.set_printoptions(0 0)'
    text = f"x = torch.ones(2, requires_grad=True)\n{quiet}\ny = x.to(a, c)"
    assert read(text).program.names == ("x",)


@pytest.mark.part("paste")
def test_a_body_is_wrong_where_it_is_called() -> None:
    """And not where it is defined, as in Python."""
    text = "import torch\ndef f(x):\n    yield x\nx = torch.ones(2)\ny = x**2"
    assert read(text).program.names == ("x",)
    with pytest.raises(GradcliError, match="a 'yield' statement is code"):
        read(f"{text}\nz = f(y)")

"""Errors of texts that cannot be read, and lines that need not be."""

import pytest

from gradcli import Function
from gradcli.errors import GradcliError
from gradcli.questions.question import read

X = "x = torch.tensor([1., 2.], requires_grad=True); "
W = f"{X}w = torch.ones(2, requires_grad=True); y = (w*x).sum()\n"

REFUSED = [
    # the first error is the one that is said, whether a word is unknown or cannot stand there
    ("sine(x); x + )", "unknown function 'sine'"),
    ("x + ) + sine(x)", "unexpected ')'"),
    ("sin x + )", "'sin' is a function"),
    ("[x, y", "'[' is never closed"),
    ("y = sum(x, dim=0.5); z = (", "an integer constant must stand here"),
    # definitions
    ("f(x) = f(x - 1)", "a function that calls itself is not read"),
    ("f(x) = x^2; f(1, 2)", "f takes x"),
    ("sin(x) = x", "'sin' is a function and cannot be defined"),
    ("f(x) = x^", "the expression ends too early"),
    ("x + 1; f(x) = x", "this expression is computed and thrown away"),
    ("def f(x):\n    y = x\nf(x)", "returns nothing"),
    ("def f(x):\n    y = x\n2*f(x)", "returns nothing"),
    ("f = lambda t: t\nf*x", "the function f stands where a number or a tensor must"),
    # several values
    ("a, b = x, x, x\na", "2 names for 3 values"),
    ("(a, b), c = x, x\na", "takes no value"),
    ("a, b = x.max(dim=0); a + b", "positions"),
    ("a, b = 3\na", "a number has no parts"),
    ("import plots\nplots.draw(x)", "'plots.draw(...)' is code"),
    # a tensor's members, a constant's, a module's
    ("x + x.sume", "'.sume' is not part of the language"),
    ("x = 2*w; x.a", "'.a' is not part of the language"),
    ("np.a", "'np.a' is not part of the language"),
    ("import thing\ny = thing.a*x\ny.backward()", "'.a' is not part of the language"),
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
    ("a if b else c", "'if' needs conditions"),
    ("sum = 2*x; sum(x)", "unexpected"),
    # what ends too early
    ("import torch\nx =", "the expression ends too early"),
    ("import torch\nf = torch.", "a method name must follow the dot"),
    ("x = torch.ones(2).requires_grad_", "'.requires_grad_' is not part of the language"),
    ("def f(x", "'(' is never closed"),
    ("x = torch.ones(2, requires_grad=True)\ng = x.grad,", "what is computed from '.grad' is code"),
    # what torch does not differentiate is no misspelt name
    ("torch.special.bessel_j0(x)", "torch has no derivative of it"),
    ("j1(x)", "torch has no derivative of it"),
    ("scipy.special.y0(x)", "torch has no derivative of it"),
    # what Python reads otherwise, or torch
    ("x = torch.tensor(1.).half().requires_grad_()", "16 bits"),
    ("x = torch.tensor(1., dtype=torch.float16, requires_grad=True)", "16 bits"),
    ("x = torch.tensor(1., dtype=torch.bfloat16, requires_grad=True)", "16 bits"),
    ("x = torch.tensor(1., requires_grad=True); z = x^2", "exclusive or"),
    # a line goes on in brackets alone, and what is computed is used
    ("x**2\n   + 3*y", "begins with an operator", "+"),
    ("y = x**2\n* 3", "begins with an operator", "*"),
    ("a = x\n    a + 1", "is indented", "a + 1"),
    ("a = x;\n  a + 1", "is indented", "a + 1"),
    ("x^2; y^2", "thrown away", "x^2"),
    ("a = x; a*2; a + 1", "thrown away", "a*2"),
    # tensors that are written out, and passes
    (f"{X}y = x; y.backward(); z = 2*x; z.backward()", "of a second output"),
    (f"{X}y = x.sum()\ny.backward()\nx.grad[0].zero_()", "which changes '.grad'"),
    (f"{X}g = torch.autograd.grad(x.sum(), [])", "grad takes outputs and inputs"),
    (f"{X}g = torch.autograd.grad(x.sum(), x)[1]", "grad gives 1 tensor, counted from 0"),
    ("f(x) = x^2; g = f[0]; g(x)", "the function f stands"),
    (f"{X}a = x[:0].unbind()\ny = x.unbind()[2]", "unbind gives 2 tensors"),
    ("sum(x*i for i in range(1000000000) if i < 5)", "loops make more than 10,000 terms"),
    (f"{X}y = x**2; y.backward(torch.ones(3))", "v has shape"),
    (f"{X}y = x**2; x = torch.ones(1, requires_grad=True)", "another", "x = torch.ones"),
    ("x = torch.tensor([1j], requires_grad=True)", "complex"),
    ("x = torch.tensor([[1.], [1., 2.]], requires_grad=True)\nx.sum().backward()", "equal shapes"),
    ("y.backward(gradients)", "nothing computes 'y'", "y.backward"),
    (f"{X}y = x**2\nx**3\ny.backward()", "thrown away", "x**3"),
    (f"{X}g, h = torch.autograd.grad(x.sum(), x)", "2 names for 1 values"),
    (f"{X}w = torch.ones(2)\ng = torch.autograd.grad(x.sum(), w)", "does not depend on w"),
    (f"{X}y = (2*x).requires_grad_()\ny.sum().backward()", "is no leaf"),
    ("x = torch.randn(-1)\nx.sum()", "sizes are whole numbers from 0 on"),
    ("print(open('/etc/passwd'))\nimport os\nos.system('x')", "'os.system(...)' is code", "os.system('x')"),
    (f"{W}y.backward(retain_graph=True)\nx.grad.zero_()\ny.backward()", "different passes", "y.backward()"),
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

"""Whole PyTorch snippets: definitions, statements, backward passes, and what is refused."""

import contextlib
import random

import numpy as np
import pytest

from gradcli import Function
from gradcli.errors import CodeError, GradcliError
from gradcli.parts.paste.tensors import MIXED, UNSEEDED
from gradcli.parts.paste.texts import read
from tests.checks import check_of
from tests.examples import seeds
from tests.parts.paste.pasted import gradients_by_torch, passes_by_torch, run_by_torch

SMALL = "x = torch.tensor({0}, requires_grad=True); y = (1 - torch.cos(x))/x**2; y.backward()"

FIRST = """
import torch

x = torch.tensor([1., 2.], requires_grad=True)   # a leaf
y = x**2
y.backward(torch.tensor([1., 1.]))
print(x.grad)
"""

THREE = """
import torch
from torch.autograd import Variable
a = Variable(torch.FloatTensor([1, 2, 3]), requires_grad=True)
b = torch.tensor([3., 4., 5.], requires_grad=True)
c = torch.tensor(
    [6., 7., 8.],
    requires_grad=True,
    dtype=torch.float64,
)
y = 3*a + 2*b*b + torch.log(c)
gradients = torch.FloatTensor([0.1, 1.0, 0.0001])
y.backward(gradients)
print(f"a.grad: {a.grad}\\n", b.grad, 'done')
"""

X = "x = torch.tensor([1., 2.], requires_grad=True); "
Z = "x = torch.tensor(2., requires_grad=True); "
TWO = """
x = torch.tensor([2., 3.], requires_grad=True)
def f(a, b):
    s = a + b
    return s, a*b
p, q = f(x, 2)
(p*q).sum().backward()
"""

PASSES = f"""
{Z}y = x**3; y.backward(); x.grad
{Z}x; y = x**2; y; y.item(); y.backward(); x.grad
{X}y = x**2; y.backward(torch.ones_like(y))
{X}y = x**2; v = 2*y.detach(); y.backward(v)
{X}n = x.shape[0]; y = (x**2).sum()/n; y.backward(); g = x.grad
x = torch.tensor([1., 2.]); x.requires_grad = True; y = x.prod(); y.backward(retain_graph=True)
x = torch.arange(6.).view(3, 2).requires_grad_(); w = torch.tensor([-1., 1.]); (x*x*w).sum(1).backward(torch.ones(3))
x = torch.linspace(-2, 2, 5, requires_grad=True); y = x**2; y.backward(torch.ones(5))
w = nn.Parameter(torch.tensor([1., 2.])); x = torch.tensor([3., 4.]); loss = (w*x).sum(); loss.backward()
{Z}y = x**2; y.backward(retain_graph=True); y.backward()
{Z}s = x.shape; y = x**2*torch.ones(s); y.backward()
{X}z = 2*x; z.backward(torch.ones(2), retain_graph=True); torch.manual_seed(0); z.backward(torch.ones(2))
{X}z = 2*x; z.backward(torch.ones(2), retain_graph=True); x.grad.data.zero_(); z.backward(torch.tensor([0., 1.]))
{X}z = 2*x; z.backward(torch.ones(2), retain_graph=True); x.grad = None; z.backward(torch.tensor([0., 1.]))
{X}w = torch.tensor([3., 5.]); y = (w*x).sum(); y.backward(retain_graph=True); x.grad.zero_(); y.backward()
{X}b = x.data; (b*x).sum().backward()
{X}b = float(x[0]); (b*x).sum().backward()
{X}b = torch.from_numpy(x.detach().numpy()); (b*x).sum().backward()
{X}y = x.detach().clone().requires_grad_(); (y**2).sum().backward()
{X}w = torch.ones(2, requires_grad=True); x.requires_grad_(False); (w*x).sum().backward()
a = torch.ones(2, requires_grad=True); y = 2*a; y = y.detach().requires_grad_(); (y**2).sum().backward()
{X}b = torch.ones(2, requires_grad=True); (x*b).sum().backward(); g, h = x.grad, b.grad.clone(); print(g, h)
x, w = torch.ones(2, requires_grad=True), torch.tensor([3., 4.]); (x*w).sum().backward()
x, n = torch.tensor([2., 3.], requires_grad=True), 3; y = (x**n).sum(); y.backward()
{X}a, b = x; (a*b).backward()
x = torch.ones(2, 3, requires_grad=True); n, d = x.shape; (x.sum()*n*d).backward()
A = torch.tensor([[1., 2.], [3., 4.]], requires_grad=True); y = (A.sum(0)**2).sum(); y.backward()
{X}s = torch.stack([x[0], x[1]]); t = [2*x[0], 3*x[1]]; a, b = s; (a*b).backward()
{X}y = (x**2).sum(); z = (x**3).sum(); y.backward(); z.backward()
{X}y = x**2; z = 3*y; y.backward(torch.ones(2), retain_graph=True); z.backward(torch.tensor([1., 2.]))
{X}w = torch.ones(2, requires_grad=True); y = (w*x).sum(); z = w.sum(); y.backward(); z.backward()
""".strip().split("\n")
"""Snippets of PyTorch as they are pasted, one a line."""

HELD = ("b = x.data", "b = float(x[0])", "from_numpy(x.detach()")
"""Words of the snippets that hold a part of the function constant."""

TYPES = f"""
{SMALL.format("1e-3, dtype=torch.float32")}
{SMALL.format("1e-3, dtype=torch.float64")}
{SMALL.format("1e-3")}
{SMALL.format("np.array(1e-3)")}
{SMALL.format("np.array(1e-3, dtype=np.float32)")}
{SMALL.format("np.sqrt(2.)")}
{SMALL.format("np.pi")}
from numpy import array; {SMALL.format("array(1e-3)")}
torch.set_default_dtype(torch.float64); {SMALL.format("1e-3")}
torch.manual_seed(0); x = torch.rand(2, requires_grad=True); y = (x*torch.arange(2)).sum(); y.backward()
x = torch.tensor(0.1).double().requires_grad_(); y = x**2; y.backward()
x = torch.tensor(0.1).to(torch.float64).requires_grad_(); y = x**2; y.backward()
x = torch.tensor([1, 2]).float().requires_grad_(); y = (0.1*x**2).sum(); y.backward()
x = torch.FloatTensor([0.1, 2]).requires_grad_(); y = (x**3).sum(); y.backward()
x = torch.arange(3, dtype=torch.float64, requires_grad=True); n = torch.tensor(3); y = (n*x).sum(); y.backward()
x = torch.ones(2, dtype=torch.float32, requires_grad=True); y = (x*torch.tensor([0.1, 1.])).sum(); y.backward()
{SMALL.format("1e-3, dtype=float")}
{SMALL.format("1e-3, dtype=torch.float")}
{SMALL.format("float(1e-3)")}
{SMALL.format("np.array(1e-3, dtype=float)")}
x = torch.tensor([0.1, 2.]).to(float).requires_grad_(); y = (x**3).sum(); y.backward()
x = torch.tensor([0.1, 2.]).to(dtype=float).requires_grad_(); y = (x**3).sum(); y.backward()
x = torch.tensor([0.1, 2.]).to(torch.float).requires_grad_(); y = (x**3).sum(); y.backward()
x = torch.linspace(0.1, 1, 3, dtype=float, requires_grad=True); y = (x**3).sum(); y.backward()
torch.set_default_dtype(torch.float64); {SMALL.format("float(1e-3)")}
torch.set_default_dtype(torch.float64); {SMALL.format("1e-3, dtype=torch.float")}
""".strip().split("\n")
"""Snippets in which types are written, one a line."""

WARNED = {
    THREE: MIXED,
    f"a = np.array(1e-3); {SMALL.format('a')}": "a tensor is copied without its gradient, as in torch: float(), "
    ".item(), .data, torch.tensor()",
    f"{Z}w = torch.tensor([0.2], dtype=torch.float64); y = (w*x).sum(); y.backward()": MIXED,
    f"{X}y = (x.double()**2).sum(); y.backward()": MIXED,
    f"def f(t): return (t.double()**2).sum()\n{X}y = f(x); y.backward()": MIXED,
}


@pytest.mark.parametrize("text", [FIRST, TWO, *PASSES, *TYPES, *WARNED])
@pytest.mark.one_in(2)
def test_a_snippet_gives_what_its_grad_holds(text: str) -> None:
    """The variables, their values and types, what requires a gradient, the output and v come from the text.

    Torch's own digits, in the type that it computes in: float32 where nothing is written.
    """
    answer, held = Function(text).vjp(), gradients_by_torch(text)
    assert answer.vjp.keys() == held.keys()
    for name, expected in held.items():
        if answer.warnings == (MIXED,):
            assert answer.dtype == "float64"
            np.testing.assert_allclose(answer.vjp[name], expected, rtol=1e-7)  # .grad is of float32
        else:
            np.testing.assert_array_equal(answer.vjp[name], expected, strict=True)
    verdict = check_of(answer).verdict
    assert verdict == "cut" if any(word in text for word in HELD) else verdict in ("agree", "inaccurate")
    if text not in PASSES:
        assert answer.warnings == ((WARNED[text],) if text in WARNED else ())


ASKED = [
    (f"{X}y = x**2; g, = torch.autograd.grad(y, x, torch.tensor([1., 1.])); print(g)", {"x": [2, 4]}),
    (
        f"{X}b = torch.tensor(1., requires_grad=True); y = (b*x).sum()\n"
        "gx, gb = torch.autograd.grad(outputs=y, inputs=[x, b], create_graph=True)",
        {"x": [1, 1], "b": 3},
    ),
    (f"{Z}w = torch.ones(1, requires_grad=True); y = w*x; g = torch.autograd.grad(y, x)", {"x": 1}),
    (f"{Z}y = x**2; print(torch.autograd.grad(5*y, x))", {"x": 20}),
    # what is printed before the gradient is set to zero is what is meant
    (f"{X}y = x**2; y.backward(torch.ones(2)); print(x.grad); x.grad.zero_()", {"x": [2, 4]}),
    (
        ">>> import torch\n>>> x = torch.tensor([1., 2.], requires_grad=True)\n>>> y = (x\n...      **2)\n"
        ">>> y.backward(torch.ones(2))\n>>> x.grad\ntensor([2., 4.])",
        {"x": [2, 4]},
    ),
]


@pytest.mark.parametrize(("text", "expected"), ASKED, ids=range(len(ASKED)))
def test_a_snippet_gives_what_it_asks_for(text: str, expected: dict[str, object]) -> None:
    """By other ways than `.grad` at its end; autograd.grad differentiates by its inputs alone."""
    answer = Function(text).vjp()
    assert {name: gradient.tolist() for name, gradient in answer.vjp.items()} == expected


def test_values_and_v_may_be_given_again() -> None:
    """Values that are typed next to the snippet count."""
    f = Function(FIRST)
    assert f.variables == ("x",)
    np.testing.assert_array_equal(f.vjp({"x": [3, 4]}).vjp["x"], [6, 8])
    np.testing.assert_array_equal(f.vjp(v="e1").vjp["x"], [0, 4])
    np.testing.assert_array_equal(Function(THREE).vjp(wrt=["b"]).wrt, ("b",))
    with pytest.raises(GradcliError, match="y has shape"):
        Function(f"{X}y = x**2; y.backward()").vjp()


def test_the_answer_shows_the_function_alone() -> None:
    """Not the whole text."""
    answer = Function(THREE).vjp()
    assert answer.expression == "y = 3*a + 2*b*b + torch.log(c)"
    assert answer.output == "y"
    assert answer.warnings == (MIXED,)


def test_other_commands_read_snippets_too() -> None:
    """The value, the Jacobian; without a backward pass the last statement is the output."""
    np.testing.assert_array_equal(Function(FIRST).eval().value, [1, 4])
    jacobian = Function("import torch\nx = torch.tensor([1., 2.])\ny = x*x.sum()\ny").jacobian().jacobian
    assert jacobian is not None
    np.testing.assert_array_equal(jacobian["x"], [[4, 1], [2, 5]])


def test_several_passes_and_missing_gradients_are_remarked() -> None:
    """Torch's own behaviour, in words."""
    twice = "x = torch.tensor(1., requires_grad=True); y = x**2; y.backward(); y.backward()"
    assert "2 backward passes add up" in read(twice).program.warnings[0]
    none = "x = torch.tensor([1.]); y = x**2; y.backward()"
    assert "no tensor has requires_grad=True" in read(none).program.warnings[0]


# -- types


def test_an_option_counts_more_than_what_is_written() -> None:
    """And what is typed without a tensor of its own is of float64."""
    f = Function(SMALL.format("1e-3, dtype=torch.float32"))
    assert f.vjp(dtype="float64").dtype == "float64"
    assert Function(SMALL.format("1e-3")).vjp(dtype="float64").dtype == "float64"
    assert Function("x*torch.tensor(0.1)").vjp({"x": 3}).dtype == "float64"


WHOLE = [
    "x = torch.tensor(3, requires_grad=True)",
    "x = torch.tensor([1, 2]).requires_grad_()",
    "x = torch.tensor([1, 2])\nx.requires_grad = True",
    "x = torch.arange(3, requires_grad=True)",
    "x = torch.ones(2, dtype=torch.int64, requires_grad=True)",
    "x = torch.nn.Parameter(torch.tensor([1, 2]))",
]


@pytest.mark.parametrize("text", WHOLE)
def test_whole_numbers_have_no_gradient(text: str) -> None:
    """As torch says itself."""
    with pytest.raises(RuntimeError, match=r"can require gradients|floating point"):
        run_by_torch(text)
    with pytest.raises(GradcliError, match="Only Tensors of floating point dtype can require gradients"):
        Function(text + "\ny = (x*x).sum()\ny.backward()")


# -- several passes

ANEW = """
x = torch.tensor([1., 2.], requires_grad=True)
w = torch.tensor([3., 4.], requires_grad=True)
y = w*x**2
y.backward(torch.tensor([1., 0.]), retain_graph=True)
x.grad.zero_(); w.grad.zero_()
y.backward(torch.tensor([0., 1.]), retain_graph=True)
y.backward(torch.tensor([1., 1.]), retain_graph=True)
x.grad = None; w.grad = None
y.backward(torch.tensor([2., 3.]), retain_graph=True)
"""


OF_SEVERAL = """
x = torch.tensor([1., 2.], requires_grad=True)
y = x**2
loss = (x**3).sum()
y.backward(torch.tensor([1., 2.]), retain_graph=True)
loss.backward(retain_graph=True)
x.grad.zero_()
loss.backward(retain_graph=True)
(x.view(2, 1)*torch.ones(3)).backward(torch.ones(2, 3))
"""


KEPT: tuple[int, ...] = ()
"""Seeds of passes that were answered wrong once."""


def _passes(seed: int) -> str:
    """Random passes, some behind a reset."""
    draw, lines = random.Random(seed), [f"{X}y = x**2"]
    for n in range(5):
        if n and (n == 2 or draw.random() < 0.4):
            lines.append(draw.choice(["x.grad.zero_()", "x.grad = None", "x.grad.data.zero_()"]))
        lines.append(f"y.backward(torch.tensor([{draw.randint(-3, 3)}., {draw.randint(1, 3)}.]), retain_graph=True)")
    return "\n".join(lines)


@pytest.mark.parametrize("text", [ANEW, OF_SEVERAL, *map(_passes, seeds(0, 6, KEPT))])
def test_each_pass_is_answered_with_what_grad_holds(text: str) -> None:
    """A row each, as torch prints it: the sum since it was set to zero; its numbers are right, so the verdict is."""
    held = passes_by_torch(text)
    for accumulate in (False, True):
        found = Function(text).vjps(accumulate=accumulate)
        for answer, grads in zip(found.answers, held, strict=True):
            assert {name: grad.tolist() for name, grad in (answer.accumulated or {}).items()} == {
                name: grad.tolist() for name, grad in grads.items()
            }
        assert check_of(found).verdict == "agree"


@pytest.mark.parametrize(
    ("inner", "deepest"),
    [
        *((inner, 99) for inner in ("torch.sin({})", "f({})", "({})", "-{}", "[{}]", "x**{}")),
        *((inner, 0) for inner in ("torch.stack([{}])", "h(lambda t: {})")),
    ],
)
@pytest.mark.one_in(2)
def test_what_is_nested_too_deep_is_refused_in_time(inner: str, deepest: int) -> None:
    """By the limit, and never by that of Python's own stack."""
    before, after = inner.split("{}")
    text = "import torch\nf = lambda x: x**2\nh = lambda k: k(3)\nx = torch.tensor(2.)\ny = {}x{}\n"
    for levels in (59, 60, 61, 99, 300, 3000):
        with contextlib.nullcontext() if levels <= deepest else pytest.raises(GradcliError):
            read(text.format(before * levels, after * levels))


ENDS = [
    # a session at a prompt, with all that it shows: the last value without a name is the output
    (">>> x * 2\ntensor([2., 4.])\n>>> (x**3).sum()\ntensor(9., grad_fn=<SumBackward0>)", {"x": [3, 12]}),
    (">>> y = x.exp()\n>>> y\n>>> y.log().sum()", {"x": [1, 1]}),
    ("In words:\n    >>> def f(t):\n    ...     return t**2\n    ...\n    >>> f(x)\n    >>> f(x).sum()", {"x": [2, 4]}),
    (
        ">>> x = torch.tensor([1., 2.], requires_grad=True)\n>>> x * 2\n>>> y = (x**2).sum()\n"
        ">>> y.backward(retain_graph=True)\n>>> y * 3\n>>> y.backward()",
        {"x": [4, 8]},
    ),
    # a function that is defined last, whatever was imported or given a name before
    ("import numpy as np\nf = lambda x: np.sum(x**2)", {"x": [2, 4]}),
    ("import numpy as np\nrf = 0.01\ndef g(x):\n    return np.sum(rf*x**2)", {"x": [0.02, 0.04]}),
    (
        "import torch\nw = torch.tensor([3., 4.])\ny = w*2\ndef f(x):\n    return (w*x).sum()",
        {"w": [1, 2], "x": [3, 4]},
    ),
]


@pytest.mark.parametrize(("text", "gradient"), ENDS, ids=range(len(ENDS)))
def test_a_text_is_what_it_ends_with(text: str, gradient: dict[str, list[float]]) -> None:
    """A value, a backward pass or a function."""
    answer = Function(text).vjp({"x": [1.0, 2.0]})
    assert {name: found.tolist() for name, found in answer.vjp.items()} == gradient


# -- what is code

CODE = [
    ("for i in range(3):\n    x = x*2\nx", "a 'for' loop", "for"),
    ("while x > 0: x = x - 1", "a 'while' loop", "while"),
    ("y = x\nif x > 0:\n    y = 2*x\ny", "an 'if' statement", "if"),
    ("import torch\nwith torch.no_grad():\n    y = x", "a 'with' statement", "with"),
    ("class Net(nn.Module):\n    pass", "a 'class' statement", "class"),
    ("@torch.jit.script\ndef f(x): return x", "a decorator", "@"),
    ("assert x > 0\nx", "an 'assert' statement", "assert"),
    ("def f(x):\n    global c\n    return x*c", "a 'global' statement", "global"),
    ("def f(*xs): return xs[0]", "a parameter with a star", "*"),
    ("x += 1; x", "'+='", "+="),
    ("y = 2*x\ny[0] = 3\ny", "an element that is assigned", "y"),
    (f"{X}y = (2*x).add_(1)", "'.add_', which changes its tensor,", "add_"),
    (f"{X}x.data = x*2", "'.data' that is assigned", ".data"),
    ("d = {'a': x}; d['a']", "a dict or a set", "{"),
    ("first, *rest = x\nfirst", "unpacking by a star", "*rest"),
    (f"{X}xs = list(x)", "'list(...)'", "list"),
    (f"{X}y = nn.Linear(2, 1)(x)", "'nn.Linear(...)'", "nn.Linear(2, 1)"),
    (f"{X}opt = torch.optim.SGD([x], lr=0.1)", "'torch.optim.SGD(...)'", "torch.optim.SGD([x], lr=0.1)"),
    (f"{X}d = torch.distributions.Normal(0., 1.)", "'torch.distributions.Normal(...)'", None),
    (f"{X}y = x + torch.randn_like(x)", "'torch.randn_like(...)'", None),
    (f"{X}J = torch.autograd.functional.jacobian(torch.exp, x)", "'torch.autograd.functional.jacobian(...)'", None),
    (f"from torch.func import grad\n{X}g = grad(torch.sin)(x)", "'grad(...)'", None),
    (f"{X}y = x.sum()\ntorch.autograd.backward(y)", "'torch.autograd.backward(...)'", None),
    (f"{X}y = x.sum()\ny.backward()\nz = x.grad*2", "what is computed from '.grad'", None),
    (
        f"{X}y = (x**3).sum()\ng, = torch.autograd.grad(y, x, create_graph=True)\n(g**2).sum().backward()",
        "what is computed from a derivative",
        "g",
    ),
    (f"{X}y = x.sum()\ny.backward()\nx.data.sub_(0.1*x.grad)", "'.sub_', which changes its tensor,", "sub_"),
    (f"{X}print(f'{{torch.rand(1)}}')", "a derivative, a draw or a change inside a text", None),
    (
        f"{X}y = x.sum()\nprint(f'{{torch.autograd.grad(y, x)}}')",
        "a derivative, a draw or a change inside a text",
        None,
    ),
]


@pytest.mark.parametrize(("text", "what", "at"), CODE, ids=range(len(CODE)))
def test_code_is_named_at_its_place_with_the_command_that_runs_it(text: str, what: str, at: str | None) -> None:
    """The first line of a text that is more than is read, by an error of its own kind."""
    with pytest.raises(CodeError) as caught:
        read(text, values={})
    error = caught.value
    assert error.in_shell.message.startswith(f"{what} is code, and code is run only where you say so") or (
        "parameter" in what and what in error.in_shell.message
    )
    assert error.kind == "code"
    assert error.place is not None
    if at is not None:
        assert error.place.text[error.place.span.start :].startswith(at)
    assert "gradcli run" in (error.hint or "") or "gradcli vjp FILE.py::" in (error.hint or "")


COMMANDS = [
    ("import torch; x = [1]; x[0] = 2", "gradcli run -c 'import torch; x = [1]; x[0] = 2'"),
    ("import torch\nx[0] = 2", "save it in FILE.py: gradcli run FILE.py"),
    ("for i in range(3): x", "save it as a function in FILE.py: gradcli vjp FILE.py::NAME --at VALUE"),
    ("def g(x):\n    assert x\n    return x", "save it in FILE.py: gradcli vjp FILE.py::g --at VALUE"),
    (
        "import torch\ndef g(x):\n    assert x\n    return x",
        "save it in FILE.py: gradcli run FILE.py, or gradcli vjp FILE.py::g --at VALUE",
    ),
]


@pytest.mark.parametrize(("text", "command"), COMMANDS, ids=range(len(COMMANDS)))
def test_the_command_is_ready_to_copy(text: str, command: str) -> None:
    """A short script stands in it whole; a function is asked for by its name."""
    with pytest.raises(CodeError) as caught:
        read(text, values={})
    assert caught.value.hint == command


# -- random numbers

DRAWN = [
    "torch.manual_seed(3)\nx = torch.randn(3, requires_grad=True)\nt = torch.randn(3)\n((x - t)**2).sum().backward()",
    "torch.manual_seed(-1)\nx = torch.rand(2, 3, requires_grad=True)\n(x**2).sum().backward()",
    "torch.random.manual_seed(5)\nx = torch.randn((4, 5), requires_grad=True)\nw = torch.randn(size=(5, 2))\n"
    "((x @ w)**2).sum().backward()",
    "x = torch.tensor([1., 2.], requires_grad=True)\ntorch.manual_seed(1)\n"
    "(x*torch.randn(x.shape) + torch.rand(x.shape[0])*x).sum().backward()",
    "torch.manual_seed(2)\nx = torch.randn(35, dtype=torch.float64, requires_grad=True)\n(x**2).sum().backward()",
    "torch.set_default_dtype(torch.float64)\ntorch.manual_seed(2)\nx = torch.rand(3, requires_grad=True)\n"
    "torch.manual_seed(2)\ny = (x*torch.rand(3)).sum()\ny.backward()",
    "torch.manual_seed(4)\nprint(torch.rand(1))\nx = torch.randn(2, requires_grad=True)\n(x**2).sum().backward()",
    "def noisy(a): return a*torch.randn(2)\ntorch.manual_seed(4)\nx = torch.ones(2, requires_grad=True)\n"
    "(noisy(x) + noisy(x)**2).sum().backward()",
]


@pytest.mark.parametrize("text", DRAWN, ids=range(len(DRAWN)))
def test_random_numbers_are_those_that_torch_draws(text: str) -> None:
    """In order, of the seeds of the text; torch's own generator is left as it was."""
    import torch

    before = torch.get_rng_state()
    answer = Function(text).vjp()
    assert bool((torch.get_rng_state() == before).all())
    truth = gradients_by_torch(text)["x"]
    np.testing.assert_allclose(answer.vjp["x"], truth, rtol=3e-6)
    assert answer.vjp["x"].dtype == truth.dtype
    assert UNSEEDED not in answer.warnings


def test_a_text_without_a_seed_says_so() -> None:
    """Its numbers are those of the seed 0."""
    answer = Function("x = torch.rand(2, requires_grad=True)\nx.sum().backward()").vjp()
    assert UNSEEDED in answer.warnings


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (
            "loss = F.cross_entropy(torch.tensor([[2.0, 0.5]], requires_grad=True), torch.tensor([0]))",
            "write x = torch.tensor([[2.0, 0.5]], requires_grad=True); loss = F.cross_entropy(x, torch.tensor([0]))",
        ),
        (
            "x = torch.ones(2); y = (x*torch.tensor((1., 2.), requires_grad=True)).sum(); y.backward()",
            "write w = torch.tensor((1., 2.), requires_grad=True); y = (x*w).sum()",
        ),
        (
            "y = torch.ones(2, requires_grad=True) @ torch.ones(2, requires_grad=True)",
            "write x = torch.ones(2, requires_grad=True); w = torch.ones(2, requires_grad=True); y = x @ w",
        ),
        ("y = (2*torch.ones(2)).requires_grad_().sum()", "give it a name, on a line before this one"),
    ],
)
def test_a_leaf_inside_of_a_line_is_given_a_name(text: str, hint: str) -> None:
    """The line of the hint can stand in place of this one, and is read."""
    with pytest.raises(GradcliError, match="requires a gradient has no name") as caught:
        read(text)
    assert caught.value.hint == hint
    if hint.startswith("write "):
        place = caught.value.place
        assert place is not None
        start, stop = place.span
        assert Function(f"{text[:start]}{hint.removeprefix('write ')}{text[stop:]}").variables

"""What code draws at random: the numbers of torch and of NumPy, in the order of the statements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from gradcli import Function
from gradcli.errors import GradcliError
from gradcli.language.snippets import read
from gradcli.language.snippets.drawing import UNSEEDED

X = "x = torch.tensor([1., 2., 3.], requires_grad=True)\n"
SEED = "import torch\nimport numpy as np\nfrom torch import nn\ntorch.manual_seed(3)\nnp.random.seed(5)\n"

SNIPPETS = [
    "x = torch.randn(3, requires_grad=True)\nt = torch.randn(3)\n((x - t)**2).sum().backward()",
    "x = torch.rand(2, 3, requires_grad=True)\n(x**2).sum().backward()",
    "x = torch.randn((4, 5), requires_grad=True)\nw = torch.randn(5, 2)\n((x @ w)**2).sum().backward()",
    X + "(x * torch.randn(3)).sum().backward()",
    X + "u = torch.rand(3)\nv = torch.rand(3)\n((x*u)**2 + x*v).sum().backward()",
    X + "(x*torch.randn_like(x) + x*torch.rand_like(x)).sum().backward()",
    X + "(x*torch.randn(x.shape) + torch.randn(x.shape[0])*x + x*torch.randn(*x.shape) + x*torch.rand(x.size(0))).sum()"
    ".backward()",
    X + "(x*torch.randint(7, (3,))).sum().backward()",
    X + "(x*torch.randint(-2, 7, size=(3,)) + torch.rand(3)*x).sum().backward()",
    X + "(x*torch.randint(low=2, high=9, size=(3,), dtype=torch.float32)).sum().backward()",
    X + "(x[torch.randperm(3)]*torch.tensor([1., 10., 100.])*torch.rand(3)).sum().backward()",
    X + "p = torch.randperm(3)\n(x*p).sum().backward()",
    X + "(x*torch.normal(2., 3., size=(3,)) + x*torch.normal(0., 1., (3,))).sum().backward()",
    X + "m = torch.tensor([1., 2., 5.])\n(x*torch.normal(m, 0.5) + x*torch.normal(m)).sum().backward()",
    X + "s = torch.tensor([1., 2., 5.])\n(x*torch.normal(1., s) + x*torch.normal(s, s)).sum().backward()",
    X + "(x*torch.empty(3).uniform_(-1, 2) + x*torch.empty(3).uniform_()).sum().backward()",
    X + "(x*torch.zeros(3).normal_(1, 0.5) + x*torch.empty(3).normal_()).sum().backward()",
    X + "(x*torch.empty(3).random_(10) + x*torch.empty(3).random_(5, 9)).sum().backward()",
    "w = torch.FloatTensor(2, 3).uniform_(-1, 1)\nx = torch.Tensor(3).normal_().requires_grad_()\n"
    "((w @ x)**2).sum().backward()",
    X + "p = torch.tensor([0.2, 0.5, 0.9])\n(x*torch.bernoulli(p) + x*torch.bernoulli(p)).sum().backward()",
    X + "g = torch.Generator().manual_seed(7)\nu = torch.rand(3)\n"
    "(x*torch.randn(3, generator=g)*u + x*torch.rand(3, generator=g)).sum().backward()",
    X
    + "g = torch.Generator()\ng.manual_seed(9)\n(x*torch.empty(3).normal_(generator=g)*torch.rand(3)).sum().backward()",
    X + "g = torch.Generator()\n(x*torch.rand(3, generator=g)).sum().backward()",
    X + "y = 0\nfor i in range(3):\n    t = torch.randn(3)\n    y = y + ((x - t)**2).sum()\ny.backward()",
    X + "def noisy(a):\n    return a*torch.randn(3)\n(noisy(x) + noisy(x)**2).sum().backward()",
    X + "ws = [torch.randn(3) for _ in range(2)]\n(x*ws[0] + x*x*ws[1]).sum().backward()",
    X + "torch.manual_seed(11)\na = torch.randn(3)\ntorch.manual_seed(11)\nb = torch.randn(3)\n"
    "(x*a + x*x*b).sum().backward()",
    X + "a = torch.randn(20)\nb = torch.randn(1)\n(x*b*a[:3] + x*torch.randn(35)[32:]).sum().backward()",
    X + "fc = nn.Linear(3, 2)\nt = torch.randn(2)\n((fc(x) - t)**2).sum().backward()",
    X + "t = torch.randn(2)\nfc = nn.Linear(3, 2)\nnn.init.normal_(fc.weight, 1., 0.1)\nu = torch.rand(2)\n"
    "((fc(x) - t)**2*u).sum().backward()",
    "x = torch.randn(3, dtype=torch.float64, requires_grad=True)\nu = torch.rand(3, dtype=torch.double)\n"
    "(x*x*u).sum().backward()",
    "x = torch.randn(35, dtype=torch.float64, requires_grad=True)\nu = torch.randn_like(x)\n(x*x*u).sum().backward()",
    "torch.set_default_dtype(torch.float64)\nx = torch.randn(2, 3, requires_grad=True)\nfc = nn.Linear(3, 2)\n"
    "(fc(x)**2).sum().backward()",
    "x = torch.empty(5, dtype=torch.float64).uniform_(2, 5).requires_grad_()\n(x**3).sum().backward()",
    X + "(x*torch.tensor(np.random.rand(3)) + x*torch.from_numpy(np.random.randn(3))).sum().backward()",
    X + "a, b = np.random.random(), np.random.normal(1., 2.)\n(x*a + x*x*b).sum().backward()",
    X + "a = torch.tensor(np.random.normal(loc=1., scale=2., size=(2, 3)))\n(a @ x.double()).sum().backward()",
    X + "(x*np.random.uniform(-1, 2) + x*torch.tensor(np.random.uniform(size=3))).sum().backward()",
    X + "(x*torch.tensor(np.random.randint(0, 9, 3)) + x*torch.tensor(np.random.permutation(3))).sum().backward()",
    X + "(x*np.random.random_sample() + x*np.random.standard_normal()).sum().backward()",
    X + "r = np.random.RandomState(4)\na = torch.tensor(r.rand(3))\nb = torch.tensor(r.randn(3))\n"
    "(x*a + x*b*np.random.rand()).sum().backward()",
    X + "x2 = x*np.random.RandomState(4).uniform(1, 2)\nx2.sum().backward()",
    X + "rng = np.random.default_rng(4)\na = torch.tensor(rng.normal(0, 1, 3))\nb = torch.tensor(rng.random(3))\n"
    "c = torch.tensor(rng.uniform(1, 2, size=3))\n(x*a + x*b + x*x*c).sum().backward()",
    X + "rng = np.random.default_rng(4)\na = torch.tensor(rng.integers(0, 9, size=3))\n"
    "(x*a + x*torch.tensor(rng.permutation(3)) + x*torch.tensor(rng.standard_normal(3))).sum().backward()",
    X + "if True:\n    u = torch.rand(3)\nelse:\n    u = torch.randn(3)\n(x*u*torch.rand(3)).sum().backward()",
    X + "t = torch.empty(3)\nt.uniform_(1, 2)\n(x*t*torch.rand(3)).sum().backward()",
    "w = nn.Parameter(torch.randn(3))\nv = nn.Parameter(torch.empty(3))\nnn.init.uniform_(v)\n"
    "w.data.normal_(0, 0.1)\n(w*w*v*torch.rand(3)).sum().backward()",
    X + "(x*torch.stack([torch.rand(3), torch.rand(3)])).sum().backward()",
    X + "fc = nn.Linear(3, 2)\nfc.weight.data.normal_(0, 0.02)\nfor p in fc.parameters():\n    p.data.uniform_(-1, 1)\n"
    "((fc(x) - torch.rand(2))**2).sum().backward()",
    X + "y = x\nwhile torch.rand(1) < 0.9:\n    y = y*torch.rand(3)\n(y + torch.rand(1)).sum().backward()",
    X + "n = 0\nfor i in range(4):\n    if torch.rand(1).item() > 0.5:\n        n = n + torch.randn(3)\n"
    "(x*n).sum().backward()",
    X + "(x*torch.rand(3).mul(torch.rand(3)).clamp(0.1, torch.rand(1).item())).sum().backward()",
    X + "torch.cuda.manual_seed(8)\ntorch.random.manual_seed(2)\n(x*torch.rand(3)).sum().backward()",
    X + "torch.manual_seed(-1)\n(x*torch.rand(3)).sum().backward()",
]


def _run(text: str) -> dict[str, Any]:
    """What the names of a text are, once torch has run it."""
    names: dict[str, Any] = {}
    default = torch.get_default_dtype()
    try:
        exec(text, names)
    finally:
        torch.set_default_dtype(default)
    return names


def _truth(names: dict[str, Any]) -> dict[str, np.ndarray[Any, Any]]:
    """The gradients that torch left."""
    held = {name: one for name, one in names.items() if isinstance(one, torch.Tensor) and name != "p"}
    for name, one in names.items():
        if isinstance(one, nn.Module):
            held |= {f"{name}.{path}": parameter for path, parameter in one.named_parameters()}
    return {name: one.grad.numpy() for name, one in held.items() if one.is_leaf and one.grad is not None}


@pytest.mark.parametrize("text", SNIPPETS)
def test_the_numbers_are_those_of_torch_and_numpy(text: str) -> None:
    """The gradients of each snippet are those that torch leaves when it runs it."""
    truth = _truth(_run(SEED + text))
    answer = Function(SEED + text).vjp()
    assert set(answer.vjp) == set(truth)
    for name, gradient in truth.items():
        np.testing.assert_allclose(answer.vjp[name], gradient, rtol=3e-6, atol=1e-7)
    assert not any("seed" in one for one in answer.warnings)


GIVEN = [
    "(x*torch.randn(3)).sum()",
    "t = torch.randn(3)\n((x - t)**2*torch.rand(3)).sum()",
    "def f(x):\n    return (x*torch.randn(3)).sum()\nf(x)*torch.rand(1)",
    "t = torch.randn_like(x)\nu = torch.randn(x.shape)\n((x - t)**2*u*torch.rand(len(x))).sum()",
    "i = torch.randperm(x.shape[0])\n(x[i]*torch.rand(3)*torch.tensor([1., 2., 3.])).sum()",
    "(x*np.random.rand(3).sum()).sum()",
]


@pytest.mark.parametrize("text", GIVEN)
def test_sizes_may_be_those_of_a_variable_with_a_value(text: str) -> None:
    """The text is read again with its shape, and draws the same numbers as torch."""
    *lines, last = text.split("\n")
    body = "\n".join([*lines, f"y = {last}", "y.backward()"])
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    names = {"x": x, "torch": torch, "np": np}
    torch.manual_seed(3)
    np.random.seed(5)
    exec(body, names)
    assert x.grad is not None
    answer = Function(f"torch.manual_seed(3)\nnp.random.seed(5)\n{text}").vjp({"x": [1.0, 2.0, 3.0]}, wrt=["x"])
    np.testing.assert_allclose(answer.vjp["x"], x.grad.numpy(), rtol=3e-6)


def test_two_draws_are_two_tensors() -> None:
    """The seed says which."""
    text = "torch.manual_seed({})\nu = torch.randn(2)\nw = torch.randn(2)\nx*u + w"
    first, other = (read(text.format(seed)).values for seed in (3, 4))
    np.testing.assert_allclose(first["u"], [0.8033, 0.1748], atol=1e-4)
    np.testing.assert_allclose(first["w"], [0.0890, -0.6137], atol=1e-4)
    assert not np.array_equal(first["u"], other["u"])
    inside = read("torch.manual_seed(3)\nx*torch.randn(2) + torch.randn(2)").program
    assert len({line.call for line in inside.lines if line.call.op.name == "drawn"}) == 2


def test_numbers_without_a_seed_are_those_of_0_and_it_is_said_once() -> None:
    """By torch and by NumPy."""
    text = "import torch\nu = torch.randn(2)\nfc = torch.nn.Linear(2, 1)\n(x*u).sum() + fc(x).sum()"
    snippet = read(text)
    torch.manual_seed(0)
    np.testing.assert_array_equal(snippet.values["u"], torch.randn(2).double().numpy())
    assert snippet.program.warnings.count(UNSEEDED) == 1
    plain = read("(x*np.random.rand(2)).sum() + np.random.rand() + np.random.default_rng().random()").program
    assert [one for one in plain.warnings if "seed" in one] == [
        "no seed is set: random numbers are those that NumPy draws with the seed 0"
    ]


def test_a_drawn_variable_may_be_given() -> None:
    """What is drawn behind it stays what it is."""
    text = "import torch\ntorch.manual_seed(3)\nx = torch.randn(2, requires_grad=True)\nt = torch.randn(2)\n"
    f = Function(text + "((x - t)**2).sum().backward()")
    t = f.vjp().inputs["t"]
    np.testing.assert_allclose(f.vjp({"x": [1.0, 2.0]}).vjp["x"], 2 * (np.array([1.0, 2.0]) - t), rtol=1e-6)


def test_the_functions_of_the_language_keep_their_numbers() -> None:
    """Where no library stands before them, or a seed is among their arguments."""
    expected = np.random.default_rng(0).standard_normal(2)
    np.testing.assert_array_equal(Function("randn(2)*x").eval({"x": 1.0}).value, expected)
    np.testing.assert_array_equal(Function("x*torch.randn(2, seed=0)").eval({"x": 1.0}).value, expected)


def test_every_reading_has_the_same_numbers() -> None:
    """Torch, the reference, formulas, scripts."""
    f = Function("torch.manual_seed(3)\nu = x*torch.randn(2) + x**2*torch.randn(2)\nu")
    answer = f.jacobian({"x": [1.0, 2.0]})
    assert answer.check is not None
    assert answer.check.verdict == "agree"
    assert "0.8032760620117188" in str(f.code({"x": [1.0, 2.0]}, "ones"))


REFUSED = [
    ("torch.randn(10**9)", "random numbers are drawn"),
    ("torch.randn(10**30)", "too large"),
    ("torch.randperm(10**8)", "random numbers are drawn"),
    ("torch.randperm(10**7)", "a permutation of more than"),
    ("np.random.rand(10**5, 10**5)", "random numbers are drawn"),
    ("np.random.permutation(10**9)", "random numbers are drawn"),
    ("torch.randn(-1)", "a size is"),
    ("torch.randn(2.5)", "an integer constant"),
    ("torch.randn(3, foo=2)", "no argument 'foo'"),
    ("torch.randn(3, dtype=torch.float16)", "16 bits"),
    ("torch.randint(2**40, (3,))", "below a bound"),
    ("torch.randint(3, 3, (3,))", "below a bound"),
    ("torch.normal(0., 1.)", "takes a tensor, or a size"),
    ("torch.normal(0., -1., (3,))", "a standard deviation"),
    ("torch.rand(3, generator=x)", "a generator must stand here"),
    ("torch.randn_like(torch.ones(2, 3).T).sum()", "another order"),
    ("np.random.gumbel()", "is not drawn"),
    ("np.random.normal(0, -1)", "scale < 0"),
    ("np.random.default_rng(3).rand(3)", "is not drawn"),
    ("np.random.RandomState(-3).rand(3)", "a seed of NumPy's"),
    ("random.random()", "Python's random"),
    ("(torch.rand(3) if x.sum() > 0 else 1)", "depends on the values"),
]


@pytest.mark.parametrize(("value", "message"), REFUSED)
def test_what_is_not_drawn_is_refused(value: str, message: str) -> None:
    """With its reason."""
    with pytest.raises(GradcliError, match=message) as caught:
        read(f"import torch\n{X}(x*{value}).sum().backward()")
    assert caught.value.place is not None


NOISY = "def noisy(x):\n    return x + torch.randn(3)\n"
MODEL = "import torch.nn as nn\nclass Net(nn.Module):\n    def sample(self, x):\n        return x + torch.randn(3)\n"
MODEL += "    def forward(self, x):\n        return self.sample(x)\nnet = Net()\n"

PASSED_OVER = [
    NOISY + "print(f'{noisy(x)}')",
    NOISY + "other = lambda x: noisy(2*x)\nprint(f'{other(x)}')",
    NOISY + "def f(x):\n    print(noisy(x))\n    return x\ny = f(x)",
    MODEL + "print(net(x))",
    MODEL + "print(f'{net.sample(x):}')",
    "print(torch.rand(3))",
    "print(f'{torch.rand(3)}')",
    "plt.plot(np.random.rand(3))",
    "with torch.random.fork_rng():\n    u = torch.rand(3)",
    "y = x*1\nif x.sum() > 0:\n    y = x*torch.rand(3)",
    "y = x*2\ny.uniform_()",
    "t = torch.empty(3)\ny = x*t\nt.uniform_()",
    "for i in range(10):\n    x = x + torch.rand(3000, 3000).sum()",
]


@pytest.mark.parametrize("lines", PASSED_OVER)
def test_nothing_is_drawn_that_is_not_counted(lines: str) -> None:
    """As all that is drawn behind it would be other numbers."""
    with pytest.raises(GradcliError):
        read(f"import torch\n{X}{lines}\n(x*torch.rand(3)).sum().backward()")

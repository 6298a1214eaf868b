"""Layers, models and losses of torch.nn as values: the parameters that torch draws, and its gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from gradcli import Function
from gradcli.errors import GradcliError
from gradcli.language.snippets.network_modules import UNSEEDED

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\ntorch.manual_seed(3)\n"

NET = """
class Net(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.fc1 = nn.Linear(3, n)
        self.act = nn.Tanh()
        self.fc2 = nn.Linear(n, 1, bias=False)
        self.scale = nn.Parameter(torch.tensor(2.))

    def hidden(self, x):
        return self.act(self.fc1(x))

    def forward(self, x):
        return self.scale*self.fc2(self.hidden(x))
"""

TEXTS = [
    "fc1 = nn.Linear(3, 2)\nx = torch.tensor([1., 2., 0.5])\nloss = fc1(x).pow(2).sum()\nloss.backward()",
    "net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))\nx = torch.tensor([[1., 2., 0.5]])\n"
    "loss = nn.MSELoss()(net(x), torch.tensor([[1.]]))\nloss.backward()",
    NET + "model = Net()\nloss = nn.MSELoss(reduction='sum')(model(torch.tensor([[1., 2., 0.5]])), "
    "torch.tensor([[1.]]))\nloss.backward()",
    NET + "model = Net(n=2).double().train()\ny = model(torch.tensor([[1., 2., 0.5]])).sum()\ny.backward()",
    "ln = nn.LayerNorm(3)\ny = (ln(torch.tensor([[1., 2., 0.5]]))**3).sum()\ny.backward()",
    "net = nn.Sequential(nn.Flatten(), nn.Linear(4, 2), nn.LogSoftmax(dim=1))\n"
    "loss = -net(torch.tensor([[[1., 2.], [3., 4.]]]))[0, 1]\nloss.backward()",
    "lin = nn.Linear(2, 1)\nx = torch.tensor([[1., 2.], [3., -1.]])\n"
    "loss = nn.BCEWithLogitsLoss()(lin(x), torch.tensor([[0.], [1.]]))\nloss.backward()",
    "layers = [nn.Linear(3, 3) for _ in range(2)]\nnet = nn.Sequential(*layers)\nh = torch.tensor([1., 2., 0.5])\n"
    "for layer in net:\n    h = torch.sin(layer(h))\ny = h.sum()\ny.backward()",
]


def by_torch(text: str) -> dict[str, torch.nn.Parameter]:
    """The parameters of what has names, after Python has run the text."""
    space: dict[str, Any] = {}
    exec(text, space)
    found: dict[str, torch.nn.Parameter] = {}
    for variable, value in space.items():
        if isinstance(value, torch.nn.Module):
            head = "" if type(value).__name__ == "Net" else f"{variable}."
            found |= {f"{head}{name}": parameter for name, parameter in value.named_parameters()}
    return {n: p for n, p in found.items() if not n.startswith("layer.")}


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_layers_are_those_of_torch(text: str) -> None:
    """The same numbers for the same seed, bit for bit; the same gradients."""
    answer = Function(HEAD + text).vjp(check=False)
    expected = by_torch(HEAD + text.replace(".double()", ""))
    assert set(answer.vjp) == set(expected)
    for name, parameter in expected.items():
        np.testing.assert_array_equal(answer.inputs[name], parameter.detach().double().numpy())
        assert parameter.grad is not None
        np.testing.assert_allclose(answer.vjp[name], parameter.grad.numpy(), rtol=1e-4, atol=5e-6, err_msg=name)


def test_a_class_alone_is_its_forward_pass() -> None:
    """With its arguments for variables, and parameters that may be given."""
    f = Function("import torch\nfrom torch import nn\n" + NET)
    answer = f.vjp(at={"x": [1.0, 2.0, 0.5], "scale": 3.0}, wrt=["scale", "x"], check=False)
    assert set(answer.vjp) == {"scale", "x"}
    assert answer.inputs["scale"] == 3
    assert UNSEEDED in answer.warnings


def test_a_step_ends_what_is_read() -> None:
    """The answer is of the gradient before it."""
    loop = (
        "lin = nn.Linear(1, 1)\nopt = torch.optim.SGD(lin.parameters(), lr=0.1)\nx = torch.tensor([[2.]])\n"
        "for epoch in range(1000):\n    opt.zero_grad()\n    loss = (lin(x)**2).sum()\n    loss.backward()\n"
        "    opt.step()\n    print(loss.item())\n"
    )
    answer = Function(HEAD + loop).vjp(check=False)
    once = Function(HEAD + loop.partition("for ")[0] + "loss = (lin(x)**2).sum()\nloss.backward()").vjp(check=False)
    assert answer.vjp["lin.weight"] == once.vjp["lin.weight"]
    assert any("opt.step() changes the parameters" in one for one in answer.warnings)


REFUSED = [
    ("m = nn.LSTM(2, 3)\ny = m(x)", "the module nn.LSTM is not read"),
    ("net = nn.Sequential(nn.ReLU())\ny = net[3](x)", "this module has 1 parts"),
    ("net = nn.Sequential(3)\ny = net(x)", "a module must stand here"),
    ("lin = nn.Linear(2, 1)\ny = lin.nothing(x)", "nn.Linear has no '.nothing'"),
    (
        "class F(torch.autograd.Function):\n    def forward(ctx, x):\n        return x\ny = F.apply(x)",
        "backward pass of its own",
    ),
    ("class A:\n    def __init__(self):\n        self.w = 2\ny = A()(x)", "has no 'forward'"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_what_is_no_module_is_refused(text: str, message: str) -> None:
    """By its cause."""
    with pytest.raises(GradcliError, match=message):
        Function(HEAD + text)

"""Layers, models and losses of torch.nn as values: the parameters that torch draws, and its gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from gradcli import Function
from gradcli.errors import GradcliError
from gradcli.language.snippets.drawing import UNSEEDED

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
    "net = nn.Sequential(nn.Conv2d(1, 2, kernel_size=2, padding=1), nn.BatchNorm2d(2), nn.ReLU(), nn.MaxPool2d(2), "
    "nn.Flatten(), nn.Dropout(0.5), nn.Linear(2, 1))\nnet.eval()\n"
    "y = net(torch.tensor([[[[1., -2.], [3., 0.5]]]])).sum()\ny.backward()",
    "bn = nn.BatchNorm1d(2)\nact = nn.PReLU(2)\n"
    "y = (act(bn(torch.tensor([[1., 2.], [0.5, -1.], [3., 0.]])))**3).sum()\n"
    "y.backward()",
    "up = nn.ConvTranspose1d(2, 2, (2,), stride=2, groups=2, bias=False)\n"
    "y = (up(torch.tensor([[[1., 2.], [0.5, -1.]]]))**2).sum()\ny.backward()",
    "gn = nn.GroupNorm(2, 4)\nboth = nn.Bilinear(4, 1, 2)\nx = torch.tensor([[1., 2., 0.5, 4.]])\n"
    "y = both(gn(x), x[:, :1]).pow(2).sum()\ny.backward()",
    "cell = nn.LSTMCell(2, 2)\nx = torch.tensor([[1., -2.], [0.5, 1.]])\nh, c = cell(x)\n"
    "h, c = cell(x, (x, c.detach()))\n"
    "y = (h*c).sum()\ny.backward()",
    "gru = nn.GRUCell(2, 1)\nrnn = nn.RNNCell(2, 1, bias=False)\nx = torch.tensor([[1., -2.]])\n"
    "y = (gru(x, rnn(x))**2).sum()\ny.backward()",
    "fc = nn.Linear(3, 2)\nnn.init.kaiming_uniform_(fc.weight, nonlinearity='relu')\nnn.init.constant_(fc.bias, 0.5)\n"
    "w = nn.Linear(2, 2, bias=False)\nnn.init.xavier_uniform_(w.weight, gain=2)\n"
    "y = w(fc(torch.tensor([1., 2., 0.5]))).pow(2).sum()\ny.backward()",
    "class Net(nn.Module):\n    def __init__(self, n: int = 2):\n        super().__init__()\n        self.n: int = n\n"
    "        self.register_buffer('s', torch.tensor([1., 2.]))\n        self.add_module('fc', nn.Linear(n, n))\n"
    "        self.register_parameter('k', nn.Parameter(torch.tensor(3.)))\n        nn.init.ones_(self.fc.weight)\n"
    "        self.w = nn.Parameter(torch.empty(n, n))\n        nn.init.eye_(self.w)\n"
    "        torch.nn.init.uniform_(self.fc.bias, -0.1, 0.3)\n"
    "    def forward(self, x):\n        try:\n            return self.k*(self.w @ self.fc(x)*self.s).sum()*self.n\n"
    "        except RuntimeError as error:\n            print(error)\n            raise\n"
    "model = Net()\ny = model(torch.tensor([1., -2.]))**2\ny.backward()",
    "lin = nn.Linear(2, 3)\nx, t = torch.tensor([[1., 2.], [0.5, -1.]]), torch.tensor([2, 0])\n"
    "loss = nn.CrossEntropyLoss(label_smoothing=0.1)(lin(x), t)\nloss.backward()",
    "net = nn.Sequential(nn.ZeroPad1d(1), nn.Conv1d(1, 2, 2), nn.ConstantPad1d((1, 0), 0.5))\n"
    "y = (nn.Softmax2d()(net(torch.tensor([[[1., -2., 3.]]]))[..., None])**2).sum()\ny.backward()",
    # One parameter of two modules
    "a, b = nn.Linear(2, 2, bias=False), nn.Linear(2, 2)\nb.weight = a.weight\n"
    "y = b(a(torch.tensor([1., -2.]))).pow(2).sum()\ny.backward()",
    "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.e = nn.Linear(3, 2)\n"
    "        self.d = nn.Linear(2, 3, bias=False)\n        self.d.weight = nn.Parameter(torch.ones(3, 2)*0.5)\n"
    "    def forward(self, x):\n        return self.d(torch.tanh(self.e(x)))\n"
    "x = torch.tensor([1., 2., 0.5])\nmodel = Net()\nloss = (model(x) - x).pow(2).sum()\nloss.backward()",
    "class Net(nn.Module):\n    def __init__(self, dim, eps):\n        super().__init__()\n        self.eps = eps\n"
    "        self.w = nn.Parameter(torch.ones(dim)*2)\n    def forward(self, x):\n"
    "        return self.w*x*torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)\n"
    "model = Net(3, 1e-6)\ny = (model(torch.tensor([[1., 2., 0.5]]))**2).sum()\ny.backward()",
    "net = torch.compile(nn.Linear(2, 1)) if torch.cuda.is_available() else nn.Linear(2, 1)\n"
    "y = net(torch.tensor([1., 2.])).pow(3)\ny.backward()",
    "rnn = nn.RNN(2, 2, nonlinearity='relu')\nx = torch.tensor([[1., -2.], [0.5, 1.], [2., 0.3]])\n"
    "out, h = rnn(x)\ny = (out**2).sum() + h.sum()\ny.backward()",
    "gru = nn.GRU(2, 3, num_layers=2, batch_first=True)\n"
    "x = torch.tensor([[[1., -2.], [0.5, 1.]], [[0.2, 0.1], [2., -1.]]])\n"
    "out, h = gru(x, torch.ones(2, 2, 3))\ny = out[:, -1].pow(2).sum() + h[0].sum()\ny.backward()",
    "lstm = nn.LSTM(2, 2, bidirectional=True, bias=False)\n"
    "x = torch.tensor([[[1., -2.]], [[0.5, 1.]], [[2., 0.3]]])\n"
    "out, (h, c) = lstm(x)\ny = out[0].sum() + (h*c).sum()\ny.backward()",
    "att = nn.MultiheadAttention(2, 2, batch_first=True)\nx = torch.tensor([[[1., -2.], [0.5, 1.], [2., 0.]]])\n"
    "mask = torch.ones(3, 3).triu(1).bool()\na, w = att(x, x, x, attn_mask=mask)\n"
    "y = (a**2).sum() + (w**2).sum()\ny.backward()",
    "net = nn.ModuleDict({'a': nn.Linear(2, 2), 'b': nn.Linear(2, 1)})\nx = torch.tensor([1., 2.])\n"
    "y = net['b'](net['a'](x)).sum() + sum(p.pow(2).sum() for p in net.parameters())\ny.backward()",
    "net = nn.ModuleList()\nfor n in range(2):\n    net.append(nn.Linear(2, 2))\n"
    "y = nn.ReLU(inplace=True)(net[1](net[0](torch.tensor([1., 2.])))).sum()\ny.backward()",
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
            for name, parameter in value.named_parameters():
                if all(parameter is not other for other in found.values()):  # by its first name
                    found[f"{head}{name}"] = parameter
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


@pytest.mark.parametrize("shape", [(3, 2), (4, 4), (5, 7)])
def test_embeddings_are_drawn_as_torch_draws_them(shape: tuple[int, int]) -> None:
    """Few numbers exactly; many up to the last digit of float32, in which torch's fast logarithm differs."""
    torch.manual_seed(3)
    expected = torch.nn.Embedding(*shape, padding_idx=0), torch.nn.Embedding(2, 1)
    text = HEAD + f"a = nn.Embedding({shape[0]}, {shape[1]}, padding_idx=0)\nb = nn.Embedding(2, 1)\n"
    answer = Function(text + "y = (a(torch.tensor([0, 2])) + b(torch.tensor([1, 1]))).sum()\ny.backward()").vjp(
        check=False
    )
    for name, module in zip("ab", expected, strict=True):
        np.testing.assert_allclose(answer.inputs[f"{name}.weight"], module.weight.detach().numpy(), rtol=0, atol=5e-7)
    assert answer.vjp["a.weight"][0].tolist() == [0] * shape[1]


def test_masks_stay_masks() -> None:
    """Truth values choose elements, and are no positions 1 and 0."""
    text = "mask = torch.tensor([True, False])\nx = torch.tensor([1., 2.], requires_grad=True)\n"
    assert Function(HEAD + text + "y = (x[mask]**2).sum() + x[~mask].sum()\ny.backward()").vjp(check=False).vjp[
        "x"
    ].tolist() == [2, 1]


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


@pytest.mark.parametrize(
    "update",
    [
        "    with torch.no_grad():\n        w -= 0.1*w.grad\n        w.grad.zero_()\n",
        "    w.data -= 0.1*w.grad.data\n    w.grad.data.zero_()\n",
        "    w.data = w.data - 0.1*w.grad\n    w.grad = None\n",
    ],
)
def test_an_update_by_hand_ends_it_too(update: str) -> None:
    """In place under no_grad, of the data, or by assigning that."""
    text = "w = torch.tensor([1., 2.], requires_grad=True)\nfor i in range(3):\n    loss = (w**2).sum()\n"
    answer = Function(HEAD + text + "    loss.backward()\n" + update).vjp(check=False)
    assert answer.vjp["w"].tolist() == [2, 4]
    assert any("changes the parameters: the answer is of the gradient before it" in one for one in answer.warnings)


REFUSED = [
    ("m = nn.Transformer(2, 3)\ny = m(x)", "the module nn.Transformer is not read"),
    ("m = nn.LSTM(2, 3, 2, dropout=0.5)\ny = m(x)", "dropout is random"),
    ("fc = nn.Linear(2, 1)\nnn.init.orthogonal_(fc.weight)\ny = fc(x)", "read are zeros_"),
    ("fc = nn.Linear(2, 1)\nnn.init.xavier_normal_(fc.bias)\ny = fc(x)", "two dimensions at least"),
    ("net = nn.Sequential(nn.ReLU())\ny = net[3](x)", "this module has 1 parts"),
    ("net = nn.Sequential(3)\ny = net(x)", "a module must stand here"),
    ("lin = nn.Linear(2, 1)\ny = lin.nothing(x)", "nn.Linear has no '.nothing'"),
    ("lin = nn.Linear(2, 1, size=3)\ny = lin(x)", "nn.Linear has no argument 'size'"),
    ("m = nn.Conv2d(1, 6)\ny = m(x)", "needs the argument 'kernel_size'"),
    ("m = nn.Conv2d(1, 6, 3, padding_mode='reflect')\ny = m(x)", "with padding_mode is not read"),
    ("m = nn.Linear(2, 1)\nm.apply(f)\ny = m(x)", "a function of the text must stand here"),
    ("m = nn.Dropout(0.5)\ny = m(x)", "random in training"),
    ("m = nn.BatchNorm1d(2)\ny = m(x)\nm.eval()\nz = m(y)", "changed its running averages"),
    ("m = nn.MultiheadAttention(3, 2)\ny = m(x)", "not parted among 2 heads"),
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

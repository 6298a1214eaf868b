"""What is changed in place is read as torch and NumPy run it: elements, methods, parameters; or it is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from gradcli import Function
from gradcli.errors import GradcliError

HEAD = (
    "import torch\nimport torch.nn.functional as F\n"
    "x = torch.tensor([[1., -2., 3.], [-4., 5., -6.]], dtype=torch.float64, requires_grad=True)\n"
    "b = torch.tensor([0.5, 2., -1.], dtype=torch.float64, requires_grad=True)\n"
)
LOSS = "\n(y*y*torch.arange(1., 7.).view(2, 3)).sum().backward()"

ELEMENTS = [
    "y[y < 0] = 0",
    "y[y < 0] = b[0]",
    "y[y < 0] += 1",
    "y[y < 0] *= b[1]",
    "y[y < 0] -= b.sum()",
    "y[y < 0] **= 2",
    "y[y > 0] /= 3",
    "y[y > 0] **= 0.5",
    "y[y < 0] = x[y < 0]*2",
    "y[x < 0] = x[x < 0]**2 + 1",
    "m = y.sum(1) > 0\ny[m] = 1",
    "m = y.sum(1) > 0\ny[m] = b",
    "m = y.sum(1) > 0\ny[m] += b",
    "m = torch.tensor([True, False])\ny[m] *= 2",
    "m = torch.tensor([True, False, True])\ny[:, m] = 3",
    "m = torch.tensor([True, False, True])\ny[0, m] = b[:2]",
    "y[0][y[0] < 0] = 7",
    "y[~(y > 0)] = 0",
    "y[(y > 0) & (y < 4)] = -1",
    "y[y != y] = 0",
    "y[y > 100] = 5",
    "y[y < 0] = torch.tensor([9.], dtype=torch.float64)",
    "y[[1, 0]] = y[[0, 1]]",
    "y[[1]] = b",
    "y[[0, 1], [2, 0]] = 5",
    "y[[0, 1], [2, 0]] = b[1:]",
    "y[torch.arange(2), torch.tensor([2, 0])] -= 1",
    "y[torch.arange(2), torch.tensor([1, 1])] *= b[0]",
    "y[:, [0, 2]] = 1",
    "y[:, [2, 0]] = b[:2]",
    "y[..., [0]] += 2",
    "y[torch.tensor([0, 0])] = 1",
    "y[None, [0]] = 4",
    "y[[0], None] = 2",
    "y[1, [0, 1]] = torch.stack([b[0], b[1]])",
    "idx = torch.tensor([1, 0])\ny[range(2), idx] = b[0]",
    "y[torch.tensor([[0, 1], [1, 0]]), torch.tensor([0, 2])] = 8.",
    "y[-1, [-1, 0]] = 3",
    "y[0] = b\ny[y < 0] = 3",
    "y[1] = b\ny[[0]] = b",
    "for row in range(2):\n    y[row, y[row] < 0] = row",
]

METHODS = [
    "y.mul_(3).add_(1)",
    "y.add_(b, alpha=2)",
    "y.sub_(b)",
    "y.div_(b)",
    "y.pow_(2)",
    "y.neg_()",
    "y.clamp_(-1, 2)",
    "y.clamp_(min=0)",
    "y.relu_()",
    "y.sigmoid_()",
    "y.tanh_()",
    "y.exp_()",
    "y.abs_()",
    "y.sin_().cos_()",
    "y.fill_(2)",
    "y.fill_(b[1])",
    "y.zero_()",
    "y.copy_(b)",
    "y.copy_(x)\ny.mul_(2)",
    "y.masked_fill_(y < 0, 0)",
    "y.masked_fill_(x < 0, b[0])",
    "y.addcmul_(b, b, value=2)",
    "y.lerp_(b, 0.5)",
    "y.index_add_(0, torch.tensor([1]), b.unsqueeze(0))",
    "y.scatter_(1, torch.tensor([[0], [2]]), 4.)",
    "y[0].fill_(3)",
    "y[:, 1].mul_(b[0])",
    "y[0].copy_(b)",
    "y[1, 2].mul_(3)",
    "y[0].zero_().add_(b)",
    "y.view(-1)[2:4].mul_(5)",
    "y.t()[0].add_(b[0])",
    "y[0] = b\ny.mul_(2)",
    "y[0] = b\ny.view(-1)[0].mul_(2)",
    "z = y.mul_(2)\ny = y + z",
    "y = y.mul_(2)",
    "F.relu_(y)",
    "torch.relu_(y)",
    "F.relu(y, inplace=True)",
    "y = F.leaky_relu(y, 0.1, inplace=True)",
    "y = F.relu(y, inplace=False)",
    "y = (y*2).add_(1).mul_(b)",
    "for t in range(3):\n    y.mul_(0.5).add_(b)",
]


def ran(text: str) -> dict[str, Any]:
    """The names of a text after Python has run it."""
    names: dict[str, Any] = {}
    exec(text, names)
    return names


@pytest.mark.parametrize("start", ["y = x*2", "y = x.clone()", "y = torch.zeros(2, 3, dtype=torch.float64) + x"])
@pytest.mark.parametrize("change", [*ELEMENTS, *METHODS])
def test_changes_are_those_of_torch(start: str, change: str) -> None:
    """The gradients, by the tensor itself and by what is put into it."""
    text = f"{HEAD}{start}\n{change}{LOSS}"
    names, answer = ran(text), Function(text).vjp(check=False)
    for name in ("x", "b"):
        gradient = names[name].grad
        expected = np.zeros(names[name].shape) if gradient is None else gradient.numpy()
        found = answer.vjp.get(name, np.zeros(expected.shape))
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14, err_msg=name)


@pytest.mark.parametrize("change", ["y *= 2", "y[0] = 3", "y[y > 1] = 3", "y.mul_(b)", "y[0].zero_()", "F.relu_(y)"])
@pytest.mark.parametrize(
    "start", ["y = x.exp()", "y = x*2\nz = y**2\nx2 = z.sum()", "y = x*2\nz = y + 1\nx2 = z.sum()"]
)
def test_what_torch_refuses_in_the_backward_pass_is_said(start: str, change: str) -> None:
    """Where a value is overwritten that torch has kept for it, and only there."""
    loss = "\n(y.sum() + x2).backward()" if "x2" in start else "\ny.sum().backward()"
    text = f"{HEAD}{start}\n{change}{loss}"
    try:
        ran(text)
        is_refused = False
    except RuntimeError as error:
        assert "inplace operation" in str(error)  # noqa: PT017
        is_refused = True
    assert any("inplace operation" in one for one in Function(text).vjp().warnings) == is_refused


ARRAYS = [
    "y[y < 0] = 0",
    "y[y < 0] += 1",
    "y[y < 0] **= 2",
    "y[[0, 0]] += 1",
    "y[[0, 0]] = np.array([[1., 2., 3.], [4., 5., 6.]])",
    "y[range(2), t] -= 1",
    "y[np.arange(2), t] *= b[:2]",
    "y[np.arange(2), t] = 0",
    "y[:, t] = 7",
    "y[[0, 0], [1, 1]] = b[:2]",
    "y[t == 0] = b",
    "y[x[:, 0] > 0, 0] = 3",
    "y[y > 0] = y[y > 0]/2",
    "y[-1][[0, 1]] = 8",
    "prev = y[0]\ny[1] = prev*2",
    "y[::-1, [0]] = 2",
    "y[np.newaxis, [0]] = 4",
    "y[1, t] += b[:2]",
    "c = y[1].copy()\nc *= 2\ny[0] = c",
    "c = y[1, 1]\nc *= 2\ny[1, 0] = c",
    "y[np.array([True, False])] = 1",
    "y[np.array([[0], [1]]), np.array([0, 2])] = b[:2]",
    "c = np.zeros(3)\nd = np.zeros(3)\nc[0] = 1\nd[1] = 2\ny = y + c*2 + d",
]


@pytest.mark.parametrize("start", ["y = x*2", "y = x.copy()"])
@pytest.mark.parametrize("change", ARRAYS)
def test_changes_are_those_of_numpy(start: str, change: str) -> None:
    """Repeated positions too, of which the last counts."""
    head = "import numpy as np\nx = np.array([[1., -2., 3.], [-4., 5., -6.]])\nb = np.array([0.5, 2., -1.])\n"
    text = f"{head}t = np.array([2, 0])\n{start}\n{change}\nout = y*y"
    np.testing.assert_allclose(Function(text).eval().value, ran(text)["out"], rtol=1e-14)


REFUSED = [
    ("y = x*2\ny[torch.tensor([0, 0])] += 1", "positions are the same"),
    ("y = x*2\ny[torch.tensor([0, 0])] = b", "positions are the same"),
    ("y = x*2\ny[y < 0].mul_(5)", "a copy that nothing else sees"),
    ("y = x*2\ny.mul_(torch.ones(4, 2, 3))", "in place of"),
    ("y = x*2\ny[torch.tensor([True, False, True])] = 1", "does not fit"),
    ("y = x*2\ny[[0, 5]] = 1", "does not fit"),
    ("y = x*2\ny[[0, 1]] = torch.ones(4)", "for elements of shape"),
    ("x.mul_(2)\ny = x", "in place"),
    ("x[x < 0] = 0\ny = x", "in place"),
    ("y = x*2\nz = y\ny.mul_(2)", "shares its memory"),
    ("y = x*2\nz = y.view(-1)\ny[y < 0] = 0", "shares its memory"),
    ("y = x.clone()\nz = y\ny *= 3", "shares its memory"),
    ("y = x*2\nxs = [y, x]\ny.add_(1)", "shares its memory"),
    ("y = x*2\nd = {'y': y}\nz = d['y']\nz *= 3", "shares its memory"),
    ("y = x*2\nd = y.detach()\nd *= 3", "shares its memory"),
    ("y = torch.zeros(3)\ny[0] = b[0]\nz = y\ny[1] = 5.", "shares its memory"),
    ("y = torch.zeros(3)\ny[0] = b[0]\nz = y[0]\ny[0] = 5.", "shares its memory"),
    ("def f(z):\n    z *= 2\n    return z\ndef g(x):\n    w = x*3\n    return f(w)*w\ny = g(x)", "shares its memory"),
    ("y = x*2\nwith torch.no_grad():\n    y *= 3", "without its derivative"),
    ("a = torch.tensor([1, 2, 3])\na[0] = 3.5\ny = a*x", "whole numbers"),
    ("a = torch.tensor([1, 2, 3])\na *= 3.5\ny = a*x", "whole numbers"),
    ("y = x**2\nx.data.mul_(3)", "takes other numbers behind lines that use it"),
    ("y = x*2\ny.t().reshape(-1)[0].mul_(3)", "may be a copy"),
]


@pytest.mark.parametrize(("text", "words"), REFUSED, ids=range(len(REFUSED)))
def test_what_others_would_see_is_refused(text: str, words: str) -> None:
    """And what torch refuses itself."""
    with pytest.raises(GradcliError, match=words) as caught:
        Function(HEAD + text + "\ny.sum().backward()").vjp(check=False)
    assert caught.value.place is not None


LAYER = "import torch\nimport torch.nn as nn\ntorch.manual_seed(0)\n"
CALL = "\nnet(torch.tensor([[3., 4.]])).pow(2).sum().backward()"
ONE = "net = nn.Linear(2, 2)\n"
TWO = "net = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1))\n"

PARAMETERS = [
    ONE + "net.weight.data = torch.tensor([[1., 2.], [3., 4.]])\nnet.bias.data.fill_(0.5)",
    ONE + "net.weight.data[0, 1] *= 4\nnet.weight.data[:, 0].add_(1)\nnet.bias.data[0] = 3",
    ONE + "net.weight.data.mul_(3).add_(1)",
    ONE + "with torch.no_grad():\n    net.weight.copy_(torch.ones(2, 2))\n    net.bias.zero_()",
    ONE + "with torch.no_grad():\n    net.weight *= 2\n    net.weight[0, 1] = 3\n    net.bias += 1\n"
    "    net.weight[:, 0].mul_(2)",
    ONE + "net.weight = nn.Parameter(torch.tensor([[1., 2.], [0., 1.]]))",
    ONE + "net.weight.data.fill_(0.5)\nnet.weight = nn.Parameter(torch.tensor([[1., 2.], [0., 1.]]))",
    ONE + "other = nn.Linear(2, 2)\nnet.load_state_dict(other.state_dict())",
    TWO + "net.load_state_dict({'0.weight': 0.1*torch.ones(2, 2), '0.bias': torch.zeros(2), "
    "'2.weight': torch.tensor([[1., 2.]]), '2.bias': torch.tensor([0.5])})",
    TWO + "for p in net.parameters():\n    p.data.fill_(0.1)",
    TWO + "for name, p in net.named_parameters():\n    if 'weight' in name and '2' not in name:\n"
    "        p.data.mul_(2)",
    TWO + "for m in net.modules():\n    if isinstance(m, nn.Linear):\n        nn.init.constant_(m.weight, 0.3)",
    TWO + "for n, m in net.named_children():\n    if isinstance(m, (nn.Linear, nn.Conv2d)):\n"
    "        m.bias.data.zero_()",
    TWO + "def init(m):\n    if isinstance(m, nn.Linear):\n        nn.init.xavier_uniform_(m.weight)\n"
    "        m.bias.data.fill_(0.01)\nnet.apply(init)",
    TWO + "net = net[:-1]",
    TWO + "layers = nn.ModuleList([nn.Linear(2, 3), nn.Linear(3, 1)])\n"
    "def net(x):\n    for layer in layers[:-1]:\n        x = torch.tanh(layer(x))\n    return layers[-1](x)",
]


@pytest.mark.parametrize("text", PARAMETERS, ids=range(len(PARAMETERS)))
def test_parameters_are_set_by_hand(text: str) -> None:
    """Before the forward pass, whose gradients are of what they are then."""
    names = ran(LAYER + text + CALL)
    expected = [
        p.grad.numpy()
        for value in names.values()
        if isinstance(value, torch.nn.Module) and value.__class__.__name__ != "Tanh"
        for p in value.parameters()
        if p.grad is not None
    ]
    answer = Function(LAYER + text + CALL).vjp(check=False)
    found = [np.asarray(one) for one in answer.vjp.values() if np.any(one)]
    for gradient in expected:
        assert any(one.shape == gradient.shape and np.allclose(one, gradient, rtol=1e-3) for one in found)
    assert len(found) <= len(expected)


BEHIND = [
    "torch.nn.utils.clip_grad_norm_([w], 1.0)",
    "torch.nn.utils.clip_grad_value_([w], 0.1)",
    "w.grad.clamp_(-1, 1)",
    "w.grad *= 2",
    "w.data.add_(-0.1*w.grad)",
    "for p in [w]:\n    p.data -= 0.1*p.grad",
    "with torch.no_grad():\n    for p in [w]:\n        p -= 0.1*p.grad",
    "w.data.clamp_(0, 1)",
]


@pytest.mark.parametrize("update", BEHIND)
def test_what_changes_parameters_or_gradients_ends_what_is_read(update: str) -> None:
    """With a remark; the answer is of the pass before."""
    text = "w = torch.tensor([1., 2.], requires_grad=True)\nloss = (w**2).sum()\nloss.backward()\n" + update
    answer = Function("import torch\n" + text + "\nloss = (w**3).sum()\nloss.backward()").vjp(check=False)
    assert answer.vjp["w"].tolist() == [2, 4]
    assert any("what follows is passed over" in one for one in answer.warnings)


def test_a_step_in_a_function_ends_it_too() -> None:
    """Though it returns nothing, and has a name that modules have."""
    text = (
        "net = nn.Linear(2, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\ndef train():\n"
        "    for epoch in range(5):\n        opt.zero_grad()\n        loss = net(torch.ones(1, 2)).sum()\n"
        "        loss.backward()\n        opt.step()\ntrain()"
    )
    answer = Function(LAYER + text).vjp(check=False)
    assert answer.vjp["net.weight"].tolist() == [[1, 1]]
    assert any("opt.step() changes the parameters" in one for one in answer.warnings)


@pytest.mark.parametrize("shown", ["x.grad == 2*x", "x.grad.norm()", "torch.allclose(x.grad, 2*x)", "x.grad"])
def test_displays_of_gradients_are_passed_over(shown: str) -> None:
    """As prints are."""
    text = f"import torch\nx = torch.tensor([1., 2.], requires_grad=True)\ny = (x**2).sum()\ny.backward()\n{shown}"
    assert Function(text).vjp(check=False).vjp["x"].tolist() == [2, 4]

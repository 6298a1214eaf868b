"""What `gradcli run` says of a whole script: NaN, dead parameters, passes that are not judged, and torch's refusals."""

import json
import re
from pathlib import Path

import pytest

from tests.conftest import Command
from tests.examples import first_of_each

START = "import torch\nfrom torch import nn\ntorch.manual_seed(0)\n"
NET = (
    START + "net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))\n"
    "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nX, t = torch.randn(4, 2), torch.randn(4, 1)\n"
)
"""Six lines."""

LOOP = (
    "for step in range(3):\n    opt.zero_grad()\n    loss = ((net(X) - t)**2).mean()\n"
    "    loss.backward()\n    opt.step()\n"
)

SCALE = (
    "class Scale(torch.autograd.Function):\n"
    "    @staticmethod\n    def forward(ctx, x):\n        ctx.save_for_backward(x)\n        return 2*x\n"
    "    @staticmethod\n    def backward(ctx, g):\n        x, = ctx.saved_tensors\n"
    "        return 2*g*x/x\n"  # line 12 after three
)

SINC = (
    "class Sinc(torch.autograd.Function):\n"
    "    @staticmethod\n    def forward(ctx, x):\n        ctx.save_for_backward(x)\n"
    "        return torch.where(x == 0, torch.ones_like(x), torch.sin(x)/x)\n"
    "    @staticmethod\n    def backward(ctx, g):\n        x, = ctx.saved_tensors\n"
    "        return g*(torch.cos(x)/x - torch.sin(x)/x**2)\n"  # line 12 after three
)

X = START + "x = torch.tensor([0.0, 4.0], requires_grad=True)\n"

PLANTED_NANS = {
    "forward": (X + "torch.log(x - 1).sum().backward()\n", r"NaN begins in log\(x - 1\) \(own.py, line 5\)"),
    "backward": (
        X + "torch.where(x > 1, x.sqrt(), x).sum().backward()\n",
        r"NaN begins in the backward pass of sqrt\(x\) \(own.py, line 5\)",
    ),
    "overflow": (X + "y = torch.exp(100*x)\n(y/y).sum().backward()\n", r"infinity begins in exp\(.*\(own.py, line 5\)"),
    "custom": (
        START + SCALE + X[len(START) :] + "Scale.apply(x).sum().backward()\n",
        r"NaN begins in .*Scale.backward \(own.py, line 12\)",
    ),
    "custom, NaN in the forward": (
        START + SINC + X[len(START) :] + "Sinc.apply(x).sum().backward()\n",
        r"\|grad\| nan .*\n +infinity begins in div, in Sinc.backward \(own.py, line 12\)\n +NaN begins in div",
    ),
    "update by hand": (
        "import torch\nw = torch.tensor(1.0, requires_grad=True)\nfor n in range(6):\n    (w**4).backward()\n"
        "    with torch.no_grad():\n        w -= w.grad\n    w.grad = None\n",
        r"pass 6 .*\n +w holds infinity (since pass 5 \(own.py, line 6\))(?s:.*)\nw is infinite \1$",
    ),
    "mask": (
        X + "mask = torch.tensor([0.0, -float('inf')])\n((torch.softmax(x + mask, 0) + x.sqrt()*x)[0]).backward()\n",
        r"pass 1 .*\n +NaN begins in the backward pass of sqrt\(x\) \(own.py, line 6\)",
    ),
    "hook": (
        X + "y = x**2\ny.register_hook(lambda g: g*x/x)\ny.sum().backward()\n",
        r"NaN begins in .* \(own.py, line 6\)",
    ),
    "data": (NET + "X[1, 0] = float('nan')\n" + LOOP, r"^X holds NaN in pass 1 \(own.py, line 11\)$"),
    "weights": (NET + LOOP + "net[0].weight.data.log_()\n" + LOOP, r"net.layer_0.weight is NaN since pass 3"),
    "late": (
        X + "for n in range(104):\n    x.grad = None\n    (x + torch.log(torch.tensor(102.5 - n))).sum().backward()\n",
        r"pass 104   own.py, line 7   not judged: y is NaN",
    ),
}  # fmt: skip
"""Scripts with a NaN, by where it is, and the words that name it; another test has one late too."""


W = "import torch\nw = torch.tensor([2.0, -1.0], requires_grad=True)\nx = torch.tensor([1.0, 3.0])\n"
UPDATE = "    with torch.no_grad():\n        w -= 0.01*w.grad\n"
STEPS = "for n in range(4):\n    (((w*x).sum() - n)**2).backward()\n"
SGD = "opt = torch.optim.SGD([w], lr=0.01)\n"
MODEL = NET.replace("lr=0.1", "lr=0.01")
CRITIC = (
    START + "D, G = nn.Linear(2, 1), nn.Linear(2, 2)\nX, Z = torch.randn(4, 2), torch.randn(4, 2)\n"
    "d, g = torch.optim.SGD(D.parameters(), lr=0.1), torch.optim.SGD(G.parameters(), lr=0.1)\n"
)
ADVERSARIAL = (
    "    d.zero_grad()\n    (D(G(Z).detach()) - D(X)).mean().backward()\n    d.step()\n"
    "    g.zero_grad()\n    (-D(G(Z))).mean().backward()\n    g.step()\n"
)

ADDING = [
    ("by hand", W + STEPS + UPDATE, "w"),
    ("two passes", W + STEPS.replace("4", "2") + UPDATE, "w"),
    ("by .data", W + STEPS + "    w.data -= 0.01*w.grad\n", "w"),
    ("an optimizer", W + SGD + STEPS + "    opt.step()\n", "w"),
    ("clipped", W + SGD + STEPS + "    nn = torch.nn.utils.clip_grad_norm_([w], 1.0)\n    opt.step()\n", "w"),
    ("a model", MODEL + LOOP.replace("    opt.zero_grad()\n", ""), "net.layer_2.weight.grad, net.layer_0.weight"),
    ("of several, one is not cleared", W + "b = torch.tensor(0.5, requires_grad=True)\n"
     "for n in range(3):\n    (((w*x).sum() + b)**2).backward()\n    with torch.no_grad():\n"
     "        w -= 0.01*w.grad\n        b -= 0.01*b.grad\n    b.grad = None\n", "w"),
    ("cleared where it is not read", W + STEPS + UPDATE + "    w.grad.detach().clone().zero_()\n", "w"),
    ("parts of a batch, never cleared", W + SGD + "for n in range(6):\n    ((w*x).sum()**2/2).backward()\n"
     "    if n % 2:\n        opt.step()\n", "w"),
    ("set to zero", W + STEPS + UPDATE + "    w.grad.zero_()\n", ""),
    ("set to None", W + STEPS + UPDATE + "    w.grad = None\n", ""),
    ("cleared before", W + SGD + STEPS.replace(":\n", ":\n    opt.zero_grad()\n", 1) + "    opt.step()\n", ""),
    ("parts of a batch", W + SGD + "for n in range(6):\n    ((w*x).sum()**2/2).backward()\n"
     "    if n % 2:\n        opt.step()\n        opt.zero_grad()\n", ""),
    ("parts of one batch", W + SGD + "for n in range(4):\n    ((w*x).sum()**2/4).backward()\nopt.step()\n", ""),
    ("no step", W + STEPS, ""),
    ("one pass", W + STEPS.replace("4", "1") + UPDATE, ""),
    ("torch.autograd.grad", W + "for n in range(4):\n    g, = torch.autograd.grad(((w*x).sum() - n)**2, w)\n"
     "    with torch.no_grad():\n        w -= 0.01*g\n", ""),
    ("a new leaf each time", W + "for n in range(4):\n    (w*x).sum().backward()\n"
     "    w = (w - 0.01*w.grad).detach().requires_grad_()\n", ""),
    ("a critic", CRITIC + "for n in range(3):\n" + ADVERSARIAL, ""),
    ("a critic that is clamped", CRITIC + "for n in range(3):\n" + ADVERSARIAL
     + "    for p in D.parameters():\n        p.data.mul_(0.5)\n", ""),
    ("a critic, once", CRITIC + "for n in range(1):\n" + ADVERSARIAL, ""),
    ("a closure", W + "opt = torch.optim.LBFGS([w], max_iter=3)\ndef loss():\n    opt.zero_grad()\n"
     "    found = ((w*x).sum() - 1)**2\n    found.backward()\n    return found\nopt.step(loss)\n", ""),
]  # fmt: skip
"""Loops by what they do, and the leaf whose `.grad` is said to add up; "" where that is meant, or it does not."""


@pytest.mark.parametrize(("text", "name"), [pytest.param(*row, id=said) for said, *row in ADDING])
@pytest.mark.one_in(4)
def test_a_gradient_that_nothing_clears_while_its_leaf_changes_is_named_once(
    text: str, name: str, gradcli: Command
) -> None:
    """Not where parts of a batch add up at the same values, nor where a later line clears what one pass has left."""
    run = gradcli("run", "-c", text, "--no-check")
    found = [line for line in run.out.splitlines() if "nothing clears" in line]
    assert len(found) == bool(name), run.out
    assert not name or found[0].startswith(f"{name}.grad"), found
    assert not name or "zero_grad()" in found[0]


SUMMED = [
    ("two passes, no step", W + STEPS.replace("4", "2"), "w.grad was the sum of 2 passes, since nothing"),
    ("parts of a batch", W + SGD + "for n in range(6):\n    ((w*x).sum()**2/2).backward()\n"
     "    if n % 2:\n        opt.step()\n        opt.zero_grad()\n", "w.grad was the sum of 2 passes, since"),
    ("two leaves", W + "b = torch.tensor(0.5, requires_grad=True)\nfor n in range(3):\n"
     "    (((w*x).sum() + b)**2).backward()\n", "b.grad, w.grad were each the sum of 3 passes, since nothing"),
    ("cleared", W + STEPS + "    w.grad = None\n", ""),
    ("one pass", W + STEPS.replace("4", "1"), ""),
    ("named as one that nothing ever clears", W + STEPS + UPDATE, ""),
]  # fmt: skip
"""Loops by what they do, and what is said of a `.grad` that several passes filled."""


@pytest.mark.parametrize(("text", "words"), [pytest.param(*row, id=said) for said, *row in SUMMED])
def test_a_gradient_that_several_passes_filled_is_named(text: str, words: str, gradcli: Command) -> None:
    """In one line, without an optimizer too, and as a fact: parts of a batch are meant to add up."""
    run = gradcli("run", "-c", text, "--no-check")
    found = [line for line in run.out.splitlines() if "nothing cleared" in line]
    assert len(found) == bool(words), run.out
    assert not words or found[0].startswith(words), found


def test_the_product_of_a_pass_is_not_called_what_grad_holds_after_several(gradcli: Command) -> None:
    """It was added to it; of the first pass it is what `.grad` holds."""
    first, second = (gradcli("run", "-c", W + STEPS + UPDATE, "--pass", number) for number in "12")
    assert "vᵀJ = w.grad" in first.out
    assert "vᵀJ, added to w.grad" in second.out
    assert "w.grad holds" in second.err
    assert "nothing clears it" in second.err


def test_anomaly_mode_ends_a_script_as_in_python_and_its_pass_is_judged(folder: Path, gradcli: Command) -> None:
    """The stack that torch shows is of the script alone."""
    text = X + "import warnings\nwarnings.simplefilter('default')\n"
    text += "with torch.autograd.set_detect_anomaly(True):\n    x.sqrt().mul(x).sum().backward()\n"
    (folder / "own.py").write_text(text, encoding="utf-8")
    run = gradcli("run", "own.py")
    assert run.code == 1
    assert "NaN begins in the backward pass of sqrt(x) (own.py, line 8)" in run.out + run.err
    assert "returned nan values" in run.err
    assert 'own.py", line 8, in <module>' in run.err
    assert "gradcli/" not in run.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(*row, id=name, marks=pytest.mark.thorough if name == "late" else ())
        for name, row in PLANTED_NANS.items()
    ],
)
@pytest.mark.one_in(4)
def test_a_nan_is_named(text: str, said: str, folder: Path, gradcli: Command) -> None:
    """By the line that makes it, or by the tensor that holds it."""
    Path("own.py").write_text(text)
    run = gradcli("run", "own.py", "--budget", "2")
    assert re.search(said, run.out, re.MULTILINE), run.out + run.err


UNUSED = (
    START
    + (
        "class Net(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n"
        "        self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 1)\n"
        "    def forward(self, x):\n        {h}\n        return self.b(h)\n"
        "net = Net()\nopt = torch.optim.Adam(net.parameters())\nX, t = torch.randn(4, 2), torch.randn(4, 1)\n"
    )
    + LOOP
)

NONE = r"no gradient in any of the 3 passes: net.a.weight, net.a.bias(, as detach\(\) or the like cuts the way back)?$"
ZERO = r"gradient of exactly 0 in each of the 3 passes: net.a.weight, net.a.bias$"

PLANTED_DEAD = {
    "dead relu": (UNUSED.format(h="h = torch.relu(self.a(x) - 100) + x"), ZERO),
    "unused layer": (UNUSED.format(h="h = x"), NONE),
    "tolist": (UNUSED.format(h="h = torch.tensor(self.a(x).tolist())"), NONE),
    "no_grad": (UNUSED.format(h="\n        with torch.no_grad():\n            h = self.a(x)"), NONE),
    "argmax": (UNUSED.format(h="h = nn.functional.one_hot(self.a(x).argmax(1), 2).float()"), NONE),
    "new leaf": (
        NET + LOOP.replace("loss.backward", "loss = torch.tensor(loss.item(), requires_grad=True)\n    loss.backward"),
        r"no gradient in any of the 3 passes: net.layer_0.weight, net.layer_0.bias, net.layer_2.weight, net.layer_2.b",
    ),
    "detach, without an optimizer": (
        START + "a, c = nn.Linear(2, 1), nn.Linear(2, 1)\nX = torch.randn(4, 2)\n"
        "(a(X)*c(X).detach()).sum().backward()\n",
        r"no gradient in the only pass: c.weight, c.bias, as detach\(\) or the like cuts the way back$",
    ),
    "no leaf": (
        START + "w = torch.randn(3, requires_grad=True)*0.1\n(w**2).sum().backward()\n",
        r"w is not a leaf, and w.grad stays None: .*; w = w.detach\(\).requires_grad_\(\) makes it one$",
    ),
}  # fmt: skip
"""Scripts with parameters that are not trained, by why, and the words that name them."""


@pytest.mark.parametrize(
    ("text", "said"), first_of_each(PLANTED_DEAD.values(), lambda text, said: said), ids=PLANTED_DEAD
)
@pytest.mark.one_in(4)
def test_parameters_that_are_not_trained_are_named(text: str, said: str, folder: Path, gradcli: Command) -> None:
    """At the end, and by nothing that stops the script."""
    Path("own.py").write_text(text)
    run = gradcli("run", "own.py")
    assert (run.code, bool(re.search(said, run.out, re.MULTILINE))) == (0, True), run.out + run.err
    assert re.search(said, gradcli("run", "own.py", "--json").err, re.MULTILINE)


def test_of_a_net_that_is_trained_nothing_is_said(folder: Path, gradcli: Command) -> None:
    """Nor of parameters that are frozen, or of those of two optimizers in turn."""
    Path("own.py").write_text(
        NET + "net[0].bias.requires_grad_(False)\n"
        "other = nn.Linear(2, 1)\nopt_2 = torch.optim.Adam(other.parameters())\n"
        + LOOP + LOOP.replace("net", "other").replace("opt", "opt_2")
    )  # fmt: skip
    run = gradcli("run", "own.py")
    assert (run.code, len(run.out.splitlines())) == (0, 6), run.out
    assert run.err == ""


LATE = X + (
    "for n in range(200):\n    x.grad = None\n"
    "    w = torch.tensor([1.0, float('inf') if n == 150 else 0.0 if n >= 120 else 1.0])\n"
    "    (w[1]*x**2).sum().backward()\n"
)


@pytest.mark.thorough
def test_a_script_is_watched_to_its_end(folder: Path, gradcli: Command) -> None:
    """Of the passes that are not judged, those are named in which something is new; and each of them can be."""
    Path("own.py").write_text(LATE)
    run = gradcli("run", "own.py", "--budget", "2")
    assert run.code == 0
    lines = run.out.splitlines()
    assert len(lines) == 102, lines[98:]
    assert lines[100] == "pass 121   own.py, line 8   not judged: the gradient of x is 0"
    assert lines[101].startswith("pass 151   own.py, line 8   not judged: y is NaN")
    assert "judged 100 of 200" in run.err
    one = gradcli("run", "own.py", "--pass", "151", "--json")
    answers = [json.loads(line) for line in one.out.splitlines()]
    assert [answer["expression"] for answer in answers] == ["pass 151 (own.py, line 8)"]
    assert "there is no pass 201: own.py makes 200" in gradcli("run", "own.py", "--pass", "201").err
    assert gradcli("run", "own.py", "--strict", "--format", "plain").code == 1


LINES = [
    # norms in float64
    (X + "(1e22*x[1] + 2e22*x[0]).backward()\n", 0, r"\|grad\| 2.236e\+22"),
    (X.replace("0.0, 4.0]", "0.0, 4.0], dtype=torch.float64") + "(1e200*x).sum().backward()\n", 0,
     r"\|grad\| 1.414e\+200"),
    # by what is no leaf
    (X + "h = x**2\ntorch.autograd.grad((h**3).sum() + x[1], h)\n", 0,
     r"by h   \|grad\| 768   ✓ agree"),
    (X + "h = x**2\ntorch.autograd.grad((h**3*x).sum(), [x, h])\n", 0, r"by x, h   \|grad\| .*   ✓ agree"),
    (X + "w = torch.ones(2, requires_grad=True)\ntorch.autograd.grad((x**3).sum(), w, allow_unused=True)\n", 0,
     "not answered: it is by no tensor that y depends on"),
    # several v at once
    (X + "torch.autograd.grad(x**2, x, torch.eye(2), is_grads_batched=True)\n", 0,
     r"by x   2 v at once   \|grad\| 8   ✓ agree"),
    (X + "torch.autograd.functional.jacobian(lambda x: x**2, x.detach(), vectorize=True)\n", 0,
     r"2 v at once   \|grad\| 8   ✓ agree"),
    (X + "y = x**2\ntorch.vmap(lambda v: torch.autograd.grad(y, x, v, retain_graph=True)[0])(torch.eye(2))\n", 0,
     r"by x   2 v at once   \|grad\| 8   ✓ agree"),
    # a minor inaccuracy
    (START + "w = torch.tensor([1., 1e-6], requires_grad=True)\n(w[0]*1e3 + (w[1] + 1000.3 - 1000.2)**2).backward()\n",
     0, "≈ inaccurate"),
    # what has no pass of its own, and what has no slope
    (X + "torch.func.grad(lambda x: (x**3).sum())(x)\n", 2,
     r"not answered: it is made by a transform of torch.func; check its function: gradcli check own.py::NAME"),
    (START + "x = torch.zeros(2, 1, 3, requires_grad=True)\nn = torch.nn.functional\n"
     "n.ctc_loss(x.log_softmax(2), torch.tensor([[1, 2, 1]]), torch.tensor([2]), torch.tensor([3])).backward()\n", 0,
     "its value is inf here, next to which no slope can be measured"),
    # what torch refuses, and the script catches
    (X + "y = x**2\ntry:\n    y.backward()\nexcept RuntimeError:\n    pass\n", 0,
     r"y has \d elements; write y\.backward\(gradient=torch\.ones\(\d\)\), or y\.sum\(\)\.backward\(\)"),
    (X + "y = x**2\ntry:\n    torch.autograd.grad(y, x)\nexcept RuntimeError:\n    pass\n", 0,
     r"y has \d elements; write grad_outputs=torch\.ones\(\d\), or y\.sum\(\) for y"),
    (X + "y = (x**2).sum()\ny.backward()\ntry:\n    y.backward()\nexcept RuntimeError:\n    pass\n", 0,
     r"line 8   not answered: torch refuses this pass: .*; write retain_graph=True in the first pass"),
    (X + "y = torch.exp(x)\ny += 1\ntry:\n    y.sum().backward()\nexcept RuntimeError:\n    pass\n", 0,
     r"changed in place by add_ \(own.py, line 6\) after .*clone"),
    (X + "w = torch.ones(2, requires_grad=True)\ny = (w*x).sum()\nwith torch.no_grad():\n    w -= 0.1\n"
     "try:\n    y.backward()\nexcept RuntimeError:\n    pass\n", 0, r"changed in place by sub_ \(own.py, line 8\)"),
    (X + "y = x.detach()**2\ntry:\n    y.sum().backward()\nexcept RuntimeError:\n    pass\n", 0,
     r"no tensor that requires a gradient: detach\(\) \(own.py, line 5\)"),
    (X + "with torch.no_grad():\n    y = x**2\ntry:\n    y.sum().backward()\nexcept RuntimeError:\n    pass\n", 0,
     r"no tensor that requires a gradient: no_grad \(own.py, line 6\)"),
    (X + "y = x.argmax().float()\ntry:\n    y.backward()\nexcept RuntimeError:\n    pass\n", 0,
     r"no tensor that requires a gradient: argmax\(\) gives whole numbers \(own.py, line 5\)"),
    (X + "y = torch.tensor(x.tolist())**2\ntry:\n    y.sum().backward()\nexcept RuntimeError:\n    pass\n", 0,
     r"no tensor that requires a gradient: numbers leave torch by tolist\(\) \(own.py, line 5\)"),
    (START + "w = torch.ones(2)\ntry:\n    (w**2).sum().backward()\nexcept RuntimeError:\n    pass\n", 0,
     r"no tensor that requires a gradient: .*requires_grad=True"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "code", "said"), LINES, ids=range(len(LINES)))
@pytest.mark.one_in(2)
def test_the_line_of_a_pass(text: str, code: int, said: str, folder: Path, gradcli: Command) -> None:
    """Its norm, its leaves, its v, its sign, and what torch refuses with the line and the mend."""
    Path("own.py").write_text(text)
    run = gradcli("run", "own.py")
    assert (run.code, bool(re.search(said, run.out))) == (code, True), run.out + run.err


def test_each_of_several_v_at_once_has_its_product(gradcli: Command) -> None:
    """In a line each, in order."""
    text = X + "torch.autograd.grad(x**2, x, torch.tensor([[1., 2.], [3., 4.]]), is_grads_batched=True)\n"
    answers = [json.loads(line) for line in gradcli("run", "-c", text, "--json").out.splitlines()]
    assert [answer["v"] for answer in answers] == [[1, 2], [3, 4]]
    assert [answer["vjp"]["x"] for answer in answers] == [[0, 16], [0, 32]]
    assert {answer["check"]["verdict"] for answer in answers} == {"agree"}


def test_no_warning_has_thousands_of_characters(folder: Path, gradcli: Command) -> None:
    """A condition may be the sum of all that was computed before."""
    Path("own.py").write_text(
        X + "if sum(torch.sin(k*x).sum()/(k + 1) for k in range(300)) > -1e9:\n    x = x*2\n(x**2).sum().backward()\n"
    )
    run = gradcli("run", "own.py", "--json", "--no-check")
    warnings = json.loads(run.out)["warnings"]
    assert warnings
    assert max(map(len, [*warnings, *run.err.splitlines()])) < 400, max(map(len, warnings))

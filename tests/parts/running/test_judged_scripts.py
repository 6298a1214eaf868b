"""Verdicts on passes of a script, whose recording, replayed next to the point with nothing held, is the last judge."""

import json

import pytest

from tests.conftest import Command

START = "import torch\nx = torch.tensor([0.0, 2.0], dtype=torch.float64, requires_grad=True)\n"

PASSES = {
    "detached factor": (
        "(x*x.detach()).sum().backward()",
        "cut", "(-c, line 3) is held constant: by x[1] the gradient is 2, without that 4",
    ),
    "data": ("(x*x.data).sum().backward()", "cut", "is held constant"),
    "detached function": ("(torch.exp(x.detach())*x).sum().backward()", "cut", "(-c, line 3) is held constant"),
    "detached data": ("(torch.exp(x.data)*x).sum().backward()", "cut", "(-c, line 3) is held constant"),
    "floor": ("(x - x.detach().floor()).sum().backward()", "kink", ""),
    "leaf of its own": ("p = (x*2).detach().requires_grad_()\n(p**2).sum().backward()", "agree", ""),
    "mask": ("((x > 0).to(x.dtype)*(x + 1)).sum().backward()", "kink", ""),
    "sign": ("(x.sign().detach()*(x + 1)).sum().backward()", "kink", ""),
    "branch": ("y = x.sum()\nif y > 2:\n    y = 3*y\ny.backward()", "kink", "y > 2"),
    "relu by hand": ("torch.where(x > 0, x, 0*x).sum().backward()", "kink", ""),
    "smooth mask": ("((x > 1).double()*x**2).sum().backward()", "agree", ""),
    "shift": ("y = x - x.max().detach()\n(y.exp()/y.exp().sum())[0].backward()", "agree", ""),
    "by another": (
        "w = torch.ones(2, dtype=torch.float64, requires_grad=True)\n((x*w).detach()*w).sum().backward()",
        "cut", "(-c, line 4) is held constant: by w[1]",
    ),
    "adversarial": (
        "w = torch.ones(2, dtype=torch.float64, requires_grad=True)\nfake = x*2\n"
        "((fake.detach()*w)**2).sum().backward()",
        "agree", "",
    ),
    "straight through": ("(x + (x.round() - x).detach()).pow(2).sum().backward()", "cut", "is held constant"),
    "Hessian": (
        "torch.autograd.functional.hessian(lambda x: (x**3*x.detach()).sum(), x.detach() + 1)",
        "cut", "(-c, line 3) is held constant: by const_1[1] the gradient is 54, without that 81",
    ),
    "smooth Hessian": ("torch.autograd.functional.hessian(lambda x: (x**3).sum(), x.detach())", "agree", ""),
    "Hessian at a kink": (
        "torch.autograd.functional.hessian(lambda x: (x.relu()**2).sum(), x.detach()[:1])", "kink", "",
    ),
    "wrong backward": (
        "class Half(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x.clone()\n"
        "    @staticmethod\n    def backward(ctx, g):\n        return g/2\nHalf.apply(x).sum().backward()",
        "disagree", "",
    ),
}  # fmt: skip
"""Passes at 0 and 2 with the verdict, and what the note says."""


@pytest.mark.parametrize(("text", "verdict", "said"), PASSES.values(), ids=PASSES)
@pytest.mark.one_in(2)
def test_no_agreement_stands_against_the_recording_itself(text: str, verdict: str, said: str, gradcli: Command) -> None:
    """With every held value let go: a cut or a kink has its numbers."""
    check = json.loads(gradcli("run", "-c", START + text, "--json").out.splitlines()[-1])["check"]
    assert check["verdict"] == verdict, check
    assert said in " ".join(finding["note"] for finding in check.get("findings", [])), check


UNTRACKED = {
    "mask": ("    m = (x > 0).double()\n(x*m + m).sum().backward()", "kink", "x > 0"),
    "mask of truth values": ("    m = x > 0\n(x*m + m).sum().backward()", "kink", "where(m, 1, 0)"),
    "smooth mask": ("    m = (x > 1).double()\n(x*m).sum().backward()", "agree", ""),
    "unnamed": (
        "    def f(x):\n        with torch.no_grad():\n            return (x > 0).double().mean()\n"
        "(x*f(x)).sum().backward()",
        "kink", "x > 0",
    ),
    "inference": (
        "    pass\nwith torch.inference_mode():\n    m = (x > 0).double()\n(x*m.clone() + m.clone()).sum().backward()",
        "kink", "x > 0",
    ),
    "threshold": (
        "    t = (x**2).mean()\n((x - t)**3).sum().backward()",
        "cut", "a value (-c, line 4) is held constant: by x[1] the gradient is 0, without that -24",
    ),
    "pruning": ("    keep = x.abs() > x.abs().median()\n(x*keep).sum().backward()", "agree", ""),
    "pruning at the threshold": ("    keep = x.abs() > 2\n(x*keep).sum().backward()", "kink", "keep"),
    "written in place": (
        "    m = torch.zeros(2, dtype=torch.float64)\n    m[1] = x[1]*3\n    m.mul_(2)\n(x*m).sum().backward()",
        "cut", "(-c, line 6) is held constant: by x[1] the gradient is 12, without that 24",
    ),
    "data": ("    h = x.data*1\n    h.clamp_(min=0)\n(x + h).sum().backward()", "cut", "(-c, line 5) is held constant"),
    "goes on outside": (
        "    m = x > 0\nk = m.double()*3\n(x + k).sum().backward()",
        "kink", "from 5 on the left over 5 to 8 on the right",
    ),
    "of what is no leaf": (
        "    pass\nh = x*1\nwith torch.no_grad():\n    k = h**2\ntorch.autograd.grad((h*k).sum(), h)",
        "cut", "(-c, line 7) is held constant: by h[1] the gradient is 4, without that 12",
    ),
    "positions": (
        "    m = torch.nn.functional.one_hot(x.argmax(), 2)\n(x*m).sum().backward()", "agree", "",
    ),
    "positions of equal numbers": (
        "    m = torch.nn.functional.one_hot(x.clamp(max=0).argmax(), 2)\n(x*m).sum().backward()",
        "kink", "what argmax() gives (-c, line 4)",
    ),
    "whole numbers": ("    m = x.long()\n(x + m).sum().backward()", "kink", "a cast to whole numbers"),
    "branch": ("    k = 3 if (x > 0).all() else 1\n(k*x).sum().backward()", "kink", "all(x > 0)"),
    "branch outside": ("    m = x > 0\nk = 3 if m.all() else 1\n(k*x).sum().backward()", "kink", "all(x > 0)"),
    "branch that stays": ("    k = 3 if (x > -1).all() else 1\n(k*x).sum().backward()", "agree", ""),
    "change of what autograd follows": (
        "    pass\ny = x*2\nwith torch.no_grad():\n    y.mul_(x > 1)\ny.sum().backward()",
        "cut", "(-c, line 7) is held constant: by x[0] the gradient is 2, without that 0",
    ),
    "new leaf": (
        "    w = (x*3).requires_grad_()\n(w**2).sum().backward()", "agree", "",
    ),
    "of another leaf": (
        "    pass\nw = torch.ones(2, dtype=torch.float64, requires_grad=True)\n"
        "with torch.no_grad():\n    m = (w*3).exp()\n(x*m).sum().backward()",
        "agree", "",
    ),
    "of a leaf that has changed": (
        "    m = (x*3).exp()\n    x.add_(1)\n(x*m).sum().backward()", "agree", "",
    ),
    "of a leaf that an optimizer changes": (
        "    m = (x*3).exp()\n(x**2).sum().backward()\nbefore, x.grad = x.grad, None\n"
        "torch.optim.SGD([x], lr=0).step()\nx.grad = before\ntorch.optim.SGD([x], lr=0.1).step()\n"
        "(x*m).sum().backward()",
        "agree", "",
    ),
    "twice": ("    m = (x*3).exp()\n(x**2).sum().backward()\n(x*m).sum().backward()", "cut", "(-c, line 4)"),
}  # fmt: skip
"""Passes at 0 and 2 whose line 3 is `with torch.no_grad():`, with the verdict on the last, and what the note says."""


@pytest.mark.parametrize(("text", "verdict", "said"), UNTRACKED.values(), ids=UNTRACKED)
@pytest.mark.one_in(4)
def test_what_autograd_does_not_follow_is_a_part_of_the_function(
    text: str, verdict: str, said: str, gradcli: Command
) -> None:
    """It moves with the leaf that it is made of: the calls are recorded when a pass is made of them."""
    run = gradcli("run", "-c", START + "with torch.no_grad():\n" + text, "--json")
    check = json.loads(run.out.splitlines()[-1])["check"]
    assert check["verdict"] == verdict, check
    assert said in " ".join(finding["note"] for finding in check.get("findings", [])), check
    assert check.get("proven") or verdict != "agree"
    assert "is a constant, as for autograd" not in run.err


COMPARED = {
    "float": ("y = 3*x.sum() if float(x[0].detach()) > 0 else x.sum()", "float(x[0].detach()) > 0"),
    "item": ("y = 3*x.sum() if 0 < x[0].item() else x.sum()", "0 < x[0].item()"),
    "int": ("y = 3*x.sum() if int(x[1].detach()) >= 2 else x.sum()", "int(x[1].detach()) >= 2"),
    "tolist": ("y = 3*x.sum() if x.tolist()[0] > 0 else x.sum()", "x.tolist()[0] > 0"),
    "a name": ("limit = 2\ny = 3*x.sum() if x.sum().item() > limit else x.sum()", "x.sum().item() > limit"),
    "bool": ("y = 3*x.sum() if bool(x[0] > 0) else x.sum()", "x[0] > 0"),
    "no_grad": (
        "with torch.no_grad():\n    k = 3 if x.min().item() > 0 else 1\ny = k*x.sum()",
        "x.min().item() > 0",
    ),
}  # fmt: skip
"""Branches at 0 and 2 by a number that leaves torch, with the condition."""


@pytest.mark.parametrize(("text", "said"), COMPARED.values(), ids=COMPARED)
def test_a_branch_by_a_number_that_leaves_torch_is_a_kink_at_its_boundary(
    text: str, said: str, gradcli: Command
) -> None:
    """And none elsewhere, where nothing is proven, as what else is computed from the number is not known."""
    check = json.loads(gradcli("run", "-c", START + text + "\ny.backward()", "--json").out)["check"]
    assert check["verdict"] == "kink", check
    assert any(f"beside the point, {said}" in finding["note"] for finding in check["findings"]), check
    elsewhere = START.replace("0.0, 2.0", "0.5, 2.5")
    assert (
        json.loads(gradcli("run", "-c", elsewhere + text + "\ny.backward()", "--json").out)["check"]["verdict"]
        == "agree"
    )


UNSEEN = {
    "drawn": ("with torch.no_grad():\n    m = torch.bernoulli(x/2)\n(x*m).sum().backward()", "m is a constant, as for"),
    "too many calls": (
        "with torch.no_grad():\n    m = x*1\n    for _ in range(600):\n        m = m + x\n(x*m).sum().backward()",
        "m is a constant, as for autograd: no_grad (-c, line 6)",
    ),
    "number": ("(float(x.detach().mean())*x).sum().backward()", "numbers leave torch by item() (-c, line 3)"),
    "number without autograd": (
        "with torch.no_grad():\n    k = x.mean().item()\n(k*x).sum().backward()",
        "numbers leave torch by item() (-c, line 4)",
    ),
    "NumPy": (
        "import numpy as np\n(torch.from_numpy(np.sin(x.detach().numpy()))*x).sum().backward()",
        "numbers leave torch by numpy() (-c, line 4)",
    ),
    "a list": (
        "(torch.tensor(x.tolist()).double()*x).sum().backward()",
        "numbers leave torch by tolist() (-c, line 3)",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "said"), UNSEEN.values(), ids=UNSEEN)
def test_of_a_constant_that_may_follow_from_leaves_nothing_is_proven(text: str, said: str, gradcli: Command) -> None:
    """No line of the recording can be let go there, and the line of the script is named."""
    answer = json.loads(gradcli("run", "-c", START + text, "--json").out)
    assert answer["check"]["verdict"] == "agree"
    assert not answer["check"].get("proven")
    assert said in " ".join(answer["warnings"])


@pytest.mark.parametrize(
    ("between", "verdicts"),
    [
        ("k = torch.from_numpy(np.sin(w.detach().numpy()))", [True, False, True]),
        ("k = torch.tensor(w.tolist(), dtype=w.dtype)", [True, False, True]),
        ("k = 2*loss.item()", [True, True, True]),
        ("k = 2; print(w)", [True, True, True]),
        ("k = w.detach().numpy()[0]*1.0; torch.optim.SGD([w], 0.1).step()", [True, True, True]),
    ],
)
def test_numbers_that_leave_torch_between_two_passes_belong_to_the_next(
    between: str, verdicts: list[bool], gradcli: Command
) -> None:
    """Nothing is proven of the next one, unless a leaf has other numbers by then, or what was read was of the last."""
    text = f"""
import numpy as np, torch
w = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
loss = (w**2).sum()
loss.backward()
{between}
(w*k).sum().backward()
(w**3).sum().backward()
"""
    lines = [line for line in gradcli("run", "-c", text).out.splitlines() if line.startswith("pass ")]
    assert ["agree (proven)" in line for line in lines] == verdicts


EVALUATION = (
    "import sys, weakref\nw = torch.ones(2, requires_grad=True)\nalive, total = [], torch.zeros(())\n"
    "with torch.no_grad():\n    for _ in range(1000):\n        data = torch.rand(2, 25_000)\n"
    "        alive.append(weakref.ref(data))\n        total += ((w@data).sum() - 1)**2\n"
    "print(sum(one() is not None for one in alive), file=sys.stderr)\n(w*2).sum().backward()\n"
)
"""Script that evaluates on 1,000 tensors of data, and lets each go."""


@pytest.mark.thorough
def test_an_evaluation_without_autograd_holds_no_data(gradcli: Command) -> None:
    """Also of a sum over all of it, which is made of too many calls to be recorded, and of no pass."""
    run = gradcli("run", "-c", START + EVALUATION, "--json")
    assert int(run.err.split()[0]) < 200, run.err
    assert json.loads(run.out)["check"]["proven"]

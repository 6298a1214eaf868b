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
    "wrong backward": (
        "class Half(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x.clone()\n"
        "    @staticmethod\n    def backward(ctx, g):\n        return g/2\nHalf.apply(x).sum().backward()",
        "disagree", "",
    ),
}  # fmt: skip
"""Passes at 0 and 2 with the verdict, and what the note says."""


@pytest.mark.parametrize(("text", "verdict", "said"), PASSES.values(), ids=PASSES)
def test_no_agreement_stands_against_the_recording_itself(text: str, verdict: str, said: str, gradcli: Command) -> None:
    """With every held value let go: a cut or a kink has its numbers."""
    check = json.loads(gradcli("run", "-c", START + text, "--json").out)["check"]
    assert check["verdict"] == verdict, check
    assert said in " ".join(finding["note"] for finding in check.get("findings", [])), check


UNSEEN = [
    ("with torch.no_grad():\n    m = (x > 1).double()\n(x*m).sum().backward()", "m", "no_grad (-c, line 4)"),
    (
        "m = torch.nn.functional.one_hot(x.argmax(), 2)\n(x*m).sum().backward()",
        "m", "argmax() gives whole numbers (-c, line 3)",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "name", "why"), UNSEEN, ids=["no_grad", "argmax"])
def test_a_constant_that_follows_from_leaves_is_said_and_nothing_is_proven(
    text: str, name: str, why: str, gradcli: Command
) -> None:
    """No line of the recording can be let go there."""
    answer = json.loads(gradcli("run", "-c", START + text, "--json").out)
    assert answer["check"]["verdict"] == "agree"
    assert not answer["check"].get("proven")
    assert f"{name} is a constant, as for autograd: {why}" in answer["warnings"]

"""Scripts with calls that no recorder reads: a script runs once, and each such call is measured all the same."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Command

START = """
import ctypes
import numpy as np
import torch
from torch import nn

FACTOR = {factor}


@torch.library.custom_op("unread_scripts::sine", mutates_args=())
def sine(x: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(np.sin(x.detach().numpy()))


def backward(ctx, grad):
    return FACTOR * grad * torch.cos(ctx.saved_tensors[0])


sine.register_autograd(backward, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs))


def memory_of(tensor):
    return np.ctypeslib.as_array(ctypes.cast(tensor.data_ptr(), ctypes.POINTER(ctypes.c_double)), tuple(tensor.shape))


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.from_numpy(x.detach().numpy() ** 3)

    @staticmethod
    def backward(ctx, grad):
        return FACTOR * 3 * grad * ctx.saved_tensors[0] ** 2


class Written(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, make):
        ctx.save_for_backward(x)
        y = make(x)
        memory_of(y)[:] = np.sqrt(1 + memory_of(x) ** 2)
        return y

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return FACTOR * grad * x / (1 + x**2).sqrt(), None


x = torch.tensor([0.5, 1.2, 0.7], dtype=torch.float64, requires_grad=True)
"""

PASSES = {
    "operation": "(sine(2*x)*x).sum().backward()",
    "function": "(Cube.apply(1.5*x) + x).sum().backward()",
    "twice": "Cube.apply(Cube.apply(x)*x).sum().backward()",
    "inside": "torch.stack([sine(x), Cube.apply(x)]).prod().backward()",
    "empty": "(Written.apply(2*x, torch.empty_like)*x).sum().backward()",
    "zeros": "(Written.apply(2*x, torch.zeros_like)*x).sum().backward()",
    "copy": "(Written.apply(2*x, torch.clone)*x).sum().backward()",
    "several": "torch.autograd.grad(Cube.apply(x), x, torch.tensor([1.0, 2.0, 3.0], dtype=x.dtype))",
}


def answers_of(gradcli: Command, folder: Path, text: str, *options: str) -> list[Any]:
    """Run a script, and give the answers to its passes."""
    (folder / "own.py").write_text(text)
    run = gradcli("run", "own.py", "--json", *options)
    return [json.loads(line) for line in run.out.splitlines()]


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "agree"), (1.001, "disagree")])
@pytest.mark.parametrize("name", PASSES)
@pytest.mark.one_in(4)
def test_a_call_that_cannot_be_read_is_measured(
    name: str, factor: float, verdict: str, folder: Path, gradcli: Command
) -> None:
    """And a mistake of a thousandth is found; nothing is called proven."""
    (answer,) = answers_of(gradcli, folder, START.format(factor=factor) + PASSES[name])
    check = answer["check"]
    assert (check["verdict"], check["proven"]) == (verdict, False), answer
    if verdict == "agree":
        assert check["measured_digits"] >= 6


LOOP = """
net, optimizer = nn.Linear(3, 2).double(), None
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    Cube.apply(net(x.detach())).sum().backward()
    optimizer.step()
"""


def test_each_pass_of_a_loop_is_measured(folder: Path, gradcli: Command) -> None:
    """With the weights that it had."""
    answers = answers_of(gradcli, folder, START.format(factor=1.0) + LOOP)
    assert [answer["check"]["verdict"] for answer in answers] == ["agree"] * 3
    assert len({answer["value"] for answer in answers}) == 3


KEPT = """
import gc
import weakref

alive = []
for _ in range(4):
    given = 1.5*x
    alive.append(weakref.ref(given))
    Cube.apply(given).sum().backward()
    del given
x.sum().backward()
gc.collect()
print("alive", sum(one() is not None for one in alive))
"""


def test_what_a_call_was_given_is_not_kept_for_the_passes_to_come(folder: Path, gradcli: Command) -> None:
    """A script that ran for hours would need all memory."""
    (folder / "own.py").write_text(START.format(factor=1.0) + KEPT)
    run = gradcli("run", "own.py", "--json")
    assert "alive 0" in run.err


REFUSED = {
    "Random.apply(x).sum().backward()": "is not the function: replayed, it gives",
    "Changing.apply(2*x).sum().backward()": "in a forward of an autograd.Function: its derivative is not known",
}

OTHERS = """
class Random(Cube):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.from_numpy(x.detach().numpy() + np.random.rand())


class Changing(Cube):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        x.detach().numpy()[:] *= 2
        return torch.from_numpy(x.detach().numpy() ** 3)


"""


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_measured_has_one_line(text: str, folder: Path, gradcli: Command) -> None:
    """With the reason."""
    (folder / "own.py").write_text(START.format(factor=1.0) + OTHERS + text)
    run = gradcli("run", "own.py")
    assert REFUSED[text] in run.out + run.err
    assert "agree" not in run.out


def test_the_script_sees_nothing_of_it(folder: Path, gradcli: Command) -> None:
    """Its errors in a forward are its own, and custom functions are applied after it as before."""
    text = (
        "try:\n    Cube.apply(torch.ones(2, 2).to_sparse().requires_grad_())\nexcept Exception as error:\n"
        "    import traceback\n    print(traceback.format_exc())\n"
        "(x**2).sum().backward()"
    )
    (folder / "own.py").write_text(START.format(factor=1.0) + text)
    run = gradcli("run", "own.py", "--json")
    assert "in forward" in run.err
    assert json.loads(run.out)["check"]["verdict"] == "agree"

"""No argument vanishes: by one that y does not follow the derivative is 0, and is judged like any other."""

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import gradcli
from gradcli import record
from gradcli.errors import WrongGradientsError
from tests.checks import check_of
from tests.conftest import Command

Tensor = torch.Tensor


def column(*numbers: float) -> Tensor:
    """A vector in float64."""
    return torch.tensor(numbers, dtype=torch.float64)


SQUARES = column(0.0, 1.0, 4.0, 9.0, 16.0)

WEIGHTS = column(2.0, 3.0, 5.0, 7.0, 11.0, 13.0)


def of_own_table(x: Tensor) -> Tensor:
    """A table that the function makes."""
    return torch.arange(5, dtype=x.dtype)[x.round().long()]


def as_class(x: Tensor, w: Tensor) -> Tensor:
    """The weight of the largest element."""
    return torch.nn.functional.one_hot(x.argmax(), 3).to(w.dtype) * w[:3]


def nearest(x: Tensor, w: Tensor) -> Tensor:
    """Elements of a picture next to some places."""
    grid = torch.stack([x, torch.zeros_like(x)], -1).reshape(1, 1, -1, 2)
    return torch.nn.functional.grid_sample(w.reshape(1, 1, 1, -1), grid, mode="nearest", align_corners=False)


def where_equal(x: Tensor, w: Tensor) -> Tensor:
    """A branch by a comparison of whole tensors."""
    return w * 2 if torch.equal(x, SQUARES[:2].to(x.dtype)) else w * 3


POSITIONS: dict[str, tuple[Callable[..., Tensor], Tensor, Tensor]] = {
    "a table": (lambda x: SQUARES.to(x.dtype)[x.round().long()], column(1.2, 2.4), column(1.5, 2.4)),
    "a table of its own": (of_own_table, column(1.2, 2.4), column(1.5, 2.4)),
    "a table with weights": (
        lambda x, w: SQUARES.to(x.dtype)[x.round().long()] * w[:2],
        column(1.2, 2.4),
        column(1.5, 2.4),
    ),
    "searchsorted": (lambda x, w: w[torch.searchsorted(SQUARES.to(x.dtype), x)], column(1.2, 2.4), column(1.0, 2.4)),
    "bucketize": (lambda x, w: w[torch.bucketize(x, SQUARES, right=True)], column(1.2, 2.4), column(1.0, 2.4)),
    "one_hot": (as_class, column(1.2, 2.4, 0.5), column(2.4, 2.4, 0.5)),
    "argsort": (lambda x, w: w[x.argsort()], column(1.2, 2.4, 0.5), column(2.4, 2.4, 0.5)),
    "topk": (lambda x, w: w[x.topk(2).indices], column(1.2, 2.4, 0.5), column(2.4, 1.2, 1.2)),
    "indices as numbers": (lambda x: x.max(0).indices.to(x.dtype), column(1.2, 2.4), column(2.4, 2.4)),
    "grid_sample": (nearest, column(-0.4, 0.3), column(0.0, 0.3)),
    "a count": (lambda x, w: w * (x > 1).sum(), column(1.2, 2.4), column(1.0, 2.4)),
    "count_nonzero": (lambda x, w: w * torch.count_nonzero(x), column(1.2, 2.4), column(0.0, 2.4)),
    "nonzero": (lambda x, w: w[x.nonzero()[:, 0]], column(1.2, 2.4), column(0.0, 2.4)),
    "equal": (where_equal, column(1.2, 2.4), column(0.0, 1.0)),
}


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("name", POSITIONS)
@pytest.mark.one_in(8)
def test_an_argument_that_only_decides_positions_has_zeros(name: str, dtype: torch.dtype) -> None:
    """And a kink where the positions are about to change."""
    function, beside, at = POSITIONS[name]
    others = [WEIGHTS.to(dtype)][: len(inspect.signature(function).parameters) - 1]
    answer = record(function, beside.to(dtype), *others).jacobian()
    assert answer.jacobian is not None
    assert not np.any(answer.jacobian["x"])
    assert answer.jacobian["x"].shape == (*answer.value.shape, *beside.shape)
    assert check_of(answer).verdict == "agree"
    assert check_of(record(function, at.to(dtype), *others).check()).verdict == "kink"


def without_first(x: Tensor, w: Tensor) -> Tensor:
    """A function of w alone."""
    return w**2


@pytest.mark.parametrize("values", [(0.5, 1.5), (1.0, 2.0)])
def test_an_argument_that_is_ignored_has_zeros(values: tuple[float, float]) -> None:
    """As in gradcheck, which passes; and a function of neither argument is constant."""
    x, w = column(*values), column(3.0, 4.0)
    assert torch.autograd.gradcheck(without_first, (x.requires_grad_(), w.clone().requires_grad_()))
    assert gradcli.check(without_first, x, w.requires_grad_()).passed
    x, w = x.detach(), w.detach()
    for answer in (gradcli.vjp(without_first, {"x": x, "w": w}, v="ones"), record(without_first, x, w).vjp(v="ones")):
        assert {name: array.tolist() for name, array in answer.vjp.items()} == {"x": [0.0, 0.0], "w": [6.0, 8.0]}
    assert gradcli.grad(lambda x: torch.ones((), dtype=x.dtype), x).grad["x"].tolist() == [0.0, 0.0]
    blocks = gradcli.jacobian(lambda x: torch.ones(3, dtype=x.dtype), x).jacobian
    assert blocks is not None
    assert blocks["x"].tolist() == [[0.0, 0.0]] * 3


def of_a_list(x: Tensor) -> Tensor:
    """Numbers of tensors in a list."""
    return torch.tensor([x[0] ** 2, x[1]], dtype=x.dtype)


def of_numpy(x: Tensor) -> Tensor:
    """What NumPy computes."""
    return torch.from_numpy(np.sin(x.detach().numpy()))


def of_floats(x: Tensor, w: Tensor) -> Tensor:
    """Numbers of Python, as a factor of something else."""
    return torch.tensor([float(x[0]) ** 2, float(x[1])], dtype=w.dtype) * w


def of_few_digits(x: Tensor, w: Tensor) -> Tensor:
    """Numbers that are rounded to float32, whatever x is."""
    return torch.tensor([x[0] ** 2, x[1]]) * w


CONSTANT: dict[str, tuple[Callable[..., Tensor], str]] = {
    "a list": (of_a_list, "torch.tensor"),
    "numpy": (of_numpy, "torch.from_numpy"),
    "floats": (of_floats, "torch.tensor"),
    "few digits": (of_few_digits, "torch.tensor"),
}


@pytest.mark.filterwarnings("ignore:Converting a tensor")  # of torch, which says so itself
@pytest.mark.parametrize("name", CONSTANT)
def test_a_constant_that_is_made_of_an_argument_is_a_cut(name: str) -> None:
    """Named with its line; a check does not pass."""
    function, maker = CONSTANT[name]
    tensors = [column(1.2, 2.4) for _ in inspect.signature(function).parameters]
    line = function.__code__.co_firstlineno + 2
    said = f"does not follow x: `{maker}` in line {line} makes a constant of it ({Path(__file__).name})"
    check = check_of(record(function, *tensors).check())
    assert check.verdict == "cut"
    assert said in check.findings[0].note
    with pytest.raises(WrongGradientsError, match="does not follow x"):
        gradcli.check(function, *tensors)


FILE = """
import torch

def table(x, w):
    return torch.arange(5, dtype=x.dtype)[x.round().long()] * w

def constant(x):
    return torch.tensor([x[0]**2, x[1]], dtype=x.dtype)
"""


def test_the_shell_shows_zeros_and_cuts(tmp_path: Path, gradcli: Command) -> None:
    """With the values as text: whole numbers are positions, unless they are asked for."""
    file = tmp_path / "code.py"
    file.write_text(FILE)

    def asked(x: str, *more: str) -> Any:
        words = ("vjp", f"{file}::table", "--at", f"x={x}", "--at", "w=3,4", "--v", "ones", *more)
        return json.loads(gradcli(*words, "--format", "json").out)

    found = asked("1.2,2.4")
    assert found["vjp"] == {"x": [0.0, 0.0], "w": [1.0, 2.0]}
    assert found["check"]["verdict"] == "agree"
    assert asked("1,2")["vjp"] == {"w": [1.0, 2.0]}
    assert asked("1,2", "--wrt", "x")["vjp"] == {"x": [0.0, 0.0]}
    done = gradcli("check", f"{file}::constant", "--at", "x=1.2,2.4")
    assert done.code == 1
    assert "does not follow x: `torch.tensor` in line 8 makes a constant of it (code.py)" in " ".join(done.out.split())


def own_leaf(a: Tensor) -> Tensor:
    """A sum by a new leaf, which is held constant, and by the value that shares its memory."""
    h = a * 2
    p = h.detach().requires_grad_()
    return (p**2).sum() + h.sum()


def gradient_of_own_leaf(a: Tensor) -> Tensor:
    """A gradient by a new leaf."""
    p = (a * 2).detach().requires_grad_()
    (found,) = torch.autograd.grad((p**2).sum(), p, create_graph=True)
    return (found * a).sum()


@pytest.mark.parametrize("function", [own_leaf, gradient_of_own_leaf])
def test_a_new_leaf_holds_its_value_constant(function: Callable[..., Tensor]) -> None:
    """Its value follows from the argument, and the gradient does not."""
    check = check_of(record(function, column(1.0, 2.0)).check())
    assert check.verdict == "cut"
    assert "(test_arguments.py, line" in check.findings[0].note

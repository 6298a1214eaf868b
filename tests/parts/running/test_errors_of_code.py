"""Errors of the user's code are the user's: of a backward pass with class and line, and not hidden by another run."""

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.autograd import Function
from torch.nn import functional

import gradcli
from gradcli.errors import GradcliError, InputError, UserCodeError
from tests.conftest import Command

X = torch.tensor([1.0, 2.0], dtype=torch.float64)
TABLE = torch.arange(12.0, dtype=torch.float64).reshape(4, 3)


SCALES = {"of x": 2.0}


class OwnError(Exception):
    """No error that torch or Python knows."""


def square(backward: Any) -> Any:
    """Make a custom function whose backward is this code."""

    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x * x

    return type("Square", (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})


def raising(error: BaseException) -> Any:
    def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
        raise error

    return backward


LINE = raising(ValueError()).__code__.co_firstlineno + 1


def with_hook(x: torch.Tensor) -> torch.Tensor:
    y = x * x
    if y.requires_grad:
        y.register_hook(lambda gradient: gradient / SCALES["of y"])  # type: ignore[no-untyped-call]
    return y.sum()


RAISED = [
    (ValueError("no luck"), "ValueError: no luck, raised"),
    (KeyError("scale"), "KeyError: 'scale', raised"),
    (RuntimeError("no luck"), "RuntimeError: no luck, raised"),
    (NotImplementedError(), "NotImplementedError, raised"),
    (OwnError("of mine"), "OwnError: of mine, raised"),
    (StopIteration("no more"), "StopIteration: no more, raised"),
    (AssertionError("not so"), "AssertionError: not so, raised"),
    (asyncio.CancelledError("gone"), "CancelledError: gone, raised"),
    (SystemExit(0), "Python is left (sys.exit)"),
]


@pytest.mark.parametrize(("error", "said"), RAISED, ids=[type(error).__name__ for error, _ in RAISED])
@pytest.mark.parametrize("command", [gradcli.vjp, gradcli.jacobian, gradcli.check, gradcli.hessian])
def test_what_a_backward_raises_is_the_users(error: BaseException, said: str, command: Any) -> None:
    """Whatever its class is, the error has class, message, function and line."""
    function = square(raising(error))

    def f(x: torch.Tensor) -> Any:
        return function.apply(x).sum()

    with pytest.raises(UserCodeError) as raised:
        command(f, X)
    assert str(raised.value) == f"{said} in the backward pass by backward (test_errors_of_code.py, line {LINE})"


REFUSED = [
    (lambda ctx, g: torch.ones(7, dtype=g.dtype), "returned an invalid gradient at index 0"),
    (lambda ctx, g: (g, g, g), "returned an incorrect number of gradients"),
    (lambda ctx, g: "no", "got str"),
]


@pytest.mark.parametrize(("backward", "said"), REFUSED)
def test_what_torch_refuses_of_a_backward_has_its_line(backward: Any, said: str) -> None:
    """A wrong shape, a wrong number, and what is no tensor."""
    with pytest.raises(UserCodeError, match=r"Square.backward \(test_errors_of_code.py, line") as raised:
        gradcli.vjp(square(backward).apply, X, v="ones")
    assert said in str(raised.value)


def test_what_a_hook_raises_is_the_users() -> None:
    """As of a backward."""
    with pytest.raises(UserCodeError, match=r"KeyError: 'of y', raised in .*<lambda> \(test_errors_of_code.py, line"):
        gradcli.grad(with_hook, X)


def test_an_error_of_a_backward_ends_the_command_with_1(folder: Path, gradcli: Command) -> None:
    """It is no bug of gradcli."""
    (folder / "own.py").write_text(
        "import torch\n\n\nclass Own(torch.autograd.Function):\n"
        "    @staticmethod\n    def forward(ctx, x):\n        return x * x\n\n"
        "    @staticmethod\n    def backward(ctx, g):\n        raise LookupError('no such row')\n"
    )
    for command in ("vjp", "check", "jacobian"):
        run = gradcli(command, "own.py::Own.apply", "--at", "1,2", *["--v", "ones"][: 2 * (command == "vjp")])
        said = "error: LookupError: no such row, raised in the backward pass by Own.backward (own.py, line 11)"
        assert (run.code, run.out, run.err.strip()) == (1, "", said)


# -- whole numbers

ASKING = {
    "index": lambda x, i: TABLE[i].sum() * x.sum(),
    "one_hot": lambda x, i: (functional.one_hot(i, 4) * x.sum()).sum(),
    "embedding": lambda x, i: functional.embedding(i, TABLE).sum() * x.sum(),
    "bag": lambda x, i: functional.embedding_bag(i[None], TABLE).sum() * x.sum(),
    "index_select": lambda x, i: TABLE.index_select(0, i).sum() * x.sum(),
    "gather": lambda x, i: TABLE.gather(0, i[None]).sum() * x.sum(),
    "scatter": lambda x, i: TABLE.scatter_add(1, i[None], x[None]).sum(),
    "index_add": lambda x, i: TABLE[:, 0].index_add(0, i, x).sum(),
    "take": lambda x, i: TABLE.take(i).sum() * x.sum(),
    "cross_entropy": lambda x, i: functional.cross_entropy(x.expand(2, 2), i - 1),
    "multi_margin": lambda x, i: functional.multi_margin_loss(x.expand(2, 2), i - 1),
    "size": lambda x, i: x.sum() * torch.ones(i[0]).double().sum(),
    "slice": lambda x, i: x[: i[0]].sum(),
    "bits": lambda x, i: (x * (i & 1)).sum(),
}


@pytest.mark.parametrize("function", ASKING.values(), ids=ASKING)
@pytest.mark.one_in(2)
def test_where_torch_asks_for_an_index_it_is_given_one(function: Any) -> None:
    """Then the derivative is by the other argument."""
    answer = gradcli.vjp(function, {"x": [0.5, -1.5], "i": [1, 2]})
    x = torch.tensor([0.5, -1.5], dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(function(x, torch.tensor([1, 2])), x)
    assert answer.wrt == ("x",)
    np.testing.assert_array_equal(answer.vjp["x"], gradient.numpy())


HIDDEN = {
    "no such element": (lambda x, i: (x * i)[5], "index 5 is out of bounds"),
    "no such dimension": (lambda x, i: (x * i).sum(3), "Dimension out of range"),
    "two dtypes": (lambda x, i: torch.arange(2) @ i + x.sum(), "Long and Double"),
    "two dtypes in a batch": (lambda x, i: torch.bmm(torch.ones(1, 1, 2).long(), i.view(1, 2, 1)).sum() * x, ""),
    "no such method": (lambda x, i: x.sum(i.nope), "no attribute 'nope'"),
    "wrong sizes": (lambda x, i: x + torch.cat([i, i, x]), "must match the size of tensor"),
    "after an index": (lambda x, i: TABLE[i].sum() * x.nope, "no attribute 'nope'"),
}


@pytest.mark.parametrize(("function", "said"), HIDDEN.values(), ids=HIDDEN)
def test_no_error_of_the_code_is_hidden_by_whole_numbers(function: Any, said: str) -> None:
    """Though each would have a value, or another error, with whole numbers."""
    with pytest.raises(InputError) as raised:
        gradcli.vjp(function, {"x": [1, 2], "i": [1, 1]}, v="ones")
    assert said in str(raised.value)
    assert "raised while" in str(raised.value)


@pytest.mark.parametrize("function", [lambda x: TABLE[x], lambda x: TABLE[x] * functional.one_hot(x, 3)])
def test_the_only_argument_stays_a_number_to_differentiate_by(function: Any) -> None:
    """Else there would be an answer by nothing, which agrees."""
    for command in (gradcli.vjp, gradcli.jacobian):
        with pytest.raises(GradcliError, match="used as indices must be long") as raised:
            command(function, [1.0, 2.0])
        assert "wrt" in str(raised.value)


def test_an_index_alone_is_taken_where_something_else_is_differentiated_by() -> None:
    """A tensor that is named, or an argument that is given in whole numbers."""
    net = torch.nn.Embedding(3, 2).double()
    answer = gradcli.vjp(net, [0.0, 2.0], v="ones", wrt=["weight"])
    np.testing.assert_array_equal(answer.vjp["weight"], [[1, 1], [0, 0], [1, 1]])
    answer = gradcli.record(net, torch.tensor([0, 2])).vjp(v="ones", wrt=["weight"])
    np.testing.assert_array_equal(answer.vjp["weight"], [[1, 1], [0, 0], [1, 1]])

"""What real code does and a recorder easily misses: it is read, and judged as what it is."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import distributions, nn
from torch.utils.checkpoint import checkpoint

import gradcli as package
from gradcli.errors import GradcliError
from gradcli.parts.running.plain_functions import record
from tests.checks import check_of
from tests.conftest import Command
from tests.parts.running.running import require_as_run

X = torch.tensor([0.7, 1.3, 2.1], dtype=torch.float64)
TWICE = torch.tensor([2.0, 1.0, 2.0], dtype=torch.float64)
TARGETS = torch.tensor([[0, 2], [1, 0]])
IDS = torch.tensor([[0, 2, 1, 2]])


class _Before(torch.autograd.Function):
    """A function whose value is computed before, and whose backward knows its derivative."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, v: torch.Tensor) -> Any:
        return v * ctx.saved_tensors[0], None


def _written(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y.detach().mul_(2)
    return y * x.new_ones(3)


def _lu(x: torch.Tensor) -> Any:
    LU, pivots = torch.linalg.lu_factor(x[:, None] * torch.eye(3) + x)
    P, lower, upper = torch.lu_unpack(LU, pivots)
    return P @ lower @ upper + LU


def _of_lengths(x: torch.Tensor) -> torch.Tensor:
    return torch.segment_reduce(x, "max", lengths=torch.tensor([2, 1]))


READ: dict[str, Callable[[torch.Tensor], Any]] = {
    "roll": lambda x: torch.roll(x, 1) * X,
    "roll of a matrix": lambda x: torch.roll(torch.outer(x, x), 2),
    "all of nothing": lambda x: x**2 if (x[:0] > 0).all() else x,
    "any of nothing": lambda x: x**2 if not (x[:0] > 0).any() else x,
    "unique of a constant": lambda x: x[:2] * torch.unique(TWICE),
    "counts of a constant": lambda x: x[:2] * torch.unique(TWICE, return_counts=True)[1],
    "nextafter of constants": lambda x: x * torch.nextafter(TWICE, TWICE + 1),
    "nextafter": lambda x: torch.nextafter(x, x + 1) ** 2,
    "a row of targets, twice": lambda x: (
        F.cross_entropy(x * X[:2, None], TARGETS[0]) + F.cross_entropy(x * TWICE[:2, None], TARGETS[0])
    ),
    "ids and flat ids": lambda x: x[IDS].sum() + F.cross_entropy(torch.outer(X, x)[[0, 1, 2, 0]], IDS.flatten()),
    "the next token": lambda x: F.cross_entropy((x[:, None] * x)[IDS[0, :-1]], IDS[:, 1:].reshape(-1)),
    "computed before": lambda x: _Before.apply(x, x.detach().exp()),  # type: ignore[no-untyped-call]
    "an empty mask of bytes": lambda x: x**2 + x[:0][torch.tensor([], dtype=torch.uint8)].sum(),
    "a mask of bytes": lambda x: x[torch.tensor([1, 0, 1], dtype=torch.uint8)] ** 2,
    "a sum of complex numbers": lambda x: torch.exp(1j * x).sum().abs(),
    "means of complex numbers": lambda x: torch.polar(x, x**2).mean(0).imag + torch.fft.fft(x).cumsum(0).real,
    "products of complex numbers": lambda x: (torch.complex(x, x.cos()).outer(1j * x) @ torch.polar(x, x)).abs(),
    "powers of complex numbers": lambda x: (torch.complex(x, x.cos()) ** 3).sqrt().log().real,
    "complex numbers moved": lambda x: torch.cat([torch.polar(x, x), 1j * x])[[0, 4]].roll(1).abs(),
    "nanmedian": lambda x: torch.cat([x, torch.tensor([torch.nan])]).nanmedian() * x,
    "mode": lambda x: torch.outer(x, X.cos()).mode(0).values,
    "multilabel margin": lambda x: F.multilabel_margin_loss(x, torch.tensor([2, 0, -1])),
    "group statistics": lambda x: torch.stack(
        torch.native_group_norm(x.view(1, 1, 3), None, None, 1, 1, 3, 1, 0.1)[1:]
    ),
    "factors of a matrix": _lu,
    "segments": _of_lengths,
    "slices folded": lambda x: torch.zeros(2).double().index_reduce(0, torch.tensor([0, 1, 0]), x, "prod"),
    "mantissas": lambda x: torch.frexp(x).mantissa,
    "drawn slopes": lambda x: F.rrelu(x - 1, training=True),
    "a drawn chance": lambda x: torch.bernoulli(x / 3) * x,
}


@pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8")
@pytest.mark.parametrize("name", READ)
@pytest.mark.one_in(4)
def test_code_is_read_with_the_numbers_of_torch(name: str) -> None:
    """And they are right, as the reference says."""
    require_as_run(READ[name], X, rtol=1e-14)


IMPLICIT = "is implicit: the distribution moves by it, and no single draw"
JUDGED: dict[str, tuple[Callable[[torch.Tensor], Any], str, str]] = {
    "beta": (lambda x: distributions.Beta(x, x + 1).rsample(), "unchecked", IMPLICIT),
    "gamma": (lambda x: distributions.Gamma(x, x + 1).rsample(), "unchecked", IMPLICIT),
    "student": (lambda x: distributions.StudentT(x).rsample(), "unchecked", IMPLICIT),
    "dirichlet": (lambda x: distributions.Dirichlet(x).rsample(), "unchecked", IMPLICIT),
    "changed by an alias": (_written, "cut", "is held constant: by x["),
    "a normal draw": (lambda x: torch.normal(x, 1.0), "cut", "is held constant"),
}


@pytest.mark.parametrize("name", JUDGED)
def test_a_gradient_that_is_not_the_slope_is_said_to_be_none(name: str) -> None:
    """With the reason, and with the line of the code."""
    function, verdict, words = JUDGED[name]
    torch.manual_seed(0)
    check = check_of(record(function, X).vjp(v="ones"))
    assert check.verdict == verdict, check
    assert words in check.findings[0].note
    assert all(words.partition(":")[0] in finding.note for finding in check.findings)
    assert "test_real_code.py, line" in check.findings[0].note


def _normalized(x: torch.Tensor) -> torch.Tensor:
    w = x[:, None] * TWICE
    with torch.no_grad():
        v = x.view(1, 3).t().sum(1)
    return (w * v).sum(1) * x


def test_a_view_that_no_grad_made_leaves_its_tensor_followed() -> None:
    """Torch says of such a view that it requires a gradient."""
    require_as_run(_normalized, X, verdict="cut", rtol=1e-14)


def test_what_is_drawn_has_the_gradient_of_torch() -> None:
    """Also where it is implicit, and no slope of the draw."""
    require_as_run(lambda x: distributions.Gamma(x, x + 1).rsample(), X, verdict="unchecked")


@pytest.mark.parametrize("layers", [1, pytest.param(2, marks=pytest.mark.thorough)])
def test_an_lstm_in_single_precision_is_read(layers: int) -> None:
    """Torch runs one kernel a layer there."""
    torch.manual_seed(0)
    net = nn.LSTM(2, 2, num_layers=layers, bidirectional=layers == 2)
    check = check_of(record(lambda x: net(x)[0], torch.randn(3, 1, 2)).vjp(v="ones"))
    assert check.verdict in ("agree", "inaccurate"), check


def test_a_reentrant_checkpoint_is_read() -> None:
    """Torch alone has its gradients by `backward` only."""
    x = X.clone().requires_grad_()
    checkpoint(lambda a: a.sin() * a, x, use_reentrant=True).sum().backward()
    answer = record(lambda x: checkpoint(lambda a: a.sin() * a, x, use_reentrant=True), X).vjp(v="ones")
    assert check_of(answer).verdict == "agree"
    torch.testing.assert_close(torch.tensor(answer.vjp["x"]), x.grad, rtol=0, atol=0)


def test_dropout_in_few_digits_is_not_judged() -> None:
    """Its mask is in them too."""

    def f(x: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return F.dropout(x @ x, 0.5).float()

    check = check_of(record(f, torch.randn(3, 3)).vjp(v="ones"))
    assert (check.verdict, "bfloat16" in check.findings[0].note) == ("unchecked", True)


def _scaled(x: torch.Tensor, *factors: torch.Tensor, power: int = 2) -> torch.Tensor:
    for factor in factors:
        x = x * factor
    return x**power


def test_arguments_beyond_the_named_ones_have_names() -> None:
    """Those of *factors are factors_0, factors_1, ...; a function can be called without any."""
    answer = record(_scaled, X, X, X).vjp(v="ones")
    assert list(answer.vjp) == ["x", "factors_0", "factors_1"]
    torch.testing.assert_close(torch.tensor(answer.vjp["factors_1"]), 2 * X**5)
    torch.testing.assert_close(torch.tensor(record(_scaled, X).vjp(v="ones").vjp["x"]), 2 * X)
    assert package.check(lambda *x: x[0] * x[1], X, X + 1).passed
    with pytest.raises(GradcliError, match="any number of arguments"):
        record(lambda *x: x[0])


START = "import torch\nimport torch.nn.functional as F\nw = torch.tensor([1.0, 2.0], requires_grad=True)\n"
SCRIPTS = {
    "rows": "s = torch.empty(2, 2)\ns[0] = torch.ones(2)\ns[1] = w * 3\n(s**2).sum().backward()\n",
    "rows in a loop": "s = torch.empty(3, 2)\ns[0] = w\nfor i in range(1, 3):\n    s[i] = s[i - 1].clone() * w\n"
    "s.sum().backward()\n",
    "a buffer": "s = torch.zeros(4)\ns[1:3] = w\ns[0] = w[0] * w[1]\n(s**2).sum().backward()\n",
    "targets": "y = torch.tensor([[0, 1], [1, 0]])\nx = w * torch.eye(2)\n"
    "(F.cross_entropy(x, y[0]) + F.cross_entropy(x * 2, y[0])).backward()\n",
    "ids": "ids = torch.tensor([[0, 1, 1]])\nx = torch.outer(w, w)\n"
    "(w[ids].sum() + F.cross_entropy(x[ids[:, :-1]].view(-1, 2), ids[:, 1:].flatten())).backward()\n",
    "a checkpoint": "from torch.utils.checkpoint import checkpoint\n"
    "checkpoint(lambda a: a.sin() * a, w, use_reentrant=True).sum().backward()\n",
}


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.one_in(2)
def test_a_pass_of_a_script_is_read(name: str, gradcli: Command) -> None:
    """Whatever its tensors share."""
    run = gradcli("run", "-c", START + SCRIPTS[name], "--strict")
    assert (run.code, "agree" in run.out) == (0, True), run

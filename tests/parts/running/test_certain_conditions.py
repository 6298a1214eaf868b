"""A condition that holds for every real input is no branch: it neither warns nor stops a proof."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import distributions

import gradcli

X = torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64)


def _if(condition: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A square that is computed in another way where a condition does not hold."""
    return lambda x: (x**2).sum() if condition(x) else (1 * x * x).sum()


def _self(x: Any) -> Any:
    """The value that a value is compared with."""
    return x


# a condition, and whether it holds for every real input
CONDITIONS: list[tuple[Callable[[Any], Any], bool]] = [
    (lambda x: (x == _self(x)).all(), True),
    (lambda x: (torch.exp(0.5 * x) > 0).all(), True),
    (lambda x: (x * x >= 0).all(), True),
    (lambda x: (x**2 + 1 > 0.5).all(), True),
    (lambda x: (torch.nn.functional.softplus(x) > 0).all(), True),
    (lambda x: torch.sigmoid(x).max() < 1, True),
    (lambda x: torch.cosh(x).sum() > 0, False),
    (lambda x: x.abs().sum() >= 0, True),
    (lambda x: not torch.isnan(x).any(), True),
    (lambda x: torch.isfinite(x).all(), True),
    (lambda x: not torch.isinf(x).any(), True),
    (lambda x: ((torch.exp(x) > 0) & (x == _self(x))).all(), True),
    (lambda x: (x[x == _self(x)]).sum() > -9, False),
    (lambda x: x.sum() > 0, False),
    (lambda x: (x.abs() > 0).all(), False),
    (lambda x: (torch.exp(x) > 0.1).all(), False),
    (lambda x: (x**3 > -9).all(), False),
    (lambda x: (torch.tanh(x) < 0.99).all(), False),
    (lambda x: (x - 1 < x.max()).all(), False),
]


@pytest.mark.parametrize(("condition", "is_certain"), CONDITIONS)
def test_what_no_real_input_decides_is_no_branch(condition: Callable[[Any], Any], is_certain: bool) -> None:
    """Without a warning, and the claim is proved; of a branch it is not, and the reason says what to do."""
    answer = gradcli.check(_if(condition), X, gradient=lambda x: 2 * x, raise_exception=False)
    [claim] = answer.claims
    assert any("branch" in one for one in answer.warnings) != is_certain, answer.warnings
    assert (claim.status == "proved") == is_certain, claim
    assert ("branches on values" in claim.note and "torch.where" in claim.note) != is_certain, claim


def test_a_condition_that_floats_decide_otherwise_is_a_branch() -> None:
    """exp(-1000) is 0 in floats, so that the other branch is taken; the answer is of that one."""
    answer = gradcli.grad(_if(lambda x: (torch.exp(x) > 0).all()), -1000 * torch.ones(2, dtype=torch.float64))
    assert any("not (all(exp(x) > 0)) was taken" in one for one in answer.warnings), answer.warnings


def kl_of_normals(mu: Any, logvar: Any) -> Any:
    """The divergence of a variational autoencoder."""
    q = distributions.Normal(mu, (0.5 * logvar).exp())
    return distributions.kl_divergence(q, distributions.Normal(torch.zeros_like(mu), torch.ones_like(mu))).sum()


def test_distributions_that_validate_their_arguments_are_proved() -> None:
    """Their conditions are all(mu == mu), and all(scale > 0) of a scale that is an exponential."""
    gradient = {"mu": lambda mu, logvar: mu, "logvar": lambda mu, logvar: 0.5 * (torch.exp(logvar) - 1)}
    answer = gradcli.check(kl_of_normals, X, X / 3, gradient=gradient)
    assert [one.status for one in answer.claims] == ["proved", "proved"]
    assert not answer.warnings
    assert not gradcli.grad(likelihood, X).warnings
    assert any("was taken" in one for one in gradcli.grad(entropy, X).warnings)


def likelihood(x: Any) -> Any:
    """Of a normal distribution with a scale that is an exponential."""
    normal: Any = distributions.Normal(x, torch.exp(x))
    return normal.log_prob(torch.zeros_like(x)).sum()


def entropy(x: Any) -> Any:
    """Of a normal distribution with a scale that may be below 0."""
    normal: Any = distributions.Normal(torch.zeros_like(x), x + 3)
    return normal.entropy().sum()

"""Distributions as values: each method by each way to make one, against torch.distributions at random."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from torch import distributions

from gradcli import Function
from gradcli.errors import GradcliError
from gradcli.language.snippets.distribution_families import FAMILIES
from tests.language.pasted import run_by_torch

Array = npt.NDArray[Any]

_DRAW = np.random.default_rng(7)
_POSITIVE = {"scale", "rate", "df", "concentration", "concentration1", "concentration0", "probs"}
_MATRICES = {
    "covariance_matrix": np.array([[2.0, 0.3], [0.3, 1.0]]),
    "precision_matrix": np.array([[1.5, -0.4], [-0.4, 0.7]]),
    "scale_tril": np.array([[1.2, 0.0], [-0.3, 0.8]]),
}
_VALUES = {"Poisson": np.array([0.0, 2.0, 5.0]), "Bernoulli": np.array([0.0, 1.0, 1.0]), "Categorical": np.array(2)}
_METHODS = (
    *("log_prob(x)", "cdf(x)", "icdf(u)", "entropy()", "perplexity()", "mean", "mode", "variance", "stddev"),
    *("probs", "logits", "loc", "scale", "rate", "covariance_matrix", "scale_tril", "KL"),
)
WAYS = [(kind, family.takes) for kind, families in FAMILIES.items() for family in families]


UNREAD = {
    *((kind, "mode") for kind in ("HalfNormal", "Beta", "Dirichlet", "Uniform", "Bernoulli", "Categorical")),
    *((kind, method) for kind in ("Categorical", "Cauchy") for method in ("mean", "variance", "stddev")),
    *(("Dirichlet", method) for method in ("variance", "stddev", "KL")),
    *(("Gumbel", method) for method in ("cdf(x)", "icdf(u)", "KL")),
    *(("HalfNormal", "KL"), ("Gamma", "cdf(x)")),
}
"""What torch has, and no table here: some numbers without a derivative, and some with one."""


def _parameter(name: str, kind: str, spread: float) -> Array:
    if name in _MATRICES:
        return _MATRICES[name] * spread
    if name in ("low", "high"):
        return np.array([0.0, -0.5, -1.0]) - spread if name == "low" else np.array([1.5, 1.2, 2.0]) + spread
    count = 2 if kind == "MultivariateNormal" else 3
    drawn = _DRAW.uniform(0.1, 0.9, count) if name in _POSITIVE else _DRAW.normal(size=count)
    return drawn + 2.0 if name == "df" else drawn


def _value(kind: str) -> Array:
    """What it may have."""
    if kind == "MultivariateNormal":
        return _DRAW.normal(size=(4, 2))
    drawn = _DRAW.uniform(0.1, 0.9, 3)
    return _VALUES.get(kind, drawn / drawn.sum() if kind == "Dirichlet" else drawn)


def _asked(kind: str, takes: tuple[str, ...], method: str) -> tuple[str, dict[str, Array]]:
    """An expression, and the numbers of its variables."""
    values = {name: _parameter(name, kind, 1.0) for name in takes}
    made = f"{kind}({', '.join(f'{name}={name}' for name in takes)})"
    if method != "KL":
        given: dict[str, Array] = {"x": _value(kind)} if "(x)" in method else {}
        given |= {"u": _DRAW.uniform(0.1, 0.9, 3)} if "(u)" in method else {}
        return f"{made}.{method}", values | given
    values |= {f"q_{name}": _parameter(name, kind, 1.3) for name in takes}
    return f"kl_divergence({made}, {kind}({', '.join(f'{name}=q_{name}' for name in takes)}))", values


@pytest.mark.parametrize("method", _METHODS)
@pytest.mark.parametrize(("kind", "takes"), WAYS, ids=[f"{kind}-{takes[-1]}" for kind, takes in WAYS])
def test_a_method_is_that_of_torch(kind: str, takes: tuple[str, ...], method: str) -> None:
    """The value, its shape, and the gradients by every variable; what is not read is refused by its name."""
    expression, values = _asked(kind, takes, method)
    leaves = {name: torch.tensor(value, dtype=torch.float64, requires_grad=True) for name, value in values.items()}
    names = vars(distributions) | leaves
    if kind == "Categorical" and "x" in leaves:
        names["x"] = leaves["x"].detach().long()
    truth: Any = None
    with contextlib.suppress(NotImplementedError, AttributeError):
        truth = eval(expression, names)
    text = f"import torch\nfrom torch.distributions import {kind}, kl_divergence\ny = {expression}\ny"
    if truth is None or (kind, method) in UNREAD:
        with pytest.raises(GradcliError, match="read"):
            Function(text)
        return
    function = Function(text)
    used = [name for name in values if name in function.variables]
    wrt = [name for name in used if name != "x" or kind not in _VALUES]
    found = function.vjp({name: values[name] for name in used}, v="ones", wrt=wrt, check=False)
    assert found.value.shape == tuple(truth.shape)
    np.testing.assert_allclose(found.value, truth.detach().numpy(), rtol=1e-11, atol=1e-13)
    if truth.requires_grad:
        truth.sum().backward()
    for name in wrt:
        gradient = leaves[name].grad
        gradient = torch.zeros_like(leaves[name]) if gradient is None else gradient
        np.testing.assert_allclose(found.vjp[name], gradient.numpy(), rtol=1e-8, atol=1e-11, err_msg=name)


HEAD = (
    "import torch\nimport torch.distributions as D\nfrom torch.distributions import Normal, kl_divergence\n"
    "torch.manual_seed(3)\nm = torch.tensor([0.5, -0.3], requires_grad=True)\n"
    "s = torch.tensor([1., 2.], requires_grad=True)\n"
)

SNIPPETS = [
    "(Normal(m, s).rsample()**3).sum().backward()",
    "z = Normal(m, s).rsample((3,))\n(z**2*torch.rand(2)).sum().backward()",
    "z = Normal(m, 1.).rsample(sample_shape=torch.Size([20]))\n(z**2*s).sum().backward()",
    "u = Normal(0., 1.).sample((2,))\n(u*m*s).sum().backward()",
    "z = Normal(m, 1.).sample()\n(z*m + s*torch.rand(2)).sum().backward()",
    "z = D.LogNormal(m, s).rsample()\n(z**2).sum().backward()",
    "z = D.HalfNormal(s).rsample([2])\n(z*m).sum().backward()",
    "z = torch.distributions.Uniform(m - 3, s).rsample()\n(z**2).sum().backward()",
    "z = D.Laplace(m, s).rsample((2,))\n(z**3).sum().backward()",
    "z = D.Bernoulli(torch.sigmoid(m)).sample()\n(z*m*s + m*s).sum().backward()",
    "z = D.Bernoulli(logits=m).sample((30,))\n(z*m*s).sum().backward()",
    "z = D.MultivariateNormal(m, torch.diag(s)).rsample((2,))\n(z**2).sum().backward()",
    "z = D.MultivariateNormal(m, scale_tril=torch.diag(s)).sample()\n(z*m*s).sum().backward()",
    "d = D.Independent(Normal(m, s), 1)\nz = d.rsample()\nl = d.log_prob(z) + d.entropy()\nl.backward()",
    "p, q = Normal(torch.zeros_like(m), torch.ones_like(s)), Normal(m, s)\nz = q.rsample()\n"
    "elbo = (p.log_prob(z) - q.log_prob(z)).sum() - kl_divergence(q, p).mean()\nelbo.backward()",
    "q = Normal(m, s)\na = q.sample()\nloss = -(q.log_prob(a)*2.).sum()\nloss.backward()",
    "q = Normal(m, s)\nwith torch.no_grad():\n    a = q.rsample()\nloss = -q.log_prob(a).sum()\nloss.backward()",
    "p = D.Independent(Normal(torch.zeros(2), torch.ones(2)), 1)\n"
    "kl = D.kl.kl_divergence(D.Independent(D.normal.Normal(m, s), 1), p)\nkl.backward()",
    "f = Normal(m, s).log_prob\ng = Normal(0., 1.).cdf\n(f(torch.tensor([1., 2.]))*g(s)).sum().backward()",
    "class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.w = torch.nn.Parameter(torch.tensor([0.3, 0.2]))\n    def forward(self, x):\n"
    "        return Normal(self.w*x, torch.nn.functional.softplus(x))\n"
    "net = Net()\nloss = -net(s).log_prob(m).mean()\nloss.backward()",
    "c = D.Categorical(logits=torch.stack([m, s]))\nloss = -(c.log_prob(torch.tensor([1, 0])) + c.entropy()).sum()\n"
    "loss.backward()",
    "c = D.Categorical(logits=m)\nloss = -c.log_prob(torch.tensor([1, 0, 1])).sum() + (c.probs*s).sum()\n"
    "loss.backward()",
    "loss = D.Bernoulli(1.).log_prob(torch.ones(2)).sum() + (m*s).sum()\nloss.backward()",
    "l = D.Uniform(m - 3, s, validate_args=False).cdf(torch.tensor([9., 1.])) + m*s\nl.sum().backward()",
    "x = D.Exponential(s.double()).log_prob(torch.tensor([0.5, 1.]).double())\nx.sum().backward()",
]


@pytest.mark.parametrize("text", SNIPPETS)
def test_a_snippet_is_as_torch_runs_it(text: str) -> None:
    """What is drawn, what has a derivative, and what is made of several distributions."""
    space = run_by_torch(HEAD + text, dtype=torch.float32)
    answer = Function(HEAD + text).vjp()
    assert answer.check is not None
    assert answer.check.verdict == "agree"
    for name in ("m", "s"):
        gradient = space[name].grad
        truth = np.zeros(2) if gradient is None else gradient.numpy()
        np.testing.assert_allclose(answer.vjp.get(name, np.zeros(2)), truth, rtol=3e-6, atol=1e-6)


REFUSED = {
    "Normal(m, -s).mean": "torch refuses this Normal, which needs scale > 0",
    "Normal(0., -1.).cdf(m)": "needs scale > 0",
    "D.Exponential(s).log_prob(m)": "needs x >= 0",
    "D.Bernoulli(0.5).log_prob(s)": "needs (x == 0) | (x == 1)",
    "D.Poisson(s).log_prob(torch.tensor(0.5))": "needs x == floor(x)",
    "D.Uniform(s, m)": "needs low < high",
    "D.MultivariateNormal(m, scale_tril=torch.ones(2, 2)).entropy()": "tril(scale_tril) == scale_tril",
    "D.Categorical(logits=m).log_prob(torch.tensor(2))": "the index 2 is outside",
    "D.Weibull(s, s).mean": "the distribution Weibull is not read",
    "Normal(m).mean": "Normal takes loc, scale",
    "Normal(m, s, 1., 2.).mean": "True or False must stand here",
    "D.Bernoulli(probs=s, logits=s).mean": "Bernoulli takes probs or logits",
    "Normal(m, s).rsample(3)": "the shape of a sample is a tuple",
    "Normal(torch.zeros(3), s).mean": "do not fit together",
    "D.Gamma(s, s).rsample()": "what this Gamma draws by .rsample() is not read",
    "D.Bernoulli(logits=m).rsample()": "what this Bernoulli draws by .rsample() is not read",
    "D.Categorical(logits=m).sample()": "what this Categorical draws",
    "Normal(m, s).foo": "has no '.foo' that is read",
    "Normal(m, s).mean()": "has no '.mean' that is read",
    "Normal(m, s).entropy": "has no '.entropy' that is read",
    "Normal(m, s)*2": "this Normal stands where a number or a tensor must",
    "kl_divergence(Normal(m, s), D.Laplace(m, s))": "is not read",
    "kl_divergence(m, s)": "takes two distributions",
    "D.Independent(m, 1)": "Independent takes a distribution",
}


@pytest.mark.parametrize(("expression", "message"), REFUSED.items())
def test_what_is_not_read_is_refused(expression: str, message: str) -> None:
    """What torch refuses where the numbers are known, and what has no table."""
    with pytest.raises(GradcliError) as caught:
        Function(f"{HEAD}y = ({expression})\ny.sum().backward()").vjp()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("expression", "at"),
    [
        ("Normal(0, s).cdf(x)", {"s": -1.0, "x": 0.5}),
        ("Exponential(s).log_prob(x)", {"s": 1.0, "x": -0.5}),
        ("Bernoulli(s).log_prob(x)", {"s": 0.5, "x": 0.5}),
        ("Gamma(s, x).mean", {"s": -0.5, "x": 2.0}),
        ("kl_divergence(Normal(0, s), Normal(0, x))", {"s": -1.0, "x": -2.0}),
    ],
)
def test_a_value_that_torch_refuses_is_none(expression: str, at: dict[str, float]) -> None:
    """Where the numbers come later there is no value, and no derivative."""
    answer = Function(f"from torch.distributions import Normal, Exponential, Bernoulli, Gamma\n{expression}").vjp(at)
    assert np.isnan(answer.value)
    assert answer.check is not None
    assert answer.check.verdict == "undefined"

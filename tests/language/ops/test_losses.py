"""Losses against NumPy at one point, and against torch at random ones."""

# ruff: noqa: PLW0108 -- the parameters of a lambda name the variables

from __future__ import annotations

import numpy as np
import pytest
from torch.nn import functional

from gradcli import Function
from gradcli.errors import GradcliError, InputError, ShapeError
from tests.language.ops import torch_truth
from tests.language.ops.numpy_truth import Array, Case, Cases, absolute, arguments, require


def _positive(x: Array) -> Array:
    return np.where(x.real > 0, x, 0)


def _log_softmax(x: Array, axis: int = 1) -> Array:
    return x - np.log(np.exp(x).sum(axis, keepdims=True))


def _norm(x: Array) -> Array:
    squares: Array = x**2
    return np.sqrt(squares.sum(-1))


def _cosine(x: Array, k: Array) -> Array:
    return (x * k).sum(-1) / np.sqrt(((x**2).sum(-1) + 1e-12) * ((k**2).sum(-1) + 1e-12))


def _triplet(x: Array, k: Array, p: Array, margin: float = 1) -> Array:
    return _positive(_norm(x - k + 1e-6) - _norm(x - p + 1e-6) + margin)


def _margins(x: Array, margin: float = 1) -> Array:
    """Of two samples of the classes 2 and 0, what the other classes lack."""
    own = x[[0, 1], [2, 0]][:, None]
    return _positive(margin - own + x) * np.array([[1, 1, 0], [0, 1, 1]])


ONES: Array = np.array([[1.0, -1, 1], [-1, 1, -1]])

CASES: Cases = {
    "cross_entropy": [
        ("cross_entropy(x, [2, 0])", lambda x: -(_log_softmax(x)[[0, 1], [2, 0]]).sum() / 2),
        ("cross_entropy(x, [2, 0], reduction='none')", lambda x: -_log_softmax(x)[[0, 1], [2, 0]]),
        ("F.cross_entropy(u, 1)*a", lambda u, a: -_log_softmax(u, 0)[1] * a),
        ("cross_entropy(x, [-100, 1])", lambda x: -_log_softmax(x)[1, 1]),
        (
            "cross_entropy(x, [2, 0], weight=w**2)",
            lambda x, w: -(_log_softmax(x)[[0, 1], [2, 0]] * w[[2, 0]] ** 2).sum() / (w[0] ** 2 + w[2] ** 2),
        ),
        (
            "cross_entropy(x, [2, 0], label_smoothing=0.25, reduction='sum')",
            lambda x: -(0.75 * _log_softmax(x)[[0, 1], [2, 0]] + 0.25 * _log_softmax(x).sum(1) / 3).sum(),
        ),
        ("cross_entropy(x, p, u)", lambda x, p, u: -(u * p * _log_softmax(x)).sum() / 2),
    ],
    "nll_loss": [
        ("nll_loss(x, [2, 0])", lambda x: -(x[0, 2] + x[1, 0]) / 2),
        ("F.nll_loss(x, [2, 0], w, reduction='none')", lambda x, w: np.stack([-x[0, 2] * w[2], -x[1, 0] * w[0]])),
        ("nll_loss(x, [1, 0], ignore_index=1, reduction='sum')", lambda x: -x[1, 0]),
        ("nll_loss(u*a, 2)", lambda u, a: -u[2] * a),
    ],
    "kl_div": [
        ("kl_div(x, p)", lambda x, p: (p * (np.log(p) - x)).sum() / 6),
        ("kl_div(x, p, reduction='batchmean')", lambda x, p: (p * (np.log(p) - x)).sum() / 2),
        ("F.kl_div(x, k, reduction='none', log_target=True)", lambda x, k: np.exp(k) * (k - x)),
    ],
    "poisson_nll_loss": [
        ("poisson_nll_loss(x, p)", lambda x, p: (np.exp(x) - p * x).sum() / 6),
        (
            "poisson_nll_loss(p, k, log_input=False, reduction='sum')",
            lambda p, k: (p - k * np.log(p + 1e-8)).sum(),
        ),
        (
            "poisson_nll_loss(x, p + 1, full=True, reduction='none')",
            lambda x, p: np.exp(x) - (p + 1) * x + (p + 1) * np.log(p + 1) - p - 1 + np.log(2 * np.pi * (p + 1)) / 2,
        ),
    ],
    "gaussian_nll_loss": [
        ("gaussian_nll_loss(x, k, p)", lambda x, k, p: (np.log(p) + (x - k) ** 2 / p).sum() / 12),
    ],
    "soft_margin_loss": [
        ("soft_margin_loss(x, [[1, -1, 1], [-1, 1, -1]])", lambda x: np.log(1 + np.exp(-ONES * x)).sum() / 6),
        ("soft_margin_loss(x, k, reduction='none')", lambda x, k: np.log(1 + np.exp(-x * k))),
    ],
    "hinge_embedding_loss": [
        (
            "hinge_embedding_loss(p, [[1, -1, 1], [-1, 1, -1]], 0.4)",
            lambda p: ((ONES == 1) * p + (ONES == -1) * _positive(0.4 - p)).sum() / 6,
        ),
        (
            "hinge_embedding_loss(u, [-1, 1, 1], reduction='none')",
            lambda u: np.stack([_positive(1 - u[0]), u[1], u[2]]),
        ),
    ],
    "margin_ranking_loss": [
        (
            "margin_ranking_loss(x, k, [[1, -1, 1], [-1, 1, -1]], margin=0.5)",
            lambda x, k: _positive(-ONES * (x - k) + 0.5).sum() / 6,
        ),
        ("margin_ranking_loss(u, w, p[0], reduction='none')", lambda u, w, p: _positive(-p[0] * (u - w))),
    ],
    "cosine_embedding_loss": [
        ("cosine_embedding_loss(x, k, [1, 1])", lambda x, k: (1 - _cosine(x, k)).sum() / 2),
        (
            "F.cosine_embedding_loss(x, p, [1, -1], margin=-0.5, reduction='none')",
            lambda x, p: np.stack([1 - _cosine(x, p)[0], _positive(_cosine(x, p)[1] + 0.5)]),
        ),
    ],
    "triplet_margin_loss": [
        ("triplet_margin_loss(x, k, p)", lambda x, k, p: _triplet(x, k, p).sum() / 2),
        ("triplet_margin_loss(x, k, p, 3, reduction='none')", lambda x, k, p: _triplet(x, k, p, 3)),
        (
            "triplet_margin_loss(x, k, p, 4, p=1, swap=True, reduction='sum')",
            lambda x, k, p: _positive(
                absolute(x - k + 1e-6).sum(-1)
                - np.where(
                    (absolute(x - p + 1e-6).sum(-1) - absolute(k - p + 1e-6).sum(-1)).real < 0,
                    absolute(x - p + 1e-6).sum(-1),
                    absolute(k - p + 1e-6).sum(-1),
                )
                + 4
            ).sum(),
        ),
    ],
    "triplet_margin_with_distance_loss": [
        ("triplet_margin_with_distance_loss(x, k, p, margin=2)", lambda x, k, p: _triplet(x, k, p, 2).sum() / 2),
    ],
    "pairwise_distance": [
        ("pairwise_distance(x, k)", lambda x, k: _norm(x - k + 1e-6)),
        ("F.pairwise_distance(x, k, p=1, keepdim=True)", lambda x, k: absolute(x - k + 1e-6).sum(-1, keepdims=True)),
        ("pairwise_distance(u, w, eps=a)", lambda u, w, a: _norm(u - w + a)),
    ],
    "multilabel_soft_margin_loss": [
        (
            "multilabel_soft_margin_loss(x, p)",
            lambda x, p: (p * np.log(1 + np.exp(-x)) + (1 - p) * np.log(1 + np.exp(x))).sum() / 6,
        ),
        (
            "F.multilabel_soft_margin_loss(x, p, w, reduction='none')",
            lambda x, p, w: (w * (p * np.log(1 + np.exp(-x)) + (1 - p) * np.log(1 + np.exp(x)))).sum(1) / 3,
        ),
    ],
}

OMITTED = {"multilabel_margin_loss(v, [3, 0, -1, 1])": "more than 1,500 terms"}

OF_TORCH: list[torch_truth.Case] = [
    ("cross_entropy(x, t)", lambda x, t: functional.cross_entropy(x, t), {"x": (4, 3), "t": [0, 2, 1, 1]}),
    (
        "cross_entropy(x, t, ignore_index=1, label_smoothing=0.2)",
        lambda x, t: functional.cross_entropy(x, t, ignore_index=1, label_smoothing=0.2),
        {"x": (4, 3), "t": [0, 2, 1, 1]},
    ),
    (
        "cross_entropy(x, t, [1.5, 2, 0.5], label_smoothing=0.2, reduction='sum')",
        lambda x, t: functional.cross_entropy(x, t, torch_of([1.5, 2, 0.5]), label_smoothing=0.2, reduction="sum"),
        {"x": (2, 3, 2), "t": [[0, 2], [-100, 1]]},
    ),
    (
        "cross_entropy(x, t, [1.5, 2, 0.5], label_smoothing=0.2)",
        lambda x, t: functional.cross_entropy(x, t, torch_of([1.5, 2, 0.5]), label_smoothing=0.2),
        {"x": (2, 3), "t": [0, 1]},
    ),
    (
        "cross_entropy(x, p, label_smoothing=0.2, reduction='none')",
        lambda x, p: functional.cross_entropy(x, p, label_smoothing=0.2, reduction="none"),
        {"x": (2, 3, 2), "p": (2, 3, 2)},
    ),
    (
        "nll_loss(x, t)",
        lambda x, t: functional.nll_loss(x, t),
        {"x": (2, 3, 2, 2), "t": [[[0, 2], [1, 1]], [[2, 2], [0, 1]]]},
    ),
    (
        "nll_loss(x, t, reduction='none')",
        lambda x, t: functional.nll_loss(x, t, reduction="none"),
        {"x": (3, 3), "t": [0, -100, 2]},
    ),
    (
        "hinge_embedding_loss(x, t, 0.7)",
        lambda x, t: functional.hinge_embedding_loss(x, t, 0.7),
        {"x": (3,), "t": [1, -1, -1]},
    ),
    (
        "cosine_embedding_loss(x, k, t, 0.1)",
        lambda x, k, t: functional.cosine_embedding_loss(x, k, t, 0.1),
        {"x": (3, 4), "k": (3, 4), "t": [1, -1, 1]},
    ),
    (
        "triplet_margin_loss(x, k, n, eps=0.01, swap=True, margin=0.5)",
        lambda x, k, n: functional.triplet_margin_loss(x, k, n, eps=0.01, swap=True, margin=0.5),
        {"x": (3, 4), "k": (3, 4), "n": (3, 4)},
    ),
    (
        "gaussian_nll_loss(x, k, exp(n))",
        lambda x, k, n: functional.gaussian_nll_loss(x, k, n.exp()),
        {"x": (3, 4), "k": (3, 4), "n": (3, 1)},
    ),
]


def torch_of(numbers: list[float]) -> Array:
    """A tensor of these numbers."""
    import torch

    return torch.tensor(numbers, dtype=torch.float64)


@pytest.mark.parametrize(("op", "case"), arguments(CASES))
def test_losses(op: str, case: Case) -> None:
    """Value, Jacobian, verdict and formula."""
    require(op, case, OMITTED)


@pytest.mark.parametrize("case", torch_truth.arguments(OF_TORCH))
def test_losses_are_those_of_torch(case: torch_truth.Case) -> None:
    """Values and gradients at random points."""
    torch_truth.require(case)


def test_class_indices_have_no_derivative() -> None:
    """They are not differentiated by, unless that is asked for: there they jump."""
    at = {"x": np.array([[1.0, 2.0, 4.0]]), "t": np.array([2.0])}
    assert set(Function("cross_entropy(x, t)").grad(at).grad) == {"x"}
    asked = Function("cross_entropy(x, t)").grad(at, wrt=["t"])
    assert asked.check is not None
    assert asked.check.verdict == "kink"
    likelihoods = Function("cross_entropy(x, p)").grad({"x": [[1.0, 2.0]], "p": [[0.5, 0.5]]})
    assert set(likelihoods.grad) == {"x", "p"}


def test_class_indices_are_whole_and_inside() -> None:
    """Torch would take the whole part of a fraction."""
    with pytest.raises(InputError, match="whole numbers"):
        Function("cross_entropy(x, t)").grad({"x": [[1.0, 2.0]], "t": [0.5]})
    with pytest.raises(GradcliError, match="and there is"):
        Function("nll_loss(x, t)").grad({"x": [[1.0, 2.0]], "t": [2]})
    with pytest.raises(ShapeError, match=r"class indices of the shape \(1,\)"):
        Function("cross_entropy(x, t)").grad({"x": [[1.0, 2.0]], "t": [0, 1]})


def test_a_weight_that_is_differentiated_by_is_computed_by_the_definition() -> None:
    """Torch's own function refuses a weight that requires a gradient."""
    answer = Function("cross_entropy(x, t, w)").grad({"x": [[1.0, 2.0], [0.5, 0.1]], "t": [0, 1], "w": [1.0, 3.0]})
    assert answer.check is not None
    assert answer.check.verdict == "agree"
    logits = np.array([[1.0, 2.0], [0.5, 0.1]])
    losses = -_log_softmax(logits)[[0, 1], [0, 1]]
    np.testing.assert_allclose(answer.grad["w"], [(losses[0] - losses[1]) * 3 / 16, (losses[1] - losses[0]) / 16])

"""Functions that torch is asked for, each by its text: torch itself, called by it, has the value and the Jacobian."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from gradcli import Function
from gradcli.errors import GradcliError, InputError, ShapeError
from gradcli.language import ops
from gradcli.language.ops import Kind
from tests.language.ops.numpy_truth import POINT
from tests.parsing import parse

NAMES: Mapping[str, Any] = {**vars(torch), **vars(functional), "torch": torch, "F": functional}
"""What a text may call."""

CASES: Mapping[str, list[str]] = {
    "windows": ["v.unfold(0, 2, 1)", "y.unfold(1, 2, 2)"],
    "conv1d": ["conv1d(z, G)", "F.conv1d(z, G, b*u[:2], padding=1)"],
    "conv2d": ["conv2d(z, G[None, :, :2, :2])", "F.conv2d(z[None], G[None], u[:1], stride=(1, 2), padding=(1, 0))"],
    "conv3d": ["conv3d(z[None, None], G[None, None, :, :2, :2])"],
    "conv_transpose1d": ["conv_transpose1d(z, G.transpose(0, 1))", "conv_transpose1d(y, x.view(3, 1, 2), groups=3)"],
    "conv_transpose2d": [
        "conv_transpose2d(x[None], C[None, None])",
        "conv_transpose2d(x[None], C[None, None], stride=2)",
    ],
    "conv_transpose3d": ["conv_transpose3d(x[None, None], C[None, None, None])"],
    "avg_pool1d": ["avg_pool1d(y, 2)", "F.avg_pool1d(z, 3, stride=1, padding=1, count_include_pad=False)"],
    "avg_pool2d": ["avg_pool2d(z, 2, 1)", "avg_pool2d(z, 2, divisor_override=3)"],
    "avg_pool3d": ["avg_pool3d(z[None], 2)"],
    "max_pool1d": ["max_pool1d(y, 2)", "F.max_pool1d(y, 3, stride=1, padding=1)"],
    "max_pool2d": ["max_pool2d(z, 2)", "max_pool2d(z, 3, stride=2, padding=1)"],
    "max_pool3d": ["max_pool3d(z[None], 2)"],
    "adaptive_avg_pool1d": ["adaptive_avg_pool1d(y, 2)", "adaptive_avg_pool1d(z, 3)"],
    "adaptive_avg_pool2d": ["F.adaptive_avg_pool2d(z, (2, 3))", "adaptive_avg_pool2d(z, (None, 1))"],
    "adaptive_avg_pool3d": ["adaptive_avg_pool3d(z[None], 1)"],
    "adaptive_max_pool1d": ["adaptive_max_pool1d(y, 3)"],
    "adaptive_max_pool2d": ["adaptive_max_pool2d(z, (2, 2))"],
    "adaptive_max_pool3d": ["adaptive_max_pool3d(z[None], (1, 1, 2))"],
    "im2col": ["F.unfold(z[None], 2, padding=1)"],
    "fold": ["fold(C.view(4, 1), 2, 2)", "F.fold(y[:, :2].reshape(2, 3), (1, 4), (1, 2))"],
    "normalize": ["normalize(x)", "F.normalize(x, p=1, dim=0)"],
    "layer_norm": ["F.layer_norm(z, (3, 4), y, y**2, eps=0.5)", "layer_norm(x, [3], bias=u)"],
    "rms_norm": ["rms_norm(x, (3,), w)", "F.rms_norm(u, (3,), eps=0.1)"],
    "group_norm": ["group_norm(x, 1, w, u)", "group_norm(z.reshape(2, 6, 2), 3)"],
    "batch_norm": ["batch_norm(x, None, None, training=True)", "batch_norm(z, None, None, w, training=True)"],
    "instance_norm": ["instance_norm(z, weight=w, eps=0.01)"],
    "local_response_norm": ["local_response_norm(z, 2, alpha=0.5)"],
    "dropout": ["F.dropout(x, 0.3, training=False)*x", "dropout(u, p=0)*a"],
    "dropout1d": ["dropout1d(x, training=False)**2"],
    "dropout2d": ["F.dropout2d(z[None], training=False)**2"],
    "dropout3d": ["dropout3d(z[None], training=False)**2"],
    "alpha_dropout": ["alpha_dropout(x)**2"],
    "feature_alpha_dropout": ["F.feature_alpha_dropout(x, 0.2)**2"],
    "celu": ["celu(x)", "F.celu(x, 2.5)*a"],
    "threshold": ["threshold(x, 0.5, -2)"],
    "hardshrink": ["hardshrink(x)", "F.hardshrink(x, lambd=1.15)"],
    "softshrink": ["softshrink(x)", "softshrink(y, 1.2)"],
    "rrelu": ["rrelu(x)", "F.rrelu(x, 0.1, 0.5, training=False)"],
    "prelu": ["prelu(x, u)", "F.prelu(z, one)"],
    "glu": ["glu(y)", "F.glu(z, dim=0)"],
    "softmin": ["softmin(x, 1)", "F.softmin(u, dim=0)"],
    "scaled_dot_product_attention": [
        "scaled_dot_product_attention(x, k, y[:2])",
        "F.scaled_dot_product_attention(x, k, p, is_causal=True)",
    ],
    "embedding": ["embedding(torch.tensor([2, 0, 2]), y)", "F.embedding(torch.tensor([[1], torch.tensor([0])]), y)*a"],
    "rnn_tanh_cell": ["torch.rnn_tanh_cell(x, C, k, C.T)"],
    "rnn_relu_cell": ["rnn_relu_cell(x, C, k, C, w[:2])"],
    "gru_cell": ["gru_cell(x, column, y.T[:3], M[:, :1], u)"],
    "bilinear": [
        "bilinear(x, y[:2], G.reshape(2, 9)[:, :4].reshape(2, 1, 4)*u[:, None], v[:2])",
        "F.bilinear(u, w, G)",
    ],
    "pdist": ["pdist(x)", "F.pdist(y, 1)"],
    "pixel_shuffle": ["pixel_shuffle(z[:, :2, :2].reshape(4, 1, 2), 2)"],
    "pixel_unshuffle": ["pixel_unshuffle(C[None], 2)", "F.pixel_unshuffle(z[:, :2], 2)"],
    "channel_shuffle": ["channel_shuffle(y.T[None], 2)"],
    "interpolate": [
        "interpolate(z, scale_factor=2)",
        "F.interpolate(z, 3)",
        "interpolate(z, 6, mode='nearest-exact')",
        "interpolate(u[None, None], 6, mode='linear')",
        "F.interpolate(u[None, None], size=5, mode='linear', align_corners=True)",
        "interpolate(x[None, None], (3, 2), mode='bilinear')",
        "interpolate(x[None, None], (2, 4), mode='bicubic')",
        "interpolate(z, 2, mode='area')",
    ],
    "cross_entropy": [
        "cross_entropy(x, p, u)",
        "cross_entropy(x, torch.tensor([2, 0]))",
        "cross_entropy(x, torch.tensor([2, 0]), reduction='none')",
        "F.cross_entropy(u, torch.tensor(1))*a",
        "cross_entropy(x, torch.tensor([-100, 1]))",
        "cross_entropy(x, torch.tensor([2, 0]), label_smoothing=0.25, reduction='sum')",
    ],
    "nll_loss": [
        "nll_loss(x, torch.tensor([2, 0]))",
        "F.nll_loss(x, torch.tensor([1, 0]), ignore_index=1, reduction='sum')",
    ],
    "kl_div": ["F.kl_div(x, k, reduction='none', log_target=True)", "kl_div(x, p, reduction='batchmean')"],
    "poisson_nll_loss": ["poisson_nll_loss(x, p)", "poisson_nll_loss(p, k, log_input=False, reduction='sum')"],
    "gaussian_nll_loss": ["gaussian_nll_loss(x, k, p)", "F.gaussian_nll_loss(C, M[:2, :2], p[0, :2], full=True)"],
    "soft_margin_loss": [
        "soft_margin_loss(x, torch.tensor([[1, -1, 1], [-1, 1, -1]]))",
    ],
    "hinge_embedding_loss": [
        "hinge_embedding_loss(p, torch.tensor([[1, -1, 1], [-1, 1, -1]]), 0.4)",
        "hinge_embedding_loss(u, torch.tensor([-1, 1, 1]), reduction='none')",
    ],
    "margin_ranking_loss": [
        "margin_ranking_loss(u, w, p[0], reduction='none')",
        "margin_ranking_loss(x, k, torch.tensor([[1, -1, 1], [-1, 1, -1]]), margin=0.5)",
    ],
    "cosine_embedding_loss": [
        "cosine_embedding_loss(x, k, torch.tensor([1, 1]))",
        "F.cosine_embedding_loss(x, p, torch.tensor([1, -1]), margin=-0.5, reduction='none')",
    ],
    "triplet_margin_loss": ["triplet_margin_loss(x, k, p)", "triplet_margin_loss(x, k, p, 3, reduction='none')"],
    "triplet_margin_with_distance_loss": ["triplet_margin_with_distance_loss(x, k, p, margin=2)"],
    "pairwise_distance": ["pairwise_distance(x, k)", "F.pairwise_distance(x, k, p=1, keepdim=True)"],
    "multilabel_soft_margin_loss": [
        "multilabel_soft_margin_loss(x, p)",
        "F.multilabel_soft_margin_loss(x, p, w, reduction='none')",
    ],
}
"""Texts at `POINT`, by the row of the op table that they are about; lists are tensors, as torch wants."""

AT_RANDOM: list[tuple[str, Mapping[str, Any]]] = [
    ("conv1d(x, w, b, 2, 3, 2, 2)", {"x": (2, 4, 5), "w": (6, 2, 3), "b": (6,)}),
    ("conv2d(x, w, padding='same', dilation=(1, 2))", {"x": (1, 2, 4, 5), "w": (2, 2, 3, 3)}),
    ("conv_transpose2d(x, w, b, (1, 2), 1, (0, 1), 2, 2)", {"x": (2, 2, 3, 3), "w": (2, 2, 2, 2), "b": (4,)}),
    ("avg_pool2d(x, 3, 2, 1, True, False)", {"x": (1, 2, 4, 6)}),
    ("avg_pool2d(x, 3, 2, 1, True)", {"x": (2, 4, 6)}),
    ("max_pool2d(x, 3, 2, 1, 2, True)", {"x": (2, 6, 6)}),
    ("fold(x, (4, 3), 2, 1, 1, 2)", {"x": (1, 4, 6)}),
    ("F.unfold(x, 2, 2, 1, 2)", {"x": (1, 2, 4, 3)}),
    ("torch.gru_cell(x, h, w, u, a, b)", {"x": (3, 2), "h": (3, 2), "w": (6, 2), "u": (6, 2), "a": (6,), "b": (6,)}),
    ("batch_norm(x, m, v, w, b, True)", {"x": (3, 2, 2), "m": [1.0, 2.0], "v": [2.0, 1.0], "w": (2,), "b": (2,)}),
    ("instance_norm(x, m, v, w, b, False)", {"x": (3, 2, 2), "m": [1.0, 2.0], "v": [2.0, 1.0], "w": (2,), "b": (2,)}),
    ("group_norm(x, 2, w, b, 0.1)", {"x": (2, 4, 3), "w": (4,), "b": (4,)}),
    ("local_response_norm(x, 3, 0.1, 0.5, 2)", {"x": (1, 4, 2, 2)}),
    ("scaled_dot_product_attention(q, k, v, m)", {"q": (2, 3, 4), "k": (2, 2, 4), "v": (2, 2, 3), "m": (3, 2)}),
    (
        "scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.3)",
        {"q": (2, 3, 4), "k": (2, 3, 4), "v": (2, 3, 3)},
    ),
    ("embedding(i, w, padding_idx=-1)", {"i": [[0, 2], [1, 2]], "w": (3, 2)}),
    ("interpolate(x, scale_factor=(1.5, 0.7), mode='bilinear')", {"x": (1, 2, 3, 4)}),
    ("interpolate(x, (5, 2), mode='bicubic', align_corners=True)", {"x": (1, 1, 3, 4)}),
    ("interpolate(x, (3, 2, 5), mode='trilinear')", {"x": (1, 1, 2, 3, 2)}),
    ("interpolate(x, scale_factor=0.6)", {"x": (1, 1, 7)}),
    ("interpolate(x, (2, 3), mode='area')", {"x": (1, 1, 5, 4)}),
    ("pixel_shuffle(x, 2)", {"x": (2, 8, 2, 3)}),
    ("channel_shuffle(x, 3)", {"x": (2, 6, 2, 2)}),
    ("pdist(x, 3)", {"x": (4, 3)}),
    ("cross_entropy(x, t)", {"x": (4, 3), "t": [0, 2, 1, 1]}),
    ("cross_entropy(x, t, ignore_index=1, label_smoothing=0.2)", {"x": (4, 3), "t": [0, 2, 1, 1]}),
    (
        "cross_entropy(x, t, w, label_smoothing=0.2, reduction='sum')",
        {"x": (2, 3, 2), "t": [[0, 2], [-100, 1]], "w": [1.5, 2.0, 0.5]},
    ),
    ("cross_entropy(x, t, w, label_smoothing=0.2)", {"x": (2, 3), "t": [0, 1], "w": [1.5, 2.0, 0.5]}),
    ("cross_entropy(x, p, label_smoothing=0.2, reduction='none')", {"x": (2, 3, 2), "p": (2, 3, 2)}),
    ("nll_loss(x, t)", {"x": (2, 3, 2, 2), "t": [[[0, 2], [1, 1]], [[2, 2], [0, 1]]]}),
    ("nll_loss(x, t, reduction='none')", {"x": (3, 3), "t": [0, -100, 2]}),
    ("hinge_embedding_loss(x, t, 0.7)", {"x": (3,), "t": [1, -1, -1]}),
    ("cosine_embedding_loss(x, k, t, 0.1)", {"x": (3, 4), "k": (3, 4), "t": [1, -1, 1]}),
    ("triplet_margin_loss(x, k, n, eps=0.01, swap=True, margin=0.5)", {"x": (3, 4), "k": (3, 4), "n": (3, 4)}),
    ("gaussian_nll_loss(x, k, exp(n))", {"x": (3, 4), "k": (3, 4), "n": (3, 1)}),
    (
        "nll_loss(x, t, w, reduction='none')",
        {"x": (2, 3), "t": [2, 0], "w": [1.5, 2.0, 0.5]},
    ),
    ("soft_margin_loss(x, k, reduction='none')", {"x": (2, 3), "k": [[0.5, -1.5, 1.0], [-1.0, 1.25, -0.5]]}),
]
"""Texts with the shapes of random numbers, or numbers that no derivative is asked for."""


def _require(text: str, at: Mapping[str, Any], wrt: list[str]) -> set[str]:
    """Value, Jacobian and verdict of a text; gives the variables that have a formula."""
    tensors = {name: torch.tensor(array) for name, array in at.items()}

    def plain(*given: torch.Tensor) -> Any:
        return eval(text, {**NAMES}, {**tensors, **dict(zip(wrt, given, strict=True))})

    own = tuple(tensors[name] for name in wrt)
    answer = Function(text).jacobian(at, wrt=wrt)
    np.testing.assert_allclose(answer.value, plain(*own), rtol=1e-12, atol=1e-14, strict=True)
    assert answer.jacobian is not None
    assert answer.check is not None
    assert answer.check.verdict == "agree", answer.check.findings
    truths = torch.autograd.functional.jacobian(plain, own)  # type: ignore[no-untyped-call]
    for name, truth in zip(wrt, truths, strict=True):
        np.testing.assert_allclose(answer.jacobian[name], truth, rtol=1e-10, atol=1e-13, strict=True)
    return set(answer.symbolic)


@pytest.mark.parametrize(("op", "text"), [(op, text) for op, texts in CASES.items() for text in texts])
def test_functions_are_those_of_torch(op: str, text: str) -> None:
    """Value, Jacobian, verdict and formula."""
    names = [*Function(text).variables]
    if ops.TABLE[op].kind is not Kind.INLINED:
        assert op in {line.call.op.name for line in parse(text).lines}
    assert _require(text, {name: POINT[name] for name in names}, names) == set(names)


@pytest.mark.parametrize(("text", "given"), AT_RANDOM, ids=[text for text, _ in AT_RANDOM])
def test_functions_at_random_numbers_are_those_of_torch(text: str, given: Mapping[str, Any]) -> None:
    """Value, Jacobian and verdict."""
    draw = np.random.default_rng(len(text))
    at = {
        name: draw.uniform(0.2, 1.8, shape) * draw.choice([-1, 1], shape)
        if isinstance(shape, tuple)
        else np.array(shape)
        for name, shape in given.items()
    }
    _require(text, at, [name for name, shape in given.items() if isinstance(shape, tuple)])


def test_the_derivative_of_a_convolution_is_that_of_the_textbook() -> None:
    """Each weight meets the elements that it was multiplied with, and each element the weights."""
    answer = Function("conv1d(x, w)").jacobian({"x": np.ones((1, 1, 5)), "w": [[[1.0, 2.0, 3.0]]]})
    assert answer.symbolic["w"].text == "[[x[0, 0, k + l]]]"


def test_a_tie_in_a_window_is_a_kink() -> None:
    """As in amax."""
    answer = Function("max_pool1d(x, 2)").jacobian({"x": [[3.0, 3.0]]})
    assert answer.check is not None
    assert answer.check.verdict == "kink"


def test_running_averages_are_not_differentiated_by() -> None:
    """Unless that is asked for; torch's own function has no derivative by them."""
    at = {"x": np.array([[1.0, 2.0], [3.0, 5.0]]), "m": np.array([1.0, 2.0]), "v": np.array([0.5, 2.0])}
    assert set(Function("sum(batch_norm(x, m, v))").grad(at).grad) == {"x"}
    answer = Function("sum(batch_norm(x, m, v))").grad(at, wrt=["m"])
    np.testing.assert_allclose(answer.grad["m"], -2 / np.sqrt(at["v"] + 1e-5))


@pytest.mark.parametrize("text", ["dropout(x)", "rrelu(x, training=True)", "alpha_dropout(x, 0.3, True)"])
def test_what_is_random_in_training_is_refused(text: str) -> None:
    """With what to write."""
    with pytest.raises(InputError, match="random"):
        Function(text).eval({"x": np.ones(2)})


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
    losses = np.log(np.exp(logits).sum(1)) - logits[[0, 1], [0, 1]]
    np.testing.assert_allclose(answer.grad["w"], [(losses[0] - losses[1]) * 3 / 16, (losses[1] - losses[0]) / 16])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("conv1d(ones(2, 3, 4), ones(2, 3, 3), 2)", "takes a tensor for bias"),
        ("conv1d(ones(2, 3, 4), ones(2, 3, 3), padding='full')", "does not take this padding"),
        ("max_pool1d(ones(2, 4), 2, padding=2)", "at most half"),
        ("windows(ones(3), 0, 4)", "does not fit"),
        ("embedding([3], ones(2, 3))", "from 0 to 1"),
        ("embedding([0.5], ones(2, 3))", "whole numbers"),
        ("interpolate(ones(1, 1, 2), 3, mode='cubic')", "does not take this mode"),
    ],
)
def test_what_does_not_fit_is_said(text: str, message: str) -> None:
    """With what is needed."""
    with pytest.raises(GradcliError, match=message):
        np.asarray(Function(f"{text}*x").eval({"x": 1.0}).value)

"""Norms, activations with parameters, sequences and resampling: against NumPy at one point, torch at random ones."""

# ruff: noqa: PLW0108 -- the parameters of a lambda name the variables

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional

from gradcli import Function
from gradcli.errors import GradcliError, InputError
from tests.language.ops import torch_truth
from tests.language.ops.numpy_truth import Array, Case, Cases, absolute, arguments, require


def _normed(x: Array, axes: tuple[int, ...], eps: float = 1e-5) -> Array:
    count = np.prod([x.shape[axis] for axis in axes])
    centred = x - x.sum(axes, keepdims=True) / count
    return centred / np.sqrt((centred**2).sum(axes, keepdims=True) / count + eps)


def _softmax(x: Array) -> Array:
    return np.exp(x) / np.exp(x).sum(-1, keepdims=True)


def _attention(q: Array, k: Array, v: Array, mask: Array = 0) -> Array:
    return _softmax(q @ k.T / np.sqrt(q.shape[-1]) + mask) @ v


def _resized(x: Array, places: list[float]) -> Array:
    """Numbers at places between those of a row, on straight lines."""
    found = []
    for place in places:
        at = min(max(place, 0), len(x) - 1)
        left = min(int(at), len(x) - 2)
        found.append(x[left] * (left + 1 - at) + x[left + 1] * (at - left))
    return np.stack(found)


def _cubic(distance: float) -> float:
    d = abs(distance)
    if d <= 1:
        return 1.25 * d**3 - 2.25 * d**2 + 1
    return -0.75 * (d**3 - 5 * d**2 + 8 * d - 4) if d < 2 else 0.0


def _resized_by_cubics(x: Array, places: list[float]) -> Array:
    rows = []
    for place in places:
        first = int(np.floor(place))
        rows.append(sum(_cubic(place - n) * x[min(max(n, 0), len(x) - 1)] for n in range(first - 1, first + 3)))
    return np.stack(rows)


def _sampled(x: Array, at_y: Array, at_x: Array) -> Array:
    """A plane between its elements, 0 outside."""
    hats_y = [np.where((1 - absolute(at_y - i)).real > 0, 1 - absolute(at_y - i), 0) for i in range(x.shape[0])]
    hats_x = [np.where((1 - absolute(at_x - j)).real > 0, 1 - absolute(at_x - j), 0) for j in range(x.shape[1])]
    return sum(hats_y[i] * hats_x[j] * x[i, j] for i in range(x.shape[0]) for j in range(x.shape[1]))


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def _positive(x: Array) -> Array:
    return np.where(x.real > 0, x, 0)


def _gru(i: Array, h: Array, state: Array) -> Array:
    """A unit of one element, from what its layers give."""
    reset, update = _sigmoid(i[:, :1] + h[:, :1]), _sigmoid(i[:, 1:2] + h[:, 1:2])
    return (1 - update) * np.tanh(i[:, 2:] + reset * h[:, 2:]) + update * state


def _lstm(gates: Array, cell: Array) -> tuple[Array, Array]:
    """A cell of one element, from what its layers give together."""
    taken, kept, new, shown = (gates[:, n : n + 1] for n in range(4))
    after = _sigmoid(kept) * cell + _sigmoid(taken) * np.tanh(new)
    return _sigmoid(shown) * np.tanh(after), after


NORMS: Cases = {
    "normalize": [
        ("normalize(x)", lambda x: x / np.sqrt((x**2).sum(1, keepdims=True))),
        ("F.normalize(x, p=1, dim=0)", lambda x: x / absolute(x).sum(0, keepdims=True)),
        ("normalize(x/100, eps=1)", lambda x: x / 100),
    ],
    "layer_norm": [
        ("layer_norm(x, 3)", lambda x: _normed(x, (1,))),
        ("F.layer_norm(z, (3, 4), y, y**2, eps=0.5)", lambda z, y: _normed(z, (1, 2), 0.5) * y + y**2),
        ("layer_norm(x, [3], bias=u)", lambda x, u: _normed(x, (1,)) + u),
    ],
    "rms_norm": [
        ("rms_norm(x, (3,), w)", lambda x, w: x / np.sqrt((x**2).sum(1, keepdims=True) / 3 + 2.0**-52) * w),
        ("F.rms_norm(u, 3, eps=0.1)", lambda u: u / np.sqrt((u**2).sum() / 3 + 0.1)),
    ],
    "group_norm": [
        ("group_norm(x, 1, w, u)", lambda x, w, u: _normed(x, (1,)) * w + u),
        (
            "group_norm(z.reshape(2, 6, 2), 3)",
            lambda z: _normed(z.reshape(2, 3, 2, 2), (2, 3)).reshape(2, 6, 2),
        ),
    ],
    "batch_norm": [
        ("batch_norm(x, [1, 2, 0.5], ones(3))", lambda x: (x - np.array([1, 2, 0.5])) / np.sqrt(1 + 1e-5)),
        (
            "F.batch_norm(z, zeros(3), [1, 4, 2], w, u, eps=0.1)",
            lambda z, u, w: z / np.sqrt(np.array([1.1, 4.1, 2.1]))[:, None] * w[:, None] + u[:, None],
        ),
        ("batch_norm(x, None, None, training=True)", lambda x: _normed(x, (0,))),
        ("batch_norm(z, None, None, w, training=True)", lambda z, w: _normed(z, (0, 2)) * w[:, None]),
    ],
    "instance_norm": [
        ("instance_norm(z, weight=w, eps=0.01)", lambda z, w: _normed(z, (2,), 0.01) * w[:, None]),
    ],
    "local_response_norm": [
        (
            "local_response_norm(z, 2, alpha=0.5)",
            lambda z: z / (1 + 0.25 * (z**2 + np.pad(z, [(0, 0), (1, 0), (0, 0)])[:, :3] ** 2)) ** 0.75,
        ),
    ],
    "dropout": [("F.dropout(x, 0.3, training=False)*x", lambda x: x**2), ("dropout(u, p=0)*a", lambda u, a: u * a)],
    "dropout1d": [("dropout1d(x, training=False)**2", lambda x: x**2)],
    "dropout2d": [("F.dropout2d(z, training=False)**2", lambda z: z**2)],
    "dropout3d": [("dropout3d(z[None], training=False)**2", lambda z: z[None] ** 2)],
    "alpha_dropout": [("alpha_dropout(x)**2", lambda x: x**2)],
    "feature_alpha_dropout": [("F.feature_alpha_dropout(x, 0.2)**2", lambda x: x**2)],
}

ACTIVATIONS: Cases = {
    "celu": [
        ("celu(x)", lambda x: np.where(x.real > 0, x, np.exp(x) - 1)),
        ("F.celu(x, 2.5)*a", lambda x, a: np.where(x.real > 0, x, 2.5 * (np.exp(x / 2.5) - 1)) * a),
    ],
    "threshold": [("threshold(x, 0.5, -2)", lambda x: np.where(x.real > 0.5, x, -2))],
    "hardshrink": [
        ("hardshrink(x)", lambda x: np.where(np.abs(x.real) > 0.5, x, 0)),
        ("F.hardshrink(x, lambd=1.15)", lambda x: np.where(np.abs(x.real) > 1.15, x, 0)),
    ],
    "softshrink": [
        ("softshrink(x)", lambda x: np.where(np.abs(x.real) > 0.5, x - np.sign(x.real) / 2, 0)),
        ("softshrink(y, 1.2)", lambda y: np.where(np.abs(y.real) > 1.2, y - 1.2 * np.sign(y.real), 0)),
    ],
    "rrelu": [
        ("rrelu(x)", lambda x: np.where(x.real > 0, x, x * 11 / 48)),
        ("F.rrelu(x, 0.1, 0.5, training=False)", lambda x: np.where(x.real > 0, x, x * 0.3)),
    ],
    "prelu": [
        ("prelu(x, u)", lambda x, u: np.where(x.real > 0, x, u * x)),
        ("F.prelu(z, one)", lambda z, one: np.where(z.real > 0, z, one * z)),
        ("prelu(z, w)", lambda z, w: np.where(z.real > 0, z, w[:, None] * z)),
    ],
    "glu": [
        ("glu(y)", lambda y: y[:, :2] * _sigmoid(y[:, 2:])),
        ("F.glu(z, dim=0)", lambda z: (z[0] * _sigmoid(z[1]))[None]),
    ],
    "softmin": [("softmin(x, 1)", lambda x: _softmax(-x)), ("F.softmin(u, dim=0)", lambda u: _softmax(-u))],
}

SEQUENCES: Cases = {
    "scaled_dot_product_attention": [
        ("scaled_dot_product_attention(x, k, y[:2])", lambda x, k, y: _attention(x, k, y[:2])),
        (
            "F.scaled_dot_product_attention(x, k, p, is_causal=True)",
            lambda x, k, p: np.stack([p[0], _attention(x, k, p)[1]]),
        ),
        ("scaled_dot_product_attention(x, k, p, C, scale=0.5)", lambda x, k, p, C: _softmax(x @ k.T / 2 + C) @ p),
    ],
    "embedding": [
        ("embedding([2, 0, 2], y)", lambda y: y[[2, 0, 2]]),
        ("F.embedding([[1], [0]], y)*a", lambda y, a: y[[1, 0]][:, None] * a),
        ("embedding(1, x)", lambda x: x[1]),
    ],
    "rnn_tanh_cell": [
        ("torch.rnn_tanh_cell(x, C, k, C.T)", lambda x, C, k: np.tanh(x @ k.T + C @ C)),
    ],
    "rnn_relu_cell": [
        ("rnn_relu_cell(x, C, k, C, w[:2])", lambda x, C, k, w: _positive(x @ k.T + w[:2] + C @ C.T)),
    ],
    "gru_cell": [
        (
            "gru_cell(x, column, y.T[:3], M[:, :1], u)",
            lambda x, column, y, M, u: _gru(x @ y[:, :3] + u, column @ M[:, :1].T, column),
        ),
    ],
    "bilinear": [
        (
            "bilinear(x, y[:2], G.reshape(2, 9)[:, :4].reshape(2, 1, 4)*u[:, None], v[:2])",
            lambda x, y, G, u, v: (
                np.einsum("ni,oij,nj->no", x, G.reshape(2, 9)[:, :4].reshape(2, 1, 4) * u[:, None], y[:2]) + v[:2]
            ),
        ),
        ("F.bilinear(u, w, G)", lambda u, w, G: np.einsum("i,oij,j->o", u, G, w)),
    ],
    "pdist": [
        ("pdist(x)", lambda x: np.sqrt(((x[0] - x[1]) ** 2).sum())[None]),
        (
            "F.pdist(y, 1)",
            lambda y: np.stack([absolute(y[i] - y[j]).sum() for i, j in ((0, 1), (0, 2), (1, 2))]),
        ),
    ],
}

RESAMPLING: Cases = {
    "pixel_shuffle": [
        (
            "pixel_shuffle(z[:, :2, :1].view(4, 1, 1), 2)",
            lambda z: z[:, :2, 0].reshape(1, 2, 2),
        ),
    ],
    "pixel_unshuffle": [
        ("pixel_unshuffle(C[None], 2)", lambda C: C.reshape(4, 1, 1)),
        (
            "F.pixel_unshuffle(z[:, :2], 2)",
            lambda z: z[:, :2].reshape(2, 2, 2, 2).transpose(0, 1, 3, 2).reshape(8, 1, 2),
        ),
    ],
    "channel_shuffle": [
        ("channel_shuffle(y.T[None], 2)", lambda y: y.T[None][:, [0, 2, 1, 3]]),
    ],
    "interpolate": [
        ("interpolate(z, scale_factor=2)", lambda z: z[..., [0, 0, 1, 1, 2, 2, 3, 3]]),
        ("F.interpolate(z, 3)", lambda z: z[..., [0, 1, 2]]),
        ("interpolate(z, 6, mode='nearest-exact')", lambda z: z[..., [0, 1, 1, 2, 3, 3]]),
        (
            "interpolate(u[None, None], 6, mode='linear')",
            lambda u: _resized(u, [-0.25, 0.25, 0.75, 1.25, 1.75, 2.25])[None, None],
        ),
        (
            "F.interpolate(u[None, None], size=5, mode='linear', align_corners=True)",
            lambda u: _resized(u, [0, 0.5, 1, 1.5, 2])[None, None],
        ),
        (
            "interpolate(x[None, None], (3, 2), mode='bilinear')",
            lambda x: _resized(_resized(x, [-1 / 6, 0.5, 7 / 6]).T, [0.25, 1.75]).T[None, None],
        ),
        (
            "interpolate(x[None, None], (2, 4), mode='bicubic')",
            lambda x: _resized_by_cubics(x.T, [-0.125, 0.625, 1.375, 2.125]).T[None, None],
        ),
        ("interpolate(z, 2, mode='area')", lambda z: (z[..., ::2] + z[..., 1::2]) / 2),
    ],
}

OMITTED: dict[str, str] = {}

OF_TORCH: list[torch_truth.Case] = [
    (
        "torch.gru_cell(x, h, w, u, a, b)",
        lambda x, h, w, u, a, b: torch.gru_cell(x, h, w, u, a, b),
        {"x": (3, 2), "h": (3, 2), "w": (6, 2), "u": (6, 2), "a": (6,), "b": (6,)},
    ),
    (
        "batch_norm(x, m, v, w, b, True)",
        lambda x, m, v, w, b: functional.batch_norm(x, None, None, w, b, training=True),
        {"x": (3, 2, 2), "m": [1, 2], "v": [2, 1], "w": (2,), "b": (2,)},
    ),
    (
        "instance_norm(x, m, v, w, b, False)",
        lambda x, m, v, w, b: functional.instance_norm(x, m.double(), v.double(), w, b, use_input_stats=False),
        {"x": (3, 2, 2), "m": [1, 2], "v": [2, 1], "w": (2,), "b": (2,)},
    ),
    (
        "group_norm(x, 2, w, b, 0.1)",
        lambda x, w, b: functional.group_norm(x, 2, w, b, 0.1),
        {"x": (2, 4, 3), "w": (4,), "b": (4,)},
    ),
    (
        "local_response_norm(x, 3, 0.1, 0.5, 2)",
        lambda x: functional.local_response_norm(x, 3, 0.1, 0.5, 2),
        {"x": (1, 4, 2, 2)},
    ),
    (
        "scaled_dot_product_attention(q, k, v, m)",
        lambda q, k, v, m: functional.scaled_dot_product_attention(q, k, v, m),
        {"q": (2, 3, 4), "k": (2, 2, 4), "v": (2, 2, 3), "m": (3, 2)},
    ),
    (
        "scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.3)",
        lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.3),
        {"q": (2, 3, 4), "k": (2, 3, 4), "v": (2, 3, 3)},
    ),
    (
        "embedding(i, w, padding_idx=-1)",
        lambda i, w: functional.embedding(i, w, padding_idx=-1),
        {"i": [[0, 2], [1, 2]], "w": (3, 2)},
    ),
    (
        "interpolate(x, scale_factor=(1.5, 0.7), mode='bilinear')",
        lambda x: functional.interpolate(x, scale_factor=(1.5, 0.7), mode="bilinear"),
        {"x": (1, 2, 3, 4)},
    ),
    (
        "interpolate(x, (5, 2), mode='bicubic', align_corners=True)",
        lambda x: functional.interpolate(x, (5, 2), mode="bicubic", align_corners=True),
        {"x": (1, 1, 3, 4)},
    ),
    (
        "interpolate(x, (3, 2, 5), mode='trilinear')",
        lambda x: functional.interpolate(x, (3, 2, 5), mode="trilinear"),
        {"x": (1, 1, 2, 3, 2)},
    ),
    (
        "interpolate(x, scale_factor=0.6)",
        lambda x: functional.interpolate(x, scale_factor=0.6),
        {"x": (1, 1, 7)},
    ),
    (
        "interpolate(x, (2, 3), mode='area')",
        lambda x: functional.interpolate(x, (2, 3), mode="area"),
        {"x": (1, 1, 5, 4)},
    ),
    ("pixel_shuffle(x, 2)", lambda x: functional.pixel_shuffle(x, 2), {"x": (2, 8, 2, 3)}),
    ("channel_shuffle(x, 3)", lambda x: functional.channel_shuffle(x, 3), {"x": (2, 6, 2, 2)}),
    ("pdist(x, 3)", lambda x: functional.pdist(x, 3), {"x": (4, 3)}),
]


@pytest.mark.parametrize(("op", "case"), arguments({**NORMS, **ACTIVATIONS, **SEQUENCES, **RESAMPLING}))
def test_layers(op: str, case: Case) -> None:
    """Value, Jacobian, verdict and formula."""
    require(op, case, OMITTED)


@pytest.mark.parametrize("case", torch_truth.arguments(OF_TORCH))
def test_layers_are_those_of_torch(case: torch_truth.Case) -> None:
    """Values and gradients at random points."""
    torch_truth.require(case)


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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("embedding([3], ones(2, 3))", "from 0 to 1"),
        ("embedding([0.5], ones(2, 3))", "whole numbers"),
        ("interpolate(ones(1, 1, 2), 3, mode='cubic')", "does not take this mode"),
    ],
)
def test_what_does_not_fit_is_said(text: str, message: str) -> None:
    """With what is needed."""
    with pytest.raises(GradcliError, match=message):
        np.asarray(Function(f"{text}*x").eval({"x": 1.0}).value)

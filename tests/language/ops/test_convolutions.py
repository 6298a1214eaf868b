"""Windows, convolutions and pools: against loops in NumPy at one point, and against torch at random ones."""

# ruff: noqa: PLW0108 -- the parameters of a lambda name the variables

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from torch.nn import functional

from gradcli import Function
from gradcli.errors import GradcliError
from tests.language.ops import torch_truth
from tests.language.ops.numpy_truth import Array, Case, Cases, arguments, require


def _each(sizes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    return itertools.product(*map(range, sizes))


def _convolved(x: Array, w: Array, stride: int = 1, padding: int = 0, dilation: int = 1, groups: int = 1) -> Array:
    """Sums over windows, element by element; x is (samples, channels, ...)."""
    count, features = w.ndim - 2, w.shape[0]
    x = np.pad(x, [(0, 0), (0, 0), *[(padding, padding)] * count])
    sizes = tuple((n - dilation * (k - 1) - 1) // stride + 1 for n, k in zip(x.shape[2:], w.shape[2:], strict=True))
    y: Array = np.zeros((len(x), features, *sizes), np.result_type(x, w))
    for place in _each(sizes):
        for at in _each(w.shape[2:]):
            inside = x[(..., *(stride * i + dilation * k for i, k in zip(place, at, strict=True)))]
            for o in range(features):
                first = o // (features // groups) * w.shape[1]
                y[(slice(None), o, *place)] += inside[:, first : first + w.shape[1]] @ w[(o, slice(None), *at)]
    return y


def _spread(
    x: Array, w: Array, stride: int = 1, padding: int = 0, more: int = 0, dilation: int = 1, groups: int = 1
) -> Array:
    """Each element put where its windows were: what a transposed convolution does."""
    count, outside = w.ndim - 2, w.shape[1]
    full = [(n - 1) * stride + dilation * (k - 1) + 1 + more for n, k in zip(x.shape[2:], w.shape[2:], strict=True)]
    y: Array = np.zeros((len(x), outside * groups, *full), np.result_type(x, w))
    for place in _each(x.shape[2:]):
        for at in _each(w.shape[2:]):
            to = tuple(stride * i + dilation * k for i, k in zip(place, at, strict=True))
            for c in range(x.shape[1]):
                first = c // (x.shape[1] // groups) * outside
                part = x[(slice(None), c, *place)][:, None] * w[(c, slice(None), *at)]
                y[(slice(None), slice(first, first + outside), *to)] += part
    return y[(..., *(slice(padding, n - padding) for n in full))] if count else y


def _largest(parts: Array) -> Any:
    return parts.ravel()[np.argmax(parts.ravel().real)]


def _mean(parts: Array) -> Any:
    return parts.sum() / parts.size


def _pooled(
    x: Array, kernel: int, stride: int, count: int, fold: Callable[[Array], Any] = _mean, pad: int = 0
) -> Array:
    """A number of each window of the last dimensions, of what is inside of the tensor alone."""
    sizes = tuple((n + 2 * pad - kernel) // stride + 1 for n in x.shape[x.ndim - count :])
    y: Array = np.zeros((*x.shape[: x.ndim - count], *sizes), x.dtype)
    for lead in _each(x.shape[: x.ndim - count]):
        for place in _each(sizes):
            window = tuple(slice(max(0, i * stride - pad), i * stride - pad + kernel) for i in place)
            y[lead + place] = fold(x[lead][window])
    return y


def _adaptive(x: Array, sizes: tuple[int, ...], fold: Callable[[Array], Any]) -> Array:
    space = x.shape[x.ndim - len(sizes) :]
    y: Array = np.zeros((*x.shape[: x.ndim - len(sizes)], *sizes), x.dtype)
    for lead in _each(x.shape[: x.ndim - len(sizes)]):
        for place in _each(sizes):
            window = tuple(slice(i * n // m, -(-(i + 1) * n // m)) for i, n, m in zip(place, space, sizes, strict=True))
            y[lead + place] = fold(x[lead][window])
    return y


def _columns(x: Array, height: int, width: int) -> Array:
    """Windows of one plane of (channels, height, width) as columns, from row to row."""
    rows, columns = x.shape[1] - height + 1, x.shape[2] - width + 1
    return np.stack([x[:, i : i + height, j : j + width].ravel() for i in range(rows) for j in range(columns)], 1)


def _unpooled(x: Array, at: list[int], size: int) -> Array:
    y: Array = np.zeros(size, x.dtype)
    y[at] = x
    return y


CASES: Cases = {
    "windows": [
        ("windows(v, 0, 2)", lambda v: np.stack([v[:3], v[1:]], 1)),
        ("windows(y, 1, 2, 2)", lambda y: y.reshape(3, 2, 2)),
        ("windows(z, dim=-1, size=2, dilation=2)**2", lambda z: np.stack([z[..., :2], z[..., 2:]], -1) ** 2),
    ],
    "conv1d": [
        ("conv1d(z, G)", lambda z, G: _convolved(z, G)),
        ("F.conv1d(z, G, b*u[:2], padding=1)", lambda z, G, b, u: _convolved(z, G, padding=1) + (b * u[:2])[:, None]),
        ("conv1d(z, G, None, 2, 2)", lambda z, G: _convolved(z, G, 2, 2)),
        ("conv1d(y, x.view(3, 1, 2), groups=3, dilation=2)",
         lambda y, x: _convolved(y[None], x.reshape(3, 1, 2), dilation=2, groups=3)[0]),
        ("conv1d(z, G, padding='same')", lambda z, G: _convolved(z, G, padding=1)),
    ],
    "conv2d": [
        ("conv2d(z, G[None, :, :2, :2])", lambda z, G: _convolved(z[None], G[None, :, :2, :2])[0]),
        ("F.conv2d(z[None], G[None], u[:1], stride=(1, 2), padding=(1, 0))",
         lambda z, G, u: _convolved(np.pad(z, [(0, 0), (1, 1), (0, 0)])[None], G[None])[..., ::2] + u[0]),
    ],
    "conv3d": [
        ("conv3d(z[None, None], G[None, None, :, :2, :2])",
         lambda z, G: _convolved(z[None, None], G[None, None, :, :2, :2])),
    ],
    "conv_transpose1d": [
        ("conv_transpose1d(z, G.transpose(0, 1))", lambda z, G: _spread(z, G.swapaxes(0, 1))),
        ("conv_transpose1d(y, [[[1, 2]], [[3, -1]], [[2, 5]]], u[:1], stride=2, padding=1, output_padding=1)",
         lambda y, u: _spread(y[None], np.array([[[1, 2]], [[3, -1]], [[2, 5]]]), 2, 1, 1)[0] + u[0]),
        ("conv_transpose1d(y, x.view(3, 1, 2), groups=3)",
         lambda y, x: _spread(y[None], x.reshape(3, 1, 2), groups=3)[0]),
        ("conv_transpose1d(y, x.view(3, 1, 2), dilation=3)",
         lambda y, x: _spread(y[None], x.reshape(3, 1, 2), dilation=3)[0]),
    ],
    "conv_transpose2d": [
        ("conv_transpose2d(x[None], C[None, None])", lambda x, C: _spread(x[None, None], C[None, None])[0]),
        ("conv_transpose2d(x[None], C[None, None], stride=2)",
         lambda x, C: _spread(x[None, None], C[None, None], 2)[0]),
    ],
    "conv_transpose3d": [
        ("conv_transpose3d(x[None, None], C[None, None, None])",
         lambda x, C: _spread(x[None, None, None], C[None, None, None])[0]),
    ],
    "avg_pool1d": [
        ("avg_pool1d(y, 2)", lambda y: _pooled(y, 2, 2, 1)),
        ("F.avg_pool1d(z, 3, stride=1, padding=1, count_include_pad=False)", lambda z: _pooled(z, 3, 1, 1, pad=1)),
        ("avg_pool1d(y, 3, 2, ceil_mode=True)",
         lambda y: np.stack([y[:, :3].sum(1) / 3, y[:, 2:].sum(1) / 2], 1)),
    ],
    "avg_pool2d": [
        ("avg_pool2d(z, 2, 1)", lambda z: _pooled(z, 2, 1, 2)),
        ("avg_pool2d(z, 2, divisor_override=3)", lambda z: _pooled(z, 2, 2, 2) * 4 / 3),
        ("avg_pool2d(z, (3, 2), padding=1)",
         lambda z: np.pad(z, [(0, 0), (1, 1), (1, 1)])[:, :3].reshape(2, 3, 3, 2).sum((1, 3))[:, None] / 6),
    ],
    "avg_pool3d": [("avg_pool3d(z[None], 2)", lambda z: _pooled(z[None], 2, 2, 3))],
    "max_pool1d": [
        ("max_pool1d(y, 2)", lambda y: _pooled(y, 2, 2, 1, _largest)),
        ("F.max_pool1d(y, 3, stride=1, padding=1)", lambda y: _pooled(y, 3, 1, 1, _largest, 1)),
        ("max_pool1d(y, 2, 1, dilation=2)",
         lambda y: np.where((y[:, :2] > y[:, 2:]).real, y[:, :2], y[:, 2:])),
    ],
    "max_pool2d": [
        ("max_pool2d(z, 2)", lambda z: _pooled(z, 2, 2, 2, _largest)),
        ("max_pool2d(z, 3, stride=2, padding=1)", lambda z: _pooled(z, 3, 2, 2, _largest, 1)),
    ],
    "max_pool3d": [("max_pool3d(z[None], 2)", lambda z: _pooled(z[None], 2, 2, 3, _largest))],
    "adaptive_avg_pool1d": [
        ("adaptive_avg_pool1d(y, 2)", lambda y: _adaptive(y, (2,), _mean)),
        ("adaptive_avg_pool1d(z, 3)", lambda z: _adaptive(z, (3,), _mean)),
    ],
    "adaptive_avg_pool2d": [
        ("F.adaptive_avg_pool2d(z, (2, 3))", lambda z: _adaptive(z, (2, 3), _mean)),
        ("adaptive_avg_pool2d(z, (None, 1))", lambda z: _adaptive(z, (3, 1), _mean)),
    ],
    "adaptive_avg_pool3d": [("adaptive_avg_pool3d(z[None], 1)", lambda z: z.sum().reshape(1, 1, 1, 1) / 24)],
    "adaptive_max_pool1d": [("adaptive_max_pool1d(y, 3)", lambda y: _adaptive(y, (3,), _largest))],
    "adaptive_max_pool2d": [("adaptive_max_pool2d(z, (2, 2))", lambda z: _adaptive(z, (2, 2), _largest))],
    "adaptive_max_pool3d": [
        ("adaptive_max_pool3d(z[None], (1, 1, 2))", lambda z: _adaptive(z[None], (1, 1, 2), _largest))
    ],
    "im2col": [
        ("im2col(z, (2, 3))", lambda z: _columns(z, 2, 3)),
        ("F.unfold(z[None], 2, padding=1)",
         lambda z: _columns(np.pad(z, [(0, 0), (1, 1), (1, 1)]), 2, 2)[None]),
    ],
    "fold": [
        ("fold(C.view(4, 1), 2, 2)", lambda C: C[None]),
        ("F.fold(y[:, :2].reshape(2, 3), (1, 4), (1, 2))",
         lambda y: np.stack([np.pad(y[:, :2].reshape(2, 3)[k], (k, 1 - k)) for k in range(2)]).sum(0)[None, None]),
    ],
}  # fmt: skip

OMITTED: dict[str, str] = {}

OF_TORCH: list[torch_truth.Case] = [
    (
        "conv1d(x, w, b, 2, 3, 2, 2)",
        lambda x, w, b: functional.conv1d(x, w, b, 2, 3, 2, 2),
        {"x": (2, 4, 5), "w": (6, 2, 3), "b": (6,)},
    ),
    (
        "conv2d(x, w, padding='same', dilation=(1, 2))",
        lambda x, w: functional.conv2d(x, w, padding="same", dilation=(1, 2)),
        {"x": (1, 2, 4, 5), "w": (2, 2, 3, 3)},
    ),
    (
        "conv_transpose2d(x, w, b, (1, 2), 1, (0, 1), 2, 2)",
        lambda x, w, b: functional.conv_transpose2d(x, w, b, (1, 2), 1, (0, 1), 2, 2),
        {"x": (2, 2, 3, 3), "w": (2, 2, 2, 2), "b": (4,)},
    ),
    (
        "avg_pool2d(x, 3, 2, 1, True, False)",
        lambda x: functional.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False),
        {"x": (1, 2, 4, 6)},
    ),
    ("avg_pool2d(x, 3, 2, 1, True)", lambda x: functional.avg_pool2d(x, 3, 2, 1, ceil_mode=True), {"x": (2, 4, 6)}),
    (
        "max_pool2d(x, 3, 2, 1, 2, True)",
        lambda x: functional.max_pool2d(x, 3, 2, 1, 2, ceil_mode=True),
        {"x": (2, 6, 6)},
    ),
    ("fold(x, (4, 3), 2, 1, 1, 2)", lambda x: functional.fold(x, (4, 3), 2, 1, 1, 2), {"x": (1, 4, 6)}),
    ("im2col(x, 2, 2, 1, 2)", lambda x: functional.unfold(x, 2, 2, 1, 2), {"x": (1, 2, 4, 3)}),
    ("x.unfold(1, 2, 2)", lambda x: x.unfold(1, 2, 2), {"x": (2, 5)}),
]


@pytest.mark.parametrize(("op", "case"), arguments(CASES))
def test_convolutions_and_pools(op: str, case: Case) -> None:
    """Value, Jacobian, verdict and formula."""
    require(op, case, OMITTED)


@pytest.mark.parametrize("case", torch_truth.arguments(OF_TORCH))
def test_they_are_those_of_torch(case: torch_truth.Case) -> None:
    """Values and gradients at random points."""
    torch_truth.require(case)


def test_the_derivative_of_a_convolution_is_that_of_the_textbook() -> None:
    """Each weight meets the elements that it was multiplied with, and each element the weights."""
    answer = Function("conv1d(x, w)").jacobian({"x": np.ones((1, 1, 5)), "w": [[[1.0, 2.0, 3.0]]]})
    assert answer.symbolic["w"].text == "[[x[0, 0, k + l]]]"


def test_a_tie_in_a_window_is_a_kink() -> None:
    """As in amax."""
    answer = Function("max_pool1d(x, 2)").jacobian({"x": [[3.0, 3.0]]})
    assert answer.check is not None
    assert answer.check.verdict == "kink"


@pytest.mark.parametrize(
    ("text", "message"),
    [



        ("conv1d(ones(2, 3, 4), ones(2, 3, 3), 2)", "takes a tensor for bias"),


        ("conv1d(ones(2, 3, 4), ones(2, 3, 3), padding='full')", "does not take this padding"),

        ("max_pool1d(ones(2, 4), 2, padding=2)", "at most half"),


        ("windows(ones(3), 0, 4)", "does not fit"),

    ],
)  # fmt: skip
def test_what_does_not_fit_is_said(text: str, message: str) -> None:
    """With what is needed."""
    with pytest.raises(GradcliError, match=message):
        Function(text).eval()

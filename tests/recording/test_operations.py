"""Every operation that users call, recorded where it is called: replayed bit for bit, and judged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from gradcli.errors import GradcliError
from gradcli.running.plain_functions import record
from tests.recording.running import run_by_python

X = torch.tensor([0.7, 1.3, 2.1], dtype=torch.float64)
M = torch.tensor([[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.1]], dtype=torch.float64)
W = torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(3, 4)
IMAGE = torch.linspace(0.1, 1.7, 16, dtype=torch.float64).reshape(1, 1, 4, 4) ** 2
ROWS = torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.2, -0.3]], dtype=torch.float64)
KERNEL = torch.tensor([[[[0.5, -1.0], [2.0, 0.3]]]], dtype=torch.float64)
PLACES = torch.tensor([2, 0])
POSITIVE = M @ M.T

OF_X: dict[str, Callable[[torch.Tensor], Any]] = {
    "repeat": lambda x: x.repeat(2),
    "tile": lambda x: torch.tile(x, (2,)),
    "hstack": lambda x: torch.hstack([x, x**2]),
    "vstack": lambda x: torch.vstack([x, x**2]),
    "dstack": lambda x: torch.dstack([x, x**2]),
    "split": lambda x: torch.split(x, 2)[0] * 2,
    "chunk": lambda x: x.chunk(3)[1] ** 2,
    "unbind": lambda x: x.unbind()[2] ** 2,
    "diff": torch.diff,
    "cumprod": lambda x: x.cumprod(0),
    "logcumsumexp": lambda x: torch.logcumsumexp(x, 0),
    "cummax": lambda x: torch.cummax(x, 0).values,
    "tensordot": lambda x: torch.tensordot(x, W, dims=([0], [0])),
    "kron": lambda x: torch.kron(x, x),
    "cross": lambda x: torch.linalg.cross(x, x.flip(0)),
    "addmv": lambda x: torch.addmv(x, M, x),
    "nan_to_num": lambda x: torch.nan_to_num(x) * x,
    "fmax": lambda x: torch.fmax(x, torch.ones(3)),
    "fmin": lambda x: torch.fmin(x, torch.ones(3)),
    "true_divide": lambda x: torch.true_divide(x, x + 1),
    "fmod": lambda x: torch.remainder(x, 2.0),
    "sort": lambda x: torch.sort(x, descending=True).values,
    "topk": lambda x: x.topk(2).values,
    "median": lambda x: x.median(),
    "quantile": lambda x: torch.quantile(x, 0.3),
    "kthvalue": lambda x: x.kthvalue(2).values,
    "take": lambda x: torch.take(x, PLACES),
    "index": lambda x: x[PLACES] ** 2,
    "gather": lambda x: x.gather(0, PLACES),
    "index_select": lambda x: x.index_select(0, PLACES),
    "mask": lambda x: x[x > 1].sum(),
    "normalize": lambda x: F.normalize(x, dim=0),
    "layer_norm": lambda x: F.layer_norm(x, (3,), weight=M[0], bias=M[1]),
    "rms_norm": lambda x: F.rms_norm(x, (3,)),
    "glu": lambda x: F.glu(torch.cat([x, x[:1]]), dim=0),
    "prelu": lambda x: F.prelu(x - 1, torch.tensor([0.25])),
    "celu": lambda x: F.celu(x - 1, 0.5),
    "threshold": lambda x: F.threshold(x, 1.0, 0.0),
    "softmin": lambda x: F.softmin(x, dim=0),
    "hardshrink": lambda x: F.hardshrink(x - 1),
    "dropout": lambda x: F.dropout(x, training=False) * 2,
    "erfcx": torch.special.erfcx,
    "xlog1py": lambda x: torch.special.xlog1py(x, x),
    "entr": torch.special.entr,
    "log_ndtr": torch.special.log_ndtr,
    "kl_div": lambda x: F.kl_div(F.log_softmax(x, 0), F.softmax(M[0], 0), reduction="sum"),
    "poisson": lambda x: F.poisson_nll_loss(x, M[0]),
    "gaussian": lambda x: F.gaussian_nll_loss(x, M[0], x**2),
    "nll": lambda x: F.nll_loss(F.log_softmax(x, 0).view(1, 3), torch.tensor([1])),
    "cross_entropy": lambda x: F.cross_entropy(x.view(1, 3), torch.tensor([1]), label_smoothing=0.1),
    "triplet": lambda x: F.triplet_margin_loss(x.view(1, 3), ROWS[:1], ROWS[1:]),
    "margin": lambda x: F.margin_ranking_loss(x, M[0], torch.ones(3), margin=3.0),
    "cosine": lambda x: F.cosine_embedding_loss(x.view(1, 3), ROWS[:1], torch.ones(1)),
    "hinge": lambda x: F.hinge_embedding_loss(x, -torch.ones(3), margin=3.0),
    "pairwise_distance": lambda x: F.pairwise_distance(x.view(1, 3), ROWS[:1]),
    "cdist": lambda x: torch.cdist(x.view(3, 1), W[:, :1]),
    "conv1d": lambda x: F.conv1d(x.view(1, 1, 3), KERNEL[0, :, :1], padding=1),
    "conv_transpose1d": lambda x: F.conv_transpose1d(x.view(1, 1, 3), KERNEL[0, :, :1], stride=2),
    "avg_pool1d": lambda x: F.avg_pool1d(x.view(1, 1, 3), 2, stride=1),
    "max_pool1d": lambda x: F.max_pool1d(x.view(1, 1, 3), 2, stride=1),
    "interpolate": lambda x: F.interpolate(x.view(1, 1, 3), scale_factor=2, mode="linear"),
    "embedding": lambda x: F.embedding(PLACES, x.view(3, 1)),
    "attention": lambda x: F.scaled_dot_product_attention(x.view(1, 3, 1), x.view(1, 3, 1), x.view(1, 3, 1)),
    "bilinear": lambda x: F.bilinear(x.view(1, 3), x.view(1, 3), M.view(1, 3, 3)),
    "norm": lambda x: torch.linalg.vector_norm(x, 3),
    "spectrum": lambda x: torch.fft.rfft(x).abs(),
    "phases": lambda x: torch.fft.fft(x, 4, norm="ortho").angle()[1],
    "filtered": lambda x: torch.fft.irfft(torch.fft.rfft(x) * (2j - torch.fft.rfft(X + 0.5)).conj(), 3),
    "hermitian": lambda x: torch.fft.hfft(torch.complex(x, x**2), norm="forward"),
    "stft": lambda x: torch.stft(x, 2, 1, 2, window=X[:2], return_complex=True).real,
    "planes": lambda x: torch.fft.fft2(x.expand(2, 3)).mT[1:, 0].imag,
    "polar": lambda x: torch.view_as_real(torch.polar(x, x) - 1),
    "zeroed": lambda x: (x * 2).zero_() + x**2,
    "masked_select": lambda x: torch.masked_select(x, W[:, :3] > 0),
    "masked_scatter": lambda x: torch.masked_scatter(x**2, X > 1, x),
    "put": lambda x: torch.put(x.view(1, 3), PLACES, x[1:], accumulate=True),
    "take_from_behind": lambda x: torch.take(x, torch.tensor([[-1], [1]])),
    "of_a_number": lambda x: torch.gather(x[0], 0, torch.tensor([0, 0])) * x[1].topk(1).values,
    "reflected": lambda x: F.pad(x.view(1, 3), (2, 1), "reflect"),
    "soft_margin": lambda x: F.soft_margin_loss(x, -torch.ones(3)),
    "rounded": lambda x: torch.round(x, decimals=1) * x,
}

OF_M: dict[str, Callable[[torch.Tensor], Any]] = {
    "addmm": lambda m: torch.addmm(m, m, m),
    "baddbmm": lambda m: torch.baddbmm(m.view(1, 3, 3), m.view(1, 3, 3), m.view(1, 3, 3)),
    "bmm": lambda m: torch.bmm(m.view(1, 3, 3), m.view(1, 3, 3)),
    "slogdet": lambda m: torch.linalg.slogdet(m)[1],
    "cholesky": lambda m: torch.linalg.cholesky(m @ m.T),
    "qr": lambda m: torch.linalg.qr(m)[1],
    "eigvalsh": lambda m: torch.linalg.eigvalsh((m + m.T) / 2),
    "svdvals": torch.linalg.svdvals,
    "pinv": torch.linalg.pinv,
    "matrix_exp": torch.linalg.matrix_exp,
    "lstsq": lambda m: torch.linalg.lstsq(m, torch.eye(3, dtype=m.dtype)).solution,
    "solve_triangular": lambda m: torch.linalg.solve_triangular(m.tril(), torch.eye(3), upper=False),
    "nuclear": lambda m: torch.linalg.matrix_norm(m, "nuc"),
    "frobenius": lambda m: torch.linalg.matrix_norm(m, "fro"),
    "spectral": lambda m: torch.linalg.matrix_norm(m, 2),
    "columns": lambda m: torch.linalg.matrix_norm(m, 1),
    "batch_norm": lambda m: F.batch_norm(m, None, None, training=True),
    "batch_norm_eval": lambda m: F.batch_norm(m, M[0] + 0.77, M[1], training=False),
    "group_norm": lambda m: F.group_norm(m.view(1, 3, 3), 3),
    "instance_norm": lambda m: F.instance_norm(m.view(1, 3, 3)),
    "conv2d": lambda m: F.conv2d(m.view(1, 1, 3, 3), KERNEL),
    "conv_transpose2d": lambda m: F.conv_transpose2d(m.view(1, 1, 3, 3), KERNEL),
    "avg_pool2d": lambda m: F.avg_pool2d(m.view(1, 1, 3, 3), 2, stride=1),
    "max_pool2d": lambda m: F.max_pool2d(m.view(1, 1, 3, 3), 2, stride=1),
    "adaptive_avg_pool2d": lambda m: F.adaptive_avg_pool2d(m.view(1, 1, 3, 3), 2),
    "unfold": lambda m: F.unfold(m.view(1, 1, 3, 3), 2),
    "fold": lambda m: F.fold(m.reshape(1, 9, 1)[:, :4], (2, 2), 2),
    "pixel_shuffle": lambda m: F.pixel_shuffle(m.reshape(1, 9, 1, 1), 3),
    "linear": lambda m: F.linear(m, W.T),
    "lu": lambda m: torch.linalg.lu(m.flip(0))[1:],
    "lu_solve": lambda m: torch.linalg.lu_solve(*torch.linalg.lu_factor(m), M[:2], left=False),
    "cholesky_upper": lambda m: torch.linalg.cholesky(m @ m.T, upper=True),
    "triangular_solve": lambda m: torch.triangular_solve(M, m, transpose=True)[0],
    "max_unpool2d": lambda m: F.max_unpool2d(*F.max_pool2d(m.view(1, 1, 3, 3), 2, return_indices=True), (2, 2)),
}

NOT_JUDGED = {"lstsq", "pinv", "svdvals"}
"""What the reference may leave open."""


@pytest.mark.parametrize(
    ("function", "x"),
    [(f, X) for f in OF_X.values()] + [(f, M) for f in OF_M.values()],
    ids=[*OF_X, *OF_M],
)
def test_a_call_is_recorded_and_judged(
    function: Callable[..., Any], x: torch.Tensor, request: pytest.FixtureRequest
) -> None:
    """Its numbers are torch's, and the verdict is that they are right."""
    name = request.node.callspec.id
    asked = record(function, x)
    answer = asked.vjp(v="ones")
    y, (leaf,) = run_by_python(function, x)
    y.backward(torch.ones_like(y))  # type: ignore[no-untyped-call]
    assert leaf.grad is not None
    np.testing.assert_array_equal(next(iter(answer.vjp.values())), leaf.grad.numpy())
    assert answer.check is not None
    allowed = ("agree", "unchecked") if name in NOT_JUDGED else ("agree",)
    assert answer.check.verdict in allowed, (answer.check.verdict, answer.check.findings[:2], answer.check.notes)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: torch.linalg.pinv(x[:, None] * x), "calls aten.linalg_pinv.atol_rtol_tensor"),
        (
            lambda x: torch.native_group_norm(x.view(1, 1, 3), None, None, 1, 1, 3, 1, 0.1)[1],
            "another part is recorded",
        ),
        (lambda x: torch.where(x > 1, x, torch.tensor(torch.nan)), "a constant is nan"),
        (lambda x: torch.fft.fft(x).exp().real, "which has no meaning here"),
    ],
)
def test_what_is_not_recorded_is_refused(function: Callable[..., Any], message: str) -> None:
    """In one clear error, and not called wrong."""
    with pytest.raises(GradcliError, match=message):
        record(function, X).vjp(v="ones")

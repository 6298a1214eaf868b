"""Calls that torch's database of functions has not as users write them: replayed bit for bit, and judged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from gradcli.errors import GradcliError
from gradcli.running.plain_functions import record
from tests.checks import check_of
from tests.recording.running import run_by_python

X = torch.tensor([0.7, 1.3, 2.1], dtype=torch.float64)
M = torch.tensor([[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.1]], dtype=torch.float64)
PLACES = torch.tensor([2, 0])

CALLS: dict[str, Callable[[torch.Tensor], Any]] = {
    "cross_entropy": lambda x: F.cross_entropy(x.view(1, 3), torch.tensor([1]), label_smoothing=0.1),
    "filtered": lambda x: torch.fft.irfft(torch.fft.rfft(x) * (2j - torch.fft.rfft(X + 0.5)).conj(), 3),
    "zeroed": lambda x: (x * 2).zero_() + x**2,
    "of_a_number": lambda x: torch.gather(x[0], 0, torch.tensor([0, 0])) * x[1].topk(1).values,
    "solve_triangular": lambda x: torch.linalg.solve_triangular((x * M).tril(), torch.eye(3), upper=False),
    "batch_norm_eval": lambda x: F.batch_norm(x * M, M[0] + 0.77, M[1], training=False),
    "exponential_of_complex": lambda x: torch.exp(1j * x).real,
    "length_of_complex": lambda x: (x + 0j).abs(),
    "quotient_of_complex": lambda x: ((x - 1j) / (2 * x + 1j)).imag + (1 / (x + 1j)).real,
    "nan_that_is_handled": lambda x: torch.fmax(x, torch.tensor(torch.nan)) + torch.where(x > 1, x, torch.nan).nansum(),
    "one_hot_target": lambda x: F.kl_div(x.log_softmax(0), torch.eye(3)[0], reduction="sum"),
    "masked_log_softmax": lambda x: torch.masked.log_softmax(x, 0, mask=X > 1)[1:],
    "batch_of_factors": lambda x: torch.linalg.cholesky(torch.stack([M, 2 * M]) * x.sum()),
    "batch_of_systems": lambda x: torch.linalg.solve(torch.stack([M, 2 * M]), x.expand(2, 3)),
    "checked_inverse": lambda x: torch.linalg.inv_ex(x * M, check_errors=True).inverse,
    "weighted_cross_entropy": lambda x: F.binary_cross_entropy(x.sigmoid(), M[2] / 2, M[0], reduction="sum"),
    "weighted_cross_entropy_of_logits": lambda x: F.binary_cross_entropy_with_logits(x, M[2], M[0], pos_weight=M[1]),
    "max_unpool2d": lambda x: F.max_unpool2d(
        *F.max_pool2d((x[0] * M).view(1, 1, 3, 3), 2, return_indices=True), (2, 2)
    ),
}


@pytest.mark.parametrize("function", CALLS.values(), ids=CALLS)
def test_a_call_is_recorded_and_judged(function: Callable[..., Any]) -> None:
    """Its numbers are torch's, and the verdict is that they are right."""
    answer = record(function, X).vjp(v="ones")
    y, (x,) = run_by_python(function, X)
    (gradient,) = torch.autograd.grad(y.sum(), x)
    np.testing.assert_array_equal(next(iter(answer.vjp.values())), gradient.numpy())
    assert check_of(answer).verdict == "agree", check_of(answer)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: torch.linalg.pinv(x[:, None] * x), "calls aten.linalg_pinv.atol_rtol_tensor"),
        (lambda x: torch.nanmedian(x) * x, r"aten.nanmedian.default \(.*, which has no meaning here"),
        (lambda x: F.multilabel_margin_loss(x, PLACES.new_tensor([2, 0, -1])), "calls aten.multilabel_margin_loss_for"),
        (
            lambda x: torch.native_group_norm(x.view(1, 1, 3), None, None, 1, 1, 3, 1, 0.1)[1],
            "or is a part of what a call gives that is not recorded",
        ),
        (lambda x: torch.fft.fft(x).sqrt().real, "calls prims.sqrt.default of complex numbers"),
        (lambda x: torch.linalg.lu_factor(x[:, None] * M)[0], "calls aten.linalg_lu_factor_ex.default"),
    ],
)
def test_what_is_not_recorded_is_refused(function: Callable[..., Any], message: str) -> None:
    """In one clear error, and not called wrong."""
    with pytest.raises(GradcliError, match=message):
        record(function, X).vjp(v="ones")

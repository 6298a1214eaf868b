"""Functions that torch is asked for: what they are made of, and what is said where torch refuses them."""

from __future__ import annotations

import pytest

from gradcli.errors import GradcliError
from tests.language.ops.numpy_truth import value_at_point


@pytest.mark.parametrize(
    "text",
    [
        "conv1d(ones(2, 3, 4), ones(2, 2, 3))",
        "conv1d(ones(3), ones(2, 2, 3))",
        "conv1d(ones(2, 3, 4), ones(2, 3, 3), ones(3))",
        "conv1d(ones(2, 3, 4), ones(2, 3, 5))",
        "conv2d(ones(2, 3, 4), ones(2, 2, 1, 1), stride=(1, 2, 3))",
        "conv1d(ones(2, 3, 4), ones(2, 3, 3), padding='same', stride=2)",
        "max_pool1d(ones(2, 4), 0)",
        "fold(ones(3, 2), 2, 2)",
        "y.gather(1, [0])",
        "group_norm(ones(2, 3), 2)",
        "batch_norm(ones(2, 3), ones(2), ones(3))",
        "glu(ones(3))",
        "prelu(ones(2, 3), ones(2))",
        "interpolate(ones(1, 1, 2), 3, mode='bilinear')",
        "interpolate(ones(1, 1, 2))",
        "pixel_shuffle(ones(3, 2, 2), 2)",
        "bilinear(ones(2, 3), ones(2, 3), ones(2, 3))",
        "gru_cell(ones(1, 2), ones(1, 3), ones(9, 3), ones(9, 3))",
        "tensordot(x, k, 1)",
        "matrix_power(x, 2)",
        "matrix_norm(x, 3)",
        "matrix_norm(x, 1, dim=1)",
        "tensorinv(x)",
        "narrow(x, 0, 1, 2)",
        "x.select(0, 2)",
        "fliplr(u)",
        "x.unflatten(1, (2, 2))",
        "x.sum_to_size(4)",
        "u.index_add(0, [0], w)",
        "x.movedim((0, 1), 0)",
        "x.chunk(0)",
        "x.split(0)",
        "x.split([1, 3])",
        "vsplit(u, 2)",
        "x.repeat(2)",
        "topk(u, 4).values",
        "kthvalue(u, 0).values",
        "quantile(u, 2)",
        "torch.gradient(one)[0]",
    ],
)
def test_torch_says_what_does_not_fit(text: str) -> None:
    """One message, of the call and in torch's words, with its place."""
    with pytest.raises(GradcliError, match=r"^torch refuses ") as said:
        value_at_point(text)
    assert said.value.place is not None

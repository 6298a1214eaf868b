"""Functions that torch is asked for: what they are made of, and what is said where torch refuses them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from gradcli import Function
from gradcli.errors import CodeError, GradcliError
from gradcli.language.ops import TABLE
from tests.language.ops.agreement import POINT, value_at_point


@pytest.mark.parametrize(
    "text",
    [
        "conv1d(ones(2, 3, 4), ones(2, 2, 3))",
        "conv2d(ones(2, 3, 4), ones(2, 2, 1, 1), stride=(1, 2, 3))",
        "fold(ones(3, 2), 2, 2)",
        "y.gather(1, [0])",
        "group_norm(ones(2, 3), 2)",
        "glu(ones(3))",
        "pixel_shuffle(ones(3, 2, 2), 2)",
        "gru_cell(ones(1, 2), ones(1, 3), ones(9, 3), ones(9, 3))",
        "tensordot(x, k, 1)",
        "matrix_norm(x, 1, dim=1)",
        "narrow(x, 0, 1, 2)",
        "u.index_add(0, [0], w)",
        "x.split([1, 3])",
        "x.repeat(2)",
        "quantile(u, 2)",
    ],
)
def test_torch_says_what_does_not_fit(text: str) -> None:
    """One message, of the call and in torch's words, with its place."""
    with pytest.raises(GradcliError, match=r"^torch refuses ") as said:
        value_at_point(text)
    assert said.value.place is not None


@pytest.mark.parametrize(
    "text",
    [
        "index_select(y, 0, i[0])",
        "gather(y, 0, i)",
        "hinge_embedding_loss(y[:1], i)",
        "take_along_dim(y, i, 0)",
        "index_add(y, 0, i[0], y[:1])",
        "scatter_add(y, 0, i, y)",
        "scatter_reduce(y, 0, i, y, 'amax')",
    ],
)
def test_positions_of_a_variable_are_never_taken_for_others(text: str) -> None:
    """What is recorded at some positions is an answer for those alone: it is followed by comparisons, or refused."""
    at = {"y": POINT["y"], "i": np.array([[1, 0, 2, 1]])}
    said, answers = "", []
    try:
        answers.append(Function(text).eval(at).value)
    except GradcliError as error:
        said = error.message
    assert answers or "values decide" in said or "has no meaning" in said or "refuses" in said
    functions = {name: getattr(torch.nn.functional, name, None) or getattr(torch, name, None) for name in TABLE}
    functions["put"] = torch.Tensor.put
    values = {"y": torch.tensor(at["y"]), "i": torch.tensor(at["i"])}
    for found in answers:
        np.testing.assert_allclose(found, eval(text, functions, values).numpy(), rtol=1e-14)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("x*sort(x)[1]", "a computation with positions"),
        ("sum(sort(x))", "a computation with positions"),
        ("x.topk(2).indices*2", "a computation with positions"),
        ("x[argsort(x)]", "'argsort(...)'"),
        ("grid_sample(x, x)", "'grid_sample(...)'"),
        ("torch.nanmedian(x)", "'nanmedian(...)'"),
    ],
)
def test_what_positions_decide_is_code(text: str, what: str) -> None:
    """With the command that runs it."""
    with pytest.raises(CodeError) as said:
        Function(text).eval({"x": [3.0, 1.0, 2.0]})
    assert said.value.message == f"{what} is code, and code is run only where you say so"
    assert said.value.hint is not None
    assert "gradcli vjp FILE.py::NAME" in said.value.hint

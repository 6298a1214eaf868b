"""Functions that torch is asked for: at random numbers, what is special to some, and what is said where it refuses."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch

from gradcli import Function
from gradcli.errors import CodeError, GradcliError, InputError, ShapeError
from gradcli.language.ops import TABLE
from tests.checks import check_of
from tests.examples import part
from tests.language.ops.agreement import POINT, require_same

AT_RANDOM: list[tuple[str, Mapping[str, Any]]] = [
    ("conv1d(x, w, b, 2, 3, 2, 2)", {"x": (2, 4, 5), "w": (6, 2, 3), "b": (6,)}),
    ("conv2d(x, w, padding='same', dilation=(1, 2))", {"x": (1, 2, 4, 5), "w": (2, 2, 3, 3)}),
    ("conv_transpose2d(x, w, b, (1, 2), 1, (0, 1), 2, 2)", {"x": (2, 2, 3, 3), "w": (2, 2, 2, 2), "b": (4,)}),
    ("avg_pool2d(x, 3, 2, 1, True, False)", {"x": (1, 2, 4, 6)}),
    ("max_pool2d(x, 3, 2, 1, 2, True)", {"x": (2, 6, 6)}),
    ("fold(x, (4, 3), 2, 1, 1, 2)", {"x": (1, 4, 6)}),
    ("torch.gru_cell(x, h, w, u, a, b)", {"x": (3, 2), "h": (3, 2), "w": (6, 2), "u": (6, 2), "a": (6,), "b": (6,)}),
    ("batch_norm(x, m, v, w, b, True)", {"x": (3, 2, 2), "m": [1.0, 2.0], "v": [2.0, 1.0], "w": (2,), "b": (2,)}),
    ("group_norm(x, 2, w, b, 0.1)", {"x": (2, 4, 3), "w": (4,), "b": (4,)}),
    ("scaled_dot_product_attention(q, k, v, m)", {"q": (2, 3, 4), "k": (2, 2, 4), "v": (2, 2, 3), "m": (3, 2)}),
    ("embedding(i, w, padding_idx=-1)", {"i": [[0, 1], [1, 0]], "w": (3, 2)}),
    ("interpolate(x, scale_factor=(1.5, 0.7), mode='bilinear')", {"x": (1, 2, 3, 4)}),
    ("interpolate(x, (5, 2), mode='bicubic', align_corners=True)", {"x": (1, 1, 3, 4)}),
    ("pixel_shuffle(x, 2)", {"x": (2, 8, 2, 3)}),
    ("pdist(x, 3)", {"x": (4, 3)}),
    ("cross_entropy(x, t, ignore_index=1, label_smoothing=0.2)", {"x": (4, 3), "t": [0, 2, 1, 1]}),
    (
        "cross_entropy(x, t, w, label_smoothing=0.2, reduction='sum')",
        {"x": (2, 3, 2), "t": [[0, 2], [-100, 1]], "w": [1.5, 2.0, 0.5]},
    ),
    ("cross_entropy(x, p, label_smoothing=0.2, reduction='none')", {"x": (2, 3, 2), "p": (2, 3, 2)}),
    ("nll_loss(x, t, reduction='none')", {"x": (3, 3), "t": [0, -100, 2]}),
    ("hinge_embedding_loss(x, t, 0.7)", {"x": (3,), "t": [1, -1, -1]}),
    ("cosine_embedding_loss(x, k, t, 0.1)", {"x": (3, 4), "k": (3, 4), "t": [1, -1, 1]}),
    ("triplet_margin_loss(x, k, n, eps=0.01, swap=True, margin=0.5)", {"x": (3, 4), "k": (3, 4), "n": (3, 4)}),
    ("soft_margin_loss(x, k, reduction='none')", {"x": (2, 3), "k": [[0.5, -1.5, 1.0], [-1.0, 1.25, -0.5]]}),
]
"""Texts with the shapes of random numbers, or numbers that no derivative is asked for."""


@pytest.mark.parametrize(("text", "given"), part(AT_RANDOM, 3, of=4), ids=[text for text, _ in AT_RANDOM])
@pytest.mark.one_in(4)
def test_functions_at_random_numbers_are_those_of_torch(text: str, given: Mapping[str, Any]) -> None:
    """Value, Jacobian and verdict."""
    draw = np.random.default_rng(len(text))
    at = {
        name: draw.uniform(0.2, 1.8, shape) * draw.choice([-1, 1], shape)
        if isinstance(shape, tuple)
        else np.array(shape)
        for name, shape in given.items()
    }
    require_same(text, at, [name for name, shape in given.items() if isinstance(shape, tuple)])


def test_the_derivative_of_a_convolution_is_that_of_the_textbook() -> None:
    """Each weight meets the elements that it was multiplied with, and each element the weights."""
    answer = Function("conv1d(x, w)").jacobian({"x": np.ones((1, 1, 5)), "w": [[[1.0, 2.0, 3.0]]]})
    assert answer.symbolic["w"].text == "[[x[0, 0, k + l]]]"


def test_running_averages_are_not_differentiated_by() -> None:
    """Unless that is asked for; torch's own function has no derivative by them."""
    at = {"x": np.array([[1.0, 2.0], [3.0, 5.0]]), "m": np.array([1.0, 2.0]), "v": np.array([0.5, 2.0])}
    assert set(Function("sum(batch_norm(x, m, v))").grad(at).grad) == {"x"}
    answer = Function("sum(batch_norm(x, m, v))").grad(at, wrt=["m"])
    np.testing.assert_allclose(answer.grad["m"], -2 / np.sqrt(at["v"] + 1e-5))


def test_class_indices_have_no_derivative() -> None:
    """They are not differentiated by, unless that is asked for: there they jump."""
    at = {"x": np.array([[1.0, 2.0, 4.0]]), "t": np.array([2.0])}
    assert set(Function("cross_entropy(x, t)").grad(at).grad) == {"x"}
    asked = Function("cross_entropy(x, t)").grad(at, wrt=["t"])
    assert check_of(asked).verdict == "kink"
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


def test_the_row_of_the_padding_has_torchs_derivative_and_is_cut() -> None:
    """By it the gradient is 0, as torch documents; the function moves with it."""
    answer = Function("sum(embedding(i, w, padding_idx=-1)**2)").grad({"i": [[0, 2], [1, 2]], "w": [[1], [2], [3]]})
    np.testing.assert_allclose(answer.grad["w"], [[2], [4], [0]])
    check = check_of(answer)
    assert check.verdict == "cut"
    assert "by w[2, 0] the gradient is 0, without that 12" in check.findings[0].note


def test_a_weight_that_is_differentiated_by_is_computed_by_the_definition() -> None:
    """Torch's own function refuses a weight that requires a gradient."""
    answer = Function("cross_entropy(x, t, w)").grad({"x": [[1.0, 2.0], [0.5, 0.1]], "t": [0, 1], "w": [1.0, 3.0]})
    assert check_of(answer).verdict == "agree"
    logits = np.array([[1.0, 2.0], [0.5, 0.1]])
    losses = np.log(np.exp(logits).sum(1)) - logits[[0, 1], [0, 1]]
    np.testing.assert_allclose(answer.grad["w"], [(losses[0] - losses[1]) * 3 / 16, (losses[1] - losses[0]) / 16])


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
    """Answers recorded at some positions are for those alone: comparisons follow them, or they are refused."""
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
        ("torch.nanquantile(x, 0.5)", "'nanquantile(...)'"),
    ],
)
def test_what_positions_decide_is_code(text: str, what: str) -> None:
    """With the command that runs it."""
    with pytest.raises(CodeError) as said:
        Function(text).eval({"x": [3.0, 1.0, 2.0]})
    assert said.value.message == f"{what} is code, and code is run only where you say so"
    assert said.value.hint is not None
    assert "gradcli vjp FILE.py::NAME" in said.value.hint

"""Values and expressions are read by one set of rules: the same text has the same number and shape as either."""

import random

import numpy as np
import pytest

from gradcli import Function, GradcliError
from gradcli.language import ops
from gradcli.language.inputs import read_value
from gradcli.language.ops import REQUIRED, Op
from tests.examples import seeds

TEXTS = 200
ATOMS = (
    "2 -1 0.5 0 1e300 -3 pi [1,2] [1,2,3] [[1,2],[3,4]] [[1,2,3],[4,5,6]] ones(2,3) zeros(2) ones(0) ones(1) [[1]] "
    "eye(2) arange(3) linspace(0,1,3) [-1,0.5] ones(2,1) 1/3 [[2,1],[1,3]] [800,-800]"
).split()
STATICS = {
    "dim": "0 -1 1 (0,) (0,1) () None".split(),
    "keepdim": ["True", "False"],
    "p": "2 1 inf 3 -inf 0 0.5".split(),
    "equation": "'i,i->' 'ij->ji' 'ij,j->i' 'ii' 'i->'".split(),
}
OTHERS = "0 1 2 -1 True (2,) (1,2) None".split()
SIGNS = "+ - * / ** @ // % > <= ==".split()
OF_TORCH = ("lerp", "polygamma", "zeta", "gammaincc", "cholesky_inverse", "cholesky_solve")
"""Operations whose numbers at infinity, at poles, and of what is no triangle are torch's own."""

ROWS = [op for op in ops.TABLE.values() if not (op.is_defined_by_torch or op.name in OF_TORCH)]
"""Losses are left out, of which torch refuses more shapes."""


def _written(draw: random.Random, depth: int) -> str:
    if depth == 0 or draw.random() < 0.2:
        return draw.choice(ATOMS)
    first, second = (_written(draw, depth - 1) for _ in range(2))
    kind = draw.random()
    if kind < 0.15:
        return f"({first} {draw.choice(SIGNS)} {second})"
    if kind < 0.25:
        return f"[{first}, {second}]"
    return _called(draw, draw.choice(ROWS), depth - 1)


def _called(draw: random.Random, op: Op, depth: int) -> str:
    arguments = []
    for parameter in op.signature:
        if parameter in op.statics:
            if op.statics[parameter] is REQUIRED or draw.random() < 0.3:
                text = draw.choice(STATICS.get(parameter, OTHERS))
                arguments.append(text if parameter == "equation" else f"{parameter}={text}")
        elif parameter == "tensors":
            arguments.append(f"[{_written(draw, depth)}, {_written(draw, depth)}]")
        elif parameter not in op.defaults or draw.random() < 0.5:
            arguments.append(_written(draw, depth))
    return f"{op.name}({', '.join(arguments)})"


def _as_value(text: str) -> np.ndarray | None:
    try:
        return np.asarray(read_value(text, "--at"))
    except GradcliError:
        return None


def _as_expression(text: str) -> np.ndarray | None:
    try:
        return np.asarray(Function(text).eval(check=False).value)
    except GradcliError:
        return None


def _require_same(text: str) -> bool:
    """Compare the value of a text with that of the expression, if it has one; tell whether it has."""
    value, expression = _as_value(text), _as_expression(text)
    assert (value is None) == (expression is None), text
    if value is not None and expression is not None:
        assert value.shape == expression.shape, text
        with np.errstate(invalid="ignore"):
            np.testing.assert_allclose(value, expression, rtol=1e-6, atol=1e-12, err_msg=text)
    return value is not None


KEPT: tuple[int, ...] = ()
"""Seeds of texts of which one had two values once."""


@pytest.mark.parametrize("seed", seeds(12, 1, KEPT))
def test_a_random_constant_is_the_same_value_and_expression(seed: int) -> None:
    """Or refused as both."""
    draw = random.Random(seed)
    compared = sum(_require_same(_written(draw, draw.choice([1, 1, 2]))) for _ in range(TEXTS))
    assert compared >= 0.6 * TEXTS


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("norm([1,2], 0)", 2),
        ("1 // 0.1", 10),
        ("logsumexp([1000,1000])", 1000 + np.log(2)),
        ("logsigmoid(-1000)", -1000),
        ("xlogy(0, 0)", 0),
        ("digamma(0)", -np.inf),
        ("digamma(-1)", np.nan),
        ("erfinv(0.5)", 0.4769362762044699),
        ("i1(-1000)", -np.inf),
        ("var([1], correction=2)", np.nan),
        ("[1, [2, 3]]", [[1, 1], [2, 3]]),
        ("log_softmax([1000, 0])", [0, -1000]),
        ("cosine_similarity([[1]], eye(2))", [0.7071067811865475] * 2),
    ],
)
def test_a_constant_is_what_torch_gives(text: str, number: object) -> None:
    """NumPy's own arithmetic overflows, cancels or has no such function."""
    assert _require_same(text)
    np.testing.assert_allclose(np.asarray(read_value(text, "--at")), np.asarray(number, dtype=float), rtol=1e-14)


@pytest.mark.parametrize(
    "text",
    [
        "one_hot(ones(0), 0)",
        "softmax([[1,2],[3,4]])",
        "outer(ones(2,3), -0.5)",
        "einsum('i,i->', ones(2))",
        "[[1, 2], [3]]",
        "binary_cross_entropy([0.5, 2], [1, 1])",
        "hardtanh(1, 2, 1)",
        "cosine_similarity([1, 2], [3, 4], dim=(0,))",
        "polygamma(0.5, 1)",
    ],
)
def test_what_is_no_expression_is_no_value(text: str) -> None:
    """And the other way round."""
    assert _as_value(text) is None
    assert _as_expression(text) is None


def test_polygamma_far_to_the_left_is_refused_in_a_value() -> None:
    """It would take as long as its argument is large."""
    with pytest.raises(GradcliError, match="no number below -1,000"):
        read_value("polygamma(2, -4e15 + 0.5)", "--at")

"""Reductions of no elements and over no dimensions: shapes, values, gradients and refusals as torch has them."""

import warnings
from typing import Any

import numpy as np
import pytest
import torch

from gradcli import Function, GradcliError
from tests.checks import check_of
from tests.examples import first_of_each

COMPARED: dict[tuple[int, ...], tuple[int, int]] = {
    (0,): (58, 92),
    (2, 0): (97, 53),
    (0, 3): (99, 51),
    (1, 0, 2): (103, 47),
    (): (82, 68),
    (1,): (82, 68),
    (2, 3): (121, 29),
}
"""How many calls have an answer, and how many are refused, by shape."""

DIMS = (None, 0, -1, 1, (), (0,), (0, 1), (0, 0))
SEVERAL = ("sum", "mean", "amax", "amin", "var", "std", "norm", "logsumexp")
ONE = ("prod", "max", "min", "softmax", "log_softmax", "cumsum", "cumprod")

Answer = tuple[Any, Any, Any] | None


def _calls() -> list[tuple[str, Any, bool]]:
    """Names, dims and whether the dimensions are kept: what torch has one spelling for."""
    found = [
        (name, dim, keep) for name in SEVERAL for dim in DIMS for keep in (False, True) if dim is not None or not keep
    ]
    found += [(name, dim, False) for name in ONE for dim in (None, 0, -1, 1, ())]
    no_default = ("logsumexp", "softmax", "log_softmax", "cumsum", "cumprod")
    return [(name, dim, keep) for name, dim, keep in found if dim is not None or name not in no_default]


def _of_torch(name: str, x: Any, dim: Any, *, keep: bool) -> Answer:
    function = torch.linalg.vector_norm if name == "norm" else getattr(torch, name)
    named = ({} if dim is None else {"dim": dim}) | ({"keepdim": True} if keep else {})
    try:
        y = function(x, **named)
        y = y.values if name in ("max", "min") and dim is not None else y
        (gradient,) = torch.autograd.grad(y, x, torch.ones_like(y))
    except (RuntimeError, TypeError, IndexError):
        return None
    return tuple(y.shape), y.detach().numpy(), gradient.numpy()


def _of_gradcli(text: str, x: Any) -> Answer:
    try:
        answer = Function(text).vjp({"x": x.detach().numpy()}, v="ones", check=False)
    except GradcliError:
        return None
    return answer.value.shape, answer.value, answer.vjp["x"]


SHAPES = first_of_each(((shape,) for shape in COMPARED), lambda shape: 0 if 0 in shape else len(shape[:2]) + 1)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.one_in(4)
def test_a_reduction_is_what_torch_has(shape: tuple[int, ...]) -> None:
    """Over every dim; var and std over none are refused, as torch's own gradient of them is no number."""
    x = torch.arange(np.prod(shape, dtype=int) * 1.0).reshape(shape).double().requires_grad_()
    compared = refused = 0
    for name, dim, keep in _calls():
        text = f"{name}(x{'' if dim is None else f', dim={dim}'}{', keepdim=True' if keep else ''})"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of degrees of freedom
            expected, found = _of_torch(name, x, dim, keep=keep), _of_gradcli(text, x)
        if dim == () and name in ("var", "std", "logsumexp"):
            expected = None
        assert (expected is None) == (found is None), text
        refused += found is None
        if expected is not None and found is not None:
            compared += 1
            assert found[0] == expected[0], text
            np.testing.assert_allclose(found[1], expected[1], err_msg=text)
            np.testing.assert_allclose(found[2], expected[2], err_msg=text)
    assert (compared, refused) == COMPARED[shape]


def test_an_empty_dim_is_all_of_them() -> None:
    """Written in any way, with its formula and its verdict; no keepdim is lost with it."""
    for spelling in ("dim=()", "dim=[]", "()", "axis=()"):
        answer = Function(f"sum(x**2, {spelling})").vjp({"x": [[1, 2], [3, 4]]})
        assert answer.value == 30
        assert answer.symbolic["x"].text == "2*x[j, k]"
        assert check_of(answer).verdict == "agree"
    assert Function("sum(x, dim=(), keepdim=True)").eval({"x": [[1, 2], [3, 4]]}).value.tolist() == [[10]]


@pytest.mark.parametrize("name", ["max", "min", "prod", "cumsum", "softmax", "logsumexp", "var", "std"])
def test_an_empty_dim_is_refused_where_torch_has_no_gradient_of_it(name: str) -> None:
    """At the call, with the way out where there is one."""
    with pytest.raises(GradcliError, match=f"{name} takes no empty dim") as caught:
        Function(f"{name}(x, dim=())")
    assert ("guide language" in (caught.value.hint or "")) == (name in ("cumsum", "softmax"))

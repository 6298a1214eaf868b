"""Elements at positions, constant and given: each is where NumPy has it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcli import Function
from gradcli.errors import GradcliError
from tests.language.ops.numpy_truth import POINT, Case, Cases, arguments, jacobian, names_of, require

CASES: Cases = {
    "one_hot": [("one_hot([2, 0], 3)*x", lambda x: np.eye(3)[[2, 0]] * x)],
    "index_select": [
        ("index_select(x, 1, [2, 0])", lambda x: x[:, [2, 0]]),
        ("y.index_select(0, torch.tensor([1, 1, 2]))**2", lambda y: y[[1, 1, 2]] ** 2),
    ],
    "take": [
        ("take(x, [[0, 5], [3, -1]])", lambda x: x.ravel()[[[0, 5], [3, -1]]]),
        ("x.take([4])*a", lambda x, a: x.ravel()[[4]] * a),
    ],
    "gather": [
        ("gather(x, 1, [[2, 0], [1, 1]])", lambda x: np.take_along_axis(x, np.array([[2, 0], [1, 1]]), 1)),
        ("x.gather(0, [[1, 0]])", lambda x: np.array([[x[1, 0], x[0, 1]]])),
    ],
    "take_along_dim": [
        ("take_along_dim(x, [[2], [0]], 1)", lambda x: np.take_along_axis(x, np.array([[2], [0]]), 1)),
        ("take_along_dim(x, [4, 0])", lambda x: x.ravel()[[4, 0]]),
        ("np.take_along_axis(x, [[1, 0, 1]], axis=0)", lambda x: x[[1, 0, 1], [0, 1, 2]][None]),
    ],
    "masked_select": [
        ("masked_select(x, [[True, False, True], [False, False, True]])", lambda x: x[[0, 0, 1], [0, 2, 2]]),
        ("x.masked_select([True, False, True])", lambda x: x[:, [0, 2]].ravel()),
    ],
}


@pytest.mark.parametrize(("op", "case"), arguments(CASES))
def test_gathering(op: str, case: Case) -> None:
    """Value, Jacobian, verdict and formula."""
    require(op, case, {})


INDICES: list[tuple[str, Any]] = [
    ("v[[3, 0]]", lambda v: v[[3, 0]]),
    ("v[[3, 0, 0, 1]]**2", lambda v: v[[3, 0, 0, 1]] ** 2),
    ("v[::-1]*v", lambda v: v[::-1] * v),
    ("y[::-1, ::-2]", lambda y: y[::-1, ::-2]),
    ("y[-1:0:-1, None, 1]", lambda y: y[-1:0:-1, None, 1]),
    ("z[:, [2, 0], 1]", lambda z: z[:, [2, 0], 1]),
    ("z[[0, 1], :, [1, 3]]", lambda z: z[[0, 1], :, [1, 3]]),
    ("z[:, [0, 1], [1, 3]]", lambda z: z[:, [0, 1], [1, 3]]),
    ("z[..., [[0, 1], [3, 3]]]", lambda z: z[..., [[0, 1], [3, 3]]]),
    ("y[[[0], [2]], [1, 3]]", lambda y: y[[[0], [2]], [1, 3]]),
    ("v[torch.tensor([True, False, True, True])]", lambda v: v[[0, 2, 3]]),
    ("x[torch.tensor([[True, False, True], [False, True, False]])]", lambda x: x[[0, 0, 1], [0, 2, 1]]),
    ("y[:, arange(4) != 2]", lambda y: y[:, [0, 1, 3]]),
    ("idx = arange(0, 4, 2); v[idx].prod()", lambda v: v[0] * v[2]),
]


@pytest.mark.parametrize("case", INDICES, ids=[text for text, _ in INDICES])
def test_tensors_in_an_index(case: Case) -> None:
    """By torch's rules of several of them, slices, None and masks beside them."""
    text, plain = case
    at = {name: POINT[name] for name in names_of(case)}
    answer = Function(text).jacobian(at)
    np.testing.assert_allclose(answer.value, plain(**at), rtol=1e-14)
    assert answer.jacobian is not None
    assert answer.check is not None
    for name in at:
        np.testing.assert_allclose(answer.jacobian[name], jacobian(plain, name, at), rtol=1e-13)
    assert answer.check.verdict == "agree", answer.check.findings


GIVEN: list[tuple[str, Any, Any]] = [
    ("v[i]", [2, 0], lambda v, i: v[i]),
    ("y[i]**2", [[2, 0], [1, 1]], lambda y, i: y[i] ** 2),
    ("y[:, i]", [3, 3, 0], lambda y, i: y[:, i]),
    ("y[i, [0, 3]]", [2, 1], lambda y, i: y[i, [0, 3]]),
    ("y.gather(1, i)", [[2, 0], [1, 1], [3, 0]], lambda y, i: np.take_along_axis(y, i, 1)),
    ("y.index_select(0, i)", [2, 2, 0], lambda y, i: y[i]),
    ("y.take(i)", [[2, 7]], lambda y, i: y.ravel()[i]),
    ("one_hot(i, 3)@M", [2, 0], lambda M, i: M[i]),
]


@pytest.mark.parametrize(("text", "i", "plain"), GIVEN, ids=[text for text, _, _ in GIVEN])
def test_positions_that_are_given(text: str, i: Any, plain: Any) -> None:
    """A variable that no derivative is asked for: the Jacobian is by the other one alone."""
    (name,) = (name for name in Function(text).variables if name != "i")
    answer = Function(text).jacobian({name: POINT[name], "i": i})
    at = {name: POINT[name]}

    def own(**x: Any) -> Any:
        return plain(**x, i=np.array(i))

    np.testing.assert_allclose(answer.value, own(**at), rtol=1e-14)
    assert answer.jacobian is not None
    assert answer.check is not None
    assert list(answer.jacobian) == [name]
    np.testing.assert_allclose(answer.jacobian[name], jacobian(own, name, at), rtol=1e-13)
    assert answer.check.verdict == "agree"
    assert set(answer.symbolic) == {name} or "," in text.partition("[")[2]


@pytest.mark.parametrize(
    ("text", "at", "said"),
    [
        ("v[i]", {"i": [0, 4]}, "an index is from 0 to 3, and there is 4"),
        ("v[i]", {"i": [0, -1]}, "from 0 to 3, and there is -1"),
        ("v[i]", {"i": [0.5, 1]}, "an index is a whole number"),
        ("v[[0, 4]]", {}, "the index 4 is outside"),
        ("v[[0.5, 1]]", {}, "a whole number, not 0.5"),
        ("v[i]", {"i": 1}, "an integer constant must stand here"),
        ("v[[0], [1]]", {}, "2 indices for the shape"),
    ],
)
def test_positions_that_are_not_there(text: str, at: dict[str, Any], said: str) -> None:
    """One clear error each."""
    f = Function(text)
    with pytest.raises(GradcliError, match=said):
        f.eval({name: {**POINT, **at}[name] for name in f.variables})

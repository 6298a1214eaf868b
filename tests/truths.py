"""Hand-derived values and Jacobians, with shapes chosen to be tricky: the truth that every reading must meet."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Truth:
    """A function, a point, its value, and ∂y/∂x of shape y.shape + x.shape for some variables."""

    expression: str
    at: Mapping[str, Any]
    value: Any
    jacobian: Mapping[str, Any]

    def __str__(self) -> str:
        return self.expression


_X = np.array([0.5, -1.5, 2.0])
_W = np.array([3.0, 5.0, -2.0])
_A = np.array([[1.0, 2.0, -1.0], [0.5, -3.0, 4.0]])
_B = np.array([[2.0, 1.0, 0.0, 3.0], [1.0, -1.0, 2.0, 0.5], [0.0, 4.0, 1.0, -2.0]])
_SOFTMAX = np.exp(_X) / np.exp(_X).sum()


def _delta(n: int) -> Array:
    return np.eye(n)


TRUTHS = [
    # One variable, as () and as (3,)
    Truth("x**2", {"x": 3.0}, 9.0, {"x": 6.0}),
    Truth("x**2", {"x": _X}, _X**2, {"x": np.diag(2 * _X)}),
    Truth("x", {"x": _X}, _X, {"x": _delta(3)}),
    Truth("7", {}, 7.0, {}),
    Truth("0*x + 5", {"x": _X}, [5.0, 5.0, 5.0], {"x": np.zeros((3, 3))}),
    Truth("2x*(x+1)", {"x": 3.0}, 24.0, {"x": 14.0}),
    Truth("x - x", {"x": _X}, np.zeros(3), {"x": np.zeros((3, 3))}),
    Truth("x/x", {"x": 4.0}, 1.0, {"x": 0.0}),
    # Two variables
    Truth("x*y", {"x": 2.0, "y": 5.0}, 10.0, {"x": 5.0, "y": 2.0}),
    Truth("x**y", {"x": 2.0, "y": 3.0}, 8.0, {"x": 12.0, "y": 8 * np.log(2)}),
    Truth("[x*y, x+y]", {"x": 2.0, "y": 5.0}, [10.0, 7.0], {"x": [5.0, 1.0], "y": [2.0, 1.0]}),
    # Reductions
    Truth("sum(w*x**2)", {"w": _W, "x": _X}, (_W * _X**2).sum(), {"w": _X**2, "x": 2 * _W * _X}),
    Truth("mean(x)", {"x": _X}, _X.mean(), {"x": np.full(3, 1 / 3)}),
    Truth("sum(A, dim=1)", {"A": _A}, _A.sum(1), {"A": np.einsum("ij,k->ijk", _delta(2), np.ones(3))}),
    Truth("x*sum(x)", {"x": _X}, _X * _X.sum(), {"x": _X.sum() * _delta(3) + _X[:, None]}),
    Truth("exp(x)/sum(exp(x))", {"x": _X}, _SOFTMAX, {"x": np.diag(_SOFTMAX) - np.outer(_SOFTMAX, _SOFTMAX)}),
    # Contractions
    Truth("A@x", {"A": _A, "x": _X}, _A @ _X, {"A": np.einsum("ij,k->ijk", _delta(2), _X), "x": _A}),
    Truth("x@w", {"x": _X, "w": _W}, _X @ _W, {"x": _W, "w": _X}),
    Truth("w@B", {"w": _W, "B": _B}, _W @ _B, {"w": _B.T, "B": np.einsum("k,jl->jkl", _W, _delta(4))}),
    Truth(
        "A@B",
        {"A": _A, "B": _B},
        _A @ _B,
        {"A": np.einsum("ik,lj->ijkl", _delta(2), _B), "B": np.einsum("ik,jl->ijkl", _A, _delta(4))},
    ),
    Truth("A.T@v", {"A": _A, "v": np.array([2.0, -1.0])}, _A.T @ [2.0, -1.0], {"v": _A.T}),
    # Broadcasting
    Truth("A + x", {"A": _A, "x": _X}, _A + _X, {"x": np.broadcast_to(_delta(3), (2, 3, 3))}),
    Truth("a*x", {"a": 3.0, "x": _X}, 3 * _X, {"a": _X, "x": 3 * _delta(3)}),
    # Structure
    Truth("x[1:]*x[:-1]", {"x": _X}, _X[1:] * _X[:-1], {"x": [[_X[1], _X[0], 0], [0, _X[2], _X[1]]]}),
    Truth("x[::2].sum()", {"x": np.arange(5.0)}, 6.0, {"x": [1.0, 0.0, 1.0, 0.0, 1.0]}),
    Truth("A[-1, 1:]", {"A": _A}, [-3.0, 4.0], {"A": [[[0, 0, 0], [0, 1, 0]], [[0, 0, 0], [0, 0, 1]]]}),
    Truth("A.T", {"A": _A}, _A.T, {"A": np.einsum("il,jk->ijkl", _delta(3), _delta(2))}),
    Truth(
        "[-x**3, 5*x]",
        {"x": np.array([0.0, 1.0, 2.0])},
        [[0, -1, -8], [0, 5, 10]],
        {"x": [np.diag([0.0, -3.0, -12.0]), 5 * np.eye(3)]},
    ),
    Truth("sum([x, 2*x, 3]*w)", {"x": 2.0, "w": _W}, 6.0 + 20.0 - 6.0, {"x": 13.0, "w": [2.0, 4.0, 3.0]}),
    # Statements
    Truth("y = x**2; z = y**3", {"x": np.array([1.0, 2.0])}, [1.0, 64.0], {"x": [[6.0, 0.0], [0.0, 192.0]]}),
    Truth("y = A@x\nsum(y**2)", {"A": _A, "x": _X}, ((_A @ _X) ** 2).sum(), {"x": 2 * _A.T @ (_A @ _X)}),
]

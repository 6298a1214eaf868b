"""Products, square matrices and losses against NumPy."""

# ruff: noqa: PLW0108 -- the parameters of a lambda name the variables

from __future__ import annotations

import numpy as np
import pytest

from gradcli import Function
from gradcli.errors import GradcliError
from tests.language.ops.numpy_truth import Array, Case, Cases, absolute, arguments, require


def _log_softmax(x: Array, axis: int) -> Array:
    return x - np.log(np.exp(x).sum(axis, keepdims=True))


def _smooth(error: Array, beta: float) -> Array:
    return np.where(absolute(error) < beta, error**2 / (2 * beta), absolute(error) - beta / 2)


def _huber(error: Array, delta: float) -> Array:
    return np.where(absolute(error) < delta, error**2 / 2, delta * (absolute(error) - delta / 2))


def _entropy(p: Array, t: Array) -> Array:
    return -(t * np.log(p) + (1 - t) * np.log(1 - p))


def _logits(x: Array, t: Array) -> Array:
    return np.log(1 + np.exp(x)) - x * t


PRODUCTS: Cases = {
    "matmul": [
        ("x@y", lambda x, y: x @ y),
        ("x.mm(y)", lambda x, y: x @ y),
        ("x@u", lambda x, u: x @ u),
        ("torch.mv(y, v)", lambda y, v: y @ v),
        ("u@y", lambda u, y: u @ y),
        ("u@w", lambda u, w: u @ w),
        ("z@v", lambda z, v: z @ v),
        ("matmul(x, z)", lambda x, z: x @ z),
        ("G@G", lambda G: G @ G),
        ("torch.bmm(G, z)", lambda G, z: G @ z),
        ("u@z", lambda u, z: u @ z),
        ("x.T@x", lambda x: x.T @ x),
        ("z.mT[:, None]@z", lambda z: z.swapaxes(1, 2)[:, None] @ z),
    ],
    "dot": [("dot(u, w)", lambda u, w: u @ w), ("u.dot(u)*a", lambda u, a: u @ u * a)],
    "cosine_similarity": [
        ("cosine_similarity(u, w, dim=0)", lambda u, w: (u @ w) / (np.sqrt(u @ u) * np.sqrt(w @ w))),
        (
            "F.cosine_similarity(x, x**2)",
            lambda x: (x * x**2).sum(1) / (np.sqrt((x**2).sum(1)) * np.sqrt((x**4).sum(1))),
        ),
        ("F.cosine_similarity([[1.], [2.]], x)", lambda x: x.sum(1) / (np.sqrt(3) * np.sqrt((x**2).sum(1)))),
    ],
    "outer": [("outer(u, v)", lambda u, v: np.outer(u, v)), ("torch.outer(v, u*u)", lambda v, u: np.outer(v, u * u))],
    "einsum": [
        ("einsum('ij,j->i', x, u)", lambda x, u: x @ u),
        ("einsum('ij,jk', x, y)", lambda x, y: x @ y),
        ("einsum('ji', x)", lambda x: x.T),
        ("einsum('ij->', x)", lambda x: x.sum()),
        ("einsum('ij->ji', x)", lambda x: x.T),
        ("einsum('ii', M)", lambda M: np.trace(M)),
        ("einsum('ii->i', M)", lambda M: np.diagonal(M)),
        ("einsum('bii->b', G)", lambda G: np.trace(G, axis1=1, axis2=2)),
        ("einsum('bij,bjk->bik', G, z)", lambda G, z: G @ z),
        ("einsum('bij,bjk->kib', G, z)", lambda G, z: np.einsum("bij,bjk->kib", G, z)),
        ("einsum('i,ij,j->', u, y, v)", lambda u, y, v: u @ y @ v),
        ("einsum('i,j->ji', u, v)", lambda u, v: np.outer(v, u)),
        ("einsum('bi,ij,bij->j', x, y, z)", lambda x, y, z: np.einsum("bi,ij,bij->j", x, y, z)),
        ("einsum('ij,ij->j', x, x)", lambda x: (x * x).sum(0)),
        ("einsum('a,b->ab', u, v)", lambda u, v: np.outer(u, v)),
        ("einsum(' i , i -> i ', u, w)", lambda u, w: u * w),
        ("einsum(',i->i', a, u)", lambda a, u: a * u),
    ],
    "linear": [
        ("linear(x, y.T)", lambda x, y: x @ y),
        ("F.linear(x, y.T, v)", lambda x, y, v: x @ y + v),
        ("linear(u, x, bias=column[:, 0])", lambda u, x, column: x @ u + column[:, 0]),
        ("linear(z.mT, x)", lambda z, x: z.swapaxes(1, 2) @ x.T),
    ],
    "trace": [
        ("trace(M@M)", lambda M: np.trace(M @ M)),
        ("torch.trace(x)", lambda x: x[0, 0] + x[1, 1]),
        ("(x@y[:, :2]).trace()", lambda x, y: np.trace(x @ y[:, :2])),
    ],
    "det": [
        ("det(C)", lambda C: C[0, 0] * C[1, 1] - C[0, 1] * C[1, 0]),
        ("torch.linalg.det(M)*a", lambda M, a: np.linalg.det(M) * a),
        ("G.det()", lambda G: np.linalg.det(G)),
        ("det(x@x.T)", lambda x: np.linalg.det(x @ x.T)),
    ],
    "logdet": [
        ("logdet(C)", lambda C: np.log(np.linalg.det(C))),
        ("torch.logdet(M@M.T)", lambda M: np.log(np.linalg.det(M @ M.T))),
        ("logdet(G)", lambda G: np.log(np.linalg.det(G))),
    ],
    "inv": [
        ("inv(C)", lambda C: np.linalg.inv(C)),
        ("torch.linalg.inv(M)@u", lambda M, u: np.linalg.inv(M) @ u),
        ("G.inverse()", lambda G: np.linalg.inv(G)),
        ("inv(x@x.T + eye(2))", lambda x: np.linalg.inv(x @ x.T + np.eye(2))),
    ],
    "solve": [
        ("solve(C, column[:, 0])", lambda C, column: np.linalg.solve(C, column[:, 0])),
        ("torch.linalg.solve(M, y)", lambda M, y: np.linalg.solve(M, y)),
        ("solve(M, u)@w", lambda M, u, w: np.linalg.solve(M, u) @ w),
    ],
}

LOSSES: Cases = {
    "mse_loss": [
        ("mse_loss(x, k)", lambda x, k: ((x - k) ** 2).sum() / 6),
        ("F.mse_loss(x, k, reduction='sum')", lambda x, k: ((x - k) ** 2).sum()),
        ("mse_loss(x, row, reduction='none')", lambda x, row: (x - row) ** 2),
    ],
    "l1_loss": [
        ("l1_loss(x, k)", lambda x, k: absolute(x - k).sum() / 6),
        ("l1_loss(u, w, reduction='sum')*a", lambda u, w, a: absolute(u - w).sum() * a),
        ("l1_loss(x, k, reduction='none')", lambda x, k: absolute(x - k)),
    ],
    "smooth_l1_loss": [
        ("smooth_l1_loss(x, k)", lambda x, k: _smooth(x - k, 1).sum() / 6),
        ("smooth_l1_loss(x, k, reduction='sum', beta=0.5)", lambda x, k: _smooth(x - k, 0.5).sum()),
        ("F.smooth_l1_loss(x, k, beta=2.5, reduction='none')", lambda x, k: _smooth(x - k, 2.5)),
    ],
    "huber_loss": [
        ("huber_loss(x, k)", lambda x, k: _huber(x - k, 1).sum() / 6),
        ("huber_loss(x, k, delta=0.5, reduction='sum')", lambda x, k: _huber(x - k, 0.5).sum()),
        ("huber_loss(x, k, reduction='none', delta=2.5)", lambda x, k: _huber(x - k, 2.5)),
    ],
    "binary_cross_entropy": [
        ("binary_cross_entropy(p, sigmoid(k))", lambda p, k: _entropy(p, 1 / (1 + np.exp(-k))).sum() / 6),
        (
            "binary_cross_entropy(p, [[0, 1, 1], [1, 0, 0]], reduction='sum')",
            lambda p: _entropy(p, np.array([[0, 1, 1], [1, 0, 0]])).sum(),
        ),
        ("F.binary_cross_entropy(p, p**2, reduction='none')", lambda p: _entropy(p, p**2)),
    ],
    "binary_cross_entropy_with_logits": [
        ("binary_cross_entropy_with_logits(x, p)", lambda x, p: _logits(x, p).sum() / 6),
        ("binary_cross_entropy_with_logits(x, p, reduction='sum')", lambda x, p: _logits(x, p).sum()),
        ("binary_cross_entropy_with_logits(x, p, reduction='none')", lambda x, p: _logits(x, p)),
    ],
    "cross_entropy": [
        ("cross_entropy(x, p)", lambda x, p: -(p * _log_softmax(x, 1)).sum() / 2),
        ("cross_entropy(x, eye(3)[1:], reduction='none')", lambda x: -_log_softmax(x, 1)[[0, 1], [1, 2]]),
        ("F.cross_entropy(u[None], w[None], reduction='sum')", lambda u, w: -(w * _log_softmax(u, 0)).sum()),
        ("cross_entropy(z, z**2, reduction='none')", lambda z: -(z**2 * _log_softmax(z, 1)).sum(1)),
    ],
}


@pytest.mark.parametrize(("op", "case"), arguments(PRODUCTS))
def test_products_and_matrices(op: str, case: Case) -> None:
    """Value, Jacobian, verdict and formula."""
    require(op, case, {})


@pytest.mark.parametrize(("op", "case"), arguments(LOSSES))
def test_losses(op: str, case: Case) -> None:
    """The same."""
    require(op, case, {})


@pytest.mark.parametrize("rows", [[[1.0, 2.0], [2.0, 4.0]], [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0]]])
def test_the_derivative_of_a_singular_determinant_is_the_cofactors(rows: list[list[float]]) -> None:
    """Torch gives 0, and is told so; Jacobi's cofactors are computed here from the minors."""
    A = np.array(rows)
    n = len(A)
    minors = [[np.linalg.det(np.delete(np.delete(A, i, 0), j, 1)) for j in range(n)] for i in range(n)]
    cofactors = np.array([[(-1) ** (i + j) * minors[i][j] for j in range(n)] for i in range(n)])
    answer = Function("det(A)").grad({"A": A})
    assert answer.check is not None
    assert answer.check.verdict == "inaccurate"
    for finding in answer.check.findings:
        assert finding.reference == pytest.approx(cofactors[finding.column])


def test_a_matrix_without_an_inverse_is_an_error() -> None:
    """Torch raises; the error says where."""
    with pytest.raises(GradcliError, match="no inverse"):
        Function("x*inv(A)").jacobian({"x": 2.0, "A": [[1, 2], [2, 4]]})

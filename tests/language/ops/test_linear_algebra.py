"""Products, linear equations, factors and norms of matrices, and combined arithmetic, against NumPy."""

# ruff: noqa: PLW0108 -- the parameters of a lambda name the variables

from __future__ import annotations

import numpy as np
import pytest

from gradcli import Function
from gradcli.errors import GradcliError
from tests.language.ops.numpy_truth import POINT, Array, Case, Cases, absolute, arguments, require, value_at_point


def _cholesky(A: Array) -> Array:
    s, n = (A + A.T) / 2, len(A)
    L = np.zeros_like(s)
    for j in range(n):
        L[j, j] = np.sqrt(s[j, j] - (L[j, :j] ** 2).sum())
        for i in range(j + 1, n):
            L[i, j] = (s[i, j] - (L[i, :j] * L[j, :j]).sum()) / L[j, j]
    return L


def _qr(A: Array) -> tuple[Array, Array]:
    """By Gram and Schmidt, with the signs that LAPACK has at this point."""
    signs = np.sign(np.diag(np.linalg.qr(A.real)[1]))
    Q, R = np.zeros_like(A), np.zeros((A.shape[1],) * 2, dtype=A.dtype)
    for j in range(A.shape[1]):
        v = A[:, j]
        for i in range(j):
            R[i, j] = (Q[:, i] * A[:, j]).sum()
            v = v - R[i, j] * Q[:, i]
        R[j, j] = signs[j] * np.sqrt((v**2).sum())
        Q[:, j] = v / R[j, j]
    return Q, R


def _reflections(A: Array, tau: Array) -> Array:
    whole = np.eye(len(A), dtype=np.result_type(A, tau))
    for k in range(len(tau)):
        v = np.concatenate([np.zeros(k), [1], A[k + 1 :, k]])
        whole = whole @ (np.eye(len(A)) - tau[k] * np.outer(v, v))
    return whole[:, : A.shape[1]]


def _eigenvalues(A: Array) -> Array:
    """Roots of the characteristic polynomial, which complex steps move as they do the matrix.

    In extended precision: the coefficients cost digits where roots are near one another.
    """
    whole = A.astype(np.clongdouble)
    coefficients, product = [np.clongdouble(1)], np.zeros_like(whole)
    for n in range(1, len(A) + 1):  # Faddeev and LeVerrier
        product = whole @ product + coefficients[-1] * np.eye(len(A))
        coefficients.append(-np.trace(whole @ product) / n)
    roots = np.linalg.eigvalsh(A.real).astype(np.clongdouble)
    for _ in range(3):
        roots = roots - np.polyval(coefficients, roots) / np.polyval(np.polyder(np.array(coefficients)), roots)
    return (roots if np.iscomplexobj(A) else roots.real).astype(A.dtype)


def _singular(A: Array) -> Array:
    """By the smaller product with the transpose."""
    return np.sqrt(_eigenvalues(A @ A.T if len(A) < len(A.T) else A.T @ A))[::-1]


def _vectors(A: Array) -> Array:
    """Of a symmetric matrix of two or three rows: each is orthogonal to the rows of A - λ, and has length 1."""
    columns = []
    for value in _eigenvalues(A):
        rows = A - value * np.eye(len(A))
        pairs = [np.cross(rows[i], rows[i - 1]) for i in range(3)] if len(A) == 3 else [rows[0] @ [[0, -1], [1, 0]]]
        v = max(pairs, key=np.linalg.norm)
        sign = np.sign((v.real * np.exp(-np.arange(len(A)))).sum())
        columns.append(sign * v / np.sqrt((v**2).sum()))
    return np.stack(columns, 1)


def _right(A: Array) -> Array:
    return _vectors(A.T @ A)[:, ::-1]


def _polar(A: Array) -> Array:
    """The matrix of orthonormal rows next to a wide one."""
    return np.linalg.inv(_vectors(A @ A.T) @ np.diag(np.sqrt(_eigenvalues(A @ A.T))) @ _vectors(A @ A.T).T) @ A


def _left(A: Array) -> Array:
    return A @ _right(A) / _singular(A)


def _exponential(A: Array) -> Array:
    """The series of a 64th of the matrix, squared six times."""
    term = whole = np.eye(len(A)) + 0 * A
    for n in range(1, 20):
        term = term @ A / 64 / n
        whole = whole + term
    for _ in range(6):
        whole = whole @ whole
    return whole


def _norm(A: Array, order: object) -> Array:
    if order == "fro":
        return np.sqrt((A**2).sum())
    sums = absolute(A).sum(0 if abs(order) == 1 else 1)  # type: ignore[arg-type]
    return sums[np.argmax(sums.real) if order > 0 else np.argmin(sums.real)]  # type: ignore[operator]


CASES: Cases = {
    "addmm": [
        ("addmm(C, x, k.T)", lambda C, x, k: C + x @ k.T),
        ("torch.addmm(C, x, k.T, beta=0.5, alpha=2)", lambda C, x, k: 0.5 * C + 2 * x @ k.T),
    ],
    "addmv": [("addmv(u, M, w)", lambda u, M, w: u + M @ w)],
    "addr": [
        ("addr(M, u, w)", lambda M, u, w: M + np.outer(u, w)),
        ("M.addr(u, w, alpha=3)", lambda M, u, w: M + 3 * np.outer(u, w)),
    ],
    "baddbmm": [("baddbmm(G, G, G)", lambda G: G + G @ G)],
    "addbmm": [("addbmm(M, G, G)", lambda M, G: M + (G @ G).sum(0))],
    "vecdot": [
        ("torch.linalg.vecdot(x, k)", lambda x, k: (x * k).sum(1)),
        ("vecdot(x, k, dim=0)", lambda x, k: (x * k).sum(0)),
    ],
    "cross": [
        (
            "cross(u, w)",
            lambda u, w: np.array([u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]]),
        ),
        ("torch.linalg.cross(x, k, dim=-1)[1, 0]", lambda x, k: x[1, 1] * k[1, 2] - x[1, 2] * k[1, 1]),
    ],
    "array_dot": [
        ("np.dot(x, y)", lambda x, y: np.dot(x, y)),
        ("array_dot(u, z)", lambda u, z: np.dot(u, z)),
        ("np.dot(u, u)*np.dot(2, u)", lambda u: np.dot(u, u) * 2 * u),
    ],
    "inner": [
        ("inner(x, k)", lambda x, k: np.inner(x, k)),
        ("torch.inner(u, u)*u", lambda u: np.inner(u, u) * u),
        ("np.inner(y, z)", lambda y, z: np.inner(y, z)),
    ],
    "tensordot": [
        ("tensordot(x, y, 1)", lambda x, y: np.tensordot(x, y, 1)),
    ],
    "kron": [("kron(C, row)", lambda C, row: np.kron(C, row)), ("torch.kron(u, v)", lambda u, v: np.kron(u, v))],
    "multi_dot": [
        ("torch.linalg.multi_dot([x, M, u])", lambda x, M, u: x @ M @ u),
    ],
    "matrix_power": [
        ("matrix_power(C, 3)", lambda C: C @ C @ C),
        ("torch.linalg.matrix_power(C, -2)", lambda C: np.linalg.inv(C) @ np.linalg.inv(C)),
        ("matrix_power(M, -1)", lambda M: np.linalg.inv(M)),
        ("C.matrix_power(0)*C", lambda C: np.eye(2) * C),
    ],
    "vander": [
        ("vander(u)", lambda u: np.stack([u**2, u, 1 + 0 * u], 1)),
        ("torch.linalg.vander(u)", lambda u: np.stack([1 + 0 * u, u, u**2], 1)),
        ("np.vander(u, 2)", lambda u: np.stack([u, 1 + 0 * u], 1)),
    ],
    "cholesky": [
        ("cholesky(M @ M.T)", lambda M: _cholesky(M @ M.T)),
        ("torch.linalg.cholesky(C @ C.T + a*eye(2)*2)", lambda C, a: _cholesky(C @ C.T + 2 * a * np.eye(2))),
        ("torch.linalg.cholesky(M @ M.T, upper=True)", lambda M: _cholesky(M @ M.T).T),
    ],
    "pinv": [
        ("pinv(x)", lambda x: x.T @ np.linalg.inv(x @ x.T)),
        ("torch.linalg.pinv(x.T)", lambda x: np.linalg.inv(x @ x.T) @ x),
    ],
    "lstsq": [
        ("torch.linalg.lstsq(x.T, k.T).solution", lambda x, k: np.linalg.inv(x @ x.T) @ x @ k.T),
        ("torch.linalg.lstsq(M, k.T).solution", lambda M, k: np.linalg.inv(M) @ k.T),
    ],
    "solve_triangular": [
        ("solve_triangular(M, k.T, upper=True)", lambda M, k: np.linalg.inv(np.triu(M)) @ k.T),
        ("torch.linalg.solve_triangular(M, x, upper=False, left=False)", lambda M, x: x @ np.linalg.inv(np.tril(M))),
        (
            "solve_triangular(M, k.T, upper=True, unitriangular=True)",
            lambda M, k: np.linalg.inv(np.triu(M, 1) + np.eye(3)) @ k.T,
        ),
    ],
    "triangular_solve": [("triangular_solve(k.T, M)", lambda k, M: np.linalg.inv(np.triu(M)) @ k.T)],
    "cholesky_solve": [("cholesky_solve(k.T, M)", lambda k, M: np.linalg.inv(np.tril(M) @ np.tril(M).T) @ k.T)],
    "cholesky_inverse": [("cholesky_inverse(M)", lambda M: np.linalg.inv(np.tril(M) @ np.tril(M).T))],
    "slogdet": [
        ("slogdet(M).logabsdet", lambda M: np.log(np.linalg.det(M))),
        ("torch.linalg.slogdet(-M)[1]", lambda M: np.log(np.linalg.det(M))),
    ],
    "inv_ex": [("torch.linalg.inv_ex(C).inverse", lambda C: np.linalg.inv(C))],
    "cholesky_ex": [("torch.linalg.cholesky_ex(M @ M.T).L", lambda M: _cholesky(M @ M.T))],
    "solve_ex": [("torch.linalg.solve_ex(M, u).result", lambda M, u: np.linalg.inv(M) @ u)],
    "tensorinv": [("tensorinv(reshape(M[:2, :2], (2, 1, 2)), 1)", lambda M: np.linalg.inv(M[:2, :2])[None])],
    "tensorsolve": [("tensorsolve(reshape(M, (3, 1, 3)), u)", lambda M, u: (np.linalg.inv(M) @ u)[None])],
    "householder_product": [
        ("householder_product(M, w)", lambda M, w: _reflections(M, w)),
        ("torch.linalg.householder_product(y[:, :2], u[:2])", lambda y, u: _reflections(y[:, :2], u[:2])),
    ],
    "qr": [
        ("qr(M).Q", lambda M: _qr(M)[0]),
        ("torch.linalg.qr(M)[1]", lambda M: _qr(M)[1]),
        ("torch.linalg.qr(x.T).R", lambda x: _qr(x.T)[1]),
    ],
    "matrix_norm": [
        ("torch.linalg.matrix_norm(x)", lambda x: _norm(x, "fro")),
        ("matrix_norm(x, 1)", lambda x: _norm(x, 1)),
        ("matrix_norm(x, -1)", lambda x: _norm(x, -1)),
        ("matrix_norm(x, inf)", lambda x: _norm(x, np.inf)),
        ("torch.linalg.matrix_norm(x, 'nuc')", lambda x: _singular(x).sum()),
        ("matrix_norm(x, 2)", lambda x: _singular(x)[0]),
        ("torch.linalg.norm(x, 2)", lambda x: _singular(x)[0]),
        ("torch.linalg.norm(u, 3)", lambda u: (absolute(u) ** 3).sum() ** (1 / 3)),
        ("matrix_norm(G, -2, keepdim=True)", lambda G: np.array([_singular(one)[-1] for one in G])[:, None, None]),
        ("torch.linalg.norm(x, 'nuc', keepdim=True)", lambda x: _singular(x).sum().reshape(1, 1)),
        ("x.norm(p='nuc')", lambda x: _singular(x).sum()),
        ("norm(x, 'fro', 1)", lambda x: np.sqrt((x**2).sum(1))),
        ("linalg.norm(G, 1, dim=(1, 0))", lambda G: np.stack([_norm(G[..., n].T, 1) for n in range(3)])),
        ("np.linalg.norm(G, -2, (2, 0))", lambda G: np.stack([_singular(G[:, n])[-1] for n in range(3)])),
        ("torch.linalg.norm(x, 2, dim=1)", lambda x: np.sqrt((x**2).sum(1))),
        ("matrix_norm(x, -inf, keepdim=True)", lambda x: _norm(x, -np.inf).reshape(1, 1)),
    ],
    "eigvalsh": [
        ("eigvalsh(M + M.T)", lambda M: _eigenvalues(M + M.T)),
        ("torch.linalg.eigvalsh(M @ M.T)[1]", lambda M: _eigenvalues(M @ M.T)[1]),
        ("np.linalg.eigvalsh(G + G.mT)", lambda G: np.stack([_eigenvalues(one + one.T) for one in G])),
    ],
    "matrix_exp": [
        ("torch.matrix_exp(M)", lambda M: _exponential(M)),
        ("expm(-C) @ w[:2]", lambda C, w: _exponential(-C) @ w[:2]),
        ("torch.linalg.matrix_exp(G)", lambda G: np.stack([_exponential(one) for one in G])),
    ],
    "svdvals": [
        ("svdvals(x)", lambda x: _singular(x)),
        ("torch.linalg.svdvals(x.T)[-1]", lambda x: _singular(x)[-1]),
        ("svdvals(G)", lambda G: np.stack([_singular(one) for one in G])),
    ],
    "eigenvectors": [
        ("eigenvectors(M + M.T)", lambda M: _vectors(M + M.T)),
        ("eigenvectors(stack([C @ C.T, C + C.T]))", lambda C: np.stack([_vectors(C @ C.T), _vectors(C + C.T)])),
    ],
    "eigh": [
        ("torch.linalg.eigh(C @ C.T).eigenvectors", lambda C: _vectors(C @ C.T)),
        ("L, V = eigh(M + M.T); V @ diag(L**2) @ V.T", lambda M: (M + M.T) @ (M + M.T)),
        ("np.linalg.eigh(M + M.T)[0]", lambda M: _eigenvalues(M + M.T)),
    ],
    "right_singular_vectors": [("right_singular_vectors(M)", lambda M: _right(M))],
    "left_singular_vectors": [
        ("left_singular_vectors(x.T)", lambda x: _left(x.T)),
        ("left_singular_vectors(G)", lambda G: np.stack([_left(one) for one in G])),
    ],
    "svd": [
        ("torch.svd(x.T).V", lambda x: _right(x.T)),
        ("U, S, V = x.svd(); U @ diag(S**3) @ V.T", lambda x: x @ x.T @ x),
        ("svd(C, some=False)[0]", lambda C: _left(C)),
    ],
    "linalg_svd": [
        ("torch.linalg.svd(C).Vh", lambda C: _right(C).T),
        ("np.linalg.svd(x, full_matrices=False)[1]", lambda x: _singular(x)),
        ("U, S, Vh = torch.linalg.svd(x, full_matrices=False); U @ Vh", lambda x: _polar(x)),
    ],
    "cond": [
        ("torch.linalg.cond(x)", lambda x: _singular(x)[0] / _singular(x)[-1]),
        ("cond(M, -2)", lambda M: _singular(M)[-1] / _singular(M)[0]),
        ("cond(C, 'nuc')", lambda C: _singular(C).sum() * _singular(np.linalg.inv(C)).sum()),
    ],
    "fmax": [("fmax(x, k)", lambda x, k: np.where(x.real > k.real, x, k))],
    "fmin": [("torch.fmin(x, k)", lambda x, k: np.where(x.real < k.real, x, k))],
    "scaled_add": [
        ("torch.add(x, k, alpha=2)", lambda x, k: x + 2 * k),
        ("x.add(row, alpha=a)*x", lambda x, row, a: (x + a * row) * x),
        ("scaled_add(x, k)", lambda x, k: x + k),
    ],
    "scaled_sub": [
        ("torch.sub(x, k, alpha=2)", lambda x, k: x - 2 * k),
        ("x.subtract(row, alpha=0.5)*x", lambda x, row: (x - row / 2) * x),
    ],
    "rounded_div": [
        ("torch.div(x, 2, rounding_mode='floor')*x", lambda x: np.floor(x.real / 2) * x),
        ("x.div(0.8, rounding_mode='trunc')*x", lambda x: np.trunc(x.real / 0.8) * x),
        ("torch.div(x, k, rounding_mode=None)", lambda x, k: x / k),
    ],
    "round_to": [
        ("torch.round(x*1.234, decimals=2)*x", lambda x: np.round(x.real * 1.234, 2) * x),
        ("np.round(x*1.234, 1)*x", lambda x: np.round(x.real * 1.234, 1) * x),
        ("round_to(123*x, -1)*x", lambda x: np.round(123 * x.real, -1) * x),
        ("np.around(1.1*x)*x", lambda x: np.round(1.1 * x.real) * x),
    ],
    "heaviside": [("heaviside(x, 1/2)*x", lambda x: np.heaviside(x.real, 0) * x)],
    "cbrt": [("cbrt(x)", lambda x: np.where(x.real < 0, -1, 1) * (np.where(x.real < 0, -1, 1) * x) ** (1 / 3))],
    "weighted_binary_cross_entropy_with_logits": [
        (
            "F.binary_cross_entropy_with_logits(x, k, pos_weight=w)",
            lambda x, k, w: ((1 - k) * x + (1 + (w - 1) * k) * np.log(1 + np.exp(-x))).mean(),
        ),
        (
            "F.binary_cross_entropy_with_logits(x, k, pos_weight=torch.tensor(3.), reduction='none')",
            lambda x, k: (1 - k) * x + (1 + 2 * k) * np.log(1 + np.exp(-x)),
        ),
    ],
    "isnan": [("where(isnan(x), 0, x**2)", lambda x: x**2)],
    "isinf": [("where(x.isinf(), 0, x**2)", lambda x: x**2)],
    "isfinite": [("where(torch.isfinite(x), x**2, 0)", lambda x: x**2)],
    "rsub": [("rsub(x, a)", lambda x, a: a - x), ("torch.rsub(x, k, alpha=2)", lambda x, k: k - 2 * x)],
    "addcmul": [
        ("addcmul(x, k, row)", lambda x, k, row: x + k * row),
        ("x.addcmul(k, u, value=0.5)", lambda x, k, u: x + 0.5 * k * u),
    ],
    "addcdiv": [("torch.addcdiv(x, k, u, value=-2)", lambda x, k, u: x - 2 * k / u)],
    "copysign": [("copysign(x, -k)", lambda x, k: np.where(k > 0, -absolute(x), absolute(x)))],
    "ldexp": [("ldexp(u, w)", lambda u, w: u * 2**w)],
    "float_power": [("torch.float_power(p, a)", lambda p, a: p**a)],
    "logaddexp2": [("logaddexp2(x, k)", lambda x, k: np.log2(2**x + 2**k))],
    "positive": [("torch.positive(x)*x", lambda x: x * x), ("torch.real(x)*x.conj()", lambda x: x * x)],
    "angle": [("angle(x)*x", lambda x: np.where(x.real < 0, np.pi, 0) * x)],
    "fill": [("fill(x, a)", lambda x, a: a + 0 * x)],
    "nan_to_num": [("nan_to_num(x)*x", lambda x: x * x), ("x.nan_to_num(nan=1.0)", lambda x: x)],
}


@pytest.mark.parametrize(("op", "case"), arguments(CASES))
def test_linear_algebra(op: str, case: Case) -> None:
    """Value, Jacobian and verdict; a formula where it is not too long."""
    f = Function(case[0])
    answer = f.jacobian({name: POINT[name] for name in f.variables}, check=False)
    is_long = any(
        "levels" in reason or "long" in reason or "no formula" in reason for reason in answer.symbolic_omitted.values()
    )
    require(op, case, {case[0]: next(iter(answer.symbolic_omitted.values()))} if is_long else {})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cholesky(x)", "a square matrix"),
        ("norm(x, 'nucc')", "does not take this p"),
        ("eigvalsh(x)", "a square matrix"),
        ("svdvals(u)", "a matrix"),
        ("eigenvectors(x)", "a square matrix"),
        ("right_singular_vectors(u)", "a matrix"),
        ("linalg.svd(x).U", "the vectors beyond its rank are not determined"),
        ("svd(x, some=False).U", "the vectors beyond its rank are not determined"),
    ],
)
def test_what_does_not_fit_is_refused(text: str, said: str) -> None:
    """With the shapes in question."""
    with pytest.raises(GradcliError, match=said):
        value_at_point(text)


EQUATIONS: list[Case] = [
    ("torch.einsum('...ij,...jk->...ik', G, M)", lambda G, M: np.einsum("aij,jk->aik", G, M)),
    ("einsum('...i,i->...', z[..., :3], u)", lambda z, u: np.einsum("abi,i->ab", z[..., :3], u)),
    ("einsum('i...,i', x, w[:2])", lambda x, w: np.einsum("ij,i->j", x, w[:2])),
    ("einsum('...i->i', z)", lambda z: z.sum((0, 1))),
]


@pytest.mark.parametrize("case", EQUATIONS, ids=[text for text, _ in EQUATIONS])
def test_dots_in_an_equation(case: Case) -> None:
    """They stand for the dimensions that have no letter, which broadcast."""
    require("einsum", case, {})


@pytest.mark.parametrize(
    "text", ["cholesky(A)", "cholesky_ex(A).L", "cholesky(A + eye(2))*2", "eigvalsh(A)", "eigh(A)[1]"]
)
def test_a_matrix_of_which_torch_reads_one_triangle_is_judged_only_if_it_is_symmetric(text: str) -> None:
    """Torch derives by both, which is the derivative of what it computed nowhere else."""
    for off, verdict in ((0.5, "agree"), (0.6, "unchecked")):
        check = Function(text).jacobian({"A": [[2, 0.5], [off, 3]]}).check
        assert check is not None
        assert check.verdict == verdict
        assert ("symmetric" in "".join(f.note for f in check.findings)) == (verdict == "unchecked")

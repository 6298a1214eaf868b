"""Products of matrices and vectors, solutions of linear equations, factors and norms of matrices.

A factor is defined by the steps that find it, column by column, and torch's own function is what is run.
Source: G. H. Golub, C. F. Van Loan, "Matrix Computations", 2013, chapters 3 to 5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradcli.errors import ShapeError, TooLargeError
from gradcli.language.ops.row import Constants, Shapes, read

MOST_VECTORS = 1_024
"""Largest number of rows of a matrix whose eigenvectors are written out."""


def _dot(_: Constants, shapes: Shapes) -> str:
    """Write NumPy's product, which is over the last dimension of a and the last but one of b."""
    if not all(shapes):
        return "a*b"
    if len(shapes[1]) <= 2:
        return "a @ b"
    letters = "abcdefghijk"
    first, second = letters[: len(shapes[0]) - 1], letters[len(shapes[0]) : len(shapes[0]) + len(shapes[1]) - 1]
    return f"einsum('{first}z,{second[:-1]}z{second[-1]}->{first}{second}', a, b)"


_LOWER = "M = where((tril(ones_like(L)) > 1/2) | (L**2 < 1e-300), L, nan)"
"""Matrix of which torch reads the lower triangle alone, and derives by all elements as if it were triangular."""


def _cholesky(constants: Constants, shapes: Shapes) -> str:
    """Write the factor column by column: the first remaining column, divided by the root of its first element."""
    *batch, count, _ = _square(shapes, "cholesky")
    front = "..., " if batch else ""
    text = ["s = (A + transpose(A, -2, -1))/2" if batch else "s = (A + transpose(A))/2"]
    for k in range(count):
        root = f"sqrt(s[{front}0, 0])"
        text.append(f"l{k} = s[{front}:, 0]/{f'unsqueeze({root}, -1)' if batch else root}")
        if k < count - 1:
            text.append(f"s = s[{front}1:, 1:] - l{k}[{front}1:, None]*l{k}[{front}None, 1:]")
    columns = ", ".join(f"pad(l{k}, ({k}, 0))" for k in range(count))
    return "; ".join([*text, f"stack([{columns}], {len(batch) + (0 if constants.get('upper') else 1)})"])


def _wide(constants: Constants, shapes: Shapes) -> str:
    """Write the pseudoinverse of a matrix of full rank, by the smaller of the two products with its transpose."""
    rows, columns = _matrix_of(shapes, "pinv")[-2:]
    turned = "transpose(A, -2, -1)"
    return f"inv({turned} @ A) @ {turned}" if rows >= columns else f"{turned} @ inv(A @ {turned})"


def _singular_values(_: Constants, shapes: Shapes) -> str:
    """Write the upper eigenvalues of [[0, A], [A.T, 0]], which keep the digits of A; those of A.T @ A lose them."""
    rows, columns = _matrix_of(shapes, "svdvals")[-2:]
    padded = f"p = pad(A, ({rows}, 0, 0, {columns}))"
    return f"{padded}; flip(eigvalsh(p + transpose(p, -2, -1))[..., {max(rows, columns)}:], -1)"


def _matrix_of(shapes: Shapes, name: str) -> Sequence[int]:
    if len(shapes[0]) < 2:
        raise ShapeError(f"{name} needs a matrix, and the shape is {shapes[0]}")
    return shapes[0]


def _vectors(shape: Sequence[int], weights: str) -> list[str]:
    """Write the eigenvectors v of s with the eigenvalues l as columns, each with a positive product with the weights.

    The projection P on one of them is the product of (s - l[j])/(l[k] - l[j]) over all other j; v is P @ w, scaled.
    """
    *batch, count, _ = shape
    if count > MOST_VECTORS:
        raise TooLargeError(f"eigenvectors of {count:,} rows; at most {MOST_VECTORS:,} are computed")
    text = [f"w = unsqueeze({weights}, -2)", f"r = w*ones({(*batch, count, 1)}); g = unsqueeze(l, -1)"]
    for n in range(1, count):
        text += [f"o = roll(g, {n}, -2)", "r = (r @ s - o*r)/(g - o)"]
    return [*text, "v = transpose(r/sqrt(sum(r*w, -1, keepdim=True)), -2, -1)"]


def _square(shapes: Shapes, name: str) -> Sequence[int]:
    *batch, rows, columns = _matrix_of(shapes, name)
    if rows != columns:
        raise ShapeError(f"{name} needs a square matrix, and the shape is {shapes[0]}")
    return (*batch, rows, rows)


def _eigenvectors(_: Constants, shapes: Shapes) -> str:
    shape = _square(shapes, "eigenvectors")
    found = _vectors(shape, f"exp(-arange({shape[-1]}))")
    return "; ".join(["s = (A + transpose(A, -2, -1))/2", "l = eigvalsh(A)", *found, "1*v"])


def _with_eigenvalues(_: Constants, shapes: Shapes) -> str:
    """Write the polynomial of A that takes the eigenvalues l to the numbers w, in Newton's form.

    It is d[0] + (A - l[0])*(d[1] + (A - l[1])*(d[2] + ...)) with the divided differences d of w.
    """
    count = _square(shapes, "with_eigenvalues")[-1]
    if count > MOST_VECTORS:
        raise TooLargeError(f"eigenvectors of {count:,} rows; at most {MOST_VECTORS:,} are computed")
    text = ["s = (A + transpose(A, -2, -1))/2", "l = eigvalsh(A)", f"one = eye({count})", "d = 1*w", "d0 = d[..., :1]"]
    for n in range(1, count):
        text += [f"d = (d[..., 1:] - d[..., :-1])/(l[..., {n}:] - l[..., :{count - n}])", f"d{n} = d[..., :1]"]
    if count < 2:
        text.append("r = unsqueeze(d0, -1)*ones_like(s)")
    for n in range(count - 2, -1, -1):
        factor = f"(s - unsqueeze(l[..., {n}:{n + 1}], -1)*one)"
        product = f"unsqueeze(d{n + 1}, -1)*{factor}" if n == count - 2 else f"{factor} @ r"
        text.append(f"r = {product} + unsqueeze(d{n}, -1)*one")
    return "; ".join([*text, "1*r"])


def _singular_vectors(side: str) -> Callable[[Mapping[str, Any], Shapes], str]:
    """Make the writer of singular vectors, by the smaller product of A and its transpose; the others are A @ v/σ."""

    def write(_: Constants, shapes: Shapes) -> str:
        *batch, rows, columns = _matrix_of(shapes, f"{side}_singular_vectors")
        is_tall, turned, weights = rows >= columns, "transpose(A, -2, -1)", f"exp(-arange({columns}))"
        product = f"s = {turned} @ A" if is_tall else f"s = A @ {turned}"
        count = min(rows, columns)
        found = _vectors((*batch, count, count), weights if is_tall else f"(A @ {weights})")
        padded, values = _singular_values({}, shapes).split("; ")
        text = "; ".join([product, padded, f"d = {values}", "l = d**2", *found])
        if is_tall == (side == "right"):
            return f"{text}; 1*v"
        return f"{text}; {'A' if is_tall else turned} @ v/unsqueeze(d, -2)"

    return write


def _triangle(constants: Constants) -> str:
    part = "triu" if constants["upper"] else "tril"
    matrix = f"{part}(A)"
    if constants.get("unitriangular"):
        matrix = f"({part}(A, {1 if constants['upper'] else -1}) + tril(triu(ones_like(A))))"
    return f"inv({matrix}) @ B" if constants.get("left", True) else f"B @ inv({matrix})"


_SIGN = "torch leaves the sign of a vector v open; here v[0] + v[1]/e + v[2]/e**2 + ... is positive"
"""Convention on the sign of a vector, for a sum that no float matrix makes 0: elements of v are algebraic numbers.

Source: A. Baker, "Transcendental Number Theory", 1975, theorem 1.4 (Lindemann and Weierstrass).
"""


_left_vectors, _right_vectors = map(_singular_vectors, ("left", "right"))

ROWS = read(
    f"""
== products added  kind: defined  torch: *  adds_terms: True  at c=1,2 A=[[1,2],[3,4]] B=[[[3,1],[4,2]]] x=5,6
addmm(input, a, b, beta#:1, alpha#:1)  a matrix product added  = beta*input + alpha*(a @ b)  e.g. addmm(A, A, B[0])
addmv(input, A, x, beta#:1, alpha#:1)  the product of a matrix and a vector added  = beta*input + alpha*(A @ x)
    e.g. addmv(c, A, x)
addr(input, a, b, beta#:1, alpha#:1)  an outer product added  = beta*input + alpha*unsqueeze(a, 1)*unsqueeze(b, 0)
    e.g. addr(A, c, x)
baddbmm(input, a, b, beta#:1, alpha#:1)  matrix products of a batch added  = beta*input + alpha*(a @ b)
    e.g. baddbmm(A, B, B)
addbmm(input, a, b, beta#:1, alpha#:1)  the sum of the matrix products of a batch added
    = beta*input + alpha*sum(a @ b, 0)  e.g. addbmm(A, B, B)
== vectors and tensors  kind: defined  torch: linalg.*  adds_terms: True  at a=1,2,3 b=4,5,7
vecdot(a, b, dim=-1)  the inner products of vectors along a dimension  = sum(a*b, dim=dim)
cross(a, b, dim=-1)  the cross product of vectors of three numbers along a dimension
    = roll(a*roll(b, -1, dim) - roll(a, -1, dim)*b, -1, dim)
array_dot(a, b)  NumPy's dot: of vectors and matrices the product a @ b, of a number each element times it  = a @ b
    written: _dot  torch: none  caveat: np.dot(a, b) and a.dot(b) of NumPy's arrays; torch.dot takes vectors alone
    e.g. array_dot(a, b)
== equations, factors and norms  kind: defined  torch: linalg.*  adds_terms: True
    at A=[[2,1],[1,3]] L=[[2,0],[1,3]] B=[[1],[2]] C=[[1,2],[0,3],[1,1]]
cholesky(A^, upper=False)  the lower triangular L with A = L @ L.T, of a symmetric positive definite matrix
    = column by column what is left of A, over the square root of its diagonal element  written: _cholesky
    domain: a positive definite matrix
    caveat: of the symmetric part of A, as torch's derivative is; torch reads the lower triangle alone
pinv|pinverse(A)  the pseudoinverse of a matrix of full rank  = inv(A.T @ A) @ A.T  written: _wide
    domain: a matrix of full rank  e.g. pinv(C)
svdvals(A)  the singular values of a matrix, the largest first  = the upper eigenvalues of [[0, A], [A.T, 0]]
    written: _singular_values  caveat: one that occurs twice, or is 0, has no derivative  e.g. svdvals(C)
eigenvectors(A^)  the eigenvectors of a symmetric matrix as columns, in the order of its eigenvalues
    = the columns of products of (A - l[j])/(l[k] - l[j]), of length 1  written: _eigenvectors  torch: linalg.eigh
    domain: a symmetric matrix without equal eigenvalues
    caveat: {_SIGN}; torch reads the lower triangle of A alone, and derives by both
with_eigenvalues(A^, w)  the symmetric matrix with the eigenvectors of A and the numbers w as its eigenvalues
    = the polynomial of A that takes its eigenvalues to w  written: _with_eigenvalues
    torch: linalg.eigh  domain: a symmetric matrix without equal eigenvalues
    caveat: torch reads the lower triangle of A alone, and derives by both
    at A=[[2,1],[1,3]] w=1,2
left_singular_vectors(A)  the left singular vectors of a matrix as columns, in the order of svdvals
    = the eigenvectors of A @ A.T  written: _left_vectors  torch: linalg.svd
    domain: singular values of which none is 0 and none are equal
    caveat: with the signs that belong to right_singular_vectors
    e.g. left_singular_vectors(C)
right_singular_vectors(A)  the right singular vectors of a matrix as columns, in the order of svdvals
    = the eigenvectors of A.T @ A  written: _right_vectors  torch: linalg.svd
    domain: singular values of which none is 0 and none are equal  caveat: {_SIGN}  e.g. right_singular_vectors(C)
solve_triangular(A, B, upper=True, left=True, unitriangular=False)
    the solution X of A @ X = B, or of X @ A = B, by one triangle of A  = inv(triu(A)) @ B  written: _triangle
    torch: none  domain: a diagonal without 0
triangular_solve(B, A, upper=True)  the solution X of A @ X = B by one triangle of A  = inv(triu(A)) @ B
    written: _triangle  torch: none  domain: a diagonal without 0
cholesky_solve(B, L)  the solution X of L @ L.T @ X = B, for a lower triangular L  = inv(L @ transpose(L, -2, -1)) @ B
    total: {_LOWER}; inv(M @ transpose(M, -2, -1)) @ B  torch: *
    domain: a lower triangular matrix whose diagonal is without 0
cholesky_inverse(L)  the inverse of L @ L.T, for a lower triangular L  = inv(L @ transpose(L, -2, -1))
    total: {_LOWER}; inv(M @ transpose(M, -2, -1))  torch: *
    domain: a lower triangular matrix whose diagonal is without 0
""",
    globals(),
)

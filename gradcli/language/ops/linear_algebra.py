"""Functions of square matrices, solutions of linear equations, factors and norms of matrices.

A factor is defined by the steps that find it, column by column, and torch's own function is what is run.
Source: G. H. Golub, C. F. Van Loan, "Matrix Computations", 2013, chapters 3 to 5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from gradcli.errors import ShapeError, TooLargeError
from gradcli.language.ops.row import Kind, Op
from gradcli.language.ops.signature import Constant, Constants, Operand, Shapes

MOST_VECTORS = 1_024
"""Largest number of rows of a matrix whose eigenvectors are written out."""

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


def _singular_vectors(side: str) -> Callable[[Mapping[str, object], Shapes], str]:
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

SQUARE_MATRICES: tuple[Op, ...] = (
    Op(
        "det",
        ("A",),
        "the determinant of a square matrix",
        aliases=("Determinant",),
        kind=Kind.MATRIX,
        torch="linalg.det",
        adjoints={"A": "grad*result*transpose(inv(A), -2, -1)"},
        adds_terms=True,
        caveat=(
            "torch gives 0 as the derivative of a singular matrix, which is reported; the formula is by the "
            "inverse rule, d det(A) = det(A)*trace(inv(A) @ dA), for an invertible A"
        ),
        at={"A": "[[2,1],[1,3]]"},
    ),
    Op(
        "logdet",
        ("A",),
        "the logarithm of the determinant",
        kind=Kind.DEFINED,
        meaning="log(det(A))",
        torch="logdet",
        domain="det(A) > 0",
        at={"A": "[[2,1],[1,3]]"},
    ),
    Op(
        "inv",
        ("A",),
        "the inverse of a square matrix",
        aliases=("inverse", "Inverse"),
        kind=Kind.MATRIX,
        torch="linalg.inv",
        domain="det(A) != 0",
        caveat="the formula is by the inverse rule, d inv(A) = -inv(A) @ dA @ inv(A)",
        at={"A": "[[2,1],[1,3]]"},
    ),
    Op(
        "eigvalsh",
        (Operand("A", symmetric=True),),
        "the eigenvalues of a symmetric matrix, the smallest first",
        kind=Kind.SPECTRAL,
        torch="linalg.eigvalsh",
        adds_terms=True,
        domain="A is symmetric",
        caveat=(
            "torch reads the lower triangle alone, and derives by the symmetric part; an eigenvalue that "
            "occurs twice has no derivative"
        ),
        at={"A": "[[2,1],[1,3]]"},
    ),
    Op(
        "matrix_exp",
        ("A",),
        "the exponential of a square matrix, the sum of A^n/n!",
        aliases=("expm",),
        kind=Kind.SPECTRAL,
        torch="linalg.matrix_exp",
        adds_terms=True,
        at={"A": "[[0,1],[-1,0]]"},
    ),
    Op(
        "solve",
        ("A", "b"),
        "the solution x of A @ x = b",
        kind=Kind.DEFINED,
        meaning="inv(A) @ b",
        torch="linalg.solve",
        domain="det(A) != 0",
        at={"A": "[[2,1],[1,3]]", "b": "1,2"},
    ),
)

EQUATIONS_FACTORS_AND_NORMS: tuple[Op, ...] = (
    Op(
        "cholesky",
        (Operand("A", symmetric=True), Constant("upper", False)),
        "the lower triangular L with A = L @ L.T, of a symmetric positive definite matrix",
        kind=Kind.DEFINED,
        meaning="column by column what is left of A, over the square root of its diagonal element",
        written=_cholesky,
        torch="linalg.cholesky",
        adds_terms=True,
        domain="a positive definite matrix",
        caveat="of the symmetric part of A, as torch's derivative is; torch reads the lower triangle alone",
        at={"A": "[[2,1],[1,3]]"},
    ),
    Op(
        "pinv",
        ("A",),
        "the pseudoinverse of a matrix of full rank",
        aliases=("pinverse",),
        kind=Kind.DEFINED,
        meaning="inv(A.T @ A) @ A.T",
        written=_wide,
        torch="linalg.pinv",
        adds_terms=True,
        domain="a matrix of full rank",
        example="pinv(C)",
        at={"C": "[[1,2],[0,3],[1,1]]"},
    ),
    Op(
        "svdvals",
        ("A",),
        "the singular values of a matrix, the largest first",
        kind=Kind.DEFINED,
        meaning="the upper eigenvalues of [[0, A], [A.T, 0]]",
        written=_singular_values,
        torch="linalg.svdvals",
        adds_terms=True,
        caveat="one that occurs twice, or is 0, has no derivative",
        example="svdvals(C)",
        at={"C": "[[1,2],[0,3],[1,1]]"},
    ),
    Op(
        "eigenvectors",
        (Operand("A", symmetric=True),),
        "the eigenvectors of a symmetric matrix as columns, in the order of its eigenvalues",
        kind=Kind.DEFINED,
        meaning="the columns of products of (A - l[j])/(l[k] - l[j]), of length 1",
        written=_eigenvectors,
        torch="linalg.eigh",
        adds_terms=True,
        domain="a symmetric matrix without equal eigenvalues",
        caveat=f"{_SIGN}; torch reads the lower triangle of A alone, and derives by both",
        at={"A": "[[2,1],[1,3]]"},
    ),
    Op(
        "with_eigenvalues",
        (Operand("A", symmetric=True), "w"),
        "the symmetric matrix with the eigenvectors of A and the numbers w as its eigenvalues",
        kind=Kind.DEFINED,
        meaning="the polynomial of A that takes its eigenvalues to w",
        written=_with_eigenvalues,
        torch="linalg.eigh",
        adds_terms=True,
        domain="a symmetric matrix without equal eigenvalues",
        caveat="torch reads the lower triangle of A alone, and derives by both",
        at={"A": "[[2,1],[1,3]]", "w": "1,2"},
    ),
    Op(
        "left_singular_vectors",
        ("A",),
        "the left singular vectors of a matrix as columns, in the order of svdvals",
        kind=Kind.DEFINED,
        meaning="the eigenvectors of A @ A.T",
        written=_left_vectors,
        torch="linalg.svd",
        adds_terms=True,
        domain="singular values of which none is 0 and none are equal",
        caveat="with the signs that belong to right_singular_vectors",
        example="left_singular_vectors(C)",
        at={"C": "[[1,2],[0,3],[1,1]]"},
    ),
    Op(
        "right_singular_vectors",
        ("A",),
        "the right singular vectors of a matrix as columns, in the order of svdvals",
        kind=Kind.DEFINED,
        meaning="the eigenvectors of A.T @ A",
        written=_right_vectors,
        torch="linalg.svd",
        adds_terms=True,
        domain="singular values of which none is 0 and none are equal",
        caveat=_SIGN,
        example="right_singular_vectors(C)",
        at={"C": "[[1,2],[0,3],[1,1]]"},
    ),
    Op(
        "solve_triangular",
        ("A", "B", Constant("upper", True), Constant("left", True), Constant("unitriangular", False)),
        "the solution X of A @ X = B, or of X @ A = B, by one triangle of A",
        kind=Kind.DEFINED,
        meaning="inv(triu(A)) @ B",
        written=_triangle,
        adds_terms=True,
        domain="a diagonal without 0",
        at={"A": "[[2,1],[1,3]]", "B": "[[1],[2]]"},
    ),
    Op(
        "triangular_solve",
        ("B", "A", Constant("upper", True)),
        "the solution X of A @ X = B by one triangle of A",
        kind=Kind.DEFINED,
        meaning="inv(triu(A)) @ B",
        written=_triangle,
        adds_terms=True,
        domain="a diagonal without 0",
        at={"A": "[[2,1],[1,3]]", "B": "[[1],[2]]"},
    ),
    Op(
        "cholesky_solve",
        ("B", "L"),
        "the solution X of L @ L.T @ X = B, for a lower triangular L",
        kind=Kind.DEFINED,
        meaning="inv(L @ transpose(L, -2, -1)) @ B",
        torch_convention=f"{_LOWER}; inv(M @ transpose(M, -2, -1)) @ B",
        torch="cholesky_solve",
        adds_terms=True,
        domain="a lower triangular matrix whose diagonal is without 0",
        at={"L": "[[2,0],[1,3]]", "B": "[[1],[2]]"},
    ),
    Op(
        "cholesky_inverse",
        ("L",),
        "the inverse of L @ L.T, for a lower triangular L",
        kind=Kind.DEFINED,
        meaning="inv(L @ transpose(L, -2, -1))",
        torch_convention=f"{_LOWER}; inv(M @ transpose(M, -2, -1))",
        torch="cholesky_inverse",
        adds_terms=True,
        domain="a lower triangular matrix whose diagonal is without 0",
        at={"L": "[[2,0],[1,3]]"},
    ),
)

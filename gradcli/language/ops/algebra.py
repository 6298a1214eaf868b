"""Linear algebra: products, and what a square matrix has."""

from __future__ import annotations

from gradcli.language.ops.row import REQUIRED, Kind, Op

CONTRACTIONS = (
    Op(
        "matmul",
        ("a", "b"),
        "the matrix product a @ b",
        qualified=("mm", "mv", "bmm"),
        operator="matmul",
        torch="matmul",
        numpy="matmul",
        kind=Kind.CONTRACTION,
        example="A @ x at A=[[1,2],[3,4]] x=5,6",
    ),
    Op(
        "dot",
        ("a", "b"),
        "the inner product of two vectors",
        "sum(a*b)",
        aliases=("inner",),
        torch="dot",
        kind=Kind.DEFINED,
        ranks={"a": 1, "b": 1},
        example="dot(a, b) at a=1,2 b=3,4",
    ),
    Op(
        "cosine_similarity",
        ("x1", "x2", "dim"),
        "the cosine of the angle between vectors along dim, 1 by default",
        "sum(x1*x2, dim=dim)/(sqrt(sum((x1*ones_like(x2))**2, dim=dim))*sqrt(sum((x2*ones_like(x1))**2, dim=dim)))",
        in_floats="a = x1*ones_like(x2); b = x2*ones_like(x1); "
        "p = a/maximum(norm(a, dim=dim, keepdim=True), 1e-8); q = b/maximum(norm(b, dim=dim, keepdim=True), 1e-8); "
        "sum(p*q, dim=dim)",
        torch="nn.functional.cosine_similarity",
        kind=Kind.DEFINED,
        statics={"dim": 1},
        domain="neither is 0",
        computed="l1 = norm(x1*ones_like(x2), dim=dim, keepdim=True); "
        "l2 = norm(x2*ones_like(x1), dim=dim, keepdim=True); "
        "sum(x1/(l1 + detach(maximum(l1, 1e-8) - l1))*(x2/(l2 + detach(maximum(l2, 1e-8) - l2))), dim=dim)",
        fault="torch takes lengths to be no less than 1e-8",
        example="cosine_similarity(a, b, dim=0) at a=1,2 b=3,4",
    ),
    Op(
        "outer",
        ("a", "b"),
        "the outer product of two vectors",
        "unsqueeze(a, 1)*unsqueeze(b, 0)",
        torch="outer",
        kind=Kind.DEFINED,
        ranks={"a": 1, "b": 1},
        example="outer(a, b) at a=1,2 b=3,4,5",
    ),
    Op(
        "einsum",
        ("equation", "operands"),
        "sums of products by names of dimensions, such as einsum('ij,j->i', A, x)",
        "sum of the product of the operands over the letters that are not in the result",
        torch="einsum",
        kind=Kind.DEFINED,
        statics={"equation": REQUIRED},
        variadic=True,
        example="einsum('ij,j->i', A, x) at A=[[1,2],[3,4]] x=5,6",
    ),
    Op(
        "linear",
        ("x", "weight", "bias"),
        "a fully connected layer",
        "x @ transpose(weight) + bias",
        kind=Kind.DEFINED,
        defaults={"bias": 0},
        example="linear(x, W, b) at x=1,2 W=[[1,2],[3,4]] b=5,6",
    ),
    Op(
        "trace",
        ("A",),
        "the sum of the diagonal of a matrix",
        "sum(diagonal(A))",
        aliases=("Trace",),
        torch="trace",
        kind=Kind.DEFINED,
        ranks={"A": 2},
        example="trace(A @ A) at A=[[1,2],[3,4]]",
    ),
)

MATRICES = (
    Op(
        "det",
        ("A",),
        "the determinant of a square matrix",
        aliases=("Determinant",),
        torch="linalg.det",
        numpy="linalg.det",
        kind=Kind.MATRIX,
        caveat="torch gives 0 as the derivative of a singular matrix, which is reported; "
        "the formula is by the inverse rule, d det(A) = det(A)*trace(inv(A) @ dA), for an invertible A",
        example="det(A) at A=[[2,1],[1,3]]",
    ),
    Op(
        "logdet",
        ("A",),
        "the logarithm of the determinant",
        "log(det(A))",
        torch="logdet",
        kind=Kind.DEFINED,
        domain="det(A) > 0",
        example="logdet(A) at A=[[2,1],[1,3]]",
    ),
    Op(
        "inv",
        ("A",),
        "the inverse of a square matrix",
        aliases=("inverse", "Inverse"),
        torch="linalg.inv",
        numpy="linalg.inv",
        kind=Kind.MATRIX,
        domain="det(A) != 0",
        caveat="the formula is by the inverse rule, d inv(A) = -inv(A) @ dA @ inv(A)",
        example="inv(A) at A=[[2,1],[1,3]]",
    ),
    Op(
        "solve",
        ("A", "b"),
        "the solution x of A @ x = b",
        "inv(A) @ b",
        torch="linalg.solve",
        kind=Kind.DEFINED,
        ranks={"A": 2},
        domain="det(A) != 0",
        example="solve(A, b) at A=[[2,1],[1,3]] b=1,2",
    ),
)

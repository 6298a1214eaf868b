"""Products of matrices, vectors and tensors.

Sources: the torch reference of each function.
"""

from __future__ import annotations

from gradcli.language.ops.row import Kind, Op
from gradcli.language.ops.signature import Constant, Constants, Operand, Shapes


def _dot(_: Constants, shapes: Shapes) -> str:
    """Write NumPy's product, which is over the last dimension of a and the last but one of b."""
    if not all(shapes):
        return "a*b"
    if len(shapes[1]) <= 2:
        return "a @ b"
    letters = "abcdefghijk"
    first, second = letters[: len(shapes[0]) - 1], letters[len(shapes[0]) : len(shapes[0]) + len(shapes[1]) - 1]
    return f"einsum('{first}z,{second[:-1]}z{second[-1]}->{first}{second}', a, b)"


PRODUCTS: tuple[Op, ...] = (
    Op(
        "matmul",
        ("a", "b"),
        "the matrix product a @ b",
        after_dot=("mm", "mv", "bmm"),
        kind=Kind.CONTRACTION,
        torch="matmul",
        adds_terms=True,
        example="A @ x",
        at={"A": "[[1,2],[3,4]]", "x": "5,6"},
    ),
    Op(
        "dot",
        ("a", "b"),
        "the inner product of two vectors",
        aliases=("vdot",),
        kind=Kind.DEFINED,
        meaning="sum(a*b)",
        torch="dot",
        adds_terms=True,
        rule_name="product rule",
        at={"a": "1,2", "b": "3,4"},
    ),
    Op(
        "cosine_similarity",
        ("x1", "x2", Constant("dim", 1)),
        "the cosine of the angle between vectors along dim, 1 by default",
        kind=Kind.DEFINED,
        meaning=(
            "sum(x1*x2, dim=dim)/(sqrt(sum((x1*ones_like(x2))**2, dim=dim))*sqrt(sum((x2*ones_like(x1))**2, dim=dim)))"
        ),
        torch_convention=(
            "a = x1*ones_like(x2); b = x2*ones_like(x1); p = a/maximum(norm(a, dim=dim, keepdim=True), "
            "1e-8); q = b/maximum(norm(b, dim=dim, keepdim=True), 1e-8); sum(p*q, dim=dim)"
        ),
        torch="nn.functional.cosine_similarity",
        domain="two vectors that are not 0",
        example="cosine_similarity(a, b, dim=0)",
        at={"a": "1,2", "b": "3,4"},
    ),
    Op(
        "outer",
        ("a", "b"),
        "the outer product of two vectors",
        kind=Kind.DEFINED,
        meaning="unsqueeze(a, 1)*unsqueeze(b, 0)",
        torch="outer",
        rule_name="product rule",
        at={"a": "1,2", "b": "3,4,5"},
    ),
    Op(
        "einsum",
        (Constant("equation"), "operands"),
        (
            "sums of products by names of dimensions, such as einsum('ij,j->i', A, x); ... are the "
            "dimensions without one"
        ),
        kind=Kind.DEFINED,
        meaning="sum of the product of the operands over the letters that are not in the result",
        torch="einsum",
        adds_terms=True,
        example="einsum('ij,j->i', A, x)",
        at={"A": "[[1,2],[3,4]]", "x": "5,6"},
    ),
    Op(
        "linear",
        ("x", "weight", Operand("bias", default=0)),
        "a fully connected layer",
        kind=Kind.DEFINED,
        meaning="x @ transpose(weight) + bias",
        example="linear(x, A, b)",
        at={"b": "3,4", "A": "[[1,2],[3,4]]", "x": "5,6"},
    ),
    Op(
        "trace",
        ("A",),
        "the sum of the diagonal of a matrix",
        aliases=("Trace",),
        kind=Kind.DEFINED,
        meaning="sum(diagonal(A))",
        torch="trace",
        of_square=True,
        adds_terms=True,
        example="trace(A @ A)",
        at={"A": "[[1,2],[3,4]]"},
    ),
)

PRODUCTS_ADDED: tuple[Op, ...] = (
    Op(
        "addmm",
        (
            "input",
            "a",
            "b",
            Operand("beta", default=1, number_only=True),
            Operand("alpha", default=1, number_only=True),
        ),
        "a matrix product added",
        kind=Kind.DEFINED,
        meaning="beta*input + alpha*(a @ b)",
        torch="addmm",
        adds_terms=True,
        example="addmm(A, A, B[0])",
        at={"A": "[[1,2],[3,4]]", "B": "[[[3,1],[4,2]]]"},
    ),
    Op(
        "addmv",
        (
            "input",
            "A",
            "x",
            Operand("beta", default=1, number_only=True),
            Operand("alpha", default=1, number_only=True),
        ),
        "the product of a matrix and a vector added",
        kind=Kind.DEFINED,
        meaning="beta*input + alpha*(A @ x)",
        torch="addmv",
        adds_terms=True,
        example="addmv(c, A, x)",
        at={"c": "1,2", "A": "[[1,2],[3,4]]", "x": "5,6"},
    ),
    Op(
        "addr",
        (
            "input",
            "a",
            "b",
            Operand("beta", default=1, number_only=True),
            Operand("alpha", default=1, number_only=True),
        ),
        "an outer product added",
        kind=Kind.DEFINED,
        meaning="beta*input + alpha*unsqueeze(a, 1)*unsqueeze(b, 0)",
        torch="addr",
        adds_terms=True,
        example="addr(A, c, x)",
        at={"c": "1,2", "A": "[[1,2],[3,4]]", "x": "5,6"},
    ),
    Op(
        "baddbmm",
        (
            "input",
            "a",
            "b",
            Operand("beta", default=1, number_only=True),
            Operand("alpha", default=1, number_only=True),
        ),
        "matrix products of a batch added",
        kind=Kind.DEFINED,
        meaning="beta*input + alpha*(a @ b)",
        torch="baddbmm",
        adds_terms=True,
        example="baddbmm(A, B, B)",
        at={"A": "[[1,2],[3,4]]", "B": "[[[3,1],[4,2]]]"},
    ),
    Op(
        "addbmm",
        (
            "input",
            "a",
            "b",
            Operand("beta", default=1, number_only=True),
            Operand("alpha", default=1, number_only=True),
        ),
        "the sum of the matrix products of a batch added",
        kind=Kind.DEFINED,
        meaning="beta*input + alpha*sum(a @ b, 0)",
        torch="addbmm",
        adds_terms=True,
        example="addbmm(A, B, B)",
        at={"A": "[[1,2],[3,4]]", "B": "[[[3,1],[4,2]]]"},
    ),
)

VECTORS_AND_TENSORS: tuple[Op, ...] = (
    Op(
        "vecdot",
        ("a", "b", Constant("dim", -1)),
        "the inner products of vectors along a dimension",
        kind=Kind.DEFINED,
        meaning="sum(a*b, dim=dim)",
        torch="linalg.vecdot",
        adds_terms=True,
        at={"a": "1,2,3", "b": "4,5,7"},
    ),
    Op(
        "cross",
        ("a", "b", Constant("dim", -1)),
        "the cross product of vectors of three numbers along a dimension",
        kind=Kind.DEFINED,
        meaning="roll(a*roll(b, -1, dim) - roll(a, -1, dim)*b, -1, dim)",
        torch="linalg.cross",
        adds_terms=True,
        at={"a": "1,2,3", "b": "4,5,7"},
    ),
    Op(
        "array_dot",
        ("a", "b"),
        "NumPy's dot: of vectors and matrices the product a @ b, of a number each element times it",
        kind=Kind.DEFINED,
        meaning="a @ b",
        written=_dot,
        adds_terms=True,
        caveat="np.dot(a, b) and a.dot(b) of NumPy's arrays; torch.dot takes vectors alone",
        example="array_dot(a, b)",
        at={"a": "1,2,3", "b": "4,5,7"},
    ),
)

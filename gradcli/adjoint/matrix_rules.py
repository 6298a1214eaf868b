"""Adjoints of products of matrices, inverses, determinants, factors, eigenvalues and exponentials.

Source: M. B. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation",
2008; I. Murray, "Differentiation of the Cholesky decomposition", 2016; N. Higham, "Functions of Matrices", 2008,
(3.16).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import sympy

from gradcli.adjoint.slopes import NoAdjointError
from gradcli.adjoint.writing import ZERO, LineWriter
from gradcli.language.lower.programs import parse_meaning
from gradcli.language.program.expansion import expand
from gradcli.language.program.wengert import Atom, Call, Program

OWN_ADJOINTS = frozenset(["cholesky", "with_eigenvalues"])
"""Operations with a definition that have an adjoint as one line, too."""

MOST_ROWS = 8
"""Most rows of a matrix whose cofactors are taken by minors."""

MOST_WORK = 2**19
"""Most multiplications for all minors."""


def multiplied(writer: LineWriter, call: Call, k: int, g: Atom) -> Atom:
    """Return the adjoint of a factor of `a @ b`, of the shape that broadcasting gives it."""
    inside = [writer.shape(a) for a in call.operands]
    a, b = call.operands
    match [len(shape) for shape in inside], k:
        case [1, 1], _:
            return writer.times(g, call.operands[1 - k])
        case ([1, 2], 0) | ([2, 1], 1):
            matrix = b if k == 0 else turned(writer, a)
            return writer.write("matmul", matrix, g)
        case ([1, 2], 1) | ([2, 1], 0):
            rows, columns = (a, g) if k == 1 else (g, b)
            return writer.times(writer.write("unsqueeze", rows, dim=1), writer.write("unsqueeze", columns, dim=0))
    batch = np.broadcast_shapes(*(shape[:-2] for shape in inside))
    rows = 1 if len(inside[0]) == 1 else inside[0][-2]
    columns = 1 if len(inside[1]) == 1 else inside[1][-1]
    wide = writer.reshape(g, (*batch, rows, columns))
    if k == 0:
        right = writer.reshape(b, (inside[1][0], 1)) if len(inside[1]) == 1 else b
        found = writer.write("matmul", wide, turned(writer, right))
        return writer.reshape(found, (*batch, *inside[0])) if len(inside[0]) == 1 else found
    left = writer.reshape(a, (1, inside[0][0])) if len(inside[0]) == 1 else a
    found = writer.write("matmul", turned(writer, left), wide)
    return writer.reshape(found, (*batch, *inside[1])) if len(inside[1]) == 1 else found


def lines_reached(writer: LineWriter, call: Call, k: int, mask: Atom) -> Atom:
    """Return how many adjoints of `a @ b` that a mask of 1 and 0 leaves come back to each row of a, or column of b."""
    inside = [writer.shape(a) for a in call.operands]
    batch = np.broadcast_shapes(*(shape[:-2] for shape in inside))
    rows = 1 if len(inside[0]) == 1 else inside[0][-2]
    columns = 1 if len(inside[1]) == 1 else inside[1][-1]
    wide = writer.reshape(mask, (*batch, rows, columns))
    inner = inside[0][-1]
    found = writer.write("sum", wide, dim=-1 if k == 0 else -2, keepdim=True)
    found = writer.expand(found, (*batch, rows, inner) if k == 0 else (*batch, inner, columns))
    return writer.reshape(found, (*batch, *inside[k])) if len(inside[k]) == 1 else found


def turned(writer: LineWriter, matrix: Atom) -> Atom:
    """Transpose matrices."""
    return writer.write("transpose", matrix, dim0=-2, dim1=-1)


def of_matrix(writer: LineWriter, call: Call, k: int, symbol: Atom, g: Atom) -> Atom:
    """Return the adjoint of operand k of a function of a matrix.

    Args:
        writer: Of the lines.
        call: The function.
        k: The number of the operand.
        symbol: Of its line.
        g: The adjoint of the result.

    Raises:
        NoAdjointError: There is no rule.
    """
    matrix = call.operands[0]
    match call.op.name:
        case "inv":
            back = turned(writer, symbol)
            return writer.write("neg", _product(writer, back, g, back))
        case "det":
            return writer.write("mul", _as_scale(writer, g), cofactors(writer, matrix, symbol))
        case "matrix_exp":
            return _of_exponential(writer, matrix, g)
        case "cholesky":
            return _of_factor(writer, symbol, g, is_upper=bool(call.statics[0]))
        case "eigvalsh":
            return writer.write("with_eigenvalues", matrix, g)
        case "with_eigenvalues":
            return _of_spectrum(writer, call, k, g)
    raise NoAdjointError(f"no adjoint of {call.op.name}")


def _product(writer: LineWriter, first: Atom, *others: Atom) -> Atom:
    """Multiply matrices from the left."""
    for other in others:
        first = writer.write("matmul", first, other)
    return first


def _as_scale(writer: LineWriter, numbers: Atom) -> Atom:
    """Give numbers, one for each matrix, two dimensions of size 1."""
    return writer.reshape(numbers, (*writer.shape(numbers), 1, 1))


def _symmetric(writer: LineWriter, matrix: Atom) -> Atom:
    """Return half the sum of a matrix and its transpose."""
    return writer.write("div", writer.plus(matrix, turned(writer, matrix)), sympy.Integer(2))


# -- determinants: Ā = g*C for the cofactors C, which are det*inv(A).T where A has an inverse


def cofactors(writer: LineWriter, matrix: Atom, determinant: Atom) -> Atom:
    """Return the cofactors of matrices: by minors, which divide by nothing, or by inverses where those are many."""
    *batch, order, _ = writer.shape(matrix)
    if order > MOST_ROWS or math.prod(batch) * order**2 * (order - 1) ** 3 > MOST_WORK:
        return writer.write("mul", _as_scale(writer, determinant), turned(writer, writer.write("inv", matrix)))
    if order < 2:
        return writer.write("ones_like", matrix)
    rest = [[n for n in range(order) if n != left] for left in range(order)]
    places = [row * order + column for i in rest for j in rest for row in i for column in j]
    flat = writer.reshape(matrix, (*batch, order * order))
    taken = writer.write("index", flat, key=("...", tuple(places)))
    minors = writer.reshape(taken, (*batch, order, order, order - 1, order - 1))
    signs = writer.inline(_signs(order), ())
    return writer.write("mul", signs, _determinants(writer, minors))


@lru_cache(maxsize=MOST_ROWS)
def _signs(order: int) -> Program:
    """Write the matrix of 1 and -1 in turn."""
    rows = ", ".join(f"[{', '.join(str((-1) ** (i + j)) for j in range(order))}]" for i in range(order))
    return expand(parse_meaning(f"[{rows}]", (), {}))


def _determinants(writer: LineWriter, matrices: Atom) -> Atom:
    """Compute determinants, of one or two rows by their elements."""
    order = writer.shape(matrices)[-1]
    if order > 2:
        return writer.write("det", matrices)
    elements = [writer.write("index", matrices, key=("...", i, j)) for i in range(order) for j in range(order)]
    if order == 1:
        return elements[0]
    a, b, c, d = elements
    return writer.write("sub", writer.write("mul", a, d), writer.write("mul", b, c))


def without_singular(writer: LineWriter, determinant: Atom, adjoint: Atom) -> Atom:
    """Return the adjoint that torch gives the matrix of a determinant: 0 where that is 0, but for that of a number."""
    if writer.shape(adjoint)[-1] < 2:
        return adjoint
    is_regular = writer.write("ne", _as_scale(writer, determinant), ZERO)
    return writer.choose(is_regular, adjoint, ZERO)


def _of_exponential(writer: LineWriter, matrix: Atom, g: Atom) -> Atom:
    """Return the upper right block of exp [[A.T, g], [0, A.T]]."""
    order, transposed = writer.shape(matrix)[-1], turned(writer, matrix)
    nothing = writer.write("zeros_like", matrix)
    top = writer.write("cat", transposed, g, dim=-1)
    block = writer.write("cat", top, writer.write("cat", nothing, transposed, dim=-1), dim=-2)
    found = writer.write("matrix_exp", block)
    last = len(writer.shape(found)) - 1
    return writer.slice(writer.slice(found, last - 1, 0, order), last, order, 2 * order)


def _of_factor(writer: LineWriter, factor: Atom, g: Atom, *, is_upper: bool) -> Atom:
    """Return sym(L^-T P L^-1) for the factor L, where P is the lower half of L.T @ L̄."""
    if is_upper:
        factor, g = turned(writer, factor), turned(writer, g)
    product = writer.write("matmul", turned(writer, factor), g)
    lower = writer.write("tril", product)
    half = writer.write("div", writer.plus(lower, writer.write("tril", product, diagonal=-1)), sympy.Integer(2))
    back = writer.write("inv", factor)
    return _symmetric(writer, _product(writer, turned(writer, back), half, back))


# -- spectra: f(A, w) = sum of w[k]*P[k] over the projections P[k] on the eigenvectors


def _of_spectrum(writer: LineWriter, call: Call, k: int, g: Atom) -> Atom:
    """Return the adjoint of the matrix or the numbers of `with_eigenvalues`.

    w̄[k] = sum(P[k]*g), and Ā = sum P[i] @ g @ P[j] * (w[i] - w[j])/(l[i] - l[j]) over all i and j that differ.
    """
    matrix, numbers = call.operands
    order = writer.shape(matrix)[-1]
    one = writer.write("eye", n=order)
    each = writer.write("unsqueeze", matrix, dim=-3)
    wide = writer.write("unsqueeze", g, dim=-3)
    projections = writer.write("with_eigenvalues", each, one)
    if k == 1:
        return writer.write("sum", writer.write("mul", projections, wide), dim=(-2, -1))
    rates = writer.formula(
        "where(one == 1, 0, (unsqueeze(w, -1) - unsqueeze(w, -2))/(where(one == 1, 1, unsqueeze(l, -1) - "
        "unsqueeze(l, -2))))",
        one=one,
        w=numbers,
        l=writer.write("eigvalsh", matrix),
    )
    others = writer.write("with_eigenvalues", each, rates)
    found = writer.write("sum", _product(writer, projections, wide, others), dim=-3)
    return _symmetric(writer, found)

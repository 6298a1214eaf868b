"""Adjoints of products of matrices, inverses, determinants, factors, eigenvalues and exponentials.

Source: M. B. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation",
2008; I. Murray, "Differentiation of the Cholesky decomposition", 2016; N. Higham, "Functions of Matrices", 2008,
(3.16).
"""

from __future__ import annotations

import numpy as np

from gradcli.adjoint.slopes import NoAdjointError
from gradcli.adjoint.writing import LineWriter
from gradcli.language.program.wengert import Atom, Call


def multiplied(writer: LineWriter, call: Call, k: int, g: Atom) -> Atom:
    """Return the adjoint of a factor of `a @ b`, of the shape that broadcasting gives it."""
    inside = [writer.shape(a) for a in call.operands]
    a, b = call.operands
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


def turned(writer: LineWriter, matrix: Atom) -> Atom:
    """Transpose matrices."""
    return writer.write("transpose", matrix, dim0=-2, dim1=-1)


def of_matrix(writer: LineWriter, call: Call, symbol: Atom, g: Atom) -> Atom:
    """Return the adjoint of the matrix of an inverse, a determinant, a factor, eigenvalues or an exponential."""
    (matrix,) = call.operands
    match call.op.name:
        case "inv":
            back = turned(writer, symbol)
            return writer.write("neg", writer.write("matmul", writer.write("matmul", back, g), back))
        case "det":
            back = turned(writer, writer.write("inv", matrix))
            scale = writer.write("mul", g, symbol)
            shape = writer.shape(matrix)
            scale = writer.reshape(scale, (*shape[:-2], 1, 1))
            return writer.write("mul", scale, back)
        case "matrix_exp":
            order, transposed = writer.shape(matrix)[-1], turned(writer, matrix)
            nothing = writer.write("zeros_like", matrix)
            top = writer.write("cat", transposed, g, dim=-1)
            block = writer.write("cat", top, writer.write("cat", nothing, transposed, dim=-1), dim=-2)
            found = writer.write("matrix_exp", block)
            last = len(writer.shape(found)) - 1
            return writer.slice(writer.slice(found, last - 1, 0, order), last, order, 2 * order)
    raise NoAdjointError(f"no adjoint of {call.op.name}")

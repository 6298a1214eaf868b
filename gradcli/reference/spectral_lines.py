"""Slopes of eigenvalues and of matrix exponentials as lines of the language, for derivatives of derivatives.

    exponential    along dA the upper right block of exp([[A, dA], [0, A]])
    eigenvalues    along dA the sum of P_k * dA, with P_k the product of (A - λ_j)/(λ_k - λ_j) over all j but k, A being
                   the symmetric part

Source: N. Higham, "Functions of Matrices", 2008, (3.16) and (1.9).
"""

from __future__ import annotations

import sympy

from gradcli.language.program.movement import Slice
from gradcli.language.program.wengert import Atom, Line
from gradcli.reference.program_writer import NoTangentError, Writer

MOST_EIGENVALUES = 24
"""Eigenvalues whose projections are written out, each a product with one factor for every other one."""


def spectral_tangent(writer: Writer, line: Line, moved: Atom) -> Atom:
    """What eigenvalues or an exponential do when their matrix moves.

    Raises:
        NoTangentError: There are more than `MOST_EIGENVALUES`.
    """
    matrix = line.call.operands[0]
    if line.call.op.keeps_shape:
        return _exponential_along(writer, line.call.op.name, matrix, moved)
    *batch, order, _ = writer.shape(matrix)
    spread = writer.add("reshape", writer.stretched(moved, writer.shape(matrix)), (*batch, 1, order, order))
    return writer.add("sum", writer.add("mul", _projections(writer, matrix, line.symbol), spread), (-2, -1), False)


def _exponential_along(writer: Writer, name: str, matrix: Atom, moved: Atom) -> Atom:
    shape = writer.shape(matrix)
    order = shape[-1]
    upper = writer.add("cat", matrix, writer.stretched(moved, shape), -1)
    lower = writer.add("cat", writer.add("zeros", shape), matrix, -1)
    whole = writer.add(name, writer.add("cat", upper, lower, -2))
    return writer.add("index", whole, ("...", Slice(0, order), Slice(order, 2 * order)))


def _projections(writer: Writer, matrix: Atom, eigenvalues: Atom) -> Atom:
    """Those on the eigenvectors, one after the other along a new third last dimension."""
    *batch, order, _ = writer.shape(matrix)
    if order > MOST_EIGENVALUES:
        raise NoTangentError(f"the derivative of more than {MOST_EIGENVALUES} eigenvalues is not written out")
    one = writer.add("eye", order, order)
    doubled = writer.add("add", matrix, writer.add("transpose", matrix, -2, -1))
    symmetric = writer.add("div", doubled, sympy.Integer(2))
    symmetric = writer.add("reshape", symmetric, (*batch, 1, order, order))
    found = writer.stretched(one, (*batch, order, order, order))
    for n in range(1, order):
        other = writer.add("roll", eigenvalues, n, -1)
        gap = writer.add("reshape", writer.add("sub", eigenvalues, other), (*batch, order, 1, 1))
        shifted = writer.add("mul", writer.add("reshape", other, (*batch, order, 1, 1)), one)
        factor = writer.add("div", writer.add("sub", symmetric, shifted), gap)
        found = writer.add("matmul", found, factor)
    return found

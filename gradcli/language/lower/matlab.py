"""MATLAB's marks, `A'`, `.*`, `./` and `.^`: where one of them stands, `*` of matrices is the matrix product.

A vector is a column there, and its transpose a matrix of one row.  What is a matrix is known once shapes are: until
then a text is read as if all were numbers, and asks to be read again.  `^` alone is no mark; it is the power here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping

from gradcli.language.lower.scope import Lines, Operand
from gradcli.language.lower.sizes import Sizes
from gradcli.language.program.wengert import Atom, Program, Shape, show
from gradcli.language.text.nodes import Transposed
from gradcli.language.text.source import Source
from gradcli.language.text.tokens import MARKS, Token

REMARK = "', .*, ./ and .^ are MATLAB's: where one of them stands, * is the matrix product and a vector is a column"


def is_matlab(source: Source) -> bool:
    """Whether one of MATLAB's marks is in a text."""
    return any(token.kind == "operator" and token.text in MARKS for token in source.tokens)


class Matlab:
    """Reads operators as MATLAB does, in a text with one of its marks."""

    def __init__(self, lines: Lines, sizes: Sizes) -> None:
        self.lines, self.source, self.scope = lines, lines.source, lines.scope
        self.sizes = sizes

    def binary(self, sign: Token, op: str, left: Operand, right: Operand) -> Operand:
        """An operation between two operands; `sign` is its token, or what stands behind an implicit product."""
        if op in ("matmul", "logical_and", "logical_or"):
            return self.lines.joined(op, left, right)
        a, b = self.sizes.of(left[0]), self.sizes.of(right[0])
        if a is None or b is None:
            self.scope.needs_shapes = True
            return self.lines.joined(op, left, right)
        is_by_elements = sign.text in MARKS or self.source.text[sign.span.start - 1] == "."  # the point of 2.*x
        if op == "mul" and not is_by_elements and min(math.prod(a), math.prod(b)) > 1:
            return self._product(left, right, a, b)
        if not is_by_elements and (
            (op == "div" and math.prod(b) > 1) or (sign.text == "^" and math.prod(a) * math.prod(b) > 1)
        ):
            hint = f"write .{sign.text} for each element; inv(A) is the inverse, and A*A the square of a matrix"
            raise self.source.error(f"'{sign.text}' of matrices is not read", sign.span, hint=hint)
        return self.lines.joined(op, self._column(left, a, b), self._column(right, b, a))

    def transposed(self, operand: Operand, mark: Transposed) -> Operand:
        """`x'`: a vector becomes a row."""
        span, shape = operand[1].to(mark.span), self.sizes.of(operand[0])
        if shape is None:
            self.scope.needs_shapes = True
        if shape == () or self.source.text.rstrip().endswith(")'"):
            self.scope.remark("' transposes, as in MATLAB; for the derivative leave it out, gradcli differentiates")
        if shape is not None and len(shape) < 2:
            return self.lines.emit("unsqueeze", [operand[0]], span, (0,)) if shape else (operand[0], span)
        return self.lines.emit("transpose", [operand[0]], span, (None, None))

    def _product(self, left: Operand, right: Operand, a: Shape, b: Shape) -> Operand:
        """The matrix product; of a column and a row, all products of their elements."""
        if len(a) == 1 and (len(b) != 2 or b[0] != 1):
            hint = "write x'*y for the inner product, x.*y for the product of each two elements"
            message = f"'*' of a column and of shape {show(b)} is no matrix product"
            raise self.source.error(message, left[1].to(right[1]), hint=hint)
        self._remark()
        return self.lines.joined("matmul", self._column(left, a, b), right)

    def _column(self, operand: Operand, shape: Shape, other: Shape) -> Operand:
        """A vector beside a matrix as a matrix of one column; one number beside a vector as a number."""
        if len(shape) == 1 and len(other) == 2 and math.prod(shape) > 1:
            self._remark()
            return self.lines.emit("unsqueeze", [operand[0]], operand[1], (1,))
        if len(shape) == 2 and len(other) == 1 and math.prod(shape) == 1:
            return self.lines.emit("reshape", [operand[0]], operand[1], ((),))
        return operand

    def _remark(self) -> None:
        """Say how a product or a vector is read, once."""
        self.scope.remark(REMARK)


_PLAIN = re.compile(r"(?:[^\W\d]\w*|[)\]])\.[^\W\d]|[\u03a3\u03a0\u03b4\u2211\u220f]|\.\.|KroneckerDelta")
"""A module's name or a method, as nobody writes them on paper, and sums over indices, whose products are of numbers."""


def remarks(program: Program, shapes: Mapping[Atom, Shape]) -> Iterator[str]:
    """That `*` stretches a vector over a matrix, which many write for the matrix product; not where that is plain.

    Args:
        program: The function.
        shapes: Of every symbol.
    """
    for line in () if _PLAIN.search(program.text) else program.lines:
        pair = sorted((shapes.get(a, ()) for a in line.call.operands), key=len) if line.call.op.name == "mul" else []
        if len(pair) == 2 and (len(pair[0]), len(pair[1])) == (1, 2) and min(*pair[0], *pair[1]) > 1:
            yield (
                f"* in {program.excerpt(line)} multiplies each row of the matrix by the vector, element by element; "
                "the matrix product is @"
            )
            return

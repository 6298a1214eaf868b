"""Functions that the notation of matrices calls otherwise: `tr(A)`, `norm2(x)`, `MatrixSymbol("A", n, n)`.

Sources: the functions of matrixcalculus.org, of SymPy's `matrices.expressions`, and of mathematics on paper.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

import sympy

from gradcli.errors import Span
from gradcli.language.lower.arguments import by_name
from gradcli.language.lower.constants import inline_text, integer
from gradcli.language.lower.context import Context, Operand, lower
from gradcli.language.lower.lines import emit, require_tensor
from gradcli.language.lower.matrix_notation import combined, transposed
from gradcli.language.lower.sizeless import constant_tensor
from gradcli.language.text.nodes import Arguments, NumberNode, TransposeMark, Word, name_alone
from gradcli.language.text.tokens import JUXTAPOSED, Token

_MEANINGS: Mapping[str, str] = {
    "norm1": "norm(x, 1)",
    "norm2": "norm(x)",
    "normF": "norm(x)",
    "vec": "flatten(transpose(x))",
}
"""Functions of one tensor, in the language."""

_PRODUCTS: Mapping[str, str] = {
    "MatMul": JUXTAPOSED,
    "MatAdd": "+",
    "HadamardProduct": ".*",
    "hadamard_product": ".*",
    "KroneckerProduct": "⊗",
    "kronecker_product": "⊗",
}
"""Signs of the operations that SymPy calls as functions of their operands."""

CALLS = frozenset(["tr", "Tr", "vector", "matrix", "Transpose", "Identity", "MatrixSymbol", *_MEANINGS, *_PRODUCTS])
"""Names that are functions where they are called, and variables elsewhere."""


def called(context: Context, name: Token, span: Span, arguments: Arguments) -> Operand:
    """Lower a call of one of these functions; `span` is of its name."""
    whole = span.to(arguments.span)
    if name.text in _PRODUCTS:
        operands = [lower(context, one.value) for one in arguments.items]
        if not operands:
            raise context.source.error(f"{name.text} takes operands", whole)
        found = reduce(lambda left, right: combined(context, _PRODUCTS[name.text], left, right), operands)
        return found if len(operands) > 1 else (found[0], whole)
    match name.text:
        case "Identity":
            size = by_name(context, arguments, ["n"], name.text, lambda _, one: integer(context, one.value))["n"]
            return emit(context, "eye", [], whole, (size, None))
        case "MatrixSymbol":
            return _symbol(context, arguments, whole), whole
        case "vector" | "matrix":
            return constant_tensor(context, name.text, by_name(context, arguments, ["c"], name.text)["c"], whole)
    operand = by_name(context, arguments, ["x"], name.text)["x"]
    if name.text == "Transpose":
        return transposed(context, (operand[0], whole), TransposeMark(whole))
    atom = require_tensor(context, *operand)
    if name.text in ("tr", "Tr"):
        return emit(context, "trace", [atom], whole)
    return inline_text(context, _MEANINGS[name.text], {"x": atom}, whole), whole


def _symbol(context: Context, arguments: Arguments, span: Span) -> sympy.Symbol:
    """Return the variable of `MatrixSymbol("A", n, m)`, whose sizes are known where they are numbers."""
    values = [one.value for one in arguments.items]
    word = values[0] if values else None
    if not isinstance(word, Word) or word.token.kind != "string" or not word.token.text.isidentifier():
        raise context.source.error("a matrix of SymPy has a name", span, hint='write MatrixSymbol("A", n, n)')
    name, sizes = word.token.text, values[1:]
    if len(sizes) != 2 or not all(isinstance(size, NumberNode) or name_alone(size) for size in sizes):
        raise context.source.error("a matrix of SymPy has two sizes", span, hint=f'write MatrixSymbol("{name}", n, n)')
    if all(isinstance(size, NumberNode) for size in sizes):
        context.findings.shapes.setdefault(name, (integer(context, sizes[0]), integer(context, sizes[1])))
    return context.findings.variable(name)

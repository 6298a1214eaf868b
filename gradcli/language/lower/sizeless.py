"""Constants whose size is that of another operand: the identity matrix `I`, and vectors and matrices of ones.

They are placeholders until an operation tells their size; an operation that does not is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import sympy

from gradcli.errors import GradcliError, Span
from gradcli.language import ops
from gradcli.language.lower.constants import inline_text
from gradcli.language.lower.context import Context, Operand
from gradcli.language.lower.lines import emit, require_tensor
from gradcli.language.lower.matrix_ranks import RowVector, likely_rank
from gradcli.language.lower.sizes import needed_shape
from gradcli.language.program.wengert import Atom
from gradcli.language.text.source import SourceText
from gradcli.language.text.tokens import JUXTAPOSED
from gradcli.option_words import option

ONE = sympy.Integer(1)

EYE = "diag(ones_like(A[0]))"
"""Identity matrix of the size of A."""


@dataclass(frozen=True)
class Sizeless:
    """Constant tensor whose size is that of another operand: a multiple of `I`, or of ones.

    Attributes:
        kind: What it is: the identity, a vector of ones, such a vector transposed, or a matrix of ones.
        factor: The number times which it is.
        shown: The constant as typed.
    """

    kind: str
    factor: Atom
    shown: str

    def refusal(self, source: SourceText, span: Span) -> GradcliError:
        """Make the error of a computation with it that does not tell its size."""
        names = {"identity": "an identity matrix", "matrix": "a matrix of ones"}
        hint = {"identity": "write eye(3), with its size"}.get(self.kind, "write ones(3), with its size")
        if self.shown.isidentifier():
            hint += f"; or {option('at', f'{self.shown}=VALUE')} for a variable of that name"
        message = f"'{self.shown}' is {names.get(self.kind, 'a vector of ones')} here, and nothing tells its size"
        return source.error(message, span, hint=hint)


IDENTITIES = ("I", "eye")
"""Names of the identity matrix, on paper and at matrixcalculus.org."""


def is_identity(context: Context, name: str) -> bool:
    """Tell whether one of these names has no value, in a text of matrices."""
    if context.known.is_value or context.is_taken(name) or name in context.known.shapes:
        return False
    return context.is_of_matrices or (bool(context.known.shapes) and name == "I")


def identity(context: Context, span: Span) -> Operand:
    """Make the identity matrix, of any size."""
    return place(context, Sizeless("identity", ONE, context.source.excerpt(span)), span)


def constant_tensor(context: Context, name: str, factor: Operand, span: Span) -> Operand:
    """Make `vector(1)` or `matrix(1)`, of any size."""
    return place(context, Sizeless(name, factor[0], context.source.single_line(span)), span)


def sizeless_of(context: Context, atom: Atom) -> Sizeless | None:
    """Return the constant without a size that a value stands for, if it does."""
    held = context.findings.objects.get(atom) if context.findings.objects else None
    return held if isinstance(held, Sizeless) else None


def negative(context: Context, operand: Operand, span: Span) -> Operand | None:
    """Lower the negative of a row or of a constant without a size; None of anything else."""
    if (held := sizeless_of(context, operand[0])) is not None:
        return place(context, replace(held, factor=emit(context, "neg", [held.factor], span)[0]), span)
    return RowVector(*emit(context, "neg", [operand[0]], span)) if isinstance(operand, RowVector) else None


def place(context: Context, held: Sizeless, span: Span) -> Operand:
    """Return the operand that stands for such a constant."""
    return context.findings.placeholder(held, held.kind), span


def of_sizeless(context: Context, sign: str, left: Operand, right: Operand) -> Operand | None:
    """Lower an operation with a constant without a size; None where neither operand is one."""
    held, other = (sizeless_of(context, operand[0]) for operand in (left, right))
    if held is None and other is None:
        return None
    span = left[1].to(right[1])
    is_product = sign in (JUXTAPOSED, "*", "@", ".*", "×")
    if held is not None and other is not None:
        found = _of_two(context, sign, held, other, span, is_product=is_product)
        if found is None:
            raise held.refusal(context.source, left[1])
        return found
    constant, tensor, is_first = (held, right, True) if held is not None else (other, left, False)
    assert constant is not None  # noqa: S101 - one of them is
    atom = require_tensor(context, *tensor)
    shape = needed_shape(context, atom)
    if shape is None:
        dimensions = likely_rank(context, atom)
        is_scale = is_product and constant.kind == "identity" and not is_first  # as c in c I
        dimensions *= not (is_scale and dimensions < 2 and not isinstance(tensor, RowVector))
    else:
        dimensions = len(shape)
    result: Operand | None = None
    if dimensions == 0 and is_product:
        result = place(context, replace(constant, factor=_times(context, constant.factor, atom, span)), span)
    elif dimensions == 0 and sign == "/" and is_first:
        result = place(context, replace(constant, factor=emit(context, "div", [constant.factor, atom], span)[0]), span)
    elif sign in ("+", "-") and (dimensions or shape is None):
        result = _added(context, sign, constant, tensor, span, is_first=is_first)
    elif is_product:
        result = _multiplied(context, sign, constant, tensor, span, dimensions, is_first=is_first)
    if result is None:
        raise constant.refusal(context.source, (left if is_first else right)[1])
    return result


def _times(context: Context, factor: Atom, atom: Atom, span: Span) -> Atom:
    return atom if factor == ONE else emit(context, "mul", [factor, atom], span)[0]


def _of_two(
    context: Context, sign: str, held: Sizeless, other: Sizeless, span: Span, *, is_product: bool
) -> Operand | None:
    """Lower a sum of two such constants of one kind, or a product with the identity."""
    if sign in ("+", "-") and held.kind == other.kind:
        factor = emit(context, ops.SIGNS[sign], [held.factor, other.factor], span)[0]
        return place(context, replace(held, factor=factor), span)
    if not is_product or "identity" not in (held.kind, other.kind):
        is_outer = is_product and (held.kind, other.kind) == ("vector", "row")
        factor = _times(context, held.factor, other.factor, span)
        return place(context, Sizeless("matrix", factor, held.shown), span) if is_outer else None
    kept = other if held.kind == "identity" else held
    return place(context, replace(kept, factor=_times(context, held.factor, other.factor, span)), span)


def _added(context: Context, sign: str, constant: Sizeless, tensor: Operand, span: Span, *, is_first: bool) -> Operand:
    """Lower a sum of such a constant and a tensor, which tells its size."""
    atom = require_tensor(context, *tensor)
    value = constant.factor
    if constant.kind == "identity":
        shape = needed_shape(context, atom)
        if shape is not None and (len(shape) != 2 or shape[0] != shape[1]):
            message = f"{constant.shown} is an identity matrix, and the other operand has shape {shape}"
            hint = f"write 1 for a number; or {option('at', f'{constant.shown}=VALUE')} for a variable of that name"
            raise context.source.error(message, span, hint=hint)
        value = _times(context, value, inline_text(context, EYE, {"A": atom}, span), span)
    operands = [value, atom] if is_first else [atom, value]
    found = emit(context, ops.SIGNS[sign], operands, span)
    return RowVector(*found) if isinstance(tensor, RowVector) else found


def _multiplied(
    context: Context, sign: str, constant: Sizeless, tensor: Operand, span: Span, dimensions: int, *, is_first: bool
) -> Operand | None:
    """Lower a product of such a constant and a tensor; None where nothing tells its size."""
    atom, factor, kind = require_tensor(context, *tensor), constant.factor, constant.kind
    if sign == ".*" and kind == "identity":
        factor = _times(context, factor, inline_text(context, EYE, {"A": atom}, span), span)
        return emit(context, "mul", [atom, factor], span)
    is_row, is_vector = isinstance(tensor, RowVector), dimensions == 1 and not isinstance(tensor, RowVector)
    is_kept = sign == ".*" or kind == "identity" or (kind == "vector" and is_vector)
    if is_kept and dimensions in (1, 2):
        kept = _times(context, factor, atom, span), span
        return RowVector(*kept) if is_row else kept
    if kind == "row" and is_first and (dimensions == 2 or is_vector):
        total = emit(context, "sum", [atom], span, (None if dimensions == 1 else 0, False))[0]
        scaled = _times(context, factor, total, span), span
        return RowVector(*scaled) if dimensions == 2 else scaled
    if kind == "vector" and not is_first and (dimensions == 2 or is_row):
        total = emit(context, "sum", [atom], span, (None if dimensions == 1 else -1, False))[0]
        return _times(context, factor, total, span), span
    return None

"""Matrices as they are written: products of factors side by side, transposes, inverses, norms, and what has no size.

Shapes tell what a product is: of a number with anything elementwise, of matrices and vectors that of matrices, of a
transposed vector with a vector the inner product, and the other way round the outer one.  In a text with a mark of this
notation, such as `A'`, that holds of `*` too.  A transposed vector is a tensor like the vector: only its operand, a
`RowVector`, knows that it is a row.  While shapes are not known a likely product stands for the result, and the text is
read again when they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

import sympy

from gradcli.errors import Span, TooLargeError
from gradcli.language import ops
from gradcli.language.lower.arguments import Bindings
from gradcli.language.lower.constants import inline_text
from gradcli.language.lower.context import Context, Operand, lower
from gradcli.language.lower.inlining import inlined_call
from gradcli.language.lower.lines import emit, emit_two, require_tensor
from gradcli.language.lower.matrix_ranks import (
    ArrayRow,
    RowVector,
    is_likely_number,
    is_number_called_as_vector,
    rank,
    shapes_of,
)
from gradcli.language.lower.sizeless import EYE, ONE, Sizeless, of_sizeless, place, sizeless_of
from gradcli.language.lower.sizes import needed_shape
from gradcli.language.program.wengert import Atom
from gradcli.language.text import hints, nodes
from gradcli.language.text.tokens import JUXTAPOSED
from gradcli.option_words import Words, method, option

ELEMENTWISE: Mapping[str, str] = {".*": "mul", "./": "div", ".^": "pow"}
"""Operations of the signs that are always element by element."""

MOST_FACTORS = 1_024
"""Largest exponent of a matrix."""

_BY_ELEMENT = ".*, ./ and .^ are element by element"

# -- operators


def combined(context: Context, sign: str, left: Operand, right: Operand) -> Operand:
    """Lower an operator between two operands of a text in the notation of matrices, or one that only it has."""
    if context.known.is_meaning:
        return emit_two(context, ops.SIGNS.get(sign, "mul"), left, right)
    if (found := of_sizeless(context, sign, left, right)) is not None:
        return found
    if sign in _PRODUCTS:
        return _PRODUCTS[sign](context, left, right)
    if sign == "*" and context.is_of_matrices:
        return _product(context, left, right, "*")
    is_row = isinstance(right, RowVector) and not isinstance(right, ArrayRow)
    if sign == "@" and is_row and not _is_row(left) and rank(context, left[0]) == 1:
        return emit_two(context, "outer", left, right)
    op = ELEMENTWISE.get(sign) or ops.SIGNS[sign]
    if sign == "/" and rank(context, right[0]) == 2 and not context.findings.needs_shapes:
        said = f"/ in {_excerpt(context, left, right)} divides element by element"
        context.findings.warnings.append(f"{said}; A inv(B) is the product with the inverse")
    if sign in ELEMENTWISE:
        context.findings.doubtful_numbers += sum(is_number_called_as_vector(context, atom) for atom, _ in (left, right))
    if op in ("add", "sub", "mul", "div", "pow"):
        return _elementwise(context, op, left, right)
    return emit_two(context, op, left, right)


def _is_row(operand: Operand) -> bool:
    return isinstance(operand, RowVector)


def _excerpt(context: Context, left: Operand, right: Operand) -> str:
    shown = context.source.single_line(left[1].to(right[1]))
    return shown if len(shown) <= 40 else f"{shown[:37]}..."


def _elementwise(context: Context, op: str, left: Operand, right: Operand) -> Operand:
    """Lower an operation on elements; of rows with rows, or with numbers, the result is a row."""
    result = emit_two(context, op, left, right)
    rows = [operand for operand in (left, right) if isinstance(operand, RowVector)]
    if not rows or any(isinstance(row, ArrayRow) for row in rows):
        return result
    ranks = [rank(context, operand[0]) for operand in (left, right)]
    if len(rows) == 1 and ranks == [1, 1] and not context.findings.needs_shapes:
        message = f"{_excerpt(context, left, right)} is of a row and a column"
        raise context.source.error(message, result[1], hint="transpose both or neither")
    return RowVector(*result) if max(ranks) <= 1 else result


def _product(context: Context, left: Operand, right: Operand, sign: str = JUXTAPOSED) -> Operand:
    """Lower a product of matrices, vectors and numbers, by their shapes."""
    a, b = (require_tensor(context, *operand) for operand in (left, right))
    span = left[1].to(right[1])
    rows = _is_row(left), _is_row(right)
    ranks = (0, 0) if a.is_number or b.is_number else (rank(context, a), rank(context, b))
    if sign == JUXTAPOSED and context.is_of_numbers:
        _require_clear_quotient(context, left, right)
    if a.is_number or b.is_number or 0 in ranks or max(ranks) > 2 or _is_single(context, a, b, ranks):
        scaled = emit_two(context, "mul", left, right)
        return RowVector(*scaled) if any(rows) and max(ranks) <= 1 else scaled
    is_group = context.source.excerpt(left[1]).startswith("(") and not context.is_of_matrices
    if is_group and shapes_of(context, a, b) is None:  # as (V + 1)(R + 2) may be of numbers
        return emit_two(context, "mul", left, right)
    if sign == JUXTAPOSED:
        _require_clear_quotient(context, left, right)
    misfit = _misfit(context, left, right, ranks)
    if misfit is not None and not context.findings.needs_shapes:
        raise context.source.error(f"{_excerpt(context, left, right)} is {misfit.what}", span, hint=misfit.hint)
    if misfit is not None:  # of a likely shape, which may be another
        return emit_two(context, "mul", left, right)
    if ranks == (1, 1) and rows == (False, False):
        if sign == JUXTAPOSED and not context.findings.needs_shapes:
            shown = _excerpt(context, left, right)
            said = f"{shown} of two vectors is element by element; the inner product is x^T y, or <x, y>"
            context.findings.warnings.append(said)
        return emit_two(context, "mul", left, right)
    if sign == "*":
        note_matrices(context)
    if ranks == (1, 1) and rows == (False, True):
        is_number = shapes_of(context, a) is None and is_likely_number(a)
        return emit_two(context, "mul" if is_number else "outer", left, right)
    found = emit_two(context, "matmul", left, right)
    return RowVector(*found) if ranks == (1, 2) else found


def note_matrices(context: Context) -> None:
    """Remark that the signs of a text are read as of matrices."""
    if not context.findings.needs_shapes:
        mark = context.source.matrix_mark
        why = f", as it has {mark}{'...)' * mark.endswith('(')}" if mark else ""
        said = f"* and ^ are those of matrices in this text{why}: {_BY_ELEMENT}"
        context.findings.warnings.append(Words(f"{said}{_of_numbers(context)}"))


def _of_numbers(context: Context) -> str:
    """Say what makes numbers of capital letters in LaTeX, which alone makes no matrices; nothing of any other text."""
    matrices = [name for name, shape in context.findings.shapes.items() if len(shape) == 2 and name[:1].isupper()]
    if context.source.has_sign_of_matrices or context.known.values is not None or not matrices:
        return ""
    return f"; {option('shape', *(f'{name}=()' for name in matrices))} makes them numbers"


def _require_clear_quotient(context: Context, left: Operand, right: Operand) -> None:
    """Refuse `x^T A x / x^T x` and `h/k_B T`: what follows the vector or the number that divides may belong to it.

    Raises:
        LanguageError: Both readings are shown.
    """
    lines = {line.symbol: line.call for line in context.builder.lines[-1:]}
    call = lines.get(left[0]) if isinstance(left[0], sympy.Symbol) else None
    if call is None or call.op.name != "div" or call.operands[1].is_number:
        return
    is_unknown = context.is_of_numbers and not context.known.shapes  # and k_B T may divide in h/k_B T
    if rank(context, call.operands[1]) == 0 and not is_unknown:
        return
    whole, factor = context.source.excerpt(left[1]).strip(), context.source.excerpt(right[1]).strip()
    above, slash, below = whole.rpartition("/")
    if slash and not whole.endswith(")") and "(" not in below:
        first, second = f"({above.strip()})/({below.strip()} {factor})", f"(({above.strip()})/{below.strip()}) {factor}"
        message = f"what divides may be {below.strip()}, or {below.strip()} {factor}"
        raise context.source.error(message, left[1].to(right[1]), hint=f"write {first}, or {second}")


def _is_single(context: Context, a: Atom, b: Atom, ranks: tuple[int, int]) -> bool:
    """Tell whether one factor has a single element, and is a number where the sizes do not fit."""
    shapes = shapes_of(context, a, b)
    if shapes is None or all(any(size != 1 for size in shape) for shape in shapes):
        return False
    return shapes[0][-1] != shapes[1][0] or ranks == (1, 2)


class _NoProduct(NamedTuple):
    """What a product is of that does not exist, and what to write."""

    what: str
    hint: str


def _misfit(context: Context, left: Operand, right: Operand, ranks: tuple[int, int]) -> _NoProduct | None:
    """Say why a column cannot stand before a matrix, or a row after one, with what to write."""
    first, second = (f"({context.source.single_line(operand[1])})" for operand in (left, right))
    is_row = _is_row(left), _is_row(right)
    by_elements = f"or {first} .* {second}"
    if ranks == (1, 2) and not is_row[0]:
        return _NoProduct("of a column and a matrix", f"write {first}' {second} for the row, {by_elements}")
    if ranks == (2, 1) and is_row[1]:
        return _NoProduct("of a matrix and a row", f"write {first} {second}' for the column, {by_elements}")
    if ranks == (1, 1) and all(is_row):
        return _NoProduct("of two rows", f"write {first} {second}' for the inner product, {by_elements}")
    return None


def _cross(context: Context, left: Operand, right: Operand) -> Operand:
    """Lower `a × b`: the cross product of two vectors of three numbers, or a product with a number."""
    a, b = (require_tensor(context, *operand) for operand in (left, right))
    span = left[1].to(right[1])
    if a.is_number or b.is_number or 0 in (rank(context, a), rank(context, b)):
        return emit_two(context, "mul", left, right)
    shapes = shapes_of(context, a, b)
    if shapes is None:
        return emit_two(context, "mul", left, right)
    if shapes == [(3,), (3,)]:
        return emit(context, "cross", [a, b], span, (-1,))
    message = "× is the cross product of two vectors of three numbers, or of a number and anything"
    hint = "write .* for a product of elements, A B for one of matrices"
    raise context.source.error(f"{message}, and the shapes are {shapes[0]} and {shapes[1]}", span, hint=hint)


def _kronecker(context: Context, left: Operand, right: Operand) -> Operand:
    """Lower `A ⊗ B`, of vectors and matrices."""
    span = left[1].to(right[1])
    if left[0].is_number or right[0].is_number:
        return emit_two(context, "mul", left, right)
    ranks = rank(context, left[0]), rank(context, right[0])
    if 0 in ranks:
        return emit_two(context, "mul", left, right)
    if ranks == (1, 1) and not context.findings.needs_shapes:
        shown = _excerpt(context, left, right)
        context.findings.warnings.append(f"{shown} of two vectors is a vector; the outer product is x y^T")
    return _asked(context, "kron", {"a": left, "b": right}, span)


def _asked(context: Context, op: str, operands: Mapping[str, Operand], span: Span, **statics: object) -> Operand:
    """Lower a call of a function that torch is asked for."""
    row = ops.TABLE[op]
    bound = Bindings(
        row, "", False, [], {name: (a, s) for name, (a, s) in operands.items()}, {**row.statics, **statics}
    )
    return inlined_call(context, bound, span)


def _divided(context: Context, left: Operand, right: Operand) -> Operand:
    r"""Lower `A \ b`, the solution x of A x = b."""
    span = left[1].to(right[1])
    if left[0].is_number or rank(context, left[0]) == 0:
        return emit(context, "div", [right[0], left[0]], span)
    shape = needed_shape(context, left[0])
    if shape is not None and (len(shape) != 2 or shape[0] != shape[1]):
        hint = f"pinv({context.source.single_line(left[1])}) @ ... is the solution of least squares"
        raise context.source.error(f"\\ divides by a square matrix, and the shape is {shape}", left[1], hint=hint)
    return emit_two(context, "solve", left, right)


_PRODUCTS: Mapping[str, Callable[[Context, Operand, Operand], Operand]] = {
    JUXTAPOSED: _product,
    "×": _cross,
    "⊗": _kronecker,
    "\\": _divided,
}
"""Products by their signs."""


# -- transposes, powers and signs


def transposed(context: Context, operand: Operand, mark: nodes.TransposeMark) -> Operand:
    """Lower `x'`."""
    name = context.source.excerpt(operand[1])
    is_called = context.source.text.startswith("(", mark.span.stop)
    is_free = name not in {*context.known.variables, *context.names.values}
    if is_called and ((name in ("f", "g", "h") and is_free) or name.endswith("'")):
        raise context.source.error(f"{name}' is a derivative, or {name} transposed", mark.span, hint=hints.ITSELF)
    return _transposed(context, operand, operand[1].to(mark.span))


def _transposed(context: Context, operand: Operand, span: Span) -> Operand:
    atom = operand[0]
    if (held := sizeless_of(context, atom)) is not None:
        turned = {"vector": "row", "row": "vector"}.get(held.kind, held.kind)
        return place(context, replace(held, kind=turned), span)
    if atom == ONE:
        return place(context, Sizeless("row", ONE, context.source.single_line(span)), span)
    atom = require_tensor(context, *operand)
    if isinstance(operand, RowVector) or atom.is_number:
        return atom, span
    match rank(context, atom):
        case 0:
            context.findings.doubtful_numbers += 1
            if not context.findings.needs_shapes:
                shown = context.source.single_line(span)
                if shown.endswith("''"):
                    message = f"{shown} is a second derivative on paper, and a number transposed twice here"
                    raise context.source.error(message, span, hint=f"{method('hessian')} has second derivatives")
                if shown.endswith("'") and context.source.name != "EXPR":  # whose remarks nobody sees
                    message = f"{shown} is a derivative on paper, and a number transposed here"
                    hint = "write the formula of the derivative, without a mark, or the number alone"
                    raise context.source.error(message, span, hint=hint)
                why = "gradcli differentiates without a mark"
                why = "a value by the name T makes it a power" if shown.endswith("T") else why
                context.findings.warnings.append(f"{shown} is a number transposed, which is itself; {why}")
            return atom, span
        case 1:
            return RowVector(atom, span)
        case 2:
            return emit(context, "transpose", [atom], span, (None, None))
    return emit(context, "transpose", [atom], span, (-2, -1))


def power(context: Context, node: nodes.Power) -> Operand:
    """Lower a power; of a square matrix, in the notation of matrices, and its inverse."""
    sign = node.sign.text
    turns = _exponent_t(node.exponent) if sign == "^" else None
    if turns is not None and not context.is_taken("T") and not context.source.names_t:
        base = lower(context, node.base)
        if turns == "-":
            base = _inverse(context, base, base[1].to(node.exponent.span))
        return _transposed(context, base, node.base.span.to(node.span))
    base, exponent = lower(context, node.base), lower(context, node.exponent)
    span = base[1].to(exponent[1])
    if context.known.is_meaning or sign == ".^" or not isinstance(exponent[0], sympy.Rational):
        return _elementwise_power(context, base, exponent)
    if (held := sizeless_of(context, base[0])) is not None and held.kind == "identity":
        factor = emit(context, "pow", [held.factor, exponent[0]], span)[0]
        return place(context, replace(held, factor=factor), span)
    is_inverse = sign == "^" and exponent[0] == -1
    if not (is_inverse or context.is_of_matrices) or base[0].is_number:
        return _elementwise_power(context, base, exponent)
    dimensions, shape = rank(context, base[0]), needed_shape(context, base[0])
    if dimensions != 2 or (shape is None and not context.is_of_matrices):  # as R^-1 may be of a number
        return _elementwise_power(context, base, exponent)
    is_square = shape is None or shape[0] == shape[1]
    is_of_matrices = sign == "^" or context.source.is_sympy
    if not (is_square and is_of_matrices and isinstance(exponent[0], sympy.Integer)):
        if not context.findings.needs_shapes:
            shown = context.source.single_line(span)
            context.findings.warnings.append(f"{shown} is a power of each element; X^2 and X @ X are of the matrix")
        return _elementwise_power(context, base, exponent)
    return _matrix_power(context, base, int(exponent[0]), span)


def _elementwise_power(context: Context, base: Operand, exponent: Operand) -> Operand:
    is_matrix = context.is_of_matrices and not exponent[0].is_number and rank(context, exponent[0]) == 2
    if is_matrix and not context.findings.needs_shapes:
        said = f"{_excerpt(context, base, exponent)} is a power of each element"
        context.findings.warnings.append(f"{said}; matrix_exp(A) is the exponential of a matrix")
    found = emit_two(context, "pow", base, exponent)
    return RowVector(*found) if isinstance(base, RowVector) and exponent[0].is_number else found


def _exponent_t(node: nodes.Node) -> str | None:
    """Tell whether an exponent is T or -T, and return its sign; None of any other."""
    while isinstance(node, nodes.GroupNode):
        node = node.inner
    if isinstance(node, nodes.Unary) and node.sign.text == "-":
        return "-" if nodes.name_alone(node.operand) == "T" else None
    return "" if nodes.name_alone(node) == "T" else None


def _inverse(context: Context, base: Operand, span: Span) -> Operand:
    """Lower the inverse of a matrix, and of anything else that of each element."""
    if base[0].is_number or rank(context, base[0]) != 2:
        return emit(context, "pow", [require_tensor(context, *base), sympy.Integer(-1)], span)
    return emit(context, "inv", [base[0]], span)


def _matrix_power(context: Context, base: Operand, exponent: int, span: Span) -> Operand:
    """Lower a power of a square matrix by squaring."""
    if abs(exponent) > MOST_FACTORS:
        message = f"a power of a matrix has at most {MOST_FACTORS:,} factors"
        raise context.source.error(message, span, hint="write .^ for elements", kind=TooLargeError)
    if exponent > 1 or exponent < -1:
        note_matrices(context)
    if exponent == 0:
        return inline_text(context, EYE, {"A": base[0]}, span), span
    factor = base[0] if exponent > 0 else emit(context, "inv", [base[0]], span)[0]
    result, count = None, abs(exponent)
    while count:
        if count % 2:
            result = factor if result is None else emit(context, "matmul", [result, factor], span)[0]
        count //= 2
        if count:
            factor = emit(context, "matmul", [factor, factor], span)[0]
    return (factor if result is None else result), span


# -- determinants, norms and inner products


def bars(context: Context, node: nodes.BarsNode) -> Operand:
    """Lower `|x|`, which of a square matrix after a logarithm is its determinant; elsewhere it is of each element."""
    inner = lower(context, node.inner)
    atom, span = require_tensor(context, *inner), node.span
    is_matrix = not atom.is_number and not context.known.is_meaning and rank(context, atom) == 2
    shape = needed_shape(context, atom) if is_matrix else None
    if not is_matrix or (shape is not None and shape[0] != shape[1]):
        return emit(context, "abs", [atom], span)
    shown, name = context.source.single_line(span), context.source.single_line(inner[1])
    said = f"{shown} of a matrix is of each element; det({name}) is the determinant"
    if node.is_in_log:
        said = f"{shown} after log is the determinant of the matrix; abs({name}) is of each element"
    if not context.findings.needs_shapes and not context.known.is_formula:
        context.findings.warnings.append(said)
    return emit(context, "det" if node.is_in_log else "abs", [atom], span)


def norm(context: Context, node: nodes.NormNode) -> Operand:
    """Lower `‖x‖_2`."""
    inner = lower(context, node.inner)
    atom, span = require_tensor(context, *inner), node.span
    order = {"f": "F", "fro": "F", "nuc": "*"}.get(node.order.lower(), node.order)
    p = {"F": 2, "": 2, "inf": float("inf")}.get(order)
    if p is None and order.replace(".", "").isdecimal():
        p = float(order) if "." in order else int(order)
    if p is None and order != "*":
        message = f"'{order}' is no norm that is read"
        raise context.source.error(message, span, hint="a number, F, * or inf stands below a norm: ‖x‖_1, ‖A‖_F")
    if order in ("", "F") or (order != "*" and rank(context, atom) < 2):
        return emit(context, "norm", [atom], span, (p, None, False))
    if order != "*" and not context.findings.needs_shapes:
        shown = context.source.single_line(span)
        context.findings.warnings.append(f"{shown} is the norm of a matrix as an operator; ‖A‖_F is of its elements")
    return _asked(context, "matrix_norm", {"A": (atom, span)}, span, ord="nuc" if order == "*" else p)


def inner_product(context: Context, node: nodes.InnerProduct) -> Operand:
    """Lower `<x, y>`, the sum of the products of elements."""
    left, right = lower(context, node.left), lower(context, node.right)
    a, b = (require_tensor(context, *operand) for operand in (left, right))
    if a.is_number or b.is_number:
        return emit(context, "mul", [a, b], node.span)
    ranks, shapes = (rank(context, a), rank(context, b)), shapes_of(context, a, b)
    if shapes is not None and shapes[0] != shapes[1]:
        message = f"an inner product is of two tensors of one shape, and these are {shapes[0]} and {shapes[1]}"
        raise context.source.error(message, node.span)
    if max(ranks) == 0:
        return emit(context, "mul", [a, b], node.span)
    if max(ranks) == 1:
        return emit(context, "matmul", [a, b], node.span)
    return emit(context, "sum", [emit(context, "mul", [a, b], node.span)[0]], node.span, (None, False))

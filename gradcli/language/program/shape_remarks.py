"""Remarks on what operations do with operands of some shapes, where another operation is often meant.

Knows a Program and the shapes of its lines.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping

from gradcli.language.program.shapes import MATRIX_PRODUCT
from gradcli.language.program.wengert import Atom, Call, Line, Program, Shape

_IS_PLAIN = re.compile(r"(?:[^\W\d]\w*|[)\]])\.(?!T\b)[^\W\d]|[\u03a3\u03a0\u03b4\u2211\u220f]|\.\.|KroneckerDelta")
"""Pattern of a module's name, a method but `.T`, or a sum over indices: there, `*` is certainly no matrix product."""


def likely_matrix_products(program: Program, shapes: Mapping[Atom, Shape]) -> Iterator[str]:
    """Remark on a product or a power of elements that was likely meant of matrices; not where elements are plain.

    That is where `*` stretches a vector over a matrix, has `diag(x)` as a factor, or stands in `trace` or `det`, and
    where a square matrix has the power -1.  A text in the notation of matrices says itself which of them it means, and
    one that reduces along a single dimension means elements.

    Args:
        program: The function.
        shapes: Of every symbol.
    """
    if program.is_of_matrices or _IS_PLAIN.search(program.text):
        return
    lines, within = {line.symbol: line.call for line in program.lines}, set[Atom]()
    for line in program.lines:
        within.update(line.call.operands if line.call.op.name in _OF_PRODUCTS else ())
    for line in program.lines:
        name, operands = line.call.op.name, line.call.operands
        if name not in ("mul", "pow"):
            continue
        pair = sorted((shapes.get(a, ()) for a in operands), key=len)
        ranks, instead = (len(pair[0]), len(pair[1])), MATRIX_PRODUCT
        if ranks[1] != 2:
            continue
        shown = program.excerpt(line)
        if name == "pow":
            is_square = ranks == (0, 2) and len({*pair[1]}) == 1 and pair[1][0] > 1
            exponent = operands[1]
            if is_square and (exponent == -1 or (line.symbol in within and exponent.is_integer)):
                instead = "inv(A) is the inverse" if exponent == -1 else "A @ A is the power of the matrix"
                yield f"{shown} is a power of each element; {instead}"
                return
        elif ranks == (1, 2) and min(*pair[0], *pair[1]) > 1 and not any(map(_is_along_one, program.lines)):
            said = f"{_sign(shown)} in {shown} multiplies each row of the matrix by the vector, element by element"
            yield f"{said}; {instead}"
            return
        elif ranks == (2, 2) and (line.symbol in within or any(_is_diagonal(lines, a, shapes) for a in operands)):
            yield f"{_sign(shown)} in {shown} multiplies element by element; {instead}"
            return


_OF_PRODUCTS = frozenset(["trace", "det", "inv", "logdet"])
"""Functions of matrices whose operand is rarely a product of elements."""


def _is_along_one(line: Line) -> bool:
    """Tell whether a line reduces along a single dimension, such as `mean(x**2, -1, keepdim=True)`."""
    return "keepdim" in line.call.op.statics and line.call.constants.get("dim") is not None


_BARE_NORM = re.compile(r"norm\(|Norm\[|\N{DOUBLE VERTICAL LINE}|\|\|")
"""Beginning of a norm without the module or the tensor whose meaning it has."""


def remarks_on_shapes(program: Program, shapes: Mapping[Atom, Shape], values: Iterable[object] = ()) -> Iterator[str]:
    """Generate the remarks on what operations do with operands of these shapes, where that is often not meant.

    Args:
        program: The function.
        shapes: Of every symbol.
        values: Of the variables, as given.
    """
    if 2 in map(len, shapes.values()):
        yield from likely_matrix_products(program, shapes)
        if any(isinstance(text, str) and _MATLAB.search(text) for text in (program.text, *values)):
            yield from _of_columns(program, shapes)
    if any(sign in program.text for sign in DOTS):
        yield from _dotted(program, shapes)
    for line in program.lines:
        if line.call.op.name == "norm" and not line.part_of:
            yield from _norm_of_a_matrix(program, line, shapes)
        elif line.call.op.name in _PAIRED_LOSSES:
            yield from _stretched_loss(line, shapes)


DOTS = ("·", "⋅", "∙", "\\cdot")
"""Signs of a product that are those of a dot product on paper."""


def _sign(shown: str) -> str:
    """Return the sign of a product, as it is typed."""
    return next((sign for sign in DOTS if sign in shown and "*" not in shown), "*")


def _dotted(program: Program, shapes: Mapping[Atom, Shape]) -> Iterator[str]:
    """Remark on `v·w` of two vectors, which is the dot product on paper."""
    for line in program.lines:
        sizes = [shapes.get(operand, ()) for operand in line.call.operands]
        if line.call.op.name == "mul" and sizes[0] == sizes[1] and len(sizes[0]) == 1 and sizes[0] != (1,):
            left, sign, right = (part.strip() for part in _parted_at_dot(program.text[slice(*line.span)]))
            if left and right:
                yield f"{left}{sign}{right} multiplies element by element; {left} @ {right} is the dot product"
                return


def _parted_at_dot(text: str) -> tuple[str, str, str]:
    """Part a product at its only dot; empty parts where it has other signs."""
    found = re.fullmatch(r"([^·⋅∙*\\()\[]+)(·|⋅|∙|\\cdot\b)([^·⋅∙*\\()\[]+)", text)
    return (found[1], found[2], found[3]) if found is not None else ("", "", "")


_MATLAB = re.compile(r"\[[^\[\];]*\d\s*;\s*[-+.\d][^\[\]]*\]|\.[*^]")
"""Matrix with semicolons between its rows, or a product or a power of elements, as MATLAB has them."""

_BY_COLUMNS = re.compile(r"(sum|mean|prod|max|min|std|var)\(\s*([^\W\d]\w*)\s*\)")
"""Call that MATLAB takes column by column."""


def _of_columns(program: Program, shapes: Mapping[Atom, Shape]) -> Iterator[str]:
    """Remark on a reduction of all of a matrix, which MATLAB takes column by column."""
    for line in program.lines:
        found = _BY_COLUMNS.fullmatch(program.excerpt(line))
        if found and any(len(shapes.get(one, ())) == 2 and 1 not in shapes[one] for one in line.call.operands):
            yield f"{found[0]} is of all elements; MATLAB's, of each column, is {found[1]}({found[2]}, dim=0)"
            return


_PAIRED_LOSSES = frozenset(["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"])
"""Losses of two tensors, which torch stretches over each other with a warning."""


def _stretched_loss(line: Line, shapes: Mapping[Atom, Shape]) -> Iterator[str]:
    """Remark on a loss of an input and a target of other shapes, of which torch warns."""
    one, other = (shapes.get(operand, ()) for operand in line.call.operands[:2])
    if one != other and one and other:
        said = f"{line.call.op.name} stretches its input of shape {one} and its target of shape {other}"
        yield f"{said} over each other, of which torch warns"


def _norm_of_a_matrix(program: Program, line: Line, shapes: Mapping[Atom, Shape]) -> Iterator[str]:
    """Remark on a norm of all elements of a matrix, which in MATLAB and Mathematica is that of an operator."""
    start, shown, p = line.span.start, program.excerpt(line), line.call.constants["p"]
    is_of_all = line.call.constants["dim"] is None and len(shapes.get(line.call.operands[0], ())) == 2
    if not is_of_all or p not in (1, 2, math.inf) or not _BARE_NORM.match(program.text, start):
        return
    if program.text[start - 1 : start] != "." and not re.search(r"['\"]|\W_", shown):
        simple = re.fullmatch(r"\w+[(\[]([^,]+)(?:,\s*[\w.=]+)?[)\]]", shown)
        instead = f"matrix_norm({simple[1] if simple else 'A'}, {p})" if shown[0] in "nN" else f"{shown}_2"
        yield f"{shown} is of all elements of the matrix; {instead} is of the operator, as in MATLAB"


def _is_diagonal(lines: Mapping[Atom, Call], atom: Atom, shapes: Mapping[Atom, Shape]) -> bool:
    """Tell whether a value is the diagonal matrix of a vector."""
    call = lines.get(atom)
    return call is not None and call.op.name == "diag" and len(shapes.get(call.operands[0], ())) == 1

"""Shapes of every line of a Program from the shapes of its variables, by torch's rules.

Elementwise operations broadcast; the rest have one rule a kind; a defined operation has the shape of its definition.
Knows sizes only, no values.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import sympy

from gradcli.errors import GradcliError, InputError, ShapeError, TooLargeError
from gradcli.language.ops import Kind, Meaning, Monoid
from gradcli.language.program import dot_products, doubtful_losses, doubtful_norms
from gradcli.language.program.movement import axes_of, axis_of, shape_after
from gradcli.language.program.positions import shape_at
from gradcli.language.program.wengert import (
    MAX_DIMENSIONS,
    MAX_ELEMENTS,
    AskedMeaning,
    Atom,
    Call,
    Line,
    Program,
    Shape,
    broadcast,
    show,
)

MAX_TOTAL_ELEMENTS = 2**26
"""Largest number of elements of the variables and lines together, y four times: 512 MiB; its check takes three more."""

MAX_MULTIPLICATIONS = 2**34
"""Largest number of multiplications of one matrix product: a few seconds."""

MAX_MATRIX_ROWS = 1_024
"""Largest number of rows of a matrix whose determinant or inverse is taken."""

_RANKS: Mapping[str, Mapping[str, int]] = {
    **{key: {"a": 1, "b": 1} for key in ("dot", "outer")},
    **{key: {"a": 3, "b": 3} for key in ("baddbmm", "addbmm")},
    **{key: {"A": 2} for key in ("trace", "solve")},
}
"""Dimensions that an operand must have."""

_PRODUCTS_ADDED = frozenset("addmm addmv addr baddbmm addbmm".split())
"""Sums of a tensor and a product, in whose shape the tensor must fit."""

_ENTROPIES = [f"{one}binary_cross_entropy{end}" for one in ("", "weighted_") for end in ("", "_with_logits")]
_EQUAL_SHAPES = {"dot": "vectors of one length", **dict.fromkeys(_ENTROPIES, "a target of input's shape")}
"""Demand on operands that do not broadcast, for the message."""


def infer(program: Program, inputs: Mapping[sympy.Symbol, Shape], *, bounded: bool = True) -> dict[Atom, Shape]:
    """Infer the shape of every symbol of the Program, variables too; `bounded` unless nothing is held in full.

    Raises:
        ShapeError: shapes that do not fit, with both shapes and the sub-expression.
        TooLargeError: more than `MAX_ELEMENTS` in a line or `MAX_TOTAL_ELEMENTS` in all.

    >>> from gradcli.language.parsing import parse
    >>> program = parse("x[:, 0]")
    >>> infer(program, {program.variables[0]: (3, 2)})[program.output]
    (3,)
    """
    return dict((_inferred if program.is_shared else _inferred.__wrapped__)(program, (*inputs.items(),), bounded))


@lru_cache(maxsize=256)
def _inferred(program: Program, inputs: tuple[tuple[Atom, Shape], ...], bounded: bool) -> Mapping[Atom, Shape]:
    shapes, total = dict[Atom, Shape](inputs), sum(math.prod(shape) for _, shape in inputs)
    for line in program.lines:
        operands = [shapes.get(a, ()) for a in line.call.operands]
        try:
            shape = shape_of(line.call, operands)
            if bounded:
                require_work(line.call, operands)
        except GradcliError as error:
            error.place = program.place(line)
            raise
        size = max(math.prod(shape), *shape, 0)  # a million empty rows are a million lists
        total += size * (4 if line.symbol == program.output else 1)
        if bounded and (size > MAX_ELEMENTS or total > MAX_TOTAL_ELEMENTS):
            in_all = f"makes {total:,} elements in all; at most {MAX_TOTAL_ELEMENTS:,} are held"
            in_one = f"has {size:,} elements; at most {MAX_ELEMENTS:,} are held in one"
            message = f"a tensor of shape {show(shape)} {in_one if size > MAX_ELEMENTS else in_all}"
            raise TooLargeError(message, place=program.place(line), hint="use smaller inputs")
        shapes[line.symbol] = shape
    shapes.setdefault(program.output, ())
    return shapes


def shapes_in(program: Program, known: Mapping[Atom, Shape]) -> Mapping[Atom, Shape]:
    """Infer the shape of every symbol of a Program, without a bound; the known ones if they are of this Program.

    Args:
        program: The function.
        known: Shapes of its variables at least.

    Raises:
        ShapeError: shapes that do not fit.
    """
    if known.keys() >= {program.output, *(line.symbol for line in program.lines)}:
        return known
    return infer(program, {symbol: known[symbol] for symbol in program.variables}, bounded=False)


def shape_of(call: Call, operands: list[Shape]) -> Shape:
    """Infer the shape of one operation from the shapes of its operands.

    Raises:
        ShapeError: shapes that do not fit; the place is left to the caller.
    """
    _require_ranks(call, operands)
    shape = _shape(call, operands)
    if len(shape) > MAX_DIMENSIONS:
        raise TooLargeError(f"a tensor of {len(shape)} dimensions; at most {MAX_DIMENSIONS} are held")
    return shape


def _shape(call: Call, operands: list[Shape]) -> Shape:
    match call.op.kind:
        case Kind.ELEMENTWISE:
            return _elementwise(call, operands)
        case Kind.REDUCTION:
            return _reduce(operands[0], call)
        case Kind.SCAN:
            axis_of_scan(call, operands[0])
            return operands[0]
        case Kind.CONTRACTION:
            return _matmul(*operands)
        case Kind.LIST:
            return _stack(operands, call) if call.op.adds_dimension else _cat(operands, call)
        case Kind.MOVEMENT:
            return shape_after(call, operands[0])
        case Kind.GATHER | Kind.SCATTER:
            return shape_at(call, *operands)
        case Kind.MATRIX | Kind.SPECTRAL:
            return _matrix(operands[0], call)
        case Kind.COUNT:
            axes_of(operands[0], call.statics[0])
            return ()
        case Kind.SOURCE:
            return _source(call)
    return _defined(call, operands)


_MATRIX_PRODUCT = "the matrix product is @"


def _elementwise(call: Call, operands: list[Shape]) -> Shape:
    try:
        return broadcast(operands)
    except ShapeError as error:
        if call.op.name == "mul" and sorted(map(len, operands)) in ([1, 2], [2, 2]):
            with contextlib.suppress(ShapeError):
                _matmul(*operands)
                error.advise(f"* multiplies element by element; {_MATRIX_PRODUCT}")
        raise


def _defined(call: Call, operands: list[Shape]) -> Shape:
    """Infer the shape of a defined operation by its definition."""
    from gradcli.language.program.expansion import definition, with_shapes

    if next(iter(call.op.statics), "") == "dim" and "keepdim" not in call.op.statics:
        axis_of_scan(call, broadcast(operands))
    if call.op.name in _EQUAL_SHAPES and operands[0] != operands[1]:
        shown = " and ".join(map(show, operands))
        raise ShapeError(f"{call.op.name} needs {_EQUAL_SHAPES[call.op.name]}, and the shapes are {shown}")
    for parameter, operand, shape in zip(call.op.operands, call.operands, operands, strict=False):
        if parameter in call.op.optional and not shape and operand != call.op.defaults[parameter]:  # as torch does
            said = f"{call.op.name} takes a tensor for {parameter}, and this is a number"
            raise ShapeError(said, hint="leave it out")
    if call.op.has_equation:
        _require_equation(str(call.statics[0]), operands)
    last = call.statics[-1] if call.op.defined_by is Meaning.TORCH_CALL else None
    if isinstance(last, AskedMeaning) and last.shapes == tuple(map(tuple, operands)):
        return last.shape
    meaning = definition(call.op.name, with_shapes(call, operands), len(operands))
    try:
        if call.op.name in _PRODUCTS_ADDED:
            _require_addend(
                call, operands[0], infer(meaning, _of(meaning, [(), *operands[1:]]), bounded=False)[meaning.output]
            )
        return infer(meaning, _of(meaning, operands), bounded=False)[meaning.output]
    except ShapeError as error:
        if call.op.is_extreme:  # torch reads a second whole number as a dimension
            larger = "larger" if call.op.monoid is Monoid.LARGEST else "smaller"
            error.advise(f"{call.op.folds_by.operation}(x, {call.statics[0]}) is the {larger} of the two")
        raise


def _of(program: Program, operands: list[Shape]) -> dict[sympy.Symbol, Shape]:
    return dict(zip(program.variables, operands, strict=True))


def _require_addend(call: Call, addend: Shape, product: Shape) -> None:
    """Refuse a tensor to which a product is added that stretches the product, as torch does."""
    if broadcast([addend, product]) != product:
        message = f"{call.op.name} adds a product of the shape {show(product)} to the shape {show(addend)}"
        raise ShapeError(message, hint="the sizes of input are those of the product, or 1")


def _require_equation(equation: str, operands: list[Shape]) -> None:
    from gradcli.language.program.expansion import letters_of

    inputs, _ = letters_of(equation, len(operands))
    shown = f"einsum '{equation}' does not fit the shapes {', '.join(map(show, operands))}"
    sizes: dict[str, int] = {}
    for letters, shape in zip(inputs, operands, strict=True):
        if len(letters) != len(shape):
            raise ShapeError(shown, hint="one letter for each dimension, and one word for each operand")
        for letter, size in zip(letters, shape, strict=True):
            known = sizes.setdefault(letter, size)
            if 1 not in (size, known) and size != known:
                raise ShapeError(shown, hint=f"'{letter}' is {known} in one place and {size} in another")
            sizes[letter] = max(size, known)


def _require_ranks(call: Call, operands: list[Shape]) -> None:
    ranks = _RANKS.get(call.op.name, {})
    for parameter, operand in zip(call.op.operands, operands, strict=False):
        rank = ranks.get(parameter, len(operand))
        if len(operand) != rank:
            noun = {1: "a vector", 2: "a matrix", 3: "matrices of a batch"}[rank]
            given = " and ".join(map(show, operands))
            shapes = f"the shape is {given}" if len(operands) == 1 else f"the shapes are {given}"
            raise ShapeError(f"{call.op.name} needs {noun} for {parameter}, and {shapes}")


def require_work(call: Call, operands: list[Shape]) -> None:
    """Refuse a matrix product that would take minutes.

    Raises:
        TooLargeError: more than `MAX_MULTIPLICATIONS` products of numbers; the place is left to the caller.
    """
    if call.op.kind is Kind.CONTRACTION:
        products = math.prod(shape_of(call, operands)) * operands[0][-1]
        if products > MAX_MULTIPLICATIONS:
            message = (
                f"this matrix product takes {products:,} multiplications; at most {MAX_MULTIPLICATIONS:,} are made"
            )
            raise TooLargeError(message, hint="use smaller inputs")


def axis_of_scan(call: Call, shape: Shape) -> int | None:
    """Return the dimension of an operation along one; None for a plain number, which is its own result.

    Raises:
        ShapeError: it does not exist, or was left out where there are several.
    """
    dim = call.statics[0]
    if dim is None and len(shape) > 1:
        message = f"{call.op.name} needs dim where there are several dimensions, and the shape is {show(shape)}"
        raise ShapeError(message, hint=f"write {call.op.name}(x, dim=-1) for the last one")
    axis = axis_of(shape or (1,), 0 if dim is None else dim)
    return axis if shape else None


def _reduce(shape: Shape, call: Call) -> Shape:
    dim, keepdim = call.statics
    axes = axes_of(shape, dim)
    if call.op.is_extreme and 0 in (shape[a] for a in axes):
        raise ShapeError(f"{call.op.name} of no elements: the shape is {show(shape)}")
    return tuple(1 if a in axes else size for a, size in enumerate(shape) if keepdim or a not in axes)


def _matmul(a: Shape, b: Shape) -> Shape:
    if not a or not b:
        message = f"@ needs at least one dimension on each side, and the shapes are {show(a)} and {show(b)}"
        raise ShapeError(message, hint="write * for a scalar")
    if a[-1] != (size := b[-2 if len(b) > 1 else -1]):
        which = "second to last" if len(b) > 1 else "only"
        hint = f"the last size of the left, {a[-1]}, must equal the {which} size of the right"
        hint += "; the left fits transposed, by .T" * (len(a) == 2 and a[0] == size)
        raise ShapeError(f"@ does not fit the shapes {show(a)} and {show(b)}", hint=hint)
    return (*broadcast([a[:-2], b[:-2]]), *a[-2:-1], *(b[-1:] if len(b) > 1 else ()))


def _stack(operands: list[Shape], call: Call) -> Shape:
    full = {shape for shape in operands if shape}
    if len(full) > 1:
        shown = ", ".join(show(shape) for shape in operands[:4]) + ", ..." * (len(operands) > 4)
        hint = "only scalars stretch to their siblings' shape"
        raise ShapeError(f"a list needs equal shapes, and these are {shown}", hint=hint)
    part = full.pop() if full else ()
    axis = axis_of(part, call.statics[0], extra=1)
    return (*part[:axis], len(operands), *part[axis:])


def _cat(operands: list[Shape], call: Call) -> Shape:
    shown = ", ".join(map(show, operands))
    if () in operands:
        hint = "[a] is a vector of one number"
        raise ShapeError(f"cat needs tensors with a dimension, and the shapes are {shown}", hint=hint)
    axis = axis_of(operands[0], call.statics[0])
    others = {(len(shape), *shape[:axis], *shape[axis + 1 :]) for shape in operands}
    if len(others) > 1:
        raise ShapeError(f"cat needs equal sizes but along dim={axis}, and the shapes are {shown}")
    first = operands[0]
    return (*first[:axis], sum(shape[axis] for shape in operands), *first[axis + 1 :])


def _matrix(shape: Shape, call: Call) -> Shape:
    name = call.op.name
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise ShapeError(f"{name} needs a square matrix, and the shape is {show(shape)}")
    if shape[-1] > MAX_MATRIX_ROWS:
        raise TooLargeError(f"{name} of {shape[-1]:,} rows; at most {MAX_MATRIX_ROWS:,} are taken")
    if call.op.keeps_shape:
        return shape
    return shape[:-1] if call.op.kind is Kind.SPECTRAL else shape[:-2]


def count_of(shape: Shape, dim: Hashable) -> int:
    """Count the elements, or those along the dimensions dim.

    >>> count_of((2, 3), 1)
    3
    """
    return math.prod(shape[axis] for axis in axes_of(shape, dim))


# -- constant tensors


def _source(call: Call) -> Shape:
    """Return the shape of a constant tensor, which has whole sizes from 0 on."""
    a = call.statics
    match call.op.name:
        case "linspace":
            _require_finite(call)
            return (_size(call, a[2]),)
        case "arange":
            start, stop, step = bounds(call)
            if step == 0 or (stop - start) / step < 0:
                raise _refused(call, "a step is not 0 and leads from start to end")
            length = math.ceil((stop - start) / step)
            return (_size(call, length),)
        case "eye":
            return _size(call, a[0]), _size(call, a[0] if a[1] is None else a[1])
        case "rand" | "randn" if a[1] < 0:
            raise _refused(call, "a seed is a whole number from 0 on")
        case _:
            sizes = a[0] if isinstance(a[0], tuple) else (a[0],)
            return tuple(_size(call, n) for n in sizes)


def bounds(call: Call) -> tuple[Any, Any, Any]:
    """Return start, end and step of an `arange`, whose start may be left out."""
    _require_finite(call)
    start, stop, step = call.statics
    return (0, start, step) if stop is None else (start, stop, step)


def _require_finite(call: Call) -> None:
    if not all(math.isfinite(a) for a in call.statics if isinstance(a, int | float)):
        raise _refused(call, "its numbers are finite")


def _size(call: Call, size: Hashable) -> int:
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise _refused(call, "sizes are whole numbers from 0 on")
    if size >= 2**40:
        raise TooLargeError(f"{call.op.name} of {size:,} elements along one dimension")
    return size


def _refused(call: Call, hint: str) -> GradcliError:
    signature = ", ".join(call.op.signature)
    return InputError(f"{call.op.name}({signature}) does not take these arguments", hint=hint)


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
        ranks, instead = (len(pair[0]), len(pair[1])), _MATRIX_PRODUCT
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
            said = f"{dot_products.sign_of(shown)} in {shown} multiplies each row of the matrix by the vector"
            yield f"{said}, element by element; {instead}"
            return
        elif ranks == (2, 2) and (line.symbol in within or any(_is_diagonal(lines, a, shapes) for a in operands)):
            yield f"{dot_products.sign_of(shown)} in {shown} multiplies element by element; {instead}"
            return


_OF_PRODUCTS = frozenset(["trace", "det", "inv", "logdet"])
"""Functions of matrices whose operand is rarely a product of elements."""


def _is_along_one(line: Line) -> bool:
    """Tell whether a line reduces along a single dimension, such as `mean(x**2, -1, keepdim=True)`."""
    return "keepdim" in line.call.op.statics and line.call.constants.get("dim") is not None


def remarks_on_dots(program: Program, shapes: Mapping[Atom, Shape]) -> Iterator[str]:
    """Generate the remark on a product of vectors that is typed as a dot product is."""
    products = [line for line in program.lines if line.call.op.name == "mul"]
    yield from dot_products.remarks(products, program.text, shapes)


def remarks_on_shapes(program: Program, shapes: Mapping[Atom, Shape], values: Iterable[object] = ()) -> Iterator[str]:
    """Generate the remarks on what operations do with operands of these shapes, where that is often not meant."""
    if dot_products.MAY_BE_DOT.search(program.text):
        yield from remarks_on_dots(program, shapes)
    if 2 in map(len, shapes.values()):
        yield from likely_matrix_products(program, shapes)
        if any(isinstance(text, str) and _MATLAB.search(text) for text in (program.text, *values)):
            yield from _of_columns(program, shapes)
    for line in program.lines:
        if line.call.op.name == "norm" and not line.part_of:
            yield from doubtful_norms.remarks(program, line, shapes)
        elif line.call.op.name == "sinc" and _is_torchs_sinc(program, line):
            yield "sinc(x) is sin(pi*x)/(pi*x), as in torch; sin(x)/x is sinc(x/pi)"
        elif line.call.op.name in doubtful_losses.LOSSES:
            yield from doubtful_losses.remarks(program, line, shapes)


def _is_torchs_sinc(program: Program, line: Line) -> bool:
    """Tell whether a sinc is written without a module, and not read as SymPy's, which is that of x/pi."""
    return program.excerpt(line).startswith("sinc(") and [one.span for one in program.lines].count(line.span) == 1


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


def _is_diagonal(lines: Mapping[Atom, Call], atom: Atom, shapes: Mapping[Atom, Shape]) -> bool:
    """Tell whether a value is the diagonal matrix of a vector."""
    call = lines.get(atom)
    return call is not None and call.op.name == "diag" and len(shapes.get(call.operands[0], ())) == 1

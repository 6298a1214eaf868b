"""Run of a Program by NumPy in float64: values of variables and of v, and constants inside an expression.

So input errors need no torch.  NumPy's calls for the operations stand in `library_calls`; a defined operation
that it does not have runs as its meaning, rewritten where it would overflow or cancel in floats.  Functions
that NumPy lacks are computed by Python's `math` and mpmath: at a pole, at infinity and outside of the domain they are
what torch gives.  The language's random numbers come from NumPy's PCG64 with the seed that is written, 0 by default.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from gradcli.arrays import Array
from gradcli.errors import GradcliError, InputError, Place, TooLargeError
from gradcli.language.ops import TABLE, Kind, Op
from gradcli.language.ops.signature import Constants
from gradcli.language.ops.structure import MEASURED
from gradcli.language.program.library_calls import SIGNED, NumpyCalls, is_in_numpy
from gradcli.language.program.shapes import require_work, shape_of
from gradcli.language.program.wengert import MAX_ELEMENTS, Atom, Call, Line, Program, Shape, Statics, number

PLACES: Mapping[str, Callable[[Sequence[Shape], Constants], Shape]] = {
    "one_hot": lambda _, constants: (int(constants["num_classes"]),),
    **dict.fromkeys(("cross_entropy", "nll_loss"), lambda shapes, _: (shapes[0][min(1, len(shapes[0]) - 1)],)),
    "embedding": lambda shapes, _: shapes[1][:1],
    "elements_at": lambda shapes, constants: shapes[0][constants["dim"] :][: constants["count"]],
    "sums_at": lambda _, constants: constants["sizes"],
}
"""Number of classes or rows that positions may name, in each dimension, by the operands' shapes and the constants."""

MOST_CACHED = 8
"""Largest number of tensors that are kept for the next reading."""

LARGEST_CACHED = 2**20
"""Largest number of elements of a kept tensor: 64 MiB in all, as a process of many questions keeps them for good."""


def run(program: Program, known: Mapping[Atom, Array] = MappingProxyType({})) -> Array:
    """Compute the value of a Program without variables; `known` are values of symbols that none of its lines has.

    Raises:
        InputError: numbers that torch refuses too, a matrix without an inverse.
        ShapeError, TooLargeError: shapes that do not fit, more than `MAX_ELEMENTS` elements.
    """
    values: dict[Atom, Array] = dict(known)
    fitting, total = program.fitting, 0
    for line in program.lines:
        operands = [values[a] if a in values else np.asarray(number(a)) for a in line.call.operands]
        try:
            shapes = line.symbol, *(a.shape for a in operands)
            if shapes not in fitting:
                require_room(math.prod(shape_of(line.call, [*shapes[1:]])))
                require_work(line.call, [*shapes[1:]])
                fitting.add(shapes)
            with np.errstate(all="ignore"):
                value = np.asarray(_apply(line.call, operands), dtype=np.float64)
        except np.linalg.LinAlgError:
            raise refused_matrix(line.call, program.place(line)) from None
        except GradcliError as error:
            error.place = error.place or program.place(line)
            raise
        total += value.size
        require_room(total)
        values[line.symbol] = value
    output = program.output
    return np.asarray(values[output] if output in values else number(output), dtype=np.float64)


def _apply(call: Call, operands: list[Array]) -> Any:
    """Compute an operation: by NumPy, by a function here, or by its meaning."""
    if call.op.kind is Kind.SOURCE:
        return array_of(call)
    if call.op.is_at_positions:
        require_positions(call, operands)
    return NumpyCalls(np, _FUNCTIONS).apply(call, operands) if is_in_numpy(call) else _defined(call, operands)


def refused_matrix(call: Call, place: Place) -> InputError:
    """Make the error for a matrix without an inverse, or one whose eigenvalues NumPy and torch do not find."""
    if call.op.kind is Kind.SPECTRAL or call.op.name in ("svdvals", "with_eigenvalues", *SIGNED):
        message = "the eigenvalues or singular values of this matrix are not found"
        return InputError(message, place=place, hint="is an element nan or infinite?")
    return InputError("this matrix has no inverse", place=place, hint="its determinant is 0")


def _defined(call: Call, operands: list[Array]) -> Array:
    """Compute an operation by its meaning, by the form for floats if there is one."""
    from gradcli.language.program.expansion import definition, in_floats, with_shapes

    _require_range(call, operands)
    if call.op.name == "sorted" and operands[0].ndim:  # exchanges of two would spread a nan
        dim, descending, *_ = call.statics
        found = np.sort(operands[0], axis=dim)
        return np.flip(found, dim) if descending else found
    statics = with_shapes(call, [a.shape for a in operands])
    meaning = in_floats(call.op.name, statics, len(operands))
    takes_extreme = any(line.call.op.is_extreme and line.call.op.kind is Kind.REDUCTION for line in meaning.lines)
    if takes_extreme and not all(a.size for a in operands):  # there is none
        meaning = definition(call.op.name, statics, len(operands))
    return run(meaning, dict(zip(meaning.variables, operands, strict=True)))


def _require_range(call: Call, operands: list[Array]) -> None:
    """Refuse numbers that torch refuses."""
    require_positions(call, operands)
    match call.op.name, operands:
        case "binary_cross_entropy", _ if not all(((a >= 0) & (a <= 1)).all() for a in operands):
            raise InputError("binary_cross_entropy needs input and target between 0 and 1")
        case "rrelu" | "hardtanh", (_, least, largest) if least.ndim == largest.ndim == 0 and least > largest:
            raise InputError(f"{call.op.name} needs {' <= '.join(call.op.operands[1:])}")
        case "softshrink" | "smooth_l1_loss", (*_, bound) if bound.ndim == 0 and bound < 0:
            raise InputError(f"{call.op.name} needs {call.op.operands[-1]} >= 0")


def require_positions(call: Call, operands: Sequence[Array], from_end: Sequence[bool] = ()) -> None:
    """Refuse positions that are no whole numbers, or out of range.

    Args:
        call: Any operation.
        operands: Their values.
        from_end: Of each dimension that they are in, whether those below 0 were counted from its end before.

    Raises:
        InputError: There is such a position.
    """
    constants, is_index = call.constants, call.op.name == "one_hot" or call.op.is_at_positions  # as x[i] is written
    for name in call.op.positions([a.ndim for a in operands]):
        found = operands[call.op.operands.index(name)]
        if not (found == np.round(found)).all():
            said = "an index is a whole number" if is_index else f"{call.op.name} takes whole numbers for {name}"
            raise InputError(said)
        if call.op.name not in PLACES:
            continue
        counts = PLACES[call.op.name]([a.shape for a in operands], constants)
        if call.op.name == "one_hot" and counts < (1,):
            raise InputError("one_hot has at least one class", hint="give num_classes")
        for n, (count, part) in enumerate(zip(counts, found if len(counts) > 1 else [found], strict=True)):
            outside = part[(part != constants.get("ignore_index")) & ((part < 0) | (part >= count))]
            if outside.size:
                said = "an index is" if is_index else f"{call.op.name} takes {name}"
                least = -count if any(from_end[n : n + 1]) else 0
                other = outside.flat[0] + min(least, 0) * (outside.flat[0] < 0)
                raise InputError(f"{said} from {least} to {count - 1}, and there is {other:g}")


def counts_from_end(program: Program, line: Line) -> list[bool]:
    """Tell of each dimension that positions are in whether `where(i < 0, i + size, i)` counts them from its end."""
    calls = {one.symbol: one.call for one in program.lines}

    def operands(atom: Atom, name: str) -> Sequence[Atom]:
        return calls[atom].operands if atom in calls and calls[atom].op.name == name else [atom]

    parts = operands(line.call.operands[1], "stack") if line.call.op.is_at_positions else []
    found = [operands(part, "expand")[0] for part in parts]
    return [atom in calls and calls[atom].op.name == "where" for atom in found]


def require_room(elements: float) -> None:
    """Refuse a tensor of more than `MAX_ELEMENTS`.

    Raises:
        TooLargeError: The tensor would have more.
    """
    if elements > MAX_ELEMENTS:
        shown = f"{elements:,.0f}" if elements < 1e15 else f"{elements:.3g}"
        raise TooLargeError(f"a value of {shown} elements; at most {MAX_ELEMENTS:,} are held")


# -- constant tensors


def array_of(call: Call) -> npt.NDArray[np.float64]:
    """Return the numbers of a constant tensor; not to be written to."""
    shape = shape_of(call, [])
    made = _kept if math.prod(shape) <= LARGEST_CACHED else _made
    return made(call.op.name, call.statics, shape)


def measured(call: Call) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the numbers of a constant tensor that was measured, and their errors."""
    return call.statics[1].numbers, call.statics[1].errors


def _made(name: str, a: Statics, shape: Shape) -> npt.NDArray[np.float64]:
    with np.errstate(all="ignore"):
        array = np.asarray(_SOURCES[name](shape, *a), dtype=np.float64)
    array.setflags(write=False)
    return array


_kept = lru_cache(maxsize=MOST_CACHED)(_made)

_SOURCES: Mapping[str, Callable[..., Any]] = {
    "linspace": lambda shape, start, end, _: np.linspace(start, end, *shape),
    "arange": lambda shape, start, end, step: (0 if end is None else start) + step * np.arange(*shape),
    "eye": lambda shape, *_: np.eye(*shape),
    "zeros": lambda shape, _: np.zeros(shape),
    "ones": lambda shape, _: np.ones(shape),
    "full": lambda shape, _, number: np.full(shape, float(number)),
    "drawn": lambda shape, _, numbers: np.frombuffer(numbers.data).reshape(shape),
    MEASURED: lambda shape, _, numbers: numbers.numbers,
    "rand": lambda shape, _, seed: np.random.default_rng(seed).random(shape),
    "randn": lambda shape, _, seed: np.random.default_rng(seed).standard_normal(shape),
}


# -- functions that NumPy lacks

VALUE_BITS = 256
"""Precision, in bits, of balls whose middle is a value."""

MOST_SHIFTS = 1_000
"""Distance to the left of 0 up to which mpmath evaluates polygamma, one unit after the other."""


def _gammaln(x: float) -> float:
    """Return lgamma, infinite where Python raises an error."""
    try:
        return math.lgamma(x)
    except (OverflowError, ValueError):
        return math.inf


def _erfinv(x: float) -> float:
    import mpmath

    if abs(x) == 1:
        return math.copysign(math.inf, x)
    return float(mpmath.erfinv(x)) if abs(x) < 1 else math.nan


def _by_arb(op: Op, *operands: float) -> float:
    """Return the middle of the ball that the row gives; nan where that is not known."""
    from flint import arb, ctx

    with ctx.workprec(VALUE_BITS):
        balls = [*map(arb, operands)]
        found = None if op.arb is None or op.has_large_order(*balls) else op.arb(*balls)
        return math.nan if found is None else float(found.mid())


def _polygamma(order: float, x: float) -> float:
    import mpmath

    if math.isnan(x) or x == -math.inf:
        return math.nan
    if x <= 0 and x == math.floor(x):  # a pole: infinite, of the sign of both sides where they have one
        if order == 0:
            return math.nan if x else -math.copysign(math.inf, x)
        return math.inf if order % 2 else -math.inf
    if order > 1 and x < -MOST_SHIFTS:
        message = f"polygamma is taken of {x:g}, and in a value of no number below -{MOST_SHIFTS:,}"
        raise InputError(message, hint="use it in the expression")
    try:
        return float(mpmath.polygamma(int(order), x))
    except OverflowError:
        return math.copysign(math.inf, x)


def _expm(matrices: Array) -> Array:
    """Compute the exponential of each matrix along the last two dimensions."""
    import mpmath

    found = np.empty(matrices.shape)
    for place in np.ndindex(matrices.shape[:-2]):
        is_known = np.isfinite(matrices[place]).all()
        one = mpmath.expm(mpmath.matrix(matrices[place].tolist())).tolist() if is_known else np.nan
        found[place] = np.array(one, dtype=np.float64)
    return found


_OF_NUMBERS: Mapping[str, Callable[..., float]] = {
    **{op.name: partial(_by_arb, op) for op in TABLE.values() if op.arb},
    **{"lgamma": _gammaln, "erf": math.erf, "erfc": math.erfc, "erfinv": _erfinv},
    **{"digamma": partial(_polygamma, 0), "polygamma": _polygamma},
}
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **{name: np.vectorize(function, otypes=[float]) for name, function in _OF_NUMBERS.items()},
    "matrix_exp": _expm,
}
"""Functions that NumPy lacks, so that values need no SciPy."""

"""Central finite differences in float64: what a user would have done by hand, with the step chosen by its error.

D(h) = (f(x+h) - f(x-h))/2h is off by about c·h², as the slope changes along the way, and by about eps·|f|/h, as f is
rounded.  The two balance near h = eps**(1/3) times the scale on which f changes, which nobody knows: so a few steps are
tried, and the one with the least estimate is kept.  The estimate knows nothing of digits lost inside of f.
Source: W. H. Press et al., Numerical Recipes, 3rd edition, section 5.7.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from gradcli.autodiff.jacobians import value
from gradcli.autodiff.run import prepared, run
from gradcli.errors import InputError
from gradcli.language.program.wengert import Atom, Program, Shape

Array = npt.NDArray[np.floating]

Column = tuple[str, int]
"""A variable and the flat position of one of its elements."""

Differences = Mapping[tuple[str, int, int], tuple[float, float]]
"""The difference quotient and its error, by variable, flat position in x and flat position in y (-1: of v·y)."""

PRODUCT = -1
"""The row that stands for v·y."""

EPSILON = 2.0**-52
"""The distance from 1 to the next float64."""

SCALES = (100.0, 10.0, 1.0, 0.1, 0.01)
"""The steps that are tried, in units of eps**(1/3) times the scale of x."""

SMALL = 0.01
"""An x nearer to 0 than this may be the scale on which f changes; else it is at least 1."""

MAX_COLUMNS = 64
"""Columns for which differences are taken, as each takes `4*len(SCALES)` runs of the function, or twice as many."""

MAX_WORK = 300_000_000
"""Elements that all runs together may compute: about half a second."""

LINE_WORK = 5_000
"""Elements that could be computed in the time that torch takes to call one operation."""


def affordable(program: Program, shapes: Mapping[Atom, Shape]) -> int:
    """The number of columns whose differences take at most `MAX_WORK`, and at most `MAX_COLUMNS`."""
    elements = sum(math.prod(shapes[atom]) for atom in (*program.variables, *(line.symbol for line in program.lines)))
    work = 4 * len(SCALES) * (elements + LINE_WORK * (1 + len(program.lines)))
    return min(MAX_COLUMNS, MAX_WORK // work)


def differences(
    program: Program, inputs: Mapping[str, Array], wanted: Mapping[Column, Sequence[int]], v: Array | None = None
) -> Differences:
    """Difference quotients for some columns, each at some flat rows of y, in float64 whatever the inputs' dtype.

    Args:
        program: The function.
        inputs: An array per variable.
        wanted: The rows for each column; `PRODUCT` asks for the derivative of v·y.
        v: The gradient vector, of y's shape.

    Returns:
        Quotients with their errors; none where f has no finite values around x.

    >>> from gradcli.language.parsing import parse
    >>> (quotient, error), = differences(parse("x**3"), {"x": np.array(2.0)}, {("x", 0): [0]}).values()
    >>> abs(quotient - 12) <= error < 1e-8
    True
    """
    exact = {name: np.asarray(array, dtype=np.float64) for name, array in inputs.items()}
    ready = prepared(program)
    found: dict[tuple[str, int, int], tuple[float, float]] = {}
    for (name, position), rows in wanted.items():

        def evaluate(at: float, name: str = name, position: int = position, rows: Sequence[int] = rows) -> Array:
            moved = exact[name].copy()
            moved.ravel()[position : position + 1] = at
            return _outputs(ready, {**exact, name: moved}, rows, v)

        quotients, errors = _column(evaluate, float(exact[name].ravel()[position]), len(rows))
        for row, quotient, error in zip(rows, quotients.tolist(), errors.tolist(), strict=True):
            if math.isfinite(error):
                found[name, position, row] = quotient, error
    return found


def _outputs(program: Program, inputs: Mapping[str, Array], rows: Sequence[int], v: Array | None) -> Array:
    """The wanted elements of y, and v·y where it is asked for; NaN where torch refuses the inputs."""
    try:
        y = value(run(program, inputs, (), "float64")).ravel()
    except InputError:
        return np.full(len(rows), np.nan)
    with np.errstate(all="ignore"):
        total = np.nan if v is None else _product(v.ravel().astype(np.float64), y)
        return np.array([total if row == PRODUCT else y[row] for row in rows])


def _product(v: Array, y: Array) -> float:
    """The sum of v*y, where a weight of 0 leaves out what is not finite."""
    return float(np.sum(v[v != 0] * y[v != 0]))


def _column(evaluate: Callable[[float], Array], x: float, rows: int) -> tuple[Array, Array]:
    """For each row the quotient with the least error among the steps; an infinite error where there is none."""
    quotients, errors = np.zeros(rows), np.full(rows, np.inf)
    if not math.isfinite(x):
        return quotients, errors
    for h in _steps(x):
        wide, _ = _quotient(evaluate, x, h, rows)
        # Two steps: their difference estimates the truncation, and the rounding is eps*|f|/h.
        narrow, largest = _quotient(evaluate, x, h / 2, rows)
        with np.errstate(all="ignore"):
            estimate = np.abs(wide - narrow) + EPSILON * largest / (h / 2)
            better = estimate < errors  # False for NaN
        quotients[better], errors[better] = narrow[better], estimate[better]
    return quotients, errors


def _steps(x: float) -> Iterable[float]:
    scales = [max(1.0, abs(x)), *([abs(x)] if 0 < abs(x) < SMALL else [])]
    return (EPSILON ** (1 / 3) * scale * factor for scale in scales for factor in SCALES)


def _quotient(evaluate: Callable[[float], Array], x: float, h: float, rows: int) -> tuple[Array, Array]:
    """The central difference quotient and the largest magnitude of f; the step is what x moves by, as rounded."""
    above, below = x + h, x - h
    if not (below < above and math.isfinite(above - below)):
        nothing = np.full(rows, np.nan)
        return nothing, nothing
    high, low = evaluate(above), evaluate(below)
    with np.errstate(all="ignore"):
        return (high - low) / (above - below), np.maximum(np.abs(high), np.abs(low))


def columns_of(entries: Iterable[tuple[str, int, int]], most: int) -> dict[Column, list[int]]:
    """The rows of each column, for the first columns that some entries are in.

    >>> columns_of([("x", 0, 1), ("x", 1, 1), ("x", 0, 2)], most=1)
    {('x', 0): [1, 2]}
    """
    wanted: dict[Column, list[int]] = {}
    for name, position, row in entries:
        if (name, position) in wanted or len(wanted) < most:
            wanted.setdefault((name, position), []).append(row)
    return wanted

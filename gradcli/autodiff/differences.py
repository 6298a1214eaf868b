"""Finite differences, to compare with: central ones in float64, the step chosen by its error.

D(h) = (f(x+h) - f(x-h))/2h is off by about c·h², as the slope changes along the way, and by about eps·|f|/h, as f is
rounded.  The two balance near h = eps**(1/3) times the scale on which f changes, which nobody knows: so a few steps are
tried, and the one with the least estimate is kept.  The estimate knows nothing of digits lost inside of f.

Source: W. H. Press et al., Numerical Recipes, 3rd edition, section 5.7.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from gradcli.autodiff.batched import Array, Batch, block
from gradcli.language.program.wengert import Program, Shape

Column = tuple[str, int]
"""A variable and the flat position of one of its elements."""

Place = tuple[str, int, int]
"""A variable, the flat position of one of its elements, and one in y (-1: of v·y)."""

PRODUCT = -1
"""The row that stands for v·y."""

EPSILON = 2.0**-52
"""The distance from 1 to the next float64."""

SCALES = (100.0, 10.0, 1.0, 0.1, 0.01)
"""The steps that are tried, in units of eps**(1/3) times the scale of x."""

SMALL = 0.01
"""An x nearer to 0 than this may be the scale on which f changes; else it is at least 1."""


def differences(
    program: Program,
    inputs: Mapping[str, Array],
    wanted: Mapping[Column, Sequence[int]],
    v: Array | None = None,
    shape: Shape = (),
) -> Iterator[tuple[Place, tuple[float, float]]]:
    """Difference quotients for some columns, each at some flat rows of y, in float64 whatever the inputs' dtype.

    Args:
        program: The function.
        inputs: An array per variable.
        wanted: The rows for each column; `PRODUCT` asks for the derivative of v·y.
        v: The gradient vector, of y's shape.
        shape: Of y.

    Yields:
        Places with quotients and their errors, column by column; none where f has no finite values around x.

    >>> from gradcli.language.parsing import parse
    >>> found = dict(differences(parse("x**3"), {"x": np.array(2.0)}, {("x", 0): [0]}))
    >>> quotient, error = found["x", 0, 0]
    >>> abs(quotient - 12) <= error < 1e-8
    True
    """
    exact = {name: np.asarray(array, dtype=np.float64) for name, array in inputs.items()}
    for (name, position), rows in wanted.items():
        x = float(exact[name].ravel()[position])
        scales = [max(1.0, abs(x)), *([abs(x)] if 0 < abs(x) < SMALL else [])]
        tried = []
        for h in (EPSILON ** (1 / 3) * scale * factor for scale in scales for factor in SCALES):
            with np.errstate(all="ignore"):
                at = x + np.array([h, -h, h / 2, -h / 2])
                moved = np.repeat(exact[name][None], 4, axis=0)
                moved.reshape(4, -1)[:, position] = at
                y = np.empty((4, *shape))
                block(Batch(program, {**exact, name: moved}, (name,), (), "float64", 4, shape), [y])
                f = _wanted(y.reshape(4, -1), rows, v)
                # Two steps, as x moves when rounded: their difference estimates the truncation, eps*|f|/h the rounding.
                wide, narrow = ((f[n] - f[n + 1]) / (at[n] - at[n + 1]) for n in (0, 2))
                errors = np.abs(wide - narrow) + EPSILON * np.abs(f[2:]).max(axis=0) / (h / 2)
            tried.append((narrow, np.where(np.isnan(errors), np.inf, errors)))
        quotients, errors = map(np.array, zip(*tried, strict=True))
        for n, (row, best) in enumerate(zip(rows, errors.argmin(axis=0), strict=True)):
            if math.isfinite(errors[best, n]):
                yield (name, position, row), (float(quotients[best, n]), float(errors[best, n]))


def _wanted(y: Array, rows: Sequence[int], v: Array | None) -> Array:
    """The wanted elements of y at each point, and v·y, where a weight of 0 leaves out what is not finite."""
    weights = None if v is None else v.ravel().astype(np.float64)
    total = np.nan if weights is None else (weights * y)[:, weights != 0].sum(axis=1)
    return np.stack([total if row == PRODUCT else y[:, row] for row in rows], axis=-1)

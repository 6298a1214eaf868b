"""Finite differences, to compare with: central ones in float64, the step chosen by its error.

D(h) = (f(x+h) - f(x-h))/2h is off by about c·h², as the slope changes along the way, and by about eps·|f|/h, as f is
rounded.  The two balance near h = eps**(1/3) times the scale on which f changes, which nobody knows: so a few steps are
tried, and the one with the least estimate is kept.  The estimate knows nothing of digits lost inside of f.

Source: W. H. Press et al., Numerical Recipes, 3rd edition, section 5.7.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from gradcli.autodiff.batched import Array, Batch, block
from gradcli.language.program.wengert import Program, Shape

PRODUCT = -1
"""The row that stands for v·y."""

EPSILON = 2.0**-52
"""The distance from 1 to the next float64."""

SCALES = (100.0, 10.0, 1.0, 0.1, 0.01)
"""The steps that are tried, in units of eps**(1/3) times the scale of x."""

SMALL = 0.01
"""An x nearer to 0 than this may be the scale on which f changes; else it is at least 1."""


def difference(
    program: Program,
    inputs: Mapping[str, Array],
    place: tuple[str, int, int],
    v: Array | None = None,
    shape: Shape = (),
) -> tuple[float, float] | None:
    """The difference quotient at a place, and its error, in float64 whatever the inputs' dtype.

    Args:
        program: The function.
        inputs: An array per variable.
        place: A variable, the flat position of one of its elements, and one in y, or `PRODUCT` for v·y.
        v: The gradient vector, of y's shape.
        shape: Of y.

    Returns:
        None where f has no finite values around x.

    >>> from gradcli.language.parsing import parse
    >>> quotient, error = difference(parse("x**3"), {"x": np.array(2.0)}, ("x", 0, 0))
    >>> abs(quotient - 12) <= error < 1e-8
    True
    """
    name, position, row = place
    exact = {name: np.asarray(array, dtype=np.float64) for name, array in inputs.items()}
    x = float(exact[name].ravel()[position])
    scales = [max(1.0, abs(x)), *([abs(x)] if 0 < abs(x) < SMALL else [])]
    best = math.nan, math.inf
    for h in (EPSILON ** (1 / 3) * scale * factor for scale in scales for factor in SCALES):
        with np.errstate(all="ignore"):
            at = x + np.array([h, -h, h / 2, -h / 2])
            moved = np.repeat(exact[name][None], 4, axis=0)
            moved.reshape(4, -1)[:, position] = at
            y = np.empty((4, *shape))
            block(Batch(program, {**exact, name: moved}, (name,), (), "float64", 4, shape), [y])
            f = y.reshape(4, -1)[:, row]
            if row == PRODUCT and v is not None:  # a weight of 0 leaves out what is not finite
                f = (v.ravel() * y.reshape(4, -1))[:, v.ravel() != 0].sum(axis=1)
            # Two steps, as x moves when rounded: their difference estimates the truncation, eps*|f|/h the rounding.
            wide, narrow = ((f[n] - f[n + 1]) / (at[n] - at[n + 1]) for n in (0, 2))
            error = abs(wide - narrow) + EPSILON * np.abs(f[2:]).max() / (h / 2)
        best = (float(narrow), float(error)) if error < best[1] else best
    return best if math.isfinite(best[1]) else None

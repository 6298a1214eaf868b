"""Claimed derivatives against the enclosure at the point alone (an adapter, until claims are proved)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

import numpy as np
import sympy

from gradcli.check.entry import Tolerance, to_float
from gradcli.check.point import Point, unravel
from gradcli.errors import InputError
from gradcli.language.grammar import parse
from gradcli.language.indexing import Shape
from gradcli.language.numeric import run
from gradcli.language.program import Atom, Program
from gradcli.reference.duals import Reference
from gradcli.reference.rules import Trouble
from gradcli.results import Array, Claim

BITS = 256


def claimed(
    program: Program,
    shapes: Mapping[Atom, Shape],
    inputs: Mapping[str, Array],
    variable: str,
    text: str,
    v: Array | None,
    tolerance: Tolerance,
    *,
    points: int = 1,
    seed: int = 0,
    dtype: str = "float64",
) -> Claim:
    """A formula of the language against the truth at the point."""
    claim = parse(text)
    known = {**inputs, **({} if v is None else {"v": v})}
    for name in claim.names:
        if name not in known:
            raise InputError(f"--claim names '{name}', which is no variable")
    numbers = run(claim, {s: np.asarray(known[str(s)], dtype=np.float64) for s in claim.variables})
    return _compared(program, shapes, inputs, variable, text, v, tolerance, numbers)


def expected(
    program: Program,
    shapes: Mapping[Atom, Shape],
    inputs: Mapping[str, Array],
    variable: str,
    numbers: Array,
    v: Array | None,
    tolerance: Tolerance,
    *,
    dtype: str = "float64",
) -> Claim:
    """Numbers against the truth at the point."""
    text = np.array2string(numbers, separator=", ")
    return _compared(program, shapes, inputs, variable, text, v, tolerance, numbers)


def _compared(
    program: Program,
    shapes: Mapping[Atom, Shape],
    inputs: Mapping[str, Array],
    variable: str,
    text: str,
    v: Array | None,
    tolerance: Tolerance,
    numbers: Array,
) -> Claim:
    point = Point.of(program, shapes, inputs)
    symbol = sympy.Symbol(variable, real=True)
    x, y = point.shapes[symbol], point.shapes.get(point.program.output, ())
    plan = Reference(point.program, point.shapes, point.inputs).plan([(symbol, j) for j in range(math.prod(x))])
    truth = np.zeros((point.rows, math.prod(x)))
    for (j, row), ball in plan.run(BITS).columns.items():
        truth[row, j] = np.nan if isinstance(ball, Trouble) else to_float(ball)
    of: Literal["gradient", "Jacobian", "vector-Jacobian product"] = "gradient" if point.rows == 1 else "Jacobian"
    shape: Shape = x if point.rows == 1 else (*y, *x)
    if v is not None:
        truth, shape, of = v.ravel() @ truth, x, "vector-Jacobian product"
    if numbers.shape != shape:
        raise InputError(f"the claim has shape {numbers.shape}, and the {of} has shape {shape}")
    found, true = numbers.ravel(), truth.ravel()
    wrong = ~(np.abs(found - true) <= tolerance.atol + tolerance.rtol * np.abs(true))
    if not wrong.any():
        return Claim(variable, text, of, "no counterexample", 1)
    n = int(np.argmax(wrong))
    return Claim(variable, text, of, "refuted", 1, unravel(n, shape), float(found[n]), float(true[n]), dict(inputs))

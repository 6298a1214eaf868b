"""A claim as a differential: `df = trace(G.T@dX)` says that the gradient by X is G.

The right-hand side is linear in dX, and its gradient by dX is the derivative that is claimed: of one number the
gradient, else vᵀJ.

Source: J. R. Magnus, H. Neudecker, "Matrix Differential Calculus", 2019, chapter 5.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

import numpy as np
import sympy

from gradcli.adjoint.gradient import gradient
from gradcli.errors import InputError, Place, Span
from gradcli.language.lower.context import Known
from gradcli.language.parsing import parse_claim
from gradcli.language.program import numeric
from gradcli.language.program.passes import for_formulas
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Program, Shape, show
from gradcli.language.text.source import SourceText
from gradcli.parts.claims.equations import differentials_in
from gradcli.parts.claims.subject import VECTOR, Subject

_SEED = 0


def read_differential(source: SourceText, subject: Subject, known: Mapping[str, Shape]) -> Program:
    """Read a claim of a differential as that of the derivative.

    Args:
        source: The text.
        subject: What it is of.
        known: Shapes of what it may name.

    Raises:
        LanguageError: It is not in the language.
        InputError: It has not the shape of y, or is not linear in the differentials.
    """
    names = [str(symbol) for symbol in subject.shapes]
    moved = differentials_in(source.text, names)
    start = source.text.index("=") + 1
    shapes = {**known, **{f"d{name}": known[name] for name in moved}}
    right = SourceText(" " * start + source.text[start:], source.name)
    program = parse_claim(right, Known(frozenset(shapes), shapes))
    place = Place(source.text, Span(start, len(source.text)), source.name)
    of_symbols = infer(program, {symbol: shapes[str(symbol)] for symbol in program.variables if str(symbol) in shapes})
    own = of_symbols[program.output]
    if own != subject.y and not (math.prod(own) == math.prod(subject.y) == 1):
        raise InputError(f"the differential has shape {show(own)}, and y {show(subject.y)}", place=place)
    _require_homogeneous(program, shapes, moved, place)
    return _derivative(program, subject, shapes, moved, place)


def _derivative(
    program: Program, subject: Subject, shapes: Mapping[str, Shape], moved: Collection[str], place: Place
) -> Program:
    """Differentiate the differential by that of the variable.

    Raises:
        InputError: It is not linear in it.
    """
    primitive = for_formulas(program)
    symbols = {str(symbol): symbol for symbol in primitive.variables}
    target = symbols.get(f"d{subject.variable}")
    if target is None:
        return parse_claim(SourceText(f"zeros({list(subject.x)})" if subject.x else "0", place.source), Known())
    weight: sympy.Expr = sympy.S.One if math.prod(subject.y) == 1 else VECTOR
    of_symbols = infer(primitive, {symbol: shapes[name] for name, symbol in symbols.items()})
    of_symbols |= {} if weight == 1 else {VECTOR: subject.y}
    found = gradient(primitive, of_symbols, [target], {primitive.output: weight}, masks=True).function(target)
    left = [name for name in moved if f"d{name}" in found.names]
    if left:
        said = f"a differential is linear in d{left[0]}, and this is not"
        raise InputError(said, place=place, hint="write it as trace(G.T@dX), or g@dx, with the gradient G")
    return found


def _require_homogeneous(program: Program, shapes: Mapping[str, Shape], moved: Collection[str], place: Place) -> None:
    """Refuse terms without a differential: where nothing moves, it is 0."""
    generator = np.random.default_rng(_SEED)
    still = {f"d{name}" for name in moved}
    values = {
        symbol: np.zeros(shapes[name]) if name in still else generator.uniform(0.5, 1.5, shapes[name])
        for symbol, name in zip(program.variables, program.names, strict=True)
    }
    with np.errstate(all="ignore"):
        rest = np.asarray(numeric.run(program, values))
    if np.isfinite(rest).all() and np.any(np.abs(rest) > 1e-9):
        raise InputError(
            f"a term of the differential has no {' or '.join(sorted(still))}", place=place, hint="leave it out"
        )

"""A claim proved equal to the closed form of the derivative, for all points where both exist; and equal functions.

First in whole tensors, by `algebraic_proof`.  Then with symbolic indices, where sizes above `element.LARGE` are
symbols, so that the proof holds for all such sizes; else entry by entry with all sums written out, for the sizes at
hand.  `regions` tells the cases apart.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import sympy
from sympy import Expr, Integer
from sympy.core.traversal import bottom_up

from gradcli.crosscheck.point import unravel
from gradcli.errors import Span
from gradcli.language.ops import Kind
from gradcli.language.program.passes import for_formulas
from gradcli.language.program.shapes import infer
from gradcli.language.program.sympy_functions import Multiplied
from gradcli.language.program.wengert import Atom, Builder, Program, Shape, show
from gradcli.parts.claims.claim_readings import Reading, as_written, exact
from gradcli.parts.claims.proof_boxes import ProofBox
from gradcli.parts.claims.regions import Region, Regions, hides_kinks, with_rivals
from gradcli.parts.claims.subject import VECTOR, Subject
from gradcli.reference.deadline import OverTimeError, time_limit
from gradcli.symbolic.derivative import Derivative, differentiate
from gradcli.symbolic.element import Entries
from gradcli.symbolic.identity import MOST_NODES, rewritten, size
from gradcli.symbolic.linear import Ranges, assemble, linear, tidied
from gradcli.symbolic.origins import LARGE, NoFormulaError, aligned

if TYPE_CHECKING:
    from gradcli.parts.claims.algebraic_proof import AlgebraicProof

MOST_WRITTEN = 25
"""Entries that are proved one by one."""

LONGEST_SUM = 64
"""Terms of a sum that is written out."""

_SIZE = re.compile(r"\b(len|shape|size|numel|nelement|dim|ndim)\b(?!\s*=)")
"""Words for sizes of values."""

IMAGINED = sympy.Symbol("the gradient vector", real=True)
"""Symbol of the gradient vector where the function has a variable v."""


@dataclass(frozen=True)
class Proof:
    """Proof of a claim, with the shapes and the points that it holds for.

    Attributes:
        shapes: For which shapes, in words.
        is_open: Whether only for points at which nothing that a branch depends on is 0.
        has_kinks: Whether there are points without a derivative, at which the claim says another number than a slope.
        is_of_box: Whether only for points of the box that it was asked for.
        left_out: What is not 0 at the points that it is for, where that is known.
    """

    shapes: str
    is_open: bool
    has_kinks: bool
    is_of_box: bool = False
    left_out: Expr | None = None


def prove(
    subject: Subject, reading: Reading, *, at_kinks_too: bool = True, box: ProofBox | None = None
) -> Proof | None:
    """Prove a claim; None if no proof was found in time.

    Args:
        subject: The function.
        reading: The claim.
        box: Where it is to hold, if not everywhere.
        at_kinks_too: Whether to look for a proof that holds where branches change, too, if there is one that does not.
    """
    elsewhere: Proof | None = None
    if _joins_elements(subject.program):
        for is_open in (False, True):
            with _no_proof(), suppress(OverTimeError), time_limit():
                if (found := _by_algebra(subject, reading, has_kinks=is_open)) is not None:
                    elsewhere = Proof(_shapes_with_any(subject, found), is_open, has_kinks=is_open)
                    break
    if elsewhere is not None and not (elsewhere.is_open and at_kinks_too):
        return elsewhere
    return _by_elements(subject, reading, box) or elsewhere


def _by_elements(subject: Subject, reading: Reading, box: ProofBox | None) -> Proof | None:
    """Prove a claim by formulas of one element, first where branches change, too."""
    with _no_proof(), suppress(OverTimeError), time_limit():
        sides = _closed_forms(subject, reading)
        for is_open in (False, True):
            regions = Regions(sides.ranges, is_open=is_open, box=box)
            # One formula may hold for all entries where v is a symbol or one number.
            if reading.of != "vector-Jacobian product" or reading.names_vector or _is_constant(subject):
                if _holds_in_general(subject, sides, regions):
                    entries = None if box else sides.entries
                    return Proof(
                        _shapes(subject, entries), is_open, regions.has_kinks, regions.is_of_box, regions.left_out
                    )
                if sides.derivative.sizes and _holds_in_general(subject, sides.at_hand, regions):
                    return Proof(
                        _shapes(subject, None), is_open, regions.has_kinks, regions.is_of_box, regions.left_out
                    )
            with _no_proof():
                if _holds_written_out(subject, reading, sides, regions):
                    return Proof(
                        _shapes(subject, None), is_open, regions.has_kinks, regions.is_of_box, regions.left_out
                    )
    return None


def are_same(one: Program, other: Program, shapes: Mapping[str, Shape], box: ProofBox | None = None) -> bool:
    """Tell whether two Programs are proved to be one function of these shapes; that no proof is found says nothing.

    Args:
        one: A function.
        other: Of the same variables.
        shapes: Of the variables by name.
        box: Where they are to be the same, if not everywhere.

    >>> from gradcli.language.parsing import parse
    >>> are_same(parse("1 - cos(x)"), parse("2*sin(x/2)**2"), {"x": ()})
    True
    >>> are_same(parse("sqrt(x**2)"), parse("x"), {"x": ()})
    False
    """
    with _no_proof(), suppress(OverTimeError), time_limit():
        known = {s: shapes[str(s)] for program in (one, other) for s in program.variables}
        first, second = (_entries(program, known) for program in (one, other))
        shape = first.shapes.get(first.program.output, ())
        if second.shapes.get(second.program.output, ()) == shape:
            index = first.indices("i", shape)
            left = first.entry(first.program.output, index)
            second.sizes.symbols.update(first.sizes.symbols)
            second.ranges.update(first.ranges)  # with its sums: those of the second are numbered after them
            right = second.entry(second.program.output, index)
            return _holds(left, right, None, Regions(second.ranges, box=box))
    return False


def _entries(program: Program, shapes: Mapping[sympy.Symbol, Shape]) -> Entries:
    """Write the elements of a function in index notation."""
    written = as_written(for_formulas(program))
    return Entries(written, infer(written, {s: shapes[s] for s in written.variables}, bounded=False))


def _no_proof() -> AbstractContextManager[None]:
    """Suppress the errors that end a try: no formula, too deep a recursion, or non-real numbers to compare."""
    return suppress(NoFormulaError, RecursionError, TypeError)


# -- both sides in closed form


@dataclass(frozen=True)
class _Sides:
    """The derivative, and the claim in the same indices."""

    derivative: Derivative
    claim: Expr
    entries: Entries

    @property
    def ranges(self) -> Ranges:
        """The ranges of the indices of both sides."""
        return {**self.derivative.ranges, **self.entries.ranges}

    @property
    def at_hand(self) -> _Sides:
        """Both sides with numbers for the sizes, in place of symbols: a proof is then of these sizes alone."""
        sizes = {symbol: Integer(n) for symbol, n in self.derivative.sizes.items()}
        sizes |= {symbol: Integer(n) for n, symbol in self.entries.sizes.symbols.items()}
        cases = tuple((chosen, expression.xreplace(sizes)) for chosen, expression in self.derivative.cases)
        return replace(self, derivative=replace(self.derivative, cases=cases), claim=self.claim.xreplace(sizes))


def _closed_forms(subject: Subject, reading: Reading) -> _Sides:
    """Derive both sides in closed form.

    Raises:
        NoFormulaError: One has none.
    """
    program, shapes = _function(subject, reading)
    derivative = differentiate(program, shapes, subject.variable)
    index = (*derivative.rows, *derivative.columns) if reading.of == "Jacobian" else derivative.columns
    assert reading.program is not None, "numbers have no closed form"  # noqa: S101
    entries = _entries(reading.program, subject.known)
    entries.sizes.symbols.update({n: symbol for symbol, n in derivative.sizes.items()})
    entries.ranges.update(derivative.ranges)
    # A claim may have fewer dimensions than the derivative, and broadcasts from the last.
    own = index[len(index) - len(reading.own) :]
    full = reading.shape[len(reading.shape) - len(reading.own) :]
    claim = entries.entry(entries.program.output, aligned(own, full, reading.own))
    ranges = {**derivative.ranges, **entries.ranges}
    sides = _Sides(derivative, assemble(linear(claim, ranges)), entries)
    return _of_positives(subject, sides) if subject.assumed else sides


def _of_positives(subject: Subject, sides: _Sides) -> _Sides:
    """Write the variables that are assumed to be positive as positive ones."""
    names = _positives(subject)
    cases = tuple((chosen, expression.xreplace(names)) for chosen, expression in sides.derivative.cases)
    derivative = replace(sides.derivative, cases=cases)
    return replace(sides, derivative=derivative, claim=sides.claim.xreplace(names)) if names else sides


def _positives(subject: Subject) -> dict[Expr, Expr]:
    found: dict[Expr, Expr] = {}
    for name in (name for name, one in subject.assumed.items() if one.is_of_positives):
        found[sympy.IndexedBase(name, real=True)] = sympy.IndexedBase(name, positive=True)
        found[sympy.Symbol(name, real=True)] = sympy.Symbol(name, positive=True)
    return found


def _function(subject: Subject, reading: Reading) -> tuple[Program, Mapping[Atom, Shape]]:
    """Return the function to differentiate: y, sum(v*y) with a symbol for v, or the number of all its elements."""
    program, known = as_written(for_formulas(subject.program)), dict(subject.shapes)
    span, output = Span(0, len(program.text)), program.output
    builder = Builder(program.text, program.source, lines=list(program.lines))
    is_product = reading.of == "vector-Jacobian product"
    if is_product:
        vector: Atom = VECTOR if reading.names_vector else IMAGINED
        if not reading.names_vector and _is_constant(subject):
            vector = _fraction(float(subject.weights.flat[0]))
        else:
            known[vector] = subject.y
            program = replace(program, variables=(*program.variables, vector))
        output = builder.emit("mul", (vector, output), span)
    if is_product or (reading.of == "gradient" and subject.y):
        output = builder.emit("sum", (output,), span, (None, False))
    program = replace(program, lines=tuple(builder.lines), output=output)
    return program, infer(program, known, bounded=False)


def _is_constant(subject: Subject) -> bool:
    return subject.weights.size > 0 and bool(np.all(subject.weights == subject.weights.flat[0]))


def _fraction(number: float) -> Expr:
    if not math.isfinite(number):
        raise NoFormulaError("v is not finite")
    return exact(sympy.Float(number, precision=53))


def _joins_elements(program: Program) -> bool:
    """Tell whether a function has sums or products of several elements; else one element says it all."""
    joining = (Kind.CONTRACTION, Kind.MATRIX, Kind.REDUCTION, Kind.SPECTRAL)
    return any(line.call.op.kind in joining for line in for_formulas(program).lines)


def _by_algebra(subject: Subject, reading: Reading, *, has_kinks: bool) -> AlgebraicProof | None:
    """Prove a claim in whole tensors; if there may be kinks, at points at which no branch changes."""
    from gradcli.parts.claims.algebraic_proof import algebraic_proof

    is_of_all = reading.of != "vector-Jacobian product" or reading.names_vector or _is_constant(subject)
    if not is_of_all or reading.program is None:
        return None
    program, shapes = _function(subject, reading)
    known = {**subject.known, **{symbol: shapes[symbol] for symbol in program.variables}}
    claim = as_written(for_formulas(reading.program))
    is_jacobian = reading.of == "Jacobian"
    found = algebraic_proof(program, claim, known, subject.variable, is_jacobian=is_jacobian, has_kinks=has_kinks)
    # A size that is read off a value is a number in a Program, as are those of code that ran.
    has_sizes = any(one.called or _SIZE.search(one.text) for one in (subject.program, reading.program))
    return replace(found, sizes=frozenset()) if found is not None and has_sizes else found


def _shapes_with_any(subject: Subject, found: AlgebraicProof) -> str:
    """Write the shapes at hand, the sizes in place of which any others may stand, and what must be so."""
    held = {n for shape in subject.shapes.values() for n in shape} & found.sizes
    more = f", and with any size in place of {', '.join(map(str, sorted(held)))}" if held else ""
    shown = _shapes(subject, None)
    where = f", where {' and '.join(found.conditions)}" if found.conditions else ""
    return f"{shown}{more}{where}" if shown else ""


def _shapes(subject: Subject, entries: Entries | None) -> str:
    shown = [f"{symbol} of shape {show(shape)}" for symbol, shape in subject.shapes.items() if shape]
    large = {n for shape in subject.shapes.values() for n in shape if n > LARGE and entries is not None}
    more = f", and with any size above {LARGE} in place of {', '.join(map(str, sorted(large)))}" if large else ""
    return f"for {' and '.join(shown)}{more}" if shown else ""


# -- with symbolic indices


def _holds_in_general(subject: Subject, sides: _Sides, regions: Regions) -> bool:
    derivative = sides.derivative
    target = sympy.IndexedBase(str(subject.variable), real=True)[derivative.columns] if subject.x else subject.variable
    for chosen, expression in derivative.cases:
        target = target.xreplace(_positives(subject)) if subject.assumed else target
        if not _holds(expression, sides.claim.xreplace(chosen), target.xreplace(chosen), regions):
            return False
    return True


def _holds(truth: Expr, claim: Expr, target: Expr | None, regions: Regions) -> bool:
    """Tell whether both are proved to be the same: derivatives by a target, or values without one."""
    if size(truth) > MOST_NODES or size(claim) > MOST_NODES:
        return False
    box = regions.box
    if box is not None:
        held = box.held(target)
        truth, claim = truth.xreplace(held), claim.xreplace(held)
    if target is None:
        sides = sympy.Tuple(*(assemble(linear(side, regions.ranges)) for side in (truth, claim)))
    else:
        sides = with_rivals(tidied(sympy.Tuple(truth, claim)), target)
    truth, claim = tidied(sympy.Tuple(*map(rewritten, sides.args))).args
    if target is not None and not regions.is_open and hides_kinks(truth, target):
        return False
    limits = () if box is None else box.limits(truth, claim)
    return regions.agree(Region(truth, claim, truth, target, limits=limits))


# -- entry by entry


def _holds_written_out(subject: Subject, reading: Reading, sides: _Sides, regions: Regions) -> bool:
    derivative = sides.derivative
    y = subject.y if reading.of == "Jacobian" else ()
    if math.prod(y) * math.prod(subject.x) > MOST_WRITTEN or derivative.sizes:
        return False
    weights = _weights(subject, reading)
    for row in range(math.prod(y)):
        for column in range(math.prod(subject.x)):
            at = unravel(column, subject.x)
            truth, values = derivative.entry_formula(unravel(row, y), at)
            here = {symbol: Integer(n) for symbol, n in values.items()}
            written = [bottom_up(side.xreplace(here), _terms_of).xreplace(weights) for side in (truth, sides.claim)]
            target = sympy.IndexedBase(str(subject.variable), real=True)[at] if at else subject.variable
            if not _holds(written[0], written[1], target.xreplace(_positives(subject)), regions):
                return False
    return True


def _weights(subject: Subject, reading: Reading) -> dict[Expr, Expr]:
    if reading.names_vector or reading.of != "vector-Jacobian product":
        return {}
    element = sympy.IndexedBase(str(IMAGINED), real=True)
    numbers = np.ndenumerate(subject.weights)
    return {element[index] if index else IMAGINED: _fraction(float(number)) for index, number in numbers}


def _terms_of(expression: Expr) -> Expr:
    """Write out a sum or a product of known length.

    Raises:
        NoFormulaError: it is longer than `LONGEST_SUM`, or all are too long.
    """
    if not isinstance(expression, sympy.Sum | Multiplied):
        return expression
    is_sum = isinstance(expression, sympy.Sum)
    body = expression.function if is_sum else expression.body
    indices = [k for k, _, _ in expression.limits]
    if not all(end.is_Integer for _, *ends in expression.limits for end in ends):
        raise NoFormulaError("a sum of unknown length")
    ranges = [range(int(first), int(last) + 1) for _, first, last in expression.limits]
    if math.prod(map(len, ranges)) * size(body) > min(LONGEST_SUM * 20, MOST_NODES):
        raise NoFormulaError("a sum that is too long")
    points = (dict(zip(indices, map(Integer, at), strict=True)) for at in itertools.product(*ranges))
    return (sympy.Add if is_sum else sympy.Mul)(*map(body.xreplace, points))

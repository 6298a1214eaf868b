"""Prove that two texts are one function, wherever both have a value.

Both are written in index notation, and their difference is 0 in every region between their branches, and on the
boundaries of these.  Decimals count as the fractions that they are written as.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import sympy

from gradcli.claims.regions import Region, Regions
from gradcli.claims.subject import as_written
from gradcli.language.program.expansion import in_primitives
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Program, Shape
from gradcli.reference.deadline import OverTimeError, time_limit
from gradcli.symbolic.element import Entries
from gradcli.symbolic.identity import MOST_NODES, rewritten, size, vanishes
from gradcli.symbolic.linear import assemble, linear, tidied
from gradcli.symbolic.origins import NoFormulaError


def are_same(one: Program, other: Program, shapes: Mapping[str, Shape]) -> bool:
    """Tell whether two Programs are proved to be one function of these shapes; that no proof is found says nothing.

    Args:
        one: A function.
        other: Of the same variables.
        shapes: Of the variables by name.

    >>> from gradcli.language.parsing import parse
    >>> are_same(parse("1 - cos(x)"), parse("2*sin(x/2)**2"), {"x": ()})
    True
    >>> are_same(parse("sqrt(x**2)"), parse("x"), {"x": ()})
    False
    """
    with suppress(NoFormulaError, RecursionError, TypeError, OverTimeError), time_limit():
        return _are_same(one, other, shapes)
    return False


def _are_same(one: Program, other: Program, shapes: Mapping[str, Shape]) -> bool:
    first, second = _entries(one, shapes), _entries(other, shapes)
    shape = first.shapes.get(first.program.output, ())
    if second.shapes.get(second.program.output, ()) != shape:
        return False
    index = first.indices("i", shape)
    second.sizes.symbols.update(first.sizes.symbols)
    second.ranges.update(first.ranges)
    sides = [entries.entry(entries.program.output, index) for entries in (first, second)]
    ranges = {**first.ranges, **second.ranges}
    if any(size(side) > MOST_NODES for side in sides):
        return False
    left, right = (rewritten(assemble(linear(side, ranges))) for side in sides)
    left, right = tidied(sympy.Tuple(left, right)).args
    return _OfValues(ranges).agree(Region(left, right, left, sympy.S.Zero))


def _entries(program: Program, shapes: Mapping[str, Shape]) -> Entries:
    written = as_written(in_primitives(program))
    known = {symbol: shapes[str(symbol)] for symbol in written.variables}
    return Entries(written, infer(written, known, bounded=False))


class _OfValues(Regions):
    """Regions of two values, which are compared on a boundary as anywhere else."""

    def _agree_on_boundary(self, region: Region) -> bool:
        return vanishes(region.here(region.truth) - region.here(region.claim))

"""The formulas of Ju, of the Hessian and of Hu: derived, confirmed by the reference, shown only where they hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations_with_replacement
from typing import Literal

import numpy as np
import sympy

from gradcli.check.confirmed import MAX_FORMULAS
from gradcli.check.context import Point
from gradcli.check.formulas import PROBE_BITS, Known, chosen, confirm_known, element_of, lookups, with_refuted
from gradcli.check.second_order import Curvature, Truths, known_hessian, known_hvp, known_jvp
from gradcli.language.program.wengert import Program
from gradcli.results import Array, Check, Formula
from gradcli.symbolic import hessian
from gradcli.symbolic.derivative import Derivative
from gradcli.symbolic.index_maps import NoFormulaError
from gradcli.symbolic.printing import formula

Block = tuple[str, str]
"""The variables of row and column; empty where there is none."""


@dataclass(frozen=True)
class Found:
    """What became of the formulas.

    Attributes:
        shown: Those that hold.
        omitted: Why there is none, for the other blocks.
        refuted: Where the reference contradicts one.
        of: What they are formulas of.
    """

    shown: dict[Block, Formula]
    omitted: dict[Block, str]
    refuted: dict[Block, str]
    of: Literal["jvp", "hvp", "hessian"]

    def check(self, judged: Curvature | None) -> Check | None:
        """The verdict, with a finding for each formula that the reference contradicts."""
        if judged is None:
            return None
        check = judged.check
        for (row, column), reason in self.refuted.items():
            check = with_refuted(check, column or None, reason, self.of, row or None)
        return check


def of_jvp(point: Point, program: Program, u: Mapping[str, Array], judged: Curvature | None) -> Found:
    """The formula of Ju.

    Args:
        point: The Program and its inputs.
        program: As typed, for its names.
        u: The direction of each variable that moves.
        judged: What the reference found at the point, if it was asked.
    """
    confirming = _Confirming(
        "jvp", point, program, u, judged, lambda probe, moved, _: known_jvp(probe, moved, PROBE_BITS)
    )
    confirming.add(("", ""), lambda: hessian.jvp(point.program, point.shapes, confirming.names))
    return confirming.found


def of_hvp(
    point: Point, program: Program, u: Mapping[str, Array], wrt: Sequence[str], judged: Curvature | None
) -> Found:
    """The formulas of Hu, by variable; see `of_jvp`."""
    confirming = _Confirming(
        "hvp", point, program, u, judged, lambda probe, moved, block: known_hvp(probe, moved, block[1:], PROBE_BITS)
    )
    for name in wrt[:MAX_FORMULAS]:
        x = sympy.Symbol(name, real=True)
        confirming.add(("", name), partial(hessian.hvp, point.program, point.shapes, confirming.names, x))
    for name in wrt[MAX_FORMULAS:]:
        confirming.found.omitted["", name] = (
            f"formulas are given for {MAX_FORMULAS} variables, and there are {len(wrt)}"
        )
    return confirming.found


def of_hessian(point: Point, program: Program, wrt: Sequence[str], judged: Curvature | None) -> Found:
    """The formulas of the blocks of the Hessian; see `of_jvp`."""
    confirming = _Confirming(
        "hessian",
        point,
        program,
        {},
        judged,
        lambda probe, _, block: known_hessian(probe, tuple(dict.fromkeys(block)), PROBE_BITS),
    )
    pairs = list(combinations_with_replacement(wrt, 2))
    for number, (row, column) in enumerate(pairs):
        if number >= MAX_FORMULAS:
            reason = f"formulas are given for {MAX_FORMULAS} blocks, and there are {len(pairs)}"
            confirming.found.omitted.update({(row, column): reason, (column, row): reason})
            continue
        x, z = (sympy.Symbol(name, real=True) for name in (row, column))
        derivative = confirming.add((row, column), partial(hessian.hessian, point.program, point.shapes, x, z))
        if row != column:
            confirming.add((column, row), partial(_transposed, derivative))
    return confirming.found


def _transposed(derivative: Derivative | str) -> Derivative | str:
    return derivative if isinstance(derivative, str) else hessian.transposed(derivative)


class _Confirming:
    """The formulas of one answer, one after the other."""

    def __init__(
        self,
        of: Literal["jvp", "hvp", "hessian"],
        point: Point,
        program: Program,
        u: Mapping[str, Array],
        judged: Curvature | None,
        ask: Callable[[Point, Mapping[str, Array], Block], Truths],
    ) -> None:
        self.point, self.program, self.u, self.judged, self.ask = point, program, u, judged, ask
        self.names = hessian.direction_names(program, list(u))
        self.found = Found({}, {}, {}, of)

    def add(self, block: Block, derive: Callable[[], Derivative | str]) -> Derivative | str:
        """One more: the derivative, or why there is none."""
        try:
            derivative = derive()
        except NoFormulaError as error:
            derivative = str(error)
        if isinstance(derivative, str):
            self.found.omitted[block] = derivative
            return derivative
        known = None
        if self.judged is not None:
            known = self._known(self.point, self.u, self.judged.known, self.judged.bits, block)

        def asked(probe: Point, generator: np.random.Generator, box: tuple[float, float]) -> Known:
            shapes = {name: np.shape(probe.inputs[name]) for name in self.u}
            moved = {name: generator.uniform(*box, size=shape) for name, shape in shapes.items()}
            return self._known(probe, moved, self.ask(probe, moved, block), PROBE_BITS, block)

        confirmation = confirm_known(self.point, derivative, known, asked)
        if confirmation.holds:
            self.found.shown[block] = formula(derivative, self.program, confirmation.note)
        elif confirmation.refuted:
            self.found.omitted[block] = f"it disagrees with the reference: {confirmation.refuted}"
            self.found.refuted[block] = confirmation.refuted
        else:
            self.found.omitted[block] = "the reference could not confirm it"
        return derivative

    def _known(self, point: Point, u: Mapping[str, Array], truths: Truths, bits: int, block: Block) -> Known:
        entries = [(row, column, ball) for (row, column), ball in truths.get(block, {}).items()]
        nonzero, zero = [e for e in entries if e[2] != 0], [e for e in entries if e[2] == 0]
        directions = {
            sympy.Symbol(self.names[name], real=True): element_of(array.astype(np.float64)) for name, array in u.items()
        }
        return Known(chosen(nonzero, zero), bits, {**lookups(point), **directions})

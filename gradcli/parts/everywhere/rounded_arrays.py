"""Torch's own passes of arrays on boxes of one number: each line for all elements at once, with a column of errors.

What a line rounds is told by `rounded_passes`, element by element; sums are bounded in whatever order torch adds up.
So the passes along a line through a point of any size cost a few operations of NumPy on its elements a box.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import sympy

from gradcli.arrays import Array
from gradcli.language.ops import Kind
from gradcli.language.program.movement import fill_of
from gradcli.language.program.shapes import infer
from gradcli.language.program.torch_passes import TorchPasses
from gradcli.language.program.wengert import Atom, Line, Program, Shape, needed
from gradcli.parts.everywhere.array_jets import AT_ONCE, PART, ArrayEvaluator
from gradcli.parts.everywhere.intervals import Interval, add, point
from gradcli.parts.everywhere.jets import Jet
from gradcli.parts.everywhere.moving_box import MovingBox
from gradcli.parts.everywhere.rounded_passes import Rounded, RoundedPasses, require_known
from gradcli.reference.bounds import Mask, NoRuleError
from gradcli.reference.deadline import require_time

ARRANGING = frozenset([Kind.SOURCE, Kind.COUNT, Kind.LIST, Kind.MOVEMENT, Kind.REDUCTION, Kind.SCAN, Kind.CONTRACTION])
"""Kinds of operations that arrange and fold elements."""


class RoundedArrays(RoundedPasses):
    """Torch's passes of a function along a line, on boxes of the one number that moves.

    Args:
        box: The function, and that number.

    Raises:
        NoRuleError: They cannot be recorded, or have an operation whose rounding is not known.
    """

    def _read(self, box: MovingBox, passes: TorchPasses, numbers: Mapping[str, Array]) -> Sequence[Line]:
        """Read the passes as they are, and return their lines."""
        (name,) = box.ranges
        moving = [s for s in passes.program.variables if str(s) == name]
        self.program, self.inputs = box.program, dict.fromkeys(moving, 0)
        result = passes.results.get(name)
        self.results = [passes.value, sympy.S.Zero if result is None else result]
        self.conditions = list(passes.conditions)
        self.arrays = _Arrays(self, passes.program, numbers, [*self.results, *self.conditions], moving)
        return self.arrays.lines

    def run(self, boxes: Interval) -> list[Rounded]:
        """Evaluate on boxes, some at a time: y, then its derivative."""
        count, step = boxes.low.shape[1], self.arrays.at_once
        parts = [super(RoundedArrays, self).run(boxes.select(slice(n, n + step))) for n in range(0, count, step)]
        return [_joined(every) for every in zip(*parts, strict=True)]

    def are_recorded(self, boxes: Interval) -> Mask:
        """Tell in which boxes torch certainly runs the operations that were recorded."""
        count, step = boxes.low.shape[1], self.arrays.at_once
        parts = [
            super(RoundedArrays, self).are_recorded(boxes.select(slice(n, n + step))) for n in range(0, count, step)
        ]
        return np.concatenate(parts)

    @np.errstate(all="ignore")
    def _known(self, boxes: Interval) -> dict[Atom, Rounded]:
        """Evaluate all lines."""
        nothing = np.zeros(boxes.low.shape[1])
        seeds = {a: _packed(Rounded(boxes.row(n), nothing, nothing != 0)) for a, n in self.inputs.items()}
        known = {**self.arrays.constants, **seeds}
        for line in self.arrays.lines:
            require_time()
            known[line.symbol] = self.arrays.computed(line, known, is_second=False)
            if self.has_threshold and line.call.op.is_branch:
                found = {a: _unpacked(one) for a, one in known.items()}
                known[line.symbol] = _packed(self._beyond_threshold(line, found))
        found = {a: _unpacked(known[a]) for a in self.conditions if a in known}
        return found | {a: _first(_unpacked(known[a])) for a in self.results if a in known}

    def _everywhere(self, mask: Mask) -> Mask:
        """Tell in which boxes it is so of all elements."""
        return np.asarray(mask.reshape(-1, mask.shape[-1]).all(axis=0) if mask.ndim else mask)


class _Arrays(ArrayEvaluator):
    """Evaluator of recorded passes, whose jets are bounds without rounding, and in place of a slope the error."""

    def __init__(
        self,
        passes: RoundedArrays,
        program: Program,
        held: Mapping[str, Array],
        wanted: Sequence[Atom],
        moving: Sequence[Atom],
    ) -> None:
        self.passes, self.source = passes, program
        self.shapes: Mapping[Atom, Shape] = infer(program, {s: held[str(s)].shape for s in program.variables})
        self.lines = needed(program.lines, *wanted)
        for line in self.lines:
            if line.call.op.kind is Kind.ELEMENTWISE:
                require_known(line)
            elif line.call.op.kind not in ARRANGING or (line.call.op.kind is Kind.MOVEMENT and fill_of(line.call)):
                raise NoRuleError(f"how torch's {line.call.op.name} rounds is not bounded for so many numbers")
        inputs = {s: np.asarray(held[str(s)], float)[..., None] for s in program.variables if s not in moving}
        self.constants = {s: _packed(_exact(array)) for s, array in inputs.items()}
        most = max((array.size for array in inputs.values()), default=1)
        most = max(most, *(int(np.prod(self.shapes[line.symbol], dtype=int)) for line in self.lines))
        self.at_once = max(1, AT_ONCE // (PART * most))

    def jet_of(self, known: Mapping[Atom, Jet], atom: Atom) -> Jet:  # type: ignore[override]  # of these passes
        """Return a line, a variable or a number."""
        return known[atom] if atom in known else _packed(self.passes.number_of(atom))

    def jet_of_line(self, line: Line, operands: Sequence[Jet], *, is_second: bool = True) -> Jet:
        """Apply the operation of a line."""
        return _packed(self.passes.line_of(line, [_unpacked(one) for one in operands]))

    def _fold_by(self, name: str, rows: Jet, shape: Shape, *, is_second: bool) -> Jet:
        count = len(rows.kinds)
        if name == "mul" and count > 2:
            raise NoRuleError("how torch multiplies more than two numbers is not bounded in a box")
        if name != "add" or count <= 2:
            return super()._fold_by(name, rows, shape, is_second=is_second)
        every = _unpacked(rows)
        total, passed = (every.exact.largest + every.error).sum(axis=0), every.error.sum(axis=0)
        found = self.passes.sum_of(_sum(every.exact), total, passed, np.asarray(every.is_bad.any(axis=0)), count)
        width = rows.kinds.shape[-1]
        return _reshaped(found, (*shape, width))


def _sum(rows: Interval) -> Interval:
    """Add up along the first axis: one half to the other, again and again."""
    while (count := len(rows.low)) > 1:
        half = count // 2
        joined = add(_some(rows, slice(half)), _some(rows, slice(half, 2 * half)))
        if count % 2:
            last = _some(rows, slice(2 * half, None))
            joined = Interval(np.concatenate([joined.low, last.low]), np.concatenate([joined.high, last.high]))
        rows = joined
    return Interval(rows.low[0], rows.high[0])


def _some(rows: Interval, places: slice) -> Interval:
    return Interval(rows.low[places], rows.high[places])


def _exact(array: Array) -> Rounded:
    return Rounded(point(array), np.zeros(array.shape), np.zeros(array.shape, bool))


def _packed(one: Rounded) -> Jet:
    return Jet(one.exact, {0: point(one.error)}, None, np.asarray(one.is_bad).astype(np.int64))


def _unpacked(jet: Jet) -> Rounded:
    return Rounded(jet.value, jet.slope(0).low, jet.kinds != 0)


def _first(one: Rounded) -> Rounded:
    """Take the one element of an array."""
    low, high, error, is_bad = (np.atleast_1d(a) for a in (one.exact.low, one.exact.high, one.error, one.is_bad))
    place = (0,) * (low.ndim - 1)
    return Rounded(Interval(low[place], high[place]), error[place], is_bad[place])


def _reshaped(one: Rounded, shape: tuple[int, ...]) -> Jet:
    exact = Interval(one.exact.low.reshape(shape), one.exact.high.reshape(shape))
    return _packed(Rounded(exact, one.error.reshape(shape), one.is_bad.reshape(shape)))


def _joined(parts: Sequence[Rounded]) -> Rounded:
    exact = Interval(*(np.concatenate([getattr(one.exact, end) for one in parts]) for end in ("low", "high")))
    return Rounded(exact, np.concatenate([one.error for one in parts]), np.concatenate([one.is_bad for one in parts]))

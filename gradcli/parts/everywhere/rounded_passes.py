"""Torch's own passes on boxes: bounds of their numbers, with a column of errors.

The passes are recorded below autograd, line by line as the kernels round.  Each line has two things on a box: bounds
of what it would be without rounding, and how far torch's number may be from that at any point of floats in the box.

    error of f(a, b)  =  |∂f/∂a| * error of a  +  |∂f/∂b| * error of b  +  roundings of f * unit * |f|

The slopes are taken where torch's operands may be.  A number that may be NaN or beyond the range spoils all that it
enters, as 0*inf does, but for a branch that is not taken.
Source: N. Higham, "Accuracy and Stability of Numerical Algorithms", 2002, sections 3.3 (running error analysis) and
4.2 (sums, in any order).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
import numpy.typing as npt
import sympy

from gradcli.arrays import Array
from gradcli.errors import GradcliError
from gradcli.language.ops import Kind
from gradcli.language.program.torch_passes import OF_Y, TorchPasses
from gradcli.language.program.wengert import Atom, Call, Line, Program
from gradcli.parts.everywhere.box_kinds import domain_of
from gradcli.parts.everywhere.interval_functions import compile_interval
from gradcli.parts.everywhere.intervals import (
    Interval,
    add,
    chosen,
    compared,
    divide,
    down,
    hull,
    is_known,
    monotone,
    multiply,
    point,
    up,
)
from gradcli.parts.everywhere.kernel_errors import KERNELS, kernel_error, largest_argument
from gradcli.parts.everywhere.moving_box import MovingBox
from gradcli.parts.everywhere.pass_differences import PassDifferences
from gradcli.parts.everywhere.scalars import SEVERAL, recorded_in_numbers
from gradcli.parts.everywhere.wholes import whole_of
from gradcli.questions.bound_function import BoundFunction
from gradcli.reference.bounds import Mask, NoRuleError
from gradcli.reference.deadline import require_time
from gradcli.reference.rules import rule_of

UNITS = {"float64": 2.0**-53, "float32": 2.0**-24}
SMALLEST = {"float64": 2.0**-1074, "float32": 2.0**-149}
LARGEST = {"float64": float(np.finfo(np.float64).max), "float32": float(np.finfo(np.float32).max)}

EXACT = frozenset(
    "neg abs where maximum minimum fmax fmin clamp clamp_min clamp_max sign relu floor ceil round trunc positive fmod "
    "copysign".split()
)
"""Operations that do not round."""

BASIC = frozenset("add sub mul div sqrt square reciprocal remainder".split())
"""Operations that round once."""

LIBRARY = frozenset(
    "exp log sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc log1p expm1 exp2 log2 log10 pow "
    "sigmoid atan2 hypot rsqrt angle".split()
)
"""Functions of a library, of which torch's vector kernels and the library of C promise a last place or two."""

ROUNDINGS = 4
"""Roundings assumed of a function of a library: two units in the last place."""

CHOICES = frozenset("maximum minimum fmax fmin clamp clamp_min clamp_max relu".split())

STEPPING = frozenset("fmod remainder copysign".split())
"""Operations that jump, though not in steps alone: where operands have errors, the result is anywhere it may be."""

CONDITIONS = frozenset("logical_and logical_or logical_not isfinite".split())

THRESHOLD = 20.0
"""Argument above which torch's softplus is its argument, and mish with it: both are off by less than exp(-x) there."""

_THRESHOLDS = (sympy.Integer(20), sympy.Float(20.0, precision=53), sympy.Float(20.0))

OF_KERNELS = {"log1p": np.log1p, "expm1": np.expm1}
"""Functions that are not what they are made of: log(1 + x) loses the digits that log1p keeps."""


@dataclass(frozen=True)
class Rounded:
    """A line of torch's passes on boxes.

    Attributes:
        exact: What it is without rounding.
        error: How far torch's number may be from that.
        is_bad: Where torch's number may be NaN, or beyond the range.
    """

    exact: Interval
    error: Array
    is_bad: Mask

    @property
    def wide(self) -> Interval:
        """Where torch's number is."""
        if not np.any(self.error):
            return self.exact
        return Interval(down(self.exact.low - self.error), up(self.exact.high + self.error))

    def select(self, places: npt.NDArray[np.intp]) -> Rounded:
        """Select some boxes."""
        return Rounded(self.exact.select(places), self.error[places], self.is_bad[places])


def recorded_at(bound_function: BoundFunction) -> TorchPasses:
    """Record torch's passes at the point of a question; of code, those of the code itself.

    Raises:
        NoRuleError: They cannot be recorded.
    """
    if bound_function.recording is not None:
        try:
            return bound_function.recording.passes(bound_function.wrt)
        except GradcliError as error:
            raise NoRuleError(error.text.message) from None
    at = bound_function.point
    inputs = {name: bound_function.arrays[name] for name in at.source.names}
    asked = at.source, inputs, tuple(bound_function.wrt), bound_function.dtype
    passes = at.passes and at.passes("back", *asked, has_conditions=True)
    if passes is None:
        raise NoRuleError("torch's passes cannot be recorded")
    return passes


def signature(passes: TorchPasses) -> str:
    """Write passes as a text that is the same where torch runs the same operations on the same constants."""
    return lines_of(passes.program, (passes.value, *passes.results.values()), passes.conditions)


def lines_of(program: Program, ends: Iterable[Atom | None], conditions: Iterable[Atom] = ()) -> str:
    """Write the lines of a Program as a text that is the same where they are, whatever their symbols are."""
    names = {line.symbol: sympy.Symbol(f"l{n}") for n, line in enumerate(program.lines)}
    calls = [str(line.call.renamed(names)) for line in program.lines]
    calls += [f"if {names.get(one, one)}" for one in conditions]
    return "\n".join((*calls, *(str(names.get(one, one)) for one in ends if one is not None)))


def has_elementary_functions(lines: Sequence[Line]) -> bool:
    """Tell whether there are functions whose errors are assumed: those of a library, and what is made of them."""
    calls = (line.call for line in lines if line.call.op.kind is Kind.ELEMENTWISE or whole_of(line.call) is not None)
    others = EXACT | BASIC | KERNELS.keys()
    return any(not (c.op.sense or c.op.is_branch or c.op.name in others or _is_product(c)) for c in calls)


def _is_product(call: Call) -> bool:
    """Tell whether it is a power that is a number itself, or its square."""
    return call.op.name == "pow" and call.operands[1] in (0, 1, 2)


class RoundedPasses:
    """Torch's passes of a function, forward and back, on boxes.

    Args:
        box: The function, and the numbers that move.
        passes: Its passes; by default those at the point of its question.

    Raises:
        NoRuleError: They cannot be recorded, or have an operation whose rounding is not known.
    """

    def __init__(self, box: MovingBox, passes: TorchPasses | None = None) -> None:
        bound_function = box.bound_function
        passes = recorded_at(bound_function) if passes is None else passes
        self.differences = PassDifferences(box, passes) if passes.is_of_user else None
        self.unit, self.smallest = UNITS[bound_function.dtype], SMALLEST[bound_function.dtype]
        self.largest = LARGEST[bound_function.dtype]
        self.smallest_normal = float(np.finfo(bound_function.dtype).smallest_normal)
        names = {line.call.op.name for line in bound_function.program.lines}
        self.has_threshold = bool(names & {"softplus", "mish"})
        numbers = {**passes.inputs, **{seed: np.ones_like(passes.inputs[seed]) for seed in passes.seeds.values()}}
        lines = self._read(box, passes, numbers)
        self.by_symbol = {line.symbol: line for line in lines}
        self.has_special_functions = any(line.call.op.name in KERNELS for line in lines)
        there = np.array([[float(one)] for one in box.numbers_of_question()])
        moves: set[Atom] = {*self.inputs}
        for line in lines:
            moves.update([line.symbol] if moves.intersection(line.call.operands) else ())
        self.conditions: list[Atom] = [a for a in self.conditions if a in moves]
        known = self._known(point(there)) if self.conditions else {}
        self.decided = [self._of(known, a) for a in self.conditions]

    def _read(self, box: MovingBox, passes: TorchPasses, numbers: Mapping[str, Array]) -> Sequence[Line]:
        """Read the passes as a Program of numbers, and return its lines."""
        moving = tuple(name for name in box.ranges if name in passes.inputs)
        self.program, atoms = recorded_in_numbers(passes.program, numbers, moving)
        for line in self.program.lines:
            require_known(line)
        places = {symbol: n for n, symbol in enumerate(box.program.moving)}
        self.inputs: dict[Atom, int] = {}
        for name, own in self.program.variables.items():
            theirs = box.program.variables[name].ravel()
            self.inputs |= {a: places[b] for a, b in zip(own.ravel(), theirs, strict=True)}
        self.results = [_element(atoms, passes.value, 0)]
        for name, own in box.program.variables.items():
            result = passes.results.get(name)
            self.results += [_element(atoms, result, n) for n in range(own.size)]
        assert OF_Y == "", "y stands first"  # noqa: S101
        decided = (a for one in passes.conditions for a in np.ravel(atoms.get(one, np.array([], object))))
        self.conditions = list(dict.fromkeys(decided))
        return self.program.lines

    def run(self, boxes: Interval) -> list[Rounded]:
        """Evaluate on boxes: y, then its derivative by each number that moves."""
        size, known = boxes.low.shape[1], self._known(boxes)
        is_other = ~self._is_recorded(known)
        found = [_spread(self._of(known, a), size) for a in self.results]
        return [replace(one, is_bad=one.is_bad | is_other) for one in found]

    def are_recorded(self, boxes: Interval) -> Mask:
        """Tell in which boxes torch certainly runs the operations that were recorded."""
        return np.broadcast_to(self._is_recorded(self._known(boxes)), boxes.low.shape[1:])

    @np.errstate(all="ignore")
    def _known(self, boxes: Interval) -> dict[Atom, Rounded]:
        """Evaluate all lines."""
        nothing = np.zeros(boxes.low.shape[1])
        known = {a: Rounded(boxes.row(n), nothing, nothing != 0) for a, n in self.inputs.items()}
        for line in self.program.lines:
            require_time()
            operands = [self._of(known, a) for a in line.call.operands]
            known[line.symbol] = self.line_of(line, operands)
            if self.has_threshold and line.call.op.is_branch:
                known[line.symbol] = self._beyond_threshold(line, known)
        return known

    def _is_recorded(self, known: Mapping[Atom, Rounded]) -> Mask:
        """Tell where each value that torch decides by is certainly the number that it is at the recorded point."""
        found = np.asarray(True)
        for atom, there in zip(self.conditions, self.decided, strict=True):
            here = self._of(known, atom)
            is_sure = (here.error == 0) & ~here.is_bad & (there.error == 0) & ~there.is_bad
            number, is_number = there.exact.low, there.exact.low == there.exact.high
            is_same = (here.exact.low == number) & (here.exact.high == number)
            found = found & self._everywhere(np.asarray(is_sure & is_number & is_same))
        return found

    def _everywhere(self, mask: Mask) -> Mask:
        """Tell in which boxes it is so of all of a line, which is one number."""
        return mask

    def _of(self, known: Mapping[Atom, Rounded], atom: Atom) -> Rounded:
        return known[atom] if atom in known else self.number_of(atom)

    def number_of(self, atom: Atom) -> Rounded:
        """Return a number that stands in a line."""
        if atom.is_Float and self.unit == UNITS["float64"] and atom == sympy.Float(float(atom), precision=53):
            return Rounded(point(float(atom)), np.zeros(()), np.asarray(False))
        number = self.program.constants.get(atom)
        value = compile_interval(atom)({}) if number is None else point(number)
        is_exact = bool((value.low == value.high).all()) and (float(value.low) * 2.0**20).is_integer()
        error = np.asarray(0.0 if is_exact else self.unit * float(value.largest))
        if number is not None:  # an input is what it is
            error = np.asarray(0.0)
        return Rounded(value, error, np.asarray(False))

    def line_of(self, line: Line, operands: Sequence[Rounded]) -> Rounded:
        """Apply the operation of a line."""
        call = line.call
        if call.op.sense:
            return _compared(line, operands)
        if call.op.is_branch:
            return self._branch(operands)
        if SEVERAL in call.statics:
            return self._added(operands)
        exact, wide = _value(line, [one.exact for one in operands]), _value(line, [one.wide for one in operands])
        is_bad = reduce(np.logical_or, (one.is_bad for one in operands), np.asarray(False))
        if call.op.name in CONDITIONS:
            is_open = np.asarray(exact.low != exact.high) | (wide.low != wide.high)
            has_error = reduce(np.logical_or, (one.error > 0 for one in operands), np.asarray(False))
            return Rounded(exact, np.where(is_open & has_error, 1.0, 0.0), is_bad)
        error = self._passed_on(line, operands, exact, wide)
        error = error + self._rounding(line, operands, exact, error)
        error = np.where(np.isnan(error), np.inf, error * (1 + 2.0**-40))
        is_bad = is_bad | ~(exact.largest + error <= self.largest)
        for needed, is_open in domain_of(call, [one.wide for one in operands]):
            is_bad = is_bad | ((needed.low <= 0) if is_open else (needed.low < 0))
        if call.op.name in ("div", "reciprocal"):
            is_bad = is_bad | operands[-1].wide.has_zero
        is_bad = is_bad | (operands[-1].wide.largest > largest_argument(call, self.largest))
        return Rounded(exact, error, np.asarray(is_bad))

    def _added(self, operands: Sequence[Rounded]) -> Rounded:
        """Add up several numbers."""
        exact = reduce(add, (one.exact for one in operands))
        total = reduce(np.add, (one.exact.largest + one.error for one in operands))
        passed = reduce(np.add, (one.error for one in operands))
        is_bad = reduce(np.logical_or, (one.is_bad for one in operands))
        return self.sum_of(exact, total, passed, is_bad, len(operands))

    def sum_of(self, exact: Interval, total: Array, passed: Array, is_bad: Mask, count: int) -> Rounded:
        """Bound a sum in any order: each addition rounds some of the numbers, and none more than all do.

        Args:
            exact: The sum without rounding.
            total: The sum of the absolute values that torch may have.
            passed: The sum of the errors of the numbers.
            is_bad: Where one of them may be NaN, or beyond the range.
            count: How many they are.
        """
        error = passed + (count - 1) * self.unit * (1 + 2 * count * self.unit) * total
        error = np.where(np.isnan(error), np.inf, error * (1 + 2.0**-40 + count * 2.0**-52))
        return Rounded(exact, error, np.asarray(is_bad | ~(total + error <= self.largest)))

    @staticmethod
    def _branch(operands: Sequence[Rounded]) -> Rounded:
        """Choose as torch does: where its condition may come out otherwise, it may be the other value."""
        condition, first, second = operands
        exact = chosen(condition.exact, first.exact, second.exact)
        holds, fails = condition.exact.low > 0, condition.exact.high < 1
        both = np.maximum(first.error, second.error)
        error = np.where(holds, first.error, np.where(fails, second.error, both))
        is_bad = np.where(holds, first.is_bad, np.where(fails, second.is_bad, first.is_bad | second.is_bad))
        is_open = condition.error > 0
        wide = hull(first.wide, second.wide)
        error = np.where(is_open, np.maximum(both, wide.width), error)
        is_bad = condition.is_bad | np.where(is_open, first.is_bad | second.is_bad, is_bad)
        return Rounded(exact, np.asarray(error), np.asarray(is_bad))

    def _beyond_threshold(self, line: Line, known: Mapping[Atom, Rounded]) -> Rounded:
        """Add what torch's softplus leaves out above its threshold, in value and derivative, to a choice by it."""
        found, test = known[line.symbol], self.by_symbol.get(line.call.operands[0])
        if test is None or test.call.op.sense != (1,) or test.call.operands[1] not in _THRESHOLDS:
            return found
        x = self._of(known, test.call.operands[0]).wide
        left_out = np.where(x.high >= THRESHOLD, np.exp(-np.maximum(x.low, THRESHOLD)), 0.0)
        return Rounded(found.exact, found.error + left_out, found.is_bad)

    def _passed_on(self, line: Line, operands: Sequence[Rounded], exact: Interval, wide: Interval) -> Array:
        """Bound how much the errors of operands change a result."""
        name, errors = line.call.op.name, [one.error for one in operands]
        if not any(np.any(one) for one in errors):
            return np.zeros(())
        if name in CHOICES:
            return _of_choice(name, [one.wide for one in operands], errors)
        if name == "div":  # nothing underflows that is large once it is divided
            return np.asarray((errors[0] + exact.largest * errors[1]) / operands[1].wide.least)
        if name == "reciprocal":
            return np.asarray(exact.largest * errors[0] / operands[0].wide.least)
        rule = rule_of(line.call)
        if rule.is_step:
            is_same = (exact.low == wide.low) & (exact.high == wide.high) & (wide.low == wide.high)
            return np.where(is_same, 0.0, wide.width)
        if name in STEPPING:
            return np.asarray(wide.width)
        found: Array = np.zeros(())
        environment = rule.environment([one.wide for one in operands])
        for slope, error in zip(rule.slopes, errors, strict=True):
            if slope is not None and slope != 0 and np.any(error):
                size = compile_interval(slope)(environment).largest
                found = found + np.where(error > 0, size * error, 0.0)
        return found

    def _rounding(self, line: Line, operands: Sequence[Rounded], exact: Interval, error: Array) -> Array:
        """Bound the rounding of an operation itself."""
        name = line.call.op.name
        if name in EXACT or (_is_product(line.call) and line.call.operands[1] != 2):
            return np.zeros(())
        if name in BASIC and self._is_number(exact) and not any(np.any(one.error) for one in operands):
            return np.zeros(())
        if name in KERNELS:
            wide = [one.wide for one in operands]
            return kernel_error(line.call, wide, exact.largest + error, self.unit) + self.smallest
        if name in ("mul", "div") and _is_by_power_of_two(name, operands):
            return np.asarray(self.smallest)
        size = exact.largest + error
        count = 1 if name in BASIC or _is_product(line.call) else ROUNDINGS
        found = count * self.unit * (1 + 8 * self.unit) * size
        is_nothing = (size == 0) & (name in BASIC)
        return np.where(is_nothing, 0.0, found + (0.0 if name in ("add", "sub") else self.smallest))

    def _is_number(self, exact: Interval) -> bool:
        """Tell whether it is one number of torch's format, as sums of small whole numbers are."""
        if not is_known(exact) or exact.low.ndim:
            return False
        return bool(self.unit == UNITS["float64"] or float(exact.low) == float(np.float32(exact.low)))


def _of_choice(name: str, wide: Sequence[Interval], errors: Sequence[Array]) -> Array:
    """Return the error of the number that is certainly chosen; the larger one, where it may be either."""
    both = np.asarray(reduce(np.maximum, errors))
    if name == "clamp":
        return both
    (a, of_a), (b, of_b) = [*zip(wide, errors, strict=True), (point(0.0), np.zeros(()))][:2]
    if name in ("minimum", "fmin", "clamp_max"):
        a, b = -a, -b
    return np.where(a.low > b.high, of_a, np.where(b.low > a.high, of_b, both))


def require_known(line: Line) -> None:
    """Refuse an operation whose rounding is not known."""
    op = line.call.op
    is_known = op.sense or op.is_branch or op.name in EXACT | BASIC | LIBRARY | CONDITIONS | KERNELS.keys()
    if not is_known:
        raise NoRuleError(f"how torch's {op.name} rounds is not bounded in a box")


def _element(atoms: Mapping[Atom, npt.NDArray[np.object_]], atom: Atom | None, n: int) -> Atom:
    if atom is None:
        return sympy.S.Zero
    found: Atom = atoms[atom].ravel()[n] if atom in atoms else atom
    return found


def _value(line: Line, inside: Sequence[Interval]) -> Interval:
    """Compute what an operation is without rounding."""
    call = line.call
    if call.op.name in OF_KERNELS:
        return monotone(OF_KERNELS[call.op.name], inside[0], through=(0.0, 0.0))
    if (whole := whole_of(call)) is not None:
        return whole.value(*inside)
    if call.op.name == "div":
        return divide(*inside)
    if call.op.name == "mul" and call.operands[0] == call.operands[1]:
        return multiply(inside[0], inside[0])
    rule = rule_of(call)
    return compile_interval(rule.expression)(rule.environment(inside))


def _compared(line: Line, operands: Sequence[Rounded]) -> Rounded:
    """Compare: torch decides as the exact numbers do, unless errors may make it another decision."""
    sense = line.call.op.sense
    if line.call.operands[0] == line.call.operands[1]:  # asked whether it is NaN
        return Rounded(point(float(0 in sense)), np.zeros(()), operands[0].is_bad)
    pairs = zip(line.call.operands, operands, strict=True)
    a, b = (replace(one, error=np.zeros(())) if atom.is_infinite else one for atom, one in pairs)
    exact, wide = compared(a.exact, b.exact, sense), compared(a.wide, b.wide, sense)
    has_error = (a.error > 0) | (b.error > 0)
    is_sure = (wide.low == wide.high) & (exact.low == exact.high) & (wide.low == exact.low)
    is_bad = reduce(np.logical_or, (one.is_bad for one in operands))
    return Rounded(exact, np.where(has_error & ~is_sure, 1.0, 0.0), np.asarray(is_bad))


def _is_by_power_of_two(name: str, operands: Sequence[Rounded]) -> bool:
    """Tell whether a factor, or the divisor, is a power of two."""
    some = operands[1:] if name == "div" else operands
    for one in some:
        number = one.exact
        is_number = number.low.ndim == 0 and number.low == number.high != 0 and not np.any(one.error)
        if is_number and abs(np.frexp(number.low)[0]) == 0.5:
            return True
    return False


def _spread(one: Rounded, size: int) -> Rounded:
    shape = (size,)
    return Rounded(one.exact.spread(shape), np.broadcast_to(one.error, shape), np.broadcast_to(one.is_bad, shape))

"""What is bounded on a box: y, a derivative, or an expression of these, each as a jet.

The jet of a derivative has the slopes that are y's second ones; where y has a kink, it jumps.  An expression of y, the
derivatives and the variables is a Program of numbers whose variables are these, so that a statement about them is
bounded by the same rules as the function.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gradcli.language.program.wengert import Atom, Call
from gradcli.parts.everywhere.box_kinds import BoxKind
from gradcli.parts.everywhere.intervals import Interval, unknown
from gradcli.parts.everywhere.jets import Evaluator, Jet, variable

Derivative = tuple[int, ...]
"""Places of the variables that y is differentiated by: none for y itself, at most two."""


@dataclass(frozen=True)
class BoxQuantity:
    """A number at each point of a box.

    Attributes:
        function: The function, of one element.
        derivative: What of it is bounded, where there is no expression.
        expression: An expression of y, of derivatives and of the variables.
        named: What each variable of the expression is: a derivative, or the place of a variable of the function.
        is_negated: Whether the opposite number is meant.
        element: The flat position of the element of y that is meant.
    """

    function: Evaluator
    derivative: Derivative = ()
    expression: Evaluator | None = None
    named: Mapping[Atom, Derivative | int] | None = None
    is_negated: bool = False
    element: int = 0

    @property
    def count(self) -> int:
        """The number of variables."""
        return len(self.function.program.moving)

    @cached_property
    def has_second(self) -> bool:
        """Tell whether there are second slopes: of y and of expressions of y and variables alone."""
        return all(len(one) == 0 for one in self._derivatives)

    @property
    def _derivatives(self) -> Sequence[Derivative]:
        if self.expression is None:
            return (self.derivative,)
        return tuple(one for one in (self.named or {}).values() if not isinstance(one, int))

    @cached_property
    def as_function(self) -> Evaluator | None:
        """The number as a function of the variables that move; None of derivatives, and of functions of arrays."""
        if not self.has_second or not self.function.is_of_numbers or self.is_negated:
            return None
        program, y = self.function.program, self.function.outputs[self.element]
        if self.expression is None:
            return Evaluator(program, [y])
        own = self.expression.program
        meant = {a: program.moving[one] if isinstance(one, int) else y for a, one in (self.named or {}).items()}
        lines = [
            replace(
                one, call=Call(one.call.op.name, tuple(meant.get(a, a) for a in one.call.operands), one.call.statics)
            )
            for one in own.lines
        ]
        output = self.expression.outputs[0]
        joined = replace(program, lines=(*program.lines, *lines), constants={**program.constants, **own.constants})
        return Evaluator(joined, [meant.get(output, output)])

    def opposite(self) -> BoxQuantity:
        """Return the opposite number."""
        return replace(self, is_negated=not self.is_negated)

    def jets(self, boxes: Interval, *, is_second: bool = True) -> Jet:
        """Evaluate on boxes, of shape (variables, boxes).

        Args:
            boxes: The boxes.
            is_second: Whether second slopes are wanted where there are some.
        """
        is_needed = is_second or not self.has_second
        has_derivatives = any(self._derivatives) or self.expression is None
        is_of_y = has_derivatives or () in self._derivatives
        jet = self.function.run(boxes, is_second=is_needed)[self.element] if is_of_y else None
        if self.expression is None:
            found = derivative_of(jet, self.derivative, self.count) if jet is not None else None
        else:
            seeds = {symbol: self._seed(one, jet, boxes) for symbol, one in (self.named or {}).items()}
            found = self.expression.of_jets(seeds, is_second=self.has_second and is_needed)[0]
        assert found is not None, "a quantity is of the function or of an expression"  # noqa: S101
        found = _spread(found, boxes.low.shape[1], is_second=self.has_second and is_second)
        return _opposite(found) if self.is_negated else found

    def _seed(self, one: Derivative | int, jet: Jet | None, boxes: Interval) -> Jet:
        if isinstance(one, int):
            return variable(boxes.row(one), one)
        assert jet is not None, "an expression of y has y's jet"  # noqa: S101
        return derivative_of(jet, one, self.count)


def derivative_of(jet: Jet, derivative: Derivative, count: int) -> Jet:
    """Return the jet of y or of one of its derivatives, with no more slopes than are known."""
    is_kinked = (jet.kinds & int(BoxKind.KINK)) != 0
    kinds = np.asarray(jet.kinds | is_kinked * int(BoxKind.JUMP))
    match derivative:
        case ():
            return jet
        case (i,):
            return Jet(jet.slope(i), {j: jet.second_slope(i, j) for j in range(count)}, None, kinds)
        case (i, j):
            return Jet(jet.second_slope(i, j), dict.fromkeys(range(count), unknown()), None, kinds)
    raise ValueError(f"no derivative of order {len(derivative)}")


def _spread(jet: Jet, count: int, *, is_second: bool) -> Jet:
    """Give all parts one value a box."""
    shape = (count,)
    second = {pair: one.spread(shape) for pair, one in (jet.second or {}).items()} if is_second else None
    slopes = {i: one.spread(shape) for i, one in jet.slopes.items()}
    return Jet(jet.value.spread(shape), slopes, second, np.broadcast_to(jet.kinds, shape))


def _opposite(jet: Jet) -> Jet:
    second = None if jet.second is None else {pair: -one for pair, one in jet.second.items()}
    return Jet(-jet.value, {i: -one for i, one in jet.slopes.items()}, second, jet.kinds)

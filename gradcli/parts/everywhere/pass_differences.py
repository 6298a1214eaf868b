"""How far the backward pass of a user's own code is from the derivative, rounding aside, on boxes.

Torch's own backward passes are taken to be derivatives.  What code of a user does on the way back, in a custom function
or a hook, is taken for nothing: the difference of what it computes and of the derivative is a Program too.  It is 0
where that is proved by algebra; else it is bounded on each box, from its middle, by its slopes and second slopes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import sympy

from gradcli.adjoint.gradient import gradient
from gradcli.adjoint.slopes import NoAdjointError
from gradcli.arrays import Array
from gradcli.errors import Span
from gradcli.language.program.expansion import expand, without_detach
from gradcli.language.program.shapes import infer
from gradcli.language.program.torch_passes import TorchPasses
from gradcli.language.program.wengert import Atom, Builder, Line, Program, needed
from gradcli.parts.everywhere.box_sets import BoxSet, middle_of
from gradcli.parts.everywhere.intervals import Interval, add, multiply, point, subtract
from gradcli.parts.everywhere.jets import Evaluator, Jet
from gradcli.parts.everywhere.moving_box import MovingBox
from gradcli.parts.everywhere.scalars import ScalarProgram, in_numbers
from gradcli.reference.bounds import NoRuleError
from gradcli.reference.rules import rule_of
from gradcli.symbolic.identity import MOST_NODES, size, vanishes

LARGEST, FINEST = 2.0**10, 2.0**4
"""Bounds of the numbers that algebra takes for what they are, and of their denominators: other powers take too long."""


class PassDifferences:
    """Differences of a recorded backward pass and of the derivative, for each number that moves.

    Args:
        box: The function, and the numbers that move.
        passes: The passes of its code.

    Raises:
        NoRuleError: An operation has no rule on boxes, or no derivative that is a Program.
    """

    def __init__(self, box: MovingBox, passes: TorchPasses) -> None:
        self.count = len(box.low)
        self.evaluators: list[tuple[Evaluator, int] | None] = []
        for name, atoms in box.program.variables.items():
            try:
                program = _difference(box, passes, name)
            except NoAdjointError as error:
                raise NoRuleError(str(error)) from None
            inputs: dict[str, Array] = {**passes.inputs}  # code is recorded with v = 1
            inputs |= {_other(of): array for of, array in box.bound_function.arrays.items() if of not in box.ranges}
            scalar = in_numbers(program, inputs, tuple(box.ranges))
            evaluator = Evaluator(scalar)
            outputs = np.broadcast_to(scalar.outputs, atoms.shape).ravel()
            places = {one: n for n, one in reversed([*enumerate(evaluator.outputs)])}
            self.evaluators += [None if _vanishes(scalar, one) else (evaluator, places[one]) for one in outputs]

    def bounds(self, boxes: BoxSet) -> list[Array]:
        """Bound the size of each difference on boxes."""
        middle = point(middle_of(boxes.low, boxes.high))
        steps = subtract(boxes.sides, middle)
        known: dict[int, tuple[list[Jet], list[Jet]]] = {}
        found = list[Array]()
        for one in self.evaluators:
            if one is None:
                found.append(np.zeros(len(boxes)))
                continue
            evaluator, place = one
            if id(evaluator) not in known:
                known[id(evaluator)] = evaluator.run(boxes.sides), evaluator.run(middle)
            jets, at_middle = known[id(evaluator)]
            found.append(self._bound(jets[place], at_middle[place], steps, len(boxes)))
        return found

    @np.errstate(all="ignore")
    def _bound(self, jet: Jet, at_middle: Jet, steps: Interval, size: int) -> Array:
        """Bound a difference by what it is at the middle, and by its slopes there and second slopes in the box."""
        near = at_middle.value
        for i in range(self.count):
            near = add(near, multiply(at_middle.slope(i), steps.row(i)))
            for j in range(self.count):
                bend = multiply(jet.second_slope(i, j), multiply(steps.row(i), steps.row(j)))
                near = add(near, multiply(point(0.5), bend))
        whole, local = jet.value.spread((size,)).largest, near.spread((size,)).largest
        found = np.where(jet.is_smooth & at_middle.is_smooth, np.fmin(whole, local), whole)
        return np.asarray(np.where(np.isnan(found), np.inf, found))


def _other(name: str) -> str:
    """Name a variable of the derivative that does not move, unlike those of the passes."""
    return f"{name} of y"


def _difference(box: MovingBox, passes: TorchPasses, name: str) -> Program:
    """Write the difference of a result of the passes and of the derivative by a variable."""
    bound_function = box.bound_function
    whole = expand(without_detach(bound_function.program)[0])
    shapes = infer(whole, {symbol: bound_function.arrays[str(symbol)].shape for symbol in whole.variables})
    moving = {str(symbol): symbol for symbol in whole.variables if str(symbol) in box.ranges}
    derivative = gradient(whole, shapes, [moving[name]], {whole.output: sympy.S.One}, masks=True)
    slope = derivative.function(moving[name])
    theirs = {str(symbol): symbol for symbol in passes.program.variables}
    renamed: dict[Atom, Atom] = {}
    for symbol in slope.variables:
        of = str(symbol)
        renamed[symbol] = theirs.get(of, symbol) if of in moving else sympy.Symbol(_other(of), real=True)
    lines = [replace(line, call=line.call.renamed(renamed)) for line in slope.lines]
    builder = Builder("", lines=[*passes.program.lines, *lines])
    result = passes.results.get(name)
    output = builder.emit(
        "sub", (sympy.S.Zero if result is None else result, renamed.get(slope.output, slope.output)), Span(0, 0)
    )
    others = (one for one in renamed.values() if isinstance(one, sympy.Symbol))
    variables = tuple(dict.fromkeys((*passes.program.variables, *others)))
    kept = tuple(needed(builder.lines, output))
    return replace(passes.program, variables=variables, lines=kept, output=output, named={}, assigned=(), guards=None)


def _vanishes(program: ScalarProgram, output: Atom) -> bool:
    """Tell whether a difference is proved to be 0 by algebra, wherever it has a value."""
    known: dict[Atom, sympy.Expr] = {symbol: _exact(number) for symbol, number in program.constants.items()}
    try:
        for line in needed(program.lines, output):
            operands = [known[a] if a in known else _exact(float(a)) if a.is_Float else a for a in line.call.operands]
            known[line.symbol] = _expression(line, operands)
            if size(known[line.symbol]) > MOST_NODES:
                return False
    except (TypeError, ValueError, NoRuleError):
        return False
    return vanishes(known.get(output, output))


def _exact(number: float) -> sympy.Expr:
    """Take a number for the fraction that it is, if that is short, else for any number at all: a symbol of its own."""
    is_short = abs(number) < LARGEST and (number * FINEST).is_integer()
    return sympy.Rational(number) if is_short else sympy.Symbol(f"number {number.hex()}", real=True)


def _expression(line: Line, operands: Sequence[sympy.Expr]) -> sympy.Expr:
    rule = rule_of(line.call)
    pairs = [(a, b) for a, b in zip(rule.parameters, operands, strict=True) if a is not None]
    exact = {one: _exact(float(one)) for one in rule.expression.atoms(sympy.Float)}
    return rule.expression.xreplace({**exact, **dict(pairs)})

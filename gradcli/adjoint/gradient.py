"""The gradient of a Program as a Program: vᵀJ, by one walk back through the lines.

    x̄[k] = sum over the lines that use x[k] of (adjoint of the line) * (partial derivative of the line by x[k])

The Program has the lines of the function and those of the adjoints, so that it is evaluated, printed, bounded and
differentiated like any other.  Second derivatives are those of the gradient, and J @ u is the derivative of vᵀJ by v.
Source: A. Griewank, A. Walther, "Evaluating Derivatives", 2008, chapter 6.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import sympy

from gradcli.adjoint import elementwise_rules, fold_rules, linear_rules, matrix_rules, row_rules
from gradcli.adjoint.writing import ONE, ZERO, LineWriter
from gradcli.language.ops import Kind
from gradcli.language.program.expansion import moving_lines
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Atom, Call, Line, Program, Shape, needed


@dataclass(frozen=True)
class GradientProgram:
    """Program of a function and of its adjoints.

    Attributes:
        program: The lines of the function, those of the adjoints behind them; its output is that of the function.
        shapes: Of all symbols.
        of: The adjoint of each variable that was asked for, a line or a number; of its shape, but for the number 0.
        adjoints: The adjoint of each line of the function that one reaches.
    """

    program: Program
    shapes: Mapping[Atom, Shape]
    of: Mapping[sympy.Symbol, Atom]
    adjoints: Mapping[Atom, Atom]

    def function(self, *variables: sympy.Symbol) -> Program:
        """Return the Program of the adjoint of a variable, or of those of several, flat, one after the other."""
        writer = LineWriter(self.program, self.shapes)
        parts = [
            writer.expand(self.of[symbol], self.shapes[symbol])
            if len(variables) == 1
            else writer.reshape(writer.expand(self.of[symbol], self.shapes[symbol]), (-1,))
            for symbol in variables
        ]
        output = parts[0] if len(parts) == 1 else writer.write("cat", *parts, dim=0)
        lines = tuple(needed(writer.builder.lines, output))
        used = {output, *(a for line in lines for a in line.call.operands)}
        kept = tuple(symbol for symbol in self.program.variables if symbol in used)
        return replace(
            self.program, variables=kept, lines=lines, output=output, named={}, assigned=(), warnings=(), guards=None
        )


def gradient(
    program: Program,
    shapes: Mapping[Atom, Shape],
    wrt: Sequence[sympy.Symbol],
    seeds: Mapping[Atom, Atom],
    *,
    masks: bool = False,
    guards: bool = False,
    keeps_defined: bool = False,
    by_inverses: bool = False,
) -> GradientProgram:
    """Differentiate a Program.

    Args:
        program: The function, in primitives and operations of `matrix_rules.OWN_ADJOINTS`.
        shapes: Of all of its symbols, and of the symbols of the seeds.
        wrt: The variables to differentiate by.
        seeds: The weights v of outputs: lines of the function, each with a variable or number of its shape.  New
            variables become variables of the result.
        masks: Whether an operand that a choice does not take has the adjoint 0, whatever its slope is, as in
            mathematics; else as in torch, where 0*inf is nan.
        guards: Whether the adjoint is nan where an operation has no derivative: at kinks, jumps, and edges of domains.
        keeps_defined: Whether adjoints may use operations of `matrix_rules.OWN_ADJOINTS`; else primitives alone.
        by_inverses: Whether the adjoint of a determinant, as in torch, may need the inverse of its matrix.

    Raises:
        NoAdjointError: An operation has no adjoint that is a Program.

    >>> import sympy
    >>> from gradcli.language.parsing import parse
    >>> program = parse("x**2")
    >>> x, v = program.variables[0], sympy.Symbol("v", real=True)
    >>> shapes = {x: (3,), program.output: (3,), v: (3,)}
    >>> found = gradient(program, shapes, [x], {program.output: v})
    >>> [str(line.call.op.name) for line in found.function(x).lines]
    ['mul', 'mul']
    """
    writer = LineWriter(program, shapes, keeps_defined=keeps_defined)
    return _Walk(program, writer, wrt, seeds, masks=masks, guards=guards, by_inverses=by_inverses).found()


class VectorJacobianProduct(NamedTuple):
    """Program of vᵀJ by one variable, and the shapes of all of its symbols."""

    program: Program
    shapes: Mapping[Atom, Shape]


def vector_jacobian_product(
    program: Program, inputs: Mapping[Atom, Shape], variable: sympy.Symbol, weights: Atom = ONE
) -> VectorJacobianProduct:
    """Return vᵀJ by one variable in operations of whole tensors: inverses, determinants and eigenvalues stay.

    Args:
        program: The function, in primitives.
        inputs: The shapes of its variables at least.
        variable: The one to differentiate by.
        weights: The vector v, a symbol of y's shape; by default 1, for a function of one element.

    Raises:
        NoAdjointError: An operation has no adjoint that is a Program.

    >>> from gradcli.language.parsing import parse
    >>> program = parse("det(X)")
    >>> X = program.variables[0]
    >>> [line.call.op.name for line in vector_jacobian_product(program, {X: (3, 3)}, X).program.lines]
    ['det', 'mul', 'inv', 'transpose', 'mul']
    """
    shapes = infer(program, {symbol: inputs[symbol] for symbol in program.variables}, bounded=False)
    shapes[weights] = shapes.get(program.output, ())
    found = gradient(program, shapes, [variable], {program.output: weights}, keeps_defined=True, by_inverses=True)
    product = found.function(variable)
    own = {symbol: found.shapes[symbol] for symbol in product.variables}
    return VectorJacobianProduct(product, infer(product, own, bounded=False))


class _Walk:
    """One walk back."""

    def __init__(
        self,
        program: Program,
        writer: LineWriter,
        wrt: Sequence[sympy.Symbol],
        seeds: Mapping[Atom, Atom],
        *,
        masks: bool,
        guards: bool,
        by_inverses: bool,
    ) -> None:
        self.program, self.wrt, self.masks, self.guards = program, wrt, masks, guards
        self.is_as_torch, self.by_inverses = not (masks or guards), by_inverses
        self.writer = writer
        self.adjoints: dict[Atom, Atom] = {}
        self.reached: dict[Atom, Atom] = {}
        """Where an adjoint is not a 0 that stays 0, by its line: 1 there, else 0; no entry for everywhere."""
        self.moves = moving_lines(program, wrt)
        self.jumping = _jumping(program, self.moves) if guards else set[Atom]()
        self.seeds = seeds
        for atom, weight in seeds.items():
            self._add(atom, weight, self.writer.write("ne", weight, ZERO) if masks and weight.is_Symbol else ONE)

    def found(self) -> GradientProgram:
        """Walk, and return the result."""
        for line in reversed(self.program.lines):
            if line.symbol in self.adjoints and line.symbol in self.moves:
                self._line(line)
        known = {*self.program.variables, *(line.symbol for line in self.program.lines)}
        new = (s for s in self.seeds.values() if s.is_Symbol and s not in known)
        program = replace(
            self.program,
            variables=(*self.program.variables, *dict.fromkeys(new)),
            lines=tuple(self.writer.builder.lines),
        )
        of = {symbol: self.adjoints.get(symbol, ZERO) for symbol in self.wrt}
        return GradientProgram(program, self.writer.shapes, of, dict(self.adjoints))

    def _line(self, line: Line) -> None:
        call, g = line.call, self.adjoints[line.symbol]
        mask = self.reached.get(line.symbol, ONE)
        self.writer.span = line.span
        for k, operand in enumerate(call.operands):
            if operand not in self.moves:
                continue
            by_row = self.is_as_torch and (self.by_inverses or call.op.kind is not Kind.MATRIX)
            if by_row and row_rules.has_own_adjoint(call):
                self._add(operand, row_rules.own_adjoint(self.writer, call, line.symbol, k, g), ONE)
                continue
            match call.op.kind:
                case Kind.GATHER | Kind.SCATTER if k == 0:
                    back = linear_rules.gathered_back if call.op.kind is Kind.GATHER else linear_rules.scattered_back
                    self._through(call, k, g, mask, partial(back, self.writer, call))
                case Kind.GATHER | Kind.SCATTER:
                    if self.guards:  # a position that moves has no derivative
                        self._add(operand, sympy.nan, ONE)
                case Kind.ELEMENTWISE:
                    self._elementwise(line, k, g, mask)
                case Kind.LIST:
                    self._through(call, k, g, mask, partial(linear_rules.part_of_list, self.writer, call, k))
                case Kind.MOVEMENT:
                    self._through(call, k, g, mask, partial(linear_rules.moved_back, self.writer, call))
                case Kind.REDUCTION if call.op.is_sum:
                    self._through(call, k, g, mask, partial(linear_rules.spread, self.writer, call))
                case Kind.SCAN if not call.op.is_nonlinear_fold:
                    self._through(call, k, g, mask, partial(linear_rules.summed_behind, self.writer, call))
                case Kind.REDUCTION | Kind.SCAN:
                    self._fold(line, g, mask)
                case Kind.CONTRACTION:
                    factor = matrix_rules.multiplied(self.writer, call, k, g)
                    self._add(operand, factor, self._of_product(line, k, g, mask))
                case _:
                    found = matrix_rules.of_matrix(self.writer, call, k, line.symbol, g)
                    if call.op.kind is Kind.MATRIX and not call.op.keeps_shape and self.is_as_torch:
                        found = matrix_rules.without_singular(self.writer, line.symbol, found)
                    self._add(operand, found, ONE)

    def _elementwise(self, line: Line, k: int, g: Atom, mask: Atom) -> None:
        call = line.call
        is_condition = call.op.is_branch and k == 0
        if call.op.is_choice and not is_condition:
            self._choice(line, k, g, mask)
        elif is_condition or call.op.is_locally_constant:
            if self.guards:
                self._jump(line, k, g, mask)
        else:
            found = elementwise_rules.pulled_back(self.writer, call, k, g)
            if not call.op.coefficients:
                found = self._masked(self._guarded(found, line, k, ONE), mask)
            self._add(call.operands[k], found, mask)

    def _choice(self, line: Line, k: int, g: Atom, mask: Atom) -> None:
        """Hand the adjoint to the operand of a choice where that is taken."""
        writer, call, operand = self.writer, line.call, line.call.operands[k]
        condition = elementwise_rules.taken(writer, call, k)
        if condition is None or condition == ZERO:
            return
        found = elementwise_rules.chosen(writer, call, k, g, condition, halves_ties=self.is_as_torch)
        own = mask if self.masks else ONE
        if self.masks and not (call.op.is_extreme and operand in self.jumping):
            own = writer.both(elementwise_rules.may_be_taken(writer, call, k, condition), mask)
        self._add(operand, self._guarded(found, line, k, mask), own)

    def _jump(self, line: Line, k: int, g: Atom, mask: Atom) -> None:
        """Hand on that there is no derivative where a condition changes or a step is; it is 0 elsewhere."""
        call, operand = line.call, line.call.operands[k]
        if call.op.is_branch:
            if call.operands[1] != call.operands[2]:  # it is what the condition is made of that has no derivative
                self._add(operand, g, mask)
        elif len(set(call.operands)) == len(call.operands):
            nothing = self.writer.write("mul", ZERO, g)  # made of the adjoint, so that it counts along all weights
            self._add(operand, self._guarded(nothing, line, k, mask), mask)

    def _fold(self, line: Line, g: Atom, mask: Atom) -> None:
        writer, call = self.writer, line.call
        operand = call.operands[0]
        if call.op.kind is Kind.REDUCTION:
            found = fold_rules.folded_adjoint(writer, call, line.symbol, g, halves_ties=self.is_as_torch)
            spread = self._moved_mask(call, mask, g, partial(linear_rules.spread, writer, call))
        else:
            found = fold_rules.running_adjoint(writer, call, line.symbol, g, guards=self.guards)
            spread = self._moved_mask(call, mask, g, partial(linear_rules.summed_behind, writer, call))
        if call.op.is_extreme and self.guards and call.op.kind is Kind.REDUCTION:
            found = self._unless(found, [fold_rules.apart_from_ties(writer, call, line.symbol)])
        if call.op.is_extreme and self.masks and call.op.kind is Kind.REDUCTION and operand not in self.jumping:
            spread = writer.both(fold_rules.may_be_extreme(writer, call), spread)
        self._add(operand, self._masked(found, spread), spread)

    # -- masks and guards

    def _guarded(self, found: Atom, line: Line, k: int, mask: Atom) -> Atom:
        """Put nan where an operation has no derivative, but where the adjoint is 0 anyway."""
        if not self.guards:
            return found
        return self._masked(self._unless(found, elementwise_rules.distances(self.writer, line.call, k)), mask)

    def _unless(self, found: Atom, distances: Sequence[Atom]) -> Atom:
        for distance in distances:
            if distance.is_Symbol:
                found = self.writer.choose(self.writer.write("ne", distance, ZERO), found, sympy.nan)
            elif distance == ZERO:
                found = sympy.nan
        return found

    def _masked(self, found: Atom, mask: Atom) -> Atom:
        return self.writer.choose(mask, found, ZERO) if self.masks and mask != ONE else found

    def _through(self, call: Call, k: int, g: Atom, mask: Atom, transpose: Callable[[Atom], Atom]) -> None:
        """Bring an adjoint back through a linear map, and where it is not 0."""
        self._add(call.operands[k], transpose(g), self._moved_mask(call, mask, g, transpose))

    def _moved_mask(self, call: Call, mask: Atom, g: Atom, transpose: Callable[[Atom], Atom]) -> Atom:
        """Return where something comes back through a linear map of an adjoint, whose mask is this.

        One condition for all elements stays one, where each element of the operand goes somewhere.
        """
        writer = self.writer
        if not mask.is_Symbol or (not writer.shape(mask) and linear_rules.moves_every_element(writer, call)):
            return mask
        return writer.holds(transpose(writer.expand(writer.choose(mask, ONE, ZERO), writer.shape(g))))

    def _of_product(self, line: Line, k: int, g: Atom, mask: Atom) -> Atom:
        """Return the mask of a factor of a matrix product: rows or columns that nothing comes back from."""
        if not mask.is_Symbol or not self.writer.shape(mask):
            return mask
        wide = self.writer.expand(self.writer.choose(mask, ONE, ZERO), self.writer.shape(g))
        return self.writer.holds(matrix_rules.lines_reached(self.writer, line.call, k, wide))

    def _add(self, atom: Atom, adjoint: Atom, mask: Atom) -> None:
        """Add to the adjoint of a line or variable, summed over what broadcasting stretched."""
        writer, shape = self.writer, self.writer.shape(atom)
        if len(writer.shape(adjoint)) < len(shape) or (not adjoint.is_Symbol and shape):
            adjoint = writer.expand(adjoint, shape)
        if mask.is_Symbol and writer.shape(mask) not in ((), shape):
            wide = writer.expand(writer.choose(mask, ONE, ZERO), writer.shape(adjoint))
            mask = writer.holds(writer.fit(wide, shape))
        adjoint = writer.fit(adjoint, shape)
        if atom not in self.adjoints:
            self.adjoints[atom] = adjoint
            if mask != ONE:
                self.reached[atom] = mask
            return
        self.adjoints[atom] = writer.plus(self.adjoints[atom], adjoint)
        before = self.reached.pop(atom, ONE)
        if ONE not in (before, mask):
            self.reached[atom] = writer.either(before, mask)


def _jumping(program: Program, moves: Collection[Atom]) -> set[Atom]:
    """List the lines whose value may jump: an extreme may take such an operand next to the point, if not at it."""
    found: set[Atom] = set()
    for line in program.lines:
        op, operands = line.call.op, line.call.operands
        is_jump = op.is_locally_constant or (op.is_branch and operands[0] in moves)
        if line.symbol in moves and (is_jump or not found.isdisjoint(operands)):
            found.add(line.symbol)
    return found

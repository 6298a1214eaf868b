"""A Program as a form of this algebra, line by line."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

import sympy

from gradcli.language.ops import Kind
from gradcli.language.program.movement import axes_of, axis_of, indexed_axes, permutation
from gradcli.language.program.wengert import Atom as Operand, Call, Program, Shape
from gradcli.symbolic.matrix_algebra.inverses import MatrixAlgebra
from gradcli.symbolic.matrix_algebra.networks import Atom, GaveUpError, NormalForm

SMOOTH = frozenset(
    "exp log sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh erf erfc lgamma digamma".split()
)
"""Elementwise functions that have a derivative wherever they have a value, but at ends of their domains."""

BENT = frozenset("abs sign".split())
"""Elementwise functions with kinks and jumps."""

COMPARISONS = frozenset("gt ge lt le eq".split())
"""Comparisons of elements, whose values are true and false."""

MOST_LINES = 400
"""Most lines of a Program."""


class FormReader:
    """Reader of Programs as forms.

    Args:
        algebra: The rules.
        shapes: Of all symbols.
        has_kinks: Whether functions with kinks are read, too; nothing is known of them but what is inside.
    """

    def __init__(self, algebra: MatrixAlgebra, shapes: Mapping[Operand, Shape], *, has_kinks: bool = False) -> None:
        self.algebra, self.shapes, self.has_kinks = algebra, shapes, has_kinks
        self.forms: dict[Operand, NormalForm] = {}
        self.calls: dict[Operand, Call] = {}
        self.compared: set[frozenset[Operand]] = set()

    def read(self, program: Program) -> NormalForm:
        """Return the output of a Program as a form.

        Raises:
            GaveUpError: It has an operation that is not known here, or too many terms.
        """
        if len(program.lines) > MOST_LINES:
            raise GaveUpError
        for symbol in program.variables:
            self.forms[symbol] = self.algebra.variable(str(symbol), self.shapes[symbol])
        for line in program.lines:
            self.calls[line.symbol] = line.call
            self.forms[line.symbol] = self._line(line.call, self.shapes.get(line.symbol, ()))
        return self.form(program.output)

    def form(self, operand: Operand) -> NormalForm:
        """Return the form of a line, a variable or a number."""
        if operand in self.forms:
            return self.forms[operand]
        if operand == sympy.pi:
            return self.algebra.of_atom(Atom("number", "pi"))
        if operand == sympy.E:
            return self.algebra.function("exp", self.algebra.constant(1))
        if isinstance(operand, sympy.Float) and math.isfinite(float(operand)):
            return self.algebra.constant(Fraction(repr(float(operand))))
        if isinstance(operand, sympy.Rational):
            return self.algebra.constant(Fraction(int(operand.p), int(operand.q)))
        if not operand.free_symbols and isinstance(operand, sympy.Pow) and operand.base.is_Integer:
            power = operand.exp
            return self.algebra.power(self.form(operand.base), Fraction(int(power.p), int(power.q)))
        raise GaveUpError

    def _line(self, call: Call, shape: Shape) -> NormalForm:
        algebra, inside = self.algebra, [self.form(a) for a in call.operands]
        statics = call.constants
        match call.op.name:
            case "neg":
                return algebra.add((-1, inside[0]))
            case "add":
                return algebra.add((1, inside[0]), (1, inside[1]))
            case "sub":
                return algebra.add((1, inside[0]), (-1, inside[1]))
            case "mul":
                return algebra.multiply(*inside)
            case "div":
                return algebra.multiply(inside[0], self._inverse(call.operands[1]))
            case "sqrt":
                return algebra.power(inside[0], Fraction(1, 2))
            case "pow":
                return self._power(*inside)
            case "matmul":
                return algebra.matmul(*inside)
            case "inv" if len(shape) == 2:
                return algebra.inverse(inside[0])
            case "det" if not shape:
                return algebra.determinant(inside[0])
            case "eigvalsh" if len(shape) == 1:
                return self._eigenvalues(inside[0])
            case "with_eigenvalues" if len(shape) == 2:
                return self._with_eigenvalues(*inside)
            case "sum":
                return self._sum(call, inside[0])
            case "count":
                sizes = inside[0].sizes
                found = algebra.constant(1)
                for axis in axes_of(sizes, statics["dim"]):
                    found = algebra.multiply(found, algebra.count(sizes[axis]))
                return found
            case "zeros" | "zeros_like":
                return algebra.constant(0, shape)
            case "ones" | "ones_like":
                return algebra.constant(1, shape)
            case "full":
                return algebra.constant(Fraction(repr(float(statics["fill_value"]))), shape)
            case "eye" if len(shape) == 2 and shape[0] == shape[1]:
                return algebra.unit(shape[0])
            case "pad" if not any(statics["pad"]):
                return inside[0]
            case "ne" if inside[1].number == 0 and _is_unit(inside[0]):
                return inside[0]
            case "where" if inside[2].number == 0 and _is_unit(inside[0]):
                return algebra.multiply(inside[0], inside[1])
            case name if name in SMOOTH:
                return algebra.function(name, inside[0])
            case name if name in BENT and self.has_kinks:
                return algebra.function(name, *inside)
            case "maximum" if self.has_kinks and any(one.number == 0 for one in inside):
                return algebra.function("relu", next(one for one in inside if one.number != 0))
            case "gt" | "ge" | "lt" | "le" | "eq" | "where" if self.has_kinks:
                return self._by_cases(call, inside)
        if call.op.kind is Kind.MOVEMENT:
            return self._moved(call, inside[0], shape)
        raise GaveUpError

    def _inverse(self, operand: Operand) -> NormalForm:
        """Return 1 over a line; that of a power or a product is one of what it is made of, before it is written out."""
        call = self.calls.get(operand)
        if call is not None and call.op.name == "mul":
            return self.algebra.multiply(*map(self._inverse, call.operands))
        if call is not None and call.op.name == "pow" and (power := self.form(call.operands[1]).number) is not None:
            return self.algebra.power(self.form(call.operands[0]), -power)
        return self.algebra.power(self.form(operand), Fraction(-1))

    def _by_cases(self, call: Call, inside: list[NormalForm]) -> NormalForm:
        """Return a comparison as a number, 1 where it holds, or a choice by one; places of equality are left out."""
        algebra = self.algebra
        if call.op.name == "where":
            condition = self.calls.get(call.operands[0])
            while condition is not None and condition.op.kind is Kind.MOVEMENT:  # such as diag(x > 0)
                condition = self.calls.get(condition.operands[0])
            if condition is None or condition.op.name not in COMPARISONS:
                raise GaveUpError
            chosen = algebra.multiply(inside[0], algebra.add((1, inside[1]), (-1, inside[2])))
            return algebra.add((1, chosen), (1, inside[2]))
        difference = algebra.add((1, inside[0]), (-1, inside[1]))
        pair = frozenset(call.operands)
        if not difference.terms or (call.op.name == "eq" and pair not in self.compared):
            raise GaveUpError
        if call.op.name == "eq":  # as it is between less and greater, which have forms
            return algebra.constant(0, difference.sizes)
        self.compared.add(pair)
        is_less = call.op.name in ("lt", "le")
        return algebra.function("above zero", algebra.add((-1, difference)) if is_less else difference)

    def _power(self, base: NormalForm, power: NormalForm) -> NormalForm:
        if (number := power.number) is not None:
            return self.algebra.power(base, number)
        if not self.algebra.splits:
            raise GaveUpError
        return self.algebra.function("exp", self.algebra.multiply(power, self.algebra.log_of_base(base)))

    def _sum(self, call: Call, form: NormalForm) -> NormalForm:
        axes = axes_of(form.sizes, call.constants["dim"])
        kept = [axis for axis in range(len(form.sizes)) if axis not in axes]
        found = self.algebra.contract([(form, range(len(form.sizes)))], kept, tuple(form.sizes[axis] for axis in kept))
        if not call.constants["keepdim"]:
            return found
        sizes = tuple(1 if axis in axes else size for axis, size in enumerate(form.sizes))
        return self._with_ones(found, kept, sizes)

    def _with_ones(self, form: NormalForm, places: list[int], sizes: Shape) -> NormalForm:
        """Return a form whose axes stand at these places among others, which are of size 1 or stretched."""
        ones = [label for label in range(len(sizes)) if label not in places]
        stretched = (self.algebra.constant(1, tuple(sizes[label] for label in ones)), ones)
        return self.algebra.contract([(form, places), stretched], range(len(sizes)), sizes)

    def _moved(self, call: Call, form: NormalForm, shape: Shape) -> NormalForm:
        algebra, axes = self.algebra, range(len(form.sizes))
        match call.op.name:
            case "transpose" | "permute":
                return algebra.contract([(form, axes)], permutation(form.sizes, call), shape)
            case "expand":
                return algebra.add((1, form), (1, algebra.constant(0, shape)))
            case "reshape" | "flatten" | "squeeze" | "unsqueeze":
                return self._reshaped(form, shape)
            case "index":
                found, dropped = indexed_axes(form.sizes, call.statics[0])
                is_whole = all(
                    a.source < 0 or (not a.places and (a.start, a.step, a.size) == (0, 1, form.sizes[a.source]))
                    for a in found
                )
                if is_whole and all(form.sizes[axis] == 1 for axis in dropped):
                    return self._reshaped(form, shape)
            case "diag" if len(form.sizes) == 1 and call.statics[0] == 0:
                return algebra.contract([(form, [0]), (algebra.unit(form.sizes[0]), [0, 1])], [0, 1], shape)
            case "diag" | "diagonal" if len(form.sizes) == 2 and call.statics[0] == 0:
                if form.sizes[0] == form.sizes[1] and {axis_of(form.sizes, d) for d in (*call.statics, 0, 1)[1:3]} == {
                    0,
                    1,
                }:
                    return algebra.contract([(form, [0, 0])], [0], shape)
        raise GaveUpError

    def _reshaped(self, form: NormalForm, shape: Shape) -> NormalForm:
        """Insert and leave out axes of size 1."""
        if [n for n in form.sizes if n != 1] != [n for n in shape if n != 1]:
            raise GaveUpError
        long = [axis for axis, n in enumerate(form.sizes) if n != 1]
        kept = self.algebra.contract([(form, range(len(form.sizes)))], long, tuple(form.sizes[a] for a in long))
        return self._with_ones(kept, [axis for axis, n in enumerate(shape) if n != 1], shape)

    # -- eigenvalues

    def _eigenvalues(self, matrix: NormalForm) -> NormalForm:
        algebra = self.algebra
        half = algebra.add((Fraction(1, 2), matrix), (Fraction(1, 2), algebra.transpose(matrix)))
        return algebra.of_atom(Atom("eigenvalues", "", half.sizes[:1], (half,)))

    def _with_eigenvalues(self, matrix: NormalForm, values: NormalForm) -> NormalForm:
        """Return the function of a matrix that takes its eigenvalues to sums of whole powers of them."""
        algebra = self.algebra
        half = algebra.add((Fraction(1, 2), matrix), (Fraction(1, 2), algebra.transpose(matrix)))
        found = algebra.constant(0, half.sizes)
        for factors, number in values.terms.items():
            own = [one for one in factors if one.at]
            if len(own) > 1 or any(one.atom.kind != "eigenvalues" or one.atom.inside[0] != half for one in own):
                raise GaveUpError
            power = own[0].power if own else Fraction(0)
            if power.denominator != 1 or abs(power) > 6:
                raise GaveUpError
            whole = algebra.unit(half.sizes[0])
            for _ in range(abs(int(power))):
                whole = algebra.matmul(whole, half if power > 0 else algebra.inverse(half))
            scale = algebra.normal((), [(number, [one for one in factors if not one.at])])
            found = algebra.add((1, found), (1, algebra.multiply(scale, whole)))
        return found


def _is_unit(form: NormalForm) -> bool:
    """Tell whether a form is the unit matrix, whose elements are conditions."""
    return len(form.terms) == 1 and all(
        number == 1 and len(factors) == 1 and factors[0].atom.kind == "unit" for factors, number in form.terms.items()
    )

"""Derivatives as expressions of whole tensors, `2*A.T@(A@x - b)`: each is proved to be the derivative, or is not shown.

A Jacobian is found from the product of a vector of weights with it, which is a gradient: what stands next to the
weights is J.  A Hessian is the Jacobian of the gradient.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import sympy
from sympy import Symbol

from gradcli.adjoint.gradient import gradient, vector_jacobian_product
from gradcli.adjoint.slopes import NoAdjointError
from gradcli.errors import GradcliError, Span
from gradcli.language.ops import Kind
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Atom, Builder, Program, Shape
from gradcli.parts import is_listed
from gradcli.reference.deadline import OverTimeError, time_limit
from gradcli.symbolic.matrix_algebra import networks
from gradcli.symbolic.matrix_algebra.factoring import FormulaWriter
from gradcli.symbolic.matrix_algebra.inverses import MatrixAlgebra
from gradcli.symbolic.matrix_algebra.networks import Factor, Factors, GaveUpError, NormalForm
from gradcli.symbolic.matrix_algebra.program_forms import FormReader
from gradcli.symbolic.matrix_algebra.spelling import WholeTensors

if TYPE_CHECKING:
    from gradcli.parts.claims import Compared

_WEIGHTS = "weights of y"
"""Name of the vector that a Jacobian is multiplied by."""

_WAYS = ((False, False), (True, False), (True, True))
"""Ways to multiply out: not at all, products of sums, and functions and quotients, too."""

_JOINING = (Kind.CONTRACTION, Kind.MATRIX, Kind.SPECTRAL, Kind.REDUCTION)


def joins_elements(program: Program) -> bool:
    """Tell whether a function has sums of elements, or of products; else its formula for one element says it all."""
    return any(line.call.op.kind in _JOINING for line in program.lines)


@dataclass(frozen=True)
class SizedFunction:
    """Function in primitives, whose sizes have names.

    Attributes:
        program: The function.
        shapes: Of its variables, in numbers.
        names: Of numbers that stand for any size.
        is_of_any_size: Whether the other numbers are kept, too, as `n` in `x/n`, so that a proof is for any size.
    """

    program: Program
    shapes: Mapping[Symbol, Shape]
    names: Mapping[int, str]
    is_of_any_size: bool = True

    @cached_property
    def y(self) -> Shape:
        """The shape of the value."""
        return infer(self.program, dict(self.shapes), bounded=False).get(self.program.output, ())


@dataclass(frozen=True)
class ProvedFormula:
    """Formula in whole tensors that is proved to be a derivative.

    Attributes:
        whole: The formula.
        function: The function.
        variable: The one that it is differentiated by.
        form: The formula in the algebra.
    """

    whole: WholeTensors
    function: SizedFunction
    variable: Symbol
    form: NormalForm

    @property
    def small_sizes(self) -> Mapping[int, int]:
        """Small numbers for sizes that have names: matrices are rather tall, so that `X.T@X` has an inverse."""
        return {number: n + 3 for n, number in enumerate(sorted(self.function.names, reverse=True))}

    def compared(self, points: int) -> Compared | None:
        """Compare the formula with enclosures at random points, at small sizes; None where sizes cannot be small."""
        sizes, program, names = (
            self.small_sizes,
            self.function.program,
            (str(self.variable), *self.function.program.names),
        )
        shapes = {one: tuple(sizes.get(n, n) for n in shape) for one, shape in self.function.shapes.items()}
        with suppress(GradcliError, NoAdjointError, RecursionError):
            text = FormulaWriter({number: str(n) for number, n in sizes.items()}, names).formula(self.form).text
            if is_listed("claims"):
                from gradcli.parts.claims import compared_at_random

                return compared_at_random(program, shapes, str(self.variable), text, points)
        return None


def gradient_formula(function: SizedFunction, variable: Symbol) -> ProvedFormula | None:
    """Return the gradient of a function of one element in whole tensors; None if there is none that is proved."""
    return _formula(function, variable, "gradient")


def jacobian_formula(function: SizedFunction, variable: Symbol) -> ProvedFormula | None:
    """Return the Jacobian of a vector by a vector or a number, as a matrix or a vector."""
    is_matrix = len(function.y) == 1 and len(function.shapes[variable]) < 2
    return _formula(function, variable, "Jacobian") if is_matrix else None


def hessian_formula(function: SizedFunction, row: Symbol, column: Symbol) -> ProvedFormula | None:
    """Return a block of the Hessian of a function of one element, by two vectors."""
    program = function.program
    try:
        known = infer(program, dict(function.shapes), bounded=False)
        found = gradient(program, known, [row], {program.output: sympy.S.One}, by_inverses=True).function(row)
    except (GradcliError, NoAdjointError):
        return None
    if column not in found.variables:
        return None
    own = {symbol: function.shapes[symbol] for symbol in found.variables}
    return jacobian_formula(SizedFunction(found, own, function.names), column)


def _formula(function: SizedFunction, variable: Symbol, of: str) -> ProvedFormula | None:
    """Return the shortest formula that is proved."""
    if is_listed("claims"):
        from gradcli.parts.claims import is_proved_derivative

        x = str(variable)
        with suppress(GradcliError, NoAdjointError, OverTimeError, RecursionError), time_limit():
            found = _formulas(function, variable, of)
            for text in sorted(found, key=len):
                with suppress(GradcliError):  # of a text that the language does not read
                    if is_proved_derivative(function.program, function.shapes, x, text, of):
                        return found[text]
    return None


def _formulas(function: SizedFunction, variable: Symbol, of: str) -> Mapping[str, ProvedFormula]:
    """Write the derivative in different ways, by their texts; none of them is proved yet."""
    order = (str(variable), *function.program.names)
    names = {number: f"({name})" if " " in name else name for number, name in function.names.items()}
    texts: dict[str, ProvedFormula] = {}
    for form in _forms(function, variable, of):
        with suppress(GaveUpError):
            whole = FormulaWriter(names, order).formula(form)
            text = FormulaWriter({}, order).formula(form).text
            texts[text] = ProvedFormula(whole, function, variable, form)
    return texts


def _forms(function: SizedFunction, variable: Symbol, of: str) -> Iterator[NormalForm]:
    """Generate the derivative as forms, multiplied out in different ways."""
    program, y = function.program, function.y
    if of != "Jacobian" and y:
        builder = Builder(program.text, program.source, lines=list(program.lines))
        total = builder.emit("sum", (program.output,), Span(0, len(program.text)), (None, False))
        program = replace(program, lines=tuple(builder.lines), output=total)
    weights: Atom = Symbol(_WEIGHTS, real=True) if of == "Jacobian" else sympy.S.One
    product = vector_jacobian_product(program, function.shapes, variable, weights)
    known = infer(program, dict(function.shapes), bounded=False)
    sizes = {n: str(n) for shape in known.values() for n in shape if n > 1} if function.is_of_any_size else {}
    for expands, splits in _WAYS:
        algebra = MatrixAlgebra(sizes, expands=expands, splits=splits, linear=_WEIGHTS if of == "Jacobian" else "")
        try:
            form = FormReader(algebra, product.shapes, has_kinks=True).read(product.program)
            yield _without_weights(algebra, form, (*y, *form.sizes)) if of == "Jacobian" else form
        except GaveUpError:
            continue


def _without_weights(algebra: MatrixAlgebra, form: NormalForm, sizes: Shape) -> NormalForm:
    """Return the Jacobian of a product of weights with it.

    Raises:
        GaveUpError: A term is not the weights times something.
    """
    raw = []
    for factors, number in form.terms.items():
        opened = _opened(factors)
        moved = [one.moved({0: 1}) for one in opened]
        weights = [one for one in moved if one.atom.kind == "variable" and one.atom.name == _WEIGHTS]
        if len(weights) != 1 or weights[0].power != 1 or len(weights[0].at) != 1:
            raise GaveUpError
        (place,) = weights[0].at
        rest = [one for one in moved if one is not weights[0]]
        if place < 0:
            raw.append((number, [one.moved({place: 0}) for one in rest]))
        else:  # each element of y by the one of x at its own place
            n = weights[0].atom.sizes[0]
            raw.append((number, [*rest, Factor(networks.Atom("unit", "", (n, n), is_symmetric=True), (0, place))]))
    return algebra.normal(sizes, raw)


def _opened(factors: Factors) -> Sequence[Factor]:
    """Put the factors of the number that the weights are in next to the others."""
    for one in factors:
        if one.atom.kind == "network" and one.power == 1:
            inside = next(iter(one.atom.inside[0].terms))
            if any(other.atom.name == _WEIGHTS for other in inside):
                least = min([0, *(index for other in factors for index in other.at)])
                moved = [other.moved({i: i + least for i in other.at}) for other in inside]
                return [*(other for other in factors if other is not one), *moved]
    return factors

"""The reading of a claim: its text as a Program, and the derivative that its shape stands for.

    names v                                   the vector-Jacobian product vᵀJ, for every v
    y.shape + x.shape, and y of several       the Jacobian
    x.shape + y.shape, and that is another    the Jacobian, transposed: of a formula of vectors in denominators' layout
    x.shape, and y of one element             the gradient
    x.shape, and y of several                 vᵀJ with the v that is given, or ones

Whatever stretches to x's shape has it: `2` is the gradient of `sum(2*x)`.  No shape is two of these at once: that of
the Jacobian has more dimensions than x's unless y is one number, and then the Jacobian is the gradient.  `v` is the
gradient vector unless the function has a variable of that name; no claim can name the vector then.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

import numpy as np
import sympy

from gradcli.errors import InputError, Place, ShapeError, Span, did_you_mean
from gradcli.language.inputs import Value, read_value
from gradcli.language.lower.context import Known, NeighbourFunction
from gradcli.language.lower.juxtaposed_names import cut, factors, meant, place_of
from gradcli.language.ops import Kind
from gradcli.language.parsing import parse_claim
from gradcli.language.program.dot_products import MAY_BE_DOT
from gradcli.language.program.shapes import infer, remarks_on_dots
from gradcli.language.program.wengert import Atom, Builder, Call, Program, Shape, broadcast, show
from gradcli.option_words import option
from gradcli.parts.claims.equations import differentials_in, read_equations, source_of
from gradcli.parts.claims.structures import projected
from gradcli.parts.claims.subject import Subject, V
from gradcli.questions.text_reading import ask_torch
from gradcli.results import Array

if TYPE_CHECKING:
    from gradcli.parts.claims.stacked_readings import Stacking

ClaimKind = Literal["gradient", "Jacobian", "vector-Jacobian product"]

_ROUNDED = ("linspace", "randn", "rand", "drawn")
"""Constant tensors of other numbers than the user means."""

LARGEST = 1e30
"""Decimals up to this, and down to its inverse, are read as fractions, whose length is bounded so."""


@dataclass(frozen=True)
class Reading:
    """Reading of a claim: the derivative that it states, its shape and its formula.

    Attributes:
        of: What it is.
        shape: ClaimKind what it claims, to which its own stretches.
        note: How it was read, where that is not plain.
        program: Its formula; None for numbers.
        own: The shape of the formula or of the numbers, before they stretch.
        is_transposed: Whether it has the shape of the transposed Jacobian.
        is_by_denominators: Whether it was written so, as books do, and its formula has been transposed.
        names_vector: Whether it holds for every v; a variable of the function that is called v is none.
        stacking: How the claim of stacked elements is put into the shape; None once it is.
        other: Another reading, which counts where this one does not hold at the point, and it does.
    """

    of: ClaimKind
    shape: Shape
    note: str = ""
    program: Program | None = None
    own: Shape = ()
    is_transposed: bool = False
    is_by_denominators: bool = False
    names_vector: bool = False
    stacking: Stacking | None = None
    other: Reading | None = None


def read(subject: Subject, text: str, source: str = "--claim") -> Reading:
    """Read the claim of a text.

    Raises:
        LanguageError: it is not in the language.
        InputError: it names something unknown, or has a shape that no derivative here has.
    """
    program, _, note = parse(subject, text, source)
    reading = _read_shape(subject, program, Place(text, Span(0, len(text)), source))
    return replace(reading, note="; ".join(filter(None, (note, reading.note)))) if note else reading


def _read_shape(subject: Subject, program: Program, whole: Place) -> Reading:
    """Read what a claim is of by the shape of its formula; `read` has the errors."""
    shape = infer(program, {symbol: subject.known[symbol] for symbol in program.variables})[program.output]
    names_vector = subject.has_vector and V in program.names
    if _is_row_or_column(shape, subject) and not names_vector:
        # A gradient as a row or a column is told apart from a wrong one; the derivative is a vector.
        builder = Builder(program.text, program.source, lines=list(program.lines))
        axis = shape.index(1)
        flat = builder.emit("sum", (program.output,), Span(0, len(program.text)), (axis, False))
        program, what = replace(program, lines=tuple(builder.lines), output=flat), "row" if axis == 0 else "column"
        note = f"read as a {what}; the gradient has the shape of {subject.variable}, {show(subject.x)}"
        return replace(of_shape(subject, subject.x, whole), note=note, program=program, own=subject.x)
    reading = of_shape(subject, shape, whole, names_vector=names_vector)
    if reading.is_transposed and len(shape) == 2:  # of vectors of different sizes, so that its shape tells the layout
        builder = Builder(program.text, program.source, lines=list(program.lines))
        turned = builder.emit("transpose", (program.output,), Span(0, len(program.text)), (None, None))
        program, shape = replace(program, lines=tuple(builder.lines), output=turned), reading.shape
        layout = f"read in denominators' layout, with a row for each element of {subject.variable}"
        note = f"{layout}; the Jacobian has y.shape + {subject.variable}.shape, {show(shape)}"
        reading = replace(reading, is_transposed=False, is_by_denominators=True, note=note)
    own = replace(reading, program=program, own=shape)
    return own if reading.stacking is None else with_formula(reading, program, shape)


def with_formula(reading: Reading, program: Program, own: Shape) -> Reading:
    """Return a reading of some shape with its formula, of stacked elements put into the shape of the derivative."""
    if reading.stacking is None:
        return replace(reading, program=program, own=own)
    other = None if reading.other is None else with_formula(reading.other, program, own)
    return replace(reading, program=reading.stacking.program(program), own=reading.shape, other=other, stacking=None)


def _stacked(subject: Subject, shape: Shape, place: Place | None, *, names_vector: bool) -> Reading:
    """Read a claim as the derivative by stacked elements, by columns or else by rows.

    Raises:
        InputError: no derivative here has its shape.
    """
    from gradcli.parts.claims.stacked_readings import stackings

    found: Reading | None = None
    for one in reversed([*stackings(subject, shape, names_vector=names_vector)]):
        found = Reading(one.of, one.shape, one.note, names_vector=names_vector, stacking=one, other=found)
    if found is None:
        raise _misshapen(subject, shape, place, names_vector=names_vector)
    return found


def _is_row_or_column(shape: Shape, subject: Subject) -> bool:
    """Tell whether a shape is that of a vector's gradient as a matrix of one row or column."""
    x = subject.x
    return (
        len(x) == 1
        and x != (1,)
        and math.prod(subject.y) == 1
        and shape in ((1, *x), (*x, 1))
        and shape != (*subject.y, *x)
    )


class ParsedClaim(NamedTuple):
    """Text of a claim as a Program of the variables, whether it says each entry by its indices, and how it was read."""

    program: Program
    is_indexed: bool
    note: str = ""


def parse(subject: Subject, text: str, source: str = "--claim") -> ParsedClaim:
    """Parse the text of a claim, which may name the variables, v, the output, and what the function has assigned.

    Raises:
        LanguageError: it is not in the language.
        InputError: it names something unknown.
    """
    known = {str(symbol): shape for symbol, shape in subject.known.items()}
    said = source_of(text.rstrip() or text, source)
    named = {**subject.assigned, **known}
    called: Sequence[str] = ()
    calls: Mapping[str, NeighbourFunction] = {}
    if "(" in text or "'" in text:
        from gradcli.language.lower.called_values import settle_calls

        called, calls = settle_calls(said, subject.callable_names), subject.callable_names.functions
    cut(said, [*named])
    said.factors = factors(said, named.keys() - calls.keys())
    if differentials_in(said.text, subject.program.names):
        from gradcli.parts.claims.differentials import read_differential

        return ParsedClaim(_written_out(read_differential(said, subject, named), subject, known), is_indexed=False)
    indexed = read_equations(said, subject, known)
    how = Known(frozenset(named), named, None, ask_torch, is_of_matrices=subject.program.is_of_matrices, calls=calls)
    program = indexed or parse_claim(said, how)
    for name in program.names:
        if name not in named:
            raise _unknown(program, name, subject, known)
    is_plain = indexed or (known.keys() >= {*program.names} and not MAY_BE_DOT.search(program.text))
    note = "; ".join(called or (() if is_plain else _remarks(program, subject, named)))
    return ParsedClaim(_written_out(program, subject, known), indexed is not None, note)


def doubts_in(subject: Subject, text: str) -> Iterator[str]:
    """Remark on what stands in the text of a claim and may be meant otherwise, such as E for an energy."""
    from gradcli.language.text.doubtful import doubtful

    said = source_of(text, "--claim")
    yield from doubtful(said.tokens, said.text, {*subject.assigned, *map(str, subject.known)})


def _remarks(program: Program, subject: Subject, named: Mapping[str, Shape]) -> Iterator[str]:
    """Remark on a product that is typed as a dot product is, and on the output by a name that the text lacks."""
    shapes = infer(program, {symbol: named[str(symbol)] for symbol in program.variables}, bounded=False)
    yield from remarks_on_dots(program, shapes)
    function = subject.program
    if function.output_name in program.names and function.output_name not in (*function.names, *function.assigned, V):
        yield f"{function.output_name} is the value of the function"


def _written_out(program: Program, subject: Subject, known: Mapping[str, Shape]) -> Program:
    """Write out what the function has assigned, and its output."""
    if {*program.names} <= known.keys():
        return program
    function = subject.program
    builder = Builder(program.text, program.source)
    inside: dict[Atom, Atom] = {}
    whole = Span(0, len(program.text))
    for line in function.lines:
        call = line.call.renamed(inside)
        inside[line.symbol] = builder.emit(call.op.name, call.operands, whole, call.statics)
    values = {name: inside.get(atom, atom) for name, atom in subject.named.items()}
    operands = [symbol if str(symbol) in known else values[str(symbol)] for symbol in program.variables]
    output = builder.inline(program, operands, whole)
    variables = [*function.variables, *(symbol for symbol in program.variables if symbol not in function.variables)]
    return replace(builder.program(output, variables), text=program.text)


def under_assumption(subject: Subject, reading: Reading) -> Reading:
    """Read a formula as one of members of what is assumed, along the directions of it."""
    if reading.program is None or not subject.assumed or reading.is_transposed:
        return reading
    program = projected(reading.program, subject.known, subject.assumed, subject.variable, reading.shape)
    return replace(reading, program=program, own=infer(program, subject.known, bounded=False).get(program.output, ()))


class ClaimedFunction(Protocol):
    """A function of Python that somebody states to be a derivative.

    Attributes:
        text: Its name.
        arguments: The variables that it takes; others are constants in it.
    """

    text: str
    arguments: Sequence[str]

    def program(self, inputs: Mapping[str, Array]) -> Program | None:
        """Return the Program that computes it for all values of these shapes; None if it cannot be read as one."""

    def numbers(self, inputs: Mapping[str, Array]) -> Array:
        """Call it at a point.

        Raises:
            InputError: It fails, or gives no numbers.
        """


class StatedFunction(Protocol):
    """A function of Python that gives the derivatives by all variables."""

    def stated(self, given: Mapping[str, object], variable: str, wrt: Sequence[str]) -> ClaimedFunction:
        """Return its claim for one variable.

        Args:
            given: The arguments of the function whose derivatives they are to be, by name and in order.
            variable: The variable.
            wrt: The variables that it gives derivatives by, in order.

        Raises:
            UsageError: It takes other arguments.
        """


def read_function(subject: Subject, function: ClaimedFunction, inputs: Mapping[str, Array]) -> tuple[Reading, Array]:
    """Read a function as a claim by its shape, with a formula if it can be read; give also its numbers at a point.

    Raises:
        InputError: It fails, or has a shape that no derivative here has.
    """
    numbers = np.asarray(function.numbers(inputs), dtype=np.float64)
    reading = replace(of_shape(subject, numbers.shape, None), own=numbers.shape)
    program = function.program(inputs)
    known = {str(symbol) for symbol in subject.known}
    is_of_inputs = program is not None and {*program.names} <= known - {V} | {*subject.program.names}
    return (with_formula(reading, program, numbers.shape) if program is not None and is_of_inputs else reading), numbers


_CALLED = re.compile(r"(?<![\w.])(?P<name>[^\W\d]\w*)(?P<primes>['\u2032]*)\(")
"""A function or its derivative at a point, `f(2)`, `f'(2)`."""


def read_numbers(subject: Subject, value: Value) -> tuple[Array, Reading]:
    """Read the claim of numbers.

    Raises:
        GradcliError: they are no value, or have a shape that no derivative here has.
    """
    if isinstance(value, str) and (found := _CALLED.search(value)) and found["name"] in subject.callable_names:
        message = f"what is expected is numbers, and this names {found['name']}, a function"
        claim = option("claim", f'"{value}"')
        hint = "write the number" if found["primes"] else f"a formula is a claim: {claim}"
        raise InputError(message, place=Place(value, Span(*found.span()), "--expect"), hint=hint)
    numbers = read_value(value, "--expect")
    place = Place(value, Span(0, len(value)), "--expect") if isinstance(value, str) else None
    return numbers, replace(of_shape(subject, numbers.shape, place), own=numbers.shape)


def of_shape(subject: Subject, shape: Shape, place: Place | None, *, names_vector: bool = False) -> Reading:
    """Read a claim by its shape: as a gradient, a Jacobian or a vector-Jacobian product.

    Raises:
        InputError: no derivative here has it.
    """
    x, y = subject.x, subject.y
    if names_vector:
        if _stretches(shape, x):
            return Reading("vector-Jacobian product", x, names_vector=True)
        return _stacked(subject, shape, place, names_vector=True)
    is_one = math.prod(y) == 1
    if shape == (*y, *x) and not (is_one and shape == x):
        return Reading("Jacobian", shape)
    if _stretches(shape, x):
        if is_one:
            is_weighted = subject.v is not None and bool(np.any(subject.v != 1))
            note = "read as the gradient of y itself, without v; a claim for vᵀJ names v"
            return Reading("gradient", x, note if is_weighted else "")
        given = "the v that is given" if subject.v is not None else "v = ones, the gradient of the sum of y"
        return Reading("vector-Jacobian product", x, f"read as vᵀJ with {given}")
    if shape == (*x, *y):
        return Reading("Jacobian", (*y, *x), is_transposed=True)
    return _stacked(subject, shape, place, names_vector=False)


def _stretches(shape: Shape, full: Shape) -> bool:
    """Tell whether a tensor of this shape broadcasts to the full one."""
    try:
        return broadcast([shape, full]) == full
    except ShapeError:
        return False


def _unknown(program: Program, name: str, subject: Subject, known: Mapping[str, Shape]) -> InputError:
    names = [*subject.program.names, *subject.assigned, *([V] if subject.has_vector else [])]
    hint = meant(name, known) or did_you_mean(name, known) or f"it may name {', '.join(names)}"
    if name == V:
        hint = f"the function has a variable v, so the gradient vector has no name; it may name {', '.join(names)}"
    message = f"the claim names '{name}', which is no variable of the function"
    return InputError(message, place=place_of(program, name), hint=hint)


def _misshapen(subject: Subject, shape: Shape, place: Place | None, *, names_vector: bool) -> InputError:
    x, y, name = subject.x, subject.y, str(subject.variable)
    wanted = f"the shape of {name}, {show(x)}"
    if names_vector:
        what, hint = "vᵀJ has", "leave v out of a Jacobian" if shape == (*y, *x) else "sum over the elements of y"
    elif math.prod(y) == 1:
        what, hint = "the gradient has", f"the gradient has one number for each element of {name}"
    else:
        what = f"the Jacobian has y.shape + {name}.shape, {show((*y, *x))}, and vᵀJ"
        hint = f"the Jacobian has a row for each element of y and a column for each of {name}"
    noun = "value" if place is not None and place.source == "--expect" else "claim"
    return InputError(f"the {noun} has shape {show(shape)}; {what} {wanted}", place=place, hint=hint)


def as_written(program: Program) -> Program:
    """Replace the decimals of a Program by the fractions that they are written as: 0.1 is 1/10.

    So a claim `0.3*x**2` for `0.1*x**3` is true, as it is on paper, though in float64 3*0.1 is not 0.3.
    """
    return _with_numbers(program, exact)


def exact(atom: Atom) -> Atom:
    """Return a decimal as the fraction that it is written as; anything else, and what would be too long, as it is.

    >>> exact(sympy.Float(0.1))
    1/10
    """
    is_moderate = isinstance(atom, sympy.Float) and 1 / LARGEST < abs(float(atom)) < LARGEST
    return _fraction(atom) if is_moderate else atom


def softened(program: Program) -> tuple[Program, Mapping[sympy.Symbol, sympy.Rational]]:
    """Replace rounded decimals by variables; give also the fractions that they are written as."""
    decimals: dict[sympy.Symbol, sympy.Rational] = {}

    def soften(atom: Atom) -> Atom:
        if not isinstance(atom, sympy.Float) or not is_rounded(float(atom)):
            return atom
        symbol = sympy.Symbol(repr(float(atom)), real=True)
        decimals[symbol] = _fraction(atom)
        return symbol

    changed = _with_numbers(program, soften)
    return replace(changed, variables=(*changed.variables, *decimals)), decimals


def is_rounded(number: float) -> bool:
    """Tell whether float64 holds another number than the one written.

    >>> is_rounded(0.1), is_rounded(0.25)
    (True, False)
    """
    return math.isfinite(number) and Fraction(repr(number)) != Fraction(number)


def has_rounded_tensor(program: Program) -> bool:
    """Tell whether the Program has a constant tensor of rounded numbers, such as linspace."""
    return any(
        line.call.op.kind is Kind.SOURCE
        and (line.call.op.name in _ROUNDED or any(is_rounded(a) for a in line.call.statics if isinstance(a, float)))
        for line in program.lines
    )


def _fraction(number: sympy.Float) -> sympy.Rational:
    exact = Fraction(repr(float(number)))
    return sympy.Rational(exact.numerator, exact.denominator)


def _with_numbers(program: Program, change: Callable[[Atom], Atom]) -> Program:
    lines = tuple(
        replace(line, call=Call(line.call.op.name, tuple(map(change, line.call.operands)), line.call.statics))
        for line in program.lines
    )
    return replace(program, lines=lines, output=change(program.output))

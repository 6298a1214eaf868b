"""Formulas without a point: a derivative in closed form, for shapes that are given or inferred."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
from sympy import Symbol

from gradcli.crosscheck.confirming import confirm
from gradcli.crosscheck.formulas import Derived, Formulas, confirmed_at_random, derive_formulas
from gradcli.crosscheck.point import FunctionAtPoint
from gradcli.crosscheck.summary import joined, with_findings
from gradcli.errors import GradcliError, InputError, Span
from gradcli.language.inputs import read_shape
from gradcli.language.lower.juxtaposed_names import NOT_EULER, cut_remarks, require_named
from gradcli.language.program.expansion import without_detach
from gradcli.language.program.named_shapes import (
    NamedReading,
    NamedShapes,
    named_readings,
    named_shapes,
    shape_text,
    size_needed,
)
from gradcli.language.program.passes import for_formulas
from gradcli.language.program.shape_costs import MOST_UNLIKELY
from gradcli.language.program.shape_readings import GivenShape, NamedShape, TextBeside
from gradcli.language.program.wengert import Builder, Program, Shape
from gradcli.language.snippet_result import Snippet
from gradcli.option_words import option
from gradcli.parts.closed_forms.tensor_formulas import (
    SizedFunction,
    gradient_formula,
    hessian_formula,
    jacobian_formula,
    joins_elements,
)
from gradcli.questions.naming import chosen_variables, no_such_variable
from gradcli.questions.parsed_text import ParsedText
from gradcli.questions.question import OF_ONE_ELEMENT, Inquiry, Question
from gradcli.results import Assessment, Check, ClosedForm, Entry, Formula, Position
from gradcli.symbolic.derivative import Derivative, DerivativeKind, weight_name
from gradcli.symbolic.matrix_algebra.spelling import WholeTensors
from gradcli.symbolic.printing import with_names

BOXES = ((0.0, 1.0), (-1.0, 1.0), (1.0, 16.0), (-16.0, -1.0), (16.0, 1024.0))
"""Ranges to draw random values from, one after the other, until the function has a value."""

MOST_PROBES = 3
"""Most random points at which formulas are compared with derivatives in which nothing is held constant."""

NO_POINT = "no values were given; random ones were taken"

NUDGE = 2.0**-40
"""Relative change of the variables by which values are seen to be noise, as the determinant of a singular matrix is."""


def closed_form(
    self: ParsedText,
    of: str = "",
    *,
    shape: Mapping[str, GivenShape] | None = None,
    wrt: Sequence[str] | None = None,
) -> ClosedForm:
    """Derive the formula of a derivative, for values that are not known and sizes that need not be.

    `of` is the method that gives the numbers, such as `"grad"`; by default that, or `"jacobian"` if y has several
    elements.  A `shape` is of numbers and names, `(3, "n")`; a variable without one has what makes sense.

    Raises:
        GradcliError: A shape is malformed, or no shapes fit.

    >>> from gradcli import Function
    >>> Function("A@x").closed_form("jacobian", wrt=["x"]).blocks["", "x"].text
    'A[i, j]'
    """
    return formulas(self._asked(None, wrt, None), of, shape or {})


def formulas(inquiry: Inquiry, of: str, given: Mapping[str, GivenShape]) -> ClosedForm:
    """Derive the formulas of a derivative, and confirm them at random points.

    Args:
        inquiry: The function; values in its text only give shapes.
        of: A command, or empty for the gradient of a function with one output and the Jacobian of another.
        given: Shapes by variable; the empty name stands for the only variable.

    Raises:
        GradcliError: A shape is malformed or does not fit, no shape fits, or y has several elements where one is
            needed.
    """
    snippet, named, nameless = _shaped(inquiry, given, of)
    program = snippet.program
    typed = replace(program, warnings=())
    shape = named.shapes.get(named.program.output, ())
    command = of or ("grad" if math.prod(shape) == 1 else "jacobian")
    if command in OF_ONE_ELEMENT and math.prod(shape) != 1:
        message = (
            f"{OF_ONE_ELEMENT[command]} needs a y of one element, and y has shape {shape_text(named.in_names(shape))}"
        )
        raise InputError(message, hint=f"use sum(...), or jacobian, or {option('shape')} for other sizes")
    wrt = chosen_variables(replace(snippet, program=typed), inquiry.wrt)
    point = FunctionAtPoint.from_inputs(
        typed, {symbol: named.shapes[symbol] for symbol in typed.variables}, {}
    )  # no values are asked for
    directions = dict.fromkeys(wrt, np.zeros(())) if command in ("jvp", "hvp") else {}  # by name, without numbers
    derived = derive_formulas(point, typed, wrt, command, directions)
    formulas, check = _confirmed(point, typed, derived, named)
    check = _with_cut(check, point, derived)
    products: Mapping[str, Formula] = {}
    weighted = _weighted(typed) if command == "vjp" and math.prod(shape) != 1 else None
    if weighted is not None:
        products, check = _products(weighted, typed, named, wrt, shape, check)
    together = with_names({**products, **formulas.shown}, program)  # one name for each repeated expression
    matrices = _tensor_formulas(command, named, wrt, weighted)
    if program.is_of_matrices:  # in the notation of the text
        matrices = {name: found.mathematics for name, found in matrices.items()}
    conditions = dict.fromkeys(one for found in matrices.values() for one in found.conditions)
    return ClosedForm(
        command=command,
        expression=program.expression,
        wrt=wrt,
        output=program.output_name,
        shapes={
            program.output_name: named.in_names(shape),
            **{name: tuple(map(str, s)) for name, s in named.given.items()},
        },
        blocks={block: together[block] for block in formulas.shown},
        omitted=formulas.omitted,
        products={name: together[name] for name in products},
        matrices=matrices,
        check=check,
        remarks=tuple([f"formulas of whole tensors hold where {' and '.join(conditions)}"] if conditions else ()),
        warnings=(*program.warnings, *cut_remarks(program), *[NOT_EULER] * ("e" in nameless)),
    )


def at_random_values(inquiry: Inquiry, seed: int, reading: NamedReading | None = None) -> Inquiry:
    """Give a question without values random ones, of likely shapes, at which the function has a value.

    Args:
        inquiry: The question.
        seed: Of the values.
        reading: The shapes; by default the likeliest.

    Raises:
        GradcliError: No shapes fit, or the function has a value at no point that was tried.
    """
    typed = inquiry.snippet.program
    require_named(typed, typed.names, ())
    found = reading or next(readings(inquiry, {}))
    remark = f"{NO_POINT}: {found.words}" if found.words else NO_POINT
    told = replace(inquiry.snippet, program=replace(typed, warnings=(*typed.warnings, remark)))
    generator = np.random.default_rng(seed)
    for (low, high), is_descending in itertools.product(BOXES, (False, True)):
        small = found.named.small(is_descending=is_descending)
        # Sixteenths are exact in binary and short to read.
        values = {str(s): np.round(generator.uniform(low, high, small[s]) * 16) / 16 for s in found.program.variables}
        drawn = replace(inquiry, snippet=told, at=values)
        with suppress(InputError):
            if _is_well_behaved(drawn.question()):
                return drawn
    raise InputError(
        "no point was found where the function has a value", hint=f"give one: {option('at', 'NAME=VALUE')}"
    )


def _is_well_behaved(question: Question) -> bool:
    """Tell whether the function has a value that hardly changes where its variables hardly do."""
    moved = question.with_values({name: array * (1 + NUDGE) for name, array in question.arrays.items()})
    here, there = question.value, moved.value
    is_finite = bool(np.all(np.isfinite(here)) and np.all(np.isfinite(there)))
    return is_finite and bool(np.all(np.abs(there - here) <= math.sqrt(NUDGE) * (1 + np.abs(here))))


def readings(
    inquiry: Inquiry,
    given: Mapping[str, GivenShape],
    beside: Sequence[TextBeside] = (),
    cost_of: Callable[[Shape], float | None] = lambda shape: 0.0,
    square: Collection[str] = (),
) -> Iterator[NamedReading]:
    """Generate the shapes with which a text makes sense, the likeliest first; those given, and of values, stay.

    Args:
        inquiry: The function.
        given: Shapes by variable; the empty name stands for the only variable.
        beside: Texts whose shapes have to fit too.
        cost_of: The cost of a shape of y; None where the question does not allow it.
        square: Variables that are square matrices.

    Raises:
        GradcliError: A shape is malformed, or of no variable, or no shapes fit.
    """
    inquiry.require_fixed()
    hidden, snippet = inquiry.read_with(given)
    shapes = _given_shapes(snippet, given)
    program = replace(snippet.program, warnings=())

    def again(sizes: Mapping[str, Shape]) -> Program:
        return inquiry.read(hidden, shapes=sizes).program

    return named_readings(program, shapes, again, beside, cost_of, square)


def _given_shapes(snippet: Snippet, given: Mapping[str, GivenShape]) -> dict[str, NamedShape]:
    """Collect the known shapes: those given, and those of values in the text.

    Raises:
        GradcliError: A shape is malformed, or of no variable.
    """
    names = snippet.program.names
    shapes: dict[str, NamedShape] = {name: array.shape for name, array in snippet.values.items() if name in names}
    for name, shape in given.items():
        whose = name or (names[0] if len(names) == 1 else "")
        if whose not in names and (name or not names):
            raise no_such_variable("--shape", name or str(shape), names)
        if whose not in names:
            known = f"the expression has the variables {', '.join(names)}"
            message = f"{option('shape', str(shape))} names no variable, and {known}"
            raise InputError(message, hint=f"write {option('shape', f'{names[0]}={shape}')}")
        shapes[whose] = found = read_shape(shape, f"--shape {whose}")
        if clash := next((size for size in found if isinstance(size, str) and size in names), ""):
            message = f"{option('shape', of=whose)} calls a size '{clash}', which is a variable"
            raise InputError(message, hint="give the size another name")
    return shapes


def _shaped(inquiry: Inquiry, given: Mapping[str, GivenShape], of: str) -> tuple[Snippet, NamedShapes, list[str]]:
    """Read the text with the likeliest shapes; give also the names of the variables of which nothing was known.

    Raises:
        GradcliError: A shape is malformed, or of no variable, or is needed in numbers and known only by name.
    """
    hidden, snippet = inquiry.read_with(given)
    known = _given_shapes(snippet, given)
    nameless = [name for name in snippet.program.names if name not in known]
    require_named(snippet.program, nameless, known)
    found = next(readings(inquiry, given))
    if of in OF_ONE_ELEMENT:
        with suppress(GradcliError):  # what is wrong is said of the likeliest shapes
            of_one = next(readings(inquiry, given, cost_of=_cost_of_one), found)
            found = of_one if of_one.cost <= found.cost + MOST_UNLIKELY else found
    named = found.named
    if not snippet.program.needs_shapes:
        return snippet, named, nameless
    numbers = {str(symbol): named.shapes[symbol] for symbol in found.program.variables}
    read_again = inquiry.read(hidden, shapes=numbers)
    of_names = [name for name, shape in named.given.items() if not all(isinstance(size, int) for size in shape)]
    if of_names and _operations(read_again.program) != _operations(found.program):  # a constant of it is a size
        raise size_needed(of_names)
    again = replace(read_again, program=replace(read_again.program, joined=snippet.program.joined))
    return again, named_shapes(replace(again.program, warnings=()), named.given), nameless


def _cost_of_one(y: Shape) -> float | None:
    """Allow one number only."""
    return 0.0 if math.prod(y) == 1 else None


def _operations(program: Program) -> list[object]:
    return [(line.call.op.name, line.call.typed) for line in program.lines]


def _confirmed(
    point: FunctionAtPoint, program: Program, derived: Derived, named: NamedShapes, of: DerivativeKind | None = None
) -> tuple[Formulas, Check]:
    """Confirm the formulas at random points; sizes are shown by their names."""
    blocks = dict(derived.blocks)
    for block, found in blocks.items():
        if isinstance(found, Derivative):
            called = {symbol: named.sizes[n] for symbol, n in found.sizes.items() if n in named.sizes}
            blocks[block] = replace(found, called=called, of=of or found.of)
    return confirmed_at_random(point, program, replace(derived, blocks=blocks))


def _with_cut(check: Check, point: FunctionAtPoint, derived: Derived) -> Check:
    """Add to a check that the formulas are of a function with a value held constant, and would be others without."""
    whole, held = without_detach(point.source)
    if not held:
        return check
    free = FunctionAtPoint.from_inputs(whole, {symbol: point.shapes[symbol] for symbol in whole.variables}, {})
    formulas = (found for found in derived.blocks.values() if isinstance(found, Derivative))
    if not any(confirm(free, found, None, derived.directions, most=MOST_PROBES).refuted for found in formulas):
        return check
    value = next(point.source.excerpt(line) for line in point.source.lines if line.symbol in held)
    note = f"{value} is held constant, and without that the derivative is another one"
    return with_findings(check, [Entry(Position("value"), None, Assessment("cut", note=note))])


def _products(
    weighted: Program, program: Program, named: NamedShapes, wrt: Sequence[str], shape: Shape, check: Check
) -> tuple[dict[str, Formula], Check]:
    """Derive the formulas of vᵀJ, and join their check with that of the Jacobian's formulas."""
    v = weighted.variables[-1]
    point = FunctionAtPoint.from_inputs(weighted, {**{s: named.shapes[s] for s in program.variables}, v: shape}, {})
    formulas, other = _confirmed(point, program, derive_formulas(point, program, wrt), named, "vjp")
    entries = check.entries + other.entries
    found = replace(joined([check, other]), entries=entries, checked=entries)
    return {name: formula for (_, name), formula in formulas.shown.items()}, found


def _weighted(program: Program) -> Program:
    """Return the Program of the sum of v*y, whose gradient is vᵀJ."""
    v = Symbol(weight_name(program), real=True)
    builder = Builder(program.text, program.source, lines=list(program.lines))
    span = program.lines[-1].span if program.lines else Span(0, len(program.text))
    product = builder.emit("mul", (v, program.output), span)
    total = builder.emit("sum", (product,), span, (None, False))
    return replace(program, variables=(*program.variables, v), lines=tuple(builder.lines), output=total)


# -- in whole tensors


def _tensor_formulas(
    command: str, named: NamedShapes, wrt: Sequence[str], weighted: Program | None
) -> dict[str, WholeTensors]:
    """Return the derivatives that have a formula in whole tensors, of a Hessian the blocks of one variable.

    Args:
        command: What is asked for.
        named: The function, with its shapes.
        wrt: The variables.
        weighted: The sum of v*y, where the products with v are asked for.
    """
    program = for_formulas(weighted) if weighted is not None else named.program
    y = named.shapes.get(named.program.output, ())
    shapes = {symbol: named.shapes.get(symbol, y) for symbol in program.variables}  # of v, too
    function = SizedFunction(program, shapes, {number: str(size) for number, size in named.sizes.items()})
    found: dict[str, WholeTensors | None] = {}
    if not joins_elements(named.program):
        return {}
    for symbol in (symbol for symbol in program.variables if str(symbol) in wrt):
        name = str(symbol)
        match command:
            case "grad" | "vjp":
                found[name] = gradient_formula(function, symbol)
            case "jacobian" if not y:
                found[name] = gradient_formula(function, symbol)
            case "jacobian":
                found[name] = jacobian_formula(function, symbol)
            case "hessian":
                found[name] = hessian_formula(function, symbol, symbol)
    return {name: one for name, one in found.items() if one is not None}

"""Formulas without a point: a derivative in closed form, for shapes that are given or inferred."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
from sympy import Symbol

from gradcli.crosscheck.confirming import confirm
from gradcli.crosscheck.formulas import Derived, Formulas, confirmed_at_random, derive_formulas
from gradcli.crosscheck.point import FunctionAtPoint
from gradcli.crosscheck.summary import joined, with_findings
from gradcli.errors import GradcliError, InputError, SeveralElementsError, Span, did_you_mean
from gradcli.language.lower.juxtaposed_names import NOT_EULER, cut_remarks, require_named
from gradcli.language.program.expansion import without_detach
from gradcli.language.program.named_shapes import (
    NamedShapes,
    named_shapes,
    shape_text,
    size_needed,
)
from gradcli.language.program.passes import for_formulas
from gradcli.language.program.shape_costs import MOST_UNLIKELY
from gradcli.language.program.shape_readings import GivenShape
from gradcli.language.program.shapes import infer, remarks_on_shapes
from gradcli.language.program.wengert import Builder, Program, Shape
from gradcli.language.snippet_result import Snippet
from gradcli.option_words import option
from gradcli.parts.closed_forms.tensor_formulas import (
    ProvedFormula,
    SizedFunction,
    gradient_formula,
    hessian_formula,
    jacobian_formula,
    joins_elements,
)
from gradcli.questions.bound_function import OF_ONE_ELEMENT, FunctionWithValues
from gradcli.questions.likely_shapes import given_shapes, likely_shapes
from gradcli.questions.naming import chosen_variables
from gradcli.questions.parsed_text import ParsedText
from gradcli.registry import DERIVATIVES
from gradcli.results import Assessment, Check, ClosedForm, Entry, Formula, Position
from gradcli.symbolic.derivative import Derivative, DerivativeKind, weight_name
from gradcli.symbolic.printing import with_names

MOST_PROBES = 3
"""Most random points at which formulas are compared with derivatives in which nothing is held constant."""


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
    if of not in ("", *DERIVATIVES):
        message = f"there is no derivative '{of}'"
        raise InputError(message, hint=did_you_mean(of, DERIVATIVES) or f"there are {', '.join(DERIVATIVES)}")
    return formulas(self._asked(None, wrt, None), of, shape or {})


def formulas(unbound: FunctionWithValues, of: str, given: Mapping[str, GivenShape]) -> ClosedForm:
    """Derive the formulas of a derivative, and confirm them at random points.

    Args:
        unbound: The function; values in its text only give shapes.
        of: A command, or empty for the gradient of a function with one output and the Jacobian of another.
        given: Shapes by variable; the empty name stands for the only variable.

    Raises:
        GradcliError: A shape is malformed or does not fit, no shape fits, or y has several elements where one is
            needed.
    """
    snippet, named, nameless = _shaped(unbound, given, of)
    program = snippet.program
    typed = replace(program, warnings=())
    shape = named.shapes.get(named.program.output, ())
    command = of or ("grad" if math.prod(shape) == 1 else "jacobian")
    if command in OF_ONE_ELEMENT and math.prod(shape) != 1:
        message = (
            f"{OF_ONE_ELEMENT[command]} needs a y of one element, and y has shape {shape_text(named.in_names(shape))}"
        )
        raise SeveralElementsError(message, hint=f"use sum(...), or jacobian, or {option('shape')} for other sizes")
    wrt = chosen_variables(replace(snippet, program=typed), unbound.wrt)
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
    proved: Mapping[str, ProvedFormula] = _tensor_formulas(command, named, wrt, weighted)
    if check.verdict == "unchecked":
        proved, check = _compared(proved, named, check)
    matrices = {name: found.whole for name, found in proved.items()}
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
        warnings=(
            *program.warnings,
            *_remarks_on_products(typed, named, nameless),
            *cut_remarks(program),
            *[NOT_EULER] * ("e" in nameless),
        ),
    )


def _shaped(
    unbound: FunctionWithValues, given: Mapping[str, GivenShape], of: str
) -> tuple[Snippet, NamedShapes, list[str]]:
    """Read the text with the likeliest shapes; give also the names of the variables of which nothing was known.

    Raises:
        GradcliError: A shape is malformed, or of no variable, or is needed in numbers and known only by name.
    """
    hidden, snippet = unbound.read_with(given)
    known = given_shapes(snippet, given)
    nameless = [name for name in snippet.program.names if name not in known]
    require_named(snippet.program, nameless, known)
    found = next(likely_shapes(unbound, given))
    if of in OF_ONE_ELEMENT:
        with suppress(GradcliError):  # what is wrong is said of the likeliest shapes
            of_one = next(likely_shapes(unbound, given, cost_of=_cost_of_one), found)
            found = of_one if of_one.cost <= found.cost + MOST_UNLIKELY else found
    named = found.named
    if not snippet.program.needs_shapes:
        return snippet, named, nameless
    numbers = {str(symbol): named.shapes[symbol] for symbol in found.program.variables}
    read_again = unbound.read(hidden, shapes=numbers)
    of_names = [name for name, shape in named.given.items() if not all(isinstance(size, int) for size in shape)]
    if of_names and _operations(read_again.program) != _operations(found.program):  # a constant of it is a size
        raise size_needed(of_names)
    again = replace(read_again, program=replace(read_again.program, joined=snippet.program.joined))
    return again, named_shapes(replace(again.program, warnings=()), named.given), nameless


def _remarks_on_products(program: Program, named: NamedShapes, nameless: Collection[str]) -> Iterator[str]:
    """Generate remarks on products of elements, or of numbers with capital letters, that were likely meant of matrices.

    Args:
        program: The function, as typed.
        named: Its shapes.
        nameless: The names of variables without a shape that is given.
    """
    shapes = infer(program, {symbol: named.shapes[symbol] for symbol in program.variables}, bounded=False)
    yield from remarks_on_shapes(program, shapes)
    for line in program.lines if not program.is_of_matrices else ():
        for one, other in itertools.permutations(line.call.operands, 2) if line.call.op.name == "mul" else ():
            is_capital = one in program.variables and str(one)[0].isupper() and str(one) in nameless
            if is_capital and not shapes.get(one, ()) and shapes.get(other, ()):
                yield f"{one} is a number here, and * is element by element; the product of a matrix and a vector is @"
                return
    matrices = [
        str(one)
        for one in program.variables
        if str(one)[0].isupper() and str(one) in nameless and len(shapes.get(one, ())) == 2
    ]
    if not matrices:
        return
    from gradcli.language.text.juxtaposition import of_numbers  # which few answers need

    if written := of_numbers(program.expression, program.names):
        are = "are matrices" if len(matrices) > 1 else "is a matrix"
        yield f"{', '.join(matrices)} {are} here, with no sign between the factors; of numbers it is {written}"


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


def _compared(
    proved: Mapping[str, ProvedFormula], named: NamedShapes, check: Check
) -> tuple[Mapping[str, ProvedFormula], Check]:
    """Compare formulas of whole tensors with the truth at random points, where others are not; leave out a refuted one.

    They are proved by algebra: the numbers are the second opinion.
    """
    found = {name: compared for name, one in proved.items() if (compared := one.compared(MOST_PROBES)) is not None}
    held = {name: one for name, one in proved.items() if name not in found or not found[name].is_refuted}
    entries = sum(found[name].entries for name in held if name in found)
    if not entries or check.findings or len(held) < len(proved):
        return held, check
    points = min(found[name].points for name in held if name in found)
    sizes = [f"{named.sizes[n]} = {small}" for n, small in next(iter(held.values())).small_sizes.items()]
    where = f"{points} random points{' with ' * bool(sizes)}{', '.join(sizes)}" if not check.checked else check.chosen
    entries += check.checked
    return held, Check("agree", entries, entries, None, chosen=where, sampled=True)


def _tensor_formulas(
    command: str, named: NamedShapes, wrt: Sequence[str], weighted: Program | None
) -> dict[str, ProvedFormula]:
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
    found: dict[str, ProvedFormula | None] = {}
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

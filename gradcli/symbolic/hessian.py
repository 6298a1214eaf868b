"""Formulas of directional and second derivatives: Ju, the Hessian and Hu in closed form.

Ju is the Gateaux derivative: every x[i] of an element becomes x[i] + e*u[i], which is differentiated by e at 0, so that
no deltas arise.  The Hessian is the closed form of ∂y/∂x[i] differentiated once more, by z[j]; Hu is the Gateaux
derivative differentiated by x[j].
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

import sympy
from sympy import Expr

from gradcli.language.program import meaning
from gradcli.language.program.meaning import Total
from gradcli.language.program.wengert import Atom, Program, Shape
from gradcli.symbolic.derivative import Derivative, element_of, finished, in_parts, refusals, target_of, tidy
from gradcli.symbolic.element import MAX_NODES, Entries
from gradcli.symbolic.index_maps import NoFormulaError
from gradcli.symbolic.linear import assemble, linear

Shapes = Mapping[Atom, Shape]


class _SincSlope(sympy.Function):  # type: ignore[misc]
    """The derivative of sinc while it is differentiated: that of its cases would be 0 at 0."""

    nargs = 1

    def fdiff(self, argindex: int = 1) -> Expr:
        """-pi**2*sinc(x) - 2*sinc'(x)/x, and -pi**2/3 at 0."""
        x = self.args[0]
        slope = (sympy.cos(sympy.pi * x) - meaning.sinc(x)) / x
        at_zero = (-(sympy.pi**2) / 3, sympy.Eq(x, 0))
        return sympy.Piecewise(at_zero, (-(sympy.pi**2) * meaning.sinc(x) - 2 * slope / x, True))


def direction_names(program: Program, moved: Sequence[str]) -> dict[str, str]:
    """What formulas call the direction of each variable that moves: u, or u_x and u_z, or what the user has not.

    >>> from gradcli.language.parsing import parse
    >>> direction_names(parse("u*x"), ["x"]), direction_names(parse("x*z"), ["x", "z"])
    ({'x': 'u_x'}, {'x': 'u_x', 'z': 'u_z'})
    """
    taken = {*program.names, *program.assigned}
    if len(moved) == 1 and "u" not in taken:
        return {moved[0]: "u"}
    names: dict[str, str] = {}
    for name in moved:
        chosen = f"u_{name}"
        while chosen in taken:
            chosen += "_"
        names[name] = chosen
        taken.add(chosen)
    return names


def jvp(program: Program, shapes: Shapes, directions: Mapping[str, str]) -> Derivative:
    """The closed form of Ju.

    Args:
        program: In primitives.
        shapes: Of every symbol.
        directions: What the direction of each variable that moves is called.

    Raises:
        NoFormulaError: There is none, or it would be too long.
    """
    entries = Entries(program, shapes)
    y = shapes.get(program.output, ())
    rows = tuple(entries.index("i", size) for size in y)
    element = element_of(program, entries, rows)

    def along(part: Expr) -> Expr:
        return tidy(assemble(linear(_along(part, directions, shapes), entries.ranges)))

    cases, written = in_parts(element, list(zip(rows, y, strict=True)), along)
    return finished(Derivative("", rows, (), cases, written, entries.ranges, {}, "jvp"), (), entries)


def hessian(program: Program, shapes: Shapes, x: sympy.Symbol, z: sympy.Symbol) -> Derivative:
    """The closed form of the Hessian block ∂²y/∂x∂z of a y of one element.

    Args:
        program: In primitives.
        shapes: Of every symbol.
        x: One of the Program's variables, by whose index the rows go.
        z: Another or the same, of the columns.

    Raises:
        NoFormulaError: There is none, or it would be too long.
    """
    entries = Entries(program, shapes)
    element = _in_own_heads(_only_element(program, shapes, entries))
    rows = tuple(entries.index("i", size) for size in shapes[x])
    columns = tuple(entries.index("j", size) for size in shapes[z])
    with refusals():
        slope = assemble(linear(element.diff(target_of(x, rows)), entries.ranges))
        second = _again(slope, target_of(z, columns), entries)
    found = Derivative(str(z), rows, columns, (({}, second),), (), entries.ranges, {}, "hessian", str(x))
    return finished(found, shapes[z], entries, shapes[x])


def transposed(block: Derivative) -> Derivative:
    """The block ∂²y/∂z∂x from ∂²y/∂x∂z, as second derivatives do not depend on the order."""
    # What were columns are rows now, and rows come first: the cases are put in that order too.
    written = tuple(sorted(block.written, key=lambda axis: axis[0] in block.rows))
    cases = tuple(sorted(block.cases, key=lambda case: [int(case[0][symbol]) for symbol, _ in written]))
    return replace(
        block,
        variable=block.first,
        first=block.variable,
        rows=block.columns,
        columns=block.rows,
        cases=cases,
        written=written,
    )


def hvp(program: Program, shapes: Shapes, directions: Mapping[str, str], variable: sympy.Symbol) -> Derivative:
    """The closed form of Hu by one variable, for a y of one element.

    Args:
        program: In primitives.
        shapes: Of every symbol.
        directions: What the direction of each variable that moves is called.
        variable: One of the Program's variables.

    Raises:
        NoFormulaError: There is none, or it would be too long.
    """
    entries = Entries(program, shapes)
    element = _only_element(program, shapes, entries)
    columns = tuple(entries.index("j", size) for size in shapes[variable])
    with refusals():
        second = _again(_along(element, directions, shapes), target_of(variable, columns), entries)
    found = Derivative(str(variable), (), columns, (({}, second),), (), entries.ranges, {}, "hvp")
    return finished(found, shapes[variable], entries)


def _only_element(program: Program, shapes: Shapes, entries: Entries) -> Expr:
    return element_of(program, entries, [sympy.S.Zero for _ in shapes.get(program.output, ())])


def _along(element: Expr, directions: Mapping[str, str], shapes: Shapes) -> Expr:
    """The Gateaux derivative of an element: its variables move by e times their directions, at e = 0."""
    e = sympy.Dummy("e", real=True)
    moved: dict[Expr, Expr] = {}
    for variable, name in directions.items():
        symbol = sympy.Symbol(variable, real=True)
        if not shapes[symbol]:
            moved[symbol] = symbol + e * sympy.Symbol(name, real=True)
        for x in element.atoms(sympy.Indexed):
            if x.base.label == symbol:
                moved[x] = x + e * sympy.IndexedBase(name, real=True)[x.indices]
    slope = _in_own_heads(element).xreplace(moved).diff(e).xreplace({e: sympy.S.Zero})
    return slope.replace(Total, _with_its_number_before) if slope.has(Total) else slope


def _with_its_number_before(body: Expr, *limits: Expr) -> Expr:
    """A sum of 2*u[k]*x[k] as twice the sum of u[k]*x[k]."""
    number, rest = body.as_coeff_Mul()
    return number * Total(rest, *limits)


def _again(slope: Expr, target: Expr, entries: Entries) -> Expr:
    """A derivative, whose sums have their own bound indices, differentiated once more.

    Raises:
        NoFormulaError: One or the other is longer than `MAX_NODES`.
    """
    _require_short(slope)
    slopes = {sinc.fdiff(): _SincSlope(*sinc.args) for sinc in slope.atoms(meaning.sinc)}
    second = _in_own_heads(slope.xreplace(slopes) if slopes else slope).diff(target)
    left = {slope: meaning.sinc(*slope.args).fdiff() for slope in second.atoms(_SincSlope)}
    found = tidy(assemble(linear(second.xreplace(left) if left else second, entries.ranges)))
    _require_short(found)
    return found


def _require_short(expression: Expr) -> None:
    """Refuse what nobody would read: of a product of n factors, a second derivative has n*n terms of n factors."""
    if next(itertools.islice(sympy.preorder_traversal(expression), MAX_NODES, None), None) is not None:
        raise NoFormulaError(f"it would have more than {MAX_NODES:,} terms and factors")


def _in_own_heads(expression: Expr) -> Expr:
    """SymPy makes Abs of sqrt(x**2), and differentiates its sign to a DiracDelta."""
    for foreign, own in ((sympy.Abs, meaning.abs), (sympy.sign, meaning.sign)):
        if expression.has(foreign):
            expression = expression.replace(foreign, own)
    return expression

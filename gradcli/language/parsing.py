"""Text to a Program: a function, a value, a gradient vector, a formula.  The front door of the language.

The text is never evaluated; what is not in the grammar is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import sympy

from gradcli import progress
from gradcli.language.lower.programs import EntryFormulas, Lowering
from gradcli.language.lower.scope import Ask, ConstantEvaluation, Scope
from gradcli.language.program.numeric import run
from gradcli.language.program.shapes import count_of, shape_of
from gradcli.language.program.wengert import Program, Shape
from gradcli.language.text import grammar
from gradcli.language.text.source import SourceText


class Reader(Lowering):
    """Lowering of a text whose constants NumPy evaluates."""

    evaluation = ConstantEvaluation(run, shape_of, count_of)


def parse(
    text: str,
    *,
    given: frozenset[str] = frozenset(),
    shapes: Mapping[str, Shape] = MappingProxyType({}),
    shares: bool = True,
    values: Mapping[str, Any] | None = None,
    ask: Ask | None = None,
) -> Program:
    """Parse the text of a function to its Program.

    Args:
        text: As typed.
        given: Names that are variables even if they are also constants (`E`).
        shapes: Of variables, where they are known: sizes may stand in constants, `eye(x.shape[0])`.
        shares: Whether operations that compute the same become one line; Python, and so torch, runs each.
        values: Of all variables, where values decide the lines of the text, as in `x[x > 0]`; empty, to note that they
            do; None refuses such a text.
        ask: Asks torch for the operations that its own functions consist of.

    Raises:
        LanguageError: the text is not in the language.
        UnknownFunctionError: a call of a function that is not in the op table.
        TooLargeError: too long, too deep or with constants too large.

    >>> parse("x**2 + y").names
    ('x', 'y')
    """
    with progress.collector_paused():
        source = SourceText(text, "EXPR")
        lowering = Reader(source, Scope(given, shapes=dict(shapes), values=values, ask=ask), shares=shares)
        return lowering.program(grammar.parse(source))


def parse_value(text: str, source: str) -> Program:
    """Parse a value to its Program: the same language without free names; a comma at the top makes a vector."""
    return _value(SourceText(text, source), Scope(is_value=True))


def parse_cotangent(text: str, source: str, shapes: Mapping[str, Shape]) -> Program:
    """Parse a gradient vector to its Program: a value that may name y and the variables, of these shapes."""
    return _value(SourceText(text, source), Scope(frozenset(shapes), shapes=dict(shapes)))


def parse_claim(read: SourceText, names: frozenset[str], shapes: Mapping[str, Shape]) -> Program:
    """Parse a formula as `parse_formula` does, with the names that formulas have: `e`, `oo`."""
    return _parse_in(read, _formula_scope(names, shapes), names)


def parse_formula(read: SourceText, names: frozenset[str], shapes: Mapping[str, Shape]) -> Program:
    """Parse a formula in these variables: statements, or one value, in which a comma makes a vector."""
    return _parse_in(read, Scope(names, shapes=dict(shapes)), names)


def _parse_in(read: SourceText, scope: Scope, names: frozenset[str]) -> Program:
    first, second = read.tokens[:2]
    if first.kind == "end":
        hint = f"write one in terms of {', '.join(sorted(names))}" if len(names) <= 8 else "write one"
        raise read.error("there is no formula", first.span, hint=hint)
    if first.kind == "name" and second.text == "=":
        return Reader(read, scope).program(grammar.parse(read))
    return _value(read, scope)


def parse_entries(
    source: SourceText, cases: Sequence[EntryFormulas], shape: Shape, names: frozenset[str], shapes: Mapping[str, Shape]
) -> Program:
    """Build the Program of the tensor of this shape whose entries formulas of a text give, in these variables."""
    return Reader(source, _formula_scope(names, shapes)).entries(cases, shape)


def _formula_scope(names: frozenset[str], shapes: Mapping[str, Shape]) -> Scope:
    """Make the scope of a formula, in which `e` may be Euler's number, as answers print it."""
    scope = Scope(names, shapes=dict(shapes), is_formula=True)
    for name, constant in (("e", sympy.E), ("oo", sympy.oo)):
        if name not in names:
            scope.names[name] = constant
    return scope


def _value(source: SourceText, scope: Scope) -> Program:
    return Reader(source, scope).value(grammar.parse_value(source))

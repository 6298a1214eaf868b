"""Text to a Program: a function, a value, a gradient vector, a formula.  The front door of the language.

The text is never evaluated; what is not in the grammar is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import sympy

from gradcli import progress
from gradcli.arrays import AnyArray
from gradcli.language.lower.context import Ask, ConstantEvaluation, Context, Known, NeighbourFunction, start
from gradcli.language.lower.juxtaposed_names import cut, factors
from gradcli.language.lower.programs import RULES
from gradcli.language.lower.statements import EntryFormulas, lower_entries, lower_program, lower_value
from gradcli.language.program.numeric import run
from gradcli.language.program.shapes import count_of, shape_of
from gradcli.language.program.wengert import Program, Shape
from gradcli.language.text import grammar
from gradcli.language.text.source import SourceText

EVALUATION = ConstantEvaluation(run, shape_of, count_of)
"""Evaluation of the constants of a text by NumPy."""


def parse(
    text: str,
    *,
    given: frozenset[str] = frozenset(),
    shapes: Mapping[str, Shape] = MappingProxyType({}),
    shares: bool = True,
    values: Mapping[str, AnyArray] | None = None,
    ask: Ask | None = None,
    is_of_matrices: bool = False,
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
        is_of_matrices: Whether a text next to it is in the notation of matrices, so that `*` is of matrices here too.

    Raises:
        LanguageError: the text is not in the language.
        UnknownFunctionError: a call of a function that is not in the op table.
        TooLargeError: too long, too deep or with constants too large.

    >>> parse("x**2 + y").names
    ('x', 'y')
    """
    with progress.collector_paused():
        source = SourceText(text, "EXPR")
        known = Known(given, shapes, values, ask, is_of_matrices=is_of_matrices, evaluation=EVALUATION)
        joined = cut(source, known.names) if source.has_words else {}
        source.factors = factors(source, known.names) if source.has_calls else frozenset()
        context = start(source, known, RULES, shares=shares)
        context.findings.joined = joined
        return lower_program(context, grammar.parse(source))


def parse_value(text: str, source: str) -> Program:
    """Parse a value to its Program: the same language without free names; a comma at the top makes a vector."""
    read = SourceText(text, source)
    return _value(start(read, Known(is_value=True, evaluation=EVALUATION), RULES))


def parse_cotangent(text: str, source: str, shapes: Mapping[str, Shape], y: str) -> Program:
    """Parse a gradient vector to its Program: a value that may name y and the variables, of these shapes."""
    read = SourceText(text, source)
    settle_value(read, y, shapes)
    cut(read, shapes)
    return _value(start(read, Known(frozenset(shapes), shapes, evaluation=EVALUATION), RULES))


def settle_value(read: SourceText, y: str, names: Iterable[str]) -> None:
    """Write y for `y(x)` in a text that may name y and the variables."""
    if "(" in read.text:
        from gradcli.language.lower.called_values import CallableNames, settle_calls  # which a text without calls lacks

        settle_calls(read, CallableNames([name for name in names if name != y], y, (y,), {}, {}))


def parse_claim(read: SourceText, known: Known) -> Program:
    """Parse a formula of these names as `parse_formula` does, with the names that formulas have, `e`, `oo`."""
    return _parse_in(_formula_context(read, known), known.variables)


def parse_formula(
    read: SourceText,
    names: frozenset[str],
    shapes: Mapping[str, Shape],
    calls: Mapping[str, NeighbourFunction] = MappingProxyType({}),
) -> Program:
    """Parse a formula in these variables, which may call functions: statements, or a value; a comma makes a vector."""
    return _parse_in(start(read, Known(names, shapes, calls=calls, evaluation=EVALUATION), RULES), names)


def _parse_in(context: Context, names: frozenset[str]) -> Program:
    read = context.source
    cut(read, names)
    read.factors = factors(read, names - context.known.calls.keys())
    first, second = read.tokens[:2]
    if first.kind == "end":
        hint = f"write one in terms of {', '.join(sorted(names))}" if len(names) <= 8 else "write one"
        raise read.error("there is no formula", first.span, hint=hint)
    if first.kind == "name" and second.text == "=":
        return lower_program(context, grammar.parse(read))
    return _value(context)


def parse_entries(
    source: SourceText, cases: Sequence[EntryFormulas], shape: Shape, names: frozenset[str], shapes: Mapping[str, Shape]
) -> Program:
    """Build the Program of the tensor of this shape whose entries formulas of a text give, in these variables."""
    return lower_entries(_formula_context(source, Known(names, shapes)), cases, shape)


def _formula_context(read: SourceText, known: Known) -> Context:
    """Start a formula, in which `e` may be Euler's number, as answers print it."""
    context = start(read, replace(known, is_formula=True, evaluation=EVALUATION), RULES)
    for name, constant in (("e", sympy.E), ("oo", sympy.oo)):
        if name not in known.variables:
            context.names.values[name] = constant
    return context


def _value(context: Context) -> Program:
    return lower_value(context, grammar.parse_value(context.source))

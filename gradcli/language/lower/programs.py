"""Meanings of the op table to Programs, and the rules by which texts of the language are lowered."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

import sympy

from gradcli.language.lower.context import Known, Rules, start
from gradcli.language.lower.expressions import EXPRESSIONS, TRAILERS
from gradcli.language.lower.names import named
from gradcli.language.lower.statements import lower_program
from gradcli.language.ops.signature import Constants
from gradcli.language.program.wengert import Program
from gradcli.language.text.grammar import parse
from gradcli.language.text.source import SourceText


def parse_meaning(text: str, operands: Sequence[str], constants: Constants = MappingProxyType({})) -> Program:
    """Parse a meaning of the op table to its Program, with its operands as the variables in this order.

    Args:
        text: Of the table; conditions among the operands are numbers, 1 or 0.
        operands: Names of the variables.
        constants: Values of the other names, for constant arguments and, if numbers, for arithmetic.
    """
    source = SourceText(text, f"a meaning, {text}")
    context = start(source, Known(frozenset(operands), constants=constants), RULES)
    for name in operands:
        context.findings.variable(name)
    for name, value in constants.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            context.names.values[name] = (
                sympy.Integer(value) if isinstance(value, int) else sympy.Float(value, precision=53)
            )
    return lower_program(context, parse(source))


RULES = Rules(EXPRESSIONS, TRAILERS, named, parse_meaning)
"""Rules of the language."""

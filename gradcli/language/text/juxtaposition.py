"""Factors side by side, and the same with signs between them: a product of capital letters may be one of numbers.

Knows the text alone; which reading fits a question is told by shapes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator
from contextlib import suppress

from gradcli.errors import GradcliError
from gradcli.language.text import nodes
from gradcli.language.text.grammar import parse
from gradcli.language.text.source import SourceText, is_of_matrices
from gradcli.language.text.tokens import JUXTAPOSED


def with_signs(text: str) -> str:
    """Write `*` between factors that stand side by side, but for a number directly before a name.

    >>> with_signs("-G M m/r"), with_signs("sin(K x) + 2x")
    ('-G*M*m/r', 'sin(K*x) + 2x')
    """
    with suppress(GradcliError):
        for start, stop in sorted(_gaps(parse(SourceText(text, "EXPR"))), reverse=True):
            text = f"{text[:start]}*{text[stop:]}"
    return text


def _gaps(node: object) -> Iterator[tuple[int, int]]:
    """Generate the ranges between factors side by side."""
    if isinstance(node, nodes.Chain):
        before = node.first
        for step in node.steps:
            start, stop = before.span.stop, step.operand.span.start
            if step.sign == JUXTAPOSED and (start < stop or not isinstance(before, nodes.NumberNode)):
                yield start, stop
            before = step.operand
    if isinstance(node, tuple):
        for one in node:
            yield from _gaps(one)
    elif isinstance(node, nodes.SyntaxNode) and dataclasses.is_dataclass(node):
        for field in dataclasses.fields(node):
            yield from _gaps(getattr(node, field.name))


def of_numbers(text: str, variables: Collection[str]) -> str:
    """Write a text as one of numbers, whose capital letters side by side are read as matrices; empty for any other.

    Two capitals, or a quotient, may be of physics as well: `P V`, `k Q/r`. With another mark of matrices, or one
    capital alone, as in `A x`, matrices are meant.

    >>> of_numbers("-G M m/r", ["G", "M", "m", "r"]), of_numbers("A x", ["A", "x"]), of_numbers("A B^T", ["A", "B"])
    ('-G*M*m/r', '', '')
    """
    capitals = [name for name in variables if name[:1].isupper()]
    is_doubtful = len(capitals) > 1 or (bool(capitals) and "/" in text)
    if not is_doubtful or "@" in text or is_of_matrices(text):
        return ""
    found = with_signs(text)
    return found if found != text else ""

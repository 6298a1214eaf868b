"""Remarks on norms that may be meant otherwise: of a matrix, of a number and an order, between pairs of bars."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping

from gradcli.language.program.wengert import Atom, Line, Program, Shape

_BARE_NORM = re.compile(r"norm\(|Norm\[|\N{DOUBLE VERTICAL LINE}|\|\|")
"""Beginning of a norm without the module or the tensor whose meaning it has."""


def remarks(program: Program, line: Line, shapes: Mapping[Atom, Shape]) -> Iterator[str]:
    """Generate the remarks on a norm.

    Args:
        program: The function.
        line: The line of the norm.
        shapes: Of every symbol.
    """
    yield from _of_a_matrix(program, line, shapes)
    yield from _of_a_number(program, line, shapes)
    yield from _between_bars(program, line, shapes)


def _of_a_matrix(program: Program, line: Line, shapes: Mapping[Atom, Shape]) -> Iterator[str]:
    """Remark on a norm of all elements of a matrix, which in MATLAB and Mathematica is that of an operator."""
    start, shown, p = line.span.start, program.excerpt(line), line.call.constants["p"]
    is_of_all = line.call.constants["dim"] is None and len(shapes.get(line.call.operands[0], ())) == 2
    if not is_of_all or p not in (1, 2, math.inf) or not _BARE_NORM.match(program.text, start):
        return
    if program.text[start - 1 : start] != "." and not re.search(r"['\"]|\W_", shown):
        simple = re.fullmatch(r"\w+[(\[]([^,]+)(?:,\s*[\w.=]+)?[)\]]", shown)
        instead = f"matrix_norm({simple[1] if simple else 'A'}, {p})" if shown[0] in "nN" else f"{shown}_2"
        yield f"{shown} is of all elements of the matrix; {instead} is of the operator, as in MATLAB"


def _of_a_number(program: Program, line: Line, shapes: Mapping[Atom, Shape]) -> Iterator[str]:
    """Remark on a norm of one number whose order may be meant as a second one, `norm(3, 4)`."""
    given = re.fullmatch(r"\w+\(\s*([^,()]+?)\s*,\s*([-+.\d]+)\s*\)", program.excerpt(line))
    if given is not None and not shapes.get(line.call.operands[0], ()):
        first, order = given.groups()
        yield f"norm({first}, {order}) is of {first} alone, of order {order}; norm([{first}, {order}]) is of both"


def _between_bars(program: Program, line: Line, shapes: Mapping[Atom, Shape]) -> Iterator[str]:
    """Remark on a norm of a vector between pairs of bars, which may also be two absolute values, `||x||`."""
    shown = re.fullmatch(r"\|\|([^|]+)\|\|", program.excerpt(line))
    if shown is not None and len(shapes.get(line.call.operands[0], ())) == 1:
        yield f"{shown[0]} is read as norm({shown[1].strip()})"

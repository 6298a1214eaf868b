"""Matrix products as sums of products, so that every line is elementwise, a sum, or a movement of elements."""

from __future__ import annotations

from collections.abc import Mapping

from gradcli.errors import Span
from gradcli.language.ops import Kind
from gradcli.language.program.expansion import Expansion, rewritten
from gradcli.language.program.movement import NEW, Slice
from gradcli.language.program.wengert import Atom, Builder, Line, Program, Shape

_ALL = Slice(None, None)


def lower(program: Program, shapes: Mapping[Atom, Shape]) -> tuple[Program, Mapping[Atom, Atom]]:
    """The same function without `matmul`, and what holds the value of each line that has another symbol.

    >>> import sympy
    >>> from gradcli.language.parsing import parse
    >>> program = parse("A @ x")
    >>> shapes = dict(zip(program.variables, [(2, 3), (3,)]))
    >>> [line.call.op.name for line in lower(program, shapes)[0].lines]
    ['mul', 'sum']
    """
    if not any(line.call.op.kind is Kind.CONTRACTION for line in program.lines):
        return program, {}
    found = lowering(program, shapes)
    return found.program, found.renamed


def lowering(program: Program, shapes: Mapping[Atom, Shape], *, shares: bool = True) -> Expansion:
    """The same function without `matmul`, and which line became what.

    Args:
        program: A Program of primitives.
        shapes: Of its symbols.
        shares: Whether lines that compute the same become one.
    """

    def write(builder: Builder, line: Line, operands: tuple[Atom, ...]) -> Atom:
        call = line.call
        if call.op.kind is Kind.CONTRACTION:
            return _product(builder, operands, tuple(len(shapes[a]) for a in call.operands), line.span)
        return builder.emit(call.op.name, operands, line.span, call.statics)

    return rewritten(program, write, shares=shares)


def _product(builder: Builder, operands: tuple[Atom, ...], ranks: tuple[int, ...], span: Span) -> Atom:
    """a[..., i, new, k] * b[..., new, j, k] summed over k; a dimension that an operand lacks is left out."""
    a, b = operands
    if ranks[1] > 1:
        b = builder.emit("transpose", (b,), span, (-2, -1))
        if ranks[0] > 1:
            a = builder.emit("index", (a,), span, (("...", NEW, _ALL),))
            b = builder.emit("index", (b,), span, (("...", NEW, _ALL, _ALL),))
    product = builder.emit("mul", (a, b), span)
    return builder.emit("sum", (product,), span, (-1, False))

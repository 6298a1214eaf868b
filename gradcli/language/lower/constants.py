"""Constants of the text itself: numbers, words, shapes and indices given to operations.

They may be written as expressions, `x[2*i + 1]` or `linspace(0, 2*pi, 5)`; NumPy evaluates them meanwhile.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import sympy

from gradcli.arrays import Array
from gradcli.errors import Span, TooLargeError
from gradcli.language.lower.argument_kinds import GATHERED, NUMBERS, SEVERAL, WORDS, excess
from gradcli.language.lower.context import Context, lower
from gradcli.language.lower.lines import require_tensor
from gradcli.language.lower.sizes import evaluation, fitted, shape_of
from gradcli.language.ops import Default, Kind, Op
from gradcli.language.program.movement import NEW, Slice
from gradcli.language.program.wengert import Atom, Program, number
from gradcli.language.text import nodes

LARGEST = 2**62
"""Bound below which whole numbers are."""

LARGEST_EXACT = 2**53
"""Bound beyond which a number is a float, as neither torch nor NumPy takes integers of more than 64 bits."""

NEW_AXES = ("np.newaxis", "numpy.newaxis", "torch.newaxis")
"""Names of None in an index."""

_PLAIN: Mapping[str, Default] = {"True": True, "False": False, "None": None}

UNKNOWN_SIZE = 4
"""Provisional size until the shapes of the variables are known."""


def static(context: Context, op: Op, parameter: str, arguments: Sequence[nodes.Argument]) -> Default:
    """Read the constant of a parameter.

    Args:
        context: Place of the call.
        op: The operation that has the parameter.
        parameter: Its name.
        arguments: Its arguments; several, where it takes all after the first.

    Raises:
        LanguageError: it is not of the kind that the parameter takes.
    """
    value: Default = _read_static(context, op, parameter, arguments)
    span = arguments[0].value.span.to(arguments[-1].value.span)
    require_bounded(context, op, parameter, value, span)
    default = op.statics[parameter]
    is_flag, is_several = isinstance(default, bool), parameter in SEVERAL
    if is_flag and value in (0, 1):
        return bool(value)
    is_fit = not is_flag and (value is not None or default is None)
    is_fit &= not isinstance(value, tuple) or (is_several and None not in value)
    is_fit &= not isinstance(value, bool) or parameter == "correction"
    if not (is_fit or op.is_defined_by_torch):  # else torch refuses them
        kind = "true or false" if is_flag else "a number" if parameter in NUMBERS else "a whole number"
        takes = "whole numbers" if is_several else kind
        raise context.source.error(f"{op.name} takes {takes} for {parameter}", span)
    return value


def require_bounded(context: Context, op: Op, parameter: str, value: Default, span: Span) -> None:
    """Refuse whole numbers beyond their meaning, before they take memory or time."""
    if op.kind is not Kind.SOURCE and (hint := excess(op.name, parameter, value)):
        raise context.source.error(f"this {parameter} is too large", span, hint=hint, kind=TooLargeError)


def is_meaning_constant(context: Context, node: nodes.Node) -> bool:
    """Tell whether a node is the name of a constant of a meaning."""
    return nodes.name_alone(node) in context.known.constants


def _read_static(context: Context, op: Op, parameter: str, arguments: Sequence[nodes.Argument]) -> Any:
    node = arguments[0].value
    if is_meaning_constant(context, node):
        return context.known.constants[nodes.name_alone(node)]
    if isinstance(node, nodes.Word) and node.token.kind == "keyword":
        return _PLAIN[node.token.text]
    if parameter in GATHERED and op.name != "full":
        return _concatenated(context, [one.value for one in arguments])
    if op.is_defined_by_torch:
        return _literal(context, node)
    words = WORDS.get(f"{op.name}.{parameter}", WORDS.get(parameter))
    if words is not None and (isinstance(node, nodes.Word) or parameter not in NUMBERS):
        word = node.token.text if isinstance(node, nodes.Word) else ""
        if not word or (words and word not in words):
            hint = f"it is {' or '.join(map(repr, words))}" if words else "write it in quotes, as 'ij,j->i'"
            raise context.source.error(f"{op.name} does not take this {parameter}", node.span, hint=hint)
        return word
    if parameter in NUMBERS:
        return number_of(context, node)
    return (
        whole_numbers(context, node)
        if parameter in SEVERAL or isinstance(node, nodes.Items)
        else integer(context, node)
    )


def _literal(context: Context, node: nodes.Node) -> object:
    """Read a word, a number, or several of them."""
    if isinstance(node, nodes.Items):
        return tuple(map(partial(_literal, context), node.items))
    if isinstance(node, nodes.Word):
        return _PLAIN[node.token.text] if node.token.kind == "keyword" else node.token.text
    if (parts := _sizes(context, node)) is not None:
        return parts
    value = number_of(context, node)
    return int(value) if math.isfinite(value) and value == int(value) else value


def whole_numbers(context: Context, node: nodes.Node) -> int | tuple[int, ...]:
    """Read a whole number, or several: between brackets, or in one value such as `x.shape`."""
    if isinstance(node, nodes.Items):
        return _concatenated(context, node.items)
    found = _sizes(context, node)
    return integer(context, node) if found is None else found


def _sizes(context: Context, node: nodes.Node) -> tuple[int, ...] | None:
    """Read the whole numbers of a call that gives several."""
    if not isinstance(node, nodes.NameNode | nodes.Postfix):
        return None
    mark = len(context.builder.lines)
    parts = context.findings.parts_of(lower(context, node)[0])
    found = None if parts is None else tuple(as_whole(context, *one) for one in parts)
    context.builder.forget(mark)
    return found


def _concatenated(context: Context, found: Sequence[nodes.Node]) -> tuple[int, ...]:
    """Read the whole numbers of several expressions, one after the other."""
    parts = [whole_numbers(context, node) for node in found]
    return tuple(n for part in parts for n in (part if isinstance(part, tuple) else (part,)))


def index_item(context: Context, bound: nodes.SliceNode) -> int | Slice | str:
    """Read one item of an index: a whole number, a slice, `...` or `None`."""
    only = bound.only
    if isinstance(only, nodes.Word) and only.token.text in ("...", "None"):
        return "..." if only.token.text == "..." else NEW
    if only is not None and context.source.single_line(only.span) in NEW_AXES:
        return NEW
    if only is not None:
        return integer(context, only)
    if len(bound.parts) == 1:
        raise context.source.error("an index is missing", bound.span, hint="write x[0] or x[1:]")
    start, stop, step, *others = (None if part is None else integer(context, part) for part in (*bound.parts, None))
    if others[1:] or step == 0:
        raise context.source.error("a slice is start:stop:step with a step that is not 0", bound.span)
    return Slice(start, stop, 1 if step is None else step)


def position_in(context: Context, subscript: nodes.Subscript) -> int:
    """Read the whole number that is all of an index."""
    found = index_item(context, subscript.items[0])
    if not isinstance(found, int) or len(subscript.items) > 1:
        raise context.source.error("one whole number must stand here", subscript.span, hint="write [0]")
    return found


def integer(context: Context, node: nodes.Node) -> int:
    """Read a whole number, or an expression of constants that is one."""
    return _as_whole(context, *constant(context, node, "an integer constant must stand here"))


def as_whole(context: Context, atom: Atom, span: Span) -> int:
    """Return a value as a whole number, which it must be."""
    return _as_whole(context, value_of(context, atom, span, "an integer constant must stand here"), span)


def _as_whole(context: Context, value: float, span: Span) -> int:
    if not math.isfinite(value) or value != math.floor(value):
        raise context.source.error("an integer constant must stand here", span)
    if abs(value) >= LARGEST:
        raise context.source.error("this integer is too large for a dimension", span, kind=TooLargeError)
    return int(value)


def number_of(context: Context, node: nodes.Node) -> int | float:
    """Read a number, or an expression of constants; beyond the exact range of a float, the nearest one."""
    value = constant(context, node, "a constant must stand here")[0]
    is_exact = isinstance(value, float) or abs(value) <= LARGEST_EXACT
    return value if is_exact else number(sympy.Integer(value))


def constant(context: Context, node: nodes.Node, message: str) -> tuple[int | float, Span]:
    """Evaluate an expression of constants.

    Raises:
        LanguageError: With this message, it is none.
    """
    if isinstance(node, nodes.NumberNode) and node.text.isdecimal():
        return int(node.text), node.span
    mark = len(context.builder.lines)
    atom, span = lower(context, node)
    value = value_of(context, atom, node.span.to(span), message)
    context.builder.forget(mark)
    return value, span


def value_of(context: Context, atom: Atom, span: Span, message: str) -> int | float:
    """Evaluate a value made of constants and sizes.

    Raises:
        LanguageError: With this message, it is none, or depends on the values of variables.
    """
    atom = require_tensor(context, atom, span)
    if isinstance(atom, sympy.Integer):
        return int(atom)
    if atom in (sympy.oo, -sympy.oo):
        return number(atom)
    lines, leaves = context.builder.backward_slice(atom, stop=lambda call: call.op.kind is Kind.COUNT)
    if not leaves.isdisjoint(context.findings.variables.values()):
        hint = "the values of variables are not known here; write a number, or x.shape[0] for a size"
        hint = "where(x > 0, x, 0) chooses by a condition" if atom in context.findings.conditions else hint
        raise context.source.error(message, span, hint=hint)
    if any(isinstance(leaf, sympy.Symbol) for leaf in leaves):  # a tuple, or another value that is no tensor
        raise context.source.error(message, span)
    evaluate, counts = evaluation(context), dict[Atom, Array]()
    for line in (line for line in lines if line.call.op.kind is Kind.COUNT):
        if (shape := shape_of(context, line.call.operands[0])) is None:
            context.findings.needs_shapes = True
            return UNKNOWN_SIZE
        counts[line.symbol] = np.asarray(float(evaluate.count_of(shape, line.call.statics[0])))
    rest = tuple(line for line in lines if line.symbol not in counts)
    found = evaluate.run(Program(context.source.text, (), rest, atom, context.source.name), counts)
    if found.shape != ():
        raise context.source.error(message, span, hint="this is a tensor")
    return float(found)


def constant_numbers(context: Context, atom: Atom) -> Array | None:
    """Evaluate a value that is made of constants and sizes alone; its lines are needed no more."""
    program = context.builder.program(atom, context.findings.variables.values())
    if program.variables:
        return None
    context.findings.spent.update(line.symbol for line in program.lines)
    return np.asarray(evaluation(context).run(program, {}))


def inline_text(context: Context, text: str, operands: Mapping[str, Atom], span: Span, **held: object) -> Atom:
    """Inline a text of the language in operands of these names, and constants of others."""
    return context.builder.inline(
        context.rules.meaning(text, tuple(operands), held), operands.values(), span, partial(fitted, context)
    )

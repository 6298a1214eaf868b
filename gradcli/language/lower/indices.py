"""Formulas in index notation as operations on whole tensors: elements, sums over indices, Kronecker deltas, cases.

    Σ[k=0..2] x[k]·δ[i,k]

Each index has a dimension of its own, counted from the last, shared by all values that depend on it: `x[k]` is x with
other dimensions of size 1, the index alone is `arange` there, δ is `eye`, and the sum is a sum over that dimension.  An
index may be any expression of others: then the element is picked by comparing, and is 0 outside of the tensor.  An
index that is an element of a variable, as in `x[i[k]]`, is a position by value, as in an index of whole tensors.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import sympy

from gradcli.arrays import Array
from gradcli.errors import Span
from gradcli.language.lower.constants import UNKNOWN_SIZE, constant_numbers, index_item, integer
from gradcli.language.lower.context import Context, Index, Operand, lower
from gradcli.language.lower.lines import as_number, emit
from gradcli.language.lower.sizes import needed_shape
from gradcli.language.program.movement import NEW, Slice
from gradcli.language.program.wengert import Atom, Shape, broadcast, show
from gradcli.language.text.nodes import Arguments, Items, NameNode, Node, Range, Ranged, Subscript, Trailer, name_alone
from gradcli.language.text.tokens import Token

_ALL = Slice(None, None)

_REDUCTIONS: Mapping[str, tuple[str, Atom]] = {
    "Σ": ("sum", sympy.Integer(0)),
    "Π": ("prod", sympy.Integer(1)),
    "max": ("amax", -sympy.oo),
    "min": ("amin", sympy.oo),
}
"""Reduction of a body's values by its sign, and the number that changes nothing in it."""

_SIGN_OF: Mapping[str, str] = {"Sum": "Σ", "Product": "Π", "amax": "max", "amin": "min", "det": "", "inv": ""}
"""Signs of the calls with ranges in SymPy's notation, `Sum(x[k], (k, 0, 2))`."""

DELTAS = ("δ", "KroneckerDelta")
"""Names of the Kronecker delta: 1 where two indices are equal, and 0 elsewhere."""


class _Entered(NamedTuple):
    """Context of the body of ranges, their indices, and the conditions on indices whose ends depend on others."""

    inner: Context
    indices: list[Index]
    masks: list[Atom]


def declared(context: Context, names: Sequence[str], shape: Shape) -> Context:
    """Declare names for the indices of a tensor of this shape, which is asked for as a whole."""
    sizes = enumerate(zip(names, shape, strict=True))
    own = {name: Index(len(shape) - 1 - n, 0, size - 1) for n, (name, size) in sizes if name}
    return context.with_indices({**context.indices, **own}, len(shape))


def mentions(context: Context, span: Span) -> bool:
    """Tell whether an index stands in a range of the text."""
    tokens = context.source.within(span) if context.indices else ()
    return any(token.kind == "name" and token.text in context.indices for token in tokens)


def index_number(context: Context, name: Token) -> Operand:
    """Return an index as a number."""
    index = context.indices[name.text]
    numbers = emit(context, "arange", [], name.span, (index.first, index.last + 1, 1))[0]
    return _placed(context, numbers, [index.place], name.span), name.span


def element(context: Context, operand: Operand, subscript: Subscript) -> Operand:
    """Lower `x[i,k]`, an element of a tensor."""
    atom, span = operand[0], operand[1].to(subscript.span)
    shape = needed_shape(context, atom)
    is_known = shape is not None
    if shape is not None and len(shape) == len(subscript.items) and _has_values(context, subscript):
        return _element_at_values(context, atom, subscript, span), span
    shape = (UNKNOWN_SIZE,) * len(subscript.items) if shape is None else shape
    if len(shape) != len(subscript.items):
        message = f"a tensor of shape {show(shape)} has {len(shape)} indices, and here are {len(subscript.items)}"
        raise context.source.error(message, span)
    key: list[Hashable] = []
    places: list[int] = []
    picked: list[tuple[int, int, Atom]] = []
    for bound, size in zip(subscript.items, shape, strict=True):
        node = bound.only
        if node is None or not mentions(context, bound.span):
            if not isinstance(item := index_item(context, bound), int):
                raise context.source.error("an index must stand here", bound.span, hint="write x[i], or x[0]")
            key.append(item)
            continue
        index = context.indices.get(name_alone(node))
        is_within = index is not None and (not is_known or (index.first >= 0 and index.last < size))
        if index is not None and is_within and index.place not in places:
            is_whole = index.first == 0 and index.size == size
            key.append(_ALL if is_whole else Slice(index.first, index.last + 1))
            places.append(index.place)
        else:
            place = context.depth + len(picked)
            picked.append((place, size, _position(context, node, size if is_known else None)))
            key.append(_ALL)
            places.append(place)
    if any(part != _ALL for part in key):
        atom = emit(context, "index", [atom], span, (tuple(key),))[0]
    atom = _placed(context, atom, places, span)
    for place, size, at in picked:
        atom = _picked(context, atom, at, place, size, span)
    return atom, span


def _has_values(context: Context, subscript: Subscript) -> bool:
    """Tell whether an index has an element of a variable in it, as `x[i[k]]` has."""
    names = context.findings.variables.keys() | context.known.names
    tokens = [token for bound in subscript.items for token in context.source.within(bound.span)]
    return any(token.kind == "name" and token.text in names and token.text not in context.indices for token in tokens)


def _element_at_values(context: Context, atom: Atom, subscript: Subscript, span: Span) -> Atom:
    """Lower an element at positions of which some are values: the positions in all dimensions, stacked."""
    found = []
    for bound in subscript.items:
        node = bound.only
        if node is None:
            raise context.source.error("an index must stand here", bound.span, hint="write x[i], or x[0]")
        found.append(as_number(context, *lower(context, node)))
    shapes = [needed_shape(context, one) for one in found]
    known = [one for one in shapes if one is not None]
    if len(known) < len(shapes):
        return atom
    whole = broadcast(known)
    wide = [
        one if own == whole else emit(context, "expand", [one], span, (whole,))[0]
        for one, own in zip(found, known, strict=True)
    ]
    places = wide[0] if len(wide) == 1 else emit(context, "stack", wide, span, (0,))[0]
    return emit(context, "elements_at", [atom, places], span, (0, len(wide)))[0]


def _position(context: Context, node: Node, size: int | None) -> Atom:
    """Lower an expression of indices; beyond the tensor it is an error, except in a case that is guarded."""
    atom, span = lower(context, node)
    numbers = _numbers(context, atom, span)
    is_free = size is None or context.is_guarded or not numbers.size
    if not is_free and not 0 <= numbers.min() <= numbers.max() < size:
        message = f"this index is from {numbers.min():g} to {numbers.max():g}, and the dimension has size {size}"
        raise context.source.error(message, span)
    return atom


def _picked(context: Context, atom: Atom, at: Atom, place: int, size: int, span: Span) -> Atom:
    """Pick the elements at positions, along a dimension that is then of size 1."""
    numbers = emit(context, "arange", [], span, (0, size, 1))[0]
    is_it = emit(context, "eq", [at, _placed(context, numbers, [place], span)], span)[0]
    kept = emit(context, "where", [is_it, atom, sympy.Integer(0)], span)[0]
    return emit(context, "sum", [kept], span, (-1 - place, True))[0]


def _placed(context: Context, atom: Atom, places: Sequence[int], span: Span) -> Atom:
    """Move each dimension of a tensor to the place of its index, the others of size 1."""
    order = sorted(range(len(places)), key=lambda n: -places[n])
    if order != list(range(len(places))):
        atom = emit(context, "permute", [atom], span, (tuple(order),))[0]
    if len(places) <= max(places, default=-1):
        key: list[Hashable] = [_ALL if place in places else NEW for place in range(max(places), -1, -1)]
        atom = emit(context, "index", [atom], span, (tuple(key),))[0]
    return atom


def _numbers(context: Context, atom: Atom, span: Span) -> Array:
    """Evaluate a value that depends on indices alone.

    Raises:
        LanguageError: The value depends on variables.
    """
    if (found := constant_numbers(context, atom)) is None:
        raise context.source.error("an index may depend on other indices only", span)
    return found


def ranged(context: Context, node: Ranged) -> Operand:
    """Lower `Σ[k=0..2] body`."""
    if not node.sign:
        message = "ranges without a sign are of a matrix, as in det([k=0..1, l=0..1] x[k]*y[l])"
        raise context.source.error(message, node.span, hint="write Σ[k=0..2] x[k] for a sum")
    return _reduced(context, node.sign, node.ranges, node.body, node.span, node.conditions)


def _reduced(
    context: Context, sign: str, ranges: Sequence[Range], body: Node, span: Span, conditions: Sequence[Node] = ()
) -> Operand:
    op, identity = _REDUCTIONS[sign]
    is_outermost = context.depth == 0
    inner, found, masks = _entered(replace(context, is_formula=True), ranges)
    is_empty = any(index.size < 1 for index in found)
    atom = identity if is_empty else as_number(inner, *lower(inner, body))
    if not is_empty:
        masks += [lower(inner, condition)[0] for condition in conditions]
        for mask in masks:
            atom = emit(context, "where", [mask, atom, identity], span)[0]
        for index in found:
            atom = _filled(context, atom, index, span)
            is_last = is_outermost and index is found[-1]
            statics = (None, False) if is_last else (-1 - index.place, True)
            atom = emit(context, op, [atom], span, statics)[0]
    return atom, span


def _entered(context: Context, ranges: Sequence[Range]) -> _Entered:
    """Make the indices of ranges, of which one may depend on another."""
    waiting, found, masks = list(ranges), list[Index](), list[Atom]()
    while waiting:
        names = {one.name.text for one in waiting}
        free = (one for one in waiting if not _names(context, one, names))
        if (one := next(free, None)) is None:
            raise context.source.error("these ranges depend on each other", waiting[0].name.span)
        waiting.remove(one)
        index, inside = _range(context, one)
        context = context.with_indices({**context.indices, one.name.text: index}, context.depth + 1)
        found.append(index)
        masks += inside
        if inside and index.size > 0:
            number, span = index_number(context, one.name)
            ends = zip(("le", "ge"), inside, strict=True)
            masks[-2:] = [emit(context, op, [end, number], span)[0] for op, end in ends]
    return _Entered(context, found, masks)


def _names(context: Context, one: Range, names: set[str]) -> bool:
    span = one.first.span.to(one.last.span)
    return any(token.kind == "name" and token.text in names for token in context.source.within(span))


def _range(context: Context, one: Range) -> tuple[Index, list[Atom]]:
    """Make the index of a formula, with bounds that may depend on outer indices."""
    if not mentions(context, one.first.span.to(one.last.span)):
        ends = integer(context, one.first), integer(context, one.last)
        return Index(context.depth, *ends), []
    (first, span), (last, until) = lower(context, one.first), lower(context, one.last)
    low, high = _numbers(context, first, span), _numbers(context, last, until)
    return Index(context.depth, int(np.min(low)), int(np.max(high))), [first, last]


def _filled(context: Context, atom: Atom, index: Index, span: Span) -> Atom:
    """Stretch a value to the size of an index in the dimension of that index."""
    shape = needed_shape(context, atom)
    if shape is None or (len(shape) > index.place and shape[-1 - index.place] == index.size):
        return atom
    zeros = emit(context, "zeros", [], span, ((index.size, *(1,) * index.place),))[0]
    return emit(context, "add", [atom, zeros], span)[0]


def called_in_formula(context: Context, name: Token, arguments: Arguments) -> Operand | None:
    """Lower a call that only formulas have; None for others."""
    span = name.span.to(arguments.span)
    values = [one.value for one in arguments.items]
    if name.text in DELTAS and len(values) == 2:
        return _delta(context, (values[0], values[1]), span)
    if name.text not in _SIGN_OF or not values:
        return None
    sign, first = _SIGN_OF[name.text], values[0]
    if isinstance(first, Ranged) and not first.sign and not sign:
        return _matrix(context, name.text, first.ranges, first.body, span)
    ranges = [one for value in values[1:] if (one := _limits(context, value)) is not None]
    if not ranges or len(ranges) < len(values) - 1:
        return None
    return _reduced(context, sign, ranges, first, span) if sign else _matrix(context, name.text, ranges, first, span)


def _limits(context: Context, node: Node) -> Range | None:
    """Read the range `(k, 0, 2)`."""
    if not isinstance(node, Items) or len(node.items) != 3 or node.opening.text != "(":
        return None
    name, first, last = node.items
    is_free = name_alone(name) not in ("", *context.findings.variables)
    return Range(name.token, first, last) if is_free and isinstance(name, NameNode) else None


def _matrix(context: Context, op: str, ranges: Sequence[Range], body: Node, span: Span) -> Operand:
    """Lower a function of the matrix whose elements are a body's values."""
    if len(ranges) != 2:
        raise context.source.error("a matrix has two ranges, of its rows and of its columns", span)
    if context.indices and mentions(context, body.span):
        raise context.source.error("a matrix whose elements depend on other indices is not read", span)
    inner, (columns, rows), _ = _entered(context.with_indices({}, 0), ranges[::-1])
    atom = whole_tensor(inner, lower(inner, body)[0], (rows.size, columns.size), span)
    return emit(context, op, [atom], span)


def kronecker_delta(context: Context, name: Node, subscript: Trailer) -> Operand | None:
    """Lower `δ[i,j]`, where indices stand around it and δ is no variable; None elsewhere."""
    if name_alone(name) != DELTAS[0] or not isinstance(subscript, Subscript) or context.is_taken(DELTAS[0]):
        return None
    if not mentions(context, subscript.span) or len(subscript.items) != 2:
        return None
    first, second = (bound.only for bound in subscript.items)
    return None if first is None or second is None else _delta(context, (first, second), name.span.to(subscript.span))


def _delta(context: Context, nodes: tuple[Node, Node], span: Span) -> Operand:
    """Compare two expressions of indices: 1 where they are equal, 0 elsewhere."""
    first, second = (context.indices.get(name_alone(node)) for node in nodes)
    if first and second and first.place != second.place and first.first == second.first == 0:
        above, below = (first, second) if first.place > second.place else (second, first)
        statics = above.size, None if above.size == below.size else below.size
        unit = emit(context, "eye", [], span, statics)[0]
        return _placed(context, unit, [above.place, below.place], span), span
    values = [lower(context, node)[0] for node in nodes]
    if all(isinstance(value, sympy.Integer) for value in values):
        return sympy.Integer(int(values[0] == values[1])), span
    return as_number(context, emit(context, "eq", values, span)[0], span), span


def whole_tensor(context: Context, atom: Atom, shape: Shape, span: Span) -> Atom:
    """Return a value that depends on the declared indices as the tensor of all its elements."""
    atom = as_number(context, atom, span)
    own = needed_shape(context, atom)
    own = shape if own is None else own
    if len(own) > len(shape):
        key: list[Hashable] = [0] * (len(own) - len(shape)) + [_ALL] * len(shape)
        atom, own = emit(context, "index", [atom], span, (tuple(key),))[0], own[len(own) - len(shape) :]
    return atom if own == shape else emit(context, "expand", [atom], span, (shape,))[0]


def chosen(context: Context, fixed: Sequence[int | None], atom: Atom, other: Atom, shape: Shape, span: Span) -> Atom:
    """Choose the first of two tensors at these positions, and the other elsewhere."""
    for n, at in enumerate(fixed):
        if at is not None:
            numbers = emit(context, "arange", [], span, (0, shape[n], 1))[0]
            placed = _placed(context, numbers, [len(shape) - 1 - n], span)
            is_it = emit(context, "eq", [placed, sympy.Integer(at)], span)[0]
            atom = emit(context, "where", [is_it, atom, other], span)[0]
    return atom

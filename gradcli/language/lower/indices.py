"""Formulas in index notation as operations on whole tensors: elements, sums over indices, Kronecker deltas, cases.

    Σ[k=0..2] x[k]·δ[i,k]

Each index has a dimension of its own, counted from the last, shared by all values that depend on it: `x[k]` is x with
other dimensions of size 1, the index alone is `arange` there, δ is `eye`, and the sum is a sum over that dimension.  An
index may be any expression of others: then the element is picked by comparing, and is 0 outside of the tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import sympy

from gradcli.arrays import Array
from gradcli.errors import Span
from gradcli.language.lower.constants import UNKNOWN_SIZE, Constants
from gradcli.language.lower.scope import Index, Operand
from gradcli.language.program.movement import NEW, Slice
from gradcli.language.program.wengert import Atom, Shape, show
from gradcli.language.text.nodes import Arguments, Items, NameNode, Node, Range, Ranged, Subscript, Trailer, name_alone
from gradcli.language.text.tokens import Token

Result = TypeVar("Result")

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


class Indices(Constants):
    """Lowering of values that depend on indices."""

    _depth = 0  # dimensions that indices have so far
    _is_guarded = False  # true if cases may leave out elements outside of a tensor

    def declare(self, names: Sequence[str], shape: Shape) -> None:
        """Declare names for the indices of a tensor of this shape, which is asked for as a whole."""
        self._depth = len(shape)
        for n, (name, size) in enumerate(zip(names, shape, strict=True)):
            if name:
                self.scope.indices[name] = Index(len(shape) - 1 - n, 0, size - 1)

    def mentions(self, span: Span) -> bool:
        """Tell whether an index stands in a range of the text."""
        tokens = self.source.within(span) if self.scope.indices else ()
        return any(token.kind == "name" and token.text in self.scope.indices for token in tokens)

    # -- values

    def index_number(self, name: Token) -> Operand:
        """Return an index as a number."""
        index = self.scope.indices[name.text]
        numbers = self.emit("arange", [], name.span, (index.first, index.last + 1, 1))[0]
        return self._placed(numbers, [index.place], name.span), name.span

    def element(self, operand: Operand, subscript: Subscript) -> Operand:
        """Lower `x[i,k]`, an element of a tensor."""
        atom, span = operand[0], operand[1].to(subscript.span)
        shape = self.needed_shape(atom)
        is_known = shape is not None
        shape = (UNKNOWN_SIZE,) * len(subscript.items) if shape is None else shape
        if len(shape) != len(subscript.items):
            message = f"a tensor of shape {show(shape)} has {len(shape)} indices, and here are {len(subscript.items)}"
            raise self.source.error(message, span)
        key: list[Any] = []
        places: list[int] = []
        picked: list[tuple[int, int, Atom]] = []
        for bound, size in zip(subscript.items, shape, strict=True):
            node = bound.only
            if node is None or not self.mentions(bound.span):
                if not isinstance(item := self.item(bound), int):
                    raise self.source.error("an index must stand here", bound.span, hint="write x[i], or x[0]")
                key.append(item)
                continue
            index = self.scope.indices.get(name_alone(node))
            is_within = index is not None and (not is_known or (index.first >= 0 and index.last < size))
            if index is not None and is_within and index.place not in places:
                is_whole = index.first == 0 and index.size == size
                key.append(_ALL if is_whole else Slice(index.first, index.last + 1))
                places.append(index.place)
            else:
                place = self._depth + len(picked)
                picked.append((place, size, self._position(node, size if is_known else None)))
                key.append(_ALL)
                places.append(place)
        if any(part != _ALL for part in key):
            atom = self.emit("index", [atom], span, (tuple(key),))[0]
        atom = self._placed(atom, places, span)
        for place, size, at in picked:
            atom = self._picked(atom, at, place, size, span)
        return atom, span

    def _position(self, node: Node, size: int | None) -> Atom:
        """Lower an expression of indices; beyond the tensor it is an error, except in a case that is guarded."""
        atom, span = self.lower(node)
        numbers = self._numbers(atom, span)
        is_free = size is None or self._is_guarded or not numbers.size
        if not is_free and not 0 <= numbers.min() <= numbers.max() < size:
            message = f"this index is from {numbers.min():g} to {numbers.max():g}, and the dimension has size {size}"
            raise self.source.error(message, span)
        return atom

    def _picked(self, atom: Atom, at: Atom, place: int, size: int, span: Span) -> Atom:
        """Pick the elements at positions, along a dimension that is then of size 1."""
        numbers = self.emit("arange", [], span, (0, size, 1))[0]
        is_it = self.emit("eq", [at, self._placed(numbers, [place], span)], span)[0]
        kept = self.emit("where", [is_it, atom, sympy.Integer(0)], span)[0]
        return self.emit("sum", [kept], span, (-1 - place, True))[0]

    def _placed(self, atom: Atom, places: Sequence[int], span: Span) -> Atom:
        """Move each dimension of a tensor to the place of its index, the others of size 1."""
        order = sorted(range(len(places)), key=lambda n: -places[n])
        if order != list(range(len(places))):
            atom = self.emit("permute", [atom], span, (tuple(order),))[0]
        if len(places) <= max(places, default=-1):
            key: list[Any] = [_ALL if place in places else NEW for place in range(max(places), -1, -1)]
            atom = self.emit("index", [atom], span, (tuple(key),))[0]
        return atom

    def _numbers(self, atom: Atom, span: Span) -> Array:
        """Evaluate a value that depends on indices alone.

        Raises:
            LanguageError: The value depends on variables.
        """
        if (found := self.numbers(atom)) is None:
            raise self.source.error("an index may depend on other indices only", span)
        return found

    # -- over indices

    def ranged(self, node: Ranged) -> Operand:
        """Lower `Σ[k=0..2] body`."""
        if not node.sign:
            message = "ranges without a sign are of a matrix, as in det([k=0..1, l=0..1] x[k]*y[l])"
            raise self.source.error(message, node.span, hint="write Σ[k=0..2] x[k] for a sum")
        return self._reduced(node.sign, node.ranges, node.body, node.span, node.conditions)

    def _reduced(
        self, sign: str, ranges: Sequence[Range], body: Node, span: Span, conditions: Sequence[Node] = ()
    ) -> Operand:
        op, identity = _REDUCTIONS[sign]
        outer, depth, is_formula = self.scope.indices, self._depth, self.scope.is_formula
        self.scope.indices, self.scope.is_formula = dict(outer), True
        found, masks = self._entered(ranges)
        is_empty = any(index.size < 1 for index in found)
        atom = identity if is_empty else self.as_number(*self.lower(body))
        if not is_empty:
            masks += [self.lower(condition)[0] for condition in conditions]
            for mask in masks:
                atom = self.emit("where", [mask, atom, identity], span)[0]
            for index in found:
                atom = self._filled(atom, index, span)
                is_last = depth == 0 and index is found[-1]
                statics = (None, False) if is_last else (-1 - index.place, True)
                atom = self.emit(op, [atom], span, statics)[0]
        self.scope.indices, self._depth, self.scope.is_formula = outer, depth, is_formula
        return atom, span

    def _entered(self, ranges: Sequence[Range]) -> tuple[list[Index], list[Atom]]:
        """Make the indices of ranges, of which one may depend on another, and the conditions that they fulfil."""
        waiting, found, masks = list(ranges), list[Index](), list[Atom]()
        while waiting:
            names = {one.name.text for one in waiting}
            free = (one for one in waiting if not self._names(one, names))
            if (one := next(free, None)) is None:
                raise self.source.error("these ranges depend on each other", waiting[0].name.span)
            waiting.remove(one)
            index, inside = self._range(one)
            self.scope.indices[one.name.text] = index
            self._depth += 1
            found.append(index)
            masks += inside
            if inside and index.size > 0:
                number, span = self.index_number(one.name)
                ends = zip(("le", "ge"), inside, strict=True)
                masks[-2:] = [self.emit(op, [end, number], span)[0] for op, end in ends]
        return found, masks

    def _names(self, one: Range, names: set[str]) -> bool:
        span = one.first.span.to(one.last.span)
        return any(token.kind == "name" and token.text in names for token in self.source.within(span))

    def _range(self, one: Range) -> tuple[Index, list[Atom]]:
        """Make the index of a formula, with bounds that may depend on outer indices."""
        if not self.mentions(one.first.span.to(one.last.span)):
            ends = self.integer(one.first), self.integer(one.last)
            return Index(self._depth, *ends), []
        (first, span), (last, until) = self.lower(one.first), self.lower(one.last)
        low, high = self._numbers(first, span), self._numbers(last, until)
        return Index(self._depth, int(np.min(low)), int(np.max(high))), [first, last]

    def _filled(self, atom: Atom, index: Index, span: Span) -> Atom:
        """Stretch a value to the size of an index in the dimension of that index."""
        shape = self.needed_shape(atom)
        if shape is None or (len(shape) > index.place and shape[-1 - index.place] == index.size):
            return atom
        zeros = self.emit("zeros", [], span, ((index.size, *(1,) * index.place),))[0]
        return self.emit("add", [atom, zeros], span)[0]

    # -- calls and brackets

    def called_in_formula(self, name: Token, arguments: Arguments) -> Operand | None:
        """Lower a call that only formulas have; None for others."""
        span = name.span.to(arguments.span)
        values = [one.value for one in arguments.items]
        if name.text in DELTAS and len(values) == 2:
            return self._delta((values[0], values[1]), span)
        if name.text not in _SIGN_OF or not values:
            return None
        sign, first = _SIGN_OF[name.text], values[0]
        if isinstance(first, Ranged) and not first.sign and not sign:
            return self._matrix(name.text, first.ranges, first.body, span)
        ranges = [one for value in values[1:] if (one := self._limits(value)) is not None]
        if not ranges or len(ranges) < len(values) - 1:
            return None
        return self._reduced(sign, ranges, first, span) if sign else self._matrix(name.text, ranges, first, span)

    def _limits(self, node: Node) -> Range | None:
        """Read the range `(k, 0, 2)`."""
        if not isinstance(node, Items) or len(node.items) != 3 or node.opening.text != "(":
            return None
        name, first, last = node.items
        is_free = name_alone(name) not in ("", *self.scope.variables)
        return Range(name.token, first, last) if is_free and isinstance(name, NameNode) else None

    def _matrix(self, op: str, ranges: Sequence[Range], body: Node, span: Span) -> Operand:
        """Lower a function of the matrix whose elements are a body's values."""
        if len(ranges) != 2:
            raise self.source.error("a matrix has two ranges, of its rows and of its columns", span)
        outer, depth = self.scope.indices, self._depth
        if outer and self.mentions(body.span):
            raise self.source.error("a matrix whose elements depend on other indices is not read", span)
        self.scope.indices, self._depth = {}, 0
        (columns, rows), _ = self._entered(ranges[::-1])
        atom = self.whole_tensor(self.lower(body)[0], (rows.size, columns.size), span)
        self.scope.indices, self._depth = outer, depth
        return self.emit(op, [atom], span)

    def delta(self, name: Node, subscript: Trailer) -> Operand | None:
        """Lower `δ[i,j]`, where indices stand around it and δ is no variable; None elsewhere."""
        if name_alone(name) != DELTAS[0] or not isinstance(subscript, Subscript) or self.scope.is_taken(DELTAS[0]):
            return None
        if not self.mentions(subscript.span) or len(subscript.items) != 2:
            return None
        first, second = (bound.only for bound in subscript.items)
        return None if first is None or second is None else self._delta((first, second), name.span.to(subscript.span))

    def _delta(self, nodes: tuple[Node, Node], span: Span) -> Operand:
        """Compare two expressions of indices: 1 where they are equal, 0 elsewhere."""
        first, second = (self.scope.indices.get(name_alone(node)) for node in nodes)
        if first and second and first.place != second.place and first.first == second.first == 0:
            above, below = (first, second) if first.place > second.place else (second, first)
            statics = above.size, None if above.size == below.size else below.size
            unit = self.emit("eye", [], span, statics)[0]
            return self._placed(unit, [above.place, below.place], span), span
        values = [self.lower(node)[0] for node in nodes]
        if all(isinstance(value, sympy.Integer) for value in values):
            return sympy.Integer(int(values[0] == values[1])), span
        return self.as_number(self.emit("eq", values, span)[0], span), span

    def guarded(self, read: Callable[[], Result]) -> Result:
        """Read cases, which may leave out elements outside of a tensor."""
        outer, self._is_guarded = self._is_guarded, True
        result = read()
        self._is_guarded = outer
        return result

    # -- the whole

    def whole_tensor(self, atom: Atom, shape: Shape, span: Span) -> Atom:
        """Return a value that depends on the declared indices as the tensor of all its elements."""
        atom = self.as_number(atom, span)
        own = self.needed_shape(atom)
        own = shape if own is None else own
        if len(own) > len(shape):
            key: list[Any] = [0] * (len(own) - len(shape)) + [_ALL] * len(shape)
            atom, own = self.emit("index", [atom], span, (tuple(key),))[0], own[len(own) - len(shape) :]
        return atom if own == shape else self.emit("expand", [atom], span, (shape,))[0]

    def chosen(self, fixed: Sequence[int | None], atom: Atom, other: Atom, shape: Shape, span: Span) -> Atom:
        """Choose the first of two tensors at these positions, and the other elsewhere."""
        for n, at in enumerate(fixed):
            if at is not None:
                numbers = self.emit("arange", [], span, (0, shape[n], 1))[0]
                placed = self._placed(numbers, [len(shape) - 1 - n], span)
                is_it = self.emit("eq", [placed, sympy.Integer(at)], span)[0]
                atom = self.emit("where", [is_it, atom, other], span)[0]
        return atom

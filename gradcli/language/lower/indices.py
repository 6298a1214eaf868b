"""Formulas in index notation as operations on whole tensors: elements, sums over indices, Kronecker deltas, cases.

    Σ[k=0..2] x[k]·δ[i,k]

Each index has a dimension of its own, counted from the last, which all values that depend on it have: `x[k]` is x with
other dimensions of size 1, the index alone is `arange` there, δ is `eye`, and the sum is a sum over that dimension.
What an element is taken by is an index alone or a number, and ranges are constant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import sympy

from gradcli.errors import Span
from gradcli.language.lower.constants import UNKNOWN_SIZE, Constants
from gradcli.language.lower.scope import Index, Operand
from gradcli.language.program.movement import NEW, Slice
from gradcli.language.program.wengert import Atom, Shape, show
from gradcli.language.text.nodes import Arguments, Items, NameNode, Node, Range, Ranged, Subscript, Trailer
from gradcli.language.text.tokens import Token

Result = TypeVar("Result")

_ALL = Slice(None, None)

_REDUCTIONS: Mapping[str, tuple[str, Atom]] = {
    "Σ": ("sum", sympy.Integer(0)),
    "Π": ("prod", sympy.Integer(1)),
    "max": ("amax", -sympy.oo),
    "min": ("amin", sympy.oo),
}
"""What is made of a body's values, and what changes nothing there."""

_SIGN_OF: Mapping[str, str] = {"Sum": "Σ", "Product": "Π", "amax": "max", "amin": "min"}
"""Calls in which a formula in SymPy's notation has ranges, `Sum(x[k], (k, 0, 2))`."""

DELTAS = ("δ", "KroneckerDelta")
"""What is 1 where two indices are equal, and 0 elsewhere."""


class Indices(Constants):
    """Reads what depends on indices."""

    _depth = 0  # dimensions that are taken

    def declare(self, names: Sequence[str], shape: Shape) -> None:
        """Take names for the indices of a tensor of this shape, which is asked for as a whole."""
        self._depth = len(shape)
        for n, (name, size) in enumerate(zip(names, shape, strict=True)):
            if name:
                self.scope.indices[name] = Index(len(shape) - 1 - n, 0, size - 1)

    def mentions(self, span: Span) -> bool:
        """Whether an index stands in a range of the text."""
        return bool(self.scope.indices) and any(
            token.kind == "name" and token.text in self.scope.indices for token in self.source.within(span)
        )

    # -- values

    def index_number(self, name: Token) -> Operand:
        """An index as a number."""
        index = self.scope.indices[name.text]
        numbers = self.emit("arange", [], name.span, (index.first, index.last + 1, 1))[0]
        return self._placed(numbers, [index.place], name.span), name.span

    def element(self, operand: Operand, subscript: Subscript) -> Operand:
        """`x[i,k]` of a tensor."""
        atom, span = operand[0], operand[1].to(subscript.span)
        shape = self.needed_shape(atom)
        is_known = shape is not None
        shape = (UNKNOWN_SIZE,) * len(subscript.items) if shape is None else shape
        if len(shape) != len(subscript.items):
            message = f"a tensor of shape {show(shape)} has {len(shape)} indices, and here are {len(subscript.items)}"
            raise self.source.error(message, span)
        key: list[Any] = []
        places: list[int] = []
        for bound, size in zip(subscript.items, shape, strict=True):
            node = bound.parts[0] if len(bound.parts) == 1 else None
            index = None if node is None else self._plain(node)
            if index is None and (self.mentions(bound.span) or not isinstance(self.item(bound), int)):
                hint = "write x[i] or x[0]; roll(x, 1)[i] is the element before, in operations on tensors"
                raise self.source.error("an index or a whole number must stand here", bound.span, hint=hint)
            if index is None:
                key.append(self.item(bound))
                continue
            if is_known and not 0 <= index.first <= index.last + 1 <= size:
                message = f"this index is from {index.first} to {index.last}, and the dimension has size {size}"
                raise self.source.error(message, bound.span)
            key.append(_ALL if (index.first, index.last + 1) == (0, size) else Slice(index.first, index.last + 1))
            places.append(index.place)
        if any(part != _ALL for part in key):
            atom = self.emit("index", [atom], span, (tuple(key),))[0]
        while len({*places}) < len(places):
            second = next(n for n, place in enumerate(places) if place in places[:n])
            twice = places.index(places[second]), second
            atom = self.emit("diagonal", [atom], span, (0, *twice))[0]
            places = [*(place for n, place in enumerate(places) if n not in twice), places[second]]
        return self._placed(atom, places, span), span

    def _plain(self, node: Node) -> Index | None:
        """An index that is a name alone."""
        is_name = isinstance(node, NameNode) and node.arguments is None
        return self.scope.indices.get(node.token.text) if is_name and isinstance(node, NameNode) else None

    def _placed(self, atom: Atom, places: Sequence[int], span: Span) -> Atom:
        """A tensor with each dimension in the place of its index, the others of size 1."""
        order = sorted(range(len(places)), key=lambda n: -places[n])
        if order != list(range(len(places))):
            atom = self.emit("permute", [atom], span, (tuple(order),))[0]
        if len(places) <= max(places, default=-1):
            key: list[Any] = [_ALL if place in places else NEW for place in range(max(places), -1, -1)]
            atom = self.emit("index", [atom], span, (tuple(key),))[0]
        return atom

    # -- over indices

    def ranged(self, node: Ranged) -> Operand:
        """`Σ[k=0..2] body`."""
        return self._reduced(node.sign, node.ranges, node.body, node.span, node.conditions)

    def _reduced(
        self,
        sign: str,
        ranges: Sequence[Range],
        body: Node,
        span: Span,
        conditions: Sequence[Node] = (),
    ) -> Operand:
        op, identity = _REDUCTIONS[sign]
        outer, depth, is_formula = self.scope.indices, self._depth, self.scope.is_formula
        self.scope.indices, self.scope.is_formula = dict(outer), True
        found = self._entered(ranges)
        is_empty = any(index.size < 1 for index in found)
        atom = identity if is_empty else self.as_number(*self.lower(body))
        if not is_empty:
            for mask in [self.lower(condition)[0] for condition in conditions]:
                atom = self.emit("where", [mask, atom, identity], span)[0]
            for index in found:
                atom = self._filled(atom, index, span)
                is_last = depth == 0 and index is found[-1]
                statics = (None, False) if is_last else (-1 - index.place, True)
                atom = self.emit(op, [atom], span, statics)[0]
        self.scope.indices, self._depth, self.scope.is_formula = outer, depth, is_formula
        return atom, span

    def _entered(self, ranges: Sequence[Range]) -> list[Index]:
        """The indices of ranges."""
        found: list[Index] = []
        for one in ranges:
            if self.mentions(one.first.span.to(one.last.span)):
                raise self.source.error("a range is from a whole number to another one", one.first.span)
            found.append(Index(self._depth, self.integer(one.first), self.integer(one.last)))
            self._depth += 1
        self.scope.indices |= {one.name.text: index for one, index in zip(ranges, found, strict=True)}
        return found

    def _filled(self, atom: Atom, index: Index, span: Span) -> Atom:
        """A value that has all of an index's dimension, also where it does not depend on it."""
        shape = self.needed_shape(atom)
        if shape is None or (len(shape) > index.place and shape[-1 - index.place] == index.size):
            return atom
        zeros = self.emit("zeros", [], span, ((index.size, *(1,) * index.place),))[0]
        return self.emit("add", [atom, zeros], span)[0]

    # -- calls and brackets

    def called_in_formula(self, name: Token, arguments: Arguments) -> Operand | None:
        """A call that only formulas have; None for others."""
        span = name.span.to(arguments.span)
        values = [one.value for one in arguments.items]
        if name.text in DELTAS and len(values) == 2:
            return self._delta((values[0], values[1]), span)
        if name.text not in _SIGN_OF or not values:
            return None
        ranges = [one for value in values[1:] if (one := self._limits(value)) is not None]
        if not ranges or len(ranges) < len(values) - 1:
            return None
        return self._reduced(_SIGN_OF[name.text], ranges, values[0], span)

    def _limits(self, node: Node) -> Range | None:
        """`(k, 0, 2)`."""
        if not isinstance(node, Items) or len(node.items) != 3 or node.opening.text != "(":
            return None
        name, first, last = node.items
        is_name = isinstance(name, NameNode) and name.arguments is None and name.token.text not in self.scope.variables
        return Range(name.token, first, last) if is_name and isinstance(name, NameNode) else None

    def delta(self, name: Node, subscript: Trailer) -> Operand | None:
        """`δ[i,j]`, where indices stand around it and δ is no variable; None elsewhere."""
        if not isinstance(name, NameNode) or not isinstance(subscript, Subscript):
            return None
        is_own = name.token.text in self.scope.variables or name.token.text in self.scope.names
        is_own |= name.token.text in self.scope.given or name.arguments is not None
        if name.token.text != DELTAS[0] or is_own or not self.mentions(subscript.span) or len(subscript.items) != 2:
            return None
        nodes = [bound.parts[0] if len(bound.parts) == 1 else None for bound in subscript.items]
        first, second = nodes
        return None if first is None or second is None else self._delta((first, second), name.span.to(subscript.span))

    def _delta(self, nodes: tuple[Node, Node], span: Span) -> Operand:
        """1 where two expressions of indices are equal."""
        first, second = map(self._plain, nodes)
        if (
            first is not None
            and second is not None
            and first.place != second.place
            and first.first == second.first == 0
        ):
            above, below = (first, second) if first.place > second.place else (second, first)
            statics = above.size, None if above.size == below.size else below.size
            unit = self.emit("eye", [], span, statics)[0]
            return self._placed(unit, [above.place, below.place], span), span
        values = [self.lower(node)[0] for node in nodes]
        if all(isinstance(value, sympy.Integer) for value in values):
            return sympy.Integer(int(values[0] == values[1])), span
        return self.as_number(self.emit("eq", values, span)[0], span), span

    # -- the whole

    def whole_tensor(self, atom: Atom, shape: Shape, span: Span) -> Atom:
        """A value that depends on the declared indices as the tensor of all its elements."""
        atom = self.as_number(atom, span)
        own = self.needed_shape(atom)
        own = shape if own is None else own
        if len(own) > len(shape):
            key: list[Any] = [0] * (len(own) - len(shape)) + [_ALL] * len(shape)
            atom, own = self.emit("index", [atom], span, (tuple(key),))[0], own[len(own) - len(shape) :]
        return atom if own == shape else self.emit("expand", [atom], span, (shape,))[0]

    def chosen(self, fixed: Sequence[int | None], atom: Atom, other: Atom, shape: Shape, span: Span) -> Atom:
        """The first of two tensors at these positions, and the other elsewhere."""
        for n, at in enumerate(fixed):
            if at is not None:
                numbers = self.emit("arange", [], span, (0, shape[n], 1))[0]
                placed = self._placed(numbers, [len(shape) - 1 - n], span)
                is_it = self.emit("eq", [placed, sympy.Integer(at)], span)[0]
                atom = self.emit("where", [is_it, atom, other], span)[0]
        return atom

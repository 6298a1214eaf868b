"""What Python has beside tensors: lists, words, sizes, functions as values, and what is done with them.

Such a value is an atom of its own, which no line is made of: where a tensor is wanted a list becomes one, and what
else there is, is refused at its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import sympy

from gradcli.errors import GradcliError, Place, Span, TooLargeError, UncalledFunctionError
from gradcli.language import ops
from gradcli.language.lower.constants import UNKNOWN_SIZE
from gradcli.language.lower.programs import Lowering
from gradcli.language.lower.scope import Dictionary, Listed, Nothing, Operand, Text
from gradcli.language.program.movement import Slice
from gradcli.language.program.wengert import Atom, Shape
from gradcli.language.snippets.definitions import Callee
from gradcli.language.snippets.generators import require_no_draw
from gradcli.language.text import nodes

MOST_ITEMS = 10_000
"""Elements of one list."""


@dataclass(frozen=True)
class Sizes:
    """`x.shape`, of a tensor."""

    of: Atom


@dataclass(frozen=True)
class Opaque:
    """What says nothing about the function, and is not known: a plot, a clock, an optimizer."""

    shown: str


class Objects:
    """Makes such values, and reads what is done with them."""

    def __init__(self, lowering: Lowering) -> None:
        self.lowering, self.source, self.scope, self.lines = lowering, lowering.source, lowering.scope, lowering.lines
        self.constants, self.sizes = lowering.constants, lowering.indices.sizes
        self.lower = lowering.lower
        self.wholes: dict[Atom, list[Atom]] = {}  # what stood for tensors whose elements were assigned
        self.fixed: frozenset[int] = frozenset()  # lists and dicts from before a branch that may not be taken

    def new(self, value: Any) -> Atom:
        """What stands for a value."""
        atom = sympy.Dummy("object", real=True)
        self.scope.objects[atom] = value
        return atom

    def new_list(self, items: Sequence[Operand], span: Span, kind: str = "list") -> Operand:
        """A list as a value.

        Raises:
            TooLargeError: It is too long.
        """
        if len(items) > MOST_ITEMS:
            raise self.source.error(f"a list of more than {MOST_ITEMS:,} elements", span, kind=TooLargeError)
        return self.new(Listed(list(items), kind)), span

    def of(self, atom: Atom) -> Any:
        """What an atom stands for; None for a tensor."""
        return self.scope.objects.get(atom)

    def nothing(self, span: Span) -> Operand:
        """`None`."""
        return self.new(Nothing()), span

    def truth(self, value: bool, span: Span) -> Operand:
        """`True` or `False`, as the language has it."""
        one = sympy.Integer(1)
        return self.lines.emit("eq" if value else "ne", [one, one], span)

    # -- as tensors

    def tensor(self, atom: Atom, span: Span) -> Atom:
        """What a value is where a tensor is wanted.

        Raises:
            LanguageError: It is none.
        """
        value = self.of(atom)
        if value is None:
            return atom
        if isinstance(value, Sizes):
            value = Listed(self.parts(atom, span))
        if not isinstance(value, Listed):
            raise self._no_tensor(value, span)
        if not value.items:
            return self.lines.emit("zeros", [], span, ((0,),))[0]
        parts = [self.tensor(a, s) for a, s in value.items]
        if not self.lines.conditions.issuperset(parts):
            parts = [self.lines.as_number(a, span) for a in parts]
        found = self.lines.emit("stack", parts, span, (0,))[0]
        if value.kind == "tensor":
            self.wholes.setdefault(atom, []).append(found)
        return found

    def _no_tensor(self, value: Any, span: Span) -> GradcliError:
        """The error for what is no tensor; a function of the table may be a variable by its name."""
        if isinstance(value, Nothing) and value.where is not None:
            return self.source.error("this function returns nothing", value.where, hint="end it with return ...")
        message = f"{self.shown(value)} stands where a number or a tensor must"
        if not isinstance(value, Callee) or ops.find(value.shown) is None:
            return self.source.error(message, span)
        hint = f"write {value.shown}(...); a variable called {value.shown} needs a value, --at {value.shown}=VALUE"
        error = UncalledFunctionError(message, place=Place(self.source.text, span, self.source.name), hint=hint)
        error.name = value.shown
        return error

    def shown(self, value: Any) -> str:
        """What a value is called in a message."""
        match value:
            case Nothing():
                return "None"
            case Text(text=text):
                return f"'{text}'"
            case Opaque(shown=shown):
                return f"'{shown}', whose value is not known,"
            case Callee(shown=shown):
                return f"the function {shown}"
            case Listed(kind=kind):
                return f"a {kind}"
        return str(getattr(value, "shown", "this"))

    # -- what they are made of

    def rank(self, atom: Atom) -> int | None:
        """How many dimensions a tensor has; None while that is not known."""
        shape = self.shape(atom)
        return None if shape is None else len(shape)

    def shape(self, atom: Atom) -> Shape | None:
        """The shape of a tensor; the text is to be read again where it is not known yet."""
        found = self.sizes.of(atom)
        self.scope.needs_shapes |= found is None
        return found

    def parts(self, atom: Atom, span: Span, count: int | None = None) -> list[Operand]:
        """What a value is made of, in order.

        Args:
            atom: The value.
            span: Where it stands.
            count: How many are wanted, if that is known.

        Raises:
            LanguageError: It has no elements.
        """
        value = self.of(atom)
        if isinstance(value, Listed):
            return value.items
        if isinstance(value, Dictionary):
            return self.keys(value, span)
        if isinstance(value, Sizes):
            rank = self.rank(value.of)
            return [
                self.lines.emit("count", [value.of], span, (n,)) for n in range((count or 1) if rank is None else rank)
            ]
        if value is not None:
            raise self.source.error(f"{self.shown(value)} has no elements", span)
        if (several := self.scope.several.get(atom)) is not None:
            return list(several.parts if not several.is_provisional else several.parts[:1] * (count or 1))
        shape = self.shape(atom)
        if shape == ():
            raise self.source.error("a number has no elements", span)
        length = (count or UNKNOWN_SIZE) if shape is None else shape[0]
        if length > MOST_ITEMS:
            raise self.source.error(f"a loop over more than {MOST_ITEMS:,} elements", span, kind=TooLargeError)
        return [self.lines.emit("index", [atom], span, ((n,),)) for n in range(length)]

    def length(self, atom: Atom, span: Span) -> Operand:
        """`len(x)`."""
        value = self.of(atom)
        if isinstance(value, Listed | Sizes | Dictionary):
            return sympy.Integer(len(self.parts(atom, span))), span
        return self.lines.emit("count", [self.tensor(atom, span)], span, (0,))

    # -- signs

    def operated(self, sign: str, left: Operand, right: Operand) -> Operand | None:
        """Two values with a sign between them; None where they are tensors."""
        first, second, span = self.of(left[0]), self.of(right[0]), left[1].to(right[1])
        if sign in ("is", "is not"):
            is_same = (isinstance(first, Nothing) and isinstance(second, Nothing)) or left[0] == right[0]
            return self.truth(is_same == (sign == "is"), span)
        if sign in ("in", "not in"):
            return self.truth(self._contains(right, left) == (sign == "in"), span)
        if first is None and second is None:
            return None
        if not {type(first), type(second)} - {Sizes, Listed} and sign in ("+", "==", "!="):
            found = self._sizes_operated(sign, left, right)
            if found is not None:
                return found
        is_list = isinstance(first, Listed) and isinstance(second, Listed) and "tensor" not in (first.kind, second.kind)
        if sign == "+" and is_list:
            return self.new_list([*first.items, *second.items], span, first.kind)
        if sign == "*" and isinstance(first, Listed) and first.kind != "tensor" and right[0].is_Integer:
            times = min(int(right[0]), MOST_ITEMS)
            return self.new_list(first.items[:MOST_ITEMS] * max(times, 0), span, first.kind)
        if sign in ("==", "!=") and (isinstance(first, Text | Nothing) or isinstance(second, Text | Nothing)):
            return self.truth((first == second) == (sign == "=="), span)
        return None

    def _sizes_operated(self, sign: str, left: Operand, right: Operand) -> Operand | None:
        """`x.shape + (2,)`, `x.shape == y.shape`; None where neither is a shape."""
        if not any(isinstance(self.of(atom), Sizes) for atom, _ in (left, right)):
            return None
        span = left[1].to(right[1])
        first, second = self.parts(*left), self.parts(*right)
        if sign == "+":
            return self.new_list([*first, *second], span, "tuple")
        is_same = [self.constants.whole(*one) for one in first] == [self.constants.whole(*one) for one in second]
        return self.truth(is_same == (sign == "=="), span)

    def _contains(self, values: Operand, item: Operand) -> bool:
        value = self.of(item[0])
        if isinstance(within := self.of(values[0]), Text) and isinstance(value, Text):
            return value.text in within.text
        found = self.parts(*values)
        return any(a == item[0] or (value is not None and self.of(a) == value) for a, _ in found)

    # -- members

    def member(self, operand: Operand, member: nodes.Member) -> Operand | None:
        """A method of a list, or the sizes of a tensor; None where the language knows better."""
        (atom, start), name = operand, member.name.text
        value, span = self.of(atom), start.to(member.span)
        given = member.arguments
        if isinstance(value, Listed) and value.kind != "tensor" and given is not None:
            return self._of_list(value, name, given, span)
        if isinstance(value, Opaque):
            require_no_draw(self.source, member.span)
            return (self.new(Opaque(f"{value.shown}.{name}")), span)
        if value is not None and not isinstance(value, Listed):
            return None
        if name in ("dim", "ndimension") and given is not None and not given.items:
            rank = self.rank(self.tensor(atom, span))
            return sympy.Integer(1 if rank is None else rank), span
        if name == "ndim" and given is None:
            rank = self.rank(self.tensor(atom, span))
            return sympy.Integer(1 if rank is None else rank), span
        is_shape = (name == "shape" and given is None) or (name == "size" and given is not None and not given.items)
        return (self.new(Sizes(self.tensor(atom, span))), span) if is_shape else None

    def _of_list(self, value: Listed, name: str, given: nodes.Arguments, span: Span) -> Operand | None:
        """`values.append(x)` and the like."""
        items = [self.lower(one.value) for one in given.items]
        if name in ("append", "extend", "insert", "pop", "reverse"):
            self.require_changeable(value, span)
        match name, items:
            case (("append" | "extend" | "insert" | "pop" | "reverse"), _) if value.kind == "tuple":
                raise self.source.error(f"'.{name}' of a tuple is not read", span)
            case "append", [item]:
                value.items.append(item)
            case "extend", [(atom, where)]:
                value.items += self.parts(atom, where)
            case "insert", [(place, where), item]:
                value.items.insert(self.constants.whole(place, where), item)
            case "pop", []:
                return self._popped(value, -1, span)
            case "pop", [(place, where)]:
                return self._popped(value, self.constants.whole(place, where), span)
            case "reverse", []:
                value.items.reverse()
            case "copy", []:
                return self.new_list(value.items, span, value.kind)
            case _:
                return None
        if len(value.items) > MOST_ITEMS:
            raise self.source.error(f"a list of more than {MOST_ITEMS:,} elements", span, kind=TooLargeError)
        return self.nothing(span)

    def require_changeable(self, value: Listed | Dictionary, span: Span) -> None:
        """Refuse a change that a branch makes which depends on values: in the other one there is none.

        Raises:
            LanguageError: The value is from before the branch.
        """
        if id(value) in self.fixed:
            message = "a list or dict is changed in a branch that depends on the values of a tensor"
            raise self.source.error(message, span, hint="write where(c, a, b) for what is put into it")

    def keys(self, value: Dictionary, span: Span) -> list[Operand]:
        """The keys of a dict as values."""
        return [
            (sympy.Integer(key), span)
            if isinstance(key, int)
            else (self.new(Nothing() if key is None else Text(key)), span)
            for key in value.items
        ]

    def _popped(self, value: Listed, place: int, span: Span) -> Operand:
        if not -len(value.items) <= place < len(value.items):
            raise self._outside(value, span)
        return value.items.pop(place)[0], span

    def _outside(self, value: Listed, span: Span) -> GradcliError:
        count = len(value.items)
        what = "element" if count == 1 else "elements"
        return self.source.error(f"this {value.kind} has {count} {what}, counted from 0", span)

    # -- indices

    def indexed(self, operand: Operand, subscript: nodes.Subscript) -> Operand | None:
        """An element or a part of a list; None of a tensor."""
        atom, start = operand
        value, span = self.of(atom), start.to(subscript.span)
        if value is None:
            return None
        if not isinstance(value, Listed | Sizes):
            raise self.source.error(f"{self.shown(value)} has no elements", span)
        if len(subscript.items) > 1:
            return self.lines.emit("index", [self.tensor(atom, span)], span, (self.key(subscript),))
        place = self.constants.item(subscript.items[0])
        if isinstance(value, Sizes) and isinstance(place, int):
            return self.lines.emit("count", [value.of], span, (place,))
        listed = value if isinstance(value, Listed) else Listed(self.parts(atom, span), "tuple")
        if isinstance(place, Slice):
            part = listed.items[place.start : place.stop : place.step]
            return self.new_list(part, span, listed.kind)
        if not isinstance(place, int):
            key: Any = (place,)
            return self.lines.emit("index", [self.tensor(atom, span)], span, (key,))
        if not -len(listed.items) <= place < len(listed.items):
            if self.scope.needs_shapes and listed.items:
                return listed.items[0][0], span
            raise self._outside(listed, span)
        return listed.items[place][0], span

    def key(self, subscript: nodes.Subscript) -> Any:
        """The items of an index, which are constants."""
        return tuple(self.constants.item(bound) for bound in subscript.items)

    def items(self, atom: Atom, subscript: nodes.Subscript) -> list[Any] | None:
        """The items of an index, tensors among them; None of what is no tensor, and of shapes that are not known."""
        value = self.of(atom)
        is_tensor = value is None or (isinstance(value, Listed) and value.kind == "tensor")
        return self.lowering.items(subscript) if is_tensor else None

    def stored(self, atom: Atom, subscript: nodes.Subscript, change: Callable[[Atom], Atom], span: Span) -> Atom:
        """What a value is behind `y[key] = ...`, as `put`."""
        return self.put(atom, self.key(subscript), change, span)

    def put(self, atom: Atom, key: tuple[Any, ...], change: Callable[[Atom], Atom], span: Span) -> Atom:
        """What a value is behind `y[key] = ...`: itself if it is a list, else another tensor.

        Args:
            atom: The value before.
            key: Which of its elements.
            change: Gives what takes the place of an element, or of a part.
            span: Of the assignment.
        """
        value = self.of(atom)
        if isinstance(value, Listed) and value.kind == "list" and id(value) not in self.fixed:
            self._fill(value, key, change, span)
            return atom
        cells = self._cells(atom, len(key), span)
        if cells is None:
            return atom
        self._fill(cells, key, change, span)
        return self.new(cells)

    def _cells(self, atom: Atom, depth: int, span: Span) -> Listed | None:
        """A tensor as a list of its elements, and so on for as many dimensions; None while its shape is not known."""
        value = self.of(atom)
        if isinstance(value, Listed):
            items = value.items
        else:
            shape = self.shape(atom)
            if shape is None:
                return None
            items = self.parts(atom, span)
        if depth > 1:
            deeper = [self._cells(a, depth - 1, s) for a, s in items]
            items = [(a, s) if c is None else (self.new(c), s) for c, (a, s) in zip(deeper, items, strict=True)]
        return Listed(list(items), "tensor")

    def _fill(self, cells: Listed, key: tuple[Any, ...], change: Callable[[Atom], Atom], span: Span) -> None:
        """Put values into the cells that a key says."""
        place, rest = key[0], key[1:]
        if isinstance(place, int):
            if not -len(cells.items) <= place < len(cells.items):
                raise self._outside(Listed(cells.items, "tensor" if cells.kind == "tensor" else "list"), span)
            self._fill_one(cells, place, rest, change, span)
            return
        if place == "..." or isinstance(place, Slice):
            places = range(len(cells.items))[place.start : place.stop : place.step] if isinstance(place, Slice) else ()
            if place == "...":
                raise self.source.error("'...' among assigned indices is not read", span)
            before = self.new_list([cells.items[n] for n in places], span, "tensor")[0]
            whole = change(before) if not rest else None
            parts = self._spread(whole, len(places), span) if whole is not None else []
            for n, position in enumerate(places):
                if whole is not None:
                    cells.items[position] = parts[n], span
                else:
                    self._fill_one(cells, position, rest, self._one_of(change, n, len(places), span), span)
            return
        raise self.source.error("this index is not assigned to", span, hint="write y[0] = ..., or y[1:] = ...")

    def _fill_one(
        self, cells: Listed, place: int, rest: tuple[Any, ...], change: Callable[[Atom], Atom], span: Span
    ) -> None:
        atom, _ = cells.items[place]
        if not rest:
            cells.items[place] = change(atom), span
            return
        deeper = self._cells(atom, len(rest), span)
        if deeper is not None:
            self._fill(deeper, rest, change, span)
            cells.items[place] = self.new(deeper), span

    def _one_of(self, change: Callable[[Atom], Atom], n: int, count: int, span: Span) -> Callable[[Atom], Atom]:
        """What takes the place of the n-th of several elements."""

        def one(before: Atom) -> Atom:
            return self._spread(change(before), count, span)[n]

        return one

    def _spread(self, atom: Atom, count: int, span: Span) -> list[Atom]:
        """A value for each of several cells: its elements, or itself for each."""
        value = self.of(atom)
        shape = self.shape(self.tensor(atom, span)) if value is None else None
        if isinstance(value, Listed) or shape:
            found = [a for a, _ in self.parts(atom, span)]
            if len(found) == count:
                return found
            if len(found) != 1:
                raise self.source.error(f"{len(found)} values for {count} elements", span)
            return found * count
        return [atom] * count

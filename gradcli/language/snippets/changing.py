"""Changes in place: elements that masks and tensors of positions name, and methods that end with an underscore.

y[y < 0] = 0            where(y < 0, 0, y)
y[[2, 0]] += 1          other elements at two places
y[0].mul_(3).add_(x)    y.mul(3).add(x) for the first element, in the memory of y
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradcli.errors import ShapeError, Span, TooLargeError
from gradcli.language import ops
from gradcli.language.lower.programs import Lowering
from gradcli.language.lower.scope import Listed, Operand
from gradcli.language.lower.written.given import sizes
from gradcli.language.lower.written.scattering import Places, merged, put
from gradcli.language.ops import Kind
from gradcli.language.program.movement import broadcast
from gradcli.language.program.wengert import Atom, Line, Program, Shape, show
from gradcli.language.snippets.python_values import Objects
from gradcli.language.snippets.sharing import FILLING, Sharing, changed_by_method, is_change
from gradcli.language.text import nodes
from gradcli.language.text.tokens import Token

_EVERYWHERE = frozenset("+ - *".split())
"""Signs that may be computed of elements too that are not changed."""


_VIEWS = frozenset("index transpose permute squeeze unsqueeze reshape".split())
"""Operations that are views of what they are given, in that order of its elements."""

_MAYBE_COPIES = frozenset("reshape flatten ravel contiguous detach numpy".split())
"""What is a view or a copy by how the elements lie in memory, or has no derivative."""


MOST_PLACED = 2**20
"""Elements of a tensor of which some take the place of others."""


@dataclass(frozen=True)
class Change:
    """What takes the place of a value, or of a part of it.

    Attributes:
        by: Gives it for the value before.
        operand: What stands behind the sign.
        sign: That of an assignment in place; empty of another.
    """

    by: Callable[[Atom], Atom]
    operand: Operand
    sign: str = ""

    def __call__(self, before: Atom) -> Atom:
        """What is there then."""
        return self.by(before)


class Changes:
    """Changes tensors in place.

    Attributes:
        set_numbers: Gives a variable that has numbers others, as `x.data.fill_(1)` does.
    """

    def __init__(self, lowering: Lowering, objects: Objects, sharing: Sharing) -> None:
        self.lowering, self.objects, self.sharing = lowering, objects, sharing
        self.source, self.scope, self.lines = lowering.source, lowering.scope, lowering.lines
        self.sizes, self.writing = lowering.sizes, lowering.writing
        self._mark = 0
        self.set_numbers: Callable[[Atom, Atom, Span], None] | None = None

    def sets(self, atom: Atom, after: Atom, span: Span) -> bool:
        """Give a variable other numbers where it may be changed, in a block without gradients."""
        if self.set_numbers is None or self.sharing.constant is None or atom not in self.scope.variables.values():
            return False
        self.set_numbers(atom, after, span)
        return True

    # -- elements that tensors name

    def put(self, atom: Atom, items: Sequence[Any], change: Change, span: Span) -> Atom:
        """What a tensor is behind `y[key] = value` with tensors of positions or masks in the key."""
        x = self.lines.one(atom, span)
        shape = self.sizes.of(x)
        value = self.lines.as_number(*change.operand)
        known = [shape, self.sizes.of(value), *(self.sizes.of(one[0]) for one in items if isinstance(one, tuple))]
        if shape is None or None in known:
            self.scope.needs_shapes = True
            return x
        chosen = self._by_mask(x, items, change, span)
        if chosen is not None:
            return chosen
        found = self.writing.places((x, span), items, span)
        if found is None:
            return x
        is_numpy = self.lowering.libraries.of_method(x) == "numpy"
        if not is_numpy and np.unique(found).size < found.size and not self._is_constant(value, change):
            message = "two of these positions are the same, where torch says neither which value stays nor its gradient"
            raise self.source.error(message, span, hint="write y.index_put((idx,), values, accumulate=True) to add up")
        after = value
        if change.sign:
            before = f"reshape(reshape(x, -1)[{'c' if found.size else ':0'}], {sizes(found.shape)})"
            after = change(self.writing.inlined(before, {"x": x}, span, c=tuple(found.ravel().tolist())))
        return self._placed(x, after, found, span)

    def _is_constant(self, value: Atom, change: Change) -> bool:
        """Whether one number takes the place of all."""
        _, leaves = self.lines.builder.made_of(value)
        is_free = leaves.isdisjoint(self.scope.variables.values())
        return is_free and not change.sign and math.prod(self.sizes.of(value) or ()) == 1

    def _placed(self, x: Atom, value: Atom, found: Places, span: Span) -> Atom:
        """A tensor with other elements at places of its flattened elements."""
        shape, given = self.sizes.of(x), self.sizes.of(value)
        if shape is None or given is None:
            self.scope.needs_shapes = True
            return x
        if math.prod(shape) > MOST_PLACED:
            message = f"positions are changed in tensors of at most {MOST_PLACED:,} elements"
            raise self.source.error(message, span, kind=TooLargeError)
        cut = given[len(given) - found.ndim :] if len(given) > found.ndim else given
        if math.prod(cut) != math.prod(given) or not _fits(cut, found.shape):
            raise self.source.error(f"a value of shape {show(given)} for elements of shape {show(found.shape)}", span)
        source = f"expand(reshape(v, {sizes(cut)}), {sizes(found.shape)})"
        text = put("x", shape, source, found, chosen="c")
        return self.writing.inlined(text, {"x": x, "v": value}, span, c=tuple(merged(shape, found)))

    def _by_mask(self, x: Atom, items: Sequence[Any], change: Change, span: Span) -> Atom | None:
        """The same by a mask that is all of the index, for a value that does not depend on how many it takes."""
        if len(items) != 1 or items[0][0] not in self.lines.conditions or change.sign not in (*_EVERYWHERE, ""):
            return None
        mask, where = items[0]
        value = self.lines.as_number(*change.operand)
        shape, given, of_mask = self.sizes.of(x) or (), self.sizes.of(value) or (), self.sizes.of(mask) or ()
        if not of_mask or of_mask != shape[: len(of_mask)]:
            message = f"a mask of shape {show(of_mask)} does not fit the shape {show(shape)}"
            raise self.source.error(message, where)
        rest = shape[len(of_mask) :]
        if math.prod(given) == 1 and len(given) > len(rest):
            value, given = self.lines.emit("reshape", [value], span, ((),))[0], ()
        if len(given) > len(rest) or not _fits(given, rest):
            return None
        whole = self.lines.emit("reshape", [mask], where, ((*of_mask, *(1 for _ in rest)),))[0] if rest else mask
        other = self.lines.emit(ops.SIGNS[change.sign], [x, value], span)[0] if change.sign else value
        return self.lines.emit("where", [whole, other, x], span)[0]

    # -- methods

    def settle(self, node: nodes.Node) -> None:
        """Put what a statement changes by a method in one piece, where its elements were assigned one by one."""
        for name in changed_by_method(node):
            held = self.sharing.holder_of(name)
            if held is not None and isinstance(value := self.objects.of(held.atom), Listed) and value.kind == "tensor":
                whole = self.objects.tensor(held.atom, node.span)
                held.put(whole)
                self.sharing.keep_in(held, whole)

    def method(self, operand: Operand, member: nodes.Member) -> Operand:
        """`y.mul_(2)`, which gives y as it is then."""
        atom, span = operand[0], operand[1].to(member.span)
        given = atom if atom not in self.scope.objects else self.objects.tensor(atom, span)
        self._mark = len(self.lines.builder.lines)
        after = self._computed((given, operand[1]), member, span)
        line = self.lines.builder.line_of(after)
        if line is not None and line.call.op.kind is Kind.ELEMENTWISE and self.lines.builder.lines[-1] is line:
            self._mark = len(self.lines.builder.lines) - 1  # behind its arguments
        shape, found = self.sizes.of(given), self.sizes.of(after)
        if shape is None or found is None:
            self.scope.needs_shapes = True
        elif shape != found:
            name = member.name.text
            message = f"'.{name}' gives the shape {show(found)} in place of {show(shape)}, which torch refuses"
            raise self.source.error(message, span)
        return self.replaced(atom, after, operand[1], member.name.text, span), span

    def function(self, name: Token, arguments: nodes.Arguments, span: Span) -> Operand | None:
        """`torch.relu_(y)` and `F.relu(y, inplace=True)`; None of a function that changes nothing."""
        flags = [one for one in arguments.items if one.name is not None and one.name.text == "inplace"]
        items = [one for one in arguments.items if one not in flags]
        first = next(iter(items), None)
        if (
            first is None
            or (first.name is not None and first.name.text != "input")
            or not (flags or name.text.endswith("_"))
        ):
            return None
        is_changing = name.text.endswith("_") or self.lowering.constants.truth(flags[0].value) is not False
        token = replace(name, text=name.text.rstrip("_") + "_")
        member = nodes.Member(span, name, token, replace(arguments, items=tuple(items[1:])))
        if not is_change(member):
            return None
        operand = self.lowering.lower(first.value)
        return self.method(operand, member) if is_changing else (self._computed(operand, member, span), span)

    def _computed(self, operand: Operand, member: nodes.Member, span: Span) -> Atom:
        """What the method without an underscore gives."""
        name, arguments = member.name, member.arguments
        if arguments is None or name.text not in FILLING:
            token = replace(name, text=name.text[:-1])
            found = self.lowering.calls.member(operand, replace(member, name=token))[0]
            return self.lines.as_number(found, span)
        takes = () if name.text == "zero_" else ("value",) if name.text == "fill_" else ("src",)
        values = [one for one in arguments.items if one.name is None or one.name.text in takes]
        if len(values) != len(takes) or (len(arguments.items) > len(takes) and name.text != "copy_"):
            raise self.source.error(f"'.{name.text}' takes {', '.join(takes) or 'no argument'}", span)
        shape = self.sizes.of(operand[0])
        held = {"v": self.lines.as_number(*self.lowering.lower(values[0].value))} if takes else {}
        for one in (*(one.fault for one in arguments.items), arguments.unclosed):
            if one is not None:
                raise one
        if shape is None or (held and self.sizes.of(held["v"]) is None):
            self.scope.needs_shapes = True
            return operand[0]
        size = self.sizes.of(held["v"]) or () if held else ()
        if not _fits(size, shape) or (name.text == "fill_" and size):
            raise self.source.error(f"'.{name.text}' of a tensor of shape {show(shape)} by one of {show(size)}", span)
        if held:
            self.sharing.borrowed.add(held["v"])
        text = "v" if held and size == shape else f"expand({FILLING[name.text]}, {sizes(shape)})"
        return self.writing.inlined(text, held, span)

    def replaced(self, before: Atom, after: Atom, where: Span, shown: str, span: Span) -> Atom:
        """What has a value has another from here on; what is no more than a view is put into what it is a view of.

        Raises:
            LanguageError: It is a variable, or something else shares its memory.
        """
        first = self.source.excerpt(where).partition(".")[0].partition("[")[0]
        leading = self.sharing.holder_of(first)
        own = leading if leading is not None and leading.atom == before else None
        if self.sets(before, after, span):
            return before
        if before in self.scope.variables.values() and (own is None or not self.sharing.is_copy(own)):
            message = f"'.{shown}' changes a variable in place, which torch refuses where it has a gradient"
            hint = f"write y = x.{shown.rstrip('_')}(...), or x.data.{shown}(...) to give it other numbers"
            raise self.source.error(message, span, hint=hint)
        if own is None:
            exact = [one for one in self.sharing.holders() if one.atom == before]
            own = exact[0] if len(exact) == 1 else None
        base = self.sharing.base(before)
        if own is None and before in self.sharing.copies:
            message = f"'.{shown}' changes elements at positions, which are a copy that nothing else sees"
            raise self.source.error(message, span, hint="write y[...] = ... for the elements of y")
        if own is None and base != before:
            return self._through(before, base, after, where, shown, span)
        self.sharing.require_history(before, span)
        other = self.sharing.sharer(before, own, own, within=True)
        if other is not None:
            message = (
                f"'.{shown}' changes '{self.source.excerpt(where)}' in place, and '{other.shown}' shares its memory"
            )
            raise self.source.error(message, span, hint=f"write {first} = {first}.clone() before")
        self.sharing.made.add(after)
        for one in self.objects.wholes.get(before, [before]):
            self.sharing.note(one, own, self._mark, span)
        if own is not None:
            own.put(after)
            self.sharing.keep_in(own, after)
        return after

    def _through(self, view: Atom, base: Atom, after: Atom, where: Span, shown: str, span: Span) -> Atom:
        """`y[0].fill_(3)`: the elements of y that a view of it has are others."""
        shape = self.sizes.of(base)
        if shape is None:
            self.scope.needs_shapes = True
            return after
        lines, _ = self.lines.builder.made_of(view, known=(base,))
        if base in self.scope.variables.values() and any(line.call.op.name == "detach" for line in lines):
            return self._through_data(view, base, lines, after, span)
        words = {token.text for token in self.source.within(where)}
        if not words.isdisjoint(_MAYBE_COPIES) or any(line.call.op.name not in _VIEWS for line in lines):
            message = f"'.{shown}' changes '{self.source.excerpt(where)}' in place, which may be a copy"
            raise self.source.error(message, span, hint="write y[0] = ..., or .view(...) of a name")
        program, found = self._seen(view, base, shape, lines, span)
        whole = self._placed(base, after, found, span)
        self.replaced(base, whole, where, shown, span)
        return self.lines.builder.inline(replace(program, variables=(base,)), [whole], span)

    def _seen(self, view: Atom, base: Atom, shape: Shape, lines: Sequence[Line], span: Span) -> tuple[Program, Places]:
        """A view as a function of the tensor, and which of its flattened elements the view has."""
        numbered = np.arange(math.prod(shape), dtype=np.float64).reshape(shape)
        program = Program(self.source.text, (), tuple(lines), view, self.source.name)
        found = self.lowering.constants.evaluation.run(program, {base: numbered}).astype(np.intp)
        if np.unique(found).size < found.size:
            raise self.source.error("this view has an element more than once, which torch refuses to change", span)
        return program, found

    def _through_data(self, view: Atom, base: Atom, lines: Sequence[Line], after: Atom, span: Span) -> Atom:
        """`x.data[0].fill_(3)`: the variable has other numbers from here on."""
        if self.set_numbers is None or any(line.call.op.name not in (*_VIEWS, "detach") for line in lines):
            raise self.source.error("what is behind '.data' is not changed here", span, hint="write x.data = ...")
        program, found = self._seen(view, base, self.sizes.of(base) or (), lines, span)
        self.set_numbers(base, self._placed(base, after, found, span), span)
        return self.lines.builder.inline(replace(program, variables=(base,)), [base], span)


def _fits(shape: Shape, whole: Shape) -> bool:
    """Whether a shape broadcasts to another one."""
    try:
        return broadcast([shape, whole]) == whole
    except ShapeError:
        return False

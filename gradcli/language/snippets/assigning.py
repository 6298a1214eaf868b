"""What takes a value: names, several of them, elements of lists and tensors, members; and assignments in place."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Sequence
from typing import Any

import sympy

from gradcli.errors import Span
from gradcli.language import ops
from gradcli.language.lower.programs import Lowering
from gradcli.language.lower.scope import Hooks, Listed, Operand, Scope
from gradcli.language.parsing import EVALUATION
from gradcli.language.program.wengert import Atom
from gradcli.language.snippets.changing import Change, Changes
from gradcli.language.snippets.python_values import Objects, Opaque
from gradcli.language.snippets.sharing import Sharing
from gradcli.language.text import nodes
from gradcli.language.text.source import Source, require_sound


class Targets(Hooks):
    """Gives values to what stands before a sign of assignment.

    Attributes:
        output: The value of the last statement that has one.
    """

    def __init__(self, source: Source, scope: Scope, *, shares: bool) -> None:
        self.source, self.scope = source, scope
        scope.names = ChainMap(scope.names)
        self.lowering = lowering = Lowering(source, scope, EVALUATION, self, shares=shares)
        self.builder = lowering.lines.builder
        self.objects = Objects(lowering)
        self.sharing = Sharing(lowering)
        self.changes = Changes(lowering, self.objects, self.sharing)
        self.output: Operand | None = None

    @property
    def is_inside(self) -> bool:
        """Whether a function is being run."""
        return False

    def name_is(self, name: str, operand: Operand, node: nodes.Node) -> None:
        """A name takes a value; the last is the output."""
        self.sharing.own(name, operand[0], node)
        if self.is_inside:
            self.scope.names[name] = operand[0]
            return
        if operand[0] in self.scope.objects:
            self.name_object(name, operand[0])
            if not isinstance(self.scope.objects[operand[0]], Listed):
                return
        else:
            self.lowering.assign(name, operand[0], node)
        self.scope.last_name = name
        self.output = operand

    def name_object(self, name: str, atom: Atom) -> None:
        """A name takes a value that is no tensor."""
        self.scope.names[name] = atom

    def bind(self, target: nodes.Node, operand: Operand, node: nodes.Node | None = None) -> None:
        """A target takes a value.

        Raises:
            LanguageError: It is nothing that can.
        """
        match target:
            case nodes.Name(arguments=None):
                self.name_is(target.token.text, operand, node or target)
            case nodes.Items(items=items):
                self._unpack(items, operand)
            case nodes.Group(inner=inner):
                self.bind(inner, operand, node)
            case nodes.Broken(error=error):
                raise error
            case nodes.Postfix(trailers=[*_, nodes.Subscript() | nodes.Member()]):
                self._store(target, Change(lambda _: operand[0], operand), operand[1])
            case _:
                message, hint = "this cannot be assigned to", "write NAME = expression"
                raise self.source.error(message, target.span, hint=hint)

    def _unpack(self, targets: Sequence[nodes.Node], operand: Operand) -> None:
        """As many targets as a value has parts, of which one may take the rest."""
        starred = [n for n, target in enumerate(targets) if isinstance(target, nodes.Starred)]
        parts = self.parts(operand, None if starred else len(targets))
        if self.lowering.calls.is_pair and len(targets) == 2:
            positions = self.objects.new(Opaque("the positions of an extreme"))
            parts = [operand, (positions, operand[1])]
        if len(starred) > 1 or (len(parts) != len(targets) if not starred else len(parts) < len(targets) - 1):
            span = targets[0].span.to(targets[-1].span)
            raise self.source.error(f"{len(targets)} names for {self.kind_of(operand[0])} of {len(parts)}", span)
        if starred:
            start = starred[0]
            stop = len(parts) - (len(targets) - 1 - start)
            middle = self.objects.new_list(parts[start:stop], operand[1])
            parts = [*parts[:start], middle, *parts[stop:]]
        for target, (part, _) in zip(targets, parts, strict=True):
            self.bind(target.value if isinstance(target, nodes.Starred) else target, (part, operand[1]))

    def kind_of(self, atom: Atom) -> str:
        """What a value with parts is called in a message."""
        value = self.scope.objects.get(atom)
        return f"a {value.kind}" if isinstance(value, Listed) else "a tuple" if value is not None else "a tensor"

    def parts(self, operand: Operand, count: int | None = None) -> list[Operand]:
        """What a value is made of."""
        return self.objects.parts(*operand, count)

    def _in_place(self, line: nodes.Assignment) -> None:
        """`y += 1`, and the same of an element."""
        target, sign = line.targets[0], line.sign.text[:-1]
        operand = self.lowering.lower(line.value)

        def change(before: Atom) -> Atom:
            span = target.span.to(line.value.span)
            found = self.operated(sign, (before, target.span), operand)
            return self._combined(sign, before, operand, span) if found is None else found[0]

        if not isinstance(target, nodes.Name) or target.arguments is not None:
            self._store(target, Change(change, operand, sign), line.span)
            return
        name, before = target.token.text, self.lowering.lower(target)[0]
        if self._may_set(before):
            self.changes.sets(before, change(before), line.span)
            return
        self.sharing.require_own(before, target, line.sign)
        self.require_kind(target, before, Change(change, operand, sign))
        held = self.sharing.holder_of(name)
        self.sharing.note(before, held, len(self.builder.lines), line.span)
        after = change(before)
        self.name_is(name, (after, line.span), line.value)
        if isinstance(before, sympy.Symbol):
            self.sharing.keep(name, after, held)

    def _combined(self, sign: str, before: Atom, operand: Operand, span: Span) -> Atom:
        return self.lowering.lines.emit(ops.SIGNS[sign], [before, operand[0]], span)[0]

    def _store(self, target: nodes.Node, change: Change, span: Span) -> None:
        """`y[key] = ...` and `self.name = ...`."""
        if not isinstance(target, nodes.Postfix):
            self.bind(target, (change(self.lowering.lower(target)[0]), span))
            return
        last, rest = target.trailers[-1], target.trailers[:-1]
        owner: nodes.Node = target.operand
        if rest:
            owner = nodes.Postfix(target.operand.span.to(rest[-1].span), target.operand, rest)
        before, where = self.lowering.lower(owner)
        if isinstance(last, nodes.Member) and last.arguments is None:
            self.set_member((before, where), last, change, span)
            return
        if not isinstance(last, nodes.Subscript):
            raise self.source.error("this cannot be assigned to", target.span)
        require_sound(last.fault)
        items = self.objects.items(before, last)
        if items is not None and self._may_set(before):
            self.changes.sets(before, self.objects.tensor(self._put(before, items, change, span), span), span)
            return
        if items is not None:
            self.sharing.require_own(before, owner, nodes.leading(owner).span, items)
            own = self.sharing.holder_of(owner.token.text) if isinstance(owner, nodes.Name) else None
            for whole in self.objects.wholes.get(before, [before]):
                self.sharing.note(whole, own, len(self.builder.lines), target.span.to(span))
            self.require_kind(owner, before, change)
        after = self.stored(before, last, change, span) if items is None else self._put(before, items, change, span)
        held = self.sharing.holder_of(owner.token.text) if isinstance(owner, nodes.Name) else None
        if after != before:
            self.bind(owner, (after, span))
        if held is not None and items is not None:
            self.sharing.keep(held.shown, after, held)

    def require_kind(self, target: nodes.Node, before: Atom, change: Change) -> None:
        """Refuse what a tensor of whole numbers does not hold."""

    def _may_set(self, atom: Atom) -> bool:
        """Whether it is a variable in a block without gradients, which has other numbers behind it."""
        return self.sharing.constant is not None and atom in self.scope.variables.values()

    def _put(self, before: Atom, items: Sequence[Any], change: Change, span: Span) -> Atom:
        """What a tensor is behind `y[key] = ...`."""
        if any(isinstance(item, tuple) for item in items):
            return self.changes.put(before, items, change, span)
        return self.objects.put(before, tuple(items), change, span)

    def stored(self, atom: Atom, subscript: nodes.Subscript, change: Callable[[Atom], Atom], span: Span) -> Atom:
        """What a value is behind `values[key] = ...`."""
        return self.objects.stored(atom, subscript, change, span)

    def set_member(self, owner: Operand, member: nodes.Member, change: Callable[[Atom], Atom], span: Span) -> None:
        """`self.name = ...`.

        Raises:
            LanguageError: Nothing has such members.
        """
        raise self.source.error(f"'.{member.name.text}' cannot be set here", member.span)

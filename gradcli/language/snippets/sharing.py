"""What may be changed in place, a tensor that no other name shares memory with; and the names that a text changes.

Operations that compute the same are one line, so that a value does not tell whose memory it is: a name has memory of
its own where an operation gave it, and that of another name where it is an alias or a view of it.
"""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy

from gradcli.errors import GradcliError, Span, TooLargeError
from gradcli.language import ops
from gradcli.language.lower.programs import Lowering
from gradcli.language.lower.scope import Dictionary, Listed
from gradcli.language.lower.written.scattering import places
from gradcli.language.ops import Kind
from gradcli.language.program.wengert import Atom, Shape
from gradcli.language.text import nodes
from gradcli.language.text.tokens import Token

_COPYING = frozenset("clone copy array tensor item tolist float int".split())
"""What gives a tensor of its own, or a number."""

_HANDED_ON = frozenset(
    "positive detach einsum dropout dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout chunk split "
    "tensor_split hsplit vsplit dsplit unbind meshgrid broadcast_tensors atleast_1d atleast_2d atleast_3d movedim "
    "narrow select slice expand_as reshape_as sum_to_size permute_axes flip_axes fliplr flipud rot90 unflatten "
    "as_strided repeat tile multi_dot average".split()
)
"""Operations that may give what they are given, or a view of it; those that move elements do, too."""

FILLING: Mapping[str, str] = {"zero_": "0", "fill_": "v", "copy_": "v"}
"""Methods that keep nothing of their tensor, and what they put there."""

_MODULES = frozenset("torch F nn".split())
"""Whose functions may change what they are given first."""

_PUTTING = frozenset("masked_fill index_add index_copy index_fill index_put scatter scatter_add masked_scatter".split())

_CHANGING = frozenset([Kind.ELEMENTWISE, Kind.SCAN, Kind.DEFINED])
"""Operations that give a tensor of the same shape."""

_MOST_COMPARED = 100_000
"""Elements of a tensor of which two parts are compared."""

_MOST_VISITED = 2_000_000
"""Values that are looked at, in all changes of a text."""


@dataclass(frozen=True)
class Holder:
    """What has a value: a name, or a place in a list, a dict or an instance.

    Attributes:
        shown: The name that leads there.
        atom: The value.
        put: Gives it another.
        slot: Which name or place it is.
        memory: Whose memory it is; None where that is not known.
        part: The part of that memory, as the shape of the whole and an index; None for all of it.
        is_name: Whether it is a name.
    """

    shown: str
    atom: Atom
    put: Callable[[Atom], None]
    slot: tuple[int, object]
    memory: object = None
    part: tuple[Shape, tuple[Any, ...]] | None = None
    is_name: bool = False


class Sharing:
    """Knows which names stand for one tensor, and which for a view of another.

    Attributes:
        frames: The names of the functions that wait for the one that is being read.
        copies: Elements at positions, which are no view.
        made: What changes in place gave.
        borrowed: Those among them that have the value of something else.
        changes: The results that were changed in place, with how many lines there were before, and where.
        constant: In a block without gradients, what had a value before it; None outside.
    """

    def __init__(self, lowering: Lowering) -> None:
        self.lowering = lowering
        self.source, self.scope, self.builder = lowering.source, lowering.scope, lowering.lines.builder
        self.copies, self.made = lowering.writing.copies, set[Atom]()
        self.borrowed: set[Atom] = set()
        self.constant: frozenset[Atom] | None = None
        self.frames: list[MutableMapping[str, Atom]] = []
        self._memory: dict[tuple[int, str], tuple[Atom, object, tuple[Shape, tuple[Any, ...]] | None]] = {}
        self._visited = 0
        self.changes: list[tuple[Atom, int, Span]] = []

    # -- what may be changed

    def require_own(self, atom: Atom, target: nodes.Node, sign: Token | Span, key: Sequence[Any] | None = None) -> None:
        """Refuse to change what other names see too.

        Args:
            atom: The tensor.
            target: What it is called.
            sign: What changes it, or the range of the text that does.
            key: Which of its elements alone are changed.

        Raises:
            LanguageError: It is a variable, or another name shares its memory.
        """
        if not isinstance(atom, sympy.Symbol):
            return
        span = target.span.to(sign.span if isinstance(sign, Token) else sign)
        name = self.source.excerpt(nodes.leading(target).span)
        leading = self.holder_of(name)
        own = leading if isinstance(target, nodes.Name) else None
        shown = sign.text if isinstance(sign, Token) else "an element"
        if atom in self.scope.variables.values() and (own is None or not self.is_copy(own)):
            message = f"'{shown}' changes the variable '{name}' in place, which torch refuses where it has a gradient"
            hint = (
                f"write {name} = {name} {shown[:-1]} ..."
                if isinstance(sign, Token)
                else f"write {name} = {name}.clone()"
            )
            raise self.source.error(message, span, hint=hint)
        self.require_history(atom, span)
        if (other := self.sharer(atom, own, leading, key)) is not None:
            message = f"'{shown}' changes '{name}' in place, and '{other.shown}' shares its memory"
            raise self.source.error(message, span, hint=f"write {name} = {name}.clone() before")

    def require_history(self, atom: Atom, span: Span) -> None:
        """Refuse to change a result in a block without gradients, as torch keeps its derivative then.

        Raises:
            LanguageError: It was computed before the block.
        """
        if self.constant is None or atom not in self.constant:
            return
        _, leaves = self.builder.made_of(atom, stop=lambda call: call.op.is_detached)
        if not leaves.isdisjoint(self.scope.variables.values()):
            message = "this changes a result without its derivative, which stays what it was"
            raise self.source.error(message, span, hint="compute it anew, or leave torch.no_grad() out")

    def note(self, atom: Atom, own: Holder | None, mark: int, span: Span) -> None:
        """Note that a result is changed; a copy has the value of what it is a copy of, which is not."""
        is_copy = own is not None and isinstance(own.memory, _Copy) and own.memory.of == atom
        if isinstance(atom, sympy.Symbol) and not is_copy and atom not in self.borrowed:
            self.changes.append((atom, mark, span))

    def is_copy(self, own: Holder) -> bool:
        """Whether what stands for a variable has its numbers in memory of its own."""
        return own.memory is not None and own.memory != own.atom

    def sharer(
        self,
        atom: Atom,
        own: Holder | None,
        leading: Holder | None,
        key: Sequence[Any] | None = None,
        *,
        within: bool = False,
    ) -> Holder | None:
        """What shares the memory of a tensor, other than what it is called.

        Args:
            atom: The tensor.
            own: What has it; None of a part of a list, whose other parts are not looked at.
            leading: The name that leads to it.
            key: Which of its elements alone are changed.
            within: Whether places in lists are looked at in any case.
        """
        base, memory = self.base(atom), own.memory if own is not None else None
        skipped = {one.slot for one in (own, leading) if one is not None}
        for holder in self.holders():
            if holder.slot in skipped or (own is None and not holder.is_name and not within):
                continue
            is_same = memory is not None and memory == holder.memory
            if is_same and key is not None and holder.part is not None and self._is_apart(holder.part, key):
                continue
            is_open = memory is None or holder.memory is None
            if is_same or (is_open and self.base(holder.atom) == base):
                return holder
        return None

    def _is_apart(self, part: tuple[Shape, tuple[Any, ...]], key: Sequence[Any]) -> bool:
        """Whether two indices of a tensor name no element in common."""
        shape, other = part
        if math.prod(shape) > _MOST_COMPARED or any(isinstance(one, tuple) for one in key):
            return False
        try:
            return set(places(shape, other).ravel().tolist()).isdisjoint(places(shape, key).ravel().tolist())
        except GradcliError:
            return False

    def holders(self) -> Iterator[Holder]:
        """All that has a value now."""
        seen = set[int]()
        waiting: list[tuple[str, Atom]] = []
        for names in self._maps():
            for name, atom in names.items():
                self._count()
                _, memory, part = self._known(names, name, atom)
                yield Holder(name, atom, _setter(names, name), (id(names), name), memory, part, is_name=True)
                waiting.append((name, atom))
        while waiting:
            name, atom = waiting.pop()
            value = self.scope.objects.get(atom)
            if value is None or id(value) in seen or (isinstance(value, Listed) and value.kind == "tensor"):
                continue
            seen.add(id(value))
            for key, one, put in _parts_of(value):
                self._count()
                yield Holder(name, one, put, (id(value), key))
                waiting.append((name, one))

    def _count(self) -> None:
        self._visited += 1
        if self._visited > _MOST_VISITED:
            message = "too much is changed in place among too many values"
            raise self.source.error(message, Span(0, 1), kind=TooLargeError)

    def _maps(self) -> list[MutableMapping[str, Atom]]:
        """The names of all functions that run, each dict once."""
        found: dict[int, MutableMapping[str, Atom]] = {}
        for names in (self.scope.names, *self.frames):
            for one in names.maps if isinstance(names, ChainMap) else [names]:
                found.setdefault(id(one), one)
        return list(found.values())

    def holder_of(self, name: str) -> Holder | None:
        """The name as this place has it."""
        names = self.scope.names
        for one in names.maps if isinstance(names, ChainMap) else [names]:
            if name in one:
                atom, memory, part = self._known(one, name, one[name])
                return Holder(name, atom, _setter(one, name), (id(one), name), memory, part, is_name=True)
        return None

    # -- whose memory it is

    def _known(
        self, names: MutableMapping[str, Atom], name: str, atom: Atom
    ) -> tuple[Atom, object, tuple[Shape, tuple[Any, ...]] | None]:
        found = self._memory.get((id(names), name))
        return found if found is not None and found[0] == atom else (atom, None, None)

    def own(self, name: str, atom: Atom, node: nodes.Node) -> None:
        """Note whose memory a name stands for: its own where an operation computes it, `y = x.clone()`."""
        is_itself = isinstance(node, nodes.Name) and node.token.text == name  # as names of loops have it
        memory, part = (None, None) if is_itself else self._made(node)
        if isinstance(memory, _Copy) and memory.of is None:
            memory.of = atom
        self._memory[id(self._innermost), name] = atom, memory, part

    def keep(self, name: str, atom: Atom, before: Holder | None) -> None:
        """Note that a name has another value in the memory that it had."""
        self.made.add(atom)
        memory = object() if before is None or before.memory is None else before.memory
        self._memory[id(self._innermost), name] = atom, memory, None if before is None else before.part

    def keep_in(self, holder: Holder, atom: Atom) -> None:
        """The same of a name wherever it is."""
        if holder.is_name:
            self._memory[holder.slot[0], holder.shown] = atom, holder.memory or object(), holder.part

    def left(self) -> None:
        """Forget the names of a function that is done."""
        gone = id(self._innermost)
        for known in [known for known in self._memory if known[0] == gone]:
            del self._memory[known]

    @property
    def _innermost(self) -> MutableMapping[str, Atom]:
        names = self.scope.names
        return names.maps[0] if isinstance(names, ChainMap) else names

    def _made(self, node: nodes.Node) -> tuple[object, tuple[Shape, tuple[Any, ...]] | None]:
        """Whose memory an expression gives, and which part of it."""
        match node:
            case nodes.Group(inner=inner):
                return self._made(inner)
            case nodes.Chain() | nodes.Unary() | nodes.Power() | nodes.Number():
                return object(), None
            case nodes.Name(token=token, arguments=None):
                return self._memory_of(token.text)
            case nodes.Name(token=token) if token.text not in self.scope.names:
                return _own_memory(token.text), None
            case nodes.Postfix(
                operand=nodes.Name(token=first), trailers=[*_, nodes.Member(name=last, arguments=given)]
            ):
                is_tensor = first.text not in self.scope.names or self.scope.names[first.text] not in self.scope.objects
                if is_tensor and given is not None and (found := _own_memory(last.text)) is not None:
                    return found, None
                return (self._memory_of(first.text)[0] if is_tensor and given is None else None), None
            case nodes.Postfix(operand=nodes.Name(token=first, arguments=None), trailers=[nodes.Subscript() as one]):
                return self._part(first.text, one)
        return None, None

    def _memory_of(self, name: str) -> tuple[object, tuple[Shape, tuple[Any, ...]] | None]:
        """That of a name; a variable is its own."""
        found = self.holder_of(name)
        if found is None or found.memory is not None:
            return (self.scope.variables.get(name), None) if found is None else (found.memory, found.part)
        return None, None

    def _part(self, name: str, subscript: nodes.Subscript) -> tuple[object, tuple[Shape, tuple[Any, ...]] | None]:
        """`y[0]`, a view of y; elements at positions are copies, and one element of an array is a number."""
        memory, part = self._memory_of(name)
        found = self.holder_of(name)
        atom = self.scope.variables.get(name) if found is None else found.atom
        value = self.scope.objects.get(atom)
        if atom is None or memory is None or part is not None or (isinstance(value, Listed) and value.kind != "tensor"):
            return None, None
        mark = len(self.builder.lines)
        try:
            items = self.lowering.items(subscript)
            shape = self.lowering.sizes.of(self.lowering.lines.one(atom, subscript.span))
        except GradcliError:
            return None, None
        finally:
            self.builder.forget(mark)
        if any(isinstance(item, tuple) for item in items):
            return object(), None
        is_number = shape is not None and len(items) == len(shape) and all(isinstance(item, int) for item in items)
        if is_number and self.lowering.libraries.of_method(atom) == "numpy":
            return object(), None
        return memory, None if shape is None else (shape, tuple(items))

    def base(self, atom: Atom) -> Atom:
        """The tensor that a value is a view of, or itself."""
        while (line := self.builder.line_of(atom)) is not None and not (atom in self.made or atom in self.copies):
            is_view = line.call.op.kind is Kind.MOVEMENT or line.call.op.name == "detach"
            if not is_view or not line.call.operands:
                break
            atom = line.call.operands[0]
        return atom


@dataclass(eq=False)
class _Copy:
    """The memory of a copy of a value."""

    of: Atom | None = None


def _own_memory(name: str) -> object:
    """The memory of what a function gives; None where that is not its own."""
    op = ops.find(name, after_dot=True)
    if name in _COPYING:
        return _Copy()
    return object() if op is not None and op.kind is not Kind.MOVEMENT and op.name not in _HANDED_ON else None


def _setter(values: Any, key: Any) -> Callable[[Atom], None]:
    def put(atom: Atom) -> None:
        values[key] = atom

    return put


def _parts_of(value: object) -> Iterator[tuple[object, Atom, Callable[[Atom], None]]]:
    """What a list, a dict or an instance holds."""
    items: Any = value.items if isinstance(value, Listed | Dictionary) else {}

    def placed(key: Any, span: Span) -> Callable[[Atom], None]:
        def put(atom: Atom) -> None:
            items[key] = atom, span

        return put

    pairs: Any = enumerate(items) if isinstance(value, Listed) else items.items()
    for key, (atom, span) in pairs:
        yield key, atom, placed(key, span)
    attributes: dict[str, Atom] = getattr(value, "attributes", {})
    for name, atom in attributes.items():
        yield name, atom, _setter(attributes, name)


def is_change(member: nodes.Member) -> bool:
    """Whether a method changes its tensor in place, and is read so."""
    name = member.name.text
    if member.arguments is None or not name.endswith("_"):
        return False
    op = ops.find(name[:-1], after_dot=True)
    return name in FILLING or (op is not None and (op.kind in _CHANGING or op.name in _PUTTING))


def changed_names(lines: Sequence[nodes.Line]) -> frozenset[str]:
    """The names that statements assign more than once, or change the elements of."""
    seen, changed = set[str](), set[str]()
    for line in each_line(lines):
        if isinstance(line, nodes.Assignment):
            changed |= {_named(one) for one in line.targets if line.sign.text != "=" or _is_indexed(one)}
        if isinstance(line, nodes.Statement):
            changed |= changed_by_method(line.value)
        names = assigned_names(line)
        changed |= names & seen
        seen |= names
    return frozenset(changed)


def changes_something(node: nodes.Node) -> bool:
    """Whether a method or a function of an expression changes what it is given."""
    members = node.trailers if isinstance(node, nodes.Postfix) else ()
    return bool(changed_by_method(node)) or any(isinstance(one, nodes.Member) and is_change(one) for one in members)


def changed_by_method(node: nodes.Node) -> set[str]:
    """`y` in `y.mul_(2)` and `F.relu_(y)`, which is no variable then unless it requires a gradient."""
    last = node.trailers[-1] if isinstance(node, nodes.Postfix) else None
    if not isinstance(node, nodes.Postfix) or not isinstance(node.operand, nodes.Name):
        return set()
    members = [one for one in node.trailers if isinstance(one, nodes.Member)]
    if isinstance(last, nodes.Member) and last.arguments is not None and last.arguments.items:
        first, *others = last.arguments.items
        is_function = all(one.arguments is None for one in members[:-1]) and node.operand.token.text in _MODULES
        if is_function and (is_change(last) or any(one.name and one.name.text == "inplace" for one in others)):
            return {_named(first.value)}
    is_own = not members or members[0].name.text not in ("data", "grad", "requires_grad_")
    return {node.operand.token.text} if is_own and any(map(is_change, members)) else set()


def assigned_names(line: nodes.Line) -> set[str]:
    """The names that a statement gives a value."""
    match line:
        case nodes.Statement(targets=targets):
            return {one.text for one in targets}
        case nodes.Assignment(targets=targets):
            return {_named(one) for one in targets if isinstance(one, nodes.Name)}
    return set()


def _is_indexed(target: nodes.Node) -> bool:
    return isinstance(target, nodes.Postfix) and isinstance(target.trailers[-1], nodes.Subscript)


def _named(target: nodes.Node) -> str:
    first = nodes.leading(target)
    return first.token.text if isinstance(first, nodes.Name) else ""


def each_line(lines: Sequence[nodes.Line]) -> Iterator[nodes.Line]:
    """All statements, those of blocks too, but not those of functions."""
    for line in lines:
        yield line
        if isinstance(line, nodes.For | nodes.While | nodes.If):
            yield from each_line(line.body.lines)
            yield from each_line(line.other.lines)
        elif isinstance(line, nodes.With | nodes.Try):
            yield from each_line(line.body.lines)

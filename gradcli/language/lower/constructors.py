"""Calls that have no row in the op table: tensors made from values, and converted; `Piecewise`, `len`, `Rational`.

`torch.tensor(x)` and `x.item()` are constants to autograd; `x.to(torch.int64)` drops fractions; `x.clone()` is x.
"""

from __future__ import annotations

import sympy

from gradcli.errors import Span
from gradcli.language.lower.arguments import Binder
from gradcli.language.lower.scope import Lines, Lower, Operand
from gradcli.language.program.wengert import Atom
from gradcli.language.text.nodes import Arguments, Group, Items, Name, Node, Word, leading
from gradcli.language.text.source import require_sound
from gradcli.language.text.tokens import Token

COPIES = frozenset("tensor Tensor FloatTensor DoubleTensor float".split())
"""Constructors that copy numbers: what they are given has no derivative behind them."""

TENSORS = COPIES | frozenset("as_tensor asarray array Variable Parameter Matrix Float S Integer".split())
"""Functions that only wrap a value: `torch.tensor([1., 2.])` is `[1., 2.]`."""

_DETACHING = frozenset("item tolist numpy".split())

_WITH_WORDS = frozenset("to type type_as".split())
"""Methods whose arguments say how a tensor is held; others take keywords for that."""

CONVERSIONS = (
    _DETACHING | _WITH_WORDS | frozenset("clone contiguous float double cpu requires_grad_ int long short bool".split())
)
"""Methods that give the same numbers, or the whole parts of them."""

_WHOLE = frozenset("int long short int8 int16 int32 int64 uint8 IntTensor LongTensor".split())


SPECIAL = frozenset(["Piecewise", "len", "Rational", "complex"])
"""Calls that make no tensor."""


class Constructors:
    """Reads constructors, conversions, and other calls without a row."""

    def __init__(self, lines: Lines, lower: Lower, binder: Binder) -> None:
        self.lines, self.lower, self.binder = lines, lower, binder
        self.source, self.scope, self.hooks = lines.source, lines.scope, lines.hooks

    def tensor(self, name: Token, span: Span, arguments: Arguments) -> Operand:
        """A constructor around a value: `torch.tensor([1., 2.])`, `float('inf')`; `span` is of its name."""
        before = self.hooks.constructing()
        operand = self.constructed(name, span, arguments)
        self.hooks.was_constructed(name, span, arguments, operand, before)
        return operand

    def constructed(self, name: Token, span: Span, arguments: Arguments) -> Operand:
        """The value of a constructor."""
        tokens, first = self.source.tokens, arguments.position + 1
        is_word = tokens[first].kind == "string"
        value = self._named_number(tokens[first]) if is_word else self.lower(self.only(arguments))[0]
        words: list[str] = []
        if arguments.items and (fault := arguments.items[0].fault) is not None:
            raise fault
        for argument in arguments.items[1:]:
            if not self.binder.ignored(argument):
                raise self.source.unexpected(argument.start - 2 * (argument.name is not None), is_inside=True)
            words += [token.text for token in tokens[argument.start - 2 : argument.stop]]
        require_sound(arguments.unclosed)
        span = span.to(arguments.span)
        if "dtype" in words:
            value = self._of_type(value, words[words.index("dtype") :], span)
        return self.detached(value, span) if name.text in COPIES else (value, span)

    def only(self, arguments: Arguments) -> Node:
        """The first argument, which has no name."""
        if not arguments.items:
            raise self.source.unexpected(arguments.position + 1, is_inside=True)
        argument = arguments.items[0]
        if argument.name is not None:
            self.lower(Name(argument.name.span, argument.name, None))  # which may be wrong by itself
            raise self.source.unexpected(argument.start - 1, " where ')' was expected", is_inside=True)
        return argument.value

    def require_closed(self, arguments: Arguments) -> None:
        """Refuse arguments that end wrongly.

        Raises:
            GradcliError: Something stands behind one of them, or nothing closes them.
        """
        error = next((one.fault for one in arguments.items if one.fault is not None), arguments.unclosed)
        require_sound(error)

    def _named_number(self, word: Token) -> Atom:
        named = {"inf": sympy.oo, "+inf": sympy.oo, "-inf": -sympy.oo, "nan": sympy.nan}
        text = word.text.strip().lower()
        if text not in named:
            raise self.source.error(f"'{word.text}' is not a number", word.span, hint="write inf or nan")
        return named[text]

    def converted(self, name: Token, span: Span, value: Atom, arguments: Arguments) -> Operand:
        """A method that converts: `x.clone()`, `x.item()`, `x.to(torch.int64)`."""
        require_sound(arguments.unclosed)
        inside = self.source.within(Span(arguments.opening.span.stop, arguments.span.stop - 1))
        words = [token.text for token in inside]
        is_flag = name.text == "requires_grad_" and words in (["True"], ["False"])
        is_keyword = words[1:2] == ["="]
        if words and name.text not in _WITH_WORDS and not is_flag and not is_keyword:
            raise self.source.error(f"too many arguments for .{name.text}()", inside[0].span)
        span = span.to(arguments.span)
        value = self._of_type(value, [name.text, *words], span)
        return self.detached(value, span) if name.text in _DETACHING else (value, span)

    def _of_type(self, value: Atom, words: list[str], span: Span) -> Atom:
        """The numbers that a type holds: whole ones lose their fractions, truth values are 1 or 0."""
        if any("complex" in word or word in ("cfloat", "cdouble") for word in words):
            raise self.source.error("complex numbers are not read", span)
        if not _WHOLE.isdisjoint(words):
            return self.lines.emit("trunc", [value], span)[0]
        if "bool" in words or "BoolTensor" in words:
            is_condition = value in self.lines.conditions
            return value if is_condition else self.lines.emit("ne", [value, sympy.Integer(0)], span)[0]
        return value

    def detached(self, value: Atom, span: Span) -> Operand:
        """A value that autograd takes for a constant; numbers are constants already."""
        _, leaves = self.lines.builder.made_of(value)
        if leaves.isdisjoint(self.scope.variables.values()):
            return value, span
        self.scope.warnings.append(
            "a tensor is copied without its gradient, as in torch: float(), .item(), .data, torch.tensor()"
        )
        return self.lines.emit("detach", [value], span)

    # -- calls that make no tensor

    def special(self, name: Token, span: Span, arguments: Arguments) -> Operand:
        """One of them; `span` is of its name."""
        items, read = arguments.items, 1
        self.hooks.special(span, span.to(arguments.span))
        match name.text:
            case "Piecewise":
                value, read = self._piecewise(span, arguments), len(items)
            case "len":
                value = self.lines.emit("count", [self.lower(self.only(arguments))[0]], span, (0,))[0]
            case "Rational":
                above = self.lower(self.only(arguments))[0]
                below = self.lower(items[1].value)[0] if len(items) > 1 else sympy.Integer(1)
                value, read = self.lines.emit("div", [above, below], span)[0], 2
            case _:
                raise self.source.error("complex numbers are not read", name.span)
        self.require_closed(arguments)
        if len(items) > read:
            raise self.source.unexpected(items[read - 1].stop, " where ')' was expected", is_inside=True)
        return value, span.to(arguments.span)

    def _piecewise(self, span: Span, arguments: Arguments) -> Atom:
        """`Piecewise((value, condition), ..., (value, True))` as branches inside one another."""
        pairs: list[tuple[Atom, Atom | None]] = []
        for argument in arguments.items:
            node = argument.value
            if argument.name is not None or self.source.tokens[argument.start].text != "(":
                break
            pairs.append(self._pair(node))
            if argument.fault is not None:
                break
        if not pairs or pairs[-1][1] is not None:
            hint = "write Piecewise((x**2, x > 0), (0, True))"
            raise self.source.error("Piecewise needs a last pair with the condition True", span, hint=hint)
        result = pairs[-1][0]
        for value, condition in reversed(pairs[:-1]):
            result = value if condition is None else self.lines.emit("where", [condition, value, result], span)[0]
        self.hooks.pieces(arguments, result)
        return result

    def _pair(self, node: Node) -> tuple[Atom, Atom | None]:
        """A value and its condition; none for True."""
        first = leading(node)
        inside = first.items if isinstance(first, Items) and first.opening.text == "(" else ()
        if len(inside) < 2:
            value = self.lower(inside[0] if inside else first.inner if isinstance(first, Group) else node)
            position = self.source.position(value[1].stop)
            raise self.source.unexpected(position, " where ', condition' was expected", is_inside=True)
        value, condition = self.lower(inside[0]), inside[1]
        is_rest = isinstance(condition, Word) and condition.token.text == "True"
        pair = value[0], None if is_rest else self.lower(condition)[0]
        if isinstance(first, Items):
            require_sound(first.fault)
        if len(inside) > 2 or first is not node:
            position = self.source.position((condition if len(inside) > 2 else first).span.stop)
            raise self.source.unexpected(position, " where ')' was expected", is_inside=True)
        return pair

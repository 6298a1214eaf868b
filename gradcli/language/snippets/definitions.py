"""Functions that a snippet defines: lowered again wherever they are called.

    def f(x, n=2): ...; return ...          f = lambda x: ...

A body is assignments and one `return`.  Its parameters stand for what it is called with, its other names for what the
snippet has under them, as in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gradcli.errors import LanguageError, Span, TooLargeError
from gradcli.language import ops
from gradcli.language.lower.hooks import Operand
from gradcli.language.lower.programs import Lowering
from gradcli.language.ops import REQUIRED
from gradcli.language.program.wengert import Atom
from gradcli.language.snippets.signatures import Signatures
from gradcli.language.text.nodes import Arguments, Function, Member, Name, Node, Postfix, Return, Statement
from gradcli.language.text.python_statements import PythonGrammar
from gradcli.language.text.source import require_sound


@dataclass(frozen=True)
class Callee:
    """What can be called.

    Attributes:
        parameters: Their names; none where they are not known.
        value: What it gives for its arguments, at a range of the text.
        defaults: What stands for the last of them where they are not given.
        shown: What it is called in the text.
    """

    parameters: tuple[str, ...]
    value: Callable[[Sequence[Operand], Span], Operand]
    defaults: tuple[Atom, ...] = ()
    shown: str = "f"


class Functions:
    """Defines functions, and calls them.

    Attributes:
        callees: The functions by name.
        running: Where the bodies that are being lowered begin.
        statements: The ranges of the statements of the function that is differentiated, with their values.
    """

    def __init__(self, lowering: Lowering, signatures: Signatures) -> None:
        self.lowering, self.signatures = lowering, signatures
        self.source, self.scope = lowering.source, lowering.scope
        self.lower, self.loops = lowering.expressions.lower, lowering.expressions.loops
        self.callees: dict[str, Callee] = {}
        self.running: list[int] = []
        self.statements: list[tuple[Span, Atom]] = []
        self._outside = 0  # levels of nesting around the body that is being lowered, beyond those in the tree
        self._here = 0  # and around the call that is being lowered

    # -- definitions

    def define(self, node: Function) -> None:
        """`def f(x): ...`, whose body is lowered where it is called."""
        self.callees[node.name] = self.callee(node)
        self.scope.names.pop(node.name, None)

    def callee(self, node: Function) -> Callee:
        """What a definition or a lambda stands for."""
        defaults = tuple(self.lower(one.default)[0] for one in node.parameters if one.default is not None)
        require_sound(node.fault)
        parameters = tuple(one.name for one in node.parameters)

        def value(given: Sequence[Operand], where: Span) -> Operand:
            return self._run(node, given, where)

        is_lambda = self.source.tokens[node.position].text == "lambda"
        shown = f"({self.source.excerpt(node.span)})" if is_lambda else node.name
        return Callee(parameters, value, defaults, shown)

    def of_table(self, node: Node) -> Callee | None:
        """An operation of the table as a function: `torch.cos`, alone among arguments."""
        members = node.trailers if isinstance(node, Postfix) else ()
        first = node.operand if isinstance(node, Postfix) else node
        if not isinstance(first, Name) or first.arguments is not None:
            return None
        name = first.token
        for member in members:
            if not isinstance(member, Member) or member.arguments is not None:
                return None
            name = member.name
        op = ops.find(name.text, after_dot=True)
        if name.kind != "name" or op is None or REQUIRED in op.statics.values():
            return None

        def value(given: Sequence[Operand], where: Span) -> Operand:
            if len(given) != len(op.operands):
                raise self.source.error(LanguageError, f"{op.name} takes {', '.join(op.operands)}", where)
            statics = tuple(op.statics.values())
            return self.lowering.expressions.calls.made(op, [*given], statics, name.span)

        return Callee(op.operands, value, (), self.source.excerpt(first.span.to(name.span)))

    # -- calls

    def _run(self, node: Function, given: Sequence[Operand], where: Span) -> Operand:
        """A body with its parameters standing for these operands."""
        scope, names = self.scope, [one.name for one in node.parameters]
        if node.position in self.running:
            raise self.source.error(LanguageError, "a function that calls itself is not read", where)
        self.loops.require_few(node.width, node.first)
        if len(given) != len(names):
            raise self.source.error(LanguageError, f"the function takes {', '.join(names) or 'nothing'}", where)
        outside, here = self._outside, self._here
        self._outside = outside + here + 1 - node.depth
        self._require_shallow(node, outside + here + 1)
        held = scope.names
        scope.names = held | dict(zip(names, (atom for atom, _ in given), strict=True))
        hidden = {name: self.callees.pop(name) for name in names if name in self.callees}
        self.running.append(node.position)
        result = self._returned(node.body, where)
        self.running.pop()
        scope.names, self._outside, self._here = held, outside, here
        self.callees |= hidden
        if node.name:
            self.statements.append((node.span, result[0]))
        return result

    def _require_shallow(self, node: Function, levels: int) -> None:
        """Refuse a body that is nested too deep where it is called, at so many levels already."""
        most = PythonGrammar.max_depth
        token = node.first if levels > most else next(iter(node.reached[most - levels :]), None)
        if token is not None:
            message, hint = f"nested more than {most} levels deep", "name parts of it: y = ...; z = f(y)"
            raise self.source.error(TooLargeError, message, token.span, hint=hint)

    def _returned(self, body: Sequence[Statement | Return], where: Span) -> Operand:
        """What the statements of a definition return."""
        for line in body:
            result = self.lower(line.value)
            if isinstance(line, Return):
                require_sound(line.fault)
                return result
            self.scope.names[line.targets[0].text] = result[0]
        raise self.source.error(LanguageError, "this function returns nothing", where, hint="end it with return ...")

    def called(self, callee: Callee, shown: str, arguments: Arguments) -> Operand:
        """A function with its arguments."""
        given: list[Operand] = []
        named: dict[str, Operand] = {}
        for argument in self.signatures.written(arguments):
            word = argument.name
            if word is None:
                given.append(self.lower(argument.value))
            elif word.text not in callee.parameters or word.text in named:
                raise self.source.error(LanguageError, f"{shown} has no argument '{word.text}'", word.span)
            else:
                named[word.text] = self.lower(argument.value)
            require_sound(argument.fault)
        require_sound(arguments.unclosed)
        self.enter(arguments)
        return callee.value(self.bound_to(callee, given, named, shown, arguments.span), arguments.span)

    def enter(self, arguments: Arguments) -> None:
        """Note how deep a call is nested, behind its arguments."""
        self._here = arguments.depth

    def bound_to(
        self, callee: Callee, given: list[Operand], named: dict[str, Operand], shown: str, span: Span
    ) -> list[Operand]:
        """The arguments in order, defaults filled in."""
        names, defaults = callee.parameters, callee.defaults
        if not names:
            return given
        held = dict(zip(names, given, strict=False)) | named
        held = {n: (d, span) for n, d in zip(names[len(names) - len(defaults) :], defaults, strict=True)} | held
        if len(given) > len(names) or set(names) - set(held) or set(names[: len(given)]) & set(named):
            raise self.source.error(LanguageError, f"{shown} takes {', '.join(names)}", span)
        return [held[name] for name in names]

    def named(self, node: Name) -> Operand | None:
        """A call of a function of the text; None if the name is none."""
        token = node.token
        callee = self.callees.get(token.text)
        if callee is None or token.text in self.scope.names:
            return None
        if node.arguments is None:
            hint = f"write {token.text}(...)"
            raise self.source.error(LanguageError, f"'{token.text}' is a function", token.span, hint=hint)
        operand, span = self.called(callee, token.text, node.arguments)
        return operand, token.span.to(span)

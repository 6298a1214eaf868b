"""Runs the statements of a text over its tree: assignments, definitions, loops and branches, among names as Python has.

A loop is written out, a branch is read where its condition is decided, a call is read as the body of the function with
its parameters standing for the arguments.  What depends on the values of tensors is for `branches`.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal

from gradcli.errors import Span
from gradcli.language.lower.scope import Dictionary, Listed, Operand, Scope, Text
from gradcli.language.program.wengert import Atom
from gradcli.language.snippets.assigning import Targets
from gradcli.language.snippets.builtins import Builtins
from gradcli.language.snippets.definitions import Callee, Functions, Signatures, definition_of
from gradcli.language.snippets.python_branches import Branches
from gradcli.language.snippets.python_dicts import Dicts
from gradcli.language.snippets.python_values import Opaque
from gradcli.language.snippets.sharing import assigned_names, changes_something, each_line, is_change
from gradcli.language.text import nodes
from gradcli.language.text.source import Source, require_sound
from gradcli.language.text.tokens import Token

Ending = Literal["", "break", "continue", "stop"] | Operand
"""How a block ends: at its end, by a word, or with what is returned; `stop` ends the text."""

BOTH = "both are computed, and each point takes its own"
"""How the remark ends on a branch that values decide."""

OF_STEPS = "in the loop: the answer is of the steps that were taken"
"""How the remark ends on a branch that ends a loop."""


class Interpreter(Targets):
    """Runs statements, and hands what stands in their expressions to those who read it.

    Attributes:
        defined: The function that was defined last, outside of others.
        looping: How many loops are around this place, in the present function.
        mark: How many lines there were before the present statement.
        is_stopped: Whether what follows is passed over, in functions too.
    """

    is_code = True

    def __init__(self, source: Source, scope: Scope, *, shares: bool) -> None:
        super().__init__(source, scope, shares=shares)
        self.signatures = Signatures(self.lowering)
        self.functions = Functions(self.lowering, self.signatures, self._body)
        self.sharing.frames = self.functions.frames
        self.branches = Branches(self.lowering, self.objects)
        self.dicts = Dicts(self.objects)
        self.builtins = Builtins(self.lowering, self.objects, self.elements, self.functions.require_no_draw)
        self.defined: Callee | None = None
        self.looping = self.mark = 0
        self.is_stopped = False

    @property
    def is_inside(self) -> bool:
        """Whether a function is being run."""
        return bool(self.functions.running)

    # -- blocks

    def run(self, lines: Sequence[nodes.Line]) -> Ending:
        """Statements one after the other, up to one that ends their block."""
        for n, line in enumerate(lines):
            self.mark = len(self.builder.lines)
            if isinstance(line, nodes.If):
                ending = self._if(line, lines[n + 1 :])
                if ending is None:
                    continue
                return ending
            ending = "stop" if self.is_stopped else self._RULES[type(line)](self, line)
            if ending != "" or self.is_stopped:
                return "stop" if self.is_stopped else ending
        return ""

    def _body(self, node: nodes.Function) -> Operand | None:
        """What the body of a function returns."""
        around, self.looping = self.looping, 0
        self._require_own_names(node.body)
        ending = self.run(node.body)
        self.sharing.left()
        self.looping = around
        return None if isinstance(ending, str) else ending

    def _require_own_names(self, lines: Sequence[nodes.Line]) -> None:
        """Refuse a function that gives a name outside of it another value, which its callers would meet."""
        inside = list(each_line(lines))
        for line in inside:
            if isinstance(line, nodes.Keyword) and line.word.text in ("global", "nonlocal"):
                declared = {token.text for token in self.source.within(line.span)}
                if any(declared & assigned_names(one) for one in inside):
                    message = f"a function that assigns a {line.word.text} name is not read"
                    raise self.source.error(message, line.span, hint="take it as an argument, and return it")

    # -- statements

    def statement(self, line: nodes.Statement) -> Ending:
        """Names for a value, or a value alone."""
        self.changes.settle(line.value)
        if not line.targets:
            return self.expression(line)
        self.lowering.require_used()
        self.assigned(line)
        require_sound(line.fault)
        return ""

    def expression(self, line: nodes.Statement) -> Ending:
        """A value alone: the output where it is the last, unless it says nothing about the function."""
        if isinstance(line.value, nodes.Word) and not line.value.is_operand:
            return ""
        lowering = self.lowering
        self.lowering.require_used()
        if self.is_inside:
            lowering.lower(line.value)
            require_sound(line.fault)
            return ""
        operand = lowering.statement(line)
        if self.scope.objects.get(operand[0]) is None or isinstance(self.scope.objects[operand[0]], Listed):
            self.output = operand
            lowering.unused_value = None if changes_something(line.value) else operand
        require_sound(line.fault)
        return ""

    def assigned(self, line: nodes.Statement) -> None:
        """Names take a value."""
        if isinstance(line.value, nodes.Function) and not line.is_tuple:
            self.define(line.value)
            return
        self.lowering.calls.is_pair = False
        value, span = self.lowering.lower(line.value)
        if line.is_tuple:
            targets = [nodes.Name(token.span, token, None) for token in line.targets]
            self._unpack(targets, (value, span))
            return
        (name,) = line.targets
        self.name_is(name.text, (value, name.span.to(span)), line.value)

    def assignment(self, line: nodes.Assignment) -> Ending:
        """Several targets one after the other, elements, members, and assignments in place."""
        self.lowering.require_used()
        if line.sign.text != "=":
            self._in_place(line)
        else:
            operand = self.lowering.lower(line.value)
            for target in line.targets:
                self.bind(target, operand, line.value)
        require_sound(line.fault)
        return ""

    # -- definitions

    def definition(self, line: nodes.Function) -> Ending:
        """`def f(x): ...`."""
        require_sound(line.fault)
        self.lowering.require_used()
        self.define(line)
        return ""

    def define(self, node: nodes.Function) -> None:
        """Give a function its name, if it has one."""
        callee = self.functions.callee(node)
        if node.name:
            self.functions.bind(node.name, callee)
        if not self.is_inside:
            self.defined = callee

    def last_definition(self, lines: Sequence[nodes.Line]) -> Callee | None:
        """The function that was defined last, where a text ends with its definition, or has nothing else."""
        is_last = bool(lines) and definition_of(lines[-1]) is not None
        return self.defined if is_last or self.output is None else None

    def imported(self, line: nodes.Import) -> Ending:
        """The names of an import."""
        for name, _ in line.names:
            self.scope.names.pop(name, None)
        return ""

    def class_(self, line: nodes.Class) -> Ending:
        """A class, which is not read here.

        Raises:
            LanguageError: Always.
        """
        raise self.source.error("a class is read of torch.nn.Module alone", line.span)

    # -- what is repeated, and what is chosen

    def for_(self, line: nodes.For) -> Ending:
        """A loop, written out."""
        unused = dict(self.scope.unused)
        for element in self.elements(line.values):
            self.lowering.constants.require_few(line.body.width, line.word)
            output = self.output, self.scope.last_name
            self.bind(line.target, element)
            self.scope.unused = dict(unused)
            self.output, self.scope.last_name = output
            ending = self._step(line.body)
            if ending == "break":
                return ""
            if ending not in ("", "continue"):
                return ending
        return self.run(line.other.lines)

    def while_(self, line: nodes.While) -> Ending:
        """A loop as long as a condition holds that is decided, by values if need be."""
        steps, guards = 0, len(self.scope.guards)
        while True:
            self.lowering.constants.require_few(line.body.width, line.word)
            holds = self.branches.decided(line.condition, "while", "another number of steps is taken")
            if holds is False or (holds is None and steps):
                break
            steps += 1
            ending = self._step(line.body)
            if ending == "break":
                return ""
            if ending not in ("", "continue"):
                return ending
        if len(self.scope.guards) > guards:
            self.branches.counted(line, steps)
        return self.run(line.other.lines)

    def _step(self, body: nodes.Block) -> Ending:
        """One pass through the body of a loop."""
        self.looping += 1
        ending = self.run(body.lines)
        self.looping -= 1
        return ending

    def _if(self, line: nodes.If, rest: Sequence[nodes.Line]) -> Ending | None:
        """A branch; of a condition that is not decided, both, with what follows if one of them ends the block."""
        if self._goes_on(line):
            guards = len(self.scope.guards)
            holds = self.branches.decided(line.condition, "if", "another branch is taken") is not False
            if len(self.scope.guards) > guards:
                self.scope.remark(f"values decided 'if {self.source.shown(line.condition.span)}' {OF_STEPS}")
        else:
            holds = self.branches.taken(line.condition)
        if isinstance(holds, bool):
            ending = self.run((line.body if holds else line.other).lines)
            return None if ending == "" else ending
        self.lowering.constants.require_few(line.body.width + line.other.width, line.word)
        self.scope.remark(f"which branch is taken depends on {self.source.shown(line.condition.span)}: {BOTH}")
        ends = _ends(line.body.lines) or _ends(line.other.lines)
        behind = tuple(rest) if ends else ()
        start, fixed = self.branches.state(), self.objects.fixed
        self.objects.fixed |= {id(value) for value in self.scope.objects.values()}
        self.branches.forks += 1
        first = self.run((*line.body.lines, *behind)), self.output
        then = self.branches.switch(start)
        second = self.run((*line.other.lines, *behind)), self.output
        self.branches.forks -= 1
        self.objects.fixed = fixed
        self.output = self.branches.merge(holds, then, first[1], second[1], line.span)
        endings = first[0], second[0]
        if all(isinstance(one, str) for one in endings) and endings[0] == endings[1]:
            return endings[0] if ends else None
        if isinstance(endings[0], str) or isinstance(endings[1], str):
            message = "a branch that depends on the values of a tensor ends this block, and the other does not"
            raise self.source.error(message, line.span, hint="return something in both, or use where(c, a, b)")
        return self.branches.chosen(holds, endings[0], endings[1], line.span)

    def _goes_on(self, line: nodes.If) -> bool:
        """Whether one branch ends a step of a loop, or the loop, so that values decide what is computed at all."""
        is_one_sided = _ends(line.body.lines) != _ends(line.other.lines)
        return self.looping > 0 and is_one_sided and self.lowering.decisions.are_made

    def try_(self, line: nodes.Try) -> Ending:
        """What is tried, in which no error is raised that is read."""
        self.scope.remark("what stands behind 'except' is passed over, as nothing is run that could fail")
        return self.run(line.body.lines)

    def with_(self, line: nodes.With) -> Ending:
        """`with torch.no_grad():`, whose results are constants to autograd."""
        mark = None
        for manager, target in line.managers:
            self.functions.require_no_draw(manager.span)
            words = [token.text for token in self.source.within(manager.span) if token.kind == "name"]
            if any(word in ("no_grad", "inference_mode") for word in words):
                mark = self.branches.state()
            elif target is not None:
                self.bind(target, (self.objects.new(Opaque(self.source.excerpt(manager.span))), manager.span))
        before = self.sharing.constant
        if mark is not None:
            self.sharing.constant = frozenset(mark.values())
        ending = self.run(line.body.lines)
        self.sharing.constant = before
        if mark is not None:
            self._without_gradient(mark, line.span)
        return ending

    def _without_gradient(self, before: Mapping[str, Atom], span: Span) -> None:
        """Detach what names stand for since then."""
        for name, atom in list(self.scope.names.items()):
            if before.get(name) != atom and atom not in self.scope.objects:
                self.scope.names[name] = self.lowering.lines.emit("detach", [atom], span)[0]

    def returned(self, line: nodes.Return) -> Ending:
        """What a function gives."""
        if line.value is None:
            return self.objects.nothing(line.span)
        operand = self.lowering.lower(line.value)
        require_sound(line.fault)
        return operand

    def keyword(self, line: nodes.Keyword) -> Ending:
        """`break` and `continue`; others change nothing, but for `raise`."""
        if line.word.text == "raise":
            raise self.source.error("this line raises an error where it is run", line.span)
        return line.word.text if line.word.text in ("break", "continue") else ""  # type: ignore[return-value]

    def stored(self, atom: Atom, subscript: nodes.Subscript, change: Callable[[Atom], Atom], span: Span) -> Atom:
        """`values[key] = ...` of a list, a dict or a tensor."""
        value = self.scope.objects.get(atom)
        if not isinstance(value, Dictionary):
            return super().stored(atom, subscript, change, span)
        self.dicts.store(value, subscript, change, span)
        return atom

    # -- what a loop runs over

    def elements(self, node: nodes.Node) -> list[Operand]:
        """The values of a loop."""
        operand = self.lowering.lower(node)
        return self.parts(operand)

    # -- values that are no tensors

    def tensor(self, atom: Atom, span: Span) -> Atom:
        """A list as a tensor."""
        return self.objects.tensor(atom, span)

    def word(self, node: nodes.Word) -> Operand | None:
        """`None` and words in quotes."""
        if node.token.kind == "string":
            return self.objects.new(Text(node.token.text)), node.span
        return self.objects.nothing(node.span) if node.token.text == "None" else None

    def listed(self, node: nodes.Items) -> Operand | None:
        """A list as Python has it."""
        kind = "list" if node.opening.text == "[" else "tuple"
        items: list[Operand] = []
        for item in node.items:
            if isinstance(item, nodes.Loop):
                items += self._comprehended(item, node)
            elif isinstance(item, nodes.Starred):
                items += self.elements(item.value)
            else:
                items.append(self.lowering.lower(item))
        require_sound(node.fault)
        return self.objects.new_list(items, node.span, kind)

    def _comprehended(self, loop: nodes.Loop, node: nodes.Items) -> list[Operand]:
        """The elements of a comprehension, which may be none."""
        held = self.scope.names
        self.scope.names = ChainMap({}, *held.maps)  # type: ignore[attr-defined]
        found = self.lowering.constants.comprehended(loop)
        self.scope.names = held
        return found

    def paired(self, node: nodes.Pairs) -> Operand:
        """A dict."""
        return self.dicts.written(node)

    def function(self, node: nodes.Function) -> Operand | None:
        """A lambda."""
        callee = self.functions.callee(node)
        if not self.is_inside:
            self.defined = callee
        return self.objects.new(callee), node.span

    def operated(self, sign: str, left: Operand, right: Operand) -> Operand | None:
        """Lists that are joined, and comparisons of what is no tensor."""
        return self.objects.operated(sign, left, right)

    def chooses(self, node: nodes.Choice) -> Operand | None:
        """`a if c else b` where the condition is decided."""
        holds = self.branches.taken(node.condition)
        if isinstance(holds, bool):
            return self.lowering.lower(node.chosen if holds else node.other)
        self.branches.forks += 1
        first, second = self.lowering.lower(node.chosen), self.lowering.lower(node.other)
        self.branches.forks -= 1
        return self.branches.chosen(holds, first, second, node.span)

    def called(self, operand: Operand, arguments: nodes.Arguments) -> Operand | None:
        """What a call, an index or brackets give, with arguments behind it."""
        value = self.scope.objects.get(operand[0])
        return None if value is None else self.called_with(value, operand[1], arguments)

    def called_with(self, value: Any, span: Span, arguments: nodes.Arguments) -> Operand:
        """A value with its arguments.

        Raises:
            LanguageError: It is no function.
        """
        if isinstance(value, Callee):
            operand, behind = self.functions.called(value, value.shown, arguments)
            return operand, span.to(behind)
        if isinstance(value, Opaque):
            self.functions.require_no_draw(arguments.span)
            return self.objects.new(Opaque(f"{value.shown}(...)")), span.to(arguments.span)
        raise self.source.error(f"{self.objects.shown(value)} is not a function", span)

    def is_known(self, name: str) -> bool:
        """Whether a name stands for something that is no value."""
        return name in self.scope.names

    def named(self, name: nodes.Name, trailers: Sequence[nodes.Trailer]) -> tuple[Operand, int] | None:
        """A function of the text or of Python with its arguments, or what a name stands for that is no tensor."""
        text, scope = name.token.text, self.scope
        if text in scope.names:
            value = scope.objects.get(scope.names[text])
            if value is None:
                return None
            scope.unused.pop(text, None)
            operand = scope.names[text], name.span
            return (operand if name.arguments is None else self.called_with(value, name.token.span, name.arguments)), 0
        if text in scope.variables:
            return None
        if text == "__name__":
            return (self.objects.new(Text("__main__")), name.span), 0
        if text in ("dict", "OrderedDict") and name.arguments is not None:
            return self.dicts.called(name.arguments, name.token.span), 0
        if (found := self.builtins.called(name)) is not None:
            return found, 0
        return self._as_value(name, trailers)

    def _as_value(self, name: nodes.Name, trailers: Sequence[nodes.Trailer]) -> tuple[Operand, int] | None:
        """A function of the table that is no call: `torch.tanh`, where a function is handed on."""
        node: nodes.Node = name
        if trailers:
            node = nodes.Postfix(name.span.to(trailers[-1].span), name, tuple(trailers))
        callee = (
            self.functions.of_table(node) if name.arguments is None and (trailers or not self.is_own(name)) else None
        )
        return None if callee is None else ((self.objects.new(callee), node.span), len(trailers))

    def is_own(self, name: nodes.Name) -> bool:
        """Whether a name that a function has may be a variable's."""
        return name.token.text in self.scope.given

    def member(self, operand: Operand, member: nodes.Member) -> Operand | None:
        """What lists and dicts have behind a dot, and the sizes of a tensor."""
        value, given = self.scope.objects.get(operand[0]), member.arguments
        if isinstance(value, Dictionary) and given is not None:
            return self.dicts.member(value, member.name.text, given, operand[1].to(member.span))
        if is_change(member) and (value is None or (isinstance(value, Listed) and value.kind == "tensor")):
            return self.changes.method(operand, member)
        return self.objects.member(operand, member)

    def indexed(self, operand: Operand, subscript: nodes.Subscript) -> Operand | None:
        """An element of a list or of a dict."""
        if isinstance(value := self.scope.objects.get(operand[0]), Dictionary):
            return self.dicts.indexed(value, subscript, operand[1].to(subscript.span))
        return self.objects.indexed(operand, subscript)

    _RULES: ClassVar[Mapping[type, Callable[[Interpreter, Any], Ending]]] = {
        nodes.Statement: lambda self, line: self.statement(line),
        nodes.Assignment: lambda self, line: self.assignment(line),
        nodes.Function: lambda self, line: self.definition(line),
        nodes.Import: lambda self, line: self.imported(line),
        nodes.Return: lambda self, line: self.returned(line),
        nodes.For: lambda self, line: self.for_(line),
        nodes.While: lambda self, line: self.while_(line),
        nodes.With: lambda self, line: self.with_(line),
        nodes.Try: lambda self, line: self.try_(line),
        nodes.Class: lambda self, line: self.class_(line),
        nodes.Keyword: lambda self, line: self.keyword(line),
    }
    """The rule of each statement."""


def _ends(lines: Sequence[nodes.Line]) -> bool:
    """Whether a branch may end the block that it stands in."""
    for line in lines:
        match line:
            case nodes.Return() | nodes.Keyword(word=Token(text="break" | "continue")):
                return True
            case nodes.If(body=body, other=other):
                if _ends(body.lines) or _ends(other.lines):
                    return True
            case nodes.For(body=body) | nodes.While(body=body) | nodes.With(body=body) | nodes.Try(body=body):
                if any(isinstance(one, nodes.Return) for one in body.lines) or _ends(body.lines):
                    return True
    return False

"""The statements of a snippet: definitions, assignments, passes, displays, and what says nothing about the function.

While their expressions are lowered, functions, derivatives, types and required gradients are listened for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import sympy

from gradcli.errors import Span
from gradcli.language.lower.arguments import CONVERSIONS
from gradcli.language.lower.scope import Array, Listed, Nothing, Operand, Scope
from gradcli.language.ops import Kind, Op
from gradcli.language.program.numeric import run
from gradcli.language.program.wengert import Atom, Shape
from gradcli.language.snippets.behind_passes import BehindPasses
from gradcli.language.snippets.defined import whole
from gradcli.language.snippets.definitions import Imports
from gradcli.language.snippets.gradients import GO_ON, Derivatives, Passes
from gradcli.language.snippets.interpreter import Ending
from gradcli.language.snippets.sharing import changed_names, changes_something
from gradcli.language.snippets.transforms import TAKES, Transforms
from gradcli.language.text import nodes
from gradcli.language.text.source import ENDS, Source, require_sound
from gradcli.language.text.tokens import Token

_QUIET = frozenset(
    "manual_seed seed set_printoptions set_num_threads retain_grad zero_grad train eval set_detect_anomaly".split()
)
"""Calls that say nothing about the function."""

_SHOWN = ("grad", "requires_grad", "is_leaf", "grad_fn", "shape", "dtype")
"""Members that a notebook shows."""

_HIDDEN = re.compile(r"\b(?:grad|jacobian|hessian|jacrev|jacfwd|vjp|jvp|hvp|vhp)\s*\(")
"""A derivative in the text that an f-string is."""


class Statements(BehindPasses):
    """Lowers the statements of a snippet, and hands what stands in their expressions to those who read it.

    What is no statement of Python's alone is one of the language.

    Attributes:
        changed: The names that are assigned more than once, which stand for no variable.
        is_made: Whether the present statement makes a tensor.
        is_required: Whether it requires a gradient.
        leaf: The tensor that does.
        is_session: Whether the text was typed at a prompt.
    """

    def __init__(self, source: Source, scope: Scope, *, shares: bool, is_session: bool = False) -> None:
        super().__init__(source, scope, shares=shares)
        self.is_session = is_session
        lowering = self.lowering
        self.changed: frozenset[str] = frozenset()
        self.imports = Imports(source, scope)
        self.derivatives = Derivatives(lowering, self.signatures, self.values)
        self.passes = Passes(lowering, self.signatures, self.derivatives)
        self.transforms = Transforms(
            lowering, self.imports, self.signatures, self.functions, self.derivatives, self.dtypes
        )
        self.begin_value()

    def add_parameter(self, name: str, value: Array, is_required: bool = True) -> None:
        """A parameter of a module is a variable with numbers, by which is differentiated unless it is a buffer."""
        if name not in self.values:
            self.values[name] = value
            self.scope.shapes.setdefault(name, value.shape)
            if is_required:
                self.passes.require(name)

    def set_parameter(self, operand: Operand, fill: Callable[[Shape], Array]) -> None:
        """Other numbers for a variable that has some."""
        name = str(operand[0])
        if name not in self.values:
            raise self.source.error("a parameter must stand here", operand[1], hint="such as fc.weight")
        self.values[name] = fill(self.values[name].shape)

    def path_of(self, position: int) -> str:
        """The whole name of what stands at a position, as imports say."""
        return self.imports.path_at(position)[0] or ".".join(self.source.dotted(position))

    def taken_parameter(self, name: str, operand: Operand) -> Operand:
        """`nn.Parameter(...)` as a variable of this name; anything else as it is."""
        if not self.is_required or operand[0] != self.leaf:
            return operand
        numbers = self.numbers_of(*operand, "a parameter")
        if name in self.values:
            self.set_array(self.scope.variable(name), numbers, operand[1])
        self.add_parameter(name, numbers)
        self.begin_value()
        return self.scope.variable(name), operand[1]

    def last_value(self, lines: Sequence[nodes.Line]) -> Operand | None:
        """The value of the last statement that has one, all lowered; of a text that ends with a definition, that."""
        self.changed = changed_names(lines)
        self.run(lines)
        if not self.passes.passes:
            last = self.last_definition(lines) or (self.model() if self.output is None else None)
            self.output = self.output if last is None else whole(self, last)
        return self.output

    def imported(self, line: nodes.Import) -> Ending:
        """The names of an import."""
        self.imports.add(line)
        return super().imported(line)

    def statement(self, line: nodes.Statement) -> Ending:
        """One statement of the snippet."""
        if (ending := self.behind_pass(line)) is not None:
            return ending
        if self.is_inside:
            return super().statement(line)
        self.changes.settle(line.value)
        mark = len(self.builder.lines)
        self.dtypes.begin()
        self.begin_value()
        if self._says_nothing(line):
            return ""
        found = self._statement(line)
        if found is not None and isinstance(self.scope.objects.get(found[0], Listed([])), Listed):
            self.lowering.require_used()
            self.output, self.lowering.unused_value = found, found if self._is_shown(line, mark) else None
        if line.fault is not None and not self._is_gradient(line) and not self._is_member(line):
            raise line.fault
        return ""

    def assignment(self, line: nodes.Assignment) -> Ending:
        """As Python has it, but for `w -= 0.1*w.grad`, behind which the function is another."""
        starts = [self.source.position(target.span.start) for target in line.targets]
        return "stop" if self.updates(line, starts) else super().assignment(line)

    def _says_nothing(self, line: nodes.Statement) -> bool:
        """Whether a statement is none of the function's, whatever stands in it."""
        names, is_bare = self.source.dotted(line.value_at), not line.targets
        if is_bare and names[-1] in ("manual_seed", "seed"):
            self._seeds(line, names[0])
        if is_bare and names[-1] in ("set_default_dtype", "set_default_tensor_type"):
            self.dtypes.default_type(self.source.line_from(line.start))
            return True
        if is_bare and names[-1] in ("train", "eval") and self.is_module(names[0]):
            self.lowering.lower(line.value)
        return is_bare and names[-1] in _QUIET and self.functions.known(names[0]) is None

    def _seeds(self, line: nodes.Statement, first: str) -> None:
        """`torch.manual_seed(0)`; what other libraries draw is not read."""
        library = self.path_of(line.value_at).partition(".")[0]
        if self.called_in(line) is not None and (library in ("torch", "numpy", "np") or first in self.scope.names):
            self.lowering.lower(line.value)

    def _is_gradient(self, line: nodes.Statement) -> bool:
        """Whether names are given to what gradcli prints, `g = x.grad`."""
        is_grad = bool(line.targets) and self.source.dotted(line.value_at)[1:2] == ["grad"]
        return is_grad and self.imports.path_at(line.value_at)[0] not in TAKES

    def _is_member(self, line: nodes.Statement) -> bool:
        """Whether a member is set or shown, `x.requires_grad = True`."""
        names = self.source.dotted(line.value_at)
        behind = self.source.tokens[line.value_at + 2 * len(names) - 1].text
        return not line.targets and len(names) > 1 and names[-1] in _SHOWN and behind != "("

    def _statement(self, line: nodes.Statement) -> Operand | None:
        """One statement; its value if it is one of the function's."""
        first, is_bare = self.source.tokens[line.start], not line.targets
        called = self.called_in(line)
        if is_bare and self.source.dotted(line.start) == ["print"] and called is not None:
            return self._printed(called)
        if is_bare and self.imports.path_at(line.start)[0] == "torch.autograd.backward":
            if called is None:
                raise self.source.unexpected(self.imports.path_at(line.start)[1])
            self.passes.function(first, called)
            return None
        if self._is_gradient(line):
            self._renamed(line)
            return None
        if self._is_member(line):
            self._member(line)
            return None
        if not is_bare:
            return self._assigned(first, line)
        return self._shown(line, self.lowering.statement(line))

    def _is_shown(self, line: nodes.Statement, mark: int) -> bool:
        """Whether something is computed without a name, and not printed, as a session does, or there already."""
        is_lost = not (line.targets or self.is_session or changes_something(line.value))
        is_lost &= self.source.dotted(line.start) != ["print"]
        return is_lost and any(written.call.op.name != "detach" for written in self.builder.lines[mark:])

    def _shown(self, line: nodes.Statement, operand: Operand) -> Operand | None:
        """What a statement has without a name: a pass, a display of a derivative, or a value of the function."""
        passes = self.passes.passes
        if passes and passes[-1].span.stop == operand[1].stop and passes[-1].accumulates:
            return None
        return self._asked_for(line.span, operand)

    def _asked_for(self, span: Span, operand: Operand) -> Operand | None:
        """A derivative, which is a question unless later lines use it; what else, a statement of the function."""
        one = self.derivatives.pass_of(operand[0])
        if one is not None and one not in self.passes.passes:
            self.passes.add_pass(one)
        parts = self.derivatives.tuples.get(operand[0])
        if parts is not None:
            self.functions.statements += ((span, atom) for atom in parts)
            return None
        self.functions.statements.append((span, operand[0]))
        return None if one is not None else operand

    def _printed(self, arguments: nodes.Arguments) -> Operand | None:
        """What is printed is not read, but for a derivative that is taken there."""
        remarks = len(self.scope.warnings)
        value: Operand | None = None
        for argument in arguments.items:
            inside = range(argument.start - 2 * (argument.name is not None), argument.stop)
            words = self.source.tokens[inside.start : inside.stop]
            if any(token.kind == "string" and _HIDDEN.search(token.text) for token in words):
                hint = "give the derivative a name on a line of its own"
                raise self.source.error("a derivative inside a text is not read", words[0].span, hint=hint)
            if any(self.takes_derivative(n) for n in inside):
                operand = self.lowering.lower(argument.value)
                value = self._asked_for(argument.value.span, operand) or value
                require_sound(argument.fault)
            else:
                self.functions.require_no_draw(argument.value.span)
        require_sound(arguments.unclosed)
        del self.scope.warnings[remarks:]
        return value

    def _renamed(self, line: nodes.Statement) -> None:
        """`g = x.grad`, a name for what gradcli prints; nothing can be computed with it."""
        tokens, position = self.source.tokens, line.value_at
        while tokens[position].kind != "end" and self.source.dotted(position)[1:2] == ["grad"]:
            position += 3
            while tokens[position].text == "." and tokens[position + 1].text in (*CONVERSIONS, "detach"):
                position = 1 + next((n for n, depth in self.source.levels(position + 2) if depth == 0), len(tokens) - 2)
            if tokens[position].text != ",":
                break
            position += 1
        if tokens[position].text not in ENDS:
            span = tokens[line.value_at].span.to(tokens[position - 1].span)
            raise self.source.error("what is computed from '.grad' is not read", span, hint=GO_ON)
        for target in line.targets:
            self.scope.names[target.text] = sympy.Dummy("grad", real=True)
            self.derivatives.tuples[self.scope.names[target.text]] = ()

    def _member(self, line: nodes.Statement) -> None:
        """A member that a notebook shows."""
        tokens, names = self.source.tokens, self.source.dotted(line.start)
        behind = line.start + 2 * len(names) - 1
        if tokens[behind].text not in ENDS:
            raise self.source.error(f"'.{names[-1]}' is not part of the language", tokens[behind - 1].span)

    def set_member(self, owner: Operand, member: nodes.Member, change: Callable[[Atom], Atom], span: Span) -> None:
        """`x.requires_grad = True` and `x.grad = None`."""
        if owner[0] in self.scope.objects:
            super().set_member(owner, member, change, span)
            return
        name, value = str(owner[0]), change(owner[0])
        span = owner[1].to(span)
        if member.name.text == "data" and owner[0] in self.scope.variables.values():
            self.set_numbers(owner[0], self.objects.tensor(value, span), span)
            return
        if member.name.text == "requires_grad" and name in self.values and value in self.lowering.lines.conditions:
            self.set_required(name, span, is_required=bool(self.branches.of_value(value, span)))
        elif member.name.text == "grad" and isinstance(self.scope.objects.get(value), Nothing):
            self.passes.zero(name)
        else:
            super().set_member(owner, member, change, span)

    # -- assignments

    def _assigned(self, first: Token, line: nodes.Statement) -> Operand | None:
        """A definition of a variable or a function, or an assignment of the function."""
        path, end = self.imports.path_at(line.value_at)
        if path in TAKES and self.source.tokens[end].text in ENDS:
            self.imports.whole[first.text] = path
            return None
        if not line.is_tuple and self.transforms.is_function(line.value):
            callee = self.transforms.function(line.value)
            self.defined = replace(callee, shown=first.text)
            self.functions.bind(first.text, self.defined)
            return None
        mark = len(self.builder.lines)
        self.begin_value()
        self.lowering.calls.is_pair = False
        operand = self.lowering.lower(line.value)
        return self._unpacked(line, operand) if line.is_tuple else self._bound(line, operand, mark)

    def parts(self, operand: Operand, count: int | None = None) -> list[Operand]:
        """What a value is made of; a tuple of gradients is made of them."""
        parts = self.derivatives.tuples.get(operand[0])
        return super().parts(operand, count) if parts is None else [(part, operand[1]) for part in parts]

    def kind_of(self, atom: Atom) -> str:
        """What a value with parts is called in a message."""
        return "a tuple" if atom in self.derivatives.tuples else super().kind_of(atom)

    def bind(self, target: nodes.Node, operand: Operand, node: nodes.Node | None = None) -> None:
        """A target takes a value, or the function of v that `vjp` gives."""
        back = self.derivatives.pullbacks.get(operand[0])
        if back is not None and isinstance(target, nodes.Name):
            self.functions.bind(target.token.text, back)
            return
        super().bind(target, operand, node)

    def _unpacked(self, line: nodes.Statement, operand: Operand) -> Operand | None:
        """`g, h = grad(y, (x, w))`, or `value, gradient = ...`."""
        self._unpack([nodes.Name(token.span, token, None) for token in line.targets], operand)
        if operand[0] in self.derivatives.tuples:
            return self._asked_for(line.span, operand)
        last = self.scope.names.get(line.targets[-1].text)
        return None if last is None or last in self.scope.objects else (last, operand[1])

    def _bound(self, line: nodes.Statement, operand: Operand, mark: int) -> Operand | None:
        """One name for a value: numbers are a definition."""
        (name,) = line.targets
        value, span = operand
        if self.is_required and value != self.leaf:
            message = f"'{name.text}' is no leaf: torch leaves its .grad empty"
            raise self.source.error(message, span, hint="write requires_grad_() at the end of the line")
        is_changed = name.text in self.changed or self.looping > 0
        is_definition = self.is_made and not is_changed and value not in {**self.scope.objects, **self.scope.several}
        is_definition &= value not in self.lowering.lines.conditions  # a mask stays one
        is_definition = self.is_required or (is_definition and not self.passes.function_of(value).variables)
        self.sharing.own(name.text, value, line.value)
        self.dtypes.hold(name.text, value)
        if value in self.scope.objects:
            self.name_object(name.text, value)
            return (value, span) if isinstance(self.scope.objects[value], Listed) else None
        if value in self.derivatives.tuples or not is_definition:
            self.lowering.assign(name.text, value, line.value)
            is_constant = is_changed and not self.passes.function_of(value).variables
            return None if is_constant else self._asked_for(line.span, (value, name.span.to(span)))
        if (before := self.scope.variables.get(name.text)) is not None and self._is_used(before, mark):
            message = f"'{name.text}' is given another tensor behind lines that use the first"
            raise self.source.error(message, name.span, hint="give the second another name")
        self.values[name.text] = self.numbers_of(value, span, "a tensor that requires a gradient")
        self.scope.shapes.setdefault(name.text, self.values[name.text].shape)
        self.dtypes.define(name.text, value)
        self.builder.forget(mark)
        self.scope.names.pop(name.text, None)
        self.scope.variables[name.text] = sympy.Symbol(name.text, real=True)
        self.lowering.libraries.named(self.scope.variables[name.text], value)
        if self.is_required:
            self.dtypes.require_floating(name.text, name.span.to(span))
            self.passes.require(name.text)
        return None

    def _is_used(self, atom: Atom, mark: int) -> bool:
        """Whether lines before are made of a variable, or names stand for it."""
        lines = self.builder.lines[:mark]
        return atom in self.scope.names.values() or any(atom in line.call.operands for line in lines)

    def numbers_of(self, atom: Atom, span: Span, what: str) -> Array:
        """The numbers of a value that is made of variables with numbers.

        Raises:
            LanguageError: A variable has none, and `what` needs them.
        """
        program = self.passes.function_of(atom)
        if not set(program.names) <= set(self.values):
            raise self.source.error(f"{what} needs numbers", span)
        return run(program, {symbol: self.values[symbol.name] for symbol in program.variables})

    # -- what is listened for

    def begin_value(self) -> None:
        """A new value, of which nothing is known."""
        self.is_made = self.is_required = False
        self.leaf: Atom | None = None

    def set_required(self, name: str, span: Span, *, is_required: bool) -> None:
        """Note whether a variable requires a gradient."""
        self.passes.requires.pop(name, None)
        if is_required:
            self.dtypes.require_floating(name, span)
            self.passes.require(name)

    # -- names

    def library(self, words: Sequence[str]) -> Sequence[str]:
        """As the imports say."""
        return self.imports.library(words)

    def renamed(self, name: Token, *, is_module: bool, is_called: bool) -> Token:
        """As the imports say."""
        return self.imports.renamed(name, is_module=is_module, is_called=is_called)

    def is_known(self, name: str) -> bool:
        """Whether a name is imported, or stands for something that is no value."""
        return name in self.imports.whole or super().is_known(name)

    def named(self, name: nodes.Name, trailers: Sequence[nodes.Trailer]) -> tuple[Operand, int] | None:
        """A derivative with its arguments, or what Python has by that name."""
        found = self.transforms.named(name, trailers)
        return super().named(name, trailers) if found is None else found

    def was_named(self, name: nodes.Name, *, is_call: bool) -> None:
        """The type that a module's function gives."""
        if is_call:  # np.pi is a number of Python's
            self.dtypes.named(self.imports.whole.get(name.token.text, name.token.text))

    # -- operations

    def emitting(self, operands: Sequence[Atom], span: Span) -> None:
        """A tuple is no tensor."""
        self.derivatives.require_tensors(operands, span)

    def indexed(self, operand: Operand, subscript: nodes.Subscript) -> Operand | None:
        """One of a tuple of gradients."""
        found = self.derivatives.indexed(operand, subscript)
        return super().indexed(operand, subscript) if found is None else found

    def made(self, op: Op, operands: Sequence[Operand], result: Operand) -> None:
        """A constant tensor makes a definition."""
        is_source = op.kind is Kind.SOURCE
        self.is_made |= is_source
        self.dtypes.made(op, result[0])
        self.leaf = result[0] if is_source and self.is_required else self.leaf

    def raised(self, sign: Token) -> None:
        """As in Python, where `^` is no power."""
        if sign.text == "^":
            message = "'^' is exclusive or in Python, which torch has not of such numbers"
            raise self.source.error(message, sign.span, hint="write ** for a power")

    # -- tensors

    def constructed(self, name: Token, span: Span, arguments: nodes.Arguments) -> Operand | None:
        """`np.float32(0.1)`."""
        if name.text not in ("float32", "float64", "float16"):
            return None
        operand = self.lowering.binder.constructed(name, span, arguments)
        self.dtypes.note_type(name.text, name.span)
        return operand

    def constructing(self) -> str:
        """The type that the statement had before."""
        return self.dtypes.constructing()

    def was_constructed(
        self, name: Token, span: Span, arguments: nodes.Arguments, result: Operand, before: str
    ) -> None:
        """A tensor of numbers makes a definition, and a Parameter requires a gradient."""
        self.is_made |= name.text not in ("float", "Float", "S", "Integer")
        self.dtypes.constructed(name, span, arguments, result[0], before)
        self.is_required |= name.text == "Parameter"
        self.leaf = result[0] if self.is_required else self.leaf

    def held(self, keyword: Token, value: str) -> None:
        """`dtype=...` and `requires_grad=True` among the arguments of a constructor."""
        if keyword.text == "dtype":
            self.dtypes.note_type(value, keyword.span)
        if keyword.text == "requires_grad":
            if value not in ("True", "False"):
                raise self.source.error("requires_grad takes True or False here", keyword.span)
            self.is_required |= value == "True"

    def member(self, operand: Operand, member: nodes.Member) -> Operand | None:
        """`.requires_grad_()` and `.backward(v)`."""
        name = member.name
        if name.text == "requires_grad_":
            self._requires(operand, member)
        if operand[0] not in self.scope.objects or member.arguments is not None:
            self.dtypes.member(name)
        if name.text == "requires_grad" and member.arguments is None and operand[0] not in self.scope.objects:
            _, leaves = self.builder.made_of(operand[0], stop=lambda call: call.op.is_detached)
            is_required = any(str(leaf) in self.passes.requires for leaf in leaves)
            return self.objects.truth(is_required, operand[1].to(member.span))
        if name.text == "backward" and member.arguments is not None:
            return self.passes.method(operand, member, member.arguments)
        return super().member(operand, member)

    def _requires(self, operand: Operand, member: nodes.Member) -> None:
        """Note what requires a gradient from here on."""
        position = self.source.position(member.dot.span.start)
        self.is_required = self.source.tokens[position + 3].text != "False"
        self.leaf = operand[0]
        if str(operand[0]) in self.values:
            span = operand[1].to(member.name.span)
            self.set_required(str(operand[0]), span, is_required=self.is_required)

    def was_member(self, member: nodes.Member) -> None:
        """A conversion gives another type."""
        self.dtypes.was_member(member)

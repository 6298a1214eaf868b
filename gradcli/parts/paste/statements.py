"""Statements of a text: definitions, assignments, passes, displays, and lines without effect on the function.

It is the last layer of the lowering: functions, passes and required gradients are read by rules of its own.
"""

from __future__ import annotations

import re
from collections import ChainMap, Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import sympy

from gradcli.errors import Span
from gradcli.language import ops
from gradcli.language.lower.programs import Lowering, Rules
from gradcli.language.lower.scope import Operand, Scope, Several
from gradcli.language.ops import Kind
from gradcli.language.program.numeric import run
from gradcli.language.program.wengert import Atom
from gradcli.language.text import nodes
from gradcli.language.text.source import SourceText
from gradcli.language.text.tokens import Token
from gradcli.parts.paste.tensors import CONSTRUCTORS, Drawing, Generator
from gradcli.parts.paste.text_calls import KNOWN, Callee

_QUIET = frozenset("set_printoptions set_num_threads retain_grad set_detect_anomaly seed".split())
"""Calls without effect on the function."""

_SHOWN = frozenset("requires_grad is_leaf grad_fn dtype device".split())
"""Members that a notebook shows."""

_GRADIENT = re.compile(r"\.\s*grad\b(?!\s*\()")
"""Pattern of the attribute `.grad`, which is no call."""

_HIDDEN = re.compile(r"\{[^{}]*\b(?:grad|rand\w*|backward|\w+_)\s*\(")
"""Pattern of a call in an f-string that has an effect: a derivative, a draw, a change in place."""


@dataclass(frozen=True)
class Unread:
    """Value that nothing is computed from: a gradient, the positions of a maximum, the result of a call without one.

    Attributes:
        shown: Its description in messages.
        variable: The variable whose gradient it is, if it is `.grad`.
        hint: The form to write in its place, where it is no code.
    """

    shown: str
    variable: str = ""
    hint: str = ""


class Statements(Drawing):
    """Lowering of the statements of a text.

    Attributes:
        is_torch: Whether tensors of numbers are variables, and passes are read.
        is_session: Whether the text was typed at a prompt.
        output: The value of the last statement that has one.
        defined: The function that was defined last.
        changed: The names that are assigned more than once, which stand for no variable.
    """

    def __init__(
        self,
        source: SourceText,
        scope: Scope,
        *,
        generator: Callable[[], Generator] | None,
        shares: bool,
        is_torch: bool,
        is_session: bool,
    ) -> None:
        super().__init__(source, scope, shares=shares)
        scope.names = ChainMap(scope.names)
        self.is_torch = self.is_code = is_torch
        self.is_session, self.make_generator = is_session, generator
        self.imported, self.foreign = dict(KNOWN), set()
        self.values, self.types, self.requires, self.zeroed = {}, {}, {}, {}
        self.passes, self.running, self.statements = [], [], []
        self.casts, self.changed, self.said = set[str](), set[str](), []
        self.output: Operand | None = None
        self.defined: Callee | None = None

    def last_value(self, lines: Sequence[nodes.LineNode]) -> Operand | None:
        """Lower all statements and return the value of the last one that has any, or of a definition at the end."""
        targets = Counter(one.text for line in lines if isinstance(line, nodes.Statement) for one in line.targets)
        self.changed = {name for name, count in targets.items() if count > 1}
        for line in lines:
            self.said.clear()
            self._line(line)
        is_last = bool(lines) and nodes.definition_of(lines[-1]) is not None
        if self.defined is not None and not self.passes and (is_last or self.output is None):
            self.require_used()
            self.output = self.of_parameters(self.defined)
            if self.output is None:
                span, hint = self.defined.node.span, "end it with return ..."
                raise self.source.error("this function returns nothing", span, hint=hint)
        return self.output

    # -- definitions

    def define(self, node: nodes.FunctionNode) -> None:
        """Give a function its name, if it has one."""
        self.require_used()
        first, is_outside = self.source.tokens[node.position], not self.running
        if first.text not in ("def", "lambda") and ops.find(node.name) is not None:
            message = f"'{node.name}' is a function and cannot be defined"
            raise self.source.error(message, first.span, hint="choose another name")
        if first.text != "lambda" and node.name in self.scope.variables and is_outside:
            message = f"'{node.name}' is used as a variable before it is defined"
            raise self.source.error(message, first.span, hint="define it first, or choose another name")
        callee = self.callee(node)
        if node.name:
            self.scope.names[node.name] = self.scope.placeholder(callee, node.name)
        self.defined = callee if is_outside else self.defined

    def _body(self, node: nodes.FunctionNode) -> Operand | None:
        """Lower the body of a function to the value that it returns."""
        for line in node.body:
            if isinstance(line, nodes.Return):
                return self._tuple(line.value, node.name) or self.lower(line.value)
            self._line(line)
        return None

    def _tuple(self, value: nodes.Node, shown: str) -> Operand | None:
        """Lower several values in parentheses, or with commas; None of anything else."""
        if not isinstance(value, nodes.Items) or value.opening.text != "(" or len(value.items) < 2:
            return None
        parts = tuple(self.lower(item) for item in value.items)
        return self.scope.pack(Several(shown or "this function", parts)), value.span

    # -- statements

    def _line(self, line: nodes.LineNode) -> None:
        """Lower a statement of the text or of a function."""
        match line:
            case nodes.FunctionNode():
                self.define(line)
            case nodes.Import():
                self.add_import(line)
            case nodes.Assignment():
                self._member_is(line)
            case nodes.Statement() if isinstance(line.value, nodes.FunctionNode) and not line.is_tuple:
                self.define(line.value)
            case nodes.Statement() if not line.targets:
                self._value_alone(line)
            case nodes.Statement():
                self._bind(line)

    def _value_alone(self, line: nodes.Statement) -> None:
        """Lower a value without a name: a pass, a display, or the output where it is the last."""
        names = self.source.dotted(self.source.position(line.value.span.start))
        arguments = nodes.call_arguments(line.value)
        if isinstance(line.value, nodes.Word) and not line.value.is_operand:
            return
        if (self.is_torch and names[-1] in _QUIET) or names == ["print"]:
            self._print(line, arguments)
            return
        if self.is_torch and names[-1] in ("set_default_dtype", "set_default_tensor_type"):
            self.set_default(line.value.span)
            return
        is_display = self.passes and _GRADIENT.search(self.source.excerpt(line.span)) is not None
        if is_display and not self.acts(line.span):  # as x.grad == 2*x
            return
        self.require_used()
        mark, count = len(self.builder.lines), len(self.passes)
        operand = self.lower(line.value) if self.running else self.statement(line)
        self.note_casts(line.value.span)
        if operand[0] in self.scope.objects or len(self.passes) > count or self.running:
            return
        is_computed = not self.is_torch or any(one.call.op.name != "detach" for one in self.builder.lines[mark:])
        self.statements.append((line.span, self.scope.first_part(operand[0])))
        self.output = operand
        self.unused_value = operand if is_computed and not self.is_session else None

    def _print(self, line: nodes.Statement, arguments: nodes.Arguments | None) -> None:
        """Pass over a print, except for arguments with an effect on later lines."""
        tokens = self.source.within(line.value.span)
        if any(token.kind == "string" and _HIDDEN.search(token.text) for token in tokens):
            raise self.source.code("a derivative, a draw or a change inside a text", line.value.span)
        if isinstance(line.value, nodes.Broken) and (tokens[-1].text != ")" or self.acts(line.span)):
            self.lower(line.value)
        for argument in arguments.items if arguments is not None else ():
            if self.acts(argument.value.span):
                self.lower(argument.value)

    def _member_is(self, line: nodes.Assignment) -> None:
        """Set `x.requires_grad = True` and `x.grad = None`; refuse other members, which belong to code."""
        member = line.member
        word = line.value.token.text if isinstance(line.value, nodes.Word) else ""
        is_read = (member.name.text, word) in (("requires_grad", "True"), ("requires_grad", "False"), ("grad", "None"))
        if not (self.is_torch and is_read):
            raise self.source.code(f"'.{member.name.text}' that is assigned", member.span)
        name = str(self.lower(line.owner)[0])
        if member.name.text == "grad":
            self.zeroed[name] = None
        else:
            self._require(name, line.span, is_required=word == "True")

    # -- names that take values

    def _bind(self, line: nodes.Statement) -> None:
        """Bind names to a value, which is the output where it is the last."""
        self.require_used()
        mark, values = len(self.builder.lines), self._taken(line)
        for token, (node, operand) in zip(line.targets, values, strict=True):
            first = line.targets[0].text
            if token.text != first and not line.is_tuple and first in self.values:  # a = b = tensor: one tensor
                self.scope.names[token.text] = self.scope.variables[first]
            else:
                self._name_is(token, operand, node, line, mark)

    def _taken(self, line: nodes.Statement) -> list[tuple[nodes.Node, Operand]]:
        """Lower the value of each of the names on the left."""
        value, count = line.value, len(line.targets)
        if line.is_tuple and isinstance(value, nodes.Items) and not any(isinstance(i, nodes.Loop) for i in value.items):
            found = [(item, self.lower(item)) for item in value.items]
        else:
            operand = self.lower(value)
            if not line.is_tuple:
                return [(value, operand)] * count
            found = [(value, part) for part in self._parts(operand, count)]
        if len(found) != count:
            span = line.targets[0].span.to(line.targets[-1].span)
            raise self.source.error(f"{count} names for {len(found)} values", span)
        return found

    def _parts(self, operand: Operand, count: int) -> list[Operand]:
        """Take a value apart, into as many parts as there are names where the number is not known yet."""
        atom, span = operand
        if (several := self.scope.several.get(atom)) is not None:
            return [several.parts[0]] * count if several.is_provisional else list(several.parts)
        line = self.builder.line_of(atom)
        if line is not None and (line.call.op.name, line.call.statics) == ("stack", (0,)):
            return [(part, span) for part in line.call.operands]
        shape = self.needed_shape(self.require_tensor(atom, span))
        if shape == ():
            raise self.source.error("a number has no parts", span)
        length = count if shape is None else shape[0]
        if length > MAX_PARTS:
            raise self.source.error(f"{count} names for {length} values", span)
        return [self.emit("index", [atom], span, ((n,),)) for n in range(length)]

    def _name_is(self, name: Token, operand: Operand, node: nodes.Node, line: nodes.Statement, mark: int) -> None:
        """Bind a name to a value: a tensor of numbers is a variable, outside of functions."""
        value, span = operand
        is_required, is_inside = self._is_required(node), bool(self.running)
        if self._uncomputed(value) is not None:
            self.scope.names[name.text] = value
            return
        is_tensor = self.is_torch and not is_inside and self._is_tensor(value, node, mark)
        if is_required and (is_inside or not is_tensor):
            hint = "write requires_grad_() at the end of the line"
            raise self.source.error(f"'{name.text}' is no leaf: torch leaves its .grad empty", node.span, hint=hint)
        if is_tensor and (is_required or name.text not in self.changed):
            self._define(name, value, line, mark, is_required=is_required)
            return
        self.assign(name.text, value, node)
        if is_inside:
            self.scope.unused.pop(name.text, None)
            return
        self.note_casts(line.span)
        value = self.scope.first_part(value)
        self.statements.append((line.span, value))
        if not (self.is_torch and name.text in self.changed and not self.function_of(value).variables):
            self.output, self.unused_value = (value, name.span.to(span)), None

    def _define(self, name: Token, value: Atom, line: nodes.Statement, mark: int, *, is_required: bool) -> None:
        """Make a name a variable with the numbers of a tensor as its values."""
        before = self.scope.variables.get(name.text)
        used = {atom for earlier in self.builder.lines[:mark] for atom in earlier.call.operands}
        if before is not None and before in used | {*self.scope.names.values()}:
            message = f"'{name.text}' is given another tensor behind lines that use the first"
            raise self.source.error(message, name.span, hint="give the second another name")
        program = self.function_of(value)
        self.values[name.text] = run(program, {symbol: self.values[symbol.name] for symbol in program.variables})
        self.scope.shapes.setdefault(name.text, self.values[name.text].shape)
        self.define_type(name.text, value)
        if not line.is_tuple:  # else other names stand for lines that were written since
            self.builder.forget(mark)
        self.scope.names.pop(name.text, None)
        self.scope.variables[name.text] = sympy.Symbol(name.text, real=True)
        if is_required:
            self._require(name.text, name.span.to(line.value.span), is_required=True)

    def _is_tensor(self, value: Atom, node: nodes.Node, mark: int) -> bool:
        """Tell whether a value is a tensor made of numbers alone, in this statement."""
        if value in self.scope.several or value in self.conditions:
            return False
        words = {token.text for token in self.source.within(node.span)}
        new = {line.symbol for line in self.builder.lines[mark:] if line.call.op.kind is Kind.SOURCE}
        is_made = bool(words & CONSTRUCTORS) or any(word.endswith("Tensor") for word in words)
        if not (is_made or new or self._is_required(node)):  # most lines, whose leaves need no search
            return False
        is_made |= any(line.symbol in new for line in self.builder.made_of(value)[0])
        names = self.function_of(value).names
        _, followed = self.builder.made_of(value, stop=lambda call: call.op.is_detached)
        is_leaf = not any(str(leaf) in self.requires for leaf in followed)
        is_copy = is_leaf and self._is_required(node) and all(name in self.values for name in names)
        return is_copy or (is_made and not names)

    def _is_required(self, node: nodes.Node) -> bool:
        """Tell whether the last call of an expression makes a tensor that requires a gradient."""
        last = node.trailers[-1] if isinstance(node, nodes.Postfix) else node
        arguments = nodes.call_arguments(node)
        if isinstance(last, nodes.Member) and last.name.text == "requires_grad_":
            return not any(token.text == "False" for token in self.source.within(last.span))
        words = [token.text for token in self.source.within(node.span)]
        given = [words[n + 2] for n in range(len(words) - 2) if words[n : n + 2] == ["requires_grad", "="]]
        if not {*given} <= {"True", "False"}:
            raise self.source.error("requires_grad takes True or False here", node.span)
        is_said = "requires_grad_" in words or "True" in given
        is_parameter = (
            arguments is not None
            and self.source.tokens[self.source.position(arguments.span.start) - 1].text == "Parameter"
        )
        keywords = [one.name.text for one in (arguments.items if arguments else ()) if one.name is not None]
        if is_parameter or not is_said or "requires_grad" in keywords:
            return is_parameter or is_said
        hint = "write requires_grad_() at the end of the line"
        raise self.source.error("what is computed is no leaf: torch leaves its .grad empty", node.span, hint=hint)

    def _require(self, name: str, span: Span, *, is_required: bool) -> None:
        """Note that a variable requires a gradient, or no longer does."""
        self.requires.pop(name, None)
        if not is_required:
            return
        if self.types.get(name) == "int":
            said = "torch raises 'Only Tensors of floating point dtype can require gradients'"
            hint = "write 1. in place of 1, or dtype=torch.float64"
            raise self.source.error(f"'{name}' has whole numbers: {said}", span, hint=hint)
        self.requires[name] = None

    # -- rules of its own

    def _uncomputed(self, atom: Atom) -> Callee | Unread | None:
        """Return the object that a value, or the first of several, stands for; None of what is computed with."""
        several = self.scope.several.get(atom)
        return self.scope.objects.get(several.parts[0][0] if several is not None and several.parts else atom)

    def _unread(self, value: Unread, span: Span) -> Operand:
        return self.scope.placeholder(value, "unread"), span

    def require_tensor(self, atom: Atom, span: Span) -> Atom:
        """Return a value that is one tensor; refuse functions and values that nothing is computed from."""
        if (value := self._uncomputed(atom)) is None:
            return super().require_tensor(atom, span)
        if isinstance(value, Callee):
            message = f"the function {value.shown} stands where a number or a tensor must"
            raise self.source.error(message, span, hint=f"write {value.shown}(...)")
        if not value.hint:
            raise self.source.code(f"what is computed from {value.shown}", span)
        raise self.source.error(f"{value.shown} stands where a number or a tensor must", span, hint=value.hint)

    def _function(self, node: nodes.FunctionNode) -> Operand:
        """Lower a lambda among arguments."""
        return self.scope.placeholder(self.callee(node), "function"), node.span

    def named(self, node: nodes.NameNode, trailers: Sequence[nodes.Trailer] = ()) -> tuple[Operand, int]:
        """Lower a function of the text, a derivative or a draw; refuse a call that is code."""
        known = self.scope.objects.get(self.scope.names.get(node.token.text, sympy.S.Zero))
        if known is not None:
            self.scope.unused.pop(node.token.text, None)
            if node.arguments is None or not isinstance(known, Callee):
                return (self.scope.names[node.token.text], node.span), 0
            result = self.call_function(known, node.arguments)
            nothing = Unread("this function", hint="it returns nothing: end it with return ...")
            return (self._unread(nothing, node.span) if result is None else (result[0], node.span)), 0
        path, end = self.path_at(self.source.position(node.span.start))
        used = max(0, end - self.source.position(node.span.start) - 1) // 2
        if not path or used > len(trailers):
            return super().named(node, trailers)
        last = trailers[used - 1] if used else node
        arguments = last.arguments if isinstance(last, nodes.NameNode | nodes.Member) else None
        span = node.token.span.to(last.span)
        if self.is_code_path(path) and arguments is not None:
            raise self.source.code(f"'{self.source.single_line(node.token.span.to(arguments.opening.span))}...)'", span)
        if arguments is None or not self.is_torch:
            return super().named(node, trailers)
        match path:
            case "torch.autograd.grad":
                span, count = self.grad(node.token.span, arguments)
                parts = tuple(self._unread(Unread("a derivative"), span) for _ in range(count))
                return (self.scope.pack(Several("grad", parts)), span), used
            case "torch.manual_seed" | "torch.random.manual_seed":
                self.seed = self.whole(*self.by_name(arguments, ["seed"], "manual_seed")["seed"])
                return self._unread(Unread("a generator"), span), used
            case "torch.rand" | "torch.randn" if not any(
                one.name and one.name.text == "seed" for one in arguments.items
            ):
                return self.draw(path, arguments, span), used
        return super().named(node, trailers)

    def _power(self, node: nodes.Power) -> Operand:
        """Lower a power; `^` is refused, as in Python it is none."""
        if node.sign.text == "^" and self.is_torch:
            message = "'^' is exclusive or in Python, which torch has not of such numbers"
            raise self.source.error(message, node.sign.span, hint="write ** for a power")
        return super()._power(node)

    def member(self, operand: Operand, member: nodes.Member) -> Operand:
        """Lower `.backward(v)`, `.requires_grad_()`, `.grad`, and other members without effect on the function."""
        name, arguments, span = member.name.text, member.arguments, operand[1].to(member.span)
        held = self._uncomputed(operand[0])
        if isinstance(held, Unread):
            if name == "zero_" and held.variable:
                self.zeroed[held.variable] = None
            elif name.endswith("_") and name != "detach_":
                raise self.source.code(f"'.{name}', which changes {held.shown},", member.span)
            return operand
        if not self.is_torch:
            return super().member(operand, member)
        if name == "backward" and arguments is not None:
            return self.backward(operand, arguments)
        if name == "requires_grad_" and str(operand[0]) in self.values:
            is_required = not any(token.text == "False" for token in self.source.within(member.span))
            self._require(str(operand[0]), span, is_required=is_required)
            return operand
        if name == "grad" and arguments is None:
            return self._unread(Unread("'.grad'", variable=str(operand[0])), span)
        if arguments is None and name in _SHOWN:
            return self._unread(Unread(f"'.{name}'"), span)
        return operand if name in _QUIET else super().member(operand, member)

    def _indexed(self, operand: Operand, subscript: nodes.Subscript) -> Operand:
        """Take a part of a gradient, which is no longer the `.grad` of a variable."""
        held = self.scope.objects.get(operand[0])
        if isinstance(held, Unread):
            return self._unread(Unread(held.shown), operand[1].to(subscript.span))
        return super()._indexed(operand, subscript)

    _RULES: ClassVar[Rules] = {**Lowering._RULES, nodes.FunctionNode: _function, nodes.Power: _power}


MAX_PARTS = 10_000
"""Largest number of elements of a tensor that names on the left of one `=` may take."""

"""The statements of a snippet: definitions, assignments, passes, displays, and what says nothing about the function."""

from __future__ import annotations

import re
from dataclasses import replace

import sympy

from gradcli.errors import GradcliError, LanguageError, Span
from gradcli.language import ops
from gradcli.language.derivatives import GO_ON
from gradcli.language.dtypes import Dtypes
from gradcli.language.lines import Operand
from gradcli.language.ops import Kind
from gradcli.language.program.numeric import run
from gradcli.language.program.wengert import Atom, Program
from gradcli.language.tensors import CONVERSIONS
from gradcli.language.tokens import Token
from gradcli.language.transforms import TAKES

_QUIET = frozenset(
    [
        "manual_seed",
        "seed",
        "set_printoptions",
        "set_num_threads",
        "retain_grad",
        "zero_grad",
        "train",
        "eval",
        "set_detect_anomaly",
    ]
)
"""Calls that say nothing about the function."""

_HIDDEN = re.compile(r"\b(?:grad|jacobian|hessian|jacrev|jacfwd|vjp|jvp|hvp|vhp)\s*\(")
"""A derivative in the text that an f-string is."""

_BLOCKS = frozenset(["for", "while", "if", "class", "with", "try", "return", "assert", "del", "lambda", "global"])


class PythonStatements(Dtypes):
    """Reads statements of Python that belong to a snippet; the rest is the language."""

    def __init__(self, text: str, source: str, given: frozenset[str]) -> None:
        super().__init__(text, source, given)
        self.leaf: Atom | None = None
        self.is_made = self.is_required = False

    def line(self) -> Operand | None:
        """One statement; its value if it is one of the function's."""
        first = self.token
        self.begin()
        if first.kind == "keyword" and first.text in ("import", "from"):
            self.imported()
            return None
        if first.kind == "keyword" and first.text == "def":
            self.defined()
            return None
        if first.kind == "keyword" and first.text in _BLOCKS:
            hint = "a snippet is a list of assignments, functions, backward() and print()"
            raise self.error(LanguageError, f"a '{first.text}' statement is not read", first.span, hint=hint)
        start = self.targets()
        names, is_bare = self.dotted(start), start == self.position
        if is_bare and names == ["print"] and self.tokens[self.position + 1].text == "(":
            return self.printed()
        if is_bare and names[-1] in ("set_default_dtype", "set_default_tensor_type"):
            self.default_type()
            return None
        is_zeroed = names[-1] == "zero_grad" or (names[-1] == "zero_" and "grad" in names)
        if is_zeroed:
            self.zero(names[0] if names[-1] == "zero_" else None)
        if is_zeroed or (names[-1] in _QUIET and is_bare):
            self.skip_line()
            return None
        if is_bare and self.path_at(start)[0] == "torch.autograd.backward":
            self.backward_function(first)
            return None
        if names[1:2] == ["grad"] and not is_bare and self.path_at(start)[0] not in TAKES:
            self.renamed(start)
            return None
        if (
            is_bare
            and len(names) > 1
            and names[-1] in ("grad", "requires_grad", "is_leaf", "grad_fn", "shape", "dtype")
            and self.tokens[start + 2 * len(names) - 1].text != "("  # torch.autograd.grad(y, x)
        ):
            self.attribute(names)
            return None
        if not is_bare:
            return self.assigned(first, start)
        return self.shown(first, self.statement())

    def is_shown(self, start: int, mark: int) -> bool:
        """As in the language; but for what is there already and a notebook shows: `x`, `loss.item()`."""
        return super().is_shown(start, mark) and any(
            line.call.op.name != "detach" for line in self.builder.lines[mark:]
        )

    def shown(self, first: Token, operand: Operand) -> Operand | None:
        """What a statement has without a name: a pass, a display of a derivative, or a value of the function."""
        if self.passes and self.passes[-1].span.stop == operand[1].stop and self.passes[-1].accumulates:
            return None
        return self.asked_for(first, operand)

    def asked_for(self, first: Token, operand: Operand) -> Operand | None:
        """A derivative, which is a question unless later lines use it; what else, a statement of the function."""
        one = self.pass_of(operand[0])
        if one is not None and one not in self.passes:
            self.add_pass(one)
        if operand[0] in self.tuples:
            for atom in self.tuples[operand[0]]:
                self.noted(first, (atom, operand[1]))
            return None
        self.noted(first, operand)
        return None if one is not None else operand

    def printed(self) -> Operand | None:
        """What is printed is not read, but for a derivative that is taken there."""
        first = self.advance()
        opening = self.advance()
        remarks = len(self.warnings)
        value: Operand | None = None
        while self.token.text != ")" and not self.at_end:
            end = self.end_of_expression()
            inside = range(self.position, end)
            if any(token.kind == "string" and _HIDDEN.search(token.text) for token in self.tokens[inside.start : end]):
                hint = "give the derivative a name on a line of its own"
                raise self.error(LanguageError, "a derivative inside a text is not read", self.token.span, hint=hint)
            if any(self.path_at(n)[0] in TAKES for n in inside) or any(
                self.tokens[n].text in self.functions and self.tokens[n + 1].text == "(" for n in inside
            ):
                self.position += 2 * self.at_keyword
                value = self.asked_for(first, self.expression()) or value
            else:
                self.position = end
            if not self.accept(","):
                break
        self.expect(")", opening)
        del self.warnings[remarks:]
        return value

    def dotted(self, position: int) -> list[str]:
        """The names joined by dots at a position."""
        names = [self.tokens[position].text]
        while self.tokens[position + 1].text == "." and self.tokens[position + 2].kind == "name":
            position += 2
            names.append(self.tokens[position].text)
        return names

    def targets(self) -> int:
        """Where a statement begins behind `g =`, `g, h =` or `(g,) =`; where it begins if there is none of these."""
        position = self.position
        bracket = self.tokens[position].text in ("(", "[")
        position += bracket
        while self.tokens[position].kind == "name" and self.tokens[position + 1].text in (",", "=", ")", "]"):
            position += 1
            position += self.tokens[position].text == ","
            position += bracket and self.tokens[position].text in (")", "]")
            if self.tokens[position].text == "=":
                return position + 1
        return self.position

    def renamed(self, start: int) -> None:
        """`g = x.grad`, a name for what gradcli prints; nothing can be computed with it."""
        names = [token.text for token in self.tokens[self.position : start - 1] if token.kind == "name"]
        self.position = start
        while not self.at_end and self.dotted(self.position)[1:2] == ["grad"]:
            self.position += 3
            while self.token.text == "." and self.tokens[self.position + 1].text in (*CONVERSIONS, "detach"):
                self.position += 2
                self.skip(self.advance())
            if not self.accept(","):
                break
        if self.token.text not in ("\n", ";", ""):
            span = self.tokens[start].span.to(self.tokens[self.position - 1].span)
            raise self.error(LanguageError, "what is computed from '.grad' is not read", span, hint=GO_ON)
        for name in names:
            self.names[name] = sympy.Dummy("grad", real=True)
            self.tuples[self.names[name]] = ()

    def attribute(self, names: list[str]) -> None:
        """`x.requires_grad = True`, `x.grad = None`, or an attribute that a notebook shows."""
        word = self.tokens[self.position + 2 * (len(names) - 1)]
        start = self.token
        self.position += 2 * len(names) - 1
        if self.accept("="):
            value = self.advance()
            if names[-1] == "requires_grad" and names[0] in self.values and value.text in ("True", "False"):
                self.requires.pop(names[0], None)
                if value.text == "True":
                    self.require_floating(names[0], start.span.to(value.span))
                    self.require(names[0])
            elif names[-1] == "grad" and value.text == "None":
                self.zero(names[0])
            else:
                raise self.error(LanguageError, f"'.{names[-1]}' cannot be set here", start.span.to(value.span))
        elif self.token.text not in ("\n", ";", ""):
            raise self.error(LanguageError, f"'.{names[-1]}' is not part of the language", word.span)

    def assigned(self, first: Token, start: int) -> Operand | None:
        """A definition of a variable or a function, or an assignment of the function."""
        names = [token for token in self.tokens[self.position : start - 1] if token.kind == "name"]
        is_tuple = start - self.position > 2
        path, end = self.path_at(start)
        if path in TAKES and self.tokens[end].text in ("\n", ";", ""):
            self.imports[first.text], self.position = path, end
            return None
        if not is_tuple and self.function_at(start):
            self.position = start
            self.functions[first.text] = replace(self.function(), shown=first.text)
            self.names.pop(first.text, None)
            return None
        mark = len(self.builder.lines)
        self.is_made = self.is_required = False
        self.leaf = None
        for name in names:
            self.require_assignable(name)
        self.position = start
        self.is_pair = False
        value, span = self.expression()
        if is_tuple:
            return self.unpacked(first, names, (value, span))
        return self.bound(names[0], (value, span), mark)

    def unpacked(self, first: Token, names: list[Token], operand: Operand) -> Operand | None:
        """`g, h = grad(y, (x, w))`, or `value, gradient = ...`."""
        parts = self.tuples.get(operand[0])
        if parts is None or self.token.text == ",":
            hint = "write one assignment a line"
            raise self.error(LanguageError, "several names on a line are not read", first.span, hint=hint)
        if len(parts) != len(names):
            message = f"{len(names)} names for a tuple of {len(parts)}"
            raise self.error(LanguageError, message, names[0].span.to(names[-1].span))
        for name, part in zip(names, parts, strict=True):
            if part in self.pullbacks:
                self.functions[name.text] = self.pullbacks[part]
            else:
                self.assign(name.text, part)
        return self.asked_for(first, operand)

    def bound(self, name: Token, operand: Operand, mark: int) -> Operand | None:
        """One name for a value: numbers are a definition."""
        value, span = operand
        if self.is_required and value != self.leaf:
            hint = "write requires_grad_() at the end of the line"
            raise self.error(LanguageError, f"'{name.text}' is no leaf: torch leaves its .grad empty", span, hint=hint)
        lines, leaves = self.builder.made_of(value) if self.is_made or self.is_required else ([], set())
        used = self.variables_of(leaves)
        if value in self.tuples or (not self.is_required and (not self.is_made or used)):
            self.assign(name.text, value)
            return self.asked_for(name, (value, name.span.to(span)))
        if any(str(symbol) not in self.values for symbol in used):
            raise self.error(LanguageError, "a tensor that requires a gradient needs numbers", span)
        known = {symbol: self.values[str(symbol)] for symbol in used}
        self.values[name.text] = run(Program(self.text, (), tuple(lines), value, self.source), known)
        self.shapes.setdefault(name.text, self.values[name.text].shape)
        self.define(name.text, value)
        self.builder.forget(mark)
        self.names.pop(name.text, None)
        self.functions.pop(name.text, None)
        self.variables[name.text] = sympy.Symbol(name.text, real=True)
        if self.is_required:
            self.require_floating(name.text, name.span.to(span))
            self.require(name.text)
        return None

    def noted(self, first: Token, operand: Operand) -> None:
        """A statement of the function, remembered with its range."""
        self.statements.append((Span(first.span.start, self.tokens[self.position - 1].span.stop), operand[0]))

    # -- what makes a definition

    def tensor(self, name: Token, span: Span) -> Operand:
        """As in the language; a tensor of numbers makes a definition, and a Parameter requires a gradient."""
        self.is_made |= name.text not in ("float", "Float", "S", "Integer")
        operand = super().tensor(name, span)
        self.is_required |= name.text == "Parameter"
        self.leaf = operand[0] if self.is_required else self.leaf
        return operand

    def power(self) -> Operand:
        """As in Python, where `^` is no power."""
        position = self.position
        operand = super().power()
        for token in self.tokens[position : self.position]:
            if token.text == "^":
                message = "'^' is exclusive or in Python, which torch has not of such numbers"
                raise self.error(LanguageError, message, token.span, hint="write ** for a power")
        return operand

    def made(self, op: ops.Op, operands: list[Operand], statics: tuple[ops.Default, ...], span: Span) -> Operand:
        """As in the language; a constant tensor makes a definition."""
        self.is_made |= op.kind is Kind.SOURCE
        if op.name in ("rand", "randn"):
            self.warnings.append(f"{op.name} is NumPy's generator here; torch's numbers differ for the same seed")
        operand = super().made(op, operands, statics, span)
        self.leaf = operand[0] if op.kind is Kind.SOURCE and self.is_required else self.leaf
        return operand

    def held(self, keyword: Token, value: str) -> None:
        """`requires_grad=True` among the arguments of a constructor."""
        super().held(keyword, value)
        if keyword.text == "requires_grad" and value not in ("True", "False"):
            raise self.error(LanguageError, "requires_grad takes True or False here", keyword.span)
        self.is_required |= keyword.text == "requires_grad" and value == "True"

    def method(self, operand: Operand) -> Operand:
        """As in the language, and `.requires_grad_()`."""
        name = self.tokens[self.position + 1]
        if name.text == "requires_grad_":
            self.is_required = self.tokens[self.position + 3].text != "False"
            self.leaf = operand[0]
            if str(operand[0]) in self.values:
                self.requires.pop(str(operand[0]), None)
                if self.is_required:
                    self.require_floating(str(operand[0]), operand[1].to(name.span))
                    self.require(str(operand[0]))
        return super().method(operand)

    def unexpected(self, where: str = "") -> GradcliError:
        """The error that a token cannot stand here, with what a snippet may have."""
        error = super().unexpected(where)
        error.hint = error.hint or "a snippet is tensor definitions, statements, backward() and print()"
        return error

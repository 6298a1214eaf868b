"""Functions that a snippet defines, and what its imports call those of torch: read again wherever they are called.

    def f(x, n=2): ...; return ...          f = lambda x: ...          from torch.autograd import grad as g

A body is assignments and one `return`.  Its parameters stand for what it is called with, its other names for what the
snippet has under them, as in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from gradcli.errors import LanguageError, Span
from gradcli.language import ops
from gradcli.language.grammar import Parser
from gradcli.language.lines import Operand
from gradcli.language.names import PREFIXES
from gradcli.language.ops import REQUIRED
from gradcli.language.program.wengert import Atom
from gradcli.language.tokens import Token

_FUNCTIONAL, _FUNC = "torch.autograd.functional", "torch.func"

_KNOWN = {
    "torch": "torch",
    "autograd": "torch.autograd",
    "functorch": _FUNC,
    "grad": "torch.autograd.grad",
    **{name: f"{_FUNCTIONAL}.{name}" for name in ("jacobian", "hessian", "vjp", "jvp", "hvp", "vhp")},
    **{name: f"{_FUNC}.{name}" for name in ("jacrev", "jacfwd", "grad_and_value")},
}
"""What names stand for where no import says."""

_SAME = {"functorch.": f"{_FUNC}.", "jax.": f"{_FUNC}."}
"""Libraries whose derivatives are those of another."""


@dataclass(frozen=True)
class Function:
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


@dataclass(frozen=True)
class _Body:
    """Where the tokens of a body are, and its definition in the text if it has a name."""

    start: int
    end: int
    parameters: tuple[str, ...]
    span: Span | None


class Functions(Parser):
    """Reads definitions, imports and calls of functions of the text."""

    max_depth = 60  # as each level takes up to fourteen of Python's frames here

    def __init__(self, text: str, source: str, given: frozenset[str]) -> None:
        super().__init__(text, source, given)
        self.tokens += [self.tokens[-1]] * 3  # what is looked at beyond the end is the end
        self.functions: dict[str, Function] = {}
        self.imports: dict[str, str] = dict(_KNOWN)
        self.running: list[int] = []
        self.statements: list[tuple[Span, Atom]] = []

    # -- imports

    def imported(self) -> None:
        """An import, of which the names are remembered."""
        word = self.advance()
        module = self._dotted_name() if word.text == "from" else ""
        if word.text == "from":
            self.advance()
        bracket = self.accept("(")
        while self.token.kind == "name":
            path = self._dotted_name()
            name = path.partition(".")[0] if word.text == "import" else path
            whole = f"{module}.{path}" if module else path
            if self.token.text == "as":
                self.advance()
                name = self.advance().text
            elif not module:
                whole = name
            self.imports[name] = whole
            self.functions.pop(name, None)
            if not self.accept(","):
                break
        if bracket:
            self.accept(")")
        while self.token.text not in (";", "\n") and not self.at_end:
            self.advance()

    def _dotted_name(self) -> str:
        words = [self.advance().text]
        while self.token.text == "." and self.tokens[self.position + 1].kind == "name":
            self.advance()
            words.append(self.advance().text)
        return ".".join(words)

    def path_at(self, position: int) -> tuple[str, int]:
        """The whole name of what stands at a position, as `torch.autograd.grad`, and the position behind it."""
        first = self.tokens[position]
        is_own = first.text in self.names or first.text in self.variables or first.text in self.functions
        is_behind_dot = position > 0 and self.tokens[position - 1].text == "."
        if first.kind != "name" or is_own or is_behind_dot or first.text not in self.imports:
            return "", position
        path = self.imports[first.text]
        position += 1
        while self.tokens[position].text == "." and self.tokens[position + 1].kind == "name":
            path += f".{self.tokens[position + 1].text}"
            position += 2
        for theirs, ours in _SAME.items():
            path = ours + path.removeprefix(theirs) if path.startswith(theirs) else path
        return path, position

    def library(self, words: Sequence[str]) -> str:
        """That of the import: `from numpy import var`, `import jax.numpy as F`."""
        return super().library([*self.imports.get(words[0], words[0]).split("."), *words[1:]])

    def _as_imported(self, token: Token) -> Token:
        """A name that an import gave to a function or a module under the name that is known."""
        last = self.imports.get(token.text, token.text).rpartition(".")[2]
        is_own = token.text in self.names or token.text in self.variables
        is_known = last in PREFIXES if self.token.text == "." else self.token.text == "(" and ops.find(last) is not None
        return replace(token, text=last) if is_known and not is_own else token

    # -- definitions

    def defined(self) -> None:
        """`def f(x): ...`, whose body is read where it is called."""
        start = self.advance()
        name, opening = self.advance(), self.advance()
        if name.kind != "name" or opening.text != "(":
            raise self.error(LanguageError, "a definition is def NAME(x): ...", start.span.to(opening.span))
        parameters, defaults = self._parameters(")")
        self.expect(")", opening)
        while self.token.text not in (":", "\n", "") and not self.at_end:
            self.advance()  # -> torch.Tensor
        colon = self.advance()
        if colon.text != ":":
            raise self.error(LanguageError, "a definition is def NAME(x): ...", start.span.to(name.span))
        body = self.position
        end = self._end_of_block(self._indent_of(start))
        self.position = end
        span = start.span.to(self.tokens[end - 1].span)

        def value(given: Sequence[Operand], where: Span) -> Operand:
            return self._run(_Body(body, end, parameters, span), self._returned, given, where)

        self.functions[name.text] = Function(parameters, value, defaults, name.text)
        self.names.pop(name.text, None)

    def lambda_(self) -> Function:
        """`lambda x: ...`; where it is assigned, its name is part of what is shown."""
        is_named = self.tokens[self.position - 1].text == "=" and self.tokens[self.position - 2].kind == "name"
        first = self.tokens[self.position - 2] if is_named else self.token
        start = self.advance()
        parameters, defaults = self._parameters(":")
        colon = self.advance()
        if colon.text != ":":
            raise self.error(LanguageError, "a function is lambda x: ...", start.span.to(colon.span))
        body = self.position
        end = self.end_of_expression()
        self.position = end
        span = first.span.to(self.tokens[end - 1].span)

        def value(given: Sequence[Operand], where: Span) -> Operand:
            return self._run(
                _Body(body, end, parameters, span if is_named else None),
                lambda end, where: self.expression(),
                given,
                where,
            )

        return Function(parameters, value, defaults, f"({self.text[span.start : span.stop]})")

    def _parameters(self, closing: str) -> tuple[tuple[str, ...], tuple[Atom, ...]]:
        """Names with their defaults, the types passed over."""
        names: list[str] = []
        defaults: list[Atom] = []
        while self.token.text != closing and not self.at_end:
            name = self.advance()
            if name.kind != "name":
                raise self.error(LanguageError, f"unexpected '{name.text}' among the parameters", name.span)
            names.append(name.text)
            if closing == ")" and self.accept(":"):
                while self.token.text not in (",", "=", ")", "\n", ""):
                    opening = self.advance()
                    if opening.text in ("(", "["):
                        self.skip(opening)
            if self.accept("="):
                defaults.append(self.expression()[0])
            elif defaults:
                raise self.error(LanguageError, "a parameter without a default follows one that has one", name.span)
            if not self.accept(","):
                break
        return tuple(names), tuple(defaults)

    def _indent_of(self, token: Token) -> int:
        return token.span.start - self.text.rfind("\n", 0, token.span.start) - 1

    def _end_of_block(self, column: int) -> int:
        """The position behind the body of a definition: the rest of the line, or the lines that stand further in."""
        position = self.position
        if self.tokens[position].text != "\n":
            while self.tokens[position].text not in ("\n", ""):
                position += 1
            return position
        end = position
        while self.tokens[position].text == "\n":
            position += 1
            if self.tokens[position].text == "\n":
                continue
            if self.tokens[position].kind == "end" or self._indent_of(self.tokens[position]) <= column:
                break
            while self.tokens[position].text != "\n" and self.tokens[position].kind != "end":
                position += 1
            end = position
        return end

    def end_of_expression(self) -> int:
        """The position of the comma, bracket or line end behind the body of a lambda."""
        previous = 0
        for position, depth in self.levels(self.position):
            text = self.tokens[position].text
            if depth < 0 or (previous == 0 and text in (",", ";", "\n", "")):
                return position
            previous = depth
        return len(self.tokens) - 1

    # -- calls

    def _run(self, body: _Body, read: Callable[[int, Span], Operand], given: Sequence[Operand], where: Span) -> Operand:
        """A body with its parameters standing for these operands."""
        word = self.tokens[body.start]
        if body.start in self.running:
            raise self.error(LanguageError, "a function that calls itself is not read", where)
        self.require_few(body.end - body.start, word)
        if len(given) != len(body.parameters):
            raise self.error(LanguageError, f"the function takes {', '.join(body.parameters) or 'nothing'}", where)
        held, position = self.names, self.position
        self.names = held | dict(zip(body.parameters, (atom for atom, _ in given), strict=True))
        hidden = {name: self.functions.pop(name) for name in body.parameters if name in self.functions}
        self.running.append(body.start)
        self.position = body.start
        with self.nested(word):
            result = read(body.end, where)
        if self.position < body.end and self.token.text not in ("\n", ";"):
            raise self.unexpected(" in a function")
        self.running.pop()
        self.position, self.names = position, held
        self.functions |= hidden
        if body.span is not None:
            self.statements.append((body.span, result[0]))
        return result

    def _returned(self, end: int, where: Span) -> Operand:
        """What the statements of a definition return."""
        while self.position < end:
            if self.accept("\n") or self.accept(";"):
                continue
            word, after = self.token, self.tokens[self.position + 1]
            if word.text == "return" and word.kind == "keyword":
                self.advance()
                return self.expression()
            if word.kind != "name" or after.text != "=":
                hint = "a function is assignments and a return"
                raise self.error(LanguageError, f"unexpected '{word.text}' in a function", word.span, hint=hint)
            self.position += 2
            self.names[word.text] = self.expression()[0]
        raise self.error(LanguageError, "this function returns nothing", where, hint="end it with return ...")

    def called(self, function: Function, shown: str) -> Operand:
        """A function with its arguments, of which the parenthesis is next."""
        opening = self.advance()
        given: list[Operand] = []
        named: dict[str, Operand] = {}
        with self.nested(opening):
            while self.token.text != ")" and not self.at_end:
                if self.at_keyword:
                    word = self.token
                    self.position += 2
                    if word.text not in function.parameters or word.text in named:
                        raise self.error(LanguageError, f"{shown} has no argument '{word.text}'", word.span)
                    named[word.text] = self.expression()
                else:
                    given.append(self.expression())
                if not self.accept(","):
                    break
            span = opening.span.to(self.expect(")", opening).span)
        return function.value(self.bound_to(function, given, named, shown, span), span)

    def bound_to(
        self, function: Function, given: list[Operand], named: dict[str, Operand], shown: str, span: Span
    ) -> list[Operand]:
        """The arguments in order, defaults filled in."""
        names, defaults = function.parameters, function.defaults
        if not names:
            return given
        held = dict(zip(names, given, strict=False)) | named
        held = {n: (d, span) for n, d in zip(names[len(names) - len(defaults) :], defaults, strict=True)} | held
        if len(given) > len(names) or set(names) - set(held) or set(names[: len(given)]) & set(named):
            raise self.error(LanguageError, f"{shown} takes {', '.join(names)}", span)
        return [held[name] for name in names]

    def named(self, token: Token) -> Operand:
        """As in the language, and a call of a function of the text."""
        function = self.functions.get(token.text)
        if function is None or token.text in self.names:
            return super().named(self._as_imported(token))
        if self.token.text != "(":
            raise self.error(
                LanguageError, f"'{token.text}' is a function", token.span, hint=f"write {token.text}(...)"
            )
        operand, span = self.called(function, token.text)
        return operand, token.span.to(span)

    def function_of_table(self, position: int) -> tuple[Function, int] | None:
        """An operation of the table as a function: `torch.cos`, alone among arguments."""
        start = self.tokens[position]
        while self.tokens[position + 1].text == "." and self.tokens[position].text in self.imports:
            position += 2
        while self.tokens[position + 1].text == ".":
            position += 2
        name = self.tokens[position]
        op = ops.find(name.text, after_dot=True)
        is_alone = self.tokens[position + 1].text in (",", ")", "\n", ";", "")
        if name.kind != "name" or op is None or not is_alone or REQUIRED in op.statics.values():
            return None

        def value(given: Sequence[Operand], where: Span) -> Operand:
            operands = [*given]
            if len(operands) != len(op.operands):
                raise self.error(LanguageError, f"{op.name} takes {', '.join(op.operands)}", where)
            return self.made(op, operands, tuple(op.statics.values()), name.span)

        return Function(op.operands, value, (), self.text[start.span.start : name.span.stop]), position + 1

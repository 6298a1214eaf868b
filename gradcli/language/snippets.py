"""A whole PyTorch snippet as a function, its values, what to differentiate by, and v.

    x = torch.tensor([1., 2.], requires_grad=True)     a variable and its value; requires_grad names it
    y = x**2                                           a statement of the function
    y.backward(torch.tensor([1., 1.]))                 the output, and v
    print(x.grad)                                      what gradcli prints anyway

A definition is an assignment of a tensor made of numbers.  Several backward passes add up in `.grad`, so their v's do,
until it is set to zero.  Imports, prints and seeds say nothing about the function; what else stands there is refused at
its place.  A text without any of this is a Program as it always was.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import sympy

from gradcli import collector
from gradcli.errors import GradcliError, LanguageError, Span
from gradcli.language import ops
from gradcli.language.grammar import parse
from gradcli.language.indexing import Shape
from gradcli.language.lines import Operand
from gradcli.language.numeric import run
from gradcli.language.ops import Kind
from gradcli.language.passes import Passes, Replay
from gradcli.language.program import Atom, Program
from gradcli.language.tokens import Token

_SIGNS = re.compile(
    r"\bimport\b|\bbackward\b|\brequires_grad|\bautograd\b|^[ \t]*print\s*\(|"
    r"=\s*(?:torch\s*\.\s*)?(?:tensor|Tensor|FloatTensor|DoubleTensor|Variable)\s*\(",
    re.MULTILINE,
)
"""What no expression has, and a snippet does."""

_QUIET = frozenset(
    [
        "manual_seed",
        "seed",
        "set_default_dtype",
        "set_printoptions",
        "set_num_threads",
        "retain_grad",
        "zero_grad",
        "train",
        "eval",
    ]
)
"""Calls that say nothing about the function."""

_BLOCKS = frozenset(
    ["for", "while", "if", "def", "class", "with", "try", "return", "assert", "del", "lambda", "global"]
)


@dataclass(frozen=True)
class Snippet:
    """What a text says.

    Attributes:
        program: The function.
        values: Values of the variables that the text defines.
        wrt: The variables that require a gradient; None if the text does not say.
        v: The gradient vector as a function of the variables, if the text has a backward pass with one.
        vs: The same pass by pass, where several add up to v.
        frees_graph: All passes as torch meets them, if one is followed by another and is not asked to keep its graph.
    """

    program: Program
    values: Mapping[str, npt.NDArray[np.float64]] = field(default_factory=dict)
    wrt: tuple[str, ...] | None = None
    v: Program | None = None
    vs: tuple[Program, ...] = ()
    frees_graph: Replay | None = None


def read(
    text: str,
    *,
    given: frozenset[str] = frozenset(),
    shapes: Mapping[str, Shape] = MappingProxyType({}),
    shares: bool = True,
) -> Snippet:
    """The function of a text: a Program, or a snippet of PyTorch.

    Args:
        text: As typed or pasted.
        given: Names that are variables although they are also constants.
        shapes: Of variables, where they are known.
        shares: Whether operations that compute the same become one line, as in `parse`.

    Raises:
        GradcliError: As for `parse`, or a line that is not read.

    >>> snippet = read("x = torch.tensor([1., 2.], requires_grad=True)\\ny = x**2\\ny.backward(torch.ones(2))")
    >>> snippet.program.names, snippet.values["x"].tolist(), snippet.wrt
    (('x',), [1.0, 2.0], ('x',))
    """
    if not _SIGNS.search(text):
        return Snippet(parse(text, given=given, shapes=shapes, shares=shares))
    text = _without_prompts(text)
    with collector.paused():
        reader = _reader(text, given, shapes, shares=shares)
        snippet = reader.snippet()
        if not reader.frees_graph:
            return snippet
        return replace(snippet, frees_graph=_reader(text, given, shapes, shares=False).replay())


def _reader(text: str, given: frozenset[str], shapes: Mapping[str, Shape], *, shares: bool) -> _Reader:
    reader = _Reader(text, "EXPR", given)
    reader.shapes, reader.builder.shares = dict(shapes), shares
    return reader


def _without_prompts(text: str) -> str:
    """What was typed at Python's prompt, blanks standing for the prompts and for what was printed."""
    lines = text.split("\n")
    if not any(line.lstrip().startswith(">>> ") for line in lines):
        return text
    prompts = re.compile(r"\s*(>>> |\.\.\. )")
    shown = [" " * m.end() + line[m.end() :] if (m := prompts.match(line)) else " " * len(line) for line in lines]
    return "\n".join(shown)


class _Reader(Passes):
    """Reads statements of Python that belong to a snippet; the rest is the language."""

    def __init__(self, text: str, source: str, given: frozenset[str]) -> None:
        super().__init__(text, source, given)
        self.statements: list[tuple[Span, Atom]] = []
        self.leaf: Atom | None = None
        self.is_made = self.is_required = False

    def snippet(self) -> Snippet:
        """The whole text."""
        output = self.last_value()
        if self.passes:
            self.require_used()
            output = self.passes[-1].output, self.passes[-1].span
        if output is None:
            hint = "a snippet has a statement such as y = x**2 and y.backward(v)"
            raise self.error(LanguageError, "there is no function in this text", Span(0, 1), hint=hint)
        return self.finished(output)

    def replay(self) -> Replay:
        """The whole text as torch runs it, by a reader that shares no lines."""
        self.last_value()
        last = self.passes[-1]
        whole = self.finish((last.output, last.span))
        lines, leaves = self.builder.made_of(*(one.output for one in self.passes))
        program = replace(whole, variables=self.variables_of(leaves), lines=tuple(lines), output=last.output)
        return Replay(program, tuple(self.passes), tuple(self.requires or self.values))

    # -- statements

    def line(self) -> Operand | None:
        """One statement; its value if it is one of the function's."""
        first, second = self.token, self.tokens[min(self.position + 1, len(self.tokens) - 1)]
        if first.kind == "keyword" and first.text in ("import", "from"):
            self.skip_line()
            return None
        if first.kind == "keyword" and first.text in _BLOCKS:
            hint = "a snippet is a list of assignments, backward() and print()"
            raise self.error(LanguageError, f"a '{first.text}' statement is not read", first.span, hint=hint)
        names, is_bare = self.dotted(), self.targets() == self.position
        if names == ["print"] and self.tokens[self.position + 1].text == "(":
            self.printed(first)
            return None
        is_zeroed = names[-1] == "zero_grad" or (names[-1] == "zero_" and "grad" in names)
        if is_zeroed:
            self.zero(names[0] if names[-1] == "zero_" else None)
        if is_zeroed or (names[-1] in _QUIET and is_bare):
            self.skip_line()
            return None
        if names[-2:] in (["autograd", "grad"], ["autograd", "backward"]):
            self.differentiated(first)
            return None
        if names[-1] == "grad" and not is_bare:
            self.skip_line()  # a name for what gradcli prints
            return None
        if (
            is_bare
            and len(names) > 1
            and names[-1] in ("grad", "requires_grad", "is_leaf", "grad_fn", "shape", "dtype")
        ):
            self.attribute(names)
            return None
        if second.text == "," and first.kind == "name":
            hint = "write one assignment a line"
            raise self.error(LanguageError, "several names on a line are not read", first.span, hint=hint)
        if first.kind == "name" and second.text == "=":
            return self.assigned(first)
        start = len(self.passes)
        operand = self.statement()
        return None if len(self.passes) > start else self.noted(first, operand)

    def is_shown(self, start: int, mark: int) -> bool:
        """As in the language; but for what is there already and a notebook shows: `x`, `loss.item()`."""
        return super().is_shown(start, mark) and any(
            line.call.op.name != "detach" for line in self.builder.lines[mark:]
        )

    def printed(self, first: Token) -> None:
        """What is printed is not read, but for a derivative that is taken there."""
        self.position += 2
        if self.dotted()[-2:] == ["autograd", "grad"]:
            self.differentiated(first)
        else:
            self.position -= 1
            self.skip(self.advance())
        self.skip_line()

    def dotted(self) -> list[str]:
        """The names joined by dots at the start of a statement, behind its targets."""
        position = self.targets()
        names = [self.tokens[position].text]
        while self.tokens[position + 1].text == "." and self.tokens[position + 2].kind == "name":
            position += 2
            names.append(self.tokens[position].text)
        return names

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
                    self.require(names[0])
            elif names[-1] == "grad" and value.text == "None":
                self.zero(names[0])
            else:
                raise self.error(LanguageError, f"'.{names[-1]}' cannot be set here", start.span.to(value.span))
        elif self.token.text not in ("\n", ";", ""):
            raise self.error(LanguageError, f"'.{names[-1]}' is not part of the language", word.span)

    def assigned(self, name: Token) -> Operand | None:
        """A definition of a variable, or an assignment of the function."""
        mark = len(self.builder.lines)
        self.is_made = self.is_required = False
        self.leaf = None
        self.require_assignable(name)
        self.position += 2
        self.is_pair = False
        value, span = self.expression()
        if self.is_required and value != self.leaf:
            hint = "write requires_grad_() at the end of the line"
            raise self.error(LanguageError, f"'{name.text}' is no leaf: torch leaves its .grad empty", span, hint=hint)
        lines, leaves = self.builder.made_of(value) if self.is_made or self.is_required else ([], set())
        used = self.variables_of(leaves)
        if not self.is_required and (not self.is_made or used):
            self.assign(name.text, value)
            return self.noted(name, (value, name.span.to(span)))
        if any(str(symbol) not in self.values for symbol in used):
            raise self.error(LanguageError, "a tensor that requires a gradient needs numbers", span)
        known = {symbol: self.values[str(symbol)] for symbol in used}
        self.values[name.text] = run(Program(self.text, (), tuple(lines), value, self.source), known)
        self.shapes.setdefault(name.text, self.values[name.text].shape)
        self.builder.forget(mark)
        self.names.pop(name.text, None)
        self.variables[name.text] = sympy.Symbol(name.text, real=True)
        if self.is_required:
            self.require(name.text)
        return None

    def noted(self, first: Token, operand: Operand) -> Operand:
        """A statement of the function, remembered with its range."""
        self.statements.append((Span(first.span.start, self.tokens[self.position - 1].span.stop), operand[0]))
        return operand

    # -- what makes a definition

    def tensor(self, name: Token, span: Span) -> Operand:
        """As in the language; a tensor of numbers makes a definition, and a Parameter requires a gradient."""
        self.is_made |= name.text not in ("float", "Float", "S", "Integer")
        operand = super().tensor(name, span)
        self.is_required |= name.text == "Parameter"
        self.leaf = operand[0] if self.is_required else self.leaf
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
                    self.require(str(operand[0]))
        return super().method(operand)

    # -- the whole

    def finished(self, output: Operand) -> Snippet:
        """The function of the output, and v as a function of the same variables."""
        v = self.accumulated()
        self.unused.clear()  # a snippet may compute more than the function
        self.last_name = next((n for n, atom in self.names.items() if atom == output[0]), "")
        whole = self.finish(output)
        wanted, leaves = self.builder.made_of(whole.output)
        symbols = {line.symbol for line in wanted} | leaves | {whole.output}
        program = replace(
            whole,
            variables=self.variables_of(leaves),
            lines=tuple(line for line in whole.lines if line.symbol in symbols),
            named={name: atom for name, atom in whole.named.items() if atom in symbols or atom.is_number},
            shown="; ".join(self.text[span.start : span.stop] for span, atom in self.statements if atom in symbols),
        )
        asked = self.passes[-1].inputs if self.passes else ()
        wrt = asked or tuple(name for name in program.names if name in self.requires) or None
        if self.passes and wrt is None and self.values:
            warning = "no tensor has requires_grad=True, where torch would refuse; all are differentiated by"
            program = replace(program, warnings=(*program.warnings, warning))
        gradient = None if v is None else self.gradient(v)
        each = tuple(map(self.gradient, self.vs)) if len(self.vs) > 1 else ()
        return Snippet(program, self.values, wrt, gradient, each)

    def gradient(self, v: Atom) -> Program:
        """A gradient vector as a function of the variables."""
        lines, leaves = self.builder.made_of(v)
        return Program(self.text, self.variables_of(leaves), tuple(lines), v, self.source)

    def unexpected(self, where: str = "") -> GradcliError:
        """The error that a token cannot stand here, with what a snippet may have."""
        error = super().unexpected(where)
        error.hint = error.hint or "a snippet is tensor definitions, statements, backward() and print()"
        return error

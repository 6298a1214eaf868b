"""Forms of a function while it is rewritten: a Program, other values in place of some of its own, and the new text.

A new value is written as a text of the language in names, which are filled with values.  A form is kept only if its
text reads back as the same lines.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from types import MappingProxyType

import sympy

from gradcli.errors import GradcliError, Span
from gradcli.language.lower.names import shadowed
from gradcli.language.parsing import parse
from gradcli.language.program.program_text import MOST_INLINE, ProgramText
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Atom, Builder, Call, Line, Program, Shape, needed
from gradcli.parts.improve.matching import Words, in_other_words

MOST_LINES = 2_000
"""Most operations of a Program that is rewritten."""

MOST_TEXT = 20_000
"""Most characters of a text that is rewritten, or of a new text."""

_ONE_STATEMENT = re.compile(r"^[^\W\d]\w* = (?=[^;\n]*$)")
"""Name of the value of a text, and the sign behind it, where no other statement stands before."""


@dataclass(frozen=True)
class Form:
    """A function as it is written.

    Attributes:
        program: The Program, with its text.
        sizes: Shapes of the variables, as far as they are known.
        reasons: The troubles that it avoids, in the order of its rewrites.
        basis: The form without series, if this one has some: the two are the same to float64, which was proved.
    """

    program: Program
    sizes: Mapping[str, Shape] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    basis: Form | None = None

    @property
    def same(self) -> Form:
        """The form without series, which is the function in any precision."""
        return self.basis or self

    @property
    def text(self) -> str:
        """The text of the whole function."""
        return self.program.text.strip()

    @property
    def value_text(self) -> str:
        """The text, without the name of its value where it is one statement: code has `y = norm(x)` for `norm(x)`."""
        return _ONE_STATEMENT.sub("", self.text)

    @cached_property
    def nodes(self) -> dict[Atom, Call]:
        """The operations by their values, in order."""
        return {line.symbol: line.call for line in self.program.lines}

    @cached_property
    def words(self) -> Words:
        """The operations as patterns find them, also in other words."""
        return in_other_words(self.nodes)

    @cached_property
    def shapes(self) -> Mapping[Atom, Shape]:
        """Shapes of all values; empty where the shapes of the variables are not known."""
        try:
            return infer(self.program, {symbol: self.sizes[str(symbol)] for symbol in self.program.variables})
        except (GradcliError, KeyError):
            return {}

    def shape(self, atom: Atom) -> Shape | None:
        """Return the shape of a value; None if it is not known."""
        return self.shapes.get(atom) if isinstance(atom, sympy.Symbol) else ()

    @cached_property
    def _expressions(self) -> ProgramText:
        return ProgramText(self.program.lines, {atom: name for name, atom in self.program.named.items()})

    def text_of(self, atom: Atom) -> str:
        """Write a value as text."""
        return self._expressions.expression(atom, is_whole=True).text

    def without_snippet(self) -> Form | None:
        """Write the function of a snippet alone, without the lines that make tensors and call backward()."""
        return self.rewritten({})

    def rewritten(self, edits: Mapping[Atom, Edit], why: str = "") -> Form | None:
        """Put other values in the place of some; None if the text of the new form does not read back as the same.

        Args:
            edits: The functions that write the new values, by the old ones.
            why: The trouble that this avoids.
        """
        writer = FormWriter(self, self.program.named)
        writer.copy(self.program.lines, writer.values, edits)
        found = writer.form(writer.values.get(self.program.output, self.program.output))
        reasons = tuple(filter(None, dict.fromkeys((*self.reasons, why))))
        return None if found is None else replace(found, reasons=reasons, basis=self.basis)


class FormWriter:
    """Writer of the lines of a new form.

    Args:
        origin: The form that it comes from.
        named: Names of the values of the origin, which keep them.

    Attributes:
        values: The new values, by the old ones.
    """

    def __init__(self, origin: Form, named: Mapping[str, Atom] = MappingProxyType({})) -> None:
        self.origin = origin
        self.values: dict[Atom, Atom] = {}
        self._builder = Builder("")
        self._names = named
        self._fresh: dict[str, Atom] = {}

    def copy(
        self, lines: Iterable[Line], into: dict[Atom, Atom], edits: Mapping[Atom, Edit] = MappingProxyType({})
    ) -> None:
        """Write lines once more.

        Args:
            lines: Lines of the old form, or of another one in the same variables.
            into: The new values of the operands; the new values of the lines are added.
            edits: The functions that write other values in the place of some.
        """
        for line in lines:
            edit = edits.get(line.symbol)
            into[line.symbol] = self.emit(line.call, into) if edit is None else edit(self)

    def emit(self, call: Call, values: Mapping[Atom, Atom]) -> Atom:
        """Write one operation."""
        operands = tuple(values.get(a, a) for a in call.operands)
        return self._builder.emit(call.op.name, operands, Span(0, 0), call.statics)

    def fill(self, template: str, names: Mapping[str, Atom]) -> Atom:
        """Write the lines of a text, and name the values that the text names.

        Args:
            template: The text, in names.
            names: The values that the names stand for, of the old form or new ones.
        """
        program = _template(template)
        inside: dict[Atom, Atom] = {}
        for symbol in program.variables:
            inside[symbol] = self.values.get(names[symbol.name], names[symbol.name])
        for line in program.lines:
            inside[line.symbol] = self._simple(line.call, inside)
        self.keep_names(program, inside)
        return inside.get(program.output, program.output)

    def keep_names(self, program: Program, values: Mapping[Atom, Atom]) -> None:
        """Name new values as a Program does, or with a number added where the name is taken.

        Args:
            program: The Program whose lines were written.
            values: The new values, by its own.
        """
        for name, atom in program.named.items():
            value = values.get(atom, atom)
            if value not in self._fresh.values():
                self._name(name, value)

    def _name(self, name: str, value: Atom) -> str:
        """Give a value a name, or one like it that nothing else has."""
        taken = {*self.origin.program.names, *self._names, *self._fresh}
        likely = (name, *(f"{name}{n}" for n in range(1, len(taken) + 2)))
        found = next(one for one in likely if one not in taken)
        self._fresh[found] = value
        return found

    def _simple(self, call: Call, values: Mapping[Atom, Atom]) -> Atom:
        """Write an operation of a template, in a shorter way where that rounds alike."""
        first, *others = (values.get(a, a) for a in call.operands)
        node = self._call_of(first)
        match call.op.name, others:
            case "neg", [] if node is not None and node.op.name in ("mul", "div"):
                return self.emit(node, {node.operands[0]: self._negative(node.operands[0])})
            case "neg", []:
                return self._negative(first)
            case "add", [second] if (other := self._call_of(second)) is not None and other.op.name == "neg":
                return self.emit(Call("sub", (first, other.operands[0])), {})
            case "mul", [second] if first in (1, -1):
                return second if first == 1 else self._negative(second)
            case "sqrt", [] if isinstance(first, sympy.Rational) and sympy.sqrt(first).is_Rational:
                return sympy.sqrt(first)
        return self.emit(call, values)

    def _negative(self, value: Atom) -> Atom:
        node = self._call_of(value)
        if node is not None and node.op.name == "neg":
            return node.operands[0]
        if node is not None and node.op.name == "sub":
            return self.emit(Call("sub", node.operands[::-1]), {})
        return self.emit(Call("neg", (value,)), {})

    def _call_of(self, value: Atom) -> Call | None:
        line = self._builder.line_of(value)
        return None if line is None else line.call

    def form(self, output: Atom) -> Form | None:
        """Make the form whose value this is; None if it has other variables or another shape, or does not read back."""
        lines = needed(self._builder.lines, output)
        used = {output, *(atom for line in lines for atom in line.call.operands)}
        origin = self.origin.program
        if len(lines) > MOST_LINES or not used.issuperset(origin.variables):
            return None
        text = "; ".join(self._statements(lines, output))
        try:
            program = parse(text, given=shadowed(origin.names), shapes=self.origin.sizes)
        except GradcliError:
            return None
        if len(text) > MOST_TEXT or self._builder.inline(program, program.variables, Span(0, 0)) != output:
            return None
        form = Form(program, self.origin.sizes)
        return form if form.shape(program.output) == self.origin.shape(origin.output) else None

    def _statements(self, lines: list[Line], output: Atom) -> Iterator[str]:
        """Yield statements, with names of the user, of templates and for long values used again; a last one stays."""
        named = {**self._fresh, **{name: self.values.get(atom, atom) for name, atom in self._names.items()}}
        symbols = {line.symbol for line in lines}
        names = {atom: name for name, atom in named.items() if atom in symbols}
        last = names.pop(output, "")
        uses = Counter(atom for line in lines for atom in line.call.operands)
        text = ProgramText(lines, names)

        def is_inner(line: Line) -> bool:
            return uses[line.symbol] == 1 or len(text.expression(line.symbol).text) <= MOST_INLINE

        for piece in text.statements(lines[:-1], is_inner, lambda atom: self._name("t", atom)):
            yield piece.text
        yield f"{last} = " * bool(last) + text.expression(output, is_whole=True).text


Edit = Callable[[FormWriter], Atom]
"""Function that writes a new value."""


@lru_cache(maxsize=512)
def _template(text: str) -> Program:
    return parse(text)

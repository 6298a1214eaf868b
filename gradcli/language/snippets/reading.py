"""A whole PyTorch snippet as a function, its values, what to differentiate by, and v.

    x = torch.tensor([1., 2.], requires_grad=True)     a variable and its value; requires_grad names it
    y = x**2                                           a statement of the function
    y.backward(torch.tensor([1., 1.]))                 the output, and v
    print(x.grad)                                      what gradcli prints anyway

A definition is an assignment of a tensor made of numbers.  Several backward passes add up in `.grad`, so their v's do,
until it is set to zero.  A derivative that is taken by a function, as by `torch.autograd.grad(y, x)`, is a value that
later lines may use; the last one that none uses is the question.  Prints and seeds say nothing about the function; what
else stands there is refused at its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from gradcli import collector
from gradcli.errors import Span
from gradcli.language.lower.scope import Operand, Scope
from gradcli.language.program.wengert import Atom, Program
from gradcli.language.program.wengert import Line as Written
from gradcli.language.snippets.asked import Asked, Backward, Pass, Replay, Snippet
from gradcli.language.snippets.assignments import Statements
from gradcli.language.text.nodes import Line
from gradcli.language.text.python_statements import parse_python
from gradcli.language.text.source import Source

_HINT = "a snippet is tensor definitions, statements, backward() and print()"
"""What to say of a word that cannot stand where it does, if there is nothing better."""


def read_snippet(text: str, scope: Callable[[], Scope], *, shares: bool, is_session: bool = False) -> Snippet:
    """The function of a snippet, as `read` has it; a session at a prompt shows each value that it has no name for.

    Args:
        text: The snippet.
        scope: Makes names that nothing has used.
        shares: As of `read`.
        is_session: Whether it was typed at a prompt.
    """
    with collector.paused():
        source = Source(text, "EXPR", _HINT, has_braces=True)
        lines = parse_python(source)
        reader = _Reader(source, scope(), shares=shares, is_session=is_session)
        snippet = reader.snippet(lines)
        if not (reader.passes.frees_graph or (reader.statements.sharing.changes and reader.passes.passes)):
            return snippet
        again = _Reader(source, scope(), shares=False, is_session=is_session)
        return replace(snippet, frees_graph=again.replay(lines))


class _Reader:
    """Reads a whole text."""

    def __init__(self, source: Source, scope: Scope, *, shares: bool, is_session: bool) -> None:
        self.source, self.scope = source, scope
        self.statements = read = Statements(source, scope, shares=shares, is_session=is_session)
        self.lowering, self.builder, self.passes, self.values = read.lowering, read.builder, read.passes, read.values

    def snippet(self, lines: Sequence[Line]) -> Snippet:
        """The whole text."""
        output = self.statements.last_value(lines)
        asked = self.passes.asked()
        if asked:
            self.lowering.require_used()
            self._remark_what_follows(asked[-1], output)
            output = asked[-1].output, asked[-1].span
        if output is None:
            self.statements.functions.require_value()
            hint = "a snippet has a statement such as y = x**2 and y.backward(v)"
            raise self.source.error("there is no function in this text", Span(0, 1), hint=hint)
        return self.finished(output, asked)

    def _remark_what_follows(self, one: Pass, last: Operand | None) -> None:
        """Say that a name stands for what is computed from the derivative, which is no part of the answer."""
        name = next((name for name, atom in self.scope.names.items() if last is not None and atom == last[0]), "")
        if name and one.values and last is not None and last[0] not in one.values:
            made, _ = self.builder.made_of(last[0])
            if not one.values.isdisjoint(line.symbol for line in made):
                self.scope.remark(f"the answer is the derivative that is taken; {name}, computed from it, is left out")

    def replay(self, lines: Sequence[Line]) -> Replay:
        """The whole text as torch runs it, by a reader that shares no lines."""
        self.statements.last_value(lines)
        passes = self.passes.passes
        last = passes[-1]
        whole = self.lowering.finish((last.output, last.span))
        made, leaves = self.builder.made_of(*(one.output for one in passes))
        variables = self.passes.variables_of(leaves)
        program = replace(whole, variables=variables, lines=tuple(made), output=last.output)
        return Replay(program, tuple(passes), tuple(self.passes.requires or self.values), tuple(self._changes(made)))

    def _changes(self, made: Sequence[Written]) -> Iterator[tuple[Atom, Atom | None, Span]]:
        """What was changed in place, each with the last line before."""
        symbols = {line.symbol for line in made}
        for atom, mark, span in self.statements.sharing.changes:
            before = [line.symbol for line in self.builder.lines[:mark] if line.symbol in symbols]
            yield atom, before[-1] if before else None, span

    def finished(self, output: Operand, asked: list[Pass]) -> Snippet:
        """The function of the output, and v as a function of the same variables."""
        v = self.passes.accumulated(self.passes.in_grad(asked))
        dtype = self.statements.dtypes.type_of(tuple(self.values))
        self.scope.unused.clear()  # a snippet may compute more than the function
        self.scope.last_name = next((n for n, atom in self.scope.names.items() if atom == output[0]), "")
        whole = self.lowering.finish(output)
        wanted, leaves = self.builder.made_of(whole.output)
        symbols = {line.symbol for line in wanted} | leaves | {whole.output}
        leaves |= {*self.scope.variables.values()} if whole.needs_shapes else set()  # others may be in it then
        call = self.statements.derivatives.calls.get(asked[-1].output) if asked else None
        where = asked[-1].span if call else Span(0, 0)  # of the derivative, which is not the function itself
        spans = dict.fromkeys(
            span
            for span, atom in self.statements.functions.statements
            if atom in symbols and not span.start < where.stop <= span.stop
        )
        program = replace(
            whole,
            variables=self.passes.variables_of(leaves),
            lines=tuple(line for line in whole.lines if line.symbol in symbols),
            named={name: atom for name, atom in whole.named.items() if atom in symbols or atom.is_number},
            shown="; ".join([*(self.source.excerpt(span) for span in spans), *([call] if call else [])]),
        )
        inputs = asked[-1].inputs if asked else ()
        inputs = tuple(name for name in inputs if name in program.names)
        wrt = inputs or tuple(name for name in program.names if name in self.passes.requires) or None
        if asked and wrt is None and self.values:
            warning = "no tensor has requires_grad=True, where torch would refuse; all are differentiated by"
            program = replace(program, warnings=(*program.warnings, warning))
        return Snippet(
            program,
            self.values,
            wrt,
            None if v is None else self.passes.function_of(v),
            tuple(self.backward(one) for one in asked) if len(asked) > 1 else (),
            self.question(program, asked),
            {u: self.statements.numbers_of(atom, one.span, "the direction") for one in asked[-1:] for u, atom in one.u},
            dtype,
        )

    def backward(self, one: Pass) -> Backward:
        """A pass with its v as a function of the variables."""
        return Backward(self.passes.function_of(self.passes.vector_of(one)), one.zeroed, one.accumulates)

    def question(self, program: Program, asked: list[Pass]) -> Asked:
        """What is asked other than a gradient; without a pass, a value that is computed from derivatives."""
        if not asked:
            return "eval" if program.takes_derivatives else ""
        return "" if asked[-1].asks == "vjp" else asked[-1].asks

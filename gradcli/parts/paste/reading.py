"""Whole text of statements as a function, its values, the variables to differentiate by, and v.

    x = torch.tensor([1., 2.], requires_grad=True)     a variable and its value; requires_grad names it
    y = x**2                                           a statement of the function
    y.backward(torch.tensor([1., 1.]))                 the output, and v
    print(x.grad)                                      passed over: gradcli prints it anyway

Several backward passes add up in `.grad`, so their v's do, until it is set to zero.  A text that ends with a definition
is that function of its parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from gradcli import progress
from gradcli.errors import Span, TooLargeError
from gradcli.language.lower.scope import Operand, Scope
from gradcli.language.snippet_result import Replay, Snippet, SnippetPass
from gradcli.language.text import nodes
from gradcli.language.text.python_statements import parse_python
from gradcli.language.text.source import SourceText
from gradcli.parts.paste.statements import Statements


def read_statements(text: str, scope: Callable[[], Scope], *, shares: bool, **how: Any) -> Snippet:
    """Read the function of a text of statements, as `read` has it.

    Args:
        text: The text.
        scope: Makes a new scope.
        shares: As of `read`.
        how: As of `Statements`.

    Raises:
        GradcliError: As for `parse`, or a line that is code.

    >>> how = {"generator": None, "is_torch": False, "is_session": False}
    >>> read_statements("f(x) = x^2; f(3*t)", Scope, shares=True, **how).program.names
    ('t',)
    """

    def reader(*, shares: bool) -> _Reader:
        return _Reader(source, scope(), shares=shares, **how)

    with progress.collector_paused():
        source = SourceText(text, "EXPR", has_braces=True)
        try:
            lines = parse_python(source)
            first = reader(shares=shares)
            snippet = first.snippet(lines)
            return replace(snippet, frees_graph=reader(shares=False).replay(lines)) if first.frees_graph else snippet
        except RecursionError:
            message, hint = "functions call one another too deep", "name parts of it: y = ...; z = f(y)"
            raise source.error(message, Span(0, len(text)), hint=hint, kind=TooLargeError) from None


class _Reader(Statements):
    """Reader of a whole text."""

    def snippet(self, lines: Sequence[nodes.LineNode]) -> Snippet:
        """Read the whole text."""
        definitions = [line for line in lines if isinstance(line, nodes.FunctionNode)]
        words = {self.source.tokens[line.position].text for line in definitions}
        self.is_code |= (len(lines) > 1 or bool(definitions)) and words <= {"def", "lambda"}
        output = self.last_value(lines)
        asked = self.asked()
        if asked:
            self.require_used()
            output = asked[-1].output, asked[-1].span
        if output is None:
            hint = 'write one, such as "x**2"; a snippet has y = x**2 and y.backward(v)'
            raise self.source.error("there is no function in this text", self.source.tokens[-1].span, hint=hint)
        return self._of_torch(output, asked) if self.is_torch else self._of_mathematics(output, lines)

    def _of_mathematics(self, output: Operand, lines: Sequence[nodes.LineNode]) -> Snippet:
        """Make the function of the output; a text that is one definition by an expression shows that expression."""
        function = nodes.definition_of(lines[0]) if len(lines) == 1 else None
        only = function.body[0] if function is not None and len(function.body) == 1 else None
        shown = self.source.excerpt(only.value.span) if isinstance(only, nodes.Return) else ""
        return Snippet(replace(self.finish(output), shown=shown))

    def replay(self, lines: Sequence[nodes.LineNode]) -> Replay:
        """Read the whole text as torch runs it, by a reader that shares no lines."""
        self.last_value(lines)
        outputs = [one.output for one in self.passes]
        program = self.builder.program(outputs[-1], self.scope.variables.values(), *outputs)
        return Replay(program, tuple(self.passes), tuple(self.requires or self.values))

    def _of_torch(self, output: Operand, asked: list[SnippetPass]) -> Snippet:
        """Make the function of the output, and v as a function of the same variables."""
        v = self.accumulated(self.in_grad(asked))
        dtype = self.type_of(tuple(self.values))
        self.scope.unused.clear()  # a snippet may compute more than the function
        self.scope.last_name = next((n for n, atom in self.scope.names.items() if atom == output[0]), "")
        whole = self.finish(output)
        wanted, leaves = self.builder.made_of(whole.output)
        symbols = {line.symbol for line in wanted} | leaves | {whole.output}
        leaves |= {*self.scope.variables.values()} if whole.needs_shapes else set()  # others may be in it then
        spans = dict.fromkeys(span for span, atom in self.statements if atom in symbols)
        program = replace(
            whole,
            variables=tuple(symbol for symbol in whole.variables if symbol in leaves),
            lines=tuple(line for line in whole.lines if line.symbol in symbols),
            named={name: atom for name, atom in whole.named.items() if atom in symbols or atom.is_number},
            shown="; ".join(self.source.excerpt(span) for span in spans),
        )
        inputs = tuple(name for name in (asked[-1].inputs if asked else ()) if name in program.names)
        wrt = inputs or tuple(name for name in program.names if name in self.requires) or None
        if asked and wrt is None and self.values:
            warning = "no tensor has requires_grad=True, where torch would refuse; all are differentiated by"
            program = replace(program, warnings=(*program.warnings, warning))
        vector = None if v is None else self.function_of(v)
        passes = tuple(asked) if len(asked) > 1 else ()
        vectors = tuple(self.function_of(self.vector_of(one)) for one in passes)
        return Snippet(program, self.values, wrt, vector, passes, vectors, dtype)

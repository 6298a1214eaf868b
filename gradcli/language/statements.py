"""Statements one after the other: where one ends, and that none but the last computes what nothing uses.

Knows where lines begin; what a statement is, the grammar and the snippets know.
"""

from __future__ import annotations

from gradcli.errors import LanguageError
from gradcli.language.lines import Operand
from gradcli.language.names import Names
from gradcli.language.operators import BINARY, BY_ELEMENTS, POWERS


class Statements(Names):
    """Reads the statements of a text."""

    unused_value: Operand | None = None  # of the last statement, if it was an expression without a name
    indent = 0  # of the first statement, counted from 1

    def statement(self) -> Operand:
        """An assignment or an expression; the grammar has it."""
        raise NotImplementedError

    def line(self) -> Operand | None:
        """A statement, with its value; a snippet has some without."""
        return self.statement()

    def last_value(self) -> Operand | None:
        """The value of the last statement that has one, all statements read."""
        output: Operand | None = None
        while True:
            while self.accept(";") or self.accept("\n"):
                pass
            if self.at_end:
                return output
            self.require_beginning()
            start, mark = self.position, len(self.builder.lines)
            found = self.line()
            if found is not None:
                self.require_used()
                output, self.unused_value = found, found if self.is_shown(start, mark) else None
            if self.token.text not in (";", "\n", ""):
                raise self.unexpected()

    def is_shown(self, start: int, mark: int) -> bool:
        """Whether the statement from token `start` on, whose lines begin at `mark`, is an expression without a name."""
        return not (self.tokens[start].kind == "name" and self.tokens[start + 1].text == "=")

    def require_used(self) -> None:
        """Refuse an expression behind which other statements follow.

        Raises:
            LanguageError: The last statement was one.
        """
        if self.unused_value is not None:
            hint = "the last statement is the output; write NAME = ... to use a value there, or [a, b] for both"
            message = "this expression is computed and thrown away"
            raise self.error(LanguageError, message, self.unused_value[1], hint=hint)

    def require_beginning(self) -> None:
        """Refuse a line that seems to go on with the one before, which ended there.

        Raises:
            LanguageError: It is indented more than the first, or begins with a sign that stands between two operands.
        """
        token, before = self.token, self.tokens[self.position - 1] if self.position else None
        if before is not None and before.text != "\n":
            return
        indent = token.span.start - self.text.rfind("\n", 0, token.span.start)
        is_sign = token.text in (*BINARY, *BY_ELEMENTS, *POWERS) and token.kind in ("operator", "keyword")
        if self.indent and (is_sign or indent > self.indent):
            what = "begins with an operator" if is_sign else "is indented"
            message = f"a line that {what} does not continue the one before"
            raise self.error(LanguageError, message, token.span, hint="put parentheses around the whole expression")
        self.indent = self.indent or indent

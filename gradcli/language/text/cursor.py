"""A place in the words of a text: looking, taking, and going no further behind an error."""

from __future__ import annotations

from gradcli.errors import GradcliError, LanguageError, Span, TooLargeError
from gradcli.language.text.nodes import Broken
from gradcli.language.text.source import Source
from gradcli.language.text.tokens import Token

MAX_DEPTH = 100
"""Levels of brackets, calls, signs and powers inside one another; each costs seven Python frames of a thousand."""

MAX_INDICES = 30
"""Levels of indices inside one another, beside those."""

_STOP = Token("end", "\0", Span(0, 0))
"""What stands behind an error: no rule of the grammar goes on with it."""


class Cursor:
    """The tokens of a text and the one that is next.

    Attributes:
        source: The text.
        tokens: Of the text, and behind them what stands behind an error.
        position: Of the next token.
        depth: How many levels of nesting are around it.
        indices: How many indices are, and functions without a call.
        expected: What an error says of this place.
    """

    max_depth = MAX_DEPTH

    def __init__(self, source: Source) -> None:
        self.source = source
        self.tokens = [*source.tokens, _STOP]
        self.position = self.depth = self.indices = 0
        self.expected = ""
        self.broken: Broken  # what could not be read, where there is such

    @property
    def token(self) -> Token:
        """The next token."""
        return self.tokens[self.position]

    @property
    def at_end(self) -> bool:
        """Whether nothing is left, or nothing can be read any more."""
        return self.token.kind == "end"

    @property
    def has_failed(self) -> bool:
        """Whether an error stands before this place."""
        return self.token is _STOP

    def is_stop(self, position: int) -> bool:
        """Whether a position is behind an error."""
        return self.tokens[position] is _STOP

    def advance(self) -> Token:
        """Take the next token, whatever it is."""
        token = self.token
        self.position += token.kind != "end"
        return token

    def accept(self, text: str) -> bool:
        """Take the next token if it is this operator."""
        token = self.tokens[self.position]
        found = token.kind == "operator" and token.text == text
        self.position += found
        return found

    def at_word(self, text: str) -> bool:
        """Whether this keyword is next."""
        return self.token.kind == "keyword" and self.token.text == text

    def fail(self, error: GradcliError) -> Broken:
        """Read nothing from here on."""
        if not self.has_failed:
            self.broken = Broken(self.token.span, error)
            self.position = len(self.tokens) - 1
        return self.broken

    def unexpected(self, where: str = "") -> GradcliError:
        """The error that the next token cannot stand here."""
        return self.source.unexpected(self.position, where, is_inside=self.depth > 0)

    def too_deep(self, token: Token, most: int) -> Broken:
        """The error for one level of nesting too many."""
        message, hint = f"nested more than {most} levels deep", "name parts of it: y = ...; z = f(y)"
        return self.fail(self.source.error(TooLargeError, message, token.span, hint=hint))

    def close(self, closing: str, opening: Token) -> GradcliError | None:
        """Take the bracket that closes `opening`; the error that it does not stand here."""
        if self.token.text == closing or self.has_failed:
            self.advance()
            return None
        if self.at_end:
            error = self.unclosed(closing, opening)
        else:
            error = self.unexpected(f" where '{self.expected_at(closing)}' was expected")
        self.fail(error)
        return error

    def unclosed(self, closing: str, opening: Token) -> GradcliError:
        """The error that nothing closes a bracket."""
        hint = f"add '{closing}'"
        return self.source.error(LanguageError, f"'{opening.text}' is never closed", opening.span, hint=hint)

    def expected_at(self, closing: str) -> str:
        """What should stand here: a loop, if one follows inside of the bracket, or what closes it."""
        return closing if self.source.loop_from(self.position) is None else "for"

    def behind(self) -> Token:
        """The last token that was read."""
        return self.tokens[self.position - 1] if not self.has_failed else self.source.tokens[-1]

"""A place in the tokens of a text: looking, taking, and saying what is wrong there."""

from __future__ import annotations

from collections.abc import Iterator

from gradcli.errors import GradcliError, LanguageError, Place, Span, TooLargeError
from gradcli.language import hints
from gradcli.language.tokens import Token, tokenize

MAX_DEPTH = 100
"""Levels of brackets, calls, signs and powers inside one another; each costs five Python frames of a thousand."""


class Cursor:
    """The tokens of a text and the one that is next."""

    max_depth = MAX_DEPTH

    def __init__(self, text: str, source: str) -> None:
        self.text, self.source = text, source
        self.tokens = tokenize(text, source)
        self.position = self.depth = 0

    @property
    def token(self) -> Token:
        """The next token."""
        return self.tokens[self.position]

    @property
    def at_end(self) -> bool:
        """Whether nothing is left."""
        return self.token.kind == "end"

    def advance(self) -> Token:
        """Take the next token, whatever it is."""
        token = self.token
        self.position += token.kind != "end"
        return token

    def accept(self, text: str) -> bool:
        """Take the next token if it is this operator."""
        found = self.token.kind == "operator" and self.token.text == text
        self.position += found
        return found

    def expect(self, text: str, opening: Token) -> Token:
        """Take the bracket that closes `opening`."""
        if self.token.text == text:
            return self.advance()
        if self.at_end:
            raise self.error(LanguageError, f"'{opening.text}' is never closed", opening.span, hint=f"add '{text}'")
        raise self.unexpected(f" where '{text}' was expected")

    def skip(self, opening: Token) -> Token:
        """Pass over everything up to the bracket that closes `opening`, and take that."""
        for position, depth in self.levels(self.position):
            self.position = position
            if depth < 0:
                return self.advance()
        return self.expect(")", opening)

    def levels(self, position: int) -> Iterator[tuple[int, int]]:
        """The position of each token from here on, and how many brackets are open behind it; below 0 at the last."""
        depth = 0
        for n in range(position, len(self.tokens)):
            token = self.tokens[n]
            if token.kind == "operator":
                depth += (token.text in ("(", "[")) - (token.text in (")", "]"))
            yield n, depth

    @property
    def at_keyword(self) -> bool:
        """Whether a name and `=` follow, as before an argument."""
        return self.token.kind == "name" and self.tokens[self.position + 1].text == "="

    def nested(self, token: Token) -> Nesting:
        """One more level of nesting for the length of a block."""
        if self.depth >= self.max_depth:
            raise self.error(
                TooLargeError,
                f"nested more than {self.max_depth} levels deep",
                token.span,
                hint="name parts of it: y = ...; z = f(y)",
            )
        return Nesting(self)

    def unexpected(self, where: str = "") -> GradcliError:
        """The error that the next token cannot stand here."""
        token = self.token
        if self.at_end or token.text == "\n":
            goes_on = any(other.text not in ("\n", "") for other in self.tokens[self.position :])
            hint = "put parentheses around the whole expression" if goes_on else None
            return self.error(LanguageError, "the expression ends too early", token.span, hint=hint)
        what = "word in quotes " if token.kind == "string" else ""
        message = f"unexpected {what}'{token.text}'{where}"
        return self.error(LanguageError, message, token.span, hint=self._hint(token))

    def _hint(self, token: Token) -> str | None:
        """What may be meant by a token that cannot stand here."""
        before = self.tokens[self.position - 1] if self.position else None
        after = self.tokens[self.position + 1]
        text = before.text if before else ""
        is_value = hints.is_value(self.source)
        is_behind = before is not None and (before.kind != "operator" or text in (")", "]"))
        if token.text == "=" and text not in (":", "==", "!="):
            return hints.of_equals(self.source)
        if token.kind == "keyword":
            return hints.of_keyword(token.text, after.text)
        if token.kind == "string":
            return self._of_string(token, before if is_behind else None, after)
        if token.kind == "operator":
            if token.text == ";" and is_value:
                return "write 1,2 for a vector, [[1,2],[3,4]] for a matrix"
            if token.text == ":" and is_value:
                return "write arange(5), or linspace(0, 1, 5)"
            if text == "'" and token.text == "(":
                return hints.ITSELF
            return hints.of_operator(text, token.text, after.text, is_inside=self.depth > 0)
        if before is None or not is_behind:
            return None
        if f"--{text}" in self.text and f"{text} {token.text}" in self.text:
            return f'options stand outside of the quotes: "..." --{text} {token.text}'
        call = "(...)" if after.text == "(" else ""
        return hints.of_neighbour(text, token.text + call, is_value=is_value)

    def _of_string(self, token: Token, before: Token | None, after: Token) -> str:
        """What may be meant by a word in quotes; `before` is the operand that it follows, if it does."""
        if before is not None and before.span.stop == token.span.start:
            return hints.of_prime(before.text)
        if before is None and self.position == 0 and after.kind == "end":
            return "leave these quotes out"
        return "words in quotes stand in einsum('ij,j->i', A, x) and reduction='sum' only"

    def error(self, kind: type[GradcliError], message: str, span: Span, *, hint: str | None = None) -> GradcliError:
        """An error at a range of the text."""
        return kind(message, place=Place(self.text, span, self.source), hint=hint)


class Nesting:
    """Counts one level of nesting while its block runs."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor

    def __enter__(self) -> None:
        self.cursor.depth += 1

    def __exit__(self, *_: object) -> None:
        self.cursor.depth -= 1

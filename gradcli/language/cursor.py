"""A place in the tokens of a text: looking, taking, and saying what is wrong there."""

from __future__ import annotations

from collections.abc import Iterator

from gradcli.errors import GradcliError, LanguageError, Place, Span, TooLargeError
from gradcli.language.tokens import Token, tokenize

MAX_DEPTH = 100
"""Levels of brackets, calls, signs and powers inside one another; each costs five Python frames of a thousand."""


_KEYWORD_HINTS = {
    "lambda": "write the body alone; its names are the variables",
    "def": "write the body alone; its names are the variables",
    "return": "write the expression alone; the last one is the output",
    "is": "write == to compare",
    "if": "write a if condition else b",
    "for": "write [... for i in range(n)]",
}


class Cursor:
    """The tokens of a text and the one that is next."""

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
        if self.depth >= MAX_DEPTH:
            raise self.error(
                TooLargeError,
                f"nested more than {MAX_DEPTH} levels deep",
                token.span,
                hint="name parts of it: y = ...; z = f(y)",
            )
        return Nesting(self)

    def unexpected(self, where: str = "") -> GradcliError:
        """The error that the next token cannot stand here."""
        token, before = self.token, self.tokens[self.position - 1]
        if self.at_end or token.text == "\n":
            return self.error(LanguageError, "the expression ends too early", token.span)
        hint = None
        if token.text == "=":
            hint = "an assignment is NAME = expression; statements are separated by ';'"
        elif token.kind == "keyword":
            hint = _KEYWORD_HINTS.get(token.text, "only 'a if c else b', 'for ... in range(n)', and, or, not are read")
        elif self.position and token.kind != "operator" and before.kind != "operator":
            hint = (
                f"write {before.text}*{token.text} for a product" if self.source == "EXPR" else "write 1,2 for a vector"
            )
        elif token.text == "@":
            hint = "a file is read where @FILE is the whole text; elsewhere @ is the matrix product"
        elif token.kind == "string":
            hint = "words in quotes stand in einsum('ij,j->i', A, x) and reduction='sum' only"
        what = "word in quotes " if token.kind == "string" else ""
        return self.error(LanguageError, f"unexpected {what}'{token.text}'{where}", token.span, hint=hint)

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

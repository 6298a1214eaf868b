"""A text with its words, the errors at a place in it, and a place that moves on and goes no further behind an error."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from gradcli.errors import CodeError, GradcliError, LanguageError, Place, Span, TooLargeError
from gradcli.language.text import hints
from gradcli.language.text.nodes import Broken
from gradcli.language.text.tokens import Token, plain, tokenize

ENDS = (";", "\n", "")
"""What a line ends with."""


@dataclass(frozen=True, slots=True)
class _Regions:
    """What is directly within each pair of brackets, which have numbers.

    Attributes:
        around: The number of the brackets around each token.
        loops: The positions of `for` within each.
        stops: The positions of the commas within each, and of what closes it.
    """

    around: list[int]
    loops: dict[int, list[int]]
    stops: dict[int, list[int]]


class Source:
    """A text, what it is for (`EXPR`, or an option), and its tokens; beyond the last one all are the end."""

    def __init__(self, text: str, name: str, hint: str | None = None, *, has_braces: bool = False) -> None:
        self.text, self.name = plain(text), name
        self.hint = hint  # of what cannot stand where it does, if there is no other
        self.tokens = tokenize(self.text, name, has_braces=has_braces)
        self.tokens += [self.tokens[-1]] * 5

    def error(
        self, message: str, span: Span, *, hint: str | None = None, kind: type[GradcliError] = LanguageError
    ) -> GradcliError:
        """An error at a range of the text."""
        return kind(message, place=Place(self.text, span, self.name), hint=hint)

    def code(self, what: str, span: Span, instead: str = "") -> GradcliError:
        """The error that something at a range of the text is code, with what to write instead and what runs it."""
        return CodeError(what, Place(self.text, span, self.name), instead)

    def excerpt(self, span: Span) -> str:
        """What is written at a range."""
        return self.text[span.start : span.stop]

    def shown(self, span: Span) -> str:
        """What is written at a range, on one line."""
        return " ".join(self.excerpt(span).split())

    def position(self, character: int) -> int:
        """The position of the first token from a character on."""
        return bisect_left(self.tokens, min(character, len(self.text)), key=lambda token: token.span.start)

    def within(self, span: Span) -> list[Token]:
        """The tokens in a range."""
        return self.tokens[self.position(span.start) : self.position(span.stop)]

    def dotted(self, position: int) -> list[str]:
        """The names joined by dots from a position on."""
        tokens = self.tokens
        names = [tokens[position].text]
        while tokens[position + 1].text == "." and tokens[position + 2].kind == "name":
            position += 2
            names.append(tokens[position].text)
        return names

    def levels(self, position: int) -> Iterator[tuple[int, int]]:
        """The position of each token from here on, and how many brackets are open behind it; below 0 at the last."""
        depth = 0
        for n in range(position, len(self.tokens)):
            token = self.tokens[n]
            if token.kind == "operator":
                depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
            yield n, depth

    def loop_from(self, position: int) -> int | None:
        """The position of the next `for` within the brackets around a place; None where they hold none."""
        return self._next(self._regions.loops, position)

    def stop_from(self, position: int) -> int | None:
        """The position of the next comma within the brackets around a place, or of their end; None where neither is."""
        return self._next(self._regions.stops, position)

    def _next(self, places: Mapping[int, Sequence[int]], position: int) -> int | None:
        if position >= len(self.tokens):
            return None
        found = places.get(self._regions.around[position], ())
        n = bisect_left(found, position)
        return found[n] if n < len(found) else None

    @cached_property
    def _regions(self) -> _Regions:
        """Found once for all places: brackets in brackets would otherwise be looked through at each level."""
        regions, open_ones, last = _Regions([], {}, {}), [0], 0
        for n, token in enumerate(self.tokens):
            regions.around.append(open_ones[-1])
            if token.kind == "operator" and token.text in ("(", "[", "{"):
                last += 1
                open_ones.append(last)
            elif token.kind == "operator" and token.text in (")", "]", "}"):
                regions.stops.setdefault(open_ones.pop(), []).append(n)
                if not open_ones:  # nothing was open: what follows is within no bracket from before
                    last += 1
                    open_ones.append(last)
            elif token.kind == "operator" and token.text == ",":
                regions.stops.setdefault(open_ones[-1], []).append(n)
            elif token.kind == "keyword" and token.text == "for":
                regions.loops.setdefault(open_ones[-1], []).append(n)
        return regions

    def unexpected(self, position: int, where: str = "", *, is_inside: bool = False) -> GradcliError:
        """The error that a token cannot stand where it does.

        Args:
            position: Of the token.
            where: What should stand there.
            is_inside: Whether that is inside of brackets.
        """
        token = self.tokens[position]
        if token.kind == "end" or token.text == "\n":
            goes_on = any(other.text not in ("\n", "") for other in self.tokens[position:])
            hint = "put parentheses around the whole expression" if goes_on else self.hint
            return self.error("the expression ends too early", token.span, hint=hint)
        what = "word in quotes " if token.kind == "string" else ""
        hint = self._hint(position, is_inside=is_inside) or self.hint
        return self.error(f"unexpected {what}'{token.text}'{where}", token.span, hint=hint)

    def _hint(self, position: int, *, is_inside: bool) -> str | None:
        """What may be meant by a token that cannot stand here."""
        token, after = self.tokens[position : position + 2]
        before = self.tokens[position - 1] if position else None
        text = before.text if before else ""
        is_value = hints.is_value(self.name)
        is_behind = before is not None and (before.kind != "operator" or text in (")", "]"))
        if token.text == "=" and text not in (":", "==", "!="):
            return hints.of_equals(self.name)
        if token.kind == "keyword":
            return hints.of_keyword(token.text, after.text)
        if token.kind == "string":
            return self._of_string(position, before if is_behind else None)
        if token.kind == "operator":
            if token.text == ";" and is_value:
                return "write 1,2 for a vector, [[1,2],[3,4]] for a matrix"
            if token.text == ":" and is_value:
                return "write arange(5), or linspace(0, 1, 5)"
            if text == "'" and token.text == "(":
                return hints.ALONE if self.name.startswith("--claim") else hints.ITSELF
            return hints.of_operator(text, token.text, after.text, is_inside=is_inside)
        if before is None or not is_behind:
            return None
        if f"--{text}" in self.text and f"{text} {token.text}" in self.text:
            return f'options stand outside of the quotes: "..." --{text} {token.text}'
        call = "(...)" if after.text == "(" else ""
        return hints.of_neighbour(text, token.text + call, is_value=is_value)

    def _of_string(self, position: int, before: Token | None) -> str:
        """What may be meant by a word in quotes; `before` is the operand that it follows, if it does."""
        if before is not None and before.span.stop == self.tokens[position].span.start:
            return hints.of_prime(before.text)
        if position == 0 and self.tokens[1].kind == "end":
            return "leave these quotes out"
        return "words in quotes stand in einsum('ij,j->i', A, x) and reduction='sum' only"


def require_sound(fault: GradcliError | None) -> None:
    """Raise what is wrong with a part of a tree, where something is.

    Raises:
        GradcliError: It.
    """
    if fault is not None:
        raise fault


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
        self.tokens = [*source.tokens]
        self.tokens[-2] = _STOP  # in the source the end, and so is the next
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
            self.position = len(self.tokens) - 2
        return self.broken

    def unexpected(self, where: str = "") -> GradcliError:
        """The error that the next token cannot stand here, or the one that is before it."""
        if self.has_failed:
            return self.broken.error
        return self.source.unexpected(self.position, where, is_inside=self.depth > 0)

    def too_deep(self, token: Token, most: int) -> Broken:
        """The error for one level of nesting too many."""
        message, hint = f"nested more than {most} levels deep", "name parts of it: y = ...; z = f(y)"
        return self.fail(self.source.error(message, token.span, hint=hint, kind=TooLargeError))

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
        return self.source.error(f"'{opening.text}' is never closed", opening.span, hint=f"add '{closing}'")

    def expected_at(self, closing: str) -> str:
        """What should stand here: a loop, if one follows inside of the bracket, or what closes it."""
        return closing if self.source.loop_from(self.position) is None else "for"

    def behind(self) -> Token:
        """The last token that was read."""
        return self.tokens[self.position - 1] if not self.has_failed else self.source.tokens[-1]

"""A text with its words, and the errors at a place in it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from gradcli.errors import GradcliError, LanguageError, Place, Span
from gradcli.language.text import hints
from gradcli.language.text.tokens import Token, tokenize


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

    def __init__(self, text: str, name: str, hint: str | None = None) -> None:
        self.text, self.name = text, name
        self.hint = hint  # of what cannot stand where it does, if there is no other
        self.tokens = tokenize(text, name)
        self.tokens += [self.tokens[-1]] * 3

    def error(self, kind: type[GradcliError], message: str, span: Span, *, hint: str | None = None) -> GradcliError:
        """An error at a range of the text."""
        return kind(message, place=Place(self.text, span, self.name), hint=hint)

    def excerpt(self, span: Span) -> str:
        """What is written at a range."""
        return self.text[span.start : span.stop]

    def position(self, character: int) -> int:
        """The position of the first token from a character on."""
        return bisect_left(self.tokens, min(character, len(self.text)), key=lambda token: token.span.start)

    def within(self, span: Span) -> list[Token]:
        """The tokens in a range."""
        return self.tokens[self.position(span.start) : self.position(span.stop)]

    def levels(self, position: int) -> Iterator[tuple[int, int]]:
        """The position of each token from here on, and how many brackets are open behind it; below 0 at the last."""
        depth = 0
        for n in range(position, len(self.tokens)):
            token = self.tokens[n]
            if token.kind == "operator":
                depth += (token.text in ("(", "[")) - (token.text in (")", "]"))
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
            if token.kind == "operator" and token.text in ("(", "["):
                last += 1
                open_ones.append(last)
            elif token.kind == "operator" and token.text in (")", "]"):
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
            return self.error(LanguageError, "the expression ends too early", token.span, hint=hint)
        what = "word in quotes " if token.kind == "string" else ""
        hint = self._hint(position, is_inside=is_inside) or self.hint
        return self.error(LanguageError, f"unexpected {what}'{token.text}'{where}", token.span, hint=hint)

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
                return hints.ITSELF
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

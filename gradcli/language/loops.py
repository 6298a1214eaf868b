"""Lists, and loops in them that are written out while they are read: `[x**i for i in range(6)]`.

The text of a loop's term is read again for every value of its name, so what it may cost is counted.
"""

from __future__ import annotations

from collections.abc import Iterator

import sympy

from gradcli.errors import GradcliError, LanguageError, TooLargeError
from gradcli.language.calls import Calls
from gradcli.language.lines import Operand
from gradcli.language.program.wengert import Atom
from gradcli.language.tokens import Token

MAX_UNROLLED = 10_000
"""Terms of all loops of a text together."""

MAX_REPEATED = 1_000_000
"""Tokens that loops may read again."""


class Loops(Calls):
    """Reads what is between the brackets of a list."""

    has_loops: bool
    unrolled = repeated = 0

    def items(self, opening: Token, closing: str) -> list[Operand]:
        """The expressions of a list or of a loop, up to its bracket."""
        if self.token.text == closing:
            raise self.error(
                LanguageError, "an empty list has no value", opening.span.to(self.token.span), hint="write [a, b]"
            )
        start = self.position
        if (loop := self.loop_of(opening)) is not None:
            self.position = loop
            found = list(self.unrolled_terms(start, loop))
            if not found and self.needs_shapes:
                return [(sympy.Integer(0), opening.span)]
            if not found:
                raise self.error(LanguageError, "this loop has no terms", opening.span.to(self.token.span))
        else:
            found = [self.expression()]
            while self.accept(",") and self.token.text != closing:
                found.append(self.expression())
        self.expect(closing, opening)
        return found

    def listed_terms(self, *, has_start: bool) -> list[Operand] | None:
        """The elements of a list, a tuple or the name of a list, if that is the only argument, or before a start.

        A list of lists is a matrix: Python adds up no such thing.
        """
        token, after = self.token, self.tokens[self.position + 1]
        end = next((n for n, depth in self.levels(self.position) if depth == 0), len(self.tokens) - 2)
        behind = [word.text for word in self.tokens[end + 1 : end + 4]]
        is_started = has_start and behind[0] == "," and behind[2:] != ["="]
        if behind[0] != ")" and not is_started:
            return None
        if token.kind == "name" and token.text in self.lists:
            self.unused.pop(self.advance().text, None)
            return self.lists[token.text]
        is_tuple = token.text == "(" and any(
            depth == 1 and self.tokens[n].text == "," for n, depth in self.levels(self.position) if n < end
        )
        if after.text == "[" or not (is_tuple or token.text == "["):
            return None
        opening = self.advance()
        with self.nested(opening):
            return self.items(opening, "]" if opening.text == "[" else ")")

    def is_generator(self, opening: Token) -> bool:
        """Whether a bracket holds a loop."""
        return self.loop_of(opening) is not None

    def loop_of(self, opening: Token) -> int | None:
        """The position of the first `for` directly inside the bracket that was just opened."""
        for position, depth in self.levels(self.position) if self.has_loops else ():
            token = self.tokens[position]
            if depth < 0:
                return None
            if depth == 0 and token.kind == "keyword" and token.text == "for":
                return position
        return None

    def unrolled_terms(self, start: int, loop: int) -> Iterator[Operand]:
        """The expression at `start` for every value of the loops from `loop` on; ends at the closing bracket."""
        word, name = self.advance(), self.advance()
        if name.kind != "name" or self.token.text != "in":
            raise self.error(LanguageError, "a loop is for NAME in range(...)", word.span.to(name.span))
        self.position += 1
        values, end = self.loop_values(word), self.position
        shadowed = self.names.get(name.text)
        for value in values:
            self.names[name.text] = value
            self.position = end
            self.require_few(loop - start, word)
            if not self.is_wanted():
                continue
            if self.token.text == "for" and self.token.kind == "keyword":
                yield from self.unrolled_terms(start, loop)
                continue
            if self.token.text not in (")", "]") and not self.at_end:
                raise self.unexpected(" behind a loop")
            self.position = start
            yield self.expression()
            if self.position != loop:
                raise self.unexpected(" where 'for' was expected")
        if shadowed is None:
            self.names.pop(name.text, None)
        else:
            self.names[name.text] = shadowed
        self.position = self.end_of_loops(end)

    def is_wanted(self) -> bool:
        """Whether the `if` behind a loop holds for the present values of its names, which are constants."""
        if not (self.token.kind == "keyword" and self.token.text == "if"):
            return True
        self.position += 1
        return bool(self.constant("the condition of a loop must be constant", minimum=1)[0])

    def end_of_loops(self, position: int) -> int:
        """The bracket that closes the list a loop is in."""
        return next((n for n, depth in self.levels(position) if depth < 0), len(self.tokens) - 1)

    def loop_values(self, word: Token) -> list[Atom]:
        """What a loop runs over: a range of whole numbers, or a list of constants."""
        if self.token.text == "range" and self.tokens[self.position + 1].text == "(":
            self.position += 1
            opening = self.advance()
            bounds = [self.integer()]
            while self.accept(",") and self.token.text != ")" and len(bounds) < 3:
                bounds.append(self.integer())
            end = self.expect(")", opening)
            if bounds[2:] == [0]:
                raise self.error(LanguageError, "the step of a range is not 0", opening.span.to(end.span))
            chosen = range(*bounds)
            if len(chosen) > MAX_UNROLLED:
                raise self.too_many(word)
            return [sympy.Integer(n) for n in chosen]
        if self.token.text in ("[", "("):
            opening = self.advance()
            values = [a for a, _ in self.items(opening, "]" if opening.text == "[" else ")")]
            if all(a.is_number for a in values):
                return values
        raise self.error(
            LanguageError, "a loop runs over range(...) or a list of numbers", word.span.to(self.token.span)
        )

    def require_few(self, tokens: int, word: Token) -> None:
        """Refuse loops that take too long."""
        self.unrolled += 1
        self.repeated += tokens
        if self.unrolled > MAX_UNROLLED or self.repeated > MAX_REPEATED:
            raise self.too_many(word)

    def too_many(self, word: Token) -> GradcliError:
        """The error for a loop of too many terms."""
        message = f"loops make more than {MAX_UNROLLED:,} terms, or repeat too long a text"
        return self.error(TooLargeError, message, word.span, hint="use arange(n) and an operation on tensors")

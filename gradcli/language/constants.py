"""Constant arguments: whole numbers, words and shapes given to operations, and the items of an index."""

from __future__ import annotations

from gradcli.errors import LanguageError, TooLargeError
from gradcli.language.cursor import Cursor
from gradcli.language.ops import Default
from gradcli.language.shapes import NEW, Slice


class Constants(Cursor):
    """Reads what must be constant in the text itself."""

    def static(self, *, gather: bool) -> Default:
        """A constant argument: an integer, True, False, None, or integers in parentheses; bare ones to `gather`."""
        token = self.token
        words: dict[str, Default] = {"True": True, "False": False, "None": None}
        if token.text in words:
            self.position += 1
            return words[token.text]
        closing = {"(": ")", "[": "]"}.get(token.text)
        if closing is None and not gather:
            return self.integer()
        if closing is not None:
            self.position += 1
        items = [self.integer()]
        while self.accept(",") and self.token.text != (closing or ")"):
            items.append(self.integer())
        if closing is not None:
            self.expect(closing, token)
        return tuple(items)

    def item(self) -> int | Slice | str:
        """One item of an index: a whole number, a slice, `...` or `None`."""
        token = self.token
        if token.text in ("...", "None"):
            self.position += 1
            return "..." if token.text == "..." else NEW
        bounds: list[int | None] = [None, None, None]
        colons = 0
        while self.token.text not in (",", "]") and colons < 3:
            if self.accept(":"):
                colons += 1
            elif bounds[min(colons, 2)] is None:
                bounds[min(colons, 2)] = self.integer()
            else:
                raise self.unexpected()
        if colons == 0:
            if bounds[0] is None:
                raise self.error(LanguageError, "an index is missing", token.span, hint="write x[0] or x[1:]")
            return bounds[0]
        if colons == 3 or (bounds[2] is not None and bounds[2] < 1):
            span = token.span.to(self.tokens[self.position - 1].span)
            raise self.error(LanguageError, "a slice is start:stop:step with a positive step", span)
        return Slice(bounds[0], bounds[1], bounds[2] or 1)

    def integer(self) -> int:
        """A whole number with its sign."""
        start = self.token
        negative = self.accept("-")
        token = self.advance()
        if token.kind != "number" or not token.text.replace("_", "").isdecimal():
            raise self.error(LanguageError, "an integer constant must stand here", start.span.to(token.span))
        value = int(token.text)
        if value >= 2**62:
            raise self.error(TooLargeError, "this integer is too large for a dimension", token.span)
        return -value if negative else value

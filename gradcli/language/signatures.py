"""The arguments of what a snippet calls, each read in its own way: tensors, flags, whole numbers, functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gradcli.errors import LanguageError
from gradcli.language.functions import Functions
from gradcli.language.lines import Operand
from gradcli.language.program.wengert import Atom
from gradcli.language.tokens import Token


def keeps_graph(found: Mapping[str, Any]) -> bool:
    """Whether a pass is asked to keep its graph, which it does too where it makes one of the derivative."""
    retains = found.get("retain_graph")
    return bool(found.get("create_graph") if retains is None else retains)


class Signatures(Functions):
    """Reads what is between the parentheses of a call that is no operation."""

    def in_call(self, opening: Token, readers: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
        """What is between parentheses, by name or in order, each read in its own way."""
        found: dict[str, Any] = {}
        with self.nested(opening):
            while self.token.text != ")" and not self.at_end:
                start = self.token
                waiting = [name for name in readers if name not in found]
                name = start.text if self.at_keyword else waiting[0] if waiting else ""
                if name not in waiting:
                    what = f"'{name}' is not read here" if name else "there are too many arguments"
                    raise self.error(LanguageError, what, start.span)
                self.position += 2 * self.at_keyword
                found[name] = readers[name]()
                if not self.accept(","):
                    break
            self.expect(")", opening)
        return found

    def flag(self) -> bool | None:
        """True or False, or None where neither is said."""
        word = self.advance()
        if word.text not in ("True", "False", "None", "0", "1"):
            raise self.error(LanguageError, "True or False must stand here", word.span)
        return None if word.text == "None" else word.text in ("True", "1")

    def any_word(self) -> str:
        """A word that changes no number."""
        return self.advance().text

    def not_read(self) -> bool:
        """A flag that must be False."""
        word = self.tokens[self.position - 2]
        if self.flag():
            raise self.error(LanguageError, f"'{word.text}' is not read", word.span)
        return False

    def integers(self) -> int | tuple[int, ...]:
        """A whole number, or a tuple of them."""
        if self.token.text not in ("(", "["):
            return self.integer()
        opening = self.advance()
        found = []
        while self.token.text not in (")", "]") and not self.at_end:
            found.append(self.integer())
            if not self.accept(","):
                break
        self.expect({"(": ")", "[": "]"}[opening.text], opening)
        return tuple(found)

    def vector(self) -> Atom | None:
        """V, in a list of one or alone."""
        if self.token.text == "None":
            self.advance()
            return None
        operands, _ = self.tensors()
        if len(operands) != 1:
            raise self.error(LanguageError, "several gradient vectors are not read", operands[0][1])
        return self.as_number(*operands[0])

    def tensors(self) -> tuple[list[Operand], bool]:
        """A tensor, or a list or tuple of them, and whether it is one."""
        opening = self.token
        closing = next((n for n, depth in self.levels(self.position) if depth == 0), self.position)
        inside = [
            n for n, depth in self.levels(self.position) if depth == 1 and self.tokens[n].text == "," and n < closing
        ]
        ends = self.tokens[closing + 1 : closing + 2]
        is_whole = bool(ends) and ends[0].text in (",", ")", "")
        is_list = opening.text == "[" or (opening.text == "(" and bool(inside))
        if not (is_whole and is_list):
            return [self.expression()], False
        self.advance()
        found: list[Operand] = []
        while self.token.text not in (")", "]") and not self.at_end:
            found.append(self.expression())
            if not self.accept(","):
                break
        self.expect({"(": ")", "[": "]"}[opening.text], opening)
        if not found:
            raise self.error(LanguageError, "there is no tensor here", opening.span)
        return found, True

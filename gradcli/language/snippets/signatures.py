"""The arguments of what a snippet calls, each read in its own way: tensors, flags, whole numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gradcli.errors import LanguageError
from gradcli.language.lower.hooks import Operand
from gradcli.language.lower.programs import Lowering
from gradcli.language.program.wengert import Atom
from gradcli.language.text.nodes import Argument, Arguments, Group, Items
from gradcli.language.text.source import require_sound
from gradcli.language.text.tokens import Token


def keeps_graph(found: Mapping[str, Any]) -> bool:
    """Whether a pass is asked to keep its graph, which it does too where it makes one of the derivative."""
    retains = found.get("retain_graph")
    return bool(found.get("create_graph") if retains is None else retains)


class Signatures:
    """Reads what is between the parentheses of a call that is no operation."""

    def __init__(self, lowering: Lowering) -> None:
        self.source, self.lines = lowering.source, lowering.lines
        self.lower, self.constants = lowering.expressions.lower, lowering.expressions.constants

    def written(self, arguments: Arguments) -> list[Argument]:
        """The arguments that are there, but for what is missing where the text ends."""
        return [one for one in arguments.items if self.source.tokens[one.start].kind != "end"]

    def in_call(self, arguments: Arguments, readers: Mapping[str, Callable[[Argument], Any]]) -> dict[str, Any]:
        """What is between parentheses, by name or in order, each read in its own way."""
        found: dict[str, Any] = {}
        for argument in self.written(arguments):
            waiting = [name for name in readers if name not in found]
            name = argument.name.text if argument.name else waiting[0] if waiting else ""
            if name not in waiting:
                what = f"'{name}' is not read here" if name else "there are too many arguments"
                start = argument.name or self.source.tokens[argument.start]
                raise self.source.error(LanguageError, what, start.span)
            found[name] = readers[name](argument)
            require_sound(argument.fault)
        require_sound(arguments.unclosed)
        return found

    def _alone(self, argument: Argument) -> Token:
        """The one word of an argument."""
        if argument.stop > argument.start + 1:
            raise self.source.unexpected(argument.start + 1, " where ')' was expected", is_inside=True)
        return self.source.tokens[argument.start]

    def flag(self, argument: Argument) -> bool | None:
        """True or False, or None where neither is said."""
        word = self.source.tokens[argument.start]
        if word.text not in ("True", "False", "None", "0", "1"):
            raise self.source.error(LanguageError, "True or False must stand here", word.span)
        self._alone(argument)
        return None if word.text == "None" else word.text in ("True", "1")

    def any_word(self, argument: Argument) -> str:
        """A word that changes no number."""
        return self._alone(argument).text

    def not_read(self, argument: Argument) -> bool:
        """A flag that must be False."""
        word = self.source.tokens[argument.start - 2]
        if self.flag(argument):
            raise self.source.error(LanguageError, f"'{word.text}' is not read", word.span)
        return False

    def integers(self, argument: Argument) -> int | tuple[int, ...]:
        """A whole number, or a tuple of them."""
        node = argument.value
        if not isinstance(node, Items | Group):
            return self.constants.integer(node)
        inside = node.items if isinstance(node, Items) else (node.inner,)
        found = tuple(self.constants.integer(item) for item in inside)
        require_sound(node.fault)
        return found

    def vector(self, argument: Argument) -> Atom | None:
        """V, in a list of one or alone."""
        if self.source.tokens[argument.start].text == "None":
            self._alone(argument)
            return None
        operands, _ = self.tensors(argument)
        if len(operands) != 1:
            raise self.source.error(LanguageError, "several gradient vectors are not read", operands[0][1])
        return self.lines.as_number(*operands[0])

    def tensors(self, argument: Argument) -> tuple[list[Operand], bool]:
        """A tensor, or a list or tuple of them, and whether it is one."""
        node = argument.value
        if not (isinstance(node, Items) and (node.has_comma or node.opening.text == "[")):
            return [self.lower(node)], False
        found = [self.lower(item) for item in node.items]
        require_sound(node.fault)
        if not found:
            raise self.source.error(LanguageError, "there is no tensor here", node.opening.span)
        return found, True

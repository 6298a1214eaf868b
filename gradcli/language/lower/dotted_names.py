"""Variables with dots in their names, `fc1.weight`, and the modules that no variable is called by."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from gradcli.language import ops
from gradcli.language.lower.arguments import CONVERSIONS
from gradcli.language.lower.scope import Lines
from gradcli.language.program.wengert import CONSTANTS
from gradcli.language.text.nodes import Member, Name, Trailer
from gradcli.language.text.tokens import Token, is_position

PREFIXES = frozenset("torch np numpy math F nn functional special scipy stats linalg fft autograd sympy sp".split())
"""Module names that may stand before a function: `torch.special.i0(x)` is `i0(x)`."""

FOREIGN = frozenset("cp jax jnp tensorflow tf".split())
"""Names of libraries whose functions are not read."""


class DottedNames:
    """Tells variables from what a tensor has behind its dot."""

    def __init__(self, lines: Lines) -> None:
        self.source, self.scope, self.hooks = lines.source, lines.scope, lines.hooks

    def name_of(self, node: Name, trailers: Sequence[Trailer]) -> Token | None:
        """The name of a variable with dots in it, `fc1.weight`: what is before the first dot is nothing of its own."""
        first = node.token
        if node.arguments is not None or not isinstance(trailers[0], Member):
            return None
        path, found = first, None
        for member in trailers:
            if not isinstance(member, Member) or member.arguments is not None or member.name.kind == "operator":
                break
            path = Token("name", f"{path.text}.{member.name.text}", path.span.to(member.span))
            if path.text in self.scope.given:
                found = path
            elif not any(name.startswith(f"{path.text}.") for name in self.scope.given):
                if self._is_own(first) or is_attribute(member.name.text):
                    break
                found = path
        return found

    def _is_own(self, name: Token) -> bool:
        """Whether a name stands for something without what is behind its dot, here or later in the text."""
        scope = self.scope
        if name.text in (*PREFIXES, *FOREIGN, *CONSTANTS) or self.hooks.is_known(name.text):
            return True
        return any(name.text in known for known in (scope.names, scope.variables, scope.given, self._alone))

    @cached_property
    def _alone(self) -> frozenset[str]:
        """The names that stand in the text without a dot, or before one with what each tensor has."""
        found, tokens = set[str](), self.source.tokens
        for before, token, dot, member in zip([tokens[-1], *tokens], tokens, tokens[1:], tokens[2:], strict=False):
            is_name = token.kind == "name" and before.text != "." and dot.text not in ("(", "=")
            is_dotted = dot.text == "." and member.kind == "name" and not is_attribute(member.text)
            if is_name and not is_dotted and not is_position(token, dot):
                found.add(token.text)
        return frozenset(found)


def is_attribute(name: str) -> bool:
    """Whether each tensor has a member of this name, so that no variable is called by it."""
    return name in CONVERSIONS or ops.is_member(name)

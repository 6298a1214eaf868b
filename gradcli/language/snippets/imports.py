"""What names of libraries stand for in a snippet: as its imports say, or as is usual where none does."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from gradcli.language import ops
from gradcli.language.lower.names import PREFIXES
from gradcli.language.lower.scope import Scope
from gradcli.language.text.nodes import Import
from gradcli.language.text.source import Source
from gradcli.language.text.tokens import Token

_FUNCTIONAL, _FUNC = "torch.autograd.functional", "torch.func"

_KNOWN = {
    "torch": "torch",
    "autograd": "torch.autograd",
    "functorch": _FUNC,
    "grad": "torch.autograd.grad",
    **{name: f"{_FUNCTIONAL}.{name}" for name in ("jacobian", "hessian", "vjp", "jvp", "hvp", "vhp")},
    **{name: f"{_FUNC}.{name}" for name in ("jacrev", "jacfwd", "grad_and_value")},
}
"""What names stand for where no import says."""

_SAME = {"functorch.": f"{_FUNC}.", "jax.": f"{_FUNC}."}
"""Libraries whose derivatives are those of another."""


class Imports:
    """The whole names of what is imported."""

    def __init__(self, source: Source, scope: Scope, functions: Collection[str]) -> None:
        self.source, self.scope, self.functions = source, scope, functions
        self.whole: dict[str, str] = dict(_KNOWN)

    def add(self, line: Import) -> None:
        """Remember the names of an import."""
        self.whole |= line.names

    def path_at(self, position: int) -> tuple[str, int]:
        """The whole name of what stands at a position, as `torch.autograd.grad`, and the position behind it."""
        tokens, scope = self.source.tokens, self.scope
        first = tokens[position]
        is_own = first.text in scope.names or first.text in scope.variables or first.text in self.functions
        is_behind_dot = position > 0 and tokens[position - 1].text == "."
        if first.kind != "name" or is_own or is_behind_dot or first.text not in self.whole:
            return "", position
        path = self.whole[first.text]
        position += 1
        while tokens[position].text == "." and tokens[position + 1].kind == "name":
            path += f".{tokens[position + 1].text}"
            position += 2
        for theirs, ours in _SAME.items():
            path = ours + path.removeprefix(theirs) if path.startswith(theirs) else path
        return path, position

    def library(self, words: Sequence[str]) -> list[str]:
        """The modules before a name in full: `from numpy import var`, `import jax.numpy as F`."""
        return [*self.whole.get(words[0], words[0]).split("."), *words[1:]]

    def renamed(self, token: Token, *, is_module: bool, is_called: bool) -> Token:
        """A name that an import gave to a function or a module under the name that is known."""
        last = self.whole.get(token.text, token.text).rpartition(".")[2]
        is_own = token.text in self.scope.names or token.text in self.scope.variables
        is_known = last in PREFIXES if is_module else is_called and ops.find(last) is not None
        return replace(token, text=last) if is_known and not is_own else token

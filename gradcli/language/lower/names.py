"""What a name stands for: a variable, an earlier statement, a constant or a function, with the modules before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sympy

from gradcli.errors import LanguageError, Span, UnknownFunctionError
from gradcli.language import ops
from gradcli.language.lower import joined
from gradcli.language.lower.calls import Calls
from gradcli.language.lower.hooks import Hooks, Operand
from gradcli.language.lower.scope import Scope
from gradcli.language.program.wengert import CONSTANTS
from gradcli.language.text import hints
from gradcli.language.text.nodes import Arguments, Member, Name, Trailer
from gradcli.language.text.precedence import POWERS
from gradcli.language.text.source import Source
from gradcli.language.text.tokens import Token

PREFIXES = frozenset(
    [
        "torch",
        "np",
        "numpy",
        "math",
        "F",
        "nn",
        "functional",
        "special",
        "scipy",
        "linalg",
        "fft",
        "autograd",
        "sympy",
        "sp",
        "tf",
        "tensorflow",
        "jnp",
        "jax",
    ]
)
"""Module names that may stand before a function: `torch.special.i0(x)` is `i0(x)`."""

_LIBRARIES: Mapping[str, str] = {
    **dict.fromkeys(("np", "numpy", "jnp"), "numpy"),
    **dict.fromkeys(("sympy", "sp"), "sympy"),
    "jax": "jax",
    **dict.fromkeys(("tf", "tensorflow"), "tensorflow"),
    "math": "math",
}
"""Whose meaning a function has behind a module's name; torch's behind others, and without any."""

SHADOWABLE = frozenset(CONSTANTS) | PREFIXES
"""Names that mean something else unless they are given a value."""

_MODULE_CONSTANTS: Mapping[str, sympy.Expr] = {**CONSTANTS, "e": sympy.E}
"""Constants behind a module's name, `math.e`."""


def library_of(modules: Sequence[str]) -> str:
    """The library of the modules before a name; empty for torch.

    `nn` alone is JAX's, as torch's functions are in `nn.functional`.

    >>> [library_of(words.split(".")) for words in ("np.linalg", "jax.numpy", "jax.nn", "nn", "torch.nn.functional")]
    ['numpy', 'numpy', 'jax', 'jax', '']
    """
    if "numpy" in modules:
        return "numpy"
    return "jax" if list(modules) == ["nn"] else _LIBRARIES.get(modules[0], "") if modules else ""


class Names:
    """Reads names."""

    def __init__(self, source: Source, scope: Scope, hooks: Hooks, calls: Calls) -> None:
        self.source, self.scope, self.hooks, self.calls = source, scope, hooks, calls

    def named(self, node: Name, trailers: Sequence[Trailer] = ()) -> tuple[Operand, int]:
        """The value of a name with the modules before it, and how many of the trailers belong to it."""
        found = self.hooks.named(node, trailers)
        if found is None:
            follows = bool(trailers) and isinstance(trailers[0], Member)
            is_called = node.arguments is not None
            token = self.hooks.renamed(node.token, is_module=follows and not is_called, is_called=is_called)
            found = self._named(token, node, trailers)
        operand, used = found
        arguments = _arguments(node, trailers, used)
        self.hooks.was_named(node, is_call=arguments is not None)
        return operand, used

    def _named(self, token: Token, node: Name, trailers: Sequence[Trailer]) -> tuple[Operand, int]:
        scope = self.scope
        used = self._modules(token, node, trailers)
        arguments = _arguments(node, trailers, used)
        behind = trailers[used - 1] if used else None
        name = behind.name if isinstance(behind, Member) else token
        span = token.span.to(name.span)
        if arguments is not None and name.text not in scope.names and name.text not in scope.variables:
            words = [node.token.text, *(one.name.text for one in trailers[:used] if isinstance(one, Member))]
            return self._called(name, span, words, arguments), used
        if used and name.text in _MODULE_CONSTANTS:
            self._require_uncalled(arguments)
            return (_MODULE_CONSTANTS[name.text], span), used
        if name.text in scope.names:
            scope.unused.pop(name.text, None)
            self.calls.is_pair = name.text in scope.pairs
            self._require_uncalled(arguments)
            return (scope.names[name.text], span), used
        if arguments is not None:
            message, hint = f"'{name.text}' is a variable, not a function", f"write {name.text}*(...) for a product"
            raise self.source.error(UnknownFunctionError, message, span, hint=hint)
        if name.text in CONSTANTS and name.text not in scope.given and name.text not in scope.variables:
            return (CONSTANTS[name.text], span), used
        self._require_variable(name, span, is_behind_module=used > 0)
        symbol = scope.variables.setdefault(name.text, sympy.Symbol(name.text, real=True))
        return (symbol, span), used

    def _called(self, name: Token, span: Span, words: Sequence[str], arguments: Arguments) -> Operand:
        """A function of the table, or what is called like one."""
        library = library_of(self.hooks.library(words)[:-1])
        if name.text == "pad" and library in ("numpy", "tensorflow"):
            hint = "write F.pad(x, (left, right)) for the last dimension, with two more for the one before it"
            message = f"the widths of {self.source.excerpt(span)} are not read"
            raise self.source.error(LanguageError, message, span, hint=hint)
        operand = self.calls.call(name, span, [], arguments, after_dot=len(words) > 1, library=library)
        self.calls.is_pair &= not library
        return operand

    def _require_uncalled(self, arguments: Arguments | None) -> None:
        """Refuse the parenthesis behind what is no function, as anything that cannot stand there."""
        if arguments is not None:
            raise self.source.unexpected(arguments.position, arguments.expected, is_inside=True)

    def _require_variable(self, name: Token, span: Span, *, is_behind_module: bool) -> None:
        """Refuse a name that cannot be a variable.

        Raises:
            LanguageError: It is a function, or behind a module, or in a value.
        """
        op = ops.find(name.text)
        if is_behind_module and op is None:
            message = f"'{self.source.excerpt(span)}' is not part of the language"
            raise self.source.error(LanguageError, message, span)
        if is_behind_module or (op is not None and name.text not in self.scope.given):
            hint = self._with_arguments(span)
            raise self.source.error(LanguageError, f"'{name.text}' is a function", span, hint=hint)
        if self.scope.is_value:
            message = f"a value cannot use the name '{name.text}'"
            raise self.source.error(LanguageError, message, span, hint=self._without_names(name))

    def _with_arguments(self, span: Span) -> str:
        """How to write a function that has no arguments behind it: `sin x`, `sin^2(x)`."""
        shown = self.source.excerpt(span)
        behind = self.source.position(span.stop)
        sign, exponent = self.source.tokens[behind], self.source.tokens[min(behind + 1, len(self.source.tokens) - 1)]
        if sign.text in POWERS and exponent.kind == "number":
            return f"write {shown}(...)**{exponent.text}"
        if sign.text in POWERS and exponent.text == "-":
            return f"write 1/{shown}(...), or its inverse by name, as asin is that of sin"
        return f"write {shown}(...)"

    def _without_names(self, name: Token) -> str:
        """How to write a value with a name in it: `x: 1`, `x=1, y=2`."""
        behind = self.source.position(name.span.stop)
        separator, value = self.source.tokens[behind], self.source.tokens[min(behind + 1, len(self.source.tokens) - 1)]
        example = f"{name.text}={value.text or 'VALUE'}"
        hint = hints.of_variable(self.source.name, example) if separator.text in (":", "=") else None
        return hint or joined.meant(name.text) or "a value holds numbers only"

    def _modules(self, token: Token, node: Name, trailers: Sequence[Trailer]) -> int:
        """How many members behind a name belong to it: those of modules, but none where the name is a variable."""
        if self._is_own(token) or node.arguments is not None or not trailers or not isinstance(trailers[0], Member):
            return 0
        if token.text not in PREFIXES and token.text.lower() in (*PREFIXES, "tensor", "cp"):
            hint = "write torch, np, math, F, or the name of the function alone"
            raise self.source.error(LanguageError, f"the module '{token.text}' is not known", token.span, hint=hint)
        name, used, arguments = token, 0, node.arguments
        while name.text in PREFIXES and arguments is None and used < len(trailers):
            member = trailers[used]
            if not isinstance(member, Member):
                break
            name, used, arguments = member.name, used + 1, member.arguments
            if name.kind != "name":
                raise self.source.error(LanguageError, "a function name must follow the dot", name.span)
        if used and arguments is None and len(token.text) <= 2 and name.text in ("T", "mT", "shape"):
            return 0
        return used

    def _is_own(self, token: Token) -> bool:
        """Whether a name is a variable, or a statement's."""
        scope = self.scope
        return token.text in scope.names or token.text in scope.variables or token.text in scope.given


def _arguments(node: Name, trailers: Sequence[Trailer], used: int) -> Arguments | None:
    """What the last of a name and its modules is called with."""
    behind = trailers[used - 1] if used else node
    return behind.arguments if isinstance(behind, Name | Member) else behind if isinstance(behind, Arguments) else None

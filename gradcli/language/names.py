"""What a name stands for: a variable, an earlier statement, a constant or a function, with the modules before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sympy

from gradcli.errors import LanguageError, Span, UnknownFunctionError
from gradcli.language import hints, joined, ops
from gradcli.language.lines import Operand
from gradcli.language.matlab import Matlab
from gradcli.language.operators import POWERS
from gradcli.language.program.wengert import CONSTANTS, Atom
from gradcli.language.tokens import Token

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


class Names(Matlab):
    """Reads names."""

    given: frozenset[str]
    is_value: bool
    unused: dict[str, None]
    pairs: set[str]
    last_list: tuple[Atom, int, list[Operand]] | None  # with the position behind it

    def named(self, token: Token) -> Operand:
        """A variable, a name, a constant or a call, with the modules before it."""
        start = self.position - 1
        name = self.behind_modules(token)
        span = token.span.to(name.span)
        if self.token.text == "(" and name.text not in self.names and name.text not in self.variables:
            library = self.library([word.text for word in self.tokens[start : self.position : 2]])
            if name.text == "pad" and library in ("numpy", "tensorflow"):
                shown = self.text[span.start : span.stop]
                hint = "write F.pad(x, (left, right)) for the last dimension, with two more for the one before it"
                raise self.error(LanguageError, f"the widths of {shown} are not read", span, hint=hint)
            operand = self.call(name, span, [], after_dot=name is not token, library=library)
            self.is_pair &= not library
            return operand
        if name is not token and name.text in _MODULE_CONSTANTS:
            return _MODULE_CONSTANTS[name.text], span
        if name.text in self.names:
            self.unused.pop(name.text, None)
            self.is_pair = name.text in self.pairs
            if name.text in self.lists:
                self.last_list = self.names[name.text], self.position, self.lists[name.text]
            return self.names[name.text], span
        if self.token.text == "(":
            raise self.error(
                UnknownFunctionError,
                f"'{name.text}' is a variable, not a function",
                span,
                hint=f"write {name.text}*(...) for a product",
            )
        if name.text in CONSTANTS and name.text not in self.given and name.text not in self.variables:
            return CONSTANTS[name.text], span
        if name is not token and ops.find(name.text) is None:
            raise self.error(LanguageError, f"'{self.text[span.start : span.stop]}' is not part of the language", span)
        if name is not token or (ops.find(name.text) is not None and name.text not in self.given):
            raise self.error(LanguageError, f"'{name.text}' is a function", span, hint=self._with_arguments(name, span))
        if self.is_value:
            message = f"a value cannot use the name '{name.text}'"
            raise self.error(LanguageError, message, span, hint=self._without_names(name))
        symbol = self.variables.setdefault(name.text, sympy.Symbol(name.text, real=True))
        return symbol, span

    def library(self, words: Sequence[str]) -> str:
        """The library of a function with the modules before it; a snippet knows where it is imported from."""
        return library_of(words[:-1])

    def _with_arguments(self, name: Token, span: Span) -> str:
        """How to write a function that has no arguments behind it: `sin x`, `sin^2(x)`."""
        shown = self.text[span.start : span.stop]
        exponent = self.tokens[min(self.position + 1, len(self.tokens) - 1)]
        if self.token.text in POWERS and exponent.kind == "number":
            return f"write {shown}(...)**{exponent.text}"
        if self.token.text in POWERS and exponent.text == "-":
            return f"write 1/{shown}(...), or its inverse by name, as asin is that of sin"
        return f"write {shown}(...)"

    def _without_names(self, name: Token) -> str:
        """How to write a value with a name in it: `x: 1`, `x=1, y=2`."""
        separator, value = self.token, self.tokens[min(self.position + 1, len(self.tokens) - 1)]
        example = f"{name.text}={value.text or 'VALUE'}"
        hint = hints.of_variable(self.source, example) if separator.text in (":", "=") else None
        return hint or joined.meant(name.text) or "a value holds numbers only"

    def behind_modules(self, token: Token) -> Token:
        """The name after `torch.nn.functional.` and the like; the name itself where it is a variable, as in `F.T`."""
        if token.text in self.names or token.text in self.variables or token.text in self.given:
            return token
        if self.token.text == "." and token.text not in PREFIXES and token.text.lower() in (*PREFIXES, "tensor", "cp"):
            hint = "write torch, np, math, F, or the name of the function alone"
            raise self.error(LanguageError, f"the module '{token.text}' is not known", token.span, hint=hint)
        name, start = token, self.position
        while name.text in PREFIXES and self.token.text == ".":
            self.advance()
            name = self.advance()
            if name.kind != "name":
                raise self.error(LanguageError, "a function name must follow the dot", name.span)
        if name is not token and self.token.text != "(" and len(token.text) <= 2 and name.text in ("T", "mT", "shape"):
            self.position = start
            return token
        return name

"""Choice of the library whose functions and methods are meant: torch, or NumPy and others.

A function is the library's whose module stands before it.  A method is NumPy's in a text that has NumPy and not torch;
one with both is code where they mean another thing by it.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from gradcli.language.ops import Default
from gradcli.language.text.source import SourceText
from gradcli.language.text.tokens import Token

_LIBRARIES = {"np": "numpy", "numpy": "numpy", "sympy": "sympy", "sp": "sympy", "math": "math"}
"""Library whose meaning a function has after a module's name; torch's after others, and without any."""

_ARRAYS = "repeat repeat_interleave, max amax, min amin, dot array_dot, transpose permute_axes, flip flip_axes"
OTHER_ROWS: Mapping[tuple[str, str], str] = {
    (name, "numpy"): row for name, row in map(str.split, f"{_ARRAYS}, split tensor_split".split(","))
}
"""Rows that another library means by the name of a row."""

ELSEWHERE: Mapping[str, Mapping[str, Mapping[str, Default] | str]] = {
    "sympy": {"sinc": "sinc(x/pi)", "frac": "x - floor(x)"},
    "math": {"remainder": "a - b*round(a/b)"},
    "numpy": {
        **{key: {"correction": 0} for key in ("var", "std")},
        **{name: f"{name}(flatten(x), 0)" for name in ("cumsum", "cumprod")},
        "linspace": {"steps": 50},
        "meshgrid": {"indexing": "xy"},
    },
    "linalg": {"vander": {"increasing": True}},
}
"""Meaning of a name after the prefix of another library: other values of parameters that are left out, or a definition
in the language, for a call without constant arguments."""

_NORMAL = ("pdf", "logpdf", "cdf", "logcdf", "sf", "ppf")

OF_MODULES: Mapping[tuple[str, ...], str] = {
    ("F", "unfold"): "im2col",
    ("functional", "unfold"): "im2col",
    ("linalg", "svd"): "linalg_svd",
    **{("norm", name): f"norm_{name}" for name in _NORMAL},
}
"""Functions after a module that mean something else after another one, or as a method."""

IN_PLACE = frozenset(["sort", "partition", "fill", "put"])
"""Methods of NumPy that change their array."""

_TORCH = frozenset("torch tensor Tensor requires_grad requires_grad_".split())
"""Words that only a text with torch has."""


PREFIXES = frozenset("torch np numpy math F nn functional special scipy stats linalg fft autograd sympy sp".split())
"""Module names that may stand before a function: `torch.special.i0(x)` is `i0(x)`."""

FOREIGN = frozenset("cp jax jnp keras mxnet paddle tensorflow tf theano".split())
"""Names of libraries whose functions are not read."""


def library_of(modules: Sequence[str]) -> str:
    """Return the library of the modules before a name; empty for torch.

    >>> [library_of(words.split(".")) for words in ("np.linalg", "numpy", "sp", "torch.nn.functional")]
    ['numpy', 'numpy', 'sympy', '']
    """
    return _LIBRARIES.get(modules[0], "") if modules else ""


@dataclass
class Libraries:
    """Libraries that the words of a text name.

    Attributes:
        source: The text.
        is_code: Whether it is Python's, whose own functions have no module.
        imported: The whole names of imported objects, by the names that they have here.
    """

    source: SourceText
    is_code: bool = False
    imported: Mapping[str, str] = field(default_factory=dict)

    def in_full(self, words: Sequence[str]) -> list[str]:
        """Return the modules before a name in full: `from numpy import var`."""
        every = self.imported.get("*", "")
        if len(words) == 1 and words[0] not in self.imported and every.rpartition(".")[2] in ("numpy", "torch"):
            return [*every.split("."), *words]
        return [*self.imported.get(words[0], words[0]).split("."), *words[1:]]

    @cached_property
    def has_numpy(self) -> bool:
        """Tell whether the text imports NumPy, or calls a function of it."""
        return self._calls_numpy or any(token.text == "numpy" for token in self.source.tokens)

    @cached_property
    def _calls_numpy(self) -> bool:
        tokens = self.source.tokens
        names = [n for n, token in enumerate(tokens) if token.text in ("np", "numpy")]
        return any(tokens[n + 2 * len(self.source.dotted(n)) - 1].text == "(" for n in names)

    @cached_property
    def has_torch(self) -> bool:
        """Tell whether the text has a word of torch; x.numpy() is one too."""
        pairs = itertools.pairwise(self.source.tokens)
        return any(one.text in _TORCH or (one.text, behind.text) == ("numpy", "(") for one, behind in pairs)

    @cached_property
    def has_own_functions(self) -> bool:
        """Tell whether functions without a module are Python's: in code, and in statements with NumPy or torch."""
        is_long = any(token.text in (";", "\n") for token in self.source.tokens)
        return self.is_code or (is_long and (self.has_numpy or self.has_torch))

    def of_method(self, name: Token) -> str:
        """Return the library whose methods values have; empty for torch's.

        Raises:
            CodeError: The text has both, and this method differs between them.
        """
        if not self.has_numpy or not self.has_torch:
            return "numpy" * self.has_numpy
        if self._calls_numpy and (name.text in ELSEWHERE["numpy"] or (name.text, "numpy") in OTHER_ROWS):
            instead = f"write torch.{name.text}(x), or np.{name.text}(x)"
            raise self.source.code(f"'.{name.text}' in a text of NumPy's and torch's", name.span, instead)
        return ""

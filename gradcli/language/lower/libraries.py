"""Whose functions and methods are meant: torch's, or those of NumPy and other libraries.

A function is the library's whose module stands before it.  A method is NumPy's where NumPy made the value: everywhere
in a text that has NumPy and not torch, and in one with both where the value comes from a function of NumPy's, not
through one of torch's.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import cached_property

import sympy

from gradcli.language.lower.scope import Lines, Operand
from gradcli.language.ops import Default
from gradcli.language.program.wengert import Atom
from gradcli.language.text.tokens import Token

_LIBRARIES: Mapping[str, str] = {
    **dict.fromkeys(("np", "numpy"), "numpy"),
    **dict.fromkeys(("sympy", "sp"), "sympy"),
    "math": "math",
}
"""Whose meaning a function has behind a module's name; torch's behind others, and without any."""

OTHER_ROWS: Mapping[tuple[str, str], str] = {
    ("repeat", "numpy"): "repeat_interleave",
    ("max", "numpy"): "amax",
    ("min", "numpy"): "amin",
    ("dot", "numpy"): "array_dot",
    ("transpose", "numpy"): "permute_axes",
    ("flip", "numpy"): "flip_axes",
    ("split", "numpy"): "tensor_split",
}
"""What another library means by the name of a row: another one."""

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
"""What a name means after the prefix of another library: other values of parameters that are left out, or a definition
in the language, for a call without constant arguments."""

_NORMAL = ("pdf", "logpdf", "cdf", "logcdf", "sf", "ppf")

OF_MODULES: Mapping[tuple[str, ...], str] = {
    ("F", "unfold"): "im2col",
    ("functional", "unfold"): "im2col",
    ("linalg", "svd"): "linalg_svd",
    **{("norm", name): f"norm_{name}" for name in _NORMAL},
}
"""Functions behind a module that mean something else behind another one, or as a method."""

IN_PLACE = frozenset(["sort", "partition", "fill", "put"])
"""Methods of NumPy's that change their array."""

_TORCH = frozenset("torch tensor Tensor requires_grad requires_grad_".split())
"""What only a text has that uses torch."""


def library_of(modules: Sequence[str]) -> str:
    """The library of the modules before a name; empty for torch.

    >>> [library_of(words.split(".")) for words in ("np.linalg", "numpy", "sp", "torch.nn.functional")]
    ['numpy', 'numpy', 'sympy', '']
    """
    return _LIBRARIES.get(modules[0], "") if modules else ""


class Libraries:
    """Tells what NumPy made from what torch did."""

    def __init__(self, lines: Lines) -> None:
        self.lines, self.source, self.scope, self.hooks = lines, lines.source, lines.scope, lines.hooks

    @cached_property
    def has_numpy(self) -> bool:
        """Whether the text imports NumPy, or calls a function of it."""
        tokens = self.source.tokens
        for n, token in enumerate(tokens):
            is_module = token.text == "np" and tokens[n + 1].text == "."
            if token.text == "numpy" or (is_module and self._behind(n).text == "("):
                return True
        return False

    @cached_property
    def has_torch(self) -> bool:
        """Whether it has something of torch's: x.numpy() too."""
        tokens = self.source.tokens
        return any(
            token.text in _TORCH or (token.text == "numpy" and behind.text == "(")
            for token, behind in itertools.pairwise(tokens)
        )

    def _behind(self, position: int) -> Token:
        """What stands behind a name with dots."""
        return self.source.tokens[position + 2 * len(self.source.dotted(position)) - 1]

    @cached_property
    def is_code(self) -> bool:
        """Whether functions without a module are Python's: in code, and in statements with NumPy or torch."""
        is_long = any(token.text in (";", "\n") for token in self.source.tokens)
        return self.hooks.is_code or (is_long and (self.has_numpy or self.has_torch))

    def of_method(self, atom: Atom) -> str:
        """Whose methods a value has; empty for torch's."""
        if not self.has_numpy:
            return ""
        return "numpy" if not self.has_torch or self._is_array(atom) else ""

    def _is_array(self, atom: Atom) -> bool:
        known = self.scope.arrays
        if atom not in known:
            _, leaves = self.lines.builder.made_of(atom, known=known)
            made = [known.get(leaf, False) for leaf in leaves if not leaf.is_number]
            known[atom] = bool(made) and all(made)
        return known[atom]

    def made(self, operand: Operand, library: str) -> Operand:
        """What a function of a library gave: a value of its own where another library's is the same."""
        atom, span = operand
        if not (self.has_numpy and self.has_torch) or atom in self.scope.objects or atom in self.scope.several:
            return operand
        is_array = library == "numpy"
        if not atom.is_number and self.scope.arrays.get(atom, is_array) != is_array:
            atom = self.lines.emit("mul", [sympy.Integer(1), atom], span)[0]
        self.scope.arrays[atom] = is_array
        return atom, span

    def named(self, variable: Atom, value: Atom) -> None:
        """A variable is what a value was."""
        if self.has_numpy and self.has_torch:
            self.scope.arrays[variable] = self._is_array(value)

"""The floating-point types of a snippet's tensors, and which of them its numbers are computed in.

    torch.tensor(1., dtype=torch.float64)    torch.DoubleTensor([1.])    x.double()    torch.set_default_dtype(...)

Torch takes float32 where nothing is written.  Tensors of both types meet in float64, with the numbers that float32 has
of the others.  Whole numbers cannot require a gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import sympy

from gradcli.errors import Span
from gradcli.language.lower.programs import Lowering
from gradcli.language.lower.scope import Array
from gradcli.language.ops import Kind, Op
from gradcli.language.program.wengert import Atom
from gradcli.language.snippets.python_values import Opaque
from gradcli.language.text.nodes import Arguments, Member
from gradcli.language.text.tokens import Token

MIXED = (
    "tensors of float32 and of float64 meet, and torch computes in float64 from there on; here all is computed in "
    "float64, with the numbers of float32 tensors as they are"
)
"""The remark on a snippet with both types."""

TYPES = {
    **dict.fromkeys(("float32", "float", "FloatTensor"), "float32"),
    **dict.fromkeys(("float64", "double", "DoubleTensor"), "float64"),
    **dict.fromkeys(("half", "float16", "bfloat16", "HalfTensor", "BFloat16Tensor"), "float16"),
    **dict.fromkeys(("int", "long", "short", "int8", "int16", "int32", "int64", "uint8"), "int"),
    **dict.fromkeys(("IntTensor", "LongTensor", "bool", "BoolTensor"), "int"),
}
"""What words say of a type."""

_CASTS = frozenset("float double half bfloat16 int long short bool to type astype".split())
"""Methods that give a tensor of another type."""

_WHOLE = frozenset("add sub mul neg pow abs trunc floor ceil round sign stack cat".split())
"""Operations that give whole numbers of whole numbers."""


class Dtypes:
    """Notes the types that are written.

    Attributes:
        values: The numbers of the variables.
        types: Their types.
        default: What `set_default_dtype` says.
        cast: The type of the present statement, if it says one.
        said: The types that the present statement names.
        casts: Those that the function names.
        whole: The names of tensors of whole numbers that are no variables.
        is_rounded: Whether the present statement widens what was narrow.
    """

    def __init__(self, lowering: Lowering, values: dict[str, Array]) -> None:
        self.source, self.scope, self.builder = lowering.source, lowering.scope, lowering.lines.builder
        self.values = values
        self.types: dict[str, str] = {}
        self.default = ""
        self.cast = ""
        self.said: set[str] = set()
        self.casts: set[str] = set()
        self.whole: set[str] = set()
        self.is_rounded = False

    def begin(self) -> None:
        """A new statement, of which no type is known; those of the one before are part of the function."""
        self.casts |= self.said
        self.cast, self.said, self.is_rounded = "", set(), False

    def note_type(self, word: str, span: Span) -> None:
        """Note the type that a word says, or that a name stands for.

        Raises:
            LanguageError: It is not read.
        """
        found = self._type_of(word)
        if found == "float16":
            raise self.source.error(f"'{word}' has 16 bits, and is not read", span, hint="float32 and float64 are")
        if found:
            self.is_rounded |= found == "float64" and self.cast == "float32"
            self.cast = found
            self.said.add(found)

    def _type_of(self, word: str) -> str:
        """The type that a word says, or that the name of one stands for; empty where it says none."""
        held = self.scope.objects.get(self.scope.names[word]) if word in self.scope.names else None
        return TYPES.get(held.shown.rpartition(".")[2] if isinstance(held, Opaque) else word, "")

    def default_type(self, words: Sequence[Token]) -> None:
        """`torch.set_default_dtype(torch.float64)`."""
        for word in words:
            self.note_type(word.text, word.span)
        self.default = self.cast

    # -- where types are written

    def named(self, path: str) -> None:
        """A call of a module's function, `numpy.array`; NumPy's numbers are of float64."""
        if path.split(".", maxsplit=1)[0] in ("np", "numpy") and not self.cast:
            self.cast = "float64"

    def constructing(self) -> str:
        """A constructor is about to be read; the type of the statement before it."""
        before, self.cast = self.cast, ""
        return before

    def constructed(self, name: Token, span: Span, arguments: Arguments, value: Atom, before: str) -> None:
        """A constructor, which has a type of its own, unless a keyword says another."""
        is_said = any(token.text == "dtype" for token in self.source.within(arguments.span))
        if not is_said and name.text.endswith("Tensor"):
            self.note_type(name.text if name.text != "Tensor" else self.default or "float32", name.span)
        elif not is_said and self.is_whole(value):
            self.cast = self.cast or "int"
        elif self.source.text[span.start : name.span.start].replace(" ", "") in ("np.", "numpy."):
            self.cast = self.cast or "float64"
        elif not (is_said or self.cast or self.default or self._types_in(value)):
            self.said.add("")
        self.cast = self.cast or before

    def made(self, op: Op, atom: Atom) -> None:
        """A call was written; `arange(3)` is whole."""
        if op.kind is Kind.SOURCE and not self.cast and self.is_whole(atom):
            self.cast = "int"

    def member(self, name: Token) -> None:
        """A member is about to be read; some types are refused."""
        if name.text in ("half", "bfloat16"):
            self.note_type(name.text, name.span)

    def was_member(self, member: Member) -> None:
        """A conversion gives another type."""
        if member.name.text not in _CASTS or member.arguments is None:
            return
        for token in self.source.within(member.span):
            if TYPES.get(token.text) == "float64" and not (self.cast or self.default):
                self.cast = "float32"
            is_python = member.name.text == "astype" and token.text == "float"  # of 64 bits, as Python's numbers are
            self.note_type("float64" if is_python else token.text, token.span)

    # -- what follows

    def is_whole(self, atom: Atom) -> bool:
        """Whether Python has whole numbers here."""
        lines, leaves = self.builder.made_of(atom, stop=lambda call: call.op.name == "trunc")
        for line in lines:
            op, statics = line.call.op, line.call.statics
            if op.kind is Kind.SOURCE:
                is_typed = "int" in self.said or (op.name == "drawn" and statics[1].is_whole)
                if not is_typed and (op.name not in ("arange", "full") or any(isinstance(n, float) for n in statics)):
                    return False
            elif op.kind is not Kind.MOVEMENT and op.name not in _WHOLE:
                return False
        known = [isinstance(leaf, sympy.Integer) or self.types.get(str(leaf)) == "int" for leaf in leaves]
        return all(known)

    def hold(self, name: str, value: Atom) -> None:
        """Note whether a name stands for a tensor of whole numbers."""
        self.whole.discard(name)
        if self.cast == "int" and not value.is_number and self.is_whole(value):
            self.whole.add(name)

    def is_double(self, span: Span, *atoms: Atom) -> bool:
        """Whether a tensor that is made here has float64, as it is written, or as these tensors have it.

        Raises:
            LanguageError: It is not known.
        """
        words = self.source.within(span)
        said = {self._type_of(word.text) for word in words}
        if any(word.text == "dtype" for word in words):
            said |= {self.types.get(word.text, "") for word in words}
        if not said.isdisjoint(("float32", "float64")):
            return "float64" in said
        found = {kind for atom in atoms for kind in self._types_in(atom)}
        if atoms and "float64" in self.casts | self.said and "float64" not in found:
            raise self.source.error("the type of this tensor is not followed here", span, hint="write dtype=...")
        return "float64" in found or self.default == "float64"

    def define(self, name: str, value: Atom) -> None:
        """Note the type of a variable that was just defined, and round its numbers to what they were before a cast."""
        is_float = self.cast == "int" and not self.is_whole(value)
        found = self._types_in(value)
        inherited = next((kind for kind in ("float64", "float32", "") if kind in found), self.default)
        self.types[name] = inherited if is_float or not self.cast else self.cast
        self.said.clear()
        if self.is_rounded:
            self.values[name] = _rounded(self.values[name])

    def _types_in(self, atom: Atom) -> set[str]:
        """The types of the variables that a value is made of."""
        _, leaves = self.builder.made_of(atom)
        return {self.types[str(leaf)] for leaf in leaves if str(leaf) in self.types}

    def require_floating(self, name: str, span: Span) -> None:
        """Refuse a gradient by whole numbers, as torch does."""
        if self.types.get(name) == "int":
            message = (
                f"'{name}' has whole numbers: torch raises 'Only Tensors of floating point dtype can require gradients'"
            )
            raise self.source.error(message, span, hint="write 1. in place of 1, or dtype=torch.float64")

    def type_of(self, names: tuple[str, ...]) -> Literal["float64", "float32"] | None:
        """What torch computes the numbers of some variables in; None where none of them is a tensor of its own."""
        self.begin()
        found = {kind for name in names if (kind := self.types.get(name, "int")) != "int"}
        found |= self.casts - {"int"} if found else set()
        if "float64" in found and len(found) > 1:
            self.scope.warnings.append(MIXED)
            for name in names:
                if self.types.get(name) in ("", "float32"):
                    self.values[name] = _rounded(self.values[name])
        return "float64" if "float64" in found else "float32" if found else None


def _rounded(array: np.ndarray) -> np.ndarray:
    """The numbers that float32 has of these."""
    with np.errstate(over="ignore"):
        return array.astype(np.float32).astype(np.float64)

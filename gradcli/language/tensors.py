"""Tensors made from values, and converted: what keeps its derivative, what torch cuts it off, what it does to numbers.

`torch.tensor(x)` and `x.item()` are constants to autograd; `x.to(torch.int64)` drops fractions; `x.clone()` is x.
"""

from __future__ import annotations

import sympy

from gradcli.errors import LanguageError, Span
from gradcli.language.arguments import Arguments
from gradcli.language.lines import Operand
from gradcli.language.program.wengert import Atom
from gradcli.language.tokens import Token

COPIES = frozenset("tensor Tensor FloatTensor DoubleTensor float".split())
"""Constructors that copy numbers: what they are given has no derivative behind them."""

TENSORS = COPIES | frozenset("as_tensor asarray array Variable Parameter Matrix Float S Integer".split())
"""Functions that only wrap a value: `torch.tensor([1., 2.])` is `[1., 2.]`."""

_DETACHING = frozenset("item tolist numpy".split())

_WITH_WORDS = frozenset("to type type_as".split())
"""Methods whose arguments say how a tensor is held; others take keywords for that."""

CONVERSIONS = (
    _DETACHING | _WITH_WORDS | frozenset("clone contiguous float double cpu requires_grad_ int long short bool".split())
)
"""Methods that give the same numbers, or the whole parts of them."""

_WHOLE = frozenset("int long short int8 int16 int32 int64 uint8 IntTensor LongTensor".split())


class Tensors(Arguments):
    """Reads constructors and conversions."""

    names: dict[str, Atom]

    def tensor(self, name: Token, span: Span) -> Operand:
        """A constructor around a value: `torch.tensor([1., 2.])`, `float('inf')`."""
        opening = self.advance()
        with self.nested(opening):
            value = self._named_number() if self.token.kind == "string" else self.expression()[0]
            words: list[str] = []
            while self.accept(","):
                start = self.position
                if not self._ignored() and self.token.text != ")":
                    raise self.unexpected()
                words += [token.text for token in self.tokens[start : self.position]]
            span = span.to(self.expect(")", opening).span)
        if "dtype" in words:
            value = self._of_type(value, words[words.index("dtype") :], span)
        if name.text in COPIES:
            return self.detached(value, span)
        return value, span

    def _named_number(self) -> Atom:
        word = self.advance()
        named = {"inf": sympy.oo, "+inf": sympy.oo, "-inf": -sympy.oo, "nan": sympy.nan}
        text = word.text.strip().lower()
        if text not in named:
            raise self.error(LanguageError, f"'{word.text}' is not a number", word.span, hint="write inf or nan")
        return named[text]

    def converted(self, name: Token, span: Span, value: Atom) -> Operand:
        """A method that converts: `x.clone()`, `x.item()`, `x.to(torch.int64)`."""
        opening = self.advance()
        first = self.position
        closing = self.skip(opening)
        words = [token.text for token in self.tokens[first : self.position - 1]]
        is_flag = name.text == "requires_grad_" and words in (["True"], ["False"])
        is_keyword = words[1:2] == ["="]
        if words and name.text not in _WITH_WORDS and not is_flag and not is_keyword:
            raise self.error(LanguageError, f"too many arguments for .{name.text}()", self.tokens[first].span)
        span = span.to(closing.span)
        value = self._of_type(value, [name.text, *words], span)
        return self.detached(value, span) if name.text in _DETACHING else (value, span)

    def _of_type(self, value: Atom, words: list[str], span: Span) -> Atom:
        """The numbers that a type holds: whole ones lose their fractions, truth values are 1 or 0."""
        if any("complex" in word or word in ("cfloat", "cdouble") for word in words):
            raise self.error(LanguageError, "complex numbers are not read", span)
        if not _WHOLE.isdisjoint(words):
            return self.emit("trunc", [value], span)[0]
        if "bool" in words or "BoolTensor" in words:
            return value if value in self.conditions else self.emit("ne", [value, sympy.Integer(0)], span)[0]
        return value

    def detached(self, value: Atom, span: Span) -> Operand:
        """A value that autograd takes for a constant; numbers are constants already."""
        _, leaves = self.builder.made_of(value)
        if leaves.isdisjoint(self.variables.values()):
            return value, span
        self.warnings.append(
            "a tensor is copied without its gradient, as in torch: float(), .item(), .data, torch.tensor()"
        )
        return self.emit("detach", [value], span)

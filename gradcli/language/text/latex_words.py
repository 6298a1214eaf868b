r"""LaTeX to the signs of mathematics on paper, with the place of each in the text as typed.

Knows words of LaTeX, what they take in braces, and no grammar: `\frac{a}{b}` is `((a)/(b))`, `\mathbf{x}^\top` is
`x^T`.  Sums and integrals are not read, as they have no sizes, nor is any word that is not in the tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from gradcli.errors import LanguageError, Place, Span
from gradcli.language.text import hints
from gradcli.language.text.hints import OVER_SAMPLES

Piece = tuple[str, Span]
"""Characters of a plain text, with the range of the text as typed that they come from."""

_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi "
    "omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega ell hbar"
)
_FUNCTIONS = (
    "log ln exp sin cos tan sec csc cot sinh cosh tanh coth arcsin arccos arctan det tr Tr trace diag max min softmax "
    "relu asin acos atan asinh acosh atanh"
)

_WORDS: Mapping[str, str] = {
    **{word: word for word in (*_GREEK.split(), *_FUNCTIONS.split())},
    **{f"var{word}": word for word in "epsilon theta phi rho sigma".split()},
    **dict.fromkeys(("cdot", "ast"), "*"),
    **dict.fromkeys(("|", "Vert", "lVert", "rVert", "parallel"), "‖"),
    **dict.fromkeys(("vert", "lvert", "rvert", "mid"), "|"),
    **dict.fromkeys(("odot", "circ"), ".*"),
    **dict.fromkeys(("top", "intercal", "dagger"), "T"),
    **dict.fromkeys(("le", "leq"), "<="),
    **dict.fromkeys(("ge", "geq"), ">="),
    **dict.fromkeys(("ne", "neq"), "!="),
    **dict.fromkeys((*",;:!>", "quad", "qquad"), " "),
    "times": "×",
    "otimes": "⊗",
    "div": "/",
    "langle": "⟨",
    "rangle": "⟩",
    "infty": "inf",
    "{": "(",
    "}": ")",
}
"""Words that stand for themselves, or for a sign."""

_DROPPED = frozenset(
    "left right big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr displaystyle textstyle bf rm limits".split()
)
"""Words that change how others look."""

_STYLES = frozenset(
    "mathbf mathrm mathsf mathit mathcal mathbb mathtt boldsymbol bm text textbf textrm textit operatorname vec".split()
)
"""Words that change how what is in their braces looks."""

_ACCENTS = frozenset("hat bar tilde widehat overline check dot ddot".split())
"""Words that make another name of what is in their braces."""

_RATES = frozenset(["dot", "ddot"])
"""Accents of derivatives in time, which are no name on the left-hand side of an equation."""

_IN_BRACKETS = re.compile(r"(?:[^\[\]]|\[[^\[\]]*\])*?\\(?:right|[bB]igg?r?)[ \t]*(?=\])")
"""Pattern of what a large bracket opens, up to the one that closes it."""

_AROUND: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("frac", "dfrac", "tfrac"), ("((", ")/(", "))")),
    "sqrt": ("sqrt(", ")"),
    "norm": ("‖", "‖"),
    "abs": ("|", "|"),
}
"""What stands before, between and after the arguments of a word."""

_UNREAD: Mapping[str, str] = {
    **dict.fromkeys(("sum", "prod"), OVER_SAMPLES),
    **dict.fromkeys(("partial", "nabla"), "gradcli differentiates: give the function itself, such as x**2"),
    **dict.fromkeys(("int", "oint", "iint", "iiint"), hints.NO_INTEGRAL),
    "lim": "there are derivatives only",
    "sim": hints.NO_EXPECTATION,
    **dict.fromkeys("begin end ldots dots cdots".split(), "write [[1, 2], [3, 4]] for a matrix"),
}
"""Words that are certainly of LaTeX and not read, with what to write instead."""

_PLAIN = {*"|{},;:!>", "tr", "Tr", "norm", "abs", "bf", "rm", "ast", "mid"}
_KNOWN = {*_WORDS, *_DROPPED, *_STYLES, *_ACCENTS, *_AROUND, *_UNREAD} - _PLAIN
_SURE = re.compile(rf"\\(?:[|,;!]|(?:{'|'.join(sorted(_KNOWN))})(?![A-Za-z]))")
"""Pattern of a word that is certainly of LaTeX, and no division from the left, as in `A\\b`."""

_ITEM = re.compile(
    r"\\(?P<word>[A-Za-z]+)\*?[ \t]*|\\(?P<sign>[|{},;:!>])|(?P<low>_\{[ \t]*)|(?P<brace>[{}])|[^\\{}_]+|."
)


def first_word(text: str) -> str:
    r"""Return the first word of LaTeX in a text; empty where it has none.

    >>> first_word(r"\lambda x"), first_word(r"A\b"), first_word("x^2")
    ('\\lambda', '', '')
    """
    found = _SURE.search(text) if "\\" in text else None
    return found[0] if found is not None else ""


def parts(text: str, source: str) -> list[Piece]:
    r"""Return the pieces of a plain text that means what one in LaTeX does.

    Raises:
        LanguageError: A word or a brace is not read.

    >>> def read(text): return "".join(piece for piece, _ in parts(text, "EXPR"))
    >>> read(r"\frac{1}{2}\|A\mathbf{x}-b\|_2^2"), read(r"\log\det X + \lambda\operatorname{tr}(X^{\top}X)")
    ('((1)/(2))‖A x-b‖_2^2', 'log det X + lambda tr(X^(T)X)')
    >>> read(r"\sigma(w^\top x)"), read(r"\frac12 \hat{y}_{1}"), read(r"4\left[x + 1\right]")
    ('σ(w^T x)', '((1)/(2)) y_hat_1', '4(x + 1)')
    """
    return list(_Reader(text, source).pieces(closing=""))


class _Reader:
    """Reader of a text, word by word."""

    def __init__(self, text: str, source: str) -> None:
        self.text, self.source = text, source
        self.position = 0
        self.last = ""  # character that was read
        self.grouping = set[int]()  # places of brackets that group, as parentheses do
        self.is_function = all(
            re.match(r"(?:\\(?:left|[bB]igg?l?))?[ \t]*\(", text[found.end() :])
            for found in re.finditer(r"\\sigma(?![A-Za-z])[ \t]*", text)
        )  # what sigma is

    def pieces(self, closing: str = "}") -> Iterator[Piece]:
        """Generate the pieces up to a brace that closes, which is read."""
        opened = self.position
        while self.position < len(self.text):
            found = _ITEM.match(self.text, self.position)
            if found is None:  # a line's end
                yield self._piece(self.text[self.position], self.position, self.position + 1)
            elif found["word"] or found["sign"]:
                yield from self._word(found["word"] or found["sign"], found.start(), found.end())
            elif found["low"]:
                yield from self._lowered(found)
            elif found["brace"] == "{":
                self.position += 1
                yield self._piece("(", found.start(), found.end())
                yield from self.pieces()
                yield self._piece(")", self.position - 1, self.position)
            elif found["brace"] and closing:
                self.position += 1
                return
            elif found[0] == "\\":
                hint = "leave it out for a blank; A^{-1} b is the solution of A x = b"
                raise self._error("a single '\\' in LaTeX is not read", found.start(), found.end(), hint)
            else:
                yield from self._typed(found[0], found.start())
        if closing:
            raise self._error("a brace is never closed", opened - 1, opened, "add '}'")

    def _piece(self, text: str, start: int, stop: int) -> Piece:
        """Take a piece, and move behind it."""
        self.position, self.last = max(self.position, stop), text[-1:] or self.last
        return text, Span(start, stop)

    def _typed(self, text: str, start: int) -> Iterator[Piece]:
        """Generate characters as they are typed, apart from a word before them."""
        yield self._piece(text, start, start + len(text))

    def _named(self, text: str, start: int, stop: int) -> Iterator[Piece]:
        """Generate a word, apart from those around it."""
        if _is_letter(self.last) and _is_letter(text[:1]) and not self._is_low(start):
            yield self._piece(" ", start, start)
        yield self._piece(text, start, stop)
        if _is_letter(text[-1:]) and _is_letter(self.text[stop : stop + 1]) and self.text[stop : stop + 1] != "_":
            yield self._piece(" ", stop, stop)

    def _is_low(self, start: int) -> bool:
        r"""Tell whether a word is a subscript without braces, `B_\nu`."""
        return self.text[:start].rstrip().endswith("_")

    def _word(self, word: str, start: int, stop: int) -> Iterator[Piece]:
        """Generate what a word of LaTeX stands for."""
        end = start + 1 + len(word)
        if word == "sigma" and self.is_function:
            yield from self._named("σ", start, end)
        elif word in _WORDS:
            yield from self._named(_WORDS[word], start, end)
        elif word in _DROPPED:
            self.position = stop
            yield from self._bracket(stop)
        elif word in _STYLES:
            yield from self._styled(start, stop, "")
        elif word in _ACCENTS:
            yield from self._styled(start, stop, f"_{word.removeprefix('wide').replace('overline', 'bar')}")
        elif word in _AROUND:
            yield from self._around(_AROUND[word], start, stop)
        else:
            hint = _UNREAD.get(word, "write the sign or the function of the language; gradcli functions lists them")
            if word in ("sum", "prod"):  # of which others are
                raise self._error(f"this '\\{word}' of LaTeX is not read", start, end, hint)
            raise self._error(f"'\\{word}' of LaTeX is not read", start, end, hint)

    def _bracket(self, place: int) -> Iterator[Piece]:
        """Generate the parenthesis that a large bracket is, `\\left[x + 1\\right]^2`, if it is one, and no list."""
        if self.text[place : place + 1] == "[" and (found := _IN_BRACKETS.match(self.text, place + 1)) is not None:
            is_list = re.search("[,;:&]", re.sub(r"\([^()]*\)|\\[,;:]", "", found[0])) is not None
            self.grouping |= set() if is_list else {place, found.end()}
        if place in self.grouping:
            yield self._piece("(" if self.text[place] == "[" else ")", place, place + 1)

    def _styled(self, start: int, stop: int, suffix: str) -> Iterator[Piece]:
        """Generate what is in braces, or the character after a word, as one word."""
        inside = self._argument(start, stop)
        text = "".join(piece for piece, _ in inside).strip()
        if suffix and not text.isidentifier():
            raise self._error("an accent stands over one name", start, self.position, "write a name: y_hat")
        if suffix.lstrip("_") in _RATES and re.match(r"\s*=(?!=)", self.text[self.position :]):
            hint = "write the right-hand side alone"
            raise self._error("an equation of a derivative in time is not read", start, self.position, hint)
        if text.replace("_", "a").isalnum():
            self.last = self.text[start - 1 : start]
            yield from self._named(text + suffix, start, self.position)
        else:
            yield from inside

    def _around(self, signs: tuple[str, ...], start: int, stop: int) -> Iterator[Piece]:
        """Generate arguments in braces, with signs around them."""
        yield from self._named(signs[0], start, stop)
        for sign in signs[1:]:
            yield from self._argument(start, self.position)
            yield self._piece(sign, self.position - 1, self.position)

    def _argument(self, start: int, stop: int) -> list[Piece]:
        """Return the pieces of an argument: what is in braces, a character, or a word."""
        self.position = stop
        while self.text[self.position : self.position + 1].isspace():
            self.position += 1
        self.last = ""
        found = _ITEM.match(self.text, self.position)
        if found is None or found["brace"] == "}":
            word = self.text[start:].split("{", maxsplit=1)[0].strip()
            raise self._error(f"'{word}' takes what is in braces", start, start + len(word), "add {...}")
        if found["brace"]:
            self.position += 1
            return list(self.pieces())
        if found["word"] or found["sign"]:
            return list(self._word(found["word"] or found["sign"], found.start(), found.end()))
        return [self._piece(found[0][0], self.position, self.position + 1)]

    def _lowered(self, found: re.Match[str]) -> Iterator[Piece]:
        """Generate a subscript in braces, which is a part of a name, or stands below a norm."""
        inside = self._argument(found.start(), found.start() + 1)
        text = "".join(piece for piece, _ in inside).strip()
        if not text.isalnum() and text != "*":
            message, hint = "a subscript is one word of a name", "write x_1, or x[0] for an element"
            raise self._error(message, found.start(), self.position, hint)
        yield self._piece(f"_{text}", found.start(), self.position)

    def _error(self, message: str, start: int, stop: int, hint: str) -> LanguageError:
        return LanguageError(message, place=Place(self.text, Span(start, stop), self.source), hint=hint)


def _is_letter(character: str) -> bool:
    return character.isalnum() or character == "_"

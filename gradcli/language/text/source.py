"""Text with its words, the errors at a place in it, and a cursor over its words."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property

from gradcli.errors import CodeError, GradcliError, LanguageError, Place, Span, TooLargeError
from gradcli.language.text import hints
from gradcli.language.text.divisors import divisors, has_matrix_before_vector, is_scalar
from gradcli.language.text.signs import PlainText, in_ascii_signs, latex_word
from gradcli.language.text.tokens import CLOSING, LEVELS, Token, tokenize

OF_SYMPY = frozenset(
    "Trace Transpose Inverse Determinant MatrixSymbol Identity HadamardProduct KroneckerProduct".split()
)
"""Functions of SymPy's matrices, whose `*` is the matrix product and whose `**` is a power of matrices."""

_MARKS = frozenset(["'", ".'", "\\", ".*", "./", ".^", "‖", "⟨", "⊗"])
"""Signs that only a text in the notation of matrices has."""

_ROWS = re.compile(r"\[[^][\n]*;[^][\n]*\]")
"""Pattern of a matrix of MATLAB's, `[1, 2; 3, 4]`."""

_STYLE_OF_TENSORS = re.compile(r"\\(?:mathbf|boldsymbol|bm|vec|textbf|bf)(?![A-Za-z])")
"""Pattern of the words of LaTeX for bold letters and arrows, which are vectors and matrices."""

_MAY_MARK = _MARKS | {"<", "^", "."}
"""Signs with which a mark may begin."""

_WITHOUT_BRACKETS = frozenset("det tr trace logdet".split())
"""Functions of matrices that only such a text writes before a name, `det X`."""

_MARKING = OF_SYMPY | {"norm1", "norm2", "tr", "Tr", "vector", "matrix"}
"""Functions that only such a text calls."""


def _mark_at(tokens: Sequence[Token], n: int) -> Span | None:
    """Return the range of the mark of the notation of matrices that begins at a token, if one does."""
    token = tokens[n]
    if token.kind == "name":
        after = tokens[n + 1]
        is_called = token.text in _MARKING and after.text == "("
        is_bare = token.text in _WITHOUT_BRACKETS and after.kind == "name"
        return token.span.to(after.span) if is_called or is_bare else None
    if token.kind != "operator" or token.text not in _MAY_MARK:
        return None
    before, after = tokens[n - 1], tokens[n + 1]
    if token.text == ".":
        return token.span.to(after.span) if after.text == "I" else None
    if token.text == "<":
        is_closed = before.text == "|" and sum(one.text == "|" for one in tokens[:n]) % 2 == 0  # |x| < 5 compares
        is_operator = n == 0 or before.text in (*LEVELS, "(", "[", "=", ",", ";", "\n")
        return token.span if is_operator and not is_closed else None
    if token.text != "^":
        return before.span.to(token.span) if token.text == "'" and before.kind == "name" else token.span
    words = [one.text for one in tokens[n : n + 4]]
    is_matrix = before.text in CLOSING or before.text[:1].isupper()
    start = 1 + (words[1] == "(")
    is_sure = words[1] == "(" or after.span == token.span  # R^-1 may be a number
    inverse = words[start : start + 2] == ["-", "1"] and is_matrix and is_sure
    is_transpose = words[start] == "T" or words[start : start + 2] == ["-", "T"]
    return token.span.to(tokens[n + start + (words[start] == "-")].span) if inverse or is_transpose else None


def _in_exponent(words: Sequence[str], n: int) -> bool:
    """Tell whether a word is all of an exponent, but for a sign and a brace before it."""
    before = words[max(n - 3, 0) : n]
    return before[-1:] == ["^"] or before[-2:] in (["^", "-"], ["^", "("]) or before == ["^", "(", "-"]


def _typed_tokens(text: str, name: str, has_braces: bool) -> list[Token]:
    """Split a text with signs of mathematics into tokens, with their places in it."""
    read = PlainText(in_ascii_signs(text), name)
    try:
        return [replace(one, span=read.typed(one.span)) for one in tokenize(read.text, name, has_braces=has_braces)]
    except GradcliError as error:
        if error.place is not None:
            error.place = Place(text, read.typed(error.place.span), name)
        raise


class SourceText:
    """Text, the input that it is (`EXPR`, or an option), and its tokens; beyond the last one all are the end.

    Attributes:
        text: The text, in signs of ASCII where one says the same, each in its place.
        typed: The text as typed.
        factors: Names that are no functions, though a parenthesis stands after them.
    """

    factors: frozenset[str] = frozenset()

    def __init__(self, text: str, name: str, *, has_braces: bool = False) -> None:
        self.typed, self.name = text, name
        self.text = text if text.isascii() else in_ascii_signs(text)  # before anything is decided by it
        is_plain = self.text.isascii() and "||" not in text and "\\" not in text
        tokens = tokenize(self.text, name, has_braces=has_braces) if is_plain else _typed_tokens(text, name, has_braces)
        self.tokens = tokens + [tokens[-1]] * 5

    @cached_property
    def has_words(self) -> bool:
        """Tell whether the text has a name of several letters."""
        return any(len(token.text) > 1 and token.kind == "name" for token in self.tokens)

    @cached_property
    def has_calls(self) -> bool:
        """Tell whether a name stands before a parenthesis."""
        return any(after.text == "(" and one.kind == "name" for one, after in itertools.pairwise(self.tokens))

    @cached_property
    def matrix_mark(self) -> str:
        """First mark of the notation of matrices, `'` or `norm2(`, as typed; empty where the text has none."""
        found = self._sign_of_matrices or (latex_word(self.text) if "\\" in self.text else "")
        rows = _ROWS.search(self.text) if ";" in self.text and not found else None
        return rows[0] if rows else found

    @property
    def has_sign_of_matrices(self) -> bool:
        """Tell whether the text has a mark of matrices that is no word of LaTeX alone."""
        return bool(self._sign_of_matrices) or _STYLE_OF_TENSORS.search(self.text) is not None

    @cached_property
    def _sign_of_matrices(self) -> str:
        """First sign or function that only the notation of matrices has; empty where the text has none."""
        places = range(len(self.tokens) - 5)
        marks = (self.excerpt(span) for n in places if (span := _mark_at(self.tokens, n)) is not None)
        return next((mark for mark in marks if not (self.names_t and mark.endswith("T"))), "")

    @cached_property
    def is_of_numbers(self) -> bool:
        """Tell whether a capital letter divides, as no matrix does, and nothing in the text is of matrices.

        In LaTeX, whose words are a mark of matrices otherwise, so does a small letter, unless `A x` stands there.
        """
        if not self._divisors or self.has_sign_of_matrices or not is_scalar(self.tokens):
            return False
        is_latex = "\\" in self.text and not has_matrix_before_vector(self.tokens)
        return bool(self.capital_divisors) or is_latex

    @cached_property
    def capital_divisors(self) -> frozenset[str]:
        """Names with capital letters that divide: those of numbers, also next to matrices."""
        return frozenset(name for name in self._divisors if name[:1].isupper())

    @cached_property
    def _divisors(self) -> frozenset[str]:
        return divisors(self.tokens) if any(token.text == "/" for token in self.tokens) else frozenset()

    @cached_property
    def has_inverse(self) -> bool:
        """Tell whether what may be a matrix has the exponent -1, which is its inverse if it is one."""
        words = [token.text for token in self.tokens]
        places = (n for n in range(1, len(words) - 5) if words[n : n + 3] == ["^", "-", "1"])
        return any(words[n - 1] in CLOSING or words[n - 1][:1].isupper() for n in places)

    @cached_property
    def is_sympy(self) -> bool:
        """Tell whether the text calls a function of SymPy's matrices."""
        pairs = itertools.pairwise(self.tokens)
        return any(one.text in OF_SYMPY and after.text == "(" for one, after in pairs)

    @cached_property
    def names_t(self) -> bool:
        """Tell whether T is a variable of the text: it stands elsewhere than in exponents, `x^T`, and after a dot."""
        words = [token.text for token in self.tokens]
        return any(
            word == "T" and words[max(n - 1, 0)] != "." and not _in_exponent(words, n) for n, word in enumerate(words)
        )

    def error(
        self, message: str, span: Span, *, hint: str | None = None, kind: type[GradcliError] = LanguageError
    ) -> GradcliError:
        """Make an error at a range of the text."""
        return kind(message, place=Place(self.typed, span, self.name), hint=hint)

    def code(self, what: str, span: Span, instead: str = "") -> GradcliError:
        """Make the error that a range of the text is code, with a form to write instead and a command to run it."""
        return CodeError(what, Place(self.typed, span, self.name), instead)

    def excerpt(self, span: Span) -> str:
        """Return the text at a range."""
        return self.text[span.start : span.stop]

    def single_line(self, span: Span) -> str:
        """Return the text at a range, on one line."""
        return " ".join(self.excerpt(span).split())

    def position(self, character: int) -> int:
        """Return the position of the first token from a character on."""
        return bisect_left(self.tokens, min(character, len(self.text)), key=lambda token: token.span.start)

    def positions(self, span: Span) -> range:
        """Return the positions of the tokens in a range."""
        return range(self.position(span.start), self.position(span.stop))

    def within(self, span: Span) -> list[Token]:
        """List the tokens in a range."""
        return self.tokens[self.position(span.start) : self.position(span.stop)]

    def dotted(self, position: int) -> list[str]:
        """List the names joined by dots from a position on."""
        tokens = self.tokens
        names = [tokens[position].text]
        while tokens[position + 1].text == "." and tokens[position + 2].kind == "name":
            position += 2
            names.append(tokens[position].text)
        return names

    def unexpected(self, position: int, where: str = "", *, is_inside: bool = False) -> GradcliError:
        """Make the error that a token cannot stand in its place.

        Args:
            position: Of the token.
            where: The expected words, for the message.
            is_inside: Whether the token is inside of brackets.
        """
        token = self.tokens[position]
        if token.kind == "end" or token.text == "\n":
            goes_on = any(other.text not in ("\n", "") for other in self.tokens[position:])
            hint = "put parentheses around the whole expression" if goes_on else None
            if self.text.count("|") in (2, 4):  # what stands before the first was taken for a factor
                hint = "bars are abs(...) of a number, det(...) of a matrix"
            return self.error("the expression ends too early", token.span, hint=hint)
        what = "word in quotes " if token.kind == "string" else ""
        hint = self._hint(position, is_inside=is_inside)
        return self.error(f"unexpected {what}'{token.text}'{where}", token.span, hint=hint)

    def _hint(self, position: int, *, is_inside: bool) -> str | None:
        """Hint at the meaning of a token that cannot stand here."""
        token, after = self.tokens[position : position + 2]
        before = self.tokens[position - 1] if position else None
        text = before.text if before else ""
        is_value = self.name.split(maxsplit=1)[0] in hints.VALUES
        is_behind = before is not None and (before.kind != "operator" or text in (")", "]"))
        if token.text == "=" and text == ")" and self.name == "EXPR":
            return "a function is defined first, and used after it: f(x) = x^2; f(3)"
        if token.text == "=" and text not in (":", "==", "!="):
            return hints.of_equals(self.name)
        if token.kind == "keyword":
            return hints.of_keyword(token.text, after.text)
        if token.kind == "string":
            return self._of_string(position)
        if token.kind == "operator":
            if token.text == ";" and is_value:
                return "a vector is 1,2, and a matrix [[1,2],[3,4]]"
            if token.text == ":" and is_value:
                return "equal steps are arange(5), or linspace(0, 1, 5)"
            return hints.of_operator(text, token.text, after.text, is_inside=is_inside)
        if before is None or not is_behind:
            return None
        if f"--{text}" in self.text and f"{text} {token.text}" in self.text:
            return f'options stand outside of the quotes: "..." --{text} {token.text}'
        return hints.of_neighbour(text, token.text, is_value=is_value)

    def _of_string(self, position: int) -> str:
        """Hint at the meaning of a word in quotes."""
        if position == 0 and self.tokens[1].kind == "end":
            return "leave these quotes out"
        return "words in quotes stand in einsum('ij,j->i', A, x) and reduction='sum' only"


def is_of_matrices(text: str) -> bool:
    """Tell whether a text has a mark of the notation of matrices; no text that cannot be read has one.

    >>> is_of_matrices("2A'(Ax - b)"), is_of_matrices("2*x")
    (True, False)
    """
    try:
        source = SourceText(text, "EXPR")
        return bool(source.matrix_mark) and not source.is_of_numbers
    except GradcliError:
        return False


MAX_DEPTH = 100
"""Levels of brackets, calls, signs and powers inside one another; each costs seven Python frames of a thousand."""

LEVELS_OF_INDEX = 3
"""Levels that an index or a function without a name counts for, as it takes more frames."""


class Cursor:
    """Cursor over the tokens of a text.

    Attributes:
        source: The text.
        tokens: Of the text.
        position: Of the next token.
        depth: The number of levels of nesting around it.
        closing: The sign or word that ends an operand here, and elsewhere stands between two operands.
    """

    def __init__(self, source: SourceText) -> None:
        self.source, self.tokens = source, source.tokens
        self.position = self.depth = 0
        self.closing = ""

    @property
    def token(self) -> Token:
        """Next token."""
        return self.tokens[self.position]

    @property
    def at_end(self) -> bool:
        """Tell whether no token is left."""
        return self.token.kind == "end"

    @property
    def at_end_of_line(self) -> bool:
        """Tell whether no token is left on the line."""
        return self.at_end or (self.token.kind == "operator" and self.token.text in (";", "\n"))

    def advance(self) -> Token:
        """Take the next token of any kind."""
        token = self.token
        self.position += token.kind != "end"
        return token

    def accept(self, text: str) -> bool:
        """Take the next token if it is this operator."""
        token = self.tokens[self.position]
        found = token.kind == "operator" and token.text == text
        self.position += found
        return found

    def at_word(self, text: str) -> bool:
        """Tell whether this keyword is next."""
        return self.token.kind == "keyword" and self.token.text == text

    @contextmanager
    def nested(self, closing: str | None = None, levels: int = 1) -> Iterator[None]:
        """Enter a level of nesting in which this sign ends an operand; None keeps the sign of the outer level.

        Raises:
            TooLargeError: The nesting is too deep.
        """
        if self.depth + levels > MAX_DEPTH:
            message, hint = f"nested more than {MAX_DEPTH} levels deep", "name parts of it: y = ...; z = f(y)"
            raise self.source.error(message, self.behind().span, hint=hint, kind=TooLargeError)
        outer = self.closing
        self.closing = outer if closing is None else closing
        self.depth += levels
        try:
            yield
        finally:
            self.closing = outer
            self.depth -= levels

    def unexpected(self, where: str = "") -> GradcliError:
        """Make the error that the next token cannot stand here."""
        return self.source.unexpected(self.position, where, is_inside=self.depth > 0)

    def require(self, text: str) -> None:
        """Take this sign.

        Raises:
            LanguageError: Another one stands here.
        """
        if self.token.text != text:
            raise self.unexpected(f" where '{text}' was expected")
        self.advance()

    def close(self, closing: str, opening: Token) -> None:
        """Take the bracket that closes `opening`.

        Raises:
            LanguageError: Another sign stands here.
        """
        if self.at_end:
            typed = self.source.excerpt(opening.span)
            closing = "}" if typed == "{" else closing
            raise self.source.error(f"'{typed}' is never closed", opening.span, hint=f"add '{closing}'")
        self.require(closing)

    def behind(self) -> Token:
        """Return the last token that was read."""
        return self.tokens[max(self.position - 1, 0)]

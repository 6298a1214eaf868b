"""Variables that divide, `R T/(V - b)`: such a text, if it has nothing that only tensors have, is of numbers.

No matrix is ever a divisor, so one capital below a quotient tells of all in the text.  Knows words and brackets only.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from gradcli.language.text.greek import LETTERS
from gradcli.language.text.tokens import POWERS, Token

_OF_NUMBERS = frozenset(
    "sqrt cbrt exp expm1 log ln log2 log10 log1p abs sin cos tan sec csc cot sinh cosh tanh coth sech csch asin acos "
    "atan asinh acosh atanh arcsin arccos arctan arcsinh arccosh arctanh erf erfc hypot atan2".split()
)
"""Functions that textbooks of physics apply to numbers."""

_LETTERS = frozenset({*LETTERS.values(), "ell", "hbar"})
"""Names of letters that stand before parentheses as factors."""

_OF_VECTORS = frozenset("b u v w x y z beta theta β θ".split())
"""Letters that vectors have next to matrices."""

_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")

_OF_TENSORS = frozenset("@ [ | ‖ ⟨ ⊗ \\ ' .' .* ./ .^ . det tr Tr trace logdet".split())
"""Signs and words of matrices, elements and norms; bars may be a determinant."""


def divisors(tokens: Sequence[Token]) -> frozenset[str]:
    """List the variables that divide.

    A name that is assigned, or stands before brackets or between bars, tells nothing: it may be a number made of
    matrices.

    >>> from gradcli.language.text.tokens import tokenize
    >>> [*map(sorted, map(divisors, map(tokenize, ("R T/(V - b)", "1/sqrt(L C)", "M V^2/2", "x/norm(A)"))))]
    [['V', 'b'], ['C', 'L'], [], []]
    >>> [*map(sorted, map(divisors, map(tokenize, ("norm(A x)^2/N", "Z = A x; x/Z", "x/A[0]", "1/(x^T A x)"))))]
    [['N'], [], [], []]
    """
    words = [token.text for token in tokens]
    if "/" not in words:
        return frozenset()
    assigned, found = {before for before, after in itertools.pairwise(words) if after == "="}, set[str]()
    for start in (n + 1 for n, word in enumerate(words) if word == "/"):
        stop = _end_of_divisor(words, start)
        if is_scalar(tokens[start:stop]) and not _has_transpose(words[start:stop]):
            found |= {words[n] for n in range(start, stop) if _is_variable(tokens, n)}
    return frozenset(found - assigned)


def _is_variable(tokens: Sequence[Token], n: int) -> bool:
    """Tell whether a name stands for itself: it is not called, and nothing is taken of it."""
    return tokens[n].kind == "name" and not {token.text for token in tokens[n + 1 : n + 2]} & {"(", "[", "."}


def _has_transpose(words: Sequence[str]) -> bool:
    """Tell whether an exponent is T or -T."""
    places = (n + 1 for n, word in enumerate(words) if word in POWERS)
    return any("T" in itertools.islice((word for word in words[n:] if word not in ("(", "-")), 1) for n in places)


def is_scalar(tokens: Sequence[Token]) -> bool:
    """Tell whether a text has nothing that only tensors have: no function but those of numbers, no element, no norm.

    >>> from gradcli.language.text.tokens import tokenize
    >>> [is_scalar(tokenize(text)) for text in ("R T/(V - b)", "sum(A x)/N", "A @ x/N", "x[0]/N")]
    [True, False, False, False]
    """
    words = [token.text for token in tokens]
    called = {n for n, token in enumerate(tokens[:-1]) if token.kind == "name" and words[n + 1] == "("}
    defined = {words[n] for n in called if "=" in words[(stop := _behind_brackets(words, n + 1)) : stop + 1]}
    return _OF_TENSORS.isdisjoint(words) and all(map(_is_of_numbers, {words[n] for n in called} - defined))


def _is_of_numbers(name: str) -> bool:
    """Tell whether a name before parentheses is a function of numbers, or a letter, maybe with an index: `k_B(T - 1)`.

    >>> [_is_of_numbers(name) for name in ("sin", "k_B", "ell", "sum")]
    [True, True, True, False]
    """
    letter = name.partition("_")[0]
    return name in _OF_NUMBERS or len(letter) <= 2 or letter in _LETTERS


def has_matrix_before_vector(tokens: Sequence[Token]) -> bool:
    """Tell whether a capital letter stands directly before a letter that vectors have, as in `A x`.

    >>> from gradcli.language.text.tokens import tokenize
    >>> [has_matrix_before_vector(tokenize(text)) for text in ("A x/n", "G M m/r", "M v^2/r")]
    [True, False, False]
    """
    return any(
        one.text[:1].isupper() and one.kind == "name" and after.text in _OF_VECTORS and then.text not in POWERS
        for one, after, then in zip(tokens, tokens[1:], tokens[2:], strict=False)
    )


def _end_of_divisor(words: Sequence[str], start: int) -> int:
    """Return the place behind an operand, without calls of functions of tensors: a name, its power, or a group."""
    n = start
    while n < len(words):
        if words[n] in _OPENING:
            n = _behind_brackets(words, n)
        else:
            n += 1
        after = words[n] if n < len(words) else ""
        if after in POWERS:
            n += 1 + (words[n + 1 : n + 2] == ["-"])
        elif after != "(" or words[n - 1] not in _OF_NUMBERS:
            return n
    return n


def _behind_brackets(words: Sequence[str], start: int) -> int:
    """Return the place behind the bracket that closes the one at a place."""
    depth = 0
    for n in range(start, len(words)):
        depth += (words[n] in _OPENING) - (words[n] in _CLOSING)
        if depth == 0:
            return n + 1
    return len(words)

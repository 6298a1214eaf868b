"""Capital letters that divide, `R T/(V - b)`: a text that has one, and nothing that only tensors have, is of numbers.

No matrix is ever a divisor, so one capital below a quotient tells of all in the text.  Knows words and brackets only.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from gradcli.language.text.tokens import POWERS, Token

_OF_NUMBERS = frozenset(
    "sqrt cbrt exp expm1 log ln log2 log10 log1p abs sin cos tan sec csc cot sinh cosh tanh coth sech csch asin acos "
    "atan asinh acosh atanh arcsin arccos arctan arcsinh arccosh arctanh erf erfc hypot atan2".split()
)
"""Functions that textbooks of physics apply to numbers."""

_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")

_OF_TENSORS = frozenset("@ [ | ‖ ⟨ ⊗ \\ ' .' .* ./ .^ . det tr Tr trace logdet".split())
"""Signs and words of matrices, elements and norms; bars may be a determinant."""


def capital_divisors(tokens: Sequence[Token]) -> frozenset[str]:
    """List the variables with capital letters that divide.

    A name that is assigned, or stands before brackets or between bars, tells nothing: it may be a number made of
    matrices.

    >>> from gradcli.language.text.tokens import tokenize
    >>> [*map(sorted, map(capital_divisors, map(tokenize, ("R T/(V - b)", "1/sqrt(L C)", "M V^2/2", "x/norm(A)"))))]
    [['V'], ['C', 'L'], [], []]
    >>> [*map(sorted, map(capital_divisors, map(tokenize, ("norm(A x)^2/N", "Z = A x; x/Z", "x/A[0]", "1/(x^T A x)"))))]
    [['N'], [], [], []]
    """
    words = [token.text for token in tokens]
    if "/" not in words:
        return frozenset()
    assigned, found = {before for before, after in itertools.pairwise(words) if after == "="}, set[str]()
    for start in (n + 1 for n, word in enumerate(words) if word == "/"):
        stop = _end_of_divisor(words, start)
        if is_scalar(tokens[start:stop]) and not _has_transpose(words[start:stop]):
            found |= {words[n] for n in range(start, stop) if _is_variable(tokens, n) and words[n][:1].isupper()}
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
    called = (token.text for token, after in itertools.pairwise(tokens) if token.kind == "name" and after.text == "(")
    is_of_numbers = all(len(name) <= 2 or name in _OF_NUMBERS for name in called)
    return is_of_numbers and _OF_TENSORS.isdisjoint(words)


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

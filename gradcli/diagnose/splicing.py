"""Pieces of text put into other text, with parentheses where the operators around them need some, and only there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from gradcli.language.text.tokens import COMPARISON, LEVELS, PRODUCT, Token, tokenize

CHOICE, NEGATION, SIGN, POWER, ATOM = 0, 3, 9, 10, 11
"""How tightly bind, beside operators of two operands: `a if c else b`, `not`, signs, powers, and an operand alone."""

MOST_DENOMINATOR = 1_000
"""The largest denominator of a fraction that a number is written as."""

_OPENING, _CLOSING = ("(", "["), (")", "]")


def binding(tokens: Sequence[Token]) -> int:
    """How tightly the loosest operator outside of brackets binds.

    >>> binding(tokenize("a*b + f(c)")), binding(tokenize("-x**2")), binding(tokenize("f(a + b)"))
    (7, 9, 11)
    """
    level, depth, before = ATOM, 0, None
    for token in tokens:
        depth -= token.kind == "operator" and token.text in _CLOSING
        if depth == 0:
            level = min(level, _level(before, token))
        depth += token.kind == "operator" and token.text in _OPENING
        before = token
    return level


def _level(before: Token | None, token: Token) -> int:
    """How tightly binds what this token begins after the one before it."""
    is_operator = token.kind == "operator"
    if token.kind == "keyword":
        named = {"if": CHOICE, "else": CHOICE, "for": CHOICE, "in": CHOICE, "not": NEGATION}
        return named.get(token.text, LEVELS.get(token.text, ATOM))
    if is_operator and token.text in ("+", "-", "~") and not _ends_operand(before):
        return ATOM if before is not None and before.text in ("**", "^") else SIGN
    if is_operator and token.text in ("**", "^"):
        return POWER
    if is_operator and token.text in LEVELS:
        return LEVELS[token.text]
    return PRODUCT if _is_product(before, token) else ATOM


def _ends_operand(token: Token | None) -> bool:
    if token is None:
        return False
    return token.kind in ("number", "name", "string") or (token.kind == "operator" and token.text in _CLOSING)


def _is_product(before: Token | None, token: Token) -> bool:
    """Whether nothing between these two means a product: `2x`, `(a)(b)`."""
    starts = token.kind == "name" or (token.kind == "operator" and token.text == "(")
    return starts and before is not None and (before.kind == "number" or before.text == ")")


def widened(tokens: Sequence[Token], first: int, last: int) -> tuple[int, int]:
    """The tokens from `first` up to `last`, with the parentheses around them that serve the operators alone."""
    while first > 0 and tokens[first - 1].text == "(" and tokens[last].text == ")":
        before = tokens[first - 2] if first > 1 else None
        after = tokens[last + 1] if last + 1 < len(tokens) else None
        if _ends_operand(before) or (after is not None and (after.kind == "name" or after.text == "(")):
            break
        first, last = first - 1, last + 1
    return first, last


def placed(tokens: Sequence[Token], first: int, last: int, text: str) -> str:
    """`text` as it stands in place of the tokens from `first` up to `last`: with parentheses if it needs them there."""
    own = [token for token in tokenize(text) if token.kind != "end"]
    needed = max(_after(tokens, first, own), _before(tokens[last]))
    return f"({text})" if binding(own) < needed else text


def _after(tokens: Sequence[Token], first: int, own: Sequence[Token]) -> int:
    """How tightly must bind what comes after the token before `first`."""
    if first == 0:
        return CHOICE
    before, earlier = tokens[first - 1], tokens[first - 2] if first > 1 else None
    has_sign = own[0].text in ("+", "-", "~")
    if before.kind == "keyword":
        return CHOICE if before.text == "else" else COMPARISON + 1
    if _ends_operand(before):
        return ATOM + (own[0].kind == "number")
    if before.text in ("**", "^"):
        return SIGN
    if before.text in ("+", "-", "~") and not _ends_operand(earlier):
        return POWER
    if before.text in LEVELS:
        return ATOM if has_sign else LEVELS[before.text] + 1
    return CHOICE


def _before(after: Token) -> int:
    """How tightly must bind what comes before this token."""
    if after.kind == "keyword":
        return COMPARISON + 1
    if after.kind in ("name", "number") or after.text in ("**", "^", ".", "[", "("):
        return ATOM
    return LEVELS.get(after.text, CHOICE)


def filled(template: str, texts: Mapping[str, str]) -> str:
    """A template with texts in place of its names.

    >>> filled("2*sin(u/2)**2", {"u": "x + 1"})
    '2*sin((x + 1)/2)**2'
    """
    tokens = tokenize(template)
    pieces, done = [], 0
    for n, token in enumerate(tokens):
        if token.kind == "name" and token.text in texts:
            pieces += [template[done : token.span.start], placed(tokens, n, n + 1, texts[token.text])]
            done = token.span.stop
    return "".join([*pieces, template[done:]])


def joined(text: str, tokens: Sequence[Token]) -> str:
    """The text of some tokens on one line, without comments; what stood between two is one blank at most.

    >>> text = "(a +  # one\\n b)"
    >>> joined(text, tokenize(text)[:-1])
    '(a + b)'
    """
    pieces = []
    for before, token in zip([None, *tokens], tokens, strict=False):
        if before is not None and before.span.stop < token.span.start and before.text not in _OPENING:
            pieces.append(" ")
        pieces.append(text[token.span.start : token.span.stop])
    return "".join(pieces)


def decimal(value: float | Fraction) -> str:
    """A number in its shortest form: a whole number, a decimal, or a small fraction with exactly this float64.

    >>> decimal(2.0), decimal(-0.5), decimal(1/3), decimal(0.1)
    ('2', '-0.5', '1/3', '0.1')
    """
    number = float(value)
    fraction = Fraction(number).limit_denominator(MOST_DENOMINATOR)
    if fraction == Fraction(number):
        return str(fraction.numerator) if fraction.denominator == 1 else repr(number)
    texts = [repr(number)]
    if fraction.numerator / fraction.denominator == number:
        texts.append(f"{fraction.numerator}/{fraction.denominator}")
    return min(texts, key=len)

"""Sums of fractions over one denominator, in factors: what cancels between them then cancels exactly.

SymPy proposes the factors, and the form is taken where it is proved to be the same rational function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import reduce
from operator import mul

import sympy
from sympy import Expr

from gradcli.diagnose.occurrences import Reading, exact
from gradcli.diagnose.splicing import filled
from gradcli.errors import Span
from gradcli.language.program.wengert import Atom

MOST_OPERATIONS = 24
"""Of a sum that is joined."""

MOST_UNKNOWNS = 4
"""Values that such a sum is a rational function of."""

HIGHEST_POWER = 4
"""Of a value or a factor."""

MOST_MONOMIALS = 12
"""Of one factor."""


def joined_fractions(reading: Reading) -> Iterator[tuple[str, str]]:
    """The texts with one sum of fractions over one denominator, and why; the largest sum first.

    >>> from gradcli.diagnose.occurrences import read_places
    >>> next(joined_fractions(read_places("1/(x + 1) - 2/x + 1/(x - 1)")))[0]
    '2/x/(x + 1)/(x - 1)'
    """
    for atom in reversed(reading.nodes):
        if not reading.nodes[atom].op.adds_terms or not (places := reading.places(atom)):
            continue
        unknowns: dict[Atom, sympy.Symbol] = {}
        whole = _rational(reading, atom, unknowns, [0])
        if whole is None or not unknowns or len(unknowns) > MOST_UNKNOWNS:
            continue
        found = _factors(whole)
        if found is None:
            continue
        template, names = found, {symbol.name: one for one, symbol in unknowns.items()}
        edits: dict[Span, str] = {}
        for place in places:
            texts = {name: reading.shown(one, place) for name, one in names.items()}
            if None in texts.values():
                break
            edits[place] = filled(template, {name: text or "" for name, text in texts.items()})
        else:
            yield reading.edited(edits), "the fractions nearly cancel, and over one denominator they cancel exactly"


def _rational(reading: Reading, atom: Atom, unknowns: dict[Atom, sympy.Symbol], count: list[int]) -> Expr | None:
    """A value as a rational function of values that are none; None if it is too large."""
    number = exact(atom)
    if number is not None:
        return sympy.Rational(number.numerator, number.denominator)
    count[0] += 1
    if count[0] > MOST_OPERATIONS:
        return None
    node = reading.nodes.get(atom)
    exponent = exact(node.operands[1]) if node is not None and len(node.operands) == 2 else None
    is_power = exponent is not None and exponent.denominator == 1 and 2 <= abs(exponent) <= HIGHEST_POWER
    rule = None if node is None else _RULES.get(node.op.name)
    if node is None or rule is None or (node.op.name == "pow" and not is_power):
        return unknowns.setdefault(atom, sympy.Symbol(f"u{len(unknowns)}", real=True))
    parts = [_rational(reading, operand, unknowns, count) for operand in node.operands]
    known = [part for part in parts if part is not None]
    return rule(*known) if len(known) == len(parts) else None


_RULES: Mapping[str, Callable[..., Expr]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
    "square": lambda a: a**2,
    "reciprocal": lambda a: 1 / a,
    "pow": lambda a, b: a**b,
}


def _factors(whole: Expr) -> str | None:
    """A sum of fractions as one, factor by factor; None if it is none, or that is not proved."""
    from gradcli.claims.identity import vanishes  # here: most of what is mended has no sum of fractions

    if whole.has(sympy.zoo, sympy.nan):
        return None
    above, below = sympy.fraction(sympy.cancel(sympy.together(whole)))
    if not below.free_symbols:
        return None
    (c, tops), (d, bottoms) = (_factored(part) for part in (above, below))
    if c == 0 or not vanishes(whole - c / d * _product(tops) / _product(bottoms)):
        return None
    texts, dividers = ([_factor(f, n) for f, n in sorted(part, key=_length)] for part in (tops, bottoms))
    if None in texts or None in dividers:
        return None
    ratio = Fraction(int(c.p), int(c.q)) / Fraction(int(d.p), int(d.q))
    first = [str(abs(ratio.numerator))] if abs(ratio.numerator) != 1 or not texts else []
    sign, last = "-" if ratio < 0 else "", [str(ratio.denominator)] if ratio.denominator != 1 else []
    return sign + "*".join([*first, *map(str, texts)]) + "".join(f"/{text}" for text in [*map(str, dividers), *last])


def _factored(part: Expr) -> tuple[Expr, list[tuple[Expr, int]]]:
    part = sympy.expand(part)
    return sympy.factor_list(part) if part.free_symbols else (part, [])


def _length(factor: tuple[Expr, int]) -> tuple[int, str]:
    text = str(factor[0])
    return len(text), text


def _product(factors: list[tuple[Expr, int]]) -> Expr:
    return reduce(mul, (f**n for f, n in factors), sympy.Integer(1))


def _factor(factor: Expr, power: int) -> str | None:
    """A polynomial as text in parentheses, to a power; None if it is too long."""
    polynomial = sympy.Poly(factor, *sorted(factor.free_symbols, key=str))
    terms = polynomial.terms()
    if power > HIGHEST_POWER or len(terms) > MOST_MONOMIALS or not all(c.is_Integer for _, c in terms):
        return None
    pieces = []
    for powers, coefficient in terms:
        names = [f"{g}**{n}" if n > 1 else str(g) for g, n in zip(polynomial.gens, powers, strict=True) if n]
        size = abs(int(coefficient))
        text = "*".join([*([str(size)] if size != 1 or not names else []), *names])
        pieces.append(("-" if coefficient < 0 else "+", text))
    (sign, first), *others = pieces
    text = "".join([sign.strip("+") + first, *(f" {sign} {text}" for sign, text in others)])
    bare = text if text.isidentifier() else f"({text})"
    return bare if power == 1 else f"{bare}**{power}"

"""The tolerance that accepts a claim: named where rounding explains the difference, and after it was tried."""

from __future__ import annotations

import math
from decimal import ROUND_UP, Context, Decimal

from flint import arb

from gradcli.crosscheck.compare import TOLERANCE, to_float
from gradcli.option_words import Words, option
from gradcli.parts.claims.evaluation import LAST_BITS, ClaimComparison, Look
from gradcli.parts.claims.search import Search
from gradcli.reference.balls import Ball, precision
from gradcli.reference.rules import Undefined

MOST_OFF = 0.1
"""The largest relative difference that a tolerance is suggested for: with more of it, it would accept anything."""

MOST_COMPUTED = TOLERANCE["float32"].rtol
"""The largest one of numbers that a function computes, which says nothing of its rounding: that of single precision."""

COMPUTED = 15
"""Digits from which a decimal of code is rather a number that was computed, of whose rounding nobody knows."""

MORE = 1.01
"""How much above the largest difference a tolerance is suggested."""


def of_numbers(look: Look) -> str:
    """Say the largest difference of numbers at their point, and the tolerance that would accept it."""
    apart = [one for one in look.seen if one.is_apart]
    largest = max(one.distance for one in apart)
    if math.isfinite(largest):
        difference = f"the relative difference is {largest:.2g}"
        return _accepted(difference, "rtol", largest) if largest <= MOST_OFF else difference
    absolute = max(abs(to_float(one.claimed) - to_float(one.truth)) for one in apart)
    if not math.isfinite(float(_above(absolute))):
        return ""
    difference = f"the difference is {absolute:.2g}, where the truth is 0"
    scale = max(abs(to_float(one.truth)) for one in look.seen) or 1.0
    return _accepted(difference, "atol", absolute) if absolute <= MOST_OFF * scale else difference


def of_claim(comparison: ClaimComparison, look: Look, anew: Search) -> str:
    """Say how far off a refuted claim is, and the tolerance that accepts it at all points, if rounding explains it.

    Args:
        comparison: The claim.
        look: The point that refutes it.
        anew: The search for points, from its beginning.
    """
    apart = [one for one in look.seen if one.is_apart]
    largest = max(one.distance for one in apart)
    if not math.isfinite(largest):
        absolute = max(abs(to_float(one.claimed) - to_float(one.truth)) for one in apart)
        return f"the difference is {absolute:.2g}, where the truth is 0" if math.isfinite(absolute) else ""
    difference = f"the relative difference is {largest:.2g}"
    if not _is_rounding(comparison, look):
        is_typed = bool(comparison.decimals) and all(_digits(str(one)) < COMPUTED for one in comparison.decimals)
        return f"{difference}, more than the rounding of its decimals explains" if is_typed else difference
    farthest = anew.farthest(look)
    elsewhere = max(one.distance for one in farthest.seen if one.is_apart)
    if elsewhere <= MOST_OFF and _is_rounding(comparison, farthest):
        return _accepted(difference, "rtol", elsewhere)
    return difference


def _is_rounding(comparison: ClaimComparison, look: Look) -> bool:
    """Tell whether the truth is within what the decimals of a claim may be rounded from, by their last digits.

    One that the function has, too, is none of these.
    """
    apart = {one.entry: one for one in look.seen if one.is_apart}
    if not comparison.decimals:
        return max(one.distance for one in apart.values()) <= MOST_COMPUTED
    with precision(LAST_BITS):
        radii = {one: _half_unit(str(one)) if one in comparison.rounded else arb(0) for one in comparison.decimals}
        claims = dict(zip(comparison.entries, comparison.claims(look.inputs, look.v, LAST_BITS, radii), strict=True))
        return all(
            not isinstance(claimed := claims[entry], Undefined) and (one.truth - claimed).contains(0)
            for entry, one in apart.items()
        )


def _half_unit(decimal: str) -> Ball:
    """Return half a unit of the last digit of a decimal, from which it may be rounded.

    >>> _half_unit("0.33").str(3, radius=False), _half_unit("1e-05").str(3, radius=False)
    ('0.00500', '5.00e-6')
    """
    exponent = int(Decimal(decimal).as_tuple().exponent)
    return arb(10**exponent) / 2 if exponent > 0 else arb(1) / (2 * 10**-exponent)


def _digits(decimal: str) -> int:
    """Count the digits of a decimal.

    >>> _digits("0.0130"), _digits("0.9990000000000001")
    (3, 16)
    """
    return len(Decimal(decimal).as_tuple().digits)


def _accepted(difference: str, tolerance: str, largest: float) -> str:
    return Words(f"{difference}; {option(tolerance, str(_above(largest)))} would accept it")


def _above(number: float) -> str:
    """Round up to two digits.

    >>> _above(0.025), _above(1.234e-5), _above(1.79e308)
    ('0.026', '1.3e-05', 'inf')
    """
    return f"{float(Context(prec=2, rounding=ROUND_UP).create_decimal(number * MORE)):.2g}"

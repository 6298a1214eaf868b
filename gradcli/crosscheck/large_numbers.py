"""Numbers beyond float64: infinite to whatever computes with them, and written as the numbers that they are."""

from __future__ import annotations

from gradcli.reference.balls import Ball

DIGITS = 6
"""Significant digits of a number beyond float64, of which its size is what one reads."""

LONGEST_EXPONENT = 8
"""Characters of an exponent that is written out, sign included."""


class LargeNumber(float):
    """A number beyond float64: as a float it is infinite, and its text is in decimal."""

    text = "beyond float64"

    def __repr__(self) -> str:
        """Write the number."""
        return self.text


def large_number(ball: Ball) -> float:
    """Convert a number beyond float64.

    >>> from flint import arb
    >>> large_number(-(arb(10) ** 620)), large_number(-(arb(10) ** 620)) == float("-inf")
    (-1e+620, True)
    """
    found = LargeNumber(float(ball.mid()))
    found.text = in_decimal(ball, DIGITS)
    return found


def in_decimal(ball: Ball, digits: int) -> str:
    """Write a number other than 0 to a few digits, however large or small.

    >>> from flint import arb
    >>> in_decimal(arb(10) ** 434 * 2, 3), in_decimal(arb(10) ** -400, 3), in_decimal(arb(10) ** (10**10), 3)
    ('2e+434', '1e-400', '10**(1e+10)')
    """
    mantissa, _, exponent = ball.mid().str(digits, radius=False).partition("e")
    if len(exponent) < LONGEST_EXPONENT:
        return f"{float(mantissa):.{digits}g}e{exponent}"
    return f"{'-' * (ball < 0)}10**({float(exponent):.3g})"

"""Digits before and after the rewrites that a check offers: R. W. Hamming's problems of what cancels.

They are those of "Numerical Methods for Scientists and Engineers", 2nd edition, 1973, chapter 3.  Points are drawn
evenly over the bit patterns of float64, so over the exponents, and kept where the precondition holds and the true value
and all derivatives are normal numbers: there, a bad number is the form's fault.
"""

import math
import struct
from collections.abc import Callable, Iterator, Mapping
from inspect import signature

import numpy as np

from gradcli import Function
from tests.checks import check_of

Where = Callable[..., bool]


def _step(x: float, e: float) -> bool:
    return abs(x) <= 1e4 and 1e-16 * abs(x) <= e <= abs(x)


def _quadratic(a: float, b: float, c: float) -> bool:
    return True


HAMMING: Mapping[str, Where] = {
    "sqrt(x + 1) - sqrt(x)": lambda x: 1 < x < 1e308,
    "sin(x + e) - sin(x)": _step,
    "(1 - cos(x))/sin(x)": lambda x: True,
    "atan(N + 1) - atan(N)": lambda N: 1 < N < 1e100,
    "1/sqrt(x) - 1/sqrt(x + 1)": lambda x: 1 < x < 1e308,
    "1/(x + 1) - 1/x": lambda x: True,
    "tan(x + e) - tan(x)": _step,
    "1/(x + 1) - 2/x + 1/(x - 1)": lambda x: abs(x) > 1,
    "(x + 1)**(1/3) - x**(1/3)": lambda x: 1 < x < 1e308,
    "cos(x + e) - cos(x)": _step,
    "log(N + 1) - log(N)": lambda N: 1 < N < 1e40,
    "exp(x) - 2 + exp(-x)": lambda x: abs(x) <= 710,
    "(-b + sqrt(b*b - 4*a*c))/(2*a)": _quadratic,
    "(-b - sqrt(b*b - 4*a*c))/(2*a)": _quadratic,
    "(-b + sqrt(b*b - a*c))/a": _quadratic,
    "(-b - sqrt(b*b - a*c))/a": _quadratic,
    "exp(x) - 1": lambda x: abs(x) <= 1,
    "(n + 1)*log(n + 1) - n*log(n) - 1": lambda n: n > 6.8e15,
    "1/x - 1/tan(x)": lambda x: abs(x) < 0.026,
    "log(1 - x)/log(1 + x)": lambda x: abs(x) <= 1,
    "(1 - cos(x))/(x*x)": lambda x: True,
    "e*(exp((a + b)*e) - 1)/((exp(a*e) - 1)*(exp(b*e) - 1))": lambda a, b, e: (
        max(abs(a), abs(b)) <= 710 and 1e-27 * min(abs(a), abs(b)) <= e <= min(abs(a), abs(b))
    ),
    "log((1 - e)/(1 + e))": lambda e: abs(e) < 1,
    "sqrt((exp(2*x) - 1)/(exp(x) - 1))": lambda x: True,
    "(e - sin(e))/(e - tan(e))": lambda e: abs(e) <= 0.4,
    "(x + 1)**(1/n) - x**(1/n)": lambda x, n: True,
    "exp(a*x) - 1": lambda a, x: a * x < 710,
    "exp(x)/(exp(x) - 1)": lambda x: x < 710,
}
"""The texts, and where each is asked."""

POINTS = 16
MOST_DRAWN = 60_000
TOLERANCE = 2.0**-30
"""Tolerance of a check."""

MENDED = 0.8
"""The share of its bad points at which a problem that is mended is mended."""

SMALLEST, LARGEST = np.finfo(np.float64).tiny, np.finfo(np.float64).max

Numbers = list[float]
"""The value, and the derivative by each variable in the order of the precondition."""


def _samples(text: str, where: Where) -> Iterator[tuple[dict[str, float], Numbers]]:
    """Points of a problem, and the truth there."""
    generator = np.random.default_rng(0)
    count = 0
    for _ in range(MOST_DRAWN):
        at = {name: _drawn(generator) for name in signature(where).parameters}
        if count < POINTS and where(**at) and (truth := _truth(text, at)):
            count += 1
            yield at, truth


def _drawn(generator: np.random.Generator) -> float:
    while True:
        (number,) = struct.unpack("d", generator.bytes(8))
        if SMALLEST <= abs(number) <= LARGEST:
            return float(number)


def _truth(text: str, at: Mapping[str, float]) -> Numbers | None:
    """The truth at a point, as a check knows it; None if a number is missing there, or not normal."""
    known = {entry.variable: entry.reference for entry in Function(text).check(dict(at)).opinions}
    numbers = [number for name in (None, *at) if (number := known.get(name)) is not None]
    is_normal = all(SMALLEST <= abs(number) <= LARGEST for number in numbers)
    return numbers if is_normal and len(numbers) == 1 + len(at) else None


def _is_right(text: str, at: Mapping[str, float], truth: Numbers) -> bool:
    """Tell whether value and derivatives are as near to the truth as a check asks."""
    answer = Function(text).jacobian(dict(at), check=False)
    found = [answer.value, *((answer.jacobian or {})[name] for name in at)]
    return all(math.isclose(float(one), true, rel_tol=TOLERANCE) for one, true in zip(found, truth, strict=True))


def test_rewrites_mend_what_cancels() -> None:
    """Each of the problems at most of its points; no number is called wrong by a check that is not."""
    mended = 0
    for text, where in HAMMING.items():
        bad = good = 0
        samples = list(_samples(text, where))
        assert len(samples) == POINTS, text
        for at, truth in samples:
            check = check_of(Function(text).jacobian(dict(at)))
            assert check.verdict != "disagree", (text, at)
            if not _is_right(text, at, truth):
                bad += 1
                good += check.rewrite is not None and _is_right(check.rewrite.expression, at, truth)
        mended += good >= MENDED * bad
        print(f"{good:4} of {bad:4} points mended  {text}")
    assert mended == len(HAMMING) == 28

"""Functions with their truths by mpmath, and a judge of bounds: what does a sampled point refute?"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
from mpmath import mp

from gradcli.language.parsing import parse
from gradcli.parts.everywhere.box_kinds import BROKEN, BoxKind
from gradcli.parts.everywhere.intervals import Interval
from gradcli.parts.everywhere.jets import Evaluator, Jet
from gradcli.parts.everywhere.scalars import in_numbers

DIGITS = 40

Truth = Callable[..., Any]


class OutsideError(Exception):
    """Error of a point at which a function has no value."""


def _checked(condition: bool) -> None:
    if not condition:
        raise OutsideError


def _where(condition: Callable[..., bool], value: Any) -> Any:
    _checked(condition())
    return value()


def _pow(a: Any, b: Any) -> Any:
    whole = b == int(b)
    _checked(a > 0 or (whole and (a != 0 or b >= 0)) or (a == 0 and b > 0))
    return mp.mpf(a) ** (int(b) if whole else b)


def _of_positive(function: Truth) -> Truth:
    return lambda x: _where(lambda: x > 0, lambda: function(x))


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x))


ONE: dict[str, tuple[str, Truth, float, float]] = {
    "exp": ("exp({})", mp.exp, -30, 30),
    "log": ("log({})", _of_positive(mp.log), 1e-3, 30),
    "sqrt": ("sqrt({})", lambda x: _where(lambda: x >= 0, lambda: mp.sqrt(x)), 1e-3, 30),
    "sin": ("sin({})", mp.sin, -20, 20),
    "cos": ("cos({})", mp.cos, -20, 20),
    "tan": ("tan({})", mp.tan, -1.5, 1.5),
    "asin": ("asin({})", lambda x: _where(lambda: abs(x) <= 1, lambda: mp.asin(x)), -0.99, 0.99),
    "acos": ("acos({})", lambda x: _where(lambda: abs(x) <= 1, lambda: mp.acos(x)), -0.99, 0.99),
    "atan": ("atan({})", mp.atan, -20, 20),
    "sinh": ("sinh({})", mp.sinh, -20, 20),
    "cosh": ("cosh({})", mp.cosh, -20, 20),
    "tanh": ("tanh({})", mp.tanh, -20, 20),
    "asinh": ("asinh({})", mp.asinh, -20, 20),
    "acosh": ("acosh({})", lambda x: _where(lambda: x >= 1, lambda: mp.acosh(x)), 1.01, 20),
    "atanh": ("atanh({})", lambda x: _where(lambda: abs(x) < 1, lambda: mp.atanh(x)), -0.99, 0.99),
    "erf": ("erf({})", mp.erf, -5, 5),
    "erfc": ("erfc({})", mp.erfc, -5, 5),
    "erfinv": ("erfinv({})", lambda x: _where(lambda: abs(x) < 1, lambda: mp.erfinv(x)), -0.9, 0.9),
    "lgamma": ("lgamma({})", _of_positive(mp.loggamma), 0.1, 20),
    "digamma": ("digamma({})", _of_positive(mp.digamma), 0.1, 20),
    "polygamma": ("polygamma(2, {})", _of_positive(lambda x: mp.polygamma(2, x)), 0.1, 20),
    "i0": ("i0({})", lambda x: mp.besseli(0, x), -20, 20),
    "i1": ("i1({})", lambda x: mp.besseli(1, x), -20, 20),
    "sinc": ("sinc({})", mp.sincpi, -6, 6),
    "abs": ("abs({})", abs, -5, 5),
    "square": ("(({})**2)", lambda x: x * x, -5, 5),
    "cube": ("(({})**3)", lambda x: x**3, -5, 5),
    "inverse_square": ("(({})**(-2))", lambda x: _where(lambda: x != 0, lambda: 1 / (x * x)), 0.1, 5),
    "power": ("(({})**1.5)", lambda x: _pow(x, mp.mpf(1.5)), 1e-3, 5),
    "sigmoid": ("sigmoid({})", _sigmoid, -20, 20),
    "softplus": ("softplus({})", lambda x: mp.log1p(mp.exp(x)), -20, 20),
    "logsigmoid": ("logsigmoid({})", lambda x: -mp.log1p(mp.exp(-x)), -20, 20),
    "silu": ("silu({})", lambda x: x * _sigmoid(x), -20, 20),
    "gelu": ("gelu({})", lambda x: x * mp.erfc(-x / mp.sqrt(2)) / 2, -8, 8),
    "relu": ("relu({})", lambda x: max(x, mp.mpf(0)), -5, 5),
    "elu": ("elu({})", lambda x: x if x > 0 else mp.expm1(x), -5, 5),
    "leaky_relu": ("leaky_relu({})", lambda x: x if x > 0 else mp.mpf(0.01) * x, -5, 5),
    "floor": ("floor({})", mp.floor, -5, 5),
    "ceil": ("ceil({})", mp.ceil, -5, 5),
    "trunc": ("trunc({})", lambda x: mp.floor(x) if x >= 0 else mp.ceil(x), -5, 5),
    "round": ("round({})", mp.nint, -5, 5),
    "sign": ("sign({})", mp.sign, -5, 5),
    "jump": ("where({} > 1, 2, 5)", lambda x: mp.mpf(2) if x > 1 else mp.mpf(5), -5, 5),
}
"""Functions of one number: text, truth, and a range where it has values."""

TWO: dict[str, tuple[str, Truth, float, float]] = {
    "add": ("({} + {})", lambda a, b: a + b, -5, 5),
    "sub": ("({} - {})", lambda a, b: a - b, -5, 5),
    "mul": ("({} * {})", lambda a, b: a * b, -5, 5),
    "div": ("({} / {})", lambda a, b: _where(lambda: b != 0, lambda: a / b), 0.1, 5),
    "pow": ("(({})**({}))", lambda a, b: _pow(a, mp.mpf(b)), 0.1, 3),
    "atan2": ("atan2({}, {})", lambda a, b: _where(lambda: a != 0 or b != 0, lambda: mp.atan2(a, b)), 0.1, 5),
    "hypot": ("hypot({}, {})", lambda a, b: mp.sqrt(a * a + b * b), -5, 5),
    "logaddexp": ("logaddexp({}, {})", lambda a, b: mp.log(mp.exp(a) + mp.exp(b)), -20, 20),
    "maximum": ("maximum({}, {})", max, -5, 5),
    "minimum": ("minimum({}, {})", min, -5, 5),
    "zeta": ("zeta({}, {})", lambda a, b: _where(lambda: a > 1 and b > 0, lambda: mp.zeta(a, b)), 1.2, 5),
    "gammaincc": ("gammaincc({}, {})", lambda a, b: mp.gammainc(a, b, regularized=True), 0.2, 5),
    "where": ("where({0} > {1}, {0}, ({1})**3)", lambda a, b: a if a > b else b**3, -3, 3),
}
"""Functions of two numbers."""


@dataclass(frozen=True)
class Case:
    """A function with its truth, and a range of its variables."""

    text: str
    truth: Truth
    names: tuple[str, ...]
    low: float
    high: float


def primitives() -> dict[str, Case]:
    """Make a case of each function of the tables."""
    found = {}
    for name, (text, truth, low, high) in {**ONE, **TWO}.items():
        names = ("x",) if name in ONE else ("x", "y")
        found[name] = Case(text.format(*names), truth, names, low, high)
    return found


def composed(draw: random.Random, depth: int) -> Case:
    """Draw a function of x and y that is made of those of the tables."""
    slow = {"zeta", "gammaincc", "i0", "i1", "polygamma", "erfinv", "lgamma", "digamma"}

    def made(left: int) -> tuple[str, Truth]:
        if left == 0 or draw.random() < 0.15:
            kind = draw.choice("xyxyc")
            if kind == "c":
                number = draw.choice([0.5, 2, 3, 0.1, -1.5])
                return f"({number})", lambda x, y: mp.mpf(number)
            return (kind, (lambda x, y: x) if kind == "x" else (lambda x, y: y))
        if draw.random() < 0.5:
            text, truth, *_ = ONE[draw.choice([one for one in ONE if one not in slow])]
            inner, value = made(left - 1)
            return text.format(inner), lambda x, y: truth(value(x, y))
        text, truth, *_ = TWO[draw.choice([one for one in TWO if one not in slow])]
        (a, first), (b, second) = made(left - 1), made(left - 1)
        return text.format(a, b), lambda x, y: truth(first(x, y), second(x, y))

    while True:
        text, truth = made(depth)
        if "x" in text.replace("exp", "") and "y" in text:
            return Case(text, truth, ("x", "y"), -3, 3)


def boxes(draw: random.Random, case: Case, count: int) -> Interval:
    """Draw boxes of all widths in the range of a case; some begin or end at 0, some are points."""
    low, high = [], []
    for _ in range(count):
        sides = []
        for _ in case.names:
            width = (case.high - case.low) * draw.choice([1.0, 0.5, 0.1, 0.01, 1e-4, 0.0])
            start = draw.uniform(case.low, case.high - width)
            if case.low < 0 and draw.random() < 0.2:
                start = draw.choice([0.0, -width])
            sides.append((start, min(start + width, case.high)))
        low.append([a for a, _ in sides])
        high.append([b for _, b in sides])
    return Interval(np.array(low, float).T, np.array(high, float).T)


def points(draw: random.Random, low: Sequence[float], high: Sequence[float], count: int) -> Iterator[tuple[float, ...]]:
    """Draw points of a box: some corners, and others inside."""
    for n in range(count):
        ends = list(zip(low, high, strict=True))
        yield tuple(draw.choice(one) if n % 2 else draw.uniform(*one) for one in ends)


def contains(low: float, high: float, number: Any, slack: float = 0.0) -> bool:
    """Tell whether a number is between two ends, or as near to them as its own error is."""
    near = slack * (1 + abs(number))
    return bool((low == -np.inf or low - near <= number) and (high == np.inf or number <= high + near))


def violations(case: Case, draw: random.Random, *, boxes_of: int, points_of: int) -> Iterator[str]:
    """Yield what points of boxes refute of the bounds of a function."""
    program = in_numbers(parse(case.text), {name: np.array(0.5) for name in case.names}, case.names)
    evaluator = Evaluator(program)
    every = boxes(draw, case, boxes_of)
    with mp.workdps(DIGITS):
        (jet,) = evaluator.run(every)
        for n in range(boxes_of):
            yield from _of_box(case, _at(jet, n, boxes_of), every.low[:, n], every.high[:, n], draw, points_of)


def _at(jet: Jet, n: int, count: int) -> Jet:
    def one(a: Interval) -> Interval:
        return Interval(*(np.broadcast_to(end, (count,))[n] for end in (a.low, a.high)))

    second = {pair: one(a) for pair, a in (jet.second or {}).items()}
    kinds = np.broadcast_to(jet.kinds, (count,))[n]
    return Jet(one(jet.value), {i: one(a) for i, a in jet.slopes.items()}, second, kinds)


def _of_box(case: Case, jet: Jet, low: Any, high: Any, draw: random.Random, count: int) -> Iterator[str]:
    where = f"{case.text} in {list(zip(low.tolist(), high.tolist(), strict=True))}"
    middle = [mp.mpf(a) / 2 + mp.mpf(b) / 2 for a, b in zip(low, high, strict=True)]
    try:
        center = case.truth(*middle)
    except (OutsideError, ZeroDivisionError, ValueError, OverflowError, mpmath.libmp.ComplexResult):
        center = None
    for at in points(draw, low.tolist(), high.tolist(), count):
        exact = [mp.mpf(one) for one in at]
        try:
            value = case.truth(*exact)
        except (OutsideError, ZeroDivisionError, ValueError, OverflowError, mpmath.libmp.ComplexResult):
            if jet.kinds & BROKEN == 0:
                yield f"{where}: no value at {at}"
            continue
        if jet.kinds & int(BoxKind.OUTSIDE):
            yield f"{where}: y = {mp.nstr(value, 20)} at {at}, where there is to be none"
        if not contains(float(jet.value.low), float(jet.value.high), value):
            yield f"{where}: y = {mp.nstr(value, 20)} at {at} is not in {jet.value}"
        if center is not None and jet.kinds & BROKEN == 0:
            yield from _of_forms(
                jet, value, center, [p - q for p, q in zip(exact, middle, strict=True)], f"{where} at {at}"
            )
        yield from _of_slopes(case, jet, exact, where)


def _of_forms(jet: Jet, value: Any, center: Any, steps: Sequence[Any], where: str) -> Iterator[str]:
    """Refute that the function changes by no more than its slopes say."""
    low = sum(min(s * _float(jet.slope(i).low, s), s * _float(jet.slope(i).high, s)) for i, s in enumerate(steps))
    high = sum(max(s * _float(jet.slope(i).low, s), s * _float(jet.slope(i).high, s)) for i, s in enumerate(steps))
    change = value - center
    if not contains(low, high, change, 1e-25):
        yield f"{where}: a change of {mp.nstr(change, 10)} is not in {mp.nstr(low, 10)}..{mp.nstr(high, 10)}"


def _float(end: Any, step: Any) -> Any:
    return mp.mpf(0) if step == 0 else mp.mpf(float(end))


def _of_slopes(case: Case, jet: Jet, at: Sequence[Any], where: str) -> Iterator[str]:
    """Refute slopes and second slopes, where difference quotients of two sizes agree."""
    count = len(at)
    orders = [tuple(int(i == k) for k in range(count)) for i in range(count)]
    for i, order in enumerate(orders):
        slope = derivative(case.truth, at, order)
        if slope is not None and not contains(float(jet.slope(i).low), float(jet.slope(i).high), slope, 1e-12):
            yield f"{where}: slope {i} = {mp.nstr(slope, 15)} at {[*map(float, at)]} is not in {jet.slope(i)}"
    for i in range(count):
        for j in range(i, count):
            order = tuple((i == k) + (j == k) for k in range(count))
            second, own = derivative(case.truth, at, order), jet.second_slope(i, j)
            if second is not None and not contains(float(own.low), float(own.high), second, 1e-7):
                yield f"{where}: second slope {i, j} = {mp.nstr(second, 15)} at {[*map(float, at)]} is not in {own}"


def derivative(truth: Truth, at: Sequence[Any], order: tuple[int, ...]) -> Any:
    """Return a derivative by central differences; None where it is not the same with another step, or at a jump."""
    found = []
    near = [one + (times > 0) * mp.mpf(10) ** -10 for one, times in zip(at, order, strict=True)]
    try:
        if abs(truth(*at)) > 1e9 or abs(truth(*near) - truth(*at)) > mp.mpf(10) ** -4 * (1 + abs(truth(*at))):
            return None
    except (OutsideError, ZeroDivisionError, ValueError, OverflowError, mpmath.libmp.ComplexResult, TypeError):
        return None
    for step in (mp.mpf(10) ** -9, mp.mpf(10) ** -10):
        try:
            found.append(_quotient(truth, list(at), list(order), step))
        except (OutsideError, ZeroDivisionError, ValueError, OverflowError, mpmath.libmp.ComplexResult, TypeError):
            return None
    a, b = found
    return b if abs(a - b) <= mp.mpf(10) ** -13 * (1 + abs(b)) else None


def _quotient(truth: Truth, at: list[Any], order: list[int], step: Any) -> Any:
    for k, times in enumerate(order):
        if times:
            rest = [*order[:k], times - 1, *order[k + 1 :]]
            up, down = ([*at[:k], at[k] + s * step, *at[k + 1 :]] for s in (1, -1))
            return (_quotient(truth, up, rest, step) - _quotient(truth, down, rest, step)) / (2 * step)
    return truth(*at)

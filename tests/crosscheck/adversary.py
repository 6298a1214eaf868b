"""Random functions with kinks, ties, jumps, poles and gaps, at the points where these are, and what is true of them.

A function is one text: gradcli reads it, and Python evaluates it on numbers of mpmath with 14,000 bits.  Derivatives
are differences with steps so small that nothing lies between a point and the one beside it: neither the next float nor
any product of them.
"""

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from mpmath import MPContext

from gradcli import Function
from gradcli.results import Entry
from tests.checks import check_of

RTOL = {"float64": 2.0**-30, "float32": 2.0**-16}
LARGEST_EXPONENT = 700

Sides = tuple[Any, Any] | None
"""The derivatives from the left and from the right; None where there is no value, a jump or an infinite slope."""


class NotKnownError(Exception):
    """A number is beyond the range of float64."""


def _context() -> Any:
    context: Any = MPContext()
    context.prec = 14_000
    context.trap_complex = True
    return context


M = _context()
TWO = M.mpf(2)
STEP, WIDER_STEP = TWO**-4500, TWO**-64
"""Of a first derivative, and of a second one, which is wider than any number made of the former."""


def _exp(a: Any) -> Any:
    if abs(a) > LARGEST_EXPONENT:
        raise NotKnownError
    return M.exp(a)


def _tanh(a: Any) -> Any:
    return 1 - 2 / (_exp(2 * a) + 1)


def _norm(values: list[Any]) -> Any:
    return M.sqrt(sum(value**2 for value in values))


def _std(values: list[Any]) -> Any:
    mean = sum(values) / len(values)
    return _norm([value - mean for value in values]) / M.sqrt(len(values) - 1)


NAMES: dict[str, Callable[..., Any]] = {
    **{name: getattr(M, name) for name in "sin cos sqrt asin acosh atan asinh floor sign".split()},
    **{"exp": _exp, "tanh": _tanh, "norm": _norm, "std": _std, "amax": max, "maximum": max, "minimum": min},
    "sigmoid": lambda a: 1 / (1 + _exp(-a)),
    "log": lambda a: -M.log(1 / M.mpf(a)),
    "relu": lambda a: max(a, 0),
    "leaky_relu": lambda a, slope: a if a > 0 else slope * a,
    "elu": lambda a: a if a > 0 else _exp(a) - 1,
    "clamp": lambda a, low, high: min(max(a, low), high),
    "logsumexp": lambda values, _: M.log(sum(map(_exp, values))),
}


def value(text: str, at: Mapping[str, Any]) -> Any:
    """The value that Python gives a text; None where it is not real."""
    try:
        return M.mpf(eval(text, {**NAMES, "__builtins__": {"abs": abs}}, dict(at)))
    except (ArithmeticError, ValueError):
        return None


def _is_near(a: Any, b: Any) -> bool:
    return bool(abs(a - b) <= TWO**-1200 + TWO**-2000 * abs(a))


def _sides(f: Callable[[Any], Any], step: Any) -> Sides:
    left, here, right = (f(side * step) for side in (-1, 0, 1))
    if left is None or here is None or right is None:
        return None
    found = (here - left) / step, (right - here) / step
    return None if max(map(abs, found)) > TWO**2200 else found


def first(text: str, at: Mapping[str, float], by: str) -> Sides:
    """∂f/∂by at a point."""
    point = {name: M.mpf(number) for name, number in at.items()}
    return _sides(partial(_value_along, text, point, {**dict.fromkeys(at, 0), by: 1}), STEP)


def _value_along(text: str, point: Mapping[str, Any], u: Mapping[str, float], step: Any) -> Any:
    return value(text, {name: number + step * u[name] for name, number in point.items()})


def _is_bent(text: str, at: Mapping[str, float]) -> bool:
    """Tell whether the derivative along one of two lines is not the sum of the partial derivatives."""
    point = {name: M.mpf(number) for name, number in at.items()}
    slopes = {name: sides[0] for name in at if (sides := first(text, at, name)) is not None}
    for base in (-3, 3):  # from a corner, a function may bend in two opposite quadrants alone
        u = {name: base**n for n, name in enumerate(at)}
        along = _sides(partial(_value_along, text, point, u), STEP)
        if along is None or not _is_near(*along):
            return True
        if len(slopes) == len(at) and not _is_near(along[0], sum(slopes[name] * u[name] for name in at)):
            return True
    return False


def unless_bent(finding: Entry | None, sides: Sides, text: str, at: Mapping[str, float]) -> Sides:
    """The sides along one input, or None where a kink is seen along others, though these are the same."""
    is_kink = finding is not None and finding.verdict == "kink" and finding.reference is None
    return None if is_kink and sides is not None and _is_near(*sides) and _is_bent(text, at) else sides


def second(text: str, at: Mapping[str, float], by: str, u: Mapping[str, float]) -> Sides:
    """The derivative of ∂f/∂by along u at a point."""

    def slope(step: Any) -> Any:
        sides = first(text, {name: M.mpf(number) + step * u.get(name, 0) for name, number in at.items()}, by)
        return sides[0] if sides is not None and _is_near(*sides) else None

    return _sides(slope, WIDER_STEP)


def is_right(finding: Entry | None, torch: float, sides: Sides, dtype: str = "float64") -> bool:
    """Tell whether the verdict on torch's number is that of the truth; no finding is `agree`."""
    residue = 64 * float(np.finfo(np.dtype(dtype)).eps)

    def fits(found: float | None, truth: Any, residue: float = residue) -> bool:
        return found is not None and math.isfinite(found) and abs(found - truth) <= RTOL[dtype] * abs(truth) + residue

    if finding is None:
        return sides is not None and fits(0.0, sides[0] - sides[1]) and fits(torch, sides[0])
    match finding.verdict:
        case "unchecked":
            return True
        case "kink" if finding.reference is not None:  # a branch of the point alone: the slope next to it
            return sides is not None and not fits(torch, sides[0]) and fits(finding.reference, sides[0])
        case "kink" | "undefined" | "removable":
            known = finding.one_sided
            has_none = sides is None or not _is_near(*sides)
            return has_none and (known is None or sides is None or all(map(fits, known, sides)))
        case "disagree":
            return sides is not None and not fits(torch, sides[0]) and fits(finding.reference, sides[0])
        case _:
            return sides is not None and not fits(torch, sides[0], 0.0)


SMOOTH = """
sin({0}); cos({0}); tanh({0}); exp({0}); sigmoid({0}); atan({0}); asinh({0}); ({0})**2; ({0})**3; log(1 + ({0})**2)
sqrt(1 + ({0})**2); 1/(1 + ({0})**2); {0}*exp(-({0})**2)
"""
JOINS = "({0} + {1}); ({0} - {1}); ({0})*({1}); ({0})/(1 + ({1})**2); logsumexp([{0}, {1}], 0)"
KINKS = """
relu({0}); abs({0}); maximum({0}, 0); minimum({0}, {1}); clamp({0}, 0, 1); leaky_relu({0}, 0.25); floor({0}); elu({0})
relu({0})**2; maximum({0}, {1}); amax([{0}, {1}, x]); norm([{0}, {1}]); std([{0}, {1}])
({1} if {0} > 0 else {0}); ({1} if {0} <= 0 else {0}*{1}); ({1} if {0} == 0 else {0}); (0 if {0} != 0 else {1})
"""
EDGES = """
sqrt({0}); log({0}); ({0})**1.5; ({0})**2.5; {0}*sqrt({0}); asin(1 - ({0})); acosh(1 + {0}); 1/({0}); sqrt(relu({0}))
relu({0})**1.5; clamp(sqrt({0}) - 5, 0, 1); sqrt(({0})**2); sqrt(({0})**4); (({0})**2)**1.5
(sqrt({0}) if {0} > 0 else 0)
"""
GAPS = """
sin({0})/({0}); ({0})**2/({0}); (1 - cos({0}))/({0})**2; (exp({0}) - 1)/({0}); ({0})/tanh({0}); log(1 + {0})/({0})
(1 if {0} == 0 else sin({0})/({0})); (0 if {0} == 0 else ({0})**2/({0}))
"""
ARGUMENTS = "x; x; (x - 1); (x - y); x*y; (x**2 - y); (1 - x**2); x**2; x**3; sin(x); (-x); (x + y)"
"""Expressions that are 0 at some of the points."""

PLACES = [(0, 0), (0, 1), (1, 1), (1, -1), (-2, 4), (3, 3)]


@dataclass(frozen=True)
class Question:
    """A function at a point."""

    text: str
    at: dict[str, float]
    dtype: str


def pick(r: random.Random, templates: str) -> str:
    """One of the templates between semicolons and line ends."""
    return r.choice(templates.strip().replace("\n", "; ").split("; "))


def nested(r: random.Random, leaves: str, unary: str, binary: str, depth: int) -> str:
    """Templates within each other to a depth."""
    if depth == 0:
        return pick(r, leaves)
    other = nested(r, leaves, unary, binary, r.randrange(depth))
    template = pick(r, r.choice([unary, binary, binary]))
    return template.format(nested(r, leaves, unary, binary, depth - 1), other)


def draw(seed: int) -> Question:
    """The question of a seed: at a place, one float beside it, or away from it."""
    r = random.Random(seed)
    text = pick(r, ARGUMENTS)
    for templates in r.choice([[KINKS], [KINKS], [EDGES], [GAPS], [KINKS, EDGES], [KINKS, KINKS], [SMOOTH, SMOOTH]]):
        text = pick(r, templates).format(text, pick(r, ARGUMENTS))
    if r.random() < 0.6:
        text = pick(r, r.choice([SMOOTH, JOINS])).format(text, pick(r, ARGUMENTS))
    dtype = r.choice(["float64", "float64", "float64", "float32"])
    kind = np.dtype(dtype).type
    at = {}
    for name, place in zip("xy", r.choice(PLACES), strict=True):
        beside = np.nextafter(kind(place), kind(r.choice([-np.inf, np.inf])))
        away = kind(place + r.choice([-1, 1]) * r.choice([1e-9, 1e-3, 0.25, 1.5]))
        at[name] = float(r.choice([kind(place)] * 3 + [beside, away]))
    return Question(text, {name: number for name, number in at.items() if name in Function(text).variables}, dtype)


class Faults(NamedTuple):
    """Faults of the verdicts on a question, the verdict on all, and how many derivatives have a truth that is known."""

    found: list[str]
    verdict: str
    compared: int


def faults(question: Question) -> Faults:
    """Compare the verdict on each derivative with its truth, if that is known."""
    answer = Function(question.text).grad(question.at, dtype=question.dtype)  # type: ignore[arg-type]
    found, compared = [], 0
    for name in question.at:
        finding = next((one for one in check_of(answer).findings if one.variable == name), None)
        torch = float(answer.grad[name])
        try:
            sides = first(question.text, question.at, name)
        except NotKnownError:
            continue
        compared += 1
        sides = unless_bent(finding, sides, question.text, question.at)
        if not is_right(finding, torch, sides, question.dtype):
            told = "no derivative" if sides is None else ", ".join(M.nstr(side, 17) for side in sides)
            found.append(f"{question} by {name}: torch {torch}, truth {told}, {finding}")
    return Faults(found, check_of(answer).verdict, compared)

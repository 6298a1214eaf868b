"""Functions written twice: as text for gradcli, and as one-sided power series (`one_sided`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.crosscheck import one_sided as s
from tests.crosscheck.crossings import CONDITIONS
from tests.crosscheck.one_sided import Decisions, Series, number

Values = Any  # Series | list[Series]


@dataclass(frozen=True)
class Point:
    """The series of each variable, and what is decided on the way."""

    leaves: Mapping[str, Values]
    decided: Decisions


@dataclass(frozen=True)
class Tree:
    """A function: its text for gradcli, and how to run it on series."""

    text: str
    run: Callable[[Point], Values]


def leaf(name: str) -> Tree:
    return Tree(name, lambda point: point.leaves[name])


def constant(value: float) -> Tree:
    text = repr(value) if value >= 0 else f"({value!r})"
    return Tree(text.removesuffix(".0") if "e" not in text else text, lambda _: number(value))


def _each(f: Callable[..., Series], *values: Values) -> Values:
    """An elementwise function, broadcast."""
    sizes = [len(value) for value in values if isinstance(value, list)]
    if not sizes:
        return f(*values)
    size = max(sizes)
    columns = [
        (value if len(value) == size else value * size) if isinstance(value, list) else [value] * size
        for value in values
    ]
    return [f(*row) for row in zip(*columns, strict=True)]


def call(template: str, f: Callable[..., Series], *inner: Tree) -> Tree:
    """An elementwise function of trees."""
    text = template.format(*(tree.text for tree in inner))
    return Tree(text, lambda point: _each(f, *(tree.run(point) for tree in inner)))


def choosing(template: str, f: Callable[..., Series], *inner: Tree) -> Tree:
    """An elementwise function of trees that decides by signs."""
    text = template.format(*(tree.text for tree in inner))
    return Tree(text, lambda p: _each(lambda *a: f(p.decided, *a), *(tree.run(p) for tree in inner)))


def where(condition: str, a: Tree, yes: Tree, no: Tree) -> Tree:
    """Of scalars; the branch that is not taken is not run."""
    accepted = CONDITIONS[condition]

    def run(point: Point) -> Values:
        return (yes if point.decided.sign(a.run(point)) in accepted else no).run(point)

    return Tree(f"where({a.text} {condition} 0, {yes.text}, {no.text})", run)


def _sum(values: list[Series]) -> Series:
    total = number(0)
    for value in values:
        total = s.add(total, value)
    return total


def _mean(values: list[Series]) -> Series:
    return s.div(_sum(values), number(len(values)))


def _var(values: list[Series]) -> Series:
    middle = _mean(values)
    return s.div(_sum([s.natural(s.sub(value, middle), 2) for value in values]), number(len(values) - 1))


def _softmax(values: list[Series]) -> list[Series]:
    found = []
    for value in values:
        found.append(s.div(number(1), _sum([s.exp(s.sub(other, value)) for other in values])))
    return found


def _logsumexp(values: list[Series]) -> Series:
    return s.log(_sum([s.exp(value) for value in values]))


def _prod(values: list[Series]) -> Series:
    found = values[0]
    for value in values[1:]:
        found = s.mul(found, value)
    return found


def _amax(decided: Decisions, values: list[Series]) -> Series:
    found = values[0]
    for value in values[1:]:
        found = value if decided.sign(s.sub(value, found)) > 0 else found
    return found


def _cumsum(values: list[Series]) -> list[Series]:
    return [_sum(values[: index + 1]) for index in range(len(values))]


REDUCTIONS: dict[str, Callable[[list[Series]], Values]] = {
    "sum({})": _sum,
    "mean({})": _mean,
    "prod({})": _prod,
    "var({})": _var,
    "std({})": lambda values: s.sqrt(_var(values)),
    "norm({})": lambda values: s.sqrt(_sum([s.natural(value, 2) for value in values])),
    "logsumexp({}, 0)": _logsumexp,
    "softmax({}, 0)": _softmax,
    "log_softmax({}, 0)": lambda values: [s.sub(value, _logsumexp(values)) for value in values],
    "cumsum({}, 0)": _cumsum,
}


def reduced(template: str, inner: Tree) -> Tree:
    f = REDUCTIONS[template]
    return Tree(template.format(inner.text), lambda point: f(inner.run(point)))


def largest(inner: Tree) -> Tree:
    return Tree(f"amax({inner.text})", lambda point: _amax(point.decided, inner.run(point)))


def _plain(f: Callable[..., Any]) -> Callable[[Tree], Tree]:
    return lambda inner: call(f.__name__ + "({})", f, inner)


def _one_plus_square(a: Series) -> Series:
    return s.add(number(1), s.mul(a, a))


SMOOTH: list[Callable[[Tree], Tree]] = [
    *(_plain(f) for f in (s.sin, s.cos, s.tanh, s.exp, s.sigmoid, s.atan, s.asinh, s.erf, s.expm1)),
    lambda a: call("({})**2", lambda b: s.natural(b, 2), a),
    lambda a: call("({})**3", lambda b: s.natural(b, 3), a),
    lambda a: call("log(1 + ({})**2)", lambda b: s.log(_one_plus_square(b)), a),
    lambda a: call("sqrt(1 + ({})**2)", lambda b: s.sqrt(_one_plus_square(b)), a),
    lambda a: call("1/(1 + ({})**2)", lambda b: s.div(number(1), _one_plus_square(b)), a),
    lambda a: call("silu({})", lambda b: s.mul(b, s.sigmoid(b)), a),
    lambda a: call("tanhshrink({})", lambda b: s.sub(b, s.tanh(b)), a),
    lambda a: call("logsigmoid({})", lambda b: s.log(s.sigmoid(b)), a),
    lambda a: call("log(cosh({}))", lambda b: s.log(s.scale(s.add(s.exp(b), s.exp(s.neg(b))), 0.5)), a),
    lambda a: call("sinh({})", lambda b: s.scale(s.sub(s.exp(b), s.exp(s.neg(b))), 0.5), a),
]

JOINS: list[Callable[[Tree, Tree], Tree]] = [
    *([lambda a, b: call("({} + {})", s.add, a, b), lambda a, b: call("({} - {})", s.sub, a, b)]),
    *([lambda a, b: call("{}*{}", s.mul, _held(a), _held(b))] * 2),
    lambda a, b: call("{}/(1 + ({})**2)", lambda c, d: s.div(c, _one_plus_square(d)), _held(a), b),
    lambda a, b: call("atan2({}, {})", s.atan2, a, b),
    lambda a, b: call("logaddexp({}, {})", lambda c, d: s.log(s.add(s.exp(c), s.exp(d))), a, b),
    lambda a, b: call("hypot({}, {})", lambda c, d: s.sqrt(s.add(s.mul(c, c), s.mul(d, d))), a, b),
]


def _held(a: Tree) -> Tree:
    return Tree(f"({a.text})", a.run)


def _clamp(low: float, high: float) -> Callable[[Decisions, Series], Series]:
    def run(decided: Decisions, a: Series) -> Series:
        if decided.sign(s.sub(a, number(low))) < 0:
            return number(low)
        return number(high) if decided.sign(s.sub(a, number(high))) > 0 else a

    return run


def larger(decided: Decisions, a: Series, b: Series) -> Series:
    return a if decided.sign(s.sub(a, b)) >= 0 else b


def smaller(decided: Decisions, a: Series, b: Series) -> Series:
    return a if decided.sign(s.sub(a, b)) <= 0 else b


KINKS: list[Callable[[Tree], Tree]] = [
    *([lambda a: choosing("relu({})", lambda d, b: larger(d, b, number(0)), a)] * 2),
    *([lambda a: choosing("abs({})", lambda d, b: s.absolute(b, d), a)] * 2),
    lambda a: choosing("maximum({}, 0)", lambda d, b: larger(d, b, number(0)), a),
    lambda a: choosing("minimum({}, 0)", lambda d, b: smaller(d, b, number(0)), a),
    lambda a: choosing("clamp({}, 0, 1)", _clamp(0, 1), a),
    lambda a: choosing("hardtanh({}, 0, 2)", _clamp(0, 2), a),
    lambda a: choosing("leaky_relu({}, 0.25)", lambda d, b: b if d.sign(b) >= 0 else s.scale(b, 0.25), a),
    lambda a: choosing("floor({})", lambda d, b: s.floor(b, d), a),
    lambda a: choosing("elu({})", lambda d, b: b if d.sign(b) >= 0 else s.expm1(b), a),
    lambda a: choosing("relu({})**2", lambda d, b: s.natural(larger(d, b, number(0)), 2), a),
]
"""Kinks, jumps, and joins that are smooth once, where the argument is 0."""

EDGES: list[Callable[[Tree], Tree]] = [
    _plain(s.sqrt),
    _plain(s.log),
    lambda a: call("({})**1.5", lambda b: s.power(b, 1.5), a),
    lambda a: call("({})**2.5", lambda b: s.power(b, 2.5), a),
    lambda a: call("({0})*sqrt({0})", lambda b: s.mul(b, s.sqrt(b)), a),
    lambda a: call("asin(1 - ({}))", lambda b: s.asin(s.sub(number(1), b)), a),
    lambda a: call("acosh(1 + {})", lambda b: s.acosh(s.add(number(1), b)), a),
    lambda a: call("1/({})", lambda b: s.div(number(1), b), a),
    lambda a: choosing("sqrt(relu({}))", lambda d, b: s.sqrt(larger(d, b, number(0))), a),
    lambda a: choosing("relu({})**1.5", lambda d, b: s.power(larger(d, b, number(0)), 1.5), a),
    lambda a: choosing("clamp(sqrt({}) - 5, 0, 1)", lambda d, b: _clamp(0, 1)(d, s.sub(s.sqrt(b), number(5))), a),
    lambda a: choosing("maximum(({0})**1.5 - 1, {0})", lambda d, b: larger(d, s.sub(s.power(b, 1.5), number(1)), b), a),
    lambda a: call("sqrt(({})**2)", lambda b: s.sqrt(s.mul(b, b)), a),
    lambda a: call("sqrt(({})**4)", lambda b: s.sqrt(s.natural(b, 4)), a),
    lambda a: call("(({})**2)**1.5", lambda b: s.power(s.mul(b, b), 1.5), a),
]

REMOVABLE: list[Callable[[Tree], Tree]] = [
    lambda a: call("sin({0})/({0})", lambda b: s.div(s.sin(b), b), a),
    lambda a: call("({0})**2/({0})", lambda b: s.div(s.mul(b, b), b), a),
    lambda a: call("(1 - cos({0}))/({0})**2", lambda b: s.div(s.sub(number(1), s.cos(b)), s.mul(b, b)), a),
    lambda a: call("(exp({0}) - 1)/({0})", lambda b: s.div(s.sub(s.exp(b), number(1)), b), a),
    lambda a: call("({0})/tanh({0})", lambda b: s.div(b, s.tanh(b)), a),
    lambda a: call("log(1 + {0})/({0})", lambda b: s.div(s.log(s.add(number(1), b)), b), a),
]

CANCELLING: list[Callable[[Tree], Tree]] = [
    lambda a: call("(1 - cos({}))", lambda b: s.sub(number(1), s.cos(b)), a),
    lambda a: call("(exp({0}) - 1 - ({0}))", lambda b: s.sub(s.sub(s.exp(b), number(1)), b), a),
    lambda a: call("(sqrt(({0})**2 + 1) - ({0}))", lambda b: s.sub(s.sqrt(_one_plus_square(b)), b), a),
    lambda a: call("(tanh({0}) - ({0}))", lambda b: s.sub(s.tanh(b), b), a),
    lambda a: call("(({0} + 1)**2 - ({0})**2)", lambda b: s.sub(s.natural(s.add(b, number(1)), 2), s.mul(b, b)), a),
]

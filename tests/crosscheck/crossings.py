"""Exact second derivatives of piecewise polynomials, by two infinitesimals over the rationals; without gradcli.

An entry of the Hessian is the derivative along h of the derivative along k, with k far below every power of h.  A
number is a polynomial in k and h with rational coefficients, and its sign is that of its first term in this order.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

Poly = dict[tuple[int, int], Fraction]
"""The coefficient of each power of (k, h)."""

Piecewise = Callable[[Mapping[str, Poly]], Poly]


def constant(value: float | Fraction) -> Poly:
    return {(0, 0): Fraction(value)} if value else {}


def add(a: Poly, b: Poly, factor: int = 1) -> Poly:
    found = dict(a)
    for power, value in b.items():
        found[power] = found.get(power, Fraction(0)) + factor * value
    return {power: value for power, value in found.items() if value}


def mul(a: Poly, b: Poly) -> Poly:
    found: Poly = {}
    for (k, h), one in a.items():
        for (j, g), other in b.items():
            found[k + j, h + g] = found.get((k + j, h + g), Fraction(0)) + one * other
    return {power: value for power, value in found.items() if value}


def sign(a: Poly) -> int:
    if not a:
        return 0
    return 1 if a[min(a)] > 0 else -1


def _gradient(f: Piecewise, at: Mapping[str, float], a: str, b: str, side: int) -> Poly | None:
    """∂f/∂a along b from one side, a polynomial in h; None where it does not exist."""
    values = []
    for inner in (0, 1, -1):
        point = {name: constant(value) for name, value in at.items()}
        point[b] = add(point[b], {(0, 1): Fraction(side)} if side else {})
        point[a] = add(point[a], {(1, 0): Fraction(inner)} if inner else {})
        values.append(f(point))
    _, ahead, behind = values
    parts = [{h: value for (k, h), value in one.items() if k == 0} for one in values]
    if parts[0] != parts[1] or parts[0] != parts[2]:
        return None
    slope = {(0, h): value for (k, h), value in ahead.items() if k == 1}
    back = {(0, h): -value for (k, h), value in behind.items() if k == 1}
    return slope if slope == back else None


def second(f: Piecewise, at: Mapping[str, float], a: str, b: str) -> tuple[Fraction | None, str]:
    """The derivative by b of ∂f/∂a at a point; None and why where it does not exist."""
    here, ahead, behind = (_gradient(f, at, a, b, side) for side in (0, 1, -1))
    if here is None:
        return None, f"∂f/∂{a} does not exist here"
    if ahead is None or behind is None:
        return None, f"∂f/∂{a} does not exist beside the point along {b}"
    if not here.get((0, 0), 0) == ahead.get((0, 0), 0) == behind.get((0, 0), 0):
        return None, f"∂f/∂{a} jumps along {b}"
    right, left = ahead.get((0, 1), Fraction(0)), -behind.get((0, 1), Fraction(0))
    return (right, "") if right == left else (None, f"∂f/∂{a} has slopes {left} and {right} along {b}")


def first(f: Piecewise, at: Mapping[str, float], a: str) -> tuple[Fraction | None, str]:
    """∂f/∂a at a point; None and why where it does not exist."""
    here = _gradient(f, at, a, a, 0)
    return (None, f"∂f/∂{a} does not exist here") if here is None else (here.get((0, 0), Fraction(0)), "")


CONDITIONS = {">": (1,), ">=": (0, 1), "<": (-1,), "<=": (-1, 0), "==": (0,), "!=": (-1, 1)}
"""The signs of a - b where a condition on a and b holds."""


@dataclass(frozen=True)
class Piece:
    """A piecewise polynomial: its text, and how to run it on two infinitesimals."""

    text: str
    run: Callable[[Mapping[str, Poly]], Poly]


def draw(r: random.Random, depth: int) -> Piece:
    """A random piecewise polynomial of x and y."""
    if depth == 0:
        name = r.choice("xy")
        return Piece(name, lambda point: point[name])
    a = draw(r, depth - 1)
    how = r.randrange(9)
    if how < 4:
        b = draw(r, r.randrange(depth))
        if r.random() < 0.7:
            return Piece(f"({a.text})*({b.text})", lambda point: mul(a.run(point), b.run(point)))
        return Piece(f"({a.text} + {b.text})", lambda point: add(a.run(point), b.run(point)))
    if how == 4:
        return _extreme("maximum", a, Piece("0", lambda _: {}), f"relu({a.text})")
    if how == 5:
        return _absolute(a)
    if how == 6:
        return _leaky(a)
    b = draw(r, r.randrange(depth))
    if how == 7:
        return _extreme(r.choice(["maximum", "minimum"]), a, b)
    return _chosen(r.choice(list(CONDITIONS)), a, b, r.choice([b, Piece("0", lambda _: {}), draw(r, 1)]))


def _absolute(a: Piece) -> Piece:
    def run(point: Mapping[str, Poly]) -> Poly:
        one = a.run(point)
        return add({}, one, -1) if sign(one) < 0 else one

    return Piece(f"abs({a.text})", run)


def _leaky(a: Piece) -> Piece:
    def run(point: Mapping[str, Poly]) -> Poly:
        one = a.run(point)
        return mul(one, constant(Fraction(1, 4))) if sign(one) < 0 else one

    return Piece(f"leaky_relu({a.text}, 0.25)", run)


def _extreme(name: str, a: Piece, b: Piece, text: str = "") -> Piece:
    def run(point: Mapping[str, Poly]) -> Poly:
        one, other = a.run(point), b.run(point)
        is_first = sign(add(one, other, -1)) * (1 if name == "maximum" else -1) >= 0
        return one if is_first else other

    return Piece(text or f"{name}({a.text}, {b.text})", run)


def _chosen(condition: str, a: Piece, yes: Piece, no: Piece) -> Piece:
    accepted = CONDITIONS[condition]

    def run(point: Mapping[str, Poly]) -> Poly:
        return (yes if sign(a.run(point)) in accepted else no).run(point)

    return Piece(f"where({a.text} {condition} 0, {yes.text}, {no.text})", run)

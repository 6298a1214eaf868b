"""Second derivatives where kinks, poles and the ends of domains meet, against exact one-sided derivatives.

A random program is written twice: as text, and on polynomials in two steps, of which s is smaller than any power of t.
The sign of such a polynomial is that of its first term, so that every branch is decided exactly on each side.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from gradcli.results import Entry
from tests.crosscheck.curvatures import Second
from tests.examples import examples

Polynomial = dict[tuple[int, int], Fraction]
"""By the powers of s and of t."""

Exact = Callable[[dict[str, Polynomial]], Polynomial]

NEAR = 1e-9

PROGRAMS = examples(120)


@pytest.mark.parametrize(
    ("text", "at", "verdicts"),
    [
        ("where(x*y >= 0, x*y, 0)", {"x": 0.0, "y": 0.0}, {"xy": "unchecked", "yx": "unchecked"}),
        ("abs(x*y)", {"x": 0.0, "y": 0.0}, {"xy": "unchecked", "yx": "unchecked"}),
        ("x*relu(y)", {"x": 0.0, "y": 0.0}, {"xy": "unchecked", "yx": "unchecked"}),
        ("x*abs(y)", {"x": 1.0, "y": 0.0}, {"xy": "unchecked", "yx": "kink", "yy": "kink"}),
        ("x**2.5", {"x": 0.0}, {"xx": "undefined"}),
        ("clamp(sqrt(x) - 5, 0, 1)", {"x": 0.0}, {"xx": "undefined"}),
        ("floor(x)*x", {"x": 1.0}, {"xx": "kink"}),
        ("where(x == 0, 1, sin(x)/x)", {"x": 0.0}, {"xx": "nan-trap"}),
        ("where(x > 0, x**2.5, 0)", {"x": 0.0}, {}),
        ("relu(x)**3*exp(x)", {"x": 0.0}, {}),
        ("exp(x) + abs(x)**3", {"x": 0.0}, {}),
        ("where(x > 0, exp(x), 1 + x + x**2/2)", {"x": 0.0}, {}),
        ("maximum(sin(x), x)", {"x": 0.0}, {}),
        (
            "exp(x + y)*relu(x)**3 + sin(z)/y",
            {"x": 0.0, "y": 0.3, "z": 2.0},
            dict.fromkeys(("xy", "xz", "yx"), "unchecked"),
        ),
    ],
)
def test_what_is_met_leaves_what_is_proved(text: str, at: dict[str, float], verdicts: dict[str, str]) -> None:
    """A slope that exists, along its own element; nothing along another where a kink or a pole moves."""
    check = Second(text, at).judged_hessian().check
    found = {f"{f.by}{f.variable}": f.verdict for f in check.findings if f.of == "hessian"}
    assert found == verdicts
    assert check.checked == check.entries - list(verdicts.values()).count("unchecked")


def test_a_part_of_a_large_function_is_followed_alone() -> None:
    """A sum of 40,000 terms takes too long, the slope by one of its elements does not."""
    x = np.linspace(1.0, 2.0, 40_000)
    x[[0, 7]] = 0.0
    check = Second("sum(abs(x)*x)", {"x": x}).judged_hvp({"x": 1.0}).check
    assert {f.column: f.verdict for f in check.findings if f.of == "hvp"} == {(0,): "unchecked", (7,): "unchecked"}
    assert check.checked == check.entries - 2


# -- random programs


def _plus(a: Polynomial, b: Polynomial, factor: int = 1) -> Polynomial:
    total = {e: a.get(e, Fraction(0)) + factor * b.get(e, Fraction(0)) for e in {*a, *b}}
    return {e: c for e, c in total.items() if c}


def _times(a: Polynomial, b: Polynomial) -> Polynomial:
    total: Polynomial = {}
    for ((p, q), c), ((r, s), d) in product(a.items(), b.items()):
        total[p + r, q + s] = total.get((p + r, q + s), Fraction(0)) + c * d
    return {e: c for e, c in total.items() if c}


def _sign(a: Polynomial) -> int:
    return 0 if not a else 1 if a[min(a)] > 0 else -1


def _number(value: float) -> Polynomial:
    return {(0, 0): Fraction(value)} if value else {}


def _larger(a: Polynomial, b: Polynomial) -> Polynomial:
    return a if _sign(_plus(a, b, -1)) >= 0 else b


def _smaller(a: Polynomial, b: Polynomial) -> Polynomial:
    return b if _sign(_plus(a, b, -1)) >= 0 else a


ZERO, ONE = _number(0), _number(1)

UNARY: dict[str, Callable[[Polynomial], Polynomial]] = {
    "relu({0})": lambda a: _larger(a, ZERO),
    "abs({0})": lambda a: a if _sign(a) >= 0 else _plus(ZERO, a, -1),
    "leaky_relu({0}, 0.5)": lambda a: a if _sign(a) >= 0 else _times(_number(0.5), a),
    "clamp({0}, 0, 1)": lambda a: _smaller(_larger(a, ZERO), ONE),
    "(({0})**2)": lambda a: _times(a, a),
    "sqrt(({0})**4)": lambda a: _times(a, a),
    "(-{0})": lambda a: _plus(ZERO, a, -1),
    "(({0})*(x - y))": lambda a: a,
}
BINARY: dict[str, Callable[[Polynomial, Polynomial], Polynomial]] = {
    "maximum({0}, {1})": _larger,
    "minimum({0}, {1})": _smaller,
    "({0} + {1})": _plus,
    "({0} - {1})": lambda a, b: _plus(a, b, -1),
    "({0}*{1})": _times,
    "where({0}*{1} > 0, {0}, {1})": lambda a, b: a if _sign(_times(a, b)) > 0 else b,
    "where({0}*{1} >= 0, {0}*{1}, 0)": lambda a, b: _larger(_times(a, b), ZERO),
    "where({0} <= {1}, {0}**2, {1})": lambda a, b: _times(a, a) if _sign(_plus(a, b, -1)) <= 0 else b,
    "where({0} == {1}, {0}, 2*{1} - {0})": lambda a, b: _plus(b, _plus(b, a, -1)),
}
LEAVES: list[tuple[str, Exact]] = [
    ("x", lambda at: at["x"]),
    ("y", lambda at: at["y"]),
    ("(x*y)", lambda at: _times(at["x"], at["y"])),
    ("(x - y)", lambda at: _plus(at["x"], at["y"], -1)),
    ("x", lambda at: at["x"]),
    ("y", lambda at: at["y"]),
]


def _program(generator: np.random.Generator, depth: int) -> tuple[str, Exact]:
    if depth == 0:
        return LEAVES[generator.integers(len(LEAVES))]
    text, a = _program(generator, depth - 1)
    template = str(generator.choice([*UNARY, *BINARY, *BINARY]))
    if template == "(({0})*(x - y))":
        return template.format(text), lambda at: _times(a(at), _plus(at["x"], at["y"], -1))
    if template in UNARY:
        return template.format(text), lambda at: UNARY[template](a(at))
    other, b = _program(generator, int(generator.integers(depth)))
    return template.format(text, other), lambda at: BINARY[template](a(at), b(at))


def _term(a: Polynomial, power: int) -> Polynomial:
    """The coefficient of a power of s, a polynomial in t alone."""
    return {(0, q): c for (p, q), c in a.items() if p == power}


def _moved(at: dict[str, int], by: str, s: int, along: dict[str, int], t: int) -> dict[str, Polynomial]:
    steps = {n: {(1, 0): Fraction(s)} if n == by and s else ZERO for n in at}
    ways = {n: {(0, 1): Fraction(t * along[n])} if along.get(n) and t else ZERO for n in at}
    return {n: _plus(_number(at[n]), _plus(steps[n], ways[n])) for n in at}


def _slope(exact: Exact, at: dict[str, int], by: str, along: dict[str, int], t: int) -> Polynomial | None:
    """f_x on a side, as a polynomial in t; None where it does not exist there."""
    on_line = exact(_moved(at, by, 0, along, t))
    sides = []
    for s in (-1, 1):
        value = exact(_moved(at, by, s, along, t))
        if _term(value, 0) != on_line:
            return None
        sides.append(_times(_number(s), _term(value, 1)))
    return sides[0] if sides[0] == sides[1] else None


def _truth(exact: Exact, at: dict[str, int], by: str, along: dict[str, int]) -> float | tuple[float, float] | None:
    """The derivative of f_x along a direction, its two sides where they differ, or None."""
    center = _slope(exact, at, by, {}, 0)
    sides = [_slope(exact, at, by, along, t) for t in (-1, 1)]
    if center is None or any(side is None for side in sides):
        return None
    known = [side for side in sides if side is not None]
    if any(side.get((0, 0), 0) != center.get((0, 0), 0) for side in known):
        return None
    left, right = (float(t * side.get((0, 1), 0)) for t, side in zip((-1, 1), known, strict=True))
    return left if left == right else (left, right)


def _is_right(finding: Entry | None, torch: float, truth: float | tuple[float, float] | None) -> bool:
    verdict = "agree" if finding is None else finding.verdict
    if verdict == "unchecked":
        return True
    if isinstance(truth, float):
        if abs(torch - truth) < NEAR:
            return verdict == "agree"
        reference = None if finding is None else finding.reference
        return verdict in ("disagree", "nan-trap") and reference == pytest.approx(truth, abs=NEAR)
    if finding is None or verdict not in ("kink", "undefined"):
        return False
    return truth is None or (verdict == "kink" and finding.one_sided == pytest.approx(truth, abs=NEAR))


@pytest.mark.parametrize("seed", range(4))
def test_hessians_of_random_pieces_that_cross_are_the_exact_ones(seed: int) -> None:
    """No number agrees where there is no derivative, none is called wrong that is right; products with u alike."""
    generator = np.random.default_rng(seed)
    entries, unchecked = 0, 0
    for _ in range(PROGRAMS // 4):
        text, exact = _program(generator, int(generator.integers(1, 5)))
        at = {name: int(generator.choice([0, 0, 0, 1])) for name in ("x", "y")}
        second = Second(f"{text} + 0*x*y", {name: float(value) for name, value in at.items()})
        u = {name: int(generator.choice([0, 1, 1, -2])) for name in at}
        _, hessian = second.hessian()
        cases = [
            (f.by, f.variable, f)
            for f in [*second.judged_hessian().check.findings, *second.judged_hvp(u).check.findings]
            if f.of in ("hessian", "hvp")
        ]
        found = {(by, variable): finding for by, variable, finding in cases}
        torch_hvp = _hvp(second, u)
        for by, variable in product(at, at):
            truth = _truth(exact, at, by, {variable: 1})
            finding = found.get((by, variable))
            assert _is_right(finding, float(hessian[by][variable]), truth), (text, at, by, variable, truth, finding)
            entries, unchecked = entries + 1, unchecked + (finding is not None and finding.verdict == "unchecked")
        for variable in at:
            truth, finding = _truth(exact, at, variable, u), found.get((None, variable))
            assert _is_right(finding, torch_hvp[variable], truth), (text, at, u, variable, truth, finding)
    assert unchecked <= entries / 2


def _hvp(second: Second, u: dict[str, int]) -> dict[str, float]:
    """Torch's product, the gradient of u·∇f."""
    seen: dict[str, float] = {}

    def spoil(block: Any) -> Any:
        seen[second.wrt[0]] = float(block)
        return block

    second.judged_hvp(u, spoil)
    _, hessian = second.hessian()
    for name in second.wrt[1:]:
        seen[name] = float(sum(u[other] * hessian[other][name] for other in second.wrt))
    return seen

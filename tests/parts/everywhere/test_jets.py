"""Bounds on boxes against mpmath: no point refutes one, and a rule that is too narrow is found."""

import itertools
import operator
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy
from mpmath import mp

from gradcli.language.program import sympy_functions
from gradcli.parts.everywhere import interval_functions, jets, wholes
from gradcli.parts.everywhere.interval_functions import compile_interval
from gradcli.parts.everywhere.intervals import Interval
from tests.parts.everywhere.truths_on_boxes import composed, primitives, violations

PRIMITIVES = primitives()

SLOW = {"zeta": 1, "gammaincc": 1, "i0": 2, "i1": 2, "polygamma": 2, "lgamma": 2, "digamma": 2, "erfinv": 2}
"""Points of a box of functions that mpmath takes long for."""


@pytest.mark.parametrize("name", PRIMITIVES)
@pytest.mark.one_in(4)
def test_no_point_refutes_the_bounds_of_a_primitive(name: str) -> None:
    """Values, slopes, second slopes, and the change between two points of a box without a jump."""
    found = violations(PRIMITIVES[name], random.Random(name), boxes_of=10, points_of=SLOW.get(name, 4))
    assert next(found, None) is None


def _random_functions(seed: int, count: int) -> Iterator[str]:
    draw = random.Random(seed)
    for _ in range(count):
        yield from violations(composed(draw, draw.randint(1, 4)), draw, boxes_of=4, points_of=4)


def test_no_point_refutes_the_bounds_of_random_functions() -> None:
    """A small sample."""
    assert next(_random_functions(1, 25), None) is None


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(10))
def test_no_point_refutes_the_bounds_of_many_random_functions(seed: int) -> None:
    """A thousand of them."""
    assert next(_random_functions(100 + seed, 100), None) is None


def _narrowed(rule: Callable[..., Interval]) -> Callable[..., Interval]:
    """Plant an error: each end a hundredth of the width, or of its size, nearer to the other."""

    def narrow(*operands: Any) -> Interval:
        found = rule(*operands)
        low, high = np.asarray(found.low), np.asarray(found.high)
        reach = np.where(np.isfinite(high - low), (high - low) / 50, 0.0)
        return Interval(low + reach, high - reach)

    return narrow


HEADS = {
    "exp": sympy.exp, "log": sympy.log, "sin": sympy.sin, "cos": sympy.cos, "tan": sympy.tan, "asin": sympy.asin,
    "acos": sympy.acos, "atan": sympy.atan, "sinh": sympy.sinh, "cosh": sympy.cosh, "asinh": sympy.asinh,
    "acosh": sympy.acosh, "atanh": sympy.atanh, "erf": sympy.erf, "erfc": sympy.erfc, "erfinv": sympy.erfinv,
    "lgamma": sympy_functions.lgamma, "digamma": sympy_functions.polygamma, "i0": sympy.besseli,
    "sinc": sympy_functions.sinc,  "floor": sympy_functions.floor,
    "ceil": sympy_functions.ceil, "trunc": sympy_functions.trunc, "round": sympy_functions.round,
    "sign": sympy_functions.sign, "atan2": sympy.atan2, "zeta": sympy_functions.DESCRIBED["zeta"],
    "gammaincc": sympy_functions.DESCRIBED["gammaincc"],
}  # fmt: skip
"""Functions with a rule of their own, by the primitive that has them."""

ALONE: dict[type, Callable[..., Any]] = {
    sympy.tanh: mp.tanh,
    **dict.fromkeys((sympy.Abs, sympy_functions.abs), abs),
    **dict.fromkeys((sympy.Eq, sympy_functions.eq), operator.eq),
    **dict.fromkeys((sympy.Ne, sympy_functions.ne), operator.ne),
    **dict.fromkeys((sympy.Lt, sympy_functions.lt), operator.lt),
    **dict.fromkeys((sympy.Le, sympy_functions.le), operator.le),
    **dict.fromkeys((sympy.Gt, sympy_functions.gt), operator.gt),
    **dict.fromkeys((sympy.Ge, sympy_functions.ge), operator.ge),
    sympy.sign: mp.sign,
    sympy_functions.maximum: max,
    sympy_functions.minimum: min,
    sympy_functions.detach: lambda x: x,
}
"""Functions whose primitives have rules of jets, so that they are judged alone: with the truth."""


def _refuted_alone(head: type, rule: Callable[..., Interval]) -> bool:
    """Tell whether points refute what a rule says of the values of its function on random intervals."""
    draw, truth = random.Random(str(head)), ALONE[head]
    count = 1 if truth in (mp.tanh, abs, mp.sign, ALONE[sympy_functions.detach]) else 2
    for _ in range(60):
        ends = [sorted(draw.uniform(-3, 3) for _ in range(2)) for _ in range(count)]
        found = rule(*(Interval(np.array(low), np.array(high)) for low, high in ends))
        for at in itertools.product(*([low, high, draw.uniform(low, high)] for low, high in ends)):
            if not found.low <= truth(*map(mp.mpf, at)) <= found.high:
                return True
    return False


@pytest.mark.parametrize("head", ALONE)
def test_a_function_alone_has_its_values_in_bounds(head: type) -> None:
    """And a rule that is too narrow is caught."""
    rule = interval_functions._FUNCTIONS[head]
    assert not _refuted_alone(head, rule)
    assert _refuted_alone(head, _narrowed(rule))


def test_each_function_with_a_rule_has_a_wrong_one_planted() -> None:
    """What is added to the rules is added here."""
    assert {*HEADS.values(), *ALONE} == {*interval_functions._FUNCTIONS}


def _is_caught(name: str) -> bool:
    draw = random.Random(name)
    return next(violations(PRIMITIVES[name], draw, boxes_of=20, points_of=6), None) is not None


@pytest.mark.parametrize("name", HEADS)
def test_a_rule_that_is_too_narrow_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One for each function."""
    compile_interval.cache_clear()
    functions: Any = interval_functions._FUNCTIONS
    monkeypatch.setitem(functions, HEADS[name], _narrowed(functions[HEADS[name]]))
    try:
        assert _is_caught(name)
    finally:
        compile_interval.cache_clear()


@pytest.mark.parametrize("name", wholes.WHOLES)
@pytest.mark.parametrize("part", ["value", "slopes", "second"])
def test_a_whole_that_is_too_narrow_is_caught(name: str, part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In its value, in its slopes, and in its second slopes."""
    whole = wholes.WHOLES[name]
    planted = {
        "value": replace(whole, value=_narrowed(whole.value)),
        "slopes": replace(whole, slopes=tuple(map(_narrowed, whole.slopes))),
        "second": replace(whole, second={pair: _narrowed(rule) for pair, rule in whole.second.items()}),
    }
    everyone: Any = wholes.WHOLES
    monkeypatch.setitem(everyone, name, planted[part])
    assert _is_caught(name)


X_SILU = replace(PRIMITIVES["silu"], text="x*silu(x)", truth=lambda x: x * PRIMITIVES["silu"].truth(x))

X_X = replace(PRIMITIVES["square"], text="x*x")

IN_JETS = {
    "multiply": X_SILU,
    "add": X_SILU,
    "whole_power": X_X,
    "absolute": PRIMITIVES["abs"],
    "hull": PRIMITIVES["relu"],
    "larger": PRIMITIVES["maximum"],
    "smaller": PRIMITIVES["minimum"],
    "chosen": PRIMITIVES["jump"],
}
"""Operations by which derivatives and choices pass, each with a function that needs it."""


@pytest.mark.parametrize("name", IN_JETS)
def test_a_chain_rule_that_is_too_narrow_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In derivatives, and in choices."""
    monkeypatch.setattr(jets, name, _narrowed(getattr(jets, name)))
    assert next(violations(IN_JETS[name], random.Random(name), boxes_of=30, points_of=6), None) is not None


IN_EXPRESSIONS = {
    "add": PRIMITIVES["add"],
    "multiply": PRIMITIVES["mul"],
    "divide": PRIMITIVES["div"],
    "root": PRIMITIVES["sqrt"],
    "whole_power": PRIMITIVES["cube"],
    "power": PRIMITIVES["pow"],
}
"""Arithmetic of expressions, each with a function that is made of it."""


@pytest.mark.parametrize("name", IN_EXPRESSIONS)
def test_arithmetic_that_is_too_narrow_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In values and slopes of primitives."""
    arithmetic: Any = interval_functions._ARITHMETIC
    compile_interval.cache_clear()
    monkeypatch.setattr(
        interval_functions, "_ARITHMETIC", replace(arithmetic, **{name: _narrowed(getattr(arithmetic, name))})
    )
    try:
        assert next(violations(IN_EXPRESSIONS[name], random.Random(name), boxes_of=30, points_of=6), None) is not None
    finally:
        compile_interval.cache_clear()


def test_a_kink_that_is_passed_over_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hull of slopes that lacks one side, and a jump that is called a kink."""
    monkeypatch.setattr(jets, "joins", lambda *_: True)
    assert _is_caught("jump")

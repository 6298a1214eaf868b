"""The local rule of each elementwise primitive: value, partial derivatives and kinks on balls.

The partials are SymPy's derivatives of the op's meaning.  The constants of a power are put in before differentiating,
so that x**2 has the slope 2*x, which exists at 0, and not 2*x**2/x.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import sympy
from sympy import Expr

from gradcli.language import ops
from gradcli.language.meaning import compose, meaning
from gradcli.language.program import Call
from gradcli.reference.balls import Ball, Compiled, compile_ball, exists


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a value or a derivative does not exist, in place of its ball.

    Attributes:
        kind: No value (`domain`), no finite slope (`slope`) or a jump of the slope (`kink`).
        reason: In words, with the sub-expression.
        decided: Whether it is proved, or only that the balls are too wide to exclude it.
    """

    kind: Literal["domain", "slope", "kink"]
    reason: str
    decided: bool


Outcome = Ball | Trouble


@dataclass(frozen=True, slots=True)
class Rule:
    """One elementwise operation; a parameter and its partial are None where a constant was put in."""

    parameters: tuple[sympy.Symbol | None, ...]
    value: Compiled
    partials: tuple[Compiled | None, ...]
    kinks: tuple[Compiled, ...]
    domain: str

    def evaluate(self, operands: list[Outcome], shown: str) -> Outcome:
        """The value on these operands; `shown` is the sub-expression for messages."""
        for operand in operands:
            if isinstance(operand, Trouble):
                return operand
        ball = self.value(self._environment(operands))
        if exists(ball):
            return ball
        reason = f"{shown} has no value here" + (f": {self.domain}" if self.domain else "")
        return Trouble("domain", reason, self._is_certain(self.value, operands))

    def slope(self, k: int, operands: list[Outcome], shown: str) -> Outcome:
        """The partial derivative by operand k, where value and derivative exist."""
        value = self.evaluate(operands, shown)
        if isinstance(value, Trouble):
            return value
        environment = self._environment(operands)
        for kink in self.kinks:
            distance = kink(environment)
            if distance.contains(0):
                reason = f"{shown} has a kink here: its left and right derivatives differ"
                return Trouble("kink", reason, bool(distance == 0))
        partial = self.partials[k]
        assert partial is not None, "a constant has no tangent"  # noqa: S101
        ball = partial(environment)
        if exists(ball):
            return ball
        return Trouble("slope", f"{shown} has no finite slope here", self._is_certain(partial, operands))

    def _environment(self, operands: list[Outcome]) -> dict[sympy.Symbol, Ball]:
        return {p: ball for p, ball in zip(self.parameters, operands, strict=True) if p is not None}

    def _is_certain(self, function: Compiled, operands: list[Outcome]) -> bool:
        """Whether no point of the balls has a finite result: tried at their ends, as domains are intervals."""
        corners: list[list[Outcome]] = [[]]
        for ball in operands:
            if isinstance(ball, Trouble):
                return ball.decided
            ends = [ball] if ball is None or ball.is_exact() else [ball.lower(), ball.upper()]
            corners = [[*corner, end] for corner in corners for end in ends]
        return not any(exists(function(self._environment(corner))) for corner in corners)


def rule_of(call: Call) -> Rule:
    """The rule of an elementwise primitive on its operands, those of a constant base or exponent put in."""
    is_power = call.op.name == "pow"
    constants = tuple(a if is_power and not isinstance(a, sympy.Symbol) else None for a in call.operands)
    return _rule(call.op.name, constants, call.statics)


@lru_cache(maxsize=1024)
def _rule(name: str, constants: tuple[Expr | None, ...], statics: tuple[Hashable, ...]) -> Rule:
    op = ops.TABLE[name]
    parameters = [sympy.Dummy(p, real=True) if c is None else None for p, c in zip(op.operands, constants, strict=True)]
    operands = [p if c is None else c for p, c in zip(parameters, constants, strict=True)]
    expression = meaning(Call(name, tuple(operands), statics), tuple(operands))
    named = dict(zip(op.operands, operands, strict=True))
    return Rule(
        parameters=tuple(parameters),
        value=compile_ball(expression),
        partials=tuple(None if p is None else compile_ball(sympy.diff(expression, p)) for p in parameters),
        kinks=tuple(compile_ball(compose(kink, named)) for kink in op.kinks),
        domain=f"{op.name}({', '.join(op.operands)}) needs {op.domain}" if op.domain else "",
    )

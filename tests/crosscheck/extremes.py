"""Random questions about every operation where rounding hurts: shifted, scaled and saturated inputs, in both dtypes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcli import Function
from gradcli.errors import GradcliError
from gradcli.language import ops
from gradcli.language.inputs import read_value
from gradcli.language.ops import Kind

OUTSIDE = ["{0}", "{0}", "sum({0})", "exp(-{0})", "1/({0})", "({0})**2", "log(abs({0}))", "tanh({0})", "sqrt(abs({0}))"]
"""Functions of the result."""

INSIDE = ["{0}", "{0}", "({0} + a)", "({0} - a)", "({0}*a)", "sin({0})", "exp({0})", "(1/{0})"]
"""Functions of an operand, before the operation."""

ASKED = ["jacobian", "vjp", "hessian", "jvp"]

SKIPPED = {"det", "floor_divide"}
"""Torch gives 0 as the derivative of a singular matrix, which is its fault; jumps lie closer together than floats."""


@dataclass(frozen=True)
class Case:
    """A question."""

    command: str
    text: str
    at: dict[str, Any]
    dtype: Any

    @property
    def verdict(self) -> str:
        """The verdict on it; torch refuses some, and not every text is a function."""
        try:
            function = Function(self.text)
            at = {name: self.at[name] for name in function.variables}
            along: dict[str, Any] = {"vjp": ("ones",), "jvp": (dict.fromkeys(at, "ones"),)}
            answer = getattr(function, self.command)(at, *along.get(self.command, ()), dtype=self.dtype)
            return str(answer.check.verdict)
        except GradcliError:
            return "refused"


def cases(generator: np.random.Generator, count: int, *, first: int = 0) -> Iterator[Case]:
    """Operations in turn, from one of them on."""
    table = [op for op in ops.TABLE.values() if op.kind not in (Kind.SOURCE, Kind.COUNT) and op.name not in SKIPPED]
    for n in range(first, first + count):
        yield case(generator, table[n % len(table)])


def case(generator: np.random.Generator, op: ops.Op) -> Case:
    """A question about one operation."""
    text, values = op.worked_example
    dtype = str(generator.choice(["float64", "float32"]))
    at = {name: np.asarray(read_value(value, name), dtype=float) for name, value in values.items()}
    moved = str(generator.choice(list(at))) if at else ""
    if moved and len(moved) == 1:
        inside = str(generator.choice(INSIDE)).format(moved)
        text = "".join(inside if c == moved and not _in_word(text, i) else c for i, c in enumerate(text))
    text = str(generator.choice(OUTSIDE)).format(text)
    at["a"] = np.array(1 + generator.random())
    span = 200 if dtype == "float64" else 25
    at |= {name: _far(generator, array, span) for name, array in at.items() if generator.random() < 0.7}
    command = str(generator.choice(ASKED))
    if op.name == "binary_cross_entropy" and command in ("hessian", "jvp"):
        command = "jacobian"  # torch bounds its second derivatives otherwise than the first near 0 and 1
    if command == "hessian":
        text = f"sum({text})"
    return Case(command, text, at, dtype)


def _in_word(text: str, i: int) -> bool:
    around = text[max(0, i - 1) : i] + text[i + 1 : i + 2]
    return any(c.isalnum() or c in "_=" for c in around)


def _far(generator: np.random.Generator, x: np.ndarray[Any, Any], span: int) -> np.ndarray[Any, Any]:
    """Shifted, scaled, saturated, or near 0 or 1."""
    x = x * (1 + 0.1 * generator.normal(size=x.shape))
    match generator.integers(6):
        case 0:
            return np.asarray(x + 10 ** generator.uniform(0, 8) * generator.choice([-1, 1]))
        case 1:
            return np.asarray(x * 10 ** generator.uniform(-span, span) * generator.choice([-1, 1]))
        case 2:
            return np.asarray(x * 10 ** generator.uniform(0, 3) * generator.choice([-1, 1]))
        case 3:
            return np.asarray(x * 10 ** generator.uniform(-16, 0))
        case 4:
            return np.asarray(1 + x * 10 ** generator.uniform(-12, -1) * generator.choice([-1, 1]))
    return np.asarray(x)

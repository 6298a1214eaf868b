"""The operation that lost the digits, or poisoned the gradient, is the one that is named."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import sympy

from gradcli.crosscheck.point import unravel
from gradcli.language.program.shapes import infer
from gradcli.parts.improve import diagnosis, error_trace
from gradcli.parts.improve.error_trace import DiagnosisContext
from gradcli.recording.pass_recorder import record
from gradcli.results import Assessment, Entry, Position, Verdict
from tests.parsing import parse


@dataclass(frozen=True)
class EntryIndex:
    """A number of an answer: flat positions, -1 for none."""

    variable: str | None
    column: int
    row: int

    def entry(self, scene: DiagnosisContext, verdict: Verdict) -> Entry:
        """The entry of this function."""
        symbol = scene.program.output if self.variable is None else sympy.Symbol(self.variable, real=True)
        row = None if self.row < 0 else unravel(self.row, scene.shapes.get(scene.program.output, ()))
        column = None if self.variable is None else unravel(self.column, scene.shapes[symbol])
        return Entry(
            Position(
                "value" if self.variable is None else "vjp" if row is None else "jacobian", self.variable, row, column
            ),
            math.nan,
            Assessment(verdict),
        )


@dataclass(frozen=True)
class Found:
    """The operation to blame, its text, and why."""

    kind: str = ""
    shown: str = ""
    note: str = ""


def _found(scene: DiagnosisContext, site: EntryIndex, v: Any = None, *, verdict: Verdict) -> Found:
    fault = diagnosis.diagnose(scene, site.entry(scene, verdict), v)
    if fault is None:
        return Found()
    return Found(fault.kind, scene.program.text[fault.span.start : fault.span.stop], fault.note)


lost, poisoned = partial(_found, verdict="inaccurate"), partial(_found, verdict="nan-trap")
"""Operations that lost digits of a number, or made it infinite or NaN."""

Y, DY = EntryIndex(None, -1, 0), EntryIndex("x", 0, 0)


def _scene(text: str, x: Any, dtype: str = "float64") -> DiagnosisContext:
    program = parse(text)
    at = x if isinstance(x, dict) else {"x": x}
    inputs = {name: np.array(value, dtype=dtype) for name, value in at.items()}
    shapes = infer(program, {symbol: inputs[str(symbol)].shape for symbol in program.variables})
    return DiagnosisContext(program, shapes, inputs, program.names, dtype, record)


LOST = [
    ("(1-cos(x))/x**2", 1e-8, DY, "cancellation", "1-cos(x)"),
    ("exp(x)-1", 1e-12, Y, "cancellation", "exp(x)-1"),
    ("sqrt(x+1)-sqrt(x)", 1e16, Y, "cancellation", "sqrt(x+1)-sqrt(x)"),
    ("(1e300*(1e-200*x))**2", 1e-130, DY, "underflow", "1e-200*x"),
    ("exp(-x**2)", 27.2, DY, "underflow", "exp(-x**2)"),
    ("3*sigmoid(2*x)**2", 20, DY, "cancellation", "sigmoid(2*x)"),
    ("expm1(x)", -40, DY, "cancellation", "expm1(x)"),
    ("acosh(x)", 1.00000001, DY, "cancellation", "acosh(x)"),
    ("x**3", 1e200, Y, "overflow", "x**3"),
    ("exp(exp(exp(x)))", 5, DY, "overflow", "exp(exp(exp(x)))"),
    ("sum(x)", [1e16, 1, -1e16], Y, "cancellation", "sum(x)"),
    ("cumsum(x)", [1e16, 1, -1e16], EntryIndex(None, -1, 2), "cancellation", "cumsum(x)"),
    ("mean((x-mean(x))**2)", [1e8 + 0.1, 1e8 + 0.2, 1e8 + 0.3], Y, "cancellation", "x-mean(x)"),
    ("mean((x-mean(x))**2)", [1e8 + 0.1, 1e8 + 0.2, 1e8 + 0.3], EntryIndex("x", 1, 0), "cancellation", "x-mean(x)"),
    ("var(x)", [1e8 + 0.1, 1e8 + 0.2, 1e8 + 0.3], DY, "cancellation", "var(x)"),
    ("norm(x)", [1e-200, 1e-200], Y, "underflow", "norm(x)"),
    ("(1+1/x)**x", 1e12, Y, "ill-conditioned", "(1+1/x)**x"),
    ("sin(x*x)", 123456789012, Y, "ill-conditioned", "sin(x*x)"),
    ("(x-9007199254740993)**2", 2.0**53, DY, "cancellation", "x-9007199254740993"),
    ("x/sqrt(x**2)", 1e200, Y, "overflow", "x**2"),
    ("(x**2)**0.5", 1e-200, DY, "underflow", "x**2"),
    ("z = x*[1e-30*(exp(t)-1), exp(t)-1]; z[0]*(exp(s)-1) + z[1]", {"x": 1, "t": 1e-12, "s": 1e-11}, DY, "cancellation",
     "exp(t)-1"),
    ("prod(x)", [1e-200, 1e-200, 1e200], Y, "underflow", "prod(x)"),
    ("det(x)", [[1e7, 1e7 + 1], [1e7 - 1, 1e7]], Y, "cancellation", "det(x)"),
    ("x @ [1e9+3, -1e9-2]", [1e9 + 1, 1e9 + 2], Y, "cancellation", "x @ [1e9+3, -1e9-2]"),
    ("log(sum(exp(x)))", [-800, -801], Y, "underflow", "exp(x)"),
    ("softmax(x)", [40, 0], DY, "cancellation", "softmax(x)"),
    ("where(x*3<1, x**2, x)", 1 / 3, Y, "branch", "x*3<1"),
    ("1e10*(1-cos(x)) + 1e-30*(exp(x)-1)", 1e-8, Y, "cancellation", "1-cos(x)"),
    ("y = exp(x) - 1; z = y*3; z/(x+1)", 1e-12, Y, "cancellation", "exp(x) - 1"),
]  # fmt: skip


SINGLE = [  # where float64 keeps enough of them
    ("(1-cos(x))/x**2", 1e-3, DY, "cancellation", "1-cos(x)"),
    ("sigmoid(x)", 20, DY, "cancellation", "sigmoid(x)"),
    ("exp(x)", 90, Y, "overflow", "exp(x)"),
    ("exp(-x**2)", 9.6, DY, "underflow", "exp(-x**2)"),
    ("sin(x*x)", 12347, DY, "ill-conditioned", "sin(x*x)"),
    ("exp(x)-1", 1e-3, Y, "cancellation", "exp(x)-1"),
]


RIGHT = [
    ("exp(x)-1", 1e-12, DY, "float64"),
    ("log(1+x)", 1e-18, DY, "float64"),
    ("sigmoid(x)", 40, Y, "float64"),
    ("sum(x)", [1e16, 1, -1e16], DY, "float64"),
    ("sin(x)", 1e22, Y, "float32"),
    ("x*y", {"x": 2, "y": 3}, DY, "float64"),
]


@pytest.mark.parametrize(("text", "x", "site", "dtype"), RIGHT, ids=[f"{t} at {x}" for t, x, *_ in RIGHT])
def test_of_a_right_number_nothing_is_to_blame(text: str, x: Any, site: EntryIndex, dtype: str) -> None:
    """Even where the function loses digits elsewhere."""
    found = lost(_scene(text, x, dtype), site)
    assert found == Found()
    assert poisoned(_scene(text, x, dtype), site) == Found()


LOST_NOTES = [
    ("(1-cos(x))/x**2", 1e-8, Y, "1-cos(x) cancels: terms as large as 1 leave 5e-17, and torch gives 0"),
    ("log(1+x)", 1e-18, Y,
     "log(1+x) makes the rounding of 1+x 1e+18 times as large: torch gives 0, the truth is 1e-18"),
    ("sqrt(x+1)-sqrt(x)", 1e16, DY,
     "in the derivative, through sqrt(x) and sqrt(x+1), terms as large as 5e-09 leave -2.5e-25, and torch gives 0"),
    ("mean(exp(x))", [720, 900, 800], Y, "exp(x) is 7.33e+390 here, and float64 ends at 1.8e+308"),
    ("(1e300*(1e-200*x))**2", 1e-130, Y, "1e-200*x is 1e-330 here, and float64 loses digits below 2.23e-308"),
    ("x**3", 1e200, DY, "a number in the derivative through x**3 is 1e+400 here, and float64 ends at 1.8e+308"),
    ("tanh(x)", 200, DY, "in the derivative through tanh(x), terms as large as 1 leave 7.66e-174, and torch gives 0"),
    ("i0e(x)", 5e115, DY,
     "in the derivative through i0e(x), terms as large as 5.64e-59 leave -5.64e-175, and torch gives 0"),
    ("where(x*3<1, x**2, x)", 1 / 3, DY, "rounding decides x*3<1 the other way"),
    ("floor(x*3)", 1 / 3, Y, "rounding takes floor(x*3) over a jump: torch gives 1, the truth is 0"),
    ("sin(pi*x)", 3, Y, "sin(pi*x) is 0 here, but for the rounding of pi*x: torch gives 3.67e-16"),
    ("sinc(x)", 3, Y, "torch loses digits inside of sinc(x): torch gives 3.67e-16, the truth is 0"),
    # An input is exact: what is lost is lost inside.
    ("sinc(x)", 1e-9, DY,
     "in the derivative through sinc(x), terms as large as 3.14e-09 leave -1.03e-26, and torch gives 0"),
    ("digamma(x)", 1.4616321449683623, Y,
     "torch loses digits in digamma(x): torch gives -4.07e-16, the truth is -9.24e-17"),
    ("x*sin(pi)", 1, Y, "torch loses digits in sin(pi): torch gives 1.22e-16, the truth is 0"),
]  # fmt: skip


@pytest.mark.parametrize("text", ["softmax(x)", "exp(x)/sum(exp(x))"])
def test_a_product_with_ones_that_cancels_to_nothing_is_said_to(text: str) -> None:
    """The softmax sums to 1 everywhere, so vᵀJ with v = 1 is 0."""
    whole = _scene(text, np.linspace(0.3, 5.0, 7))
    for column in range(7):
        found = lost(whole, EntryIndex("x", column, -1), np.ones(7))
        assert found.kind == "cancellation"
        assert text in found.note
        assert found.note.endswith("cancel to 0, and what torch gives is their rounding")
        assert "terms as large as 0." in found.note


@pytest.mark.parametrize("text", ["exp(x)[1]", "reshape(exp(x), (3, 1))[1, 0]", "flip(exp(x), 0)[1]"])
def test_what_moves_numbers_is_not_said_to_lose_digits(text: str) -> None:
    """The operation before it is named, which may round."""
    fault = diagnosis.diagnose(_scene(text, [1.0, 2.0, 3.0]), Entry(Position("value"), 7.389056098))
    assert fault is not None
    assert fault.note.startswith("torch loses digits in exp(x):")


def test_a_number_that_a_kernel_loses_in_another_order_is_looked_into() -> None:
    """The number of the entry counts, where torch's calls one by one come by a better one."""
    scene = _scene("layer_norm(x, (3,))", [1e8 + 0.1, 1e8 + 0.2, 1e8 + 0.5])
    fault = diagnosis.diagnose(scene, Entry(Position("value", row=(1,)), -0.39216438018845795))
    assert fault is not None
    assert "torch gives -0.39216438, the truth is -0.39216437" in fault.note


def test_the_products_of_v_matter_and_not_the_rows_apart() -> None:
    """[a - b, b - a] with v = [1, 0] is not made of what the second row loses."""
    text = "[1-cos(x), exp(x)-1]"
    assert lost(_scene(text, 1e-9), EntryIndex("x", 0, -1), np.array([1.0, 0.0])) == Found()
    assert (
        lost(_scene("[1-cos(x), exp(x)-1]**2", 1e-9), EntryIndex("x", 0, -1), np.array([1.0, 0.0])).shown == "1-cos(x)"
    )


POISONED = [
    ("x*log(x) if x>0 else 0", 0, DY, "branch", "log(x)"),
    ("maximum(sqrt(x), 1)", 0, DY, "branch", "sqrt(x)"),
    ("sum(where(x>0, log(x), x))", [-1, 2, 0], EntryIndex("x", 2, 0), "branch", "log(x)"),
    ("where(x>1, sqrt(x**2), 0)", 1e-200, DY, "branch", "sqrt(x**2)"),
    ("exp(x)/sum(exp(x))", [1000, 0], Y, "overflow", "exp(x)"),
    ("exp(x)/sum(exp(x))", [1000, 0], DY, "overflow", "exp(x)"),
    ("log(softmax(x))", [0, 1000], Y, "underflow", "softmax(x)"),
    ("log(softmax(x))", [0, 1000], DY, "underflow", "softmax(x)"),
    ("log(softmax(x))", [0, 1000], EntryIndex("x", 0, 1), "underflow", "softmax(x)"),
    ("where(x>0, sqrt(x), 0)*[1, 2]", [1, -1], EntryIndex("x", 1, 0), "branch", "sqrt(x)"),
    ("where(x<5, 2*where(x>0, log(x), x), x)", 0, DY, "branch", "log(x)"),
    ("relu(x)*log(x)", 0, Y, "domain", "log(x)"),
    ("relu(x)*log(x)", 0, DY, "domain", "log(x)"),
    ("relu(x)*log(x)", -1, Y, "domain", "log(x)"),
]


@pytest.mark.parametrize(
    ("asked", "dtype", "text", "x", "site", "kind", "shown"),
    [
        *((lost, "float64", *row) for row in LOST),
        *((lost, "float32", *row) for row in SINGLE),
        *((poisoned, "float64", *row) for row in POISONED),
        (poisoned, "float32", "exp(x)/(1+exp(x))", 100, DY, "overflow", "exp(x)"),  # exp(100) is 2.7e43
    ],
)
def test_the_operation_that_is_to_blame_is_named(
    asked: Callable[..., Any], dtype: str, text: str, x: Any, site: EntryIndex, kind: str, shown: str
) -> None:
    """Of values and derivatives: digits that are lost, a branch that is not taken, an overflow, an infinite slope."""
    found = asked(_scene(text, x, dtype), site)
    assert (found.kind, found.shown) == (kind, shown), found.note


POISONED_NOTES = [
    ("where(x>0, sqrt(x), 0)", -1, "the branch not taken, sqrt(x), is nan here, and 0 times its slope is nan"),
    ("where(x==0, 0, sqrt(x**2))", 0,
     "the branch not taken, sqrt(x**2), has the slope inf here, and 0 times that is nan"),
    ("where(x<=0, exp(x), 1+x)", 1000, "the branch not taken, exp(x), overflows here, and 0 times its slope is nan"),
    ("where(x>0, 1/sqrt(x)+2, 0)", 0,
     "in the branch not taken, 1/sqrt(x)+2, 1/sqrt(x) is inf here, and 0 times its slope is nan"),
    ("relu(sqrt(x)-1)", 0,
     "sqrt(x), which relu(sqrt(x)-1) does not take, has the slope inf here, and 0 times that is nan"),
    ("amax(sqrt(x**2))", [0, 4],
     "sqrt(x**2), which amax(sqrt(x**2)) does not take, has the slope inf here, and 0 times that is nan"),
    ("exp(x)/exp(x)", 1000, "exp(x) is 1.97e+434 here, and float64 ends at 1.8e+308"),
    ("sqrt(sum(x**2))*0", [0, 0], "sqrt(sum(x**2)) has the slope inf here, and 0 times that is nan"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "text", "x", "site", "note"),
    [*((lost, *row) for row in LOST_NOTES), *((poisoned, text, x, DY, note) for text, x, note in POISONED_NOTES)],
)
def test_the_note_says_how(asked: Callable[..., Any], text: str, x: Any, site: EntryIndex, note: str) -> None:
    """Loss of digits, or the way of a NaN: in one sentence, with the numbers, the branch, the operation."""
    assert asked(_scene(text, x), site).note == note


def test_one_scene_serves_all_its_findings() -> None:
    """The second entry is not that of the first."""
    whole = _scene("[exp(x)-1, sqrt(x+1e16)-1e8]", 1e-9)
    assert lost(whole, EntryIndex(None, -1, 0)).shown == "exp(x)-1"
    assert lost(whole, EntryIndex(None, -1, 1)).shown == "sqrt(x+1e16)-1e8"


@pytest.mark.parametrize(
    ("module", "name", "most"),
    [
        *((error_trace, f"MOST_{name}", 2) for name in ("LINES", "VALUES", "TRACED_ELEMENTS")),
        (diagnosis, "MOST_STEPS", 0),
    ],
)
def test_what_is_too_large_is_not_looked_into(
    module: ModuleType, name: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each bound alone; from the quotient it is one step to the difference."""
    monkeypatch.setattr(module, name, most)
    assert lost(_scene("(1-cos(x))/x**2", 1e-8), DY) == Found()


def test_a_sum_of_a_million_elements_is_given_up_at_once() -> None:
    """No ball is made for any of them."""
    assert lost(_scene("sum(sin(x))-sum(x)", np.full(600_000, 1e-9)), Y) == Found()


def test_a_number_that_moves_too_much_is_given_up() -> None:
    """A scalar times a vector of a hundred thousand."""
    whole = _scene("x*z", {"x": 1.5, "z": np.ones(100_000)})
    assert lost(whole, EntryIndex("x", 0, 7)) == Found()


def test_an_infinity_of_the_text_is_not_what_lost_the_digits() -> None:
    """It is the same in torch and in truth."""
    found = poisoned(_scene("sin([inf, x])/[inf, x]", 1.0), Y, None)
    assert "the truth is inf" not in found.note
    assert "ends at" not in found.note

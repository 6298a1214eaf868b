"""Random calls of all that is public in Python, with arguments of every type: an answer, or an error of ours.

The quick ones run with the tests, ten thousand by `-m thorough`.  A call is drawn from its number, which a failure
names.
"""

import collections
import contextlib
import datetime
import decimal
import fractions
import io
import pathlib
import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

import gradcli
from gradcli import Function
from gradcli.errors import GradcliError, InternalError, WrongGradientsError
from tests.function.conftest import SURFACE

pytestmark = pytest.mark.part(*SURFACE)

QUICK, THOROUGH = 250, 10_000


def squares(x: torch.Tensor) -> torch.Tensor:
    """Sum squares."""
    return (x**2).sum()


def _shifted(x: torch.Tensor, w: torch.Tensor, n: int = 2) -> torch.Tensor:
    return x**n + w


def _anything(*x: Any, **named: Any) -> Any:
    return x[0] if x else None


TEXTS = ["x**2", "x*y", "sum(x**2)", "A@x", "abs(x)", "[x, 2*x]", "3", "x[x > 0]", "v*u", "E*x", "torch.sin(x)"]

FUNCTIONS: list[Any] = [
    *TEXTS, squares, _shifted, _anything, lambda x: x, lambda: 3, torch.sin, torch.nn.Linear(2, 1), torch.nn.Linear,
    Function("x**2"), gradcli.grad(squares), gradcli.record(squares, torch.ones(2)),
]  # fmt: skip

VALUES: list[Any] = [
    0, 1, 3, -2, 2.5, float("nan"), float("inf"), 10**30, True, False, None, "", "1,2", "x", "ones", "e0", "0..1",
    "2*x", "kink", "grad", "float32", "cpu", "numpy", "y", "spd", "(", "é", b"1", 1j, [], [1, 2], [[1, 2], [3, 4]],
    [[1], [1, 2]], ["a"], [None], (), (0, 1), (1, 2, 3), ("a", "b"), {}, {"x": 1}, {"x": [1, 2], "y": 2},
    {"x": (0, 1)}, {"x": "0..1"}, {1: 2}, {"z": 1}, {"x": None}, {"": 1}, {"x": {}}, {"x", "y"}, frozenset({"x"}),
    range(3), iter([1]), object(), object, int, float, len, squares, torch.float32, torch.float16, torch.int64,
    torch.device("cpu"), torch.ones(2), torch.ones(()), torch.tensor([1, 2]), torch.tensor([1j]),
    torch.ones(2, requires_grad=True), torch.ones(2, device="meta"), torch.Tensor, np.float32, np.float64(2),
    np.int8(1), np.ones(2), np.ones((2, 2), "float32"), np.array(["a"]), np.array(None), np.dtype("float64"),
    np.ma.array([1.0, 2.0], mask=[True, False]), pd.Series([1.0, 2.0]), pd.DataFrame({"x": [1.0, 2.0]}),
    decimal.Decimal("1.5"), fractions.Fraction(1, 3), datetime.date(2020, 1, 1), pathlib.Path("x"),
    collections.Counter("x"), slice(2), ..., NotImplemented, ValueError("x"), Function("2*x"), lambda x: x,
    io.StringIO("1"),
]  # fmt: skip

NAMES = (
    "at x y w A v u vs wrt dtype device check out loss shape claim expect assume random box seed allow strict "
    "require_all differences forward order batched rtol atol along to show of gradient budget versus backward_of k "
    "raise_exception columns accumulate foo n named numbers_of on_error check_rows source eps"
).split()

LIKELY: dict[str, list[Any]] = {
    "x": [1, [1, 2], torch.ones(2), np.ones(2), "1,2", (0, 1), "0..1"], "y": [2, [1.0, 2.0]], "v": ["ones", [1, 1], 1],
    "w": [1.0, torch.ones(2)], "u": [1, {"x": 1}, "ones"], "wrt": ["x", ["x"], ("x", "w")], "at": [3, {"x": [1, 2]}],
    "dtype": ["float32", torch.float32, np.float64], "device": ["cpu", torch.device("cpu")], "out": ["torch", "numpy"],
    "check": [True, False], "loss": ["sum(y)", "y"], "claim": ["2*x", {"x": 2}], "expect": [6, {"x": [2, 4]}],
    "assume": ["positive", {"x": "positive"}], "allow": ["kink", ["kink", "cut"]], "box": ["0..1", {"x": (1, 2)}],
    "random": [1, 2], "order": [1, 2], "forward": [True], "batched": [True], "to": ["numpy", "latex"], "n": [2, 3],
    "shape": [3, {"x": "n"}, "n"], "gradient": ["2*x", squares, 6], "raise_exception": [False], "rtol": [0.1],
}  # fmt: skip
"""Values that options may have."""

SLOW = ("plot", "improve", "map", "check")
"""Commands that take seconds; a tenth of the calls is of them."""


def _public() -> Iterator[tuple[str, Callable[..., Any] | None]]:
    """Name what can be called: functions of the package, and methods, which have none here."""
    for name in dir(gradcli):
        if callable(one := getattr(gradcli, name)) and name != "GradcliError":
            yield name, one
    for name in dir(Function):
        if not name.startswith("_") and callable(getattr(Function, name)) and name not in ("ask", "wants_formula"):
            yield f"Function.{name}", None


PUBLIC = [*_public()]


def _call(number: int) -> None:
    """Make the call of a number, and use its answer."""
    draw = random.Random(number)
    is_slow = draw.random() < 0.1
    name, function = draw.choice([one for one in PUBLIC if is_slow == (one[0].rpartition(".")[2] in SLOW)])
    args = [draw.choice(VALUES) for _ in range(draw.choice((0, 1, 1, 1, 2, 2, 3)))]
    named = {draw.choice(NAMES): draw.choice(VALUES) for _ in range(draw.choice((0, 0, 1, 1, 2)))}
    if draw.random() < 0.5:
        args = [draw.choice(LIKELY["x"]) for _ in range(draw.choice((0, 1, 2)))]
        likely = draw.sample(sorted(LIKELY), draw.choice((0, 1, 2)))
        named = {name: draw.choice(LIKELY[name]) for name in likely}
    if name == "run":
        args = [one for one in args if not isinstance(one, str | pathlib.Path)] or [3]
        named = {}
    elif name in ("Function", "record"):
        args, named = [draw.choice((*FUNCTIONS, *VALUES)), *args[: 3 * (name == "record")]], {}
    elif function is not None:
        args = [draw.choice(FUNCTIONS) if draw.random() < 0.9 else draw.choice(VALUES), *args]
    else:
        asked = (
            Function(draw.choice(TEXTS)) if draw.random() < 0.7 else gradcli.record(draw.choice((squares, _shifted)))
        )
        function = getattr(asked, name.removeprefix("Function."))
    assert function is not None
    with contextlib.suppress(GradcliError, WrongGradientsError):
        _use(function(*args, **named), draw)


def _use(answer: Any, draw: random.Random) -> None:
    """Read an answer as users do; a derivative of a function is called."""
    if callable(answer) and not isinstance(answer, Function | type):
        answer = answer(draw.choice(VALUES))
    assert repr(answer)
    if isinstance(answer, gradcli.results.Answer):
        with contextlib.suppress(GradcliError):
            float(answer)
        with contextlib.suppress(GradcliError):
            answer[draw.choice(NAMES)]


def _fails(numbers: range) -> list[str]:
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in numbers:
            try:
                _call(number)
            except InternalError as error:
                found.append(f"{number}: {error!r}")
            except Exception as error:
                found.append(f"{number}: {type(error).__name__}: {error}")
    return found


def test_a_random_call_is_answered_or_refused() -> None:
    """With no error of Python's own."""
    assert _fails(range(QUICK)) == []


@pytest.mark.thorough
@pytest.mark.parametrize("first", range(0, THOROUGH, 1000))
def test_a_random_call_of_many_is_answered_or_refused(first: int) -> None:
    """With no error of Python's own."""
    assert _fails(range(first, first + 1000)) == []

"""What the part adds to tables of the tests of the core."""

from collections.abc import Callable

from gradcli import Function, results
from gradcli.parts import is_listed

QUESTIONS = {"range": ["sin(x)", "--in", "0..1"]}

VALIDATED: dict[str, Callable[[], results.Reply]] = {
    "range": lambda: Function("abs(x) + y").range(box={"x": "-1..1", "y": "0..1"}, zeros=True),
    "range without bound": lambda: Function("1/x").range(box={"x": "-1..1"}),
}

if is_listed("claims"):
    VALIDATED |= {
        "check of a box": lambda: Function("where(x > 0, sqrt(x), 0)").check(box={"x": "-1..1"}),
        "statements": lambda: Function("x**2").check(box={"x": "-1..1"}, prove="y >= 0; dy/dx > 0; concave"),
    }

"""What the part adds to tables of the tests of the core."""

from collections.abc import Callable

from gradcli import Function, results
from gradcli.parts import is_listed

QUESTIONS = {"range": ["sin(x)", "--in", "0..1"]}

COMMAND_LINES = {
    ("parts/everywhere/box_document.py", "; gradcli check --in shows where"): "a command to type",
}

GRADIENTS = {
    "parts/everywhere/tensor_bounds.py": "tensors whose elements each have a range",
    "parts/everywhere/pass_differences.py": "the derivative, next to a backward pass of a user's own",
}

DIFFERENTIATES = {
    "parts/everywhere/touching.py": "derivatives of any order where a number is 0, and their bounds",
}

VALIDATED: dict[str, Callable[[], results.Reply]] = {
    "range": lambda: Function("abs(x) + y").range(box={"x": "-1..1", "y": "0..1"}, zeros=True),
    "range along a line": lambda: Function("sum(x**2)").range({"x": [1, 2, 3]}, along="ones"),
    "range of a tensor": lambda: Function("tanh(x)").range(box={"x": "-1..1"}, shape={"x": (3, 4)}),
    "range of a sum": lambda: Function("sum(tanh(x))").range(box={"x": "-1..1"}, shape={"x": 30}),
    "range without bound": lambda: Function("1/x").range(box={"x": "-1..1"}),
}

if is_listed("claims"):
    VALIDATED |= {
        "check of a box": lambda: Function("where(x > 0, sqrt(x), 0)").check(box={"x": "-1..1"}),
        "statements": lambda: Function("x**2").check(box={"x": "-1..1"}, prove="y >= 0; dy/dx > 0; concave"),
    }

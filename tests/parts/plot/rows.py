"""What the part adds to tables of the tests of the core."""

from gradcli import Function

QUESTIONS = {"plot": ["sin(x)", "--in", "0..3"]}

VALIDATED = {
    "plot": lambda: Function("abs(x) + 1/x").plot(),
    "map": lambda: Function("abs(x)*y").plot(box={"x": "-1..1", "y": "-1..1"}),
}

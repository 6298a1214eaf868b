"""Each row of the table of operators is true of the answers of its command."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gradcli import Function, GradcliError
from gradcli.questions import answering
from gradcli.questions.operators import OPERATORS, Operator
from gradcli.results import Judged

AT = {"x": [1.0, 2.0], "z": [3.0, 4.0]}

ASKED: dict[str, Callable[[Function], Judged]] = {
    "eval": lambda f: f.eval(AT),
    "vjp": lambda f: f.vjps(AT, [1], accumulate=True).answers[0],
    "grad": lambda f: f.grad(AT),
    "jacobian": lambda f: f.jacobian(AT),
    "jvp": lambda f: f.jvp(AT, {"x": "ones"}),
    "hessian": lambda f: f.hessian(AT),
    "hvp": lambda f: f.hvp(AT, {"x": "ones"}),
}

SHAPES = {
    "jacobian": [("y", "x"), ("y", "z")],
    "hessian": [("x", "x"), ("x", "z"), ("z", "x"), ("z", "z")],
    "jvp": [("y",)],
}
"""Axes of the quantities of a kind; those of others are the variables."""


def test_every_operator_is_asked() -> None:
    """And by its own command."""
    assert [row.command for row in OPERATORS.values()] == list(ASKED)


@pytest.mark.parametrize(("kind", "row"), OPERATORS.items(), ids=lambda one: getattr(one, "command", ""))
def test_an_answer_has_the_quantities_of_its_row(kind: type[Judged], row: Operator) -> None:
    """In this order, along these axes, with formulas for one kind; the kind that is asked for is among them."""
    answer = ASKED[row.command](Function("sum(x**2*z)"))
    assert (type(answer), answer.command) == (kind, row.command)
    accumulated = ("vjp", "accumulated", "jacobian")
    expected = accumulated if row.command == "vjp" else row.kinds
    assert tuple(dict.fromkeys(one.kind for one in answer.quantities)) == expected
    for one in row.kinds:
        found = answer.of_kind(one)
        assert [quantity.axes for quantity in found] == SHAPES.get(one, [("x",), ("z",)])
        assert all((quantity.formula is not None) == (one == row.formulas) for quantity in found)
        for quantity in found:
            sizes = [2 if name in AT else 1 for name in quantity.axes]
            assert quantity.numbers.shape == tuple(size for size in sizes if size > 1)
    assert answer.asks in ("value", *row.kinds)
    assert [quantity.kind for quantity in answer.asked] == [answer.asks] * len(answer.asked)
    assert answer.check is not None
    assert answer.check.verdict == "agree"


@pytest.mark.parametrize("row", OPERATORS.values(), ids=lambda row: row.command)
def test_a_y_of_several_elements_is_refused_where_the_row_says_so(row: Operator) -> None:
    """Others answer."""
    vector = Function("x**2*z")
    if row.of_one_element:
        with pytest.raises(GradcliError, match="needs a y of one element"):
            ASKED[row.command](vector)
    elif row.along != "v":
        assert ASKED[row.command](vector).value.shape == (2,)


@pytest.mark.parametrize("row", [row for row in OPERATORS.values() if row.along == "u"], ids=lambda row: row.command)
def test_a_direction_is_needed_where_the_row_says_so(row: Operator) -> None:
    """Of several variables, as of one of several elements."""
    with pytest.raises(GradcliError, match="direction"):
        getattr(Function("sum(x**2*z)"), row.command)(AT)


def test_the_main_job_stands_on_one_page() -> None:
    """The module that a reader begins with has at most so many lines, and names each stage."""
    source = Path(answering.__file__).read_text(encoding="utf-8")
    assert source.count("\n") <= 120
    for stage in (
        "read_whole",
        "unbound.bind(",
        "operator.ask(",
        "derive(",
        "judge_numbers(",
        "confirm_formulas(",
        "report.render",
    ):
        assert stage in source

"""Documents: every kind of node is composed, nothing is printed that is not shown."""

import typing
from typing import Any

import pytest

from gradcli import Function
from gradcli.questions import functions
from gradcli.report import Screen, document, rendered
from gradcli.report.compose.answers import compose
from gradcli.results import Functions
from gradcli.symbolic.printing.latex import LatexPrinter
from gradcli.symbolic.printing.pretty import PlainPrinter, PrettyPrinter

PRINTERS = (PlainPrinter, PrettyPrinter, LatexPrinter)


PRINTING = [
    ("plain", []),
    ("json", [PlainPrinter]),
    ("csv", []),
    ("table", [PrettyPrinter]),
    pytest.param("markdown", [PrettyPrinter], marks=pytest.mark.part("pages")),
    pytest.param("latex", [LatexPrinter], marks=pytest.mark.part("pages")),
]


@pytest.mark.parametrize(("form", "printing"), PRINTING)
def test_a_formula_is_printed_as_it_is_shown(form: str, printing: list[type], monkeypatch: pytest.MonkeyPatch) -> None:
    """In the one notation that a format has, and not at all where there are only numbers."""
    answer = Function("sum(sin(x)*x)").grad({"x": [1.0, 2.0]})
    called: list[type] = []

    def recorded(self: Any, _: Any) -> str:
        called.append(type(self))
        return "f"

    for printer in PRINTERS:
        monkeypatch.setattr(printer, "doprint", recorded)
    rendered(answer, form, Screen())
    assert list(dict.fromkeys(called)) == printing


@pytest.mark.part("code", "explain", "plot")
def test_every_kind_of_node_is_in_some_document() -> None:
    """One that no composer makes would be written by renderers in vain."""
    at: dict[str, Any] = {"x": [1.0, 2.0]}
    answers: list[Any] = [
        Function("x**2").vjp(at, "ones"),
        Function("[x[0]*x[1], x[0]]").jacobian(at),
        Function("y = x**2; z = x*y").explain(at, "ones"),
        Function("x*2").graph(at, "ones"),
        Function("x*2").plot(),
        Function("x*2").code(at, "ones"),
        Functions((functions.page("sin"), functions.page("cos"))),
        functions.listed("loss"),
    ]
    found = {type(node) for answer in answers for node in (*compose(answer), *compose(answer, is_full=False))}
    assert found == set(typing.get_args(document.Node))

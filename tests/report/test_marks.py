"""Numbers that are not to be trusted stand out wherever they are listed, and not in small matrices alone."""

import numpy as np
import pytest

from gradcli import Function
from gradcli.report import Screen, rendered
from gradcli.report.document import Styled
from gradcli.report.numbers import Doubt, Doubts, Writer
from gradcli.results import Answer

LOST = "(1-cos(x))/x**2"


def _rows(answer: Answer, *starts: str) -> list[str]:
    """The rows of the tables that begin so, without their frames."""
    shown = rendered(answer, "table", Screen(), 4).splitlines()
    return [line.strip("│ ") for line in shown if line.strip("│ ").startswith(starts)]


def test_each_of_several_products_is_marked_where_it_is_wrong() -> None:
    """A row of J that v leaves out takes no trust away; nor does anything of another variable."""
    answer = Function(LOST + " + z").vjps({"x": "1e-8,1", "z": "1,2"}, ["e0", "e1", "1,1"])
    first, second, third = _rows(answer, "[1, 0]", "[0, 1]", "[1, 1]")
    assert "[100000000 ✗, 0]" in first
    assert "✗" not in second
    assert "[100000000 ✗, -0.07792]" in third
    assert first.endswith("│ [1, 0]")


def test_all_doubtful_elements_of_a_long_array_are_counted() -> None:
    """Those that are not listed as findings too, and each verdict by itself."""
    answer = Function("sum(where(x > 0, sqrt(x), 0))").vjp({"x": "linspace(-20,-1,20)"}, "1")
    assert any("✗ 20 nan-trap" in row for row in _rows(answer, "∂y/∂x", "vᵀJ"))
    found: Doubts = {(n,): Doubt("nan-trap" if n < 4 else "undefined") for n in range(14)}
    words = [part.words for part in Writer(None, False).marked(np.full(20, np.nan), found) if isinstance(part, Styled)]
    assert words[1:] == [" ? 10 undefined", " ✗ 4 nan-trap"]


def test_what_grad_holds_after_several_passes_is_marked_too() -> None:
    """As the passes cancel, the digits are gone that each of them had."""
    answer = Function("x**2/3").vjps({"x": "0.1"}, ["1e16", "1", "-1e16"], accumulate=True)
    *_, last = _rows(answer, "1", "[1", "-1")
    assert last.count("✗") == 1


LISTINGS = [
    ("grad", f"sum({LOST}) + sum(z)", {"x": "1e-8,1", "z": "ones(12)"}, [], "∂y/∂x", "[100000000 ✗, -0.07792]"),
    ("grad", f"sum({LOST})", {"x": "linspace(1e-8,1,13)"}, [], "∂y/∂x", "] ✗ 1 inaccurate"),
    ("vjp", LOST, {"x": "linspace(1e-8,1,13)"}, ["ones"], "vᵀJ = x.grad", "] ✗ 1 inaccurate"),
    ("vjp", LOST, {"x": "linspace(1e-8,1,13)"}, ["e1"], "vᵀJ = x.grad", "]"),
    ("jacobian", LOST, {"x": "linspace(1e-8,1,13)"}, [], "∂y/∂x", "] ✗ 1 inaccurate"),
    ("grad", "sum(abs(x)) + sum(z)", {"x": "0,1", "z": "ones(12)"}, [], "∂y/∂x", "[0 ∧, 1]"),
]


@pytest.mark.parametrize(("method", "text", "at", "v", "start", "shown"), LISTINGS)
@pytest.mark.one_in(2)
def test_listings_of_large_arrays_are_marked(
    method: str, text: str, at: dict[str, str], v: list[str], start: str, shown: str
) -> None:
    """At the element, or, where it is not among those that are listed one by one, behind them all."""
    answer = getattr(Function(text), method)(at, *v)
    row = next(row for row in _rows(answer, start) if "│" in row)  # which no sentence has
    assert row.endswith(shown)
    assert ("✗" in row or "∧" in row) == ("✗" in shown or "∧" in shown)

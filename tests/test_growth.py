"""Work that grows with the text and no faster, counted and not timed; and what took minutes ends at all."""

import contextlib
from collections.abc import Callable
from typing import Any

import pytest

from gradcli import Function, GradcliError
from tests.examples import part
from tests.work import calls

LINEAR = 2.6
"""Most times the work that a text of twice the length may be: twice, and some for what begins at a size."""


TEXTS: dict[str, Callable[[int], tuple[str, str, dict[str, Any]]]] = {
    "variables": lambda n: ("+".join(f"a{k}" for k in range(n)), "grad", {f"a{k}": 1 for k in range(n)}),
    "products": lambda n: ("+".join(f"a{k}*a{k + 1}" for k in range(n)), "grad", {f"a{k}": 1 for k in range(n + 1)}),
    "values missing": lambda n: ("+".join(f"a{k}" for k in range(n)), "grad", {}),
    "terms": lambda n: ("x" + "+x" * n, "grad", {"x": 1}),
    "comparisons": lambda n: ("x*(" + "1" + "<1" * n + ")", "grad", {"x": 1}),
    "equalities": lambda n: ("x" + "==x" * n, "grad", {"x": 1}),
    "a list": lambda n: (f"[{','.join('x' * n)}]", "eval", {"x": 1}),
    "terms in a list": lambda n: (f"[{', '.join(f'x + {k}' for k in range(n))}]", "eval", {"x": 1}),
    "parts": lambda n: (f"cat([{', '.join(['x[None]'] * n)}])", "eval", {"x": 1}),
    "powers": lambda n: (f"sum(x**i for i in range({n}))", "grad", {"x": 0.5}),
    "statements": lambda n: ("; ".join(["y = x", *["y = y*x"] * n]), "grad", {"x": 1}),
    "newlines": lambda n: ("x" + "\n" * n, "eval", {"x": 1}),
    "refused": lambda n: ("(" + "x+" * n, "eval", {"x": 1}),
}


@pytest.mark.parametrize("kind", part(TEXTS, 0, of=2))
def test_work_grows_with_the_text(kind: str) -> None:
    """Twice the text is about twice the calls, where a quadratic part would show as four times."""
    once, twice = (TEXTS[kind](n) for n in (120, 240))  # formulas of less are kept
    for text, command, at in (once, twice):
        with contextlib.suppress(GradcliError):
            Function(text).ask(command, {"at": at})  # what is kept is there
    few, many = (calls(lambda q=q: Function(q[0]).ask(q[1], {"at": q[2]})) for q in (once, twice))  # type: ignore[misc]
    assert many <= LINEAR * few + 2_000


@pytest.mark.parametrize("number", ["10**30", "-10**30", "1e30", "10**7"])
@pytest.mark.parametrize("form", ["exp2([x, {}])", "pow(2, [x, {}])", "erfinv([x, {}])", "x*polygamma(2, {})"])
def test_a_huge_number_in_a_list_is_not_worked_out(form: str, number: str) -> None:
    """To its last digit, as SymPy would once an index picks it for an exponent."""
    found = Function(form.format(number)).jacobian({"x": 0.5}, check=False)
    assert found.symbolic or found.symbolic_omitted


@pytest.mark.parametrize("at", ["-1e300", "-1e16", "-3", "-1e300*ones(2)"])
@pytest.mark.parametrize("function", ["polygamma(2, x)", "digamma(x)", "lgamma(x)", "polygamma(1_000, x)"])
@pytest.mark.parametrize("command", ["grad", "hessian"])
@pytest.mark.one_in(2)
def test_the_poles_far_to_the_left_are_seen_at_once(command: str, function: str, at: str) -> None:
    """Arb's own function takes seconds for each precision."""
    found = getattr(Function(f"sum({function})"), command)({"x": at})
    assert found.check.verdict in ("undefined", "unchecked")

"""Work that grows with the text and no faster, counted and not timed; and what took minutes ends at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy

from gradcli import Function
from gradcli.language import snippets
from gradcli.language.ops import Kind
from gradcli.language.program.expansion import in_primitives
from gradcli.language.program.shapes import infer
from gradcli.reference.duals import Reference
from gradcli.reference.footprint import Structure
from gradcli.reference.rules import _rule
from tests.parsing import parse
from tests.requests.asking import ask
from tests.work import calls

LINEAR = 2.6
"""How much more work a text of twice the length may be: twice, and some for what begins at a size."""


TEXTS: dict[str, Callable[[int], tuple[str, str, dict[str, Any]]]] = {
    "variables": lambda n: ("+".join(f"a{k}" for k in range(n)), "grad", {f"a{k}": 1 for k in range(n)}),
    "values missing": lambda n: ("+".join(f"a{k}" for k in range(n)), "grad", {}),
    "terms": lambda n: ("x" + "+x" * n, "grad", {"x": 1}),
    "comparisons": lambda n: ("x*(" + "1" + "<1" * n + ")", "grad", {"x": 1}),
    "equalities": lambda n: ("x" + "==x" * n, "grad", {"x": 1}),
    "a list": lambda n: (f"[{','.join('x' * n)}]", "eval", {"x": 1}),
    "powers": lambda n: (f"sum(x**i for i in range({n}))", "grad", {"x": 0.5}),
    "statements": lambda n: ("; ".join(["y = x", *["y = y*x"] * n]), "grad", {"x": 1}),
    "newlines": lambda n: ("x" + "\n" * n, "eval", {"x": 1}),
    "refused": lambda n: ("(" + "x+" * n, "eval", {"x": 1}),
}


EACH = {"variables": 1_500, "terms": 500, "comparisons": 530, "equalities": 770, "powers": 1_100, "statements": 930}
"""How many calls one more of them may take: some for each reading of the Program, of which none is made twice."""


@pytest.mark.parametrize("kind", TEXTS)
def test_work_grows_with_the_text(kind: str) -> None:
    """Twice the text is about twice the calls, where a quadratic part would show as four times; and each is little."""
    once, twice = (TEXTS[kind](n) for n in (150, 300))
    for text, command, at in (once, twice):
        calls(lambda t=text, c=command, a=at: ask(c, t, at=a))  # type: ignore[misc]  # what is kept is there
    few, many = (calls(lambda q=q: ask(q[1], q[0], at=q[2])) for q in (once, twice))  # type: ignore[misc]
    assert many <= LINEAR * few + 2_000
    assert many - few <= EACH.get(kind, many) * 150


LISTS: dict[str, Callable[[int], str]] = {
    "one symbol": lambda n: f"[{', '.join('x' * n)}]",
    "many symbols": lambda n: f"[{', '.join(f'x + {k}' for k in range(n))}]",
    "parts": lambda n: f"cat([{', '.join(['x[None]'] * n)}])",
}


@pytest.mark.parametrize("kind", LISTS)
def test_the_elements_of_a_list_are_found_in_one_pass(kind: str) -> None:
    """Not in one for each operand, which looked through all elements: the arrays looked through grow as the list."""

    def length(n: int) -> int:
        program = in_primitives(parse(LISTS[kind](n)))
        reference = Reference(program, infer(program, {program.variables[0]: ()}), {"x": np.ones(())})
        line = program.lines[-1]
        assert line.call.op.kind is Kind.LIST
        out = np.arange(n)
        positions = [at for _, at, _ in reference.footprint.parts(line, out)]
        assert sorted(np.concatenate(positions).tolist()) == out.tolist()
        assert len(positions) == len(set(line.call.operands))
        return calls(lambda: list(Structure(reference).made_of(program.output, out)))

    few, many = length(500), length(1_000)
    assert many <= LINEAR * few + 200


def test_the_signs_of_a_snippet_are_looked_for_once() -> None:
    """A run of newlines before a print belongs to no sign, from each of which it would be read again."""
    assert not snippets._TORCH.search("\n" * 20_000 + "x**2")
    assert not snippets._STATEMENTS.search("\n" * 20_000 + "x**2")
    assert snippets._TORCH.search("x**2\n\n  print (x)")


def test_the_names_of_a_program_are_made_once() -> None:
    """Each question asks for them once for each variable."""
    program = parse("x*y + z")
    assert program.names is program.names


def test_an_exponent_is_quickly_a_rule() -> None:
    """A sum of powers has one for each of its terms, and SymPy's facts of each took it minutes."""
    _rule.cache_clear()
    _rule("pow", sympy.Integer(3), ())
    assert calls(lambda: _rule("pow", sympy.Integer(1_234), ())) < 600


@pytest.mark.parametrize("number", ["10**30", "-10**30", "1e30", "10**7"])
@pytest.mark.parametrize("form", ["exp2([x, {}])", "pow(2, [x, {}])", "erfinv([x, {}])", "x*polygamma(2, {})"])
def test_a_huge_number_in_a_list_is_not_worked_out(form: str, number: str) -> None:
    """To its last digit, as SymPy would once an index picks it for an exponent."""
    found = ask("jacobian", form.format(number), at={"x": 0.5}, check=False)
    assert found.symbolic or found.symbolic_omitted


@pytest.mark.parametrize("at", ["-1e300", "-1e16", "-3", "-1e300*ones(2)"])
@pytest.mark.parametrize("function", ["polygamma(2, x)", "digamma(x)", "lgamma(x)", "polygamma(1_000, x)"])
@pytest.mark.parametrize("command", ["grad", "hessian"])
def test_the_poles_far_to_the_left_are_seen_at_once(command: str, function: str, at: str) -> None:
    """Where Arb's own takes seconds for each precision."""
    found = getattr(Function(f"sum({function})"), command)({"x": at})
    assert found.check.verdict in ("undefined", "unchecked")

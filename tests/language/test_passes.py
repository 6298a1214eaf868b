"""The forms of a Program for its readers."""

from collections.abc import Callable
from typing import Any

import pytest

from gradcli import Function
from gradcli.language.parsing import parse
from gradcli.language.program import expansion, passes
from gradcli.language.program.wengert import Program

FORMS = [passes.for_torch, passes.for_torch_twice, passes.for_formulas, passes.for_enclosures, passes.for_arrays]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", ["relu(x)*hardsigmoid(x)", "cholesky_solve(b, cholesky(A))", "x**2"])
def test_a_form_is_made_once(form: Callable[[Program], Program], text: str) -> None:
    """And is the Program itself where all of it may stay."""
    program = parse(text, shapes={"A": (2, 2), "b": (2, 1)})
    assert form(program) is form(program)
    assert form(program) is program or text != "x**2"


@pytest.mark.parametrize(
    ("text", "form", "names"),
    [
        ("hardsigmoid(x)", passes.for_torch, ["hardsigmoid"]),
        ("hardsigmoid(x)", passes.for_torch_twice, ["add", "maximum", "minimum", "div"]),
        ("relu(x)", passes.for_formulas, ["maximum"]),
        ("cholesky(A)", passes.for_arrays, ["cholesky"]),
    ],
)
def test_each_reader_gets_the_operations_that_it_has(
    text: str, form: Callable[[Program], Program], names: list[str]
) -> None:
    """The others are written by these."""
    assert [line.call.op.name for line in form(parse(text)).lines] == names


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("sigmoid(x)*softplus(x) + logsumexp(x, 0)", 1),
        ("fmax(x, 1)*sigmoid(x)", 2),
        ("sigmoid(x)*isfinite(fmin(x, 1))", 2),
    ],
)
def test_a_question_rewrites_its_program_once_for_readers_of_one_form(
    text: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once for formulas and enclosures, unless torch has values of its own; torch has these operations."""
    made, whole = list[str](), expansion.rewritten

    def counted(program: Program, *given: Any, **how: Any) -> expansion.Expansion:
        made.append(program.text)
        return whole(program, *given, **how)

    Function(text).vjp({"x": "1,2"}, "1,1")  # meanings of the table are rewritten now
    monkeypatch.setattr(expansion, "rewritten", counted)
    Function(text).vjp({"x": "1,2"}, "1,1")
    assert made.count(text) == count

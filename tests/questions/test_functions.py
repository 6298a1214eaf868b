"""The catalog of functions: every row has a page that holds, and every word finds what its user means."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from gradcli.errors import UnknownFunctionError
from gradcli.language import ops
from gradcli.language.inputs import read_value
from gradcli.language.ops import SIGNS, Kind
from gradcli.language.program.expansion import in_primitives
from gradcli.questions import functions
from gradcli.report import rendered
from gradcli.report.document import Screen
from gradcli.results import FunctionPage, Functions, Listing
from tests import latex, recorded
from tests.conftest import Command
from tests.parsing import parse

SEVEN_DIGITS = {"hardsigmoid"}
"""Where torch's own derivative is known to be inexact: it holds 1/6 to seven digits."""

OF_TRIANGLES = ("cholesky_solve", "cholesky_inverse")
"""Operations without a value where their matrix is no triangle, as at the random points that confirm formulas."""


@pytest.fixture(autouse=True)
def _pages_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page takes as long as a question; nothing here changes one."""
    monkeypatch.setattr(functions, "page", recorded.page)


def _names(*words: str) -> list[str]:
    found = functions.listed(*words)
    return [entry.name for part in found.parts if isinstance(part, Listing) for entry in part.entries]


@pytest.mark.parametrize("op", ops.TABLE.values(), ids=lambda op: op.name)
def test_every_function_has_a_page_that_holds(op: ops.Op, gradcli: Command) -> None:
    """A derivative for each operand or why there is none, a meaning or why not, an example that agrees; all shows."""
    run = gradcli("functions", op.name, "--json")
    assert (run.code, run.err) == (0, "")
    page = json.loads(run.out)
    assert (page["schema"], page["name"], page["doc"]) == (1, op.name, op.doc)
    assert page["meaning"] or page["meaning_note"]
    derivative = page["derivative"]
    shapes = {name: read_value(value, "--at").shape for name, value in op.worked_example[1].items()}
    program = parse(derivative["expression"], shapes=shapes)
    assert {*derivative["symbolic"], *derivative["symbolic_omitted"]} == set(program.differentiable)
    if "the derivative is 0" in derivative["note"] and not op.is_condition:
        assert set(derivative["symbolic"].values()) == {"0"}
    has_none = all("no formula" in reason for reason in derivative["symbolic_omitted"].values())
    is_of_a_matrix = any(line.call.op.kind is Kind.SPECTRAL for line in in_primitives(program).lines)
    assert (
        derivative["symbolic"] or op.name in ("cond", *OF_TRIANGLES) or (has_none and is_of_a_matrix)
    )  # of which no element has a formula
    example = page["example"]
    assert example["answer"]["check"]["verdict"] == ("inaccurate" if op.name in SEVEN_DIGITS else "agree")
    _require_shown(op)


def _require_shown(op: ops.Op) -> None:
    """Every word of the row, however it is broken; plain characters where there are no others; LaTeX that compiles."""
    page = recorded.page(op.name)
    for width in (40, None):
        shown = rendered(Functions((page,)), "full", Screen(width, ascii=True))
        assert shown.isascii()
        assert width is None or max(map(len, shown.splitlines())) <= width
    for words in (op.doc, op.domain, op.caveat, page.entry.usage, page.example_command, *page.entry.spellings):
        assert words in shown
    latex.check(rendered(Functions((page,)), "latex", Screen()))
    cells = [cell for part in (page.derivative, page.example) for one in part.symbolic.values() for cell in one.cells]
    for cell in cells:
        latex.check(cell.latex, is_math=True)
        latex.check(cell.label.latex, is_math=True)
        assert not re.search(r"\*|\(\([^()]*\)\)", cell.pretty)


def test_formulas_of_elementwise_functions_are_those_of_a_table_of_derivatives() -> None:
    """Of scalars, without indices."""
    shown = {name: _formulas(name) for name in ("exp", "tan", "atan2", "pow", "where", "clamp", "lgamma", "i0")}
    assert shown == {
        "exp": ["exp(x)"],
        "tan": ["tan(x)² + 1"],
        "atan2": ["x/(x² + y²)", "-y/(x² + y²)"],
        "pow": ["b·a^(b - 1)", "a^b·log(a)"],
        "where": ["0", "{1 if condition > 0; 0 otherwise}", "{0 if condition > 0; 1 otherwise}"],
        "clamp": [
            "{1 if lower ≤ x ≤ upper; 0 otherwise}",
            "{0 if x ≥ lower; 1 otherwise}·{1 if max(x, lower) ≤ upper; 0 otherwise}",
            "{0 if max(x, lower) ≤ upper; 1 otherwise}",
        ],
        "lgamma": ["digamma(x)"],
        "i0": ["i1(x)"],
    }


def _formulas(name: str) -> list[str]:
    derivative = recorded.page(name).derivative
    return [cell.pretty for variable in derivative.wrt for cell in derivative.symbolic[variable].cells]


def test_kinks_come_from_the_meaning() -> None:
    """A row that is defined by others has theirs."""
    kinks = {
        "relu": ("x",),
        "hardswish": ("x + 3", "maximum(x + 3, 0) - 6"),
        "l1_loss": ("input - target",),
        **dict.fromkeys(("logical_and", "softmax", "sigmoid"), ()),
    }
    assert {name: recorded.page(name).inner_kinks for name in kinks} == kinks


def test_meanings_are_for_people_and_for_the_parser() -> None:
    """Without what is handed on, and word for word; by cases where a constant argument decides."""
    norm = recorded.page("norm")
    assert [(m.case, m.short) for m in norm.meanings] == [
        ("p=2", "sqrt(sum(x**2))"),
        ("p=1", "sum(abs(x))"),
        ("p=inf", "amax(abs(x))"),
        ("p=-inf", "amin(abs(x))"),
        ("any other p", "sum(abs(x)**p)**(1/p)"),
    ]
    assert norm.meanings[0].text == "sqrt(sum(x**2, dim=dim, keepdim=keepdim))"
    assert norm.meaning_note == "where dim and keepdim are given, the functions inside get the same"
    assert [m.text for m in recorded.page("mse_loss").meanings] == [
        "mean((input - target)**2)",
        "sum((input - target)**2)",
        "(input - target)**2",
    ]
    assert recorded.page("exp").meanings == ()


def test_usage_is_the_signature_with_its_defaults() -> None:
    """As Python writes it."""
    usages = {
        "var": "var(x, dim=None, correction=1, keepdim=False)",
        "leaky_relu": "leaky_relu(x, negative_slope=0.01)",
        "maximum": "maximum(a, b, ...)",
        "einsum": "einsum(equation, *operands)",
        "index": "x[key]",
        "mse_loss": "mse_loss(input, target, reduction='mean')",
    }
    assert {name: recorded.page(name).entry.usage for name in usages} == usages


@pytest.mark.parametrize("sign", SIGNS)
def test_signs_are_the_functions_that_the_grammar_makes_of_them(sign: str) -> None:
    """The last line of the Program, but for the 1 or 0 of a condition."""
    text = f"(a > 0) {sign} (b > 0)" if sign in "&|" else f"a {sign} b"
    assert any(line.call.op.name == SIGNS[sign] for line in parse(text).lines)
    assert _names(sign) == [SIGNS[sign]]


def _operations(text: str) -> list[tuple[str, object]]:
    return [(line.call.op.name, line.call.statics) for line in parse(text).lines]


@pytest.mark.parametrize("op", ops.TABLE.values(), ids=lambda op: op.name)
def test_methods_and_dotted_names_are_read(op: ops.Op) -> None:
    """The worked example in each spelling is the same operation."""
    text, _ = op.worked_example
    (listing,) = functions.listed(op.name).parts
    assert isinstance(listing, Listing)
    for spelling in listing.entries[0].spellings:
        head = spelling.partition("(")[0]
        if head.startswith("torch."):
            written = re.sub(rf"(?<![\w.]){op.name}\(", f"{head}(", text)
        elif spelling.startswith(f"{op.operands[0]}.{op.name}("):
            written = re.sub(rf"(?<![\w.]){op.name}\(({op.operands[0]})(?:, |(?=\)))", rf"\1.{op.name}(", text)
        else:
            continue
        assert _operations(written) == _operations(text)


@pytest.mark.parametrize(
    ("word", "names"),
    [
        ("ln", ["log"]),
        ("torch.nn.functional.relu", ["relu"]),
        ("x.t()", ["transpose"]),
        ("Piecewise", ["where"]),
        ("scans", ["cumsum", "cumprod"]),
        ("loss", [op.name for op in ops.GROUPS["losses"]]),
        ("sine", ["sin", "asin", "sinh", "asinh", "cosine_embedding_loss", "cosine_similarity"]),
    ],
)
def test_a_word_finds_what_is_meant(word: str, names: list[str]) -> None:
    """A name in any spelling; else what has it in its name, group or description."""
    assert _names(word) == names


@pytest.mark.parametrize("word", ["sofmax", "", " ", "laplacian", "(", "x*y", "[b]"])
def test_what_is_not_found_is_an_error(word: str) -> None:
    """With a hint in any case."""
    with pytest.raises(UnknownFunctionError) as caught:
        functions.pages(word)
    assert caught.value.hint


def test_one_row_found_is_shown_in_full() -> None:
    """And several are a list; each word has its part."""
    parts = functions.pages("Piecewise", "loss", "exp").parts
    assert [type(part) for part in parts] == [FunctionPage, Listing, FunctionPage]


@pytest.mark.parametrize("width", [20, 40, 71, 72, 80, 120])
def test_the_list_fits_the_terminal_and_loses_nothing(width: int) -> None:
    """Broken over lines, but whole, in two columns: calls, and what they compute."""
    shown = rendered(functions.listed(), "full", Screen(width))
    assert max(map(len, shown.splitlines())) <= width
    rows = [line.strip("│").split("│") for line in shown.splitlines() if line.startswith("│")]
    calls, said = ("".join(row[column].strip() for row in rows) for column in (0, -1))
    (listing,) = functions.listed().parts
    assert isinstance(listing, Listing)
    whole = [re.sub(r"\s", "", text) for text in (calls, said, shown)]
    for entry in listing.entries:
        for words in (entry.usage, entry.doc, *entry.aliases):
            assert any(re.sub(r"\s", "", words) in text for text in whole), words


def test_names_for_completion_are_one_a_line(gradcli: Command) -> None:
    """Each is a function; an alias is answered with its name."""
    run = gradcli("functions", "--format", "plain")
    assert run.out.splitlines() == list(ops.TABLE)
    assert gradcli("functions", "ln", "Abs", "--format", "plain").out == "log\nabs\n"


def test_json_of_the_list_is_an_object_a_line(gradcli: Command) -> None:
    """With all fields of the row, defaults as values."""
    rows = [json.loads(line) for line in gradcli("functions", "--json").out.splitlines()]
    assert [row["name"] for row in rows] == list(ops.TABLE)
    assert all(row["schema"] == 1 and row["command"] == "functions" for row in rows)
    (var,) = (row for row in rows if row["name"] == "var")
    assert var["parameters"] == [
        {"name": "x", "constant": False, "required": True},
        {"name": "dim", "constant": True, "required": False, "default": None},
        {"name": "correction", "constant": True, "required": False, "default": 1},
        {"name": "keepdim", "constant": True, "required": False, "default": False},
    ]


def test_an_example_weights_each_element_of_y_differently() -> None:
    """So that a shift shows where they go; an elementwise function has ones, so that it shows its derivative."""
    pad = recorded.page("pad").example
    assert pad.command == "vjp"
    np.testing.assert_array_equal(getattr(pad, "vjp")["x"], [2, 3, 4, 5])  # noqa: B009
    assert "--v ones" in recorded.page("leaky_relu").example_command

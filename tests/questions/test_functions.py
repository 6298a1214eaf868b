"""The catalog of functions: every row has a page that holds, and every word finds what its user means."""

import json
import re
from collections.abc import Iterator

import numpy as np
import pytest

from gradcli import Function
from gradcli.errors import UnknownFunctionError
from gradcli.language import ops
from gradcli.language.inputs import read_value
from gradcli.language.program.expansion import in_primitives
from gradcli.questions import functions
from gradcli.report import Screen, rendered
from gradcli.results import FunctionPage, Functions, Listing
from tests import latex, recorded
from tests.conftest import Command
from tests.examples import part
from tests.parsing import parse

SEVEN_DIGITS = {"hardsigmoid"}
"""Functions whose derivative torch is known to have inexactly: it holds 1/6 to seven digits."""

LONG = ("nanmedian",)
"""Operations whose formula is longer than any that is shown: the place of the middle element depends on what is nan."""

OF_TRIANGLES = ("cholesky_solve", "cholesky_inverse")
"""Operations without a value where their matrix is no triangle, as at the random points that confirm formulas."""


@pytest.fixture(autouse=True)
def _pages_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page takes as long as a question; nothing here changes one."""
    monkeypatch.setattr(functions, "page", recorded.page)


def _names(*words: str) -> list[str]:
    found = functions.listed(*words)
    return [entry.name for part in found.parts if isinstance(part, Listing) for entry in part.entries]


@pytest.mark.part("pages")
@pytest.mark.parametrize("op", part(ops.TABLE.values(), 1, of=24), ids=lambda op: op.name)
@pytest.mark.one_in(4)
def test_every_function_has_a_page_that_holds(op: ops.Op, gradcli: Command) -> None:
    """A formula for each operand or why there is none, a meaning or why not, an example that holds; all shows."""
    run = gradcli("functions", op.name, "--json")
    assert (run.code, run.err) == (0, "")
    page = json.loads(run.out)
    assert (page["schema"], page["name"], page["doc"]) == (1, op.name, op.doc)
    assert page["meaning"]
    derivative = page["example"]["answer"]
    shapes = {name: read_value(value, "--at").shape for name, value in op.worked_example[1].items()}
    program = parse(derivative["expression"], shapes=shapes)
    symbolic, omitted = derivative["symbolic"], derivative.get("symbolic_omitted", {})
    assert {*symbolic, *omitted} == set(program.differentiable)
    has_none = all("no formula" in reason for reason in omitted.values())
    is_of_a_matrix = any(line.call.op.kind is ops.Kind.SPECTRAL for line in in_primitives(program).lines)
    is_bare = has_none and is_of_a_matrix  # of which no element has a formula
    assert symbolic or op.name in ("cond", *LONG, *OF_TRIANGLES) or is_bare
    example = page["example"]
    verdict = "cut" if op.is_held else "inaccurate" if op.name in SEVEN_DIGITS else "agree"
    assert example["answer"]["check"]["verdict"] == verdict
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
    cells = [cell for one in page.example.symbolic.values() for cell in one.cells]
    for cell in cells:
        latex.check(cell.latex, is_math=True)
        latex.check(cell.label.latex, is_math=True)
        assert not re.search(r"\*|\(\([^()]*\)\)", cell.pretty)


DERIVATIVES = [
    ("exp(x)", ["exp(x)"]),
    ("tan(x)", ["tan(x)² + 1"]),
    ("atan2(y, x)", ["x/(x² + y²)", "-y/(x² + y²)"]),
    ("pow(a, b)", ["b·a^(b - 1)", "a^b·log(a)"]),
    ("where(c > 0, a, b)", ["0", "{1 if c > 0; 0 otherwise}", "{0 if c > 0; 1 otherwise}"]),
    (
        "clamp(x, lower, upper)",
        [
            "{1 if lower ≤ x ≤ upper; 0 otherwise}",
            "{0 if x ≥ lower; 1 otherwise}·{1 if max(x, lower) ≤ upper; 0 otherwise}",
            "{0 if max(x, lower) ≤ upper; 1 otherwise}",
        ],
    ),
    ("lgamma(x)", ["digamma(x)"]),
    ("i0(x)", ["i1(x)"]),
]


@pytest.mark.parametrize(("text", "formulas"), DERIVATIVES)
def test_formulas_of_elementwise_functions_are_those_of_a_table_of_derivatives(text: str, formulas: list[str]) -> None:
    """Of scalars, without indices."""
    f = Function(text)
    derivative = f.jacobian({name: 1.5 + n / 4 for n, name in enumerate(f.variables)})
    assert [cell.pretty for one in derivative.symbolic.values() for cell in one.cells] == formulas


def test_a_meaning_is_for_the_constants_that_are_left_out() -> None:
    """Word for word as the parser has it; of a primitive, that it is one."""
    meanings = {name: recorded.page(name).meaning for name in ("norm", "mse_loss", "exp")}
    assert meanings == {
        "norm": "sqrt(sum(x**2, dim=dim, keepdim=keepdim))",
        "mse_loss": "mean((input - target)**2)",
        "exp": "a primitive: not defined by others, but a rule of its own for torch, the formula and the reference",
    }


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


@pytest.mark.parametrize("sign", ops.SIGNS)
def test_signs_are_the_functions_that_the_grammar_makes_of_them(sign: str) -> None:
    """The last line of the Program, but for the 1 or 0 of a condition."""
    text = f"(a > 0) {sign} (b > 0)" if sign in "&|" else f"a {sign} b"
    assert any(line.call.op.name == ops.SIGNS[sign] for line in parse(text).lines)
    assert _names(sign) == [ops.SIGNS[sign]]


def _operations(text: str) -> list[tuple[str, object]]:
    return [(line.call.op.name, line.call.statics) for line in parse(text).lines]


def _respelled(op: ops.Op) -> Iterator[str]:
    """Write the worked example with the dotted names of its operation, and as a method."""
    text, _ = op.worked_example
    if re.search(rf"\b{op.name}\(", text) is None:  # it is written as torch has it, with a keyword
        yield text
    (listing,) = functions.listed(op.name).parts
    assert isinstance(listing, Listing)
    for spelling in listing.entries[0].spellings:
        head = spelling.partition("(")[0]
        if head.startswith("torch."):
            yield re.sub(rf"(?<![\w.]){op.name}\(", f"{head}(", text)
        elif op.operands and spelling.startswith(f"{op.operands[0]}.{op.name}("):
            yield re.sub(rf"(?<![\w.]){op.name}\(({op.operands[0]})(?:, |(?=\)))", rf"\1.{op.name}(", text)


RESPELLED = {op.name: [*_respelled(op)] for op in ops.TABLE.values()}


def test_most_operations_have_other_spellings() -> None:
    """Of torch's or as methods."""
    assert sum(map(len, RESPELLED.values())) >= 550
    assert sum(not texts for texts in RESPELLED.values()) <= 43


@pytest.mark.parametrize("op", [op for op in ops.TABLE.values() if RESPELLED[op.name]], ids=lambda op: op.name)
def test_methods_and_dotted_names_are_read(op: ops.Op) -> None:
    """The worked example in each spelling is the same operation."""
    for text in RESPELLED[op.name]:
        assert _operations(text) == _operations(op.worked_example[0])


FOUND = [
    ("ln", ["log"]),
    ("torch.nn.functional.relu", ["relu"]),
    ("x.t()", ["transpose"]),
    ("Piecewise", ["where"]),
    ("scans", ["cumsum", "cumprod"]),
    ("loss", [op.name for op in ops.GROUPS["losses"]]),
    ("sine", ["sin", "asin", "sinh", "asinh", "cosine_embedding_loss", "cosine_similarity"]),
]


@pytest.mark.parametrize(("word", "names"), FOUND)
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


@pytest.mark.parametrize("width", part([20, 40, 71, 72, 80, 120], 0, of=3))
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

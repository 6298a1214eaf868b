"""The page of the guide on limits: its numbers are those of the code, and no limit in a message is missing there."""

import ast
import importlib
import re
from collections.abc import Iterator

import pytest

from gradcli import guide
from tests import of_parts
from tests.sources import nodes
from tests.test_house import MODULES, PACKAGE

LIMITS = {
    "characters of an expression": "language.text.tokens.MAX_TEXT",
    "characters of one number": "language.text.tokens.MAX_DIGITS",
    "levels of parentheses inside one another": "language.text.source.MAX_DEPTH",
    "operations of a function": "language.program.wengert.MAX_LINES",
    "terms of all loops and lists together": "language.lower.loops.MAX_UNROLLED",
    "words of loop bodies, counted at each turn": "language.lower.loops.MAX_REPEATED",
    "dimensions that an `einsum` names": "language.program.expansion.MOST_LETTERS",
    "order n of `besseli(n, x)`": "language.lower.conversions.MAX_BESSEL_ORDER",
    "steps below 0 of the number x in `polygamma(n, x)`": "language.program.numeric.MOST_SHIFTS",
    "masks like `x[mask]`": "language.lower.values_at_point.MOST_DECIDED",
    "elements computed to evaluate these masks": "language.lower.values_at_point.MOST_WORK",
    "equations of one claim": "parts.claims.equations.MOST_EQUATIONS",
    "elements of one tensor": "language.program.wengert.MAX_ELEMENTS",
    "elements of all tensors of a function together; y counts four times": "language.program.shapes.MAX_TOTAL_ELEMENTS",
    "dimensions of a tensor": "language.program.wengert.MAX_DIMENSIONS",
    "multiplications of one matrix product": "language.program.shapes.MAX_MULTIPLICATIONS",
    "rows of a matrix with a determinant or an inverse": "language.program.shapes.MAX_MATRIX_ROWS",
    "rows of a matrix with eigenvectors": "language.ops.linear_algebra.MOST_VECTORS",
    "elements that are sorted along a dimension": "language.ops.reductions.MOST_SORTED",
    "elements that an index like `x[20]` demands of a variable without a shape": (
        "language.program.named_shapes.MOST_INDEXED"
    ),
    "elements of a tensor that a function of torch is written out for": "recording.torch_meanings.MOST_CALL_ELEMENTS",
    "elements that `unbind` takes apart": "recording.torch_meanings.MOST_UNBOUND_PARTS",
    "comparisons of positions for an operation of torch": "recording.torch_meanings.MOST_POSITION_PRODUCTS",
    "entries of a Jacobian shown next to a product": "questions.bound_function.JACOBIAN_ENTRIES",
    "bytes of a Jacobian or a Hessian": "questions.bound_function.JACOBIAN_BYTES",
    "entries of the pattern of a [sparse matrix](sparse.md)": "parts.sparse.sparse.MOST_ENTRIES",
    "bytes that a sparse matrix takes while it is computed": "parts.sparse.sparse.BYTES",
    "gradient vectors of one `vjp`": "questions.commands.vjp.MAX_PRODUCTS",
    "numbers of all steps of `explain`": "parts.explain.explain.MOST_STEP_ELEMENTS",
    "elements of the tensors of a `graph`": "parts.explain.graph.MAX_GRAPH_ELEMENTS",
    "nodes of a graph in DOT or JSON": "report.wording.MAX_NODES",
    "nodes of a graph as a picture": "parts.explain.graph_drawings.MOST_BOXES",
    "curves of one plot": "parts.plot.plot.MOST_CURVES",
    "numbers that move in a box": "parts.everywhere.moving_box.MOST_MOVING",
    "operations of a function on a box": "parts.everywhere.scalars.MOST_LINES",
    "products of numbers in one product of matrices over ranges": "parts.everywhere.array_jets.MOST_PRODUCTS",
    "operations of a function as a script": "parts.code.code.MAX_SCRIPT_LINES",
    "numbers without a rule in a script": "parts.code.self_writing.MAX_WRITTEN",
    "numbers of a variable with a range in `improve`": "parts.improve.improve.ELEMENTS",
    "formulas of one answer": "crosscheck.formulas.MAX_FORMULAS",
    "terms and factors of a formula": "symbolic.element.FORMULA_NODES",
    "factors of a power of a matrix, `X^n`": "language.lower.matrix_notation.MOST_FACTORS",
    "terms and factors of a derivative by the product rule": "symbolic.derivative.MAX_SLOPE",
    "operations inside one another in a formula": "symbolic.element.FORMULA_DEPTH",
    "entries written one by one, as of a list": "symbolic.derivative.MAX_WRITTEN_OUT",
    "numbers of an index, or parts of a list, in index notation": "symbolic.origins.LARGE",
    "seconds to derive the formulas": "reference.deadline.FORMULAS",
    "seconds of all checks of one answer": "progress.SECONDS",
    "ball operations of the truth of one sample": "reference.enclosure_plan.BALL_OPERATIONS",
    "entries that are all looked at": "crosscheck.sample.ALL_ENTRIES",
    "elements of a line in a search for kinks": "crosscheck.point.MOST_ELEMENTS",
    "findings that are listed": "crosscheck.summary.MAX_FINDINGS",
    "entries of which all opinions are listed": "crosscheck.formulas.MAX_OPINIONS",
    "random points of a `check`": "parts.claims.checked_points.MAX_POINTS",
    "entries at all random points together": "parts.claims.checked_points.MAX_POINT_ENTRIES",
    "passes of a script that are judged": "parts.running.scripts.MOST_PASSES",
    "calls of torch in one recording": "recording.recorder.MOST_CALLS",
    "elements that a custom function is tried on by itself": "parts.running.custom_functions.MOST_ARGUMENT_ELEMENTS",
    "MiB of a text file": "files.decoding.TEXT_BYTES",
    "MiB of a line of rows": "parts.tables.text_rows.LONGEST_LINE_BYTES",
    "elements of y and its derivatives in a row of `map`": "parts.tables.streaming.MOST_ROW_ENTRIES",
    "MiB of a request of `batch`": "parts.batch.request_lines.LINE_BYTES",
    "KiB of a request in words": "parts.batch.request_lines.WORDS_CHARACTERS",
}
"""The constant of the code that each row of the page gives, in the order of the page."""

UNITS = {"MiB": 2**20, "KiB": 2**10}

SHORTENED = {
    "errors.MOST_NAMES",
    "parts.running.adding_passes.MOST_SHOWN",
    "parts.running.watching.MOST_NAMES",
    "recording.decisions.LONGEST_CONDITION",
    "parts.running.operation_rules.MOST_WORDS",
    "parts.running.pass_line.MOST_NAMES",
    "symbolic.operations.LONGEST_OPERATION",
    "parts.explain.graph_drawings.LONGEST",
}
"""Constants in a message that limit its own length."""


def _rows() -> dict[str, str]:
    found = re.findall(r"^\| (.+?) \| ([\d,]+) \| .+ \| .+ \|$", guide.text("limits"), re.MULTILINE)
    text = guide.text("limits")
    assert len(found) == text.count("\n| ") - 2 * text.count("\n| ---")
    return dict(found)


def test_the_page_has_the_limits_in_order() -> None:
    """One row a limit."""
    assert list(_rows()) == list(LIMITS)


def _is_here(constant: str) -> bool:
    """Tell whether the code has the module of a constant: a part may be missing."""
    room, name, *_ = constant.split(".")
    return room != "parts" or not of_parts.missing((name,))


NAMES = r"(MOST|MAX|LONGEST|LARGEST|FEWEST|JACOBIAN)(_[A-Z_]+)?|[A-Z_]+_(BYTES|NODES|DEPTH|CHARACTERS)"
"""Names of constants that are limits."""


@pytest.mark.parametrize("words", [words for words, constant in LIMITS.items() if _is_here(constant)])
def test_a_number_of_the_page_is_that_of_the_code(words: str) -> None:
    """In the unit that the row says."""
    module, _, name = LIMITS[words].rpartition(".")
    number = getattr(importlib.import_module(f"gradcli.{module}"), name)
    assert _rows()[words] == f"{number / UNITS.get(words.split(maxsplit=1)[0], 1):,.0f}"


def _in_messages() -> Iterator[str]:
    """Generate the constants of limits that stand in texts, with the modules that they are defined in."""
    for path in MODULES:
        here = ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")
        sources = {
            alias.asname or alias.name: f"{node.module}.{alias.name}".removeprefix("gradcli.")
            for node in nodes(path)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        for text in (node for node in nodes(path) if isinstance(node, ast.JoinedStr)):
            for name in (node.id for node in ast.walk(text) if isinstance(node, ast.Name)):
                if re.fullmatch(
                    NAMES,
                    name,
                ):
                    yield sources.get(name, f"{here}.{name}")


def test_no_limit_in_a_message_is_missing_on_the_page() -> None:
    """But for those of the message itself."""
    found = set(_in_messages())
    assert len(found) > 30
    assert found - {*LIMITS.values()} == {constant for constant in SHORTENED if _is_here(constant)}

"""The notebook of the examples is executed by a kernel, and shows answers as a screen."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.parts.pages.test_html import Page

pytestmark = [pytest.mark.part("claims", "pages"), pytest.mark.thorough]  # which cells ask for, in a kernel

ROOT = Path(__file__).parent.parent
NOTEBOOK = ROOT / "examples" / "notebook.ipynb"


@pytest.fixture(scope="module")
def outputs() -> dict[str, dict[str, Any]]:
    """Outputs of the cells with code, by the first line of the cell's last statement."""
    nbformat = pytest.importorskip("nbformat", reason="nbclient comes with the extra dev")
    nbclient = pytest.importorskip("nbclient", reason="nbclient comes with the extra dev")
    pytest.importorskip("ipykernel", reason="ipykernel comes with the extra dev")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(ROOT)}}).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(len(cell.outputs) == 1 for cell in cells)
    return {cell.source.splitlines()[-1]: cell.outputs[0] for cell in cells}


def _page(output: dict[str, Any]) -> "Page":
    from tests.parts.pages.test_html import Page

    return Page(output["data"]["text/html"])


@pytest.mark.filterwarnings("default")  # of the client, which are none of ours
def test_a_product_is_drawn_as_its_definition(outputs: dict[str, dict[str, Any]]) -> None:
    """V beside the rows of the Jacobian, the product below, and the verdict beside the formula."""
    page = _page(outputs["answer"])
    rows = [[cell.strip() for cell in row] for row in page.rows]
    assert ["1 ×", "f[0]", "-3", "-6"] in rows
    assert ["10 ×", "f[1]", "-15", "-20"] in rows
    assert ["", "vᵀJ = x.grad", "-153", "-206"] in rows
    assert "✓ agree (proven)" in page.words
    data = outputs["answer"]["data"]
    assert "│ 10 × │ f[1]" in data["text/plain"]
    assert "\\begin{align*}" in data["text/latex"]
    (fields,) = (one["data"]["text/plain"] for line, one in outputs.items() if line.startswith("answer.vjp"))
    assert fields == "(array([-153., -206.]), 'agree', True)"


def test_a_kink_is_marked_where_it_is(outputs: dict[str, dict[str, Any]]) -> None:
    """In its cell, with both sides, in the verdict and in words."""
    (shown,) = (one for line, one in outputs.items() if "relu" in line)
    page = _page(shown)
    assert any("0 ∧ left 0, right 1" in cell for row in page.rows for cell in row)
    assert "∧ kink (proven)" in page.words
    assert "a subgradient" in "".join(page.words)


def test_a_claim_is_refuted_and_the_right_one_proved(outputs: dict[str, dict[str, Any]]) -> None:
    """With the mistake that was made."""
    wrong, right = (_page(one).words for line, one in outputs.items() if "check(1.5" in line)
    assert "refuted" in wrong
    assert "a missing chain factor" in "".join(wrong)
    assert "did not pass: 1 claim refuted" in wrong
    assert "proved" in right
    assert "passed" in right


def test_an_error_says_what_to_write_in_python(outputs: dict[str, dict[str, Any]]) -> None:
    """And nothing of the shell."""
    (shown,) = (one["text"] for line, one in outputs.items() if "print(error)" in line)
    assert shown.endswith("hint: v=[1, 1] sums the elements of y; e0 picks y[0]; jacobian needs no v\n")
    assert not re.search(r"(?<!\S)--\w", shown)


def test_the_notebook_holds_nothing_generated() -> None:
    """Neither outputs nor numbers of executions."""
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert '"outputs": []' in text
    assert not re.search(r'"outputs": \[[^\]]', text)
    assert not re.search(r'"execution_count": \d', text)

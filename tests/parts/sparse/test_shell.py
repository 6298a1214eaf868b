"""The shell: screens, files, and what is refused."""

import json
import time
from pathlib import Path

import numpy as np
import pytest
from scipy import io, sparse

from gradcli.parts.sparse import sparse as spine
from tests.conftest import Command

DIFFERENCE = ("jacobian", "x[1:]-x[:-1]")


def test_a_difference_of_a_hundred_thousand_numbers(gradcli: Command) -> None:
    """Of itself: 200,000 entries of ten thousand million, in two products, each proved."""
    run = gradcli(*DIFFERENCE, "--at", "linspace(0,1,100000)")
    assert run.code == 0, run.err
    words = "2 instead of 99,999", "199,998 of 199,998", "agree (proven)", "δ[j,i+1] - δ[i,j]", "∂y[99998]/∂x[99999]"
    assert [word for word in words if word not in run.out] == []


def test_the_screen_of_a_small_one(gradcli: Command) -> None:
    """All of it."""
    run = gradcli(*DIFFERENCE, "--at", "1,2,4", "--sparse")
    assert run.code == 0
    assert run.out.count("∂y[") == 5
    assert "2 × 3" in run.out


def test_files_have_the_same_matrix(gradcli: Command, folder: Path) -> None:
    """Those of SciPy and of Matrix Market, and rows."""
    truth = np.array([[-2.0, 4, 0], [0, -2, 8]])
    text, at = "x[1:]**2 - 2*x[:-1]", ("--at", "1,2,4", "--sparse")
    for name in ("J.npy", "J.npz", "J.mtx", "J.csv", "J.jsonl", "J.parquet", "J.json"):
        run = gradcli("jacobian", text, *at, "-o", name)
        assert (run.code, run.out) == (0, ""), run.err
    np.testing.assert_array_equal(np.load("J.npy"), truth)
    found = sparse.load_npz("J.npz")
    assert isinstance(found, sparse.csr_array)
    np.testing.assert_array_equal(found.toarray(), truth)
    np.testing.assert_array_equal(io.mmread("J.mtx").toarray(), truth)
    assert (folder / "J.csv").read_text().splitlines()[:2] == ["row,variable,column,value", "0,x,0,-2"]
    rows = [json.loads(line) for line in (folder / "J.jsonl").read_text().splitlines()]
    assert rows[-1] == {"row": 1, "column": 2, "value": 8.0}
    block = json.loads((folder / "J.json").read_text())["jacobian"]["x"]
    assert block == {"shape": [2, 3], "row": [0, 0, 1, 1], "column": [0, 1, 1, 2], "value": [-2.0, 4.0, -2.0, 8.0]}
    parquet = pytest.importorskip("pyarrow.parquet")
    assert parquet.read_table("J.parquet").to_pydict()["value"] == [-2, 4, -2, 8]


def test_a_file_that_holds_sparse_matrices_asks_for_one(gradcli: Command, folder: Path) -> None:
    """A small matrix too; without values there are no numbers to write."""
    for command in ("jacobian", "hessian"):
        run = gradcli(command, "sum(x**3)", "--at", "1,2,4", "-o", f"{command}.mtx")
        assert (run.code, run.out, run.err) == (0, "", "")
    np.testing.assert_array_equal(io.mmread("jacobian.mtx").toarray(), [[3, 12, 48]])
    np.testing.assert_array_equal(io.mmread("hessian.mtx").toarray(), np.diag([6, 12, 24]))
    run = gradcli("hessian", "sum(x**3)", "--shape", "x=3", "-o", "none.mtx")
    assert run.code == 2
    assert run.err.startswith("error: hessian without values answers with a formula, and there are no numbers to write")


def test_an_archive_of_a_large_matrix_is_said_to_be_sparse(gradcli: Command, folder: Path) -> None:
    """That of a small one has dense arrays, unless it is asked for."""
    text = ("hessian", "sum(x**3)", "--at")
    assert gradcli(*text, "1,2", "-o", "small.npz").err == ""
    assert any(one.shape == (2, 2) for one in np.load("small.npz").values())
    run = gradcli(*text, "x=linspace(0,1,1001)", "-o", "large.npz")
    assert run.err == "note: large.npz is a sparse matrix, as it is large: scipy.sparse.load_npz reads it\n"
    assert sparse.load_npz("large.npz").shape == (1001, 1001)
    assert gradcli(*text, "x=linspace(0,1,1001)", "--sparse", "-o", "asked.npz").err == ""


def test_a_file_of_a_pattern_has_truth_values(gradcli: Command, folder: Path) -> None:
    """As `solve_ivp` takes it."""
    assert gradcli(*DIFFERENCE, "--at", "1,2,4", "--pattern", "-o", "S.npz").code == 0
    assert gradcli(*DIFFERENCE, "--at", "1,2,4", "--pattern", "-o", "S.mtx").code == 0
    found = sparse.load_npz("S.npz")
    assert found.dtype == bool
    assert found.nnz == io.mmread("S.mtx").nnz == 4


def test_a_pattern_needs_shapes_alone(gradcli: Command, folder: Path) -> None:
    """And values of positions; a variable of which nothing is said is a number."""
    text = ("jacobian", "a*x[i] + x[1:3]", "--shape", "x=5", "--at", "i=4,0", "--pattern")
    assert gradcli(*text, "--format", "plain").out.split("\n") == ["0 0", "0 2", "0 5", "1 0", "1 1", "1 3", ""]


def test_the_pattern_of_code_needs_shapes_too(gradcli: Command, folder: Path) -> None:
    """Unless its values decide what it computes."""
    _ = (folder / "f.py").write_text(
        "def f(x, a):\n    return a*x[1:] - x[:-1]**2\ndef g(x):\n    return x*x.sum() if x[0] > 0 else x\n"
    )
    asked = "jacobian", "f.py::f", "--pattern", "--format", "plain", "--shape"
    assert gradcli(*asked, "x=3", "--wrt", "x", "--at", "a=2").out == "0 0\n0 1\n1 1\n1 2\n"
    assert gradcli(*asked, "x=4", "--shape", "a=()").out.count("\n") == 9
    refused = {
        ("f.py::g", "--shape", "3"): "values decide what f.py::g computes",
        ("f.py::f", "--shape", "x=n", "--at", "a=2"): "the sizes of x as numbers",
        ("f.py::f", "--shape", "x=3"): "no value for the parameter 'a'",
        ("f.py::f", "--shape", "x=3", "--at", "x=1,2", "--at", "a=2"): "a shape besides",
    }
    for line, words in refused.items():
        run = gradcli("jacobian", *line, "--pattern")
        assert (run.code, run.out) == (2, "")
        assert words in run.err


def test_several_variables_are_side_by_side_in_a_file(gradcli: Command, folder: Path) -> None:
    """With the labels of each in rows."""
    line = ("jacobian", "x*y[:,None]", "--at", "x=[[1,2],[3,4]]", "--at", "y=5,6", "--sparse")
    assert gradcli(*line, "-o", "J.npz").code == 0
    truth = [[5, 0, 0, 0, 1, 0], [0, 5, 0, 0, 2, 0], [0, 0, 6, 0, 0, 3], [0, 0, 0, 6, 0, 4]]
    assert sparse.load_npz("J.npz").toarray().tolist() == truth
    assert gradcli(*line, "--format", "csv").out.splitlines()[-1] == "1 1,y,1,4"
    assert gradcli(*line, "--format", "plain").out.splitlines()[0] == "0 0 5"


def test_a_hessian_in_files(gradcli: Command, folder: Path) -> None:
    """The blocks of two variables below each other too."""
    line = ("hessian", "x[0]**3*y + x[1]**2", "--at", "x=1,2", "--at", "y=5", "--sparse")
    assert gradcli(*line, "-o", "H.npz").code == 0
    assert sparse.load_npz("H.npz").toarray().tolist() == [[30, 0, 3], [0, 2, 0], [3, 0, 0]]
    assert gradcli(*line, "--format", "csv").out.splitlines()[0] == "row_variable,row,column_variable,column,value"


def test_a_picture_of_a_pattern(gradcli: Command, folder: Path) -> None:
    """On the screen and in a file."""
    run = gradcli(*DIFFERENCE, "--at", "linspace(0,1,2000)", "--picture")
    assert run.code == 0
    assert "∂y[0]" not in run.out
    pytest.importorskip("matplotlib")
    assert gradcli(*DIFFERENCE, "--at", "1,2,4", "--sparse", "-o", "J.svg").code == 0
    assert "<svg" in (folder / "J.svg").read_text()


def test_what_is_refused(gradcli: Command, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """In one line, with exit code 2."""
    refused = {
        ("jacobian", "cumsum(x,0)", "--at", "ones(20000)", "--sparse"): "is not sparse",
        ("jacobian", "x[1:]*y", "--at", "x=1,2", "--at", "y=1", "--sparse", "-o", "J.npy"): "not one array",
        (*DIFFERENCE, "--shape", "n", "--sparse"): "give --pattern in place of --sparse",
        (*DIFFERENCE, "--shape", "n", "--pattern"): "the sizes of x as numbers",
        (*DIFFERENCE, "--shape", "3", "--at", "1,2", "--pattern"): "has a value, and a shape besides",
        (*DIFFERENCE, "--shape", "1", "--pattern"): "matrix without entries",
        ("jacobian", "x[i]", "--shape", "x=3", "--shape", "i=2", "--pattern"): "--at i=...",
        ("jacobian", "x[x > 0]", "--shape", "3", "--pattern"): "how many elements this mask takes",
        ("jacobian", "x[i]", "--at", "x=1,2", "--at", "i=0,2", "--sparse"): "from 0 to 1, and there is 2",
        ("jacobian", "x[i]", "--at", "x=1,2", "--at", "i=-3,0", "--sparse"): "from -2 to 1, and there is -3",
        ("jacobian", "x[i]", "--at", "x=1,2", "--at", "i=0,0.5", "--sparse"): "an index is a whole number",
        ("hessian", "x**2", "--at", "1,2", "--sparse"): "one element",
    }
    for line, words in refused.items():
        run = gradcli(*line)
        assert (run.code, run.out) == (2, ""), line
        assert words in run.err, run.err
        assert run.err.count("error:") == 1
    monkeypatch.setattr(spine, "is_installed", lambda: False)
    run = gradcli(*DIFFERENCE, "--at", "linspace(0,1,100000)")
    assert run.code == 2
    assert "74.5 GiB" in run.err
    assert "gradcli[scipy]" in run.err.replace("\n", "")
    assert "gradcli[scipy]" in gradcli(*DIFFERENCE, "--at", "1,2", "--sparse").err


def test_products_beyond_the_budget_are_refused(gradcli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before all of them are computed, with the seconds that they would take."""
    clock = iter(range(0, 10**6, 7))
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    run = gradcli("jacobian", "softmax(x,0)", "--at", "linspace(0,1,40)", "--sparse", "--budget", "60")
    assert run.code == 2
    assert "40 products, about 280 seconds" in run.err
    assert "--budget 281" in run.err


def test_many_colours_are_warned_of(gradcli: Command) -> None:
    """Where they come near the number of rows."""
    run = gradcli("jacobian", "cumsum(x,0)", "--at", "ones(40)", "--sparse")
    assert run.code == 0
    assert "40 products in place of 40" in run.err

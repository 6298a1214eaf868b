"""Answers with sparse matrices: verdicts, formulas, and when a matrix is sparse of itself."""

from typing import Any

import numpy as np
import pytest
import sympy
from scipy import sparse as scipy_sparse

import gradcli
from gradcli import Function
from gradcli.crosscheck.formulas import Derived
from gradcli.errors import GradcliError
from gradcli.parts.sparse import sparse
from gradcli.parts.sparse.expression_values import values_at
from gradcli.results import Hessian, Jacobian, SparseHessian, SparseJacobian
from tests.parts.sparse.dense import hessian, jacobian, require_same, whole

BROYDEN = "(3 - 2*x)*x - pad(x, [1, 0])[:-1] - 2*pad(x, [0, 1])[1:] + 1"
ROSENBROCK = "sum(100*(x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2)"
LAPLACE = "p = pad(u, [1, 1, 1, 1]); p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4*u + v*exp(-u)"


def test_broydens_function_has_three_diagonals() -> None:
    """3 - 4·x, -1 and -2; every entry is proved, with its formula."""
    n = 5000
    x = np.linspace(-1, 1, n)
    found = Function(BROYDEN).jacobian({"x": x})
    assert isinstance(found, SparseJacobian)  # of itself, as a dense one would have 25 million entries
    truth = scipy_sparse.diags_array([-np.ones(n - 1), 3 - 4 * x, -2 * np.ones(n - 1)], offsets=[-1, 0, 1])
    assert abs(found.jacobian["x"] - truth).max() < 1e-12
    assert (found.sparsity.bandwidth, found.sparsity.products) == ((1, 1), 3)
    assert found.check is not None
    assert (found.check.verdict, found.check.checked, found.check.entries) == ("agree", 3 * n - 2, 3 * n - 2)
    assert found.check.proven
    assert "3 - 4*x[i]" in found.symbolic["x"].text
    assert found.symbolic["x"].note == ""


def test_rosenbrocks_function_has_three_diagonals() -> None:
    """The Hessian by hand, and by symmetry."""
    n = 2000
    x = np.linspace(0.5, 1.5, n)
    found = Function(ROSENBROCK).hessian({"x": x})
    assert isinstance(found, SparseHessian)
    middle = np.full(n, 200.0)
    middle[:-1] += 1200 * x[:-1] ** 2 - 400 * x[1:] + 2 - 200 * (np.arange(n - 1) == 0)
    side = -400 * x[:-1]
    truth = scipy_sparse.diags_array([side, middle, side], offsets=[-1, 0, 1])
    assert abs(found.hessian["x"]["x"] - truth).max() < 1e-9
    assert (found.sparsity.products, found.sparsity.usual) == (3, n)
    assert found.check is not None
    assert found.check.proven


def test_a_grid_of_two_variables() -> None:
    """Reaction and diffusion: a block by each variable, all entries proved."""
    draw = np.random.default_rng(0)
    at = {"u": draw.uniform(0.1, 1, (8, 9)), "v": draw.uniform(0.1, 1, (8, 9))}
    dense, found = jacobian(LAPLACE, at)
    require_same(dense, found)
    assert found.check is not None
    assert found.check.proven
    assert found.sparsity.products <= 6
    assert found.jacobian["v"].shape == (72, 72)
    assert found.jacobian["v"].nnz == 72


def test_a_hessian_of_several_variables() -> None:
    """All four blocks."""
    draw = np.random.default_rng(0)
    at = {"x": draw.uniform(1, 2, 6), "y": draw.uniform(1, 2, 5)}
    dense, found = hessian("sum(x[1:]**2*y) + x[0]*y[0]**3", at)
    require_same(dense, found)
    assert found.check is not None
    assert found.check.proven
    assert found.hessian["y"]["y"].nnz == 1
    np.testing.assert_allclose(found.grad["y"], at["x"][1:] ** 2 + 3 * (np.arange(5) == 0) * at["x"][0] * at["y"] ** 2)


VERDICTS = {
    "abs(x)*roll(x, 1, 0)": ("kink", "kink"),
    "1/x": ("undefined", "undefined"),
    "sqrt(x**2)": ("kink", "nan-trap"),
    "where(x > 0, x, 2*x + 1)": ("kink", "kink"),
    "x.detach()*x": ("cut", "cut"),
    "x - x": ("agree", "agree"),
    "sin(x)/x": ("removable", "nan-trap"),
}
"""The verdict at a point with one 0 among others, and that of the dense matrix: there, torch has 0·inf in entries that
are 0 by structure, and not asked for here."""


@pytest.mark.parametrize("text", VERDICTS)
@pytest.mark.one_in(4)
def test_one_element_that_is_singular_is_found(text: str) -> None:
    """Among a hundred that are not."""
    at = {"x": np.linspace(-1, 1, 101)}
    at["x"][50] = 0
    dense, found = Function(text).jacobian(at), Function(text).jacobian(at, sparse=True)
    assert dense.check is not None
    assert found.check is not None
    assert (found.check.verdict, dense.check.verdict) == VERDICTS[text]
    assert found.check.findings_count == 0 if text == "x - x" else found.check.findings_count > 0


MANY = {
    "relu(x)": "800 at a kink; of 200 spread over the open ones, balls say: 200 kink",
    "relu(x[1:] - x[:-1])": "by bounds, 1,798 at a kink; of 200",
    "where(x < 0, x, 1/x)": "800 at a pole or an edge of the domain; of 200 spread over the open ones, balls say: 200",
    "cat([relu(x[:750]), 1/x[750:]])": "150 at a kink, 650 at a pole or an edge of the domain; of 200 spread over the",
    "sum(abs(x))": "800 at a kink; of 200",
    "sqrt(x**2)": "800 at a kink; of 200",
    "sqrt(x)": "1,300 at a pole or an edge of the domain; of 200",
}
"""Functions of a vector of which a thousand elements are 0, and what is said of the entries there."""


def test_many_kinks_and_poles_are_counted_by_kind() -> None:
    """Balls look at two hundred of the open entries; bounds count all others, by what they come through."""
    x = np.linspace(-1, 1, 2001)
    x[500:1500] = 0
    for text, words in MANY.items():
        found = getattr(Function(text), "hessian" if text.startswith("sum") else "jacobian")({"x": x}, sparse=True)
        assert len(found.check.findings) <= 10
        assert any(words in note for note in found.check.notes), (text, found.check.notes)


def test_poles_of_many_elements_are_counted_whatever_more_digits_take() -> None:
    """All of them at the edge of a domain, on which more digits spend what time there is."""
    found = Function("sqrt(x[1:] - x[:-1])").jacobian({"x": np.ones(100_000)}, sparse=True)
    assert found.check is not None
    assert "199,798 at a pole or an edge of the domain; of 200" in found.check.notes[0]
    assert found.check.verdict == "undefined"


def test_terms_that_cancel_in_every_entry_are_no_disagreement() -> None:
    """The softmax of equal numbers does not move, and torch's numbers are rounding alone."""
    X = np.random.default_rng(0).uniform(0.1, 1, (3, 8))
    found = Function("softmax(logsumexp(X, 0)[:, None].expand(8, 3), 1)").jacobian({"X": X}, sparse=True)
    assert found.check is not None
    assert found.check.verdict == "agree"
    assert not found.check.findings


def test_entries_of_rounding_next_to_one_without_a_value_are_no_disagreement() -> None:
    """Bounds of the column that is 0 are known, though another has none."""
    answer = Function("cbrt(x/x) + roll(cbrt(x/x),1)").jacobian({"x": [0.722051068, 0, 7.25]}, sparse=True)
    assert answer.check is not None
    assert answer.check.verdict == "removable"


def test_coefficients_that_cancel_are_proved() -> None:
    """3 - 4·x is nearly 0, and y is exactly 0, where bounds of float64 leave open what balls decide."""
    x = np.full(400, 0.75)
    x[1::2] = 0.75 + 1e-12
    found = Function(BROYDEN).jacobian({"x": x}, sparse=True)
    assert found.check is not None
    assert found.check.proven
    same = Function("x[1:]**2 - x[:-1]").jacobian({"x": np.ones(500)}, sparse=True)
    assert same.check is not None
    assert same.check.proven


def test_a_function_without_a_derivative_has_no_entries() -> None:
    """Its pattern is empty: all are 0, which is proved."""
    found = Function("3*x.sum() + 0*y").hessian({"x": np.ones(4), "y": 1.0}, sparse=True)
    assert isinstance(found, SparseHessian)
    assert found.sparsity.entries == 0
    assert found.check is not None
    assert (found.check.verdict, found.check.proven) == ("agree", True)


def test_in_float32_the_numbers_are_torchs() -> None:
    """And the verdict is by its tolerance."""
    found = Function(BROYDEN).jacobian({"x": np.linspace(0, 0.6, 30)}, sparse=True, dtype="float32")
    assert found.jacobian["x"].dtype == np.float32
    assert found.check is not None
    assert found.check.verdict == "agree"


def test_without_a_check_there_is_no_verdict() -> None:
    """Numbers alone."""
    found = Function(BROYDEN).jacobian({"x": np.linspace(0, 1, 30)}, sparse=True, check=False)
    assert found.check is None
    assert found.jacobian["x"].nnz == 88


@pytest.mark.part("running")
def test_a_function_of_python_is_sparse_too() -> None:
    """By its recording, in the numbers of the function."""
    import torch

    def difference(x: torch.Tensor) -> torch.Tensor:
        return x[1:] ** 2 - x[:-1]

    found = gradcli.jacobian(difference, np.linspace(1, 2, 50), sparse=True)
    assert found.jacobian["x"].nnz == 98
    assert found.check is not None
    assert (found.check.verdict, found.check.proven) == ("agree", True)


@pytest.mark.part("running")
def test_code_that_is_differentiated_once_alone_has_its_rows() -> None:
    """Products of columns are the derivative of those of rows, which its backward pass does not have: torch gives 0."""
    import torch
    from torch.autograd.function import once_differentiable

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(x)
            return x**2

        @staticmethod
        @once_differentiable
        def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
            x: torch.Tensor = ctx.saved_tensors[0]
            return 2 * x * g

    def repeated(x: torch.Tensor) -> torch.Tensor:
        squared: torch.Tensor = Square.apply(x)  # type: ignore[no-untyped-call]
        return squared.repeat(5)

    found = gradcli.jacobian(repeated, np.linspace(1, 2, 20), sparse=True)
    assert found.sparsity.products <= 7
    assert found.check is not None
    assert found.check.verdict == "agree"


# -- what is sparse


def test_a_small_matrix_and_a_full_one_stay_dense() -> None:
    """Below a million entries, and where more than one in twenty depends on the variables."""
    for text, size in ((BROYDEN, 900), ("cumsum(x, 0)", 1200)):
        found = Function(text).jacobian({"x": np.linspace(0, 1, size)}, check=False)
        assert type(found) is Jacobian
    assert type(Function("sum(x)**2").hessian({"x": np.ones(1100)}, check=False)) is Hessian


def test_what_is_given_in_tensors_is_answered_in_tensors() -> None:
    """Of torch's format of sparse rows."""
    import torch

    found = Function("x[1:] - x[:-1]").jacobian({"x": torch.arange(5.0)}, sparse=True)["x"]
    assert found.layout is torch.sparse_csr
    assert found.to_dense().tolist()[0] == [-1, 1, 0, 0, 0]


def test_numpy_reads_the_only_matrix() -> None:
    """As it does a dense one."""
    found = Function("x**2").jacobian({"x": np.linspace(0, 1, 1100)}, check=False)
    assert isinstance(found, SparseJacobian)
    np.testing.assert_array_equal(np.diagonal(np.asarray(found)), 2 * np.linspace(0, 1, 1100))


def test_zeros_of_a_pattern_are_kept() -> None:
    """An entry that is 0 by its numbers stays in the matrix, for a method that factors its pattern once."""
    found = Function("x**2").jacobian({"x": [0.0, 1.0, 0.0]}, sparse=True)
    assert found.jacobian["x"].nnz == 3
    assert whole(found)[1].sum() == 3


def test_a_pattern_alone_asks_no_derivative_of_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the Program's."""
    monkeypatch.setattr(sparse, "values_of", lambda *args: pytest.fail("a product was computed"))
    found = Function(BROYDEN).jacobian({"x": np.linspace(0, 1, 50)}, pattern=True)
    assert found.jacobian["x"].dtype == bool
    assert found.jacobian["x"].nnz == 148
    assert found.check is None


def test_a_dense_pattern_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is asked for; of itself a matrix is dense then."""
    monkeypatch.setattr(sparse, "MOST_ENTRIES", 1000)
    with pytest.raises(GradcliError, match="not sparse"):
        Function("cumsum(x, 0)").jacobian({"x": np.ones(100)}, sparse=True)


# -- planted formulas


@pytest.mark.parametrize("change", ["value", "place"])
def test_a_wrong_formula_is_taken_back(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is wrong at the entries that samples do not see: in the middle, or off the pattern."""

    def wrong(bound: Any) -> Derived:
        found = derive(bound)
        derivative = found.blocks["", "x"]
        assert not isinstance(derivative, str)
        (case, expression), *_ = derivative.cases
        (i,), (j,) = derivative.rows, derivative.columns
        if change == "value":
            more = sympy.Piecewise((1, sympy.Eq(i, 777)), (0, True)) * sympy.KroneckerDelta(i, j)
        else:
            more = sympy.Piecewise((1, i > 700), (0, True)) * sympy.KroneckerDelta(j, i - 500)
        object.__setattr__(derivative, "cases", ((case, expression + more),))
        return found

    derive = sparse._derived
    monkeypatch.setattr(sparse, "_derived", wrong)
    found = Function("x**2*sin(x + 0.123)").jacobian({"x": np.linspace(1, 2, 2000)}, sparse=True)
    assert found.check is not None
    assert found.check.verdict == "disagree"
    assert "formula" in found.check.findings[0].note
    assert found.symbolic == {}


@pytest.mark.parametrize(
    ("text", "wrt"),
    [
        ("x[i]*y", ["x", "y"]),
        ("x[i]*x[j]", ["x"]),
        ("x.index_add(0, i, y)", ["x", "y"]),
        ("scatter_add(x, 0, i, y)", ["x", "y"]),
        ("(y[:, None]*w[i]).sum(1)", ["w"]),
    ],
)
def test_elements_at_positions_are_where_the_positions_say(text: str, wrt: list[str]) -> None:
    """Those of a variable, also counted from the end."""
    draw = np.random.default_rng(1)
    at = {
        "x": draw.uniform(1, 2, 5),
        "y": draw.uniform(1, 2, 4),
        "w": draw.uniform(1, 2, (5, 2)),
        "i": np.array([4, 0, -2, 0] if "_add" not in text else [4, 0, 3, 0]),
        "j": np.array([1, 1, 2, 3]),
    }
    given = {name: at[name] for name in Function(text).variables}
    found = Function(text).jacobian(given, wrt=wrt, sparse=True)
    dense = Function(text).jacobian(given, wrt=wrt).jacobian or {}
    assert isinstance(found, SparseJacobian)
    assert found.check is not None
    assert (found.check.verdict, found.check.proven) == ("agree", True)
    for name in wrt:
        expected = np.reshape(dense[name], found.jacobian[name].shape)
        np.testing.assert_array_equal(found.jacobian[name].toarray(), expected)


def test_a_position_that_is_not_there_is_refused() -> None:
    """As without the option."""
    with pytest.raises(GradcliError, match="an index is from 0 to 4, and there is 5"):
        Function("x[i]").jacobian({"x": np.ones(5), "i": [0, 5]}, wrt=["x"], sparse=True)


def test_a_graph_of_many_edges() -> None:
    """The Hessian of an energy that is given by its edges."""
    n = 1100
    at = {"x": np.linspace(0, 1, n) ** 2, "i": np.arange(n), "j": (np.arange(n) + 1) % n}
    found = Function("sum((x[i] - x[j])**2)").hessian(at, wrt=["x"])
    assert isinstance(found, SparseHessian)
    one = np.ones(n)
    ring = scipy_sparse.diags_array([-2 * one, 4 * one, -2 * one], offsets=[-1, 0, 1], shape=(n, n)).tolil()
    ring[0, n - 1] = ring[n - 1, 0] = -2
    assert abs(found.hessian["x"]["x"] - ring.tocsr()).max() == 0
    assert found.check is not None
    assert found.check.proven


EDGES = {
    "d = w*(x[i] - x[j]); (0*x).index_add(0, i, d).index_add(0, j, -d)": "jacobian",
    "(0*x).index_add(0, i, w*x[j]**2)": "jacobian",
    "x**2 + (0*x).index_add(0, i, w*sin(x[i] - x[j]))": "jacobian",
    "sum(w*(x[i] - x[j])**4)": "hessian",
    "scatter_reduce(0*x, 0, i, w*x[j]**2, 'sum')": "jacobian",
    "u = x.view(-1, 10); sum((u[1:] - u[:-1])**4) + sum((u[:, 1:] - u[:, :-1])**2*u[:, 1:])": "hessian",
}
"""Functions of a graph by its edges, or of a grid, which balls are too slow to confirm the formulas of."""


@pytest.mark.parametrize("text", EDGES)
def test_formulas_with_sums_over_edges_are_compared_at_all_entries(text: str) -> None:
    """Each entry has few of the terms, which stand together once they are sorted by the places that they are at."""
    draw, nodes, edges = np.random.default_rng(0), 1500, 3000
    at: dict[str, Any] = {"x": draw.uniform(0.5, 1.5, nodes), "w": draw.uniform(0.5, 1.5, edges)}
    at |= {name: draw.integers(0, nodes, edges) for name in "ij"}
    given = {name: at[name] for name in Function(text).variables}
    found = getattr(Function(text), EDGES[text])(given, wrt=["x"], sparse=True)
    assert found.check.proven
    formula = found.symbolic["x"] if EDGES[text] == "jacobian" else found.symbolic["x"]["x"]
    assert "KroneckerDelta" in formula.text
    assert formula.note == ""


def test_a_sum_over_positions_has_the_terms_of_each_entry_alone() -> None:
    """Also where there are terms between those of the entries; over one index, and over two."""
    k, m, n = sympy.symbols("k m n", integer=True)
    i, w = sympy.symbols("i w", real=True)
    at, weight = (sympy.IndexedBase(one)[m] for one in (i, w))
    env = {i: np.array([0.0, 1, 2, 1, 4]), w: np.array([1.0, 10, 100, 1000, 10000])}
    one = sympy.Sum(weight * sympy.KroneckerDelta(k, at), (m, 0, 4))
    two = sympy.Sum(weight * sympy.KroneckerDelta(k, at + 5 * n), (m, 0, 4), (n, 0, 1))
    assert values_at(one, {k: np.array([0, 2, 4])}, env).tolist() == [1, 100, 10000]
    assert values_at(one, {k: np.array([4, 1, 1])}, env).tolist() == [10000, 1010, 1010]
    assert values_at(two, {k: np.array([0, 3, 6])}, env).tolist() == [1, 0, 1010]


def test_a_wrong_formula_over_edges_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is wrong in one of three thousand terms, where balls confirm none."""
    derive = sparse._derived
    draw, nodes, edges = np.random.default_rng(0), 1500, 3000
    at: dict[str, Any] = {"x": draw.uniform(0.5, 1.5, nodes), "w": draw.uniform(0.5, 1.5, edges)}
    at |= {name: draw.integers(0, nodes, edges) for name in "ij"}

    def changed(structure: Any) -> Derived:
        found = derive(structure)
        derivative = found.blocks["", "x"]
        assert not isinstance(derivative, str)
        ((case, expression),) = derivative.cases
        row = derivative.rows[0]
        more = sympy.Piecewise((1, sympy.Eq(row, 777)), (0, True)) * sympy.KroneckerDelta(row, derivative.columns[0])
        object.__setattr__(derivative, "cases", ((case, expression + more),))
        return found

    monkeypatch.setattr(sparse, "_derived", changed)
    found = Function(next(iter(EDGES))).jacobian(at, wrt=["x"], sparse=True)
    assert isinstance(found, SparseJacobian)
    assert found.symbolic == {}

"""Entries that bounds on whole arrays prove: at the sizes that people have, and never one that is wrong."""

from typing import Any

import numpy as np
import pytest

from gradcli import Function
from gradcli.autodiff import jacobians
from gradcli.progress import budget
from tests.checks import check_of
from tests.crosscheck.asking import asked
from tests.examples import all_but, examples


def _normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


LARGE: dict[str, tuple[str, dict[str, Any]]] = {
    "a network": (
        "cross_entropy(W2@relu(W1@x + b1) + b2, t)",
        {
            "W1": _normal(32, 784) / 28,
            "b1": _normal(32, seed=1),
            "W2": _normal(10, 32) / 6,
            "b2": _normal(10, seed=2),
            "x": _normal(784, seed=3),
            "t": np.eye(10)[3],
        },
    ),
    "attention": ("sum((softmax(Q@K.T/4, 1)@V)**2)", {n: _normal(64, 32, seed=s) for s, n in enumerate("QKV")}),
    "an inverse": ("sum(inv(A))", {"A": _normal(20, 20) + 5 * np.eye(20)}),
    "regression": (
        "mean((X@w - y)**2)",
        {"X": _normal(1000, 20), "w": _normal(20, seed=1), "y": _normal(1000, seed=2)},
    ),
    "a running sum": ("sum(cumsum(x)**2)", {"x": _normal(1000)}),
    "softmax": ("softmax(x)@w", {"x": _normal(50_000), "w": _normal(50_000, seed=1)}),
    "norm": ("norm(x)", {"x": _normal(1_000_000)}),
    "logsumexp": ("logsumexp(x, 0)", {"x": _normal(1_000_000)}),
}


@pytest.mark.parametrize("name", all_but(LARGE, 1, 4))
@pytest.mark.one_in(3)
def test_every_entry_is_proved_at_the_sizes_that_people_have(name: str) -> None:
    """Of the gradient, with y."""
    text, at = LARGE[name]
    check = asked("grad", text, at)
    assert (check.verdict, check.proven, check.sampled) == ("agree", True, False)
    assert check.checked == check.entries == sum(np.size(value) for value in at.values())


_KERNEL = "K = t[0]*exp(-(X[:, None] - X[None, :])**2/(2*t[1]**2)) + t[2]*eye(50)"
_SAMPLES = {"t": np.array([1.0, 0.7, 0.1]), "X": np.linspace(0, 5, 50), "Y": np.sin(np.linspace(0, 5, 50))}


@pytest.mark.parametrize(
    ("text", "at", "wrt"),
    [
        (f"{_KERNEL}; -dot(Y, solve(K, Y))/2 - logdet(K)/2", _SAMPLES, ["t"]),
        (
            f"{_KERNEL}; L = cholesky(K); -sum(Y[:, None]*cholesky_solve(Y[:, None], L))/2 - sum(log(diagonal(L)))",
            _SAMPLES,
            ["t"],
        ),
        ("sum(log(diagonal(cholesky(A@A.T/60 + eye(60)))))", {"A": _normal(60, 60)}, ["A"]),
        ("norm(A, 'nuc')", {"A": _normal(20, 20)}, ["A"]),
        ("eigvalsh(A + A.T)[-1]", {"A": _normal(20, 20)}, ["A"]),
    ],
)
@pytest.mark.one_in(3)
def test_factors_and_spectra_of_everyday_matrices_are_proved(text: str, at: dict[str, Any], wrt: list[str]) -> None:
    """Likelihoods of Gaussian processes, and functions of eigenvalues: all entries of the gradient."""
    check = asked("grad", text, at, wrt=wrt)
    assert (check.verdict, check.proven, check.checked) == ("agree", True, sum(np.size(at[name]) for name in wrt))


def test_where_digits_are_lost_in_all_entries_some_are_given() -> None:
    """A variance far from 0: torch's mean is off by a rounding, which all derivatives show."""
    check = asked("grad", "var(x)", {"x": _normal(50_000) + 1e8})
    assert (check.verdict, check.undecided) == ("inaccurate", 0)
    assert all("digits survive" in finding.note for finding in check.findings)
    assert any("more entries are inaccurate" in note for note in check.notes)


def test_a_stencil_of_many_elements_has_its_formula_and_its_verdict() -> None:
    """Broyden's tridiagonal function, which touches its neighbours alone."""
    text = "(3-2*x)*x - cat([zeros(1), x[:-1]]) - 2*cat([x[1:], zeros(1)]) + 1"
    answer = Function(text).vjp({"x": _normal(200_000)}, "ones")
    assert (check_of(answer).verdict, check_of(answer).proven, check_of(answer).checked) == ("agree", True, 200_000)
    assert "δ[i,j]" in answer.symbolic["x"].pretty


def test_a_large_jacobian_is_proved_row_by_row() -> None:
    """All of its entries, and vᵀJ beside it."""
    check = asked("jacobian", "softmax(x)", {"x": _normal(150)})
    assert (check.verdict, check.proven, check.checked) == ("agree", True, 22_500)
    check = asked("vjp", "softmax(x)", {"x": _normal(90)}, v="ones")
    assert check.checked == 8_100


def test_what_bounds_leave_open_balls_look_at() -> None:
    """A kink among thousands is one, and all else is proved."""
    x = _normal(5_000)
    x[1234] = 0
    check = asked("grad", "sum(relu(x)**2 + abs(x))", {"x": x})
    assert check.verdict == "kink"
    assert [finding.column for finding in check.findings] == [(1234,)]
    assert (check.checked, check.sampled) == (5_000, False)


def test_more_time_is_for_more_entries() -> None:
    """Entries that bounds leave open, as the truth is 0 and torch's numbers are what is left of terms that cancel."""
    x = _normal(60, 20) + 3
    function = Function("sum(x/x.sum(1, keepdim=True))")
    usual = check_of(function.grad({"x": x}))
    with budget(60):
        patient = check_of(function.grad({"x": x}))
    assert usual.checked < patient.checked == patient.entries
    assert (usual.sampled, patient.sampled) == (True, False)


@pytest.mark.parametrize(
    ("dtype", "size"),
    [("float64", 1e-6), ("float32", 3e-4), ("float64", 1.0), ("float32", np.inf), ("float64", np.nan)],
)
@pytest.mark.one_in(2)
def test_an_error_is_never_proved(dtype: Any, size: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted in any entry, small or large, it alone is found."""
    right, generator = jacobians.vjp, np.random.default_rng(0)
    planted: list[Any] = []

    def wrong(*arguments: Any) -> dict[str, Any]:
        found = right(*arguments)
        name = str(generator.choice(["A", "x"]))
        place = name, tuple(int(generator.integers(n)) for n in found[name].shape)
        planted[:] = planted or [place]  # what is asked for afterwards is another form, or float32
        found[name][place[1]] *= 1 + size
        return found

    monkeypatch.setattr(jacobians, "vjp", wrong)
    at = {"A": _normal(30, 30) / 10, "x": _normal(30, seed=1)}
    for _ in range(examples(8)):
        planted.clear()
        check = asked("grad", "sum(softmax(A@x)*x)", at, dtype)
        expected = "disagree" if np.isfinite(size) else "nan-trap"
        assert check.verdict in (expected, "inaccurate" if dtype == "float32" else expected)
        assert [(f.variable, f.column) for f in check.findings if f.verdict == check.verdict] == planted

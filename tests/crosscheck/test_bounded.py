"""Entries that bounds on whole arrays prove: at the sizes that people have, and never one that is wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradcli import Function
from gradcli.crosscheck.bounded import prove
from gradcli.crosscheck.compare import TOLERANCE
from gradcli.crosscheck.point import Point, Torch
from gradcli.language.program.expansion import in_primitives
from gradcli.language.program.shapes import infer
from gradcli.language.snippets import read
from gradcli.progress import budget
from gradcli.questions.question import Inquiry, Question, prepare


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


@pytest.mark.parametrize("name", LARGE)
def test_every_entry_is_proved_at_the_sizes_that_people_have(name: str) -> None:
    """Of the gradient, with y."""
    text, at = LARGE[name]
    check = Function(text).grad(at).check
    assert check is not None
    assert (check.verdict, check.proven, check.sampled) == ("agree", True, False)
    assert check.checked == check.entries == sum(np.size(value) for value in at.values())


def test_a_stencil_of_a_million_has_its_formula_and_its_verdict() -> None:
    """Broyden's tridiagonal function, which touches its neighbours alone."""
    text = "(3-2*x)*x - cat([zeros(1), x[:-1]]) - 2*cat([x[1:], zeros(1)]) + 1"
    answer = Function(text).vjp({"x": _normal(1_000_000)}, "ones")
    assert answer.check is not None
    assert (answer.check.verdict, answer.check.proven, answer.check.checked) == ("agree", True, 1_000_000)
    assert "δ[i,j]" in answer.symbolic["x"].pretty


def test_a_large_jacobian_is_proved_row_by_row() -> None:
    """All of its entries, and vᵀJ beside it."""
    check = Function("softmax(x)").jacobian({"x": _normal(150)}).check
    assert check is not None
    assert (check.verdict, check.proven, check.checked) == ("agree", True, 22_500)
    check = Function("softmax(x)").vjp({"x": _normal(90)}, "ones").check
    assert check is not None
    assert check.checked == 8_100


def _asked(text: str, at: dict[str, Any], dtype: Any = None) -> tuple[Question, Torch]:
    question = prepare(Inquiry(text, read(text), at, dtype=dtype))
    from gradcli.autodiff.jacobians import vjp

    v = np.ones(question.shape)
    return question, Torch(question.dtype, question.value, None, v, vjp(question.forward, v, question.wrt))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("size", [1e-6, 3e-4, 1.0, np.inf, np.nan])
def test_an_error_is_never_proved(dtype: Any, size: float) -> None:
    """Whichever entry it is planted in, small or large, in the gradient or in y."""
    if dtype == "float32" and size < 1e-4:
        pytest.skip("within the tolerance of float32")
    question, torch = _asked("sum(softmax(A@x)*x)", {"A": _normal(30, 30), "x": _normal(30, seed=1)}, dtype)
    assert torch.vjp is not None
    tolerance = TOLERANCE[question.dtype]
    generator = np.random.default_rng(0)
    whole = prove(question.point, torch, question.point.program.variables, tolerance)
    assert whole is not None
    for _ in range(20):
        name = str(generator.choice(["A", "x"]))
        wrong = torch.vjp[name].copy()
        place = tuple(int(generator.integers(n)) for n in wrong.shape)
        wrong[place] *= 1 + size
        found = prove(
            question.point, replace(torch, vjp={**torch.vjp, name: wrong}), question.point.program.variables, tolerance
        )
        assert found is not None
        flat = int(np.ravel_multi_index(place, wrong.shape))
        assert not found.blocks[name][0, flat]
        assert found.blocks[name].sum() >= whole.blocks[name].sum() - 1
    lost = replace(torch, value=torch.value * (1 + size))
    found = prove(question.point, lost, question.point.program.variables, tolerance)
    assert found is not None
    assert not found.value.any()


def test_a_derivative_where_y_has_no_value_is_not_proved() -> None:
    """Though what flows back is known."""
    question, torch = _asked("log(x)*0 + x", {"x": [-1.0, 2.0]})
    found = prove(question.point, torch, question.point.program.variables, TOLERANCE["float64"])
    assert found is None or not found.blocks["x"].any()


def test_what_bounds_leave_open_balls_look_at() -> None:
    """A kink among thousands is one, and all else is proved."""
    x = _normal(5_000)
    x[1234] = 0
    check = Function("sum(relu(x)**2 + abs(x))").grad({"x": x}).check
    assert check is not None
    assert check.verdict == "kink"
    assert [finding.column for finding in check.findings] == [(1234,)]
    assert (check.checked, check.sampled) == (5_000, False)


def test_more_time_is_for_more_entries() -> None:
    """What bounds leave open, as the truth is 0 and torch's numbers are what is left of terms that cancel."""
    x = _normal(60, 20) + 3
    function = Function("sum(x/x.sum(1, keepdim=True))")
    usual = function.grad({"x": x}).check
    with budget(60):
        patient = function.grad({"x": x}).check
    assert usual is not None
    assert patient is not None
    assert usual.checked < patient.checked == patient.entries
    assert (usual.sampled, patient.sampled) == (True, False)


def test_what_would_take_too_long_or_too_much_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """Matrix products of billions of terms, and Jacobians of which a byte an entry is too much."""

    def never(*arguments: object) -> None:
        raise AssertionError("it was begun")

    monkeypatch.setattr("gradcli.crosscheck.bounded.Values", never)
    for text, at in (("A@B", {"A": (2_000, 2_000), "B": (2_000, 2_000)}), ("x**2", {"x": (5_000,)})):
        program = in_primitives(read(text).program)
        shapes = infer(program, {symbol: at[str(symbol)] for symbol in program.variables})
        inputs = {name: np.broadcast_to(1.0, shape) for name, shape in at.items()}
        point = Point(program, shapes, program, shapes, inputs)
        y = np.broadcast_to(1.0, shapes[program.output])
        blocks = {name: np.broadcast_to(1.0, (*y.shape, *shape)) for name, shape in at.items()}
        torch = Torch("float64", y, blocks)
        assert prove(point, torch, program.variables, TOLERANCE["float64"]) is None

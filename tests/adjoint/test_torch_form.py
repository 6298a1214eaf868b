"""The gradient in torch's form: autograd's numbers at kinks, at the edges of domains, and far out, for every row."""

import itertools
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch

from gradcli.adjoint.gradient import gradient
from gradcli.adjoint.row_rules import in_torch_form
from gradcli.adjoint.tidying import tidied
from gradcli.language import ops
from gradcli.language.inputs import read_value
from gradcli.language.ops import Kind
from gradcli.language.program.shapes import infer
from gradcli.questions.bound_function import BoundFunction, FunctionWithValues
from gradcli.questions.gradients import SEED, gradient_of, numbers_of
from gradcli.questions.text_reading import read
from tests.examples import own_rules

ONE = [-1000.0, -6, -3, -2.5, -2, -1, -0.5, -1 / 3, 0, 1 / 3, 0.5, 1, 1.5, 2, 3, 6, 20, 1000]
"""Values of a function of one variable: kinks, ends of pieces, and where exponentials overflow."""

SEVERAL = [-2.0, -1, 0, 0.5, 1, 2]
"""Values of each variable of others, which tie with each other."""

OTHERS = {
    "floor_divide": "torch has no derivative; floor(a/b) is run, whose derivative is 0*inf at b = 0",
    "rounded_div": "the same",
    "norm_logcdf": "torch runs its definition, which is -inf far out",
}
"""Rows with other numbers than torch's, and why."""


def _question(text: str, at: Mapping[str, Any]) -> BoundFunction:
    return FunctionWithValues(text, read(text), at, check=False).bind()


def _require_torchs(bound: BoundFunction, *, by_inverses: bool = True) -> None:
    v = np.random.default_rng(0).uniform(1, 2, bound.shape)
    expected = bound.product(v)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = numbers_of(gradient_of(bound, by_inverses=by_inverses), bound, v)
    for name in bound.wrt:
        known = np.isfinite(expected[name])
        scale = np.abs(expected[name][known]).max(initial=1e-300)
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-9, atol=1e-12 * scale, err_msg=name)


def _at_kinks(op: ops.Op) -> Mapping[str, Any]:
    _, at = op.worked_example
    values = ONE if len(at) == 1 else SEVERAL
    points = np.array([*itertools.product(values, repeat=len(at))])
    return dict(zip(at, points.T, strict=True))


ELEMENTWISE = [op for op in ops.TABLE.values() if op.kind is Kind.ELEMENTWISE and op.name not in OTHERS]


@pytest.mark.parametrize("op", own_rules(ELEMENTWISE, 2), ids=lambda op: op.name)
def test_elementwise_rows_have_torchs_numbers_at_kinks_and_far_out(op: ops.Op) -> None:
    """On all combinations of values."""
    bound = _question(op.worked_example[0], _at_kinks(op))
    if bound.wrt:
        _require_torchs(bound)


TIES: list[tuple[str, dict[str, str]]] = [
    ("relu(x)", {"x": "0"}),
    ("clamp(x, 0, 1)", {"x": "0,1"}),
    ("clamp(x, y, 1)", {"x": "0,1,2", "y": "0,1,2"}),
    ("x.clamp(min=-5)", {"x": "-5"}),
    ("hardtanh(x, -2, 2)", {"x": "-2,2"}),
    ("norm(x)", {"x": "0,0"}),
    ("norm(A, dim=1)", {"A": "[[0,0],[3,4]]"}),
    ("norm(x, 1)", {"x": "0,1"}),
    ("norm(x, inf)", {"x": "2,-2,1"}),
    ("std(x)", {"x": "1,1,1"}),
    ("std(A, dim=1, keepdim=True)", {"A": "[[1,1],[1,3]]"}),
    ("prod(x)", {"x": "0,2,3"}),
    ("prod(x)", {"x": "0,2,0"}),
    ("prod(A, dim=0)", {"A": "[[0,2],[3,0]]"}),
    ("cumprod(x, 0)", {"x": "2,0,3,0"}),
    ("amax(x)", {"x": "2,2,1"}),
    ("amin(A, dim=1)", {"A": "[[1,1],[1,3]]"}),
    ("cummax(x, 0)", {"x": "1,1,0"}),
    ("maximum(x, 1)*minimum(x, 1)", {"x": "0,1,2"}),
    ("cdist(A, A)[0]", {"A": "[[1,2],[4,6]]"}),
    ("softmax(x, 0)", {"x": "1000,0"}),
    ("log_softmax(x, 0)", {"x": "1000,0"}),
    ("logsumexp(A, 1)", {"A": "[[1000,0],[1,2]]"}),
    ("logaddexp(x, y)", {"x": "1000", "y": "1000"}),
    ("x**0 + 0**y", {"x": "0", "y": "2"}),
    ("where(x > 0, sqrt(x), 0)", {"x": "-1,0,4"}),
    ("binary_cross_entropy(x, y)", {"x": "0,1", "y": "0,1"}),
]
"""Points at which torch chooses a derivative, or where the gradient of a definition overflows or divides by 0."""


@pytest.mark.parametrize(("text", "at"), TIES, ids=[f"{text} {at}" for text, at in TIES])
def test_ties_have_torchs_numbers(text: str, at: dict[str, str]) -> None:
    """Reductions and others too."""
    _require_torchs(_question(text, at))


def test_the_gradient_of_a_singular_determinant_is_torchs_without_inverses() -> None:
    """Which is 0, where mathematics has cofactors; also of several matrices."""
    for matrix in ("[[1,2],[2,4]]", "[[[1,2],[2,4]],[[1,2],[3,4]]]"):
        _require_torchs(_question("det(A)", {"A": matrix}), by_inverses=False)
    _require_torchs(_question("det(A)", {"A": "[[[1,2],[2,5]],[[1,2],[3,4]]]"}))


REST = [op for op in ops.TABLE.values() if op.kind not in (Kind.ELEMENTWISE, Kind.INLINED)]


@pytest.mark.parametrize("op", own_rules(REST, 1), ids=lambda op: op.name)
@pytest.mark.one_in(2)
def test_other_rows_have_torchs_numbers_at_their_examples(op: ops.Op) -> None:
    """Those that are expanded to primitives, and those with an adjoint of their own."""
    text, at = op.worked_example
    bound = _question(text, {name: read_value(value, "--at") for name, value in at.items()})
    if bound.wrt and bound.forward.output.requires_grad:
        _require_torchs(bound)


@pytest.mark.parametrize("op", [op for op in ops.TABLE.values() if op.adjoints], ids=lambda op: op.name)
def test_a_wrong_adjoint_of_a_row_is_found(op: ops.Op, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is a thousandth too large."""
    from gradcli.adjoint import row_rules

    wrong = {name: f"1.001*({text})" for name, text in op.adjoints.items()}
    monkeypatch.setattr(row_rules, "adjoint_meanings", lambda *_: wrong)
    for known in (row_rules._meaning, row_rules._in_floats):
        known.cache_clear()
    text, at = op.worked_example
    given = _at_kinks(op) if op.kind is Kind.ELEMENTWISE else {k: read_value(a, "--at") for k, a in at.items()}
    with pytest.raises(AssertionError):
        _require_torchs(_question(text, given))
    for known in (row_rules._meaning, row_rules._in_floats):
        known.cache_clear()


SHORTER = [
    ("sum(x)*2", {"x": "1,2,3"}),
    ("[x[0]*x[1], x[0] + x[1]]", {"x": "3,5"}),
    ("sum((A@x - 1)**2)", {"A": "[[1,2],[3,4]]", "x": "1,2"}),
    ("p = softmax(x); -sum(t*log(p))", {"x": "1,2,3", "t": "0,0,1"}),
    ("2**-x", {"x": "1.1,2.3"}),
    ("mean(A, dim=0)*x", {"A": "[[1,2],[3,4]]", "x": "1,2"}),
]


@pytest.mark.parametrize(("text", "at"), SHORTER, ids=[text for text, _ in SHORTER])
def test_a_tidied_gradient_is_shorter_and_has_the_same_numbers(text: str, at: dict[str, str]) -> None:
    """In torch, to the last bits."""
    bound = _question(text, at)
    program = in_torch_form(bound.program)
    inputs = {symbol: bound.shapes[symbol] for symbol in program.variables}
    shapes = {**infer(program, inputs), SEED: bound.shape}
    wrt = [symbol for symbol in program.variables if str(symbol) in bound.wrt]
    first = gradient(program, shapes, wrt, {program.output: SEED})
    second = tidied(first)
    assert len(second.program.lines) < len(first.program.lines)
    v = np.random.default_rng(1).normal(size=bound.shape)
    for name, found in numbers_of(second, bound, v).items():
        torch.testing.assert_close(torch.tensor(found), torch.tensor(numbers_of(first, bound, v)[name]))

"""The gradient of a Program, evaluated in torch, against torch's autograd; and that of the gradient."""

from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pytest
import sympy
import torch
from flint import arb

from gradcli.adjoint import matrix_rules
from gradcli.adjoint.gradient import GradientProgram, gradient
from gradcli.adjoint.writing import ONE
from gradcli.autodiff.run import evaluate, output_of
from gradcli.language import ops
from gradcli.language.inputs import read_value
from gradcli.language.ops import Kind
from gradcli.language.parsing import parse
from gradcli.language.program.expansion import expand
from gradcli.language.program.shapes import infer, shapes_in
from gradcli.language.program.wengert import Program
from gradcli.questions.text_reading import ask_torch
from gradcli.reference.enclosure_plan import Reference
from gradcli.reference.rules import Undefined
from tests.examples import in_turn

Inputs = Mapping[str, Any]

V = sympy.Symbol("v of y", real=True)

FORMS: dict[str, dict[str, bool]] = {
    "as torch": {},
    "with masks": {"masks": True},
    "with masks and guards": {"masks": True, "guards": True},
}
"""The forms of a gradient, equal away from kinks and edges."""


def _numbers(*shape: int, seed: int = 0, low: float = 0.5, high: float = 2.0) -> Any:
    return np.random.default_rng(seed).uniform(low, high, shape)


x, y, w = _numbers(5), _numbers(5, seed=1, low=-1), _numbers(3, seed=2, low=-1)
A, B, I = _numbers(3, 3, seed=3, low=-1), _numbers(2, 3, 4, seed=4, low=-1), _numbers(1, 2, 6, 6, seed=5, low=-1)  # noqa: E741
K = _numbers(3, 2, 2, 3, seed=6)
G, M = _numbers(2, 3, 3, seed=8, low=-1), _numbers(6, 6, seed=9, low=-1)

CASES: list[tuple[str, dict[str, Any]]] = [
    ("x**2", {"x": x}),
    ("sum(sin(x)*exp(x))", {"x": x}),
    ("x*y[:, None]", {"x": x, "y": y}),
    ("w*A - A/w + 2", {"w": w, "A": A}),
    ("relu(y) + abs(y)", {"y": y}),
    ("x**y", {"x": x, "y": y}),
    ("x % 2 + floor(x)*x", {"x": x}),
    ("where(x > 1, sqrt(x), x**3)", {"x": x}),
    ("maximum(x, y)*minimum(x, 2*y)", {"x": x, "y": y}),
    ("clamp(x, 0.7, 1.5)", {"x": x}),
    ("detach(x)*x", {"x": x}),
    ("(x > 1)*x**2", {"x": x}),
    # sums and their kin
    ("sum(B**2, dim=1)", {"B": B}),
    ("sum(B**2, dim=(0, 2), keepdim=True)", {"B": B}),
    ("mean(x)*x.shape[0]", {"x": x}),
    ("cumsum(x**2, 0)", {"x": x}),
    ("var(B)", {"B": B}),
    ("softmax(B, 1)", {"B": B}),
    ("logsumexp(B, 1)", {"B": B}),
    ("layer_norm(B, (4,))", {"B": B}),
    ("norm(x)", {"x": x}),
    # products and extremes, with zeros among the factors
    ("prod(x)", {"x": x}),
    ("prod(x)", {"x": x * [1, 0, 1, 1, 1]}),
    ("prod(x)", {"x": x * [1, 0, 1, 0, 1]}),
    ("prod(B, dim=1)", {"B": B}),
    ("prod(A[:, :1], dim=1) + prod(A[:, :2], dim=1)", {"A": A}),
    ("prod(cat([x, y, x*y]))", {"x": x, "y": y}),
    ("amax(cat([x, y, x*y])[:11])", {"x": x, "y": y}),
    ("cumprod(x, 0)", {"x": x}),
    ("cumprod(x, 0)", {"x": x * [1, 0, 1, 1, 1]}),
    ("cumprod(x, 0)", {"x": x * [1, 0, 1, 0, 1]}),
    ("cumprod(B, 2)", {"B": B}),
    ("amax(B, dim=(0, 2))", {"B": B}),
    ("amin(x)", {"x": x}),
    ("cummax(x, 0)", {"x": x}),
    ("cummin(B, 1)", {"B": B}),
    ("sum(sorted(x)*y)", {"x": x, "y": y}),
    # elements that are put elsewhere
    ("x[::2]", {"x": x}),
    ("x[::-2]", {"x": x}),
    ("x[3]*x", {"x": x}),
    ("B[0, ::-1, 1:3]", {"B": B}),
    ("B[:, None, 1, ...]", {"B": B}),
    ("B[1, :, -1]", {"B": B}),
    ("x[[0, 0, 2, 0]]", {"x": x}),
    ("B[:, [2, 0]]", {"B": B}),
    ("x[0:0]", {"x": x}),
    ("x[[4, 0, 0, 1, 0, 0, 0, 1]]", {"x": x}),
    ("B[:, None, [2, 0, 2], ::-2]", {"B": B}),
    ("B[1:, :, [3, 3, 3]]", {"B": B}),
    ("B[[1, 1], [2, 0], :]", {"B": B}),
    ("B[1, [2, 0, 2]]", {"B": B}),
    ("elements_at(x, [4, 0, 0])", {"x": x}),
    ("elements_at(B, [[2, 0], [1, 1]], 1)", {"B": B}),
    ("elements_at(B, [[2, 0, 0], [1, 3, 3]], 1, 2)", {"B": B}),
    ("sums_at(x, [3, 0, 3, 1, 3], 0, 4)", {"x": x}),
    ("sums_at(B, [1, 1, 4], 1, 5)", {"B": B}),
    ("sums_at(A, [[1, 0, 1], [2, 2, 2]], 0, 2, 3)", {"A": A}),
    ("roll(B, 1, 1)", {"B": B}),
    ("roll(B, (1, 2), (1, 2))", {"B": B}),
    ("roll(x, 2)", {"x": x}),
    ("diag(x)", {"x": x}),
    ("diag(A, 1)", {"A": A}),
    ("diag(A, -2) + diag(x[:2], -1)[1, 0]", {"A": A, "x": x}),
    ("diag(A, 5)", {"A": A}),
    ("diagonal(B, 0, 1, 2)", {"B": B}),
    ("diagonal(B, 1, 2, 0)", {"B": B}),
    ("diagonal(B, -2, 1, 2)", {"B": B}),
    ("pad(B, (1, -1, 2, 0))", {"B": B}),
    ("pad(x, (1, 1), value=3)", {"x": x}),
    ("tril(A) - triu(A, 1)**2", {"A": A}),
    ("stack([x, 2*x, 1])", {"x": x}),
    ("cat([x, x**2])", {"x": x}),
    ("flip(B, (0, 2))", {"B": B}),
    ("B.permute(2, 0, 1)", {"B": B}),
    ("B.flatten(1)", {"B": B}),
    ("A.T.reshape(9)", {"A": A}),
    ("expand(w, (2, 3))", {"w": w}),
    ("squeeze(unsqueeze(x, 0))", {"x": x}),
    ("conv2d(I, K[:, :, :, 1:])", {"I": I, "K": K}),
    ("conv2d(I, K, stride=2, dilation=2)", {"I": I, "K": K}),
    ("windows(x, 0, 3, 1, 2)", {"x": x}),
    ("windows(B, 1, 2, 2) + windows(B, 1, 2, 3)", {"B": B}),
    ("windows(x, 0, 1)", {"x": x}),
    ("max_pool2d(I, 2)", {"I": I}),
    ("max_pool2d(I, 3, 2, 1)", {"I": I}),
    ("avg_pool2d(I, 3, 2)", {"I": I}),
    # matrices
    ("A @ w", {"A": A, "w": w}),
    ("w @ A @ w", {"A": A, "w": w}),
    ("A @ B", {"A": A, "B": B}),
    ("(A @ w)[1:]", {"A": A, "w": w}),
    ("(w @ B)[:, 1:]*2", {"B": B, "w": w}),
    ("(A[None] @ B)[1, :, 2]", {"A": A, "B": B}),
    ("dot(w, w)", {"w": w}),
    ("einsum('bij,ik->bkj', B, A)", {"A": A, "B": B}),
    ("inv(A) @ w", {"A": A, "w": w}),
    ("solve(A, w)", {"A": A, "w": w}),
    ("det(A)", {"A": A}),
    ("logdet(A @ A.T + eye(3))", {"A": A}),
    ("cholesky(A @ A.T + eye(3))", {"A": A}),
    ("matrix_exp(A)", {"A": A}),
    # of batches
    ("inv(G)", {"G": G}),
    ("inv(G) @ w", {"G": G, "w": w}),
    ("solve(G, A)", {"G": G, "A": A}),
    ("det(G)*w[:2]", {"G": G, "w": w}),
    ("det(A[:2, :2]) + det(A[:1, :1])", {"A": A}),
    ("det(stack([M, M.T]))", {"M": M}),
    ("matrix_exp(G)", {"G": G}),
    ("cholesky(G @ transpose(G, -2, -1) + eye(3))", {"G": G}),
    ("eigvalsh(A + A.T)", {"A": A}),
    ("eigvalsh(G + transpose(G, -2, -1))*w", {"G": G, "w": w}),
    ("with_eigenvalues(A + A.T, w)", {"A": A, "w": w}),
    ("with_eigenvalues(G + transpose(G, -2, -1), w)", {"G": G, "w": w}),
]

WHOLE: list[tuple[str, dict[str, Any]]] = [
    ("cholesky(A @ A.T + eye(3))", {"A": A}),
    ("cholesky(A @ A.T + eye(3), upper=True)", {"A": A}),
    ("cholesky(G @ transpose(G, -2, -1) + eye(3))", {"G": G}),
    ("cholesky(G @ transpose(G, -2, -1) + eye(3), upper=True)", {"G": G}),
    ("eigvalsh(A + A.T)", {"A": A}),
    ("eigvalsh(G + transpose(G, -2, -1))*w", {"G": G, "w": w}),
    ("with_eigenvalues(A + A.T, w)", {"A": A, "w": w}),
    ("with_eigenvalues(G + transpose(G, -2, -1), w)", {"G": G, "w": w}),
]
"""Functions of matrices that are one operation, in the function and in its adjoints."""


def program_of(text: str, inputs: Inputs, kept: Container[str] = ()) -> tuple[Program, dict[Any, Any]]:
    """A text in primitives, or in these operations too, and the shapes of its symbols."""
    typed = parse(text, shapes={k: a.shape for k, a in inputs.items()}, ask=ask_torch)
    program = expand(typed, lambda call: call.op.is_primitive or call.op.name in kept)
    return program, infer(program, {s: inputs[str(s)].shape for s in program.variables})


def _in_torch(program: Program, leaves: Mapping[str, torch.Tensor]) -> Any:
    kept = {name: leaves[name] for name in program.names}
    return output_of(program, evaluate(program, kept, "float64"), "float64")


def _leaves(inputs: Inputs) -> dict[str, torch.Tensor]:
    return {name: torch.tensor(a, dtype=torch.float64, requires_grad=True) for name, a in inputs.items()}


def _weights(shape: tuple[int, ...]) -> Any:
    return np.random.default_rng(7).normal(size=shape)


def _gradient(program: Program, shapes: dict[Any, Any], form: str, **options: bool) -> GradientProgram:
    known = {**shapes, V: shapes[program.output]}
    return gradient(program, known, program.variables, {program.output: V}, **FORMS[form], **options)


def _close(found: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(
    ("text", "inputs", "form"), in_turn(CASES, *FORMS), ids=[f"{form}-{text}" for text, _ in CASES for form in FORMS]
)
def test_the_gradient_is_that_of_autograd(text: str, inputs: Inputs, form: str) -> None:
    """For a random v, by each variable, in each form."""
    require_that_of_autograd(*program_of(text, inputs), inputs, form)


@pytest.mark.parametrize(("text", "inputs"), WHOLE, ids=[text for text, _ in WHOLE])
def test_a_function_of_a_matrix_has_an_adjoint_as_one_line(text: str, inputs: Inputs) -> None:
    """As bounds of arrays take it; its first and second derivatives are those of autograd."""
    program, shapes = program_of(text, inputs, matrix_rules.OWN_ADJOINTS)
    assert matrix_rules.OWN_ADJOINTS & {line.call.op.name for line in program.lines} or "eigvalsh" in text
    require_that_of_autograd(program, shapes, inputs, "with masks and guards", keeps_defined=True)
    require_second_of_autograd(program, shapes, inputs, keeps_defined=True)


def require_that_of_autograd(
    program: Program, shapes: dict[Any, Any], inputs: Inputs, form: str, **options: bool
) -> None:
    """The gradient along random weights is that of autograd, by each variable."""
    leaves, v = _leaves(inputs), torch.tensor(_weights(shapes[program.output]))
    value = _in_torch(program, leaves)
    given = torch.autograd.grad(value, [*leaves.values()], v, allow_unused=True) if value.requires_grad else None
    expected = given or [None] * len(leaves)
    found = _gradient(program, shapes, form, **options)
    for (name, leaf), one in zip(leaves.items(), expected, strict=True):
        symbol = next(s for s in program.variables if str(s) == name)
        got = _in_torch(found.function(symbol), {**leaves, str(V): v}).detach()
        _close(got, torch.zeros_like(leaf) if one is None else one)


@pytest.mark.parametrize(("text", "inputs"), CASES, ids=[text for text, _ in CASES])
def test_the_gradient_of_the_gradient_is_that_of_autograd(text: str, inputs: Inputs) -> None:
    """Products of the Hessian of y @ v with a direction: the adjoints of the adjoints."""
    require_second_of_autograd(*program_of(text, inputs), inputs)


def require_second_of_autograd(program: Program, shapes: dict[Any, Any], inputs: Inputs, **options: bool) -> None:
    """The gradient of the gradient along random weights is that of autograd, by each variable."""
    leaves, v = _leaves(inputs), torch.tensor(_weights(shapes[program.output]))
    value = _in_torch(program, leaves)
    first = torch.autograd.grad(value, [*leaves.values()], v, create_graph=True, allow_unused=True)
    moving = [one for one in first if one is not None and one.requires_grad]
    us = [torch.tensor(np.random.default_rng(n).normal(size=one.shape)) for n, one in enumerate(moving)]
    expected = (
        torch.autograd.grad(moving, [*leaves.values()], us, allow_unused=True) if moving else [None] * len(leaves)
    )
    found = _gradient(program, shapes, "with masks", **options)
    ways = {name: u for (name, one), u in zip(leaves.items(), _zeros_for_none(first, us, leaves), strict=True)}
    seeds = {found.of[s]: sympy.Symbol(f"u of {s}", real=True) for s in program.variables if found.of[s].is_Symbol}
    shapes = {**found.shapes, **{u: found.shapes[g] for g, u in seeds.items()}}
    second = gradient(found.program, shapes, program.variables, seeds, masks=True, **options)
    given = {**leaves, str(V): v, **{f"u of {name}": u for name, u in ways.items()}}
    for name, one in zip(leaves, expected, strict=True):
        symbol = next(s for s in program.variables if str(s) == name)
        got = _in_torch(second.function(symbol), given).detach()
        _close(got, torch.zeros_like(leaves[name]) if one is None else one)


def _zeros_for_none(
    first: Sequence[Any], us: Sequence[torch.Tensor], leaves: Mapping[str, torch.Tensor]
) -> Iterator[torch.Tensor]:
    remaining = iter(us)
    for one, leaf in zip(first, [*leaves.values()], strict=True):
        moves = one is not None and one.requires_grad
        yield next(remaining) if moves else torch.zeros_like(leaf).detach()


@pytest.mark.parametrize("op", [op for op in ops.TABLE.values() if op.is_primitive], ids=lambda op: op.name)
def test_every_primitive_has_an_adjoint(op: ops.Op) -> None:
    """At its worked example, moved a little off round numbers."""
    if op.kind in (Kind.SOURCE, Kind.COUNT):
        pytest.skip("it has no operand to differentiate by")
    text, values = op.worked_example
    inputs = {name: np.asarray(read_value(value, "--at")) + 0.01 for name, value in values.items()}
    test_the_gradient_is_that_of_autograd(text, inputs, "as torch")


TIES = [
    ("maximum(x, y)", [0.5, 0.5]),
    ("amax(stack([x, y]))", [0.5, 0.5]),
    ("abs(x - y)", [0.0, 0.0]),
]


@pytest.mark.parametrize(("text", "expected"), TIES)
def test_a_guarded_gradient_is_nan_at_kinks_and_torchs_is_torchs(text: str, expected: list[float]) -> None:
    """At x = y = 1."""
    inputs = {"x": np.array(1.0), "y": np.array(1.0)}
    program, shapes = program_of(text, inputs)
    leaves = {**_leaves(inputs), str(V): torch.tensor(1.0, dtype=torch.float64)}
    for form, numbers in (("as torch", expected), ("with masks and guards", [np.nan] * 2)):
        found = _gradient(program, shapes, form)
        got = [_in_torch(found.function(s), leaves).item() for s in program.variables]
        np.testing.assert_array_equal(got, numbers)


def test_a_guarded_gradient_is_nan_where_what_an_extreme_does_not_take_jumps_over_it() -> None:
    """Of relu(where(x > 0, 5, x - 1)), which is 0 at x = 0 and 5 behind it; a kink below 0 does not matter."""
    for text, expected in (("relu(where(x > 0, 5, x - 1))", np.nan), ("relu(abs(x) - 1)", 0.0)):
        program, shapes = program_of(text, {"x": np.array(0.0)})
        (symbol,) = program.variables
        leaves = {**_leaves({"x": np.array(0.0)}), str(V): torch.tensor(1.0, dtype=torch.float64)}
        got = _in_torch(_gradient(program, shapes, "with masks and guards").function(symbol), leaves).item()
        np.testing.assert_array_equal(got, expected)


def test_masks_keep_what_is_not_taken_out_of_the_gradient() -> None:
    """Where torch multiplies 0 by the infinite slope of the branch that is not taken."""
    inputs = {"x": np.array([-1.0, 0.0, 4.0])}
    program, shapes = program_of("where(x > 0, sqrt(x), 0)", inputs)
    leaves = {**_leaves(inputs), str(V): torch.ones(3, dtype=torch.float64)}
    (symbol,) = program.variables
    by_form = {form: _in_torch(_gradient(program, shapes, form).function(symbol), leaves).tolist() for form in FORMS}
    assert np.isnan(by_form["as torch"][:2]).all()
    assert by_form["with masks"] == [0, 0, 0.25]


def test_the_derivative_by_v_is_the_product_with_j() -> None:
    """Ju as the derivative of vᵀJ by v, along u: for f = sin(x)*x."""
    inputs = {"x": x}
    program, shapes = program_of("sin(x)*x", inputs)
    (symbol,) = program.variables
    first = _gradient(program, shapes, "with masks")
    u = sympy.Symbol("u", real=True)
    second = gradient(first.program, {**first.shapes, u: (5,)}, [V], {first.of[symbol]: u}, masks=True)
    direction = _weights((5,))
    leaves = {**_leaves(inputs), str(V): torch.ones(5, dtype=torch.float64), "u": torch.tensor(direction)}
    product = second.function(V)
    found = _in_torch(product, leaves).detach().numpy()
    np.testing.assert_allclose(found, (np.cos(x) * x + np.sin(x)) * direction, rtol=1e-12)
    assert shapes_in(product, second.shapes)[product.output] == (5,)


SINGULAR = [
    [[0.0]],
    [[1.0, 2.0], [2.0, 4.0]],
    [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.0, 1.0, 1.0]],
    [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [3.0, 6.0, 9.0]],
    (np.arange(16.0).reshape(4, 4) ** 2 % 7 * [1, 1, 0, 1]).tolist(),
    (np.arange(25.0).reshape(5, 5) ** 2 % 7 * [1, 1, 0, 1, 0]).tolist(),
]


def _leibniz(matrix: torch.Tensor) -> torch.Tensor:
    """Compute a determinant as the sum over all permutations."""
    order = len(matrix)
    terms = []
    for chosen in permutations(range(order)):
        sign = (-1) ** sum(chosen[i] > chosen[j] for i in range(order) for j in range(i + 1, order))
        terms.append(sign * torch.stack([matrix[i, j] for i, j in enumerate(chosen)]).prod())
    return torch.stack(terms).sum()


@pytest.mark.parametrize("matrix", SINGULAR, ids=str)
def test_a_determinant_has_derivatives_at_singular_matrices(matrix: list[list[float]]) -> None:
    """The first and second are those of the sum over permutations; torch's first is 0."""
    inputs = {"A": np.array(matrix)}
    program, shapes = program_of("det(A)", inputs)
    leaves = {**_leaves(inputs), str(V): torch.tensor(1.0, dtype=torch.float64)}
    (symbol,), leaf = program.variables, leaves["A"]
    (first,) = torch.autograd.grad(_leibniz(leaf), leaf, create_graph=True)
    for form in ("with masks", "with masks and guards"):
        _close(_in_torch(_gradient(program, shapes, form).function(symbol), leaves).detach(), first.detach())
    of_torch = torch.autograd.grad(torch.linalg.det(leaf), leaf)[0]
    _close(_in_torch(_gradient(program, shapes, "as torch").function(symbol), leaves).detach(), of_torch)
    u, found = sympy.Symbol("u", real=True), _gradient(program, shapes, "with masks")
    direction = torch.tensor(_weights(np.shape(matrix)))
    expected = torch.autograd.grad(first, leaf, direction, allow_unused=True)[0] if first.requires_grad else None
    if found.of[symbol].is_Symbol:
        known = {**found.shapes, u: np.shape(matrix)}
        second = gradient(found.program, known, [symbol], {found.of[symbol]: u}, masks=True).function(symbol)
        got = _in_torch(second, {**leaves, "u": direction}).detach()
        _close(got, torch.zeros_like(leaf) if expected is None else expected)


def test_the_gradient_of_a_lookup_grows_with_the_table_and_the_positions_alone() -> None:
    """1,000 rows of 50,000, one of them 500 times: the lines together have a few times as many elements."""
    rows = np.r_[np.full(500, 7), np.random.default_rng(0).integers(0, 50_000, 500)].tolist()
    program, shapes = program_of(f"W[{rows}]", {"W": np.broadcast_to(0.0, (50_000, 64))})
    found = _gradient(program, shapes, "with masks and guards")
    function = found.function(program.variables[0])
    assert len(function.lines) < 50
    sizes = [int(np.prod(found.shapes.get(line.symbol, ()))) for line in function.lines]
    assert sum(sizes) < 3 * 50_000 * 64
    v = np.random.default_rng(1).normal(size=(1_000, 64))
    expected = np.zeros((50_000, 64))
    np.add.at(expected, rows, v)
    _close(_in_torch(function, {str(V): torch.tensor(v)}), torch.tensor(expected))


@pytest.mark.parametrize(
    ("text", "matrix"),
    [
        ("sum(eigvalsh(A)*[1, 2, 4])", [[2.0, 0.5, 0.3], [0.5, 3.0, -0.7], [0.3, -0.7, -1.0]]),
        ("sum(eigvalsh(A)**3)", [[2.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 1.0]]),
        ("det(A)", SINGULAR[3]),
        ("det(A)", SINGULAR[4]),
        ("sum(cholesky(A))", [[4.0, 1.0, 2.0], [1.0, 5.0, 1.0], [2.0, 1.0, 9.0]]),
        ("sum(inv(A)**2)", [[4.0, 1.0], [3.0, 5.0]]),
        ("sum(matrix_exp(A)*A)", [[0.4, 1.0], [0.3, -0.5]]),
    ],
)
def test_balls_enclose_the_hessian_by_tangents_of_the_gradient(text: str, matrix: list[list[float]]) -> None:
    """In primitives, which are all that balls know; the truth is autograd's, of a determinant by its permutations."""
    inputs = {"A": np.array(matrix)}
    program, shapes = program_of(text, inputs)
    (symbol,) = program.variables
    first = gradient(program, shapes, [symbol], {program.output: ONE}, masks=True).function(symbol)
    assert all(line.call.op.is_primitive for line in first.lines)
    size = len(matrix) ** 2
    known = infer(first, {symbol: np.shape(matrix)})
    found = Reference(first, known, inputs).plan([(symbol, j) for j in range(size)]).run(256).columns
    leaves = _leaves(inputs)

    def function(a: torch.Tensor) -> torch.Tensor:
        return _leibniz(a) if text == "det(A)" else _in_torch(program, {"A": a})

    hessian = torch.autograd.functional.hessian(function, leaves["A"])  # type: ignore[no-untyped-call]
    expected = hessian.reshape(size, size).numpy()
    for i, j in np.ndindex(size, size):
        one = found.get((symbol, j), {}).get(i, arb(0))
        assert not isinstance(one, Undefined)
        np.testing.assert_allclose(float(one.mid()), expected[i, j], rtol=1e-9, atol=1e-9)

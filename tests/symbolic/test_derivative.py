"""Formulas against brute force: every entry, at sizes that are numbers and at sizes that are symbols."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
import pytest
import sympy
from flint import arb

from gradcli import Function
from gradcli.language.parsing import parse
from gradcli.language.program.expansion import in_primitives
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Shape
from gradcli.reference.compiling import compile_ball, environment
from gradcli.symbolic.derivative import Derivative, differentiate
from gradcli.symbolic.element import NoFormulaError
from gradcli.symbolic.printing import formula
from tests.work import counted

N, M = 5, 3
LARGE_N, LARGE_M = 19, 17

COLLAPSES: list[tuple[str, dict[str, str]]] = [
    ("x**2", {"x": "n"}),
    ("sum(x)", {"x": "n"}),
    ("sum(w*x**2)", {"w": "n", "x": "n"}),
    ("exp(x)/sum(exp(x))", {"x": "n"}),
    ("log(sum(exp(x)))", {"x": "n"}),
    ("sum(x)*sum(x)", {"x": "n"}),
    ("sum(x*sum(x))", {"x": "n"}),
    ("x*sum(x)*sum(x**2)", {"x": "n"}),
    ("sum(x[1:])", {"x": "n"}),
    ("sum(x[:-2])", {"x": "n"}),
    ("sum(x[1:3])", {"x": "n"}),
    ("sum(x[::2])", {"x": "n"}),
    ("sum(x[1::3]**2)", {"x": "n"}),
    ("x[1:]*x[:-1]", {"x": "n"}),
    ("sum(x[1:]*x[:-1])", {"x": "n"}),
    ("sum((x[1:] - x[:-1])**2)", {"x": "n"}),
    ("sum(x[2:] - 2*x[1:-1] + x[:-2])", {"x": "n"}),
    ("x - mean(x)", {"x": "n"}),
    ("mean((x - mean(x))**2)", {"x": "n"}),
    ("sum(x*x[0])", {"x": "n"}),
    ("sum(x)*x[-1]", {"x": "n"}),
    ("A@x", {"A": "mn", "x": "n"}),
    ("x@A.T", {"A": "mn", "x": "n"}),
    ("sum((A@x)**2)", {"A": "mn", "x": "n"}),
    ("x@(A.T@(A@x))", {"A": "mn", "x": "n"}),
    ("A@B", {"A": "mn", "B": "nm"}),
    ("sum(A@B)", {"A": "mn", "B": "nm"}),
    ("A.T@A", {"A": "mn"}),
    ("sum(A, dim=1)*sum(A, dim=0)[:1]", {"A": "mn"}),
    ("A/sum(A, dim=1, keepdim=True)", {"A": "mn"}),
    ("sum(A*x, dim=-1)", {"A": "mn", "x": "n"}),
    ("mean(A, dim=0)", {"A": "mn"}),
    ("A[0]*A[-1]", {"A": "mn"}),
    ("sum(A[:, 1:]*A[:, :-1])", {"A": "mn"}),
    ("a*x + b", {"a": "", "x": "n", "b": "1"}),
    ("sum(a*x)", {"a": "", "x": "n"}),
    ("sum(relu(x))", {"x": "n"}),
    ("sum(maximum(x, w)**2)", {"x": "n", "w": "n"}),
    ("relu(A@x)", {"A": "mn", "x": "n"}),
    ("mean(relu6(A))", {"A": "mn"}),
    ("sum(sum(relu(A - x), dim=1)**2)", {"A": "mn", "x": "n"}),
    ("sum(mean(sinc(A), dim=0)*x)", {"A": "mn", "x": "n"}),
    ("[sum(x), sum(x**2), x[0]*x[1]]", {"x": "n"}),
    ("[x, 2*x]", {"x": "n"}),
    ("amax([a, b, a*b])*x", {"a": "", "b": "", "x": "n"}),
    ("prod([a, b, 3])", {"a": "", "b": ""}),
    ("amin([x, w], dim=0)", {"x": "n", "w": "n"}),
    ("torch.sum([x, w*x])", {"x": "n", "w": "n"}),
    ("[a, b]@[b, a*b]", {"a": "", "b": ""}),
    ("[[a, b], [b, a]]@[a, b]", {"a": "", "b": ""}),
    ("x[None]*x[:, None]", {"x": "n"}),
    ("transpose(A, 0, 1)*x[:, None]", {"A": "mn", "x": "n"}),
    ("A.view(-1)[0]*a", {"A": "mn", "a": ""}),
    ("x.view(1, -1)*2", {"x": "n"}),
    ("x[1]**2*x[0] - x[2]", {"x": "n"}),
    ("i*k + n[0]*j", {"i": "n", "k": "n", "n": "n", "j": ""}),
    ("var(x)", {"x": "n"}),
    ("std(A, dim=1)", {"A": "mn"}),
    ("softmax(A, dim=0)", {"A": "mn"}),
    ("sum(w*log_softmax(x))", {"x": "n", "w": "n"}),
    ("logsumexp(A, dim=1, keepdim=True)", {"A": "mn"}),
    ("prod(x*w)", {"x": "n", "w": "n"}),
    ("prod(A, dim=0)*x", {"A": "mn", "x": "n"}),
    ("amax(x*w)**2", {"x": "n", "w": "n"}),
    ("amin(A, dim=1)", {"A": "mn"}),
    ("A.max(0)[0]*x", {"A": "mn", "x": "n"}),
    ("norm(x)", {"x": "n"}),
    ("norm(A, p=3, dim=1)", {"A": "mn"}),
    ("cumsum(x**2)", {"x": "n"}),
    ("sum(cumsum(x)*w)", {"x": "n", "w": "n"}),
    ("cumsum(A, dim=1)", {"A": "mn"}),
    ("cumsum(cumsum(x))", {"x": "n"}),
    ("cumprod(x*w)", {"x": "n", "w": "n"}),
    ("sum(cumprod(A, dim=1)*x)", {"A": "mn", "x": "n"}),
    ("where(x > w, x**2, x*w)", {"x": "n", "w": "n"}),
    ("sum(where((x > 0.5) & (x < 1), x**3, w))", {"x": "n", "w": "n"}),
    ("where(~(A > x), A, 0).sum(0)", {"A": "mn", "x": "n"}),
    ("cat([x, w**2, x])", {"x": "n", "w": "n"}),
    ("sum(cat([A, B.T], dim=1)**2, dim=0)", {"A": "mn", "B": "nm"}),
    ("stack([x, w], dim=1)@stack([w, x])", {"x": "n", "w": "n"}),
    ("roll(x, 2, 0)*x", {"x": "n"}),
    ("sum(roll(A, (1, -2), (0, 1))*A)", {"A": "mn"}),
    ("flip(x, 0)*x", {"x": "n"}),
    ("pad(x, (2, 1), value=3)**2", {"x": "n"}),
    ("sum(pad(A, (1, 0, 0, 2))**2, dim=0)", {"A": "mn"}),
    ("pad(x, (-1, 2))", {"x": "n"}),
    ("diag(x)@w", {"x": "n", "w": "n"}),
    ("sum(exp(diag(x, 1)))", {"x": "n"}),
    ("diag(x, -2).sum(0)", {"x": "n"}),
    ("diagonal(A, 1)**2", {"A": "mn"}),
    ("trace(A@B)", {"A": "mn", "B": "nm"}),
    ("tril(A)@x", {"A": "mn", "x": "n"}),
    ("sum(triu(A, 1)**2)", {"A": "mn"}),
    ("A.flatten()*2", {"A": "mn"}),
    ("sum(A.view(-1)**2)", {"A": "mn"}),
    ("A.reshape(-1)[1:]*A.reshape(-1)[:-1]", {"A": "mn"}),
    ("B.permute(1, 0)*A", {"A": "mn", "B": "nm"}),
    ("x.unsqueeze(0)*x.unsqueeze(1)", {"x": "n"}),
    ("x.view(1, -1).squeeze(0)", {"x": "n"}),
    ("x.expand(2, -1).sum(0)*x", {"x": "n"}),
    ("outer(x, w).sum(1)", {"x": "n", "w": "n"}),
    ("dot(x, w)*x", {"x": "n", "w": "n"}),
    ("einsum('ij,j,ji->i', A, x, B)", {"A": "mn", "x": "n", "B": "nm"}),
    ("einsum('ij,kj->ik', A, A).sum()", {"A": "mn"}),
    ("det(A)*a", {"A": "mm", "a": ""}),
    ("solve(A.T, x)*x", {"A": "mm", "x": "m"}),
    ("sum(x)/x.numel() + x.shape[0]*x", {"x": "n"}),
    ("mse_loss(A@x, y)", {"A": "mn", "x": "n", "y": "m"}),
    ("huber_loss(x, w, delta=0.25)", {"x": "n", "w": "n"}),
    ("binary_cross_entropy_with_logits(x, w, reduction='sum')", {"x": "n", "w": "n"}),
    ("arange(3).sum()*x + full(2, 0.5)[1]*w", {"x": "n", "w": "n"}),
    ("sum(x**i for i in range(3))", {"x": "n"}),
]


def _point(shapes: Mapping[str, str], n: int, m: int) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(7)
    sizes = {"n": n, "m": m, "1": 1}
    return {name: generator.uniform(0.3, 1.4, tuple(sizes[s] for s in letters)) for name, letters in shapes.items()}


def _formula(text: str, at: Mapping[str, np.ndarray], name: str) -> Derivative:
    program = in_primitives(parse(text))
    shapes = infer(program, {symbol: at[str(symbol)].shape for symbol in program.variables})
    return differentiate(program, shapes, sympy.Symbol(name, real=True))


def _entries(derivative: Derivative, at: Mapping[str, np.ndarray], shape: Shape) -> np.ndarray:
    """The formula at every entry, evaluated one by one."""
    env = environment(
        {
            sympy.Symbol(k, real=True): (lambda *i, a=a: arb(float(a[i]))) if a.ndim else arb(float(a))
            for k, a in at.items()
        }
    )
    env |= derivative.sizes
    result = np.empty(shape)
    for index in itertools.product(*map(range, shape)):
        row, column = index[: len(derivative.rows)], index[len(derivative.rows) :]
        expression, indices = derivative.at(row, column)
        result[index] = float(compile_ball(expression)({**env, **indices}).mid())
    return result


@pytest.mark.parametrize(("n", "m"), [(N, M), (LARGE_N, LARGE_M)], ids=["numbers", "symbols"])
@pytest.mark.parametrize(("text", "shapes"), COLLAPSES, ids=[text for text, _ in COLLAPSES])
def test_every_collapse_of_a_sum_equals_brute_force(text: str, shapes: dict[str, str], n: int, m: int) -> None:
    """Autograd's whole Jacobian is the brute force; sizes above 16 are symbols in the formula."""
    at = _point(shapes, n, m)
    answer = Function(text).jacobian(at, check=False)
    assert answer.jacobian is not None
    for name in shapes:
        expected = answer.jacobian[name]
        if expected.size > 4_000:
            expected = expected[:3]
        found = _entries(_formula(text, at, name), at, expected.shape)
        rtol = 1e-8 if "inv" in text or "det" in text else 1e-12  # torch's, of a matrix of 17 rows
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-13)


@pytest.mark.parametrize(("text", "shapes"), COLLAPSES, ids=[text for text, _ in COLLAPSES])
def test_no_collapse_leaves_an_unconfirmed_formula(text: str, shapes: dict[str, str]) -> None:
    """The reference confirms what is shown, for each variable, also at large sizes."""
    answer = Function(text).jacobian(_point(shapes, LARGE_N, LARGE_M))
    assert set(answer.symbolic) == set(shapes)
    assert answer.check is not None
    assert answer.check.verdict == "agree"


SHOWN = [
    ("x**2", {"x": (2,)}, {"x": "2*x[i]*KroneckerDelta(i, j)"}),
    ("x**2", {"x": ()}, {"x": "2*x"}),
    ("sum(w*x**2)", {"w": (9,), "x": (9,)}, {"w": "x[j]**2", "x": "2*w[j]*x[j]"}),
    ("A@x", {"A": (2, 3), "x": (3,)}, {"A": "x[k]*KroneckerDelta(i, j)", "x": "A[i, j]"}),
    ("[x*y, x+y]", {"x": (), "y": ()}, {"x": "[y, 1]", "y": "[x, 1]"}),
    ("[x.sum(), (x**2).sum()]", {"x": (4,)}, {"x": "[1, 2*x[j]]"}),
    ("x[1:].sum()", {"x": (4,)}, {"x": "Piecewise((1, j >= 1), (0, True))"}),
    ("x[::2].sum()", {"x": (4,)}, {"x": "Sum(KroneckerDelta(j, 2*k), (k, 0, 1))"}),
    ("x[0]**2*x[1]", {"x": (2,)}, {"x": "[2*x[0]*x[1], x[0]**2]"}),
    ("mean(x)", {"x": (1000,)}, {"x": "1/1000"}),
    ("sum(x)*x", {"x": (20,)}, {"x": "Sum(x[k], (k, 0, 19))*KroneckerDelta(i, j) + x[i]"}),
    ("0.1*x", {"x": ()}, {"x": "0.1"}),
    ("x**(1/3)", {"x": ()}, {"x": "1/(3*x**(2/3))"}),
    ("x**y", {"x": (), "y": ()}, {"x": "x**(y - 1)*y", "y": "x**y*log(x)"}),
    ("i*x", {"i": (), "x": (3,)}, {"x": "i*KroneckerDelta(j, k)", "i": "x[j]"}),
    ("abs(x) + floor(x)", {"x": ()}, {"x": "sign(x)"}),
    ("relu(x)", {"x": (3,)}, {"x": "Piecewise((1, x[i] >= 0), (0, True))*KroneckerDelta(i, j)"}),
    ("where(x > 0, x**2, -x)", {"x": ()}, {"x": "Piecewise((2*x, x > 0), (-1, True))"}),
    ("var(x)", {"x": (3,)}, {"x": "x[j] - Sum(x[k], (k, 0, 2))/3"}),
    ("cumsum(x)", {"x": (3,)}, {"x": "Piecewise((1, i >= j), (0, True))"}),
    (
        "cumprod(x)",
        {"x": (3,)},
        {"x": "Piecewise((Product(x[k], (k, 0, j - 1))*Product(x[k], (k, j + 1, i)), i >= j), (0, True))"},
    ),
    ("prod(x)", {"x": (3,)}, {"x": "Product(x[k], (k, 0, 2))/x[j]"}),
    ("amax(x)", {"x": (3,)}, {"x": "Piecewise((1, Eq(x[j], amax(x[k], (k, 0, 2)))), (0, True))"}),
    ("det(A)", {"A": (2, 2)}, {"A": "inv(A)[k, j]*det(A)"}),
    ("inv(A)", {"A": (2, 2)}, {"A": "-inv(A)[i, k]*inv(A)[l, j]"}),
    ("A.view(-1)", {"A": (2, 3)}, {"A": "KroneckerDelta(i, 3*j + k)"}),
    ("sum(A.view(-1)**2)", {"A": (2, 3)}, {"A": "2*A[j, k]"}),
    ("flip(x, 0)", {"x": (3,)}, {"x": "KroneckerDelta(j, 2 - i)"}),
    ("linspace(0, 1, 3)*x", {"x": (3,)}, {"x": "linspace(0, 1, 3)[i]*KroneckerDelta(i, j)"}),
    ("arange(3)*x", {"x": (3,)}, {"x": "i*KroneckerDelta(i, j)"}),
]


@pytest.mark.parametrize(("text", "shapes", "expected"), SHOWN, ids=[text for text, _, _ in SHOWN])
def test_formulas_read_as_a_person_would_write_them(
    text: str, shapes: dict[str, Shape], expected: dict[str, str]
) -> None:
    """The exact text, in SymPy's notation."""
    at = {name: np.full(shape, 0.5) for name, shape in shapes.items()}
    for name, shown in expected.items():
        assert formula(_formula(text, at, name), parse(text)).text == shown


def test_bound_indices_never_meet_the_index_of_differentiation() -> None:
    """Trap: with one k for both, `diff` of a sum over k by x[k] silently loses a factor."""
    at = {"x": np.array([1.0, 2.0, 3.0])}
    found = _entries(_formula("sum(x)*sum(x)", at, "x"), at, (3,))
    np.testing.assert_allclose(found, [12.0, 12.0, 12.0])


def test_the_formula_of_a_large_tensor_holds_its_size_as_a_symbol() -> None:
    """One expression for every length: 10 million is derived as fast as 100."""
    program = in_primitives(parse("exp(x)/sum(exp(x))"))
    (x,) = program.variables
    small, large = (differentiate(program, infer(program, {x: (n,)}), x) for n in (100, 10_000_000))
    assert list(small.sizes.values()) == [100]
    assert list(large.sizes.values()) == [10_000_000]
    assert sympy.count_ops(small.cases[0][1]) == sympy.count_ops(large.cases[0][1])


@pytest.mark.parametrize(
    "text",
    [
        "+".join(f"sin({n}*x)" for n in range(2_000)),
        "; ".join(["y = x", *["y = y*y + y"] * 60]),
        "sin(" * 90 + "x" + ")" * 90 + "+x" * 40,
    ],
    ids=["long", "doubling", "deep"],
)
def test_a_formula_that_nobody_would_read_is_not_built(text: str) -> None:
    """Length and depth are counted before SymPy sees anything."""
    with counted() as work, pytest.raises(NoFormulaError, match="terms"):
        _formula(text, {"x": np.array(0.5)}, "x")
    assert work.calls < 10_000_000


def test_a_movement_without_index_notation_says_so() -> None:
    """A roll of the flattened tensor mixes the dimensions."""
    answer = Function("roll(A, 1)*2").vjp({"A": np.ones((3, 4))}, "ones")
    assert "no closed form" in answer.symbolic_omitted["A"]
    assert answer.check is not None
    assert answer.check.verdict == "agree"


def test_a_power_of_a_size_is_not_written_out() -> None:
    """SymPy would take all the memory there is for its digits."""
    with pytest.raises(NoFormulaError, match="too long"):
        _formula("x*len(x)**(10**20)", {"x": np.ones(3)}, "x")
    assert formula(_formula("x*len(x)**3", {"x": np.ones(3)}, "x"), parse("x")).text == "27*KroneckerDelta(i, j)"

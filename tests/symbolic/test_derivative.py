"""Formulas of first, directional and second derivatives against torch: every entry, at sizes in numbers and symbols."""

import itertools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import sympy
from flint import arb

from gradcli import Function
from gradcli.autodiff import jacobians as torch_second
from gradcli.autodiff.run import run
from gradcli.language.program.expansion import in_primitives
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Program, Shape
from gradcli.reference.compiling import compile_ball, environment
from gradcli.symbolic import derivative as formulas
from gradcli.symbolic.derivative import Derivative, OutputElement, differentiate
from gradcli.symbolic.origins import NoFormulaError
from gradcli.symbolic.printing import formula
from tests.checks import check_of
from tests.examples import in_turn, part
from tests.parsing import parse
from tests.work import counted

N, M = 5, 3
LARGE_N, LARGE_M = 19, 17

TEXTS: list[tuple[str, dict[str, str]]] = [
    ("exp(x)/sum(exp(x))", {"x": "n"}),
    ("log(sum(exp(x)))", {"x": "n"}),
    ("x*sum(x)*sum(x**2)", {"x": "n"}),
    ("sum(x[1:])", {"x": "n"}),
    ("sum(x[1::3]**2)", {"x": "n"}),
    ("sum((x[1:] - x[:-1])**2)", {"x": "n"}),
    ("sum(x[2:] - 2*x[1:-1] + x[:-2])", {"x": "n"}),
    ("mean((x - mean(x))**2)", {"x": "n"}),
    ("A@x", {"A": "mn", "x": "n"}),
    ("sum(A, dim=1)*sum(A, dim=0)[:1]", {"A": "mn"}),
    ("A/sum(A, dim=1, keepdim=True)", {"A": "mn"}),
    ("sum(A[:, 1:]*A[:, :-1])", {"A": "mn"}),
    ("sum(maximum(x, w)**2)", {"x": "n", "w": "n"}),
    ("[sum(x), sum(x**2), x[0]*x[1]]", {"x": "n"}),
    ("amax([a, b, a*b])*x", {"a": "", "b": "", "x": "n"}),
    ("amin([x, w], dim=0)", {"x": "n", "w": "n"}),
    ("[[a, b], [b, a]]@[a, b]", {"a": "", "b": ""}),
    ("A.view(-1)[0]*a", {"A": "mn", "a": ""}),
    ("i*k + n[0]*j", {"i": "n", "k": "n", "n": "n", "j": ""}),
    ("std(A, dim=1)", {"A": "mn"}),
    ("sum(w*log_softmax(x))", {"x": "n", "w": "n"}),
    ("amax(x*w)**2", {"x": "n", "w": "n"}),
    ("norm(A, p=3, dim=1)", {"A": "mn"}),
    ("sum(cumsum(x)*w)", {"x": "n", "w": "n"}),
    ("cumprod(x*w)", {"x": "n", "w": "n"}),
    ("sum(cumprod(A, dim=1)*x)", {"A": "mn", "x": "n"}),
    ("sum(where((x > 0.5) & (x < 1), x**3, w))", {"x": "n", "w": "n"}),
    ("sum(cat([A, B.T], dim=1)**2, dim=0)", {"A": "mn", "B": "nm"}),
    ("stack([x, w], dim=1)@stack([w, x])", {"x": "n", "w": "n"}),
    ("sum(roll(A, (1, -2), (0, 1))*A)", {"A": "mn"}),
    ("pad(x, (2, 1), value=3)**2", {"x": "n"}),
    ("sum(exp(diag(x, 1)))", {"x": "n"}),
    ("diagonal(A, 1)**2", {"A": "mn"}),
    ("A.reshape(-1)[1:]*A.reshape(-1)[:-1]", {"A": "mn"}),
    ("x.expand(2, -1).sum(0)*x", {"x": "n"}),
    ("einsum('ij,j,ji->i', A, x, B)", {"A": "mn", "x": "n", "B": "nm"}),
    ("einsum('ij,kj->ik', A, A).sum()", {"A": "mn"}),
    ("det(A)*a", {"A": "mm", "a": ""}),
    ("sum(x)/x.numel() + x.shape[0]*x", {"x": "n"}),
    ("huber_loss(x, w, delta=0.25)", {"x": "n", "w": "n"}),
]

NUMBERS, SYMBOLS = (N, M), (LARGE_N, LARGE_M)
"""Sizes: above 16 they are symbols in the formula."""


Inputs = Mapping[str, np.ndarray]


def point(shapes: Mapping[str, str], n: int, m: int) -> dict[str, np.ndarray]:
    """Values for variables whose shapes are given in letters."""
    generator = np.random.default_rng(7)
    sizes = {"n": n, "m": m, "1": 1}
    return {name: generator.uniform(0.3, 1.4, tuple(sizes[s] for s in letters)) for name, letters in shapes.items()}


def require_equal(
    derivative: Derivative, at: Inputs, expected: np.ndarray, most: int = 40, rtol: float = 1e-7, atol: float = 1e-9
) -> None:
    """The formula is what is expected at all entries, or at about so many that lie evenly among more."""
    env = dict[sympy.Symbol, Any](derivative.sizes)
    for name, a in at.items():
        env[sympy.Symbol(name, real=True)] = (lambda *i, a=a: arb(float(a[i]))) if a.ndim else arb(float(a))
    env = environment(env)
    indices = list(itertools.product(*map(range, expected.shape)))
    step = max(1, len(indices) // most)
    while any(math.gcd(step, size) > 1 for size in expected.shape):  # or some rows would never be met
        step += 1
    for index in indices[::step]:
        row, column = index[: len(derivative.rows)], index[len(derivative.rows) :]
        expression, values = derivative.entry_formula(row, column)
        found = float(compile_ball(expression)({**env, **values}).mid())
        np.testing.assert_allclose(found, expected[index], rtol, atol, err_msg=str(index))


def _shapes(program: Program, at: Inputs) -> formulas.Shapes:
    return infer(program, {symbol: at[str(symbol)].shape for symbol in program.variables})


def _directions(at: Inputs) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(11)
    return {name: generator.uniform(-1, 1, array.shape) for name, array in at.items()}


def _formula(text: str, at: Inputs, name: str) -> Derivative:
    program = in_primitives(parse(text))
    return differentiate(program, _shapes(program, at), sympy.Symbol(name, real=True))


@pytest.mark.parametrize(("text", "shapes", "n", "m"), in_turn(part(TEXTS, 0, of=2), NUMBERS, SYMBOLS))
@pytest.mark.one_in(2)
def test_every_collapse_of_a_sum_equals_brute_force(text: str, shapes: dict[str, str], n: int, m: int) -> None:
    """Autograd's whole Jacobian is the brute force."""
    at = point(shapes, n, m)
    answer = Function(text).jacobian(at, check=False)
    assert answer.jacobian is not None
    rtol = 1e-8 if "inv" in text or "det" in text else 1e-12  # torch's, of a matrix of 17 rows
    for name in shapes:
        require_equal(_formula(text, at, name), at, answer.jacobian[name], 1_000, rtol, 1e-13)


@pytest.mark.parametrize(("text", "shapes"), part(TEXTS, 1, of=4))
@pytest.mark.one_in(4)
def test_no_collapse_leaves_an_unconfirmed_formula(text: str, shapes: dict[str, str]) -> None:
    """The reference confirms what is shown, for each variable, also at large sizes."""
    answer = Function(text).jacobian(point(shapes, LARGE_N, LARGE_M))
    assert set(answer.symbolic) == set(shapes)
    assert check_of(answer).verdict == "agree"


SHOWN = [
    ("[x.sum(), (x**2).sum()]", {"x": (4,)}, {"x": "[1, 2*x[j]]"}),
    ("x[1:].sum()", {"x": (4,)}, {"x": "Piecewise((1, j >= 1), (0, True))"}),
    ("x[::2].sum()", {"x": (4,)}, {"x": "Sum(KroneckerDelta(j, 2*k), (k, 0, 1))"}),
    ("sum(x)*x", {"x": (20,)}, {"x": "Sum(x[k], (k, 0, 19))*KroneckerDelta(i, j) + x[i]"}),
    ("where(x > 0, x**2, -x)", {"x": ()}, {"x": "Piecewise((2*x, x > 0), (-1, True))"}),
    ("prod(x)", {"x": (3,)}, {"x": "Product(Piecewise((x[k], Ne(k, j)), (1, True)), (k, 0, 2))"}),
    ("amax(x)", {"x": (3,)}, {"x": "Piecewise((1, Eq(x[j], amax(x[k], (k, 0, 2)))), (0, True))"}),
    ("det(A)", {"A": (2, 2)}, {"A": "inv(A)[k, j]*det(A)"}),
    ("sum(A.view(-1)**2)", {"A": (2, 3)}, {"A": "2*A[j, k]"}),
    ("flip(x, 0)", {"x": (3,)}, {"x": "KroneckerDelta(j, 2 - i)"}),
    ("linspace(0, 1, 3)*x", {"x": (3,)}, {"x": "linspace(0, 1, 3)[i]*KroneckerDelta(i, j)"}),
]


@pytest.mark.parametrize(("text", "shapes", "expected"), SHOWN, ids=[text for text, _, _ in SHOWN])
def test_formulas_are_as_a_person_writes_them(text: str, shapes: dict[str, Shape], expected: dict[str, str]) -> None:
    """The exact text, in SymPy's notation."""
    at = {name: np.full(shape, 0.5) for name, shape in shapes.items()}
    for name, shown in expected.items():
        assert formula(_formula(text, at, name), parse(text)).text == shown


def test_the_formula_of_a_large_tensor_holds_its_size_as_a_symbol() -> None:
    """One expression for every length: 10 million is derived as fast as 100."""
    program = in_primitives(parse("exp(x)/sum(exp(x))"))
    (x,) = program.variables
    small, large = (differentiate(program, infer(program, {x: (n,)}), x) for n in (100, 10_000_000))
    assert list(small.sizes.values()) == [100]
    assert list(large.sizes.values()) == [10_000_000]
    assert sympy.count_ops(small.cases[0][1]) == sympy.count_ops(large.cases[0][1])


EQUAL_CONSTANTS = [("clamp(x, 0, 1)*x", "clamp(x, 0.0, 1.0)*x"), ("x*full(1, 2)", "x*full(1, 2.0)"), ("x**2", "x**2.0")]


@pytest.mark.parametrize("texts", EQUAL_CONSTANTS)
def test_a_formula_is_kept_for_the_next_point(texts: tuple[str, str]) -> None:
    """Of the same lines and shapes alone: constants that are equal, and not the same, have formulas of their own."""

    def of(text: str, n: int = 3) -> Derivative:
        program = in_primitives(parse(text))
        (x,) = program.variables
        return OutputElement(program, infer(program, {x: (n,)})).differentiated(x)

    first, second = (of(text) for text in texts)
    assert of(texts[0]) is first
    assert of(texts[0], 4) is not first
    for text, kept in zip(texts, (first, second), strict=True):
        program = in_primitives(parse(text))
        (x,) = program.variables
        anew = differentiate(program, infer(program, {x: (3,)}), x)
        assert anew is not kept
        assert str(anew.cases) == str(kept.cases)


UNREADABLE = [
    "+".join(f"sin({n}*x)" for n in range(1_000)),
    "; ".join(["y = x", *["y = y*y + y"] * 60]),
    "sin(" * 90 + "x" + ")" * 90 + "+x" * 40,
]


@pytest.mark.parametrize("text", UNREADABLE, ids=["long", "doubling", "deep"])
def test_a_formula_that_nobody_would_read_is_not_built(text: str) -> None:
    """Length and depth are counted before SymPy sees anything."""
    with counted() as work, pytest.raises(NoFormulaError, match="terms"):
        _formula(text, {"x": np.array(0.5)}, "x")
    assert work.calls < 10_000_000


def test_a_movement_without_index_notation_says_so() -> None:
    """A roll of the flattened tensor mixes the dimensions."""
    answer = Function("roll(A, 1)*2").vjp({"A": np.ones((3, 4))}, "ones")
    assert "no closed form" in answer.symbolic_omitted["A"]
    assert check_of(answer).verdict == "agree"


def test_a_power_of_a_size_is_not_written_out() -> None:
    """SymPy would take all the memory there is for its digits."""
    with pytest.raises(NoFormulaError, match="too long"):
        _formula("x*len(x)**(10**20)", {"x": np.ones(3)}, "x")
    assert formula(_formula("x*len(x)**3", {"x": np.ones(3)}, "x"), parse("x")).text == "27*KroneckerDelta(i, j)"


def test_a_multiple_of_pi_by_cases_is_no_whole_number() -> None:
    """SymPy takes n/6 for whole where n is even by cases."""
    answer = Function("x*sin(pi*[0, 4, 8]/6)").jacobian([1, 2, 3])
    assert check_of(answer).verdict == "agree"
    assert answer.symbolic["x"].text == "[[0, 0, 0], [0, sqrt(3)/2, 0], [0, 0, -sqrt(3)/2]]"


# -- directional and second derivatives


@pytest.mark.parametrize(("text", "shapes", "n", "m"), in_turn(part(TEXTS, 1, of=2), SYMBOLS, NUMBERS))
@pytest.mark.one_in(2)
def test_ju_is_what_torch_gives(text: str, shapes: dict[str, str], n: int, m: int) -> None:
    """With all variables moving."""
    at = point(shapes, n, m)
    u = _directions(at)
    expected = torch_second.jvp(run(parse(text), at, tuple(at), "float64"), u)
    program = in_primitives(parse(text))
    names = formulas.direction_names(program, list(at))
    derivative = formulas.jvp(program, _shapes(program, at), names)
    require_equal(derivative, {**at, **{names[name]: array for name, array in u.items()}}, expected)


@pytest.mark.parametrize(("text", "shapes"), part(TEXTS, 1, of=3))
@pytest.mark.one_in(4)
def test_a_hessian_is_what_torch_gives(text: str, shapes: dict[str, str]) -> None:
    """Of the sum of squares, so that products of everything with everything arise."""
    at = point(shapes, N, M)
    squares = f"sum(({text})**2)"
    program = in_primitives(parse(squares))
    known = _shapes(program, at)
    _, blocks = torch_second.hessian(run(parse(squares), at, tuple(at), "float64"), tuple(at))
    for x, z in itertools.combinations_with_replacement(program.variables, 2):
        block = formulas.hessian(program, known, x, z)
        require_equal(block, at, blocks[str(x)][str(z)])
        require_equal(formulas.transposed(block), at, blocks[str(z)][str(x)])


@pytest.mark.parametrize(("text", "shapes"), part(TEXTS, 0, of=6))
@pytest.mark.one_in(4)
def test_hu_is_what_torch_gives(text: str, shapes: dict[str, str]) -> None:
    """Of the same at sizes that are symbols; the last variable moves."""
    at = point(shapes, LARGE_N, LARGE_M)
    squares = f"sum(({text})**2)"
    program = in_primitives(parse(squares))
    name = list(at)[-1]
    u = {name: _directions(at)[name]}
    _, _, products = torch_second.hvp(run(parse(squares), at, tuple(at), "float64"), u, tuple(at))
    names = formulas.direction_names(program, [name])
    for symbol in program.variables:
        derivative = formulas.hvp(program, _shapes(program, at), names, symbol)
        require_equal(derivative, {**at, names[name]: u[name]}, products[str(symbol)])

"""Formulas against brute force: every entry, at sizes that are numbers and at sizes that are symbols."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
import sympy

from gradcli import Function
from gradcli.language.program.expansion import in_primitives
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Shape
from gradcli.symbolic.derivative import Derivative, differentiate
from gradcli.symbolic.origins import NoFormulaError
from gradcli.symbolic.printing import formula
from tests.checks import check_of
from tests.parsing import parse
from tests.symbolic.collapses import COLLAPSES, LARGE_M, LARGE_N, SIZES, point, require_equal
from tests.work import counted

ENTRIES = 1_000
"""Entries at which a formula is evaluated: all, where sizes are numbers."""


def _formula(text: str, at: Mapping[str, np.ndarray], name: str) -> Derivative:
    program = in_primitives(parse(text))
    shapes = infer(program, {symbol: at[str(symbol)].shape for symbol in program.variables})
    return differentiate(program, shapes, sympy.Symbol(name, real=True))


@SIZES
@COLLAPSES
def test_every_collapse_of_a_sum_equals_brute_force(text: str, shapes: dict[str, str], n: int, m: int) -> None:
    """Autograd's whole Jacobian is the brute force."""
    at = point(shapes, n, m)
    answer = Function(text).jacobian(at, check=False)
    assert answer.jacobian is not None
    rtol = 1e-8 if "inv" in text or "det" in text else 1e-12  # torch's, of a matrix of 17 rows
    for name in shapes:
        require_equal(_formula(text, at, name), at, answer.jacobian[name], ENTRIES, rtol, 1e-13)


@COLLAPSES
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
def test_formulas_read_as_a_person_would_write_them(
    text: str, shapes: dict[str, Shape], expected: dict[str, str]
) -> None:
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

"""The algebra of whole tensors: what is equal, what is not, and formulas that are the tensor they were made of."""

import random
from collections.abc import Callable, Mapping

import numpy as np
import pytest

from gradcli.autodiff.run import array_of, run
from gradcli.errors import GradcliError
from gradcli.language.parsing import parse
from gradcli.language.program.passes import for_formulas
from gradcli.language.program.shapes import infer
from gradcli.results import Array
from gradcli.symbolic.matrix_algebra.equality import are_equal
from gradcli.symbolic.matrix_algebra.factoring import FormulaWriter
from gradcli.symbolic.matrix_algebra.inverses import MatrixAlgebra
from gradcli.symbolic.matrix_algebra.networks import GaveUpError, NormalForm
from gradcli.symbolic.matrix_algebra.program_forms import FormReader

N, M = 3, 4
SHAPES = {"A": (N, N), "B": (N, N), "C": (M, N), "D": (N, M), "x": (N,), "y": (N,), "z": (M,), "s": (), "t": ()}

EQUAL = [
    ("x@A@y", "y@A.T@x"),
    ("trace(A@B@A)", "trace(A@A@B)"),
    ("trace(C@D)", "sum(C*D.T)"),
    ("inv(A@B)", "inv(B)@inv(A)"),
    ("inv(A.T)", "inv(A).T"),
    ("A@inv(A)@x", "x"),
    ("inv(A + B)@A", "eye(3) - inv(A + B)@B"),
    ("3*inv(A + 3*B)@B", "eye(3) - inv(A + 3*B)@A"),
    ("A@inv(2*A + B)@x", "(x - B@inv(2*A + B)@x)/2"),
    ("A@inv(A + A.T)", "eye(3) - A.T@inv(A + A.T)"),
    ("inv(C.T@C)@C.T@C@x", "x"),
    ("inv(2*A)", "inv(A)/2"),
    ("inv(diag(x))@y", "y/x"),
    ("det(A@B)", "det(B.T)*det(A)"),
    ("det(inv(A))", "1/det(A)"),
    ("diag(x)@A@diag(y)", "outer(x, y)*A"),
    ("norm(x - y)**2", "x@x - 2*x@y + y@y"),
    ("norm(C)**2", "trace(C.T@C)"),
    ("sum(A)", "ones(3)@A@ones(3)"),
    ("softmax(x + s)", "softmax(x)"),
    ("logsumexp(x + s)", "logsumexp(x) + s"),
    ("sigmoid(x)", "1 - sigmoid(-x)"),
    ("sigmoid(x)*exp(-x)", "1 - sigmoid(x)"),
    ("tanh(x)", "2*sigmoid(2*x) - 1"),
    ("exp(x - y)/(exp(x) + exp(y))", "exp(-y) - 1/(exp(x) + exp(y))"),
    ("1/(1 + exp(x))**2", "sigmoid(-x)**2"),
    ("(C@x)/(C@x)**2", "1/(C@x)"),
    ("log(x*y)", "log(x) + log(y)"),
    ("log(s/t) - log(s)", "-log(t)"),
    ("exp(log(x) + log(y))", "x*y"),
    ("t**(s - 1)*t", "t**s"),
    ("exp(x)**s", "exp(s*x)"),
    ("(x + y)**3/(x + y)", "x**2 + 2*x*y + y**2"),
    ("s/(s + t) + t/(s + t)", "1"),
    ("sqrt(s**2 + 1)**2", "s**2 + 1"),
    ("mean(x)", "sum(x)/3"),
]

DIFFERENT = [
    ("A@B", "B@A"),
    ("A@x", "A.T@x"),
    ("x@A@y", "x@A.T@y"),
    ("trace(A@B@A.T)", "trace(A@B@A)"),
    ("trace(A@B.T)", "trace(A@B)"),
    ("outer(x, y)", "outer(y, x)"),
    ("inv(A + B)", "inv(A) + inv(B)"),
    ("A@inv(B)", "inv(B)@A"),
    ("det(A + B)", "det(A) + det(B)"),
    ("sqrt(s**2)", "s"),
    ("(s**2)**(3/2)", "s**3"),
    ("exp(log(s**2)/2)", "s"),
    ("s**t", "exp(t*log(s**2)/2)"),
    ("exp((log(s*t) + log(s/t))/2)", "s"),
    ("diag(A)", "sum(A, 1)"),
    ("exp(x*y)", "exp(x)*exp(y)"),
    ("sum(x*y)", "sum(x)*sum(y)"),
    ("sum(x)**2", "x@x"),
    ("A*B", "A@B"),
    ("A.T@diag(inv(A))", "ones(3)"),
    ("(x@y)*x", "(x@x)*y"),
    ("C.T@C", "D@D.T"),
]


def _form(text: str, *, expands: bool = True, splits: bool = True) -> tuple[NormalForm, MatrixAlgebra]:
    program = for_formulas(parse(text, shapes=SHAPES))
    shapes = infer(program, {symbol: SHAPES[str(symbol)] for symbol in program.variables}, bounded=False)
    algebra = MatrixAlgebra({}, expands=expands, splits=splits)
    return FormReader(algebra, shapes).read(program), algebra


@pytest.mark.parametrize(("one", "other"), EQUAL, ids=[f"{one} is {other}" for one, other in EQUAL])
def test_equal_tensors_are_found_equal(one: str, other: str) -> None:
    """And not by a formula for each: by rules of algebra."""
    (first, algebra), (second, _) = _form(one), _form(other)
    assert are_equal(first, second, algebra)


@pytest.mark.parametrize(("one", "other"), DIFFERENT, ids=[f"{one} is not {other}" for one, other in DIFFERENT])
def test_different_tensors_are_not(one: str, other: str) -> None:
    """However much they look alike."""
    (first, algebra), (second, _) = _form(one), _form(other)
    assert not are_equal(first, second, algebra)


def test_what_is_not_known_is_given_up() -> None:
    """Quietly, as a proof may be found in another way."""
    for text in ("cumsum(x)", "amax(x)", "prod(x)", "[s, t]@x[:2]", "x[0]*y", "(A@x + y)**40/s"):
        with pytest.raises(GaveUpError):
            _form(text)


class _Texts:
    """Maker of random expressions."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def _one(self, *makers: Callable[[], str]) -> str:
        return self.random.choice(makers)()

    def matrix(self, rows: int, columns: int, depth: int) -> str:
        """Write a matrix of a shape."""
        leaves = {(N, N): "A B A.T", (M, N): "C D.T", (N, M): "D C.T", (M, M): "(C@D) (C@C.T)"}[rows, columns]
        if not depth:
            return self.random.choice(leaves.split())
        inner, less = self.random.choice([N, M]), depth - 1
        choices: list[Callable[[], str]] = [
            lambda: f"({self.matrix(rows, inner, less)}@{self.matrix(inner, columns, less)})",
            lambda: f"({self.matrix(rows, columns, less)} - {self.matrix(rows, columns, less)})",
            lambda: f"({self.matrix(columns, rows, less)}).T",
            lambda: f"({self.matrix(rows, columns, less)}*{self.matrix(rows, columns, less)})",
            lambda: f"outer({self.vector(rows, less)}, {self.vector(columns, less)})",
            lambda: f"({self.number(less)}*{self.matrix(rows, columns, less)})",
            lambda: f"tanh({self.matrix(rows, columns, 0)}/4)",
        ]
        if rows == columns == N:
            choices += [lambda: f"inv({self.matrix(N, N, 0)} + eye({N}))", lambda: f"diag({self.vector(N, less)})"]
        return self._one(*choices)

    def vector(self, size: int, depth: int) -> str:
        """Write a vector of a size."""
        if not depth:
            return self.random.choice({N: "x y", M: "z (C@x)"}[size].split())
        inner, less = self.random.choice([N, M]), depth - 1
        return self._one(
            lambda: f"({self.matrix(size, inner, less)}@{self.vector(inner, less)})",
            lambda: f"({self.vector(size, less)} + {self.vector(size, less)})",
            lambda: f"({self.vector(size, less)}*{self.vector(size, less)})",
            lambda: f"({self.vector(size, less)}/{self.vector(size, less)})",
            lambda: f"({self.number(less)}*{self.vector(size, less)})",
            lambda: f"softmax({self.vector(size, less)}/8)",
            lambda: f"sigmoid({self.vector(size, less)}/8)",
            lambda: f"({self.vector(size, less)} + 2)**(-2)",
        )

    def number(self, depth: int) -> str:
        """Write a number."""
        if not depth:
            return self.random.choice(["s", "t", "2", "(1/3)"])
        size, less = self.random.choice([N, M]), depth - 1
        return self._one(
            lambda: f"({self.vector(size, less)}@{self.vector(size, less)})",
            lambda: f"trace({self.matrix(size, size, less)})",
            lambda: f"det({self.matrix(N, N, 0)} + eye({N}))",
            lambda: f"norm({self.vector(size, less)})",
            lambda: f"sum({self.vector(size, less)})",
            lambda: f"({self.number(less)} - {self.number(less)})",
            lambda: f"({self.number(less)}/{self.number(less)})",
            lambda: f"exp({self.number(less)}/8)",
        )


def _value(text: str, values: Mapping[str, Array]) -> Array:
    program = parse(text, shapes=SHAPES)
    return np.asarray(array_of(run(program, {name: values[name] for name in program.names}, (), "float64").output))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.one_in(6)
def test_a_formula_is_the_tensor_that_it_was_made_of(seed: int) -> None:
    """Random expressions, read as forms in three ways, written and read back, have their values."""
    texts, generator, count = _Texts(seed), np.random.default_rng(seed), 0
    values = {name: generator.uniform(0.3, 1.5, shape) for name, shape in SHAPES.items()}
    for n in range(20):
        depth = 2 + n % 2
        text = (texts.number(depth), texts.vector(N, depth), texts.matrix(M, N, depth))[n % 3]
        try:
            wanted = _value(text, values)
        except GradcliError:
            continue
        for expands, splits in ((False, False), (True, False), (True, True)):
            try:
                written = FormulaWriter({}).formula(_form(text, expands=expands, splits=splits)[0]).text
            except GaveUpError:
                continue
            found = _value(written, values)
            if np.isfinite(wanted).all() and np.abs(wanted).max() < 1e9:
                np.testing.assert_allclose(
                    found, wanted, rtol=1e-6, atol=1e-8 * (1 + np.abs(wanted).max()), err_msg=text
                )
                count += 1
    assert count >= 30

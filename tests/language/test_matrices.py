"""Matrices as they are written on paper, in MATLAB, NumPy and SymPy, and at matrixcalculus.org."""

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from gradcli import Function
from gradcli.errors import GradcliError, LanguageError
from gradcli.language.parsing import parse
from tests.conftest import Command
from tests.examples import examples

AT: dict[str, Any] = {
    "A": [[1, 2], [3, 4]],
    "B": [[0, 1], [1, 1]],
    "M": [[1, 2], [3, 4], [5, 6]],
    "X": [[1, 2], [3, 4]],
    "x": [1, 2],
    "y": [3, 4],
    "b": [1, 1],
    "w": [2, -1],
    "z": [1, 0, -1],
    "u": [1, 2, 3],
    "v": [4, 5, 6],
    "c": 3,
    "λ": 0.5,
    "Ax": [7, 8],
}
"""Values by name: A and B are square, M is tall."""

ON_PAPER = [
    ("x^T A x", "x A", 27),
    ("xᵀAx", "x A", 27),
    ("x⊤ A x", "x A", 27),
    ("x^⊤ A x", "x A", 27),
    ("x^{T} A x", "x A", 27),
    ("x'A x", "x A", 27),
    ("x^T(A x)", "x A", 27),
    ("(A x)^T x", "x A", 27),
    ("1/2 x^T A x - b^T x", "x A b", 10.5),
    ("A^{-1}", "A", [[-2, 1], [1.5, -0.5]]),
    ("A⁻¹", "A", [[-2, 1], [1.5, -0.5]]),
    ("A^-1", "A", [[-2, 1], [1.5, -0.5]]),
    ("A^(-1) x", "A x", [0, 0.5]),
    ("A^-1*x", "A x", [0, 0.5]),
    ("A⁻¹x", "A x", [0, 0.5]),
    ("A^{-T}", "A", [[-2, 1.5], [1, -0.5]]),
    ("A^-T x", "A x", [1, 0]),
    ("A⁻ᵀx", "A x", [1, 0]),
    ("(A B)^{-1}", "A B", [[3.5, -1.5], [-2, 1]]),
    ("A'^2", "A", [[7, 15], [10, 22]]),
    ("A^{-2} - A^{-1} A^{-1}", "A", [[0, 0], [0, 0]]),
    ("‖x‖²A^3", "A x", [[185, 270], [405, 590]]),
    ("2Ax", "A x", [10, 22]),
    ("2 A x", "A x", [10, 22]),
    ("c A x", "c A x", [15, 33]),
    ("Ax - b", "A x b", [4, 10]),
    ("Mx", "M x", [5, 11, 17]),
    ("M^T z", "M z", [-4, -4]),
    ("z'M x", "M z x", -12),
    ("M^T M w", "M w", [26, 32]),
    ("MᵀMw", "M w", [26, 32]),
    ("tr(A B)", "A B", 9),
    ("tr A", "A", 5),
    ("tr(AB)", "A B", 9),
    ("log det(B^T B)", "B", 0),
    ("log det X^2", "X", np.log(4)),
    ("-log det X^2", "X", -np.log(4)),
    ("exp sin c", "c", np.exp(np.sin(3))),
    ("2 sin c cos c", "c", np.sin(6)),
    ("‖Ax-b‖²", "A x b", 116),
    ("‖A x - b‖", "A x b", np.sqrt(116)),
    ("||Ax-b||_2^2", "A x b", 116),
    ("‖Ax-b‖₂²", "A x b", 116),
    ("‖Ax-b‖_{2}^{2}", "A x b", 116),
    ("λ‖w‖² + ‖x‖_1", "λ w x", 5.5),
    ("λ||w||_2^2 + ||x||_1", "λ w x", 5.5),
    ("||X||_F^2", "X", 30),
    ("‖x‖_1", "x", 3),
    ("‖x‖_∞ + ‖x‖_inf", "x", 4),
    ("‖A‖_1 + ‖A‖_∞", "A", 13),
    ("‖B‖_2", "B", (1 + np.sqrt(5)) / 2),
    ("‖B‖_*", "B", np.sqrt(5)),
    ("‖x‖‖y‖", "x y", 5 * np.sqrt(5)),
    ("A \\ x", "A x", [0, 0.5]),
    ("A\\x + c\\y", "A x c y", [1, 11 / 6]),
    ("diag(x) A", "x A", [[1, 2], [6, 8]]),
    ("u × v", "u v", [-3, 6, -3]),
    ("c × A", "c A", [[3, 6], [9, 12]]),
    ("2 × 3", "", 6),
    ("A ⊙ B", "A B", [[0, 2], [3, 4]]),
    ("A ∘ B", "A B", [[0, 2], [3, 4]]),
    ("B ⊗ A", "A B", [[0, 0, 1, 2], [0, 0, 3, 4], [1, 2, 1, 2], [3, 4, 3, 4]]),
    ("<x, y>", "x y", 11),
    ("⟨x, A y⟩", "x y A", 61),
    ("<A, B>", "A B", 9),
    ("1 < <x, y>", "x y", 1),
    ("1^T x", "x", 3),
    ("1ᵀM", "M", [9, 12]),
    ("1^T M x", "M x", 33),
    ("A + I", "A", [[2, 2], [3, 5]]),
    ("2I - A", "A", [[1, -2], [-3, -2]]),
    ("(A - λI) x", "A λ x", [4.5, 10]),
    ("(X'X + λI)^{-1} X'y", "X λ y", [-0.5 / 19.25, 21 / 19.25]),
    ("(I - A)(I + A)", "A", [[-6, -10], [-15, -21]]),
    ("x^T I x", "x", 5),
    ("x y^T", "x y", [[3, 4], [6, 8]]),
    ("x y' w", "x y w", [2, 4]),
    ("u x' w", "u x w", [0, 0, 0]),
    ("x^T y", "x y", 11),
    ("x^T(y + b)", "x y b", 14),
    ("A(x + b)", "A x b", [8, 18]),
    ("A (x + b)", "A x b", [8, 18]),
    ("c(Ax + b)", "c A x b", [18, 36]),
    ("x'A(x + b)", "x A b", 44),
    ("A(B + A)'", "A B", [[7, 14], [15, 32]]),
    ("λ(x)", "λ x", [0.5, 1]),
    ("-x' (2y')'", "x y", -22),
    ("r = x' A; r y", "x A y", 61),
    ("exp(x')(y - y)", "x y", 0),
    ("c I x + I x", "c x", [4, 8]),
    ("(x'/2 + y') w", "x y w", 2),
    ("½‖x‖² + ¾c", "x c", 4.75),
    ("√(x^T x)", "x", np.sqrt(5)),
]
"""Texts, the names that have values, and what they are."""

MATLAB = [
    ("A'", "A", [[1, 3], [2, 4]]),
    ("A.'", "A", [[1, 3], [2, 4]]),
    ("x'*A*x", "x A", 27),
    ("A'*A .* B", "A B", [[0, 14], [14, 20]]),
    ("A.*B", "A B", [[0, 2], [3, 4]]),
    ("B./A", "A B", [[0, 0.5], [1 / 3, 0.25]]),
    ("A.^2 - A^2", "A", [[-6, -6], [-6, -6]]),
    ("A.^-1 .* A", "A", [[1, 1], [1, 1]]),
    ("2.^x'", "x", [2, 4]),
    ("A\\b", "A b", [-1, 1]),
    ("(A'*A)\\(A'*b)", "A b", [-1, 1]),
    ("x'*y", "x y", 11),
    ("x*y'", "x y", [[3, 4], [6, 8]]),
    ("x.*y", "x y", [3, 8]),
    ("x' .* y'", "x y", [3, 8]),
    ("M'*M", "M", [[35, 44], [44, 56]]),
    ("norm(A*x - b)^2 + 0*x'*x", "A x b", 116),
    ("x'*x*A", "x A", [[5, 10], [15, 20]]),
    ("2*A'*(A*x - b)", "A x b", [68, 96]),
    ("trace(A'*B)", "A B", 9),
    ("c*A' + eye(2)", "c A", [[4, 9], [6, 13]]),
]

NUMPY = [
    ("x.T @ A @ x", "x A", 27),
    ("x @ A.T", "x A", [5, 11]),
    ("A * B", "A B", [[0, 2], [3, 4]]),
    ("A ** 2", "A", [[1, 4], [9, 16]]),
    ("A * x", "A x", [[1, 4], [3, 8]]),
    ("np.linalg.inv(A) @ x", "A x", [0, 0.5]),
    ("np.trace(A @ B)", "A B", 9),
    ("np.outer(x, y)", "x y", [[3, 4], [6, 8]]),
    ("np.linalg.norm(A @ x - b)**2", "A x b", 116),
    ("x @ y.T", "x y", 11),
]

SYMPY = [
    ("Trace(X**2*B)", "X B", 47),
    ("Trace(A*B)", "A B", 9),
    ("Determinant(A*B)", "A B", 2),
    ("Transpose(A)*x", "A x", [7, 10]),
    ("Inverse(A)*x", "A x", [0, 0.5]),
    ("A*Identity(2)", "A", [[1, 2], [3, 4]]),
    ("Identity(2) - A", "A", [[0, -2], [-3, -3]]),
    ("x.T*A*x + Trace(0*A)", "x A", 27),
    ("Transpose(x)*A*x", "x A", 27),
    ("A.I*x", "A x", [0, 0.5]),
    ("A.I @ x", "A x", [0, 0.5]),
    ("HadamardProduct(A, B)*x", "A B x", [4, 11]),
    ("Trace(MatMul(A, B))", "A B", 9),
    ('Trace(MatrixSymbol("A", 2, 2)*MatrixSymbol("B", n, n))', "A B", 9),
    ('X = MatrixSymbol("X", n, n); B = MatrixSymbol("B", n, n); Trace(X**2*B)', "X B", 47),
]

MATRIXCALCULUS = [
    ("norm2(A*x - y)^2", "A x y", 53),
    ("norm2(A*x - y)^2 + c*norm1(x)", "A x y c", 62),
    ("x'*A*x + c*sin(y)'*x", "x A y c", 27 + 3 * (np.sin(3) + 2 * np.sin(4))),
    ("tr(A*X'*B)", "A X B", 47),
    ("sum(log(exp(-y.*(M'*z)) + vector(1)))", "M y z", np.log1p(np.exp(12)) + np.log1p(np.exp(16))),
    ("vector(1)'*x", "x", 3),
    ("M*vector(1)", "M", [3, 7, 11]),
    ("vector(1)'*M", "M", [9, 12]),
    ("A .* matrix(1) + matrix(2)", "A", [[3, 4], [5, 6]]),
    ("inv(A'*A)*A'*y", "A y", [-2, 2.5]),
    ("A'*A + c*eye", "A c", [[13, 14], [14, 23]]),
    ("(A*x)' * y", "A x y", 59),
    ("x.*y + vector(1)", "x y", [4, 9]),
]


def _value(text: str, names: str) -> np.ndarray[Any, Any]:
    return Function(text).eval({name: AT[name] for name in names.split()}, check=False).value


@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [row for table in (ON_PAPER, MATLAB, NUMPY, SYMPY, MATRIXCALCULUS) for row in table],
)
def test_a_text_means_what_its_writers_mean(text: str, names: str, expected: object) -> None:
    """Its value, and its shape."""
    found = _value(text, names)
    wanted = np.asarray(expected, dtype=float)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
    assert found.shape == wanted.shape


GRADIENTS = [
    ("x^T A x", "x A", "x", [12, 21]),
    ("‖Ax-b‖²", "A x b", "x", [68, 96]),
    ("norm2(A*x - b)^2", "A x b", "x", [68, 96]),
    ("tr(A X B)", "A X B", "X", [[3, 4], [4, 6]]),
    ("y' A^{-1} x", "A x y", "y", [0, 0.5]),
    ("1^T(x ⊙ x)", "x", "x", [2, 4]),
    ("<x, A x>", "x A", "A", [[1, 2], [2, 4]]),
]
"""Texts, the names that have values, the variable, and the gradient."""


@pytest.mark.parametrize(("text", "names", "variable", "expected"), GRADIENTS)
def test_gradients(text: str, names: str, variable: str, expected: object) -> None:
    """By all three readings, which agree."""
    at = {name: AT[name] for name in names.split()}
    answer = Function(text).grad(at, wrt=[variable])
    np.testing.assert_allclose(answer.grad[variable], np.asarray(expected, dtype=float), rtol=1e-12, atol=1e-12)
    assert answer.check is not None
    assert answer.check.verdict == "agree"


@pytest.mark.part("closed_forms")
@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("x^T A x", {"x": ("n",), "A": ("n", "n")}),
        ("x'*A*x", {"x": ("n",), "A": ("n", "n")}),
        ("‖Ax-b‖²", {"A": ("m", "n"), "x": ("n",), "b": ("m",)}),
        ("norm2(A*x - y)^2", {"A": ("m", "n"), "x": ("n",), "y": ("m",)}),
        ("tr(A X B)", {"A": ("m", "n"), "X": ("n", "p"), "B": ("p", "m")}),
        ("log det X", {"X": ("n", "n")}),
    ],
)
@pytest.mark.one_in(2)
def test_shapes_need_not_be_given(text: str, shapes: dict[str, tuple[str, ...]]) -> None:
    """Those that the marks suggest are taken, and the formula holds there."""
    found = Function(text).closed_form("grad")
    assert {name: shape for name, shape in found.shapes.items() if name in shapes} == shapes
    assert found.check.verdict == "agree"


REMARKS = [
    ("x'*A*x", "x A", "* and ^ are those of matrices in this text, as it has x'"),
    ("Trace(A**2)", "A", "as it has Trace(...)"),
    ("tr A^2", "A", "as it has tr A"),
    ("x y", "x y", "x y of two vectors is element by element"),
    ("trace(A*B)", "A B", "* in A*B multiplies element by element; the matrix product is @"),
    ("trace(A**2)", "A", "A**2 is a power of each element; A @ A is the power of the matrix"),
    ("diag(x)*A", "x A", "* in diag(x)*A multiplies element by element"),
    ("A*x", "A x", "* in A*x multiplies each row of the matrix by the vector"),
    ("x.T*A*x", "A x", "* in x.T*A multiplies each row of the matrix by the vector"),
    ("A**-1", "A", "A**-1 is a power of each element; inv(A) is the inverse"),
    ("A'*A**2", "A", "A**2 is a power of each element; X^2 and X @ X are of the matrix"),
    ("tr(E^A)", "A", "E^A is a power of each element; matrix_exp(A) is the exponential"),
    ("x' x/A", "x A", "/ in x' x/A divides element by element"),
    ("‖B‖_2", "B", "is the norm of a matrix as an operator"),
    ("c'", "c", "c' is a number transposed"),
]
"""Texts, the names that have values, and the remark."""


@pytest.mark.parametrize(("text", "names", "remark"), REMARKS)
def test_what_may_be_meant_otherwise_is_remarked_on(text: str, names: str, remark: str) -> None:
    """Once."""
    warnings = Function(text).eval({name: AT[name] for name in names.split()}, check=False).warnings
    assert sum(remark in warning for warning in warnings) == 1, warnings


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("x^T A x", "x A"),
        ("2Ax - b", "A x b"),
        ("A .* B", "A B"),
        ("(x'y) A", "x y A"),
        ("c A^{-1}", "c A"),
        ("‖x ⊙ y‖²", "x y"),
        ("2(x+1)", "x"),
        ("sin c cos c", "c"),
        ("A*B + 1", "A B"),
    ],
)
def test_what_is_plain_is_not_remarked_on(text: str, names: str) -> None:
    """No word about it."""
    assert Function(text).eval({name: AT[name] for name in names.split()}, check=False).warnings == ()


REFUSED = [
    ("x A", "x A", "x A is of a column and a matrix", "write (x)' (A)"),
    ("A'*x'", "x A", "is of a matrix and a row", "write (A') (x')'"),
    ("x' y'", "x y", "is of two rows", "write (x') (y')'"),
    ("x' + y", "x y", "is of a row and a column", "transpose both or neither"),
    ("A × B", "A B", "× is the cross product of two vectors of three numbers", "write .* for"),
    ("x × y", "x y", "and the shapes are (2,) and (2,)", ".*"),
    ("<x, z>", "x z", "of two tensors of one shape", ""),
    ("M \\ z", "M z", "\\ divides by a square matrix", "pinv(M)"),
    ("‖M + I‖", "M", "I is an identity matrix, and the other operand has shape (3, 2)", "I"),
    ("1^T", "", "'1^T' is a vector of ones here, and nothing tells its size", "ones(3)"),
    ("‖x‖_q", "x", "'q' is no norm that is read", "‖x‖_1"),
    ("log det A B", "A B", "may be det of the first factor, or of the product", "write det(A) B, or det(A B)"),
    ("sin c x", "c x", "may be sin of the first factor, or of the product", "write sin(c) x, or sin(c x)"),
    ("A^{-1", "A", "'{' is never closed", "write A^{-1}"),
    ("‖x", "x", "'‖' is never closed", "add '‖'"),
    ("<x, y", "x y", "'<' is never closed", "add '>'"),
    ("f'(x)", "x", "f' is a derivative, or f transposed", "gradcli differentiates"),
    ("\\sum_i x_i", "x", "this '\\sum' of LaTeX is not read", "write sum(x)"),
    ("\\frac{x}{2", "x", "a brace is never closed", "write \\frac{x}{2}"),
    ("\\frac{x}", "x", "'\\frac' takes what is in braces", "add {...}"),
    ("\\lambda x\\foo", "x", "'\\foo' of LaTeX is not read", ""),
    ("\\mathbf{x} \\ x", "x", "a single '\\' in LaTeX is not read", "A^{-1} b"),
    ("\\foo x", "x", "unexpected '\\'", "LaTeX is read in part"),
    ("x_{i,j} + \\lambda", "x", "a subscript is one word of a name", "x[0]"),
    ("[a b; 1, 2]", "a b", "'a b' may be one element of a matrix, or several", "write commas"),
    ("[1 -2; 3 -4]", "", "'1 -2' may be one element of a matrix, or several", "write commas"),
    ("[1, 2; 3]", "", "the rows of a matrix have 2, 1 elements", "[1, 2; 3, 4]"),
    ("A' \\", "A", "ends too early", ""),
    ("A^2000 + A'", "A", "a power of a matrix has at most 1,024 factors", ".^"),
    ("MatrixSymbol(A, 2, 2)'", "A", "a matrix of SymPy has a name", 'MatrixSymbol("A", n, n)'),
    ("f(x)", "x", "unknown function 'f'", "gradcli functions lists them"),
    ("A(x) + b", "x b", "unknown function 'A'", "write A*(x) + b"),
    ("x**2 --wrt x", "x", "unexpected 'x'", "options stand outside of the quotes"),
]
"""Texts, the names that have values, and the words of the error and of its hint."""


LATEX = [
    (r"\|A\mathbf{x} - b\|_2^2", "‖A x - b‖_2^2"),
    (r"\lVert x\rVert_{1}", "‖x‖_1"),
    (r"\frac{1}{2} x^\top A x", "1/2 x^T A x"),
    (r"\tfrac12 x^{\top}A^{-1}x", "1/2 x^T A^-1 x"),
    (r"x^{\mathsf T} A^{-\top} b", "x^T A^-T b"),
    (r"\left(x - \mu\right)^\top\Sigma^{-1}(x-\mu)", "(x - mu)^T Sigma^-1 (x - mu)"),
    (r"\log\det X + \operatorname{tr}(A X)", "log det X + tr(A X)"),
    (r"\mathrm{tr}\left(A^{\top} X\right)", "tr(A' X)"),
    (r"A \odot B", "A .* B"),
    (r"x \otimes y", "x ⊗ y"),
    (r"\langle x, A x \rangle", "<x, A x>"),
    (r"\lambda\cdot\mathbf{x}^{\top}\mathbf{x}", "lambda x'x"),
    (r"\sqrt{x^\top x}\,\alpha_{1}", "sqrt(x'x) alpha_1"),
    (r"\hat{y}_1^\top x", "y_hat_1^T x"),
    (r"\sigma(w^\top x)", "sigmoid(w'x)"),
    (r"\sigma^2(x - y)", "sigma^2 .* (x - y)"),
    (r"\log|X|", "log det X"),
    (r"\mathbf{1}^\top x", "1^T x"),
    (r"\exp\{-x^\top x\}", "exp(-x'x)"),
    ("lambda*w'*w", "lam*w'*w"),
    ("[1, 2; 3, 4]*x", "[[1, 2], [3, 4]] @ x"),
    ("[1 2; 3 4] x", "[[1, 2], [3, 4]] @ x"),
    ("[1; 2]' x", "[1, 2] @ x"),
]
"""Texts of LaTeX and of MATLAB, and the same as the language has them."""


@pytest.mark.parametrize(("text", "same"), LATEX)
def test_what_latex_and_matlab_write_is_read(text: str, same: str) -> None:
    """As the operations of the same text on paper."""
    found, other = (parse(one.replace("lam*", "lambda*")) for one in (text, same))
    read = [[(line.call.op.name, *map(str, line.call.operands)) for line in one.lines] for one in (found, other)]
    assert read[0] == read[1]
    assert found.names == other.names


def test_an_error_in_latex_is_at_its_place() -> None:
    """Of the text as typed."""
    with pytest.raises(GradcliError) as raised:
        parse(r"\frac{1}{2} \lambda foo(\mathbf{x})")
    assert raised.value.place is not None
    assert raised.value.place.text[raised.value.place.span.start :].startswith("foo(")


@pytest.mark.parametrize(("text", "names", "message", "hint"), REFUSED)
def test_what_makes_no_sense_is_refused(text: str, names: str, message: str, hint: str) -> None:
    """At its place, with what to write."""
    with pytest.raises(GradcliError) as raised:
        _value(text, names)
    assert message in raised.value.message
    assert hint in (raised.value.hint or "")
    assert raised.value.place is not None


@pytest.mark.parametrize("text", ["(x)' (A)", "(A') (x')'", "(x') (y')'", "det(A) B, or", "x .* y"])
def test_what_a_hint_says_to_write_is_read(text: str) -> None:
    """The forms of the hints above."""
    names = " ".join(name for name in "A B x y".split() if name in text)
    assert _value(text.removesuffix(", or"), names).size


CUT = [
    ("ab", {"a": 2, "b": 3}, 6),
    ("2ab²", {"a": 2, "b": 3}, 36),
    ("Ax1", {"A": [[1, 2], [3, 4]], "x1": [1, 2]}, [5, 11]),
    ("x₁y₂", {"x1": 2, "y2": 5}, 10),
    ("A = [[0, 1], [1, 0]]; Ax", {"x": [1, 2]}, [2, 1]),
    ("Ax", {"Ax": 5}, 5),
    ("xy + x", {"xy": 5, "x": 1}, 6),
    ("lr*g", {"lr": 5, "g": 2}, 10),
    ("2Ax", {"Ax": 5}, 10),
    ("x'Ax", {"x": [1, 2], "Ax": [3, 4]}, 11),
]


@pytest.mark.parametrize(("text", "at", "expected"), CUT)
def test_names_with_values_are_cut_out_of_words(text: str, at: dict[str, Any], expected: object) -> None:
    """A word that has a value itself is one name."""
    answer = Function(text).eval(at, check=False)
    np.testing.assert_array_equal(answer.value, expected)
    assert not any("is read as" in warning for warning in answer.warnings)


@pytest.mark.parametrize(
    ("text", "at", "message"),
    [
        ("abc", {"a": 1, "bc": 2, "ab": 3, "c": 4}, "'abc' may be a bc, or ab c"),
        ("x'ab", {"x": [1, 2], "a": 1, "b": 2, "ab": [3, 4]}, "'ab' may be ab alone, or a b"),
    ],
)
def test_a_word_with_two_readings_is_refused_with_both(text: str, at: dict[str, Any], message: str) -> None:
    """And what the hint says is read."""
    with pytest.raises(LanguageError) as raised:
        Function(text).eval(at)
    assert message in raised.value.message
    for form in raised.value.hint.split()[1:3] if raised.value.hint else ():
        assert form in message


@pytest.mark.parametrize(
    ("text", "names", "remark"),
    [
        ("2Ax", ("A", "x"), "'Ax' is read as A x"),
        ("xᵀAx", ("x", "A"), "'Ax' is read as A x"),
        ("‖Ax - b‖", ("A", "x", "b"), "'Ax' is read as A x"),
        ("tr(AXB) + tr(A) + tr(B) + tr(X)", ("A", "X", "B"), "'AXB' is read as A X B"),
        ("Ax - b", ("Ax", "b"), ""),
        ("2*Ex", ("Ex",), ""),
        ("‖Re‖", ("Re",), ""),
        ("2lr", ("lr",), ""),
        ("‖total‖", ("total",), ""),
    ],
)
def test_words_without_values_are_cut_where_they_look_so(text: str, names: tuple[str, ...], remark: str) -> None:
    """In the notation of matrices, or after a number."""
    program = parse(text)
    assert program.names == names
    assert [f"'{name}' is read as {reading}" for name, reading in program.joined] == ([remark] if remark else [])


@pytest.mark.part("closed_forms")
@pytest.mark.parametrize(
    ("text", "variable", "formula"),
    [
        ("V*R^-1", "V", "1/R"),
        ("(V + 1)(R + 2)", "V", "R + 2"),
        ("V - I*R", "R", "-I"),
        ("x^-1", "x", "-1/x**2"),
        ("(x+1)(y+2)", "x", "y + 2"),
    ],
)
def test_a_formula_of_numbers_stays_one(text: str, variable: str, formula: str) -> None:
    """Whatever the letters are."""
    assert Function(text).closed_form("grad", wrt=[variable]).blocks["", variable].text == formula


@pytest.mark.part("closed_forms")
def test_a_formula_says_how_a_word_was_cut() -> None:
    """Unless a shape is given by its name."""
    assert any("'Ax' is read as A x" in warning for warning in Function("‖Ax‖²").closed_form("grad").warnings)
    whole = Function("‖Ax‖²").closed_form("grad", shape={"Ax": "n"})
    assert (whole.wrt, whole.warnings) == (("Ax",), ())


UNCHANGED = [
    ("x^T", {"x": 2, "T": 3}, 8),
    ("T*x^T", {"x": 2, "T": 3}, 24),
    ("x**T", {"x": 2, "T": 3}, 8),
    ("V - I*R", {"V": 9, "I": 2, "R": 3}, 3),
    ("x^-1*y", {"x": [1, 2], "y": [4, 6]}, [4, 3]),
    ("x⁻¹", {"x": [1, 2]}, [1, 0.5]),
    ("A^2", {"A": [[1, 2], [3, 4]]}, [[1, 4], [9, 16]]),
    ("A*B", {"A": [[1, 2], [3, 4]], "B": [[0, 1], [1, 1]]}, [[0, 2], [3, 4]]),
    ("(x+1)(x-1)", {"x": [1, 2]}, [0, 3]),
    ("A*A + x^-1", {"A": [[1, 2], [3, 4]], "x": 2}, [[1.5, 4.5], [9.5, 16.5]]),
    ("1/2x", {"x": 3}, 1.5),
    ("einsum('ij,j->i', A, x)", {"A": [[1, 2], [3, 4]], "x": [1, 2]}, [5, 11]),
    ("tr + log", {"tr": 1, "log": 2}, 3),
    ("norm2*vector", {"norm2": 2, "vector": 3}, 6),
    ("||x[0] - 3| - 1|", {"x": [1]}, 1),
    ("a < b", {"a": 1, "b": 2}, 1),
]


@pytest.mark.parametrize(("text", "at", "expected"), UNCHANGED)
def test_what_has_no_mark_means_what_it_meant(text: str, at: dict[str, Any], expected: object) -> None:
    """As in Python, and names that have values are variables."""
    np.testing.assert_array_equal(Function(text).eval(at, check=False).value, expected)


def test_i_is_a_variable_without_a_matrix(gradcli: Command) -> None:
    """Its value is asked for."""
    assert parse("V - I*R").names == ("V", "I", "R")
    run = gradcli("eval", "V - I*R", "--at", "V=2", "--at", "R=3")
    assert "no value for the variable 'I'" in run.err


def test_an_answer_repeats_what_was_typed(gradcli: Command) -> None:
    """And an error marks it there."""
    run = gradcli("eval", "‖Ax−b‖²", "--at", "A=[[1,2],[3,4]]", "--at", "x=1,2", "--at", "b=1,1")
    assert run.out.startswith("y = ‖Ax−b‖²\n")
    assert gradcli("eval", "xᵀx", "--at", "1,2").out.startswith("y = xᵀx\n")
    error = gradcli("eval", "√x₁·² + q)", "--at", "x1=1").err
    assert "  √x₁·² + q)\n      ^" in error


@pytest.mark.part("claims")
@pytest.mark.parametrize(
    ("text", "claim", "status"),
    [
        ("‖Ax-b‖²", "2A^T(Ax-b)", "proved"),
        ("‖Ax-b‖²", "2A'*(A*x-b)", "proved"),
        ("norm2(A*x-b)^2", "2*A'*(A*x - b)", "proved"),
        ("‖Ax-b‖²", "2*A*(A*x-b)", "refuted"),
        ("x^T A x", "(A + A')x", "proved"),
        ("x^T A x", "2Ax", "refuted"),
        ("A*x", "A + 0*A'", "proved"),
        ("A*x", "A'", "refuted"),
    ],
)
@pytest.mark.one_in(2)
def test_claims_are_read_as_the_function_is(text: str, claim: str, status: str) -> None:
    """A mark in either makes `*` of matrices in both."""
    at = {name: AT[name] for name in "Axb" if name in text}
    answer = Function(text).check(at, claim={"x": claim}, wrt=["x"])
    assert answer.claims[0].status == status


@pytest.mark.part("claims", "closed_forms")
@pytest.mark.parametrize(
    ("text", "variable", "claim", "status"),
    [
        ("x^T A x", "x", "(A + A^T)x", "proved"),
        ("x^T A x", "x", "2Ax", "refuted"),
        ("‖Ax-b‖²", "x", "2A^T(Ax-b)", "proved"),
        ("log det X", "X", "X^{-T}", "proved"),
        ("tr(AXB)", "X", "A'B'", "proved"),
        ("tr(AXB)", "X", "AB", "refuted"),
        ("x'*A*x + c*sin(y)'*x", "x", "(A + A')*x + c*sin(y)", "proved"),
        ("tr((A + λI)^{-1} B)", "B", "(A + λI)^{-T}", "proved"),
        ("A*x", "x", "A", "proved"),
        ("A*x", "x", "A'", "proved"),
    ],
)
@pytest.mark.one_in(4)
def test_claims_need_no_values(text: str, variable: str, claim: str, status: str) -> None:
    """Nor shapes."""
    (found,) = Function(text).check(claim={variable: claim}).claims
    assert found.status == status


@settings(max_examples=examples(500), deadline=None)
@given(st.text(alphabet="xAITb12.+-*/^@()[],<>'{}|\\_ ‖⟨⟩ᵀ⁻¹²⊗×⊙√trlog", max_size=30))
def test_any_text_of_matrices_is_read_or_refused(text: str) -> None:
    """With shapes and without."""
    for shapes in ({}, {"x": (2,), "A": (2, 2), "b": (2,)}):
        try:
            parse(text, shapes=shapes)
        except GradcliError as error:
            assert error.render()  # noqa: PT017


@pytest.mark.parametrize(
    "text",
    ["‖" * 500 + "x", "x" + "'" * 5000, "<" * 300, "x" + "^T" * 300, "tr " * 300 + "x", "x " * 5000, "A^{" * 300],
)
@pytest.mark.one_in(2)
def test_long_texts_end_in_a_reading_or_an_error(text: str) -> None:
    """And in no crash."""
    try:
        parse(text)
    except GradcliError as error:
        assert error.render()  # noqa: PT017

"""MATLAB's marks: the transpose, and products by elements beside products of matrices."""

from __future__ import annotations

import random

import numpy as np
import numpy.typing as npt
import pytest

from gradcli import Function
from gradcli.errors import GradcliError
from gradcli.language.inputs import read_value
from gradcli.language.lower.matlab import REMARK
from tests.conftest import Command

A, B = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]]), np.array([[2.0, -1.0], [0.5, 3.0]])
X, Y = np.array([1.0, 2.0, -1.0]), np.array([3.0, 0.5])
AT = {"A": A, "B": B, "x": X, "y": Y, "c": np.array(1.5)}

READ = [
    ("A'", A.T),
    ("A''", A),
    ("A.'*y", A.T @ Y),
    ("A*x + c.*0", A @ X),
    ("y'*A*x", np.array([Y @ A @ X])),
    ("y*x'", np.outer(Y, X)),
    ("x'*x", np.array([X @ X])),
    ("(A*x).*y", (A @ X) * Y),
    ("2*A'*y./c", 2 * A.T @ Y / 1.5),
    ("x.^2 + 2.*x./2", X**2 + X),
    ("2.^x'*x", np.array([2**X @ X])),
    ("A.*y", A * Y[:, None]),
    ("A + y.*2", A + 2 * Y[:, None]),
    ("x' + x", X[None] + X[:, None]),
    ("(x'*x)*y", X @ X * Y),
    ("c*A*x.*y", 1.5 * A @ X * Y),
    ("sum((A*x - y).^2)/2", np.sum((A @ X - Y) ** 2) / 2),
    ("norm(B*y - y')", np.linalg.norm((B @ Y)[:, None] - Y[None])),
    ("[1, 2]*B'", None),
    ("z = A'; z*y", A.T @ Y),
    ("B'*B^1", None),
    ("A'/B", None),
    ("x*x.*x", None),
]


@pytest.mark.parametrize(("text", "expected"), READ, ids=[text for text, _ in READ])
def test_products_are_those_of_matlab(text: str, expected: npt.NDArray[np.float64] | None) -> None:
    """Where a vector is a column; what MATLAB would refuse, or has another meaning for, is refused."""
    f = Function(text)
    at = {name: AT[name] for name in f.variables}
    if expected is None:
        with pytest.raises(GradcliError, match="matri"):
            f.eval(at)
        return
    answer = f.vjp(at, v="ones")
    assert answer.value.shape == np.shape(expected)
    np.testing.assert_allclose(answer.value, expected, rtol=1e-14)
    assert answer.check is not None
    assert answer.check.verdict == "agree"


def test_a_caret_alone_is_no_mark() -> None:
    """It is the power of the language, and `*` multiplies elements; a remark says what it does to a matrix."""
    at = {"A": B, "x": Y, "b": Y}
    answer = Function("0.5*norm(A*x-b)^2").eval(at)
    np.testing.assert_allclose(answer.value, np.sum((B * Y - Y) ** 2) / 2)
    assert any("the matrix product is @" in w for w in answer.warnings)
    for text in ("A*2 + sum(x)", "A@x", "A*A", "x*x", "A*x[0]", "(A*x).sum(1)", "torch.sum(A*x)"):
        f = Function(text)
        assert f.eval({name: at[name] for name in f.variables}).warnings == ()


def test_the_reading_is_remarked_on() -> None:
    """Once, and not where no product or vector depends on it."""
    assert Function("x'*B*x + x'*x").eval({"x": Y, "B": B}).warnings == (REMARK,)
    assert Function("x.^2").eval({"x": Y}).warnings == ()


def test_values_claims_and_v_are_read_alike(gradcli: Command) -> None:
    """A gradient as MATLAB's users write it is proved."""
    np.testing.assert_array_equal(read_value("[[1,2],[3,4]]'*[1,1]", "--at"), [4, 6])
    claimed = gradcli(
        "check", "x@A@x", "--at", "x=1,2", "--at", "A=[[1,2],[3,4]]", "--wrt", "x", "--claim", "A*x + A'*x"
    )
    assert "proved" in claimed.out
    weighed = gradcli("vjp", "A@x", "--at", "x=1,2", "--at", "A=[[1,2],[3,4]]", "--wrt", "x", "--v", "A'*y")
    assert weighed.code == 0
    plain = gradcli("vjp", "A@x", "--at", "x=1,2", "--at", "A=[[1,2],[3,4]]", "--wrt", "x", "--v", "A.T@y")
    assert weighed.out.splitlines()[2:] == plain.out.splitlines()[2:]


@pytest.mark.parametrize("text", ["einsum('i,i', x, x)", "norm(x, p='fro')", "mse_loss(x, x, reduction='sum')"])
def test_words_in_quotes_stay_words(text: str) -> None:
    """A quote is a mark only directly behind an operand."""
    assert Function(text).eval({"x": X}).warnings == ()


def test_scripts_and_rewrites_of_such_texts_run(gradcli: Command) -> None:
    """They are written in Python."""
    words = ["x'*A*x", "--at", "A=[[1,2],[3,4]]", "--at", "x=1,2"]
    script = gradcli("code", *words).out
    space: dict[str, object] = {"print": lambda *shown: None}
    exec(compile(script, "script", "exec"), space)
    np.testing.assert_array_equal(space["x"].grad.numpy(), [12, 21])  # type: ignore[attr-defined]
    assert gradcli("explain", *words).code == 0
    assert gradcli("grad", "sum((1-cos(x)).*x'')", "--at", "1e-9,1e-9").code == 0


def _expression(rng: random.Random, depth: int) -> tuple[str, npt.NDArray[np.float64]]:
    """A random text with marks, and what MATLAB makes of it, columns being matrices of one column."""
    if depth == 0 or rng.random() < 0.2:
        name = rng.choice(["A", "B", "x", "y", "c"])
        value = AT[name]
        return name, value if value.ndim == 2 else value.reshape(-1, 1)
    (left, a), (right, b) = _expression(rng, depth - 1), _expression(rng, depth - 1)
    match rng.choice(["'", "*", "*", ".*", "+", "-", "./"]):
        case "'":
            return f"({left})'", a.T
        case "*" if a.size == 1 or b.size == 1 or a.shape[1] == b.shape[0]:
            return f"({left})*({right})", a * b if a.size == 1 or b.size == 1 else a @ b
        case sign if sign != "*" and all(m == n or 1 in (m, n) for m, n in zip(a.shape, b.shape, strict=True)):
            function = {".*": np.multiply, "+": np.add, "-": np.subtract, "./": np.divide}[sign]
            return f"({left}){sign}({right})", function(a, b)
    return left, a


def test_random_expressions_have_the_numbers_of_matlab() -> None:
    """Whose rules for shapes are a few lines of NumPy."""
    rng = random.Random(7)
    done = 0
    while done < 300:
        with np.errstate(all="ignore"):
            text, expected = _expression(rng, 4)
        f = Function(text)
        if not any(mark in text for mark in ("'", ".*", "./")):
            continue
        found = f.eval({name: AT[name] for name in f.variables}, check=False).value
        assert found.size == expected.size, text
        np.testing.assert_allclose(found.reshape(expected.shape), expected, rtol=1e-9, err_msg=text)
        done += 1

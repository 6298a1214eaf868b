"""The loss that v comes from: its value, its derivative by y, and the gradient of both functions in one go."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcli.errors import GradcliError, UsageError
from gradcli.language.snippets import read
from gradcli.questions.judging import product
from gradcli.questions.loss import apart, derive_loss
from gradcli.questions.question import Dtype, Inquiry, Question, prepare
from gradcli.results import Loss


def _question(expression: str, dtype: Dtype = "float64", **at: Any) -> Question:
    return prepare(Inquiry(expression, read(expression), at, None, dtype))


def _loss(expression: str, loss: str, extra: dict[str, Any] | None = None, **at: Any) -> tuple[Question, Loss]:
    question = _question(expression, **at)
    arrays = {name: np.array(value, dtype=float) for name, value in (extra or {}).items()}
    return question, derive_loss(question, loss, arrays)


def _product(question: Question, v: Any) -> dict[str, Any]:
    return {name: array.tolist() for name, array in product(question, v, check=False)[0].items()}


def test_v_is_the_derivative_of_the_loss_by_y() -> None:
    """Of sum(y**2) at y = 1, 4: 2*y = 2, 8; of y = x**2, the gradient of x1**4 + x2**4 is 4*x**3 = 4, 32."""
    question, loss = _loss("x**2", "sum(y**2)", x="1,2")
    assert (loss.value.item(), loss.v.tolist(), loss.gradient["x"].tolist()) == (17, [2, 8], [4, 32])
    assert loss.formula is not None
    assert [(c.row, c.column, c.pretty) for c in loss.formula.cells] == [("loss", "y[j]", "2·y[j]")]
    assert _product(question, loss.v) == {"x": [4, 32]}
    assert loss.check is not None
    assert (loss.check.verdict, loss.warnings) == ("agree", ())


def test_y_is_called_as_the_function_calls_its_output() -> None:
    """With z = 2*x and its sum, as in the thread: ones are where v comes from."""
    _, loss = _loss("z = 2*x", "z.sum(dim=1)", x="[[1,2,3,4]]")
    assert (loss.v.tolist(), loss.gradient["x"].tolist()) == ([[1] * 4], [[2] * 4])
    assert loss.value.shape == (1,)


def test_targets_have_values_of_their_own() -> None:
    """Of sum((y - t)**2) at y = 1, 4 and t = 3, 3: 2*(y - t) = -4, 2; times 2*x: -8, 8."""
    _, loss = _loss("x**2", "d = y - t; sum(d**2)", {"t": [3, 3]}, x="1,2")
    assert (loss.v.tolist(), loss.gradient["x"].tolist()) == ([-4, 2], [-8, 8])
    assert loss.inputs["t"].tolist() == [3, 3]
    assert loss.warnings == ()


def test_a_variable_in_the_loss_is_held_constant() -> None:
    """d/dx of c*x**2 with c = x = 3 held is 2*c*x = 18, not 3*x**2 = 27."""
    _, loss = _loss("x**2", "x*y", x="3")
    assert (loss.v.item(), loss.gradient["x"].item()) == (3, 18)
    assert loss.warnings == ("the loss names x, held constant there: v is its derivative by y alone",)


def test_a_function_that_is_its_own_variable_or_a_number() -> None:
    """With y = x, and y = 7 of which nothing depends on x."""
    assert _loss("x", "y**2", x="3")[1].gradient["x"].item() == 6
    assert _loss("7 + 0*x", "y**2", x="3")[1].gradient["x"].item() == 0
    question = _question("7")
    assert derive_loss(question, "y**2", {}).v.item() == 14


def test_a_softmax_and_its_cross_entropy() -> None:
    """The well-known p - t, in one go and by v = -t/p."""
    question, loss = _loss("softmax(x)", "-sum(t*log(y))", {"t": [0, 0, 1]}, x="1,2,3")
    p = np.exp([1, 2, 3]) / np.exp([1, 2, 3]).sum()
    np.testing.assert_allclose(loss.v, [0, 0, -1 / p[2]], rtol=1e-15)
    np.testing.assert_allclose(loss.gradient["x"], p - [0, 0, 1], rtol=1e-15)
    np.testing.assert_allclose(_product(question, loss.v)["x"], p - [0, 0, 1], rtol=1e-15)


def test_the_verdict_on_a_kink_of_the_loss_is_its_own() -> None:
    """At abs of y = 0."""
    _, loss = _loss("x**2", "sum(abs(y))", x="0,1")
    assert loss.check is not None
    assert loss.check.verdict == "kink"


def test_float32_is_float32_throughout() -> None:
    """V, the value and the gradient."""
    question = _question("x**2", "float32", x="0.1,2")
    loss = derive_loss(question, "sum((y - t)**2)", {"t": np.array([0.1, 0.2])})
    assert {loss.v.dtype, loss.value.dtype, loss.gradient["x"].dtype} == {np.dtype("float32")}


def test_values_are_the_functions_or_the_losses() -> None:
    """A name that neither has is left for the function to refuse."""
    inquiry = Inquiry("x**2", read("x**2"), {"x": "1,2", "t": "3,4", "q": "5"})
    own, extra = apart(inquiry, "sum((y - t)**2)")
    assert (own.at, extra["t"].tolist()) == ({"x": "1,2", "q": "5"}, [3, 4])


def test_a_constant_that_is_given_a_value_is_the_functions() -> None:
    """In pi*x at pi = 3 the function has a variable pi, and the loss the same one, held constant."""
    from gradcli import Function

    answer = Function("pi*x").explain({"x": "2", "pi": "3"}, loss="y*pi", check=False)
    assert (answer.value.item(), answer.v.item(), answer.vjp["pi"].item()) == (6, 3, 6)


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        ("y**2", "the loss has shape (2,), and a loss has one element"),
        ("sum(x)", "the loss does not name y, the output"),
        ("sum(y*q)", "the loss names 'q', which has no value"),
        ("sum(y", "is never closed"),
        ("__import__('os')", "is not allowed"),
        ("", "there is no formula"),
        ("sum(y*[1,2,3])", "do not broadcast"),
        ("y, y", "a loss has one element"),
    ],
)
def test_a_wrong_loss_is_refused_at_its_place(loss: str, message: str) -> None:
    """With the text it stands in."""
    with pytest.raises(GradcliError) as error:
        _loss("x**2", loss, x="1,2")
    assert message in error.value.render()
    assert "in --loss" in error.value.render()


def test_v_and_a_loss_exclude_each_other() -> None:
    """Each gives v."""
    inquiry = Inquiry("x**2", read("x**2"), {"x": "1,2"})
    with pytest.raises(UsageError):
        apart(inquiry, "sum(y)", "1,1")

"""The Python API: every reading meets hand-derived truths, and every wrong input is told apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcli
from gradcli.errors import GradcliError, InputError, ShapeError, TooLargeError
from tests.truths import TRUTHS, Truth


@pytest.mark.parametrize("truth", TRUTHS, ids=str)
def test_value_jacobian_and_verdict_meet_the_hand_derived_truth(truth: Truth) -> None:
    """Value and Jacobian to 14 digits, the verdict `agree`, and every entry checked."""
    answer = gradcli.Function(truth.expression).jacobian(truth.at, wrt=list(truth.jacobian))
    np.testing.assert_allclose(answer.value, truth.value, rtol=1e-14)
    assert answer.jacobian is not None
    for name, expected in truth.jacobian.items():
        np.testing.assert_allclose(answer.jacobian[name], expected, rtol=1e-14, atol=1e-300)
    assert answer.check is not None
    assert answer.check.verdict == "agree"
    assert answer.check.checked == answer.check.entries


@pytest.mark.parametrize("truth", [t for t in TRUTHS if t.jacobian], ids=str)
def test_vjp_is_v_times_the_hand_derived_jacobian(truth: Truth) -> None:
    """VᵀJ contracts all dimensions of y, for a v that tells them apart."""
    value = np.asarray(truth.value, dtype=float)
    v = 1.0 + np.arange(value.size).reshape(value.shape) / 7
    answer = gradcli.Function(truth.expression).vjp(truth.at, v, wrt=list(truth.jacobian))
    for name, expected in truth.jacobian.items():
        np.testing.assert_allclose(
            answer.vjp[name], np.tensordot(v, np.asarray(expected, dtype=float), axes=v.ndim), rtol=1e-14, atol=1e-300
        )
    assert answer.check is not None
    assert answer.check.verdict == "agree"


@pytest.mark.parametrize("truth", TRUTHS, ids=str)
def test_float32_agrees_to_float32(truth: Truth) -> None:
    """The same in single precision, where the reference takes the inputs as rounded."""
    answer = gradcli.Function(truth.expression).jacobian(truth.at, wrt=list(truth.jacobian), dtype="float32")
    assert answer.value.dtype == np.float32
    np.testing.assert_allclose(answer.value, np.asarray(truth.value, dtype=np.float32), rtol=1e-5, atol=1e-6)
    assert answer.check is not None
    assert answer.check.verdict == "agree"


def test_a_formula_is_given_for_each_variable_with_a_closed_form() -> None:
    """Every truth but those with a change of shape has a formula, confirmed."""
    for truth in TRUTHS:
        answer = gradcli.Function(truth.expression).jacobian(truth.at)
        omitted = {name: why for name, why in answer.symbolic_omitted.items() if "view" not in truth.expression}
        assert not omitted, truth.expression


def test_v_defaults_to_one_for_one_element_whatever_its_shape() -> None:
    """As in torch, () and (1,) and (1, 1) need no v."""
    for at in (3.0, [3.0], [[3.0]]):
        answer = gradcli.Function("x**2").vjp({"x": at})
        assert answer.v.shape == answer.value.shape == np.shape(at)
        assert answer.vjp["x"].item() == 6.0


def test_gradient_of_one_element_only() -> None:
    """`grad` refuses a y of several elements and says what to use."""
    with pytest.raises(InputError, match=r"shape \(2,\)"):
        gradcli.Function("x**2").grad({"x": [1, 2]})


@pytest.mark.parametrize(
    ("at", "message"),
    [
        ({}, "no value for the variables 'x', 'w'"),
        ({"x": 1}, "no value for the variable 'w'"),
        ({"x": 1, "w": 2, "z": 3}, "no such variable"),
        ({"x": "1,,2", "w": 2}, "unexpected ','"),
        ({"x": "a", "w": 2}, "a value cannot use the name 'a'"),
        ({"x": [[1, 2], [3]], "w": 2}, "not an array of real numbers"),
        ({"x": [1 + 2j], "w": 2}, "not an array of real numbers"),
        ({"x": ["1"], "w": 2}, "not an array of real numbers"),
        ({"x": [1, 2, 3], "w": [1, 2]}, r"\(3,\) and \(2,\) do not broadcast"),
    ],
)
def test_wrong_values_are_told_apart(at: dict[str, Any], message: str) -> None:
    """Each wrong input has a message of its own."""
    with pytest.raises(GradcliError, match=message):
        gradcli.Function("x*w").eval(at)


def test_constants_are_variables_when_given_a_value() -> None:
    """E is Euler's number unless the user says otherwise."""
    assert gradcli.Function("E*x").eval({"x": 1}).value == pytest.approx(np.e)
    assert gradcli.Function("E*x").eval({"x": 1, "E": 2}).value == 2


def test_a_shape_error_names_both_shapes_and_the_place() -> None:
    """In the middle of a program, the sub-expression is marked."""
    with pytest.raises(ShapeError) as error:
        gradcli.Function("y = x*2; z = A@y; sum(z)").eval({"x": [1, 2], "A": [[1, 2, 3]]})
    assert "(1, 3) and (2,)" in error.value.message
    assert error.value.place is not None
    span = error.value.place.span
    assert error.value.place.text[span.start : span.stop] == "A@y"


def test_a_jacobian_over_the_memory_budget_is_refused_with_its_size() -> None:
    """Before torch allocates anything: 20,000² float64 are 3 GiB."""
    with pytest.raises(TooLargeError, match=r"400,000,000 entries and takes 3.0 GiB"):
        gradcli.Function("x**2").jacobian({"x": np.zeros(20_000)})


def test_vjp_of_a_million_elements_leaves_the_jacobian_out() -> None:
    """And says so, and checks an honest sample."""
    x = np.linspace(0, 1, 1_000_000)
    answer = gradcli.Function("x**2").vjp({"x": x}, "ones")
    np.testing.assert_allclose(answer.vjp["x"], 2 * x)
    assert answer.jacobian is None
    assert "1,000,000,000,000 entries" in answer.jacobian_omitted
    assert answer.check is not None
    assert (answer.check.verdict, answer.check.entries, answer.check.checked) == ("agree", 1_000_000, 256)
    assert "sampled" in answer.check.chosen
    assert answer.symbolic["x"].text == "2*x[i]*KroneckerDelta(i, j)"


def test_the_formula_of_a_million_elements_is_confirmed_though_the_sum_is_too_long_to_check() -> None:
    """Softmax: the verdict is an honest `unchecked`, the formula is confirmed at a smaller size, and says so."""
    answer = gradcli.Function("exp(x)/sum(exp(x))").vjp({"x": np.linspace(0, 1, 1_000_000)}, "ones")
    assert answer.check is not None
    assert (answer.check.verdict, answer.check.checked) == ("unchecked", 0)
    assert answer.check.notes
    assert "999999" in answer.symbolic["x"].text
    assert answer.symbolic["x"].note


def test_results_are_the_objects_that_the_command_renders() -> None:
    """The README's example."""
    answer = gradcli.Function("x**2").vjp({"x": [1, 2]}, v=[1, 1])
    assert isinstance(answer, gradcli.VJP)
    assert isinstance(answer.check, gradcli.Check)
    assert answer.symbolic["x"].cells[0].pretty == "2·x[i]·δ[i,j]"


def test_the_process_state_is_left_alone() -> None:
    """Neither Arb's precision nor torch's default dtype changes."""
    import flint
    import torch

    before = flint.ctx.prec, torch.get_default_dtype()
    gradcli.Function("(1-cos(x))/x**2").grad({"x": 1e-8})
    assert (flint.ctx.prec, torch.get_default_dtype()) == before


def test_unknown_names_of_the_package_are_attribute_errors() -> None:
    """The lazy package behaves like any module."""
    with pytest.raises(AttributeError):
        _ = gradcli.nothing


SIZES = [
    ("eye(A.shape[0])@A", {"A": [[1, 2, 3], [4, 5, 6]]}, [[1, 2, 3], [4, 5, 6]]),
    ("A.view(A.size(1), -1)", {"A": [[1, 2, 3], [4, 5, 6]]}, [[1, 2], [3, 4], [5, 6]]),
    ("sum(x[i]*i for i in range(len(x)))", {"x": [1, 2, 3]}, 8),
    ("x[x.shape[0] - 1]", {"x": [1, 2, 3]}, 3),
    ("[x[i + 1] - x[i] for i in range(len(x) - 1)]", {"x": [1, 4, 9]}, [3, 5]),
    ("[x[0] for i in range(1, len(x) - 3)] + x[0]", {"x": [1, 2, 3, 4, 5]}, [2]),
    ("n = x.numel(); zeros(n // 2) + x.sum()/n", {"x": [1, 2, 3, 6]}, [3, 3]),
    ("y = A@x; y*ones(y.shape[0])", {"A": [[1, 2], [3, 4], [5, 6]], "x": [1, 1]}, [3, 7, 11]),
]


@pytest.mark.parametrize(("text", "at", "expected"), SIZES, ids=[text for text, _, _ in SIZES])
def test_sizes_of_variables_may_stand_where_constants_must(text: str, at: dict[str, Any], expected: object) -> None:
    """They are known when the values are; the variables are known before."""
    f = gradcli.Function(text)
    assert set(f.variables) == set(at)
    answer = f.jacobian(at)
    np.testing.assert_array_equal(answer.value, expected)
    assert answer.check is not None
    assert answer.check.verdict == "agree"


@pytest.mark.parametrize("text", ["x[y]", "eye(x)", "zeros(x.shape[0]*y)", "[x for i in range(sum(x))]"])
def test_values_of_variables_may_not(text: str) -> None:
    """A shape never depends on a value."""
    with pytest.raises(GradcliError, match="integer constant"):
        gradcli.Function(text).eval({"x": [1, 2], "y": 1})


def test_variables_may_be_called_like_constants_modules_and_indices() -> None:
    """A value makes a name a variable; formulas take other letters for their indices."""
    answer = gradcli.Function("E*i + n*S + j*k").vjp(dict.fromkeys("EinSjk", 2.0))
    assert all(float(gradient) == 2.0 for gradient in answer.vjp.values())
    assert answer.symbolic["E"].text == "i"
    transposed = gradcli.Function("F.T@F + N").vjp({"F": [[1, 2], [3, 4]], "N": 1}, "ones")
    np.testing.assert_array_equal(transposed.vjp["F"], [[6, 6], [14, 14]])

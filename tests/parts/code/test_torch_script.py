"""PyTorch scripts: the numbers of `vjp` bit for bit, in the words of somebody who writes PyTorch."""

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from gradcli import Function, GradcliError
from gradcli.language import ops
from gradcli.language.inputs import Value, read_value
from gradcli.questions.bound_function import Dtype
from gradcli.results import Language
from tests.examples import examples, in_turn, quarter
from tests.parts.code.running import EDGES, Edge, ran, run_script
from tests.parts.paste.test_snippets import PASSES
from tests.programs import Random, programs


def same_numbers(
    text: str, at: Mapping[str, Value] | None = None, v: Value | None = None, dtype: Dtype = "float64"
) -> str:
    """The script, which was run and gave the very bits of `vjp`."""
    source, names, answer = ran(text, at, v, "torch", dtype)
    assert all(len(line) <= 100 for line in source.splitlines()), source
    for name, found in zip(answer.wrt, names["printed"], strict=bool(answer.wrt)):
        expected = answer.vjp[name]
        array = found.numpy()
        assert array.dtype == expected.dtype, source
        assert np.array_equal(array, expected, equal_nan=True), (source, array, expected)
        assert array.shape == expected.shape
        assert np.array_equal(np.signbit(array + 0.0), np.signbit(expected)) or np.isnan(array).any(), source
    return source


CALLED = [op for op in ops.TABLE.values() if op.name != "with_eigenvalues"]
"""Operations whose call rounds as its backward pass does; that of the other one is written in several calls."""


@pytest.mark.parametrize(
    ("op", "dtype"),
    in_turn(quarter(CALLED, 1), "float64", "float32"),
    ids=[f"{op.name}-{dtype}" for op in CALLED for dtype in ("float64", "float32")],
)
@pytest.mark.one_in(2)
def test_every_operation_is_called_as_gradcli_calls_it(op: ops.Op, dtype: Dtype) -> None:
    """The worked example of its row."""
    text, at = op.worked_example
    y = Function(text).eval(at, check=False).value
    v = np.arange(1.0, y.size + 1).reshape(y.shape)
    same_numbers(text, at, v, dtype)


@pytest.mark.parametrize("text", PASSES)
def test_a_snippet_comes_back_as_a_script(text: str) -> None:
    """With the values, the gradient vector and the variables that it says."""
    same_numbers(text)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(program=programs())
def test_random_programs(program: Random) -> None:
    """Sums of many contributions add up in the same order, so that the last bit is the same."""
    used = Function(program.text).variables
    same_numbers(program.text, {name: program.leaves[name].detach().numpy() for name in used}, "ones")


OWN: list[Edge] = [
    # the order of contributions to x.grad is that of the Program, though u is needed first
    ("sin(x)*(x+1) + exp(x)*(x+1)**2 + cos(x)/(x+1)", {"x": "0.1,0.7,1.3"}, "ones"),
    ("u = x*x; a = sin(u)*x + cos(x)*u; b = exp(a)*u; a*b + x/u", {"x": "0.3,0.7"}, "0.1,0.3"),
    # constants
    ("x*inf - x*nan", {"x": "1.1,2.3"}, "ones"),
    ("maximum(x, 0) + minimum(x, inf) + hypot(x, -2)", {"x": "0,2.3"}, "ones"),
    ("x + 2**60 + x*123456789012345678901234567890", {"x": "1.5"}, None),
    ("clamp(x, y, 1) + clamp(x, 0, 1) + x.clamp(min=0)", {"x": "-1,0,0.5", "y": "0.1"}, "ones"),
    ("masked_fill(x, x > 1, 5) + masked_fill(x, x > 1, y) + leaky_relu(x, y)", {"x": "-1,2", "y": "0.1"}, "ones"),
    # sizes
    ("x.sum()/x.shape[0] + x.size(1) + len(x)*x.mean()", {"x": "[[1.1,2.3],[3,4]]"}, None),
    # lists
    ("[[x, 1], [2, y]] @ [x, y] + [1, 1/3]", {"x": "1.1", "y": "0.3"}, "0.1,0.3"),
    # reductions
    ("sum(x) + x", {"x": "-0.0"}, None),
    ("sum(sum(x, dim=0), dim=()) + logsumexp(x, dim=(0, 1)) + norm(x, p=3) + norm(x, inf, 1).sum()",
     {"x": "[[1.1,2.3],[3,4]]"}, "ones"),
    # a number of its own where a default stands
    ("layer_norm(x, 2, eps=0.5) + rms_norm(x, 2, eps=0.25)", {"x": "1,2.3"}, "ones"),
    # what y does not depend on
    ("(x > 1) + 0", {"x": "1,2"}, "ones"),
    ("norm(x, 0)*y", {"x": "3", "y": "2"}, None),
    # beyond the range of float32
    ("where(x > 1.5, x, 1e308)*full((2,), 1e39)", {"x": "1,2"}, "ones"),
    ("x**2", {"x": "1,2"}, "2*y"),
    ("x**2", {"x": "inf,-inf,nan,-0.0"}, "ones"),
    # values
    ("x**2", {"x": "linspace(-1,1,2000)"}, "ones"),
    ("x**2", {"x": "arange(5000)"}, "ones"),
    ("x**2", {"x": "arange(0, 3, 0.3)"}, "ones"),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("text", "at", "v"), EDGES + OWN, ids=[edge[0] + str(edge[2]) for edge in EDGES + OWN])
def test_edges(text: str, at: dict[str, str], v: str | None, dtype: Dtype) -> None:
    """Order, precedence, constants, sizes, lists, dimensions, v and values."""
    same_numbers(text, at, v, dtype)


RULES = [
    ("full((2, 4), -0.5)", "full((2, 4), -0.5, dtype"),
    ("full(7, 1/3)", "full((7,), 0.3333333333333333, dtype"),
    ("eye(3, 4)", "eye(3, 4, dtype"),
    ("2*eye(2)", "2.0, 0.0], [0.0, 2.0]], dtype"),
    ("zeros(3, 3)", "zeros((3, 3), dtype"),
]


@pytest.mark.parametrize(("value", "rule"), RULES)
@pytest.mark.parametrize("to", ["torch", "numpy"])
def test_values_are_written_by_a_rule(value: str, rule: str, to: Language) -> None:
    source = Function("exp(x)").code({"x": value}, "ones", to=to).source
    assert (rule.removesuffix(", dtype") if to == "numpy" else rule) in source
    np.testing.assert_array_equal(np.asarray(run_script(source)[0]["x"].tolist()), read_value(value, "--at"))


def test_a_long_sum_is_statements_of_bounded_length() -> None:
    """Not one expression that Python's own parser refuses."""
    text = "+".join(f"sin({n}*x)" for n in range(1, 900))
    source = same_numbers(text, {"x": "0.1,0.2"}, "ones")
    assert len(source.splitlines()) > 100


REFUSED = [
    ("x**2", {"x": "randn(1001)"}, "follow no simple rule"),
    ("+".join(["sin(x)"] + [f"x*{n}" for n in range(2, 6000)]), {"x": "1"}, "operations"),
    ("x**2", {"x": "1,2"}, "a gradient vector v of"),
    ("x**2", {}, "no value for the variable"),
]


@pytest.mark.parametrize(("text", "at", "message"), REFUSED)
@pytest.mark.one_in(2)
def test_what_is_refused(text: str, at: dict[str, str], message: str) -> None:
    """As everywhere: one message with a hint."""
    with pytest.raises(GradcliError, match=message) as caught:
        Function(text).code(at, "ones" if "randn" in str(at) else None)
    assert caught.value.hint

"""The Python API: every reading meets hand-derived truths, and every wrong input is told apart."""

import dataclasses
import importlib
import pickle
import pkgutil
import pydoc
import traceback
from typing import Any

import numpy as np
import pytest
import torch

import gradcli
from gradcli import Function, results
from gradcli.errors import GradcliError, InputError
from gradcli.questions.bound_function import Dtype
from gradcli.registry import questions
from tests.checks import check_of
from tests.crosscheck.asking import wrong_formulas
from tests.truths import TRUTHS, Truth

PLAIN = ("grad", "hessian", "hvp", "jacobian", "jvp", "vjp")


class _Noted(Function):
    asked = 0

    def grad(self, *args: Any, **options: Any) -> results.Gradient:
        """Count the calls."""
        self.asked += 1
        return super().grad(*args, **options)


def test_a_method_is_one_of_a_class() -> None:
    """It can be overridden, pickled and named."""
    f = _Noted("x**2")
    assert f.grad(3).grad["x"] == 6
    assert f.asked == 1
    assert pickle.loads(pickle.dumps(Function.grad)) is Function.grad
    untyped: Any = Function("x").vjp
    with pytest.raises(TypeError, match=r"vjp takes at most 2 arguments by place: at, v, and 3 are given"):
        untyped(3, "1", "2")


@pytest.mark.part("claims", "running", "tables")
def test_the_package_shows_what_users_call() -> None:
    """By `dir()`, `help()` and a star; the classes of answers stand in `gradcli.results`."""
    others = {"Function", "GradcliError", "record", "results", "run", "map", "__version__"}
    assert {*dir(gradcli)} == {*questions(), *others}
    assert all(getattr(gradcli, name) for name in dir(gradcli))
    shown = pydoc.plain(pydoc.render_doc(gradcli))
    assert "class Function(" in shown
    assert "vjp(function, /, at:" in shown
    assert shown.index(">>> gradcli.grad(") < shown.index("a function of Python") < shown.index("rooms")
    found: dict[str, object] = {}
    exec("from gradcli import *", found)
    assert found.keys() >= {*dir(gradcli)}


@pytest.mark.part("running")
@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.one_in(2)
def test_a_derivative_is_a_plain_function_too(name: str) -> None:
    """Of a text, of a function, and of one of Python, in the dtype of its tensors."""
    u: list[Any] = [2.0] if name == "vjp" else [[1.0, 1.0]] if name in ("jvp", "hvp") else []
    asked = getattr(gradcli, name)
    expected = getattr(gradcli.Function("sum(x**3)"), name)([1, 2], *u)
    for answer in (asked("sum(x**3)", [1, 2], *u), asked(gradcli.Function("sum(x**3)"), [1, 2], *u)):
        assert answer.to_json() == expected.to_json()
    for at in (torch.tensor([1.0, 2.0]), {"x": torch.tensor([1.0, 2.0])}):
        ran = asked(lambda x: (x**3).sum(), at, *u)
        assert ran.dtype == "float32"
        assert ran.to_dict()[name] == expected.to_dict()[name]


@pytest.mark.part("closed_forms", "paste", "running")
@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.one_in(2)
def test_a_derivative_at_no_point_is_its_formula(name: str) -> None:
    """As in the shell; a text that has values, and a direction, ask for numbers."""
    formula = gradcli.Function("sum(a*x**3)").closed_form(name, wrt=["x"])
    assert str(getattr(gradcli.Function("sum(a*x**3)"), name)(wrt=["x"])) == str(formula)
    assert str(getattr(gradcli, name)("sum(a*x**3)", wrt=["x"])) == str(formula)
    if name in ("vjp", "jvp", "hvp"):
        with pytest.raises(InputError, match="no value for the variable"):
            getattr(gradcli, name)("x**3", None, 1)
    snippet = gradcli.Function("x = torch.tensor(2.); u = torch.tensor(1.); y = x**3")
    assert getattr(snippet, name)(**{"u": {"x": 1}} if name in ("jvp", "hvp") else {}).value == 8


def _raises(x: torch.Tensor) -> torch.Tensor:
    raise ValueError("said by a function of the user's")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: gradcli.Function("2*sine(x)"),
            "unknown function 'sine'\n  2*sine(x)\n    ^^^^\nhint: write 2*sin(x)",
        ),
        (lambda: gradcli.Function("x**2").vjp("(1"), "(in at["),
        pytest.param(lambda: gradcli.vjp("x**2", [1, 2]), "hint: v=[1, 1] sums", marks=pytest.mark.part("running")),
        pytest.param(
            lambda: gradcli.grad(gradcli.Function("sum(x)"), "@no.csv"),
            "unexpected '@'",
            marks=pytest.mark.part("running"),
        ),
        pytest.param(
            lambda: gradcli.grad(_raises, torch.ones(2)),
            "raised while _raises is called",
            marks=pytest.mark.part("running"),
        ),
        pytest.param(
            lambda: gradcli.record(_raises, torch.ones(2)).check(),
            "raised while _raises is called",
            marks=pytest.mark.part("claims", "running"),
        ),
        pytest.param(
            lambda: gradcli.check(torch.abs, torch.zeros(1)),
            "did not pass: kink",
            marks=pytest.mark.part("claims", "running"),
        ),
        (
            lambda: gradcli.Function(3),  # type: ignore[arg-type]
            "a function is a text, such as 'x**2', and no int",
        ),
    ],
)
def test_an_error_shows_the_frames_of_the_user_alone(call: Any, said: str) -> None:
    """In a traceback, which chains none but what a function of the user's raised; a notebook shows the text alone."""
    with pytest.raises((GradcliError, AssertionError)) as caught:
        call()
    error = caught.value
    shown = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    assert {*shown} == {__file__}
    own = error.__cause__
    assert (own is not None) == ("_raises" in said)
    assert own is None or [frame.name for frame in traceback.extract_tb(own.__traceback__)] == ["_raises"]
    assert error.__suppress_context__
    assert said in str(error)
    assert error._render_traceback_() == f"{type(error).__name__}: {error}".split("\n")  # type: ignore[attr-defined]


def test_every_class_of_an_answer_is_exported() -> None:
    """In any module of the results."""
    for module in pkgutil.iter_modules(results.__path__, "gradcli.results."):
        found = vars(importlib.import_module(module.name)).values()
        kinds = [kind for kind in found if isinstance(kind, type) and dataclasses.is_dataclass(kind)]
        assert {kind.__name__ for kind in kinds if kind.__module__ == module.name} <= vars(results).keys()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("truth", TRUTHS, ids=str)
def test_value_jacobian_product_and_verdict_meet_the_hand_derived_truth(truth: Truth, dtype: Dtype) -> None:
    """To the digits of the type; the product contracts all dimensions of y, for a v that tells them apart."""
    function, wrt = gradcli.Function(truth.expression), list(truth.jacobian)
    rtol, atol = (1e-14, 1e-300) if dtype == "float64" else (1e-5, 1e-6)
    answer = function.jacobian(truth.at, wrt=wrt, dtype=dtype)
    value = np.asarray(truth.value, dtype=float)
    assert answer.value.dtype == dtype
    np.testing.assert_allclose(answer.value, value, rtol=rtol, atol=atol)
    assert answer.jacobian is not None
    assert (check_of(answer).verdict, check_of(answer).checked) == ("agree", check_of(answer).entries)
    assert not answer.symbolic_omitted or "view" in truth.expression
    v = 1.0 + np.arange(value.size).reshape(value.shape) / 7
    product = function.vjp(truth.at, v, wrt=wrt, dtype=dtype) if wrt else None
    assert product is None or (product.check is not None and product.check.verdict == "agree")
    for name, expected in truth.jacobian.items():
        np.testing.assert_allclose(answer.jacobian[name], expected, rtol=rtol, atol=atol)
        if product is not None:
            contracted = np.tensordot(v, np.asarray(expected, dtype=float), axes=v.ndim)
            np.testing.assert_allclose(product.vjp[name], contracted, rtol=rtol, atol=atol)


def test_v_defaults_to_one_for_one_element_whatever_its_shape() -> None:
    """As in torch, () and (1,) and (1, 1) need no v."""
    for at in (3.0, [3.0], [[3.0]]):
        answer = gradcli.Function("x**2").vjp({"x": at})
        assert answer.v.shape == answer.value.shape == np.shape(at)
        assert answer.vjp["x"].item() == 6.0


def test_vjp_of_a_million_elements_leaves_the_jacobian_out() -> None:
    """And says so, and every entry is proved."""
    x = np.linspace(0, 1, 1_000_000)
    answer = gradcli.Function("x**2").vjp({"x": x}, "ones")
    np.testing.assert_allclose(answer.vjp["x"], 2 * x)
    assert answer.jacobian is None
    assert "1,000,000,000,000 entries" in answer.jacobian_omitted
    check = check_of(answer)
    assert (check.verdict, check.entries, check.checked) == ("agree", 1_000_000, 1_000_000)
    assert (check.chosen, check.proven) == ("all", True)
    assert answer.symbolic["x"].text == "2*x[i]*KroneckerDelta(i, j)"


def test_the_formula_of_many_elements_is_confirmed_though_the_sum_is_too_long_for_balls() -> None:
    """Softmax: the verdict is of bounds, the formula is confirmed at a smaller size, and says so."""
    answer = gradcli.Function("exp(x)/sum(exp(x))").vjp({"x": np.linspace(0, 1, 300_000)}, "x")
    assert check_of(answer).verdict == "agree"
    assert check_of(answer).checked >= 299_999, "of one the digits cancel"
    assert "299999" in answer.symbolic["x"].text
    assert answer.symbolic["x"].note


def test_the_process_state_is_left_alone() -> None:
    """Neither Arb's precision nor torch's default dtype changes."""
    import flint
    import torch

    before = flint.ctx.prec, torch.get_default_dtype()
    gradcli.Function("(1-cos(x))/x**2").grad({"x": 1e-8})
    assert (flint.ctx.prec, torch.get_default_dtype()) == before


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
    assert check_of(answer).verdict == "agree"


@pytest.mark.parametrize("text", ["x[y]", "eye(x)", "zeros(x.shape[0]*y)", "[x for i in range(sum(x))]"])
def test_values_of_variables_may_not(text: str) -> None:
    """A shape never depends on a value."""
    with pytest.raises(GradcliError, match="integer constant"):
        gradcli.Function(text).eval({"x": [1, 2], "y": 1})


def test_variables_may_be_called_like_constants_modules_and_indices() -> None:
    """A value makes a name a variable; formulas take other letters for their indices."""
    assert gradcli.Function("E*x").eval({"x": 1}).value == pytest.approx(np.e)
    answer = gradcli.Function("E*i + n*S + j*k").vjp(dict.fromkeys("EinSjk", 2.0))
    assert all(float(gradient) == 2.0 for gradient in answer.vjp.values())
    assert answer.symbolic["E"].text == "i"
    transposed = gradcli.Function("F.T@F + N").vjp({"F": [[1, 2], [3, 4]], "N": 1}, "ones")
    np.testing.assert_array_equal(transposed.vjp["F"], [[6, 6], [14, 14]])


def _sampling(answer: results.Checking) -> results.Sampling:
    assert answer.sampling is not None
    return answer.sampling


@pytest.mark.part("claims")
def test_random_points_are_drawn_in_their_box_from_their_seed() -> None:
    """The same seed gives the same points, which are in the box; the shape is that of the value or of the bounds."""
    f = gradcli.Function("sum(x)*y")
    box = {"x": "[-1,0]..[0,5]"}
    first, again = (f.check({"y": 2}, random=20, box=box) for _ in range(2))
    other = f.check({"y": 2}, random=20, box=box, seed=1)
    x = _sampling(first).worst["x"]
    np.testing.assert_array_equal(x, _sampling(again).worst["x"])
    assert (x != _sampling(other).worst["x"]).all()
    assert x.shape == (2,)
    assert -1 <= x[0] <= 0 <= x[1] <= 5
    assert first.inputs["y"] == 2
    wide = f.check({"x": np.zeros((2, 3)), "y": 2}, random=3, box={"x": "0..1"})
    assert wide.inputs["x"].shape == (2, 3)
    assert len(np.unique(wide.inputs["x"])) == 6


@pytest.mark.part("claims")
def test_the_verdicts_of_random_points_are_counted_and_the_worst_is_shown() -> None:
    """The logarithm exists on one half of the box."""
    answer = gradcli.Function("log(x)").check(random=200, box={"x": "-1..1"}, allow=["kink"])
    sampling = _sampling(answer)
    assert set(sampling.verdicts) == {"agree", "undefined"}
    assert sum(sampling.verdicts.values()) == sampling.points == 200
    assert 70 < sampling.verdicts["undefined"] < 130
    assert answer.inputs["x"] < 0
    assert answer.opinions[0].verdict == "undefined"
    assert not answer.passed
    assert gradcli.Function("log(x)").check(random=20, box={"x": "-1..1"}, allow=["undefined"]).passed


@pytest.mark.part("claims")
def test_a_wrong_formula_fails_every_random_point() -> None:
    """It is compared with the reference at each."""
    assert gradcli.Function("x**3").check(random=5, box={"x": "1..2"}).passed
    with wrong_formulas(7):
        answer = gradcli.Function("x**3").check(random=5, box={"x": "1..2"})
    assert _sampling(answer).verdicts == {"disagree": 5}
    assert not answer.passed


def test_an_empty_list_is_an_empty_tensor() -> None:
    """Its sum is 0, and its derivative has its shape."""
    answer = gradcli.Function("sum(x**2) + y").grad({"x": "[]", "y": 1})
    assert (float(answer.value), answer.grad["x"].shape) == (1, (0,))


@pytest.mark.part("claims")
def test_torch_refusing_a_random_point_names_the_point() -> None:
    """Probabilities above 1."""
    with pytest.raises(InputError) as error:
        gradcli.Function("binary_cross_entropy(x, 1)").check(random=50, box={"x": "0..2"})
    assert "at the random point" in (error.value.hint or "")


@pytest.mark.part("claims")
def test_v_of_a_check_may_depend_on_y() -> None:
    """At every random point its own: v = y gives 2x*x**2."""
    answer = gradcli.Function("x**2").check(v="y", random=5, box={"x": "[1,1]..[2,2]"})
    assert answer.vjp is not None
    np.testing.assert_allclose(answer.vjp["x"], 2 * answer.inputs["x"] ** 3)
    assert answer.passed


@pytest.mark.parametrize(
    ("text", "x", "verdict", "checked"),
    [
        ("x**2", 3.0, "agree", 1),
        ("1 - cos(x)", 1e-8, "inaccurate", 1),
        ("log(x)", -1.0, "undefined", 1),
        ("sin(x)/x", 0.0, "removable", 1),
        ("exp(x)/exp(x)", 1000.0, "nan-trap", 1),
        ("abs(x)", 0.0, "agree", 1),
        ("x + 1", np.linspace(0, 1, 100_000), "agree", 100_000),
        ("sqrt(x)", np.concatenate([np.ones(5_000), [-1.0], np.ones(5_000)]), "undefined", 10_001),
    ],
)
def test_a_value_is_judged_on_its_own(text: str, x: Any, verdict: str, checked: int) -> None:
    """`eval` has no derivative, and a verdict; of many elements bounds prove all, and what is not finite is said."""
    check = check_of(gradcli.Function(text).eval({"x": x}))
    assert (check.verdict, check.checked, check.entries) == (verdict, checked, np.size(x))
    assert gradcli.Function(text).eval({"x": x}, check=False).check is None

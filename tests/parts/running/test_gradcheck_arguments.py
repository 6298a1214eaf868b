"""`gradcli.check` in the place of `torch.autograd.gradcheck`: its arguments, and what gradcheck has no argument for."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import gradcli
from gradcli.errors import GradcliError, WrongGradientsError
from gradcli.results import Checking
from tests.conftest import Command
from tests.parts.running.functions_with_jvp import Square
from tests.parts.running.gradchecks import CUSTOM, custom
from tests.parts.running.opaque_functions import SINE

X = torch.tensor([0.7, -1.3, 2.1], dtype=torch.float64)
Y = torch.tensor([1.5, 0.4, -0.9], dtype=torch.float64)
Z = torch.complex(X, Y)


_SPARSE = torch.eye(3, dtype=torch.float64).to_sparse()
_DENSE = _SPARSE.to_dense()

ROUNDED, REVERSED = CUSTOM["straight through"][0], CUSTOM["reversed"][0]
SPIKE = custom(lambda x: (x > 0).to(x.dtype), lambda v, x: v / (1 + 10 * x.abs()) ** 2)  # that of x/(1 + 10|x|)
WITHOUT_CONJUGATE = custom(lambda z: z * z, lambda v, z: v * 2 * z)


def verdict(answer: Checking) -> tuple[str, bool]:
    """Give the verdict of an answer, and whether it is proven."""
    assert answer.check is not None
    return answer.check.verdict, answer.check.proven


def weighted(x: torch.Tensor, y: torch.Tensor) -> Any:
    """A product of two tensors, summed."""
    return (x * y).sum()


def scaled(x: torch.Tensor, eps: float = 2.0) -> Any:
    """A function with a parameter that has the name of an option of gradcheck."""
    return eps * x


# -- the arguments of gradcheck


@pytest.mark.parametrize(
    ("function", "inputs", "options", "wrt", "remark"),
    [
        (weighted, (X, Y), {}, ("x", "y"), ""),
        (weighted, [X, Y], {}, ("x", "y"), ""),
        (weighted, (X, Y.clone().requires_grad_()), {}, ("y",), ""),
        (torch.sin, X, {}, ("x",), ""),
        (torch.ops.aten.mul.Tensor, (X, Y), {}, ("self", "other"), ""),
        (torch.sin, (X,), {"eps": 1e-6, "nondet_tol": 0.0, "fast_mode": False, "masked": None}, ("x",), ""),
        (torch.sin, (X,), {"eps": 1e-5}, ("x",), "eps=1e-05 is not used: the truth is an enclosure"),
        (torch.sin, (X,), {"nondet_tol": 1e-5}, ("x",), "nondet_tol=1e-05 is not used: a function that gives other"),
        (torch.sin, (X,), {"masked": True}, ("x",), "masked=True is not used: sparse tensors are refused"),
        (torch.sin, (X,), {"check_grad_dtypes": True}, ("x",), "check_grad_dtypes=True is not used: torch itself"),
        (torch.sin, (X,), {"atol": 1e-5, "rtol": 1e-3, "check_undefined_grad": True}, ("x",), ""),
        (scaled, (X,), {"eps": 3.0}, ("x",), ""),
        (lambda x: x**2, 3, {}, ("x",), ""),
        (lambda x, n: x**n, (0.5, 2), {}, ("x",), ""),
        (lambda x: x.sum(), ([1.0, 2.0],), {}, ("x",), ""),
    ],
)
def test_its_arguments_are_taken(
    function: Callable[..., Any], inputs: Any, options: dict[str, Any], wrt: tuple[str, ...], remark: str
) -> None:
    """A tuple holds the arguments; an option that has no meaning here is explained, and one of the function is its."""
    answer = gradcli.check(function, inputs, **options)
    assert (answer.passed, answer.wrt) == (True, wrt)
    assert [said[: len(remark)] for said in answer.remarks] == [remark] * bool(remark)
    if "eps" in options and function is scaled:
        np.testing.assert_array_equal(answer.value, 3 * X.numpy())


def _halved_twice(x: torch.Tensor) -> Any:
    """A square whose own backward is right once, and half of the truth where it is differentiated."""
    return Squared.apply(x)  # type: ignore[no-untyped-call]


class Squared(torch.autograd.Function):
    """x**2, whose backward hides half of its dependence on x from autograd."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        """Return x**2."""
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, v: torch.Tensor) -> Any:
        """Return 2*x*v."""
        (x,) = ctx.saved_tensors
        return v * (x + x.detach())


@pytest.mark.parametrize(
    ("options", "is_right", "remark"),
    [
        ({}, True, ""),
        ({"order": 2}, False, ""),
        ({"gradgradcheck": True}, False, ""),
        ({"gradgradcheck": False}, True, ""),
        ({"check_gradgrad": True}, False, ""),
        ({"check_gradgrad": True, "check_grad": True}, False, ""),
        ({"gradgrad": True, "eps": 1e-6}, False, ""),
        ({"second_order": True}, False, ""),
        ({"check_second_order": True}, False, ""),
        ({"check_grad": False}, True, "check_grad=False is not used: the backward pass is checked in any case"),
        ({"check_forward_ad": False, "gradgradcheck": True, "nondet_tol": 0.0}, False, ""),
    ],
)
def test_second_derivatives_are_asked_for_by_the_names_of_others(
    options: dict[str, Any], is_right: bool, remark: str
) -> None:
    """They are those of `order=2`, and find a backward that is right only once; of a text, too."""
    found = gradcli.check(_halved_twice, X, raise_exception=False, **options)
    assert (found.passed, [one for one in found.remarks if "not used" in one]) == (is_right, [remark] * bool(remark))
    text = gradcli.check("x**2", X.tolist(), **options)
    assert (text.passed, "second order" in str(text)) == (True, not is_right)


@pytest.mark.parametrize(
    ("function", "at", "options", "found"),
    [
        (lambda x: x**2, 3, {}, {"x": 6}),
        (lambda x: x**2, 3.0, {}, {"x": 6}),
        (lambda x, n: x**n, {"x": 3.0, "n": 2}, {}, {"x": 6}),
        (lambda x, n=2: x**n, {"x": 3, "n": 2}, {}, {"x": 6}),
        (lambda x, w: x * w, {"x": 3, "w": 2}, {}, {"x": 2, "w": 3}),
        (lambda n: Y.repeat(n).sum(), 3, {"wrt": ["Y"]}, {"Y": [3, 3, 3]}),
    ],
)
def test_numbers_alone_are_differentiated_by(
    function: Callable[..., Any], at: Any, options: dict[str, Any], found: dict[str, Any]
) -> None:
    """By floating-point ones, or, without any, whole ones; one that has to be an index stays one."""
    answer = gradcli.grad(function, at, **options)
    assert {name: array.tolist() for name, array in answer.grad.items()} == found


def test_without_an_exception_the_answer_is_true_or_false() -> None:
    """As that of gradcheck is."""
    assert gradcli.check(torch.sin, (X,), raise_exception=False)
    found = gradcli.check(ROUNDED, (X,), raise_exception=False)
    assert (bool(found), *verdict(found)) == (False, "disagree", True)


def test_the_fast_mode_takes_one_vector() -> None:
    """So does a Jacobian that is too large."""
    answer = gradcli.check(torch.sin, X, fast_mode=True)
    assert (answer.passed, answer.vjp is not None and answer.vjp["x"].shape) == (True, (3,))
    large = gradcli.check(torch.sin, torch.linspace(0.0, 1.0, 12_000, dtype=torch.float64))
    assert (large.passed, large.vjp is not None and large.vjp["x"].shape) == (True, (12_000,))
    assert "vᵀJ was checked for one random v" in large.remarks[-1]
    np.testing.assert_array_equal(gradcli.check(lambda x: 2 * x, X, v=[1, 2, 3]).arrays("vjp")["x"], [2, 4, 6])


@pytest.mark.parametrize(
    ("function", "inputs", "message", "hint"),
    [
        (Square, X, "Square is a class", "write Square.apply"),
        (nn.Linear, X, "Linear is a class of modules", "make one: Linear(...)"),
        (X, X, "a value of type Tensor", "the function comes first"),
        (lambda pair: pair[0] * pair[1], (X, Y), "takes 1 argument, and 2", "lambda x0, x1: f((x0, x1))"),
        (Square.apply, (X, Y), "Square.apply takes 1 argument, and 2", "lambda x0, x1: Square.apply((x0, x1))"),
        (lambda x: x.to_dense(), X.to_sparse(), "a tensor is sparse (torch.sparse_coo)", "give x.to_dense(), and a"),
        (lambda x: x.outer(x).to_sparse() @ x, X, "layout torch.sparse_coo is used (test_gradcheck_arg", "index_add"),
        (lambda x: x.outer(x).to_sparse_csr() @ x, X, "layout torch.sparse_csr is used (test_gradch", "to_dense()"),
        (lambda x: _SPARSE @ x, X, "layout torch.sparse_coo is used (test_gradcheck_arguments.py, line", "to_dense()"),
        (torch.sin, X.bfloat16(), "a tensor is bfloat16", "versus=g"),
    ],
)  # fmt: skip
def test_what_cannot_be_checked_says_what_to_write(function: Any, inputs: Any, message: str, hint: str) -> None:
    """In one line."""
    with pytest.raises(GradcliError) as error:
        gradcli.check(function, inputs)
    assert message in error.value.text.message
    assert hint in str(error.value.text.hint)


@pytest.mark.parametrize(
    ("function", "inputs", "proven"),
    [
        (lambda x: x.to_dense(), X.to_sparse().to_dense(), True),
        (lambda x: _DENSE @ x, X, True),
        (lambda x: torch.zeros(4, dtype=x.dtype).index_add(0, torch.tensor([3, 0, 3]), x), X, True),
        (custom(lambda x: _SPARSE @ x**2, lambda v, x: 2 * x * (_SPARSE @ v)), X, False),
    ],
)
def test_what_is_said_of_sparse_tensors_works(function: Any, inputs: Any, proven: bool) -> None:
    """And one within a custom function is measured."""
    assert verdict(gradcli.check(function, inputs)) == ("agree", proven)


@pytest.mark.parametrize(
    ("module", "inputs", "numbers"),
    [
        (nn.Sequential(nn.Linear(3, 2), nn.Tanh()).double(), X, 8),
        (nn.Linear(3, 2).double(), X.clone().requires_grad_(), 8),
        (nn.Embedding(4, 2).double(), torch.tensor([1, 3]), 8),
    ],
)
def test_the_parameters_of_a_module_are_checked_too(module: nn.Module, inputs: torch.Tensor, numbers: int) -> None:
    """The answer says how many they are."""
    answer = gradcli.check(module, inputs)
    assert f"({numbers} numbers)" in answer.remarks[-1]
    assert sum(answer.inputs[name].size for name in answer.wrt) == numbers + 3 * inputs.is_floating_point()


# -- complex tensors


@pytest.mark.parametrize(
    "function",
    [lambda z: z * z, torch.exp, torch.abs, torch.fft.fft, lambda z: 1 / z, lambda z: torch.vdot(z, z)],
)
def test_complex_tensors_are_checked_by_their_parts(function: Callable[..., Any]) -> None:
    """Of the argument, and of the result."""
    answer = gradcli.check(function, Z)
    assert (answer.passed, [name[-5:] for name in answer.wrt]) == (True, ["_real", "_imag"])


def test_a_wrong_gradient_of_a_complex_function_is_found() -> None:
    """One that lacks the conjugate; a real function with complex values is read too."""
    with pytest.raises(WrongGradientsError):
        gradcli.check(WITHOUT_CONJUGATE, Z)
    assert gradcli.check(lambda x: torch.exp(1j * x), X).value.shape == (3, 2)


# -- a gradient of one's own


def rosenbrock(x: Any) -> Any:
    """The function of SciPy's guide, for arrays."""
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def rosenbrock_gradient(x: Any) -> Any:
    """Its derivative, element by element."""
    found = np.zeros_like(x)
    found[:-1] += -400 * x[:-1] * (x[1:] - x[:-1] ** 2) - 2 * (1 - x[:-1])
    found[1:] += 200 * (x[1:] - x[:-1] ** 2)
    return found


def _off(gradient: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: 1.001 * gradient(*args)


_MATRIX = np.arange(9.0).reshape(3, 3)
_CUBE = lambda x: (x**3).sum()  # noqa: E731
_PRODUCT = lambda x, w: (w * torch.sin(x)).sum()  # noqa: E731
_POWER = lambda x, n: (x**n).sum()  # noqa: E731
_WEIGHTED_POWER = lambda x, w, n: (w * x**n).sum()  # noqa: E731
_BY_X = (X.clone().requires_grad_(), Y, 2)


@pytest.mark.parametrize(
    ("function", "inputs", "gradient", "status"),
    [
        (_CUBE, (X,), lambda x: 3 * x**2, "proved"),
        (torch.sin, (X,), lambda x: torch.diag(torch.cos(x)), "proved"),
        (torch.sin, (X,), torch.cos, "proved"),  # vᵀJ for v = ones
        (_PRODUCT, (X, Y), lambda x, w: (w * torch.cos(x), torch.sin(x)), "proved"),
        (_PRODUCT, (X, Y), lambda a, b: [b * torch.cos(a), torch.sin(a)], "proved"),
        (_PRODUCT, (X, Y), lambda x, w: {"x": w * torch.cos(x), "w": torch.sin(x)}, "proved"),
        (_PRODUCT, (X, Y), {"w": lambda x, _: torch.sin(x)}, "proved"),
        (_CUBE, (X,), lambda x: [3 * one**2 for one in x], "proved"),
        (_CUBE, (X,), lambda x: (3 * x[0] ** 2, 3 * x[1] ** 2, 3 * x[2] ** 2), "proved"),
        (_CUBE, (X,), lambda x: [3 * float(one) ** 2 for one in x], "agrees"),
        (lambda x: torch.stack([x[0] ** 2, x[1]]), (X[:2],), lambda x: [[2 * x[0], 0], [0, 1]], "proved"),
        (lambda x: np.sum(x**3), (X.numpy(),), lambda x: [3 * x[0] ** 2, 3 * x[1] ** 2, 3 * x[2] ** 2], "proved"),
        (_POWER, (X[:2], 3), lambda x, n: [n * x[0] ** (n - 1), n * x[1] ** (n - 1)], "proved"),
        (_POWER, (X, 3), lambda x, n: (n * x ** (n - 1),), "proved"),
        (_WEIGHTED_POWER, (X, Y, 2), lambda x, w, n: (n * w * x ** (n - 1), x**n), "proved"),
        (_WEIGHTED_POWER, _BY_X, lambda x, w, n: (n * w * x ** (n - 1), x**n), "proved"),
        (_WEIGHTED_POWER, _BY_X, lambda x, w, n: (n * w * x ** (n - 1), x**n, None), "proved"),
        (_WEIGHTED_POWER, _BY_X, lambda x, w, n=7: [n * w[k] * x[k] ** (n - 1) for k in range(3)], "proved"),
        (_WEIGHTED_POWER, _BY_X, lambda x, w, m=7, n=7: n * w * x ** (n - 1), "proved"),
        (_WEIGHTED_POWER, _BY_X, lambda x, *, w, n: n * w * x ** (n - 1), "proved"),
        (_CUBE, (X,), "3*x**2", "proved"),
        (_PRODUCT, (X.clone().requires_grad_(), Y), lambda x, w: (w * torch.cos(x), torch.sin(x)), "proved"),
        (lambda x: x @ _MATRIX @ x, (X.numpy(),), lambda x: (_MATRIX + _MATRIX.T) @ x, "agrees"),
        (lambda x: np.exp(x) * np.sin(x), (0.5,), lambda x: np.exp(x) * (np.sin(x) + np.cos(x)), "proved"),
        (rosenbrock, (X,), rosenbrock_gradient, "proved"),
        pytest.param(rosenbrock, (X.numpy(),), rosenbrock_gradient, "proved", marks=pytest.mark.thorough),
        (_CUBE, (X,), lambda x: 3 * np.array([float(one) for one in x]) ** 2, "agrees"),
        (lambda x: (x**3).sum() if x[0] > 0 else x.sum(), (X,), lambda x: 3 * x**2 if x[0] > 0 else x**0, "agrees"),
    ],
)
@pytest.mark.one_in(8)
def test_a_right_gradient_agrees(
    function: Callable[..., Any], inputs: tuple[Any, ...], gradient: Any, status: str
) -> None:
    """It is proved where both can be read, else compared at the point and at others."""
    answer = gradcli.check(function, *inputs, gradient=gradient)
    assert {claim.status for claim in answer.claims} == {status}
    assert all(claim.points > 10 for claim in answer.claims)


@pytest.mark.parametrize(
    ("function", "inputs", "gradient", "mistake"),
    [
        (_CUBE, (X,), lambda x: x**2, "the exponent 3 is not brought down"),
        (_CUBE, (X,), lambda x: -3 * x**2, "the sign"),
        (_CUBE, (X,), "2*x", "refuted"),
        (_CUBE, (X,), 2 * X, "refuted"),
        (lambda x: x @ _MATRIX @ x, (X.numpy(),), lambda x: 2 * _MATRIX @ x, "refuted"),
        (_PRODUCT, (X, Y), lambda x, w: (torch.sin(x), w * torch.cos(x)), "the other variable"),
        (rosenbrock, (X,), _off(rosenbrock_gradient), "off by the factor 1.001"),
        (_CUBE, (X,), lambda x: 3.003 * np.array([float(one) for one in x]) ** 2, "off by the factor 1.001"),
        (_CUBE, (torch.zeros(3),), lambda x: 2 * x, "refuted"),  # right at the point alone
        (_CUBE, (torch.ones(3),), lambda x: 3 * np.array([float(one) for one in x]), "refuted"),
    ],
)
@pytest.mark.one_in(4)
def test_a_wrong_gradient_is_refuted(
    function: Callable[..., Any], inputs: tuple[Any, ...], gradient: Any, mistake: str
) -> None:
    """And the likeliest mistake is named."""
    with pytest.raises(WrongGradientsError) as error:
        gradcli.check(function, *inputs, gradient=gradient)
    assert mistake in " ".join(str(error.value).split())


@pytest.mark.parametrize(
    ("function", "gradient", "why"),
    [
        (lambda x: SINE(x).sum(), torch.cos, " of opaque_functions::sine_0 (test_gradcheck_arguments.py, "),
        (
            lambda x: x.sum() if x[0] > 0 else 1 * x.sum(),
            torch.ones_like,
            " of a function whose code branches on values: at other",
        ),
        (_CUBE, lambda x: 3 * np.array([float(one) for one in x]) ** 2, ", as <lambda> was called at each point"),
    ],
)
@pytest.mark.one_in(3)
def test_a_gradient_that_is_not_proved_says_why(
    function: Callable[..., Any], gradient: Callable[..., Any], why: str
) -> None:
    """It agrees at many points."""
    [claim] = gradcli.check(function, X, gradient=gradient).claims
    assert (claim.status, claim.points > 10) == ("agrees", True)
    assert f"nothing is proved{why}" in claim.note


def test_numbers_are_a_gradient_at_the_point() -> None:
    """They agree, and are no proof; another implementation is another question."""
    assert gradcli.check(_CUBE, X, gradient=3 * X**2).claims[0].status == "agrees"
    with pytest.raises(GradcliError, match="versus= and gradient= exclude each other"):
        gradcli.check(_CUBE, X, gradient=torch.cos, versus=_CUBE)


@pytest.mark.parametrize(
    ("gradient", "message"),
    [
        (lambda x: x.sum() * torch.ones(2), "the claim has shape (2,); the gradient has the shape of x, (3,)"),
        (lambda x, w: x, "takes 2 arguments, and the function has 1"),
        (lambda x: [x[0], x], "gives back a value of type list"),
        (lambda x: "none", "gives back a value of type str"),
        (lambda x: x.nothing, "has no attribute 'nothing'"),
        ({"z": torch.sin}, "z"),
    ],
)
def test_what_is_no_gradient_is_an_error(gradient: Any, message: str) -> None:
    """In one line."""
    with pytest.raises(GradcliError, match=None) as error:
        gradcli.check(_CUBE, X, gradient=gradient)
    assert message in error.value.text.message


NUMPY = [
    lambda x: np.sum(np.sin(x)),
    lambda x: np.dot(x, x) + np.linalg.norm(x),
    lambda x: np.where(x > 0, x, 0.1 * x).mean(),
    lambda x: np.concatenate([x, 2 * x])[1:].reshape(-1),
    lambda x: np.arange(9.0).reshape(3, 3) @ x,
    lambda x: x @ np.arange(9.0).reshape(3, 3) @ x,
    lambda x: np.array([x[0] * x[1], np.exp(x[2])]),
    lambda x: np.linalg.solve(np.eye(3) + np.outer(x, x), x),
    lambda x: np.cumsum(np.tanh(x)).astype(float),
]


@pytest.mark.parametrize("function", NUMPY)
@pytest.mark.one_in(2)
def test_functions_of_numpy_are_read(function: Callable[..., Any]) -> None:
    """Their numbers are NumPy's, and their derivatives are proved."""
    answer = gradcli.check(function, X)
    assert verdict(answer) == ("agree", True)
    np.testing.assert_allclose(answer.value, function(X.numpy()), rtol=1e-14)


# -- a backward pass that is meant to differ


@pytest.mark.parametrize(
    ("function", "meant"),
    [
        (ROUNDED, lambda x: x),
        (REVERSED, lambda x: -x),
        (SPIKE, lambda x: x / (1 + 10 * x.abs())),
        (lambda x: x + (torch.round(x) - x).detach(), lambda x: x),
        (lambda x: x.clamp(-1, 1), lambda x: x.clamp(-1, 1)),
    ],
)
@pytest.mark.one_in(2)
def test_a_backward_pass_may_be_that_of_another_function(
    function: Callable[..., Any], meant: Callable[..., Any]
) -> None:
    """Which is judged; the value is the function's own."""
    answer = gradcli.check(function, X, backward_of=meant)
    assert verdict(answer) == ("agree", True)
    np.testing.assert_array_equal(answer.value, function(X).numpy())
    assert answer.remarks[-1].startswith("the backward pass was compared with the derivative of ")
    with pytest.raises(WrongGradientsError):
        gradcli.check(function, X, backward_of=lambda x: 1.001 * meant(x))


def test_the_value_beside_a_meant_backward_pass_is_the_functions_own() -> None:
    """It is compared with its own truth, at the point and at the worst of random ones; a wrong one does not pass."""
    exact = torch.tensor([2.0, 3.0], dtype=torch.float64, requires_grad=True)
    answer = gradcli.check(lambda x: (x**2).sum() + 1, exact, backward_of=lambda x: (x**2).sum())
    (value,) = [one for one in answer.opinions if one.kind == "value"]
    assert (value.torch, value.reference, value.verdict) == (float(answer.value), float(answer.value), "agree")
    assert answer.remarks[-1].endswith("; y is the function's own")
    drawn = gradcli.check(lambda x: (x**2).sum() + 1, exact, backward_of=lambda x: (x**2).sum(), random=5, box="0..1")
    assert float(drawn.value) == pytest.approx(float((drawn.inputs["x"] ** 2).sum()) + 1)
    cancels = torch.tensor([1e-9], dtype=torch.float64, requires_grad=True)
    lost = gradcli.check(lambda x: (1 + x) - 1, cancels, backward_of=lambda x: x, raise_exception=False)
    assert lost.check is not None
    assert [(one.kind, one.verdict) for one in lost.check.findings] == [("value", "inaccurate")]


class Quantized(nn.Module):
    """A sum with rounded weights, and what its backward pass is meant to be of."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(Y.clone())

    def forward(self, x: torch.Tensor) -> Any:
        return self.weight + (self.weight.round() - self.weight).detach() - x

    def meant(self, inputs: torch.Tensor) -> Any:
        return self.weight - inputs


_TWO = custom(torch.mul, lambda v, x, y: (v, 2 * v))
_LAYER = nn.Linear(3, 2).double()


def _named(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return x + (x * w - x).detach()


@pytest.mark.parametrize(
    ("function", "inputs", "named", "meant", "wrt"),
    [
        (lambda x: x + (torch.round(x) - x).detach(), (X,), {}, lambda other: other, 1),
        (_TWO, (X, Y), {}, lambda y, x: y + 2 * x, 2),
        (_named, (X,), {"w": Y}, lambda a, b: a + 0 * b, 2),
        (_named, (), {"w": Y, "x": X}, lambda a, b: a + 0 * b, 2),
        (_named, (X, Y), {}, lambda w, x: x, 2),
        (_named, (X, Y), {}, lambda x, scale=1.0: x, 2),
        (custom(torch.clamp, lambda v, x: (v, None, None)), (X, -1.0, 1.0), {}, lambda x: x, 1),
        (custom(lambda z: z.clone(), lambda v, z: 1j * v), (Z,), {}, lambda w: -1j * w, 2),
        (Quantized(), (X,), {}, Quantized().meant, 2),
        (_LAYER, (X,), {}, copy.deepcopy(_LAYER), 3),
        (_LAYER, (X,), {}, lambda x: 1 * _LAYER(x), 3),
    ],
)
def test_the_other_function_takes_the_same_arguments(
    function: Any, inputs: tuple[Any, ...], named: dict[str, Any], meant: Any, wrt: int
) -> None:
    """By their names if it knows them, else by place, and those that it needs; and has the parameters of a module."""
    answer = gradcli.check(function, *inputs, backward_of=meant, **named)
    assert (*verdict(answer), len(answer.wrt)) == ("agree", True, wrt)


def test_a_backward_pass_has_the_shape_of_the_function() -> None:
    """Another one is an error; and a wrong pass says that one may be meant."""
    with pytest.raises(GradcliError, match="shape"):
        gradcli.check(ROUNDED, X, backward_of=lambda x: x.sum())
    with pytest.raises(WrongGradientsError, match="backward_of=g is for a backward pass that is meant to be that of g"):
        gradcli.check(ROUNDED, X)


# -- in the shell

OWN = """
def f(x): return (x**3).sum()
def fprime(x): return 3*x**2
def wrong(x): return 2*x**2
def ridge(x, w): return ((x - w)**2).mean() + 0.01*(x*x).sum()
def halved(x, w): return 2/len(x)*(x - w) + 0.01*x
def two(x, w, n: int = 2): return (w*x**n).sum()
def gradients(x, w, n: int = 2): return n*w*x**(n - 1), x**n
def called(x, w, n): return [n*float(w[k])*float(x[k])**(n - 1) for k in range(len(x))]
"""


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("own.py::f --at 1,2 --claim own.py::fprime", 0, "claim own.py::fprime: proved"),
        ("own.py::f --at 1,2 --claim own.py::wrong", 1, "claim own.py::wrong: refuted"),
        (
            "own.py::ridge --at x=1,2,4 --at w=3,5,6 --wrt x --claim own.py::halved",
            1,
            "`sum(x*x)*0.01` is off by the factor 1/2; ",
        ),
        ("own.py::two --at x=1,2 --at w=3,4 --claim own.py::gradients", 0, "claim own.py::gradients for w: proved"),
        ("own.py::two --at x=1,2 --at w=3,4 --claim x=own.py::gradients", 0, "claim own.py::gradients for x: proved"),
        ("own.py::two --at x=1,2 --at w=3,4 --at n=3 --wrt x --claim own.py::gradients", 0, "gradients: proved"),
        ("own.py::two --at x=1,2 --at w=3,4 --at n=3 --wrt x --claim own.py::called", 0, "called: agrees"),
        ("sum(x**3) --at 1,2 --claim own.py::fprime", 0, "claim own.py::fprime: proved"),
    ],
)
@pytest.mark.one_in(2)
def test_a_function_in_a_file_is_a_claim(words: str, code: int, said: str, folder: Any, gradcli: Command) -> None:
    """By its name, as the function is named."""
    (folder / "own.py").write_text(OWN)
    run = gradcli("check", *words.split())
    assert (run.code, said in run.out) == (code, True), run.out + run.err
    assert "would accept it" not in run.out


def test_a_request_runs_no_claim(folder: Any, gradcli: Command) -> None:
    """Its text is a formula, and nothing else; nor does a file that is not there do harm."""
    (folder / "own.py").write_text("raise SystemExit(3)")
    request = '{"command": "check", "expression": "x**3", "at": {"x": 2}, "claim": {"x": "own.py::f"}}\n'
    run = gradcli("batch", given=request)
    assert "own.py::f is a function of Python, and a request has a formula" in run.out
    assert "there is no file gone.py" in gradcli("check", "x**3", "--at", "2", "--claim", "gone.py::f").err

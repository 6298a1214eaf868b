"""Derivatives that a snippet takes by functions: read as what they ask, with torch's own numbers, or refused."""

from __future__ import annotations

import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, reject, settings

from gradcli import Function
from gradcli.errors import GradcliError
from tests.examples import examples
from tests.language.pasted import answered, flat, run_by_torch

CUBE = "from torch.autograd import grad\nx = torch.tensor(3., requires_grad=True)\ny = x**3\n"
VECTOR = "import torch\nfrom torch.autograd import grad\nx = torch.tensor([1., 2.], requires_grad=True)\n"
POWERS = VECTOR + "y = (x**3).sum()\n"
FUNC = "import torch\nfrom torch.func import grad, jacrev, jacfwd, hessian, vjp, jvp, grad_and_value\n"
FUNCTIONAL = "import torch\nfrom torch.autograd.functional import jacobian, hessian, vjp, jvp, hvp, vhp\n"
AT = "x = torch.tensor([2., 3.])\nu = torch.tensor([1., 5.])\n"
DEFINED = "def f(x):\n    y = x**2\n\n    return y*x.sum()\n"

TRUTHS: list[tuple[str, str, object]] = [
    (CUBE + "dy = grad(y, x, create_graph=True)[0]; d2 = grad(dy, x)[0]; print(d2)", "d2", 18),
    (CUBE + "g = grad(y, x, torch.tensor(10.))", "g", 270),
    (
        "import torch; x = torch.tensor(2., requires_grad=True); z = 3*x; y = x**2; g = torch.autograd.grad(z, x)",
        "g",
        3,
    ),
    ("import torch\nfrom torch.func import grad\nx = torch.tensor(1.)\ng = grad(torch.cos)(x)", "g", -np.sin(1)),
]
"""Snippets, the name of what they ask for, and its value by hand."""


@pytest.mark.parametrize(
    "display", ["torch.autograd.grad(y, x)", "torch.autograd.grad(y, x)[0]", "print(torch.autograd.grad(y, x))"]
)
def test_a_derivative_without_a_name_is_read(display: str) -> None:
    """As a notebook shows it."""
    text = f"import torch; x = torch.tensor(3., requires_grad=True); y = x**2; {display}"
    assert Function(text).vjp().vjp["x"] == 6


@pytest.mark.parametrize(("text", "name", "truth"), TRUTHS, ids=range(len(TRUTHS)))
def test_what_is_asked_is_answered(text: str, name: str, truth: float) -> None:
    """And not the gradient of something else."""
    answer, found = answered(text)
    np.testing.assert_allclose(found, [truth], rtol=1e-15 if answer.dtype == "float64" else 1e-7)
    assert answer.check.verdict == "agree"
    np.testing.assert_allclose(flat(run_by_torch(text)[name]), found, rtol=1e-7)


PASTED: list[tuple[str, str]] = [
    # torch.autograd.grad, by whatever name, in any place of a statement
    (CUBE + "(r,) = grad(y, x)", "r"),
    (CUBE + "r, = grad(outputs=y, inputs=[x], grad_outputs=torch.ones_like(y))", "r"),
    (CUBE + "r = grad((y,), (x,), (torch.tensor(2.),))[0].item()", "r"),
    ("import torch.autograd as ag\n" + CUBE + "print(ag.grad(y, x, retain_graph=True)[0]); r = ag.grad(y, x)", "r"),
    ("from torch import autograd\n" + CUBE + "r = autograd.grad(y, [x])", "r"),
    ("grad = torch.autograd.grad\nx = torch.tensor(2., requires_grad=True)\nr = grad(x**2, x)", "r"),
    ("from torch.autograd import grad as derivative\n" + CUBE + "r = derivative(y, x)[-1]", "r"),
    (VECTOR + "y = x**2\nr = grad(y, x, torch.tensor([1., 10.]))", "r"),
    (VECTOR + "w = torch.tensor([3., 4.], requires_grad=True)\ny = (w*x**2).sum()\nr, q = grad(y, (x, w))", "(r, q)"),
    (VECTOR + "w = torch.tensor([3., 4.], requires_grad=True)\ny = (w*x**2).sum()\nr = grad(y, w)", "r"),
    # derivatives of derivatives
    (CUBE + "(d,) = grad(y, x, create_graph=True)\ne, = grad(d, x, create_graph=True)\nr = grad(e, x)[0]", "r"),
    (POWERS + "g = grad(y, x, create_graph=True)[0]\nr = grad(g.sum(), x)", "r"),
    (POWERS + "g = grad(y, x, create_graph=True)[0]\nr = grad(g, x, torch.tensor([1., 10.]))", "r"),
    (POWERS + "g = grad(y, x, create_graph=True)\ng = g[0]\nr = grad(g[0]*g[1], x)", "r"),
    (POWERS + "g = grad(y, x, create_graph=True)[0]\n(g**2).sum().backward()\nr = x.grad", "r"),
    (POWERS + "g = grad(y, x, create_graph=True)[0]\nloss = y + (g.norm() - 1)**2\nloss.backward()\nr = x.grad", "r"),
    (POWERS + "g = grad(y, x)[0]\nloss = (g*x).sum()\nloss.backward()\nr = x.grad", "r"),
    (VECTOR + "h = x**2\ny = (h**2).sum()\ng = grad(y, h, create_graph=True)[0]\ng.sum().backward()\nr = x.grad", "r"),
    (
        VECTOR + "w = torch.tensor([3., 4.], requires_grad=True)\ny = (w*x**2).sum()\n"
        "g = grad(y, w, create_graph=True)[0]\nw2 = w - 0.1*g\n((w2*x)**2).sum().backward()",
        "(x.grad, w.grad)",
    ),
    # functions of the text
    (FUNCTIONAL + DEFINED + AT + "r = jacobian(f, x)", "r"),
    (FUNCTIONAL + "r = jacobian(lambda a, b: a*b**2, (torch.tensor([1., 2.]), torch.tensor([3., 4.])))", "r"),
    (FUNCTIONAL + DEFINED + "r = jacobian(f, torch.tensor([1., 2.]))", "r"),
    (FUNCTIONAL + "f = lambda x: (x**3).sum()*x[0]\n" + AT + "r = hessian(f, x)", "r"),
    (FUNCTIONAL + "f = lambda a, b: (a*b**2).sum()\n" + AT + "r = hessian(f, (x, u))", "r"),
    (FUNCTIONAL + DEFINED + AT + "r = vjp(f, x, u)[1]", "r"),
    (FUNCTIONAL + DEFINED + AT + "value, r = jvp(f, x, u)", "r"),
    (FUNCTIONAL + "f = lambda x: (x**3).sum()*x[0]\n" + AT + "_, r = hvp(f, x, u)", "r"),
    (FUNCTIONAL + "r = jvp(lambda x: x**3, torch.tensor(2.))[1]", "r"),
    (FUNCTIONAL + "f = lambda x: (x**3).sum()*x[0]\n" + AT + "_, r = vhp(f, x, v=u)", "r"),
    (FUNCTIONAL + "def f(a, b=2): return a**b\n" + AT + "r = jacobian(f, x)", "r"),
    ("import torch\n" + DEFINED + AT + "print(torch.autograd.functional.jacobian(f, x))", ""),
    # torch.func
    (FUNC + "r = grad(lambda x: x**4)(torch.tensor(2.))", "r"),
    (FUNC + "f = lambda x: x**4\nx = torch.tensor(2.)\nr = grad(grad(grad(f)))(x)", "r"),
    (FUNC + "f = lambda x: x**4\ndf = grad(f)\nd2f = grad(df)\nx = torch.tensor(2.)\nr = d2f(x)", "r"),
    (FUNC + DEFINED + AT + "r = jacrev(f)(x)", "r"),
    (FUNC + DEFINED + AT + "r = jacfwd(f)(x)", "r"),
    (FUNC + "f = lambda x: (x**3).sum()*x[0]\n" + AT + "r = hessian(f)(x)", "r"),
    (FUNC + "f = lambda x: (x**3).sum()*x[0]\n" + AT + "r = jacfwd(jacrev(f))(x)", "r"),
    (FUNC + "f = lambda x: (x**3).sum()*x[0]\n" + AT + "r = jacrev(grad(f))(x)", "r"),
    (FUNC + "f = lambda x: (x**3).sum()*x[0]\n" + AT + "r = jvp(grad(f), (x,), (u,))[1]", "r"),
    (FUNC + "f = lambda x, w: (w*x**2).sum()\n" + AT + "r = grad(f, argnums=1)(x, u)", "r"),
    (FUNC + "f = lambda x, w: (w*x**2).sum()\n" + AT + "r = grad(f, argnums=(0, 1))(x, u)", "r"),
    (FUNC + DEFINED + AT + "value, pullback = vjp(f, x)\n(r,) = pullback(u)", "r"),
    (FUNC + DEFINED + AT + "value, r = jvp(f, (x,), (u,))", "r"),
    (FUNC + "r, value = grad_and_value(lambda x: x**4)(torch.tensor(2.))", "r"),
    # a function of the text that takes a derivative itself
    (FUNC + "f = lambda x: x**4\ng = lambda x: x*grad(f)(x)\nr = grad(g)(torch.tensor(2.))", "r"),
    (FUNC + "x = torch.tensor(2., requires_grad=True)\ny = x*grad(lambda t: t**4)(x)\ny.backward()\nr = x.grad", "r"),
    # the argument is one thing and what the function has around it another
    (FUNC + "x = torch.tensor(2., requires_grad=True)\ny = grad(lambda t: x*t**2)(x)\ny.backward()\nr = x.grad", "r"),
    (FUNC + "x = torch.tensor(2., requires_grad=True)\ng = grad(torch.sin)(x)\nh = grad(lambda t: g*t**2)(x)\n"
     "h.backward()\nr = x.grad", "r"),
    # a value made of derivatives is a value
    (CUBE + "r = 2*grad(y, x)[0]", "r"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "name"), PASTED, ids=range(len(PASTED)))
def test_the_numbers_are_those_of_torch(text: str, name: str) -> None:
    """Python runs the text as it stands, and every number that is asked for is the same."""
    answer, found = answered(text)
    space = run_by_torch(text)
    if name:
        expected = flat(eval(name, space))
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-13)
    assert answer.check.verdict == "agree"


HIPS = "import autograd.numpy as np\nfrom autograd import grad, jacobian, hessian, value_and_grad\n"
JAX = "import jax\nimport jax.numpy as jnp\n@jax.jit\ndef f(w):\n    return jnp.sum(w**3)\n"

OTHERS = [
    (HIPS + "def f(x):\n    return np.sin(x)*x\ng = grad(f)\nprint(g(2.0))", [math.sin(2) + 2 * math.cos(2)]),
    (HIPS + "from autograd import elementwise_grad as egrad\negrad(np.square)(np.array([1., 2.]))", [2, 4]),
    (HIPS + "def f(x):\n    return np.array([x[0]*x[1], x[0]**2])\njacobian(f)(np.array([1., 2.]))", [[2, 1], [2, 0]]),
    (HIPS + "hessian(lambda x: x[0]*x[1]**2)(np.array([1., 2.]))", [[0, 4], [4, 2]]),
    (HIPS + "y, g = value_and_grad(lambda x: np.sum(x**2))(np.array([1., 2.]))", [2, 4]),
    (HIPS + "def f(w, b):\n    return np.sum(w*2) + b**2\ngrad(f, argnum=1)(np.array([1., 2.]), 3.0)", 6),
    ("import autograd\nautograd.grad(lambda w: w**2)(3.0)", 6),
    (JAX + "jax.grad(f)(jnp.array([1., 2.]))", [3, 12]),
    (JAX + "step = jax.jit(jax.value_and_grad(f))\nloss, g = step(jnp.array([1., 2.]))\nprint(g)", [3, 12]),
]


@pytest.mark.parametrize(("text", "truth"), OTHERS, ids=range(len(OTHERS)))
def test_derivatives_of_hips_autograd_and_of_jax_are_read(text: str, truth: object) -> None:
    """With the names that their imports give."""
    _, found = answered(text)
    assert len(found) == 1
    np.testing.assert_allclose(found[0].ravel(), np.ravel(np.asarray(truth)), rtol=1e-9)


SECOND = CUBE + "dy = grad(y, x, create_graph=True)[0]; d2 = grad(dy, x)[0]"


def test_every_command_reads_them() -> None:
    """The derivative that is differentiated again is the function: y is 27, and its slope 18."""
    f = Function(SECOND)
    assert f.eval().value == 27
    assert f.grad().grad["x"] == 18
    assert (f.jacobian().jacobian or {})["x"] == 18
    assert f.jvp(u={"x": 2}).jvp == 36
    assert f.hessian().hessian["x"]["x"] == 6
    assert f.hvp(u={"x": 2}).hvp["x"] == 12
    assert f.check(claim={"x": "6*x"}).claims[0].status == "proved"
    assert f.check(claim={"x": "3*x**2"}).claims[0].status == "refuted"
    assert f.explain(check=False).vjp["x"] == 18
    assert f.graph().tensors
    assert run_by_torch(f.code().source)["x"].grad == 18
    assert f.map({"x": [1, 2]})["ddy_dx"].tolist() == [6, 12]
    np.testing.assert_array_equal(f.vjp({"x": [1, 2]}, v="ones", wrt=["x"], points_of=["x"]).vjp["x"], [6, 12])


def test_values_may_be_given_again() -> None:
    """Of another shape too: the derivative is of what is asked."""
    assert Function(SECOND).vjp({"x": 2}).vjp["x"] == 12
    text = POWERS + "g = grad(y, x, create_graph=True)[0]\n(g**2).sum().backward()"
    np.testing.assert_array_equal(Function(text).vjp({"x": [1, 2, 3]}).vjp["x"], [36, 288, 972])


@pytest.mark.parametrize("f", ["abs(x)", "torch.relu(x)", "torch.maximum(x, 0*x)", "torch.where(x > 0, x, 2*x)"])
def test_the_second_derivative_at_a_kink_is_no_number_to_trust(f: str) -> None:
    """What torch says of it does not agree with anything, and the reason is no mistake of torch's."""
    text = f"x = torch.tensor(0., requires_grad=True)\ny = {f}\n"
    text += "g = torch.autograd.grad(y, x, create_graph=True)[0]\n(g*x).backward()"
    check = Function(text).vjp().check
    assert check is not None
    assert check.verdict in ("kink", "undefined", "nan-trap")


def test_what_is_asked_is_said_where_another_command_answers() -> None:
    """In the answer of the command that was typed, and in that of the one that it is."""
    f = Function(FUNCTIONAL + "f = lambda x: (x**3).sum()\nr = hessian(f, torch.tensor([1., 2.]))")
    remark = "the snippet asks for the Hessian, which is the answer of hessian"
    assert f.asks == "hessian"
    assert remark in f.vjp().warnings
    assert remark in f.answer().warnings
    assert remark not in f.hessian().warnings
    with pytest.raises(GradcliError, match="nothing but its gradient"):
        Function("x**2").answer()


REFUSED: list[tuple[str, str, str]] = [
    (CUBE + "dy = grad(y, x)[0]; d2 = grad(dy, x)[0]", "not have been used in the graph", "x)[0]"),
    (CUBE + "z = torch.tensor(2.)**2; g = grad(z, x)", "not have been used in the graph", "x)"),
    (CUBE + "z = torch.tensor(2.)**2; g = grad(z, x, allow_unused=True)", "torch gives None", "x, allow"),
    (CUBE + "g = grad(y, x); h = 2*g", "is a tuple", "2*g"),
    (CUBE + "g, h = grad(y, x)", "2 names for a tuple of 1", "g, h"),
    (CUBE + "z = x**2; g = grad(y, x); h = grad(z, x)", "a second output", "grad(z, x)"),
    (CUBE + "z = x**2; g = grad([y, z], x)", "several outputs", "grad([y"),
    (CUBE + "g = grad(y, x, is_grads_batched=True)", "is_grads_batched", "is_grads"),
    (CUBE + "print(f'{grad(y, x)}')", "inside a text", "f'{grad"),
    (CUBE + "y.backward(); g = 2 + x.grad", "not part of the language", ".grad"),
    (CUBE + "y.backward(); g = x.grad*2", "computed from '.grad'", "x.grad*2"),
    (CUBE + "y.backward(); g = x.grad; z = g*2", "computed from '.grad'", "g*2"),
    (CUBE + "h = 2*x; z = h**2; g = grad(z, h)", "read only where later lines use it", "grad(z, h)"),
    (FUNC + "f = lambda x: x**2\na = jacrev(f)(torch.tensor(1.))\nb = hessian(f)(torch.tensor(1.))",
     "a second question", "(torch.tensor(1.))"),
    (FUNC + "x = torch.tensor(2.)\ng = grad(lambda t: x*t)(x)", "by the name that it has outside", "(x)"),
    (FUNC + "def f(x):\n    try:\n        x = 2*x\n    return x\ng = grad(f)(torch.tensor(2.))",
     "'except' is missing behind this 'try'", "try"),
    (FUNC + "def f(x): return f(x - 1)\ng = grad(f)(torch.tensor(2.))", "calls itself", "(x - 1)"),
    (FUNC + "def f(x): y = x**2\ng = grad(f)(torch.tensor(2.))", "returns nothing", "(torch.tensor"),
    (FUNC + "f = lambda x, y: x*y\ng = grad(f)(torch.tensor(2.))", "takes x, y", "(torch.tensor(2.))"),
    (FUNC + "g = grad(3)(torch.tensor(2.))", "a function must stand here", "3)"),
    (FUNC + "g = torch.func.vmap(grad(torch.sin))(torch.ones(2))", "not part of the language", "torch.func"),
    (FUNC + "f = lambda x: x**2\ng = grad(f, has_aux=True)(torch.tensor(2.))", "has_aux", "has_aux"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "words", "place"), REFUSED, ids=range(len(REFUSED)))
def test_what_is_not_read_is_refused_at_its_place(text: str, words: str, place: str) -> None:
    """One clear error; nothing that computes is passed over."""
    with pytest.raises(GradcliError, match=words) as caught:
        Function(text).vjp()
    assert caught.value.place is not None
    assert text[caught.value.place.span.start :].startswith(place)


# -- at random

_ONE = ["torch.sin({0})", "torch.tanh({0})", "{0}**2", "{0}**3", "torch.exp(-{0}**2)", "torch.sigmoid({0})", "3*{0}",
        "torch.nn.functional.softplus({0})", "torch.cumsum({0}, 0)", "{0}.flip(0)", "torch.softmax({0}, 0)",
        "torch.relu({0})*{0}", "torch.log(1 + {0}**2)", "{0}/(1 + {0}**2)", "{0}*{0}.sum()", "{0} - {0}.mean()",
        "torch.where({0} > 0.1, {0}**2, {0})", "torch.outer({0}, {0}).sum(1)", "torch.roll({0}, 1, 0)"]  # fmt: skip
_TWO = ["{0}*{1}", "{0} + {1}", "{0} - 2*{1}", "{0}/(1 + {1}**2)", "torch.atan2({0}, 1 + {1}**2)"]


@st.composite
def bodies(draw: st.DrawFn) -> list[str]:
    """Statements on x and w, each one operation on what is there; the last value is y."""
    names = ["x", "w"]
    lines = []
    for n in range(draw(st.integers(1, 4))):
        form = draw(st.sampled_from(_ONE + _TWO))
        lines.append(f"a{n} = " + form.format(*(draw(st.sampled_from(names)) for _ in range(2))))
        names.append(f"a{n}")
    return [*lines, f"y = {names[-1]}*x + w"]


_VALUES = "x = torch.tensor({0}, requires_grad=True)\nw = torch.tensor({1}, requires_grad=True)\n"
_TENSORS = [
    "{body}\nr = torch.autograd.grad(y.sum(), x)",
    "{body}\nr = torch.autograd.grad(y, [x, w], x.detach())",
    "{body}\ng = torch.autograd.grad(y.sum(), x, create_graph=True)[0]\nr = torch.autograd.grad(g, (x, w), v)",
    "{body}\ng, h = torch.autograd.grad(y.sum(), (x, w), create_graph=True)\n(g*h).sum().backward()",
    "{body}\ng, = torch.autograd.grad(y, x, v, create_graph=True)\n(y + g**2).sum().backward()",
]
_FUNCTIONS = [
    "r = torch.autograd.functional.jacobian(f, (x, w))",
    "r = torch.autograd.functional.hessian(lambda x, w: f(x, w).sum(), (x, w))",
    "r = torch.autograd.functional.vjp(f, (x, w), v)[1]",
    "_, r = torch.autograd.functional.jvp(f, (x, w), (v, x.detach()))",
    "r = torch.func.jacrev(f)(x, w)",
    "r = torch.func.hessian(lambda t: f(t, w.detach()).sum())(x)",
    "r = torch.func.grad(lambda x, w: (torch.func.grad(lambda t: f(t, w).sum())(x)**2).sum(), argnums=(0, 1))(x, w)",
]


@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_random_snippets_have_the_numbers_of_torch(data: st.DataObject) -> None:
    """A random function in a random question: torch's numbers, and no disagreement about them."""
    body = data.draw(bodies())
    numbers = st.lists(st.floats(-1.5, 1.5).map(lambda number: round(number, 2)), min_size=3, max_size=3)
    text = "import torch\n" + _VALUES.format(data.draw(numbers), data.draw(numbers))
    text += f"v = torch.tensor({data.draw(numbers)})\n"
    form = data.draw(st.sampled_from(_TENSORS + _FUNCTIONS))
    if form in _TENSORS:
        text += form.format(body="\n".join(body))
    else:
        text += (
            "def f(x, w):\n    " + "\n    ".join(body[:-1]) + f"\n    return {body[-1].removeprefix('y = ')}\n" + form
        )
    try:
        space = run_by_torch(text)
    except RuntimeError:  # torch has no path from a gradient to x or w
        reject()
    answer, found = answered(text)
    expected = flat(eval("(x.grad, w.grad)" if "backward" in form else "r", space))
    assert len(found) == len(expected), text
    size = max((float(np.abs(array).max()) for array in expected), default=0.0)
    # torch.func.hessian differentiates forward what is differentiated backward here: float32 rounds otherwise.
    rtol = 1e-6 if "torch.func.hessian" in form else 1e-9
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=rtol, atol=1e-12 * (1 + size), err_msg=text)
    assert answer.check.verdict not in ("disagree", "unchecked"), (text, answer.check)


@pytest.mark.parametrize(
    ("lines", "left_out"),
    [
        ("g = grad(y, x, create_graph=True)[0]; f = g + 100*y", "f"),
        ("g = grad(y, x)[0]; f = 3*g; print(f)", "f"),
        ("g = grad(y, x)[0]; f = 3*y", ""),
        ("g = grad(y, x)[0]; h = g", ""),
        ("g = grad(y, x)[0]; print(torch.allclose(g, 3*x**2))", ""),
        ("g = grad(y, x, create_graph=True)[0]; f = (g + 100*y).sum(); f.backward()", ""),
    ],
)
def test_what_is_computed_from_the_answer_is_said_to_be_left_out(lines: str, left_out: str) -> None:
    """Where it has a name, and is not asked for itself."""
    remarks = [one for one in Function(POWERS + lines).vjp().warnings if "left out" in one]
    assert remarks == [f"the answer is the derivative that is taken; {left_out}, computed from it, is left out"] * bool(
        left_out
    )


@pytest.mark.parametrize("printed", ["print(f(x))", "print(f(x) + 1, 'and')", "print('f is', f(x))\nprint(f(2*x))"])
def test_the_value_of_a_function_may_be_printed(printed: str) -> None:
    """As it is no question where a pass is one."""
    text = f"{VECTOR}def f(x):\n    return (x**2).sum()\n{printed}\ny = 3*f(x)\ny.backward()\n"
    answer = Function(text).vjp()
    np.testing.assert_array_equal(answer.vjp["x"], [6, 12])


def test_of_what_is_printed_the_last_is_the_function() -> None:
    """Where nothing else is asked."""
    text = f"{VECTOR}def f(x):\n    return (x**2).sum()\nprint(f(x))\nprint(f(3*x))\n"
    np.testing.assert_array_equal(Function(text).vjp().vjp["x"], [18, 36])

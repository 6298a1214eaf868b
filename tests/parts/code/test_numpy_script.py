"""NumPy scripts: the numbers of `vjp`, by the lines of the gradient."""

import contextlib
import itertools
import sys
import types
from collections.abc import Iterator, Mapping
from typing import Any
from unittest import mock

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings

from gradcli import Function
from gradcli.language import ops
from gradcli.language.inputs import Value
from tests.conftest import process
from tests.examples import examples, own_rules
from tests.parts.code.running import EDGES, Edge, ran, run_script
from tests.programs import Random, programs

IN_SCIPY = (
    "erf erfc erfinv gammaln digamma i1 zeta gammaincc erfcx log_ndtr i0e i1e ndtr ndtri entr xlogy xlog1py logit"
)


@contextlib.contextmanager
def scipy_by_torch() -> Iterator[None]:
    """Answer what the scripts ask of SciPy by torch, so that the tests need none."""

    def function(name: str) -> Any:
        of_torch = getattr(torch.special, name)
        return lambda *a: of_torch(*(torch.as_tensor(np.asarray(one, dtype=np.float64)) for one in a)).numpy()

    special, linalg, package = (types.ModuleType(f"scipy{end}") for end in (".special", ".linalg", ""))
    for name in ("logit", *IN_SCIPY.split()):
        setattr(special, name, function(name))
    special.polygamma = lambda n, x: torch.special.polygamma(int(n), torch.as_tensor(x)).numpy()  # type: ignore[attr-defined]
    linalg.expm = lambda matrix: torch.matrix_exp(torch.as_tensor(matrix)).numpy()  # type: ignore[attr-defined]
    package.special, package.linalg = special, linalg  # type: ignore[attr-defined]
    with pytest.MonkeyPatch.context() as patch:  # name by name: `patch.dict` also forgets what was imported meanwhile
        for name, module in {"scipy": package, "scipy.special": special, "scipy.linalg": linalg}.items():
            patch.setitem(sys.modules, name, module)
        yield


@pytest.fixture(autouse=True)
def scipy() -> Iterator[None]:
    """Without SciPy."""
    with scipy_by_torch():
        yield


def require_same(text: str, at: Mapping[str, Value], v: Value | None, tolerance: float = 1e-12) -> None:
    """The script gives the numbers of `vjp`."""
    source, names, answer = ran(text, at, v, "numpy")
    for name, found in zip(answer.wrt, names["printed"], strict=bool(answer.wrt)):
        expected = answer.vjp[name]
        assert np.shape(found) == expected.shape, source
        terms = np.abs(np.append(expected.ravel(), [] if answer.jacobian is None else answer.jacobian[name].ravel()))
        scale = terms[np.isfinite(terms)].max(initial=1e-300)  # what cancels in vᵀJ leaves the error of its terms
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * scale, err_msg=source)
    if answer.wrt:
        y = next(names[word] for word in (answer.output, f"{answer.output}_2") if word in names)
        np.testing.assert_allclose(y, answer.value, rtol=tolerance, atol=1e-300, err_msg=source)


@pytest.mark.parametrize("op", own_rules(ops.TABLE.values(), 3), ids=lambda op: op.name)
@pytest.mark.one_in(4)
def test_every_operation_has_its_gradient_in_numpy(op: ops.Op, monkeypatch: pytest.MonkeyPatch) -> None:
    """The worked example of its row."""
    monkeypatch.setattr("gradcli.parts.code.code._formulas", lambda _: {})  # which take most of the time
    text, at = op.worked_example
    y = Function(text).eval(at, check=False).value
    v = np.arange(1.0, y.size + 1).reshape(y.shape)
    require_same(text, at, v, 1e-9)


KINKS = [op for op in ops.TABLE.values() if op.kind is ops.Kind.ELEMENTWISE and op.kinks] + [
    ops.TABLE[name]
    for name in "clamp fmax fmin relu relu6 hardtanh hardswish hardshrink softshrink threshold elu xlogy".split()
]


@pytest.mark.parametrize("op", own_rules(KINKS, 0), ids=lambda op: op.name)
def test_scripts_have_torchs_numbers_at_kinks_by_their_formulas(op: ops.Op, monkeypatch: pytest.MonkeyPatch) -> None:
    """On all combinations of a few values that tie, and none is torch's number written down."""
    monkeypatch.setattr("gradcli.parts.code.code._formulas", lambda _: {})
    text, at = op.worked_example
    points = np.array([*itertools.product([-3.0, -1, -0.5, 0, 0.5, 1, 3, 6], repeat=len(at))][:200])
    given = dict(zip(at, points.T, strict=True))
    require_same(text, given, np.linspace(1, 2, len(points)), 1e-9)
    assert "torch's numbers" not in Function(text).code(given, "ones", to="numpy").source


def test_lgamma_is_infinite_at_its_poles_and_raises_nothing() -> None:
    """As SciPy has it; Python's own raises an error there, and where the result is too large."""
    names, _ = run_script(Function("lgamma(x)*y").code({"x": 0.0, "y": 2.0}, to="numpy", wrt=["y"]).source)
    assert names["y_bar"] == np.inf


OWN: list[Edge] = [
    ("clamp(x, y, 1) + x.clamp(min=-5)", {"x": "-1,0.2,0.5", "y": "0.1"}, "ones"),
    ("det(A) + trace(inv(A @ A))", {"A": "[[2,1],[1,3]]"}, None),
    ("cumprod(x, 0)", {"x": "2,0,3,0"}, "1,2,3,4"),
    ("det(A)*[1,[2,3]]", {"A": "[[2,1],[4,2]]"}, "ones"),
    ("np = i*j*sum(x); np + max(x)*torch", {"x": "1,2", "i": "3", "j": "4", "torch": "5"}, None),
]  # fmt: skip


EVERY = [edge for edge in EDGES if edge[1]] + OWN
"""Edges with a variable to differentiate by, and those of NumPy alone."""


@pytest.mark.parametrize(("text", "at", "v"), EVERY, ids=[edge[0] + str(edge[2]) for edge in EVERY])
@pytest.mark.one_in(4)
def test_edges(text: str, at: dict[str, str], v: str | None) -> None:
    """Precedence, constants, sizes, lists, dimensions, v, values and names."""
    require_same(text, at, v)


LARGE = [
    ("x**2", "arange(200)"),
    ("sum(softmax(x)**2)", "linspace(0, 1, 500)"),
    (f"[{', '.join(f'x**{n}' for n in range(50))}]", "1.5"),
]


@pytest.mark.parametrize(("text", "x"), LARGE, ids=["entries", "elements", "parts"])
def test_a_script_needs_no_formula(text: str, x: str) -> None:
    """Of many elements, or of a list that has none."""
    require_same(text, {"x": x}, "ones")


def test_a_script_repeats_the_formula_and_says_where_it_was_not_confirmed() -> None:
    """A quotient is 0/0 there; torch takes 0."""
    note = "# the formula was confirmed at other values or sizes, not at this point\n"
    for text, x, expected, is_elsewhere in (
        ("norm(x**2)", "0,0", [0, 0], True),
        ("norm(x**2)", "1,0", [2, 0], False),
        ("prod(x)", "0,1,3", [3, 0, 0], False),
    ):
        source, names, _ = ran(text, {"x": x}, None, "numpy")
        assert "# dy/dx[j] = " in source
        assert (note in source) == is_elsewhere
        np.testing.assert_array_equal(names["x_bar"], expected)


WRITTEN = [
    ("x**2", {"x": "1,2"}, "x_bar = v * (2 * x)  # power rule"),
    ("sum(x)", {"x": "1,2"}, "x_bar = np.broadcast_to(v, (2,))  # sum rule"),
    ("A@x", {"A": "[[1,2],[3,4]]", "x": "1,2"}, "x_bar = A.T @ v  # product rule"),
    ("A@x", {"A": "[[1,2],[3,4]]", "x": "1,2"}, "A_bar = v[:, None] * x  # product rule"),
    ("x*x.sum()", {"x": "1,2"}, "x_bar = x_bar + t1_bar  # sum rule"),
    ("softmax(x)", {"x": "1,2"}, "x_bar = y * (v - np.sum(v * y))  # chain rule"),
    ("sigmoid(x)", {"x": "1,2"}, "x_bar = v * y * (1 - y)  # chain rule"),
    ("relu(x)", {"x": "1,2"}, "x_bar = np.where(x <= 0, 0, v)  # chain rule"),
    ("x/z", {"x": "1,2", "z": "3,4"}, "x_bar = v / z  # quotient rule"),
    ("x[k]", {"x": "1,2", "k": "1,1,0"}, "y = x[k.astype(int)]"),
    (
        "x[k]",
        {"x": "1,2", "k": "1,1,0"},
        "x_bar = np.bincount(k.astype(int), weights=v, minlength=2)  # rule of moved elements",
    ),
    ("A[:, k]", {"A": "[[1,2],[3,4]]", "k": "[1]"}, "y = A[:, k.astype(int)]"),
    ("[x, z, x]", {"x": "1", "z": "2"}, "z_bar = v[1]  # rule of parts"),
    ("inv(A)", {"A": "[[2,1],[1,3]]"}, "A_bar = -(y.T @ v @ y.T)  # chain rule"),
]


@pytest.mark.parametrize(("text", "at", "line"), WRITTEN)
def test_a_script_reads_as_one_would_write_it(text: str, at: dict[str, str], line: str) -> None:
    """Whole arrays, an adjoint a line, with the rule behind it."""
    y = Function(text).eval(at, check=False).value
    assert line in Function(text).code(at, np.ones(y.shape), to="numpy").source.splitlines()


EXCEPTIONS = [
    ("maximum(x, 1)*minimum(x, 1)", "0,1,2", "ones", [1, 1, 1], False),
    ("sum(sorted(x)**2)", "1,1,2", None, [2, 2, 4], False),
    ("sum(sorted(x)*[1,2,3])", "1,1,2", None, [1, 2, 3], True),
    ("amax(x)", "1,1,0", None, [0.5, 0.5, 0], False),
    ("relu(x)", "0,1,-1", "ones", [0, 1, 0], False),
    ("relu(x) - relu(-x)", "0", None, 0.0, False),
    ("norm(x)", "0,0", None, [0, 0], False),
    ("sqrt(x)", "0,1", "e1", [np.nan, 0.5], False),
    ("cdist(x, x)[0]", "[[1,2],[4,6]]", "ones", [[-0.6, -0.8], [0.6, 0.8]], False),
    ("max_pool1d(x, 2)", "[[1,1,3,3]]", "ones", [[1, 0, 1, 0]], True),
]


@pytest.mark.parametrize(("text", "x", "v", "expected", "is_torchs"), EXCEPTIONS)
@pytest.mark.one_in(2)
def test_a_script_has_the_numbers_of_torch_where_its_gradient_gives_others(
    text: str, x: str, v: str | None, expected: Any, is_torchs: bool
) -> None:
    """At ties of which torch takes the first by its position; at other kinks, by its own rules."""
    source, names, _ = ran(text, {"x": x}, v, "numpy")
    np.testing.assert_allclose(names["x_bar"], expected, rtol=1e-15)
    assert ("# torch's numbers, where the gradient of its definition gives others" in source) == is_torchs


def test_without_a_variable_the_value_is_printed() -> None:
    """As by a script of torch."""
    assert Function("3").code(to="numpy").source.endswith("y = 3\n\nprint(y)\n")


def test_float32_stays_float32() -> None:
    """Values and adjoints, which are close to torch's."""
    source, names, answer = ran("sigmoid(x)*exp(x)/x**3", {"x": "0.1,2,0.7"}, "ones", "numpy", "float32")
    assert "torch's numbers" not in source
    assert names["x_bar"].dtype == np.float32
    np.testing.assert_allclose(names["x_bar"], answer.vjp["x"], rtol=1e-6)


def test_two_statements_with_one_value_keep_their_names() -> None:
    """The last is the output."""
    source = Function("t0 = -A; t1 = t0.squeeze(); t1").code({"A": "[[1,2],[3,4]]"}, "ones", to="numpy").source
    assert "t0 = -A\nt1 = t0\nv = " in source


def test_a_script_runs_without_torch() -> None:
    """In a process of its own, which prints vᵀJ."""
    source = Function("relu(x)*x.sum()").code({"x": "1,-2,3"}, "1,2,3", to="numpy").source
    run = process(sys.executable, "-c", f"{source}\nimport sys\nassert 'torch' not in sys.modules")
    assert (run.out, run.err) == ("[12. 10. 16.]\n", "")


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(program=programs())
def test_random_programs_have_torchs_numbers(program: Random) -> None:
    """And none is torch's number written down."""
    function = Function(program.text)
    at = {name: program.leaves[name].detach().numpy() for name in function.variables}
    with mock.patch("gradcli.parts.code.code._formulas", return_value={}):
        require_same(program.text, at, "ones", 1e-8)
        assert "torch's numbers" not in function.code(at, "ones", to="numpy").source

"""NumPy scripts: the numbers of `vjp`, from the formula."""

import sys
import types
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import mpmath
import numpy as np
import pytest

from gradcli import Function, GradcliError
from gradcli.language import ops
from gradcli.language.inputs import Value, read_value
from gradcli.language.program.expansion import in_primitives
from gradcli.language.program.numeric import _by_arb
from tests.codegen.running import EDGES, Edge, ran, run_script
from tests.parsing import parse

INACCURATE = {"hardsigmoid": 1e-6, "digamma": 1e-9, "polygamma": 1e-9}
"""Operations that torch itself gives so exactly only."""


@pytest.fixture(autouse=True)
def scipy() -> Iterator[None]:
    """Answer what the scripts ask of SciPy, by mpmath or as rows say it, so that the tests need none."""
    special = types.ModuleType("scipy.special")
    functions = {
        **{op.name: partial(_by_arb, op) for op in ops.TABLE.values() if op.arb},
        "digamma": mpmath.digamma,
        "polygamma": lambda n, x: mpmath.polygamma(int(n), x),
        "erf": mpmath.erf,
        "erfc": mpmath.erfc,
        "erfinv": mpmath.erfinv,
        "gammaln": lambda x: mpmath.inf if x <= 0 and x == int(x) else mpmath.log(abs(mpmath.gamma(x))),
        "i0": lambda x: mpmath.besseli(0, x),
        "i1": lambda x: mpmath.besseli(1, x),
        "iv": mpmath.besseli,
    }
    for name, function in functions.items():
        setattr(special, name, np.vectorize(lambda *a, f=function: float(f(*map(float, a))), otypes=[float]))
    package = types.ModuleType("scipy")
    package.special = special  # type: ignore[attr-defined]
    sys.modules |= {"scipy": package, "scipy.special": special}
    yield
    del sys.modules["scipy"], sys.modules["scipy.special"]


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


@pytest.mark.parametrize("op", [op for op in ops.TABLE.values() if op.is_primitive], ids=lambda op: op.name)
def test_every_operation_has_its_formula_in_python(op: ops.Op) -> None:
    """The worked example of its row; others are made of these."""
    text, at = op.worked_example
    y = Function(text).eval(at, check=False).value
    v = np.arange(1.0, y.size + 1).reshape(y.shape)
    program = in_primitives(parse(text, shapes={name: read_value(value, "--at").shape for name, value in at.items()}))
    if op.name == "cond" or any(line.call.op.kind is ops.Kind.SPECTRAL for line in program.lines):
        with pytest.raises(GradcliError, match=r"has no formula for one element|could not confirm it"):
            Function(text).code(at, v, to="numpy")
        return
    require_same(text, at, v, INACCURATE.get(op.name, 1e-12))


def test_lgamma_is_infinite_at_its_poles_and_raises_nothing() -> None:
    """As SciPy has it; Python's own raises an error there, and where the result is too large."""
    names, _ = run_script(Function("lgamma(x)*y").code({"x": 0.0, "y": 2.0}, to="numpy", wrt=["y"]).source)
    assert names["J_y"] == np.inf


OWN: list[Edge] = [
    ("clamp(x, y, 1) + x.clamp(min=-5)", {"x": "-1,0.2,0.5", "y": "0.1"}, "ones"),
    ("det(A) + trace(inv(A @ A))", {"A": "[[2,1],[1,3]]"}, None),
    ("cumprod(x, 0)", {"x": "2,0,3,0"}, "1,2,3,4"),
    ("np = i*j*sum(x); np + max(x)*torch", {"x": "1,2", "i": "3", "j": "4", "torch": "5"}, None),
]  # fmt: skip


EVERY = [edge for edge in EDGES if edge[1]] + OWN
"""Edges with a variable to differentiate by, and those of NumPy alone."""


@pytest.mark.parametrize(("text", "at", "v"), EVERY, ids=[edge[0] + str(edge[2]) for edge in EVERY])
def test_edges(text: str, at: dict[str, str], v: str | None) -> None:
    """Precedence, constants, sizes, lists, dimensions, v, values and names."""
    require_same(text, at, v)


NO_SCRIPT = [
    (f"[{', '.join(f'x**{n}' for n in range(50))}]", "1", "no formula of the derivative by 'x' for a NumPy script"),
    ("x**2", "arange(200)", "40,000 entries"),
]


@pytest.mark.parametrize(("text", "x", "message"), NO_SCRIPT, ids=["none", "large"])
def test_what_has_no_script_says_why(text: str, x: str, message: str) -> None:
    """And what to use instead."""
    with pytest.raises(GradcliError, match=message) as caught:
        Function(text).code({"x": x}, "ones", to="numpy")
    assert 'to="torch"' in str(caught.value.hint)


def test_a_script_says_where_its_formula_was_not_confirmed() -> None:
    """A quotient is 0/0 there, and so is the answer's; a product is of the others, whether one is 0 or not."""
    note = "# the formula was confirmed at other values or sizes, not at this point\n"
    for text, x, expected, is_elsewhere in (
        ("norm(x**2)", "0,0", [0, 0], True),
        ("norm(x**2)", "1,0", [2, 0], False),
        ("prod(x)", "0,1,3", [3, 0, 0], False),
    ):
        source, names, _ = ran(text, {"x": x}, None, "numpy")
        assert (note in source) == is_elsewhere
        np.testing.assert_array_equal(names["J_x"], expected)


EXCEPTIONS = [
    ("maximum(x, 1)*minimum(x, 1)", "0,1,2", "ones", np.eye(3)),
    ("maximum(x, 1)*minimum(x, 1)", "1", None, 1.0),
    ("sum(sorted(x)**2)", "1,1,2", None, [2, 2, 4]),
    ("sum(sorted(x)**2)", "3,1,2", None, [6, 2, 4]),
    ("amax(x)", "1,1,0", None, [0.5, 0.5, 0]),
    ("relu(x)", "0,1,-1", "ones", [[0, 0, 0], [0, 1, 0], [0, 0, 0]]),
    ("relu(x) - relu(-x)", "0", None, 0.0),
    ("norm(x)", "0,0", None, [0, 0]),
    ("sqrt(x)", "0,1", "e1", [[np.inf, 0], [0, 0.5]]),
    ("cdist(x, x)[0]", "[[1,2],[4,6]]", "ones", [[[0, 0], [0, 0]], [[-0.6, -0.8], [0.6, 0.8]]]),
]


@pytest.mark.parametrize(("text", "x", "v", "expected"), EXCEPTIONS)
def test_a_script_has_the_numbers_of_torch_where_the_formula_gives_others(
    text: str, x: str, v: str | None, expected: Any
) -> None:
    """At ties, at kinks, at a domain's end, and where the formula is 0/0; nowhere else."""
    source, names, _ = ran(text, {"x": x}, v, "numpy")
    np.testing.assert_allclose(names["J_x"], expected, rtol=1e-15)
    assert ("# torch's numbers, where the formula gives others" in source) == (x != "3,1,2")

"""What torch's own passes lose by rounding is `inaccurate`; what they do wrong is `disagree`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcli import Function
from gradcli.language import ops
from gradcli.language.ops import Kind
from gradcli.results import Check
from tests.check import extremes


def _checked(command: str, text: str, at: dict[str, Any], dtype: Any = "float64", **more: Any) -> Check:
    check: Check | None = getattr(Function(text), command)(at, dtype=dtype, **more).check
    assert check is not None
    return check


# -- lost digits

LOST = [
    ("vjp", "std(x+a)", {"x": "1,2,4", "a": 1000.1}),
    ("vjp", "var(x+a)", {"x": "1,2,4", "a": 1e6}),
    ("vjp", "tanhshrink(x)", {"x": 1e-5}),
    ("jvp", "tanhshrink(x)", {"x": 1e-5}),
    ("vjp", "atan2(y,x)", {"x": 9e-29, "y": -5.4e250}),
    ("vjp", "asinh(x)", {"x": 1e200}),
    ("vjp", "acosh(x)", {"x": 1e200}),
    ("vjp", "logsumexp(x,0)", {"x": "100000000.5,100000001.7"}),
    ("vjp", "polygamma(2,x)", {"x": 4e144}),
    ("hessian", "log(cosh(x))", {"x": 400}),
    ("hvp", "log(cosh(x))", {"x": 400}),
    ("hessian", "tanhshrink(x)", {"x": 1e-9}),
]


@pytest.mark.parametrize(("command", "text", "at"), LOST, ids=[f"{c} {t}" for c, t, _ in LOST])
def test_what_torch_loses_on_its_way_back_is_lost_digits(command: str, text: str, at: dict[str, Any]) -> None:
    """Its adjoints cancel, overflow or underflow where derivatives carried forward do not."""
    more = {"u": 1} if command in ("jvp", "hvp") else {}
    check = _checked(command, text, at, **more)
    assert check.verdict == "inaccurate", check.findings
    assert check.proven


@pytest.mark.parametrize("name", ["var", "std"])
def test_shifted_statistics_never_disagree(name: str) -> None:
    """The slope by the shift is 0, and torch sums up deviations that do not cancel."""
    generator = np.random.default_rng(7)
    for _ in range(25):
        at = {"x": generator.normal(size=int(generator.integers(2, 6))), "a": 10 ** generator.uniform(-1, 9)}
        check = _checked("vjp", f"{name}(x+a)", at)
        assert check.verdict in ("agree", "inaccurate", "undefined"), (at, check.findings)


def test_a_cosine_of_two_shapes_is_that_of_their_broadcast() -> None:
    """Torch stretches a before it takes its length."""
    assert _checked("vjp", "cosine_similarity(a, b, dim=0)", {"a": 1, "b": "3,4"}).verdict == "agree"


@pytest.mark.parametrize("seed", range(4))
def test_torch_is_never_called_wrong_where_it_rounds(seed: int) -> None:
    """Every operation, shifted, scaled and saturated, in either dtype; of ten thousand, run by hand, none disagrees."""
    count = 60
    for one in extremes.cases(np.random.default_rng(100 + seed), count, first=seed * count):
        assert one.verdict[0] != "disagree", one


# -- what torch's kernels are known to do

KNOWN = [
    ("vjp", "hardsigmoid(x)", 1.0, "7 of 16 digits survive: torch's constant 1/6 is a float32"),
    ("hessian", "softplus(x)", 25.0, "0 of 16 digits survive: torch takes x itself above 20"),
    ("vjp", "binary_cross_entropy(x, 0)", 3e-15, "torch divides by input*(1 - input), and by no less than 1e-12"),
]


@pytest.mark.parametrize(("command", "text", "x", "note"), KNOWN, ids=[t for _, t, _, _ in KNOWN])
def test_a_known_fault_of_torch_is_called_by_its_name(command: str, text: str, x: float, note: str) -> None:
    """It is no lost digit of the user's formula, and nobody has to look for it."""
    check = _checked(command, text, {"x": x})
    assert check.verdict == "inaccurate"
    assert note in check.findings[0].note


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_fault_is_not_named_where_it_is_not_to_blame(dtype: str) -> None:
    """1 - cos(x) lost the digits, in front of a softplus that is far from its threshold."""
    check = _checked("vjp", "softplus((1-cos(x))/x**2)", {"x": 1e-8 if dtype == "float64" else 2.0**-13}, dtype)
    assert check.verdict == "inaccurate"
    assert "above 20" not in check.findings[-1].note


def test_every_operation_has_torchs_derivative() -> None:
    """At random points in float64, to within rounding: what is not, is a fault that its row of the table names."""
    generator = np.random.default_rng(3)
    for op in ops.TABLE.values():
        text, values = op.worked_example
        if op.kind in (Kind.SOURCE, Kind.COUNT) or op.name == "binary_cross_entropy":
            continue  # whose targets may not move beyond 0 and 1
        at = {name: _near(value, generator) for name, value in values.items()}
        check = _checked("jacobian", text, at)
        expected = "inaccurate" if op.name == "hardsigmoid" else "agree"
        assert check.verdict in (expected, "undefined"), (text, at, check.verdict)


def _near(value: str, generator: np.random.Generator) -> Any:
    from gradcli.language.values import read_value

    array = np.asarray(read_value(value, "x"), dtype=float)
    return array * (1 + 0.01 * generator.random(array.shape))

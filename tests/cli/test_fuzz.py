"""Random command lines from the language: exit 0 or 2, never anything else."""

from __future__ import annotations

import contextlib
import io
import json
import sys

import hypothesis.strategies as st
from hypothesis import HealthCheck, given, settings

from gradcli.cli import main

_ATOMS = [
    "x",
    "A",
    "a",
    "2",
    "0.5",
    "-1",
    "pi",
    "inf",
    "1e300",
    "x[0]",
    "x[-1]",
    "A[0]",
    "A.T",
    "x[1:]",
    "x[5:]",
    "[x, 2*x]",
]
_CALLS = [
    "sin({})",
    "log({})",
    "sqrt({})",
    "abs({})",
    "sum({})",
    "mean({})",
    "relu6({})",
    "clamp({}, 0, 1)",
    "polygamma(1, {})",
    "floor({})",
    "({})[None]",
    "({}).sum(0)",
    "-{}",
    "({})**2",
    "({})**0.5",
    "sigmoid({})",
    "[{}, 1]",
]
_PAIRS = [
    "({} + {})",
    "({} * {})",
    "({} / {})",
    "({} ** {})",
    "({} @ {})",
    "maximum({}, {})",
    "[{}, {}]",
    "y = {}; {}*y",
    "{} {}",
    "xlogy({}, {})",
]

expressions = st.recursive(
    st.sampled_from(_ATOMS),
    lambda inner: st.one_of(
        st.builds(str.format, st.sampled_from(_CALLS), inner),
        st.builds(str.format, st.sampled_from(_PAIRS), inner, inner),
    ),
    max_leaves=6,
)
values = st.sampled_from(
    ["1,2", "0.3", "-1,0", "[[1,2],[3,4]]", "[1]", "nan,1", "1e300,1e-300", "arange(0)", "linspace(0,1,2)", "inf", "0"]
)


@settings(max_examples=1500, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    expression=expressions,
    x=values,
    command=st.sampled_from(["vjp", "jacobian", "grad", "eval"]),
    dtype=st.sampled_from(["float64", "float32"]),
    style=st.sampled_from(["table", "json", "plain"]),
)
def test_random_command_lines_are_answered_or_refused(
    expression: str, x: str, command: str, dtype: str, style: str
) -> None:
    """With a clear message and an empty stdout if refused; strict JSON if asked for."""
    words = [command, expression, "--dtype", dtype, "--format", style]
    for name, value in (("x", x), ("A", "[[1,2],[3,4]]"), ("a", "0.7")):
        if name in expression.replace("max", "").replace("arange", "").replace("a(", "(").replace("clamp", "").replace(
            "mean", ""
        ):
            words += ["--at", f"{name}={value}"]
    if command == "vjp":
        words += ["--v", "ones"]
    out, err = io.StringIO(), io.StringIO()
    hook = sys.excepthook
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(words)
    finally:
        sys.excepthook = hook
    assert code in (0, 2), (words, err.getvalue())
    if code == 2:
        assert out.getvalue() == ""
        assert err.getvalue().startswith(("error: ", '{"schema"'))
    elif style == "json":
        json.loads(out.getvalue(), parse_constant=lambda name: (_ for _ in ()).throw(AssertionError(name)))

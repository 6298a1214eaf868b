"""Several gradient vectors, accumulation, intermediates, losses and traps, through the command."""

import json

import numpy as np
from hypothesis import given, settings, strategies as st

from gradcli import Function
from gradcli.questions.bound_function import Dtype
from tests.checks import check_of
from tests.conftest import Command
from tests.examples import examples


def test_what_passes_add_up_to_is_judged(gradcli: Command) -> None:
    """1e16 + 1 - 1e16 is 1, and torch has 0 after the third pass; in another order it has 1."""
    words = ("vjp", "x", "--at", "1", "--v", "1e16", "--v")
    run = gradcli(*words, "1", "--v=-1e16", "--accumulate", "--json")
    first, second, third = (json.loads(line)["check"] for line in run.out.splitlines())
    assert (first["verdict"], second["verdict"], third["verdict"]) == ("agree", "agree", "inaccurate")
    (finding,) = third["findings"]
    assert (finding["of"], finding["variable"], finding["torch"], finding["reference"]) == ("accumulated", "x", 0, 1)
    assert finding["relative_error"] == 1
    assert finding["note"] == "0 of 16 digits survive the rounding of float64; the sum of 3 passes cancels"
    assert (
        "x.grad inaccurate (proven): torch 0 ✗ truth 1: 0 of 16 digits"
        in gradcli(*words, "1", "--v=-1e16", "--accumulate", "--full").out
    )
    assert gradcli(*words, "1", "--v=-1e16", "--accumulate", "--strict").code == 1
    assert gradcli(*words[:-1], "--v=-1e16", "--v", "1", "--accumulate", "--strict").code == 0


@settings(max_examples=examples(15), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_what_passes_add_up_to_is_never_called_wrong(seed: int) -> None:
    """However they cancel: torch adds floats, which rounding explains; the truth is that of the exact sum."""
    generator = np.random.default_rng(seed)
    vs = (generator.normal(size=(6, 3)) * 10.0 ** generator.integers(-18, 18, (6, 1))).round(generator.integers(0, 9))
    vs = generator.permutation(np.concatenate([vs, -vs[:4]]))
    dtype: Dtype = "float64" if seed % 2 else "float32"
    x = generator.uniform(0.5, 2, 3)
    found = Function("[sin(x[0])*x[1], x[2]**2, x[0]*x[1]*x[2]]").vjps({"x": x}, list(vs), accumulate=True, dtype=dtype)
    for answer in found.answers:
        assert check_of(answer).verdict in ("agree", "inaccurate"), check_of(answer).findings

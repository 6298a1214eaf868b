"""Coverage of a verdict, all entries or a sample, and exit codes that depend on it; more in `commands/coverage.txt`."""

from __future__ import annotations

from pathlib import Path

from gradcli import Function
from tests.checks import check_of
from tests.conftest import Command


def test_a_kink_among_others_that_a_sample_found_is_not_called_proven() -> None:
    """The finding is proven, what the answer is as a whole is not."""
    check = check_of(Function("sum(abs(x))").grad({"x": [0.0] * 5000}))
    assert (check.verdict, check.proven, check.sampled) == ("kink", False, True)
    assert check.findings[0].proven


def test_rows_can_all_be_required(gradcli: Command, tmp_path: Path) -> None:
    """Of a stream too, whose summary says it."""
    for count, code in ((10, 0), (100, 1)):
        path = tmp_path / f"{count}.csv"
        path.write_text("x\n" + "".join(f"{n}\n" for n in range(1, count + 1)))
        run = gradcli("map", "x**2", "--points", str(path), "--check", "--require-all")
        assert run.code == code
        assert ("entries sampled)" in run.err) == bool(code)
    assert "--require-all needs --check" in gradcli("map", "x", "--points", str(path), "--require-all").err

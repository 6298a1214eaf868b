"""Advice on numbers that float32 cannot hold."""

from gradcli import Function
from gradcli.option_words import in_shell
from tests.checks import check_of


def test_the_type_that_holds_a_number_is_named() -> None:
    """Of a value that is finite, and too large for float32."""
    (finding,) = check_of(Function("x**2").grad(1e30, dtype="float32")).findings
    assert in_shell(finding.note).endswith("float32 ends at 3.4e+38; --dtype float64 holds it")
    assert not check_of(Function("x**2").grad(1e30)).findings

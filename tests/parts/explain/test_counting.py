"""The command `count`."""

from tests.conftest import Command


def test_operations_are_counted(gradcli: Command) -> None:
    """Those that are run, the most frequent first."""
    run = gradcli("count", "y = sin(x); y*y + x*y")
    assert (run.code, run.out, run.err) == (0, "  2 mul\n  1 sin\n  1 add\n", "")
    assert gradcli("count", "sin(").code == 2

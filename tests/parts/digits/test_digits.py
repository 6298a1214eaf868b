"""The command `digits`."""

from tests.conftest import Command


def test_digits_that_are_right_are_counted(gradcli: Command) -> None:
    """All of a square, few where terms cancel, none where they leave 0."""
    for text, at, said in (("x**2", "3", "16"), ("1 - cos(x)", "1e-4", "8"), ("1 - cos(x)", "1e-9", "0")):
        assert gradcli("digits", text, "--at", at).out == f"{said} of 16\n", text

"""Command lines of the parts, each with its exit code and what is printed."""

import pytest

from tests import command_lines, of_parts
from tests.conftest import Command


@pytest.mark.parametrize(("line", "expected"), command_lines.rows(of_parts.files("commands/*.txt")))
@pytest.mark.usefixtures("filled")
def test_a_command_line(line: str, expected: str, gradcli: Command) -> None:
    """In a folder that has the files it names."""
    command_lines.require(line, expected, gradcli)

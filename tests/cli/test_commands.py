"""Command lines of the core, each with its exit code and what is printed."""

from pathlib import Path

import pytest

from tests import command_lines
from tests.conftest import Command


@pytest.mark.parametrize(("line", "expected"), command_lines.rows((Path(__file__).parent / "commands").glob("*.txt")))
@pytest.mark.usefixtures("filled")
def test_a_command_line(line: str, expected: str, gradcli: Command) -> None:
    """In a folder that has the files it names."""
    command_lines.require(line, expected, gradcli)

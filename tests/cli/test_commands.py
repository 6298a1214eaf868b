"""Command lines of the core, each with its exit code and what is printed."""

from pathlib import Path

import pytest

from tests.command_lines import CommandLine, require, rows
from tests.conftest import Command


@pytest.mark.parametrize("one", rows((Path(__file__).parent / "commands").glob("*.txt")))
@pytest.mark.usefixtures("filled")
def test_a_command_line(one: CommandLine, gradcli: Command, updates: bool) -> None:
    """In a folder that has the files it names."""
    require(one, gradcli, updates=updates)

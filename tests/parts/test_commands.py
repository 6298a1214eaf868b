"""Command lines of the parts, each with its exit code and what is printed."""

import pytest

from tests import of_parts
from tests.command_lines import CommandLine, require, rows
from tests.conftest import Command


@pytest.mark.parametrize("one", rows(of_parts.files("commands/*.txt")))
@pytest.mark.usefixtures("filled")
def test_a_command_line(one: CommandLine, gradcli: Command, updates: bool) -> None:
    """In a folder that has the files it names."""
    require(one, gradcli, updates=updates)

"""The table of activations in the guide: rows that the commands make again."""

import re

import pytest

from gradcli import guide
from tests import activations_table, generated
from tests.activations_table import ACTIVATIONS, row

pytestmark = pytest.mark.part("claims")

QUICK = ("relu", "tanh")
"""Rows that are made again by default."""


def _rows() -> dict[str, str]:
    _, table, _ = generated.split(guide.text("everywhere"), "activations_table")
    return {name: line for line in table.splitlines(keepends=True) for name in re.findall(r"^\| `(\w+)\(x\)`", line)}


def test_the_table_has_all_activations() -> None:
    """In order, below its header."""
    assert tuple(_rows()) == tuple(ACTIVATIONS)
    assert activations_table.HEADER in guide.text("everywhere")


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.one_in(2)
def test_a_row_of_the_table_is_what_the_commands_say(name: str) -> None:
    """To the last digit."""
    assert _rows()[name] == row(name)


@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name in ACTIVATIONS if name not in QUICK])
def test_every_row_of_the_table_is_what_the_commands_say(name: str) -> None:
    """All others."""
    assert _rows()[name] == row(name)

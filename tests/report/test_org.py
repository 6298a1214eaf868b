"""Org: tables with a rule below the names, and a file by its suffix."""

from __future__ import annotations

from pathlib import Path

from gradcli import Function
from tests.conftest import Command


def test_a_matrix_is_a_table() -> None:
    """With a row a y[i]; signs of tables are written by their names."""
    assert (
        "| ∂y/∂x | x[0] | x[1] |\n|-\n| y[0] | 2 | 0 |\n| y[1] | 0 | 4 |\n"
        in f"{Function('x**2').jacobian([1, 2]):org}"
    )
    assert r"\vert{}" in f"{Function('abs(x)').grad(1):org}"


def test_the_suffix_chooses_the_format(gradcli: Command, tmp_path: Path) -> None:
    """As for formats that were there before."""
    path = tmp_path / "answer.org"
    assert gradcli("grad", "x**2", "--at", "3", "-o", str(path)).code == 0
    assert path.read_text(encoding="utf-8") == gradcli("grad", "x**2", "--at", "3", "--format", "org").out

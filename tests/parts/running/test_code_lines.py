"""Findings about a value that has no name in the user's code say where it stands there."""

import torch

from gradcli import record
from tests.checks import check_of


def _standardized(x: torch.Tensor) -> torch.Tensor:
    return (torch.relu(x - x.mean()) / torch.sqrt(((x - x.mean()) ** 2).mean())).sum()


def _root(x: torch.Tensor) -> torch.Tensor:
    return torch.sqrt(1 - x).sum()


def test_a_name_that_is_made_up_has_its_line() -> None:
    """And the text of a value in the user's own words needs none."""
    where = f"test_code_lines.py, line {_standardized.__code__.co_firstlineno + 1}"
    notes = [one.note for one in check_of(record(_standardized, torch.ones(3, dtype=torch.float64)).check()).findings]
    assert notes
    assert all(note.count(f"relu(t_1)/sqrt(mean(t_1**2)) ({where})") == 1 for note in notes)
    notes = [one.note for one in check_of(record(_root, torch.ones(3, dtype=torch.float64)).check()).findings]
    assert any("sqrt(1 - x)" in note for note in notes)
    assert not any("line" in note for note in notes)

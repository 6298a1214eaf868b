"""Edges that once crashed, hung, or lost an answer."""

from __future__ import annotations

import pytest

from tests import warm
from tests.conftest import process


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_an_answer_is_not_lost_with_its_remarks(redirection: str) -> None:
    """Stdout first; a stderr that is closed or full undoes nothing."""
    for arguments, code, out in ((["a = x; x**2"], 0, "9\n"), (["y +"], 2, "")):
        words = [warm.gradcli(), "eval", *arguments, "--at", "x=3", "--format", "plain"]
        run = process("sh", "-c", f'"$0" "$@" {redirection}', *words)
        assert (run.code, run.out) == (code, out)

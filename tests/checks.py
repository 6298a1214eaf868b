"""The check of an answer that has one."""

from __future__ import annotations

from typing import Any

from gradcli.results import Check


def check_of(answer: Any) -> Check:
    """Its check, which is there."""
    assert isinstance(answer.check, Check)
    return answer.check

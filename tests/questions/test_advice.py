"""Advisers of several parts: each adds to what the others said."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from gradcli import Function
from gradcli.questions import judging
from gradcli.results import Rewrite
from tests.checks import check_of


class _Form:
    """An adviser that knows a form, or one that adds a word to each finding."""

    def __init__(self, word: str) -> None:
        self.word = word

    def explained(self, point: Any, judgement: Any, v: Any) -> Any:
        return judgement.changed(lambda entry: entry.judged(note=f"{entry.note}{self.word}"))

    def advised(self, point: Any, judgement: Any, v: Any, judge_form: Any) -> Any:
        if self.word:
            return self.explained(point, judgement, v)
        return replace(judgement, check=replace(judgement.check, rewrite=Rewrite("x", "", "agree")))


@pytest.mark.parametrize("words", [("", "!"), ("!", "")])
def test_a_form_stays_whoever_speaks_after_it(words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """And so do words."""

    def advisers() -> Iterator[Any]:
        return map(_Form, words)

    monkeypatch.setattr(judging, "_advisers", advisers)
    check = check_of(Function("exp(x)/exp(x)*x").grad({"x": 1000.0}))
    assert check.rewrite is not None
    assert all(finding.note.endswith("!") for finding in check.findings)

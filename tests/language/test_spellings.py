"""Spellings from elsewhere, and which of them is answered in place of a text that cannot be read."""

import re

import pytest

from gradcli import trial
from gradcli.errors import GradcliError
from gradcli.language.parsing import parse
from gradcli.language.spelled_texts import respelled
from gradcli.language.spellings import NEAR_CALLS, NEAR_NAMES, SAME_CALLS, SAME_NAMES, Spelling


def _read(text: str) -> GradcliError | None:
    try:
        parse(text)
    except GradcliError as error:
        return error
    return None


def _found(text: str, *rows: Spelling) -> trial.Found[str]:
    """What is found by the whole table, or by some rows alone."""
    error = _read(text)
    assert error is not None
    return trial.spellings(
        text, error, lambda one, why: respelled(one, why, rows) if rows else respelled(one, why), _read
    )


def test_a_row_without_a_mark_is_shown_and_not_answered() -> None:
    """So that whoever forgets the mark makes no line be run in place of another."""
    forgotten = Spelling(re.compile("¿"), ("*",))
    assert _found("x ¿ 2", forgotten) == (["x * 2"], False)
    assert _found("x ¿ 2", Spelling(re.compile("¿"), ("*",), is_sure=True)).meant == "x * 2"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("tg(x)", "tan(x)"),
        ("opnorm(A)", "matrix_norm(A, 2)"),
        ("chol(A)", None),
        ("sqr(x)", None),
        ("largest_eigenvalue(A)", None),
        ("sin(x), cos(x)", "[sin(x), cos(x)]"),
        ("gammainc(a, x)", None),
    ],
)
def test_a_name_that_is_near_only_is_shown_and_not_answered(text: str, meant: str | None) -> None:
    """A name from elsewhere is answered where everybody means the same by it."""
    found = _found(text)
    assert found.spelled
    assert found.meant == meant


def test_a_name_is_in_one_table() -> None:
    """It says the same, or it is near."""
    assert not SAME_NAMES.keys() & NEAR_NAMES.keys()
    assert not SAME_CALLS.keys() & NEAR_CALLS.keys()


def test_commas_within_brackets_make_no_list() -> None:
    """They part the arguments of a call."""
    text = "(dsplit(x, sections=1)).max_pool3d(kernel_size=None, padding=0.5)"
    assert f"[{text}]" not in [one for group in respelled(text, GradcliError("")) for one in group.spelled]

"""What gradcheck finds is found, what it passes passes, and where both differ gradcheck is wrong."""

import warnings

import pytest
import torch

import gradcli
from tests.examples import all_but, part
from tests.parts.running.gradchecks import CUSTOM, MODULES, PLAIN, UNSEEN, Row

ROWS = {**PLAIN, **{f"custom: {name}": row for name, row in CUSTOM.items()}, **MODULES}


def both(row: Row) -> tuple[bool, bool]:
    """Ask gradcheck, and then gradcli, whether the gradients of a function are right."""
    function, inputs, _ = row
    with warnings.catch_warnings(action="ignore"):
        theirs = torch.autograd.gradcheck(function, inputs, raise_exception=False)
    return theirs, bool(gradcli.check(function, inputs, raise_exception=False))


@pytest.mark.parametrize("name", part(ROWS, 0, of=12))
@pytest.mark.one_in(4)
def test_the_answer_is_that_of_gradcheck(name: str) -> None:
    """And it is right."""
    assert both(ROWS[name]) == (ROWS[name][2],) * 2


@pytest.mark.parametrize("name", all_but(UNSEEN, 2))
@pytest.mark.one_in(2)
def test_what_gradcheck_does_not_see_is_seen(name: str) -> None:
    """It says the contrary of what is right."""
    assert both(UNSEEN[name]) == (not UNSEEN[name][2], UNSEEN[name][2])


def test_there_are_many_of_them() -> None:
    """Right and wrong."""
    rights = [is_right for _, _, is_right in (*ROWS.values(), *UNSEEN.values())]
    assert len(rights) >= 80
    assert rights.count(False) >= 20

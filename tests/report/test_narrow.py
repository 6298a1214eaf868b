"""Narrow terminals: every recorded answer fits, and no number is broken that has room."""

import re

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings
from rich.cells import cell_len
from rich.text import Text

from gradcli.report import Screen, rendered
from gradcli.report.document import Styled, Table, lines as cells
from gradcli.report.render.table import lines, render
from tests.examples import part
from tests.recorded import COMMANDS, answer

DRAWN = [c for c in COMMANDS if not re.search("--format|--json| code |--to dot|functions softmax", c)]
"""But for a page whose example gives way to its product, where its Jacobian has no room."""

NUMBER = re.compile(r"(?<![\w.])\d+\.\d+(?:e[-+]?\d+)?(?![\w.])")


@pytest.mark.parametrize("command", part(DRAWN, 1, of=6))
@pytest.mark.one_in(4)
def test_every_answer_fits_and_keeps_its_numbers_whole(command: str) -> None:
    """All numbers that are shown given enough room."""
    output = answer(command)
    form, digits = output.options.form, output.options.digits
    numbers = set(NUMBER.findall(rendered(output.answer, form, Screen(), digits)))
    for columns in (20, 30, 40, 60):
        shown = rendered(output.answer, form, Screen(columns), digits)
        assert max(map(cell_len, shown.splitlines())) <= columns
        assert not {number for number in numbers if len(number) < columns and number not in shown}, columns


def test_a_table_breaks_its_words_while_there_is_room_to_read() -> None:
    """And becomes blocks when there is not."""
    rows = (cells("a", "because of a long reason that goes on for a while"),)
    table = Table(cells("name", "why"), rows)
    assert render((table,), Screen(40)) == (
        "╭──────┬───────────────────────────────╮\n"
        "│ name │ why                           │\n"
        "├──────┼───────────────────────────────┤\n"
        "│ a    │ because of a long reason that │\n"
        "│      │ goes on for a while           │\n"
        "╰──────┴───────────────────────────────╯\n"
    )
    assert render((table,), Screen(24)) == "name a\n  why because of a long\n  reason that goes on\n  for a while\n"


def test_rows_without_headers_become_blocks_too() -> None:
    """The first cell, then the others below it; lines of a cell stay lines; styles stay."""
    numbers = cells("x", "1.0000000000000002, 2.0000000000000004\n3.0000000000000004, 4")
    verdict = cells(Styled("verdict", "strong"), Styled("inaccurate, to say the least", "bad"))
    table = Table(cells("", ""), (numbers, verdict))
    assert render((table,), Screen(30)) == (
        "x\n  1.0000000000000002,\n  2.0000000000000004\n  3.0000000000000004, 4\n"
        "verdict\n  inaccurate, to say the least\n"
    )
    assert "\x1b[1;38;5;160minaccurate" in render((table,), Screen(30, color=True))


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.floats(allow_nan=False), min_size=1), st.integers(20, 60), st.sampled_from([" ", ", ", "*", "]·["]))
def test_no_number_is_broken_that_fits(numbers: list[float], room: int, between: str) -> None:
    """In lists and in formulas; nothing but blanks is lost."""
    text = between.join(map(repr, numbers))
    found = [line.plain for line in lines(Text(text), room)]
    assert all(cell_len(line) <= room for line in found)
    assert "".join(found).replace(" ", "") == text.replace(" ", "")
    whole = {number for line in found for number in re.findall(r"[-\w.+]+", line)}
    assert all(any(repr(abs(n)) in piece for piece in whole) for n in numbers if len(repr(n)) <= room)

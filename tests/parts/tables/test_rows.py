"""Rows of text to numbers: the two ways to read them agree, and what is kept is the same."""

import io
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gradcli import Function
from gradcli.errors import InputError
from gradcli.parts.tables.text_rows import Delimited
from gradcli.results import Block, Fault, RowSource
from tests.examples import examples

ODD = (
    "| 5|6 |\t7|nan|-inf|+Infinity|1e400|1e-400|1_0|0x1|1d3|1.|.|٣|1\x00|1 2|1\xa0|\u20031|1\x0b|\x0c1|\x1c1|1\x85|"
    '1\u2028|nan(1)|1j|1;2|"1"|" 2 "|"3|"a"b|1e|--1|1f|#1|\\1|4.9e-324|\ufeff1|1\u200b|\udcff'
).split("|")
ODD += ["0" * 50 + "1", "1" * 400]

CELLS = st.one_of(st.floats().map(repr), st.sampled_from(ODD), st.text("0123456789+-.eE_ ", max_size=8))
ROWS = st.integers(1, 3).flatmap(
    lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=4)
)

Row = tuple[int, "tuple[str, ...] | str", tuple[str, ...]]


def _rows(text: str, *, exact: bool) -> list[Row]:
    """Of each row its number, its numbers or what is wrong with it, and its cells."""
    rows = Delimited(io.BytesIO(text.encode("utf-8", "surrogateescape")), "'t.csv'", "csv")
    if exact:
        rows._fast = lambda *given, **options: None  # type: ignore[method-assign]
    names = list(rows.source.columns)
    found: list[Row] = []
    for block in rows.blocks(names, keep=True, most=0):
        faults = {fault.index: fault.message for fault in block.faults}
        for index, number in enumerate(block.numbers.tolist()):
            numbers = tuple(float(block.columns[name][index]).hex() for name in names)
            found.append((number, faults.get(index, numbers), tuple(block.kept[name][index] for name in names)))
    return found


@settings(max_examples=examples(400), deadline=None)
@given(
    rows=ROWS, ends=st.sampled_from(["\n", "\r\n"]), last=st.sampled_from(["", "\n", "\n\n", "\n\n1\n", "\n1,2,3,4"])
)
def test_both_ways_to_read_a_table_agree(rows: list[list[str]], ends: str, last: str) -> None:
    """To the last bit of every number, and without a word of NumPy's."""
    text = "\n".join([",".join("abc"[: len(rows[0])]), *map(",".join, rows)]) + last
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert _rows(text.replace("\n", ends), exact=False) == _rows(text.replace("\n", ends), exact=True)


@pytest.mark.parametrize("beside", ["2", "two", '"2"'])
def test_a_number_among_blanks_is_one_whatever_its_neighbour_is(beside: str) -> None:
    """Blanks that do not break, as they are pasted from the web."""
    found = _rows(f"a,b\n1\xa0,{beside}\n\u20033,4\n", exact=False)
    assert [number for number, _, _ in found] == [1, 2]
    assert found[1][1] == (math.ldexp(1.5, 1).hex(), (4.0).hex())


def test_blank_rows_alone_say_nothing() -> None:
    """Below a single name they look like cells that are empty."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert _rows("a\n\n\n", exact=False) == []


def test_the_first_row_at_fault_is_the_one_that_is_named() -> None:
    """Even where the text of a later one is read before torch has refused it."""
    stream = Function("sum(inv(A))").stream(RowSource("'t'", {"A": (2, 2)}))
    singular = Block(np.array([1]), {"A": np.zeros((1, 2, 2))}, {})
    broken = Block(np.array([2]), {"A": np.zeros((1, 2, 2))}, {}, (Fault(0, "row 2 of 't' is no row"),))
    with pytest.raises(InputError, match=r"row 1 of 't': this matrix has no inverse"):
        list(stream.over([singular, broken]))

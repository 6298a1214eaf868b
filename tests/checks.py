"""The check of an answer that has one, and of rows that go by; and time for checks on a slow machine."""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any
from unittest import mock

import numpy as np

from gradcli import Function
from gradcli.reference import deadline
from gradcli.results import Block, Check, RowSource


@contextlib.contextmanager
def without_haste() -> Iterator[None]:
    """Give each check within a block a time that no machine needs; what it may look at stays as it is."""
    with mock.patch.multiple(deadline, SECONDS=300.0, EXTRA=300.0, FORMULAS=300.0):
        yield


def check_of(answer: Any) -> Check:
    """Its check, which is there."""
    assert isinstance(answer.check, Check)
    return answer.check


def check_of_rows(text: str, x: Any, at: Mapping[str, Any] | None = None) -> Check:
    """Check a stream whose only column is x, with rows from 0 on."""
    x = np.asarray(x, float)
    stream = Function(text).stream(RowSource("the rows", {"x": x.shape[1:]}), at, check=True)
    list(stream.over([Block(np.arange(len(x)), {"x": x}, {})]))
    return check_of(stream.passage())

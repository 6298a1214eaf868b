"""The check of an answer that has one, and of rows that go by."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradcli import Function
from gradcli.results import Block, Check, RowSource


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

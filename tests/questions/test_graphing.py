"""What `graph` refuses, before torch is imported."""

from __future__ import annotations

import pytest

from gradcli import Function
from gradcli.errors import TooLargeError
from gradcli.questions import views


def test_tensors_that_are_too_large_together_are_refused() -> None:
    """A hundred names of half a million elements each."""
    text = "y0 = x; " + "; ".join(f"y{n + 1} = y{n}*2" for n in range(100))
    with pytest.raises(TooLargeError, match="elements together; the limit is 33,554,432"):
        Function(text).graph({"x": "ones(500000)"})


def test_very_many_names_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nested operations need none."""
    monkeypatch.setattr(views, "MAX_TENSORS", 5)
    with pytest.raises(TooLargeError, match="there are 7 variables and named values"):
        Function("a = x; b = x; c = x; d = x; e1 = x; a+b+c+d+e1").graph({"x": 1})
    assert Function("a = x; b = a; c = b; c*2").graph({"x": 1}).nodes

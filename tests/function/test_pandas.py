"""Series and frames of pandas as values, which is no dependency: they are told by what they can do."""

from __future__ import annotations

from typing import Any

import pytest

from gradcli import Function
from gradcli.errors import InputError

pd = pytest.importorskip("pandas", reason="pandas comes with the extra dev")


def test_series_and_frames_of_pandas_are_taken() -> None:
    """By their numbers, without their index."""
    f = Function("x**2")
    assert f.eval(pd.Series([1, 2], index=["a", "b"])).value.tolist() == [1.0, 4.0]
    assert f.eval({"x": pd.DataFrame({"a": [1.0], "b": [2.0]})}).value.tolist() == [[1.0, 4.0]]
    assert f.map({"x": pd.Series([1.5])})["y"].tolist() == [2.25]
    assert f.eval(pd.Series([True, False])).value.tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (pd.Series(["1", "2"]), "numbers"),
        (pd.Series([1, None], dtype=object), "numbers without gaps"),
        (pd.Series(pd.to_datetime(["2024-01-01"])), "time since a date"),
        (pd.Series(pd.to_timedelta([1], unit="s")), "unit of time"),
        (pd.Series([1 + 2j]), "complex"),
    ],
    ids=lambda value: str(getattr(value, "dtype", "")),
)
def test_a_series_without_real_numbers_is_refused(value: Any, hint: str) -> None:
    """By an error of ours that says what to do."""
    with pytest.raises(InputError, match="not an array of real numbers") as caught:
        Function("x**2").eval(value)
    assert hint in (caught.value.hint or "")

"""Series and frames of pandas as values, which is no dependency: they are told by what they can do."""

import pytest

from gradcli import Function

pd = pytest.importorskip("pandas", reason="pandas comes with the extra dev")


@pytest.mark.part("tables")
def test_series_and_frames_of_pandas_are_taken() -> None:
    """By their numbers, without their index."""
    f = Function("x**2")
    assert f.eval(pd.Series([1, 2], index=["a", "b"])).value.tolist() == [1.0, 4.0]
    assert f.eval({"x": pd.DataFrame({"a": [1.0], "b": [2.0]})}).value.tolist() == [[1.0, 4.0]]
    assert f.map({"x": pd.Series([1.5])})["y"].tolist() == [2.25]
    assert f.eval(pd.Series([True, False])).value.tolist() == [1.0, 0.0]

"""Ranges of values: where the two dots are, and what bounds may be."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.errors import GradcliError
from gradcli.language.inputs import fitted, read_range

RANGES = [
    ("0..1", 0.0, 1.0),
    (" -1 .. -0.5 ", -1.0, -0.5),
    ("-pi..pi", -np.pi, np.pi),
    ("1. .. .5*4", 1.0, 2.0),
    ("[0,0]..[1,2]", [0.0, 0.0], [1.0, 2.0]),
    ("arange(6).view(2,3)[..., 0]..5", [0.0, 3.0], [5.0, 5.0]),
]


@pytest.mark.parametrize(("text", "low", "high"), RANGES, ids=[text for text, _, _ in RANGES])
def test_ranges(text: str, low: object, high: object) -> None:
    """Two values, broadcast."""
    found = read_range(text, "--in x")
    np.testing.assert_array_equal(found[0], low)
    np.testing.assert_array_equal(found[1], high)
    assert found[0].shape == found[1].shape == np.asarray(high).shape


WRONG = [
    ("0", "has no '..'"),
    ("1...2", "may belong to the range or to a number"),
    ("0..1..2", "more than one"),
    ("..1", "lacks a bound"),
    ("0..z", "z"),
    ("1..0", "above the upper"),
    ("0..inf", "finite"),
    ("[0,0]..[1,1,1]", "do not broadcast"),
    ("zeros(100000)..ones(100000,1)", "elements"),
    ("1..2" * 20_000, "more than one"),
    ("(" * 50_000 + "..1", "has no '..'"),
]


@pytest.mark.parametrize(("text", "words"), WRONG, ids=[text[:20] for text, _ in WRONG])
def test_what_is_no_range(text: str, words: str) -> None:
    """One clear message, at its place."""
    with pytest.raises(GradcliError) as error:
        read_range(text, "--in x")
    assert words in error.value.message
    assert error.value.place is not None
    assert error.value.place.source == "--in x"


def test_bounds_take_the_shape_of_their_variable() -> None:
    """Where they broadcast to it."""
    np.testing.assert_array_equal(fitted(np.array(2.0), (2, 2), "--in x"), [[2, 2], [2, 2]])
    with pytest.raises(GradcliError, match=r"shape \(2,\), and the variable has shape \(3,\)"):
        fitted(np.zeros(2), (3,), "--in x")

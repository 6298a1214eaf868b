"""Equations on a board: matrices in brackets, lines that break at `=`, and nothing cut off."""

from __future__ import annotations

import re

import numpy as np
import pytest

from gradcli import Function
from gradcli.report import rendered
from gradcli.report.document import Screen
from gradcli.report.render.drawings import beside, chain, numbers, words

UNICODE, ASCII = Screen(), Screen(ascii=True)


def _flat(text: str) -> str:
    return re.sub(r"[\s│|╭╮╰╯─+\-]", "", text)


def test_arrays_are_lists_and_matrices() -> None:
    """A number, a list, columns in tall brackets, one row, one column, conditions."""
    assert numbers(np.array(2.5)).lines == ("2.5",)
    assert numbers(np.array([1.0, 20])).lines == ("[1, 20]",)
    assert numbers(np.array([[1.0, 20], [300, 4]])).lines == ("⎡  1  20⎤", "⎣300   4⎦")
    assert ASCII.shown("⎡  1  20⎤") == "[  1  20]"
    assert numbers(np.array([[1.0], [2], [3]])).lines == ("⎡1⎤", "⎢2⎥", "⎣3⎦")
    assert numbers(np.array([[1.0, 2]])).lines == ("[1  2]",)
    assert numbers(np.array([True, False])).lines == ("[True, False]",)
    assert numbers(np.zeros((0, 2))).lines == ("empty",)
    assert numbers(np.arange(100.0)).lines == ("[0, 1, 2, …, 99]",)


def test_pieces_are_centred_beside_one_another() -> None:
    """The sign stands in the middle of the matrix."""
    matrix = numbers(np.array([[1.0, 2], [3, 4], [5, 6]]))
    assert beside([words("y = "), matrix]) == ["    ⎡1  2⎤", "y = ⎢3  4⎥", "    ⎣5  6⎦"]


def test_a_chain_breaks_at_its_signs() -> None:
    """Where it does not fit."""
    groups = [[words(letter * 10)] for letter in "abc"]
    assert chain(groups, Screen(40)) == ["aaaaaaaaaa = bbbbbbbbbb = cccccccccc"]
    assert chain(groups, Screen(30)) == ["aaaaaaaaaa = bbbbbbbbbb", "    = cccccccccc"]
    matrix = numbers(np.array([[1.0, 2], [3, 4]]))
    assert chain([[words("x")], [matrix]], Screen(14)) == ["x = ⎡1  2⎤", "    ⎣3  4⎦"]
    assert chain([[words("x")], [matrix]], Screen(9)) == ["x = [[1,", "  2], [3,", "  4]]"]


@pytest.mark.parametrize(
    ("text", "x", "v", "shown"),
    [
        ("x**2", "1,2", "-1,0.5", "vᵀJ = (-1)·∂y₀/∂x + 0.5·∂y₁/∂x = [-2, 2]"),
        ("[[x, 2*x], [3*x, 4*x]]", "1", "1,0;0,1", "vᵀJ = 1·∂y₀₀/∂x + 0·∂y₀₁/∂x + 0·∂y₁₀/∂x + 1·∂y₁₁/∂x = 5"),
        ("x**2", "3", None, None),
        ("x**2", "arange(7)", "ones", None),
    ],
)
def test_the_weighted_sum_is_written_where_it_is_short(text: str, x: str, v: str | None, shown: str | None) -> None:
    """Of one row nothing is summed, and of many the sum says no more than the product."""
    given = None if v is None else "[[" + v.replace(";", "],[") + "]]" if ";" in v else v
    lines = rendered(Function(text).explain({"x": x}, given), "full", UNICODE).splitlines()
    assert [line for line in lines if line.startswith("vᵀJ = ")] == ([] if shown is None else [shown])


def test_numbers_are_multiplied_by_a_dot_and_tensors_element_by_element() -> None:
    """A matrix product has the dot, too."""
    shown = rendered(Function("y = A@x; sum(y**2)").explain({"A": "[[1,2],[3,4]]", "x": "5,6"}), "full", UNICODE)
    assert "ȳ = t̄1 ⊙ ∂t1/∂y = t̄1 ⊙ 2·y = [1, 1] ⊙ [34, 78] = [34, 78]" in shown
    assert "x̄ = Aᵀ · ȳ = " in shown
    assert "⊙" not in rendered(Function("y = x**2; y**3").explain({"x": 2}), "full", UNICODE)

"""Equations on a board: matrices in brackets, lines that break at `=`, and nothing cut off."""

from __future__ import annotations

import re

import numpy as np
import pytest
from rich.cells import cell_len

from gradcli import Function
from gradcli.report import rendered
from gradcli.report.document import Screen
from gradcli.report.render.drawings import beside, chain, numbers, words
from gradcli.results import Explanation

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


EXAMPLES = [
    ("y = x**2; z = y**3", {"x": "1,2"}, "1,1", None),
    ("3*a + 2*b*b + log(c)", {"a": "1,2,3", "b": "3,4,5", "c": "6,7,8"}, "0.1,1,0.0001", None),
    ("softmax(A@x)", {"A": "[[1,2],[3,4],[5,7]]", "x": "0.1,-0.3"}, None, "-sum(y*log(y))"),
    ("where(x > 0, x**2, -x)", {"x": "[[1,-2],[3,4]]"}, "ones", None),
    ("sum(x[1:]*x[:-1]) + mean(exp(x/3))", {"x": "linspace(0,1,40)"}, None, None),
    ("[a, sin(a), a*b]", {"a": "0.1,0.2", "b": "3"}, "e1", None),
]


def _answer(text: str, at: dict[str, str], v: str | None, loss: str | None) -> Explanation:
    return Function(text).explain(at, v, loss=loss)


@pytest.mark.parametrize("example", EXAMPLES, ids=[example[0] for example in EXAMPLES])
def test_no_digit_is_lost_on_a_narrow_screen(example: tuple[str, dict[str, str], str | None, str | None]) -> None:
    """Every number of the wide answer is in the narrow ones, which are as narrow as they should be."""
    answer = _answer(*example)
    for width in (20, 40, 80):
        shown = rendered(answer, "full", Screen(width))
        assert max(map(cell_len, shown.splitlines())) <= width
        for adjoint in answer.adjoints:
            if adjoint.value.size <= 12:
                for number in adjoint.value.ravel():
                    assert _flat(repr(float(number)).removesuffix(".0")) in _flat(shown)


@pytest.mark.parametrize("example", EXAMPLES, ids=[example[0] for example in EXAMPLES])
def test_plain_characters_where_the_screen_has_no_others(
    example: tuple[str, dict[str, str], str | None, str | None],
) -> None:
    """Bars become adj(x), dots stars, brackets square."""
    shown = rendered(_answer(*example), "full", ASCII)
    assert shown.isascii()
    assert "adj(" in shown
    assert rendered(_answer(*example), "plain", UNICODE).isascii()


def test_the_main_example_reads_as_on_a_board() -> None:
    """The chain rule as a textbook has it."""
    shown = rendered(_answer(*EXAMPLES[0]), "full", UNICODE).splitlines()
    assert "ȳ = z̄ ⊙ ∂z/∂y = z̄ ⊙ 3·y² = [1, 1] ⊙ [3, 48] = [3, 48]   (power rule)" in shown
    assert "x̄ = ȳ ⊙ ∂y/∂x = ȳ ⊙ 2·x = [3, 48] ⊙ [2, 4] = [6, 192]   (power rule)" in shown
    assert "vᵀJ = 1·∂z₀/∂x + 1·∂z₁/∂x = [6, 192]" in shown
    assert "│     │ vᵀJ = x.grad │    6 │  192 │" in shown


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

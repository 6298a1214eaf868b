"""Maps of the regions of a box: on a terminal and in files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradcli import Function
from gradcli.errors import GradcliError
from gradcli.parts.everywhere.region_maps import PAINTED, cells_of, chart
from gradcli.report.document import Screen
from gradcli.results import BoxChecking, RegionMap
from tests.conftest import Command

pytestmark = pytest.mark.part("claims", "plot", "figures")


def _checked(text: str, **ranges: str) -> BoxChecking:
    answer = Function(text).check(box=ranges)
    assert isinstance(answer, BoxChecking)
    return answer


def _chart(answer: BoxChecking, screen: Screen) -> list[str]:
    return [line.plain for line in chart(answer, screen)]


def test_a_cell_shows_the_worst_of_its_boxes() -> None:
    """However small the box is; the others are where they are."""
    shown = RegionMap(
        ("x",), np.array([[0.0, 0.5, 0.5 + 1e-9]]), np.array([[0.5, 0.5 + 1e-9, 1.0]]), ("proved", "kink", "outside")
    )
    names = [PAINTED[one] for one in cells_of(shown, (10,))]
    assert names == ["proved"] * 5 + ["kink"] + ["outside"] * 4


def test_a_strip_stands_below_the_curves() -> None:
    """As wide as they are, with the signs that the legend has; ASCII has signs of its own."""
    answer = _checked("relu(x)", x="-1..1")
    lines = _chart(answer, Screen(width=60))
    (strip,) = (n for n, line in enumerate(lines) if "█" in line and "◇" in line and "proved" not in line)
    assert "└" in lines[strip + 1]
    assert len(lines[strip]) == len(lines[strip + 1])
    assert lines[strip].count("█") + lines[strip].count("◇") == len(lines[strip]) - lines[strip].index("│") - 1
    assert "█ ✓ proved   ◇ kink" in lines[-1]
    assert all(line.isascii() for line in _chart(answer, Screen(width=60, ascii=True)))


def test_a_plane_has_the_regions_where_they_are() -> None:
    """The second variable upward: a kink along the diagonal is one from the left below to the right above."""
    lines = _chart(_checked("abs(x - y) + x", x="0..1", y="0..1"), Screen(width=40))
    rows = [line.partition("│")[2] or line.partition("┤")[2] for line in lines if "█" in line and "proved" not in line]
    places = [row.index("◇") / len(row) for row in rows]
    assert places == sorted(places, reverse=True)
    assert (places[0] > 0.7, places[-1] < 0.1) == (True, True)


@pytest.mark.part("figures")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_figure_has_a_legend_in_words(tmp_path: Path, theme: str, gradcli: Command) -> None:
    """With how much of the box each region is."""
    pytest.importorskip("matplotlib")
    file = tmp_path / "map.svg"
    done = gradcli("check", "sqrt(x)", "--in", "x=-1..1", "-o", str(file), "--theme", theme, "--allow", "edge,outside")
    text = file.read_text(encoding="utf-8")
    assert done.code == 0
    for words in ("proved, 50%", "outside of the domain, 50%", "edge of the domain, &lt; 0.1%"):
        assert words in text
    assert text.count("<image") == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"box": {"x": "0..1"}, "prove": "y >= 0"}, "leave out"),
        ({"box": {"x": "1..2", "y": "1..2", "z": "1..2"}}, "one or two numbers"),
    ],
)
def test_what_has_no_map_is_refused(options: dict[str, Any], words: str) -> None:
    """In words: statements, and more numbers than a picture has sides."""
    text = "x*y*z" if "prove" not in options else "x**2"
    answer = Function(text).check(**options)
    with pytest.raises(GradcliError) as error:
        _ = list(chart(answer, Screen()))  # type: ignore[arg-type]
    assert words in f"{error.value} {error.value.hint}"


def test_the_shell_shows_a_picture_of_a_box_alone(gradcli: Command) -> None:
    """And of a point there is none."""
    shown = gradcli("check", "x**2 + 1", "--in", "x=1..2", "--picture")
    assert "∂y/∂x" in shown.out
    assert "█" in shown.out
    refused = gradcli("check", "x**2", "--at", "1", "--picture")
    assert (refused.code, "is of a box" in refused.err) == (2, True)

"""The strip below curves: where torch's numbers are proved by the check of all points, and places of that check."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradcli
from gradcli import Function
from gradcli.autodiff._torch import torch
from gradcli.parts import plot as part
from gradcli.parts.plot import plot as module
from gradcli.parts.plot.proved_places import ProvedPart
from gradcli.results import Plot
from tests.conftest import Command

pytestmark = pytest.mark.part("everywhere")


def _plotted(text: str, ends: str = "-1..1", **options: object) -> Plot:
    found = Function(text).plot(box={"x": ends}, **options)  # type: ignore[arg-type]
    assert isinstance(found, Plot)
    return found


@pytest.mark.parametrize(
    ("text", "ends", "verdicts", "share"),
    [
        ("x**3 + x", "1..2", {"proved"}, 1.0),
        ("abs(x)", "-1..1", {"proved", "kink"}, 1.0),
        ("1/x", "-1..1", {"proved", "pole"}, 1.0),
        ("log(x)*log(2 - x)", "-1..3", {"proved", "near-zero", "edge", "outside"}, 0.5),
        ("where(x > 0, sqrt(x), x)", "-1..1", {"proved", "edge", "nan-trap"}, 0.5),
        ("x*exp(x)", "-700..900", {"proved", "near-zero", "overflow"}, 0.87),
        ("gelu(x)", "-6..3", {"proved", "near-zero", "inaccurate"}, 0.85),
    ],
)
@pytest.mark.one_in(2)
def test_a_line_has_a_verdict_on_each_of_its_points(text: str, ends: str, verdicts: set[str], share: float) -> None:
    """The stretches follow each other without a gap."""
    found = _plotted(text, ends)
    assert {one.verdict for one in found.stretches} == verdicts
    assert found.stretches[0].low == found.points[0]
    assert found.stretches[-1].high == found.points[-1]
    assert all(a.high == b.low for a, b in zip(found.stretches, found.stretches[1:], strict=False))
    assert found.proved_share == pytest.approx(share, abs=0.02)


def test_nothing_is_proved_where_torch_is_wrong() -> None:
    """Near 0, (1 - cos(x))/x**2 loses its digits."""
    found = _plotted("(1 - cos(x))/x**2")
    for one in found.stretches:
        if one.verdict == "proved":
            x = np.linspace(one.low, one.high, 50)
            torch = Function("(1 - cos(x))/x**2").eval({"x": x}, check=False).value
            assert abs(torch - 2 * np.sin(x / 2) ** 2 / x**2).max() < 1e-9
    assert "inaccurate" in {one.verdict for one in found.stretches}


@pytest.mark.parametrize("text", ["prod([x, x + 1, x + 2])", "[x, x**2]", "det([[x, 1], [1, x]])"])
def test_what_is_not_known_has_no_strip(text: str) -> None:
    """And is drawn as ever."""
    found = _plotted(text)
    assert found.stretches == ()
    assert found.rtol is None
    assert "proved" not in str(found)


@pytest.mark.part("running")
def test_code_has_a_strip() -> None:
    """Where its recording is the function; none where it branches in the range."""
    found = gradcli.plot(lambda x: torch.relu(x) + x**2, box={"x": "-1..1"})
    assert isinstance(found, Plot)
    assert {one.verdict for one in found.stretches} == {"proved", "kink"}
    assert [mark.kind for mark in found.marks] == ["kink"]
    branching = gradcli.plot(lambda x: x**2 if x > 0.3 else 2 * x, box={"x": "-1..1"})
    assert isinstance(branching, Plot)
    assert branching.stretches == ()
    assert branching.marks or branching.spans


@pytest.mark.parametrize(("t", "options"), [("t", {"t": 1.0}), ("x", {"x": [1.0, 2.0, 3.0]})])
def test_a_line_through_a_point_has_a_strip(t: str, options: dict[str, Any]) -> None:
    """In which t is no variable of the function, also where that has one of this name."""
    found = Function(f"sum((1 - cos({t}))/{t}**2)").plot(options, along={t: -np.ones(np.shape(options[t]))})
    assert isinstance(found, Plot)
    assert "proved" in {one.verdict for one in found.stretches}
    near = [one for one in found.stretches if one.low <= 0.9999 <= one.high]
    assert [one.verdict for one in near] == ["inaccurate"]
    assert 0.8 < found.proved_share < 0.99


def test_second_derivatives_have_the_places_of_the_core() -> None:
    """More is singular of them; the strip is of the first."""
    found = _plotted("elu(x)", order=2)
    assert [mark.kind for mark in found.marks] == ["curvature"]
    assert found.stretches


def test_without_the_check_of_all_points_the_places_are_those_of_the_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where that part is deleted."""
    with_strip = _plotted("abs(x - 0.25) + 1/(x + 0.5)")
    monkeypatch.setattr(module, "proved_of", lambda *_: ProvedPart())
    without = _plotted("abs(x - 0.25) + 1/(x + 0.5)")
    assert [(one.kind, round(one.place, 9)) for one in with_strip.marks] == [
        (one.kind, round(one.place, 9)) for one in without.marks
    ]
    assert without.stretches == ()
    assert part.PART.COMMANDS == ("plot",)


def test_y_beyond_torchs_numbers_is_no_end_of_the_domain() -> None:
    """The range is called so."""
    assert [one.kind for one in _plotted("exp(x)", "0..1000").spans] == ["overflow"]
    assert [one.kind for one in _plotted("log(x)", "-2..-1").spans] == ["undefined"]


def test_the_strip_is_drawn_on_a_terminal(gradcli: Command) -> None:
    """With a legend in words."""
    out = gradcli("plot", "gelu(x)", "--in", "x=-6..3").out
    assert "░░░░███" in out
    assert "█ torch proved right   ░ digits lost, not proved" in out
    assert "proved on 84." in out
    assert "off by at most 9.4e-10" in out


def test_the_strip_is_drawn_in_a_file(gradcli: Command, tmp_path: Path) -> None:
    """Each verdict with an id of its own, and words in the legend."""
    pytest.importorskip("matplotlib")
    path = tmp_path / "a.svg"
    assert gradcli("plot", "where(x > 0, sqrt(x), x)", "--in", "x=-1..1", "-o", str(path)).code == 0
    text = path.read_text(encoding="utf-8")
    assert 'id="stretch proved"' in text
    assert 'id="stretch nan-trap"' in text


def test_the_stretches_are_data() -> None:
    """With how far torch may be off."""
    found = _plotted("abs(x)").to_dict()
    assert found["rtol"] == 2.0**-30
    assert {one["verdict"] for one in found["stretches"]} == {"proved", "kink"}

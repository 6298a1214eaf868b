"""Pictures: what is drawn, as data; the pixels are looked at."""

import io
import re
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from gradcli import Function, guide
from gradcli.errors import InputError
from gradcli.parts.explain import graph_drawings
from gradcli.parts.plot.characters import ticks
from gradcli.report import in_python, picture, rendered
from gradcli.report.document import Screen
from tests import generated
from tests.conftest import Command
from tests.examples import in_turn

SVG = "{http://www.w3.org/2000/svg}"
PAGE = guide.text("pictures")
DRAWN = re.findall(r"\$ gradcli ([^\n]*) -o (\w+)\.svg\n```\n\n!\[[^\]]*\]\(pictures/\2\.svg\)", PAGE)


def _curves(svg: str) -> dict[str, list[tuple[float, float]]]:
    """The curves of a figure, or the boxes of a graph, as lists of points."""
    found = {}
    for group in ET.fromstring(svg).iter(f"{SVG}g"):
        name = group.get("id", "")
        if name.startswith("curve") and (path := group.find(f"{SVG}path")) is not None:
            numbers = [float(word) for word in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", path.get("d", ""))]
            found[name] = list(zip(numbers[::2], numbers[1::2], strict=True))
        if group.get("class") == "box":
            found[" ".join(text.text or "" for text in group.iter(f"{SVG}text"))] = []
    return found


@pytest.mark.parametrize(("command", "name"), DRAWN)
def test_the_pictures_of_the_guide_are_those_of_its_commands(
    command: str, name: str, gradcli: Command, folder: Path
) -> None:
    """Curve by curve, to half a pixel; box by box."""
    import shlex

    assert gradcli(*shlex.split(command), "-o", f"{name}.svg").code == 0
    fresh = _curves((folder / f"{name}.svg").read_text(encoding="utf-8"))
    kept = _curves((generated.GUIDE / "pictures" / f"{name}.svg").read_text(encoding="utf-8"))
    assert fresh.keys() == kept.keys() != set()
    for curve, points in kept.items():
        if points:
            x, y = np.array(points).T
            ours = np.array(fresh[curve]).T
            np.testing.assert_allclose(np.interp(x, *ours), y, atol=0.5)


def test_all_pictures_of_the_guide_are_drawn_by_its_commands() -> None:
    """None is there that nobody can draw again."""
    assert {name for _, name in DRAWN} == {path.stem for path in (generated.GUIDE / "pictures").iterdir()}


TICKS = {
    (-1.3, 1.3, 5): [-1, -0.5, 0, 0.5, 1],
    (0, 1e-9, 4): [0, 5e-10, 1e-9],
    (1e9, 3e9, 3): [1e9, 2e9, 3e9],
    (-7, 93, 6): [0, 20, 40, 60, 80],
}


@pytest.mark.parametrize("ends", TICKS)
def test_ticks_have_few_digits(ends: tuple[float, float, int]) -> None:
    """At most so many, at equal distances."""
    assert ticks(*ends) == pytest.approx(TICKS[ends])


@pytest.mark.parametrize(("width", "ascii_only"), in_turn([None, 40, 60, 120], False, True))
def test_a_plot_fits_its_screen(width: int | None, ascii_only: bool) -> None:
    """In Braille or in ASCII, with ticks, a legend, and a line for each place."""
    answer = Function("tan(x)*abs(x - 1)").plot(x=(-3, 3))
    shown = rendered(answer, "table", Screen(width, ascii=ascii_only, encoding="ascii" if ascii_only else "utf-8"), 6)
    assert shown.isascii() == ascii_only
    assert max(map(len, shown.splitlines())) <= (width or 110)
    drawing = shown.partition("-2" if ascii_only else "└")[0]
    assert ("*" in drawing) if ascii_only else any("⠀" < sign < "⣿" for sign in drawing)
    assert all(word in shown for word in ("kink", "pole", "1.5708" if width else "1.57"))


def test_a_pole_is_not_crossed_on_the_screen() -> None:
    """Nor is a jump: in the column of a pole there is a dotted line at the rows that the curve does not reach."""
    lines = rendered(Function("1/x").plot(x=(-1, 1)), "table", Screen(80, encoding="utf-8"), 6).splitlines()
    panel = [line for line in lines if "│" in line or "┤" in line][:12]
    column = next(n for n in range(len(panel[0])) if sum(line[n : n + 1] == "┊" for line in panel) > 3)
    assert all(line[column] in "┊⡇⢸⠸⡏⢹⠘⢀⡀⠁⠈⢰⡆⠃⠋⠙⡄⢠⠂⠐⠄⠠⡁⢈⢁⡈╌" for line in panel)


def test_a_matrix_as_a_picture_has_signs_sizes_and_proven_zeros(gradcli: Command) -> None:
    """On a terminal; the zeros off the diagonal of x**3 are proven, that of 0**2 is a number."""
    shown = gradcli("jacobian", "x**3", "--at", "-2,0,1", "--picture").out
    assert shown.splitlines()[2:6] == ["∂y/∂x   3 x 3", "   █ . .", "   .   .", "   . . ▃"]
    shown = gradcli("hessian", "-x**3*y", "--at", "x=2", "--at", "y=1", "--picture").out
    assert "-█" in shown


@pytest.mark.parametrize(("form", "first", "step"), [("svg", 0, 1), ("png", 1, 2), ("pdf", 2, 2)])
def test_figures_are_files_of_their_kind(form: str, first: int, step: int, gradcli: Command, folder: Path) -> None:
    """Of curves, maps and matrices, each in two kinds; the same bytes each time, which is tried of one."""
    heads = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}
    figures = [
        ["plot", "x*sin(x)", "--in", "-9..9", "--at", "1", "--order", "2"],
        ["plot", "x*abs(y)", "--in", "x=-1..1", "--in", "y=-1..1", "--theme", "dark"],
        ["jacobian", "[x**2, x]", "--at", "1,2"],
        ["hessian", "sum(x**3)", "--at", "1,2"],
    ]
    for words in figures[first::step]:
        done = gradcli(*words, "-o", f"a.{form}")
        assert (done.code, done.out, done.err) == (0, "", "")
        content = (folder / f"a.{form}").read_bytes()
        assert content.startswith(heads[form])
    assert gradcli(*words, "-o", f"a.{form}").code == 0
    assert (folder / f"a.{form}").read_bytes() == content


PARTS = {
    ("abs(x) + 1/(x - 1)", "-2..2"): {"kink": 1, "pole": 1},
    ("where(x > 0, sqrt(x), x)", "-1..1"): {"nan-trap": 1, "vertical": 1},
    ("floor(x) + sqrt(x + 1.5)", "-2..0.5"): {"undefined": 1, "edge": 1, "jump": 2},
    ("(1 - cos(x))/x**2", "-1e-7..1e-7"): {"inaccurate": 2, "removable": 1, "band": 2},
}


@pytest.mark.parametrize(("text", "box", "theme"), in_turn(PARTS, "light", "dark"))
def test_a_figure_has_all_that_is_found(text: str, box: str, theme: str) -> None:
    """Marks, ranges, bands of errors and the tangent, in each panel in which they are seen; and its ground."""
    answer = Function(text).plot({"x": 0.25}, box={"x": box})
    svg = picture(answer, "svg", theme).decode()
    found = Counter(re.findall(r'<g id="(\w+-?\w+)">', svg))
    assert {name: found[name] for name in PARTS[text, box]} == PARTS[text, box]
    assert found["tangent"] == 1
    assert ("#14181d" in svg) == (theme == "dark")


def test_what_has_no_picture_says_so() -> None:
    """And a graph that is too large to be looked at."""
    with pytest.raises(InputError, match="no picture"):
        picture(Function("x").vjp(1), "svg", "light")
    long = "+".join(f"sin({n}*x)" for n in range(99))
    with pytest.raises(InputError, match="at most 60"):
        picture(Function(long).graph(1), "svg", "light")


def test_a_box_has_the_line_of_the_gradient_that_makes_its_adjoint() -> None:
    """Where that is short."""
    drawn = graph_drawings.of_explanation(Function("z = sum(sin(x)**2)").explain([1, 2]))
    for line in ("x̄ = t̄1 ⊙ cos(x)", "t̄1 = t̄2 ⊙ 2·t1", "t̄2 = expand(z̄, shape=(2,))"):
        assert f">{line}</text>" in drawn


def test_a_graph_has_a_box_a_node_and_no_box_on_another() -> None:
    """With value and gradient, from the output down."""
    text = picture(Function("y = x*z; sin(y) + y*x + exp(x)").graph({"x": 2, "z": 3}), "svg", "light").decode()
    boxes = [
        [float(rect.get(name, "0")) for name in ("x", "y", "width", "height")]
        for rect in ET.fromstring(text).iter(f"{SVG}rect")
    ]
    for n, (x, y, w, h) in enumerate(boxes):
        for u, v, a, b in boxes[n + 1 :]:
            assert x + w < u or u + a < x or y + h < v or v + b < y
    assert "AccumulateGrad: x" in text
    assert "grad = " in text


def test_the_page_of_an_explanation_says_all_without_its_script() -> None:
    """Each step is in its list, in order, with the box that it lights up; the words say what v is."""
    answer = Function("y_1 = x**2; z = x*y_1[0]").explain([1, 2], v=[1, 3])
    text = rendered(answer, "html", Screen())
    steps = re.findall(r'<li data-box="(.*?)" data-part="(value|adjoint)">(given|forward|backward)', text)
    assert ", ".join(map(" ".join, steps)) == (
        "x value given, y_1 value forward, t1 value forward, z value forward, "
        "z adjoint backward, t1 adjoint backward, y_1 adjoint backward, x adjoint backward"
    )
    assert all(f'<g class="box" data-name="{name}">' in text for name in ("x", "y_1", "t1", "z"))
    assert "v has a weight for each element: here v = [1, 3]" in text
    assert '<span class="math">y_1[0]</span>' in text
    assert '<span class="math">vᵀJ = x.grad</span>' in text


def test_a_notebook_shows_the_figure() -> None:
    """The plot itself, and `plot()` of an answer that is a matrix or a graph."""
    found = Function("x**2").plot(x=(-1, 1))
    assert "<svg" in found._repr_html_()
    assert "<svg" in Function("x**2").jacobian([1, 2]).plot()._repr_svg_()
    assert "<svg" in Function("x**2").graph(1).plot()._repr_svg_()
    assert io.StringIO(in_python(found, "svg")).readline().startswith("<?xml")

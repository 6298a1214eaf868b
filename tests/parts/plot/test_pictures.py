"""Pictures: what is drawn, as data; the pixels are looked at."""

import html
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
from gradcli.parts.plot.panels import ends, panels
from gradcli.report import in_python, picture, rendered
from gradcli.report.document import Screen
from gradcli.results import Plot, PlotMap
from tests import generated, screenshot
from tests.conftest import Command
from tests.examples import all_but, in_turn

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
@pytest.mark.one_in(2)
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
    """None is there that nobody can draw again; those of the README are drawn by `tests.screenshot`."""
    found = {path.stem for path in (generated.GUIDE / "pictures").iterdir()}
    assert {name for _, name in DRAWN} == found - {screenshot.path(ground).stem for ground in screenshot.GROUNDS}


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
@pytest.mark.one_in(2)
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


@pytest.mark.parametrize(
    ("form", "first", "step"), all_but([("svg", 0, 3), ("svg", 0, 1), ("png", 1, 2), ("pdf", 2, 2)], 1, 2, 3)
)
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
    ("abs(x) + 1/(x - 1)", "-2..2"): {"kink filled": 1, "kink open": 2, "pole": 1},
    ("where(x > 0, sqrt(x), x)", "-1..1"): {"nan-trap": 1, "vertical filled": 1},
    ("floor(x) + sqrt(x + 1.5)", "-2..0.5"): {"undefined": 1, "edge filled": 1, "jump filled": 2, "jump open": 4},
    ("(1 - cos(x))/x**2", "-1e-7..1e-7"): {"inaccurate": 2, "removable open": 2, "truth y": 1, "truth dy_dx": 1},
}


@pytest.mark.parametrize(("text", "box", "theme"), in_turn(PARTS, "light", "dark"))
@pytest.mark.one_in(2)
def test_a_figure_has_all_that_is_found(text: str, box: str, theme: str) -> None:
    """Marks, ranges, the truth and the tangent, in each panel in which they are seen; and its ground."""
    answer = Function(text).plot({"x": 0.25}, box={"x": box})
    svg = picture(answer, "svg", theme).decode()
    found = Counter(re.findall(r'<g id="([^"]+)">', svg))
    assert {name: found[name] for name in PARTS[text, box]} == PARTS[text, box]
    assert found["tangent"] == 1
    assert ("#14181d" in svg) == (theme == "dark")


def _words(svg: bytes) -> list[str]:
    """The words of a figure, whose letters are drawn as curves: matplotlib names them in comments."""
    found = map(html.unescape, re.findall(r"<!-- (.*?) -->", svg.decode()))
    return [re.sub(r"^\$\\mathdefault\{(.*)\}\$$", r"\1", one) for one in found]


LEGENDS = {
    ("abs(x) + 1/(x - 1)", "-2..2"): ["$y$", r"$\partial y/\partial x$", "tangent", "pole", "kink"],
    ("where(x > 0, sqrt(x), x)", "-1..1"): ["slope without bound", "torch: NaN"],
    ("floor(x) + sqrt(x + 1.5)", "-2..0.5"): ["jump", "end of the domain", "no value"],
    ("sqrt(x**4)", "-1..1"): ["torch: NaN at a point"],
    ("sin(x)/x", "-1..1"): ["hole"],
    ("sin(1/x)", "-1..1"): ["no limit"],
    ("floor(1000*x)", "-1..1"): ["too many places to tell apart"],
    ("(1 - cos(x))/x**2", "-1e-7..1e-7"): ["digits are lost", "$y$, torch", "truth"],
    ("[_a, abs(_a)]", "-1..1"): ["$y_{0}$", "$y_{1}$", r"$\partial y/\partial \mathit{\_a}$", r"$\mathit{\_a}$"],
    ("_ä = ä**2", "-1..1"): [" _ä"],
}


@pytest.mark.parametrize(("text", "box"), all_but(LEGENDS, 0, 2, 3, 4, 5, 6, 7))
@pytest.mark.one_in(2)
def test_a_legend_has_words_for_all_that_is_drawn(text: str, box: str) -> None:
    """Curves, marks and ranges; names that begin with an underscore, which matplotlib leaves out, too."""
    answer = Function(text)
    drawn = _words(picture(answer.plot({answer.variables[0]: 0.25}, box={answer.variables[0]: box}), "svg"))
    assert set(LEGENDS[text, box]) <= set(drawn)


TITLES = {
    "where(x > 0, x**2, 3)": r"$\mathit{y} = \{\, x^{2} \; \text{if } x > 0 ; \; 3 \; \text{otherwise} $",
    "1/x": r"$\mathit{y} = \dfrac{1}{x}$",
    "[x*1e-5, abs(x)**2]": r"$\mathit{y}=[\mathit{x}\cdot 10^{-5},\mathrm{abs}(\mathit{x})^{2}]$",
}


@pytest.mark.parametrize("text", TITLES)
@pytest.mark.one_in(2)
def test_a_title_is_mathematics(text: str) -> None:
    """Formulas, cases in a line, and code where there is no formula."""
    assert TITLES[text] in _words(picture(Function(text).plot(x=(0.5, 1)), "svg"))


ENDS: dict[str, dict[float, list[tuple[int, float, bool]]]] = {
    "floor(x)": {1: [(0, 0, False), (0, 1, True), (1, 0, False)]},
    "ceil(x)": {1: [(0, 1, True), (0, 2, False), (1, 0, False)]},
    "sign(x)": {0: [(0, -1, False), (0, 1, False), (0, 0, True), (1, 0, False)]},
    "round(x)": {0.5: [(0, 0, True), (0, 1, False), (1, 0, False)], 1.5: [(0, 1, False), (0, 2, True), (1, 0, False)]},
    "abs(x)": {0: [(0, 0, True), (1, -1, False), (1, 1, False)]},
    "sin(x)/x": {0: [(0, 1, False), (1, 0, False)]},
    "sqrt(x)": {0: [(0, 0, True)]},
    "where(x == 0, 1, x)": {0: [(0, 0, False), (0, 1, True), (1, 1, False)]},
}
"""Functions with the ends of their curves at some places: the order, the height, and whether the end is filled."""


@pytest.mark.parametrize("text", ENDS)
@pytest.mark.one_in(2)
def test_an_end_is_filled_where_y_has_its_value(text: str) -> None:
    """The other one is open, and so is each limit of a derivative that does not exist."""
    found = Function(text).plot(x=(-0.8, 1.8))
    assert isinstance(found, Plot)
    for place, expected in ENDS[text].items():
        (mark,) = (one for one in found.marks if one.place == place)
        orders, heights, filled = zip(*ends(mark), strict=True)
        assert [*zip(orders, filled, strict=True)] == [(order, is_filled) for order, _, is_filled in expected]
        assert heights == pytest.approx([height for _, height, _ in expected], abs=1e-6)


PANELS = {"x**3 - x": 1, "sin(x)": 1, "abs(x)": 1, "exp(x)": 2, "floor(x)": 2, "relu(x)": 2, "[x, sin(x)]": 2}
"""Functions with the number of their panels."""


@pytest.mark.parametrize("text", PANELS)
def test_a_derivative_is_not_hidden(text: str) -> None:
    """It has a panel of its own where it would lie on y, or be flat."""
    found = Function(text).plot(x=(-2, 2))
    assert isinstance(found, Plot)
    assert len(panels(found)) == PANELS[text]


@pytest.mark.parametrize(("size", "has_numbers"), [(3, True), (12, True), (13, False)])
@pytest.mark.one_in(3)
def test_a_matrix_has_square_cells_with_numbers_where_it_is_small(size: int, *, has_numbers: bool) -> None:
    """And names for its rows and columns."""
    svg = picture(Function("7*x").jacobian(np.ones(size)), "svg")
    words = _words(svg)
    assert words.count("7") == (size if has_numbers else 0)
    assert {"element of $x$", "element of $y$"} <= set(words)
    assert ("$y_{2}$" in words) == has_numbers
    image = next(iter(ET.fromstring(svg).iter(f"{SVG}image")))
    assert float(image.get("width", "0")) == pytest.approx(float(image.get("height", "0")), abs=1)


def test_a_hessian_of_numbers_is_one_matrix() -> None:
    """With the variables at its rows and columns; what is not finite is said in words."""
    words = _words(picture(Function("x**2*y + sqrt(z)").hessian({"x": 1, "y": 2, "z": 0}), "svg"))
    assert {"$x$", "$y$", "$z$", "variable", "second derivative", "4", "2", "not finite"} <= set(words)


@pytest.mark.thorough
def test_a_map_has_round_ticks_a_scale_for_its_arrows_and_its_kinks() -> None:
    """And what is no kink is not called one."""
    found = Function("abs(x*y) + relu(x - 1)").plot(x=(-2, 2), y=(-1, 1))
    assert isinstance(found, PlotMap)
    assert len(found.kinks) == len(found.singular) > 100
    words = _words(picture(found, "svg"))
    assert {"0.0", "0.4", "0.8", "1.2", r"$|\nabla f| = 2$", "kink"} <= set(words)
    for text in ("1/x**2 + y", "sqrt(abs(x)) + sign(y)"):
        other = Function(text).plot(x=(-1, 1), y=(-1, 1))
        assert isinstance(other, PlotMap)
        assert len(other.kinks) < 0.05 * len(other.breaks), text
        assert "jump, pole or end" in _words(picture(other, "svg"))


@pytest.mark.parametrize("theme", ["light", "dark", ""])
def test_a_graph_has_its_colours_as_attributes(theme: str) -> None:
    """Any program reads them; a style sheet has only one that follows the reader's ground."""
    text = picture(Function("sum(x**2)").graph([1, 2]), "svg", theme).decode()
    assert ("<style>" in text) == ("@media" in text) == (theme == "")
    assert ('class="ground"' in text) == (theme != "")
    assert ("#14181d" in text) == (theme != "light")
    drawn = [one for one in ET.fromstring(text).iter() if one.tag in (f"{SVG}text", f"{SVG}rect", f"{SVG}path")]
    assert drawn
    assert all(one.get("fill") for one in drawn)


def test_digits_reach_graphs_and_pages(gradcli: Command, folder: Path) -> None:
    """Of a page too, which has five of its own."""
    for command, file in (("graph", "a.svg"), ("explain", "a.svg"), ("explain", "a.html")):
        for digits in ("3", "8"):
            assert gradcli(command, "x/3", "-o", file, "--at", "1", "--digits", digits).code == 0
            svg = (folder / file).read_text(encoding="utf-8").partition("<svg")[2]
            assert re.search(rf"= 0\.3{{{digits}}}</text>", svg)


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
        if rect.get("class") != "ground"
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


@pytest.mark.thorough
def test_a_notebook_shows_the_figure() -> None:
    """The plot itself, and `plot()` of an answer that is a matrix or a graph."""
    found = Function("x**2").plot(x=(-1, 1))
    assert "<svg" in found._repr_html_()
    assert "<svg" in Function("x**2").jacobian([1, 2]).plot()._repr_svg_()
    assert "<svg" in Function("x**2").graph(1).plot()._repr_svg_()
    assert io.StringIO(in_python(found, "svg")).readline().startswith("<?xml")

"""Graphs as SVG: boxes in layers, an arrow for each edge, without a program that draws.

A box stands a layer below those that lead to it.  Within a layer the boxes are ordered by the middle of their
neighbours, in a few sweeps, as in the method of Sugiyama.  Colours are attributes, which any program reads, of light or
of dark ground; where no ground is asked for, a style sheet makes light ones follow the reader's.
Source: K. Sugiyama, S. Tagawa, M. Toda, "Methods for Visual Understanding of Hierarchical System Structures", 1981.
"""

from __future__ import annotations

import graphlib
import itertools
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from gradcli import results
from gradcli.errors import InputError, UsageError
from gradcli.parts.explain.graph_document import dot
from gradcli.report.appearance import Appearance
from gradcli.report.numbers import in_a_line, printable, rounded
from gradcli.report.wording import node_text, statement

LETTER, LINE = 7.3, 18.0
"""Width of a letter and height of a line, in pixels of the picture."""

INSIDE, BETWEEN, BELOW = 10.0, 26.0, 44.0
"""Room inside a box, between two boxes and between two layers."""

MARGIN = 8.0
"""Room around the graph."""

MOST_BOXES = 60
"""Most boxes of a graph that is drawn."""

LONGEST, DIGITS = 40, 5
"""Most characters of a line in a box, and significant digits of its numbers."""

SWEEPS = 8
"""Times that the layers are ordered, down and up."""


class Box(NamedTuple):
    """A box: its lines, each with the name of its style, and its name in scripts."""

    lines: tuple[tuple[str, str], ...]
    name: str = ""

    @property
    def width(self) -> float:
        """The width in pixels."""
        return max((len(words) for _, words in self.lines), default=0) * LETTER + 2 * INSIDE

    @property
    def height(self) -> float:
        """The height in pixels."""
        return len(self.lines) * LINE + 2 * INSIDE - 4


Edge = tuple[int, int]
"""Numbers of two boxes, from the upper to the lower one."""


class Palette(NamedTuple):
    """Colours: the ground, words, adjoints, edges, and the inside and the frame of boxes."""

    ground: str
    ink: str
    adjoint: str
    edge: str
    inside: str
    frame: str


PALETTES = {
    "light": Palette("#ffffff", "#1b1f24", "#b3470f", "#808080", "#f3f4f6", "#b4bac2"),
    "dark": Palette("#14181d", "#e6e9ed", "#ff9d5c", "#8a94a0", "#1f252c", "#566069"),
}
"""Colours on light and on dark ground."""

FONT = "DejaVu Sans Mono, ui-monospace, monospace"
"""Fonts of the words, whose letters are of one width."""


def svg(boxes: Sequence[Box], edges: Sequence[Edge], title: str, theme: str = "") -> str:
    """Draw a graph as an element of SVG; a file needs the name space that it has.

    Without a theme its colours are those of light ground, or the reader's where that reads style sheets.

    Raises:
        InputError: It has too many boxes.
    """
    if len(boxes) > MOST_BOXES:
        message = f"the graph has {len(boxes):,} nodes, and at most {MOST_BOXES} are drawn"
        raise InputError(message, hint="gradcli graph -o FILE.dot is for Graphviz, which draws more")
    layers = _layers(len(boxes), edges)
    ways = _routed(layers, edges)
    boxes = [*boxes, *[Box(())] * (max(map(max, ways), default=0) + 1 - len(boxes))]
    _order(layers, [pair for way in ways for pair in itertools.pairwise(way)])
    widths = [sum(boxes[n].width for n in layer) + BETWEEN * (len(layer) - 1) for layer in layers]
    width, top = max(widths, default=0) + 2, 1.0
    corners: dict[int, tuple[float, float]] = {}
    for layer, wide in zip(layers, widths, strict=True):
        left = (width - wide) / 2
        for n in layer:
            corners[n] = left, top
            left += boxes[n].width + BETWEEN
        top += max(boxes[n].height for n in layer) + BELOW
    colors = PALETTES[theme or "light"]
    parts = [*_arrows(boxes, ways, corners, colors), *_boxes(boxes, corners, colors)]
    height = top - BELOW + 1
    size = f'width="{width + 2 * MARGIN:.0f}" height="{height + 2 * MARGIN:.0f}"'
    corner = f"{-MARGIN:.0f}"
    style = "" if theme else f"<style>\n{Path(__file__).with_suffix('.css').read_text(encoding='utf-8')}</style>\n"
    ground = f'<rect class="ground" x="{corner}" y="{corner}" {size} fill="{colors.ground}"/>\n' if theme else ""
    return (
        f'<svg class="graph" xmlns="http://www.w3.org/2000/svg" viewBox="{corner} {corner} {width + 2 * MARGIN:.0f} '
        f'{height + 2 * MARGIN:.0f}" {size} '
        f'font-family="{FONT}" font-size="12" role="img" aria-label="{escape(title)}">{style}{ground}'
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0 0 8 4 0 8z" fill="{colors.edge}"/></marker></defs>\n{"".join(parts)}</svg>\n'
    )


def _layers(count: int, edges: Sequence[Edge]) -> list[list[int]]:
    """Put each box a layer below the lowest of those that lead to it."""
    above: dict[int, list[int]] = {n: [a for a, b in edges if b == n] for n in range(count)}
    depth: dict[int, int] = {}
    for n in graphlib.TopologicalSorter(above).static_order():
        depth[n] = 1 + max((depth[a] for a in above[n]), default=-1)
    for n in [n for n in above if not above[n]]:  # inputs next to their use
        depth[n] = min((depth[b] for a, b in edges if a == n), default=1) - 1
    return [[n for n in range(count) if depth[n] == level] for level in range(max(depth.values(), default=-1) + 1)]


def _routed(layers: list[list[int]], edges: Sequence[Edge]) -> list[list[int]]:
    """Route each edge over a place of its own in every layer between; the places are boxes without lines."""
    level = {n: depth for depth, layer in enumerate(layers) for n in layer}
    fresh, ways = itertools.count(len(level)), []
    for a, b in dict.fromkeys(edges):
        between = {depth: next(fresh) for depth in range(level[a] + 1, level[b])}
        for depth, n in between.items():
            layers[depth].append(n)
        ways.append([a, *between.values(), b])
    return ways


def _order(layers: list[list[int]], edges: Sequence[Edge]) -> None:
    """Order each layer by the middle of the neighbours above, then below, again and again."""
    places = {n: float(k) for layer in layers for k, n in enumerate(layer)}
    for sweep in range(SWEEPS):
        for layer in layers if sweep % 2 == 0 else layers[::-1]:
            middles = {}
            for n in layer:
                near = [places[a if b == n else b] for a, b in edges if n == (b if sweep % 2 == 0 else a)]
                middles[n] = sum(near) / len(near) if near else places[n]
            layer.sort(key=middles.__getitem__)
            places |= {n: k - (len(layer) - 1) / 2 for k, n in enumerate(layer)}


def _boxes(boxes: Sequence[Box], corners: dict[int, tuple[float, float]], colors: Palette) -> Iterator[str]:
    for n, box in enumerate(boxes):
        if not box.lines:
            continue
        x, y = corners[n]
        named = f' data-name="{escape(box.name)}"' if box.name else ""
        size = f'x="{x:.1f}" y="{y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}"'
        yield f'<g class="box"{named}><rect {size} rx="5" fill="{colors.inside}" stroke="{colors.frame}"/>'
        for k, (style, words) in enumerate(box.lines):
            place = f'x="{x + INSIDE:.1f}" y="{y + INSIDE + LINE * k + 10:.1f}"'
            look = f'fill="{colors.adjoint if style == "adjoint" else colors.ink}"'
            weight = ' font-weight="bold"' if style == "title" else ""
            yield f'<text class="{style}" {place} {look}{weight}>{escape(words)}</text>'
        yield "</g>\n"


def _arrows(
    boxes: Sequence[Box], ways: Sequence[Sequence[int]], corners: dict[int, tuple[float, float]], colors: Palette
) -> Iterator[str]:
    """Draw a curve for each edge, from the middle of a box below to the middle of another."""
    middles = {n: x + boxes[n].width / 2 for n, (x, _) in corners.items()}
    for way in ways:
        x, y = middles[way[0]], corners[way[0]][1] + boxes[way[0]].height
        path = f"M{x:.1f} {y:.1f}"
        for n in way[1:]:
            is_last, u, v = n == way[-1], middles[n], corners[n][1]
            half = (v - y) / 2
            path += f"C{x:.1f} {y + half:.1f} {u:.1f} {v - half:.1f} {u:.1f} {v - is_last:.1f}"
            if not is_last:
                v = min(top for _, top in corners.values() if top > v) - BELOW
                path += f"V{v:.1f}"
            x, y = u, v
        yield f'<path class="edge" d="{path}" fill="none" stroke="{colors.edge}" marker-end="url(#tip)"/>\n'


# -- graphs of answers


def write_svg(answer: results.Explanation | results.BackwardGraph, shown: Appearance, file: BinaryIO) -> None:
    """Write the graph of an answer."""
    look = shown.theme, shown.digits or DIGITS
    text = of_graph(answer, *look) if isinstance(answer, results.BackwardGraph) else of_explanation(answer, *look)
    _ = file.write(text.encode())


def write_dot(answer: results.BackwardGraph, shown: Appearance, file: BinaryIO) -> None:
    """Write the source of a graph for Graphviz.

    Raises:
        UsageError: Another drawing of it is asked for.
    """
    if answer.drawing not in ("", "dot"):
        raise UsageError(f"-o {shown.path} and --to {answer.drawing} exclude each other", hint="leave out --to")
    _ = file.write(dot(printable(answer)).encode())


def of_explanation(answer: results.Explanation, theme: str = "", digits: int = DIGITS) -> str:
    """Draw the lines of a function from its variables down, with their values and adjoints."""
    operations = {step.name: step.operation.pretty for step in answer.steps}
    values = {**answer.inputs, **{step.name: step.value for step in answer.steps}}
    adjoints = {adjoint.name: adjoint for adjoint in answer.adjoints}
    used = ((adjoint.name, term.source) for adjoint in answer.adjoints for term in adjoint.terms)
    edges = [(a, b) for a, b in used if a in values and b in values]
    linked = {name for edge in edges for name in edge} or set(values)  # constants stand alone
    names = {name: n for n, name in enumerate(name for name in values if name in linked)}
    boxes = []
    for name in names:
        title = f"{name} = {operations[name]}" if name in operations else name
        found = adjoints.get(name)
        label, adjoint = ("", None) if found is None else (_made(found), found.value)
        boxes.append(_box(title, (values[name], adjoint), label, digits, name))
    return svg(boxes, [(names[a], names[b]) for a, b in edges], statement(answer), theme)


def _made(adjoint: results.Adjoint) -> str:
    """Write an adjoint with the lines of the gradient that make it, where they are as short as a line of a box."""
    terms = [term.equation.pretty for term in adjoint.terms if term.equation is not None and not term.summed]
    is_whole = bool(terms) and len(terms) == adjoint.terms_count
    made = " = ".join([adjoint.notation.pretty, *[" + ".join(terms)] * is_whole])
    return made if len(made) < LONGEST else adjoint.notation.pretty


def of_graph(answer: results.BackwardGraph, theme: str = "", digits: int = DIGITS) -> str:
    """Draw a backward graph from its output down, with the value and the gradient that arrives at each node."""
    boxes = []
    for node in answer.nodes:
        box = _box(f"{node.name}: {node_text(node)}", (node.value, node.adjoint), "grad", digits)
        boxes.append(Box((*box.lines, ("value", node.rule)), box.name) if node.rule else box)
    return svg(boxes, [(edge.source, edge.target) for edge in answer.edges], statement(answer), theme)


def _box(
    title: str, numbers: tuple[results.Array | None, results.Array | None], label: str, digits: int, name: str = ""
) -> Box:
    """Write the lines of a box: its title, its value, and its adjoint with a label."""
    value, adjoint = (None if one is None else f"= {in_a_line(rounded(np.asarray(one), digits))}" for one in numbers)
    lines = [("title", title)]
    if value is not None:
        lines.append(("value", value))
    if adjoint is not None:
        is_equation = " = " in label
        lines += [("adjoint", label), ("adjoint", adjoint)] if is_equation else [("adjoint", f"{label} {adjoint}")]
    return Box(tuple((style, f"{t[: LONGEST - 1]}…" if len(t) > LONGEST else t) for style, t in lines), name)

"""The chain rule step by step, and the backward graph as torch builds it.

explain          each line with its value, each adjoint with the line of the gradient that makes it
differential     the differential of vectors and matrices, line by line
graph            the nodes and the tensors after the backward pass
shell            the commands, their helps and their options
chain_rule       the chain rule as a document, a row an adjoint
graph_document   a graph as a document, and for Graphviz
graph_drawings   graphs as SVG
explain_page     the chain rule as a page that shows its steps
"""

from __future__ import annotations

from collections.abc import Mapping

from gradcli.parts import is_listed
from gradcli.parts.command import Command
from gradcli.parts.part import Part
from gradcli.parts.renderer import Renderer

_COMMANDS = {
    "explain": Command(
        "explain",
        "Look closer",
        "gradcli.parts.explain.shell:explain",
        "gradcli.parts.explain.explain:explain",
        other_names=("steps",),
        near=("trace", "tape", "backprop"),
    ),
    "graph": Command(
        "graph",
        "Look closer",
        "gradcli.parts.explain.shell:graph",
        "gradcli.parts.explain.graph:graph",
        answer="gradcli.cli.commands:answer_as_drawing",
        lacks=("csv", "tsv", "plain", "npy"),
    ),
}


_HERE = "gradcli.parts.explain"
_DRAWN = ("BackwardGraph", "Explanation")

_PAGE = Renderer("html", f"{_HERE}.explain_page:pieces", answers=("Explanation",))

_DRAWINGS = (
    Renderer(
        "svg",
        f"{_HERE}.graph_drawings:write_svg",
        (".svg",),
        is_format=False,
        answers=_DRAWN,
        commands=("graph", "explain"),
        is_picture=True,
    ),
    Renderer(
        "dot",
        f"{_HERE}.graph_drawings:write_dot",
        (".dot", ".gv"),
        is_format=False,
        answers=("BackwardGraph",),
        commands=("graph",),
    ),
)


class ExplainPart(Part):
    """The chain rule, and the backward graph."""

    COMMANDS = tuple(_COMMANDS)

    def command(self, name: str) -> Command:
        """Return one of its commands."""
        return _COMMANDS[name]

    def renderers(self) -> tuple[Renderer, ...]:
        """Return the page of an explanation, and the files of graphs."""
        return (_PAGE, *_DRAWINGS) if is_listed("pages") else _DRAWINGS

    def composers(self) -> Mapping[str, str]:
        """Return what composes explanations and graphs."""
        return {
            "Explanation": f"{_HERE}.chain_rule:compose_explanation",
            "BackwardGraph": f"{_HERE}.graph_document:compose_graph",
        }


PART = ExplainPart()

"""The command that shows the backward graph: graph."""

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from gradcli.cli.command import CommonOptions, add
from gradcli.cli.completion import suggestions
from gradcli.cli.options import Format, Show, shown
from gradcli.errors import UsageError

if TYPE_CHECKING:
    from gradcli.results import BackwardGraph


class Drawing(StrEnum):
    """What to draw."""

    tree = "tree"
    table = "table"
    dot = "dot"
    mermaid = "mermaid"


GraphVector = Annotated[
    str | None,
    typer.Option(
        "--v",
        metavar="VALUE",
        show_default=False,
        autocompletion=suggestions.vector,
        help="The gradient vector, as in vjp. Default: 1, if y has one element; else there is no backward pass.",
    ),
]
To = Annotated[
    Drawing | None,
    typer.Option(
        "--to",
        show_default=False,
        help="Only the tree, only the table of tensors, or the graph in the language of Graphviz or Mermaid.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    add(app, graph, without=["no_check", "strict", "require_all"])


def graph(asked: CommonOptions, v: GraphVector = None, show: Show = None, drawing: To = None) -> "BackwardGraph":
    """The backward graph as torch builds it, and its tensors.

    Prints the nodes from the output to the leaves, and for each tensor data, requires_grad, grad, grad_fn and is_leaf,
    after the backward pass if there is one. In --format plain, an edge a line.

    \b
    Examples:
      gradcli graph "x*y" --at x=1 --at y=2 --wrt x
      gradcli graph "y = x**2; z = y**3" --at 1,2 --v 1,1 --show y
      gradcli graph "sum(sigmoid(A@x))" --at "A=[[1,2],[3,4]]" --at x=5,6 --to mermaid
    """
    if drawing is not None and asked.form not in (Format.table, Format.markdown):
        raise UsageError(f"--to {drawing} and --format {asked.form} exclude each other", hint="leave out one of them")
    vector = asked.value(v, "--v")
    found = asked.function.graph(asked.at, vector, wrt=asked.wrt, show=shown(show), dtype=asked.dtype)
    return found if drawing is None else replace(found, drawing=drawing.value)

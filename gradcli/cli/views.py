"""The commands that look closer at a function, and that write it as a script: eval, check, explain, graph, code."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from gradcli.cli.command import CommandLine, add
from gradcli.errors import UsageError

if TYPE_CHECKING:
    from gradcli.results import Answer, Source


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    for command in (eval_, check, explain, graph, code):
        add(app, command)


def eval_(line: CommandLine) -> Answer | Source:
    """The value of a function, and whether it can be trusted.

    In --format plain, the numbers alone, a row of them a line.

    \b
    Examples:
      gradcli eval "y = x**2; sum(y)" --at 1,2
      gradcli eval "sin(pi/6)" --format plain
    """
    return line.answer()


def check(line: CommandLine) -> Answer | Source:
    """What all readings say of a derivative, side by side.

    Prints what autograd, formula, enclosure and finite differences say of every entry, worst first, with a verdict,
    and exits with 1 unless all agree and every claim is proved. In --format plain, a line an entry: verdict, entry,
    torch, truth; then a line a claim.

    \b
    Examples:
      gradcli check "3*a + 2*b*b + log(c)" --at a=1,2,3 --at b=3,4,5 --at c=6,7,8
      gradcli check "x**3" --at 2 --claim "3*x**2" --expect 12
      gradcli check "sin(x)*exp(-x)" --random 100 --in x=1..2 --dtype float32
      gradcli check "relu(x)" --at 0,1 --v ones --allow kink
    """
    return line.answer()


def explain(line: CommandLine) -> Answer | Source:
    """The chain rule step by step: forward, v, backward, vᵀJ.

    Each line of the function with its value; then v, which is the adjoint of the output; then each adjoint with the
    local derivative that made it, as formula and as number; and vᵀJ as one product. A loss shows where v comes from.
    In --format plain, a line a step, such as y = x**2 = 1 4, then v, then a line an adjoint, such as adj(x) = 2 4.

    \b
    Examples:
      gradcli explain "y = x**2; z = y**3" --at 1,2 --v 1,1
      gradcli explain "3*a + 2*b*b + log(c)" --at a=1 --at b=3 --at c=6
      gradcli explain "A@x" --at "A=[[1,2],[3,4]]" --at x=5,6 --loss "sum((y - t)**2)" --at t=1,2
    """
    return line.answer()


def graph(line: CommandLine) -> Answer | Source:
    """The backward graph as torch builds it, and its tensors.

    Prints the nodes from the output to the leaves, and for each tensor data, requires_grad, grad, grad_fn and is_leaf,
    after the backward pass if there is one. In --format plain, an edge a line.

    \b
    Examples:
      gradcli graph "x*y" --at x=1 --at y=2 --wrt x
      gradcli graph "y = x**2; z = y**3" --at 1,2 --v 1,1 --show y
      gradcli graph "sum(sigmoid(A@x))" --at "A=[[1,2],[3,4]]" --at x=5,6 --to mermaid
    """
    drawing, form = line.presentation["drawing"], line.shown.form
    if drawing is not None and form not in ("table", "markdown"):
        raise UsageError(f"--to {drawing} and --format {form} exclude each other", hint="leave out one of them")
    found = line.answer()
    from gradcli.results import BackwardGraph

    return replace(found, drawing=drawing) if drawing and isinstance(found, BackwardGraph) else found


def code(line: CommandLine) -> Answer | Source:
    """The same computation as a runnable script, or as a document.

    The PyTorch script gives the numbers of vjp to the last digit; the NumPy script fills the Jacobian from its formula;
    the LaTeX document, which needs amsmath, shows the numbers and the formulas of vjp. --format plain writes the same.

    \b
    Examples:
      gradcli code "x**2" --at 1,2 --v 1,1
      gradcli code "sum(w*x**2)" --at w=3,5 --at x=-1,2 --wrt x --to numpy
      gradcli code "softmax(x)" --at 1,2,3 --v e0 --to latex
      gradcli code "[x.sum(), (x**2).sum()]" --at "arange(4)" --v "2*y"
    """
    if line.shown.form == "csv":
        raise UsageError("a script is no table of numbers", hint="leave out --format csv, or take --json")
    return line.answer()

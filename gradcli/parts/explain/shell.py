"""The commands `explain` and `graph`: their helps and their options."""

from typing import Annotated, Literal

from typer import Option

from gradcli.cli.options import (
    PRESENTATION,
    At,
    Device,
    Dtype,
    Expression,
    Fact,
    Loss,
    OptionKind,
    V,
    Wrt,
    check_options,
    figure_options,
    output_options,
    remark_options,
)
from gradcli.cli.signatures import shares

GraphV = Annotated[
    str | None,
    Option(
        "--v",
        metavar="VALUE",
        help="The gradient vector, as in vjp. Default: 1, if y has one element; else there is no backward pass.",
    ),
    Fact(OptionKind.VECTOR),
]
Show = Annotated[
    str | None,
    Option(
        "--show",
        metavar="NAMES",
        help="Names of statements, separated by commas, whose gradients retain_grad() keeps.",
    ),
    Fact(OptionKind.STATEMENTS),
]
Drawing = Annotated[
    Literal["tree", "table", "dot"] | None,
    Option(
        "--to",
        help="Only the tree, only the table of tensors, or the graph in the language of Graphviz.",
    ),
    PRESENTATION,
]


@shares(output_options, figure_options, remark_options, check_options)
def explain(
    expression: Expression,
    at: At = None,
    v: V = None,
    loss: Loss = None,
    wrt: Wrt = None,
    dtype: Dtype = None,
    device: Device = None,
) -> None:
    """The chain rule step by step: forward, v, backward, vᵀJ.

    Each line of the function with its value; then v, which is the adjoint of the output; then each adjoint with the
    line of the gradient that makes it, in names and in numbers, and its rule; and vᵀJ as the rows of J that v weights,
    and as one product (⊙ is element by element). A loss shows where v comes from. In --json each adjoint has a verdict.
    In --format plain, the numbers of vᵀJ alone. FILE.py in the place of the expression is a script, of which the last
    backward pass is explained; one whose passes take more than some seconds is run twice for that.

    \b
    Examples:
      gradcli explain "y = x**2; z = y**3" --at 1,2 --v 1,1
      gradcli explain "3*a + 2*b*b + log(c)" --at a=1 --at b=3 --at c=6
      gradcli explain "A@x" --at "A=[[1,2],[3,4]]" --at x=5,6 --loss "sum((y - t)**2)" --at t=1,2
    """


@shares(output_options, figure_options, remark_options)
def graph(
    expression: Expression,
    at: At = None,
    v: GraphV = None,
    show: Show = None,
    drawing: Drawing = None,
    wrt: Wrt = None,
    dtype: Dtype = None,
    device: Device = None,
) -> None:
    """The backward graph as torch builds it, and its tensors.

    Prints the nodes from the output to the leaves, and for each tensor data, requires_grad, grad, grad_fn and is_leaf,
    after the backward pass if there is one. A drawing, --to dot, has value, adjoint and rule in each node.

    \b
    Examples:
      gradcli graph "x*y" --at x=1 --at y=2 --wrt x
      gradcli graph "y = x**2; z = y**3" --at 1,2 --v 1,1 --show y
      gradcli graph "sum(sigmoid(A@x))" --at "A=[[1,2],[3,4]]" --at x=5,6 --to dot
    """

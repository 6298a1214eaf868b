"""The command `code`: its help and its options."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Option

from gradcli.cli.options import At, Color, Dtype, Expression, Format, Full, Json, OutputFile, V, Wrt, remark_options
from gradcli.cli.signatures import shares

if TYPE_CHECKING:
    from gradcli.cli.commands import CommandLine
    from gradcli.results import Result

To = Annotated[
    Literal["torch", "numpy", "latex"],
    Option(
        "--to",
        help="A script of PyTorch with backward(gradient=v), one of NumPy with the adjoint of each line, or a LaTeX "
        "document with all of it.",
    ),
]


def output_options(
    format: Format = "table",  # noqa: A002
    full: Full = False,
    json: Json = False,
    color: Color = "auto",
    output: OutputFile = None,
) -> None:
    """Declare the option for the file of a script, whose numbers have all digits."""


@shares(output_options, remark_options)
def code(
    expression: Expression, at: At = None, v: V = None, to: To = "torch", wrt: Wrt = None, dtype: Dtype = None
) -> None:
    """The same computation as a runnable script, or as a document.

    The PyTorch script gives the numbers of vjp to the last digit; the NumPy script has the backward pass line by line;
    the LaTeX document, which needs amsmath, shows the numbers and the formulas of vjp. --format plain writes the same.

    \b
    Examples:
      gradcli code "x**2" --at 1,2 --v 1,1
      gradcli code "sum(w*x**2)" --at w=3,5 --at x=-1,2 --wrt x --to numpy
      gradcli code "softmax(x)" --at 1,2,3 --v e0 --to latex
      gradcli code "[x.sum(), (x**2).sum()]" --at "arange(4)" --v "2*y"
    """


def answer_code(line: "CommandLine") -> "Result":
    """Write the script, or into a file of LaTeX the document, where nothing says what to write."""
    from gradcli.cli.output import is_typed
    from gradcli.cli.typer_internals import click
    from gradcli.results import Source

    if line.shown.path is None or line.shown.kind != "latex" or is_typed(click.globals.get_current_context(), "to"):
        return line.answer()
    found = replace(line, arguments={**line.arguments, "to": "latex"}).answer()
    said = f"{line.shown.path} is the document of --to latex; with --to torch, the script is written in it"
    return replace(found, warnings=(*found.warnings, said)) if isinstance(found, Source) else found

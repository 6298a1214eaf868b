"""The command `batch`: its help, and its argument."""

from typing import Annotated

from typer import Argument

from gradcli.cli.output import Stream

Requests = Annotated[
    str | None,
    Argument(
        metavar="[FILE]",
        show_default=False,
        help="A file of requests, a line each; - is standard input, which is the default unless it is a terminal.",
    ),
]


def batch(file: Requests = None) -> Stream:
    """Requests in, a line each, and their answers out in order.

    A request is a command line, quoted as for the shell and read by gradcli alone, or an object of JSON: "command",
    "expression", and the options of the command as keys, such as "at", "v" or "vs" (several), "u", "wrt", "dtype",
    "check". Its answer is the line that --json prints, written at once, with the number of the line as its "id", or
    that of the object. A wrong request gets a line with an "error", and the stream goes on; the exit code is then 2.
    An error of the kind "internal" is a bug of ours, and makes it 70.
    Commands are vjp, jacobian, grad, jvp, hessian, hvp, eval, check, improve, plot, explain, graph, code and
    range.

    \b
    Examples:
      echo 'grad "x**2" --at 3' | gradcli batch
      echo '{"command": "grad", "expression": "x**2", "at": 3, "id": "a"}' | gradcli batch
    """

    def answer() -> int:
        from gradcli.parts.batch.replying import answer_all

        return answer_all(file)

    return answer

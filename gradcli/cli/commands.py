"""The commands on a function at a point: their options are read, they answer, and the answer is written.

The docstring of a command is its help.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from typer import _click as click

from gradcli import options
from gradcli.cli.default_command import DERIVATIVE
from gradcli.cli.expression import ExpressionCommand
from gradcli.cli.output import Output, OutputOptions, is_typed, manner, output
from gradcli.cli.parameters import argument, arguments, read_expression
from gradcli.errors import UsageError
from gradcli.options import Option
from gradcli.running.targets import require_no_file, target

if TYPE_CHECKING:
    from gradcli.files import Files
    from gradcli.function import Function
    from gradcli.results import Result

_EXPRESSION = argument(
    "expression",
    metavar="EXPR",
    required=True,
    help='The function, such as "x**2"; variables are its free names. '
    "@FILE reads it from a file, @- from standard input. FILE.py::NAME and MODULE:NAME are functions of Python, "
    "which are run and recorded.",
)


@dataclass(frozen=True)
class CommandLine:
    """A command line on a function, as read.

    Attributes:
        command: The name of the command.
        expression: The text of EXPR; with `@`, the text that was read from the file.
        function: The function of EXPR.
        arguments: The arguments of the question that were given, by the keywords of `Function`.
        presentation: The options for showing the answer.
        shown: Their outcome: the format, the colours, the file.
        files: Reader of the files that hold values; it reads standard input once.
    """

    command: str
    expression: str
    function: Function
    arguments: Mapping[str, Any]
    presentation: Mapping[str, Any]
    shown: OutputOptions
    files: Files

    def answer(self) -> Result:
        """Answer the question of the command."""
        from gradcli.requests import ask

        return ask(self.function, self.command, self.arguments, budget=self.presentation.get("budget"))


def command_of(
    body: Callable[[CommandLine], Result | Callable[[], int]], no_files: type[Files] | None = None
) -> ExpressionCommand:
    """Make a command of the shell.

    Args:
        body: The command: takes a command line and gives the answer, or a function that streams it and gives the exit
            code.  Its name is the name of the command, its docstring the help.
        no_files: For a request, the class in the place of `Files`; a request has neither a help nor variables of the
            environment.
    """
    name = body.__name__.rstrip("_")
    is_hidden = name == DERIVATIVE
    command = "jacobian" if is_hidden else name
    table = [
        replace(option, variable=None, is_setting=False) if no_files else option for option in options.typed(command)
    ]

    def run(expression: str, **given: Any) -> Result | Output | Callable[[], int]:
        presentation = {option.name: given.pop(option.name) for option in table if option.is_presentation}
        demands: Mapping[str, bool] = {}
        if no_files is not None:
            _require_question(table)
            shown, files = OutputOptions("json"), no_files()
        else:
            from gradcli.files import Files

            demands = _demands(presentation, given, command)
            shown, files = manner(presentation), Files()
        text, function = _function_of(expression, files, is_request=no_files is not None)
        question = (option for option in table if not option.is_presentation)
        asked = arguments(question, given, files)
        answer = body(CommandLine(command, text, function, asked, presentation, shown, files))
        return answer if no_files or callable(answer) else output(answer, shown, **demands)

    run.__doc__ = body.__doc__
    return ExpressionCommand.of(name, run, table, _EXPRESSION, hidden=is_hidden, add_help_option=no_files is None)


def _require_question(table: Iterable[Option]) -> None:
    """Refuse the options for showing an answer, which a request cannot have.

    Raises:
        UsageError: One is typed.
    """
    ctx = click.globals.get_current_context()
    for option in table:
        if option.is_presentation and is_typed(ctx, option.name):
            from gradcli.requests import WHY_NOT

            raise UsageError(f"{' / '.join(option.flags)} is nothing that a request may have", hint=WHY_NOT)


def _demands(presentation: dict[str, Any], given: dict[str, Any], command: str) -> dict[str, bool]:
    """Resolve --strict and --require-all against --no-check, in the given options too.

    Without a check, demands from settings are dropped; a demand that is typed switches the check on.

    Raises:
        UsageError: One is typed next to --no-check.
    """
    ctx = click.globals.get_current_context()
    demands = {name: bool(presentation.get(name)) for name in ("strict", "require_all")}
    typed = {name: is_given and is_typed(ctx, name) for name, is_given in demands.items()}
    if command in options.JUDGED and given["check"] and is_typed(ctx, "check"):
        require_none(typed, "and --no-check exclude each other")
    elif command in options.JUDGED and given["check"] and any(typed.values()):
        given["check"] = False  # the switch is --no-check
    is_checked = "check" not in given or given["check"] is (command not in options.JUDGED)
    kept = demands if is_checked else typed
    presentation.update((name, is_kept) for name, is_kept in kept.items() if name in presentation)
    return kept


def require_none(demands: Mapping[str, bool], why: str) -> None:
    """Refuse `--strict` and `--require-all` where there is no verdict to be strict about.

    Args:
        demands: Whether each is given.
        why: The rest of the message, after the flag.

    Raises:
        UsageError: One is given.
    """
    for name, is_given in demands.items():
        if is_given:
            flag = f"--{name.replace('_', '-')}"
            raise UsageError(f"{flag} {why}", hint=f"{flag} needs the verdict of the check")


def _function_of(expression: str, files: Files, *, is_request: bool) -> tuple[str, Function]:
    """Read the text of EXPR, and make its function.

    Raises:
        GradcliError: The text is not in the language.
    """
    if not is_request:
        require_no_file(expression)
        if (named := target(expression)) is not None:
            named.require_file()
            from gradcli.running.python_functions import named as function_named

            return expression, function_named(named)
    text = read_expression(expression, files)
    from gradcli.function import Function

    return text, Function(text)


# -- differentiate


def vjp(line: CommandLine) -> Result:
    """The vector-Jacobian product, as y.backward(gradient=v).

    That is what backward leaves in x.grad. Prints y, v, vᵀJ, the full Jacobian (up to 10,000 entries), its formula
    and the verdict of the cross-check; with --json a line for each --v. In --format plain, the numbers of vᵀJ alone, or
    of .grad with --accumulate: a row of them a line, for each --v and variable in turn.

    \b
    Examples:
      gradcli vjp "x**2" --at 1,2 --v 1,1
      gradcli vjp "[x*y, x+y]" --at x=3 --at y=5 --v e0 --v e1
      gradcli vjp "-x**2" --at -1,2 --v ones --format plain
      gradcli vjp "y = x**2; z = y**3" --at 1,2 --v 1,1 --v 1,1 --accumulate
      gradcli vjp "x**2" --at 1,2 --loss "sum(y**2)"
    """
    given = dict(line.arguments)
    vs = given.pop("v", [])
    if vs:
        given |= {"vs": vs} if len(vs) > 1 else {"v": vs[0]}
    return replace(line, arguments=given).answer()


def jacobian(line: CommandLine) -> Result:
    """The full Jacobian: a row for each y[i], a column for each x[j].

    It may take up to 1 GiB of memory; a larger one is refused with its size. In --format plain, a row a line, with the
    columns of all variables beside one another.

    \b
    Examples:
      gradcli jacobian "exp(x)/sum(exp(x))" --at 1,2,3
      gradcli jacobian "A@x" --at "A=[[1,2],[3,4]]" --at x=5,6 --wrt x
    """
    return line.answer()


def grad(line: CommandLine) -> Result:
    """The gradient of a function with one output.

    In --format plain, the numbers alone, variable after variable, a row of them a line.

    \b
    Examples:
      gradcli grad "sum(w*x**2)" --at w=3,5 --at x=-1,2 --wrt x
      gradcli grad "log(x)" --at -1
    """
    return line.answer()


def jvp(line: CommandLine) -> Result:
    """The Jacobian-vector product, the slope along u.

    Ju is how y changes as x moves in the direction u. Prints y, u, Ju, its formula and the verdict of the cross-check.
    In --format plain, the numbers of Ju alone, a row of them a line.

    \b
    Examples:
      gradcli jvp "x**2" --at 1,2 --u 1,1
      gradcli jvp "A@x" --at "A=[[1,2],[3,4]]" --at x=5,6 --u x=e0
    """
    return line.answer()


def hessian(line: CommandLine) -> Result:
    """All second derivatives of a function with one output.

    It may take up to 1 GiB of memory; a larger one is refused with its size. In --format plain, one matrix with the
    rows and columns of all variables, a row a line.

    \b
    Examples:
      gradcli hessian "(1 - x[0])**2 + 100*(x[1] - x[0]**2)**2" --at 1,1
      gradcli hessian "x**3*y" --at x=2 --at y=5 --format plain
    """
    return line.answer()


def hvp(line: CommandLine) -> Result:
    """The Hessian times a direction u, without the Hessian.

    Hu is how the gradient changes as x moves in the direction u. In --format plain, the numbers of Hu alone, variable
    after variable, a row of them a line.

    \b
    Examples:
      gradcli hvp "sum(x**3)" --at 1,2 --u e0
      gradcli hvp "log(sum(exp(x)))" --at 1,2,3 --u 1,0,-1 --format plain
    """
    return line.answer()


def derivative(line: CommandLine) -> Result:
    """What an expression without a command stands for: its derivative.

    That is vjp of a function with one output, else jacobian, whose options it has; a formula where no value is given.

    \b
    Examples:
      gradcli "x**2" --at 3
      gradcli "[x*y, x+y]" --at x=3 --at y=5
    """
    given = {name: line.arguments[name] for name in ("at", "dtype") if name in line.arguments}
    if line.function.wants_formula(line.arguments):
        return replace(line, command="").answer()
    has_one = line.function.eval(**given, check=False).value.size == 1
    return replace(line, command="vjp" if has_one else "jacobian").answer()


# -- look closer, and write


def eval_(line: CommandLine) -> Result:
    """The value of a function, and whether it can be trusted.

    In --format plain, the numbers alone, a row of them a line.

    \b
    Examples:
      gradcli eval "y = x**2; sum(y)" --at 1,2
      gradcli eval "sin(pi/6)" --format plain
    """
    return line.answer()


def check(line: CommandLine) -> Result:
    """What all readings say of a derivative, side by side.

    Prints what autograd, formula and enclosure say of every entry, worst first, with a verdict, and exits with 1
    unless all agree and every claim is proved; --full adds finite differences. In --format plain, a line an entry:
    verdict, entry, torch, truth; then a line a claim.

    \b
    Examples:
      gradcli check "3*a + 2*b*b + log(c)" --at a=1,2,3 --at b=3,4,5 --at c=6,7,8
      gradcli check "x**3" --at 2 --claim "3*x**2" --expect 12
      gradcli check "sin(x)*exp(-x)" --random 100 --in x=1..2 --dtype float32
      gradcli check "relu(x)" --at 0,1 --v ones --allow kink
    """
    differences = {"differences": True} if line.shown.form == "full" else {}
    return replace(line, arguments={**line.arguments, **differences}).answer()


def improve(line: CommandLine) -> Result:
    """The form of a function that loses the fewest digits.

    Other forms of the function are searched and measured, at a point and around it, at each element of the values of an
    elementwise function, or with --in over a range, magnitude by magnitude. Prints the bits that value and derivatives
    lose before and after, where one form takes over from another, and whether the two are proved to be the same
    function or only enclosed. Exits with 1 if digits are lost and no better form was found. In --format plain, the
    form alone, and what was typed where there is no better one.

    \b
    Examples:
      gradcli improve "(1 - cos(x))/x" --at 1e-8
      gradcli improve "sqrt(x**2 + 1) - x" --in x=-1e300..1e300
      gradcli improve "(-b + sqrt(b*b - 4*a*c))/(2*a)" --at a=1 --at c=1 --in b=-1e9..-10 --format plain
    """
    return line.answer()


def explain(line: CommandLine) -> Result:
    """The chain rule step by step: forward, v, backward, vᵀJ.

    Each line of the function with its value; then v, which is the adjoint of the output; then each adjoint with the
    local derivative that made it, as formula and as number, and its rule; and vᵀJ as the rows of J that v weights, and
    as one product (⊙ is element by element). A loss shows where v comes from. In --json each adjoint has a verdict.
    In --format plain, the numbers of vᵀJ alone.

    \b
    Examples:
      gradcli explain "y = x**2; z = y**3" --at 1,2 --v 1,1
      gradcli explain "3*a + 2*b*b + log(c)" --at a=1 --at b=3 --at c=6
      gradcli explain "A@x" --at "A=[[1,2],[3,4]]" --at x=5,6 --loss "sum((y - t)**2)" --at t=1,2
    """
    return line.answer()


def graph(line: CommandLine) -> Result:
    """The backward graph as torch builds it, and its tensors.

    Prints the nodes from the output to the leaves, and for each tensor data, requires_grad, grad, grad_fn and is_leaf,
    after the backward pass if there is one. A drawing, --to dot or mermaid, has value and adjoint in each node. In
    --format plain, an edge a line.

    \b
    Examples:
      gradcli graph "x*y" --at x=1 --at y=2 --wrt x
      gradcli graph "y = x**2; z = y**3" --at 1,2 --v 1,1 --show y
      gradcli graph "sum(sigmoid(A@x))" --at "A=[[1,2],[3,4]]" --at x=5,6 --to mermaid
    """
    drawing, form = line.presentation["drawing"], line.shown.form
    if drawing is not None and form not in ("table", "markdown", "html"):
        raise UsageError(f"--to {drawing} and --format {form} exclude each other", hint="leave out one of them")
    found = line.answer()
    from gradcli.results import BackwardGraph

    return replace(found, drawing=drawing) if drawing and isinstance(found, BackwardGraph) else found


def code(line: CommandLine) -> Result:
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
    return line.answer()


ANSWERS = (vjp, jacobian, grad, jvp, hessian, hvp, eval_, check, improve, explain, graph, code, derivative)
"""Commands that a request may have too; no list shows `derivative`, which stands for one of the others."""

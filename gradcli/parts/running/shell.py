"""The command `run`: its help, its options, and the backward passes of a script as they are answered.

Annotations of options are objects here, and no texts, as they are read at run time.
"""

import os
import re
import sys
from typing import Annotated

from typer import Argument, Option

from gradcli.cli.commands import require_none
from gradcli.cli.console import remark
from gradcli.cli.options import (
    Budget,
    Color,
    Digits,
    ExitZero,
    Fact,
    Format,
    Full,
    Json,
    NoCheck,
    OptionKind,
    Quiet,
    RequireAll,
    Strict,
    Wrt,
)
from gradcli.cli.output import Stream, resolved_options
from gradcli.errors import InputError, MissingPassError, UsageError

Words = Annotated[
    list[str] | None,
    Argument(
        metavar="[SCRIPT] [-- ARGS...]",
        show_default=False,
        help="A file of Python, or - for standard input; what follows -- are its arguments.",
    ),
]
Only = Annotated[int | None, Option("--pass", metavar="N", min=1, max=1_000_000_000, help="Show only the Nth pass.")]
Text = Annotated[
    str | None,
    Option("--command", "-c", metavar="TEXT", help="The text of the script, in place of a file."),
    Fact(OptionKind.TEXT),
]


def run(
    words: Words = None,
    wrt: Wrt = None,
    format: Format = "table",  # noqa: A002
    full: Full = False,
    json: Json = False,
    color: Color = "auto",
    digits: Digits = None,
    quiet: Quiet = False,
    budget: Budget = None,
    check: NoCheck = False,
    strict: Strict = False,
    require_all: RequireAll = False,
    exit_zero: ExitZero = False,
    only: Only = None,
    command: Text = None,
) -> Stream:
    """A script of PyTorch, run, and each of its backward passes.

    The script is run as python runs it; its output is on stderr, its errors are its own. Each y.backward() and
    torch.autograd.grad() is answered as it happens: a line says which v, by which leaves, how large the gradient is,
    and whether it is right, and another one where NaN or infinity begins. The first pass that is not right, or the only
    one, follows with its numbers and formula; --pass shows another, --full all. Of an autograd.Function the numbers are
    those of its backward, and the truth is the derivative of its forward. 100 passes are judged; in later ones NaN,
    infinity and gradients of 0 are looked for. A call with create_graph=True is no pass of its own where another pass
    goes back through it. At the end, parameters that were never trained, those whose .grad
    nothing clears, and data and weights that hold NaN are named.

    \b
    Examples:
      gradcli run train.py
      gradcli run train.py --strict --json -- --epochs 1
      gradcli run -c "import torch; x = torch.tensor(3., requires_grad=True); (x**2).backward()"
    """
    is_checked = not check  # the switch is --no-check
    demands = {"strict": strict, "require_all": require_all}
    if not is_checked:
        require_none(demands, "and --no-check exclude each other")
    shown = resolved_options(
        {"format": format, "full": full, "json": json, "color": color, "digits": digits, "quiet": quiet}
    )
    names = [name.strip() for name in (wrt or "").split(",") if name.strip()]

    def answer() -> int:
        given_script = _script([*(words or ())], command)
        from gradcli.parts.running.pass_printer import PassPrinter
        from gradcli.parts.running.script_process import answer_passes
        from gradcli.parts.running.script_texts import user_script
        from gradcli.parts.running.scripts import MOST_PASSES, ScriptRecorder
        from gradcli.parts.running.targets import away_from_output

        script = user_script(*given_script)
        for said in () if shown.is_quiet else script.remarks:
            remark(f"note: {said}\n")
        with away_from_output() as stdout:
            printer = PassPrinter(shown, {**demands, "exit_zero": exit_zero}, only, stdout)
            recorder = ScriptRecorder(printer, check=is_checked, seconds=budget, wrt=names, only=only)
            ended = answer_passes(script, recorder)
        printer.end(recorder.watch.summary())
        if ended is not None:
            code = ended or printer.code
        elif not printer.count:
            raise MissingPassError(f"{script.name} makes no backward pass", hint=f"name a function of a file: {_NAMED}")
        elif only is not None and only > printer.count:
            hint = "a call with create_graph=True is a part of the pass that goes back through it" * bool(
                recorder.watch.inner
            )
            raise InputError(f"there is no pass {only}: {script.name} makes {printer.count}", hint=hint or None)
        else:
            code = printer.code
        if only is None and printer.count > MOST_PASSES and not shown.is_quiet:
            later = "in the others, NaN, infinity and gradients of 0 are looked for"
            remark(f"note: judged {MOST_PASSES} of {printer.count} passes; {later}, and --pass N judges one\n")
        return code

    return answer


_PYTHON = re.compile(r"python[\d.]*")

_NAMED = "gradcli vjp FILE.py::NAME --at VALUE"


def _script(words: list[str], text: str | None) -> tuple[str, list[str], str | None]:
    """Find the script to run: its name, its arguments, and its text if it is no file.

    Raises:
        GradcliError: No script is named, or there is no such file.
    """
    if words and text is None and _PYTHON.fullmatch(words[0]) and not os.path.exists(words[0]):
        words = words[1:]  # `python train.py`, as the shell has it
    if text is None and not words:
        raise UsageError("there is no script", hint="name a file, - for standard input, or give a text by -c")
    name, *arguments = words if text is None else ["-c", *words]
    if name == "-":
        text = sys.stdin.read() if sys.stdin is not None else ""
    elif text is None and not os.path.exists(name):
        raise InputError(f"there is no file {name}")
    return name, arguments, text

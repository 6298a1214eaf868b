"""The command run: a script of PyTorch, and each of its backward passes."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradcli.cli.commands import require_none
from gradcli.cli.console import complain, remark, screen, send
from gradcli.cli.output import OutputOptions, Stream, manner, output, write
from gradcli.cli.parameters import argument
from gradcli.errors import GradcliError, InputError, UsageError

if TYPE_CHECKING:
    from gradcli.results import Pass

WORDS = argument(
    "words",
    metavar="[SCRIPT] [-- ARGS...]",
    nargs=-1,
    help="A file of Python, or - for standard input; what follows -- are its arguments.",
)


def run(words: Sequence[str], **given: Any) -> Stream:
    """A script of PyTorch, run, and each of its backward passes.

    The script is run as python runs it; its output is on stderr, its errors are its own. Each y.backward() and
    torch.autograd.grad() is answered as it happens: a line says which v, by which leaves, how large the gradient is,
    and whether it is right, and another one where NaN or infinity begins. The first pass that is not right, or the only
    one, follows with its numbers and formula; --pass shows another, --full all. Of an autograd.Function the numbers are
    those of its backward, and the truth is the derivative of its forward. Up to 100 passes are answered.

    \b
    Examples:
      gradcli run train.py
      gradcli run train.py --strict --json -- --epochs 1
      gradcli run -c "import torch; x = torch.tensor(3., requires_grad=True); (x**2).backward()"
    """
    is_checked = not given["check"]  # the switch is --no-check
    demands = {name: bool(given[name]) for name in ("strict", "require_all")}
    if not is_checked:
        require_none(demands, "and --no-check exclude each other")
    shown = manner(given)
    wrt = [name.strip() for name in (given["wrt"] or "").split(",") if name.strip()]

    def answer() -> int:
        given_script = _script([*words], given["command"])
        from gradcli.running.scripts import MOST_PASSES, Script, answer_passes, own_traceback
        from gradcli.running.targets import away_from_output

        script = Script(*given_script)
        with away_from_output() as stdout:
            printer = PassPrinter(shown, demands, given["only"], stdout)
            ended = answer_passes(script, printer, check=is_checked, seconds=given["budget"], wrt=wrt)
        printer.end()
        code = printer.code
        if isinstance(ended, SystemExit):
            if isinstance(ended.code, str):
                remark(f"{ended.code}\n")
            code = (ended.code if isinstance(ended.code, int) else int(ended.code is not None)) or code
        elif ended is not None:
            remark(own_traceback(ended))
            code = 1
        elif not printer.count:
            raise InputError(f"{script.name} makes no backward pass", hint=f"name a function of a file: {_NAMED}")
        elif given["only"] is not None and given["only"] > printer.count:
            raise InputError(f"there is no pass {given['only']}: {script.name} makes {printer.count}")
        if printer.count == MOST_PASSES:
            remark(f"note: the first {MOST_PASSES} passes are answered\n")
        return code

    return answer


_NAMED = "gradcli vjp FILE.py::NAME --at VALUE"


def _script(words: list[str], text: str | None) -> tuple[str, list[str], str | None]:
    """Find what is to be run: a name, arguments, and the text if it is no file.

    Raises:
        GradcliError: There is nothing, or no such file.
    """
    if text is None and not words:
        raise UsageError("there is no script", hint="name a file, - for standard input, or give a text by -c")
    name, *arguments = words if text is None else ["-c", *words]
    if name == "-":
        text = sys.stdin.read() if sys.stdin is not None else ""
    elif text is None and not os.path.exists(name):
        raise InputError(f"there is no file {name}")
    return name, arguments, text


class PassPrinter:
    """Print each pass when it is over: in tables a line, and at the end one pass in full."""

    def __init__(self, shown: OutputOptions, demands: dict[str, bool], only: int | None, stdout: Any) -> None:
        self.shown, self.demands, self.only, self.stdout = shown, demands, only, stdout
        self.count = self.code = 0
        self._process = os.getpid()  # a child that the script forks shows nothing
        self._first: Pass | None = None
        self._first_wrong: Pass | None = None
        self._failed: OSError | GradcliError | None = None

    def __call__(self, one: Pass) -> None:
        """Print a pass that is asked for."""
        self.count += 1
        if self._failed is not None or self.only not in (None, one.number):
            return
        try:
            with contextlib.redirect_stdout(self.stdout):
                self._show(one)
                if self.stdout is not None:
                    self.stdout.flush()
        except (OSError, GradcliError) as error:  # is raised at the end: the script goes on
            self._failed = error

    def _show(self, one: Pass) -> None:
        if self.shown.form != "table" or self.only is not None:
            self._show_in_full(one)
            return
        from gradcli.report import pass_line

        send([pass_line(one, screen(self.shown.color))])
        if one.refusal is not None:
            self.code = max(self.code, getattr(one.refusal, "exit_code", 2))
        elif one.answer is not None:
            passed = output(one.answer, self.shown, **self.demands).passed
            self.code = max(self.code, int(not passed))
            self._first = self._first or one
            self._first_wrong = self._first_wrong or (one if one.is_wrong else None)

    def _show_in_full(self, one: Pass) -> None:
        if one.answer is not None:
            self.code = max(self.code, write(output(one.answer, self.shown, **self.demands)))
        elif isinstance(one.refusal, GradcliError):
            complain(one.refusal, self.shown.color)
            self.code = max(self.code, one.refusal.exit_code)

    def end(self) -> None:
        """Print the first pass that is not right, or the only one, in full.

        Raises:
            OSError: Writing a pass failed.
            OutputError: There is no standard output.
        """
        if self._failed is not None:
            raise self._failed
        one = self._first_wrong or (self._first if self.count == 1 else None)
        if one is not None and self._process == os.getpid():
            send(["\n"])
            self._show_in_full(one)

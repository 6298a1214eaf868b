"""The passes of a script as they end: a line each, and at the end one of them in full."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from gradcli.cli.console import complain, in_signs_of, remark, screen, send
from gradcli.cli.output import NOT_PASSED, OutputOptions, output, write
from gradcli.errors import GradcliError
from gradcli.recording.aten_calls import Argument

if TYPE_CHECKING:
    from gradcli.results import Pass


class PassPrinter:
    """Printer of passes as they end: in tables a line for each, and at the end one pass in full."""

    def __init__(self, shown: OutputOptions, demands: dict[str, bool], only: int | None, stdout: Argument) -> None:
        self.shown, self.demands, self.only, self.stdout = shown, demands, only, stdout
        self.count = self.code = 0
        self._process = os.getpid()  # a child that the script forks shows nothing
        self._first: Pass | None = None
        self._first_wrong: Pass | None = None
        self._failed: OSError | GradcliError | None = None

    def __call__(self, one: Pass) -> None:
        """Count a pass, and print it if it is asked for."""
        self.count += 1
        if self._failed is not None or self.only not in (None, one.number) or not (one.is_judged or one.noticed):
            return
        try:
            with contextlib.redirect_stdout(self.stdout):
                self._show(one)
                if self.stdout is not None:
                    self.stdout.flush()
        except (OSError, GradcliError) as error:  # raised at the end, so that the script goes on
            self._failed = error

    def _show(self, one: Pass) -> None:
        is_strict = self.demands["strict"] and not self.demands["exit_zero"]
        if is_strict and any("NaN" in said or "infinit" in said for said in one.noticed):
            self.code = max(self.code, NOT_PASSED)
        if not one.is_judged and self.shown.form != "table":
            self._warn([f"pass {one.number} ({one.where}), not judged: {'; '.join(one.noticed)}"])
            return
        if self.shown.form != "table" or self.only is not None:
            self._show_in_full(one)
            return
        from gradcli.parts.running.pass_line import pass_line

        send([pass_line(one, screen(self.shown.color))])
        if one.refusal is not None:
            self._count_refusal(one)
        elif one.answers:
            passed = all(output(answer, self.shown, **self.demands).passed for answer in one.answers)
            self.code = max(self.code, int(not passed))
            self._first = self._first or one
            self._first_wrong = self._first_wrong or (one if one.is_wrong else None)

    def _show_in_full(self, one: Pass) -> None:
        for answer in one.answers:
            self.code = max(self.code, write(output(answer, self.shown, **self.demands)))
        if isinstance(one.refusal, GradcliError):
            complain(one.refusal, self.shown.color)
            self._count_refusal(one)

    def _count_refusal(self, one: Pass) -> None:
        if not one.is_excused:
            self.code = max(self.code, getattr(one.refusal, "exit_code", 2))

    def _warn(self, lines: Iterable[str]) -> None:
        for said in () if self.shown.is_quiet else lines:
            remark(in_signs_of(f"warning: {said}\n", sys.stderr), self.shown.color)

    def end(self, summary: Iterable[str]) -> None:
        """Print what is said of all passes, and the first pass that is not right, or the only one, in full.

        Args:
            summary: Lines on the whole script.

        Raises:
            OSError: Writing a pass failed.
            OutputError: There is no standard output.
        """
        if self._failed is not None:
            raise self._failed
        if self._process != os.getpid():
            return
        if self.shown.form == "table" and self.only is None and (lines := [f"{said}\n" for said in summary]):
            send([in_signs_of("".join(lines), sys.stdout)])
        else:
            self._warn(summary)
        one = self._first_wrong or (self._first if self.count == 1 else None)
        if one is not None:
            send(["\n"])
            self._show_in_full(one)

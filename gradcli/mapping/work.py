"""A function with its options and its output format, as it is sent to a worker; and its application to rows."""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gradcli
from gradcli.files.rows import Cut, Joined, within
from gradcli.files.sinks import Layout, open_sink
from gradcli.results.record import Record
from gradcli.running.targets import target

if TYPE_CHECKING:
    from gradcli.function import Function
    from gradcli.questions.streaming import Stream, Tally


class Work(Record):
    """A function over rows.

    Attributes:
        expression: The text of the function, or the name of one of Python.
        code: The text of the Python file, if the function is in one.
        asked: The arguments of `Function.stream`.
        keep: Whether to write the columns of the input first.
        form: The format that is written.
    """

    expression: str
    code: str | None
    asked: Mapping[str, Any]
    keep: bool
    form: str

    @classmethod
    def from_question(cls, expression: str, asked: Mapping[str, Any], *, keep: bool, form: str) -> Work:
        """Collect the work of a command line, with the text of the Python file that the expression names."""
        named = target(expression)
        code = Path(named.file).read_text(encoding="utf-8") if named is not None and named.file else None
        return cls(expression, code, asked, keep, form)


@functools.lru_cache(4)
def function_of(expression: str, code: str | None) -> Function:
    """Build the function of some work, in a worker that has not read the command line.

    Raises:
        GradcliError: As for `Function`, or as running the file raises.
    """
    named = target(expression)
    if named is None:
        from gradcli.function import Function

        return Function(expression)
    from gradcli.running.python_functions import named as function_named

    if code is None:
        return function_named(named)
    folder = tempfile.mkdtemp(prefix="gradcli-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = os.path.join(folder, os.path.basename(named.file))
    Path(path).write_text(code, encoding="utf-8")
    moved = target(f"{path}::{named.name}")
    assert moved is not None  # noqa: S101 (it is a path and a name)
    return function_named(moved)


def apply(
    work: Work,
    function: Function,
    rows: Joined,
    output: str,
    cut: Cut = Cut(),  # noqa: B008 (it is immutable)
    advance: Callable[[Tally], None] = lambda tally: None,
) -> Stream:
    """Write y and its derivatives of some rows to a file, which has its name when all are written.

    Args:
        work: What to do.
        function: Its function.
        rows: The table.
        output: The file, or `-`.
        cut: Which of the rows.
        advance: Called after each block.

    Raises:
        GradcliError: As for `Function.stream`; a column to keep is called as one of the output.
        OSError: The output cannot be written.
    """
    stream: Stream = function.stream(rows.source, **work.asked)
    plan, source = stream.plan, rows.source
    plan.require_free(list(source.columns) if work.keep else [])
    about = {"expression": work.expression, "version": gradcli.__version__}
    of_plan = (plan.columns, plan.quantities, plan.question.dtype)
    layout = Layout(source, work.keep, *of_plan, cut.has_names, about)
    with open_sink(output, work.form, layout) as sink:
        blocks = within(rows.blocks(plan.columns, keep=work.keep, most=stream.rows, first=cut.first), cut)
        with contextlib.closing(stream.over(blocks)) as parts:
            for part in parts:
                sink.write(part)
                advance(stream.tally)
    return stream

"""A function over rows: all of them into a file, or cut into pieces and into a folder of parts, here or on Dask.

A function with its options and its output format is `Work`, which is sent to workers as it is.
Dask runs a task again when its worker is lost.  The name of a part follows from its piece, so that a second run of a
task writes the same file.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import importlib.metadata
import logging
import os
import platform
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import gradcli
from gradcli.errors import GradcliError, InputError, OutputError
from gradcli.files import Files
from gradcli.files.decoding import Start
from gradcli.function import Function
from gradcli.parts import is_listed
from gradcli.parts.tables.folder import MANIFEST, Folder, FolderPart, input_facts
from gradcli.parts.tables.rows import Cut, Joined, PointSource, clip_to_rows
from gradcli.parts.tables.sinks import Layout, open_sink
from gradcli.results import RowSource
from gradcli.results.record import Record

if TYPE_CHECKING:
    from gradcli.parts.tables.streaming import Stream
    from gradcli.parts.tables.tally import Tally
    from gradcli.parts.typed_function import TypedFunction

_RETRIES = 2
"""Times that Dask tries a failed task again, on another worker if there is one."""

_ONE_AT_A_TIME = threading.Lock()
"""Serialises the pieces of a worker that has several threads: each piece computes on all of its cores."""

_PATIENCE = 10
"""Seconds that a scheduler has to answer, and its first worker to come."""

_PACKAGES = ("gradcli", "torch", "numpy", "pyarrow")

_FILE = 2**36
"""Between the numbers of the first rows of two files: more rows than a file has."""


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
    def from_question(cls, expression: str, asked: Mapping[str, object], *, keep: bool, form: str) -> Work:
        """Collect the work of a command line, with the text of the Python file that the expression names."""
        code = None
        if is_listed("running"):
            from gradcli.parts.running import file_text

            code = file_text(expression)
        return cls(expression, code, asked, keep, form)


@functools.lru_cache(4)
def function_of(expression: str, code: str | None) -> TypedFunction:
    """Build the function of some work, in a worker that has not read the command line.

    Raises:
        GradcliError: As for `Function`, or as running the file raises.
    """
    found = None
    if is_listed("running"):
        from gradcli.parts.running import function_with_code

        found = function_with_code(expression, code)
    return cast("TypedFunction", found or Function(expression))


def write_derivatives(
    work: Work,
    function: TypedFunction,
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
    of_plan = (plan.columns, plan.quantities, plan.bound.dtype)
    layout = Layout(source, work.keep, *of_plan, cut.has_names, about)
    with open_sink(output, work.form, layout) as sink:
        blocks = clip_to_rows(rows.blocks(plan.columns, keep=work.keep, most=stream.rows, first=cut.first), cut)
        with contextlib.closing(stream.over(blocks)) as parts:
            for part in parts:
                sink.write(part)
                advance(stream.tally)
    return stream


class RowRange(Record):
    """Some rows of one file.

    Attributes:
        points: The file.
        first: The first row in it, from 1.
        last: The last one; None for all that follow.
        start: Where the first begins, in a text.
    """

    points: PointSource
    first: int = 1
    last: int | None = None
    start: Start | None = None


def pieces_of(points: PointSource, source: RowSource) -> Iterator[RowRange]:
    """Cut the rows of files: at row groups, at rows of arrays, at lines of text.

    Args:
        points: The files.
        source: The columns of all of them.

    Raises:
        GradcliError: A file cannot be read.
    """
    for place, file in enumerate(points.files):
        one = replace(points, files=(file,), source=source, before=place * _FILE)
        with one.opened(file, Files()) as rows:
            before, start = 0, None
            for end in rows.starts():
                if end.rows > before:
                    yield RowRange(one, before + 1, end.rows, start)
                before, start = end.rows, end
            if not before:
                yield RowRange(one)


def into_folder(
    work: Work,
    points: PointSource,
    path: str,
    function: TypedFunction,
    folder: str,
    *,
    scheduler: str | None = None,
    resume: bool = False,
    advance: Callable[[Tally, float], None] = lambda tally, share: None,
    remark: Callable[[str], None] = lambda said: None,
) -> Stream:
    """Write a part for each piece of the rows, and the manifest.

    Args:
        work: What to do with them.
        points: The files.
        path: What messages call these.
        function: The function of the work.
        folder: Where the parts go.
        scheduler: The address of a scheduler of Dask, whose workers compute; by default this process does.
        resume: Whether to go on with those that are there.
        advance: Called after each part with what has gone by, and the share of parts that are whole.
        remark: Called with a line about each worker that has other versions.

    Returns:
        The stream that all rows have gone through.

    Raises:
        GradcliError: As for `write_derivatives`; the folder is not empty, or is of another run; there are no workers.
        OutputError: Parts could not be written.
    """
    points.require_files("not cut into parts")
    if scheduler:  # whose workers have folders of their own
        points = replace(points, files=tuple(map(os.path.abspath, points.files)))
    with points.rows(path, Files()) as rows:
        source = rows.source
    stream: Stream = function.stream(source, **work.asked)
    stream.plan.require_free(list(source.columns) if work.keep else [])
    with ExitStack() as stack:
        client, versions = None, {"here": _versions()}
        if scheduler:
            client, versions = stack.enter_context(_workers(scheduler))
            _compare(versions, remark)
        try:
            place = Folder(folder, _plan(work, points), resume=resume)
        except OSError as error:
            message = f"all parts of '{folder}' are missing: {MANIFEST} could not be written: {_reason(error)}"
            raise OutputError(message, hint=AGAIN) from None
        pieces = [(one, f"part-{n:05}.{work.form}") for n, one in enumerate(pieces_of(points, source))]
        parts: list[FolderPart] = []
        tally = stream.tally
        if tally.sample and place.sample:
            tally.sample.join(place.sample)
        for part in _on(client, work, pieces, place) if client else _here(work, pieces, place, function):
            parts.append(part)
            tally.add(part.tally)
            advance(tally, len(parts) / len(pieces))
        counts = {"read": tally.read, "written": tally.written, "faulty": tally.faulty}
        facts = {"rows": counts, "first_fault": tally.first or None, "workers": versions}
        try:
            place.finish(parts, facts, stream.passage().check, tally.sample)
        except OSError as error:
            message = f"{MANIFEST} of '{folder}' could not be written, and all parts are whole: {_reason(error)}"
            raise OutputError(message, hint="the same command with --resume writes it") from None
    return stream


def _plan(work: Work, points: PointSource) -> dict[str, Any]:
    """Describe the run: the expression, the options and the inputs, which `--resume` compares."""
    code = work.code and hashlib.sha256(work.code.encode()).hexdigest()
    options = {**work.asked, "keep": work.keep, "form": work.form, "columns": list(points.columns)}
    inputs = [input_facts(file) for file in points.files]
    return {"version": gradcli.__version__, "expression": work.expression, "code": code, **options, "inputs": inputs}


def write_part(
    work: Work, piece: RowRange, name: str, folder: str, function: TypedFunction | None = None
) -> FolderPart:
    """Write the part of a piece.

    Raises:
        GradcliError: As for `write_derivatives`.
        OSError: It cannot be written.
    """
    (file,), path, before = piece.points.files, os.path.join(folder, name), piece.points.before
    cut = Cut(before + piece.first, None if piece.last is None else before + piece.last)
    with piece.points.rows(file, Files()) as rows:
        if piece.start is not None:
            rows.seek(piece.start)
        stream = write_derivatives(work, function or function_of(work.expression, work.code), rows, path, cut)
    return FolderPart.from_rows(path, file, (piece.first, piece.last), stream.tally)


_Pieces = Sequence[tuple[RowRange, str]]
"""Each with the name of its part."""

AGAIN = "the same command with --resume writes them, once there is room"
"""Hint where parts are missing."""


def _here(work: Work, pieces: _Pieces, folder: Folder, function: TypedFunction) -> Iterator[FolderPart]:
    """Write the missing parts in this process, and give all in order.

    Raises:
        GradcliError: As for `write_part`.
        OutputError: A part could not be written; those after it are missing too.
    """
    for n, (piece, name) in enumerate(pieces):
        try:
            part = folder.done.get(name) or write_part(work, piece, name, folder.path, function)
        except OSError as error:
            missing = [name, *(other for _, other in pieces[n + 1 :] if other not in folder.done)]
            raise _missing(folder, missing, len(pieces), _reason(error)) from None
        yield part


def _missing(folder: Folder, names: Sequence[str], count: int, reason: str) -> OutputError:
    """Make the error for parts that are missing, the first of which could not be written for this reason."""
    are = "part is" if count == 1 else "parts are"
    message = f"{len(names):,} of {count:,} {are} missing in '{folder.path}': {names[0]} could not be written: {reason}"
    return OutputError(message, hint=AGAIN)


def _reason(error: BaseException) -> str:
    said = error.strerror if isinstance(error, OSError) else None
    return " ".join((said or str(error)).split()) or type(error).__name__


# -- on Dask


def _task(work: Work, piece: RowRange, name: str, folder: str) -> FolderPart | GradcliError:
    """Write a part on a worker; return an error of the input, as raising it would have Dask try again."""
    with _ONE_AT_A_TIME:
        try:
            return write_part(work, piece, name, folder)
        except OutputError:
            raise
        except GradcliError as error:
            return error


def _versions() -> dict[str, str]:
    """Look up the versions of Python and of the packages that compute."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def _compare(versions: Mapping[str, Mapping[str, str]], remark: Callable[[str], None]) -> None:
    """Report the workers whose versions differ from those here."""
    for address, there in versions.items():
        others = [f"{name} {there.get(name, 'none')}, here {own}" for name, own in _versions().items()
                  if there.get(name) != own]  # fmt: skip
        if others:
            remark(f"the worker {address} has {'; '.join(others)}\n")


@contextlib.contextmanager
def _workers(scheduler: str) -> Iterator[tuple[object, dict[str, dict[str, str]]]]:
    """Connect to a scheduler; give the client, and the versions of each worker.

    Raises:
        InputError: Dask is not installed, nothing answers, or the workers have no gradcli.
    """
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        hint = "pip install 'gradcli[dask]'"
        raise InputError("--scheduler needs Dask, which is not here", hint=hint) from None
    with ExitStack() as stack:
        logging.disable(logging.CRITICAL)  # Dask tells of a lost worker, as our errors do
        stack.callback(logging.disable, logging.NOTSET)
        try:
            client = stack.enter_context(distributed.Client(scheduler, timeout=_PATIENCE))
            client.wait_for_workers(1, timeout=_PATIENCE)
            versions = client.run(_versions)
        except (OSError, TimeoutError, ValueError) as error:
            said = " ".join(str(error).split()) or "it has no workers"
            message = f"the scheduler {scheduler} does not serve: {said}"
            raise InputError(message, hint="start dask scheduler and dask worker, and give its address") from None
        except ImportError as error:
            message = f"a worker of {scheduler} cannot run gradcli: {error}"
            raise InputError(message, hint="pip install 'gradcli[dask,parquet]' where the workers are") from None
        yield client, versions


def _on(client: Any, work: Work, pieces: _Pieces, folder: Folder) -> Iterator[FolderPart]:
    """Have the missing parts written, and give all in order.

    Raises:
        InputError: A row is at fault, the first of all.
        OutputError: Some could not be written.
    """
    place, lost = os.path.abspath(folder.path), dict[str, str]()
    killed = importlib.import_module("distributed").KilledWorker
    missing = [(piece, name) for piece, name in pieces if name not in folder.done]
    tasks = {
        name: client.submit(_task, work, piece, name, place, pure=False, retries=_RETRIES) for piece, name in missing
    }
    for _, name in pieces:
        try:
            outcome = folder.done.get(name) or tasks.pop(name).result()
        except (OSError, MemoryError, CancelledError, killed) as error:  # whatever ended a task, the others go on
            lost[name] = _reason(error)
            continue
        if isinstance(outcome, GradcliError):
            client.cancel(list(tasks.values()))
            raise outcome
        yield outcome
    if lost:
        raise _missing(folder, list(lost), len(pieces), next(iter(lost.values())))

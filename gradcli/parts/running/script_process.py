"""Script run as Python runs it: as the main module, with its own errors, exits, interrupts, hooks and warnings."""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import ast
import contextlib
import importlib.abc
import linecache
import os
import re
import runpy
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures.thread import _threads_queues
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec
from importlib.util import decode_source, module_from_spec
from pathlib import Path
from pkgutil import resolve_name
from types import CodeType, ModuleType, TracebackType
from typing import Any, TextIO

from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.parts.running.checkpoints import without_reentrance
from gradcli.recording.aten_calls import Argument
from gradcli.recording.user_files import is_of_user

_PACKAGE = str(Path(__file__).parents[2])

RUNNING = (_PACKAGE, torch.overrides.__file__, torch_internals.DISPATCH_FILE)
"""Prefixes of the files whose frames run and record a script."""

_LOADING = ("<frozen ", importlib.abc.__file__)
"""Prefixes of the files whose first frames load the main module."""

INTERRUPTED = 130
"""Exit code of a script that an interrupt ended: 128 + SIGINT."""


@dataclass(frozen=True)
class UserScript:
    """Script in the form in which Python is given it.

    Attributes:
        name: The path of the file; `-c` or `-` of a text.
        arguments: Arguments of its command line.
        text: Its text; None for that of the file.
        code: What is run in place of the text or the file; None where Python can run that as it stands.
        imports: The whole names of what it lacks an import of, by the names that it has for them.
        remarks: What is done with it before it is run, in words.
        cells: The code of each cell of a notebook that is run as it stands; its text is these, joined.
    """

    name: str
    arguments: Sequence[str] = ()
    text: str | None = None
    code: str | None = None
    imports: Mapping[str, str] = field(default_factory=dict)
    remarks: Sequence[str] = ()
    cells: Sequence[str] = ()

    def run(self) -> None:
        """Run it as the main module, with its own command line and import path."""
        before, folder, main = sys.argv, sys.path[0], sys.modules["__main__"]
        sys.argv = [self.name, *self.arguments]
        path = os.path.abspath(self.name) if self.text is None else self.name
        sys.path[0] = "" if self.text is not None else str(Path(path).resolve().parent)
        try:
            if os.path.isdir(path) or path.endswith((".zip", ".pyz", ".pyc")):
                runpy.run_path(path, run_name="__main__")
                return
            linecache.cache.pop(path, None)  # of another text of this name
            written = Path(path).read_bytes() if self.text is None else self.text
            loader = _MainLoader(path, written if self.code is None else self.code)
            module = module_from_spec(ModuleSpec("__main__", loader))
            module.__spec__ = None
            if self.text is None:
                module.__file__ = path
            sys.modules["__main__"] = module
            module.__dict__.update((name, resolve_name(whole)) for name, whole in self.imports.items())
            if self.cells:
                _run_in(module, path, self.cells)
            else:
                loader.exec_module(module)
        finally:
            sys.argv, sys.path[0], sys.modules["__main__"] = before, folder, main


def run_cells(name: str, path: str, cells: Sequence[str]) -> ModuleType:
    """Run the cells of a notebook, in order, as a module of this name."""
    module = module_from_spec(ModuleSpec(name, _MainLoader(path, "\n".join(cells))))
    module.__file__ = path
    _run_in(module, path, cells)
    return module


def _run_in(module: ModuleType, path: str, cells: Sequence[str]) -> None:
    """Run cells one after the other in a module, each as a file of its own: `train.ipynb, cell 2`."""
    futures: list[ast.stmt] = []
    for number, cell in enumerate(cells, start=1):
        loader = _CellLoader(f"{path}, cell {number}", cell, futures)
        linecache.cache[loader.path] = len(cell), None, [f"{line}\n" for line in cell.split("\n")], loader.path
        loader.exec_module(module)


class _MainLoader(importlib.abc.InspectLoader):
    """Loader of the main module, whose lines tracebacks then show."""

    def __init__(self, path: str, source: bytes | str) -> None:
        self.path, self.source = path, source

    def get_source(self, fullname: str) -> str:
        """Return the text, which tracebacks quote."""
        return self.source if isinstance(self.source, str) else decode_source(self.source)

    def get_code(self, fullname: str) -> CodeType:
        """Compile the text."""
        return self.source_to_code(self.source, self.path)


class _CellLoader(_MainLoader):
    """Loader of a cell of a notebook, with what the cells before it import from `__future__`, as Jupyter has it."""

    def __init__(self, path: str, source: str, futures: list[ast.stmt]) -> None:
        super().__init__(path, source)
        self.futures = futures

    def get_code(self, fullname: str) -> CodeType:
        """Compile the text."""
        tree = ast.parse(self.source, self.path)
        own = [one for one in tree.body if isinstance(one, ast.ImportFrom) and one.module == "__future__"]
        tree.body[:0] = self.futures
        self.futures += own
        return self.source_to_code(tree, self.path)


def answer_passes(script: UserScript, recorder: contextlib.AbstractContextManager[Any]) -> int | None:
    """Run a script as Python does, while a recorder answers its backward passes as they happen.

    Returns:
        The exit code of an error, an interrupt or a `sys.exit` that ended it early; None if it came to its end.
    """
    others = {threading.main_thread(), *threading.enumerate()}
    with torch.enable_grad(), _as_in_python(), without_reentrance():
        try:
            with recorder:
                script.run()
            code: int | None = None
        except BaseException as error:
            code = _end_of(error)
        for thread in set(threading.enumerate()) - others:
            # Workers of a pool wait for more until Python ends.
            if not thread.daemon and thread not in _threads_queues:
                thread.join()
    return code


# -- errors and exits


def _end_of(error: BaseException) -> int:
    """Tell of what ended a script as Python does, and give the exit code."""
    if isinstance(error, SystemExit):
        if error.code is None or isinstance(error.code, int):
            return error.code or 0
        _print_error(f"{error.code}\n")
        return 1
    _without_frames_of_recording(error)
    try:
        if sys.excepthook is sys.__excepthook__:
            _print_error("".join(traceback.format_exception(error)))  # with the lines of a text too
        else:
            sys.excepthook(type(error), error, error.__traceback__)
    except Exception as other:
        other.__context__ = None
        _without_frames_of_recording(other)
        _print_error("Error in sys.excepthook:\n")
        sys.__excepthook__(type(other), other, other.__traceback__)
        _print_error("\nOriginal exception was:\n")
        sys.__excepthook__(type(error), error, error.__traceback__)
    return INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1


def _print_error(text: str) -> None:
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            sys.stderr.write(text)
            sys.stderr.flush()


def _without_frames_of_recording(error: BaseException) -> None:
    """Leave in the traceback of an error, and of those that led to it, only what Python would show."""
    waiting, known = [error], set[int]()
    while waiting:
        one = waiting.pop()
        if id(one) in known:
            continue
        known.add(id(one))
        one.__traceback__ = _frames_of_script(one.__traceback__, is_first=one is error)
        waiting += [other for other in (one.__cause__, one.__context__) if other is not None]
        waiting += one.exceptions if isinstance(one, BaseExceptionGroup) else ()


def _frames_of_script(trace: TracebackType | None, *, is_first: bool) -> TracebackType | None:
    frames: list[TracebackType] = []
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        is_start = is_first and not frames and file.startswith(_LOADING)
        if not (is_start or file.startswith(RUNNING)):
            frames.append(trace)
        trace = trace.tb_next
    found = None
    for one in reversed(frames):
        found = TracebackType(found, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return found


# -- what Python and torch have otherwise than gradcli does


@contextlib.contextmanager
def _as_in_python() -> Iterator[None]:
    """Run a block with the hooks and the interrupts that a script finds, and without compiling."""
    with contextlib.ExitStack() as after:
        after.callback(setattr, sys, "excepthook", sys.excepthook)
        sys.excepthook = sys.__excepthook__
        after.callback(setattr, warnings, "showwarning", warnings.showwarning)
        warnings.showwarning = _WarningsOfScript(warnings.showwarning)
        if threading.current_thread() is threading.main_thread() and callable(signal.getsignal(signal.SIGINT)):
            after.callback(signal.signal, signal.SIGINT, signal.getsignal(signal.SIGINT))
            signal.signal(signal.SIGINT, signal.default_int_handler)
        after.enter_context(_uncompiled())
        yield


@contextlib.contextmanager
def _uncompiled() -> Iterator[None]:
    """Run functions that `torch.compile` takes within a block as they are written, as compiled code cannot be seen.

    The compiler is not imported before the block asks for it, as that takes a second.
    """
    compiled = torch.compile
    with contextlib.ExitStack() as after:

        def compile_nothing(*args: Argument, **kwargs: Argument) -> Argument:
            found = compiled(*args, **kwargs)
            after.enter_context(torch.compiler.set_stance("force_eager"))
            return found

        after.callback(setattr, torch, "compile", compiled)
        torch.compile = compile_nothing
        yield


_ANOMALY = "Traceback of forward call that caused the error"
"""Words of torch's anomaly mode before the stack of the call whose derivative is NaN."""

_FRAME = re.compile(r'  File "(?P<file>[^"\n]*)", line \d+, in [^\n]*\n(?:    [^\n]*\n)*')
"""A frame of a stack that is written out."""


def _without_own_frames(said: str) -> str:
    """Leave in a stack that is written out only what Python would show: not what starts, runs and records a script."""
    frames = [*_FRAME.finditer(said)]
    starting = next((n for n, one in enumerate(frames) if one["file"].startswith(RUNNING)), 0)
    for n, one in reversed([*enumerate(frames)]):
        if n < starting or one["file"].startswith((*RUNNING, "<frozen ")):
            said = said[: one.start()] + said[one.end() :]
    return said


class _WarningsOfScript:
    """Function that shows warnings with the line of the script that they come from, each once a line.

    Python knows a warning by the innermost line, which would be one that records the script.
    """

    def __init__(self, show: Callable[..., None]) -> None:
        self.show = show
        self.known = set[tuple[str, type, str, int]]()

    def __call__(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        """Show a warning."""
        if filename.startswith(RUNNING):
            for frame, number in traceback.walk_stack(sys._getframe(1)):
                if filename == frame.f_code.co_filename:
                    frame.f_globals.pop("__warningregistry__", None)
                if is_of_user(frame.f_code.co_filename):
                    filename, lineno, line = frame.f_code.co_filename, number, None
                    break
        message = _without_own_frames(str(message)) if _ANOMALY in str(message) else message
        key = str(message), category, filename, lineno
        if key not in self.known or any(action == "always" for action, *_ in warnings.filters):
            self.known.add(key)
            self.show(message, category, filename, lineno, file, line)

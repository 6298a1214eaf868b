"""Names of functions of Python, and the file or the module of each, run as an import runs it.

Its output goes to standard error, and the working directory stays.  Code under `if __name__ == "__main__":` does not
run.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import inspect
import io
import os
import re
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from types import ModuleType
from typing import TYPE_CHECKING, TextIO

from gradcli import trial
from gradcli.complete_output import text_output
from gradcli.errors import GradcliError, InputError, did_you_mean, listed_names
from gradcli.language.text.signs import NAME
from gradcli.parts.running.script_texts import cells_of, is_notebook, joined
from gradcli.recording.user_files import is_of_user, line_of_file

if TYPE_CHECKING:
    from gradcli.recording.aten_calls import Argument

_PATH = rf"{NAME}(?:\.{NAME})*"
_TARGET = re.compile(rf"(?:(?P<file>[^\n]+\.(?:pyw?|ipynb))::|(?P<module>{_PATH}):)(?P<name>{_PATH})")


_CALL = re.compile(rf"(?P<file>[^\n]+?\.(?:pyw?|ipynb))::(?P<name>{_PATH})\s*\((?P<arguments>[^\n]*)\)")
"""Pattern of calls of what a file has."""


_FILE = re.compile(r"[\w./\\~-]*\w\.(?:pyw?|ipynb)")
"""Pattern of names of scripts."""


@dataclass(frozen=True, slots=True)
class Target:
    """Name of a function of Python.

    Attributes:
        text: The name as typed.
        file: The path of the file, if it is named by one.
        module: The name of the module, if by that.
        name: The name of the function in it, with attributes after dots.
    """

    text: str
    file: str
    module: str
    name: str

    def require_file(self) -> None:
        """Refuse a file that is not there.

        Raises:
            InputError: There is none.
        """
        if self.file and not os.path.isfile(self.file):
            is_folder = os.path.isdir(self.file)
            raise InputError(f"{self.file} is a folder" if is_folder else f"there is no file {self.file}")


def require_no_file(text: str) -> None:
    """Refuse the name of a file in the place of an expression, which a name with a dot would be, and a call in one.

    Raises:
        InputError: It is one; the hint names a function of it, if it is Python's, or how to read its text.
    """
    _require_no_call(text)
    path = text.strip()
    if _FILE.fullmatch(path) and not os.path.exists(path):
        raise InputError(f"there is no file {path}")
    if not (PurePath(path).suffix[1:2].isalpha() and os.path.isfile(path)):
        return
    if is_script(path):
        raise script_error(path)
    raise InputError(f"{path} is a file, not an expression", hint=_way_to_read(path))


def _way_to_read(path: str) -> str:
    """Say how the text of a file is read, if it is an expression."""
    from gradcli.function import Function

    with contextlib.suppress(OSError, UnicodeDecodeError, GradcliError, trial.ReadError), trial.trying():
        with open(path, encoding="utf-8") as file:
            text = file.read(10_000)
        if Function(text.strip()).variables:
            return f"write @{path} for the text in it"
    return "an expression is text, such as x**2; a script is FILE.py"


def is_script(text: str) -> bool:
    """Tell whether a text is the path of a script or a notebook."""
    path = text.strip()
    return path.endswith((".py", ".pyw", ".ipynb")) and "\n" not in path and os.path.isfile(path)


def script_error(path: str) -> InputError:
    """Make the error of a script in the place of an expression, with its functions or what runs it as the hint."""
    if names := _functions(path):
        hint = f"name one of them: gradcli check {path}::{names[0]} --at VALUE"
        return InputError(f"{path} is a script with the functions {listed_names(names)}", hint=hint)
    message = f"{path} is a script, which is run only where that is said"
    return InputError(message, hint=f"gradcli run {path} checks its backward passes")


def _functions(path: str) -> list[str]:
    """List the functions of a file, by its text."""
    return functions_of(_text_of(path))


def _text_of(path: str) -> str:
    """Read the text of a file of Python; empty where it cannot be read."""
    with contextlib.suppress(OSError, InputError):
        return joined(cells_of(path)) if is_notebook(path) else Path(path).read_text(encoding="utf-8", errors="replace")
    return ""


def instance_of(text: str) -> tuple[str, str] | None:
    """Find the instance that a call in the place of an expression makes, `model.py::Net(3)`, and the file.

    Returns:
        `Net(3)`, and `model.py`; None where the text is no call, or where it does not call a class of modules.
    """
    call = _CALL.fullmatch(text.strip())
    if call is None:
        return None
    found = re.search(rf"(?m)^class {call['name']}\b(?!\(.*\bFunction\))", _text_of(call["file"]))
    return found and (f"{call['name']}({call['arguments']})", call["file"])


def _require_no_call(text: str) -> None:
    """Refuse a call of what a file has in the place of an expression, `acts.py::Swish(beta=1.5)`.

    Raises:
        InputError: It is one; the hint names the instance in the file, or gives a function its arguments.
    """
    call = _CALL.fullmatch(text.strip())
    if call is None or not os.path.isfile(call["file"]):
        return
    file, name, arguments = call["file"], call["name"], call["arguments"]
    if instance_of(text) is not None:
        own = name.lower() if name.lower() != name else f"own_{name}"
        hint = f"write {own} = {name}({arguments}) in {file}, and ask for {file}::{own}"
        raise InputError(f"{name}({arguments}) makes an instance, which has no name to ask for", hint=hint)
    given = re.findall(rf"({_PATH})\s*=\s*([^,=()\[\]]+)(?:,|$)", arguments) or [("NAME", "VALUE")]
    values = " ".join(f"--at {one}={value.strip()}" for one, value in given)
    hint = f"ask for the function, and give its arguments as values: {file}::{name} {values}"
    raise InputError(f"{name}({arguments}) is a call, and no function", hint=hint)


def functions_of(text: str) -> list[str]:
    r"""List what the text of a file has to ask for: functions, autograd.Functions, and modules that it makes.

    >>> functions_of("class F(autograd.Function):\n ...\nclass N(nn.Module):\n ...\nnet = N()\ndef f(x): ...")
    ['F', 'net', 'f']
    """
    classes = re.findall(r"(?m)^class (\w+)", text)
    made = rf"(\w+)\s*(?::[^=\n]+)?=\s*(?:(?:torch\.)?nn\.(?=[A-Z])|(?:{'|'.join(classes) or '(?!)'})\()"
    found = re.finditer(rf"(?m)^(?:(?:async )?def (\w+)|class (\w+)\(.*\bFunction\)|{made})", text)
    return [one[1] or one[2] or one[3] for one in found]


def target(text: str) -> Target | None:
    """Find the function that a text names; None for any other text, which is an expression.

    >>> target("model.py::Net.loss").name, target("package.module:loss").module, target("x**2"), target("x[1:n]")
    ('Net.loss', 'package.module', None, None)
    """
    found = _TARGET.fullmatch(text.strip())
    return found and Target(found[0], found["file"] or "", found["module"] or "", found["name"])


# -- loading


class NoFunctionError(InputError):
    """Something of a file that is no function, which `found` is: a tensor is one of its leaves."""

    def __init__(self, message: str, found: object, hint: str) -> None:
        super().__init__(message, hint=hint)
        self.found = found


def load(target: Target) -> Argument:
    """Load the function that a target names.

    Raises:
        InputError: There is no such file, module or name; it fails when it is run, or leaves; it is no function.
    """
    with guarded(f"{target.file or target.module} is run"):
        module = _of_file(target) if target.file else _of_module(target)
    return _found(target, module)


@contextlib.contextmanager
def guarded(what: str, output: Callable[[], contextlib.AbstractContextManager[object]] | None = None) -> Iterator[None]:
    """Run code of the user: its output goes to standard error, and all that it may raise is an error of the input.

    Args:
        what: The activity in words, for messages.
        output: Sends the output there; by default for this block alone.

    Raises:
        InputError: It raised something, or left.
    """
    try:
        with contextlib.chdir("."), (output or output_to_errors)():
            yield
    except (Exception, SystemExit) as error:
        found = input_error(error, what)
        if found is error:
            raise
        raise found from found.__cause__


def input_error(error: Exception | SystemExit, what: str) -> InputError:
    """Make an error of the input of what code of the user's raised, with that as its cause; of one, give itself.

    Args:
        error: What it raised.
        what: The activity in words, for messages.
    """
    if isinstance(error, InputError):
        return error
    if isinstance(error, SystemExit):
        return InputError(f"Python is left (sys.exit) while {what}{_where(error)}")
    said = " ".join(str(error).split())
    hint = None
    if "numpy()" in said:
        hint = "NumPy has no gradient: write it with functions of torch, or as a text, which is read"
    elif "not Tensor" in said:
        hint = "sizes and settings stand within the function, as in lambda x: f(x, (3,))"
    message = f"{type(error).__name__}{': ' * bool(said)}{said}, raised while {what}{_where(error)}"
    found = InputError(message, hint=hint)
    found.__cause__ = error
    return found


def end(code: int) -> None:
    """Prepare the end of a process that ran code of the user, whose handlers of the exit print to standard error.

    Args:
        code: The exit code, with which the process ends now if a thread of a function would keep it from ending; those
            of a script end as under Python.
    """
    main = threading.main_thread()
    is_kept = any(thread is not main and not thread.daemon for thread in threading.enumerate())
    if is_kept and "gradcli.parts.running.script_process" not in sys.modules:
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
        os._exit(code)
    with contextlib.suppress(OSError):
        if sys.stdout is not None:
            sys.stdout.flush()
        os.dup2(2, 1)
    sys.stdout = sys.stderr


@contextlib.contextmanager
def away_from_output() -> Iterator[TextIO | None]:
    """Send standard output to standard error within a block, also from programs that the block starts.

    Yields:
        The standard output of before, to write answers to.
    """
    output, is_own = sys.stdout, sys.stdout is sys.__stdout__  # and no stream of a test
    with output_to_errors() as kept:
        if kept is not None and isinstance(output, io.TextIOWrapper) and is_own:
            output = text_output(kept, output)
        yield output


@contextlib.contextmanager
def output_to_errors() -> Iterator[int | None]:
    """Send standard output to standard error within a block, also from programs that the block starts.

    Yields:
        A descriptor of the standard output of before; None if that or standard error is closed.
    """
    is_own, kept = sys.stdout is sys.__stdout__, None
    if sys.stdout is not None:
        sys.stdout.flush()
    with contextlib.ExitStack() as after:
        errors = sys.stderr
        if errors is None:  # it is closed, and a file that is opened must not be in its place
            errors = after.enter_context(open(os.devnull, "w", encoding="utf-8"))
            if is_own and not _is_open(2):
                after.callback(os.close, 2)
                os.dup2(errors.fileno(), 2)
        with contextlib.suppress(OSError):  # one of them is closed
            kept = os.dup(1)
            after.callback(os.close, kept)
            after.callback(os.dup2, kept, 1)
            os.dup2(2, 1)
        after.enter_context(contextlib.redirect_stdout(errors))
        yield kept


def _is_open(number: int) -> bool:
    with contextlib.suppress(OSError):
        os.fstat(number)
        return True
    return False


def _where(error: BaseException) -> str:
    """Name the last line of the user's that an error went through."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if is_of_user(frame.filename)]
    return f" ({line_of_file(own[-1].filename, own[-1].lineno)})" if own else ""


def _of_file(target: Target) -> ModuleType:
    target.require_file()
    path = Path(target.file)
    name = path.stem if path.stem.isidentifier() else "target"
    if is_notebook(target.file):
        return run_notebook(target.file, name)
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    if spec is None or spec.loader is None:
        raise InputError(f"{target.file} is no file of Python")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.resolve().parent))  # as Python has it for a script
    sys.modules.setdefault(name, module)
    spec.loader.exec_module(module)
    return module


def run_notebook(path: str, name: str) -> ModuleType:
    """Run the cells of a notebook, in order, as a module of this name."""
    from gradcli.parts.running.script_process import run_cells

    whole = str(Path(path).resolve())
    sys.path.insert(0, os.path.dirname(whole))
    return run_cells(name, whole, cells_of(path))


def _of_module(target: Target) -> ModuleType:
    if target.module.endswith(".py") and os.path.isfile(target.module):  # or the import would run the file
        return _of_file(replace(target, file=target.module))
    sys.path.insert(0, os.getcwd())  # as `python -m` has it
    try:
        return importlib.import_module(target.module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{target.module}.".startswith(f"{error.name}."):
            raise
        hint = f"a function of a file is FILE.py::{target.name}"
        raise InputError(f"there is no module {target.module}", hint=hint) from None


def _found(target: Target, module: ModuleType) -> object:
    """Find the function of a module by the name of the target."""
    found: object = module
    for word in target.name.split("."):
        names = [name for name in dir(found) if not name.startswith("_")]
        if not hasattr(found, word):
            what = target.file or target.module if found is module else f"'{target.name.partition(f'.{word}')[0]}'"
            functions = [name for name in names if callable(getattr(found, name, None))]
            hint = did_you_mean(word, names) or f"it has {', '.join(functions[:8]) or 'no functions'}"
            raise InputError(f"{what} has no '{word}'", hint=hint)
        found = getattr(found, word)
    if not callable(found):
        hint = "a tensor is a function of its leaves where autograd follows it to them, and so is a function of Python"
        raise NoFunctionError(f"{target.text} is no function, but of type {type(found).__name__}", found, hint)
    if isinstance(found, type) and hasattr(found, "apply") and hasattr(found, "backward"):  # an autograd.Function
        return found.apply
    if isinstance(found, type):
        made = [name for name, one in vars(module).items() if isinstance(one, found)]
        own, small = target.text.removesuffix(target.name), found.__name__.lower()
        making = f"write {small} = {found.__name__}({_required(found)}) below it, and ask for {own}{small}"
        hint = f"ask for an instance of it: {own}{made[0]}" if made else making
        raise InputError(f"{target.text} is a class, and no function of tensors", hint=hint)
    return found


def _required(kind: type) -> str:
    """Write the arguments without which an instance of a class is not made: `in_features=…, out_features=…`."""
    try:
        parameters = inspect.signature(kind).parameters.values()
    except (TypeError, ValueError):
        return ""
    needed = [one for one in parameters if one.default is one.empty]
    return ", ".join(f"{one.name}=…" for one in needed if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD))

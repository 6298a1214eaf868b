"""Functions and scripts of Python that are run, and recorded as Programs.

targets            the names of functions: `model.py::loss`, `package.module:name`; the file, run as an import runs it
calling            the parameters of a function, and its result as one tensor
replays            a recording, replayed before it is believed
recorded           a function with its recording; it is run again for numbers
repeated_runs      what a second run shares with the first
recorded_function  what others see of it
checkpoints        reentrant checkpoints, run as the other kind
cuts               a check that a gradient is the function's, with nothing held constant
measured_slopes    slopes of a function on either side of a point, with their errors
function_slopes    those of a function that is called next to its point, and what they contradict
moved_function     the values next to its point, and which entries they deny
own_passes         torch's passes of a function itself, with its decisions, for whole boxes
last_judge         verdicts that do not stand against what the function does there
lines_of_functions   a function along a line, as one of its parameter
measured_directions  all of it along random directions, where a large call cannot be read
opaque_functions   functions that cannot be read, recorded as one call
operation_rules    what a custom operation has to keep besides its derivative
blaming            the code of the user that gives wrong gradients: a custom function, or a hook
custom_functions   an `autograd.Function` tried by itself, next to the truth of its forward
function_modes     its forward mode, and its backward differentiated again, tried like it
vmap_of_functions  several v and several arguments of it at once, next to one after the other
forward_refusals   why a function has no forward mode
variants           variants of its application, in tables
faults             words on what is wrong with its gradient, and where
backward_hooks     hooks that change gradients
whole_numbers      arguments that torch takes as an index
numpy_arrays       tensors that functions of NumPy take
code_lines         lines of the code in findings about values without a name there
complex_parts      a function of complex tensors, as one of real and imaginary parts
python_functions   a `Function` of all this; two implementations, compared with the same truth
stated_gradients   a function that is stated to be the derivative of another
gradcheck_arguments  the arguments of `torch.autograd.gradcheck`
checking           a check as a test suite asks for it
scripts            a whole script, its values after a pass, and its backward passes
pass_arguments     the output and the gradient vectors of a pass
last_pass          the last backward pass of a script, explained
script_texts       the text of a script to be run: of a file, a notebook, or pasted from a prompt or a page
script_tensors     a tensor of a script as a function of its leaves
late_recording     what autograd does not follow in a script, recorded where a pass is made of it
untracked_calls    the calls that it does not follow, put off
nonfinite          where infinity and NaN begin in a pass
refusals           why torch refuses a pass: the line, and what mends it
backward_calls     calls of the user's code while torch goes back, which make infinity and NaN
watching           all passes of a script: NaN, gradients of 0, parameters that are never trained
adding_passes      what .grad holds where passes add up, and leaves whose .grad nothing clears
script_process     a script run as Python runs it: its errors, exits, interrupts, hooks and warnings
shell              the command `run`
respelled_runs     runs that may be meant by a line that cannot be read
pass_printer       the passes of a script, printed as they end
pass_line          a pass in a line
plain_functions    recording and checking as functions
python_calls       a command on a function of Python, called with its arguments
script_runs        a script that is run from Python, with all of its passes

Nothing else in the package runs code of the user, and only input of such a form leads here.
"""

from __future__ import annotations

import atexit
import shutil
import sys
import tempfile
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from gradcli import trial
from gradcli.parts.command import Command
from gradcli.parts.part import Part

if TYPE_CHECKING:
    from gradcli.function import Function
    from gradcli.parts.part import AskedFunction
    from gradcli.results import Result


class _Named:
    """A function that is named in a trial, where no code is run: its values alone are read."""

    has_v = False

    def wants_formula(self, given: Container[str]) -> bool:
        """Never: it is recorded at a point."""
        return False

    def ask(self, command: str, given: Mapping[str, object], *, budget: float | None = None) -> NoReturn:
        """Read its values.

        Raises:
            ReadError: They can be read.
        """
        from gradcli.language.inputs import read_value

        values = given.get("at")
        for name, value in values.items() if isinstance(values, Mapping) else ():
            read_value(value, f"--at {name}".rstrip())
        raise trial.ReadError


class _Script:
    """A script in the place of an expression: one command runs it, and answers on its last backward pass."""

    has_v = True

    def __init__(self, path: str) -> None:
        self.path = path

    def wants_formula(self, given: Container[str]) -> bool:
        """Never: a script gives a point."""
        return False

    @property
    def variables(self) -> NoReturn:
        """Refuse the script, as a table has points of a function.

        Raises:
            InputError: Always.
        """
        from gradcli.parts.running.targets import script_error

        raise script_error(self.path)

    def ask(self, command: str, given: Mapping[str, object], *, budget: float | None = None) -> Result:
        """Explain the last backward pass of the script.

        Raises:
            GradcliError: Another command is asked, or as for `answer_on_last_pass`.
        """
        if command not in _OF_LAST_PASS:
            from gradcli.parts.running.targets import script_error

            raise script_error(self.path)
        if trial.is_on():
            _Named().ask(command, given)
        from gradcli.parts.running.last_pass import answer_on_last_pass
        from gradcli.parts.running.script_texts import user_script

        return answer_on_last_pass(user_script(self.path), command, given, budget=budget)


_OF_LAST_PASS = ("explain",)
"""Commands that run a script, and answer on its last backward pass."""

_RUN = Command(
    "run",
    "Many at once",
    "gradcli.parts.running.shell:run",
    near=("debug", "nan", "why", "exec", "python"),
    respelled="gradcli.parts.running.respelled_runs:respelled",
)


class RunningPart(Part):
    """Code that is run and recorded."""

    COMMANDS = ("run",)

    def command(self, name: str) -> Command:
        """Return one of its commands."""
        return {_RUN.name: _RUN}[name]

    def functions(self) -> Mapping[str, str]:
        """Return the functions of the package that take code."""
        return {
            "check": "gradcli.parts.running.plain_functions:check",
            "record": "gradcli.parts.running.plain_functions:record",
            "run": "gradcli.parts.running.script_runs:run",
        }

    def composers(self) -> Mapping[str, str]:
        """Return what composes the line of a pass."""
        return {"Pass": "gradcli.parts.running.pass_line:compose_pass"}

    def answer_of(
        self, function: object, command: str, values: Sequence[object], options: Mapping[str, object]
    ) -> object | None:
        """Answer a command on a function of Python."""
        if not callable(function):
            return None
        from gradcli.parts.running.python_calls import answer

        found: object = answer(function, command, values, options)
        return found

    def function_named(self, word: str) -> AskedFunction | None:
        """Return the function of Python that `FILE.py::NAME` or `MODULE:NAME` names.

        Raises:
            InputError: There is no such file, module or function, or the word is the name of a file.
        """
        if {".", ":"}.isdisjoint(word):  # a file has a dot, a function of Python a colon
            return None
        from gradcli.parts.running.targets import NoFunctionError, is_script, require_no_file, target

        if is_script(word):
            return _Script(word.strip())
        require_no_file(word)
        if (named := target(word)) is None:
            return None
        named.require_file()
        if trial.is_on():
            return _Named()
        from gradcli.parts.running.python_functions import named as function_named

        try:
            return function_named(named)
        except NoFunctionError as error:
            from gradcli.parts.running.script_tensors import is_tensor_with_history, tensor_of_script

            if not (named.file and is_tensor_with_history(error.found)):
                raise
        return tensor_of_script(named)

    def names_code(self, word: str) -> bool:
        """Tell whether a word is `FILE.py::NAME` or `MODULE:NAME`."""
        from gradcli.parts.running.targets import target

        return ":" in word and target(word) is not None

    def end_process(self, code: int) -> None:
        """End the process although a thread of the user's code would keep it."""
        if "gradcli.parts.running.targets" in sys.modules:
            from gradcli.parts.running.targets import end

            end(code)


PART = RunningPart()


def file_text(word: str) -> str | None:
    """Return the text of the Python file that `FILE.py::NAME` names; None for any other word."""
    from gradcli.parts.running.targets import target

    named = target(word)
    return Path(named.file).read_text(encoding="utf-8") if named is not None and named.file else None


def function_with_code(word: str, code: str | None) -> Function | None:
    """Return the function of Python that a word names, on a machine that has not the file; None for any other word.

    Args:
        word: `FILE.py::NAME` or `MODULE:NAME`.
        code: The text of the file, which is written to a folder of this process.

    Raises:
        InputError: There is no such function, or running the file raises.
    """
    from gradcli.parts.running.targets import target

    named = target(word)
    if named is not None and code is not None:
        folder = tempfile.mkdtemp(prefix="gradcli-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        path = Path(folder, Path(named.file).name)
        path.write_text(code, encoding="utf-8")
        named = target(f"{path}::{named.name}")
    if named is None:
        return None
    from gradcli.parts.running.python_functions import named as function_named

    return function_named(named)

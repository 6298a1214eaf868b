"""gradcli: vector-Jacobian products, Jacobians and their formulas, checked.

>>> import gradcli
>>> f = gradcli.Function("x**2")
>>> answer = f.vjp({"x": [1, 2]}, v=[1, 1])
>>> answer.vjp["x"]
array([2., 4.])
>>> answer.symbolic["x"].text
'2*x[i]*KroneckerDelta(i, j)'
>>> answer.check.verdict
'agree'

Rooms, from the top, each of which imports only what stands below it; `gradcli.parts` has what is not the main job:

cli                              the shell
function                         the Python API: a method a command
questions                        questions, and the answer of each from the three readings
report                           answers to text
registry                         every command and every format, of the core and of parts
parts                            the list of the parts, and what a part may supply
crosscheck                       comparison of the readings: verdicts
recording                        calls of ATen as lines of a Program: torch's own passes, and code while it runs
autodiff, symbolic, reference    the three readings: torch, formulas, enclosures of the truth
adjoint, files                   derivatives of a Program as a Program; files of values
language                         a text to a Program
trial                            reading alone, as of what a hint spells before it is shown
errors, results                  every error; classes of answers
complete_output                  streams that write all they are given, or raise
showing                          display of an answer in Python: print, notebooks, JSON
formats, notation, guide         colours, digits and suffixes; notation of mathematics; the pages of the manual
option_words                     an option in a message, as the shell and Python name it
signals, locking, progress       interrupts; one question at a time; the step being done, and the time budget
arrays                           the type of the arrays that all rooms hand on

The names are `Function`; its derivatives as plain functions, `gradcli.grad("x**2", 3)`; `record` and `check` for
functions of Python; and `GradcliError`, the base of all errors.  The answers are classes of `gradcli.results`.
Importing the package imports neither torch nor SymPy; they come with the first function.
"""

from __future__ import annotations

from gradcli.parts import is_listed as _is_listed
from gradcli.showing import Shown as _Shown

TYPE_CHECKING = False  # as `typing` has it, which takes longer to import than all else here
if TYPE_CHECKING:
    from typing import Any

    from gradcli import results as results
    from gradcli.errors import GradcliError as GradcliError
    from gradcli.parts.running.plain_functions import *  # noqa: F403
    from gradcli.parts.typed_function import TypedFunction

    Function = TypedFunction

__version__ = "0.2.0"


def _written(answer: Any, form: str) -> str:
    """Return the text of an answer, for `print` and for notebooks."""
    from gradcli.registry import require_format
    from gradcli.report import in_python

    require_format(answer.command, form)
    return in_python(answer, form)


def _formats() -> tuple[str, ...]:
    """Name the formats of answers."""
    from gradcli.registry import formats

    return formats()


_Shown.write = staticmethod(_written)
_Shown.formats = staticmethod(_formats)

_HOMES = {"GradcliError": "gradcli.errors", "Function": "gradcli.function"}
if _is_listed("running"):
    _PLAIN = ("vjp", "jacobian", "grad", "jvp", "hessian", "hvp", "check", "record")
    _HOMES |= dict.fromkeys(_PLAIN, "gradcli.parts.running.plain_functions")

__all__ = [*_HOMES, "results", "__version__"]  # noqa: PLE0604


def __getattr__(name: str) -> object:
    """Import a public name when it is first used."""
    from importlib import import_module

    if name == "results":
        return import_module("gradcli.results")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'gradcli' has no attribute '{name}'")


def __dir__() -> list[str]:
    """List the public names, imported or not."""
    return sorted(__all__)

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

Rooms, from the top:

parts                            what is done besides the main job: a folder each, listed in `gradcli.parts`
cli                              the shell
function                         the Python API: a method a command
questions, report                questions and their answers; answers to text
crosscheck                       comparison of the readings: verdicts
autodiff, symbolic, reference    the three readings: torch, formulas, enclosures of the truth
adjoint                          derivatives of a Program as a Program
recording                        calls of ATen as lines of a Program: torch's own passes, and code while it runs
language                         a text to a Program
files, guide                     files of values and rows; the pages of the manual
results, notation                classes of answers; notation of mathematics
options, keywords, errors        every option, its name in Python, and every error
signals, complete_output         interrupts; streams that write all they are given, or raise
progress                         the step being done, shown to waiting users; the time budget; pauses of the collector
locking                          one question at a time, whichever thread asks
showing                          display of an answer in Python: print, notebooks, JSON
arrays                           the type of the arrays that all rooms hand on

The names are `Function`; its derivatives as plain functions, `gradcli.grad("x**2", 3)`; `record` and `check` for
functions of Python; and `GradcliError`, the base of all errors.  The answers are classes of `gradcli.results`.
Importing the package imports neither torch nor SymPy; they come with the first function.
"""

from __future__ import annotations

from gradcli.showing import Shown as _Shown

TYPE_CHECKING = False  # as `typing` has it, which takes longer to import than all else here
if TYPE_CHECKING:
    from typing import Any

    from gradcli import results as results
    from gradcli.errors import GradcliError as GradcliError
    from gradcli.function import Function as Function
    from gradcli.parts.running.plain_functions import *  # noqa: F403

__version__ = "0.2.0"


def _written(answer: Any, form: str) -> str:
    """Return the text of an answer, for `print` and for notebooks."""
    from gradcli.report import in_python

    return in_python(answer, form)


_Shown.write = staticmethod(_written)

_HOMES = {
    "GradcliError": "gradcli.errors",
    "Function": "gradcli.function",
    **dict.fromkeys(
        ("vjp", "jacobian", "grad", "jvp", "hessian", "hvp", "check", "record"), "gradcli.parts.running.plain_functions"
    ),
}

__all__ = [*_HOMES, "results", "__version__"]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
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

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

warm                             a process that answers the calls of the shell at once
cli, requests                    the shell, and requests as JSON
function                         the Python API: a method a command
recording                        functions of Python, run and recorded
questions, report                what is asked and answered; answers to text
crosscheck, claims, diagnose     where the readings meet: verdicts, proofs, what to blame
codegen                          scripts that compute the same
autodiff, symbolic, reference    the three readings: torch, formulas, enclosures of the truth
language                         a text to a Program
files, guide                     files of values and rows; the pages of the manual
results, notation                what answers are; how mathematics is written
options, keywords, errors        every option, how Python calls it, and every error
signals, collector               interrupts; Python's garbage collector, paused
progress                         what is being done, for those who wait
showing                          how Python shows an answer: print, notebooks, JSON

The names are `Function`, `record` and `check` for functions of Python, `GradcliError`, which all errors are, and what
`gradcli.results` lists: answers, and what they are made of.  Importing the package imports neither torch nor SymPy;
they come with the first function.
"""

from __future__ import annotations

from gradcli.showing import Shown as _Shown

TYPE_CHECKING = False  # as `typing` has it, which takes longer to import than all else here
if TYPE_CHECKING:
    from typing import Any

    from gradcli.errors import GradcliError as GradcliError
    from gradcli.function import Function as Function
    from gradcli.recording.in_tests import check as check
    from gradcli.recording.in_tests import record as record
    from gradcli.results import *  # noqa: F403

__version__ = "0.1.0"


def _written(answer: Any, form: str) -> str:
    """The text of an answer, for `print` and for notebooks."""
    from gradcli.report import in_python

    return in_python(answer, form)


_Shown.write = staticmethod(_written)

_HOMES = {
    "GradcliError": "gradcli.errors",
    "Function": "gradcli.function",
    "check": "gradcli.recording.in_tests",
    "record": "gradcli.recording.in_tests",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for."""
    from importlib import import_module

    if name == "__all__":
        return [*_HOMES, "__version__", *import_module("gradcli.results").__all__]
    if name in _HOMES or (name[:1].isupper() and name in import_module("gradcli.results").__all__):  # no modules
        return getattr(import_module(_HOMES.get(name, "gradcli.results")), name)
    raise AttributeError(f"module 'gradcli' has no attribute '{name}'")


def __dir__() -> list[str]:
    """What there is, imported or not."""
    return sorted({*globals(), *__getattr__("__all__")} - {"TYPE_CHECKING", "annotations"})

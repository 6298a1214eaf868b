"""gradcli: gradients, Jacobians and their formulas, computed by PyTorch and checked against the truth.

>>> import gradcli
>>> gradcli.grad("x**2", x=3)
∂y/∂x = 2·x = 6   ✓ proven

A function is a text, or a function of Python; values are given by place or by name, as numbers, lists, arrays, tensors:

>>> answer = gradcli.grad(lambda x, w: (w * x**2).sum(), [1.0, 2.0], [3.0, 4.0])
>>> answer["x"], answer.passed
(array([ 6., 16.]), True)
>>> f = gradcli.Function("x**2") # read once, for several questions
>>> float(f(3)), float(f.grad(3)), f.grad(3).formula
(9.0, 6.0, '2*x')
>>> gradcli.grad("x**2") # without values, the formula
y = x**2
∂y/∂x = 2·x   ✓ agree
for numbers, add at={"x": VALUE}
>>> gradcli.grad("x**2")(3)["x"] # which is a function too, as gradcli.grad(f) of a function of Python is
array(6.)

What can be asked, of a text and of a function of Python alike:

- `vjp`, `jacobian`, `grad`: first derivatives, vᵀJ as `y.backward(gradient=v)` leaves it, all of J, the gradient;
- `jvp`, `hessian`, `hvp`: along a direction; second derivatives, and their product with a direction;
- `eval`: the value;
- `check`: assert that gradients are right, also those that somebody states;
- `explain`, `graph`: the chain rule step by step; the backward graph of autograd;
- `improve`: a form that loses fewer digits;
- `plot`: curves, with kinks and poles;
- `code`: the same as a script of torch or NumPy;
- `map`: derivatives at all rows of a table;
- `record`: a `Function` of a function of Python;
- `run`: a script, with each of its backward passes.

An answer is shown in a prompt as one wants to see it.  `answer["x"]` is an array, or a tensor where a tensor was given
or `out="torch"`; `float(answer)`, `numpy.asarray(answer)`, `answer.formula`, `answer.passed`, `answer.check`,
`print(answer)` and `answer.to_json()` say the rest, and `gradcli.results` has the classes.  What cannot be answered
raises `GradcliError`, with a hint.  `gradcli guide code` is the page on functions and scripts of Python.

Importing the package imports neither torch nor SymPy; they come with the first question.

For those who read the source, the rooms from the top, each of which imports only what stands below it; `gradcli.parts`
has what is not the main job:

cli                              the shell
module_functions                 the functions of the package: a command, with the function first
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
results                          classes of answers
errors                           every error
complete_output                  streams that write all they are given, or raise
showing                          display of an answer in Python: print, notebooks, JSON
formats, notation, guide         colours, digits and suffixes; notation of mathematics; the pages of the manual
option_words                     an option in a message, as the shell and Python name it
signals, locking, progress       interrupts; one question at a time; the step being done, and the time budget
arrays                           the type of the arrays that all rooms hand on
"""

from __future__ import annotations

from gradcli.showing import Display as _Display

TYPE_CHECKING = False  # as `typing` has it, which takes longer to import than all else here
if TYPE_CHECKING:
    from typing import Any

    from gradcli import results as results
    from gradcli.arrays import AnyArray
    from gradcli.errors import GradcliError as GradcliError
    from gradcli.parts.running.plain_functions import check as check, record as record
    from gradcli.parts.running.script_runs import run as run
    from gradcli.parts.typed_function import *  # noqa: F403
    from gradcli.parts.typed_function import TypedFunction

    Function = TypedFunction

__version__ = "0.2.0"


def _written(answer: Any, form: str) -> str:
    """Return the text of an answer, for `print`, for a prompt and for notebooks."""
    from gradcli.registry import require_format
    from gradcli.report import in_python

    require_format(answer.command, form)
    return in_python(answer, form)


def _in_a_line(part: Any) -> str:
    """Return the line of a part of an answer."""
    from gradcli.report import in_a_line

    return in_a_line(part)


def _formats() -> tuple[str, ...]:
    """Name the formats of answers."""
    from gradcli.registry import formats

    return formats()


def _tensor(array: AnyArray, device: str) -> object:
    """Make a tensor of an array."""
    from gradcli.autodiff.run import on_device

    return on_device(array, device)


def _ask(command: str, text: str, *values: object, **options: object) -> object:
    """Answer a command on a text at values."""
    from gradcli.module_functions import answer

    return answer(command, text, *values, **options)


_Display.write = staticmethod(_written)
_Display.formats = staticmethod(_formats)
_Display.tensor = staticmethod(_tensor)
_Display.ask = staticmethod(_ask)
_Display.in_a_line = staticmethod(_in_a_line)

_HOMES = {"GradcliError": "gradcli.errors", "Function": "gradcli.function"}


if not TYPE_CHECKING:  # which knows what is there

    def __getattr__(name: str) -> object:
        """Import a public name when it is first used."""
        from importlib import import_module

        if name == "results":
            return import_module("gradcli.results")
        if name in _HOMES:
            return getattr(import_module(_HOMES[name]), name)
        if name == "__all__":
            return __dir__()
        if not name.startswith("_") and not _is_module(name):
            from gradcli.registry import package_functions

            if name in package_functions():
                from gradcli.module_functions import function_named

                return function_named(name)
            if (known := _meant(name)) in package_functions():
                return __getattr__(known)
            from gradcli.errors import did_you_mean

            near = _nearest(name)
            hint = f"gradcli.{near} is the nearest" if near else did_you_mean(name, __dir__())
            hint = hint or "dir(gradcli) lists what there is"
            raise AttributeError(f"module 'gradcli' has no attribute '{name}': {hint}")
        raise AttributeError(f"module 'gradcli' has no attribute '{name}'")


def _meant(name: str) -> str:
    """Return the function that another name means, as the shell takes it: `backward` is vjp."""
    from gradcli.cli.default_command import DERIVATIVE, other_names

    return other_names().get(name, "").replace(DERIVATIVE, "grad")


def _nearest(name: str) -> str:
    """Return the function that asks nearly the same as a command of another tool; empty where none does."""
    from gradcli.cli.default_command import DERIVATIVE, other_commands
    from gradcli.registry import package_functions

    near = "grad" if name in (DERIVATIVE, "value_and_grad") else other_commands().get(name, ("",))[0]
    return near if near in package_functions() else ""


def _is_module(name: str) -> bool:
    """Tell whether a name is that of a module of the package, which Python imports after it has asked here."""
    from importlib.util import find_spec

    return find_spec(f"{__name__}.{name}") is not None


def __dir__() -> list[str]:
    """List the public names, imported or not; those of parts are known to these."""
    from gradcli.registry import package_functions

    return sorted((*_HOMES, *package_functions(), "results", "__version__"))

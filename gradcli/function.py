"""A function of tensors from text: the Python API, a method a command.

Holds no mathematics: `gradcli.questions` asks the readings.  Each command of `gradcli.registry` on a function gives a
method, which is imported when it is first used; a test compares its keywords with the options of the command.  Methods
of parts are known to type checkers by `gradcli.parts.typed_function`.
"""

from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from gradcli.questions.call_arguments import Given
from gradcli.questions.parsed_text import ParsedText, public
from gradcli.registry import all_commands, further_methods

if TYPE_CHECKING:
    from gradcli.questions.commands import (
        eval,  # noqa: A004
        grad,
        hessian,
        hvp,
        jacobian,
        jvp,
        vjp,
    )
    from gradcli.results import Evaluation


class Function(ParsedText):
    """A function of tensors, parsed from text and never evaluated as Python.

    Args:
        expression: The text, such as `"x**2"` or `"y = A@x; sum(y**2)"`.

    Values are numbers, nested lists, arrays, torch tensors, pandas Series or texts of the language; answers hold
    arrays of the dtype asked for, float64 by default, in the shapes that `gradcli.results` states.

    Attributes:
        expression: The text as given.
        variables: The free names in order of appearance.

    What the options mean, which methods share:

    - `at` has a value per variable, and per name that a loss alone has; or it is that of the only variable;
    - `v` is a gradient vector of y's shape, or 1 if y has one element; `"ones"`, `"e0"` (ones over y[0]), `"e0_1"` (the
      element y[0,1] alone) and expressions in y and the variables, `"2*y"`, are known; `vs` are several;
    - `u` is a direction per variable, of its shape, or that of the only variable, or 1 if there is one element in all;
      `"ones"`, `"e0"` and `"e0_1"` are known, and a variable without a direction is held constant;
    - `loss` is an expression in y of one element, `"sum(y**2)"`, in place of v, which is then its derivative by y;
    - `wrt` names the variables to differentiate by, all by default;
    - `dtype` is that of the computation, by default that of a snippet's tensors, or float64;
    - `device` is where torch computes, the CPU by default: `"cuda"`, `"mps"`, `"xpu"`, or `"auto"`, the first of these
      that is there; the answer holds arrays all the same, and the truth is that of the CPU;
    - `check` says whether to compare with the reference.

    A derivative at no point, of variables without values in the text, is its formula: what `closed_form` answers.

    Any thread may ask, also of one function: the process answers one question at a time, so that more threads are not
    faster, and more processes are.  The blocks of one `stream` are computed in the order in which they come, by the
    cores of this process, and not held back by other threads: two streams at once belong into two processes.

    Raises:
        GradcliError: The text is not in the language; a value is missing, surplus or malformed; shapes do not fit.

    >>> f = Function("x**2")
    >>> f.variables
    ('x',)
    >>> f.vjp([1, 2], v=[1, 1]).vjp["x"]
    array([2., 4.])
    """

    def __call__(self, *values: Given, **named: Given) -> Evaluation:
        """Evaluate at values, by place or by name, as `eval` does.

        >>> float(Function("x**2")(3))
        9.0
        """
        return self.eval(*values, **named)

    def __reduce__(self) -> Any:
        return (Function, (self.expression,)) if type(self) is Function else super().__reduce__()

    if TYPE_CHECKING:  # the methods of the core
        eval = eval.eval
        grad = grad.grad
        hessian = hessian.hessian
        hvp = hvp.hvp
        jacobian = jacobian.jacobian
        jvp = jvp.jvp
        vjps = vjp.vjps
        vjp = vjp.vjp


class _Method:
    """A method that is imported when it is first used.

    Args:
        name: The name of the method.
        place: Its function, `module:function`.
    """

    def __init__(self, name: str, place: str) -> None:
        self._name, self._place = name, place

    def __get__(self, function: Function | None, owner: type[Function]) -> object:
        method = resolve_name(self._place)
        method.__module__, method.__qualname__ = __name__, f"Function.{self._name}"
        setattr(Function, self._name, method := public(method))
        return method.__get__(function, owner)


_METHODS = {**further_methods(), "vjps": "gradcli.questions.commands.vjp:vjps"}
_METHODS |= {name: command.method for name, command in all_commands().items() if command.method}
for _name, _place in _METHODS.items():
    setattr(Function, _name, _Method(_name, _place))

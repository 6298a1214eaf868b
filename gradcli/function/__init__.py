"""A function of tensors from text: the Python API, a method a command.

text                             what all methods begin with: the text, read once
differentiation                  eval, vjp, grad, jacobian, jvp, hessian, hvp
streams                          map
views                            check, explain, graph, code

Holds no mathematics: `gradcli.questions` asks the readings.
"""

from __future__ import annotations

from gradcli.function.differentiation import Derivatives
from gradcli.function.streams import Streams
from gradcli.function.views import Views

__all__ = ["Function"]


class Function(Derivatives, Streams, Views):
    """A function of tensors, parsed from text and never evaluated as Python.

    Args:
        expression: The text, such as `"x**2"` or `"y = A@x; sum(y**2)"`.

    Values are numbers, nested lists, arrays or texts of the language; answers hold arrays of the dtype asked for,
    float64 by default, in the shapes that `gradcli.results` states.

    Attributes:
        expression: The text as given.
        variables: The free names in order of appearance.

    Raises:
        GradcliError: The text is not in the language (see `gradcli.errors`).

    >>> f = Function("x**2")
    >>> f.variables
    ('x',)
    >>> f.vjp({"x": [1, 2]}, v=[1, 1]).vjp["x"]
    array([2., 4.])
    """

"""A function of tensors from text: the Python API, a method a command.

text                             what all methods begin with: the text, read once
derivatives                      eval, vjp, grad, jacobian, jvp, hessian, hvp
views                            check, explain, graph, code, and many points: stream, map

Holds no mathematics: `gradcli.questions` asks the readings.  The options of the methods are those of the table in
`gradcli.options`, to which a test holds them.
"""

from __future__ import annotations

from gradcli.function.derivatives import Derivatives
from gradcli.function.views import Views

__all__ = ["Function"]


class Function(Derivatives, Views):
    """A function of tensors, parsed from text and never evaluated as Python.

    Args:
        expression: The text, such as `"x**2"` or `"y = A@x; sum(y**2)"`.

    Values are numbers, nested lists, arrays or texts of the language; answers hold arrays of the dtype asked for,
    float64 by default, in the shapes that `gradcli.results` states.

    Attributes:
        expression: The text as given.
        variables: The free names in order of appearance.

    What the options mean, which methods share:

    - `at` has a value per variable, and per name that a loss alone has;
    - `v` is a gradient vector of y's shape, or 1 if y has one element; `"ones"`, `"e0"` (ones over y[0]), `"e0_1"` (the
      element y[0,1] alone) and expressions in y and the variables, `"2*y"`, are known; `vs` are several;
    - `u` is a direction per variable, of its shape, or that of the only variable, or 1 if there is one element in all;
      `"ones"`, `"e0"` and `"e0_1"` are known, and a variable without a direction is held constant;
    - `loss` is an expression in y of one element, `"sum(y**2)"`, in place of v, which is then its derivative by y;
    - `show` names intermediates whose values and adjoints to keep, as `retain_grad()` does;
    - `wrt` names the variables to differentiate by, all by default;
    - `dtype` is that of the computation, by default that of a snippet's tensors, or float64;
    - `check` says whether to compare with the reference;
    - `points_of` names variables whose first axis counts points: the expression is of one, and the answer has a first
      axis too.

    Raises:
        GradcliError: The text is not in the language (see `gradcli.errors`); of every method: a value is missing,
            surplus or malformed, or shapes do not fit.

    >>> f = Function("x**2")
    >>> f.variables
    ('x',)
    >>> f.vjp({"x": [1, 2]}, v=[1, 1]).vjp["x"]
    array([2., 4.])
    """

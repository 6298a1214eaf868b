"""The divergence of a vector field: the trace of its Jacobian.

Prints the sum of the ∂y[i]/∂x[i] as the value, with the verdict on the whole Jacobian. In --format plain, the number
alone.

Examples:
  gradcli divergence "[x[0]**2, x[0]*x[1]]" --at 1,2

Options: JUDGED
"""

from __future__ import annotations

from typing import Unpack

import numpy as np

from gradcli.errors import ShapeError
from gradcli.language.program.wengert import show
from gradcli.questions.judging import checked, first_derivatives
from gradcli.questions.naming import Inputs
from gradcli.questions.parsed_text import JudgedOptions, ParsedText
from gradcli.results import Evaluation


def divergence(self: ParsedText, at: Inputs | None = None, **options: Unpack[JudgedOptions]) -> Evaluation:
    """Compute the divergence of a vector field, the trace of its Jacobian.

    Raises:
        GradcliError: There is not one variable of y's shape.

    >>> from gradcli import Function
    >>> Function("[x[0]**2, x[0]*x[1]]").divergence([1, 2]).value
    array(3.)
    """
    question = self._asked(at, **options).question()
    shapes = [question.arrays[name].shape for name in question.wrt]
    if shapes != [question.shape] or len(question.shape) != 1:
        found = f"{' and '.join(map(show, shapes)) or 'none'}, and y has shape {show(question.shape)}"
        raise ShapeError(f"a divergence is of a vector by one of its size: the variables have shape {found}")
    question.require_room("use --v e0, e1, ... with vjp for single rows")
    (matrix,) = question.jacobian.values()
    check = checked(question, first_derivatives(question, question.jacobian))["check"]
    return Evaluation(command="divergence", value=np.asarray(np.trace(matrix)), check=check, **question.common)

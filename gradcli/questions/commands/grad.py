"""The gradient of a function with one output: the method `grad`."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from gradcli.questions.judging import beside, differentiated, of_passes
from gradcli.questions.parsed_text import Inputs, JudgedOptions, ParsedText
from gradcli.results import Gradient


def grad(self: ParsedText, at: Inputs | None = None, **options: Unpack[JudgedOptions]) -> Gradient:
    """Compute the gradient of a y of one element.

    Raises:
        GradcliError: y has several elements.

    >>> from gradcli import Function
    >>> Function("sum(x**3)").grad({"x": [1, 2]}).grad["x"]
    array([ 3., 12.])
    """
    question = self._asked(at, **options).question()
    question.require_one_element("grad")
    gradient, shared = differentiated(question, question.weights(np.ones(question.shape)))
    shared["warnings"] = tuple(dict.fromkeys((*shared["warnings"], *of_passes(question))))
    shared["quantities"] = (*beside(question, "gradient", gradient), *shared["quantities"])
    return Gradient(command="grad", **shared)

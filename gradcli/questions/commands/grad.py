"""The gradient of a function with one output: the method `grad`."""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack

from gradcli.questions.answering import answer_bound, prepare
from gradcli.questions.parsed_text import Inputs, JudgedOptions, ParsedText
from gradcli.questions.remarks import remarks_on_passes
from gradcli.results import Gradient


def grad(self: ParsedText, at: Inputs | None = None, **options: Unpack[JudgedOptions]) -> Gradient:
    """Compute the gradient of a y of one element.

    Raises:
        GradcliError: y has several elements.

    >>> from gradcli import Function
    >>> Function("sum(x**3)").grad({"x": [1, 2]}).grad["x"]
    array([ 3., 12.])
    """
    bound = prepare(Gradient, self._asked(at, **options))
    found = answer_bound(Gradient, bound, {})
    return replace(found, warnings=tuple(dict.fromkeys((*found.warnings, *remarks_on_passes(bound)))))

"""The full Jacobian, a row for each y[i], a column for each x[j]: the method `jacobian`."""

from __future__ import annotations

from typing import Unpack

from gradcli.crosscheck.point import Torch
from gradcli.questions.judging import checked
from gradcli.questions.parsed_text import Inputs, JudgedOptions, ParsedText
from gradcli.results import Jacobian, by_name


def jacobian(self: ParsedText, at: Inputs | None = None, **options: Unpack[JudgedOptions]) -> Jacobian:
    """Compute the full Jacobian, a block of shape y.shape + x.shape per variable.

    Raises:
        TooLargeError: The blocks would take more than `JACOBIAN_BYTES`.

    >>> from gradcli import Function
    >>> Function("A@x").jacobian({"A": [[1, 2]], "x": [3, 4]}, wrt=["x"]).jacobian["x"]
    array([[1., 2.]])
    """
    question = self._asked(at, **options).question()
    question.require_room("use vjp with --v e0, --v e1, ... for single rows, or --wrt for fewer variables")
    blocks = question.jacobian
    numbers = Torch(question.dtype, question.value, blocks)
    return Jacobian(command="jacobian", **checked(question, numbers, "jacobian", by_name(blocks)))

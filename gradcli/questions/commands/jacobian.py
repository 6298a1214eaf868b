"""The full Jacobian, a row for each y[i], a column for each x[j]: the method `jacobian`."""

from __future__ import annotations

from typing import Unpack

from gradcli.questions.matrices import answer_matrix
from gradcli.questions.parsed_text import Inputs, JudgedOptions, ParsedText
from gradcli.results import Jacobian


def jacobian(
    self: ParsedText,
    at: Inputs | None = None,
    *,
    sparse: bool = False,
    pattern: bool = False,
    **options: Unpack[JudgedOptions],
) -> Jacobian:
    """Compute the full Jacobian, a block of shape y.shape + x.shape per variable.

    Raises:
        TooLargeError: The blocks would take more than `JACOBIAN_BYTES`.

    >>> from gradcli import Function
    >>> Function("A@x").jacobian({"A": [[1, 2]], "x": [3, 4]}, wrt=["x"]).jacobian["x"]
    array([[1., 2.]])
    """
    return answer_matrix(Jacobian, self._asked(at, **options), sparse=sparse, pattern=pattern)

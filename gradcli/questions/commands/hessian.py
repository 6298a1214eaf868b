"""All second derivatives of a function with one output: the method `hessian`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

from gradcli.language.program.shape_readings import GivenShape
from gradcli.questions.matrices import answer_matrix
from gradcli.questions.parsed_text import Inputs, JudgedOptions, ParsedText
from gradcli.results import Hessian


def hessian(
    self: ParsedText,
    at: Inputs | None = None,
    *,
    sparse: bool = False,
    pattern: bool = False,
    shape: Mapping[str, GivenShape] | None = None,
    **options: Unpack[JudgedOptions],
) -> Hessian:
    """Compute the Hessian of a y of one element: a block of shape a.shape + b.shape per pair of variables.

    Its `pattern` needs no values: a `shape` may stand in place of one.

    Raises:
        GradcliError: y has several elements, or the blocks would take more than `JACOBIAN_BYTES`.

    >>> from gradcli import Function
    >>> answer = Function("sum(x**3)").hessian({"x": [1, 2]})
    >>> answer.hessian["x"]["x"].tolist(), answer.symbolic["x"]["x"].text
    ([[6.0, 0.0], [0.0, 12.0]], '6*x[i]*KroneckerDelta(i, j)')
    """
    asked = self._asked_at_shapes(at, shape if pattern else None, **options)
    return answer_matrix(Hessian, asked, sparse=sparse, pattern=pattern)

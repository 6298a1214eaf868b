"""The full Jacobian, a row for each y[i], a column for each x[j]: the method `jacobian`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Unpack

from gradcli.language.program.shape_readings import GivenShape
from gradcli.questions.matrices import answer_matrix
from gradcli.questions.parsed_text import Inputs, JudgedOptions, ParsedText
from gradcli.results import Jacobian


def jacobian(
    self: ParsedText,
    at: Inputs | None = None,
    *,
    sparse: bool = False,
    pattern: bool = False,
    shape: Mapping[str, GivenShape] | None = None,
    **options: Unpack[JudgedOptions],
) -> Jacobian:
    """Compute the full Jacobian, a block of shape y.shape + x.shape per variable.

    Its `pattern` needs no values: a `shape` may stand in place of one.

    Raises:
        TooLargeError: The blocks would take more than `JACOBIAN_BYTES`.

    >>> from gradcli import Function
    >>> Function("A@x").jacobian({"A": [[1, 2]], "x": [3, 4]}, wrt=["x"]).jacobian["x"]
    array([[1., 2.]])
    """
    asked = self._asked_at_shapes(at, shape if pattern else None, **options)
    found = answer_matrix(Jacobian, asked, sparse=sparse, pattern=pattern)
    return replace(found, warnings=(*found.warnings, *_order_of_columns(found)))


def _order_of_columns(found: Jacobian) -> Iterator[str]:
    """Remark that J lists a matrix row by row where y is stacked column by column."""
    name = next((name for name in found.wrt if len(found.inputs[name].shape) == 2), "")
    is_turned = re.search(rf"\b{re.escape(name)}(?:\^T|\.T|'|\N{{MODIFIER LETTER CAPITAL T}})", found.expression)
    if name and not is_turned and re.search(r"(?<![\w.])vec\(", found.expression):
        yield (
            f"vec(...) is column by column, and the columns of J are {name} row by row; "
            f"for those of vec({name}), write {name}^T for {name} and transpose its value"
        )

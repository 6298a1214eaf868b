"""Jacobians and Hessians, dense or by the entries that are not 0 by structure, which a part computes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TypeVar

from gradcli.errors import TooLargeError, UsageError
from gradcli.option_words import option
from gradcli.parts import all_parts
from gradcli.parts.part import SparseMatrices
from gradcli.questions.answering import answer_bound, prepare
from gradcli.questions.bound_function import BoundFunction
from gradcli.questions.likely_shapes import WithShapes
from gradcli.questions.operators import OPERATORS
from gradcli.results import Judged

MatrixAnswer = TypeVar("MatrixAnswer", bound=Judged)

MOST_DENSE = 10**6
"""Entries above which a matrix is sparse of itself, if hardly any of them depend on the variables."""


def answer_matrix(
    kind: type[MatrixAnswer],
    asked: WithShapes,
    *,
    sparse: bool,
    pattern: bool,
) -> MatrixAnswer:
    """Answer with a matrix: sparse where that is asked for, or where it is large and nearly all of it is 0.

    Args:
        kind: `Jacobian` or `Hessian`.
        asked: The function at its point, or with the shapes of some variables alone, of which there is a pattern.
        sparse: Whether it is to be sparse.
        pattern: Whether the pattern alone is asked for.

    Raises:
        GradcliError: A value is missing or does not fit, y has several elements, or the answer would be too large.
    """
    bound, is_asked = prepare(kind, asked.function), sparse or pattern
    if not is_asked and _entries(kind, bound) <= MOST_DENSE:
        return answer_bound(kind, bound, {})
    readers = list(_readers())
    for one in readers:
        found = one.answered(kind, bound, is_asked=is_asked, is_pattern=pattern, unknown=asked.unknown)
        if isinstance(found, kind):
            return found
    if is_asked:
        raise UsageError(f"{option('sparse')} needs the part that computes sparse matrices, which is not here")
    try:
        return answer_bound(kind, bound, {})
    except TooLargeError as error:
        for hint in filter(None, (one.lacks() for one in readers)):
            error.add(hint)
        raise


def _entries(kind: type[Judged], bound: BoundFunction) -> int:
    columns = sum(bound.arrays[name].size for name in bound.wrt)
    return columns * (columns if OPERATORS[kind].of_one_element else math.prod(bound.shape))


def _readers() -> Iterator[SparseMatrices]:
    return filter(None, (part.sparse_matrices() for part in all_parts()))

"""Remarks on an answer: traps that its numbers do not show.

A v that is x itself weights the rows of J by numbers that nobody chose; torch refuses a backward pass that needs values
that an earlier one freed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradcli.errors import GradcliError
from gradcli.language.program.wengert import Program
from gradcli.option_words import Words, option
from gradcli.questions.bound_function import BoundFunction, Cotangent

SHORT = 6
"""Elements of x up to which a remark repeats its numbers."""


def remarks_on_v(bound: BoundFunction, v: Cotangent) -> Iterator[str]:
    """Remark that v is x itself: the rows of J are weighted by numbers that nobody chose.

    Args:
        bound: The function at its point.
        v: The gradient vector, as `Question.cotangent` gives it, or its numbers.
    """
    weights = bound.weights(v)
    for name in bound.wrt:
        x = bound.arrays[name]
        is_named = isinstance(v, Program) and str(v.output) == name
        if not np.array_equal(weights, x) or (weights == 1).all() or not weights.any():
            continue
        if is_named or (x.size > 1 and not np.isin(x, (0, 1)).all()):  # which pick elements of y
            instead = ""
            if x.size <= SHORT:
                both = (bound.product(one)[name].ravel().tolist() for one in (x, np.ones_like(x)))
                this, plain = (", ".join(f"{number:.6g}" for number in numbers) for numbers in both)
                instead = f" ({this} instead of {plain})"
            yield Words(
                f"v is {name} itself here, so each row of J is weighted by {name}'s own numbers{instead}; "
                f"for the plain derivative of an elementwise function take ones: {option('v', 'ones')}"
            )


def remarks_on_passes(bound: BoundFunction) -> Iterator[str]:
    """Remark that torch refuses a pass of the snippet, found by letting torch run all passes."""
    replay = bound.frees_graph
    inputs = {**bound.extra_values, **bound.arrays}
    if replay is None or not set(replay.program.names) <= set(inputs):
        return
    from gradcli.autodiff.backward_passes import refused

    try:
        number = refused(replay, inputs, bound.dtype)
    except GradcliError:
        return  # torch refuses a pass for another reason, and the answer is not about that pass
    if number is None:
        return
    y = bound.program.output_name
    yield (
        'torch raises RuntimeError "Trying to backward through the graph a second time" '
        f"at {replay.where(number)}: an earlier pass freed the intermediate values that the derivatives are made of. "
        f"Either write retain_graph=True in that pass, or compute {y} anew before each pass; "
        "the numbers here are what .grad would hold then"
    )

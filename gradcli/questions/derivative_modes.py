"""Further ways in which torch computes the derivatives of a question: forward mode, second order, several v at once.

Each gives numbers of its own, which are judged like those of the usual way: one backward pass for each v.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from gradcli.crosscheck.point import Numbers
from gradcli.progress import SECONDS, budget_factor
from gradcli.questions.question import JACOBIAN_ENTRIES, Question
from gradcli.results import Array, BlockNames, Mode, NumberKind, by_name

MOST_RUNS = 64
"""Most elements of the variables for which forward mode runs a function once each."""

SHARE_OF_TIME = 0.5
"""Share of the time of a check in which all of these runs must end."""

CLOSE = {"float64": 1e-9, "float32": 1e-3}
"""Largest difference that rounding may make between Ju and the sum of the columns of J, relative to their sizes."""

SEED = 0
"""Seed of random directions and gradient vectors."""


def forward_product(question: Question, u: Mapping[str, Array]) -> Array:
    """Compute Ju by forward mode.

    Raises:
        InputError: Something in the function has no forward mode.
    """
    if question.recording is not None:
        return question.recording.tangent(question.arrays, u)
    from gradcli.autodiff.forward_mode import jvp_of_program

    return jvp_of_program(question.program, question.arrays, u, question.dtype)


def forward_numbers(question: Question) -> list[Numbers]:
    """Compute J by forward mode; of many columns, or if that takes long, Ju along a random direction u.

    Both are given if one does not follow from the other, as a `jvp` may be no linear function of its tangents.

    Raises:
        InputError: Something in the function has no forward mode.
    """
    inputs = {name: question.arrays[name] for name in question.wrt}
    u = random_direction(inputs)
    began = time.perf_counter()
    product = forward_product(question, u)
    seconds, runs = time.perf_counter() - began, sum(array.size for array in inputs.values())
    along_u = _numbers(question, {"jvp": {("", ""): product}}, "forward mode", u)
    is_quick = runs * seconds <= SHARE_OF_TIME * SECONDS * budget_factor()
    if runs > MOST_RUNS or not is_quick or question.jacobian_entries > JACOBIAN_ENTRIES:
        return [along_u]
    from gradcli.autodiff.forward_mode import jacobian_of

    blocks = jacobian_of(lambda u: forward_product(question, u), inputs, question.value)
    found = [_numbers(question, {"jacobian": by_name(blocks)}, "forward mode")]
    terms = [block * u[name] for name, block in blocks.items()]
    axes = [tuple(range(product.ndim, term.ndim)) for term in terms]
    linear, size = (sum(np.sum(t, axis=a) for t, a in zip(one, axes, strict=True)) for one in (terms, map(abs, terms)))
    with np.errstate(invalid="ignore"):
        is_linear = not np.isfinite(linear).all() or np.all(abs(product - linear) <= CLOSE[question.dtype] * size)
    return found if is_linear else [*found, along_u]


def _numbers(
    question: Question,
    found: Mapping[NumberKind, Mapping[BlockNames, Array]],
    mode: Mode,
    u: Mapping[str, Array] = MappingProxyType({}),
) -> Numbers:
    return Numbers(question.dtype, question.value, found, u=u, judges_value=False, mode=mode)


def random_direction(inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Draw a direction in which each element moves, by about 1."""
    generator = np.random.default_rng(SEED)
    return {
        name: np.asarray(generator.choice((-1, 1), size=x.shape) * generator.uniform(0.5, 1.5, size=x.shape), x.dtype)
        for name, x in inputs.items()
    }

"""A function next to its point, with the derivatives that torch has of it: what an entry says may be denied by that."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import arb

from gradcli.autodiff.jacobians import gradients, vjp
from gradcli.autodiff.run import Forward, array_of, derivative_of, trace
from gradcli.crosscheck.compare import known_truth, number_of
from gradcli.crosscheck.measured import digits_of
from gradcli.crosscheck.point import Numbers, flat
from gradcli.errors import GradcliError
from gradcli.parts.running.function_slopes import KnownDerivative, MovedFunction, Slopes
from gradcli.parts.running.measured_slopes import SEED
from gradcli.parts.running.recorded_function import RecordedFunction
from gradcli.results import Array, Entry, Verdict

NOT_SEEN: tuple[Verdict, ...] = ("inaccurate", "kink", "undefined", "disagree")
"""Verdicts on entries that do not stand where the function has torch's slopes.

Lost digits of a slope can be seen only where y itself has lost none: an error of y changes from point to point by no
more than its size.
"""

LOW_DIGITS = 2.0**-8
"""Machine epsilon of bfloat16, the coarsest dtype of what is computed in between."""


@dataclass
class Movement:
    """A function next to its point, and the derivatives that torch has of it.

    Attributes:
        function: The function, which is called where it is first asked for.
        known: Torch's derivatives.
        entries: The derivative that the entries of an answer are of, by whether they are of vᵀJ.
        shape: The shape of the numbers that are seen: of y, or of the flat gradient.
        witness: What it is, in words.
    """

    function: MovedFunction
    known: Sequence[KnownDerivative]
    entries: Mapping[bool, KnownDerivative]
    shape: tuple[int, ...]
    witness: str = "the function itself, called"

    def digits(self, entry: Entry) -> int:
        """Count the digits to which the function is seen to have torch's slope, of an entry that it denies."""
        known = self.entries[entry.row is None]
        row = 0 if entry.row is None else flat(entry.row, self.shape)
        block = known.blocks[str(entry.variable)]
        column = np.ravel_multi_index(entry.column or (), self.function.here[str(entry.variable)].shape)
        with np.errstate(all="ignore"):
            errors = [
                slopes.error()[row] / abs(direction.u[str(entry.variable)].ravel()[column])
                for slopes, direction in zip(self._slopes[entry.row is None], self.function.directions, strict=True)
            ]
        number, error = float(block[row, column]), float(np.nanmin([np.inf, *errors]))
        return digits_of(arb(number, error) if np.isfinite(error) else arb("nan"), float(np.abs(block).max()))

    @cached_property
    def _slopes(self) -> Mapping[bool, Sequence[Slopes]]:
        return {is_product: self.function.slopes(known) for is_product, known in self.entries.items()}

    @cached_property
    def has_slopes_of_torch(self) -> bool:
        """True if the function has torch's slopes on both sides, so sharply that a kink would be seen."""
        return all(self.function.resolves(one) for one in self.known if one.blocks)

    def denies(self, entry: Entry) -> bool:
        """Tell whether the function has torch's slope where an entry says that it has another one."""
        if entry.verdict not in NOT_SEEN or entry.variable is None or entry.of or not np.isfinite(number_of(entry)):
            return False
        known = self.entries.get(entry.row is None)
        if known is None:
            return False
        others = entry.one_sided or (known_truth(entry.truth),)
        gap = max((abs(one - number_of(entry)) for one in others if one is not None), default=np.nan)
        if not gap > 0:  # a jump, or no number at all
            return entry.verdict in ("kink", "undefined") and self.has_slopes_of_torch
        row = 0 if entry.row is None else flat(entry.row, self.shape)
        column = np.ravel_multi_index(entry.column or (), self.function.here[entry.variable].shape)
        effects = []
        for direction in self.function.directions:
            effect = np.zeros(self.function.value.size if known.weights is None else 1)
            effect[row] = gap * direction.u[entry.variable].ravel()[column]
            effects.append(effect)
        return self.function.resolves(known, effects)


def movement(
    values: Callable[[Mapping[str, Array]], Forward],
    numbers: Numbers,
    forward: Forward,
    here: Mapping[str, Array],
    *,
    digits: float,
    largest: Array,
    rounding: Callable[[Array], float],
    is_lost: bool,
    together: Callable[[], AbstractContextManager[object]] = nullcontext,
    known: MovedFunction | None = None,
) -> Movement | None:
    """Prepare the comparison of a function with torch's numbers; None if they are of no derivative.

    Args:
        values: Runs the function where some variables have other numbers.
        numbers: Torch's numbers.
        forward: The function at the point, with its graph.
        here: The numbers of the variables to differentiate by.
        digits: The machine epsilon of what computes the function.
        largest: For each number of y, the largest one that it is a sum of.
        rounding: Estimates the rounding error of the sum of the numbers of y with some weights.
        is_lost: Whether numbers leave torch, so that elements by which the gradient is 0 may move y.
        together: Sets up what several runs share.
        known: The function, if it was called next to the same point before.
    """
    value = array_of(forward.output).astype(np.float64)
    if not (here and value.size and all(np.isfinite(one).all() for one in (value, *here.values()))):
        return None
    if numbers.order == 2:
        return _of_gradient(values, numbers, forward, here, digits, together, known)
    if numbers.order == 0:
        return None
    sizes = largest.ravel() if largest.shape == value.shape else largest.max(initial=0.0)
    function = known or MovedFunction(
        lambda x: array_of(values(x).output).ravel(),
        here,
        value.ravel(),
        digits,
        sizes,
        rounding,
        _effects(numbers, here, np.maximum(np.abs(value.ravel()), sizes), is_lost=is_lost),
        together,
    )
    entries: dict[bool, KnownDerivative] = {}
    vjp_of_torch, jacobian = numbers.derivatives.get("vjp"), numbers.derivatives.get("jacobian")
    if vjp_of_torch is not None and numbers.v is not None and not numbers.passes:
        blocks = {name: rows_of(vjp_of_torch["", name], 1) for name in here}
        entries[True] = KnownDerivative(blocks, numbers.v.ravel().astype(np.float64))
    if jacobian is not None:
        entries[False] = KnownDerivative({name: rows_of(jacobian["", name], value.size) for name in here})
        return Movement(function, list(entries.values()), entries, value.shape)
    weights = np.random.default_rng(SEED).normal(size=value.shape)
    found = vjp(forward, weights, tuple(here))
    of_sum = KnownDerivative({name: rows_of(found[name], 1) for name in here}, weights.ravel())
    return Movement(function, [*entries.values(), of_sum, KnownDerivative({})], entries, value.shape)


def rounding_of(recorded: RecordedFunction, weights: Array, wrt: tuple[str, ...]) -> float:
    """Estimate the rounding error of the sum of y with some weights, of each line of a recording to first order."""
    dtype = recorded.call.dtype
    try:
        found = trace(recorded.program, recorded.arrays, wrt, dtype, weights.reshape(recorded.value.shape))
    except GradcliError:  # it has no gradient
        return 0.0
    with np.errstate(all="ignore"):
        errors = [np.linalg.norm(found.values[atom] * adjoint) for atom, adjoint in found.adjoints.items()]
    total = math.hypot(*(float(error) for error in errors if np.isfinite(error)))
    return float(np.finfo(dtype).eps) * total


def _effects(numbers: Numbers, here: Mapping[str, Array], sizes: Array, *, is_lost: bool) -> dict[str, Array] | None:
    """Estimate how much each element moves y, relative to its size; NaN for one that may move it and has a slope of 0.

    Args:
        numbers: Torch's numbers.
        here: The numbers of the variables.
        sizes: The size of each number of y.
        is_lost: Whether a slope of 0 may be one that autograd does not follow.
    """
    vjp_of_torch, jacobian = numbers.derivatives.get("vjp"), numbers.derivatives.get("jacobian")
    if jacobian is not None:
        blocks, weights = jacobian, sizes
    elif vjp_of_torch is not None and numbers.v is not None and not numbers.passes:
        blocks, weights = vjp_of_torch, np.array([np.abs(numbers.v).ravel() @ sizes])
    else:
        return None
    found = {}
    with np.errstate(all="ignore"):
        for name, x in here.items():
            rows = np.abs(rows_of(blocks["", name], weights.size)) / np.maximum(weights, np.finfo(float).tiny)[:, None]
            moved = np.where(x == 0, min(1.0, float(np.abs(x).max(initial=0.0))) or 1.0, np.abs(x))
            effect = np.nan_to_num(rows.max(0, initial=0.0)).reshape(x.shape) * moved
            found[name] = np.where((effect == 0) & is_lost, np.nan, effect)
    return found


def _of_gradient(
    values: Callable[[Mapping[str, Array]], Forward],
    numbers: Numbers,
    forward: Forward,
    here: Mapping[str, Array],
    digits: float,
    together: Callable[[], AbstractContextManager[object]],
    known_function: MovedFunction | None,
) -> Movement:
    """Prepare the comparison of a gradient with torch's second derivatives."""

    def flat_gradient(ran: Forward) -> Array:
        leaves = [ran.leaves[name] for name in here]
        found = gradients(ran.output, leaves, ran.output.new_ones(ran.output.shape))
        return np.concatenate([derivative_of(one).ravel() for one in found]).astype(np.float64)

    if "hvp" in numbers.derivatives:
        products = numbers.derivatives["hvp"]
        zeros = {name: np.zeros(x.size) for name, x in here.items()}
        u = zeros | {name: np.ravel(array) for name, array in numbers.u.items()}
        known = KnownDerivative({n: rows_of(products["", n], 1) for n in here}, np.concatenate([u[n] for n in here]))
    else:
        hessian = numbers.derivatives["hessian"]
        sizes = {name: x.size for name, x in here.items()}
        blocks = {b: [hessian[a, b].astype(np.float64).reshape(sizes[a], sizes[b]) for a in here] for b in here}
        known = KnownDerivative({name: np.concatenate(rows) for name, rows in blocks.items()})
    function = known_function or MovedFunction(
        lambda x: flat_gradient(values(x)), here, flat_gradient(forward), digits, together=together
    )
    return Movement(function, [known, KnownDerivative({})], {}, (function.value.size,))


def rows_of(block: Array, rows: int) -> Array:
    """Write a block of derivatives as a matrix of so many rows."""
    return np.asarray(block, np.float64).reshape(rows, -1)

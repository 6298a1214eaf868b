"""What of an `autograd.Function` is tried by itself besides one backward pass, each next to the truth of its forward.

The results are gradients by its arguments, as those of a backward pass are: the derivatives by forward mode come column
by column, and are multiplied by the gradient vector.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from gradcli.autodiff._torch import torch
from gradcli.autodiff.forward_mode import jacobian_of
from gradcli.autodiff.jacobians import vjp
from gradcli.autodiff.run import Forward, Tensor, array_of, run
from gradcli.errors import GradcliError
from gradcli.parts.running.custom_functions import CustomFunction, VariantResult
from gradcli.parts.running.recorded_function import RecordedFunction
from gradcli.parts.running.variants import Variant
from gradcli.results import Array

MOST_COLUMNS = 64
"""Most elements of the arguments that are moved one by one: each is a call of the function."""


@dataclass
class ForwardModeOfFunction(CustomFunction):
    """Application of a custom function whose `jvp` is tried."""

    method = "jvp"

    def takes(self, variant: Variant) -> bool:
        """Leave out variants of the gradient vector, and of which arguments need a gradient."""
        is_small = self._columns(variant.arrays) <= MOST_COLUMNS or variant.arrays is self.arguments.values
        return is_small and variant.v is torch.clone and not variant.needs and not variant.is_repeated

    def worded(self, fault: str) -> str:
        """Name what it computes: a derivative, and no gradient."""
        return fault.replace("the gradient it is given", "the tangent it is given").replace("gradient", "derivative")

    def _tried(
        self, variant: Variant, made: RecordedFunction, forward: Forward, weights: Tensor
    ) -> tuple[dict[str, Array], str]:
        arrays = {**made.arrays, **variant.arrays}
        try:
            is_small = self._columns(arrays) <= MOST_COLUMNS
            by = self._by_columns if is_small else self._by_directions
            return by(made, arrays, array_of(weights)), ""
        except GradcliError as raised:
            return {}, f"fails: {raised.message}"

    def _columns(self, arrays: Mapping[str, Array]) -> int:
        return sum(arrays[name].size for name in self.names)

    def _by_columns(self, made: RecordedFunction, arrays: Mapping[str, Array], v: Array) -> dict[str, Array]:
        blocks = jacobian_of(partial(made.tangent, arrays), {name: arrays[name] for name in self.names}, v)
        return {name: np.tensordot(v, block, axes=v.ndim) for name, block in blocks.items()}

    def _by_directions(self, made: RecordedFunction, arrays: Mapping[str, Array], v: Array) -> dict[str, Array]:
        """Move each argument along a direction: give the gradient next to the true one that has such a slope."""
        inside = tuple(name for name in self.names if name in made.program.names)
        truth = vjp(run(made.program, arrays, inside, self.call.dtype), v, inside)
        found = {}
        for name in self.names:
            own = truth.get(name, np.zeros_like(arrays[name]))
            u = np.asarray(self.arguments.generator.normal(size=own.shape), own.dtype)
            slope = float((v * made.tangent(arrays, {name: u})).sum())
            found[name] = own + u * (slope - float((own * u).sum())) / float((u * u).sum())
        return found

    def products(self, result: VariantResult, name: str) -> tuple[Array, ...]:
        """Compute the derivative along a direction, its double, another one, and the sum of both.

        Raises:
            GradcliError: It fails.
        """
        arrays = {**result.made.arrays, **result.variant.arrays}
        generator, shape = self.arguments.generator, arrays[name].shape
        u, w = (np.asarray(generator.normal(size=shape), arrays[name].dtype) for _ in range(2))
        found, twice, other, both = (result.made.tangent(arrays, {name: one}) for one in (u, 2 * u, w, u + w))
        return found, twice, other, both

"""What of an `autograd.Function` is tried by itself besides one backward pass, each next to the truth of its forward.

The results are gradients by its arguments, as those of a backward pass are: the derivatives by forward mode come column
by column, and are multiplied by the gradient vector.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.autodiff.forward_mode import jacobian_of
from gradcli.autodiff.jacobians import gradients, vjp
from gradcli.autodiff.run import Forward, Tensor, array_of, derivative_of, run, tensor_of
from gradcli.errors import GradcliError, InputError
from gradcli.parts.running.custom_functions import CLOSE, CustomFunction, VariantResult
from gradcli.parts.running.cuts import is_close, largest
from gradcli.parts.running.forward_refusals import is_once_differentiable
from gradcli.parts.running.recorded_function import RecordedFunction
from gradcli.parts.running.variants import Variant
from gradcli.results import Array

MOST_COLUMNS = 64
"""Most elements of the arguments that are moved one by one: each is a call of the function."""

SEED = 1
"""Seed of the directions of second derivatives."""


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
        inside = self._inside(made)
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


@dataclass
class SecondOrderOfFunction(CustomFunction):
    """Application of a custom function whose `backward` is differentiated, as `create_graph` allows it.

    The results are the derivatives of the slope of vᵀy along a direction, by its arguments.
    """

    def takes(self, variant: Variant) -> bool:
        """Leave out all but points near the application, as a convention at a kink is no mistake."""
        return not (variant.is_far or variant.is_repeated or variant.tried)

    def believed(self, results: list[VariantResult]) -> list[VariantResult]:
        """Believe no result at the point alone, where there may be a kink."""
        is_alone = len(results) > 1 and not any(result.wrong for result in results[1:])
        return [replace(result, wrong=set()) for result in results] if is_alone else results

    def worded(self, fault: str) -> str:
        """Say that the second derivative is wrong."""
        found = fault.replace("is wrong", "is wrong where it is differentiated again", 1)
        return found.replace("times the gradient", "times the second derivative") + self._without_graph

    def products(self, result: VariantResult, name: str) -> tuple[Array, ...]:
        """Say nothing of other gradient vectors.

        Raises:
            InputError: Always.
        """
        raise InputError("a second derivative is linear in v where the first is")

    says_tried = False

    _without_graph = ""

    def _true(self, made: RecordedFunction, variant: Variant, v: Array) -> dict[str, Array]:
        inside = self._inside(made)
        ran = run(made.program, {**made.arrays, **variant.arrays}, inside, self.call.dtype, twice=True)
        found = self._twice(ran, inside, tensor_of(v, ran.output.dtype, ran.output.device))
        return {name: found.second.get(name, np.zeros_like(variant.arrays[name])) for name in self.names}

    def _tried(
        self, variant: Variant, made: RecordedFunction, forward: Forward, weights: Tensor
    ) -> tuple[dict[str, Array], str]:
        if is_once_differentiable(self.call.function.__self__):  # type: ignore[attr-defined]
            return {}, "is once_differentiable, and has no derivative"
        arrays, names, inside = {**made.arrays, **variant.arrays}, self.names, self._inside(made)
        try:
            with self.call.surroundings.guarded("its backward runs"):
                own = self._twice(forward, names, weights)
            truth = self._twice(run(made.program, arrays, inside, self.call.dtype, twice=True), inside, weights)
        except GradcliError as raised:
            return {}, f"fails: {raised.message}"
        self._without_graph = self._kept_without_graph(forward.output)
        for name in inside:
            found, likely = own.first[name], truth.first[name]
            if not is_close(found, likely, CLOSE[self.call.dtype] * largest(likely)):
                return {}, "gives another gradient where create_graph=True asks for its graph"
        if not is_close(own.by_v, truth.by_v, CLOSE[self.call.dtype] * largest(truth.by_v)):
            return {}, "loses the graph of the gradient vector that it is given"
        return own.second, ""

    def _twice(self, forward: Forward, names: Sequence[str], weights: Tensor) -> _Twice:
        """Go back, and back again through the backward pass."""
        y, leaves = forward.output, [forward.leaves[name] for name in names]
        v = weights.detach().to(y.device, copy=True).requires_grad_()
        first = gradients(y, leaves, v, differentiable=True)
        slope = v.new_zeros(())
        for gradient in first:
            w = np.random.default_rng(SEED).normal(size=tuple(gradient.shape))
            slope = slope + (gradient * tensor_of(w, gradient.dtype, gradient.device)).sum()
        *second, by_v = gradients(slope, [*leaves, v], torch.ones_like(slope))
        return _Twice(
            dict(zip(names, map(derivative_of, first), strict=True)),
            dict(zip(names, map(derivative_of, second), strict=True)),
            derivative_of(by_v),
        )

    def _wrong(self, result: VariantResult) -> set[str]:
        names = set(self.names)
        if result.error:
            return names
        return {name for name in names if not self.is_same(result, name, result.found[name], result.truth[name])}

    def _kept_without_graph(self, y: Tensor) -> str:
        """Name what the forward computed and kept, neither an argument nor an output, which has no graph."""
        node = y.grad_fn
        while node is not None and torch_internals.custom_function_of(node) is None:
            node = next((following for following, _ in node.next_functions if following is not None), None)
        if node is None:
            return ""
        kept = [name for name, one in vars(node).items() if _has_no_graph(one)]
        if kept:
            return f": ctx.{kept[0]} is computed in its forward, and has no graph"
        saved = getattr(node, "saved_tensors", ())
        return ": it keeps what its forward computed, which has no graph" * any(map(_has_no_graph, saved))


class _Twice(NamedTuple):
    """The gradients of vᵀy, the derivatives of their slope along a direction by the arguments, and those by v."""

    first: dict[str, Array]
    second: dict[str, Array]
    by_v: Array


def _has_no_graph(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point() and not value.requires_grad

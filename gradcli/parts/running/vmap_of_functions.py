"""Several v at once, and several arguments at once, of an `autograd.Function`: each next to one after the other."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcli.autodiff._torch import torch
from gradcli.autodiff.jacobians import products, vjp
from gradcli.autodiff.run import Forward, Tensor, array_of, tensor_of
from gradcli.errors import GradcliError
from gradcli.parts.running.calling import one_tensor
from gradcli.parts.running.custom_functions import CLOSE, CustomFunction, VariantResult
from gradcli.parts.running.cuts import is_close, largest
from gradcli.parts.running.recorded_function import RecordedFunction
from gradcli.parts.running.variants import Variant
from gradcli.results import Array

OTHER = (1.0, 0.9)
"""Factors of the arguments that are given at once."""


@dataclass
class _Compared(CustomFunction):
    """Application of a custom function, whose several results computed at once are compared with the single ones."""

    says_tried = False

    def takes(self, variant: Variant) -> bool:
        """Leave out all but points near the application, where both compute the same."""
        return not (variant.is_far or variant.is_repeated or variant.tried)

    def _wrong(self, result: VariantResult) -> set[str]:
        return {*self.names} if result.error else set()

    def _differs(self, found: Array, likely: Array) -> bool:
        return found.shape != likely.shape or not is_close(found, likely, CLOSE[self.call.dtype] * largest(likely))


@dataclass
class BatchedBackwardOfFunction(_Compared):
    """Application of a custom function whose `backward` runs for several v at once."""

    def _tried(
        self, variant: Variant, made: RecordedFunction, forward: Forward, weights: Tensor
    ) -> tuple[dict[str, Array], str]:
        v = array_of(weights)
        vs = np.stack([v, self.arguments.generator.normal(size=v.shape).astype(v.dtype)])
        try:
            with self.call.surroundings.guarded("its backward runs"):
                both = [products(forward, vs, self.names, by_vmap=by_vmap) for by_vmap in (True, False)]
                single = [vjp(forward, one, self.names) for one in vs]
        except GradcliError as raised:
            return {}, f"fails for several v at once: {raised.message}"
        for found, name in itertools.product(both, self.names):
            if self._differs(found[name], np.stack([one[name] for one in single])):
                by = f" for {name}" * (len(self.names) > 1)
                return {}, f"is wrong{by} for several v at once: it gives what it does not give for each of them"
        return {}, ""


@dataclass
class VmapRuleOfFunction(_Compared):
    """Application of a custom function that has a rule for `torch.vmap`."""

    method = "vmap"

    def _tried(
        self, variant: Variant, made: RecordedFunction, forward: Forward, weights: Tensor
    ) -> tuple[dict[str, Array], str]:
        arrays = {**made.arrays, **variant.arrays}
        chosen: list[tuple[str, ...]] = [self.names, *((name,) for name in self.names if len(self.names) > 1)]
        for names in chosen:
            where = f", where {names[0]} alone is" if len(names) < len(self.names) else ""
            try:
                with self.call.surroundings.guarded("its vmap rule runs"), warnings.catch_warnings(action="ignore"):
                    found, likely = self._at_once(arrays, names), self._one_by_one(arrays, names)
            except GradcliError as raised:
                return {}, f"fails{where}: {raised.message}"
            for what, one, other in zip(("values", "gradients"), found, likely, strict=True):
                if self._differs(one, other):
                    return {}, f"is wrong{where}: torch.vmap has other {what} than one call after the other"
        return {}, ""

    def _at_once(self, arrays: Mapping[str, Array], names: Sequence[str]) -> tuple[Array, Array]:
        given = self._given(arrays)
        for name in names:
            given[name] = torch.stack([given[name].detach() * factor for factor in OTHER]).requires_grad_()
        dimensions = tuple(0 if name in names else None for name in given)
        outputs = torch.vmap(self._applied_to_copies, dimensions)(*given.values())
        several = outputs if isinstance(outputs, tuple | list) else (outputs,)
        rows = [one_tensor([one[n] for one in several], self.call.called) for n in range(len(OTHER))]
        return self._with_gradients(rows, [given[name] for name in names])

    def _one_by_one(self, arrays: Mapping[str, Array], names: Sequence[str]) -> tuple[Array, Array]:
        stacked = {
            name: torch.stack([tensor_of(arrays[name], self._kind, self.call.device) * factor for factor in OTHER])
            for name in names
        }
        leaves = [one.requires_grad_() for one in stacked.values()]
        rows = []
        for n in range(len(OTHER)):
            given = self._given(arrays) | {name: one[n] for name, one in stacked.items()}
            outputs = self._applied_to_copies(*given.values())
            several = outputs if isinstance(outputs, tuple | list) else (outputs,)
            rows.append(one_tensor(list(several), self.call.called))
        return self._with_gradients(rows, leaves)

    @property
    def _kind(self) -> torch.dtype:
        kind: torch.dtype = getattr(torch, self.call.dtype)
        return kind

    def _given(self, arrays: Mapping[str, Array]) -> dict[str, Any]:
        """Return all arguments, with tensors for those to differentiate by."""
        return {
            name: tensor_of(arrays[name], self._kind, self.call.device) if name in self.names else one
            for name, one in self.given.items()
        }

    def _applied_to_copies(self, *given: Any) -> Any:
        return self.call.function(*(one.clone() if isinstance(one, torch.Tensor) else one for one in given))

    def _with_gradients(self, rows: Sequence[Tensor], leaves: Sequence[Tensor]) -> tuple[Array, Array]:
        y = torch.stack([*rows])
        v = torch.linspace(0.5, 1.5, y.numel(), dtype=y.dtype, device=y.device).reshape(y.shape)
        found = torch.autograd.grad(y, leaves, v, allow_unused=True) if y.requires_grad else [None] * len(leaves)
        flat = [(torch.zeros_like(x) if g is None else g).reshape(-1) for g, x in zip(found, leaves, strict=True)]
        return array_of(y), array_of(torch.cat(flat))

"""Torch's second derivatives by autograd twice, for the tests of their judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from gradcli.autodiff.run import run
from gradcli.crosscheck.judge import Judgement
from gradcli.crosscheck.point import HessianVectorProduct, JacobianVectorProduct, Point, SecondDerivatives
from gradcli.crosscheck.second_derivatives import judge_derived
from gradcli.language.snippets import read
from gradcli.questions.question import Dtype, Inquiry, prepare

Array = np.ndarray[Any, Any]
Spoil = Callable[[Array], Array]


def _same(array: Array) -> Array:
    return array


@dataclass
class Second:
    """A function at a point, and what torch makes of it."""

    text: str
    at: Mapping[str, Any]
    dtype: Dtype = "float64"

    def __post_init__(self) -> None:
        self.question = prepare(Inquiry(self.text, read(self.text), self.at, None, self.dtype))
        self.wrt = self.question.wrt
        self.point: Point = self.question.point
        forward = run(self.question.program, self.question.arrays, self.wrt, self.dtype)
        self.y = forward.output
        self.leaves = [forward.leaves[name] for name in self.wrt]
        self.shapes = {name: self.question.arrays[name].shape for name in self.wrt}

    def _gradients(self, y: Any, leaves: list[Any], v: Any = None) -> list[Any]:
        if not y.requires_grad:
            return [torch.zeros_like(leaf) for leaf in leaves]
        v = torch.ones_like(y) if v is None else v
        found = torch.autograd.grad(y, leaves, v, create_graph=True, allow_unused=True)
        return [torch.zeros_like(leaf) if g is None else g for g, leaf in zip(found, leaves, strict=True)]

    def hessian(self) -> tuple[dict[str, Array], dict[str, dict[str, Array]]]:
        """The gradient, and the Hessian block by block."""
        gradient = self._gradients(self.y, self.leaves)
        blocks: dict[str, dict[str, Array]] = {}
        for name, g in zip(self.wrt, gradient, strict=True):
            rows = [self._gradients(one, self.leaves) for one in g.reshape(-1)]
            blocks[name] = {
                other: np.array([row[n].numpy(force=True) for row in rows]).reshape(
                    self.shapes[name] + self.shapes[other]
                )
                for n, other in enumerate(self.wrt)
            }
        return {name: g.numpy(force=True) for name, g in zip(self.wrt, gradient, strict=True)}, blocks

    def direction(self, u: Mapping[str, Any]) -> dict[str, Array]:
        """U as arrays."""
        known = {name: self.shapes[name] for name in self.wrt if name in u}
        return {name: np.broadcast_to(np.asarray(u[name], self.dtype), shape).copy() for name, shape in known.items()}

    def product(self, u: Mapping[str, Array]) -> Array:
        """Ju, by the transpose trick."""
        v = torch.zeros_like(self.y, requires_grad=True)
        leaves = [leaf for name, leaf in zip(self.wrt, self.leaves, strict=True) if name in u]
        vjp = self._gradients(self.y, leaves, v)
        total = sum((g * torch.tensor(u[n])).sum() for n, g in zip(u, vjp, strict=True))
        (found,) = self._gradients(total, [v])
        return np.asarray(found.numpy(force=True))

    def judged_hessian(self, spoil: Spoil = _same, *, of_gradient: Spoil = _same) -> Judgement:
        """The verdict of torch's numbers, those of the first block spoiled."""
        gradient, hessian = self.hessian()
        first = self.wrt[0]
        hessian[first][first] = spoil(hessian[first][first])
        gradient[first] = of_gradient(gradient[first])
        return judge_derived(self.point, SecondDerivatives(self.dtype, gradient, hessian), self.wrt)

    def judged_jvp(self, u: Mapping[str, Any], spoil: Spoil = _same) -> Judgement:
        """The verdict of torch's Ju."""
        directions = self.direction(u)
        y, jvp = self.y.numpy(force=True), spoil(self.product(directions))
        return judge_derived(self.point, JacobianVectorProduct(self.dtype, y, jvp, directions), self.wrt)

    def judged_hvp(self, u: Mapping[str, Any], spoil: Spoil = _same) -> Judgement:
        """The verdict of torch's Hu."""
        directions = self.direction(u)
        gradient = self._gradients(self.y, [leaf for n, leaf in zip(self.wrt, self.leaves, strict=True) if n in u])
        slope = sum((g * torch.tensor(directions[n])).sum() for n, g in zip(directions, gradient, strict=True))
        hvp = {n: g.numpy(force=True) for n, g in zip(self.wrt, self._gradients(slope, self.leaves), strict=True)}
        hvp[self.wrt[0]] = spoil(hvp[self.wrt[0]])
        return judge_derived(self.point, HessianVectorProduct(self.dtype, slope.item(), hvp, directions), self.wrt)

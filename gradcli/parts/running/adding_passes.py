"""Passes that add up in `.grad`: what it holds after one, and leaves whose `.grad` nothing clears while they change.

Passes may be meant to add up, over parts of a batch at the same values.  Where the values change in between, the sum
has old gradients in it.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.notation import Named, Signs
from gradcli.parts.running.backward_calls import dense
from gradcli.recording.aten_calls import numbers_of
from gradcli.results import VJP, Array, Pass, by_name, quantities_of

ADDED_TO_GRAD = Signs("vTJ, added to %s.grad", "vᵀJ, added to %s.grad", "(v^{T} J)_{%s}")
"""Name of vᵀJ where `.grad` holds the sum with earlier passes."""

MOST_SHOWN = 3
"""Most leaves whose `.grad` a line shows."""


def holds_gradient(leaf: Tensor) -> bool:
    """Tell whether the `.grad` of a leaf holds a number that is not 0."""
    return leaf.grad is not None and bool(dense(leaf.grad).any())


@dataclass
class AddingLeaf:
    """Leaf whose `.grad` passes add to.

    Attributes:
        name: Its name, as of where it was first seen.
        sums: Sums over its values at its last pass, which tell whether they have changed.
        held: Whether its `.grad` held a gradient after that pass.
        stale: The leaf, while its `.grad` holds gradients at several values of it; else None.
        is_used: Whether it changed while it did so, as by a step along that sum.
        is_cleared: Whether its `.grad` was cleared between two passes.
        added: How many passes `.grad` holds the sum of, as nothing cleared it between them.
        most_added: The most of them there were.
    """

    name: str
    sums: tuple[float, ...] = ()
    held: bool = False
    stale: Tensor | None = None
    is_used: bool = False
    is_cleared: bool = False
    added: int = 0
    most_added: int = 0

    def before(self, leaf: Tensor) -> None:
        """Record the state of the leaf before a pass that adds to its `.grad`."""
        sums, holds = _sums(leaf), holds_gradient(leaf)
        is_changed = bool(self.sums) and sums != self.sums
        self.is_cleared |= self.held and not holds
        self.added = self.added + 1 if self.held and holds else 1
        self.most_added = max(self.most_added, self.added)
        self.is_used |= self.stale is not None and is_changed
        is_stale = holds and (self.stale is not None or (self.held and is_changed))
        self.sums, self.stale = sums, leaf if is_stale else None

    def end(self) -> None:
        """Record the state of the leaf when the script has ended."""
        if self.stale is not None:
            self.is_used |= _sums(self.stale) != self.sums
            self.stale = None


def _sums(leaf: Tensor) -> tuple[float, ...]:
    """Sum the values of a leaf and their squares, which a step changes; `.data` may be written without a trace."""
    values = torch.view_as_real(leaf) if leaf.is_complex() else leaf
    return float(values.sum(dtype=torch.float64)), float(torch.linalg.vector_norm(values, dtype=torch.float64))


def uncleared(leaves: Sequence[AddingLeaf]) -> Iterator[str]:
    """Name the leaves that changed along gradients of their earlier values, which nothing has ever cleared."""
    yield from dict.fromkeys(one.name for one in leaves if one.is_used and not one.is_cleared)


def summed(leaves: Sequence[AddingLeaf]) -> Iterator[tuple[int, str]]:
    """Name the other leaves whose `.grad` was the sum of several passes, each with the most of these."""
    others = {*uncleared(leaves)}
    yield from dict.fromkeys(
        (one.most_added, one.name) for one in leaves if one.most_added > 1 and one.name not in others
    )


def with_held(told: Pass, leaves: Mapping[str, Tensor]) -> Pass:
    """Add to a pass what `.grad` holds after it, of the leaves by name that held gradients of earlier ones.

    The product of the pass is not in `.grad` then, but was added to it.
    """
    if not told.answers:
        return told
    grads = {name: leaf.grad for name, leaf in leaves.items() if name in told.answers[0].wrt}
    held = {name: numbers_of(one) for name, one in grads.items() if one is not None}
    if not held:
        return told
    few = [*held.items()][:MOST_SHOWN]
    shown = [f"{name}.grad holds {np.array2string(one, threshold=9, separator=', ')}" for name, one in few]
    said = f"passes add up: after this one {', '.join(shown)}{', ...' * (len(held) > MOST_SHOWN)}"
    return replace(
        told, answers=tuple(_with_sums(replace(one, warnings=(*one.warnings, said)), held) for one in told.answers)
    )


def _with_sums(answer: VJP, held: Mapping[str, Array]) -> VJP:
    """Add the contents of `.grad` to a product, and say in its name that it was added to them."""
    sums = quantities_of("accumulated", answer.output, tuple(held), by_name(held))
    own = [
        replace(one, label=ADDED_TO_GRAD(Named(one.axes[-1]))) if one.kind == "vjp" and one.axes[-1] in held else one
        for one in answer.quantities
    ]
    return replace(answer, quantities=(*own, *sums))

"""What `explain` answers, and the loss that v comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gradcli.results.answers import Formula
from gradcli.results.verdicts import Array, Check


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """A loss ℓ of y, the v = ∂ℓ/∂y that it gives, and the gradient of both functions in one go.

    Attributes:
        expression: The text of ℓ as typed.
        value: ℓ at y, one element.
        v: ∂ℓ/∂y by torch, of y's shape.
        formula: ∂ℓ/∂y in closed form, by the name of the output; None if there is none.
        formula_omitted: Why there is none.
        gradient: ∇(ℓ∘f) per variable, by torch through both functions at once.
        inputs: The values that ℓ names beside y.
        check: The verdict on ∂ℓ/∂y.
        warnings: Remarks about ℓ.
    """

    expression: str
    value: Array
    v: Array
    formula: Formula | None
    formula_omitted: str = ""
    gradient: Mapping[str, Array]
    inputs: Mapping[str, Array] = field(default_factory=dict)
    check: Check | None = None
    warnings: tuple[str, ...] = ()

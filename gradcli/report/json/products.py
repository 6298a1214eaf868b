"""What may stand beside a product, as what JSON can hold: accumulated gradients, a loss, intermediates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradcli.report.json.verdicts import arrays
from gradcli.report.numbers import as_json
from gradcli.results import VJP, Intermediate, Loss


def product_fields(answer: VJP) -> dict[str, Any]:
    """What a product was asked beside itself."""
    fields: dict[str, Any] = {}
    if answer.accumulated is not None:
        fields["accumulated"] = arrays(answer.accumulated)
    if answer.loss is not None:
        fields["loss"] = loss_fields(answer.loss)
    return fields


def loss_fields(loss: Loss) -> dict[str, Any]:
    """The loss that v comes from."""
    fields: dict[str, Any] = {"expression": loss.expression, "value": as_json(loss.value)}
    if loss.inputs:
        fields["inputs"] = arrays(loss.inputs)
    if loss.formula is not None:
        fields["formula"] = loss.formula.text
    else:
        fields["formula_omitted"] = loss.formula_omitted
    return fields | {"gradient": arrays(loss.gradient)}


def intermediate_fields(intermediates: Mapping[str, Intermediate]) -> dict[str, Any]:
    """Values and adjoints by name; null for what has none."""
    return {
        name: {"value": as_json(kept.value), "grad": None if kept.grad is None else as_json(kept.grad)}
        for name, kept in intermediates.items()
    }

"""What may stand beside a product, as what JSON can hold: accumulated gradients, a loss, intermediates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradcli.report.json.verdicts import arrays, check_fields
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
    """The loss that v comes from; v itself, its derivative, is the answer's."""
    fields: dict[str, Any] = {"expression": loss.expression, "value": as_json(loss.value)}
    if loss.inputs:
        fields["inputs"] = arrays(loss.inputs)
    if loss.formula is not None:
        fields["symbolic"] = loss.formula.text
    elif loss.formula_omitted:
        fields["symbolic_omitted"] = loss.formula_omitted
    fields["gradient"] = arrays(loss.gradient)
    return fields | ({"check": check_fields(loss.check)} if loss.check is not None else {})


def intermediate_fields(intermediates: Mapping[str, Intermediate]) -> dict[str, Any]:
    """Values and adjoints by name; null for what has none."""
    return {
        name: {"value": as_json(kept.value), "grad": None if kept.grad is None else as_json(kept.grad)}
        for name, kept in intermediates.items()
    }

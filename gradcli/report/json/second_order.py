"""Answers of jvp, hessian and hvp as what JSON can hold: formulas are nested as the quantities are."""

from __future__ import annotations

from typing import Any

from gradcli.report.json.verdicts import arrays
from gradcli.report.numbers import as_json
from gradcli.results import HVP, JVP, Hessian


def curvature_fields(answer: JVP | Hessian | HVP) -> dict[str, Any]:
    """What such an answer has beside the value: directions, derivatives and formulas."""
    fields: dict[str, Any] = {}
    match answer:
        case JVP():
            fields |= {"u": arrays(answer.u), "jvp": as_json(answer.jvp)}
            if answer.symbolic is not None:
                fields["symbolic"] = answer.symbolic.text
            if answer.symbolic_omitted:
                fields["symbolic_omitted"] = answer.symbolic_omitted
        case Hessian():
            fields["grad"] = arrays(answer.grad)
            fields["hessian"] = {name: arrays(blocks) for name, blocks in answer.hessian.items()}
            fields["symbolic"] = {
                name: {other: formula.text for other, formula in blocks.items()}
                for name, blocks in answer.symbolic.items()
            }
            if answer.symbolic_omitted:
                fields["symbolic_omitted"] = {name: dict(blocks) for name, blocks in answer.symbolic_omitted.items()}
        case HVP():
            fields |= {"u": arrays(answer.u), "grad": arrays(answer.grad), "hvp": arrays(answer.hvp)}
            fields["symbolic"] = {name: formula.text for name, formula in answer.symbolic.items()}
            if answer.symbolic_omitted:
                fields["symbolic_omitted"] = dict(answer.symbolic_omitted)
    return fields

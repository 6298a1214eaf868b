"""Answers as what JSON can hold, schema 1: keys that do not apply are absent."""

from __future__ import annotations

from typing import Any

from gradcli.report.json.explain import explanation_fields
from gradcli.report.json.graph import graph_fields
from gradcli.report.json.products import intermediate_fields, product_fields
from gradcli.report.json.second_order import curvature_fields
from gradcli.report.json.verdicts import arrays, check_fields, checking_fields
from gradcli.report.numbers import as_json
from gradcli.results import (
    HVP,
    JVP,
    VJP,
    Answer,
    BackwardGraph,
    Checking,
    Differentiation,
    Evaluation,
    Explanation,
    Gradient,
    Hessian,
    Judged,
)

SCHEMA = 1


def fields(answer: Answer) -> dict[str, Any]:
    """The answer as what JSON can hold."""
    found: dict[str, Any] = {
        "schema": SCHEMA,
        "command": answer.command,
        "expression": answer.expression,
        "dtype": answer.dtype,
    }
    if answer.points is not None:
        found |= {"points_of": list(answer.points_of), "points": answer.points}
    found["inputs"] = arrays(answer.inputs)
    if not isinstance(answer, Evaluation):
        found["wrt"] = list(answer.wrt)
    found["value"] = as_json(answer.value)
    match answer:
        case VJP():
            found |= {"v": as_json(answer.v), "vjp": arrays(answer.vjp)} | product_fields(answer)
        case Gradient():
            found["grad"] = arrays(answer.grad)
        case Explanation():
            found |= explanation_fields(answer)
        case BackwardGraph():
            found |= graph_fields(answer)
        case JVP() | Hessian() | HVP():
            found |= curvature_fields(answer)
        case Checking(v=v, vjp=vjp) if v is not None and vjp is not None:
            found |= {"v": as_json(v), "vjp": arrays(vjp)}
    if isinstance(answer, Differentiation):
        found |= _derivative(answer)
    if isinstance(answer, Judged) and answer.check is not None:
        found["check"] = check_fields(answer.check)
    if isinstance(answer, Checking):
        found |= checking_fields(answer)
    if answer.remarks:
        found["remarks"] = list(answer.remarks)
    if answer.warnings:
        found["warnings"] = list(answer.warnings)
    return found


def _derivative(answer: Differentiation) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if answer.intermediates:
        fields["intermediates"] = intermediate_fields(answer.intermediates)
    if answer.jacobian is not None:
        fields["jacobian"] = arrays(answer.jacobian)
    if answer.jacobian_omitted:
        fields["jacobian_omitted"] = answer.jacobian_omitted
    fields["symbolic"] = {name: formula.text for name, formula in answer.symbolic.items()}
    structure = {name: formula.structure for name, formula in answer.symbolic.items() if formula.structure}
    if structure:
        fields["structure"] = structure
    if answer.symbolic_omitted:
        fields["symbolic_omitted"] = dict(answer.symbolic_omitted)
    return fields

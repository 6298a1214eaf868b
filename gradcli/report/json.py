"""Answers and errors as one line of JSON, schema 1.

Keys that do not apply are absent.  Floats are the shortest that round-trip; numbers that are not finite are the strings
`"NaN"`, `"Infinity"` and `"-Infinity"`, so that every JSON parser reads the line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gradcli.errors import GradcliError
from gradcli.report.numbers import as_json, json_number
from gradcli.results import VJP, Answer, Array, Check, Differentiation, Finding, Gradient

SCHEMA = 1


def render(answer: Answer) -> str:
    """The answer as one line, with its newline."""
    return json.dumps(fields(answer), allow_nan=False, ensure_ascii=True) + "\n"


def fields(answer: Answer) -> dict[str, Any]:
    """The answer as what JSON can hold."""
    found: dict[str, Any] = {
        "schema": SCHEMA,
        "command": answer.command,
        "expression": answer.expression,
        "dtype": answer.dtype,
        "inputs": _arrays(answer.inputs),
    }
    if isinstance(answer, Differentiation):
        found["wrt"] = list(answer.wrt)
    found["value"] = as_json(answer.value)
    match answer:
        case VJP():
            found |= {"v": as_json(answer.v), "vjp": _arrays(answer.vjp)}
        case Gradient():
            found["grad"] = _arrays(answer.grad)
    if isinstance(answer, Differentiation):
        found |= _derivative(answer)
    if answer.warnings:
        found["warnings"] = list(answer.warnings)
    return found


def render_error(error: GradcliError) -> str:
    """The error as one line, with its newline."""
    fields: dict[str, Any] = {"kind": error.kind, "message": error.message}
    if error.place is not None:
        span = error.place.span
        fields["position"] = {"in": error.place.source, "start": span.start, "end": span.stop}
    if error.hint:
        fields["hint"] = error.hint
    return json.dumps({"schema": SCHEMA, "error": fields}) + "\n"


def _derivative(answer: Differentiation) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if answer.jacobian is not None:
        fields["jacobian"] = _arrays(answer.jacobian)
    if answer.jacobian_omitted:
        fields["jacobian_omitted"] = answer.jacobian_omitted
    fields["symbolic"] = {name: formula.text for name, formula in answer.symbolic.items()}
    if answer.symbolic_omitted:
        fields["symbolic_omitted"] = dict(answer.symbolic_omitted)
    if answer.check is not None:
        fields["check"] = _check(answer.check)
    return fields


def _check(check: Check) -> dict[str, Any]:
    error = check.max_relative_error
    fields: dict[str, Any] = {
        "verdict": check.verdict,
        "entries": check.entries,
        "checked": check.checked,
        "max_relative_error": None if error is None else json_number(error),
        "findings": [_finding(finding) for finding in check.findings],
        "proven": check.proven,
    }
    if check.findings_count > len(check.findings):
        fields["findings_count"] = check.findings_count
    if check.chosen != "all":
        fields["chosen"] = check.chosen
    if check.notes:
        fields["notes"] = list(check.notes)
    return fields


def _finding(finding: Finding) -> dict[str, Any]:
    fields: dict[str, Any] = {} if finding.variable is None else {"variable": finding.variable}
    if finding.row is not None:
        fields["row"] = list(finding.row)
    if finding.column is not None:
        fields["column"] = list(finding.column)
    fields["verdict"] = finding.verdict
    for key, number in (
        ("torch", finding.torch),
        ("reference", finding.reference),
        ("relative_error", finding.relative_error),
    ):
        if number is not None:
            fields[key] = json_number(number)
    fields["note"] = finding.note
    if finding.one_sided is not None:
        fields["one_sided"] = [json_number(side) for side in finding.one_sided]
    fields["proven"] = finding.proven
    return fields


def _arrays(arrays: Mapping[str, Array]) -> dict[str, Any]:
    return {name: as_json(array) for name, array in arrays.items()}

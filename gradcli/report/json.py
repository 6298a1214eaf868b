"""Answers and errors as one line of JSON, schema 1.

Keys that do not apply are absent.  Floats are the shortest that round-trip; numbers that are not finite are the strings
`"NaN"`, `"Infinity"` and `"-Infinity"`, so that every JSON parser reads the line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.report.numbers import as_json, json_number
from gradcli.results import (
    VJP,
    Answer,
    Array,
    Check,
    Checking,
    Claim,
    Differentiation,
    Evaluation,
    Finding,
    Gradient,
    Opinion,
)

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
        case Checking(v=v, vjp=vjp) if v is not None and vjp is not None:
            found |= {"v": as_json(v), "vjp": _arrays(vjp)}
    if isinstance(answer, Differentiation):
        found |= _derivative(answer)
    if isinstance(answer, Evaluation) and answer.check is not None:
        found["check"] = _check(answer.check)
    if isinstance(answer, Checking):
        found |= _checking(answer)
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
    if check.rewrite is not None:
        rewrite = check.rewrite
        fields["rewrite"] = {
            "expression": rewrite.expression,
            "reason": rewrite.reason,
            "verdict": rewrite.verdict,
        }
    return fields


def _checking(answer: Checking) -> dict[str, Any]:
    fields: dict[str, Any] = {"opinions": [_opinion(opinion, answer.dtype) for opinion in answer.opinions]}
    if answer.opinions_count > len(answer.opinions):
        fields["opinions_count"] = answer.opinions_count
    if answer.claims:
        fields["claims"] = [_claim(claim) for claim in answer.claims]
    if answer.sampling is not None:
        sampling = answer.sampling
        fields["sampling"] = {
            "points": sampling.points,
            "seed": sampling.seed,
            "boxes": dict(sampling.boxes),
            "verdicts": dict(sampling.verdicts),
            "worst": _arrays(sampling.worst),
        }
    return fields | {"allowed": list(answer.allowed), "passed": answer.passed}


def _opinion(opinion: Opinion, dtype: str) -> dict[str, Any]:
    fields = _where(opinion) | {"verdict": opinion.verdict, "proven": opinion.proven}
    fields["torch"] = json_number(np.dtype(dtype).type(opinion.torch))
    fields |= _numbers(
        formula=opinion.formula,
        reference=opinion.reference,
        radius=opinion.radius,
        difference=opinion.difference,
        difference_error=opinion.difference_error,
        relative_error=opinion.relative_error,
        ulps=opinion.ulps,
    )
    if opinion.one_sided is not None:
        fields["one_sided"] = [json_number(side) for side in opinion.one_sided]
    return fields | ({"note": opinion.note} if opinion.note else {})


def _claim(claim: Claim) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "variable": claim.variable,
        "claim": claim.text,
        "of": claim.of,
        "status": claim.status,
        "points": claim.points,
    }
    if claim.entry is not None:
        fields["entry"] = list(claim.entry)
    fields |= _numbers(claimed=claim.claimed, truth=claim.truth)
    if claim.at is not None:
        fields["at"] = _arrays(claim.at)
    if claim.v is not None:
        fields["v"] = as_json(claim.v)
    return fields | {key: words for key, words in (("mistake", claim.mistake), ("note", claim.note)) if words}


def _finding(finding: Finding) -> dict[str, Any]:
    fields = _where(finding) | {"verdict": finding.verdict}
    fields |= _numbers(torch=finding.torch, reference=finding.reference, relative_error=finding.relative_error)
    fields["note"] = finding.note
    if finding.one_sided is not None:
        fields["one_sided"] = [json_number(side) for side in finding.one_sided]
    fields["proven"] = finding.proven
    return fields


def _where(entry: Finding | Opinion) -> dict[str, Any]:
    fields: dict[str, Any] = {} if entry.variable is None else {"variable": entry.variable}
    if entry.row is not None:
        fields["row"] = list(entry.row)
    if entry.column is not None:
        fields["column"] = list(entry.column)
    return fields


def _numbers(**numbers: float | None) -> dict[str, Any]:
    """Those that there are."""
    return {key: json_number(number) for key, number in numbers.items() if number is not None}


def _arrays(arrays: Mapping[str, Array]) -> dict[str, Any]:
    return {name: as_json(array) for name, array in arrays.items()}

"""Verdicts, findings, opinions and claims as what JSON can hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradcli.report.numbers import as_json, json_number
from gradcli.results import Array, Check, Checking, Claim, Finding, Opinion


def check_fields(check: Check) -> dict[str, Any]:
    """A verdict and what does not agree."""
    error = check.max_relative_error
    fields: dict[str, Any] = {
        "verdict": check.verdict,
        "entries": check.entries,
        "checked": check.checked,
        "max_relative_error": None if error is None else json_number(error),
        "findings": [_finding(finding) for finding in check.findings],
        "proven": check.proven,
        "sampled": check.sampled,
    }
    if check.findings_count > len(check.findings):
        fields["findings_count"] = check.findings_count
    if check.zeros:
        fields["zero_by_structure"] = check.zeros
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


def checking_fields(answer: Checking) -> dict[str, Any]:
    """What `check` adds: opinions, claims, random points."""
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
            "worst": arrays(sampling.worst),
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
        fields["at"] = arrays(claim.at)
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
    fields: dict[str, Any] = {}
    if isinstance(entry, Finding) and entry.of:
        fields["of"] = entry.of
    if isinstance(entry, Finding) and entry.by is not None:
        fields["by"] = entry.by
    if entry.variable is not None:
        fields["variable"] = entry.variable
    if isinstance(entry, Finding) and entry.point is not None:
        fields["point"] = entry.point
    if entry.row is not None:
        fields["row"] = list(entry.row)
    if entry.column is not None:
        fields["column"] = list(entry.column)
    return fields


def _numbers(**numbers: float | None) -> dict[str, Any]:
    """Those that there are."""
    return {key: json_number(number) for key, number in numbers.items() if number is not None}


def arrays(named: Mapping[str, Array]) -> dict[str, Any]:
    """Arrays by name as nested lists."""
    return {name: as_json(array) for name, array in named.items()}

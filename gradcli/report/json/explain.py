"""The chain rule step by step as what JSON can hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.report.json.products import loss_fields
from gradcli.report.json.verdicts import arrays
from gradcli.report.numbers import as_json
from gradcli.results import Adjoint, Array, Explanation, Step, Term

MOST_LOCAL = 10_000
"""Numbers of a local derivative that are written out, as many as of a Jacobian."""


def explanation_fields(answer: Explanation) -> dict[str, Any]:
    """The steps, the adjoints and where v comes from; counts where not all are listed."""
    found: dict[str, Any] = {
        "output": answer.output,
        "v": as_json(answer.v),
        "vjp": arrays(answer.vjp),
        "steps": [_step(step) for step in answer.steps],
    }
    if answer.steps_count > len(answer.steps):
        found["steps_count"] = answer.steps_count
    found["adjoints"] = [_adjoint(adjoint) for adjoint in answer.adjoints]
    if answer.adjoints_count > len(answer.adjoints):
        found["adjoints_count"] = answer.adjoints_count
    if answer.loss is not None:
        found["loss"] = {**loss_fields(answer.loss), "agrees": answer.loss_agrees}
    return found


def _step(step: Step) -> dict[str, Any]:
    return {"name": step.name, "operation": step.operation.text, "value": _values(step.value)}


def _adjoint(adjoint: Adjoint) -> dict[str, Any]:
    found = {"name": adjoint.name, "value": as_json(adjoint.value), "terms": [_term(term) for term in adjoint.terms]}
    return found | ({"terms_count": adjoint.terms_count} if adjoint.terms_count > len(adjoint.terms) else {})


def _term(term: Term) -> dict[str, Any]:
    found: dict[str, Any] = {"from": term.source}
    if all(term.entry):
        found["entry"] = list(term.entry)
    if term.formula:
        found["formula"] = term.formula
    if term.words:
        found["rule"] = term.words
    if term.local is not None and term.local.size <= MOST_LOCAL:
        found["local"] = as_json(term.local)
    return found | {"value": as_json(term.value)}


def _values(array: Array) -> Any:
    """Numbers, or true and false."""
    return array.tolist() if array.dtype == np.bool_ else as_json(array)

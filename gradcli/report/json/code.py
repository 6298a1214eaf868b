"""Scripts as what JSON can hold."""

from __future__ import annotations

from typing import Any

from gradcli.report.json.answers import SCHEMA
from gradcli.report.json.verdicts import arrays
from gradcli.results import Source


def source_fields(answer: Source) -> dict[str, Any]:
    """The script with what it is of."""
    found: dict[str, Any] = {
        "schema": SCHEMA,
        "command": answer.command,
        "expression": answer.expression,
        "dtype": answer.dtype,
        "inputs": arrays(answer.inputs),
        "wrt": list(answer.wrt),
        "language": answer.language,
        "source": answer.source,
    }
    return found | ({"warnings": list(answer.warnings)} if answer.warnings else {})

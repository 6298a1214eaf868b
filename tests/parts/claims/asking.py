"""The fate of a claim at a point."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradcli.crosscheck.compare import TOLERANCE
from gradcli.language.inputs import read_value
from gradcli.parts.claims.subject import Subject
from gradcli.parts.claims.verdict import claimed, expected
from gradcli.results import Claim
from tests.parsing import parse


def subject_at(
    f: str, at: Mapping[str, Any], v: Any = None, wrt: str = "x"
) -> tuple[Subject, dict[str, np.ndarray[Any, Any]]]:
    """The derivative of f by a variable, weighted by v, and the point."""
    program, arrays = parse(f, given=frozenset(at)), {name: read_value(value, name) for name, value in at.items()}
    shapes = {symbol: arrays[str(symbol)].shape for symbol in program.variables}
    return Subject.from_program(program, shapes, wrt, None if v is None else read_value(v, "v")), arrays


def claim_of(f: str, text: str, at: Mapping[str, Any], *, v: Any = None, wrt: str = "x", **options: Any) -> Claim:
    """The fate of a formula for it."""
    subject, arrays = subject_at(f, at, v, wrt)
    return claimed(subject, text, arrays, TOLERANCE["float64"], **options)


def number_of(f: str, value: Any, at: Mapping[str, Any]) -> Claim:
    """The fate of an expected number."""
    subject, arrays = subject_at(f, at)
    return expected(subject, value, arrays, TOLERANCE["float64"])

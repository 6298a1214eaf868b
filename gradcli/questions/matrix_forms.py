"""Gradients as expressions of whole tensors beside their index notation: those that are proved to be the same."""

from __future__ import annotations

from collections.abc import Mapping

import sympy

from gradcli.claims import Subject, read
from gradcli.claims.proof import prove
from gradcli.errors import GradcliError
from gradcli.language.ops import Kind
from gradcli.language.program.named_shapes import NamedShapes
from gradcli.language.program.wengert import Program
from gradcli.notation import Notation
from gradcli.reference.deadline import OverTimeError, time_limit
from gradcli.symbolic.derivative import Derivative
from gradcli.symbolic.matrices import matrix_form

_OF_WHOLE_TENSORS = (Kind.CONTRACTION, Kind.MATRIX)


def matrix_forms(
    program: Program, named: NamedShapes, derivatives: Mapping[tuple[str, str], Derivative]
) -> dict[str, Notation]:
    """The gradients that have a form in whole tensors, by variable, with sizes by their names.

    Args:
        program: The function, as typed; it has one output.
        named: Its shapes.
        derivatives: The formulas that hold.
    """
    is_of_matrices = any(line.call.op.kind in _OF_WHOLE_TENSORS for line in named.program.lines)
    found = {}
    for (_, name), derivative in derivatives.items():
        if derivative.of != "jacobian" or derivative.rows or len(derivative.cases) != 1 or not derivative.columns:
            continue
        ((_, gradient),) = derivative.cases
        if not (is_of_matrices or gradient.has(sympy.Sum)):
            continue
        numbers = {symbol: str(size) for symbol, size in derivative.sizes.items()}
        claim = matrix_form(gradient, derivative.columns, numbers)
        if claim is not None and _is_proved(program, named, derivative, claim.text):
            names = {symbol: str(named.sizes.get(size, size)) for symbol, size in derivative.sizes.items()}
            shown = matrix_form(
                gradient, derivative.columns, {s: f"({n})" if " " in n else n for s, n in names.items()}
            )
            found[name] = shown or claim
    return found


def _is_proved(program: Program, named: NamedShapes, gradient: Derivative, text: str) -> bool:
    """Whether a claim of the gradient by one variable is proved."""
    try:
        with time_limit():
            subject = Subject.of(program, {s: named.shapes[s] for s in program.variables}, gradient.variable, None)
            reading = read(subject, text)
            return reading.of == "gradient" and prove(subject, reading) is not None
    except (GradcliError, OverTimeError):
        return False

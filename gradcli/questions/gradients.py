"""The gradient of a question as a Program, in torch's form, and its numbers by torch's operations."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import sympy

from gradcli.adjoint.gradient import GradientProgram, gradient
from gradcli.adjoint.row_rules import in_torch_form
from gradcli.adjoint.tidying import tidied
from gradcli.language.program.shapes import infer
from gradcli.questions.bound_function import BoundFunction
from gradcli.results import Array

SEED = sympy.Symbol("v of y", real=True)
"""Variable that stands for the gradient vector; no variable of a text is called so."""


def gradient_of(bound: BoundFunction, *, by_inverses: bool = True) -> GradientProgram:
    """Differentiate the function of a question, in operations whose adjoints are torch's.

    Args:
        bound: The question.
        by_inverses: Whether adjoints of determinants may need inverses, which singular matrices do not have.

    Raises:
        NoAdjointError: An operation has no adjoint that is a Program.
    """
    program = in_torch_form(bound.program)
    inputs = {symbol: bound.shapes[symbol] for symbol in program.variables}
    shapes = {**infer(program, inputs, bounded=False), SEED: bound.shape}
    wrt = [symbol for symbol in program.variables if str(symbol) in bound.wrt]
    if not wrt:
        return GradientProgram(program, shapes, {}, {})
    return tidied(gradient(program, shapes, wrt, {program.output: SEED}, keeps_defined=True, by_inverses=by_inverses))


def numbers_of(found: GradientProgram, bound: BoundFunction, v: Array) -> dict[str, Array]:
    """Compute vᵀJ of each variable by the lines of the gradient.

    Raises:
        InputError: Torch refuses an operation.
    """
    from gradcli.autodiff.run import derivative_of, evaluate, output_of, tensor_of, tensor_type

    arrays: Mapping[str, Array] = {**bound.arrays, str(SEED): v}
    numbers = {}
    for symbol in found.of:
        program = found.function(symbol)
        leaves = {name: tensor_of(arrays[name], tensor_type(bound.dtype)) for name in program.names}
        value = derivative_of(output_of(program, evaluate(program, leaves, bound.dtype), bound.dtype))
        numbers[str(symbol)] = np.broadcast_to(value, bound.arrays[str(symbol)].shape)
    return numbers

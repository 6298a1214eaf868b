"""All second derivatives of a function with one output: the method `hessian`."""

from __future__ import annotations

from typing import Unpack

from gradcli.crosscheck.formulas import derive_formulas
from gradcli.crosscheck.point import SecondDerivatives
from gradcli.questions.judging import beside, checked
from gradcli.questions.parsed_text import Inputs, JudgedOptions, ParsedText
from gradcli.results import Hessian


def hessian(self: ParsedText, at: Inputs | None = None, **options: Unpack[JudgedOptions]) -> Hessian:
    """Compute the Hessian of a y of one element: a block of shape a.shape + b.shape per pair of variables.

    Raises:
        GradcliError: y has several elements, or the blocks would take more than `JACOBIAN_BYTES`.

    >>> from gradcli import Function
    >>> answer = Function("sum(x**3)").hessian({"x": [1, 2]})
    >>> answer.hessian["x"]["x"].tolist(), answer.symbolic["x"]["x"].text
    ([[6.0, 0.0], [0.0, 12.0]], '6*x[i]*KroneckerDelta(i, j)')
    """
    question = self._asked(at, **options).question(twice=True)
    question.require_one_element("hessian")
    entries = sum(question.arrays[name].size for name in question.wrt) ** 2
    hint = "use hvp with --u for single columns, or --wrt for fewer variables"
    question.require_room(hint, "the Hessian", entries)
    from gradcli.autodiff import jacobians

    gradient, blocks = jacobians.hessian(question.forward, question.wrt)
    numbers = SecondDerivatives(question.dtype, gradient, blocks, question.value.item())
    derived = derive_formulas(question.point, question.program, question.wrt, "hessian")
    arrays = {(a, b): array for a, row in blocks.items() for b, array in row.items()}
    shared = checked(question, numbers, "hessian", arrays, derived)
    shared["quantities"] = (*beside(question, "gradient", gradient), *shared["quantities"])
    return Hessian(command="hessian", **shared)

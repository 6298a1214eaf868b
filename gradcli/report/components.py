"""Arrays of an answer: one for each variable, of a Hessian one for each two of them, or one."""

from __future__ import annotations

from itertools import product

import numpy as np

from gradcli import results
from gradcli.notation import HU, JU, PARTIAL, Named, Notation, Signs, second
from gradcli.results.record import Record

IN_GRAD = Signs("vTJ = %s.grad", "vᵀJ = %s.grad", "(v^{T} J)_{%s}")


class Component(Record):
    """One array of an answer.

    Attributes:
        label: Its name.
        array: Its numbers.
        variable: The variable of differentiation; None of the value and of Ju.
        rows: The shape of the rows of a matrix, that of y or of the variable `by`; None of a vector.
        of: The quantity of its entries, as in `results.Entry`.
        by: The variable of the row, of the Hessian.
    """

    label: Notation
    array: results.Array
    variable: str | None = None
    rows: tuple[int, ...] | None = None
    of: results.Of = ""
    by: str | None = None


def components(answer: results.Answer) -> list[Component]:
    """List vᵀJ, the gradient, Hu or J by variable, the blocks of the Hessian, Ju, or the value."""
    y = Named(answer.output)
    match answer:
        case results.Products():
            stacked = {name: np.stack([one.vjp[name] for one in answer.answers]) for name in answer.wrt}
            return [Component(IN_GRAD(Named(name)), array, name) for name, array in stacked.items()]
        case results.VJP() | results.Explanation():
            return [Component(IN_GRAD(Named(name)), answer.vjp[name], name) for name in answer.wrt]
        case results.Gradient():
            return gradient(answer)
        case results.Jacobian():
            return jacobian(answer)
        case results.HVP():
            return [Component(HU(Named(name)), answer.hvp[name], name, of="hvp") for name in answer.wrt]
        case results.Hessian():
            shapes = {name: array.shape for name, array in answer.grad.items()}
            return [
                Component(second(y, Named(a), Named(b)), answer.hessian[a][b], b, shapes[a], "hessian", a)
                for a, b in product(answer.wrt, repeat=2)
            ]
        case results.JVP():
            return [Component(JU(), answer.jvp, of="jvp")]
    return [Component(y, answer.value)]


def gradient(answer: results.Gradient | results.Hessian | results.HVP) -> list[Component]:
    """List the gradient by variable; second derivatives show it too."""
    y = Named(answer.output)
    of: results.Of = "" if isinstance(answer, results.Gradient) else "gradient"
    return [Component(PARTIAL(y, Named(name)), answer.grad[name], name, of=of) for name in answer.wrt]


def jacobian(answer: results.Differentiation) -> list[Component]:
    """List the blocks of the Jacobian; none where they were left out."""
    y, blocks = Named(answer.output), (answer.jacobian or {}).items()
    return [Component(PARTIAL(y, Named(name)), block, name, answer.value.shape) for name, block in blocks]

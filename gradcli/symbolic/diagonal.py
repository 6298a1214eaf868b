"""What a formula shows of a whole Jacobian, whatever the values and the sizes: that it is diagonal, or zero.

Diagonal means that y and x have one shape and that every term holds a Kronecker delta for each pair of their indices:
∂y[i]/∂x[j] = f(i)·δ[i,j].
"""

from __future__ import annotations

from typing import Literal

from sympy import KroneckerDelta

from gradcli.language.program.wengert import Shape
from gradcli.symbolic.derivative import Derivative
from gradcli.symbolic.linear import linear

Structure = Literal["", "diagonal", "zero"]


def structure_of(derivative: Derivative, y: Shape, x: Shape) -> Structure:
    """What is known of a Jacobian block from its formula; empty if nothing.

    Args:
        derivative: The formula of ∂y/∂x.
        y: The shape of y.
        x: The shape of x; of two scalars there is nothing to say.

    >>> import sympy
    >>> from gradcli.language.parsing import parse
    >>> from gradcli.language.program.expansion import in_primitives
    >>> from gradcli.language.program.shapes import infer
    >>> from gradcli.symbolic.derivative import differentiate
    >>> x = sympy.Symbol("x", real=True)
    >>> program = in_primitives(parse("x**2"))
    >>> structure_of(differentiate(program, infer(program, {x: (5,)}), x), (5,), (5,))
    'diagonal'
    """
    if not y and not x:
        return ""
    if all(expression == 0 for _, expression in derivative.cases):
        return "zero"
    if not x or x != y or derivative.written:
        return ""
    pairs = {KroneckerDelta(i, j) for i, j in zip(derivative.rows, derivative.columns, strict=True)}
    ((_, expression),) = derivative.cases
    return "diagonal" if all(pairs <= deltas for deltas in linear(expression, derivative.ranges)) else ""

"""Claims of derivatives by stacked matrices: d vec(Y)/d vec(X)ᵀ, a matrix with a row for each element of Y.

Matrix calculus stacks the columns of a matrix, and array libraries the rows.  A claim is read in the first way, and in
the other one where that is what holds at the point.

Source: J. R. Magnus and H. Neudecker, "Matrix Differential Calculus", 3rd edition, 2019, chapter 9.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from gradcli.errors import Span
from gradcli.language.parsing import parse
from gradcli.language.program.wengert import Builder, Program, Shape, show
from gradcli.parts.claims.subject import Subject
from gradcli.results import Array

Kind = Literal["gradient", "Jacobian", "vector-Jacobian product"]


class Stacking(NamedTuple):
    """How the elements of a claim are put into the shape of a derivative.

    Attributes:
        of: What the claim is.
        shape: The shape of the derivative.
        is_transposed: Whether a row of the claim is for an element of x.
        middle: The shape between: the dimensions in the order in which the claim counts them.
        order: The places of the derivative's dimensions in it.
        note: How the claim is read.
    """

    of: Kind
    shape: Shape
    is_transposed: bool
    middle: Shape
    order: tuple[int, ...]
    note: str

    def numbers(self, claimed: Array) -> Array:
        """Put numbers into the shape of the derivative."""
        turned = claimed.T if self.is_transposed else claimed
        return np.asarray(turned.reshape(self.middle).transpose(self.order))

    def program(self, claimed: Program) -> Program:
        """Put the value of a formula into the shape of the derivative."""
        turned = "transpose(C)" if self.is_transposed else "C"
        text = f"permute(reshape({turned}, {self.middle}), {self.order})"
        builder, span = Builder(claimed.text, claimed.source, lines=list(claimed.lines)), Span(0, len(claimed.text))
        output = builder.inline(parse(text), [claimed.output], span)
        return replace(claimed, lines=tuple(builder.lines), output=output)


def stackings(subject: Subject, shape: Shape, *, names_vector: bool = False) -> Iterator[Stacking]:
    """Generate the ways in which a claim of some shape is the derivative by stacked elements: by columns, then by rows.

    >>> from gradcli.language.parsing import parse
    >>> f = parse("A@X")
    >>> of_product = Subject.from_program(f, dict(zip(f.variables, [(2, 3), (3, 4)])), "X", None)
    >>> [(one.middle, one.order) for one in stackings(of_product, (8, 12))]
    [((4, 2, 4, 3), (1, 0, 3, 2)), ((2, 4, 3, 4), (0, 1, 2, 3))]
    """
    x, y, name = subject.x, subject.y, str(subject.variable)
    width, height = math.prod(x), math.prod(y)
    is_gradient = names_vector or height == 1
    parts: tuple[Shape, ...]
    if is_gradient and shape in ((width,), (width, 1), (1, width)):
        wanted, parts, is_transposed = x, (x,), False
        what = f"the derivative by vec({name})"
    elif not is_gradient and shape in ((height, width), (width, height)):
        wanted, parts, is_transposed = (*y, *x), (y, x), shape != (height, width)
        numerator = "y" if len(y) < 2 else "vec(y)"
        denominator = name if len(x) < 2 else f"vec({name})"
        what = f"d {numerator}'/d {denominator}" if is_transposed else f"d {numerator}/d {denominator}'"
    else:
        return
    for is_by_columns in (True, False):
        if is_by_columns and max(map(len, parts)) > 2:
            continue  # vec is of matrices
        order, middle = list[int](), list[int]()
        for part in parts:
            places = range(len(middle), len(middle) + len(part))
            order += reversed(places) if is_by_columns else places
            middle += reversed(part) if is_by_columns else part
        by = "columns" if is_by_columns else "rows"
        note = f"read as {what}, {by} first; as y.shape + {name}.shape it has shape {show(wanted)}"
        kind: Kind = "vector-Jacobian product" if names_vector else "gradient" if is_gradient else "Jacobian"
        yield Stacking(kind, wanted, is_transposed, tuple(middle), tuple(order), note)

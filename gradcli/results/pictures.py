"""Pictures as data: curves of a function along a line, maps of two variables, and the places marked on them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

import numpy as np

from gradcli.arrays import Array
from gradcli.notation import Notation
from gradcli.results.answers import Reply
from gradcli.results.record import Record, if_empty, if_none, json_field
from gradcli.results.verdicts import RegionVerdict

MarkKind = Literal["kink", "jump", "pole", "removable", "edge", "vertical", "undefined", "nan-trap", "curvature"]
"""Kinds of places: see `Mark`."""

RangeKind = Literal["undefined", "overflow", "nan-trap", "inaccurate", "crowded"]
"""Kinds of ranges: see `MarkedRange`."""


class Curve(Record):
    """A quantity along the line.

    Attributes:
        label: Its name, such as ∂y/∂x.
        order: 0 of y, 1 and 2 of its derivatives.
        element: The flat position of the element of y.
        values: Torch's numbers, one for each point; NaN where there is none, and where the curve breaks.
        window: The range of values to show, which leaves out the way of a pole to infinity.
        error: How far torch's numbers are off, where digits are lost that are seen; else None.
        truth: The true numbers where digits are lost; between the points where they are enclosed, those of a line.
    """

    label: Notation = json_field("name")
    order: int
    element: int
    values: Array
    window: tuple[float, float]
    error: Array | None = json_field(omit=if_none, default=None)
    truth: Array | None = json_field(omit=if_none, default=None)

    @property
    def column(self) -> str:
        """The name of its column in a table, as in those of `map`: dy0_dx.

        >>> from gradcli import Function
        >>> [curve.column for curve in Function("[x, x**2]").plot().curves]
        ['y0', 'dy0_dx', 'y1', 'dy1_dx']
        """
        return re.sub(r"[\[\]]", "", self.label.text.replace(", ", "_").replace("/", "_"))


class Mark(Record):
    """A place where an element of y has no derivative, or torch none.

    Attributes:
        kind: A kink, a jump, a pole; `removable` for a hole, `edge` for an end of the domain, `vertical` for a slope
            that grows without bound, `undefined` for a y without a limit, `nan-trap` for a slope that torch alone
            does not have, `curvature` for a second derivative that jumps, where that is drawn.
        place: The parameter there.
        element: The flat position of the element of y.
        value: The limits of y on the left and on the right; NaN for none.
        slope: Those of its derivative.
        here: Torch's y at the place itself; NaN for none.
        curvature: The limits of the second derivative, where that alone jumps.
    """

    kind: MarkKind
    place: float
    element: int
    value: tuple[float, float]
    slope: tuple[float, float]
    here: float
    curvature: tuple[float, float] | None = json_field(omit=if_none, default=None)

    @property
    def sides(self) -> tuple[tuple[float, float], ...]:
        """The limits of y and of its derivatives, as far as they are known."""
        return (self.value, self.slope, *([self.curvature] if self.curvature else []))


class MarkedRange(Record):
    """A range of the line where something holds of an element of y.

    Attributes:
        kind: `undefined`: y has no value; `overflow`: y is beyond the numbers of torch; `nan-trap`: torch has no
            derivative, and y a value; `inaccurate`: digits are lost that are seen; `crowded`: places without a
            derivative, or one, that cannot be told apart.
        low: Its beginning.
        high: Its end.
        element: The flat position of the element of y.
    """

    kind: RangeKind
    low: float
    high: float
    element: int


class Stretch(Record):
    """A range of the line with one verdict on each of its points.

    Attributes:
        verdict: What is proved of torch's numbers there, or what there may be: the verdict on a region of a box.
        low: Its beginning.
        high: Its end.
    """

    verdict: RegionVerdict
    low: float
    high: float


class Tangent(Record):
    """The tangent of an element of y at a point.

    Attributes:
        place: The parameter there.
        element: The flat position of the element of y.
        value: The element of y there.
        slope: The slope of the tangent.
    """

    place: float
    element: int
    value: float
    slope: float


class Plotted(Reply, kw_only=True):
    """A function that is drawn.

    Attributes:
        dtype: `float64` or `float32`.
        inputs: The values of the variables that stay.
        wrt: The variables of the derivative, in order.
        output: The name of y.
        formula: The function, if its formula is short.
    """

    dtype: str
    inputs: Mapping[str, Array]
    wrt: tuple[str, ...] = json_field(None)
    output: str = json_field(None)
    formula: Notation | None = json_field(omit=if_none, default=None)


class Plot(Plotted, kw_only=True):
    """Curves of a function of one variable and of its derivatives, with the places where they break.

    Attributes:
        variable: The variable, or t along a direction.
        u: The direction by variable, where that is asked for.
        points: The values of the variable, ascending.
        curves: The quantities.
        marks: The places.
        spans: The ranges.
        tangents: The tangents at the point asked for.
        stretches: The verdicts of a check of all points, in order; none where nothing is known.
        rtol: How far torch may be off where it is proved to be near the truth, relative to that.
    """

    variable: str
    u: Mapping[str, Array] | None = json_field(omit=if_none, default=None)
    points: Array
    curves: tuple[Curve, ...]
    marks: tuple[Mark, ...] = json_field(omit=if_empty)
    spans: tuple[MarkedRange, ...] = json_field(omit=if_empty)
    tangents: tuple[Tangent, ...] = json_field(omit=if_empty, default=())
    stretches: tuple[Stretch, ...] = json_field(omit=if_empty, default=())
    rtol: float | None = json_field(omit=if_none, default=None)

    @property
    def proved_share(self) -> float:
        """The share of the line where torch's numbers are proved to be near the truth."""
        proved = (one.high - one.low for one in self.stretches if one.verdict in ("proved", "near-zero"))
        return sum(proved) / float(self.points[-1] - self.points[0])


class PlotMap(Plotted, kw_only=True):
    """A function of two numbers over a grid, with its gradient, and the cells that may hold a kink, a jump or a pole.

    Attributes:
        axes: The values of the two variables, the horizontal one first, ascending.
        values: Torch's y, of shape (vertical, horizontal).
        gradient: Its derivative by each of the two variables, of the same shape.
        singular: The middles of the cells, of shape (N, 2), the horizontal variable first.
        kinks: Those of the cells that hold a kink and no jump or pole, of shape (M, 2).
    """

    axes: Mapping[str, Array]
    values: Array
    gradient: Mapping[str, Array]
    singular: Array
    kinks: Array

    @property
    def breaks(self) -> Array:
        """The middles of the other cells, which may hold a jump, a pole or an end of the domain."""
        kinks = {tuple(middle) for middle in self.kinks}
        return np.array([middle for middle in self.singular if tuple(middle) not in kinks]).reshape(-1, 2)

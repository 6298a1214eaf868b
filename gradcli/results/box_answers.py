"""Answers on whole boxes: bounds of a function and its derivatives, and what is proved of every point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from gradcli.arrays import Array
from gradcli.notation import Notation
from gradcli.results.answers import Reply
from gradcli.results.pictures import Plot
from gradcli.results.record import Record, if_empty, if_none, json_field, json_property
from gradcli.results.verdicts import Claim, RegionVerdict

PlaceKind = Literal["minimum", "maximum", "zero", "critical", "least nearby", "greatest nearby"]
"""Kinds of places: see `BoxPlace`."""

PlaceExistence = Literal["one", "some", "unknown"]
"""What is known of a place: exactly one is in the box; at least one; or that there is none outside of such boxes."""

ProofStatus = Literal["proved", "refuted", "undecided"]
"""Outcome of a statement on all points of a box."""


class BoxBounds(Record):
    """Bounds of a number over a box, which hold at each of its points that has the number.

    Attributes:
        label: Its name, such as ∂y/∂x.
        low: No value is below; -inf without a bound.
        high: No value is above; inf without a bound.
        low_found: Some value is this or below: the least value is between the two; inf where none was found.
        high_found: Some value is this or above; -inf where none was found.
    """

    label: Notation = json_field("name")
    low: float
    high: float
    low_found: float
    high_found: float


class BoxPlace(Record):
    """A small box in which something is.

    Attributes:
        kind: The `minimum` or `maximum` of y over the whole box; a `zero` of y; or where its gradient is 0, `critical`,
            or `least nearby` and `greatest nearby` among the points around.
        low: Its lower ends, by variable.
        high: Its upper ends.
        existence: Whether exactly `one` such place is certainly in it, or `some`; `unknown` where there may be none.
    """

    kind: PlaceKind
    low: Mapping[str, float]
    high: Mapping[str, float]
    existence: PlaceExistence


class BoxProof(Record):
    """A statement on all points of a box.

    Attributes:
        statement: The statement as typed.
        status: Whether it is `proved` of every point, `refuted` at one, or `undecided`.
        boxes: The number of boxes that were evaluated.
        at: The point that refutes it, by variable.
        left: The share of the box that is not proved.
        note: What refutes it, or what is missing.
    """

    statement: str
    status: ProofStatus
    boxes: int
    at: Mapping[str, float] | None = json_field(omit=if_none, default=None)
    left: float = json_field(omit=if_empty, default=0.0)
    note: str = json_field(omit=if_empty, default="")


class BoxRegion(Record):
    """Part of a box, with what holds of all of its points, or what they may hold.

    Attributes:
        verdict: `proved`: torch's numbers are as near to the truth as is demanded; `near-zero`: as near to it as the
            largest number in the box is, as a truth next to it is 0. Of others nothing is proved: they may hold a
            `kink`, `jump`, `pole`, or `edge` of the domain, are `outside` of it, or torch's numbers may `overflow`; in
            `underflow`, a number is below the smallest one with all digits, and torch's is so too, or 0; a witness has
            nan where the truth is a number (`nan-trap`), lost digits (`inaccurate`), the derivative with a value held
            constant (`cut`), or another one than the function has (`disagree`); `open` without one.
        share: Its share of the box.
        pieces: The number of boxes that it is made of.
        low: The lower ends of the least box around it, by variable.
        high: The upper ends.
        at: A point of it, at which torch's number was judged.
        found: The verdict on that point.
        note: What was found there.
    """

    verdict: RegionVerdict
    share: float
    pieces: int
    low: Mapping[str, float]
    high: Mapping[str, float]
    at: Mapping[str, float] | None = json_field(omit=if_none, default=None)
    found: str = json_field(omit=if_empty, default="")
    note: str = json_field(omit=if_empty, default="")


class RegionMap(Record):
    """The boxes of all regions, to be drawn.

    Attributes:
        names: The names of the numbers that move.
        low: The lower ends of the boxes, of shape (numbers, boxes).
        high: The upper ends.
        verdicts: The verdict on each box, as the regions have it.
        curves: Torch's y and derivative, of one number that moves; None of several, and where they are not drawn.
    """

    names: tuple[str, ...]
    low: Array
    high: Array
    verdicts: tuple[RegionVerdict, ...]
    curves: Plot | None = None


class OnBox(Reply, kw_only=True):
    """An answer on a box.

    Attributes:
        dtype: `float64` or `float32`, the dtype that torch computes in.
        inputs: The values of the variables that stay.
        ranges: The ranges of those that move, as typed.
        wrt: The variables that move, in order.
        output: The name of y.
        u: The direction by variable, where t moves along a line through their values.
        boxes: The number of boxes that were evaluated.
        notes: Remarks.
    """

    dtype: str
    inputs: Mapping[str, Array]
    ranges: Mapping[str, str] = json_field("in")
    wrt: tuple[str, ...]
    output: str = json_field(None)
    u: Mapping[str, Array] | None = json_field(omit=if_none, default=None)
    boxes: int
    notes: tuple[str, ...] = json_field(omit=if_empty, is_last=True, default=())


class BoxRange(OnBox, kw_only=True):
    """Bounds of a function and its derivatives over a box.

    Attributes:
        bounds: Those of y, and of its derivative by each number that moves.
        lipschitz: The constants L with |y(a) - y(b)| <= L*|a - b|, by the norm of a - b: 1, 2 or inf; none where y may
            jump.
        places: Where y is least and greatest, and the zeros that were asked for.
        held: What the box may hold: kink, jump, pole, edge of the domain.
        shape: The shape of the tensor whose elements all have the range, where y has its shape and the function maps
            each of them by itself: bounds and places are those of one.

    >>> from gradcli import Function
    >>> answer = Function("x**2").range(box={"x": "-1..2"})
    >>> answer.bounds[0].low, answer.bounds[0].high, answer.lipschitz
    (0.0, 4.0, {'2': 4.0})
    """

    bounds: tuple[BoxBounds, ...]
    lipschitz: Mapping[str, float] = json_field(omit=if_empty)
    places: tuple[BoxPlace, ...] = json_field(omit=if_empty)
    held: tuple[str, ...] = json_field(omit=if_empty)
    shape: tuple[int, ...] = json_field(omit=if_empty, default=())


class BoxChecking(OnBox, kw_only=True):
    """What is proved of all points of a box.

    Attributes:
        proofs: The statements.
        regions: The parts of the box by verdict, where torch's numbers were judged.
        rtol: How far torch may be off, relative to the truth.
        claims: The derivatives that somebody claims to be those of every point.
        allowed: Verdicts that pass.
        map: The boxes of the regions, of one or two numbers that move; else None.
        is_picture: Whether the map is shown.

    >>> from gradcli import Function
    >>> answer = Function("x**3 + x").check(box={"x": "-9..9"}, prove="dy/dx >= 1")
    >>> answer.proofs[0].status, answer.passed
    ('proved', True)
    """

    proofs: tuple[BoxProof, ...] = json_field(omit=if_empty)
    regions: tuple[BoxRegion, ...] = json_field(omit=if_empty)
    rtol: float | None = json_field(omit=if_none)
    claims: tuple[Claim, ...] = json_field(omit=if_empty, default=())
    allowed: tuple[str, ...] = json_field(None, default=())
    map: RegionMap | None = json_field(None, default=None)
    is_picture: bool = json_field(None, default=False)

    @property
    @json_property(before="notes")
    def passed(self) -> bool:
        """Tell whether all statements and claims are proved, and all of the box is proved or allowed."""
        is_proved = all(one.status == "proved" for one in self.proofs)
        is_proved = is_proved and all(one.passes(self.allowed) for one in self.claims)
        return is_proved and all(one.verdict in ("proved", "near-zero", *self.allowed) for one in self.regions)

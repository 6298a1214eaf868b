"""One expression at many points: a value, a product or a Jacobian for each, instead of one for all of them together.

The expression is written for one point.  The leading axis of some variables counts points, as in `torch.vmap`; the
other variables are the same at each.  The points are computed at once, and judged one by one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.crosscheck.formulas import Witness, concluded
from gradcli.crosscheck.judge import Judgement
from gradcli.crosscheck.point import Torch
from gradcli.crosscheck.sample import MOST_POINTS, Sample, critical_points
from gradcli.crosscheck.summary import merged, worst_point
from gradcli.errors import GradcliError, InputError, ShapeError, TooLargeError
from gradcli.language.inputs import Array, Value, read_value
from gradcli.language.lower.calls import shadowed
from gradcli.language.ops import Kind
from gradcli.language.program.shapes import MAX_PRODUCTS
from gradcli.language.program.wengert import MAX_ELEMENTS, Program, show
from gradcli.language.snippets import Snippet
from gradcli.questions.judging import Checked, advised, as_fields, compared, diagnosed
from gradcli.questions.naming import no_such_variable
from gradcli.questions.question import Cotangent, Dtype, Inquiry, Question, require_one_element, rounded
from gradcli.results import Check, Evaluation

if TYPE_CHECKING:
    from gradcli.autodiff.batched import AtPoints
MOST_WORK = 2**31
"""Elements of all lines at all points together: some tens of seconds."""


@dataclass(frozen=True)
class PointsQuestion:
    """A question that is asked at many points.

    Attributes:
        question: The same of the first point.
        arrays: The value of every variable; of those in `names`, with the points on the first axis.
        names: The variables that differ between points.
        count: How many points there are.
    """

    question: Question
    arrays: Mapping[str, Array]
    names: tuple[str, ...]
    count: int

    @property
    def common(self) -> dict[str, Any]:
        """The fields that every answer at many points has."""
        return {**self.question.common, "inputs": self.arrays, "points_of": self.names, "points": self.count}

    def at(self, point: int) -> Question:
        """The question at one of the points: a row of every variable that differs between them."""
        return self.question.at({name: self.arrays[name][point] for name in self.names})

    def torch(self, *, v: Array | None = None, jacobian: bool = False) -> AtPoints:
        """The values of y at all points by torch, and their vᵀJ and Jacobians if asked for."""
        from gradcli.autodiff.batched import at_points

        return at_points(self.question.batch(self.arrays, self.names, self.count), v=v, jacobian=jacobian)

    def weights(self, cotangent: Cotangent) -> Array:
        """The numbers of v at every point; an expression in y and the variables is evaluated at each."""
        question = self.question
        if not isinstance(cotangent, Program):
            return rounded(np.broadcast_to(cotangent, (self.count, *question.shape)), question.dtype)
        from gradcli.autodiff.batched import at_points

        y = question.program.output_name
        inputs = {**question.named, y: self.torch().value, **self.arrays}
        known = {name: inputs[name] for name in cotangent.names}
        mapped = tuple(name for name in dict.fromkeys((y, *self.names)) if name in known)
        batch = question.batch(known, mapped, self.count)
        return at_points(replace(batch, program=cotangent, live=None)).value


def points_of(inquiry: Inquiry) -> PointsQuestion:
    """Everything that can be known of a question at many points without torch; the expression is of one of them.

    Raises:
        GradcliError: As for `Inquiry.question`; a name is no variable, has no axis, or has another number of points.
        TooLargeError: There are too many points for this expression.

    >>> from gradcli.language.snippets import read
    >>> inquiry = Inquiry("sum(x)", read("sum(x)"), {"x": [[1, 2], [3, 4], [5, 6]]}, points_of=["x"])
    >>> found = points_of(inquiry)
    >>> found.count, found.question.shape, found.question.arrays["x"]
    (3, (), array([1., 2.]))
    """
    at, snippet, dtype = inquiry.at, inquiry.snippet, inquiry.dtype
    inquiry.require_fixed()
    mapped = tuple(dict.fromkeys(inquiry.points_of))
    known = (*snippet.program.names, *shadowed(at))
    for name in mapped:
        if name not in known:
            raise no_such_variable("--points-of", name, known)
    full = {
        name: _full(name, at, snippet, dtype or snippet.dtype or "float64")
        for name in mapped
        if name in at or name in snippet.values
    }
    count = _count(full)
    first = {name: array[0] for name, array in full.items()}
    # The first point stands for the shapes of all: prepared once, run at every point.
    question = inquiry.of_one(first, "with --points-of the expression is of one point")
    found = PointsQuestion(question, {**question.arrays, **full}, mapped, count)
    _require_room(found)
    return found


def evaluation(inquiry: Inquiry) -> Evaluation:
    """The value y at each point."""
    points = points_of(inquiry)
    found = points.torch()
    verdict = None
    if inquiry.check:
        verdict, _ = judged(replace(points, question=replace(points.question, wrt=())), found, None)
    return Evaluation(command="eval", value=found.value, check=verdict, **{**points.common, "wrt": ()})


def differentiated(inquiry: Inquiry, command: str, v: Value | None = None) -> dict[str, Any]:
    """The fields of the answer to `jacobian`, `vjp` or `grad` at each point; v is one for all points or one for each.

    Raises:
        InputError: The command is `grad`, and at one point y has several elements.
        TooLargeError: Together the Jacobians would take more than `JACOBIAN_BYTES`.
    """
    points = points_of(inquiry)
    question, weights, omitted = points.question, None, ""
    if command == "jacobian":
        hint = "use vjp with --v e0, --v e1, ... for single rows, or fewer points"
        what = "the Jacobian has" if points.count == 1 else f"the Jacobians of {points.count:,} points have"
        question.require_room(hint, what, points.count * question.jacobian_entries)
        own: dict[str, Any] = {"remarks": _saved(points)}
    else:
        if command == "grad":
            require_one_element(question, command)
        weights, omitted = _weights(points, v, inquiry.snippet.v), question.jacobian_omitted(points.count)
        own = {"v": weights, "jacobian_omitted": omitted}
    found = points.torch(v=weights, jacobian=not omitted)
    own |= {} if found.vjp is None else {"vjp": found.vjp}
    shared = _checked(points, found, weights, check=inquiry.check)
    command = "jacobian" if command == "jacobian" else "vjp"
    return {"command": command, "value": found.value, "jacobian": found.jacobian, **own, **points.common, **shared}


def _saved(points: PointsQuestion) -> tuple[str, ...]:
    """What a Jacobian a point leaves out of that of all points at once."""
    names = [name for name in points.question.wrt if name in points.names]
    if points.count == 1 or not names:
        return ()
    of_all = f"that of all points at once is block-diagonal by {', '.join(names)}"
    return (f"each point has its own Jacobian; {of_all}, with {points.count:,} times as many entries, the others 0",)


# -- v


def _weights(points: PointsQuestion, v: Value | None, of_snippet: Program | None) -> Array:
    """The numbers of the gradient vector, of shape (N, *y.shape).

    Raises:
        InputError: v is needed and not given, or has neither one point's shape nor that of all.
    """
    question = points.question
    whole = (points.count, *question.shape)
    try:
        return points.weights(question.cotangent(v, of_snippet))
    except (InputError, ShapeError) as error:
        found = _of_all(points, v, of_snippet)
        if found is not None and found.shape == whole:
            return rounded(found, question.dtype)
        if found is not None and v is not None:
            error.advise(f"of one point y has shape {show(question.shape)}, and of all points {show(whole)}")
        raise


def _of_all(points: PointsQuestion, v: Value | None, of_snippet: Program | None) -> Array | None:
    """A v that is given for all points together: as numbers, or in a snippet."""
    inputs = {**points.question.named, **points.arrays}
    with suppress(GradcliError):
        if v is not None:
            return read_value(v, "--v")
        if of_snippet is not None and set(of_snippet.names) <= set(inputs):
            return points.question.evaluated(of_snippet, inputs)
    return None


# -- the check


def _checked(points: PointsQuestion, found: AtPoints, v: Array | None, *, check: bool) -> Checked:
    """The formulas, as the first point that is judged confirms them, and the verdict unless it is not asked for."""
    question = points.question
    verdict, judgements = judged(points, found, v) if check else (None, {})
    looks = {n: points.at(n) for n in judgements}
    witnesses = [Witness(looks[n].point, judgement.evidence, n) for n, judgement in judgements.items()]
    witnesses = witnesses or [Witness(question.point, None)]
    derived = question.derived
    if len({question.program.text, *(look.program.text for look in looks.values())}) > 1:
        derived = replace(derived, blocks=dict.fromkeys(derived.blocks, "the points take different branches"))
    return as_fields(*concluded(verdict, witnesses, question.program, derived))


def judged(
    points: PointsQuestion, found: AtPoints, v: Array | None, chosen: Sequence[int] | None = None
) -> tuple[Check, dict[int, Judgement]]:
    """The verdict, and what the reference says of torch's numbers at the points that it looks at, or is to look at."""
    question = points.question
    judgements = {}
    if chosen is None and points.count > MOST_POINTS:
        derivatives = (found.jacobian if found.jacobian is not None else found.vjp) or {}
        kinks = critical_points(question.point, points.arrays, points.names, points.count)
        inputs = {name: points.arrays[name] for name in points.names}
        sample = Sample()
        sample.see(np.arange(points.count), inputs, (found.value, *derivatives.values()), kinks)
        chosen = [row.number for row in sample.rows()]
    for point in range(points.count) if chosen is None else chosen:
        blocks = (found.jacobian, found.vjp)
        jacobian, vjp = (one and {name: array[point] for name, array in one.items()} for one in blocks)
        own = None if v is None else v[point]
        judgements[point] = compared(points.at(point), Torch(question.dtype, found.value[point], jacobian, own, vjp))
    _advise(points, judgements, v)
    return merged({point: judgement.check for point, judgement in judgements.items()}, points.count), judgements


def _advise(points: PointsQuestion, judgements: dict[int, Judgement], v: Array | None) -> None:
    """Say of the worst point what is to blame and what to write instead; of others, what only looks like an error."""
    worst = worst_point({point: judgement.check for point, judgement in judgements.items()})
    for point, judgement in judgements.items():
        if point == worst:
            judgements[point] = advised(points.at(point), judgement, None if v is None else v[point])
        elif judgement.check.verdict == "disagree":
            judgements[point] = diagnosed(points.at(point), judgement, None if v is None else v[point])[0]


# -- what can be wrong


def _full(name: str, at: Mapping[str, Value], snippet: Snippet, dtype: Dtype) -> Array:
    array = rounded(read_value(at[name], f"--at {name}") if name in at else snippet.values[name], dtype)
    if array.ndim == 0:
        raise InputError(
            f"--points-of names '{name}', which is a single number and has no axis of points",
            hint=f"give a value for each point, --at {name}=1,2,3, or leave '{name}' out of --points-of",
        )
    if len(array) == 0:
        raise InputError(f"--points-of names '{name}', which has no points: its shape is {show(array.shape)}")
    return array


def _count(arrays: Mapping[str, Array]) -> int:
    names = list(arrays)
    for name in names[1:]:
        if len(arrays[name]) != len(arrays[names[0]]):
            counts = f"'{names[0]}' has {len(arrays[names[0]]):,} points and '{name}' has {len(arrays[name]):,}"
            shapes = f"the shapes are {show(arrays[names[0]].shape)} and {show(arrays[name].shape)}"
            raise InputError(f"--points-of: {counts}", hint=f"{shapes}; the first sizes must be equal")
    return len(arrays[names[0]]) if names else 0


def _require_room(points: PointsQuestion) -> None:
    """Refuse what would take minutes or not fit: the lines, and y and the derivatives at all points."""
    question, count = points.question, points.count
    largest = max(math.prod(question.shape), *(array.size for array in question.arrays.values()))
    products = sum(
        math.prod(question.shapes[line.symbol]) * question.shapes.get(line.call.operands[0], (1,))[-1]
        for line in question.program.lines
        if line.call.op.kind is Kind.CONTRACTION
    )
    bounds = (largest, MAX_ELEMENTS), (question.elements, MOST_WORK), (products, MAX_PRODUCTS)
    if count > (most := min(bound // max(1, each) for each, bound in bounds)):
        raise TooLargeError(
            f"{count:,} points are too many for this expression; it is computed at {most:,} at most",
            hint="take the points in several parts",
        )

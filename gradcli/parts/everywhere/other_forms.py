"""Another form of a function, where bounds of the typed one are missing: what improve finds at the ends, if it helps.

Numbers near 0 or infinity that cancel leave no bound, however small the boxes are: 1 - tanh(x)**2 is 0 in floats from
x = 20 on, and its logarithm has none.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

import numpy as np

from gradcli.arrays import Array
from gradcli.errors import GradcliError
from gradcli.parts.everywhere.intervals import Interval
from gradcli.parts.everywhere.moving_box import AskedBox
from gradcli.parts.everywhere.stopping import OVER_TIME, must_stop
from gradcli.parts.everywhere.tensor_ranges import is_small
from gradcli.questions.bound_function import FunctionWithValues
from gradcli.questions.judging import forms_that_lose_less
from gradcli.questions.text_reading import read_whole
from gradcli.reference.deadline import OverTimeError
from gradcli.results import BoxRange

MOST_OF_EACH = 8
"""Most numbers of a variable for which another form is looked for."""

MOST_FORMS = 2
"""Most forms that are tried at an end."""

NO_TIME = "no time settles that"
"""Words of a remark that a longer search finds no bound either."""

Ends = Mapping[str, tuple[Array, Array]]
"""The lower and the upper ends of the ranges, by variable."""


def with_better_form(
    answer: BoxRange, unbound: FunctionWithValues, asked: AskedBox, ask: Callable[[FunctionWithValues], BoxRange]
) -> BoxRange:
    """Remark on a form of the function that has the bounds which the typed one lacks, and on bounds that none has.

    Args:
        answer: The bounds of the typed form.
        unbound: The function as typed.
        asked: The question on the typed form.
        ask: Bounds another form.
    """
    missing = [n for n, one in enumerate(answer.bounds) if not np.isfinite([one.low, one.high]).all()]
    if not missing:
        return answer
    found = (place for place in (0, 1) if is_small(asked) and _is_unbounded_at(asked, place))
    never = [f"at the {('lower', 'upper')[n]} end alone there is no bound of the typed form: {NO_TIME}" for n in found]
    if any(OVER_TIME in one for one in answer.notes):
        answer = replace(answer, notes=(*answer.notes, *never[:1]))
    for form, other in forms_at_ends(unbound, asked.ends):
        with suppress(GradcliError, OverTimeError):
            bounds = ask(other).bounds
            if all(np.isfinite([bounds[n].low, bounds[n].high]).all() for n in missing):
                return replace(answer, notes=(f"better: {form}, which has these bounds", *answer.notes))
    return answer


def _is_unbounded_at(asked: AskedBox, place: int) -> bool:
    """Tell whether the value or a slope has no bound at the lower ends alone, or at the upper ones."""
    box = asked.moving()
    numbers = (box.low, box.high)[place][:, None]
    with suppress(GradcliError, OverTimeError):
        for jet in box.function.run(Interval(numbers, numbers), is_second=False):
            bounds = [jet.value, *jet.slopes.values()]
            if not all(np.isfinite(one.low).all() and np.isfinite(one.high).all() for one in bounds):
                return True
    return False


def forms_at_ends(unbound: FunctionWithValues, ends: Ends) -> Iterator[tuple[str, FunctionWithValues]]:
    """Yield the forms that lose the fewest digits at the lower and at the upper ends of ranges, within the time."""
    if unbound.recording is not None or any(low.size > MOST_OF_EACH for low, _ in ends.values()):
        return
    found = set[str]()
    for side in (0, 1):
        at = {**unbound.at, **{name: pair[side] for name, pair in ends.items()}}
        with suppress(GradcliError, OverTimeError):
            forms = () if must_stop() else forms_that_lose_less(replace(unbound, at=at).bind())
            for form in itertools.islice(forms, MOST_FORMS):
                if form not in found:
                    found.add(form)
                    yield form, replace(unbound, expression=form, snippet=read_whole(form))

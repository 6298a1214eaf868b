"""Kinks and jumps of values that autograd does not follow, in the check of a function of Python.

    x + x.detach().abs()    x*(1 + (x == 0).all().to(x.dtype))

The recording holds such values constant, and is smooth where the function is not.
"""

from __future__ import annotations

from dataclasses import replace

from gradcli.crosscheck.compare import number_of, to_float
from gradcli.crosscheck.judge import Judgement, judge
from gradcli.crosscheck.point import Numbers, Point, Torch
from gradcli.crosscheck.singular import PICKED, shown_number
from gradcli.language.program.expansion import released
from gradcli.questions.question import Question
from gradcli.results import Entry


def with_held_values(question: Question, numbers: Numbers, judgement: Judgement) -> Judgement:
    """Report what the function has at this point where its recording, which holds values constant, has a derivative.

    A mask that holds at this point alone is a kink, as a branch by it is.

    Args:
        question: The function of Python at its point.
        numbers: Torch's.
        judgement: The judgement of the recording.
    """
    if question.live.has_live_steps:
        judgement = judgement.changed(_at_step)
    if isinstance(numbers, Torch) and (kinks := _kinks_of_released(question, numbers)):

        def with_kink(entry: Entry) -> Entry:
            return kinks.get(_place(entry), entry) if entry.verdict in ("agree", "unchecked") else entry

        judgement = judgement.changed(with_kink)
    return judgement


def _at_step(entry: Entry) -> Entry:
    """Call a number that is right for a mask of this point alone a kink."""
    if entry.verdict != "disagree" or not entry.note.endswith(PICKED):
        return entry
    reason, beside = entry.note.partition(", but the whole is smooth")[0], shown_number(to_float(entry.truth))
    note = (
        f"{reason}, at this point alone: beside it the slope is {beside}; torch picked {shown_number(number_of(entry))}"
    )
    return replace(entry, verdict="kink", note=note)


def _place(entry: Entry) -> tuple[object, ...]:
    return entry.variable, entry.row, entry.column


def _kinks_of_released(question: Question, numbers: Torch) -> dict[tuple[object, ...], Entry]:
    """Find the entries at a kink of the function in which nothing is held constant, by their places."""
    whole, others = released(question.program)
    if not others:
        return {}
    shapes = {symbol: question.shapes[symbol] for symbol in whole.variables}
    point = Point.from_inputs(whole, shapes, question.arrays)
    if not point.may_be_singular:
        return {}
    entries = judge(point, numbers, question.wrt).entries
    return {_place(entry): entry for entry in entries if entry.verdict == "kink" and entry.proven}

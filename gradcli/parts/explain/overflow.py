"""Advice on numbers that float32 cannot hold: the type that holds them."""

from __future__ import annotations

import math

from gradcli.crosscheck.advising import AdvisedPoint, JudgeForm
from gradcli.crosscheck.judge import Judgement
from gradcli.option_words import option
from gradcli.results import Array, Entry


def explained(point: AdvisedPoint, judgement: Judgement, v: Array | None) -> Judgement:
    """Name float64 in the findings on numbers that it holds and float32 does not."""
    return judgement.changed(_with_advice) if point.dtype == "float32" else judgement


def advised(point: AdvisedPoint, judgement: Judgement, v: Array | None, judge_form: JudgeForm) -> Judgement:
    """Name float64, and no other form."""
    return explained(point, judgement, v)


def _with_advice(entry: Entry) -> Entry:
    truth = entry.assessment.truth
    is_lost = entry.torch is not None and math.isinf(entry.torch) and truth is not None
    if not is_lost or not math.isfinite(float(truth)):
        return entry
    return entry.judged(note=f"{entry.note}; {option('dtype', 'float64')} holds it")

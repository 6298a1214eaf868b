"""What is assumed of the variables of a check: the question of the function of members, and that of the function."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from gradcli.errors import InputError
from gradcli.option_words import option
from gradcli.parts.claims.structures import Assumed, named_variables, structures_of, under
from gradcli.questions.parsed_text import ParsedText
from gradcli.questions.question import Question, rounded


class Assumption(NamedTuple):
    """What is assumed of variables.

    Attributes:
        structures: The structures by variable.
        question: The question of the function of the nearest members.
        general: Asks that of the function itself, at the same point.
    """

    structures: Assumed
    question: Question
    general: Callable[[], Question]


def assumption_of(
    function: ParsedText,
    question: Question,
    assume: Mapping[str, str],
    drawn: Collection[str],
    general: Callable[[], Question],
) -> Assumption:
    """Read what is assumed of variables; values that are drawn are made members.

    Raises:
        InputError: A variable is not known, its value is no member, or values decide what the function is.
    """
    if question.recording is not None:  # which is one of nearest members
        names = function.variables if len(function.variables) == 1 else function.parameters
        return Assumption(named_variables(structures_of(assume), names), question, general)
    assumed = named_variables(structures_of(assume), question.program.names)
    if question.reread_at is not None:
        message = f"values decide which operations the expression has, and {option('assume')} does not follow them"
        raise InputError(message, hint="write it without a mask, such as where(x > 0, x, 0)")
    members = {name: one.member(question.arrays[name]) for name, one in assumed.items() if name in drawn}
    question = question.with_values({name: rounded(array, question.dtype) for name, array in members.items()})
    for name, one in assumed.items():
        one.require(name, question.arrays[name], question.dtype)
    return Assumption(assumed, under(question, assumed), lambda: question)

"""What is assumed of the variables of a check: the question of the function of members, and that of the function."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from gradcli.errors import InputError
from gradcli.option_words import option
from gradcli.parts.claims.structures import Assumed, named_variables, structures_of, under
from gradcli.questions.bound_function import BoundFunction, rounded
from gradcli.questions.parsed_text import ParsedText


class Assumption(NamedTuple):
    """What is assumed of variables.

    Attributes:
        structures: The structures by variable.
        bound: The question of the function of the nearest members.
        general: Asks that of the function itself, at the same point.
    """

    structures: Assumed
    bound: BoundFunction
    general: Callable[[], BoundFunction]


def assumption_of(
    function: ParsedText,
    bound: BoundFunction,
    assume: Mapping[str, str],
    drawn: Collection[str],
    general: Callable[[], BoundFunction],
) -> Assumption:
    """Read what is assumed of variables; values that are drawn are made members.

    Raises:
        InputError: A variable is not known, its value is no member, or values decide what the function is.
    """
    if bound.recording is not None:  # which is one of nearest members
        names = function.variables if len(function.variables) == 1 else function.parameters
        return Assumption(named_variables(structures_of(assume), names), bound, general)
    shapes = {name: bound.arrays[name].shape for name in bound.program.names}
    assumed = named_variables(structures_of(assume), bound.program.names, lambda: shapes)
    if bound.reread_at is not None:
        message = f"values decide which operations the expression has, and {option('assume')} does not follow them"
        raise InputError(message, hint="write it without a mask, such as where(x > 0, x, 0)")
    members = {name: one.member(bound.arrays[name]) for name, one in assumed.items() if name in drawn}
    bound = bound.with_values({name: rounded(array, bound.dtype) for name, array in members.items()})
    for name, one in assumed.items():
        one.require(name, bound.arrays[name], bound.dtype, is_moved=name in bound.wrt)
    return Assumption(assumed, under(bound, assumed), lambda: bound)

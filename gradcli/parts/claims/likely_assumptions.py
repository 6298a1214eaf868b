"""Assumptions under which a refuted claim holds: those of its values, each tried before it is named."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from gradcli.crosscheck.compare import Tolerance
from gradcli.errors import GradcliError, InputError
from gradcli.option_words import Words, marked, option
from gradcli.parts.claims.checked_points import CheckedPoint
from gradcli.parts.claims.structures import STRUCTURES, Assumed, Structure, in_words, under
from gradcli.parts.claims.subject import Subject
from gradcli.parts.claims.verdict import claimed
from gradcli.questions.bound_function import BoundFunction
from gradcli.results import Claim

OF_VALUES = ("simplex", "positive", "diagonal", "triangular")
"""Structures that are tried where the given values have them; symmetry is tried of each square matrix."""


def with_assumption(look: CheckedPoint, claim: Claim, tolerance: Tolerance, seed: int) -> Claim:
    """Say of a refuted formula what it holds for, if that is proved."""
    bound = look.bound
    if bound.recording is not None or bound.reread_at is not None:
        return claim
    for assumed in _likely(bound, claim.variable):
        members = {name: one.member(bound.arrays[name]) for name, one in assumed.items() if one.name == "symmetric"}
        with suppress(GradcliError):
            there = under(bound.with_values(members), assumed)
            subject = Subject.from_program(there.program, there.shapes, claim.variable, look.numbers.v, assumed)
            found = claimed(
                subject, claim.text, there.arrays, tolerance, seed=seed, dtype=there.dtype, is_explained=False
            )
            if found.status == "proved":
                asked = option("assume", *(f"{name}={one.name}" for name, one in assumed.items()))
                on_edge = any(name in bound.wrt and one.edge(name, bound.arrays[name]) for name, one in assumed.items())
                asked += f" and {option('wrt', claim.variable)}" * on_edge
                note = Words(f"it holds for {in_words(assumed)}: {asked}")
                return replace(claim, note=Words(f"{marked(claim.note)}; {note}") if claim.note else note)
    return claim


def _likely(bound: BoundFunction, variable: str) -> Iterator[Assumed]:
    """Generate assumptions of one variable, and then the same of all that may have it."""
    names = [str(symbol) for symbol in bound.program.variables]
    squares = [x for x in names if len(shape := bound.arrays[x].shape) == 2 and shape[0] == shape[1] > 1]
    for one, several in ((STRUCTURES["symmetric"], squares), *((STRUCTURES[name], names) for name in OF_VALUES)):
        fitting = (
            several
            if one.name == "symmetric"
            else [name for name in several if _has(bound, name, one, is_moved=name == variable)]
        )
        yield from ({name: one} for name in fitting)
        if len(fitting) > 1:
            yield dict.fromkeys(fitting, one)


def _has(bound: BoundFunction, name: str, one: Structure, *, is_moved: bool) -> bool:
    """Tell whether the value of a variable has a structure."""
    value = bound.arrays[name]
    if value.size < 2 and not one.is_of_positives:
        return False
    with suppress(InputError):
        one.require(name, value, bound.dtype, is_moved=is_moved)
        return one.is_of_positives or one.fits(value.shape)
    return False

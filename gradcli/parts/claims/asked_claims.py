"""Claims as they are asked: the variable of each, and the verdict on each at a point."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import MappingProxyType

import numpy as np

from gradcli import results
from gradcli.arrays import Array
from gradcli.crosscheck.compare import Tolerance
from gradcli.errors import GradcliError, InputError, LanguageError, NamelessValueError, Place, Span, did_you_mean
from gradcli.language.inputs import Value
from gradcli.option_words import option
from gradcli.parts.claims.checked_points import CheckedPoint
from gradcli.parts.claims.claim_readings import ClaimedFunction, StatedFunction, read, read_numbers
from gradcli.parts.claims.equations import differentials_in, variable_of
from gradcli.parts.claims.proof_boxes import ClaimBox
from gradcli.parts.claims.structures import Assumed
from gradcli.parts.claims.subject import Subject
from gradcli.parts.claims.verdict import claimed, expected as judged_numbers, with_general
from gradcli.questions import judging
from gradcli.questions.bound_function import BoundFunction

ONLY = ""
"""Name of a claim or a value that was given without a variable: it is for the only variable."""


_COLON = re.compile(r"\s*(\w+)\s*(:)\s*([^=\s].*)", re.DOTALL)
"""A claim with a colon after its variable: `x: 2*x`."""


def with_statements(
    claim: Mapping[str, str | StatedFunction], variables: Collection[str]
) -> Mapping[str, str | StatedFunction]:
    """Put back in its place what names no variable: `h = x - mean(x); h*v`, and `df = 2*x@dx`.

    Raises:
        LanguageError: A colon stands after the variable of a claim.
    """
    found: dict[str, str | StatedFunction] = {}
    for name, text in claim.items():
        after = _COLON.match(text) if name == ONLY and isinstance(text, str) else None
        if after is not None and after[1] in variables:
            place, meant = Place(after.string, Span(*after.span(2)), "--claim"), f'"{after[1]}={after[3]}"'
            raise LanguageError("unexpected ':'", place=place, hint=f"write {option('claim', meant)}")
        whole = f"{name} = {text.strip() if isinstance(text, str) else ''}"
        has_statements = ";" in whole or "\n" in whole or bool(differentials_in(whole, variables))
        is_statement = isinstance(text, str) and name not in (ONLY, *variables) and has_statements
        found[ONLY if is_statement else name] = whole if is_statement else text
    return found


def variable_by_name(name: str, wrt: Sequence[str], flag: str, text: str = "") -> str:
    """Return the variable of a claim or a value: named before it, or on the left-hand side of its text.

    Raises:
        InputError: There is no such variable, or there are several and none is named.
    """
    if name == ONLY:
        name = variable_of(text) if "/" in text and "=" in text else ""
        name = name or (wrt[0] if len(wrt) == 1 else "")
    if name in wrt:
        return name
    if not wrt:
        raise InputError(f"{option(flag)} is of no derivative: there is no variable to differentiate by")
    known = ", ".join(wrt)
    if not name:
        message = f"{option(flag)} names no variable, and the derivative is by {known}"
        raise NamelessValueError(message, hint=f"write {option(flag, 'NAME=...')}")
    hint = did_you_mean(name, wrt) or f"the variables to differentiate by are: {known}"
    raise InputError(f"{option(flag)} names '{name}', which the derivative is not by", hint=hint)


def claims_of(
    bound: BoundFunction,
    given: Mapping[str, object],
    has_v: bool,
    claim: Mapping[str, str | StatedFunction] | None,
    expect: Mapping[str, Value] | None,
) -> tuple[Mapping[str, str | ClaimedFunction], Mapping[str, Value]]:
    """Return claims and numbers by variable, after reading each once, so that mistakes are found before torch runs.

    A function that is given without a variable states the derivatives by all of them.
    """
    claims: dict[str, str | ClaimedFunction] = {}
    for name, one in (claim or {}).items():
        if isinstance(one, str) and name == ONLY and (moved := differentials_in(one, bound.wrt)):
            claims |= dict.fromkeys(moved, one)
        elif isinstance(one, str):
            fitting = _of_its_shape(bound, one) if name == ONLY and len(bound.wrt) > 1 else []
            claims[variable_by_name(fitting[0] if len(fitting) == 1 else name, bound.wrt, "claim", one)] = one
        else:
            names = bound.wrt if name == ONLY else (variable_by_name(name, bound.wrt, "claim"),)
            claims |= {variable: one.stated(given, variable, bound.wrt) for variable in names}
    expected = {variable_by_name(name, bound.wrt, "expect"): value for name, value in (expect or {}).items()}
    v = np.ones(bound.shape) if has_v else None
    for name, stated in claims.items():
        if isinstance(stated, str):
            read(subject_of(bound, name, v), stated)
    for name, value in expected.items():
        read_numbers(subject_of(bound, name, v), value)
    return claims, expected


def _of_its_shape(bound: BoundFunction, text: str) -> list[str]:
    """List the variables by which a claim has the shape of the gradient or the Jacobian."""
    found: list[str] = []
    for name in bound.wrt:
        with suppress(GradcliError):
            reading = read(subject_of(bound, name, None), text)
            is_turned = reading.is_transposed or reading.is_by_denominators
            found += [name] * (reading.own == reading.shape and not is_turned)
    return found


def subject_of(bound: BoundFunction, name: str, v: Array | None, assumed: Assumed = MappingProxyType({})) -> Subject:
    """Return the subject of a claim of the derivative by one variable."""
    return Subject.from_program(bound.program, bound.shapes, name, v, assumed)


def judged_claims(
    look: CheckedPoint,
    claims: Mapping[str, str | ClaimedFunction],
    expected: Mapping[str, Value],
    tolerance: Tolerance,
    seed: int,
    assumed: Assumed,
    general: Callable[[], BoundFunction],
) -> tuple[results.Claim, ...]:
    """Judge each claim and each of the numbers; where something is assumed, also without that."""
    bound, v = look.bound, look.numbers.v
    found = tuple(each_claim(bound, v, claims, expected, tolerance, seed, assumed))
    if not assumed:
        refuted = [one for one in found if one.status == "refuted" and one.text == claims.get(one.variable)]
        if refuted:
            from gradcli.parts.claims.likely_assumptions import with_assumption

            found = tuple(with_assumption(look, one, tolerance, seed) if one in refuted else one for one in found)
        return found
    if not found:
        return found
    others = each_claim(look.of_another(general()).bound, v, claims, expected, tolerance, seed)
    return tuple(with_general(*pair, assumed) for pair in zip(found, others, strict=True))


def each_claim(
    bound: BoundFunction,
    v: Array | None,
    claims: Mapping[str, str | ClaimedFunction],
    expected: Mapping[str, Value],
    tolerance: Tolerance,
    seed: int,
    assumed: Assumed = MappingProxyType({}),
    boxes: Mapping[str, ClaimBox] = MappingProxyType({}),
) -> Iterator[results.Claim]:
    """Prove or refute each claim, at all points or in a box, and compare each of the numbers."""

    def subject_at(name: str, at: Mapping[str, Array]) -> Subject | None:
        there = bound.with_values(at)
        return None if any(judging.boundaries(there)) else subject_of(there, name, v, assumed)

    for name, one in claims.items():
        subject, box = subject_of(bound, name, v, assumed), boxes.get(name)
        anew = partial(subject_at, name) if bound.is_of_point else None
        yield claimed(subject, one, bound.arrays, tolerance, seed=seed, dtype=bound.dtype, anew=anew, box=box)
    for name, value in expected.items():
        yield judged_numbers(subject_of(bound, name, v, assumed), value, bound.arrays, tolerance)

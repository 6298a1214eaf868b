"""Claims in a box: proved of each of its points, or refuted by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from gradcli import results
from gradcli.arrays import Array
from gradcli.crosscheck.compare import TOLERANCE
from gradcli.errors import InputError, UsageError, did_you_mean
from gradcli.language.inputs import Value, read_range
from gradcli.option_words import option
from gradcli.parts import is_listed
from gradcli.parts.claims.asked_claims import claims_of, each_claim
from gradcli.parts.claims.claim_readings import ClaimedFunction, StatedFunction
from gradcli.parts.claims.proof_boxes import ClaimBox, ProofBox
from gradcli.progress import set_step
from gradcli.questions.bound_function import BoundFunction, Dtype, FunctionWithValues
from gradcli.questions.naming import Directions
from gradcli.questions.parsed_text import Inputs, ParsedText
from gradcli.reference.deadline import time_limit


@dataclass(frozen=True)
class ClaimsInBox:
    """What is asked of a whole box; the attributes are the arguments of `check`.

    Attributes:
        whose: The function as it was given.
        unbound: The function as it is asked about.
        at: The values of the variables that stay.
    """

    whose: ParsedText
    unbound: FunctionWithValues
    at: Inputs | None
    box: Mapping[str, str]
    along: Directions
    prove: str | None
    claim: Mapping[str, str | StatedFunction]
    v: Value | None
    rtol: float | None
    seed: int
    allow: Sequence[results.Allowed]

    def answer(self) -> results.BoxChecking:
        """Check every point: claims and statements if there are some, else torch's numbers.

        Raises:
            GradcliError: A range, a claim, a statement or a tolerance makes no sense.
            UsageError: Nothing here checks boxes.
        """
        if is_listed("everywhere"):
            from gradcli.parts.everywhere import checked_in_box

            if not self.claim:
                return checked_in_box(self.unbound, self.box, self.prove, self.rtol, tuple(self.allow), self.along)
            self._require_sensible()
            found = self._claims()
            if self.prove is None:
                return found
            proofs = checked_in_box(self.unbound, self.box, self.prove, self.rtol, ())
            return replace(proofs, claims=found.claims, allowed=found.allowed)
        raise UsageError("nothing here proves statements")

    def _require_sensible(self) -> None:
        """Refuse what is not of claims.

        Raises:
            InputError: A verdict is allowed that no claim has, or there is no box.
            UsageError: A line is asked for.
        """
        if self.along is not None:
            message = f"a claim is of a function, and {option('along')} asks for one along a line"
            raise UsageError(message, hint=f"leave out {option('along')}, or {option('claim')}")
        if not self.box:
            raise InputError("a box needs the range of a variable", hint=f"add {option('in', 'x=0..1')}")
        for name in self.allow:
            _require_of_claims(name)

    def _claims(self) -> results.BoxChecking:
        """Prove or refute the claims."""
        start, ranges = self.unbound.within(self.box)
        at_low = start.bind()
        sides = _sides(at_low, ranges)
        bound = at_low.with_values({name: _inside(sides, name, at_low.dtype) for name in ranges})
        tolerance = TOLERANCE[bound.dtype]
        tolerance = tolerance if self.rtol is None else replace(tolerance, rtol=self.rtol, is_strict=True)
        v = None if self.v is None else bound.weights(bound.cotangent(self.v, None))
        given = self.whose._argument_values(self.at, bound)
        claims, _ = claims_of(bound, given, v is not None, self.claim, {})
        with time_limit():
            set_step("proving")
            boxes = {
                name: ClaimBox(sides, bound.dtype, partial(self._suspects, bound, name, one, ranges))
                for name, one in claims.items()
            }
            found = tuple(each_claim(bound, v, claims, {}, tolerance, self.seed, boxes=boxes))
            found, notes = _of_code(self.unbound, ranges, found)
            notes += _notes(self.unbound, ranges) if any(one.status == "proved" for one in found) else ()
        return results.BoxChecking(
            command="check",
            expression=bound.program.expression,
            dtype=bound.dtype,
            inputs={name: array for name, array in bound.arrays.items() if name not in ranges},
            ranges={name: ranges[name] for name in bound.program.names if name in ranges},
            wrt=bound.wrt,
            output=bound.program.output_name,
            boxes=0,
            proofs=(),
            regions=(),
            rtol=None,
            claims=found,
            allowed=tuple(self.allow),
            notes=notes,
            warnings=bound.program.warnings,
        )

    def _suspects(
        self, bound: BoundFunction, variable: str, claim: str | ClaimedFunction, ranges: Mapping[str, str]
    ) -> Sequence[Mapping[str, Array]]:
        """Find points at which bounds say that a formula of one number is not the derivative."""
        is_of_number = not bound.shape and not bound.arrays[variable].shape and variable in ranges
        if not (isinstance(claim, str) and is_of_number):
            return []
        if is_listed("everywhere"):
            from gradcli.parts.everywhere import failing_points

            slope = f"d{bound.program.output_name}/d{variable}"
            return failing_points(self.unbound, ranges, [f"{slope} >= ({claim})", f"{slope} <= ({claim})"])
        return []


def _require_of_claims(allowed: str) -> None:
    """Refuse to allow what no claim is.

    Raises:
        InputError: It is none of its outcomes.
    """
    if allowed != results.NO_COUNTEREXAMPLE:
        hint = did_you_mean(allowed, [results.NO_COUNTEREXAMPLE])
        message = f"{option('allow')} names '{allowed}', and a claim is proved, refuted, or has no counterexample"
        raise InputError(message, hint=hint or f"write {option('allow', results.NO_COUNTEREXAMPLE)}")


def _of_code(
    unbound: FunctionWithValues, ranges: Mapping[str, str], claims: tuple[results.Claim, ...]
) -> tuple[tuple[results.Claim, ...], tuple[str, ...]]:
    """Leave claims on code unproved where its backward pass is seen to be wrong; give remarks.

    Raises:
        GradcliError: The code may do something else in the box than what was recorded of it.
    """
    if unbound.recording is None or not any(one.status == "proved" for one in claims):
        return claims, ()
    if is_listed("everywhere"):
        from gradcli.parts.everywhere import OF_RECORDING, wrong_backward_in_box

        if wrong := wrong_backward_in_box(unbound, ranges):
            claims = tuple(
                replace(one, status="no counterexample", note=wrong) if one.status == "proved" else one
                for one in claims
            )
        return claims, (OF_RECORDING,)
    return claims, ()


def _notes(unbound: FunctionWithValues, ranges: Mapping[str, str]) -> tuple[str, ...]:
    """Say where in a box there may be no derivative to claim, besides kinks."""
    if is_listed("everywhere"):
        from gradcli.parts.everywhere import not_everywhere_in

        words = not_everywhere_in(unbound, ranges)
        return (f"{words}: claims are of the points with a derivative",) if words else ()
    return ()


def _sides(bound: BoundFunction, ranges: Mapping[str, str]) -> ProofBox:
    """Read the ends of the variables that move; the others have one value."""
    low = {name: array.astype(np.float64) for name, array in bound.arrays.items()}
    high = dict(low)
    for name, text in ranges.items():
        low[name], high[name] = (
            np.asarray(end, np.float64) for end in bound.bounds(name, read_range(text, f"--in {name}"))
        )
    return ProofBox(low, high)


def _inside(sides: ProofBox, name: str, dtype: Dtype) -> Array:
    return ClaimBox(sides, dtype).inside(name, np.full_like(sides.low[name], np.nan))

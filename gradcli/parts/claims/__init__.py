"""Derivatives that somebody claims: proved, not refuted, or refuted.

subject, claim_readings          the subject of a claim; the reading of its text by its shape
structures, assumptions          what values are assumed to be, such as symmetric, and the directions of that
stacked_readings                 the derivative by stacked columns of a matrix, or by rows
structured_formulas              formulas written by what is assumed
equations                        claims in index notation: left-hand sides, and the indices of their letters
differentials                    claims as differentials, df = trace(G.T@dX)
evaluation                       a claim next to the enclosures of the truth at a point
search                           points where it fails, first those where branches meet
algebraic_proof                  a proof in the algebra of whole tensors, for all sizes
proof                            the same, or else in index notation, for each region and entry; and of equal functions
regions                          the regions between branches, and the comparison of truth and claim in each
mistakes                         the likeliest mistake in a refuted claim
tolerance_advice                 the tolerance that accepts a claim with rounded decimals
likely_assumptions               what a refuted claim holds for
verdict                          all of these in order, and the verdict on the claim
check_document                   a check as a document, and as rows
mode_checks                      numbers of further modes of differentiation, compared with the same truth
checked_points                   the points of a check, random ones too
point_options                    options of points next to a box: what can be asked instead
asked_claims                     the variable of each claim that is asked, and the verdicts at a point
open_claims                      claims without values: the shapes with which they and the function make sense
proof_boxes, box_claims          a box in which a claim is to hold; claims that are asked in one
respelled_claims                 checks that may be meant by a line that cannot be read
check, shell                     the command: all readings of a derivative, and the claims, side by side
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from gradcli.parts.command import Command
from gradcli.parts.part import Part
from gradcli.parts.renderer import Renderer, data_formats

if TYPE_CHECKING:
    from sympy import Symbol

    from gradcli.language.program.wengert import Program, Shape
    from gradcli.parts.claims.search import Compared as Compared
    from gradcli.parts.claims.structures import Structure
    from gradcli.report.document import Node
    from gradcli.results import Array, BoxChecking, Claim

_COMMANDS = {
    "check": Command(
        "check",
        "Look closer",
        "gradcli.parts.claims.shell:check",
        "gradcli.parts.claims.check:check",
        answer="gradcli.parts.claims.shell:answer_check",
        lacks=("npy",),
        other_names=("prove", "verify", "gradcheck", "check_grads", "grad-check", "gradient-check"),
        near=("compare", "test", "validate"),
        respelled="gradcli.parts.claims.respelled_claims:respelled",
    ),
}


class ClaimsPart(Part):
    """Derivatives that somebody states, checked."""

    COMMANDS = tuple(_COMMANDS)

    def command(self, name: str) -> Command:
        """Return one of its commands."""
        return _COMMANDS[name]

    def composers(self) -> Mapping[str, str]:
        """Return what composes checks."""
        return {"Checking": "gradcli.parts.claims.check_document:compose_check"}

    def renderers(self) -> tuple[Renderer, ...]:
        """Return a check as bare words, and as rows."""
        return data_formats("gradcli.parts.claims.check_document", "Checking")


PART = ClaimsPart()


def are_same(
    one: Program,
    other: Program,
    shapes: Mapping[str, Shape],
    box: tuple[Mapping[str, Array], Mapping[str, Array]] | None = None,
) -> bool:
    """Tell whether two Programs are proved to be one function of these shapes; that no proof is found says nothing.

    Args:
        one: A function.
        other: Of the same variables.
        shapes: Of the variables by name.
        box: The lower and the upper ends of the variables where they are to be the same, if not everywhere.
    """
    from gradcli.parts.claims import proof, proof_boxes

    return proof.are_same(one, other, shapes, None if box is None else proof_boxes.ProofBox(*box))


def compose_claims(answer: BoxChecking, digits: int | None, *, is_full: bool) -> Iterator[Node]:
    """Compose the outcomes of the claims in a box."""
    from gradcli.parts.claims import check_document

    return check_document.claims_in_box(answer, digits, is_full=is_full)


def failures_of_claims(answer: BoxChecking) -> list[str]:
    """Count the claims that do not pass, in words."""
    from gradcli.parts.claims import check_document

    return check_document.failures_of_claims(answer)


def rows_of_claims(claims: Sequence[Claim]) -> Iterator[list[str]]:
    """List of each claim its outcome in one word, its variable, and its text on one line."""
    from gradcli.parts.claims import check_document

    return check_document.rows_of_claims(claims)


def structures_of_variables(assume: Mapping[str, str] | None, names: tuple[str, ...]) -> Mapping[str, Structure]:
    """Read the structures that are assumed of variables.

    Raises:
        InputError: There is no such structure, or no such variable.
    """
    from gradcli.parts.claims.structures import named_variables, structures_of

    return named_variables(structures_of(assume), names)


def is_proved_derivative(
    program: Program, shapes: Mapping[Symbol, Shape], variable: str, text: str, of: str = "gradient"
) -> bool:
    """Tell whether a text is proved to be a derivative of a Program by a variable; false if no proof is found.

    Args:
        program: The function.
        shapes: Of its variables.
        variable: The name of one of them.
        text: The derivative.
        of: What it is to be read as: the gradient, or the Jacobian.

    Raises:
        GradcliError: The text is no formula of it.
        OverTimeError: The time is over.
    """
    from gradcli.parts.claims import claim_readings, proof, subject

    function = subject.Subject.from_program(program, shapes, variable, None)
    reading = claim_readings.read(function, text)
    is_turned = reading.is_transposed or reading.is_by_denominators
    if reading.of != of or is_turned:
        return False
    return proof.prove(function, reading, at_kinks_too=False) is not None


def compared_at_random(
    program: Program, shapes: Mapping[Symbol, Shape], variable: str, text: str, points: int
) -> Compared:
    """Compare a text with a derivative of a Program by a variable, at random points.

    Args:
        program: The function.
        shapes: Of its variables.
        variable: The name of one of them.
        text: The derivative.
        points: The number of points that have to say something.

    Raises:
        GradcliError: The text is no formula of it.
    """
    import numpy as np

    from gradcli.crosscheck.compare import TOLERANCE
    from gradcli.crosscheck.sample import SEED
    from gradcli.parts.claims import claim_readings, evaluation, search, subject

    function = subject.Subject.from_program(program, shapes, variable, None)
    comparison = evaluation.ClaimComparison(function, claim_readings.read(function, text), TOLERANCE["float64"])
    given = {str(symbol): np.zeros(shape) for symbol, shape in function.shapes.items()}
    return search.Search(comparison, given, SEED, "float64").compared(points)


def is_proved_gradient(program: Program, shapes: Mapping[Symbol, Shape], variable: str, text: str) -> bool:
    """Tell whether a text is proved to be the gradient of a Program by a variable; false if no proof is found.

    Raises:
        GradcliError: The text is no formula of it.
        OverTimeError: The time is over.
    """
    return is_proved_derivative(program, shapes, variable, text)

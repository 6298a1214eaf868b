"""Diagnosis: the operations that lost digits, and better forms of the function.

error_trace                      the numbers that torch computed on the way, next to the truth
diagnosis                        the operation that lost digits or gave NaN, and its fault in a sentence
advice                           the rewrites that are verified to be the same function, and better at the point
exploring, measuring             known forms, a search for forms that lose fewer bits, and the measure of the bits lost
improving, magnitudes            the best form at points or over a range, joined of two; points of a range by magnitude
forms                            a function while it is rewritten: lines in the place of others, and the new text
remaining                        what a better form still loses, and from where to where
identities, matching             the table of expressions that are the same function, and their search in a Program
improve, shell                   the command: the form that loses the fewest digits
improvement_document             the bits lost and the better form, as a document
guards, expansions               branches that poison; series where parts cancel, or are 0/0
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gradcli.parts.command import Command
from gradcli.parts.part import Part
from gradcli.parts.renderer import Renderer

if TYPE_CHECKING:
    from gradcli.crosscheck.advising import Adviser
    from gradcli.questions.bound_function import FunctionWithValues
    from gradcli.results import Improvement


_IMPROVE = Command(
    "improve",
    "Look closer",
    "gradcli.parts.improve.shell:improve",
    "gradcli.parts.improve.improve:improve",
    lacks=("csv", "tsv", "npy", "npz"),
    other_names=("rewrite", "stabilize"),
    elsewhere=tuple(
        (name, "gradcli improve rewrites a function where it loses digits; gradcli check proves formulas, by --claim")
        for name in ("simplify", "expand", "factor")
    ),
)


class ImprovePart(Part):
    """Causes of lost digits, and better forms."""

    COMMANDS = ("improve",)

    def command(self, name: str) -> Command:
        """Return one of its commands."""
        return {_IMPROVE.name: _IMPROVE}[name]

    def adviser(self) -> Adviser:
        """Return the diagnosis of wrong numbers, and the search for a better form."""
        from gradcli.parts.improve import advice

        return advice

    def composers(self) -> Mapping[str, str]:
        """Return what composes better forms."""
        return {"Improvement": "gradcli.parts.improve.improvement_document:compose_improvement"}

    def renderers(self) -> tuple[Renderer, ...]:
        """Return the better form as bare text."""
        return (Renderer("plain", "gradcli.parts.improve.improvement_document:plain", answers=("Improvement",)),)


PART = ImprovePart()


def improved(unbound: FunctionWithValues, ranges: Mapping[str, str]) -> Improvement:
    """Find the form that loses the fewest digits at the point, at each of the points, or over the ranges.

    Raises:
        GradcliError: A value is missing, surplus or malformed, or there is neither a value nor a range.
    """
    from gradcli.parts.improve import improve

    return improve.improved(unbound, ranges)

"""Those who read the parts of one text, each made where it is first needed: a formula such as `x**2` needs few."""

from __future__ import annotations

from functools import cached_property

from gradcli.language.lower.arguments import Binder
from gradcli.language.lower.constants import Constants
from gradcli.language.lower.deciding import Decisions
from gradcli.language.lower.dotted_names import DottedNames
from gradcli.language.lower.indices import Indices
from gradcli.language.lower.inlining import Inlining, Meaning
from gradcli.language.lower.libraries import Libraries
from gradcli.language.lower.scope import Evaluation, Lines, Lower
from gradcli.language.lower.sizes import Sizes


class Readers:
    """What a text is read by; they share its lines.

    Attributes:
        lines: The lines so far.
        evaluation: What evaluates lines, if constant arguments are read.
        meaning: Reads a text of the op table.
    """

    lines: Lines
    evaluation: Evaluation | None
    meaning: Meaning
    lower: Lower

    @cached_property
    def constants(self) -> Constants:
        """Of constant arguments."""
        return Constants(self.lines, self.lower, self.sizes)

    @cached_property
    def sizes(self) -> Sizes:
        """Of shapes, where they are known."""
        return Sizes(self.lines, self.evaluation)

    @cached_property
    def indices(self) -> Indices:
        """Of index notation."""
        return Indices(self.lines, self.lower, self.constants)

    @cached_property
    def decisions(self) -> Decisions:
        """Of what values decide."""
        return Decisions(self.lines, self.sizes)

    @cached_property
    def inlining(self) -> Inlining:
        """Of calls whose lines are other operations."""
        return Inlining(self.lines, self.decisions, self.meaning)

    @cached_property
    def binder(self) -> Binder:
        """Of arguments."""
        return Binder(self.lines, self.lower, self.constants, self.libraries)

    @cached_property
    def dotted(self) -> DottedNames:
        """Of names with dots in them."""
        return DottedNames(self.lines)

    @cached_property
    def libraries(self) -> Libraries:
        """Of what NumPy means otherwise than torch."""
        return Libraries(self.lines)

"""Formulas without a point: a derivative in closed form, for shapes that are given or inferred.

formula_document  the formulas as a document, as bare text, and as rows
tensor_formulas  derivatives in whole tensors, where they are proved
closed_form    the formulas, confirmed at random points
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from gradcli.parts.part import Part
from gradcli.parts.renderer import Renderer, data_formats

if TYPE_CHECKING:
    from gradcli.language.program.named_shapes import NamedReading
    from gradcli.language.program.shape_readings import GivenShape, TextBeside
    from gradcli.language.program.wengert import Shape
    from gradcli.questions.question import Inquiry


class ClosedFormsPart(Part):
    """Formulas of derivatives for values and sizes that are not known."""

    def methods(self) -> Mapping[str, str]:
        """Return the method that answers by a formula."""
        return {"closed_form": "gradcli.parts.closed_forms.closed_form:closed_form"}

    def composers(self) -> Mapping[str, str]:
        """Return what composes formulas alone."""
        return {"ClosedForm": "gradcli.parts.closed_forms.formula_document:compose_closed_form"}

    def renderers(self) -> tuple[Renderer, ...]:
        """Return formulas as bare text, and as rows."""
        return data_formats("gradcli.parts.closed_forms.formula_document", "ClosedForm")


PART = ClosedFormsPart()


def at_random_values(inquiry: Inquiry, seed: int, reading: NamedReading | None = None) -> Inquiry:
    """Give a question without values random ones, of likely shapes, at which the function has a value.

    Args:
        inquiry: The question.
        seed: Of the values.
        reading: The shapes; by default the likeliest.

    Raises:
        GradcliError: No shapes fit, or the function has no value at any of the points that are tried.
    """
    from gradcli.parts.closed_forms import closed_form

    return closed_form.at_random_values(inquiry, seed, reading)


def readings(
    inquiry: Inquiry,
    given: Mapping[str, GivenShape],
    beside: Sequence[TextBeside] = (),
    cost_of: Callable[[Shape], float | None] = lambda shape: 0.0,
) -> Iterator[NamedReading]:
    """Generate the shapes with which a text makes sense, the likeliest first, as `closed_form.readings` does.

    Raises:
        GradcliError: A shape is malformed, or of no variable, or no shapes fit.
    """
    from gradcli.parts.closed_forms import closed_form

    return closed_form.readings(inquiry, given, beside, cost_of)

"""Formulas without a point: a derivative in closed form, for shapes that are given or inferred.

formula_document  the formulas as a document, as bare text, and as rows
tensor_formulas  derivatives in whole tensors, where they are proved
closed_form    the formulas, confirmed at random points
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gradcli.parts.part import Part
from gradcli.parts.renderer import Renderer, data_formats

if TYPE_CHECKING:
    from gradcli.language.program.wengert import Atom, Program, Shape
    from gradcli.symbolic.matrix_algebra.spelling import WholeTensors


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


def whole_gradient(program: Program, shapes: Mapping[Atom, Shape], variable: str) -> WholeTensors | None:
    """Return the gradient of a function of one element in whole tensors; None if there is none that is proved.

    Sizes are numbers: the gradient of the mean of x is 1/2 for an x of two elements.

    Args:
        program: The function, as typed.
        shapes: Of its variables at least.
        variable: The name of one of them.
    """
    from gradcli.language.program.passes import for_formulas
    from gradcli.parts.closed_forms.tensor_formulas import SizedFunction, gradient_formula

    own = {symbol: shapes[symbol] for symbol in program.variables}
    symbol = next(one for one in own if str(one) == variable)
    function = SizedFunction(for_formulas(program), own, {}, is_of_any_size=False)
    found = gradient_formula(function, symbol)
    return None if found is None else found.whole

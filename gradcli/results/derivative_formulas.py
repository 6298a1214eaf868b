"""A derivative as formulas alone, which is a function of values too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from gradcli.notation import Notation
from gradcli.results.answers import Answer, Reply, by_variable
from gradcli.results.formula_cells import Formula, FormulaTexts, NestedFormulas
from gradcli.results.record import if_empty, json_field, json_property
from gradcli.results.verdicts import Check
from gradcli.showing import Display


def _omitted_by_variable(form: ClosedForm) -> Mapping[str, str | Mapping[str, str]]:
    return by_variable(form.omitted)


def _formulas_of(form: ClosedForm) -> Formula | Mapping[str, Formula | Mapping[str, Formula]] | None:
    """Get the formulas by variable, or the one of Ju."""
    return form.symbolic.get("") if form.command == "jvp" else form.symbolic


class ClosedForm(Reply, FormulaTexts, kw_only=True):
    """A derivative as formulas alone, for values and sizes that are not known.

    Attributes:
        wrt: The variables of the derivative, in order.
        output: The name of y.
        shapes: The shape of y and of each variable, in numbers and names of sizes.
        products: The formulas of vᵀJ per variable, for a y of several elements.
        blocks: The confirmed formulas, by the variables of row and column; the row's is "" except for a Hessian, and
            both are "" for Ju.
        omitted: The reasons why other blocks have no formula.
        matrices: Derivatives as expressions of whole tensors, by variable, where they are proved to be the same.
        check: The check of the formulas.
        remarks: Remarks about the answer itself.

    >>> from gradcli import Function
    >>> answer = Function("sin(x)*x").closed_form("grad")
    >>> answer.symbolic["x"].text, answer.check.verdict
    ('x*cos(x) + sin(x)', 'agree')
    """

    wrt: tuple[str, ...]
    output: str = json_field(None)
    shapes: Mapping[str, tuple[str, ...]]
    products: Mapping[str, Formula] = json_field("vjp", omit=if_empty, default_factory=dict)
    blocks: Mapping[tuple[str, str], Formula] = json_field(None)
    omitted: Mapping[tuple[str, str], str] = json_field("symbolic_omitted", omit=if_empty, made=_omitted_by_variable)
    matrices: Mapping[str, Notation] = json_field("matrix", omit=if_empty, before="structure", default_factory=dict)
    check: Check
    remarks: tuple[str, ...] = json_field(omit=if_empty, default=())

    @property
    @json_property(made=_formulas_of, before="brief")
    def symbolic(self) -> Mapping[str, Any]:
        """The formulas by variable, as in answers with numbers: of a Hessian by both variables, of Ju by ""."""
        return by_variable(self.blocks)

    @property
    def passed(self) -> bool:
        """Tell whether the formulas are right, and all of them were found."""
        return self.check.verdict == "agree"

    def __call__(self, *values: object, **named: object) -> Answer:
        """Answer the same question with numbers at values, by place or by name.

        >>> from gradcli import grad
        >>> grad("x**2")(3)["x"]
        array(6.)
        """
        options: dict[str, object] = {"wrt": self.wrt, **named}
        return cast(Answer, Display.ask(self.command, self.expression, *values, **options))

    @property
    @json_property(omit=if_empty, before="symbolic_omitted")
    def structure(self) -> Mapping[str, str]:
        """The structure of blocks of the Jacobian that have one, by variable."""
        return {name: found.structure for (by, name), found in self.blocks.items() if found.structure and not by}

    @property
    def _repeating(self) -> NestedFormulas:
        return self.products or self.symbolic

"""Answers of every command on a function: frozen dataclasses of NumPy arrays, formulas and verdicts.

Shapes: y, v and Ju have y's shape, a gradient, a direction and Hu their variable's, a Jacobian block y.shape + x.shape,
a Hessian block a.shape + b.shape.  Arrays have the dtype that torch computed in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from gradcli.arrays import Array
from gradcli.results.answer_numbers import ArrayKind, NamedNumbers
from gradcli.results.formula_cells import Formula, FormulaTexts
from gradcli.results.quantities import Quantity, quantities_of
from gradcli.results.record import Record, if_empty, if_none, if_whole, json_field, json_property
from gradcli.results.verdicts import Allowed, Check, Claim, Entry, ModeCheck, NumberKind, Sampling, Verdict
from gradcli.showing import Shown

SCHEMA = 1
"""Version of the keys of JSON, which changes where one goes or means something else."""


class Reply(Record, Shown, kw_only=True):
    """An answer, with the parts of the question that it repeats.

    Attributes:
        command: The name of the command.
        expression: The text as typed.
        warnings: Remarks about the expression.
    """

    command: str
    expression: str
    warnings: tuple[str, ...] = json_field(omit=if_empty, is_last=True, default=())

    @property
    @json_property(before="command")
    def schema(self) -> int:
        """The version of the keys of JSON."""
        return SCHEMA


def _is_cpu(answer: object, device: object) -> bool:
    return device == "cpu"


class Answer(Reply, NamedNumbers, kw_only=True):
    """An answer of a command that computes numbers: the question, its quantities, and remarks.

    `answer["x"]` is what was asked for, by x; y and Ju are found by the name of the output, `answer["y"]`.

    Attributes:
        dtype: `float64` or `float32`.
        device: The device that torch computed on, where it is not the CPU.
        inputs: The value of every variable, an array of `dtype`; that of a plain number has shape ().
        wrt: The variables of the derivative, in order.
        value: The output y, an array of `dtype`.
        output: The name of y: the one that the expression gives it, or y, or f where a variable is called y.
        quantities: The derivatives, an array for each variable or block, in the order of `wrt`.
        remarks: Remarks about the answer itself.
        out: The kind of the arrays that `answer["x"]` gives: tensors where the question had some.
    """

    asks: ClassVar[NumberKind] = "value"
    """Kind of the quantities that the command is asked for; the others stand next to them."""

    dtype: str
    device: str = json_field(omit=_is_cpu, default="cpu")
    inputs: Mapping[str, Array]
    wrt: tuple[str, ...]
    value: Array
    output: str = json_field(None)
    quantities: tuple[Quantity, ...] = json_field(None, default=())
    remarks: tuple[str, ...] = json_field(omit=if_empty, is_last=True, default=())
    out: ArrayKind = json_field(None, default="numpy")

    def named_numbers(self) -> Mapping[str, Array | Mapping[str, Array]]:
        """Return the numbers that were asked for, by variable; y and Ju by the name of the output."""
        return {one.axes[-1]: one.numbers for one in self.asked}

    @property
    def asked(self) -> tuple[Quantity, ...]:
        """The quantities that the command is asked for: y itself, where it is asked for no derivative."""
        if self.asks == "value":
            return quantities_of("value", self.output, (), {("", ""): self.value})
        return self.of_kind(self.asks)

    def of_kind(self, kind: NumberKind) -> tuple[Quantity, ...]:
        """List the quantities of a kind."""
        return tuple(one for one in self.quantities if one.kind == kind)

    def arrays(self, kind: NumberKind) -> dict[str, Array]:
        """Map variables to the arrays of a kind."""
        return {one.axes[-1]: one.numbers for one in self.of_kind(kind)}


def by_variable(blocks: Mapping[tuple[str, str], object]) -> dict[str, Any]:
    """Arrange values by the variables of row and column as answers have them: by the latter, of a Hessian by both."""
    found: dict[str, Any] = {}
    for (row, column), one in blocks.items():
        (found.setdefault(row, {}) if row else found)[column] = one
    return found


class Judged(Answer, kw_only=True):
    """An answer with numbers that the reference judges.

    Attributes:
        check: The verdict; None if not asked for.
    """

    check: Check | None = json_field(omit=if_none, is_last=True)

    @cached_property  # and no property, as an answer of `check` has a field of this name
    def passed(self) -> bool | None:
        """Tell whether the numbers are right, but for minor lost digits; None where that was not asked."""
        return None if self.check is None else self.check.verdict == "agree" or self.check.is_minor


class Evaluation(Judged, kw_only=True):
    """The value of a function, in `value`, and whether it can be trusted.

    >>> from gradcli import Function
    >>> answer = Function("x**2").eval({"x": [1, 2]})
    >>> answer.value, answer.check.verdict
    (array([1., 4.]), 'agree')
    """

    wrt: tuple[str, ...] = json_field(None)


class Differentiation(Judged, FormulaTexts, kw_only=True):
    """An answer of first derivatives, with the blocks of the Jacobian by variable.

    Attributes:
        jacobian_omitted: Why the Jacobian was left out.
    """

    jacobian_omitted: str = json_field(omit=if_empty, is_last=True, default="")

    @property
    @json_property(omit=if_none, before="jacobian_omitted")
    def jacobian(self) -> Mapping[str, Array] | None:
        """∂y/∂x per variable, of shape y.shape + x.shape; None if it is too large."""
        blocks = self.of_kind("jacobian")
        return None if any(one.array is None for one in blocks) else {one.axes[-1]: one.numbers for one in blocks}

    @property
    @json_property(before="brief")
    def symbolic(self) -> Mapping[str, Formula]:
        """The formula of ∂y/∂x per variable that has one."""
        return {one.axes[-1]: one.formula for one in self.of_kind("jacobian") if one.formula is not None}

    @property
    @json_property(omit=if_empty, before="check")
    def symbolic_omitted(self) -> Mapping[str, str]:
        """Why a variable has no formula."""
        return {one.axes[-1]: one.formula_omitted for one in self.of_kind("jacobian") if one.formula is None}

    @property
    @json_property(omit=if_empty, before="symbolic_omitted")
    def structure(self) -> Mapping[str, str]:
        """The structure of blocks of the Jacobian that have one, by variable."""
        return {name: formula.structure for name, formula in self.symbolic.items() if formula.structure}


class Loss(Record, kw_only=True):
    """A loss ℓ of y, the v = ∂ℓ/∂y that it gives, and the gradient of both functions in one go.

    Attributes:
        expression: The text of ℓ as typed.
        value: ℓ at y, one element.
        v: ∂ℓ/∂y by torch, of y's shape.
        formula: ∂ℓ/∂y in closed form, by the name of the output; None if there is none.
        formula_omitted: Why there is none.
        gradient: ∇(ℓ∘f) per variable, by torch through both functions at once.
        inputs: The values that ℓ names besides y.
        check: The verdict on ∂ℓ/∂y; None if not asked for.
        agrees: Whether vᵀJ equals `gradient`, up to rounding; None where that is not asked.
        warnings: Remarks about ℓ.
    """

    expression: str
    value: Array
    v: Array = json_field(None)
    formula: Formula | None = json_field("symbolic", omit=if_none)
    formula_omitted: str = json_field(
        "symbolic_omitted", omit=lambda loss, omitted: bool(loss.formula) or not omitted, default=""
    )
    gradient: Mapping[str, Array]
    inputs: Mapping[str, Array] = json_field(omit=if_empty, before="symbolic", default_factory=dict)
    check: Check | None = json_field(omit=if_none, default=None)
    agrees: bool | None = json_field(omit=if_none, default=None)
    warnings: tuple[str, ...] = json_field(None, default=())


class VJP(Differentiation, kw_only=True):
    """The vector-Jacobian product vᵀJ per variable, left in `x.grad` by `y.backward(gradient=v)`.

    Attributes:
        v: The gradient vector, of y's shape.
        accumulates: Whether earlier passes are kept.
        loss: The loss that v is the derivative of, if one was given.
    """

    asks = "vjp"

    v: Array
    accumulates: bool = json_field(None, default=False)
    loss: Loss | None = json_field(omit=if_none, default=None)

    @property
    @json_property(before="loss")
    def vjp(self) -> Mapping[str, Array]:
        """The product vᵀJ per variable, of its shape: the sum of v[i]·∂y[i]/∂x[j] over the elements of y."""
        return self.arrays("vjp")

    @property
    @json_property(omit=if_none, before="loss")
    def accumulated(self) -> Mapping[str, Array] | None:
        """The value of `x.grad` after this pass, if earlier passes are kept; None if not asked for."""
        return self.arrays("accumulated") if self.accumulates else None


class Gradient(Differentiation, kw_only=True):
    """The gradient of a y of one element, per variable."""

    asks = "gradient"

    @property
    @json_property()
    def grad(self) -> Mapping[str, Array]:
        """The derivative ∂y/∂x per variable, of its shape."""
        return self.arrays("gradient")


class Jacobian(Differentiation, kw_only=True):
    """The full Jacobian per variable, in `jacobian`, which is never None here.

    Attributes:
        is_picture: Whether it is shown as a picture of its numbers.
    """

    asks = "jacobian"

    is_picture: bool = json_field(None, default=False)


def _in_own_dtype(answer: Checking) -> tuple[Entry, ...]:
    return _in_dtype(answer, answer.opinions)


def _in_dtype(answer: Checking, opinions: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Put torch's numbers in the precision of the answer, so that their digits are the shortest."""
    kind = np.dtype(answer.dtype).type
    return tuple(replace(one, torch=kind(one.torch)) for one in opinions)


def _modes_in_own_dtype(answer: Checking) -> tuple[ModeCheck, ...]:
    return tuple(replace(mode, opinions=_in_dtype(answer, mode.opinions)) for mode in answer.modes)


class Checking(Differentiation, kw_only=True):
    """The opinions of all readings, entry by entry, worst first.

    Attributes:
        v: The gradient vector, if the entries are of vᵀJ.
        opinions: The worst entries, at most 1,024.
        opinions_count: How many there are in all: entries and elements of y.
        claims: What became of each claim.
        sampling: What random points gave, if they were asked for.
        allowed: The verdicts that pass besides `agree` and proved claims.
        modes: The checks of further modes of differentiation in torch, if that was asked for or tried.
        failing: The verdicts that do not pass, best first, of the modes too.
        passed: Whether there are none, every claim passes, and all was checked if that is required.
        elsewhere: What is wrong at other points only: custom functions that a function of Python applies.
        assumed: The structures of variables: each derivative by one is along the directions of its structure.
        requires_all: Whether a sample does not pass.
    """

    v: Array | None = json_field(omit=if_none, default=None)
    opinions: tuple[Entry, ...] = json_field(before="remarks", made=_in_own_dtype)
    opinions_count: int = json_field(omit=if_whole("opinions"), before="remarks")
    claims: tuple[Claim, ...] = json_field(omit=if_empty, before="remarks", default=())
    sampling: Sampling | None = json_field(omit=if_none, before="remarks", default=None)
    modes: tuple[ModeCheck, ...] = json_field(omit=if_empty, before="remarks", made=_modes_in_own_dtype, default=())
    allowed: tuple[Allowed, ...] = json_field(before="remarks")
    failing: tuple[Verdict, ...] = json_field(None)
    passed: bool = json_field(before="remarks")
    elsewhere: tuple[str, ...] = json_field(omit=if_empty, before="remarks", default=())
    assumed: Mapping[str, str] = json_field(omit=if_empty, before="remarks", default_factory=dict)
    requires_all: bool = json_field(None, default=False)

    def named_numbers(self) -> Mapping[str, Array | Mapping[str, Array]]:
        """Return the derivatives that were checked, by variable."""
        return self.arrays("jacobian" if self.v is None else "vjp")

    def __bool__(self) -> bool:
        """Tell whether it passed, as `assert gradcheck(...)` asks."""
        return self.passed

    @property
    @json_property(omit=if_none)
    def vjp(self) -> Mapping[str, Array] | None:
        """The vector-Jacobian product, if the entries are of vᵀJ."""
        return None if self.v is None else self.arrays("vjp")

    @property
    @json_property(omit=if_none, before="jacobian_omitted")
    def jacobian(self) -> Mapping[str, Array] | None:
        """∂y/∂x per variable, of shape y.shape + x.shape; None if it was left out, and where vᵀJ is checked."""
        return None if self.v is not None else super().jacobian


class Products(Differentiation, kw_only=True):
    """Several vector-Jacobian products of one function at one point.

    Attributes:
        answers: One for each v, in order; each is what a `vjp` with that v alone answers.
        check: The check of all products.
        is_written: Whether they are the passes of a text, which says itself what they keep and clear.
    """

    asks = "vjp"

    answers: tuple[VJP, ...]
    is_written: bool = False

    @property
    def asked(self) -> tuple[Quantity, ...]:
        """The products of all v by variable, whose first axis counts them."""
        alike = zip(*(one.of_kind("vjp") for one in self.answers), strict=True)
        return tuple(replace(same[0], array=np.stack([one.numbers for one in same])) for same in alike)


class JVP(Judged, FormulaTexts, kw_only=True):
    """The Jacobian-vector product Ju, the derivative of y along a direction.

    Attributes:
        u: The direction of each variable that moves, of its shape.
    """

    asks = "jvp"

    u: Mapping[str, Array]

    @property
    @json_property()
    def jvp(self) -> Array:
        """The product Ju, of y's shape: the sum of ∂y[i]/∂x[j]·u[j] over the elements of all variables."""
        return self.asked[0].numbers

    @property
    @json_property(omit=if_none, before="brief")
    def symbolic(self) -> Formula | None:
        """The formula of Ju, if it has one."""
        return self.asked[0].formula

    @property
    @json_property(omit=if_empty)
    def symbolic_omitted(self) -> str:
        """Why Ju has no formula."""
        return self.asked[0].formula_omitted


class Hessian(Judged, FormulaTexts, kw_only=True):
    """The Hessian of a y of one element, a block for each pair of variables.

    Attributes:
        is_picture: Whether it is shown as a picture of its numbers.
    """

    asks = "hessian"

    is_picture: bool = json_field(None, default=False)

    @property
    @json_property()
    def grad(self) -> Mapping[str, Array]:
        """The gradient per variable, of its shape."""
        return self.arrays("gradient")

    def named_numbers(self) -> Mapping[str, Array | Mapping[str, Array]]:
        """Return the blocks by both variables."""
        return self.hessian

    @property
    @json_property()
    def hessian(self) -> Mapping[str, Mapping[str, Array]]:
        """The derivative ∂²y/∂a∂b by a and by b, of shape a.shape + b.shape."""
        return by_variable({one.block: one.numbers for one in self.asked})

    @property
    @json_property(before="brief")
    def symbolic(self) -> Mapping[str, Mapping[str, Formula]]:
        """The formulas of the blocks that have one, by a and by b."""
        return by_variable({one.block: one.formula for one in self.asked if one.formula is not None})

    @property
    @json_property(omit=if_empty)
    def symbolic_omitted(self) -> Mapping[str, Mapping[str, str]]:
        """Why the other blocks have no formula."""
        return by_variable({one.block: one.formula_omitted for one in self.asked if one.formula is None})


class HVP(Judged, FormulaTexts, kw_only=True):
    """The Hessian-vector product Hu of a y of one element, per variable.

    Attributes:
        u: The direction of each variable that moves, of its shape.
    """

    asks = "hvp"

    u: Mapping[str, Array]

    @property
    @json_property()
    def grad(self) -> Mapping[str, Array]:
        """The gradient per variable, of its shape."""
        return self.arrays("gradient")

    @property
    @json_property()
    def hvp(self) -> Mapping[str, Array]:
        """Hu per variable, of its shape, the derivative of the gradient along the direction."""
        return self.arrays("hvp")

    @property
    @json_property(before="brief")
    def symbolic(self) -> Mapping[str, Formula]:
        """The formula per variable that has one."""
        return {one.axes[-1]: one.formula for one in self.asked if one.formula is not None}

    @property
    @json_property(omit=if_empty)
    def symbolic_omitted(self) -> Mapping[str, str]:
        """Why a variable has no formula."""
        return {one.axes[-1]: one.formula_omitted for one in self.asked if one.formula is None}

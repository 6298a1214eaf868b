"""What `explain` answers, and the loss that v comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gradcli.notation import Notation
from gradcli.results.answers import Differentiation, Formula
from gradcli.results.verdicts import Array, Check


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """A loss ℓ of y, the v = ∂ℓ/∂y that it gives, and the gradient of both functions in one go.

    Attributes:
        expression: The text of ℓ as typed.
        value: ℓ at y, one element.
        v: ∂ℓ/∂y by torch, of y's shape.
        formula: ∂ℓ/∂y in closed form, by the name of the output; None if there is none.
        formula_omitted: Why there is none.
        gradient: ∇(ℓ∘f) per variable, by torch through both functions at once.
        inputs: The values that ℓ names beside y.
        check: The verdict on ∂ℓ/∂y; None if not asked for.
        warnings: Remarks about ℓ.
    """

    expression: str
    value: Array
    v: Array
    formula: Formula | None
    formula_omitted: str = ""
    gradient: Mapping[str, Array]
    inputs: Mapping[str, Array] = field(default_factory=dict)
    check: Check | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One line of the forward pass: `name = operation`, and its value.

    Attributes:
        name: Of the line.
        operation: What it computes, one operation deep.
        value: Of the line's shape; a condition has booleans.
    """

    name: str
    operation: Notation
    value: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """What one line adds to the adjoint of something that it uses.

    Attributes:
        source: The name of the line.
        derivative: The local derivative, or the rule for the adjoint; None if there is none.
        entry: What `derivative` is of, where that is not the whole: `y` by `x[j]`.
        equation: The adjoint of the line times the local derivative, or the rule that stands for it.
        factors: The numbers of this product; none where they say no more than the value.
        words: The rule in words, or a remark.
        local: The local derivative: of the line's shape if the line is elementwise, of the operand's if the line is
            one number, else line.shape + operand.shape; None where that is too large.
        is_elementwise: Whether the line is, so that `local` is multiplied element by element.
        summed: Whether the product is summed over dimensions that were stretched.
        value: What is added, of the operand's shape.
    """

    source: str
    derivative: Notation | None = None
    entry: tuple[str, str] = ("", "")
    equation: Notation | None = None
    factors: tuple[Array, ...] = ()
    words: str = ""
    local: Array | None = None
    is_elementwise: bool = False
    summed: bool = False
    value: Array

    @property
    def formula(self) -> str:
        """The local derivative in SymPy's notation; empty if there is none."""
        return "" if self.derivative is None else self.derivative.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjoint:
    """The adjoint ∂(v·y)/∂line of a line or a variable: the sum of its terms.

    Attributes:
        name: Of the line or variable.
        notation: How its adjoint is written.
        value: Of the line's shape.
        terms: At most `explaining.MOST_TERMS`, in the order of the lines they come from.
        terms_count: How many there are.
    """

    name: str
    notation: Notation
    value: Array
    terms: tuple[Term, ...]
    terms_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation(Differentiation):
    """The chain rule step by step: forward, v, backward, vᵀJ.

    Attributes:
        v: The gradient vector.
        vjp: The vector-Jacobian product per variable.
        steps: The lines of the forward pass; of a long one, its ends.
        steps_count: How many lines there are.
        adjoints: From the output to the variables; of many, the ends.
        adjoints_count: How many there are.
        loss: Where v comes from, if it is from a loss.
        loss_agrees: Whether vᵀJ equals the gradient of the loss of the function, up to rounding.
    """

    v: Array
    vjp: Mapping[str, Array]
    steps: tuple[Step, ...]
    steps_count: int
    adjoints: tuple[Adjoint, ...]
    adjoints_count: int
    loss: Loss | None = None
    loss_agrees: bool | None = None

"""Answers of every command on a function: frozen dataclasses of NumPy arrays, formulas and verdicts.

Shapes: y, v and Ju have y's shape, a gradient, a direction and Hu their variable's, a Jacobian block y.shape + x.shape,
a Hessian block a.shape + b.shape.  Arrays have the dtype that torch computed in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any, Literal

from gradcli.arrays import Array
from gradcli.notation import Element, Notation
from gradcli.results.record import Record
from gradcli.results.verdicts import SEVERITY, Allowed, Check, Claim, Entry, Sampling, Verdict
from gradcli.showing import Shown


class Cell(Record):
    """One formula, which is printed only when a property with its text is read.

    Attributes:
        above: The element of y.
        below: The element of x.
        label: The left-hand side: ∂`above`/∂`below`, or an element of Ju, of the Hessian or of Hu.
        expression: The formula.
    """

    above: Element
    below: Element
    label: Notation
    expression: Notation

    @property
    def row(self) -> str:
        """The name of the element of y."""
        return self.above.text

    @property
    def column(self) -> str:
        """The name of the element of x."""
        return self.below.text

    @property
    def text(self) -> str:
        """The formula in SymPy's notation."""
        return self.expression.text

    @property
    def pretty(self) -> str:
        """The formula in Unicode mathematics."""
        return self.expression.pretty

    @property
    def latex(self) -> str:
        """The formula in LaTeX, with amsmath."""
        return self.expression.latex


Definition = tuple[Notation, Notation]
"""A name in a formula, and the expression that it stands for."""


Abbreviation = tuple[tuple[Notation, ...], tuple[Definition, ...]]
"""Cells of a formula with names for expressions that its answer repeats; and the definitions of the names."""


class Formula(Record):
    """The closed form of one Jacobian block; several cells where it is written out entry by entry.

    Attributes:
        cells: Row by row.
        sizes: The sizes of the axes along which it is written out.
        note: The place where it was confirmed, if not at the entries of this answer.
        structure: The structure of the whole block, for all values and sizes.
        function: Both sides of the equation of the element of y that is differentiated, if that is short.
        holds_here: Whether it holds at all entries of this answer; if not, a note of the check names those where not.
        abbreviation: A function that finds the abbreviated form, called when that is read.
    """

    cells: tuple[Cell, ...]
    sizes: tuple[int, ...] = ()
    note: str = ""
    structure: Literal["", "diagonal", "zero"] = ""
    function: tuple[Notation, Notation] | None = None
    holds_here: bool = True
    abbreviation: Callable[[], Abbreviation] | None = field(default=None, compare=False, repr=False)

    @property
    def definitions(self) -> tuple[Definition, ...]:
        """The definitions of the names in `brief`, in the order in which they are explained."""
        return self.abbreviation()[1] if self.abbreviation is not None else ()

    @property
    def brief(self) -> tuple[Cell, ...]:
        """The cells with a name for each expression that is repeated in the formulas of the answer."""
        if self.abbreviation is None or not self.definitions:
            return self.cells
        shown = zip(self.cells, self.abbreviation()[0], strict=True)
        return tuple(replace(cell, expression=expression) for cell, expression in shown)

    @property
    def brief_text(self) -> str:
        """The formula with names, in SymPy's notation; a nested list where it is written out."""
        return self._nested([cell.text for cell in self.brief])

    @property
    def text(self) -> str:
        """The formula in SymPy's notation; a nested list where it is written out."""
        return self._nested([cell.text for cell in self.cells])

    @property
    def pretty(self) -> str:
        """The formula in Unicode mathematics; a nested list where it is written out."""
        return self._nested([cell.pretty for cell in self.cells])

    def _nested(self, texts: list[str]) -> str:
        """Nest formulas in row-major order as a list."""
        for size in reversed(self.sizes):
            texts = [f"[{', '.join(texts[n : n + size])}]" for n in range(0, len(texts), size)]
        return texts[0]


class Reply(Record, Shown, kw_only=True):
    """An answer, with the parts of the question that it repeats.

    Attributes:
        command: The name of the command.
        expression: The text as typed.
        wrt: The variables of the derivative, in order.
        warnings: Remarks about the expression.
    """

    command: str
    expression: str
    wrt: tuple[str, ...]
    warnings: tuple[str, ...] = ()


class Answer(Reply, kw_only=True):
    """An answer of a command that computes numbers.

    Attributes:
        dtype: `float64` or `float32`.
        inputs: The value of every variable, an array of `dtype`; that of a plain number has shape ().
        output: The name of y: the one that the expression gives it, or y, or f where a variable is called y.
        value: The output y, an array of `dtype`.
        remarks: Remarks about the answer itself.
    """

    dtype: str
    inputs: Mapping[str, Array]
    output: str
    value: Array
    remarks: tuple[str, ...] = ()


def by_variable(blocks: Mapping[tuple[str, str], Any]) -> dict[str, Any]:
    """Arrange values by the variables of row and column as answers have them: by the latter, of a Hessian by both."""
    found: dict[str, Any] = {}
    for (row, column), one in blocks.items():
        (found.setdefault(row, {}) if row else found)[column] = one
    return found


class ClosedForm(Reply, kw_only=True):
    """A derivative as formulas alone, for values and sizes that are not known.

    Attributes:
        output: The name of y.
        shapes: The shape of y and of each variable, in numbers and names of sizes.
        blocks: The confirmed formulas, by the variables of row and column; the row's is "" except for a Hessian, and
            both are "" for Ju.
        omitted: The reasons why other blocks have no formula.
        products: The formulas of vᵀJ per variable, for a y of several elements.
        matrices: Gradients as expressions of whole tensors, by variable, where they are proved to be the same.
        check: The check of the formulas.
        remarks: Remarks about the answer itself.

    >>> from gradcli import Function
    >>> answer = Function("sin(x)*x").closed_form("grad")
    >>> answer.symbolic["x"].text, answer.check.verdict
    ('x*cos(x) + sin(x)', 'agree')
    """

    output: str
    shapes: Mapping[str, tuple[str, ...]]
    blocks: Mapping[tuple[str, str], Formula]
    omitted: Mapping[tuple[str, str], str]
    products: Mapping[str, Formula] = field(default_factory=dict)
    matrices: Mapping[str, Notation] = field(default_factory=dict)
    check: Check
    remarks: tuple[str, ...] = ()

    @property
    def symbolic(self) -> Mapping[str, Any]:
        """The formulas by variable, as in answers with numbers: of a Hessian by both variables, of Ju by ""."""
        return by_variable(self.blocks)


class Judged(Answer, kw_only=True):
    """An answer with numbers that the reference judges.

    Attributes:
        check: The verdict; None if not asked for.
    """

    check: Check | None


class Evaluation(Judged, kw_only=True):
    """The value of a function, in `value`, and whether it can be trusted.

    >>> from gradcli import Function
    >>> answer = Function("x**2").eval({"x": [1, 2]})
    >>> answer.value, answer.check.verdict
    (array([1., 4.]), 'agree')
    """


class Differentiation(Judged, kw_only=True):
    """An answer of first derivatives, which consist of Jacobian blocks by variable.

    Attributes:
        jacobian: ∂y/∂x per variable, of shape y.shape + x.shape; None if it was left out.
        jacobian_omitted: Why it was left out.
        symbolic: The formula per variable that has one.
        symbolic_omitted: Why a variable has none.
    """

    jacobian: Mapping[str, Array] | None = None
    jacobian_omitted: str = ""
    symbolic: Mapping[str, Formula]
    symbolic_omitted: Mapping[str, str]


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


class VJP(Differentiation, kw_only=True):
    """The vector-Jacobian product vᵀJ per variable, left in `x.grad` by `y.backward(gradient=v)`.

    Attributes:
        v: The gradient vector, of y's shape.
        vjp: The product vᵀJ per variable, of its shape: the sum of v[i]·∂y[i]/∂x[j] over the elements of y.
        accumulated: The value of `x.grad` after this pass, if earlier passes are kept; None if not asked for.
        loss: The loss that v is the derivative of, if one was given.
    """

    v: Array
    vjp: Mapping[str, Array]
    accumulated: Mapping[str, Array] | None = None
    loss: Loss | None = None


class Gradient(Differentiation, kw_only=True):
    """The gradient of a y of one element, per variable.

    Attributes:
        grad: The derivative ∂y/∂x per variable, of its shape.
    """

    grad: Mapping[str, Array]


class Jacobian(Differentiation, kw_only=True):
    """The full Jacobian per variable, in `jacobian`, which is never None here.

    Attributes:
        is_picture: Whether it is shown as a picture of its numbers.
    """

    is_picture: bool = False


class Checking(Differentiation, kw_only=True):
    """The opinions of all readings, entry by entry, worst first.

    Attributes:
        opinions: The worst entries, at most `crosscheck.MAX_OPINIONS`.
        opinions_count: How many there are in all: entries and elements of y.
        allowed: The verdicts that pass besides `agree` and proved claims.
        failing: The verdicts that do not pass, best first.
        passed: Whether there are none, every claim passes, and all was checked if that is required.
        elsewhere: What is wrong at other points only: custom functions that a function of Python applies.
        requires_all: Whether a sample does not pass.
        claims: What became of each claim.
        sampling: What random points gave, if they were asked for.
        v: The gradient vector, if the entries are of vᵀJ.
        vjp: The vector-Jacobian product, then.
    """

    opinions: tuple[Entry, ...]
    opinions_count: int
    allowed: tuple[Allowed, ...]
    failing: tuple[Verdict, ...]
    passed: bool
    elsewhere: tuple[str, ...] = ()
    requires_all: bool = False
    claims: tuple[Claim, ...] = ()
    sampling: Sampling | None = None
    v: Array | None = None
    vjp: Mapping[str, Array] | None = None


class Products(Differentiation, kw_only=True):
    """Several vector-Jacobian products of one function at one point.

    Attributes:
        answers: One for each v, in order; each is what a `vjp` with that v alone answers.
        check: The check of all products.
    """

    answers: tuple[VJP, ...]


class JVP(Judged, kw_only=True):
    """The Jacobian-vector product Ju, the derivative of y along a direction.

    Attributes:
        u: The direction of each variable that moves, of its shape.
        jvp: The product Ju, of y's shape: the sum of ∂y[i]/∂x[j]·u[j] over the elements of all variables.
        symbolic: Its formula, if it has one.
        symbolic_omitted: Why it has none.
    """

    u: Mapping[str, Array]
    jvp: Array
    symbolic: Formula | None
    symbolic_omitted: str


class Hessian(Judged, kw_only=True):
    """The Hessian of a y of one element, a block for each pair of variables.

    Attributes:
        grad: The gradient per variable, of its shape.
        hessian: The derivative ∂²y/∂a∂b by a and by b, of shape a.shape + b.shape.
        symbolic: The formulas of the blocks that have one, by a and by b.
        symbolic_omitted: Why the others have none.
        is_picture: Whether it is shown as a picture of its numbers.
    """

    grad: Mapping[str, Array]
    hessian: Mapping[str, Mapping[str, Array]]
    symbolic: Mapping[str, Mapping[str, Formula]]
    symbolic_omitted: Mapping[str, Mapping[str, str]]
    is_picture: bool = False


class HVP(Judged, kw_only=True):
    """The Hessian-vector product Hu of a y of one element, per variable.

    Attributes:
        u: The direction of each variable that moves, of its shape.
        grad: The gradient per variable, of its shape.
        hvp: Hu per variable, of its shape, the derivative of the gradient along the direction.
        symbolic: The formula per variable that has one.
        symbolic_omitted: Why a variable has none.
    """

    u: Mapping[str, Array]
    grad: Mapping[str, Array]
    hvp: Mapping[str, Array]
    symbolic: Mapping[str, Formula]
    symbolic_omitted: Mapping[str, str]


class Pass(Record):
    """A backward pass of a script.

    Attributes:
        number: Its number, from 1 on.
        where: The line of the script, `train.py, line 7`.
        seconds: How long its answer took.
        norms: The Euclidean norm of the gradients by the parameters of each module, and by tensors of none as "".
        answers: The product, its check and its formulas, for each v; by each tensor that is no leaf there is one more.
        nonfinite: The places where infinity and NaN begin.
        refusal: The error that there is in place of an answer.
        is_excused: Whether the refusal is torch's own, or there is nothing to answer: no error for the exit code.
        is_judged: Whether the pass was to be answered; others are only looked at.
        noticed: What is new in a pass that is only looked at.
    """

    number: int
    where: str
    seconds: float
    norms: Mapping[str, float] = field(default_factory=dict)
    answers: tuple[VJP, ...] = ()
    nonfinite: tuple[str, ...] = ()
    refusal: Exception | None = None
    is_excused: bool = False
    is_judged: bool = True
    noticed: tuple[str, ...] = ()

    @property
    def norm(self) -> float:
        """The Euclidean norm of all gradients together."""
        return math.hypot(*self.norms.values())

    @property
    def worst(self) -> Check | None:
        """The check with the worst verdict of all v; None where nothing was compared."""
        checks = [one.check for one in self.answers if one.check is not None]
        return max(checks, key=lambda one: (SEVERITY.index(one.verdict), not one.is_minor), default=None)

    @property
    def is_wrong(self) -> bool:
        """Tell whether the pass has an answer whose check finds more than minor lost digits."""
        return self.worst is not None and self.worst.verdict != "agree" and not self.worst.is_minor

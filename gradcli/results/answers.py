"""What every command on a function answers: frozen dataclasses of NumPy arrays, formulas and verdicts.

Shapes: y, v and Ju have y's shape, a gradient, a direction and Hu their variable's, a Jacobian block y.shape + x.shape,
a Hessian block a.shape + b.shape.  Arrays have the dtype
that torch computed in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any, Literal

from gradcli.notation import Element, Notation
from gradcli.results.record import Record
from gradcli.results.verdicts import Allowed, Array, Check, Claim, Entry, Sampling, Verdict
from gradcli.showing import Shown


class Cell(Record):
    """One formula, which is printed when it is read.

    Attributes:
        above: The element of y.
        below: The element of x.
        label: What it is the formula of: ∂`above`/∂`below`, or an element of Ju, of the Hessian or of Hu.
        expression: The formula.
    """

    above: Element
    below: Element
    label: Notation
    expression: Notation

    @property
    def row(self) -> str:
        """What the element of y is called."""
        return self.above.text

    @property
    def column(self) -> str:
        """What the element of x is called."""
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
"""A name in a formula, and what it stands for."""


Abbreviation = tuple[tuple[Notation, ...], tuple[Definition, ...]]
"""A formula with names for what it, or another of its answer, repeats, cell by cell; and what the names stand for."""


class Formula(Record):
    """The closed form of one Jacobian block; several cells where it is written out entry by entry.

    Attributes:
        cells: Row by row.
        sizes: Of the axes along which it is written out.
        note: Where it was confirmed, if not at the entries of this answer.
        structure: What it shows of the whole block, whatever the values and the sizes.
        function: Both sides of the equation of the element of y that it is the derivative of, if that is short.
        abbreviation: What finds the same with names for what is repeated, when it is read.
    """

    cells: tuple[Cell, ...]
    sizes: tuple[int, ...] = ()
    note: str = ""
    structure: Literal["", "diagonal", "zero"] = ""
    function: tuple[Notation, Notation] | None = None
    abbreviation: Callable[[], Abbreviation] | None = field(default=None, compare=False, repr=False)

    @property
    def definitions(self) -> tuple[Definition, ...]:
        """What the names in `brief` stand for, in the order in which they are explained."""
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
        """With names, in SymPy's notation; a nested list where it is written out."""
        return self._nested([cell.text for cell in self.brief])

    @property
    def text(self) -> str:
        """In SymPy's notation, a nested list where it is written out."""
        return self._nested([cell.text for cell in self.cells])

    @property
    def pretty(self) -> str:
        """In Unicode mathematics, a nested list where it is written out."""
        return self._nested([cell.pretty for cell in self.cells])

    def _nested(self, texts: list[str]) -> str:
        """Formulas in row-major order as a nested list."""
        for size in reversed(self.sizes):
            texts = [f"[{', '.join(texts[n : n + size])}]" for n in range(0, len(texts), size)]
        return texts[0]


class Reply(Record, Shown, kw_only=True):
    """What an answer repeats of the question.

    Attributes:
        command: Its name.
        expression: The text as typed.
        wrt: The variables of the derivative, in order.
        warnings: Remarks about the expression.
    """

    command: str
    expression: str
    wrt: tuple[str, ...]
    warnings: tuple[str, ...] = ()


class Answer(Reply, kw_only=True):
    """What all commands answer with that compute numbers.

    Attributes:
        dtype: `float64` or `float32`.
        inputs: The value of every variable, an array of `dtype`; that of a plain number has shape ().
        output: What y is called: the name that the expression gives it, or y, or f where a variable is called y.
        value: The output y, an array of `dtype`.
        remarks: What to know of the answer itself.
    """

    dtype: str
    inputs: Mapping[str, Array]
    output: str
    value: Array
    remarks: tuple[str, ...] = ()


class ClosedForm(Reply, kw_only=True):
    """A derivative as formulas alone, for values and sizes that are not known.

    Attributes:
        output: What y is called.
        shapes: The shape of y and of each variable, in numbers and names of sizes.
        blocks: The formulas that hold, by the variables of row and column; the row's is empty but for a Hessian, and
            the column's too for Ju.
        omitted: Why the others have none.
        products: The formulas of vᵀJ per variable, for a y of several elements.
        matrices: Gradients as expressions of whole tensors, by variable, where they are proved to be the same.
        check: What the formulas were compared with.
        remarks: What to know of the answer itself.

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
        """The formulas as the answers with numbers have them: by variable, of a Hessian by both; of Ju by ""."""
        return self.nested(self.blocks)

    def nested(self, blocks: Mapping[tuple[str, str], Any]) -> Mapping[str, Any]:
        """What is known by block, as the answers with numbers have it."""
        found: dict[str, Any] = {}
        for (row, column), one in blocks.items():
            if self.command == "hessian":
                found.setdefault(row, {})[column] = one
            else:
                found[column] = one
        return found


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
    """What the first derivatives share: they are made of Jacobian blocks by variable.

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


class VJP(Differentiation, kw_only=True):
    """The vector-Jacobian product vᵀJ per variable, what `y.backward(gradient=v)` leaves in `x.grad`.

    Attributes:
        v: The gradient vector, of y's shape.
        vjp: The product vᵀJ per variable, of its shape: the sum of v[i]·∂y[i]/∂x[j] over the elements of y.
        accumulated: What `x.grad` holds after this pass, if those before it are not forgotten; None if not asked for.
        loss: What v comes from, if it was given so.
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
    """The full Jacobian per variable, in `jacobian`, which is never None here."""


class Checking(Differentiation, kw_only=True):
    """What all readings say, entry by entry, worst first.

    Attributes:
        opinions: At most `crosscheck.MAX_OPINIONS`.
        opinions_count: How many there are in all: entries and elements of y.
        allowed: What passes beside `agree` and proved claims.
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
        check: Of all of them.
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
    """

    grad: Mapping[str, Array]
    hessian: Mapping[str, Mapping[str, Array]]
    symbolic: Mapping[str, Mapping[str, Formula]]
    symbolic_omitted: Mapping[str, Mapping[str, str]]


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
        answer: What came out, whether it is right, and the formula.
        nonfinite: Where infinity and NaN begin.
        refusal: Why there is no answer.
    """

    number: int
    where: str
    seconds: float
    norms: Mapping[str, float] = field(default_factory=dict)
    answer: VJP | None = None
    nonfinite: tuple[str, ...] = ()
    refusal: Exception | None = None

    @property
    def norm(self) -> float:
        """The Euclidean norm of all gradients together."""
        return math.hypot(*self.norms.values())

    @property
    def is_wrong(self) -> bool:
        """Whether it is answered, and its check finds more than lost digits that pass."""
        check = None if self.answer is None else self.answer.check
        if check is None or check.verdict == "agree":
            return False
        return check.verdict != "inaccurate" or not all(entry.is_minor for entry in check.findings)

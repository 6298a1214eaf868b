"""A function of tensors from text: the one place that asks all three readings for an answer.

Everything that can be wrong with the input is found before torch is imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gradcli.errors import UsageError
from gradcli.language.names import SHADOWABLE
from gradcli.language.snippets import read
from gradcli.language.values import Value
from gradcli.questions import curvature
from gradcli.questions.curvature import Directions
from gradcli.questions.preparing import Inputs, prepare
from gradcli.questions.question import Dtype, Question
from gradcli.results import (
    HVP,
    JVP,
    VJP,
    BackwardGraph,
    Checking,
    Evaluation,
    Explanation,
    Gradient,
    Hessian,
    Jacobian,
    Language,
    Products,
    Source,
    Verdict,
)

if TYPE_CHECKING:
    from gradcli.questions.points import Points


class Function:
    """A function of tensors, parsed from text and never evaluated as Python.

    Args:
        expression: The text, such as `"x**2"` or `"y = A@x; sum(y**2)"`.

    Attributes:
        expression: The text as given.
        variables: The free names in order of appearance.

    Raises:
        GradcliError: The text is not in the language (see `gradcli.errors`).

    >>> f = Function("x**2")
    >>> f.variables
    ('x',)
    >>> f.vjp({"x": [1, 2]}, v=[1, 1]).vjp["x"]
    array([2., 4.])
    """

    def __init__(self, expression: str) -> None:
        self.expression = expression
        self._snippet = read(expression)

    def __repr__(self) -> str:
        return f"Function({self.expression!r})"

    @property
    def variables(self) -> tuple[str, ...]:
        """The free names in order of appearance."""
        return self._snippet.program.names

    def eval(
        self,
        at: Inputs | None = None,
        *,
        dtype: Dtype = "float64",
        check: bool = True,
        points_of: Sequence[str] = (),
    ) -> Evaluation:
        """The value y.

        Args:
            at: A value per variable: text of the language, a number, nested lists or an array.
            dtype: Of the computation.
            check: Whether to compare with the reference.
            points_of: Variables whose first axis counts points; the expression is of one, and y has a first axis too.

        Raises:
            GradcliError: A value is missing, surplus or malformed, or shapes do not fit.

        >>> Function("sum(x*y)").eval({"x": "1,2", "y": [3, 4]}).value
        array(11.)
        """
        if points_of:
            from gradcli.questions.points import evaluation

            return evaluation(self._points(at, (), dtype, points_of), check=check)
        question = self._question(at, (), dtype)
        judged = question.judged(None, None, None).check if check else None
        return Evaluation(command="eval", value=question.value, check=judged, **question.common)

    def vjp(
        self,
        at: Inputs | None = None,
        v: Value | None = None,
        *,
        wrt: Sequence[str] | None = None,
        show: Sequence[str] = (),
        loss: str | None = None,
        dtype: Dtype = "float64",
        check: bool = True,
        points_of: Sequence[str] = (),
    ) -> VJP:
        """The vector-Jacobian product vᵀJ, what `y.backward(gradient=v)` leaves in `x.grad`.

        Args:
            at: A value per variable.
            v: Of y's shape; 1 if y has one element. `"ones"`, `"e0"`, `"e0_1"` and expressions in y and the
                variables, `"2*y"`, are known.
            wrt: The variables to differentiate by; all by default.
            show: Names of intermediates whose values and adjoints to keep, as `retain_grad()` does.
            loss: A function ℓ of y, by the name of the output, in place of v: v is then ∂ℓ/∂y. Values that it alone
                names are among those of `at`.
            dtype: Of the computation.
            check: Whether to compare with the reference.
            points_of: Variables whose first axis counts points; the expression is of one, and v is for each of them,
                or has a first axis too, as the answer has.

        Returns:
            y, v, vᵀJ (x's shape per variable), J (y.shape + x.shape, up to `JACOBIAN_ENTRIES` entries), the formula
            and the verdict.

        Raises:
            GradcliError: As for `eval`; v is missing for a y of several elements, or has not y's shape; a name to show
                is none of the function's; v is given beside a loss.

        >>> answer = Function("[x*y, x+y]").vjp({"x": 3, "y": 5}, v=[1, 10])
        >>> answer.vjp["x"], answer.jacobian["y"], answer.symbolic["x"].text, answer.check.verdict
        (array(15.), array([3., 1.]), '[y, 1]', 'agree')
        """
        if points_of:
            from gradcli.questions.points import product

            _require_no(points_of, show=show, loss=loss)
            return product(self._points(at, wrt, dtype, points_of), v, self._snippet.v, check=check)
        vs = () if v is None else (v,)
        return self.vjps(at, vs, wrt=wrt, show=show, loss=loss, dtype=dtype, check=check).answers[0]

    def vjps(
        self,
        at: Inputs | None = None,
        vs: Sequence[Value] = (),
        *,
        accumulate: bool = False,
        wrt: Sequence[str] | None = None,
        show: Sequence[str] = (),
        loss: str | None = None,
        dtype: Dtype = "float64",
        check: bool = True,
    ) -> Products:
        """Several vector-Jacobian products of one Jacobian.

        Args:
            at: A value per variable.
            vs: Gradient vectors, as in `vjp`; without any, what a single `vjp` would take, and if the gradients are to
                accumulate, those of all backward passes of a snippet.
            accumulate: Whether to show what `x.grad` holds after each pass.
            wrt: The variables to differentiate by; all by default.
            show: Names of intermediates, as in `vjp`.
            loss: In place of v, as in `vjp`.
            dtype: Of the computation.
            check: Whether to compare with the reference.

        Raises:
            GradcliError: As for `vjp`.
            TooLargeError: There are too many of them.

        >>> found = Function("x**2").vjps({"x": "1,2"}, ["e0", "e1"], accumulate=True)
        >>> [(one.vjp["x"].tolist(), one.accumulated["x"].tolist()) for one in found.answers]
        [([2.0, 0.0], [2.0, 0.0]), ([0.0, 4.0], [2.0, 4.0])]
        """
        from gradcli.questions.loss import require_alone, split
        from gradcli.questions.products import Extras, cotangents, products

        require_alone(vs or None, loss)
        own, extra = split(loss, at or {}, dict.fromkeys((*self.variables, *self._snippet.values)))
        question = self._question(own, wrt, dtype, shares=not show)
        extras = Extras(accumulate, tuple(dict.fromkeys(show)), loss, extra, check)
        return products(question, cotangents(question, vs, self._snippet, extras), extras)

    def explain(
        self,
        at: Inputs | None = None,
        v: Value | None = None,
        *,
        loss: str | None = None,
        wrt: Sequence[str] | None = None,
        dtype: Dtype = "float64",
        check: bool = True,
    ) -> Explanation:
        """The chain rule step by step: the lines forward, v, each adjoint with what made it, and vᵀJ.

        Args:
            at: A value per variable, and per name that the loss alone has.
            v: As for `vjp`.
            loss: In place of v, an expression in y of one element, `"sum(y**2)"`: v is its derivative.
            wrt: The variables to differentiate by; all by default.
            dtype: Of the computation.
            check: Whether to compare with the reference.

        Raises:
            GradcliError: As for `vjp`; the loss is not one number in y, or stands beside a v.

        >>> answer = Function("y = x**2; z = y**3").explain({"x": [1, 2]}, v="ones")
        >>> [(step.name, step.operation.pretty, step.value.tolist()) for step in answer.steps]
        [('y', 'x²', [1.0, 4.0]), ('z', 'y³', [1.0, 64.0])]
        >>> [(a.name, [t.formula for t in a.terms], a.value.tolist()) for a in answer.adjoints[1:]]
        [('y', ['3*y**2'], [3.0, 48.0]), ('x', ['2*x'], [6.0, 192.0])]
        """
        from gradcli.questions.explaining import explain
        from gradcli.questions.loss import split

        snippet = read(self.expression, given=frozenset(at or {}) & SHADOWABLE)
        own, extra = split(loss, at or {}, (*snippet.program.names, *snippet.values))
        question = self._question(own, wrt, dtype)
        return explain(question, v, self._snippet.v, loss=loss, extra=extra, check=check)

    def grad(
        self,
        at: Inputs | None = None,
        *,
        wrt: Sequence[str] | None = None,
        show: Sequence[str] = (),
        dtype: Dtype = "float64",
        check: bool = True,
        points_of: Sequence[str] = (),
    ) -> Gradient:
        """The gradient of a y of one element.

        Args:
            at: A value per variable.
            wrt: The variables to differentiate by; all by default.
            show: Names of intermediates, as in `vjp`.
            dtype: Of the computation.
            check: Whether to compare with the reference.
            points_of: Variables whose first axis counts points; the expression is of one, with a y of one element.

        Raises:
            GradcliError: As for `eval`; y has several elements.

        >>> Function("sum(x**3)").grad({"x": [1, 2]}).grad["x"]
        array([ 3., 12.])
        """
        from gradcli.questions.products import Extras, gradient

        if points_of:
            from gradcli.questions.points import gradient as gradients

            _require_no(points_of, show=show)
            return gradients(self._points(at, wrt, dtype, points_of), check=check)
        question = self._question(at, wrt, dtype, shares=not show)
        return gradient(question, Extras(show=tuple(dict.fromkeys(show)), check=check))

    def jacobian(
        self,
        at: Inputs | None = None,
        *,
        wrt: Sequence[str] | None = None,
        dtype: Dtype = "float64",
        check: bool = True,
        points_of: Sequence[str] = (),
    ) -> Jacobian:
        """The full Jacobian, a block of shape y.shape + x.shape per variable.

        Args:
            at: A value per variable.
            wrt: The variables to differentiate by; all by default.
            dtype: Of the computation.
            check: Whether to compare with the reference.
            points_of: Variables whose first axis counts points; the expression is of one, and there is a Jacobian for
                each: a block has shape (points, *y.shape, *x.shape).

        Raises:
            GradcliError: As for `eval`.
            TooLargeError: The blocks would take more than `JACOBIAN_BYTES`.

        >>> Function("A@x").jacobian({"A": [[1, 2]], "x": [3, 4]}, wrt=["x"]).jacobian["x"]
        array([[1., 2.]])
        >>> Function("x**2").jacobian({"x": [1, 2, 3]}, points_of=["x"]).jacobian["x"]
        array([2., 4., 6.])
        """
        if points_of:
            from gradcli.questions.points import jacobian

            return jacobian(self._points(at, wrt, dtype, points_of), check=check)
        question = self._question(at, wrt, dtype)
        question.require_room("use vjp with --v e0, --v e1, ... for single rows, or --wrt for fewer variables")
        blocks, _ = question.jacobian(question.jacobian_entries)
        return Jacobian(
            command="jacobian",
            value=question.value,
            jacobian=blocks,
            **question.common,
            **question.checked(blocks, None, None, check=check),
        )

    def jvp(
        self,
        at: Inputs | None = None,
        u: Directions = None,
        *,
        wrt: Sequence[str] | None = None,
        dtype: Dtype = "float64",
        check: bool = True,
    ) -> JVP:
        """The Jacobian-vector product Ju, the derivative of y along a direction u in x.

        Args:
            at: A value per variable.
            u: A direction per variable, of its shape, or that of the only variable; 1 if there is one element in all.
                `"ones"`, `"e0"` and `"e0_1"` are known. A variable without a direction is held constant.
            wrt: The variables that may move; all by default.
            dtype: Of the computation.
            check: Whether to compare with the reference.

        Raises:
            GradcliError: As for `eval`; a direction is missing, or has not its variable's shape.

        >>> answer = Function("[x*y, x+y]").jvp({"x": 3, "y": 5}, {"x": 1, "y": 10})
        >>> answer.jvp, answer.symbolic.text, answer.check.verdict
        (array([35., 11.]), '[u_x*y + u_y*x, u_x + u_y]', 'agree')
        """
        return curvature.jvp(self._question(at, wrt, dtype), u, check=check)

    def hessian(
        self,
        at: Inputs | None = None,
        *,
        wrt: Sequence[str] | None = None,
        dtype: Dtype = "float64",
        check: bool = True,
    ) -> Hessian:
        """The Hessian of a y of one element: a block of shape a.shape + b.shape per pair of variables.

        Args:
            at: A value per variable.
            wrt: The variables to differentiate by; all by default.
            dtype: Of the computation.
            check: Whether to compare with the reference.

        Raises:
            GradcliError: As for `eval`; y has several elements.
            TooLargeError: The blocks would take more than `JACOBIAN_BYTES`.

        >>> answer = Function("sum(x**3)").hessian({"x": [1, 2]})
        >>> answer.hessian["x"]["x"].tolist(), answer.symbolic["x"]["x"].text
        ([[6.0, 0.0], [0.0, 12.0]], '6*x[i]*KroneckerDelta(i, j)')
        """
        return curvature.hessian(self._question(at, wrt, dtype), check=check)

    def hvp(
        self,
        at: Inputs | None = None,
        u: Directions = None,
        *,
        wrt: Sequence[str] | None = None,
        dtype: Dtype = "float64",
        check: bool = True,
    ) -> HVP:
        """The Hessian-vector product Hu of a y of one element, without the Hessian.

        Args:
            at: A value per variable.
            u: The direction, as in `jvp`.
            wrt: The variables to differentiate by; all by default.
            dtype: Of the computation.
            check: Whether to compare with the reference.

        Raises:
            GradcliError: As for `jvp`; y has several elements.

        >>> answer = Function("sum(x**3)").hvp({"x": [1, 2]}, "e1")
        >>> answer.hvp["x"], answer.symbolic["x"].text
        (array([ 0., 12.]), '6*u[j]*x[j]')
        """
        return curvature.hvp(self._question(at, wrt, dtype), u, check=check)

    def check(
        self,
        at: Inputs | None = None,
        v: Value | None = None,
        *,
        wrt: Sequence[str] | None = None,
        dtype: Dtype = "float64",
        rtol: float | None = None,
        atol: float | None = None,
        claim: Mapping[str, str] | None = None,
        expect: Mapping[str, Value] | None = None,
        random: int | None = None,
        box: Mapping[str, str] | None = None,
        seed: int = 0,
        allow: Sequence[Verdict] = (),
    ) -> Checking:
        """What autograd, the formula, the enclosure and finite differences say of each entry, and the verdict.

        Args:
            at: A value per variable.
            v: The entries are those of vᵀJ, as in `vjp`; without it, those of J.
            wrt: The variables to differentiate by; all by default.
            dtype: Of the computation.
            rtol: How far torch may be off, relative to the truth; a usual tolerance of the dtype by default.
            atol: How far it may be off beyond that; 0 by default.
            claim: Derivatives by variable, as formulas that are to be proved or refuted; one under `""` is for the only
                variable.
            expect: The same as numbers.
            random: How many points to draw at random.
            box: Where to draw them, by variable: `"0..1"`; the bounds are values and may be arrays.
            seed: Of the random points.
            allow: Verdicts that pass beside `agree`.

        Raises:
            GradcliError: As for `eval`; v has not y's shape; a range, a claim or a number makes no sense.
            TooLargeError: The Jacobian would take more than `JACOBIAN_BYTES`, or too many points are asked.

        >>> answer = Function("x**2").check({"x": 3})
        >>> entry = answer.opinions[0]
        >>> answer.passed, entry.torch, entry.formula, entry.reference, entry.ulps
        (True, 6.0, 6.0, 6.0, 0.0)
        """
        from gradcli.questions.checking import Demands, checking

        demands = Demands(rtol, atol, claim or {}, expect or {}, random, box or {}, seed, tuple(allow))
        given = demands.inputs(at or {}, self._snippet.values, self.variables, SHADOWABLE)
        question = self._question(given, wrt, dtype)
        return checking(question, v, demands)

    def graph(
        self,
        at: Inputs | None = None,
        v: Value | None = None,
        *,
        wrt: Sequence[str] | None = None,
        show: Sequence[str] = (),
        dtype: Dtype = "float64",
    ) -> BackwardGraph:
        """The backward graph as torch builds it, and every tensor with its attributes after the backward pass.

        Args:
            at: A value per variable.
            v: As in `vjp`; without it there is a backward pass only if y has one element.
            wrt: The variables that require a gradient; all by default.
            show: Names of statements, or of the output, that are to retain their gradients.
            dtype: Of the computation.

        Raises:
            GradcliError: As for `vjp`; a name that no statement has.
            TooLargeError: The tensors have too many elements.

        >>> answer = Function("z = x*y").graph({"x": 1, "y": 2}, wrt=["x"])
        >>> [(node.name, node.line or node.variable) for node in answer.nodes]
        [('MulBackward0', 'x*y'), ('AccumulateGrad', 'x')]
        >>> [(tensor.name, tensor.requires_grad, tensor.is_leaf) for tensor in answer.tensors]
        [('x', True, True), ('y', False, True), ('z', True, False)]
        """
        from gradcli.questions.graphing import graph

        question = prepare(self.expression, self._snippet, at or {}, wrt, dtype, shares=False)
        return graph(question, v, self._snippet.v, show)

    def code(
        self,
        at: Inputs | None = None,
        v: Value | None = None,
        *,
        wrt: Sequence[str] | None = None,
        dtype: Dtype = "float64",
        to: Language = "torch",
    ) -> Source:
        """The same computation as a runnable script.

        Args:
            at: A value per variable.
            v: As in `vjp`.
            wrt: The variables to differentiate by; all by default.
            dtype: Of the computation.
            to: `torch` for the numbers of `vjp` bit for bit, `numpy` for the Jacobian by its formula.

        Raises:
            GradcliError: As for `vjp`; there is no formula for NumPy; values that follow no rule are too many.

        >>> print(Function("x**2").code({"x": "1,2"}, v="2*y").source)
        # gradcli code "x**2" --at 1,2 --v "2*y" --to torch
        import torch
        <BLANKLINE>
        x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
        <BLANKLINE>
        y = x**2
        v = (2 * y).detach()
        y.backward(gradient=v)
        <BLANKLINE>
        print(x.grad)
        <BLANKLINE>
        """
        from gradcli.questions.writing import writing

        question = self._question(at, wrt, dtype)
        return writing(question, v, self._snippet.v, to, at or {})

    def _points(self, at: Inputs | None, wrt: Sequence[str] | None, dtype: Dtype, points_of: Sequence[str]) -> Points:
        """The same, at many points."""
        from gradcli.questions.points import points_of as read_points

        return read_points(self.expression, self._snippet, at or {}, wrt, dtype, points_of)

    def _question(self, at: Inputs | None, wrt: Sequence[str] | None, dtype: Dtype, *, shares: bool = True) -> Question:
        """Everything that can be known without torch."""
        return prepare(self.expression, self._snippet, at or {}, wrt, dtype, shares=shares)


def _require_no(points_of: Sequence[str], **others: object) -> None:
    """Refuse what is asked at one point only.

    Raises:
        UsageError: It is asked at many.
    """
    for name, given in others.items():
        if given:
            point = f"leave out --points-of {','.join(points_of)}, or --{name}"
            raise UsageError(f"--{name} and --points-of exclude each other", hint=point)

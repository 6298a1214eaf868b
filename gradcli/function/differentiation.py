"""The value of a function, its first derivatives and its second."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gradcli.errors import UsageError
from gradcli.function.text import Text
from gradcli.language.values import Value
from gradcli.questions import second_order
from gradcli.questions.preparing import Inputs
from gradcli.questions.question import Dtype
from gradcli.questions.second_order import Directions
from gradcli.results import HVP, JVP, VJP, Evaluation, Gradient, Hessian, Jacobian, Products


class Derivatives(Text):
    """What the readings say of a function in numbers and formulas."""

    def eval(
        self,
        at: Inputs | None = None,
        *,
        dtype: Dtype | None = None,
        check: bool = True,
        points_of: Sequence[str] = (),
    ) -> Evaluation:
        """The value y.

        Args:
            at: A value per variable: text of the language, a number, nested lists or an array.
            dtype: Of the computation; by default that of a snippet's tensors, or float64.
            check: Whether to compare with the reference.
            points_of: Variables whose first axis counts points; the expression is of one, and y has a first axis too.

        Raises:
            GradcliError: A value is missing, surplus or malformed, or shapes do not fit.

        >>> from gradcli import Function
        >>> Function("sum(x*y)").eval({"x": "1,2", "y": [3, 4]}).value
        array(11.)
        """
        if points_of:
            from gradcli.questions.points import evaluation

            return evaluation(self._points(at, (), dtype, points_of), check=check)
        question = self._question(at, (), dtype, command="eval")
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
        dtype: Dtype | None = None,
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
            dtype: Of the computation; by default that of a snippet's tensors, or float64.
            check: Whether to compare with the reference.
            points_of: Variables whose first axis counts points; the expression is of one, and v is for each of them,
                or has a first axis too, as the answer has.

        Returns:
            y, v, vᵀJ (x's shape per variable), J (y.shape + x.shape, up to `JACOBIAN_ENTRIES` entries), the formula
            and the verdict.

        Raises:
            GradcliError: As for `eval`; v is missing for a y of several elements, or has not y's shape; a name to show
                is none of the function's; v is given beside a loss.

        >>> from gradcli import Function
        >>> answer = Function("[x*y, x+y]").vjp({"x": 3, "y": 5}, v=[1, 10])
        >>> answer.vjp["x"], answer.jacobian["y"], answer.symbolic["x"].text, answer.check.verdict
        (array(15.), array([3., 1.]), '[y, 1]', 'agree')
        """
        if points_of:
            from gradcli.questions.points import product

            _require_no(points_of, show=show, loss=loss)
            return product(self._points(at, wrt, dtype, points_of), v, self._snippet.v, check=check)
        vs = () if v is None else (v,)
        return self._products(at, vs, wrt=wrt, show=show, loss=loss, dtype=dtype, check=check, each=False).answers[0]

    def vjps(
        self,
        at: Inputs | None = None,
        vs: Sequence[Value] = (),
        *,
        accumulate: bool = False,
        wrt: Sequence[str] | None = None,
        show: Sequence[str] = (),
        loss: str | None = None,
        dtype: Dtype | None = None,
        check: bool = True,
    ) -> Products:
        """Several vector-Jacobian products of one Jacobian.

        Args:
            at: A value per variable.
            vs: Gradient vectors, as in `vjp`; without any, what a single `vjp` would take, or those of all backward
                passes of a snippet, if the gradients are to accumulate or the snippet sets them to zero in between.
            accumulate: Whether to show what `x.grad` holds after each pass.
            wrt: The variables to differentiate by; all by default.
            show: Names of intermediates, as in `vjp`.
            loss: In place of v, as in `vjp`.
            dtype: Of the computation; by default that of a snippet's tensors, or float64.
            check: Whether to compare with the reference.

        Raises:
            GradcliError: As for `vjp`.
            TooLargeError: There are too many of them.

        >>> from gradcli import Function
        >>> found = Function("x**2").vjps({"x": "1,2"}, ["e0", "e1"], accumulate=True)
        >>> [(one.vjp["x"].tolist(), one.accumulated["x"].tolist()) for one in found.answers]
        [([2.0, 0.0], [2.0, 0.0]), ([0.0, 4.0], [2.0, 4.0])]
        """
        return self._products(
            at, vs, accumulate=accumulate, wrt=wrt, show=show, loss=loss, dtype=dtype, check=check, each=True
        )

    def _products(
        self,
        at: Inputs | None,
        vs: Sequence[Value],
        *,
        wrt: Sequence[str] | None,
        show: Sequence[str],
        loss: str | None,
        dtype: Dtype | None,
        check: bool,
        each: bool,
        accumulate: bool = False,
    ) -> Products:
        """As `vjps`; without `each`, one product for all passes of a snippet."""
        from gradcli.questions.loss import require_alone
        from gradcli.questions.products import Extras, cotangents, products

        require_alone(vs or None, loss)
        own, extra = self._split(at, loss)
        question = self._question(own, wrt, dtype, shares=not show)
        starts_anew = self._snippet.starts_anew and not vs and loss is None
        question = question if each else self._of_last(question, vs or loss or None)
        accumulate |= starts_anew and each
        passes = self._snippet.passes if accumulate and not vs and loss is None else ()
        extras = Extras(accumulate, tuple(dict.fromkeys(show)), loss, extra, check, passes)
        return products(question, cotangents(question, vs, self._snippet, extras), extras)

    def grad(
        self,
        at: Inputs | None = None,
        *,
        wrt: Sequence[str] | None = None,
        show: Sequence[str] = (),
        dtype: Dtype | None = None,
        check: bool = True,
        points_of: Sequence[str] = (),
    ) -> Gradient:
        """The gradient of a y of one element.

        Args:
            at: A value per variable.
            wrt: The variables to differentiate by; all by default.
            show: Names of intermediates, as in `vjp`.
            dtype: Of the computation; by default that of a snippet's tensors, or float64.
            check: Whether to compare with the reference.
            points_of: Variables whose first axis counts points; the expression is of one, with a y of one element.

        Raises:
            GradcliError: As for `eval`; y has several elements.

        >>> from gradcli import Function
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
        dtype: Dtype | None = None,
        check: bool = True,
        points_of: Sequence[str] = (),
    ) -> Jacobian:
        """The full Jacobian, a block of shape y.shape + x.shape per variable.

        Args:
            at: A value per variable.
            wrt: The variables to differentiate by; all by default.
            dtype: Of the computation; by default that of a snippet's tensors, or float64.
            check: Whether to compare with the reference.
            points_of: Variables whose first axis counts points; the expression is of one, and there is a Jacobian for
                each: a block has shape (points, *y.shape, *x.shape).

        Raises:
            GradcliError: As for `eval`.
            TooLargeError: The blocks would take more than `JACOBIAN_BYTES`.

        >>> from gradcli import Function
        >>> Function("A@x").jacobian({"A": [[1, 2]], "x": [3, 4]}, wrt=["x"]).jacobian["x"]
        array([[1., 2.]])
        >>> Function("x**2").jacobian({"x": [1, 2, 3]}, points_of=["x"]).jacobian["x"]
        array([2., 4., 6.])
        """
        if points_of:
            from gradcli.questions.points import jacobian

            return jacobian(self._points(at, wrt, dtype, points_of), check=check)
        question = self._question(at, wrt, dtype, command="jacobian")
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
        dtype: Dtype | None = None,
        check: bool = True,
    ) -> JVP:
        """The Jacobian-vector product Ju, the derivative of y along a direction u in x.

        Args:
            at: A value per variable.
            u: A direction per variable, of its shape, or that of the only variable; 1 if there is one element in all.
                `"ones"`, `"e0"` and `"e0_1"` are known. A variable without a direction is held constant.
            wrt: The variables that may move; all by default.
            dtype: Of the computation; by default that of a snippet's tensors, or float64.
            check: Whether to compare with the reference.

        Raises:
            GradcliError: As for `eval`; a direction is missing, or has not its variable's shape.

        >>> from gradcli import Function
        >>> answer = Function("[x*y, x+y]").jvp({"x": 3, "y": 5}, {"x": 1, "y": 10})
        >>> answer.jvp, answer.symbolic.text, answer.check.verdict
        (array([35., 11.]), '[u_x*y + u_y*x, u_x + u_y]', 'agree')
        """
        question = self._question(at, wrt, dtype, command="jvp")
        return second_order.jvp(question, self._directions(u), check=check)

    def hessian(
        self,
        at: Inputs | None = None,
        *,
        wrt: Sequence[str] | None = None,
        dtype: Dtype | None = None,
        check: bool = True,
    ) -> Hessian:
        """The Hessian of a y of one element: a block of shape a.shape + b.shape per pair of variables.

        Args:
            at: A value per variable.
            wrt: The variables to differentiate by; all by default.
            dtype: Of the computation; by default that of a snippet's tensors, or float64.
            check: Whether to compare with the reference.

        Raises:
            GradcliError: As for `eval`; y has several elements.
            TooLargeError: The blocks would take more than `JACOBIAN_BYTES`.

        >>> from gradcli import Function
        >>> answer = Function("sum(x**3)").hessian({"x": [1, 2]})
        >>> answer.hessian["x"]["x"].tolist(), answer.symbolic["x"]["x"].text
        ([[6.0, 0.0], [0.0, 12.0]], '6*x[i]*KroneckerDelta(i, j)')
        """
        return second_order.hessian(self._question(at, wrt, dtype, command="hessian"), check=check)

    def hvp(
        self,
        at: Inputs | None = None,
        u: Directions = None,
        *,
        wrt: Sequence[str] | None = None,
        dtype: Dtype | None = None,
        check: bool = True,
    ) -> HVP:
        """The Hessian-vector product Hu of a y of one element, without the Hessian.

        Args:
            at: A value per variable.
            u: The direction, as in `jvp`.
            wrt: The variables to differentiate by; all by default.
            dtype: Of the computation; by default that of a snippet's tensors, or float64.
            check: Whether to compare with the reference.

        Raises:
            GradcliError: As for `jvp`; y has several elements.

        >>> from gradcli import Function
        >>> answer = Function("sum(x**3)").hvp({"x": [1, 2]}, "e1")
        >>> answer.hvp["x"], answer.symbolic["x"].text
        (array([ 0., 12.]), '6*u[j]*x[j]')
        """
        question = self._question(at, wrt, dtype, command="hvp")
        return second_order.hvp(question, self._directions(u), check=check)

    def _directions(self, u: Directions) -> Directions:
        """Those that are given, or those of a snippet."""
        return self._snippet.u if u is None or (isinstance(u, Mapping) and not u) else u

    def answer(
        self,
        at: Inputs | None = None,
        *,
        wrt: Sequence[str] | None = None,
        dtype: Dtype | None = None,
        check: bool = True,
    ) -> Evaluation | Jacobian | Hessian | JVP | HVP:
        """What a snippet asks for, where that is no gradient (see `asks`).

        Args:
            at: A value per variable.
            wrt: The variables to differentiate by; all by default.
            dtype: Of the computation; by default that of a snippet's tensors, or float64.
            check: Whether to compare with the reference.

        Raises:
            GradcliError: As for the command of that name.
            UsageError: It asks for a gradient.

        >>> from gradcli import Function
        >>> Function("H = torch.autograd.functional.hessian(lambda x: x**3, torch.tensor(2.))").answer().hessian
        {'x': {'x': array(12.)}}
        """
        from gradcli.questions.remarks import of_asked

        match self.asks:
            case "eval":
                found: Evaluation | Jacobian | Hessian | JVP | HVP = self.eval(at, dtype=dtype, check=check)
            case "jacobian":
                found = self.jacobian(at, wrt=wrt, dtype=dtype, check=check)
            case "hessian":
                found = self.hessian(at, wrt=wrt, dtype=dtype, check=check)
            case "jvp":
                found = self.jvp(at, wrt=wrt, dtype=dtype, check=check)
            case "hvp":
                found = self.hvp(at, wrt=wrt, dtype=dtype, check=check)
            case _:
                raise UsageError("this function asks for nothing but its gradient", hint="vjp gives that")
        return replace(found, warnings=(*found.warnings, of_asked(self.asks)))


def _require_no(points_of: Sequence[str], **others: object) -> None:
    """Refuse what is asked at one point only.

    Raises:
        UsageError: It is asked at many.
    """
    for name, given in others.items():
        if given:
            point = f"leave out --points-of {','.join(points_of)}, or --{name}"
            raise UsageError(f"--{name} and --points-of exclude each other", hint=point)

"""The value of a function, its first derivatives and its second."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gradcli.errors import UsageError
from gradcli.function.text import Text
from gradcli.language.inputs import Value
from gradcli.questions import derivatives, products, second_order
from gradcli.questions.preparing import Inputs
from gradcli.questions.products import ProductOptions
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

        >>> from gradcli import Function
        >>> Function("sum(x*y)").eval({"x": "1,2", "y": [3, 4]}).value
        array(11.)
        """
        return derivatives.evaluation(self._asked(at, (), dtype, check=check, points_of=points_of))

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

        The answer has y, v, vᵀJ (x's shape per variable), J (y.shape + x.shape, up to `JACOBIAN_ENTRIES` entries), the
        formula and the verdict.  At many points, v is for each of them, or has a first axis too.

        Raises:
            GradcliError: v is missing for a y of several elements, has not y's shape, or stands beside a loss; a name
                to show is none of the function's.

        >>> from gradcli import Function
        >>> answer = Function("[x*y, x+y]").vjp({"x": 3, "y": 5}, v=[1, 10])
        >>> answer.vjp["x"], answer.jacobian["y"], answer.symbolic["x"].text, answer.check.verdict
        (array(15.), array([3., 1.]), '[y, 1]', 'agree')
        """
        asked = self._asked(at, wrt, dtype, check=check, points_of=points_of)
        return products.vjp(asked, ProductOptions(() if v is None else (v,), show, loss))

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
        """Several vector-Jacobian products of one Jacobian; with `accumulate`, what `x.grad` holds after each pass.

        Without any v, it is what a single `vjp` would take, or those of all backward passes of a snippet, if the
        gradients are to accumulate or the snippet sets them to zero in between.

        Raises:
            GradcliError: As for `vjp`; there are too many of them.

        >>> from gradcli import Function
        >>> found = Function("x**2").vjps({"x": "1,2"}, ["e0", "e1"], accumulate=True)
        >>> [(one.vjp["x"].tolist(), one.accumulated["x"].tolist()) for one in found.answers]
        [([2.0, 0.0], [2.0, 0.0]), ([0.0, 4.0], [2.0, 4.0])]
        """
        return products.vjps(self._asked(at, wrt, dtype, check=check), ProductOptions(vs, show, loss, accumulate))

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
        """The gradient of a y of one element, at each point if there are many.

        Raises:
            GradcliError: y has several elements.

        >>> from gradcli import Function
        >>> Function("sum(x**3)").grad({"x": [1, 2]}).grad["x"]
        array([ 3., 12.])
        """
        asked = self._asked(at, wrt, dtype, check=check, points_of=points_of)
        return products.grad(asked, ProductOptions(show=show))

    def jacobian(
        self,
        at: Inputs | None = None,
        *,
        wrt: Sequence[str] | None = None,
        dtype: Dtype | None = None,
        check: bool = True,
        points_of: Sequence[str] = (),
    ) -> Jacobian:
        """The full Jacobian, a block of shape y.shape + x.shape per variable; of many points, one for each.

        Raises:
            TooLargeError: The blocks would take more than `JACOBIAN_BYTES`.

        >>> from gradcli import Function
        >>> Function("A@x").jacobian({"A": [[1, 2]], "x": [3, 4]}, wrt=["x"]).jacobian["x"]
        array([[1., 2.]])
        >>> Function("x**2").jacobian({"x": [1, 2, 3]}, points_of=["x"]).jacobian["x"]
        array([2., 4., 6.])
        """
        return derivatives.jacobian(self._asked(at, wrt, dtype, check=check, points_of=points_of))

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

        Raises:
            GradcliError: A direction is missing, or has not its variable's shape.

        >>> from gradcli import Function
        >>> answer = Function("[x*y, x+y]").jvp({"x": 3, "y": 5}, {"x": 1, "y": 10})
        >>> answer.jvp, answer.symbolic.text, answer.check.verdict
        (array([35., 11.]), '[u_x*y + u_y*x, u_x + u_y]', 'agree')
        """
        return second_order.jvp(self._asked(at, wrt, dtype).question("jvp"), self._directions(u), check=check)

    def hessian(
        self,
        at: Inputs | None = None,
        *,
        wrt: Sequence[str] | None = None,
        dtype: Dtype | None = None,
        check: bool = True,
    ) -> Hessian:
        """The Hessian of a y of one element: a block of shape a.shape + b.shape per pair of variables.

        Raises:
            GradcliError: y has several elements, or the blocks would take more than `JACOBIAN_BYTES`.

        >>> from gradcli import Function
        >>> answer = Function("sum(x**3)").hessian({"x": [1, 2]})
        >>> answer.hessian["x"]["x"].tolist(), answer.symbolic["x"]["x"].text
        ([[6.0, 0.0], [0.0, 12.0]], '6*x[i]*KroneckerDelta(i, j)')
        """
        return second_order.hessian(self._asked(at, wrt, dtype).question("hessian"), check=check)

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

        Raises:
            GradcliError: As for `jvp`; y has several elements.

        >>> from gradcli import Function
        >>> answer = Function("sum(x**3)").hvp({"x": [1, 2]}, "e1")
        >>> answer.hvp["x"], answer.symbolic["x"].text
        (array([ 0., 12.]), '6*u[j]*x[j]')
        """
        return second_order.hvp(self._asked(at, wrt, dtype).question("hvp"), self._directions(u), check=check)

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

        Raises:
            UsageError: It asks for a gradient.

        >>> from gradcli import Function
        >>> Function("H = torch.autograd.functional.hessian(lambda x: x**3, torch.tensor(2.))").answer().hessian
        {'x': {'x': array(12.)}}
        """
        from gradcli.questions.remarks import of_asked

        if not self.asks:
            raise UsageError("this function asks for nothing but its gradient", hint="vjp gives that")
        options = {"at": at, "dtype": dtype, "check": check} | ({} if self.asks == "eval" else {"wrt": wrt})
        found: Evaluation | Jacobian | Hessian | JVP | HVP = getattr(self, self.asks)(**options)
        return replace(found, warnings=(*found.warnings, of_asked(self.asks)))

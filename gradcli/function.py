"""A function of tensors from text: the Python API, a method a command.

Holds no mathematics: `gradcli.questions` asks the readings.  The options of the methods are those of the table in
`gradcli.options`, to which a test holds them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from gradcli import results
from gradcli.language.inputs import Value
from gradcli.questions import derivatives, products
from gradcli.questions.derivatives import Directions
from gradcli.questions.naming import Inputs
from gradcli.questions.parsed_text import CommonOptions, JudgedOptions, ParsedText
from gradcli.questions.question import Dtype

if TYPE_CHECKING:
    from gradcli.questions.closed_form import GivenShape
    from gradcli.questions.streaming import ColumnPlan, Stream


class Function(ParsedText):
    """A function of tensors, parsed from text and never evaluated as Python.

    Args:
        expression: The text, such as `"x**2"` or `"y = A@x; sum(y**2)"`.

    Values are numbers, nested lists, arrays, torch tensors, pandas Series or texts of the language; answers hold
    arrays of the dtype asked for, float64 by default, in the shapes that `gradcli.results` states.

    Attributes:
        expression: The text as given.
        variables: The free names in order of appearance.

    What the options mean, which methods share:

    - `at` has a value per variable, and per name that a loss alone has; or it is that of the only variable;
    - `v` is a gradient vector of y's shape, or 1 if y has one element; `"ones"`, `"e0"` (ones over y[0]), `"e0_1"` (the
      element y[0,1] alone) and expressions in y and the variables, `"2*y"`, are known; `vs` are several;
    - `u` is a direction per variable, of its shape, or that of the only variable, or 1 if there is one element in all;
      `"ones"`, `"e0"` and `"e0_1"` are known, and a variable without a direction is held constant;
    - `loss` is an expression in y of one element, `"sum(y**2)"`, in place of v, which is then its derivative by y;
    - `wrt` names the variables to differentiate by, all by default;
    - `dtype` is that of the computation, by default that of a snippet's tensors, or float64;
    - `check` says whether to compare with the reference.

    A derivative at no point, of variables without values in the text, is its formula: what `closed_form` answers.

    Raises:
        GradcliError: The text is not in the language; a value is missing, surplus or malformed; shapes do not fit.

    >>> f = Function("x**2")
    >>> f.variables
    ('x',)
    >>> f.vjp([1, 2], v=[1, 1]).vjp["x"]
    array([2., 4.])
    """

    def __reduce__(self) -> Any:
        return (Function, (self.expression,)) if type(self) is Function else super().__reduce__()

    # -- in numbers and formulas

    def eval(self, at: Inputs | None = None, *, dtype: Dtype | None = None, check: bool = True) -> results.Evaluation:
        """Compute the value y.

        NumPy computes it where tensors are small and balls say that the value is right, and torch all else: in
        float32, what is large, and what is wrong, so that it can be seen what torch makes of it.

        >>> Function("sum(x*y)").eval({"x": "1,2", "y": [3, 4]}).value
        array(11.)
        """
        return derivatives.evaluation(self._asked(at, (), dtype, check=check))

    def vjp(
        self,
        at: Inputs | None = None,
        v: Value | None = None,
        *,
        loss: str | None = None,
        **options: Unpack[JudgedOptions],
    ) -> results.VJP:
        """Compute the vector-Jacobian product vᵀJ, left in `x.grad` by `y.backward(gradient=v)`.

        The answer has y, v, vᵀJ (x's shape per variable), J (y.shape + x.shape, up to `JACOBIAN_ENTRIES` entries), the
        formula and the verdict.

        Raises:
            GradcliError: v is missing for a y of several elements, has not y's shape, or is given with a loss.

        >>> answer = Function("[x*y, x+y]").vjp({"x": 3, "y": 5}, v=[1, 10])
        >>> answer.vjp["x"], answer.jacobian["y"], answer.symbolic["x"].text, answer.check.verdict
        (array(15.), array([3., 1.]), '[y, 1]', 'agree')
        """
        return products.vjp(self._asked(at, **options), () if v is None else (v,), loss)

    def vjps(
        self,
        at: Inputs | None = None,
        vs: Sequence[Value] = (),
        *,
        accumulate: bool = False,
        loss: str | None = None,
        **options: Unpack[JudgedOptions],
    ) -> results.Products:
        """Compute several vector-Jacobian products of one Jacobian; with `accumulate`, `x.grad` after each pass too.

        Without any v, it is what a single `vjp` would take, or those of all backward passes of a snippet, if the
        gradients are to accumulate or the snippet sets them to zero in between.

        Raises:
            GradcliError: As for `vjp`; there are too many of them.

        >>> found = Function("x**2").vjps({"x": "1,2"}, ["e0", "e1"], accumulate=True)
        >>> [(one.vjp["x"].tolist(), one.accumulated["x"].tolist()) for one in found.answers]
        [([2.0, 0.0], [2.0, 0.0]), ([0.0, 4.0], [2.0, 4.0])]
        """
        return products.vjps(self._asked(at, **options), vs, loss, accumulate=accumulate)

    def grad(self, at: Inputs | None = None, **options: Unpack[JudgedOptions]) -> results.Gradient:
        """Compute the gradient of a y of one element.

        Raises:
            GradcliError: y has several elements.

        >>> Function("sum(x**3)").grad({"x": [1, 2]}).grad["x"]
        array([ 3., 12.])
        """
        return products.grad(self._asked(at, **options))

    def jacobian(self, at: Inputs | None = None, **options: Unpack[JudgedOptions]) -> results.Jacobian:
        """Compute the full Jacobian, a block of shape y.shape + x.shape per variable.

        Raises:
            TooLargeError: The blocks would take more than `JACOBIAN_BYTES`.

        >>> Function("A@x").jacobian({"A": [[1, 2]], "x": [3, 4]}, wrt=["x"]).jacobian["x"]
        array([[1., 2.]])
        """
        return derivatives.jacobian(self._asked(at, **options))

    def jvp(self, at: Inputs | None = None, u: Directions = None, **options: Unpack[JudgedOptions]) -> results.JVP:
        """Compute the Jacobian-vector product Ju, the derivative of y along a direction u in x.

        Raises:
            GradcliError: A direction is missing, or has not its variable's shape.

        >>> answer = Function("[x*y, x+y]").jvp({"x": 3, "y": 5}, {"x": 1, "y": 10})
        >>> answer.jvp, answer.symbolic.text, answer.check.verdict
        (array([35., 11.]), '[u_x*y + u_y*x, u_x + u_y]', 'agree')
        """
        return derivatives.jvp(self._asked(at, **options), u)

    def hessian(self, at: Inputs | None = None, **options: Unpack[JudgedOptions]) -> results.Hessian:
        """Compute the Hessian of a y of one element: a block of shape a.shape + b.shape per pair of variables.

        Raises:
            GradcliError: y has several elements, or the blocks would take more than `JACOBIAN_BYTES`.

        >>> answer = Function("sum(x**3)").hessian({"x": [1, 2]})
        >>> answer.hessian["x"]["x"].tolist(), answer.symbolic["x"]["x"].text
        ([[6.0, 0.0], [0.0, 12.0]], '6*x[i]*KroneckerDelta(i, j)')
        """
        return derivatives.hessian(self._asked(at, **options))

    def hvp(self, at: Inputs | None = None, u: Directions = None, **options: Unpack[JudgedOptions]) -> results.HVP:
        """Compute the Hessian-vector product Hu of a y of one element, without the Hessian.

        Raises:
            GradcliError: As for `jvp`; y has several elements.

        >>> answer = Function("sum(x**3)").hvp({"x": [1, 2]}, "e1")
        >>> answer.hvp["x"], answer.symbolic["x"].text
        (array([ 0., 12.]), '6*u[j]*x[j]')
        """
        return derivatives.hvp(self._asked(at, **options), u)

    def closed_form(
        self,
        of: str = "",
        *,
        shape: Mapping[str, GivenShape] | None = None,
        wrt: Sequence[str] | None = None,
    ) -> results.ClosedForm:
        """Derive the formula of a derivative, for values that are not known and sizes that need not be.

        `of` is the method that gives the numbers, such as `"grad"`; by default that, or `"jacobian"` if y has several
        elements.  A `shape` is of numbers and names, `(3, "n")`; a variable without one has what makes sense.

        Raises:
            GradcliError: A shape is malformed, or no shapes fit.

        >>> Function("A@x").closed_form("jacobian", wrt=["x"]).blocks["", "x"].text
        'A[i, j]'
        """
        from gradcli.questions.closed_form import closed_form

        return closed_form(self._asked(None, wrt, None), of, shape or {})

    # -- seen otherwise

    def check(
        self,
        at: Inputs | None = None,
        v: Value | None = None,
        *,
        rtol: float | None = None,
        atol: float | None = None,
        claim: Mapping[str, str] | None = None,
        expect: Mapping[str, Value] | None = None,
        random: int | None = None,
        box: Mapping[str, str] | None = None,
        seed: int = 0,
        allow: Sequence[results.Allowed] = (),
        strict: bool = False,
        require_all: bool = False,
        differences: bool = False,
        **options: Unpack[CommonOptions],
    ) -> results.Checking:
        """Compare autograd, the formula and the enclosure entry by entry, and give a verdict.

        The entries are those of vᵀJ, or without v those of J.  Torch may be off by `rtol`, relative to the truth, and
        `atol` beyond that.  `claim` has formulas of derivatives by variable, to be proved or refuted, `expect` numbers;
        `""` is the only variable.  `random` points are drawn from the `box` of each variable, `"0..1"`.  Verdicts of
        `allow` pass, and unproved claims by `no-counterexample`; unless `strict`, so do lost digits next to a larger
        entry of the gradient, and unless `require_all`, a sample.

        Raises:
            GradcliError: v has not y's shape; a range, a claim or a number makes no sense; the Jacobian would take
                more than `JACOBIAN_BYTES`, or too many points are asked.

        >>> entry = (answer := Function("x**2").check({"x": 3})).opinions[0]
        >>> answer.passed, entry.torch, entry.formula, entry.reference, entry.ulps
        (True, 6.0, 6.0, 6.0, 0.0)
        """
        from gradcli.questions.check import Demands, check

        own = (rtol, atol, claim or {}, expect or {}, random, box or {}, seed, tuple(allow))
        return check(self._asked(at, **options), v, Demands(*own, strict, require_all, differences))

    def improve(
        self, at: Inputs | None = None, *, box: Mapping[str, str] | None = None, **options: Unpack[CommonOptions]
    ) -> results.Improvement:
        """Find the form that loses the fewest digits at the point, or by magnitude over the `box` of each variable.

        The elements of an elementwise function's values are points each.

        Raises:
            GradcliError: There is neither a value nor a range, or a range makes no sense.

        >>> Function("sqrt(x**2 + 4) - x").improve(box={"x": "1..1e300"}).form
        '4/(hypot(x, 2) + x)'
        """
        from gradcli.questions.improve import improve

        return improve(self._asked(at, **options), box or {})

    def explain(
        self,
        at: Inputs | None = None,
        v: Value | None = None,
        *,
        loss: str | None = None,
        **options: Unpack[JudgedOptions],
    ) -> results.Explanation:
        """Explain the chain rule step by step: the lines forward, v, each adjoint with its terms, and vᵀJ.

        Raises:
            GradcliError: As for `vjp`.

        >>> answer = Function("y = x**2; z = y**3").explain({"x": [1, 2]}, v="ones")
        >>> [(step.name, step.operation.pretty, step.value.tolist()) for step in answer.steps]
        [('y', 'x²', [1.0, 4.0]), ('z', 'y³', [1.0, 64.0])]
        >>> [(a.name, [t.formula for t in a.terms], a.value.tolist()) for a in answer.adjoints[1:]]
        [('y', ['3*y**2'], [3.0, 48.0]), ('x', ['2*x'], [6.0, 192.0])]
        """
        from gradcli.questions.explain import explain

        return explain(self._asked(at, **options), v, loss)

    def graph(
        self,
        at: Inputs | None = None,
        v: Value | None = None,
        *,
        show: Sequence[str] = (),
        **options: Unpack[CommonOptions],
    ) -> results.BackwardGraph:
        """Return the backward graph as torch builds it, and every tensor with its attributes after the backward pass.

        Without v there is a backward pass only if y has one element.

        Raises:
            GradcliError: As for `vjp`; the tensors have too many elements.

        >>> answer = Function("z = x*y").graph({"x": 1, "y": 2}, wrt=["x"])
        >>> [(node.name, node.line or node.variable) for node in answer.nodes]
        [('MulBackward0', 'x*y'), ('AccumulateGrad', 'x')]
        >>> [(tensor.name, tensor.requires_grad, tensor.is_leaf) for tensor in answer.tensors]
        [('x', True, True), ('y', False, True), ('z', True, False)]
        """
        from gradcli.questions.views import graph

        return graph(self._asked(at, **options), v, show)

    def code(
        self,
        at: Inputs | None = None,
        v: Value | None = None,
        *,
        to: results.Language = "torch",
        **options: Unpack[CommonOptions],
    ) -> results.Source:
        """Write the same computation as a runnable script.

        `torch` has the numbers of `vjp` bit for bit, `numpy` the Jacobian by its formula; `latex` is a document.

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
        from gradcli.questions.views import code

        return code(self._asked(at, **options), v, to)

    def stream(
        self,
        source: results.RowSource,
        at: Inputs | None = None,
        *,
        on_error: results.OnError = "fail",
        check: bool = False,
        check_rows: int | None = None,
        **options: Unpack[CommonOptions],
    ) -> Stream:
        """Return a stream that maps blocks of rows: columns are variables, and `at` has the values of the others.

        `wrt` names the columns among them by default, `on_error` says what becomes of rows that are at fault, and
        `check` whether to judge some rows, of which `check_rows` says how many.

        >>> import numpy as np
        >>> from gradcli.results import Block, RowSource
        >>> stream = Function("a*x**2").stream(RowSource("the sensor", {"x": ()}), {"a": 2}, on_error="skip")
        >>> blocks = (Block(np.arange(i, i + 2), {"x": np.array([i, i + 1.0])}, {}) for i in (0, 2))
        >>> [part.values[1].tolist() for part in stream.over(blocks)], stream.passage().read
        ([[0.0, 4.0], [8.0, 12.0]], 4)
        """
        from gradcli.questions.streaming import Stream

        return Stream(self._planned(source, at, **options), on_error, check=check, check_rows=check_rows)

    def map(self, columns: Any, at: Inputs | None = None, **options: Unpack[CommonOptions]) -> Any:
        """Compute the value and the derivatives at many points, block by block on all cores.

        `columns` are arrays of shape (N, *x.shape); there come out `y` of shape (N, *y.shape), and `dy_dx` of shape
        (N, *y.shape, *x.shape).  Or they are a table of pyarrow, pandas or Polars, with the columns that a file of
        `gradcli map` has; there comes out one of the same kind, with a column for each element.

        Raises:
            GradcliError: As for `stream`; columns of different lengths.

        >>> Function("a*x**2").map({"x": [1, 2, 3]}, {"a": 2})
        {'y': array([ 2.,  8., 18.]), 'dy_dx': array([ 4.,  8., 12.])}
        """
        from gradcli.files.columnar import alike, arrays_of, is_frame, source_of
        from gradcli.questions.streaming import columns_of, mapped

        def planned(source: results.RowSource) -> ColumnPlan:
            return self._planned(source, at, **options)

        if not is_frame(columns):
            return mapped(planned, columns)
        known = (columns_of(name, self.parameters, source_of(columns)) for name in self.parameters)
        arrays = arrays_of(columns, [column for found in known if found for column in found[0]])
        return alike(columns, mapped(planned, arrays, is_flat=True))

    def map_partitions(self, frame: Any, at: Inputs | None = None, **options: Unpack[CommonOptions]) -> Any:
        """Map a DataFrame of Dask as `map` does, each partition on its worker, when it is computed."""
        meta = self.map(frame._meta_nonempty, at, **options)
        return frame.map_partitions(self.map, at, **options, meta=meta)

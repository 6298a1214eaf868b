"""A function seen otherwise: checked, explained, drawn as a graph, written as a script, mapped over many points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gradcli.function.text import Text
from gradcli.language.inputs import Value
from gradcli.questions.preparing import Inputs, prepare
from gradcli.questions.question import Dtype
from gradcli.results import (
    Allowed,
    Array,
    BackwardGraph,
    Checking,
    Explanation,
    Language,
    OnError,
    RowSource,
    Source,
)

if TYPE_CHECKING:
    from gradcli.questions.streaming import Stream


class Views(Text):
    """What else there is to know of a function."""

    def check(
        self,
        at: Inputs | None = None,
        v: Value | None = None,
        *,
        wrt: Sequence[str] | None = None,
        dtype: Dtype | None = None,
        rtol: float | None = None,
        atol: float | None = None,
        claim: Mapping[str, str] | None = None,
        expect: Mapping[str, Value] | None = None,
        random: int | None = None,
        box: Mapping[str, str] | None = None,
        seed: int = 0,
        allow: Sequence[Allowed] = (),
        require_all: bool = False,
    ) -> Checking:
        """What autograd, the formula, the enclosure and finite differences say of each entry, and the verdict.

        The entries are those of vᵀJ, or without v those of J.  Torch may be off by `rtol`, relative to the truth, a
        usual tolerance of the dtype by default, and `atol` beyond that.  `claim` has derivatives by variable, as
        formulas that are to be proved or refuted, and `expect` as numbers; one under `""` is for the only variable.
        `random` points are drawn from the `box` of each variable, `"0..1"`, whose bounds are values.  Verdicts of
        `allow` pass beside `agree`, and `no-counterexample` lets claims pass that are not proved; with `require_all` a
        sample of the entries does not.

        Raises:
            GradcliError: v has not y's shape; a range, a claim or a number makes no sense; the Jacobian would take
                more than `JACOBIAN_BYTES`, or too many points are asked.

        >>> from gradcli import Function
        >>> answer = Function("x**2").check({"x": 3})
        >>> entry = answer.opinions[0]
        >>> answer.passed, entry.torch, entry.formula, entry.reference, entry.ulps
        (True, 6.0, 6.0, 6.0, 0.0)
        """
        from gradcli.questions.check import Demands, check

        demands = Demands(rtol, atol, claim or {}, expect or {}, random, box or {}, seed, tuple(allow), require_all)
        return check(self._asked(at, wrt, dtype), v, demands)

    def explain(
        self,
        at: Inputs | None = None,
        v: Value | None = None,
        *,
        loss: str | None = None,
        wrt: Sequence[str] | None = None,
        dtype: Dtype | None = None,
        check: bool = True,
    ) -> Explanation:
        """The chain rule step by step: the lines forward, v, each adjoint with what made it, and vᵀJ.

        Raises:
            GradcliError: As for `vjp`.

        >>> from gradcli import Function
        >>> answer = Function("y = x**2; z = y**3").explain({"x": [1, 2]}, v="ones")
        >>> [(step.name, step.operation.pretty, step.value.tolist()) for step in answer.steps]
        [('y', 'x²', [1.0, 4.0]), ('z', 'y³', [1.0, 64.0])]
        >>> [(a.name, [t.formula for t in a.terms], a.value.tolist()) for a in answer.adjoints[1:]]
        [('y', ['3*y**2'], [3.0, 48.0]), ('x', ['2*x'], [6.0, 192.0])]
        """
        from gradcli.questions.explain import explain
        from gradcli.questions.loss import apart

        asked, extra = apart(self._asked(at, wrt, dtype), loss)
        question = asked.of_last(asked.question(), v if loss is None else loss)
        return explain(question, v, self._snippet.v, loss=loss, extra=extra, check=check)

    def graph(
        self,
        at: Inputs | None = None,
        v: Value | None = None,
        *,
        wrt: Sequence[str] | None = None,
        show: Sequence[str] = (),
        dtype: Dtype | None = None,
    ) -> BackwardGraph:
        """The backward graph as torch builds it, and every tensor with its attributes after the backward pass.

        Without v there is a backward pass only if y has one element.

        Raises:
            GradcliError: As for `vjp`; the tensors have too many elements.

        >>> from gradcli import Function
        >>> answer = Function("z = x*y").graph({"x": 1, "y": 2}, wrt=["x"])
        >>> [(node.name, node.line or node.variable) for node in answer.nodes]
        [('MulBackward0', 'x*y'), ('AccumulateGrad', 'x')]
        >>> [(tensor.name, tensor.requires_grad, tensor.is_leaf) for tensor in answer.tensors]
        [('x', True, True), ('y', False, True), ('z', True, False)]
        """
        from gradcli.questions.graph import graph

        asked = self._asked(at, wrt, dtype)
        return graph(asked.of_last(prepare(asked, shares=False), v), v, self._snippet.v, show)

    def code(
        self,
        at: Inputs | None = None,
        v: Value | None = None,
        *,
        wrt: Sequence[str] | None = None,
        dtype: Dtype | None = None,
        to: Language = "torch",
    ) -> Source:
        """The same computation as a runnable script.

        `torch` has the numbers of `vjp` bit for bit, `numpy` the Jacobian by its formula; `latex` is a document.

        Raises:
            GradcliError: As for `vjp`; there is no formula for NumPy; values that follow no rule are too many.

        >>> from gradcli import Function
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
        from gradcli.questions.code import writing

        asked = self._asked(at, wrt, dtype)
        return writing(asked.of_last(asked.question(), v), v, self._snippet.v, to, at or {})

    def stream(
        self,
        source: RowSource,
        at: Inputs | None = None,
        *,
        wrt: Sequence[str] | None = None,
        dtype: Dtype | None = None,
        on_error: OnError = "fail",
        check: bool = False,
    ) -> Stream:
        """What maps blocks of rows, of which columns are variables, and `at` has the others.

        `wrt` names the columns among them by default, `on_error` says what becomes of rows that are at fault, and
        `check` whether to judge a sample of the rows.

        >>> import numpy as np
        >>> from gradcli import Block, Function, RowSource
        >>> stream = Function("a*x**2").stream(RowSource("the sensor", {"x": ()}), {"a": 2}, on_error="skip")
        >>> blocks = (Block(np.arange(i, i + 2), {"x": np.array([i, i + 1.0])}, {}) for i in (0, 2))
        >>> [part.values[1].tolist() for part in stream.over(blocks)], stream.passage().read
        ([[0.0, 4.0], [8.0, 12.0]], 4)
        """
        from gradcli.questions.mapping import plan
        from gradcli.questions.streaming import Stream

        return Stream(plan(self._asked(at, wrt, dtype), source), on_error, check=check)

    def map(
        self,
        columns: Mapping[str, Value],
        at: Inputs | None = None,
        *,
        wrt: Sequence[str] | None = None,
        dtype: Dtype | None = None,
    ) -> dict[str, Array]:
        """The value and the derivatives at many points, computed block by block on all cores.

        `columns` are arrays of shape (N, *x.shape); there come out `y` of shape (N, *y.shape), and `dy_dx` of shape
        (N, *y.shape, *x.shape).

        Raises:
            GradcliError: As for `stream`; columns of different lengths.

        >>> from gradcli import Function
        >>> Function("a*x**2").map({"x": [1, 2, 3]}, {"a": 2})
        {'y': array([ 2.,  8., 18.]), 'dy_dx': array([ 4.,  8., 12.])}
        """
        from gradcli.questions.streaming import mapped

        return mapped(self._asked(at, wrt, dtype), columns)

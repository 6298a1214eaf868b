"""A function seen otherwise: checked, explained, drawn as a graph, written as a script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradcli.function.text import Text
from gradcli.language.names import SHADOWABLE
from gradcli.language.values import Value
from gradcli.questions.preparing import Inputs, prepare
from gradcli.questions.question import Dtype
from gradcli.results import Allowed, BackwardGraph, Checking, Explanation, Language, Source


class Views(Text):
    """What else there is to know of a function at a point."""

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

        Args:
            at: A value per variable.
            v: The entries are those of vᵀJ, as in `vjp`; without it, those of J.
            wrt: The variables to differentiate by; all by default.
            dtype: Of the computation; by default that of a snippet's tensors, or float64.
            rtol: How far torch may be off, relative to the truth; a usual tolerance of the dtype by default.
            atol: How far it may be off beyond that; 0 by default.
            claim: Derivatives by variable, as formulas that are to be proved or refuted; one under `""` is for the only
                variable.
            expect: The same as numbers.
            random: How many points to draw at random.
            box: Where to draw them, by variable: `"0..1"`; the bounds are values and may be arrays.
            seed: Of the random points.
            allow: Verdicts that pass beside `agree`; `no-counterexample` lets claims pass that are not proved.
            require_all: Whether a sample does not pass: every entry must be checked.

        Raises:
            GradcliError: As for `eval`; v has not y's shape; a range, a claim or a number makes no sense.
            TooLargeError: The Jacobian would take more than `JACOBIAN_BYTES`, or too many points are asked.

        >>> from gradcli import Function
        >>> answer = Function("x**2").check({"x": 3})
        >>> entry = answer.opinions[0]
        >>> answer.passed, entry.torch, entry.formula, entry.reference, entry.ulps
        (True, 6.0, 6.0, 6.0, 0.0)
        """
        from gradcli.questions.check import Demands, checking

        demands = Demands(rtol, atol, claim or {}, expect or {}, random, box or {}, seed, tuple(allow), require_all)
        given = demands.inputs(at or {}, self._snippet.values, self.variables, SHADOWABLE)
        question = self._question(given, wrt, dtype)
        return checking(question, v, demands)

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

        Args:
            at: A value per variable, and per name that the loss alone has.
            v: As for `vjp`.
            loss: In place of v, an expression in y of one element, `"sum(y**2)"`: v is its derivative.
            wrt: The variables to differentiate by; all by default.
            dtype: Of the computation; by default that of a snippet's tensors, or float64.
            check: Whether to compare with the reference.

        Raises:
            GradcliError: As for `vjp`; the loss is not one number in y, or stands beside a v.

        >>> from gradcli import Function
        >>> answer = Function("y = x**2; z = y**3").explain({"x": [1, 2]}, v="ones")
        >>> [(step.name, step.operation.pretty, step.value.tolist()) for step in answer.steps]
        [('y', 'x²', [1.0, 4.0]), ('z', 'y³', [1.0, 64.0])]
        >>> [(a.name, [t.formula for t in a.terms], a.value.tolist()) for a in answer.adjoints[1:]]
        [('y', ['3*y**2'], [3.0, 48.0]), ('x', ['2*x'], [6.0, 192.0])]
        """
        from gradcli.questions.explain import explain

        own, extra = self._split(at, loss)
        question = self._of_last(self._question(own, wrt, dtype), v if loss is None else loss)
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

        Args:
            at: A value per variable.
            v: As in `vjp`; without it there is a backward pass only if y has one element.
            wrt: The variables that require a gradient; all by default.
            show: Names of statements, or of the output, that are to retain their gradients.
            dtype: Of the computation; by default that of a snippet's tensors, or float64.

        Raises:
            GradcliError: As for `vjp`; a name that no statement has.
            TooLargeError: The tensors have too many elements.

        >>> from gradcli import Function
        >>> answer = Function("z = x*y").graph({"x": 1, "y": 2}, wrt=["x"])
        >>> [(node.name, node.line or node.variable) for node in answer.nodes]
        [('MulBackward0', 'x*y'), ('AccumulateGrad', 'x')]
        >>> [(tensor.name, tensor.requires_grad, tensor.is_leaf) for tensor in answer.tensors]
        [('x', True, True), ('y', False, True), ('z', True, False)]
        """
        from gradcli.questions.graph import graph

        question = prepare(self.expression, self._snippet, at or {}, wrt, dtype, shares=False)
        return graph(self._of_last(question, v), v, self._snippet.v, show)

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

        Args:
            at: A value per variable.
            v: As in `vjp`.
            wrt: The variables to differentiate by; all by default.
            dtype: Of the computation; by default that of a snippet's tensors, or float64.
            to: `torch` for the numbers of `vjp` bit for bit, `numpy` for the Jacobian by its formula, `latex` for a
                document.

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

        question = self._of_last(self._question(at, wrt, dtype), v)
        return writing(question, v, self._snippet.v, to, at or {})

"""Derivatives that a snippet of PyTorch takes: each a value that later lines may use, and what the snippet may ask.

A derivative is a line of the Program that torch runs; `torch.autograd.grad(y, x, v)` gives a tuple of them, each with a
graph of its own if create_graph=True.  Which of them are answered is for `passes` to say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import sympy

from gradcli.errors import LanguageError, Span
from gradcli.language.lower.evaluators import Array
from gradcli.language.lower.hooks import Operand
from gradcli.language.lower.programs import Lowering
from gradcli.language.program.wengert import Atom
from gradcli.language.snippets.definitions import Callee
from gradcli.language.snippets.signatures import Signatures, keeps_graph
from gradcli.language.text.nodes import Arguments, Subscript
from gradcli.language.text.tokens import Token

GO_ON = "torch.autograd.grad(y, x, create_graph=True)[0] is a tensor to go on with"
"""What to write in place of `x.grad` where something is computed with it."""

_UNUSED = "One of the differentiated Tensors appears to not have been used in the graph"

Question = Literal["vjp", "jacobian", "hessian", "jvp", "hvp"]
"""What a derivative is called by the command that answers it."""


@dataclass(frozen=True)
class Pass:
    """A derivative that is taken, `y.backward(v)`.

    Attributes:
        output: What is differentiated.
        v: The gradient vector, if there is one.
        span: Where the pass stands.
        inputs: The only variables that it is for, if it says.
        keeps_graph: Whether it is asked to keep what the derivatives need: `retain_graph=True`, `create_graph=True`.
        asks: Which derivative it is.
        u: The direction of each variable, of a derivative along one.
        accumulates: Whether it adds to `.grad`.
        zeroed: The variables whose `.grad` is set to zero before it.
        trouble: Why it is no question on its own, if it is none.
        values: What holds its result.
    """

    output: Atom
    v: Atom | None
    span: Span
    inputs: tuple[str, ...] = ()
    keeps_graph: bool = False
    asks: Question = "vjp"
    u: tuple[tuple[str, Atom], ...] = ()
    accumulates: bool = True
    zeroed: tuple[str, ...] = ()
    trouble: str = ""
    values: frozenset[Atom] = frozenset()


class Derivatives:
    """Takes derivatives, and knows what their results are used for.

    Attributes:
        values: The numbers of the variables that the snippet defines.
        derived: The pass whose result a value is.
        tuples: The parts of what is a tuple in torch; none of what nothing can be computed with.
        pullbacks: The functions of v that `vjp` gives.
        calls: How a differentiated function is called, by its value.
    """

    def __init__(self, lowering: Lowering, signatures: Signatures, values: dict[str, Array]) -> None:
        self.source, self.scope, self.lines = lowering.source, lowering.scope, lowering.lines
        self.emit, self.builder = lowering.lines.emit, lowering.lines.builder
        self.constants, self.signatures = lowering.expressions.constants, signatures
        self.values = values
        self.derived: dict[Atom, Pass] = {}
        self.tuples: dict[Atom, tuple[Atom, ...]] = {}
        self.pullbacks: dict[Atom, Callee] = {}
        self.calls: dict[Atom, str] = {}
        self.aliases = 0

    def indexed(self, operand: Operand, subscript: Subscript) -> Operand | None:
        """One of a tuple of gradients; None of what is no tuple."""
        found = self.tuples.get(operand[0])
        if found is None:
            return None
        place = self.constants.place(subscript)
        span = operand[1].to(subscript.span)
        if not -len(found) <= place < len(found):
            raise self.source.error(LanguageError, f"this tuple has {len(found)} parts, counted from 0", span)
        return found[place], span

    def require_tensors(self, operands: Sequence[Atom], span: Span) -> None:
        """Refuse to compute with a tuple, or with what gradcli prints."""
        if any(self.tuples.get(a) == () for a in operands):
            raise self.source.error(LanguageError, "what is computed from '.grad' is not read", span, hint=GO_ON)
        if any(a in self.tuples or a in self.pullbacks for a in operands):
            hint = "[0] is its first part"
            raise self.source.error(LanguageError, "this derivative is a tuple, as in torch", span, hint=hint)

    def pass_of(self, atom: Atom) -> Pass | None:
        """The pass whose result a value is, detached or not."""
        while atom not in self.derived:
            line = self.builder.line_of(atom)
            if line is None or line.call.op.name != "detach":
                return None
            atom = line.call.operands[0]
        return self.derived[atom]

    def result(self, found: Sequence[Atom], one: Pass, *, is_tuple: bool, others: Sequence[Atom] = ()) -> Operand:
        """A derivative by each of its inputs, behind what comes with it; remembered as what may be asked."""
        one = replace(one, values=frozenset(found))
        parts = (*others, *found)
        for n, atom in enumerate(found):
            alone = one.inputs[n : n + 1] if len(one.inputs) == len(found) else one.inputs
            self.derived[atom] = replace(one, inputs=alone)
        if not is_tuple and not others:
            return found[0], one.span
        whole = sympy.Dummy("tuple", real=True)
        self.tuples[whole] = parts
        self.derived[whole] = one
        return whole, one.span

    # -- torch.autograd.grad

    def gradients(self, token: Token, arguments: Arguments) -> Operand:
        """`torch.autograd.grad(outputs, inputs, grad_outputs, ...)`: a gradient for each input."""
        read = self.signatures
        flags = ("retain_graph", "create_graph", "only_inputs", "allow_unused")
        readers = {
            "outputs": read.tensors,
            "inputs": read.tensors,
            "grad_outputs": read.vector,
            **dict.fromkeys(flags, read.flag),
            "is_grads_batched": read.not_read,
            "materialize_grads": read.flag,
        }
        found = read.in_call(arguments, readers)
        span = token.span.to(arguments.span)
        if "outputs" not in found or "inputs" not in found:
            raise self.source.error(LanguageError, "grad takes outputs and inputs: grad(y, x)", span)
        outputs, inputs = found["outputs"][0], found["inputs"][0]
        if len(outputs) != 1:
            raise self.source.error(LanguageError, "several outputs are not read", span, hint="differentiate their sum")
        (y, _), v = outputs[0], found.get("grad_outputs")
        self.require_computed(y, span)
        for operand in inputs:
            self._require_used(y, operand, found)
        gradients = [self.gradient_line(y, x, v, span) for x, _ in inputs]
        trouble = self.trouble_of([x for x, _ in inputs])
        names = tuple(str(x) for x, _ in inputs)
        one = Pass(y, v, span, names, keeps_graph(found), accumulates=False, trouble=trouble)
        kept = gradients if found.get("create_graph") else [self.detached_line(g, span) for g in gradients]
        return self.result(kept, one, is_tuple=True)

    def require_computed(self, y: Atom, span: Span) -> None:
        """Refuse an output that nothing computes: to give it a value would answer the identity.

        Raises:
            LanguageError: It is a free name.
        """
        name = str(y)
        if name in self.scope.variables and name not in self.values:
            hint = f"write the statement that does before this one, such as {name} = x**2"
            raise self.source.error(LanguageError, f"nothing computes '{name}' in this text", span, hint=hint)

    def _require_used(self, y: Atom, operand: Operand, found: Mapping[str, Any]) -> None:
        """Refuse what torch refuses: an input that the output was not made of, or is cut off from."""
        x, span = operand
        lines, leaves = self.builder.made_of(y, stop=lambda call: call.op.name == "detach")
        if x in leaves or x == y or any(line.symbol == x for line in lines) or found.get("materialize_grads"):
            return
        shown = self.source.excerpt(span)
        if found.get("allow_unused"):
            raise self.source.error(LanguageError, f"the output does not depend on {shown}: torch gives None", span)
        message = f"the output does not depend on {shown}: torch raises '{_UNUSED}'"
        is_cut = any(line.call.op.name == "detach" for line in lines)
        hint = "a derivative has a graph of its own only by create_graph=True" if is_cut else None
        raise self.source.error(LanguageError, message, span, hint=hint)

    def trouble_of(self, inputs: Sequence[Atom]) -> str:
        """Why a derivative by these is no question of its own."""
        if all(x in self.scope.variables.values() for x in inputs):
            return ""
        return "a derivative by what is computed is read only where later lines use it"

    # -- lines

    def gradient_line(self, y: Atom, x: Atom, v: Atom | None, span: Span) -> Atom:
        """The line of vᵀJ."""
        return self.builder.emit("gradient", (y, x) if v is None else (y, x, v), span)

    def line_of_kind(self, asks: Question, y: Atom, x: Atom, span: Span) -> Atom:
        """The line of a gradient, a Jacobian or a Hessian."""
        if asks == "vjp":
            return self.gradient_line(y, x, None, span)
        if asks == "hessian":
            y = self.gradient_line(y, x, None, span)
        return self.builder.emit("jacobian", (y, x), span)

    def alias(self, x: Atom, span: Span) -> Atom:
        """A tensor of its own with the numbers of x."""
        if x in self.tuples:
            raise self.source.error(LanguageError, "this argument is a tuple", span)
        self.aliases += 1
        return self.builder.emit("alias", (x,), span, (self.aliases,))

    def detached_line(self, atom: Atom, span: Span) -> Atom:
        """A derivative without a graph of its own."""
        return self.builder.emit("detach", (atom,), span)

    def slope(self, parts: Sequence[Atom], directions: Sequence[Atom], span: Span) -> Atom:
        """The sum of all elements, each weighted by the direction."""
        total: Atom | None = None
        for part, u in zip(parts, directions, strict=True):
            one = self.emit("sum", [self.emit("mul", [part, u], span)[0]], span, (None, False))[0]
            total = one if total is None else self.emit("add", [total, one], span)[0]
        assert total is not None, "a function of one argument at least"  # noqa: S101
        return total

    def along(self, y: Atom, xs: Sequence[Atom], directions: Sequence[Atom], span: Span) -> Atom:
        """Ju: the gradient of u·(Jᵀw) by w, in which it is linear."""
        w = self.alias(self.emit("zeros_like", [y], span)[0], span)
        slope = self.slope([self.gradient_line(y, x, w, span) for x in xs], directions, span)
        return self.gradient_line(slope, w, None, span)

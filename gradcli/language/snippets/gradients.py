"""Derivatives that a snippet of PyTorch takes, and which of them it asks for.

A derivative is a line of the Program that torch runs; `torch.autograd.grad(y, x, v)` gives a tuple of them, each with a
graph of its own if create_graph=True.  What `.grad` holds in the end is linear in v, so several backward passes are one
with the sum of their v's.  A pass that does not keep the graph leaves nothing for the next to go back through: whether
torch then refuses is for torch to say.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import sympy

from gradcli.errors import Span
from gradcli.language.lower.programs import Lowering
from gradcli.language.lower.scope import Array, Operand
from gradcli.language.program.wengert import Atom, Program
from gradcli.language.snippets.asked import ADD_UP, OUTPUTS, Pass, Question
from gradcli.language.snippets.definitions import Callee, Signatures, keeps_graph
from gradcli.language.text.nodes import Argument, Arguments, Member, Subscript
from gradcli.language.text.tokens import Token

GO_ON = "torch.autograd.grad(y, x, create_graph=True)[0] is a tensor to go on with"
"""What to write in place of `x.grad` where something is computed with it."""

_UNUSED = "One of the differentiated Tensors appears to not have been used in the graph"


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
        self.constants, self.signatures = lowering.constants, signatures
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
            raise self.source.error(f"this tuple has {len(found)} parts, counted from 0", span)
        return found[place], span

    def require_tensors(self, operands: Sequence[Atom], span: Span) -> None:
        """Refuse to compute with a tuple, or with what gradcli prints."""
        if any(self.tuples.get(a) == () for a in operands):
            raise self.source.error("what is computed from '.grad' is not read", span, hint=GO_ON)
        if any(a in self.tuples or a in self.pullbacks for a in operands):
            raise self.source.error("this derivative is a tuple, as in torch", span, hint="[0] is its first part")

    def pass_of(self, atom: Atom) -> Pass | None:
        """The pass whose result a value is, detached or not."""
        while atom not in self.derived:
            line = self.builder.line_of(atom)
            if line is None or line.call.op.name != "detach":
                return None
            atom = line.call.operands[0]
        return self.derived[atom]

    def tuple_of(self, *parts: Atom, asks: Pass | None = None) -> Atom:
        """What stands for several values, and for the derivative that it may be asked as."""
        whole = sympy.Dummy("tuple", real=True)
        self.tuples[whole] = parts
        if asks is not None:
            self.derived[whole] = asks
        return whole

    def result(self, found: Sequence[Atom], one: Pass, *, is_tuple: bool) -> Operand:
        """A derivative by each of its inputs, remembered as what may be asked."""
        one = replace(one, values=frozenset(found))
        for n, atom in enumerate(found):
            alone = one.inputs[n : n + 1] if len(one.inputs) == len(found) else one.inputs
            self.derived[atom] = replace(one, inputs=alone)
        return (self.tuple_of(*found, asks=one) if is_tuple else found[0]), one.span

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
            raise self.source.error("grad takes outputs and inputs: grad(y, x)", span)
        outputs, inputs = found["outputs"][0], found["inputs"][0]
        if len(outputs) != 1:
            raise self.source.error("several outputs are not read", span, hint="differentiate their sum")
        (y, _), v = outputs[0], found.get("grad_outputs")
        self.require_computed(y, span)
        for operand in inputs:
            self._require_used(y, operand, found)
        gradients = [self.gradient_line(y, x, v, span) for x, _ in inputs]
        objection = self.objection_to([x for x, _ in inputs])
        names = tuple(str(x) for x, _ in inputs)
        one = Pass(y, v, span, names, keeps_graph(found), accumulates=False, objection=objection)
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
            raise self.source.error(f"nothing computes '{name}' in this text", span, hint=hint)

    def _require_used(self, y: Atom, operand: Operand, found: Mapping[str, Any]) -> None:
        """Refuse what torch refuses: an input that the output was not made of, or is cut off from."""
        x, span = operand
        lines, leaves = self.builder.made_of(y, stop=lambda call: call.op.name == "detach")
        if x in leaves or x == y or any(line.symbol == x for line in lines) or found.get("materialize_grads"):
            return
        shown = self.source.excerpt(span)
        if found.get("allow_unused"):
            raise self.source.error(f"the output does not depend on {shown}: torch gives None", span)
        message = f"the output does not depend on {shown}: torch raises '{_UNUSED}'"
        is_cut = any(line.call.op.name == "detach" for line in lines)
        hint = "a derivative has a graph of its own only by create_graph=True" if is_cut else None
        raise self.source.error(message, span, hint=hint)

    def objection_to(self, inputs: Sequence[Atom]) -> str:
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
            raise self.source.error("this argument is a tuple", span)
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


class Passes:
    """Notes backward passes, and says which of them are asked for.

    Attributes:
        requires: The variables that require a gradient.
        passes: In order.
        zeroed: The variables whose `.grad` was set to zero since the last of them.
        frees_graph: Whether one is followed by another and is not asked to keep its graph.
    """

    def __init__(self, lowering: Lowering, signatures: Signatures, derivatives: Derivatives) -> None:
        self.source, self.scope, self.lines = lowering.source, lowering.scope, lowering.lines
        self.emit, self.builder = lowering.lines.emit, lowering.lines.builder
        self.constants, self.signatures, self.derivatives = lowering.constants, signatures, derivatives
        self.requires: dict[str, None] = {}
        self.passes: list[Pass] = []
        self.zeroed: dict[str, None] = {}
        self.frees_graph = False

    def require(self, name: str) -> None:
        """Note that a variable requires a gradient."""
        self.requires[name] = None

    def zero(self, name: str | None) -> None:
        """Forget the passes so far once another follows, for the gradient of one variable or of all."""
        self.zeroed |= dict.fromkeys(self.derivatives.values if name is None else [name])

    def add_pass(self, one: Pass) -> None:
        """Note a derivative that is asked for; one that adds to gradients does so from where they were set to zero.

        Raises:
            LanguageError: Nothing computes what it is of.
        """
        self.derivatives.require_computed(one.output, one.span)
        if one.accumulates:
            one = replace(one, zeroed=tuple(self.zeroed))
            self.zeroed.clear()
        self.frees_graph |= any(not earlier.keeps_graph for earlier in self.passes)
        self.passes.append(one)

    def method(self, operand: Operand, member: Member, arguments: Arguments) -> Operand:
        """`y.backward(v)`."""
        read = self.signatures
        readers = {
            "gradient": read.vector,
            "retain_graph": read.flag,
            "create_graph": read.flag,
            "inputs": self._inputs,
        }
        found = read.in_call(arguments, readers)
        span, behind = operand[1].to(arguments.span), self.source.position(member.span.stop)
        if self.source.tokens[behind].text not in ("\n", ";", ""):
            raise self.source.unexpected(behind, " behind backward()")
        self._backward(operand[0], found.get("gradient"), span, found)
        return operand[0], span

    def function(self, first: Token, arguments: Arguments) -> None:
        """`torch.autograd.backward(y, v)`."""
        read = self.signatures
        readers = {
            "tensors": read.tensors,
            "grad_tensors": read.vector,
            "retain_graph": read.flag,
            "create_graph": read.flag,
            "grad_variables": read.not_read,
            "inputs": self._inputs,
        }
        found = read.in_call(arguments, readers)
        span = first.span.to(arguments.span)
        outputs = found["tensors"][0] if "tensors" in found else []
        if len(outputs) != 1:
            raise self.source.error("backward takes one output here", span, hint="differentiate the sum")
        self._backward(outputs[0][0], found.get("grad_tensors"), span, found)

    def _backward(self, y: Atom, v: Atom | None, span: Span, found: Mapping[str, Any]) -> None:
        y = self.lines.as_number(y, span)
        self.add_pass(Pass(y, v, span, found.get("inputs", ()), keeps_graph(found)))

    def _inputs(self, argument: Argument) -> tuple[str, ...]:
        """The variables that alone get a gradient."""
        operands, _ = self.signatures.tensors(argument)
        for atom, span in operands:
            if str(atom) not in self.derivatives.values:
                shown = self.source.excerpt(span)
                raise self.source.error(f"'{shown}' is not a tensor of this snippet", span)
        return tuple(str(atom) for atom, _ in operands)

    def variables_of(self, leaves: set[Atom]) -> tuple[sympy.Symbol, ...]:
        """The variables among what some lines are made of."""
        return tuple(symbol for symbol in self.scope.variables.values() if symbol in leaves)

    def function_of(self, atom: Atom) -> Program:
        """A value as a function of the variables."""
        return self.builder.program(atom, self.scope.variables.values())

    # -- what is asked

    def asked(self) -> list[Pass]:
        """The passes that are questions: those whose result no later pass is made of, equal ones once.

        Raises:
            LanguageError: They are of different outputs, or of a kind that stands alone.
        """
        found: list[Pass] = []
        for n, one in enumerate(self.passes):
            behind = self.passes[n + 1 :]
            later = [a for other in behind for a in (other.output, other.v, *(u for _, u in other.u)) if a is not None]
            lines, _ = self.builder.made_of(*later)
            if one.accumulates or one.values.isdisjoint(line.symbol for line in lines):
                found.append(one)
        found = self._stacked(self._joined(found))
        for one in found:
            if one.objection:
                hint = "gradcli vjp --show NAME shows the gradient of what is computed"
                raise self.source.error(one.objection, one.span, hint=hint if "comput" in one.objection else None)
            is_alone = one.asks != "vjp" or found[0].asks != "vjp"
            if one is not found[0] and (is_alone or (self.builder.shares and one.output != found[0].output)):
                hint = "leave one of them out, or join them: (a*y1.sum() + b*y2.sum()).backward()"
                what = "a second question" if is_alone else "a second output"
                raise self.source.error(f"{what} is not read", one.span, hint=hint)
        return found

    def _joined(self, passes: list[Pass]) -> list[Pass]:
        """Gradients of one output with one v by several inputs are one pass."""
        found: list[Pass] = []
        for one in passes:
            last = found[-1] if found else one
            first, second = ((p.output, p.v, p.asks, p.u, p.accumulates) for p in (last, one))
            if found and first == second and not one.accumulates:
                inputs = tuple(dict.fromkeys((*last.inputs, *one.inputs)))
                found[-1] = replace(last, inputs=inputs, objection=last.objection or one.objection)
            else:
                found.append(one)
        return found

    def _stacked(self, passes: list[Pass]) -> list[Pass]:
        """Passes of different outputs of one shape, each from gradients set to zero, as those of a list of them."""
        outputs = list(dict.fromkeys(one.output for one in passes))
        starts = [one for before, one in itertools.pairwise(passes) if one.output != before.output]
        known = self.scope.known_shapes
        shapes = {self.constants.shape_in(output, known) for output in outputs} if starts else {None}
        if None in shapes or len(shapes) > 1 or not all(one.zeroed and one.accumulates for one in starts):
            return passes
        span = passes[0].span.to(passes[-1].span)
        whole = self.emit("stack", outputs, span, (0,))[0]
        zeros = [self.emit("zeros_like", [output], span)[0] for output in outputs]
        self.scope.warnings.append(OUTPUTS)

        def chosen(one: Pass) -> Atom:
            parts = [self.vector_of(one) if o == one.output else z for o, z in zip(outputs, zeros, strict=True)]
            return self.emit("stack", parts, span, (0,))[0]

        return [replace(one, output=whole, v=chosen(one)) for one in passes]

    def in_grad(self, passes: list[Pass]) -> list[Pass]:
        """The passes whose sum is the answer where there is to be one: those that `.grad` holds in the end.

        Raises:
            LanguageError: The `.grad` of the variables hold different ones.
        """
        if not passes or not passes[-1].accumulates:
            return passes[-1:]
        names = self.function_of(passes[-1].output).names
        adding = [one for one in passes if one.accumulates]
        since = {
            max((n for n, one in enumerate(adding) if name in one.zeroed), default=0)
            for name in names
            if name in (self.requires or self.derivatives.values)
        }
        if len(since) > 1:
            hint = "set all of them to zero at one place"
            raise self.source.error("the .grad of these tensors hold different passes", passes[-1].span, hint=hint)
        return adding[max(since, default=0) :]

    def vector_of(self, one: Pass) -> Atom:
        """The gradient vector of a pass, 1 where it has none."""
        return self.emit("ones_like", [one.output], one.span)[0] if one.v is None else one.v

    def accumulated(self, passes: list[Pass]) -> Atom | None:
        """The sum of their v's: what `.grad` holds is linear in v."""
        if not passes or (len(passes) == 1 and passes[0].v is None):
            return None
        if len(passes) > 1:
            self.scope.warnings.append(f"{len(passes)} {ADD_UP}")
        first, *others = map(self.vector_of, passes)
        for v in others:
            first = self.emit("add", [first, v], passes[0].span)[0]
        return first

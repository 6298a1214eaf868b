"""The backward passes of a snippet of PyTorch: what is differentiated, by what, and with which gradient vector.

What `.grad` holds in the end is linear in v, so several passes are one with the sum of their v's.  A pass that does not
keep the graph leaves nothing for the next to go back through: whether torch then refuses is for torch to say.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import sympy

from gradcli.errors import LanguageError, Span
from gradcli.language.lower.hooks import Operand
from gradcli.language.lower.programs import Lowering
from gradcli.language.program.wengert import Atom, Program
from gradcli.language.snippets.gradients import Derivatives, Pass
from gradcli.language.snippets.signatures import Signatures, keeps_graph
from gradcli.language.text.nodes import Argument, Arguments, Member
from gradcli.language.text.tokens import Token

ADD_UP = "backward passes add up in .grad, as torch has it; v is their sum"
"""The remark on several passes, behind their number; it is only so where they are read as one."""


OUTPUTS = "the passes are of different outputs, which are put in a list here; each v picks one of them"
"""The remark on passes that are read as those of one output."""

Asked = Literal["", "eval", "jacobian", "hessian", "jvp", "hvp"]
"""What a snippet asks for, by the command that answers it; nothing for a gradient."""


@dataclass(frozen=True)
class Backward:
    """A pass that the snippet asks for, all of one output.

    Attributes:
        v: The gradient vector as a function of the variables.
        zeroed: The variables whose `.grad` is set to zero before it.
        accumulates: Whether it adds to `.grad`, as `torch.autograd.grad` does not.
    """

    v: Program
    zeroed: tuple[str, ...]
    accumulates: bool


@dataclass(frozen=True)
class Replay:
    """The passes of a snippet as torch meets them: what is computed twice has a graph of its own each time.

    Attributes:
        program: Every operation as often as the snippet runs it; its output is that of the last pass.
        passes: In order, those too whose gradients are forgotten.
        requires: The variables that require a gradient.
    """

    program: Program
    passes: tuple[Pass, ...]
    requires: tuple[str, ...]

    def where(self, number: int) -> str:
        """A pass by its number and as it is written, with its line if there are several."""
        text, span = self.program.text, self.passes[number].span
        written = " ".join(text[span.start : span.stop].split())
        line = text.count("\n", 0, span.start) + 1
        place = f" (line {line})" if "\n" in text.strip() else ""
        return f"pass {number + 1}, {written}{place}"


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
        self.constants, self.signatures, self.derivatives = lowering.expressions.constants, signatures, derivatives
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
            hint = "differentiate the sum"
            raise self.source.error(LanguageError, "backward takes one output here", span, hint=hint)
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
                raise self.source.error(LanguageError, f"'{shown}' is not a tensor of this snippet", span)
        return tuple(str(atom) for atom, _ in operands)

    def variables_of(self, leaves: set[Atom]) -> tuple[sympy.Symbol, ...]:
        """The variables among what some lines are made of."""
        return tuple(symbol for symbol in self.scope.variables.values() if symbol in leaves)

    # -- what is asked

    def asked(self) -> list[Pass]:
        """The passes that are questions: those whose result no later pass is made of, equal ones once.

        Raises:
            LanguageError: They are of different outputs, or of a kind that stands alone.
        """
        found: list[Pass] = []
        for n, one in enumerate(self.passes):
            later = [a for other in self.passes[n + 1 :] for a in self._atoms_of(other)]
            lines, _ = self.builder.made_of(*later)
            if one.accumulates or one.values.isdisjoint(line.symbol for line in lines):
                found.append(one)
        found = self._stacked(self._joined(found))
        for one in found:
            if one.trouble:
                hint = (
                    "gradcli vjp --show NAME shows the gradient of what is computed"
                    if "comput" in one.trouble
                    else None
                )
                raise self.source.error(LanguageError, one.trouble, one.span, hint=hint)
            is_alone = one.asks != "vjp" or found[0].asks != "vjp"
            if one is not found[0] and (is_alone or (self.builder.shares and one.output != found[0].output)):
                hint = "leave one of them out, or join them: (a*y1.sum() + b*y2.sum()).backward()"
                what = "a second question" if is_alone else "a second output"
                raise self.source.error(LanguageError, f"{what} is not read", one.span, hint=hint)
        return found

    def _atoms_of(self, one: Pass) -> list[Atom]:
        return [one.output, *([] if one.v is None else [one.v]), *(u for _, u in one.u)]

    def _joined(self, passes: list[Pass]) -> list[Pass]:
        """Gradients of one output with one v by several inputs are one pass."""
        found: list[Pass] = []
        for one in passes:
            last = found[-1] if found else one
            is_same = not (last.accumulates or one.accumulates) and (last.output, last.v, last.asks, last.u) == (
                one.output,
                one.v,
                one.asks,
                one.u,
            )
            if found and is_same:
                inputs = tuple(dict.fromkeys((*last.inputs, *one.inputs)))
                found[-1] = replace(last, inputs=inputs, trouble=last.trouble or one.trouble)
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
        _, leaves = self.builder.made_of(passes[-1].output)
        names = [str(symbol) for symbol in self.variables_of(leaves)]
        adding = [one for one in passes if one.accumulates]
        since = {
            max((n for n, one in enumerate(adding) if name in one.zeroed), default=0)
            for name in names
            if name in (self.requires or self.derivatives.values)
        }
        if len(since) > 1:
            hint = "set all of them to zero at one place"
            raise self.source.error(
                LanguageError, "the .grad of these tensors hold different passes", passes[-1].span, hint=hint
            )
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

"""The backward passes of a snippet of PyTorch: what is differentiated, by what, and with which gradient vector.

What `.grad` holds in the end is linear in v, so several passes are one with the sum of their v's.  A pass that does not
keep the graph leaves nothing for the next to go back through: whether torch then refuses is for torch to say.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import sympy

from gradcli.errors import LanguageError, Span
from gradcli.language.grammar import Parser
from gradcli.language.lines import Operand
from gradcli.language.program import Atom, Program
from gradcli.language.tokens import Token

ADD_UP = "backward passes add up in .grad, as torch has it; v is their sum"
"""The remark on several passes, behind their number; it is only so where they are read as one."""

_FLAGS = ("retain_graph", "create_graph")
"""What may follow v without its name."""


@dataclass(frozen=True)
class Pass:
    """`y.backward(v)`.

    Attributes:
        output: What is differentiated.
        v: The gradient vector, if there is one.
        span: Where the pass stands.
        inputs: The only variables that it is for, if it says.
        keeps_graph: Whether it is asked to keep what the derivatives need: `retain_graph=True`, `create_graph=True`.
    """

    output: Atom
    v: Atom | None
    span: Span
    inputs: tuple[str, ...] = ()
    keeps_graph: bool = False


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


class Passes(Parser):
    """Reads backward passes beside the language."""

    def __init__(self, text: str, source: str, given: frozenset[str]) -> None:
        super().__init__(text, source, given)
        self.values: dict[str, npt.NDArray[np.float64]] = {}
        self.requires: dict[str, None] = {}
        self.passes: list[Pass] = []
        self.since: dict[str, int] = {}
        self.zeroed: set[str] = set()
        self.frees_graph = False
        self.vs: list[Atom] = []

    def require(self, name: str) -> None:
        """Note that a variable requires a gradient."""
        self.requires[name] = None

    def zero(self, name: str | None) -> None:
        """Forget the passes so far once another follows, for the gradient of one variable or of all."""
        self.zeroed.update(self.values if name is None else [name])

    def add_pass(self, one: Pass) -> None:
        """Note a backward pass, which adds to the gradients that were not set to zero before it.

        Raises:
            LanguageError: Nothing computes what it is of: to give it a value would answer the identity.
        """
        name = str(one.output)
        if name in self.variables and name not in self.values:
            hint = f"write the statement that does before this one, such as {name} = x**2"
            raise self.error(LanguageError, f"nothing computes '{name}' in this text", one.span, hint=hint)
        self.since |= dict.fromkeys(self.zeroed, len(self.passes))
        self.zeroed.clear()
        self.frees_graph |= any(not earlier.keeps_graph for earlier in self.passes)
        self.passes.append(one)

    def skip_line(self) -> None:
        """Pass over a statement that says nothing about the function."""
        while self.token.text not in (";", "\n") and not self.at_end:
            self.advance()

    def targets(self) -> int:
        """Where a statement begins behind `g =` or `g, h =`; where it begins if there is neither."""
        position = self.position
        while self.tokens[position].kind == "name" and self.tokens[position + 1].text in (",", "="):
            position += 2
            if self.tokens[position - 1].text == "=" or self.tokens[position].text == "=":
                return position + (self.tokens[position].text == "=")
        return self.position

    def method(self, operand: Operand) -> Operand:
        """As in the language, and `.backward(v)`."""
        name = self.tokens[self.position + 1]
        if name.text != "backward" or self.tokens[self.position + 2].text != "(":
            return super().method(operand)
        self.position += 2
        opening = self.advance()
        v, keeps_graph = self.backward_arguments(("gradient", "grad_tensors"))
        span = operand[1].to(self.expect(")", opening).span)
        if self.token.text not in ("\n", ";", ""):
            raise self.unexpected(" behind backward()")
        self.add_pass(Pass(operand[0], v, span, (), keeps_graph))
        return operand[0], span

    def differentiated(self, first: Token) -> None:
        """`torch.autograd.grad(y, x, v)` or `torch.autograd.backward(y, v)`, the result given a name or not."""
        self.position = self.targets()
        while self.token.text != "(":
            word = self.advance()
        opening = self.advance()
        if self.token.text == "outputs" and self.at_keyword:
            self.position += 2
        output, span = self.expression()
        inputs: tuple[str, ...] = ()
        self.accept(",")
        if word.text == "grad" and self.token.text != ")":
            inputs = self.inputs()
            self.accept(",")
        v, keeps_graph = self.backward_arguments(("grad_outputs", "grad_tensors"))
        span = first.span.to(self.expect(")", opening).span)
        self.add_pass(Pass(output, v, span, inputs, keeps_graph))
        if self.token.text in ("[", "."):
            self.skip_line()

    def inputs(self) -> tuple[str, ...]:
        """The variables of `torch.autograd.grad`: they alone are what is differentiated by."""
        found: list[str] = []
        if self.token.text == "inputs" and self.at_keyword:
            self.position += 2
        bracket = self.advance() if self.token.text in ("[", "(") else None
        while self.token.kind == "name":
            name = self.advance()
            if name.text not in self.values:
                raise self.error(LanguageError, f"'{name.text}' is not a tensor of this snippet", name.span)
            found.append(name.text)
            if bracket is None or not self.accept(","):
                break
        if bracket is not None:
            self.expect({"[": "]", "(": ")"}[bracket.text], bracket)
        return tuple(found)

    def backward_arguments(self, names: tuple[str, ...]) -> tuple[Atom | None, bool]:
        """The v among the arguments of a backward pass, and whether it keeps the graph."""
        v: Atom | None = None
        flags: dict[str, bool] = {}
        unnamed = [names[0], *_FLAGS]
        while self.token.text != ")" and not self.at_end:
            is_keyword = self.at_keyword
            if not is_keyword and not unnamed:
                break
            name = self.token.text if is_keyword else unnamed.pop(0)
            self.position += 2 * is_keyword
            if name not in names:
                word = self.advance().text
                flags |= {} if word == "None" else {name: word not in ("False", "0")}
            elif self.token.text == "None":
                self.advance()
            else:
                v = self.as_number(*self.expression())
            if not self.accept(","):
                break
        return v, flags.get("retain_graph", flags.get("create_graph", False))

    def variables_of(self, leaves: set[Atom]) -> tuple[sympy.Symbol, ...]:
        """The variables among what some lines are made of."""
        return tuple(symbol for symbol in self.variables.values() if symbol in leaves)

    def accumulated(self) -> Atom | None:
        """The sum of the v's of all passes since `.grad` was zero: what `.grad` holds is linear in v."""
        if not self.passes:
            return None
        _, leaves = self.builder.made_of(self.passes[-1].output)
        names = [str(symbol) for symbol in self.variables_of(leaves)]
        starts = {self.since.get(name, 0) for name in names if name in (self.requires or self.values)}
        if len(starts) > 1:
            hint = "set all of them to zero at one place"
            raise self.error(
                LanguageError, "the .grad of these tensors hold different passes", self.passes[-1].span, hint=hint
            )
        self.passes = self.passes[max(starts, default=0) :]
        first, *others = self.passes
        for other in others:
            if self.builder.shares and other.output != first.output:  # else they may be equal, and read apart
                hint = "leave one of them out, or join them: (a*y1.sum() + b*y2.sum()).backward()"
                raise self.error(LanguageError, "a second output is not read", other.span, hint=hint)
        if others:
            self.warnings.append(f"{len(self.passes)} {ADD_UP}")
        elif first.v is None:
            return None
        self.vs = [self.emit("ones_like", [p.output], p.span)[0] if p.v is None else p.v for p in self.passes]
        total = self.vs[0]
        for v in self.vs[1:]:
            total = self.emit("add", [total, v], first.span)[0]
        return total

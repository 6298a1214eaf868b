"""Result of reading a text: its function, the values of its tensors, and its backward passes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from gradcli.arrays import Array
from gradcli.errors import GradcliError, Span
from gradcli.language.program.wengert import Atom, Program

ADD_UP = "backward passes add up in .grad, as torch has it; v is their sum"
"""Remark on several passes, after their number; it applies only where they are read as one."""

LAST_ALONE = (
    "the snippet has several passes that do not add up; this is of the last, and vjp (in Python vjps) answers each"
)
"""Remark on an answer that is one of several."""


@dataclass(frozen=True)
class SnippetPass:
    """Pass of a text, by `y.backward(v)` or `torch.autograd.grad(y, x, v)`.

    Attributes:
        output: The value that is differentiated.
        v: The gradient vector, if there is one.
        span: Where the pass stands.
        inputs: The only variables that it is for, if it says.
        keeps_graph: Whether it is asked to keep the graph: `retain_graph=True`, `create_graph=True`.
        accumulates: Whether it adds to `.grad`.
        zeroed: The variables whose `.grad` is set to zero before it.
    """

    output: Atom
    v: Atom | None
    span: Span
    inputs: tuple[str, ...] = ()
    keeps_graph: bool = False
    accumulates: bool = True
    zeroed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Replay:
    """Passes of a snippet as torch meets them: a value computed twice has a graph of its own each time.

    Attributes:
        program: Every operation as often as the snippet runs it; its output is that of the last pass.
        passes: In order, with those whose gradients are forgotten.
        requires: The variables that require a gradient.
    """

    program: Program
    passes: tuple[SnippetPass, ...]
    requires: tuple[str, ...]

    def where(self, number: int) -> str:
        """Describe a pass by its number and as it is written, with its line if there are several."""
        text, span = self.program.text, self.passes[number].span
        written = " ".join(text[span.start : span.stop].split())
        line = text.count("\n", 0, span.start) + 1
        place = f" (line {line})" if "\n" in text.strip() else ""
        return f"pass {number + 1}, {written}{place}"


@dataclass(frozen=True)
class Snippet:
    """Function of a text, with the values and the passes that the text gives.

    Attributes:
        program: The function.
        values: Values of the variables that the text defines.
        wrt: The variables that require a gradient; None if the text does not say.
        v: The gradient vector as a function of the variables, if the text has a backward pass with one.
        passes: All passes that are asked for, all of one output, where there are several.
        vectors: The gradient vector of each of them as a function of the variables.
        dtype: The type in which torch computes the tensors of the text; None if it has none.
        frees_graph: All passes as torch meets them, if one is followed by another and is not asked to keep its graph.
        uncalled: The errors of variables with names of functions, which are variables only where they have a value.
        has_row: Whether the passes are of several outputs, which stand in a row as the one output here.
        read_as: The spelling that was read in the place of the text; empty where the text itself was read.
        reading_remark: The remark that says which spelling was read; empty likewise.
    """

    program: Program
    values: Mapping[str, Array] = field(default_factory=dict)
    wrt: tuple[str, ...] | None = None
    v: Program | None = None
    passes: tuple[SnippetPass, ...] = ()
    vectors: tuple[Program, ...] = ()
    dtype: Literal["float64", "float32"] | None = None
    frees_graph: Replay | None = None
    uncalled: Mapping[str, GradcliError] = field(default_factory=dict)
    has_row: bool = False
    read_as: str = ""
    reading_remark: str = ""

    def read_like(self, other: Snippet) -> Snippet:
        """Return the snippet with the spelling and the remark of another reading of its text."""
        if not other.reading_remark or self.reading_remark:
            return self
        program = replace(self.program, warnings=(other.reading_remark, *self.program.warnings))
        return replace(self, program=program, read_as=other.read_as, reading_remark=other.reading_remark)

    @property
    def starts_anew(self) -> bool:
        """Tell whether `.grad` is cleared or left out between the passes, so that no single product stands for all."""
        return any(n and (one.zeroed or not one.accumulates) for n, one in enumerate(self.passes))

    @property
    def has_each(self) -> bool:
        """Tell whether each pass is to have a product of its own."""
        return self.starts_anew or self.has_row

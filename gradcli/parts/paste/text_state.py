"""What the rules of statements are handed besides the `Context`: tensors, draws, passes and definitions of a text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from gradcli.arrays import Array
from gradcli.errors import GradcliError, Span
from gradcli.language.lower.context import Context, Operand
from gradcli.language.program.wengert import Atom, Shape
from gradcli.language.snippet_result import SnippetPass
from gradcli.language.text import nodes
from gradcli.language.text.source import SourceText

TypeName = Literal["float64", "float32", "int", ""]
"""Type of a tensor; "" for the one that torch takes where nothing is written."""


@dataclass(frozen=True)
class Callee:
    """Function of the text.

    Attributes:
        node: Its definition.
        shown: Its name in messages.
        names: The values of the names around its definition.
        defaults: The values of the parameters that are not given.
    """

    node: nodes.FunctionNode
    shown: str
    names: MutableMapping[str, Atom]
    defaults: Mapping[str, Atom] = field(default_factory=dict)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of its parameters."""
        return tuple(one.name for one in self.node.parameters)

    def refusal(self, source: SourceText, span: Span) -> GradcliError:
        """Make the error of a computation with the function itself."""
        message = f"the function {self.shown} stands where a number or a tensor must"
        return source.error(message, span, hint=f"write {self.shown}(...)")


@dataclass(frozen=True)
class Unread:
    """Value that nothing is computed from: a gradient, the positions of a maximum, the result of a call without one.

    Attributes:
        shown: Its description in messages.
        variable: The variable whose gradient it is, if it is `.grad`.
        hint: The form to write in its place, where it is no code.
    """

    shown: str
    variable: str = ""
    hint: str = ""

    def refusal(self, source: SourceText, span: Span) -> GradcliError:
        """Make the error of a computation with the value."""
        if not self.hint:
            return source.code(f"what is computed from {self.shown}", span)
        return source.error(f"{self.shown} stands where a number or a tensor must", span, hint=self.hint)


class Generator(Protocol):
    """Generator of random numbers, torch's own."""

    def seed(self, number: int) -> None:
        """Restart, as after `torch.manual_seed(number)`."""

    def draw(self, name: str, shape: Shape, *, is_double: bool) -> Array:
        """Draw numbers of `torch.rand` or `torch.randn`."""


@dataclass
class Tensors:
    """Tensors of numbers that the text makes, and the types that it names.

    Attributes:
        values: The numbers of the variables that the text defines.
        types: The type of each of them.
        default: The type that `set_default_dtype` names.
        casts: The types that the function names.
        said: The types that the statement names, in order, each with the word that names it.
    """

    values: dict[str, Array] = field(default_factory=dict)
    types: dict[str, TypeName] = field(default_factory=dict)
    default: TypeName = ""
    casts: set[TypeName] = field(default_factory=set)
    said: list[tuple[TypeName, str]] = field(default_factory=list)


@dataclass
class Draws:
    """Random numbers of a text, drawn in the order of its statements.

    Attributes:
        make_generator: Makes a generator; None refuses draws.
        generator: The generator, from the first draw on.
        seed: The seed of the next draw; None where it continues the sequence.
        count: The number of draws so far.
    """

    make_generator: Callable[[], Generator] | None
    generator: Generator | None = None
    seed: int | None = None
    count: int = 0


@dataclass
class Passes:
    """Backward passes of a text.

    Attributes:
        noted: The passes, in order.
        requires: The variables that require a gradient.
        zeroed: The variables whose `.grad` was set to zero since the last pass.
        frees_graph: Whether one is followed by another and is not asked to keep its graph.
    """

    noted: list[SnippetPass] = field(default_factory=list)
    requires: dict[str, None] = field(default_factory=dict)
    zeroed: dict[str, None] = field(default_factory=dict)
    frees_graph: bool = False


LineRule = Callable[["TextState", Context, Any], None]
"""Rule of a kind of statement."""


@dataclass
class TextState:
    """Statements of a text so far.

    Attributes:
        is_torch: Whether tensors of numbers are variables, and passes are read.
        is_session: Whether the text was typed at a prompt.
        rules: The rule of each kind of statement.
        draws: Its random numbers.
        imported: The whole name of each name that an import gave.
        changed: The names that are assigned more than once, which stand for no variable.
        tensors: Its tensors.
        passes: Its backward passes.
        foreign: The libraries that are not read.
        running: The positions of the functions that are being lowered.
        statements: The ranges of the statements of the text that have a value, with their values.
        output: The value of the last statement that has one.
        defined: The function that was defined last.
    """

    is_torch: bool
    is_session: bool
    rules: Mapping[type[nodes.LineNode], LineRule]
    draws: Draws
    imported: dict[str, str]
    changed: frozenset[str] = frozenset()
    tensors: Tensors = field(default_factory=Tensors)
    passes: Passes = field(default_factory=Passes)
    foreign: set[str] = field(default_factory=set)
    running: list[int] = field(default_factory=list)
    statements: list[tuple[Span, Atom]] = field(default_factory=list)
    output: Operand | None = None
    defined: Callee | None = None


def lower_line(text: TextState, context: Context, line: nodes.LineNode) -> None:
    """Lower a statement of the text, or of a function of it, by the rule of its node."""
    text.rules[type(line)](text, context, line)


def unread(context: Context, value: Unread, span: Span) -> Operand:
    """Make a value that nothing is computed from."""
    return context.findings.placeholder(value, "unread"), span

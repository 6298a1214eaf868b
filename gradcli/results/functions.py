"""What the list of functions answers: entries, pages, and both in the order asked for."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from gradcli.results.answers import VJP, Gradient, Jacobian


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function.

    Attributes:
        name: As a keyword.
        is_constant: Whether it takes a constant, such as a dimension; the others take expressions.
        is_required: Whether it has no default.
        default: What stands for it where it is left out.
    """

    name: str
    is_constant: bool
    is_required: bool
    default: int | float | bool | str | tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionEntry:
    """A function of the language, as the list of functions has it.

    Attributes:
        name: The name in the language.
        group: What people look for it under.
        usage: The call with its defaults, `var(x, dim=None, correction=1, keepdim=False)`.
        parameters: In torch's order.
        aliases: Other names that are called in the same way.
        spellings: Other ways to write it: operators, methods, names of modules.
        doc: What it computes, in one line.
        domain: Where the value is real, as a condition on the parameters; empty for everywhere.
        kinks: Expressions of the parameters that vanish where the derivative jumps.
        is_step: Whether the value jumps there too.
        caveat: What to know beyond that.
    """

    name: str
    group: str
    usage: str
    parameters: tuple[Parameter, ...]
    aliases: tuple[str, ...]
    spellings: tuple[str, ...]
    doc: str
    domain: str = ""
    kinks: tuple[str, ...] = ()
    is_step: bool = False
    caveat: str = ""


@dataclass(frozen=True, slots=True)
class Meaning:
    """The definition of a function in the language itself.

    Attributes:
        case: The constant argument that it is for, `reduction='mean'`; empty where there is one definition.
        text: The definition.
        short: The same for people: without the arguments that it hands on as they are, or by its difference.
    """

    case: str
    text: str
    short: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionPage:
    """All that there is to say of one function.

    Attributes:
        entry: Its row of the list.
        meanings: Its definition, case by case; none for a primitive.
        meaning_note: What to know of the definitions, or in their place.
        inner_kinks: Expressions that vanish where an operation of the definition has a kink or jumps.
        derivative: Expression, formulas and reasons, as `Function.jacobian` has them.
        derivative_note: What to know of the formulas.
        example_command: What to type for the example.
        example: What it answers.
    """

    entry: FunctionEntry
    meanings: tuple[Meaning, ...]
    meaning_note: str
    inner_kinks: tuple[str, ...]
    derivative: Jacobian
    derivative_note: str
    example_command: str
    example: VJP | Gradient


@dataclass(frozen=True, slots=True)
class Listing:
    """Rows of the list of functions.

    Attributes:
        entries: In the order of the groups.
        word: What was searched for; empty for the whole list.
        is_brief: Whether to show only the names of each group.
    """

    entries: tuple[FunctionEntry, ...]
    word: str = ""
    is_brief: bool = False

    @property
    def groups(self) -> list[tuple[str, list[str]]]:
        """The names of the functions, group by group."""
        grouped = groupby(self.entries, key=lambda entry: entry.group)
        return [(group, [entry.name for entry in rows]) for group, rows in grouped]


@dataclass(frozen=True, slots=True)
class Functions:
    """What the command `functions` answers: pages and lists, in the order asked for."""

    parts: tuple[FunctionPage | Listing, ...]
    warnings: tuple[str, ...] = ()

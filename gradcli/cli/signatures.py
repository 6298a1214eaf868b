"""The options of a command, read from the signature of its function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

from typer.models import OptionInfo

from gradcli.cli.options import Fact, OptionKind
from gradcli.cli.typer_internals import NumberOrWord, TyperChoice
from gradcli.parts.command import Command
from gradcli.registry import all_commands

F = TypeVar("F", bound=Callable[..., Any])

KINDS_BY_VARIABLE = frozenset(
    {
        OptionKind.INPUTS,
        OptionKind.VALUES,
        OptionKind.DIRECTIONS,
        OptionKind.TEXTS,
        OptionKind.SHAPES,
        OptionKind.RANGES,
    }
)
"""Kinds of options with one value for each variable."""

_KINDS: Mapping[object, OptionKind] = {
    bool: OptionKind.SWITCH,
    int: OptionKind.WHOLE,
    float: OptionKind.NUMBER,
}
"""Kinds of options by the type of their values."""


def shares(*groups: Callable[..., object]) -> Callable[[F], F]:
    """Give a command the options of other functions, after its own: their signatures are joined.

    >>> from gradcli.cli.options import At, check_options, remark_options
    >>> @shares(remark_options, check_options)
    ... def sketch(at: At = None) -> None: ...
    >>> list(inspect.signature(sketch).parameters)
    ['at', 'quiet', 'pager', 'budget', 'check', 'strict', 'require_all', 'exit_zero']
    """

    def join(function: F) -> F:
        functions: tuple[Callable[..., object], ...] = (function, *groups)
        parameters = [one for each in functions for one in inspect.signature(each).parameters.values()]
        function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return function

    return join


@dataclass(frozen=True)
class Option:
    """An option of a command.

    Attributes:
        name: The keyword argument in Python.
        parameter: The parameter of the function that Typer reads.
        kind: The kind of its value.
        info: What Typer knows of it; None for an option that the shell lacks.
        choices: The words that it takes.
        is_repeated: Whether the shell takes it more than once.
        is_presentation: Whether it is about the shell's presentation of the answer, and not part of the question.
        is_setting: Whether the file of settings may set it.
        own_variable: The variable of the environment of a setting that is no option.
        more_help: Returns the end of its help, which names what parts add.
    """

    name: str
    parameter: inspect.Parameter
    kind: OptionKind
    info: OptionInfo | None
    choices: tuple[str, ...]
    is_repeated: bool
    is_presentation: bool
    is_setting: bool
    own_variable: str = ""
    more_help: Callable[[], str] | None = None

    @cached_property
    def flags(self) -> tuple[str, ...]:
        """Its names in the shell, without those that take a switch back."""
        if self.info is None:
            return ()
        declared = (self.info.default, *(self.info.param_decls or ()))  # Typer has the first name as the default
        return tuple(str(name).partition("/")[0] for name in declared)

    @cached_property
    def flag(self) -> str:
        """Its first name in the shell."""
        return self.flags[0] if self.flags else ""

    @property
    def key(self) -> str:
        """Its name in a request, and in the file of settings."""
        return self.flag.removeprefix("--").removeprefix("no-").replace("-", "_") or self.name

    @property
    def default(self) -> Any:
        """Its default in Python; a switch whose name in the shell turns it off is on."""
        return self.flag.startswith("--no-") if self.kind is OptionKind.SWITCH else self.parameter.default

    @property
    def help(self) -> str:
        """Text of the option in `--help`."""
        written = (self.info and self.info.help) or ""
        return written + self.more_help() if self.more_help else written

    @property
    def variable(self) -> str:
        """The variable of the environment with its default."""
        return self.own_variable or str((self.info and self.info.envvar) or "")

    @property
    def metavar(self) -> str:
        """The placeholder of its value in the help."""
        return (self.info and self.info.metavar) or ""

    @property
    def bounds(self) -> tuple[int, int]:
        """The bounds of a whole number."""
        own = self.info and self.info.click_type
        if isinstance(own, NumberOrWord):
            return int(own.min or 0), int(own.max or 0)
        return int((self.info and self.info.min) or 0), int((self.info and self.info.max) or 0)

    @property
    def words(self) -> tuple[str, ...]:
        """Words allowed in place of a whole number."""
        own = self.info and self.info.click_type
        return own.words if isinstance(own, NumberOrWord) else ()


def _read(parameter: inspect.Parameter) -> Option | None:
    """Read an option from a parameter; None for an argument, which has no flag."""
    if get_origin(parameter.annotation) is not Annotated:
        return None
    annotation, *facts = get_args(parameter.annotation)
    info = next((one for one in facts if isinstance(one, OptionInfo)), None)
    fact = next((one for one in facts if isinstance(one, Fact)), None)
    if info is None and fact is None:
        return None
    fact = fact or Fact()
    types = [one for one in get_args(annotation) if one is not type(None)] if get_args(annotation) else [annotation]
    is_literal = get_origin(annotation) is Literal or get_origin(types[0]) is Literal
    own = info and info.click_type
    choices: tuple[str, ...] = ()
    if isinstance(own, TyperChoice):
        choices = tuple(map(str, own.choices))
    elif is_literal:
        choices = get_args(annotation if get_origin(annotation) is Literal else types[0])
    kind = fact.kind or (OptionKind.CHOICE if choices else _KINDS.get(types[0], OptionKind.WORD))
    is_repeated = get_origin(types[0]) is list
    return Option(
        parameter.name,
        parameter,
        kind,
        info,
        choices,
        is_repeated,
        fact.is_presentation,
        fact.is_setting,
        fact.variable,
        fact.more_help,
    )


def option_of(name: str, annotation: object) -> Option:
    """Return the option of an annotation that is in no signature."""
    found = _read(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=False))
    if found is None:
        raise TypeError(f"{name} is no option")
    return found


@lru_cache(maxsize=64)
def all_options(command: Command) -> tuple[Option, ...]:
    """Return the options of a command, also those that the shell lacks."""
    parameters = inspect.signature(command.loaded()).parameters.values()
    return tuple(option for option in map(_read, parameters) if option)


def shell_options(command: Command) -> tuple[Option, ...]:
    """Return the options that a command has in the shell.

    >>> [option.flags for option in shell_options(all_commands()["map"])][1:4]
    [('--points',), ('--points-format',), ('--columns',)]
    """
    return tuple(option for option in all_options(command) if option.info)


def request_options(command: str) -> Mapping[str, Option]:
    """Return the options that a request for a command may have, by their keys.

    >>> list(request_options("hessian"))
    ['at', 'shape', 'sparse', 'pattern', 'wrt', 'dtype', 'device', 'check']
    """
    options = all_options(all_commands()[command])
    return {option.key: option for option in options if not option.is_presentation}


def every_option() -> Iterator[tuple[Command, Option]]:
    """Yield the options of all commands, with their commands."""
    return ((command, option) for command in all_commands().values() for option in all_options(command))


def shell_signature(function: Callable[..., object], *, is_request: bool = False) -> inspect.Signature:
    """Return the signature that Typer reads: without the options that the shell lacks.

    Args:
        function: The function of a command.
        is_request: Whether it is for a request, which has no variables of the environment and takes no switch back.
    """
    found: list[inspect.Parameter] = []
    for parameter in inspect.signature(function).parameters.values():
        option = _read(parameter)
        if option is not None and option.info is None:
            continue
        if option is not None and is_request:
            found.append(parameter.replace(annotation=_without_defaults(parameter.annotation, option)))
        else:
            found.append(parameter)
    return inspect.Signature(found)


def _without_defaults(annotation: object, option: Option) -> object:
    """Return the annotation of an option without its variable of the environment and its opposite."""
    info = copy(option.info)
    if info is None:
        return annotation
    info.envvar = None
    info.default, *others = option.flags
    info.param_decls = tuple(others)
    type_, *_ = get_args(annotation)
    return Annotated[type_, info]

"""The registry of commands and formats: those of the core in tuples, and those that parts offer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, TypeVar

from gradcli.errors import UsageError
from gradcli.option_words import option
from gradcli.parts import all_parts
from gradcli.parts.command import Command
from gradcli.parts.renderer import Renderer

_Value = TypeVar("_Value")

SECTIONS = ("Differentiate", "Look closer", "Write", "Many at once", "About gradcli")
"""Sections of `gradcli --help`, in their order."""


def _question(name: str, section: str, **facts: Any) -> Command:
    """Make a command of the core that is a question on a function, in a module of its name."""
    method = f"gradcli.questions.commands.{name}:{name}"
    return Command(name, section, f"gradcli.cli.question_commands:{name}", method, **facts)


_MATRIX: Mapping[str, object] = {"answer": "gradcli.cli.commands:answer_as_drawing"}


CORE = (
    _question("vjp", "Differentiate"),
    _question("jacobian", "Differentiate", **_MATRIX),
    _question("grad", "Differentiate"),
    _question("jvp", "Differentiate"),
    _question("hessian", "Differentiate", **_MATRIX),
    _question("hvp", "Differentiate"),
    _question("eval", "Look closer"),
    Command(
        "derivative", "", "gradcli.cli.question_commands:derivative", answer="gradcli.cli.commands:answer_derivative"
    ),
    Command(
        "functions",
        "About gradcli",
        "gradcli.cli.info_commands:functions",
        lacks=("csv", "tsv", "npy", "npz"),
    ),
    Command("guide", "About gradcli", "gradcli.cli.guide_command:guide"),
    Command("config", "About gradcli", "gradcli.cli.info_commands:config"),
)
"""Commands of the core."""

_LAST = Command("completion", "About gradcli", "gradcli.cli.info_commands:completion")
"""The command that comes last in the help: it is needed once, when a shell is set up."""

DERIVATIVES = ("vjp", "jacobian", "grad", "jvp", "hessian", "hvp")
"""Commands whose answer, where there is no point, is a formula."""


@lru_cache(maxsize=1)
def all_commands() -> dict[str, Command]:
    """Return all commands by their names, section by section: those of the core, then those of parts."""
    found = [*CORE, *(part.command(name) for part in all_parts() for name in part.COMMANDS), _LAST]
    found.sort(key=_place_in_help)
    return _first_of_each((command.name, command) for command in found)


def _first_of_each(named: Iterable[tuple[str, _Value]]) -> dict[str, _Value]:
    """Map names to the first value of each: parts of other packages come last, and replace nothing of another part."""
    found: dict[str, _Value] = {}
    for name, value in named:
        found.setdefault(name, value)
    return found


def _place_in_help(command: Command) -> int:
    """Return the number of the section that lists a command; one of another package may name a section of its own."""
    return SECTIONS.index(command.section) if command.section in SECTIONS else len(SECTIONS)


def further_methods() -> dict[str, str]:
    """Return the methods that parts add to `Function` besides those of commands, each as `module:function`."""
    return _first_of_each(pair for part in all_parts() for pair in part.methods().items())


@lru_cache(maxsize=1)
def questions() -> tuple[str, ...]:
    """Name the commands that answer a question on a function; a request may have only these."""
    return tuple(name for name, command in all_commands().items() if command.method)


@lru_cache(maxsize=1)
def functions_of_parts() -> dict[str, str]:
    """Return the functions that parts add to the package, each as `module:function`."""
    return _first_of_each(pair for part in all_parts() for pair in part.functions().items())


@lru_cache(maxsize=1)
def package_functions() -> tuple[str, ...]:
    """Name the functions of the package: the commands that are methods, in the order of the help, and those of parts.

    >>> package_functions()[:3]
    ('vjp', 'jacobian', 'grad')
    """
    methods = [name for name in all_commands() if name in questions() or name in further_methods()]
    return tuple(dict.fromkeys((*methods, *functions_of_parts())))


@lru_cache(maxsize=64)
def lacks(command: str) -> tuple[str, ...]:
    """Return the formats, and files of arrays, that the answer of a command cannot be written in."""
    found = all_commands().get(command)
    return found.lacks if found else ()


def require_format(command: str, form: str) -> None:
    """Refuse a format that the answer of a command cannot be written in.

    Raises:
        UsageError: The answer is no table of numbers, and the format holds nothing else.
    """
    if form in lacks(command):
        raise UsageError(
            f"the answer of {command} is no table of numbers", hint=f"take {option('json')}, or -o FILE.json"
        )


# -- formats

_RENDER = "gradcli.report.render"

CORE_RENDERERS = (
    Renderer("table", f"{_RENDER}.table:pieces", (".txt",), has_drawings=True),
    Renderer("full", f"{_RENDER}.table:pieces"),
    Renderer("json", f"{_RENDER}.json:pieces", (".json", ".jsonl")),
    Renderer("jsonl", f"{_RENDER}.json:pieces"),
    Renderer("csv", f"{_RENDER}.csv:pieces", (".csv",)),
    Renderer("tsv", f"{_RENDER}.csv:pieces", (".tsv",)),
    Renderer("plain", f"{_RENDER}.plain:pieces"),
    Renderer("npy", f"{_RENDER}.array_files:npy", (".npy",), is_format=False),
    Renderer("npz", f"{_RENDER}.array_files:npz", (".npz",), is_format=False),
)
"""Formats of the core, and the kinds of files that it writes."""


@lru_cache(maxsize=1)
def all_renderers() -> tuple[Renderer, ...]:
    """Return all ways to write answers: those of the core, then those of parts."""
    return (*CORE_RENDERERS, *(one for part in all_parts() for one in part.renderers()))


@lru_cache(maxsize=1)
def formats() -> tuple[str, ...]:
    """Name the formats, as `--format` and `f"{answer:markdown}"` do.

    >>> formats()[:7]
    ('table', 'full', 'json', 'jsonl', 'csv', 'tsv', 'plain')
    """
    return tuple(dict.fromkeys(one.form for one in all_renderers() if one.is_format and not one.answers))


def formats_of_parts() -> tuple[Renderer, ...]:
    """Return the formats that parts add."""
    return tuple(one for one in all_renderers() if one not in CORE_RENDERERS and one.is_format and not one.answers)


def has_drawings(form: str) -> bool:
    """Tell whether a format writes the drawings of a document."""
    found = renderer(form)
    return found is not None and found.has_drawings


def suffixes() -> dict[str, str]:
    """Return the formats, and the other kinds of files, by the suffixes of files."""
    return _first_of_each((suffix, one.form) for one in all_renderers() for suffix in one.suffixes)


def suffixes_of(command: str) -> tuple[str, ...]:
    """Return the suffixes of the files that the answer of a command can be written to."""
    written = [one for one in all_renderers() if not one.commands or command in one.commands]
    return tuple(dict.fromkeys(name for one in written if one.form not in lacks(command) for name in one.suffixes))


def asked_by_file(command: str, kind: str) -> str:
    """Return the option, by its keyword, that a kind of file asks for of a command; "" for none."""
    return next((one.asks for one in all_renderers() if one.form == kind and command in one.commands), "")


@lru_cache(maxsize=64)
def renderer(form: str, kind: type | None = None) -> Renderer | None:
    """Return what writes answers of a class; None where nothing does.

    Args:
        form: A format, or another kind of file.
        kind: The class; None for what writes any.
    """
    named = [one for one in all_renderers() if one.form == form]
    own = (one for base in (kind.__mro__ if kind else ()) for one in named if base.__name__ in one.answers)
    return next(own, None) or next((one for one in named if not one.answers), None)


@lru_cache(maxsize=1)
def composers() -> dict[str, str]:
    """Return the functions of parts that compose the document of an answer, `module:function`, by its class."""
    return _first_of_each(pair for part in all_parts() for pair in part.composers().items())


def pictures(command: str) -> tuple[str, ...]:
    """Return the kinds of files of pictures that a command draws."""
    return tuple(one.form for one in all_renderers() if one.is_picture and command in one.commands)


def files_of_commands() -> dict[tuple[str, ...], tuple[str, ...]]:
    """Map suffixes of files, of each kind the first one, to the commands that alone write such files."""
    written: dict[tuple[str, ...], tuple[str, ...]] = {}
    for one in all_renderers():
        if one.commands:
            written[one.commands] = tuple(dict.fromkeys((*written.get(one.commands, ()), one.suffixes[0])))
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for commands, suffixes_written in written.items():
        found[suffixes_written] = (*found.get(suffixes_written, ()), *commands)
    return found


def commands_with_pictures(kind: str) -> str:
    """List the commands that draw a kind of file, as errors do."""
    drawn = (one for one in all_renderers() if one.is_picture and one.form == kind)
    return ", ".join(dict.fromkeys(name for one in drawn for name in one.commands))

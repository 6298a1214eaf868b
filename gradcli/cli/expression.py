"""Tell apart the words of a command line: options, which may stand anywhere, and arguments.

Click takes `-x**2` for an option.  In a command whose one argument is an expression, every word that begins with a
single minus and is not an option is an expression, while a word with two (`--jsn`) stays a mistyped option with its
suggestion.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any

from typer.core import TyperCommand, TyperGroup

from gradcli import trial
from gradcli.cli.default_command import DERIVATIVE, expanded, other_names
from gradcli.cli.output import is_typed
from gradcli.cli.signatures import every_option
from gradcli.cli.suggestions.higher_derivatives import require_low_order
from gradcli.cli.suggestions.questions_in_words import require_none
from gradcli.cli.typer_internals import click
from gradcli.errors import UsageError
from gradcli.parts.command import Command
from gradcli.registry import SECTIONS, all_commands, questions, suffixes

GONE: Mapping[str, str] = {
    "points_of": "gradcli map takes a function of one point to a table of them: gradcli map EXPR --points FILE",
    "show": "gradcli explain has all adjoints; gradcli graph --show NAMES keeps those of the values that are named",
    "workers": "one process uses all cores; dask worker --nworkers 4 starts others for --scheduler ADDRESS",
}
"""Hints for options that were removed."""


class GroupedCommands(TyperGroup):
    """The application, whose commands are built when they are asked for.

    Its help lists the commands first, a section for each group, and then the options.
    """

    def __init__(self, build: Callable[[Command], TyperCommand], **facts: Any) -> None:
        super().__init__(commands=dict.fromkeys(all_commands(), TyperCommand(None)), **facts)
        self._build = build

    def get_command(self, ctx: click.Context, cmd_name: str) -> TyperCommand | None:
        """Build a command; None if there is none of this name."""
        found = all_commands().get(cmd_name)
        return self._build(found) if found else None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, and the options after them."""
        self.format_commands(ctx, formatter)
        TyperCommand.format_options(self, ctx, formatter)  # type: ignore[arg-type]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each group; names are padded, so that the columns of all sections are in line."""
        listed = [command for command in all_commands().values() if command.section]
        width = max(len(command.name) for command in listed)
        limit = formatter.width - width - 4  # two spaces before a name, two after it
        for section in dict.fromkeys((*SECTIONS, *(command.section for command in listed))):
            own = [command for command in listed if command.section == section]
            if own:
                with formatter.section(section):
                    formatter.write_dl([(one.name.ljust(width), _in_a_line(one, limit)) for one in own])


def _in_a_line(command: Command, limit: int) -> str:
    """Return what a list says of a command, in so many characters."""
    return TyperCommand(command.name, help=inspect.getdoc(command.loaded())).get_short_help_str(limit)


EXIT_CODES = (
    "Exit codes: 0 answered, 1 the check did not pass, 2 wrong input, 70 a bug of gradcli, 74 the output could not be "
    "written, 130 interrupted, 141 broken pipe."
)
"""Last paragraph of the help of every command."""

_FILE = "-o"
_ONCE = {"--points": "a folder, or a pattern in quotes, 'data/*.csv', is several files"}
_COUNTED = "--check-rows"
"""Option that takes the number after `--check`."""

_EXTRA = "unexpected extra argument"

_PLAIN = (
    (re.compile(rf"^Got {_EXTRA}(?:\(s\)|s)? \((.*)\)$"), r"unexpected words beside the argument: \1"),
    (re.compile(r"is not a valid int(eger)?( range)?$"), "is not a whole number"),
    (re.compile(r"is not a valid float( range)?$"), "is not a number"),
    (re.compile(r"is not in the range (\S+)<=x<=(\S+)$"), r"is not between \1 and \2"),
)
"""Messages of click, with plainer words for them."""

_SUGGESTED = re.compile(r"[.,]? *(?:Did you mean .*\?|\(Possible options: .*\))")
"""Words that click finds by their letters, whatever they mean."""

_MOST_WORDS = 8
"""Most words of a command line that a message repeats."""


def parted(word: str, known: Container[str]) -> tuple[str, str | None]:
    """Split an option from the value attached to it, as in `--at=1`, `-o=FILE` and `-oFILE`; None without a value.

    >>> parted("-oy.csv", ["-o"]), parted("-o=y.csv", ["-o"]), parted("-omega*t", ["-o"]), parted("--at=x=1", ["--at"])
    (('-o', 'y.csv'), ('-o', 'y.csv'), ('-omega*t', None), ('--at', 'x=1'))
    """
    name, equals, value = word.partition("=")
    if name in known or name.startswith("--"):
        return name, value if equals else None
    is_file = word.startswith(_FILE) and os.path.splitext(word)[1].lower() in suffixes()
    return (_FILE, word.removeprefix(_FILE)) if is_file and _FILE in known else (name, None)


def _counted(words: Sequence[str]) -> Iterator[str]:
    """Write `--check N` as two options, `--check` and `--check-rows N`."""
    for n, word in enumerate(words):
        after = words[n + 1] if n + 1 < len(words) else ""
        name, equals, count = word.partition("=")
        is_counted = name == "--check" and (count if equals else after).isdecimal()
        yield from ("--check", _COUNTED, *([count] if equals else [])) if is_counted else [word]


class OnceCommand(TyperCommand):
    """Command that takes options anywhere, and refuses one given twice, where click would forget the first value."""

    def is_argument(self, word: str) -> bool:
        """Tell whether a word that is no option of this command is an argument, and no mistyped option."""
        return not word.startswith("-") or word == "-"

    def look_at(self, arguments: Sequence[str], known: Mapping[str, click.Parameter], typed: Sequence[str]) -> None:
        """Refuse arguments that are known to be wrong.

        Args:
            arguments: The words that are neither options nor values of options.
            known: The options by their names.
            typed: All words.

        Raises:
            UsageError: The arguments are wrong.
        """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Separate options from arguments, and put the arguments after `--`."""
        known = {name: one for one in self.get_params(ctx) for name in (*one.opts, *one.secondary_opts)}
        if _COUNTED in known:
            args = list(_counted(args))
        options: list[str] = []
        arguments: list[str] = []
        given: set[str | None] = set()
        has_unknown, is_completing = False, ctx.resilient_parsing
        words = iter(args)
        for word in words:
            name, value = parted(word, known)
            option = known.get(name)
            if word == "--":
                arguments += words
            elif option is None and self.is_argument(word):
                arguments.append(word)
            else:
                if option is None and not is_completing:
                    self._require_known(name, set(known), ctx, args)
                    has_unknown = True
                options += [word] if value is None or name != _FILE else [name, value]
                if option is not None and not getattr(option, "is_flag", False):
                    if option.name in given and not (is_completing or getattr(option, "multiple", False)):
                        raise UsageError(f"{name} is given twice", hint=_ONCE.get(name, "give it once"))
                    given.add(option.name)
                    if value is None:
                        value = next(words, None)
                        if value is None and not is_completing:
                            raise UsageError(f"{name} needs a value", hint=f"write {name} VALUE")
                        options.append(value or "")
        if not is_completing and not has_unknown:  # else words next to it may be the value of that option
            self.look_at(arguments, known, args)
        has_settings = callable(ctx.find_root().obj)  # a command line of the shell, and no request
        if has_settings and not is_completing and not set(args) & set(ctx.help_option_names):
            ctx.default_map = ctx.find_root().obj(self.name)
        return super().parse_args(ctx, [*options, "--", *arguments])

    def _require_known(self, name: str, known: set[str], ctx: click.Context, typed: Sequence[str]) -> None:
        """Refuse an option of other commands, or one that was removed, in better words than those for a typo."""
        if name == "--order":
            require_low_order(typed)
        own, difference = _TWINS.get(name, ("", ""))
        instead = GONE.get(name[2:].replace("-", "_"))
        if own in known:
            raise UsageError(f"{self.name} {difference}")
        if owners := [command.name for command, option in every_option() if command.section and name in option.flags]:
            listed = " and ".join(filter(None, (", ".join(owners[:-1]), owners[-1])))
            raise UsageError(
                f"{self.name} has no {name}, which is an option of {listed}", hint=instead or _help_of(ctx)
            )
        if instead:
            raise UsageError(f"no such option: {name}", hint=instead)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; in a trial only if it is a question, or writes a page."""
        if not (isinstance(self, ExpressionCommand) or self.name in PAGES):
            trial.end()
        return super().invoke(ctx)


_TWINS = {
    "--v": ("--u", "takes --u, a direction in x, and no --v, which weights the elements of y"),
    "--u": ("--v", "takes --v, which weights the elements of y, and no --u, a direction in x"),
}
"""For an option that is confused with another: the other option, and the difference."""

PAGES = ("functions", "guide")
"""Commands that read their words and write a page."""


_TWO_WORDS = re.compile(r"[^\W\d_]{2} +[\w(\[|√]|[\w)\]|] +[^\W\d_]{2}")
"""Two words, or a word and an operand, with no operator between them."""


def _require_mathematics(text: str, command: str, typed: Sequence[str]) -> None:
    """Refuse plain words in the place of an expression, unless they are names that are given values."""
    from gradcli.cli.suggestions.plain_words import require_mathematics

    given = [found[1] for one in typed if (found := re.match(r"(?:--\w+=)?(\w+)\s*=(?!=)", one)) is not None]
    require_mathematics(text, command, given)


class ExpressionCommand(OnceCommand):
    """Command that takes a word with one minus in front for an expression, if it is no option."""

    def is_argument(self, word: str) -> bool:
        """Tell whether a word is an argument; with two minus signs in front, it is a mistyped option."""
        return not word.startswith("--")

    def look_at(self, arguments: Sequence[str], known: Mapping[str, click.Parameter], typed: Sequence[str]) -> None:
        """Refuse a question in words, the name of a command as expression, and words next to the one expression."""
        if _TWO_WORDS.search(" ".join(arguments)) is not None:
            _require_mathematics(" ".join(arguments), self.name or "", typed)
        require_none(" ".join(arguments), self.name or "", typed)
        word, is_valued = " ".join(arguments), any(one.startswith(("--at", "--shape", "--in", "--po")) for one in typed)
        if len(word) > 1 and word in (*other_names(), *questions()) and not is_valued:
            raise UsageError(
                f"{word} is a command, and no expression", hint=f'an expression follows: gradcli {self.name} "x**2"'
            )
        if len(arguments) > 1:
            raise extra_words_error(arguments[0], arguments[1:])


# -- mistakes in a command line, and what may have been meant


def message(error: click.exceptions.UsageError) -> str:
    """Put an error of click into plain words; a wrong value of the environment is named by its variable."""
    said = _SUGGESTED.sub("", " ".join(error.format_message().split())).rstrip(".")
    parameter = getattr(error, "param", None)
    variable = getattr(parameter, "envvar", None)
    if error.ctx is not None and parameter is not None and variable:
        option, both = f"'{parameter.opts[0]}'", f"'{parameter.opts[0]}' (env var: '{variable}')"
        said = said.replace(both, option if is_typed(error.ctx, parameter.name) else f"the environment's {variable}")
    for words, plain in _PLAIN:
        said = words.sub(plain, said)
    if error.ctx is not None and not any(one.param_type_name == "argument" for one in error.ctx.command.params):
        said = said.replace(" beside the argument", "")
    return said[:1].lower() + said[1:]


def _help_of(ctx: click.Context | None) -> str:
    """Hint at the help of a command; for an expression without a command, at the help of grad."""
    path = ctx.command_path if ctx is not None else "gradcli"
    return f"{path.removesuffix(DERIVATIVE)}{'grad' * path.endswith(f' {DERIVATIVE}')} --help shows the options"


def where_help_is(error: click.exceptions.UsageError) -> str:
    """Hint at a help, for a mistake that has no hint of its own, or at what is missing or misplaced."""
    ctx = error.ctx
    if ctx is not None and ctx.parent is None:
        return "gradcli --help lists the commands, one of which comes first"
    if ctx is None:
        return _help_of(ctx)
    if isinstance(error, click.exceptions.MissingParameter) and error.param and error.param.param_type_name == "option":
        piped = f", or {error.param.opts[0]} - for what is piped" * (error.param.name == "points")
        return f"add {error.param.opts[0]} {error.param.make_metavar(ctx)}{piped}; {_help_of(ctx)}"
    if isinstance(error, click.exceptions.MissingParameter) and error.param and error.param.name == "expression":
        return f"@- reads it from a pipe, and @FILE from a file; {_help_of(ctx)}"
    if isinstance(error, click.exceptions.NoSuchOption) and ctx.command.name == "run":
        return f"the arguments of a script stand behind --, as in gradcli run FILE.py -- {error.option_name}"
    if _EXTRA in error.format_message() and ctx.command.name == "config":
        return 'a setting is a line of the file that gradcli config names, such as format = "plain"'
    return _help_of(ctx)


def extra_words_error(first: str, others: Sequence[str]) -> UsageError:
    """Make the error for words next to the one expression.

    Args:
        first: The expression.
        others: The words.
    """
    if first == "-v":
        return UsageError("there is no -v: --full shows all, and -V is the version")
    words = f"word{'s' * (len(others) > 1)} after the expression {first}"
    shown = " ".join(word or "''" for word in others[:_MOST_WORDS]) + " ..." * (len(others) > _MOST_WORDS)
    hint = expanded([first, *others])
    if all(map(os.path.isfile, others)):
        hint = hint or "put a pattern of files in quotes, such as --points 'data/*.csv'"
    hint = hint or "one expression stands in one pair of quotes, and each option has one value, such as --at x=1,2"
    return UsageError(f"unexpected {words}: {shown}", hint=hint)

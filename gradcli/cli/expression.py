"""How the words of a command line are told apart: options, which may stand anywhere, and arguments.

Click takes `-x**2` for an option.  In a command whose one argument is an expression, every word that begins with a
single minus and is not an option is an expression, while a word with two (`--jsn`) stays a mistyped option with its
suggestion.
"""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterator, Mapping, Sequence

import typer
from typer import _click as click
from typer._click.shell_completion import CompletionItem
from typer.core import TyperCommand

from gradcli.cli import usage_errors
from gradcli.cli.completion import suggestions
from gradcli.cli.destination import OTHER, TEXT
from gradcli.errors import UsageError

_TWINS = {
    "--v": ("--u", "takes --u, a direction in x, and no --v, which weights the elements of y", "vjp"),
    "--format": ("--output-format", "takes --output-format, that of its rows, and no --format", "vjp"),
    "--u": ("--v", "takes --v, which weights the elements of y, and no --u, a direction in x", "jvp"),
}
"""What is taken for what: the option that the command has instead, how they differ, and the command that has this."""


_SUFFIXES = frozenset([*TEXT, *OTHER, ".tsv"])
_FILE = "-o"
_VARIABLE = re.compile(r"--[A-Za-z]\d?")


def parted(word: str, known: Container[str]) -> tuple[str, str | None]:
    """An option and the value that is attached to it, as in `--at=1`, `-o=FILE` and `-oFILE`; None where none is.

    >>> parted("-oy.csv", ["-o"]), parted("-o=y.csv", ["-o"]), parted("-omega*t", ["-o"]), parted("--at=x=1", ["--at"])
    (('-o', 'y.csv'), ('-o', 'y.csv'), ('-omega*t', None), ('--at', 'x=1'))
    """
    name, equals, value = word.partition("=")
    if name in known or name.startswith("--"):
        return name, value if equals else None
    is_file = word.startswith(_FILE) and os.path.splitext(word)[1].lower() in _SUFFIXES
    return (_FILE, word.removeprefix(_FILE)) if is_file and _FILE in known else (name, None)


def require_once(word: str, option: click.Parameter, given: set[str]) -> None:
    """Remember that an option with a value was given, by any of its names.

    Raises:
        UsageError: It was given before, and takes one value.
    """
    name = option.name or word
    if name in given and not getattr(option, "multiple", False):
        raise UsageError(f"{word} is given twice", hint="give it once")
    given.add(name)


class OnceCommand(TyperCommand):
    """Takes options anywhere, and refuses one that is given twice, of which click would forget the first."""

    def is_argument(self, word: str) -> bool:
        """Whether a word that is no option of this command is an argument, and no mistyped option."""
        return not word.startswith("-") or word == "-"

    def look_at(self, arguments: Sequence[str], known: Mapping[str, click.Parameter], typed: Sequence[str]) -> None:
        """Refuse arguments that are known to be wrong.

        Args:
            arguments: The words that are no options and no values of some.
            known: The options by their names.
            typed: All words.

        Raises:
            UsageError: They are.
        """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Separate options from arguments, and put these behind `--`."""
        known = {name: parameter for parameter in self.get_params(ctx) for name in parameter.opts}
        options: list[str] = []
        arguments: list[str] = []
        given: set[str] = set()
        has_unknown = False
        words = iter(args)
        for word in words:
            name, value = parted(word, known)
            option = known.get(name)
            if word == "--":
                arguments += words
            elif option is None and self.is_argument(word):
                arguments.append(word)
            else:
                if option is None and not ctx.resilient_parsing:
                    self._require_no_twin(name, set(known))
                    self._require_no_other(name, ctx)
                    has_unknown = True
                options += [word] if value is None or name != _FILE else [name, value]
                if option is not None and not getattr(option, "is_flag", False):
                    if not ctx.resilient_parsing:
                        require_once(name, option, given)
                    if value is None:
                        options.append(next(words, "") if ctx.resilient_parsing else self._value(name, words))
        if not ctx.resilient_parsing and not has_unknown:  # else words beside it may be the value of that option
            self.look_at(arguments, known, args)
        return super().parse_args(ctx, [*options, "--", *arguments])

    def _require_no_twin(self, name: str, known: set[str]) -> None:
        own, difference, other = _TWINS.get(name, ("", "", ""))
        if own in known:
            raise UsageError(f"{self.name} {difference}", hint=f"write {own}, or {other} with {name}")

    def _require_no_other(self, name: str, ctx: click.Context) -> None:
        """Say whose option it is, which a guess at a typo would hide."""
        commands = getattr(getattr(ctx.parent, "command", None), "commands", {})
        owners = [owner for owner, other in commands.items() if any(name in one.opts for one in other.params)]
        if owners:
            listed = " and ".join(filter(None, (", ".join(owners[:-1]), owners[-1])))
            hint = f"{ctx.command_path} --help shows the options"
            raise UsageError(f"{self.name} has no {name}, which is an option of {listed}", hint=hint)
        own = [name for parameter in self.get_params(ctx) for name in parameter.opts]
        if _VARIABLE.fullmatch(name) and "--at" in own:
            raise UsageError(f"no such option: {name}", hint=f"a variable has its value by --at {name[2:]}=VALUE")

    def _value(self, name: str, words: Iterator[str]) -> str:
        value = next(words, None)
        if value is None:
            raise UsageError(f"{name} needs a value", hint=f"write {name} VALUE")
        return value


class ExpressionCommand(OnceCommand):
    """Takes a word that begins with one minus for an expression, if it is no option."""

    def is_argument(self, word: str) -> bool:
        """Only a word with two is a mistyped option."""
        return not word.startswith("--")

    def look_at(self, arguments: Sequence[str], known: Mapping[str, click.Parameter], typed: Sequence[str]) -> None:
        """Say what a word with one minus should be, where there are more words than the one expression."""
        for word in arguments if len(arguments) > 1 else ():
            if f"-{word.partition('=')[0]}" in known:
                raise UsageError(f"{word} is no option", hint=f"write it with two: -{word}")
            if word.startswith(_FILE) and _FILE in known:
                raise UsageError(f"{word} is no option", hint=f"write {_FILE} and the file as two words")
        if len(arguments) > 1:
            raise usage_errors.beside(arguments[0], arguments[1:], known, typed)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Options, where one begins or nothing is left but them; else an expression that begins with a minus."""
        if incomplete.startswith("-") and not incomplete.startswith("--") and len(incomplete) > 1:
            found = suggestions.expression(typer.Context(self), incomplete)
            return [CompletionItem(text, help=said) for text, said in found]
        return super().shell_complete(ctx, incomplete or "--")

"""A command whose one argument is an expression, which may begin with a minus.

Click takes `-x**2` for an option.  Here every word that begins with a single minus and is not an option is an
expression, while a word with two (`--jsn`) stays a mistyped option with its suggestion.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Mapping

import typer
from typer import _click as click
from typer._click.shell_completion import CompletionItem
from typer.core import TyperCommand

from gradcli.cli.completion import candidates
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
    """Refuses an option that is given twice, of which click would forget the first."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Look at the options, up to `--`."""
        known = {name: parameter for parameter in self.get_params(ctx) for name in parameter.opts}
        given: set[str] = set()
        found: list[str] = []
        words = iter(args)
        for word in words:
            if word == "--":
                found += [word, *words]
                break
            name, value = parted(word, known)
            option = known.get(name) if word.startswith("-") else None
            takes_value = option is not None and not getattr(option, "is_flag", False)
            found += [name, value] if takes_value and value is not None and name == _FILE else [word]
            if option is not None and takes_value:
                require_once(name, option, given)
                if value is None:
                    found += [after for after in [next(words, None)] if after is not None]
        return super().parse_args(ctx, found)


class ExpressionCommand(TyperCommand):
    """Separates options from expressions before click parses them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the expressions behind `--`."""
        if not args:
            return super().parse_args(ctx, args)
        known = {name: parameter for parameter in self.get_params(ctx) for name in parameter.opts}
        options: list[str] = []
        expressions: list[str] = []
        given: set[str] = set()
        words = iter(args)
        for word in words:
            name, value = parted(word, known)
            option = known.get(name)
            if word == "--":
                expressions += words
            elif option is None and not word.startswith("--"):
                expressions.append(word)
            else:
                if option is None and not ctx.resilient_parsing:
                    self._require_no_twin(name, set(known))
                    self._require_no_other(name, ctx)
                options += [word] if value is None or name != _FILE else [name, value]
                if option is not None and not getattr(option, "is_flag", False):
                    if not ctx.resilient_parsing:
                        require_once(name, option, given)
                    if value is None:
                        options.append(next(words, "") if ctx.resilient_parsing else self._value(name, words))
        if len(expressions) > 1 and not ctx.resilient_parsing:
            _require_no_short(expressions, known)
        return super().parse_args(ctx, [*options, "--", *expressions])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Options, where one begins or nothing is left but them; else an expression that begins with a minus."""
        if incomplete.startswith("-") and not incomplete.startswith("--") and len(incomplete) > 1:
            found = candidates.expression(typer.Context(self), incomplete)
            return [CompletionItem(text, help=said) for text, said in found]
        return super().shell_complete(ctx, incomplete or "--")

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

    def _value(self, name: str, words: Iterator[str]) -> str:
        value = next(words, None)
        if value is None:
            raise UsageError(f"{name} needs a value", hint=f"write {name} VALUE")
        return value


def _require_no_short(expressions: list[str], known: Mapping[str, click.Parameter]) -> None:
    """Say what a word with one minus should be, where there are more words than the one expression."""
    for word in expressions:
        if f"-{word.partition('=')[0]}" in known:
            raise UsageError(f"{word} is no option", hint=f"write it with two: -{word}")
        if word.startswith(_FILE) and _FILE in known:
            raise UsageError(f"{word} is no option", hint=f"write {_FILE} and the file as two words")

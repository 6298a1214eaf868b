"""Completion in the shells: the scripts that ask, what may stand at the cursor, and the answer to a shell.

Typer says which parameter is being typed; here is what fits into it, beyond its choices.  Text is read by its look, as
what is being typed is not yet in the language.  Neither torch nor SymPy is imported, as a person waits for every key.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shlex
import string
import textwrap
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path

import typer
from typer import _click as click
from typer._completion_classes import BashComplete

from gradcli.errors import GradcliError

CONSTANTS = frozenset(["pi", "E", "inf", "nan"])
"""Names that are not variables."""

MODULES = frozenset("F autograd fft functional linalg math nn np numpy scipy stats sp special sympy torch".split())
"""Names before a dot that are not variables either."""

KEYWORDS = frozenset("if else and or not for in True False None".split())

Candidates = list[tuple[str, str]]
"""Texts for what is being typed, each with a word of explanation."""

_PLAIN = frozenset(string.ascii_letters + string.digits + "_+-,")

_NAME = re.compile(r"(?<![\w.])[^\W\d]\w*(?:\.\w+)*")
_LAST_NAME = re.compile(r"(\.?)([^\W\d]\w*)\Z")
_STATEMENT = re.compile(r"(?:^|[;\n])\s*([^\W\d]\w*)\s*=(?!=)")


def expression(ctx: typer.Context, incomplete: str) -> Candidates:
    """The text with the name at its end completed to a function, or to a variable; behind `@` a file."""
    return list(_files(incomplete[1:]) if incomplete.startswith("@") else _in_language(ctx, incomplete))


def vector(ctx: typer.Context, incomplete: str) -> Candidates:
    """A gradient vector by its short name, or as an expression."""
    words = {"ones": "sums the elements of y", "e0": "ones over y[0]", "e1": "ones over y[1]", "e0_0": "y[0,0] alone"}
    return [*_starting(words.items(), incomplete), *expression(ctx, incomplete)]


def value(ctx: typer.Context, incomplete: str) -> Candidates:
    """A variable with its equals sign, or behind it a value."""
    name, equals, given = incomplete.partition("=")
    if given.startswith("@"):
        return [(f"{name}={file}", said) for file, said in expression(ctx, given)]
    if equals:
        return expression(ctx, incomplete)
    names = [(f"{name}=", "a variable") for name in variables(_typed(ctx))]
    return [*_starting(names, incomplete), *expression(ctx, incomplete)]


def direction(ctx: typer.Context, incomplete: str) -> Candidates:
    """A variable with its equals sign, or behind it a direction by its short name or as a value."""
    name, equals, _ = incomplete.partition("=")
    head = f"{name}=" if equals else ""
    words = {"ones": "all elements alike", "e0": "along x[0]", "e1": "along x[1]", "e0_0": "along x[0,0]"}
    return [*_starting(((head + word, text) for word, text in words.items()), incomplete), *value(ctx, incomplete)]


def variable_names(ctx: typer.Context, incomplete: str) -> Candidates:
    """Variables of the expression, after those that are there, separated by commas."""
    return _listed([(name, "a variable") for name in variables(_typed(ctx))], incomplete)


def statement_names(ctx: typer.Context, incomplete: str) -> Candidates:
    """Names of statements of the expression, in the same way."""
    return _listed([(name, "a statement") for name in dict.fromkeys(_STATEMENT.findall(_typed(ctx)))], incomplete)


def verdicts(_ctx: typer.Context, incomplete: str) -> Candidates:
    """What may be allowed, in the same way."""
    from gradcli.results import NO_COUNTEREXAMPLE, SEVERITY

    words = (*SEVERITY, NO_COUNTEREXAMPLE)
    return _listed([(word, "") for word in words if word not in ("agree", "disagree")], incomplete)


def function_names(_ctx: typer.Context, incomplete: str) -> Candidates:
    """Functions of the language by all of their names."""
    return list(_starting(_functions(is_dotted=True), incomplete))


def variables(text: str) -> list[str]:
    """The names of an expression that look like variables, in order of appearance."""
    from gradcli.language.ops import find, is_member

    known = {*CONSTANTS, *MODULES, *KEYWORDS, *_STATEMENT.findall(text)}
    found = (match for match in _NAME.finditer(text) if match[0].partition(".")[0] not in known)
    names = [match[0] for match in found if text[match.end() :].lstrip()[:1] != "(" or not find(match[0])]
    words = (
        itertools.takewhile(lambda word: not is_member(word[1]) or not word[0], enumerate(n.split("."))) for n in names
    )
    return list(dict.fromkeys(".".join(word for _, word in one) for one in words))


def _typed(ctx: typer.Context) -> str:
    return ctx.params.get("expression") or ""


def _in_language(ctx: typer.Context, incomplete: str) -> Iterator[tuple[str, str]]:
    match = _LAST_NAME.search(incomplete)
    if match is None:
        return
    head, is_dotted = incomplete[: match.start(2)], bool(match[1])
    names = [(f"{name}(", text) for name, text in _functions(is_dotted=is_dotted)]
    others = [] if is_dotted else [(name, "a variable") for name in variables(_typed(ctx) or head)]
    yield from ((head + name, text) for name, text in _starting([*names, *others], match[2]))


def _files(start: str) -> Iterator[tuple[str, str]]:
    """Files whose path begins so, but those that are hidden or would need quotes."""
    folder, name = os.path.split(start)
    with contextlib.suppress(OSError), os.scandir(folder or ".") as entries:
        for entry in sorted(entries, key=lambda one: one.name):
            if entry.name.startswith(name or tuple(_PLAIN)) and set(entry.name) <= _PLAIN | {"."}:
                is_folder = entry.is_dir()
                path = os.path.join(folder, entry.name)
                yield f"@{path}{'/' * is_folder}", "a folder" if is_folder else "a file"


def _functions(*, is_dotted: bool) -> Iterator[tuple[str, str]]:
    from gradcli.language.ops import TABLE, find, names

    known = {*names(), *(name for op in TABLE.values() for name in op.qualified if is_dotted)}
    for name in sorted(known):
        op = find(name, after_dot=is_dotted)
        yield name, op.doc if op else ""


def _listed(words: Iterable[tuple[str, str]], incomplete: str) -> Candidates:
    """The text with the word behind its last comma completed to one that is not yet in it."""
    head, comma, last = incomplete.rpartition(",")
    there = {word.strip() for word in head.split(",")}
    left = [(word, text) for word, text in words if word not in there]
    return [(head + comma + word, text) for word, text in _starting(left, last)]


def _starting(words: Iterable[tuple[str, str]], start: str) -> Iterator[tuple[str, str]]:
    return ((word, text) for word, text in words if word.startswith(start))


EXPLAINED = 60
"""Characters of an explanation, which stands beside its candidate."""


def candidates(command: click.Command) -> str:
    """What may stand at the cursor, a line each, in the place of what the shell replaces; nothing where none is known.

    A line is the candidate, and for the shells that show it, what it is.
    """
    words, incomplete = split(os.environ.get(LINE, ""))
    option, equals, value = incomplete.partition("=")
    is_joined = option.startswith("--") and bool(equals)
    args, start = ([*words[1:], option], value) if is_joined else (words[1:], incomplete)
    try:
        found = BashComplete(command, {}, "gradcli", ASKED).get_completions(args, start)
    except (GradcliError, click.exceptions.ClickException, typer.Exit):
        return ""
    word = os.environ.get(WORD, incomplete)
    cut = len(incomplete) - len("" if word == "=" else word) if incomplete.endswith(word) else 0
    lines = []
    for item in found:
        text = f"{f'{option}=' * is_joined}{item.value}"[cut:]
        if item.help and os.environ[ASKED] != Shell.bash:
            text += "\t" + textwrap.shorten(item.help, EXPLAINED, placeholder="...")
        lines.append(f"{text}\n")
    return "".join(dict.fromkeys(lines))


def split(line: str) -> tuple[list[str], str]:
    """The words of a line that may end inside of quotes, and the one at its end, which may be empty.

    >>> split('gradcli vjp "x + si')
    (['gradcli', 'vjp'], 'x + si')
    >>> split("gradcli vjp ")
    (['gradcli', 'vjp'], '')
    """
    lexer = shlex.shlex(line, posix=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    words: list[str] = []
    try:
        words.extend(lexer)
    except ValueError:  # a quote that is still open
        return words, lexer.token
    if not words or line[-1:].isspace():
        return words, ""
    return words[:-1], words[-1]


class Shell(StrEnum):
    """The shells that have a script, in the folder `shells`."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"

    @property
    def script(self) -> str:
        """What completes in it: it asks by the variables below, and puts in what is answered."""
        return Path(__file__).with_name("shells").joinpath(f"gradcli.{self}").read_text(encoding="utf-8")


ASKED = "_GRADCLI_COMPLETE"
"""The variable that makes of a run of the command a question for candidates; it holds the shell."""

LINE = "_GRADCLI_LINE"
"""The command line up to the cursor."""

WORD = "_GRADCLI_WORD"
"""In bash, the end of the line that a candidate is put in the place of: bash cuts words at `=` too."""

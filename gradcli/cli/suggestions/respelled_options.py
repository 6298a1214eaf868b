"""Options by the names that other tools have for them, misspelt ones, and dashes of other kinds."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import pairwise
from typing import NamedTuple

from gradcli.cli.default_command import with_command
from gradcli.cli.options import OptionKind
from gradcli.cli.signatures import shell_options
from gradcli.cli.suggestions.typed_line import PipedWords, TypedLine, Words, kinds_of
from gradcli.cli.suggestions.written_ranges import is_number
from gradcli.registry import all_commands, formats, suffixes


def _by_name(options: Mapping[str, str]) -> Mapping[str, tuple[str, ...]]:
    return {name: tuple(instead.split("|")) for instead, names in options.items() for name in names.split()}


_SAME_OPTIONS = _by_name(
    {
        "--v|--u": "vector grad-output grad-outputs cotangent weights adjoint seed-vector",
        "--claim|--v|--u": "grad gradients",
        "--u|--v": "tangent tangents dir direction along d dx perturbation",
        "--digits": "precision prec significant decimals decimal places round",
        "--at|--format plain": "point points value values x0 input inputs args where",
        "--at": "const constant constants param params parameter parameters subs given fixed",
        "--in": "xlim x-lim xrange x-range range domain interval window",
        "--wrt": "var vars variable variables by",
        "--dtype float32": "float32 single",
        "--dtype float64": "float64 double",
        "--color never": "no-color no-colour",
        "--forward": "forward-mode fwd",
        "--on-error skip": "skip-errors ignore-errors skip-bad-rows skip-invalid",
        "--full": "verbose long",
        "--quiet": "silent",
        "--points": "csv points-file data-file",
        "--points|-o": "file",
        "-o": "save save-to save-as savefig out outfile out-file output-file to-file write-to export",
        "--format plain": "bare number-only numbers-only only-value",
        "--claim|EXPR": "formula",
        "--rtol": "tol tolerance",
        "--to": "lang language target",
        "--shape": "sizes shapes",
        "EXPR": "f fn fun func function expr expression equation",
        "!": "retain-graph create-graph pretty eps nondet-tol fast-mode jobs n-jobs threads parallel",
    }
)
"""Names that other tools have for options, with the options; `EXPR` is the expression, and `!` nothing."""

_NEAR_OPTIONS = _by_name(
    {
        "--claim|--v|--u": "gradient",
        "--wrt|!": "requires-grad argnums",
        "--points": "data table",
        "--claim": "derivative answer expected",
        "--format plain": "raw",
        "EXPR": "search",
        "!": "delimiter sep separator print symbolic numeric analytic method mode backend h step check-nan vectorize",
    }
)
"""Names that other tools have for something near only, or, as `gradient`, for one of several things."""

OPTIONS = {**_SAME_OPTIONS, **_NEAR_OPTIONS}

_DASHES = "-\N{EN DASH}\N{EM DASH}\N{MINUS SIGN}\N{HYPHEN}\N{NON-BREAKING HYPHEN}"


class UnknownOption(NamedTuple):
    """An option that a command has not.

    Attributes:
        place: Of its word.
        typed: Its name as typed.
        name: The same without dashes before it, and with dashes in it.
        value: The word that may be its value; empty where none follows.
        has_value: Whether one follows.
        words: The number of its words.
        is_attached: Whether its value is in the same word.
    """

    place: int
    typed: str
    name: str
    value: str
    has_value: bool
    words: int
    is_attached: bool


def unknown_options(line: TypedLine) -> Iterator[UnknownOption]:
    """Generate the options of a line that its command has not."""
    for place in line.unknown:
        typed, equals, attached = line.words[place].partition("=")
        after = line.words[place + 1 : place + 2]
        has_value = bool(equals) or (bool(after) and place + 1 in line.others)
        value, count = (attached, 1) if equals else (after[0] if has_value else "", 1 + has_value)
        yield UnknownOption(place, typed, typed[2:].replace("_", "-"), value, has_value, count, bool(equals))


def options_by_other_names(line: TypedLine, *, is_sure: bool) -> Iterator[Words]:
    """Write the option that other tools have by another name; of those that mean the same, or of the others."""
    for place, typed, name, value, has_value, count, _ in unknown_options(line):
        if (name in _NEAR_OPTIONS) == is_sure:
            continue
        variable = next((one for one in (name, typed[2:]) if one in line.variables), "")
        if variable and has_value:
            yield line.put(place, count, "--at", f"{variable}={value}")
        elif re.fullmatch(r"[A-Za-z]\d?", name) and has_value and name not in OPTIONS:
            yield line.put(place, count, "--at", f"{name}={value}")
        form = suffixes().get(f".{name}", name)
        if form in formats() and not (name in OPTIONS and has_value and "--points" in line.kinds):
            yield line.put(place, 1, "--format", form)
        is_table = "--points" in line.kinds and os.path.isfile(value)
        if name in ("delimiter", "sep", "separator") and value and "--points" in line.kinds:
            yield from _with_commas(line.without(*range(place, place + count)), value)
            continue
        if (asked := _by_positions(line, name, value)) and "--wrt" in line.kinds:
            yield line.put(place, count, "--wrt", asked)
            continue
        for instead in OPTIONS.get(name, ()):
            yield from _instead(line, place, count, "--points" if is_table and instead == "--at" else instead, value)
        if name in ("head", "limit", "nrows") and value.isdecimal() and "--rows" in line.kinds:
            yield line.put(place, count, "--rows", f"1..{value}")
        if name in ("ones", "eye") and "--v" in line.kinds:
            yield line.put(place, 1, "--v", name)


def _by_positions(line: TypedLine, name: str, value: str) -> str:
    """Name the variables that are asked for by their positions, `--argnums 1` of JAX; empty where none is there."""
    places = re.findall(r"\d+", value) if name in ("argnums", "argnum", "args-nums") else []
    return ",".join(line.variables[int(one)] for one in places if int(one) < len(line.variables))


def _with_commas(words: Sequence[str], separator: str) -> Iterator[Words]:
    """Read a table as it is where its separator is read; else pipe it with commas for a separator of one character."""
    if separator in (",", ";", "\t", "\\t", "tab"):
        yield tuple(words)
        return
    for n, (option, path) in enumerate(pairwise(words), start=1):
        if option == "--points" and len(separator) == 1 and separator.isascii():
            sender = f"tr {shlex.quote(separator)} , < {shlex.quote(path)}"
            yield PipedWords.sent_by(sender, (*words[:n], "-", *words[n + 1 :]))


def option_meant(line: TypedLine) -> str | None:
    """Say which option one of another tool is here, where the line needs more than that; None where none is."""
    for _, typed, name, *_ in unknown_options(line):
        for instead in OPTIONS.get(name, ()):
            if line.kinds.get(instead) is OptionKind.CHOICE:
                choices = choices_of(line.command, instead)
                return f"write {', or '.join(f'{instead} {one}' for one in choices)}"
            if instead in line.kinds and name in _SAME_OPTIONS:
                return f"{typed} is {instead} here"
    return None


_ALONE: Mapping[str, tuple[Words, ...]] = {
    name: tuple(tuple(words.split()) for words in instead.split("|"))
    for instead, names in {
        "functions": "list list-functions functions funcs ops operations",
        "--help": "commands list-commands usage",
        "completion bash|completion zsh": "install-completion show-completion completion completions",
        "guide": "docs manual tutorial guide",
        "config": "config settings",
    }.items()
    for name in names.split()
}
"""Options in the place of a command, with the commands."""


def commands_as_options(line: TypedLine) -> Iterator[Words]:
    """Write the command that an option means which stands alone, `--list`, or with its word, `--completion bash`."""
    for _, _, name, value, _, count, _ in unknown_options(line):
        if line.start == 0 and count == len(line.words):
            instead = _ALONE.get(name, ())
            yield from ((one[0], value) for one in instead[:1] if value)
            yield from instead


def verbose_questions(line: TypedLine) -> Iterator[Words]:
    """Write `--full` behind a question, or nothing behind another command, for a `-v` before its expression."""
    if len(line.others) > 1 and line.text == "-v":
        rest = line.without(line.others[0])
        command = with_command(rest, all_commands())[0]
        yield (*rest, *(["--full"] if "--full" in kinds_of(command) else []))


def arguments_as_options(line: TypedLine) -> Iterator[Words]:
    """Give a command the value of an option that it has not as its argument, `completion --shell zsh`, or `--zsh`."""
    unknown = {one.place: one for one in unknown_options(line)}
    for place in (n for n in line.others if re.match(r"-[A-Za-z]", line.words[n])):
        name, equals, attached = line.words[place].partition("=")
        value = attached or "".join(line.words[place + 1 : place + 2])
        unknown[place] = UnknownOption(place, name, name[1:], value, bool(value), 1 + (not equals), bool(equals))
    known = {flag for command in all_commands() for flag in kinds_of(command)}  # which mean something else
    for place, one in unknown.items():
        if one.typed in known or (not one.has_value and one.name in _ALONE):
            continue
        rest = {*line.others} - {*range(place, place + one.words)}
        if line.start and one.has_value and not rest and not one.value.startswith("-"):
            yield line.put(place, one.words, one.value)
        elif line.start and not one.has_value and not rest and stands_alone(line.command):
            yield line.put(place, 1, one.name)


def stands_alone(command: str) -> bool:
    """Tell whether a command of this name is there, and needs no expression."""
    return command in all_commands() and not all_commands()[command].is_on_function


def choices_of(command: str, option: str) -> tuple[str, ...]:
    """Return the words that an option of a command takes."""
    return next((one.choices for one in shell_options(all_commands()[command]) if option in one.flags), ())


def misspelt_options(line: TypedLine) -> Iterator[Words]:
    """Write the option that a misspelt one means, and ask the command that has it."""
    for one in unknown_options(line):
        place, typed, name, value, _, count, _ = one
        if name == "order" and value in ("2", "two"):
            rest = line.put(place, count)
            yield ("hessian", *rest[line.start :])
        if name in all_commands() and all_commands()[name].is_on_function:
            yield (name, *line.put(place, 1)[line.start :])
        if name == "second":
            yield ("hessian", *line.put(place, 1)[line.start :])
        if name in ("nth", "n") and value == "2":
            yield ("hessian", *line.put(place, count)[line.start :])
        if line.command not in all_commands():
            continue
        yield from _close_flags(line, one)
        for other in all_commands().values():
            if other.section and typed in kinds_of(other.name) and not name.startswith("no-"):
                yield line.named(other.name)


def misspelt_flags(line: TypedLine) -> Iterator[Words]:
    """Write the options of the command that are close to those that it has not."""
    for one in unknown_options(line):
        yield from _close_flags(line, one)


def _close_flags(line: TypedLine, one: UnknownOption) -> Iterator[Words]:
    known = [flag for flag in line.kinds if flag.startswith("--")]
    close = get_close_matches(one.typed, known, 1, 0.8) if one.name not in OPTIONS else []
    close += [flag for flag in known if len(one.name) > 2 and flag.startswith(one.typed)][:1]
    for flag in dict.fromkeys(close):
        yield line.put(one.place, 1, f"{flag}={one.value}" if one.is_attached else flag)


def _instead(line: TypedLine, place: int, count: int, instead: str, value: str) -> Iterator[Words]:
    """Write an option in the place of another one, with its value."""
    is_code = line.text.endswith((".py", ".ipynb")) and value.isidentifier()
    if instead == "EXPR" and is_code and line.others[0] < place:
        words = line.put(place, count)
        yield (*words[: line.others[0]], f"{line.text}::{value}", *words[line.others[0] + 1 :])
    elif instead == "!":
        yield line.put(place, count if value not in ("", line.text) else 1)
    elif instead == "EXPR":
        rest = line.put(place, count)
        yield (*rest[: line.start], value, *rest[line.start :])
    elif " " in instead:
        yield line.put(place, 1, *instead.split())
    elif line.kinds.get(instead) is OptionKind.SWITCH:
        yield line.put(place, count, instead)
    elif instead == "-o" and os.path.exists(value):
        return  # a file that is there may be meant to be read
    elif instead in line.kinds and value:
        yield line.put(place, count, instead, value)


_ENDS = tuple(
    tuple(pair.split())
    for pair in (
        "from to,lo hi,low high,lower upper,left right,begin end,start stop,start end,min max,xmin xmax,x-min x-max"
    ).split(",")
)
"""Options for the ends of a range, as other tools have them."""


def ranges_by_ends(line: TypedLine) -> Iterator[Words]:
    """Write a range of two numbers, `--xlim -5 5`, of two options, `--from -5 --to 5`, or of its variable's option."""
    unknown = {one.name: one for one in unknown_options(line) if one.has_value} if "--in" in line.kinds else {}
    for one in unknown.values():
        after = line.words[one.place + 2 : one.place + 3]
        is_first = is_number(one.value) and bool(after) and is_number(after[0]) and not one.is_attached
        if "--in" in OPTIONS.get(one.name, ()) and is_first:
            yield line.put(one.place, 3, "--in", f"{one.value}..{after[0]}")
        if one.name in line.variables and ".." in one.value:
            yield line.put(one.place, one.words, "--in", f"{one.name}={one.value}")
    for first, last in _ENDS:
        if first in unknown and last in unknown:
            ends = unknown[first], unknown[last]
            places = [place for one in ends for place in range(one.place, one.place + one.words)]
            yield (*line.without(*places), "--in", "..".join(one.value for one in ends))


def options_after_words(line: TypedLine) -> Iterator[Words]:
    """Write options before `--`, after which there are words alone; or leave it out."""
    if "--" in line.words:
        place = line.words.index("--")
        word, *options = line.words[place + 1 :] or ("",)
        if options and not word.startswith("--"):
            yield (*line.words[:place], word, *options)
        yield (*line.words[:place], *options, "--", word)


def dashes(line: TypedLine) -> Iterator[Words]:
    """Write two ASCII dashes before an option that has one, or others."""
    for place in (*line.others, *line.unknown):
        word = line.words[place]
        name, equals, value = word.lstrip(_DASHES).partition("=")
        if word[:1] not in _DASHES or not name:
            continue
        if f"--{name}" in line.kinds or f"--{name}" in (f"--{one}" for one in OPTIONS):
            yield line.put(place, 1, f"--{name}{equals}{value}")
        after = line.words[place + 1 : place + 2]
        if name in line.variables and after and place != line.others[0]:
            yield line.put(place, 2, "--at", f"{name}={after[0]}")
        if name in ("n", "d") and after == ("2",):
            yield ("hessian", *line.put(place, 2)[line.start :])
        if word.startswith("-o") and len(word) > 2:
            yield line.put(place, 1, "-o", word[2:].lstrip("="))
        if name in ("f", "format") and after and after[0] in formats():
            yield line.put(place, 2, "--format", after[0])
        if name in ("c", "e") and after and place == line.others[0] and line.start == 0:
            yield line.put(place, 1)
        if name == "v" and not after and "--full" in line.kinds:
            yield line.put(place, 1, "--full")

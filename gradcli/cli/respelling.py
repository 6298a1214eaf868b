"""Command lines that cannot be read, and what may be meant: a table of options, and rows that rewrite words.

A row turns the words of a command line into others.  It knows nothing of whether these can be read, which
`gradcli.cli.tried_hints` tries before anybody sees them.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches

from gradcli.cli.default_command import DERIVATIVE, OTHER_COMMANDS, OTHER_NAMES
from gradcli.cli.options import OptionKind
from gradcli.cli.questions_in_words import asked, is_of_sympy
from gradcli.cli.signatures import shell_options
from gradcli.cli.spelled_hints import lines_of_hint
from gradcli.cli.typed_line import TypedLine, Words, kinds_of, typed_line
from gradcli.errors import GradcliError
from gradcli.language.spellings import VALUES, respelled
from gradcli.registry import all_commands, formats, questions, suffixes

_OPTIONS: Mapping[str, tuple[str, ...]] = {
    name: tuple(instead.split("|"))
    for instead, names in {
        "--v|--u": "gradient gradients vector grad-output grad-outputs cotangent weights grad adjoint seed-vector",
        "--u|--v": "tangent tangents direction dx",
        "--digits": "precision significant decimals",
        "--at": "point points value values x0 input inputs args where",
        "--in": "xlim range domain interval",
        "--wrt|!": "requires-grad argnums var variable variables by",
        "--dtype float32": "float32 single",
        "--dtype float64": "float64 double",
        "--color never": "no-color no-colour",
        "--forward": "forward-mode fwd",
        "--on-error skip": "skip-errors ignore-errors skip-bad-rows skip-invalid",
        "--full": "verbose long",
        "--quiet": "silent",
        "--points": "csv file data table",
        "--claim|EXPR": "formula",
        "--claim": "derivative answer expected",
        "--rtol": "tol tolerance",
        "--to": "lang language target",
        "--shape": "sizes shapes",
        "EXPR": "f fn fun func function expr expression equation search",
        "!": "retain-graph create-graph pretty raw list eps nondet-tol fast-mode delimiter sep separator jobs n-jobs "
        "threads parallel",
    }.items()
    for name in names.split()
}
"""Names that other tools have for options, with the options; `EXPR` is the expression, and `!` nothing."""

_VALUES = (OptionKind.INPUTS, OptionKind.VALUES, OptionKind.DIRECTIONS, OptionKind.VECTOR)
_TEXTS = (OptionKind.TEXT, OptionKind.TEXTS)
_DASHES = "-\N{EN DASH}\N{EM DASH}\N{MINUS SIGN}\N{HYPHEN}\N{NON-BREAKING HYPHEN}"
_ASSIGNED = re.compile(r"[^\W\d]\w*(?:\.\w+)*\s*(?:=|:|:=|->|==)\s*[^=].*", re.DOTALL)
WITHOUT_V = "needs a gradient vector v"
"""Words of an error whose own hint says more than a command line."""

_OPERATORS = frozenset("+-*/^@=<>&|,;([{)]}×·")
_LABELLED = re.compile(r"\s*[^\W\d]\w*\s*=(?!=)")
_NUMBER = re.compile(r"[-+\[(]*(?:[.\d]|pi\b|inf\b|nan\b)[-+\d.,eE\[\]()/*piπ]*")
_NAME = re.compile(r"[^\W\d]\w*")
_PARTS = re.compile(
    r"\s*([^\W\d]\w*)\s*(?:==|=|:=|:|->|\bis\b)\s*((?:\[[^\[\]]*\]|[^\s,;\[])(?:[^\s,;=:]*(?:,(?=[-+.\d]))?)*)"
)
"""The `x: 1` of `{x: 1, y: 2}` and the `x=1` of `x=1 y=2`."""


def _questions_in_words(line: TypedLine) -> Iterator[Words]:
    """Write `d/dx x^2` and `x^2 at 3` as commands, with the options that were typed."""
    text = " ".join(line.words[n] for n in line.others)
    options = [word for n, word in enumerate(line.words[line.start :], line.start) if n not in line.others]
    of_command = [" ".join((*line.words[: line.start], text))] if text.startswith("of ") else []
    for words in (text, *of_command):
        for found in asked(words, line.command or DERIVATIVE):
            has_point = "--wrt" in found and "--at" in options
            yield (
                *(found[:-2] if has_point and not {"--wrt"} & {*options} and len(line.variables) == 1 else found),
                *options,
            )


def _commands(line: TypedLine) -> Iterator[Words]:
    """Write the command that a word means: by another name, in small letters, or misspelt."""
    if not line.words or line.words[0] in all_commands() or line.words[0].startswith("-"):
        return
    first, *rest = line.words
    if (instead := OTHER_COMMANDS.get(first)) is not None:
        if instead[0].startswith("--"):
            yield (*rest, *instead)
        elif instead[0] != "run" or os.path.splitext(" ".join(rest[:1]))[1] in (".py", ".ipynb"):
            yield (*instead, *rest)
        else:
            yield ("check", *rest[-3:])
        return
    names = [name for name, command in all_commands().items() if command.section]
    small = first.lower()
    close = [small] if small in (*names, *OTHER_NAMES) else get_close_matches(small, [*names, *OTHER_NAMES], 2, 0.65)
    close = list({OTHER_NAMES.get(name, name): name for name in reversed(close)}.values())[::-1]
    yield from ((name, *rest) for name in close if rest or name in ("guide", "functions", "config", "run"))
    called = re.fullmatch(rf"({'|'.join((*questions(), *OTHER_NAMES))})\((.+)\)", " ".join(line.words), re.DOTALL)
    if called is not None:
        yield called[1], called[2]


def _questions_for_the_guide(line: TypedLine) -> Iterator[Words]:
    """Look up the longest word of a question in the guide, `what does retain_graph do`."""
    words = [word.strip("?.,'") for word in line.words]
    is_question = " ".join(words[:1]).lower() in ("what", "how", "why", "when", "which", "where", "does", "can", "is")
    if is_question and all(re.fullmatch(r"[a-zA-Z_]+", word) for word in words):
        yield "guide", max(words, key=len)


def _options(line: TypedLine) -> Iterator[Words]:
    """Write the option that another name, or a misspelt one, means."""
    for place in line.unknown:
        typed, equals, attached = line.words[place].partition("=")
        name = typed[2:].replace("_", "-")
        after = line.words[place + 1 : place + 2]
        has_value = bool(equals) or (bool(after) and place + 1 in line.others)
        value, count = (attached, 1) if equals else (after[0] if has_value else "", 1 + has_value)
        variable = next((one for one in (name, typed[2:]) if one in line.variables), "")
        if variable and has_value:
            yield line.put(place, count, "--at", f"{variable}={value}")
        elif re.fullmatch(r"[A-Za-z]\d?", name) and has_value and name not in _OPTIONS:
            yield line.put(place, count, "--at", f"{name}={value}")
        form = suffixes().get(f".{name}", name)
        if form in formats() and not (name in _OPTIONS and has_value and "--points" in line.kinds):
            yield line.put(place, 1, "--format", form)
        is_table = "--points" in line.kinds and os.path.isfile(value)
        for instead in _OPTIONS.get(name, ()):
            yield from _instead(line, place, count, "--points" if is_table and instead == "--at" else instead, value)
        if name in ("head", "limit", "nrows") and value.isdecimal() and "--rows" in line.kinds:
            yield line.put(place, count, "--rows", f"1..{value}")
        if name == "order" and value in ("2", "two"):
            rest = line.put(place, count)
            yield ("hessian", *rest[line.start :])
        if name in ("nth", "n") and value == "2":
            yield ("hessian", *line.put(place, count)[line.start :])
        if name in ("ones", "random", "eye") and "--v" in line.kinds:
            yield line.put(place, 1, "--v", name)
        if line.command not in all_commands():
            continue
        known = [flag for flag in line.kinds if flag.startswith("--")]
        close = get_close_matches(typed, known, 1, 0.8) if name not in _OPTIONS else []
        close += [flag for flag in known if len(name) > 2 and flag.startswith(typed)][:1]
        for flag in dict.fromkeys(close):
            yield line.put(place, 1, f"{flag}={attached}" if equals else flag)
        for other in all_commands().values():
            if other.section and typed in kinds_of(other.name) and not name.startswith("no-"):
                yield line.named(other.name)


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
    elif instead in line.kinds and value:
        yield line.put(place, count, instead, value)


def _dashes(line: TypedLine) -> Iterator[Words]:
    """Write two ASCII dashes before an option that has one, or others."""
    for place in (*line.others, *line.unknown):
        word = line.words[place]
        name, equals, value = word.lstrip(_DASHES).partition("=")
        if word[:1] not in _DASHES or not name:
            continue
        if f"--{name}" in line.kinds or f"--{name}" in (f"--{one}" for one in _OPTIONS):
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


def _parted_by_the_shell(line: TypedLine) -> Iterator[Words]:
    """Join what the shell parted: a value at its blanks, each that has words after it, or an expression."""
    spread: list[tuple[int, list[int]]] = []
    for place, option in line.values.items():
        run = list[int]()
        while place + 1 + len(run) in line.others[1:] or (place + 1 + len(run) in line.others and not line.text):
            run.append(place + 1 + len(run))
        if run and line.kinds[option] in (*_VALUES, *_TEXTS, OptionKind.VARIABLES, OptionKind.WORD):
            spread.append((place, run))
    for sign in (",", " "):
        words = list(line.words)
        for place, run in reversed(spread):
            parts = [word.strip(",") if sign == "," else word for word in words[place : place + 1 + len(run)]]
            words[place : place + 1 + len(run)] = [sign.join(filter(None, parts))]
        if spread:
            yield tuple(words)
    for place, run in spread:
        numbers = [line.words[n].strip(",") for n in (place, *run)]
        if len(numbers) == len(line.variables) > 1 and all(map(_NUMBER.fullmatch, numbers)):
            each = [word for pair in zip(line.variables, numbers, strict=True) for word in ("--at", "=".join(pair))]
            yield line.put(place - 1, 2 + len(run), *each)


def _several_expressions(line: TypedLine) -> Iterator[Words]:
    """Join words into one expression, into statements, or into a list."""
    whole = [line.words[n] for n in line.others]
    if len(whole) < 2 or [*line.others] != [*range(line.others[0], line.others[-1] + 1)]:
        return
    is_statements = all("=" in word for word in whole)
    if is_statements or all(map(_is_parted, whole, whole[1:])):
        yield line.put(line.others[0], len(whole), ("; " if is_statements else " ").join(whole))
    if all("(" in word for word in whole):
        yield line.put(line.others[0], len(whole), f"[{', '.join(word.strip(',') for word in whole)}]")


def _is_parted(before: str, after: str) -> bool:
    """Tell whether two words are one expression that the shell parted: at an operator, or after a function's name."""
    from gradcli.language.ops import find

    return before[-1:] in _OPERATORS or after[:1] in _OPERATORS or find(before) is not None


def _words_after(line: TypedLine) -> Iterator[Words]:
    """Write options before words after the expression: a point, ranges, variables, a claim, files."""
    if len(line.others) < 2:
        return
    first, *others = line.others
    words = [line.words[n] for n in others]
    rest = tuple(line.without(*others))
    is_point = words[0].lower() in ("at", "-a", "where", "when", "for", "@")
    points = words[1:] if is_point else words
    if points and all(map(_ASSIGNED.fullmatch, points)):
        yield (*rest, *(word for one in points for word in ("--at", re.sub(r"\s*(:=|->|==|:)\s*", "=", one, count=1))))
    if points and all(map(_NUMBER.fullmatch, points)) and "--at" not in line.flags.values():
        if "--in" in line.kinds and len(points) == 2 and line.command == "plot":
            yield (*rest, "--in", "..".join(points))
        if "--v" in line.kinds and len(points) == 2:
            yield (*rest, "--at", points[0], "--v", points[1])
        yield (*rest, "--at", ",".join(points))
    if all(".." in word for word in words):
        yield (*rest, *(word for one in words for word in ("--in", one)))
    if {*",".join(words).split(",")} <= {*line.variables}:
        yield (*rest, "--wrt", ",".join(words))
    claims = [word for word in words if word not in ("=", "==", "is")]
    if len(claims) == 1 and line.command == "check" and not claims[0].startswith("-"):
        yield (*rest, "--claim", claims[0])
    for n, word in zip(others, words, strict=True):
        if word == "-" or os.path.isfile(word):
            yield (*line.without(n), *(("--points", word) if "--points" in line.kinds else ("--at", f"@{word}")))
    if os.path.isfile(line.text) and len(words) == 1:
        yield (
            *line.words[: line.start],
            words[0],
            *line.without(first, others[0])[line.start :],
            "--points",
            line.text,
        )


def _values(line: TypedLine, error: GradcliError) -> Iterator[Words]:
    """Give each variable a value of its own, write the names of files with @, and spell out values."""
    for place, option in line.values.items():
        attached = line.flags.get(place, "")
        typed = line.words[place].removeprefix(f"{attached}=") if attached else line.words[place]
        back = 0 if attached else 1
        kind = line.kinds[option]

        def put(*values: str, option: str = option, place: int = place, back: int = back) -> Words:
            return line.put(place - back, 1 + back, *(word for value in values for word in (option, value)))

        if kind in (*_VALUES, OptionKind.VECTOR) and os.path.isfile(typed.partition("=")[2] or typed):
            name, equals, path = typed.rpartition("=")
            yield put(f"{name}{equals}@{path}")
        if option == "--at":
            yield from _of_each_variable(line, typed, put)
        if option == "--at" and "holds an object" in error.text.message and typed.startswith("@"):
            yield put(*(f"{name}={typed}:{name}" for name in line.variables))
        if option == "--at" and "has no such variable" in error.text.message and len(line.variables) == 1:
            yield put(f"{line.variables[0]}={typed.partition('=')[2] or typed}")
        stated = re.match(r"\s*([^\W\d]\w*)\s*(?:->|==|:=|:|\bis\b)\s*(.+)", typed, re.DOTALL)
        if kind in _VALUES and stated is not None and stated[1] in line.variables:
            yield put(f"{stated[1]}={stated[2]}")
        if kind is OptionKind.RANGES:
            yield put(re.sub(r"\s*(?:,|:|;|\bto\b|…)\s*", "..", typed))
        if kind is OptionKind.TEXTS and "names no variable" in error.text.message and not _LABELLED.match(typed):
            yield from (put(f"{name}={typed}") for name in line.variables)
        if kind is OptionKind.CHOICE and typed.lower() != typed:
            yield put(typed.lower())
        if kind is OptionKind.CHOICE and typed not in (choices := _choices(line.command, option)):
            yield from (put(one) for one in _other_choices(typed, choices))
        if option in ("-o", "--output") and typed in formats():
            yield line.put(place - back, 1 + back, "--format", typed)
        if kind in (OptionKind.DIRECTIONS, OptionKind.VECTOR, OptionKind.VALUES) and option == "--v":
            yield from ((put(other) if other else line.named("jacobian")) for other in _other_vectors(typed))


_VECTORS = {"1": "ones", "one": "ones", "random": "randn", "y": "y", "eye": "", "I": "", "identity": ""}


def _other_vectors(typed: str) -> Iterator[str]:
    if typed in _VECTORS:
        yield _VECTORS[typed]
    elif re.fullmatch(r"(?:torch\.|np\.)?ones(?:_like)?\([^()]*\)", typed):
        yield "ones"


def _spelled_values(line: TypedLine, error: GradcliError) -> Iterator[Iterator[Words]]:
    """Give the spellings of the values of a line, a group for each row."""
    for place, option in line.values.items():
        if line.kinds[option] not in _VALUES:
            continue
        attached = f"{line.flags[place]}=" if place in line.flags else ""
        typed = line.words[place].removeprefix(attached)
        name, equals, value = typed.partition("=") if _LABELLED.match(typed) else ("", "", typed)
        used = {one for one in _NAME.findall(value) if not re.fullmatch(r"[dD]\d+", one)} & {*line.variables}
        for group in respelled(value, error, VALUES):
            kept = (one for one in group if used <= {*_NAME.findall(one)})  # 0.6c is no length where c is a variable
            yield (line.put(place, 1, f"{attached}{name}{equals}{one}") for one in kept)


_WORDS = {
    "gpu": "cuda", "cuda:0": "cuda", "double": "float64", "float": "float32", "single": "float32", "md": "markdown",
    "f32": "float32", "f64": "float64", "python": "torch", "pytorch": "torch", "tex": "latex", "np": "numpy",
    "yaml": "json", "xml": "html", "txt": "plain", "plain": "csv", "text": "plain",
}  # fmt: skip
"""Words for those that an option takes."""


def _choices(command: str, option: str) -> tuple[str, ...]:
    return next((one.choices for one in shell_options(all_commands()[command]) if option in one.flags), ())


def _other_choices(word: str, choices: Sequence[str]) -> Iterator[str]:
    plain = word.lower().removeprefix("torch.").removeprefix("np.")
    yield _WORDS.get(plain, plain)
    digits = re.sub(r"\D", "", plain)  # float16 is not a misspelt float64
    yield from get_close_matches(plain, [one for one in choices if re.sub(r"\D", "", one) == digits], 1, 0.7)


def _of_each_variable(line: TypedLine, typed: str, put: Callable[..., Words]) -> Iterator[Words]:
    """Give each variable its value: of `1,2` in order, of `{x: 1, y: 2}` and `x=1 y=2` by name."""
    variables = line.variables
    parts = [part.strip() for part in re.split(r"[,;\s]+", typed.strip("[](){} "))]
    letters = tuple(name for name in variables if len(name) == 1)
    if len(parts) < len(variables) and {*"".join(variables)} == {*letters}:
        variables = letters  # xy is x*y where x and y have values
    if len(parts) == len(variables) > 1 and all(map(_NUMBER.fullmatch, parts)):
        yield put(*map("=".join, zip(variables, parts, strict=True)))
    named = _PARTS.findall(typed.strip("{}<>"))
    if named and "".join(_PARTS.sub("", typed.strip("{}<>")).split()).strip(",;") == "":
        yield put(*(f"{name}={value.strip(',')}" for name, value in named))


def _texts(line: TypedLine, error: GradcliError) -> Iterator[Iterator[Words]]:
    """Give the spellings of the texts of a line by its error, a group for each row."""
    of_texts = (n for n, one in line.values.items() if line.kinds[one] in _TEXTS and n not in line.flags)
    for place in (*line.others[:1], *of_texts):
        name = _LABELLED.match(line.words[place]) if place not in line.others else None
        label = name[0] if name else ""
        for group in respelled(line.words[place].removeprefix(label), error):
            yield (line.put(place, 1, f"{label}{one}") for one in group)


def _other_derivatives(line: TypedLine, error: GradcliError) -> Iterator[Words]:
    """Ask for the derivative that y and the vectors of a line have."""
    said = error.text.message
    if "needs a y of one element" in said:
        if line.command in ("grad", DERIVATIVE):
            yield line.named("jacobian")
        yield line.put(line.others[0], 1, f"sum({line.text})")
    if "a plot is over one variable" in said:
        first, *others = line.variables
        yield (*line.words, "--in", f"{first}=-3..3", *(word for name in others for word in ("--at", f"{name}=1")))
    if line.command == "run" and line.unknown and line.others:
        place, script = line.unknown[0], line.others[0]
        if place > script:
            yield (*line.words[:place], "--", *line.words[place:])
        elif line.words[place].lstrip("-").replace("_", "-") not in _DEBUGGING:
            yield (*line.put(place, 1), "--", line.words[place])
        yield line.put(place, 1)
    if "a loss has one element" in said:
        for place in (n for n, option in line.values.items() if option == "--loss" and n not in line.flags):
            yield from (line.put(place, 1, f"{name}({line.words[place]})") for name in ("sum", "mean"))
    if WITHOUT_V in said:
        yield (*line.words, "--v", "ones")
        yield line.named("jacobian")
    for own, other, command in (("--v", "--u", "vjp"), ("--u", "--v", "jvp")):
        if own in line.words and own not in line.kinds and other in line.kinds:
            yield line.put(line.words.index(own), 1, other)
            yield line.named(command)
    if line.command in ("check", DERIVATIVE) and line.others and "--claim" not in line.flags.values():
        equation = re.fullmatch(r"\s*([^;=]+?)\s*={1,2}(?!=)\s*([^;]+?)\s*", line.text)
        is_whole = equation is not None and equation[1].count("[") == equation[1].count("]")  # not a sum, Σ[i=1..3]
        if equation is not None and is_whole and not (equation[1].rstrip("'").isidentifier() or " at " in line.text):
            rest = line.put(line.others[0], 1, equation[1])[line.start :]
            yield ("check", *rest, "--claim", equation[2])


_DEBUGGING = frozenset(["detect-anomaly", "anomaly", "debug", "trace", "nan", "find-nan", "check-nan", "autograd"])
"""Options that ask `run` for what it does of itself."""


def _in_order(line: TypedLine, error: GradcliError) -> Iterator[Words]:
    """Put a statement before those that use what it computes."""
    statements = [one.strip() for one in line.text.split(";") if one.strip()]
    assigned = [one.partition("=")[0].strip() for one in statements]
    if not error.text.message.startswith("no value for the variable") or len({*assigned}) < len(statements):
        return
    ordered = list[str]()
    while rest := [one for one in statements if one not in ordered]:
        missing = {assigned[statements.index(one)] for one in rest}
        ready = [one for one in rest if not missing & {*_NAME.findall(one.partition("=")[2])}]
        if not ready:
            return
        ordered.append(ready[0])
    yield line.put(line.others[0], 1, "; ".join(ordered))


def _scripts(line: TypedLine, error: GradcliError) -> Iterator[Words]:
    """Run a script, or name a function of a file."""
    from gradcli.parts import is_listed

    path = line.text.removeprefix("@")
    if "torch raises" in error.text.message:  # and so it would where the script is run
        return
    is_without_pass = "makes no backward pass" in error.text.message
    if (line.command == "run" and not is_without_pass) or not (line.others and is_listed("running")):
        return
    called = re.fullmatch(r"(.+?\.(?:py|ipynb))::?([^\W\d]\w*)(?:\([^()]*\))?", path)
    if called is not None and os.path.isfile(called[1]):
        yield line.put(line.others[0], 1, f"{called[1]}::{called[2]}")
    if not os.path.isfile(path):
        return
    if path.endswith((".py", ".pyw", ".ipynb")):
        with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
            if is_of_sympy(text):
                yield from map(tuple, asked(text))
                return
            names, passes = re.findall(r"(?m)^def (\w+)", text), re.findall(r"(?m)^(\w+)\.backward\(\)", text)
            has_value = "--at" in line.flags.values()
            if passes and path.endswith(".py") and not has_value and line.command not in ("", DERIVATIVE):
                yield line.put(line.others[0], 1, f"{path}::{passes[-1]}")
            if not is_without_pass and (re.search(r"\.backward\(|autograd\.grad\(", text) or not names):
                yield ("run", path)
            yield from (line.put(line.others[0], 1, f"{path}::{name}") for name in names[:2] if has_value)
    else:
        yield line.put(line.others[0], 1, f"@{path}")


def _names_of_pages(line: TypedLine, error: GradcliError) -> Iterator[Words]:
    """Write the function, or the page of the guide, that a word means."""
    from gradcli import guide
    from gradcli.language.ops import names

    known = list(names()) if line.command == "functions" else list(guide.PAGES) if line.command == "guide" else []
    if known and line.others:
        word = "".join(line.words[n] for n in line.others).replace(" ", "").lower()
        close = [word] if word in known else get_close_matches(word, known, 1, 0.75)
        yield from ((line.command, name) for name in close)


def respelled_lines(words: Words, error: GradcliError) -> Iterator[Iterator[Words]]:
    """Generate other command lines that may be meant, in groups, the likeliest first."""
    line = typed_line(words)
    yield _scripts(line, error)
    yield _questions_in_words(line)
    yield _commands(line)
    yield _questions_for_the_guide(line)
    yield _other_derivatives(line, error)
    yield _in_order(line, error)
    yield _names_of_pages(line, error)
    yield from (rows(line) for rows in (_options, _dashes, _words_after, _parted_by_the_shell))
    if error.place is not None and error.place.source == "EXPR":
        yield from _texts(line, error)
    yield _values(line, error)
    yield from _spelled_values(line, error)
    yield _several_expressions(line)
    yield lines_of_hint(line, error)
    if error.place is None or error.place.source != "EXPR":
        yield from _texts(line, error)

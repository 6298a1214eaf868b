"""Scripts and functions of files that may be meant by a command line that cannot be read; none is run for that."""

from __future__ import annotations

import ast
import contextlib
import os
import re
from collections.abc import Collection, Iterator

from gradcli.cli.console import is_sent
from gradcli.cli.default_command import DERIVATIVE
from gradcli.cli.suggestions.other_tools import is_of_sympy
from gradcli.cli.suggestions.questions_in_words import asked
from gradcli.cli.suggestions.respelled_options import misspelt_flags, unknown_options
from gradcli.cli.suggestions.typed_line import TypedLine, Words
from gradcli.errors import GradcliError, MissingPassError
from gradcli.parts.running.targets import functions_of, instance_of
from gradcli.registry import all_commands
from gradcli.trial import SpelledGroup

_PASSES = re.compile(r"\.backward\(|autograd\.grad\(")
"""Calls that make a backward pass."""

_DEBUGGING = frozenset(["detect-anomaly", "anomaly", "debug", "trace", "nan", "find-nan", "check-nan", "autograd"])
"""Options that ask `run` for what it does of itself."""


_PASS = frozenset(["nth", "nth-pass", "pass-number", "pass-index", "which-pass", "only", "only-pass"])
"""Options that other tools would have for `--pass`."""


def respelled(line: TypedLine, error: GradcliError) -> Iterator[SpelledGroup[Words]]:
    """Generate runs of a script: by another name, in place of an expression, with its arguments, and as it is sent."""
    yield SpelledGroup(_by_other_names(line))
    yield SpelledGroup(_in_place_of_expression(line, error))
    yield SpelledGroup([*_with_own_options(line), *_with_arguments(line)])
    is_missing = line.command == "run" and not line.others and not line.unknown and "-c" not in line.words
    yield SpelledGroup([(*line.words, "-")] if is_missing and is_sent() else [], is_sure=True)


def _by_other_names(line: TypedLine) -> Iterator[Words]:
    """Run what another tool runs, `python train.py`."""
    first, *rest = line.words or ("",)
    if first in all_commands()["run"].near and os.path.splitext(" ".join(rest[:1]))[1] in (".py", ".ipynb"):
        yield ("run", *rest)


def _with_own_options(line: TypedLine) -> Iterator[Words]:
    """Write options of `run` that are misspelt; the script may have those as typed all the same."""
    if line.command != "run" or not line.others:
        return
    yield from misspelt_flags(line)
    for one in unknown_options(line):
        if one.name in _PASS and one.has_value:
            yield line.put(one.place, one.words, "--pass", one.value)


def _with_arguments(line: TypedLine) -> Iterator[Words]:
    """Give options that `run` has not to the script, or leave them out."""
    if line.command == "run" and line.unknown and line.others:
        place, words = line.unknown[0], line.words
        script = next((n for n in line.others if os.path.isfile(words[n])), line.others[0])
        count = 1 + (place + 1 in line.others and place + 1 != script)  # the option, and what may be its value
        is_of_run = words[place].lstrip("-").replace("_", "-") in _DEBUGGING and count == 1
        yield from [line.put(place, 1)] if is_of_run else []
        if place > script:
            own = {n for n in (*line.flags, *line.values) if n > place}
            known = (words[n] for n in sorted(own))
            yield (*words[:place], *known, "--", *line.without(*range(place), *own))
        elif words[place].lstrip("-").replace("_", "-") not in _DEBUGGING:
            yield (*line.put(place, count), "--", *words[place : place + count])
        if count == 1:
            yield line.put(place, 1)


def _in_place_of_expression(line: TypedLine, error: GradcliError) -> Iterator[Words]:
    """Run a script that stands in the place of an expression, or name a function or a tensor of it."""
    path = line.text.removeprefix("@")
    if not line.others or "torch raises" in error.text.message:  # and so it would where the script is run
        return
    is_without_pass = isinstance(error, MissingPassError)
    if line.command == "run" and not is_without_pass:
        return
    called = re.fullmatch(r"(.+?\.(?:py|ipynb))::?([^\W\d]\w*)(?:\([^\W\d]?[\w, ]*\))?", path)
    if called is not None and os.path.isfile(called[1]) and instance_of(path) is None:
        yield line.put(line.others[0], 1, f"{called[1]}::{called[2]}")
    if path.endswith((".py", ".pyw", ".ipynb")) and os.path.isfile(path):
        with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
            if is_of_sympy(text):
                yield from map(tuple, asked(text))
                return
            names, passes = functions_of(text), re.findall(r"(?m)^(\w+)\.backward\(\)", text)
            has_value = "--at" in line.flags.values()
            if passes and path.endswith(".py") and not has_value and line.command not in ("", DERIVATIVE):
                yield line.put(line.others[0], 1, f"{path}::{passes[-1]}")
            if not is_without_pass and (_makes_passes(text, names) or not names):
                yield ("run", path)
            yield from (line.put(line.others[0], 1, f"{path}::{name}") for name in names[:2] if has_value)


def _makes_passes(text: str, names: Collection[str]) -> bool:
    """Tell whether a script makes backward passes when it is run: outside of its functions, or in one that it calls."""
    try:
        statements = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError):
        return bool(_PASSES.search(text))
    outside = [one for one in statements if not isinstance(one, ast.FunctionDef | ast.ClassDef)]
    calls = [node.func for one in outside for node in ast.walk(one) if isinstance(node, ast.Call)]
    is_here = any(isinstance(one, ast.Attribute) and one.attr in ("backward", "grad") for one in calls)
    is_called = any(isinstance(one, ast.Name) and one.id in names for one in calls)
    return is_here or (is_called and bool(_PASSES.search(text)))

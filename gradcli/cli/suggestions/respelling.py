"""Command lines that cannot be read, and what may be meant: a table of options, and rows that rewrite words.

A row turns the words of a command line into others.  It knows nothing of whether these can be read, which
`gradcli.cli.suggestions.tried_hints` tries before anybody sees them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from difflib import get_close_matches
from pkgutil import resolve_name

from gradcli.cli.default_command import DERIVATIVE, other_commands, other_names
from gradcli.cli.expression import PAGES
from gradcli.cli.options import OptionKind
from gradcli.cli.suggestions.compared_functions import differences_proved
from gradcli.cli.suggestions.derivatives_on_ranges import derivatives_on_ranges
from gradcli.cli.suggestions.equations_in_words import is_equation
from gradcli.cli.suggestions.plain_words import asked
from gradcli.cli.suggestions.questions_in_words import is_near
from gradcli.cli.suggestions.random_values import random_values
from gradcli.cli.suggestions.ranges_in_words import with_names
from gradcli.cli.suggestions.respelled_mathematics import (
    elements_by_subscripts,
    factors_of_numbers,
    in_c,
    matrices_inside,
    on_paper,
    products_of_given,
    sums_without_brackets,
)
from gradcli.cli.suggestions.respelled_options import (
    arguments_as_options,
    commands_as_options,
    dashes,
    misspelt_options,
    options_after_words,
    options_by_other_names,
    ranges_by_ends,
    stands_alone,
    verbose_questions,
)
from gradcli.cli.suggestions.respelled_values import (
    decimal_commas,
    is_alphabetical,
    name_parts,
    named_values,
    names_of_text,
    orders_of,
    other_values,
    spelled_values,
    statements_in_words,
    symbolic_directions,
    values_by_name,
    values_in_order,
    values_in_words,
    values_of_others,
    values_of_parts,
    values_with_units,
)
from gradcli.cli.suggestions.spelled_hints import lines_of_hint
from gradcli.cli.suggestions.typed_line import TypedLine, Words, typed_line
from gradcli.cli.suggestions.typed_ranges import finite_ranges, misspelt_ranges, ranges_in_words
from gradcli.cli.suggestions.typed_values import LABELLED, OF_TEXTS, OF_VALUES
from gradcli.cli.suggestions.written_ranges import NUMBER
from gradcli.errors import (
    GradcliError,
    HigherDerivativeError,
    InfiniteRangeError,
    LossElementsError,
    MissingValueError,
    MissingVectorError,
    SeveralElementsError,
    ThirdDerivativeError,
    UncalledFunctionError,
    UsageError,
)
from gradcli.language.spelled_texts import respelled
from gradcli.language.text.signs import NAME, compared
from gradcli.registry import all_commands, questions
from gradcli.trial import SpelledGroup

_ASSIGNED = re.compile(r"[^\W\d]\w*(?:\.\w+)*\s*(?:=|:|:=|->|==)\s*[^=].*", re.DOTALL)
_COMPARED = re.compile(r"[<>=!≤≥]=|[<>≤≥]|^\s*=")
"""Comparison, which makes no value."""

_OPERATORS = frozenset("+-*/^@=<>&|,;([{)]}×·")


def _questions_in_words(line: TypedLine) -> Iterator[Words]:
    """Write `d/dx x^2` and `x^2 at 3` as commands, with the options that were typed."""
    text = " ".join(line.words[n] for n in line.others)
    options = [word for n, word in enumerate(line.words[line.start :], line.start) if n not in line.others]
    if is_equation(text):  # of which both partial derivatives are needed
        options = [word for n, word in enumerate(line.words) if n in _other_options(line, "--wrt")]
    is_whole = text.startswith("of ") or line.words[:1] in (("what",), ("what's",), ("is",), ("how",))
    of_command = [" ".join((*line.words[: line.start], text))] if is_whole else []
    for words in (text, *of_command):
        for found in asked(words, line.command or DERIVATIVE):
            if "--in" in found:
                yield from _on_ranges(line, found, options)
                continue
            has_point = "--wrt" in found and "--at" in options
            yield (
                *(found[:-2] if has_point and not {"--wrt"} & {*options} and len(line.variables) == 1 else found),
                *options,
            )
            is_of_ranges = "--in" in line.kinds and "--claim" not in line.kinds
            if is_of_ranges and found[0] == "grad":  # which have the derivative next to the value
                yield (line.command, *found[1:], *options)


def _equations(line: TypedLine) -> Iterator[Words]:
    """Ask of an equation what a command asks of a function: of the difference of its sides."""
    command = all_commands().get(line.command)
    if command is None or not command.is_on_function or command.respelled or line.command in (DERIVATIVE, "grad"):
        return
    found = [*asked(line.text)] if compared(line.text).signs else []
    if [words[:1] for words in found[:1]] == [["grad"]] and len(found[0]) == 2:
        yield line.put(line.others[0], 1, found[0][1])


def _on_ranges(line: TypedLine, found: list[str], options: list[str]) -> Iterator[Words]:
    """Write a function on ranges; nothing for a command of points where a point is given."""
    if "--in" in line.kinds or not {"--at", "--points"} & {*line.flags.values()}:
        asked_line = typed_line((*found, *options))
        variables = [name for name in asked_line.variables if name not in values_by_name(asked_line)]
        is_several = len(asked_line.variables) > 1
        yield (*(with_names(found, variables) if is_several else found), *options)


def _other_options(line: TypedLine, left_out: str) -> set[int]:
    """Return the places of the words of all options with their values, but for one option."""
    places = {*line.flags, *line.values, *line.unknown}
    return places - {n for n in places if left_out in (line.flags.get(n), line.values.get(n))}


def _commands(line: TypedLine) -> Iterator[Words]:
    """Write the command that a word means: by another name, in small letters, or misspelt."""
    if not line.words or line.words[0] in all_commands() or line.words[0].startswith("-"):
        return
    first, *rest = line.words
    if (instead := other_commands().get(first)) is not None:
        if instead[0].startswith("--"):
            yield (*rest, *instead)
        elif not all_commands()[instead[0]].respelled:  # else it knows better what may be meant as it
            count = len(rest) if instead[0] in questions() else 0  # options stand behind the question
            yield (instead[0], *rest[:count], *instead[1:], *rest[count:])
        return
    names = [name for name, command in all_commands().items() if command.section]
    small = first.lower()
    if small in (*names, *other_names()):
        return
    close = get_close_matches(small, [*names, *other_names()], 2, 0.65)
    close = list({other_names().get(name, name): name for name in reversed(close)}.values())[::-1]
    yield from ((name, *rest) for name in close if rest or stands_alone(name))


def _commands_in_other_letters(line: TypedLine) -> Iterator[Words]:
    """Write a command in small letters, `GRAD x^2`, and without parentheses, `grad(x^2)`."""
    first, *rest = line.words or ("",)
    if first and first not in all_commands() and first.lower() in (*all_commands(), *other_names()):
        name = other_names().get(first.lower(), first.lower())
        yield from [(name, *rest)] if rest or stands_alone(name) else []
    called = re.fullmatch(rf"({'|'.join((*questions(), *other_names()))})\((.+)\)", " ".join(line.words), re.DOTALL)
    if called is not None:
        yield called[1], called[2]


def _questions_for_the_guide(line: TypedLine) -> Iterator[Words]:
    """Look up the longest word of a question in the guide, `what does retain_graph do`."""
    words = [word.strip("?.,'") for word in line.words]
    is_question = " ".join(words[:1]).lower() in ("what", "how", "why", "when", "which", "where", "does", "can", "is")
    if is_question and all(re.fullmatch(r"[a-zA-Z_]+", word) for word in words):
        yield "guide", max(words, key=len)


def _parted_by_the_shell(line: TypedLine) -> Iterator[Words]:
    """Join what the shell parted: a value at its blanks, each that has words after it, or an expression."""
    spread: list[tuple[int, list[int]]] = []
    for place, option in line.values.items():
        run = list[int]()
        while place + 1 + len(run) in line.others[1:] or (place + 1 + len(run) in line.others and not line.text):
            run.append(place + 1 + len(run))
        if run and line.kinds[option] in (
            *OF_VALUES,
            *OF_TEXTS,
            OptionKind.VARIABLES,
            OptionKind.RANGES,
            OptionKind.WORD,
        ):
            spread.append((place, run))
    for sign in (",", " "):
        words = list(line.words)
        if any(_COMPARED.search(line.words[n]) for _, run in spread for n in run):
            return
        for place, run in reversed(spread):
            parts = [word.strip(",") if sign == "," else word for word in words[place : place + 1 + len(run)]]
            words[place : place + 1 + len(run)] = [sign.join(filter(None, parts))]
        if spread:
            yield tuple(words)
    for place, run in spread:
        numbers = [line.words[n].strip(",") for n in (place, *run)]
        if len(numbers) == len(line.variables) > 1 and all(map(NUMBER.fullmatch, numbers)):
            for order in orders_of(line.variables):
                each = [word for pair in zip(order, numbers, strict=True) for word in ("--at", "=".join(pair))]
                yield line.put(place - 1, 2 + len(run), *each)


def _several_expressions(line: TypedLine) -> Iterator[Words]:
    """Join words into one expression, into statements, or into a list."""
    whole = [line.words[n] for n in line.others]
    if len(whole) < 2 or [*line.others] != [*range(line.others[0], line.others[-1] + 1)]:
        return
    is_statements = all("=" in word for word in whole)
    if is_statements or all(map(_is_parted, whole, whole[1:])):
        yield line.put(line.others[0], len(whole), ("; " if is_statements else " ").join(whole))
    is_list = line.command == "jacobian" and all(re.search(NAME, one) for one in whole)
    if is_list or all("(" in word for word in whole):
        yield line.put(line.others[0], len(whole), f"[{', '.join(word.strip(',') for word in whole)}]")


def _one_expression(line: TypedLine) -> Iterator[Words]:
    """Join all words that are neither options nor values into one expression."""
    first, *rest = line.others or (0,)
    if not rest or stands_alone(line.command):
        return
    if all(line.words[n].strip() and not os.path.exists(line.words[n]) for n in rest):
        whole = " ".join(line.words[n] for n in line.others)
        yield tuple(whole if n == first else word for n, word in enumerate(line.words) if n not in rest)


def _is_parted(before: str, after: str) -> bool:
    """Tell whether two words are one expression that the shell parted: at an operator, or after a function's name."""
    from gradcli.language.ops import find

    return before[-1:] in _OPERATORS or after[:1] in _OPERATORS or find(before) is not None


def _words_after(line: TypedLine) -> Iterator[Words]:
    """Write options before words after the expression: a point, ranges, variables, a claim, files."""
    if len(line.others) < 2 or stands_alone(line.command):
        return
    first, *others = line.others
    words = [line.words[n] for n in others]
    rest = tuple(line.without(*others))
    is_point = words[0].lower() in ("at", "-a", "where", "when", "for", "@")
    points = words[1:] if is_point else words
    if points and all(map(_ASSIGNED.fullmatch, points)):
        yield (*rest, *(word for one in points for word in ("--at", re.sub(r"\s*(:=|->|==|:)\s*", "=", one, count=1))))
    if points and all(map(NUMBER.fullmatch, points)) and "--at" not in line.flags.values():
        if "--in" in line.kinds and len(points) == 2 and "--v" not in line.kinds:
            yield (*rest, "--in", "..".join(points))
        if "--v" in line.kinds and len(points) == 2:
            yield (*rest, "--at", points[0], "--v", points[1])
        yield (*rest, "--at", ",".join(points))
    if all(".." in word for word in words):
        yield (*rest, *(word for one in words for word in ("--in", one)))
    ends = [word.split(":") for word in words] if "--in" in line.kinds else []
    if ends and all(len(one) == 2 and all(map(NUMBER.fullmatch, one)) for one in ends):
        yield (*rest, *(word for one in ends for word in ("--in", "..".join(one))))
    if {*",".join(words).split(",")} <= {*line.variables}:
        yield (*rest, "--wrt", ",".join(words))
    claims = [word for word in words if word not in ("=", "==", "is")]
    if len(claims) == 1 and "--claim" in line.kinds and not claims[0].startswith("-"):
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


def _as_euler(line: TypedLine, error: GradcliError) -> Iterator[Words]:
    """Write E for e, where e alone lacks a value, or stands under a variable exponent."""
    said = error.text.message
    is_missing = lacks_euler(error) or said.startswith("'e' with a variable exponent")
    if is_missing and line.others:
        yield with_euler(line)


def with_euler(line: TypedLine) -> Words:
    """Write E for e in the expression of a line."""
    return line.put(line.others[0], 1, euler_in(line.text))


def euler_in(text: str) -> str:
    """Write E for e in an expression.

    >>> euler_in("e^x*exp(e) - 2e-3*e1")
    'E^x*exp(E) - 2e-3*e1'
    """
    after_digit = r"(?<=[\d⁰¹²³⁴⁵⁶⁷⁸⁹])e(?=\s*(?:\^|\*\*))"  # 2e^x, and not 2e-3
    return re.sub(rf"(?<![\w.])e(?![\w.(])|{after_digit}", "E", text)


def lacks_euler(error: GradcliError) -> bool:
    """Tell whether e alone lacks a value, which may be Euler's number."""
    return isinstance(error, MissingValueError) and error.text.message.split(":")[0] == "no value for the variable 'e'"


def _texts(line: TypedLine, error: GradcliError) -> Iterator[SpelledGroup[Words]]:
    """Give the spellings of the texts of a line by its error, a group for each row."""
    of_texts = (n for n, one in line.values.items() if line.kinds[one] in OF_TEXTS and n not in line.flags)
    for place in (*line.others[:1], *of_texts):
        name = LABELLED.match(line.words[place]) if place not in line.others else None
        label = name[0] if name else ""
        for group in respelled(line.words[place].removeprefix(label), error):
            yield SpelledGroup([line.put(place, 1, f"{label}{one}") for one in group.spelled], group.is_sure)


def _files(line: TypedLine) -> Iterator[Words]:
    """Read the text of a file, which is no code."""
    path = line.text.removeprefix("@")
    is_text = os.path.isfile(path) and not path.endswith((".py", ".pyw", ".ipynb"))
    if line.others and is_text and not stands_alone(line.command):
        yield line.put(line.others[0], 1, f"@{path}")


def _other_derivatives(line: TypedLine, error: GradcliError) -> Iterator[Words]:
    """Ask for the derivative that y and the vectors of a line have."""
    if isinstance(error, SeveralElementsError):
        yield from values_of_parts(line)
        if written := factors_of_numbers(line):
            yield line.put(line.others[0], 1, written)
        if line.command in ("grad", DERIVATIVE):
            yield line.named("jacobian")
        yield line.put(line.others[0], 1, f"sum({line.text})")
    if isinstance(error, LossElementsError):
        for place in (n for n, option in line.values.items() if option == "--loss" and n not in line.flags):
            yield from (line.put(place, 1, f"{name}({line.words[place]})") for name in ("sum", "mean"))
    if isinstance(error, MissingVectorError):
        yield (*line.words, "--v", "ones")
        yield line.named("jacobian")
    for own, other, command in (("--v", "--u", "vjp"), ("--u", "--v", "jvp")):
        if own in line.words and own not in line.kinds and other in line.kinds:
            yield line.put(line.words.index(own), 1, other)
            yield line.named(command)


def _joined(line: TypedLine) -> Iterator[Words]:
    """Part a name into those that have a value, `x_1x_2` into x_1*x_2; all of it may divide, `a/bc`."""
    given = {*values_by_name(line)}
    for name in line.variables if given else ():
        parts = name_parts(name)
        if len(parts) > 1 and {*parts} <= given and name not in given:
            spelled, product = re.compile(rf"(?<![\w.]){name}(?!\w)"), "*".join(parts)
            if re.search(rf"/\s*{name}(?!\w)", line.text):
                yield line.put(line.others[0], 1, spelled.sub(f"({product})", line.text))
            yield line.put(line.others[0], 1, spelled.sub(product, line.text))


def _function_alone(line: TypedLine, error: GradcliError) -> Iterator[SpelledGroup[Words]]:
    """Write the argument of a function whose name stands alone, `grad gelu`; in a range where it needs one."""
    if isinstance(error, UncalledFunctionError) and line.others and line.text.isidentifier():
        called = line.put(line.others[0], 1, f"{line.text}(x)")
        yield SpelledGroup([called])
        if "--in" in line.kinds and not {"--at", "--in"} & {*line.flags.values()}:
            yield SpelledGroup([(*called, "--in", "x=-1..1")])


def _of_lower_order(line: TypedLine, error: GradcliError) -> Iterator[Words]:
    """Ask for the second derivative of a formula, where a higher one of the function is asked for, or stated."""
    from gradcli.cli.suggestions.respelled_orders import (  # which hardly any line needs
        by_second_ones,
        stated_of_formula,
    )

    is_stated = isinstance(error, ThirdDerivativeError)
    yield from stated_of_formula(line, error) if is_stated else by_second_ones(line)


def _in_order(line: TypedLine, error: GradcliError) -> Iterator[Words]:
    """Put a statement before those that use what it computes."""
    statements = [one.strip() for one in line.text.split(";") if one.strip()]
    assigned = [one.partition("=")[0].strip() for one in statements]
    if not isinstance(error, MissingValueError) or len({*assigned}) < len(statements):
        return
    ordered = list[str]()
    while rest := [one for one in statements if one not in ordered]:
        missing = {assigned[statements.index(one)] for one in rest}
        ready = [one for one in rest if not missing & {*re.findall(NAME, one.partition("=")[2])}]
        if not ready:
            return
        ordered.append(ready[0])
    yield line.put(line.others[0], 1, "; ".join(ordered))


def _names_of_pages(line: TypedLine, error: GradcliError) -> Iterator[Words]:
    """Write the function, or the page of the guide, that a word means."""
    from gradcli import guide
    from gradcli.language.ops import names

    known = list(names()) if line.command == "functions" else list(guide.PAGES) if line.command == "guide" else []
    if known and line.others:
        word = "".join(line.words[n] for n in line.others).replace(" ", "").lower()
        close = [word] if word in known else get_close_matches(word, known, 1, 0.75)
        yield from ((line.command, name) for name in close)


def _of_command(line: TypedLine, error: GradcliError) -> Iterator[SpelledGroup[Words]]:
    """Generate what the command of a line knows to be meant by it."""
    command = all_commands().get(line.command)
    if command is not None and command.respelled:
        yield from resolve_name(command.respelled)(line, error)


def respelled_lines(words: Words, error: GradcliError) -> Iterator[SpelledGroup[Words]]:
    """Generate other command lines that may be meant, in groups, the likeliest first."""
    line = typed_line(words)
    code = {words[n] for n, flag in line.values.items() if flag in ("-c", "--command")}
    if line.command == "guide":  # whose words are looked up, and mean no other command
        for group in _lines(line, error):
            yield SpelledGroup([one for one in group.spelled if one[:1] == ("guide",)], group.is_sure)
    elif not code:
        yield from _lines(line, error)
    elif isinstance(error, UsageError):  # and no error of the code, which is never respelled
        for group in _lines(line, error):
            yield SpelledGroup([one for one in group.spelled if code <= {*one}], group.is_sure)


def _lines(line: TypedLine, error: GradcliError) -> Iterator[SpelledGroup[Words]]:
    """Generate other command lines, by the kind of an error."""
    if isinstance(error, InfiniteRangeError):  # nothing else mends that
        yield from _of_command(line, error)
        yield SpelledGroup(finite_ranges(line))
    elif isinstance(error, (HigherDerivativeError, ThirdDerivativeError)):
        yield SpelledGroup(_of_lower_order(line, error))
    elif on_ranges := [*derivatives_on_ranges(line)]:
        yield SpelledGroup(on_ranges)  # and none that a script is, or that asks of points
    else:
        yield from _other_lines(line, error)


def _other_lines(line: TypedLine, error: GradcliError) -> Iterator[SpelledGroup[Words]]:
    """Generate other command lines for an error that several spellings may mend."""
    yield from map(SpelledGroup, (_files(line), options_after_words(line) if isinstance(error, UsageError) else ()))
    yield SpelledGroup(_as_euler(line, error), is_sure=True)
    yield in_c(line)
    yield SpelledGroup(_questions_in_words(line), is_sure=not is_near(" ".join(line.words[n] for n in line.others)))
    first = line.words[0].lower() if line.words else ""
    is_answer = first not in all_commands() or all_commands()[first].is_on_function or first in PAGES
    yield SpelledGroup(_commands_in_other_letters(line), is_sure=is_answer)  # and runs no script
    yield from map(SpelledGroup, (_commands(line), _questions_for_the_guide(line)))
    for command in all_commands().values():
        if command.respelled:
            yield from resolve_name(command.respelled)(line, error)
    yield SpelledGroup(sums_without_brackets(line))
    yield SpelledGroup(products_of_given(line, error), is_sure=True)
    yield from map(
        SpelledGroup,
        (
            elements_by_subscripts(line, error),
            _equations(line),
            on_paper(line, error),
            matrices_inside(line, error),
            decimal_commas(line, error),
        ),
    )
    yield SpelledGroup(_other_derivatives(line, error))
    yield from _function_alone(line, error)
    yield from map(SpelledGroup, (_joined(line), _in_order(line, error), _names_of_pages(line, error)))
    yield from map(SpelledGroup, ([*commands_as_options(line), *verbose_questions(line)], random_values(line)))
    yield from (SpelledGroup(ranges_by_ends(line), is_sure=True), SpelledGroup(differences_proved(line)))
    yield from (SpelledGroup(options_by_other_names(line, is_sure=sure), is_sure=sure) for sure in (True, False))
    yield SpelledGroup(misspelt_options(line))
    yield SpelledGroup(dashes(line), is_sure=True)
    yield from (SpelledGroup(ranges_in_words(line), is_sure=True), SpelledGroup(misspelt_ranges(line)))
    yield SpelledGroup(values_in_words(line), is_sure=True)
    yield SpelledGroup(_words_after(line), is_sure=True)
    parted = [*_parted_by_the_shell(line)]
    yield SpelledGroup(parted, is_sure=bool(parted) and len(line.variables) <= 1)
    if error.place is not None and error.place.source == "EXPR":
        yield from _texts(line, error)
    in_order = [*values_in_order(line)]
    is_one_word = len(line.others) == 1  # and not --at 1 2
    yield SpelledGroup(in_order, is_sure=bool(in_order) and is_one_word and is_alphabetical(line))
    yield SpelledGroup(names_of_text(line), is_sure=True)
    yield SpelledGroup(named_values(line, error), is_sure=True)
    yield SpelledGroup(symbolic_directions(line), is_sure=True)
    yield SpelledGroup(statements_in_words(line), is_sure=True)
    yield SpelledGroup(other_values(line, error))
    yield from values_of_others(line)
    yield SpelledGroup(values_with_units(line))
    yield from spelled_values(line, error)
    are_options = any(re.match(r"-[A-Za-z]", line.words[n]) for n in line.others[1:])
    yield SpelledGroup(_several_expressions(line), is_sure=not are_options)
    yield SpelledGroup(lines_of_hint(line, error))
    if error.place is None or error.place.source != "EXPR":
        yield from _texts(line, error)
    yield SpelledGroup(arguments_as_options(line))
    yield SpelledGroup(_one_expression(line))

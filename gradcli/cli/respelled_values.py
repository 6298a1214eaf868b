"""Values of options that cannot be read, and what may be meant: points, ranges, statements, words, signs."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from gradcli.cli.options import OptionKind
from gradcli.cli.output import OTHER_PICTURES
from gradcli.cli.respelled_options import choices_of
from gradcli.cli.typed_line import TypedLine, Words
from gradcli.errors import GradcliError
from gradcli.language.spelled_texts import respelled
from gradcli.language.spellings import VALUES
from gradcli.language.text.signs import parted
from gradcli.language.units import in_si
from gradcli.registry import formats, pictures
from gradcli.trial import SpelledGroup

OF_VALUES = (OptionKind.INPUTS, OptionKind.VALUES, OptionKind.DIRECTIONS, OptionKind.VECTOR)
OF_TEXTS = (OptionKind.TEXT, OptionKind.TEXTS)
LABELLED = re.compile(r"\s*[^\W\d]\w*\s*=(?!=)")
NUMBER = re.compile(r"[-+\[(]*(?:[.\d]|pi\b|inf\b|nan\b)[-+\d.,eE\[\]()/*piπ]*")
NAME = re.compile(r"[^\W\d]\w*")
_PARTS = re.compile(
    r"\s*([^\W\d]\w*)\s*(?:==|=|:=|:|->|\bis\b)\s*((?:\[[^\[\]]*\]|[^\s,;\[])(?:[^\s,;=:]*(?:,(?=[-+.\d]))?)*)"
)
"""The `x: 1` of `{x: 1, y: 2}` and the `x=1` of `x=1 y=2`."""


class TypedValue(NamedTuple):
    """A value of an option, as typed.

    Attributes:
        option: The name of the option.
        typed: The value.
        kind: Of the option.
        place: Of the first word of both.
        words: The number of words of both.
        put: Writes other values of the option in its place.
    """

    option: str
    typed: str
    kind: OptionKind
    place: int
    words: int
    put: Callable[..., Words]


def typed_values(line: TypedLine) -> Iterator[TypedValue]:
    """Generate the values of the options of a line."""
    for place, option in line.values.items():
        attached = line.flags.get(place, "")
        typed = line.words[place].removeprefix(f"{attached}=") if attached else line.words[place]
        back = 0 if attached else 1

        def put(*values: str, option: str = option, first: int = place - back, count: int = 1 + back) -> Words:
            return line.put(first, count, *(word for value in values for word in (option, value)))

        yield TypedValue(option, typed, line.kinds[option], place - back, 1 + back, put)


def values_in_order(line: TypedLine) -> Iterator[Words]:
    """Give the numbers of a value to the variables, in their order; `xy` is x*y where x and y get one each."""
    for option, typed, _, _, _, put in typed_values(line):
        parts = parts_of(typed)
        if option == "--u" and not {*line.variables} <= _given_one_number(line):
            continue
        if option not in ("--at", "--u") or len(parts) < 2 or not all(map(_is_number, parts)):
            continue
        names = line.variables
        letters = tuple(name for name in names if len(name) == 1)
        if len(parts) < len(names) and {*"".join(names)} == {*letters}:
            names = letters
        if len(parts) == len(names):
            yield put(*map("=".join, zip(names, parts, strict=True)))


def name_parts(name: str) -> list[str]:
    """List the letters of a name, with the digits after them, of which it may be the product; none of another name.

    >>> name_parts("xy"), name_parts("x_1x_2"), name_parts("a__")
    (['x', 'y'], ['x_1', 'x_2'], [])
    """
    found = re.findall(r"[^\W\d_](?:_?\d+|[₀₁₂₃₄₅₆₇₈₉]+)?", name)
    return found if "".join(found) == name else []


def values_of_parts(line: TypedLine) -> Iterator[Words]:
    """Give the numbers of a value to the letters of joined names, `--at 1,2` of `xy` and `--at 1,2,3` of `a/bc`."""
    for option, typed, _, _, _, put in typed_values(line):
        numbers = parts_of(typed)
        if option == "--at" and len(numbers) > 1 and all(map(NUMBER.fullmatch, numbers)):
            letters = [part for name in line.variables for part in name_parts(name)]
            if len({*letters}) == len(letters) == len(numbers) > len(line.variables):
                yield put(*map("=".join, zip(letters, numbers, strict=True)))


def parts_of(typed: str) -> list[str]:
    """Part values at commas, semicolons and blanks outside of brackets.

    >>> parts_of("(1, sqrt(2))"), parts_of("1 2"), parts_of("[1; 2]")
    (['1', 'sqrt(2)'], ['1', '2'], ['1', '2'])
    """
    typed = typed.strip()
    inside = typed[1:-1] if typed[:1] + typed[-1:] in ("[]", "()", "{}") else typed
    return parted(re.sub(r"[,;\s]+", ",", inside.strip()))


def _is_number(part: str) -> bool:
    """Tell whether a part of a value is a number, or made of numbers alone: `sqrt(2)/2`."""
    signs = re.sub(r"(?<![a-zA-Z])(?:sqrt|exp|log|ln|sin|cos|tan|pi|inf|nan)(?![a-zA-Z])|[π√°\d]", "1", part)
    return NUMBER.fullmatch(part) is not None or re.fullmatch(r"[-+1.eE()*/^\s]*1[-+1.eE()*/^\s]*", signs) is not None


def values_by_name(line: TypedLine) -> dict[str, str]:
    """Return the values of the variables of a line, by the names that they are given by."""
    pairs = (one.typed.partition("=") for one in typed_values(line) if one.kind is OptionKind.INPUTS)
    return {name.strip(): value.strip() for name, equals, value in pairs if equals}


def _given_one_number(line: TypedLine) -> set[str]:
    """Name the variables that have a number each: as many values of u are one for each of them."""
    given = values_by_name(line).items()
    return {name for name, value in given if NUMBER.fullmatch(value) and len(parts_of(value)) == 1}


def is_alphabetical(line: TypedLine) -> bool:
    """Tell whether the variables stand in the text in the order of their names, so that (1, 2) is x and y."""
    return [*line.variables] == sorted(line.variables)


def named_values(line: TypedLine, error: GradcliError) -> Iterator[Words]:
    """Give each variable a value of its own, and write the names of files with @."""
    for option, typed, kind, place, count, put in typed_values(line):
        if kind in (*OF_VALUES, OptionKind.VECTOR) and os.path.isfile(typed.partition("=")[2] or typed):
            name, equals, path = typed.rpartition("=")
            yield put(f"{name}{equals}@{path}")
        if option == "--at":
            yield from _of_each_variable(typed, put)
            if "has no such variable" in error.text.message and (other := _in_greek(typed, line.text)):
                yield put(other)
        if kind is OptionKind.VARIABLES and {*(names := re.findall(r"\w+", typed))} - {"and"} <= {*line.variables}:
            yield put(",".join(name for name in names if name != "and"))
        is_of_columns = "a value alone names no variable" in error.text.message and typed.endswith((".csv", ".tsv"))
        if option == "--at" and typed.startswith("@") and ("holds an object" in error.text.message or is_of_columns):
            yield put(*(f"{name}={typed}:{name}" for name in line.variables))
        stated = re.match(r"\s*([^\W\d]\w*)\s*(?:->|==|:=|:|\bis\b)\s*(.+)", typed, re.DOTALL)
        if kind in OF_VALUES and stated is not None and stated[1] in line.variables:
            yield put(f"{stated[1]}={stated[2]}")
        if kind is OptionKind.RANGES:
            yield put(_as_range(typed))
        if kind is OptionKind.CHOICE and typed not in choices_of(line.command, option):
            yield put(_SAME_WORDS.get(typed.lower(), typed.lower()))
        if option in ("-o", "--output") and typed in formats():
            yield line.put(place, count, "--format", typed)


def _in_greek(typed: str, text: str) -> str:
    """Name a Greek letter as a text has it, in `sigma=2`; empty where the text has no such letter.

    >>> _in_greek("sigma=2", "σ(x)"), _in_greek("sigma=2", r"\\sigma(x)"), _in_greek("x=2", "σ(x)")
    ('σ=2', 'σ=2', '')
    """
    name, _, value = map(str.strip, typed.partition("="))
    letter = next((one for one in _GREEK if unicodedata.name(one) == f"GREEK SMALL LETTER {name.upper()}"), "")
    return f"{letter}={value}" if letter and (letter in text or f"\\{name}" in text) else ""


_GREEK = tuple(map(chr, range(0x3B1, 0x3CA)))

_BETWEEN = re.compile(
    rf"\s*(?P<low>[^<>≤≥]+?)\s*(?:<=?|≤)\s*(?P<name>{NAME.pattern})\s*(?:<=?|≤)\s*(?P<high>[^<>≤≥]+?)\s*"
)
"""A range as inequalities, `0 <= x <= 5`."""

_INTERVAL = re.compile(
    rf"\s*(?:(?P<name>{NAME.pattern})\s*(?:=|:|∈|\bin\b)\s*)?[\[(]\s*(?P<low>[^\[\](),;]+?)\s*[,;]\s*(?P<high>[^\[\](),;]+?)\s*[\])]\s*"
)
"""A range as an interval, `x in [0, 5]`."""


def _as_range(typed: str) -> str:
    """Write a range with two dots between its ends.

    >>> _as_range("0<=x<=5"), _as_range("x in [0, 5]"), _as_range("[0,pi]"), _as_range("x=0:5")
    ('x=0..5', 'x=0..5', '0..pi', 'x=0..5')
    """
    if (found := _BETWEEN.fullmatch(typed) or _INTERVAL.fullmatch(typed)) is not None:
        return (
            f"{found['name']}={found['low']}..{found['high']}" if found["name"] else f"{found['low']}..{found['high']}"
        )
    return re.sub(r"\s*(?:,|:|;|\bto\b|…)\s*", "..", typed)


def symbolic_directions(line: TypedLine) -> Iterator[Words]:
    """Leave out a vector that is a letter only, `--u x=u`, where no values are given: the formula has it."""
    if {"--at", "--points"} & {*line.flags.values(), *line.values.values()}:
        return
    for option, typed, kind, place, count, _ in typed_values(line):
        is_name = re.fullmatch(rf"(?:{NAME.pattern}\s*=\s*)?[a-zA-Z]", typed.strip()) is not None
        if kind in (OptionKind.DIRECTIONS, OptionKind.VECTOR, OptionKind.VALUES) and option != "--at" and is_name:
            yield line.put(place, count)


_STATEMENTS = {
    "increasing": "d{y}/d{x} >= 0", "nondecreasing": "d{y}/d{x} >= 0", "strictly increasing": "d{y}/d{x} > 0",
    "decreasing": "d{y}/d{x} <= 0", "nonincreasing": "d{y}/d{x} <= 0", "strictly decreasing": "d{y}/d{x} < 0",
    "monotonically increasing": "d{y}/d{x} >= 0", "monotonically decreasing": "d{y}/d{x} <= 0",
    "positive": "{y} > 0", "negative": "{y} < 0", "nonnegative": "{y} >= 0", "non-negative": "{y} >= 0",
    "nonpositive": "{y} <= 0", "non-positive": "{y} <= 0",
}  # fmt: skip
"""Words for statements of a function of one variable."""


def statements_in_words(line: TypedLine) -> Iterator[Words]:
    """Write what `--prove decreasing` says of the derivative, and `--prove positive` of the value."""
    for option, typed, _, _, _, put in typed_values(line):
        if option != "--prove":
            continue
        y = "f" if "y" in line.variables else "y"
        stated = _STATEMENTS.get(" ".join(typed.lower().split()), "")
        if len(line.variables) == 1:
            x = line.variables[0]
            spelled = re.sub(rf"\b(?:y|f|g|h)['′](?:\({x}\))?(?!\w)", f"d{y}/d{x}", typed)
            yield put(re.sub(rf"\b(?:f|g|h|y)\({x}\)", y, spelled))
        if stated and ("{x}" not in stated or len(line.variables) == 1):
            yield put(stated.format(y=y, x=line.variables[0] if line.variables else ""))


def other_values(line: TypedLine, error: GradcliError) -> Iterator[Words]:
    """Give a value to another variable, and take a near word for one that an option does not take."""
    yield from values_of_parts(line)
    yield from finite_ranges(line)
    for option, typed, kind, place, count, put in typed_values(line):
        is_unknown = "has no such variable" in error.text.message and not _in_greek(typed, line.text)
        if option == "--at" and is_unknown and len(line.variables) == 1:
            yield put(f"{line.variables[0]}={typed.partition('=')[2] or typed}")
        if kind is OptionKind.TEXTS and "names no variable" in error.text.message and not LABELLED.match(typed):
            yield from (put(f"{name}={typed}") for name in line.variables)
        if kind is OptionKind.CHOICE and typed not in (choices := choices_of(line.command, option)):
            yield from (put(one) for one in _other_choices(typed, choices))
        stem, suffix = os.path.splitext(typed)
        if option in ("-o", "--output") and "the suffix says what to write" in error.text.message:
            drawn = [one for one in OTHER_PICTURES.get(suffix.lower(), ()) if one in pictures(line.command)]
            yield from (line.put(place, count, option, f"{stem}.{one}") for one in drawn)
        if option == "--v" and kind is OptionKind.VECTOR and (name := LABELLED.match(typed)) is not None:
            is_alone = [*line.values.values()].count("--v") == 1  # y has one v, whichever variable is asked for
            yield from [put(typed[name.end() :].strip())] if is_alone else []
        elif kind in (OptionKind.DIRECTIONS, OptionKind.VECTOR, OptionKind.VALUES) and option == "--v":
            yield from ((put(other) if other else line.named("jacobian")) for other in _other_vectors(typed))


_INFINITE = re.compile(r"(?P<sign>[-+]?)\s*(?:\w+\.)?(?:inf(?:inity)?|oo|∞)", re.IGNORECASE)


def finite_ranges(line: TypedLine, *, is_picture: bool = False) -> Iterator[Words]:
    """Give each range to infinity numbers for ends: nearly all of it, of which a picture shows nothing, or a part."""
    for one in typed_values(line):
        if one.kind is OptionKind.RANGES and _INFINITE.search(one.typed) is not None:
            yield from map(one.put, _finite_ranges(one.typed, is_picture=is_picture))


def _finite_ranges(typed: str, *, is_picture: bool) -> Iterator[str]:
    """Write a range to infinity with numbers: nearly all of it, of which a picture shows nothing, and a part.

    >>> [*_finite_ranges("x=1..inf", is_picture=False)], [*_finite_ranges("-oo..oo", is_picture=True)]
    (['x=1..1e300', 'x=1..10'], ['-10..10'])
    """
    numbers = [abs(float(one)) for one in re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?:[eE][-+]?\d+)?", typed)]
    for most in (["1e300"] * (not is_picture)) + [f"{10 * max([1.0, *numbers]):g}"]:
        yield _INFINITE.sub(lambda found, most=most: found["sign"].strip("+") + most, typed)  # type: ignore[misc]


_COMMA = re.compile(r"(?<![\d,])(?<!\d\.)([-+]?\d*),(\d+)(?![\d,]|\.\d)")
_OF_ONE_NUMBER = (OptionKind.NUMBER, OptionKind.RANGES, OptionKind.VALUES, OptionKind.TEXTS)


def decimal_commas(line: TypedLine, error: GradcliError) -> Iterator[Words]:
    """Write a decimal point in numbers such as `--expect 0,25`, and in `--in x=0,5..1,5`, where one number is wanted.

    A value after `--at` has a remark instead, as it may be two numbers.
    """
    is_shape = re.search(r"shape \(2,\)|no range that is drawn", error.text.message) is not None
    words, is_changed = list(line.words), False
    for place, option in line.values.items():
        kind, attached = line.kinds[option], f"{line.flags[place]}=" if place in line.flags else ""
        name, equals, value = line.words[place].removeprefix(attached).rpartition("=")
        if kind not in _OF_ONE_NUMBER or option == "--at" or not (is_shape or kind is OptionKind.NUMBER):
            continue
        if re.fullmatch(r"[-+.,\deE\s]+", value) and (spelled := _COMMA.sub(r"\1.\2", value)) != value:
            words[place], is_changed = f"{attached}{name}{equals}{spelled}", True
    yield from [tuple(words)] if is_changed else []


_VECTORS = {"1": "ones", "one": "ones", "random": "randn", "y": "y", "eye": "", "I": "", "identity": ""}


def _other_vectors(typed: str) -> Iterator[str]:
    if typed in _VECTORS:
        yield _VECTORS[typed]
    elif re.fullmatch(r"(?:torch\.|np\.)?ones(?:_like)?\([^()]*\)", typed):
        yield "ones"


def values_of_others(line: TypedLine) -> Iterator[SpelledGroup[Words]]:
    """Write the number of a variable in the value of another one, `v=0.6*3e8` for `v=0.6c` next to `c=3e8`.

    What may be a unit as well, `h=10m` next to `m=2`, is a guess, with the other one beside it.
    """
    known = {name: value for name, value in values_by_name(line).items() if _REAL.fullmatch(value)}
    words, is_unit = list(line.words), False
    for place, option in line.values.items():
        name, equals, value = words[place].rpartition("=")
        others = {*NAME.findall(re.sub(r"[\d.]+[eE][-+]?\d+", "", value)), *_NAME_AFTER.findall(value)} & {*known}
        if line.kinds[option] is OptionKind.INPUTS and equals and others - {name.strip()}:
            sign = re.compile(rf"(?<![a-zA-Z_])(\d[\d.]*)?\s*({'|'.join(map(re.escape, others))})(?!\w)")
            spelled = sign.sub(lambda one: f"{one[1]}*{known[one[2]]}" if one[1] else known[one[2]], value)
            words[place] = f"{name}{equals}{spelled}"
            is_unit = is_unit or in_si(value) is not None
    if tuple(words) != line.words:
        yield SpelledGroup([tuple(words), *(values_with_units(line) if is_unit else ())], is_sure=not is_unit)


_REAL = re.compile(r"\s*\d[\d.]*(?:[eE][-+]?\d+)?\s*")
_NAME_AFTER = re.compile(r"(?<=[\d.])[^\W\d]\w*")
"""The c of `0.6c`, a name directly after a number."""


def values_with_units(line: TypedLine) -> Iterator[Words]:
    """Write all values that have a unit as numbers of the SI at once."""
    words = list(line.words)
    for place, option in line.values.items():
        if line.kinds[option] in OF_VALUES:
            name, equals, value = words[place].rpartition("=")
            words[place] = f"{name}{equals}{in_si(value) or value}"
    if tuple(words) != line.words:
        yield tuple(words)


def spelled_values(line: TypedLine, error: GradcliError) -> Iterator[SpelledGroup[Words]]:
    """Give the spellings of the values of a line, a group for each row."""
    for place, option in line.values.items():
        if line.kinds[option] not in OF_VALUES:
            continue
        attached = f"{line.flags[place]}=" if place in line.flags else ""
        typed = line.words[place].removeprefix(attached)
        name, equals, value = typed.partition("=") if LABELLED.match(typed) else ("", "", typed)
        used = {one for one in NAME.findall(value) if not re.fullmatch(r"[dD]\d+", one)} & {*line.variables}
        for group in respelled(value, error, VALUES):
            # 0.6c is no length where c is a variable
            kept = [one for one in group.spelled if used <= {*NAME.findall(one)}]
            lines = [line.put(place, 1, f"{attached}{name}{equals}{one}") for one in kept]
            yield SpelledGroup(lines, group.is_sure)


_SAME_WORDS = {
    "double": "float64", "single": "float32", "f32": "float32", "f64": "float64", "fp32": "float32", "fp64": "float64",
    "torch.float32": "float32", "torch.float64": "float64", "torch.double": "float64", "np.float32": "float32",
    "np.float64": "float64", "md": "markdown", "pytorch": "torch", "tex": "latex", "np": "numpy", "ndjson": "jsonl",
}  # fmt: skip
"""Words that say the same as one that an option takes."""

_WORDS = _SAME_WORDS | {
    "gpu": "cuda", "cuda:0": "cuda", "float": "float32", "python": "torch numpy", "py": "torch numpy",
    "yaml": "json", "xml": "html", "txt": "plain", "plain": "csv", "text": "plain",
}  # fmt: skip
"""Words for those that an option takes, or for what is nearest."""


def _other_choices(word: str, choices: Sequence[str]) -> Iterator[str]:
    plain = word.lower().removeprefix("torch.").removeprefix("np.")
    yield from _WORDS.get(plain, plain).split()
    digits = re.sub(r"\D", "", plain)  # float16 is not a misspelt float64
    yield from get_close_matches(plain, [one for one in choices if re.sub(r"\D", "", one) == digits], 1, 0.7)


_HALF = ("float16", "bfloat16", "half", "fp16", "bf16", "f16")
"""Names of the types of 16 bits."""


def choice_meant(line: TypedLine) -> str | None:
    """Name the words that may be meant by one that an option does not take, `--to python`; None without any."""
    for option, typed, kind, *_ in typed_values(line):
        if kind is OptionKind.CHOICE and typed not in (choices := choices_of(line.command, option)):
            if option == "--dtype" and typed.lower().removeprefix("torch.") in _HALF:
                return f"write {option} float32; gradcli guide float16 says what is computed in 16 bits"
            meant = [one for one in _other_choices(typed, choices) if one in choices]
            return f"write {', or '.join(f'{option} {one}' for one in meant)}" if meant else None
    return None


def _of_each_variable(typed: str, put: Callable[..., Words]) -> Iterator[Words]:
    """Give each variable its value, of `{x: 1, y: 2}` and `x=1 y=2` by name."""
    typed = re.sub(r"['\"]|^\s*dict\(|\)\s*$", "", typed) if typed.lstrip().startswith(("{", "dict(")) else typed
    named = _PARTS.findall(typed.strip("{}<>"))
    if named and "".join(_PARTS.sub("", typed.strip("{}<>")).split()).strip(",;") == "":
        yield put(*(f"{name}={value.strip(',')}" for name, value in named))

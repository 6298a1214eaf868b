"""Values of options that cannot be read, and what may be meant: points, ranges, statements, words, signs."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches

from gradcli.cli.options import OptionKind
from gradcli.cli.output import OTHER_PICTURES
from gradcli.cli.parameters import separate
from gradcli.cli.suggestions.respelled_options import choices_of
from gradcli.cli.suggestions.typed_line import TypedLine, Words
from gradcli.cli.suggestions.typed_ranges import finite_ranges
from gradcli.cli.suggestions.typed_values import LABELLED, OF_TEXTS, OF_VALUES, typed_values, words_next_to
from gradcli.cli.suggestions.written_ranges import NUMBER, dotted_range, is_number, misspelt_range
from gradcli.errors import (
    GradcliError,
    NamelessArrayError,
    NamelessValueError,
    StructuredValueError,
    UnknownSuffixError,
    UnknownVariableError,
)
from gradcli.language.spelled_texts import respelled
from gradcli.language.spellings import VALUES
from gradcli.language.text.greek import LETTERS, in_letters_of
from gradcli.language.text.signs import NAME, parted, unwrapped
from gradcli.language.units import in_si, is_outside_si, without_units
from gradcli.registry import formats, pictures
from gradcli.trial import SpelledGroup

_PARTS = re.compile(
    r"\s*([^\W\d]\w*)\s*(?:==|=|:=|:|->|[→≈∈]|\b(?:is|equals)\b)\s*((?:\[[^\[\]]*\]|[^\s,;\[])(?:[^\s,;=:]*(?:,(?=[-+.\d]))?)*)"
)
"""The `x: 1` of `{x: 1, y: 2}` and the `x=1` of `x=1 y=2`."""


def values_in_words(line: TypedLine) -> Iterator[Words]:
    """Join names and values that the shell parted, `--at x 2`, `--at x = 2` and `--at x 2 y 3`."""
    words, is_named = line.words, False
    for place, option in reversed([*line.values.items()]):
        after = words_next_to(line, place)
        if line.kinds[option] not in OF_VALUES or not after or line.words[place].startswith(option):
            continue
        typed = " ".join(line.words[n] for n in (place, *after))
        if all(NUMBER.fullmatch(part) for part in typed.split()):
            words = (
                *words[:place],
                ",".join(part.strip(",") for part in typed.split()),
                *words[place + 1 + len(after) :],
            )
        elif (named := _named_in_words(typed, line.variables)) is not None:
            is_named = True
            words = (
                *words[: place - 1],
                *(w for one in named for w in (option, one)),
                *words[place + 1 + len(after) :],
            )
        else:
            return
    if is_named:
        yield words


def _named_in_words(typed: str, variables: Sequence[str]) -> list[str] | None:
    """Write names and values that blanks part with = between them; None of what is no such list.

    >>> _named_in_words("x = 2 y 3 4", ["x", "y"]), _named_in_words("2 y 3", ["x", "y"])
    (['x=2', 'y=3,4'], None)
    """
    given: list[tuple[str, list[str]]] = []
    for part in re.findall(r"=|[^\s=]+", typed):
        if part in variables:
            given.append((part, []))
        elif part != "=" and given and part.strip(","):
            given[-1][1].append(part.strip(","))
        elif part != "=" or not given or given[-1][1]:
            return None
    return [f"{name}={','.join(values)}" for name, values in given] if all(one for _, one in given) else None


def values_in_order(line: TypedLine) -> Iterator[Words]:
    """Give the numbers of a value to the variables; `xy` is x*y where x and y get one each.

    Their order is that of `--wrt` or `--at` for `--u`, and else that of the text or of the alphabet: `y/x` at 1, 2 is
    either.
    """
    asked = [parts_of(one.typed) for one in typed_values(line) if one.option == "--wrt"]
    for option, typed, _, _, _, put in typed_values(line):
        parts = parts_of(typed)
        if option not in ("--at", "--u") or len(parts) < 2 or not all(map(is_number, parts)):
            continue
        named = [one for one in values_by_name(line) if one in line.variables] if option == "--u" else []
        names = tuple(asked[0]) if option == "--u" and asked else tuple(named) or line.variables
        if option == "--u" and not {*names} <= _given_one_number(line):
            continue
        letters = tuple(name for name in names if len(name) == 1)
        if len(parts) < len(names) and {*"".join(names)} == {*letters}:
            names = letters
        orders = [names] if option == "--u" else orders_of(names)
        if len(parts) == len(names):
            yield from (put(*map("=".join, zip(order, parts, strict=True))) for order in orders)


def orders_of(names: Sequence[str]) -> list[tuple[str, ...]]:
    """List the orders in which values may be given to variables: that of the text, and that of the alphabet.

    >>> orders_of(["y", "x"]), orders_of(["x", "y"])
    ([('y', 'x'), ('x', 'y')], [('x', 'y')])
    """
    return [*dict.fromkeys([tuple(names), tuple(sorted(names))])]


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


def values_by_name(line: TypedLine) -> dict[str, str]:
    """Return the values of the variables of a line, by the names that they are given by."""
    typed = (part for one in typed_values(line) if one.kind is OptionKind.INPUTS for part in separate(one.typed))
    pairs = (part.partition("=") for part in typed)
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
        if option in ("--at", "--u"):
            yield from _of_each_variable(typed, line.variables, put)
        is_unknown = option == "--at" and isinstance(error, UnknownVariableError)
        if is_unknown and (other := _in_greek(typed, line.text)):
            yield put(other)
        if kind is OptionKind.VARIABLES and {*(names := re.findall(r"\w+", typed))} - {"and"} <= {*line.variables}:
            yield put(",".join(name for name in names if name != "and"))
        is_of_columns = isinstance(error, NamelessArrayError) and typed.endswith((".csv", ".tsv"))
        if option == "--at" and typed.startswith("@") and (isinstance(error, StructuredValueError) or is_of_columns):
            yield put(*(f"{name}={typed}:{name}" for name in line.variables))
        stated = re.match(r"\s*([^\W\d]\w*)\s*(?:->|==|:=|:|[→≈∈]|\b(?:is|equals)\b)\s*(.+)", typed, re.DOTALL)
        if kind in OF_VALUES and stated is not None and stated[1] in line.variables:
            yield put(f"{stated[1]}={stated[2]}")
        if kind is OptionKind.RANGES:
            yield put(dotted_range(typed))
        if option == "--shape" and re.search(r"\d\s*[x×*]\s*\d", typed):
            yield put(re.sub(r"(?<=\d)\s*[x×*]\s*(?=\d)", ",", typed))
        if option == "--at" and ".." in typed and "--in" in line.kinds:
            yield line.put(place, count, "--in", typed)
        if kind is OptionKind.CHOICE and typed not in choices_of(line.command, option):
            yield put(_SAME_WORDS.get(typed.lower(), typed.lower()))
        if option in ("-o", "--output") and typed in formats():
            yield line.put(place, count, "--format", typed)


def names_of_text(line: TypedLine) -> Iterator[Words]:
    """Write the Greek letters in the values of all options as the text has them: `--at theta=2` of `θ^2`."""
    words = list(line.words)
    for place, option in line.values.items():
        if line.kinds[option] in _NAMING:
            attached = f"{line.flags[place]}=" if place in line.flags else ""
            words[place] = attached + in_letters_of(words[place].removeprefix(attached), line.variables)
    if tuple(words) != line.words:
        yield tuple(words)


_NAMING = (*OF_VALUES, *OF_TEXTS, OptionKind.VARIABLES, OptionKind.RANGES)


def _in_greek(typed: str, text: str) -> str:
    """Name a Greek letter as a text has it before parentheses, in `sigma=2`; empty where the text has no such letter.

    >>> _in_greek("sigma=2", "σ(x)"), _in_greek("sigma=2", r"\\sigma(x)"), _in_greek("x=2", "σ(x)")
    ('σ=2', 'σ=2', '')
    """
    name, _, value = map(str.strip, typed.partition("="))
    letter = next((one for one, spelled in LETTERS.items() if spelled == name), "")
    return f"{letter}={value}" if letter and (letter in text or f"\\{name}" in text) else ""


def symbolic_directions(line: TypedLine) -> Iterator[Words]:
    """Leave out a vector that is a letter only, `--u x=u`, where no values are given: the formula has it."""
    if {"--at", "--points"} & {*line.flags.values(), *line.values.values()}:
        return
    for option, typed, kind, place, count, _ in typed_values(line):
        is_name = re.fullmatch(rf"(?:{NAME}\s*=\s*)?[a-zA-Z]", typed.strip()) is not None
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
        if stated and ("{x}" not in stated or len(line.variables) == 1):
            yield put(stated.format(y=y, x=line.variables[0] if line.variables else ""))


def other_values(line: TypedLine, error: GradcliError) -> Iterator[Words]:
    """Give a value to another variable, and take a near word for one that an option does not take."""
    yield from values_of_parts(line)
    yield from finite_ranges(line)
    for option, typed, kind, place, count, put in typed_values(line):
        is_unknown = isinstance(error, UnknownVariableError) and not _in_greek(typed, line.text)
        if option == "--at" and is_unknown and len(line.variables) == 1:
            yield put(f"{line.variables[0]}={typed.partition('=')[2] or typed}")
        if kind is OptionKind.TEXTS and isinstance(error, NamelessValueError) and not LABELLED.match(typed):
            yield from (put(f"{name}={typed}") for name in line.variables)
        if kind is OptionKind.CHOICE and typed not in (choices := choices_of(line.command, option)):
            yield from (put(one) for one in _other_choices(typed, choices))
        if kind is OptionKind.RANGES and (meant := misspelt_range(typed)) is not None:
            yield put(meant)
        stem, suffix = os.path.splitext(typed)
        if option in ("-o", "--output") and isinstance(error, UnknownSuffixError):
            drawn = [one for one in OTHER_PICTURES.get(suffix.lower(), ()) if one in pictures(line.command)]
            yield from (line.put(place, count, option, f"{stem}.{one}") for one in drawn)
        if option == "--v" and kind is OptionKind.VECTOR and (name := LABELLED.match(typed)) is not None:
            is_alone = [*line.values.values()].count("--v") == 1  # y has one v, whichever variable is asked for
            yield from [put(typed[name.end() :].strip())] if is_alone else []
        elif kind in (OptionKind.DIRECTIONS, OptionKind.VECTOR, OptionKind.VALUES) and option == "--v":
            yield from ((put(other) if other else line.named("jacobian")) for other in _other_vectors(typed))


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


def on_decimal_comma(line: TypedLine, error: GradcliError) -> str:
    """Say of a value such as `--at x=0,5` that it is two numbers, where y then has two elements; else nothing."""
    typed = [one.typed.rpartition("=")[2].strip() for one in typed_values(line) if one.option == "--at"]
    found = [value for value in typed if re.fullmatch(r"[-+]?(?:0,\d*[1-9]|\d+,\d{2,})", value)]
    if not found or sum("," in one for one in typed) > 1 or "has shape (2,)" not in error.text.message:
        return ""
    return f"{found[0]} is two numbers, and {found[0].replace(',', '.')} one; "


_VECTORS = {"1": "ones", "one": "ones", "y": "y", "eye": "", "I": "", "identity": ""}


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
        others = {*re.findall(NAME, re.sub(r"[\d.]+[eE][-+]?\d+", "", value)), *_NAME_AFTER.findall(value)} & {*known}
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
    """Write all values that have a unit as numbers of the SI at once, or without their units."""
    words, convert = list(line.words), _unit_conversion(line)
    for place, option in line.values.items():
        if line.kinds[option] in (*OF_VALUES, OptionKind.RANGES):
            name, equals, value = words[place].rpartition("=")
            words[place] = f"{name}{equals}{'..'.join(convert(one) or one for one in value.split('..'))}"
    if tuple(words) != line.words:
        yield tuple(words)


def _unit_conversion(line: TypedLine) -> Callable[[str], str | None]:
    """Choose how values with units are written: a plain number beside a unit outside the SI may be of another system.

    With k_B=8.617e-5, in eV/K, E_a=0.5 eV is 0.5: joules would change the answer.
    """
    values = [
        value
        for n, option in line.values.items()
        if line.kinds[option] in (*OF_VALUES, OptionKind.RANGES)
        for value in line.words[n].rpartition("=")[2].split("..")
    ]
    is_mixed = any(map(is_outside_si, values)) and any(in_si(value) is None for value in values)
    return without_units if is_mixed else in_si


def spelled_values(line: TypedLine, error: GradcliError) -> Iterator[SpelledGroup[Words]]:
    """Give the spellings of the values of a line, a group for each row."""
    convert = _unit_conversion(line)
    for place, option in line.values.items():
        if line.kinds[option] not in OF_VALUES:
            continue
        attached = f"{line.flags[place]}=" if place in line.flags else ""
        typed = line.words[place].removeprefix(attached)
        name, equals, value = typed.partition("=") if LABELLED.match(typed) else ("", "", typed)
        used = {one for one in re.findall(NAME, value) if not re.fullmatch(r"[dD]\d+", one)} & {*line.variables}
        for group in respelled(value, error, VALUES):
            # 0.6c is no length where c is a variable
            kept = [one for one in group.spelled if used <= {*re.findall(NAME, one)}]
            kept = [convert(value) or one if one == in_si(value) else one for one in kept]
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
    "yaml": "json", "toml": "json", "xml": "html", "txt": "plain", "plain": "csv", "text": "plain",
}  # fmt: skip
"""Words for those that an option takes, or for what is nearest."""


def _plain(word: str) -> str:
    return word.lower().removeprefix("torch.").removeprefix("np.")


def _other_choices(word: str, choices: Sequence[str]) -> Iterator[str]:
    plain = _plain(word)
    yield from _WORDS.get(plain, plain).split()
    digits = re.sub(r"\D", "", plain)  # float16 is not a misspelt float64
    yield from get_close_matches(plain, [one for one in choices if re.sub(r"\D", "", one) == digits], 1, 0.7)


_BEYOND_16_BITS = "float32 does not overflow above 65504, as float16 does"
_MORE_DIGITS = "float32 has 24 bits of digits, where bfloat16 has 8"
_HALF = {
    "float16": _BEYOND_16_BITS, "half": _BEYOND_16_BITS, "fp16": _BEYOND_16_BITS, "f16": _BEYOND_16_BITS,
    "bfloat16": _MORE_DIGITS, "bf16": _MORE_DIGITS,
}  # fmt: skip
"""Names of the types of 16 bits, which are another question than those that are judged, and why they are."""
_MOST_CHOICES = 4
"""Most words of an option that a hint lists where none of them is near."""


def choice_meant(line: TypedLine) -> str | None:
    """Name the words that may be meant by one that an option does not take, `--to python`; None without any."""
    for option, typed, kind, *_ in typed_values(line):
        if kind is OptionKind.CHOICE and typed not in (choices := choices_of(line.command, option)):
            if option == "--dtype" and (why := _HALF.get(_plain(typed))):
                return (
                    f"float64 and float32 are judged, and {why}; gradcli guide float16 says what is computed in 16 bits"
                )
            meant = [one for one in _other_choices(typed, choices) if one in choices]
            near = meant or (choices if len(choices) <= _MOST_CHOICES else ())
            return f"write {', or '.join(f'{option} {one}' for one in near)}" if near else None
    return None


_TOGETHER = re.compile(
    rf"\s*(?:at\s+)?[(\[{{]?\s*(?P<names>{NAME}(?:\s*,\s*{NAME})+)\s*[)\]}}]?\s*(?:==|=|:=|:|->|→|\bis\b)\s*"
    r"(?P<values>[^=]+)"
)
"""Values of several variables at once, `(x, y) = (1, 2)`."""

_POINT = re.compile(r"\s*(?P<name>[A-Z])\s*=?\s*(?P<values>\([^()]*,[^()]*\))\s*")
"""A point by its letter, `P(1, 2)`."""

_CHAINED = re.compile(rf"\s*(?P<names>{NAME}(?:\s*={{1,2}}\s*{NAME})+)\s*={{1,2}}\s*(?P<value>[^=]+)")
"""One value of several variables, `x = y = 1`."""

_BLANKS = re.compile(rf"\s*({NAME})\s+([-+]?(?:\d[\d.]*|\.\d+)(?:[eE][-+]?\d+)?)\s*(?:[,;]|and\b|$|(?=\s))")
"""A value after a blank, `x 1`."""


def _of_each_variable(typed: str, variables: Sequence[str], put: Callable[..., Words]) -> Iterator[Words]:
    """Give each variable its value, of `{x: 1, y: 2}`, `x=1 y=2`, `(x, y) = (1, 2)`, `x = y = 1` and `x 1, y 2`."""
    typed = re.sub(rf"^\s*at\s+(?={NAME}\s*[=:])", "", typed)
    if (found := _POINT.fullmatch(typed)) is not None and found["name"] not in variables:
        yield put(found["values"])
    if (found := _TOGETHER.fullmatch(typed)) is not None:
        names, values = parts_of(found["names"]), parts_of(found["values"])
        if len(names) == len(values):
            yield put(*map("=".join, zip(names, values, strict=True)))
    if (found := _CHAINED.fullmatch(typed)) is not None:
        yield put(*(f"{name}={found['value'].strip()}" for name in re.findall(NAME, found["names"])))
    pairs = _BLANKS.findall(typed)
    if pairs and not _BLANKS.sub("", typed).strip() and {name for name, _ in pairs} <= {*variables}:
        yield put(*map("=".join, pairs))
    typed = re.sub(r"['\"]|^\s*dict\(|\)\s*$", "", typed) if typed.lstrip().startswith(("{", "dict(")) else typed
    inside = unwrapped(typed.strip("{}<>[]")) if "=" in typed else typed.strip("{}<>")
    named = _PARTS.findall(inside)
    if named and re.sub(r"\band\b|[,;&\s]", "", _PARTS.sub("", inside)) == "":
        yield put(*(f"{name}={value.strip(',')}" for name, value in named))

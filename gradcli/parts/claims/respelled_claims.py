"""Checks that may be meant by a command line that cannot be read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from gradcli.cli.default_command import DERIVATIVE
from gradcli.cli.suggestions.equations_in_words import is_rate, of_equation
from gradcli.cli.suggestions.typed_line import TypedLine, Words
from gradcli.cli.suggestions.typed_values import typed_values
from gradcli.cli.suggestions.written_ranges import NUMBER
from gradcli.errors import GradcliError, NamelessValueError, PointOptionError
from gradcli.language.text.signs import NAME, parted, unwrapped
from gradcli.registry import all_commands
from gradcli.trial import SpelledGroup

_WHY = ("debug", "nan", "why", "exec", "python")
"""Words that ask what is wrong, of an expression or of a script."""


def respelled(line: TypedLine, error: GradcliError) -> Iterator[SpelledGroup[Words]]:
    """Generate checks by other names, and an equation as a function with its claim."""
    yield SpelledGroup(_by_other_names(line))
    yield SpelledGroup(_equation(line))
    yield SpelledGroup(_box_of_vectors(line, error))
    yield SpelledGroup(_expected(line))
    yield SpelledGroup(_for_each(line, error))
    yield SpelledGroup(_claims_of_statements(line), is_sure=True)
    yield from _assumed_signs(line)


def listed_claims(text: str) -> list[str]:
    """Part a list of claims, one for each variable, with brackets around it or without.

    >>> listed_claims("[y, sin(x)]"), listed_claims("2*x")
    (['y', 'sin(x)'], ['2*x'])
    """
    inside = text.strip()
    return parted(inside[1:-1] if inside[:1] + inside[-1:] in ("[]", "()") else inside)


def _for_each(line: TypedLine, error: GradcliError) -> Iterator[Words]:
    """Name the claims of a list by the variables, `--claim "[y, x]"` of x*y at a point."""
    for place, option in line.values.items():
        if option != "--claim" or not isinstance(error, NamelessValueError) or place in line.flags:
            continue
        listed = listed_claims(line.words[place])
        if len(listed) == len(line.variables) > 1:
            named = zip(line.variables, listed, strict=True)
            yield line.put(place - 1, 2, *(word for pair in named for word in ("--claim", "=".join(pair))))


_EQUAL = re.compile(
    r"\s*(?:[d∂][^\W\d]\w*\s*/\s*[d∂](?P<by>[^\W\d]\w*)\s*={1,2}\s*(?P<right>[^<>=]+?)"
    r"|(?P<left>[^<>=]+?)\s*={1,2}\s*[d∂][^\W\d]\w*\s*/\s*[d∂](?P<of>[^\W\d]\w*))\s*"
)
"""A statement of what a first derivative is equal to, `dy/dx = 2*x`."""


def _claims_of_statements(line: TypedLine) -> Iterator[Words]:
    """Claim what a statement says that a derivative is equal to: `--prove "dy/dx = 0"` is `--claim 0`."""
    for option, typed, _, place, count, _ in typed_values(line):
        found = _EQUAL.fullmatch(typed) if option == "--prove" and "--claim" in line.kinds else None
        if found is not None and (name := found["by"] or found["of"]) in line.variables:
            claim = found["right"] or found["left"]
            yield line.put(place, count, "--claim", claim if len(line.variables) == 1 else f"{name}={claim}")


_POSITIVE = re.compile(
    rf"(?P<name>{NAME})\s*(?:(?P<sign>>=?|≥)\s*0(?:\.0*)?|(?:\s(?:is|are)\s+)?\s(?:strictly\s+)?positive|(?P<real>\s(?:is\s+)?real|\s*(?:∈|\bin\b)\s*[Rℝ]))"
    rf"|0(?:\.0*)?\s*(?P<before><=?|≤)\s*(?P<after>{NAME})"
)
"""A variable that is said to be positive, not negative, or real."""


def _positives(typed: str) -> tuple[list[str], bool] | None:
    """List the variables that are said to be positive, and tell whether all are; None of anything else.

    >>> _positives("x, y > 0"), _positives("0 <= x and y positive"), _positives("x = positive"), _positives("x > 1")
    ((['x', 'y'], True), (['x', 'y'], False), None, None)
    """
    names, open_names, is_strict = list[str](), list[str](), True
    for part in re.split(r"[,;]|&&?|\band\b", typed):
        if re.fullmatch(NAME, part.strip()) is not None:
            open_names.append(part.strip())
        elif (found := _POSITIVE.fullmatch(part.strip())) is None:
            return None
        else:
            of_part = [*open_names, found["name"] or found["after"]]
            names += [] if found["real"] else of_part
            open_names, is_strict = [], is_strict and "=" not in (found["sign"] or found["before"] or "")
            is_strict = is_strict and found["sign"] != "≥" and found["before"] != "≤"
    return None if open_names else (names, is_strict)


def _assumed_signs(line: TypedLine) -> Iterator[SpelledGroup[Words]]:
    """Write `--assume "x > 0"` as `--assume x=positive`, which `x >= 0` is but for the end of the range."""
    typed = [one for one in typed_values(line) if one.option == "--assume"]
    signs = {one.place: _positives(one.typed) for one in typed}
    words, is_sure = list(line.words), True
    for one in reversed(typed):
        if (found := signs[one.place]) is not None:
            names, is_strict = found
            words[one.place : one.place + one.words] = [w for name in names for w in ("--assume", f"{name}=positive")]
            is_sure = is_sure and is_strict
    yield SpelledGroup([tuple(words)] if any(signs.values()) else [], is_sure)


def _by_other_names(line: TypedLine) -> Iterator[Words]:
    """Check what another tool compares, `test "x^2" --at 1`, and an expression that is asked about."""
    first, *rest = line.words or ("",)
    if first in all_commands()["check"].near:
        yield ("check", *rest)
    if first in _WHY and os.path.splitext(" ".join(rest[:1]))[1] not in (".py", ".ipynb"):
        yield ("check", *rest[-3:])


def _box_of_vectors(line: TypedLine, error: GradcliError) -> Iterator[Words]:
    """Give the ranges of vectors bounds of their shape, `x=[-5,-5]..[5,5]`, in place of `--in x=-5..5 --shape x=2`."""
    if not isinstance(error, PointOptionError):
        return
    words, sizes = list(line.words), dict[str, int]()
    for place, option in line.values.items():
        name, _, size = line.words[place].rpartition("=")
        if (
            option == "--shape"
            and size.isdecimal()
            and 0 < int(size) <= _LONGEST
            and line.flags.get(place - 1) == option
        ):
            sizes[name or "x"] = int(size)
            words[place - 1 : place + 1] = ["", ""]
    for place, option in line.values.items():
        name, equals, ends = line.words[place].rpartition("=")
        if option == "--in" and (found := re.fullmatch(r"([^\[\]]+)\.\.([^\[\]]+)", ends)) and (name or "x") in sizes:
            low, high = (f"[{','.join([end] * sizes[name or 'x'])}]" for end in found.groups())
            words[place] = f"{name}{equals}{low}..{high}"
    yield tuple(filter(None, words))


_LONGEST = 8
"""Most elements of a vector whose bounds are written out."""


def _equation(line: TypedLine) -> Iterator[Words]:
    """Take the right side of `check "x^2 = 2x"` for a claim, or for the same function: their difference is constant.

    An equation of two variables whose right side is no derivative, `x^2 + y^2 = 25`, is asked for its partial ones.
    """
    if line.command not in ("check", DERIVATIVE) or not line.others:
        return
    along = of_equation(re.sub(r"={2}", "=", unwrapped(line.text))) if line.command == "check" else []
    if len(along) == 1:
        claims = [one for one in typed_values(line) if one.option == "--claim"]
        left_out = {*range(line.start), *(n for one in claims for n in range(one.place, one.place + one.words))}
        words = line.put(line.others[0], 1, along[0][1])
        yield ("grad", *(word for n, word in enumerate(words) if n not in left_out))
        return
    if "--claim" in line.flags.values():
        return
    equation = re.fullmatch(r"\s*([^;=]+?)\s*(?:={1,2}(?!=)|->|→|=>)\s*([^;]+?)\s*", unwrapped(line.text))
    is_whole = equation is not None and equation[1].count("[") == equation[1].count("]")  # not a sum, Σ[i=1..3]
    is_definition = equation is not None and (equation[1].rstrip("'").isidentifier() or is_rate(equation[1]))
    if equation is None or not is_whole or is_definition or " at " in line.text:
        return
    rest = line.put(line.others[0], 1, equation[1])[line.start :]
    named = [f"{name}={equation[2]}" for name in line.variables] if len(line.variables) > 1 and along else [equation[2]]
    claim = [("check", *rest, "--claim", one) for one in named]
    same = [("check", f"{equation[1]} - ({equation[2]})", *rest[1:], "--claim", "0")] if "=" in line.text else []
    if along:
        same = [("grad", *line.put(line.others[0], 1, along[0][1])[line.start :])]
    yield from (*claim, *same) if re.search(NAME, equation[2]) else (*same, *claim)


def _expected(line: TypedLine) -> Iterator[Words]:
    """Write what a number after the point is said to be, `--at 2 "== 4"`, as the number that is expected there."""
    words = [line.words[n] for n in line.others[1:]]
    expected = re.fullmatch(r"\s*={1,2}\s*(\S+)\s*", " ".join(words))
    if line.command == "check" and "--at" in line.flags.values() and expected and NUMBER.fullmatch(expected[1]):
        yield (*line.without(*line.others[1:]), "--expect", expected[1])

"""Statements on y and its derivatives: text, as comparisons that are to hold everywhere.

    statement   =  alternative ("or" alternative)*
    alternative =  part ("and" part)*
    part        =  "convex" | "concave" | side (sign side)+
    sign        =  "<" | "<=" | ">" | ">="

A side is an expression of the language in y, its derivatives, `dy/dx`, `dy/dx[0]`, `d2y/dx2` or `d2y/dxdz`, and the
variables.  A statement becomes numbers that are to be positive, or not negative, each a Program of these.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gradcli.errors import GradcliError, InputError, Place, Span
from gradcli.language.parsing import parse
from gradcli.language.program.wengert import Atom
from gradcli.language.text.greek import in_letters_of
from gradcli.option_words import option
from gradcli.parts.everywhere.bounded_quantities import BoxQuantity, Derivative
from gradcli.parts.everywhere.jets import Evaluator
from gradcli.parts.everywhere.moving_box import MovingBox
from gradcli.parts.everywhere.scalars import in_numbers
from gradcli.reference.bounds import NoRuleError

Shape = Literal["convex", "concave"]

SHAPES: Mapping[str, Shape] = {"convex": "convex", "concave": "concave"}

_SIGN = re.compile(r"(<=|>=|<|>|≤|≥)")

_SIGNS = {"≤": "<=", "≥": ">="}

EXAMPLES = '"dy/dx >= 0", "y <= 9.6", "abs(dy/dx) < 1.13", "convex"'
"""Statements, for hints."""


@dataclass(frozen=True)
class BoxCondition:
    """A number that is to be not negative, or positive, everywhere.

    Attributes:
        quantity: The number.
        is_strict: Whether it certainly holds where the number is positive alone, not where it is 0.
        fails_at_zero: Whether it certainly fails where the number is 0; neither is known of `y >= 0 or y > 5`.
        shown: A side of the comparison, whose value a counterexample shows, and its text.
        said: The comparison; empty of several at once.
    """

    quantity: BoxQuantity
    is_strict: bool
    fails_at_zero: bool
    shown: tuple[BoxQuantity, str] | None
    said: str = ""


def conditions_of(text: str, box: MovingBox) -> list[BoxCondition | Shape]:
    """Read a statement as conditions that are all to hold.

    Raises:
        InputError: It is not of this form, or names what there is not.
    """
    alternatives = [part.strip() for part in re.split(r"\bor\b", text)]
    if len(alternatives) == 1:
        found = [one for part in re.split(r"\band\b", text) for one in _part(part.strip(), text)]
        return [one if isinstance(one, str) else _condition(one, text, box, one.is_strict) for one in found]
    groups = []
    for alternative in alternatives:
        parts = [one for part in re.split(r"\band\b", alternative) for one in _part(part.strip(), text)]
        if any(isinstance(one, str) for one in parts):
            raise InputError("convex and concave stand alone, or next to and", place=_place(text), hint="leave out or")
        groups.append([one for one in parts if not isinstance(one, str)])
    least = [_folded("minimum", [one.difference for one in group]) for group in groups]
    strict = [one.is_strict for group in groups for one in group]
    return [_condition(_Comparison(_folded("maximum", least), any(strict), ""), text, box, all(strict))]


@dataclass(frozen=True)
class _Comparison:
    """A difference of two sides that is to be positive, or not negative, and the side that is shown."""

    difference: str
    is_strict: bool
    side: str
    said: str = ""


_PRIME = re.compile(r"\b[^\W\d](?:'|\u2032)(?!\w)")
"""A derivative by its prime, which elsewhere is a transpose: `y'`."""


def _folded(name: str, parts: Sequence[str]) -> str:
    found = parts[0]
    for part in parts[1:]:
        found = f"{name}({found}, {part})"
    return found


def _part(text: str, whole: str) -> list[_Comparison | Shape]:
    """Read a part: a word, or a chain of comparisons."""
    if text in SHAPES:
        return [SHAPES[text]]
    if (mark := _PRIME.search(text)) is not None:
        start = whole.find(mark[0])
        place = Place(whole, Span(start, start + len(mark[0])), "--prove")
        raise InputError("a derivative is written as a quotient", place=place, hint="write dy/dx for y'")
    pieces = _SIGN.split(text)
    if len(pieces) < 3 or not all(piece.strip() for piece in pieces):
        place = Place(whole, Span(0, len(whole)), "--prove")
        raise InputError(
            "a statement compares two sides, or is one of two words", place=place, hint=f"as in {EXAMPLES}"
        )
    found: list[_Comparison | Shape] = []
    for n in range(1, len(pieces), 2):
        sign = _SIGNS.get(pieces[n], pieces[n])
        left, right = pieces[n - 1].strip(), pieces[n + 1].strip()
        difference = f"({right}) - ({left})" if sign.startswith("<") else f"({left}) - ({right})"
        found.append(_Comparison(difference, sign in "<>", left, f"{left} {sign} {right}"))
    return found


def _condition(comparison: _Comparison, text: str, box: MovingBox, fails_at_zero: bool) -> BoxCondition:
    """Make the Program of a difference."""
    quantity = _quantity(comparison.difference, text, box)
    shown = (_quantity(comparison.side, text, box), comparison.side) if comparison.side else None
    return BoxCondition(quantity, comparison.is_strict, fails_at_zero, shown, comparison.said)


def _quantity(expression: str, whole: str, box: MovingBox) -> BoxQuantity:
    y = box.bound_function.program.output_name
    names = {one.text: n for n, one in enumerate(box.names)}
    found: dict[str, Derivative] = {}

    def named(match: re.Match[str]) -> str:
        derivative = tuple(_place_of(name, names, whole) for name in _by(match))
        name = "_".join(("slope", *map(str, derivative)))
        found[name] = derivative
        return name

    variables = box.bound_function.program.names
    outputs = [y, *(name for name in ("y", "f") if name != y and name not in variables)]
    spelled = _in_one_spelling(in_letters_of(expression, variables))
    called = rf"(?<!\w)((?:d2?)?(?:{'|'.join(map(re.escape, outputs))}))\s*\("
    listed = r"\s*,\s*".join(map(re.escape, variables))
    spelled = re.sub(rf"{called}\s*{listed}\s*\)", r"\1", spelled)  # f(x), df(x)/dx
    if (elsewhere := re.search(called, spelled)) is not None:
        message = f"a statement is of {y} at every point, and {elsewhere[1]}(...) is at one"
        raise InputError(
            message, place=_place(whole), hint=f"write {y}, and a sign after it before a factor, {y}*(1 + x)"
        )
    text = _derivative(outputs).sub(named, spelled)
    return _of_names(text, whole, box, {**found, **dict.fromkeys(outputs, ())})


def _in_one_spelling(expression: str) -> str:
    """Write `∂²y/∂x²` and `d^2y/dx^2` as `d2y/dx2`.

    >>> _in_one_spelling("∂²y/∂x∂z >= 0"), _in_one_spelling("d^2y / dx^2"), _in_one_spelling("dy/dx^2")
    ('d2y/dxdz >= 0', 'd2y/dx2', 'dy/dx^2')
    """
    plain = re.sub(r"(?<!\w)d(?:²|\^2|\*\*2)\s*(?=[^\W\d])", "d2", expression.replace("∂", "d"))
    plain = re.sub(r"(?<!\w)(d2?[^\W\d]\w*)\s*/\s*(?=d[^\W\d])", r"\1/", plain)
    return re.sub(r"(?<!\w)(d2[^\W\d]\w*/d[^\W\d]\w*)(?:²|\^2|\*\*2)", r"\g<1>2", plain)


def _derivative(outputs: Sequence[str]) -> re.Pattern[str]:
    by, y = r"d([^\W\d]\w*?(?:\[[\d, ]+\])?)", f"(?:{'|'.join(map(re.escape, outputs))})"
    return re.compile(rf"\bd2{y}/(?:{by}2|{by}{by})(?![\w\[])|\bd{y}/{by}(?![\w\[])")


def _by(match: re.Match[str]) -> list[str]:
    """List the variables of a derivative."""
    same, one, other, first = match.groups()
    return [same, same] if same else [one, other] if one else [first]


def _place_of(name: str, names: Mapping[str, int], whole: str) -> int:
    if name not in names:
        known = ", ".join(names)
        raise InputError(f"{name} does not move in the box", place=_place(whole), hint=f"these do: {known}")
    return names[name]


def _of_names(text: str, whole: str, box: MovingBox, derivatives: Mapping[str, Derivative]) -> BoxQuantity:
    """Read an expression of derivatives and variables as a Program of numbers."""
    try:
        program = parse(text, given=frozenset(derivatives))
        values = {name: box.bound_function.arrays[name] for name in program.names if name not in derivatives}
    except GradcliError as error:
        raise InputError(f"a side of the statement is not read: {error.message}", place=_place(whole)) from None
    except KeyError as error:
        y, name = box.bound_function.program.output_name, error.args[0]
        rates = [f"d{y}/d{one.text}" for one in box.names[:4]]
        hint = f"known are {', '.join((y, *rates, *box.bound_function.arrays))}"
        moving = [*box.ranges]
        if name.lower() == "lipschitz" and len(moving) == 1 and not box.bound_function.arrays[moving[0]].shape:
            slope = whole.replace(name, f"abs(d{y}/d{moving[0]})")
            hint = "write " + option("prove", f'"{slope}"')
        raise InputError(f"{name} is not known in a statement", place=_place(whole), hint=hint) from None
    moving = [name for name in program.names if name in derivatives or name in box.ranges]
    inputs = {name: np.zeros(()) if name in derivatives else values[name] for name in program.names}
    try:
        scalar = in_numbers(program, inputs, moving)
        evaluator = Evaluator(scalar)
    except NoRuleError:
        raise InputError("a statement is of numbers, with operations that have bounds", place=_place(whole)) from None
    if scalar.outputs.size != 1:
        raise InputError("a side of a statement is one number", place=_place(whole), hint="take one element, or a sum")
    places = {symbol: n for n, symbol in enumerate(box.program.moving)}
    own = {name: atoms.ravel() for name, atoms in box.program.variables.items()}
    named: dict[Atom, Derivative | int] = {}
    for name, atoms in scalar.variables.items():
        for n, symbol in enumerate(atoms.ravel()):
            named[symbol] = derivatives[name] if name in derivatives else places[own[name][n]]
    return BoxQuantity(box.function, (), evaluator, named)


def _place(text: str) -> Place:
    return Place(text, Span(0, len(text)), "--prove")

"""Statements on y and its derivatives: text, as comparisons that are to hold everywhere.

    statement   =  alternative ("or" alternative)*
    alternative =  part ("and" part)*
    part        =  "convex" | "concave" | side (sign side)+
    sign        =  "<" | "<=" | ">" | ">=" | "=" | "=="

A side is an expression of the language in y, its derivatives, `dy/dx`, `dy/dx[0]`, `d2y/dx2` or `d2y/dxdz`, and the
variables.  A statement becomes numbers that are to be positive, or not negative, each a Program of these; an equation
becomes two.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gradcli.errors import GradcliError, InputError, Place, Span
from gradcli.language.lower.called_values import callable_names, settle_calls
from gradcli.language.parsing import parse_formula
from gradcli.language.program.wengert import Atom, Program
from gradcli.language.text.greek import in_letters_of
from gradcli.language.text.signs import COMPARED, compared
from gradcli.language.text.source import SourceText
from gradcli.option_words import option
from gradcli.parts.everywhere.bounded_quantities import BoxQuantity, Derivative
from gradcli.parts.everywhere.jets import Evaluator
from gradcli.parts.everywhere.moving_box import MovingBox
from gradcli.parts.everywhere.scalars import in_numbers
from gradcli.parts.everywhere.written_derivatives import DerivativeWriting
from gradcli.questions.text_reading import read_whole
from gradcli.reference.bounds import NoRuleError

Shape = Literal["convex", "concave"]

SHAPES: Mapping[str, Shape] = {"convex": "convex", "concave": "concave"}

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


def in_quotients(text: str, box: MovingBox) -> str:
    """Write the derivatives of a statement as quotients, `d2y/dx2` for `f''(x)`.

    Raises:
        InputError: There is no such derivative here.
    """
    program = box.bound_function.program
    taken = {*program.names, *program.assigned} - {program.output_name}
    return DerivativeWriting(program.output_name, taken, [one.text for one in box.names]).in_quotients(
        in_letters_of(text, program.names)
    )


def conditions_of(text: str, box: MovingBox) -> list[BoxCondition | Shape]:
    """Read a statement, whose derivatives are written as quotients, as conditions that are all to hold.

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


_EQUAL_SLOPE = re.compile(r"\s*[d∂][^\W\d]\w*\s*/\s*[d∂][^\W\d]\w*\s*")
"""A first derivative, which a claim is equal to."""


def _folded(name: str, parts: Sequence[str]) -> str:
    found = parts[0]
    for part in parts[1:]:
        found = f"{name}({found}, {part})"
    return found


def _part(text: str, whole: str) -> list[_Comparison | Shape]:
    """Read a part: a word, or a chain of comparisons."""
    if text in SHAPES:
        return [SHAPES[text]]
    sides, signs = compared(text, COMPARED)
    if not signs or not all(sides):
        raise InputError(
            "a statement compares two sides, or is one of two words", place=_place(whole), hint=f"as in {EXAMPLES}"
        )
    if text == whole.strip() and signs in (["="], ["=="]) and (slope := _claimed(*sides)) is not None:
        claim = option("claim", f'"{slope}"')
        raise InputError("what a first derivative is equal to is a claim", place=_place(whole), hint=f"write {claim}")
    found: list[_Comparison | Shape] = []
    for left, sign, right in zip(sides, signs, sides[1:], strict=False):
        if sign in ("!=", "≠"):
            hint = f'as in "{left} < {right} or {left} > {right}"'
            raise InputError(f"a statement has no {sign}", place=_place(whole), hint=hint)
        for one in ("<=", ">=") if sign.startswith("=") else (_SIGNS.get(sign, sign),):
            difference = f"({right}) - ({left})" if one.startswith("<") else f"({left}) - ({right})"
            found.append(_Comparison(difference, one in "<>", left, f"{left} {one} {right}"))
    return found


def _claimed(left: str, right: str) -> str | None:
    """Return what a first derivative is said to be equal to, in the variables alone; None of another equation."""
    for slope, other in ((left, right), (right, left)):
        if _EQUAL_SLOPE.fullmatch(slope) and not re.search(r"[d∂]2?\w*\s*/\s*[d∂]", other):
            return other
    return None


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

    text = _derivative([y]).sub(named, expression)
    return _of_names(text, whole, box, {**found, y: ()})


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


def _in_words(whole: str) -> str | None:
    """Hint at `and` and `or` for the signs of C between comparisons; None where there are none."""
    parts = re.split(r"\s*(&&|\|\|)\s*", whole)
    if len(parts) == 1 or not all({*one} & {*"<>=≤≥≠"} for one in parts[::2]):
        return None
    stated = "".join({"&&": " and ", "||": " or "}.get(one, one) for one in parts)
    return "write " + option("prove", f'"{stated}"')


def _of_names(text: str, whole: str, box: MovingBox, derivatives: Mapping[str, Derivative]) -> BoxQuantity:
    """Read an expression of derivatives and variables as a Program of numbers."""
    try:
        program = _parsed(text, frozenset(derivatives), box)
        values = {name: box.bound_function.arrays[name] for name in program.names if name not in derivatives}
    except GradcliError as error:
        message = f"a side of the statement is not read: {error.message}"
        raise InputError(message, place=_place(whole), hint=_in_words(whole)) from None
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


def _parsed(text: str, names: frozenset[str], box: MovingBox) -> Program:
    """Parse a side of a statement, in which `f(x)` is the value, and `f(2*x)` the function there."""
    read = SourceText(text, "EXPR")
    if "(" not in text:
        return parse_formula(read, names, {})
    found = callable_names(box.bound_function.program, lambda one: read_whole(one).program)
    settle_calls(read, replace(found, values=[found.output]))
    return parse_formula(read, names, {}, found.functions)


def _place(text: str) -> Place:
    return Place(text, Span(0, len(text)), "--prove")

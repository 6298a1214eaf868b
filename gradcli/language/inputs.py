"""Inputs of a question besides its function: values, ranges, gradient vectors and directions, as text or arrays.

A value's text is the language without free names, run by NumPy in float64.  A range `LOW..HIGH`, from which points are
drawn, has two of them: `0..1`, `-pi..pi`, `[0,0]..[1,2]`.  The gradient vector v is a value of y's shape, one component
of y, or an expression in y and the variables; the direction u one of x's shape, for each variable that moves.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcli.arrays import AnyArray, Array
from gradcli.errors import (
    GradcliError,
    InfiniteRangeError,
    InputError,
    NamelessValueError,
    Place,
    Span,
    TooLargeError,
    UnknownVariableError,
    did_you_mean,
)
from gradcli.language.drawn_values import remarks_on_draws
from gradcli.language.foreign import ArrayLike, NoNumbersError, numbers
from gradcli.language.lower.juxtaposed_names import meant, place_of
from gradcli.language.parsing import parse_cotangent, parse_value
from gradcli.language.program.numeric import require_room, run
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import MAX_DIMENSIONS, MAX_ELEMENTS, Program, Shape, broadcast, show
from gradcli.option_words import option, source as named

Value = str | float | Sequence[Any] | AnyArray | ArrayLike
"""Types of a value: text of the language, a number, nested lists, an array, a tensor or a pandas Series."""

_PLAIN = re.compile(r"\s*[-+]?[\d.]+(?:[eE][-+]?\d+)?\s*(?:,\s*[-+]?[\d.]+(?:[eE][-+]?\d+)?\s*)*")

_THOUSANDS = re.compile(r"\s*[-+]?[1-9]\d{,2}(?=(?:,\d{3})*,0\d\d)(?:,\d{3})+(?:\.\d*)?\s*")
"""Pattern of `1,000`, a number with separators of thousands."""


def read_value(value: Value, source: str) -> Array:
    """Read a value as a float64 array.

    Shapes: `1` is (), `1,2` is (2,), `[1]` is (1,), `[[1,2],[3,4]]` is (2, 2); `source` names the value in errors.

    Raises:
        LanguageError, ShapeError, TooLargeError: the text is not a value.
        InputError: not real numbers.

    >>> read_value("-1, pi/2", "--at")
    array([-1.        ,  1.57079633])
    """
    if isinstance(value, str):
        return _read_text(value, source)
    try:
        return numbers(value)
    except NoNumbersError as error:
        raise InputError(f"{named(source)} is not an array of real numbers: {error}", hint=error.hint) from None


def _read_text(text: str, source: str) -> Array:
    """Read a text, or raise an error with the spellings of it that can be read."""
    try:
        return _read_value_text(text, source)
    except GradcliError as error:
        from gradcli.language.spelled_texts import advise  # patterns that a value without mistakes does not need
        from gradcli.language.spellings import VALUES

        advise(error, text, lambda spelled: _read_value_text(spelled, source), VALUES)
        raise


_IN_ANGLES = re.compile(r"\s*<[^<>=]*>\s*")
"""Pattern of a vector in angle brackets, which are an inner product of two here."""


def _read_value_text(text: str, source: str) -> Array:
    if _IN_ANGLES.fullmatch(text):
        raise InputError("a value stands in square brackets, or in none", place=_whole(text, source))
    if _THOUSANDS.fullmatch(text):
        vector, place = re.sub(r",0+(?=\d)", ",", text), _whole(text, source)
        hint = f"write {text.replace(',', '').strip()} for one number, {vector.strip()} for a vector"
        raise InputError("a number of this vector begins with 0", place=place, hint=hint)
    if _PLAIN.fullmatch(text):
        try:
            numbers = [float(word) for word in text.split(",")]
        except ValueError:
            numbers = []
        if all(map(math.isfinite, numbers)) and numbers:
            return np.array(numbers if "," in text else numbers[0])
    return _read_expression(text, source)


def _read_expression(text: str, source: str) -> Array:
    if _PRINTED.fullmatch(text) and ("[" in text or "⎡" in text):
        text = _as_typed(text)
    if "(" in text:
        _require_no_uncertainty(text, source)
    return run(parse_value(text, source))


_UNCERTAIN = re.compile(r"(?<![\w.])(\d*\.\d+)\((\d+)\)")
"""A measured number in print, 1.000(2) for 1.000 ± 0.002."""


def _require_no_uncertainty(text: str, source: str) -> None:
    if (found := _UNCERTAIN.search(text)) is not None:
        number, digits = found.groups()
        message = f"{found[0]} is {number}*{digits}, or {number} with an uncertainty, which is no part of a value"
        raise InputError(message, place=Place(text, Span(*found.span()), source), hint=f"write {number}")


_DECIMAL_COMMA = re.compile(r"\s*[-+]?\d,\d{2,}\s*")


_REPEATED = re.compile(r"\s*\[([^\[\],]*)\]\s*\*\s*(\d+)\s*")


def remarks_on_values(values: Mapping[str, Value], *, of_numbers: bool = True) -> list[str]:
    """Remark on values that are often meant in another way: `3,14`, two numbers, and `[1/3]*3`, a product.

    Args:
        values: The values as typed.
        of_numbers: Whether they are of a function of single numbers; one of vectors has two values as it needs them.

    >>> remarks_on_values({"x": "3,14", "y": "1,2"})
    ['3,14 is two values; 3.14, with a point, is one number']
    >>> remarks_on_values({"x": "0,1000"}, of_numbers=False)
    []
    >>> remarks_on_values({"q": "[1/3]*3"})
    ['[1/3]*3 is a product here; a list of 3 times 1/3 is full((3,), 1/3)']
    """
    typed = [str(value).strip() for value in values.values() if isinstance(value, str)]
    found = [value for value in typed if of_numbers and _DECIMAL_COMMA.fullmatch(value)]
    remarks = [f"{value} is two values; {value.replace(',', '.')}, with a point, is one number" for value in found]
    for one in filter(None, map(_REPEATED.fullmatch, typed)):
        number, times = one.groups()
        remarks.append(f"{one[0]} is a product here; a list of {times} times {number} is full(({times},), {number})")
    if sum("(" in value for value in typed) > 1:
        remarks += remarks_on_draws({name: value for name, value in values.items() if isinstance(value, str)})
    return remarks


_PRINTED = re.compile(r"(?:\s|[-+−]?(?:[\d.]+(?:[eE][-+]?\d+)?|inf|nan|∞)(?=[\s;\[\]⎡⎤⎢⎥⎣⎦])|[\[\]⎡⎤⎢⎥⎣⎦;])+")
_ROWS = str.maketrans({**dict.fromkeys("⎡⎢⎣", "["), **dict.fromkeys("⎤⎥⎦", "]")})


def _as_typed(text: str) -> str:
    """Insert commas between numbers in brackets, as tables here, NumPy and MATLAB print them.

    >>> _as_typed("[ 1. -2.]"), _as_typed("[[1  2]\\n [3  4]]"), _as_typed("⎡1  2⎤\\n⎣3  4⎦"), _as_typed("[1 2; 3 -4]")
    ('[ 1.,-2.]', '[[1,2],[3,4]]', '[[1,2],[3,4]]', '[1,2; 3,-4]')
    """
    is_drawn = "⎡" in text
    found = re.sub(r"(?<=[\w.∞])\s+(?=[-+−\w.∞])", ",", text.translate(_ROWS))
    found = re.sub(r"\]\s*(?=\[)", "],", found)
    return f"[{found}]" if is_drawn else found


_MARKS = re.compile(r"[\[(]|[\])]|\.{2,}")


_SIZE = re.compile(r"[^\W\d]\w*|\d+")
_BRACKETS = {"(": ")", "[": "]"}


def read_shape(given: str | int | Sequence[int | str], source: str) -> tuple[int | str, ...]:
    """Read a shape: sizes as numbers or names, `3` or `m,n`, in brackets or not; `()` is the shape of a number.

    Raises:
        InputError: It is not a shape, or one too large.

    >>> read_shape("m, n", "--shape A"), read_shape("(3,)", "--shape x"), read_shape("()", "--shape x")
    (('m', 'n'), (3,), ())
    """
    text = str(given) if isinstance(given, str | int) else ",".join(map(str, given))
    inside = text.strip()
    if inside[:1] in _BRACKETS and inside[-1:] == _BRACKETS[inside[0]]:
        inside = inside[1:-1].strip()
    words = [word.strip() for word in inside.removesuffix(",").split(",")] if inside else []
    wrong = next((word for word in words if not _SIZE.fullmatch(word)), None)
    if wrong is not None or (not words and not text.strip()):
        shown = f"'{wrong}' is no size" if wrong else "there are no sizes"
        raise InputError(
            f"{named(source)}: {shown}", hint="write sizes as numbers or names: 3, or n, or m,n; () of a number"
        )
    if len(words) > MAX_DIMENSIONS:
        raise TooLargeError(f"{named(source)} has {len(words)} dimensions; at most {MAX_DIMENSIONS} are held")
    sizes = tuple(int(word) if word.isdecimal() and len(word) < 16 else word for word in words)
    most = math.prod(size for size in sizes if isinstance(size, int))
    if most > MAX_ELEMENTS or any(word.isdecimal() for word in sizes if isinstance(word, str)):
        raise TooLargeError(
            f"{named(source)} has more than {MAX_ELEMENTS:,} elements", hint="a name stands for any size: n"
        )
    return sizes


def read_range(text: str, source: str) -> tuple[Array, Array]:
    """Read the bounds of a range, broadcast to one shape.

    Raises:
        InputError: It is not of the form `LOW..HIGH`, or a bound is not finite or above the other.
        GradcliError: A bound is not a value.

    >>> [float(bound) for bound in read_range("-1..1e3", "--in x")]
    [-1.0, 1000.0]
    >>> read_range("[0,0]..[1,2]", "--in x")[1]
    array([1., 2.])
    """
    first, last = _split(text, source)
    bounds = [read_value(bound, source) for bound in (first, last)]
    if not all(np.isfinite(bound).all() for bound in bounds):
        raise InfiniteRangeError(
            "the bounds of a range are finite", place=_whole(text, source), hint=_finite_range(*bounds)
        )
    try:
        shape = broadcast([bound.shape for bound in bounds])
        require_room(math.prod(shape))
    except GradcliError as error:
        error.place = _whole(text, source)
        raise
    low, high = (np.broadcast_to(bound, shape) for bound in bounds)
    if not (low <= high).all():
        hint = f"write {last.strip()}..{first.strip()}" if (low >= high).all() else None
        raise InputError("the lower bound is above the upper one", place=_whole(text, source), hint=hint)
    return low, high


def fitted(bound: Array, shape: Shape, source: str) -> Array:
    """Broadcast a bound to the shape of its variable.

    Raises:
        InputError: The bound does not broadcast to that shape.
    """
    try:
        return np.broadcast_to(bound, shape)
    except ValueError:
        message = f"{named(source)} has bounds of shape {show(bound.shape)}, and the variable has shape {show(shape)}"
        raise InputError(message, hint="the bounds must broadcast to the shape of the variable") from None


def _finite_range(low: Array, high: Array) -> str | None:
    """Name a range of numbers with finite bounds in place of one without, in words for a hint."""
    if low.shape or high.shape:
        return None
    reach = 10 * max([1.0, *(abs(float(bound)) for bound in (low, high) if np.isfinite(bound))])
    near, far = (
        "..".join(f"{float(b) if np.isfinite(b) else end:g}" for b, end in ((low, -most), (high, most)))
        for most in (reach, FARTHEST)
    )
    return f"write {near} for a part of it, or {far} for nearly all of it"


FARTHEST = 1e300
"""Bound that is offered in place of infinity."""


def _split(text: str, source: str) -> tuple[str, str]:
    """Split a range at the two dots that are outside of brackets."""
    depth, found = 0, []
    for mark in _MARKS.finditer(text):
        depth += (mark.group() in "[(") - (mark.group() in "])")
        if depth == 0 and mark.group().startswith("."):
            found.append(mark)
    if len(found) != 1:
        what = "has no '..'" if not found else "has more than one '..'"
        raise InputError(f"the range {what}", place=_whole(text, source), hint="a range is LOW..HIGH, such as -1..1")
    (dots,) = found
    place = Place(text, Span(*dots.span()), source)
    if len(dots.group()) > 2:
        hint = "write decimals in full, as in 1.0..2 or 1..0.2"
        raise InputError(f"'{dots.group()}' may belong to the range or to a number", place=place, hint=hint)
    first, last = text[: dots.start()], text[dots.end() :]
    if not first.strip() or not last.strip():
        raise InputError("the range lacks a bound", place=place, hint="a range is LOW..HIGH, such as -1..1")
    return first, last


def _whole(text: str, source: str) -> Place:
    return Place(text, Span(0, len(text)), source)


_COMPONENT = re.compile(r"\s*e(\d{1,9}(?:_\d{1,9})*)\s*")
"""Pattern of `e0` and `e0_1`, with the index."""


@dataclass(frozen=True)
class Outputs:
    """Names that v may use: y by the name of the output, and the variables, each with its shape."""

    name: str
    shape: Shape
    variables: Mapping[str, Shape]


def read_cotangent(value: Value, y: Outputs, source: str = "--v") -> Array | Program:
    """Read the gradient vector v for this y: an array, or a Program if it names y or a variable.

    `ones` is ones of y's shape, `e0` is ones over `y[0]`, at all its points; `e0_1` is the single element `y[0, 1]` of
    a y of two dimensions; `2*y` and `x` are expressions.

    Raises:
        InputError: v has not y's shape, or the component or the name does not exist.

    >>> read_cotangent("e1", Outputs("y", (2,), {"x": (2,)}))
    array([0., 1.])
    """
    if isinstance(value, str) and not _PLAIN.fullmatch(value):
        if (picked := _picked(value, y.shape, source, y.name, f"leave out {option('v')}")) is not None:
            return picked
        program = parse_cotangent(value, source, {y.name: y.shape, **y.variables}, y.name)
        if program.variables:
            require_shape(program, y)
            return program
    return _shaped(value, "v", y.name, y.shape, source)


def require_shape(program: Program, y: Outputs) -> None:
    """Refuse an expression for v that names something unknown, or has not y's shape.

    Raises:
        InputError: The expression does so.
    """
    known = {y.name: y.shape, **y.variables}
    for name in program.names:
        if name not in known:
            hint = meant(name, known) or did_you_mean(name, known) or f"v may name {', '.join(known)}"
            message = f"v names '{name}', which is neither {y.name} nor a variable"
            raise InputError(message, place=place_of(program, name), hint=hint)
    shape = infer(program, {symbol: known[str(symbol)] for symbol in program.variables})[program.output]
    if shape != y.shape:
        is_typed = program.source != "EXPR" or not program.lines
        place = _whole(program.text, program.source) if is_typed else program.place(program.lines[-1])
        raise _misshapen(shape, "v", y.name, y.shape, place, "v")


def _shaped(value: Value, letter: str, name: str, shape: Shape, source: str) -> Array:
    """Read a gradient vector or a direction as an array, and require the given shape."""
    found = read_value(value, source)
    if found.shape != shape:
        place = _whole(value, source) if isinstance(value, str) else None
        raise _misshapen(found.shape, letter, name, shape, place, str(value))
    return found


def _misshapen(given: Shape, letter: str, name: str, shape: Shape, place: Place | None, text: str) -> InputError:
    what = f"v weights the elements of {name}" if letter == "v" else f"u is a direction in {name}"
    hint = f"{what}, so it must have {name}'s shape{'' if shape else ', here a plain number'}"
    if math.prod(given) == math.prod(shape) == 1:
        hint = f"write {_in_brackets(text, given, shape)}: as in torch, {letter} must have {name}'s shape"
    message = f"{letter} has shape {show(given)}, and {name} has shape {show(shape)}"
    return InputError(message, place=place, hint=hint)


def _in_brackets(value: str, given: Shape, wanted: Shape) -> str:
    """Write a value of one element with brackets that give it the wanted shape."""
    missing = len(wanted) - len(given)
    enclosed = value.strip().join(("[" * missing, "]" * missing))
    return enclosed if missing > 0 else f"it with {len(wanted)} pairs of brackets"


def _picked(text: str, shape: Shape, source: str, name: str, hint: str) -> Array | None:
    """Return ones over all elements of `name`, or over those at an index; None for other words.

    The hint is for the error where `name` is a plain number.
    """
    if text.strip() == "ones":
        return np.ones(shape)
    match = _COMPONENT.fullmatch(text)
    if match is None:
        return None
    index = tuple(int(n) for n in match[1].split("_"))
    if not shape:
        raise InputError(f"{name} is one number and has no components", place=_whole(text, source), hint=hint)
    if len(index) > len(shape) or any(n >= size for n, size in zip(index, shape, strict=False)):
        message = f"{name} has shape {show(shape)} and no component {list(index)}"
        raise InputError(message, place=_whole(text, source), hint="indices count from 0")
    v = np.zeros(shape)
    v[index] = 1.0
    return v


_SHORT = 4
"""Largest number of elements for which an example of a direction is written out."""


def read_directions(
    given: Mapping[str, Value], variables: Mapping[str, Shape], movable: tuple[str, ...], command: str
) -> dict[str, Array]:
    """Read the direction of each variable that moves, in the order of `movable`; without any, 1 for a single element.

    `ones` is ones of x's shape, `e0` is ones over `x[0]`, and `e0_1` the single element `x[0, 1]`.

    Args:
        given: By name; under the empty name, that of the only variable.
        variables: The shape of each variable.
        movable: Names of the variables that may move: the ones that are differentiated by.
        command: The command that needs the directions, for errors.

    Raises:
        InputError: A name or a shape does not fit, or there is no direction and it is needed.

    >>> read_directions({"": "e1"}, {"x": (2,)}, ("x",), "jvp")
    {'x': array([0., 1.])}
    >>> read_directions({}, {"x": ()}, ("x",), "jvp")
    {'x': array(1.)}
    """
    named: dict[str, Value] = {}
    for name, value in given.items():
        whose = name or _only(movable, value, variables)
        _require_movable(whose, variables, movable)
        if whose in named:
            raise InputError(f"{option('u')} gives '{whose}' two directions", hint="give it once")
        named[whose] = value
    if not named and movable:
        sizes = {name: math.prod(variables[name]) for name in movable}
        if sum(sizes.values()) != 1:
            raise _missing(variables, movable, command)
        named = {name: np.ones(variables[name]) for name in movable if sizes[name]}
    found: dict[str, Array] = {}
    for name in (name for name in movable if name in named):
        u, shape, source = named[name], variables[name], f"--u {name}"
        picked = _picked(u, shape, source, name, f"write {option('u', f'{name}=1')}") if isinstance(u, str) else None
        found[name] = _shaped(u, "u", name, shape, source) if picked is None else picked
    return found


def is_plain(text: str) -> bool:
    """Tell whether a text may be one value, and holds no names with values: no `(x, y) = (1, 2)`, `x 1` or `P(1, 2)`.

    >>> is_plain("sqrt(2)/2"), is_plain("x=y=1"), is_plain("x 1"), is_plain("P(1,2)")
    (True, False, False, False)
    """
    return re.search(r"''|=|->|→|:|\b[^\W\d]\w*\s+[-+.\d]|\b[^\W\d]\(", text) is None


def _only(movable: tuple[str, ...], value: Value, variables: Mapping[str, Shape]) -> str:
    if len(movable) == 1:
        return movable[0]
    text = value.strip() if isinstance(value, str) else "VALUE"
    shown = "u" if not isinstance(value, str) else option("u", text) if text else option("u", "''")
    if not movable:
        raise NamelessValueError(
            f"{shown} names no variable, and there is none to move", hint=f"leave out {option('u')}"
        )
    parts = text.split(",")
    is_each = len(parts) == len(movable) and not any(variables[name] for name in movable) and is_plain(text)
    pairs = zip(movable, parts if is_each else [text if text and is_plain(text) else "VALUE"], strict=False)
    example = option("u", *(f"{name}={part.strip()}" for name, part in pairs))
    hint = f"write {example}; a variable without a {option('u')} is held constant"
    raise NamelessValueError(f"{shown} names no variable, and there are {', '.join(movable)}", hint=hint)


def _require_movable(name: str, variables: Mapping[str, Shape], movable: tuple[str, ...]) -> None:
    if name not in variables:
        hint = did_you_mean(name, variables) or f"the variables are: {', '.join(variables) or 'none'}"
        raise UnknownVariableError(f"{option('u')} moves '{name}', and the expression has no such variable", hint=hint)
    if name not in movable:
        message = (
            f"{option('u')} moves '{name}', which is not among the variables of {option('wrt')}: {', '.join(movable)}"
        )
        raise InputError(
            message, hint=f"add {name} to {option('wrt')}, or leave out its {option('u')}: it is held constant"
        )


def _missing(variables: Mapping[str, Shape], movable: tuple[str, ...], command: str) -> InputError:
    first, *others = movable
    shape = variables[first]
    if others:
        whose = f"the variables {', '.join(movable)} have {sum(math.prod(variables[n]) for n in movable):,} elements"
        needs, hint = "a direction u", f"{option('u', f'{first}=ones')} moves all of {first}"
    else:
        whose, needs = f"{first} has shape {show(shape)}", f"a direction u of {first}'s shape"
        short = ",".join(["1"] * shape[0]) if len(shape) == 1 and 0 < shape[0] <= _SHORT else "ones"
        hint = f"{option('u', short)} moves all elements alike, e0 moves {first}[0] alone"
    hint += f"; a variable without a {option('u')} is held constant" * bool(others)
    message = f"{whose}, and only a single element has an implicit direction: {command} needs {needs}"
    return InputError(message, hint=hint)
